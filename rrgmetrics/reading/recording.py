"""Records what sets each field of each finding while a report is read: `read(..., trace=True)`.

Nothing is recorded unless `record` is in use in the thread; then the steps of the reader hand over what they make:
`watch` objects whose fields are set later, `follow` lists whose elements are replaced, `each_cue`, `note`, and `built`
for what describes a mention. A step is named by the function that sets the field, or that gave the mention the words
for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import MISSING, fields
from functools import cache
from types import FrameType
from typing import Any, Protocol, SupportsIndex, TypeVar, cast

from rrgmetrics.reading.model import Finding, Held, Step
from rrgmetrics.reading.senses import Senses

T = TypeVar("T")
_NAMES = {"sides": "side", "measurements": "measurements_mm", "course": "change", "link": "explains"}
_UNSEEN = frozenset(  # fields that say where the words are, and not what they say
    {"modifiers", "extent", "pre_place", "post_place", "definite_article", "tokens", "spans", "sentence", "section"}
)
RULES_FILE = "context_rules.yaml"  # the place of a step that a context rule takes, until its line is looked up
_NOTHING: tuple[object, ...] = (None, (), [], "", False, set(), frozenset())
DEFAULTS = {each.name: each.default for each in fields(Finding) if each.name not in _UNSEEN}


class _Item(Protocol):
    first: int
    last: int
    word: str
    senses: Senses


class SentenceRecord:
    """What was recorded of a sentence: its words, its mentions, what replaced its items."""

    def __init__(self, text: str, tokens: list[Any]) -> None:
        self.text, self.tokens = text, tokens
        self.items: list[tuple[int, int, Step]] = []  # first and last token, and what was done to them
        self.mentions: list[Any] = []
        self.span = (0, 0)  # characters of the report; none if it is not read by itself
        self.parsed_items: list[Any] = []
        self.communicates = False

    def words(self, first: int, last: int) -> str:
        """The characters of the tokens `[first, last)`."""
        if not 0 <= first < last <= len(self.tokens):
            return ""
        start = self.tokens[0].start
        return self.text[self.tokens[first].start - start : self.tokens[last - 1].end - start]


class Recorder:
    """The steps of one reading, by the object whose field they set."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begins anew: a report is read again when its kind asks for another pack."""
        self.sentence = SentenceRecord("", [])
        self.sentences: list[SentenceRecord] = []
        self.taken_back: list[tuple[int, int]] = []
        self.known: dict[int, tuple[Any, list[Step]]] = {}  # by id; it holds the object, so that no other has the id
        self.before: dict[int, dict[str, Any]] = {}  # of a mention, the fields that are recorded
        self.finished: set[int] = set()  # mentions that became a finding
        self.given: dict[tuple[int, int, int], tuple[str, str]] = {}  # by mention and tokens, what gave it these words
        self.last_built: Finding | None = None

    def enter(self, span: tuple[int, int], items: list[Any], *, communicates: bool) -> None:
        """Records that the sentence which was parsed last is read now."""
        self.sentence.span, self.sentence.parsed_items, self.sentence.communicates = span, items, communicates
        self.sentences.append(self.sentence)

    def steps(self, thing: object) -> list[Step]:
        """The steps of an object, to be added to."""
        return self.known.setdefault(id(thing), (thing, []))[1]

    def knows(self, thing: object) -> bool:
        """Whether an object has steps."""
        return id(thing) in self.known

    def add(self, thing: object, field: str, old: object, new: object, words: str, where: tuple[str, str]) -> None:
        """Records one step, unless the field is said to have this value already, or says only where words are."""
        name, steps = _NAMES.get(field, field), self.steps(thing)
        old, new = plain(field, old), plain(field, new)
        last = next((step for step in reversed(steps) if step.field == name), None)
        if field in _UNSEEN or (new in _NOTHING and old in _NOTHING) or (last is not None and last.new == new):
            return
        steps.append(Step(name, last.new if last else old, new, words, *where))

    def set_field(self, thing: Any, name: str, old: object, new: object) -> None:
        """Records that a field of a watched object has been set by the function that called."""
        frame = sys._getframe(2)
        if hasattr(thing, "senses"):
            if name == "senses":
                self.replaced_item(thing, old, new, frame)
        elif old != new:
            rule, words = self.context_rule(frame)
            words = words or self.cue(frame) or self.sentence.words(*thing.tokens)
            self.add(thing, name, old, new, words, (f"rule {rule}", RULES_FILE) if rule else _where(frame))

    def context_rule(self, frame: FrameType) -> tuple[str, str]:
        """The context rule for which a function sets a field, and its words: the one that it uses, or that is open."""
        seen = frame.f_locals
        rule, at, scope = seen.get("rule"), seen.get("i"), seen.get("scope")
        if scope is not None:
            rule, at = scope.rule, scope.at
        if rule is None or at is None:
            return "", ""
        item = seen["self"].items[at]
        return rule.id, self.sentence.words(item.first, item.last)

    def cue(self, frame: FrameType | None) -> str:
        """The words of the item that a function looks at, or the one that calls it."""
        for _ in range(4):
            if frame is None:
                break
            seen = frame.f_locals
            items = seen.get("items", getattr(seen.get("self"), "items", ()))
            item, i = seen.get("item"), seen.get("i")
            if item is None and isinstance(i, int) and isinstance(items, list) and i < len(items):
                item = items[i]
            if item is not None and hasattr(item, "senses"):
                return self.sentence.words(item.first, item.last)
            frame = frame.f_back
        return ""

    def replaced_item(self, item: _Item, old: object, new: object, frame: FrameType) -> None:
        """Records that words were given another meaning."""
        if old != new:
            words = self.sentence.words(item.first, item.last)
            step = Step("words", plain("", old), plain("", new), words, *_where(frame))
            self.sentence.items.append((item.first, item.last, step))

    def replaced(self, old: Any, new: Any, frame: FrameType) -> None:
        """Records that an element of a list was replaced: an item, or a finding with what else is said of it."""
        if old is new:
            return
        if hasattr(new, "senses"):
            self.replaced_item(new, old.senses, new.senses, frame)
            watch([new])
            return
        steps = self.steps(new)
        steps += [step for step in self.steps(old) if step not in steps]
        self.differences(old, new, frame)

    def appended(self, finding: Finding, frame: FrameType) -> None:
        """Records a new finding: what it was made from, then what differs."""
        if self.knows(finding):
            return
        alike = (
            other
            for other, _ in reversed(list(self.known.values()))
            if isinstance(other, Finding)
            and (other.concept, other.sentence) == (finding.concept, finding.sentence)
            and not {*other.spans}.isdisjoint(finding.spans)
        )
        source, mention = next(alike, None), frame.f_locals.get("mention")
        if source is not None:
            self.steps(finding).extend(self.steps(source))
            self.differences(source, finding, frame)
            return
        if mention is not None and self.knows(mention):
            self.finished.add(id(mention))
            self.steps(finding).extend(self.steps(mention))
        self.settle(finding, frame, self.sentence.words(*mention.tokens) if mention is not None else "")

    def differences(self, old: Finding, new: Finding, frame: FrameType) -> None:
        """Records the fields in which a finding differs from the one that it replaces."""
        others = [frame.f_locals.get(name) for name in ("more", "finding", "b")] + [self.last_built]
        for name in DEFAULTS:
            before, after = getattr(old, name), getattr(new, name)
            if before != after:
                earlier = [step for other in others if self.knows(other) for step in reversed(self.steps(other))]
                fields = (name, "concept") if "finding" in frame.f_locals else (name,)  # one that is merged into it
                words = next((s.words for field in fields for s in earlier if s.field == field and s.words), "")
                words = words or self.sentence.text.strip()
                self.steps(new).append(Step(name, plain(name, before), plain(name, after), words, *_where(frame)))

    def settle(self, finding: Finding, frame: FrameType, words: str = "") -> None:
        """Records what the steps before a finding do not tell of it."""
        steps = self.steps(finding)
        for name, default in DEFAULTS.items():
            last = next((step.new for step in reversed(steps) if step.field == name), plain(name, default))
            value = plain(name, getattr(finding, name))
            if value != last and name != "observation":
                steps.append(Step(name, None if last is MISSING else last, value, words, *_where(frame)))

    def hold(self, mention: Any, fields: Mapping[str, Any], held: tuple[Held, ...]) -> None:
        """Adds to the step that gave a mention its state what opened the state, and what did not end it."""
        steps, deciding = self.steps(mention), "dropped" if fields["dropped"] else "assertion"
        if not fields["dropped"] and fields["assertion"] == "present" and fields["certainty"] != "definite":
            deciding = "certainty"
        for k in reversed(range(len(steps))):
            if steps[k].field == deciding and steps[k].new == fields[deciding]:
                steps[k] = steps[k]._replace(held=held)
                return

    def looked_at(self, mention: Any, told: Mapping[str, Any], words: str, where: tuple[str, str]) -> None:
        """Records what differs in the fields that describe a mention since they were looked at."""
        before = self.before.get(id(mention), {})
        for name, value in told.items():
            if value != before.get(name) and not (name == "change" and value is None):
                self.add(mention, name, before.get(name), value, words, where)
        for name in before.keys() - told.keys():
            self.add(mention, name, before[name], None, words, where)
        self.before[id(mention)] = {
            name: set(value) if isinstance(value, set) else value for name, value in told.items()
        }


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)
recorder = _recorder.get


