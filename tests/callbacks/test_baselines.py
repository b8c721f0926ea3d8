"""What saying nothing earns, and who is told: callback, `compute_metrics`, `ReportMetrics`, rewards."""

from __future__ import annotations

import json
import logging
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics.callbacks import (
    ReportMetrics,
    ReportMetricsCallback,
    best_model,
    make_compute_metrics,
    make_reward,
    reward,
)
from rrgmetrics.callbacks.baselines import NORMAL_REPORT, TRIVIAL, Baseline, Watch, say_change
from rrgmetrics.callbacks.scoring import Scoring, headline
from rrgmetrics.errors import InputError
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers.finding_errors import FindingErrors
from rrgmetrics.scoring import prepared

REFERENCES = ["Small left pleural effusion.", "Large right pneumothorax.", "No acute disease."]
WORSE = ["Cardiomegaly. Rib fracture. Lung mass."] * 3


@pytest.fixture(autouse=True)
def heard(caplog):
    """All is heard."""
    caplog.set_level(logging.INFO, "rrgmetrics")


def messages(caplog, level=logging.WARNING):
    return [each.getMessage() for each in caplog.records if (each.name, each.levelno) == ("rrgmetrics", level)]


@pytest.fixture
def judge(tmp_path):
    """A judge that is asked, with one recorded reply to something else."""
    path = tmp_path / "replies.jsonl"
    path.write_text(
        json.dumps(
            {"protocol": "chexprompt@1", "prompt_sha256": "0" * 64, "reply": "?", "engine": "x", "parameters": {}}
        )
    )
    return f"chexprompt@replies:{path}"


@pytest.fixture
def calls(monkeypatch):
    """How many lists of pairs each call of the runner scored."""
    asked = []
    run = prepared.run

    def counted(jobs, lists, **options):
        asked.append(len(lists))
        return run(jobs, lists, **options)

    monkeypatch.setattr(prepared, "run", counted)
    return asked


@pytest.mark.parametrize(
    ("value", "baseline", "higher", "words"),
    [
        (
            1.92,
            (1.70, 1.68),
            False,
            "step 500: eval_crepe 1.92 does not beat a one-sentence normal report's 1.68 (lower "
            "is better). Choosing the best model by it would choose a model that always writes a normal report.",
        ),
        (
            0.31,
            (0.1, 0.4),
            True,
            "step 500: eval_crepe 0.310 does not beat a one-sentence normal report's 0.400 "
            "(higher is better). Choosing the best model by it would choose a model that always writes a normal "
            "report.",
        ),
        (
            0.5,
            (math.nan, 0.5),
            True,
            "step 500: eval_crepe 0.500 does not beat a one-sentence normal report's 0.500 "
            "(higher is better). Choosing the best model by it would choose a model that always writes a normal "
            "report.",
        ),
        (
            0.50004,
            (0.3, 0.5),
            True,
            "step 500: eval_crepe 0.500 does not beat a one-sentence normal report's 0.500 "
            "(higher is better). Choosing the best model by it would choose a model that always writes a normal "
            "report.",
        ),
        (
            math.nan,
            (0.1, 0.4),
            True,
            "step 500: eval_crepe cannot be compared with trivial reports: it is unscored, an empty report's is 0.100, "
            "a one-sentence normal report's is 0.400.",
        ),
        (
            0.5,
            (math.nan, math.nan),
            True,
            "step 500: eval_crepe cannot be compared with trivial reports: it is 0.500, an empty report's is unscored, "
            "a one-sentence normal report's is unscored.",
        ),
    ],
)
def test_the_words_say_the_three_numbers(value, baseline, higher, words, caplog):
    use = "Choosing the best model by it would choose"
    say_change(None, "step 500: eval_crepe", value, Baseline(*baseline), higher_is_better=higher, use=use)
    assert messages(caplog) == [words]


def test_what_is_beaten_is_not_worth_a_warning_even_beside_an_unscored_baseline(caplog):
    for baseline in (Baseline(0.1, 0.4), Baseline(math.nan, 0.4)):
        for before in (None, "better"):
            assert say_change(before, "x", 0.5, baseline, higher_is_better=True, use="") == "better"
    assert messages(caplog) == []


