"""Who submits on the Hub is the account that is logged in: with a stand-in of the Hub as provider of logins."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from rrgmetrics.spaces.leaderboard import open_board

from .. import logins

APP = """
import sys
from rrgmetrics.spaces.leaderboard import open_board
from rrgmetrics.spaces.leaderboard.app import serve
serve(open_board(sys.argv[1]), port=int(sys.argv[2]))
"""


@pytest.fixture
def hub():
    with logins.running() as made:
        yield made


class Visitor(logins.Visitor):
    def log_in(self):
        self.follow("/login/huggingface?_target_url=/submit", "/submit")

    def submit(self, file, name, submitter=""):
        api, headers = f"{self.address}/gradio_api", {"Cookie": self.cookie}
        (path,) = self.client.post(f"{api}/upload", files={"files": file.open("rb")}, headers=headers).json()
        upload = {"path": path, "meta": {"_type": "gradio.FileData"}}
        said = {"data": [upload, name, submitter, "", ""]}
        event = self.client.post(f"{api}/call/submit", json=said, headers=headers).json()["event_id"]
        return self.client.get(f"{api}/call/submit/{event}", headers=headers).text


@pytest.fixture
def space(board, hub, free_port, monkeypatch):
    """The board's page as on a Space; returns its address."""
    for name, value in hub.environment().items():
        monkeypatch.setenv(name, value)
    process = subprocess.Popen([sys.executable, "-c", APP, board.place, str(free_port)])
    address = f"http://127.0.0.1:{free_port}"
    while process.poll() is None:
        try:
            logins.httpx.get(address, timeout=60, verify=False)
            break
        except logins.httpx.TransportError:
            time.sleep(0.1)
    assert process.poll() is None
    yield address
    process.kill()
    process.wait()


def test_who_submits_is_who_is_logged_in(board, space, hub, write_reports):
    visitor = Visitor(space)
    file = write_reports(["Clear."] * 12)
    assert "Sign in with Hugging Face first" in visitor.submit(file, "A", "lab")
    assert board.info().n_queued == 0
    visitor.log_in()
    assert "data-progress" in visitor.submit(file, "A", "somebody-else")
    hub.account = "other"
    other = Visitor(space)
    other.log_in()
    assert "data-progress" in other.submit(file, "B", "lab")
    with open_board(board.place).store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT name, submitter, verified FROM submissions ORDER BY name").all()
    assert [tuple(row) for row in rows] == [("A", "lab", True), ("B", "other", True)]
    forged = Visitor(space)
    forged.cookie = visitor.cookie[:-4] + "AAAA"
    assert "Sign in with Hugging Face first" in forged.submit(file, "C", "lab")
