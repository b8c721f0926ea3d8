"""What is kept of the lexicon between processes: the same as what is made anew, and never of other files than these."""

from __future__ import annotations

import ast
import errno
import marshal
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from edited_lexicon import edited_bundled

import rrgmetrics
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import build, compiled, files, key_in_use, load, packs, use
from rrgmetrics.reading.lexicon.files import bundled, bundled_files, file_names
from rrgmetrics.reading.lexicon.parsing import parse

SUM = 32  # bytes in front of what is kept
WITHOUT_YAML = (
    "import sys; from rrgmetrics.reading import read; print(len(read('Clear.').findings), 'yaml' in sys.modules)"
)


@pytest.fixture
def cache(small_lexicon: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an empty cache; nothing that was made before is left in this process, nor afterwards."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with use(None):
        yield tmp_path / "rrgmetrics" / "lexicon"


def test_what_is_kept_is_what_is_made(cache: Path) -> None:
    load()
    assert {path.name.partition("-")[0] for path in cache.iterdir()} <= {"packs", "files", "lexicon"}
    assert len(list(cache.glob("lexicon-*"))) == 1
    with use(None):
        lexicon = load()
        assert replace(lexicon, trie=dict(lexicon.trie.items())) == build.build_lexicon(key_in_use())
    key = key_in_use()
    alone = [
        name for name in file_names(key) if len(bundled_files(name, key)) == 1 and name not in ("context", "rubric")
    ]
    assert len(alone) > 15
    assert all(bundled(key)[1][name] == parse(bundled_files(name, key)[0].read_text("utf-8")) for name in alone)


def test_branches_are_unpacked_when_they_are_asked_for(cache: Path) -> None:
    load()
    with use(None):
        trie = load().trie
        assert isinstance(dict.__getitem__(trie, "pneumothorax"), bytes)
        assert "concept" in trie["pneumothorax"][""]
        assert trie.get("pneumothorax") is trie["pneumothorax"]
        assert trie.get("no such word") is None


def test_a_fresh_process_reads_without_the_files(tmp_path: Path, run_python: Callable[..., str]) -> None:
    first, second = (run_python(WITHOUT_YAML, XDG_CACHE_HOME=str(tmp_path)).split() for _ in range(2))
    assert (first[0], second[0]) == (second[0], first[0])
    assert (first[1], second[1]) == ("True", "False")


def test_what_is_stale_is_not_used(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load()
    assert not read("Fire sign.").findings
    line = "    - kerley b\n"
    with edited_bundled(tmp_path / "copy", "chest_xray/lung.yaml", line, line + "    - fire sign\n"):
        assert [finding.concept for finding in read("Fire sign.").findings] == ["kerley_lines"]
    key = compiled.key_of([])
    assert key != compiled.key_of([b""])
    monkeypatch.setattr(compiled, "CODE", compiled.CODE[1:])
    assert key != compiled.key_of([])


def keep(key: str, content: Any = ("right",)) -> Any:
    """What the cache gives for a key, of which only this content is made."""
    return compiled.kept("files", key, lambda: content, tuple)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:-1],
        lambda whole: b"",
        lambda whole: whole[:-1] + b"x",
        lambda whole: whole[:SUM] + b"\xff" * 40,
    ],
)
def test_what_is_damaged_is_made_again(cache: Path, damage: Callable[[bytes], bytes]) -> None:
    keep("a")
    path = cache / "files-a"
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert keep("a") == ("right",)
    assert path.read_bytes() == whole


def kept_in(path: Path) -> Any:
    """The data in a file of the cache; the bytes of the same data depend on how often each object is used."""
    return marshal.loads(path.read_bytes()[SUM:])


def planted(name: str, content: Any) -> bytes:
    """A file as the cache writes it, whatever it holds."""
    return compiled._sum(Path(name), marshal.dumps(content)) + marshal.dumps(content)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("packs", None),
        ("packs", [[[]]]),
        ("files", 5),
        ("files", {"lung": 1}),
        ("lexicon", []),
        ("lexicon", {"concepts": {"edema": ()}}),
    ],
)
@pytest.mark.usefixtures("small_lexicon")
def test_what_has_another_shape_is_made_again(cache: Path, name: str, content: Any) -> None:
    packs._bundled_packs.cache_clear()
    load()
    (path,) = cache.glob(f"{name}-*")
    whole = kept_in(path)
    path.write_bytes(planted(path.name, content))
    packs._bundled_packs.cache_clear()
    with use(None):
        assert read("Small left effusion.").findings
    is_the_same = kept_in(path) == whole  # a variable: pytest would look for the difference in megabytes
    assert is_the_same


