"""What a board publishes, and the command line."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import re
from types import SimpleNamespace

import pyarrow.parquet
import pytest
import yaml

from rrgmetrics import BackendError, InputError, cli
from rrgmetrics.spaces import uploading
from rrgmetrics.spaces.leaderboard import commands, open_board
from rrgmetrics.spaces.leaderboard.export import export_board, push_board
from rrgmetrics.spaces.leaderboard.handlers import Site
from rrgmetrics.spaces.leaderboard.model import BoardInfo, Limits

from .conftest import REFERENCES, study_ids, write_csv

FORMULA = "=cmd|' /C calc'!A0"


@pytest.fixture
def scored(make_board, send, work_off):
    board = make_board(metrics=("rouge", "bleu?tokenizer=13a"), dataset="org/bench", title="A board")
    send(board, FORMULA, ["Small left pleural effusion."] * 12, model_card="lab/model", tags=["7B", "VLM"])
    send(board, "<b>B</b>", ["Clear."] * 12, submitter="https://example.org/b")
    work_off(board)
    return board


def test_tables(scored, tmp_path):
    export_board(scored, tmp_path / "out")
    tables = {path.stem: pyarrow.parquet.read_table(path).to_pylist() for path in (tmp_path / "out").glob("*.parquet")}
    assert {name: len(rows) for name, rows in tables.items()} == {"standings": 2, "scores": 16, "slices": 4, "tests": 1}
    best = tables["standings"][0]
    line = scored.standings().systems[0]
    assert (best["rank"], best["system"], best["tags"]) == (1, FORMULA, "7B, VLM")
    assert (best["rouge"], best["rouge_low"], best["rouge_high"]) == line.scores["rouge"][:3]
    assert best["bleu__tokenizer_13a"] == line.scores["bleu?tokenizer=13a"].value
    skill = line.skills["rouge"]
    assert (best["rouge_skill"], best["rouge_best_trivial"]) == (skill.skill.value, skill.best)
    document = json.loads(next((tmp_path / "out" / "results" / best["id"]).glob("*.json")).read_text())
    assert document["skill"]["rouge"] == skill.skill.value
    assert document["collapse"]["n_distinct"] == 1
    row = next(row for row in tables["scores"] if row["key"] == "bleu_1")
    assert row["signature"].startswith("bleu|text:none@1|tokenizer:13a|")
    assert row["n"] == 12
    assert tables["tests"][0]["other"] == FORMULA
    columns = {column for rows in tables.values() for column in rows[0]}
    assert not columns & {"reference", "candidate", "report", "study_id", "address", "stats"}


def numbers(value):
    """Every float below a record, a row or a document."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        yield from (number for item in value.values() for number in numbers(item))
    elif isinstance(value, list | tuple):
        yield from (number for item in value for number in numbers(item))
    elif dataclasses.is_dataclass(value) and not isinstance(value, BoardInfo):
        yield from numbers([getattr(value, field.name) for field in dataclasses.fields(value)])


