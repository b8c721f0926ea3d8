"""Plots of agreement with radiologists: scatters, a forest of tau-b with ceilings, kinds by metrics, raters' counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.files import check_outputs
from rrgmetrics.metaeval.agreement import AgreementReport, main_target
from rrgmetrics.metaeval.failure_plot import failure_bars
from rrgmetrics.metaeval.failures import failure_modes, has_sources
from rrgmetrics.metaeval.judge_runs import mean_of
from rrgmetrics.metaeval.model import Agreement
from rrgmetrics.metaeval.rated import Rated
from rrgmetrics.metaeval.reliability import intraclass
from rrgmetrics.metaeval.timing import machine
from rrgmetrics.scorers.base import Array
from rrgmetrics.specs.names import label, parse_name

DOT, WITHIN, CEILING_COLOUR = "#1d5b79", "#b4532a", "#c9a227"
HISTOGRAMS = "counts.png"  # of several data sets
JITTER = 0.12  # counts are whole numbers: without it, dots lie upon each other


def write_plots(report: AgreementReport, folder: str | Path, *, force: bool = False) -> list[Path]:
    """Writes a data set's plots.

    Args:
        report: Its agreement.
        folder: Where to; made if it is missing.
        force: Whether files on disk may be replaced.

    Returns:
        `<data set>_forest.png`, `<data set>_kinds.png` where raters marked kinds, `<data set>_sources.png` where there
        are several sources too, `<data set>_counts.png` (what raters counted), `<data set>_raters.png` where there are
        several (what each counted in each study), `<data set>_time.png` where metrics were timed, and a scatter plot a
        metric, `<data set>_<metric>.png`.

    Raises:
        InputError: A file exists, or the folder cannot be written to; nothing was drawn.
    """
    paths = plot_paths(folder, report.data, report.results, timed=bool(report.times))
    check_outputs(pictures=paths.values(), force=force)
    draw: Mapping[str, Callable[[AgreementReport], Any]] = {
        "forest": forest,
        "kinds": kinds_map,
        "sources": sources_bars,
        "counts": lambda report: histograms([report.data]),
        "raters": lambda report: dots(report.data),
        "time": against_time,
    }
    try:
        for name, path in paths.items():
            figure = draw[name](report) if name in draw else scatter(report, name)
            figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror}.") from None
    return list(paths.values())


def plot_paths(folder: str | Path, data: Rated, metrics: Iterable[str], *, timed: bool = False) -> dict[str, Path]:
    """Each plot's path: `forest`, `counts`, `kinds`, `sources`, `raters`, `time`, and each metric by its name."""
    there = {
        "forest": True,
        "kinds": len(data.counted_kinds) > 1,
        "sources": has_sources(data),
        "counts": True,
        "raters": len(data.raters) > 1,
        "time": timed,
    }
    names = {name: name for name, is_there in there.items() if is_there}
    slugs: Mapping[str, str] = names | {metric: parse_name(metric).slug for metric in metrics}
    return {name: Path(folder) / f"{data.name}_{slug}.png" for name, slug in slugs.items()}


def write_histograms(data: Sequence[Rated], folder: str | Path, *, force: bool = False) -> Path:
    """Writes what raters counted in several data sets as one picture, `counts.png`.

    Raises:
        InputError: The file exists, or the folder cannot be written to.
    """
    path = Path(folder) / HISTOGRAMS
    check_outputs(pictures=[path], force=force)
    try:
        histograms(data).savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror}.") from None
    return path


# --- counts


