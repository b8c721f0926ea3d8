r"""Lines that describe one finding: "Finding: effusion\nSide: left", "Effusion:\n  left: small\n  right: none"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning import words
from rrgmetrics.reports.cleaning.edits import Edit, Step
from rrgmetrics.reports.cleaning.fields import describe
from rrgmetrics.reports.cleaning.headings import heading_names
from rrgmetrics.reports.cleaning.parsing import Value

_MARK = r"(?:[-*•][ \t]++)?"
_KEY = rf"(?:{'|'.join(sorted(words.KEYS, key=len, reverse=True))})".replace(" ", "[ _]")
_BELOW = rf"\n[ \t]*{_MARK}[*_]{{0,2}}(?:is[ _])?{_KEY}[*_]{{0,2}}[ \t]*:"
_RECORD = re.compile(
    rf"^[ \t]*(?P<record>(?P<mark>(?:[-*•]|\d{{1,2}}[.)])[ \t]+)?(?P<key>{'|'.join(sorted(words.NAMES))})"
    r"(?:[ _]?#?\d{1,2})?"
    rf"[ \t]*:[ \t]*(?!(?:no|not|none|without)\b)(?P<name>[A-Za-z\"'][^\n.;:]{{1,80}})\.?[ \t]{{0,8}}"
    rf"(?P<fields>(?:{_BELOW}[^\n]*)+))",
    re.IGNORECASE | re.MULTILINE,
)
_FIELD = re.compile(
    rf"^[ \t]*+(?P<lead>{_MARK}(?P<key>[A-Za-z_ ]*[A-Za-z_])[ \t]*:[ \t]*)(?P<value>[^\n]*)$", re.MULTILINE
)
_SIDE_BELOW = rf"\n[ \t]*{_MARK}(?:left|right|bilateral)[ \t]*:[ \t]*[^\s:]"
_SIDED = re.compile(
    rf"^[ \t]*{_MARK}(?P<name>[A-Za-z][A-Za-z_-]*(?: [A-Za-z-]+){{0,4}})[ \t]*:[ \t]*"
    rf"(?P<sides>(?:{_SIDE_BELOW}[^\n:]*(?=\n|\Z)){{1,3}})",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def value_of(text: str) -> Value:
    """The value behind a key, without quotation marks and full stop; a dash is none."""
    value = text.strip().rstrip(".").strip("\"'")
    return Value(0, 0, value.strip("-–—") and value, is_text=not _NUMBER.fullmatch(value))


def _records(text: str) -> Iterator[Edit]:
    """Finds the lines that describe one finding, the first of which names it."""
    for record in _RECORD.finditer(text):
        fields = _FIELD.finditer(text, *record.span("fields"))
        name = words.capitalised(record["name"].strip(" \t\"'"))
        statement = describe({words.spaced(each["key"]).lower(): value_of(each["value"]) for each in fields}, name)
        ends_indication = heading_names().get(record["key"].lower()) in ("findings", "impression")
        heading = f"{record['key'].capitalize()}: " if ends_indication else ""
        yield Edit(*record.span("record"), statement and ("- " if record["mark"] else "") + heading + statement)


def _sided(text: str) -> Iterator[Edit]:
    """Finds the lines below a name that describe one of its sides each."""
    for head in _SIDED.finditer(text):
        name = words.spaced(head["name"])
        if (
            name.lower() in words.SECTIONS
            or words.NO_NAME.search(name)
            or not words.SIDES.isdisjoint(name.lower().split())
        ):
            continue
        yield Edit(head.start("name"), head.start("sides"), "", 0)
        for line in _FIELD.finditer(text, *head.span("sides")):
            answer = words.answer_of(line["value"].strip(" \t.\"'"))
            says = answer != "unknown"
            yield Edit(*line.span("lead"), f"{line['key'].capitalize()} {words.uncapitalised(name)}: " if says else "")
            yield Edit(*line.span("value"), words.WRITTEN.get(answer, line["value"]) if says else "", 0)


RECORDS = (
    Step("field", "\n", _records, re.compile(_BELOW, re.IGNORECASE)),
    Step("field", "\n", _sided, re.compile(_SIDE_BELOW, re.IGNORECASE)),
)
