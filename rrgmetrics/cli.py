"""The command line: `rrgmetrics COMMAND ...`; `rrgmetrics --help` lists the commands.

Files, names and outputs are checked before anything is scored; errors of use end with exit status 2 and one line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from rrgmetrics import files
from rrgmetrics.comparison import CORRECTIONS, Row, compare_systems
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.judges.cache import Cache
from rrgmetrics.names import READER, label, parse_name
from rrgmetrics.reports import Pair, check_report
from rrgmetrics.results import Result, unscored_lines
from rrgmetrics.runner import parse_names, score, score_systems
from rrgmetrics.specs import PRESETS, SPECS, OptionValue
from rrgmetrics.stats import TRIALS
from rrgmetrics.version import VERSION

if TYPE_CHECKING:
    from rrgmetrics.present.marks import Explanation

SCORE_TRIALS = 1_000  # intervals only; `compare` also tests
Results = Mapping[str, Mapping[str, Result]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status (0 done, 2 wrong use, 130 interrupted)."""
    options = build_parser().parse_args(arguments)
    say = Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print
    Cache.held = None
    try:
        options.run(options)
    except (InputError, BackendError, MissingExtraError) as error:
        say(f"rrgmetrics: {error}")
        return 2
    except KeyboardInterrupt:
        kept = "" if Cache.held is None else f"; {Cache.held:,} replies kept; run the same command to go on"
        say(f"rrgmetrics: stopped{kept}.")
        return 130
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        sys.stderr.close()
    return 0


def build_parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    parser = argparse.ArgumentParser(prog="rrgmetrics", description="Metrics for machine-written radiology reports.")
    parser.add_argument("--version", action="version", version=f"rrgmetrics {VERSION}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    command = _command(commands, "list", _list, "show the metrics with keys, ranges, configurations and options")
    command.add_argument("--aliases", action="store_true", help="show what papers call each key")

    command = _command(commands, "score", _score, "score one system's reports")
    _add_pairs(command)
    command.add_argument("--output", metavar="FILE", help="scores of each pair: .csv, .jsonl or .parquet")
    command.add_argument("--summary", action="store_true", help="also GREEN's summary: typical errors of each kind")
    _add_scoring(command, trials=SCORE_TRIALS)

    command = _command(commands, "compare", _compare, "compare systems on the same studies; the first is the baseline")
    command.add_argument("--references", required=True, metavar="FILE", help="radiologists' reports: study_id, report")
    command.add_argument(
        "--systems", required=True, nargs="+", metavar="[NAME=]FILE", help="each system's reports: study_id, report"
    )
    command.add_argument("--correction", choices=list(CORRECTIONS), default="holm", help="for all tests of the table")
    command.add_argument("--all-keys", action="store_true", help="every key instead of each metric's headline")
    _add_scoring(command, trials=TRIALS)

    command = _command(commands, "agree", _agree, "measure how far metrics agree with radiologists")
    command.add_argument("--dataset", required=True, metavar="KIND:PATH", help="radpref:PATH or radjudge:PATH")
    command.add_argument("--plots", metavar="DIR", help="write a scatter plot per metric")
    command.add_argument("--json", metavar="FILE", help="the same numbers as JSON")
    _add_metrics(command, trials=TRIALS)

    command = _command(commands, "explain", _explain, "show two reports and what differs, with the evidence in colour")
    command.add_argument("reference", metavar="REFERENCE", help="the radiologist's report: a text file, or the text")
    command.add_argument("candidate", metavar="CANDIDATE", help="the machine's report: a text file, or the text")
    command.add_argument("--age", default="", help="of the patient: 072Y, 19M, 25; decides what is significant")
    command.add_argument("--indication", default="", help="for the examination; decides what is significant")
    command.add_argument(
        "--judges",
        nargs="+",
        default=[],
        metavar="NAME",
        help="show their verdicts too: green, crimson@openai:<model>, ...",
    )

    command = _command(commands, "judge", _judge, "ask a judge about each pair and keep its replies")
    _add_pairs(command)
    command.add_argument(
        "--metrics",
        nargs="+",
        required=True,
        metavar="NAME",
        help="judges with an engine: green@openai:<model>?base_url=...",
    )
    command.add_argument(
        "--record", required=True, metavar="FILE", help=".jsonl that gets the replies, for replies:FILE"
    )
    command.add_argument("--batch-size", type=int, help="prompts a forward pass of a model")
    command.add_argument("--device", help="torch device of models; default every GPU, else the CPU")
    command.add_argument("--no-progress", action="store_true", help="no progress bar")
    command.add_argument("--force", action="store_true", help="replace files that exist")

    _add_training(
        _command(commands, "train", None, "train a metric's model").add_subparsers(required=True, metavar="WHAT")
    )

    command = _command(commands, "convert", _convert, "store a published RadGraph checkpoint as safetensors")
    command.add_argument("checkpoint", metavar="NAME", help="radgraph-xl, radgraph, ..., an archive or its folder")
    command.add_argument("--output", required=True, metavar="DIR", help="folder to write, for radgraph_f1@DIR")

    _add_radcliq(
        _command(commands, "radcliq", None, "refit RadCliQ on rated pairs").add_subparsers(
            required=True, metavar="WHAT"
        )
    )

    _add_synthesis(_command(commands, "synthesize", _synthesize, "make labelled error pairs from reports, to train on"))

    _add_space(_command(commands, "space", _space, "show a metric in a browser, or write or upload its Space"))

    _add_leaderboard(
        _command(commands, "leaderboard", None, "score submissions against references that submitters never see")
    )

    command = _command(commands, "register", _register, "let a bare evaluate.load(NAME) find our modules")
    command.add_argument("--remove", action="store_true", help="take them away again")
    return parser


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], None] | None, summary: str
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
    command.set_defaults(run=run)
    return command


