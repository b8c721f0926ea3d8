"""Scores, ranks, comparisons, rounds: what the board says of systems."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import SPECS, InputError, stats
from rrgmetrics.scorers import aggregate
from rrgmetrics.scoring.prepared import Metrics
from rrgmetrics.spaces.access import LimitError
from rrgmetrics.spaces.leaderboard import open_board, pages, scoring, shown
from rrgmetrics.spaces.leaderboard.commands import standings_table
from rrgmetrics.spaces.leaderboard.model import Limits, RefusedError
from rrgmetrics.stats import Estimate

REFERENCES = [f"Small left pleural effusion {i}." for i in range(12)]
GOOD, BAD = [f"Small left effusion {i}." for i in range(12)], ["Nothing."] * 12
MIXED = GOOD[:6] + BAD[6:]


@pytest.fixture
def unscored(monkeypatch):
    """A pair whose candidate is "?" stays without a score, as if a judge had failed on it."""
    real = Metrics.score_pairs

    def score_pairs(self, pairs, **keywords):
        results = real(self, pairs, **keywords)
        lost = np.array([pair.candidate == "?" for pair in pairs])
        for name, result in results.items():
            values = result.pair_stats.copy()
            values[lost] = np.nan
            scores = aggregate.reduce(result.reduction, values)
            results[name] = replace(result, pair_stats=values, scores=scores)
        return results

    monkeypatch.setattr(Metrics, "score_pairs", score_pairs)


def ranks(board, **keywords):
    return {line.system.name: line.rank for line in board.standings(**keywords).systems}


def test_scores_are_those_of_score(make_board, send, work_off):
    board = make_board(REFERENCES, metrics=("rouge", "bleu", "finding_errors"))
    id = send(board, "Good", GOOD)
    work_off(board)
    expected = rrgmetrics.score(["rouge", "bleu"], predictions=GOOD, references=REFERENCES, progress=False)
    line = board.standings().systems[0]
    for name, result in expected.items():
        assert line.scores[name].value == round(result.scores[name], 3)
        assert line.scores[name].low <= line.scores[name].value <= line.scores[name].high
        assert line.scores[name].n == 12
    shown = {result.metric.name: result for result in board.system(id).results}
    assert shown["bleu"].signature == expected["bleu"].signature == shown["bleu"].metric.signature
    assert [item.key.name for item in shown["rouge"].scores] == ["rouge", "rouge_1", "rouge_2", "rouge_l"]
    assert list(shown["finding_errors"].categories) == list("ABCDEF")
    assert shown["bleu"].categories == {}


def test_slices(make_board, send, work_off):
    references = ["Small left pleural effusion."] * 5 + ["The lungs are clear."] * 6
    board = make_board(references)
    id = send(board, "Half", references[:5] + ["Nothing."] * 6)
    work_off(board)
    slices = {part.name: part for part in board.system(id).slices}
    assert {name: part.n_studies for name, part in slices.items()} == {"normal": 6, "abnormal": 5, "pleura": 5}
    assert slices["abnormal"].scores["rouge"].value == 1
    assert slices["normal"].scores["rouge"].value == 0


def test_a_part_of_few_studies_is_not_told(make_board, send, work_off):
    board = make_board(["Small left pleural effusion."] * 4 + ["The lungs are clear."] * 6)
    id = send(board, "Clear", ["Clear."] * 10)
    work_off(board)
    assert [part.name for part in board.system(id).slices] == ["normal"]


def test_examples_are_public_studies_only(make_board, send, work_off):
    board = make_board(REFERENCES, n_public=3, metrics=("rouge", "bleu"))
    id = send(board, "Mixed", MIXED)
    work_off(board)
    examples = board.examples(id)
    assert [example.reference for example in examples] == REFERENCES[:3]
    assert [example.candidate for example in examples] == MIXED[:3]
    expected = rrgmetrics.score("rouge", predictions=MIXED, references=REFERENCES, progress=False)["rouge"]
    assert [example.scores["rouge"] for example in examples] == expected.per_pair["rouge"][:3].round(3).tolist()
    assert [example.study_id for example in board.examples(id, offset=1, limit=1)] == ["study-001"]
    assert board.examples(id, offset=3) == ()


def test_systems_are_compared_on_the_pairs_that_all_have_scored(make_board, send, work_off, unscored):
    """200 studies; rouge is 1 for a copy and 0 for "Nothing."."""
    references = [f"Effusion {i}." for i in range(200)]
    board = make_board(references)
    one_wrong = send(board, "One wrong", ["Nothing.", *references[1:]])
    send(board, "One unscored", ["?", *references[1:]])
    send(board, "Three unscored", ["?", "?", "?", *references[3:]])
    work_off(board)
    table = board.standings()
    by_name = {line.system.name: line for line in table.systems}
    assert table.n_common == {"rouge": 199}
    assert by_name["One wrong"].scores["rouge"] == (1, 1, 1, 199)
    assert by_name["One unscored"].scores["rouge"].value == 1
    assert ranks(board) == {"One wrong": 1, "One unscored": 1, "Three unscored": None}
    assert by_name["Three unscored"].reason.startswith("3 of 200 studies (1.5%) are not scored in ROUGE")
    assert by_name["Three unscored"].scores["rouge"].n == 197
    assert board.system(one_wrong).results[0].scores[0].score.value == pytest.approx(0.995)  # its own pairs
    board.hide(by_name["One unscored"].system.id)
    assert board.standings().n_common == {"rouge": 200}
    assert board.standings().systems[0].scores["rouge"].value == pytest.approx(0.995)


def sybils(send, board, references, n, lost):
    """`n` systems, each without a score on `lost` pairs that no other of them lacks."""
    for i in range(n):
        without = range(i * lost, (i + 1) * lost)
        send(board, f"Sybil {i}", ["?" if k in without else text for k, text in enumerate(references)])


def test_many_systems_together_cannot_take_the_pairs_of_another(make_board, send, work_off, unscored):
    """A rival that is right on the first 150 of 200; twelve systems leave out 24 of those, each its own two (1%)."""
    references = [f"Effusion {i}." for i in range(200)]
    board = make_board(references, trials=100)
    rival = send(board, "Rival", references[:150] + ["Nothing."] * 50)
    work_off(board)
    assert board.standings().systems[0].scores["rouge"].value == 0.75
    sybils(send, board, references, 12, 2)
    work_off(board)
    assert board.standings().n_common == {"rouge": 196}  # 2% of the pairs
    by_name = {line.system.name: line for line in board.standings().systems}
    assert by_name["Rival"].scores["rouge"].value == round(146 / 196, 3)
    assert (by_name["Sybil 0"].scores["rouge"].value, by_name["Sybil 0"].n_worst) == (1, {"rouge": 0})
    assert by_name["Sybil 11"].n_worst == {"rouge": 2}
    assert by_name["Sybil 11"].scores["rouge"].n == 196
    above = board.system(rival).above
    assert len(above) == 12
    assert {versus.test.n_left_out for versus in above} == {0}
    with board.store.writing() as connection:  # as before a worker has drawn the intervals
        connection.exec_driver_sql("DELETE FROM figures")
        connection.exec_driver_sql("UPDATE board SET revision = revision + 1")
    for line in board.standings().systems:
        assert line.scores["rouge"].value == by_name[line.system.name].scores["rouge"].value


def test_beyond_the_cap_an_unscored_pair_counts_as_the_worst_of_its_system(make_board, send, work_off, unscored):
    """Of 200 pairs one is wrong, one unscored; nothing may be left out."""
    references = [f"Effusion {i}." for i in range(200)]
    board = make_board(references, limits=Limits(left_out_share=0.0), metrics=("rouge", "finding_errors"))
    send(board, "One wrong", ["Nothing.", *references[1:]])
    send(board, "One wrong, one unscored", ["Nothing.", "?", *references[2:]])
    work_off(board)
    by_name = {line.system.name: line for line in board.standings().systems}
    assert by_name["One wrong"].scores["rouge"].value == 0.995
    assert by_name["One wrong, one unscored"].scores["rouge"].value == 0.99
    assert by_name["One wrong, one unscored"].n_worst == {"rouge": 1, "finding_errors": 1}
    assert by_name["One wrong, one unscored"].scores["finding_errors"].value == 0.01  # of 200, two miss one finding
    assert ranks(board) == {"One wrong": 1, "One wrong, one unscored": 2}
    assert open_board(board.place).limits.left_out_share == 0.0  # in the board's data


def test_pairs_that_nobody_has_scored_count_against_nobody(make_board, send, work_off, unscored):
    """As when references are out of a metric's scope: 20 of 200, ten times what a system may lack."""
    references = [f"Effusion {i}." for i in range(200)]
    board = make_board(references, limits=Limits(left_out_share=0.01))
    shared = ["?"] * 20 + references[20:]
    send(board, "All", shared)
    send(board, "One more", ["?"] * 21 + references[21:])
    send(board, "Three more", ["?"] * 23 + references[23:])
    work_off(board)
    assert board.standings().n_common == {"rouge": 179}
    assert ranks(board) == {"All": 1, "One more": 1, "Three more": None}
    last = board.standings().systems[-1]
    assert last.reason.startswith("3 of 180 studies (1.7%) are not scored in ROUGE")
    send(board, "Whole", references)  # so they can be scored, and count
    work_off(board)
    assert ranks(board) == {"Whole": 1, "Three more": None, "One more": None, "All": None}


