"""The files of a run: every value of every evaluation, and one page that is made anew of them each time.

`<record>_values.jsonl` has a line for each evaluation; the record of a training is named by its prefix, `eval`. The
page reads nothing but these files and the tables of reports, so that a training that goes on from a checkpoint goes on
with its page: what stands there from later steps, which are trained again, is dropped.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rrgmetrics.baselines.skill import TRIVIAL_NAMES
from rrgmetrics.callbacks.baselines import Baseline
from rrgmetrics.callbacks.scoring import Scores, headline
from rrgmetrics.files.write import write_text
from rrgmetrics.reporting.run import Curve, Evaluations, Point, Said, Sample, run_page
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.notice import token_lines
from rrgmetrics.specs.names import parse_name
from rrgmetrics.stats import Estimate

PAGE = "index.html"
NAN = float("nan")
TIMES = 5  # of which the page shows a study's reports: the first, the last, and some between

NAME = re.compile(r"(.+)_(values|\d{6,})\.jsonl")  # a record's values, or its reports at a step

Row = dict[str, Any]


def values_of(step: int, scores: Scores, trivial: Mapping[str, Baseline], pairs: Sequence[Pair]) -> Row:
    """Makes the line of an evaluation: values, the headlines' 95% intervals, scores of trivial systems, and notes."""
    scored = {headline(parse_name(text)): (text, result) for text, result in scores.results.items()}
    ends = {key: result.interval() for key, (_, result) in scored.items() if result.error is None}
    return {
        "step": step,
        "values": scores.values,
        "metrics": {key: text for key, (text, _) in scored.items()},
        "intervals": {key: [each.low, each.high, each.n] for key, each in ends.items()},
        "trivial": {key: trivial[key]._asdict() for key in scored if key in trivial},
        "notes": token_lines({"": pairs}),
    }


def add(folder: Path, record: str, row: Row) -> None:
    """Adds an evaluation's line to `<record>_values.jsonl`; what has a later step is of a run that was given up."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record}_values.jsonl"
    known = _read(path)
    for each in known:
        if each["step"] > row["step"]:
            _reports(folder, record, each["step"]).unlink(missing_ok=True)
    _write(path, [*(each for each in known if each["step"] < row["step"]), row])


def set_aside(folder: Path, keep: Collection[str]) -> Path | None:
    """Moves the records of an earlier run to `earlier-1`, `earlier-2` and so on.

    Args:
        folder: Of the run that begins.
        keep: Names of records that are no earlier run's.

    Returns:
        Where they are; None if there were none.
    """
    names = {path: NAME.fullmatch(path.name) for path in folder.glob("*.jsonl")}
    earlier = [path for path, name in names.items() if name and name[1] not in keep]
    if not earlier:
        return None
    number = 1
    while (aside := folder / f"earlier-{number}").exists():
        number += 1
    aside.mkdir()
    for path in (*earlier, folder / PAGE):
        if path.is_file():
            path.replace(aside / path.name)
    return aside


def add_late(folder: Path, record: str, step: int, values: Mapping[str, float]) -> None:
    """Adds values to the line of an earlier evaluation: those of a metric that was scored in the background."""
    path = folder / f"{record}_values.jsonl"
    rows = _read(path)
    for row in rows:
        if row["step"] == step:
            row["values"] |= values
    _write(path, rows)


def write_page(folder: Path, first: Sequence[str], name: str) -> Path:
    """Writes `index.html`, the page of the run, from the files in the folder; some records are shown first."""
    records = sorted(path.name.removesuffix("_values.jsonl") for path in folder.glob("*_values.jsonl"))
    sets = [_evaluations(folder, record) for record in dict.fromkeys((*first, *records))]
    path = folder / PAGE
    write_text(path, run_page([each for each in sets if each.curves], name=name), force=True)
    return path


def _evaluations(folder: Path, record: str) -> Evaluations:
    rows = _read(folder / f"{record}_values.jsonl")
    names = {key: text for row in rows for key, text in row["metrics"].items()}
    return Evaluations(
        record,
        tuple(_curve(key, text, rows) for key, text in names.items()),
        rows[-1]["step"] if rows else 0,
        {row["step"]: {key: _number(value) for key, value in row["values"].items()} for row in rows},
        tuple(_samples(folder, record, [row["step"] for row in rows])),
        tuple(rows[-1].get("notes", ())) if rows else (),
    )


def _curve(key: str, text: str, rows: Sequence[Row]) -> Curve:
    points = []
    for row in rows:
        if key in row["values"]:
            low, high, n = row["intervals"].get(key, (None, None, 0))
            points.append(Point(row["step"], Estimate(_number(row["values"][key]), _number(low), _number(high), n)))
    latest: Mapping[str, float | None] = next((row["trivial"][key] for row in rows[::-1] if key in row["trivial"]), {})
    known = {name: _number(latest.get(name)) for name in TRIVIAL_NAMES}
    trivial = {TRIVIAL_NAMES[name]: value for name, value in known.items() if not math.isnan(value)}
    name = parse_name(text)
    return Curve(name.titled.headline, text, tuple(points), trivial, _number(latest.get("perfect")))


def _samples(folder: Path, record: str, steps: Sequence[int]) -> list[Sample]:
    """The reports of the studies in the latest table, at some of the times."""
    tables = [(step, _read(_reports(folder, record, step))) for step in spread_out(steps, TIMES)]
    if not tables:
        return []
    samples = []
    for latest in tables[-1][1]:
        same = [
            Said(step, row["candidate"], row["scores"], tuple((e["category"], e["sentence"]) for e in row["errors"]))
            for step, rows in tables
            for row in rows
            if (row["study_id"], row["reference"]) == (latest["study_id"], latest["reference"])
        ]
        samples.append(Sample(str(latest["study_id"]), latest["reference"], tuple(same)))
    return samples


def _reports(folder: Path, record: str, step: int) -> Path:
    return folder / f"{table_name(record, step)}.jsonl"


def table_name(record: str, step: int) -> str:
    """Returns the name of the table of reports at a step."""
    return f"{record}_{step:06d}"


def spread_out(steps: Sequence[int], n: int) -> list[int]:
    """Returns at most `n` of the steps: the first, the last, and some between.

    Example:
        >>> spread_out([10, 20, 30, 40, 50, 60, 70], 3)
        [10, 40, 70]
    """
    if len(steps) <= n:
        return list(steps)
    return [steps[round(index * (len(steps) - 1) / (n - 1))] for index in range(n)]


def _read(path: Path) -> list[Row]:
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: Sequence[Row]) -> None:
    lines = (json.dumps(_without_nan(row), ensure_ascii=False) + "\n" for row in rows)
    write_text(path, "".join(lines), force=True)


def _number(value: float | None) -> float:
    return NAN if value is None else float(value)


def _without_nan(value: Any) -> Any:
    """JSON has no NaN: None stands for it."""
    if isinstance(value, Mapping):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
