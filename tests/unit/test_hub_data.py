"""Data sets on the Hub, from a stand-in on this machine: configurations, splits, the cache first, and no network."""

import json
import re
import threading
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import huggingface_hub
import pytest

import rrgmetrics
from rrgmetrics import BackendError, InputError, files
from rrgmetrics.files import hub

COMMIT = "c0ffee" * 6 + "c0ff"
CARD = """---
configs:
- config_name: findings
  data_files:
  - {split: validation, path: "findings/validation*"}
  - {split: test, path: "findings/test*"}
- config_name: impression
  data_files: impression/*.csv
---
Invented reports.
"""
ROWS = "study_id,reference,candidate\n"
FILES = {
    "org/reports": {
        "README.md": CARD,
        "findings/test-0.csv": ROWS + "t1,Clear lungs.,Lungs are clear.\n",
        "findings/test-1.csv": ROWS + "t2,Mild edema.,No edema.\n",
        "findings/validation.csv": ROWS + "v1,Nodule.,Mass.\n",
        "impression/all.csv": ROWS + "i1,Normal.,Normal.\n",
        "images/1.png": "not wanted",
        "reports.py": "raise SystemExit",
    },
    "org/plain": {"test.jsonl": '{"reference": "Clear.", "candidate": "Clear."}\n'},
    "org/empty": {"images/1.png": "nothing else"},
}


class StandIn(BaseHTTPRequestHandler):
    """What the Hub's client asks of the Hub, for `FILES`."""

    asked: list[str]

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.asked.append(self.path)
        if self.path == "/":
            return self.answer(b"")
        api = re.fullmatch(r"/api/datasets/(\w+/\w+)(?:/(revision|tree)/([^?]+))?(?:\?.*)?", self.path)
        file = re.fullmatch(r"/datasets/(\w+/\w+)/resolve/\w+/(.+)", self.path)
        stored = FILES.get((api or file or [None, None])[1])
        if stored is None:
            return self.answer(b"{}", 404, {"X-Error-Code": "RepoNotFound"})
        if file:
            content = stored[file[2]].encode()
            return self.answer(content, 200, {"ETag": f'"{sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT})
        if api[3] not in (None, "main", "v1", COMMIT):
            return self.answer(b"{}", 404, {"X-Error-Code": "RevisionNotFound"})
        if api[2] == "tree":
            tree = [{"type": "file", "path": name, "size": len(text), "oid": sha1(text.encode()).hexdigest()}
                    for name, text in stored.items()]  # fmt: skip
            return self.answer(json.dumps(tree).encode())
        siblings = [{"rfilename": name} for name in stored]
        return self.answer(json.dumps({"id": api[1], "sha": COMMIT, "siblings": siblings}).encode())

    def answer(self, content, status=200, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """The paths that the stand-in was asked for."""
    requests = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (StandIn,), {"asked": requests}))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    hub.fetch.cache_clear()
    yield requests
    server.shutdown()
    server.server_close()
    hub.fetch.cache_clear()


def ids(source):
    return files.read_pairs(source).study_ids


def test_a_split_is_fetched_once_and_then_taken_from_the_cache(asked, monkeypatch):
    assert ids("hub:org/reports?config=findings&split=test") == ["t1", "t2"]
    wanted = [path for path in asked if "/resolve/" in path]
    assert wanted
    assert not any(path.endswith((".png", ".py")) for path in wanted)
    asked.clear()
    hub.fetch.cache_clear()
    assert ids("hub:org/reports?config=findings&split=validation") == ["v1"]
    assert ids("hub:org/reports?config=impression") == ["i1"]
    assert asked == []
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    assert ids("hub:org/reports?files=findings/*.csv") == ["t1", "t2", "v1"]


def test_every_door_takes_a_name_on_the_hub(asked):
    results = rrgmetrics.score("rouge", "hub:org/plain@v1", progress=False)
    assert results["rouge"].scores["rouge"] == 1.0
    split = "hub:org/reports@v1?config=findings&split=test"
    compared = rrgmetrics.compare({"a": split}, metrics="rouge", trials=10, trivial=False, progress=False)
    assert compared.studies["a"].study_ids == ["t1", "t2"]


@pytest.mark.parametrize(
    ("name", "message"),
    {
        "org/reports": "has several configs; name one: .config=findings of findings, impression",
        "org/reports?config=finding": "has no config 'finding'; .* Did you mean 'findings'",
        "org/reports?config=findings": "has several splits; name one: .split=validation of validation, test",
        "org/reports?config=findings&split=tets": "has no split 'tets'; .* Did you mean 'test'",
        "org/reports?files=*.parquet": "has no .*parquet",
        "org/empty": "has no CSV, JSONL or Parquet file",
        "org/plain?split=test&files=a.csv": "files= cannot be combined with",
    }.items(),
)
def test_what_a_data_set_does_not_have_is_said(asked, name, message):
    with pytest.raises(InputError, match=message):
        files.read_pairs(f"hub:{name}")


def test_without_an_answer_it_fails_at_once(asked, monkeypatch):
    for name in ("org/nothing", "org/plain@v7"):
        with pytest.raises(BackendError, match="could not be downloaded"):
            files.read_pairs(f"hub:{name}")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    client = huggingface_hub.snapshot_download

    def of_the_cache(*arguments, **options):
        assert options["local_files_only"]  # asked for more, the client would try for minutes
        return client(*arguments, **options)

    monkeypatch.setattr("huggingface_hub.snapshot_download", of_the_cache)
    with pytest.raises(BackendError, match=r"did not answer in .* `hf download org/plain --repo-type dataset`"):
        files.read_pairs("hub:org/plain")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(BackendError, match="HF_HUB_OFFLINE is set"):
        files.read_pairs("hub:org/plain")
