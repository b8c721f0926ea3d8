"""What a completion without a score earns: the worst value if that is its own doing, None in an outage.

TRL adds up the rewards of a completion and counts None as 0, which is the best value of a metric that counts errors. A
completion that could make its judge fail would be paid for it.
"""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest

from rrgmetrics.callbacks import make_reward
from rrgmetrics.callbacks.reward import worst_score
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.engines import openai
from rrgmetrics.scorers.finding_errors import FindingErrors
from rrgmetrics.specs import SPECS

REFERENCE = "Small left pleural effusion."
VERDICT = """[Clinically Significant Errors]:
(a) False report of a finding in the candidate: 1. An error.
(b) Missing a finding present in the reference: 0.
(c) Misidentification of a finding's anatomic location/position: 0.
(d) Misassessment of the severity of a finding: 0.
(e) Mentioning a comparison that isn't in the reference: 0.
(f) Omitting a comparison detailing a change from a prior study: 0.

[Clinically Insignificant Errors]:
(a) False report of a finding in the candidate: 0.
(b) Missing a finding present in the reference: 0.
(c) Misidentification of a finding's anatomic location/position: 0.
(d) Misassessment of the severity of a finding: 0.
(e) Mentioning a comparison that isn't in the reference: 0.
(f) Omitting a comparison detailing a change from a prior study: 0.

[Matched Findings]:
1. Pleural effusion
"""
OWN = {  # what a server answers because of the texts
    "400, too long": (400, {"error": {"message": "This model's maximum context length is 4096 tokens."}}),
    "400, filter": (400, {"error": {"message": "triggered the content management policy", "code": "content_filter"}}),
    "413": (413, {"error": {"message": "Payload too large"}}),
    "422": (422, {"error": {"message": "unprocessable"}}),
    "500, too long": (500, {"error": {"message": "context size exceeded"}}),
    "403, firewall": (403, {"error": {"message": "Forbidden"}}),
    "filter": (200, {"choices": [{"message": {"content": "[Clin"}, "finish_reason": "content_filter"}]}),
    "refusal": (200, {"choices": [{"message": {"content": None, "refusal": "I can't help."}}]}),
    "refusal in words": (200, {"choices": [{"message": {"content": "I cannot assess this report."}}]}),
    "unreadable": (200, {"choices": [{"message": {"content": "{{{{"}}]}),
    "empty": (200, {"choices": [{"message": {"content": "  "}}]}),
    "cut off": (200, {"choices": [{"message": {"content": "(a) 1."}, "finish_reason": "length"}]}),
    "endless": (200, {"choices": [{"message": {"content": "1. Edema. " * 60}, "finish_reason": "length"}]}),
    "far too long": (200, {"choices": [{"message": {"content": "1. Edema.\n" * 30_000}}]}),
}
OUTAGES = {
    "500": (500, {"error": {"message": "internal error"}}),
    "502": (502, b"<html>Bad gateway</html>"),
    "503": (503, {"error": {"message": "overloaded"}}),
    "529": (529, {"error": {"message": "busy"}}),
    "429": (429, {"error": {"message": "rate limit: too many tokens per minute"}}),
    "401": (401, {"error": {"message": "the key was withdrawn"}}),
    "404": (404, {"error": {"message": "no such model"}}),
    "no JSON": (200, b"<html>Welcome</html>"),
    "another model": (200, {"model": "tiny", "choices": [{"message": {"content": VERDICT}}]}),
    "aborted": (200, {"choices": [{"message": {"content": "(a)"}, "finish_reason": "abort"}]}),
}


