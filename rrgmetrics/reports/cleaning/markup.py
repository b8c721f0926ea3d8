r"""HTML and Markdown: tags become Markdown, and Markdown becomes lines, headings with a colon and list items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

# What a tag leaves. A name that is not here is no tag of HTML: "<DATE>" is a mark of de-identification.
_TAGS = {
    **dict.fromkeys(("br", "p", "div", "ul", "ol", "table", "tbody", "thead", "section", "article", "pre"), "\n"),
    **dict.fromkeys(("html", "body", "head", "title", "center", "header", "footer", "main", "blockquote", "dl"), "\n"),
    **dict.fromkeys(("span", "i", "u", "em", "font", "a", "code", "sub", "sup", "small", "mark", "label", "o:p"), ""),
    **dict.fromkeys(("answer", "report", "output", "response", "result", "final_answer", "final_report"), "\n"),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "\n## "),
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("li", "dt"), "\n- "),
    "dd": ": ",
    "hr": "\n\n",
    "tr": "\n",
    "td": "|",
    "th": "|",
}
_SECTIONS = ("findings", "impression", "indication", "comparison", "technique", "history", "conclusion")
TAG_NAMES = frozenset((*_TAGS, *_SECTIONS))
_CLOSED = {**dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "\n"), **dict.fromkeys(("td", "th", "li", "dd"), "")}
_NAMES = "|".join(sorted(map(re.escape, TAG_NAMES), key=len, reverse=True))
_TAG = rf"<(/?)({_NAMES})(?:\s[^<>]{{0,300}}|\s?/)?>"
_ROW = re.compile(r"^[ \t]*\|(.*)$", re.MULTILINE)
_CUT = re.compile(r"[^|]+")
_TEXT = re.compile(r"\S")
_COUNTED = re.compile(r"#?\d{1,2}[.)]?")  # the first cell of a row that is numbered
_NUMBERS = frozenset({"no", "no.", "nr", "nr.", "number", "id", "item", "index", "row", "n"})
_UNIT = re.compile(r"\b([cm]m)\b")
_SIDE = re.compile(r"(left|right|bilateral)(?: (?:lung|side|hemithorax))?", re.IGNORECASE)
_MARKED = re.compile(r"(\*{1,3}|_{1,2})[A-Za-z]+\1")
OPTION = (  # what a form offers
    r"none|no|nil|absent|present|yes|trace|minimal|small|mild|moderate|large|severe|massive|normal|abnormal|enlarged"
    r"|left|right|bilateral|both|unilateral|negative|positive|uncertain|borderline"
)
_OPTION = re.compile(OPTION, re.IGNORECASE)
_NO_FINDING = frozenset({"none", "no", "nil", "absent", "normal", "negative"})  # the first or last option
_PICKED = re.compile(
    r"(?<=:)[*_]{0,2}[ \t]*(?P<list>[(\[{]?(?P<options>[A-Za-z*_][A-Za-z*_/|, \t]{4,100})(?<=[A-Za-z*_])[)\]}]?)"
    r"(?=[ \t]*[.;]?[ \t]*(?:\n|\Z))"
)
DASHES = frozenset({"-", "–", "—"})
_PRESENT = frozenset({"yes", "y", "present", "positive", "true"})
_LONGEST_TITLE = 6  # words
_NO_TITLE = re.compile(r"(?:no|there|not|without)\b", re.IGNORECASE)
_FRACTURE = re.compile(  # "# R5 and R6", "# left clavicle"
    r"(?:[a-z]*\d|(?:left|right|lt|rt|l|r|of|old|healed|acute|new|displaced|ribs?|neck|shaft|clavicle|sternum)\b)", re.I
)
_TITLE = re.compile(r"^[ \t]*(?:(#{1,6})[ \t]+([A-Za-z][^\n]*)|(\*\*|__)([A-Za-z][^\n*_]*)\3[ \t]*)$", re.MULTILINE)


def _tag(match: re.Match[str]) -> str:
    name, closes = match[2].lower(), bool(match[1])
    if name in _SECTIONS:
        return "\n" if closes else f"\n{name.capitalize()}: "
    return _CLOSED.get(name, _TAGS[name]) if closes else _TAGS[name]


def _picked(text: str) -> Iterator[Edit]:
    """Finds the options behind a heading one of which is marked: "Edema: none / **mild** / severe" is "Edema: mild"."""
    for match in _PICKED.finditer(text):
        options = [each for each in re.split(r"\s*[/|,]\s*|\s+", match["options"].strip()) if each]
        marked = [each for each in options if _MARKED.fullmatch(each)]
        words = [each.strip("*_").lower() for each in options]
        parted = not {"/", "|"}.isdisjoint(match["options"]) or not _NO_FINDING.isdisjoint(words[:1] + words[-1:])
        if len(marked) == 1 and len(options) > 1 and parted and all(map(_OPTION.fullmatch, words)):
            start = match.start("options") + match["options"].index(marked[0])
            yield Edit(match.start("list"), start, "")
            yield Edit(start, start + len(marked[0]), marked[0].strip("*_"), 0)
            yield Edit(start + len(marked[0]), match.end("list"), "", 0)


def _ruled(match: re.Match[str]) -> str:
    """Gives the title above a rule a colon, if its line has none: "EXAM: XR CHEST" is no heading of what follows."""
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return "\n" if ":" in line else ":"


def _titles(text: str) -> Iterator[Edit]:
    """Finds headings of Markdown, and lines in bold; one above a line of its own text ends in a colon."""
    found = list(_TITLE.finditer(text))
    starts = {match.start() for match in found}
    for match in found:
        group = 2 if match[1] else 4
        title = match[group].rstrip(" \t#")
        if match[1] == "#" and (len(found) == 1 or _FRACTURE.match(title)):
            continue
        following = _TEXT.search(text, match.end())
        alone = following is None or text.rfind("\n", 0, following.start()) + 1 in starts
        short = len(title.split()) <= _LONGEST_TITLE and title[-1] not in ".:;,!?"
        heads = short and not alone and not _NO_TITLE.match(title)
        yield Edit(match.start(), match.start(group), "- " if match[1] == "#" and alone else "")
        yield Edit(match.start(group) + len(title), match.end(), ":" if heads else "", 0)


def _rows(text: str) -> Iterator[Edit]:
    """Finds the rows of tables: "| Effusion | None |" is "Effusion: None"; a line above a rule is no row."""
    rows = list(_ROW.finditer(text))
    names: list[str] = []  # of the columns of the table that the row is of
    end = -1
    for row, after in zip_longest(rows, rows[1:]):
        below = after is not None and after.start() == row.end() + 1 and _is_rule(after[0])
        names = names if row.start() == end + 1 else []
        end = row.end()
        if _is_rule(row[0]) or (below and "|" in row[1].strip("| \t")):
            names = names if _is_rule(row[0]) else [cell.strip() for cell in _inside(row[1]).split("|")]
            yield Edit(row.start(), row.end(), "")
            continue
        cells = [cell for cell in _CUT.finditer(text, *row.span()) if cell[0].strip()]
        if _has_sides(names) and len(names) >= len(cells) > 1:
            yield from _sided_row(row, names)
            continue
        if len(cells) == len(names) > 1 and _COUNTED.fullmatch(cells[0][0].strip()):
            yield from _counted_row(row, cells, names)
            continue
        others = [cell for cell in cells[2:] if cell[0].strip() not in DASHES]
        is_there = bool(others) and cells[1][0].strip().lower() in _PRESENT  # "| Effusion | Yes | Moderate | Right |"
        cells = [*cells[: 1 if is_there else 2], *others]
        at = row.start()
        for number, cell in enumerate(cells):
            lead = len(cell[0]) - len(cell[0].lstrip())
            mark = (
                "- "
                if number == 0
                else ": "
                if number == 1 and not cells[0][0].rstrip().endswith(":")
                else ", "
                if number > 1
                else " "
            )
            yield Edit(at, cell.start() + lead, mark, not number)
            at = cell.start() + len(cell[0].rstrip())
        yield Edit(at, row.end(), "", 0)


def _inside(row: str) -> str:
    """A row without its last bar; what is before the first bar is no part of it."""
    return row.rstrip(" \t").removesuffix("|")


def _has_sides(names: list[str]) -> bool:
    """Whether all columns but the first are sides, as in "| Finding | Right | Left |"."""
    return len(names) > 1 and all(map(_SIDE.fullmatch, names[1:]))


def _sided_row(row: re.Match[str], names: list[str]) -> Iterator[Edit]:
    """A row of what is said of each side: "| Effusion | Large | None |" below "| Finding | Right | Left |"."""
    first, *others = _inside(row[1]).split("|")
    finding = first.strip()
    small = finding if finding[1:2].isupper() else finding[:1].lower() + finding[1:]
    at, start = row.start(), row.start(1) + len(first) + 1
    for cell, name in zip(others, names[1:], strict=False):
        side = _SIDE.fullmatch(name)
        if cell.strip() and side:
            lead = "- " if at == row.start() else "\n- "
            begins = start + len(cell) - len(cell.lstrip())
            yield Edit(at, begins, f"{lead}{side[1].capitalize()} {small}: ", int(at == row.start()))
            at = start + len(cell.rstrip())
        start += len(cell) + 1
    yield Edit(at, row.end(), "", 0)


def _counted_row(row: re.Match[str], cells: list[re.Match[str]], names: list[str]) -> Iterator[Edit]:
    """A row that begins with a number, which its column names: "| Nodule | Size |" above "| 1 | 7 mm |"."""
    is_named = names[0][:1].isalpha() and names[0].lower() not in _NUMBERS
    at = row.start()
    for number, (cell, name) in enumerate(zip(cells, names, strict=True)):
        if number or is_named:
            lead = f"- {names[0]} " if not number else "- " if at == row.start() else ": " if number == 1 else ", "
            yield Edit(at, cell.start() + len(cell[0]) - len(cell[0].lstrip()), lead, int(at == row.start()))
            at = cell.start() + len(cell[0].rstrip())
        unit = _UNIT.search(name)
        if unit and cell[0].strip().replace(".", "", 1).isdigit():
            yield Edit(at, at, f" {unit[1]}", 0)
    yield Edit(at, row.end(), "", 0)


def _is_rule(row: str) -> bool:
    return "-" in row and not row.strip(" \t:|-")


_RULED = ("---", "===", "***", "- -", "* *")
_RTF = re.compile(r"\s*\{\\rtf")
_RTF_WORD = re.compile(r"\{\\(?:fonttbl|colortbl|stylesheet|info|\*)(?:[^{}]|\{[^{}]*\})*\}|\\([a-z]+)-?\d* ?|[{}]")


def _rtf(text: str) -> Iterator[Edit]:
    """Finds the control words, groups and tables of RTF; paragraphs are lines."""
    if _RTF.match(text):
        for number, word in enumerate(_RTF_WORD.finditer(text)):
            yield Edit(*word.span(), "\n" if word[1] in ("par", "line", "sect", "page") else "", int(not number))


MARKUP = (
    Step("RTF", _rtf, ("{\\rtf",)),
    Step("HTML tag", replacing(r"<!--.*?(?:-->|\Z)|<!DOCTYPE[^<>]*>", "", re.DOTALL | re.IGNORECASE), ("<!",)),
    Step("HTML tag", replacing(_TAG, _tag, re.IGNORECASE), ("<",)),
    Step("Markdown", replacing(r"^[ \t]*```\w*[ \t]*(?:\n|\Z)|```", "", re.MULTILINE), ("```",)),
    Step("Markdown", replacing(r"^(?:[ \t]*>)+[ \t]?(?=[^\s\d>])", "", re.MULTILINE), (">",)),
    Step(
        "Markdown",
        replacing(r"(?<=[A-Z\d)])(?P<cut>[ \t]*\n[ \t]*(?:={3,}|-{3,}))[ \t]*$", _ruled, re.MULTILINE),
        _RULED,
    ),
    Step(
        "Markdown",
        replacing(r"^[ \t]*(?:-[ \t]*-[ \t]*-[ \t-]*|\*[ \t]*\*[ \t]*\*[ \t*]*|={3,})$", "", re.MULTILINE),
        _RULED,
    ),
    Step("Markdown", replacing(r"~~[^~\n]+~~", ""), ("~~",)),  # struck out
    Step("Markdown", _picked, ("*", "_")),  # while what is chosen is marked
    Step("Markdown", _titles, ("#", "**", "__")),
    Step(
        "Markdown",
        replacing(r"(?<!\[)\*{2,3}(?!\])|(?<![_\w])__(?=[A-Za-z])|(?<=[A-Za-z.:])__(?![_\w])|`", ""),
        ("**", "__", "`"),
    ),
    Step("Markdown", replacing(r"(?<![\w*\n])\*(?=[A-Za-z])|(?<=[A-Za-z.,:;)])\*(?![\w*])", ""), ("*",)),
    Step("Markdown", replacing(r"(?<!\w)_(?=[A-Za-z])|(?<=[A-Za-z\d%.,:;)])_(?!\w)", ""), ("_",)),
    Step("", replacing(r"(?<=[a-z])_(?=[a-z])", " "), ("_",)),  # "pleural_effusion: small"
    Step("table row", _rows, ("|",)),
)
