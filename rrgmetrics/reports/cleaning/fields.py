r"""Fields of JSON, XML and YAML: each becomes a statement, '{"edema": false, "effusion": {"side": "left"}}' for one.

That is "Edema: none.\nLeft effusion.". What is inside one object describes one finding. Objects of texts alone, as
'{"findings": "...", "impression": "..."}', stay as they are. A field without a value (null) says nothing. Lines of
keys are such an object if the first names a finding and the next describe it: "Finding: effusion\nSide: left". Sides
below a name are statements of their own: "Effusion:\n  left: small\n  right: none".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rrgmetrics.reports.cleaning.answers import COUNTS, NO_NAME, SECTIONS
from rrgmetrics.reports.cleaning.edits import Edit, Step
from rrgmetrics.reports.cleaning.headings import heading_names
from rrgmetrics.reports.cleaning.markup import TAG_NAMES

_OPENING = re.compile(r"\{(?=\s*[\"'])|\[(?=\s*\{)")
_TOKEN = re.compile(
    r"\s*(?:(?P<opens>[{\[])|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<literal>-?\d+(?:\.\d+)?|true|false|null|none|nan)\b)",
    re.IGNORECASE | re.DOTALL,
)
_CLOSES, _COMMA, _COLON = re.compile(r"\s*[}\]]"), re.compile(r"\s*,|(?=\s*[}\]])"), re.compile(r"\s*:")
_ESCAPE = re.compile(r"\\([\"'/\\])")
_DEEPEST = 12  # objects inside each other; keeps the time linear
_TAG = re.compile(
    r"<(?P<closes>/?)(?P<name>[A-Za-z][\w.-]{1,50})(?P<fields>(?:\s+[\w.-]+=\"[^\"<>]*\")*)\s*(?P<alone>/?)>"
)
_ATTRIBUTE = re.compile(r"([\w.-]+)=\"([^\"]*)\"")
ANSWERS = {
    **dict.fromkeys(("no", "n", "absent", "none", "negative", "neg", "false", "0", "0.0", "nil", "excluded"), "no"),
    **dict.fromkeys(("not present", "not seen", "not detected", "not identified"), "no"),
    **dict.fromkeys(
        ("yes", "y", "present", "positive", "pos", "true", "1", "1.0", "seen", "detected", "definite"), "yes"
    ),
    **dict.fromkeys(("uncertain", "possible", "maybe", "equivocal", "indeterminate", "-1", "-1.0"), "possible"),
    **dict.fromkeys(("probable", "likely"), "likely"),
    **dict.fromkeys(("", "null", "nan", "n/a", "na", "unknown", "not mentioned", "not assessed", "blank"), "unknown"),
}
NAMES = frozenset("finding name label condition observation abnormality pathology diagnosis entity concept".split())
_PRESENCE = frozenset(
    "present presence exists status state value answer detected positive assertion certainty polarity".split()
)
_DEGREES = ("severity", "degree", "grade", "extent", "size")
DESCRIBING = (  # what is written before a finding, in this order
    *(*_DEGREES, "acuity", "laterality", "side"),
    *("location", "position", "site", "zone", "lobe", "region", "anatomy"),
)
_KEYS = _PRESENCE.union(  # what the lines below the name of a finding are of
    DESCRIBING,
    "size mm,size cm,diameter,dimensions,measurement,measurements,change,confidence,description,morphology".split(","),
)
_KEY = rf"(?:{'|'.join(sorted(_KEYS, key=len, reverse=True))})".replace(" ", "[ _]")
DESCRIBED_BELOW = rf"\n[ \t]*(?:[-*•][ \t]+)?[*_]{{0,2}}(?:is[ _])?{_KEY}[*_]{{0,2}}[ \t]*:"
_RECORD = re.compile(
    rf"^[ \t]*(?P<record>(?P<mark>(?:[-*•]|\d{{1,2}}[.)])[ \t]+)?(?P<key>{'|'.join(sorted(NAMES))})"
    r"(?:[ _]?#?\d{1,2})?"
    rf"[ \t]*:[ \t]*(?!(?:no|not|none|without)\b)(?P<name>[A-Za-z\"'][^\n.;:]{{1,80}})\.?[ \t]*"
    rf"(?P<fields>(?:{DESCRIBED_BELOW}[^\n]*)+))",
    re.IGNORECASE | re.MULTILINE,
)
_RECORD_FIELD = re.compile(r"^[ \t]*(?:[-*•][ \t]+)?(?P<key>[A-Za-z_ ]+?)[ \t]*:[ \t]*(?P<value>[^\n]*)$", re.MULTILINE)
SIDE_BELOW = r"\n[ \t]*(?:[-*•][ \t]+)?(?:left|right|bilateral)[ \t]*:[ \t]*[^\s:]"
_SIDED = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(?P<name>[A-Za-z][A-Za-z_-]*(?: [A-Za-z-]+){0,4})[ \t]*:[ \t]*"
    rf"(?P<sides>(?:{SIDE_BELOW}[^\n:]*(?=\n|\Z)){{1,3}})",
    re.IGNORECASE | re.MULTILINE,
)
_SIDE_LINE = re.compile(r"^[ \t]*(?P<line>(?:[-*•][ \t]+)?(?P<side>\w+)[ \t]*:[ \t]*)(?P<value>[^\n]*)$", re.MULTILINE)
_LINE = re.compile(r"[^\n]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NO_DEGREE = frozenset({"none", "no", "absent", "nil"})
_LEADS = re.compile(
    r"(?:tip|ends?|courses|projects|terminates|in|at|on|of|within|along|over|near|above|below)\b|\d", re.IGNORECASE
)
_SIDES = frozenset({"left", "right", "bilateral"})
_SIDE = re.compile(r"\b(?:left|right)\b", re.IGNORECASE)
_SIZE = re.compile(r".*\b([cm]m)\Z")


class _Value(NamedTuple):
    """A value at the characters `[start, end)`: a text, or an object's or list's fields."""

    start: int
    end: int
    text: str = ""
    fields: list[_Field] | None = None
    is_text: bool = False


class _Field(NamedTuple):
    """A named value; those of a list have no name. The name begins at `start`."""

    name: str
    start: int
    value: _Value


def _json(text: str, at: int, depth: int = 0) -> tuple[_Value, int] | None:
    """Parses the JSON, or Python's way to write it, that begins at a place; None if it is none."""
    token = _TOKEN.match(text, at)
    if token is None or depth > _DEEPEST:
        return None
    if token["text"]:
        start, end = token.start("text") + 1, token.end() - 1
        return _Value(start, end, text[start:end], is_text=True), token.end()
    if token["literal"]:
        literal = token["literal"].lower()
        return _Value(*token.span("literal"), "null" if literal == "none" else literal), token.end()
    fields: list[_Field] = []
    at = token.end()
    while not (closing := _CLOSES.match(text, at)):
        name, start = "", at
        if token["opens"] == "{":
            key = _TOKEN.match(text, at)
            colon = _COLON.match(text, key.end()) if key and key["text"] else None
            if key is None or colon is None:
                return None
            name, start, at = key["text"][1:-1], key.start("text"), colon.end()
        parsed = _json(text, at, depth + 1)
        comma = _COMMA.match(text, parsed[1]) if parsed else None
        if parsed is None or comma is None:
            return None
        fields.append(_Field(_words(name), start, parsed[0]))
        at = comma.end()
    return _Value(token.start("opens"), closing.end(), fields=fields), closing.end()


