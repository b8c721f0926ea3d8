r"""Boxes to tick: "[ ] Pneumothorax [x] Effusion", "Edema ☐", "( ) none (x) small" become statements.

A box is before its text if the line, or the text after its heading, begins with one; else after it. What
is ticked is stated, what is not is denied; "[ ] Normal" says nothing. Behind a heading that is no section the boxes are
a choice of answers: "Effusion: [ ] none [x] small" is "Effusion: small". So are options before a colon, or one of which
is marked: "Effusion (none/small/large): small", "Effusion: none / **small** / large".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, gap_before
from rrgmetrics.reports.cleaning.words import OPTION, SECTIONS

_BOX = re.compile(
    r"\[(?P<square>[ \t]{0,3}|_|[xX*✓✔✗✘√])\](?![ \t]*(?:[cm]m\b|\())|\((?P<round>[ \t]{1,3}|_|[xX✓✔√])\)"
    r"|(?P<drawn>[☐☑☒⬜✅❌✓✔✗✘])"
)
_OFFERED = re.compile(
    rf"(?<=[A-Za-z])[ \t]*[(\[{{](?P<options>(?:{OPTION})\b"
    r"(?:[ \t]*[/|,][ \t]*[A-Za-z][A-Za-z -]{1,20}){1,8})"
    r"[)\]}][ \t]*(?=:[ \t]*(?P<chosen>[A-Za-z][^\n.;,]*))",
    re.IGNORECASE,
)
_MARKED = re.compile(r"(\*{1,3}|_{1,2})[A-Za-z]+\1")
_OPTION = re.compile(OPTION, re.IGNORECASE)
_NO_FINDING = frozenset({"none", "no", "nil", "absent", "normal", "negative"})  # the first or last option
_PICKED = re.compile(
    r"(?<=:)[*_]{0,2}[ \t]*(?P<list>[(\[{]?(?P<options>[A-Za-z*_][A-Za-z*_/|, \t]{4,100})(?<=[A-Za-z*_])[)\]}]?)"
    r"(?=[ \t]*[.;]?[ \t]*(?:\n|\Z))"
)
_CROSSES = frozenset("❌✗✘")
_OPEN = _CROSSES | frozenset("☐⬜")  # drawn marks of what is not there
_LINE = re.compile(r"[^\n]+")
_LEAD = re.compile(r"[ \t]*(?:(?:[-*•+–]|\d{1,2}[.)])[ \t]+)?")
_HEADING = re.compile(r"(?P<name>[A-Za-z][^:\n\[\]()☐☑☒]{0,60}):[ \t]*\Z")
_DENIAL = "no|not|none|without"
_DENIES = re.compile(rf"(?:{_DENIAL})\b", re.IGNORECASE)
_NORMAL = re.compile(rf"(?:{_DENIAL}|normal|clear|negative|unremarkable|absent)\b", re.IGNORECASE)
_LABEL = re.compile(r"[ \t,;]*(?:and[ \t]+)?(?P<label>[A-Za-z][^\n]*?)(?P<colon>[:=-])?\Z")
_LONGEST = 8  # words of what a box behind it is of


def _boxes(text: str) -> Iterator[Edit]:
    """Finds the boxes of each line that holds nothing else than boxes and what they are of."""
    lines = [(line, boxes) for line in _LINE.finditer(text) if (boxes := list(_BOX.finditer(text, *line.span())))]
    is_alone = sum(len(boxes) for _, boxes in lines) == 1
    for line, boxes in lines:
        before = text[line.start() : boxes[0].start()]
        heading, leads = _HEADING.search(before), _LEAD.fullmatch(before)
        if is_alone and not leads and not _is_ticked(boxes[0]):
            return
        if leads or (heading and text[boxes[0].end() : line.end()].strip(" \t.;,")):
            choice = heading is not None and heading["name"].split()[-1].lower() not in SECTIONS
            yield from _leading(text, boxes, line.end(), choice=choice, bare=not before.strip())
        else:
            yield from _behind(text, boxes, line)


def _is_ticked(box: re.Match[str]) -> bool:
    drawn = box["drawn"]
    return drawn not in _OPEN if drawn else bool((box["square"] or box["round"] or "").strip(" \t_"))


def _leading(text: str, boxes: list[re.Match[str]], end: int, *, choice: bool, bare: bool) -> Iterator[Edit]:
    """Finds boxes before what they are of."""
    stated, at = False, 0
    for box, last in zip(boxes, [*(after.start() for after in boxes[1:]), end], strict=True):
        begins = box is boxes[0]
        joint = ("- " if bare else "") if begins else "\n- " if not choice else ", " if stated else ""
        start = max(at, gap_before(text, box.start())) if joint and not begins else box.start()
        label = text[box.end() : last].lstrip(" \t")
        ticked = _is_ticked(box)
        if box["drawn"] in _CROSSES and _DENIES.match(label):
            ticked = True  # "❌ No effusion" is no double denial
        if not ticked and (choice or _NORMAL.match(label)):
            yield Edit(start, last, "")
            at = last
            continue
        yield Edit(start, last - len(label), joint + ("" if ticked else "no "))
        stated = True


def _behind(text: str, boxes: list[re.Match[str]], line: re.Match[str]) -> Iterator[Edit]:
    """Boxes behind what they are of; the line ends with one."""
    if text[boxes[-1].end() : line.end()].strip(" \t.;,"):
        return
    starts = [line.start(), *(box.end() for box in boxes[:-1])]
    labels = [_LABEL.match(text[start : box.start()].rstrip(" \t")) for start, box in zip(starts, boxes, strict=True)]
    if not all(label and len(label["label"].split()) <= _LONGEST for label in labels):
        return
    for box, label in zip(boxes, labels, strict=True):
        answer = "present" if _is_ticked(box) else "none"
        colon = "" if label and label["colon"] else ":"
        start = gap_before(text, box.start())
        then = "" if box is boxes[-1] or text[box.end()] in ",;" else "\n-"
        yield Edit(start, box.end(), f"{colon} {answer}{then}")


def _offered(text: str) -> Iterator[Edit]:
    """Finds options in brackets, one of which is behind the colon: "Effusion (none/small/large): small"."""
    for match in _OFFERED.finditer(text):
        options = {option.strip().lower() for option in re.split(r"[/|,]", match["options"])}
        chosen = match["chosen"].lower().split()
        if any(" ".join(chosen[:n]) in options for n in (1, 2, 3)):
            yield Edit(*match.span(), "")


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


PICKED = (Step("Markdown", "*_", _picked),)  # while what is chosen is marked
BOXES = (
    Step("box", "([{", _offered, re.compile(r"[)\]}][ \t]*:")),
    Step("box", "[(☐☑☒⬜✅❌✗✘", _boxes, re.compile(r"[☐☑☒⬜✅❌✗✘]|[\[(][ \t_xX*✓✔✗✘√\]]")),
)
