"""The engine `openai`: no reply is half a one or another's, none waits for ever, and the key stays where it is."""

from __future__ import annotations

import json
import logging
import socket
import threading
import traceback

import pytest

import rrgmetrics
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import EngineName, Message, Prompt, Reply
from rrgmetrics.judges.cache import Cache
from rrgmetrics.judges.engines import load_engine, openai
from rrgmetrics.judges.engines.asking import CachedEngine, ended
from rrgmetrics.judges.engines.secret import Secret

KEY = "sk-invented/KEY+0123456789_abcdef"


def prompts(*texts: str, **keywords) -> list[Prompt]:
    return [Prompt((Message("user", text),), "test@1", **({"max_tokens": 9} | keywords)) for text in texts]


@pytest.fixture
def load(loopback, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(openai, "FIRST_PAUSE", 0.02)

    def make(**options):
        options = {"base_url": loopback.url, "cache": str(tmp_path / "cache"), "timeout": 20.0, "retries": 0} | options
        return load_engine(EngineName("openai", "m"), options=options, progress=False)

    return make


def choice(text, finish=..., index=None, **message) -> dict:
    """A choice as servers write it; `...`: without a finish_reason."""
    made = {"message": {"role": "assistant", "content": text, **message}}
    return made | ({} if finish is ... else {"finish_reason": finish}) | ({} if index is None else {"index": index})


def completion(*choices: dict) -> dict:
    return {"choices": list(choices), "usage": {"completion_tokens": 3}}


def test_a_reply_that_was_cut_off_is_asked_for_once_more_with_room(loopback, load):
    def behave(request, tries):
        whole = request.body["max_tokens"] > 9
        request.send(200, completion(choice("whole" if whole else "wh", "stop" if whole else "length")))

    loopback.reset(behave)
    for _ in range(2):  # the second time from the cache, by the limit that was asked for
        assert load().answer(prompts("a", "b")) == [Reply("whole"), Reply("whole")]
    assert sorted(body["max_tokens"] for body in loopback.bodies) == [9, 9, 18, 18]


@pytest.mark.parametrize("text", ["half of a", None])
def test_a_reply_that_is_cut_off_again_is_none(loopback, load, text):
    loopback.reset(lambda request, tries: request.send(200, completion(choice(text, "length"))))
    for _ in range(2):
        (reply,) = load().answer(prompts("a"))
        assert (reply.text, reply.partial) == (None, text or "")
        assert reply.error == "the reply was cut off at 18 tokens; allow more with max_tokens"
    assert [body["max_tokens"] for body in loopback.bodies] == [9, 18]


def test_a_second_request_that_fails_is_made_again_another_time(loopback, load):
    def behave(request, tries):
        if request.body["max_tokens"] > 9:
            request.send(400, {"error": {"message": "the context has 16 tokens"}})
        else:
            request.send(200, completion(choice("half", "length")))

    loopback.reset(behave)
    for _ in range(2):
        (reply,) = load().answer(prompts("a"))
        assert reply.error.startswith("the reply was cut off at 9 tokens, and again at 18: HTTP 400: the context")
        assert (reply.text, reply.partial) == (None, "half")
    assert [body["max_tokens"] for body in loopback.bodies] == [9, 18, 18]  # the first half is kept


class Ending:
    """A source that answers the first call, and is not there for the second."""

    identity, parameters, facts = "e", {}, {}
    calls = 0

    def stream(self, asked):
        self.calls += 1
        if self.calls > 1:
            raise BackendError("nothing answers")
        yield ended(0, "half", "length", 9)
        yield ended(1, "whole", "stop", 9)


def test_a_server_that_ends_before_the_second_request_costs_no_other_reply():
    cut, whole = CachedEngine(Ending(), progress=False).answer(prompts("a", "b"))
    assert cut == Reply(None, "the reply was cut off at 9 tokens, and again at 18: nothing answers", "half")
    assert (cut.is_pending, whole) == (True, Reply("whole"))


def test_half_a_verdict_is_no_verdict(loopback, tmp_path):
    """GREEN's reply, cut off after the counts: it could be read, and is not."""
    half = "[Clinically Significant Errors]:\n(a) False report of a finding in the candidate: 1. One"
    loopback.reset(lambda request, tries: request.send(200, completion(choice(half, "length"))))
    name = f"green@openai:m?base_url={loopback.url}&cache={tmp_path}&max_tokens=50"
    for _ in range(2):
        result = rrgmetrics.score(name, predictions=["Clear."], references=["Small effusion."], progress=False)[name]
        assert result.n_unscored == 1
        (why,) = result.details["green_unscored"]
        assert why["unscored"].startswith("No reply: the reply was cut off at 100 tokens")
        assert why["replies"] == [half]


@pytest.mark.parametrize("finish", ["content_filter", "tool_calls", "error", 7])
def test_what_ended_otherwise_is_no_reply_and_not_kept(loopback, load, finish):
    loopback.reset(
        lambda request, tries: request.send(200, completion(choice("wrong" if not tries else "right", finish)))
    )
    for text in ("wrong", "right"):
        assert load().answer(prompts("a")) == [Reply(None, f"the reply ended with {finish!r}", text)]
    assert loopback.asked["a"] == 2


@pytest.mark.parametrize("finish", ["stop", None, ..., "", "eos_token", "stop_sequence"])
def test_what_ended_by_itself_or_does_not_say_is_a_reply(loopback, load, finish):
    loopback.reset(lambda request, tries: request.send(200, completion(choice("whole", finish))))
    assert load().answer(prompts("a")) == [Reply("whole")]
    assert loopback.asked["a"] == 1


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ([choice("second", "stop", 1), choice("first", "stop", 0)], "first"),
        ([choice("second", "length", 1), choice("first", "stop", 0)], "first"),
        ([choice("first", "stop"), choice("second", "stop")], "first"),
        ([choice("second", "stop", 1)], None),
    ],
)
def test_the_first_choice_is_the_one_with_index_0(loopback, load, choices, text):
    loopback.reset(lambda request, tries: request.send(200, completion(*choices)))
    (reply,) = load().answer(prompts("a"))
    assert reply.text == text
    assert text or "not a chat completion" in reply.error


