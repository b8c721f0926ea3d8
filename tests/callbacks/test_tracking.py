"""What the trackers get."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from rrgmetrics.callbacks import ReportMetricsCallback, tables
from rrgmetrics.callbacks.sampling import Sample
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import score


def rows():
    pair = Pair("Small left pleural effusion.", "Small right effusion on the a|p film.")
    results = score(["finding_errors", "bleu"], predictions=[pair.candidate], references=[pair.reference])
    return tables.make_rows([Sample(0, "s1", pair)], results, 7, 8)


def test_rows_hold_scores_and_categories():
    (row,) = rows()
    assert (row["step"], row["study_id"], row["scores"]["finding_errors"]) == (7, "s1", 1)
    assert [error["category"] for error in row["errors"]] == ["incorrect_location"]
    assert r"| 7 | s1 | Small left pleural effusion. | Small right effusion on the a\|p film. |" in tables.markdown(
        [row]
    )


def test_a_tracker_with_tables_gets_a_table(monkeypatch):
    logged = []
    tracker = SimpleNamespace(run=object(), log=logged.append, Table=lambda dataframe: dataframe)
    monkeypatch.setitem(sys.modules, "wandb", tracker)
    callbacks = SimpleNamespace(callbacks=[])
    trainer = SimpleNamespace(args=SimpleNamespace(report_to=["wandb"]), callback_handler=callbacks)
    tables.track(rows(), "eval/reports", 7, trainer)
    assert list(logged[0]["eval/reports"]["finding_errors"]) == [1]
    tracker.run = None
    tables.track(rows(), "eval/reports", 8, trainer)
    assert len(logged) == 1


def test_tensorboard_gets_numbers_and_texts(make_trainer, vision_model, parrot, tmp_path, monkeypatch):
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "tb"))
    trainer = make_trainer(vision_model, report_to=["tensorboard"])
    ReportMetricsCallback("bleu", generate_fn=parrot()).attach(trainer)
    trainer.train()
    (file,) = tmp_path.rglob("events.*")  # transformers 4 does not read TENSORBOARD_LOGGING_DIR
    events = EventAccumulator(str(file))
    events.Reload()
    assert [event.step for event in events.Scalars("eval/bleu")] == [2, 4]
    assert any("reports" in name for name in events.Tags()["tensors"])
