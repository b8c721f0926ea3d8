"""The options of a metric as controls of a page, and the name that their values ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rrgmetrics.spaces.framework import load_gradio
from rrgmetrics.specs import MetricSpec, Option
from rrgmetrics.specs.names import parse_name

READERS = ("text",)  # of a judge's options: the others are for replies of a language model, which a page asks none


def offered(spec: MetricSpec) -> Mapping[str, Option]:
    """The options that a visitor may choose: lists of values and whole numbers, but nothing that needs a file."""
    return {
        name: option
        for name, option in spec.options.items()
        if name != "explain"
        and (name in READERS or not spec.judge)
        and f"{name}_file" not in spec.options
        and (option.choices or isinstance(option.default, bool | int))
    }


def option_controls(spec: MetricSpec) -> list[Any]:
    """Draws a folded part of the page with a control for each option, in the order of `offered`."""
    gradio = load_gradio()
    options = offered(spec)
    with gradio.Accordion("Options", open=False, visible=bool(options)), gradio.Row(equal_height=False):
        return [_control(spec, name, option) for name, option in options.items()]


def _control(spec: MetricSpec, name: str, option: Option) -> Any:
    gradio = load_gradio()
    look: dict[str, Any] = {"label": name, "info": option.help.capitalize(), "min_width": 220}
    if not option.choices and not isinstance(option.default, bool):
        return gradio.Number(value=option.default, precision=0, **look)
    values = [Option.write(value) for value in option.choices or (False, True)]
    default = Option.write(option.default)
    implied = any(name in options for other in spec.options.values() for options in other.implies.values())
    others = values if implied else [value for value in values if value != default]
    return gradio.Dropdown([(f"{default} (default)", ""), *((value, value) for value in others)], value="", **look)


def asked_name(spec: MetricSpec, values: Sequence[Any]) -> str:
    """The metric's name with the chosen options.

    Args:
        spec: The metric.
        values: Of the controls; those that are left as they are may miss.

    Raises:
        InputError: A value that an option does not take.

    Example:
        >>> from rrgmetrics import SPECS
        >>> asked_name(SPECS["rouge"], ["", "", "no"])
        'rouge?stemmer=no'
        >>> asked_name(SPECS["crepe"], [])
        'crepe'
    """
    chosen = {name: str(value) for name, value in zip(offered(spec), values, strict=False) if value not in ("", None)}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in chosen.items())
    return str(parse_name(f"{spec.name}?{query}" if query else spec.name))


def with_words(name: str) -> str:
    """The same name, asking for words where the metric has some.

    Example:
        >>> with_words("crepe?long=windows"), with_words("bleu")
        ('crepe?long=windows&explain=yes', 'bleu')
    """
    return _explaining(name, explain=True)


def without_words(name: str) -> str:
    """The same name, asking for no words.

    Example:
        >>> without_words("crepe?long=windows&explain=yes")
        'crepe?long=windows'
    """
    return _explaining(name, explain=False)


def _explaining(name: str, *, explain: bool) -> str:
    parsed = parse_name(name)
    asked = parsed.explaining(explain)
    return name if asked is parsed else str(asked)  # without the option: as it was written
