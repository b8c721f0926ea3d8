"""Replicas of a model: what becomes of a request that fails and of an engine that dies; a stand-in answers."""

import sys
import types
from functools import partial
from types import SimpleNamespace

import pytest

from rrgmetrics import BackendError, InputError
from rrgmetrics.judges.base import EngineName
from rrgmetrics.judges.engines import load_engine
from rrgmetrics.judges.engines.replicas import Elsewhere, Question, Replica, ask_all, shares

ELSEWHERE = """
import os
from pathlib import Path

class Model:
    tokenizer, window, n_known = "tokenizer", 30, 99

    def generate(self, questions):
        fatal = Path(__file__).with_name("fatal")
        if fatal.exists():
            fatal.unlink()
            os._exit(9)
        return [(f"{question.number} on {os.environ['CUDA_VISIBLE_DEVICES']}", "stop") for question in questions]
"""


class EngineDeadError(Exception):
    """Called as vLLM's is."""


class StandIn:
    tokenizer, window, n_known = None, 30, 99

    def __init__(self, deaths, poisoned=()):
        self.deaths, self.poisoned, self.calls = deaths, poisoned, []

    def generate(self, questions):
        self.calls.append([question.number for question in questions])
        if self.deaths:
            self.deaths.pop()
            raise EngineDeadError("out of memory")
        if any(question.number in self.poisoned for question in questions):
            raise ValueError("the prompt holds a token that the model lacks")
        return [(str(question.number), "stop") for question in questions]

    def close(self):
        self.calls.append("closed")


def questions(n):
    return [Question(number, [1], {"max_tokens": 5}) for number in range(n)]


def replicas(n, deaths=(), poisoned=()):
    left = list(deaths)
    start = partial(StandIn, left, poisoned)
    return [Replica(start, start()) for _ in range(n)]


@pytest.mark.parametrize("n_replicas", [1, 3])
def test_a_request_that_fails_costs_one_reply(n_replicas):
    made = replicas(n_replicas, poisoned=(4, 11))
    answers = {answer.number: answer for answer in ask_all(made, questions(20), 8)}
    assert sorted(answers) == list(range(20))
    for number, answer in answers.items():
        expected = (None, False) if number in (4, 11) else (str(number), True)
        assert (answer.reply.text, answer.received) == expected
    assert "ValueError: the prompt holds a token" in answers[4].reply.error
    assert all(replica.model.calls for replica in made)  # each had its share


def test_an_engine_that_dies_is_started_once_more(caplog):
    answers = list(ask_all(replicas(1, deaths=[1]), questions(4), 2))
    assert [answer.reply.text for answer in answers] == list("0123")
    assert "The engine stopped (out of memory) and is started again." in caplog.text
    with pytest.raises(BackendError, match="stopped twice, the second time because of: out of memory"):
        list(ask_all(replicas(1, deaths=[1, 2]), questions(4), 2))


def test_replicas_stand_in_processes_with_gpus_of_their_own(tmp_path, monkeypatch):
    (tmp_path / "stand_in_elsewhere.py").write_text(ELSEWHERE)
    monkeypatch.syspath_prepend(tmp_path)
    import stand_in_elsewhere

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,2,5,7")
    starts = [partial(Elsewhere, stand_in_elsewhere.Model, gpus) for gpus in shares(4, 2)]
    made = [Replica(start, start()) for start in starts]
    (tmp_path / "fatal").touch()  # the first that is asked is gone
    try:
        texts = sorted(answer.reply.text for answer in ask_all(made, questions(4), 2))
        assert [text[0] for text in texts] == list("0123")
        assert {text[5:] for text in texts} == {"0,2", "5,7"}
        assert sum(replica.restarted for replica in made) == 1
    finally:
        for replica in made:
            replica.model.close()


def test_replicas_must_share_the_gpus(monkeypatch, tmp_path):
    import torch

    monkeypatch.setitem(sys.modules, "vllm", types.ModuleType("vllm"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    found = SimpleNamespace(folder=tmp_path, identity="a")
    monkeypatch.setattr("rrgmetrics.judges.engines.adapters.find_checkpoint", lambda name, **checks: found)
    for number, message in ((3, "replicas=3 does not divide 4 GPUs"), (-1, "replicas=-1 is too small")):
        with pytest.raises(InputError, match=message):
            load_engine(EngineName("vllm", "org/model"), options={"cache": "no", "replicas": number})
