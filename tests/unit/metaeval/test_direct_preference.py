"""A model that chooses between two candidates: both orders, bias of place, unreadable replies, and the command."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from rrgmetrics import InputError
from rrgmetrics.cli import main
from rrgmetrics.judges.base import Reply
from rrgmetrics.metaeval.direct_preference import Answers, ask_preferences, question, read_choice
from rrgmetrics.metaeval.loaders.preferences import load_preferences
from rrgmetrics.reports import Context, Pair

REFERENCE = "Small left effusion {sic}."
GOOD, BAD = "Small left effusion.", "Large right mass."


@pytest.fixture
def choices(tmp_path):
    path = tmp_path / "choices.csv"
    with path.open("w", newline="") as file:
        rows = [(i, f"{REFERENCE} {i}", *((GOOD, BAD, "A") if i % 2 else (BAD, GOOD, "B")), 5) for i in range(6)]
        csv.writer(file).writerows([("study_id", "reference", "a", "b", "choice", "confidence"), *rows])
    return path


def asked(loopback, tmp_path, choices, behave):
    loopback.reset(lambda request, tries: request.say(behave(request.prompt)))
    engine = f"openai:m?base_url={loopback.url}&cache={tmp_path / 'cache'}"
    return ask_preferences(load_preferences(choices), engine, trials=20, progress=False)


def order(prompt: str) -> int:
    """Which report of the question is the good one."""
    return 1 if prompt.index(GOOD, prompt.index("Report 1:")) < prompt.index(BAD, prompt.index("Report 1:")) else 2


def test_a_model_that_knows_is_right_in_both_orders(loopback, tmp_path, choices):
    found = asked(loopback, tmp_path, choices, lambda prompt: f"It is better.\nChoice: {order(prompt)}")
    every = found.accuracies[0]
    assert (every.stratum, every.strict.value, every.half.value, every.n, every.n_ties) == ("all", 1, 1, 6, 0)
    assert (found.answers.differing, found.answers.first_shown) == (0, 0.5)
    assert len(loopback.asked) == 12
    assert [each.stratum for each in found.accuracies] == ["all", "confidence 5"]


def test_a_model_that_takes_the_first_prefers_neither(loopback, tmp_path, choices):
    found = asked(loopback, tmp_path, choices, lambda prompt: "Choice: 1")
    every = found.accuracies[0]
    assert (every.strict.value, every.half.value, every.n_ties) == (0, 0.5, 6)
    assert (found.answers.differing, found.answers.first_shown) == (1, 1)


def test_replies_without_a_choice_are_counted_and_not_guessed(loopback, tmp_path, choices):
    found = asked(
        loopback, tmp_path, choices, lambda prompt: "Both." if "6" in prompt or " 3" in prompt else "Choice: equal"
    )
    assert found.accuracies[0].n_unscored == 1
    assert found.accuracies[0].n == 5


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Choice: 1", 1),
        ("choice = 2.", -1),
        ("**Choice: Report 2**", -1),
        ("Choice: equal", 0),
        ("Choice: 1 at first sight, but\nChoice: 2", -1),
        ('"choice": "1"', np.nan),
        ("Choice: 12", np.nan),
        ("Report 1 is better.", np.nan),
        ("", np.nan),
    ],
)
def test_reading_a_choice(text, choice):
    np.testing.assert_equal(read_choice(Reply(text)), choice)


def test_no_reply_is_no_choice():
    assert np.isnan(read_choice(Reply(None, "no answer")))


def test_the_question_holds_what_is_known_and_braces_of_reports():
    pair = Pair(REFERENCE, GOOD, Context(61.0, "F", "Cough."))
    text = question(pair, pair._replace(candidate=BAD)).messages[1].content
    for part in (REFERENCE, "Age: 61 years", "Sex: F", "Indication: Cough.", f"Report 1:\n{GOOD}", f"Report 2:\n{BAD}"):
        assert part in text
    assert "Age" not in question(Pair("a", "b"), Pair("a", "c")).messages[1].content


def test_choices_that_differ_are_none():
    answers = Answers(np.array([1, 1, 0, -1, np.nan]), np.array([1, -1, 1, -1, 1]))
    np.testing.assert_equal(answers.choices, [1, 0, 0, -1, np.nan])
    assert answers.differing == 0.5


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("reader", "answers no prompts|answers only GREEN"),
        ("paper", "answers no prompts|answers only GREEN"),
        ("openai:m?runs=3", "leave out runs"),
    ],
)
def test_engines_that_cannot_be_asked(choices, engine, message):
    with pytest.raises(InputError, match=message):
        ask_preferences(load_preferences(choices), engine, progress=False)


def test_the_command(loopback, tmp_path, choices, capsys):
    loopback.reset(lambda request, tries: request.say(f"Choice: {order(request.prompt)}"))
    engine, output = f"openai:m?base_url={loopback.url}&cache={tmp_path / 'cache'}", tmp_path / "found.json"
    command = ["choose", str(choices), "--engine", engine, "--trials", "10", "--no-progress"]
    assert main([*command, "--json", str(output)]) == 0
    assert "If the candidates are swapped, 0% of its choices change" in capsys.readouterr().out.replace("\n", " ")
    assert json.loads(output.read_text())["choices"] == [-1, 1, -1, 1, -1, 1]
    assert main([*command, "--format", "csv"]) == 0
    assert sum(loopback.asked.values()) == 12  # the second time from the cache


@pytest.mark.parametrize(
    ("behave", "status", "message"),
    [
        (lambda request: request.say("Both." if " 3" in request.prompt else "Choice: 1"), 3, "about 1 of 6 pairs give"),
        (lambda request: request.say("Both."), 4, "about 6 of 6 pairs give no verdict"),
        (lambda request: request.send(500, {}), 4, "0 of 6 pairs scored; run the same command again"),
    ],
)
def test_pairs_without_a_choice_change_the_exit_status(loopback, tmp_path, choices, capsys, behave, status, message):
    loopback.reset(lambda request, tries: behave(request))
    engine = f"openai:m?base_url={loopback.url}&retries=0&cache={tmp_path / 'cache'}"
    assert main(["choose", str(choices), "--engine", engine, "--trials", "10", "--no-progress"]) == status
    assert message in capsys.readouterr().err
