"""The trace of a reading as plain text: a block for each finding, a line for each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rrgmetrics.reading.model import Finding, Held, Span, Step, Trace, Unused

_SHOWN = 40  # characters of a field's name and values before its words begin


def trace_text(trace: Trace) -> str:
    """A block for each finding and a line for each step, then what gave no finding, as plain text."""
    blocks = [trace.out_of_scope] if trace.out_of_scope else []
    for finding, steps in trace.findings:
        blocks.append("\n".join([title_of(finding), *map(_line, steps)]))
    for span, why, steps in trace.left_out:
        blocks.append("\n".join([f'no finding: "{_characters(trace, span)}"', f"  {why}", *map(_line, steps)]))
    for span, unused in trace.unused:
        lines = [f'  "{_characters(trace, each.span)}": {unused_text(each)}' for each in unused]
        blocks.append("\n".join([f'used by no step, in "{_characters(trace, span)}":', *lines]))
    return "\n\n".join(blocks) or "There is nothing to read."


def _characters(trace: Trace, span: Span) -> str:
    return " ".join(trace.text[span.start : span.end].split())


def unused_text(unused: Unused) -> str:
    """What words mean that no step used: inserting (its file and line); terms with it: "interval placement" (...)."""
    near = f"; terms with it: {', '.join(unused.near)}" if unused.near else ""
    return (", ".join(unused.means) or "no term of the lexicon") + f" ({unused.source})" * bool(unused.source) + near


def title_of(finding: Finding) -> str:
    """A finding in a line: its concept, and whether it is there."""
    return f"{finding.concept}: {finding.assertion}" + " (what a normal statement denies)" * finding.normal


def _line(step: Step) -> str:
    change = f"  {step.field}: {show_value(step.old)} → {show_value(step.new)}"
    source = f", {step.source}" if step.source else ""
    cue = f'"{" ".join(step.words.split())}"  ' if step.words else ""
    lines = [f"{change:{_SHOWN}}  {cue}{step.name} ({step.place}{source})"]
    return "\n".join(lines + [f"    {held_text(each)}" for each in step.held])


def held_text(held: Held) -> str:
    """Says what words did to the state of a finding: "and" did not end it (clause.new_statement, ...)."""
    why = ", ".join(filter(None, (held.name, held.place, held.source)))
    return f'"{" ".join(held.words.split())}" {held.effect}' + f" ({why})" * bool(why)


def show_value(value: object) -> str:
    """A value as a person reads it; "–" for none."""
    if value is None or value in ((), "", frozenset()):
        return "–"
    if isinstance(value, tuple | frozenset | list):
        return ", ".join(map(str, sorted(value, key=str) if isinstance(value, frozenset) else value))
    return str(value)
