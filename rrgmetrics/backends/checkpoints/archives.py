"""Reads and unpacks archives that others made, and lets them do nothing else.

tarfile's own filters do not suffice: a chain of links whose real path is too long for the system passes the `data`
filter of Python before 3.11.13, 3.12.11 and 3.13.4 and writes anywhere (CVE-2025-4517), and Python before 3.11.4 has no
filters. So files and folders are written here, one by one, each by its checked name; whatever else an archive holds is
a reason to refuse it. Sizes are counted as they are written, never taken from the archive's word.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rrgmetrics.errors import BackendError

CHUNK = 1 << 20  # bytes in memory at a time
MEMBERS = 10_000
EXPANSION = 20  # times the archive's own size; weights hardly shrink, a bomb shrinks a thousandfold
ALLOWANCE = 64 << 20  # bytes that any archive may have
LARGEST = 64 << 30  # bytes that none may have
NAME_BYTES, PATH_BYTES = 255, 1024  # the shortest limits of common file systems
FORBIDDEN = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')  # NUL, drive letters, other systems' separators
COMPRESSIONS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


class RefusalError(Exception):
    """An archive is refused; becomes a BackendError that names the archive."""


def unpack_tar(archive: Path, folder: Path) -> None:
    """Writes the files and folders of a tar archive, compressed or not, into a new folder.

    Args:
        archive: The file.
        folder: Made here. After an error the caller removes it, with what was written until then.

    Raises:
        BackendError: The archive is damaged or too large, or has a member that is neither file nor folder, that would
            leave the folder, or that another system would take for one before it.
    """
    try:
        folder.mkdir()
        names = _Names(folder)
        limit = min(ALLOWANCE + EXPANSION * archive.stat().st_size, LARGEST)
        with _open(archive) as stream:
            metered: Any = _Metered(stream, limit)  # all of a file that tarfile uses
            tar = tarfile.TarFile(fileobj=metered)
            for member in _members(tar):
                if member.isdir():
                    names.folder(member.name)
                elif member.isreg() and not member.issparse():
                    _write(tar, member, names.file(member.name))
                else:
                    raise RefusalError(f"{member.name!r} is neither a file nor a folder")
    except Exception as error:  # of the file system, of four compressions, of tarfile
        raise BackendError(f"{archive} could not be unpacked: {str(error) or type(error).__name__}.") from error


def read_zip_member(archive: Path, name: str, *, limit: int = ALLOWANCE) -> bytes:
    """The content of one file in a zip archive.

    Raises:
        BackendError: There is no such archive or file, it is damaged, or it unpacks to more than `limit` bytes.
    """
    try:
        with zipfile.ZipFile(archive) as opened, opened.open(name) as file:
            content = file.read(limit + 1)
    except Exception as error:  # of the file system, of zipfile, of its compressions
        raise BackendError(f"{archive} could not be unpacked: {str(error) or type(error).__name__}.") from error
    if len(content) > limit:
        raise BackendError(f"{archive} could not be unpacked: {name!r} has more than {limit:,} bytes.")
    return content


def check_uncompressed(archive: Path) -> None:
    """Raises BackendError for a zip file, as torch writes, with members that are compressed or overlap: it has none."""
    if not zipfile.is_zipfile(archive):
        return
    try:
        with zipfile.ZipFile(archive) as opened:
            members = opened.infolist()
    except Exception as error:
        raise BackendError(f"{archive} could not be read: {str(error) or type(error).__name__}.") from error
    declared = sum(member.file_size for member in members)
    if any(member.compress_type != zipfile.ZIP_STORED for member in members) or declared > archive.stat().st_size:
        raise BackendError(
            f"{archive} could not be read: it would unpack to {declared:,} bytes, more than any file that torch writes."
        )


class _Names:
    """The names that an archive has used, each with the path that it stands for below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.spelled: dict[tuple[str, ...], tuple[str, ...]] = {(): ()}
        self.files: set[tuple[str, ...]] = set()

    def folder(self, name: str) -> Path:
        """A folder, made with those above it; it may be named again."""
        return self._folder(_parts(name), name)

    def file(self, name: str) -> Path:
        """Returns the path of a new file."""
        parts = _parts(name)
        if not parts:
            raise RefusalError(f"{name!r} names no file")
        path = self._folder(parts[:-1], name) / parts[-1]
        if _folded(parts) in self.spelled:
            raise RefusalError(f"{name!r} occurs twice, possibly with other capital letters")
        self.spelled[_folded(parts)] = parts
        self.files.add(parts)
        return path

    def _folder(self, parts: tuple[str, ...], name: str) -> Path:
        for end in range(1, len(parts) + 1):
            above = parts[:end]
            if above in self.files or self.spelled.setdefault(_folded(above), above) != above:
                raise RefusalError(f"{name!r} occurs twice, as a file or with other capital letters")
        path = self.root.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a member's name, which all lie below the archive's folder on any system."""
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if name.startswith("/") or ".." in parts or FORBIDDEN.search(name):
        raise RefusalError(f"{name!r} would be written outside of its folder, here or on another system")
    sizes = [len(part.encode(errors="surrogateescape")) for part in parts]
    if max(sizes, default=0) > NAME_BYTES or sum(sizes) + len(sizes) > PATH_BYTES:
        raise RefusalError(f"the name {name[:40]!r}... is too long")
    if any(part.endswith((".", " ")) for part in parts):
        raise RefusalError(f"{name!r} ends with characters that some systems drop")
    return parts


def _folded(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Folds a name as a file system does that does not distinguish upper and lower case."""
    return tuple(unicodedata.normalize("NFKC", part).casefold() for part in parts)


def _open(archive: Path) -> IO[bytes]:
    """The tar file inside of its compression, which its first bytes say."""
    with archive.open("rb") as file:
        head = file.read(6)
    opens: Any = next((opens for sign, opens in COMPRESSIONS.items() if head.startswith(sign)), open)
    stream: IO[bytes] = opens(archive, "rb")
    return stream


class _Metered:
    """A stream for tarfile that is never asked for much at once, nor for more than the archive may unpack to.

    A tar file's headers say their own size, and tarfile reads each in one piece: without this, gigabytes of zeros.
    """

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.stream, self.limit = stream, limit

    def read(self, size: int) -> bytes:
        if not 0 <= size <= CHUNK:
            raise RefusalError("a header states an impossible size")
        self._check(self.stream.tell() + size)
        return self.stream.read(size)

    def seek(self, position: int) -> int:
        self._check(position)
        return self.stream.seek(position)

    def tell(self) -> int:
        return self.stream.tell()

    def _check(self, position: int) -> None:
        if position > self.limit + CHUNK:
            raise RefusalError(f"it would unpack to more than {self.limit:,} bytes")


def _members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The members in their order. tarfile takes a damaged header for the end; here it is an error."""
    for count, member in enumerate(iter(tar.next, None)):
        if count == MEMBERS:
            raise RefusalError(f"it has more than {MEMBERS:,} members")
        yield member
        tar.members.clear()  # type: ignore[attr-defined]  # each keeps a copy of the archive's own headers
    stream: Any = tar.fileobj
    stream.seek(tar.offset)
    if stream.read(tarfile.BLOCKSIZE).strip(b"\0"):
        raise RefusalError("it is damaged after its last readable member")


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source: Any = tar.extractfile(member)
    with path.open("xb") as target:
        while chunk := source.read(CHUNK):
            target.write(chunk)
