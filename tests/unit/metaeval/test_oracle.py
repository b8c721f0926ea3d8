"""Metric oracles on invented reports."""

import csv
import json

import pytest

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.oracle import RANDOM, oracles
from rrgmetrics.reports import Context, Pair

PAIRS = {
    "1": Pair("Small left pleural effusion.", "", Context(70.0)),
    "2": Pair("Mild cardiomegaly. No pneumothorax.", ""),
}
POOL = [
    "Small left pleural effusion.",
    "small  left pleural effusion.",
    "There is a left pleural effusion.",
    "Mild cardiomegaly. No effusion.",
    "Right lower lobe mass.",
    "",
]


def test_what_a_metric_ranks_best():
    found = oracles(PAIRS, POOL, ["rouge", "bleu"], judges=["finding_errors"], trials=20, progress=False)
    assert [pair.candidate for pair in found.retrieved["rouge"]] == [POOL[2], POOL[3]]  # the reference itself is out
    assert found.retrieved["rouge"][0].context == Context(70.0)
    assert list(found.retrieved) == ["rouge", "bleu", RANDOM]
    assert list(found.judged["bleu"]) == ["finding_errors"]
    assert found.n_pool == 5  # without the empty one
    assert found.score("rouge", "finding_errors").n == 2
    rows = list(found.rows())
    assert len(rows) == 6
    assert list(rows[0]) == ["study_id", "reference", "candidate", "source", "finding_errors"]


def test_draws_follow_the_seed():
    many = {str(n): Pair(f"Nodule of {n} mm.", "") for n in range(30)}
    pool = [pair.reference for pair in many.values()]
    one, same, other = (
        oracles(many, pool, ["rouge"], n_queries=4, n_pool=6, trials=10, seed=seed, progress=False)
        for seed in (0, 0, 1)
    )
    assert one.study_ids == same.study_ids != other.study_ids
    assert one.retrieved == same.retrieved
    assert one.n_pool == 6


def test_nothing_to_retrieve():
    with pytest.raises(InputError, match="no other report for study '1'"):
        oracles(PAIRS, [POOL[0]], ["rouge"], progress=False)
    with pytest.raises(InputError, match="There are no studies"):
        oracles({}, POOL, ["rouge"], progress=False)


def test_the_command(tmp_path, capsys):
    with (tmp_path / "references.csv").open("w", newline="") as file:
        rows = [(n, text) for n, text in enumerate(POOL[2:5])]
        csv.writer(file).writerows([["study_id", "report"], *rows])
    arguments = ["oracle", str(tmp_path / "references.csv"), "--metrics", "rouge", "--trials", "10", "--no-progress"]
    files = [str(tmp_path / "pairs.csv"), str(tmp_path / "table.md")]
    assert main([*arguments, "--output", *files, "--json", str(tmp_path / "out.json")]) == 0
    assert "3 studies, the best of 3 reports by each metric" in capsys.readouterr().out
    with (tmp_path / "pairs.csv").open(newline="") as file:
        assert {row["source"] for row in csv.DictReader(file)} == {"rouge", RANDOM}
    assert {row["oracle"] for row in json.loads((tmp_path / "out.json").read_text())["scores"]} == {"rouge", RANDOM}
    assert main([*arguments, "--output", *files]) == 2
    assert "--force" in capsys.readouterr().err
