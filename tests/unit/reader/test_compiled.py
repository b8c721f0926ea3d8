"""What is kept of the lexicon between processes: the same as what is made anew, and never of other files than these."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from edited_lexicon import edit_bundled

import rrgmetrics
from rrgmetrics.reader import read
from rrgmetrics.reader.lexicon import build, compiled, files, load, use
from rrgmetrics.reader.lexicon.files import bundled, bundled_files, file_names
from rrgmetrics.reader.lexicon.parsing import parse

WITHOUT_YAML = (
    "import sys; from rrgmetrics.reader import read; print(len(read('Clear.').findings), 'yaml' in sys.modules)"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an empty cache; nothing that was made before is left in this process, nor afterwards."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with use(None):
        yield tmp_path / "rrgmetrics" / "lexicon"
    monkeypatch.undo()
    with use(None):
        load()


def test_what_is_kept_is_what_is_made(cache: Path) -> None:
    load()
    assert {path.name.partition("-")[0] for path in cache.iterdir()} <= {"packs", "files", "lexicon"}
    assert len(list(cache.glob("lexicon-*"))) == 1
    with use(None):
        assert load() == build.build_lexicon()
    alone = [name for name in file_names() if len(bundled_files(name)) == 1 and name not in ("context", "rubric")]
    assert len(alone) > 15
    assert all(bundled()[1][name] == parse(bundled_files(name)[0].read_text("utf-8")) for name in alone)


def test_a_fresh_process_reads_without_the_files(tmp_path: Path, run_python: Callable[..., str]) -> None:
    first, second = (run_python(WITHOUT_YAML, XDG_CACHE_HOME=str(tmp_path)).split() for _ in range(2))
    assert (first[0], second[0]) == (second[0], first[0])
    assert (first[1], second[1]) == ("True", "False")


def test_what_is_stale_is_not_used(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load()
    assert not read("Fire sign.").findings
    line = "    - kerley line\n"
    edit_bundled(monkeypatch, tmp_path / "copy", "chest_xray/lung.yaml", line, line + "    - fire sign\n")
    with use(None):
        assert [finding.concept for finding in read("Fire sign.").findings] == ["kerley_lines"]
    key = compiled.key_of([])
    assert key != compiled.key_of([b""])
    monkeypatch.setattr(compiled, "CODE", compiled.CODE[1:])
    assert key != compiled.key_of([])


@pytest.mark.parametrize("damage", [lambda whole: whole[:-1], lambda whole: b"", lambda whole: whole[:-1] + b"x"])
def test_what_is_damaged_is_made_again(cache: Path, damage: Callable[[bytes], bytes]) -> None:
    compiled.kept("words", "a", lambda: {"left": ("right",)})
    path = cache / "words-a"
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert compiled.kept("words", "a", lambda: {"left": ("right",)}) == {"left": ("right",)}
    assert path.read_bytes() == whole


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
    assert compiled.kept("words", "a", tuple) == ()
    assert not Path("~").exists()


def test_the_newest_few_stay(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "KEPT", 2)
    for age, key in enumerate("abc"):
        assert compiled.kept("numbers", key, lambda: (1, 2)) == (1, 2)
        os.utime(cache / f"numbers-{key}", (age, age))
    compiled.kept("numbers", "d", tuple)
    assert sorted(path.name for path in cache.iterdir()) == ["numbers-c", "numbers-d"]


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
    exceptions = {
        root / "rrgmetrics" / f"{name}.py" for name in ("errors", "english", "notebook", "reader/trace_text")
    }  # they only say it
    assert reached - {*compiled.CODE} == exceptions
