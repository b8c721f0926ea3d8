"""Code blocks of Markdown files, run as a reader would run them: a page from top to bottom, in one folder.

What a fence says decides what becomes of the block:

- `python`: runs in the page's one namespace; with `>>>`, what is printed must be what stands there.
- `bash`: every line runs, `rrgmetrics ...` in this process and anything else in a shell, and must succeed.
- `console`: lines after `$ ` run, whatever their status, and print what stands below them.
- `title="name"` beside any language: the block is a file of that name, which is written and not run.
- anything else (`text`, `json`, `yaml`, no language) is for reading.

`...` in what is printed stands for anything; white space and the length of rules do not count. What cannot run here
has an HTML comment on the line before the block, which readers of the page do not see, with a reason if that helps:
`<!-- (network: a server) -->` for the whole block, `<!-- (network) vllm serve -->` for the commands that begin so.

- `(network)`: it downloads, or asks a server or a cluster; lines of `pip install` need no mark;
- `(gpu)`: it needs a GPU;
- `(package)`: it needs a package that the tests do not install;
- `(sketch)`: it shows where something goes, in code of the reader's.

Each page starts in an empty folder with `examples/` in it.
"""

from __future__ import annotations

import contextlib
import doctest
import glob
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics import cli

ROOT = Path(__file__).parents[2]
EXAMPLES = ("references.csv", "system_a.csv", "system_b.csv")

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<code>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r"<!-- \((network|gpu|package|sketch)\b[^)]*\)(.*) -->")
_MARKS = re.compile(rf"(?:^ *{_MARK.pattern} *\n)+\Z", re.MULTILINE)
_SHELL = re.compile(r"[|&;<>$`(){}]")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.DONT_ACCEPT_BLANKLINE


class Block(NamedTuple):
    """A fenced block.

    Attributes:
        language: Of the code.
        title: The name of the file it is.
        code: Its lines.
        line: The line of the page it begins on.
        marks: Why commands that begin so cannot run here; "" is the whole block.
    """

    language: str
    title: str
    code: str
    line: int
    marks: Mapping[str, str] = {}

    def mark(self, command: str) -> str:
        """Why a command cannot run here, or ""."""
        words = " ".join(command.split())
        return next((mark for start, mark in self.marks.items() if f"{words} ".startswith(f"{start} ")), "")


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a Markdown text, also those in lists and admonitions."""
    found = []
    for match in _FENCE.finditer(text):
        info, indent = match["info"].strip(), match["indent"]
        title = re.search(r'title="([^"]+)"', info)
        code = "".join(line.removeprefix(indent) for line in match["code"].splitlines(keepends=True))
        line = text.count("\n", 0, match.start("code")) + 1
        before = _MARKS.search(text, 0, match.start())
        marks = {start.strip(): mark for mark, start in _MARK.findall(before[0])} if before else {}
        found.append(Block(info.split(" ")[0], title[1] if title else "", code, line, marks))
    return found


def run_page(page: Path, folder: Path) -> Counter[str]:
    """Runs a page's blocks in an empty folder; returns how many ran, by kind, and how many could not, by mark.

    Raises:
        AssertionError: A block failed, or printed something else; the message names the page and the line.
    """
    counts: Counter[str] = Counter()
    names: dict[str, Any] = {"__name__": "__main__"}
    (folder / "examples").mkdir()
    for name in EXAMPLES:
        shutil.copy(ROOT / "examples" / name, folder / "examples")
    with contextlib.chdir(folder):
        for block in blocks(page.read_text(encoding="utf-8")):
            where = f"{page.relative_to(ROOT)}:{block.line}" if page.is_relative_to(ROOT) else f"{page}:{block.line}"
            counts.update(_run(block, names, where))
    return counts


def _run(block: Block, names: dict[str, Any], where: str) -> Iterator[str]:
    """Runs one block; yields what became of it, for `bash` and `console` command by command."""
    if block.title:
        Path(block.title).parent.mkdir(parents=True, exist_ok=True)
        Path(block.title).write_text(block.code, encoding="utf-8")
    elif block.language not in ("python", "bash", "console"):
        return
    elif "" in block.marks:
        yield block.marks[""]
    elif block.language == "python":
        _python(block, names, where)
        yield "python"
    elif block.language == "bash":
        for command in _commands(block.code):
            yield block.mark(command) or _shell(command, where)
    else:
        for command, expected in _session(block.code):
            yield block.mark(command) or _shell(command, where, expected)


def _python(block: Block, names: dict[str, Any], where: str) -> None:
    """Runs Python, a session with prompts as a doctest."""
    if ">>> " in block.code:
        test = doctest.DocTestParser().get_doctest(block.code, names, where, where, block.line - 1)
        said = io.StringIO()
        failed = doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=said.write, clear_globs=False).failed
        names.update(test.globs)
        assert not failed, said.getvalue()
        return
    try:
        exec(compile("\n" * (block.line - 1) + block.code, where, "exec", dont_inherit=True), names)
    except Exception as error:
        raise AssertionError(f"{where}: {type(error).__name__}: {error}\n{block.code}") from error


def _commands(code: str) -> Iterator[str]:
    """The commands of a shell block, continued lines joined."""
    for line in code.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def _session(code: str) -> Iterator[tuple[str, str]]:
    """The commands of a terminal's session, and what it shows after each."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command = re.findall(r"\A(?:.*\\\n)*.*\n?", part)[0]
        yield re.sub(r" *\\\n *", " ", command).strip(), part[len(command) :]


def _shell(command: str, where: str, expected: str | None = None) -> str:
    """Runs a command; returns "shell", or "network" for what installs."""
    if re.match(r"(?:python -m )?pip install", command):
        return "network"
    status, printed = _bash(command) if _needs_a_shell(command) else _rrgmetrics(command)
    if expected is None:
        assert status == 0, f"{where}: {command}\nended with {status}:\n{printed}"
    else:
        want, got = (re.sub("─+", "─", text) for text in (expected, printed))
        alike = doctest.OutputChecker().check_output(want, got, _FLAGS)
        assert alike, f"{where}: {command}\nprinted\n{printed}\nand not\n{expected}"
    return "shell"


def _needs_a_shell(command: str) -> bool:
    """Whether a command is not ours alone, or has what a shell would replace."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"| #.*", "", command)
    return (
        not command.startswith("rrgmetrics ")
        or bool(_SHELL.search(bare))
        or any(glob.glob(word) for word in bare.split() if glob.has_magic(word))
    )


def _rrgmetrics(command: str) -> tuple[int, str]:
    """Status and output of the command line, in this process."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            status = cli.main(shlex.split(command, comments=True)[1:])
        except SystemExit as error:
            status = int(error.code or 0)
    return status, said.getvalue()


def _bash(command: str) -> tuple[int, str]:
    """Status and output of a shell that finds this environment's commands first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        env=os.environ | {"PATH": path, "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout
