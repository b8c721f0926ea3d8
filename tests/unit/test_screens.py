"""What commands print on terminals of 60 to 200 columns: every table of every command, at every width."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from screens import WIDTHS, check_table

from rrgmetrics import cli
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.reporting.tables import Table

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("references", "system_a", "system_b")
REFERENCES, *SYSTEMS = (f"{name}.csv" for name in NAMES)
FILES = ["--references", REFERENCES, "--systems", *SYSTEMS]
ONE = ["--references", REFERENCES, "--predictions", SYSTEMS[0]]
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
    "oracle": ["oracle", REFERENCES, "--metrics", "rouge", "finding_errors", "--judges", "bleu", "--trials", "20"],
    "oracle --systems": ["oracle", REFERENCES, "--metrics", "rouge", *FILES[2:], "--protocol", "yu2023"],
    "game": ["game", "--reports", "6", "--steps", "2", "--metrics", "rouge", "finding_errors"],
    "list": ["list"],
    "list NAME": ["list", "green", "crepe", "radgraph_f1"],
    "list --aliases": ["list", "--aliases"],
    "list --by agreement": ["list", "--by", "agreement"],
    "judge --dry-run": ["judge", *ONE, "--metrics", *JUDGES, "--dry-run"],
    "synthesize": ["synthesize", REFERENCES, "--pairs", "30", "--output", "made.parquet", "--force"],
    "prefer": ["prefer", "long.csv", "--metric", "rouge", "--output", "p.jsonl", "--prompt", "Write."],
    "lexicon show": ["lexicon", "show", "pleural", "effusion"],
    "tabulate": ["tabulate", "one.json", "a_data_set_with_a_long_name=one.json"],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What commands read: a few of the examples, also as pairs, by system and rated, and scores of a data set."""
    folder = tmp_path_factory.mktemp("screens")
    texts = [_reports(EXAMPLES / f"{name}.csv") for name in NAMES]
    rows = [(key, texts[0][key], texts[1][key], texts[2][key]) for key in list(texts[0])[:9]]
    for number, name in enumerate(NAMES, start=1):
        _write(folder / f"{name}.csv", ("study_id", "report"), [(row[0], row[number]) for row in rows])
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
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert cli.main(["compare", *FILES, *SOME, "--json", "one.json", "--no-progress"]) == 0
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
    quiet = [] if COMMANDS[name][0] in ("list", "lexicon", "tabulate") else ["--no-progress"]
    assert cli.main([*COMMANDS[name], *quiet]) == 0, capsys.readouterr().err
    tables = [part for part in parts if isinstance(part, Table)]
    assert tables
    for width in WIDTHS:
        for table in tables:
            check_table(table, width)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals")
def test_no_line_is_wider_than_a_terminal(tmp_path: Path) -> None:
    """On a real terminal, remarks below the tables are broken between words too."""
    import fcntl
    import pty
    import struct
    import termios

    width = min(WIDTHS)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path))), "TERM": "xterm"}
    command = [sys.executable, "-m", "rrgmetrics", "compare", *FILES, "--metrics", "bleu", "finding_errors", "--full"]
    terminal = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen([*command, "--trials", "20"], **terminal, cwd=EXAMPLES, env=environment):
        os.close(theirs)
        written = bytearray()
        while part := _read(ours):
            written += part
    os.close(ours)
    text = Text.from_ansi(written.decode().replace("\r\n", "\n").rpartition("\r")[2]).plain
    assert "does not beat the best trivial system" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= width


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # as Linux says that the other end is closed
        return b""
