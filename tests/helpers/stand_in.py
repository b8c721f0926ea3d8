"""A stand-in for a judge on a server: speaks chat completions, compares sentences, and replies in the form of GREEN."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from green_replies import green_reply


def answer(prompt: str) -> str:
    """A reply to GREEN's question; a sentence is matched where the other report has half of its words."""
    reports = re.findall(r"\d\. (?:Reference|Candidate) Report:\n(.*?)\n\n", prompt, re.DOTALL)
    theirs, ours = map(sentences, reports)
    matched = [each for each in ours if any(alike(each, other) for other in theirs)]
    missing = [each for each in theirs if not any(alike(each, other) for other in ours)]
    named = [
        f"{len(part)}. {'; '.join(map(' '.join, part))}".strip() for part in (_without(ours, matched), missing, matched)
    ]
    return green_reply(
        {"a": named[0], "b": named[1]},
        matched=f"{named[2]}.",
        explanation="The sentences of both reports were compared.",
    )


def sentences(report: str) -> list[list[str]]:
    """The sentences of a report, as words."""
    return [words for each in re.split(r"[.\n]", report) if (words := re.findall(r"[a-z]{3,}", each.lower()))]


def alike(one: list[str], other: list[str]) -> bool:
    """Whether half of the words of the shorter sentence stand in the longer one."""
    return 2 * len(set(one) & set(other)) >= min(len(set(one)), len(set(other)))


def _without(all_of: list[list[str]], some: list[list[str]]) -> list[list[str]]:
    return [each for each in all_of if each not in some]


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answers a question."""
        asked: str = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][-1]["content"]
        reply = answer(asked)
        usage = {"prompt_tokens": len(asked) // 4, "completion_tokens": len(reply) // 4}
        message = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        data = json.dumps({"choices": [message], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


@contextmanager
def stand_in() -> Iterator[str]:
    """Serves on loopback; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Request)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
