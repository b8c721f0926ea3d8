"""RaTE-Eval: sentences and paragraphs of nine modalities that radiologists judged (Zhao et al. 2024, on the Hub).

The user brings `Angelakeke/RaTE-Eval`: the folders Task1_sentence_rate, Task2_paragraph_rate and Task3_synthetic_rate.
Of a task's folder rate_test.csv is read; rate_train.csv only where it is named.

Task 1 counts the errors of a sentence over the potential errors: the target is the share `errors / potential errors`
(fewer is better) and, as `total_errors`, the raw count; the six kinds too where columns are named by them, by A to F
or by 1 to 6. Task 2 rates paragraphs from 1 to 5. Which task a file holds follows from its columns. The columns of the
Hub's files are not verified: the names that we know are listed here, and others are named with `--columns`, `--counts`
and `--ratings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import TABLES, column_names
from rrgmetrics.metaeval.loaders.table import load_table
from rrgmetrics.metaeval.rated import KINDS, RATING, TOTAL, Rated

KNOWN: Mapping[str, tuple[str, ...]] = {
    "reference": ("reference", "gt", "ground_truth", "gt_report", "reference_report"),
    "candidate": ("candidate", "pred", "prediction", "pred_report", "candidate_report"),
    "study_id": ("study_id", "case_id", "id"),
    "source": ("source", "modality"),
    "section": ("section", "anatomy"),
}
ERRORS = ("errors", "error", "num_errors", "error_count", TOTAL)
POTENTIAL = ("potential_errors", "potential_error", "num_potential_errors", "potential_error_count", "total")
RATINGS = (RATING, "score", "human_score", "human_rating", "rating_score")
BY_KIND = (KINDS, tuple("ABCDEF"), tuple("123456"))  # columns of the six kinds, in the order of `KINDS`
SHARE, POSSIBLE = "error_share", "potential"
TEST = "rate_test.csv"
WHAT = "RaTE-Eval's folder of a task, such as Task1_sentence_rate, or one file"


def load_rate_eval(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    counts: Sequence[str] = (),
    ratings: Sequence[str] = (),
) -> Rated:
    """Reads a file of RaTE-Eval.

    Args:
        path: CSV, JSONL or Parquet; or a task's folder, or a folder that holds one task or one such file.
        columns: As `load_table`; over the names that we know. `source` is the modality.
        counts: As `load_table`, where our names do not fit.
        ratings: The same.

    Raises:
        InputError: No file, several tasks or files to choose from, or columns that cannot be told; names them.
    """
    file = _file(Path(path).expanduser())
    there = column_names(file)
    placed = {field: name for field, names in KNOWN.items() if (name := _first(names, there))} | dict(columns or {})
    errors, potential, rating = (_first(names, there) for names in (ERRORS, POTENTIAL, RATINGS))
    if counts or ratings:
        return load_table(file, columns=placed, counts=counts, ratings=ratings, name="rate_eval")
    kinds = next((names for names in BY_KIND if set(names) <= set(there)), ())
    if errors or kinds:
        wanted = [f"{kind}={column}" for kind, column in zip(KINDS, kinds, strict=False)]
        wanted += [f"{TOTAL}={errors}"] if errors else []
        wanted += [f"{POSSIBLE}={potential}"] if potential else []
        return _with_total(load_table(file, columns=placed, counts=wanted, name="rate_eval"))
    if rating:
        return load_table(file, columns=placed, ratings=[f"{RATING}={rating}"], name="rate_eval")
    raise InputError(
        f"{file} has the columns {', '.join(there)}; none is known as a count of errors or a rating: name it with "
        "--counts total_errors=COLUMN or --ratings rating=COLUMN."
    )


def _file(path: Path) -> Path:
    """The file to read; nothing is chosen where there are several."""
    if path.is_file():
        return path
    if not path.exists():
        raise InputError(f"{path} does not exist; give {WHAT}.")
    tests = [path / TEST] if (path / TEST).is_file() else sorted(path.glob(f"Task*/{TEST}"))
    if len(tests) > 1:
        tasks = ", ".join(str(file.parent) for file in tests)
        raise InputError(f"{path} has {len(tests)} tasks; give the folder of one: {tasks}.")
    others = sorted(file for file in path.iterdir() if file.suffix.lower() in TABLES)
    if tests or len(others) == 1:
        return (tests or others)[0]
    names = f"{len(others)} other tables: {', '.join(file.name for file in others)}" if others else "no other table"
    raise InputError(f"{path} has no {TEST} and {names}; name one, or give {WHAT}.")


def _with_total(data: Rated) -> Rated:
    """The total, which is that of the kinds where no column has it, and errors over potential errors beside it.

    The share is NaN where no error was possible.
    """
    values = dict(data.values)
    potential = values.pop(POSSIBLE, None)
    total = values.pop(TOTAL) if TOTAL in values else np.sum([values[kind] for kind in KINDS], axis=0)
    shares = {}
    if potential is not None:
        shares[SHARE] = np.divide(total, potential, out=np.full_like(potential, np.nan), where=potential > 0)
    return replace(data, values={TOTAL: total, **shares, **values})


def _first(names: Sequence[str], there: Sequence[str]) -> str:
    return next((name for name in names if name in there), "")
