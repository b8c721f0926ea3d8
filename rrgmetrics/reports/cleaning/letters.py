"""Letters: HTML entities, what PDF files and word processors make of letters, tokenizers' marks for spaces, "N/G".

A placeholder for a date or a name at the start of a statement is no heading ("<DATE> : sternotomy wires are intact").
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

_ENTITY = r"&(?:#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|(?:nbsp|amp|lt|gt|quot)\b;?|[A-Za-z][A-Za-z0-9]{1,30};)"
_SPACES = r"\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff"
_LETTERS = {
    **dict(
        zip("ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ ﬆ œ Œ æ Æ ㎜ ㎝ ×".split(), "ff fi fl ffi ffl st st oe Oe ae Ae mm cm x".split(), strict=True)
    ),
    **{chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)},  # as wide as Chinese characters
    **dict(zip("。、【】", (". ", ", ", "[", "]"), strict=True)),
    **dict.fromkeys("\u00ad\u200c\u200d\u2060", ""),  # a hyphen that shows only where a line ends; joiners
    **dict.fromkeys("\x85\u2028\u2029", "\n"),
    "ü": "u",  # in names: "Bülau drain"; other letters with accents tell other languages apart
}
_LETTER = rf"[{_SPACES}]|▁(?=\|)|\u00ad(?=[\s{_SPACES}])|[{''.join(map(re.escape, _LETTERS))}]"
_SLASHED = r"(?<![\w/])(?:[no]/gt?|n/jt?|e/tt?|c/t(?=[ -]ratio)|c/p(?=[ -](?:angle|sulc|recess)))(?![\w/])"
_HIDDEN = r"(?:date|time|name|patient|mrn|dob)"
_PIECES = re.compile(r" (?=[Ġ▁])")  # pieces of words, joined by spaces
_PIECE = re.compile(r" ?([Ġ▁])| (?![Ġ▁])")


def _plain_letter(match: re.Match[str]) -> str:
    at_line_end = match[0] == "\u00ad" and match.string[match.end() : match.end() + 1].isspace()
    return "-" if at_line_end else _LETTERS.get(match[0], " ")


def _marked_spaces(text: str) -> Iterator[Edit]:
    """Finds the marks that GPT-2's and SentencePiece's tokenizers write for a space."""
    in_pieces = _PIECES.search(text) is not None
    for match in _PIECE.finditer(text):
        if match[1] or in_pieces:
            yield Edit(*match.span(), " " if match[1] and match.end() > 1 else "")


_ENTITIES = replacing("HTML entity", "&", _ENTITY, lambda match: html.unescape(match[0]))
LETTERS = (
    *(_ENTITIES, _ENTITIES),  # "&amp;nbsp;" was escaped twice
    replacing("", (), _LETTER, _plain_letter, where=re.compile(r"[^\x00-\x7f]")),
    replacing(
        "", "/", rf"(?i){_SLASHED}", lambda match: match[0].replace("/", "")
    ),  # one name: "N/G tube", "C/T ratio"
    replacing("", "+⁺", r"\b[Cc]a(?:2\+|\+\+|²⁺)(?![\w+])", "calcification"),  # "coronary Ca++"
    replacing("", "<[", rf"(?im)(?:^|(?<=[\n.;!?:\])>] ))(?:<{_HIDDEN}>|\[{_HIDDEN}\])", "___"),
    Step("token mark", "Ġ▁", _marked_spaces),
    replacing("token mark", ("Ċ", "ĉ", "Č", "<0x0"), r"[ĊĉČ]|<0x0[AaDd]>", "\n"),
    replacing("token mark", "#@", r"(?<=[A-Za-z]) ?##(?=[a-z])|(?<=[A-Za-z])@@ (?=[A-Za-z])"),
    replacing("", "\r\\\v\f\x1c\x1d\x1e", r"\r\n?|\\r\\n|\\[nr](?![a-z])|\\n(?=[a-z]{2})|[\v\f\x1c-\x1e]", "\n"),
    replacing("", "'’", r"(?i)\bca n['’]t\b", "cannot"),  # as tokenizers part it
    replacing("", "'’", r"(?i)(?<=[a-z]) (?P<cut>n['’]t)\b", "not"),
    replacing("", "\\", r"\\t", "\t"),
    replacing("", "\\", r"(?i)\\\.(?:br|sp|sk|in|ti|ce|fi|nf)[+-]?\d*\\", "\n"),  # HL7's line ends
    replacing("", "\\", r"\\[,;:! ]", " "),  # LaTeX's spaces: "3\,cm"
)