def _xml(text: str) -> Iterator[_Field]:
    """Finds the elements of XML that are no tags of HTML and no sections, outermost first."""
    opened: list[tuple[re.Match[str], list[_Field]]] = []
    for tag in _TAG.finditer(text):
        if tag["name"].lower() in TAG_NAMES:
            opened.clear()
            continue
        if not tag["closes"]:
            opened.append((tag, _attributes(tag)))
            if not tag["alone"]:
                continue
        elif not opened or opened[-1][0]["name"] != tag["name"]:
            opened.clear()
            continue
        first, fields = opened.pop()
        content = text[first.end() : tag.start()] if tag["closes"] else ""
        name = _words(first["name"])
        inner = _Value(first.end(), tag.start(), content, is_text=True)
        if fields and "<" not in content and content.strip():
            fields.append(_Field("name" if name in NAMES else "value", first.end(), inner))
        value = _Value(first.start(), tag.end(), fields=fields) if fields else inner
        field = _Field(name, first.start(), value)
        if opened:
            opened[-1][1].append(field)
        elif fields or content.strip().lower() in ANSWERS:
            yield field


def _attributes(tag: re.Match[str]) -> list[_Field]:
    at = tag.start("fields")
    return [
        _Field(_words(each[1]), at + each.start(), _Value(at + each.start(2), at + each.end(2), each[2], is_text=True))
        for each in _ATTRIBUTE.finditer(tag["fields"])
    ]


