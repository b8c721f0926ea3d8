"""Replies on disk: what was received is never asked for again, whatever stops a run; recorded replies score alike."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from green_replies import green_reply

import rrgmetrics
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import EngineName, Message, Prompt, Reply
from rrgmetrics.judges.cache import Cache, Record, append, cache_folder, read_line
from rrgmetrics.judges.engines import load_engine
from rrgmetrics.judges.engines.asking import Recorder


def prompts(*texts: str, protocol: str = "test@1", **keywords) -> list[Prompt]:
    return [Prompt((Message("user", text),), protocol, **keywords) for text in texts]


@pytest.fixture
def load(loopback, tmp_path):
    def make(**options):
        options = {"base_url": loopback.url, "cache": str(tmp_path / "cache"), "retries": 0} | options
        return load_engine(EngineName("openai", "m"), options=options, progress=False)

    return make


def test_nothing_received_is_asked_again(loopback, load):
    first = load().answer(prompts("a", "b"))
    assert load().answer(prompts("b", "c", "a")) == [first[1], Reply("reply to c"), first[0]]
    assert loopback.asked == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize(
    ("options", "keywords"),
    [
        ({"temperature": 0.5}, {}),
        ({"max_tokens": 5}, {}),
        ({}, {"max_tokens": 5}),
        ({}, {"protocol": "test@2"}),
        ({"cache": "no"}, {}),
    ],
    ids=str,
)
def test_what_changes_a_reply_asks_again(loopback, load, options, keywords):
    load().answer(prompts("a"))
    for _ in range(2):
        load(**options).answer(prompts("a", **keywords))
    assert loopback.asked["a"] == (3 if options.get("cache") == "no" else 2)


def test_failures_are_asked_again_and_useless_replies_are_not(loopback, load):
    loopback.reset(lambda request, tries: request.send(500, {}) if request.prompt == "fails" else request.say(""))
    for _ in range(2):
        replies = load().answer(prompts("fails", "empty"))
        assert replies[1] == Reply("")
        assert replies[0].text is None
    assert loopback.asked == {"fails": 2, "empty": 1}


def test_a_reply_too_long_is_remembered_as_such(loopback, load, tmp_path):
    loopback.reset(lambda request, tries: request.say("x" * 1_000_001))
    first = load().answer(prompts("a"))
    assert load().answer(prompts("a")) == first
    assert loopback.asked["a"] == 1
    assert sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*.jsonl")) < 1000


def test_only_the_owner_can_read_it(load, tmp_path):
    load().answer(prompts("a"))
    made = [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]
    assert len(made) == 3
    assert not any(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) for path in made)


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("") == tmp_path / "rrgmetrics" / "replies"
    assert cache_folder("/x") == cache_folder("/x/")
    assert cache_folder("no") is None
    (tmp_path / "file").touch()
    with pytest.raises(BackendError, match="cannot be written; name another folder with cache=FOLDER"):
        Cache(tmp_path / "file")


def test_an_unfinished_line_loses_no_other(tmp_path):
    cache = Cache(tmp_path)
    records = [Record.of(prompt, Reply(prompt.messages[0].content * 3), "e", {}) for prompt in prompts(*"abcd")]
    for record in records[:3]:
        cache.put(record)
    (file,) = tmp_path.rglob("*.jsonl")
    whole = file.read_bytes()
    for cut in (1, 40, len(records[2].line()) - 1):
        file.write_bytes(whole[:-cut])
        again = Cache(tmp_path)
        replies = [again.get(prompt, "e", {}) for prompt in prompts(*"abcd")]
        assert replies[:2] == [Reply("aaa"), Reply("bbb")]
        assert replies[2] in (None, Reply("ccc"))
        assert replies[3] is None


def test_two_writers_at_once(tmp_path):
    """Neither sees what the other adds later, and neither loses anything."""
    caches = [Cache(tmp_path), Cache(tmp_path)]
    for i, prompt in enumerate(prompts(*map(str, range(20)))):
        caches[i % 2].put(Record.of(prompt, Reply(str(i)), "e", {}))
    assert [Cache(tmp_path).get(p, "e", {}).text for p in prompts(*map(str, range(20)))] == list(map(str, range(20)))


def test_no_reply_is_anothers_with_many_threads(tmp_path):
    """All write to one shelf; each reads what it wrote, at once and after a fresh start."""
    cache, wrong = Cache(tmp_path), []
    together = threading.Barrier(8)

    def write(thread: int) -> None:
        together.wait(10)
        for prompt in prompts(*(f"{thread}-{i}" for i in range(96))):
            text = prompt.messages[0].content
            cache.put(Record.of(prompt, Reply(text * 40), "e", {}))
            if cache.get(prompt, "e", {}) != Reply(text * 40):
                wrong.append(text)

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Cache(tmp_path)
    for reader in (cache, again):
        for prompt in prompts(*(f"{thread}-{i}" for thread in range(8) for i in range(96))):
            if reader.get(prompt, "e", {}) != Reply(prompt.messages[0].content * 40):
                wrong.append(prompt.messages[0].content)
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_no_reply_is_anothers_with_processes_that_were_forked(tmp_path):
    """They share the open shelf, and with it the file they write to."""
    cache = Cache(tmp_path)
    cache.put(Record.of(prompts("first")[0], Reply("first"), "e", {}))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_write_and_read, args=(cache, child, queue)) for child in range(4)]
    for child in children:
        child.start()
    assert [queue.get(timeout=60) for _ in children] == [[]] * 4
    for child in children:
        child.join(60)
    again = Cache(tmp_path)
    texts = [f"{child}-{i}" for child in range(4) for i in range(96)]
    assert [again.get(prompt, "e", {}) for prompt in prompts(*texts)] == [Reply(text * 40) for text in texts]


def _write_and_read(cache: Cache, child: int, queue) -> None:
    wrong = []
    for prompt in prompts(*(f"{child}-{i}" for i in range(96))):
        text = prompt.messages[0].content
        cache.put(Record.of(prompt, Reply(text * 40), "e", {}))
        if cache.get(prompt, "e", {}) != Reply(text * 40):
            wrong.append(text)
    queue.put(wrong)


def test_a_record_that_is_another_by_now_is_asked_for_again(tmp_path):
    """A file that was replaced by one of other replies, and a record that was copied to the wrong engine's folder."""
    cache = Cache(tmp_path)
    records = [Record.of(prompt, Reply(prompt.messages[0].content), "e", {}) for prompt in prompts("a", "b")]
    for record in records:
        cache.put(record)
    (file,) = tmp_path.rglob("*.jsonl")
    file.write_bytes(records[1].line() + records[0].line())
    assert [cache.get(prompt, "e", {}) for prompt in prompts("a", "b")] == [None, None]
    again = Cache(tmp_path)
    assert [again.get(prompt, "e", {}) for prompt in prompts("a", "b")] == [Reply("a"), Reply("b")]
    again.put(Record.of(prompts("c")[0], Reply("c"), "other", {}))
    folders = {path.parent for path in tmp_path.rglob("*.jsonl")} - {file.parent}
    shutil.copy(file, folders.pop() / "copied.jsonl")
    assert Cache(tmp_path).get(prompts("a")[0], "other", {}) is None


