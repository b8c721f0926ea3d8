"""Measures how far metrics agree with radiologists, for the pages: writes `rrgmetrics/metaeval/agreement.yaml`.

Usage: python scripts/measure_agreement.py radpref:PATH [METRIC ...]

Without metrics all of them are measured, as they are installed; with metrics only these rows are written anew.
"""

from __future__ import annotations

import datetime
import sys

from rrgmetrics import SPECS
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import AgreementReport, agree
from rrgmetrics.metaeval.measured import FILE, record


def main(dataset: str, *names: str) -> None:
    """Measures and writes."""
    report = agree(dataset, names or tuple(SPECS))
    if not isinstance(report, AgreementReport):
        raise InputError(f"{dataset} has no counts and ratings; give radpref:PATH.")
    record(report, date=datetime.datetime.now(datetime.UTC).date().isoformat())
    print(f"{FILE}: {len(report.results)} metrics")


if __name__ == "__main__":
    main(*sys.argv[1:])
