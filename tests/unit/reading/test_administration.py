"""What systems and people write around a report says nothing of the patient, and hides nothing that does."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from rrgmetrics import explain
from rrgmetrics.reading import read
from table_rows import each_row, read_table, unescaped

REPORT = "The heart is mildly enlarged. There is a small left pleural effusion. No pneumothorax."
LINES = [
    line
    for line in (Path(__file__).parent / "administration.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
NAMES = {"John Smith, MD", "Maria Garcia-Lopez, M.D., Ph.D."}  # in capitals nothing shows that they are
HEADS = (
    "COMPARISON: None.",
    "COMPARISON: 5/12/2020.",
    "INDICATION: Cough.",
    "HISTORY: Fever and cough.",
    "Clinical information: dyspnea.",
    "TECHNIQUE: PA and lateral.",
    "EXAM: XR chest.",
)
TAILS = (
    "NOTIFICATION: None.",
    "COMMUNICATION: Dr B was called at 10:00.",
    "RECOMMENDATION: Follow-up film in 6 weeks.",
    "SIGNED: J. Doe",
    "Electronically signed by: Dr A Smith",
    "Reported by: Anna Kowalski",
    "MRN: 00981234",
)


def errors(reference: str, candidate: str) -> list[str]:
    return [error.sentence for error in explain(reference=reference, candidate=candidate).errors]


@pytest.mark.parametrize("line", LINES)
def test_a_line_around_a_report_costs_nothing(line: str) -> None:
    behind = f"{REPORT}\n{line}"
    for text in (behind, f"{line}\n{REPORT}", *(() if line in NAMES else (behind.upper(),))):
        assert errors(REPORT, text) == []
        assert errors(text, REPORT) == []


@pytest.mark.parametrize(("head", "tail", "gap"), [*product(HEADS, TAILS, ("\n", "\n\n"))])
def test_findings_between_two_headings_are_read(head: str, tail: str, gap: str) -> None:
    text = gap.join((head, "Pulmonary edema. No pleural effusion.", tail))
    assert errors("Pulmonary edema. No pleural effusion.", text) == []
    assert [finding.concept for finding in read(text).findings] == ["pulmonary_edema", "pleural_effusion"]


def test_the_history_is_not_read_where_findings_have_a_heading() -> None:
    text = "INDICATION: Fever. Recent pneumonia.\nRECOMMENDATION: none.\nFINDINGS: Small effusion.\nSIGNED: J. Doe"
    assert [finding.concept for finding in read(text).findings] == ["pleural_effusion"]


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("ICD with its lead in the right ventricle.", ["defibrillator"]),
        ("ICD in place for 10 years.", ["defibrillator"]),
        ("Hepatitis C. The heart is enlarged.", ["cardiomegaly"]),
        ("Dr. S. Kumar was told of the tension pneumothorax.", []),
        ("5 cm mass in the right upper lobe.", ["mass"]),
        ("~~Left~~ Right effusion.", ["pleural_effusion"]),
        ("A nodule of 3\\,cm.", ["nodule"]),
        ("Befund/Findings: Heart enlarged.", ["cardiomegaly"]),
        ("FINDINGS: The right lung is clear without effusion. Left effusion.", ["opacity", *["pleural_effusion"] * 2]),
        ("CHEST 2 VIEWS (RAD Detailed)\nSmall effusion.", ["pleural_effusion"]),
        ("OBX|1|FT|RAD^Findings^L|Small effusion.", ["pleural_effusion"]),
    ],
)
def test_the_same_letters_in_a_report_are_read(text: str, concepts: list[str]) -> None:
    reading = read(text)
    assert [finding.concept for finding in reading.findings] == concepts
    assert reading.scope.unread == ()


@each_row("kind, arrived, plain", read_table(Path(__file__).parent / "arrived.tsv"))
def test_a_report_as_it_arrives_is_read_as_in_plain_english(kind: str, arrived: str, plain: str) -> None:
    text = unescaped(arrived)
    assert errors(plain, text) == []
    assert errors(text, plain) == []


@pytest.mark.parametrize("text", ["Colourless ideas sleep furiously.", "COLOURLESS IDEAS SLEEP FURIOUSLY.", "Fnord."])
def test_what_is_no_name_stays_unread(text: str) -> None:
    assert errors(REPORT, f"{REPORT} {text}") != []
