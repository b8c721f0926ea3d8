"""`rrgmetrics leaderboard ...`: everything a board can do, without the web page."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_columns, add_step, column_names, split_names
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import InputError
from rrgmetrics.reporting.numbers import estimate, headed, show
from rrgmetrics.reporting.tables import Group, Table
from rrgmetrics.scoring import notice
from rrgmetrics.spaces.database import place
from rrgmetrics.spaces.leaderboard.board import Board, changed_limits, open_board
from rrgmetrics.spaces.leaderboard.creation import create_board
from rrgmetrics.spaces.leaderboard.model import BoardInfo, Limits, RefusedError, Standings
from rrgmetrics.stats import TRIALS, Estimate
from rrgmetrics.utils import subprocess_guard as child
from rrgmetrics.utils.text_format import by_number, counted, listed

BOARD_VARIABLE = "RRGMETRICS_BOARD"
RESTART_SECONDS = (1.0, 5.0, 30.0, 60.0)
GRACE_SECONDS = 10.0  # that a worker has to give its job back


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the steps of `rrgmetrics leaderboard` with their arguments."""
    steps = parser.add_subparsers(required=True, metavar="STEP")
    for name, (run, summary, add) in STEPS.items():
        step = add_step(steps, name, run, summary)
        step.add_argument("board", metavar="BOARD", help="a SQLite file, a PostgreSQL URL, or env:VARIABLE with one")
        add(step)


def _init_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--references",
        required=True,
        metavar="FILE",
        help="references: a table with study_id, report, age, sex, public, ...",
    )
    add_columns(parser, "column names of the references, such as study_id=id report=ground_truth")
    parser.add_argument(
        "--metrics",
        required=True,
        nargs="+",
        metavar="NAME",
        help="metrics of the board; the first one ranks the systems",
    )
    parser.add_argument(
        "--primary", default="", metavar="NAME", help="metric that ranks the systems (default: the first)"
    )
    parser.add_argument(
        "--title", default="Radiology report leaderboard", help="title of the page (default: %(default)s)"
    )
    parser.add_argument("--description", default="", help="text of the page, in Markdown")
    parser.add_argument("--dataset", default="", metavar="ID", help="Hub id of the benchmark, for .eval_results")
    parser.add_argument(
        "--limits", nargs="+", default=[], metavar="NAME=VALUE", help="limits for submissions; see `leaderboard limits`"
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=TRIALS,
        help="number of bootstrap resamples and permutations (default %(default)s)",
    )


def _init(options: argparse.Namespace) -> None:
    made = create_board(
        place(options.board),
        references=options.references,
        columns=column_names(options),
        metrics=split_names(options.metrics),
        title=options.title,
        primary=options.primary,
        description=options.description,
        dataset=options.dataset,
        trials=options.trials,
        limits=changed_limits(Limits(), _numbers(options.limits)),
    )
    info = made.board.info()
    print_line(f"{made.board.place}: {info.studies}, {info.n_public or 'none'} public; metrics of round 1:")
    for metric in info.metrics:
        print_line(f"  {metric.signature}{'  (ranks)' if metric.name == info.primary else ''}")
    per_day = counted(info.limits.submissions_per_day, "submission")
    per_hour = info.limits.submissions_per_hour_and_address
    print_line(f"On the page, a submitter may send {per_day} a day, and an address {per_hour} an hour; change")
    print_line(f"these limits with: rrgmetrics leaderboard limits {options.board} submissions_per_day=2")
    print_line(f"Admin token, shown only once: {made.admin_token}")


def _template_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="CSV or JSONL file to write, with every study_id and an empty report"
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def _template(options: argparse.Namespace) -> None:
    ids = _open(options).study_ids
    files.write_table(options.file, {"study_id": ids, "report": [""] * len(ids)}, force=options.force)
    print_line(f"{options.file}: {counted(len(ids), 'study', 'studies')}; write a report in each row, then submit it.")


def _submit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="submission: CSV or JSONL with study_id, report")
    add_columns(parser, "column names of FILE, such as study_id=id report=generated")
    parser.add_argument("--name", required=True, help="name of the system")
    parser.add_argument("--submitter", required=True, help="Hub user name or URL of the submitter")
    parser.add_argument("--model-card", default="", metavar="ID", help="Hub id or URL of the model card")
    parser.add_argument("--tags", nargs="+", default=[], metavar="TAG", help="short tags, used as filters")
    parser.add_argument("--check", action="store_true", help="only check the file and list what must be corrected")