def test_the_callback_warns_once_a_change_and_computes_once_a_set(make_trainer, vision_model, calls, caplog):
    silent = iter([True, True, True, False, True])  # the first call is the rehearsal

    def generate(model, examples):
        return [""] * len(examples) if next(silent) else [example["report"] for example in examples]

    trainer = make_trainer(vision_model, max_steps=8, per_device_eval_batch_size=8)
    callback = ReportMetricsCallback(["finding_errors", "bleu"], generate_fn=generate).attach(trainer)
    trainer.train()
    assert calls == [5, 1, 1, 1, 1]  # four trivial systems and the references, before the first step
    beginnings = [message[: message.index(" beat") + 5] for message in messages(caplog)]
    assert beginnings == [
        "step 2: eval_finding_errors 1.17 does not beat",
        "step 2: eval_bleu 0.000 does not beat",
        "step 6: eval_finding_errors 0.000 now beat",
        "step 6: eval_bleu 1.000 now beat",
        "step 8: eval_finding_errors 1.17 no longer beat",
        "step 8: eval_bleu 0.000 no longer beat",
    ]
    references = [example["report"] for example in trainer.eval_dataset]
    for index, text in enumerate(("", NORMAL_REPORT)):
        results = rrgmetrics.score(["finding_errors", "bleu"], predictions=[text] * 6, references=references)
        for name, result in results.items():  # bleu: a value of the set, not a mean over pairs
            for key, value in result.scores.items():
                assert callback.baselines[f"eval_{key}"][index] == pytest.approx(value), name
    assert not any("baseline" in key or "normal" in key for row in trainer.state.log_history for key in row)


@pytest.mark.parametrize(("right", "n_said"), [(2, 1), (6, 0)])
def test_a_best_model_that_is_no_better_is_warned_of_at_the_end(make_trainer, vision_model, right, n_said, caplog):
    def generate(model, examples):
        return [example["report"] if index < right else "" for index, example in enumerate(examples)]

    arguments = {"save_strategy": "steps", "save_steps": 2, **best_model("finding_errors")}
    trainer = make_trainer(vision_model, per_device_eval_batch_size=8, **arguments)
    ReportMetricsCallback("finding_errors", generate_fn=generate, restore="ignore").attach(trainer)
    trainer.train()
    said = [text for text in messages(caplog) if text.startswith("best model, step 2: eval_finding_errors")]
    assert len(said) == n_said
    ending = "The checkpoint that was kept is no better than a model that always writes a normal report."
    assert all(text.endswith(ending) for text in said)


def test_all_trivial_systems_are_logged_before_the_first_step(make_trainer, vision_model, parrot, caplog):
    trainer = make_trainer(vision_model)
    callback = ReportMetricsCallback("finding_errors", generate_fn=parrot()).attach(trainer)
    callback.on_train_begin(trainer.args, trainer.state, None)
    (message,) = messages(caplog, logging.INFO)
    assert message == (
        "eval_finding_errors of trivial systems on 6 studies: an empty report 1.17, a one-sentence normal report "
        "0.667, a normal template 0.667, another study's report 1.33; of the references 0.000."
    )
    assert callback.baselines["eval_finding_errors"].another == pytest.approx(4 / 3)


def test_another_study_s_report_can_be_the_one_that_is_not_beaten(caplog):
    baseline = Baseline(0.1, 0.2, another=0.4)
    say_change(None, "x", 0.3, baseline, higher_is_better=True, use="It would choose")
    (message,) = messages(caplog)
    assert message == (
        "x 0.300 does not beat another study's report's 0.400 (higher is better). It would choose a model that "
        "ignores the image."
    )


def test_sets_are_told_apart_and_the_key_of_the_best_model_is_compared_too(make_trainer, vision_model, studies, caplog):
    trainer = make_trainer(
        vision_model,
        eval_dataset={"a": studies[:2], "b": studies[2:]},
        metric_for_best_model="eval_a_finding_errors_missing_finding",
        greater_is_better=False,
    )
    say_nothing = ReportMetricsCallback("finding_errors", generate_fn=lambda model, examples: [""] * len(examples))
    say_nothing.attach(trainer)
    trainer.evaluate()
    assert [message.split()[2] for message in messages(caplog)] == [
        "eval_a_finding_errors",
        "eval_a_finding_errors_missing_finding",
        "eval_b_finding_errors",
    ]
    assert say_nothing.baselines["eval_a_finding_errors"].empty != say_nothing.baselines["eval_b_finding_errors"].empty


def test_no_model_is_chosen_by_a_test_set(make_trainer, vision_model, studies, caplog):
    trainer = make_trainer(vision_model, eval_dataset=studies[:2])
    ReportMetricsCallback("finding_errors", generate_fn=lambda model, examples: [""] * len(examples)).attach(trainer)
    trainer.train()
    trainer.evaluate(studies[2:], metric_key_prefix="test")
    chosen, tested = messages(caplog)
    assert "Choosing the best model by it would choose a model that" in chosen
    assert tested.startswith("step 4: test_finding_errors")
    assert "(lower is better). This model is no better than a model that" in tested


