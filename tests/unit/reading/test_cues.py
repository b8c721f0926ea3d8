"""Every cue and every small word earns its place: without it a row of the tables of sentences is read otherwise."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from rrgmetrics.reading import parsed, read
from rrgmetrics.reading.lexicon import load, load_file
from rrgmetrics.reading.lexicon.build import forms_of, without_articles, words_of
from rrgmetrics.reading.pipeline import find_items
from rrgmetrics.reading.tokens import sentences, tokenize
from tests.unit.reading.test_sentences import ROWS, check

Node = dict[str, Any]
# Kinds of the comparison and of devices: the tables of change, of devices and of pairs show what they are for.
SHOWN_ELSEWHERE = frozenset({"earlier_study", "location_preposition", "nothing", "side_port"})
SMALL_WORDS = (  # the lists of denial and hedges
    *("alternatives", "contrasts", "list_joints", "judged", "then", "existing", "adverbs", "closing", "existent"),
    *("questions", "grounds", "conjunctions", "plural", "single"),
)
ADVICE = (
    "each form of a pattern needs a row that is read otherwise without it: add a sentence with each of these to "
    "tests/unit/reading/sentences/cues.tsv, or leave them out; a shorter cue or another form may do the same"
)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence is read anew: the lexicon changes under it."""
    monkeypatch.setattr(parsed, "_kept", lambda lexicon: OrderedDict())


@cache
def rows_of_senses() -> dict[int, list[int]]:
    """The rows in which a phrase of the lexicon stands, by the identity of its senses."""
    lexicon, rows = load(), dict[int, list[int]]()
    for number, (_, sentence, _) in enumerate(ROWS):
        tokens = tokenize(sentence, lexicon.words)
        for piece in sentences(sentence, tokens, lexicon.headings, lexicon.small.abbreviations):
            for item in find_items(tokens, piece.first, piece.last, lexicon):
                rows.setdefault(id(item.senses), []).append(number)
    return rows


def paths_of(cue: str) -> list[tuple[str, ...]]:
    """The words of a cue in all its forms, as the trie holds them."""
    lexicon = load()
    forms = forms_of(cue, load_file("spellings")["phrases"])
    return list(dict.fromkeys(tuple(without_articles(words_of(form, lexicon.words))) for form in forms))


def branch(words: tuple[str, ...]) -> list[Node]:
    """The nodes from the root of the trie to a phrase."""
    nodes = [load().trie]
    for word in words:
        nodes.append(nodes[-1][word])
    return nodes


@contextmanager
def without(kind: str, paths: list[tuple[str, ...]]) -> Iterator[None]:
    """The lexicon without one sense of some phrases, as if they did not stand in its file."""
    undo: list[tuple[Node, str, Any]] = []
    for words in paths:
        nodes = branch(words)
        rest = {key: value for key, value in nodes[-1][""].items() if key != kind}
        undo.append((nodes[-1], "", nodes[-1][""]))
        nodes[-1][""] = rest
        for k in range(len(words), -1, -1):
            word = words[k] if k < len(words) else ""
            if nodes[k][word]:
                break
            undo.append((nodes[k], word, nodes[k].pop(word)))
    try:
        yield
    finally:
        for node, word, before in reversed(undo):
            node[word] = before


def holds(number: int) -> bool:
    _, sentence, expected = ROWS[number]
    observations: dict[str, int] = {}
    try:
        reading = read(sentence)
        for part in expected.split(";"):
            check(part.strip(), reading, observations)
        assert len(set(observations.values())) == len(observations)
    except (AssertionError, KeyError):
        return False
    return True


def survives(kind: str, cue: str) -> bool:
    paths = paths_of(cue)
    senses = [branch(words)[-1][""] for words in paths]
    numbers = {number for each in senses for number in rows_of_senses().get(id(each), ())}
    with without(kind, paths):
        return all(holds(number) for number in sorted(numbers))


def small_word_survives(name: str, word: str) -> bool:
    lexicon = load()
    before = lexicon.small
    lexicon.small = replace(before, **{name: getattr(before, name) - {word}})
    lexicon.made.clear()  # context rules name lists of small words
    try:
        return all(holds(number) for number in rows_of_words().get(word, ()))
    finally:
        lexicon.small = before
        lexicon.made.clear()


@cache
def rows_of_words() -> dict[str, list[int]]:
    """The rows in which a word stands."""
    rows: dict[str, list[int]] = {}
    for number, (_, sentence, _) in enumerate(ROWS):
        for word in dict.fromkeys(token.word for token in tokenize(sentence, load().words)):
            rows.setdefault(word, []).append(number)
    return rows


@pytest.mark.parametrize("kind", [kind for kind in load_file("cues") if kind not in SHOWN_ELSEWHERE])
def test_without_a_cue_a_row_fails(kind: str) -> None:
    assert [cue for cue in load_file("cues")[kind] if survives(kind, cue)] == [], ADVICE


@pytest.mark.parametrize("name", SMALL_WORDS)
def test_without_a_small_word_a_row_fails(name: str) -> None:
    words = sorted(getattr(load().small, name) - {";"})  # which has context rules of its own
    assert [word for word in words if small_word_survives(name, word)] == [], ADVICE
