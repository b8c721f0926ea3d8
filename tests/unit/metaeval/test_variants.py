"""Variants that others wrote: discrimination and robustness, counted by hand."""

from __future__ import annotations

import json
import math

import pytest

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.stress.variants import Variants, measure_variants, read_variants

REPORTS = ("aaaa", "bbbb")


def marks(candidates, references):
    """A metric: minus the letters that are not the reference's."""
    return [
        -sum(letter != reference[0] for letter in text) for text, reference in zip(candidates, references, strict=True)
    ]


def measured(metric, *variants, **keywords):
    return measure_variants({"m": metric}, Variants(REPORTS, variants), progress=False, **keywords)["m"]


def test_by_hand():
    """Of the first report's twos (0 1, 0 2, 1 2) two are right and one is tied; of the second's one, one is wrong."""
    first = ("aaaa", 0.0), ("axaa", 1.0), ("axaa", 2.0)
    second = ("bxxb", 1.0), ("bxbb", 2.0)
    found = measured(marks, first, (("bbbb", 0.0), *second))
    assert (found.n_twos, found.n_equal, found.n_unscored) == (6, 2, 0)
    assert found.discrimination.value == pytest.approx((2.5 + 2) / 6)
    assert found.robustness.value == 1.0


def test_robustness_is_in_units_of_another_patient_s_report():
    """Another report costs 4; equal content costs 1 and 3."""
    found = measured(marks, (("axaa", 0.0),), (("bxxx", 0.0),))
    assert found.robustness.value == pytest.approx(1 - 2 / 4)
    assert found.robustness.low <= found.robustness.value <= found.robustness.high
    assert math.isnan(found.discrimination.value)


def test_the_report_itself_stands_in_for_level_0():
    found = measured(marks, (("axaa", 1.0),), (("bxbb", 3.0),))
    assert (found.n_twos, found.discrimination.value) == (2, 1.0)
    assert math.isnan(found.robustness.value)


def test_a_metric_where_less_is_better_is_turned():
    found = measured(lambda *texts: [-value for value in marks(*texts)], (("axaa", 1.0),), (("bxxb", 0.0),))
    assert (found.arrow, found.discrimination.value, found.robustness.value) == ("↓", 1.0, 0.5)


def test_what_has_no_score_is_counted_and_left_out():
    def some(candidates, references):
        scores = marks(candidates, references)
        return [math.nan if "?" in text else value for text, value in zip(candidates, scores, strict=True)]

    found = measured(some, (("a?", 0.0), ("axaa", 1.0), ("axxx", 2.0)), (("bbbb", 0.0),))
    assert (found.n_unscored, found.n_twos, found.n_equal) == (1, 1, 1)
    assert found.discrimination.value == 1.0
    assert found.reasons == {"the function returned NaN": 1}


def test_the_table_counts_pairs_and_unscored_variants_of_each_metric(tmp_path, capsys):
    table = tmp_path / "v.csv"
    table.write_text(
        "reference,candidate,level\n"
        "Small left pleural effusion.,Small right pleural effusion.,1\n"
        "Petit épanchement pleural gauche.,Petit épanchement pleural droit.,1\n"
        "Petit épanchement pleural gauche.,Pas de pneumothorax.,2\n"
    )
    arguments = ["--metrics", "bleu", "finding_f1", "--no-progress", "--format", "markdown"]
    assert main(["stress", "--variants", str(table), *arguments]) == 0
    printed = capsys.readouterr().out
    assert "3 variants of 2 reports" in printed
    ends = [
        [cell.strip() for cell in row.split("|")[-4:-1]] for row in printed.splitlines() if "[" in row and "|" in row
    ]
    assert ends == [["4", "0", "0"], ["1", "0", "2"]]
    assert "Unscored: Finding F1: the reference looks French (2)." in printed


def test_the_command(tmp_path, capsys):
    table = tmp_path / "v.csv"
    table.write_text(
        "reference,candidate,errors\n"
        "Small left pleural effusion. Normal heart.,A small effusion on the left. Heart size is normal.,0\n"
        "Small left pleural effusion. Normal heart.,Small right pleural effusion. Normal heart.,1\n"
        "Mild cardiomegaly. Clear lungs.,The heart is mildly enlarged. No focal opacity.,0\n"
        "Mild cardiomegaly. Clear lungs.,Severe cardiomegaly. Clear lungs.,1\n"
    )
    out = ["--json", str(tmp_path / "out.json"), "--no-progress"]
    assert (
        main(["stress", "--variants", str(table), "--level", "errors", "--metrics", "finding_score", "bleu", *out]) == 0
    )
    printed = capsys.readouterr().out
    assert "discrimination" in printed
    assert "robustness" in printed
    rows = {row["metric"]: row for row in json.loads((tmp_path / "out.json").read_text())}
    assert rows["finding_score"]["discrimination"] == rows["finding_score"]["robustness"] == 1.0
    assert rows["bleu"]["discrimination"] == 0.0
    assert rows["bleu"]["robustness"] < 0.5
    assert main(["stress", str(table), "--variants", str(table), "--metrics", "bleu"]) == 2
    assert "--variants cannot be combined with FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reference,candidate,level\na,b,-1\n", "line 2: level is '-1'; write a number of at least 0"),
        ("reference,candidate,level\na,b,0\na,c,\n", "line 3: level is ''"),
        ("reference,level\na,0\n", "candidate"),
        ("reference,candidate,level\n", "contains no variants|no row|empty"),
    ],
)
def test_tables_that_cannot_be_used(text, message, tmp_path):
    (tmp_path / "v.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_variants(tmp_path / "v.csv")


def test_a_table_without_levels_holds_equal_content(tmp_path):
    (tmp_path / "v.csv").write_text("reference,candidate\na,b\na,c\nd,e\n")
    assert read_variants(tmp_path / "v.csv").variants == ((("b", 0.0), ("c", 0.0)), (("e", 0.0),))


def test_levels_that_are_not_found_are_named(tmp_path, capsys):
    """Errors must not count as equal content because the column of levels has another name."""
    table = tmp_path / "v.csv"
    table.write_text("reference,candidate,grade\nClear lungs.,Large mass.,2\nMild edema.,Mild oedema.,0\n")
    variants = ["stress", "--variants", str(table), "--metrics", "rouge", "--no-progress"]
    assert main([*variants, "--level", "grad"]) == 2
    assert "line 2: there is no column grad, but 'reference', 'candidate', 'grade'." in capsys.readouterr().err
    assert main(variants) == 0
    assert "No variant has a level above 0" in " ".join(capsys.readouterr().out.split())
    assert main([*variants, "--level", "grade"]) == 0
    assert "No variant" not in capsys.readouterr().out
