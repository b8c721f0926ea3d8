"""Scores more pairs than fit into memory: reads pairs in chunks, and writes their scores to a file.

Only the column sums of the statistics stay in memory; all corpus scores follow from them. Intervals and tests need the
statistics of each pair, which are in the file; `rrgmetrics merge` computes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.files import Columns, PathLike, use_context
from rrgmetrics.files.per_study import ALL, REFUSE
from rrgmetrics.files.sources import is_source
from rrgmetrics.files.stored import Writer, storing
from rrgmetrics.files.stream import Read, check_ids, stream_pairs
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import Missing, MissingReports, log_lines
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Array, Reduction
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.packs import facts_of, warn_of_packs
from rrgmetrics.scoring.prepared import Metrics, prepare, warn_of_sections
from rrgmetrics.scoring.results import Result, per_pair_columns
from rrgmetrics.scoring.shards import Description
from rrgmetrics.specs import MetricSpec
from rrgmetrics.specs.names import uncounted
from rrgmetrics.utils.causes import as_entry
from rrgmetrics.utils.progress import SCORING, phase

CHUNK = 8_192  # pairs in memory
REASONS = 1_000  # different ones that are kept


@dataclass
class Totals:
    """The sums of a metric's statistics over the pairs that went through.

    Attributes:
        spec: Which metric.
        reduction: The arithmetic from sums to scores.
        signature: What ran, but for the number of pairs.
        sums: `(n_stats,)`.
        n_scored: Pairs with a score.
        n_pairs: All pairs.
        unscored_counts: Pairs without a score, for each reason.
        modalities: Pairs that were read as each kind of report.
        scored_modalities: Those with a score.
    """

    spec: MetricSpec
    reduction: Reduction
    signature: str
    sums: Array
    n_scored: int = 0
    n_pairs: int = 0
    unscored_counts: Counter[str] = field(default_factory=Counter)
    modalities: Counter[str] = field(default_factory=Counter)
    scored_modalities: Counter[str] = field(default_factory=Counter)

    @property
    def scores(self) -> dict[str, float]:
        """The corpus values by key."""
        return aggregate.of_sums(self.reduction, self.sums, self.n_scored)

    @property
    def n_unscored(self) -> int:
        """The number of pairs without a score."""
        return self.n_pairs - self.n_scored

    def add(self, result: Result) -> None:
        """Adds the pairs of a result."""
        sums, n_scored = aggregate.column_sums(result.pair_stats)
        self.sums = self.sums + sums
        self.n_scored += n_scored
        self.n_pairs += result.n_pairs
        self.modalities.update(result.modalities)
        self.scored_modalities.update(result.scored_modalities)
        name = signature.read(self.signature)
        self.signature = signature.rewrite(self.signature, facts_of(name, self.modalities))
        for reason, count in result.unscored_counts.items():
            known = reason in self.unscored_counts or len(self.unscored_counts) < REASONS
            self.unscored_counts[reason if known else "another reason"] += count

    @classmethod
    def of(cls, result: Result) -> Totals:
        """Begins with the pairs of a result."""
        totals = cls(result.spec, result.reduction, result.signature, np.zeros(result.pair_stats.shape[1]))
        totals.add(result)
        return totals


def add_results(totals: dict[str, Totals], results: Mapping[str, Result]) -> None:
    """Adds the results of further pairs to the totals of each metric, in place."""
    for name, result in results.items():
        if name in totals:
            totals[name].add(result)
        else:
            totals[name] = Totals.of(result)


def score_stream(
    metrics: str | Sequence[str],
    pairs: Any,
    *,
    output: PathLike | None = None,
    columns: Columns = None,
    statistics: Mapping[str, Frequencies] | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    workers: int = 1,
    missing: Missing = "unscored",
    text: str = "",
    per_study: str = REFUSE,
    force: bool = False,
    progress: bool = True,
) -> dict[str, Totals]:
    """Scores any number of pairs in constant memory; an invalid row is unscored, with the reason.

    Args:
        metrics: Metrics as in `rrgmetrics.score`.
        pairs: As in `rrgmetrics.score`: files, tables, data sets, an iterable of dicts; read once.
        output: A .parquet file to which scores and statistics of each pair are written, for `rrgmetrics merge`.
        columns: The column names.
        statistics: The result of `Metrics.count_references` for all references; None: files are read twice if a metric
            (`cider`) needs it.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        workers: As in `rrgmetrics.score`.
        missing: As in `rrgmetrics.score`; with "error" the first missing reference ends the run.
        text: As in `rrgmetrics.score`.
        per_study: "error" rejects a table in which a study has several reports, before scoring if the table can be read
            twice; "all" scores each. The other rules of `rrgmetrics.score` need all rows.
        force: Whether `output` may be replaced.
        progress: Whether to show a progress bar.

    Returns:
        The corpus scores of each metric, with the number of unscored pairs and the reasons.

    Raises:
        InputError: An invalid name or source, or a source that can be read only once with a metric that needs all
            references first.

    Example:
        >>> rows = ({"reference": "Lungs are clear.", "candidate": "Clear lungs."} for _ in range(3))
        >>> round(score_stream("rouge", rows, progress=False)["rouge"].scores["rouge_1"], 3)
        0.8
    """
    runtime: dict[str, Any] = {"batch_size": batch_size, "device": device, "workers": workers}
    if per_study not in (REFUSE, ALL):
        raise InputError(f"per_study={per_study!r} needs all pairs in memory; pass 'error' or 'all'.")
    ids = check_ids(pairs, columns) if per_study == REFUSE else ""
    with prepare(metrics, missing=missing, text=text, **runtime) as prepared, ExitStack() as stack:
        stack.enter_context(use_context(prepared.context))
        statistics = counted(prepared, pairs, columns, statistics)
        file = None
        if output is not None:
            facts = {"metrics": prepared.signatures(0)}
            file = stack.enter_context(storing(output, facts, force=force))
        totals: dict[str, Totals] = {}
        reads, lacking = stream_pairs(pairs, columns, ids=ids), MissingReports(missing)
        described = Description()
        with phase(SCORING, unit="pairs", shown=progress) as line:
            while chunk := list(islice(reads, CHUNK)):
                usable = [(read.pair, read) for read in chunk if read.pair is not None]
                unit = "study id" if any(read.has_id for read in chunk) else "index"
                lacking.add({"": [pair for pair, _ in usable]}, [read.study_id for _, read in usable], unit)
                if not totals:
                    n_first = CHUNK if len(chunk) == CHUNK else 0
                    warn_of_sections(prepared.names.values(), text, {"": [pair for pair, _ in usable]}, n_first)
                results = score_reads(prepared, chunk, statistics)
                add_results(totals, results)
                described.add((read.study_id if read.has_id else "", read.pair or Pair("", "")) for read in chunk)
                if file is not None:
                    write_results(file, results, [read.study_id for read in chunk])
                line.done += len(chunk)
        if file is not None:
            file.whole = {"part": [1, 1], "whole": described.whole("")._asdict()}
        if not totals:
            raise InputError("There are no pairs to score.")
        log_lines(lacking.lines)
        warn_of_packs((name, totals[text].scored_modalities) for text, name in prepared.names.items())
        return totals


def score_reads(
    metrics: Metrics, reads: Sequence[Read], statistics: Mapping[str, Frequencies] | None = None
) -> dict[str, Result]:
    """Scores rows of a source; those that cannot be used, and all of a metric that fails, are unscored with the reason.

    Args:
        metrics: Prepared.
        reads: The rows.
        statistics: As in `Metrics.score_pairs`.

    Returns:
        For each metric the Result of all rows, in order.
    """
    pairs = [read.pair for read in reads if read.pair is not None]
    options: dict[str, Any] = {"on_error": "unscored", "progress": False, "announce": False}
    scored = metrics.score_pairs(pairs, statistics=statistics, **options) if pairs else {}
    widths = metrics.widths if len(pairs) < len(reads) or any(each.error for each in scored.values()) else {}
    signed = metrics.signatures(len(reads))
    return {
        name: _spread(scored.get(name), reads, widths, name, spec, signed[name]) for name, spec in metrics.specs.items()
    }


def write_results(file: Writer, results: Mapping[str, Result], study_ids: Sequence[str]) -> None:
    """Writes the scores and statistics of some pairs."""
    stored = {name: result.stored for name, result in results.items()}
    file.add(stored, {"study_id": study_ids, **per_pair_columns(results)})


def counted(
    metrics: Metrics, pairs: Any, columns: Columns, given: Mapping[str, Frequencies] | None = None
) -> dict[str, Frequencies]:
    """What metrics with corpus statistics must know of all references: as given, or from a first pass through files."""
    known = dict(given or {})
    needed = uncounted(metrics.names, known)
    if not needed:
        return known
    if not is_source(pairs) and iter(pairs) is iter(pairs):
        raise InputError(
            f"The scores of {', '.join(needed)} depend on all references, and these pairs can be read only once; pass "
            "a file, or statistics=metrics.count_references(references)."
        )
    reads = stream_pairs(pairs, columns, announce=False)
    references = (read.pair.reference for read in reads if read.pair is not None)
    return known | metrics.only(needed).count_references(references)


def _spread(
    result: Result | None, reads: Sequence[Read], widths: Mapping[str, int], name: str, spec: MetricSpec, signed: str
) -> Result:
    """The result of all rows, from that of those that can be used."""
    if not widths and result is not None:
        return result
    good = [index for index, read in enumerate(reads) if read.pair is not None]
    stats = np.full((len(reads), widths[name]), np.nan)
    unscored: list[Any] = [as_entry(read.reason, None) if read.reason else None for read in reads]
    details: dict[str, list[Any]] = {}
    if result is not None:
        if result.error is None:
            stats[good] = result.pair_stats
        for key, values in result.details.items():
            details[key] = [None] * len(reads)
            for index, value in zip(good, values, strict=True):
                details[key][index] = value
    own = f"{spec.name}_unscored"
    details[own] = [reason or known for reason, known in zip(unscored, details.get(own, unscored), strict=True)]
    signed = signed if result is None or result.error else result.signature
    return Result.of_stats(stats, signed, details).focused(spec)
