"""A blind sheet: what raters see, its key, and the way back into `agree`."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders import load
from rrgmetrics.metaeval.loaders.kinds import INSIGNIFICANT_KINDS, SIGNIFICANT_KINDS
from rrgmetrics.metaeval.rated import KINDS
from rrgmetrics.synthesis.generator import generate_pairs

METRICS = ("bleu", "rouge", "finding_errors")


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    rows = [
        {"study_id": f"case {n}", "report": pair.reference, "age": 60 + n, "sex": "", "indication": "Cough."}
        for n, pair in enumerate(generate_pairs(12, seed=3))
    ]
    write(folder / "references.csv", rows)
    arguments = ["oracle", str(folder / "references.csv"), "--metrics", *METRICS, "--trials", "10", "--no-progress"]
    assert main([*arguments, "--queries", "8", "--sheet", str(folder / "sheet")]) == 0
    return folder / "sheet", arguments


@pytest.fixture
def folder(written, tmp_path):
    """A copy without filled sheets."""
    for name in ("key.csv", "raters/sheet.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((written[0] / name).read_bytes())
    return tmp_path


def test_the_sheet_says_nothing_of_sources_and_scores(written):
    sheet, key = table(written[0] / "raters" / "sheet.csv"), table(written[0] / "key.csv")
    texts = ["item", "age", "indication", "reference", "candidate"]
    assert list(sheet[0]) == [*texts, *SIGNIFICANT_KINDS, *INSIGNIFICANT_KINDS, "comment"]
    assert not {*METRICS, "source", "study_id"} & set(sheet[0])
    assert [row["item"] for row in sheet] == [row["item"] for row in key]
    assert [row["candidate"] for row in sheet] == [row["candidate"] for row in key]
    assert len(sheet) == 8 * len(METRICS)
    assert set(METRICS) < set(key[0])
    for start in range(0, len(key), len(METRICS)):
        block = key[start : start + len(METRICS)]
        assert len({row["study_id"] for row in block}) == 1
        assert {row["source"] for row in block} == set(METRICS)


def test_the_order_is_shuffled_by_study_and_follows_the_seed(written, tmp_path):
    def orders(folder):
        sources = [row["source"] for row in table(folder / "key.csv")]
        return [tuple(sources[start : start + len(METRICS)]) for start in range(0, len(sources), len(METRICS))]

    assert len(Counter(orders(written[0]))) > 2
    for name, seed in (("same", "0"), ("other", "1")):
        assert main([*written[1], "--queries", "8", "--seed", seed, "--sheet", str(tmp_path / name)]) == 0
    assert orders(tmp_path / "same") == orders(written[0]) != orders(tmp_path / "other")


def test_filled_sheets_come_back_with_their_sources(folder, tmp_path):
    rng = np.random.default_rng(0)
    rows, key = table(folder / "raters" / "sheet.csv"), table(folder / "key.csv")
    wanted = {}
    for rater in ("anna", "ben"):
        filled = []
        for row in rows:
            counts = {name: int(rng.poisson(0.4)) for name in (*SIGNIFICANT_KINDS, *INSIGNIFICANT_KINDS)}
            counts["false_finding_significant"] = 1  # a row that was judged
            wanted[rater, row["item"]] = counts
            filled.append({**row, **{name: count or "" for name, count in counts.items()}, "candidate": "#NAME?"})
        rng.shuffle(filled)  # sorted by somebody
        write(folder / "raters" / f"{rater}.csv", filled)
    data = load(f"sheet:{folder}")
    assert list(data.raters) == ["anna", "ben"]  # the blank sheet is no rater
    assert data.labels["source"] == [row["source"] for row in key]
    assert data.studies == [row["study_id"] for row in key]
    assert [pair.candidate for pair in data.pairs] == [row["candidate"] for row in key]
    assert data.pairs[0].context.age == float(key[0]["age"])
    for number, row in enumerate(key):
        for place, rater in enumerate(data.raters):
            counts = wanted[rater, row["item"]]
            for kind in KINDS:
                own = counts[f"{kind}_significant"], counts[f"{kind}_insignificant"]
                assert data.values[f"{kind}_significant"][place, number] == own[0]
                assert data.values[kind][place, number] == sum(own)
            assert data.values["total_errors"][place, number] == sum(counts.values())
    out = tmp_path / "out.json"
    arguments = ["agree", "--dataset", f"sheet:{folder}", "--metrics", "bleu", "--trials", "10", "--no-progress"]
    assert main([*arguments, "--also", "failures", "--json", str(out)]) == 0
    means = [row for row in json.loads(out.read_text())["failures"] if row["view"] == "mean count"]
    assert {row["subject"] for row in means} == set(METRICS)
    assert {row["n"] for row in means} == {16}


def test_rows_without_a_count_were_not_judged(folder):
    rows = table(folder / "raters" / "sheet.csv")
    rows[0] |= {"missing_finding_insignificant": "2"}
    rows[1] |= {"false_finding_significant": "0"}
    write(folder / "raters" / "anna.csv", rows)
    data = load(f"sheet:{folder}")
    assert data.values["total_errors"][0, :2].tolist() == [2, 0]
    assert data.values["significant_errors"][0, 0] == 0
    assert np.isnan(data.values["total_errors"][0, 2:]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": "s999r1"}, r"anna\.csv, line 2: the item 's999r1' is not in key\.csv"),
        ({"item": "s001r2"}, r"line 3: the item 's001r2' occurs twice in this sheet"),
        ({"false_finding_significant": "many"}, r"line 2: false_finding_significant is 'many'; a number from 0"),
    ],
)
def test_bad_sheets(folder, change, message):
    rows = table(folder / "raters" / "sheet.csv")
    rows[0] |= change
    write(folder / "raters" / "anna.csv", rows)
    with pytest.raises(InputError, match=message):
        load(f"sheet:{folder}")


def test_what_is_missing(folder):
    with pytest.raises(InputError, match=r"No sheet in .*raters has a count"):
        load(f"sheet:{folder}")
    (folder / "key.csv").unlink()
    with pytest.raises(InputError, match=r"has no key\.csv; give the folder that"):
        load(f"sheet:{folder}")


def test_a_sheet_is_not_replaced(written, capsys):
    assert main([*written[1], "--sheet", str(written[0])]) == 2
    assert "--force" in capsys.readouterr().err
