"""A judge that is down: the job fails, what was answered is kept, and what is refused is no outage."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rrgmetrics import InputError, cli
from rrgmetrics.spaces.leaderboard import jobs

from ...helpers.green_replies import green_reply
from .conftest import REFERENCES
from .test_queue import states

N = len(REFERENCES)
REPORTS = [f"Small left pleural effusion {i}." for i in range(N)]


class Judge(ThreadingHTTPServer):
    """A server of judges that answers with `answer(text, tries)`: a status, or a text."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Asked)
        self.asked = Counter()
        self.answer = lambda text, tries: green_reply()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        """Clients that leave are part of the test."""


class Asked(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][-1]["content"]
        self.server.asked[text] += 1
        said = self.server.answer(text, self.server.asked[text] - 1)
        if said is None:
            self.close_connection = True
            return
        status = said if isinstance(said, int) else 200
        message = {"message": {"content": "no" if status != 200 else said}, "finish_reason": "stop", "index": 0}
        content = json.dumps({"choices": [message]} if status == 200 else {"error": {"message": "no"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def judge():
    server = Judge()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["sqlite", "postgresql"])
def judged(request, judge, make_board, monkeypatch, tmp_path):
    """A board with a judge and a metric without one, that does not wait between its tries."""
    monkeypatch.setattr(jobs, "RETRY_SECONDS", (0.0,))
    name = f"g=green@openai:m?base_url={judge.url}&api_key=NO_KEY&retries=0&concurrency=1&timeout=5"
    if request.param == "sqlite":
        return make_board(metrics=("rouge", name))
    url = request.getfixturevalue("postgres_url")
    return make_board(metrics=("rouge", f"{name}&cache={tmp_path / 'replies'}"), place=url)


def n_unscored(board):
    return list(board.standings().systems[0].n_unscored.values())


DOWN = {"fails": 500, "is busy": 429, "hangs up": None, "refuses the key": 401, "refuses all": 400}


def on_a_board(ways):
    """Each way of a judge with SQLite, and the first with PostgreSQL too."""
    cases = [("sqlite", way) for way in ways] + [("postgresql", next(iter(ways)))]
    return pytest.mark.parametrize(("judged", "how"), cases, indirect=["judged"])


@on_a_board(DOWN)
def test_a_judge_that_is_down_leaves_the_job_failed(judge, judged, send, work_off, how):
    judge.answer = lambda text, tries: DOWN[how]
    id = send(judged, "A", REPORTS)
    work_off(judged)
    assert states(judged) == ["failed"]
    message = judged.progress(id).message
    assert "queue the submission again" in message
    assert "Scored" not in message
    with pytest.raises(InputError, match="has no scores yet"):
        judged.system(id)
    judge.answer = lambda text, tries: green_reply()
    judged.retry(id)
    work_off(judged)
    assert states(judged) == ["done"]
    assert (judged.progress(id).message, n_unscored(judged)) == ("Scored.", [0, 0])


def test_an_outage_in_the_middle_costs_nothing_twice(judge, judged, send, work_off):
    """What was answered before and after is not asked again; nothing is recorded until all of it is there."""
    judge.answer = lambda text, tries: 503 if "effusion 5." in text or "effusion 7." in text else green_reply()
    id = send(judged, "A", REPORTS)
    log = work_off(judged)
    assert states(judged) == ["failed"]
    assert f"2 of {N} studies" in judged.progress(id).message
    assert [line.rpartition("; ")[2] for line in log] == ["queued", "queued", "failed"]
    assert sorted(judge.asked.values()) == [1] * (N - 2) + [jobs.MAX_ERRORS] * 2
    before = judge.asked.copy()
    judge.answer = lambda text, tries: green_reply()
    judged.retry(id)
    work_off(judged)
    assert states(judged) == ["done"]
    assert sorted((judge.asked - before).values()) == [1, 1]
    assert n_unscored(judged) == [0, 0]


def test_an_outage_that_passes_needs_nobody(judge, judged, send, work_off):
    judge.answer = lambda text, tries: green_reply() if tries else 503
    id = send(judged, "A", REPORTS)
    work_off(judged)
    assert (states(judged), judged.progress(id).message) == (["done"], "Scored.")


REFUSED = {"is refused": 400, "is too long": 413, "gets no verdict": "I would rather not.", "gets nothing": ""}


@on_a_board(REFUSED)
def test_a_pair_that_is_rightly_unscored_is_no_outage(judge, judged, send, work_off, how):
    judge.answer = lambda text, tries: REFUSED[how] if "effusion 5." in text else green_reply()
    id = send(judged, "A", REPORTS)
    work_off(judged)
    assert states(judged) == ["done"]
    assert judged.progress(id).message == f"Scored; 1 of {N} studies has no score in GREEN."
    assert n_unscored(judged) == [0, 1]


def test_what_has_unscored_pairs_can_be_tried_again(judge, judged, send, work_off):
    """Its scores stay until there are new ones, and intervals and tests are computed anew."""
    judge.answer = lambda text, tries: 400 if "effusion 5." in text else green_reply()
    id = send(judged, "A", REPORTS)
    send(judged, "B", [f"Effusion {i}." for i in range(N)])
    work_off(judged)
    assert n_unscored(judged) == [0, 1]
    judged.retry(id)
    assert states(judged) == ["queued", "done"]
    assert judged.progress(id).state == "queued"
    assert n_unscored(judged) == [0, 1]
    judge.answer = lambda text, tries: green_reply()
    before = sum(judge.asked.values())
    work_off(judged)
    assert sum(judge.asked.values()) == before + 1
    assert states(judged) == ["done", "done"]
    assert n_unscored(judged) == [0, 0]
    assert judged.standings().n_common == dict.fromkeys(judged.names(), N)
    with pytest.raises(InputError, match="has not failed"):
        judged.retry(id)


def test_all_that_failed_is_queued_again_at_once(judge, judged, send, work_off, capsys):
    judge.answer = lambda text, tries: 500
    for name in "AB":
        send(judged, name, [f"{name} {report}" for report in REPORTS])
    work_off(judged)
    assert states(judged) == ["failed", "failed"]
    judge.answer = lambda text, tries: green_reply()
    assert cli.main(["leaderboard", "retry", judged.place, "--all"]) == 0
    assert "2 submissions are queued again" in capsys.readouterr().out
    work_off(judged)
    assert states(judged) == ["done", "done"]
    with pytest.raises(SystemExit):
        cli.main(["leaderboard", "retry", judged.place])


@pytest.mark.parametrize("judged", ["sqlite"], indirect=True)
def test_a_worker_says_what_waits_and_gives_no_advice_of_other_commands(judge, judged, send, monkeypatch, capsys):
    monkeypatch.setattr(jobs, "RETRY_SECONDS", (600.0,))
    judge.answer = lambda text, tries: 500
    send(judged, "A", REPORTS)
    assert cli.main(["leaderboard", "work", judged.place, "--once"]) == 4
    said = capsys.readouterr().err
    assert "0 recorded, 1 still in the queue" in said
    assert "submission again; queued" in said
    assert f"0 of {N} pairs scored.\n" in said
    judge.answer = lambda text, tries: "I would rather not." if "effusion 5." in text else green_reply()
    send(judged, "B", [f"{report} " for report in REPORTS])
    assert cli.main(["leaderboard", "work", judged.place, "--once"]) == 3
    said = capsys.readouterr().err
    assert "1 recorded, 1 still in the queue" in said
    assert "cannot be parsed.\n" in said
    assert cli.main(["leaderboard", "show", judged.place]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"GREEN: systems are compared on the {N - 1} of {N} studies that all have scored." in shown
    assert "ROUGE: systems" not in shown
