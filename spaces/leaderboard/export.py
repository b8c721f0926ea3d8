"""What a board publishes, as files: Parquet and CSV tables, the Hub's JSON, `eval.yaml` and `.eval_results`.

    README.md                      card of the data set, with a viewer for each table
    board.json                     metrics with their signatures, sizes, round
    standings.csv, .parquet        one line a system: rank, headlines with intervals on the common pairs
    scores.parquet                 one line a system, metric and key, on the system's own pairs, with signature
    slices.parquet                 headlines on parts of the studies
    tests.parquet                  primary metric against every system above, Holm-corrected
    results/<id>/results_*.json    as the leaderboard template of the Hub (`gradio-templates/leaderboard`) reads them
    eval.yaml                      for the benchmark's data set, where it is on the Hub: a task for each metric
    models/<id>/.eval_results/     for the system's model repository, where it names one on the Hub

Nothing is written a pair: references, submitted reports, statistics of pairs and addresses stay in the board. Hidden
systems are left out. A CSV cell that a spreadsheet would run is neutralised by `files.write_table`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from rrgmetrics import files
from rrgmetrics.baselines.skill import Skill
from rrgmetrics.errors import InputError
from rrgmetrics.integrations.model_card import Benchmark, Source, entry, eval_yaml
from rrgmetrics.spaces import uploading
from rrgmetrics.spaces.leaderboard.board import Board
from rrgmetrics.spaces.leaderboard.model import BoardInfo, SystemReport
from rrgmetrics.specs.names import parse_name
from rrgmetrics.stats import Estimate
from rrgmetrics.utils.text_format import counted
from rrgmetrics.version import VERSION

TABLES = ("standings", "scores", "slices", "tests")
OURS = (
    *(f"{name}.parquet" for name in TABLES),
    "standings.csv",
    "results/*/results_*.json",
    "models/*/.eval_results/*.yaml",
    "eval.yaml",
)
Rows = list[dict[str, Any]]
CARD = """---
{front}
---

# {title}

{description}

Radiology reports by {systems} for {studies}. They are scored with `rrgmetrics` against references that are
not part of this data set. The signature in `scores` names metric, options and version. Numbers are rounded as on the
board's page; a p-value of 0 is less than 0.001. `*_skill` is the position of a score between the best trivial system
(`*_best_trivial`) and the references.

