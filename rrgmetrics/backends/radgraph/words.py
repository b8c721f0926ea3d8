"""How the RadGraph models cut a report into words, each as it was trained.

Equal to radgraph 0.1.18 but for `echograph`, whose rule that package has and never reaches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from rrgmetrics.backends.tokens import WORD_OR_PUNCTUATION

MARK = re.compile(r"([/,:.!?()])")  # hyphens and semicolons stay with their words
ESCAPES = (("\\n", "  "), ("\\f", "  "), ("\\u2122", "      "), ("\n", " "), ('\\"', "``"))  # of reports inside JSON
SPLITS = ((").", ") ."), ("%.", "% ."), (".'", ". '"), ("%,", "% ,"), ("%)", "% )"))  # marks that come apart


def radgraph_words(report: str) -> list[str]:
    """Cuts a report into words as RadGraph (2021) does.

    Example:
        >>> radgraph_words("3.5 cm right-sided nodule (new).")
        ['3', '.', '5', 'cm', 'right-sided', 'nodule', '(', 'new', ')', '.']
    """
    return MARK.sub(r" \1 ", report).split()


def radgraph_xl_words(report: str) -> list[str]:
    """Cuts a report into words as RadGraph-XL (2024) does: words and runs of punctuation, some of which come apart.

    Example:
        >>> radgraph_xl_words("3.5 cm right-sided nodule (new).")
        ['3', '.', '5', 'cm', 'right', '-', 'sided', 'nodule', '(', 'new', ')', '.']
    """
    for escape, plain in ESCAPES:
        report = report.replace(escape, plain)
    text = " ".join(WORD_OR_PUNCTUATION.findall(report))
    for joined, apart in SPLITS:
        text = text.replace(joined, apart)
    return text.split()


def echograph_words(report: str) -> list[str]:
    """Cuts a report into words as EchoGraph does: at spaces, slashes and before ">", without full stops.

    Example:
        >>> echograph_words("EF >55%. Mild MR/TR.")
        ['EF', '>55%', 'Mild', 'MR', 'TR']
    """
    words: list[str] = []
    for word in report.split():
        word = word.rstrip(".")
        words.extend(word.split("/") if "/" in word else re.split("(?=>)", word))
    return [word for word in words if word]


WORDS: Mapping[str, Callable[[str], list[str]]] = {
    "radgraph": radgraph_words,
    "radgraph-xl": radgraph_xl_words,
    "modern-radgraph-xl": radgraph_xl_words,
    "echograph": echograph_words,
}
