"""How much a submitter and a network address may send, and what the board keeps of an address: a keyed hash."""

from __future__ import annotations

import time

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from rrgmetrics.spaces.access import DAY, GUESS_WINDOW, HOUR, LimitError, address_key, check_rate, count_try
from rrgmetrics.spaces.database import Store
from rrgmetrics.spaces.leaderboard import jobs, schema
from rrgmetrics.spaces.leaderboard.model import Limits
from rrgmetrics.spaces.leaderboard.submissions import Form
from rrgmetrics.utils.text_format import counted


class Quotas:
    """A board's limits on whoever sends something.

    Args:
        store: The board's, which remembers every try for a day.
        secret: Keys the hashes of addresses.
        limits: How much is allowed.
    """

    def __init__(self, store: Store, secret: bytes, limits: Limits) -> None:
        self._store = store
        self._secret = secret
        self._limits = limits

    def address_key(self, address: str) -> str:
        """What is kept of an address: a keyed hash of its network (one host of IPv4, a /64 of IPv6)."""
        return address_key(address, self._secret)

    def count_file(self, address: str) -> None:
        """Counts a file that is to be checked; raises LimitError if there were too many from its address."""
        if address:
            message = "Too many files from this address; try again later."
            self._count("check", address, HOUR, self._limits.tries_per_hour, message)

    def count_upload(self, address: str, size: int) -> None:
        """Counts an upload of so many bytes; raises LimitError if its address has sent enough for an hour."""
        number, most = self._limits.uploads_per_hour, self._limits.upload_bytes_per_hour
        message = (
            f"One address may upload {counted(number, 'file')} and {most / 1e6:g} MB an hour; this one must "
            "wait. `rrgmetrics leaderboard submit --check` checks a file without an upload."
        )
        who, now, table = self.address_key(address), time.time(), schema.tries.c
        with self._store.writing() as connection:
            connection.execute(delete(schema.tries).where(table.at < now - DAY))
            query = select(table.at, table.amount).where(
                table.kind == "upload", table.who == who, table.at.between(now - HOUR, now)
            )
            sent = connection.execute(query.order_by(table.at)).all()
            check_rate([row.at for row in sent], number, HOUR, now, message)
            left = most - size
            for row in reversed(sent):
                left -= row.amount
                if left < 0:
                    raise LimitError(message, row.at + HOUR - now)
            connection.execute(insert(schema.tries).values(kind="upload", who=who, at=now, amount=size))

    def count_guess(self, address: str) -> None:
        """Counts a wrong token; raises LimitError if there were too many from its address."""
        message = "Too many wrong tokens from this address; try again later."
        self._count("token", address, GUESS_WINDOW, self._limits.token_guesses, message)

    def check_submission(self, connection: Connection, form: Form, address: str) -> None:
        """Raises LimitError where the queue is full, or a submitter or an address has sent enough for a day."""
        if jobs.n_unfinished(connection) >= self._limits.queue:
            raise LimitError("The queue is full; try again in an hour.", HOUR)
        if not address:
            return
        table, now, limits = schema.submissions.c, time.time(), self._limits
        by_submitter = table.submitter_key == form.submitter_key
        by_address = table.address_key == self.address_key(address)
        for mine, allowed, window, who, each in (
            (by_submitter, limits.submissions_per_day, DAY, "submitter", "a day"),
            (by_address, limits.submissions_per_day_and_address, DAY, "address", "a day"),
            (by_address, limits.submissions_per_hour_and_address, HOUR, "address", "an hour"),
        ):
            query = select(table.submitted).where(
                mine, table.verified == form.verified, table.submitted.between(now - window, now)
            )
            times = sorted(connection.execute(query).scalars())
            message = f"One {who} may send {counted(allowed, 'submission')} {each}; this one must wait."
            check_rate(times, allowed, window, now, message)
        self._check_all(connection, by_submitter & (table.verified == form.verified))

    def _check_all(self, connection: Connection, mine: ColumnElement[bool]) -> None:
        """Raises LimitError where a submitter has sent what it may ever send."""
        allowed = self._limits.submissions_in_all
        if not allowed:
            return
        sent = connection.execute(select(func.count()).select_from(schema.submissions).where(mine)).scalar_one()
        if sent >= allowed:
            raise LimitError(f"One submitter may send {counted(allowed, 'submission')} in all to this board.", 0.0)

    def _count(self, kind: str, address: str, window: float, allowed: int, message: str) -> None:
        """Remembers a try; raises LimitError, and does not, if there were that many within the window (seconds)."""
        count_try(self._store, schema.tries, kind, self.address_key(address), window, allowed, message)
