"""What commands print: no character of a report, id or file name moves the cursor, hides a line or sets a title."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from rrgmetrics import cli
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.utils.printable import as_options, visible

ATTACKS = ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\r", "\x08", "\x7f", "\u202e", "\u2066", "\x1b]8;;http://a\x1b\\"]
OBEYED = "".join({each for attack in ATTACKS for each in attack if not each.isprintable()})


def test_nothing_that_a_terminal_obeys_is_printed(capsys, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    attack = "".join(ATTACKS)
    report = f"Small left{attack} effusion. {attack}No pneumothorax."
    cli.main(["explain", report, f"{attack}Clear lungs.", "--trace"])
    name = f"ours{attack}".replace("/", "")
    Path(f"{name}.csv").write_text("study_id,reference,candidate\n1,Clear.,Edema.\n", encoding="utf-8")
    cli.main(["score", f"no{name}.csv", "--metrics", "rouge"])
    cli.main(["score", f"{name}.csv", "--metrics", f"rouge{attack}"])
    for form in ("terminal", "markdown", "latex", "csv", "json"):
        cli.main(["score", f"{name}.csv", "--metrics", "rouge", "--no-trivial", "--no-progress", "--format", form])
    with pytest.raises(SystemExit):
        cli.main(["score", f"--no{attack}"])
    printed = "".join(capsys.readouterr()).replace("\r\n", "\n")  # CSV ends its lines so
    assert [each for each in OBEYED if each in printed] == []


def test_colours_stay_and_text_is_written_out(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as file:
        Terminal(file=file, force_terminal=True, color_system="standard").print("[bold]a[/bold]\x1b[2J\tb")
    assert "\x1b[1ma" in (tmp_path / "out").read_text()
    assert "\x1b[2J" not in (tmp_path / "out").read_text()
    assert visible("Größe 5 mm → 6 mm\n\tœdème\ud800") == "Größe 5 mm → 6 mm\n\tœdème\\ud800"


@pytest.mark.skipif(sys.platform == "win32", reason="no working directory can be deleted there")
@pytest.mark.parametrize("arguments", [["score", "nofile.csv"], ["score", "nofile.csv", "--json", "a.json"]])
def test_a_deleted_working_directory_is_a_sentence(tmp_path: Path, arguments: list[str]) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from rrgmetrics.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))}
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "deleted" in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe is another error there")
@pytest.mark.parametrize("form", ["terminal", "csv", "markdown"])
def test_files_are_written_where_nobody_reads_the_table(tmp_path: Path, form: str) -> None:
    """As behind `| head`, which leaves after the first lines."""
    (tmp_path / "v.csv").write_text("reference,candidate,level\nClear lungs.,Large mass.,2\n")
    arguments = ["stress", "--variants", "v.csv", "--metrics", "rouge", "--json", "a.json", "--format", form]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))}
    command = [sys.executable, "-m", "rrgmetrics", *arguments, "--no-progress"]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        run = subprocess.run(
            command, cwd=tmp_path, env=environment, stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (run.returncode, (tmp_path / "a.json").is_file()) == (0, True), run.stderr


LOGS = """
import logging, sys
from rrgmetrics import cli
from rrgmetrics.cli import explain

explain.run = lambda options: logging.getLogger("rrgmetrics.notice").warning("a reply: %s", options.attack)
explain.add_arguments = lambda parser: (parser.add_argument("attack"), parser.set_defaults(run=explain.run))
status = cli.main(["explain", sys.argv[1]])
assert logging.getLogger("rrgmetrics").handlers == []
sys.exit(status)
"""


def test_what_commands_log_is_written_out() -> None:
    """Nobody has set logging up: messages go to standard error."""
    attack = "".join(ATTACKS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))}
    run = subprocess.run([sys.executable, "-c", LOGS, attack], env=environment, capture_output=True, check=False)
    printed = run.stderr.decode()
    assert run.returncode == 0, printed
    assert printed == f"a reply: {visible(attack)}\n"


def test_lines_of_progress_are_written_out(capsys, monkeypatch) -> None:
    from rrgmetrics.utils import progress

    attack = "".join(ATTACKS)
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    monkeypatch.setattr(progress, "EACH", 0.001)
    with progress.phase(f"asking {attack}", total=2, unit="replies") as line:
        line.note = f"of {attack}"
        console = Console(file=io.StringIO(), width=400)
        display = progress.Display()
        display.lines[f"crepe{attack}"] = line
        display.hint = attack
        console.print(progress.drawn(display))
        time.sleep(0.05)
    printed = console.file.getvalue() + capsys.readouterr().err
    assert "asking" in printed
    assert "crepe" in printed
    assert [each for each in OBEYED if each in printed] == []


@pytest.mark.parametrize(
    ("column", "option"),
    [
        ("gt", "reference=gt"),
        ("my gt", "'reference=my gt'"),
        ('it\'s {"x"}', "'reference=it's {\"x\"}'"),
        ("", "reference="),
    ],
)
def test_columns_of_any_name_are_shown_as_an_option(column, option):
    assert as_options(f"or columns={ {'reference': column} }.") == f"or --columns {option}."


@pytest.mark.parametrize("text", [r"columns={'a': '\x'}", "columns={'a' 'b'}", "columns={}", "columns={'a': 'b"])
def test_what_only_looks_like_columns_stays(text):
    assert as_options(text) == text