def test_a_metric_that_fails_is_said_to_be_unscored(make_trainer, vision_model, parrot, monkeypatch, caplog):
    monkeypatch.setattr(FindingErrors, "pair_stats", lambda self, references, *_: np.full((len(references), 8), np.nan))
    trainer = make_trainer(vision_model)
    ReportMetricsCallback("finding_errors", generate_fn=parrot()).attach(trainer)
    trainer.train()
    assert messages(caplog) == [
        "step 2: eval_finding_errors cannot be compared with trivial reports: it is unscored, an empty report's is "
        "unscored, a one-sentence normal report's is unscored."
    ]


def test_a_set_that_a_time_limit_shrinks_is_another_set(make_trainer, vision_model, calls):
    import time

    def generate(model, examples):
        time.sleep(0.2)
        return [""] * len(examples)

    trainer = make_trainer(vision_model, max_steps=6)
    callback = ReportMetricsCallback("bleu", generate_fn=generate, batch_size=4, max_seconds=0.1).attach(trainer)
    trainer.evaluate()
    callback._sets["eval"].shrink(2)
    trainer.evaluate()
    trainer.evaluate()
    assert calls == [1, 5, 1, 5, 1]


def test_a_judge_that_asks_a_model_is_asked_about_trivial_reports_with_all_only(judge):
    pairs = check_pairs(WORSE, REFERENCES)
    metrics = Scoring([judge, "rouge"])
    asked = headline(metrics.metrics.names[judge])
    values = metrics.score(pairs).values
    for which, expected in (("bundled", {"rouge"}), ("all", {asked, "rouge"}), ("none", set())):
        watch = Watch(metrics, which)
        watch.see(pairs, values)
        assert watch.baselines.keys() & {asked, "rouge"} == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda: ReportMetrics("rouge", baselines="some"),
        lambda: ReportMetricsCallback({"rouge": "background"}, baselines="some"),
        lambda: make_reward("rouge", baselines="some"),
    ],
)
def test_another_word_is_an_error(make):
    with pytest.raises(InputError, match="baselines is 'some'"):
        make()


def test_report_metrics_warns_once_a_set_of_references(calls, caplog):
    metrics = ReportMetrics("finding_errors", prefix="val/")
    for _ in range(2):
        metrics.reset()
        metrics.update(WORSE, REFERENCES)
        metrics.compute()
    metrics.reset()
    metrics.update(WORSE[::-1], REFERENCES[::-1])  # the same references in another order
    metrics.compute()
    assert calls == [1, 5, 1, 1]
    (message,) = messages(caplog)
    assert message.startswith(
        "val/finding_errors 3.67 does not beat a one-sentence normal report's 0.667 (lower is better)."
    )
    assert metrics.baselines["val/finding_errors"].empty == pytest.approx(1)
    metrics.update(WORSE, REFERENCES)  # six studies now
    metrics.compute()
    assert (calls[4:], len(messages(caplog))) == ([1, 6], 2)


def test_without_baselines_nothing_is_compared(calls, caplog):
    metrics = ReportMetrics("finding_errors", baselines="none")
    metrics.update(WORSE, REFERENCES)
    metrics.compute()
    assert (calls, messages(caplog), metrics.baselines) == ([1], [], {})


def test_compute_metrics_warns(caplog):
    words = ["<pad>", "effusion", "fracture", "mass"]
    tokenizer = SimpleNamespace(
        pad_token_id=0,
        batch_decode=lambda tokens, skip_special_tokens: [" ".join(words[t] for t in row if t) for row in tokens],
    )
    compute = make_compute_metrics(tokenizer, "finding_errors")
    for _ in range(2):
        values = compute(SimpleNamespace(predictions=np.array([[2, 3]]), label_ids=np.array([[1, -100]])))
    assert not any("empty" in key or "normal" in key for key in values)
    (message,) = messages(caplog)
    assert message.startswith("finding_errors 3.00 does not beat an empty report's 1.00")


def earn(function, candidate, n, caplog):
    """Has `n` completions rewarded, eight of a reference at a time; what is said of the reward."""
    caplog.clear()
    for start in range(0, n, 8):
        function(completions=[candidate] * 8, reference=[f"Small left pleural effusion in view {start % 32}."] * 8)
    return [message for message in messages(caplog) if message.startswith("reward ")]


def test_a_reward_warns_when_completions_do_not_beat_silence(caplog):
    function = make_reward("finding_errors")
    assert earn(function, WORSE[0], 56, caplog) == []  # too few to tell
    (message,) = earn(function, WORSE[0], 8, caplog)
    assert message == (
        "reward finding_errors, mean of the latest 64 completions: -4.00 does not beat an empty report's "
        "-1.00 (higher is better). Training on it would lead to a model that writes nothing."
    )
    assert earn(function, WORSE[0], 64, caplog) == []  # said once
    (message,) = earn(function, "Small left pleural effusion.", 64, caplog)
    assert " now beats an empty report (-1.00)" in message
    (message,) = earn(function, WORSE[0], 64, caplog)
    assert " no longer beats an empty report's -1.00" in message


