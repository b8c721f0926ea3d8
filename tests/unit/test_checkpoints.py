"""Files, archives, pickles and pins of published checkpoints."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import pickle
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from rrgmetrics.backends import checkpoints
from rrgmetrics.backends.checkpoints import loading
from rrgmetrics.errors import BackendError

REPOSITORY = "StanfordAIMI/RRG_scorers"


@pytest.fixture
def hub(tmp_path, monkeypatch, no_pins):
    """An empty Hub cache, with unpacked archives beside it."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "hub"


def snapshot(hub, repository, commit, reference="main"):
    """A snapshot's folder in the Hub's cache."""
    root = hub / f"models--{repository.replace('/', '--')}"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / reference).write_text(commit)
    folder = root / "snapshots" / commit
    folder.mkdir(parents=True)
    return folder


def tar(path, members):
    """Writes an archive of (name, content) and of ready TarInfos."""
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return path


def test_a_file_by_path_by_folder_and_from_the_cache(hub, tmp_path):
    (tmp_path / "chexbert.pth").write_bytes(b"weights")
    named = f"chexbert.pth@sha256:{hashlib.sha256(b'weights').hexdigest()[:8]}"
    for name in (tmp_path, tmp_path / "chexbert.pth"):
        assert checkpoints.find_file(str(name), "chexbert.pth") == (tmp_path / "chexbert.pth", named)
    folder = snapshot(hub, REPOSITORY, "0123456789abcdef")
    (folder / "chexbert.pth").write_bytes(b"weights")
    file = checkpoints.find_file(REPOSITORY, "chexbert.pth")
    assert file == (folder / "chexbert.pth", f"{REPOSITORY}/chexbert.pth@0123456789ab")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (REPOSITORY, r"chexbert.pth of StanfordAIMI/RRG_scorers is not in .*`hf download StanfordAIMI/RRG_scorers "
         r"chexbert.pth`; without one, copy the file"),
        (f"{REPOSITORY}@v2", r"hf download StanfordAIMI/RRG_scorers chexbert.pth --revision v2"),
        ("/nowhere/chexbert.pth", "There is no file or folder"),
        ("a/b/c", "There is no file or folder"),
        (".", "has no file chexbert.pth"),
    ],
)  # fmt: skip
def test_a_file_that_is_missing_is_named(hub, name, message):
    with pytest.raises(BackendError, match=message):
        checkpoints.find_file(name, "chexbert.pth")


def test_an_archive_is_unpacked_once(hub, tmp_path):
    files = [("radgraph/config.json", b"{}"), ("radgraph/weights.th", b"weights")]
    folder = snapshot(hub, REPOSITORY, "c0ffee")
    tar(folder / "radgraph.tar.gz", files)
    needs = ("config.json", "weights.th")
    checkpoint = checkpoints.find_archive(REPOSITORY, "radgraph.tar.gz", needs=needs)
    assert checkpoint.identity == f"{REPOSITORY}/radgraph.tar.gz@c0ffee"
    assert (checkpoint.folder / "weights.th").read_bytes() == b"weights"
    assert checkpoint.folder.is_relative_to(tmp_path / "cache" / "rrgmetrics" / "checkpoints")
    assert len(list((tmp_path / "cache" / "rrgmetrics" / "checkpoints").iterdir())) == 1  # nothing half done
    (checkpoint.folder / "mark").touch()
    again = checkpoints.find_archive(str(folder / "radgraph.tar.gz"), "radgraph.tar.gz", needs=needs)
    assert again.folder == checkpoint.folder
    assert (again.folder / "mark").exists()
    unpacked = checkpoints.find_archive(str(checkpoint.folder.parent), "radgraph.tar.gz", needs=needs)
    assert unpacked.folder == checkpoint.folder
    with pytest.raises(BackendError, match=r"lacks vocabulary\."):
        checkpoints.find_archive(str(checkpoint.folder), "radgraph.tar.gz", needs=("vocabulary", "weights.th"))


