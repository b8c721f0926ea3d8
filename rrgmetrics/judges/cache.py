"""Replies on disk: files of recorded replies, and the cache with which an interrupted run continues.

One record a line, as JSON: `protocol` (name@version), `prompt_sha256`, `reply`, `engine`, `parameters`; where a reply
was received but cannot be used, `reply` is null, `error` says why, `partial` has what was said, and `is_cut` is true if
it ended at its limit. Replies quote reports: the cache's folders and files are their owner's only.

The cache is a folder with one folder for each protocol version, engine and parameters; in it every process appends to a
file of its own, and threads and forked processes, which share one, take turns. Whatever stops a writer, at most its
last line is unfinished; such a line is passed over. What is read must be the record that was looked for: a file that
was changed meanwhile costs a question, and never brings another prompt's reply.

It is no SQLite database: caches lie in home folders on network file systems, where SQLite's locks are not reliable, and
a damaged database would cost every reply instead of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import Prompt, Reply
from rrgmetrics.utils.text_format import counted

try:
    import fcntl
except ImportError:  # Windows has none; there a reply's place may be wrong, and the prompt is asked again
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger("rrgmetrics")
OF_NO_REPLY = ("error", "partial", "is_cut")  # fields that a record of a reply does not have
_told: set[Path] = set()  # folders with files or records that cannot be read


class Record(NamedTuple):
    """A reply with its prompt and its engine."""

    protocol: str
    prompt_sha256: str
    reply: str | None
    engine: str
    parameters: Mapping[str, Any]
    error: str | None = None
    partial: str = ""
    is_cut: bool = False

    @classmethod
    def of(cls, prompt: Prompt, reply: Reply, engine: str, parameters: Mapping[str, Any]) -> Record:
        """Makes the record of a reply that was received; `max_tokens` joins the parameters."""
        settings = {**parameters, "max_tokens": prompt.max_tokens}
        answer = reply.text, engine, settings, reply.error, reply.partial, reply.is_cut
        return cls(prompt.protocol, prompt.sha256, *answer)

    def line(self) -> bytes:
        """The record as a line of a file."""
        fields = {key: value for key, value in self._asdict().items() if value or key not in OF_NO_REPLY}
        return json.dumps(fields, ensure_ascii=True).encode() + b"\n"

    @property
    def question(self) -> tuple[Any, ...]:
        """The question: all fields but those of the reply."""
        return self.protocol, self.prompt_sha256, self.engine, self.parameters

    @property
    def answer(self) -> Reply:
        """The reply as the engine gave it."""
        return Reply(self.reply, self.error, self.partial, self.is_cut)


def read_line(line: bytes) -> Record:
    """Reads a record; raises ValueError, saying what is wrong."""
    try:
        fields = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(fields, dict):
        raise ValueError("it is not a JSON object")
    for key in ("protocol", "prompt_sha256"):
        if not isinstance(fields.get(key), str):
            raise ValueError(f"{key!r} is missing or not a text")
    reply, error = fields.get("reply"), fields.get("error")
    if not isinstance(reply, str) and not (reply is None and isinstance(error, str)):
        raise ValueError("'reply' is missing or not a text")
    parameters = fields.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise ValueError("'parameters' is not a JSON object")
    engine = str(fields.get("engine") or "")
    no_reply = (error, str(fields.get("partial") or ""), fields.get("is_cut") is True) if reply is None else ()
    return Record(fields["protocol"], fields["prompt_sha256"], reply, engine, parameters, *no_reply)


def read_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Yields every record of a file with its line; raises InputError naming the first line that is none."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield number, read_line(line)
                    except ValueError as error:
                        raise InputError(f"{path}, line {number} is not a recorded reply: {error}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def append(path: Path, record: Record) -> int:
    """Adds a record to a file that only its owner may read; returns where in it the record starts.

    Threads and processes that write to one file take turns. A line that another left unfinished is ended first.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    with open(descriptor, "a+b") as file, _turn(file):
        start = file.seek(0, os.SEEK_END)
        if start:
            file.seek(start - 1)
            start += file.read(1) != b"\n" and file.write(b"\n")
        file.write(record.line())
    return start


