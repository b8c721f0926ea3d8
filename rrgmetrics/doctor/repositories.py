"""Looks at a repository of the Hub, downloads what of it is loaded, and checks each file against what the Hub says."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Iterable, Mapping
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
from rrgmetrics.backends.checkpoints.loading import check_classes, load_config
from rrgmetrics.doctor.needs import Need
from rrgmetrics.errors import BackendError, MissingExtraError
from rrgmetrics.utils.text_format import listed

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
        return self.folder is not None and self.is_faultless

    @property
    def is_faultless(self) -> bool:
        """Whether nothing was seen that is wrong with it."""
        return all(remark.status != "fault" for remark in self.remarks)

    @property
    def missing(self) -> int:
        """Bytes of what is loaded and not on this machine."""
        return sum(self.files[name].size for name in self.missing_files)

    @property
    def missing_files(self) -> list[str]:
        """What is loaded and not on this machine, as far as the Hub was asked."""
        return [name for name in self.files if not (self.place / name).is_file()]

    @property
    def place(self) -> Path:
        """The folder of the revision in the Hub's cache, whether it is there or not."""
        return repository_folder(self.need.repository) / "snapshots" / self.revision

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
            "left",
            f"{need.name} is not on this machine: about {need.gigabytes:g} GB, to be stored in {place} of the cache.",
        )
        return found
    found.revision = folder.name
    if missing := need.missing(file.name for file in folder.iterdir()):
        found.say("fault", f"{need.name}: {folder} lacks {listed(missing)}; delete it and download it again.")
    known = [name for name in pin.sha256 if (folder / name).is_file() and need.file in ("", name)]
    for name in known:
        _compare_checksum(found, name, pin.sha256[name])
    if found.is_whole:
        compared = f"{listed(known)} as published" if known else "not verified, because no checksum is known"
        other = "" if pin.revision in ("", folder.name) else f", and not the published {pin.revision[:12]}"
        status: Status = "ok" if known and not other else "left"
        found.say(status, f"{need.name}: revision {folder.name[:12]} is here{other}, {compared}.")
    return found


def look_there(need: Need, endpoint: str, most: float | None) -> Repository:
    """Asks the Hub what a repository holds, and checks all that can be checked before a file of it is sent.

    Args:
        need: What is loaded of it.
        endpoint: Address of the Hub.
        most: Gigabytes that it may send; None: twice as many as are known of it.
    """
    found = Repository(need)
    try:
        _ask(found, endpoint)
    except Exception as error:  # the Hub client has a dozen kinds of failure, all of which end here
        found.say("fault", _in_words(need, error, endpoint))
        return found
    _check(found, most)
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


def _check(found: Repository, most: float | None) -> None:
    """Remarks on layout, licence, size and checksums."""
    need, size = found.need, found.size / GIGABYTE
    missing, limit = need.missing(found.files), most or max(need.gigabytes * SLACK, 0.1)
    if missing:
        found.say("fault", f"{need.name} has no {listed(missing)} at revision {found.revision[:12]}.")
    if need.licence and found.licence != need.licence:
        found.say(
            "fault",
            f"{need.name}: its card states {found.licence or 'no licence'}, and the recorded licence "
            f"is {need.licence}.",
        )
    known = pins().get(need.repository, NO_PIN).sha256
    for name, fact in found.files.items():
        if fact.sha256 and fact.sha256 != known.get(name, fact.sha256):
            found.say(
                "fault",
                f"{need.repository}: {name} has the SHA-256 {fact.sha256[:12]}… on the Hub, and the published one "
                f"is {known[name][:12]}…; nothing was downloaded.",
            )
    if size > limit:
        found.say(
            "fault",
            f"{need.name} would send {size:.2f} GB, and {need.gigabytes:g} GB are known of it; nothing was downloaded. "
            f"Look at the repository, then allow it with --most {math.ceil(size * 11) / 10:g}.",
        )


def free_room() -> float:
    """Returns the gigabytes that are free where the Hub's cache lies."""
    return shutil.disk_usage(_existing(cache_folder())).free / GIGABYTE


