"""The worker: takes jobs, scores them, records them, then computes what the table still lacks.

Any number of workers may run, on any machines that reach the database. None of them logs a text: a line names an id, a
kind of error and a place in the code, for messages of exceptions may quote what was being read.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select, update

from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.subsets import slices_of
from rrgmetrics.errors import InputError
from rrgmetrics.scoring.prepared import Metrics, prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.spaces.leaderboard import jobs, schema, scoring, standings
from rrgmetrics.spaces.leaderboard.board import Board
from rrgmetrics.spaces.leaderboard.jobs import Claim
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.text_format import counted

POLL = 2.0  # seconds between two looks at an empty queue
Log = Callable[[str], None]
Trivial = dict[int, dict[str, dict[str, Result]]]  # by round, trivial system and metric


def work(
    board: Board,
    *,
    once: bool = False,
    stop: threading.Event | None = None,
    log: Log = lambda line: None,
    batch_size: int | None = None,
    lease: float = jobs.LEASE,
    poll: float = POLL,
) -> int:
    """Works through the queue.

    Args:
        board: Whose.
        once: Return when no job is free, instead of waiting for the next.
        stop: Ends the work after the job at hand.
        log: Gets a line now and then; without any report's text.
        batch_size: Texts a forward pass of a model.
        lease: Seconds after which a worker that is gone loses its job.
        poll: Seconds between two looks at an empty queue.

    Returns:
        Number of recorded results.

    Raises:
        InputError: The metrics installed here are not those of the board's round; nothing was scored.
        BackendError: A metric's model is not there.
        MissingExtraError: What a metric needs is not installed.
    """
    stop = stop or threading.Event()
    rounds: set[int] = set()  # whose signatures were compared with what is installed here
    metrics: Metrics | None = None
    trivial: Trivial = {}
    n_recorded, settled = 0, -1
    while not stop.is_set():
        held = jobs.claim(board.store, lease=lease)
        if held is not None:
            with _giving_back(board, held):
                metrics = metrics or prepare(list(board.names().values()), batch_size=batch_size)
                if held.round not in rounds:
                    fix_signatures(board, held.round, metrics)
                    rounds.add(held.round)
                n_recorded += run(board, held, metrics, log=log, lease=lease, trivial=trivial)
            continue
        if board.info().revision != settled:
            settled = settle(board, stop=stop, log=log)
        elif once:
            break
        else:
            stop.wait(poll)
    return n_recorded


def run(
    board: Board,
    held: Claim,
    metrics: Metrics,
    *,
    log: Log,
    lease: float = jobs.LEASE,
    trivial: Trivial | None = None,
) -> bool:
    """Scores one claimed job and records it; whether a result was recorded.

    Args:
        board: Whose.
        held: The job.
        metrics: Ready.
        log: Gets a line.
        lease: Seconds.
        trivial: By round what trivial systems score, filled in where it is missing: once a worker.
    """
    start = time.monotonic()
    trivial = {} if trivial is None else trivial
    try:
        with jobs.renewing(board.store, held, lease=lease), _quiet():
            studies, reports = _read(board, held)
            if held.round not in trivial:
                trivial[held.round] = scoring.score_trivial(metrics, studies)
            scored = scoring.score_reports(
                metrics,
                board.names(),
                studies,
                reports,
                trials=board.trials,
                trivial=trivial[held.round],
                withheld=board.withheld(),
            )
        if lost := [item for item in scored if item.n_lost]:
            message = _outage(lost, len(studies))
            state = jobs.fail(board.store, held, message)
            log(f"{held.id}: {message.removesuffix('.')}; {state or 'taken by another worker'}")
            return False
        recorded = jobs.record(board.store, held, scored)
    except Exception as error:
        message = (
            f"Scoring failed ({type(error).__name__}); the board's administrator can find the cause and queue the "
            "submission again."
        )
        state = jobs.fail(board.store, held, message)
        log(f"{held.id}: {type(error).__name__} at {_place(error)}; {state or 'taken by another worker'}")
        return False
    log(f"{held.id}: {'recorded' if recorded else 'taken by another worker'} after {time.monotonic() - start:.1f} s")
    return recorded


def _outage(lost: Sequence[scoring.Scored], n_studies: int) -> str:
    """What is said of judges that were down; nothing of what they sent, which may quote the prompt."""
    lacking = " and ".join(
        f"about {item.n_lost:,} of {n_studies:,} studies in {parse_name(item.metric).title}" for item in lost
    )
    return (
        f"The judge did not answer for {lacking}. Its earlier replies are kept, and the board's administrator can "
        "queue the submission again."
    )


def fix_signatures(board: Board, round_: int, metrics: Metrics) -> None:
    """Makes sure that this round's metrics run here as they ran for everybody else.

    The first worker of a round fixes them, and which slices the studies belong to.

    Raises:
        InputError: Something else is installed here.
    """
    here = dict(zip(board.names(), metrics.signatures(board.info().n_studies).values(), strict=True))
    table = schema.rounds
    with board.store.reading() as connection:
        stored = connection.execute(select(table.c.signatures).where(table.c.number == round_)).scalar_one()
        references = connection.execute(select(schema.studies.c.number, schema.studies.c.reference)).all()
    if stored is None:
        readings = Readings()
        slices = {number: json.dumps(slices_of(readings.read(reference))) for number, reference in references}
        with board.store.writing() as connection:
            stored = connection.execute(select(table.c.signatures).where(table.c.number == round_)).scalar_one()
            if stored is None:
                stored = json.dumps(here)
                connection.execute(update(table).where(table.c.number == round_).values(signatures=stored))
                for number, names in slices.items():
                    connection.execute(
                        update(schema.studies).where(schema.studies.c.number == number).values(slices=names)
                    )
                jobs.bump(connection)
    fixed = json.loads(stored)
    if different := scoring.changed(fixed, here):
        name = different[0]
        raise InputError(
            f"Round {round_} of this board uses {fixed[name]}, and {here[name]} is installed. Install that version, "
            "or open a new round with `rrgmetrics leaderboard rescore`."
        )


def settle(board: Board, *, stop: threading.Event, log: Log) -> int:
    """Computes the intervals and tests that the table lacks; returns the revision that is complete then."""
    table = board.table()
    count = standings.settle(board.store, table, stopped=stop.is_set)
    if count:
        log(f"{counted(count, 'interval or test', 'intervals and tests')} computed")
        return -1
    return table.info.revision


@contextmanager
def _quiet() -> Iterator[None]:
    """Turns logging off in this process: an engine's warning quotes the server, and that may quote the prompt."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _giving_back(board: Board, held: Claim) -> Iterator[None]:
    """Gives a job back if the worker itself must end: it was interrupted, or is not fit for this round."""
    try:
        yield
    except BaseException:
        jobs.release(board.store, held)  # a job that is done is nobody's any more, and stays done
        raise


def _read(board: Board, held: Claim) -> tuple[scoring.Studies, list[str]]:
    """The studies and a submission's reports, in the same order."""
    studies, reports = schema.studies.c, schema.reports.c
    with board.store.reading() as connection:
        rows = connection.execute(
            select(studies.reference, studies.context, studies.slices, reports.report)
            .join(schema.reports)
            .where(reports.submission == held.submission)
            .order_by(studies.number)
        ).all()
    return (
        [(row.reference, json.loads(row.context), json.loads(row.slices)) for row in rows],
        [row.report for row in rows],
    )


def _place(error: BaseException) -> str:
    """Where an exception was raised; without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
