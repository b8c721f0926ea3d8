"""Looks at a repository of the Hub, downloads what of it is loaded, and checks each file against what the Hub says."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal, NamedTuple

from rrgmetrics.backends.checkpoints import (
    SETTINGS,
    Checkpoint,
    Pin,
    cache_folder,
    cached,
    checksum,
    pins,
    repository_folder,
)
from rrgmetrics.backends.checkpoints.loading import check_classes
from rrgmetrics.doctor.needs import Need
from rrgmetrics.english import listed
from rrgmetrics.errors import BackendError, MissingExtraError

SLACK = (
    2.0  # what we know of sizes is about; a repository that would send more than this many times as much is asked about
)
GIGABYTE = 1e9
TIMEOUT = 10.0

NO_PIN = Pin("", {})

Status = Literal["ok", "fault", "left"]


class Remark(NamedTuple):
    """What was seen, in one sentence.

    Attributes:
        status: "ok"; "fault": something is wrong; "left": it could not be looked at.
        sentence: In words, with what to do where there is something to do.
    """

    status: Status
    sentence: str


class FileFact(NamedTuple):
    """What the Hub says of a file: its size in bytes, and the SHA-256 of a large one or the git id of a small one."""

    size: int
    sha256: str
    git: str


@dataclass
class Repository:
    """A repository as it was found.

    Attributes:
        need: What is loaded of it.
        revision: The commit that was looked at; "" if nobody said.
        licence: The tag of its card.
        files: What is loaded, and what the Hub says of each; empty without the Hub.
        folder: Where the files lie, once they do.
        remarks: What was seen.
    """

    need: Need
    revision: str = ""
    licence: str = ""
    files: Mapping[str, FileFact] = field(default_factory=dict)
    folder: Path | None = None
    remarks: list[Remark] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes of what is loaded, as the Hub says."""
        return sum(fact.size for fact in self.files.values())

    @property
    def is_whole(self) -> bool:
        """Whether it lies on this machine without a fault."""
        return self.folder is not None and all(remark.status != "fault" for remark in self.remarks)

    def pin(self) -> Pin:
        """The revision and the checksums of its large files."""
        return Pin(self.revision, {name: fact.sha256 for name, fact in self.files.items() if fact.sha256})

    def say(self, status: Status, sentence: str) -> None:
        """Adds a remark."""
        self.remarks.append(Remark(status, sentence))


def look_here(need: Need) -> Repository:
    """Looks at a repository without the Hub: what lies in its cache, or what is missing, how large, and where to."""
    found, pin = Repository(need), pins().get(need.repository, NO_PIN)
    found.folder = folder = snapshot(need, pin.revision)
    if folder is None:
        place = repository_folder(need.repository).name
        found.say(
            "left", f"{need.name} is not here: about {need.gigabytes:g} GB, which would lie in the cache's {place}."
        )
        return found
    found.revision = folder.name
    if missing := need.missing(file.name for file in folder.iterdir()):
        found.say("fault", f"{need.name}: {folder} lacks {listed(missing)}; delete it and download it again.")
    known = [name for name in pin.sha256 if folder.name == pin.revision and (folder / name).is_file()]
    for name in known:
        _compare_checksum(found, name, pin.sha256[name])
    if found.is_whole:
        compared = f"{listed(known)} as published" if known else "compared with nothing, since no checksum is known"
        found.say("ok" if known else "left", f"{need.name}: revision {folder.name[:12]} is here, {compared}.")
    return found


def look_there(need: Need, endpoint: str, download: bool, most: float | None) -> Repository:
    """Looks at a repository with the Hub's help.

    Args:
        need: What is loaded of it.
        endpoint: Address of the Hub.
        download: Whether to download what is not on this machine.
        most: Gigabytes that it may send; None: twice as many as are known of it.
    """
    found = Repository(need)
    try:
        _ask(found, endpoint)
    except Exception as error:  # the Hub client has a dozen kinds of failure, all of which end here
        found.say("fault", _in_words(need, error, endpoint))
        return found
    if _is_acceptable(found, most):
        _fetch(found, endpoint, download)
    return found


def _ask(found: Repository, endpoint: str) -> None:
    """Asks the Hub for revision, licence and files."""
    from huggingface_hub import HfApi

    need = found.need
    pinned = pins().get(need.repository, NO_PIN).revision
    info = HfApi(endpoint=endpoint).model_info(
        need.repository, revision=pinned or None, files_metadata=True, timeout=TIMEOUT
    )
    siblings = {file.rfilename: file for file in info.siblings or ()}
    found.revision = info.sha or ""
    found.licence = str((info.card_data or {}).get("license") or "")
    found.files = {name: _fact(siblings[name]) for name in need.chosen(siblings)}


def _fact(file: Any) -> FileFact:
    return FileFact(file.size or 0, file.lfs.sha256 if file.lfs else "", file.blob_id or "")


