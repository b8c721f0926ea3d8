"""What `score` and `compare` send to where people look: the Hub, a model's card, W&B, TensorBoard, trackio."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.arguments import Results, study_ids
from rrgmetrics.errors import InputError, MissingExtraError
from rrgmetrics.specs.names import parse_name

TRACKERS = {"wandb": "wandb", "tensorboard": "tensorboard", "trackio": "trackio"}  # name: package
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
N_SHOWN = 100  # rows of a tracker's table


def add_publishing(parser: argparse.ArgumentParser) -> None:
    """Adds where results go beside files."""
    group = parser.add_argument_group("publishing")
    group.add_argument(
        "--push-to-hub", metavar="REPO", help="upload the scores of each pair as a private data set, ORG/NAME"
    )
    group.add_argument(
        "--push-texts", action="store_true", help="also upload the reports, which may contain patient data"
    )
    group.add_argument("--public", action="store_true", help="make the data set public")
    group.add_argument(
        "--model-card", metavar="DIR", help="write results into DIR's README.md and .eval_results/; needs --benchmark"
    )
    group.add_argument(
        "--benchmark", metavar="ID[@REVISION]", help="Hub id of the data set that the systems were evaluated on"
    )
    group.add_argument(
        "--source",
        metavar="URL",
        help="URL of the evidence, for the entries of the model card (default: the data set of --push-to-hub)",
    )
    group.add_argument(
        "--eval-yaml",
        metavar="FILE",
        help="write an eval.yaml for the benchmark's data set, with a task for each metric",
    )
    group.add_argument(
        "--report-to",
        nargs="+",
        default=[],
        choices=list(TRACKERS),
        help="log the scores and a table to these trackers",
    )
    group.add_argument(
        "--project", metavar="NAME", default="rrgmetrics", help="project name in the trackers (default %(default)s)"
    )


def check_publishing(options: argparse.Namespace) -> None:
    """Finds before any work what could not be published."""
    for name in ("push_to_hub", "benchmark"):
        value = (getattr(options, name) or "").partition("@")[0]
        if getattr(options, name) and not REPOSITORY.fullmatch(value):
            raise InputError(f"--{name.replace('_', '-')} {value}: write ORGANISATION/NAME, as on the Hub.")
    for name in ("push_texts", "public"):
        if getattr(options, name) and not options.push_to_hub:
            raise InputError(f"--{name.replace('_', '-')} needs --push-to-hub REPO.")
    if bool(options.model_card) != bool(options.benchmark) and not (options.benchmark and options.eval_yaml):
        raise InputError("--model-card DIR and --benchmark ID must be given together: the card names the benchmark.")
    if options.source and not options.model_card:
        raise InputError("--source needs --model-card DIR.")
    if options.source and not options.source.startswith(("https://", "http://")):
        raise InputError(f"--source {options.source}: write an address that begins with https://.")
    if options.eval_yaml and not options.benchmark:
        raise InputError("--eval-yaml needs --benchmark ID, whose tasks it declares.")
    files.check_outputs(settings=[options.eval_yaml], force=options.force)
    if options.model_card and Path(options.model_card).is_file():
        raise InputError(f"--model-card {options.model_card} is a file; name the folder of the model's repository.")
    for tracker in options.report_to:
        if find_spec(TRACKERS[tracker]) is None:
            raise MissingExtraError(f"--report-to {tracker} needs a package: pip install {TRACKERS[tracker]}")


def publish(options: argparse.Namespace, results: Results, systems: Mapping[str, files.Studies]) -> list[str]:
    """Sends what was asked for; returns what was done, in words."""
    done = []
    if options.model_card:
        done += _write_cards(options, results)
    if options.eval_yaml:
        done.append(_write_eval_yaml(options, results))
    for tracker in options.report_to:
        done += [_track(tracker, options.project, name, results[name], studies) for name, studies in systems.items()]
    if options.push_to_hub:
        from rrgmetrics.integrations.details import details, push_details

        uploads = {
            name: details(results[name], study_ids(studies), studies.pairs if options.push_texts else ())
            for name, studies in systems.items()
        }
        push_details(options.push_to_hub, uploads, public=options.public)
        done.append(f"Details: https://huggingface.co/datasets/{options.push_to_hub}")
    return done


def _write_cards(options: argparse.Namespace, results: Results) -> list[str]:
    from rrgmetrics.integrations.model_card import Benchmark, Source, write_model_card

    dataset, _, revision = options.benchmark.partition("@")
    details = f"https://huggingface.co/datasets/{options.push_to_hub}" if options.push_to_hub else ""
    url = options.source or details
    benchmark = Benchmark(dataset, revision=revision, source=Source(url) if url else None)
    folders = {
        name: Path(options.model_card) if len(results) == 1 else Path(options.model_card) / name for name in results
    }
    written = [
        path
        for name, folder in folders.items()
        for path in write_model_card(folder, folder.resolve().name, results[name], benchmark)
    ]
    return [f"Model card: {path}" for path in written]


def _write_eval_yaml(options: argparse.Namespace, results: Results) -> str:
    from rrgmetrics.integrations.model_card import eval_yaml

    name = options.benchmark.partition("@")[0]
    metrics = list(next(iter(results.values())))
    files.write_text(options.eval_yaml, eval_yaml(metrics, name=name.partition("/")[2]), force=options.force)
    return f"Tasks of {name}: {options.eval_yaml}"


def _track(tracker: str, project: str, system: str, results: Mapping[str, Any], studies: files.Studies) -> str:
    """Logs one system's scores and the table of its first pairs as a run of the tracker."""
    from rrgmetrics.callbacks.sampling import Sample
    from rrgmetrics.callbacks.tables import as_cells, make_rows, markdown

    scores = {
        key + parse_name(name).suffix: value for name, result in results.items() for key, value in result.scores.items()
    }
    samples = [Sample(*row) for row in zip(range(N_SHOWN), study_ids(studies), studies.pairs, strict=False)]
    rows = make_rows(samples, results, 0, N_SHOWN)
    if tracker == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter

        with SummaryWriter(str(Path("runs") / project / system)) as writer:
            for key, value in scores.items():
                writer.add_scalar(key, value, 0)
            writer.add_text("reports", markdown(rows), 0)
        return f"TensorBoard: {Path('runs') / project / system}"
    import pandas as pd

    package = import_module(TRACKERS[tracker])
    package.init(project=project, name=system)
    package.log({**scores, "reports": package.Table(dataframe=pd.DataFrame([as_cells(row) for row in rows]))})
    package.finish()
    return f"{tracker}: project {project}, run {system}"
