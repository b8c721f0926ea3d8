"""What MkDocs calls while it builds the site: adds the pages that follow from the code, and fills in the navigation."""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import checkpoints
import command_line
import conventions
import evidence
import metric_pages
import repository
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
FILLED: Mapping[str, Callable[[], str]] = {  # in a page of ours, the line that ends in <!-- name -->
    "agreement": evidence.agreement,
    "checkpoints": checkpoints.page,
    "commands": command_line.overview,
    "conventions": conventions.page,
    "gamed": evidence.gamed,
    "metrics": metric_pages.table,
    "printed": evidence.printed,
    "rewards": evidence.rewards,
    "stress": evidence.stress,
    "verdicts": evidence.verdicts,
}

_packages = tempfile.TemporaryDirectory(prefix="rrgmetrics-docs-")


@event_priority(100)  # before mkdocstrings reads where the package is
def on_config(config: Any) -> Any:
    """Takes addresses from pyproject.toml, fills in the navigation, and shows mkdocstrings the package as installed."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    config.site_url = config.site_url or urls.get("Documentation")
    repository.address = urls.get("Source", "")
    if repository.address:  # not as repo_url, for which pages would ask GitHub for stars
        config.extra["social"] = [
            {"icon": "fontawesome/brands/git-alt", "link": repository.address, "name": "Repository"}
        ]
    lists = {"metrics": metric_pages.navigation, "commands": command_line.navigation}
    config.nav = [
        {title: lists[part]() if isinstance(part, str) else part} for each in config.nav for title, part in each.items()
    ]
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [installed()]
    return config


def installed() -> str:
    """A folder that holds the package as a wheel does: callbacks, metrics and spaces within it."""
    package = Path(_packages.name) / "rrgmetrics"
    package.mkdir(exist_ok=True)
    for path in [*(ROOT / "rrgmetrics").iterdir(), *(ROOT / name for name in ("callbacks", "metrics", "spaces"))]:
        link = package / path.name
        if not link.exists():
            link.symlink_to(path)
    return _packages.name


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are written at build time."""
    for uri, text in {**repository.pages(), **metric_pages.pages(), **command_line.pages()}.items():
        files.append(File.generated(config, uri, content=text))
    for uri, path in repository.pictures().items():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Puts what follows from the code where a page asks for it."""
    if page.file.generated_by is None:
        markdown = repository.mended(markdown, f"docs/{page.file.src_uri}")
    for name, write in FILLED.items():
        line = re.compile(rf"^.*<!-- {name} -->$", re.MULTILINE)
        if line.search(markdown):
            text = write()
            markdown = line.sub(lambda _, text=text: text, markdown)
    return markdown


def on_post_page(output: str, **_: Any) -> str:
    """Names the theme's search for those who hear the page."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def on_shutdown() -> None:
    """Removes the folder of links."""
    _packages.cleanup()