@pytest.mark.parametrize("message", [{}, {"refusal": "I cannot help."}])
def test_nothing_said_is_not_kept(loopback, load, message):
    loopback.reset(
        lambda request, tries: request.send(200, completion(choice("x" if tries else None, "stop", **message)))
    )
    (first,), (second,) = load().answer(prompts("a")), load().answer(prompts("a"))
    assert first.text == message.get("refusal")
    assert first.text or "has no text" in first.error
    assert second == Reply("x")


def test_a_second_response_answers_no_other_request(loopback, load):
    """It comes with the first, so that a client that goes on with the connection has it before it asks again."""

    def behave(request, tries):
        text = json.dumps(completion(choice(f"reply to {request.prompt}", "stop"))).encode()
        late = json.dumps(completion(choice("another's reply", "stop"))).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        request.wfile.write(head % len(text) + text + head % len(late) + late)

    loopback.reset(behave)
    names = [str(i) for i in range(8)]
    replies = load(concurrency=1, retries=2).answer(prompts(*names))
    assert [reply.text for reply in replies] == [f"reply to {name}" for name in names]


def test_who_stops_waits_for_no_request(loopback, load, monkeypatch):
    """The second request is under way when the first reply's reader is interrupted."""

    def interrupted(self, record):
        raise KeyboardInterrupt

    loopback.reset(lambda request, tries: request.say("x") if request.prompt == "a" else request.hang())
    monkeypatch.setattr(Cache, "put", interrupted)
    engine, before = load(concurrency=1), set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt) as caught:
        engine.answer(prompts(*"abc"))
    assert caught.tb  # which a notebook keeps, and with it all that was going on
    left = [thread.name for thread in set(threading.enumerate()) - before]
    assert not [name for name in left if "process_request" not in name and name != "tqdm_monitor"]
    assert loopback.asked["c"] == 0


