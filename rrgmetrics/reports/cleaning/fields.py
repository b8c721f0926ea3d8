r"""Fields of JSON and XML: each becomes a statement, '{"edema": false, "effusion": {"side": "left"}}' for one.

That is "Edema: none.\nLeft effusion.". What is inside one object describes one finding. Sections are headings, texts of
other names stay as they are. A field without a value (null) says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from rrgmetrics.reports.cleaning import words
from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing
from rrgmetrics.reports.cleaning.parsing import Field, Value, json_values, xml_fields

_ESCAPE = re.compile(r"\\([\"'/\\])")
_LEADS = re.compile(
    r"(?:tip|ends?|courses|projects|terminates|in|at|on|of|within|along|over|near|above|below)\b|\d", re.IGNORECASE
)
_SIDE = re.compile(r"\b(?:left|right)\b", re.IGNORECASE)
_SECTION_LINE = re.compile(
    r'^(?P<before>"(?P<name>[A-Za-z]{4,20})": ?")(?P<text>(?:[^"\\\n]|\\.)*)(?P<behind>",?)[ \t]*$', re.MULTILINE
)
_ASSIGNED = (  # findings = "...", text = """
    rf"(?im)^[ \t]*(?:(?P<name>{'|'.join(sorted(words.SECTIONS, key=len, reverse=True))})|text|content)[ \t]*=[ \t]*"
    r"(?:\"{3}|'{3}|[\"'])\s*"
)
_UNIT = re.compile(r"\b([cm]m)\Z")


def describe(fields: dict[str, Value], name: str = "") -> str:
    """Returns the statement of what describes one finding, which it names or which is given; "" if it says nothing."""
    named = next(
        (fields.pop(key).text for key in tuple(fields) if key in words.NAMES and fields[key].is_text), name
    ).strip()
    answers = [fields.pop(key).answer for key in tuple(fields) if _answers(key, fields[key])]
    answers += ["no" for key in words.DEGREES if key in fields and fields[key].answer == "no"]
    answer = next((each for each in ("no", "unknown", "possible", "likely") if each in answers), "yes")
    known = {key: value for key, value in fields.items() if not value.answer}
    before = [known.pop(key).text.strip() for key in words.DESCRIBING if key in known and known[key].is_text]
    if answer == "unknown" or not named:
        return ""
    if answer == "no":
        return words.stated(_joined([each for each in before if "left" in each or "right" in each], named), "no")
    behind = [each for each in before if _LEADS.match(each)]
    rest = [
        f"{value.text} {unit[1]}" for key, value in known.items() if not value.is_text and (unit := _UNIT.search(key))
    ]
    rest += [value.text.strip() for value in known.values() if value.is_text]
    said = _joined([each for each in before if each not in behind], named)
    said = ", ".join((" ".join((said, *behind)), *rest))
    return words.stated(said, answer) if answer != "yes" else said.rstrip(".") + "."


def _answers(key: str, value: Value) -> bool:
    return key.removeprefix("is ") in words.PRESENCE and bool(value.answer)


def _joined(before: list[str], name: str) -> str:
    """The words before a finding and its name; a side that a place repeats is left out."""
    kept = [
        each for i, each in enumerate(before) if not any(each.lower() in later.lower() for later in before[i + 1 :])
    ]
    return words.capitalised(" ".join((*kept, words.uncapitalised(name) if kept else name)))


def _says_more(value: Value) -> bool:
    """Whether a value holds more than texts and lists of texts."""
    if value.fields is None:
        return not value.is_text
    return _is_finding(value) or any(
        (each.key not in words.SECTIONS and each.value.answer in ("no", "yes"))
        or _has_sides(each)
        or _says_more(each.value)
        for each in value.fields
    )


def _is_report(value: Value) -> bool:
    """Whether an object holds sections of a report, each a text or a list of texts."""
    return all(
        each.key in words.SECTIONS
        and all(not item.name and item.value.is_text for item in each.value.fields or (Field("", 0, each.value),))
        for each in value.fields or ()
    )


def _has_sides(field: Field) -> bool:
    """Whether an object holds what is said of the sides of its name, which is no section."""
    keys = {each.key for each in field.value.fields or ()}
    return bool(field.name and keys) and field.key not in words.SECTIONS and keys <= words.SIDES


def _is_finding(value: Value, name: str = "") -> bool:
    """Whether an object describes one finding, which it names or which its own name is."""
    if any(map(_holds_findings, value.fields or ())):
        return False
    keys = {each.key for each in value.fields or () if each.value.fields is None}
    named = (
        bool(name)
        and name.lower() not in words.SECTIONS | words.NAMES
        and not keys.isdisjoint(words.PRESENCE.union(words.DESCRIBING))
    )
    return named or not keys.isdisjoint(words.NAMES)


def _holds_findings(field: Field) -> bool:
    """Whether a field is a section or has findings of its own."""
    inner = field.value.fields or ()
    is_nested = any(each.value.fields is not None for each in inner)
    return (
        field.key in words.SECTIONS - words.NAMES
        or is_nested
        or any(each.key in words.PRESENCE | words.NAMES for each in inner)
    )


