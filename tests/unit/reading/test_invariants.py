"""What must hold for every report, tried on reports that hypothesis puts together from invented sentences."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rrgmetrics.comparing import ErrorCategory, compare
from rrgmetrics.reading import Finding, read

settings.register_profile("reader", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("reader")

# Each sentence can stand alone and speaks of something no other sentence speaks of.
SENTENCES = (
    "Mild cardiomegaly.",
    "There is a small right pleural effusion.",
    "Streaky atelectasis at the left lung base, unchanged.",
    "A 6 mm calcified granuloma is seen in the right upper lobe.",
    "The thoracic aorta is tortuous.",
    "Right internal jugular catheter with tip in the lower SVC.",
    "Degenerative changes of the thoracic spine.",
    "Old left rib fractures are again noted.",
    "The right hemidiaphragm is elevated.",
    "Small hiatal hernia.",
    "Mild pulmonary vascular congestion.",
    "Low lung volumes.",
    "No acute osseous abnormality.",
    "The trachea is midline.",
    "Median sternotomy wires are intact.",
    "Prominent hila bilaterally.",
    "There is dextroscoliosis.",
    "No free air under the diaphragm.",
    "Multifocal consolidation, consistent with pneumonia, in the right lower lobe.",
    "Endotracheal tube 4 cm above the carina.",
)
reports = st.lists(st.sampled_from(SENTENCES), unique=True, max_size=8)
# Without parents, children, signs or interchangeable concepts of one another.
UNRELATED = (
    "Mild cardiomegaly.",
    "Small hiatal hernia.",
    "There is dextroscoliosis.",
    "Old left rib fractures.",
    "Low lung volumes.",
    "The aorta is tortuous.",
)
unrelated = st.lists(st.sampled_from(UNRELATED), unique=True, max_size=6)


def content(text: str) -> set[tuple[object, ...]]:
    """Return what a report says, without where it says it."""
    return {fields(f) for f in read(text).findings}


def fields(f: Finding) -> tuple[object, ...]:
    return (
        f.concept, f.assertion, f.certainty, f.side, f.zones, f.severity, f.measurements_mm,
        f.acuity, f.change, f.tip, f.route,
    )  # fmt: skip


@given(reports)
def test_identical_reports_give_no_errors(sentences: list[str]) -> None:
    reading = read(" ".join(sentences))
    assert compare(reading, reading).errors == ()


@given(unrelated, unrelated)
def test_swapping_the_reports_swaps_false_and_missing(a: list[str], b: list[str]) -> None:
    one, two = read(" ".join(a)), read(" ".join(b))
    there, back = compare(one, two).counts, compare(two, one).counts
    assert there[ErrorCategory.FALSE_FINDING] == back[ErrorCategory.MISSING_FINDING]
    assert there[ErrorCategory.MISSING_FINDING] == back[ErrorCategory.FALSE_FINDING]


@given(reports, st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(sentences: list[str], random: object) -> None:
    shuffled = list(sentences)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert content(" ".join(sentences)) == content(" ".join(shuffled))
    assert compare(read(" ".join(sentences)), read(" ".join(shuffled))).errors == ()


@given(reports)
def test_one_more_finding_is_one_false_finding(sentences: list[str]) -> None:
    text = " ".join(sentences)
    comparison = compare(read(text), read(f"{text} There is a large left pneumothorax."))
    assert [e.category for e in comparison.errors] == [ErrorCategory.FALSE_FINDING]
    assert comparison.significant == 1


@given(reports, st.lists(st.sampled_from([" ", "  ", "\n", " \n", "\t"]), min_size=1, max_size=7))
def test_spaces_and_line_wraps_change_nothing(sentences: list[str], blanks: list[str]) -> None:
    words = " ".join(sentences).split(" ")
    wrapped = "".join(word + blanks[i % len(blanks)] for i, word in enumerate(words))
    assert content(" ".join(words)) == content(wrapped)


@given(reports)
def test_letter_case_changes_nothing(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert content(text) == content(text.upper()) == content(text.lower())


@given(st.text(max_size=2000))
@example("3 × 2")  # a sign beyond ASCII and no letter
def test_any_text_is_read(text: str) -> None:
    reading = read(text)
    for finding in reading.findings:
        for span in finding.spans:
            assert 0 <= span.start < span.end <= len(text)
    compare(reading, reading)


@given(
    st.lists(
        st.sampled_from(
            [
                "no",
                "right",
                "effusion",
                ",",
                "or",
                "and",
                ".",
                "heart",
                "is",
                "enlarged",
                "3",
                "cm",
                "\n\n",
                "-",
                "/",
                "tip",
                "not",
                "of",
                "the",
                "tube",
                "RLL",
                "XXXX",
                ":",
                "findings",
            ]
        ),
        max_size=60,
    )
)
def test_any_order_of_words_is_read(words: list[str]) -> None:
    reading = read(" ".join(words))
    compare(reading, read(" ".join(reversed(words))))


HOSTILE = {
    "commas": ", ",
    "negations": "no ",
    "findings": "effusion ",
    "structures": "heart lung ",
    "qualities": "enlarged normal ",
    "sides": "left and right ",
    "devices": "catheter tip in the svc ",
    "digits": "9",
    "newlines": "\n \n",
    "newlines without gap": "\n",
    "spaces": " ",
    "colons": "findings: ",
    "mixed": "no right effusion, or the heart is enlarged and ",
    "prefixes": "upper and lower upper and ",
    "measurements": "3 x 3 x ",
    "unicode": "é😀\u202e",
    "brackets": "([",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_long_texts_are_read(piece: str) -> None:
    """In linear time: benchmarks/promises.py measures it."""
    text = piece * (25_000 // len(piece))
    assert all(0 <= span.start < span.end <= len(text) for finding in read(text).findings for span in finding.spans)
