"""What a metric says of one pair → marks in both reports, and remarks in words: the one place that reads `details`.

Metrics explain themselves in their own terms (`Result.details`, JSON). `VIEWS` has a function for each of them that
turns these into an `Explanation`, which is all that pages see. Bundled judges judge by the reader's comparison, so its
evidence is theirs. Where a metric says nothing, the words that only one report has are marked, as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rrgmetrics.present.differences import differences
from rrgmetrics.present.kinds import KINDS, MATCHED, ONLY_HERE
from rrgmetrics.present.marks import Explanation, Mark, Remark
from rrgmetrics.reader import Comparison, Reading, compare, read
from rrgmetrics.reader.model import Span
from rrgmetrics.reports import Pair
from rrgmetrics.results import Result

SIDES = ("reference", "candidate")
SMALLEST_SHARE = 0.1  # of an error; a phrase that adds less is not marked


def explain_pair(result: Result, pair: Pair) -> Explanation:
    """Marks and remarks for the only pair of a result.

    Args:
        result: Of one pair, with `explain=yes` where the metric has that option.
        pair: The pair.
    """
    told = told_of(result)
    reason = result.unscored_reasons.get(0)
    if reason is not None:
        replied = isinstance(told, Mapping) and told.get("replies")
        return replace(_words(pair), note=f"Unscored: {reason}.", rest=told if replied else None)
    view = VIEWS.get(result.spec.name)
    return view(told, pair) if view and told is not None else replace(_words(pair), rest=told)


def told_of(result: Result) -> Any:
    """What the metric says of the only pair of a result, as JSON has it; None if it says nothing."""
    return next((values[0] for key, values in result.details.items() if key.endswith("_explained")), None)


# --- views: one for each metric that explains itself ------------------------------------------------------------------


def _errors(errors: Sequence[Mapping[str, Any]], pair: Pair) -> Explanation:
    """Errors with their category and words, as `finding_errors` gives them."""
    remarks = tuple(Remark(error["category"], error["sentence"], error["significant"]) for error in errors)
    return replace(_evidence(pair), remarks=remarks)


def _shares(words: Sequence[Mapping[str, Any]], pair: Pair) -> Explanation:
    """Words with their share of a count, as `crepe` gives them: neighbours of one kind make a phrase."""
    reference, candidate = (
        tuple(
            mark
            for kind in KINDS
            for mark in _phrases_of(text, [word for word in words if (word["text"], word["category"]) == (side, kind)])
            if (mark.amount or 0.0) >= SMALLEST_SHARE
        )
        for side, text in (("reference", pair.reference), ("candidate", pair.candidate))
    )
    note = "The figure behind a phrase is its share of the count: how many errors of this kind it adds."
    return Explanation(reference, candidate, note=note)


def _phrases_of(text: str, words: Sequence[Mapping[str, Any]]) -> Iterator[Mark]:
    """Phrases of words of one kind; a word without a share may stand between two, the end of a sentence may not."""
    words = [word for word in words if any(map(str.isalnum, text[word["start"] : word["end"]]))]
    phrase: list[Mapping[str, Any]] = []
    for word in [*words, None]:
        between = text[phrase[-1]["end"] : word["start"]] if phrase and word else ""
        if phrase and (word is None or re.search(r"[.;:!?\n]", between) or len(between.split()) > 1):
            span = Span(phrase[0]["start"], phrase[-1]["end"])
            yield Mark((span,), phrase[0]["category"], sum(one["rate"] for one in phrase))
            phrase = []
        if word is not None:
            phrase.append(word)


def _counts(verdict: Mapping[str, Any], pair: Pair) -> Explanation:
    """Significant and insignificant errors by category, as `green` and `chexprompt` give them."""
    remarks = tuple(
        Remark(category, sentence, level == "significant")
        for level in ("significant", "insignificant")
        for category, errors in (verdict[level] or {}).items()
        for sentence in errors["errors"]
    )
    return replace(_evidence(pair), remarks=remarks)


def _graded(verdict: Mapping[str, Any], pair: Pair) -> Explanation:
    """Reasons beside an evaluation, as `crimson` gives them."""
    errors = verdict["evaluation"].get("errors", {})
    kinds = ["false_finding"] * len(errors.get("false_findings", ()))
    kinds += ["missing_finding"] * len(errors.get("missing_findings", ()))
    kinds += [_kind_of(error.get("error_types", ())) for error in errors.get("attribute_errors", ())]
    remarks = tuple(Remark(kind, reason) for kind, reason in zip(kinds, verdict["reasons"], strict=True))
    return replace(_evidence(pair), remarks=remarks)


def _kind_of(attributes: Iterable[str]) -> str:
    named = set(attributes)
    if "temporal" in named:
        return ""  # E or F: the verdict does not say
    return "incorrect_location" if "location" in named else "incorrect_severity"


def _weighed(told: Mapping[str, Any], pair: Pair) -> Explanation:
    """A pair in a sentence and its weighted errors, as `finding_score` gives them."""
    remarks = tuple(Remark(error["category"], error["sentence"], error["significant"]) for error in told["errors"])
    return replace(_evidence(pair), remarks=remarks, note=told["words"])


def _corrections(verdict: Mapping[str, Any], pair: Pair) -> Explanation:
    """Corrections with a severity, as `fineradscore` gives them."""
    remarks = tuple(
        Remark(next(iter(one["categories"]), ""), f"{one['comment'] or one['text']} {one['severity']}.")
        for one in verdict["corrections"]
    )
    return replace(_evidence(pair), remarks=remarks)


def _phrases(verdict: Mapping[str, Any], pair: Pair) -> Explanation:
    """Phrases that follow from the other report or do not, as `radfact` gives them."""
    marks: dict[str, tuple[Mark, ...]] = {}
    remarks: list[Remark] = []
    for side, text in (("candidate", pair.candidate), ("reference", pair.reference)):
        other = "reference" if side == "candidate" else "candidate"
        placed = [(phrase, text.lower().find(phrase["text"].lower())) for phrase in verdict[side]]
        marks[side] = tuple(
            Mark((Span(start, start + len(phrase["text"])),), MATCHED if phrase["entailed"] else ONLY_HERE)
            for phrase, start in placed
            if start >= 0 and phrase["text"]
        )
        remarks += [
            Remark(ONLY_HERE, f"The {side} says: {phrase['text']}. It does not follow from the {other}.")
            for phrase, _ in placed
            if not phrase["entailed"]
        ]
    return Explanation(marks["reference"], marks["candidate"], tuple(remarks))


def _statuses(told: Mapping[str, Mapping[str, str]], pair: Pair) -> Explanation:
    """Conditions with their status, as `chexbert_f1` gives them."""
    return _labels({side: [f"{name}: {status}" for name, status in told[side].items()] for side in SIDES}, pair)


def _changes(told: Mapping[str, Sequence[str | Mapping[str, str]]], pair: Pair) -> Explanation:
    """Changes with their words, or keywords alone, as `temporal_f1` gives them."""
    words = {
        side: [one if isinstance(one, str) else f"{one['change']}: {one['words']}" for one in told[side]]
        for side in SIDES
    }
    return _labels(words, pair)


def _labels(told: Mapping[str, Sequence[str]], pair: Pair) -> Explanation:
    """Labels that each report gets, as the F1 metrics give them."""
    both = [label for label in told["reference"] if label in told["candidate"]]
    remarks = [Remark(MATCHED, f"Both: {label}.") for label in both]
    for side in SIDES:
        remarks += [Remark(ONLY_HERE, f"Only the {side}: {label}.") for label in told[side] if label not in both]
    return replace(_words(pair), remarks=tuple(remarks))


VIEWS: Mapping[str, Callable[[Any, Pair], Explanation]] = {
    "finding_errors": _errors,
    "finding_score": _weighed,
    "crepe": _shares,
    "green": _counts,
    "chexprompt": _counts,
    "crimson": _graded,
    "fineradscore": _corrections,
    "radfact": _phrases,
    "chexbert_f1": _statuses,
    "srr_bert_f1": _labels,
    "f1_radbert_ct": _labels,
    "temporal_f1": _changes,
}


# --- evidence ---------------------------------------------------------------------------------------------------------


def _evidence(pair: Pair) -> Explanation:
    """The reader's evidence: the phrases that each error rests on, and findings that both reports state."""
    readings = read(pair.reference), read(pair.candidate)
    comparison = compare(*readings, pair.context)
    of_errors = Explanation.of(comparison)
    return Explanation(
        (*of_errors.reference, *_matched(comparison, readings[0], 0)),
        (*of_errors.candidate, *_matched(comparison, readings[1], 1)),
    )


def _matched(comparison: Comparison, reading: Reading, side: int) -> Iterator[Mark]:
    for link in comparison.links:
        unit = comparison.candidates[link.candidate] if side else comparison.references[link.reference]
        yield Mark(unit.spans, MATCHED)
    for finding in reading.findings:
        if finding.assertion == "absent" and finding.concept in comparison.agreed_normals and finding.spans:
            yield Mark(finding.spans, MATCHED)


def _words(pair: Pair) -> Explanation:
    """Words that only one report has, as written."""
    sides = differences(pair.reference, pair.candidate)
    reference, candidate = (tuple(Mark((span,), ONLY_HERE) for span in spans) for spans in sides)
    note = "Words are compared as written, so a paraphrase is marked too; the metric itself does not say what it saw."
    return Explanation(reference, candidate, note=note)
