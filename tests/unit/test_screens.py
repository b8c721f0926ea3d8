"""What commands print on terminals of 60 to 200 columns: every table of every command, at every width."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from screens import WIDTHS, check_table, printed

from rrgmetrics import cli
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.reporting.tables import Table

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = ["--references", str(EXAMPLES / "references.csv"), "--systems", *(str(EXAMPLES / f"system_{x}.csv") for x in "ab")]
ONE = ["--references", str(EXAMPLES / "references.csv"), "--predictions", str(EXAMPLES / "system_a.csv")]
SOME = ["--metrics", "green", "rouge", "chexbert_f1", "--trials", "20"]
COUNTS = ("total", "false_finding", "missing_finding", "incorrect_location", "incorrect_severity")
RATED = ["--dataset", "rated.csv", "--counts", *COUNTS, "--ratings", "rating", "--trials", "20"]
JUDGES = [
    f"{judge}@openai:a-model-with-a-long-name?base_url=http://127.0.0.1:9/v1"
    for judge in ("green", "crimson", "chexprompt", "fineradscore", "radfact")
]
COMMANDS = {
    "compare": ["compare", *FILES, "--trials", "20", "--html", "report.html", "--force"],
    "compare --full": ["compare", *FILES, *SOME, "--full"],
    "compare --all-keys": ["compare", *FILES, *SOME, "--all-keys", "--no-trivial"],
    "compare of one system": ["compare", *FILES[:4], "--metrics", "paper-table", "--trials", "20", "--no-trivial"],
    "score": ["score", *ONE, "--trials", "20"],
    "score --all-keys": ["score", *ONE, *SOME, "--all-keys"],
    "score --full": ["score", *ONE, *SOME, "--full", "--summary"],
    "score --stream": ["score", "pairs.csv", "--stream", "--output", "s.parquet", "--metrics", "green", "--force"],
    "agree": ["agree", *RATED, "--metrics", "rouge", "finding_errors", "green"],
    "agree --also": [
        "agree", *RATED, "--metrics", "rouge", "finding_errors", "--also", "failures", "overlooked", "counts", "raters",
        "sources", "blocks", "distribution", "time",
    ],
    "stress": ["stress", "--reports", "6", "--metrics", "finding_errors", "rouge", "chexbert_f1"],
    "oracle": ["oracle", FILES[1], "--metrics", "rouge", "finding_errors", "--judges", "bleu", "--trials", "20"],
    "oracle --systems": ["oracle", FILES[1], "--metrics", "rouge", *FILES[2:], "--protocol", "yu2023", "--trials", "20"],
    "game": ["game", "--reports", "3", "--steps", "2", "--metrics", "rouge", "finding_errors"],
    "list": ["list"],
    "list NAME": ["list", "green", "crepe", "radgraph_f1"],
    "list --aliases": ["list", "--aliases"],
    "list --by agreement": ["list", "--by", "agreement"],
    "judge --dry-run": ["judge", *ONE, "--metrics", *JUDGES, "--dry-run"],
    "judge --compare": ["judge", *ONE, "--metrics", "finding_errors", "--dry-run"],
    "synthesize": ["synthesize", FILES[1], "--pairs", "30", "--output", "made.parquet", "--force"],
    "prefer": ["prefer", "long.csv", "--metric", "finding_errors", "--output", "preferences.jsonl", "--force"],
    "radcliq fit": ["radcliq", "fit", *RATED, "--output", "model.json", "--force"],
    "lexicon show": ["lexicon", "show", "pleural", "effusion"],
    "doctor": ["doctor"],
    "tabulate": ["tabulate", "one.json", "a_data_set_with_a_long_name=one.json"],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that some commands read: pairs, candidates by system, rated pairs, scores of a data set."""
    folder = tmp_path_factory.mktemp("screens")
    texts = [_reports(EXAMPLES / f"{name}.csv") for name in ("references", "system_a", "system_b")]
    rows = [(key, texts[0][key], texts[1][key], texts[2][key]) for key in texts[0]]
    heads = ("study_id", "reference", "candidate")
    _write(folder / "pairs.csv", heads, [row[:3] for row in rows])
    _write(folder / "long.csv", heads, [(*row[:2], text) for row in rows for text in row[2:]])
    rated = [
        (row[0], row[1], text, f"rater {rater}", f"system {system}", n, n // 2, n - n // 2, n // 3, 0, 5 - n)
        for number, row in enumerate(rows)
        for system, text in enumerate(row[2:])
        for rater in range(2)
        for n in ((number * 7 + system * 3 + rater) % 5,)
    ]
    _write(folder / "rated.csv", ("study", *heads[1:], "rater", "source", *COUNTS, "rating"), rated)
    assert cli.main(["compare", *FILES, *SOME, "--json", str(folder / "one.json"), "--no-progress"]) == 0
    return folder


def _reports(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8") as file:
        return {row["study_id"]: row["report"] for row in csv.DictReader(file)}


def _write(path: Path, heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Everything that commands hand to a terminal."""
    found: list[Any] = []
    print_: Callable[..., None] = Terminal.print

    def record(self: Terminal, *objects: Any, **options: Any) -> None:
        found.extend(objects)
        print_(self, *objects, **options)

    monkeypatch.setattr(Terminal, "print", record)
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_cut_or_broken_at_any_width(name: str, folder: Path, parts: list[Any], monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    quiet = [] if name in ("list", "doctor") or COMMANDS[name][0] in ("list", "lexicon", "tabulate") else ["--no-progress"]
    assert cli.main([*COMMANDS[name], *quiet]) == 0, capsys.readouterr().err
    tables = [part for part in parts if isinstance(part, Table)]
    assert tables
    for width in WIDTHS:
        for table in tables:
            check_table(table, width)