Systems are compared in `standings` and `tests` on the pairs that all of them have scored, as long as they leave out no
more than {left_out_share:.3g}% of the pairs together; beyond that, an unscored pair counts as the worst score of its
system (`*_n_counted_as_worst`). Pairs without a score in any system are left out for all.
"""


def export_board(board: Board, folder: files.PathLike, *, force: bool = False) -> list[Path]:
    """Writes everything that a board publishes.

    Args:
        board: Which.
        folder: Where to; is made.
        force: Whether files there may be replaced.

    Returns:
        The files written.

    Raises:
        InputError: A file exists, or the folder cannot be written to.
    """
    folder = Path(folder)
    reports = [board.system(line.system.id) for line in board.standings().systems]
    info = board.info()
    makers = (_standings, _scores, _slices, _tests)
    tables = {
        name: [row for report in reports for row in make(report, info)]
        for name, make in zip(TABLES, makers, strict=True)
    }
    texts = {folder / "README.md": _card(info, tables)}
    if info.dataset:
        names = [metric.name for metric in info.metrics]
        texts[folder / "eval.yaml"] = eval_yaml(names, name=info.title, description=info.description)
    for report in reports:
        texts |= {folder / path: text for path, text in _documents(report, info).items()}
    paths = [folder / f"{name}.parquet" for name, rows in tables.items() if rows]
    csv = folder / "standings.csv"
    earlier = [old for pattern in OURS for old in folder.glob(pattern)]
    _check_free([*paths, csv, folder / "board.json", *texts, *earlier], force)
    for path in earlier:  # a system may have been hidden since
        path.unlink()
    for name, rows in tables.items():
        if rows:
            files.write_table(folder / f"{name}.parquet", _columns(rows), force=force)
    if tables["standings"]:
        files.write_table(csv, _columns(tables["standings"]), force=force)
        paths.append(csv)
    files.write_json(folder / "board.json", _head(info), force=force)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_text(path, text, force=force)
    return [*paths, folder / "board.json", *texts]


def push_board(folder: files.PathLike, paths: Sequence[Path], repo_id: str) -> str:
    """Uploads an export as a data set of the Hub; the one function here that needs the network.

    What an earlier export had and this one has not, such as a system that was hidden since, is deleted there.

    Args:
        folder: As exported.
        paths: As `export_board` returned them.
        repo_id: `organisation/name`; made if it is not there.

    Returns:
        Its address.

    Raises:
        InputError: Not a name of a data set.
        BackendError: No network, no token, or the Hub refuses.
    """
    organisation, slash, name = repo_id.partition("/")
    if not slash or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}", name):
        raise InputError(f"{repo_id!r} is not the name of a data set; write organisation/name.")
    uploading.check_organisation(organisation)
    api = uploading.hub_api()
    with uploading.hub_errors(f"sent {repo_id}"):
        address = str(api.create_repo(repo_id, repo_type="dataset", exist_ok=True))
        api.upload_folder(
            repo_id=repo_id,
            repo_type="dataset",
            folder_path=folder,
            allow_patterns=[path.relative_to(folder).as_posix() for path in paths],
            delete_patterns=list(OURS),
            commit_message=f"rrgmetrics {VERSION}",
        )
    return address


def _check_free(paths: Sequence[Path], force: bool) -> None:
    """Before anything is written: that all of it can be."""
    for path in paths:
        if path.exists() and not force:
            raise InputError(f"{path} exists; pass force=True to replace it, or name another folder.")
    try:
        paths[0].parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {paths[0].parent} cannot be created: {error.strerror}.") from None


# --- tables -----------------------------------------------------------------------------------------------------------


def _standings(report: SystemReport, info: BoardInfo) -> Iterator[dict[str, object]]:
    line, system = report.standing, report.standing.system
    row: dict[str, Any] = {
        "rank": line.rank,
        "best_rank": line.best_rank,
        "system": system.name,
        "id": system.id,
        "submitter": system.submitter,
        "submitter_verified": system.verified,
        "model": system.model,
        "model_card": system.model_card,
        "tags": ", ".join(system.tags),
        "submitted": system.submitted.isoformat(timespec="seconds"),
        "not_ranked": line.reason,
    }
    for metric in info.metrics:
        slug, score = parse_name(metric.name).slug, line.scores[metric.name]
        row |= {slug: score.value, f"{slug}_low": score.low, f"{slug}_high": score.high, f"{slug}_n": score.n}
        row[f"{slug}_n_unscored"] = line.n_unscored[metric.name]
        row[f"{slug}_n_counted_as_worst"] = line.n_worst[metric.name]
        row |= _skill(slug, line.skills.get(metric.name))
    yield row


def _skill(slug: str, found: Skill | None) -> dict[str, object]:
    """Skill over the best trivial system with its interval, and which that is; nothing known where none is recorded."""
    value = found.skill if found is not None else Estimate(math.nan, math.nan, math.nan, 0)
    best = found.best if found is not None and found.state != "undefined" else ""
    columns = {f"{slug}_skill": value.value, f"{slug}_skill_low": value.low, f"{slug}_skill_high": value.high}
    return {**columns, f"{slug}_best_trivial": best}


def _scores(report: SystemReport, info: BoardInfo) -> Iterator[dict[str, object]]:
    for result in report.results:
        for item in result.scores:
            yield {
                **_who(report),
                "metric": result.metric.name,
                "key": item.key.name,
                "higher_is_better": item.key.higher_is_better,
                "target": item.key.target,
                **_estimate(item.score),
                "n_unscored": result.n_unscored,
                "signature": result.signature,
            }


def _slices(report: SystemReport, info: BoardInfo) -> Iterator[dict[str, object]]:
    for part in report.slices:
        for metric, score in part.scores.items():
            yield {**_who(report), "slice": part.name, "metric": metric, **_estimate(score)}


def _tests(report: SystemReport, info: BoardInfo) -> Iterator[dict[str, object]]:
    for versus in report.above:
        test = versus.test
        yield {
            **_who(report),
            "other": versus.other.name,
            "other_id": versus.other.id,
            "metric": versus.metric.name,
            "key": versus.key.name,
            **{f"difference_{name}": value for name, value in _estimate(test.difference).items()},
            "p": test.p_value,
            "p_corrected": versus.p_corrected,
            "effect_size": test.effect_size,
            "n_left_out": test.n_left_out,
        }


def _who(report: SystemReport) -> dict[str, object]:
    return {"system": report.standing.system.name, "id": report.standing.system.id}


def _estimate(score: Estimate) -> dict[str, object]:
    return dict(score._asdict())


def _columns(rows: Rows) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


# --- documents --------------------------------------------------------------------------------------------------------


def _head(info: BoardInfo) -> dict[str, object]:
    return {
        "title": info.title,
        "description": info.description,
        "dataset": info.dataset,
        "primary": info.primary,
        "metrics": {metric.name: metric.signature for metric in info.metrics},
        "n_studies": info.n_studies,
        "n_withheld": info.n_withheld,
        "round": info.round,
        "edition": info.round,  # its name in version 0.1
        "left_out_share": info.limits.left_out_share,
    }


def _card(info: BoardInfo, tables: Mapping[str, Rows]) -> str:
    configs = [{"config_name": name, "data_files": f"{name}.parquet"} for name, rows in tables.items() if rows]
    front = {"pretty_name": info.title, "tags": ["leaderboard", "radiology"], "configs": configs}
    return CARD.format(
        front=yaml.safe_dump(front, sort_keys=False, allow_unicode=True).strip(),
        title=info.title,
        description=info.description,
        systems=counted(len(tables["standings"]), "system"),
        studies=info.studies,
        left_out_share=100 * info.limits.left_out_share,
    )


def _documents(report: SystemReport, info: BoardInfo) -> dict[str, str]:
    """The JSON of the Hub's leaderboard template, and `.eval_results` for a model that is on the Hub."""
    system = report.standing.system
    stamp = system.submitted.strftime("%Y-%m-%dT%H-%M-%S")
    documents = {f"results/{system.id}/results_{stamp}.json": _template_json(report, info)}
    if info.dataset and system.model:
        name = info.dataset.rpartition("/")[2]
        entries = [_eval_entry(report, info, key, value) for key, value in _values(report)]
        documents[f"models/{system.id}/.eval_results/{name}.yaml"] = yaml.safe_dump(entries, sort_keys=False)
    return documents