def test_replies_of_version_0_1_are_found(tmp_path):
    """A folder and a record as that version wrote them."""
    folder = tmp_path / "test@1_e-f136e6537d6c623d"
    folder.mkdir()
    sha256 = prompts("a")[0].sha256
    line = (
        f'{{"protocol": "test@1", "prompt_sha256": "{sha256}", "reply": "A", "engine": "e", '
        '"parameters": {"temperature": 0.0, "max_tokens": 1024}}\n'
    )
    (folder / "20260101T000000-1-00000000.jsonl").write_text(line)
    assert Cache(tmp_path).get(prompts("a")[0], "e", {"temperature": 0.0}) == Reply("A")


DEEP = "[" * 100_000 + "]" * 100_000


def test_what_cannot_be_read_is_counted_and_said_once(tmp_path, caplog):
    cache = Cache(tmp_path)
    cache.put(Record.of(prompts("a")[0], Reply("A"), "e", {}))
    (file,) = tmp_path.rglob("*.jsonl")
    whole = file.read_bytes()
    file.write_bytes(DEEP.encode() + b"\n" + whole + b"no JSON\n" + b'{"unfinished')
    (file.parent / "folder.jsonl").mkdir()
    (file.parent / "loop.jsonl").symlink_to("loop.jsonl")
    again = Cache(tmp_path)
    assert again.get(prompts("a")[0], "e", {}) == Reply("A")
    again.put(Record.of(prompts("b")[0], Reply("B"), "e", {}))
    assert again.get(prompts("b")[0], "e", {}) == Reply("B")
    (message,) = caplog.messages
    assert message.startswith("The cache of replies has 4 files or records that cannot be read; the first: ")
    assert f"{file}, line 1: it is nested too deeply" in message


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads every file")
def test_another_users_file_is_passed_over(tmp_path, caplog):
    cache = Cache(tmp_path)
    cache.put(Record.of(prompts("a")[0], Reply("A"), "e", {}))
    (file,) = tmp_path.rglob("*.jsonl")
    file.chmod(0)
    assert Cache(tmp_path).get(prompts("a")[0], "e", {}) is None
    assert f"1 file or record that cannot be read; the first: {file}, Permission denied" in caplog.text


