"""The metrics of a server: each is made ready when a page first asks for it, and stays so."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from rrgmetrics.prepared import Metrics, prepare

_lock = Lock()
_held: dict[str, Metrics] = {}


def ready(names: str | Sequence[str]) -> Metrics:
    """The metrics of these names; raises what `rrgmetrics.prepare` raises."""
    wanted = [names] if isinstance(names, str) else names
    with _lock:
        for name in wanted:
            if name not in _held:
                _held[name] = prepare(name)
        return Metrics.together([_held[name] for name in wanted])
