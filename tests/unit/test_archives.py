"""Archives of others: what is unpacked, what is refused, and that nothing lands outside or stays behind."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rrgmetrics.backends import checkpoints
from rrgmetrics.backends.checkpoints import archives
from rrgmetrics.errors import BackendError

COMPRESSIONS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "none": bytes}


def member(name: str, kind: bytes = tarfile.REGTYPE, *, target: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


def raw_tar(*members: tuple[tarfile.TarInfo, bytes] | tarfile.TarInfo) -> bytes:
    """Headers and contents as they are given, fitting or not."""
    parts = []
    for item in members:
        info, content = item if isinstance(item, tuple) else (item, b"")
        if isinstance(item, tuple) and not info.size:
            info.size = len(content)
        parts += [info.tobuf(tarfile.PAX_FORMAT), content, bytes(-len(content) % tarfile.BLOCKSIZE)]
    return b"".join(parts) + bytes(2 * tarfile.BLOCKSIZE)


def unpack(tmp_path: Path, content: bytes) -> dict[str, bytes]:
    """What of an archive is there afterwards; every file below `tmp_path` is the archive's or was there before."""
    (tmp_path / "a.tar").write_bytes(content)
    archives.unpack_tar(tmp_path / "a.tar", tmp_path / "out")
    root = tmp_path / "out"
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_files_and_folders(tmp_path, compress):
    content = raw_tar(
        member("./", tarfile.DIRTYPE),
        member("./model/", tarfile.DIRTYPE),
        (member("./model/weights.th"), b"weights" * 999),
        (member("vocabulary//labels.txt"), "é\n".encode()),
        member("model", tarfile.DIRTYPE),
        member("empty.txt"),
    )
    assert unpack(tmp_path, compress(content)) == {
        "model/weights.th": b"weights" * 999,
        "vocabulary/labels.txt": "é\n".encode(),
        "empty.txt": b"",
    }


def test_long_names_that_fit(tmp_path):
    name = "/".join(["d" * 200, "e" * 200, "f" * 200])
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w:gz", format=form) as tar:
            tar.addfile(member(name, size=3), io.BytesIO(b"abc"))
        (tmp_path / str(form)).mkdir()
        assert unpack(tmp_path / str(form), content.getvalue()) == {name: b"abc"}


def with_huge_header() -> bytes:
    """A name of 100 MB, which tarfile would read in one piece."""
    size = 100 << 20
    return gzip.compress(member("x", tarfile.GNUTYPE_LONGNAME, size=size).tobuf() + b"a" * size, compresslevel=1)


def bomb() -> bytes:
    """200 MB of nothing."""
    return gzip.compress(raw_tar((member("a"), bytes(200 << 20))), compresslevel=1)


