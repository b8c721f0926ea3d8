"""The command line: `rrgmetrics COMMAND ...`; `rrgmetrics --help` lists the commands.

Each command is one module with `add_arguments(parser)` and the function that runs it; it is imported when the command
is called. Files, names and outputs are checked before scoring; wrong use ends with a one-line message and exit status
2. `STATUSES` lists all exit statuses.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from typing import Any, NoReturn

from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.judges.cache import Cache
from rrgmetrics.judges.engines.asking import SPENT, spending_lines
from rrgmetrics.judges.outcomes import OUTCOMES, outcome_lines, outcome_status
from rrgmetrics.reading.lexicon import folder_in_use, use
from rrgmetrics.utils.own_process import collect_seldom, sleeping_threads
from rrgmetrics.utils.printable import as_options, log_visibly, visible
from rrgmetrics.utils.text_format import did_you_mean
from rrgmetrics.version import VERSION

COMMANDS: Mapping[str, tuple[str, str]] = {  # name: the module that holds it, and what it does
    "list": ("rrgmetrics.cli.listing", "list the metrics, or show one metric's keys, options, agreement and cost"),
    "score": ("rrgmetrics.cli.score", "score the reports of one system"),
    "merge": ("rrgmetrics.cli.merge", "merge the parts that `score --shard` wrote"),
    "compare": ("rrgmetrics.cli.compare", "compare systems on the same studies; the first system is the baseline"),
    "tabulate": ("rrgmetrics.cli.tabulate", "join the `compare --json` files of several data sets into one table"),
    "agree": ("rrgmetrics.cli.agree", "measure how well metrics agree with radiologists"),
    "ablation": ("rrgmetrics.cli.ablation", "compare CREPE checkpoints with different heads and losses against raters"),
    "retrieve": ("rrgmetrics.cli.retrieve", "measure how well encoders retrieve reports with the same labels"),
    "stress": ("rrgmetrics.cli.stress", "insert errors into reports and show which of them each metric detects"),
    "game": ("rrgmetrics.cli.game", "search for texts and tricks that score well without being correct"),
    "oracle": ("rrgmetrics.cli.oracle", "find the report that a metric ranks best, and score it with other metrics"),
    "explain": ("rrgmetrics.cli.explain", "show the differences between two reports and highlight the words"),
    "judge": ("rrgmetrics.cli.judge", "ask a judge about each pair and store its replies"),
    "choose": ("rrgmetrics.cli.choose", "ask a model which of two candidates is better, in both orders"),
    "lexicon": ("rrgmetrics.cli.lexicon", "check the reader's lexicon, or look up a term in it"),
    "prefer": ("rrgmetrics.cli.prefer", "make chosen and rejected reports for DPO and KTO with any metric"),
    "train": ("rrgmetrics.cli.train", "train a metric's model"),
    "doctor": (
        "rrgmetrics.cli.doctor",
        "check published weights: files, licence and the authors' examples",
    ),
    "convert": ("rrgmetrics.cli.convert", "convert a published RadGraph checkpoint to safetensors"),
    "radcliq": ("rrgmetrics.cli.radcliq", "refit RadCliQ on rated pairs, or predict the errors of systems"),
    "synthesize": ("rrgmetrics.cli.synthesize", "make pairs with labelled errors from reports, for training"),
    "space": ("rrgmetrics.cli.space", "show a metric in the browser, or build or upload its Space"),
    "leaderboard": (
        "rrgmetrics.spaces.leaderboard.commands",
        "host a leaderboard that scores submissions against hidden references",
    ),
    "rating": (
        "rrgmetrics.spaces.rating.commands",
        "collect error counts, ratings and preferences from radiologists, blind to the source",
    ),
    "harness": ("rrgmetrics.cli.harness", "locate or write the tasks for lm-evaluation-harness and lmms-eval"),
    "mcp": ("rrgmetrics.cli.mcp", "serve score, explain, compare and list as MCP tools over standard input"),
    "register": ("rrgmetrics.cli.register", "make `evaluate.load(NAME)` find the modules of rrgmetrics"),
}
ASKING = ("judge", "score", "compare")  # commands that most often ask a judge
STATUSES = (
    "exit status: 0 success; 2 wrong use, or a missing file, model or server; 3 finished, but a judge gave no verdict "
    "on some of the pairs that it was asked about; 4 finished, but a judge gave no verdict on any pair; 130 "
    "interrupted. Pairs without a reference are not sent to a judge and do not change the status."
)
OFTEN = ("score", "compare", "explain", "agree", "judge")  # commands whose options are asked of others


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Prints the error and how to list the arguments, and exits with status 2."""
        end = "" if message.endswith(("?", ".")) else "."
        self.exit(2, visible(f"{self.prog}: {message}{end} {self.prog} --help lists the arguments.\n"))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raises ArgumentError for a value that is no choice, with the nearest one."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = did_you_mean(str(value), map(str, action.choices or ()))
            raise argparse.ArgumentError(
                action, f"invalid choice: {value!r}.{near}" if near else error.message
            ) from None


