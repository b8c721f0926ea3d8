"""What became of the pairs that judges were asked about since the command began, and its exit status.

Only pairs that reach a judge are counted: one whose reference is missing, or out of a metric's scope, is no failure of
a judge.
"""

from __future__ import annotations

from dataclasses import dataclass

PARTLY, NOTHING = 3, 4  # exit statuses; 2 is wrong use


@dataclass
class Outcome:
    """The pairs that one judge was asked about.

    Attributes:
        is_kept: Whether its replies are kept, so that the next call asks for none of them.
        scored: Pairs with a verdict.
        pending: Pairs of which a reply is missing; the next call asks for it again.
        unusable: Pairs whose replies came, and give no verdict: they are cut off, empty, or cannot be read.
    """

    is_kept: bool
    scored: int = 0
    pending: int = 0
    unusable: int = 0

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return self.scored + self.pending + self.unusable


OUTCOMES: dict[tuple[str, str], Outcome] = {}  # by metric and engine


def outcome_lines() -> list[str]:
    """Describes the pairs that have no verdict, and what to do about them; a line a judge and kind."""
    lines = []
    for (metric, engine), each in OUTCOMES.items():
        of_all = f"of {each.n_pairs:,} pairs"
        if each.pending:
            lines.append(
                f"{metric}, {engine}: {each.scored:,} {of_all} scored; run the same command again (with --force where "
                f"it writes files) to ask about the other {each.pending:,}."
            )
        if each.unusable:
            redo = "; `rrgmetrics judge --redo` asks for new ones" if each.is_kept else ""
            lines.append(
                f"{metric}, {engine}: the replies about {each.unusable:,} {of_all} give no verdict: they are cut off, "
                f"empty, or cannot be read{redo}."
            )
    return lines


def outcome_status() -> int:
    """Returns the exit status: 0, or PARTLY or NOTHING if a judge has scored some pairs or no pair."""
    statuses = [0 if each.scored == each.n_pairs else PARTLY if each.scored else NOTHING for each in OUTCOMES.values()]
    return max(statuses, default=0)
