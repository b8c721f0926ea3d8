"""Run cards: the README.md of a trained folder, from which the run can be told and made again."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from rrgmetrics.stats import Estimate
from rrgmetrics.training.config import (
    REPLIES,
    CrepeConfig,
    EncoderConfig,
    JudgeConfig,
    LanguageConfig,
    asked_as,
    changed,
    dump_config,
)
from rrgmetrics.training.crepe_data import CrepeData
from rrgmetrics.training.labelled import Source
from rrgmetrics.training.measured import CrepeRun, Measured
from rrgmetrics.training.trainer import CARD, n_processes
from rrgmetrics.version import VERSION

if TYPE_CHECKING:
    from rrgmetrics.training.judge import JudgeRun
    from rrgmetrics.training.judge_data import JudgeData

LIBRARIES = ("torch", "transformers", "tokenizers", "accelerate", "numpy")
LETTERS = "ABCDEF"


def write_crepe_card(run: CrepeRun, data: CrepeData, *, encoder: str, steps: int, resumed: str | None) -> None:
    """Writes the card of a regressor: data, config, what it reaches, on what it ran.

    Args:
        run: What was trained.
        data: The pairs it saw.
        encoder: The encoder's identity.
        steps: Optimizer steps in all.
        resumed: The checkpoint this call went on from, if any.
    """
    rows = {split: f"{len(index):,}" for split, index in data.rows.items()}
    cut = sum(tokens.n_cut for tokens in data.tokens.values())
    facts = [
        "- **Score with it:** `crepe@FOLDER`, the path of this folder",
        f"- **Encoder:** {encoder}",
        f"- **Rows:** {rows['train']} to train, {rows['validation']} validation, {rows['test']} test; "
        f"{data.pairs.n_unlabelled:,} without label left out; {cut:,} cut at {run.config.max_length} tokens",
        f"- **Labels:** {', '.join(data.pairs.labels)}",
        *_run_facts(run.seconds, steps, resumed),
    ]
    text = "\n\n".join(
        [
            f"# CREPE regressor `{run.folder.name}`",
            "Predicts how many errors of each kind a radiologist would count in a machine-written report "
            "(CREPE, EMNLP 2025). Trained with `rrgmetrics train crepe`; the labels below are what it learnt to "
            "predict, and their faults are its faults.",
            "\n".join(facts),
            "## Data",
            _sources(data.pairs.sources),
            "## Measured on held-out rows",
            "Agreement with the labels named above, not with radiologists; intervals are 95%, over studies.",
            _measured(run.measured),
            "## Config",
            f"```yaml\n{dump_config(_portable(run.config))}```",
        ]
    )
    (run.folder / CARD).write_text(text + "\n", encoding="utf-8")


def _portable(config: CrepeConfig) -> CrepeConfig:
    """Returns the config without what was not used and without this machine's folders."""
    names = tuple(Path(path).name for path in config.pairs)
    encoder = Path(config.encoder).name if Path(config.encoder).is_dir() else config.encoder
    return changed(config, pairs=names, encoder=encoder, search=None, ablation=None)


def write_judge_card(run: JudgeRun, data: JudgeData, *, n_rows: int, steps: int, resumed: str | None) -> None:
    """Writes the card of a judge: data, config, what it reaches, on what it ran.

    Args:
        run: What was trained.
        data: What it learnt from.
        n_rows: Rows that it was trained on.
        steps: Optimizer steps in all.
        resumed: The checkpoint this call went on from, if any.
    """
    config, found = run.config, run.measured
    left_out = "; ".join(f"{count:,} left out: {why}" for why, count in data.left_out.items()) or "none left out"
    trained = (
        f"LoRA of rank {config.lora_rank}{', merged' * config.merge}" if config.lora_rank else "all weights trained"
    )
    facts = [
        f"- **Judge with it:** `{config.protocol}@FOLDER{asked_as(config)}`, the path of this folder",
        f"- **Model:** {config.model or 'new, with random weights'}; {trained}",
        f"- **Rows:** {n_rows:,} to train, {len(data.rows['validation']):,} held out; {left_out}",
        f"- **Verdicts learnt:** {data.source}",
        *_run_facts(run.seconds, steps, resumed),
    ]
    agreement = [
        ("errors counted, mean difference", f"{found.mae:.3f}"),
        ("number of errors exact", f"{found.exact:.1%}"),
        ("replies without a verdict", f"{found.unreadable:.1%}"),
        ("replies word for word", f"{found.same:.1%}"),
    ]
    text = "\n\n".join(
        [
            f"# Judge `{run.folder.name}`",
            f"Judges machine-written radiology reports in the form of {config.protocol}. Trained with "
            "`rrgmetrics train judge`; it learnt to give the verdicts named below, and their faults are its.",
            "\n".join(facts),
            "## Measured on held-out pairs",
            f"Agreement with the verdicts named above, not with radiologists, on {found.n:,} pairs.",
            markdown_table(("", "value"), agreement),
            "## Config",
            f"```yaml\n{dump_config(_portable_judge(config))}```",
        ]
    )
    (run.folder / CARD).write_text(text + "\n", encoding="utf-8")


