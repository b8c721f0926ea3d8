"""Collapse: measures whether a system writes the same few reports for all studies.

A collapsed generator can score well if most studies are normal. These values are computed without references, and
compared with those of the radiologists' reports of the same studies; missing reports are not counted:

- distinct reports (letter case and white space aside), and the share of the most frequent one;
- mean length in words, and vocabulary: how many different words all reports use;
- self-similarity: the mean cosine between the word counts of the reports of two different studies, over all pairs of
  studies. With unit vectors u of n reports it is (|Σu|² − n) / (n² − n): exact, and linear in the words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rrgmetrics.reports.text import lower, words
from rrgmetrics.utils.text_format import counted

MIN_REPORTS = 10  # fewer may well be alike
FEW = 0.5  # of the distinct reports that the radiologists wrote
OFTEN = 0.1  # the share of one report that is worth a word, if it is also OFTENER than the radiologists' commonest
OFTENER = 2.0


class Diversity(NamedTuple):
    """How different the reports of a set are.

    Attributes:
        n_reports: Their number, without those that are missing.
        n_distinct: How many of them differ by more than letter case and white space.
        commonest: The report that most studies got ("" if all are missing), as it was first written.
        commonest_share: Of the reports, 0 to 1.
        mean_words: Words a report.
        vocabulary: Different words of all reports.
        self_similarity: Mean cosine between the word counts of two studies' reports, 0 (no word shared) to 1 (all
            alike); NaN for fewer than two reports.
    """

    n_reports: int
    n_distinct: int
    commonest: str
    commonest_share: float
    mean_words: float
    vocabulary: int
    self_similarity: float


@dataclass(frozen=True)
class Collapse:
    """What a system wrote beside what the radiologists wrote on the same studies."""

    system: str
    own: Diversity
    references: Diversity
    n_studies: int

    @property
    def is_few(self) -> bool:
        """Whether the system writes fewer than half as many distinct reports as the radiologists."""
        return self.own.n_reports >= MIN_REPORTS and self.own.n_distinct < FEW * self.references.n_distinct

    @property
    def is_often(self) -> bool:
        """Whether one report takes the place of many that the radiologists wrote."""
        share = self.own.commonest_share
        often = share > OFTEN and share > OFTENER * self.references.commonest_share
        return self.own.n_reports >= MIN_REPORTS and often

    @property
    def sentence(self) -> str:
        """What is wrong, in words; "" if nothing is."""
        if not self.own.n_reports and self.references.n_reports:
            return f"{self.system} writes nothing in {self.n_studies:,} of {counted(self.n_studies, 'report')}."
        if not (self.is_few or self.is_often):
            return ""
        own, theirs = self.own, self.references
        often = f", the most frequent one {own.commonest_share:.0%} of the time" if own.n_distinct > 1 else ""
        return (
            f"{self.system} writes {counted(own.n_distinct, 'distinct report')} for "
            f"{counted(own.n_reports, 'study', 'studies')}{often}; the radiologists wrote {theirs.n_distinct:,}, the "
            f"most frequent one {theirs.commonest_share:.0%} of the time."
        )


def find_collapse(system: str, candidates: Sequence[str], references: Sequence[str]) -> Collapse:
    """Compares what a system wrote with what the radiologists wrote.

    Args:
        system: Its name.
        candidates: Its reports, one a study.
        references: The radiologists' reports.

    Example:
        >>> find_collapse("a", ["Clear."] * 12, [f"Nodule of {i} mm." for i in range(12)]).sentence[:42]
        'a writes 1 distinct report for 12 studies;'
    """
    return Collapse(system, diversity(candidates), diversity(references), len(candidates))


def diversity(reports: Sequence[str]) -> Diversity:
    """Measures how different reports are.

    Args:
        reports: Those that are missing ("") are not counted.

    Example:
        >>> diversity(["Clear lungs.", "clear  lungs.", "Small effusion."])[1:6]
        (2, 'Clear lungs.', 0.6666666666666666, 2.0, 4)
    """
    reports = [report for report in reports if report.strip()]
    if not reports:
        return Diversity(0, 0, "", 0.0, 0.0, 0, math.nan)
    texts: dict[str, str] = {}
    for report in reports:
        texts.setdefault(lower(report), report)
    counts = Counter(map(lower, reports))
    commonest, n_commonest = counts.most_common(1)[0]
    bags = {text: Counter(words(text).split()) for text in counts}
    n_words = sum(counts[text] * bag.total() for text, bag in bags.items())
    return Diversity(
        len(reports),
        len(counts),
        texts[commonest],
        n_commonest / len(reports),
        n_words / len(reports),
        len(set().union(*bags.values())),
        _self_similarity(counts, bags),
    )


def _self_similarity(counts: Counter[str], bags: dict[str, Counter[str]]) -> float:
    """Returns the mean cosine over pairs of studies; reports without a word are alike, and unlike all others."""
    n = counts.total()
    if n < 2:
        return math.nan
    total: Counter[str] = Counter()
    for text, bag in bags.items():
        bag = bag or Counter({"": 1})
        length = math.sqrt(sum(number**2 for number in bag.values()))
        for word, number in bag.items():
            total[word] += counts[text] * number / length  # type: ignore[assignment]
    squared = sum(weight**2 for weight in total.values())
    return max(0.0, (squared - n) / (n * n - n))
