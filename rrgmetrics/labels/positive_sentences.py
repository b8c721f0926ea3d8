"""A report without what earns nothing: only the sentences that affirm a finding, each once.

For metrics that compare wording, or read it with a network: repeating a sentence or adding normal statements changes
nothing in this text. What could not be read stays in it.
"""

from __future__ import annotations

from rrgmetrics.comparing.penalties import contradictions, silent
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of, load_file, per_lexicon
from rrgmetrics.reading.model import Reading, Span
from rrgmetrics.reports.cleaning import clean

_MARKS = ".,;:!?"


def affirmed(reading: Reading) -> str:
    """Returns the report with spaces in place of every other sentence, so that characters keep their places.

    Example:
        >>> from rrgmetrics.reading import read
        >>> affirmed(read("Small left effusion. No pneumothorax. Small left effusion. Clear lungs.")).split()
        ['Small', 'left', 'effusion.']
    """
    starts = [span.start for finding in reading.abnormal for span in finding.spans]
    stated = [span for span in reading.scope.statements if any(span.start <= start < span.end for start in starts)]
    written = clean(reading.text).in_place(reading.text)
    text = [" "] * len(written)
    for start, end in _distinct([*stated, *reading.scope.unread], written):
        end += written[end : end + 1] in tuple(_MARKS)
        text[start:end] = written[start:end]
    return "".join(text)


def standard_wording(reading: Reading) -> str:
    """What a report affirms, then one standard sentence for each organ system without a finding; "" for silence.

    What is both affirmed and denied is there once more, as a doubt ("possible pleural effusion"). Silence about an
    organ and any denial read alike, so that two reports differ in wording only where findings do.

    Example:
        >>> from rrgmetrics.reading import read
        >>> standard_wording(read("Small left effusion. No rib fracture."))[:43]
        'Small left effusion. the lungs are clear. t'
    """
    if silent(reading):
        return " ".join(affirmed(reading).split())
    lexicon = lexicon_of(reading)
    concepts = lexicon.concepts
    named = {concepts[finding.concept].group for finding in reading.abnormal}
    doubts = dict.fromkeys(concepts[each.affirmed.concept].name for each in contradictions(reading, lexicon))
    normal = (sentence for system, sentence in _normal_sentences(lexicon).items() if system not in named)
    rest = (f"{sentence}." for sentence in (*(f"possible {name}" for name in doubts), *normal))
    return " ".join([*affirmed(reading).split(), *rest])


@per_lexicon
def _normal_sentences(lexicon: Lexicon) -> dict[str, str]:
    sentences: dict[str, str] = load_file("normal", lexicon.key)["sentences"]
    return sentences


def _distinct(spans: list[Span], text: str) -> list[Span]:
    """Returns the spans whose words stand for the first time, in the order of the text."""
    first: dict[str, Span] = {}
    for span in sorted(spans):
        first.setdefault(" ".join(text[span.start : span.end].lower().split()), span)
    return list(first.values())
