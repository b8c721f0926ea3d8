"""What ships: every folder is named in setup.cfg, weights stay below 30 MB, versions and names agree."""

import configparser
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rrgmetrics

ROOT = Path(__file__).parents[2]
CONFIG = configparser.ConfigParser()
CONFIG.read(ROOT / "setup.cfg")
PACKAGES = set(CONFIG["options"]["packages"].split())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def folders(top, package):
    for path in [top, *(p for p in top.rglob("*") if p.is_dir())]:
        relative = path.relative_to(top).parts
        if not any(part.startswith((".", "__")) or "-" in part for part in relative) and any(
            p.is_file() for p in path.iterdir()
        ):
            yield ".".join([package, *relative])


@pytest.mark.parametrize(
    ("folder", "package"),
    [
        ("rrgmetrics", "rrgmetrics"),
        ("metrics", "rrgmetrics.metrics"),
        ("callbacks", "rrgmetrics.callbacks"),
        ("spaces", "rrgmetrics.spaces"),
    ],
)
def test_every_folder_is_a_package(folder, package):
    assert set(folders(ROOT / folder, package)) <= PACKAGES


def test_weights_fit_into_the_wheel():
    files = (ROOT / "rrgmetrics" / "backends" / "weights").rglob("*")
    assert sum(path.stat().st_size for path in files if path.is_file()) < 30e6


def test_extras_are_those_promised():
    extras = PROJECT["optional-dependencies"]
    assert set(extras) == {
        "published",
        "judges",
        "vllm",
        "crimson",
        "radgraph",
        "training",
        "plots",
        "spaces",
        "torchmetrics",
        "ray",
        "inspect",
        "lighteval",
        "mcp",
        "docs",
        "dev",
        "all",
    }
    named = set(extras["all"][0].removeprefix("rrgmetrics[").removesuffix("]").split(","))
    assert named == set(extras) - {"all", "dev", "docs", "vllm", "crimson", "radgraph", "inspect", "lighteval", "mcp"}


def test_every_metric_folder_is_complete_and_in_the_table():
    folders = {path.name for path in (ROOT / "metrics").iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert folders == set(rrgmetrics.SPECS)
    for name in folders:
        files = {path.name for path in (ROOT / "metrics" / name).iterdir() if path.is_file()}
        assert {f"{name}.py", "README.md", "app.py", "requirements.txt"} <= files
        assert f"metrics/{name}/README.md" in (ROOT / "README.md").read_text()
        assert (
            (ROOT / "metrics" / name / "requirements.txt").read_text().strip().endswith(f"=={rrgmetrics.__version__}")
        )


def test_readme_commands_are_those_of_the_makefile():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for command in ("demo", "test"):
        assert f"make {command} " in readme
        assert f"\n{command}:" in makefile
    assert "make test" in (ROOT / ".ci" / "run").read_text()


ROOMS = ("rrgmetrics", "rrgmetrics.callbacks", "rrgmetrics.metrics", "rrgmetrics.spaces.limits")
WHERE = f"""
import importlib, json, pickle, sys
from importlib.resources import files
rooms = {{name: importlib.import_module(name).__file__ for name in {ROOMS}}}
import rrgmetrics
from rrgmetrics.callbacks import ReportMetrics
assert pickle.loads(pickle.dumps(ReportMetrics)) is ReportMetrics
print(json.dumps({{**rooms, "data": str(files("rrgmetrics.metrics")), "module": str(rrgmetrics.module_path("bleu"))}}))
"""


def where(folder, setting=""):
    """The files that the package's rooms come from, in a new interpreter that stands in a folder."""
    code = setting + WHERE
    answer = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return [Path(file).resolve() for file in json.loads(answer.stdout).values()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout's packages, elsewhere."""
    copy = tmp_path_factory.mktemp("copy").resolve()
    ignored = shutil.ignore_patterns("__pycache__", "weights")
    for name in ("rrgmetrics", "callbacks", "metrics", "spaces"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "LICENSES.md"):
        shutil.copy(ROOT / name, copy)
    (copy / "rrgmetrics" / "backends" / "weights").mkdir()
    return copy


def test_a_copied_checkout_runs_none_of_another_checkouts_files(checkout):
    assert all(checkout in file.parents for file in where(checkout))


@pytest.fixture(scope="module")
def installed(checkout, tmp_path_factory):
    """The package as a wheel would lay it out: no checkout, no editable finder."""
    pytest.importorskip("setuptools")
    target = tmp_path_factory.mktemp("site").resolve()
    build = "from setuptools import setup; setup()"
    command = [sys.executable, "-c", build, "--quiet", "build_py", "--build-lib", str(target)]
    answer = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return target


def without_editable(installed):
    """Takes the editable install of the checkout under test away, and puts the built package on the path instead."""
    return (
        "import sys\n"
        "sys.meta_path[:] = [finder for finder in sys.meta_path if 'Editable' not in getattr(finder, '__name__', '')]\n"
        f"sys.path.append({str(installed)!r})\n"
    )


def test_an_installed_package_finds_its_rooms_from_inside_a_checkout(checkout, installed):
    assert all(checkout in file.parents for file in where(checkout, setting=without_editable(installed)))


def test_an_installed_package_finds_its_rooms_elsewhere(installed, tmp_path):
    files = where(tmp_path, setting=without_editable(installed))
    assert all(installed in file.parents for file in files)