def _add_pairs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "pairs", nargs="?", metavar="PAIRS", help="CSV, JSONL or Parquet: study_id, reference, candidate"
    )
    command.add_argument("--predictions", metavar="FILE", help="the system's reports: study_id, report; or a text file")
    command.add_argument("--references", metavar="FILE", help="radiologists' reports: study_id, report; or a text file")


def _add_metrics(command: argparse.ArgumentParser, *, trials: int) -> None:
    command.add_argument(
        "--metrics",
        nargs="+",
        default=list(SPECS),
        metavar="NAME",
        help=f"names, spaces or commas between, or {', '.join(PRESETS)}; default: all",
    )
    command.add_argument("--trials", type=int, default=trials, help="resamples and swaps (default %(default)s)")
    command.add_argument("--seed", type=int, default=0, help="of every interval and test (default %(default)s)")
    command.add_argument("--batch-size", type=int, help="texts a forward pass of a model")
    command.add_argument("--device", help="torch device of models; default CUDA where there is one")
    command.add_argument("--no-progress", action="store_true", help="no progress bar")
    command.add_argument("--force", action="store_true", help="replace files that exist")


def _add_scoring(command: argparse.ArgumentParser, *, trials: int) -> None:
    command.add_argument("--json", metavar="FILE", help="scores, intervals and signatures as JSON")
    command.add_argument("--html", metavar="FILE", help="a readable report, one file")
    _add_metrics(command, trials=trials)


def _add_training(commands: Any) -> None:
    command = _command(commands, "crepe", _train_crepe, "train a CREPE regressor on labelled pairs, or go on with it")
    _add_recipe(command, "crepe")

    command = _command(commands, "search", _train_search, "search a CREPE recipe's values with Optuna")
    command.add_argument("--trials", type=int, default=20, help="trainings in all (default %(default)s)")
    _add_recipe(command, "crepe")

    command = _command(commands, "ablation", _train_ablation, "train variants of a CREPE recipe and compare them")
    _add_recipe(command, "crepe")

    command = _command(
        commands, "encoder", _train_encoder, "make an encoder: vocabulary, masked language model, SimCSE"
    )
    _add_recipe(command, "encoder", data="corpus")

    command = _command(commands, "export", _train_export, "store a checkpoint in fewer bits, for shipping")
    command.add_argument("checkpoint", metavar="FOLDER", help="a checkpoint's folder")
    command.add_argument("--output", required=True, metavar="DIR", help="folder to write")
    command.add_argument(
        "--storage", choices=["int8", "fp16"], default="int8", help="of matrices (default %(default)s)"
    )
    command.add_argument("--force", action="store_true", help="replace files that exist")


