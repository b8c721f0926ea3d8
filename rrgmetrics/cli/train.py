"""`rrgmetrics train`: trains a metric's model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rrgmetrics.cli.arguments import add_step, add_writing
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what `rrgmetrics train` can train."""
    steps = parser.add_subparsers(required=True, metavar="WHAT")
    parser = add_step(steps, "crepe", _train_crepe, "train a CREPE regressor on labelled pairs, or resume training")
    _add_config(parser, "crepe", also=", bundled, aligned")

    parser = add_step(steps, "search", _train_search, "search a CREPE configuration's values with Optuna")
    parser.add_argument("--trials", type=int, default=20, help="number of training runs (default %(default)s)")
    _add_config(parser, "crepe", also=", bundled, aligned")

    parser = add_step(steps, "ablation", _train_ablation, "train variants of a CREPE configuration and compare them")
    _add_config(parser, "crepe", also=", bundled, aligned")

    parser = add_step(
        steps, "judge", _train_judge, "train a small language model to judge as GREEN, CheXprompt or CRIMSON"
    )
    parser.add_argument(
        "--generate",
        type=int,
        default=0,
        metavar="N",
        help="first make N pairs of generated reports, stored next to DIR",
    )
    _add_config(parser, "judge", also=", judge-green, judge-crimson, judge-green-paper, judge-crimson-paper")

    parser = add_step(steps, "encoder", _train_encoder, "train an encoder: vocabulary, masked language model, SimCSE")
    _add_config(parser, "encoder", data="corpus", also=", encoder-radeval")

    parser = add_step(
        steps,
        "language",
        _train_language,
        "continue pretraining a language model on reports, before training it as a judge (model=...)",
    )
    _add_config(parser, "language", data="corpus")

    parser = add_step(steps, "export", _train_export, "store a checkpoint with fewer bits")
    parser.add_argument("checkpoint", metavar="FOLDER", help="folder of the checkpoint")
    parser.add_argument("--output", required=True, metavar="DIR", help="output folder")
    parser.add_argument(
        "--storage", choices=["int8", "fp16"], default="int8", help="storage type of matrices (default %(default)s)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite existing files")


def _add_config(parser: argparse.ArgumentParser, config: str, *, data: str = "pairs", also: str = "") -> None:
    parser.add_argument(
        "overrides", nargs="*", metavar="KEY=VALUE", help="values that override those of the configuration"
    )
    parser.add_argument(
        "--config", default=config, metavar="CONFIG", help=f"a YAML file, or a bundled configuration: {config}{also}"
    )
    parser.add_argument(
        f"--{data}", dest="data", action="append", metavar="FILE", help="data file; repeat the option for several files"
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="folder of the run; an interrupted run resumes")
    add_writing(parser, "replace a run that is in the folder")


def _train_crepe(options: argparse.Namespace) -> None:
    from rrgmetrics.reporting.training import measured_table
    from rrgmetrics.training.crepe import train_crepe

    config = _crepe_config(options)
    run = train_crepe(config, options.output, force=options.force, progress=not options.no_progress)
    _training_console().print(measured_table(run.measured), f"Score with it: crepe@{run.folder}")


def _train_search(options: argparse.Namespace) -> None:
    from rrgmetrics.training.search import search_crepe

    config = _crepe_config(options)
    search = search_crepe(
        config, options.output, trials=options.trials, force=options.force, progress=not options.no_progress
    )
    best = ", ".join(f"{key}={value:.4g}" for key, value in search.values.items())
    _training_console().print(
        f"Best of {search.n_trials} trials: tau {search.tau:.3f} with {best}",
        f"Train with it: rrgmetrics train crepe --config {search.config}",
        sep="\n",
    )


def _train_ablation(options: argparse.Namespace) -> None:
    from rrgmetrics.reporting.training import ablation_table
    from rrgmetrics.training.ablation import run_ablation

    config = _crepe_config(options)
    variants = run_ablation(config, options.output, force=options.force, progress=not options.no_progress)
    _training_console().print(ablation_table(variants))


