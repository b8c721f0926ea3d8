"""The engine `openai` against a server that misbehaves: every prompt ends with a reply or a reason, none swapped."""

from __future__ import annotations

import logging
import socket
import struct
import threading
import time

import pytest

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import EngineName, Message, Prompt
from rrgmetrics.judges.engines import hosts, load_engine, openai

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def prompts(*texts: str, **keywords) -> list[Prompt]:
    return [Prompt((Message("system", "s"), Message("user", text)), "test@1", **keywords) for text in texts]


@pytest.fixture
def load(loopback, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(openai, "FIRST_PAUSE", 0.02)

    def make(model: str = "m", **options):
        options = {"base_url": loopback.url, "cache": "no", "timeout": 1.0, "retries": 2} | options
        return load_engine(EngineName("openai", model), options=options, progress=False)

    return make


def once(behave):
    """Misbehaves at the first try only."""
    return lambda request, tries: behave(request, tries) if not tries else request.say(f"reply to {request.prompt}")


def late(request, tries):
    time.sleep(0.3)
    request.say(f"reply to {request.prompt}")


def drop(request, tries):
    request.close_connection = True


def reset(request):
    """Ends the connection at once, an error without words in the client."""
    request.close_connection = True
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.connection.close()


def hang(request):
    request.hang()


def dribble(request):
    request.send_response(200)
    request.send_header("content-length", "1000")
    request.end_headers()
    for _ in range(60):
        request.wfile.write(b" ")
        request.wfile.flush()
        if request.server.closing.wait(0.1):
            break
    request.close_connection = True


CUT = b'{"choices": [{"message": {"content": "half of a re'
MISBEHAVIOUR = {  # what the server does → the reply, or what the error says
    "good": (lambda request, tries: request.say(f"reply to {request.prompt}"), None),
    "late": (late, None),
    "500 once": (once(lambda request, tries: request.send(500, {"error": {"message": "oops"}})), None),
    "500": (lambda request, tries: request.send(500, {"error": {"message": "oops"}}), "HTTP 500: oops"),
    "429 once": (once(lambda request, tries: request.send(429, {}, retry_after="0.2")), None),
    "429 for an hour": (lambda request, tries: request.send(429, {}, retry_after="3600"), "HTTP 429"),
    "hangs once": (once(lambda request, tries: request.hang()), None),
    "truncated once": (once(lambda request, tries: request.send(200, CUT)), None),
    "truncated": (lambda request, tries: request.send(200, CUT), "not a chat completion"),
    "broken off": (lambda request, tries: request.send(200, CUT, missing=99), "was interrupted"),
    "drops": (drop, "connection broke"),
    "resets": (lambda request, tries: reset(request), "connection broke: ReadError"),
    "HTML": (lambda request, tries: request.send(200, b"<html>"), "not a chat completion"),
    "no choices": (lambda request, tries: request.send(200, {"choices": []}), "not a chat completion"),
    "list": (lambda request, tries: request.send(200, [1]), "not a chat completion"),
    "number": (lambda request, tries: request.say(7), "has no text"),
    "refuses": (lambda request, tries: request.say(None, refusal="I cannot help."), "I cannot help."),
    "says nothing": (lambda request, tries: request.say(None), "has no text"),
    "says an empty text": (lambda request, tries: request.say(""), ""),
    "5 MB": (lambda request, tries: request.say("x" * 5_000_000), "more than 1,000,000 characters"),
    "400": (lambda request, tries: request.send(400, {"error": {"message": "too long"}}), "HTTP 400: too long"),
    "redirect": (lambda request, tries: request.send(307, b"", location="http://example.org/v1"), "HTTP 307"),
}
TEXTS = {"refuses", "says an empty text"}  # received, if unusable


def test_every_prompt_ends_with_a_reply_or_a_reason(loopback, load):
    names = [f"{name} #{i}" for i in range(2) for name in MISBEHAVIOUR]
    loopback.reset(lambda request, tries: MISBEHAVIOUR[request.prompt.split(" #")[0]][0](request, tries))
    replies = load(concurrency=24, timeout=2.0).answer(prompts(*names))
    for name, reply in zip(names, replies, strict=True):
        kind = name.split(" #")[0]
        expected = MISBEHAVIOUR[kind][1]
        if expected is None or kind in TEXTS:
            assert (reply.text, reply.error) == (f"reply to {name}" if expected is None else expected, None)
        else:
            assert reply.text is None, name
            assert expected in reply.error
    assert max(loopback.asked.values()) == 3
    assert loopback.asked["5 MB #0"] == loopback.asked["400 #0"] == loopback.asked["429 for an hour #0"] == 1


def test_a_reply_that_never_ends_is_waited_for_as_often_as_others(loopback, load):
    endless = {"hangs": (hang, "no reply within 0.5 s"), "dribbles": (dribble, "not complete in time")}
    loopback.reset(lambda request, tries: endless[request.prompt][0](request))
    replies = load(concurrency=2, timeout=0.5, retries=1).answer(prompts(*endless))
    for (name, (_, expected)), reply in zip(endless.items(), replies, strict=True):
        assert reply.text is None, name
        assert expected in reply.error
    assert loopback.asked == dict.fromkeys(endless, 2)


def test_a_pause_asked_for_holds_up_all_requests(loopback, load):
    together = threading.Barrier(4)  # all four are there before the first is turned away

    def behave(request, tries):
        if tries:
            request.say("x")
        else:
            together.wait(10)
            request.send(429, {}, retry_after="0.5")

    loopback.reset(behave)
    load(concurrency=4, timeout=10.0).answer(prompts(*"abcd"))
    times = sorted(loopback.times)
    assert len(times) == 8
    assert times[4] - times[3] > 0.4


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("offered", ["json_schema", "json_object", None])
def test_json_is_asked_for_where_the_server_offers_it(loopback, load, offered, status):
    def behave(request, tries):
        wanted = request.body.get("response_format", {}).get("type")
        fine = wanted in (offered, None)
        request.say("{}") if fine else request.send(status, {"error": {"message": "response_format: unknown"}})

    loopback.reset(behave)
    replies = load(concurrency=1).answer([*prompts("a", "b", json_schema=SCHEMA), *prompts("c")])
    assert [reply.text for reply in replies] == ["{}"] * 3
    modes = [body.get("response_format", {}).get("type") for body in loopback.bodies]
    chain = ["json_schema", "json_object", None]
    assert modes == [*chain[: chain.index(offered) + 1], offered, None]
    if offered == "json_schema":
        assert loopback.bodies[0]["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_server_that_fails_at_a_schema_is_asked_without(loopback, load):
    loopback.reset(
        lambda request, tries: request.send(500, {}) if "response_format" in request.body else request.say("x")
    )
    replies = load(concurrency=1).answer(prompts("a", "b", json_schema=SCHEMA))
    assert [reply.text for reply in replies] == ["x", "x"]
    assert ["response_format" in body for body in loopback.bodies] == [True, True, False, False]


def test_a_new_name_for_the_longest_reply(loopback, load):
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    loopback.reset(
        lambda request, tries: (
            request.say("x") if "max_tokens" not in request.body else request.send(400, {"error": {"message": message}})
        )
    )
    replies = load(concurrency=1).answer(prompts("a", "b", max_tokens=9))
    assert [reply.text for reply in replies] == ["x", "x"]
    assert [body.get("max_completion_tokens") for body in loopback.bodies] == [None, 9, 9]


def test_a_new_name_for_the_longest_reply_learned_by_all_at_once(loopback, load):
    together = threading.Barrier(4)  # all four have used the old name before the first is told
    message = "Use 'max_completion_tokens' instead."

    def behave(request, tries):
        if "max_tokens" in request.body:
            together.wait(10)
            request.send(400, {"error": {"message": message}})
        else:
            request.say("x")

    loopback.reset(behave)
    assert [reply.text for reply in load(concurrency=4, timeout=20.0).answer(prompts(*"abcd"))] == ["x"] * 4


def test_what_is_sent(loopback, load, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # nothing listens: a request by it would fail
    engine = load("org/model", api_key="MY_KEY", temperature=0.5, max_tokens=12)
    assert engine.answer(prompts("Ω?"))[0].text == "reply to Ω?"
    body = loopback.bodies[0]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("org/model", 0.5, 12)
    assert body["messages"] == [{"role": "system", "content": "s"}, {"role": "user", "content": "Ω?"}]
    assert (
        loopback.headers["authorization" if "authorization" in loopback.headers else "Authorization"] == "Bearer secret"
    )
    assert "secret" not in repr(engine)
    assert engine.identity == "openai:org/model"
    assert engine.parameters == {"base_url": loopback.url, "temperature": 0.5, "max_tokens": 12}


def test_top_p_is_sent_and_is_another_question(loopback, load, tmp_path):
    """CREPE's labels: temperature 1, top_p 0.95. Without it nothing changes, and earlier replies are known."""
    options = {"temperature": 1.0, "cache": str(tmp_path)}
    whole, drawn = load(**options), load(top_p=0.95, **options)
    whole.answer(prompts("a"))
    drawn.answer(prompts("a"))
    load(**options).answer(prompts("a"))
    assert [body.get("top_p") for body in loopback.bodies] == [None, 0.95]
    assert "top_p" not in whole.parameters
    assert drawn.facts["top_p"] == "0.95"


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_is_wrong_with_every_request_is_said_at_once(loopback, load, status):
    loopback.reset(lambda request, tries: request.send(status, {"error": {"message": "no such model"}}))
    with pytest.raises(BackendError, match=f"openai:m at {loopback.url} refuses every request .HTTP {status}: no such"):
        load().answer(prompts(*map(str, range(100))))
    assert sum(loopback.asked.values()) <= 32


@pytest.mark.parametrize(("key", "fault"), [("sk-wrong", "contains a key that was refused"), ("", "contains no key")])
def test_the_variable_of_a_refused_key_is_named(loopback, load, monkeypatch, key, fault):
    monkeypatch.setenv("JUDGE_KEY", key)
    loopback.reset(lambda request, tries: request.send(401, {"error": {"message": f"Wrong key: {key}"}}))
    with pytest.raises(BackendError, match=f"; the environment variable JUDGE_KEY {fault}\\)\\.$") as refused:
        load(api_key="JUDGE_KEY").answer(prompts("a"))
    assert "sk-wrong" not in str(refused.value)


def test_nothing_listens(load):
    with pytest.raises(BackendError, match=r"no answer from http://127.0.0.1:9/v1 .* start the server"):
        load(base_url="http://127.0.0.1:9/v1").answer(prompts("a", "b"))


def test_a_server_that_died_is_not_waited_for_with_every_prompt(loopback, load, caplog):
    loopback.reset(lambda request, tries: request.send(500, {}))
    replies = load(concurrency=2, retries=3).answer(prompts(*map(str, range(40))))
    assert all(reply.text is None for reply in replies)
    assert sum(loopback.asked.values()) < 8 + 40 + 4
    assert "openai:m: 40 of 40 prompts have no reply; the first: HTTP 500" in caplog.text


def test_many_at_a_time(loopback, load):
    together = threading.Barrier(32)  # nobody is answered before as many are there

    def behave(request, tries):
        together.wait(60)
        request.say(request.prompt)

    loopback.reset(behave)
    names = [str(i) for i in range(64)]
    assert [reply.text for reply in load(concurrency=32, timeout=60.0).answer(prompts(*names))] == names


def test_without_a_key_or_an_address(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(BackendError, match="OPENAI_API_KEY contains no key"):
        load_engine(EngineName("openai", "gpt"), options={})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "127.0.0.1:8000"}, "is not an address"),
        ({"base_url": "http://user:word@host/v1"}, "contains a password"),
        ({"concurrency": 0}, "concurrency=0 is too small"),
        ({"timeout": 0.0}, "timeout=0.0 is too small"),
        ({"retries": -1}, "retries=-1 is too small"),
        ({"temperature": -0.1}, "temperature=-0.1 is too small"),
        ({"top_p": 0.0}, "top_p=0.0 is not a probability mass"),
        ({"top_p": 1.5}, "top_p=1.5 is not a probability mass"),
        ({"record": "/no/such/folder/file.jsonl"}, "not a file in an existing folder"),
    ],
)
def test_options_are_checked_before_any_work(options, message):
    with pytest.raises(InputError, match=message):
        load_engine(EngineName("openai", "m"), options={"base_url": "http://127.0.0.1:9/v1"} | options)


