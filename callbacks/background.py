"""Scores in another process, beside the training, for judges that take longer than the training should wait.

`python -m rrgmetrics.callbacks.background` scores a job with a fresh interpreter, which knows nothing of the training's
script, GPU memory or process group. One job runs at a time, the others wait. The pairs go through a pipe and the values
come back in a file without a name: however the training ends, its scorer ends too and no report is left on the disk.
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
from typing import IO, NamedTuple

from rrgmetrics.callbacks.scoring import Scoring, flat
from rrgmetrics.reading.lexicon import environment_of_children
from rrgmetrics.reports import Context, Pair
from rrgmetrics.reports.missing import Missing
from rrgmetrics.scoring import notice
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils import subprocess_guard as child

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
    values: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    output: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    process: subprocess.Popen[bytes] | None = None


class Background:
    """A queue of jobs, which run one after the other in a process of their own.

    Args:
        batch_size: Texts per forward pass of a metric's model; None leaves it to the backend.
        device: torch device of the metrics' models; None takes CUDA where there is one.
        missing: What becomes of studies whose reference is missing.
    """

    def __init__(self, batch_size: int | None = None, device: str | None = None, missing: Missing = "unscored") -> None:
        self._settings = {"batch_size": batch_size, "device": device, "missing": missing}
        self._jobs: deque[_Job] = deque()

    def submit(self, prefix: str, step: int, metrics: Sequence[str], pairs: Sequence[Pair]) -> None:
        """Adds a job; it begins at once if none is running."""
        notice.name_stand_ins(map(parse_name, metrics))  # here, once: the children would say it at every job
        self._jobs.append(_Job(prefix, step, list(metrics), list(pairs)))
        self._begin()

    def finished(self, wait_seconds: float = 0) -> list[Finished]:
        """Returns the jobs that ended since the last call; waits for all, if asked, and ends what takes longer."""
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
        line = json.dumps({**self._settings, "metrics": job.metrics, "pairs": job.pairs}).encode() + b"\n"
        environment = {key: value for key, value in os.environ.items() if key not in FLAGS}
        environment |= {notice.VARIABLE: "no", **environment_of_children()}
        command = [sys.executable, "-m", "rrgmetrics.callbacks.background"]
        job.process = child.start(command, line, env=environment, stdout=job.values, stderr=job.output)
        return job.process


def _end(job: _Job) -> Finished:
    values: dict[str, float] = {}
    failure = ""
    with job.values, job.output:
        if job.process is not None and job.process.returncode == 0:
            values = json.loads(_written(job.values))
        else:
            failure = _written(job.output).strip()[-TAIL:] or "it took too long and was stopped"
            for metric in job.metrics:
                values |= flat(parse_name(metric), None, len(job.pairs))
    return Finished(job.prefix, job.step, values, failure)


def _written(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def main() -> None:
    """Scores the job on standard input and writes the values to standard output; the child process runs this."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):  # the training ended in the middle of it
        return
    child.follow()
    values = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is not among the values
    job = json.loads(line)
    settings = {name: job[name] for name in ("batch_size", "device", "missing")}
    scoring = Scoring(job["metrics"], on_error="log", **settings)
    pairs = [Pair(reference, candidate, Context(*context)) for reference, candidate, context in job["pairs"]]
    with values:
        json.dump(scoring.score(pairs).values, values)


if __name__ == "__main__":
    main()
