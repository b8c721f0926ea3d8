"""`rrgmetrics tabulate`: systems, data sets and metrics as one table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from rrgmetrics.cli import main

REFERENCES = ["Small left effusion.", "Clear lungs.", "Mild cardiomegaly."]
SYSTEMS = {"good": ["Small left effusion.", "Clear lungs.", "Mild cardiomegaly."], "bad": ["Clear.", "Edema.", "Mass."]}


def write(path, reports):
    rows = [{"study_id": number, "report": report} for number, report in enumerate(reports)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def runs(tmp_path):
    """What `compare` wrote of two data sets; the second has other metrics, and `bad` wrote nothing for it."""
    found = {}
    for name, metrics, n in (("first", ["rouge", "finding_errors"], 3), ("second", ["rouge", "rouge#rouge_1"], 2)):
        systems = [f"{system}={write(tmp_path / f'{system}{n}.jsonl', texts[:n])}" for system, texts in SYSTEMS.items()]
        systems = systems if name == "first" else systems[:1]
        references = write(tmp_path / f"references{n}.jsonl", REFERENCES[:n])
        found[name] = str(tmp_path / f"{name}.json")
        arguments = ["compare", "--systems", *systems, "--references", references, "--metrics", *metrics]
        assert main([*arguments, "--trials", "10", "--no-trivial", "--no-progress", "--json", found[name]]) == 0
    return found


def test_a_group_a_data_set_a_line_a_system_a_column_a_score(runs, tmp_path, capsys):
    numbers, table = tmp_path / "out.csv", tmp_path / "out.md"
    capsys.readouterr()
    named = [runs["first"], f"other={runs['second']}"]
    assert main(["tabulate", *named, "--output", str(numbers), str(table)]) == 0
    assert "3 scores on 2 data sets" in capsys.readouterr().out
    drawn = [line for line in table.read_text().splitlines() if "|" in line]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in drawn]
    assert lines[0] == ["", "ROUGE-L ↑", "Finding errors ↓", "ROUGE-1 ↑"]
    assert [line[0] for line in lines[2:]] == ["**first, 3 studies**", "good", "bad", "**other, 2 studies**", "good"]
    assert lines[3][2] == "**0.00**"  # the best of two is bold, the only one is not
    assert lines[6] == ["good", "1.000", "–", "1.000"]
    with numbers.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["dataset"], row["system"], row["key"], row["n"]) for row in rows] == [
        *(("first", system, key, "3") for key in ("rouge", "finding_errors") for system in ("good", "bad")),
        *(("other", "good", key, "2") for key in ("rouge", "rouge_1")),
    ]
    written = json.loads(Path(runs["first"]).read_text())["rows"]
    assert [float(row["low"]) for row in rows[:4]] == [row["score"]["low"] for row in written]


def test_two_settings_of_one_metric_are_told_apart(tmp_path, capsys):
    references, reports = write(tmp_path / "references.jsonl", REFERENCES), write(tmp_path / "a.jsonl", SYSTEMS["bad"])
    arguments = ["compare", "--systems", reports, "--references", references, "--metrics", "bleu", "bleu?text=words"]
    run = str(tmp_path / "run.json")
    assert main([*arguments, "--trials", "10", "--no-trivial", "--no-progress", "--json", run]) == 0
    assert main(["tabulate", run, "--output", str(tmp_path / "out.md")]) == 0
    assert "| BLEU-4 ↑ (bleu) | BLEU-4 ↑ (bleu?text=words) |" in (tmp_path / "out.md").read_text()


def damaged(change):
    document = {
        "rrgmetrics": "0.2.0",
        "systems": {"a": {"bleu": {"n_pairs": 1, "n_unscored": 0}}},
        "rows": [{"metric": "bleu", "key": "bleu", "system": "a", "score": {"value": 1, "low": None, "high": "inf"}}],
    }
    change(document)
    return document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document.pop("systems"), "was not written by `rrgmetrics compare --json`"),
        (lambda document: document["rows"].clear(), "contains no scores"),
        (lambda document: document["rows"][0].update(key="nothing"), "has no key 'nothing'"),
        (lambda document: document["rows"][0].update(metric="nothing"), "nothing"),
        (lambda document: document["rows"][0]["score"].update(value="many"), "was not written by"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, capsys, change, message):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(damaged(lambda document: None)))
    assert main(["tabulate", str(file)]) == 0
    file.write_text(json.dumps(damaged(change)))
    assert main(["tabulate", str(file)]) == 2
    assert message in capsys.readouterr().err
    assert main(["tabulate", str(tmp_path / "nowhere.json")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main(["tabulate", f"x={file}", f"x={file}"]) == 2
    assert "run.json is named twice; name each of the data sets once." in capsys.readouterr().err
