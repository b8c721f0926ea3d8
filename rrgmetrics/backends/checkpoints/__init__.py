"""Finds the files of a checkpoint: in a folder, in the Hub's local cache, or by a download.

Without a network the Hub client tries each file five times, with pauses of 23 s in total. So the cache is checked
first, then the Hub once with the timeout `PROBE_SECONDS`; an error names missing files and the command that downloads
them.

Checkpoints come in three forms: a folder of transformers (`find_checkpoint`), one file of a repository (`find_file`),
or an archive of a folder (`find_archive`). `published.yaml` has the revision and the SHA-256 of the checkpoints of our
configurations. A repository is used at the revision that the caller names, else at the pinned one, else, if only
another one is cached, at that one; the signature names it. A file that differs from its recorded checksum is rejected,
unless the caller named another revision, a folder or a file. `loading` loads the files.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rrgmetrics.backends.checkpoints.archives import unpack_tar
from rrgmetrics.errors import BackendError

PROBE_SECONDS = 0.7
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PICKLE = "pytorch_model.bin"  # where a caller takes one: it is read as data
SETTINGS = ("*.json", "*.txt", "*.model")
A_FOLDER, A_FILE = "folder {}; give a folder with config.json and weights", "file or folder {}; give one"
PATTERNS = (*SETTINGS, "*.safetensors")
RENAMED = {  # what the Hub calls it → what it was called, as older caches and programs do
    "StanfordAIMI/SRR-BERT-Upper-with-Statuses": "StanfordAIMI/SRRG-BERT-Upper-with-Statuses",
}
_local: ContextVar[bool] = ContextVar("local", default=False)
PINS = Path(__file__).parent / "published.yaml"


class Checkpoint(NamedTuple):
    """A checkpoint's folder on this machine, and how a signature names it (`id@revision` or `folder@sha256:…`)."""

    folder: Path
    identity: str


class CheckpointFile(NamedTuple):
    """A file on this machine, and how a signature names it (`id/file@revision` or `file@sha256:…`)."""

    path: Path
    identity: str


class Pin(NamedTuple):
    """The known revision and checksums of a published repository.

    Attributes:
        revision: The commit; "" if none is pinned.
        sha256: Checksums of its files by name, of those that are known.
    """

    revision: str
    sha256: Mapping[str, str]


def check_path(name: str, what: str = A_FOLDER) -> None:
    """Checks that there is something at a path, before `need`: no package that is installed mends a wrong path.

    Args:
        name: A Hub id, which is not checked, or a path.
        what: What is to be given: `A_FOLDER` or `A_FILE`.

    Raises:
        BackendError: The name can only be a path, and nothing is there.

    Example:
        >>> check_path("/nowhere/model")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        rrgmetrics.errors.BackendError: There is no folder /nowhere/model; give a folder ...
    """
    if _is_path(name) and not Path(name).expanduser().exists():
        raise BackendError(f"There is no {what.format(name)}, or a Hub id.")


def find_checkpoint(
    name: str, *, weights: Sequence[str] = WEIGHTS, check: Callable[[Checkpoint], object] | None = None
) -> Checkpoint:
    """Finds a checkpoint of transformers by folder or by Hub id, downloading only when the Hub answers at once.

    Args:
        name: A folder, or `org/model` with an optional `@revision`.
        weights: File names of which one must be there.
        check: Called with the settings and vocabulary before the weights are downloaded; raises BackendError for a
            checkpoint that could not be loaded.

    Raises:
        BackendError: It is nowhere to be found; within a second, naming the files and the command that gets them.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        return Checkpoint(path, f"{path.name}@sha256:{checksum(_need(path, weights, name))[:8]}")
    wanted = _split(name, A_FOLDER)
    repository, revision, _ = wanted
    folder = _cached_or_newest(wanted, ("config.json",), weights)
    if folder is None:
        if check:
            settings = _download(repository, revision, SETTINGS)
            check(Checkpoint(settings, f"{repository}@{settings.name[:12]}"))
        folder = _download(repository, revision, (*PATTERNS, *weights))
    _need(folder, weights, name)
    _verify(wanted, [file for file in folder.iterdir() if file.is_file()])  # every part of the weights
    return Checkpoint(folder, f"{repository}@{folder.name[:12]}")


def find_file(name: str, file: str) -> CheckpointFile:
    """Finds one file of a repository, such as weights that are published without a config.

    Args:
        name: The file itself, a folder that holds it, or `org/model` with an optional `@revision`.
        file: Its name in the folder or repository.

    Raises:
        BackendError: It is nowhere to be found; within a second, naming the command that gets it.

    Example:
        >>> find_file("/nowhere", "chexbert.pth")
        Traceback (most recent call last):
            ...
        rrgmetrics.errors.BackendError: There is no file or folder /nowhere; give one, or a Hub id.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        path = path / file
        if not path.is_file():
            raise BackendError(f"{name} has no file {file}.")
    if path.is_file():
        return CheckpointFile(path, f"{path.name}@sha256:{checksum(path)[:8]}")
    wanted = _split(name, A_FILE)
    repository, revision, _ = wanted
    folder = _cached_or_newest(wanted, (file,)) or _download(repository, revision, (file,), file)
    if not (folder / file).is_file():
        raise BackendError(f"{name}: the repository has no file {file}.")
    _verify(wanted, [folder / file])
    return CheckpointFile(folder / file, f"{repository}/{file}@{folder.name[:12]}")