def test_a_content_under_another_name_is_not_believed(cache: Path) -> None:
    keep("a")
    (cache / "files-a").rename(cache / "files-b")
    assert keep("b", ("left",)) == ("left",)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no owners")
@pytest.mark.parametrize("what", ["file of another user", "file that others may write to", "link", "pipe", "folder"])
def test_what_we_did_not_write_is_not_believed(cache: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checksum shows damage and not the author: whoever writes a file can write its sum."""
    keep("a")
    path = cache / "files-a"
    path.write_bytes(planted(path.name, ("planted",)))
    assert keep("a") == ("planted",)  # by this user
    if what == "file of another user":
        if os.getuid():
            pytest.skip("only root can give a file away")
        os.chown(path, 65534, 65534)
    elif what == "file that others may write to":
        path.chmod(0o666)
    else:
        path.rename(cache / "beside")
        if what == "link":
            path.symlink_to(cache / "beside")
        elif what == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()
    assert keep("a") == ("right",)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no owners")
@pytest.mark.parametrize("how", ["others may write", "group may write", "another user's", "link", "pipe"])
def test_a_folder_that_is_not_this_users_alone_is_left_alone(cache: Path, how: str, tmp_path: Path) -> None:
    keep("a")
    theirs = tmp_path / "theirs"
    cache.rename(theirs)
    for age in range(compiled.KEPT + 8):
        (theirs / f"files-{age:064x}").write_text("theirs")
    (theirs / "files-a").write_bytes(planted("files-a", ("planted",)))
    if how == "link":
        cache.symlink_to(theirs)
    elif how == "pipe":
        os.mkfifo(cache)
    else:
        theirs.rename(cache)
        theirs = cache
        if how == "another user's":
            if os.getuid():
                pytest.skip("only root can give a folder away")
            os.chown(cache, 65534, 65534)
        cache.chmod(0o777 if how == "others may write" else 0o775 if how == "group may write" else 0o700)
    before = sorted(path.name for path in theirs.iterdir())
    assert keep("a") == keep("b") == ("right",)
    assert sorted(path.name for path in theirs.iterdir()) == before


def test_files_of_others_stay(cache: Path) -> None:
    keep("a")
    foreign = ["thesis.txt", "files-a.bak", "lexicon-1", ".part-x", f"other-{0:064x}", f".part-{'g' * 16}"]
    for name in foreign:
        (cache / name).write_text("mine")
        os.utime(cache / name, (0, 0))
    (cache / "files").mkdir()
    for age in range(compiled.KEPT + 5):
        (cache / f"files-{age:064x}").write_text("old")
    keep("b")
    assert {path.name for path in cache.iterdir()} >= {*foreign, "files"}
    assert len(list(cache.glob(f"files-{'[0-9a-f]' * 64}"))) == compiled.KEPT


def test_no_unfinished_file_is_left(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk; what a killed process has left is removed an hour later."""
    keep("a")
    left, fresh = (cache / f".part-{number:016x}" for number in range(2))
    left.write_text("half")
    fresh.write_text("half")
    os.utime(left, (0, 0))

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        assert keep("b") == ("right",)
    assert {path.name for path in cache.iterdir()} == {"files-a", left.name, fresh.name}
    assert keep("b") == ("right",)
    assert {path.name for path in cache.iterdir()} == {"files-a", "files-b", fresh.name}


def test_a_cache_that_cannot_be_written_costs_time_only(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with use(None):
        assert read("Small left effusion.").findings
    assert not cache.exists()
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as for a user without a home
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert keep("a") == ("right",)
    assert not Path("~").exists()


def test_the_newest_few_stay(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "KEPT", 2)
    for age in range(3):
        keep(f"{age:064x}")
        os.utime(cache / f"files-{age:064x}", (age, age))
    keep(f"{3:064x}")
    assert sorted(path.name for path in cache.iterdir()) == [f"files-{2:064x}", f"files-{3:064x}"]


def test_all_code_that_decides_is_in_the_key() -> None:
    """All that the building of the lexicon imports of ours, but for the exceptions."""
    root = Path(rrgmetrics.__file__).parents[1]
    reached, todo = set[Path](), [Path(build.__file__), Path(files.__file__)]
    while todo:
        path = todo.pop()
        if path not in reached:
            reached.add(path)
            nodes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
            names = [name for node in nodes for name in (node.module, *(f"{node.module}.{a.name}" for a in node.names))]
            found = [root.joinpath(*name.split(".")).with_suffix(".py") for name in names]
            todo += [path for path in found if path.is_file()]
    assert len(reached) >= 7
    messages = ("errors", "utils/bounded_files", "reading/trace_text")  # they decide nothing about a lexicon
    exceptions = {root / "rrgmetrics" / f"{name}.py" for name in messages}
    assert reached - {*compiled.CODE} == exceptions