def _add_recipe(command: argparse.ArgumentParser, recipe: str, *, data: str = "pairs") -> None:
    command.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="values that replace the recipe's")
    command.add_argument("--config", default=recipe, metavar="RECIPE", help="a YAML file, or one of ours: %(default)s")
    command.add_argument(f"--{data}", dest="data", action="append", metavar="FILE", help="repeat it for several files")
    command.add_argument("--output", required=True, metavar="DIR", help="folder of the run; goes on where it stopped")
    command.add_argument("--no-progress", action="store_true", help="no progress bar")
    command.add_argument("--force", action="store_true", help="replace a run that is in the folder")


def _add_radcliq(commands: Any) -> None:
    command = _command(commands, "fit", _fit_radcliq, "fit RadCliQ's coefficients to errors that raters counted")
    command.add_argument(
        "rated", metavar="RATED", help="pairs with a column of errors: .csv, .jsonl, .parquet; or radpref:PATH"
    )
    command.add_argument("--output", required=True, metavar="FILE", help="coefficients, for radcliq@FILE: .json")
    command.add_argument(
        "--metric", default="radcliq", metavar="NAME", help="what is combined: radcliq (default), radcliq@paper"
    )
    command.add_argument(
        "--errors", default="errors", metavar="COLUMN", help="errors of the candidate (default %(default)s)"
    )
    command.add_argument(
        "--case", default="", metavar="COLUMN", help="pairs that belong together (default: one reference)"
    )
    command.add_argument("--trials", type=int, default=SCORE_TRIALS, help="resamples of cases (default %(default)s)")
    command.add_argument("--seed", type=int, default=0, help="of every interval (default %(default)s)")
    command.add_argument("--batch-size", type=int, help="texts a forward pass of a model")
    command.add_argument("--device", help="torch device of models; default CUDA where there is one")
    command.add_argument("--no-progress", action="store_true", help="no progress bar")
    command.add_argument("--force", action="store_true", help="replace files that exist")


def _add_synthesis(command: argparse.ArgumentParser) -> None:
    command.add_argument("reports", metavar="REPORTS", help="a file, a datasets folder, hub:ID or generator:N")
    command.add_argument("--output", required=True, metavar="FILE", help="the pairs: .parquet")
    command.add_argument("--pairs", type=int, default=10_000, metavar="N", help="pairs wanted (default %(default)s)")
    command.add_argument("--column", nargs="+", default=["report"], help="columns that hold a report (default: report)")
    command.add_argument("--id-column", metavar="COLUMN", help="column that names the study (default: study_id)")
    command.add_argument("--split", default="train", help="of a datasets set (default %(default)s)")
    command.add_argument("--ways", nargs="+", metavar="WAY[:WEIGHT]", help="ways of pairing (default: all possible)")
    command.add_argument("--generated", nargs="+", default=[], metavar="FILE", help="outputs: study_id, report")
    command.add_argument(
        "--labels", default="reader", help="reader (default), injected, replies:FILE, openai:MODEL, ..."
    )
    command.add_argument(
        "--foreign", type=float, default=0.0, metavar="SHARE", help="of texts that get words no lexicon has (default 0)"
    )
    command.add_argument("--validation", type=float, default=0.1, help="share of reports (default %(default)s)")
    command.add_argument("--test", type=float, default=0.1, help="share of reports (default %(default)s)")
    command.add_argument("--plot", metavar="FILE", help="the labels beside the CREPE paper's, as a picture: .png")
    command.add_argument("--json", metavar="FILE", help="the same numbers as JSON")
    command.add_argument("--seed", type=int, default=0, help="of every draw (default %(default)s)")
    command.add_argument("--jobs", type=int, default=1, help="processes (default %(default)s)")
    command.add_argument("--no-progress", action="store_true", help="no progress bar")
    command.add_argument("--force", action="store_true", help="replace files that exist, and shards of another run")


