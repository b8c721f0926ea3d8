"""Every code block of the how-tos and of the site's own pages runs, or says why it cannot run here."""

from __future__ import annotations

import re

import pytest

from code_blocks import ROOT, blocks

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("reference/*.md")])
WITH_CODE = [page for page in PAGES if blocks(page.read_text(encoding="utf-8"))]
# Seconds of one core each: processes and shells that begin anew, a lexicon read again.
SLOW = {"evaluate", "lexicon", "scale", "stress"}


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.stem in SLOW else ()) for page in WITH_CODE],
    ids=lambda page: page.stem,
)
def test_its_code_runs(page, run_blocks):
    run_blocks(page)


LINK = re.compile(r"(?:\]\(|(?:href|src)=\")(?!\w+:|#)([^)\s\"#]+)")


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_its_links_lead_to_files_of_the_repository(page):
    text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert [link for link in LINK.findall(text) if not (page.parent / link).exists()] == []
    assert "{{" not in text


def test_slow_pages_are_there():
    assert {page.stem for page in WITH_CODE} >= SLOW
