"""Measures what a metric usually gives, for the pages: writes `usual` of `rrgmetrics/metaeval/measured.yaml`.

Usage: python scripts/measure_usual.py radpref:PATH [METRIC ...]

The references of that data set against themselves, and against the reports of its language models, a normal report and
another patient's report: the median of the pairs and the quartiles. Half a minute for all metrics that say something
of a single pair.
"""

from __future__ import annotations

import datetime
import sys

import numpy as np

import rrgmetrics
from rrgmetrics.baselines.skill import PERFECT, trivial_systems
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders import Ranked, load
from rrgmetrics.metaeval.measured import FILE, USUAL, reads_chest_xrays
from rrgmetrics.metaeval.recording import record_rows
from rrgmetrics.reading.scope import CHEST_CT
from rrgmetrics.scorers.base import Array
from rrgmetrics.specs import MetricSpec
from rrgmetrics.stats import Estimate


def main(dataset: str, *names: str) -> None:
    """Measures and writes."""
    data = load(dataset)
    if isinstance(data, Ranked):
        raise InputError(f"{dataset} ranks candidates; give one that has rated pairs, such as radpref:PATH.")
    first = list({pair.reference: pair for pair in data.pairs}.values())  # each reference once
    trivial = trivial_systems(first)
    systems = {
        "itself": trivial[PERFECT],
        "models": list(data.pairs),
        "normal": trivial["template"],
        "another": trivial["another"],
    }
    chosen = names or tuple(name for name, spec in rrgmetrics.SPECS.items() if _says_much(spec))
    with rrgmetrics.prepare(chosen) as metrics:
        results = dict(zip(systems, metrics.score_sets(list(systems.values()), progress=False), strict=True))
    rows = {
        name: {system: _quartiles(by_name[name].per_pair[name]) for system, by_name in results.items()}
        for name in chosen
    }
    signatures = {name: results["models"][name].signature for name in chosen}
    about = {"rows": len(data.pairs), "studies": len(first), "raters": 0, "level": 0.5}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    record_rows(USUAL, rows, date=today, signatures=signatures, about=about)
    print(f"{FILE}: {len(rows)} metrics")


def _says_much(spec: MetricSpec) -> bool:
    """Whether a metric says something of one pair of chest X-ray reports."""
    return spec.modality != CHEST_CT and reads_chest_xrays(spec) and not spec.corpus_statistics


def _quartiles(values: Array) -> Estimate:
    """The median, between the quartiles, of the pairs that are scored."""
    scored = values[np.isfinite(values)]
    low, middle, high = np.quantile(scored, (0.25, 0.5, 0.75))
    return Estimate(float(middle), float(low), float(high), len(scored))


if __name__ == "__main__":
    main(*sys.argv[1:])
