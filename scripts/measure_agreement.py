"""Measures how far metrics agree with radiologists, for the pages: writes `rrgmetrics/metaeval/measured.yaml`.

Usage: python scripts/measure_agreement.py NAME radpref:PATH [METRIC ...]

NAME is the data set in that file, such as radpref_dev. Without metrics all of them are measured, as they are
installed; with metrics only these rows are written anew.
"""

from __future__ import annotations

import datetime
import sys

from rrgmetrics import SPECS
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import AgreementReport, agree
from rrgmetrics.metaeval.measured import FILE, reads_chest_xrays
from rrgmetrics.metaeval.recording import record


def main(name: str, dataset: str, *metrics: str) -> None:
    """Measures and writes."""
    report = agree(dataset, metrics or tuple(name for name, spec in SPECS.items() if reads_chest_xrays(spec)))
    if not isinstance(report, AgreementReport):
        raise InputError(f"{dataset} has no counts or ratings; give one that has, such as radpref:PATH.")
    record(report, name, date=datetime.datetime.now(datetime.UTC).date().isoformat())
    print(f"{FILE}: {len(report.results)} metrics")


if __name__ == "__main__":
    main(*sys.argv[1:])
