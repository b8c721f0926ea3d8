"""`rrgmetrics mcp`: the Model Context Protocol, by which agents score, explain and compare reports and list metrics.

The server reads standard input and writes standard output. Each tool answers with JSON; a value that is not finite is
null. Wrong use is an error of the tool, in the sentence that the command line prints for it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeAlias

from pydantic import Field

import rrgmetrics
from rrgmetrics.cli.explain import missing_note
from rrgmetrics.cli.listing import metric_facts, metric_row
from rrgmetrics.comparing import FindingError
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.reporting.results import published_clauses
from rrgmetrics.reporting.short import STAND_IN_MEANS
from rrgmetrics.reports import Pair, check_pairs
from rrgmetrics.scoring.notice import text_lines, token_lines
from rrgmetrics.scoring.packs import experimental_note, kind_lines
from rrgmetrics.scoring.prepared import section_lines
from rrgmetrics.scoring.results import Result, missing_of, strange_lines, unscored_lines
from rrgmetrics.specs import PRESETS, all_specs
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.extras import need

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

Answer = dict[str, Any]
Parameters = ParamSpec("Parameters")
INSTRUCTIONS = (
    "Metrics that compare machine-written radiology reports with the radiologists' reports. Use `explain` for one pair "
    "of reports, `score` for a list of pairs, `compare` for several systems on the same studies, and `list` to see the "
    "metrics."
)
MAX_PAIRS = 2_000  # of a call; more belong into a file, which `rrgmetrics score` reads

Metrics: TypeAlias = Annotated[
    list[str], Field(description="Names of metrics, such as crepe, finding_errors or bleu; `list` shows all of them.")
]
Reports: TypeAlias = list[str | None]  # null: missing
References: TypeAlias = Annotated[
    Reports, Field(description="The radiologists' reports, one for each study; null if one is missing.")
]
Contexts: TypeAlias = Annotated[
    list[dict[str, str]] | None,
    Field(description="The context of each patient: age, sex, indication, prior (the prior report)."),
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics mcp`, which has none."""
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Serves until the client closes the connection."""
    build_server().run()


def build_server() -> FastMCP:
    """Makes the server.

    Raises:
        MissingExtraError: The SDK of the protocol is not installed.
    """
    need("rrgmetrics mcp", "mcp")
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("rrgmetrics", instructions=INSTRUCTIONS, log_level="WARNING")
    for name, tool in TOOLS.items():
        server.tool(name=name, structured_output=False)(_in_words(tool))
    return server


def score(
    metrics: Metrics,
    references: References,
    candidates: Annotated[
        Reports, Field(description="The machine's reports, in the same order; null if one is missing.")
    ],
    contexts: Contexts = None,
) -> Answer:
    """Scores a machine's reports against the radiologists' reports: the values for all pairs and for each pair.

    `unscored` has the reason why a pair has no value, by its index. `notes` are on the reports and metrics.
    """
    _check_size(references)
    pairs = check_pairs(candidates, references, contexts, name="candidates")
    results = rrgmetrics.score(
        metrics, predictions=candidates, references=references, contexts=contexts, progress=False
    )
    return {
        "metrics": {name: _scores(result) for name, result in results.items()},
        "notes": _notes({"": results}, {"": pairs}),
    }


def explain(
    reference: Annotated[str, Field(description="The radiologist's report.")],
    candidate: Annotated[str, Field(description="The machine's report.")],
    context: Annotated[
        dict[str, str] | None,
        Field(description="The context of the patient: age, sex, indication, prior (the prior report)."),
    ] = None,
) -> Answer:
    """Lists each error of a machine's report: its kind (A to F), a sentence, its significance and the words."""
    comparison = rrgmetrics.explain(candidate=candidate, reference=reference, context=context)
    notes = [experimental_note(comparison.pack) if not comparison.out_of_scope else "", missing_note(reference)]
    return {
        "n_errors": None if comparison.out_of_scope else comparison.total,
        "n_significant": None if comparison.out_of_scope else comparison.significant,
        "errors": [_error(error, reference, candidate) for error in comparison.errors],
        "out_of_scope": comparison.out_of_scope,
        "unread_candidate": comparison.unread_candidate,
        "notes": [note for note in notes if note],
    }


