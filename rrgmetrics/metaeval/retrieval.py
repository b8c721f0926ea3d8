"""Retrieval of reports by an encoder on a labelled pool: does it put reports with the same findings side by side?

Each report of the pool is a query once; all others are ranked by cosine. Another report is relevant if it shares a
label with the query, and its gain is the number of shared labels (RadEval, arXiv 2509.18030, section 5.3: P@5, P@10,
P@50, P@100, nDCG@5, nDCG@10 with graded gain, mAP, on pools of one label and of several). With a number of queries only
so many reports ask, drawn anew with each of several seeds: mean and standard deviation over seeds, as in its Table 1.

    P@k = (relevant among the first k) / k
    nDCG@k = Σ_{i≤k} gain_i / log2(i + 1), over the same sum of the best order of this pool
    AP = mean of P@i over the ranks i of all relevant reports

A query that shares a label with no other report is left out, and counted. All values: 0 to 1, higher is better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.encoder import BUNDLED, FINDINGS, FINDINGS_LAYERS, TokenVectors, load_encoder
from rrgmetrics.errors import InputError
from rrgmetrics.files import rows_of
from rrgmetrics.metaeval.loaders.fields import column_names
from rrgmetrics.reports import check_report
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.stats import LEVEL, TRIALS, Estimate, bootstrap
from rrgmetrics.utils.text_format import counted

PRECISION_DEPTHS = (5, 10, 50, 100)
GAIN_DEPTHS = (5, 10)
KEYS = (*(f"P@{depth}" for depth in PRECISION_DEPTHS), *(f"nDCG@{depth}" for depth in GAIN_DEPTHS), "mAP")
SEEDS = 10  # draws of queries, as RadEval
SEPARATOR = ";"
NAN = float("nan")
NAMED = {"bundled": (FINDINGS, FINDINGS_LAYERS), "minilm": (BUNDLED, 0)}  # and layers; 0 is all


class Pool(NamedTuple):
    """Reports with the labels of each."""

    reports: list[str]
    labels: list[frozenset[str]]

    @property
    def counts(self) -> Counter[str]:
        """The number of reports of each label."""
        return Counter(label for labels in self.labels for label in labels)


@dataclass(frozen=True)
class Retrieval:
    """What an encoder retrieves.

    Attributes:
        encoder: As it was named.
        facts: What ran.
        per_query: `(n_queries, 7)` in the order of `KEYS`; NaN for a query without a relevant report.
        scores: Means over queries, with intervals over queries; of drawn queries means over seeds, without intervals.
        per_seed: `(n_seeds, 7)`, means over the queries drawn with each seed; None where every report asks.
    """

    encoder: str
    facts: Mapping[str, str]
    per_query: Array
    scores: Mapping[str, Estimate]
    per_seed: Array | None = None

    @property
    def deviations(self) -> Mapping[str, float]:
        """Standard deviation over seeds (n - 1) of each score; empty where every report asks."""
        if self.per_seed is None:
            return {}
        return dict(zip(KEYS, self.per_seed.std(axis=0, ddof=1).tolist(), strict=True))

    @property
    def n_left_out(self) -> int:
        """Queries without a relevant report."""
        return int(np.isnan(self.per_query[:, 0]).sum())


def retrieve(
    pool: Pool,
    encoders: Sequence[str],
    *,
    queries: int = 0,
    seeds: int = SEEDS,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
) -> list[Retrieval]:
    """Measures how well encoders retrieve.

    Args:
        pool: Two reports or more.
        encoders: `bundled` (CREPE's, as `semb_score` reads it), `minilm`, a Hub id or a folder; `#N` at the end takes
            the layer N. A report's vector is the mean of its token vectors; an empty report has the zero vector.
        queries: Reports that ask, drawn from those that share a label with another; 0: all of them.
        seeds: Draws of so many queries, two or more; the same for every encoder.
        trials: Resamples of queries behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval, and of the first draw; the others follow.
        batch_size: Texts per forward pass.
        device: torch device.

    Raises:
        InputError: A pool without two reports that share a label, an encoder named twice, or more queries than reports
            that can ask.
        BackendError: Weights that are not there.
    """
    if not encoders or len(set(encoders)) < len(encoders):
        raise InputError(f"encoders is {list(encoders)}; name at least one, each only once.")
    gains = shared_labels(pool.labels)
    if not gains.any():
        raise InputError("No two reports of the pool share a label, so there is nothing to retrieve.")
    drawn = draw_queries(gains, queries, seeds, seed) if queries else []
    found = []
    for name in encoders:
        vectors, facts = _vectors(name, pool.reports, batch_size, device)
        values = scores_of_queries(vectors, gains)
        if drawn:
            per_seed = np.stack([values[rows].mean(axis=0) for rows in drawn])
            scores = {
                key: Estimate(float(mean), NAN, NAN, queries) for key, mean in zip(KEYS, per_seed.mean(0), strict=True)
            }
            found.append(Retrieval(name, facts, values, scores, per_seed))
        else:
            scores = bootstrap(Mean(KEYS), values, trials=trials, level=level, seed=seed)
            found.append(Retrieval(name, facts, values, scores))
    return found


def draw_queries(gains: Array, queries: int, seeds: int, seed: int) -> list[NDArray[np.intp]]:
    """Draws the reports that ask, without replacement, once for each seed from `seed` on.

    Raises:
        InputError: More queries than reports that share a label with another, or fewer than two seeds.
    """
    asking = np.flatnonzero(gains.any(axis=1))
    if not 0 < queries <= len(asking):
        raise InputError(f"queries is {queries}; {len(asking):,} reports of the pool share a label with another.")
    if seeds < 2:
        raise InputError(f"seeds is {seeds}; a standard deviation needs two or more.")
    return [np.random.default_rng(seed + draw).choice(asking, queries, replace=False) for draw in range(seeds)]


def shared_labels(labels: Sequence[frozenset[str]]) -> Array:
    """How many labels every two reports share, `(n, n)`; 0 of a report with itself."""
    names = sorted(set().union(*labels))
    table = np.array([[name in own for name in names] for own in labels], dtype=np.float64).reshape(len(labels), -1)
    gains: Array = table @ table.T
    np.fill_diagonal(gains, 0.0)
    return gains


def scores_of_queries(vectors: Array, gains: Array) -> Array:
    """P, nDCG and AP of each query `(n, 7)` in the order of `KEYS`.

    Args:
        vectors: `(n, width)`, of any length.
        gains: `(n, n)` as `shared_labels` gives them. Equal cosines keep the order of the pool.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    rows = np.full((len(vectors), len(KEYS)), np.nan)
    for query in range(len(vectors)):
        others = np.delete(np.arange(len(vectors)), query)
        gain = gains[query, others]
        if gain.any():
            order = np.argsort(-np.round(unit[others] @ unit[query], 7), kind="stable")
            rows[query] = _scores(gain[order])
    return rows


def _scores(gain: Array) -> list[float]:
    """P@k, nDCG@k and AP from the gains in the order retrieved."""
    relevant = gain > 0
    best = np.sort(gain)[::-1]
    precisions = np.cumsum(relevant) / np.arange(1, len(gain) + 1)
    return [
        *(float(relevant[:depth].sum()) / depth for depth in PRECISION_DEPTHS),
        *(_dcg(gain[:depth]) / _dcg(best[:depth]) for depth in GAIN_DEPTHS),
        float(precisions[relevant].mean()),
    ]


def _dcg(gain: Array) -> float:
    return float((gain / np.log2(np.arange(2, len(gain) + 2))).sum())


def _vectors(
    name: str, texts: Sequence[str], batch_size: int | None, device: str | None
) -> tuple[Array, dict[str, str]]:
    checkpoint, _, layer = name.partition("#")
    if layer and not layer.isdigit():
        raise InputError(f"{name}: {layer!r} is not a layer; write a number after #.")
    known, default = NAMED.get(checkpoint, (checkpoint, 0))
    encoder = load_encoder(known, layer=int(layer or default), batch_size=batch_size, device=device)
    distinct = list(dict.fromkeys(texts))
    means = dict(zip(distinct, map(_mean, encoder.annotate(distinct)), strict=True))
    return np.stack([means[text] for text in texts]), dict(encoder.facts)


def _mean(tokens: TokenVectors) -> Array:
    own = tokens.vectors[tokens.own]
    return own.mean(axis=0, dtype=np.float64) if len(own) else np.zeros(tokens.vectors.shape[1])


# --- pools


def read_pool(path: str | Path, *, text: str = "report", labels: str = "labels") -> Pool:
    """Reads a pool.

    Args:
        path: CSV, JSONL or Parquet.
        text: Its column, or several with commas between, whose texts are joined.
        labels: Its column; labels have `;` between them.

    Raises:
        InputError: A file or column that is not there, or a pool of fewer than two reports.
    """
    file = Path(path)
    there = column_names(file)
    columns = [name for name in text.split(",") if name]
    for name in (*columns, labels):
        if name not in there:
            raise InputError(f"{file} has no column {name!r}; it has: {', '.join(there)}. Name it: --text, --labels.")
    pool = Pool([], [])
    for unit, number, row in rows_of(file, (*columns, labels)):
        for name in columns:
            check_report(row[name] or "", f"{file}, {unit} {number}, column {name!r}")
        pool.reports.append(" ".join(str(row[name]).strip() for name in columns if row[name]).strip())
        pool.labels.append(frozenset(map(_head, filter(None, _split(row[labels])))))
    if len(pool.reports) < 2:
        raise InputError(f"{file} has {counted(len(pool.reports), 'report')}; a pool has two or more.")
    return pool


def make_pool(pool: Pool, *, per_label: int, labels: Sequence[str] = (), several: bool = False, seed: int = 0) -> Pool:
    """Draws a pool with the same number of reports for each label, as CheXpert 5×200 and HOPPR 8×200 are.

    Args:
        pool: All reports; Open-i's `Problems` serve as labels.
        per_label: Reports of each label.
        labels: Which; empty takes all that have so many reports.
        several: Whether a report may have several of the labels; else it must have exactly one label.
        seed: Of the draw.

    Raises:
        InputError: A label with fewer reports, or none left.
    """
    chosen = {label.strip().lower() for label in labels}
    usable = [row for row, own in enumerate(pool.labels) if pool.reports[row] and (len(own) == 1 or (several and own))]
    of_label = Counter(label for row in usable for label in pool.labels[row])
    wanted = sorted(chosen or (label for label, count in of_label.items() if count >= per_label))
    few = [f"{label} ({of_label[label]})" for label in wanted if of_label[label] < per_label]
    if few or not wanted:
        what = (
            f"There are too few reports of {', '.join(few)}" if few else f"No label has {counted(per_label, 'report')}"
        )
        common = ", ".join(f"{label} {count}" for label, count in of_label.most_common(8))
        raise InputError(f"{what}; most frequent: {common or 'none'}. Lower --per-label.")
    rng = np.random.default_rng(seed)
    rows: dict[int, None] = {}
    for label in wanted:
        own: NDArray[Any] = np.array([row for row in usable if label in pool.labels[row]])
        rows |= dict.fromkeys(rng.choice(own, per_label, replace=False).tolist())
    kept = frozenset(wanted)
    return Pool([pool.reports[row] for row in rows], [pool.labels[row] & kept for row in rows])


def _split(cell: Any) -> list[str]:
    return [str(part) for part in cell] if isinstance(cell, list | tuple) else str(cell or "").split(SEPARATOR)


def _head(label: str) -> str:
    """A label without its qualifiers: Open-i's `Opacity/lung/base/left` is opacity."""
    return label.partition("/")[0].strip().lower()
