"""Time that our client of OpenAI-compatible servers adds to the server's own.

    python benchmarks/judges.py

A stub server, in a process of its own, takes 200 ms a reply and answers everybody at once. A thousand pairs, 16 at a
time, take it 12.6 s; what the run takes longer is ours. A second run finds every reply in the cache.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import tempfile
import time
from multiprocessing.connection import Connection

import rrgmetrics
from rrgmetrics.utils.machine import processor

REPLY = """The candidate reports everything.
[Clinically Significant Errors]:
(a) False report of a finding in the candidate: 0.
(b) Missing a finding present in the reference: 1. The size of the effusion
(c) Misidentification of a finding's anatomic location/position: 0.
(d) Misassessment of the severity of a finding: 0.
(e) Mentioning a comparison that isn't in the reference: 0.
(f) Omitting a comparison detailing a change from a prior study: 0.

[Clinically Insignificant Errors]:
(a) False report of a finding in the candidate: 0.
(b) Missing a finding present in the reference: 0.
(c) Misidentification of a finding's anatomic location/position: 0.
(d) Misassessment of the severity of a finding: 0.
(e) Mentioning a comparison that isn't in the reference: 0.
(f) Omitting a comparison detailing a change from a prior study: 0.

[Matched Findings]:
1. A left pleural effusion"""


def serve(seconds: float, connection: Connection) -> None:
    """Answers each request after `seconds`; sends its port and, when it hears something, the number of requests."""
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            asked += 1
            await asyncio.sleep(seconds)
            message = {"role": "assistant", "content": REPLY}
            body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
            head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            writer.write(head + body)
            await writer.drain()

    async def run() -> None:
        async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await answer(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()

        server = await asyncio.start_server(guarded, "127.0.0.1", 0, backlog=512)
        connection.send(server.sockets[0].getsockname()[1])
        while not connection.poll():
            await asyncio.sleep(0.05)
        connection.send(asked)

    asyncio.run(run())


def reports(n: int) -> tuple[list[str], list[str]]:
    """Invented pairs, all different."""
    references = [f"Left pleural effusion measuring {i} mm. No pneumothorax. Heart size is normal." for i in range(n)]
    candidates = [f"Pleural effusion on the left of {i} mm. The heart is not enlarged." for i in range(n)]
    return references, candidates


def measure(n: int, concurrency: int, seconds: float, folder: str) -> None:
    """Prints the time of a run, its share of the server's, and that of the same run from the cache."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(seconds, theirs), daemon=True)
    server.start()
    name = f"green@openai:stub?base_url=http://127.0.0.1:{ours.recv()}/v1&concurrency={concurrency}&cache={folder}"
    references, candidates = reports(n)
    least = n * seconds / concurrency
    metrics = rrgmetrics.prepare(name)
    for what in ("asked", "cached"):
        cpu = resource.getrusage(resource.RUSAGE_SELF)
        start = time.perf_counter()
        result = metrics.score(predictions=candidates, references=references, progress=False)[name]
        took = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_SELF)
        busy = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
        print(
            f"{what:<7} {n:>6} pairs {concurrency:>4} at a time {took:>7.2f} s {took / least:>5.2f} x {least:.2f} s "
            f"{1000 * busy / n:>6.2f} ms of our CPU a pair, {result.n_unscored} unscored",
            flush=True,
        )
    ours.send("stop")
    print(f"requests {ours.recv()}")
    server.join()


def main() -> None:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.2, help="that the server takes for a reply")
    options = parser.parse_args()
    print(processor(), flush=True)
    print(f"{os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        measure(options.pairs, options.concurrency, options.seconds, folder)


if __name__ == "__main__":
    main()
