"""What all metrics of a command need and this machine lacks, in one message."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rrgmetrics.errors import BackendError
from rrgmetrics.specs.names import parse_names

LEFT = "left"  # the status of what is not on this machine


@contextmanager
def naming_missing_weights(names: Sequence[str]) -> Iterator[None]:
    """Replaces the error of the first metric without weights by what all of them lack.

    Args:
        names: The metrics.

    Raises:
        BackendError: As before, or, if weights are missing, with every repository and the command that fetches them.
    """
    try:
        yield
    except BackendError as error:
        lacking = missing_weights(names)
        if not lacking:
            raise
        listed = "; ".join(f"{name} ({', '.join(repositories)})" for name, repositories in lacking.items())
        raise BackendError(
            f"These weights are not on this machine: {listed}. `rrgmetrics doctor {shlex.join(lacking)}` downloads "
            "and checks them if there is a network; otherwise it shows where to copy them. The default "
            "configurations need no download."
        ) from error


def missing_weights(names: Sequence[str]) -> dict[str, list[str]]:
    """Returns the repositories that are not on this machine, by the metric that needs them."""
    from rrgmetrics.doctor import Doctor

    published = [text for text, name in parse_names(names).items() if name.published]
    lacking = {}
    for checkup in Doctor(download=False, score=False).examine(published) if published else ():
        absent = [
            each.need.name for each in checkup.repositories if any(remark.status == LEFT for remark in each.remarks)
        ]
        if absent:
            lacking[checkup.configuration] = absent
    return lacking