def _words(name: str) -> str:
    """The words of a name: "pleuralEffusion" and "pleural_effusion" are "pleural effusion"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").strip()


def _says_more(value: _Value) -> bool:
    """Whether a value holds more than texts and lists of texts."""
    if value.fields is None:
        return not value.is_text
    return _is_finding(value) or any(
        _answers_a_name(each) or _has_sides(each.name, each.value) or _says_more(each.value) for each in value.fields
    )


def _has_sides(name: str, value: _Value) -> bool:
    """Whether an object holds what is said of the sides of its name, which is no section."""
    names = {each.name.lower() for each in value.fields or ()}
    return bool(name) and name.lower() not in SECTIONS and bool(names) and names <= _SIDES


def _answers_a_name(field: _Field) -> bool:
    """Whether a text is "true" or the like, and no section."""
    return field.name.lower() not in SECTIONS and ANSWERS.get(field.value.text.strip().lower()) in ("no", "yes")


def _is_finding(value: _Value, name: str = "") -> bool:
    """Whether an object describes one finding, which it names or which its own name is."""
    if any(map(_holds_findings, value.fields or ())):
        return False
    names = {each.name.lower() for each in value.fields or () if each.value.fields is None}
    describes = not names.isdisjoint(_PRESENCE) or not names.isdisjoint(DESCRIBING)
    return bool(names & NAMES) or (bool(name) and name.lower() not in SECTIONS | NAMES and describes)


def _holds_findings(field: _Field) -> bool:
    """Whether a field is a section or has findings of its own."""
    inner = field.value.fields or ()
    names = {each.name.lower() for each in inner}
    is_nested = any(each.value.fields is not None for each in inner)
    return field.name.lower() in SECTIONS - NAMES or is_nested or not names.isdisjoint(_PRESENCE | NAMES)


def _flat(value: _Value) -> Iterator[tuple[str, _Value]]:
    """Yields the names and values of an object's fields, of lists and objects within too."""
    for each in value.fields or ():
        inner = each.value.fields
        if inner is None:
            yield each.name.lower(), each.value
        elif all(not item.name and item.value.is_text for item in inner):
            words = " and ".join(item.value.text for item in inner)
            yield each.name.lower(), each.value._replace(text=words, fields=None, is_text=True)
        else:
            yield from ((item.name.lower(), item.value) for item in inner)


