"""A board behind one class: what the web page, the command line and scripts call.

Every call opens its own short transaction, so a `Board` may be shared between threads. Nothing a call returns or raises
holds a hidden reference.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from rrgmetrics.errors import InputError
from rrgmetrics.files import PathLike
from rrgmetrics.names import parse_name
from rrgmetrics.reader import ErrorCategory
from rrgmetrics.spaces.leaderboard import identity, jobs, schema, scoring, shown, standings, submissions
from rrgmetrics.spaces.leaderboard.model import (
    BoardInfo,
    BoardMetric,
    Example,
    HeadToHead,
    KeyScore,
    LimitError,
    Limits,
    MetricResult,
    Progress,
    Receipt,
    RefusedError,
    SliceResult,
    Standings,
    SystemReport,
)
from rrgmetrics.spaces.leaderboard.references import Study, read_studies
from rrgmetrics.spaces.leaderboard.slices import ORDER, TITLES
from rrgmetrics.spaces.leaderboard.standings import Entry, Figure, Recorded, Table
from rrgmetrics.spaces.leaderboard.store import Store, check_free, create_store, open_store
from rrgmetrics.spaces.leaderboard.submissions import Checked, Form
from rrgmetrics.stats import holm

DAY, HOUR, GUESS_WINDOW = 86_400.0, 3_600.0, 900.0
ID_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another
MIN_TRIALS = 100


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
        MissingExtraError: What a metric or the database needs is not installed.
    """
    names = scoring.check_metrics(metrics)
    ranking = str(parse_name(primary)) if primary else names[0]
    if ranking not in names:
        raise InputError(f"The primary metric {ranking!r} is not on the board; it has: {', '.join(names)}.")
    if trials < MIN_TRIALS:
        raise InputError(f"trials is {trials}; an interval needs {MIN_TRIALS} resamples or more.")
    if dataset and not submissions.link(dataset, submissions.HUB_ID):
        raise InputError(f"The dataset {dataset!r} is no Hub id; one looks like org/name.")
    check_free(path_or_url)
    studies = read_studies(references)
    recipes = scoring.recipes(names, len(studies))
    token = secrets.token_urlsafe(32)
    config = {
        "title": title,
        "description": description,
        "dataset": dataset,
        "metrics": names,
        "primary": ranking,
        "trials": trials,
        "limits": asdict(limits or Limits()),
    }
    store = create_store(path_or_url, lambda connection: _fill(connection, config, studies, recipes, token))
    return NewBoard(Board(store), token)


def open_board(path_or_url: PathLike) -> Board:
    """Opens a board; brings its tables up to this version.

    Raises:
        InputError: There is no board, or it was made by a newer version.
        MissingExtraError: The database's driver is not installed.
    """
    return Board(open_store(path_or_url))