@contextmanager
def unrecorded() -> Iterator[None]:
    """Records nothing in this thread until the block ends."""
    token = _recorder.set(None)
    try:
        yield
    finally:
        _recorder.reset(token)


@contextmanager
def record() -> Iterator[Recorder]:
    """Records what is read in this thread until the block ends."""
    made = Recorder()
    token = _recorder.set(made)
    try:
        yield made
    finally:
        _recorder.reset(token)


def watch(things: list[T], maker: Callable[..., object] | None = None, before: Sequence[T] = ()) -> list[T]:
    """Records from now on which fields of these objects are set.

    Args:
        things: Mentions or items.
        maker: What named the mentions; None if they are none.
        before: The mentions that it was given; those that it left out are no mentions.

    Returns:
        list[T]: The same objects.
    """
    made = recorder()
    if made is not None:
        left_out = {id(thing) for thing in before} - {id(thing) for thing in things}
        made.sentence.mentions = [each for each in made.sentence.mentions if id(each) not in left_out]
        for thing in things:
            if not getattr(type(thing), "is_watched", False):
                kind: Any = type(thing)
                thing.__class__ = _watched(kind)
                if maker is not None:
                    _watch_mention(made, thing, maker)
    return things


def _watch_mention(made: Recorder, mention: Any, maker: Callable[..., object]) -> None:
    made.sentence.mentions.append(mention)
    words = made.sentence.words(*mention.tokens)
    where = place_of(maker)
    mention.modifiers = _Modifiers(mention)
    name = "denies" if mention.denies else "concept"
    made.add(mention, name, None, mention.denies or mention.concept, words, where)
    made.add(mention, "assertion", None, mention.assertion, "", where)  # what is named is there, if nothing denies it


