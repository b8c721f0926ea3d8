"""`python -m examples.train_report_generator`, on a handful of pictures: drawn, read, resumed, set up wrongly."""

from __future__ import annotations

import json
import re
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from examples.train_report_generator import __main__ as example
from examples.train_report_generator import training
from examples.train_report_generator.config import read_config
from examples.train_report_generator.data import load_items
from examples.train_report_generator.drawing import draw
from examples.train_report_generator.studies import Study, draw_study, write_report
from rrgmetrics.comparing import compare
from rrgmetrics.errors import InputError, MissingExtraError
from rrgmetrics.reading import read
from rrgmetrics.utils.extras import install_command

SMALL = {
    "image_size": 32,
    "hidden_size": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "attention_heads": 2,
    "vocabulary_size": 300,
    "max_tokens": 64,
    "num_beams": 2,
    "batch_size": 4,
    "learning_rate": 1e-3,
    "steps": 4,
    "evaluations": 2,
    "reports_per_evaluation": 3,
    "metrics": {"crepe": "every:1", "green": "every:2", "bleu": "every:1"},
    "seed": 0,
}
DRAWN = SMALL | {"drawn": {"train": 8, "validation": 3, "seed": 0}}


@pytest.fixture
def config_file(tmp_path):
    def write(**keys):
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump(keys))
        return path

    return write


def options(config, output, **changes):
    return Namespace(**{"config": config, "output": output, "steps": None, "resume": False} | changes)


def test_two_wordings_of_a_study_differ_in_no_finding():
    random = Random(0)
    for _ in range(100):
        study = draw_study(random)
        one, other = (read(write_report(study, random)) for _ in range(2))
        assert not compare(one, other).errors


def test_a_finding_is_drawn_where_it_is_said_to_be():
    def picture(study):
        return draw(study, np.random.default_rng(0), 64).astype(int)

    normal = picture(Study())
    for side, half in (("right", np.s_[:, :32]), ("left", np.s_[:, 32:])):
        whiter = picture(Study(effusions={side: "large"})) - normal
        assert whiter[half].mean() > 10 + abs(whiter[:, ::-1][half].mean())
    assert picture(Study(heart="severe")).sum() > picture(Study(heart="mild")).sum() > normal.sum()


def test_an_unknown_metric_or_a_missing_package_is_an_error_before_the_run(config_file, tmp_path, monkeypatch):
    wrong = config_file(**DRAWN | {"metrics": {"crepe": "every:1", "grean": "every:1"}})
    with pytest.raises(InputError, match="There is no metric 'grean'"):
        read_config(wrong, {})
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=re.escape(f"needs matplotlib: {install_command('published,plots')}")):
        example.run(options(config_file(**DRAWN), tmp_path / "out"))


def test_a_run_and_its_resumption(config_file, tmp_path, capsys, caplog, monkeypatch):
    monkeypatch.setattr(training, "TIMED", 1)
    path, output = config_file(**DRAWN | {"steps": 5}), tmp_path / "out"
    example.run(options(path, output, steps=2))
    began = capsys.readouterr().out
    assert began.startswith("--steps 2 shows that everything runs, but is too few for a curve: config.yaml has 5.")
    example.run(options(path, output, resume=True))
    facts = json.loads((output / "summary.json").read_text())
    steps = [step for step, _ in facts["curves"]["crepe"]]
    assert steps == [1, 2, 3, 4, 5]  # the interval of the run that is resumed
    best = min(facts["curves"]["crepe"], key=lambda point: point[1])
    assert facts["best_step"] == best[0]
    assert set(facts["baselines"]) == {"always the normal report", "the most frequent report"}
    assert (output / "curves.png").stat().st_size > 10_000
    assert (output / "best" / "model.safetensors").is_file()
    printed = began + capsys.readouterr().out
    page = output / "reports" / "index.html"
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("rrgmetrics")]
    assert ours[0].startswith(f"Open {page} in a browser after the first evaluation")
    assert "2 steps; an evaluation at each step, which takes longer than the step" in printed
    assert " s to the end and the time of evaluations." in printed
    assert "5 steps, of which 2 are done; an evaluation at each step" in printed
    assert "Reports of the best step" in printed
    with pytest.raises(SystemExit, match="contains a run"):
        example.run(options(path, output))


def test_the_estimates_of_a_run_are_near_its_time(capsys, monkeypatch):
    """600 steps of 0.2 s, an evaluation of 5 s every 50; something else delays two of the first steps by a minute."""
    clock = [0.0]
    monkeypatch.setattr(training, "perf_counter", lambda: clock[0])
    lines = training.OneLine(["crepe"])
    state = SimpleNamespace(global_step=0, max_steps=600, eval_steps=50)
    lines.on_train_begin(None, state, None)
    for step in range(1, 151):
        clock[0] += 60.2 if step in (4, 9) else 0.2
        state.global_step = step
        lines.on_step_end(None, state, None)
        if step % 50 == 0:
            clock[0] += 5
            lines.on_log(None, state, None, logs={"eval_runtime": 5.0, "eval_crepe": 1.5})
    printed = " ".join(capsys.readouterr().out.split())
    assert "About 6 s to the next evaluation, 116 s to the end and the time of evaluations." in printed
    assert "step 150 of 600 crepe 1.500 about 2 min left" in printed


def test_images_in_a_folder(config_file, tmp_path):
    from PIL import Image

    random, rng = Random(0), np.random.default_rng(0)
    rows = ["study_id,path,report,split"]
    for number in range(6):
        study = draw_study(random)
        Image.fromarray(draw(study, rng, 40)).save(tmp_path / f"{number}.png")
        rows.append(f's{number},{number}.png,"{write_report(study, random)}",{"validate" if number > 3 else "train"}')
    (tmp_path / "reports.csv").write_text("\n".join(rows) + "\n")
    keys = SMALL | {"images": str(tmp_path), "reports": str(tmp_path / "reports.csv"), "split_column": "split"}
    example.run(options(config_file(**keys), tmp_path / "out", steps=2))
    assert len((tmp_path / "out" / "reports" / "eval_000002.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"drawn": {}}, "either drawn"),
        ({"drawn": {"train": 8}}, "needs train, validation and seed"),
        ({"metrics": {"bleu": "every:1"}}, "must contain crepe"),
        ({"encoder": "some/encoder"}, "both encoder: and decoder:"),
        ({"learnin_rate": 1}, "unknown key.s. learnin_rate"),
        ({"drawn": {}, "reports": "nowhere.csv"}, "nowhere.csv"),
    ],
)
def test_a_wrong_configuration(config_file, changes, message):
    with pytest.raises(InputError, match=message):
        load_items(read_config(config_file(**DRAWN | changes), {}))


def test_a_configuration_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"There is no file .*nowhere\.yaml\.$"):
        read_config(tmp_path / "nowhere.yaml", {})


def test_the_drawn_configuration_takes_minutes():
    """187 s of processor time on one core when it was measured; what it grows with may not grow unseen."""
    config = read_config(example.DRAWN, {})
    drawn = config.drawn["train"] + config.drawn["validation"]
    assert (drawn, config.image_size, config.hidden_size, config.batch_size) == (4100, 64, 96, 32)
    assert config.steps <= 600
    assert config.evaluations * config.reports_per_evaluation * config.num_beams <= 1200


def test_the_drawn_configuration_is_one():
    config = read_config(example.DRAWN, {"steps": 7})
    assert config == replace(config, steps=7)
    assert Path(example.DRAWN).with_name("folder.yaml").is_file()
    assert read_config(Path(example.DRAWN).with_name("folder.yaml"), {}).encoder
