"""Files of the repository as pages of the site, and links between them."""

from __future__ import annotations

import os.path
import re
from pathlib import Path

import drawing

from rrgmetrics.specs import SPECS

ROOT = Path(__file__).parents[2]
PAGES = {  # a file of the repository: the page that it becomes
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "GLOSSARY.md": "project/glossary.md",
    "LICENSES.md": "project/licenses.md",
    "spaces/leaderboard/README.md": "howto/leaderboard-in-full.md",
    "spaces/rating/README.md": "howto/rating-in-full.md",
    "examples/README.md": "evidence/training.md",
    "benchmarks/README.md": "evidence/speed.md",
}
TITLES = {  # where the file's own is for readers who stand in its folder
    "spaces/leaderboard/README.md": "The leaderboard in full",
    "spaces/rating/README.md": "The rating Space in full",
    "examples/README.md": "Example reports, and a generator trained here",
    "benchmarks/README.md": "Speed and memory",
    "CHANGELOG.md": "Changes",
}
PICTURES = {"examples/train_report_generator/curves.png": "evidence/curves.png"}

address = ""  # of the repository, where one is known; without it a link to a file of code is its name

_LINK = re.compile(r"\[(?P<text>(?:[^\]\n]|\n(?=\S))*)\]\((?P<target>(?!https?:|mailto:|#)[^)\s]+)\)")
_LIST = re.compile(r"^(?! *(?:[-*|>#]|\d+\.) |$|```)([^\n]*\S[^\n]*)\n(?=(?:[-*]|\d+\.) )", re.MULTILINE)
_FENCED = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_FENCED_OR_TITLE = re.compile(
    rf"(?P<fence>{_FENCED.pattern})|^# ".replace("\\1\\2", "\\2\\3"), re.MULTILINE | re.DOTALL
)


def pages() -> dict[str, str]:
    """The text of each page by its place in the site."""
    return {page: page_of(name) for name, page in PAGES.items()}


def page_of(name: str) -> str:
    """The text of a file as a page: as Python-Markdown reads it, with links that lead within the site."""
    text = drawing.filled((ROOT / name).read_text(encoding="utf-8"), drawing.ON_SITE)
    text = mended(as_page(text), name)
    title, _, body = text.partition("\n")
    body = _FENCED_OR_TITLE.sub(lambda found: found[0] if found["fence"] else "## ", body)
    return f"# {TITLES[name]}\n{body}" if name in TITLES else f"{title}\n{body}"


def pictures() -> dict[str, Path]:
    """The pictures that these pages show."""
    return {uri: ROOT / name for name, uri in PICTURES.items()}


def as_page(text: str) -> str:
    """Drops front matter and comments, and sets lists apart from the lines before them, which GitHub does by itself."""
    text = re.sub(r"\A---\n.*?\n---\n+", "", text, flags=re.DOTALL)
    parts, end = [], 0
    for fence in [*_FENCED.finditer(text), None]:
        prose = text[end : fence.start() if fence else None]
        parts += [_LIST.sub(r"\1\n\n", re.sub(r"<!--.*?-->\n?", "", prose, flags=re.DOTALL)), fence[0] if fence else ""]
        end = fence.end() if fence else end
    return "".join(parts)


def mended(text: str, source: str) -> str:
    """Makes links of a file of the repository lead to pages, and those to files of code to the repository."""

    def mend(link: re.Match[str]) -> str:
        path, _, anchor = link["target"].partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(source), path))
        place = place_of(target)
        if place is None:
            return f"[{link['text']}]({address}/blob/main/{target})" if address else link["text"]
        here = os.path.dirname(place_of(source) or source.removeprefix("docs/"))
        return f"[{link['text']}]({os.path.relpath(place, here or '.')}{'#' * bool(anchor)}{anchor})"

    parts, end = [], 0
    for fence in [*_FENCED.finditer(text), None]:
        parts += [_LINK.sub(mend, text[end : fence.start() if fence else None]), fence[0] if fence else ""]
        end = fence.end() if fence else end
    return "".join(parts)


def place_of(path: str) -> str | None:
    """The place in the site of a file of the repository, or None."""
    places = PAGES | PICTURES | {f"metrics/{name}/README.md": f"metrics/{name}.md" for name in SPECS}
    return places.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
