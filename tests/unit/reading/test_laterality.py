"""Left and right are read alike, and no sentence changes the side of another."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rrgmetrics.reading import Finding, read
from table_rows import each_row, read_table

HERE = Path(__file__).parent
SENTENCES = [row[1] for row in read_table(HERE / "sentences.tsv", *sorted((HERE / "sentences").glob("*.tsv")))]
_OTHER = {
    "left": "right", "leftward": "rightward", "l": "r", "lt": "rt", "lul": "rul", "lll": "rll", "lij": "rij",
    "levoscoliosis": "dextroscoliosis", "levocurvature": "dextrocurvature", "levoconvex": "dextroconvex",
}  # fmt: skip
OTHER = _OTHER | {right: left for left, right in _OTHER.items()}
SIDES = {"left": "right", "right": "left", "bilateral": "bilateral", "midline": "midline", None: None}
# Places and findings that there are on one side only, or whose name on the other side means something else.
ONE_SIDED = re.compile(
    r"lingul|middle|rml|atri|ventric|heart|cardi|aort|arch|bronch|stomach|gastric|liver|splen|diaphragm|hemidiaphragm"
    r"|arter|duct|azygos|lateral (view|film)|paratracheal|cava|mediast|trachea|shunt"
    r"|right (clinical )?(setting|context)|(has|have) left (no|a) ",
    re.IGNORECASE,
)
SIDED = [s for s in SENTENCES if re.search(r"\b(left|right)", s, re.IGNORECASE) and not ONE_SIDED.search(s)]
APART = (
    "Small left apical pneumothorax.",
    "Right basal consolidation.",
    "There is scarring in the left upper lobe.",
    "The right clavicle is fractured.",
    "Fractures of the left fourth to sixth ribs.",
    "Bilateral pleural effusions, right greater than left.",
    "Pleural plaques on both sides.",
    "Nodule in the right lung.",
    "Left chest tube in place.",
    "Mild scoliosis of the mid thoracic spine.",
    "Low lung volumes.",
    "Haze, more marked in the left lung.",
)


def swapped(text: str) -> str:
    """Return a text with left for right and right for left."""

    def other(match: re.Match[str]) -> str:
        word = match.group()
        turned = OTHER.get(word.lower(), word)
        return turned.upper() if word.isupper() else turned.capitalize() if word[0].isupper() else turned

    return re.sub(r"[A-Za-z]+", other, text)


def where(finding: Finding, *, turned: bool = False) -> tuple[object, ...]:
    side = SIDES[finding.side] if turned else finding.side
    zones, levels = tuple(sorted(finding.zones)), tuple(sorted(finding.levels))
    return finding.concept, finding.assertion, side, zones, levels, finding.severity, finding.change


def test_there_are_sentences_with_sides() -> None:
    assert len(SIDED) > 150


@each_row("sentence", SIDED)
def test_swapped_sides_are_read_swapped(sentence: str) -> None:
    here = [where(finding, turned=True) for finding in read(sentence).findings]
    there = [where(finding) for finding in read(swapped(sentence)).findings]
    assert sorted(map(str, here)) == sorted(map(str, there))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.sampled_from(APART), unique=True, min_size=1))
def test_no_sentence_changes_the_place_of_another(sentences: list[str]) -> None:
    alone = {where(finding) for sentence in sentences for finding in read(sentence).findings}
    assert {where(finding) for finding in read(" ".join(sentences)).findings} == alone


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.sampled_from(APART), unique=True, min_size=1))
def test_a_finding_of_the_other_side_is_another_finding(sentences: list[str]) -> None:
    text = " ".join(sentences)
    one_sided = [finding for finding in read(text).findings if finding.side in ("left", "right")]
    both = read(f"{text} {swapped(text)}").findings
    for finding in one_sided:
        assert {where(finding), where(finding, turned=True)} <= {where(each) for each in both}