def test_a_board_on_which_nothing_is_scored(make_board, send, work_off, unscored):
    board = make_board(REFERENCES)
    send(board, "A", ["?"] * 12)
    work_off(board)
    (line,) = board.standings().systems
    assert (line.rank, line.reason) == (None, "No system has a scored study in ROUGE.")


def test_what_differs_in_no_shown_number_is_equal(make_board, send, work_off):
    """A better word in 9 of 1,000 reports moves the score by 0.00045, and every test shows it; nobody is told."""
    references = [f"Effusion {i} seen in the left lung base." for i in range(1000)]
    board = make_board(references)
    base = [f"Effusion {i} is seen at the left lung." for i in range(1000)]
    better = [text.replace(" is ", " ") if i < 9 else text for i, text in enumerate(base)]
    ids = {name: send(board, name, reports) for name, reports in (("Base", base), ("Better", better))}
    work_off(board)
    first, second = (
        rrgmetrics.score("rouge", predictions=reports, references=references, progress=False)["rouge"]
        for reports in (base, better)
    )
    exact = stats.compare(first.reduction, first.pair_stats, second.pair_stats, trials=200)["rouge"]
    assert (round(exact.difference.value, 5), exact.p_value < 0.05) == (0.00045, True)
    assert ranks(board) == {"Base": 1, "Better": 1}
    assert [line.system.name for line in board.standings().systems] == ["Base", "Better"]  # the earlier first
    assert [line.scores["rouge"].value for line in board.standings().systems] == [0.75, 0.75]
    assert [line.best_rank for line in board.standings().systems] == [1, 1]
    duel = board.head_to_head(ids["Better"], ids["Base"]).rows[0]
    for versus in (duel, *board.system(ids["Better"]).above):
        assert (versus.is_better, versus.p_corrected, versus.test.p_value) == (None, 1.0, 1.0)
        assert (versus.test.difference.value, versus.test.effect_size) == (0.0, 0.0)
        assert versus.test.system == versus.test.baseline == 0.75


