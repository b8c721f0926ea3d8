"""Tables of what encoders and metrics retrieve."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rrgmetrics.metaeval.oracle import RANDOM, Oracles
from rrgmetrics.metaeval.retrieval import KEYS, Pool, Retrieval
from rrgmetrics.present.numbers import estimate, headed, signed_figure
from rrgmetrics.present.tables import Cell, Cells, Group, Table


def retrieval_table(pool: Pool, found: Sequence[Retrieval]) -> Table:
    """P@5, P@10, nDCG@5, nDCG@10 and mAP of each encoder."""
    lines = [
        Group(tuple((f"  {key}", estimate(each.scores[key])) for key in KEYS), (Cell(each.encoder, "strong"),))
        for each in found
    ]
    return Table(
        ("encoder", "value [95% interval]"),
        tuple(lines),
        title=f"Retrieval of {len(pool.reports):,} reports with {len(pool.counts)} labels; all ↑",
        note=f"Each report asks once. {found[0].n_left_out:,} reports share a label with no other and ask nothing.",
    )


def oracle_table(oracles: Oracles) -> Table:
    """What each metric says of the reports that each metric ranks best, and by how much that differs from random."""
    groups = []
    first = next(iter(oracles.judged.values()))
    for metric, result in first.items():
        key = result.titled.headline
        lines: list[Cells] = []
        for oracle in oracles.retrieved:
            score = oracles.score(oracle, metric)
            style = "quiet" if oracle == RANDOM else "strong" if oracle == metric else ""
            change = "" if oracle == RANDOM else _change(oracles.change(oracle, metric))
            lines.append((Cell(f"  {oracle}", style), Cell(estimate(score, key), style), Cell(change, style)))
        groups.append(Group(tuple(lines), (Cell(f"{headed(key)} of what is ranked best by", "strong"),)))
    return Table(
        ("oracle", "value [95% interval]", "change"),
        tuple(groups),
        title=f"{len(oracles.study_ids)} studies, the best of {oracles.n_pool} reports by each metric",
        note=f"Change: against {RANDOM} of the pool, in per cent of its value.",
    )


def _change(value: float) -> str:
    return "" if math.isnan(value) else f"{signed_figure(value, 1)}%"
