"""Letters: what PDF files and word processors make of them, read as the letters that were typed.

A PDF has one character for the two letters in the middle of "effusion", and one that nobody sees in a parted word.
"""

from __future__ import annotations

_LETTERS = str.maketrans(
    {
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
        "\u00ad": "",  # a hyphen that shows only where a line ends
        "\u200c": "",  # what parts or joins letters
        "\u200d": "",
        "\u2060": "",
        **{chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)},  # as wide as Chinese characters
    }
)


def with_plain_letters(text: str) -> tuple[str, list[int] | None]:
    r"""Returns a text in the letters of a keyboard, and where each of its characters stood; None: where it stands.

    Example:
        >>> with_plain_letters("A \ufb01lm")
        ('A film', [0, 1, 2, 2, 3, 4])
    """
    if text.isascii():
        return text, None
    plain = text.translate(_LETTERS)
    if plain == text:
        return text, None
    return plain, [place for place, letter in enumerate(text) for _ in letter.translate(_LETTERS)]
