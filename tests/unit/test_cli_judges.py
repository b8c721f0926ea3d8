"""`rrgmetrics judge` and `explain --judges` as a user types them."""

from __future__ import annotations

import json

import pytest

from rrgmetrics import cli

PAIRS = [
    ("s1", "The heart is mildly enlarged. No pneumothorax.", "Mild cardiomegaly. No pneumothorax."),
    ("s2", "Small left pleural effusion.", "Small right pleural effusion."),
]
GREEN = """ Invented.
[Clinically Significant Errors]:
(a) False report of a finding in the candidate: 1. One
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
1. One
"""


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
    assert "the first unscored:" in out
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
        ("green?temperature=1", "the embedded one takes no such option"),
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