class Command(Parser):
    """The parser of one command, which reads its arguments from the command's module when it is called."""

    module = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Adds the arguments of the command, once, and parses."""
        if self.module:
            import_module(self.module).add_arguments(self)
            self.module = ""
            self.set_defaults(parser=self)
        taken = None
        if any(action.dest == "evaluation" for action in self._actions):
            from rrgmetrics.cli.config import take_config

            taken = take_config(self, args)
        options, others = super().parse_known_args(args, namespace)
        if getattr(options, "evaluation", taken) != taken:
            self.error("write --config in full")
        if getattr(options, "pairs", None) and others and not others[0].startswith("-"):
            self.error(_second_source(options, others))
        if others:
            self.error(self._unknown(others[0]))
        return options, others

    def _unknown(self, text: str) -> str:
        """What an argument may have meant that the command has not."""
        from rrgmetrics.files.formats import COLUMNS
        from rrgmetrics.specs import SPECS

        written = text.partition("=")[0]
        takers = [spec.name for spec in SPECS.values() if written.lstrip("-") in spec.options]
        if takers:
            option = written.lstrip("-")
            return f"{written} is an option of metrics; write it after the name: '{takers[0]}?{option}=...'"
        name = written.lstrip("-")
        options = [option[2:] for option in self._option_string_actions if option.startswith("--")]
        if name in COLUMNS and "columns" in options:
            return f"there is no argument {written}; name its column: --columns {name}=COLUMN."
        positional = [str(action.metavar or action.dest) for action in self._get_positional_actions()]
        if name.upper() in positional:
            return f"there is no argument {written}; write only the values: {self.prog} {' '.join(positional)}."
        near = did_you_mean(name, options).replace("'", "'--", 1)  # without dashes, which every option shares
        return f"there is no argument {text}.{near or _elsewhere(written)}"


def _elsewhere(option: str) -> str:
    """Which other command has an option, and what it does there; "" if none has."""
    for command in OFTEN:
        parser = Parser(prog=f"rrgmetrics {command}")
        import_module(COMMANDS[command][0]).add_arguments(parser)
        action = parser._option_string_actions.get(option)
        if action is not None and action.help:
            return f" `{parser.prog}` has it: {action.help % vars(action)}."
    return ""


def _second_source(options: argparse.Namespace, others: Sequence[str]) -> str:
    """What a second file or column after the first may have meant."""
    if not getattr(options, "systems", True):
        from rrgmetrics.cli.compare import with_systems

        return with_systems(options, others)
    return (
        f"only one source of pairs can be given, and {others[0]} is another; name the files of a system and of its "
        "references with --predictions and --references, and put a pattern in quotes: 'part-*.csv'"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: Those of the command line; None takes `sys.argv`.

    Returns:
        The exit status, as `STATUSES` says.
    """
    with log_visibly():
        return _answer(arguments)


def _answer(arguments: Sequence[str] | None) -> int:
    if arguments is None:  # this process is ours
        os.environ.update(sleeping_threads())
        collect_seldom()
    print_error = Terminal(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False).print
    Cache.held = None
    SPENT.clear()
    OUTCOMES.clear()
    try:
        options = build_parser().parse_args(arguments)
        own = getattr(options, "lexicon", None) or folder_in_use()
        with use(options.lexicon) if own and "lexicon" in options else nullcontext():
            _run(options)
    except (InputError, BackendError, MissingExtraError) as error:
        print_error(f"rrgmetrics: {as_options(str(error))}")
        return 2
    except FileNotFoundError:
        if not _is_working_folder_there():
            print_error("rrgmetrics: the working directory was deleted; change to another folder.")
            return 2
        raise
    except KeyboardInterrupt:
        kept = "" if Cache.held is None else f"; {Cache.held:,} replies kept; run the same command again to resume"
        print_error(f"rrgmetrics: stopped{kept}.")
        return 130
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        sys.stderr.close()
        return 0
    finally:
        for line in spending_lines():
            with suppress(BrokenPipeError, ValueError):  # nobody reads standard error any more
                print_error(line)
    for line in outcome_lines(advises=not getattr(options, "asks_again", False)):
        with suppress(BrokenPipeError, ValueError):
            print_error(line)
    return outcome_status()


def _is_working_folder_there() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def _run(options: argparse.Namespace) -> None:
    """Runs a command, and writes what it was asked to do where `--save-config` says."""
    if not getattr(options, "save_config", None):
        options.run(options)
        return
    from rrgmetrics.cli.config import check_config, evaluation_of

    check_config(options)
    options.run(options)
    evaluation_of(options, options.parser).write(options.save_config, force=options.force)


def build_parser() -> argparse.ArgumentParser:
    """Builds the parser of all commands."""
    parser = Parser(prog="rrgmetrics", description="Metrics for machine-written radiology reports.", epilog=STATUSES)
    parser.add_argument("--version", action="version", version=f"rrgmetrics {VERSION}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Command)
    for name, (module, summary) in COMMANDS.items():
        description = summary[0].upper() + summary[1:] + "."
        epilog = STATUSES if name in ASKING else None
        commands.add_parser(name, help=summary, description=description, epilog=epilog).module = module
    return parser