def sparse() -> bytes:
    """A terabyte that is not there."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = member("big", size=1024)
        info.pax_headers = {
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.name": "big",
            "GNU.sparse.realsize": str(1 << 40),
        }
        tar.addfile(info, io.BytesIO(b"1\n0\n512\n".ljust(512, b"\0") + b"x" * 512))
    return content.getvalue()


TWICE = (member("a"), b"1"), (member("a"), b"2")
REFUSED = {
    "the folder above": (raw_tar((member("../out2"), b"x")), "outside of its folder"),
    "the folder above, below": (raw_tar((member("a/../../b"), b"x")), "outside of its folder"),
    "absolute": (raw_tar((member("/tmp/b"), b"x")), "outside of its folder"),
    "drive": (raw_tar((member("C:evil"), b"x")), "outside of its folder"),
    "backslash": (raw_tar((member("..\\evil"), b"x")), "outside of its folder"),
    "line break": (raw_tar((member("a\nb"), b"x")), "outside of its folder"),
    "symbolic link": (raw_tar(member("a", tarfile.SYMTYPE, target="b")), "neither a file nor a folder"),
    "hard link": (raw_tar((member("b"), b"x"), member("a", tarfile.LNKTYPE, target="b")), "neither a file"),
    "device": (raw_tar(member("a", tarfile.CHRTYPE)), "neither a file nor a folder"),
    "pipe": (raw_tar(member("a", tarfile.FIFOTYPE)), "neither a file nor a folder"),
    "unknown type": (raw_tar(member("a", b"Z")), "neither a file nor a folder"),
    "sparse": (sparse(), "neither a file nor a folder"),
    "the folder as a file": (raw_tar((member("./."), b"x")), "names no file"),
    "twice": (raw_tar(*TWICE), "occurs twice"),
    "twice, in other letters": (raw_tar((member("A"), b"1"), (member("a"), b"2")), "occurs twice"),
    "twice, composed": (raw_tar((member("\u00e9"), b"1"), (member("e\u0301"), b"2")), "occurs twice"),
    "folders in other letters": (raw_tar((member("A/x"), b"1"), (member("a/y"), b"2")), "occurs twice"),
    "file, then folder": (raw_tar((member("a"), b"1"), (member("a/b"), b"2")), "occurs twice"),
    "folder, then file": (raw_tar((member("a/b"), b"1"), (member("a"), b"2")), "occurs twice"),
    "trailing dot": (raw_tar((member("a."), b"1")), "some systems drop"),
    "long name": (raw_tar((member("n" * 256), b"1")), "too long"),
    "long path": (raw_tar((member("/".join(["n" * 200] * 6)), b"1")), "too long"),
    "too many": (raw_tar(*(member(f"f{i}") for i in range(archives.MEMBERS + 1))), "more than 10,000 members"),
    "huge header": (with_huge_header, "a header states an impossible size"),
    "negative header": (raw_tar(member("x", tarfile.XHDTYPE, size=-1024)), "could not be unpacked"),
    "declared, not there": (raw_tar(member("a", size=1 << 30)), "could not be unpacked"),
    "declared beyond all": (gzip.compress(raw_tar(member("a", size=1 << 50))), "could not be unpacked"),
    "gzip bomb": (bomb, "unpack to more than"),
    "damaged after a member": (raw_tar((member("a"), b"1"))[:1024] + b"\1" * 1024, "damaged after"),
    "cut": (gzip.compress(raw_tar((member("a"), os.urandom(9999))))[:-2000], "could not be unpacked"),
    "no archive": (b"no archive at all", "could not be unpacked"),
    "empty": (b"", "could not be unpacked"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_and_nothing_is_left(tmp_path, monkeypatch, content, message):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    archive = tmp_path / "bad.tar.gz"
    archive.write_bytes(content() if callable(content) else content)  # what takes a second to make: in one process
    with pytest.raises(BackendError, match=message) as error:
        checkpoints.unpack(archive)
    assert str(error.value).startswith(f"{archive} could not be unpacked: ")
    assert {path for path in tmp_path.rglob("*") if not path.is_dir()} == {archive}
    assert list((tmp_path / "cache" / "rrgmetrics" / "checkpoints").iterdir()) == []


def escaping(up: int) -> bytes:
    """CVE-2025-4517: links whose real path is too long to be resolved, so that what is behind them is not checked.

    Sixteen links, each to a folder with a name of 247 letters, make a path of 32 letters that is 4 kB long. A link at
    its end leads back to the top, which `os.path.realpath` no longer sees; a second one goes up from there, and a hard
    link through it makes a file outside writable.
    """
    deep, steps, path = "d" * 247, "abcdefghijklmnop", ""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for step in steps:
            tar.addfile(member(os.path.join(path, deep), tarfile.DIRTYPE))
            tar.addfile(member(os.path.join(path, step), tarfile.SYMTYPE, target=deep))
            path = os.path.join(path, deep)
        end = os.path.join("/".join(steps), "l" * 254)
        tar.addfile(member(end, tarfile.SYMTYPE, target="../" * len(steps)))
        tar.addfile(member("escape", tarfile.SYMTYPE, target=end + "/.." * up))
        tar.addfile(member("link", tarfile.LNKTYPE, target="escape/victim"))
        tar.addfile(member("link", size=10), io.BytesIO(b"overwrite\n"))
    return content.getvalue()


def test_links_too_long_to_resolve_do_not_escape(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    archive, victim = tmp_path / "escape.tar", tmp_path / "rrgmetrics" / "checkpoints" / "victim"
    victim.parent.mkdir(parents=True)
    victim.write_text("mine\n")
    archive.write_bytes(escaping(up=1))
    with pytest.raises(BackendError, match="neither a file nor a folder"):
        checkpoints.unpack(archive)
    assert victim.read_text() == "mine\n"
    assert list(victim.parent.iterdir()) == [victim]


@pytest.mark.skipif(sys.version_info >= (3, 11, 13), reason="tarfile is repaired in 3.11.13, 3.12.11 and 3.13.4")
@pytest.mark.skipif(not hasattr(tarfile, "data_filter"), reason="this Python has no filters")
def test_the_archive_of_the_test_above_does_escape_tarfile(tmp_path):
    """Else the test above would show nothing."""
    (tmp_path / "out").mkdir()
    (tmp_path / "victim").write_text("mine\n")
    with tarfile.open(fileobj=io.BytesIO(escaping(up=1))) as tar:
        tar.extractall(tmp_path / "out", filter="data")
    assert (tmp_path / "victim").read_text() == "overwrite\n"


NAMES = st.one_of(
    st.text(st.sampled_from("aAbé./\\:~ \0\x7f"), max_size=12),
    st.lists(st.sampled_from(["..", ".", "", "a", "A", "b", "C:", "n" * 300, "CON", "a\0b"]), max_size=8).map("/".join),
    st.sampled_from(["/etc/passwd", "../victim", "a/../../victim", "C:\\x", "//x", "out/../victim"]),
)
KINDS = st.sampled_from(
    [
        *(tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE),
        *(tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.GNUTYPE_SPARSE, tarfile.GNUTYPE_LONGNAME, b"Z"),
    ]
)
SIZES = st.one_of(st.none(), st.sampled_from([0, 1, 511, 513, 1 << 20, 1 << 33, 1 << 60, -1, -512, -1 << 40]))
MEMBERS = st.lists(st.tuples(NAMES, KINDS, NAMES, st.binary(max_size=600), SIZES), max_size=6)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    members=MEMBERS, compress=st.sampled_from(list(COMPRESSIONS)), cut=st.integers(0, 40), noise=st.binary(max_size=3)
)
@example([("a", tarfile.SYMTYPE, "..", b"", None), ("a/victim", tarfile.REGTYPE, "", b"x", None)], "none", 0, b"")
def test_whatever_an_archive_holds_it_stays_inside(tmp_path_factory, members, compress, cut, noise):
    """It is unpacked to files of its own, or refused with nothing left; never anything else."""
    root = tmp_path_factory.mktemp("fuzz")
    (root / "victim").write_bytes(b"mine")
    parts = []
    for name, kind, target, content, size in members:
        info = member(name, kind, target=target, size=len(content) if size is None else size)
        try:
            parts += [info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")]
        except (ValueError, OverflowError):  # a header that cannot be written
            continue
        parts += [content, bytes(-len(content) % tarfile.BLOCKSIZE)]
    data = COMPRESSIONS[compress](b"".join(parts) + noise + bytes(2 * tarfile.BLOCKSIZE))
    archive = root / "a.tar"
    archive.write_bytes(data[: len(data) - cut])
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(root / "cache")
    try:
        folder = checkpoints.unpack(archive)
    except BackendError:
        folder = None
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before
    assert (root / "victim").read_bytes() == b"mine"
    written = [path for path in root.rglob("*") if not path.is_dir() and path not in (archive, root / "victim")]
    assert all(folder is not None and path.is_relative_to(folder) and not path.is_symlink() for path in written)
    assert all(path.stat().st_nlink == 1 for path in written)
    kept = list((root / "cache" / "rrgmetrics" / "checkpoints").iterdir())
    assert kept == ([] if folder is None else [folder])


def zipped(path: Path, *, method: int = zipfile.ZIP_DEFLATED, **contents: bytes) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def test_a_file_of_a_zip_archive(tmp_path):
    archive = zipped(tmp_path / "a.zip", small=b"abc", large=bytes(1 << 20))
    assert archives.read_zip_member(archive, "small") == b"abc"
    assert len(archives.read_zip_member(archive, "large", limit=1 << 20)) == 1 << 20
    with pytest.raises(BackendError, match=r"a\.zip could not be unpacked: 'large' has more than 1,048,575 bytes"):
        archives.read_zip_member(archive, "large", limit=(1 << 20) - 1)
    with pytest.raises(BackendError, match="no item named 'none'"):
        archives.read_zip_member(archive, "none")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 400), bits=st.integers(1, 255))
def test_a_damaged_zip_archive_is_a_backend_error(tmp_path_factory, place, bits):
    """Sizes, methods, flags and checksums changed: the content, or an error that names the archive."""
    archive = zipped(tmp_path_factory.mktemp("zip") / "a.zip", file=b"abcdefgh" * 20)
    data = bytearray(archive.read_bytes())
    data[place % len(data)] ^= bits
    archive.write_bytes(data)
    with contextlib.suppress(BackendError):
        assert len(archives.read_zip_member(archive, "file", limit=4096)) <= 4096


def test_a_bomb_in_place_of_wordnet(tmp_path, monkeypatch):
    from rrgmetrics.backends.wordnet import WordNet

    bomb = zipped(tmp_path / "wordnet.zip", **{"wordnet/index.noun": bytes(archives.ALLOWANCE + 1)})
    with pytest.raises(BackendError, match=r"does not contain WordNet.*more than"):
        WordNet(bomb)


def test_a_pickle_that_swells(tmp_path):
    """torch stores tensors as they are; a zip file that says otherwise was not written by it."""
    swollen = zipped(tmp_path / "swollen.pt", **{"archive/data/0": bytes(1 << 20)})
    with pytest.raises(BackendError, match=r"swollen\.pt could not be read: it would unpack to 1,048,576 bytes"):
        archives.check_uncompressed(swollen)
    archives.check_uncompressed(zipped(tmp_path / "plain.pt", method=zipfile.ZIP_STORED, data=bytes(99)))