def find_archive(name: str, archive: str, *, needs: Sequence[str]) -> Checkpoint:
    """Finds a folder that is published as a tar archive, unpacking it into the cache once.

    Args:
        name: The unpacked folder, a folder that holds the archive, the archive itself, or `org/model[@revision]`.
        archive: The archive's name in the folder or repository.
        needs: Files that the unpacked folder must have; the last one is the weights.

    Raises:
        BackendError: Archive or files are missing, or the archive would write outside of its folder.
    """
    path = Path(name).expanduser()
    if path.is_dir() and not (path / archive).is_file():
        folder = _holding(path, needs, name)
        return Checkpoint(folder, f"{path.name}@sha256:{checksum(folder / needs[-1])[:8]}")
    file = find_file(name, archive)
    return Checkpoint(_holding(unpack(file.path), needs, file.identity), file.identity)


def unpack(archive: Path) -> Path:
    """Unpacks a tar archive into the cache, once for each content; returns its folder.

    Raises:
        BackendError: The archive is damaged, or refused as `archives.unpack_tar` says; nothing of it is left behind.
    """
    target = _own_folder() / "checkpoints" / checksum(archive)[:16]
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        whole = Path(scratch) / "whole"
        unpack_tar(archive, whole)
        try:
            whole.rename(target)  # in one step: nobody ever sees half an archive
        except OSError:
            if not target.is_dir():  # else another process was first
                raise
    return target


@lru_cache(maxsize=1)
def pins() -> Mapping[str, Pin]:
    """Reads the pinned revision and checksums by repository: ours, and what `rrgmetrics doctor` kept beside them."""
    own, kept = _read_pins(PINS), _read_pins(kept_pins())
    return kept | {name: _completed(pin, kept.get(name)) for name, pin in own.items()}


def _completed(own: Pin, kept: Pin | None) -> Pin:
    """Our pin with the checksums that were kept of the same revision, or of any where we pin none."""
    if kept is None or own.revision not in ("", kept.revision):
        return own
    return Pin(kept.revision, {**kept.sha256, **own.sha256})


def keep_pins(found: Mapping[str, Pin]) -> Path:
    """Keeps revisions and checksums on this machine, beside those it has; later loads take them. Returns the file."""
    import yaml

    file = kept_pins()
    kept = _read_pins(file)
    for name, pin in found.items():
        before = kept.get(name)
        same = before.sha256 if before and before.revision == pin.revision else {}  # of its other files
        kept[name] = Pin(pin.revision, {**same, **pin.sha256})
    rows = {name: {"revision": pin.revision, "sha256": dict(pin.sha256)} for name, pin in kept.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(rows, width=200), encoding="utf-8")
    pins.cache_clear()
    return file


def kept_pins() -> Path:
    """Returns the file of this machine's pins."""
    return _own_folder() / "pins.yaml"


def _read_pins(file: Path) -> dict[str, Pin]:
    import yaml

    table = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: Pin(row["revision"], {k: v for k, v in row["sha256"].items() if v}) for name, row in table.items()}


class _Wanted(NamedTuple):
    """A repository, the revision to ask for ("": the newest), and whether the caller named it."""

    repository: str
    revision: str
    named: bool


def _is_path(name: str) -> bool:
    """Whether a name can only be a path, and no Hub id."""
    return name.startswith((".", "/", "~", "\\")) or name.partition("@")[0].count("/") > 1


def _split(name: str, what: str) -> _Wanted:
    """Splits a Hub id into repository and revision: the caller's, else the pinned one, else "" (the newest)."""
    repository, _, revision = name.partition("@")
    if _is_path(name):
        raise BackendError(f"There is no {what.format(name)}, or a Hub id.")
    pin = pins().get(repository)
    return _Wanted(repository, revision or (pin.revision if pin else ""), bool(revision))


def _cached_or_newest(wanted: _Wanted, all_of: Sequence[str], any_of: Sequence[str] = ()) -> Path | None:
    """Returns the snapshot of a revision, or where the caller named none and it is not here, the cache's newest one."""
    found = cached(wanted.repository, wanted.revision, all_of, any_of)
    return found or (None if wanted.named else cached(wanted.repository, "", all_of, any_of))


def _verify(wanted: _Wanted, files: Sequence[Path]) -> None:
    """Refuses files that are not what was published; those without a known checksum pass."""
    repository, revision, named = wanted
    pin = pins().get(repository)
    if not pin or (named and revision != pin.revision):
        return
    for file in files:
        expected = pin.sha256.get(file.name)
        if expected and checksum(file) != expected:
            raise BackendError(
                f"{repository}: {file} does not have the published SHA-256 {expected[:12]}… (it has "
                f"{checksum(file)[:12]}…): it is damaged, modified, or from another revision. Delete it and run "
                f"`{_command(repository, revision, file.name)}`, or name its revision ({repository}@…) or its "
                "folder."
            )


