"""What many submissions of random subsets tell of the references, and what the board's settings do about it."""

from __future__ import annotations

import numpy as np
import pytest

from rrgmetrics import InputError, cli
from rrgmetrics.spaces.leaderboard.model import Limits

scipy_optimize = pytest.importorskip("scipy.optimize")
N, PROBES = 24, 20
FACTS = np.random.default_rng(0).random(N) < 0.5  # which references report an effusion
REFERENCES = ["Left pleural effusion." if fact else "The lungs are clear." for fact in FACTS]


def probe(board, send, work_off):
    """Asks of random subsets how many have an effusion; returns the subsets, and the scores that the board shows."""
    subsets = np.random.default_rng(1).random((PROBES, N)) < 0.5
    for i, subset in enumerate(subsets):
        send(board, f"Probe {i}", ["Left pleural effusion." if asked else "Other." for asked in subset])
    work_off(board)
    shown = {line.system.name: line.scores["rouge"].value for line in board.standings().systems}
    return subsets, np.array([shown[f"Probe {i}"] for i in range(PROBES)])


def decode(subsets, scores):
    """The facts that explain the scores best, each between no (0) and yes (1)."""
    if np.isnan(scores).all():
        return np.full(N, np.nan)
    return scipy_optimize.lsq_linear(subsets / N, scores, bounds=(0, 1)).x


def share_right(decoded, facts):
    """Of facts, how many are told; of what is not known half are guessed."""
    return float(np.mean(np.where(np.isnan(decoded), 0.5, (decoded > 0.5) == facts)))


def test_random_subsets_tell_all_facts(make_board, send, work_off):
    board = make_board(REFERENCES, n_public=0)
    assert share_right(decode(*probe(board, send, work_off)), FACTS) == 1


def test_facts_that_are_withheld_are_not_told(make_board, send, work_off):
    """The scores of a half of the studies tell nothing of the other half, and that one decides in the end."""
    board = make_board(REFERENCES, n_public=0, limits=Limits(withheld_share=0.5))
    subsets, scores = probe(board, send, work_off)
    withheld = sorted(board.withheld())
    assert len(withheld) == N // 2
    shown = np.setdiff1d(np.arange(N), withheld)
    known = np.full(N, np.nan)  # even for somebody who knows which half counts
    known[shown] = scipy_optimize.lsq_linear(subsets[:, shown] / len(shown), scores, bounds=(0, 1)).x
    assert share_right(known[shown], FACTS[shown]) == 1
    assert share_right(known[withheld], FACTS[withheld]) == 0.5
    found = (subsets & FACTS)[:, shown].mean(axis=1)
    assert scores == pytest.approx(found, abs=5e-4)  # to the digits that are shown: the withheld have no part in them


def test_scores_do_not_depend_on_what_is_withheld(make_board, send, work_off):
    board = make_board(REFERENCES, n_public=4, limits=Limits(withheld_share=0.5))
    withheld = board.withheld()
    assert withheld.isdisjoint(range(4))
    right = [REFERENCES[i] if i in withheld else "Other." for i in range(N)]
    ids = [send(board, "Other", ["Other."] * N), send(board, "Right where it is withheld", right)]
    work_off(board)
    one, other = (board.system(id) for id in ids)
    assert [result.scores for result in one.results] == [result.scores for result in other.results]
    assert [part.scores for part in one.slices] == [part.scores for part in other.slices]
    assert [line.n_unscored["rouge"] for line in board.standings().systems] == [0, 0]
    assert board.standings().n_common == {"rouge": N - 10}
    assert board.progress(ids[0]).message == "Scored."
    assert board.info().n_withheld == 10
    for versus in board.head_to_head(*ids).rows:
        assert versus.test.difference.value == 0


def test_nothing_shows_until_all_is_revealed(make_board, send, work_off, capsys):
    board = make_board(REFERENCES, n_public=0, limits=Limits(withheld_share=1.0))
    subsets, scores = probe(board, send, work_off)
    assert np.isnan(scores).all()
    assert share_right(decode(subsets, scores), FACTS) == 0.5
    reasons = {(line.rank, line.reason) for line in board.standings().systems}
    assert reasons == {(None, "No study counts yet: withheld_share of the board is 1.")}
    assert cli.main(["leaderboard", "limits", board.place, "withheld_share=0"]) == 0
    out = capsys.readouterr().out
    assert f"Round 2: {PROBES} submissions queued.\n`rrgmetrics leaderboard work {board.place} --once` scores" in out
    work_off(board)
    lines = board.standings().systems
    assert {line.rank is None for line in lines} == {False}
    assert board.standings().n_common == {"rouge": N}


def test_limits_are_shown_and_changed(board, capsys):
    assert cli.main(["leaderboard", "limits", board.place]) == 0
    assert "submissions_per_day=5" in capsys.readouterr().out
    assert cli.main(["leaderboard", "limits", board.place, "submissions_per_day=2", "left_out_share=0.01"]) == 0
    out = capsys.readouterr().out
    assert "submissions_per_day=2" in out
    assert "left_out_share=0.01" in out
    for wrong in ({"other": 1}, {"withheld_share": 1.5}, {"submissions_per_day": 1.5}, {"queue": -1}):
        with pytest.raises(InputError):
            board.set_limits(**wrong)