# --- one deadline -----------------------------------------------------------------------------------------------------

GOOD = json.dumps(completion(choice("late", "stop"))).encode()
DRIPPING = {  # what is sent at once, and what byte by byte
    "headers": (
        b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n" % len(GOOD),
        b"x-" + b"y" * 30 + b": z\r\n\r\n",
        GOOD,
    ),
    "body": (b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (len(GOOD) + 30), b" " * 30, GOOD),
    "error": (b"HTTP/1.1 400 No\r\ncontent-length: %d\r\n\r\n" % (len(GOOD) + 30), b" " * 30, GOOD),
    "passing error": (b"HTTP/1.1 500 No\r\ncontent-length: %d\r\n\r\n" % (len(GOOD) + 30), b" " * 30, GOOD),
}


def test_who_drips_gets_no_more_time(loopback, load):
    """Each byte comes in time, and all of them come in the end: late."""

    def behave(request, tries):
        before, slowly, after = DRIPPING[request.prompt]
        request.close_connection = True
        request.wfile.write(before)
        for byte in slowly:
            request.wfile.write(bytes([byte]))
            if request.server.closing.wait(0.08):
                return
        request.wfile.write(after)

    loopback.reset(behave)
    replies = load(timeout=0.8).answer(prompts(*DRIPPING))
    assert [reply.text for reply in replies] == [None] * len(DRIPPING)
    for part, reply in zip(DRIPPING, replies, strict=True):
        assert ("complete in time" if part == "body" else "no reply within 0.8 s") in reply.error, part


def test_a_handshake_that_drips_gets_no_more_time(load):
    """A server that promises a record of TLS and sends it byte by byte; the handshake would fail in the end."""
    ended = threading.Event()

    def serve() -> None:
        with server, server.accept()[0] as connection:
            connection.sendall(b"\x16\x03\x03\x00\x28")
            for _ in range(40):
                try:
                    connection.sendall(b"\0")
                except OSError:  # the client has left
                    break
                if ended.wait(0.08):
                    break

    server = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    (reply,) = load(base_url=f"https://127.0.0.1:{server.getsockname()[1]}/v1", timeout=0.8).answer(prompts("a"))
    ended.set()
    thread.join(10)
    assert reply.error == "no reply within 0.8 s"


# --- the key ----------------------------------------------------------------------------------------------------------

BEARER = f"Bearer {KEY}"
LEAKS = {
    "a reply": lambda request, tries: request.send(200, completion(choice(f"You sent {BEARER}.", "stop"))),
    "a reply, cut off": lambda request, tries: request.send(200, completion(choice(f"You sent {BEARER}", "length"))),
    "a refusal": lambda request, tries: request.send(200, completion(choice(None, "stop", refusal=BEARER))),
    "what ended it": lambda request, tries: request.send(200, completion(choice("x", BEARER))),
    "a header": lambda request, tries: request.send(
        200, completion(choice("x", "stop")), x_authorization=BEARER, retry_after=KEY, x_request_id=KEY
    ),
    "a header of an error": lambda request, tries: request.send(500, {}, retry_after=KEY, x_request_id=BEARER),
    "an error's message": lambda request, tries: request.send(400, {"error": {"message": f"no such key: {BEARER}"}}),
    "an error for all": lambda request, tries: request.send(401, {"error": {"message": f"Incorrect: {KEY}"}}),
    "an error's text": lambda request, tries: request.send(500, f"<html>{'x' * 260} {BEARER}</html>".encode()),
    "an error's long message": lambda request, tries: request.send(
        400, {"error": {"message": "x" * 262 + BEARER + "y" * 99}}
    ),
    "an error's JSON": lambda request, tries: request.send(403, {"authorization": BEARER, "error": {"code": KEY}}),
    "a reason": lambda request, tries: request.wfile.write(
        f"HTTP/1.1 500 {BEARER}\r\ncontent-length: 0\r\n\r\n".encode()
    ),
    "no HTTP": lambda request, tries: request.wfile.write(f"{BEARER} is wrong\r\n\r\n".encode()),
    "a redirect": lambda request, tries: request.send(307, b"", location=f"http://127.0.0.1:9/{KEY}"),
}