def _template_json(report: SystemReport, info: BoardInfo) -> str:
    system = report.standing.system
    document = {
        "config": {"model_dtype": "unknown", "model_name": system.model or system.name, "model_sha": "main"},
        "results": {info.dataset or "leaderboard": dict(_values(report))},
        "n": {parse_name(result.metric.name).slug: result.scores[0].score.n for result in report.results},
        "n_withheld": info.n_withheld,
        "signatures": {result.metric.name: result.signature for result in report.results},
        "skill": {
            parse_name(name).slug: found.skill.value
            for name, found in report.standing.skills.items()
            if math.isfinite(found.skill.value)
        },
        "collapse": {
            "n_distinct": report.collapse.own.n_distinct,
            "commonest_share": report.collapse.own.commonest_share,
            "n_distinct_references": report.collapse.references.n_distinct,
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _eval_entry(report: SystemReport, info: BoardInfo, key: str, value: float) -> dict[str, object]:
    source = Source(f"https://huggingface.co/datasets/{info.dataset}", info.title)
    signature = next(result.signature for result in report.results if parse_name(result.metric.name).slug == key)
    date = report.standing.system.submitted.isoformat(timespec="seconds")
    notes = f"{signature} ({info.studies})" if info.n_withheld else signature
    return entry(Benchmark(info.dataset, source=source), key, value, date=date, notes=notes)


def _values(report: SystemReport) -> list[tuple[str, float]]:
    """Headlines by the metric's slug, without those that are not scored."""
    return [
        (parse_name(result.metric.name).slug, result.scores[0].score.value)
        for result in report.results
        if math.isfinite(result.scores[0].score.value)
    ]
