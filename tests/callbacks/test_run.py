"""The files and the page of a run, and which values the logs get."""

from __future__ import annotations

import json
import math
import re

import pytest

from rrgmetrics.callbacks import ReportMetricsCallback, best_model, run
from rrgmetrics.errors import InputError


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
