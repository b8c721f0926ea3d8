"""`--config` and `--save-config`: the options of `score` and `compare` as a file (`rrgmetrics.scoring.evaluation`)."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.arguments import column_names, split_names, system_paths
from rrgmetrics.errors import InputError
from rrgmetrics.reports import describe
from rrgmetrics.scoring.evaluation import Evaluation, check_keys
from rrgmetrics.version import VERSION

INPUTS = ("pairs", "references", "predictions", "systems", "train")
OUTPUTS = ("output", "json", "html", "table", "clusters")
APART = ("help", "metrics", "columns", "evaluation", "save_config", "force", "format", "no_progress", "shard")
logger = logging.getLogger("rrgmetrics.notice")


def add_config(parser: argparse.ArgumentParser) -> None:
    """Adds `--config` and `--save-config`."""
    parser.add_argument(
        "--config",
        dest="evaluation",
        metavar="FILE",
        help="read an evaluation from YAML (metrics, inputs, columns, outputs, settings), or the metrics from a "
        "result.json; other arguments on the command line take precedence",
    )
    parser.add_argument("--save-config", metavar="FILE", help="write this evaluation as YAML, to use with --config")


def take_config(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> str | None:
    """Makes what the file of `--config` says the defaults of a command; returns its name.

    Raises:
        InputError: The file cannot be used; names the key.
    """
    scan = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    scan.add_argument("--config")
    path = scan.parse_known_args(arguments)[0].config
    if path is None:
        return None
    evaluation = Evaluation.read(path)
    command = parser.prog.split()[-1]
    try:
        if evaluation.command not in ("", command):
            raise InputError(f"it is for `rrgmetrics {evaluation.command}`.")
        defaults = _defaults(parser, evaluation)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if evaluation.version not in ("", VERSION):
        logger.warning("%s is of rrgmetrics %s, and this is %s: scores may differ.", path, evaluation.version, VERSION)
    for action in parser._actions:
        if action.dest in defaults:
            action.required = False
    parser.set_defaults(**defaults)
    return str(path)


def evaluation_of(options: argparse.Namespace, parser: argparse.ArgumentParser) -> Evaluation:
    """What a command was asked to do, as `--save-config` writes it."""
    stated: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}, "settings": {}}
    for dest, action in _options(parser).items():
        value = getattr(options, dest)
        if value is not None and value is not False and value != []:
            flag = isinstance(action, argparse._StoreTrueAction) and dest.startswith("no_")
            stated[_section(dest)] |= {dest.removeprefix("no_"): False} if flag else {dest: value}
    if systems := stated["inputs"].get("systems"):
        stated["inputs"]["systems"] = system_paths(systems)
    sections: dict[str, Any] = {"columns": column_names(options), **stated}
    return Evaluation(tuple(split_names(options.metrics)), command=parser.prog.split()[-1], **sections)


def check_config(options: argparse.Namespace) -> None:
    """Checks, before any work, that the file of `--save-config` can be written."""
    if options.save_config:
        inputs = [options.evaluation] if options.evaluation else []
        files.check_outputs(settings=[options.save_config], inputs=inputs, force=options.force)


def _section(dest: str) -> str:
    return "inputs" if dest in INPUTS else "outputs" if dest in OUTPUTS else "settings"


def _options(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The options of a command that a file may hold."""
    return {action.dest: action for action in parser._actions if action.dest not in APART}


def _defaults(parser: argparse.ArgumentParser, evaluation: Evaluation) -> dict[str, object]:
    """The values of a command's options, checked."""
    known = {dest.removeprefix("no_"): action for dest, action in _options(parser).items()}
    defaults: dict[str, Any] = {}
    for section in ("inputs", "outputs", "settings"):
        stated: Mapping[str, Any] = getattr(evaluation, section)
        check_keys(section, stated, [name for name in known if _section(name) == section])
        for name, value in stated.items():
            action = known[name]
            checked = _value(action, value, f"{section}: {name}")
            defaults[action.dest] = not checked if action.dest != name else checked
    if evaluation.columns:
        defaults["columns"] = [f"{role}={column}" for role, column in evaluation.columns.items()]
    if evaluation.metrics:
        defaults["metrics"] = [name.replace(",", "%2C") for name in evaluation.metrics]
    return defaults


def _value(action: argparse.Action, value: Any, where: str) -> Any:
    """A value of the kind that an option takes."""
    if isinstance(action, argparse._StoreTrueAction):
        if not isinstance(value, bool):
            raise InputError(f"{where} is {describe(value)}; write yes or no.")
    elif action.dest == "systems":
        if not isinstance(value, Mapping) or not value or not all(isinstance(path, str) for path in value.values()):
            raise InputError(f"{where} is {describe(value)}; write name: file, one a line.")
        return [f"{name}={path}" for name, path in value.items()]
    elif action.nargs == "+":
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InputError(f"{where} is {describe(value)}; write a text or a list of texts.")
    elif action.type in (int, float):
        if isinstance(value, bool) or not isinstance(value, int if action.type is int else int | float):
            raise InputError(f"{where} is {describe(value)}; write a number.")
    elif not isinstance(value, str):
        raise InputError(f"{where} is {describe(value)}; write a text.")
    elif action.choices and value not in action.choices:
        raise InputError(f"{where} is {value!r}; choose one of {', '.join(action.choices)}.")
    return value