def test_equal_systems_share_a_rank(make_board, send, work_off):
    board = make_board(REFERENCES)
    worse = [f"{text} Edema." for text in REFERENCES]
    for name, reports in (("Worse", worse), ("A", REFERENCES), ("B", REFERENCES), ("Worse too", worse)):
        send(board, name, reports)
    work_off(board)
    assert ranks(board) == {"A": 1, "B": 1, "Worse": 3, "Worse too": 3}
    best = {line.system.name: line.best_rank for line in board.standings().systems}
    assert best["A"] == best["B"] == 1
    assert best["Worse"] == best["Worse too"]
    table = standings_table(board.standings())
    assert [line[0] for line in table.groups[0].lines] == ["1", "1", "3", "3"]
    above = {
        line.system.name: [versus.other.name for versus in board.system(line.system.id).above]
        for line in board.standings().systems
    }
    assert above == {"A": [], "B": [], "Worse": ["B", "A"], "Worse too": ["B", "A"]}  # one family of tests a rank


def test_a_difference_is_that_of_the_shown_numbers():
    key = SPECS["finding_errors"].headline
    exact = stats.PairedTest(2.764, 0.566, Estimate(-2.198, -2.30, -2.10, 22), -1.0, 0.01, False, 0)
    found = shown.comparison(exact, key)
    assert (found.system, found.baseline, found.difference) == (0.57, 2.76, Estimate(-2.19, -2.30, -2.10, 22))
    alike = shown.comparison(replace(exact, system=2.762, difference=Estimate(-0.002, -0.004, -0.001, 22)), key)
    assert (alike.difference.value, alike.p_value, alike.effect_size) == (0.0, 1.0, 0.0)
    narrow = shown.comparison(replace(exact, difference=Estimate(-2.198, -2.198, -2.198, 22)), key)
    assert narrow.difference == Estimate(-2.19, -2.20, -2.19, 22)  # the interval holds what is shown


