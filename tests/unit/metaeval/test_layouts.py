"""`rrgmetrics agree --dataset` on every layout of rated data, as published and reshaped; all of it is invented."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from rated_layouts import LAYOUTS, PAIRS, TOTALS, own, table

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders import NAMES, load
from rrgmetrics.metaeval.loaders.fields import names_in


def dataset(layout, folder):
    path = layout.write(folder)
    return f"{layout.name}:{path}" if layout.name else str(path)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_agree_on_each_layout(layout, tmp_path, capsys):
    arguments = ["agree", "--dataset", dataset(layout, tmp_path / "data"), *layout.arguments, "--trials", "10"]
    outputs = ["--json", str(tmp_path / "out.json"), "--output", str(tmp_path / "out.csv")]
    assert main([*arguments, "--metrics", "bleu", "finding_errors", "--no-progress", *outputs]) == 0
    printed = capsys.readouterr().out
    written = json.loads((tmp_path / "out.json").read_text())
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["subject"] for row in rows} >= {"bleu", "finding_errors"}
    if layout.kind == "ranked":
        assert written["metrics"]["finding_errors"]["passed"] == 4
        assert "radjudge: cases passed of 4" in printed
    elif layout.kind == "equal":
        kept = {each["subject"]: each for each in written["kept"]}
        assert (kept["finding_errors"]["share"]["value"], kept["bleu"]["share"]["value"]) == (1, 0)
        assert kept["finding_errors"]["loss"] == 0 < kept["bleu"]["loss"] < 1
        assert "Pairs of equal content" in printed
    else:
        assert f"pairs of {written['n_cases']} studies" in printed
        if layout.kind == "counts":  # the same judgements, so the same numbers
            total = agreement(written, "finding_errors", "total_errors")
            assert (written["n_pairs"], total["n"], total["tau_b"]["value"]) == (8, 8, 1)
            shares = {each["subject"]: each["share"]["value"] for each in written["preferences"]}
            assert shares["finding_errors"] == 1


def agreement(written, subject, target):
    (found,) = (
        line
        for line in written["agreements"]
        if (line["subject"], line["key"], line["target"], line["view"], line["subset"])
        == (subject, subject, target, "pairs", "")
    )
    return found


@pytest.mark.parametrize(
    "layout", [each for each in LAYOUTS.values() if each.kind == "counts"], ids=lambda each: each.name
)
def test_layouts_hold_the_same_judgements(layout, tmp_path):
    columns = {"reference": "truth", "candidate": "draft", "study_id": "case", "rater": "reader"}
    more = {"columns": columns, "counts": ["total_errors=errs"]} if layout.arguments else {}
    data = load(dataset(layout, tmp_path), **more)
    order = [(pair.reference, pair.candidate) for pair in data.pairs]
    expected = {
        (reference, candidate): total for (_, _, reference, candidate, _), total in zip(PAIRS, TOTALS, strict=True)
    }
    assert data.mean("total_errors").tolist() == [expected[each] for each in order]


def test_every_name_has_a_layout_and_stands_in_the_help(capsys):
    own = {"rating", "preferences"}  # files that the project writes; tests of their own read them back
    assert {each.name for each in LAYOUTS.values() if each.name} == set(NAMES) - own
    with pytest.raises(SystemExit):
        main(["agree", "--help"])
    said = re.findall(r"\w+", capsys.readouterr().out)
    assert set(NAMES) <= set(said)


# --- what is wrong


def rewritten(layout, folder, file, **changes):
    """A layout in which one file has changed columns; None takes a column out."""
    path = LAYOUTS[layout].write(folder)
    with (folder / file).open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    rows = [{name: text for name, text in {**row, **changes}.items() if text is not None} for row in rows]
    table(folder / file, rows)
    return path


@pytest.mark.parametrize(
    ("name", "layout", "file", "changes", "message"),
    [
        (
            "rexerr",
            "ReXErr",
            "clinician-review.csv",
            {"acceptable": None},
            "has no 'acceptable'; it has: original_report",
        ),
        ("rexerr", "ReXErr", "clinician-review.csv", {"acceptable": "maybe"}, "line 2: acceptable is 'maybe'"),
        ("rexerr", "ReXErr", "clinician-review.csv", {"acceptable": "No"}, "has 4 rows, none with acceptable = Yes"),
        ("chest2error", "chest2error, CSV", "gold_pairs.csv", {"anchor_id": None}, "line 2 has no 'anchor_id'"),
        ("chest2error", "chest2error, CSV", "gold_pairs.csv", {"rad_minor_count": "few"}, "rad_minor_count is 'few'"),
        ("chest2error_equal", "chest2error, CSV", "gt_equiv_pairs.csv", {"rad_error_count": 1}, "have no error. Is it"),
        (
            *("radreport_error_injected", "radreport-error-injected, CSV", "data/multi-00000.csv"),
            *({"n_errors": "-1"}, "multi-00000.csv, line 2: n_errors is '-1'"),
        ),
        (
            *("radreport_error_injected_equal", "radreport-error-injected, CSV", "data/stylistic-00000.csv"),
            *({"split": "clean"}, "no rows with split = stylistic, but multi, single, clean"),
        ),
    ],
)
def test_wrong_files(tmp_path, name, layout, file, changes, message):
    with pytest.raises(InputError, match=message):
        load(f"{name}:{rewritten(layout, tmp_path, file, **changes)}")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("radpref", "radjudge", "preferences")])
def test_folders_without_the_files(tmp_path, name):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(InputError, match=r"has no |has 0 tables"):
        load(f"{name}:{tmp_path}")
    with pytest.raises(InputError, match="does not exist; give "):
        load(f"{name}:{tmp_path / 'nowhere'}")


def test_bodyct_says_that_its_columns_are_not_known(tmp_path):
    file = own("train.parquet")(tmp_path)
    with pytest.raises(
        InputError, match="has the columns case, truth, draft, reader, errs; those of MetricEval-BodyCT"
    ):
        load(f"metriceval_bodyct:{file}")
    own("more.parquet")(tmp_path)
    with pytest.raises(InputError, match=r"has 2 tables: more\.parquet, train\.parquet"):
        load(f"metriceval_bodyct:{tmp_path}", counts=["errs"])


def test_rexerr_counts_what_was_asked_for(tmp_path):
    data = load(dataset(LAYOUTS["ReXErr"], tmp_path))
    assert data.values["total_errors"].tolist() == [[0, 3] * 3]
    assert data.values["asked_change_severity"].tolist() == [[0, 1] * 3]
    assert data.pairs[0].reference == data.pairs[0].candidate
    assert data.notes[1] == "the clinician rejected 1 of 4 reports; they are left out"


def test_chest2error_by_kind_and_its_odd_totals(tmp_path):
    path = rewritten("chest2error, CSV", tmp_path, "gold_pairs.csv", rad_error_count=2)
    data = load(f"chest2error:{path}")
    assert data.mean("incorrect_severity").tolist() == [0, 1, 0, 0, 0, 1, 0, 1]
    assert data.mean("weighted_errors").tolist() == [2 * total for total in TOTALS]
    assert data.notes == ("the total of 6 pairs differs from the sum of their kinds",)
    assert data.studies[:2] == ["anchor 0"] * 2


def test_categories_that_were_put_in(tmp_path):
    for suffix in ("Parquet", "CSV"):
        data = load(dataset(LAYOUTS[f"radreport-error-injected, {suffix}"], tmp_path / suffix))
        np.testing.assert_array_equal(data.mean("category_laterality"), data.mean("total_errors"))
    assert set(data.labels["split"]) == {"single", "multi", "stylistic"}


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        (["a b", "c"], ["a b", "c"]),
        ('["a b", "c"]', ["a b", "c"]),
        ("a b; c,\nd", ["a b", "c", "d"]),
        ("", []),
        (None, []),
        (float("nan"), []),
    ],
)
def test_names_in_a_cell(cell, names):
    assert names_in(cell, "here") == names


def test_names_are_no_number():
    with pytest.raises(InputError, match="here is int; a list is needed"):
        names_in(3, "here")


def test_columns_of_equal_pairs_are_named(tmp_path):
    path = LAYOUTS["chest2error, CSV"].write(tmp_path)
    columns = {"candidate": "reference_report", "study": "anchor_id"}
    data = load(f"chest2error_equal:{path}", columns=columns)
    assert all(pair.reference == pair.candidate for pair in data.reworded)
    with pytest.raises(InputError, match="--columns has 'rater'"):
        load(f"chest2error_equal:{path}", columns={"rater": "x"})


def test_another_study_is_never_the_own(tmp_path):
    data = load(dataset(LAYOUTS["radreport-error-injected, restyled"], tmp_path))
    n = len(data.reworded)
    others = data.pairs[2 * n :]
    assert all(pair.candidate != own.candidate for pair, own in zip(others, data.reworded, strict=True))


def test_means_of_each_source(tmp_path, capsys):
    """ReFiSco's notebook prints MES and AES of each source, Yu et al.'s supplement counts by kind of each metric."""
    refisco = dataset(LAYOUTS["ReFiSco"], tmp_path / "refisco")
    rexval = dataset(LAYOUTS["ReXVal"], tmp_path / "rexval")
    main(["agree", "--dataset", refisco, rexval, "--metrics", "bleu", "--also", "sources", "--trials", "5"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert "mean severity (AES) 0.00 [.00, .00] 3.00 [3, 3]".split() in rows
    assert "D severity, significant 0.00 [.00, .00] 0.75".split() in [row[:7] for row in rows]
