"""A picture of failure modes: the errors of each kind in the reports of each source (Yu et al. 2023, figure 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rrgmetrics.metaeval.failures import FailureModes
from rrgmetrics.metaeval.rated import Rated

COLOURS = ("#1d5b79", "#b4532a", "#c9a227", "#5a7d4f", "#7a5c8e", "#8a8a8a")
WIDTH = 0.8  # of the bars of one kind together


def failure_bars(data: Rated, found: FailureModes) -> Any:
    """Draws mean counts by kind, a bar for each source: all errors, and significant ones where raters marked them."""
    from matplotlib.figure import Figure

    means = {(each.source, each.target): each.mean for each in found.means}
    sources = list(dict.fromkeys(each.source for each in found.means))
    panels = {"all errors": list(data.counted_kinds)}
    significant = [f"{kind}_significant" for kind in data.counted_kinds]
    if set(significant) <= set(data.values):
        panels["significant errors"] = significant
    figure = Figure(figsize=(5.2 * len(panels), 4.2), layout="constrained")
    for axes, (title, targets) in zip(
        np.atleast_1d(figure.subplots(1, len(panels), sharey=True)), panels.items(), strict=True
    ):
        bar = WIDTH / len(sources)
        for place, source in enumerate(sources):
            heights = [means[source, target] for target in targets]
            middles = np.arange(len(targets)) + (place - (len(sources) - 1) / 2) * bar
            axes.bar(middles, heights, bar, color=COLOURS[place % len(COLOURS)], label=source)
        names = [data.title(target.removesuffix("_significant")).replace(" ", "\n") for target in targets]
        axes.set_xticks(range(len(targets)), names, fontsize=8)
        axes.set_title(title, fontsize=11)
        axes.grid(axis="y", alpha=0.25)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("mean count a report")
    figure.suptitle(f"{data.name}: errors by source", fontweight="bold")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(sources), frameon=False, fontsize=9)
    return figure