def fetch_settings(found: Repository, endpoint: str) -> None:
    """Downloads the small files of a model of transformers, and remarks on one that its classes could not load."""
    if found.need.file or found.need.holds not in ("model", "weights"):
        return
    small = [name for name in found.missing_files if any(fnmatch(name, pattern) for pattern in SETTINGS)]
    if len(small) < len(found.missing_files) and _download(found, small, endpoint):
        _check_classes(found)


def fetch(found: Repository, endpoint: str) -> None:
    """Downloads what is missing, and compares each file with what the Hub says of it."""
    need = found.need
    if not _download(found, found.missing_files, endpoint):
        return
    if found.missing_files:
        found.say("fault", f"{need.name} changed its revision during the download; run this again.")
        return
    found.folder = found.place
    for name, fact in found.files.items():
        _compare(found, name, fact)
    if found.is_whole:
        licence = f"licence {found.licence}" if found.licence else "no licence stated"
        found.say(
            "ok",
            f"{need.name}: revision {found.revision[:12]}, {found.size / GIGABYTE:.2f} GB, {licence}.",
        )


def leave(found: Repository, reason: str = "") -> None:
    """Remarks on a repository of which nothing is downloaded: what is missing of it, and why it stays so."""
    place = repository_folder(found.need.repository).name
    size = found.missing / GIGABYTE
    why = f"; it was not downloaded, since {reason}" if reason else ""
    found.say(
        "left", f"{found.need.name} is not on this machine: {size:.2f} GB, to be stored in {place} of the cache{why}."
    )


def _download(found: Repository, names: Iterable[str], endpoint: str) -> bool:
    """Downloads files; remarks on the first that fails, and returns whether none did."""
    from huggingface_hub import hf_hub_download

    need, cache = found.need, str(cache_folder())
    pinned = pins().get(need.repository, NO_PIN).revision  # else "main": the cache then notes its commit
    for name in names:
        try:
            hf_hub_download(need.repository, name, revision=pinned or "main", endpoint=endpoint, cache_dir=cache)
        except Exception as error:
            found.say("fault", _in_words(need, error, endpoint, name))
            return False
    return True


def _check_classes(found: Repository) -> None:
    """Remarks on a model that, by its small files alone, could not be loaded."""
    folder = found.place
    try:
        check = check_classes if found.need.holds == "model" else load_config  # weights alone have no tokenizer
        check(Checkpoint(folder, f"{found.need.repository}@{found.revision[:12]}"))
    except (BackendError, MissingExtraError) as error:
        reason = in_one_line(str(error).rpartition(f"{folder}: ")[2]).rstrip(".")
        found.say("fault", f"{found.need.name}: {reason}; its weights were not downloaded.")


def _compare(found: Repository, name: str, fact: FileFact) -> None:
    assert found.folder is not None
    path = found.folder / name
    size = path.stat().st_size
    if size != fact.size:
        found.say("fault", f"{found.need.name}: {path} has {size:,} bytes of {fact.size:,}; {_again(path)}")
    elif fact.sha256:
        _compare_checksum(found, name, fact.sha256)
    elif fact.git and _git_id(path) != fact.git:
        found.say("fault", f"{found.need.name}: {path} differs from the file on the Hub; {_again(path)}")


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
        return f"{need.name}: the download of {file} was interrupted ({reason}); run this again to resume it."
    return f"{need.name}: {endpoint} did not list its files ({reason}); run this again later."


def in_one_line(message: str) -> str:
    """A message of a library without its line breaks, cut after some 300 letters."""
    return shorten(message, 300, placeholder=" …")


def snapshot(need: Need, revision: str) -> Path | None:
    """The folder of a revision in the Hub's cache, or that of its newest one, which loading takes too."""
    wanted = (need.file,) if need.file else ()
    found = (cached(need.repository, name, wanted) for name in dict.fromkeys((revision, "")))
    return next((folder for folder in found if folder and folder.is_dir()), None)


def _existing(path: Path) -> Path:
    return next(parent for parent in (path, *path.parents) if parent.exists())
