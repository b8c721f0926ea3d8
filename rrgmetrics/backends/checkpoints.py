"""Where a checkpoint's files are: a folder, the Hub's local cache, or, if the Hub answers, a download.

The Hub client looks for each file five times with pauses that add up to 23 s when there is no network. So the cache
is asked first, then the Hub once within `PROBE_SECONDS`, and what is missing is named with the command that gets it.
"""

from __future__ import annotations

import hashlib
import os
import threading
import urllib.request
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError

from rrgmetrics.errors import BackendError

PROBE_SECONDS = 0.7
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PATTERNS = ("*.json", "*.txt", "*.model", "*.safetensors")


class Checkpoint(NamedTuple):
    """A checkpoint's folder on this machine, and how a signature names it (`id@revision` or `folder@sha256:…`)."""

    folder: Path
    identity: str


def find_checkpoint(name: str, *, weights: Sequence[str] = WEIGHTS) -> Checkpoint:
    """Finds a checkpoint by folder or by Hub id, downloading only when the Hub answers at once.

    Args:
        name: A folder, or `org/model` with an optional `@revision`.
        weights: File names of which one must be there.

    Raises:
        BackendError: It is nowhere to be found; within a second, naming the files and the command that gets them.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        return Checkpoint(path, f"{path.name}@sha256:{_checksum(_need(path, weights, name))[:8]}")
    if name.startswith((".", "/", "~", "\\")) or name.count("/") > 1:
        raise BackendError(f"There is no folder {name}; give a folder with config.json and weights, or a Hub id.")
    repository, _, revision = name.partition("@")
    folder = _cached(repository, revision, weights) or _download(repository, revision, weights)
    _need(folder, weights, name)
    return Checkpoint(folder, f"{repository}@{folder.name[:12]}")


def _need(folder: Path, weights: Sequence[str], name: str) -> Path:
    if not (folder / "config.json").is_file():
        raise BackendError(f"{name}: {folder} has no config.json; it is not a transformers checkpoint.")
    for file in weights:
        if (folder / file).is_file():
            return folder / file
    raise BackendError(
        f"{name}: {folder} has none of {', '.join(weights)}; convert pickled weights with save_pretrained "
        "(safe_serialization) on a machine that trusts them."
    )


def _checksum(file: Path) -> str:
    status = file.stat()
    return _digest(file, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _digest(file: Path, size: int, modified: int) -> str:
    """SHA-256, taken again when size or time of the file change."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _cache_folder() -> Path:
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def _cached(repository: str, revision: str, weights: Sequence[str]) -> Path | None:
    """The snapshot of a revision in the Hub's cache, if config and weights are in it."""
    root = _cache_folder() / f"models--{repository.replace('/', '--')}"
    reference = root / "refs" / (revision or "main")
    commit = reference.read_text().strip() if reference.is_file() else revision
    snapshot = root / "snapshots" / commit
    complete = commit and (snapshot / "config.json").is_file() and any((snapshot / file).is_file() for file in weights)
    return snapshot if complete else None


def _download(repository: str, revision: str, weights: Sequence[str]) -> Path:
    at = f" --revision {revision}" if revision else ""
    advice = (
        f"With a network, run `hf download {repository}{at}`; without one, copy the folder from another machine and "
        "give its path instead of the id. The default configuration needs no download."
    )
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    if _offline_by_choice():
        raise BackendError(f"{repository} is not in {_cache_folder()}, and HF_HUB_OFFLINE is set. {advice}")
    if not _answers(endpoint):
        raise BackendError(
            f"{repository} is not in {_cache_folder()}, and {endpoint} did not answer in {PROBE_SECONDS} s. {advice}"
        )
    from huggingface_hub import snapshot_download

    try:
        wanted = [*PATTERNS, *weights]
        return Path(snapshot_download(repository, revision=revision or None, allow_patterns=wanted))
    except Exception as error:  # the Hub client has a dozen kinds of failure, all of which end here
        raise BackendError(f"{repository} could not be downloaded: {error}. {advice}") from error


def _offline_by_choice() -> bool:
    return any(
        os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE")
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )


def _answers(endpoint: str) -> bool:
    """Whether the Hub answers within PROBE_SECONDS, name look-up included (which has no time-out of its own)."""
    answered = threading.Event()

    def ask() -> None:
        request = urllib.request.Request(endpoint, method="HEAD")
        try:
            urllib.request.urlopen(request, timeout=PROBE_SECONDS).close()
        except HTTPError:
            pass  # an answer all the same
        except (OSError, ValueError):
            return
        answered.set()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PROBE_SECONDS)
    return answered.is_set()
