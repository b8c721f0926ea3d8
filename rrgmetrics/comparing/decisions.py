"""Records what the steps of a comparison decide: `compare(..., trace=True)`.

Nothing is recorded unless `record` is in use in the thread; then each step hands over what it decides: `decided` for
what it makes or finds, `became` for what it changes, `excused` for what it leaves out. A step is its function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, TypeVar

from rrgmetrics.comparing.model import Decision, FindingError, Unit
from rrgmetrics.reading.model import Finding
from rrgmetrics.reading.recording import place_of

Thing = Unit | Finding | FindingError
T = TypeVar("T", bound=Unit | Finding | FindingError)


class Recorded(NamedTuple):
    """A step that was taken: its function, what it did if the function has several results, the row that it used."""

    step: Callable[..., object]
    what: str
    row: Mapping[str, Any] | None


class Decisions:
    """The steps of one comparison, by the object that they decided on."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Thing, list[Recorded]]] = {}  # it holds the object, so that no other has its id
        self._excused: dict[int, Thing] = {}

    def of(self, thing: Thing) -> list[Recorded]:
        """The steps that decided on an object, to be added to."""
        return self._known.setdefault(id(thing), (thing, []))[1]

    def excuse(self, thing: Thing) -> None:
        """Records that a step left an object out."""
        self._excused[id(thing)] = thing

    @property
    def excused(self) -> tuple[Thing, ...]:
        """What was left out, in order."""
        return tuple(self._excused.values())


_recorder: ContextVar[Decisions | None] = ContextVar("decisions", default=None)


@contextmanager
def record() -> Iterator[Decisions]:
    """Records what is compared in this thread until the block ends."""
    made = Decisions()
    with _recorded_in(made):
        yield made


def unrecorded() -> AbstractContextManager[None]:
    """Records nothing in this thread until the block ends: what is decided there is decided again."""
    return _recorded_in(None)


@contextmanager
def _recorded_in(made: Decisions | None) -> Iterator[None]:
    token = _recorder.set(made)
    try:
        yield
    finally:
        _recorder.reset(token)


def decided(thing: T, step: Callable[..., object], what: str = "", row: Mapping[str, Any] | None = None) -> T:
    """Records that a step decided on an object, and returns the object."""
    if (made := _recorder.get()) is not None:
        made.of(thing).append(Recorded(step, what, row))
    return thing


def became(old: T, new: T, step: Callable[..., object], what: str = "") -> T:
    """Records that a step put another object in the place of one, and returns the new one."""
    made = _recorder.get()
    if made is not None and new is not old:
        made.of(new).extend([*made.of(old), Recorded(step, what, None)])
    return new


def excused(thing: Thing, step: Callable[..., object], what: str = "") -> Literal[True]:
    """Records that a step leaves an object out, so that it is no error; always True."""
    if (made := _recorder.get()) is not None:
        made.of(thing).append(Recorded(step, what, None))
        made.excuse(thing)
    return True


def decision(step: Callable[..., object], what: str = "", source: str = "") -> Decision:
    """What a step decided, with its name and place; what it does, by its docstring, if it has but one result."""
    return Decision(*place_of(step), what or (step.__doc__ or "").partition("\n")[0], source)
