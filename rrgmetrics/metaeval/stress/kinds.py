"""What a report is changed by: errors of every kind and grade, what must not matter, and tricks that must not pay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Group = Literal["error", "hidden", "harmless", "trick", "scale"]
GROUPS: Mapping[Group, str] = {
    "error": "Errors: with one more error the score must fall",
    "hidden": "Hidden: with a false finding outside the findings section the score should fall",
    "harmless": "Harmless: a change without an error must cost less than an error",
    "trick": "Tricks: the score must not exceed that of a report with two errors",
}


class Kind(NamedTuple):
    """One way of changing a report.

    Attributes:
        title: As tables have it.
        group: `error`: one error more than the report itself; `hidden`: one that a metric may skip; `harmless`: no
            error; `trick`: played on a report with errors, or without looking at any image; `scale`: with one, two, ...
            errors, or another patient's report.
        letter: Of the category of the error, A to F.
    """

    title: str
    group: Group
    letter: str = ""


KINDS: Mapping[str, Kind] = {
    "false_urgent": Kind("urgent false finding", "error", "A"),
    "false_actionable": Kind("actionable false finding", "error", "A"),
    "false_minor": Kind("minor false finding", "error", "A"),
    "negation_lost": Kind('"no" flipped to "a"', "error", "A"),
    "hidden_front": Kind("false finding before the findings, under a heading that may be skipped", "hidden"),
    "hidden_end": Kind("false finding after the findings, under a heading that may be skipped", "hidden"),
    "missing_urgent": Kind("urgent missing finding", "error", "B"),
    "missing_actionable": Kind("actionable missing finding", "error", "B"),
    "missing_minor": Kind("minor missing finding", "error", "B"),
    "negation_added": Kind('"a" flipped to "no"', "error", "B"),
    "side": Kind("other side", "error", "C"),
    "zone": Kind("other zone", "error", "C"),
    "tip": Kind("device tip moved", "error", "C"),
    "tip_far": Kind("device tip moved far", "error", "C"),
    "position": Kind("device malpositioned", "error", "C"),
    "severity": Kind("severity one step off", "error", "D"),
    "severity_far": Kind("severity far off", "error", "D"),
    "size": Kind("size doubled", "error", "D"),
    "size_far": Kind("size trebled", "error", "D"),
    "certainty": Kind("certain finding hedged", "error", "D"),
    "compared": Kind("invented comparison", "error", "E"),
    "change": Kind("change reversed", "error", "E"),
    "forgotten": Kind("change left out", "error", "F"),
    "paraphrase": Kind("paraphrase", "harmless"),
    "order": Kind("sentences reordered", "harmless"),
    "abbreviations": Kind("abbreviations", "harmless"),
    "typing": Kind("typing errors", "harmless"),
    "normal": Kind("one more normal finding", "harmless"),
    "terse": Kind("terse style", "harmless"),
    "narrative": Kind("narrative style", "harmless"),
    "repetition": Kind("sentences repeated", "trick"),
    "contradiction": Kind("contradiction added", "trick"),
    "hedged": Kind("every finding hedged", "trick"),
    "hedges": Kind("hedges added", "trick"),
    "denials": Kind("negated findings added", "trick"),
    "normals": Kind("normal template added", "trick"),
    "babble": Kind("nonsense added", "trick"),
    "vague_side": Kind("sides left out", "trick"),
    "vague_place": Kind("zones and levels left out", "trick"),
    "vague_size": Kind("sizes left out", "trick"),
    "vague_severity": Kind("severities left out", "trick"),
    "vague_number": Kind("numbers left out", "trick"),
    "vague": Kind("every attribute left out", "trick"),
    "excused": Kind("every finding called chronic, old, known or unchanged", "trick"),
    "history": Kind("common findings reported as history", "trick"),
    "tokens": Kind("end tokens added", "trick"),
    "padded": Kind("padded past an encoder's length", "trick"),
    "shuffled": Kind("words shuffled", "trick"),
    "empty": Kind("empty report", "trick"),
    "template": Kind("normal template alone", "trick"),
    "nonsense": Kind("nonsense alone", "trick"),
    "errors_1": Kind("one error", "scale"),
    "errors_2": Kind("two errors", "scale"),
    "errors_3": Kind("three errors", "scale"),
    "errors_4": Kind("four errors", "scale"),
    "other": Kind("another patient's report", "scale"),
}
ALONE = ("empty", "template", "nonsense")  # tricks that look at no image
OTHER = "other"  # what it costs is the unit of every loss


class Ladder(NamedTuple):
    """Kinds that get worse: each rung must score below those before it.

    Attributes:
        title: As tables have it.
        rungs: Kinds from the least to the gravest.
        from_intact: Whether the report itself is the lowest rung.
    """

    title: str
    rungs: tuple[str, ...]
    from_intact: bool = False


LADDERS: Mapping[str, Ladder] = {
    "number": Ladder("number of errors", ("errors_1", "errors_2", "errors_3", "errors_4"), from_intact=True),
    "false": Ladder("significance of a false finding", ("false_minor", "false_actionable", "false_urgent")),
    "missing": Ladder("significance of a missing finding", ("missing_minor", "missing_actionable", "missing_urgent")),
    "severity": Ladder("steps of severity", ("severity", "severity_far")),
    "size": Ladder("size", ("size", "size_far")),
    "tip": Ladder("displacement of a device tip", ("tip", "tip_far")),
}


def kinds_of(group: Group) -> list[str]:
    """The names of the kinds of one group."""
    return [name for name, kind in KINDS.items() if kind.group == group]