def _flat(value: Value) -> Iterator[tuple[str, Value]]:
    """Yields the keys and values of an object's fields, of lists and objects within too."""
    for each in value.fields or ():
        inner = each.value.fields
        if inner is None:
            yield each.key, each.value
        elif all(not item.name and item.value.is_text for item in inner):
            joined = " and ".join(item.value.text for item in inner)
            yield each.key, Value(each.value.start, each.value.end, joined, is_text=True)
        else:
            yield from ((item.key, item.value) for item in inner)


def _statements(field: Field, text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yields the characters that a statement came from, its words, and whether those lead to the characters."""
    name, value, shown = field.name, field.value, words.capitalised(field.name)
    is_section = field.key in words.SECTIONS
    if value.fields is None:
        if words.is_metadata(field.key):
            return
        is_text = not value.answer or is_section or (not name and value.is_text)
        if is_text and (value.is_text or _is_measure(value)):
            lead = f"{shown}: " if name and field.key not in words.NAMES else "- " if value.is_text else ""
            yield value.start, value.end, lead, True
        elif name and not is_text and (statement := words.stated(shown, value.answer)):
            yield field.start, value.end, statement, False
    elif _is_finding(value, name):
        if statement := describe(dict(_flat(value)), name):
            yield value.start, value.end, statement, False
    else:
        if is_section:
            yield field.start, field.start, f"{shown}:", False
        side = _SIDE.search(name)
        for each in value.fields:
            if text[value.start] == "[" and not is_section and each.value.fields is None:
                each = each._replace(name=name)
            elif _has_sides(field):
                each = each._replace(name=f"{each.name} {words.uncapitalised(name)}")
            elif side and each.name:
                each = each._replace(name=f"{side[0]} {each.name}")
            yield from _statements(each, text)


def _is_measure(value: Value) -> bool:
    """Whether a literal is a number that is neither an answer nor a probability."""
    return not value.answer and not 0 <= float(value.text) <= 1


def _edits(field: Field, at: int, last: int, text: str) -> Iterator[Edit]:
    """The edits that leave the statements of a field, which takes the characters up to `last`."""
    new = "" if not text[:at].strip() or text[at - 1] == "\n" else "\n"
    for start, end, statement, leads in _statements(field, text):
        yield Edit(at, start, new + statement if leads else new, int(leads))
        if leads:
            yield from (Edit(*each.span(), each[1], 0) for each in _ESCAPE.finditer(text, start, end))
            new = "\n" if text[start:end].rstrip()[-1:] in (*".!?:;",) else ".\n"
        else:
            yield Edit(start, end, statement)
            new = "\n"
        at = end
    yield Edit(at, last, new, 0)


def _json(text: str) -> Iterator[Edit]:
    for value in json_values(text):
        keys: Container[str] = words.CALLED if text[value.start] not in "{[" else ()
        keys = next((words.ENVELOPES[each.key] for each in value.fields or () if each.key in words.ENVELOPES), keys)
        if keys:
            value = value._replace(fields=list(_inner_texts(value, keys)))
        if keys or _says_more(value) or _is_report(value):
            yield from _edits(Field("", value.start, value), value.start, value.end, text)


def _inner_texts(value: Value, keys: Container[str]) -> Iterator[Field]:
    """Yields the texts with one of the keys anywhere in a value; only sections keep their name."""
    for each in value.fields or ():
        if each.key in keys and (each.value.is_text or all(one.value.is_text for one in each.value.fields or (each,))):
            yield each if each.key in words.SECTIONS else each._replace(name="")
        else:
            yield from _inner_texts(each.value, keys)


def _xml(text: str) -> Iterator[Edit]:
    for field in xml_fields(text):
        value = field.value
        end = value.end if value.fields else text.index(">", value.end) + 1
        yield from _edits(field, field.start, end, text)


def _cut_json(text: str) -> Iterator[Edit]:
    """Finds the sections of an object whose braces are cut off, a line each: '"findings": "No edema.",'."""
    for line in _SECTION_LINE.finditer(text):
        if line["name"].lower() in words.SECTIONS:
            yield Edit(line.start("before"), line.start("text"), f"{line['name'].capitalize()}: ")
            yield from (Edit(*each.span(), each[1], 0) for each in _ESCAPE.finditer(text, *line.span("text")))
            yield Edit(*line.span("behind"), "", 0)


def _assigned(match: re.Match[str]) -> str:
    return f"{match['name'].capitalize()}: " if match["name"] else ""


FIELDS = (
    replacing("field", "=", _ASSIGNED, _assigned),
    replacing("field", ('"""', "'''"), r"(?m)(?:\"\"\"|''')[ \t]*$"),
    Step("field", ("{", "='", '="', "=["), _json),
    Step("field", "<", _xml),
    Step("field", ('": "', '":"'), _cut_json),
)
