"""Stress tests: which changes of a report a metric detects, and which it misses.

Reports are changed in known ways: one error of each kind and significance, harmless changes, and tricks. The score
should fall with every error, more with more errors and with more significant ones, and neither change with harmless
changes nor rise with tricks. Any reports can be used, and no ratings are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from rrgmetrics.metaeval.stress.kinds import KINDS, LADDERS
from rrgmetrics.metaeval.stress.measure import OfKind, OfLadder, Stressed, StressReport, measure_suite
from rrgmetrics.metaeval.stress.scoring import Named, read_metrics, score_suite
from rrgmetrics.metaeval.stress.suite import N_REPORTS, PER_KIND, Case, Suite, build_suite
from rrgmetrics.metaeval.stress.written import written_packs, written_suite
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.synthesis.sources import GENERATOR, load_collection

__all__ = [
    "KINDS",
    "LADDERS",
    "N_REPORTS",
    "PER_KIND",
    "Case",
    "OfKind",
    "OfLadder",
    "StressReport",
    "Stressed",
    "Suite",
    "build_suite",
    "stress",
    "written_packs",
    "written_suite",
]


def stress(
    metrics: Named | Sequence[Named] | Mapping[str, Named],
    reports: Sequence[str] | Suite | None = None,
    *,
    source: str = "",
    per_kind: int = PER_KIND,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> StressReport:
    """Puts metrics under stress.

    Args:
        metrics: Names as `rrgmetrics.score` takes them, with checkpoints and judges; `MODULE:FUNCTION`; the folder of
            an `evaluate` module; a loaded one; a function of candidates and references (lists of texts) that returns a
            number for each pair. One, several, or a dictionary by name. Of what is not ours the better direction is
            the one in which a report beats another patient's.
        reports: The reports that are changed, or a suite made before; None takes 300 of our generator's.
        source: Where the reports come from, for people.
        per_kind: Pairs of each kind at most; 0: no limit.
        seed: Of the draws.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: Whether to show bars.

    Returns:
        The report: by metric and kind the share seen (1 is best), the mean loss in units of what another patient's
        report costs, the order kept.

    Raises:
        InputError: A metric or report that cannot be used; of our metrics before any work.
        BackendError: Weights or data of a metric are not there.

    Example:
        >>> reports = ["Small left pleural effusion. No pneumothorax.", "Mild cardiomegaly. Lungs are clear."]
        >>> report = stress("finding_errors", reports, progress=False)
        >>> report.metrics["finding_errors"].kinds["side"].share
        1.0
    """
    found = read_metrics(metrics)
    ours = [name for name, function in found.items() if function is None]
    outside = {name: function for name, function in found.items() if function is not None}
    with prepare(ours, batch_size=batch_size, device=device) if ours else nullcontext() as ready:
        suite = _suite(reports, source=source, per_kind=per_kind, seed=seed, progress=progress)
        scored = score_suite(suite, ready, outside, progress=progress)
    return measure_suite(suite, {name: scored[name] for name in found})


def _suite(reports: Sequence[str] | Suite | None, *, source: str, seed: int, **options: Any) -> Suite:
    if isinstance(reports, Suite):
        return reports
    if reports is None:
        collection = load_collection(f"{GENERATOR}{N_REPORTS}", seed=seed)
        reports, source = [report.text for report in collection.reports], collection.name
    return build_suite(reports, source=source, seed=seed, **options)
