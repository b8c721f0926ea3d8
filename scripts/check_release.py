"""Builds the wheel and the sdist, and tries each in fresh environments without a network, as RELEASING.md says.

    python scripts/check_release.py --python python3.11 python3.12 python3.13 [--tag v0.2.0]

Writes `dist/`. An environment for each Python gets what `constraints.txt` pins (some 2 GB, taken away afterwards) with
the wheel, and then the sdist in its place. Each stands in a folder with the examples alone and runs the commands of
`TRIED`; whatever asks the network meets a closed port.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
TOOLS = ("build", "twine")
CLOSED = "http://127.0.0.1:9"  # nobody listens at the port of `discard`
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), CLOSED)

REGISTERED = """
import evaluate
crepe = evaluate.load("rrgmetrics/crepe")
print(crepe.compute(predictions=["Clear lungs."], references=["Small left effusion."], progress=False)["crepe"])
"""
CALLED = """
import rrgmetrics
reports = {"predictions": ["Small right effusion."], "references": ["Small left effusion."]}
result = rrgmetrics.score("green", **reports, progress=False)["green"]
print(result.scores["green"])
(error,) = rrgmetrics.explain(candidate="Small right effusion.", reference="Small left effusion.").errors
from rrgmetrics.callbacks import ReportMetrics, ReportMetricsCallback, make_reward
"""
COMPARE = "compare --references references.csv --systems system_a.csv system_b.csv --html report.html --no-progress"
TRIED: tuple[tuple[str, ...], ...] = (
    ("pip", "check"),
    ("rrgmetrics", "--version"),
    ("rrgmetrics", "list"),
    ("rrgmetrics", *COMPARE.split()),
    ("python", "-c", CALLED),
    ("rrgmetrics", "register"),
    ("python", "-c", REGISTERED),
)


def main() -> int:
    """Checks, builds and tries; returns the exit status."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--python", nargs="*", default=[sys.executable], help="interpreters to try; none: build only")
    parser.add_argument("--tag", help="of the release: must name the version, and the changelog must have its date")
    parser.add_argument("--built", action="store_true", help="try what is in dist/, as an earlier run has built it")
    given = parser.parse_args()
    faults = list(disagreements(given.tag))
    for fault in faults:
        print(f"check_release: {fault}", file=sys.stderr)
    if faults:
        return 2
    try:
        files = sorted(DIST.iterdir()) if given.built else build()
        for python in given.python:
            try_out(files, python)
    except subprocess.CalledProcessError as error:
        print(f"check_release: {' '.join(map(str, error.cmd))}\n{error.stdout}{error.stderr}", file=sys.stderr)
        return 1
    return 0


def disagreements(tag: str | None = None, root: Path = ROOT) -> Iterator[str]:
    """Yields what the tag, the changelog and the citation say otherwise than `rrgmetrics/version.py`."""
    version = _one(r'VERSION = "(.*)"', root / "rrgmetrics" / "version.py")
    cited = _one(r"^version: (.*)$", root / "CITATION.cff")
    if cited != version:
        yield f"CITATION.cff has version {cited}, and rrgmetrics/version.py {version}; write the same."
    newest, date = re.search(r"^## (\S+) - (\S+)", _text(root / "CHANGELOG.md"), re.MULTILINE).groups()  # type: ignore[union-attr]
    if newest != version:
        yield f"CHANGELOG.md begins with {newest}, and rrgmetrics/version.py says {version}; write the same."
    if tag is not None and tag != f"v{version}":
        yield f"The tag is {tag}, and the version {version}; tag v{version}."
    if tag is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        yield f"CHANGELOG.md says {newest} - {date}; write the date of the release."


def build() -> list[Path]:
    """Writes the wheel and the sdist to `dist/`, checked as the index will check them."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        python = _environment(Path(folder), sys.executable)
        _run(python, "-m", "pip", "install", "--quiet", *TOOLS)
        _run(python, "-m", "build", "--outdir", DIST, ROOT)
        files = sorted(DIST.iterdir())
        print(_run(python, "-m", "twine", "check", "--strict", *files).strip())
    for file in files:
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    return files


def try_out(files: Sequence[Path], python: str) -> None:
    """Installs each file into a fresh environment and runs what is `TRIED`."""
    with tempfile.TemporaryDirectory() as folder:
        own = _environment(Path(folder) / "environment", python)
        version = _run(own, "-c", "import platform; print(platform.python_version())").strip()
        install = (own, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt")
        _run(*install, "torch")  # first, so that nothing asks for a newer one: see the Makefile
        for file in files:
            start = time.monotonic()
            _run(own, "-m", "pip", "uninstall", "--quiet", "--yes", "rrgmetrics")
            _run(*install, file)
            _use(own, Path(folder) / file.name)
            print(f"ok: {file.name} on Python {version}, {time.monotonic() - start:.0f} s", flush=True)


def _use(own: Path, folder: Path) -> None:
    """Runs what is `TRIED` with an interpreter, in a folder of its own and with a home that is empty."""
    (folder / "home").mkdir(parents=True)
    shutil.copytree(ROOT / "examples", folder / "here", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    closed = OFFLINE | {"HOME": str(folder / "home"), "PATH": f"{own.parent}{os.pathsep}{os.environ['PATH']}"}
    for command in TRIED:
        _run(*command, cwd=folder / "here", env=os.environ | closed)


def _environment(folder: Path, python: str) -> Path:
    """Makes a virtual environment; returns its interpreter."""
    _run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def _run(*command: str | Path, **keywords: object) -> str:
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **keywords)  # type: ignore[call-overload]
    return str(done.stdout)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _one(pattern: str, path: Path) -> str:
    found: Sequence[str] = re.findall(pattern, _text(path), re.MULTILINE)
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
