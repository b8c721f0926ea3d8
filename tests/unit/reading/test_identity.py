"""A report has no error against itself: reports put together at random from words that the reader knows."""

from __future__ import annotations

import random
from collections.abc import Iterator

from rrgmetrics.comparing import compare
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load
from table_rows import each_row

REPORTS = 200
WORDS = (
    *("no", "not", "without", "or", "and", "versus", "with", "but", "except", "possible", "likely", "may represent"),
    *("suspicious for", "cannot be excluded", "is seen", "is not seen", "there is", "unchanged", "new", "resolved"),
    *(
        "worse",
        "improved",
        "left",
        "right",
        "bilateral",
        "small",
        "large",
        "in the",
        "right upper lobe",
        "at the bases",
    ),
    *("3 cm", "8 mm", "old", "acute", "known", "previously", "than on the left", "which", "is", "none", "no longer"),
    *("the", "another", "history of", "compared with", "since", "due to", "following", "status post", "removal of"),
    *("tip in", "rather than", "multiple", "two", "it", "greater than", "more", "less", "unlikely", "negative for"),
    *("the lungs are clear", "heart is normal in size", "the following", "residual", "only", "-", "/", "(", ")", "?"),
    *(",", ",", ",", ".", ".", ".", ";", ":", "\n", "\n- "),
)
# Reports that differed from themselves, or could not be read, until the reader was mended.
FOUND = (
    "Metastasis or tumour without rhabdomyosarcoma.",
    "Port, lungs up unlikely.",
    "No air and fluid, pneumohemothorax unlikely.",
    "TIVAD lung up unlikely.",
    "No air and fluid pneumohemothorax unlikely.",
    "Mass from good volume less.",
    "Cardiac compensation from air at the apex, residual.",
    "No is known pleural bleed no",
    "Compared with removal of is seen mediastinal widening history of",
    "Fluid none the the",
)


def reports(seed: int, n: int) -> Iterator[str]:
    """Yields reports of findings and of the words around them."""
    names = [concept.name for concept in load().concepts.values()]
    generator = random.Random(seed)
    for _ in range(n):
        pieces = range(generator.randint(3, 14))
        yield " ".join(generator.choice(names if generator.random() < 0.4 else WORDS) for _ in pieces)


@each_row("report", FOUND)
def test_reports_that_once_differed_from_themselves(report: str) -> None:
    reading = read(report)
    assert compare(reading, reading).errors == ()


def test_a_random_report_has_no_error_against_itself() -> None:
    different = []
    for report in reports(seed=35, n=REPORTS):
        reading = read(report)
        different += [report] if compare(reading, reading).errors else []
    assert different == []