@contextlib.contextmanager
def _turn(file: IO[bytes]) -> Iterator[None]:
    """Holds the lock on the file while one process writes, where the file system has locks."""
    with contextlib.suppress(OSError):
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
    yield
    file.flush()
    with contextlib.suppress(OSError):
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough where a forked process has the file open too


class Cache:
    """A cache of every reply that was received, by protocol version, prompt, engine and parameters.

    Args:
        root: The cache's folder; made if missing.

    Attributes:
        held: Replies that were found or put, in all caches of this process; None before the first is opened.

    Raises:
        BackendError: The folder cannot be written.
    """

    held: ClassVar[int | None] = None

    def __init__(self, root: Path) -> None:
        _make_folder(root)
        Cache.held = Cache.held or 0
        self.root = root
        self._indices: dict[Path, ReplyIndex] = {}

    def get(self, prompt: Prompt, engine: str, parameters: Mapping[str, Any]) -> Reply | None:
        """Returns the reply to a prompt, or None if it was never received."""
        wanted = Record.of(prompt, Reply(None), engine, parameters)
        reply = self._index(wanted).get(wanted)
        Cache.held = (Cache.held or 0) + (reply is not None)
        return reply

    def put(self, record: Record) -> None:
        """Writes a reply; it is on disk when this returns."""
        self._index(record).put(record)
        Cache.held = (Cache.held or 0) + 1

    def _index(self, record: Record) -> ReplyIndex:
        identity = json.dumps([record.protocol, record.engine, record.parameters], sort_keys=True)
        name = re.sub(r"[^A-Za-z0-9@.]+", "_", f"{record.protocol}-{record.engine}")[:80]
        folder = self.root / f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
        return self._indices.get(folder) or self._indices.setdefault(folder, ReplyIndex(folder))


class ReplyIndex:
    """An index of one engine's replies to one protocol: where each stands in the folder's files.

    Raises:
        BackendError: The folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        _make_folder(folder)
        self._own = folder / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._places: dict[str, tuple[Path, int]] = {}
        unread = []
        for path in sorted(folder.glob("*.jsonl")):
            for place in _places(path):
                if isinstance(place, str):
                    unread.append(f"{path}, {place}")
                else:
                    self._places[place[0]] = path, place[1]
        if unread and folder not in _told:
            _told.add(folder)
            number = counted(len(unread), "file or record", "files or records")
            logger.warning("The cache of replies has %s that cannot be read; the first: %s.", number, unread[0])

    def get(self, wanted: Record) -> Reply | None:
        """Returns the reply to the record's prompt, or None."""
        if wanted.prompt_sha256 not in self._places:
            return None
        path, start = self._places[wanted.prompt_sha256]
        try:
            with path.open("rb") as file:
                file.seek(start)
                record = read_line(file.readline())
        except (OSError, ValueError):  # removed or changed meanwhile: asked again
            return None
        return record.answer if record.question == wanted.question else None

    def put(self, record: Record) -> None:
        """Appends a record to this process's file."""
        with _cannot_be_written(self._own):
            self._places[record.prompt_sha256] = self._own, append(self._own, record)


def _places(path: Path) -> Iterator[tuple[str, int] | str]:
    """Yields the prompt and place of every record of a file, or a message about what cannot be read.

    Of a last line without its end nothing is said: its writer is in the middle of it, or was stopped there.
    """
    if not path.is_file():  # a folder, a pipe
        yield "is not a file"
        return
    start = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield read_line(line).prompt_sha256, start
                except ValueError as error:
                    if line.endswith(b"\n"):
                        yield f"line {number}: {error}"
                start += len(line)
    except OSError as error:
        yield f"{error.strerror}"


def _make_folder(folder: Path) -> None:
    """Makes a folder unless it is there; raises BackendError if it cannot be used."""
    with _cannot_be_written(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError


@contextlib.contextmanager
def _cannot_be_written(path: Path) -> Iterator[None]:
    """Turns a failure at the path into a BackendError that names it."""
    try:
        yield
    except OSError as error:
        raise BackendError(
            f"The cache of judges' replies, {path}, cannot be written; name another folder with cache=FOLDER, or use "
            f"cache=no ({error.strerror or 'Permission denied'})."
        ) from error


def cache_folder(option: str) -> Path | None:
    """Returns the folder that the option `cache` means; None for "no"."""
    if option == "no":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(option or Path(home) / "rrgmetrics" / "replies").expanduser()
