"""Uploads: counted by address and by bytes, refused before they are read, and gone from the disk."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace

import pytest

from rrgmetrics.spaces.access import LimitError
from rrgmetrics.spaces.leaderboard import uploads
from rrgmetrics.spaces.leaderboard.model import Limits, RefusedError

httpx = pytest.importorskip("httpx")
app = pytest.importorskip("rrgmetrics.spaces.leaderboard.app", reason="needs Gradio", exc_type=ImportError)
MB = 1_000_000
LIMITS = Limits(
    file_bytes=2 * MB, uploads_per_hour=4, upload_bytes_per_hour=5 * MB, upload_bytes_kept=8 * MB, tries_per_hour=100
)


@pytest.fixture
def limited(make_board):
    return make_board(limits=LIMITS)


@pytest.fixture
def page(limited, free_port, tmp_path, monkeypatch):
    """The page of a board in this process: its address, and the folder of uploads."""
    monkeypatch.setenv(uploads.FOLDER, str(tmp_path / "temporary"))
    with uploads.folder_of(limited) as folder:
        built = app.leaderboard_app(limited)
        options = app.launch_options(limited)
        _, url, _ = built.launch(prevent_thread_lock=True, quiet=True, server_port=free_port, **options)
        yield SimpleNamespace(api=f"{url}gradio_api", folder=folder, board=limited)
        built.close(verbose=False)


def upload(page, size, **keywords):
    return httpx.post(
        f"{page.api}/upload", files={"files": ("r.csv", b"x" * size)}, timeout=60, verify=False, **keywords
    )


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_uploads_are_counted_by_number_and_bytes(page):
    assert [upload(page, 2 * MB).status_code for _ in range(3)] == [200, 200, 429]
    refused = upload(page, 2 * MB)
    assert "4 files and 5 MB an hour" in refused.text
    assert 0 < int(refused.headers["retry-after"]) <= 3601
    assert [upload(page, 10).status_code for _ in range(3)] == [200, 200, 429]
    assert sum(path.stat().st_size for path in files_in(page.folder)) == 2 * MB + 10  # equal files are one


def test_what_is_too_large_or_does_not_say_is_not_read(page):
    assert upload(page, 3 * MB).status_code == 413
    many = [("files", (f"{i}.csv", b"x" * MB)) for i in range(3)]
    assert httpx.post(f"{page.api}/upload", files=many, timeout=60, verify=False).status_code == 413
    parts = iter([b"--b\r\n"] * 3)  # chunked
    headers = {"content-type": "multipart/form-data; boundary=b"}
    assert httpx.post(f"{page.api}/upload", content=parts, headers=headers, timeout=60, verify=False).status_code == 411
    long = {"data": ["x" * 2 * MB] * 5}
    assert httpx.post(f"{page.api}/call/submit", json=long, timeout=60, verify=False).status_code == 413
    assert files_in(page.folder) == []


def test_the_disk_is_never_full(page):
    (page.folder / "others").write_bytes(b"x" * 7 * MB)
    assert upload(page, 2 * MB).status_code == 503
    uploads.clear(page.folder, older_than=0.0)
    assert upload(page, 2 * MB).status_code == 200


def test_a_file_is_gone_when_it_is_done_or_refused(page, write_reports, tmp_path):
    site = app.Site(page.board, 0)
    request = SimpleNamespace(headers={}, client=SimpleNamespace(host="192.0.2.1"), query_params={})
    good, bad = (tmp_path / f"{name}.csv" for name in ("good", "bad"))

    def submit(path, content, name):
        path.write_text(content)
        return site.submit(str(path), name, "lab", "", "", request=request)

    whole = write_reports(["Clear."] * 12).read_text()
    assert "to correct; nothing was stored" in submit(bad, "study_id,report\nstudy-000,x\n", "A")
    assert not bad.exists()
    assert "to correct; nothing was stored" in submit(good, whole, "")  # the name is missing: the file waits for it
    assert good.exists()
    assert "data-progress" in submit(good, whole, "A")
    assert not good.exists()
    assert "Choose the file again" in site.submit(str(good), "A", "lab", "", "", request=request)


def test_old_files_go_and_a_start_empties_the_folder(limited, tmp_path, monkeypatch):
    monkeypatch.setenv(uploads.FOLDER, str(tmp_path))
    monkeypatch.setattr(uploads, "LOOK_EVERY", 0.05)
    with uploads.folder_of(limited) as folder:
        assert oct(folder.stat().st_mode & 0o777) == "0o700"
        (folder / "a").mkdir()
        (old := folder / "a" / "old.csv").write_text("x")
        (new := folder / "new.csv").write_text("x")
        os.utime(old, (time.time() - 1000,) * 2)
        monkeypatch.setenv(uploads.FOLDER, str(tmp_path))  # as it is in another process
        with uploads.folder_of(limited) as same:  # a second server takes nothing from the first
            assert same == folder
        assert new.exists()
        end = time.monotonic() + 10
        while old.parent.exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert not old.parent.exists()
        assert new.exists()
    assert os.environ[uploads.FOLDER] == str(tmp_path)
    assert not folder.exists()
    folder.mkdir()
    (folder / "left.csv").write_text("x")  # by a server that was killed
    with uploads.folder_of(limited):
        assert files_in(folder) == []


def test_submissions_are_counted_by_hour_and_in_all(make_board, send):
    limits = Limits(submissions_per_hour_and_address=2, submissions_per_day=100, submissions_in_all=3)
    board = make_board(limits=limits)
    send(board, "A", ["a"] * 12, address="192.0.2.1")
    send(board, "B", ["b"] * 12, address="192.0.2.1")
    with pytest.raises(LimitError, match="One address may send 2 submissions an hour"):
        send(board, "C", ["c"] * 12, address="192.0.2.1")
    send(board, "C", ["c"] * 12, address="192.0.2.2")
    with pytest.raises(LimitError, match="may send 3 submissions in all"):
        send(board, "D", ["d"] * 12, address="192.0.2.3")
    with pytest.raises(RefusedError):
        send(board, "A", ["d"] * 12)  # the command line has no address and is not counted
