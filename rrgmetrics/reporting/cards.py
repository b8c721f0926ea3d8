"""Generates the parts of a metric's folder that follow from its spec and the text of its card.

A person writes the metric card, `README.md`. `make cards` writes the facts into it, between markers, and makes the
module's script: description, example and citation come from the card, and the arguments from the spec. A contract test
fails if a generated file is out of date.
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import advice
from rrgmetrics.metaeval.advice import in_words, main_agreements
from rrgmetrics.metaeval.measured import DEVELOPMENT, REPLACED, USUAL, measured_sets, of_metric, read_results, with_keys
from rrgmetrics.reporting.folds import folded
from rrgmetrics.reporting.numbers import between, bounds, estimate, figure
from rrgmetrics.reporting.numbers import in_words as range_in_words
from rrgmetrics.reporting.stress_card import stress_block
from rrgmetrics.reporting.usual import usual_of
from rrgmetrics.specs import JUDGE_OPTIONS, SPECS, MetricSpec, Option, configurations
from rrgmetrics.specs.conventions import CONVENTIONS
from rrgmetrics.specs.model import Stated
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.text_format import by_number, listed

SDK_VERSION = "6.31.0"  # of Gradio, which a Space installs by itself
WIDTH = 116  # of a line in a script
OWN_KEYS = ("emoji", "colorFrom", "colorTo", "short_description")  # of the front matter, which a person writes
EMPTY_CASES = ("both empty", "empty candidate", "empty reference")
SEEN_TARGETS = {"total_errors": "all errors", "significant_errors": "significant errors", "rating": "the rating"}
BLOCK = "<!-- {name}: make cards writes this part -->\n{text}\n<!-- /{name} -->"


def write_folder(folder: Path, spec: MetricSpec) -> list[Path]:
    """Writes the facts into the card of a metric's folder, and the module's script.

    Args:
        folder: With `README.md`, whose prose a person wrote.
        spec: The metric.

    Returns:
        The files that were changed or made.

    Raises:
        InputError: The card is missing or lacks a part; the message names its path.
    """
    return [path for path, text in folder_texts(folder, spec).items() if write(path, text)]


def folder_texts(folder: Path, spec: MetricSpec) -> dict[Path, str]:
    """Returns what the card and the script of a metric's folder should hold; raises as `write_folder`."""
    card_path, script_path = folder / "README.md", folder / f"{spec.name}.py"
    text = _read(card_path, spec)
    try:
        card = refreshed(text, spec)
        return {card_path: card, script_path: module_script(card, spec, licence=_licence(script_path))}
    except InputError as error:
        raise InputError(f"{card_path}: {error}") from None


# --- the card


MOST_ROWS = 4  # of agreement on a card; beyond, values without an interval are on the page alone
AGREEMENT = "https://rrgmetrics.github.io/rrgmetrics/evidence/agreement/"


def refreshed(card: str, spec: MetricSpec) -> str:
    """Returns a card with its front matter and its blocks of facts as in the row."""
    card = f"{front_matter(card, spec)}{card.split('---', 2)[2]}"
    for name, text in (("inputs", _inputs(spec)), ("keys", _keys(spec)), ("empty", _empty(spec))):
        card = replace_block(card, name, text)
    if "<!-- conventions" in card:
        card = replace_block(card, "conventions", _conventions())
    if "<!-- good" in card:
        card = replace_block(card, "good", _good(spec))
    if "<!-- cost" in card:
        card = replace_block(card, "cost", _cost(spec))
    if "<!-- stress" in card:
        card = replace_block(card, "stress", stress_block(spec))
    return replace_block(card, "agreement", _agreement(spec)) if "<!-- agreement" in card else card


def replace_block(text: str, name: str, block: str) -> str:
    """Puts generated text between the markers of that name; raises InputError where there are none."""
    pattern = rf"<!-- {name}\b[^>]*-->\n.*?<!-- /{name} -->"
    if not re.search(pattern, text, re.DOTALL):
        raise InputError(
            f"the markers <!-- {name} --> and <!-- /{name} --> are missing; write them where the generated part "
            "belongs."
        )
    return re.sub(pattern, lambda _: BLOCK.format(name=name, text=block), text, count=1, flags=re.DOTALL)


def _conventions() -> str:
    """A line for each number that a paper prints as clinical efficacy."""
    conventions = {name: convention for name, convention in CONVENTIONS.items() if name.endswith("-ce")}
    lines = ["| preset | the paper's number | metric and key |", "|---|---|---|"]
    for preset, convention in conventions.items():
        for index, (words, number) in enumerate(convention.numbers.items()):
            head = "" if index else f"`{preset}`: {convention.title}"
            lines.append(f"| {head} | {words} | `{number.metric}`: `{number.key}` |")
    notes = [
        f"- **{convention.title}**: {convention.words} Source: {convention.source}."
        for convention in conventions.values()
    ]
    return "\n".join([*lines, "", *notes])


