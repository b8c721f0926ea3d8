"""Ablations: a config trained again with one value changed at a time, in the shape of the paper's Table 4.

The paper varies heads, loss and encoder; what is varied here stands in the config's `ablation`. Each variant is a run
of its own in a folder below, so an ablation that was stopped goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.cards import estimate, markdown_table
from rrgmetrics.training.config import CrepeConfig, changed
from rrgmetrics.training.crepe import find_encoder, train_crepe
from rrgmetrics.training.measured import Measured, read_measured

TITLES = {"heads": "Number of heads", "loss": "Loss", "encoder": "Encoder", "features": "Features"}
LOSSES = {"mse": "MSE", "poisson": "Poisson NLL", "mse+bce": "MSE + BCE", "poisson+bce": "Poisson NLL + BCE"}
BASE = "base"
RESULTS = "ablation.json"


@dataclass(frozen=True)
class Variant:
    """A line of the table.

    Attributes:
        key: What was varied.
        value: The value of this run.
        is_base: Whether it is the config's own.
        begins_block: Whether it is the first value of its key.
        measured: What it reaches on test rows, or on validation rows if there are no test rows.
    """

    key: str
    value: str
    is_base: bool
    begins_block: bool
    measured: Measured

    @property
    def title(self) -> str:
        """The key in words, on the first line of a block."""
        return TITLES.get(self.key, self.key.replace("_", " ").capitalize()) if self.begins_block else ""


def run_ablation(
    config: CrepeConfig, output: str | Path, *, force: bool = False, progress: bool = True
) -> list[Variant]:
    """Trains every variant that `config.ablation` names.

    Args:
        config: How to train; token targets are left out of variants that cannot use them (`variant`).
        output: Folder of the runs, of README.md with the table, and of ablation.json.
        force: Whether an ablation in that folder may be replaced.
        progress: Whether to show bars.

    Raises:
        InputError: There is nothing to vary, or as `train_crepe`.
        BackendError: One of the encoders is missing; raised before anything is trained.
    """
    if not config.ablation:
        raise InputError(
            "The configuration has no ablation; name the values to vary, such as ablation: {{heads: [1, 2, 6]}}."
        )
    plan = list(variants(config))
    folder = Path(output)
    runs.check_run(folder, config, force=force)
    for encoder in dict.fromkeys(each.encoder for _, _, each in plan):
        find_encoder(encoder)
    runs.open_run(folder, config, force=force)
    done: list[Variant] = []
    for key, value, varied in plan:
        is_base = varied == _without_plans(config)
        measured = _run(varied, folder / (BASE if is_base else _slug(key, value)), progress)
        begins = not done or done[-1].key != key
        done.append(Variant(key, LOSSES.get(str(value), str(value)), is_base, begins, measured))
    if runs.is_main_process():
        files.write_json(folder / RESULTS, [_as_json(line) for line in done], force=True)
        (folder / runs.CARD).write_text(_card(done), encoding="utf-8")
    return done


def variants(config: CrepeConfig) -> Iterator[tuple[str, Any, CrepeConfig]]:
    """Yields key, value and config of every line of the table, in its order."""
    for key, values in (config.ablation or {}).items():
        for value in values:
            yield key, value, variant(config, key, value)


def variant(config: CrepeConfig, key: str, value: Any) -> CrepeConfig:
    """Returns the config with one value changed; without token targets where heads or features cannot use any."""
    varied = _without_plans(config)
    if (key == "heads" and value != 6) or (key == "features" and value != "tokens"):
        varied = changed(varied, token_weight=0.0)
    return changed(varied, **{key: value})


def _without_plans(config: CrepeConfig) -> CrepeConfig:
    return changed(config, search=None, ablation=None)


def _run(config: CrepeConfig, folder: Path, progress: bool) -> Measured:
    """Trains a variant, or reads what an earlier call measured."""
    finished = (folder / runs.CARD).is_file()
    return (read_measured(folder) if finished else train_crepe(config, folder, progress=progress).measured)[-1]


def _slug(key: str, value: Any) -> str:
    return "-".join([key, *str(value).replace("/", " ").split()])


def _as_json(line: Variant) -> Mapping[str, Any]:
    m = line.measured
    facts = {"setting": line.key, "value": line.value, "is_base": line.is_base, "split": m.split, "n_pairs": m.n_pairs}
    return facts | {"tau": m.tau._asdict(), "rho": m.rho._asdict(), "mae": m.mae}


def _card(lines: Sequence[Variant]) -> str:
    """Returns the table in Markdown."""
    measured = lines[0].measured
    rows = [
        (
            line.title,
            f"**{line.value}**" if line.is_base else line.value,
            estimate(line.measured.tau),
            f"{line.measured.rho.value:.3f}",
            f"{line.measured.mae:.3f}",
        )
        for line in lines
    ]
    table = markdown_table(("setting", "value", "Kendall's tau-b", "rho", "mean absolute error"), rows)
    return (
        f"# Ablation\n\nOne value of the config changed at a time (the config's own in bold), as in Table 4 of CREPE "
        f"(EMNLP 2025); {measured.split} rows, {measured.n_pairs:,} pairs, totals against the labels, 95% intervals "
        f"over studies. The paper's figures are on ReXVal and are not comparable.\n\n{table}\n\n"
        f"Config: `{runs.CONFIG}`; each run's own card is in its folder.\n"
    )