def test_systems_of_the_round_before_are_listed_by_their_scores(make_board, send, work_off):
    board = make_board(REFERENCES)
    for name, reports in (("Good", GOOD), ("Bad", BAD), ("Mixed", MIXED)):
        send(board, name, reports)
    work_off(board)
    board.rescore()
    assert [(line.system.name, line.rank) for line in board.standings().systems] == [
        ("Good", None),
        ("Mixed", None),
        ("Bad", None),
    ]


def test_values_on_common_pairs_are_right_before_their_intervals_are_there(make_board, send, work_off, unscored):
    references = [f"Effusion {i}." for i in range(100)]
    board = make_board(references)
    send(board, "One wrong", ["Nothing.", *references[1:]])
    hidden = send(board, "One unscored", ["?", *references[1:]])
    board.hide(hidden)
    work_off(board)
    board.unhide(hidden)
    score = {line.system.name: line.scores["rouge"] for line in board.standings().systems}["One wrong"]
    assert score.value == 1
    assert math.isnan(score.low)
    work_off(board)
    assert board.standings().systems[0].scores["rouge"] == (1, 1, 1, 99)


def test_unscored_in_a_second_metric_does_not_unrank(make_board, send, work_off, unscored, monkeypatch):
    board = make_board(REFERENCES, metrics=("rouge", "bleu"), primary="bleu")
    send(board, "A", GOOD)
    work_off(board)
    line = board.standings().systems[0]
    assert (line.rank, board.info().primary) == (1, "bleu")


def test_tests_against_the_systems_above(make_board, send, work_off):
    board = make_board(REFERENCES)
    ids = {name: send(board, name, reports) for name, reports in (("Bad", BAD), ("Mixed", MIXED), ("Good", GOOD))}
    work_off(board)
    assert ranks(board) == {"Good": 1, "Mixed": 2, "Bad": 3}
    above = board.system(ids["Bad"]).above
    assert [versus.other.name for versus in above] == ["Mixed", "Good"]  # nearest first
    results = {
        name: rrgmetrics.score("rouge", predictions=reports, references=REFERENCES, progress=False)["rouge"]
        for name, reports in (("Bad", BAD), ("Mixed", MIXED), ("Good", GOOD))
    }
    for versus in above:
        other, ours = results[versus.other.name], results["Bad"]
        expected = stats.compare(ours.reduction, other.pair_stats, ours.pair_stats, trials=200)["rouge"]
        assert versus.test.difference.value == round(expected.difference.value, 3)
        assert versus.test.p_value == (0.0 if expected.p_value < 0.001 else round(expected.p_value, 3))
        assert versus.is_better is False
    # 2 of 2^12 swaps are as extreme as Good and Bad themselves, 2 of 2^6 as Mixed and another.
    assert [versus.test.p_value for versus in above] == [round(2 / 2**6, 3), 0.0]
    assert [versus.p_corrected for versus in above] == [
        0.0 if p < 0.001 else round(p, 3) for p in stats.holm([2 / 2**6, 2 / 2**12])
    ]
    assert board.system(ids["Good"]).above == ()
    best = {line.system.name: line.best_rank for line in board.standings().systems}
    assert best == {"Good": 1, "Mixed": 2, "Bad": 3}


