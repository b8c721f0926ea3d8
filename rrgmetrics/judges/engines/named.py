"""An engine by its name, as it follows a judge's `@`: `openai:<model>?temperature=1`, `hf:<id>`, `replies:<file>`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.judges.base import Engine, SupportsBool, engine_for
from rrgmetrics.judges.engines import load_engine
from rrgmetrics.specs import JUDGE_OPTIONS, OptionValue
from rrgmetrics.specs.names import READER, parse_name

JUDGE = "green"  # whose options are read; those of the engine are the same for all judges
JUDGED = re.compile(rf"{JUDGE}(?:[@?]|$)")


class EngineRequest(NamedTuple):
    """What the name of an engine asks for.

    Attributes:
        config: Kind and model, as `engine_for` reads them.
        options: Of the engine, each with its value.
        others: Of GREEN's protocol, each with its value.
    """

    config: str
    options: Mapping[str, OptionValue]
    others: Mapping[str, OptionValue]


def parse_engine(name: str, use: str) -> EngineRequest:
    """Reads the name of an engine.

    Args:
        name: With options as judges have them; `green@` before it changes nothing.
        use: What it is for, for messages: "--labels".

    Raises:
        InputError: Nobody who is asked, several runs, or an option that cannot be used.

    Example:
        >>> parse_engine("openai:my-model?temperature=1", "--writer").options["temperature"]
        1.0
    """
    parsed = parse_name(name if JUDGED.match(name) else f"{JUDGE}@{name}")
    if parsed.config in READER:
        raise InputError(
            f"{use} {name!r} asks no model: the reader answers no prompts; name an engine, such as openai:<model>."
        )
    options = {key: parsed.options[key] for key in JUDGE_OPTIONS}
    if options["runs"] != 1:
        raise InputError(f"{use} {name!r}: each question is asked only once; leave out runs.")
    others = {key: value for key, value in parsed.options.items() if key not in JUDGE_OPTIONS}
    return EngineRequest(parsed.config, options, others)


def engine_named(
    name: str,
    use: str,
    *,
    batch_size: int | None = None,
    device: str | None = None,
    progress: SupportsBool = True,
) -> Engine:
    """Loads an engine that is asked other questions than a judge's.

    Args:
        name: As in `parse_engine`, without options of GREEN's protocol.
        use: As in `parse_engine`.
        batch_size: As in `load_engine`.
        device: As in `load_engine`.
        progress: As in `load_engine`.

    Raises:
        InputError: As in `parse_engine`; GREEN's own checkpoint; or an option of its protocol.
        BackendError: A model, file or server that is not there.
        MissingExtraError: The engine's package is not installed.
    """
    request = parse_engine(name, use)
    if request.config == "paper":
        raise InputError(f"{use} {name!r} answers only GREEN's prompts; name an engine, such as openai:<model>.")
    defaults = parse_name(JUDGE).options
    foreign: list[Any] = [key for key, value in request.others.items() if value != defaults[key]]
    if foreign:
        raise InputError(f"{use} {name!r}: {foreign[0]} is an option of a judge; leave it out.")
    return load_engine(
        engine_for(request.config),
        options=request.options,
        batch_size=batch_size,
        device=device,
        progress=progress,
    )