def _is_acceptable(found: Repository, most: float | None) -> bool:
    """Remarks on layout, licence and size; returns whether the files may be downloaded."""
    need, size = found.need, found.size / GIGABYTE
    missing, limit = need.missing(found.files), most or max(need.gigabytes * SLACK, 0.1)
    room = shutil.disk_usage(_existing(cache_folder())).free / GIGABYTE
    if missing:
        found.say("fault", f"{need.name} has no {listed(missing)} at revision {found.revision[:12]}.")
    if need.licence and found.licence != need.licence:
        found.say("fault", f"{need.name}: its card states {found.licence or 'no licence'}, and we know {need.licence}.")
    if size > limit:
        found.say(
            "fault",
            f"{need.name} would send {size:.2f} GB, and {need.gigabytes:g} GB are known of it; nothing was downloaded. "
            f"Look at the repository, then allow it with --most {math.ceil(size * 11) / 10:g}.",
        )
    elif size > room:
        found.say("fault", f"{need.name} takes {size:.2f} GB, and {room:.2f} GB are free in {cache_folder()}.")
    return not any(remark.status == "fault" for remark in found.remarks)


def _fetch(found: Repository, endpoint: str, download: bool) -> None:
    """Downloads what is missing, and compares each file with what the Hub says of it."""
    from huggingface_hub import hf_hub_download

    need, folder = found.need, repository_folder(found.need.repository) / "snapshots" / found.revision
    pinned = pins().get(need.repository, NO_PIN).revision  # else "main": the cache then notes its commit
    missing = [name for name in found.files if not (folder / name).is_file()]
    if missing and not download:
        size = sum(found.files[name].size for name in missing) / GIGABYTE
        place = repository_folder(need.repository).name
        found.say("left", f"{need.name} is not here: {size:.2f} GB, which would lie in the cache's {place}.")
        return
    settings = [name for name in missing if any(fnmatch(name, pattern) for pattern in SETTINGS)]
    for name in [*settings, *(name for name in missing if name not in settings)]:
        if name not in settings and not _has_known_classes(found, folder):
            return
        try:
            hf_hub_download(
                need.repository, name, revision=pinned or "main", endpoint=endpoint, cache_dir=str(cache_folder())
            )
        except Exception as error:
            found.say("fault", _in_words(need, error, endpoint, name))
            return
    if any(not (folder / name).is_file() for name in found.files):
        found.say("fault", f"{need.name} got another revision while it was downloaded; run this again.")
        return
    found.folder = folder
    for name, fact in found.files.items():
        _compare(found, name, fact)
    if found.is_whole:
        licence = f"licence {found.licence}" if found.licence else "no licence stated"
        found.say(
            "ok",
            f"{need.name}: revision {found.revision[:12]}, {found.size / GIGABYTE:.2f} GB, {licence}.",
        )


def _has_known_classes(found: Repository, folder: Path) -> bool:
    """Remarks on a model, by its small files alone, that could not be loaded; returns whether it can be."""
    if found.need.holds != "model" or found.need.file:
        return True
    try:
        check_classes(Checkpoint(folder, f"{found.need.repository}@{found.revision[:12]}"))
    except (BackendError, MissingExtraError) as error:
        reason = in_one_line(str(error).rpartition(f"{folder}: ")[2]).rstrip(".")
        found.say("fault", f"{found.need.name}: {reason}; its weights were not downloaded.")
        return False
    return True


def _compare(found: Repository, name: str, fact: FileFact) -> None:
    assert found.folder is not None
    path = found.folder / name
    size = path.stat().st_size
    if size != fact.size:
        found.say("fault", f"{found.need.name}: {path} has {size:,} bytes of {fact.size:,}; {_again(path)}")
    elif fact.sha256:
        _compare_checksum(found, name, fact.sha256)
    elif fact.git and _git_id(path) != fact.git:
        found.say("fault", f"{found.need.name}: {path} is not the file that the Hub holds; {_again(path)}")


def _compare_checksum(found: Repository, name: str, expected: str) -> None:
    assert found.folder is not None
    path = found.folder / name
    if checksum(path) != expected:
        found.say(
            "fault", f"{found.need.name}: {path} does not have the published SHA-256 {expected[:12]}…; {_again(path)}"
        )


def _again(path: Path) -> str:
    return f"delete {path.resolve()} and run this again."


def _git_id(path: Path) -> str:
    """The id under which git holds a file's content."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _in_words(need: Need, error: Exception, endpoint: str, file: str = "") -> str:
    """What a failure of the Hub's client means, and what to do."""
    from huggingface_hub import errors

    page = f"{endpoint}/{need.repository}"
    if isinstance(error, errors.GatedRepoError):
        return f"{need.name} is gated; accept its terms on {page}, run `hf auth login`, then run this again."
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{need.name} no longer has its pinned revision; look at {page}."
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"{need.name} is not at {page}, or it is private; `hf auth login` if you were given access."
    reason = in_one_line(str(error)) or type(error).__name__
    if file:
        return f"{need.name}: the download of {file} broke off ({reason}); run this again, what came is kept."
    return f"{need.name}: {endpoint} did not say what it holds ({reason}); run this again later."


def in_one_line(message: str) -> str:
    """A message of a library without its line breaks, cut after some 300 letters."""
    return shorten(message, 300, placeholder=" …")


def snapshot(need: Need, revision: str) -> Path | None:
    """The folder of a revision in the Hub's cache, or that of its newest one."""
    folder = cached(need.repository, revision, (need.file,) if need.file else ())
    return folder if folder and folder.is_dir() else None


def _existing(path: Path) -> Path:
    return next(parent for parent in (path, *path.parents) if parent.exists())