def _need(folder: Path, weights: Sequence[str], name: str) -> Path:
    if not (folder / "config.json").is_file():
        raise BackendError(f"{name}: {folder} has no config.json; it is not a transformers checkpoint.")
    for file in weights:
        if (folder / file).is_file():
            return folder / file
    raise BackendError(
        f"{name}: {folder} has none of {', '.join(weights)}; convert pickled weights with save_pretrained "
        "(safe_serialization) on a machine where you trust them."
    )


def _holding(folder: Path, needs: Sequence[str], name: str) -> Path:
    """The folder itself or the one below it that has the needed files."""
    for place in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
        if all((place / file).exists() for file in needs):
            return place
    missing = [file for file in needs if not (folder / file).exists()]
    raise BackendError(f"{name}: {folder} lacks {', '.join(missing)}.")


def checksum(file: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal."""
    status = file.stat()
    return _digest(file, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _digest(file: Path, size: int, modified: int) -> str:
    """Returns the SHA-256, taken again when size or time of the file change."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def cache_folder() -> Path:
    """Returns the folder of the Hub's cache, as its client finds it."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def repository_folder(repository: str) -> Path:
    """Returns the folder of a repository in the Hub's cache."""
    return cache_folder() / f"models--{repository.replace('/', '--')}"


def _own_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "rrgmetrics"


def cached(repository: str, revision: str, all_of: Sequence[str], any_of: Sequence[str] = ()) -> Path | None:
    """The snapshot of a revision in the Hub's cache, if the files are in it; under each name that it has had."""
    names = (repository, *(name for pair in RENAMED.items() if repository in pair for name in pair))
    return next(filter(None, (_snapshot(name, revision, all_of, any_of) for name in dict.fromkeys(names))), None)


def _snapshot(repository: str, revision: str, all_of: Sequence[str], any_of: Sequence[str]) -> Path | None:
    root = repository_folder(repository)
    reference = root / "refs" / (revision or "main")
    commit = reference.read_text().strip() if reference.is_file() else revision
    if not commit:
        return None
    snapshot = root / "snapshots" / commit
    complete = all((snapshot / file).is_file() for file in all_of)
    return snapshot if complete and (not any_of or any((snapshot / file).is_file() for file in any_of)) else None


def _command(repository: str, revision: str, file: str = "") -> str:
    """Returns the command with which a user downloads it."""
    return f"hf download {repository}{f' {file}' if file else ''}{f' --revision {revision}' if revision else ''}"


def _download(repository: str, revision: str, patterns: Sequence[str], file: str = "") -> Path:
    advice = (
        f"With a network, run `{_command(repository, revision, file)}`; without one, copy the "
        f"{'file' if file else 'folder'} from another machine and give its path instead of the id. "
        "The default configuration needs no download."
    )
    what = f"{file} of {repository}" if file else repository
    if repository not in pins():  # perhaps a folder was meant
        what = f"There is no {'file or ' if file else ''}folder {repository}. As a Hub id: {what}"
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    if _local.get():
        raise BackendError(f"{what} is not in {cache_folder()}. {advice}")
    if offline_by_choice():
        raise BackendError(f"{what} is not in {cache_folder()}, and HF_HUB_OFFLINE is set. {advice}")
    if not answers(endpoint):
        raise BackendError(
            f"{what} is not in {cache_folder()}, and {endpoint} did not answer in {PROBE_SECONDS} s. {advice}"
        )
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(
            repository,
            revision=revision or None,
            allow_patterns=list(patterns),
            endpoint=endpoint,
            cache_dir=str(cache_folder()),
        )
        return Path(folder)
    except Exception as error:  # the Hub client has a dozen kinds of failure, all of which end here
        raise BackendError(f"{what} could not be downloaded: {error}. {advice}") from error


@contextmanager
def no_downloads() -> Iterator[None]:
    """Takes only what is on this machine, as if HF_HUB_OFFLINE were set."""
    token = _local.set(True)
    try:
        yield
    finally:
        _local.reset(token)


def offline_by_choice() -> bool:
    """Whether the environment says that nobody is to be asked."""
    return any(
        os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE")
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )


def answers(endpoint: str) -> bool:
    """Returns whether the Hub answers within PROBE_SECONDS, including name look-up, which has no time-out itself."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen  # 40 ms that a run without the Hub need not pay

    answered = threading.Event()

    def ask() -> None:
        request = Request(endpoint, method="HEAD")
        try:
            urlopen(request, timeout=PROBE_SECONDS).close()
        except HTTPError:
            pass  # an answer all the same
        except (OSError, ValueError):
            return
        answered.set()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PROBE_SECONDS)
    return answered.is_set()
