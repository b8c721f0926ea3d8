"""A stand-in for the Hub on this machine: it serves models from memory, as well or as badly as a test asks."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c0ffee" * 6 + "c0ff"
LARGE = (".safetensors", ".bin", ".pth", ".tar.gz")  # what the Hub keeps apart from git, with a SHA-256


@dataclass
class Model:
    """A repository: its files, and what goes wrong with it.

    Attributes:
        files: Content by name.
        licence: On its card.
        gated: Whether nobody may load it.
        claims: Sizes that are announced instead of the right ones.
        served: Content that is sent instead of the announced one.
        cut: Bytes of a file after which the connection breaks.
        times: How often it breaks.
    """

    files: Mapping[str, bytes]
    licence: str = "mit"
    gated: bool = False
    claims: Mapping[str, int] = field(default_factory=dict)
    served: Mapping[str, bytes] = field(default_factory=dict)
    cut: Mapping[str, int] = field(default_factory=dict)
    times: int = 1000


class Hub(ThreadingHTTPServer):
    """The server; `with Hub({"org/model": Model(...)}) as hub:` gives its address as `hub.endpoint`.

    Attributes:
        asked: Requests, by method and path.
        sent: Bytes of each file, `repository/file`.
    """

    daemon_threads = True

    def __init__(self, models: Mapping[str, Model]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.models, self.asked, self.sent = models, list[str](), Counter[str]()
        self.endpoint = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Hub:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()
        self.server_close()


class Answer(BaseHTTPRequestHandler):
    """What the Hub's client asks of the Hub for models."""

    server: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        if self.path == "/":
            return self.answer(b"")
        api = re.fullmatch(r"/api/models/([\w./-]+?)(?:/revision/(\w+))?(?:\?.*)?", self.path)
        tree = re.fullmatch(r"/api/models/([\w./-]+?)/tree/(\w+)(?:\?.*)?", self.path)
        file = re.fullmatch(r"/([\w./-]+?)/resolve/(\w+)/(.+)", self.path)
        found = tree or api or file
        model = self.server.models.get(found[1]) if found else None
        if found is None or model is None:
            return self.answer(b"{}", 404, {"X-Error-Code": "RepoNotFound"})
        if found[2] not in (None, "main", COMMIT):
            return self.answer(b"{}", 404, {"X-Error-Code": "RevisionNotFound"})
        if file:
            return self.answer(b"{}", 403, {"X-Error-Code": "GatedRepo"}) if model.gated else self.send(model, file[3])
        return self.answer(self.tree(model) if tree else self.listing(found[1], model))

    def tree(self, model: Model) -> bytes:
        rows = [
            {"type": "file", "path": file, "size": len(content), "oid": git_id(content)}
            for file, content in model.files.items()
        ]
        return json.dumps(rows).encode()

    def listing(self, name: str, model: Model) -> bytes:
        siblings = []
        for file, content in model.files.items():
            size = model.claims.get(file, len(content))
            row = {"rfilename": file, "size": size, "blobId": git_id(content)}
            if file.endswith(LARGE):
                row["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": size, "pointerSize": 130}
            siblings.append(row)
        card = {"license": model.licence} if model.licence else {}
        return json.dumps({"id": name, "sha": COMMIT, "siblings": siblings, "cardData": card}).encode()

    def send(self, model: Model, name: str) -> None:
        content, start = model.served.get(name, model.files[name]), 0
        if span := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            start = int(span[1])
        etag = hashlib.sha256(content).hexdigest() if name.endswith(LARGE) else git_id(content)
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        cut = model.cut.get(name) if self.command == "GET" and model.times else None
        model.times -= cut is not None
        if self.command == "GET":
            repository = next(key for key, known in self.server.models.items() if known is model)
            self.server.sent[f"{repository}/{name}"] += len(content[start:])
        self.answer(content[start:], 206 if start else 200, headers, cut)

    def answer(
        self, content: bytes, status: int = 200, headers: Mapping[str, str] | None = None, cut: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[:cut])
            self.close_connection |= cut is not None

    def log_message(self, *arguments: object) -> None:
        pass


def git_id(content: bytes) -> str:
    """The id under which git holds a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