def test_head_to_head_reads_the_same_from_both_sides(make_board, send, work_off, unscored):
    board = make_board(REFERENCES, metrics=("rouge", "bleu"))
    good = send(board, "Good", ["?", *GOOD[1:]])
    mixed = send(board, "Mixed", [*MIXED[:-1], "?"])
    work_off(board)
    here, there = board.head_to_head(good, mixed), board.head_to_head(mixed, good)
    assert here.n_common == there.n_common == {"rouge": 10, "bleu": 10}
    assert [row.key.name for row in here.rows][:2] == ["rouge", "rouge_1"]
    for ours, theirs in zip(here.rows, there.rows, strict=True):
        value, low, high, n = theirs.test.difference
        assert ours.test.difference == pytest.approx((-value, -high, -low, n), abs=1e-12)
        assert ours.test.p_value == theirs.test.p_value
        assert (ours.test.system, ours.test.baseline) == (theirs.test.baseline, theirs.test.system)
        assert ours.is_better is None if theirs.is_better is None else ours.is_better is not theirs.is_better
    headlines = [row for row in here.rows if not math.isnan(row.p_corrected)]
    assert [row.key.name for row in headlines] == ["rouge", "bleu"]
    corrected = stats.holm([row.test.p_value for row in headlines])
    assert [row.p_corrected for row in headlines] == pytest.approx(corrected, abs=0.0011)  # of the exact ones
    with pytest.raises(InputError, match="two different"):
        board.head_to_head(good, good)


def test_filters(board, send, work_off):
    send(board, "A", GOOD, tags=["VLM", "7B"])
    send(board, "B", ["Clear."] * 12, tags=["retrieval"])
    work_off(board)
    assert board.standings().tags == ("7B", "retrieval", "VLM")
    assert ranks(board, tag="retrieval") == {"B": 2}


def test_hidden_systems_are_nowhere_but_kept(board, send, work_off):
    id = send(board, "A", ["Clear."] * 12)
    work_off(board)
    board.hide(id)
    assert ranks(board) == {}
    assert ranks(board, hidden=True) == {"A": None}
    for look in (board.system, board.examples):
        with pytest.raises(InputError, match="no submission"):
            look(id)
    assert board.system(id, hidden=True).standing.reason.startswith("Hidden")
    board.unhide(id)
    assert ranks(board) == {"A": 1}


def test_progress(board, send, work_off):
    first, second = send(board, "A", ["Clear."] * 12), send(board, "B", ["Clear."] * 12)
    assert (board.progress(first).state, board.progress(first).ahead) == ("queued", 0)
    assert (board.progress(second).ahead, board.progress(second).message) == (1, "Waiting; 1 before it.")
    with pytest.raises(InputError, match="A has no scores yet"):
        board.system(first)
    work_off(board)
    assert (board.progress(second).state, board.info().n_queued) == ("done", 0)
    with pytest.raises(InputError, match="no submission 'nobody'"):
        board.progress("nobody")


def test_rescoring_opens_a_round(board, send, work_off, monkeypatch):
    id = send(board, "A", ["Clear."] * 12)
    work_off(board)
    before = board.info().metrics[0].signature
    newer = {"rouge": before.replace("|v:0.", "|v:1.")}
    monkeypatch.setattr(Metrics, "signatures", lambda self, n_pairs: newer)
    send(board, "B", ["Clear."] * 12)
    with pytest.raises(InputError, match=r"Round 1 .* uses rouge\|.*and rouge\|.* is installed.*rescore"):
        work_off(board)
    assert board.rescore() == 2
    assert board.system(id).stale
    assert board.standings().systems[0].reason == "The scores are those of round 1; round 2 is being scored."
    work_off(board)
    assert ranks(board) == {"A": 1, "B": 1}
    assert (board.info().round, board.info().metrics[0].signature) == (2, newer["rouge"])
    assert not board.system(id).stale
    with board.store.reading() as connection:
        kept = connection.exec_driver_sql("SELECT submission, edition, signature FROM results ORDER BY 1, 2").all()
    assert [row[:2] for row in kept] == [(1, 1), (1, 2), (2, 2)]


def test_a_release_that_changes_no_score_needs_no_round():
    signature = "rouge|stemmer:yes|n:12|v:0.1.0"
    assert scoring.changed({"rouge": signature}, {"rouge": signature.replace("0.1.0", "0.1.7")}) == []
    assert scoring.changed({"rouge": signature}, {"rouge": signature.replace("0.1.0", "0.2.0")}) == ["rouge"]
    assert scoring.changed({"rouge": signature}, {"rouge": signature.replace("yes", "no")}) == ["rouge"]