def front_matter(card: str, spec: MetricSpec) -> str:
    """Returns the front matter that the Hub reads; emoji, colours and short description are the card's own."""
    own = _own_front_matter(card)
    return f"""---
title: {parse_name(spec.name).title}
emoji: {own["emoji"]}
colorFrom: {own["colorFrom"]}
colorTo: {own["colorTo"]}
sdk: gradio
sdk_version: {SDK_VERSION}
python_version: "3.11"
app_file: app.py
pinned: false
license: {own.get("license", "apache-2.0")}
short_description: {own["short_description"]}
tags:
- evaluate
- metric
- radiology
---"""


def _own_front_matter(card: str) -> dict[str, str]:
    """Reads the front matter of a card; raises InputError where it is missing or lacks what a person writes."""
    import yaml

    parts = card.split("---", 2)
    if len(parts) < 3 or parts[0].strip():
        raise InputError("the front matter is missing; begin the card with it, between two lines of ---.")
    try:
        own = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise InputError(f"the front matter is not YAML: {' '.join(str(error).split())}.") from None
    missing = [key for key in OWN_KEYS if not isinstance(own, dict) or own.get(key) is None]
    if missing:
        raise InputError(f"the front matter lacks {listed(missing)}; add {by_number(len(missing), 'it', 'them')}.")
    return dict(own)


def _inputs(spec: MetricSpec) -> str:
    engine = [f"**{key}**" for key in spec.options if spec.judge and key in JUDGE_OPTIONS]
    own = {key: option for key, option in spec.options.items() if f"**{key}**" not in engine}
    lines = [
        '- **predictions** *(list of str)*: the system\'s reports, one for each study; `""` for an empty report.',
        "- **references** *(list of str)*: the radiologists' reports, in the same order.",
        "- **contexts** *(list of dict)*: the patient's `age`, `sex`, `indication`, and `prior` (the prior report); "
        f"{_use_of_contexts(spec)}.",
        "- **per_pair** *(bool)*: also return `<key>_per_pair`, a list with one value for each "
        f"pair{_only_some(spec)}.",
        "- **batch_size** *(int)*, **device** *(str)*: for metrics that run a model. **progress** *(bool)*: show a "
        "progress bar.",
        '- **missing** *(str)*: what to do with a pair whose reference is missing (None, NaN, blank, "nan", "N/A"): '
        "leave it `unscored` (default), score it as an `empty` report, or raise an `error`. A missing candidate counts "
        "as an empty report.",
        "",
        *table(("configuration", "what runs"), [(f"`{name}`", help) for name, help in configurations(spec).items()]),
        "",
        *table(
            ("option", "values, the default first", "what it does"),
            [(f"`{key}`", _values(option, code="`"), option.help) for key, option in own.items()],
        ),
    ]
    if engine:
        lines += ["", f"Options of the engines (`rrgmetrics list {spec.name}` describes them): {', '.join(engine)}."]
    return "\n".join(lines)


def _keys(spec: MetricSpec) -> str:
    rows = [(f"`{key.name}`", key.title, bounds(key), key.better) for key in spec.keys]
    return "\n".join(table(("key", "what", "range", "better"), rows))


def _empty(spec: MetricSpec) -> str:
    rows = zip(EMPTY_CASES, map(stated, spec.empty), strict=True)
    lines = table(("reference, candidate", f"`{spec.name}`"), rows)
    return "\n".join([*lines, "", 'An empty reference is scored only with `missing="empty"`.'])


def _good(spec: MetricSpec) -> str:
    """What scores are usual: of known candidates as measured here, and of the systems of ReXrank."""
    parts, data, usual = [range_in_words(spec.headline)], measured_sets()[USUAL], usual_of(spec)
    if usual:
        rows = [
            (data.measures[name].title, between(each.low, each.high, spec.headline)) for name, each in usual.items()
        ]
        heads = ("candidates", f"middle half of the scores ({parse_name(spec.name).title}, RadPref's development half)")
        parts.append("\n".join(table(heads, rows)))
    if published := _rexrank()["metrics"].get(spec.name):
        systems = [
            (name, str(n), f"{low:g} to {high:g}", f"{best:g}")
            for name, (n, low, high, best) in published["sets"].items()
        ]
        heads_of = (
            "data set",
            "systems",
            f"middle half of the systems ({published['title']}, as published)",
            "the best",
        )
        source = f"Source: {_rexrank()['source']}. Compare them with published settings only."
        parts.append(folded("Scores of published systems", "\n".join([*table(heads_of, systems), "", source])))
    return "\n\n".join(parts)


