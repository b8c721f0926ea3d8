"""Arguments that several commands share, and how they are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.worth import TRIALS as WORTH_TRIALS
from rrgmetrics.baselines.worth import Worth, score_with_worth
from rrgmetrics.cli.formats import add_format
from rrgmetrics.errors import InputError
from rrgmetrics.files.mistaken import check_predictions
from rrgmetrics.reports import CONTEXT_KEYS, Pair
from rrgmetrics.reports.missing import MISSING_CHOICES
from rrgmetrics.scoring.defaults import default_preset, fitting_metrics
from rrgmetrics.scoring.prepared import Metrics, parse_names, prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import PRESETS, SPECS, OptionValue, all_specs
from rrgmetrics.specs.names import ALL, context_of, metric_of, parse_name
from rrgmetrics.stats import TRIALS
from rrgmetrics.systems.table import choose_keys
from rrgmetrics.utils.text_format import capitalized, did_you_mean

if TYPE_CHECKING:
    from rrgmetrics.metaeval.loaders import Data

FEW_TRIALS = 1_000  # of what is fitted or retrieved anew; intervals of scores have `TRIALS` everywhere
Results = Mapping[str, Mapping[str, Result]]


def add_step(steps: Any, name: str, run: Callable[[argparse.Namespace], None], summary: str) -> argparse.ArgumentParser:
    """Adds a command below a command, as `fit` in `rrgmetrics radcliq fit`."""
    description = summary[0].upper() + summary[1:] + "."
    parser: argparse.ArgumentParser = steps.add_parser(name, help=summary, description=description)
    parser.set_defaults(run=run)
    return parser


def add_pairs(parser: argparse.ArgumentParser) -> None:
    """Adds the files of pairs, or of references and a system's reports."""
    parser.add_argument(
        "pairs",
        nargs="?",
        metavar="PAIRS",
        help="pairs with the columns study_id, reference, candidate: a CSV, JSONL or Parquet file, also .gz and "
        ".zst; a folder of Parquet files; a quoted pattern, 'runs/*.jsonl.gz'; or a data set on the Hub, "
        "hub:ID[@revision][?config=NAME&split=NAME]",
    )
    parser.add_argument(
        "--predictions", metavar="FILE", help="the system's reports: a table with study_id, report, or a text file"
    )
    parser.add_argument(
        "--references", metavar="FILE", help="the radiologists' reports: a table with study_id, report, or a text file"
    )
    add_columns(parser)
    add_per_study(parser)


def add_columns(
    parser: argparse.ArgumentParser,
    summary: str = "column names of the inputs, such as reference=ground_truth candidate=generated study_id=id; "
    "further fields: report, age, sex, indication, prior",
) -> None:
    """Adds what the columns of the inputs are called."""
    parser.add_argument("--columns", nargs="+", default=[], metavar="FIELD=COLUMN", help=summary)


def add_per_study(parser: argparse.ArgumentParser) -> None:
    """Adds `--per-study`: which report of a study to use."""
    parser.add_argument(
        "--per-study",
        default="error",
        metavar="RULE",
        help="which report to use if a file has several with the same study_id: first, last, longest or "
        "random:SEED; all scores each as a separate pair; error (default) rejects the file",
    )


def column_names(options: argparse.Namespace) -> dict[str, str]:
    """The column of each field that `--columns` names."""
    columns: dict[str, str] = {}
    for text in split_names(options.columns):
        field, _, column = text.partition("=")
        if not field or (not column and field not in CONTEXT_KEYS):
            raise InputError(f"--columns {text}: write FIELD=COLUMN, such as reference={field or column}.")
        if field in columns:
            raise InputError(f"--columns names {field} twice.")
        columns[field] = column
    return columns


def system_paths(texts: Sequence[str]) -> dict[str, str]:
    """Name and file of each system; a file without a name gives its own."""
    return named_paths(texts, "systems")


def named_paths(texts: Sequence[str], what: str) -> dict[str, str]:
    """Name and file of each text `NAME=FILE`; a file without a name gives its own.

    Args:
        texts: As they were typed.
        what: What has these names, for the message: "systems".

    Raises:
        InputError: Two have one name.
    """
    paths: dict[str, str] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or Path(text).exists() or "/" in name:
            name, path = files.name_of(text), text
        if paths.get(name) == path:
            raise InputError(f"{path} is named twice; name each of the {what} once.")
        if name in paths:
            raise InputError(
                f"Two {what} are called {name!r}: {paths[name]} and {path}. Give each its own name, such as "
                f"{name}1={paths[name]} {name}2={path}."
            )
        paths[name] = path
    return paths


