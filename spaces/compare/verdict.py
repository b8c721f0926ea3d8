"""Which report is better, and who says so: the metrics' verdicts in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rrgmetrics.english import listed
from rrgmetrics.metaeval.measured import MeasuredSet
from rrgmetrics.spaces.compare.scoring import Line, Verdict
from rrgmetrics.specs import MetricSpec

SIDES: Mapping[Verdict, str] = {"first": "candidate 1", "second": "candidate 2", "tie": "neither"}
SHARED = "reader"  # the backend behind several metrics, which therefore are one voice


class Family(NamedTuple):
    """Metrics of one kind: its title, and what it looks at."""

    title: str
    about: str


WORDING = Family("Wording", "Any text: shared words, or words of like meaning. They do not know what a finding is.")
RADIOLOGY = Family(
    "Made for radiology", "Findings, labels and errors, read or predicted by models that know the field."
)
JUDGES = Family("Judges", "Questions for a language model; bundled, the reader answers them by rules.")
FAMILIES = (RADIOLOGY, JUDGES, WORDING)


def family_of(spec: MetricSpec) -> Family:
    """The kind of a metric, from its facts."""
    if spec.judge:
        return JUDGES
    return WORDING if spec.modality == "any text" else RADIOLOGY


class Summary(NamedTuple):
    """The verdict in words.

    Attributes:
        headline: How many metrics prefer which candidate.
        votes: "For candidate 1" → the metrics that prefer it; no entry where nobody does.
        remarks: What to make of it, in sentences.
    """

    headline: str
    votes: Mapping[str, str]
    remarks: tuple[str, ...]


def summary(lines: Sequence[Line], measured: MeasuredSet) -> Summary:
    """The verdict on two candidates.

    Args:
        lines: Of all metrics, for two candidates.
        measured: Their agreement with radiologists.
    """
    votes = {side: [line for line in lines if line.verdict == side] for side in SIDES}
    voters = [line for own in votes.values() for line in own]
    if not voters:
        return Summary("No metric could score both candidates.", {}, ())
    return Summary(
        _headline({side: len(own) for side, own in votes.items()}),
        {f"For {SIDES[side]}": names(own) for side, own in votes.items() if own},
        (*_closest(voters, measured), *_kinds(votes), *_one_voice(voters)),
    )


def _headline(votes: Mapping[Verdict, int]) -> str:
    first, second, ties = votes["first"], votes["second"], votes["tie"]
    n_votes = first + second + ties
    if ties == n_votes:
        return "No metric sees a difference between the candidates."
    if first == second:
        return f"The metrics are split: {first} for candidate 1, {second} for candidate 2, {ties} for neither."
    side: Verdict = "first" if first > second else "second"
    if votes[side] == n_votes:
        return f"All {n_votes} metrics prefer {SIDES[side]}." if n_votes > 1 else f"It prefers {SIDES[side]}."
    return f"{votes[side]} of {n_votes} metrics prefer {SIDES[side]}, {min(first, second)} the other, {ties} neither."


def _closest(lines: Sequence[Line], measured: MeasuredSet) -> list[str]:
    """What the metric says that has reproduced most of radiologists' own preferences."""
    # Rows are of metrics as they are installed, which alone go by their bare name.
    known = [(row.values, line) for line in lines if (row := measured.metrics.get(line.name)) is not None]
    if not known:
        return []
    values, line = max(known, key=lambda pair: (pair[0]["preferences"].value, pair[0]["total_errors"].value))
    shared = values["preferences"]
    prefers = "sees no difference" if line.verdict == "tie" else f"prefers {SIDES[line.verdict]}"
    return [
        f"The metric that shares most of radiologists' preferences ({shared.value:.0%} of "
        f"{shared.n} measured cases), {line.title}, {prefers}."
    ]


def _kinds(votes: Mapping[Verdict, Sequence[Line]]) -> list[str]:
    """Says it when wording and findings point to different candidates."""
    leanings = {}
    for wording in (True, False):
        first, second = (
            sum((family_of(line.spec) is WORDING) == wording for line in votes[side]) for side in ("first", "second")
        )
        leanings[wording] = "first" if first > second else "second" if second > first else ""
    if not all(leanings.values()) or leanings[True] == leanings[False]:
        return []
    return [
        f"Most metrics of wording prefer {SIDES[leanings[True]]}, most that look at findings prefer "
        f"{SIDES[leanings[False]]}: the nearer words are not the nearer findings."
    ]


def _one_voice(lines: Sequence[Line]) -> list[str]:
    sharing = [line for line in lines if SHARED in line.spec.needs and (line.bundled or not line.spec.judge)]
    if len(sharing) < 2:
        return []
    return [
        f"{len(sharing)} of them read with the same bundled reader, {names(sharing)}: where it errs, all of them err."
    ]


def names(lines: Sequence[Line]) -> str:
    """The metrics' titles, as a list in words."""
    return listed([line.title for line in lines])
