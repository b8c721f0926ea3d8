"""Searches the lexicon for the constant text, and for the constant addition, that a metric pays most for.

The search is greedy: in each round it tries pieces beside what it has, at the front and at the end, tries to leave
out each piece that it has, and keeps the best change. A try is scored on a few studies first; the best sixth goes on
to more of them, and what is kept is better on all of the half that is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, NamedTuple

import numpy as np

from rrgmetrics.metaeval.gaming.pieces import Piece, all_pieces
from rrgmetrics.metaeval.gaming.scoring import Player
from rrgmetrics.metaeval.gaming.studies import Studies
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array

Goal = Literal["constant", "addition"]
GOALS: tuple[Goal, ...] = ("constant", "addition")
ROUNDS = 24  # at most, and pieces of a text
FEWEST = 8  # tries of a round, where the steps allow
RUNGS = (5, 20)  # studies that a try is scored on before it is scored on all
KEPT = 6  # the best of so many go on


class Text(NamedTuple):
    """What is written before and after a report; a constant text is all front."""

    front: tuple[str, ...] = ()
    end: tuple[str, ...] = ()

    def around(self, report: str) -> str:
        """The text with a report in it."""
        return " ".join(filter(None, (*self.front, report, *self.end)))

    def __len__(self) -> int:
        return len(self.front) + len(self.end)


class Found(NamedTuple):
    """What a search has found.

    Attributes:
        text: The best text.
        gain: What it earns more than nothing would, on the half that was searched.
        steps: Texts that were tried.
    """

    text: Text
    gain: float
    steps: int


@dataclass
class Search:
    """One search, of one metric and goal.

    Attributes:
        player: The metric.
        goal: Whether the text stands alone, or beside honest reports.
        studies: The half to search on.
        steps: Texts to try.
        seed: Of the draws.
        tell: Called with the number of texts tried since the last call.
    """

    player: Player
    goal: Goal
    studies: Studies
    steps: int
    seed: int = 0
    tell: Callable[[int], None] = lambda tried: None
    _worth: dict[tuple[Piece, bool], float] = field(default_factory=dict)

    def run(self) -> Found:
        """Searches."""
        rng = Random(f"search {self.seed} {self.goal}")
        self._order(rng)
        self._reports = self._honest(rng)
        unseen = [(piece, at_end) for piece in all_pieces(self.seed) for at_end in self._places]
        best, base = Text(), self._score([Text()], len(self._reports))[0]
        first, left = float(base.mean()), self.steps
        tried: set[Text] = set()
        while left > 0:
            wanted = min(left, max(FEWEST, self.steps // ROUNDS))
            texts = [text for text in self._proposals(best, unseen, wanted, rng) if text not in tried]
            if not texts:
                break
            tried.update(texts)
            left -= len(texts)
            winner = self._race(texts, base, best)
            if winner is not None:
                best, base = winner
                tried = {best}
            self.tell(len(texts))
        return Found(best, float(base.mean()) - first, self.steps - left)

    @property
    def _places(self) -> tuple[bool, ...]:
        return (False,) if self.goal == "constant" else (False, True)

    def _order(self, rng: Random) -> None:
        """Draws the order in which studies are scored."""
        self._rows = rng.sample(range(len(self.studies.references)), len(self.studies.references))

    def _honest(self, rng: Random) -> list[str]:
        """What stands in the text: nothing, or the systems' reports by turn."""
        if self.goal == "constant":
            return [""] * len(self._rows)
        systems = list(self.studies.systems.values())
        return [systems[place % len(systems)][row] for place, row in enumerate(self._rows)]

    def _proposals(self, best: Text, unseen: list[tuple[Piece, bool]], wanted: int, rng: Random) -> list[Text]:
        """Each piece left out; then those that were worth most so far, and as many that were never tried."""
        front, end = best
        made = [Text(front[:at] + front[at + 1 :], end) for at in range(len(front))]
        made += [Text(front, end[:at] + end[at + 1 :]) for at in range(len(end))]
        if len(best) >= ROUNDS:
            return made[:wanted]
        again = sorted(self._worth, key=lambda choice: -self._worth[choice])
        again = again[: max(0, wanted - len(made)) // 2]
        new = [unseen.pop(0) for _ in range(min(len(unseen), wanted - len(made) - len(again)))]
        self._worth |= dict.fromkeys(new, 0.0)
        self._asked = {}
        for piece, at_end in [*again, *new]:
            text = Text(front, (*end, piece.text)) if at_end else Text((*front, piece.text), end)
            self._asked[text] = (piece, at_end)
            made.append(text)
        return list(dict.fromkeys(made))[:wanted]

    def _race(self, texts: list[Text], base: Array, best: Text) -> tuple[Text, Array] | None:
        """The best of some texts with its scores, if it is better than the base on all studies."""
        scores = np.zeros((len(texts), 0))
        for rung in [*(rung for rung in RUNGS if rung < len(base)), len(base)]:
            more = self._score(texts, rung, scores.shape[1])
            scores = np.hstack([scores, more])
            gains = scores.mean(axis=1) - base[:rung].mean()
            for text, gain in zip(texts, gains.tolist(), strict=True):
                if (choice := self._asked.get(text)) is not None:
                    self._worth[choice] = gain
            if rung < len(base):
                kept = np.argsort(-gains, kind="stable")[: max(1, -(-len(texts) // KEPT))]
                texts, scores = [texts[place] for place in kept], scores[kept]
        place = int(gains.argmax())
        shorter = len(texts[place]) < len(best)
        return (texts[place], scores[place]) if gains[place] > (-1e-9 if shorter else 1e-9) else None

    def _score(self, texts: Sequence[Text], stop: int, start: int = 0) -> Array:
        """The goodness of each text on some studies, `(texts, studies)`."""
        rows = self._rows[start:stop]
        pairs = [
            Pair(self.studies.references[row], text.around(self._reports[start + place]))
            for text in texts
            for place, row in enumerate(rows)
        ]
        return self.player.goodness(pairs).reshape(len(texts), len(rows)) if pairs else np.zeros((len(texts), 0))
