r"""Questions with their answers: "Q: Is there pneumothorax? A: No." is "pneumothorax: No.".

An answer that is a sentence of its own takes the place of its question: "Q: Is there edema? A: Mild edema.".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step

_ANSWERED = re.compile(r"\?\s{0,4}(?:A|Ans|Answer) ?\d{0,2}[.:)](?=\s)", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?:^|(?<=[.;!?] ))[ \t]*(?P<asked>(?:(?:Q|Question) ?\d{0,2}[.:)][ \t]*)?)"
    r"(?:(?:is|are) (?:there (?:an? |any )?|the )|any )?(?P<name>[^?\n.:;]{1,80})"
    rf"(?P<answer>{_ANSWERED.pattern}[ \t]*)"
    r"(?P<short>(?=(?:no|none|nil|negative|absent|yes|positive|present)[ \t]*(?:[.;,]|\n|\Z)))?",
    re.IGNORECASE | re.MULTILINE,
)


def _questions(text: str) -> Iterator[Edit]:
    """Finds labelled answers and their questions."""
    for match in _QUESTION.finditer(text):
        if match["short"] is None:
            yield Edit(match.start("asked"), match.end("answer"), "")
        else:
            yield Edit(match.start("asked"), match.start("name"), "", 0)
            yield Edit(*match.span("answer"), ": ")


QUESTIONS = (Step("short answer", "?", _questions, _ANSWERED),)
