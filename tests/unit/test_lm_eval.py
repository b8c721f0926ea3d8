"""Tasks for lm-evaluation-harness and lmms-eval: their corpus values are ours, whoever calls their functions."""

import copy
import csv
import importlib.util
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import rrgmetrics
from rrgmetrics import InputError, cli
from rrgmetrics.integrations.lm_eval import Functions, corpus
from rrgmetrics.integrations.task_files import QUESTIONS, shipped, task_files

EXAMPLES = Path(__file__).parents[2] / "examples"
METRICS = ["bleu", "bleu?tokenizer=13a", "rouge", "chexbert_f1", "finding_score", "cider"]


@pytest.fixture(scope="module")
def documents():
    """Studies with a system's report to summarise, which is also what the model replies; the last is out of scope."""
    with open(EXAMPLES / "references.csv") as references, open(EXAMPLES / "system_a.csv") as system:
        rows = list(zip(csv.DictReader(references), csv.DictReader(system), strict=True))
    documents = [
        {"study_id": row["study_id"], "age": row["age"], "reference": row["report"], "findings": other["report"]}
        for row, other in rows
    ]
    return [*documents, {"study_id": "x", "age": None, "reference": "Lorem ipsum dolor sit amet.", "findings": ""}]


def expected(names, documents):
    """What `score` says of all documents at once, by column."""
    results = rrgmetrics.score(
        names,
        predictions=[document["findings"] for document in documents],
        references=[document["reference"] for document in documents],
        contexts=[{"age": document["age"]} for document in documents],
        progress=False,
    )
    end = {name: "__tokenizer_13a" if "?" in name else "" for name in names}
    values = {key + end[name]: value for name, result in results.items() for key, value in result.scores.items()}
    return values | {f"{r.spec.name}{end[name]}_n_unscored": r.n_unscored for name, r in results.items()}


def test_corpus_values_are_those_of_score(documents):
    functions = copy.deepcopy(Functions(METRICS, all_keys=True))  # as lm-evaluation-harness does with a task
    rows = [functions.process_results(document, [document["findings"]]) for document in documents]
    assert json.loads(json.dumps(rows[0]))["rouge"] == rows[0]["rouge"]  # in a log it is the pair's own score
    rows = pickle.loads(pickle.dumps(rows))  # from another process
    values = {column: corpus([row[column] for row in rows]) for column in rows[0]}
    wanted = expected(METRICS, documents)
    assert values.keys() == wanted.keys() == functions.columns.keys()
    assert wanted["finding_score_n_unscored"] == 1
    for column, value in wanted.items():
        np.testing.assert_allclose(values[column], value, rtol=0, atol=1e-12, err_msg=column)
    mean = np.mean([row["bleu"] for row in rows])
    assert abs(mean - wanted["bleu"]) > 0.01  # what a harness would say that averages