@cache
def _watched(kind: type) -> type:
    """A class like this one that records which of its fields are set."""

    def set_field(self: Any, name: str, value: object) -> None:
        old = getattr(self, name, MISSING)
        object.__setattr__(self, name, value)
        made = recorder()
        if made is not None and old is not MISSING:
            made.set_field(self, name, old, value)

    return type(kind.__name__, (kind,), {"__slots__": (), "__setattr__": set_field, "is_watched": True})


class _Followed(list[T]):
    """A list that records which of its elements are replaced, and what is appended."""

    def __setitem__(self, key: Any, value: Any) -> None:
        old = self[key] if isinstance(key, slice) else [self[key]]
        new = list(value) if isinstance(key, slice) else [value]
        super().__setitem__(key, new if isinstance(key, slice) else value)
        if (made := recorder()) is not None:
            for a, b in zip(old, new, strict=False):
                made.replaced(a, b, sys._getframe(1))

    def append(self, value: T) -> None:
        self._append(value, sys._getframe(1))

    def extend(self, values: Iterable[T]) -> None:
        for value in values:
            self._append(value, sys._getframe(1))

    def insert(self, index: SupportsIndex, value: T) -> None:
        super().insert(index, value)
        if (made := recorder()) is not None and hasattr(value, "senses"):
            made.replaced_item(cast(_Item, value), {}, value.senses, sys._getframe(1))

    def _append(self, value: T, frame: FrameType) -> None:
        super().append(value)
        if (made := recorder()) is not None and isinstance(value, Finding):
            made.appended(value, frame)


class _Modifiers(list[T]):
    """The items that describe a mention, which records the function that gave it each."""

    def __init__(self, mention: Any) -> None:
        super().__init__(mention.modifiers)
        self.mention = id(mention)

    def append(self, value: T) -> None:
        self._give([value], sys._getframe(1))

    def extend(self, values: Iterable[T]) -> None:
        self._give([*values], sys._getframe(1))

    def _give(self, values: list[T], frame: FrameType) -> None:
        super().extend(values)
        if (made := recorder()) is not None:
            for item in cast(list[_Item], values):
                made.given.setdefault((self.mention, item.first, item.last), _where(frame))


