"""The queue: one job for each submission and round; a worker that takes one has it until its lease ends.

    queued ──claim──▶ running ──record──▶ done
      ▲                 │ │
      │   lease ended ──┘ └── error ──▶ queued again, later; failed after `MAX_ERRORS`
      └─────────┘

A judge that is down counts as an error: nothing is recorded before all that can be scored is. `requeue` starts a failed
job again, and one that is done and left pairs unscored; its results stay until new ones take their place.

A killed worker stops renewing its lease, and the job is taken again. Results are written in the transaction that ends
the job, and only by the worker whose claim stands in it: each job has one recorded result, whoever dies when.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from rrgmetrics.spaces.database import Store
from rrgmetrics.spaces.leaderboard.schema import board, figures, jobs, results, rounds, submissions
from rrgmetrics.spaces.leaderboard.scoring import Scored

LEASE = 120.0  # seconds; renewed every third of it
MAX_ERRORS = 3  # exceptions while scoring
MAX_INTERRUPTIONS = 20  # leases that ended: a submission that kills every worker must not do so for ever
RETRY_SECONDS = (60.0, 600.0)
LONGEST_WAIT = 3600.0  # seconds; a job that is not free for longer was put off by a clock that was wrong
UNFINISHED = ("queued", "running")


class Claim(NamedTuple):
    """A job and the right to record its result."""

    submission: int
    round: int
    token: str
    id: str


def bump(connection: Connection) -> None:
    """Says that pages may look different from now on."""
    connection.execute(update(board).values(revision=board.c.revision + 1))


def current_round(connection: Connection) -> int:
    """Number of the newest round."""
    number: int = connection.execute(select(func.max(rounds.c.number))).scalar_one()
    return number


def enqueue(connection: Connection, submission: int, round_: int) -> None:
    """Queues a submission; the caller's transaction makes both stand or neither."""
    now = time.time()
    connection.execute(
        insert(jobs).values(
            submission=submission,
            round=round_,
            state="queued",
            since=now,
            free_at=now,
            claim="",
            interruptions=0,
            errors=0,
            message="",
        )
    )


def requeue(connection: Connection, round_: int, submission: int | None = None) -> int:
    """Queues a job again that has failed, or has left pairs unscored; or all that have failed. Returns how many."""
    again = jobs.c.state == "failed"
    if submission is not None:
        unscored = select(results.c.submission).where(results.c.round == round_, results.c.unscored != "[]")
        again = or_(again, and_(jobs.c.state == "done", jobs.c.submission.in_(unscored)))
        again = and_(jobs.c.submission == submission, again)
    now = time.time()
    done = connection.execute(
        update(jobs)
        .where(jobs.c.round == round_, again)
        .values(state="queued", since=now, free_at=now, claim="", interruptions=0, errors=0, message="")
    )
    return done.rowcount


def ahead(connection: Connection, submission: int, round_: int) -> int:
    """Unfinished jobs that were queued before this one."""
    count: int = connection.execute(
        select(func.count())
        .select_from(jobs)
        .where(jobs.c.state.in_(UNFINISHED), jobs.c.round == round_, jobs.c.submission < submission)
    ).scalar_one()
    return count


def n_unfinished(connection: Connection) -> int:
    """Jobs that wait or run."""
    count: int = connection.execute(
        select(func.count()).select_from(jobs).where(jobs.c.state.in_(UNFINISHED))
    ).scalar_one()
    return count


def open_round(store: Store, config: str | None = None) -> int:
    """Starts a new round with a job for every submission; unfinished jobs of older ones end. Returns their number.

    Args:
        store: The board's.
        config: Takes the place of the board's configuration in the same transaction.
    """
    with store.writing() as connection:
        if config is not None:
            connection.execute(update(board).values(config=config))
        number = current_round(connection) + 1
        connection.execute(insert(rounds).values(number=number, opened=time.time(), signatures=None))
        connection.execute(delete(jobs).where(jobs.c.state.in_(UNFINISHED)))
        connection.execute(delete(figures))
        everyone = connection.execute(select(submissions.c.number).order_by(submissions.c.number)).scalars().all()
        for submission in everyone:
            enqueue(connection, submission, number)
        bump(connection)
    return len(everyone)


