"""Search of a config's values with Optuna, through `Trainer.hyperparameter_search`.

The objective is the paper's: Kendall's tau-b of total errors on the validation rows, the best of a trial's evaluations.
The authors name neither their ranges nor the number of trials; ours stand in `configs/crepe.yaml`. Trials are kept in
`trials.db`, so a search that was stopped goes on with those it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.backends.bert import quietly
from rrgmetrics.errors import InputError
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.config import CrepeConfig, changed, write_config
from rrgmetrics.training.crepe import crepe_trainer, find_encoder, load_tokenizer
from rrgmetrics.training.crepe_data import read_data
from rrgmetrics.utils.extras import need

BEST = "best.yaml"
TRIALS = "trials.csv"
DATABASE = "trials.db"
STUDY = "crepe"
# Arguments of transformers that a trial sets; the other values of a config go into the model.
ARGUMENTS = {"learning_rate": "learning_rate", "weight_decay": "weight_decay", "epochs": "num_train_epochs"}


class SearchResult(NamedTuple):
    """The best trial.

    Attributes:
        values: What it changed of the config.
        tau: Its objective.
        n_trials: Trials that ended, those stopped early by Optuna's median rule among them.
        config: The file of the config with its values.
    """

    values: Mapping[str, Any]
    tau: float
    n_trials: int
    config: Path


def search_crepe(
    config: CrepeConfig, output: str | Path, *, trials: int = 20, force: bool = False, progress: bool = True
) -> SearchResult:
    """Trains with values drawn from `config.search`, and writes the config with the best of them.

    Args:
        config: How to train; its `search` says what is varied, and between which values.
        output: Folder for best.yaml, trials.csv and the trials' database.
        trials: Trainings in all, those of an interrupted search included.
        force: Whether a search in that folder may be replaced.
        progress: Whether to show bars.

    Raises:
        InputError: There is nothing to search, or as `train_crepe`.
        MissingExtraError: Optuna is not installed.
    """
    if not config.search:
        raise InputError(
            "The configuration has no search; name the values to vary, such as search: "
            "{{learning_rate: {{low, high}}}}."
        )
    if trials < 1:
        raise InputError(f"trials is {trials}; it must be 1 or more.")
    optuna = _optuna()
    folder = Path(output)
    runs.check_run(folder, config, force=force)
    encoder = find_encoder(config.encoder)
    tokenizer = load_tokenizer(encoder, config.max_length)
    data = read_data(config, tokenizer, progress=progress)
    runs.open_run(folder, config, force=force)
    storage = f"sqlite:///{(folder / DATABASE).resolve()}"
    with quietly(), runs.seeded(config.seed), _quiet_optuna(optuna):
        study = optuna.create_study(direction="maximize", storage=storage, study_name=STUDY, load_if_exists=True)
        done = sum(trial.state.is_finished() for trial in study.trials)
        once = {"load_best_model_at_end": False, "save_strategy": "no"}
        trainer = crepe_trainer(
            config,
            data,
            tokenizer,
            folder / runs.CHECKPOINTS,
            encoder=encoder,
            progress=progress,
            config_of=lambda trial: changed(config, **draw(trial, config)) if trial else config,
            **once,
        )
        n_rows = len(data.rows["train"])
        if done < trials:
            trainer.hyperparameter_search(
                hp_space=lambda trial: _arguments(draw(trial, config), config, n_rows),
                compute_objective=lambda metrics: _best_so_far(metrics, trainer),
                n_trials=trials - done,
                direction="maximize",
                backend="optuna",
                storage=storage,
                study_name=STUDY,
                load_if_exists=True,
                sampler=optuna.samplers.TPESampler(seed=config.seed + done),  # a search resumed draws what is new
            )
        best, n_trials = study.best_trial, len(study.trials)
        study.trials_dataframe().to_csv(folder / TRIALS, index=False)
    write_config(changed(config, search=None, **best.params), folder / BEST)
    runs.close_run(folder)
    return SearchResult(best.params, float(best.value), n_trials, folder / BEST)


def draw(trial: Any, config: CrepeConfig) -> dict[str, object]:
    """Returns a trial's values; Optuna gives the same ones each time a trial is asked."""
    values: dict[str, Any] = {}
    for key, space in (config.search or {}).items():
        if isinstance(space, Mapping):
            low, high = float(space["low"]), float(space["high"])
            values[key] = trial.suggest_float(key, low, high, log=bool(space.get("log", False)))
        else:
            values[key] = trial.suggest_categorical(key, list(space))
    return values


def _arguments(values: Mapping[str, Any], config: CrepeConfig, n_rows: int) -> dict[str, object]:
    """Returns a trial's values as transformers' TrainingArguments."""
    arguments = {ARGUMENTS[key]: value for key, value in values.items() if key in ARGUMENTS}
    schedule = {key: value for key, value in values.items() if key in ("warmup_ratio", "epochs")}
    return arguments | {"warmup_steps": runs.warmup_steps(changed(config, **schedule), n_rows)}


def _best_so_far(metrics: Mapping[str, float], trainer: Any) -> float:
    """Returns what a trial is worth: the best of its evaluations, as a training keeps the best checkpoint."""
    best = trainer.state.best_metric
    return max(metrics["eval_tau"], -1.0 if best is None else best)


def _optuna() -> Any:
    need("The search", "training", "optuna")
    import optuna

    return optuna


@contextmanager
def _quiet_optuna(optuna: Any) -> Iterator[None]:
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(verbosity)
