"""The best assignment, beside scipy's."""

import random
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from rrgmetrics.comparing import assignment
from rrgmetrics.comparing.assignment import best_assignment

VALUES = {
    "few values, so that many sums are equal": (0.0, 0.0, 0.0, 0.52, 0.7, 0.7, 1.0, 1.2004, 1.2008),
    "any value": tuple(random.Random(1).random() for _ in range(500)),
    "one value": (1.0,),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_scipy_assigns_the_same_also_where_sums_are_equal(values):
    draw = random.Random(0)
    for _ in range(300):
        n_rows, n_columns = draw.randint(1, 9), draw.randint(1, 9)
        gains = [draw.choices(values, k=n_columns) for _ in range(n_rows)]
        rows, columns = linear_sum_assignment(gains, maximize=True)
        assert best_assignment(gains) == list(zip(rows.tolist(), columns.tolist(), strict=True))


def test_a_large_table_is_assigned_as_a_small_one(monkeypatch):
    gains = np.random.default_rng(0).random((40, 50)).tolist()
    large = best_assignment(gains)
    monkeypatch.setattr(assignment, "LARGEST", 2000)
    assert best_assignment(gains) == large


def test_rivals_in_a_report_import_no_scipy():
    code = (
        "import sys; from rrgmetrics import explain;"
        "reference = 'Nodule in the right upper lobe. Mass in the right lower lobe.';"
        "explain(reference=reference, candidate='A right nodule.');"
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
