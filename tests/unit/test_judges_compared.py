"""One judge's replies against another's: counts, scores, texts, and what cannot be compared."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from green_replies import green_reply

from rrgmetrics import InputError
from rrgmetrics.cli import main
from rrgmetrics.metaeval.judges_compared import compare_judges
from rrgmetrics.reports import Pair

TEXTS = ["Mild cardiomegaly.", "Small left effusion.", "Right upper lobe mass.", "Old rib fracture."]
PAIRS = [Pair("The heart is mildly enlarged. Left pleural fluid.", text) for text in TEXTS]
FIRST = [  # significant, insignificant, matched: (1, 0, 1), (0, 1, 2), (2, 0, 1), none
    green_reply({"a": "1. One"}),
    green_reply({}, {"d": "1. One"}, "2. One; Two"),
    green_reply({"a": "1. One", "b": "1. Two"}),
    "I cannot say.",
]
SECOND = [  # (1, 0, 1), (1, 0, 2), (0, 0, 1), (0, 0, 1)
    green_reply({"a": "1. One"}),
    green_reply({"d": "1. One"}, {}, "2. One; Two"),
    green_reply(),
    green_reply(),
]


@pytest.fixture
def judges(loopback, tmp_path):
    replies = {"first": FIRST, "second": SECOND}

    def behave(request, tries):
        number = next(i for i, text in enumerate(TEXTS) if text in request.prompt)
        request.say(replies[request.body["model"]][number])

    loopback.reset(behave)
    return [f"green@openai:{name}?base_url={loopback.url}&cache={tmp_path / 'cache'}" for name in replies]


def test_counts_and_score_of_pairs_that_both_judged(judges):
    (found,) = compare_judges(PAIRS, judges[0], judges[1:], texts=(), progress=False)
    apart = {each.key: each for each in found.apart}
    assert (found.n_pairs, found.n_both, found.unscored) == (4, 3, (1, 0))
    significant = apart["green_errors_significant"]  # 0, 1, 2
    assert (significant.mae, significant.sd, significant.bias, significant.n) == (1, 1, pytest.approx(-1 / 3), 3)
    insignificant = apart["green_errors_insignificant"]  # 0, 1, 0
    assert (insignificant.mae, insignificant.same) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert (apart["green_matched_findings"].mae, apart["green_matched_findings"].sd) == (0, 0)
    off = np.array([0, 1 - 2 / 3, 1 - 1 / 3])
    assert apart["green"].mae == pytest.approx(off.mean())
    assert apart["green"].sd == pytest.approx(off.std(ddof=1))
    assert apart["green_false_finding"].mae == pytest.approx(1 / 3)
    assert found.texts == {}


def test_replies_as_texts(judges, loopback):
    (found,) = compare_judges(PAIRS, judges[0], judges[1:], trials=50, progress=False)
    assert set(found.texts) == {"bertscore", "rouge", "bleu"}
    assert 0.5 < found.texts["rouge"].value < 1
    assert found.texts["rouge"].n == 3
    assert found.texts["rouge"].low <= found.texts["rouge"].value <= found.texts["rouge"].high
    same = compare_judges(PAIRS[:1], judges[0], judges[1:], texts=["rouge"], trials=10, progress=False)[0]
    assert same.texts["rouge"].value == 1
    assert sum(loopback.asked.values()) == 8  # each question of each judge once: the texts come from the cache


def test_the_bundled_judge_has_counts_and_no_replies(judges):
    (found,) = compare_judges(PAIRS, judges[1], ["green"], progress=False)
    assert found.texts == {}
    assert found.n_both == 4
    assert math.isfinite(found.apart[0].mae)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["green"], "at least two judges"),
        (["green", "green"], "each only once"),
        (["green", "crimson"], "ask different questions"),
        (["green", "rouge"], "rouge is not a judge"),
        (["green", "green@openai:m?runs=2"], "leave out runs"),
        (["green", "green@openai:m?cache=no"], "leave out cache=no"),
    ],
)
def test_what_cannot_be_compared(metrics, message):
    with pytest.raises(InputError, match=message):
        compare_judges(PAIRS, metrics[0], metrics[1:], progress=False)


def test_the_command(judges, tmp_path, capsys):
    path, output, record = (tmp_path / name for name in ("pairs.csv", "found.json", "first.jsonl"))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("reference", "candidate"), *(pair[:2] for pair in PAIRS)])
    assert main(["judge", str(path), "--metrics", judges[0], "--record", str(record), "--no-progress"]) == 3
    capsys.readouterr()
    command = ["judge", str(path), "--compare", "--metrics", f"green@replies:{record}", judges[1], "--no-progress"]
    assert main([*command, "--json", str(output), "--texts", "rouge", "bleu"]) == 3
    out = capsys.readouterr().out
    for text in ("MAE ± SD", "1.000 ± 1.000", "Insignificant errors", "replies as texts: ROUGE-L", "Without a verdict"):
        assert text in out
    (found,) = json.loads(output.read_text())["compared"]
    assert found["texts"]["bleu"]["n"] == 3
    assert main([*command, "--dry-run"]) == 2
    assert "leave out --record" in capsys.readouterr().err
