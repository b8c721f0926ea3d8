"""A report says the same however its lines are broken, its points listed and its sections named."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable

import pytest

from rrgmetrics.comparing import explain
from rrgmetrics.reading import read
from rrgmetrics.reports.text import split_sections
from table_rows import each_row

REPORTS = (
    ("Small left pleural effusion", "No pneumothorax", "Heart size normal", "ETT 4 cm above the carina"),
    ("HEART LARGE", "SM L EFFN", "LLL ATELECTASIS", "PPM RV LEAD OK"),
    (
        "Contusions in the right lung",
        "Right chest tube lies within the fissure, its tip directed towards the apex of the hemithorax",
        "Small remaining pneumothorax on the left",
        "Paraspinal lines normal",
    ),
    (
        "There is a 2.0 cm indistinct nodular opacity overlying the right first anterior rib in the upper lobe",
        "Bilateral breast prostheses",
        "Mild cardiomegaly, increased since 2019",
        "Degenerative changes of the thoracic spine",
    ),
    ("Mild scarring of the right apex", "6 mm nodule in the left upper lobe, unchanged", "No effusion"),
    ("Left apical cap", "Fractures of the left first and second ribs", "Trachea deviated to the right"),
)
LAYOUTS: dict[str, Callable[[tuple[str, ...]], str]] = {
    "a line each": "\n".join,
    "a line each, as Windows writes it": "\r\n".join,
    "a line each, written out": "\\n".join,
    "a line each, as web pages have it": "<br>".join,
    "points in a line": " • ".join,
    "points on lines": lambda said: "".join(f"• {each}\n" for each in said),
    "numbers": lambda said: "\n".join(f"{number}. {each}" for number, each in enumerate(said, 1)),
    "paragraphs": "\n\n".join,
    "rows of a table": lambda said: "| Findings |\n|---|\n" + "\n".join(f"| {each} |" for each in said),
    "unbroken spaces": lambda said: ". ".join(said).replace(" ", "\u00a0"),
    "wrapped at 40": lambda said: textwrap.fill(". ".join(said) + ".", 40),
    "wrapped at 72": lambda said: textwrap.fill(". ".join(said) + ".", 72),
}


@each_row("name, said", itertools.product(LAYOUTS, REPORTS))
def test_layout_says_nothing(name: str, said: tuple[str, ...]) -> None:
    comparison = explain(reference=". ".join(said) + ".", candidate=LAYOUTS[name](said))
    assert [error.sentence for error in comparison.errors] == []


@each_row("said", REPORTS)
def test_characters_keep_their_places(said: tuple[str, ...]) -> None:
    report = "<br>".join(said)
    for finding in read(report).findings:
        for span in finding.spans:
            assert report[span.start : span.end] in report
            assert "<" not in report[span.start : span.end]


@pytest.mark.parametrize(
    "report",
    [
        "There is a moderate right\npleural effusion",
        "Tip of the right PICC in the lower\nSVC and no\nPneumothorax",
        "NO PLEURAL EFFUSION. THE RIGHT UPPER LOBE SHOWS NO EVIDENCE OF ANY\nCONSOLIDATION. THE LEFT IS CLEAR.",
        "No\nEffusion",
        "PICC with its tip in the distal\nSVC",
        "Heart size is normal. Lungs show no\nConsolidation",
        "Moderate cardiomegaly with no\nEffusion",
        "Catheter in the lower\nSVC\nSmall left effusion",
        "Endotracheal tube\n4 cm above the carina",
        "Nodule in the lingula,\n8 mm in diameter",
    ],
)
def test_a_wrapped_line_ends_nothing(report: str) -> None:
    assert explain(reference=report.replace("\n", " "), candidate=report).errors == ()


HEADED = (
    "EXAM: Chest 2 views FINDINGS: Heart is enlarged IMPRESSION: Small left effusion",
    "Technique: AP; FINDINGS: Heart is enlarged; IMPRESSION: Small left effusion",
    "Indication: cough Findings: The heart is enlarged Impression: Small left effusion.",
    "COMPARISON: None FINDINGS: The heart is enlarged.\nIMPRESSION: Small left effusion.",
    "FINDINGS: COMPARISON: 5/12/2019. The heart is enlarged. Small left effusion.",
    "FINDINGS: Comparison: None. Heart is enlarged. IMPRESSION: Small left effusion.",
    "FINDINGS: PA and lateral chest. COMPARISON: 2021. The heart is enlarged. Small left effusion.",
    "Portable film. Comparison: yesterday; the heart is enlarged; small left effusion.",
)


@pytest.mark.parametrize("report", HEADED)
def test_headings_stand_anywhere_in_a_line(report: str) -> None:
    assert {finding.concept for finding in read(report).abnormal} == {"cardiomegaly", "pleural_effusion"}


def test_a_word_in_small_letters_is_no_heading_within_a_line() -> None:
    assert read("Cough, and my impression: pneumonia. History: a comparison: none.").findings != ()
    parts = split_sections(
        "EXAM: Chest 2 views FINDINGS: Heart is enlarged, see comparison: none. IMPRESSION: Large heart"
    )
    assert (parts.technique, parts.impression) == ("Chest 2 views", "Large heart")
    assert parts.findings_section == "Heart is enlarged, see comparison: none."


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("Small left pleural e\ufb00usion.", "Small left pleural effusion."),
        ("Ill-de\ufb01ned opacity with a \ufb02uid level.", "Ill-defined opacity with a fluid level."),
        ("Di\ufb00use \u0153dema of both lungs.", "Diffuse oedema of both lungs."),
        ("Right pneumo\u00adthorax.", "Right pneumothorax."),
        ("Nodule of 5 \u339c in the left upper lobe.", "Nodule of 5 mm in the left upper lobe."),
        ("\uff2ceft basal atelectasis.", "Left basal atelectasis."),
        ("Small e\ufb00usion\nNo pneumothorax\nE\ufb00ects of age", "Small effusion\nNo pneumothorax\nEffects of age"),
    ],
)
def test_letters_say_nothing(said: str, typed: str) -> None:
    mine, theirs = read(said), read(typed)
    assert [(f.concept, f.side, f.measurements_mm) for f in mine.findings] == [
        (f.concept, f.side, f.measurements_mm) for f in theirs.findings
    ]
    shown = [mine.evidence(f).replace("\u00ad", "") for f in mine.findings]
    assert [len(words) > 3 and words[0] != " " for words in shown] == [True] * len(shown)
    assert explain(reference=typed, candidate=said).errors == ()


@pytest.mark.parametrize(
    ("report", "new"),
    [
        ("What is new:\n- nodule in the left lung\n- right effusion", {"nodule", "pleural_effusion"}),
        ("What is new:\na) a left nodule;\nb) a right effusion.", {"nodule", "pleural_effusion"}),
        ("New since March:\n1. A left nodule.\n2. A right effusion.", {"nodule", "pleural_effusion"}),
        ("1. New since May: left nodule.\n2. Right effusion.", {"nodule"}),
        ("- New: left nodule.\n- Right effusion.", {"nodule"}),
        ("New: left nodule.\nRight effusion.", {"nodule"}),
        ("New: left nodule.\nImpression:\n1. Right effusion.", {"nodule"}),
        ("New:\n- left nodule\n\n- right effusion", {"nodule"}),
    ],
)
def test_a_heading_states_the_change_of_the_list_below_it(report: str, new: set[str]) -> None:
    """Not where the heading is an item itself, nor behind a blank line or another heading."""
    assert {finding.concept for finding in read(report).findings if finding.change == "new"} == new
