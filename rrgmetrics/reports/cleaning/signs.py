r"""Signs for yes and no: "PTX -ve", "effusion +ve", "-ve for PTX", "Neg. for edema", "PTX (–)", "PTX-, effusion-".

A dash at a word is a sign at the end of a statement, of the text, and of an item before another one with a sign.
At the end of the text a hyphen behind several words may be what a model was cut off at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

_DASH = "[-–—−]"
_SIGN = rf"(?:(?P<yes>\+)|{_DASH})ve\b|(?<![A-Za-z0-9])(?:(?P<apart>\+)|{_DASH}) ve\b"
_SHORT = r"\b(?:neg|(?P<short>pos))\.(?= ?for\b)"
_NAME = r"(?:^|(?<=[.;,] ))[A-Za-z]+"
_NEXT = r"[^,.;\n]{1,60}[-–—−+][ \t]*(?:[,.;\n]|\Z)"  # an item that ends in a sign
_ENDS_ITEM = rf"[ \t]*(?:[.;]|,{_NEXT}|\n[ \t]*(?=[A-Z]){_NEXT}|\s*\Z)"
_AT_WORD = rf"{_DASH}(?<=[A-Za-z].)(?={_ENDS_ITEM})"
_VE = re.compile(r"[-–—−+] ?[vV][eE]\b")


def _spelled(match: re.Match[str]) -> str:
    """Returns the word for a sign, apart from a word that it is written at."""
    gap = " " if match.string[: match.start()][-1:].isalnum() else ""
    return gap + ("positive" if match.lastgroup else "negative")


_ITEM = re.compile(r"[^,;\n]+")
_BOTH = re.compile(r"(?=.*\+)(?=.*[-–])[-–+]+")
_PARAGRAPH = re.compile(r"[^\n]+(?:\n[ \t]*[^\n]+)*")
_PLUS = re.compile(r"(?:\A|[\n,;])[ \t]*\+ ?[A-Za-z]|[A-Za-z] \+[ \t]*(?:[,;\n]|\Z)")


def _plus_and_minus(text: str) -> Iterator[Edit]:
    """Finds the signs of lists in which each item has one: "+ cardiomegaly, - PTX", "cardiomegaly +, PTX -"."""
    for paragraph in _PARAGRAPH.finditer(text):
        items = [
            (item.start() + len(item[0]) - len(item[0].lstrip()), item[0].strip(" .\t"))
            for item in _ITEM.finditer(text, *paragraph.span())
            if item[0].strip(" .\t")
        ]
        before, behind = ("".join(item[place] for _, item in items) for place in (0, -1))
        if _BOTH.fullmatch(before) and all(item[1:].strip() for _, item in items):
            for start, item in items:
                gap = len(item) - len(item[1:].lstrip())
                yield Edit(start, start + gap, "" if item[0] == "+" else "no ")
        elif _BOTH.fullmatch(behind) and all(item[:-1].strip() for _, item in items):
            for start, item in items:
                name = len(item[:-1].rstrip())
                yield Edit(start + name, start + len(item), ": present" if item[-1] == "+" else ": none")


_ENDING = rf"(?m){_NAME}(?:(?:[ /][A-Za-z]+){{1,3}}(?!-\s*\Z))?(?P<cut>{_AT_WORD})"
SIGNS = (
    replacing("short answer", "-–—−+", rf"(?i){_SIGN}", _spelled, where=_VE),
    replacing("short answer", (". for", ".for", ". FOR", ".FOR"), rf"(?i){_SHORT}", _spelled),
    Step("short answer", "+", _plus_and_minus, _PLUS),
    replacing("short answer", "–—−", r"(?<=[(\[])[–—−](?=[)\]])", "-"),
    replacing("short answer", "-–—−", _ENDING, ": none", where=re.compile(_AT_WORD)),
)
