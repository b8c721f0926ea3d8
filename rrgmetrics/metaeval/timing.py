"""How long metrics take on rated pairs, each alone: CREPE's paper, table 3 and figure 1 (Cho et al. 2025).

Time is that of the wall clock, of the whole set of pairs as it is scored. Weights are loaded before, and one pair of
our own is scored first, so that no model is compiled or moved while the clock runs. Nothing is shared with metrics that
ran before.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rrgmetrics.errors import InputError
from rrgmetrics.judges.judge import Judge
from rrgmetrics.reading.lexicon.in_use import folder_used
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import Metrics
from rrgmetrics.scoring.results import Result
from rrgmetrics.utils.machine import processor

FIRST = Pair("Small left pleural effusion. The heart is of normal size.", "Right pneumothorax.")


@dataclass(frozen=True)
class Timed:
    """How long one metric took.

    Attributes:
        seconds: To score all pairs.
        n: Pairs.
        n_kept: Questions of a judge whose replies were there already; the time is then not the judge's.
    """

    seconds: float
    n: int
    n_kept: int = 0

    @property
    def milliseconds(self) -> float:
        """Milliseconds a pair; NaN where replies were there already."""
        return math.nan if self.n_kept else 1000 * self.seconds / self.n


def score_timed(metric: Metrics, pairs: Sequence[Pair], *, progress: bool = True) -> tuple[dict[str, Result], Timed]:
    """Scores pairs with one prepared metric, and says how long that took.

    Args:
        metric: It alone; `prepare` has loaded it.
        pairs: The pairs.
        progress: Whether to show a bar while it runs. Of reports that are missing, nothing is logged here.

    Raises:
        InputError: A judge of several processes, of which nobody knows which replies were there already.
    """
    (name,) = metric.jobs
    backend = metric.jobs[name].backend
    n_kept = _kept(metric, name, pairs) if isinstance(backend, Judge) else 0
    with folder_used(None):  # so that nothing is kept of what earlier metrics have read
        if not isinstance(backend, Judge):  # whose questions may cost money
            metric.score_pairs([FIRST], progress=False, announce=False)
        start = time.perf_counter()
        (results,) = metric.score_sets([list(pairs)], progress=progress)
        return results, Timed(time.perf_counter() - start, len(pairs), n_kept)


def _kept(metric: Metrics, name: str, pairs: Sequence[Pair]) -> int:
    from rrgmetrics.judges.bill import bill_of

    judge = metric.jobs[name].backend
    try:
        kept = bill_of(judge, metric.as_read(name, pairs)).cached
    except InputError:
        raise InputError(
            f"{name}: the time of a judge that several processes ask cannot be measured; leave out ?processes=."
        ) from None
    is_recorded = isinstance(judge, Judge) and judge.engine.identity.startswith("replies")
    return len(pairs) if is_recorded else kept


def machine() -> str:
    """What ran: the processor, and the GPU that torch sees."""
    torch = sys.modules.get("torch")
    gpu = torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else ""
    return f"{processor()}; {gpu}" if gpu else processor()
