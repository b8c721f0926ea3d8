"""What 32-bit arithmetic promises from one processor, batch or number of threads to another.

A sum's rounding depends on the order of its terms, and that order on the width of the vector registers (SSE, AVX2,
AVX-512), on the shape of the batch, on the threads, and on where in memory the numbers lie: a repeated call of RadCliQ
differed once by 2e-9. Two right answers differ by some units of the last place, relative to the numbers that were added
and not to their sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rrgmetrics.testing.case import ROUNDING, needs_model, rounding

__all__ = ["ROUNDING", "assert_equal_in_float32", "in_float32", "needs_model", "rounding"]


def in_float32(expected: object, *, scale: float = 1.0, nan_ok: bool = False) -> Any:
    """Stands for `expected` in `==`: equal but for rounding, relative to each value or to `scale`, whichever is larger.

    Args:
        expected: A number, sequence, array or dict of them.
        scale: The size of what was added up, where that is more than the result and than 1.
        nan_ok: Whether NaN equals NaN.
    """
    return pytest.approx(expected, rel=ROUNDING, abs=ROUNDING * scale, nan_ok=nan_ok)


def assert_equal_in_float32(actual: Any, expected: Any, *, scale: float = 1.0, err_msg: str = "") -> None:
    """The same for large arrays; NaN equals NaN."""
    np.testing.assert_allclose(actual, expected, rtol=ROUNDING, atol=ROUNDING * scale, err_msg=err_msg)
