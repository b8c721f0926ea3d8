r"""Lists: whatever marks their items, in lines or within one, each item becomes a line "- ...".

A mark is one if the text has others of its kind: numbers and letters count up from the first, and separators part
statements ("No pneumothorax - Cardiomegaly - Small effusion"), not a name from what is said of it ("Heart - enlarged").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from rrgmetrics.reports.cleaning.edits import Edit, Step, gap_before, replacing

ITEM = "\n- "
_SIZE = r"\d+(?:\.\d+)?[ -]?[cm]m\b"
_NUMBERED = r"\d{1,2}(?:[.)] ?| )[A-Za-z]{3}"  # "1) 2 views", "1) 1. effusion"
_OPENING = rf"(?=[A-Za-z(]|{_SIZE})"
_AFTER = rf"(?=[A-Za-z]|{_SIZE}|{_NUMBERED})"
_COUNTED = re.compile(
    r"(?<![\w.,/:(#-])(?:"
    rf"(?P<closed>\d{{1,2}})\)[ \t]*(?=[^\s\d.,;)]|{_SIZE}|{_NUMBERED})"  # 1) 2)
    rf"|\((?P<bracketed>\d{{1,2}})\)[ \t]*(?=[^\s\d.,;)]|{_SIZE}|{_NUMBERED})"  # (1) (2)
    rf"|\#(?P<hash>\d{{1,2}})[.):]?[ \t]+(?!ribs?\b){_AFTER}"  # #1 #2
    rf"|(?P<colon>\d{{1,2}}):(?:[ \t]*(?=[A-Za-z])|[ \t]+{_AFTER})"  # 1: 2:
    r"|(?P<dash>\d{1,2})[ \t]?[-–][ \t]*(?=[A-Z])"  # 1- 2-
    rf"|(?P<point>\d{{1,2}})\.(?:[ \t]*(?=[A-Za-z])|[ \t]+(?={_NUMBERED}))"  # 1. 2.
    r"|(?P<bare>\d{1,2})[ \t]+(?=[A-Z])"  # 1 2
    rf"|(?P<letter>[a-zA-Z])\)[ \t]*{_AFTER}"  # a) b)
    rf"|\((?P<bracketed_letter>[a-zA-Z])\)[ \t]*{_AFTER}"
    r"|(?P<lettered>[a-zA-Z])\.[ \t]+(?=[A-Za-z])"  # a. b.
    r"|(?P<roman>[ivx]{1,4})[.)][ \t]+(?=[A-Za-z])"
    r"|\((?P<bracketed_roman>[ivx]{1,4})\)[ \t]*(?=[A-Za-z])"
    r")"
)
_SECOND = re.compile(r"2(?:[):]|\.(?!\d)| ?[-–]|[ \t]+[A-Z])|\b(?:[bB]|ii)[).]|#2")  # a list has a second item
_STRINGS = re.compile(r"\s*\[\s*['\"].*['\"][\s,]*\]\s*", re.DOTALL)
_QUOTES = re.compile(r"\A\s*\[\s*['\"]|['\"][\s,]*\]\s*\Z|['\"],\s+['\"]")
_ROMAN = {name: number for number, name in enumerate("i ii iii iv v vi vii viii ix x".split(), 1)}
_OPENS = re.compile(r"(?:\A|[\n.;:!?-])[ \t]*\Z")
_BULLETS = "·∙⁃‣➢►▶✓✔❖§◆◇■□▫○●▪◦•"
_MARKS = rf"^[ \t]*(?:[=-]{{1,3}}>|[>–—|]|-(?=[A-Z])|[+~](?=[ \t]))[ \t]*{_OPENING}"
_BULLET = re.compile(
    rf"(?<!\d)[{_BULLETS}][ \t]*{_OPENING}|(?<=[ \t])(?:\||(?<!\d )\*)[ \t]+{_OPENING}"  # any of them; * and | alone
)
_PICTURES = r"\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff"  # emojis
_KEY = r"(?:^|(?<![ \t]))[ \t]*\d\ufe0f?\u20e3"  # a digit on a key
_PICTURE = rf"(?m)(?:^[ \t]*[{_PICTURES}]\ufe0f?|{_KEY})[ \t]*{_OPENING}"
_PART = re.compile(rf"\s*(?:[A-Z]|{_SIZE})")
_GOES_ON = re.compile(  # what is no statement of its own
    r"(?:in|of|at|on|to|for|with|which|that|is|are|was|were|has|have|and|or|but|likely|possibly|probably)\b",
    re.IGNORECASE,
)
_LINE = re.compile(r"[^\n]+")
_SEPARATORS = (" - ", " – ", " — ", " -- ", " / ", " => ", " -> ", " → ", " > ", " + ", " ~ ")
_OTHERWISE = frozenset({" > ", " + ", " ~ "})  # these mean something else where the line does not begin with them
_STATES = re.compile(r"(?:no|not|there|without)\b|.*\b(?:is|are|has|have|was|were)\b", re.IGNORECASE)
_DEGREE = re.compile(r"(?:trace|minimal|small|mild|moderate|large|severe|normal|left|right)\b|\d", re.IGNORECASE)
_PLACE = re.compile(  # where a tube or catheter ends: "PICC -> SVC"
    r"(?:(?:upper|mid|lower|proximal|distal|low|high) )?"
    r"(?:svc|ivc|ra|rv|pa|lpa|rpa|caj|cavo|atri|stomach|gastric|duoden|jejun|pylor|carina|trachea|aort|bladder)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?][ \t]+[A-Z]")
_SMALL_END = re.compile(r"(?:[a-z]{4}|[ \t])[.!?][ \t]+(?:[a-z]{2}|\d[ \t]*\.)")  # the same in small letters
_HEADING = re.compile(r"[^:]{0,60}:")


def _counted(text: str) -> Iterator[Edit]:
    """Finds the marks of items that count up from the first."""
    runs: dict[str, list[re.Match[str]]] = {}
    found: list[list[re.Match[str]]] = []
    for match in _COUNTED.finditer(text):
        for style, number in _numbers(match):
            run = runs.setdefault(style, [])
            if number == len(run) + 1 and (run or _is_first(text, match)):
                run.append(match)
            elif number == 1 and _is_first(text, match):
                found.append(run)
                runs[style] = [match]
    lists = [run for run in (*found, *runs.values()) if len(run) > 1]
    at = -1
    for match in sorted({match for run in lists for match in run}, key=lambda match: match.start()):
        if match.start() >= at and not (match["point"] and _begins_line(text, match.start())):
            yield _as_item(text, *match.span())
            at = match.end()


def _strings(text: str) -> Iterator[Edit]:
    """Finds the brackets and quotation marks of a list of strings."""
    if _STRINGS.fullmatch(text):
        for match in _QUOTES.finditer(text):
            closing = match.end() == len(text)
            yield Edit(*match.span(), "" if closing else ITEM if match.start() else "- ", int(not closing))


def _numbers(match: re.Match[str]) -> Iterator[tuple[str, int]]:
    """The style of a mark and which item it marks; "i" may be a letter or a Roman number."""
    style, mark = match.lastgroup or "", match[match.lastgroup or 0]
    if mark.isdigit():
        yield style, int(mark)
        return
    if "roman" not in style:
        yield style, ord(mark.lower()) - ord("a") + 1
    if mark in _ROMAN:
        bracketed = match[0][0] == "("
        yield ("bracketed_roman" if bracketed else "roman"), _ROMAN[mark]


def _is_first(text: str, match: re.Match[str]) -> bool:
    """Whether the first item of a list can be there."""
    return _OPENS.search(text, max(0, match.start() - 8), match.start()) is not None


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _as_item(text: str, start: int, end: int) -> Edit:
    """The edit that makes the mark `[start, end)` that of an item, on a line of its own."""
    start = gap_before(text, start)
    return Edit(start, end, "- " if not start or text[start - 1] == "\n" else ITEM)


def _separated(text: str) -> Iterator[Edit]:
    """Finds separators that part the statements of a line."""
    alone = "\n" not in text.strip()
    for line in _LINE.finditer(text):
        heading = _HEADING.match(line[0])
        at = line.start() + (heading.end() if heading else 0)
        body = text[at : line.end()]
        held = [each for each in _SEPARATORS if each in body]
        if not held:
            continue
        leading = [each for each in held if body.lstrip().startswith(each.lstrip())]
        separator, begins = (leading or held)[0], bool(leading)
        parts = body.split(separator)
        if not _is_list(parts, separator, begins=begins):
            continue
        for part, following in pairwise(parts):
            at += len(part)
            if (begins and alone) or body.islower() or _PART.match(following):
                yield Edit(at, at + len(separator), ITEM)
            at += len(separator)


def _is_list(parts: list[str], separator: str, *, begins: bool) -> bool:
    """Whether the texts between separators are statements."""
    first, *others = (part.strip() for part in parts)
    small = all(part.islower() for part in parts)
    is_arrow = begins and separator == " => "  # which is nothing else, so that an item may have two sentences
    if not is_arrow and any((_SMALL_END if small else _SENTENCE_END).search(part) for part in parts):
        return False
    if begins or separator in _OTHERWISE:
        return begins
    if any(part.endswith(":") for part in others):
        return False
    if not any(part.isupper() or part[:1].isupper() for part in (first, *others)):
        wordy = sum(" " in part for part in (first, *others)) * 2 > len(others) + 1
        return len(others) > 1 and wordy and not any(map(_GOES_ON.match, others))
    if not all(map(_PART.match, others)):
        return False
    if ">" in separator or separator == " → ":
        return not (_DEGREE.match(others[0]) or _PLACE.match(others[0]))
    if len(others) == 1:
        return _STATES.match(first) is not None
    return separator != " / " or any(" " in part for part in (first, *others))


_DEGREE_WORD = r"(?:trace|tiny|minimal|small|mild|moderate|large|severe|left|right|bilateral|[LR]|[LR][UML]L|RML)"
_NO_DEGREE = "".join(rf"(?<!{word}/)" for word in "trace small mild minimal moderate large severe right left".split())
_SLASH = re.compile(rf"/(?<=[a-z]{{4}}/){_NO_DEGREE}(?=(?:no|{_DEGREE_WORD}) [A-Za-z])")
_DENIAL = re.compile(r"\b(?:no|not|without|none|negative|denies|free of|absence of)\b[^.;\n]*\Z", re.IGNORECASE)
_SAID_BEFORE = 80  # characters that are looked at before a slash


def _slashes(text: str) -> Iterator[Edit]:
    """Finds slashes before another finding with words of its own: "LLL consolidation/small L effusion"."""
    for slash in _SLASH.finditer(text):
        if not _DENIAL.search(text, max(0, slash.start() - _SAID_BEFORE), slash.start()):
            yield Edit(*slash.span(), ", ")


COUNTED = (Step("list marker", ("2", "b)", "b.", "B)", "B.", "ii)", "ii."), _counted, _SECOND),)
LISTS = (
    replacing("list marker", (), _PICTURE, "\n- ", where=re.compile(rf"[\u20e3{_PICTURES}]")),
    Step("list marker", "/", _slashes, _SLASH),
    replacing("list marker", "/", r"(?<![ \t])[ \t]+//+[ \t]+", ITEM),
    Step("list marker", "[", _strings),
    replacing("list marker", ">–—|+~-", rf"(?m){_MARKS}", "- "),
    Step(
        "list marker", _BULLETS + "*|", lambda text: (_as_item(text, *mark.span()) for mark in _BULLET.finditer(text))
    ),
    replacing("list marker", "\t", rf"(?<=\S) *\t[ \t]*(?=[A-Z]|{_SIZE})", ITEM),
    Step("list marker", "-–—/>→+~", _separated, re.compile(r"[-–—/>→+~] ")),
    replacing("", "\t", r"\t", " "),
)
