"""Names of columns, and a few of many values, in messages about tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from rrgmetrics.errors import InputError

SHOWN = 5  # how many ids or columns a message lists


def check_names(names: Sequence[str], where: str) -> None:
    """Raises InputError if two columns have one name."""
    twice = {name for name, count in Counter(names).items() if name and count > 1}
    if twice:
        raise InputError(f"{where} has two columns named {some(sorted(twice))}; rename or remove one.")


def some(values: Collection[object]) -> str:
    """The first few values, and how many more there are, for a message."""
    shown = [repr(_cut(value)) for value in list(values)[:SHOWN]]
    return ", ".join(shown) + (f" and {len(values) - SHOWN:,} more" if len(values) > SHOWN else "")


def _cut(value: object) -> object:
    """A text of at most 60 characters; anything else as it is."""
    return value[:59] + "…" if isinstance(value, str) and len(value) > 60 else value
