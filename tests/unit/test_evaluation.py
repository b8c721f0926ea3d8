"""An evaluation as a file: read, checked before any work, run, written back, made from signatures."""

from pathlib import Path

import pytest
import yaml

import rrgmetrics
from rrgmetrics import Evaluation, InputError, cli

PAIRS = "id,truth,generated\ns1,Small left effusion.,Small right effusion.\ns2,Clear lungs.,Lungs are clear.\n"
FILE = """
metrics:
- rouge
- bleu: {text: lower, tokenizer: 13a}
columns: {study_id: id, reference: truth, candidate: generated}
inputs: {pairs: pairs.csv}
outputs: {json: first.json}
settings: {trials: 20, seed: 3, trivial: no}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    (tmp_path / "evaluation.yaml").write_text(FILE)
    return tmp_path


def run(capsys, *arguments):
    status = cli.main([*arguments, "--no-progress"])
    return status, capsys.readouterr()


def written(name):
    return yaml.safe_load(Path(name).read_text())  # JSON is YAML too


def test_a_file_says_what_the_command_line_says(folder, capsys):
    assert run(capsys, "score", "--config", "evaluation.yaml", "--save-config", "saved.yaml")[0] == 0
    command = ("score", "pairs.csv", "--columns", "study_id=id,reference=truth", "candidate=generated")
    metrics = ("--metrics", "rouge", "bleu?text=lower&tokenizer=13a", "--trials", "20", "--seed", "3")
    assert (
        run(capsys, *command, *metrics, "--no-trivial", "--json", "typed.json", "--save-config", "typed.yaml")[0] == 0
    )
    assert written("first.json") == written("typed.json")
    saved, typed = written("saved.yaml"), written("typed.yaml")
    assert saved["metrics"] == ["rouge", {"bleu": {"text": "lower", "tokenizer": "13a"}}]
    assert saved | {"outputs": typed["outputs"]} == typed
    status, _ = run(capsys, "score", "--config", "saved.yaml", "--seed", "3", "--json", "again.json")
    assert status == 0
    assert written("first.json") == written("again.json")
    assert run(capsys, "score", "--config", "saved.yaml", "--metrics", "rouge", "--json", "rouge.json")[0] == 0
    assert list(written("rouge.json")["systems"]["pairs"]) == ["rouge"]


def test_systems_are_saved_by_name(folder, capsys):
    (folder / "other.csv").write_text(PAIRS)
    command = ("compare", "--systems", "pairs.csv", "ours=other.csv", "--metrics", "rouge", "--trials", "20")
    columns = ("--columns", "study_id=id,reference=truth,candidate=generated", "--correction", "bh", "--all-keys")
    assert run(capsys, *command, *columns, "--json", "a.json", "--save-config", "compare.yaml")[0] == 0
    stated = written("compare.yaml")
    assert stated["inputs"] == {"systems": {"pairs": "pairs.csv", "ours": "other.csv"}}
    settings = {"correction": "bh", "all_keys": True, "workers": 1, "trials": 20, "seed": 0, "project": "rrgmetrics"}
    settings |= {"missing": "unscored", "per_study": "error"}
    assert stated["settings"] == settings
    assert run(capsys, "compare", "--config", "compare.yaml", "--json", "b.json")[0] == 0
    assert written("a.json") == written("b.json")


def test_signatures_make_one(folder, capsys):
    assert run(capsys, "score", "--config", "evaluation.yaml")[0] == 0
    made = Evaluation.read("first.json")
    assert made.metrics == ("rouge", "bleu?text=lower&tokenizer=13a")
    results = rrgmetrics.score(made.metrics, predictions=["Clear."], references=["Clear."], progress=False)
    assert Evaluation.of(results) == made
    made.write("made.yaml")
    assert Evaluation.read("made.yaml").metrics == made.metrics
    with pytest.raises(InputError, match="not a signature"):
        Evaluation.of(["bleu"])
    with pytest.raises(InputError, match="ran with a user lexicon"):
        Evaluation.of(["finding_errors|text:none@1|lexicon:my_words@12345678|n:2|v:0.2.0"])


REFUSED = {
    "metric: [bleu]": "the key 'metric'; .* Did you mean 'metrics'?",
    "metrics: [blue]": "did you mean bleu?",
    "metrics: bleu?tokenizer=14a": "choose one of coco, 13a",
    "metrics: [{bleu: {tokeniser: 13a}}]": "has no option 'tokeniser'; .* Did you mean 'tokenizer'?",
    "metrics: [{bleu: [13a]}]": "write name: {option: value}",
    "columns: {refrence: truth}": "Did you mean 'reference'?",
    "inputs: {pair: pairs.csv}": "inputs has the key 'pair'; its keys are .* Did you mean 'pairs'?",
    "inputs: {systems: {a: pairs.csv}}": "inputs has the key 'systems'",
    "outputs: {csv: a.csv}": "outputs has the key 'csv'; its keys are output, clusters, table, json, html",
    "outputs: {json: pairs.csv}": "pairs.csv must end in .json",
    "settings: {trails: 10}": "Did you mean 'trials'?",
    "settings: {trials: ten}": "settings: trials is 'ten' (str); write a number",
    "settings: {trials: yes}": "settings: trials is True (bool); write a number",
    "settings: {trivial: 1}": "settings: trivial is 1 (int); write yes or no",
    "settings: 10": "settings is 10 (int); write key: value",
    "command: compare": "is for `rrgmetrics compare`",
    "command: compere": "Did you mean 'compare'?",
    "- bleu": "it must contain",
    "metrics: [bleu]\nmetrics: [rouge]": "bad.yaml, line 2: the key 'metrics' occurs twice",
    "settings: {trials: 1, trials: 2}": "the key 'trials' occurs twice",
    "metrics: [a: ": "cannot be read: while parsing",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_used_is_said_before_any_work(folder, capsys, text):
    extra = "" if text.startswith(("inputs", "- ", "metrics: [a")) else "\ninputs: {pairs: pairs.csv}"
    (folder / "bad.yaml").write_text(text + extra)
    before = sorted(path.name for path in folder.iterdir())
    status, printed = run(capsys, "score", "--config", "bad.yaml")
    assert status == 2
    said, _, rest = REFUSED[text].partition(" .* ")
    assert said in printed.err
    assert rest in printed.err
    assert printed.err.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_shortened_option_is_not_passed_over(capsys):
    with pytest.raises(SystemExit):
        run(capsys, "score", "--conf", "evaluation.yaml")
    assert "write --config in full" in capsys.readouterr().err


def test_another_version_is_said(folder, capsys, caplog):
    (folder / "evaluation.yaml").write_text(f"rrgmetrics: 0.0.1\n{FILE}")
    assert run(capsys, "score", "--config", "evaluation.yaml")[0] == 0
    assert "evaluation.yaml is of rrgmetrics 0.0.1" in caplog.text
