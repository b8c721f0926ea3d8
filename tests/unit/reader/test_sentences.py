"""One phenomenon a row: what the reader reads in a sentence, and what it must not (sentences.tsv, sentences/*.tsv)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rrgmetrics.reader import Finding, Reading, read
from rrgmetrics.reader.lexicon import load

HERE = Path(__file__).parent
ROWS = [
    line.split("\t")
    for file in (HERE / "sentences.tsv", *sorted((HERE / "sentences").glob("*.tsv")))
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
_ASSERTIONS = {"+": "present", "-": "absent", "?": "uncertain"}


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 200
    assert len({row[1] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("phenomenon", "sentence", "expected"), ROWS, ids=[row[1][:60] for row in ROWS])
def test_sentence(phenomenon: str, sentence: str, expected: str) -> None:
    reading = read(sentence)
    observations: dict[str, int] = {}
    for part in expected.split(";"):
        check(part.strip(), reading, observations, phenomenon)
    assert len(set(observations.values())) == len(observations), "two observations were read as one"


@pytest.mark.parametrize(
    "heading", ["FINDINGS:", "Findings :", "**Findings:**", "## FINDINGS:", "Findings and impression:"]
)
def test_a_heading_on_a_line_of_its_own_ends_a_section_without_full_stop(heading: str) -> None:
    reading = read(f"COMPARISON: 3/4/2019, large effusion\n{heading} Small nodule\nHeart: Enlarged")
    assert [f.concept for f in reading.findings] == ["nodule", "cardiomegaly"]


def test_a_line_break_within_a_sentence_ends_nothing() -> None:
    assert read("No effusion or\nlarge pneumothorax: none.").abnormal == ()


def check(part: str, reading: Reading, observations: dict[str, int], phenomenon: str) -> None:
    """Check one part of a reading, such as ``+nodule[left, size=6]``."""
    stated = [(f.assertion, f.concept) for f in reading.findings]
    if part == "nothing":
        assert stated == [], phenomenon
    elif part == "nothing abnormal":
        assert reading.abnormal == (), stated
    elif part.startswith("!"):
        assert part[1:] not in {f.concept for f in reading.abnormal}, stated
    else:
        match = re.fullmatch(r"([+?-])(\w+)(?:\[(.*)\])?", part)
        assert match is not None, f"cannot read {part!r}"
        sign, concept, attributes = match.groups()
        matching = [f for f in reading.findings if f.concept == concept and f.assertion == _ASSERTIONS[sign]]
        assert matching, f"{part} not in {stated}"
        wanted = [a.strip() for a in (attributes or "").split(",") if a.strip()]
        assert any(all(holds(a, f, observations) for a in wanted) for f in matching), matching


def holds(attribute: str, finding: Finding, observations: dict[str, int]) -> bool:
    """Tell whether a finding has an attribute."""
    key, _, value = attribute.partition("=")
    if key == "obs":
        return observations.setdefault(value, finding.observation) == finding.observation
    if not value:
        return (
            (attribute in ("left", "right", "bilateral") and finding.side == attribute)
            or attribute in finding.zones
            or any(load().zones[zone].inside == attribute for zone in finding.zones)
            or (attribute == "noside" and finding.side is None)
            or (attribute == "nozone" and not finding.zones)
            or (attribute == "nolevel" and not finding.levels)
            or (attribute == "notip" and not finding.tip)
        )
    if key == "size":
        return max(finding.measurements_mm, default=None) == float(value)
    if key == "sev":
        return finding.severity == int(value)
    if key == "count":
        return finding.count == int(value)
    if key == "levels":
        return len(finding.levels) == int(value)
    if key == "level":
        return value in finding.levels
    if key == "tip":
        return value in finding.tip
    return str(getattr(finding, key)) == value
