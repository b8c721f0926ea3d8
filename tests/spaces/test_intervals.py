"""The interval of a score is the same wherever the same pairs are scored."""

from __future__ import annotations

import pandas as pd
import pytest

import rrgmetrics
from rrgmetrics import cli, files
from rrgmetrics.callbacks.run import values_of
from rrgmetrics.callbacks.scoring import Scores
from rrgmetrics.integrations.model_card import interval
from rrgmetrics.reporting.numbers import between, estimate
from rrgmetrics.spaces.batch import Scored, overview
from rrgmetrics.spaces.leaderboard.creation import create_board
from rrgmetrics.spaces.leaderboard.scoring import score_reports

WORDS = "small left pleural effusion with mild cardiomegaly and right basal atelectasis no pneumothorax".split()


@pytest.fixture
def pairs(tmp_path):
    rows = [{"reference": " ".join(WORDS[n % 5 :]), "candidate": " ".join(WORDS[n % 3 : 4 + n % 7])} for n in range(30)]
    path = tmp_path / "pairs.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_score_a_space_the_board_and_a_run_give_one_interval(pairs, capsys):
    result = rrgmetrics.score("rouge", pairs, progress=False)["rouge"]
    found = result.interval()
    ends = pytest.approx(found[1:3], abs=1e-12)
    key = result.spec.headline
    cli.main(["score", str(pairs), "--metrics", "rouge", "--no-progress"])
    assert estimate(found, key) in capsys.readouterr().out
    studies = files.read_pairs(pairs)
    assert between(found.low, found.high, key) in overview(Scored("rouge", studies, result))
    of_run = values_of(5, Scores(dict(result.scores), {"rouge": result}), {})["intervals"]["rouge"]
    assert tuple(of_run[:2]) == ends
    board = [(pair.reference, {}, ()) for pair in studies.pairs]
    trials = create_board.__kwdefaults__["trials"]
    reports = [pair.candidate for pair in studies.pairs]
    (scored,) = score_reports(rrgmetrics.prepare("rouge"), {"rouge": "rouge"}, board, reports, trials=trials)
    assert scored.estimates["rouge"][1:3] == ends
    assert interval(result) == f"↑ [{found.low:.3g}, {found.high:.3g}]"
