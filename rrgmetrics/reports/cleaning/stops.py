r"""Full stops that became commas: "Heart size is normal, The lungs are clear, No effusion".

A line without a full stop within it and with two or more commas before a capital letter was such a row of sentences;
one such comma may be before a name ("cardiomegaly, Kerley B lines"). Names of months are no beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step

_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_COMMA = re.compile(rf",(?=[ \t]+(?!(?:{_MONTHS})[a-z]*\b)(?:[A-Z][a-z]|A ))")
_STOP = re.compile(r"[.;!?][ \t]+\S")
_LINE = re.compile(r"[^\n]+")


def _spliced(text: str) -> Iterator[Edit]:
    """Finds the commas that replace full stops."""
    for line in _LINE.finditer(text):
        commas = [] if _STOP.search(line[0]) else list(_COMMA.finditer(line[0]))
        for comma in commas if len(commas) > 1 else ():
            at = line.start() + comma.start()
            yield Edit(at, at + 1, ".")


STOPS = (Step("comma for a full stop", ",", _spliced, _COMMA),)
