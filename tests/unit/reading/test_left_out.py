"""What a candidate leaves out of a finding that it has costs a part of what a wrong one costs (left_out/*.tsv)."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import rrgmetrics
from rrgmetrics.comparing import compare, explain
from rrgmetrics.comparing.omissions import MOST
from rrgmetrics.reading import read
from rrgmetrics.reporting.marks import Explanation
from rrgmetrics.synthesis.generator import generate_reports
from table_rows import each_row, read_table

ROWS = read_table(Path(__file__).parent / "left_out.tsv")
METRICS = ("finding_errors", "finding_score", "crimson", "green", "crepe", "radfact", "chexprompt", "fineradscore")
LOWER_IS_BETTER = {"finding_errors", "crepe", "chexprompt", "fineradscore"}
# Reference; what leaves a detail out; what has it wrong.
WORSE = [
    ("Right pneumothorax.", "Pneumothorax.", "Left pneumothorax."),
    ("Acute fracture of the left clavicle.", "Fracture of the left clavicle.", "Old fracture of the left clavicle."),
    ("8 mm nodule in the right upper lobe.", "Right upper lobe nodule.", "20 mm nodule in the right upper lobe."),
    ("Large left pneumothorax.", "Left pneumothorax.", "Tiny left pneumothorax."),
    ("Nodule of 8 mm in the right upper lobe.", "Right nodule of 8 mm.", "Nodule of 8 mm in the right lower lobe."),
]  # fmt: skip


def left_out_of(reference: str, candidate: str) -> set[str]:
    """The details that are left out, as the sentences name them."""
    errors = explain(reference=reference, candidate=candidate).errors
    return {error.sentence.partition(" left out")[0].lower() for error in errors if error.is_left_out}


def test_no_row_stands_twice() -> None:
    assert len({(row[1], row[2]) for row in ROWS}) == len(ROWS) >= 60


@each_row("expected, reference, candidate", ROWS)
def test_what_is_left_out(expected: str, reference: str, candidate: str) -> None:
    assert left_out_of(reference, candidate) == (set() if expected == "free" else set(expected.split(", ")))


@pytest.mark.parametrize("metric", METRICS)
def test_less_than_a_wrong_one_and_more_than_nothing(metric: str) -> None:
    references = [row[0] for row in WORSE]
    sign = -1 if metric in LOWER_IS_BETTER else 1
    full, vague, wrong = (
        sign * rrgmetrics.score([metric], predictions=candidates, references=references)[metric].per_pair[metric]
        for candidates in zip(*WORSE, strict=True)
    )
    assert (full > vague).all(), vague
    assert (vague > wrong).all(), (vague, wrong)


def test_a_vague_report_is_no_perfect_one() -> None:
    reference = (
        "Large left pleural effusion. 28 mm nodule in the right upper lobe. "
        "Acute fractures of the left third to sixth ribs."
    )
    comparison = explain(reference=reference, candidate="Pleural effusion. Nodule. Rib fractures.")
    assert comparison.total == 0
    assert comparison.whole.errors == ()
    assert comparison.cost() > 2
    counts = f"{comparison.cost():g} errors ({comparison.cost(significant=True):g} significant)"
    left_out = f"{len(comparison.errors)} attributes left out, which count as {counts}"
    assert repr(comparison) == f"ReportComparison(0 errors; {left_out})"
    assert Explanation.of(comparison).summary == f"0 errors, 0 significant; {left_out}"
    sentence = "Side left out: large left pleural effusion → pleural effusion."
    side = next(error for error in comparison.errors if error.sentence == sentence)
    assert [reference[span.start : span.end] for span in side.reference_spans] == ["Large left pleural effusion"]
    assert 0 < side.part <= 0.5


def test_what_is_left_out_of_a_place_or_description_costs_less_than_a_wrong_one() -> None:
    comparison = explain(reference="Large 40 mm nodule in the left upper lobe.", candidate="Nodule.")
    for letter in "CD":
        assert sum(error.part for error in comparison.errors if error.category.letter == letter) <= MOST < 1


def test_a_wrong_side_is_not_also_left_without_its_zone() -> None:
    comparison = explain(reference="Left lower lobe consolidation.", candidate="Right consolidation.")
    assert [(error.category.letter, error.part) for error in comparison.errors] == [("C", 1)]


def test_reports_leave_nothing_out_of_themselves_and_words_that_are_cut_gain_nothing() -> None:
    """Whole statements of a generated report against it, and against the same without what stands before a finding."""
    rng = Random(0)
    for report in generate_reports(60, seed=11):
        reading = read(report.text)
        assert compare(reading, reading).errors == ()
        sided = [finding for finding in reading.abnormal if finding.side in ("left", "right")]
        if sided:
            word = rng.choice(sided).side or ""
            shorter = read(report.text.replace(f"{word} ", ""))
            comparison = compare(reading, shorter)
            assert comparison.out_of_scope or comparison.cost() >= 0  # "filling defect" makes it a CT report: no score