@pytest.mark.parametrize("harness", list(QUESTIONS))
def test_shipped_tasks_are_those_written_and_call_what_is_there(harness):
    folder = shipped(harness)
    texts = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
    assert texts == task_files(harness)
    spec = importlib.util.spec_from_file_location("functions", folder / "functions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Loader(yaml.SafeLoader):
        """Reads `!function` as both harnesses do."""

    Loader.add_constructor("!function", lambda _, node: getattr(module, node.value.removeprefix("functions.")))
    for name in ("report_summarisation", "report_generation"):
        task = yaml.load(texts[f"{name}.yaml"], Loader)
        columns = {row["metric"]: row["higher_is_better"] for row in task["metric_list"]}
        assert columns == module.functions.columns
        assert {row["aggregation"] for row in task["metric_list"]} == {corpus}
        assert task["process_results"] == module.functions.process_results


def test_weights_that_are_missing_are_told_before_a_model_generates(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    functions = Functions(["bleu", "crepe@my-lab/my-crepe"])
    assert "crepe__my_lab_my_crepe" in functions.columns
    with pytest.raises(rrgmetrics.BackendError, match="my-lab/my-crepe is not in"):
        functions.loaded()


def test_images_are_opened(tmp_path):
    from PIL import Image

    Image.new("L", (4, 3)).save(tmp_path / "image.png")
    for image in (str(tmp_path / "image.png"), [Image.new("L", (4, 3))]):
        (opened,) = Functions(["bleu"]).images({"image": image})
        assert (opened.size, opened.mode) == ((4, 3), "RGB")


def test_command_shows_and_writes(tmp_path, capsys):
    assert cli.main(["harness", "lm-eval"]) == 0
    assert Path(capsys.readouterr().out.strip()) == shipped("lm-eval")
    (tmp_path / "pairs.csv").write_text("reference,findings\na,b\n")
    other = tmp_path / "other.csv"
    other.write_text("study_id,report\na,b\n")
    command = ["harness", "lmms-eval", "--output", str(tmp_path / "tasks"), "--metrics", "rouge,green"]
    assert cli.main([*command, "--data", str(tmp_path / "pairs.csv")]) == 0
    text = (tmp_path / "tasks" / "report_summarisation.yaml").read_text()
    assert "dataset_path: csv" in text
    assert f'test: "{tmp_path / "pairs.csv"}"' in text
    assert [line.split()[-1] for line in text.splitlines() if "- metric:" in line] == [
        *("rouge", "rouge_n_unscored", "green", "green_n_unscored")
    ]
    capsys.readouterr()
    for more, words in [
        ([], "exists; pass --force"),
        (["--data", "nothing.csv", "--force"], "--data nothing.csv: there is no such file."),
        (["--data", str(other), "--force"], "has the columns study_id, report; the tasks read 'reference', and"),
        (["--metrics", "rouje"], "did you mean rouge?"),
    ]:
        assert cli.main([*command, *more]) == 2
        assert words in capsys.readouterr().err
    assert cli.main(["harness", "lm-eval", "--metrics", "rouge"]) == 2
    assert "--metrics needs --output DIR" in capsys.readouterr().err


def test_wrong_values_and_columns_are_refused():
    with pytest.raises(InputError, match="no column 'reference'; they have report"):
        Functions(["bleu"]).process_results({"report": "a"}, ["b"])
    with pytest.raises(InputError, match="takes the PairValues of one key"):
        corpus([0.5, 0.25])


@pytest.mark.slow
def test_lm_evaluation_harness_runs_them(documents, tmp_path, monkeypatch):
    """A model that repeats the findings, and one that sees images."""
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager
    from PIL import Image

    class Echo(LM):
        MULTIMODAL = True

        def generate_until(self, requests, **_):
            return [request.doc["findings"] for request in requests]

        loglikelihood = loglikelihood_rolling = None

    monkeypatch.chdir(tmp_path)
    Image.new("L", (4, 3)).save("image.png")
    rows = [document | {"image": "image.png"} for document in documents]
    Path("reports.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tasks = ["rrgmetrics_report_summarisation", "rrgmetrics_report_generation"]
    manager = TaskManager(include_path=str(shipped("lm-eval")), include_defaults=False)
    results = lm_eval.simple_evaluate(model=Echo(), tasks=tasks, task_manager=manager)["results"]
    names = ["bleu", "rouge", "crepe", "finding_score", "radgraph_f1", "chexbert_f1"]
    wanted = expected(names, documents)
    for task in tasks:
        for name in names:
            for key in (name, f"{name}_n_unscored"):
                np.testing.assert_allclose(results[task][f"{key},none"], wanted[key], atol=1e-6, err_msg=key)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "command", "reply"), [("lm_eval", "lm_eval run", "lol"), ("lmms_eval", "lmms_eval", "A")]
)
def test_the_harness_command_line_as_the_page_prints_it(documents, tmp_path, package, command, reply):
    """With the harness' own model that answers the same to everything."""
    pytest.importorskip(package)
    from PIL import Image

    Image.new("L", (4, 3)).save(tmp_path / "image.png")
    rows = [document | {"image": str(tmp_path / "image.png")} for document in documents]
    (tmp_path / "reports.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = "rrgmetrics_report_generation" if package == "lmms_eval" else "rrgmetrics_report_summarisation"
    folder = shipped(package.replace("_", "-"))
    line = f"-m {command} --model dummy --tasks {task} --include_path {folder} --output_path out --log_samples"
    done = subprocess.run([sys.executable, *line.split()], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "out").rglob("*results*.json")
    said = json.loads(file.read_text())["results"][task]
    answers = [document | {"findings": reply} for document in documents]
    for key, value in expected(["bleu", "rouge", "crepe", "finding_score"], answers).items():
        if f"{key},none" in said:
            np.testing.assert_allclose(said[f"{key},none"], value, atol=1e-4, err_msg=key)
    assert said["finding_score_n_unscored,none"] == 1