def follow(things: list[T], before: list[T] | None = None, maker: Callable[..., object] | None = None) -> list[T]:
    """Records from now on which elements of a list are replaced.

    Args:
        things: Items or findings.
        before: The items that a function made them from, if they are new.
        maker: That function.

    Returns:
        list[T]: The same list, or if anything is recorded one that is equal to it.
    """
    made = recorder()
    if made is None or (isinstance(things, _Followed) and before is None):
        return things
    if before is not None and maker is not None and things is not before:
        where = place_of(maker)
        meant = {(item.first, item.last): item.senses for item in cast(list[_Item], before)}
        for item in cast(list[_Item], things):
            old = meant.get((item.first, item.last), {})
            if old != item.senses:
                words = made.sentence.words(item.first, item.last)
                step = Step("words", plain("", old), plain("", item.senses), words, *where)
                made.sentence.items.append((item.first, item.last, step))
    for thing in things:
        if hasattr(thing, "senses"):
            watch([thing])
    return _Followed(things)


def each_cue(senses: Iterator[T], mention: Any, told: Mapping[str, Any]) -> Iterator[T]:
    """Yields what describes a mention, and records what each adds to the fields."""
    made = recorder()
    return senses if made is None else _each_cue(made, senses, mention, told)


def _each_cue(made: Recorder, senses: Any, mention: Any, told: Mapping[str, Any]) -> Iterator[Any]:
    where = _where(sys._getframe(1))
    made.before[id(mention)] = {}
    for each in senses:
        item = senses.gi_frame.f_locals["item"]  # the one whose senses these are
        before = next(k for k, other in enumerate(mention.modifiers) if other is item) - 1
        dated = "before" in each and "before" not in item.senses and before >= 0
        first = mention.modifiers[before].first if dated else item.first  # "PREVIOUSLY 5 cm"
        yield each
        giver = made.given.get((id(mention), item.first, item.last), where)
        made.looked_at(mention, told, made.sentence.words(first, item.last), giver)


def note(mention: Any, field: str, value: object, maker: Callable[..., object], because: tuple[str, ...]) -> None:
    """Records that a function made a field's value of others: those named by `because`."""
    made = recorder()
    if made is not None and value is not None:
        steps = [step for name in because for step in made.steps(mention) if step.field == name]
        words = ", ".join(dict.fromkeys(step.words for step in steps if step.words))
        made.add(mention, field, None, value, words, place_of(maker))


def note_each(mentions: Iterable[Any], field: str, maker: Callable[..., object]) -> None:
    """Records that a function takes mentions for something that is no finding of the study: "history", "question"."""
    if recorder() is not None:
        for mention in mentions:
            note(mention, field, True, maker, ())


def described(mention: Any, told: Mapping[str, Any]) -> None:
    """Records the fields that describe a mention, as they are in the end."""
    made = recorder()
    if made is not None:
        made.looked_at(mention, told, "", _where(sys._getframe(1)))


def built(finding: Finding, mention: Any) -> Finding:
    """Records that a finding is made of a mention; returns the finding."""
    made = recorder()
    if made is not None:
        frame = sys._getframe(1)
        made.finished.add(id(mention))
        made.steps(finding).extend(made.steps(mention))
        made.settle(finding, frame.f_back or frame)
        made.last_built = finding
    return finding


def _where(frame: FrameType) -> tuple[str, str]:
    """The name of a function, and its file with the line that runs."""
    while frame.f_code.co_name.startswith("<") and frame.f_back is not None:
        frame = frame.f_back
    module = str(frame.f_globals["__name__"]).rpartition(".")[2]
    return f"{module}.{frame.f_code.co_name}", f"{file_of(frame.f_code.co_filename)}:{frame.f_lineno}"


def place_of(maker: Any) -> tuple[str, str]:
    """The name of a function, and its file with the line where it begins."""
    code = maker.__code__
    return (
        f"{maker.__module__.rpartition('.')[2]}.{maker.__name__}",
        f"{file_of(code.co_filename)}:{code.co_firstlineno}",
    )


def file_of(path: str) -> str:
    """A file of the package, as its repository has it."""
    return "rrgmetrics" + path.replace("\\", "/").rpartition("rrgmetrics")[2]


def plain(field: str, value: Any) -> Any:
    """A value as a finding has it, so that both can be compared."""
    if field == "sides":
        sides = set(value or ()) - {"midline"}
        return None if not sides else "bilateral" if len(sides) > 1 else next(iter(sides))
    if isinstance(value, set):
        return frozenset(value)
    if field == "below" and not any(value or ()):
        return ()
    if field == "link":
        return value.concept if value is not None else None
    if isinstance(value, dict):
        return " ".join(f"{key}={_short(each)}" for key, each in value.items())
    return value


def _short(value: Any) -> str:
    return "|".join(map(str, value)) if isinstance(value, tuple | frozenset | set) else str(value)
