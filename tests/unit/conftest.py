"""A server on loopback that answers as told, for the engine `openai`."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest


class Server(ThreadingHTTPServer):
    """Speaks chat completions. `behave(request, tries)` sends the answer through the request's methods.

    Attributes:
        behave: What to do with a request, given how often its prompt was asked before.
        asked: How often each prompt was asked.
        answered: Prompts whose answer was sent whole, in that order.
        bodies: Every request's JSON.
        times: When each request came.
        headers: Of the last request.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.lock = threading.Lock()
        self.reset(lambda request, tries: request.say(f"reply to {request.prompt}"))
        self.closing = threading.Event()

    def reset(self, behave: Callable[[Request, int], None]) -> None:
        self.behave = behave
        self.asked, self.answered = Counter(), []
        self.bodies, self.times, self.headers = [], [], {}

    def handle_error(self, request, client_address):
        """Clients that leave are part of the test."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Request(BaseHTTPRequestHandler):
    """One request with the ways to answer it."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self):
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        content = self.body["messages"][-1]["content"]
        self.prompt = content if isinstance(content, str) else json.dumps(content)  # parts, where there is a picture
        with self.server.lock:
            tries = self.server.asked[self.prompt]
            self.server.asked[self.prompt] += 1
            self.server.bodies.append(self.body)
            self.server.times.append(time.monotonic())
            self.server.headers = dict(self.headers)
        self.server.behave(self, tries)

    def say(self, text, **message):
        self.send(200, {"choices": [{"message": {"content": text, **message}}], "usage": {"completion_tokens": 1000}})
        with self.server.lock:
            self.server.answered.append(self.prompt)

    def send(self, status, body, *, missing: int = 0, **headers):
        """`missing`: bytes promised and not sent."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for key, value in {"content-type": "application/json", **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("content-length", str(len(data) + missing))
        self.end_headers()
        self.wfile.write(data)
        if missing:
            self.close_connection = True

    def hang(self):
        """Until the test is over."""
        self.server.closing.wait(20)
        self.close_connection = True

    def log_message(self, *arguments):
        """Nothing."""


@pytest.fixture
def loopback():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def home(tmp_path, monkeypatch, no_pins):
    """Empty caches, and a client that may ask."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    no_pause = SimpleNamespace(time=time.time, sleep=lambda seconds: None)
    monkeypatch.setattr("huggingface_hub.file_download.time", no_pause)
    return tmp_path
