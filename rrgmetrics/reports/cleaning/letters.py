"""Letters: HTML entities, what PDF files and word processors make of letters, tokenizers' marks for spaces, "N/G".

A placeholder for a date or a name at the start of a statement is no heading ("<DATE> : sternotomy wires are intact").
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import NOT_ASCII, Edit, Step, replacing

_ENTITY = r"&(?:#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|(?:nbsp|amp|lt|gt|quot)\b;?|[A-Za-z][A-Za-z0-9]{1,30};)"
_SPACE = r"[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]"
_LETTERS = {
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
    "œ": "oe",
    "Œ": "Oe",
    "æ": "ae",
    "Æ": "Ae",
    "㎜": "mm",
    "㎝": "cm",
    "×": "x",
    "\u00ad": "",  # a hyphen that shows only where a line ends
    "\u200c": "",  # what parts or joins letters
    "\u200d": "",
    "\u2060": "",
    "ü": "u",  # in names: "Bülau drain"; other letters with accents tell other languages apart
    **{chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)},  # as wide as Chinese characters
}
_PIECES = re.compile(r" (?=[Ġ▁])")  # pieces of words, joined by spaces
_PIECE = re.compile(r" ?([Ġ▁])| (?![Ġ▁])")
SLASHED = re.compile(  # one name in spite of its slash: "N/G tube", "C/T ratio"
    r"(?<![\w/])(?:[no]/gt?|n/jt?|e/tt?|c/t(?=[ -]ratio)|c/p(?=[ -](?:angle|sulc|recess)))(?![\w/])", re.IGNORECASE
)
PLACEHOLDER = re.compile(
    r"(?:^|(?<=[\n.;!?:\])>] ))(?:<(?:date|time|name|patient|mrn|dob)>|\[(?:date|time|name|patient|mrn|dob)\])",
    re.IGNORECASE | re.MULTILINE,
)


def _entity(match: re.Match[str]) -> str | None:
    plain = html.unescape(match[0])
    return None if plain == match[0] else plain


def _marked_spaces(text: str) -> Iterator[Edit]:
    """Finds the marks that GPT-2's and SentencePiece's tokenizers write for a space."""
    if "Ġ" in text or "▁" in text:
        in_pieces = _PIECES.search(text) is not None
        for match in _PIECE.finditer(text):
            if match[1] or in_pieces:
                yield Edit(*match.span(), " " if match[1] and match.end() > 1 else "")


ENTITIES = (
    Step("HTML entity", replacing(_ENTITY, _entity), ("&",)),
    Step("HTML entity", replacing(_ENTITY, _entity), ("&",)),  # "&amp;nbsp;" was escaped twice
)
LETTERS = (
    Step("", replacing(rf"{_SPACE}|\u2581(?=\|)", " "), NOT_ASCII),
    Step("", replacing(r"\u00ad(?=\s)", "-"), ("\u00ad",)),  # at the end of a line
    Step("", replacing("[" + "".join(map(re.escape, _LETTERS)) + "]", lambda match: _LETTERS[match[0]]), NOT_ASCII),
    Step("", replacing(SLASHED.pattern, lambda match: match[0].replace("/", ""), re.IGNORECASE), SLASHED),
    Step("", lambda text: (Edit(*match.span(), "___") for match in PLACEHOLDER.finditer(text)), ("<", "[")),
    Step("token mark", _marked_spaces, ("Ġ", "▁")),
    Step("token mark", replacing(r"[ĊĉČ]|<0x0[AaDd]>", "\n"), ("Ċ", "ĉ", "Č", "<0x0")),
    Step("token mark", replacing(r"(?<=[A-Za-z]) ?##(?=[a-z])|(?<=[a-z])@@ (?=[a-z])", ""), ("##", "@@ ")),
    Step("", replacing(r"\r\n?|\\r\\n|\\[nr](?![a-z])|\\n(?=[a-z]{2})", "\n"), ("\r", "\\")),
    Step("", replacing(r"\bca n['’]t\b", "cannot", re.IGNORECASE), ("a n",)),  # as tokenizers part it
    Step("", replacing(r"(?<=[a-z]) (?P<cut>n['’]t)\b", "not", re.IGNORECASE), (" n'", " n’", " N'")),
    Step("", replacing(r"\\t", "\t"), ("\\t",)),
    Step("", replacing(r"\\\.(?:br|sp|sk|in|ti|ce|fi|nf)[+-]?\d*\\", "\n", re.IGNORECASE), ("\\.",)),  # HL7's line ends
    Step("", replacing(r"\\[,;:! ]", " "), ("\\",)),  # LaTeX's spaces: "3\,cm"
    Step("", replacing(r"[\v\f\x1c-\x1e\x85\u2028\u2029]", "\n"), re.compile(r"[\v\f\x1c-\x1e\x85\u2028\u2029]")),
)