def add_shown(parser: argparse.ArgumentParser, keys: str = "show only these scores") -> None:
    """Adds which scores are shown, and the files that they are written to.

    Args:
        parser: Of the command.
        keys: The help of `--keys`.
    """
    parser.add_argument("--keys", nargs="+", default=[], metavar="KEY", help=keys)
    parser.add_argument(
        "--all-keys", action="store_true", help="show every score of each metric, not only its headline"
    )
    add_format(parser)
    parser.add_argument(
        "--table",
        nargs="+",
        default=[],
        metavar="FILE",
        help="write the scores as Markdown or LaTeX (.md, .tex), for two systems with p-values; `compare --format "
        "latex` prints those of more",
    )
    parser.add_argument("--json", metavar="FILE", help="write scores, intervals, tests and signatures as JSON")


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Adds the outputs that `score` and `compare` share, and `add_metrics`."""
    add_shown(parser, "show only these scores, and run only metrics that have one of them")
    parser.add_argument("--html", metavar="FILE", help="write a report as one HTML page")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="number of processes (default: 1)")
    parser.add_argument(
        "--full",
        action="store_true",
        help="also print differences with intervals and effect sizes, every trivial system, scores on abnormal "
        "studies only, and the diversity of the reports",
    )
    parser.add_argument(
        "--text",
        metavar="NAME",
        help="part of both reports that every metric reads: findings, impression, findings_only, "
        "impression_only, lower, ...; metrics with their own ?text= keep it",
    )
    add_missing(parser)
    add_metrics(parser, default=False)


def add_missing(parser: argparse.ArgumentParser) -> None:
    """Adds `--missing`: what to do with pairs whose reference is missing."""
    parser.add_argument(
        "--missing",
        choices=MISSING_CHOICES,
        default="unscored",
        help="what to do if a reference is missing (blank, nan, None, N/A): leave the pair unscored (default), "
        "score it as an empty report (empty), or stop (error); a missing candidate counts as an empty "
        "report",
    )


def add_metrics(parser: argparse.ArgumentParser, *, default: bool = True) -> None:
    """Adds the metrics to score with, the trials of their intervals, the lexicon, and `add_running`.

    Args:
        parser: Of the command.
        default: Whether all metrics are meant where none is named; else those that fit the reports.
    """
    meant = "all" if default else "about eight metrics that fit the kind of report"
    parser.add_argument(
        "--metrics",
        nargs="+",
        default=list(SPECS) if default else [],
        metavar="NAME",
        help=f"names of metrics, separated by spaces or commas, all, or a preset: {', '.join(PRESETS)} "
        f"(default: {meant})",
    )
    add_trials(parser)
    add_lexicon(parser)
    add_running(parser)


def add_rated(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Adds the arguments for data that radiologists rated."""
    parser.add_argument(
        "--dataset",
        required=required,
        default=[],
        nargs="+",
        metavar="DATA",
        help="rated data: a table of rated pairs (.csv, .jsonl, .parquet), or NAME:PATH for your copy of a known"
        " data set. NAME is rexval, rexval_star, radevalx, radeval_expert, refisco, rate_eval, radpref, "
        "radjudge, rexerr, chest2error, radreport_error_injected or metriceval_bodyct; sheet (from "
        "`rrgmetrics oracle --sheet`); rating (from `rrgmetrics rating export`); preferences (choices "
        "between two candidates); or, for pairs with equal content, chest2error_equal or "
        "radreport_error_injected_equal. Several data sets share one table",
    )
    add_columns(
        parser,
        "column names of a table; the fields are reference, candidate, study, rater, section, source, age, "
        "sex, indication, prior",
    )
    parser.add_argument(
        "--counts",
        nargs="+",
        default=[],
        metavar="[NAME=]COLUMN",
        help="columns of a table that count errors (fewer is better); NAME=COLUMN+COLUMN if each rater has a column",
    )
    parser.add_argument(
        "--ratings",
        nargs="+",
        default=[],
        metavar="[NAME=]COLUMN",
        help="columns of a table that hold ratings (more is better); as --counts",
    )


