"""The database of a Space: SQLite in one file (write-ahead log, owner only), or PostgreSQL by URL.

Two kinds of transaction: `reading` sees one moment, `writing` is the only one of its kind at that moment, in whatever
process; it counts, decides and inserts without a race. A write is on disk when its transaction ends. What the database
holds is a `Schema`: the module of a Space that defines its tables.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    MetaData,
    Table,
    create_engine,
    event,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.files import PathLike

BUSY_SECONDS = 60
# What is said of a database, by the beginning of SQLite's name for what went wrong.
FAULTS = {
    "SQLITE_READONLY": "cannot be written to; give this user write permission for the file and its folder",
    "SQLITE_CANTOPEN": "cannot be opened; give this user the right to read and write the file and its folder",
    "SQLITE_PERM": "cannot be opened; give this user the right to read and write the file and its folder",
    "SQLITE_FULL": "cannot be written to, because the disk is full; free some space",
    "SQLITE_BUSY": f"was locked by another process for more than {BUSY_SECONDS} s; try again",
    "SQLITE_CORRUPT": "is damaged; {restore}",
    "SQLITE_NOTADB": "is not a {noun}, or is damaged; choose another file, or {restore}",
}
OTHER_FAULT = "cannot be reached or written to; check that it runs and that this user has access"
WRITERS = 0x7272676D  # PostgreSQL's advisory lock of those who write


class StoreError(BackendError):
    """The database of a Space cannot be read or written; the message says which, why, and what to do."""


class Schema(Protocol):
    """The tables of a Space, as a module.

    Attributes:
        NOUN: What the database holds, as messages call it: "board".
        COMMAND: The command that makes one (`COMMAND init`) and copies it (`COMMAND backup`).
        VERSION: Of the tables.
        MIGRATIONS: From version n to n + 1: the statements, in SQL that SQLite and PostgreSQL both take.
        METADATA: All tables.
        HEAD: The table of one row that has the column `version`.
    """

    NOUN: str
    COMMAND: str
    VERSION: int
    MIGRATIONS: Mapping[int, Sequence[str]]
    METADATA: MetaData
    HEAD: Table


class Store:
    """The database of a board, or of what else a Space keeps.

    Attributes:
        place: The file, or the URL without its password: for messages and for opening it again.
        path: The file; None for a server.
    """

    def __init__(self, url: URL, schema: Schema) -> None:
        self.schema = schema
        self.path = Path(url.database or "") if url.get_backend_name() == "sqlite" else None
        self.url = url
        self.place = str(self.path or url.render_as_string(hide_password=True))
        self._engine = _engine(url)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment."""
        with self._said(), self._engine.connect() as connection:
            if self.path is None:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other `writing` runs beside; everything in it happens or nothing."""
        options = {"writing": True}
        with self._said(), self._engine.connect() as connection, connection.execution_options(**options).begin():
            if self.path is None:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": WRITERS})
            yield connection

    def backup(self, file: PathLike) -> Path:
        """A copy of one moment in a new file, readable by its owner only; others may read and write meanwhile.

        Raises:
            InputError: The file exists or cannot be made, or the database is PostgreSQL.
            StoreError: The file is damaged.
        """
        target = Path(file)
        if self.path is None:
            url = self.url.set(drivername="postgresql").render_as_string(hide_password=True)
            raise InputError(
                f"A {self.schema.NOUN} in PostgreSQL is copied by PostgreSQL: "
                f"pg_dump --format=custom --file={file} {url}"
            )
        if target.exists() or target.is_symlink():
            raise InputError(f"{target} exists; choose another name for the copy.")
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        _new_file(part, "copy")
        try:
            with self._said(), closing(sqlite3.connect(self.path)) as ours, closing(sqlite3.connect(part)) as copy:
                ours.backup(copy)
                if copy.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                    raise StoreError(f"{self.place} is damaged; {restoring(self.schema)}.")
            part.rename(target)
        finally:
            part.unlink(missing_ok=True)
        return target

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Turns what a database raises, but for broken constraints, into one sentence."""
        try:
            yield
        except IntegrityError:
            raise
        except json.JSONDecodeError:
            raise StoreError(f"{self.place} is damaged; {restoring(self.schema)}.") from None
        except (DBAPIError, sqlite3.Error) as error:
            name = getattr(getattr(error, "orig", error), "sqlite_errorname", "")
            fault = next((words for start, words in FAULTS.items() if name.startswith(start)), OTHER_FAULT)
            fault = fault.format(noun=self.schema.NOUN, restore=restoring(self.schema))
            raise StoreError(f"{self.place} {fault}.") from None

    def close(self) -> None:
        """Lets go of all connections."""
        self._engine.dispose()


def restoring(schema: Schema) -> str:
    """What to do about a damaged database."""
    return f"replace it with a copy made by `{schema.COMMAND} backup`"


