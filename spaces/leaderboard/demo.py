"""A board of invented studies: to look at, and for tests.

The reports come from the generator (`rrgmetrics.synthesis.generator`), the systems write the same studies in another
style, with more or fewer errors. `python -m rrgmetrics.spaces.leaderboard.demo FILE` makes one and serves it.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from rrgmetrics.spaces.leaderboard.creation import NewBoard, create_board
from rrgmetrics.spaces.leaderboard.model import Limits
from rrgmetrics.spaces.leaderboard.worker import work
from rrgmetrics.synthesis.generator import Study, corrupt, draw_study, render, styles

TITLE = "Invented chest radiographs"
METRICS = ("finding_errors", "rouge", "bleu")
INDICATIONS = ("Cough and fever.", "Shortness of breath.", "Line placement.", "Chest pain.", "Follow-up.")
DESCRIPTION = (
    "Every study, report and system here is invented: this board is a demonstration.\nIts systems "
    "paraphrase the references and make errors on purpose."
)


class Invented(NamedTuple):
    """A system: its name, who sent it, tags, errors a report on average."""

    name: str
    submitter: str
    tags: tuple[str, ...]
    errors: float


SYSTEMS = (
    Invented("Careful resident", "night-shift", ("7B", "fine-tuned"), 0.4),
    Invented("Second reader", "night-shift", ("7B", "retrieval"), 0.6),
    Invented("Tired resident", "night-shift", ("7B", "zero-shot"), 1.3),
    Invented("Template filler", "old-school", ("baseline",), 2.2),
    Invented("Vivid imagination", "lab-42", ("70B", "zero-shot", "API"), 3.4),
    Invented("Coin flip", "lab-42", ("baseline", "API"), 4.5),
)


def demo_board(
    path: str | Path,
    *,
    n_studies: int = 80,
    systems: Sequence[Invented] = SYSTEMS,
    metrics: Sequence[str] = METRICS,
    limits: Limits | None = None,
    trials: int = 1000,
    seed: int = 0,
) -> NewBoard:
    """Makes a board with every system scored; seconds with the default metrics.

    Args:
        path: A file that does not exist.
        n_studies: Its studies; every fourth is public.
        systems: Who takes part.
        metrics: The columns; the first ranks.
        limits: As for `create_board`.
        trials: Resamples of intervals and swaps of tests.
        seed: Of everything that is drawn.

    Returns:
        The board and its admin token.
    """
    studies = [draw_study(Random(f"study {seed} {i}")) for i in range(n_studies)]
    with tempfile.TemporaryDirectory() as folder:
        references, submission = Path(folder) / "references.csv", Path(folder) / "submission.csv"
        _write(references, ("study_id", "report", "age", "sex", "indication", "public"), _references(studies, seed))
        made = create_board(
            path,
            references=references,
            metrics=metrics,
            title=TITLE,
            description=DESCRIPTION,
            limits=limits,
            trials=trials,
        )
        for system in systems:
            _write(submission, ("study_id", "report"), _candidates(studies, system, seed))
            made.board.submit(submission, name=system.name, submitter=system.submitter, tags=system.tags)
    work(made.board, once=True)
    return made


def demo_submission(path: str | Path, *, n_studies: int = 80, errors: float = 1.0, seed: int = 0) -> None:
    """Writes a CSV that a demo board of as many studies and the same seed takes."""
    studies = [draw_study(Random(f"study {seed} {i}")) for i in range(n_studies)]
    _write(Path(path), ("study_id", "report"), _candidates(studies, Invented("newcomer", "", (), errors), seed))


def _references(studies: Sequence[Study], seed: int) -> Iterable[tuple[object, ...]]:
    for i, study in enumerate(studies):
        rng = Random(f"reference {seed} {i}")
        text = render(study, rng.choice(styles()), rng)
        yield _id(i), text, study.age, study.sex[0].upper(), rng.choice(INDICATIONS), "yes" if i % 4 == 0 else "no"


def _candidates(studies: Sequence[Study], system: Invented, seed: int) -> Iterable[tuple[object, ...]]:
    for i, study in enumerate(studies):
        rng = Random(f"{system.name} {seed} {i}")
        n = int(system.errors) + (rng.random() < system.errors % 1)
        yield _id(i), render(corrupt(study, n, rng)[0], rng.choice(styles()), rng)


def _id(i: int) -> str:
    return f"study-{i + 1:03d}"


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def main() -> None:
    """Makes a demo board at the path given, and serves it with a worker beside it."""
    from threading import Thread

    from rrgmetrics.spaces.leaderboard.app import serve

    made = demo_board(sys.argv[1])
    sys.stderr.write(f"The admin token, shown only once: {made.admin_token}\n")
    Thread(target=work, args=(made.board,), daemon=True).start()
    serve(made.board)


if __name__ == "__main__":
    main()
