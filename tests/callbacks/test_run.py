"""The files and the page of a run, and which values the logs get."""

from __future__ import annotations

import json
import logging
import math
import re

import pytest

from rrgmetrics.callbacks import ReportMetricsCallback, best_model, run
from rrgmetrics.errors import InputError
from rrgmetrics.scoring import notice


def values(folder, prefix="eval"):
    return [json.loads(line) for line in (folder / f"{prefix}_values.jsonl").read_text().splitlines()]


def test_thin_logs_and_whole_files(make_trainer, vision_model, parrot, tmp_path):
    trainer = make_trainer(vision_model, save_strategy="steps", save_steps=2, **best_model("finding_errors"))
    keys = ["green", "finding_errors_significant"]
    callback = ReportMetricsCallback(["finding_errors", "green"], generate_fn=parrot(), keys=keys, restore="ignore")
    callback.attach(trainer)
    trainer.train()
    rows = [row for row in trainer.state.log_history if "eval_loss" in row]
    own = {key for key in rows[0] if re.match("eval_(green|finding|reports|generation|scoring)", key)}
    assert own == {"eval_green", "eval_finding_errors_significant", "eval_finding_errors", "eval_reports"}
    stored = values(tmp_path / "out" / "reports")
    assert [row["step"] for row in stored] == [2, 4]
    assert {"green_errors", "finding_errors_missing_finding", "green_n_unscored"} <= set(stored[0]["values"])
    assert stored[0]["intervals"]["green"] == [1, 1, 6]
    assert stored[0]["trivial"]["finding_errors"]["perfect"] == 0


@pytest.mark.parametrize(
    ("keys", "message"),
    [(["gren"], "keys has 'gren'.* Did you mean 'green'"), ("green", "pass a list"), (["bleu"], "They log green, ")],
)
def test_wrong_keys(keys, message):
    with pytest.raises(InputError, match=message):
        ReportMetricsCallback("green", keys=keys)


def test_the_key_of_a_judge_with_a_long_name_is_named_with_a_short_one():
    judge = "green@openai:my/model?base_url=http://127.0.0.1:1/v1"
    with pytest.raises(InputError) as refused:
        ReportMetricsCallback(judge, keys=["green_errors"])
    assert f"'g={judge}' logs green_errors__g." in str(refused.value)
    assert best_model(f"g={judge}", key="green_errors")["metric_for_best_model"] == "eval_green_errors__g"


def test_the_page_of_a_run(make_trainer, vision_model, studies, tmp_path):
    right = iter([0, 1, 6])  # of the rehearsal and of two evaluations

    def generate(model, examples):
        n = next(right)
        return [e["report"] if i < n else "Nothing <b> to see." for i, e in enumerate(examples)]

    trainer = make_trainer(
        vision_model, eval_dataset={"a": studies, "b": studies}, per_device_eval_batch_size=8, max_steps=2
    )
    right = iter([0, 0, 1, 6])
    ReportMetricsCallback(["green", "bleu"], generate_fn=generate, folder=tmp_path / "page").attach(trainer)
    trainer.train()
    page = (tmp_path / "page" / "index.html").read_text()
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "Nothing &lt;b&gt; to see." in page
    assert [page.count(f"<h2>eval_{name}</h2>") for name in "ab"] == [1, 1]
    assert page.count("<svg") == 4
    assert "GREEN (bundled)" in page  # a stand-in is never passed off as the paper's
    assert re.search(r'<p class="scores">GREEN \(bundled\) [01]\.\d{3} · BLEU-4 [01]\.\d{3}</p>', page)
    verdicts = re.findall(r'class="verdict[a-z ]*">([^<]*)<', page)
    assert verdicts == ["does not beat it", "does not beat it", "beats it", "beats it"] or set(verdicts) <= {
        "does not beat it",
        "not significantly better",
        "beats it",
    }
    assert "nan" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL).lower().replace("resonance", "")


@pytest.mark.parametrize("metrics", [["bleu"], {"bleu": "background"}], ids=["here", "background"])
def test_control_tokens_are_warned_of_once_a_run_and_counted_on_its_page(
    make_trainer, vision_model, tmp_path, caplog, monkeypatch, metrics
):
    monkeypatch.setattr(notice, "_of_tokens", set())
    monkeypatch.delenv(notice.VARIABLE, raising=False)
    endings = iter(["", "", ""])  # of the rehearsal, and of the first evaluation in two batches

    def generate(model, examples):
        ending = next(endings, "<|im_end|>")
        return [f"{example['report']}{ending}" for example in examples]

    trainer = make_trainer(vision_model, per_device_eval_batch_size=4)
    ReportMetricsCallback(metrics, generate_fn=generate).attach(trainer)
    with caplog.at_level(logging.WARNING, "rrgmetrics.notice"):
        trainer.train()
    warned = [message for message in caplog.messages if "control tokens" in message]
    assert len(warned) == 1
    assert warned[0].startswith("6 of 6 candidates of eval contain control tokens or a prompt, as <|im_end|> (indices")
    if metrics == ["bleu"]:
        page = (tmp_path / "out" / "reports" / "index.html").read_text()
        assert "The latest reports: 6 of 6 candidates contain control tokens or a prompt" in page


