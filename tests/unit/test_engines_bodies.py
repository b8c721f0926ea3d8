"""What a server may send: bodies of errors and of replies are read up to one limit, packed or not."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from functools import cache

import pytest

from rrgmetrics.judges.engines import openai
from rrgmetrics.judges.engines.model_names import is_same_model

from .test_engines_openai import load, prompts

__all__ = ["load"]  # a fixture
MOST = 8 * openai.MAX_BYTES  # what one request may hold at most: the body, and copies of it
BOMB = 2 * MOST  # bytes, unpacked
ENDLESS = 200_000_000  # bytes that a server sends where nobody hangs up


@cache
def packed(text: bytes) -> bytes:
    """The text and a bomb of spaces, as gzip; a million at a time."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(
        [packer.compress(text), *(packer.compress(b" " * 1_000_000) for _ in range(BOMB // 1_000_000)), packer.flush()]
    )


BODIES = {  # what comes before the spaces → what the reply's error says
    "a reply": (200, b'{"choices": [{"message": {"content": "x"}}]}', "more than 1,000,000 characters"),
    "a refusal": (400, b'{"error": {"message": "no"}}', "HTTP 400"),
    "a failure": (500, b'{"error": {"message": "no"}}', "HTTP 500"),
}


@pytest.fixture
def peak(load):
    """The most memory that Python held since the test began, in bytes."""
    load().answer(prompts("first"))  # imports the client
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("kind", "encoding"), [*((kind, "gzip") for kind in BODIES), ("a reply", "x-gzip"), ("a reply", "GZIP")]
)
def test_a_body_is_unpacked_up_to_the_limit(loopback, load, peak, kind, encoding):
    status, start, said = BODIES[kind]
    bomb = packed(start)
    loopback.reset(lambda request, tries: request.send(status, bomb, content_encoding=encoding))
    (reply,) = load(retries=0, timeout=20.0).answer(prompts("x"))
    assert reply.text is None
    assert said in reply.error
    assert peak() < MOST


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_body_without_end_is_read_up_to_the_limit(loopback, load, peak, status):
    sent = []

    def pour(request, tries):
        request.send_response(status)
        request.send_header("content-type", "application/json")
        request.end_headers()
        request.close_connection = True
        while sum(sent) < ENDLESS:
            sent.append(request.wfile.write(b" " * 1_000_000))

    loopback.reset(pour)
    (reply,) = load(retries=0, timeout=20.0).answer(prompts("x"))
    assert reply.text is None
    assert peak() < MOST
    assert sum(sent) < ENDLESS / 4  # the client has hung up


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "identity"])
def test_a_packed_reply_is_a_reply(loopback, load, encoding):
    body = json.dumps({"choices": [{"message": {"content": "An effusion."}}]}).encode()
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes}[encoding]
    loopback.reset(lambda request, tries: request.send(200, pack(body), content_encoding=encoding))
    assert load().answer(prompts("x"))[0].text == "An effusion."
    assert loopback.headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize(("encoding", "body"), [("gzip", b"no gzip"), ("br", b"\x0b\x02\x80"), ("gzip, gzip", b"x")])
@pytest.mark.parametrize("status", [200, 400])
def test_what_cannot_be_unpacked_is_no_reply(loopback, load, encoding, body, status):
    loopback.reset(lambda request, tries: request.send(status, body, content_encoding=encoding))
    (reply,) = load(retries=0).answer(prompts("x"))
    assert reply.text is None
    assert (f"HTTP {status}" if status == 400 else "not a chat completion") in reply.error


@pytest.mark.parametrize("status", [400, 401, 500])
def test_an_error_whose_body_breaks_off_is_still_an_error(loopback, load, status):
    """What is left of a good reply is none; an error's status says all."""
    loopback.reset(lambda request, tries: request.send(status, b"no", missing=99))
    loopback.reset(once_good(loopback.behave))
    first, second = load(retries=0, concurrency=1).answer(prompts("good", "x"))
    assert first.text == "good"
    assert f"HTTP {status}" in second.error


def once_good(behave):
    return lambda request, tries: request.say("good") if request.prompt == "good" else behave(request, tries)


# --- whose answer it is -----------------------------------------------------------------------------------------------


def say_as(model, text="An effusion."):
    body = {"choices": [{"message": {"content": text}}]} | ({} if model is None else {"model": model})
    return lambda request, tries: request.send(200, body)