@pytest.fixture
def judged(loopback, monkeypatch, tmp_path):
    """A reward of a judge whose server treats one completion ("refuse") in its own way."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-invented")
    monkeypatch.setattr(openai, "FIRST_PAUSE", 0.01)

    def make(answer, key=None, concurrency=1, timeout=2, **arguments):
        def behave(request, tries):
            if "refuse" in request.prompt:
                answer(request) if callable(answer) else request.send(*answer)
            else:
                request.say(VERDICT)

        loopback.reset(behave)
        options = f"cache={tmp_path / 'cache'}&retries=1&timeout={timeout}&concurrency={concurrency}"
        return make_reward(f"green@openai:m?base_url={loopback.url}&{options}", key=key, **arguments)

    return make


def earned(reward, *completions):
    return reward(completions=list(completions), reference=[REFERENCE] * len(completions))


@pytest.mark.parametrize("how", OWN)
def test_a_completion_that_its_judge_refuses_earns_the_worst_value(judged, how, caplog):
    for key, right, worst in ((None, 0.5, 0.0), ("green_errors_significant", -1.0, -10.0)):
        reward = judged(OWN[how], key=key)
        assert earned(reward, "Clear.", "refuse me", "Large effusion.") == [right, worst, right]
        if not how.startswith("403"):  # where it is the only answer nobody can tell it from a key that was withdrawn
            assert earned(reward, "refuse me again") == [worst]
    assert "It gets the worst value" in caplog.text


@pytest.mark.parametrize("how", OUTAGES)
@pytest.mark.parametrize("key", [None, "green_errors_significant"])
def test_an_outage_earns_none(judged, how, key, caplog):
    reward = judged(OUTAGES[how], key=key)
    assert earned(reward, "Clear.", "refuse me") == [0.5 if key is None else -1.0, None]
    assert "It gets None" in caplog.text


def test_a_server_that_hangs_up_or_is_late_is_an_outage(judged):
    def cut(request):
        request.send(200, b"{", missing=50)

    for answer in (cut, lambda request: request.hang()):
        assert earned(judged(answer, timeout=0.4), "Clear.", "refuse me") == [0.5, None]


def test_a_server_that_goes_down_costs_nothing_and_is_asked_again(judged, loopback, caplog):
    reward = judged((503, {}))
    assert earned(reward, "Clear.") == [0.5]
    loopback.reset(lambda request, tries: request.send(404, {"error": {"message": "gone"}}))
    assert earned(reward, "Clear.", "Edema.", "Nodule.") == [0.5, None, None]
    assert earned(reward, "Edema.") == [None]
    assert len([record for record in caplog.records if "It gets None" in record.getMessage()]) == 1
    loopback.reset(lambda request, tries: request.say(VERDICT))
    assert earned(reward, "Edema.") == [0.5]


def test_a_server_that_was_never_there_stops_the_training_at_its_first_step(judged, loopback):
    reward = judged((503, {}))
    loopback.reset(lambda request, tries: request.send(404, {"error": {"message": "no such model"}}))
    with pytest.raises(BackendError, match="refuses every request"):
        earned(reward, "Clear.")


def test_what_unscored_says_is_of_outages_only(judged):
    assert earned(judged(OUTAGES["503"], unscored=-3), "Clear.", "refuse me") == [0.5, -3.0]
    with pytest.raises(InputError, match=r"completions\[1\] could not be scored \(No reply: HTTP 503"):
        earned(judged(OUTAGES["503"], unscored="raise"), "Clear.", "refuse me")
    for unscored in (1.0, "raise"):
        assert earned(judged(OWN["413"], unscored=unscored), "Clear.", "refuse me") == [0.5, 0.0]


ODD = {
    "long": "Small left effusion. " * 200_000,
    "a word without end": "a" * 3_000_000,
    "a lone surrogate": "Small \ud800 effusion.",
    "surrogates and long": "\udfff" * 200_000,
}


FAR = pytest.approx(-37, abs=2)  # ten times what another patient's report loses, as `make stress` measured it


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    ("metric", "arguments", "worst"),
    [
        ("finding_errors", {}, FAR),
        ("finding_errors", {"scale": "unit"}, 0.0),
        ("finding_errors", {"transform": "unit"}, 0.0),
        ("finding_errors", {"key": "finding_errors_missing_finding"}, -10.0),
        ("finding_score", {}, 0.0),
        ("crimson", {}, -1.0),
        ("rouge", {}, 0.0),
    ],
)
def test_a_completion_of_any_length_earns_the_worst_value(odd, metric, arguments, worst, caplog):
    reward = make_reward(metric, **arguments, baselines="none")
    caplog.clear()
    for _ in range(2):
        right, wrong, long = earned(reward, REFERENCE, "Large right pneumothorax.", ODD[odd])
        assert long == (worst if worst is FAR else pytest.approx(worst))
        assert right >= wrong >= long
    (record,) = (each for each in caplog.records if each.name == "rrgmetrics")
    assert record.levelno == logging.WARNING
    assert "completions[2] could not be scored: the completion h" in record.getMessage()


@pytest.mark.parametrize("text", ["\0", "\0" * 90_000, "a\0b", "\x1b[31mEdema", "\u202eEdema", "\x7f", "", " "])
def test_odd_characters_are_scored(text):
    (value,) = earned(make_reward("finding_errors", baselines="none"), text)
    assert value <= -1


def test_nothing_that_was_scored_earns_less_than_what_could_not_be(monkeypatch):
    """Errors have no upper limit: beside a report with more errors than the worst value counts, it is as low."""
    monkeypatch.setattr("rrgmetrics.callbacks.reward.LOSSES", 1)
    many = " ".join(f"Large {part}." for part in ("effusion", "pneumothorax", "mass", "cavity", "consolidation"))
    reward = make_reward("finding_errors", baselines="none")
    scored, refused = earned(reward, many, "x" * 200_000)
    assert refused == scored < -worst_score("finding_errors", SPECS["finding_errors"].headline)


def test_a_reference_that_is_bad_stops_the_training():
    reward = make_reward("finding_errors", reference="report")
    good = {"report": [REFERENCE] * 3, "age": ["", "040Y", None], "image": [1, 2, 3]}
    reward.check(good)
    for bad in ("x" * 200_000, "\ud800", 5, ["a", "b"]):
        with pytest.raises(InputError, match=r"references\[2\]"):
            reward.check(good | {"report": [REFERENCE] * 2 + [bad]})
        with pytest.raises(InputError, match=r"references\[0\]"):
            reward(completions=["Clear."], report=[bad])
    with pytest.raises(InputError, match=r"contexts\[1\].*age"):
        reward.check(good | {"age": ["", "old", ""]})
    with pytest.raises(InputError, match="no column 'report'; it has text, image"):
        reward.check({"text": [REFERENCE], "image": [1]})


def test_a_reference_without_a_score_earns_none(caplog):
    reward = make_reward("finding_errors", baselines="none")
    assert reward(completions=["Clear.", "Edema."], reference=["", "See report."]) == [None, None]
    assert "It gets None" in caplog.text


def test_each_reason_of_a_reference_is_logged_once_and_trivial_reports_are_not_counted(caplog):
    reward = make_reward("finding_errors")
    reward(completions=["Clear.", "Edema."], reference=[REFERENCE] * 2)
    assert not caplog.text
    german = "Kein Pneumothorax. Kleiner Pleuraerguss rechts."
    for reference in ("", german, "", german):
        reward(completions=["Clear."], reference=[reference])
    missing, foreign = (record.getMessage() for record in caplog.records)
    assert "the reference is missing" in missing
    assert "It gets None" in foreign


def test_a_metric_that_gives_no_number_is_asked_about_the_reference_itself(monkeypatch):
    """Where it has a number for the reference against itself, that it has none is the candidate's doing."""

    def only_itself(self, pairs, *_):
        rows = np.zeros((len(pairs), 8))
        rows[[pair.candidate != pair.reference or pair.reference == "Edema." for pair in pairs]] = np.nan
        return rows

    monkeypatch.setattr(FindingErrors, "pair_stats", only_itself)
    reward = make_reward("finding_errors", baselines="none")
    completions, references = ["Clear.", REFERENCE, "Clear."], [REFERENCE, REFERENCE, "Edema."]
    rewards = reward(completions=completions, reference=references)
    assert rewards[0] == FAR
    assert rewards[1:] == [0.0, None]


