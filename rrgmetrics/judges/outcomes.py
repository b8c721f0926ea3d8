"""What became of the pairs that judges were asked about since the command began, and its exit status.

Only pairs that reach a judge are counted: one whose reference is missing, or out of a metric's scope, is no failure of
a judge.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

PARTLY, NOTHING = 3, 4  # exit statuses; 2 is wrong use


class State(Enum):
    """What became of a pair."""

    SCORED = "there is a verdict"
    PENDING = "a reply is missing; the next call asks for it again"
    UNRECORDED = "the file of recorded replies has none about it"
    UNUSABLE = "the replies arrived but give no verdict: they are cut off, empty, or cannot be parsed"


@dataclass
class Outcome:
    """The pairs that one judge was asked about.

    Attributes:
        is_kept: Whether its replies are kept, so that the next call asks for none of them.
        states: What became of each pair at last, by the pair's hash: some are asked about more than once.
    """

    is_kept: bool
    states: dict[int, State] = field(default_factory=dict)

    def add(self, pairs: Sequence[Hashable], states: Iterable[State]) -> None:
        """Adds pairs, or what became of them later."""
        self.states.update(zip(map(hash, pairs), states, strict=True))

    def count(self, state: State) -> int:
        """The number of pairs of which this became."""
        return sum(each is state for each in self.states.values())


OUTCOMES: dict[tuple[str, str], Outcome] = {}  # by metric and engine


def outcome_lines(*, advises: bool = True) -> list[str]:
    """Describes the pairs that have no verdict, and what to do about them; a line a judge and kind.

    Args:
        advises: Whether to say what to do; a worker of a leaderboard asks again by itself.
    """
    lines = []
    for (metric, engine), each in OUTCOMES.items():
        of_all = f"of {len(each.states):,} pairs"
        if pending := each.count(State.PENDING):
            scored = f"{each.count(State.SCORED):,} {of_all} scored"
            is_rest = each.count(State.SCORED) + pending == len(each.states)
            which = f"other {pending:,}" if is_rest else f"{pending:,} without a reply"
            first = "" if each.count(State.SCORED) else " once the reason for the missing replies is corrected"
            again = f"; run the same command again (with --force if it writes files) to ask about the {which}{first}"
            lines.append(f"{metric}, {engine}: {scored}{again if advises else ''}.")
        if unrecorded := each.count(State.UNRECORDED):
            lines.append(
                f"{metric}, {engine}: the recorded replies have none about {unrecorded:,} {of_all}; check the reports "
                "and options, or record these replies with `rrgmetrics judge --record`."
            )
        if unusable := each.count(State.UNUSABLE):
            redo = "; `rrgmetrics judge --redo` requests new ones" if each.is_kept and advises else ""
            lines.append(
                f"{metric}, {engine}: the replies about {unusable:,} {of_all} give no verdict: they are cut off, "
                f"empty, or cannot be parsed{redo}."
            )
    return lines


def outcome_status() -> int:
    """Returns the exit status: 0, or PARTLY or NOTHING if a judge has scored some pairs or no pair."""
    statuses = [0]
    for each in OUTCOMES.values():
        n_scored = each.count(State.SCORED)
        if n_scored < len(each.states):
            statuses.append(PARTLY if n_scored else NOTHING)
    return max(statuses)
