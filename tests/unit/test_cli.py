"""The command line as a user types it, in this process."""

import csv
import gc
import json
import os
import re
import subprocess
import sys

import pytest

from rrgmetrics import cli
from rrgmetrics.utils.own_process import THREADS

PAIRS = [
    ("s1", "The heart is mildly enlarged. No pneumothorax.", "Mild cardiomegaly. No pneumothorax."),
    ("s2", "Small left pleural effusion.", "Small right pleural effusion."),
    ("s3", "No acute cardiopulmonary abnormality.", ""),
]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "pairs.csv", ("study_id", "reference", "candidate"), PAIRS)
    write(tmp_path / "references.csv", ("study_id", "report"), [(i, r) for i, r, _ in PAIRS])
    write(tmp_path / "system.csv", ("study_id", "report"), [(i, c) for i, _, c in reversed(PAIRS)])
    write(tmp_path / "copy.csv", ("study_id", "report"), [(i, r) for i, r, _ in PAIRS])
    return tmp_path


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    return status, capsys.readouterr()


def test_only_a_process_of_the_command_line_collects_seldom(monkeypatch):
    before = gc.get_threshold()
    try:
        cli.main(["list"])
        assert gc.get_threshold() == before
        monkeypatch.setattr("sys.argv", ["rrgmetrics", "list"])
        cli.main()
        assert gc.get_threshold() > before
    finally:
        gc.set_threshold(*before)


