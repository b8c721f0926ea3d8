"""A PostgreSQL for the Spaces that keep something, and an SQLite that does not wait for the disk."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

from . import postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL: `RRGMETRICS_TEST_POSTGRES`, or one of our own if it is installed."""
    pytest.importorskip("psycopg")
    if url := os.environ.get("RRGMETRICS_TEST_POSTGRES"):
        yield url
        return
    programs = postgres.programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL; on Debian: apt-get install postgresql")
    with postgres.server(programs) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server) -> Iterator[str]:
    """The URL of an empty database, which goes afterwards."""
    from sqlalchemy import create_engine, make_url

    name = f"space_{secrets.token_hex(6)}"
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        yield make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    engine.dispose()


@pytest.fixture
def no_waiting_for_disks(monkeypatch) -> None:
    """SQLite returns before the disk has written, as our PostgreSQL does: tests end processes, never the machine."""
    from rrgmetrics.spaces import database

    set_up = database._set_up_sqlite

    def without_waiting(connection, record) -> None:
        set_up(connection, record)
        connection.execute("PRAGMA synchronous = OFF")

    monkeypatch.setattr(database, "_set_up_sqlite", without_waiting)