class Board:
    """A leaderboard; get one from `open_board` or `create_board`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        with store.reading() as connection:
            row = connection.execute(select(schema.board)).one()
            studies = schema.studies
            rows = connection.execute(select(studies.c.study_id, studies.c.public).order_by(studies.c.number)).all()
            self._config: dict[str, Any] = json.loads(row.config)
        self._secret: bytes = row.secret
        self._study_ids = [study.study_id for study in rows]
        self._n_public = sum(study.public for study in rows)
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
            hidden: Also the systems that are hidden (for the keeper); they are listed, not ranked.
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
            hidden: Whether a hidden one may be seen (by the keeper).

        Raises:
            InputError: The id is unknown, not scored yet, or hidden.
        """
        table = self.table()
        entry = self._entry(table, id, hidden=hidden)
        return SystemReport(
            standing=next(line for line in table.lines if line.system.id == id),
            results=tuple(_metric_result(metric, entry.results[metric.name]) for metric in table.info.metrics),
            slices=_slice_results(table.info, entry),
            above=table.above(entry),
            n_examples=self._n_public,
            stale=entry.edition != table.info.edition,
        )

    def examples(self, id: str, *, offset: int = 0, limit: int = 10, hidden: bool = False) -> tuple[Example, ...]:
        """Public studies with what this system wrote, in the board's order; raises as `system`."""
        table = self.table()
        entry = self._entry(table, id, hidden=hidden)
        studies, reports, results = schema.studies.c, schema.reports.c, schema.results.c
        with self.store.reading() as connection:
            rows = connection.execute(
                select(studies.number, studies.study_id, studies.reference, studies.context, reports.report)
                .join(schema.reports)
                .where(studies.public, reports.submission == entry.number)
                .order_by(studies.number)
                .offset(max(0, offset))
                .limit(max(0, min(limit, 100)))
            ).all()
            packed = connection.execute(
                select(results.metric, results.stats).where(
                    results.submission == entry.number, results.edition == entry.edition
                )
            ).all()
        numbers = [row.number for row in rows]
        headlines = {metric.name: metric.spec.headline for metric in table.info.metrics}
        per_pair = {
            metric: [
                shown.number(value, headlines[metric]) for value in scoring.headline_per_pair(metric, data)[numbers]
            ]
            for metric, data in packed
        }
        return tuple(
            Example(
                study_id=row.study_id,
                reference=row.reference,
                candidate=row.report,
                context=json.loads(row.context),
                scores={metric.name: per_pair[metric.name][i] for metric in table.info.metrics},
            )
            for i, row in enumerate(rows)
        )

    def head_to_head(self, first: str, second: str) -> HeadToHead:
        """Two systems by id on the pairs that both have scored; computed once, then kept. Raises as `system`."""
        table = self.table()
        ours, theirs = self._entry(table, first), self._entry(table, second)
        if ours is theirs:
            raise InputError("Choose two different systems.")
        if ours.edition != theirs.edition:
            raise InputError(
                "One of the two is still being scored with the metrics of the new edition; come back later."
            )
        left_out = {
            metric.name: ours.results[metric.name].unscored | theirs.results[metric.name].unscored
            for metric in table.info.metrics
        }
        tests = {name: self._figure(table.versus_figure(name, ours, theirs, pairs)) for name, pairs in left_out.items()}
        rows = []
        for metric in table.info.metrics:
            for key in metric.spec.keys:
                test = standings.comparison(tests[metric.name], key, flip=ours.number < theirs.number)
                rows.append((metric, key, test))
        headline = [test.p_value for metric, key, test in rows if key == metric.spec.headline]
        corrected = iter(holm(headline).tolist())
        return HeadToHead(
            first=ours.system,
            second=theirs.system,
            rows=tuple(
                standings.versus(
                    theirs.system,
                    metric,
                    key,
                    test,
                    next(corrected) if key == metric.spec.headline else standings.NAN,
                )
                for metric, key, test in rows
            ),
            n_common={name: table.info.n_studies - len(pairs) for name, pairs in left_out.items()},
        )

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
        verified: bool = False,
    ) -> tuple[str, ...]:
        """What `submit` would refuse the same submission for: everything to mend, empty if it is fine.

        Raises:
            LimitError: Too many files from this address.
        """
        self._count_try(address)
        form, problems = submissions.check_form(
            name=name, submitter=submitter, model_card=model_card, tags=tags, verified=verified
        )
        checked = submissions.check_file(Path(file), filename, self._study_ids, self.limits)
        with self.store.reading() as connection:
            problems += _taken(connection, form, checked)
        return (*problems, *checked.problems)

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
        verified: bool = False,
    ) -> Receipt:
        """Checks a submission and queues it; when this returns it is stored and will be scored.

        The same submission again (name, submitter and reports) gives the same receipt: whoever lost it sends it again.

        Args:
            file: CSV or JSONL of `study_id, report`; read at once and not needed afterwards.
            filename: What the submitter calls the file, for messages; how it is read, the ending of `file` says.
            name: Of the system, unique on the board.
            submitter: Hub handle (`user` or `org`) or http(s) URL.
            model_card: Hub id (`org/name`) or http(s) URL; may be "".
            tags: At most ten short words.
            address: Network address it comes from, for the rate limits; "" for none (the command line).
            verified: Whether the submitter is the account of the Hub that is logged in. Its limits are its own: what
                others type under its name does not count.

        Returns:
            The receipt; its id leads to `progress` and, once scored, to `system`.

        Raises:
            RefusedError: Something is to be mended; `problems` lists all of it. Nothing was stored.
            LimitError: Too many submissions; `retry_after` says when.
        """
        self._count_try(address)
        form, problems = submissions.check_form(
            name=name, submitter=submitter, model_card=model_card, tags=tags, verified=verified
        )
        with self.store.reading() as connection:  # before the file is read
            self._check_quota(connection, form, address)
        checked = submissions.check_file(Path(file), filename, self._study_ids, self.limits)
        with self.store.writing() as connection:
            if not problems and not checked.problems and (known := _known(connection, form, checked)):
                return self._receipt(connection, known, form)
            problems += _taken(connection, form, checked)
            if problems or checked.problems:
                raise RefusedError((*problems, *checked.problems))
            self._check_quota(connection, form, address)
            number = self._insert(connection, form, checked, address)
            return self._receipt(connection, number, form)

    def progress(self, id: str) -> Progress:
        """Where a submission stands; raises InputError for an unknown id."""
        with self.store.reading() as connection:
            row = connection.execute(
                select(schema.submissions.c.name, schema.jobs)
                .join(schema.jobs)
                .where(schema.submissions.c.id == id)
                .order_by(schema.jobs.c.edition.desc())
                .limit(1)
            ).first()
            if row is None:
                raise InputError(f"There is no submission {id[:20]!r} on this board.")
            ahead = jobs.ahead(connection, row.submission, row.edition) if row.state == "queued" else 0
        messages = {
            "queued": f"Waiting; {ahead} before it." if ahead else "Waiting; it is next.",
            "running": f"Being scored with {len(self._config['metrics'])} metrics on {len(self._study_ids):,} studies.",
            "done": "Scored.",
        }
        return Progress(
            id=id,
            name=row.name,
            state=row.state,
            ahead=ahead,
            since=standings.moment(row.since),
            message=row.message or messages.get(row.state, ""),
        )

    # --- keeping (whoever can open the board's file may do this; a page asks `verify_admin` first)

    def verify_admin(self, token: str, address: str = "") -> bool:
        """Whether this is the admin token, compared in constant time; the right one is never locked out.

        Raises:
            LimitError: A wrong token, and there were too many from this address.
        """
        with self.store.reading() as connection:
            kept: str = connection.execute(select(schema.board.c.admin_sha256)).scalar_one()
        if hmac.compare_digest(_digest(token), kept):
            return True
        who, message = self._who(address), "Too many wrong tokens from this address; try again later."
        with self.store.writing() as connection:
            _check_rate(connection, "token", who, GUESS_WINDOW, self.limits.token_guesses, message)
            _count(connection, "token", who)
        return False

    def new_admin_token(self) -> str:
        """Makes a new admin token, which ends the old one."""
        token = secrets.token_urlsafe(32)
        with self.store.writing() as connection:
            connection.execute(update(schema.board).values(admin_sha256=_digest(token)))
        return token

    def hide(self, id: str) -> None:
        """Takes a system off the board, and out of everybody's common pairs; nothing is deleted."""
        self._set_hidden(id, True)

    def unhide(self, id: str) -> None:
        """Puts it back."""
        self._set_hidden(id, False)

    def rescore(self) -> int:
        """Opens a new edition with the metrics as installed now, and queues every submission; returns how many.

        For when a metric's version has changed. Until a system is scored anew it is listed, with its old scores, and
        not ranked; the results and signatures of old editions stay in the board.
        """
        return jobs.open_edition(self.store)

    def backup(self, file: PathLike) -> Path:
        """Makes a consistent copy of the board while it is in use; raises as `Store.backup`."""
        return self.store.backup(file)

    def retry(self, id: str) -> None:
        """Queues a failed submission again; raises InputError for one that has not failed."""
        with self.store.writing() as connection:
            number = _number(connection, id)
            if not jobs.requeue(connection, number, jobs.current_edition(connection)):
                raise InputError(f"The submission {id} has not failed.")
            jobs.bump(connection)

    # --- for the worker and the export

    def table(self) -> Table:
        """Everything recorded, at one moment; kept until the board's revision changes."""
        with self.store.reading() as connection:
            info = self._info(connection)
            known = self._table
            if known is None or known.info.revision != info.revision:
                known = self._table = standings.read_table(connection, info, self.trials)
        return known

    def names(self) -> dict[str, str]:
        """Each metric's name on the board, and the name that runs: a judge keeps its replies beside the board."""
        folder = None if self.store.path is None else self.store.path.with_name(self.store.path.name + ".replies")
        return {name: scoring.private_name(name, folder) for name in self._config["metrics"]}

    # ---

    def _info(self, connection: Connection) -> BoardInfo:
        edition = jobs.current_edition(connection)
        said = connection.execute(select(schema.editions.c.recipes).where(schema.editions.c.number == edition))
        recipes = json.loads(said.scalar_one() or "{}")
        return BoardInfo(
            title=self._config["title"],
            description=self._config["description"],
            dataset=self._config["dataset"],
            metrics=tuple(
                BoardMetric(name, parse_name(name).titled, recipes.get(name, "")) for name in self._config["metrics"]
            ),
            primary=self._config["primary"],
            n_studies=len(self._study_ids),
            n_public=self._n_public,
            edition=edition,
            limits=self.limits,
            n_queued=jobs.n_unfinished(connection),
            revision=connection.execute(select(schema.board.c.revision)).scalar_one(),
        )

    def _entry(self, table: Table, id: str, *, hidden: bool = False) -> Entry:
        entry = table.by_id(id)
        if entry is None:
            progress = self.progress(id)
            raise InputError(f"{progress.name} has no scores yet. {progress.message}")
        if entry.system.hidden and not hidden:
            raise InputError(f"There is no submission {id[:20]!r} on this board.")
        return entry

    def _figure(self, figure: Figure) -> Mapping[str, Any]:
        """A figure's value, computed if nobody has done so; one at a time, so that clicks do not pile up work."""
        with self._computing:
            with self.store.reading() as connection:
                query = select(schema.figures.c.value).where(schema.figures.c.key == figure.key)
                known = connection.execute(query).scalar()
            return standings.compute(self.store, figure) if known is None else dict(json.loads(known))

    def _insert(self, connection: Connection, form: Form, checked: Checked, address: str) -> int:
        row = {**asdict(form), "tags": json.dumps(form.tags)}
        number: int = connection.execute(
            insert(schema.submissions)
            .values(
                **row,
                id="".join(secrets.choice(ID_LETTERS) for _ in range(12)),
                submitted=time.time(),
                address_key=self._who(address),
                sha256=checked.sha256,
                hidden=False,
            )
            .returning(schema.submissions.c.number)
        ).scalar_one()
        connection.execute(
            insert(schema.reports),
            [{"submission": number, "study": i, "report": report} for i, report in enumerate(checked.reports)],
        )
        jobs.enqueue(connection, number, jobs.current_edition(connection))
        jobs.bump(connection)
        return number

    def _receipt(self, connection: Connection, number: int, form: Form) -> Receipt:
        id: str = connection.execute(
            select(schema.submissions.c.id).where(schema.submissions.c.number == number)
        ).scalar_one()
        return Receipt(id, form.name, jobs.ahead(connection, number, jobs.current_edition(connection)))

    def _set_hidden(self, id: str, hidden: bool) -> None:
        with self.store.writing() as connection:
            number = _number(connection, id)
            connection.execute(
                update(schema.submissions).where(schema.submissions.c.number == number).values(hidden=hidden)
            )
            jobs.bump(connection)

    def _who(self, address: str) -> str:
        """What is kept of an address: a keyed hash of its network (one host of IPv4, a /64 of IPv6)."""
        try:
            host = ipaddress.ip_address(address.strip().partition("%")[0])
        except ValueError:
            network = address
        else:
            host = getattr(host, "ipv4_mapped", None) or host
            network = str(ipaddress.ip_network(f"{host}/{64 if host.version == 6 else 32}", strict=False))
        return hmac.new(self._secret, network.encode(errors="replace"), sha256).hexdigest()

    def _count_try(self, address: str) -> None:
        if not address:
            return
        who = self._who(address)
        with self.store.writing() as connection:
            message = "Too many files from this address; try again later."
            _check_rate(connection, "check", who, HOUR, self.limits.tries_per_hour, message)
            _count(connection, "check", who)

    def _check_quota(self, connection: Connection, form: Form, address: str) -> None:
        """LimitError where the queue is full, or a submitter or an address has sent enough for a day."""
        if jobs.n_unfinished(connection) >= self.limits.queue:
            raise LimitError("The queue is full; try again in an hour.", HOUR)
        if not address:
            return
        table, now = schema.submissions.c, time.time()
        for column, value, allowed, who in (
            (table.submitter_key, form.submitter_key, self.limits.submissions_per_day, "submitter"),
            (table.address_key, self._who(address), self.limits.submissions_per_day_and_address, "address"),
        ):
            query = select(table.submitted).where(
                column == value, table.verified == form.verified, table.submitted.between(now - DAY, now)
            )
            times = sorted(connection.execute(query).scalars())
            if len(times) >= allowed:
                wait = times[len(times) - allowed] + DAY - now
                raise LimitError(f"{allowed} submissions a day of one {who} are scored; this one must wait.", wait)


