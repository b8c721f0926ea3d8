"""Draws scores against the radiologists' counts and ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.files import check_outputs
from rrgmetrics.metaeval.datasets import Target
from rrgmetrics.names import label, parse_name
from rrgmetrics.scorers.base import Array

if TYPE_CHECKING:
    from rrgmetrics.metaeval.agreement import RadPrefReport

PANELS: dict[Target, str] = {"rating": "mean rating (1 to 5)", "total_errors": "mean number of errors"}
JITTER = 0.09  # means of three raters lie a third apart
DOT = "#1f5f8b"


def scatter_plots(report: RadPrefReport, folder: Path, *, force: bool = False) -> list[Path]:
    """Writes one PNG a metric: its score against the radiologists' mean rating and mean number of errors.

    Args:
        report: What `agree` returned.
        folder: Where to; made if it is not there.
        force: Whether files on disk may be replaced.

    Returns:
        The files, in the order of the metrics.

    Raises:
        InputError: A file exists, or the folder cannot be written to; nothing was written.
    """
    paths = {name: plot_path(folder, name) for name in report.results}
    check_outputs(pictures=paths.values(), force=force)
    try:
        for name, path in paths.items():
            _figure(report, name).savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror}.") from None
    return list(paths.values())


def plot_path(folder: str | Path, name: str) -> Path:
    """The path of a metric's plot: `<folder>/<slug>.png`."""
    return Path(folder) / f"{parse_name(name).slug}.png"


def _figure(report: RadPrefReport, name: str) -> Any:
    """A figure of its own, outside pyplot: no global state of matplotlib is touched."""
    from matplotlib.figure import Figure

    spec = report.results[name].titled
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    figure.suptitle(label(name, spec), fontsize=14, fontweight="bold")
    scores = report.results[name].per_pair[spec.name]
    for axes, (target, quantity) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
        _scatter(axes, scores, report.data.annotated(target).mean(axis=0))
        axes.set_title(_caption(report, name, target), fontsize=11)
        axes.set_xlabel(f"{spec.headline.title} ({spec.headline.better} is better)")
        axes.set_ylabel(f"radiologists' {quantity}")
    return figure


def _caption(report: RadPrefReport, name: str, target: Target) -> str:
    spec = report.results[name].spec
    for line in report.agreements:
        if (line.subject, line.key, line.target, line.view) == (name, spec.name, target, "pairs"):
            tau = line.tau_b
            if np.isnan(tau.value):
                break
            return f"agreement: tau-b {tau.value:.2f} [{tau.low:.2f}, {tau.high:.2f}], {line.n} pairs"
    return "agreement is undefined: too few scores, or all alike"


def _scatter(axes: Any, scores: Array, annotated: Array) -> None:
    rng = np.random.default_rng(0)
    nudge = rng.uniform(-JITTER, JITTER, (2, len(scores)))
    scored = scores[~np.isnan(scores)]
    whole = len(scored) > 0 and bool((scored == np.round(scored)).all())
    axes.scatter(
        scores + nudge[0] * whole, annotated + nudge[1], s=34, alpha=0.45, color=DOT, edgecolors="white", linewidths=0.6
    )
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