def _train_judge(options: argparse.Namespace) -> None:
    from rrgmetrics.training.config import JudgeConfig, asked_as, read_config
    from rrgmetrics.training.judge import check_judge_run, train_judge
    from rrgmetrics.training.trainer import is_main_process, wait_for_everyone

    if options.generate < 0:
        raise InputError(f"--generate is {options.generate}; pass a number of pairs.")
    output = Path(options.output)
    made = output.with_name(f"{output.name}-{options.generate}-pairs.parquet") if options.generate else None
    pairs = [*(options.data or ()), *([str(made)] if made else ())]
    config = read_config(JudgeConfig, options.config, options.overrides, **({"pairs": pairs} if pairs else {}))
    check_judge_run(output, config, force=options.force)
    if made and is_main_process():
        _generate_pairs(options.generate, made, progress=not options.no_progress)
    wait_for_everyone(config)
    run = train_judge(config, output, force=options.force, progress=not options.no_progress)
    found = run.measured
    _training_console().print(
        f"{found.n} held-out pairs: mean absolute error of the counts {found.mae:.2f}, {found.exact:.0%} exact, "
        f"{found.unreadable:.0%} of the replies without a verdict",
        f"Judge with it: {config.protocol}@{run.folder}{asked_as(config)}"
        if found.unreadable < 1
        else "The model has not learnt the reply format yet: train it with more epochs=, or on more pairs.",
        sep="\n",
    )


def _generate_pairs(n_pairs: int, path: Path, *, progress: bool) -> None:
    """Makes pairs of generated reports, unless an earlier call did."""
    from rrgmetrics.synthesis.sources import load_collection
    from rrgmetrics.synthesis.synthesize import synthesize

    if path.is_file():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    reports = load_collection(f"generator:{max(100, n_pairs // 3)}")
    synthesize(reports, path, n_pairs=n_pairs, progress=progress)


def _train_encoder(options: argparse.Namespace) -> None:
    from rrgmetrics.training.config import EncoderConfig, read_config
    from rrgmetrics.training.pretraining import train_encoder

    data = {"corpus": options.data} if options.data else {}
    config = read_config(EncoderConfig, options.config, options.overrides, **data)
    run = train_encoder(config, options.output, force=options.force, progress=not options.no_progress)
    _training_console().print(
        f"{run.n_parameters / 1e6:.1f} M parameters; masked tokens predicted with perplexity {run.perplexity:.1f}",
        f"Use it for CREPE: rrgmetrics train crepe encoder={run.folder}",
        sep="\n",
    )


def _train_language(options: argparse.Namespace) -> None:
    from rrgmetrics.training.config import LanguageConfig, read_config
    from rrgmetrics.training.language import train_language

    data = {"corpus": options.data} if options.data else {}
    config = read_config(LanguageConfig, options.config, options.overrides, **data)
    run = train_language(config, options.output, force=options.force, progress=not options.no_progress)
    _training_console().print(
        f"Perplexity on held-out texts: {run.before:.1f} before, {run.perplexity:.1f} after",
        f"Train a judge from it: rrgmetrics train judge model={run.folder}",
        sep="\n",
    )


def _train_export(options: argparse.Namespace) -> None:
    from rrgmetrics.training.export import export_checkpoint

    done = export_checkpoint(options.checkpoint, options.output, storage=options.storage, force=options.force)
    print_line(f"{done.folder}: {done.megabytes:.1f} MB, largest change of a weight {done.error:.2g}")


def _training_console() -> Terminal:
    """Returns a console that only the main process writes to."""
    from rrgmetrics.training.trainer import is_main_process

    return Terminal(soft_wrap=True, highlight=False, quiet=not is_main_process())


def _crepe_config(options: argparse.Namespace) -> Any:
    from rrgmetrics.training.config import CrepeConfig, read_config

    data = {"pairs": options.data} if options.data else {}
    return read_config(CrepeConfig, options.config, options.overrides, **data)
