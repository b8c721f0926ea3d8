"""Small files that are large when unpacked: the limit is met before the text is in memory, and said in one sentence."""

from __future__ import annotations

import gzip
import subprocess
import sys
import textwrap
import tracemalloc
import zlib
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from rrgmetrics import InputError
from rrgmetrics.files import formats, limits, read_column, read_pairs, rows_of
from rrgmetrics.files.stream import stream_pairs

MB = 1_000_000
GB = 1000 * MB
ADDRESS_SPACE = 4 * GB  # of a process that reads bombs: one that unpacks them ends with a MemoryError


def write_gz(path: Path, head: str, text: bytes, n: int, tail: str = "") -> Path:
    """`head`, then `text` again and again up to `n` bytes, then `tail`."""
    packer = zlib.compressobj(9, wbits=31)
    block = text * (MB // len(text))
    with path.open("wb") as file:
        file.write(packer.compress(head.encode()))
        for _ in range(n // len(block)):
            file.write(packer.compress(block))
        file.write(packer.compress(tail.encode()) + packer.flush())
    return path


def write_zst(path: Path, head: str, text: bytes, n: int, tail: str = "") -> Path:
    block = text * (MB // len(text))
    with pyarrow.output_stream(str(path), compression="zstd") as file:
        file.write(head.encode())
        for _ in range(n // len(block)):
            file.write(block)
        file.write(tail.encode())
    return path


def write_parquet(path: Path, cell: pyarrow.Scalar | str, n: int, *, dictionary: bool = True, rows_a_group: int = MB):
    """`n` rows of one cell, as a reference and beside short candidates."""
    indices = pyarrow.repeat(pyarrow.scalar(0, pyarrow.int32()), n)
    column = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([cell]))
    if not dictionary:
        column = pyarrow.repeat(cell, n)
    short = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(["Clear."]))
    table = pyarrow.table({"reference": column, "candidate": short})
    parquet.write_table(
        table, path, compression="zstd", use_dictionary=dictionary, row_group_size=rows_a_group, store_schema=False
    )
    return path


HEADS = {
    ".csv": ('reference,candidate\n"', b"x", '",y\n'),
    ".jsonl": ('{"candidate": "y", "reference": "', b"x", '"}\n'),
    ".txt": ("", b"x", "\n"),
}
BOMBS = {
    f"a line of {name}{packing}": (f"b{name}{packing}", write, *HEADS[name])
    for name in HEADS
    for packing, write in ((".gz", write_gz), (".zst", write_zst))
} | {
    "a bare cell": ("b.csv.gz", write_gz, "reference,candidate\n", b"x", ",y\n"),
    "quotes": ("b.csv.gz", write_gz, 'reference,candidate\n"', b'""', '",y\n'),
    "lines in quotes": ("b.csv.gz", write_gz, 'reference,candidate\n"', b"x\n", '",y\n'),
    "column names": ("b.csv.gz", write_gz, "reference,candidate", b",x", "\n"),
    "lists in lists": ("b.jsonl.gz", write_gz, '{"candidate": [', b"[],", "0]}\n"),
    "blank lines": ("b.csv.gz", write_gz, "reference,candidate\n", b"\n", "x,y\n"),
    "rows": ("b.csv.gz", write_gz, "reference,candidate\n", b"x,y\n", ""),
    "reports": ("b.txt.zst", write_zst, "", b"x\n", ""),
    "empty objects": ("b.jsonl.zst", write_zst, '{"reference": "x", "candidate": "y"}\n', b"{}\n", ""),
}


def read_parquet_elsewhere(path: Path) -> tuple[str, int]:
    """What reading says, and the most memory that it took, in a process that may not have much."""
    code = """
        import resource, sys
        limit = int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        import rrgmetrics.files.read, pyarrow.parquet
        start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        from rrgmetrics.files import read_pairs
        try:
            read_pairs(sys.argv[1])
            said = "nothing"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        print(said.replace(chr(10), " "))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path), str(ADDRESS_SPACE)]
    out = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said, memory = out.stdout.splitlines() or (out.stderr[-300:], "0")
    return said, int(memory) * 1024


@pytest.fixture
def small(monkeypatch):
    """Limits a hundredth of the real ones and less, so that what goes beyond them is made and read in no time."""
    monkeypatch.setattr(limits, "FREE", MB // 20)
    monkeypatch.setattr(limits, "MAX_RATIO", 2)
    monkeypatch.setattr(formats, "MAX_LINE", 40_000)
    monkeypatch.setattr(formats, "MAX_RECORD", 10_000)


@pytest.mark.parametrize("kind", BOMBS)
def test_what_is_packed_is_unpacked_up_to_the_limit(kind, tmp_path, small):
    name, write, head, text, tail = BOMBS[kind]
    path = write(tmp_path / name, head, text, 30 * MB, tail)
    tracemalloc.start()
    with pytest.raises(InputError) as caught:
        read_column(path) if ".txt" in name else read_pairs(path)
    assert tracemalloc.get_traced_memory()[1] < 20 * MB
    tracemalloc.stop()
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value)) < 400


def test_the_sentence_names_file_limit_and_remedy(tmp_path):
    path = write_gz(tmp_path / "b.jsonl.gz", '{"candidate": "y"}\n{"reference": "', b"x", 20 * MB, '"}')
    with pytest.raises(InputError) as caught:
        list(rows_of(path, ("reference",)))
    advice = "write one row a line, and leave out columns that are not text."
    said = f"{path}, line 2 has more than 16,000,000 characters; {advice}"
    assert str(caught.value) == said


CELLS = {
    "text": "x" * MB * 5,
    "bytes": b"x" * MB * 5,
    "a list": ["x"] * 1_000,
    "a list of lists": [[1]] * 1_000,
    "an object": {"a": "x" * MB * 5},
}


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("n_groups", [2, 1])
def test_a_cell_of_parquet_is_measured_before_it_is_read(kind, n_groups, tmp_path, monkeypatch):
    monkeypatch.setattr("rrgmetrics.files.parquet.FREE_ROWS", 1_500)
    table = pyarrow.table({"reference": pyarrow.array([CELLS[kind]] * 4), "candidate": ["x"] * 4})
    parquet.write_table(table, path := tmp_path / "b.parquet", compression="zstd", row_group_size=4 // n_groups)
    with pytest.raises(InputError, match="reference") as caught:
        read_pairs(path)
    assert str(caught.value).startswith(str(path))


def test_a_long_cell_in_many_rows(tmp_path):
    """8 kB that were 3 GB."""
    path = write_parquet(tmp_path / "b.parquet", "x" * 3 * MB, 1_000)
    assert path.stat().st_size < 8_000
    said, memory = read_parquet_elsewhere(path)
    assert said.startswith(f"InputError: {path}"), said
    assert memory < 400 * MB


def test_long_cells_behind_short_ones(tmp_path):
    """The first rows are as they should be; a later group has the bomb."""
    schema = pyarrow.schema([("reference", pyarrow.string()), ("candidate", pyarrow.string())])
    with parquet.ParquetWriter(path := tmp_path / "b.parquet", schema, compression="zstd") as file:
        file.write_table(pyarrow.table({"reference": ["Clear."] * 30, "candidate": ["x"] * 30}, schema=schema))
        file.write_table(pyarrow.table({"reference": ["x" * 5 * MB] * 8, "candidate": ["x"] * 8}, schema=schema))
    reads = []
    with pytest.raises(InputError, match="column 'reference', rows 31 to 38: a cell has 5,000,000 bytes"):
        reads.extend(stream_pairs(path))
    assert len(reads) == 30


def test_more_rows_than_a_file_can_hold(tmp_path, monkeypatch):
    """A column of one value takes a byte or two, however long it is."""
    monkeypatch.setattr("rrgmetrics.files.parquet.FREE_ROWS", MB)
    path = write_parquet(tmp_path / "b.parquet", "x", 2 * MB, rows_a_group=2 * MB)
    assert path.stat().st_size < 20_000
    with pytest.raises(InputError, match="has 2,000,000 rows; the limit for its size is"):
        next(rows_of(path, formats.COLUMNS))


def test_a_plain_column_that_unpacks_to_too_much(tmp_path):
    path = write_parquet(tmp_path / "b.parquet", "x" * 90_000, 1_500, dictionary=False)
    assert path.stat().st_size < MB
    with pytest.raises(InputError, match="unpacks to more than 100,000,000 bytes, 100 times its size"):
        next(rows_of(path, formats.COLUMNS))


# --- what is large and good -------------------------------------------------------------------------------------------


def reports(n: int):
    for i in range(n):
        yield i, f"Small left pleural effusion, {i % 997} mm. Study {i}.", f"Effusion {i}."


def test_a_million_rows_are_read_in_flat_memory(tmp_path):
    """6,000 rows here: if they were all kept, they would take 2.8 MB."""
    n = 6_000
    path = tmp_path / "good.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("study_id,reference,candidate\n")
        file.writelines(f'{i},"{reference}",{candidate}\n' for i, reference, candidate in reports(n))
    tracemalloc.start()
    assert sum(read.pair is not None for read in stream_pairs(path)) == n
    assert tracemalloc.get_traced_memory()[1] < 2 * MB
    tracemalloc.stop()


def test_large_files_of_one_report_are_read(tmp_path, monkeypatch):
    """A system that always writes the same packs well; its reports are one object in memory."""
    monkeypatch.setattr(limits, "FREE", 50 * MB)
    text = "The heart is normal in size. The lungs are clear. " * 100
    path = write_parquet(tmp_path / "good.parquet", text, n := 10_000)
    assert path.stat().st_size * limits.MAX_RATIO < limits.FREE == len(text) * n
    tracemalloc.start()
    assert len(read_pairs(path).pairs) == n
    assert tracemalloc.get_traced_memory()[1] < 40 * MB
    tracemalloc.stop()
    csv = write_gz(tmp_path / "good.csv.gz", "reference,candidate\n", b"The lungs are clear.,No effusion.\n", MB)
    assert sum(1 for _ in rows_of(csv, ())) == MB // 34


@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet_gives_the_same_rows(tmp_path, dictionary):
    table = {
        "study_id": list(range(10_000)),
        "reference": [None if i == 7 else "" if i == 8 else f"Effusion {i % 13}. Groß." for i in range(10_000)],
        "candidate": [f"Effusion {i}." for i in range(10_000)],
        "age": [None if i % 3 else float(i % 90) for i in range(10_000)],
        "sex": ["F" if i % 2 else None for i in range(10_000)],
        "other": [[i] for i in range(10_000)],
    }
    path = tmp_path / "good.parquet"
    parquet.write_table(pyarrow.table(table), path, use_dictionary=dictionary, row_group_size=3_000)
    rows = [row for _, _, row in rows_of(path, formats.COLUMNS)]
    names = list(table)
    expected = [dict(zip(names, row, strict=True)) | {"other": None} for row in zip(*table.values(), strict=True)]
    assert [dict(sorted(row.items())) for row in rows] == [dict(sorted(row.items())) for row in expected]


def test_long_lines_of_files_that_are_not_packed(tmp_path):
    (path := tmp_path / "b.txt").write_text("x" * 17 * MB)
    with pytest.raises(InputError, match="line 1 has more than 16,000,000 characters"):
        read_column(path)
    (path := tmp_path / "b.jsonl").write_text('{"reference": "x", "candidate": "' + "y" * 90_000 + '"}')
    assert len(read_pairs(path).pairs) == 1
