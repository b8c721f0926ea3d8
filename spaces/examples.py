"""The invented pairs that pages offer to try, by the pack that reads them, and the sample file made of them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rrgmetrics import files
from rrgmetrics.reading.lexicon import DEFAULT_PACK, pack_titled
from rrgmetrics.specs import MetricSpec

FIELDS = ("reference", "candidate", "age", "sex", "indication")
_FILE = Path(__file__).with_suffix(".yaml")


class Example(NamedTuple):
    """A pair with the patient's context, as typed; `title` says what is wrong with the candidate, "" if not shown.

    Pages open with the pair that `opens`.
    """

    title: str
    reference: str
    candidate: str
    age: str = ""
    sex: str = ""
    indication: str = ""
    opens: bool = False

    @property
    def texts(self) -> tuple[str, str, str, str, str]:
        """All that is typed, in the order of the boxes."""
        return self.reference, self.candidate, self.age, self.sex, self.indication


@cache
def _all_examples() -> dict[str, tuple[Example, ...]]:
    import yaml

    rows = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return {pack: tuple(Example(**{"title": "", **row}) for row in own) for pack, own in rows.items()}


def _pack_of(spec: MetricSpec | None) -> str:
    """The pack of a metric, if there are examples for it."""
    pack = pack_titled(spec.modality) if spec else None
    return pack.name if pack and pack.name in _all_examples() else DEFAULT_PACK


def examples(spec: MetricSpec | None = None) -> tuple[Example, ...]:
    """All pairs of reports that a metric is for; those with a title come first."""
    return _all_examples()[_pack_of(spec)]


def opening(spec: MetricSpec | None = None) -> Example:
    """The pair that a metric's page opens with."""
    return next(example for example in examples(spec) if example.opens)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Lives as long as the process."""
    return tempfile.TemporaryDirectory(prefix="rrgmetrics-")


def sample_file(spec: MetricSpec | None = None) -> str:
    """Path of a CSV with all pairs, to show what a file looks like."""
    pairs = examples(spec)
    path = Path(_folder().name) / f"sample-{_pack_of(spec)}.csv"
    if not path.exists():
        columns: dict[str, list[str]] = {"study_id": [f"study-{number:02}" for number in range(1, len(pairs) + 1)]}
        columns |= {field: [getattr(example, field) for example in pairs] for field in FIELDS}
        files.write_table(path, columns, force=True)
    return str(path)