def claim(store: Store, *, lease: float = LEASE) -> Claim | None:
    """Takes the next free job: the least troubled first, then the oldest; None if there is none."""
    now = time.time()
    order = (jobs.c.interruptions + jobs.c.errors, jobs.c.submission)
    free = and_(jobs.c.state.in_(UNFINISHED), ~jobs.c.free_at.between(now, now + LONGEST_WAIT))
    with store.reading() as connection:  # so that an idle worker does not lock out others
        if connection.execute(select(jobs.c.submission).where(free).limit(1)).first() is None:
            return None
    with store.writing() as connection:
        while row := connection.execute(
            select(jobs, submissions.c.id).join(submissions).where(free).order_by(*order).limit(1)
        ).first():
            interruptions = row.interruptions + (row.state == "running")
            place = and_(jobs.c.submission == row.submission, jobs.c.round == row.round)
            if interruptions > MAX_INTERRUPTIONS:
                message = (
                    f"Scoring was interrupted {interruptions} times; the board's administrator can queue the "
                    "submission again."
                )
                connection.execute(update(jobs).where(place).values(state="failed", since=now, message=message))
                bump(connection)
                continue
            token = secrets.token_hex(16)
            connection.execute(
                update(jobs)
                .where(place)
                .values(state="running", since=now, free_at=now + lease, claim=token, interruptions=interruptions)
            )
            return Claim(row.submission, row.round, token, row.id)
    return None


def record(store: Store, held: Claim, scored: Sequence[Scored]) -> bool:
    """Writes the results and ends the job, in one transaction; False if the job is no longer this worker's."""
    now = time.time()
    with store.writing() as connection:
        if not _change(connection, held, state="done", since=now, message=""):
            return False
        place = and_(results.c.submission == held.submission, results.c.round == held.round)
        if connection.execute(delete(results).where(place)).rowcount:  # it was done before, with unscored pairs
            connection.execute(delete(figures).where(figures.c.round == held.round))
        connection.execute(
            insert(results),
            [
                {
                    "submission": held.submission,
                    "round": held.round,
                    "metric": item.metric,
                    "recorded": now,
                    "signature": item.signature,
                    "unscored": json.dumps(item.unscored),
                    "estimates": json.dumps(item.estimates),
                    "slices": json.dumps(item.slices),
                    "stats": item.stats,
                }
                for item in scored
            ],
        )
        bump(connection)
    return True


def fail(store: Store, held: Claim, message: str) -> str:
    """Puts a job that raised back for later, or ends it; returns its new state, "" if it is another's by now."""
    now = time.time()
    with store.writing() as connection:
        row = connection.execute(select(jobs.c.errors).where(_held(held))).first()
        if row is None:
            return ""
        state = "failed" if row.errors + 1 >= MAX_ERRORS else "queued"
        wait = RETRY_SECONDS[min(row.errors, len(RETRY_SECONDS) - 1)]
        _change(
            connection,
            held,
            state=state,
            since=now,
            free_at=now + wait,
            claim="",
            errors=row.errors + 1,
            message=message,
        )
        bump(connection)
    return state


def release(store: Store, held: Claim) -> None:
    """Gives a job back unharmed, for a worker that must stop."""
    now = time.time()
    with store.writing() as connection:
        _change(connection, held, state="queued", since=now, free_at=now, claim="")


@contextmanager
def renewing(store: Store, held: Claim, *, lease: float = LEASE) -> Iterator[threading.Event]:
    """Renews the lease in the background; the event is set if the job is no longer this worker's."""
    ended, lost = threading.Event(), threading.Event()

    def renew() -> None:
        while not ended.wait(lease / 3):
            try:
                with store.writing() as connection:
                    if not _change(connection, held, free_at=time.time() + lease):
                        lost.set()
                        return
            except Exception:  # the database is busy or away: the next try may do, and `record` looks for itself
                continue

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        ended.set()
        thread.join()


def _held(held: Claim) -> Any:
    return and_(
        jobs.c.submission == held.submission,
        jobs.c.round == held.round,
        jobs.c.state == "running",
        jobs.c.claim == held.token,
    )


def _change(connection: Connection, held: Claim, **values: Any) -> bool:
    """Changes a job that is still this worker's."""
    return bool(connection.execute(update(jobs).where(_held(held)).values(**values)).rowcount)