def test_no_number_leaves_the_board_with_more_digits_than_are_shown(make_board, send, work_off, tmp_path):
    board = make_board(metrics=("rouge", "finding_errors", "bleu"), n_public=4, dataset="org/bench")
    reports = ["Small left effusion.", "Clear.", "Opacity of the right lower lobe.", "The heart is large."] * 3
    for name, sent in (("A", reports), ("B", reports[::-1]), ("C", ["Clear."] * 12)):
        send(board, name, sent, model_card=f"lab/{name}")
    work_off(board)
    ids = [line.system.id for line in board.standings().systems]
    said = [board.standings(), *map(board.system, ids), *map(board.examples, ids), board.head_to_head(*ids[:2])]
    export_board(board, tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        if path.suffix == ".parquet":
            said.append(pyarrow.parquet.read_table(path).to_pylist())
        elif path.suffix == ".json":
            said.append(json.loads(path.read_text()))
        elif path.suffix == ".yaml":
            said.append(yaml.safe_load(path.read_text()))
        elif path.suffix == ".csv":
            cells = [cell for row in csv.DictReader(path.open()) for cell in row.values()]
            said.append([float(cell) for cell in cells if re.fullmatch(r"-?\d+\.\d+(e.*)?", cell)])
    found = [number for item in said for number in numbers(item) if math.isfinite(number)]
    assert len(found) > 500
    assert [number for number in found if round(number, 3) != number] == []
    assert sum(round(number, 2) != number for number in found) > 50  # they are not all round anyway
    site = Site(board, proxies=0)
    asked = SimpleNamespace(query_params={"id": ids[0], "first": ids[0], "second": ids[1]})
    html = "".join([*site.standings(), site.system(asked), site.versus(asked)])
    values = re.findall(r'data-value="(-?\d+\.\d+)"', html)
    assert len(values) >= 9 + 3  # scores, and when they were submitted
    shown = [float(value) for value in values if float(value) < 1e6]
    assert [value for value in shown if round(value, 3) != value] == []
    text = re.sub(r"(--\w+|width|left|right):[^;\"]*", "", html)  # places on axes, made of rounded values
    assert re.findall(r"\d\.\d{4,}", re.sub(r'data-value="\d{7,}[^"]*"', "", text)) == []


def test_the_export_says_how_unscored_pairs_count(scored, tmp_path):
    export_board(scored, tmp_path / "out")
    assert "no\nmore than 2% of the pairs" in (tmp_path / "out" / "README.md").read_text()
    head = json.loads((tmp_path / "out" / "board.json").read_text())
    assert head["left_out_share"] == 0.02
    assert head["round"] == head["edition"] == 1
    row = pyarrow.parquet.read_table(tmp_path / "out" / "standings.parquet").to_pylist()[0]
    assert row["submitter_verified"] is False
    assert (row["rouge_n_unscored"], row["rouge_n_counted_as_worst"]) == (0, 0)


def test_spreadsheets_run_no_formula(scored, tmp_path):
    export_board(scored, tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out" / "standings.csv").open()))
    assert [row["system"] for row in rows] == ["'" + FORMULA, "<b>B</b>"]


def test_json_as_the_template_of_the_hub_reads_it(scored, tmp_path):
    """`gradio-templates/leaderboard`, src/leaderboard/read_evals.py: config.model_name, results[benchmark][metric]."""
    export_board(scored, tmp_path / "out")
    found = [json.loads(path.read_text()) for path in (tmp_path / "out" / "results").rglob("results_*.json")]
    by_name = {item["config"]["model_name"]: item for item in found}
    assert set(by_name) == {"lab/model", "<b>B</b>"}
    assert set(by_name["lab/model"]["config"]) == {"model_dtype", "model_name", "model_sha"}
    values = by_name["lab/model"]["results"]["org/bench"]
    assert values["rouge"] == scored.standings().systems[0].scores["rouge"].value
    assert all(math.isfinite(value) for value in values.values())


def test_eval_results_as_the_hub_writes_them(scored, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    if not hasattr(hub, "eval_result_entries_to_yaml"):
        pytest.skip("this huggingface_hub knows no eval results")
    export_board(scored, tmp_path / "out")
    (path,) = (tmp_path / "out").rglob(".eval_results/*.yaml")  # of the one that is on the Hub
    written = yaml.safe_load(path.read_text())
    entries = [
        hub.EvalResultEntry(
            dataset_id=item["dataset"]["id"],
            task_id=item["dataset"]["task_id"],
            value=item["value"],
            date=item["date"],
            notes=item["notes"],
            source_url=item["source"]["url"],
            source_name=item["source"]["name"],
        )
        for item in written
    ]
    assert hub.eval_result_entries_to_yaml(entries) == written
    assert path.name == "bench.yaml"
    assert [item["dataset"]["task_id"] for item in written] == ["rouge", "bleu__tokenizer_13a"]
    assert {item["source"]["url"] for item in written} == {"https://huggingface.co/datasets/org/bench"}
    declared = yaml.safe_load((tmp_path / "out" / "eval.yaml").read_text())
    assert [task["id"] for task in declared["tasks"]] == ["rouge", "bleu__tokenizer_13a"]
    assert declared["name"] == scored.info().title


def test_card_has_a_viewer_for_each_table(scored, tmp_path):
    paths = export_board(scored, tmp_path / "out")
    front = yaml.safe_load((tmp_path / "out" / "README.md").read_text().split("---")[1])
    assert "leaderboard" in front["tags"]
    assert {config["data_files"] for config in front["configs"]} == {p.name for p in paths if p.suffix == ".parquet"}


def test_nothing_is_replaced_unasked_and_hidden_systems_go(scored, tmp_path):
    out = tmp_path / "out"
    export_board(scored, out)
    with pytest.raises(InputError, match="exists; pass force=True"):
        export_board(scored, out)
    (out / "mine.txt").write_text("kept")
    scored.hide(scored.standings().systems[1].system.id)
    export_board(scored, out, force=True)
    assert len(list(out.rglob("results_*.json"))) == 1
    assert not (out / "tests.parquet").exists()
    assert (out / "mine.txt").read_text() == "kept"
    assert "<b>B</b>" not in (out / "standings.csv").read_text()


def test_an_empty_board_is_exported_too(board, tmp_path):
    paths = export_board(board, tmp_path / "out")
    assert sorted(path.name for path in paths) == ["README.md", "board.json"]


def test_push(scored, tmp_path, monkeypatch):
    asked = {}

    class Api:
        def create_repo(self, repo_id, **keywords):
            return f"https://huggingface.co/datasets/{repo_id}"

        def upload_folder(self, **keywords):
            asked.update(keywords)

    monkeypatch.setattr(uploading, "hub_api", Api)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("not to be sent")
    paths = export_board(scored, tmp_path / "out")
    assert push_board(tmp_path / "out", paths, "lab/board") == "https://huggingface.co/datasets/lab/board"
    assert asked["repo_type"] == "dataset"
    assert sorted(asked["allow_patterns"]) == sorted(path.relative_to(tmp_path / "out").as_posix() for path in paths)
    assert "mine.txt" not in asked["allow_patterns"]
    for wrong in ("board", "lab/", "../x", "lab/a b"):
        with pytest.raises(InputError):
            push_board(tmp_path / "out", paths, wrong)


def test_push_without_a_network(scored, tmp_path):
    with pytest.raises(BackendError, match="HF_HUB_OFFLINE"):
        push_board(tmp_path, [], "lab/board")


def test_command_line(tmp_path, capsys):
    """A board's whole life without the web page."""
    public = ["yes"] * 3 + ["no"] * 9
    references = write_csv(tmp_path / "r.csv", {"study_id": study_ids(12), "report": REFERENCES, "public": public})
    good = write_csv(tmp_path / "good.csv", {"study_id": study_ids(12), "report": REFERENCES})
    bad = write_csv(tmp_path / "bad.csv", {"study_id": study_ids(11), "report": ["Clear."] * 11})
    place = str(tmp_path / "board.sqlite")

    def run(*arguments: str, status: int = 0) -> str:
        assert cli.main(["leaderboard", *arguments]) == status
        out, err = capsys.readouterr()
        return out + err

    said = run("init", place, "--references", str(references), "--metrics", "rouge,bleu", "--trials", "100")
    assert "12 studies, 3 public" in said
    token = said.rpartition("once: ")[2].strip()
    assert open_board(place).verify_admin(token)
    who = ("--name", "Good", "--submitter", "lab")
    assert "no report for 'study-011'" in run("submit", place, str(bad), *who, "--check", status=2)
    junk = tmp_path / "junk.csv"
    junk.write_text("hello")
    refused = run("submit", place, str(junk), *who, "--check", status=2)
    assert "first line must name the columns study_id, report" in refused
    assert "no report for" not in refused
    template = tmp_path / "template.csv"
    assert "12 studies" in run("template", place, str(template))
    assert template.read_text().splitlines()[:2] == ["study_id,report", "study-000,"]
    assert "every report is blank" in run("submit", place, str(template), *who, "--check", status=2)
    assert "has no errors; nothing was queued" in run("submit", place, str(good), *who, "--check")
    renamed = write_csv(tmp_path / "renamed.csv", {"id": study_ids(12), "report": REFERENCES})
    assert "has no errors" in run("submit", place, str(renamed), *who, "--check", "--columns", "study_id=id")
    id = run("submit", place, str(good), *who, "--tags", "7B").partition(":")[0]
    assert "Good: queued. Waiting; it is next." in run("show", place, id)
    again = run("submit", place, str(good), *who, "--tags", "7B")
    assert f"{id}: this is the same submission as before; nothing was queued again." in again
    assert f"{id}: Good is queued, 0 before it." in again
    assert "1 recorded, the queue is empty" in run("work", place, "--once")
    table = run("show", place)
    assert id in table
    assert "1.000" in table
    run("hide", place, id)
    assert id not in run("show", place)
    assert id in run("show", place, "--hidden")
    run("unhide", place, id)
    assert "has not failed" in run("retry", place, id, status=2)
    assert f"{id}: Good is already on the board. Scored." in run("submit", place, str(good), *who)
    missing = tmp_path / "missing.csv"
    assert "missing.csv does not exist" in run("submit", place, str(missing), *who, status=2)
    assert "No metric has changed since round 1" in run("rescore", place, status=2)
    said = run("rescore", place, "--yes")
    assert "Round 2: 1 submission queued" in said
    assert f"leaderboard work {place} --once` scores the queue" in said
    run("work", place, "--once")
    newer = run("token", place).rpartition("once: ")[2].strip()
    assert open_board(place).verify_admin(newer)
    assert "files" in run("export", place, str(tmp_path / "out"))
    assert "a copy of" in run("backup", place, str(tmp_path / "copy.sqlite"))
    assert id in run("show", str(tmp_path / "copy.sqlite"))
    assert "There is no board" in run("show", str(tmp_path / "none.sqlite"), status=2)


def test_an_export_says_how_many_studies_its_scores_are_of(make_board, send, work_off, tmp_path):
    board = make_board(limits=Limits(withheld_share=0.5), dataset="org/bench")
    send(board, "A", ["Small left pleural effusion."] * 12, model_card="lab/model")
    work_off(board)
    export_board(board, tmp_path / "out")
    said = "12 studies, 5 of which count in no score yet"
    assert f"by 1 system for {said}." in (tmp_path / "out" / "README.md").read_text()
    title = commands.standings_table(board.standings()).title
    assert f": {said}, round 1" in title
    assert "scores of round" not in title
    head = json.loads((tmp_path / "out" / "board.json").read_text())
    assert (head["n_studies"], head["n_withheld"]) == (12, 5)
    (path,) = (tmp_path / "out").rglob("results_*.json")
    document = json.loads(path.read_text())
    assert (document["n"], document["n_withheld"]) == ({"rouge": 7}, 5)
    row = pyarrow.parquet.read_table(tmp_path / "out" / "standings.parquet").to_pylist()[0]
    assert row["rouge_n"] == 7
    (path,) = (tmp_path / "out").rglob(".eval_results/*.yaml")
    assert yaml.safe_load(path.read_text())[0]["notes"].endswith(f" ({said})")
    board.set_limits(withheld_share=0.0)
    title = commands.standings_table(board.standings()).title
    assert title.endswith("round 2, 1 in the queue; scores of round 1, over the studies that counted then")
