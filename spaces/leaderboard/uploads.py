"""What may be sent to the page: how much at a time, how often from one address; and that nothing of it stays on disk.

Gradio writes every upload to a folder before anybody has looked at it, as many as come. So a request is refused before
its body is read if it says that it is too large, or does not say how large it is, or if its address has sent enough.
The folder is the board's own: what was read is removed at once, all else after `KEPT_SECONDS`, and at a start.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rrgmetrics.spaces.access import LimitError
from rrgmetrics.spaces.leaderboard.board import Board

try:
    import fcntl
except ImportError:  # Windows: two servers of one board would not know of each other
    fcntl = None  # type: ignore[assignment]

KEPT_SECONDS = 600.0  # that a file waits for its form to be corrected
LOOK_EVERY = 60.0  # seconds
FORM_BYTES = 1_000_000  # of a request that is no upload
AROUND = 65_536  # bytes of an upload beside the file
FOLDER = "GRADIO_TEMP_DIR"  # where Gradio looks for the name of its folder


class UploadLimits:
    """ASGI middleware that refuses requests before their bodies are read.

    Args:
        app: What they are for.
        board: Whose limits hold.
        visitor: Tells the address of a request.
    """

    def __init__(self, app: Any, *, board: Board, visitor: Callable[[Any], str]) -> None:
        self._app = app
        self._board = board
        self._visitor = visitor

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Passes a request on, or answers it."""
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            from anyio import to_thread
            from starlette.requests import Request

            if refusal := await to_thread.run_sync(self._refusal, Request(scope)):
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, request: Any) -> Any:
        """The answer to a request that is not let through; None for others."""
        from starlette.responses import PlainTextResponse

        length = request.headers.get("content-length", "")
        if "transfer-encoding" in request.headers or not (length or "0").isdecimal():
            return PlainTextResponse("The request lacks its length (Content-Length).", status_code=411)
        size, limits = int(length or 0), self._board.limits
        is_upload = request.url.path.rstrip("/").endswith("/upload")
        if size > (limits.file_bytes + AROUND if is_upload else FORM_BYTES):
            most = f"a file may have {limits.file_bytes / 1e6:g} MB" if is_upload else "no form is this long"
            return PlainTextResponse(f"This is too large: {most}.", status_code=413)
        if not is_upload:
            return None
        if size_of(upload_folder()) + size > limits.upload_bytes_kept:
            headers = {"Retry-After": str(int(KEPT_SECONDS))}
            return PlainTextResponse("Too many files are waiting; try again in ten minutes.", 503, headers)
        try:
            self._board.count_upload(self._visitor(request), size)
        except LimitError as error:
            return PlainTextResponse(str(error), 429, {"Retry-After": str(int(error.retry_after) + 1)})
        return None


def upload_folder() -> Path:
    """Where Gradio writes uploads."""
    return Path(os.environ.get(FOLDER) or Path(tempfile.gettempdir()) / "gradio")


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(size for _, size, _ in _files(folder))


def clear(folder: Path, *, older_than: float) -> None:
    """Removes files that were changed more than so many seconds ago, and folders that are empty."""
    now = time.time()
    for path, _, changed in _files(folder):
        if now - changed >= older_than:
            with contextlib.suppress(OSError):
                path.unlink()
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            with contextlib.suppress(OSError):
                path.rmdir()


@contextmanager
def folder_of(board: Board) -> Iterator[Path]:
    """Gives Gradio a folder of this board's own, empty at the start and gone at the end, and cleared meanwhile."""
    before = os.environ.get(FOLDER)
    name = hashlib.sha256(f"{board.place} {getattr(os, 'getuid', int)()}".encode()).hexdigest()[:16]
    folder = Path(before or tempfile.gettempdir()) / f"rrgmetrics-board-{name}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != getattr(os, "getuid", lambda: folder.stat().st_uid)():
        folder = Path(tempfile.mkdtemp(prefix="rrgmetrics-board-"))  # somebody else made it first
    ended = threading.Event()

    def keep_clear() -> None:
        while not ended.wait(LOOK_EVERY):
            clear(folder, older_than=KEPT_SECONDS)

    with _alone(folder) as is_alone:
        clear(folder, older_than=0.0 if is_alone else KEPT_SECONDS)
        os.environ[FOLDER] = str(folder)
        threading.Thread(target=keep_clear, daemon=True).start()
        try:
            yield folder
        finally:
            ended.set()
            if before is None:
                del os.environ[FOLDER]
            else:
                os.environ[FOLDER] = before
            if is_alone:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether no other server of the board uses the folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        is_alone = True
        if fcntl:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                is_alone = False
        yield is_alone
    finally:
        os.close(descriptor)


def _files(folder: Path) -> list[tuple[Path, int, float]]:
    """The files of a folder with size and time of the last change; those that go meanwhile are left out."""
    found = []
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink():
                about = path.stat()
                found.append((path, about.st_size, about.st_mtime))
    return found
