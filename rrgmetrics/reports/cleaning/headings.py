r"""Section headings without a colon: "FINDINGS\n...", "[IMPRESSION] ..." and the like become "IMPRESSION: ..."."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing
from rrgmetrics.utils.patterns import terms_of

HEADINGS_FILE = Path(__file__).parents[2] / "reading" / "lexicon" / "common" / "sections.yaml"  # the reader's own table
_BEFORE = r"(?:\A|(?<=\n)|(?<=[.;!?:\])>] ))[ \t]*"
_OPENS, _CLOSES = r"[\[({<=*~_+@-]", r"[\])}>=*~_+@-]"
_GAP = 8  # characters before a heading, spaces among them, in which a statement ends
_HEADED = re.compile(
    r"(?:\A|\n)[ \t]*[A-Z][A-Za-z ]{2,40}[ \t]*\n"  # alone on its line
    rf"|{_OPENS}{{1,5}} ?(?:[a-z]{{1,20}}\.)?[A-Za-z][A-Za-z ]{{2,40}}(?:#?\d{{1,2}})?:? ?{_CLOSES}"
    r"|(?:\A|\n)[ \t]*[A-Z][A-Z ]{2,40} [-–—] "
)


@cache
def heading_table() -> dict[str, Any]:
    """Returns the reader's table of headings as it is written."""
    import yaml

    table: dict[str, Any] = yaml.safe_load(HEADINGS_FILE.read_text(encoding="utf-8"))
    return table


@cache
def heading_names() -> dict[str, str]:
    """Returns the section of each heading in the reader's table."""
    table = heading_table()
    return {
        heading: section
        for way in ("read", "skip")
        for section, headings in table[way].items()
        for form in headings
        for heading in terms_of(form)
    }


def any_heading() -> str:
    """Returns a regular expression for any of the headings, the longest first."""
    return "|".join(sorted(map(re.escape, heading_names()), key=len, reverse=True)).replace(r"\ ", "[ -]")


@cache
def _pattern() -> re.Pattern[str]:
    names = any_heading()
    inner = rf"(?:[a-z]{{1,20}}\.)?(?P<inner>{names})(?:[ \t]#?\d{{1,2}})?"  # "[report.findings]", "ADDENDUM #1"
    marked = rf"(?!\[\*\*){_OPENS}{{1,40}}[ \t]*{inner}[ \t]*:?[ \t]*{_CLOSES}{{1,40}}(?=\s|\Z)"
    return re.compile(
        rf"(?:\A|\n)[ \t]*(?P<alone>{names})[ \t]*(?=\n)"
        rf"|{_BEFORE}(?P<marked>{marked})"  # "[**Name**]" is a mark of de-identification
        r"|(?:\A|(?<=\n))[ \t]*"
        rf"(?P<dashed>{names})(?P<dash>[ \t]+[-–—](?=[ \t]))",
        re.IGNORECASE,
    )


def _headings(text: str) -> Iterator[Edit]:
    """Finds headings; one alone on its line follows a statement or a blank line, one before a dash is in capitals."""
    for match in _pattern().finditer(text):
        if match["alone"]:
            above = text[max(0, match.start() - _GAP) : match.start("alone")]
            before = "" if "\n\n" in above else above.rstrip()[-1:]
            behind = text[match.end() : match.end() + _GAP].lstrip()[:1]
            begins = match["alone"][0].isupper() and not behind.islower()
            if (begins or match["alone"].isupper()) and not before.isalnum():
                yield Edit(match.end("alone"), match.end("alone"), ":")
        elif match["dashed"]:
            if match["dashed"].isupper():
                yield Edit(*match.span("dash"), ":")
        elif match["inner"][0].isupper() or match["marked"][:1] == "[":
            yield Edit(match.start("marked"), match.start("inner"), "")
            yield Edit(match.end("inner"), match.end("marked"), ":")


_ORGAN = (
    r"heart(?: size)?|cardiac silhouette|lungs?|lung fields|pleurae?|pleural spaces?|mediastinum|cardiomediastinum"
    r"|aorta|trachea|airways?|bones?|osseous structures|soft tissues|chest wall|hil[ai]|hilum|diaphragms?|spine|ribs"
    r"|abdomen|upper abdomen|liver|spleen|kidneys?|adrenals?(?: glands)?|pancreas|thyroid|(?:lymph )?nodes"
    r"|(?:great )?vessels|skeleton|breasts?|o?esophagus|pericardium"
)
_ORGANS = rf"(?:{_ORGAN})(?:(?: and |, ?| ?[/&] ?)(?:{_ORGAN})){{0,3}}"
_SMALL_LETTERS = r"(?=[ \t]+\S[^\n]{0,40}(?-i:[a-z]))"  # behind a heading in capitals: not all is in capitals
_ORGANS_STOPPED = rf"^[ \t]*(?P<name>{_ORGANS})(?P<cut>(?: \([^()\n]{{1,40}}\))?(?:\.| [-–—])){_SMALL_LETTERS}"
_ORGAN_CELL = rf"^[ \t]*(?=(?-i:[A-Z]))(?:{_ORGAN})(?P<cut>[ \t]*\t[ \t]*)(?=(?-i:[A-Z])[^\t\n]*$)"
_ORGAN_ALONE = rf"(?:\A|\n)[ \t]*(?:{_ORGAN})(?P<cut>)(?=[ \t]*\n[ \t]*[A-Z])"


def _organ(match: re.Match[str]) -> str | None:
    """Gives an organ alone on its line a colon, where what is above it ends a line and it begins with a capital."""
    name = match[0].strip()
    return ":" if name[:1].isupper() else None


def _stopped(match: re.Match[str]) -> str | None:
    """Gives organs in capitals a colon: "LIVER (as far as imaged). A hypodensity.", "LUNGS – No nodule."."""
    return ":" if match["name"].isupper() else None


HEADINGS = (
    replacing("", ("FDGS", "Fdgs"), r"(?m)\b(?:FDGS|Fdgs)(?=[ \t]{0,4}(?:[:–-]|$))", "FINDINGS"),
    Step("heading", "\n[({<=*~_+@-–—", _headings, _HEADED),
    replacing("placeholder", "@", r"@[A-Z]{3,20}@"),  # of a template: those that are headings are rewritten by now
    replacing("heading", "\t", rf"(?im){_ORGAN_CELL}", ": "),
    replacing("heading", "\n", rf"(?i){_ORGAN_ALONE}", _organ),
    replacing("heading", (".", " -", " –", " —"), rf"(?im){_ORGANS_STOPPED}", _stopped),
)
