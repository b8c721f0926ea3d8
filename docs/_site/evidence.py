"""The evidence as pages: agreement with radiologists and metrics under stress, from the files of results."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from statistics import mean

from rrgmetrics.cli.game import REWARDS
from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.doctor.needs import needs_of
from rrgmetrics.doctor.published import Example, examples
from rrgmetrics.metaeval import advice
from rrgmetrics.metaeval.gaming import Gamed, Played
from rrgmetrics.metaeval.gaming.stored import stored_gaming
from rrgmetrics.metaeval.measured import FILE, MeasuredSet, measured_sets, read_results
from rrgmetrics.metaeval.stress.kinds import KINDS
from rrgmetrics.metaeval.stress.measure import Stressed
from rrgmetrics.metaeval.stress.stored import results_file, stored_stress
from rrgmetrics.metaeval.stress.written import written_packs
from rrgmetrics.reading.lexicon import DEFAULT_PACK, all_packs
from rrgmetrics.reporting import evidence as tables
from rrgmetrics.reporting.documents import markdown
from rrgmetrics.reporting.gaming import cut, gain_text
from rrgmetrics.reporting.short import short
from rrgmetrics.reporting.stress import BY_CONSTRUCTION, READER_MARK, SUMMARY, remarks, reports_of, summary_of
from rrgmetrics.reporting.stress_card import stress_table
from rrgmetrics.specs import SPECS
from rrgmetrics.stats import Estimate

LOW, HIGH = -0.2, 1.0  # ends of the axis of tau-b


def verdicts() -> str:
    """What to do with each metric, in a sentence a verdict."""
    section = next(iter(tables.page(list(SPECS.values()))))
    return "\n".join(f"- {item}" for item in section.items)


def agreement() -> str:
    """A drawing for each data set that development never saw, and the table of them all."""
    parts = [*(part for data, measure in advice.main_measures() for part in _of_set(data, measure))]
    return "\n\n".join([*parts, "## All of them", _table()])


def printed() -> str:
    """The values that the doctor computes, a line a source."""
    head = "| metric | source | values | allowed difference | needs |\n|---|---|---|---|---|"
    return "\n".join([head, *(_printed(each) for each in examples())])


def _printed(example: Example) -> str:
    rows = [*example.per_pair.values(), *example.logits, example.conditions]
    needs = ["the network"] if example.is_remote else []
    needs += ["weights"] if needs_of(example.configuration) and not example.replies else []
    n = len(example.scores) + sum(map(len, rows))
    return f"| `{example.metric}` | {example.source} | {n} | {example.within:g} | {', '.join(needs) or 'nothing'} |"


def _table() -> str:
    return markdown([tables.ranked_table(SPECS.values())])


def _of_set(data: MeasuredSet, measure: str) -> Iterator[str]:
    yield f"## {data.short}"
    yield f"{data.title}: {data.rows} {data.unit} of {data.studies} studies. {data.description}"
    yield figure(data, measure)


def figure(data: MeasuredSet, measure: str) -> str:
    """Tau-b of each metric with its interval, the greatest first; the band is one radiologist against the others."""
    rows = [(name, row.values[measure]) for name, row in data.metrics.items() if measure in row.values]
    rows.sort(key=lambda row: -row[1].value)
    ceiling = data.ceiling.get(measure)
    band = f'<i class="rg-ceiling" style="{_span(*ceiling)}"></i>' if ceiling else ""
    lines = "".join(_line(name, value, band) for name, value in rows)
    ticks = "".join(f'<span style="left:{_at(tick):.1f}%">{tick:g}</span>' for tick in (0, 0.2, 0.4, 0.6, 0.8, 1))
    label = f"Kendall's tau-b with {data.measures[measure].title}, with 95% intervals"
    said = f"; shaded: one radiologist against the others, {ceiling[0]:.2f} to {ceiling[1]:.2f}" if ceiling else ""
    return (
        f'<figure class="rg-plot"><figcaption>{html.escape(label + said)}</figcaption><div role="list">{lines}</div>'
        f'<div class="rg-axis" aria-hidden="true"><b></b><div>{ticks}</div><em></em></div></figure>'
    )


def _line(name: str, value: Estimate, band: str) -> str:
    known = not math.isnan(value.low)
    interval = f'<i class="rg-interval" style="{_span(value.low, value.high)}"></i>' if known else ""
    ends = f"<span> [{value.low:.2f}, {value.high:.2f}]</span>" if known else ""
    said = f"{value.value:.2f}".replace("-", "−") + ends.replace("-", "−")
    mark = " *" if SPECS[name].stand_in else ""
    return (
        f'<div role="listitem"><b><a href="../../metrics/{name}/">{name}</a>{mark}</b>'
        f'<div class="rg-track">{band}<i class="rg-zero" style="left:{_at(0):.1f}%"></i>{interval}'
        f'<i class="rg-dot" style="left:{_at(value.value):.1f}%"></i></div><em>{said}</em></div>'
    )


def _at(value: float) -> float:
    return 100 * (min(max(value, LOW), HIGH) - LOW) / (HIGH - LOW)


def _span(low: float, high: float) -> str:
    return f"left:{_at(low):.1f}%;width:{_at(high) - _at(low):.1f}%"


def stress() -> str:
    """What metrics see of errors that are put in, and what games them."""
    stored = stored_stress()
    summary = {name: summary_of(metric) for name, metric in stored.metrics.items()}
    ordered = sorted(summary, key=lambda name: -summary[name]["seen"])
    by_kind = {name: _by_category(stored.metrics[name]) for name in ordered}
    made = f"{stored.n_reports} generated reports; rrgmetrics {stored.version}, {stored.date}."
    parts = [
        f"{made} 1 is best in every column.",
        _heat(list(SUMMARY), {name: list(summary[name].values()) for name in ordered}),
        BY_CONSTRUCTION,
        "## Errors seen, by category",
        "Share of pairs that score worse with one more error.",
        _heat([category.letter + " " + category.value.replace("_", " ") for category in ErrorCategory], by_kind),
        "## In words",
        "\n".join(f"- [`{name}`](../metrics/{name}.md): {' '.join(remarks(stored.metrics[name]))}" for name in ordered),
        *(part for pack in written_packs() for part in _written(pack)),
        *_every_change(ordered),
    ]
    return "\n\n".join(parts)


def _every_change(names: list[str]) -> Iterator[str]:
    """Every change of every metric, a table each."""
    yield "## Every change"
    yield (
        "For errors: the share of pairs that score worse and, in brackets, the mean loss in units of the loss for "
        "another patient's report."
    )
    for name in names:
        yield f"### {name}"
        for pack in (DEFAULT_PACK, *written_packs()):
            stored = stored_stress(results_file(pack))
            if name in stored.metrics:
                table = stress_table(stored.metrics[name]).replace("\n", "\n    ")
                yield f'??? note "{reports_of(stored)[:1].upper()}{reports_of(stored)[1:]}"\n\n    {table}'


def gamed() -> str:
    """By metric the best constant text and the best addition, what they gain, and the tricks that pay."""
    stored = stored_gaming()
    metrics = sorted(stored.metrics.values(), key=lambda metric: (metric.name not in REWARDS, len(metric.paying)))
    heads = "weak, medium, good score | best constant text scores | its gain | gain of best addition | tricks that gain"
    lines = [f"| metric | {heads} |", "|---|---|---|---|---|---|", *map(_gamed_line, metrics)]
    days = "; ".join(sorted(set(stored.measured.values())))
    made = (
        f"{stored.n_studies} studies of `{stored.source}` that no search used (seed {stored.seed}; {days}). Gains "
        "are in the unit of the metric, with 95% intervals; gains above 0 are bold."
    )
    paying = [
        f"- [`{each.name}`](../metrics/{each.name}.md): "
        + "; ".join(f"{trick.title} ({gain_text(trick.gain).partition(' ')[0]})" for trick in each.paying.values())
        for each in metrics
        if each.paying
    ]
    texts = '??? note "Texts that the search found"\n\n' + "\n".join(
        f"    {line}" for each in metrics for line in _texts(each)
    )
    parts = [made, "\n".join(lines), "## Tricks that gain", "\n".join(paying) or "None.", "## The texts", texts]
    return "\n\n".join(parts)


REWARDS_FILE = FILE.with_name("rewards.yaml")


def rewards() -> str:
    """What one wrong word does to each reward, and how many pairs a reward scores in a second."""
    found = read_results(REWARDS_FILE)
    names = list(found["rewards"])
    head = "".join(f'<th scope="col"><a href="../../metrics/{name}/">{name}</a></th>' for name in names)
    lines = []
    for row, change in enumerate(found["changes"]):
        cells = "".join(
            f'<td style="--share:{min(max(found["rewards"][name][row], 0), 1):.2f}">'
            f"{short(found['rewards'][name][row])}</td>"
            for name in names
        )
        lines.append(f'<tr><th scope="row">{html.escape(change["what"])}</th>{cells}</tr>')
    heat = (
        f'<div class="rg-heat"><table><thead><tr><th scope="col">change</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
    words = "\n".join(
        f"- {change['what']}: {before!r} → {after!r}"
        for change in found["changes"]
        for before, after in [change["words"]]
        if after
    )
    speeds = "\n".join(f"| [`{name}`](../metrics/{name}.md) | {_speed(name)} |" for name in names)
    return "\n\n".join(
        [
            f"> {found['reference']}",
            heat,
            f"Made by `python scripts/measure_rewards.py`; rrgmetrics {found['version']}. 1 is the report itself.",
            '??? note "The changes, word by word"\n\n' + "\n".join(f"    {line}" for line in words.splitlines()),
            "## Speed",
            f"Pairs a second on one core ({measured_sets()['cost'].processor}), the metric alone, its model loaded:",
            f"| reward | pairs a second |\n|---|---|\n{speeds}",
        ]
    )


def _speed(name: str) -> str:
    cost = advice.seconds(name)
    return f"{1000 / cost.values['seconds'].value:,.0f}" if cost else "not measured"


def _gamed_line(metric: Gamed) -> str:
    constant, addition = metric.found["constant"], metric.found["addition"]
    honest = ", ".join(short(value) for value in metric.honest.values())
    name = f"[`{metric.name}`](../metrics/{metric.name}.md) {metric.arrow}"
    cells = (name, honest, short(constant.earned), _bold(constant), _bold(addition), str(len(metric.paying)))
    return f"| {' | '.join(cells)} |"


def _bold(played: Played) -> str:
    return f"**{gain_text(played.gain)}**" if played.pays else gain_text(played.gain)


def _texts(metric: Gamed) -> Iterator[str]:
    yield f"- [`{metric.name}`](../metrics/{metric.name}.md)"
    for goal, played in metric.found.items():
        yield f"    - {goal}, after {metric.steps[goal]:,} tries: {html.escape(cut(played.text))}"


def _written(pack: str) -> Iterator[str]:
    """What metrics see of reports of another kind."""
    stored = stored_stress(results_file(pack))
    summary = {name: summary_of(metric) for name, metric in stored.metrics.items()}
    ordered = sorted(summary, key=lambda name: -summary[name]["seen"])
    yield f"## On {all_packs()[pack].title.removesuffix(' in English')}"
    yield f"{reports_of(stored)}: few of each kind, not made by the reader. 1 is best in every column."
    yield _heat(list(SUMMARY), {name: list(summary[name].values()) for name in ordered}, marked=False)


def _by_category(metric: Stressed) -> list[float]:
    return [
        mean(own.share for kind, own in metric.kinds.items() if KINDS[kind].letter == category.letter and own.n)
        for category in ErrorCategory
    ]


def _heat(heads: list[str], rows: dict[str, list[float]], *, marked: bool = True) -> str:
    """A table whose cells are shaded by their value, 0 to 1."""
    lines = [
        f'<tr><th scope="row"><a href="../../metrics/{name}/">{name}</a>{_dagger(name) if marked else ""}</th>'
        + "".join(f'<td style="--share:{value:.2f}">{short(value)}</td>' for value in values)
        + "</tr>"
        for name, values in rows.items()
    ]
    head = "".join(f'<th scope="col">{each}</th>' for each in ("metric", *heads))
    return f'<div class="rg-heat"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def _dagger(name: str) -> str:
    return f" {READER_MARK}" if stored_stress().metrics[name].rests_on_the_reader else ""