def read_rated(options: argparse.Namespace) -> list[Data]:
    """The data sets that were named, checked."""
    from rrgmetrics.metaeval import load

    columns = column_names(options)
    counts, ratings = split_names(options.counts), split_names(options.ratings)
    return [load(dataset, columns=columns, counts=counts, ratings=ratings) for dataset in options.dataset]


def add_report_columns(parser: argparse.ArgumentParser) -> None:
    """Adds the columns of a collection of reports."""
    parser.add_argument("--column", nargs="+", default=["report"], metavar="NAME", help="columns that hold the report")
    parser.add_argument("--id-column", metavar="NAME", help="column with the study id")


def add_lexicon(parser: argparse.ArgumentParser) -> None:
    """Adds `--lexicon`, which applies to the whole command."""
    parser.add_argument(
        "--lexicon", metavar="DIR", help="folder of YAML files that extend or override the reader's lexicon"
    )


def add_trials(parser: argparse.ArgumentParser, trials: int = TRIALS) -> None:
    """Adds the number of resamples and their seed."""
    parser.add_argument(
        "--trials",
        type=int,
        default=trials,
        help="number of bootstrap resamples and permutations (default %(default)s); the smallest possible "
        "p-value is 1 / (trials + 1)",
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of intervals and tests (default %(default)s)")


def add_running(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments for running models, and those of every command that writes files."""
    parser.add_argument("--batch-size", type=int, help="number of texts or prompts in a batch")
    parser.add_argument("--device", help="torch device of models (default: all GPUs, or the CPU if there is none)")
    add_writing(parser)


def add_writing(parser: argparse.ArgumentParser, force: str = "overwrite existing files") -> None:
    """Adds `--no-progress` and `--force`."""
    parser.add_argument("--no-progress", action="store_true", help="do not show a progress bar")
    parser.add_argument("--force", action="store_true", help=force)


def metric_names(options: argparse.Namespace) -> list[str]:
    """The metrics that `--metrics` names, presets expanded, all checked; of chosen keys only those that have one.

    Of a preset, `score` and `compare` leave out metrics that do not fit the kind of report.

    Of `score` and `compare` it may name none: then those of the kind of report (`rrgmetrics.scoring.defaults`), or, of
    chosen keys, all that have one.
    """
    keys = chosen_keys(options)
    if not options.metrics:
        options.metrics = [ALL if keys else default_preset(_references(options))]
    asked = split_names(options.metrics)
    names = fitting_metrics(asked, _references(options)) if "references" in options else list(parse_names(asked))
    having = names if keys is None else {metric for metric, _ in choose_keys(names, keys)}
    return [name for name in names if name in having]


def _references(options: argparse.Namespace) -> Iterator[str]:
    """The radiologists' reports that a command is to read, one by one."""
    systems = [*system_paths(getattr(options, "systems", [])).values()]
    pairs = getattr(options, "pairs", None) or next(iter(systems), None)
    if options.references:
        return files.first_references(options.references, column_names(options), of_pairs=False)
    if pairs:
        return files.first_references(pairs, column_names(options), of_pairs=True, beside=systems)
    return iter(())  # what is missing is said where the reports are read


def chosen_keys(options: argparse.Namespace) -> list[str] | None:
    """What `--keys` names; None without it."""
    return split_names(getattr(options, "keys", [])) or None


def split_names(texts: Sequence[str]) -> list[str]:
    """Names with commas between them, one by one."""
    return [name for text in texts for name in text.split(",") if name]


def judge_names(texts: Sequence[str], **options: OptionValue) -> list[str]:
    """Names of judges with options added; InputError for a metric that is none."""
    judges = [spec.name for spec in SPECS.values() if spec.judge]
    known = f"judges are {', '.join(judges)}; name one with an engine, such as {judges[0]}@openai:<model>."
    for metric in map(metric_of, texts):
        if metric and metric not in all_specs():
            raise InputError(f"There is no judge {metric!r}.{did_you_mean(metric, judges)} {capitalized(known)}")
    names = []
    for name in map(parse_name, texts):
        if not name.spec.judge:
            raise InputError(f"{name.spec.name} is not a judge; {known}")
        names.append(str(replace(name, options={**name.options, **options})))
    return names


@files.announced_together()
def read_studies(options: argparse.Namespace) -> files.Studies:
    """The pairs of the file or the two files that were named."""
    two = options.predictions and options.references
    if bool(options.pairs) == bool(two) or (options.pairs and (options.predictions or options.references)):
        raise InputError("Give either one file of pairs, or --predictions and --references.")
    columns = files.check_columns(column_names(options))
    rule = options.per_study
    with files.use_context(context_of(split_names(options.metrics))):
        if options.pairs:
            return files.read_pairs(options.pairs, columns, per_study=rule)
        check_predictions(options.predictions, options.references)
        return files.join(
            files.read_references(options.references, columns, per_study=rule),
            files.read_system(options.predictions, columns, per_study=rule),
        )


def input_files(options: argparse.Namespace) -> list[str]:
    """The files that `read_studies` reads, which no output may replace."""
    named = (options.pairs, options.predictions, options.references)
    return [str(path) for source in named if source for path in files.parts(source)]


def study_ids(studies: files.Studies) -> list[str]:
    """The ids of the pairs; their numbers where the files have none."""
    return studies.study_ids or [str(index) for index in range(len(studies.pairs))]


def add_trivial(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments for trivial systems and abnormal studies."""
    parser.add_argument("--no-trivial", action="store_true", help="leave out trivial systems, skill and collapse")
    parser.add_argument(
        "--train", metavar="FILE", help="training reports; the most frequent one serves as a trivial system"
    )
    parser.add_argument(
        "--train-column", metavar="NAME", help="column of --train that holds the reports (default: report)"
    )
    parser.add_argument(
        "--abnormal",
        metavar="COLUMN",
        help="column of the references that marks abnormal studies (default: the reader decides)",
    )


class Beside(NamedTuple):
    """What systems are compared with beside each other: training reports, and which studies are abnormal."""

    train: Sequence[str] = ()
    abnormal: Sequence[bool] | None = None


def read_beside(options: argparse.Namespace, references: str) -> Beside:
    """What `add_trivial` asks for, read from the files and checked."""
    asked = [name for name in ("train", "train_column", "abnormal") if getattr(options, name)]
    if options.no_trivial and asked:
        raise InputError(
            f"--{asked[0].replace('_', '-')} is an option for trivial systems, and --no-trivial leaves them out."
        )
    if options.train_column and not options.train:
        raise InputError("--train-column needs --train FILE.")
    train = files.read_column(options.train, options.train_column) if options.train else []
    return Beside(train, files.read_flags(references, options.abnormal) if options.abnormal else None)


def prepared(names: Sequence[str] | Mapping[str, str], options: argparse.Namespace) -> Metrics:
    """The metrics, ready to run as the options say; of a mapping the values, under the names that are the keys."""
    shared: dict[str, Any] = {name: getattr(options, name) for name in ("workers", "missing") if name in options}
    shared["text"] = getattr(options, "text", None) or ""
    called = names if isinstance(names, Mapping) else {name: name for name in names}
    ready = prepare(list(called.values()), batch_size=options.batch_size, device=options.device, **shared)
    return ready.renamed({name: asked for asked, name in called.items()})


def score_systems(
    names: Sequence[str] | Mapping[str, str],
    systems: Mapping[str, list[Pair]],
    options: argparse.Namespace,
    ids: Sequence[str] | None,
    readings: Readings,
) -> Results:
    """The results of each system by metric."""
    with prepared(names, options) as metrics:
        metrics.warn(systems, ids)
        results = metrics.keeping(readings).score_sets(list(systems.values()), progress=not options.no_progress)
    return dict(zip(systems, results, strict=True))


def score_with_trivial(
    names: Sequence[str] | Mapping[str, str],
    systems: Mapping[str, list[Pair]],
    beside: Beside,
    options: argparse.Namespace,
    ids: Sequence[str] | None,
    readings: Readings,
) -> tuple[Results, Worth | None]:
    """The results of each system by metric, and, unless `--no-trivial`, what they are worth beside trivial ones."""
    if options.no_trivial:
        return score_systems(names, systems, options, ids, readings), None
    with prepared(names, options) as metrics:
        return score_with_worth(
            metrics.keeping(readings),
            systems,
            **beside._asdict(),
            trials=min(options.trials, WORTH_TRIALS),
            seed=options.seed,
            progress=not options.no_progress,
            study_ids=ids,
        )