@pytest.mark.parametrize("transform", ["none", "unit"])
def test_a_reward_is_compared_in_its_own_unit_and_direction(transform, caplog):
    function = make_reward("finding_errors", transform=transform)
    (message,) = earn(function, WORSE[0], 64, caplog)
    numbers = {"none": ("4.00", "1.00", "lower"), "unit": ("0.200", "0.500", "higher")}[transform]
    assert "completions: {} does not beat an empty report's {} (".format(*numbers) in message
    assert f"({numbers[2]} is better)." in message


def test_a_reference_is_scored_once_for_both_trivial_reports(monkeypatch, caplog):
    asked = []
    original = FindingErrors.pair_stats

    def counted(self, pairs, *rest):
        asked.extend(pair for pair in pairs if pair.candidate in TRIVIAL)
        return original(self, pairs, *rest)

    monkeypatch.setattr(FindingErrors, "pair_stats", counted)
    monkeypatch.setattr(reward, "KEPT_PAIRS", 1)  # what the metric itself remembers
    earn(make_reward("finding_errors"), WORSE[0], 192, caplog)
    assert len(asked) == len(set(asked)) == 2 * 4


def test_a_reward_in_which_nothing_is_scored_says_so(monkeypatch, caplog):
    monkeypatch.setattr(FindingErrors, "pair_stats", lambda self, references, *_: np.full((len(references), 8), np.nan))
    unscored, message = earn(make_reward("finding_errors"), WORSE[0], 128, caplog)
    assert "completions[0] could not be scored: the metric gave no number. It gets None" in unscored
    assert "cannot be compared with trivial reports: it is unscored" in message


def test_a_reward_that_asks_a_model_and_one_without_baselines_are_not_compared(judge, caplog):
    (unscored,) = earn(make_reward(judge), WORSE[0], 64, caplog)
    assert "has no reply to this prompt; check the reports and options. It gets None" in unscored
    assert len(earn(make_reward(judge, baselines="all"), WORSE[0], 64, caplog)) == 2
    assert earn(make_reward("finding_errors", baselines="none"), WORSE[0], 64, caplog) == []


def test_a_copy_of_a_reward_begins_anew(caplog):
    function = make_reward("finding_errors")
    earn(function, WORSE[0], 64, caplog)
    copy = pickle.loads(pickle.dumps(function))
    assert copy == function
    assert len(pickle.dumps(function)) < 500  # no references travel
    assert len(earn(copy, WORSE[0], 64, caplog)) == 1


def test_reasons_stand_beside_the_pair_and_are_said_once(
    make_trainer, vision_model, parrot, monkeypatch, caplog, tmp_path
):
    """As a judge gives them, and metrics for references that they do not know."""

    def details(self, pairs, *_):
        known = {"The lungs are clear.": "no such reference", "No pleural effusion.": "no such reference"}
        known["Large left pneumothorax."] = "another reason"
        reasons = [known.get(pair.reference) for pair in pairs]
        return {
            "finding_errors_unscored": [{"unscored": reason, "replies": []} if reason else None for reason in reasons]
        }

    original = FindingErrors.pair_stats

    def pair_stats(self, pairs, *rest):
        stats = original(self, pairs, *rest)
        stats[[reason is not None for reason in details(self, pairs)["finding_errors_unscored"]]] = np.nan
        return stats

    monkeypatch.setattr(FindingErrors, "pair_stats", pair_stats)
    monkeypatch.setattr(FindingErrors, "details", details)
    trainer = make_trainer(vision_model)
    ReportMetricsCallback(["finding_errors", "bleu"], generate_fn=parrot()).attach(trainer)
    trainer.train()
    assert messages(caplog) == [
        "eval_finding_errors: 3 of 6 pairs are unscored (this message appears once): 2 x no such reference; 1 x "
        "another reason"
    ]
    table = [json.loads(line) for line in (tmp_path / "out" / "reports" / "eval_000004.jsonl").read_text().splitlines()]
    unscored = {row["reference"]: row["unscored"] for row in table}
    assert unscored["The lungs are clear."] == {"finding_errors": "no such reference"}
    assert unscored["Large left pneumothorax."] == {"finding_errors": "another reason"}
    assert unscored["Small left pleural effusion."] == {}
    assert [row["scores"]["finding_errors"] for row in table if row["unscored"]] == [None] * 3
