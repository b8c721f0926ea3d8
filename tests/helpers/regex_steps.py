"""How many steps a backtracking engine needs for a regular expression and a text: cost without a clock.

`count_steps` searches a text as `finditer` does and counts what is compared and what is tried again. It follows the
parse tree that Python's own engine is compiled from (`re._parser`), without the shortcuts of that engine, so that a
pattern may cost less than what is counted, and never grows faster. `attacks` makes of a pattern the texts on which it
has most to try again: what each unbounded repeat repeats, many times, with what stands before it and nothing behind.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
UNBOUNDED = 100  # times
SAMPLES = "a1 -.\n,A<[(*#:_|'>\t+/\\&;="
Then = Callable[[int], bool]
_IS: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdecimal,
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
}
_IS |= {
    codes.CATEGORY_NOT_DIGIT: lambda character: not _IS[codes.CATEGORY_DIGIT](character),
    codes.CATEGORY_NOT_SPACE: lambda character: not _IS[codes.CATEGORY_SPACE](character),
    codes.CATEGORY_NOT_WORD: lambda character: not _IS[codes.CATEGORY_WORD](character),
}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_WIDE = (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY)  # match one character


def is_match(op: Any, value: Any, character: str, flags: int) -> bool:
    """Whether one character is matched."""
    if op is codes.ANY:
        return bool(flags & re.DOTALL) or character != "\n"
    if flags & re.IGNORECASE and character.lower() != character.upper():
        plain = flags & ~re.IGNORECASE
        either = (is_match(op, value, each, plain) for each in (character.lower(), character.upper()))
        return all(either) if op is codes.NOT_LITERAL else any(either)
    if op is codes.LITERAL:
        return bool(ord(character) == value)
    if op is codes.NOT_LITERAL:
        return bool(ord(character) != value)
    negated = value[0][0] is codes.NEGATE
    return negated != any(_is_in(part, character) for part in value[negated:])


def _is_in(part: tuple[Any, Any], character: str) -> bool:
    op, value = part
    if op is codes.CATEGORY:
        return bool(_IS[value](character))
    first, last = value if op is codes.RANGE else (value, value)
    return bool(first <= ord(character) <= last)


class _Search:
    """A search in one text."""

    def __init__(self, text: str) -> None:
        self.text, self.steps = text, 0
        self.groups: dict[int, tuple[int, int]] = {}

    def run(self, ops: Sequence[Any], i: int, at: int, flags: int, then: Then) -> bool:
        """Matches the operations from the `i`-th on at a place, and what comes then."""
        while i < len(ops):
            self.steps += 1
            op, value = ops[i]
            if op in _WIDE:
                if at == len(self.text) or not is_match(op, value, self.text[at], flags):
                    return False
                at += 1
            elif op is codes.AT:
                if not self.is_at(value, at, flags):
                    return False
            elif op in (codes.ASSERT, codes.ASSERT_NOT):
                if self.asserts(value, at, flags) == (op is codes.ASSERT_NOT):
                    return False
            else:
                rest = partial(self.run, ops, i + 1, flags=flags, then=then)
                return self.branch(op, value, at, flags, rest)
            i += 1
        return then(at)

    def branch(self, op: Any, value: Any, at: int, flags: int, then: Then) -> bool:
        """Matches an operation that can be matched in several ways, and what comes then."""
        if op is codes.BRANCH:
            return any(self.run(each, 0, at, flags, then) for each in value[1])
        if op is codes.SUBPATTERN:
            number, added, removed, inner = value

            def close(end: int) -> bool:
                self.groups[number] = (at, end)
                return then(end)

            return self.run(inner, 0, at, (flags | added) & ~removed, close if number else then)
        if op in _REPEATS:
            return self.repeat(op, value, at, flags, then)
        if op is codes.ATOMIC_GROUP:
            end = self.first_end(value, at, flags)
            return end is not None and then(end)
        if op is codes.GROUPREF:
            start, end = self.groups.get(value, (0, 0))
            same = self.text[start:end]
            return self.text.startswith(same, at) and then(at + len(same))
        raise NotImplementedError(op)

    def first_end(self, ops: Sequence[Any], at: int, flags: int) -> int | None:
        """Returns where operations first end."""
        ends: list[int] = []
        return ends[0] if self.run(ops, 0, at, flags, lambda end: not ends.append(end)) else None  # type: ignore[func-returns-value]

    def repeat(self, op: Any, value: Any, at: int, flags: int, then: Then) -> bool:
        """Matches a repeat, and what comes then."""
        least, most, body = value
        if len(body) != 1 or body[0][0] not in _WIDE:
            return self.repeat_each(op, value, 0, at, flags, then)
        if op is codes.MIN_REPEAT:
            return self.lazily(value, at, flags, then)
        end = at
        while end < len(self.text) and end - at < most and is_match(body[0][0], body[0][1], self.text[end], flags):
            end += 1
            self.steps += 1
        if end - at < least:
            return False
        ends: Iterable[int] = range(end, at + least - 1, -1)
        if op is codes.POSSESSIVE_REPEAT:
            ends = (end,)
        return any(then(each) for each in ends)

    def lazily(self, value: Any, at: int, flags: int, then: Then) -> bool:
        """Matches a lazy repeat of one character, and what comes then."""
        least, most, body = value
        for n in range(min(most, len(self.text) - at) + 1):
            self.steps += 1
            if n >= least and then(at + n):
                return True
            if at + n == len(self.text) or not is_match(body[0][0], body[0][1], self.text[at + n], flags):
                return False
        return False

    def repeat_each(self, op: Any, value: Any, n: int, at: int, flags: int, then: Then) -> bool:
        """Matches a repeat of more than one character from its `n`-th time on."""
        least, most, body = value

        def again(end: int) -> bool:
            return (end > at or n < least) and self.repeat_each(op, value, n + 1, end, flags, then)

        self.steps += 1
        if op is codes.MIN_REPEAT:
            return (n >= least and then(at)) or (n < most and self.run(body, 0, at, flags, again))
        return (n < most and self.run(body, 0, at, flags, again)) or (n >= least and then(at))

    def asserts(self, value: Any, at: int, flags: int) -> bool:
        """Whether what is ahead, or behind, is as it is asked to be."""
        direction, ops = value
        if direction > 0:
            return self.run(ops, 0, at, flags, lambda end: True)
        start = at - ops.getwidth()[0]
        return start >= 0 and self.run(ops, 0, start, flags, lambda end: end == at)

    def is_at(self, place: Any, at: int, flags: int) -> bool:
        """Whether a place is where `^`, `$`, `\\b` and the like ask for."""
        text = self.text
        if place in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
            lines = place is codes.AT_BEGINNING and flags & re.MULTILINE
            return at == 0 or bool(lines and text[at - 1] == "\n")
        if place is codes.AT_END_STRING:
            return at == len(text)
        if place is codes.AT_END:
            return at == len(text) or (text[at] == "\n" and (bool(flags & re.MULTILINE) or at == len(text) - 1))
        words = [_IS[codes.CATEGORY_WORD](each) for each in (text[at - 1 : at] or " ", text[at : at + 1] or " ")]
        return (words[0] != words[1]) == (place is codes.AT_BOUNDARY)


def count_steps(pattern: str, flags: int, text: str, *, once: bool = False) -> int:
    """Returns the steps of `re.finditer(pattern, text, flags)`; `once`: of `re.match(pattern, text, flags)`."""
    tree = parser.parse(pattern, flags)
    search, at = _Search(text), 0
    while at <= len(text):
        end = search.first_end(tree, at, tree.state.flags)
        at = max(end, at + 1) if end is not None else at + 1
        if once or (len(tree) > 0 and tree[0] == (codes.AT, codes.AT_BEGINNING_STRING)):
            break
    return search.steps


def samples(ops: Iterable[Any], flags: int, n: int = 0) -> str:
    """Returns a text that operations match, if nothing is asked of what is around it; `n` chooses among several."""
    return "".join(_sample(op, value, flags, n) for op, value in ops)


def _sample(op: Any, value: Any, flags: int, n: int) -> str:
    if op is codes.LITERAL:
        return chr(value)
    if op in _WIDE:
        known = [each for each in SAMPLES if is_match(op, value, each, flags)]
        members = value if op is codes.IN else ()
        known += [chr(v if o is codes.LITERAL else v[0]) for o, v in members if o in (codes.LITERAL, codes.RANGE)]
        known = known or ["a"]
        return str(known[n % len(known)])
    if op is codes.BRANCH:
        return samples(value[1][n % len(value[1])], flags, n)
    if op is codes.SUBPATTERN:
        return samples(value[3], (flags | value[1]) & ~value[2], n)
    if op in _REPEATS:
        return samples(value[2], flags, n) * int(value[0])
    return samples(value, flags, n) if op is codes.ATOMIC_GROUP else ""


def _repeats(ops: Sequence[Any], flags: int, before: str) -> Iterator[tuple[str, Any]]:
    """Yields what stands before each unbounded repeat, and its body."""
    for op, value in ops:
        if op is codes.BRANCH:
            for each in value[1]:
                yield from _repeats(each, flags, before)
        elif op is codes.SUBPATTERN:
            yield from _repeats(value[3], flags, before)
        elif op in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(value[1], flags, before)
        elif op in _REPEATS:
            if value[1] > UNBOUNDED:
                yield before, value[2]
            yield from _repeats(value[2], flags, before)
        before += _sample(op, value, flags, 0)


def attacks(pattern: str, flags: int, times: int) -> Iterator[str]:
    """Yields texts in which a pattern has much to try again; those of two numbers of times are pairs."""
    tree = parser.parse(pattern, flags)
    flags = tree.state.flags
    seen = set()
    for before, body in _repeats(tree, flags, ""):
        for n in range(3):
            pump = samples(body, flags, n) or "a"
            for start, each in ((before, pump), (before, before + pump), ("a", pump)):
                if (start, each) not in seen:
                    seen.add((start, each))
                    yield start + each * times + "\0"


def patterns_of(packages: tuple[str, ...]) -> list[tuple[str, int, str]]:
    """What the modules of packages compile while they are imported, and the name that it has in its module."""
    found: dict[tuple[str, int], str] = {}
    compiled = re.compile

    def keep(pattern: str, flags: int = 0) -> re.Pattern[str]:
        module = sys._getframe(1).f_globals.get("__name__", "")
        if module.startswith("rrgmetrics") and isinstance(pattern, str):
            found.setdefault((pattern, int(flags)), module)
        return compiled(pattern, flags)

    re.compile = keep  # type: ignore[assignment]
    try:
        for package in packages:
            module = importlib.import_module(package)
            for each in pkgutil.walk_packages(module.__path__, f"{package}."):
                importlib.import_module(each.name)
    finally:
        re.compile = compiled
    names = {
        (value.pattern, module): f"{module}.{name}"
        for module in {*found.values()}
        for name, value in vars(sys.modules[module]).items()
        if isinstance(value, re.Pattern)
    }
    return [(*key, names.get((key[0], module), module)) for key, module in found.items()]


if __name__ == "__main__":  # a process of its own, in which nothing is imported yet
    sys.stdout.write(json.dumps(patterns_of(tuple(sys.argv[1:]))))
