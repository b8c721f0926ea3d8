"""Replies on disk: files of recorded replies, and the cache that lets an interrupted run go on where it stopped.

One record a line, as JSON: `protocol` (name@version), `prompt_sha256`, `reply`, `engine`, `parameters`; where a reply
was received but cannot be used, `reply` is null and `error` says why. Replies quote reports: the cache's folders and
files are their owner's only.

The cache is a folder with one folder for each protocol version, engine and parameters; in it every writer appends to a
file of its own. So nothing is locked, two processes (or machines) may write at the same time, and whatever stops one of
them, at most its last line is unfinished; such a line is passed over.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import Prompt, Reply


class Record(NamedTuple):
    """A reply, what it answers, and who gave it."""

    protocol: str
    prompt_sha256: str
    reply: str | None
    engine: str
    parameters: Mapping[str, Any]
    error: str | None = None

    @classmethod
    def of(cls, prompt: Prompt, reply: Reply, engine: str, parameters: Mapping[str, Any]) -> Record:
        """The record of a reply that was received; `max_tokens` joins the parameters."""
        settings = {**parameters, "max_tokens": prompt.max_tokens}
        return cls(prompt.protocol, prompt.sha256, reply.text, engine, settings, reply.error)

    def line(self) -> bytes:
        """As it stands in a file."""
        fields = {key: value for key, value in self._asdict().items() if key != "error" or value is not None}
        return json.dumps(fields, ensure_ascii=True).encode() + b"\n"

    @property
    def answer(self) -> Reply:
        """The reply as the engine gave it."""
        return Reply(self.reply, self.error)


def read_line(line: bytes) -> Record:
    """Reads a record; raises ValueError, saying what is wrong."""
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError("it is no JSON object")
    for key in ("protocol", "prompt_sha256"):
        if not isinstance(fields.get(key), str):
            raise ValueError(f"{key!r} is missing or no text")
    reply, error = fields.get("reply"), fields.get("error")
    if not isinstance(reply, str) and not (reply is None and isinstance(error, str)):
        raise ValueError("'reply' is missing or no text")
    parameters = fields.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise ValueError("'parameters' is no JSON object")
    engine = str(fields.get("engine") or "")
    return Record(
        fields["protocol"], fields["prompt_sha256"], reply, engine, parameters, error if reply is None else None
    )


def read_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Every record of a file with its line; raises InputError naming the first line that is none."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield number, read_line(line)
                    except (ValueError, RecursionError) as error:
                        raise InputError(f"{path}, line {number} is no recorded reply: {error}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def append(path: Path, record: Record) -> None:
    """Adds a record in one write to a file that only its owner may read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with open(descriptor, "wb") as file:
        file.write(record.line())


class Cache:
    """Every reply that was received, by protocol version, prompt, engine and parameters.

    Args:
        root: The cache's folder; made if missing.

    Raises:
        BackendError: The folder cannot be written.
    """

    def __init__(self, root: Path) -> None:
        try:
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            writable = os.access(root, os.W_OK | os.X_OK)
        except OSError:
            writable = False
        if not writable:
            raise BackendError(
                f"The cache of judges' replies, {root}, cannot be written; name another folder with cache=FOLDER, or "
                "use cache=no."
            )
        self.root = root
        self._shelves: dict[Path, Shelf] = {}

    def get(self, prompt: Prompt, engine: str, parameters: Mapping[str, Any]) -> Reply | None:
        """The reply to a prompt, or None if it was never received."""
        return self._shelf(Record.of(prompt, Reply(None), engine, parameters)).get(prompt.sha256)

    def put(self, record: Record) -> None:
        """Keeps a reply; it is on disk when this returns."""
        self._shelf(record).put(record)

    def _shelf(self, record: Record) -> Shelf:
        identity = json.dumps([record.protocol, record.engine, record.parameters], sort_keys=True)
        name = re.sub(r"[^A-Za-z0-9@.]+", "_", f"{record.protocol}-{record.engine}")[:80]
        folder = self.root / f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
        if folder not in self._shelves:
            self._shelves[folder] = Shelf(folder)
        return self._shelves[folder]


class Shelf:
    """The replies of one engine to one protocol: where each stands in the folder's files."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True, mode=0o700)
        self._own = folder / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._places = {sha: place for path in sorted(folder.glob("*.jsonl")) for sha, place in _places(path)}

    def get(self, prompt_sha256: str) -> Reply | None:
        """The reply, or None."""
        if prompt_sha256 not in self._places:
            return None
        path, start = self._places[prompt_sha256]
        try:
            with path.open("rb") as file:
                file.seek(start)
                return read_line(file.readline()).answer
        except (OSError, ValueError):  # removed or changed meanwhile: asked again
            return None

    def put(self, record: Record) -> None:
        """Appends a record to this writer's file."""
        start = self._own.stat().st_size if self._own.exists() else 0
        append(self._own, record)
        self._places[record.prompt_sha256] = self._own, start


def _places(path: Path) -> Iterator[tuple[str, tuple[Path, int]]]:
    """Prompt and place of every whole record of a file."""
    start = 0
    with path.open("rb") as file:
        for line in file:
            with contextlib.suppress(ValueError):  # its writer was stopped in the middle of it
                yield read_line(line).prompt_sha256, (path, start)
            start += len(line)


def cache_folder(option: str) -> Path | None:
    """The folder that the option `cache` means; None for "no"."""
    if option == "no":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(option or Path(home) / "rrgmetrics" / "replies").expanduser()