def _add_space(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", nargs="*", metavar="NAME", help="a metric, compare or leaderboard")
    command.add_argument("--all", action="store_true", help="every Space; with --build or --push")
    command.add_argument("--host", default="127.0.0.1", help="address to serve at (default %(default)s)")
    command.add_argument("--port", type=int, help="port to serve at (default: a free one from 7860)")
    command.add_argument("--build", metavar="DIR", help="write the Spaces' repositories, each to a folder of its name")
    command.add_argument("--push", metavar="ORG", help="upload them to this user or organisation of the Hub")
    command.add_argument(
        "--wheel",
        nargs="?",
        const="",
        metavar="FILE",
        help="bundle a wheel (default: of this checkout), not the release",
    )
    command.add_argument("--dry-run", action="store_true", help="list the files; write and upload nothing")
    command.add_argument("--force", action="store_true", help="replace files and Spaces that exist")


def _add_leaderboard(command: argparse.ArgumentParser) -> None:
    steps = command.add_subparsers(required=True, metavar="STEP")

    def step(name: str, summary: str) -> argparse.ArgumentParser:
        parser = _command(steps, name, _leaderboard, summary)
        parser.set_defaults(step=name)
        parser.add_argument("board", metavar="BOARD", help="a SQLite file, a PostgreSQL URL, or env:VARIABLE with one")
        return parser

    parser = step("init", "make a board")
    parser.add_argument("--references", required=True, metavar="FILE", help="study_id, report, age, sex, public, ...")
    parser.add_argument("--metrics", required=True, nargs="+", metavar="NAME", help="the columns; the first one ranks")
    parser.add_argument("--primary", default="", metavar="NAME", help="the metric that ranks, if not the first")
    parser.add_argument("--title", default="Radiology report leaderboard", help="of the page (default: %(default)s)")
    parser.add_argument("--description", default="", help="Markdown for the page")
    parser.add_argument("--dataset", default="", metavar="ID", help="Hub id of the benchmark, for .eval_results")
    parser.add_argument("--trials", type=int, default=TRIALS, help="resamples and swaps (default %(default)s)")

    parser = step("submit", "check a system's reports and queue them")
    parser.add_argument("file", metavar="FILE", help="CSV or JSONL: study_id, report")
    parser.add_argument("--name", required=True, help="of the system")
    parser.add_argument("--submitter", required=True, help="Hub handle or URL")
    parser.add_argument("--model-card", default="", metavar="ID", help="Hub id or URL")
    parser.add_argument("--tags", nargs="+", default=[], metavar="TAG", help="short words, for filters")
    parser.add_argument("--check", action="store_true", help="only say what is to be mended")

    parser = step("work", "score what is queued")
    parser.add_argument("--once", action="store_true", help="end when nothing is queued")
    parser.add_argument("--batch-size", type=int, help="texts a forward pass of a model")

    parser = step("serve", "show the board in a browser, with a worker beside it")
    parser.add_argument("--host", default="127.0.0.1", help="address to serve at (default %(default)s)")
    parser.add_argument("--port", type=int, help="port to serve at (default: a free one from 7860)")
    parser.add_argument(
        "--proxies", type=int, default=0, help="proxies before the page that name the visitor's address"
    )
    parser.add_argument("--no-worker", dest="worker", action="store_false", help="`work` runs elsewhere")

    parser = step("export", "write what the board publishes")
    parser.add_argument("folder", metavar="DIR", help="folder to write")
    parser.add_argument("--push", default="", metavar="ID", help="also upload it as this data set of the Hub")
    parser.add_argument("--force", action="store_true", help="replace files that exist")

    parser = step("backup", "make a consistent copy, also while the board is in use")
    parser.add_argument("file", metavar="FILE", help="file to write")

    parser = step("show", "show the table, or where a submission stands")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="of a submission")
    parser.add_argument("--hidden", action="store_true", help="also hidden systems")

    for name, summary in (
        ("hide", "take a system off the board"),
        ("unhide", "put it back"),
        ("retry", "queue a failed submission again"),
    ):
        step(name, summary).add_argument("id", metavar="ID", help="of the system")
    step("rescore", "score everything anew with the metrics as installed now")
    step("token", "make a new admin token, which ends the old one")


def _list(options: argparse.Namespace) -> None:
    from rrgmetrics.present.results import metric_table, preset_table

    Console().print(metric_table(aliases=options.aliases))
    if not options.aliases:
        Console().print(preset_table())