def histograms(data: Sequence[Rated]) -> Any:
    """How many pairs of each data set have so many errors: the raters' mean of the main target, rounded."""
    figure, _ = _figure(4.2 * min(3, len(data)), 3.4 * -(-len(data) // 3), axes=False)
    panels = np.atleast_1d(figure.subplots(-(-len(data) // 3), min(3, len(data)))).ravel()
    for each, axes in zip(data, panels, strict=False):
        target = main_target(each)
        means = each.mean(target)
        means = means[~np.isnan(means)]
        counts = np.round(means)
        bins = np.arange(counts.min(initial=0) - 0.5, counts.max(initial=0) + 1.5)
        axes.hist(counts, bins=bins, color=DOT, rwidth=0.85)
        axes.locator_params(axis="both", integer=True)
        mean = means.mean() if len(means) else np.nan
        axes.set_title(f"{each.name}: {len(means)} pairs, mean {mean:.2f}", fontsize=11)
        axes.set_xlabel(f"radiologists' {each.title(target)}")
        axes.set_ylabel("pairs")
        axes.grid(axis="y", alpha=0.25)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[len(data) :]:
        axes.set_visible(False)
    return figure


def dots(data: Rated) -> Any:
    """What each rater counted in each study, a dot a rater: the mean of its candidates, studies by their mean."""
    target = main_target(data)
    studies = list(dict.fromkeys(data.studies))
    of_study = np.array([[study == name for study in data.studies] for name in studies])
    table = np.array([[mean_of(row[own]) for own in of_study] for row in data.values[target]])
    order = np.argsort([mean_of(column) for column in table.T], kind="stable")
    figure, axes = _figure(7.5, 4.2)
    shifts = np.linspace(-0.3, 0.3, len(data.raters))
    for rater, row, shift in zip(data.raters, table, shifts, strict=True):
        axes.plot(np.arange(1, len(studies) + 1) + shift, row[order], "o", markersize=3.5, alpha=0.7, label=str(rater))
    single, of_mean = intraclass(data.values[target][:, ~np.isnan(data.values[target]).any(axis=0)])
    shown = f", ICC(2,1) {single:.2f}, ICC(2,{len(data.raters)}) {of_mean:.2f}" if not np.isnan(single) else ""
    axes.set_title(f"{data.name}: {data.title(target)} by rater{shown}", fontsize=11)
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel(f"{len(studies)} studies, those with the fewest first")
    axes.set_ylabel(f"{data.title(target)} a report")
    axes.grid(axis="y", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=min(6, len(data.raters)), frameon=False, fontsize=9)
    return figure


# --- a forest


def forest(report: AgreementReport) -> Any:
    """tau-b of each metric with the main target, pooled and within studies, and what a rater reaches."""
    target = main_target(report.data)
    lines = {name: report.headline(name, target) for name in report.results}
    order = sorted(lines, key=lambda name: _height(lines[name]))
    figure, axes = _figure(7.5, 1.6 + 0.34 * len(order))
    within = {name: report.headline(name, target, "within") for name in order}
    has_within = any(within.values())
    series = (
        (lines, DOT, 0.12 if has_within else 0.0, "o", "pooled"),
        (within, "#b4532a", -0.16, "s", "within studies"),
    )
    for found, colour, shift, marker, title in series[: 1 + has_within]:
        for height, name in enumerate(order):
            line = found[name]
            if line is not None and not np.isnan(line.tau_b.value):
                value, low, high = line.tau_b[:3]
                axes.plot([low, high], [height + shift] * 2, color=colour, linewidth=1.4)
                axes.plot(value, height + shift, marker, color=colour, markersize=4.5)
        axes.plot([], [], marker, color=colour, label=title)
    reached = report.reached(target)
    if reached:
        axes.axvspan(min(reached), max(reached) + 0.004, color=CEILING_COLOUR, alpha=0.35, label="one radiologist")
    else:
        axes.plot([], [], " ", label="no ceiling known")
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_yticks(range(len(order)), [label(name, report.results[name].titled) for name in order])
    axes.set_ylim(-0.7, len(order) - 0.3)
    axes.set_xlabel(
        f"tau-b with radiologists' {report.data.title(target)}, {100 * report.resampling.level:g}% intervals"
    )
    axes.set_title(f"{report.name}: {len(report.data.pairs)} pairs of {report.data.n_studies} studies", fontsize=11)
    axes.grid(axis="x", alpha=0.25)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _height(line: Agreement | None) -> float:
    """The undefined stand below all others."""
    return -2.0 if line is None or np.isnan(line.tau_b.value) else line.tau_b.value


# --- against time


def against_time(report: AgreementReport) -> Any:
    """tau-b of each metric with the main target against its milliseconds a pair, as CREPE's figure 1 draws it."""
    target = main_target(report.data)
    figure, axes = _figure(7.5, 4.6)
    for number, (name, timed) in enumerate(sorted(report.times.items(), key=lambda each: each[1].seconds)):
        line = report.headline(name, target)
        if line is None or np.isnan([line.tau_b.value, timed.milliseconds]).any():
            continue
        value, low, high = line.tau_b[:3]
        axes.plot([timed.milliseconds] * 2, [low, high], color=DOT, linewidth=1, alpha=0.4)
        axes.plot(timed.milliseconds, value, "o", color=DOT, markersize=5)
        axes.annotate(
            label(name, report.results[name].titled),
            (timed.milliseconds, value),
            xytext=(6, -11 if number % 2 else 4),  # those of like time are neighbours
            textcoords="offset points",
            fontsize=8.5,
        )
    axes.set_xscale("log")
    axes.margins(x=0.25)
    axes.set_xlabel(f"milliseconds a pair, each metric alone ({machine()})", fontsize=9)
    axes.set_ylabel(f"tau-b with radiologists' {report.data.title(target)}")
    axes.set_title(f"{report.name}: {len(report.data.pairs)} pairs of {report.data.n_studies} studies", fontsize=11)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


# --- a map


def kinds_map(report: AgreementReport) -> Any:
    """tau-b of each metric with each kind of error, as colours with numbers."""
    kinds, names = report.data.counted_kinds, list(report.results)
    found = [[report.headline(name, kind) for kind in kinds] for name in names]
    values = np.array([[np.nan if line is None else line.tau_b.value for line in row] for row in found])
    figure, axes = _figure(2.8 + 1.05 * len(kinds), 1.7 + 0.34 * len(names))
    image = axes.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        line = found[row][column]
        mark = "°" if line is not None and line.label == "not significant" else ""
        shown = "–" if np.isnan(value) else f"{value:.2f}{mark}".replace("-", "−")
        axes.text(
            column, row, shown, ha="center", va="center", fontsize=8, color="white" if abs(value) > 0.6 else "black"
        )
    axes.set_xticks(range(len(kinds)), [_two_lines(report.data.title(kind)) for kind in kinds], fontsize=9)
    axes.set_yticks(range(len(names)), [label(name, report.results[name].titled) for name in names], fontsize=9)
    axes.spines[:].set_visible(False)
    axes.set_title(f"{report.name}: tau-b with each kind of error (° not significant)", fontsize=11)
    figure.colorbar(image, ax=axes, fraction=0.04, label="tau-b")
    return figure


def _two_lines(title: str) -> str:
    """The letters of a kind over its name."""
    letters, name = title.rsplit(" ", 1) if "+" in title else title.split(" ", 1) if " " in title else ("", title)
    return f"{letters}\n{name}".strip()


# --- bars


def sources_bars(report: AgreementReport) -> Any:
    """Errors of each kind in the reports of each source."""
    found = failure_modes(report.data)
    assert found is not None
    return failure_bars(report.data, found)


# --- a scatter


def scatter(report: AgreementReport, name: str) -> Any:
    """A metric's headline against each main target."""
    spec = report.results[name].titled
    panels = report.data.main
    figure, _ = _figure(5 * len(panels), 4.6, axes=False)
    figure.suptitle(label(name, spec), fontsize=14, fontweight="bold")
    scores = report.results[name].headline
    for axes, target in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        _scatter(axes, scores, report.data.mean(target))
        axes.set_title(_caption(report, name, target), fontsize=11)
        axes.set_xlabel(f"{spec.headline.title} ({spec.headline.better} is better)")
        axes.set_ylabel(f"radiologists' {report.data.title(target)}")
    return figure


def _caption(report: AgreementReport, name: str, target: str) -> str:
    line = report.headline(name, target)
    if line is None or np.isnan(line.tau_b.value):
        return "agreement is undefined: too few scores, or all alike"
    found = ((name, getattr(line, each)) for name, each in (("tau-b", "tau_b"), ("rho", "rho"), ("r", "r")))
    parts = [f"{name} {value:.2f} [{low:.2f}, {high:.2f}]" for name, (value, low, high, _) in found]
    return f"agreement: {parts[0]}, {line.n} pairs\n{parts[1]}, {parts[2]}"


def _scatter(axes: Any, scores: Array, annotated: Array) -> None:
    rng = np.random.default_rng(0)
    nudge = rng.uniform(-JITTER, JITTER, (2, len(scores)))
    scored = scores[~np.isnan(scores)]
    whole = len(scored) > 0 and bool((scored == np.round(scored)).all())
    axes.scatter(
        scores + nudge[0] * whole, annotated + nudge[1], s=34, alpha=0.45, color=DOT, edgecolors="white", linewidths=0.6
    )
    _draw_line(axes, scores, annotated)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_line(axes: Any, scores: Array, annotated: Array) -> None:
    """The line of least squares with its 95% band, as CREPE's paper draws it; nothing where scores are all alike."""
    keep = ~np.isnan(scores) & ~np.isnan(annotated)
    if len(np.unique(scores[keep])) < 2:
        return
    grid = np.linspace(scores[keep].min(), scores[keep].max(), 60)
    line, margin = regression(scores[keep], annotated[keep], grid)
    axes.plot(grid, line, color=WITHIN, linewidth=1.4)
    if not np.isnan(margin).any():
        axes.fill_between(grid, line - margin, line + margin, color=WITHIN, alpha=0.18, linewidth=0)


def regression(x: Array, y: Array, at: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Fits y on x by least squares, and says how sure the line is.

    Args:
        x: `(n,)`, not all alike.
        y: `(n,)`.
        at: Where the line is wanted `(n_points,)`.
        level: Coverage of the band: the interval of the mean of y at each point, with Student's t.

    Returns:
        The line and half the height of the band there; NaN for fewer than three points.
    """
    from scipy.stats import t

    centred = x - x.mean()
    slope = float((centred * y).sum() / (centred**2).sum())
    line = y.mean() + slope * (at - x.mean())
    if len(x) < 3:
        return line, np.full(len(at), np.nan)
    rest = y - y.mean() - slope * centred
    spread = np.sqrt((rest**2).sum() / (len(x) - 2))
    width = np.sqrt(1 / len(x) + (at - x.mean()) ** 2 / (centred**2).sum())
    return line, t.ppf((1 + level) / 2, len(x) - 2) * spread * width


def _figure(width: float, height: float, *, axes: bool = True) -> tuple[Any, Any]:
    """A figure of its own, outside pyplot: no global state of matplotlib is touched."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots() if axes else None
