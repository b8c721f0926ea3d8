"""README keeps its word: its code runs, its links lead somewhere, its badges and pictures are what they say."""

from __future__ import annotations

import re
import tomllib

import pytest

from code_blocks import ROOT

README = ROOT / "README.md"
LARGEST_PICTURE = 150_000  # bytes


@pytest.fixture(scope="module")
def text():
    return README.read_text(encoding="utf-8")


def test_its_code_runs(run_blocks):
    run_blocks(README)


def test_its_links_and_pictures_are_files(text):
    named = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []
    pictures = sorted((ROOT / "docs" / "images").glob("pair-*.png"))
    assert [path.stem for path in pictures] == ["pair-dark", "pair-light"]
    assert all(path.stat().st_size <= LARGEST_PICTURE for path in pictures)


def test_its_badges_say_what_the_package_says(text):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [line.split(" :: ")[-1] for line in project["classifiers"] if re.search(r"Python :: 3\.\d+$", line)]
    for name, words in (("licence", project["license"]), ("python", " | ".join(versions))):
        assert f"![{name}: {words}](docs/images/{name}.svg)" in text
        assert f"<title>{name}: {words}</title>" in (ROOT / "docs" / "images" / f"{name}.svg").read_text()
