"""Contract checks that the tests of any metric can run.

    import pytest
    from rrgmetrics.testing import CHECKS, case_of

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_contract(check):
        check(case_of("length_ratio"))

Without pytest `check_metric("length_ratio")` runs them all. rrgmetrics runs the same checks on its own metrics
(`tests/contract`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from rrgmetrics.testing import folders, inputs, names, scores
from rrgmetrics.testing.case import Case, case_of, invented_reports

__all__ = ["CHECKS", "Case", "Check", "case_of", "check_metric", "checks_of", "invented_reports"]

Check = Callable[[Case], None]


def checks_of(module: ModuleType) -> tuple[Check, ...]:
    """The checks of one of our modules, in the order of the file."""
    own = (value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__)
    return tuple(value for value in own if value.__name__.startswith("check_") and value.__code__.co_argcount == 1)


CHECKS: tuple[Check, ...] = tuple(check for module in (scores, inputs, names, folders) for check in checks_of(module))


def check_metric(name: str, **options: Any) -> None:
    """Runs every check on a metric.

    Args:
        name: The metric; one of ours or of another package.
        **options: Its reports and tolerance, as `case_of` takes them.

    Raises:
        AssertionError: The metric breaks the contract; a note on the error names the check.
    """
    case = case_of(name, **options)
    for check in CHECKS:
        try:
            check(case)
        except Exception as error:
            error.add_note(f"{check.__name__}: {check.__doc__}")
            raise
