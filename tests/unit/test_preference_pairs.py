"""Preference pairs: direction, ties, margin, what is unscored, forms, files, and TRL's own check."""

from __future__ import annotations

import csv
import json
import math

import pytest

import rrgmetrics.training.preference_pairs as module
from rrgmetrics import InputError
from rrgmetrics.cli import main
from rrgmetrics.training.preference_pairs import prefer

REFERENCE = "Small left effusion. Cardiomegaly."
GOOD, MIDDLE, BAD = REFERENCE, "Small left effusion.", "Right apical pneumothorax."
PROMPT = "Write the report."


def samples(*texts, study="1", reference=REFERENCE, **others):
    return [
        {"study_id": study, "reference": reference, "candidate": text, "prompt": PROMPT, **others} for text in texts
    ]


def made(rows, metric="finding_errors", **options):
    return prefer(rows, metric, progress=False, **options)


@pytest.mark.parametrize("metric", ["finding_errors", "finding_score", "crepe", "green", "green#errors", "radcliq"])
def test_the_better_report_is_chosen_whatever_the_direction(metric):
    columns = made(samples(BAD, GOOD), metric).columns
    assert columns == {"prompt": [PROMPT], "chosen": [GOOD], "rejected": [BAD]}


def test_which_pairs():
    rows = samples(BAD, MIDDLE, GOOD)
    twos = {
        which: list(zip(*(made(rows, which=which).columns[side] for side in ("chosen", "rejected")), strict=True))
        for which in ("extremes", "best", "all")
    }
    assert twos["extremes"] == [(GOOD, BAD)]
    assert twos["best"] == [(GOOD, MIDDLE), (GOOD, BAD)]
    assert twos["all"] == [(GOOD, MIDDLE), (GOOD, BAD), (MIDDLE, BAD)]


def test_ties_and_repeats_are_left_out_and_counted():
    same = "Cardiomegaly. Small left effusion."
    result = made(samples(GOOD, same, GOOD) + samples(GOOD, BAD, study="2"), which="all")
    assert result.columns["rejected"] == [BAD]
    counts = (result.n_pairs, result.n_ties, result.n_repeated, result.n_without, result.n_studies, result.n_candidates)
    assert counts == (1, 1, 1, 1, 2, 5)


def test_a_margin_keeps_what_reaches_it():
    rows = samples(GOOD, MIDDLE, BAD)  # 0, 1 and 3 errors
    assert made(rows, which="all").n_pairs == 3
    at = made(rows, which="all", margin=1, scores=True)
    assert at.n_pairs == 3  # a difference of the margin itself counts
    above = made(rows, which="all", margin=1.5, scores=True)
    differences = [w - b for b, w in zip(above.columns["chosen_score"], above.columns["rejected_score"], strict=True)]
    assert min(differences) >= 1.5
    assert (above.n_pairs, above.n_near, above.n_ties) == (2, 1, 0)


def test_what_has_no_score_is_neither_good_nor_bad():
    rows = samples(GOOD, BAD) + samples("Clear lungs.", "Mass.", study="2", reference="Le thorax est normal.")
    result = made(rows)
    assert (result.n_pairs, result.n_unscored, result.n_without) == (1, 2, 1)


def test_a_judge_without_a_verdict_leaves_a_candidate_out(tmp_path, monkeypatch):
    scored = module.prepare

    class Some:
        def __init__(self, ready):
            self.ready = ready

        def score_pairs(self, pairs, **options):
            results = self.ready.score_pairs(pairs, **options)
            for values in results["finding_errors"].per_pair.values():
                values[1] = math.nan
            return results

    monkeypatch.setattr(module, "prepare", lambda *names, **options: Some(scored(*names, **options)))
    result = made(samples(GOOD, BAD, MIDDLE))
    assert (result.columns["rejected"], result.n_unscored) == ([MIDDLE], 1)


def test_kto_has_each_report_of_the_pairs_once():
    rows = samples(BAD, MIDDLE, GOOD)
    columns = made(rows, form="kto", which="best", scores=True).columns
    assert dict(zip(columns["completion"], columns["label"], strict=True)) == {GOOD: True, MIDDLE: False, BAD: False}
    assert columns["prompt"] == [PROMPT] * 3
    both_ways = made(rows, form="kto", which="all").columns
    assert dict(zip(both_ways["completion"], both_ways["label"], strict=True)) == {GOOD: True, BAD: False}


def test_studies_without_ids_are_those_of_one_reference_and_prompt():
    rows = [{**row, "prompt": prompt} for prompt in ("a", "b") for row in samples(GOOD, BAD)]
    for row in rows:
        del row["study_id"]
    assert made(rows).columns["prompt"] == ["a", "b"]