@pytest.mark.parametrize("where", LEAKS)
def test_the_key_goes_nowhere(loopback, load, tmp_path, caplog, where):
    loopback.reset(LEAKS[where])
    record = tmp_path / "record.jsonl"
    engine = load(record=str(record), retries=1)
    texts = [repr(engine)]
    with caplog.at_level(logging.DEBUG):
        try:
            texts.append(repr(engine.answer(prompts("a", max_tokens=9))))
        except BackendError as error:
            texts += ["".join(traceback.format_exception(error)), repr(error.__context__), repr(error.__cause__)]
    texts += [caplog.text, *(repr(vars(entry)) for entry in caplog.records)]
    texts += [path.read_text() for path in tmp_path.rglob("*.jsonl")]
    assert {name.lower(): value for name, value in loopback.headers.items()}["authorization"] == BEARER
    assert len(texts) > 3
    for text in texts:
        assert "sk-invented" not in text
        assert "0123456789" not in text


def test_details_and_the_terminal_have_no_key(loopback, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    loopback.reset(LEAKS["a reply"])
    name = f"green@openai:m?base_url={loopback.url}&cache={tmp_path}&explain=yes"
    result = rrgmetrics.score(name, predictions=["Clear."], references=["Small effusion."], progress=False)[name]
    (why,) = result.details["green_unscored"]
    assert why["replies"] == ["You sent Bearer [API key]."]
    assert "sk-invented" not in repr(result.details) + result.signature


@pytest.mark.parametrize(
    ("key", "text", "clean"),
    [
        (KEY, f"a{KEY}b {KEY}", "a[API key]b [API key]"),
        (KEY, json.dumps({"key": KEY}).replace("/", "\\/"), '{"key": "[API key]"}'),
        (KEY, "sk-invented%2FKEY%2B0123456789_abcdef", "[API key]"),
        (KEY, f"cut: {KEY[:20]}... or {KEY[:16]}", "cut: [API key]... or [API key]"),
        (KEY, f"...{KEY[-17:]}", "...[API key]"),
        (KEY, "sk-inv***def", "sk-inv***def"),
        ("none", "none, Bearer none", "none, Bearer [API key]"),
        ("EMPTY", "EMPTY", "EMPTY"),
        ("", "Bearer ", "Bearer "),
    ],
)
def test_a_key_is_taken_out_of_a_text(key, text, clean):
    assert Secret(key).out_of(text) == clean


@pytest.mark.parametrize("key", ["sk-two\nlines-0123456789", "sk-drei-äöü-0123456789"])
def test_a_key_that_no_header_can_hold_is_not_quoted(loopback, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(BackendError, match="OPENAI_API_KEY contains characters that no key has") as caught:
        load_engine(EngineName("openai", "m"), options={"base_url": loopback.url})
    assert "0123456789" not in str(caught.value)


def test_blanks_around_a_key_are_none_of_it(loopback, load, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    assert load().answer(prompts("a")) == [Reply("reply to a")]
    assert {name.lower(): value for name, value in loopback.headers.items()}["authorization"] == BEARER


def test_a_key_instead_of_a_variables_name(loopback, load):
    with pytest.raises(InputError, match="api_key is the name of an environment variable") as caught:
        load(api_key=KEY)
    assert "sk-invented" not in str(caught.value)
