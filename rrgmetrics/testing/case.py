"""What the checks of a metric need: the metric, invented reports, and how far rounding may move a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from rrgmetrics.reading.lexicon import DEFAULT_PACK, pack_titled
from rrgmetrics.scoring.prepared import prepare, score
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import MetricSpec, get_spec

# 128 units of the last place of 1. Over the widths of vector registers and batches of 1, 3, 8 and 14 pairs no score of
# a bundled model moved by more than 16 of them: CREPE's, from AVX-512 to SSE; of the others none by more than 2.
ROUNDING = 128 * 2.0**-23
EXACT = 1e-12


@dataclass(frozen=True)
class Case:
    """A metric under test.

    Attributes:
        spec: The metric.
        references: Reports of three findings or more.
        altered: The same reports with wrong findings, which must score worse.
        tolerance: How far a value may move when its texts are batched in another way.
    """

    spec: MetricSpec
    references: Sequence[str]
    altered: Sequence[str]
    tolerance: float

    def score(self, candidates: Any, references: Any, *, name: str = "", **keywords: Any) -> Result:
        """Scores without a progress bar; `name` says which configuration, if not the default one."""
        name = name or self.spec.name
        return score(name, predictions=candidates, references=references, progress=False, **keywords)[name]

    def score_each(self, pairs: Iterable[tuple[Any, Any]], **keywords: Any) -> list[Result]:
        """Scores several lists of candidates and references with the metric, whose models are loaded once."""
        with prepare(self.spec.name, **keywords) as metrics:
            return [
                metrics.score(predictions=candidates, references=references, progress=False)[self.spec.name]
                for candidates, references in pairs
            ]

    @cached_property
    def on_altered(self) -> Result:
        """The altered reports' result, scored once."""
        return self.score(self.altered, self.references)


def case_of(
    name: str,
    *,
    references: Sequence[str] = (),
    altered: Sequence[str] = (),
    tolerance: float | None = None,
) -> Case:
    """Makes a metric ready for its checks.

    Args:
        name: The metric.
        references: Fourteen or more reports; none takes invented reports of what the metric reads.
        altered: The same reports with wrong findings.
        tolerance: As in `Case`; None takes 128 units of the last place of 32 bits for a metric that reads with a
            bundled model, and 1e-12 for any other.
    """
    spec = get_spec(name)
    if not references:
        references, altered = invented_reports(_pack_of(spec))
    return Case(spec, references, altered, rounding(spec) if tolerance is None else tolerance)


def invented_reports(pack: str = DEFAULT_PACK) -> tuple[list[str], list[str]]:
    """Invented reports of three findings or more that a pack reads, and the same reports with wrong findings."""
    import yaml

    rows = yaml.safe_load((files("rrgmetrics.testing") / f"reports_{pack}.yaml").read_text(encoding="utf-8"))
    return [row["reference"] for row in rows], [row["altered"] for row in rows]


def _pack_of(spec: MetricSpec) -> str:
    """The pack whose reports a metric is for; the default one if there are no invented reports of its own."""
    pack = pack_titled(spec.modality)
    known = pack is not None and (files("rrgmetrics.testing") / f"reports_{pack.name}.yaml").is_file()
    return pack.name if pack and known else DEFAULT_PACK


def needs_model(spec: MetricSpec) -> bool:
    """Whether a metric's bundled backend computes in 32 bits."""
    return bool({"encoder", "crepe"} & set(spec.needs))


def rounding(spec: MetricSpec) -> float:
    """How far a metric's values may move when its texts are batched in another way: without a model not at all."""
    return ROUNDING if needs_model(spec) else EXACT