def test_a_run_that_goes_on_drops_what_it_trains_again(tmp_path):
    def row(step, value=0.5):
        return {"step": step, "values": {"bleu": value}, "metrics": {"bleu": "bleu"}, "intervals": {}, "trivial": {}}

    for step in (10, 20, 30):
        run.add(tmp_path, "eval", row(step))
    run.add(tmp_path, "eval", row(20, math.nan))
    assert [(each["step"], each["values"]["bleu"]) for each in values(tmp_path)] == [(10, 0.5), (20, None)]
    run.add_late(tmp_path, "eval", 10, {"green": 0.25})
    assert values(tmp_path)[0]["values"] == {"bleu": 0.5, "green": 0.25}
    page = run.write_page(tmp_path, ["eval"], "once more").read_text()
    assert "the latest at step 20" in page
    assert "0.250" in page  # among all values


def test_a_page_that_cannot_be_written_ends_no_training(make_trainer, vision_model, parrot, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    trainer = make_trainer(vision_model)
    ReportMetricsCallback("bleu", generate_fn=parrot(), folder=tmp_path / "file").attach(trainer)
    trainer.train()
    assert sum("could not be written" in record.getMessage() for record in caplog.records) == 1


def test_the_best_model_evaluated_after_the_training_has_a_record_of_its_own(make_trainer, vision_model, tmp_path):
    right = iter([0, 6, 1, 5])  # of the rehearsal, of two evaluations and of the best model's

    def generate(model, examples):
        n = next(right)
        return [example["report"] if index < n else "" for index, example in enumerate(examples)]

    trainer = make_trainer(
        vision_model, save_strategy="steps", save_steps=2, per_device_eval_batch_size=8, **best_model("green")
    )
    callback = ReportMetricsCallback("green", generate_fn=generate, restore="ignore").attach(trainer)
    trainer.train()
    folder = tmp_path / "out" / "reports"
    files = ("eval_values.jsonl", "eval_000002.jsonl", "eval_000004.jsonl")
    before = [(folder / name).read_text() for name in files]
    measured = trainer.evaluate()["eval_green"]
    assert [(folder / name).read_text() for name in files] == before
    (best,) = values(folder, "eval_best_model")
    assert (best["step"], best["values"]["green"]) == (2, measured)
    assert (folder / "eval_best_model_000002.jsonl").is_file()
    assert callback.results()["green"].scores["green"] == measured
    page = (folder / "index.html").read_text()
    assert re.findall("<h2>(eval.*?)</h2>\n.*>(.*?)</p>", page) == [
        ("eval", "2 evaluations, the latest at step 4."),
        ("eval_best_model", "1 evaluation, at step 2."),
    ]


def test_an_evaluation_in_a_new_process_leaves_the_record_of_the_training(make_trainer, vision_model, parrot, tmp_path):
    trainer = make_trainer(vision_model)
    ReportMetricsCallback("green", generate_fn=parrot()).attach(trainer)
    trainer.train()
    later = make_trainer(vision_model)
    ReportMetricsCallback("green", generate_fn=parrot()).attach(later)
    later.evaluate()
    folder = tmp_path / "out" / "reports"
    assert [row["step"] for row in values(folder)] == [2, 4]
    assert [row["step"] for row in values(folder, "eval_initial_model")] == [0]


def test_a_new_run_moves_the_reports_of_an_earlier_one(make_trainer, vision_model, parrot, tmp_path, caplog):
    folder = tmp_path / "out" / "reports"
    for steps in (4, 2):
        trainer = make_trainer(vision_model, max_steps=steps)
        ReportMetricsCallback("green", generate_fn=parrot()).attach(trainer)
        trainer.evaluate()  # its record is of this run
        trainer.train()
    moved = [record.getMessage() for record in caplog.records if "earlier run" in record.getMessage()]
    assert moved == [f"{folder} has the reports of an earlier run; they are now in {folder / 'earlier-1'}."]
    assert [row["step"] for row in values(folder)] == [2]
    assert sorted(path.name for path in folder.glob("eval_0*.jsonl")) == ["eval_000002.jsonl"]
    assert [row["step"] for row in values(folder / "earlier-1")] == [2, 4]
    assert (folder / "earlier-1" / "index.html").is_file()
    assert [row["step"] for row in values(folder, "eval_initial_model")] == [0]


def test_a_run_that_goes_on_drops_the_reports_that_it_trains_again(tmp_path):
    for step in (10, 20, 30):
        (tmp_path / f"eval_{step:06d}.jsonl").write_text("")
        run.add(tmp_path, "eval", {"step": step})
    run.add(tmp_path, "eval", {"step": 20})
    assert sorted(path.name for path in tmp_path.glob("eval_0*.jsonl")) == ["eval_000010.jsonl", "eval_000020.jsonl"]


def test_another_set_with_the_same_prefix_has_files_of_its_own(
    make_trainer, vision_model, parrot, studies, tmp_path, caplog
):
    trainer = make_trainer(vision_model, max_steps=2)
    callback = ReportMetricsCallback("green", generate_fn=parrot()).attach(trainer)
    trainer.train()
    trainer.evaluate(studies[:4], metric_key_prefix="test")
    folder = tmp_path / "out" / "reports"
    files = [folder / "test_last_model_values.jsonl", folder / "test_last_model_000002.jsonl"]
    first = [path.read_text() for path in files]
    for _ in range(2):
        trainer.predict(studies[4:], metric_key_prefix="test")
        trainer.evaluate(studies[:4], metric_key_prefix="test")  # the first set again, in another list
    assert [len(path.read_text().splitlines()) for path in files] == [1, 4]
    assert [len(text.splitlines()) for text in first] == [1, 4]
    assert len((folder / "test_last_model_2_000002.jsonl").read_text().splitlines()) == 2
    assert [row["step"] for row in values(folder, "test_last_model_2")] == [2]
    assert not (folder / "test_last_model_3_values.jsonl").exists()
    (message,) = [text for text in caplog.messages if "belongs to another set" in text]
    assert "test_last_model_2_values.jsonl" in message
    assert callback.results(prefix="test")["green"].n_pairs == 4  # of the latest evaluation
    assert "<h2>test_last_model_2</h2>" in (folder / "index.html").read_text()


def test_a_set_may_have_a_name_that_no_file_may_have(make_trainer, vision_model, parrot, studies, tmp_path, caplog):
    sets = {"org/mimic": studies, "a:b": studies[:3]}
    for steps in (2, 2):
        trainer = make_trainer(vision_model, eval_dataset=sets, max_steps=steps)
        ReportMetricsCallback("green", generate_fn=parrot()).attach(trainer)
        trainer.train()
    folder = tmp_path / "out" / "reports"
    assert [row["step"] for row in values(folder, "eval_org%2Fmimic")] == [2]
    assert (folder / "eval_a%3Ab_000002.jsonl").is_file()
    assert (folder / "earlier-1" / "eval_org%2Fmimic_000002.jsonl").is_file()
    page = (folder / "index.html").read_text()
    assert [page.count(f"<h2>eval_{name}</h2>") for name in sets] == [1, 1]
    assert not [text for text in caplog.messages if "could not be written" in text]


@pytest.mark.parametrize(
    ("metrics", "n", "changed"),
    [
        (["green", "bleu"], 6, ""),
        (["green", "rouge"], 6, "rouge in addition, without bleu"),
        (["green", "bleu"], 5, "another validation set"),
        ({"green": "every:1", "bleu": "every:1", "rouge": "background"}, 6, ""),
    ],
)
def test_a_run_that_goes_on_with_other_values_is_warned_of_once(
    make_trainer, vision_model, parrot, studies, tmp_path, caplog, metrics, n, changed
):
    first = make_trainer(vision_model, save_strategy="steps", save_steps=2, max_steps=2)
    ReportMetricsCallback(["green", "bleu"], generate_fn=parrot(), restore="ignore").attach(first)
    first.train()
    again = make_trainer(vision_model, save_strategy="steps", save_steps=2, max_steps=6, eval_dataset=studies[:n])
    ReportMetricsCallback(metrics, generate_fn=parrot(), restore="ignore").attach(again)
    again.train(resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-2"))
    assert [row["step"] for row in values(tmp_path / "out" / "reports")] == [2, 4, 6]
    warned = [text for text in caplog.messages if "cannot be compared" in text]
    assert len(warned) == bool(changed)
    assert not changed or f"continues with {changed}: its values before and after step 4" in warned[0]
