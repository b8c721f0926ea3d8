"""Turns the `details` of a metric for one pair into marks in both reports and remarks in words.

Metrics explain themselves in their own terms (`Result.details`, JSON). `VIEWS` has a function for each of them that
turns these into an `Explanation` for the pages. Bundled judges use the reader's comparison and its evidence. If a
metric has no explanation, the words that only one report has are marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from rrgmetrics.comparing import ReportComparison, compare_as_scored
from rrgmetrics.reading import Reading, read
from rrgmetrics.reading.model import Span
from rrgmetrics.reporting.differences import differences
from rrgmetrics.reporting.kinds import KINDS, MATCHED, ONLY_HERE
from rrgmetrics.reporting.marks import Explanation, Mark, Remark, whole
from rrgmetrics.reporting.numbers import figure
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.radfact import REST
from rrgmetrics.scoring.error_rows import ToldError, errors_of
from rrgmetrics.scoring.results import Result
from rrgmetrics.utils.text_format import capitalized, listed

View: TypeAlias = Callable[[Any, Pair], Explanation]

SIDES = ("reference", "candidate")
SMALLEST_SHARE = 0.1  # of an error; a phrase that adds less is not marked
APART = " … "  # between stretches of a report that are one phrase
PLACES = 2  # decimals of shares, so that they add up to the count


def explain_pair(result: Result, pair: Pair, row: int = 0) -> Explanation:
    """Marks and remarks for one pair of a result.

    Args:
        result: With `explain=yes` where the metric has that option.
        pair: The pair.
        row: Its place in the result.
    """
    told = told_of(result, row)
    reason = result.unscored_reasons.get(row)
    if reason is not None:
        replied = isinstance(told, Mapping) and told.get("replies")
        return Explanation(note=f"Unscored: {reason}.", rest=told if replied else None)
    view = VIEWS.get(result.spec.name)
    if not view or told is None:
        return replace(_words(pair), rest=told)
    explained = view(told, pair)
    if result.spec.name in FINDING_VIEWS:
        evidence = _evidence(pair, result.packs[row])
        note = " ".join(filter(None, (explained.note, evidence.note)))
        return replace(explained, reference=evidence.reference, candidate=evidence.candidate, note=note)
    value = float(result.headline[row])
    return replace(explained, note=_adds_up(explained, value)) if view is _shares else explained


def told_of(result: Result, row: int = 0) -> Any:
    """What the metric says of one pair of a result, as JSON has it; None if it says nothing."""
    return next((values[row] for key, values in result.details.items() if key.endswith("_explained")), None)


def note_of(result: Result, explanation: Explanation) -> str:
    """The note of an explanation where words of the metric or a reason stand behind it; else ""."""
    return explanation.note if told_of(result) is not None or result.n_unscored else ""


# --- views: one for each metric that explains itself ------------------------------------------------------------------


def _shares(words: Sequence[Mapping[str, Any]], pair: Pair) -> Explanation:
    """Words with their share of a count, as `crepe` gives them: those of a finding make one phrase."""
    marks = []
    for side, text in (("reference", pair.reference), ("candidate", pair.candidate)):
        phrases = _finding_phrases(text, [word for word in words if word["text"] == side])
        worth = (phrase for phrase in phrases if _amount(phrase) >= SMALLEST_SHARE)
        marks.append(tuple(sorted(worth, key=_amount, reverse=True)))
    texts = zip(SIDES, (pair.reference, pair.candidate), marks, strict=True)
    marked = [(side, text, mark) for side, text, of_side in texts for mark in of_side]
    remarks = (
        Remark(mark.kind, f"“{_text_of(text, mark)}” in the {side} adds {figure(_amount(mark), PLACES)}.")
        for side, text, mark in sorted(marked, key=lambda each: -_amount(each[2]))
    )
    return Explanation(marks[0], marks[1], tuple(remarks))


def _text_of(text: str, mark: Mark) -> str:
    return APART.join(
        " ".join(text[span.start : span.end].split()) for span in (whole(text, each) for each in mark.spans)
    )


def _adds_up(explained: Explanation, value: float) -> str:
    """How the figures behind phrases, as they are shown, make up a count."""
    amounts = [round(_amount(mark), PLACES) for mark in (*explained.reference, *explained.candidate)]
    total, rest = figure(value, PLACES), figure(round(value, PLACES) - sum(amounts), PLACES)
    if not amounts:
        return f"No phrase adds {SMALLEST_SHARE} errors or more: {total} is not attributed to words."
    return (
        "The figure behind a phrase is how many errors of this kind it adds: "
        f"{figure(sum(amounts), PLACES)} of {total} in all; {rest} is not attributed to words, since no other "
        f"phrase adds {SMALLEST_SHARE} or more."
    )


def _amount(mark: Mark) -> float:
    return mark.amount or 0.0


def _finding_phrases(text: str, words: Sequence[Mapping[str, Any]]) -> Iterator[Mark]:
    """A phrase for each finding and kind with the shares of all its words; of other words neighbours make phrases.

    A network that reads from left to right and back spreads the share of an error over the words of its finding: what
    carries it is the finding, "small left apical pneumothorax", not the words whose share happens to be the largest.
    """
    findings = list(dict.fromkeys(finding.spans for finding in read(text).abnormal))
    of_finding: dict[tuple[Span, ...], list[Mapping[str, Any]]] = {spans: [] for spans in findings}
    others: list[Mapping[str, Any]] = []
    for word in words:
        inside = (spans for spans in findings if any(span.start <= word["start"] < span.end for span in spans))
        of_finding.get(next(inside, ()), others).append(word)
    for kind in KINDS:
        for spans, own in of_finding.items():
            yield Mark(spans, kind, sum(word["rate"] for word in own if word["category"] == kind))
        yield from _phrases_of(text, [word for word in others if word["category"] == kind])


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


def _named(metric: str) -> View:
    """The view of a metric that names errors: each in words."""

    def view(told: Any, pair: Pair) -> Explanation:
        errors = list(errors_of(metric, told))
        kinds = [error.category if error.category in KINDS else "" for error in errors]
        remarks = (
            Remark(kind, one.error or _only_counted(one), one.significant, min(one.n_errors, 1))
            for kind, one in zip(kinds, errors, strict=True)
        )
        return Explanation(remarks=tuple(remarks))

    return view


def _only_counted(error: ToldError) -> str:
    kind = KINDS[error.category].title if error.category in KINDS else error.category.replace("_", " ")
    return f"{capitalized(kind)}: the judge counts {error.n_errors:g}."


def _weighed(told: Mapping[str, Any], pair: Pair) -> Explanation:
    """A pair in a sentence and its weighted errors, as `finding_score` gives them."""
    return replace(_named("finding_score")(told, pair), note=told["words"])


def _outcomes(told: Sequence[Mapping[str, Any]], pair: Pair) -> Explanation:
    """What became of each finding, as `finding_f1` gives it."""
    kinds = {"found": MATCHED, "missing": "missing_finding", "false": "false_finding"}
    heads = {"found": "Both", "missing": "Only the reference", "false": "Only the candidate"}
    remarks = []
    for row in (row for row in told if row["outcome"] in heads):
        wrong = [attribute for attribute, is_right in row["right"].items() if is_right is False]
        left_out = [attribute for attribute, is_right in row["right"].items() if is_right is None]
        notes = [f"{listed(own)} {what}" for own, what in ((wrong, "wrong"), (left_out, "left out")) if own]
        about = "; ".join((f"weight {row['weight']:g}", *notes))
        remarks.append(Remark(kinds[row["outcome"]], f"{heads[row['outcome']]}: {row['words']} ({about})."))
    return Explanation(remarks=tuple(remarks))


def _corrections(verdict: Mapping[str, Any], pair: Pair) -> Explanation:
    """Corrections with a severity, as `fineradscore` gives them."""
    errors = errors_of("fineradscore", verdict)
    return Explanation(remarks=tuple(Remark(one.category, f"{one.error} {one.grade}.") for one in errors))


def _phrases(verdict: Mapping[str, Any], pair: Pair) -> Explanation:
    """Phrases that follow from the other report or do not, as `radfact` gives them."""
    marks: dict[str, tuple[Mark, ...]] = {}
    remarks: list[Remark] = []
    for side, text in (("candidate", pair.candidate), ("reference", pair.reference)):
        other = "reference" if side == "candidate" else "candidate"
        marks[side] = tuple(
            Mark(spans, MATCHED if phrase["entailed"] else ONLY_HERE)
            for phrase in verdict[side]
            if (spans := _spans(phrase["text"], text))
        )
        remarks += [
            Remark(ONLY_HERE, _unentailed(phrase["text"], side, other))
            for phrase in verdict[side]
            if not phrase["entailed"]
        ]
    return Explanation(marks["reference"], marks["candidate"], tuple(remarks))


def _spans(phrase: str, text: str) -> tuple[Span, ...]:
    """The stretches of a report that a phrase holds, with "…" between them; none if one is not in the report."""
    spans: list[Span] = []
    for stretch in phrase.lower().split(APART):
        start = text.lower().find(stretch, spans[-1].end if spans else 0)
        if start < 0 or not stretch:
            return ()
        spans.append(Span(start, start + len(stretch)))
    return tuple(spans)


def _unentailed(phrase: str, side: str, other: str) -> str:
    if phrase.startswith(f"The {side} "):  # an error that is not about a phrase, such as a contradiction
        return phrase
    stated = "implies that the rest is normal" if phrase == REST else f"says: {phrase.rstrip('.')}"
    return f"The {side} {stated}. The {other} does not entail it."


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
    note = "The metric compares these items, not the words of the reports."
    return replace(_words(pair), remarks=tuple(remarks), note=note)


def _graphs(told: Mapping[str, Sequence[Mapping[str, Any]]] | None, pair: Pair) -> Explanation:
    """Entities and relations of both graphs, and which of them both have, as `radgraph_f1` gives them."""
    if told is None:
        return _words(pair)
    texts = {"reference": pair.reference, "candidate": pair.candidate}
    marks = {side: tuple(_entities(texts[side], told[side])) for side in SIDES}
    groups = [("in both", "reference", True), *((f"only in the {side}", side, False) for side in SIDES)]
    remarks = []
    for who, side, both in groups:
        entities = [one for one in told[side] if one["in_both"] is both]
        arrows = [(one, to) for one in told[side] for to in one["relations"] if to["in_both"] is both]
        words = (
            [f"{one['words']} ({one['label']})" for one in entities],
            [f"{one['words']} ({to['kind'].replace('_', ' ')}) → {to['to']}" for one, to in arrows],
        )
        remarks += [
            Remark(MATCHED if both else ONLY_HERE, f"{name} {who}: {', '.join(dict.fromkeys(each))}.")
            for name, each in zip(("Entities", "Relations"), words, strict=True)
            if each
        ]
    note = "ANAT: anatomy; OBS: observation; DP: present, DA: absent, U: uncertain."
    return Explanation(marks["reference"], marks["candidate"], tuple(remarks), note=note)


def _entities(text: str, entities: Sequence[Mapping[str, Any]]) -> Iterator[Mark]:
    """The words of entities, which stand in the order of the text."""
    start = 0
    for one in entities:
        words = re.compile(r"\s*".join(map(re.escape, one["words"].split())))
        found = words.search(text, start) or words.search(text)
        if found:
            start = found.end()
            yield Mark((Span(*found.span()),), MATCHED if one["in_both"] else ONLY_HERE)


FINDING_VIEWS: Mapping[str, View] = {  # their words name findings, whose phrases the reader finds
    "finding_errors": _named("finding_errors"),
    "finding_score": _weighed,
    "finding_f1": _outcomes,
    "green": _named("green"),
    "mammo_green": _named("mammo_green"),
    "chexprompt": _named("chexprompt"),
    "crimson": _named("crimson"),
    "fineradscore": _corrections,
    "nodule_f1": _named("nodule_f1"),
}
VIEWS: Mapping[str, View] = {
    **FINDING_VIEWS,
    "crepe": _shares,
    "radfact": _phrases,
    "chexbert_f1": _statuses,
    "srr_bert_f1": _labels,
    "f1_radbert_ct": _labels,
    "temporal_f1": _changes,
    "radgraph_f1": _graphs,
}


# --- evidence ---------------------------------------------------------------------------------------------------------


def _evidence(pair: Pair, pack: str) -> Explanation:
    """The reader's evidence in both reports: the phrases of each error, and findings that both state."""
    readings = read(pair.reference, pack), read(pair.candidate, pack)
    comparison = compare_as_scored(*readings, pair.context)
    if comparison.out_of_scope:
        return Explanation()
    of_errors = Explanation.of(comparison)
    return Explanation(
        (*of_errors.reference, *_matched(comparison, readings[0], 0)),
        (*of_errors.candidate, *_matched(comparison, readings[1], 1)),
        note=of_errors.note,
    )


def _matched(comparison: ReportComparison, reading: Reading, side: int) -> Iterator[Mark]:
    for link in comparison.links:
        units = comparison.references[link.reference], comparison.candidates[link.candidate]
        concepts = [{finding.concept for finding in unit.readings} for unit in units]
        shared = concepts[0] & concepts[1] or concepts[side]  # of "atelectasis or pneumonia" one, if the other has one
        shown = [finding for finding in units[side].readings if finding.concept in shared]
        yield Mark(tuple(span for finding in shown for span in finding.spans), MATCHED)
    for finding in reading.findings:
        if finding.assertion == "absent" and finding.concept in comparison.agreed_normals and finding.spans:
            yield Mark(finding.spans, MATCHED)


def _words(pair: Pair) -> Explanation:
    """Words that only one report has, as written."""
    sides = differences(pair.reference, pair.candidate)
    reference, candidate = (tuple(Mark((span,), ONLY_HERE) for span in spans) for spans in sides)
    note = "Words are compared as written, so a paraphrase is marked too; the metric itself gives no explanation."
    return Explanation(reference, candidate, note=note)