@cache
def _rexrank() -> dict[str, Any]:
    return dict(read_results(Path(__file__).parents[1] / "metaeval" / "rexrank.yaml"))


def _agreement(spec: MetricSpec) -> str:
    """The agreement with radiologists as it was measured: on data that development never saw, and on data it read."""
    title, _, why = in_words(spec.name).partition(": ")
    known = main_agreements(spec.name) or spec.name in REPLACED
    advice = f"**Recommendation: {title.lower()}.** {why[0].upper()}{why[1:]}" if known else ""
    return "\n\n".join(part for part in (advice, _never_seen(spec), _seen(spec)) if part)


def _never_seen(spec: MetricSpec) -> str:
    by_subject = [(each, list(of_metric(each.subject))) for each in with_keys(spec)]
    measured = [found for _, own in by_subject for found in own]
    if not measured and spec.name in REPLACED:
        return ""  # the recommendation says so
    if not measured:
        return "Its agreement on data not used in development has not been measured."
    rows, others = [], 0
    for subject, own in by_subject:
        key = f"`{subject.subject}`: " if subject.fragment else ""
        for data, name, measure, _, tau in own:
            if math.isnan(tau.low) and len(measured) > MOST_ROWS:
                others += 1
                continue
            ceiling = " to ".join(figure(end, 2) for end in data.ceiling.get(name, ())) or "not known"
            rows.append((data.short, key + measure.title, estimate(tau, places=2), ceiling))
    more = f" It also has {others} further values, by kind of error and within studies." if others else ""
    versions = listed(sorted({found.row.version for found in measured}))
    return "\n".join(
        [
            f"Kendall's tau-b of {parse_name(spec.name).title}, version {versions}, on data not used in development, "
            "with",
            "95% intervals over cases or studies. Above 0 the metric agrees with radiologists.",
            "",
            *table(("data set", "radiologists' measure", "tau-b", "one radiologist against the others"), rows),
            "",
            f"[Agreement with radiologists]({AGREEMENT}) describes the data sets.{more}",
        ]
    )


def _seen(spec: MetricSpec) -> str:
    """One sentence: these pairs were read while the reader was written, so that they guard and prove nothing."""
    data = measured_sets()[DEVELOPMENT]
    row = data.metrics.get(spec.name)
    if row is None:
        return ""
    taus = listed([f"{estimate(row.values[target], places=2)} with {what}" for target, what in SEEN_TARGETS.items()])
    return folded(
        "Agreement on data used in development",
        f"RadPref's development half ({data.rows} pairs of {data.studies} cases) was used to develop the reader, so "
        f"its values are no evidence: tau-b {taus}. The metric reproduces "
        f"{estimate(row.values['preferences'], places=2)} of the radiologists' clear preferences between two "
        f"candidates (version {row.version}, {row.date}).",
    )


def _cost(spec: MetricSpec) -> str:
    """What 1,000 pairs cost, and on which processor; one sentence."""
    data, row = measured_sets()["cost"], advice.seconds(spec.name)
    if row is None:
        return "Its cost has not been measured."
    return textwrap.fill(
        f"**{figure(row.values['seconds'].value, 1)} s for {data.rows:,} pairs**, CPU time on one core "
        f"({data.processor}), for the default configuration with its model already loaded. The pairs are invented "
        f"reports of {data.words['references']} and {data.words['predictions']} words (version {row.version}, "
        f"{row.date}).",
        WIDTH,
    )


# --- the script


def module_script(card: str, spec: MetricSpec, *, licence: str = "") -> str:
    """Returns the script that `evaluate.load` runs, from the prose of the card and the arguments of the row."""
    description = _one(r"## Metric Description\n+(.*?)(?:\n\n|\n#)", card, "a paragraph under '## Metric Description'")
    description = re.sub(r"\[([^]]*)\]\(http[^)]*\)", r"\1", " ".join(description.split()))
    citation = _one(r"```bibtex\n(.*?)```", card, "a ```bibtex block")
    example = _one(r"```python\n(>>>.*?)```", card, "an example that begins with >>>")
    class_name = "".join(part.capitalize() for part in spec.name.split("_"))
    inputs = "\n".join([*_arguments(spec), "", "Examples:", textwrap.indent(example.strip(), " " * 4)])
    about = (
        f"{spec.title}. Generated by `make cards` from the metric card, README.md, and the metric's spec in rrgmetrics."
    )
    return f'''{licence}"""{about}"""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = {_quoted(textwrap.fill(description, WIDTH))}

_CITATION = {_quoted(citation.strip())}

_INPUTS = {_quoted(inputs)}


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class {class_name}(evaluate.Metric):
    pass
'''


