"""Choices between two candidates: the loader, both accuracies, confidence, several raters, and the command."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from rrgmetrics import InputError
from rrgmetrics.cli import main
from rrgmetrics.metaeval import agree, load
from rrgmetrics.metaeval.loaders.preferences import load_preferences
from rrgmetrics.metaeval.preferences import _ordered

REFERENCE = "Small left effusion. Cardiomegaly."
SAME, OTHER_ORDER = REFERENCE, "Cardiomegaly. Small left effusion."
ONE, TWO = "Cardiomegaly.", "Cardiomegaly. Large right pneumothorax."  # one error, two errors
# study, rater, A, B, choice, confidence
ROWS = [
    ("1", "Ann", SAME, ONE, "A", 9),
    ("1", "Bob", SAME, ONE, "A", 8),
    ("2", "Ann", TWO, ONE, "B", 7),
    ("2", "Bob", TWO, ONE, "B", 8),
    ("3", "Ann", SAME, OTHER_ORDER, "A", 2),  # no metric of findings tells these apart
    ("3", "Bob", SAME, OTHER_ORDER, "A", 1),
    ("4", "Ann", ONE, SAME, "A", 2),  # against the count of errors
    ("4", "Bob", ONE, SAME, "A", 2),
    ("5", "Ann", SAME, TWO, "A", 5),  # they differ
    ("5", "Bob", SAME, TWO, "B", 5),
    ("6", "Ann", SAME, ONE, "equal", 3),
    ("6", "Bob", SAME, ONE, "equal", 3),
    ("7", "Ann", SAME, ONE, "equal", 3),  # one prefers neither: they differ
    ("7", "Bob", SAME, ONE, "A", 3),
    ("8", "Ann", SAME, TWO, "", ""),  # not judged by Ann
    ("8", "Bob", SAME, TWO, "A", 10),
]
NAMES = ("study_id", "rater", "candidate_a", "candidate_b", "choice", "confidence")


def write(path, rows=ROWS, names=NAMES, reference=REFERENCE):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "reference"])
        writer.writerows([*row, reference] for row in rows)
    return path


def report(path, *metrics, **options):
    return agree(f"preferences:{path}", list(metrics), trials=100, progress=False, **options)


def test_accuracy_with_equal_scores_wrong_and_half(tmp_path):
    found = report(write(tmp_path / "choices.csv"), "finding_errors", "finding_errors#missing_finding")
    every = found.of("finding_errors")["all"]  # studies 1, 2 and 8 right, 3 equal, 4 wrong
    assert (every.n, every.n_ties, every.n_unscored) == (5, 1, 0)
    assert (every.strict.value, every.half.value) == (3 / 5, 3.5 / 5)
    assert every.strict.low <= 3 / 5 <= every.strict.high
    assert found.data.left_out() == (2, 1)
    missing = found.of("finding_errors#missing_finding")["all"]  # a key with a direction of its own
    assert (missing.n_ties, missing.strict.value) == (2, 2 / 5)


def test_by_confidence_and_by_rater(tmp_path):
    found = report(write(tmp_path / "choices.csv"), "finding_errors")
    accuracies = found.of("finding_errors")
    shares = {name: (each.n, each.half.value) for name, each in accuracies.items() if name.startswith("confidence")}
    # 8 and 9 make 8.5, which rounds up to 9; 7 and 8 make 8
    assert shares == {
        "confidence 2": (2, 0.25),
        "confidence 3": (0, pytest.approx(np.nan, nan_ok=True)),
        "confidence 5": (0, pytest.approx(np.nan, nan_ok=True)),
        "confidence 8": (1, 1.0),
        "confidence 9": (1, 1.0),
        "confidence 10": (1, 1.0),
    }
    assert accuracies["rater Ann"].n == 5  # equal choices and empty cells are none
    assert accuracies["rater Bob"].n == 7
    (pair,) = found.raters
    assert (pair.subject, pair.stratum, pair.n, pair.strict.value) == ("Ann", "rater Bob", 5, 4 / 5)


def test_a_pair_that_raters_saw_in_another_order_is_one(tmp_path):
    turned = [("1", "Ann", SAME, ONE, "A", 9), ("1", "Bob", ONE, SAME, "B", 9)]
    data = load_preferences(write(tmp_path / "choices.csv", turned))
    assert (len(data.first), data.agreed.tolist(), data.choices.tolist()) == (1, [1], [[1], [1]])


def test_sources_tell_candidates_with_equal_texts_apart(tmp_path):
    """Of three systems two wrote the same: every two of the three are a choice, in whatever order a rater saw them."""
    rows = [
        ("1", "Ann", SAME, ONE, "x", "y", "A", 9),
        ("1", "Ann", ONE, SAME, "y", "z", "B", 8),
        ("1", "Ann", SAME, SAME, "x", "z", "equal", 7),
        ("1", "Bob", ONE, SAME, "y", "x", "B", 6),
        ("1", "Bob", SAME, ONE, "z", "y", "B", 5),
        ("1", "Bob", SAME, SAME, "z", "x", "A", 4),
    ]
    names = ("study_id", "rater", "candidate_a", "candidate_b", "source_a", "source_b", "choice", "confidence")
    data = load_preferences(write(tmp_path / "choices.csv", rows, names))
    assert data.choices.tolist() == [[1, -1, 0], [1, 1, -1]]
    assert data.confidence.tolist() == [[9, 8, 7], [6, 5, 4]]
    with pytest.raises(InputError, match="a second time"):
        load_preferences(write(tmp_path / "twice.csv", [*rows, rows[0]], names))
    named = ["study_id", "rater", "candidate_a", "candidate_b", "one", "other", "choice", "confidence"]
    file = write(tmp_path / "named.csv", rows, named)
    with pytest.raises(InputError, match="source_a and source_b"):
        load_preferences(file)
    assert len(load_preferences(file, columns={"source_a": "one", "source_b": "other"}).first) == 3


def test_rows_without_a_rater_are_left_out_and_counted(tmp_path):
    rows = [("1", "Ann", SAME, ONE, "A", 9), ("1", "", SAME, ONE, "B", 9), ("2", "Ann", SAME, ONE, "", 9)]
    data = load_preferences(write(tmp_path / "choices.csv", rows))
    assert (data.raters, data.agreed.tolist()[0]) == (("Ann",), 1)
    assert data.notes == ("1 row names no rater and is left out", "1 of 2 cells of 'choice' is blank: not judged")
    with pytest.raises(InputError, match="no row that names a rater"):
        load_preferences(write(tmp_path / "nobody.csv", rows[1:2]))


def test_unscored_pairs_are_counted(tmp_path):
    path = write(tmp_path / "choices.csv", ROWS[:2], reference="Le thorax est normal.")
    every = report(path, "finding_errors").of("finding_errors")["all"]
    assert (every.n, every.n_unscored) == (0, 1)
    assert np.isnan(every.strict.value)


def test_scores_that_differ_by_rounding_are_equal():
    assert _ordered(np.array([5 / 3 - 4 / 3, 1.0]), np.array([4 / 3 - 1, 2.0])).tolist() == [0, -1]


def test_names_of_columns_and_missing_ones(tmp_path):
    rows = [(a, b, choice) for _, _, a, b, choice, _ in ROWS[:1]]
    data = load(f"preferences:{write(tmp_path / 'short.csv', rows, ('a', 'b', 'choice'))}")
    assert (data.raters, data.studies, np.isnan(data.confidence).all()) == (("rater",), (REFERENCE,), True)
    assert "pairs of one reference are one study" in data.notes[0]
    named = write(tmp_path / "named.csv", rows, ("first", "second", "better"))
    columns = {"candidate_a": "first", "candidate_b": "second", "choice": "better"}
    assert load(f"preferences:{named}", columns=columns).agreed.tolist() == [1]
    words = [(SAME, ONE, word) for word in ("1", "2", "TIE", "b")]
    by_words = [
        load_preferences(write(tmp_path / f"{i}.csv", [row], ("a", "b", "choice"))) for i, row in enumerate(words)
    ]
    assert [data.choices[0, 0] for data in by_words] == [1, -1, 0, -1]


@pytest.mark.parametrize(
    ("rows", "names", "message"),
    [
        ([("1", "Ann", SAME, ONE, "C", 5)], NAMES, "line 2: the choice is 'C'"),
        ([("1", "Ann", SAME, ONE, "A", 11)], NAMES, "confidence is 11"),
        ([("1", "Ann", SAME, ONE, "A", 0)], NAMES, "confidence"),
        ([ROWS[0], ROWS[0]], NAMES, "a second time"),
        ([("1", "Ann", SAME, ONE, "A", 5)], (*NAMES[:4], "picked", "confidence"), "no column 'choice'"),
        ([], NAMES, "has no rows"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, rows, names, message):
    with pytest.raises(InputError, match=message):
        load_preferences(write(tmp_path / "choices.csv", rows, names))


def test_the_command_prints_and_writes_them(tmp_path, capsys):
    path, output = write(tmp_path / "choices.csv"), tmp_path / "found.json"
    command = ["agree", "--dataset", f"preferences:{path}", "--metrics", "finding_errors", "rouge", "--trials", "50"]
    assert main([*command, "--no-progress", "--json", str(output)]) == 0
    out = capsys.readouterr().out
    for text in ("8 pairs of 8 studies; left out: 2 with differing choices, 1 with no preference", "by the raters'"):
        assert text in out.replace("\n", " ")
    found = json.loads(output.read_text())
    assert found["preferences"][0]["strict"]["value"] == 0.6
    assert main([*command, "--no-progress", "--format", "csv"]) == 0
    assert "strict_low" in capsys.readouterr().out
