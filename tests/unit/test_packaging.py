"""What ships: every folder is named in setup.cfg, weights stay below 30 MB, versions and names agree."""

import configparser
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
    assert set(extras) == {"judges", "vllm", "clinical", "train", "rl", "spaces", "dev", "all"}
    named = set(extras["all"][0].removeprefix("rrgmetrics[").removesuffix("]").split(","))
    assert named == set(extras) - {"all", "dev", "vllm"}


def test_every_metric_folder_is_complete_and_in_the_table():
    found = {path.name for path in (ROOT / "metrics").iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert found == set(rrgmetrics.SPECS)
    for name in found:
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
