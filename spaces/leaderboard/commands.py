"""`rrgmetrics leaderboard ...`: everything a board can do, without the web page. `rrgmetrics.cli` has the arguments."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from rrgmetrics import child, notice
from rrgmetrics.errors import InputError
from rrgmetrics.present.numbers import estimate, headed, show
from rrgmetrics.present.tables import Group, Table
from rrgmetrics.spaces.leaderboard.board import Board, open_board
from rrgmetrics.spaces.leaderboard.creation import create_board
from rrgmetrics.spaces.leaderboard.model import BoardInfo, RefusedError, Standings
from rrgmetrics.stats import Estimate

BOARD_VARIABLE = "RRGMETRICS_BOARD"
RESTART_SECONDS = (1.0, 5.0, 30.0, 60.0)
GRACE_SECONDS = 10.0  # that a worker has to give its job back


def run(options: argparse.Namespace) -> None:
    """Runs the step that was asked for."""
    STEPS[options.step](options)


def _init(options: argparse.Namespace) -> None:
    made = create_board(
        place(options.board),
        references=options.references,
        metrics=[name for text in options.metrics for name in text.split(",") if name],
        title=options.title,
        primary=options.primary,
        description=options.description,
        dataset=options.dataset,
        trials=options.trials,
    )
    info = made.board.info()
    _say(f"{made.board.place}: {info.n_studies:,} studies, {info.n_public:,} of them public; round 1 scores with")
    for metric in info.metrics:
        _say(f"  {metric.signature}{'  (ranks)' if metric.name == info.primary else ''}")
    _say(f"Admin token, shown this once: {made.admin_token}")


def _submit(options: argparse.Namespace) -> None:
    board = _open(options)
    description = {
        "name": options.name,
        "submitter": options.submitter,
        "model_card": options.model_card,
        "tags": options.tags,
    }
    if options.check:
        if problems := board.check(options.file, **description):
            raise RefusedError(problems)
        _say(f"{options.file} is fine; nothing was queued.")
        return
    receipt = board.submit(options.file, **description)
    _say(f"{receipt.id}: {receipt.name} is queued, {receipt.ahead} before it.")


def _work(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces.leaderboard.worker import work

    signal.signal(signal.SIGTERM, _end)
    child.follow(_leave)
    board = _open(options)
    log = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)

    def say(line: str) -> None:
        log.print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}")

    try:
        n_recorded = work(board, once=options.once, log=say, batch_size=options.batch_size)
    except KeyboardInterrupt:
        say("stopped; the job at hand waits for the next worker")
        return
    say(f"{n_recorded} recorded, nothing waits")


def _serve(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces.leaderboard.app import serve
    from rrgmetrics.spaces.serving import check_address

    check_address(options.host, options.port)
    signal.signal(signal.SIGTERM, _end)
    board = _open(options)
    with _worker_beside(board) if options.worker else _nothing():
        serve(board, host=options.host, port=options.port, proxies=options.proxies)


def _export(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces.leaderboard.export import export_board, push_board

    paths = export_board(_open(options), options.folder, force=options.force)
    _say(f"{options.folder}: {len(paths)} files")
    if options.push:
        _say(push_board(options.folder, paths, options.push))


def _backup(options: argparse.Namespace) -> None:
    _say(f"{_open(options).backup(options.file)}: a copy of {options.board}; keep it as secret as the board.")


def _show(options: argparse.Namespace) -> None:
    board = _open(options)
    if options.id:
        progress = board.progress(options.id)
        _say(f"{progress.name}: {progress.state}. {progress.message}")
        return
    Console().print(standings_table(board.standings(hidden=options.hidden)))


def _hide(options: argparse.Namespace) -> None:
    _open(options).hide(options.id)
    _say(f"{options.id} is hidden.")


def _unhide(options: argparse.Namespace) -> None:
    _open(options).unhide(options.id)
    _say(f"{options.id} is back on the board.")


def _retry(options: argparse.Namespace) -> None:
    _open(options).retry(options.id)
    _say(f"{options.id} is queued again.")


def _rescore(options: argparse.Namespace) -> None:
    board = _open(options)
    count = board.rescore()
    _say(f"Round {board.info().round}: {count} submissions queued.")


def _token(options: argparse.Namespace) -> None:
    _say(f"Admin token, shown this once: {_open(options).new_admin_token()}")


STEPS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "init": _init,
    "submit": _submit,
    "work": _work,
    "serve": _serve,
    "export": _export,
    "backup": _backup,
    "show": _show,
    "hide": _hide,
    "unhide": _unhide,
    "retry": _retry,
    "rescore": _rescore,
    "token": _token,
}


def standings_table(standings: Standings) -> Table:
    """The table for the terminal: a line a system; the primary metric with its interval."""
    info = standings.board
    lines = tuple(
        (
            "-" if line.rank is None else str(line.rank),
            line.system.id,
            line.system.name + (f"\n{line.reason}" if line.reason else ""),
            *(_score(info, metric, score) for metric, score in line.scores.items()),
        )
        for line in standings.systems
    )
    return Table(
        ("rank", "id", "system", *(headed(metric.spec.headline) for metric in info.metrics)),
        (Group(lines),),
        title=f"{info.title}: {info.n_studies:,} studies, round {info.round}, {info.n_queued} in the queue",
        whole=frozenset({1}),
        broken=frozenset(range(2, 3 + len(info.metrics))),
    )


def _score(info: BoardInfo, metric: str, score: Estimate) -> str:
    """A score as the page shows it; of the primary metric with its interval."""
    key = info.metric(metric).spec.headline
    return estimate(score, key) if metric == info.primary else show(score.value, key)


def place(text: str) -> str:
    """Where the board is; `env:NAME` takes it from the environment, where a URL's password is nobody else's to see."""
    if not text.startswith("env:"):
        return text
    address = os.environ.get(text.removeprefix("env:"), "")
    if not address:
        raise InputError(f"The environment variable {text.removeprefix('env:')!r} is not set.")
    return address


def _open(options: argparse.Namespace) -> Board:
    return open_board(place(options.board))


def _say(line: str) -> None:
    Console(soft_wrap=True, highlight=False, markup=False).print(line)


def _end(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _leave() -> None:
    """The page is gone: the worker gives its job back, as if it were told to stop; if that takes long, it just ends."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _worker_beside(board: Board) -> Iterator[None]:
    """A worker in a process of its own, started again whenever it ends, until we end, in whatever way."""
    url = board.store.url.render_as_string(hide_password=False)
    ended = threading.Event()
    running: list[subprocess.Popen[bytes]] = []

    def keep() -> None:
        for waits in (RESTART_SECONDS[min(i, len(RESTART_SECONDS) - 1)] for i in range(sys.maxsize)):
            command = [sys.executable, "-m", "rrgmetrics", "leaderboard", "work", f"env:{BOARD_VARIABLE}"]
            running[:] = [child.start(command, env=os.environ | {BOARD_VARIABLE: url, notice.VARIABLE: "no"})]
            running[0].wait()
            if ended.wait(waits):
                return

    threading.Thread(target=keep, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        for process in running:
            process.terminate()
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