def _arguments(spec: MetricSpec) -> list[str]:
    options = [
        _item(key, f"{option.help.rstrip('.')}. {_default_first(option)}.") for key, option in spec.options.items()
    ]
    keys = [_item(key.name, f"{key.title}; {bounds(key)}, {key.better} is better.") for key in spec.keys]
    return [
        "Args:",
        _item("predictions (list of str)", "the system's reports, one for each study; '' for an empty report."),
        _item("references (list of str)", "the radiologists' reports, in the same order."),
        _item(
            "contexts (list of dict)",
            f"the patient's age, sex, indication, and prior (the prior report); {_use_of_contexts(spec)}.",
        ),
        _item("per_pair (bool)", f"also return <key>_per_pair, a list with one value for each pair{_only_some(spec)}."),
        _item("batch_size (int), device (str)", "for metrics that run a model."),
        _item("progress (bool)", "show a progress bar."),
        _item(
            "missing (str)",
            "what to do with a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A'): leave it 'unscored' "
            "(default), score it as an 'empty' report, or raise an 'error'. A missing candidate counts as an empty "
            "report.",
        ),
        "",
        "Configurations (config_name):",
        *(_item(name, f"{help}.") for name, help in configurations(spec).items()),
        "",
        "Options (in config_name, for example '?text=lower'):",
        *options,
        "",
        "Returns: a dict of",
        *keys,
        _item(
            f"{spec.name}_n_unscored, {spec.name}_signature",
            "number of pairs without a score, which no mean includes; the metric, options and version that ran.",
        ),
    ]


def _item(name: str, text: str) -> str:
    return textwrap.fill(f"{name}: {text}", WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)


def _quoted(text: str) -> str:
    """A triple-quoted literal."""
    return f'{"r" if chr(92) in text else ""}"""\n{text}\n"""'


# --- facts in words


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """The lines of a Markdown table."""
    head = tuple(head)
    return [_cells(head), "|" + "---|" * len(head), *map(_cells, rows)]


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def stated(value: Stated) -> str:
    """Describes a metric's value for an empty text: a number, `varies` with the other text, or `undefined`."""
    return "varies" if value is None else value if isinstance(value, str) else f"{value:g}"


def _values(option: Option, code: str = "") -> str:
    """An option's values, the default first; of an open option the default."""
    values = option.choices or ((True, False) if isinstance(option.default, bool) else ())
    written = [option.write(value) for value in sorted(values, key=lambda value: value != option.default)]
    if not written:
        return f"{code}{option.write(option.default)}{code}" if option.default != "" else "empty"
    return ", ".join(f"{code}{value}{code}" for value in written)


def _default_first(option: Option) -> str:
    values = _values(option).split(", ")
    return f"Default: {values[0]}" if len(values) == 1 else f"One of {values[0]} (default), {', '.join(values[1:])}"


def _use_of_contexts(spec: MetricSpec) -> str:
    return (
        "they affect which findings and errors are significant" if spec.takes_context else f"{spec.title} ignores them"
    )


def _only_some(spec: MetricSpec) -> str:
    return "" if all(key.per_pair for key in spec.keys) else ", for keys with a value for each pair"


# --- files


def _one(pattern: str, card: str, what: str) -> str:
    match = re.search(pattern, card, re.DOTALL)
    if not match:
        raise InputError(f"the card lacks {what}, which the module's script is generated from.")
    return match[1]


def _licence(script: Path) -> str:
    """The comment that an existing script begins with."""
    lines = script.read_text(encoding="utf-8").splitlines(keepends=True) if script.is_file() else []
    return "".join(lines[:1]) if lines and lines[0].startswith("#") else ""


def _read(path: Path, spec: MetricSpec) -> str:
    if not path.is_file():
        is_lost = spec.modules == MetricSpec.modules and spec.name not in SPECS
        hint = " (the spec of a plug-in names its folder with modules=...)" if is_lost else ""
        raise InputError(f"{path} is missing; write the metric card first{hint}.")
    return path.read_text(encoding="utf-8")


def write(path: Path, text: str) -> bool:
    """Writes a file, unless it holds that text already; returns whether it has changed."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True


def main(names: Iterable[str]) -> int:
    """Writes the folders of the named metrics: `python -m rrgmetrics.reporting.cards NAME ...`; returns a status."""
    from rrgmetrics.scoring.hub import module_path

    try:
        for name in names:
            write_folder(module_path(name), parse_name(name).spec)
    except (InputError, ModuleNotFoundError) as error:  # the latter where `modules` of a row names no package
        sys.stderr.write(f"rrgmetrics.reporting.cards: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