SAME = [  # asked, answered: the same model, as servers name it
    ("gpt-4o", "gpt-4o"),
    ("gpt-4o", "gpt-4o-2024-08-06"),
    ("gpt-4", "gpt-4-0613"),
    ("gpt-4-0613", "gpt-4"),
    ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
    ("gemini-1.5-pro", "gemini-1.5-pro-002"),
    ("gemini-1.5-pro", "models/gemini-1.5-pro-002"),
    ("gemini-2.5-flash", "gemini-2.5-flash-preview-05-20"),
    ("llama3", "llama3:latest"),
    ("mistral-large", "mistral-large-2411"),
    ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct"),
    ("llama-3.1-8b-instruct", "accounts/fireworks/models/llama-3.1-8b-instruct"),
    ("qwen2.5-7b", "/models/Qwen2.5-7B.Q4_K_M.gguf"),
    ("qwen2.5-7b", r"C:\models\qwen2.5-7b-f16.gguf"),
    ("org/name", "/home/me/.cache/huggingface/hub/models--org--name/snapshots/0a1b2c"),
    ("/models/green", "green"),
]
OTHER = [
    ("gpt-4o", "gpt-4o-mini"),
    ("gpt-4o", "gpt-4o-mini-2024-07-18"),
    ("gpt-4", "gpt-4-turbo"),
    ("gpt-4", "gpt-4.1"),
    ("gpt-4.1", "gpt-4.1-nano-2025-04-14"),
    ("gpt-4o-2024-08-06", "gpt-4o-2024-05-13"),
    ("qwen2.5-7b", "qwen2.5-72b"),
    ("qwen2.5-7b-instruct", "qwen2.5-7b"),
    ("llama3:70b", "llama3:8b"),
    ("llama3", "llama3:70b"),
    ("good/name", "evil/name"),
    ("m", "n"),
]


@pytest.mark.parametrize(("asked", "answers", "same"), [*((*n, True) for n in SAME), *((*n, False) for n in OTHER)])
def test_names_of_one_model(asked, answers, same):
    assert is_same_model(asked, answers) == same


@pytest.mark.parametrize(("asked", "answers"), [*SAME[1:2], ("m", None), ("m", ""), ("m", 7)])
def test_an_answer_of_the_model_that_was_asked(loopback, load, asked, answers):
    loopback.reset(say_as(answers))
    assert load(asked).answer(prompts("x"))[0].text == "An effusion."


@pytest.mark.parametrize(("asked", "answers"), OTHER[:1])
def test_an_answer_of_another_model_is_none(loopback, load, asked, answers):
    loopback.reset(say_as(answers))
    (reply,) = load(asked).answer(prompts("x"))
    assert reply.text is None
    assert reply.is_pending
    assert repr(answers) in reply.error
    assert "answers_as=" in reply.error
    assert sum(loopback.asked.values()) == 1  # asked again it would cost again


@pytest.mark.parametrize("allowed", ["other", "any"])
def test_another_name_can_be_allowed(loopback, load, allowed):
    loopback.reset(say_as("other"))
    assert load(answers_as=allowed).answer(prompts("x"))[0].text == "An effusion."


def test_a_name_that_is_allowed_is_the_only_one(loopback, load):
    loopback.reset(say_as("m"))
    assert load(answers_as="other").answer(prompts("x"))[0].text is None


def test_a_server_of_another_model_is_not_paid_for_every_prompt(loopback, load):
    loopback.reset(say_as("other"))
    replies = load(concurrency=4).answer(prompts(*(f"x{i}" for i in range(100))))
    assert all("'other'" in reply.error and reply.is_pending for reply in replies)
    assert sum(loopback.asked.values()) <= 8


def test_one_answer_of_another_model_ends_nothing(loopback, load, tmp_path):
    """A gateway that falls back to another model now and then: the next call asks it about that prompt again."""

    def behave(request, tries):
        say_as("other" if request.prompt == "x5" and not tries else "m", f"reply to {request.prompt}")(request, tries)

    loopback.reset(behave)
    engine = load(concurrency=1, cache=str(tmp_path))
    texts = [f"x{i}" for i in range(10)]
    assert [reply.text is None for reply in engine.answer(prompts(*texts))] == [text == "x5" for text in texts]
    assert [reply.text for reply in engine.answer(prompts(*texts))] == [f"reply to {text}" for text in texts]
    assert loopback.asked == {text: 1 + (text == "x5") for text in texts}


TWICE = {
    "choices": b'{"choices": [{"message": {"content": "a"}}], "choices": [{"message": {"content": "b"}}]}',
    "content": b'{"choices": [{"message": {"content": "a", "content": "b"}}]}',
    "message": b'{"choices": [{"message": {"content": "a"}, "message": {"content": "b"}}]}',
    "model": b'{"model": "m", "model": "n", "choices": [{"message": {"content": "a"}}]}',
    "finish_reason": b'{"choices": [{"finish_reason": "stop", "finish_reason": "stop", "message": {"content": "a"}}]}',
}


@pytest.mark.parametrize("key", TWICE)
def test_a_key_that_stands_twice_makes_no_reply(loopback, load, key):
    loopback.reset(lambda request, tries: request.send(200, TWICE[key]))
    (reply,) = load(retries=1).answer(prompts("x"))
    assert reply.text is None
    assert f"the key {key!r} occurs twice" in reply.error


def test_what_is_not_read_may_stand_twice(loopback, load):
    body = b'{"timings": {"a": 1, "a": 2}, "choices": [{"message": {"content": "b"}}]}'
    loopback.reset(lambda request, tries: request.send(200, body))
    assert load().answer(prompts("x"))[0].text == "b"