def test_a_file_where_a_folder_must_be_is_named(tmp_path):
    cache = Cache(tmp_path)
    cache.put(Record.of(prompts("a")[0], Reply("A"), "e", {}))
    (shelf,) = tmp_path.iterdir()
    shutil.rmtree(shelf)
    shelf.touch()
    with pytest.raises(BackendError, match=f"{re.escape(str(shelf))}.*; name another folder with cache=FOLDER"):
        Cache(tmp_path).get(prompts("a")[0], "e", {})
    with pytest.raises(BackendError, match=f"{re.escape(str(shelf))}.*; name another folder with cache=FOLDER"):
        cache.put(Record.of(prompts("b")[0], Reply("B"), "e", {}))


def test_another_users_folder_is_named_before_anything_is_asked(loopback, load, tmp_path, monkeypatch):
    load().answer(prompts("a"))
    (shelf,) = (tmp_path / "cache").iterdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path != shelf)
    with pytest.raises(BackendError, match=f"{re.escape(str(shelf))}, cannot be written.*Permission denied"):
        load().answer(prompts("b"))
    assert loopback.asked["b"] == 0


def test_a_record_after_an_unfinished_one_is_whole(tmp_path):
    """Whoever wrote to the file before was stopped in the middle of a line."""
    file = tmp_path / "replies.jsonl"
    records = [Record.of(prompt, Reply("x"), "e", {}) for prompt in prompts("a", "b")]
    file.write_bytes(records[0].line()[:-9])
    append(file, records[1])
    assert read_line(file.read_bytes().splitlines()[1]) == records[1]


def test_a_deep_record_is_named(tmp_path):
    (tmp_path / "r.jsonl").write_text(DEEP)
    with pytest.raises(InputError, match=r"r.jsonl, line 1 is not a recorded reply: it is nested too deeply"):
        replies_engine(str(tmp_path / "r.jsonl"))
    with pytest.raises(InputError, match=r"line 1 is not a recorded reply: it is nested too deeply"):
        Recorder(tmp_path / "r.jsonl", "e")


def test_a_record_reads_back():
    record = Record.of(prompts("a")[0], Reply('"\n\u2028 Ω'), "openai:m", {"temperature": 0.0})
    assert read_line(record.line()) == record
    assert record.line().count(b"\n") == 1
    fields = json.loads(record.line())
    assert list(fields) == ["protocol", "prompt_sha256", "reply", "engine", "parameters"]


SCORE = """
import json, sys
import rrgmetrics

references, candidates = json.loads(sys.argv[2])
rrgmetrics.score(sys.argv[1], predictions=candidates, references=references, progress=False)
"""


def test_after_a_kill_no_received_reply_is_asked_for_again(loopback, tmp_path):
    loopback.reset(lambda request, tries: time.sleep(0.05) or request.say("no verdict"))
    name = f"green@openai:m?base_url={loopback.url}&cache={tmp_path}&concurrency=4"
    texts = [[f"Effusion of {i} mm." for i in range(60)], ["Clear lungs."] * 60]
    run = [sys.executable, "-c", SCORE, name, json.dumps(texts)]
    process = subprocess.Popen(run, env=os.environ)
    while len(loopback.answered) < 20:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.2)  # what was in flight ends
    assert len(loopback.answered) < 60
    references, candidates = texts
    (again,) = rrgmetrics.score(name, predictions=candidates, references=references, progress=False).values()
    assert again.n_unscored == 60
    assert len(loopback.asked) == 60
    assert sum(loopback.asked.values()) <= 60 + 4


