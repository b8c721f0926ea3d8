r"""What systems write before each line: time stamps, speakers, line numbers, colours of a terminal, marks of a diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

_DATE = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?(?:Z|[ \u202f]?[AaPp][Mm])?"
_TIME = rf"[\[(<]?(?:{_DATE},?[ T]{{1,2}})?{_CLOCK}[\])>]?"
_LEVEL = r"(?:(?:INFO|DEBUG|WARN(?:ING)?|ERROR|NOTICE)\b|\[?rank ?\d{1,4}\]?:)"
_REPORTS = r"(?:Dr|Prof|Radiologist|Reporter|Doctor|Resident|Attending|Consultant|Speaker|Reader)"
_LISTENS = (
    r"(?:Tech|Technologist|Technician|Radiographer|Nurse|Typist|Transcriptionist|Secretary|Student|Interviewer|Host)"
)
_SPEAKER = rf"(?i:{_REPORTS}|{_LISTENS})\b[^\n:]{{0,30}}:"
_MARK = re.compile(rf"[ \t]{{0,8}}(?:(?:{_TIME})?[ \t]{{0,8}}(?:{_LEVEL})|{_TIME}|{_SPEAKER}|\[?[sS]\d{{1,3}}[\]>])")
_LISTENER = re.compile(rf"(?i:{_LISTENS})\b[^\n:]{{0,30}}:\Z")
_REPORTER = re.compile(rf"[ \t]{{0,8}}(?i:{_REPORTS})\b")
_NUMBER = re.compile(r"[ \t]{0,8}(\d{1,4})(?:[:|]|(?=[ \t]))(?![ \t]{0,4}(?:[cm]m|x|of|views?)\b)[ \t]{0,8}")
_LINE = re.compile(r"[^\n]+")
_FEWEST = 3  # lines
_SHARE = 0.8  # of the lines


def _lines(text: str) -> list[re.Match[str]]:
    return [line for line in _LINE.finditer(text) if not line[0].isspace()]


def _marked_lines(text: str) -> Iterator[Edit]:
    """Finds the time stamps, levels and names at the beginning of nearly every line, and what all share behind them.

    What those say who do not report goes with them: "Technologist: ready when you are".
    """
    lines = _lines(text)
    marks = [mark for line in lines if (mark := _MARK.match(text, line.start(), line.end()))]
    if len(marks) < max(_FEWEST, _SHARE * len(lines)):
        return
    if len({mark[0].strip() for mark in marks if _REPORTER.match(mark[0])}) > 1:
        return  # a talk, of which one reports
    ends = {line.start(): line.end() for line in lines}
    behind = [text[mark.end() : ends[mark.start()]] for mark in marks]
    alike = "".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, zip(*behind, strict=False)))
    shared = 1 + max(alike.rfind(mark) for mark in ("]", ">", ":", "|", "– ", "- "))
    shared += len(alike[shared:]) - len(alike[shared:].lstrip(" \t"))
    silent = [mark for mark in marks if _LISTENER.search(mark[0])]
    silent = silent if len(silent) < len(marks) else []
    for mark in marks:
        end = mark.end() + shared
        yield Edit(mark.start(), ends[mark.start()] if mark in silent else end, "")


def _numbered_lines(text: str) -> Iterator[Edit]:
    """Finds the numbers of the lines, where each line has one and a line begins within a sentence."""
    lines = _lines(text)
    numbers = [_NUMBER.match(line[0]) for line in lines]
    if len(lines) < _FEWEST:
        return
    counted = [int(number[1]) for number in numbers if number]
    if counted != list(range(counted[0], counted[0] + len(lines))) if counted else True:
        return
    for line, number in zip(lines, numbers, strict=True):
        if number:
            yield Edit(line.start(), line.start() + number.end(), "")


_HUNK = re.compile(r"(?m)^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_DIFF = re.compile(r"(?m)^(?:(?:diff |index |---|\+\+\+|@@)[^\n]*(?:\n|\Z)|-[^\n]*(?:\n|\Z)|[+ ])")


def _diff(text: str) -> Iterator[Edit]:
    """Finds the marks of a diff, and the lines that it takes out."""
    return (Edit(*mark.span(), "") for mark in _DIFF.finditer(text) if _HUNK.search(text))


def _decoded(match: re.Match[str]) -> str:
    """The characters that quoted-printable writes as numbers; a line end that it adds is none."""
    return bytes.fromhex(match[0].replace("=", "")).decode("utf-8", "replace") if match[0][1:].strip() else ""


_QUOTED = re.compile(r"(?<![=\s])=\n|=20\n|=3D|=E2=80|=C2=A0|quoted-printable")
_COLOUR = r"(?:\x1b|\^\[)\[[\d;]{0,20}[A-Za-z]|\[\d{1,2}(?:;\d{1,3}){0,3}m"
_CUE = rf"(?m)^(?:WEBVTT\b[^\n]*|(?:\d{{1,5}}\n)?{_CLOCK} --> {_CLOCK}[^\n]*)(?:\n|\Z)"  # of subtitles
_WRAPPED = (
    r"(?<=[a-z,;\d])[ \t]{0,80}\|?[ \t]{0,8}\n[ \t]{0,8}\|[ \t]{1,80}\|[ \t]{0,8}"  # a cell goes on in the next line
)
FRAMES = (
    replacing("", ("|",), _WRAPPED, " "),
    replacing("subtitle cue", ("WEBVTT", " --> "), _CUE),
    replacing("colour", "[", _COLOUR),
    replacing("quoted character", "=", r"(?:=[0-9A-F]{2})+|(?<![=\s])=\r?\n", _decoded, where=_QUOTED),
    replacing("mail header", ":", r"(?m)^(?:MIME-Version|Content-[A-Z][A-Za-z-]{2,30}): [^\n]*(?:\n|\Z)"),
    Step("diff mark", ("@@",), _diff, _HUNK),
    Step("line mark", ":>", _marked_lines, re.compile(rf"(?m)^{_MARK.pattern}")),
    Step("line number", "\n", _numbered_lines, re.compile(r"\A\s*\d{1,4}(?:[:|]|[ \t])")),
    replacing("", ("dtype",), r"(?m)^(?:Name: [^\n,]{1,40}, )?(?:Length: \d{1,9}, )?dtype: \w{1,20}[ \t]*$"),
)
