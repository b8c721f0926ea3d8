"""What a metric says of one pair → marks in both reports, and remarks in words.

Metrics explain themselves in their own terms (`Result.details`); a function for each form they have turns it into the
same marks. Bundled judges judge by the reader's comparison, so its evidence is theirs. Where a metric says nothing,
the words that only one report has are marked, as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rrgmetrics.pages import differences
from rrgmetrics.reader import Comparison, Reading, compare, read
from rrgmetrics.reports import Pair
from rrgmetrics.results import Result
from rrgmetrics.spaces.highlight import Mark, Remark
from rrgmetrics.spaces.theme import KINDS, MATCHED, ONLY_HERE

SIDES = ("reference", "candidate")
SMALLEST_SHARE = 0.1  # of an error; a phrase that adds less is not marked


class Explained(NamedTuple):
    """What to show of a pair.

    Attributes:
        reference: Marks in the reference.
        candidate: Marks in the candidate.
        remarks: The errors in words.
        note: Where the marks come from, in a sentence.
        rest: Whatever else the metric said, as plain data; None if all of it is shown.
    """

    reference: tuple[Mark, ...] = ()
    candidate: tuple[Mark, ...] = ()
    remarks: tuple[Remark, ...] = ()
    note: str = ""
    rest: Any = None


def explain_pair(result: Result, pair: Pair) -> Explained:
    """Marks and remarks for the only pair of a result.

    Args:
        result: Of one pair, with `explain=yes` where the metric has that option.
        pair: The pair.
    """
    reason = result.unscored_reasons.get(0)
    said = next((values[0] for key, values in result.details.items() if key.endswith("_explained")), None)
    if reason is not None:
        replied = isinstance(said, Mapping) and said.get("replies")
        return _words(pair)._replace(note=f"Unscored: {reason}.", rest=said if replied else None)
    for form, explain in FORMS:
        try:
            if form(said):
                return explain(said, pair)
        except (KeyError, TypeError, ValueError, AttributeError):  # a metric with a form of its own
            break
    return _words(pair)._replace(rest=said)


# --- forms ------------------------------------------------------------------------------------------------------------


def _errors(said: Sequence[Mapping[str, Any]], pair: Pair) -> Explained:
    """Errors with the spans of both texts, as `finding_errors` gives them."""
    remarks = tuple(Remark(error["category"], error["sentence"], error["significant"]) for error in said)
    return _read(pair)._replace(remarks=remarks)


def _shares(said: Sequence[Mapping[str, Any]], pair: Pair) -> Explained:
    """Words with their share of a count, as `crepe` gives them: neighbours of one kind make a phrase."""
    reference, candidate = (
        tuple(
            mark
            for kind in KINDS
            for mark in _runs(text, [word for word in said if (word["text"], word["category"]) == (side, kind)])
            if (mark.amount or 0.0) >= SMALLEST_SHARE
        )
        for side, text in (("reference", pair.reference), ("candidate", pair.candidate))
    )
    note = "The figure behind a phrase is its share of the count: how many errors of this kind it adds."
    return Explained(reference, candidate, note=note)


def _runs(text: str, words: Sequence[Mapping[str, Any]]) -> Iterator[Mark]:
    """Phrases of words of one kind; a word without a share may stand between two, the end of a sentence may not."""
    words = [word for word in words if any(map(str.isalnum, text[word["start"] : word["end"]]))]
    phrase: list[Mapping[str, Any]] = []
    for word in [*words, None]:
        between = text[phrase[-1]["end"] : word["start"]] if phrase and word else ""
        if phrase and (word is None or re.search(r"[.;:!?\n]", between) or len(between.split()) > 1):
            span = phrase[0]["start"], phrase[-1]["end"]
            yield Mark((span,), phrase[0]["category"], sum(one["rate"] for one in phrase))
            phrase = []
        if word is not None:
            phrase.append(word)


def _counts(said: Mapping[str, Any], pair: Pair) -> Explained:
    """Significant and insignificant errors by category, as `green` and `chexprompt` give them."""
    remarks = [
        Remark(category, sentence, level == "significant")
        for level in ("significant", "insignificant")
        for category, errors in (said[level] or {}).items()
        for sentence in errors["errors"]
    ]
    return _read(pair)._replace(remarks=tuple(remarks))


def _graded(said: Mapping[str, Any], pair: Pair) -> Explained:
    """Reasons beside an evaluation, as `crimson` gives them."""
    errors = said["evaluation"].get("errors", {})
    kinds = ["false_finding"] * len(errors.get("false_findings", ()))
    kinds += ["missing_finding"] * len(errors.get("missing_findings", ()))
    kinds += [_kind_of(error.get("error_types", ())) for error in errors.get("attribute_errors", ())]
    remarks = tuple(Remark(kind, reason) for kind, reason in zip(kinds, said["reasons"], strict=True))
    return _read(pair)._replace(remarks=remarks)


def _kind_of(attributes: Iterable[str]) -> str:
    found = set(attributes)
    if "temporal" in found:
        return ""  # E or F: the verdict does not say
    return "incorrect_location" if "location" in found else "incorrect_severity"


def _corrections(said: Mapping[str, Any], pair: Pair) -> Explained:
    """Corrections with a severity, as `fineradscore` gives them."""
    remarks = tuple(
        Remark(next(iter(one["categories"]), ""), f"{one['comment'] or one['text']} {one['severity']}.")
        for one in said["corrections"]
    )
    return _read(pair)._replace(remarks=remarks)


def _phrases(said: Mapping[str, Any], pair: Pair) -> Explained:
    """Phrases that follow from the other report or do not, as `radfact` gives them."""
    marks: dict[str, tuple[Mark, ...]] = {}
    remarks: list[Remark] = []
    for side, text in (("candidate", pair.candidate), ("reference", pair.reference)):
        other = "reference" if side == "candidate" else "candidate"
        found = [(phrase, text.lower().find(phrase["text"].lower())) for phrase in said[side]]
        marks[side] = tuple(
            Mark(((start, start + len(phrase["text"])),), MATCHED if phrase["entailed"] else ONLY_HERE)
            for phrase, start in found
            if start >= 0 and phrase["text"]
        )
        remarks += [
            Remark(ONLY_HERE, f"The {side} says: {phrase['text']}. It does not follow from the {other}.")
            for phrase, _ in found
            if not phrase["entailed"]
        ]
    return Explained(marks["reference"], marks["candidate"], tuple(remarks))


def _labels(said: Mapping[str, Any], pair: Pair) -> Explained:
    """Labels that each report gets (with their status, or the words they come from), as the F1 metrics give them."""
    words = {side: _label_words(said[side]) for side in SIDES}
    both = [label for label in words["reference"] if label in words["candidate"]]
    remarks = [Remark(MATCHED, f"Both: {label}.") for label in both]
    for side, labels in words.items():
        remarks += [Remark(ONLY_HERE, f"Only the {side}: {label}.") for label in labels if label not in both]
    return _words(pair)._replace(remarks=tuple(remarks))


def _has_sides(said: Any) -> bool:
    return isinstance(said, Mapping) and all(side in said for side in SIDES)


def _label_words(labels: Any) -> list[str]:
    items = [{name: status} for name, status in labels.items()] if isinstance(labels, Mapping) else labels
    return [
        ": ".join(str(part) for pair in item.items() for part in pair if part not in _LABEL_FIELDS)
        if isinstance(item, Mapping)
        else str(item)
        for item in items
    ]


_LABEL_FIELDS = ("change", "words", "label")


FORMS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Pair], Explained]], ...] = (
    (lambda said: isinstance(said, list) and all("reference_spans" in one for one in said), _errors),
    (lambda said: isinstance(said, list) and all("rate" in one for one in said), _shares),
    (lambda said: isinstance(said, Mapping) and "insignificant" in said, _counts),
    (lambda said: isinstance(said, Mapping) and "evaluation" in said, _graded),
    (lambda said: isinstance(said, Mapping) and "corrections" in said, _corrections),
    (lambda said: _has_sides(said) and any("entailed" in one for side in SIDES for one in said[side]), _phrases),
    (lambda said: _has_sides(said), _labels),
)


# --- evidence ---------------------------------------------------------------------------------------------------------


def _read(pair: Pair) -> Explained:
    """The reader's evidence: findings that both reports state, and the phrases that each error rests on."""
    readings = read(pair.reference), read(pair.candidate)
    found = compare(*readings, pair.context)
    reference, candidate = (tuple(_evidence(found, reading, side)) for side, reading in enumerate(readings))
    return Explained(reference, candidate)


def _evidence(found: Comparison, reading: Reading, side: int) -> Iterator[Mark]:
    for error in found.errors:
        if spans := (error.reference_spans, error.candidate_spans)[side]:
            yield Mark(spans, error.category.value)
    for link in found.links:
        unit = found.candidates[link.candidate] if side else found.references[link.reference]
        yield Mark(unit.spans, MATCHED)
    for finding in reading.findings:
        if finding.assertion == "absent" and finding.concept in found.agreed_normals and finding.spans:
            yield Mark(finding.spans, MATCHED)


def _words(pair: Pair) -> Explained:
    """Words that only one report has, as written."""
    sides = differences(pair.reference, pair.candidate)
    reference, candidate = (tuple(Mark(((span.start, span.end),), ONLY_HERE) for span in spans) for spans in sides)
    note = "Words are compared as written, so a paraphrase is marked too; the metric itself does not say what it saw."
    return Explained(reference, candidate, note=note)
