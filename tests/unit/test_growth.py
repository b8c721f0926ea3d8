"""Texts of three times the length cost three times the work: counted, as clocks are noisy.

Python's work is counted in lines that are executed (`sys.settrace`), that of regular expressions in the steps of a
backtracking search (`regex_steps`). What C code does within one call is not seen: `benchmarks/growth.py` has the clock.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable

import pytest
import regex_steps
from regex_steps import attacks, count_steps

from benchmarks.growth import NUMBERED, PIECES, repeated, some_numbered
from rrgmetrics.backends.crepe.alignment import counterparts, relate, words_of
from rrgmetrics.comparing import compare
from rrgmetrics.reading import read

TIMES = 3
MOST = 5.2  # times the work for three times the text; a quadratic cost gives 9
LEAST = 20_000  # lines; below, what is done once counts
# More than a sentence is read at once with (LONGEST_SENTENCE), and than words are counted in (EVERYWHERE): below, cost
# is quadratic.
PIECES_OF_TEXT, SENTENCES, FIRST = 450, 66, 121
CHOSEN = 24  # kinds a run, by the seed
READING = ("reports", "reading", "comparing", "labels")  # packages whose patterns are searched for in reports
ONCE = {  # patterns that are asked for at one place, or in a window of some characters
    "rrgmetrics.reports.cleaning.words._LAST_WORD",
    "rrgmetrics.reports.cleaning.answers._ASKED",
    "rrgmetrics.reports.cleaning.answers._BOTH",
    "rrgmetrics.reports.cleaning.below._MARK",
    "rrgmetrics.reports.cleaning.below._NEXT_ITEM",
    "rrgmetrics.reports.cleaning.below._NEXT_LINE",
    "rrgmetrics.reports.cleaning.boxes._HEADING",
    "rrgmetrics.reports.cleaning.boxes._LABEL",
    "rrgmetrics.reports.cleaning.boxes._LEAD",
    "rrgmetrics.reports.cleaning.control._ASKED",
    "rrgmetrics.reports.cleaning.lists._HEADING",
    "rrgmetrics.reports.cleaning.lists._PART",
    "rrgmetrics.reports.cleaning.lists._STATES",
    "rrgmetrics.reports.cleaning.lists._STRINGS",
    "rrgmetrics.reports.cleaning.markup._FRACTURE",
    "rrgmetrics.reports.cleaning.numbers._OPENS",
    "rrgmetrics.reports.cleaning.parsing._CLOSES",
    "rrgmetrics.reports.cleaning.parsing._COLON",
    "rrgmetrics.reports.cleaning.parsing._COMMA",
    "rrgmetrics.reports.cleaning.parsing._TOKEN",
    "rrgmetrics.reports.cleaning.tables._NAME",
    "rrgmetrics.reports.cleaning.tables._PAIR",
    "rrgmetrics.comparing.compare._WITH",
    "rrgmetrics.labels.graph_words._ADJECTIVE",
    "rrgmetrics.reading.line_breaks._HEADED",
    "rrgmetrics.reading.line_breaks._SIZE",
}


def count_lines(work: Callable[[], object]) -> int:
    """How many lines of Python some work executes."""
    lines = 0

    def trace(frame: object, event: str, argument: object) -> object:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def score(text: str) -> None:
    """Reads a text, compares it with itself, and sets its words beside themselves as CREPE does."""
    reading = read(text)
    compare(reading, reading)
    words = words_of(text, reading)
    relate(words, words, counterparts(reading, reading)[0])


def test_a_quadratic_cost_is_seen() -> None:
    def quadratic(n: int) -> None:
        for _ in range(n):
            sum(1 for _ in range(n))

    assert count_lines(lambda: quadratic(90)) > MOST * count_lines(lambda: quadratic(30))
    assert count_steps("-+>", 0, "-" * 90) > MOST * count_steps("-+>", 0, "-" * 30)
    assert count_steps("-(?<!--)-*>", 0, "-" * 90) < MOST * count_steps("-(?<!--)-*>", 0, "-" * 30)
    assert grows_too_fast("-+>", 0)
    assert not grows_too_fast("-(?<!--)-*>", 0)
    assert not grows_too_fast("-+>", 0, once=True)
    assert grows_too_fast("-+-+>", 0, once=True)


@pytest.mark.parametrize("kind", random.Random(35).sample(sorted(PIECES), CHOSEN))
def test_one_piece_over_and_over_costs_as_much_as_it_is_long(kind: str) -> None:
    texts = [repeated(PIECES[kind], PIECES_OF_TEXT * times) for times in (1, TIMES)]
    score(texts[0])
    short, long = (count_lines(lambda text=text: score(text)) for text in texts)  # type: ignore[misc]
    assert long <= MOST * max(short, LEAST), (short, long)


@pytest.mark.parametrize("kind", sorted(NUMBERED))
def test_many_different_sentences_cost_as_much_as_they_are_many(kind: str) -> None:
    texts = [some_numbered(NUMBERED[kind], SENTENCES * times, first=FIRST * times) for times in (1, TIMES)]
    score("Pneumonia follow-up. " + some_numbered(NUMBERED[kind], 9))  # makes what is made once
    short, long = (count_lines(lambda text=text: score(text)) for text in texts)  # type: ignore[misc]
    assert long <= MOST * max(short, LEAST), (short, long)


@pytest.mark.slow
def test_no_pattern_tries_again_from_every_place() -> None:
    command = [sys.executable, regex_steps.__file__, *(f"rrgmetrics.{each}" for each in READING)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert {name for *_, name in found} >= ONCE
    growing = {name: pattern[:80] for pattern, flags, name in found if grows_too_fast(pattern, flags, name in ONCE)}
    assert not growing


def grows_too_fast(pattern: str, flags: int, once: bool = False) -> bool:
    """Whether a search for a pattern, or one match at one place, costs more than in proportion to some text."""
    for short, long in zip(attacks(pattern, flags, 60), attacks(pattern, flags, 60 * TIMES), strict=True):
        steps = count_steps(pattern, flags, long, once=once)
        if steps > 30 * len(long) and steps > MOST * count_steps(pattern, flags, short, once=once):
            return True
    return False
