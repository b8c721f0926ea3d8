"""Frames around a finding: what opens or ends a sentence, stands beside the finding or is remarked of it.

Each row of `frames/` is a frame, and is put around findings of several kinds. An opening ("Bearing in mind the
limitations of the film,") and an end (", which should be followed up") add nothing; other frames say that findings are
there, denied or doubted, or what has become of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rrgmetrics.reading import Finding, read
from table_rows import Row, read_table

FRAMES = Path(__file__).parent / "frames"
STATEMENTS = (
    "There is a moderate right pleural effusion",
    "The heart is enlarged",
    "The right lung is collapsed",
    "There is a fracture of the left sixth rib",
)
NAMES = ("right pleural effusion", "pneumothorax", "left lower lobe consolidation", "lung nodule")
CHANGING = ("pleural effusion", "lung nodule", "mediastinal mass", "consolidation")
PLACED = ("There is a nodule in the right lung.", "Left pleural effusion.", "A mass at the left apex.")
DEVICES = ("nasogastric tube", "right PICC", "left chest drain", "pacemaker")
PAIRS = (("pneumothorax", "rib fracture"), ("cardiomegaly", "pleural effusion"), ("hiatal hernia", "apical scarring"))
ASSERTIONS = {"present": "present", "absent": "absent", "doubted": "uncertain"}


def rows(name: str) -> list[Row]:
    return read_table(FRAMES / f"{name}.tsv")


def filled(frame: str, name: str) -> str:
    """Returns a frame with a name in it: {n} alone, {an} with its article, {N} and {AN} where a sentence begins."""
    article = f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    return put(
        frame,
        {"{n}": name, "{an}": article, "{N}": name[0].upper() + name[1:], "{AN}": article[0].upper() + article[1:]},
    )


def put(frame: str, slots: dict[str, str]) -> str:
    for slot, text in slots.items():
        frame = frame.replace(slot, text)
    return frame


def said(text: str) -> list[tuple[object, ...]]:
    return sorted((f.concept, f.assertion, f.side, f.severity, f.change) for f in read(text).findings)


def concept(name: str) -> str:
    return read(filled("{N}.", name)).findings[0].concept


def told(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return sorted((f.concept, f.assertion) for f in findings)


def test_an_opening_adds_nothing() -> None:
    for (opening,) in rows("openings"):
        for statement in STATEMENTS:
            text = f"{opening} {statement[0].lower()}{statement[1:]}."
            assert said(text) == said(f"{statement}."), text


def test_an_end_adds_nothing() -> None:
    for (end,) in rows("ends"):
        for statement in STATEMENTS:
            assert said(f"{statement}{end}.") == said(f"{statement}."), statement + end


def test_a_frame_tells_whether_a_finding_is_there() -> None:
    for assertion, frame in rows("presence"):
        for name in NAMES:
            text = filled(frame, name)
            assert told(read(text).findings) == [(concept(name), ASSERTIONS[assertion])], text


def test_a_frame_tells_what_has_become_of_a_finding() -> None:
    for change, frame in rows("changes"):
        for name in CHANGING:
            text = filled(frame, name)
            found = [(f.concept, f.assertion, f.change) for f in read(text).findings]
            assert found == [(concept(name), "absent" if change == "resolved" else "present", change)], text


def test_a_remark_tells_what_has_become_of_the_finding_before() -> None:
    for change, remark in rows("remarks"):
        for statement in PLACED:
            text = f"{statement} {remark}"
            found = [(f.concept, f.side, f.assertion, f.change) for f in read(text).findings]
            assert found == [(f.concept, f.side, "present", change) for f in read(statement).findings], text


def test_a_frame_tells_what_has_become_of_a_device() -> None:
    for change, frame in rows("devices"):
        for name in DEVICES:
            text = filled(frame, name)
            (device,) = read(text).findings
            assert device.concept == concept(name), text
            assert device.assertion == ("absent" if change == "removed" else "present"), text
            assert change == "removed" or (device.change or "told") == change, text


@pytest.mark.parametrize("pair", PAIRS)
def test_a_frame_tells_of_two_findings(pair: tuple[str, str]) -> None:
    for first, second, frame in rows("pairs"):
        slots = {"{1}": pair[0], "{2}": pair[1], "{I}": pair[0].capitalize(), "{II}": pair[1].capitalize(), "\\n": "\n"}
        text = put(frame, slots)
        wanted = sorted(zip(map(concept, pair), (ASSERTIONS[first], ASSERTIONS[second]), strict=True))
        assert told(read(text).findings) == wanted, text
