"""The documentation site: built strictly without a network, whole, and every link within it leads somewhere."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import rrgmetrics
from code_blocks import ROOT
from rrgmetrics import callbacks, stats, testing
from rrgmetrics.cli import COMMANDS

pytest.importorskip("mkdocstrings")
NOWHERE = "http://127.0.0.1:9"  # a proxy that nobody runs: whatever asks a host fails
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        relation = dict(attributes).get("rel", "")
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif tag == "a" and name == "href":
                self.links.append(value or "")
            elif (tag, name) in LOADED and relation != "canonical":
                self.loads.append(value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | proxies | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_link_and_anchor_within_it_leads_somewhere(site, pages):
    lost = []
    for path, page in pages.items():
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in pages[target].anchors):
                lost.append(f"{path.relative_to(site)}: {link}")
    assert not lost


def test_no_page_loads_anything_from_elsewhere(site, pages):
    loaded = {link for page in pages.values() for link in page.loads if urlsplit(link).netloc}
    styles = {path for path in site.rglob("*.css") if re.search(r"url\(.?(https?:)?//|@import", path.read_text())}
    assert not loaded | styles
    # The theme asks GitHub for a repository's stars where a page names one in its head.
    assert not [path for path in pages if 'data-md-component="source"' in path.read_text(encoding="utf-8")]


def test_everything_public_has_its_page(site, pages):
    assert {path.name for path in (site / "metrics").iterdir() if path.is_dir()} == set(rrgmetrics.SPECS)
    assert {path.name for path in (site / "cli").iterdir() if path.is_dir()} == set(COMMANDS)
    names = {anchor for path, page in pages.items() if "reference" in path.parts for anchor in page.anchors}
    modules = (rrgmetrics, callbacks, stats, testing)
    public = {f"{module.__name__}.{name}": getattr(module, name) for module in modules for name in module.__all__}
    assert {name for name, it in public.items() if inspect.isclass(it) or inspect.isfunction(it)} <= names


def test_the_navigation_names_a_page_once():
    named = re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(named) == len(set(named)) > 40


def test_a_page_of_each_room_is_found(site):
    texts = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    found = {entry["location"].split("#")[0] for entry in texts}
    assert {"", "metrics/crepe/", "cli/score/", "reference/score/", "howto/tables/", "project/glossary/"} <= found
    unwritten = "writes this part of the page"
    assert not [entry["location"] for entry in texts if unwritten in entry["text"]]
