"""`Result.load` of damaged and hostile files: one error that names the file, or the numbers that were saved."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import rrgmetrics
from rrgmetrics import InputError, Result
from rrgmetrics.files import stored
from rrgmetrics.files.stored import KEY
from rrgmetrics.scoring.shards import merge

REFERENCES = ["Small left effusion.", "Clear lungs.", "", "No pneumothorax. 5 mm nodule."]
CANDIDATES = ["Small right effusion.", "Lungs are clear.", "Edema.", "Pneumothorax."]
NAME = "finding_errors?explain=yes"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "result.parquet"
    result = rrgmetrics.score(NAME, predictions=CANDIDATES, references=REFERENCES, progress=False)[NAME]
    result.save(path)
    loaded = Result.load(path)
    np.testing.assert_array_equal(loaded.pair_stats, result.pair_stats)
    assert (loaded.details, loaded.signature) == (result.details, result.signature)
    return path


def check_message(message: str, path: Path) -> None:
    assert path.name in message
    assert "\n" not in message
    assert len(message) < 900


def load(path: Path) -> None:
    """Loads a file and uses all of it, or finds one line that names it."""
    try:
        result = Result.load(path)
    except InputError as error:
        check_message(str(error), path)
        raise
    _ = result.scores, result.unscored_counts, result.unscored_causes, result.removed, result.modalities, repr(result)
    result.to_frame()


def described(path: Path, table: pyarrow.Table, facts: object) -> Path:
    text = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
    parquet.write_table(table.replace_schema_metadata({KEY: text}), path)
    return path


DEEP = b"[" * 100_000
FACTS = {
    "not JSON": b"{",
    "not UTF-8": b"\xff\xfe",
    "deep": DEEP,
    "deep below": b'{"format": 1, "metrics": ' + DEEP,
    "list": [],
    "number": 5,
    "text": "a",
    "null": None,
    "no metrics": {"format": 1},
    "another format": {"format": 99, "metrics": {}},
    "long format": {"format": "9" * 10_000, "metrics": {}},
    "format is a list": {"format": [1], "metrics": {}},
    "long number": b'{"format": ' + b"9" * 5_000 + b"}",
    **{
        f"metrics: {value!r:.20}": {"format": 1, "metrics": value}
        for value in ([], {}, 5, None, "a", {"a": 5}, {"a": None}, {"a": ["b"]}, {"a": ""}, {"": ""}, {"rouge": "x"})
    },
    **{
        f"signature: {value[:40]!r}": {"format": 1, "metrics": {NAME: value}}
        for value in (
            *("", "|", "finding_errors", "finding_errors|v", "finding_errors|v:0.2.0|n:3", "blue|n:1|v:0.2.0"),
            *("rouge|n:4|v:0.2.0", "finding_errors|text:none@99|n:4|v:0.2.0", "finding_errors|policy:x|n:4|v:0.2.0"),
            *("finding_errors|config:x|n:4|v:0.2.0", "finding_errors|modality:mars|n:4|v:0.2.0", "x" * 100_000),
            *("finding_errors|explain:maybe|n:4|v:0.2.0", "\0|n:1|v:1", "../../etc|n:1|v:1"),
        )
    },
    "two": {"format": 1, "metrics": {NAME: "finding_errors|n:4|v:0.2.0", "rouge": "rouge|n:4|v:0.2.0"}},
}


@pytest.mark.parametrize("what", FACTS)
def test_a_damaged_description_is_an_error_of_ours(saved: Path, tmp_path: Path, what: str) -> None:
    with pytest.raises(InputError):
        load(described(tmp_path / "r.parquet", parquet.read_table(saved), FACTS[what]))
    if not what.startswith("signature: 'finding_errors|policy"):
        with pytest.raises(InputError, match=r"r\.parquet"):
            merge([tmp_path / "r.parquet"])


def texts(*lines: str | None) -> pyarrow.Array:
    return pyarrow.array(lines, pyarrow.string())


def numbers(*rows: object, kind: pyarrow.DataType | None = None) -> pyarrow.Array:
    return pyarrow.array(rows, kind or pyarrow.list_(pyarrow.float64(), 8))


ROW = [0.0] * 8
UNSCORED = '{"finding_errors_unscored": '
COLUMNS = {
    "statistics": {
        "numbers": pyarrow.array([1.0] * 4),
        "texts": texts(*"abcd"),
        "lists": numbers(*[ROW] * 4, kind=pyarrow.list_(pyarrow.float64())),
        "lists of texts": numbers(*[["a"] * 8] * 4, kind=pyarrow.list_(pyarrow.string(), 8)),
        "lists of whole numbers": numbers(*[[1] * 8] * 4, kind=pyarrow.list_(pyarrow.int64(), 8)),
        "a missing row": numbers(ROW, None, ROW, ROW),
        "a missing number": numbers(ROW, [None] * 8, ROW, ROW),
        "too few numbers": numbers(*[[0.0]] * 4, kind=pyarrow.list_(pyarrow.float64(), 1)),
        "nulls": pyarrow.nulls(4),
        "structs": pyarrow.array([{"a": 1.0}] * 4),
        "none": None,
    },
    "details": {
        "numbers": pyarrow.array([1.0] * 4),
        "bytes": pyarrow.array([b"{}"] * 4),
        "lists": pyarrow.array([["{}"]] * 4),
        "nulls": pyarrow.nulls(4),
        "none": None,
        **{
            f"line {line[:30]}": texts(None, line, None, "{}")
            for line in (
                *("{", "5", "[]", '"a"', "[" * 50_000, '{"a": ' * 50_000, "9" * 5_000, '{"a": ' + "9" * 5_000 + "}"),
                *(UNSCORED + end for end in ("5}", "[]}", '"a"}', '{"unscored": 5}}', '{"reason": "a"}}', "true}")),
                *('{"finding_errors_modality": 5}', '{"finding_errors_modality": ["a"]}'),
                '{"finding_errors_removed": {"a": "b"}}',
                *('{"finding_errors_removed": 5}', '{"finding_errors_removed": ["a"]}'),
            )
        },
    },
}


@pytest.mark.parametrize(("column", "what"), [(column, what) for column, each in COLUMNS.items() for what in each])
def test_a_damaged_column_is_an_error_of_ours(saved: Path, tmp_path: Path, column: str, what: str) -> None:
    table = parquet.read_table(saved)
    name = next(each for each in table.column_names if each.endswith(f" {column}"))
    at, values = table.column_names.index(name), COLUMNS[column][what]
    damaged = table.remove_column(at) if values is None else table.set_column(at, name, values)
    path = described(tmp_path / "r.parquet", damaged, json.loads(table.schema.metadata[KEY]))
    with pytest.raises(InputError):
        load(path)


def test_a_few_bytes_stand_for_no_gigabytes(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = parquet.read_table(saved)
    facts = json.loads(table.schema.metadata[KEY])
    statistics, details = (table.column(f"{NAME} {what}") for what in ("statistics", "details"))
    rows = pyarrow.chunked_array([statistics.chunk(0).slice(0, 1)] * 30)
    long = pyarrow.chunked_array([texts(json.dumps({"a": "x" * 1_000_000}))] * 30)
    bomb = pyarrow.table({f"{NAME} statistics": rows, f"{NAME} details": long.dictionary_encode()})
    path = described(tmp_path / "r.parquet", bomb.combine_chunks(), facts)
    parquet.write_table(
        bomb.cast(
            pyarrow.schema([bomb.schema.field(0), (f"{NAME} details", pyarrow.string())])
        ).replace_schema_metadata({KEY: json.dumps(facts).encode()}),
        path,
        compression="zstd",
    )
    assert path.stat().st_size < 30_000
    monkeypatch.setattr(stored, "MOST_TEXT", 20_000_000)
    with pytest.raises(InputError, match="its texts have more than 20,000,000 bytes"):
        load(path)
    monkeypatch.setattr(stored, "MOST_CELLS", 10)
    with pytest.raises(InputError, match="4 pairs exceed the limit"):
        load(saved_copy(saved, tmp_path))
    assert details.null_count == 2 or len(details) == 4


def saved_copy(saved: Path, folder: Path) -> Path:
    path = folder / "copy.parquet"
    path.write_bytes(saved.read_bytes())
    return path


def test_every_change_of_a_byte_is_found_or_does_nothing(saved: Path, tmp_path: Path) -> None:
    """Seeded: the pages have checksums, so that no changed number is taken for a score."""
    whole, random, path = saved.read_bytes(), Random(0), tmp_path / "r.parquet"
    before, found = Result.load(saved), 0
    for _ in range(120):
        content = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            content[random.randrange(len(content))] = random.randrange(256)
        if not random.randrange(8):
            del content[random.randrange(len(content)) :]
        path.write_bytes(content)
        try:
            load(path)
        except InputError:
            found += 1
        else:
            np.testing.assert_array_equal(Result.load(path).pair_stats, before.pair_stats)
    assert found > 60
