"""One or two candidates against one reference, under every metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.metaeval.measured import DEVELOPMENT, MeasuredSet, is_measured_kind, measured_sets
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import AUTO, all_packs
from rrgmetrics.reading.scope import CHEST_XRAY
from rrgmetrics.reporting.numbers import show
from rrgmetrics.reports import Pair, parse_context
from rrgmetrics.scoring.results import Result
from rrgmetrics.spaces.limits import check_size
from rrgmetrics.spaces.ready import ready
from rrgmetrics.specs import SPECS, MetricSpec
from rrgmetrics.specs.names import READER, parse_name

COMMON = ("any text", CHEST_XRAY)  # modalities of metrics that are always shown
Verdict = Literal["first", "second", "tie", "unscored"]


@dataclass(frozen=True)
class Line:
    """What one metric says.

    Attributes:
        name: As in `rrgmetrics.score`.
        spec: The metric.
        values: Its headline for each candidate; NaN: unscored.
        signature: What ran; "" if nothing did.
        reason: Why a metric was not asked or left the pair unscored, "" if it has a score.
    """

    name: str
    spec: MetricSpec
    values: tuple[float, ...]
    signature: str = ""
    reason: str = ""

    @property
    def title(self) -> str:
        """The metric, and the model that a judge asks, without what only the Space's owner need know."""
        return title_of(self.name)

    @property
    def bundled(self) -> bool:
        """Whether something that ships with rrgmetrics stands in for published weights or a language model."""
        return parse_name(self.name).bundled

    @property
    def verdict(self) -> Verdict:
        """Which of two candidates it prefers; scores that look the same on the page are a tie."""
        if len(self.values) < 2 or any(map(math.isnan, self.values)):
            return "unscored"
        if len({show(value, self.spec.headline) for value in self.values}) == 1:
            return "tie"
        first, second = map(self.spec.headline.goodness, self.values)
        if first == second:
            return "tie"
        return "first" if first > second else "second"


def title_of(name: str) -> str:
    """`GREEN by my-model` for `green@openai:my-model?base_url=...`; `GREEN (bundled)` for a stand-in."""
    parsed = parse_name(name)
    if parsed.config in ("", "default", *READER):
        return parsed.title
    return f"{parsed.spec.title} by {parsed.config.partition(':')[2] or parsed.config}"


def compare_reports(
    reference: str,
    candidates: Sequence[str],
    context: Mapping[str, str] | None = None,
    *,
    names: Sequence[str] | None = None,
) -> list[Line]:
    """Scores candidates against one reference; a metric that cannot run says why and stops no other.

    Args:
        reference: The radiologist's report.
        candidates: One or two machine's reports.
        context: The patient's `age`, `sex`, `indication`.
        names: Metrics, as in `rrgmetrics.score`; None: those of `metrics_for` the reference.

    Returns:
        A line a metric, in the order of the names.

    Raises:
        InputError: A report that is empty on both sides, too long or no text, or a context that cannot be read;
            nothing was scored.
    """
    check_reports(reference, candidates, context)
    names = metrics_for(reference) if names is None else names
    reasons = {name: reason(name) for name in names}
    runnable = [name for name in names if not reasons[name]]
    found = _score(runnable, reference, candidates, context) if runnable else {}
    unasked = (math.nan,) * len(candidates)
    return [found.get(name) or Line(name, parse_name(name).spec, unasked, reason=reasons[name]) for name in names]


def metrics_for(reference: str) -> list[str]:
    """Every metric but those for another kind of report than the reference, such as metrics of CT for a chest film.

    Example:
        >>> "nodule_f1" in metrics_for("Clear lungs."), "nodule_f1" in metrics_for("CT chest. 6 mm nodule.")
        (False, True)
    """
    kinds = (*COMMON, all_packs()[read(reference, AUTO).pack].title)
    return [name for name, spec in SPECS.items() if spec.modality in kinds]


def measured_for(reference: str) -> MeasuredSet:
    """The metrics' agreement with radiologists on reports of chest X-rays; of no metric for another kind of report."""
    measured = measured_sets()[DEVELOPMENT]
    return measured if is_measured_kind(reference) else replace(measured, metrics={})


def check_reports(reference: str, candidates: Sequence[str], context: Mapping[str, str] | None = None) -> None:
    """Raises InputError for what cannot be compared: a report that is missing, too long or no text, or a context."""
    check_size(reference, "The reference")
    for number, text in enumerate(candidates, 1):
        check_size(text, f"Candidate {number}")
    if not reference.strip():
        raise InputError("There is no reference; paste the radiologist's report.")
    if not any(text.strip() for text in candidates):
        raise InputError("There is no candidate; paste a machine's report.")
    check_size(parse_context(context, "The patient").indication, "The indication")


@cache
def reason(name: str) -> str:
    """Why a metric cannot say anything of one pair here, "" if it can; loads what it reads with, once."""
    if parse_name(name).spec.corpus_statistics:
        return "needs a set of reports, because its weights come from all references"
    try:
        ready(name)
    except MissingExtraError as error:
        return str(error)
    except BackendError:
        return "its model is not on this machine"
    return ""


def _why_unscored(results: Sequence[Result]) -> str:
    """Why no candidate has a score, "" if one has."""
    error = next((result.error for result in results if result.error), None)
    if error:  # its message names servers and folders, which visitors need not know
        return "its model did not answer" if isinstance(error, BackendError) else "it failed on this pair"
    reasons = [result.unscored_reasons.get(0, "") for result in results]
    return reasons[0] if all(reasons) else ""


def _score(
    names: Sequence[str], reference: str, candidates: Sequence[str], context: Mapping[str, str] | None
) -> dict[str, Line]:
    """All at once, so that metrics share what they read; a judge that fails on the way stops no other."""
    pairs = [Pair(reference, text, parse_context(context, "The patient")) for text in candidates]
    results = ready(names).score_sets([[pair] for pair in pairs], on_error="unscored", progress=False)
    return {
        name: Line(
            name,
            parse_name(name).spec,
            tuple(by_name[name].scores[by_name[name].spec.headline.name] for by_name in results),
            results[0][name].signature,
            _why_unscored([by_name[name] for by_name in results]),
        )
        for name in names
    }
