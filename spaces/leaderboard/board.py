"""A board behind one class: what the web page, the command line and scripts call.

Every call opens its own short transaction, so a `Board` may be shared between threads. Nothing a call returns or raises
holds a hidden reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rrgmetrics.spaces.leaderboard.model import (
    BoardInfo,
    Example,
    HeadToHead,
    Limits,
    Progress,
    Receipt,
    Standings,
    SystemReport,
)

from rrgmetrics.files import PathLike


class NewBoard(NamedTuple):
    """A board that was just made, and its admin token, which is shown this once: the board keeps only a hash."""

    board: Board
    admin_token: str


def create_board(
    path_or_url: PathLike,
    *,
    references: PathLike,
    metrics: Sequence[str],
    title: str = "Radiology report leaderboard",
    primary: str = "",
    description: str = "",
    dataset: str = "",
    trials: int = 10_000,
    limits: Limits | None = None,
) -> NewBoard:
    """Makes a board: one SQLite file, or tables in a database.

    Args:
        path_or_url: Where: a file that does not exist, or a database URL (`postgresql+psycopg://...`) without a board.
        references: CSV, JSONL or Parquet of `study_id, report, age?, sex?, indication?, public?`; `public` (yes or no)
            marks the studies whose reference may be shown as an example; without it none is.
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
        MissingExtraError: SQLAlchemy (extra `spaces`) or what a metric needs is not installed.
    """
    raise NotImplementedError


def open_board(path_or_url: PathLike) -> Board:
    """Opens a board; brings its tables up to this version.

    Raises:
        InputError: There is no board, or it was made by a newer version.
        MissingExtraError: SQLAlchemy (extra `spaces`) or the database's driver is not installed.
    """
    raise NotImplementedError


class Board:
    """A leaderboard; get one from `open_board` or `create_board`."""

    # --- reading

    def info(self) -> BoardInfo:
        """Title, metrics, sizes, limits, length of the queue."""
        raise NotImplementedError

    def standings(self, tag: str = "", *, hidden: bool = False) -> Standings:
        """The table; cheap to call again while `BoardInfo.revision` stays the same.

        Args:
            tag: Only systems with this tag; ranks stay those of the whole table.
            hidden: Also the systems that are hidden (for the keeper); they are listed, not ranked.
        """
        raise NotImplementedError

    def system(self, id: str) -> SystemReport:
        """A system's page; raises InputError for an id that is unknown, not scored yet, or hidden."""
        raise NotImplementedError

    def examples(self, id: str, *, offset: int = 0, limit: int = 10) -> tuple[Example, ...]:
        """Public studies with what this system wrote, in the board's order; raises as `system`."""
        raise NotImplementedError

    def head_to_head(self, first: str, second: str) -> HeadToHead:
        """Two systems by id on the pairs that both have scored; computed once, then kept. Raises as `system`."""
        raise NotImplementedError

    # --- submitting

    def check(
        self,
        file: PathLike,
        *,
        filename: str = "",
        name: str,
        submitter: str,
        model_card: str = "",
        tags: Sequence[str] = (),
        address: str = "",
    ) -> tuple[str, ...]:
        """What `submit` would refuse the same submission for: everything to mend, empty if it is fine.

        Raises:
            LimitError: Too many files from this address.
        """
        raise NotImplementedError

    def submit(
        self,
        file: PathLike,
        *,
        filename: str = "",
        name: str,
        submitter: str,
        model_card: str = "",
        tags: Sequence[str] = (),
        address: str = "",
    ) -> Receipt:
        """Checks a submission and queues it; when this returns it is stored and will be scored.

        Args:
            file: CSV or JSONL of `study_id, report`; read at once and not needed afterwards.
            filename: What the submitter calls the file, for messages; its ending says what it is.
            name: Of the system, unique on the board.
            submitter: Hub handle (`user` or `org`) or http(s) URL.
            model_card: Hub id (`org/name`) or http(s) URL; may be "".
            tags: At most ten short words.
            address: Network address it comes from, for the rate limit; "" for none (the command line).

        Returns:
            The receipt; its id leads to `progress` and, once scored, to `system`.

        Raises:
            RefusedError: Something is to be mended; `problems` lists all of it. Nothing was stored.
            LimitError: Too many submissions; `retry_after` says when.
        """
        raise NotImplementedError

    def progress(self, id: str) -> Progress:
        """Where a submission stands; raises InputError for an unknown id."""
        raise NotImplementedError

    # --- keeping (whoever can open the board's file may do this; a page asks `verify_admin` first)

    def verify_admin(self, token: str, address: str = "") -> bool:
        """Whether this is the admin token, compared in constant time.

        Raises:
            LimitError: Too many wrong tokens from this address; the token was not looked at.
        """
        raise NotImplementedError

    def new_admin_token(self) -> str:
        """Makes a new admin token, which ends the old one."""
        raise NotImplementedError

    def hide(self, id: str) -> None:
        """Takes a system off the board, and out of everybody's common pairs; nothing is deleted."""
        raise NotImplementedError

    def unhide(self, id: str) -> None:
        """Puts it back."""
        raise NotImplementedError

    def rescore(self) -> int:
        """Opens a new edition with the metrics as installed now, and queues every submission; returns how many.

        For when a metric's version has changed. Until a system is scored anew it is listed, with its old scores, and
        not ranked; the results and signatures of old editions stay in the board.
        """
        raise NotImplementedError

    def retry(self, id: str) -> None:
        """Queues a failed submission again."""
        raise NotImplementedError