def _portable_judge(config: JudgeConfig) -> JudgeConfig:
    """Returns the config without this machine's folders."""
    pairs = tuple(Path(path).name for path in config.pairs)
    files = tuple(each.removeprefix(REPLIES) for each in config.labels)
    labels = config.labels if files == config.labels else tuple(f"{REPLIES}{Path(file).name}" for file in files)
    model = Path(config.model).name if config.model and Path(config.model).is_dir() else config.model
    return changed(config, model=model, pairs=pairs, labels=labels)


def write_encoder_card(
    config: EncoderConfig, folder: Path, sources: Iterable[Source], facts: Sequence[str], seconds: float
) -> None:
    """Writes the card of an encoder; `facts` are items of a Markdown list."""
    names = tuple(Path(path).name for path in config.corpus)
    base = Path(config.base).name if Path(config.base).is_dir() else config.base
    text = "\n\n".join(
        [
            f"# Encoder `{folder.name}`",
            _made_of(config),
            "\n".join([*facts, *_run_facts(seconds)]),
            "## Data",
            _sources(sources),
            "## Config",
            f"```yaml\n{dump_config(changed(config, corpus=names, base=base))}```",
        ]
    )
    (folder / CARD).write_text(text + "\n", encoding="utf-8")


def write_language_card(
    config: LanguageConfig, folder: Path, sources: Iterable[Source], facts: Sequence[str], seconds: float
) -> None:
    """Writes the card of a language model that read reports; `facts` are items of a Markdown list."""
    names = tuple(Path(path).name for path in config.corpus)
    model = Path(config.model).name if Path(config.model).is_dir() else config.model
    text = "\n\n".join(
        [
            f"# Language model `{folder.name}`",
            f"{model}, trained further on reports with `rrgmetrics train language`, under its licence. It judges "
            f"nothing yet: `rrgmetrics train judge model={folder.name}` begins here.",
            "\n".join([*facts, *_run_facts(seconds)]),
            "## Data",
            _sources(sources),
            "## Config",
            f"```yaml\n{dump_config(changed(config, corpus=names, model=model))}```",
        ]
    )
    (folder / CARD).write_text(text + "\n", encoding="utf-8")


def _made_of(config: EncoderConfig) -> str:
    """What an encoder is made of, in a sentence."""
    made = "An encoder for radiology reports, made with `rrgmetrics train encoder`"
    if config.base:
        return f"{made}: {Path(config.base).name}, trained further, under its licence."
    return f"{made}: a BERT with a vocabulary of its own, masked language model, SimCSE."


def _sources(sources: Iterable[Source]) -> str:
    rows = [(source.name, f"{source.n_rows:,}", f"`{source.sha256}`") for source in sources]
    return markdown_table(("file", "rows", "sha256"), rows)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def estimate(value: Estimate) -> str:
    """Returns a value with its interval, for cards."""
    return f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _measured(measured: Sequence[Measured]) -> str:
    totals = markdown_table(
        ("split", "pairs", "Kendall's tau-b", "Spearman's rho", "mean absolute error"),
        [(m.split, f"{m.n_pairs:,}", estimate(m.tau), estimate(m.rho), f"{m.mae:.3f}") for m in measured],
    )
    if not measured[0].category_tau:
        return totals
    header = ("split", *(f"{letter} {name}" for name in ("tau-b", "error") for letter in LETTERS))
    rows = [
        (m.split, *("–" if math.isnan(value) else f"{value:.3f}" for value in (*m.category_tau, *m.category_mae)))
        for m in measured
    ]
    return f"{totals}\n\n{markdown_table(header, rows)}"


def _run_facts(seconds: float, steps: int | None = None, resumed: str | None = None) -> list[str]:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    took = f"- **Time:** {_duration(seconds)}" + (f", {steps:,} steps" if steps is not None else "")
    if resumed:
        took += f"; resumed at {Path(resumed).name}, the time before it is not counted"
    return [
        took,
        f"- **Hardware:** {hardware()}",
        f"- **Software:** rrgmetrics {VERSION}, Python {platform.python_version()}, {libraries}",
    ]


def _duration(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {seconds % 60:.0f} s"


def hardware() -> str:
    """Returns the processors that trained."""
    import torch

    several = f"{n_processes()} processes, " if n_processes() > 1 else ""
    if torch.cuda.is_available():
        return f"{several}{torch.cuda.get_device_name()}"
    return f"{several}{_cpu_name()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads"


def _cpu_name() -> str:
    facts = Path("/proc/cpuinfo")
    lines: Mapping[str, str] = {}
    if facts.is_file():
        lines = dict(line.split(":", 1) for line in facts.read_text().splitlines() if ":" in line)
        lines = {key.strip(): value.strip() for key, value in lines.items()}
    return lines.get("model name") or platform.processor() or platform.machine()
