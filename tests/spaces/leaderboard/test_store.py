"""Files, databases, versions."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping

import pytest
from sqlalchemy import text

from rrgmetrics import InputError, cli
from rrgmetrics.spaces.database import StoreError
from rrgmetrics.spaces.leaderboard import create_board, open_board, schema

from .conftest import REFERENCES, study_ids, write_csv


def test_what_is_no_board(tmp_path, board):
    with pytest.raises(InputError, match=r"There is no board in .*missing\.sqlite; create one"):
        open_board(tmp_path / "missing.sqlite")
    (tmp_path / "text.sqlite").write_text("this is no database, but long enough to be taken for one " * 30)
    with pytest.raises(InputError, match="not a board"):
        open_board(tmp_path / "text.sqlite")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(InputError, match="There is no board"):
        open_board(tmp_path / "other.sqlite")
    with pytest.raises(InputError, match="not in 'mysql'"):
        open_board("mysql://host/name")
    with pytest.raises(InputError, match="SQLite file"):
        open_board("sqlite://")
    with pytest.raises(InputError, match="URL cannot be read"):
        open_board("://")
    assert open_board(f"sqlite:///{board.place}").info() == board.info()


def test_nothing_is_replaced_and_nothing_half_made_is_left(tmp_path, board, monkeypatch):
    references = write_csv(tmp_path / "r.csv", {"study_id": study_ids(12), "report": REFERENCES})
    with pytest.raises(InputError, match="exists; choose another name"):
        create_board(board.place, references=references, metrics=["rouge"])
    for keywords, said in (
        ({"metrics": ["roug"]}, "no metric 'roug'"),
        ({"metrics": ["rouge", "rouge"]}, "named twice"),
        ({"metrics": ["rouge"], "primary": "bleu"}, "'bleu' is not on the board"),
        ({"metrics": ["rouge"], "trials": 1}, "trials is 1"),
        ({"metrics": ["rouge"], "dataset": "../x"}, "not a Hub id"),
    ):
        with pytest.raises(InputError, match=said):
            create_board(tmp_path / "new.sqlite", references=references, **keywords)
    monkeypatch.setattr(schema.METADATA, "create_all", lambda connection: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        create_board(tmp_path / "new.sqlite", references=references, metrics=["rouge"])
    assert not (tmp_path / "new.sqlite").exists()


def test_boards_of_earlier_versions_are_brought_up_to_date_once(any_board, send, monkeypatch):
    send(any_board, "A", ["Clear."] * 12)
    now = schema.VERSION
    added: Mapping[int, list[str]] = {
        now: ["ALTER TABLE submissions ADD COLUMN paper TEXT"],
        now + 1: ["UPDATE submissions SET paper = 'none'"],
    }
    monkeypatch.setattr(schema, "MIGRATIONS", added)
    monkeypatch.setattr(schema, "VERSION", now + 2)
    for _ in range(2):
        with open_board(any_board.place).store.reading() as connection:
            assert connection.execute(text("SELECT name, paper FROM submissions")).all() == [("A", "none")]
            assert connection.execute(text("SELECT version FROM board")).scalar_one() == now + 2
    monkeypatch.setattr(schema, "VERSION", now)
    with pytest.raises(
        InputError, match=f"have version {now + 2}, and this rrgmetrics supports {now}; install a newer version"
    ):
        open_board(any_board.place)


def test_a_board_of_the_first_version_is_brought_up_to_date(any_board, send, work_off):
    """Who submitted then typed their handle."""
    send(any_board, "A", ["Clear."] * 12)
    work_off(any_board)
    with any_board.store.writing() as connection:
        connection.execute(text("ALTER TABLE submissions DROP COLUMN verified"))
        connection.execute(text("ALTER TABLE tries DROP COLUMN amount"))
        connection.execute(text("UPDATE board SET version = 1"))
    opened = open_board(any_board.place)
    assert [line.system.verified for line in opened.standings().systems] == [False]
    send(opened, "B", ["Clear."] * 12)


def test_a_migration_that_fails_changes_nothing(board, monkeypatch):
    added = {schema.VERSION: ["ALTER TABLE submissions ADD COLUMN paper TEXT", "nonsense"]}
    monkeypatch.setattr(schema, "MIGRATIONS", added)
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with pytest.raises(InputError):
        open_board(board.place)
    monkeypatch.undo()
    with open_board(board.place).store.reading() as connection:
        assert "paper" not in {column[1] for column in connection.execute(text("PRAGMA table_info(submissions)"))}


def test_the_log_is_written_ahead_and_a_write_is_on_disk(board, monkeypatch):
    monkeypatch.undo()  # of `no_waiting_for_disks`
    with open_board(board.place).store.reading() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2  # FULL
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1


def damage(path, *, at=0, with_=b""):
    """Overwrites a part of a file; closed before, so that nothing of it lies in a log."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(with_)