def test_a_prompt_is_filled_in_and_columns_are_kept():
    rows = samples(GOOD, BAD, indication="Cough", image="a.png")
    for row in rows:
        del row["prompt"]
    columns = made(rows, prompt="{indication}? {{{image}}}", keep=["image", "study_id"]).columns
    assert columns["prompt"] == ["Cough? {a.png}"]
    assert (columns["image"], columns["study_id"]) == (["a.png"], ["1"])


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (samples(GOOD), {}, "No study has two different candidates"),
        (samples(GOOD, GOOD), {}, "No study has two different candidates"),
        ([], {}, "no candidates"),
        (samples(GOOD, BAD) + samples(GOOD, reference="Other."), {}, "'1' has 2 references"),
        ([*samples(GOOD, BAD), {**samples(GOOD)[0], "prompt": "other"}], {}, "'1' has 2 prompts"),
        ([{"reference": "a", "candidate": "b"}], {}, "has no prompt"),
        ([{"reference": "a", "candidate": "b", "prompt": " "}], {}, "has no prompt"),
        ([{"reference": "a", "prompt": "c"}], {}, "no column 'candidate'"),
        ([{"reference": "a", "candidate": 3, "prompt": "c"}], {}, "column 'candidate'"),
        (samples(GOOD, BAD), {"prompt": "Report:"}, "has its own prompt"),
        ([{"reference": "a", "candidate": "b"}], {"prompt": "{image}"}, "no column 'image', which the prompt names"),
        ([{"reference": "a", "candidate": "b"}], {"prompt": "{"}, "cannot be parsed"),
        ([{"reference": "a", "candidate": "b"}], {"prompt": "{a.b}"}, "write the name of a column"),
        (samples(GOOD, BAD), {"keep": ["image"]}, "no column 'image' to keep"),
        (samples(GOOD, BAD), {"keep": ["chosen"]}, "is a column of the output"),
        (samples(GOOD, BAD), {"margin": -1}, "margin is -1"),
        (samples(GOOD, BAD), {"margin": math.nan}, "margin is nan"),
        (samples(GOOD, BAD), {"form": "ppo"}, "form is 'ppo'"),
        (samples(GOOD, BAD), {"which": "some"}, "which is 'some'"),
        (samples(GOOD, BAD), {"metric": "cider"}, "depends on all other pairs"),
        (samples(GOOD, BAD), {"metric": "radcliq#rexrank"}, "one number for all pairs"),
        (samples(GOOD, BAD), {"metric": "nothing"}, "There is no metric 'nothing'"),
        (samples(GOOD, BAD), {"columns": {"sample": "x"}}, "columns has the key 'sample'"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_scored(monkeypatch, rows, options, message):
    monkeypatch.setattr(module, "prepare", lambda *names, **more: pytest.fail("scored"))
    with pytest.raises(InputError, match=message):
        made(rows, **options)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".csv"])
def test_the_command_writes_files_that_datasets_reads(tmp_path, suffix, capsys):
    source, output = tmp_path / "samples.csv", tmp_path / f"pairs{suffix}"
    with source.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["study_id", "reference", "sample", "prompt"])
        writer.writeheader()
        for row in samples(GOOD, BAD):
            writer.writerow(
                {**{key: row[key] for key in ("study_id", "reference", "prompt")}, "sample": row["candidate"]}
            )
    command = ["prefer", str(source), "--metric", "finding_errors", "--output", str(output), "--no-progress"]
    assert main([*command, "--columns", "candidate=sample"]) == 0
    assert "2 candidates for 1 study" in capsys.readouterr().out
    datasets = pytest.importorskip("datasets")
    kind = {".jsonl": "json", ".parquet": "parquet", ".csv": "csv"}[suffix]
    data = datasets.load_dataset(kind, data_files=str(output), split="train", cache_dir=str(tmp_path / "cache"))
    assert data.to_list() == [{"prompt": PROMPT, "chosen": GOOD, "rejected": BAD}]
    assert main([*command, "--columns", "candidate=sample"]) == 2  # nothing is replaced
    assert "exists" in capsys.readouterr().err


def test_several_files_are_one_and_no_pair_is_no_file(tmp_path, capsys):
    paths = []
    for name, text in (("first", GOOD), ("second", "Cardiomegaly. Small left effusion.")):
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text(json.dumps(samples(text)[0]) + "\n")
    output = tmp_path / "pairs.jsonl"
    command = ["prefer", *map(str, paths), "--metric", "finding_errors", "--output", str(output), "--no-progress"]
    assert main(command) == 2
    assert "No two candidates of a study differ in score" in capsys.readouterr().err
    assert not output.exists()
    paths[-1].write_text(json.dumps(samples(BAD)[0]) + "\n")
    assert main([*command, "--conversational"]) == 0
    (row,) = map(json.loads, output.read_text().splitlines())
    assert row["chosen"] == [{"role": "assistant", "content": GOOD}]
    assert main([*command[:-2], str(tmp_path / "pairs.csv"), "--conversational", "--no-progress"]) == 2
    assert "cannot hold messages" in capsys.readouterr().err


@pytest.mark.parametrize("conversational", [False, True])
def test_trl_takes_the_data_for_what_it_is(conversational):
    pytest.importorskip("trl", reason="pip install 'rrgmetrics[training]'")
    from datasets import Dataset
    from trl import data_utils

    rows = samples(GOOD, BAD) + samples(GOOD, MIDDLE, study="2")
    pairs = Dataset.from_dict(dict(made(rows, conversational=conversational).columns))
    assert data_utils.is_conversational(pairs[0]) == conversational
    assert set(pairs.column_names) == {"prompt", "chosen", "rejected"}
    labelled = made(rows, form="kto", conversational=conversational).columns
    split = data_utils.unpair_preference_dataset(pairs)
    assert sorted(map(str, split.to_list())) == sorted(map(str, Dataset.from_dict(dict(labelled)).to_list()))
