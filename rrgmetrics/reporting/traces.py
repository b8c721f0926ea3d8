"""How a report was read and how two were compared, as HTML: a fold for each finding, a row for each step."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from rrgmetrics.comparing.model import ComparisonTrace, Decision
from rrgmetrics.comparing.trace_text import blocks
from rrgmetrics.reading.model import Step, Trace
from rrgmetrics.reading.trace_text import held_text, show_value, title_of, unused_text


def trace_html(trace: Trace) -> Markup:
    """What set each field of each finding, in order, and why other words gave none."""
    pieces = [Markup('<p class="note">{}</p>').format(trace.out_of_scope)] if trace.out_of_scope else []
    for finding, steps in trace.findings:
        pieces.append(_block(title_of(finding), "", steps))
    for span, why, steps in trace.left_out:
        pieces.append(_block(f"no finding: “{trace.text[span.start : span.end]}”", why, steps))
    for span, words in trace.unused:
        items = Markup().join(
            Markup("<li><q>{}</q>: {}</li>").format(trace.text[slice(*each.span)], unused_text(each)) for each in words
        )
        title = f"used by no step, in “{trace.text[span.start : span.end]}”"
        pieces.append(_fold(title, Markup("<ul>{}</ul>").format(items)))
    return Markup().join(pieces)


def comparison_html(trace: ComparisonTrace) -> Markup:
    """The counterpart of each observation, the steps behind each error, and what is no error though reports differ."""
    return Markup().join(
        _fold(title, Markup('<ol class="steps">{}</ol>').format(Markup().join(map(_decision, decisions))))
        for title, decisions in blocks(trace)
    )


def _decision(decision: Decision) -> Markup:
    places = ", ".join(filter(None, (decision.place, decision.source)))
    return Markup("<li>{} <code>{}</code> <small>{}</small></li>").format(decision.what, decision.name, places)


def _block(title: str, why: str, steps: Iterable[Step]) -> Markup:
    rows = Markup().join(map(_row, steps))
    note = Markup('<p class="note">{}</p>').format(why) if why else Markup()
    return _fold(title, note + (Markup('<ol class="steps">{}</ol>').format(rows) if rows else Markup()))


def _fold(title: str, content: Markup) -> Markup:
    """A title that opens its content; the title alone where there is none."""
    if not content:
        return Markup("<h4>{}</h4>").format(title)
    return Markup("<details><summary>{}</summary>{}</details>").format(title, content)


def _row(step: Step) -> Markup:
    held = Markup("").join(Markup("<br><small>{}</small>").format(held_text(each)) for each in step.held)
    return Markup("<li><b>{}</b>: {} → {}{} <code>{}</code> <small>{}</small>{}</li>").format(
        step.field,
        show_value(step.old),
        show_value(step.new),
        Markup(", for <q>{}</q>").format(" ".join(step.words.split())) if step.words else "",
        step.name,
        ", ".join(filter(None, (step.place, step.source))),
        held,
    )
