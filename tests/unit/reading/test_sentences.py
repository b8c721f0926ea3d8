"""One phenomenon a row: what the reader reads in a sentence, and what it must not (sentences.tsv, sentences/*.tsv)."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading_table import check

from rrgmetrics.reading import read
from table_rows import each_row, read_table

HERE = Path(__file__).parent
ROWS = read_table(HERE / "sentences.tsv", *sorted((HERE / "sentences").glob("*.tsv")))


def test_no_sentence_has_two_rows() -> None:
    assert len(ROWS) >= 200
    rows: dict[str, list[str]] = {}
    for row in ROWS:
        rows.setdefault(row[1], []).append(f"{row.file}:{row.line}")
    assert [places for places in rows.values() if len(places) > 1] == []


@each_row("phenomenon, sentence, expected", ROWS)
def test_sentence(phenomenon: str, sentence: str, expected: str) -> None:
    reading = read(sentence)
    assert all(finding.spans for finding in reading.findings)
    observations: dict[str, int] = {}
    for part in expected.split(";"):
        check(part.strip(), reading, observations)
    assert len(set(observations.values())) == len(observations), "two observations were read as one"


def test_a_wrong_row_shows_what_was_read() -> None:
    reading = read("Small left mass at the base, 3 cm, unchanged. No nodule.")
    with pytest.raises(AssertionError) as wrong:
        check("+mass[right]", reading, {})
    (message, *_) = str(wrong.value).splitlines()
    assert message == "not +mass[right]; read: +mass[left, base, size=30, sev=2, change=stable]; -nodule"
    with pytest.raises(AssertionError, match="read: nothing"):
        check("+nodule", read("Text."), {})


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ("Left effusion slightly increased. Right unchanged.", ["Left effusion slightly increased", "Right unchanged"]),
        (
            "A cavity in the right apex. Another is seen in the left lower lobe.",
            ["Another is seen in the left lower lobe"],
        ),
        ("Small left effusion. It has grown since Monday.", ["It has grown since Monday"]),
        ("Endotracheal tube in place. The tip lies 4 cm above the carina.", ["The tip lies 4 cm above the carina"]),
        ("Nodule of 8 mm in the lingula. Previously 13 mm.", ["Previously 13 mm"]),
    ],
)
def test_what_a_later_sentence_says_of_a_finding_is_evidence(report: str, words: list[str]) -> None:
    found = {report[span.start : span.end] for finding in read(report).findings for span in finding.spans}
    assert set(words) <= found


@pytest.mark.parametrize(
    "heading", ["FINDINGS:", "Findings :", "**Findings:**", "## FINDINGS:", "Findings and impression:"]
)
def test_a_heading_on_a_line_of_its_own_ends_a_section_without_full_stop(heading: str) -> None:
    reading = read(f"COMPARISON: 3/4/2019, large effusion\n{heading} Small nodule\nHeart: Enlarged")
    assert [f.concept for f in reading.findings] == ["nodule", "cardiomegaly"]


def test_a_line_break_within_a_sentence_ends_nothing() -> None:
    assert read("No effusion or\nlarge pneumothorax: none.").abnormal == ()


def test_a_word_cut_short_ends_a_sentence_in_text_without_capitals() -> None:
    findings = {finding.concept: finding for finding in read("no consol. small effusion on the left.").findings}
    assert findings["consolidation"].assertion == "absent"
    assert (findings["pleural_effusion"].assertion, findings["pleural_effusion"].side) == ("present", "left")
