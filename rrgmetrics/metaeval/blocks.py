"""Agreement block by block, as papers print it: totals, parts of the data, kinds of significant errors.

RadEval (arXiv 2509.18030, table 2) prints tau-b over all pairs and within studies for the totals of significant and of
insignificant errors, for the significant total within each section, and for each category of significant errors.
CRIMSON (arXiv 2603.06183, table 1) prints tau-b and r with significant errors for each source of candidates. Here each
block has both views of each metric, and what one rater reaches with the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.metaeval.agreement import AgreementReport, agreement_of, ceiling_of, headline_column, main_target
from rrgmetrics.metaeval.model import Agreement
from rrgmetrics.metaeval.rated import INSIGNIFICANT, SIGNIFICANT, TOTAL, Rated


@dataclass(frozen=True)
class Block:
    """One count of errors on all or some of the pairs.

    Attributes:
        target: What raters counted.
        subset: Which pairs, such as `section findings`; "" is all.
        pairs: The agreement of each metric's headline over all these pairs.
        within: The same within studies; empty where each study has one candidate.
        ceiling: What each rater reaches with the others over all pairs, tau-b; empty where there is one rater only.
        ceiling_within: The same within studies.
    """

    target: str
    subset: str
    pairs: tuple[Agreement, ...]
    within: tuple[Agreement, ...]
    ceiling: tuple[float, ...]
    ceiling_within: tuple[float, ...]


def by_block(report: AgreementReport) -> Iterator[Block]:
    """Yields the totals, then the main significant count of each part of the data, then each significant kind."""
    data = report.data
    every = np.ones(len(data.pairs), dtype=bool)
    for target in data.chosen or [name for name in (TOTAL, SIGNIFICANT, INSIGNIFICANT) if name in data.values]:
        yield _block(report, target, "", every)
    target = data.chosen[0] if data.chosen else SIGNIFICANT if SIGNIFICANT in data.values else main_target(data)
    for label, text, keep in data.subsets():
        yield _block(report, target, f"{label} {text}", keep)
    for target in _kinds(data):
        yield _block(report, target, "", every)


def _kinds(data: Rated) -> list[str]:
    """The targets that count significant errors of one kind; else those that count all of a kind."""
    significant = [f"{kind}_significant" for kind in (*data.counted_kinds, "inarticulate")]
    return [target for target in significant if target in data.values] or list(data.counted_kinds)


def _block(report: AgreementReport, target: str, subset: str, keep: NDArray[np.bool_]) -> Block:
    data = report.data.only(keep)
    truth = data.mean(target)
    has_within = data.n_studies < len(data.pairs)
    pairs, within = [], []
    for name, result in report.results.items():
        column = headline_column(report.data, name, result, target)
        column = column._replace(values=column.values[keep])
        pairs.append(agreement_of(column, truth, data, report.resampling, "pairs", subset))
        if has_within:
            within.append(agreement_of(column, truth, data, report.resampling, "within", subset))
    return Block(
        target,
        subset,
        tuple(pairs),
        tuple(within),
        ceiling_of(data, target),
        ceiling_of(data, target, "within") if has_within else (),
    )