@pytest.mark.parametrize("spec", [spec for spec in SPECS.values() if not spec.corpus_statistics], ids=str)
def test_every_key_has_a_worst_score(spec):
    for key in spec.keys:
        worst = worst_score(spec.name, key)
        assert math.isfinite(worst)
        assert key.range[0] <= worst <= key.range[1]
        assert key.goodness(worst) < key.goodness(key.best if math.isfinite(key.best) else 1.0)


GERMAN = "Kein Pleuraerguss. Herzgröße normal. Keine Infiltrate in der linken Lunge."


def test_check_says_which_references_cannot_be_scored(caplog):
    reward = make_reward("finding_errors")
    reward.check({"reference": [REFERENCE, REFERENCE]})
    assert "cannot be scored" not in caplog.text
    reward.check({"reference": [REFERENCE, "", None, GERMAN]})
    assert caplog.messages[-1] == (
        "finding_errors: 3 of 4 references cannot be scored: the reference is missing (2), "
        "the reference looks German (1)."
    )


@pytest.mark.parametrize("reference", ["", GERMAN])
def test_check_refuses_references_of_which_none_can_be_scored(reference):
    with pytest.raises(InputError, match="finding_errors: 2 of 2 references cannot be scored: the reference "):
        make_reward("finding_errors").check({"reference": [reference] * 2})
