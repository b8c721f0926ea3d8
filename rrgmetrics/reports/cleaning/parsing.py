"""Parses JSON, Python's way to write it, and XML into named values that know their places in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rrgmetrics.reports.cleaning.markup import TAG_NAMES
from rrgmetrics.reports.cleaning.words import KEYS, NAMES, SECTIONS, answer_of, spaced

_CALL = r"[A-Za-z_][\w.]{0,60}\((?=\s*[a-z_]{1,40}\s*=\s*[\"'\[\w-])"
_OPENING = re.compile(rf"\{{(?=\s*[\"'])|\[(?=\s*\{{)|\b{_CALL}")
_ARGUMENT = re.compile(r"\s{0,40}([a-z_]{1,40})\s{0,4}=")
_TOKEN = re.compile(
    rf"\s*(?:(?P<opens>[{{\[]|{_CALL})|"
    r"(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<literal>-?\d+(?:\.\d+)?|true|false|null|none|nan)\b)",
    re.IGNORECASE | re.DOTALL,
)
_CLOSES, _COMMA, _COLON = re.compile(r"\s*[}\])]"), re.compile(r"\s*,|(?=\s*[}\])])"), re.compile(r"\s*:")
_DEEPEST = 12  # objects inside each other; keeps the time linear
_TAG = re.compile(
    r"<(?P<closes>/?)(?P<name>[A-Za-z][\w.-]{1,50})(?P<fields>(?:\s+[\w.-]+=\"[^\"<>]*\")*)\s*(?P<alone>/?)>"
)
_SHORTEST_LABEL, _LONGEST_ANSWER = 4, 5  # letters, words
_NO_LABELS = frozenset(
    "object phrase sentence entity region token paragraph content summary observation record element segment".split()
)
_ATTRIBUTE = re.compile(r"(?<=\s)([\w.-]+)=\"([^\"]*)\"")


class Value(NamedTuple):
    """A value at the characters `[start, end)`: a text or literal, or an object's or list's fields."""

    start: int
    end: int
    text: str = ""
    fields: list[Field] | None = None
    is_text: bool = False

    @property
    def answer(self) -> str:
        """Which answer the text is; "" for no answer."""
        return answer_of(self.text) if self.fields is None else ""


class Field(NamedTuple):
    """A named value; those of a list have no name. The name begins at `start`."""

    name: str
    start: int
    value: Value

    @property
    def key(self) -> str:
        """The name in small letters."""
        return self.name.lower()


def json_values(text: str) -> Iterator[Value]:
    """Yields the outermost objects, and lists of objects, of JSON."""
    at = 0
    while opening := _OPENING.search(text, at):
        parsed = _json(text, opening.start())
        at = parsed.end if parsed else opening.end()
        if parsed:
            yield parsed


def _json(text: str, at: int, depth: int = 0) -> Value | None:
    """Parses what begins at a place; None if it is no JSON. A text's place is with its quotation marks."""
    token = _TOKEN.match(text, at)
    if token is None or depth > _DEEPEST:
        return None
    if token["text"]:
        return Value(*token.span("text"), token["text"][1:-1], is_text=True)
    if token["literal"]:
        literal = token["literal"].lower()
        return Value(*token.span("literal"), "null" if literal == "none" else literal)
    fields: list[Field] = []
    at = token.end()
    while not (closing := _CLOSES.match(text, at)):
        name, start = "", at
        if token["opens"] == "{":
            key = _json(text, at, _DEEPEST)
            colon = _COLON.match(text, key.end) if key and key.is_text else None
            if key is None or colon is None:
                return None
            name, start, at = key.text, key.start, colon.end()
        elif token["opens"] != "[":
            argument = _ARGUMENT.match(text, at)
            if argument is None:
                return None
            name, start, at = argument[1], argument.start(1), argument.end()
        value = _json(text, at, depth + 1)
        comma = _COMMA.match(text, value.end) if value else None
        if value is None or comma is None:
            return None
        fields.append(Field(spaced(name), start, _without_quotes(value)))
        at = comma.end()
    return Value(token.start("opens"), closing.end(), fields=fields)


def _without_quotes(value: Value) -> Value:
    return value._replace(start=value.start + 1, end=value.end - 1) if value.is_text else value


def xml_fields(text: str) -> Iterator[Field]:
    """Yields the elements of XML that are no tags of HTML and no sections, and say more than texts, outermost first."""
    opened: list[tuple[re.Match[str], list[Field]]] = []
    for tag in _TAG.finditer(text):
        is_end = bool(tag["closes"])
        if tag["name"].lower() in TAG_NAMES or (is_end and (not opened or opened[-1][0]["name"] != tag["name"])):
            opened.clear()
            continue
        if not is_end:
            opened.append((tag, _attributes(tag)))
            if not tag["alone"]:
                continue
        first, fields = opened.pop()
        name = spaced(first["name"])
        inner = Value(first.end(), tag.start(), text[first.end() : tag.start()] if is_end else "", is_text=True)
        section = next((each.value.text for each in fields if each.value.text.lower() in SECTIONS), "")
        if section and inner.text.strip():  # '<AbstractText Label="FINDINGS">No edema.</AbstractText>'
            name, fields = section, []
        elif fields and "<" not in inner.text and inner.text.strip():
            if KEYS.isdisjoint(each.key for each in fields):
                fields = []  # they say nothing of the finding: '<sent id="3">No edema.</sent>'
            else:
                fields.append(Field("name" if name in NAMES else "value", first.end(), inner))
        field = Field(name, first.start(), Value(first.start(), tag.end(), fields=fields) if fields else inner)
        if opened:
            opened[-1][1].append(field)
        elif fields or section or inner.answer or (is_end and _is_label(first, tag, text)):
            yield field


def _is_label(first: re.Match[str], last: re.Match[str], text: str) -> bool:
    """Whether an element names what its few words describe: "<pleural_effusion>small left</pleural_effusion>"."""
    said = text[first.end() : last.start()].split()
    is_alone = text[: first.start()].rstrip()[-1:] in ("", ">") and text[last.end() :].lstrip()[:1] in ("", "<")
    is_named = len(first["name"]) > _SHORTEST_LABEL and first["name"].lower() not in _NO_LABELS | NAMES
    return (
        is_alone and is_named and 0 < len(said) <= _LONGEST_ANSWER and not first["fields"] and said[-1][-1] not in ".!?"
    )


def _attributes(tag: re.Match[str]) -> list[Field]:
    at = tag.start("fields")
    return [
        Field(spaced(each[1]), at + each.start(), Value(at + each.start(2), at + each.end(2), each[2], is_text=True))
        for each in _ATTRIBUTE.finditer(tag["fields"])
    ]