def link(name, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


@pytest.mark.parametrize("members", [[("../escaped", b"x")], [link("out", "/etc")], [link("out", "../../..")]])
def test_an_archive_cannot_write_outside_of_its_folder(hub, tmp_path, members):
    archive = tar(tmp_path / "bad.tar.gz", [("config.json", b"{}"), *members])
    with pytest.raises(BackendError, match=r"bad\.tar\.gz could not be unpacked"):
        checkpoints.unpack(archive)
    assert not list(tmp_path.rglob("escaped"))
    assert list((tmp_path / "cache" / "rrgmetrics" / "checkpoints").iterdir()) == []


def test_an_archive_that_is_damaged(hub, tmp_path):
    (tmp_path / "cut.tar.gz").write_bytes(tar(tmp_path / "whole.tar.gz", [("a", bytes(10_000))]).read_bytes()[:60])
    with pytest.raises(BackendError, match="could not be unpacked"):
        checkpoints.unpack(tmp_path / "cut.tar.gz")


@pytest.mark.parametrize("legacy", [False, True])  # CheXbert's file is older than torch's zip format
def test_wrapped_and_parallel_weights(tmp_path, legacy):
    state = {"module.a.weight": torch.arange(3.0), "module.b": torch.ones(2)}
    torch.save(
        {"epoch": 7, "model_state_dict": state, "optimizer_state_dict": {"state": {}}},
        tmp_path / "chexbert.pth",
        _use_new_zipfile_serialization=not legacy,
    )
    loaded = loading.load_weights(tmp_path / "chexbert.pth")
    assert list(loaded) == ["a.weight", "b"]
    assert loaded["a.weight"].tolist() == [0, 1, 2]


class Attack:
    def __reduce__(self):
        return open, ("attacked", "w")


def test_a_pickle_runs_no_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.pth").write_bytes(pickle.dumps({"model_state_dict": Attack()}, protocol=2))
    torch.save({"model_state_dict": Attack()}, tmp_path / "evil.pt")
    for name in ("evil.pth", "evil.pt"):
        with pytest.raises(BackendError, match=rf"{name} could not be read as weights.*convert it to safetensors"):
            loading.load_weights(tmp_path / name)
    assert not (tmp_path / "attacked").exists()


@pytest.mark.parametrize("content", [{}, {"a": 1}, [torch.ones(1)], {"model_state_dict": {}}])
def test_what_is_no_state_dict(tmp_path, content):
    torch.save(content, tmp_path / "other.pt")
    with pytest.raises(BackendError, match="no state dict"):
        loading.load_weights(tmp_path / "other.pt")


def test_a_pinned_revision_and_checksum(hub, monkeypatch):
    digest = hashlib.sha256(b"published").hexdigest()
    monkeypatch.setattr(checkpoints, "pins", lambda: {REPOSITORY: checkpoints.Pin("abc", {"chexbert.pth": digest})})
    newest = snapshot(hub, REPOSITORY, "def")
    (newest / "chexbert.pth").write_bytes(b"newer")
    found = hashlib.sha256(b"newer").hexdigest()
    message = (
        rf"def/chexbert\.pth does not have the published SHA-256 {digest[:12]}… \(it has {found[:12]}…\): "
        r".* from another revision\. Delete it and run `hf download .*chexbert\.pth --revision abc`"
    )
    with pytest.raises(BackendError, match=message):
        checkpoints.find_file(REPOSITORY, "chexbert.pth")  # what is there is not what is pinned
    assert checkpoints.find_file(f"{REPOSITORY}@main", "chexbert.pth").path == newest / "chexbert.pth"  # by its name
    assert checkpoints.find_file(str(newest), "chexbert.pth").path == newest / "chexbert.pth"  # a folder of the user's
    (newest / "other.pth").write_bytes(b"of no known checksum")
    assert checkpoints.find_file(REPOSITORY, "other.pth").identity == f"{REPOSITORY}/other.pth@def"
    (newest / "chexbert.pth").write_bytes(b"published")  # another revision with the same file
    assert checkpoints.find_file(REPOSITORY, "chexbert.pth").identity == f"{REPOSITORY}/chexbert.pth@def"
    pinned = newest.parent / "abc"
    pinned.mkdir()
    (pinned / "chexbert.pth").write_bytes(b"published")
    assert checkpoints.find_file(REPOSITORY, "chexbert.pth").path == pinned / "chexbert.pth"
    (pinned / "chexbert.pth").write_bytes(b"tampered!")
    with pytest.raises(BackendError, match=rf"does not have the published SHA-256 {digest[:12]}"):
        checkpoints.find_file(REPOSITORY, "chexbert.pth")


def test_a_pinned_checkpoint_of_transformers(hub, monkeypatch):
    digests = {f"model-{i}.safetensors": hashlib.sha256(b"part %d" % i).hexdigest() for i in (1, 2)}
    monkeypatch.setattr(checkpoints, "pins", lambda: {"org/model": checkpoints.Pin("abc", digests)})
    folder = snapshot(hub, "org/model", "abc")
    for name in ("config.json", "model.safetensors.index.json"):
        (folder / name).write_text("{}")
    for i in (1, 2):
        (folder / f"model-{i}.safetensors").write_bytes(b"part %d" % i)
    assert checkpoints.find_checkpoint("org/model") == (folder, "org/model@abc")
    (folder / "model-2.safetensors").write_bytes(b"drifted")
    with pytest.raises(BackendError, match=r"model-2\.safetensors does not have the published SHA-256"):
        checkpoints.find_checkpoint("org/model")


def test_the_table_of_published_files():
    table = checkpoints.pins()
    assert REPOSITORY in table
    for name, pin in table.items():
        assert name.count("/") <= 1
        assert not pin.revision or len(pin.revision) == 40
        assert all(len(digest) == 64 for digest in pin.sha256.values())


def test_what_was_kept_fills_what_we_do_not_know(hub, tmp_path, monkeypatch):
    """Of our revision; a checksum of ours stays, and so does a revision."""
    ours = tmp_path / "published.yaml"
    ours.write_text(
        "a/b: {revision: abc, sha256: {x: '1', y: ''}}\n"
        "c/d: {revision: abc, sha256: {}}\n"
        "e/f: {revision: '', sha256: {}}\n"
    )
    monkeypatch.setattr(checkpoints, "PINS", ours)
    checkpoints.keep_pins(
        {
            "a/b": checkpoints.Pin("abc", {"x": "2", "y": "3"}),
            "c/d": checkpoints.Pin("def", {"x": "4"}),
            "e/f": checkpoints.Pin("def", {"x": "5"}),
        }
    )
    try:
        pins = checkpoints.pins()
    finally:
        checkpoints.pins.cache_clear()
    assert pins["a/b"] == ("abc", {"x": "1", "y": "3"})
    assert pins["c/d"] == ("abc", {})
    assert pins["e/f"] == ("def", {"x": "5"})


def test_pinning(tmp_path, monkeypatch, capsys):
    """The maintainer's script, with a Hub that answers from a table."""
    path = Path(__file__).parents[2] / "scripts" / "pin_checkpoints.py"
    spec = importlib.util.spec_from_file_location("pin_checkpoints", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    table = tmp_path / "published.yaml"
    row = "{}:\n  revision: ''\n  sha256: {}\n"
    table.write_text("# Two repositories.\n\n" + row.format("a/b", "{x.pth: ''}") + row.format("c/d", "{}"))

    class Hub:
        def model_info(self, name, files_metadata):
            files = {"x.pth": "1" * 64, "y.bin": "2" * 64, "notes.md": None}
            siblings = [
                SimpleNamespace(rfilename=file, lfs=digest and SimpleNamespace(sha256=digest))
                for file, digest in files.items()
            ]
            return SimpleNamespace(id=name, sha="a" * 40, siblings=siblings)

    monkeypatch.setattr(script, "PINS", table)
    script.main([], Hub())
    monkeypatch.setattr(checkpoints, "PINS", table)
    checkpoints.pins.cache_clear()
    try:
        pins = checkpoints.pins()
    finally:
        checkpoints.pins.cache_clear()
    assert pins["a/b"] == ("a" * 40, {"x.pth": "1" * 64})
    assert pins["c/d"] == ("a" * 40, {"x.pth": "1" * 64, "y.bin": "2" * 64})
    assert table.read_text().startswith("# Two repositories.\n")
    with pytest.raises(SystemExit, match="e/f is not in"):
        script.main(["e/f"], Hub())
