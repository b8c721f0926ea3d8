"""How far a run is: a line a metric on a terminal, a few lines in a log, a bar in a notebook.

Whoever begins a piece of work that a user waits for opens the display (`showing`); what runs within joins it, so that a
command has one display with one total. On a terminal each metric has its own pace, of the time that it took itself; a
log gets a line when the time doubles, from half a minute on: eleven in eight hours.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rrgmetrics.utils.printable import visible

if TYPE_CHECKING:
    from rich.console import Group

T = TypeVar("T")
FIRST_LINE = 30.0  # seconds until a log gets its first line
EACH = 1.0  # seconds between two looks at the time
SCORING, STATISTICS = "scoring", "intervals and tests"
Advise = Callable[[Mapping[str, int]], str]


class Progress(NamedTuple):
    """The progress of a run: pairs scored, of so many in all, over all metrics; and what was done last.

    Attributes:
        done: Pairs scored, each once a metric.
        total: Of so many.
        metric: The one that has just scored; "" where several did.
        pairs: How many pairs it scored.
        of: How many it will have scored in the end.
        seconds: How long that took, reading included.
    """

    done: int
    total: int
    metric: str = ""
    pairs: int = 0
    of: int = 0
    seconds: float = 0.0


@dataclass
class Line:
    """One thing that goes on.

    Attributes:
        unit: What is counted.
        total: How many there will be; 0 is not known.
        done: How many there are.
        seconds: Spent on it alone; NaN: all of the time since it began.
        note: What else is to be said.
    """

    unit: str
    total: int = 0
    done: int = 0
    seconds: float = math.nan
    note: str = ""
    began: float = field(default_factory=time.perf_counter)

    @property
    def pace(self) -> float:
        """Units a second; 0 before the first."""
        spent = self.seconds if self.seconds == self.seconds else time.perf_counter() - self.began
        return self.done / spent if spent > 0 else 0.0

    @property
    def left(self) -> float:
        """Seconds until it is done; infinite where that cannot be told."""
        if not self.total:
            return math.inf
        return (self.total - self.done) / self.pace if self.pace else math.inf

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self.done >= self.total > 0

    def __str__(self) -> str:
        if not (self.total or self.done):
            return self.note or duration(time.perf_counter() - self.began)
        of = f" of {self.total:,}" if self.total else ""
        ends = "done" if self.is_done else f"{duration(self.left)} left" if self.left < math.inf else ""
        pace = f"{self.pace:,.0f}/s" if self.pace >= 10 else f"{self.pace:.1f}/s" if self.pace else ""
        return "  ".join(filter(None, [f"{self.done:,}{of} {self.unit}", pace, ends, self.note]))


class Display:
    """What is shown while something runs.

    Args:
        advise: Says what to leave out, from the pairs that each metric is to score; "" for nothing.
    """

    def __init__(self, advise: Advise | None = None) -> None:
        self.lines: dict[str, Line] = {}
        self.done, self.total, self.hint = 0, 0, ""
        self.began = time.perf_counter()
        self._advise = advise
        self._expected = 0
        self._waiting: dict[str, int] = {}  # pairs of metrics that have not been heard of

    def expect(self, names: Iterable[str], n_pairs: int) -> None:
        """Says before the first of several walks how much there is: pairs for each of these metrics."""
        listed = list(names)
        self._waiting |= dict.fromkeys(listed, n_pairs)
        self._expected += len(listed) * n_pairs
        self.total = max(self.total, self._expected)
        if self._advise is not None and not self.done:
            self.hint = self._advise(self._waiting)

    def show(self, progress: Progress, before: int) -> None:
        """Takes in how far a walk is, before which so much was done."""
        self.done = before + progress.done
        self.total = max(self.total, before + progress.total)
        if progress.metric:
            for name, n_pairs in {**self._waiting, progress.metric: progress.of}.items():
                self.lines.setdefault(name, Line("pairs", n_pairs, seconds=0.0))
            self._waiting = {}
            line = self.lines[progress.metric]
            line.done += progress.pairs
            line.total = max(line.total, line.done)
            line.seconds += progress.seconds

    @property
    def headline(self) -> str:
        """All of it in one line."""
        spent = time.perf_counter() - self.began
        share = f"{self.done / self.total:.0%} of {self.total:,} scores, " if self.total else ""
        return f"{SCORING}: {share}{duration(spent)} so far{self._left(spent)}"

    def _left(self, spent: float) -> str:
        """How long it will take: of metrics that have not begun nobody knows."""
        if not 0 < self.done < self.total:
            return ""
        lefts = [line.left for line in self.lines.values() if line.seconds == line.seconds]
        known = [left for left in lefts if left < math.inf]
        left = sum(known) if lefts else spent * (self.total - self.done) / self.done
        return f", {'about' if len(known) == len(lefts) else 'more than'} {duration(left)} left"


def duration(seconds: float) -> str:
    """Seconds as minutes and hours.

    Example:
        >>> duration(5), duration(125), duration(7325)
        ('0:05', '2:05', '2:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


_open: ContextVar[Display | None] = ContextVar("_open", default=None)


@contextmanager
def showing(shown: bool, advise: Advise | None = None) -> Iterator[Display | None]:
    """Opens the display, or joins the one that is open; None where nothing is to be shown."""
    if not shown or _open.get() is not None:
        yield _open.get() if shown else None
        return
    display = Display(advise)
    token = _open.set(display)
    try:
        with _view(display):
            yield display
    finally:
        _open.reset(token)


@contextmanager
def phase(title: str, *, total: int = 0, unit: str = "", shown: bool = True) -> Iterator[Line]:
    """Shows one thing that goes on, in a line of its own."""
    line = Line(unit, total)
    with showing(shown) as display:
        if display is not None:
            display.lines[title] = line
        try:
            yield line
        finally:
            if display is not None:
                display.lines.pop(title, None)


def watched(items: Collection[T], title: str, unit: str, *, shown: bool = True) -> Iterator[T]:
    """Yields items one by one, and shows how many are done."""
    with phase(title, total=len(items), unit=unit, shown=shown) as line:
        for item in items:
            yield item
            line.done += 1


def drained(walk: Generator[Progress, None, T], shown: bool) -> T:
    """Runs a walk to its end, shows how far it is if that is to be shown, and returns its value."""
    with showing(shown) as display:
        before = 0 if display is None else display.done
        while True:
            try:
                progress = next(walk)
            except StopIteration as stop:
                result: T = stop.value
                return result
            if display is not None:
                display.show(progress, before)


# --- where it is shown ------------------------------------------------------------------------------------------------


def _view(display: Display) -> Any:
    """What draws a display, from its beginning to its end, where standard error goes to."""
    if _in_notebook():
        return _notebook(display)
    return _terminal(display) if sys.stderr.isatty() else _log(display)


def _in_notebook() -> bool:
    """Whether a notebook's kernel runs this process; IPython may be imported, and run a terminal, elsewhere too."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


@contextmanager
def _terminal(display: Display) -> Iterator[None]:
    """Lines that are drawn again and again, and are gone in the end."""
    live = import_module("rich.live").Live
    console = import_module("rich.console").Console(stderr=True)
    with live(console=console, transient=True, refresh_per_second=4, get_renderable=lambda: drawn(display)):
        yield


def drawn(display: Display) -> Group:
    """The display on a terminal: all of it, a line a metric, and the hint."""
    text = import_module("rich.text").Text
    names = list(display.lines)
    width = max(map(len, names), default=0)
    lines = [text(display.headline, style="bold")] if display.total else []
    for name in names:
        line = display.lines.get(name)  # another thread may have ended it
        if line is not None:
            lines.append(text(visible(f"  {name:<{width}}  {line}"), style="dim" if line.is_done else ""))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    group: Group = import_module("rich.console").Group(*lines, text(visible(display.hint), style="italic"))
    return group


@contextmanager
def _ticking(act: Callable[[], None], seconds: float) -> Iterator[None]:
    """Does something now and again, beside what runs."""
    import threading

    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds):
            act()

    thread = threading.Thread(target=run, daemon=True, name="rrgmetrics-progress")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def _log(display: Display) -> Iterator[None]:
    """A line when the time has doubled; nothing of short runs."""
    following = FIRST_LINE

    def write() -> None:
        nonlocal following
        if time.perf_counter() - display.began < following:
            return
        hint = f" {display.hint}" if display.hint and following == FIRST_LINE else ""
        following *= 2
        running = [f"{name} {line}" for name, line in display.lines.items() if line.seconds != line.seconds]
        said = "; ".join([display.headline, *running] if display.total else running)
        sys.stderr.write(visible(f"{said}.{hint}\n"))
        sys.stderr.flush()

    with _ticking(write, EACH):
        yield


@contextmanager
def _notebook(display: Display) -> Iterator[None]:
    """The notebook's own bar."""
    with import_module("tqdm.auto").tqdm(total=0, unit="score", desc=SCORING, leave=False) as bar:

        def draw() -> None:
            bar.total = display.total
            bar.update(display.done - bar.n)

        with _ticking(draw, 0.25):
            yield
        draw()
