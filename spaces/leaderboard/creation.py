"""A new board: what it scores, its references, its administrator's token."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert

from rrgmetrics.errors import InputError
from rrgmetrics.files import Columns, PathLike
from rrgmetrics.spaces.access import digest, new_token
from rrgmetrics.spaces.database import check_free, create_store
from rrgmetrics.spaces.leaderboard import schema, scoring, submissions
from rrgmetrics.spaces.leaderboard.board import Board, changed_limits
from rrgmetrics.spaces.leaderboard.model import Limits
from rrgmetrics.spaces.leaderboard.references import Study, read_studies
from rrgmetrics.specs.names import parse_name
from rrgmetrics.stats import TRIALS

MIN_TRIALS = 100


class NewBoard(NamedTuple):
    """A board that was just made, and its admin token, which is shown this once: the board keeps only a hash."""

    board: Board
    admin_token: str


def create_board(
    path_or_url: PathLike,
    *,
    references: PathLike,
    columns: Columns = None,
    metrics: Sequence[str],
    title: str = "Radiology report leaderboard",
    primary: str = "",
    description: str = "",
    dataset: str = "",
    trials: int = TRIALS,
    limits: Limits | None = None,
) -> NewBoard:
    """Makes a board: one SQLite file, or tables in a database.

    Args:
        path_or_url: Where: a file that does not exist, or a database URL (`postgresql+psycopg://...`) without a board.
        references: CSV, JSONL or Parquet of `study_id, report, age?, sex?, indication?, public?`; `public` (yes or no)
            marks the studies whose reference may be shown as an example; without it none is.
        columns: What the columns of the references are called, such as `{"report": "gt_report"}`.
        metrics: The columns: `"crepe"`, `"green@openai:<model>?..."`. What runs is fixed now, with versions.
        title: Of the page.
        primary: The metric that ranks; default the first.
        description: Markdown.
        dataset: Hub id of the benchmark, for `.eval_results`.
        trials: Resamples of intervals and swaps of tests.
        limits: What a submission may be.

    Returns:
        The board and its admin token.

    Raises:
        InputError: The place is taken, or references, metrics or options cannot be used.
        BackendError: A metric's model is not there.
        MissingExtraError: What a metric or the database needs is not installed.
    """
    names = scoring.check_metrics(metrics)
    ranking = str(parse_name(primary)) if primary else names[0]
    if ranking not in names:
        raise InputError(f"The primary metric {ranking!r} is not on the board; it has: {', '.join(names)}.")
    if trials < MIN_TRIALS:
        raise InputError(f"trials is {trials}; an interval needs at least {MIN_TRIALS} resamples.")
    if dataset and not submissions.link(dataset, submissions.HUB_ID):
        raise InputError(f"The dataset {dataset!r} is not a Hub id such as org/name.")
    limits = changed_limits(Limits(), asdict(limits or Limits()))
    check_free(path_or_url, schema)
    studies = read_studies(references, columns)
    signatures = scoring.signatures(names, len(studies))
    token = new_token()
    config = {
        "title": title,
        "description": description,
        "dataset": dataset,
        "metrics": names,
        "primary": ranking,
        "trials": trials,
        "limits": asdict(limits),
    }
    store = create_store(path_or_url, schema, lambda connection: _fill(connection, config, studies, signatures, token))
    return NewBoard(Board(store), token)


def _fill(
    connection: Connection,
    config: Mapping[str, Any],
    studies: Sequence[Study],
    signatures: Mapping[str, str],
    token: str,
) -> None:
    """Puts a new board into its empty tables."""
    now = time.time()
    connection.execute(
        insert(schema.board).values(
            version=schema.VERSION,
            created=now,
            config=json.dumps(config),
            admin_sha256=digest(token),
            secret=secrets.token_bytes(32),
            revision=1,
        )
    )
    connection.execute(
        insert(schema.studies),
        [
            {
                "number": number,
                "study_id": study.study_id,
                "reference": study.reference,
                "context": json.dumps(study.context._asdict()),
                "public": study.public,
                "slices": json.dumps(study.slices),
            }
            for number, study in enumerate(studies)
        ],
    )
    connection.execute(insert(schema.rounds).values(number=1, opened=now, signatures=json.dumps(signatures)))
