"""The files of a run: every value of every evaluation, and one page that each evaluation writes again.

`<record>_values.jsonl` has a line for each evaluation; the record of a training is named by its prefix, `eval`. The
page reads only these files and the tables of reports. So a training that resumes from a checkpoint continues its page;
values of later steps, which are trained again, are dropped.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rrgmetrics.baselines.skill import TRIVIAL_NAMES
from rrgmetrics.callbacks.baselines import Baseline
from rrgmetrics.callbacks.scoring import Scores, headline
from rrgmetrics.files.write import write_text
from rrgmetrics.reporting.run import Curve, Evaluations, Point, Said, Sample, run_page
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.notice import token_lines
from rrgmetrics.specs.names import parse_name
from rrgmetrics.stats import Estimate
from rrgmetrics.utils.text_format import listed

PAGE = "index.html"
NAN = float("nan")
TIMES = 5  # of which the page shows a study's reports: the first, the last, and some between

FORBIDDEN = re.compile(r'[%/\\:*?"<>|\x00-\x1f]')  # in file names, on some system; and the sign that replaces them
NAME = re.compile(r"(.+)_(values|\d{6,})\.jsonl")  # a record's values, or its reports at a step

Row = dict[str, Any]


def digest_of(pairs: Iterable[Pair]) -> str:
    """Returns what a set is recognised by: a digest of its references, in their order."""
    return hashlib.sha256("\0".join(pair.reference for pair in pairs).encode()).hexdigest()[:16]


def record_of(folder: Path, record: str, digest: str) -> str:
    """Returns the name of a record for a set: with a number if the record of that name is another set's.

    Args:
        folder: Of the run.
        record: The name.
        digest: Of the set.
    """
    name, number = record, 1
    while (rows := _read(_values(folder, name))) and rows[-1].get("set", digest) != digest:
        number += 1
        name = f"{record}_{number}"
    return name


def changes(folder: Path, record: str, digest: str, metrics: Collection[str]) -> str:
    """Describes what is not as it was when an earlier process wrote to a record; "" if nothing is.

    Args:
        folder: Of the run.
        record: Its name.
        digest: Of the set.
        metrics: Names of the metrics that are scored here, not in the background.
    """
    rows = _read(_values(folder, record))
    if not rows:
        return ""
    stored = dict.fromkeys(name for row in rows for name in row.get("metrics", {}).values())
    added, dropped = [name for name in metrics if name not in stored], [name for name in stored if name not in metrics]
    found = [
        "another validation set" if rows[-1].get("set", digest) != digest else "",
        f"{listed(added)} in addition" if added else "",
        f"without {listed(dropped)}" if dropped else "",
    ]
    return ", ".join(filter(None, found))


def values_of(
    step: int, scores: Scores, trivial: Mapping[str, Baseline], pairs: Sequence[Pair] = (), digest: str = ""
) -> Row:
    """Makes the line of an evaluation: values, the headlines' 95% intervals, scores of trivial systems, and notes.

    Args:
        step: Of the model.
        scores: Of the metrics.
        trivial: Scores of trivial systems by key.
        pairs: What was scored.
        digest: Of the set; "": that of all pairs.
    """
    scored = {headline(parse_name(text)): (text, result) for text, result in scores.results.items()}
    ends = {key: result.interval() for key, (_, result) in scored.items() if result.error is None}
    return {
        "step": step,
        "values": scores.values,
        "metrics": {key: text for key, (text, _) in scored.items()},
        "intervals": {key: [each.low, each.high, each.n] for key, each in ends.items()},
        "trivial": {key: trivial[key]._asdict() for key in scored if key in trivial},
        "notes": token_lines({"": pairs}),
        "set": digest or digest_of(pairs),
    }


def add(folder: Path, record: str, row: Row) -> None:
    """Adds an evaluation's line to `<record>_values.jsonl`; what has a later step is of a run that was given up."""
    folder.mkdir(parents=True, exist_ok=True)
    path = _values(folder, record)
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
    earlier = [path for path, name in names.items() if name and unquote(name[1]) not in keep]
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
    path = _values(folder, record)
    rows = _read(path)
    for row in rows:
        if row["step"] == step:
            row["values"] |= values
    _write(path, rows)


def write_page(folder: Path, first: Sequence[str], name: str) -> Path:
    """Writes `index.html`, the page of the run, from the files in the folder; some records are shown first."""
    records = sorted(unquote(path.name.removesuffix("_values.jsonl")) for path in folder.glob("*_values.jsonl"))
    sets = [_evaluations(folder, record) for record in dict.fromkeys((*first, *records))]
    path = folder / PAGE
    write_text(path, run_page([each for each in sets if each.curves], name=name), force=True)
    return path


def _evaluations(folder: Path, record: str) -> Evaluations:
    rows = _read(_values(folder, record))
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


def _values(folder: Path, record: str) -> Path:
    return folder / f"{file_name(record)}_values.jsonl"


def table_name(record: str, step: int) -> str:
    """Returns the name of the table of reports at a step."""
    return f"{file_name(record)}_{step:06d}"


def file_name(record: str) -> str:
    """Returns a record's name as a file name: what no file name may have is written as in an address.

    Example:
        >>> file_name("eval_org/mimic"), file_name("eval_mimic")
        ('eval_org%2Fmimic', 'eval_mimic')
    """
    return FORBIDDEN.sub(lambda found: f"%{ord(found[0]):02X}", record)


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
    """Returns the value with None for NaN, which JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
