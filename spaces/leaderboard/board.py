"""A board behind one class: what the web page, the command line and scripts call.

Every call opens its own short transaction, so a `Board` may be shared between threads. Nothing a call returns or raises
holds a hidden reference.
"""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Unpack

from sqlalchemy import Connection, select, update

from rrgmetrics.errors import InputError
from rrgmetrics.files import Columns, PathLike
from rrgmetrics.spaces.access import digest, new_token
from rrgmetrics.spaces.database import Store, open_store
from rrgmetrics.spaces.leaderboard import details, jobs, references, registry, schema, scoring, standings, submissions
from rrgmetrics.spaces.leaderboard.model import (
    BoardInfo,
    BoardMetric,
    Example,
    HeadToHead,
    Limits,
    Progress,
    Receipt,
    RefusedError,
    Standings,
    SystemReport,
)
from rrgmetrics.spaces.leaderboard.quotas import Quotas
from rrgmetrics.spaces.leaderboard.standings import Entry, Figure, Table
from rrgmetrics.spaces.leaderboard.submissions import Description, Form
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.text_format import by_number

SHARES = ("left_out_share", "withheld_share")  # limits from 0 to 1; the others are whole numbers
NO_LIMIT = ("submissions_in_all",)  # which may be 0


def open_board(path_or_url: PathLike) -> Board:
    """Opens a board; brings its tables up to this version.

    Raises:
        InputError: There is no board, or it was made by a newer version.
        MissingExtraError: The database's driver is not installed.
    """
    return Board(open_store(path_or_url, schema))