def test_a_read_only_database_is_one_sentence(board, send, capsys):
    board.close()
    damage(board.store.path, at=18, with_=b"\3")  # a write version beyond SQLite's: it may be read, not written
    with pytest.raises(StoreError, match="cannot be written to; give this user write permission"):
        send(board, "A", ["Clear."] * 12)
    assert cli.main(["leaderboard", "token", board.place]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_damaged_database_is_one_sentence(board, send, work_off, capsys, tmp_path):
    send(board, "A", ["Clear."] * 12)
    work_off(board)
    board.close()
    size = board.store.path.stat().st_size
    damage(board.store.path, at=4096, with_=b"\xff" * (size - 4096))
    with pytest.raises((StoreError, InputError), match=r"is damaged; replace it with a copy"):
        open_board(board.place).standings()
    for step in (["show"], ["work", "--once"], ["backup", str(tmp_path / "copy.sqlite")]):
        assert cli.main(["leaderboard", step[0], board.place, *step[1:]]) == 2
        assert "is damaged; replace it with a copy" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "copy.sqlite").exists()


@pytest.mark.parametrize("damaged", ["stats = x'504b0304'", "unscored = '[1,'", "estimates = '{'"])
def test_damaged_results_are_one_sentence(board, send, work_off, damaged):
    id = send(board, "A", ["Clear."] * 12)
    work_off(board)
    with board.store.writing() as connection:
        connection.execute(text(f"UPDATE results SET {damaged}"))
    opened = open_board(board.place)
    with pytest.raises(StoreError, match="damaged; replace it with a copy"):
        opened.examples(id)


def test_a_copy_is_of_one_moment_while_others_write(board, send, tmp_path):
    send(board, "A", ["Clear."] * 12)
    ended, begun = threading.Event(), threading.Event()

    def add():
        while not ended.is_set():
            with board.store.writing() as connection:
                connection.execute(text("UPDATE board SET revision = revision + 1"))
                connection.execute(text("UPDATE submissions SET submitter = (SELECT revision FROM board)"))
            begun.set()

    writer = threading.Thread(target=add)
    writer.start()
    begun.wait()
    try:
        for i in range(5):
            copy = board.backup(tmp_path / f"copy{i}.sqlite")
            assert copy.stat().st_mode & 0o077 == 0
            with open_board(copy).store.reading() as connection:
                assert connection.execute(text("SELECT revision FROM board")).scalar_one() == int(
                    connection.execute(text("SELECT submitter FROM submissions")).scalar_one()
                )
    finally:
        ended.set()
        writer.join()
    with pytest.raises(InputError, match="exists; choose another name"):
        board.backup(copy)
    assert sorted(path.name for path in tmp_path.glob("*part*")) == []


def test_readers_see_one_moment_and_do_not_wait(board):
    count = text("SELECT count(*) FROM tries")
    with board.store.reading() as reader:
        assert reader.execute(count).scalar() == 0
        board.verify_admin("wrong")
        assert reader.execute(count).scalar() == 0
    with board.store.reading() as reader:
        assert reader.execute(count).scalar() == 1


def test_writers_take_turns(any_board):
    """Twenty threads that read, think and write: none overwrites another's count."""

    board = any_board

    def add():
        with board.store.writing() as connection:
            seen = connection.execute(text("SELECT revision FROM board")).scalar_one()
            threading.Event().wait(0.002)
            connection.execute(text("UPDATE board SET revision = :new"), {"new": seen + 1})

    before = board.info().revision
    threads = [threading.Thread(target=add) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert board.info().revision == before + 20


def test_a_missing_driver_names_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(ImportError, match=r"pip install 'psycopg\[binary\]'"):
        open_board("postgresql://user:secret@127.0.0.1:1/name")


def test_postgresql(make_board, postgres_url, send, work_off, tmp_path):
    """An empty database: the same board, the same answers."""
    server, file = make_board(place=postgres_url), make_board()
    for board in (server, file):
        for name in ("A", "B"):
            send(board, name, [f"{name} effusion é."] * 12, address="192.0.2.1")
        assert not board.verify_admin("wrong", "192.0.2.1")
        assert board.verify_admin(board.token, "192.0.2.1")
        work_off(board)
        assert board.rescore() == 2
        work_off(board)
    one, other = server.standings(), file.standings()
    assert [line.scores for line in one.systems] == [line.scores for line in other.systems]
    assert [line.best_rank for line in one.systems] == [1, 1]
    assert [e.reference for e in server.examples(one.systems[0].system.id)] == REFERENCES[:2]
    with pytest.raises(InputError, match="There is a board already"):
        make_board(place=postgres_url)
    with pytest.raises(InputError, match="pg_dump --format=custom --file=copy postgresql://"):
        server.backup("copy")


def test_a_server_that_is_away_is_one_sentence(tmp_path):
    pytest.importorskip("psycopg")
    with pytest.raises(InputError, match=r"cannot be reached or written to; check that it runs"):
        open_board(f"postgresql+psycopg://user:password@/name?host={tmp_path}")
