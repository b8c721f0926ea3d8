"""What a report says has changed: statements of change, and how many two reports share.

A statement is a kind of change and what has changed: a finding ("worsening edema"), a structure ("the heart size is
stable") or the whole study ("no significant interval change"). The kinds are new, worse, better, stable and resolved,
and of a device also advanced, withdrawn, exchanged and repositioned. What is denied is no change: "no new opacity"
says nothing of the kind new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rrgmetrics.reading.coreference import pointer
from rrgmetrics.reading.items import Item
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of, load
from rrgmetrics.reading.model import Finding, Reading, Span
from rrgmetrics.reading.parsed import parse_sentences
from rrgmetrics.reading.places import same_side
from rrgmetrics.reading.similarity import concept_similarity
from rrgmetrics.reading.typing_errors import tokenize_report
from rrgmetrics.reports.cleaning import clean


class ChangeStatement(NamedTuple):
    """One statement of change.

    Attributes:
        kind: new, worse, better, stable or resolved.
        finding: What it is said of, if that is a finding.
        structures: What it is said of, if that is no finding; empty: the whole study.
        spans: Its words.
    """

    kind: str
    finding: Finding | None
    structures: frozenset[str]
    spans: tuple[Span, ...]


def read_changes(reading: Reading) -> tuple[ChangeStatement, ...]:
    """Returns the statements of change of a report that was read: those of findings first.

    Example:
        >>> from rrgmetrics.reading import read
        >>> reading = read("Worsening edema. No new opacity. The heart size is stable.")
        >>> [(change.kind, change.finding and change.finding.concept) for change in read_changes(reading)]
        [('worse', 'pulmonary_edema'), ('stable', None)]
    """
    lexicon = lexicon_of(reading)
    stated = (
        ChangeStatement(finding.change, finding, frozenset(), finding.spans)
        for finding in reading.findings
        if finding.change and (finding.assertion != "absent" or finding.change == "resolved")
    )
    return (*stated, *_of_no_finding(reading, lexicon))


def _of_no_finding(reading: Reading, lexicon: Lexicon) -> Iterator[ChangeStatement]:
    """Yields the changes of sentences that speak of no finding; a denied one is none."""
    text = clean(reading.text)
    tokens = tokenize_report(text.text, lexicon)
    given = {span for finding in reading.findings for span in finding.spans}
    for sentence, parsed in parse_sentences(text.text, tokens, lexicon):
        items = parsed.items
        changes = [item for item in items if "change" in item.senses]
        if not changes or pointer(items, lexicon) or any(mention.concept for mention in parsed.mentions):
            continue
        denied = next((item.first for item in items if "negation_before" in item.senses), len(parsed.tokens))
        kinds = dict.fromkeys(item.senses["change"] for item in changes if item.first < denied)
        span = Span(*text.given(tokens[sentence.first].start, tokens[sentence.last - 1].end))
        for kind in kinds if span not in given else ():
            yield ChangeStatement(kind, None, _structures(items), (span,))


def _structures(items: Sequence[Item]) -> frozenset[str]:
    return frozenset(structure for item in items for structure in item.senses.get("structure", ()))


def count_shared(references: Sequence[ChangeStatement], candidates: Sequence[ChangeStatement]) -> int:
    """Returns how many statements of the candidate say of one thing what the reference says; each is used once."""
    lexicon = load()
    free = list(candidates)
    shared = 0
    for reference in references:
        nearest = max(free, key=lambda candidate: _agreement(reference, candidate, lexicon), default=None)
        if nearest is not None and _agreement(reference, nearest, lexicon) > 0:
            free.remove(nearest)
            shared += 1
    return shared


def _agreement(a: ChangeStatement, b: ChangeStatement, lexicon: Lexicon) -> float:
    """Returns how far two statements say one thing of one thing, 0 to 1."""
    if a.kind != b.kind or (a.finding is None) != (b.finding is None):
        return 0.0
    if a.finding is None or b.finding is None:
        return float(a.structures == b.structures or bool(a.structures & b.structures))
    if not same_side(a.finding.side, b.finding.side) and "bilateral" not in (a.finding.side, b.finding.side):
        return 0.0
    return concept_similarity(a.finding.concept, b.finding.concept, lexicon)
