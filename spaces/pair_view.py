"""What a page shows of one pair: the score, what is usual, the errors, both reports, and every word about them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from rrgmetrics.comparing import compare_as_scored
from rrgmetrics.comparing.policies import Policy, under
from rrgmetrics.metaeval.measured import is_measured_kind
from rrgmetrics.reading import read as read_report
from rrgmetrics.reading.lexicon import DEFAULT_PACK, all_packs
from rrgmetrics.reading.scope import out_of_scope, readable_kinds
from rrgmetrics.reporting.explanations import explain_pair, told_of
from rrgmetrics.reporting.html import alert, category_bars, category_counts, headline, part, remarks, reports
from rrgmetrics.reporting.kinds import KINDS, MATCHED, ONLY_HERE
from rrgmetrics.reporting.marks import SIGNIFICANT, Explanation
from rrgmetrics.reporting.numbers import show
from rrgmetrics.reporting.results import key_table
from rrgmetrics.reporting.traces import comparison_html, trace_html
from rrgmetrics.reporting.usual import usual
from rrgmetrics.reports import Pair
from rrgmetrics.reports.text import get_normaliser
from rrgmetrics.scoring.results import Result
from rrgmetrics.scoring.scope_filter import reports_read
from rrgmetrics.spaces.controls import without_words
from rrgmetrics.specs import MetricSpec
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.text_format import capitalized

SHOWN = ("_explained", "_unscored")  # details that stand elsewhere on the page
REFERENCE, CANDIDATE = "Radiologist’s report (reference)", "Machine’s report (candidate)"
DRAWN = "radgraph_f1"  # the metric whose page draws the graphs of both reports
TRACED = "finding_errors"  # the metric whose page shows how the reports were read


def pair_view(result: Result, pair: Pair, name: str = "") -> Markup:
    """Everything about one scored pair.

    Args:
        result: Of this pair alone.
        pair: The texts that were scored.
        name: What was asked for, with its options; empty: the metric as it is installed.
    """
    name = without_words(name or result.spec.name)
    spec, key = result.titled, result.titled.headline
    value = result.scores[key.name]
    explanation = explain_pair(result, read := as_read(name, pair))
    alerts = list(scope_words(spec, read))
    if any(result.unscored_reasons.get(0, "–") in words for words in alerts):
        explanation = replace(explanation, note="")  # the alert gives the reason
    if spec.name == DRAWN:
        explanation = replace(explanation, remarks=())  # the graphs below show them
    counts, scored = category_counts(result), not math.isnan(value)
    pieces = [
        Markup('<p class="unseen" role="status">{} {}</p>').format(key.title, show(value, key)),
        *map(alert, alerts),
        headline(key, value),
        *(Markup('<p class="note">{}</p>').format(note) for note in _notes(spec)),
        usual(spec, value) if name == spec.name and is_measured_kind(pair.reference) else Markup(),
        Markup("<h2>Errors by category</h2>{}").format(category_bars(counts)) if counts and scored else Markup(),
        Markup("<h2>Both reports</h2>{}").format(explained(explanation, read)),
        Markup('<p class="note">{}.</p>').format(capitalized(SIGNIFICANT))
        if explanation.remarks and parse_name(name).options.get("policy") == "management"
        else Markup(),
        traces(name, read, result.packs[0]) if spec.name == TRACED else Markup(),
        graphs(told_of(result)) if spec.name == DRAWN else Markup(),
        all_scores(result),
    ]
    return part(*pieces)


def as_read(name: str, pair: Pair) -> Pair:
    """A pair as a metric of this name reads it: after its normaliser."""
    normaliser = get_normaliser(str(parse_name(name).options["text"]))
    return pair._replace(reference=normaliser.reference(pair.reference), candidate=normaliser.apply(pair.candidate))


def explained(explanation: Explanation, pair: Pair, *, level: int = 2) -> Markup:
    """Both reports with their marks, the remarks, and whatever else the metric said.

    Args:
        explanation: Of the pair.
        pair: As the metric read it.
        level: Of the headings.
    """
    pieces = reports(
        {REFERENCE: pair.reference, CANDIDATE: pair.candidate},
        {REFERENCE: explanation.reference, CANDIDATE: explanation.candidate},
    )
    if explanation.note:
        pieces += Markup('<p class="note">{}</p>').format(explanation.note)
    if explanation.remarks:
        pieces += Markup("<h{0}>In words</h{0}>{1}").format(level, remarks(explanation.remarks))
    if explanation.rest:
        pieces += Markup("<h{0}>Explanation of the score</h{0}>{1}").format(level, _as_yaml(explanation.rest))
    return pieces


def traces(name: str, pair: Pair, pack: str) -> Markup:
    """What set each field of each finding of both reports, and the steps that compared them, folded.

    Args:
        name: What was asked for, with its options.
        pair: As the metric read it.
        pack: What the metric read it with.
    """
    reference = read_report(pair.reference, pack, trace=True)
    candidate = read_report(pair.candidate, pack, trace=True)
    pieces = Markup().join(
        Markup("<h3>{}</h3>{}").format(title, trace_html(reading.trace))
        for title, reading in ((REFERENCE, reference), (CANDIDATE, candidate))
        if reading.trace is not None
    )
    policy: Policy = "report" if parse_name(name).options.get("policy") == "report" else "management"
    comparison = under(compare_as_scored(reference, candidate, pair.context, trace=True), policy)
    if comparison.trace is not None and not comparison.out_of_scope:
        pieces += Markup("<h3>How both were compared</h3>{}").format(comparison_html(comparison.trace))
    return Markup(
        "<details class='trace'><summary>How each report was read and compared, step by step</summary>{}</details>"
    ).format(pieces)


def graphs(told: Mapping[str, Sequence[Mapping[str, Any]]] | None) -> Markup:
    """The entities and relations of both reports side by side; nothing where the metric gave none."""
    if not told:
        return Markup()
    sides = Markup().join(
        Markup('<div><h3>{}</h3><ul class="graph">{}</ul></div>').format(title, Markup().join(map(_node, told[side])))
        for title, side in ((REFERENCE, "reference"), (CANDIDATE, "candidate"))
    )
    note = "✓: in both graphs; ≠: only in this graph. An arrow leads from an entity to the one that it describes."
    return Markup('<h2>Both graphs</h2><p class="note">{}</p><div class="reports">{}</div>').format(note, sides)


def _node(one: Mapping[str, Any]) -> Markup:
    """A line: an entity, its label, and its arrows."""
    arrows = Markup().join(
        Markup('<span class="arrow">{} {} → {}</span>').format(
            _sign(to["in_both"]), to["kind"].replace("_", " "), to["to"]
        )
        for to in one["relations"]
    )
    return Markup("<li><b>{} {}</b> <small>{}</small> {}</li>").format(
        _sign(one["in_both"]), one["words"], one["label"], arrows
    )


def _sign(in_both: bool) -> Markup:
    kind = MATCHED if in_both else ONLY_HERE
    return Markup('<i class="kind-{}">{}</i>').format(kind, KINDS[kind].letter)


def all_scores(result: Result) -> Markup:
    """Every key, what else the metric was asked for, and what ran, folded."""
    told = {name: values[0] for name, values in result.details.items() if not name.endswith(SHOWN)}
    return Markup(
        "<details><summary>All scores and the signature</summary>{}{}<p class='note'><code>{}</code></p></details>"
    ).format(key_table(result.titled.keys, result.scores), _as_yaml(told) if told else "", result.signature)


def _as_yaml(told: Any) -> Markup:
    import yaml

    return Markup("<pre>{}</pre>").format(yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100))


def scope_words(spec: MetricSpec, pair: Pair) -> Iterator[str]:
    """Says of each text that the metric cannot read why, and what becomes of the score."""
    if not readable_kinds(spec.modality):
        return  # it compares any text
    pack = str(spec.options["modality"].default) if "modality" in spec.options else DEFAULT_PACK
    read = read_report(pair.reference, pack)
    modality = all_packs()[read.pack].title
    reference, candidate = (
        out_of_scope(each.scope, modality) for each in (read, read_report(pair.candidate, read.pack))
    )
    knows = f"{spec.title} supports {reports_read(spec)}"
    if reference:
        yield f"Not scored: the reference {reference}. {knows}."
    elif candidate:
        yield (
            f"The candidate {candidate}. {knows}: such a text gets the worse of two scores, its own and that of an "
            "empty report."
        )


def _notes(spec: MetricSpec) -> Iterator[str]:
    """What a reader of a single score must know."""
    if spec.corpus_statistics:
        yield (
            f"{spec.title} weights words by how rare they are in the references of one call, so it cannot score a "
            "pair alone. Score a file of pairs."
        )
