"""Tables of what encoders and metrics retrieve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

from rrgmetrics.metaeval.oracle import RANDOM, Oracles
from rrgmetrics.metaeval.retrieval import KEYS, Pool, Retrieval
from rrgmetrics.reporting.numbers import estimate, figure, headed, signed_figure
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.utils.text_format import counted

NAMED = 5  # studies that were left out


def retrieval_table(pool: Pool, found: Sequence[Retrieval]) -> Table:
    """P@k, nDCG@k and mAP of each encoder, with intervals over queries or standard deviations over seeds."""
    per_seed = found[0].per_seed
    lines = [
        Group(tuple((f"  {key}", _value(each, key)) for key in KEYS), (Cell(each.encoder, "strong"),)) for each in found
    ]
    asked = (
        "Each report is a query once."
        if per_seed is None
        else f"{found[0].scores[KEYS[0]].n:,} reports are queries, drawn with each of {len(per_seed)} seeds."
    )
    return Table(
        ("encoder", "value [95% interval]" if per_seed is None else "mean ± SD"),
        tuple(lines),
        title=f"Retrieval of {len(pool.reports):,} reports with {len(pool.counts)} labels; all ↑",
        note=f"{asked} {found[0].n_left_out:,} reports share no label with another report and are not queries.",
    )


def _value(found: Retrieval, key: str) -> str:
    if not found.deviations:
        return estimate(found.scores[key])
    return f"{figure(found.scores[key].value, 3)} ± {figure(found.deviations[key], 3)}"


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
        note=f"Change: relative to {RANDOM} of the pool, in per cent.{_left_out(oracles)}",
    )


def _left_out(oracles: Oracles) -> str:
    """How many studies are left out, the first of them by name, and for which metrics; "" if none is."""
    if not oracles.left_out:
        return ""
    named = [f"{study} ({', '.join(names)})" for study, names in islice(oracles.left_out.items(), NAMED)]
    more = ", ..." if len(oracles.left_out) > NAMED else ""
    left_out = counted(len(oracles.left_out), "study", "studies")
    return f" Left out: {left_out} for which a metric scores no report of the pool: {', '.join(named)}{more}."


def _change(value: float) -> str:
    return "" if math.isnan(value) else f"{signed_figure(value, 1)}%"
