"""What a run shows in the end: curves, baselines, and reports beside their references."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from examples.train_report_generator.training import Run
from rrgmetrics.specs.names import parse_name

INK, BEST_LINE = "#1f4e79", "#b3541e"
N_REPORTS = 5
CHOOSES = parse_name("crepe").title


def headlines(run: Run, metrics: Sequence[str]) -> dict[str, list[tuple[int, float]]]:
    """Steps and values of each metric that was logged as `eval_<metric>`."""
    return {
        metric: [(row["step"], row[f"eval_{metric}"]) for row in run.history if f"eval_{metric}" in row]
        for metric in metrics
    }


def show(run: Run, metrics: Sequence[str], output: Path, console: Console | None = None) -> None:
    """Prints baselines, progress and sample reports; writes `curves.png` and `summary.json`."""
    console = console or Console()
    curves = headlines(run, metrics)
    console.print(_progress(run, curves))
    console.print(_samples(run))
    plot(run, curves, output / "curves.png")
    facts = {"best_step": run.best_step, "baselines": run.baselines, "curves": curves}
    (output / "summary.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    if words := too_few_steps(run):
        console.print(words)
    console.print(f"Curves: {output / 'curves.png'}; the best model: {output / 'best'}")
    console.print(
        f"Open {run.folder / 'index.html'} in a browser for every curve with its interval, and reports over time."
    )


def too_few_steps(run: Run) -> str:
    """What to do where no checkpoint beats a report that looks at no picture; "" where one does."""
    best = min((row["eval_crepe"] for row in run.history if "eval_crepe" in row), default=math.inf)
    bar = min(scores["crepe"] for scores in run.baselines.values())
    if best < bar:
        return ""
    return (
        f"No checkpoint beats a report that ignores the image ({CHOOSES} {best:.2f}, theirs {bar:.2f}): these steps "
        "are too few. Use more with --steps."
    )


def plot(run: Run, curves: Mapping[str, Sequence[tuple[int, float]]], path: Path) -> None:
    """Loss and each metric over the steps, the best step and the baselines marked."""
    from matplotlib.figure import Figure

    loss = [(row["step"], row["loss"]) for row in run.history if "loss" in row]
    panels = {"training loss ↓": loss} | {_title(metric): points for metric, points in curves.items()}
    figure = Figure(figsize=(3.4 * len(panels), 3.2), layout="constrained")
    for axes, (title, points), metric in zip(
        figure.subplots(1, len(panels)), panels.items(), (None, *curves), strict=True
    ):
        axes.plot(*zip(*points, strict=True), color=INK, marker="o" if metric else "", markersize=4)
        axes.axvline(run.best_step, color=BEST_LINE, linewidth=1, label=f"best by {CHOOSES}")
        for (name, scores), style in zip(run.baselines.items(), ("--", ":"), strict=True):
            if metric:
                axes.axhline(scores[metric], color="#777777", linestyle=style, linewidth=1, label=name)
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xlabel("step")
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[1].legend(fontsize=7, frameon=False)
    figure.savefig(path, dpi=150)


def _title(metric: str) -> str:
    spec = parse_name(metric).titled
    return f"{spec.title} {spec.headline.arrow}"


def _progress(run: Run, curves: Mapping[str, Sequence[tuple[int, float]]]) -> Table:
    table = Table("", *map(_title, curves), title="Validation reports")
    for name, scores in run.baselines.items():
        table.add_row(name, *(f"{scores[metric]:.3f}" for metric in curves))
    table.add_section()
    by_step = {metric: dict(points) for metric, points in curves.items()}
    for step in sorted({step for points in by_step.values() for step in points}):
        cells = [f"{by_step[metric][step]:.3f}" if step in by_step[metric] else "" for metric in curves]
        best = step == run.best_step
        table.add_row(f"step {step:,}{' (best)' if best else ''}", *cells, style="bold" if best else "")
    return table


def _samples(run: Run) -> Table:
    headers = ("study", "reference", "generated", CHOOSES, "errors")
    table = Table(title="Reports of the best step", show_lines=True)
    for header in headers:
        table.add_column(header, overflow="fold")
    file = run.folder / f"eval_{run.best_step:06d}.jsonl"
    rows: list[dict[str, Any]] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows[:N_REPORTS]:
        wrong = "\n".join(error["sentence"] for error in row["errors"]) or "nothing"
        table.add_row(row["study_id"], row["reference"], row["candidate"], f"{row['scores']['crepe']:.2f}", wrong)
    return table