def test_score_writes_what_it_was_asked_for(folder, capsys):
    outputs = {name: folder / "out" / name for name in ("scores.csv", "result.json", "report.html")}
    status, printed = run(
        capsys, "score", folder / "pairs.csv", "--metrics", "bleu,rouge", "bleu?tokenizer=13a", "--trials", 50,
        "--output", outputs["scores.csv"], "--json", outputs["result.json"], "--html", outputs["report.html"],
        "--no-progress",
    )  # fmt: skip
    assert status == 0
    assert "ROUGE-L" in printed.out
    with outputs["scores.csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["study_id"] for row in rows] == ["s1", "s2", "s3"]
    assert float(rows[1]["rouge"]) == 0.75
    assert "bleu__tokenizer_13a" in rows[0]
    result = json.loads(outputs["result.json"].read_text())
    assert result["systems"]["pairs"]["rouge"]["signature"].startswith("rouge|")
    assert result["systems"]["pairs"]["rouge"]["n_pairs"] == 3
    assert "<html" in outputs["report.html"].read_text()


def test_two_files_are_joined_by_id(folder, capsys):
    by_files, by_pairs = folder / "files.json", folder / "pairs.json"
    base = ("--metrics", "rouge", "--trials", 10, "--no-progress", "--json")
    run(
        capsys,
        "score",
        "--predictions",
        folder / "system.csv",
        "--references",
        folder / "references.csv",
        *base,
        by_files,
    )
    run(capsys, "score", folder / "pairs.csv", *base, by_pairs)
    scores = [json.loads(path.read_text())["systems"] for path in (by_files, by_pairs)]
    assert scores[0]["system"]["rouge"]["scores"] == scores[1]["pairs"]["rouge"]["scores"]


def test_compare_names_the_better_system(folder, capsys):
    status, printed = run(
        capsys, "compare", "--references", folder / "references.csv", "--systems", folder / "system.csv",
        f"ours={folder / 'copy.csv'}", "--metrics", "rouge", "--trials", 100, "--json", folder / "c.json",
        "--no-progress", "--table", folder / "c.tex", folder / "c.md",
    )  # fmt: skip
    assert status == 0
    assert "ours" in printed.out
    assert printed.out.endswith(f"Table: {folder / 'c.tex'}\nTable: {folder / 'c.md'}\n")
    assert r"\begin{tabular}" in (folder / "c.tex").read_text()
    assert "| ours |" in (folder / "c.md").read_text()
    rows = json.loads((folder / "c.json").read_text())["rows"]
    assert [row["system"] for row in rows] == ["system", "ours"]
    assert rows[1]["score"]["value"] == pytest.approx(1.0)
    assert rows[1]["p"] == pytest.approx(2 / 8)  # three pairs, all in one direction: 2 of 2**3 swaps


def test_compare_takes_pairs_by_their_own_column_names(folder, capsys):
    pairs = (folder / "pairs.csv").read_text()
    (folder / "theirs.csv").write_text(pairs.replace("study_id,reference,candidate", "id,ground_truth,generated"))
    columns = "reference=ground_truth,candidate=generated,study_id=id"
    status, printed = run(
        capsys, "compare", "--systems", f"a={folder / 'theirs.csv'}", folder / "theirs.csv", "--columns", columns,
        "--metrics", "rouge", "--trials", 20, "--no-progress", "--no-trivial",
    )  # fmt: skip
    assert status == 0
    assert "No difference from a has p < 0.05" in " ".join(printed.out.split())
    status, printed = run(capsys, "score", folder / "theirs.csv", "--columns", columns.replace("truth", "truht"))
    assert status == 2
    assert "Did you mean 'ground_truth'?" in printed.err
    with pytest.raises(SystemExit):  # as a shell writes a pattern without quotes
        run(capsys, "score", folder / "pairs.csv", folder / "theirs.csv")
    said = capsys.readouterr().err
    assert "put a pattern in quotes" in said
    assert "--predictions and --references" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("score", "pairs.csv", "--metrics", "blue"), "did you mean bleu"),
        (("score", "pairs.csv", "--metrics", ""), "No metric was named; name one, such as bleu."),
        (("score", "pairs.csv", "--metrics", "bleu?tokenizer=14a"), "choose one of coco, 13a"),
        (("score", "absent.csv"), "absent.csv"),
        (("score",), "--predictions and --references"),
        (("score", "pairs.csv", "--references", "references.csv"), "Give either"),
        (("score", "pairs.csv", "--output", "scores.xlsx"), ".parquet"),
        (("score", "pairs.csv", "--output", "references.csv"), "--force"),
        (("score", "pairs.csv", "--output", "pairs.csv", "--force"), "inputs"),
        (
            ("compare", "--references", "references.csv", "--systems", "copy.csv", "copy.csv"),
            "copy.csv is named twice; name each of the systems once.",
        ),
        (("agree", "--dataset", "nothing:here", "--metrics", "bleu"), "radpref"),
        (("score", "pairs.csv", "--metrcs", "bleu"), "there is no argument --metrcs. Did you mean '--metrics'?"),
        (
            ("score", "pairs.csv", "--candidate", "hyp"),
            "name its column: --columns candidate=COLUMN",
        ),
        (("explain", "--reference", "Clear.", "--candidate", "Clear."), "rrgmetrics explain REFERENCE CANDIDATE."),
        (("score", "pairs.csv", "--metrics", "F1RadGraph"), "did you mean radgraph_f1"),
        (("score", "pairs.csv", "--modality=chest_ct"), "after the name: 'finding_errors?modality=...'"),
        (("score", "pairs.csv", "--seed", "x"), "rrgmetrics score --help"),
        (("explane", "a", "b"), "Did you mean 'explain'?"),
        (("compare", "pairs.csv", "--output", "per.csv"), "there is no argument --output. `rrgmetrics score` has it: "),
        (("scroe", "pairs.csv"), "Did you mean 'score'?"),
        (("explain", "refrence.txt", "Clear lungs."), "refrence.txt does not exist (looked in "),
        (("explain", "~/a report.txt", "Clear lungs."), "does not exist"),
        (("explain", "pairs.csv", "Clear lungs."), "rrgmetrics score pairs.csv --metrics finding_errors"),
        (("explain", ".", "Clear lungs."), "is a folder"),
        (("explain", "Clear.", "Clear.", "--modality", "chset_ct"), "choose one of auto, chest_xray"),
        (("explain", "Clear.", "Clear.", "--sex", "x"), "context['sex'] is 'x'; write F, M, O"),
    ],
)
def test_wrong_use_says_what_to_do_and_scores_nothing(folder, capsys, monkeypatch, arguments, says):
    monkeypatch.chdir(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    try:
        status, printed = run(capsys, *arguments)
    except SystemExit as stopped:  # by argparse
        status, printed = stopped.code, capsys.readouterr()
    assert status == 2
    assert says in printed.err
    assert printed.err.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_file_on_disk_is_replaced_only_with_force(folder, capsys):
    command = (
        "score",
        folder / "pairs.csv",
        "--metrics",
        "rouge",
        "--trials",
        10,
        "--no-progress",
        "--json",
        folder / "r.json",
    )
    assert run(capsys, *command)[0] == 0
    first = (folder / "r.json").read_bytes()
    assert run(capsys, *command)[0] == 2
    assert run(capsys, *command, "--force")[0] == 0
    assert (folder / "r.json").read_bytes() == first


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_says_what_it_does(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert stopped.value.code == 0
    assert cli.COMMANDS[command][1][1:] in out


def test_list_has_every_metric(capsys, monkeypatch):
    from rrgmetrics import SPECS

    monkeypatch.setenv("COLUMNS", "80")
    _, printed = run(capsys, "list")
    _, aliases = run(capsys, "list", "--aliases")
    for spec in SPECS.values():
        assert re.search(rf"^{spec.name}( \*)? ", printed.out, re.MULTILINE)  # a name is never broken
        for key in spec.keys:
            listed = re.search(rf"^{key.name} ", aliases.out, re.MULTILINE)
            assert bool(listed) == bool(key.aliases or key is spec.headline), key.name
    assert max(map(len, (printed.out + aliases.out).splitlines())) <= 80


@pytest.mark.parametrize("name", ["bleu", "green", "chexbert_f1"])
def test_list_of_one_metric_says_all_there_is_to_know(capsys, monkeypatch, name):
    from rrgmetrics import SPECS

    monkeypatch.setenv("COLUMNS", "80")
    _, (out, _) = run(capsys, "list", name)
    spec, words = SPECS[name], " ".join(out.split())
    for key in (*spec.keys, *spec.options, *spec.configs):
        assert re.search(rf"^{getattr(key, 'name', key)} ", out, re.MULTILINE)
    for option in spec.options.values():
        assert option.help.split(". ")[0].split()[-1] in words
    assert re.search(r"^RadPref +all errors +\d\.\d\d \[", out, re.MULTILINE)
    assert re.search(r"Cost: .*1,000 pairs|Cost: .*a pair", out)
    assert max(map(len, out.splitlines())) <= 80


def test_list_says_how_evaluate_finds_a_metric(capsys):
    assert cli.main(["list", "crepe"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert 'once `rrgmetrics register` has run, also evaluate.load("crepe") or' in printed


def test_list_of_an_unknown_metric(capsys):
    status, (_, err) = run(capsys, "list", "blue")
    assert (status, "did you mean bleu" in err) == (2, True)


def test_register_and_remove(capsys, monkeypatch, tmp_path):
    import evaluate.config

    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(tmp_path))
    monkeypatch.setattr(evaluate.config, "DOWNLOADED_EVALUATE_PATH", tmp_path / "downloads")
    printed = run(capsys, "register")[1].out
    assert printed.count("\n") == 1
    assert 'as "rrgmetrics/NAME"' in printed
    script = tmp_path / "evaluate_modules" / "metrics" / "evaluate-metric--cider"
    assert list(script.rglob("cider.py"))
    assert run(capsys, "register", "--remove")[1].out.count("\n") == 1
    assert not script.exists()
    assert not list((tmp_path / "downloads").iterdir())


def test_threads_wait_asleep_in_a_process_of_ours_alone(monkeypatch, capsys):
    for name in (*THREADS, "OMP_WAIT_POLICY"):
        monkeypatch.setenv(name, "")  # so that it is as it was in the end
        monkeypatch.delenv(name)
    assert cli.main(["list"]) == 0
    assert os.environ.keys().isdisjoint(THREADS)
    monkeypatch.setattr("sys.argv", ["rrgmetrics", "list"])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert cli.main() == 0
    assert (os.environ["GOMP_SPINCOUNT"], os.environ["OPENBLAS_NUM_THREADS"]) == ("10000", "3")
    for name in THREADS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    assert cli.main() == 0
    assert os.environ.keys().isdisjoint(THREADS)


def test_the_command_line_sets_how_threads_wait_before_numpy_is_loaded():
    code = "import sys, rrgmetrics.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_weights_that_are_missing_are_named_at_once(folder, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(folder / "empty"))
    status, printed = run(capsys, "score", folder / "pairs.csv", "--metrics", "radeval", "--no-progress")
    assert status == 2
    for needed in ("distilbert-base-uncased", "IAMJB/RadEvalModernBERT", "chexbert.pth", "radgraph-xl.tar.gz"):
        assert needed in printed.err
    assert "`rrgmetrics doctor bertscore@radeval radeval_bertscore@paper" in printed.err
    assert printed.err.count("\n") == 1


def test_agree_checks_its_outputs_before_it_reads(tmp_path, capsys):
    arguments = ["agree", "--dataset", str(tmp_path / "none.csv"), "--metrics", "bleu", "--output", "agreement.txt"]
    assert cli.main(arguments) == 2
    assert "agreement.txt must end in .csv" in capsys.readouterr().err
