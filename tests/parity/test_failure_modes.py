"""The correction of failure modes against the 48 tests that Yu et al. (2023) print in Supplementary Table 3."""

import csv
import math
from pathlib import Path

import pytest
from scipy.stats import false_discovery_control

from rrgmetrics.metaeval.failures import MoreErrors, corrected

FILE = Path(__file__).parents[1] / "data" / "yu2023_supplementary_table_3.tsv"
with FILE.open(newline="") as lines:
    PRINTED = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
TABLES = sorted({row["table"] for row in PRINTED})


@pytest.mark.parametrize("table", TABLES)
def test_critical_values_and_verdicts(table):
    rows = [row for row in PRINTED if row["table"] == table]
    tests = [MoreErrors(row["first"], row["second"], "", math.nan, math.nan, 598, float(row["p"])) for row in rows]
    found = corrected(tests, rate=0.01)
    assert len(found) == 12
    # printed with three digits
    assert [test.critical for test in found] == pytest.approx([float(row["critical"]) for row in rows], rel=2e-3)
    assert [test.is_significant for test in found] == [row["significant"] == "Y" for row in rows]
    assert [test.p_corrected for test in found] == pytest.approx(false_discovery_control([t.p_value for t in tests]))


def test_all_four_tables_are_there():
    assert TABLES == ["3(a)", "3(b)", "3(c)", "3(d)"]
    assert len(PRINTED) == 48