def _score(options: argparse.Namespace) -> None:
    from rrgmetrics.present.results import score_table

    names = _summarised(_metric_names(options)) if options.summary else _metric_names(options)
    sources = [options.pairs, options.predictions, options.references]
    files.check_outputs(
        tables=[options.output],
        results=[options.json],
        pages=[options.html],
        inputs=[path for path in sources if path],
        force=options.force,
    )
    studies = _read_studies(options)
    system = Path(options.predictions or options.pairs).stem
    results = _score_systems(names, {system: studies.pairs}, options)
    rows = compare_systems(results, all_keys=True, trials=options.trials, seed=options.seed)
    Console().print(score_table(rows, n_pairs=len(studies.pairs)))
    _print_unscored(results)
    if options.summary:
        _print_summaries(results[system])
    if options.output:
        columns: dict[str, Any] = {"study_id": _study_ids(studies), **per_pair_columns(results[system])}
        files.write_table(options.output, columns, force=options.force)
    _write_reports(options, results, {system: studies}, rows)


def _print_unscored(results: Results) -> None:
    for line in unscored_lines(results):
        Console(soft_wrap=True, highlight=False, markup=False).print(line)


def _summarised(names: Sequence[str]) -> list[str]:
    """The names, GREEN's with its verdicts in words; InputError without GREEN."""
    parsed = [parse_name(name) for name in names]
    if all(name.spec.name != "green" for name in parsed):
        raise InputError("--summary is GREEN's; name it with --metrics, for example --metrics green.")
    return [
        str(replace(name, options={**name.options, "explain": True}) if name.spec.name == "green" else name)
        for name in parsed
    ]


def _print_summaries(results: Mapping[str, Result]) -> None:
    from rrgmetrics.judges.summary import summarise

    for name, result in results.items():
        if result.spec.name == "green":
            print_plain = Console(soft_wrap=True, highlight=False, markup=False).print
            said = result.details["green_explained"]
            summary = summarise(said) if result.n_unscored < result.n_pairs else "no pair is scored"
            print_plain(f"{label(name, result.titled)}: {summary}")


def _compare(options: argparse.Namespace) -> None:
    from rrgmetrics.present.results import comparison_table

    names = _metric_names(options)
    paths = _system_paths(options.systems)
    inputs = [options.references, *paths.values()]
    files.check_outputs(results=[options.json], pages=[options.html], inputs=inputs, force=options.force)
    references = files.read_references(options.references)
    systems = {name: files.join(references, files.read_system(path)) for name, path in paths.items()}
    results = _score_systems(names, {name: studies.pairs for name, studies in systems.items()}, options)
    rows = compare_systems(
        results, all_keys=options.all_keys, correction=options.correction, trials=options.trials, seed=options.seed
    )
    Console().print(comparison_table(rows, n_pairs=len(references.reports), correction=options.correction))
    _print_unscored(results)
    _write_reports(options, results, systems, rows)