def _submit(options: argparse.Namespace) -> None:
    board = _open(options)
    description: dict[str, Any] = {
        "columns": column_names(options),
        "name": options.name,
        "submitter": options.submitter,
        "model_card": options.model_card,
        "tags": options.tags,
    }
    if options.check:
        if problems := board.check(options.file, **description):
            raise RefusedError(problems)
        print_line(f"{options.file} has no errors; nothing was queued.")
        return
    receipt = board.submit(options.file, **description)
    progress = board.progress(receipt.id)
    if progress.state != "queued":
        print_line(f"{receipt.id}: {receipt.name} is already on the board. {progress.message}".strip())
        return
    if receipt.is_repeated:
        print_line(f"{receipt.id}: this is the same submission as before; nothing was queued again.")
    print_line(f"{receipt.id}: {receipt.name} is queued, {receipt.ahead} before it.")
    print_line(_queue_advice(options.board))
    print_line("The limits of `leaderboard limits` apply to the page only, not to this command.")


def _work_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="stop when the queue is empty")
    parser.add_argument("--batch-size", type=int, help="number of texts or prompts in a batch")
    parser.set_defaults(asks_again=True)


def _work(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces.leaderboard.worker import work

    signal.signal(signal.SIGTERM, _end)
    child.follow(_leave)
    board = _open(options)
    log = Terminal(stderr=True, soft_wrap=True, highlight=False, markup=False)

    def say(line: str) -> None:
        log.print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}")

    try:
        n_recorded = work(board, once=options.once, log=say, batch_size=options.batch_size)
    except KeyboardInterrupt:
        say("stopped; the current job waits for the next worker")
        return
    n_left = board.info().n_queued
    left = f"{n_left} still in the queue: with another worker, or tried again later" if n_left else "the queue is empty"
    say(f"{n_recorded} recorded, {left}")


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to serve at (default %(default)s)")
    parser.add_argument("--port", type=int, help="port to serve at (default: a free one from 7860)")
    parser.add_argument(
        "--proxies",
        type=int,
        default=0,
        help="number of proxies in front of the page that forward the visitor's address",
    )
    parser.add_argument(
        "--no-worker", dest="worker", action="store_false", help="start no worker, because `work` runs elsewhere"
    )


def serve(options: argparse.Namespace) -> None:
    """Serves the page, with a worker beside it unless `options.worker` is False."""
    from rrgmetrics.spaces.address import check_address
    from rrgmetrics.spaces.leaderboard import app

    check_address(options.host, options.port)
    signal.signal(signal.SIGTERM, _end)
    board = _open(options)
    print_line("The administrator's page is /administrator; it requires the admin token.")
    with _worker_beside(board) if options.worker else _nothing():
        app.serve(board, host=options.host, port=options.port, proxies=options.proxies)


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="output folder")
    parser.add_argument("--push", default="", metavar="ID", help="also upload it as this data set on the Hub")
    parser.add_argument("--force", action="store_true", help="overwrite existing files")


def _export(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces.leaderboard.export import export_board, push_board

    paths = export_board(_open(options), options.folder, force=options.force)
    print_line(f"{options.folder}: {len(paths)} files")
    if options.push:
        print_line(push_board(options.folder, paths, options.push))


def _backup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="file to write")


def _backup(options: argparse.Namespace) -> None:
    print_line(f"{_open(options).backup(options.file)}: a copy of {options.board}, as confidential as the board.")


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="id of a submission")
    parser.add_argument("--hidden", action="store_true", help="also show hidden systems")


def _show(options: argparse.Namespace) -> None:
    board = _open(options)
    if options.id:
        progress = board.progress(options.id)
        print_line(f"{progress.name}: {progress.state}. {progress.message}")
        return
    Terminal().print(standings_table(board.standings(hidden=options.hidden)))


def _id_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="id of the system")


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """The board is all that is needed."""


def _hide(options: argparse.Namespace) -> None:
    _open(options).hide(options.id)
    print_line(f"{options.id} is hidden.")


def _unhide(options: argparse.Namespace) -> None:
    _open(options).unhide(options.id)
    print_line(f"{options.id} is back on the board.")


def _retry_arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("id", nargs="?", default="", metavar="ID", help="id of a submission")
    which.add_argument("--all", action="store_true", help="select every failed submission")


def _retry(options: argparse.Namespace) -> None:
    if options.all:
        count = _open(options).retry_all()
        print_line(f"{counted(count, 'submission')} {by_number(count, 'is', 'are')} queued again.")
        return
    _open(options).retry(options.id)
    print_line(f"{options.id} is queued again.")


def _rescore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="rescore even if no metric has changed since the current round"
    )


def _rescore(options: argparse.Namespace) -> None:
    board = _open(options)
    if not options.yes and not board.changed_metrics():
        unchanged = f"No metric has changed since round {board.info().round}: rescoring would give the same scores."
        if not sys.stdin.isatty():
            raise InputError(f"{unchanged} Pass --yes to open a new round anyway.")
        print_line(unchanged)
        if not _is_wanted("Open a new round anyway?"):
            print_line("Nothing was changed.")
            return
    count = board.rescore()
    _say_queued(board, options.board, count)


