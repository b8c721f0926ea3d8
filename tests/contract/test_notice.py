"""One notice a process says which stand-ins ran: on standard error or in the log, never on standard output."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from threading import Event, Lock
from types import SimpleNamespace

import pytest

import rrgmetrics
from rrgmetrics.reporting.short import STAND_IN_NOTE
from rrgmetrics.scoring import notice
from rrgmetrics.specs.names import parse_name

SCORE = """
import logging, sys
import rrgmetrics

{before}
for name in sys.argv[1:]:
    rrgmetrics.score(name.split(), predictions=["Clear lungs."], references=["Lungs are clear."], progress=False)
"""
PAIR = {"predictions": ["Clear lungs."], "references": ["Lungs are clear."], "progress": False}


@pytest.fixture
def run(tmp_path):
    """Runs Python in a fresh process; what it wrote to standard output and to standard error."""

    def python(*arguments: str, **environment: str) -> tuple[str, str]:
        kept = {key: value for key, value in os.environ.items() if key != notice.VARIABLE}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=kept | environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        )
        return done.stdout, done.stderr

    return python


def scored(run, *names: str, before: str = "", **environment: str) -> tuple[str, str]:
    return run("-c", SCORE.format(before=before), *names, **environment)


def test_a_script_is_told_once(run):
    out, err = scored(run, "bleu", "green bleu chexprompt green?parser=strict", "green", "temporal_f1")
    assert out == ""
    assert err == (
        "green, chexprompt and green?parser=strict ran as bundled stand-ins; their scores are not comparable with "
        "published scores. green@paper gives the published setting; chexprompt needs an engine: "
        "chexprompt@openai:<model>. This message appears once; RRGMETRICS_NOTICE=no turns it off.\n"
    )


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("", {notice.VARIABLE: "no"}),
        ("logging.getLogger('rrgmetrics.notice').disabled = True", {}),
        ("logging.getLogger('rrgmetrics').setLevel('ERROR')", {}),
        ("", {"RANK": "1"}),  # of processes that train together the first speaks
    ],
)
def test_it_can_be_turned_off(run, before, environment):
    assert scored(run, "green", before=before, **environment) == ("", "")


def test_what_stands_in_for_nothing_is_not_named(run):
    assert scored(run, "bleu finding_errors temporal_f1@paper") == ("", "")


def test_the_command_line_says_it_in_tables_and_else_on_standard_error(run, tmp_path):
    (tmp_path / "pairs.csv").write_text("study_id,reference,candidate\n1,Lungs are clear.,Clear lungs.\n")
    command = ("-m", "rrgmetrics", "score", "pairs.csv", "--metrics", "green", "--trials", "100", "--no-progress")
    out, err = run(*command)
    assert (" ".join(out.split()).count(STAND_IN_NOTE), err) == (1, "")
    command += ("--no-trivial", "--format", "csv")
    out, err = run(*command)
    assert err.startswith(
        "green ran as a bundled stand-in; its scores are not comparable with published scores. green@paper"
    )
    assert err.count("\n") == 1
    assert run(*command, **{notice.VARIABLE: "no"}) == (out, "")


# --- in this process


@pytest.fixture
def unsaid(monkeypatch):
    monkeypatch.setattr(notice, "_once", Lock())
    monkeypatch.delenv(notice.VARIABLE, raising=False)


def messages(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == notice.logger.name]


def test_of_several_workers_the_first_says_it(run, tmp_path):
    (tmp_path / "pool.py").write_text(
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from multiprocessing import get_context\n"
        "import rrgmetrics\n"
        "def start(barrier):\n"
        "    global both\n"
        "    both = barrier\n"
        "def work(_):\n"
        "    rrgmetrics.score('temporal_f1', predictions=['Edema.'], references=['Edema.'], progress=False)\n"
        "    both.wait(60)\n"
        "if __name__ == '__main__':\n"
        "    spawn = get_context('spawn')\n"
        "    with ProcessPoolExecutor(2, spawn, initializer=start, initargs=(spawn.Barrier(2),)) as pool:\n"
        "        list(pool.map(work, range(2)))\n"
    )
    assert run("pool.py")[1].count("ran as a bundled stand-in") == 1


def test_whoever_has_set_logging_up_gets_it_there(unsaid, caplog):
    for _ in range(2):
        rrgmetrics.score("green", **PAIR)
    (message,) = messages(caplog)
    assert message == notice.words([parse_name("green")])
    assert caplog.records[0].levelno == logging.WARNING


def test_it_waits_until_somebody_listens(unsaid, caplog):
    logging.disable(logging.CRITICAL)  # as the leaderboard's worker does while it scores
    try:
        rrgmetrics.score("green", **PAIR)
    finally:
        logging.disable(logging.NOTSET)
    assert messages(caplog) == []
    rrgmetrics.score("green", **PAIR)
    assert len(messages(caplog)) == 1


def test_evaluate_and_training_say_it_too(unsaid, caplog):
    rrgmetrics.load("green").compute(predictions=["Clear lungs."], references=["Lungs are clear."], progress=False)
    from rrgmetrics.callbacks import ReportMetrics

    metrics = ReportMetrics(["green"])
    metrics.update(["Clear lungs."], ["Lungs are clear."])
    metrics.compute()
    assert len(messages(caplog)) == 1


def test_what_is_scored_in_the_background_is_named_here_and_not_by_the_child(unsaid, caplog, monkeypatch):
    from rrgmetrics.callbacks import background
    from rrgmetrics.reports import Pair

    environments = []

    def popen(*_, env, **__):
        environments.append(env)
        return SimpleNamespace(stdin=io.BytesIO())

    monkeypatch.setattr(background.subprocess, "Popen", popen)
    background.Background().submit("eval", 1, ["green"], [Pair("Lungs are clear.", "Clear lungs.")])
    assert len(messages(caplog)) == 1
    assert [environment[notice.VARIABLE] for environment in environments] == ["no"]


def test_a_worker_beside_the_board_says_nothing(monkeypatch, tmp_path):
    pytest.importorskip("sqlalchemy")
    from rrgmetrics.spaces.leaderboard import commands, create_board

    class Worker:
        stdin = io.BytesIO()

        def __init__(self, command, stdin, env):
            environments.append(env)
            started.set()

        def wait(self, timeout=None):
            return 0

        terminate = wait

    environments: list[dict[str, str]] = []
    started = Event()
    monkeypatch.setattr(commands.child.subprocess, "Popen", Worker)
    rows = [{"study_id": str(n), "report": "Clear lungs."} for n in range(3)]
    references = tmp_path / "references.jsonl"
    references.write_text("\n".join(map(json.dumps, rows)))
    made = create_board(tmp_path / "board.sqlite", references=references, metrics=["rouge"], trials=100)
    with commands._worker_beside(made.board):
        assert started.wait(100)
    made.board.close()
    assert environments[0][notice.VARIABLE] == "no"
