"""Scoring in another process, beside the training: for judges that take longer than the training should wait.

A job is a file of pairs; `python -m rrgmetrics.callbacks.background` scores it with a fresh interpreter, which knows
nothing of the training's script, GPU memory or process group. One job runs at a time, the others wait.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics import notice
from rrgmetrics.callbacks.scoring import Scoring, flat
from rrgmetrics.names import parse_name
from rrgmetrics.reports import Context, Pair

FLAGS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")  # of torchrun
TAIL = 500  # characters of a failure's output that are quoted


class Finished(NamedTuple):
    """A job that ended: its values, and the failure in words (the values are NaN then)."""

    prefix: str
    step: int
    values: dict[str, float]
    failure: str


@dataclass
class _Job:
    prefix: str
    step: int
    metrics: list[str]
    pairs: list[Pair]
    folder: Any = field(default_factory=lambda: tempfile.TemporaryDirectory(prefix="rrgmetrics-"))
    process: subprocess.Popen[bytes] | None = None


class Background:
    """Jobs in the order in which they came.

    Args:
        batch_size: Texts a forward pass of a metric's model; None leaves it to the backend.
        device: torch device of the metrics' models; None takes CUDA where there is one.
    """

    def __init__(self, batch_size: int | None = None, device: str | None = None) -> None:
        self._settings = {"batch_size": batch_size, "device": device}
        self._jobs: deque[_Job] = deque()

    def submit(self, prefix: str, step: int, metrics: Sequence[str], pairs: Sequence[Pair]) -> None:
        """Adds a job; it begins at once if none is running."""
        notice.name_stand_ins(map(parse_name, metrics))  # here, once: the children would say it at every job
        self._jobs.append(_Job(prefix, step, list(metrics), list(pairs)))
        self._begin()

    def finished(self, wait_seconds: float = 0) -> list[Finished]:
        """The jobs that ended since the last call; waits for all, if asked, and ends what takes longer."""
        end, done = time.monotonic() + wait_seconds, []
        while self._jobs:
            process = self._begin()
            try:
                process.wait(max(end - time.monotonic(), 0) if wait_seconds else 0)
            except subprocess.TimeoutExpired:
                if not wait_seconds:
                    break
                process.kill()
                process.wait()
            done.append(_end(self._jobs.popleft()))
        if self._jobs:
            self._begin()
        return done

    def _begin(self) -> subprocess.Popen[bytes]:
        """The process of the first job; started if it is not."""
        job = self._jobs[0]
        if job.process is not None:
            return job.process
        folder = Path(job.folder.name)
        (folder / "job.json").write_text(json.dumps({**self._settings, "metrics": job.metrics, "pairs": job.pairs}))
        environment = {key: value for key, value in os.environ.items() if key not in FLAGS} | {notice.VARIABLE: "no"}
        with (folder / "output").open("wb") as output:
            command = [sys.executable, "-m", "rrgmetrics.callbacks.background", str(folder)]
            job.process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        return job.process


def _end(job: _Job) -> Finished:
    folder = Path(job.folder.name)
    values: dict[str, float] = {}
    failure = ""
    if job.process is not None and job.process.returncode == 0:
        values = json.loads((folder / "values.json").read_text())
    else:
        failure = (folder / "output").read_text(errors="replace").strip()[-TAIL:] or "it took too long and was ended"
        for metric in job.metrics:
            values |= flat(parse_name(metric), None, len(job.pairs))
    job.folder.cleanup()
    return Finished(job.prefix, job.step, values, failure)


def main(folder: str) -> None:
    """Scores the job in the folder; what the child process does."""
    job = json.loads((Path(folder) / "job.json").read_text())
    scoring = Scoring(job["metrics"], batch_size=job["batch_size"], device=job["device"], on_error="log")
    pairs = [Pair(reference, candidate, Context(*context)) for reference, candidate, context in job["pairs"]]
    (Path(folder) / "values.json").write_text(json.dumps(scoring.score(pairs).values))


if __name__ == "__main__":
    main(sys.argv[1])