def _say_queued(board: Board, given: str, count: int) -> None:
    """Says how many submissions a new round has, and what scores them."""
    print_line(f"Round {board.info().round}: {counted(count, 'submission')} queued.")
    print_line(_queue_advice(given))


def _queue_advice(given: str) -> str:
    """What scores the queue of a board, as it was named on the command line."""
    return f"`rrgmetrics leaderboard work {given} --once` scores the queue; `serve` does too."


def _is_wanted(question: str) -> bool:
    """Asks on the terminal; the end of the input (Ctrl-D) is a no."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        print_line("")
        return False


def _limits_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "changes", nargs="*", metavar="NAME=VALUE", help="limits to change; without any, all limits are shown"
    )


def _limits(options: argparse.Namespace) -> None:
    board = _open(options)
    queued = board.set_limits(**_numbers(options.changes)) if options.changes else 0
    for name, value in asdict(board.limits).items():
        print_line(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}")
    if queued:
        _say_queued(board, options.board, queued)


def _numbers(texts: Sequence[str]) -> dict[str, float]:
    """Reads `name=value` arguments; raises InputError."""
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(f"{text!r} is not a limit; an example is submissions_per_day=2.") from None
    return found


def _token(options: argparse.Namespace) -> None:
    print_line(f"Admin token, shown only once: {_open(options).new_admin_token()}")


Step = tuple[
    Callable[[argparse.Namespace], None],  # what it does
    str,  # in words
    Callable[[argparse.ArgumentParser], None],  # adds its arguments after BOARD
]
STEPS: Mapping[str, Step] = {
    "init": (_init, "create a board", _init_arguments),
    "template": (_template, "write a table of study ids for submitters to complete", _template_arguments),
    "submit": (_submit, "check the reports of a system and queue them", _submit_arguments),
    "work": (_work, "score the queued submissions", _work_arguments),
    "serve": (serve, "show the board in a browser, and run a worker", _serve_arguments),
    "export": (_export, "write the published files of the board", _export_arguments),
    "backup": (_backup, "make a consistent copy, even while the board is in use", _backup_arguments),
    "show": (_show, "show the table, or the state of a submission", _show_arguments),
    "hide": (_hide, "hide a system", _id_argument),
    "unhide": (_unhide, "show a hidden system again", _id_argument),
    "retry": (_retry, "queue a submission again if it failed or has studies without a score", _retry_arguments),
    "limits": (_limits, "show or change the limits for submissions, and what is withheld", _limits_arguments),
    "rescore": (_rescore, "score all submissions again with the installed metrics", _rescore_arguments),
    "token": (_token, "make a new admin token; the old one becomes invalid", _no_arguments),
}


def standings_table(standings: Standings) -> Table:
    """The table for the terminal: a line a system; the primary metric with its interval."""
    info = standings.board
    reasons: dict[str, list[str]] = {}
    for line in standings.systems:
        if line.reason:
            reasons.setdefault(line.reason, []).append(line.system.id)
    rounds = [str(round_) for round_ in sorted({line.round for line in standings.systems} - {info.round})]
    earlier = f"; scores of round {listed(rounds)}, over the studies that counted then" if rounds else ""
    lines = tuple(
        (
            "-" if line.rank is None else str(line.rank),
            line.system.id,
            line.system.name,
            *(_score(info, metric, score) for metric, score in line.scores.items()),
        )
        for line in standings.systems
    )
    return Table(
        ("rank", "id", "system", *(headed(metric.spec.headline) for metric in info.metrics)),
        (Group(lines),),
        title=f"{info.title}: {info.studies}, round {info.round}, {info.n_queued} in the queue{earlier}",
        note=" ".join((*_common(standings), *(f"Not ranked: {', '.join(ids)}. {why}" for why, ids in reasons.items()))),
        whole=frozenset({1}),
        broken=frozenset(range(2, 3 + len(info.metrics))),
    )


def _common(standings: Standings) -> list[str]:
    """On how many studies systems are compared, for each metric in which these are not all."""
    info = standings.board
    n = info.n_studies - info.n_withheld
    few = [(info.metric(name).spec.title, each) for name, each in standings.n_common.items() if each < n]
    return [
        f"{title}: systems are compared on the {each:,} of {n:,} studies that all have scored." for title, each in few
    ]


def _score(info: BoardInfo, metric: str, score: Estimate) -> str:
    """A score as the page shows it; of the primary metric with its interval."""
    key = info.metric(metric).spec.headline
    return estimate(score, key) if metric == info.primary else show(score.value, key)


def _open(options: argparse.Namespace) -> Board:
    return open_board(place(options.board))


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
