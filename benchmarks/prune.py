"""What each rule of the reader pays: it is turned off, and pairs are read and compared without it.

    python benchmarks/prune.py --totals                    # the totals on the frozen set
    python benchmarks/prune.py                             # what each rule pays there, those that act seldom first
    python benchmarks/prune.py --set development --set weak --at-most 5

The frozen set (`frozen/pairs.jsonl`) was written by writers who did not know the reader. Nobody reads it or repairs
the reader by it, and only totals are printed; `FROZEN` holds its checksum. A rule that pays nothing there, nor on the
unread sets of voices.py, holds up only the rows that it was written from: remove it with them.

A rule is a function of `reading` or `comparing`, a list of `small_words.yaml`, a family of `cues.yaml`, or a row of
`context_rules.yaml`. A function is turned off by the answer that it gives most often; a step that changes items or
mentions in place does nothing, one that returns them returns those it was given. It acts in a pair if it gives another
answer there.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import json
import pkgutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import voices
from golden import is_unread
from voices import Row

import rrgmetrics.comparing
import rrgmetrics.reading
from rrgmetrics.comparing import ReportComparison, compare
from rrgmetrics.errors import InputError
from rrgmetrics.reading import Reading, read
from rrgmetrics.reading.context_rules import all_rules
from rrgmetrics.reading.lexicon import load, load_file
from rrgmetrics.reading.parsed import _kept
from rrgmetrics.reports import Context, parse_context

HERE = Path(__file__).parent
FROZEN_PAIRS = HERE / "frozen" / "pairs.jsonl"
FROZEN = "a0f03c600387b058882aff1aadc33b7c1857500dcf48ca19f01762b973886a00"
PACKS = ("chest_xray", "chest_ct")
PACKAGES = (rrgmetrics.reading, rrgmetrics.comparing)
NO_RULES = ("lexicon", "recording", "trace", "trace_text", "reader", "pipeline")
LISTS = ("list[Item]", "list[Mention]", "list[Finding]")  # a step that returns one may return the one it was given
EMPTY: dict[str, Any] = {"list": [], "set": set(), "dict": {}, "tuple": (), "frozenset": frozenset(), "Iterator": ()}


class Outcome(NamedTuple):
    """What became of a pair.

    Attributes:
        exact: Whether the number of errors is right.
        kinds: Whether their kinds are.
        off: By how much the number is not.
        read: Both readings.
    """

    exact: bool
    kinds: bool
    off: int
    read: tuple[Reading, Reading]


class Rule(NamedTuple):
    """A rule that can be turned off.

    Attributes:
        name: Its module and function, or its list or family of words.
        lines: How long its function is; 0 for words.
        off: Turns it off until a block ends.
        acts: The pairs in which it does something.
    """

    name: str
    lines: int
    off: Callable[[], Any]
    acts: Sequence[int]


class Cost(NamedTuple):
    """What differs without a rule.

    Attributes:
        read: Pairs of which a report is read otherwise.
        exact: Pairs whose number of errors is right, less those before.
        kinds: Pairs whose kinds of errors are right, less those before.
        off: The sum of what the numbers are off by, less that before.
    """

    read: int
    exact: int
    kinds: int
    off: int


def frozen_pairs() -> list[Row]:
    """The frozen set; raises ValueError if it is not the one that was frozen."""
    content = FROZEN_PAIRS.read_bytes()
    if hashlib.sha256(content).hexdigest() != FROZEN:
        raise ValueError(f"{FROZEN_PAIRS} is not what it was; restore it.")
    return [json.loads(line) for line in content.decode().splitlines()]


def chosen_pairs(name: str) -> list[Row]:
    """The pairs of a set: "frozen", "unread" (those of voices.py), or one of voices.py that was read."""
    if name == "frozen":
        return frozen_pairs()
    return [row for row in voices.load("pairs") if ("unread" if is_unread(row, rankings=False) else row["set"]) == name]


def context(row: Row) -> Context:
    """The patient of a pair; an age that is written otherwise than we can read it is left out."""
    given = voices.context(row)
    try:
        return parse_context(given)
    except InputError:
        return parse_context({**given, "age": ""})


def compared(row: Row) -> tuple[ReportComparison, tuple[Reading, Reading]]:
    """Reads and compares a pair."""
    reference = read(row["reference"], row.get("modality", "auto"))
    candidate = read(row["candidate"], reference.pack)
    return compare(reference, candidate, context(row)), (reference, candidate)


def outcome(row: Row) -> Outcome:
    """Compares a pair, and holds it against what is expected."""
    comparison, readings = compared(row)
    got = voices.counts(comparison)
    off = sum(got.values()) - sum(row["expected"].values())
    return Outcome(off == 0, got == row["expected"], abs(off), readings)


def forget_sentences() -> None:
    """Forgets every sentence that was read, so that it is read anew."""
    for pack in PACKS:
        _kept(load(pack)).clear()


def forget() -> None:
    """Forgets the sentences, and whatever was made of the lexicon."""
    for pack in PACKS:
        load(pack).made.clear()


def functions() -> Iterator[tuple[str, FunctionType]]:
    """Yields every function and method of the reader and of comparing that can be turned off, with its name."""
    for package in PACKAGES:
        for found in pkgutil.iter_modules(package.__path__):
            if found.name not in NO_RULES:
                module = importlib.import_module(f"{package.__name__}.{found.name}")
                yield from functions_of(module, module, found.name)


def functions_of(holder: Any, module: ModuleType, name: str) -> Iterator[tuple[str, FunctionType]]:
    """Yields the functions that a module defines, and those of its classes."""
    for key, value in vars(holder).items():
        if isinstance(value, property):
            value = value.fget
        value = inspect.unwrap(value) if callable(value) else value
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from functions_of(value, module, f"{name}.{key}")
        elif (
            isinstance(value, FunctionType)
            and value.__module__ == module.__name__
            and not (value.__code__.co_freevars or key.startswith("__"))
        ):
            yield f"{name}.{key}", value


def observe(rows: Sequence[Row], codes: Iterable[CodeType]) -> dict[CodeType, list[Counter[Any]]]:
    """Counts what each function answers in each pair."""
    answers = {code: [Counter[Any]() for _ in rows] for code in codes}
    for k, row in enumerate(rows):
        forget_sentences()
        sys.setprofile(partial(count_answer, {code: counters[k] for code, counters in answers.items()}))
        try:
            compared(row)
        finally:
            sys.setprofile(None)
    return answers


def count_answer(counters: Mapping[CodeType, Counter[Any]], frame: FrameType, event: str, answer: object) -> None:
    """Counts what a function returns: a plain value with its type, of another whether it is empty."""
    if event == "return" and frame.f_code in counters:
        plain = answer is None or isinstance(answer, bool | int | float | str)
        counters[frame.f_code][(type(answer), answer) if plain else bool(answer)] += 1


def function_rules(rows: Sequence[Row]) -> Iterator[Rule]:
    """Yields the functions that can be turned off, with the pairs in which they act."""
    all_functions = dict(functions())
    seen = observe(rows, (function.__code__ for function in all_functions.values()))
    for name, function in all_functions.items():
        answers = seen[function.__code__]
        usual = sum(answers, Counter()).most_common(1)
        lines = len(inspect.getsourcelines(function)[0])
        neutral = neutral_answer(function, usual[0][0] if usual else None)
        if neutral is not None:
            made, quiet = neutral
            acts = [k for k, each in enumerate(answers) if set(each) - {quiet}]
            yield Rule(name, lines, lambda f=function, m=made: answering(f, m), acts)  # type: ignore[misc]


def neutral_answer(function: FunctionType, usual: Any) -> tuple[Callable[..., Any], Any] | None:
    """What a function answers when it is turned off, and how `observe` counts that; None if it cannot be."""
    returns = str(function.__annotations__.get("return", ""))
    parameters = list(function.__annotations__)
    if returns in LISTS:
        if returns in [function.__annotations__[name] for name in parameters[:-1]]:
            place = inspect.getfullargspec(function).args.index(
                next(name for name in parameters if function.__annotations__[name] == returns)
            )
            return eval(f"lambda *given, **_: given[{place}]"), ...
        return eval("lambda *_, **__: []"), False
    if returns == "None":
        return eval("lambda *_, **__: None"), ...
    if isinstance(usual, tuple):
        return eval(f"lambda *_, **__: {usual[1]!r}"), usual
    kind = returns.partition("[")[0]
    return (eval(f"lambda *_, **__: {EMPTY[kind]!r}"), False) if kind in EMPTY else None


@contextmanager
def answering(function: FunctionType, made: FunctionType) -> Iterator[None]:
    """Puts one function in the place of another, wherever that was imported, until the block ends."""
    code = function.__code__
    function.__code__ = made.__code__
    try:
        yield
    finally:
        function.__code__ = code


def word_rules(rows: Sequence[Row]) -> Iterator[Rule]:
    """Yields the lists of small words, the families of cues and the context rules."""
    everywhere = range(len(rows))
    for field in fields(load().small):
        yield Rule(f"small_words.{field.name}", 0, lambda name=field.name: without_words(name), everywhere)  # type: ignore[misc]
    for family in load_file("cues"):
        yield Rule(f"cues.{family}", 0, lambda name=family: without_cues(name), everywhere)  # type: ignore[misc]
    for rule in all_rules(load()):
        yield Rule(f"context_rules.{rule.id}", 0, lambda name=rule.id: without_context_rule(name), everywhere)  # type: ignore[misc]


@contextmanager
def without_context_rule(name: str) -> Iterator[None]:
    """Leaves a context rule out until the block ends."""
    kept = [(lexicon, lexicon.context_rules) for lexicon in map(load, PACKS)]
    for lexicon, rules in kept:
        lexicon.context_rules = {stage: [row for row in rows if row["id"] != name] for stage, rows in rules.items()}
    try:
        yield
    finally:
        for lexicon, rules in kept:
            lexicon.context_rules = rules


@contextmanager
def without_words(name: str) -> Iterator[None]:
    """Empties a list of small words until the block ends."""
    kept = [(lexicon, lexicon.small) for lexicon in map(load, PACKS)]
    for lexicon, small in kept:
        lexicon.small = replace(small, **{name: frozenset()})
    try:
        yield
    finally:
        for lexicon, small in kept:
            lexicon.small = small


@contextmanager
def without_cues(name: str) -> Iterator[None]:
    """Takes a family of cues out of the terms until the block ends."""
    taken = [(senses, senses.pop(name)) for pack in PACKS for senses in all_senses(load(pack).trie) if name in senses]
    try:
        yield
    finally:
        for senses, value in taken:
            senses[name] = value


def all_senses(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the senses of every term of a lexicon."""
    for word, below in node.items():
        if word:
            yield from all_senses(below)
        else:
            yield below