def test_pages_are_computed_once_a_revision(board, send, work_off):
    send(board, "A", ["Clear."] * 12)
    work_off(board)
    table = board.table()
    assert board.table() is table
    send(board, "B", ["Clear."] * 12)
    assert board.table() is not table


def test_reopened_board_says_the_same(board, send, work_off):
    send(board, "A", GOOD)
    work_off(board)
    assert open_board(board.place).standings() == board.standings()


# --- limits and tokens


def test_same_submission_again_gives_the_same_receipt(board, send):
    first = send(board, "A", ["Clear."] * 12, address="192.0.2.1")
    assert send(board, " a ", ["Clear."] * 12, address="192.0.2.1") == first
    assert board.info().n_queued == 1
    with pytest.raises(RefusedError, match="'A' is taken"):
        send(board, "A", ["Edema."] * 12)
    with pytest.raises(RefusedError, match="'Ａ' is taken"):
        send(board, "Ａ", ["Edema."] * 12, submitter="other")  # a wide A


@pytest.mark.parametrize(
    "name",
    [
        "COCA 10l",
        "ｃｏｃａ １０１",
        "co\u200bca 101",
        "coca\ufe0f 101",
        "coca \u3164101",
        "СОСА 101",
        "соса 101",
        "cöca 101",
        "coca lOI",
        "coca ١٠١",
        "ᴄᴏᴄᴀ 101",
    ],
)
def test_a_name_that_reads_like_another_is_refused(board, send, name):
    send(board, "Coca 101", ["Clear."] * 12)
    with pytest.raises(RefusedError, match=r"is taken|looks like the name of another system"):
        send(board, name, ["Clear."] * 12, submitter="other")


def test_names_that_differ_are_two(board, send):
    for name in ("Coca 101", "Coca 102", "Кока 101", "Coca-101", "模型", "模型2"):
        send(board, name, ["Clear."] * 12)
    assert board.info().n_queued == 6


def test_a_handle_that_reads_like_another_is_refused(board, send):
    send(board, "A", ["Clear."] * 12, submitter="lab-1")
    for other in ("Iab-1", "lab-l", "https://hf.co/1ab-1"):
        with pytest.raises(RefusedError, match="looks like another submitter"):
            send(board, "B", ["Clear."] * 12, submitter=other)
    with pytest.raises(RefusedError, match="mixes CYRILLIC and LATIN"):
        send(board, "B", ["Clear."] * 12, submitter="https://exаmple.org")
    send(board, "B", ["Clear."] * 12, submitter="LAB-1")
    send(board, "C", ["Clear."] * 12, submitter="lab-2")


def test_one_submitter_has_one_quota_however_it_is_written(make_board, send):
    board = make_board(limits=Limits(submissions_per_day=3))
    ways = ("lab", "LAB", "http://hf.co/lab/")
    for i, submitter in enumerate(ways):
        send(board, f"A{i}", ["Clear."] * 12, submitter=submitter, address="192.0.2.1")
    with pytest.raises(LimitError, match="One submitter"):
        send(board, "B", ["Clear."] * 12, submitter="https://www.huggingface.co/lab", address="192.0.2.2")


@pytest.fixture
def clock(monkeypatch):
    import time

    class Clock:
        now = time.time()

    monkeypatch.setattr(time, "time", lambda: Clock.now)
    return Clock


def test_submissions_a_day(make_board, send, clock):
    board = make_board(limits=Limits(submissions_per_day=2, submissions_per_day_and_address=3))
    for i in range(2):
        send(board, f"A{i}", ["Clear."] * 12, address="192.0.2.1")
        clock.now += 10
    with pytest.raises(LimitError, match="One submitter may send 2 submissions a day") as caught:
        send(board, "A2", ["Clear."] * 12, address="198.51.100.7")
    assert caught.value.retry_after == pytest.approx(86_400 - 20)
    send(board, "B", ["Clear."] * 12, submitter="other", address="192.0.2.1")
    with pytest.raises(LimitError, match="One address may send 3 submissions a day"):
        send(board, "C", ["Clear."] * 12, submitter="third", address="::ffff:192.0.2.1")  # the same host
    send(board, "D", ["Clear."] * 12)  # the administrator's command line has no address
    clock.now += 86_400
    send(board, "A2", ["Clear."] * 12, address="192.0.2.1")


