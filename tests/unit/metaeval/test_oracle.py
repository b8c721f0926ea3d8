"""Metric oracles on invented reports."""

import csv
import json

import pytest

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.oracle import RANDOM, oracles
from rrgmetrics.reporting.retrieved import oracle_table
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


def test_a_report_with_the_text_of_the_reference_may_be_allowed():
    found = oracles(PAIRS, POOL, ["bleu"], identical="allowed", trials=10, progress=False)
    assert [pair.candidate for pair in found.retrieved["bleu"]] == [POOL[0], POOL[3]]
    with pytest.raises(InputError, match="identical is 'yes'; pass 'left-out' or 'allowed'"):
        oracles(PAIRS, POOL, ["bleu"], identical="yes", progress=False)


def test_where_nothing_scores_the_most_frequent_report_of_the_whole_pool_is_taken():
    pool = ["Zebra.", "Yak.", "Yak.", "Umbrella.", "Umbrella.", "Umbrella."]
    pairs = {"1": Pair("Small effusion.", ""), "2": Pair("umbrella.", "")}
    for metric in ("bleu", "rouge"):
        found = oracles(pairs, pool, [metric], trials=10, progress=False)
        assert [pair.candidate for pair in found.retrieved[metric]] == ["Umbrella.", "Yak."]  # its own text is left out


def test_a_random_report_is_one_of_a_random_study():
    pool = ["Yak."] * 90 + ["Zebra."] * 10
    pairs = {str(n): Pair("Small effusion.", "") for n in range(300)}
    found = oracles(pairs, pool, ["bleu"], n_queries=0, trials=10, progress=False)
    drawn = [pair.candidate for pair in found.retrieved[RANDOM]]
    assert 0.84 < drawn.count("Yak.") / 300 < 0.96


def test_the_change_against_a_random_report():
    judges = ["finding_errors", "rouge"]
    found = oracles(PAIRS, POOL, ["rouge"], judges=judges, trials=10, progress=False)
    for judge in judges:
        value, random = (found.judged[name][judge].scores[judge] for name in ("rouge", RANDOM))
        assert found.change("rouge", judge) == pytest.approx(100 * (value - random) / random)
        assert found.change(RANDOM, judge) == 0
    assert found.change("rouge", "finding_errors") < 0 < found.change("rouge", "rouge")
    assert {row["change_percent"] for row in found.numbers() if row["oracle"] == RANDOM} == {0}


def test_systems_are_judged_beside_the_oracles():
    ours = dict.fromkeys(PAIRS, "Right lower lobe mass.")
    found = oracles(PAIRS, POOL, ["rouge"], systems={"ours": ours}, trials=10, progress=False)
    assert list(found.retrieved) == ["rouge", RANDOM, "ours"]
    assert found.metrics == ["rouge"]
    assert [pair.candidate for pair in found.retrieved["ours"]] == ["Right lower lobe mass."] * 2
    assert found.score("ours", "rouge").value < found.score("rouge", "rouge").value
    with pytest.raises(InputError, match="The system 'ours' has no report for study '2'"):
        oracles(PAIRS, POOL, ["rouge"], systems={"ours": {"1": "Mass."}}, progress=False)
    with pytest.raises(InputError, match="A system and an oracle are called 'rouge'"):
        oracles(PAIRS, POOL, ["rouge"], systems={"rouge": ours}, progress=False)


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


def test_systems_on_the_command_line(tmp_path, capsys):
    for name, texts in (("references", POOL[2:5]), ("ours", POOL[4:1:-1])):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["study_id", "report"], *enumerate(texts)])
    arguments = ["oracle", str(tmp_path / "references.csv"), "--metrics", "rouge", "--judges", "bleu", "--trials", "10"]
    written = tmp_path / "out.json"
    assert main([*arguments, "--systems", str(tmp_path / "ours.csv"), "--json", str(written), "--no-progress"]) == 0
    assert "of the pool, in per cent" in " ".join(capsys.readouterr().out.split())
    rows = {row["oracle"]: row for row in json.loads(written.read_text())["scores"]}
    assert list(rows) == ["rouge", RANDOM, "ours"]
    change = 100 * (rows["ours"]["value"] / rows[RANDOM]["value"] - 1)
    assert rows["ours"]["change_percent"] == pytest.approx(change)


def test_the_protocol_of_the_paper(tmp_path):
    for name, texts in (("references", POOL[:1]), ("pool", [*POOL[1:5], *(f"Nodule of {n} mm." for n in range(300))])):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["study_id", "report"], *enumerate(texts)])
    pool, out = str(tmp_path / "pool.csv"), tmp_path / "out.csv"
    arguments = ["oracle", str(tmp_path / "references.csv"), "--pool", pool, "--metrics", "radgraph_f1#radcliq"]

    def run(*more):
        written = ["--output", str(out), "--json", str(out.with_suffix(".json")), "--force"]
        assert main([*arguments, "--trials", "10", "--no-progress", *more, *written]) == 0
        with out.open(newline="") as file:
            row = next(csv.DictReader(file))
        return json.loads(out.with_suffix(".json").read_text())["n_pool"], row["candidate"]

    assert run("--protocol", "yu2023") == (304, POOL[1])  # the reference's own text
    assert run("--protocol", "yu2023", "--identical", "left-out", "--size", "303")[0] == 303
    assert run()[0] == 200
    assert run("--size", "0") == (304, POOL[2])


def test_a_study_that_a_metric_does_not_score_is_left_out_and_named():
    pairs = {**PAIRS, "knee": Pair("MRI of the knee. The meniscus is torn.", ""), "blank": Pair(" ", "")}
    ours = dict.fromkeys(pairs, "Mass.")
    with_knee = oracles(pairs, POOL, ["rouge", "radgraph_f1"], systems={"ours": ours}, trials=10, progress=False)
    without = oracles(PAIRS, POOL, ["rouge", "radgraph_f1"], systems={"ours": ours}, trials=10, progress=False)
    assert with_knee.left_out == {"knee": ["radgraph_f1"], "blank": ["rouge", "radgraph_f1"]}
    assert list(with_knee.study_ids) == list(PAIRS)
    for name in ("rouge", "radgraph_f1", "ours"):
        assert with_knee.retrieved[name] == without.retrieved[name]
    note = oracle_table(with_knee).note
    assert "2 studies for which a metric scores no report of the pool: knee (radgraph_f1), blank (rouge, rad" in note
    assert "Left out" not in oracle_table(without).note
    with pytest.raises(InputError, match=r"no study for which each metric scores .* radgraph_f1 scores none for study"):
        oracles({"knee": pairs["knee"]}, POOL, ["radgraph_f1"], progress=False)