def test_a_remote_host_is_named_once(caplog, monkeypatch):
    monkeypatch.setattr(hosts, "_told", set())
    with caplog.at_level(logging.WARNING, "rrgmetrics"):
        for address in ("http://localhost:1/v1", "http://127.0.0.9/v1", "http://[::1]:1", "https://api.example.org/v1"):
            hosts.tell_host(address, "openai:m")
            hosts.tell_host(address, "openai:m")
    assert caplog.messages == ["openai:m: the reports are sent to api.example.org."]


@pytest.mark.parametrize(
    ("header", "seconds"), [("2", 2.0), ("0.5", 0.5), ("-3", 0.0), ("", None), (None, None), ("soon", None)]
)
def test_retry_after(header, seconds):
    assert openai.retry_after(header) == seconds


def test_retry_after_a_date():
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3600))
    assert 3000 <= openai.retry_after(date) <= 3600
    assert openai.retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


def test_progress_shows_time_and_cost(loopback, load, capsys, monkeypatch):
    monkeypatch.setattr("rrgmetrics.utils.progress.FIRST_LINE", 0.1)  # of a log
    monkeypatch.setattr("rrgmetrics.utils.progress.EACH", 0.01)
    loopback.reset(lambda request, tries: time.sleep(0.05) or request.say("x"))
    options = {"base_url": loopback.url, "cache": "no", "price_out": 50.0, "concurrency": 1}
    engine = load_engine(EngineName("openai", "m"), options=options, progress=True)
    engine.answer(prompts(*map(str, range(10))))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "asking openai:m" in printed.err
    assert "of about 0.50" in printed.err  # 10 replies of 1,000 tokens at 50 a million
