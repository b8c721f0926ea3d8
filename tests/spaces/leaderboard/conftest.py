"""A small board of invented studies, and reports to send to it."""

from __future__ import annotations

import csv
import json
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from rrgmetrics.spaces.leaderboard import Board, create_board
from rrgmetrics.spaces.leaderboard.worker import work

# Twelve studies, of which the first two are public; each hidden one holds a word that stands nowhere else.
SECRET = "SECRETWORD"
FINDINGS = ("Small left pleural effusion.", "The lungs are clear.", "Right lower lobe opacity.", "Mild cardiomegaly.")
REFERENCES = [
    f"{FINDINGS[i % 4]} No pneumothorax." + ("" if i < 2 else f" {SECRET}{i:02d} seen today.") for i in range(12)
]


def study_ids(n: int) -> list[str]:
    return [f"study-{i:03d}" for i in range(n)]


def write_csv(path: Path, columns: dict[str, Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def make_board(tmp_path, no_waiting_for_disks) -> Callable[..., Board]:
    """Makes a board in a folder of its own; its token is `board.token`."""
    boards: list[Board] = []

    def make(references: Sequence[str] = REFERENCES, *, n_public: int = 2, metrics=("rouge",), **keywords) -> Board:
        folder = tmp_path / f"board{len(boards)}"
        folder.mkdir()
        public = ["yes" if i < n_public else "no" for i in range(len(references))]
        columns = {"study_id": study_ids(len(references)), "report": references, "public": public}
        file = write_csv(folder / "references.csv", columns)
        place = keywords.pop("place", folder / "board.sqlite")
        made = create_board(place, references=file, metrics=metrics, **{"trials": 200, **keywords})
        file.unlink()
        made.board.token = made.admin_token
        boards.append(made.board)
        return made.board

    yield make
    for board in boards:
        board.close()


@pytest.fixture
def board(make_board) -> Board:
    return make_board()


@pytest.fixture(params=["sqlite", "postgresql"])
def any_board(request, make_board) -> Board:
    """The same board in every database that it can lie in."""
    return make_board(place=request.getfixturevalue("postgres_url")) if request.param == "postgresql" else make_board()


@pytest.fixture
def write_reports(tmp_path) -> Callable[..., Path]:
    """Writes a submission: `study_id, report` as CSV or JSONL."""

    def write(reports: Sequence[str], name: str = "reports.csv") -> Path:
        path = tmp_path / name
        if path.suffix == ".csv":
            return write_csv(path, {"study_id": study_ids(len(reports)), "report": reports})
        rows = zip(study_ids(len(reports)), reports, strict=True)
        path.write_text("".join(json.dumps({"study_id": i, "report": text}) + "\n" for i, text in rows))
        return path

    return write


@pytest.fixture
def send(write_reports) -> Callable[..., str]:
    """Submits reports under a name; returns the id."""

    def submit(board: Board, name: str, reports: Sequence[str], **keywords) -> str:
        return board.submit(write_reports(reports), **{"name": name, "submitter": "lab", **keywords}).id

    return submit


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def work_off() -> Callable[..., list[str]]:
    """Runs a worker until the queue is empty; returns its log."""

    def run(board: Board, **keywords) -> list[str]:
        lines: list[str] = []
        work(board, once=True, log=lines.append, **keywords)
        return lines

    return run
