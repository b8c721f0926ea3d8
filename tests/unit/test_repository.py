"""What an open-source project has beside its code: workflows, forms, citation, metadata; valid, and of one version."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from rrgmetrics.cli import listing
from rrgmetrics.metaeval.measured import measured_sets, reads_chest_xrays
from rrgmetrics.specs import SPECS
from rrgmetrics.version import VERSION

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (GITHUB / "workflows").glob("*.yml")}
PYTHONS = ["3.11", "3.12", "3.13"]


def script(name):
    specification = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_workflows_are_what_github_reads():
    pytest.importorskip("check_jsonschema")
    command = ["check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    paths = map(str, (GITHUB / "workflows").glob("*.yml"))
    done = subprocess.run([sys.executable, "-m", *command, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_suite_runs_on_what_is_promised():
    matrix = WORKFLOWS["tests"]["jobs"]["suite"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert {f"Programming Language :: Python :: {version}" for version in PYTHONS} <= set(PROJECT["classifiers"])
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]
    assert {"run": "make oldest"} in WORKFLOWS["tests"]["jobs"]["oldest"]["steps"]


def test_workflows_call_what_the_makefile_has():
    makefile = (ROOT / "Makefile").read_text()
    steps = [
        step for workflow in WORKFLOWS.values() for job in workflow["jobs"].values() for step in job.get("steps", ())
    ]
    wanted = {step["run"].split()[1] for step in steps if step.get("run", "").startswith("make ")}
    assert {"lint", "test", "docs"} <= wanted
    assert {target for target in wanted if f"\n{target}:" not in makefile} == set()


def test_a_release_is_published_after_the_tests_and_without_a_password():
    jobs = WORKFLOWS["release"]["jobs"]
    assert set(jobs["publish"]["needs"]) == {"tests", "build"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["spaces"]["needs"] == "publish"
    assert "password" not in (GITHUB / "workflows" / "release.yml").read_text().replace("no password", "")


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem)
def test_forms_of_issues(path):
    form = yaml.safe_load(path.read_text())
    if path.stem == "config":
        assert {"name", "url", "about"} == set(form["contact_links"][0])
        return
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert "nvented" in path.read_text()  # never a patient's report


def test_versions_and_addresses_agree(tmp_path):
    check = script("check_release")
    assert list(check.disagreements()) == []
    assert any("tag v" in fault for fault in check.disagreements("v0.0.1"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["license"], citation["repository-code"]) == (PROJECT["license"], PROJECT["urls"]["Source"])
    for name in ("CITATION.cff", "CHANGELOG.md"):
        (tmp_path / name).write_text((ROOT / name).read_text().replace(VERSION, "9.9.9"))
    (tmp_path / "rrgmetrics").mkdir()
    (tmp_path / "rrgmetrics" / "version.py").write_text((ROOT / "rrgmetrics" / "version.py").read_text())
    faults = list(check.disagreements(root=tmp_path))
    assert [fault.split()[0] for fault in faults] == ["CITATION.cff", "CHANGELOG.md"]


def test_hooks_before_a_commit_are_those_of_lint():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    entries = [hook["entry"] for hook in local["hooks"]]
    for tool in ("ruff check", "ruff format", "scripts/check_types.py", "scripts/make_cards.py"):
        assert any(tool in entry for entry in entries)
    assert all(entry.startswith(".venv/bin/") for entry in entries)  # the versions of constraints.txt


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if reads_chest_xrays(spec)])
def test_cards_say_what_a_cost_was_measured_on(name):
    data = measured_sets()["cost"]
    assert f"one core ({data.processor})" in " ".join((ROOT / "metrics" / name / "README.md").read_text().split())
    told = listing.cost(SPECS[name])
    assert told.startswith(f"{data.metrics[name].values['seconds'].value:.1f} s for 1,000 pairs, CPU time")
    assert "<!--" not in told