class Board:
    """A leaderboard; get one from `open_board` or `create_board`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        with store.reading() as connection:
            row = connection.execute(select(schema.board)).one()
            studies = schema.studies
            rows = connection.execute(select(studies.c.study_id, studies.c.public).order_by(studies.c.number)).all()
            self._config: dict[str, Any] = json.loads(row.config)
        self._study_ids = [study.study_id for study in rows]
        self._public = [bool(study.public) for study in rows]
        self._n_public = sum(self._public)
        self._quotas = Quotas(store, row.secret, self.limits)
        self._table: Table | None = None
        self._computing = threading.Lock()

    @property
    def place(self) -> str:
        """The file or URL, for `open_board` and for messages."""
        return self.store.place

    @property
    def trials(self) -> int:
        """Resamples of intervals and swaps of tests."""
        return int(self._config["trials"])

    @property
    def limits(self) -> Limits:
        """What a submission may be."""
        return Limits(**self._config["limits"])

    def close(self) -> None:
        """Lets go of the database."""
        self.store.close()

    # --- reading

    def info(self) -> BoardInfo:
        """Title, metrics, sizes, limits, length of the queue."""
        with self.store.reading() as connection:
            return self._info(connection)

    def standings(self, tag: str = "", *, hidden: bool = False) -> Standings:
        """The table; cheap to call again while `BoardInfo.revision` stays the same.

        Args:
            tag: Only systems with this tag; ranks stay those of the whole table.
            hidden: Also the systems that are hidden (for the administrator); they are listed, not ranked.
        """
        table = self.table()
        lines = [line for line in table.lines if hidden or not line.system.hidden]
        return Standings(
            board=table.info,
            systems=tuple(line for line in lines if not tag or tag in line.system.tags),
            n_common={name: table.info.n_studies - len(left_out) for name, left_out in table.left_out.items()},
            tags=tuple(sorted({tag for line in lines for tag in line.system.tags}, key=str.casefold)),
        )

    def system(self, id: str, *, hidden: bool = False) -> SystemReport:
        """A system's page.

        Args:
            id: Of the system.
            hidden: Whether a hidden one may be seen (by the administrator).

        Raises:
            InputError: The id is unknown, not scored yet, or hidden.
        """
        table = self.table()
        entry = self._entry(table, id, hidden=hidden)
        with self.store.reading() as connection:
            return details.system_report(connection, table, entry)

    def examples(self, id: str, *, offset: int = 0, limit: int = 10, hidden: bool = False) -> tuple[Example, ...]:
        """Public studies with what this system wrote, in the board's order; raises as `system`."""
        table = self.table()
        entry = self._entry(table, id, hidden=hidden)
        with self.store.reading() as connection:
            return details.examples(connection, table.info, entry, offset=offset, limit=limit)

    def head_to_head(self, first: str, second: str) -> HeadToHead:
        """Two systems by id on the pairs that both have scored; computed once, then kept. Raises as `system`."""
        table = self.table()
        return details.head_to_head(table, self._entry(table, first), self._entry(table, second), self._value)

    # --- submitting

    def count_upload(self, address: str, size: int) -> None:
        """Counts a file of so many bytes that the page takes; raises LimitError if its address has sent enough."""
        self._quotas.count_upload(address, size)

    def check(
        self,
        file: PathLike,
        *,
        filename: str = "",
        columns: Columns = None,
        address: str = "",
        **description: Unpack[Description],
    ) -> tuple[str, ...]:
        """What `submit` would refuse the same submission for: everything that must be corrected, nothing if it is fine.

        Raises:
            LimitError: Too many files from this address.
        """
        self._quotas.count_file(address)
        form, problems = submissions.check_form(**description)
        checked = submissions.check_file(Path(file), filename, self._study_ids, self.limits, columns)
        with self.store.reading() as connection:
            problems += registry.name_problems(connection, form, checked)
        return (*problems, *checked.problems)

    def submit(
        self,
        file: PathLike,
        *,
        filename: str = "",
        columns: Columns = None,
        address: str = "",
        **description: Unpack[Description],
    ) -> Receipt:
        """Checks a submission and queues it; when this returns it is stored and will be scored.

        The same submission again (name, submitter and reports) gives the same receipt: whoever lost it sends it again.

        Args:
            file: CSV or JSONL of `study_id, report`; read at once and not needed afterwards.
            filename: What the submitter calls the file, for messages; how it is read, the ending of `file` says.
            columns: What its columns are called, such as `{"report": "generated"}`.
            address: Network address it comes from, for the rate limits; "" for none (the command line).
            **description: `name` and `submitter`; if wanted `model_card`, `tags` and `verified` (`Description`).

        Returns:
            The receipt; its id leads to `progress` and, once scored, to `system`.

        Raises:
            RefusedError: Something must be corrected; `problems` lists all of it. Nothing was stored.
            LimitError: Too many submissions; `retry_after` says when.
        """
        self._quotas.count_file(address)
        form, problems = submissions.check_form(**description)
        with self.store.reading() as connection:  # before the file is read
            self._quotas.check_submission(connection, form, address)
        checked = submissions.check_file(Path(file), filename, self._study_ids, self.limits, columns)
        with self.store.writing() as connection:
            if not problems and not checked.problems and (known := registry.known_number(connection, form, checked)):
                return replace(self._receipt(connection, known, form), is_repeated=True)
            problems += registry.name_problems(connection, form, checked)
            if problems or checked.problems:
                raise RefusedError((*problems, *checked.problems), is_of_file=bool(checked.problems))
            self._quotas.check_submission(connection, form, address)
            number = registry.add(connection, form, checked, self._quotas.address_key(address))
            return self._receipt(connection, number, form)

    def progress(self, id: str) -> Progress:
        """Where a submission stands; raises InputError for an unknown id."""
        with self.store.reading() as connection:
            row = connection.execute(
                select(schema.submissions.c.name, schema.jobs)
                .join(schema.jobs)
                .where(schema.submissions.c.id == id)
                .order_by(schema.jobs.c.round.desc())
                .limit(1)
            ).first()
            if row is None:
                raise InputError(f"There is no submission {id[:20]!r} on this board.")
            ahead = jobs.ahead(connection, row.submission, row.round) if row.state == "queued" else 0
            n_withheld = len(self._withheld(connection))
            unscored = registry.n_unscored(connection, row.submission, row.round) if row.state == "done" else {}
        messages = {
            "queued": f"Waiting; {ahead} before it." if ahead else "Waiting; it is next.",
            "running": f"Being scored with {len(self._config['metrics'])} metrics on {len(self._study_ids):,} studies.",
            "done": _done(unscored, len(self._study_ids), n_withheld),
        }
        return Progress(
            id=id,
            name=row.name,
            state=row.state,
            ahead=ahead,
            since=standings.moment(row.since),
            message=row.message or messages.get(row.state, ""),
        )

    # --- administration (whoever can open the board's file may do this; a page asks `verify_admin` first)

    def verify_admin(self, token: str, address: str = "") -> bool:
        """Whether this is the admin token, compared in constant time; the right one is never locked out.

        Raises:
            LimitError: A wrong token, and there were too many from this address.
        """
        with self.store.reading() as connection:
            kept: str = connection.execute(select(schema.board.c.admin_sha256)).scalar_one()
        if hmac.compare_digest(digest(token), kept):
            return True
        self._quotas.count_guess(address)
        return False

    def new_admin_token(self) -> str:
        """Makes a new admin token, which ends the old one."""
        token = new_token()
        with self.store.writing() as connection:
            connection.execute(update(schema.board).values(admin_sha256=digest(token)))
        return token

    def hide(self, id: str) -> None:
        """Takes a system off the board, and out of everybody's common pairs; nothing is deleted."""
        with self.store.writing() as connection:
            registry.set_hidden(connection, id, True)

    def unhide(self, id: str) -> None:
        """Puts it back."""
        with self.store.writing() as connection:
            registry.set_hidden(connection, id, False)

    @property
    def study_ids(self) -> tuple[str, ...]:
        """The studies that a submission must have, in the board's order."""
        return tuple(self._study_ids)

    def changed_metrics(self) -> list[str]:
        """The metrics that would score otherwise here than in the current round; all if nothing was scored in it.

        Raises:
            BackendError: A metric's model is not there.
        """
        with self.store.reading() as connection:
            table = schema.rounds
            current = select(table.c.signatures).order_by(table.c.number.desc()).limit(1)
            fixed = connection.execute(current).scalar_one()
        names = self.names()
        signatures = scoring.signatures(list(names.values()), len(self._study_ids))
        here = dict(zip(names, signatures.values(), strict=True))
        return list(names) if fixed is None else scoring.changed(json.loads(fixed), here)

    def rescore(self) -> int:
        """Opens a new round with the metrics as installed now, and queues every submission; returns how many.

        For when a metric's version has changed. Until a system is scored anew it is listed, with its old scores, and
        not ranked; the results and signatures of old rounds stay in the board.
        """
        return jobs.open_round(self.store)

    def set_limits(self, **changes: float) -> int:
        """Changes limits. Another `withheld_share` opens a new round; returns how many submissions are queued for it.

        A page that is being served takes them up when it is started again.

        Raises:
            InputError: There is no such limit, or the value is none.
        """
        config = {**self._config, "limits": asdict(changed_limits(self.limits, changes))}
        queued = 0
        if "withheld_share" in changes and changes["withheld_share"] != self.limits.withheld_share:
            queued = jobs.open_round(self.store, json.dumps(config))
        else:
            with self.store.writing() as connection:
                connection.execute(update(schema.board).values(config=json.dumps(config)))
                jobs.bump(connection)
        self._config = config
        return queued

    def backup(self, file: PathLike) -> Path:
        """Makes a consistent copy of the board while it is in use; raises as `Store.backup`."""
        return self.store.backup(file)

    def retry(self, id: str) -> None:
        """Queues a submission again that failed or has unscored pairs; what judges have answered is not asked again.

        Raises:
            InputError: It has not failed, and all its pairs are scored.
        """
        with self.store.writing() as connection:
            number = registry.number_of(connection, id)
            if not jobs.requeue(connection, jobs.current_round(connection), number):
                raise InputError(f"The submission {id} has not failed, and has no study without a score.")
            jobs.bump(connection)

    def retry_all(self) -> int:
        """Queues every submission again that failed, as after a judge was down; returns how many."""
        with self.store.writing() as connection:
            count = jobs.requeue(connection, jobs.current_round(connection))
            jobs.bump(connection)
        return count

    # --- for the worker and the export

    def table(self) -> Table:
        """Everything recorded, at one moment; kept until the board's revision changes."""
        with self.store.reading() as connection:
            info = self._info(connection)
            known = self._table
            if known is None or known.info.revision != info.revision:
                known = self._table = standings.read_table(connection, info, self.trials)
        return known

    def withheld(self) -> frozenset[int]:
        """Numbers of the studies that count in nothing yet, as the board says now."""
        with self.store.reading() as connection:
            return self._withheld(connection)

    def names(self) -> dict[str, str]:
        """Each metric's name on the board, and the name that runs: a judge keeps its replies beside the board."""
        folder = None if self.store.path is None else self.store.path.with_name(self.store.path.name + ".replies")
        return {name: scoring.private_name(name, folder) for name in self._config["metrics"]}

    # ---

    def _withheld(self, connection: Connection) -> frozenset[int]:
        row = connection.execute(select(schema.board.c.config, schema.board.c.secret)).one()
        share = Limits(**json.loads(row.config)["limits"]).withheld_share
        return references.withheld(self._study_ids, self._public, row.secret, share)

    def _info(self, connection: Connection) -> BoardInfo:
        round_ = jobs.current_round(connection)
        stored = connection.execute(select(schema.rounds.c.signatures).where(schema.rounds.c.number == round_))
        signatures = json.loads(stored.scalar_one() or "{}")
        return BoardInfo(
            title=self._config["title"],
            description=self._config["description"],
            dataset=self._config["dataset"],
            metrics=tuple(
                BoardMetric(name, parse_name(name).titled, signatures.get(name, "")) for name in self._config["metrics"]
            ),
            primary=self._config["primary"],
            n_studies=len(self._study_ids),
            n_public=self._n_public,
            round=round_,
            limits=self.limits,
            n_queued=jobs.n_unfinished(connection),
            revision=connection.execute(select(schema.board.c.revision)).scalar_one(),
            n_withheld=len(self._withheld(connection)),
        )

    def _entry(self, table: Table, id: str, *, hidden: bool = False) -> Entry:
        entry = table.by_id(id)
        if entry is None:
            progress = self.progress(id)
            raise InputError(f"{progress.name} has no scores yet. {progress.message}")
        if entry.system.hidden and not hidden:
            raise InputError(f"There is no submission {id[:20]!r} on this board.")
        return entry

    def _value(self, figure: Figure) -> Mapping[str, Any]:
        """A figure's value, computed if nobody has done so; one at a time, so that clicks do not pile up work."""
        with self._computing:
            with self.store.reading() as connection:
                query = select(schema.figures.c.value).where(schema.figures.c.key == figure.key)
                known = connection.execute(query).scalar()
            return standings.compute(self.store, figure) if known is None else dict(json.loads(known))

    def _receipt(self, connection: Connection, number: int, form: Form) -> Receipt:
        ahead = jobs.ahead(connection, number, jobs.current_round(connection))
        return Receipt(registry.id_of(connection, number), form.name, ahead)


