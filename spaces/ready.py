"""The metrics of a server: each is made ready when a page first asks for it, and stays so while others ask for few."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from rrgmetrics.scoring.prepared import Metrics, prepare

MOST = 64  # metrics and settings of them; the one that nobody has asked for the longest is let go

_lock = Lock()
_held: dict[str, Metrics] = {}  # the last that was asked for comes last


def ready(names: str | Sequence[str]) -> Metrics:
    """The metrics of these names; raises what `rrgmetrics.prepare` raises."""
    wanted = [names] if isinstance(names, str) else names
    with _lock:
        for name in wanted:
            _held[name] = _held.pop(name) if name in _held else prepare(name)
        chosen = Metrics.together([_held[name] for name in wanted])
        while len(_held) > max(MOST, len(wanted)):
            del _held[next(iter(_held))]
        return chosen