def _fill(
    connection: Connection, config: Mapping[str, Any], studies: Sequence[Study], recipes: Mapping[str, str], token: str
) -> None:
    """Puts a new board into its empty tables."""
    now = time.time()
    connection.execute(
        insert(schema.board).values(
            version=schema.VERSION,
            created=now,
            config=json.dumps(config),
            admin_sha256=_digest(token),
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
    connection.execute(insert(schema.editions).values(number=1, opened=now, recipes=json.dumps(recipes)))


def _digest(token: str) -> str:
    """A token of 256 random bits needs no slow hash."""
    return sha256(token.encode(errors="replace")).hexdigest()


def _number(connection: Connection, id: str) -> int:
    found = connection.execute(select(schema.submissions.c.number).where(schema.submissions.c.id == id)).scalar()
    if found is None:
        raise InputError(f"There is no submission {id[:20]!r} on this board.")
    return int(found)


def _known(connection: Connection, form: Form, checked: Checked) -> int | None:
    """Number of the same submission, if it was sent before."""
    table = schema.submissions.c
    query = select(table.number).where(
        table.name_key == form.name_key,
        table.submitter_key == form.submitter_key,
        table.verified == form.verified,
        table.sha256 == checked.sha256,
    )
    return connection.execute(query).scalar()


def _taken(connection: Connection, form: Form, checked: Checked) -> list[str]:
    if checked.reports and _known(connection, form, checked):
        return []
    table = schema.submissions.c
    rows = connection.execute(select(table.name, table.submitter_key)).all()
    problems = []
    if any(identity.key(row.name) == form.name_key for row in rows):
        problems.append(f"The name {form.name!r} is taken; add a version, for example {form.name + ' v2'!r}.")
    elif any(identity.look(row.name) == identity.look(form.name) for row in rows):
        problems.append(f"The name {form.name!r} is taken, by one that looks like it; choose another.")
    others = {row.submitter_key for row in rows} - {form.submitter_key}
    if not form.verified and any(identity.look(other) == identity.look(form.submitter_key) for other in others):
        problems.append(f"The submitter {form.submitter!r} looks like another one; give a link instead.")
    return problems


def _check_rate(connection: Connection, kind: str, who: str, window: float, allowed: int, message: str) -> None:
    """LimitError if there were that many tries within the window (seconds)."""
    now, table = time.time(), schema.tries.c
    connection.execute(delete(schema.tries).where(table.at < now - DAY))
    counts = (table.kind == kind, table.who == who, table.at.between(now - window, now))
    query = select(table.at).where(*counts).order_by(table.at)
    times = connection.execute(query).scalars().all()
    if len(times) >= allowed:
        raise LimitError(message, times[len(times) - allowed] + window - now)


def _count(connection: Connection, kind: str, who: str) -> None:
    connection.execute(insert(schema.tries).values(kind=kind, who=who, at=time.time()))


def _metric_result(metric: BoardMetric, recorded: Recorded) -> MetricResult:
    scores = {key.name: KeyScore(key, shown.estimate(recorded.estimates[key.name], key)) for key in metric.spec.keys}
    categories = {category.letter: f"{metric.spec.name}_{category.value}" for category in ErrorCategory}
    return MetricResult(
        metric=metric,
        signature=recorded.signature,
        n_unscored=len(recorded.unscored),
        scores=tuple(scores.values()),
        categories={letter: scores[name] for letter, name in categories.items() if name in scores},
    )


def _slice_results(info: BoardInfo, entry: Entry) -> tuple[SliceResult, ...]:
    by_slice = {
        name: {
            metric.name: shown.estimate(entry.results[metric.name].slices[name], metric.spec.headline)
            for metric in info.metrics
            if name in entry.results[metric.name].slices
        }
        for name in ORDER
    }
    return tuple(
        SliceResult(name, TITLES[name], max(score.n for score in scores.values()), scores)
        for name, scores in by_slice.items()
        if scores
    )