def place(text: str) -> str:
    """Where a database is; `env:NAME` takes it from the environment, where a URL's password is nobody else's to see."""
    if not text.startswith("env:"):
        return text
    address = os.environ.get(text.removeprefix("env:"), "")
    if not address:
        raise InputError(f"The environment variable {text.removeprefix('env:')!r} is not set.")
    return address


def parse_place(path_or_url: PathLike, noun: str = "board") -> URL:
    """A file's path or a database URL as SQLAlchemy's URL; raises InputError for other databases."""
    place = os.fspath(path_or_url)
    if "://" not in place:
        return URL.create("sqlite", database=str(Path(place).absolute()))
    try:
        url = make_url(place)
    except ArgumentError:
        raise InputError(
            f"The {noun}'s URL cannot be read; one looks like postgresql+psycopg://user@host/name."
        ) from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:"):
        return URL.create("sqlite", database=str(Path(url.database or "").absolute()))
    raise InputError(f"A {noun} is a SQLite file or in PostgreSQL, not in {url.get_backend_name()!r}.")


def check_free(path_or_url: PathLike, schema: Schema) -> None:
    """Raises InputError, before any work, if a database cannot be made there."""
    url = parse_place(path_or_url, schema.NOUN)
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        if file.exists() or file.is_symlink():
            raise InputError(f"{file} exists; choose another name for the {schema.NOUN}.")
        if not file.parent.is_dir():
            raise InputError(f"The folder {file.parent} does not exist; create it first.")


def create_store(path_or_url: PathLike, schema: Schema, fill: Callable[[Connection], None]) -> Store:
    """A database with tables, filled in the same transaction.

    Args:
        path_or_url: Where.
        schema: Its tables.
        fill: Puts the first rows into the empty tables.

    Raises:
        InputError: There is a file or such tables already, or the database cannot be reached; nothing is left behind.
    """
    store = Store(parse_place(path_or_url, schema.NOUN), schema)
    if store.path is not None:
        _new_file(store.path, schema.NOUN)
    try:
        with _opening(), store.writing() as connection:
            if _has_tables(connection, schema):
                raise InputError(f"There is a {schema.NOUN} already in {store.place}.")
            schema.METADATA.create_all(connection)
            fill(connection)
    except BaseException:
        store.close()
        if store.path is not None:
            store.path.unlink(missing_ok=True)
        raise
    return store


def open_store(path_or_url: PathLike, schema: Schema) -> Store:
    """The database of a Space, its tables brought up to date; raises InputError if there is none."""
    store = Store(parse_place(path_or_url, schema.NOUN), schema)
    missing = InputError(f"There is no {schema.NOUN} in {store.place}; create one with `{schema.COMMAND} init`.")
    if store.path is not None and not store.path.is_file():
        raise missing
    try:
        with _opening():
            with store.reading() as connection:
                if not _has_tables(connection, schema):
                    raise missing
                is_old = _is_old(connection, schema)
            if is_old:
                with store.writing() as connection:
                    _migrate(connection, schema)
    except InputError:
        store.close()
        raise
    return store


def _has_tables(connection: Connection, schema: Schema) -> bool:
    return bool(inspect(connection).has_table(schema.HEAD.name))


def _is_old(connection: Connection, schema: Schema) -> bool:
    """Whether `_migrate` has something to do; raises InputError for tables of a newer version."""
    stored: int = connection.execute(select(schema.HEAD.c.version)).scalar_one()
    if stored > schema.VERSION:
        raise InputError(
            f"The {schema.NOUN}'s tables have version {stored}, and this rrgmetrics supports {schema.VERSION}; "
            "install a newer version."
        )
    return stored < schema.VERSION


def _migrate(connection: Connection, schema: Schema) -> None:
    """Brings the tables up to date, inside the caller's transaction; another process may have done so already."""
    stored: int = connection.execute(select(schema.HEAD.c.version)).scalar_one()
    for version in range(stored, schema.VERSION):
        for statement in schema.MIGRATIONS[version]:
            connection.execute(text(statement))
    connection.execute(update(schema.HEAD).values(version=schema.VERSION))


def _new_file(path: Path, noun: str) -> None:
    """Makes an empty file that only its owner can read; SQLite gives its log the same rights."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise InputError(f"{path} exists; choose another name for the {noun}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be created: {error.strerror}.") from None


@contextmanager
def _opening() -> Iterator[None]:
    """A database that cannot be used when it is opened was named by the caller: an InputError."""
    try:
        yield
    except StoreError as error:
        raise InputError(str(error)) from None


def _engine(url: URL) -> Engine:
    """An engine whose errors never quote the values of a statement: references are among them."""
    options: dict[str, Any] = {"hide_parameters": True}
    if url.get_backend_name() == "sqlite":
        options["connect_args"] = {"timeout": BUSY_SECONDS}
    else:
        options["pool_pre_ping"] = True
    try:
        engine = create_engine(url, **options)
    except (ImportError, NoSuchModuleError) as error:
        raise MissingExtraError(f"{url.drivername} needs its driver: pip install 'psycopg[binary]'.") from error
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # `_begin_sqlite` begins, not the driver
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