def cost(rule: Rule, rows: Sequence[Row], before: Sequence[Outcome]) -> Cost | None:
    """What differs without a rule; None if nothing can be read without it."""
    forget()
    try:
        with rule.off():
            after = {k: outcome(rows[k]) for k in rule.acts}
    except Exception:  # whatever a function does without another's answer, it needs it
        return None
    finally:
        forget()
    return Cost(
        sum(each.read != before[k].read for k, each in after.items()),
        sum(each.exact - before[k].exact for k, each in after.items()),
        sum(each.kinds - before[k].kinds for k, each in after.items()),
        sum(each.off - before[k].off for k, each in after.items()),
    )


def total_line(name: str, outcomes: Sequence[Outcome]) -> str:
    """The totals of a set."""
    n = len(outcomes)
    exact, kinds = sum(each.exact for each in outcomes), sum(each.kinds for each in outcomes)
    off = sum(each.off for each in outcomes)
    return f"{name:12} n={n} exact {exact / n:.1%} kinds {kinds / n:.1%} mean absolute error {off / n:.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the totals, and what each rule pays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", help="frozen (if none is named), unread, or a set of voices.py")
    parser.add_argument("--totals", action="store_true", help="turn nothing off")
    parser.add_argument("--at-most", type=int, default=None, metavar="N", help="leave out what acts in more pairs")
    options = parser.parse_args(arguments)
    by_set = {name: chosen_pairs(name) for name in options.set or ["frozen"]}
    rows = [row for each in by_set.values() for row in each]
    before = [outcome(row) for row in rows]
    first = 0
    for name, each in by_set.items():
        print(total_line(name, before[first : first + len(each)]))
        first += len(each)
    if options.totals:
        return
    rules = sorted([*function_rules(rows), *word_rules(rows)], key=lambda rule: (len(rule.acts), rule.name))
    print(f"{'rule':60} {'lines':>5} {'acts':>5} {'read':>5} {'exact':>5} {'kinds':>5} {'off':>4}")
    for rule in rules:
        if options.at_most is None or len(rule.acts) <= options.at_most:
            paid = cost(rule, rows, before)
            numbers = f"{paid.read:5} {paid.exact:+5} {paid.kinds:+5} {paid.off:+4}" if paid else "needed"
            print(f"{rule.name:60} {rule.lines:5} {len(rule.acts):5} {numbers}", flush=True)


if __name__ == "__main__":
    main()
