"""Writes what was seen as a Markdown file that a user can send."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from rrgmetrics.doctor import Checkup
from rrgmetrics.doctor.repositories import GIGABYTE, Repository
from rrgmetrics.utils.text_format import counted
from rrgmetrics.version import VERSION

PACKAGES = ("torch", "transformers", "tokenizers", "huggingface-hub", "safetensors", "numpy")
WORDS = {"ok": "right", "fault": "**fault**", "left": "left"}


def report(checkups: Sequence[Checkup]) -> str:
    """Returns the report: what ran where, each configuration, each repository, and the pins.

    It names no user, no host and no folder but those that a sentence needs.
    """
    import yaml

    faults = sum(len(checkup.faults) for checkup in checkups)
    found = {repo.need.name: repo for checkup in checkups for repo in checkup.repositories}
    whole = [repo for repo in found.values() if repo.files and repo.is_whole]
    pins = {repo.need.name: {"revision": repo.revision, "sha256": dict(repo.pin().sha256)} for repo in whole}
    parts = [
        "# rrgmetrics doctor",
        f"rrgmetrics {VERSION}, Python {platform.python_version()}, {platform.system()} {platform.machine()}; "
        + ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
        + ".",
        f"{counted(len(checkups), 'configuration')} examined, {counted(faults, 'fault')}.",
        "## Configurations",
        *(_configuration(checkup) for checkup in checkups),
    ]
    if found:
        head = "| repository | revision | GB | licence | whole |\n|---|---|---|---|---|\n"
        parts += ["## Repositories", head + "\n".join(map(_row, found.values()))]
        sentences = dict.fromkeys(sentence for checkup in checkups for sentence in checkup.verified)
        parts += ["## Verified facts about the checkpoints", "\n".join(f"- {sentence}" for sentence in sentences)]
    if pins:
        parts += ["## Pins", f"```yaml\n{yaml.safe_dump(pins, sort_keys=False, width=200)}```"]
    return "\n\n".join(parts) + "\n"


def _configuration(checkup: Checkup) -> str:
    lines = [f"- {WORDS[remark.status]}: {remark.sentence}" for remark in checkup.remarks]
    return f"### `{checkup.configuration}`\n\n" + "\n".join(lines)


def _row(repo: Repository) -> str:
    size = f"{repo.size / GIGABYTE:.2f}" if repo.files else f"about {repo.need.gigabytes:g}"
    state = "yes" if repo.files and repo.is_whole else "not compared" if repo.folder else "not here"
    cells = (repo.need.name, repo.revision[:12] or "–", size, repo.licence or "not stated", state)
    return f"| {' | '.join(cells)} |"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