def compare(
    metrics: Metrics,
    references: References,
    systems: Annotated[
        dict[str, Reports],
        Field(
            description="The reports of each system, by name, in the order of the references. The first system is the "
            "baseline."
        ),
    ],
    contexts: Contexts = None,
) -> Answer:
    """Compares systems on the same studies: 95% intervals, differences from the first system, corrected p-values."""
    _check_size(references)
    comparison = rrgmetrics.compare(
        systems, references, metrics=metrics, contexts=contexts, trivial=False, progress=False
    )
    pairs = {name: studies.pairs for name, studies in comparison.studies.items()}
    return {
        "rows": [row.to_dict() for row in comparison.rows],
        "correction": comparison.correction,
        "n_studies": comparison.n_studies,
        "signatures": {name: result.signature for name, result in next(iter(comparison.results.values())).items()},
        "notes": [*_notes(comparison.results, pairs), *unscored_lines(comparison.results)],
    }


def list_metrics(
    metric: Annotated[
        str, Field(description="A metric, to show its keys, options and cost. If empty, all metrics are listed.")
    ] = "",
) -> Answer:
    """Lists the metrics with their direction and range, or one metric's keys, configurations, options and cost."""
    if metric:
        return metric_facts(parse_name(metric).spec)
    return {
        "metrics": [metric_row(spec) for spec in all_specs().values()],
        "presets": {name: list(names) for name, names in PRESETS.items()},
    }


TOOLS: Mapping[str, Callable[..., Answer]] = {
    "score": score,
    "explain": explain,
    "compare": compare,
    "list": list_metrics,
}


def _scores(result: Result) -> Answer:
    return {
        "title": result.title,
        "stand_in": result.bundled,
        "scores": result.scores,
        "better": {key.name: key.better for key in result.spec.keys},
        "per_pair": {key: values.tolist() for key, values in result.per_pair.items()},
        "n_unscored": result.n_unscored,
        "unscored": {str(index): reason for index, reason in result.unscored_reasons.items()},
        "signature": result.signature,
    }


def _notes(results: Mapping[str, Mapping[str, Result]], pairs: Mapping[str, Sequence[Pair]]) -> list[str]:
    """What tables note below them and the command line warns of, in sentences."""
    first = next(iter(results.values()))
    stand_ins = [f"{result.title} is {STAND_IN_MEANS}." for result in first.values() if result.bundled]
    sections = section_lines(map(parse_name, first), "", pairs)
    missing = missing_of(results, pairs, None).candidate_lines
    return [
        *stand_ins,
        *published_clauses(first),
        *text_lines(results),
        *kind_lines(results),
        *sections,
        *missing,
        *strange_lines(results),
        *token_lines(pairs),
    ]


def _error(error: FindingError, reference: str, candidate: str) -> Answer:
    return {
        "letter": error.category.letter,
        "kind": error.category.value,
        "sentence": error.sentence,
        "significant": error.significant,
        "reference_words": [reference[start:end] for start, end in error.reference_spans],
        "candidate_words": [candidate[start:end] for start, end in error.candidate_spans],
    }


def _check_size(references: Reports) -> None:
    if len(references) > MAX_PAIRS:
        raise InputError(
            f"A call takes at most {MAX_PAIRS:,} studies, and these are {len(references):,}; write them to a file "
            "and run `rrgmetrics score FILE`."
        )


def _in_words(tool: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
    """A tool whose mistakes are sentences, and whose numbers are JSON's."""

    @wraps(tool)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        from mcp.server.fastmcp.exceptions import ToolError

        try:
            answer: Answer = _finite(tool(*args, **kwargs))
        except (InputError, BackendError, MissingExtraError) as error:
            raise ToolError(str(error)) from None
        return answer

    return called


def _finite(value: Any) -> Any:
    """A value as JSON has it: null for NaN and for what is infinite."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, float) or hasattr(value, "dtype"):
        return float(value) if math.isfinite(value) else None
    return value