def _done(unscored: Mapping[str, int], n_studies: int, n_withheld: int) -> str:
    """What is said of a submission that is scored, by metric with the number of pairs without a score."""
    counts = {name: count - n_withheld for name, count in unscored.items() if count > n_withheld}
    if not counts:
        return "Scored."
    n = n_studies - n_withheld
    parts = [
        f"{count:,} of {n:,} studies {by_number(count, 'has', 'have')} no score in {parse_name(name).title}"
        for name, count in counts.items()
    ]
    return f"Scored; {', '.join(parts)}."


def changed_limits(limits: Limits, changes: Mapping[str, float]) -> Limits:
    """Limits with some of them changed; raises InputError for what is no limit, or no value of it."""
    for name, value in changes.items():
        if name not in asdict(limits):
            raise InputError(f"There is no limit {name!r}; there are: {', '.join(asdict(limits))}.")
        least = 0 if name in NO_LIMIT else 1
        if not (0 <= value <= 1 if name in SHARES else least <= value < 1e15 and value == int(value)):
            raise InputError(f"{name}={value:g} is not a {'share from 0 to 1' if name in SHARES else 'valid number'}.")
    changed: dict[str, Any] = {name: value if name in SHARES else int(value) for name, value in changes.items()}
    return replace(limits, **changed)
