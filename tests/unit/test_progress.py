"""What is shown while a run goes on: one total for all of it, a line a metric, a few lines in a log."""

from __future__ import annotations

import io
import os
import sys
import time

import pytest
from rich.console import Console

import rrgmetrics
from rrgmetrics.cli.hints import slow_metrics
from rrgmetrics.utils import progress
from rrgmetrics.utils.progress import Display, Line, Progress, drained, drawn, phase, showing

REFERENCES = [f"Nodule of {number} mm in the left lung. No pneumothorax." for number in range(1, 9)]
CANDIDATES = ["No pneumothorax."] * 4 + REFERENCES[4:]


def printed(display, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(drawn(display))
    return console.file.getvalue()


def test_a_comparison_with_trivial_systems_has_one_honest_total(monkeypatch):
    made, totals = [], []

    class Watched(Display):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

        def show(self, *arguments):
            super().show(*arguments)
            totals.append(self.total)

    monkeypatch.setattr(progress, "Display", Watched)
    systems = {"a": CANDIDATES, "b": REFERENCES}
    rrgmetrics.compare(systems, REFERENCES, metrics=["rouge", "bleu?tokenizer=13a", "crepe"], trials=50)
    (display,) = made
    assert len(set(totals)) == 1
    assert display.done == totals[0]
    assert list(display.lines) == ["rouge", "bleu?tokenizer=13a", "crepe"]
    assert all(line.is_done and line.seconds > 0 for line in display.lines.values())


def test_a_terminal_has_a_line_a_metric_with_its_own_pace():
    display = Display(lambda pairs: f"Leave out one of {len(pairs)}.")
    display.expect(["fast", "slow"], 100)
    display.expect(["late"], 50)
    display.show(Progress(50, 200, "fast", 50, 100, 0.01), 0)
    display.show(Progress(70, 200, "slow", 20, 100, 10.0), 0)
    lines = printed(display).splitlines()
    assert lines[0].startswith("scoring: 28% of 250 scores, 0:00 so far, more than 0:40 left")
    assert lines[1:4] == [
        "  fast  50 of 100 pairs  5,000/s  0:00 left",
        "  slow  20 of 100 pairs  2.0/s  0:40 left",
        "  late  0 of 50 pairs",
    ]
    assert lines[4] == "Leave out one of 3."
    display.show(Progress(50, 50, "late", 50, 50, 1.0), 70)
    assert "about 0:40 left" in printed(display)
    assert "late  50 of 50 pairs  50/s  done" in printed(display)


def test_a_short_run_writes_nothing_to_a_log(capsys):
    with phase("asking", total=2, unit="replies") as line:
        line.done = 1
    assert capsys.readouterr().err == ""


def test_a_log_gets_a_line_when_the_time_has_doubled(capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_LINE", 0.1)
    monkeypatch.setattr(progress, "EACH", 0.01)

    def walk():
        for done in range(1, 11):
            time.sleep(0.06)
            yield Progress(done, 10, "rouge", 1, 10, 0.06)
        return "ended"

    with showing(True, lambda pairs: "A hint.") as display:
        display.expect(["rouge"], 10)
        assert drained(walk(), True) == "ended"
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 3  # at 0.1, 0.2 and 0.4 seconds
    assert lines[0].startswith("scoring: ")
    assert lines[0].endswith("left. A hint.")
    assert not any("A hint." in line for line in lines[1:])


def test_what_is_not_to_be_shown_is_not(capsys):
    with showing(False) as display, phase("asking", shown=False) as line:
        line.done += 1
    assert display is None
    assert progress._open.get() is None


def test_a_line_without_a_total_knows_no_end():
    line = Line("pairs", done=5, seconds=2.0)
    assert str(line) == "5 pairs  2.5/s"
    assert str(Line("replies", total=4, done=1, seconds=1.0, note="cost 0.10")).endswith("0:03 left  cost 0.10")


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ({"bleu": 3_000, "crepe": 3_000}, ""),  # 18 seconds are not worth a word
        ({"bertscore": 30_000, "radcliq": 30_000}, ""),  # there is no fast one beside them
        ({"bleu": 30_000, "green@openai:m?base_url=http://127.0.0.1:1/v1": 30_000}, ""),  # not measured
        ({"bleu": 30_000, "crepe": 30_000}, "Slow: crepe (about "),
    ],
)
def test_slow_metrics_are_named_beside_fast_ones(pairs, said):
    assert slow_metrics(pairs).startswith(said)
    assert bool(slow_metrics(pairs)) == bool(said)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_pseudo_terminal_the_lines_are_gone_in_the_end(tmp_path):
    import pty
    import subprocess

    rows = [f'{number},"{text}"' for number, text in enumerate(REFERENCES)]
    path = tmp_path / "reports.csv"
    path.write_text("\n".join(["study_id,report", *rows]) + "\n")
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "rrgmetrics", "score", "--predictions", str(path), "--references", str(path)]
    ran = subprocess.run([*command, "--metrics", "bleu"], stderr=follower, stdout=subprocess.PIPE, timeout=120)
    drawn_lines = os.read(leader, 65536).decode()
    assert ran.returncode == 0
    assert "bleu" in drawn_lines
    assert drawn_lines.rstrip().endswith("\x1b[2K")  # the last thing that is done is to clear them
