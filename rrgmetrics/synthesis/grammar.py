"""Sentence templates: `[a|b|]` chooses, `{slot}` is filled in, `<rule>` expands another rule.

A template is parsed once into tuples; expanding it is a walk over them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.utils.text_format import capitalized

_MARK = re.compile(r"[\[\]|{}<>]")
_SPACE_BEFORE = re.compile(r" +([.,;:)])")
_SPACES = re.compile(r" {2,}")


class Slot(NamedTuple):
    """A place to fill in."""

    name: str


class Rule(NamedTuple):
    """A reference to another rule."""

    name: str


class Choice(NamedTuple):
    """Alternatives, equally likely."""

    options: tuple[tuple[Any, ...], ...]


Template = tuple[Any, ...]
Rules = dict[str, tuple[Template, ...]]


def parse(text: str) -> Template:
    """Parses one template.

    >>> parse("[A|No] {np}.")
    (Choice(options=(('A',), ('No',))), ' ', Slot(name='np'), '.')

    Raises:
        InputError: A bracket is not closed.
    """
    template, rest = _sequence(text, 0)
    if rest != len(text):
        raise InputError(f"The template {text!r} has an extra bracket at character {rest}; remove it or open it.")
    return template


def _sequence(text: str, i: int) -> tuple[Template, int]:
    parts: list[Any] = []
    while i < len(text):
        m = _MARK.search(text, i)
        if m is None:
            parts.append(text[i:])
            return tuple(parts), len(text)
        if m.start() > i:
            parts.append(text[i : m.start()])
        i = m.start()
        if text[i] in "{<":
            closing = "}" if text[i] == "{" else ">"
            end = text.find(closing, i)
            if end < 0:
                raise InputError(f"The template {text!r} does not close {text[i]!r} at character {i}; add {closing!r}.")
            name = text[i + 1 : end].lower()
            parts.append(Slot(name) if closing == "}" else Rule(name))
            i = end + 1
        elif text[i] == "[":
            choice, i = _choice(text, i)
            parts.append(choice)
        else:
            break
    return tuple(parts), i


def _choice(text: str, i: int) -> tuple[Choice, int]:
    options = []
    while True:
        option, i = _sequence(text, i + 1)
        options.append(option)
        if i >= len(text) or text[i] not in "|]":
            raise InputError(f"The template {text!r} does not close a bracket; add ']'.")
        if text[i] == "]":
            return Choice(tuple(options)), i + 1


def parse_rules(table: Mapping[str, str | list[str]]) -> Rules:
    """Parses a table of rules; a rule is a block of lines or a list, one template each."""
    return {
        key: tuple(parse(line.strip()) for line in (value.splitlines() if isinstance(value, str) else value) if line)
        for key, value in table.items()
    }


def expand(template: Template, slots: Mapping[str, str], rules: Rules, rng: Random) -> str:
    """Returns a template in words.

    Raises:
        KeyError: The template names a slot or a rule that does not exist.
    """
    out: list[str] = []
    _expand(template, slots, rules, rng.random, out)
    return "".join(out)


def _expand(template: Template, slots: Mapping[str, str], rules: Rules, draw: Any, out: list[str]) -> None:
    for part in template:
        kind = type(part)
        if kind is str:
            out.append(part)
        elif kind is Slot:
            out.append(slots[part.name])
        elif kind is Choice:
            options = part.options
            _expand(options[int(draw() * len(options))], slots, rules, draw, out)
        else:
            options = rules[part.name]
            _expand(options[int(draw() * len(options))], slots, rules, draw, out)


def sentence(text: str) -> str:
    """Returns a text with one space between words, none before marks, and a capital at its start."""
    text = _SPACE_BEFORE.sub(r"\1", _SPACES.sub(" ", text)).strip()
    return capitalized(text)
