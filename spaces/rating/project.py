"""A rating project behind one class: what the web page, the commands and scripts call.

Every call opens its own short transaction, so a `Project` may be shared between threads. What a rater sees (`Sheet`)
names studies and candidates by their place in the rater's own order: no id, no source, no common order.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from rrgmetrics.errors import InputError
from rrgmetrics.files import PathLike
from rrgmetrics.reports import Context
from rrgmetrics.spaces import identity
from rrgmetrics.spaces.access import GUESS_WINDOW, HOUR, address_key, count_try, digest, new_token
from rrgmetrics.spaces.database import Store, check_free, create_store, open_store
from rrgmetrics.spaces.rating import answers, schema
from rrgmetrics.spaces.rating.answers import EQUAL, Answer, Judged, Preferred
from rrgmetrics.spaces.rating.table import Study, read_table

ASKS = ("errors", "rating", "preference")  # what a project can ask
TITLE = "Reports to rate"
LONGEST_NAME = 60
GUESSES, JOINED_PER_HOUR = 5, 60  # of one address: wrong host tokens in 15 minutes, new raters
HOST_SECONDS = 12 * HOUR  # that the host stays logged in
REPORTS = "123456"  # how the candidates of a study are called: kinds of error have letters


class StaleError(InputError):
    """An answer was given in another window meanwhile."""


class NewProject(NamedTuple):
    """A project that was just made, and its host's token, which is shown this once: only a hash is kept."""

    project: Project
    host_token: str


class Rater(NamedTuple):
    """Who rates."""

    number: int
    name: str
    key: str


class Stamp(NamedTuple):
    """Which page an answer comes from, its step there, and the revision of the answer that it replaces."""

    client: str
    step: int
    revision: int


class Numbers(NamedTuple):
    """What stands behind a sheet: the numbers of its items, and of its candidates by digit."""

    items: Mapping[str, int]
    candidates: Mapping[str, int]


class Saved(NamedTuple):
    """An answer as it was last saved; `revision` 0: none yet."""

    answer: Answer
    revision: int = 0
    client: str = ""


@dataclass(frozen=True)
class Sheet:
    """One study as a rater sees it.

    Attributes:
        place: From 1, in the rater's own order.
        reference: The radiologist's report.
        context: What is known of the patient.
        reports: The candidates by digit.
        items: What was answered: by the digit of a candidate, by two digits for a preference.
        is_finished: Whether the rater has said so.
    """

    place: int
    reference: str
    context: Context
    reports: Mapping[str, str]
    items: Mapping[str, Saved]
    is_finished: bool


@dataclass(frozen=True)
class Progress:
    """How far a rater is; `last` is the time of the last answer, 0 for none."""

    rater: str
    verified: bool
    finished: int
    begun: int
    last: float