def test_tries_an_hour_count_refused_files_too(make_board, send, clock):
    board = make_board(limits=Limits(tries_per_hour=3))
    for _ in range(3):
        with pytest.raises(RefusedError):
            send(board, "A", [""], address="2001:db8::1")
    with pytest.raises(LimitError) as caught:
        send(board, "A", ["Clear."] * 12, address="2001:db8::ffff:2")  # the same /64
    assert caught.value.retry_after == pytest.approx(3600)
    send(board, "A", ["Clear."] * 12, address="2001:db8:0:1::1")


def test_tries_from_the_future_do_not_count(make_board, send, clock):
    """As after a clock that was ahead, or on another machine with one."""
    board = make_board(limits=Limits(tries_per_hour=1, submissions_per_day=1))
    clock.now += 365 * 86_400
    send(board, "A", ["Clear."] * 12, address="192.0.2.1")
    clock.now -= 365 * 86_400
    send(board, "B", ["Clear."] * 12, address="192.0.2.1")


def test_full_queue(make_board, send):
    board = make_board(limits=Limits(queue=1))
    send(board, "A", ["Clear."] * 12)
    with pytest.raises(LimitError, match="queue is full"):
        send(board, "B", ["Clear."] * 12)


def test_admin_token(board, clock):
    assert board.verify_admin(board.token, "192.0.2.1")
    for guess in ("", "x", board.token[:-1], "é", "\ud800"):
        assert not board.verify_admin(guess, "192.0.2.1")
    with pytest.raises(LimitError, match="wrong tokens"):
        board.verify_admin("x", "192.0.2.1")
    assert board.verify_admin(board.token, "192.0.2.1")  # guesses from beside lock nobody out
    assert not board.verify_admin("x", "192.0.2.2")
    clock.now += 901
    assert not board.verify_admin("x", "192.0.2.1")
    newer = board.new_admin_token()
    assert not board.verify_admin(board.token)
    assert board.verify_admin(newer)


def test_neither_tokens_nor_addresses_are_stored(board, send):
    board.verify_admin("guess", "192.0.2.1")
    send(board, "A", ["Clear."] * 12, address="192.0.2.1")
    board.close()
    stored = b"".join(path.read_bytes() for path in board.store.path.parent.iterdir())
    assert b"192.0.2.1" not in stored
    assert board.token.encode() not in stored


def test_a_system_is_told_its_skill_beside_trivial_ones(make_board, send, work_off):
    references = [f"Nodule of {size} mm in the left upper lobe." for size in range(3, 15)]
    board = make_board(references, metrics=("rouge", "finding_errors"))
    same = send(board, "A", ["Clear."] * 12)
    copy = send(board, "B", references)
    work_off(board)
    skills = {id: [result.skill for result in board.system(id).results] for id in (same, copy)}
    assert [skill.skill.value for skill in skills[copy]] == [1.0, 1.0]
    assert [skill.state for skill in skills[same]] == ["no better", "no better"]
    assert set(skills[same][0].trivial) == {"empty", "normal", "template", "another"}
    page = pages.system_page(board.info(), board.system(same))
    assert "This system does not beat the best trivial system in any metric." in page
    assert "This system writes 1 distinct report for 12 studies; the radiologists wrote 12" in page
    assert "Skill beside trivial systems" in page
    table = pages.standings_page(board.standings())
    assert table.count("skill 1.00") == 2
    assert table.count("no better than an empty report") == 1  # in ROUGE
    assert [line.skills["rouge"].skill.value for line in board.standings().systems] == [
        1.0,
        skills[same][0].skill.value,
    ]


def test_no_reference_leaves_with_the_collapse_of_a_system(make_board, send, work_off):
    board = make_board(["A secret word: zyzzogeton."] * 9 + ["Clear lungs.", "Edema.", "Nodule."])
    id = send(board, "A", [f"Nodule of {size} mm." for size in range(12)])
    work_off(board)
    found = board.system(id).collapse
    assert (found.own.n_distinct, found.references.n_distinct) == (12, 4)
    assert (found.references.commonest_share, found.references.self_similarity) == (0.75, 0.55)
    assert found.own.commonest == found.references.commonest == ""
    assert "zyzzogeton" not in pages.system_page(board.info(), board.system(id))