def _statements(field: _Field, text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yields the characters that a statement came from, its words, and whether those lead to the characters."""
    name, value = field.name, field.value
    shown = name[:1].upper() + name[1:]
    if value.fields is None:
        answer = ANSWERS.get(value.text.strip().lower(), "")
        is_text = not answer or name.lower() in SECTIONS or (not name and value.is_text)
        if is_text and (value.is_text or _is_measure(value.text)):
            lead = f"{shown}: " if name and name.lower() not in NAMES else "- " if value.is_text else ""
            yield value.start, value.end, lead, True
        elif name and not is_text and (words := _stated(shown, answer)):
            yield field.start, value.end, words, False
    elif _is_finding(value, name):
        if words := _described(value, name):
            yield value.start, value.end, words, False
    else:
        is_list = text[value.start] == "["
        if name.lower() in SECTIONS:
            yield field.start, field.start, f"{shown}:", False
        side = _SIDE.search(name)
        has_sides = _has_sides(name, value)
        for each in value.fields:
            if is_list and name.lower() not in SECTIONS and each.value.fields is None:
                each = each._replace(name=name)
            elif has_sides:
                each = each._replace(name=f"{each.name} {_small(name)}")
            elif side and each.name:
                each = each._replace(name=f"{side[0]} {each.name}")
            yield from _statements(each, text)


def _is_measure(literal: str) -> bool:
    """Whether a literal is a number that is neither an answer nor a probability."""
    return literal not in ANSWERS and not 0 <= float(literal) <= 1


def _stated(name: str, answer: str) -> str:
    """A finding's name and whether it is there as a statement; "" if that says nothing."""
    if answer == "unknown" or name.lower().split()[-1] in COUNTS:
        return ""
    if name.lower().startswith("no "):
        return f"{name}." if answer == "yes" else ""
    return {"no": f"{name}: none.", "yes": f"{name}: present."}.get(answer, f"{answer.capitalize()} {_small(name)}.")


def _small(name: str) -> str:
    """A name with a small first letter, unless it is an abbreviation."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def _described(value: _Value, name: str) -> str:
    """The statement of an object that describes one finding; "" if it says nothing."""
    fields = dict(_flat(value))
    named = next((fields.pop(key).text for key in tuple(fields) if key in NAMES and fields[key].is_text), name).strip()
    answers = [ANSWERS[fields.pop(key).text.strip().lower()] for key in tuple(fields) if _answers(key, fields[key])]
    answers += ["no" for key in _DEGREES if key in fields and fields[key].text.strip().lower() in _NO_DEGREE]
    answer = next((each for each in ("no", "unknown", "possible", "likely") if each in answers), "yes")
    known = {key: each for key, each in fields.items() if each.text.strip().lower() not in ANSWERS}
    before = [known.pop(key).text.strip() for key in DESCRIBING if key in known and known[key].is_text]
    if answer == "unknown" or not named:
        return ""
    if answer == "no":
        return _stated(_joined([each for each in before if "left" in each or "right" in each], named), "no")
    behind = [each for each in before if _LEADS.match(each)]
    said = _joined([each for each in before if each not in behind], named)
    rest = [f"{each.text} {size[1]}" for key, each in known.items() if not each.is_text and (size := _SIZE.match(key))]
    rest += [each.text.strip() for each in known.values() if each.is_text]
    said = ", ".join((" ".join((said, *behind)), *rest))
    return _stated(said, answer) if answer != "yes" else said.rstrip(".") + "."


def _answers(key: str, value: _Value) -> bool:
    return key.removeprefix("is ") in _PRESENCE and value.text.strip().lower() in ANSWERS


def _joined(before: list[str], name: str) -> str:
    """The words before a finding and its name; a side that a place repeats is left out."""
    kept = [
        each for i, each in enumerate(before) if not any(each.lower() in other.lower() for other in before[i + 1 :])
    ]
    said = " ".join((*kept, _small(name) if kept else name))
    return said[:1].upper() + said[1:]


def _fields(text: str) -> Iterator[Edit]:
    """Finds the fields of JSON and XML that say more than texts."""
    at = 0
    while opening := _OPENING.search(text, at):
        at = opening.end()
        parsed = _json(text, opening.start())
        if parsed and _says_more(parsed[0]):
            at = parsed[1]
            yield from _edits(_Field("", opening.start(), parsed[0]), opening.start(), at, text)


def _elements(text: str) -> Iterator[Edit]:
    for field in _xml(text):
        value = field.value
        end = value.end if value.fields else text.index(">", value.end) + 1
        yield from _edits(field, field.start, end, text)


def _records(text: str) -> Iterator[Edit]:
    """Finds the lines that describe one finding, the first of which names it."""
    for record in _RECORD.finditer(text):
        fields = [
            _Field(_words(each["key"]), each.start("key"), _line_value(each["value"], each.start("value")))
            for each in _RECORD_FIELD.finditer(text, *record.span("fields"))
        ]
        name = record["name"].strip(" \t\"'")
        words = _described(_Value(*record.span("record"), fields=fields), name[:1].upper() + name[1:])
        is_heading = heading_names().get(record["key"].lower()) in (
            "findings",
            "impression",
        )  # which ends an indication
        lead = ("- " if record["mark"] else "") + (f"{record['key'].capitalize()}: " if is_heading else "")
        yield Edit(*record.span("record"), lead + words if words else "")


def _named_columns(text: str) -> Iterator[Edit]:
    """Finds the rows below a line whose cells, parted by tabs, name what a row says of its finding."""
    keys: list[str] = []
    end = 0
    for line in _LINE.finditer(text):
        cells = [cell.strip(' "') for cell in line[0].split("\t")]
        names = [_words(cell).lower().replace("(", "").replace(")", "") for cell in cells]
        is_next, end = line.start() == end + 1, line.end()
        if _are_columns(names):
            keys = names
            yield Edit(*line.span(), "")
        elif not is_next or not 1 < len(cells) <= len(keys):
            keys = []
        elif any(cell for key, cell in zip(keys, cells, strict=False) if key in NAMES):
            yield Edit(*line.span(), _row_statement(keys, cells, line))


def _are_columns(names: list[str]) -> bool:
    """Whether names of columns are one of a finding and others that describe it, or its sides."""
    others = {name for name in names if name not in NAMES}
    return 0 < len(others) == len(names) - 1 and (others <= _KEYS or others <= _SIDES)


def _row_statement(keys: list[str], cells: list[str], line: re.Match[str]) -> str:
    """The statement of a row of a table, or one for each side; "" if it says nothing."""
    fields = [
        _Field(key, line.start(), _line_value(cell, line.start())) for key, cell in zip(keys, cells, strict=False)
    ]
    if _SIDES.isdisjoint(keys):
        return _described(_Value(*line.span(), fields=fields), "")
    finding = next(field.value.text for field in fields if field.name in NAMES)
    said = [(f"{each.name.capitalize()} {_small(finding)}", each.value.text) for each in fields if each.name in _SIDES]
    stated = (
        _stated(name, ANSWERS[text.lower()]) if text.lower() in ANSWERS else f"{name}: {text}." for name, text in said
    )
    return "\n".join(filter(None, stated))


def _sided(text: str) -> Iterator[Edit]:
    """Finds the lines below a name that hold what is said of its sides."""
    for head in _SIDED.finditer(text):
        name = _words(head["name"].strip())
        if name.lower() in SECTIONS or NO_NAME.search(name) or _SIDE.search(name):
            continue
        yield Edit(head.start("name"), head.start("sides"), "", 0)
        for line in _SIDE_LINE.finditer(text, *head.span("sides")):
            answer = ANSWERS.get(line["value"].strip(" \t.\"'").lower())
            words = {"no": "none", "yes": "present"}.get(answer or "", line["value"])
            lead = f"{line['side'].capitalize()} {_small(name)}: "
            yield Edit(line.start("line"), line.start("value"), "" if answer == "unknown" else lead)
            yield Edit(*line.span("value"), "" if answer == "unknown" else words, 0)


def _line_value(text: str, at: int) -> _Value:
    """The value behind a key, without quotation marks and full stop; a dash is none."""
    value = text.strip().rstrip(".").strip("\"'")
    return _Value(at, at + len(text), value.strip("-–—") and value, is_text=not _NUMBER.fullmatch(value))


def _edits(field: _Field, at: int, last: int, text: str) -> Iterator[Edit]:
    """The edits that leave the statements of a field, which takes the characters up to `last`."""
    new = "" if not text[:at].strip() or text[at - 1] == "\n" else "\n"
    for start, end, words, leads in _statements(field, text):
        yield Edit(at, start, new + words if leads else new, int(leads))
        if leads:
            yield from (Edit(*each.span(), each[1], 0) for each in _ESCAPE.finditer(text, start, end))
            new = "\n" if text[start:end].rstrip()[-1:] in (*".!?:;",) else ".\n"
        else:
            yield Edit(start, end, words)
            new = "\n"
        at = end
    yield Edit(at, last, new, 0)


FIELDS = (
    Step("field", _fields, ("{",)),
    Step("field", _elements, ("</", "/>")),
)
RECORDS = (
    Step("field", _records, re.compile(DESCRIBED_BELOW, re.IGNORECASE)),
    Step("table row", _named_columns, ("\t",)),
    Step("field", _sided, re.compile(SIDE_BELOW, re.IGNORECASE)),
)
