"""Temporal F1: do both reports say the same of what has changed?

F1 = 2·|R ∩ P| / (|R| + |P|) over the statements of change of reference (R) and candidate (P); 1 if neither makes one.

Two forms, chosen by `form`:

- `reader` (default): statements as `rrgmetrics.labels.temporal` reads them: a finding, a structure or the study is
  new, worse, better, stable or resolved, a device also advanced, withdrawn, exchanged or repositioned. Synonyms are
  one kind ("larger", "increased"), what is denied is no change ("no new opacity"), and the finding must be the same.
- `keywords` (configuration `paper`): the published metric of Libra (Zhang et al. 2024, arXiv 2411.19378), as RadEval
  2.2 computes it, over the set of 44 words of Bannur et al. 2023 (CVPR, arXiv 2301.04558) that a report contains, with
  ε = 1e-10: p = (tp + ε)/(|P| + ε), r = (tp + ε)/(|R| + ε), F1 = 2pr/(p + r + ε); ε if only the candidate has one.

Differs from the authors: they also run a named entity model, which can only add words that the search for whole words
has found already; the values are equal without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rrgmetrics.backends.reader import ReaderBackend, reader_backend
from rrgmetrics.backends.tokens import TextFunction
from rrgmetrics.comparing.penalties import silent
from rrgmetrics.labels.temporal import ChangeStatement, count_shared, read_changes
from rrgmetrics.reading import Reading
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, explain_both, of_pairs
from rrgmetrics.specs import keys_of

KEYS = keys_of("temporal_f1")
EPSILON = 1e-10
KEYWORDS = (  # Bannur et al. 2023, as in Libra's temporal_f1.py
    "bigger change cleared constant decrease decreased decreasing elevated elevation enlarged enlargement enlarging "
    "expanded greater growing improved improvement improving increase increased increasing larger new persistence "
    "persistent persisting progression progressive reduced removal resolution resolved resolving smaller stability "
    "stable stably unchanged unfolded worse worsen worsened worsening unaltered"
).split()
_KEYWORD = re.compile(rf"\b(?:{'|'.join(KEYWORDS)})\b")
_CLEANING = (  # in this order
    (re.compile(r"\n+"), " "),
    (re.compile(r"[_-]+"), " "),
    (re.compile(r"[^\w\s.,:;()-]"), ""),
    (re.compile(r"\s{2,}"), " "),
)


@dataclass(frozen=True)
class TemporalF1:
    """The metric temporal F1 in one of its forms."""

    form: Literal["reader", "keywords"] = "reader"
    explain: bool = False

    @property
    def reduction(self) -> Mean:
        """The mean over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> ReaderBackend | TextFunction:
        """The reader, or the keywords."""
        if self.form == "keywords":
            return TextFunction("temporal:keywords", find_keywords)
        return reader_backend()

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Any],
        statistics: None = None,
    ) -> Array:
        """The F1 of each pair `(n_pairs, 1)`."""
        f1 = keyword_f1 if self.form == "keywords" else _reader_f1
        values = [f1(*both) for both in of_pairs(pairs, annotations)]
        return np.array(values, dtype=np.float64)[:, None]

    def details(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Any],
    ) -> Mapping[str, Sequence[Any]]:
        """Returns, with `explain`, the changes in both reports of each pair: kind and words, or keywords."""
        if not self.explain:
            return {}
        return {"temporal_f1_explained": explain_both(pairs, lambda text: self._statements(annotations[text]))}

    def _statements(self, annotation: Any) -> list[Any]:
        if self.form == "keywords":
            return sorted(annotation)
        return [{"change": change.kind, "words": _words(annotation, change)} for change in read_changes(annotation)]


def find_keywords(text: str) -> frozenset[str]:
    """Returns the keywords that a text contains as whole words, by the published steps.

    >>> sorted(find_keywords("Stable, un-changed; no NEW opacity."))
    ['new', 'stable']
    """
    for pattern, replacement in _CLEANING:
        text = pattern.sub(replacement, text)
    return frozenset(_KEYWORD.findall(text.strip().lower()))


def keyword_f1(reference: frozenset[str], candidate: frozenset[str]) -> float:
    """The published value of one pair, from both texts' keywords."""
    if not reference:
        return EPSILON if candidate else 1.0
    shared = len(reference & candidate)
    precision = (shared + EPSILON) / (len(candidate) + EPSILON)
    recall = (shared + EPSILON) / (len(reference) + EPSILON)
    return 2 * precision * recall / (precision + recall + EPSILON)


def _reader_f1(reference: Reading, candidate: Reading) -> float:
    if silent(candidate) and not silent(reference):
        return 0.0
    references, candidates = read_changes(reference), read_changes(candidate)
    stated = len(references) + len(candidates)
    return 2 * count_shared(references, candidates) / stated if stated else 1.0


def _words(reading: Reading, change: ChangeStatement) -> str:
    return " … ".join(reading.text[span.start : span.end] for span in change.spans)
