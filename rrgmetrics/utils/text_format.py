"""Counts and lists as English writes them.

The package `inflect` is not used: the few nouns here take an s or are written out, and it would have to be guessed at
import time which of its thousand rules apply to the words of a field it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ALIKE, BESIDE = 0.7, 0.05  # least similarity of a name that may be meant, and most that it lies below the best one
MOST, FEWEST = 3, 3  # names that a message lists; letters of a name's beginning


def by_number(count: float, one: str, many: str) -> str:
    """The word that goes with a count.

    Example:
        >>> by_number(1, "reads", "read"), by_number(0, "reads", "read")
        ('reads', 'read')
    """
    return one if count == 1 else many


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun; the plural takes an s unless it is given.

    Example:
        >>> counted(1, "pair"), counted(2000, "pair"), counted(0, "study", "studies")
        ('1 pair', '2,000 pairs', '0 studies')
    """
    return f"{count:,} {by_number(count, noun, plural or noun + 's')}"


def count_studies(n: int, *n_unscored: int, several: bool = False) -> str:
    """How many studies there are and how many have no score: the words of every table and page.

    Args:
        n: All of them.
        n_unscored: Those without a score, of each metric.
        several: Whether some are reports of one study.

    Example:
        >>> count_studies(90, several=True)
        '90 reports, several of a study'
        >>> count_studies(1), count_studies(2000, 0), count_studies(32, 1)
        ('1 study', '2,000 studies', '32 studies, 1 not scored')
        >>> count_studies(32, 0, 4), count_studies(32, 1, 4)
        ('32 studies, up to 4 not scored', '32 studies, 1 to 4 not scored')
    """
    least, most = (min(n_unscored), max(n_unscored)) if n_unscored else (0, 0)
    between = f"{least:,} to {most:,}" if least else f"up to {most:,}"
    left_out = f", {f'{most:,}' if least == most else between} not scored" if most else ""
    return (f"{counted(n, 'report')}, several of a study" if several else counted(n, "study", "studies")) + left_out


def capitalized(text: str) -> str:
    """A text with a capital at its start; the rest stays as it is.

    Example:
        >>> capitalized("right pleural effusion in the RLL")
        'Right pleural effusion in the RLL'
    """
    return text[:1].upper() + text[1:]


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence; no words give an empty text.

    Example:
        >>> listed(["BLEU"]), listed(["BLEU", "ROUGE", "METEOR"])
        ('BLEU', 'BLEU, ROUGE and METEOR')
    """
    *others, last = words or ("",)
    return f"{', '.join(others)} and {last}" if others else last


def near_names(word: str, words: Iterable[str]) -> list[str]:
    """The names that a misspelt one is likely to mean: those that it begins, and the most similar ones; at most three.

    Example:
        >>> near_names("gren", ["green", "crepe", "mammo_green"]), near_names("radgraph", ["radgraph_f1", "rouge"])
        (['green'], ['radgraph_f1'])
    """
    import difflib  # a wrong word is rare, and `import rrgmetrics` common

    asked, known = word.lower(), list(words)
    begun = [name for name in known if len(asked) >= FEWEST and name.lower().startswith(asked)]
    if begun:
        return begun[:MOST]
    alike = {name: difflib.SequenceMatcher(None, name.lower(), asked).ratio() for name in known}
    best = max(alike.values(), default=0.0)
    near = [name for name in known if alike[name] >= max(ALIKE, best - BESIDE)]
    return sorted(near, key=lambda name: -alike[name])[:MOST]


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """A question after the nearest of some words, with a blank before it; an empty text if none is near.

    Example:
        >>> did_you_mean("refrence", ["reference", "candidate"])
        " Did you mean 'reference'?"
    """
    near = near_names(word, words)
    return f" Did you mean {near[0]!r}?" if near else ""
