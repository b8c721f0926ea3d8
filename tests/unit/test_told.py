"""The errors that metrics name as one table, and how scores of pairs spread."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import InputError, cli
from rrgmetrics.scoring.error_rows import ERROR_LISTS, errors_of

REFERENCES = ["Small left pleural effusion. Nodule of 8 mm in the right upper lobe.", "Clear lungs.", "12345"]
CANDIDATES = ["Small right pleural effusion.", "Clear lungs.", "Clear lungs."]


def scored(name):
    return rrgmetrics.score(name, predictions=CANDIDATES, references=REFERENCES, progress=False)[name]


@pytest.mark.parametrize("metric", sorted({*ERROR_LISTS} - {"mammo_green"}))  # which scores no chest X-ray
def test_a_row_an_error(metric):
    """The nodule is missing, in the second pair nothing is wrong, and the third is no report."""
    frame = scored(f"{metric}?explain=yes").errors_frame()
    assert list(frame.columns) == ["pair", "category", "error", "significant", "n_errors", "grade"]
    assert set(frame["pair"]) == {0}
    missing = frame[frame["category"] == "missing_finding"]
    assert any("nodule" in words.lower() for words in missing["error"])


def test_rows_add_up_to_the_count():
    result = scored("finding_errors?explain=yes")
    assert result.errors_frame()["n_errors"].sum() == np.nansum(result.per_pair["finding_errors"])


def test_counts_without_words_stay():
    verdict = {"significant": {"missing_finding": {"count": 3, "errors": ["No nodule."]}}, "insignificant": None}
    assert [(error.error, error.n_errors) for error in errors_of("green", verdict)] == [("No nodule.", 1), ("", 2)]


def test_what_cannot_be_told_says_so():
    with pytest.raises(InputError, match="bleu lists no errors; these metrics do: finding_errors"):
        scored("bleu").errors_frame()
    with pytest.raises(InputError, match=r"green\?explain=yes"):
        scored("green").errors_frame()


def test_the_standard_deviation_is_that_of_a_population():
    result = scored("green")
    assert result.std() == pytest.approx(np.nanstd(result.per_pair["green"]))
    assert math.isnan(rrgmetrics.score("green", predictions=[""], references=["12345"], progress=False)["green"].std())
    with pytest.raises(InputError, match="per pair"):
        scored("srr_bert_f1").std("srr_bert_f1_micro")


def test_on_the_command_line(tmp_path, capsys):
    pairs = tmp_path / "pairs.csv"
    with pairs.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["study_id", "reference", "candidate"], *zip("abc", REFERENCES, CANDIDATES, strict=True)]
        )
    table, summary = tmp_path / "errors.csv", tmp_path / "summary.json"
    command = ["score", str(pairs), "--no-progress", "--no-trivial", "--trials", "5", "--metrics"]
    assert cli.main([*command, "green", "rouge", "--errors", str(table), "--json", str(summary)]) == 0
    rows = list(csv.DictReader(table.open()))
    assert {(row["study_id"], row["metric"]) for row in rows} == {("a", "green")}
    assert {row["category"] for row in rows} == {"missing_finding", "incorrect_location"}
    assert json.loads(summary.read_text())["systems"]["pairs"]["rouge"]["std"]["rouge"] > 0
    assert cli.main([*command, "judge=green", "--errors", str(table), "--force"]) == 0
    assert {row.split(",")[1] for row in table.read_text().splitlines()[1:]} == {"judge"}
    assert cli.main([*command, "rouge", "--errors", str(table)]) == 2
    assert "--errors needs a metric that lists errors: finding_errors," in capsys.readouterr().err