def test_recorded_replies_score_alike(loopback, tmp_path, reports):
    file = tmp_path / "replies.jsonl"
    loopback.reset(lambda request, tries: request.say(GREEN if "mm" in request.prompt else "I cannot say."))
    engine = f"green@openai:m?base_url={loopback.url}&cache={tmp_path / 'cache'}"

    def score(name):
        return rrgmetrics.score(name, predictions=reports.altered, references=reports.references, progress=False)[name]

    asked = score(f"{engine}&record={file}")
    again = score(f"green@replies:{file}")
    assert 0 < asked.n_unscored < 14
    for key, values in asked.per_pair.items():
        np.testing.assert_array_equal(again.per_pair[key], values)
    assert "recorded_from:openai%3Am" in again.signature
    assert len(file.read_text().splitlines()) == 14
    total = sum(loopback.asked.values())
    score(f"{engine}&record={file}")  # neither asks nor records anything twice
    assert (sum(loopback.asked.values()), len(file.read_text().splitlines())) == (total, 14)
    with pytest.raises(InputError, match="is a reply of openai:m, not of openai:other"):
        score(f"green@openai:other?base_url={loopback.url}&record={file}")


def test_a_reply_that_was_cut_off_is_recorded_as_such(loopback, load, tmp_path):
    choice = {"index": 0, "message": {"content": "half of"}, "finish_reason": "length"}
    loopback.reset(lambda request, tries: request.send(200, {"choices": [choice], "usage": {"completion_tokens": 9}}))
    file = tmp_path / "replies.jsonl"
    (asked,) = load(record=str(file)).answer(prompts("a"))
    assert (asked.text, asked.partial) == (None, "half of")
    (again,) = replies_engine(file).answer(prompts("a"))
    assert again == asked


GREEN = green_reply({"a": "1. One"})


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def replies_engine(path):
    return load_engine(EngineName("replies", path), options={}, progress=False)


def test_a_file_without_some_replies(tmp_path):
    (prompt,) = prompts("a")
    path = write(tmp_path / "r.jsonl", {"protocol": "test@1", "prompt_sha256": prompt.sha256, "reply": "A"})
    engine = replies_engine(path)
    replies = engine.answer(prompts("b", "a"))
    assert replies[1] == Reply("A")
    assert "r.jsonl has no reply to this prompt" in replies[0].error
    with pytest.raises(BackendError, match=r"contains replies to test@1, and none to test@2; record them again"):
        engine.answer(prompts("a", protocol="test@2"))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "contains no recorded replies"),
        ("nonsense\n", "line 1 is not a recorded reply"),
        ("[1]\n", "not a JSON object"),
        ('{"protocol": "p", "reply": "x"}\n', "'prompt_sha256' is missing"),
        ('{"protocol": "p", "prompt_sha256": "a", "reply": 3}\n', "'reply' is missing or not a text"),
        (
            '{"protocol": "p", "prompt_sha256": "a", "reply": "x"}\n\n'
            '{"protocol": "p", "prompt_sha256": "a", "reply": "y"}\n',
            "lines 1 and 3 are different replies to one prompt",
        ),
    ],
)
def test_files_that_are_none(tmp_path, lines, message):
    path = tmp_path / "r.jsonl"
    path.write_text(lines)
    with pytest.raises(InputError, match=message):
        replies_engine(str(path))


def test_no_file(tmp_path):
    with pytest.raises(InputError, match=r"nowhere.jsonl cannot be read: No such file"):
        replies_engine(str(tmp_path / "nowhere.jsonl"))


def test_equal_replies_twice_are_one(tmp_path):
    record = {"protocol": "test@1", "prompt_sha256": prompts("a")[0].sha256, "reply": "A"}
    engine = replies_engine(write(tmp_path / "r.jsonl", record, {**record, "engine": "openai:m"}))
    assert engine.answer(prompts("a")) == [Reply("A")]
    assert engine.facts == {"recorded_from": "unknown"}
