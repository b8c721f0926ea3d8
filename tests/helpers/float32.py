"""What 32-bit arithmetic promises from one processor, batch or number of threads to another.

A sum's rounding depends on the order of its terms, and that order on the width of the vector registers (SSE, AVX2,
AVX-512), on the shape of the batch, on the threads, and on where in memory the numbers lie: a repeated call of RadCliQ
differed once by 2e-9. Two right answers differ by some units of the last place, relative to the numbers that were added
and not to their sum.
"""

from __future__ import annotations

import numpy as np
import pytest

# 128 units of the last place of 1. Over the three widths and batches of 1, 3, 8 and 14 pairs no score of a bundled
# model moved by more than 16 of them: CREPE's, from AVX-512 to SSE; of the others none by more than 2.
ROUNDING = 128 * 2.0**-23


def in_float32(expected, *, scale: float = 1.0, nan_ok: bool = False):
    """Stands for `expected` in `==`: equal but for rounding, relative to each value or to `scale`, whichever is larger.

    Args:
        expected: A number, sequence, array or dict of them.
        scale: The size of what was added up, where that is more than the result and than 1.
        nan_ok: Whether NaN equals NaN.
    """
    return pytest.approx(expected, rel=ROUNDING, abs=ROUNDING * scale, nan_ok=nan_ok)


def assert_equal_in_float32(actual, expected, *, scale: float = 1.0, err_msg: str = "") -> None:
    """The same for large arrays; NaN equals NaN."""
    np.testing.assert_allclose(actual, expected, rtol=ROUNDING, atol=ROUNDING * scale, err_msg=err_msg)


def needs_model(spec) -> bool:
    """Whether a metric's bundled backend computes in 32 bits."""
    return bool({"encoder", "crepe"} & set(spec.needs))


def rounding(spec) -> float:
    """How far a metric's values may move when its texts are batched in another way: without a model not at all."""
    return ROUNDING if needs_model(spec) else 1e-12
