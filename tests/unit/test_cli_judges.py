"""`rrgmetrics judge` and `explain --judges` as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
from green_replies import green_reply

from rrgmetrics import cli

PAIRS = [
    ("s1", "The heart is mildly enlarged. No pneumothorax.", "Mild cardiomegaly. No pneumothorax."),
    ("s2", "Small left pleural effusion.", "Small right pleural effusion."),
]
GREEN = green_reply({"a": "1. One"})


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    rows = [dict(zip(("study_id", "reference", "candidate"), row, strict=True)) for row in PAIRS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def judge(loopback, tmp_path):
    loopback.reset(lambda request, tries: request.say(GREEN if "heart" in request.prompt else "I cannot say."))
    return f"green@openai:m?base_url={loopback.url}&cache={tmp_path / 'cache'}"


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_judge_records_and_the_record_scores_alike(pairs, judge, loopback, tmp_path, capsys):
    file, scores = tmp_path / "replies.jsonl", tmp_path / "scores.json"
    status, out, _ = run(capsys, "judge", pairs, "--metrics", judge, "--record", file, "--no-progress")
    assert status == 0
    assert "green: 1 of 2 pairs scored, GREEN ↑ 0.500" in out
    assert "unscored: The reply has no section [Clinically Significant Errors]" in out
    assert f"green@replies:{file}" in out
    assert [json.loads(line)["engine"] for line in file.read_text().splitlines()] == ["openai:m"] * 2
    name = f"green@replies:{file}"
    assert run(capsys, "score", pairs, "--metrics", name, "--trials", 10, "--json", scores, "--no-progress")[0] == 0
    result = json.loads(scores.read_text())["systems"]["pairs"][name]
    assert (result["scores"]["green"], result["n_unscored"]) == (0.5, 1)
    status, _, err = run(capsys, "judge", pairs, "--metrics", judge, "--record", file, "--no-progress")
    assert (status, "--force" in err) == (2, True)
    assert run(capsys, "judge", pairs, "--metrics", judge, "--record", file, "--no-progress", "--force")[0] == 0
    assert len(file.read_text().splitlines()) == 2
    assert sum(loopback.asked.values()) == 2  # the second time from the cache


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("green", "green asks nobody"),
        ("green@reader", "green@reader asks nobody"),
        ("rouge", "rouge is no judge; judges are"),
        ("green@openai:", "names no model"),
        ("green?temperature=1", "the bundled one takes no such option"),
        ("green@openai:m?concurrency=none", "not a whole number"),
        ("green@replies:nowhere.jsonl", "nowhere.jsonl cannot be read"),
        ("green@openai:m,green@openai:n", "One file holds the replies of one engine"),
    ],
)
def test_wrong_use_of_judge(pairs, tmp_path, capsys, metric, message):
    file = tmp_path / "replies.jsonl"
    status, out, err = run(capsys, "judge", pairs, "--metrics", metric, "--record", file, "--no-progress")
    assert (status, out) == (2, "")
    assert message in err
    assert not file.exists()


def test_explain_shows_a_judges_verdict(judge, capsys):
    reference, candidate = PAIRS[0][1:]
    status, out, _ = run(capsys, "explain", reference, candidate, "--judges", judge, "green")
    assert status == 0
    assert f"{judge}  GREEN ↑  0.500" in out.replace("\n", "")
    assert "One" in out
    assert "green  GREEN (bundled) ↑  " in out


def test_explain_says_why_there_is_no_verdict(judge, capsys):
    status, out, _ = run(capsys, "explain", *PAIRS[1][1:], "--judges", judge)
    assert status == 0
    assert "unscored" in out
    assert "I cannot say." in out


@pytest.mark.parametrize("command", ["judge", "score"])
def test_who_interrupts_is_told_how_to_go_on(command, loopback, tmp_path):
    """Three replies are there, the others are waited for."""
    pairs, cache = tmp_path / "pairs.jsonl", tmp_path / "cache"
    rows = [{"study_id": f"s{i}", "reference": f"Effusion of {i} mm.", "candidate": "Clear."} for i in range(9)]
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    there = [f"Effusion of {i} mm." for i in range(3)]

    def behave(request, tries):
        request.say(GREEN) if tries or any(text in request.prompt for text in there) else request.hang()

    loopback.reset(behave)
    name = f"green@openai:m?base_url={loopback.url}&cache={cache}&concurrency=9"
    options = {"judge": ["--record", tmp_path / "replies.jsonl"], "score": ["--trials", 10]}[command]
    run = [sys.executable, "-m", "rrgmetrics", command, pairs, "--metrics", name, "--no-progress", *options]
    run = list(map(str, run))
    heed = partial(signal.signal, signal.SIGINT, signal.default_int_handler)  # what a shell starts behind "&" does not
    process = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    while sum(path.read_bytes().count(b"\n") for path in cache.rglob("*.jsonl")) < 3 or len(loopback.asked) < 9:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=19)  # the server would answer the others after 20 s
    assert (process.returncode, out) == (130, "")
    stopped, spent = err.splitlines()
    assert stopped == "rrgmetrics: stopped; 3 replies kept; run the same command to go on."
    assert spent.startswith("green, openai:m: 3 replies, ")
    again = subprocess.run(run, capture_output=True, text=True, timeout=100, env=os.environ)
    assert again.returncode == 0, again.stderr
    assert sorted(loopback.asked.values()) == [1] * 3 + [2] * 6


def test_who_interrupts_what_asks_nobody_is_told_so(pairs, capsys, monkeypatch):
    def interrupted(*arguments, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr("rrgmetrics.cli.score.score_with_trivial", interrupted)
    status, out, err = run(capsys, "score", pairs, "--metrics", "green", "--no-progress")
    assert (status, out, err) == (130, "", "rrgmetrics: stopped.\n")


def test_dry_run_asks_nothing_and_says_what_it_would_cost(pairs, judge, loopback, tmp_path, capsys):
    """Two pairs, one of them given twice; then again when a reply is cached."""
    rows = pairs.read_text().splitlines()
    pairs.write_text("\n".join([*rows, rows[0].replace("s1", "s3")]) + "\n")
    priced = f"{judge}&price_in=1000&price_out=1000&max_tokens=100"
    status, out, err = run(capsys, "judge", pairs, "--metrics", priced, "--dry-run")
    lines = [line.split(maxsplit=1) for line in out.replace("to ask", "to_ask").splitlines()]
    facts = dict(line for line in lines if len(line) == 2)
    assert (status, err) == (0, "")
    assert [facts[key].strip() for key in ("pairs", "questions", "distinct", "cached", "to_ask")] == [*"33202"]
    assert "at most 200" in out
    assert "price" in facts
    assert sum(loopback.asked.values()) == 0
    record = ("--record", tmp_path / "replies.jsonl")
    status, _, err = run(capsys, "judge", pairs, "--metrics", priced, *record, "--no-progress")
    assert status == 0
    assert "green, openai:m: 2 replies, " in err  # what it took stays on the screen
    assert "; cost " in err
    status, out, err = run(capsys, "judge", pairs, "--metrics", priced, "--dry-run")
    assert "cached" in out
    assert "about 0, at most 0" in out
    assert sum(loopback.asked.values()) == 2


def test_without_a_file_for_replies_only_a_dry_run(pairs, judge, capsys):
    status, _, err = run(capsys, "judge", pairs, "--metrics", judge)
    assert (status, "--record FILE; or --dry-run" in err) == (2, True)
