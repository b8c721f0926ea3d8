"""The invented pairs that pages offer to try, and the sample file made of them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rrgmetrics import files

FIELDS = ("reference", "candidate", "age", "sex", "indication")
OPENING = "Missed pneumothorax"
_FILE = Path(__file__).with_suffix(".yaml")


class Example(NamedTuple):
    """A pair with the patient's context, as typed; `title` says what is wrong with the candidate, "" if not shown."""

    title: str
    reference: str
    candidate: str
    age: str = ""
    sex: str = ""
    indication: str = ""


@cache
def examples() -> tuple[Example, ...]:
    """All pairs; those with a title come first."""
    import yaml

    return tuple(Example(**{"title": "", **row}) for row in yaml.safe_load(_FILE.read_text(encoding="utf-8")))


def opening() -> Example:
    """The pair that pages open with."""
    return next(example for example in examples() if example.title == OPENING)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Lives as long as the process."""
    return tempfile.TemporaryDirectory(prefix="rrgmetrics-")


def sample_file() -> str:
    """Path of a CSV with all pairs, to show what a file looks like."""
    path = Path(_folder().name) / "sample.csv"
    if not path.exists():
        columns: dict[str, list[str]] = {"study_id": [f"study-{number:02}" for number in range(1, len(examples()) + 1)]}
        columns |= {field: [getattr(example, field) for example in examples()] for field in FIELDS}
        files.write_table(path, columns, force=True)
    return str(path)
