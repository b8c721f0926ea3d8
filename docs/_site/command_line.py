"""The command line's pages, from its parsers."""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module

from rrgmetrics.cli import COMMANDS, build_parser

GROUPS = {
    "Score": ("score", "compare", "tabulate", "merge", "explain", "judge", "choose", "list", "doctor"),
    "Measure metrics": ("agree", "stress", "game", "oracle", "retrieve", "ablation"),
    "Train models": ("synthesize", "train", "prefer", "radcliq", "convert"),
    "Show and share": ("space", "leaderboard", "rating", "harness", "register", "lexicon"),
}


def navigation() -> list[str | dict[str, list[str]]]:
    """The commands' part of the navigation; a command of no group stands last."""
    rest = tuple(name for name in COMMANDS if not any(name in names for names in GROUPS.values()))
    groups = {**GROUPS, **({"Others": rest} if rest else {})}
    known = {title: [f"cli/{name}.md" for name in names if name in COMMANDS] for title, names in groups.items()}
    return ["cli/index.md", *({title: pages} for title, pages in known.items())]


def overview() -> str:
    """All commands, with what they do."""
    lines = [f"| [`{name}`]({name}.md) | {summary} |" for name, (_, summary) in COMMANDS.items()]
    return "\n".join(["| command | what it does |", "|---|---|", *lines])


def pages() -> dict[str, str]:
    """The page of each command by its place."""
    return {f"cli/{name}.md": page_of(name, parser) for name, parser in parsers().items()}


@cache
def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, with its arguments."""
    choices = nested(build_parser())
    for name, parser in choices.items():
        import_module(COMMANDS[name][0]).add_arguments(parser)
    return choices


def nested(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of a parser's commands."""
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found[0].choices) if found else {}


def page_of(name: str, parser: argparse.ArgumentParser) -> str:
    """A command's page: what it does, how it is called, its arguments, and its own commands."""
    parts = [f"---\ntitle: {name}\n---\n\n# rrgmetrics {name}", *described(parser)]
    for own, inner in nested(parser).items():
        parts += [f"## {own}", *described(inner)]
    return "\n\n".join(parts) + "\n"


def described(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A parser's description, its usage and its arguments, group by group."""
    if parser.description:
        yield _text(parser.description)
    parser.formatter_class = partial(argparse.HelpFormatter, width=80)  # whatever the terminal's
    yield f"```text\n{parser.format_usage().removeprefix('usage: ').strip()}\n```"
    for group in parser._action_groups:
        shown = [_entry(parser, action) for action in group._group_actions if _is_shown(action)]
        if shown:
            about = f": {_text(group.description)}" if group.description else ""
            yield f"**{(group.title or '').capitalize()}**{about}"
            yield from shown
    if parser.epilog:
        yield _text(parser.epilog)


def _is_shown(action: argparse.Action) -> bool:
    hidden = isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    return not hidden and action.help != argparse.SUPPRESS


def _entry(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """An argument with what it does, as an entry of a list of definitions."""
    formatter = parser._get_formatter()
    said = _text(formatter._expand_help(action)) if action.help else ""
    is_named = isinstance(action.default, str | int | float) and not isinstance(action.default, bool)
    if action.option_strings and is_named and action.default != "" and "default" not in said:
        said = f"{said}; default: `{action.default}`" if said else f"default: `{action.default}`"
    return f"`{formatter._format_action_invocation(action)}`\n:   {said or 'see above'}"


def _text(text: str) -> str:
    """Plain text as Markdown: what looks like markup stands for itself, but for `code`."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return _plain("`".join(parts))
    return "".join(f"`{part}`" if index % 2 else _plain(part) for index, part in enumerate(parts))


def _plain(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "*_|[]`\\" else sign for sign in html.escape(text, quote=False))