def create_project(
    path_or_url: PathLike,
    studies: PathLike | list[Study],
    *,
    ask: Sequence[str] = ("errors",),
    title: str = TITLE,
    notes: str = "",
    columns: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> NewProject:
    """Makes a project: one SQLite file, or tables in a database.

    Args:
        path_or_url: Where: a file that does not exist, or a database URL (`postgresql+psycopg://...`).
        studies: The table of `study_id, reference, candidate, source`, or what `read_table` made of it.
        ask: What raters are asked, of `ASKS`.
        title: Of the page.
        notes: The host's own words to the raters, shown beside the conventions.
        columns: The table's columns, where they are called otherwise.
        seed: Of the raters' orders; None draws one.

    Raises:
        InputError: The place is taken, or the table cannot be used; nothing was made.
    """
    ask = tuple(name for name in ASKS if name in ask) if set(ask) <= set(ASKS) else ()
    if not ask:
        raise InputError(f"--ask takes one or more of {', '.join(ASKS)}.")
    check_free(path_or_url, schema)
    known = studies if isinstance(studies, list) else read_table(studies, columns, several="preference" in ask)
    token = new_token()
    config = {
        "title": title,
        "ask": ask,
        "notes": notes,
        "seed": secrets.randbits(32) if seed is None else seed,
    }
    store = create_store(path_or_url, schema, lambda connection: _fill(connection, config, known, token))
    return NewProject(Project(store), token)


def open_project(path_or_url: PathLike) -> Project:
    """Opens a project; raises InputError if there is none."""
    return Project(open_store(path_or_url, schema))


def _fill(connection: Connection, config: Mapping[str, Any], studies: Sequence[Study], token: str) -> None:
    connection.execute(
        insert(schema.project).values(
            version=schema.VERSION,
            created=time.time(),
            config=json.dumps(config),
            host_sha256=digest(token),
            secret=secrets.token_bytes(32),
        )
    )
    candidates: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for number, study in enumerate(studies):
        own = range(len(candidates), len(candidates) + len(study.candidates))
        candidates += [
            {"number": candidate, "study": number, "source": source, "candidate": text}
            for candidate, (source, text) in zip(own, study.candidates.items(), strict=True)
        ]
        twos: list[tuple[int, int | None]] = [(first, None) for first in own] if _judges(config["ask"]) else []
        if "preference" in config["ask"]:
            twos += [(first, second) for first in own for second in own if first < second]
        items += [
            {"number": len(items) + n, "study": number, "first": first, "second": second}
            for n, (first, second) in enumerate(twos)
        ]
    about = [
        {
            "number": number,
            "study_id": study.study_id,
            "reference": study.reference,
            "context": json.dumps(study.context._asdict()),
        }
        for number, study in enumerate(studies)
    ]
    for table, rows in ((schema.studies, about), (schema.candidates, candidates), (schema.items, items)):
        connection.execute(insert(table), rows)


def _judges(ask: Sequence[str]) -> bool:
    return "errors" in ask or "rating" in ask


class Project:
    """A rating project; get one from `open_project` or `create_project`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        with store.reading() as connection:
            row = connection.execute(select(schema.project)).one()
            studies = schema.studies
            query = select(studies.c.number).join(schema.items).distinct().order_by(studies.c.number)
            self._studies: list[int] = list(connection.execute(query).scalars())
        self._secret: bytes = row.secret
        config = json.loads(row.config)
        self.title: str = config["title"]
        self.notes: str = config["notes"]
        self.ask: tuple[str, ...] = tuple(config["ask"])
        self._seed: int = config["seed"]

    @property
    def place(self) -> str:
        """The file or URL, for `open_project` and for messages."""
        return self.store.place

    @property
    def n_studies(self) -> int:
        """The number of studies that each rater is asked about."""
        return len(self._studies)

    @property
    def is_judging(self) -> bool:
        """Whether candidates are judged one by one: by errors, by a rating, or both."""
        return _judges(self.ask)

    def close(self) -> None:
        """Lets go of the database."""
        self.store.close()

    def backup(self, file: PathLike) -> Path:
        """Makes a consistent copy of the project while it is in use; raises as `Store.backup`."""
        return self.store.backup(file)

    # --- raters

    def find_rater(self, name: str) -> Rater | None:
        """The rater of a name, however it is written; None if nobody of that name has begun."""
        with self.store.reading() as connection:
            return self._rater(connection, name)

    def enter(self, name: str, *, verified: bool = False, address: str = "") -> Rater:
        """The rater of a name, who is new or goes on.

        Args:
            name: As typed, or of the account.
            verified: Whether it is an account that is logged in.
            address: The visitor's, for the limit on new raters; "" for none.

        Raises:
            InputError: No name, or one that looks like another rater's.
            LimitError: Too many new raters from this address.
        """
        name = " ".join(name.split())
        if not any(map(str.isalnum, identity.key(name))) or len(name) > LONGEST_NAME:
            raise InputError(f"Type your name, with letters or digits, at most {LONGEST_NAME} characters.")
        if fault := identity.mixed(name):
            raise InputError(f"{fault}; type the name in one script.")
        if known := self.find_rater(name):
            return known
        if address:
            message = "Too many new names from this address; try again later."
            self._count("join", address, HOUR, JOINED_PER_HOUR, message)
        table = schema.raters
        with self.store.writing() as connection:
            if known := self._rater(connection, name):
                return known
            names = connection.execute(select(table.c.name)).scalars().all()
            if like := next((other for other in names if identity.look(other) == identity.look(name)), ""):
                raise InputError(f"This name looks like that of another rater, {like!r}; add your first name.")
            row = {"name": name, "name_key": identity.key(name), "verified": verified, "joined": time.time()}
            connection.execute(insert(table).values(row))
            return self._rater(connection, name) or Rater(0, name, identity.key(name))

    def _rater(self, connection: Connection, name: str) -> Rater | None:
        table = schema.raters.c
        query = select(table.number, table.name, table.name_key).where(table.name_key == identity.key(name))
        row = connection.execute(query).first()
        return Rater(*row) if row else None

    def raters(self) -> list[Rater]:
        """Everybody who has begun."""
        table = schema.raters.c
        with self.store.reading() as connection:
            rows = connection.execute(select(table.number, table.name, table.name_key).order_by(table.number))
            return [Rater(*row) for row in rows]

    def begin_session(self, rater: Rater | None) -> str:
        """A token for a browser's cookie; of a rater, or of the host (None)."""
        token = new_token()
        row = {"token_sha256": digest(token), "rater": rater and rater.number, "began": time.time()}
        with self.store.writing() as connection:
            connection.execute(insert(schema.sessions).values(row))
        return token

    def end_session(self, token: str) -> None:
        """Forgets a session."""
        with self.store.writing() as connection:
            connection.execute(delete(schema.sessions).where(schema.sessions.c.token_sha256 == digest(token)))

    def rater_of(self, token: str) -> Rater | None:
        """The rater of a session."""
        table = schema.raters.c
        query = select(table.number, table.name, table.name_key).join(schema.sessions)
        with self.store.reading() as connection:
            row = connection.execute(query.where(schema.sessions.c.token_sha256 == digest(token))).first()
        return Rater(*row) if row else None

    # --- rating

    def sheet(self, rater: Rater, place: int) -> Sheet:
        """A study as this rater sees it.

        Args:
            rater: Who.
            place: From 1, in the rater's order.

        Raises:
            InputError: There is no such place.
        """
        with self.store.reading() as connection:
            return self._sheet(connection, rater, place)[0]

    def save(self, rater: Rater, place: int, item: str, value: Any, stamp: Stamp) -> int:
        """Saves an answer, in one transaction; it replaces what this rater said of this item before.

        Args:
            rater: Who.
            place: The study, in the rater's order.
            item: The digit of a candidate, or the two digits of a preference.
            value: As `answers.read_judged` and `read_preferred` take it; candidates by digit.
            stamp: Where it comes from. The same page may send an answer twice, and late ones are ignored.

        Returns:
            The revision of what is saved now.

        Raises:
            InputError: The answer cannot be one.
            StaleError: It would replace an answer that the page has not seen.
        """
        with self.store.writing() as connection:
            sheet, numbers = self._sheet(connection, rater, place)
            if item not in numbers.items:
                raise InputError(f"Study {place} has no item {item[:20]!r}.")
            answer = _read(sheet, self.ask, numbers.candidates, item, value)
            table, number = schema.answers, numbers.items[item]
            mine = (table.c.rater == rater.number) & (table.c.item == number)
            held = connection.execute(select(table.c.revision, table.c.client, table.c.step).where(mine)).first()
            revision = held.revision if held else 0
            if held and held.client == stamp.client and held.step >= stamp.step:
                return int(revision)
            if stamp.revision != revision and not (held and held.client == stamp.client):
                raise StaleError("This study was answered in another window; reload the page.")
            row = {
                "content": answers.dump(answer),
                "revision": revision + 1,
                "client": stamp.client[:40],
                "step": stamp.step,
                "saved": time.time(),
            }
            if held:
                connection.execute(update(table).where(mine).values(row))
            else:
                connection.execute(insert(table).values(rater=rater.number, item=number, **row))
            return int(revision + 1)

    def finish(self, rater: Rater, place: int) -> list[str]:
        """Says that a study is rated; returns what is missing still, one phrase each: then it is not.

        A candidate without an answer has no errors: that is said here.
        """
        with self.store.writing() as connection:
            sheet, numbers = self._sheet(connection, rater, place)
            if missing := self.missing(sheet):
                return missing
            now = time.time()
            empty = {"rater": rater.number, "revision": 1, "client": "", "step": 0, "saved": now}
            rows = [
                {**empty, "item": numbers.items[item], "content": answers.dump(saved.answer)}
                for item, saved in sheet.items.items()
                if not saved.revision
            ]
            if rows:
                connection.execute(insert(schema.answers), rows)
            if not sheet.is_finished:
                study = self._order(rater)[place - 1]
                connection.execute(insert(schema.finished).values(rater=rater.number, study=study, at=now))
        return []

    def missing(self, sheet: Sheet) -> list[str]:
        """What a study lacks before it can be finished."""
        return [
            f"{what} for {'report ' + item if len(item) == 1 else ' and '.join(item)}"
            for item, saved in sheet.items.items()
            for what in saved.answer.missing(self.ask)
        ]

    def states(self, rater: Rater) -> list[str]:
        """For each place of the rater's order: "finished", "begun" or "open"."""
        with self.store.reading() as connection:
            done = set(connection.execute(_finished_by(rater)).scalars())
            query = select(schema.items.c.study).join(schema.answers).where(schema.answers.c.rater == rater.number)
            begun = set(connection.execute(query).scalars())
        order = self._order(rater)
        return ["finished" if study in done else "begun" if study in begun else "open" for study in order]

    # --- the host

    def verify_host(self, token: str, address: str = "") -> bool:
        """Whether this is the host's token; raises LimitError after too many wrong ones from an address."""
        with self.store.reading() as connection:
            kept: str = connection.execute(select(schema.project.c.host_sha256)).scalar_one()
        if hmac.compare_digest(digest(token), kept):
            return True
        if address:
            message = "Too many wrong tokens from this address; try again later."
            self._count("token", address, GUESS_WINDOW, GUESSES, message)
        return False

    def new_host_token(self) -> str:
        """Makes a new host token, which ends the old one and all sessions of the host."""
        token = new_token()
        with self.store.writing() as connection:
            connection.execute(update(schema.project).values(host_sha256=digest(token)))
            connection.execute(delete(schema.sessions).where(schema.sessions.c.rater.is_(None)))
        return token

    def is_host(self, token: str) -> bool:
        """Whether a session is the host's."""
        table = schema.sessions.c
        query = select(table.began).where(table.token_sha256 == digest(token), table.rater.is_(None))
        with self.store.reading() as connection:
            began = connection.execute(query).scalar()
        return began is not None and time.time() - began < HOST_SECONDS

    def progress(self) -> list[Progress]:
        """How far each rater is, in the order in which they joined."""
        table, answered, finished = schema.raters.c, schema.answers.c, schema.finished.c
        with self.store.reading() as connection:
            raters = connection.execute(select(table.number, table.name, table.verified).order_by(table.number)).all()
            counts = select(finished.rater, func.count().label("n")).group_by(finished.rater)
            done = {row.rater: row.n for row in connection.execute(counts)}
            query = select(answered.rater, func.count(schema.items.c.study.distinct()), func.max(answered.saved))
            begun = {
                rater: (n, last)
                for rater, n, last in connection.execute(query.join(schema.items).group_by(answered.rater))
            }
        return [
            Progress(name, verified, done.get(number, 0), *begun.get(number, (0, 0.0)))
            for number, name, verified in raters
        ]

    def code(self, rater: Rater, item: int) -> str:
        """What a form calls an item: it says neither which candidate it is nor whether another rater has it too."""
        return hmac.new(self._secret, f"{rater.key}\0{item}".encode(), "sha256").hexdigest()[:10]

    def shown_order(self, rater: Rater, study: int) -> list[int]:
        """The numbers of a study's candidates in the order in which the rater sees them."""
        with self.store.reading() as connection:
            return self._shuffled(rater, study, self._candidates(connection, study))

    # ---

    def ordered(self, rater: Rater) -> list[tuple[Sheet, Numbers]]:
        """Every sheet of a rater in order, with what stands behind it: for forms."""
        with self.store.reading() as connection:
            return [self._sheet(connection, rater, place) for place in range(1, self.n_studies + 1)]

    def _order(self, rater: Rater) -> list[int]:
        """The numbers of the studies in the rater's order."""
        shuffled = list(self._studies)
        Random(f"{self._seed}\0{rater.key}").shuffle(shuffled)
        return shuffled

    def _shuffled(self, rater: Rater, study: int, candidates: Iterable[int]) -> list[int]:
        """The numbers of a study's candidates in the rater's order."""
        shuffled = sorted(candidates)
        Random(f"{self._seed}\0{rater.key}\0{study}").shuffle(shuffled)
        return shuffled

    def _candidates(self, connection: Connection, study: int) -> dict[int, str]:
        """The candidates of a study by number."""
        table = schema.candidates.c
        rows = connection.execute(select(table.number, table.candidate).where(table.study == study))
        return {row.number: row.candidate for row in rows}

    def _sheet(self, connection: Connection, rater: Rater, place: int) -> tuple[Sheet, Numbers]:
        """A sheet, and what stands behind it."""
        if not 0 < place <= self.n_studies:
            raise InputError(f"There is no study {place}; there are {self.n_studies:,}.")
        number = self._order(rater)[place - 1]
        study = connection.execute(select(schema.studies).where(schema.studies.c.number == number)).one()
        texts = self._candidates(connection, number)
        digits = dict(zip(REPORTS, self._shuffled(rater, number, texts), strict=False))
        reports = {digit: texts[candidate] for digit, candidate in digits.items()}
        by_number = {number: digit for digit, number in digits.items()}
        query = select(schema.items).where(schema.items.c.study == number)
        items = {
            "".join(sorted(by_number[row.first] + by_number.get(row.second, ""))): row.number
            for row in connection.execute(query)
        }
        items = {key: items[key] for key in sorted(items, key=lambda key: (len(key), key))}
        answered = schema.answers.c
        query = select(answered.item, answered.content, answered.revision, answered.client)
        query = query.where(answered.rater == rater.number, answered.item.in_(items.values()))
        held = {row.item: row for row in connection.execute(query)}
        saved = {
            key: Saved(_shown(answers.load(held[item].content), digits), held[item].revision, held[item].client)
            if item in held
            else Saved(Judged() if len(key) == 1 else Preferred())
            for key, item in items.items()
        }
        is_finished = number in set(connection.execute(_finished_by(rater)).scalars())
        context = Context(**json.loads(study.context))
        return Sheet(place, study.reference, context, reports, saved, is_finished), Numbers(items, digits)

    def _count(self, kind: str, address: str, window: float, allowed: int, message: str) -> None:
        count_try(self.store, schema.tries, kind, address_key(address, self._secret), window, allowed, message)


def _read(sheet: Sheet, ask: Collection[str], digits: Mapping[str, int], item: str, value: Any) -> Answer:
    """An answer as it is kept: a candidate is called by its number."""
    if len(item) == 1:
        return answers.read_judged(value, ask, {"reference": sheet.reference, "candidate": sheet.reports[item]})
    chosen = answers.read_preferred(value, (*item, EQUAL))
    return replace(chosen, choice=str(digits.get(chosen.choice, chosen.choice)))


def _shown(answer: Answer, digits: Mapping[str, int]) -> Answer:
    """An answer as the rater sees it: a candidate is called by its digit."""
    if isinstance(answer, Judged):
        return answer
    by_number = {str(number): digit for digit, number in digits.items()}
    return replace(answer, choice=by_number.get(answer.choice, answer.choice))


def _finished_by(rater: Rater) -> Select[Any]:
    return select(schema.finished.c.study).where(schema.finished.c.rater == rater.number)