def _agree(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval import agree
    from rrgmetrics.metaeval.plots import plot_path

    names = _metric_names(options)
    if options.plots and not options.dataset.startswith("radpref:"):
        raise InputError("--plots draws scores against radiologists' ratings; only radpref has them.")
    pictures = [plot_path(options.plots, name) for name in names] if options.plots else []
    files.check_outputs(results=[options.json], pictures=pictures, force=options.force)
    report = agree(
        options.dataset,
        names,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    report.print(Console())
    if options.json:
        files.write_json(options.json, report.to_dict(), force=options.force)
    if options.plots:
        report.plot(options.plots, force=options.force)


def _explain(options: argparse.Namespace) -> None:
    from rrgmetrics.present.marks import Explanation
    from rrgmetrics.present.terminal import explained, verdict
    from rrgmetrics.reader import explain

    reference, candidate = (_report_text(text) for text in (options.reference, options.candidate))
    check_report(reference, "REFERENCE")
    check_report(candidate, "CANDIDATE")
    context = {"age": options.age, "indication": options.indication}
    names = _judge_names(options.judges, explain=True) if options.judges else []
    found = explain(reference, candidate, context)
    results = score(names, predictions=[candidate], references=[reference], contexts=[context]) if names else {}
    console = Console(highlight=False)
    console.print(explained(reference, candidate, Explanation.of(found)))
    for name, result in zip(options.judges, results.values(), strict=True):
        console.print(verdict(name, result))


def _judge(options: argparse.Namespace) -> None:
    from rrgmetrics.present.results import judge_lines

    names = _judge_names([name for text in options.metrics for name in text.split(",") if name])
    silent = [name for name in names if parse_name(name).config in READER]
    if silent:
        raise InputError(
            f"{silent[0].partition('?')[0]} asks nobody: it is the bundled one. Name an engine, for example "
            f"{parse_name(silent[0]).spec.name}@openai:<model>?base_url=http://127.0.0.1:8000/v1."
        )
    if len({parse_name(name).config for name in names}) > 1:
        raise InputError("One file holds the replies of one engine; record each engine in a file of its own.")
    sources = [path for path in (options.pairs, options.predictions, options.references) if path]
    files.check_outputs(replies=[options.record], inputs=sources, force=options.force)
    studies = _read_studies(options)
    part = Path(f"{options.record}.part")
    part.unlink(missing_ok=True)
    results = _score_systems(_judge_names(names, record=str(part)), {"": studies.pairs}, options)[""]
    if part.exists():  # else nobody gave a reply
        part.replace(options.record)
    Console(soft_wrap=True, highlight=False).print(judge_lines(results.values(), options.record))


def _judge_names(texts: Sequence[str], **said: OptionValue) -> list[str]:
    """Names of judges with options added; InputError for a metric that is none."""
    names = []
    for name in map(parse_name, texts):
        if not name.spec.judge:
            judges = ", ".join(spec.name for spec in SPECS.values() if spec.judge)
            raise InputError(f"{name.spec.name} is no judge; judges are {judges}.")
        names.append(str(replace(name, options={**name.options, **said})))
    return names


def _synthesize(options: argparse.Namespace) -> None:
    from rrgmetrics.training.distribution import distribution, plot, tables
    from rrgmetrics.training.pairs import read_rows
    from rrgmetrics.training.sources import load_collection, read_outputs
    from rrgmetrics.training.synthesis import outcome_lines, parse_ways, synthesize

    files.check_outputs(
        tables=[options.output],
        results=[options.json],
        pictures=[options.plot],
        inputs=[path for path in (options.reports, *options.generated) if Path(path).exists()],
        force=options.force,
    )
    collection = load_collection(
        options.reports,
        columns=options.column,
        id_column=options.id_column,
        split=options.split,
        seed=options.seed,
    )
    made = synthesize(
        collection,
        options.output,
        n_pairs=options.pairs,
        ways=parse_ways(options.ways) if options.ways else None,
        outputs=read_outputs(options.generated),
        labels=options.labels,
        seed=options.seed,
        held_out=(options.validation, options.test),
        foreign=options.foreign,
        n_jobs=options.jobs,
        force=options.force,
        progress=not options.no_progress,
    )
    found = distribution(read_rows(made.path))
    console = Console(soft_wrap=True)
    for part in (*tables(found), *outcome_lines(made, collection)):
        console.print(part)
    if options.json:
        files.write_json(options.json, {**found.to_dict(), "outcomes": made.outcomes}, force=options.force)
    if options.plot:
        plot(found, options.plot, force=options.force)


def _report_text(text: str) -> str:
    """The text of the file of that name, or the text itself."""
    if len(text) > 255 or "\n" in text or not Path(text).is_file():
        return text
    try:
        return Path(text).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{text} cannot be read as UTF-8 text: {error}.") from None


def _train_crepe(options: argparse.Namespace) -> None:
    from rrgmetrics.training.crepe import train_crepe
    from rrgmetrics.training.tables import measured_table

    config = _crepe_config(options)
    run = train_crepe(config, options.output, force=options.force, progress=not options.no_progress)
    _training_console().print(measured_table(run.measured), f"Score with it: crepe@{run.folder}")


def _train_search(options: argparse.Namespace) -> None:
    from rrgmetrics.training.search import search_crepe

    config = _crepe_config(options)
    found = search_crepe(
        config, options.output, trials=options.trials, force=options.force, progress=not options.no_progress
    )
    best = ", ".join(f"{key}={value:.4g}" for key, value in found.values.items())
    _training_console().print(
        f"Best of {found.n_trials} trials: tau {found.tau:.3f} with {best}",
        f"Train with it: rrgmetrics train crepe --config {found.recipe}",
        sep="\n",
    )


def _train_ablation(options: argparse.Namespace) -> None:
    from rrgmetrics.training.ablation import run_ablation
    from rrgmetrics.training.tables import ablation_table

    config = _crepe_config(options)
    variants = run_ablation(config, options.output, force=options.force, progress=not options.no_progress)
    _training_console().print(ablation_table(variants))


def _training_console() -> Console:
    """Of several processes that train together, one speaks."""
    from rrgmetrics.training.trainer import is_main_process

    return Console(soft_wrap=True, highlight=False, quiet=not is_main_process())


def _crepe_config(options: argparse.Namespace) -> Any:
    from rrgmetrics.training.config import CrepeConfig, read_config

    data = {"pairs": options.data} if options.data else {}
    return read_config(CrepeConfig, options.config, options.overrides, **data)


def _train_encoder(options: argparse.Namespace) -> None:
    from rrgmetrics.training.config import EncoderConfig, read_config
    from rrgmetrics.training.pretraining import train_encoder

    data = {"corpus": options.data} if options.data else {}
    config = read_config(EncoderConfig, options.config, options.overrides, **data)
    run = train_encoder(config, options.output, force=options.force, progress=not options.no_progress)
    _training_console().print(
        f"{run.n_parameters / 1e6:.1f} M parameters; masked tokens predicted with perplexity {run.perplexity:.1f}",
        f"Train on it: rrgmetrics train crepe encoder={run.folder}",
        sep="\n",
    )


def _fit_radcliq(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval.composite import fit_radcliq
    from rrgmetrics.present.results import composite_table

    inputs = [options.rated] if Path(options.rated).exists() else []
    files.check_outputs(results=[options.output], inputs=inputs, force=options.force)
    found = fit_radcliq(
        options.rated,
        metric=options.metric,
        errors=options.errors,
        case=options.case,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    files.write_json(options.output, found.to_dict(), force=options.force)
    Console().print(composite_table(found))
    ours = found.coefficients.parts == "default"
    name = f"radcliq@{options.output}" if ours else f"radcliq@paper?coefficients={options.output}"
    Console(soft_wrap=True, highlight=False).print(f"Score with it: {name}", markup=False)


def _train_export(options: argparse.Namespace) -> None:
    from rrgmetrics.training.export import export_checkpoint

    done = export_checkpoint(options.checkpoint, options.output, storage=options.storage, force=options.force)
    Console(soft_wrap=True).print(
        f"{done.folder}: {done.megabytes:.1f} MB, largest change of a weight {done.error:.2g}"
    )


def _convert(options: argparse.Namespace) -> None:
    from rrgmetrics.backends.radgraph.checkpoint import convert

    folder = convert(options.checkpoint, Path(options.output))
    Console(soft_wrap=True, highlight=False).print(f"{folder}: use it as radgraph_f1@{folder}", markup=False)


def _space(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces import builder, serving

    names = builder.check_names(builder.space_names() if options.all else options.names)
    if not (options.build or options.push or options.dry_run):
        if len(names) > 1:
            raise InputError("One Space is served at a time; name one, or write them with --build DIR.")
        serving.serve(names[0], host=options.host, port=options.port)
        return
    wheel = None if options.wheel is None else builder.read_wheel(options.wheel)
    spaces = [builder.repository(name, wheel=wheel, organisation=options.push or "") for name in names]
    say = Console(soft_wrap=True, highlight=False, markup=False).print
    if options.dry_run:
        for line in builder.listing(spaces):
            say(line)
        return
    for folder in builder.build(spaces, options.build, force=options.force) if options.build else ():
        say(f"{folder}: python app.py" + (f", evaluate.load({str(folder)!r})" if folder.name in SPECS else ""))
    for address in builder.push(spaces, options.push, force=options.force) if options.push else ():
        say(address)


def _leaderboard(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces.leaderboard import commands

    commands.run(options)


def _register(options: argparse.Namespace) -> None:
    from rrgmetrics.hub import register

    done = register(remove=options.remove)
    console = Console(soft_wrap=True)
    console.print("No longer found:" if options.remove else "evaluate.load now finds, with or without a network:")
    for name in done:
        console.print(f"  {name}")


def _metric_names(options: argparse.Namespace) -> list[str]:
    names = [name for text in options.metrics for name in text.split(",") if name]
    return list(parse_names(names))


def _read_studies(options: argparse.Namespace) -> files.Studies:
    two = options.predictions and options.references
    if bool(options.pairs) == bool(two) or (options.pairs and (options.predictions or options.references)):
        raise InputError("Give either one file of pairs, or --predictions and --references.")
    if options.pairs:
        return files.read_pairs(options.pairs)
    return files.join(files.read_references(options.references), files.read_system(options.predictions))


def _system_paths(texts: Sequence[str]) -> dict[str, str]:
    paths: dict[str, str] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            name, path = Path(text).stem, text
        if name in paths:
            raise InputError(f"Two systems are called {name!r}; name them: NAME=FILE.")
        paths[name] = path
    return paths


def _score_systems(names: list[str], systems: Mapping[str, list[Pair]], options: argparse.Namespace) -> Results:
    first = next(iter(systems.values()))
    return score_systems(
        names,
        systems={name: [pair.candidate for pair in pairs] for name, pairs in systems.items()},
        references=[pair.reference for pair in first],
        contexts=[pair.context._asdict() for pair in first],
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )


def per_pair_columns(results: Mapping[str, Result]) -> dict[str, Any]:
    """Per-pair scores as columns; two configurations of one metric are told apart as `bleu__tokenizer_13a`."""
    columns: dict[str, Any] = {}
    for name, result in results.items():
        suffix = parse_name(name).slug.removeprefix(result.spec.name)
        columns |= {key + suffix: values for key, values in result.per_pair.items()}
    return columns


def _study_ids(studies: files.Studies) -> list[str]:
    return studies.study_ids or [str(index) for index in range(len(studies.pairs))]


def _write_reports(
    options: argparse.Namespace, results: Results, systems: Mapping[str, files.Studies], rows: Sequence[Row]
) -> None:
    if options.json:
        files.write_json(options.json, as_json(results, rows), force=options.force)
    if options.html:
        from rrgmetrics.present.report import report_page

        first = next(iter(systems.values()))
        pairs = {name: studies.pairs for name, studies in systems.items()}
        found = evidence(pairs) if any("finding_errors" in by_metric for by_metric in _metric_specs(results)) else None
        page = report_page(results, pairs, _study_ids(first), intervals=_intervals(rows), evidence=found)
        files.write_text(options.html, page, force=options.force)
        Console(soft_wrap=True).print(f"Report: {options.html}")


def _metric_specs(results: Results) -> list[set[str]]:
    return [{result.spec.name for result in by_metric.values()} for by_metric in results.values()]


def evidence(systems: Mapping[str, Sequence[Pair]]) -> dict[str, list[Explanation]]:
    """What the reader finds in each pair of each system, for the pages."""
    from rrgmetrics.present.marks import Explanation
    from rrgmetrics.reader import explain

    return {name: [Explanation.of(explain(*pair)) for pair in pairs] for name, pairs in systems.items()}


def _intervals(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, tuple[float, float]]]]:
    intervals: dict[str, dict[str, dict[str, tuple[float, float]]]] = {}
    for row in rows:
        by_metric = intervals.setdefault(row.system, {})
        by_metric.setdefault(row.metric, {})[row.key.name] = (row.score.low, row.score.high)
    return intervals


def as_json(results: Results, rows: Sequence[Row]) -> dict[str, Any]:
    """What `--json` writes: scores, intervals, tests and signatures."""
    document: dict[str, Any] = {"rrgmetrics": VERSION, "systems": {}}
    for system, by_metric in results.items():
        document["systems"][system] = {
            metric: {
                "scores": result.scores,
                "n_pairs": result.n_pairs,
                "n_unscored": result.n_unscored,
                "unscored": result.unscored_counts,
                "signature": result.signature,
            }
            for metric, result in by_metric.items()
        }
    document["rows"] = [
        {
            "metric": row.metric,
            "key": row.key.name,
            "system": row.system,
            "score": row.score._asdict(),
            "higher_is_better": row.key.higher_is_better,
            "difference": None if row.test is None else row.test.difference._asdict(),
            "p": None if row.test is None else row.test.p_value,
            "p_corrected": None if row.test is None else row.p_corrected,
            "effect_size": None if row.test is None else row.test.effect_size,
        }
        for row in rows
    ]
    return document


if __name__ == "__main__":
    sys.exit(main())
