"""A metric's Space under load: `python benchmarks/spaces.py crepe --users 50`.

Starts the page as its users start it and measures, over HTTP as a browser speaks it: the time from process start to
the first answer, the first pair after that, many users who each send one pair after the other without a pause, and
single pairs while a file of 10,000 is being scored. Every answer is checked to be that of the texts that were sent.
Beside the clock stands the server's own processor time, which a busy machine does not change.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

import rrgmetrics
from rrgmetrics.utils.machine import processor

PLACES = ("right", "left", "right upper", "left lower", "bilateral")
FINDINGS = ("pleural effusion", "consolidation", "atelectasis", "opacity", "nodule")


def main() -> None:
    """Prints one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("metric", nargs="?", default="crepe")
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=6, help="pairs a user sends")
    parser.add_argument("--rows", type=int, default=10_000, help="of the file; 0: no file")
    options = parser.parse_args()
    print(processor(), flush=True)
    address, process, start = serve(options.metric)
    try:
        asyncio.run(measure(Space(address, process.pid), options, start))
    finally:
        process.terminate()
        process.wait(20)


def serve(metric: str) -> tuple[str, subprocess.Popen[bytes], float]:
    """Starts the page in a process of its own; address, process and when it was started."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"}
    script = rrgmetrics.module_path(metric) / "app.py"
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.DEVNULL)
    return f"http://127.0.0.1:{port}", process, start


class Space:
    """What a browser says to a page: which event, which texts; and what it gets back."""

    def __init__(self, address: str, server: int) -> None:
        self.address, self.server = address, server
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self.client = httpx.AsyncClient(base_url=f"{address}/gradio_api", timeout=120, limits=limits)
        self.events: dict[str, int] = {}

    def cpu(self) -> float:
        """Processor seconds that the server has taken so far."""
        fields = Path(f"/proc/{self.server}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def wait(self) -> None:
        """Until the page answers; then learns its events."""
        while True:
            try:
                await self.client.get(f"{self.address}/")
                break
            except httpx.TransportError:
                await asyncio.sleep(0.02)
        config = (await self.client.get(f"{self.address}/config")).json()
        labels = {part["id"]: part["props"].get("value") for part in config["components"]}
        for event in config["dependencies"]:
            for component, _ in event["targets"]:
                self.events.setdefault(str(labels.get(component)), event["id"])

    async def press(self, button: str, data: list[object], session: str) -> list[object]:
        """Presses a button that answers at once."""
        body = {"data": data, "fn_index": self.events[button], "session_hash": session}
        answer = await self.client.post("/run/predict", json=body)
        answer.raise_for_status()
        return list(answer.json()["data"])


def pair_of(user: int, turn: int) -> tuple[str, str]:
    """A pair that nobody else sends."""
    which = user * 31 + turn
    finding, place = FINDINGS[which % 5], PLACES[which // 5 % 5]
    reference = f"{place.capitalize()} {finding} of {which} mm. Mild cardiomegaly. No pneumothorax."
    return reference, f"{PLACES[(which + user) % 5].capitalize()} {finding}. Heart size is normal. Case {which}."


async def one_pair(space: Space, user: int, turn: int, expected: dict[tuple[int, int], str] | None) -> float:
    """Seconds that a pair took; AssertionError for another user's answer."""
    pair = pair_of(user, turn)
    start = time.perf_counter()
    html = str((await space.press("Score", [*pair, "", "", ""], f"user-{user}"))[0])
    seconds = time.perf_counter() - start
    assert f"Case {user * 31 + turn}" in re.sub(r"<[^>]*>", "", html), html
    if expected is not None:
        assert f"<b>{expected[user, turn]}</b>" in html, (expected[user, turn], html[:300])
    return seconds


def scores_of(metric: str, users: int, rounds: int) -> dict[tuple[int, int], str]:
    """What each user must be told, scored here."""
    from rrgmetrics.reporting.numbers import show

    places = [(user, turn) for user in range(users) for turn in range(rounds)]
    references, candidates = zip(*(pair_of(*place) for place in places), strict=True)
    result = rrgmetrics.score(metric, predictions=candidates, references=references, progress=False)[metric]
    return {
        place: show(float(value), result.spec.headline)
        for place, value in zip(places, result.per_pair[metric], strict=True)
    }


async def measure(space: Space, options: argparse.Namespace, start: float) -> None:
    """All measurements, one after the other."""
    await space.wait()
    print(f"process start to first answer: {time.perf_counter() - start:.2f} s ({space.cpu():.2f} s of processor)")
    print(f"first pair after that: {1000 * await one_pair(space, 0, 0, None):.0f} ms")
    print(f"so far {space.cpu():.2f} s of processor, the model's loading included")
    before = space.cpu()
    alone = [await one_pair(space, 0, turn, None) for turn in range(20)]
    print(
        f"pair, one user: median {1000 * np.median(alone):.0f} ms, p95 {1000 * np.percentile(alone, 95):.0f} ms "
        f"({1000 * (space.cpu() - before) / 20:.0f} ms of processor)"
    )
    expected = None
    if not rrgmetrics.SPECS[options.metric].corpus_statistics:
        expected = scores_of(options.metric, options.users, options.rounds)

    async def user(number: int) -> list[float]:
        return [await one_pair(space, number, turn, expected) for turn in range(options.rounds)]

    begin, before = time.perf_counter(), space.cpu()
    times = np.concatenate(await asyncio.gather(*map(user, range(options.users))))
    total, used = time.perf_counter() - begin, space.cpu() - before
    print(
        f"{options.users} users at once, {len(times)} pairs: median {np.median(times):.2f} s, "
        f"p95 {np.percentile(times, 95):.2f} s, max {times.max():.2f} s, {len(times) / total:.0f} pairs a second "
        f"({1000 * used / len(times):.0f} ms of processor a pair, {used / total:.2f} processors had)"
    )
    if options.rows:
        await beside_a_file(space, options.rows)
    await space.client.aclose()


async def beside_a_file(space: Space, rows: int) -> None:
    """Single pairs while a file is scored."""
    from gradio_client import Client, handle_file

    lines = (json.dumps(dict(zip(("reference", "candidate"), pair_of(row, 7), strict=True))) for row in range(rows))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        path.write_text("\n".join(lines))
        client = Client(space.address, verbose=False)
        begin = time.perf_counter()
        job = client.submit(handle_file(path), api_name="/score_file")
        times = []
        while not job.done():
            times.append(await one_pair(space, 1, len(times), None))
            await asyncio.sleep(0.2)
        total = time.perf_counter() - begin
        assert f"{rows:,} pairs" in str(job.result()[0])
    print(
        f"a file of {rows:,} pairs: {total:.0f} s, {len(job.outputs())} reports of progress; "
        f"{len(times)} single pairs beside it: median {np.median(times):.2f} s, p95 {np.percentile(times, 95):.2f} s"
    )


if __name__ == "__main__":
    main()
