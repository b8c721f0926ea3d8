"""Data as users have it: tables in memory, named columns, compressed files, patterns and folders, pairs as systems."""

import gzip
from pathlib import Path

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import rrgmetrics
from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Context, Pair

OURS = {
    "id": ["s1", "s2", "s3"],
    "truth": ["Clear lungs.", "", "Small left effusion."],
    "generated": ["Lungs are clear.", "Normal.", "No effusion."],
    "years": [40, None, 72],
    "image": [b"1", b"2", b"3"],
}
COLUMNS = {"study_id": "id", "reference": "truth", "candidate": "generated", "age": "years"}
ROWS = [dict(zip(OURS, row, strict=True)) for row in zip(*OURS.values(), strict=True)]
TABLES = {
    "columns": lambda: OURS,
    "rows": lambda: ROWS,
    "generator": lambda: (row for row in ROWS),
    "pandas": lambda: pd.DataFrame(OURS),
    "pandas of Arrow": lambda: pd.DataFrame(OURS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, other index": lambda: pd.DataFrame(OURS).set_index("image"),
    "polars": lambda: pl.DataFrame(OURS),
    "polars, lazy": lambda: pl.LazyFrame(OURS),
    "pyarrow": lambda: pa.table(OURS),
    "pyarrow, chunked": lambda: pa.concat_tables([pa.table(OURS)[:1], pa.table(OURS)[1:]]),
    "Arrow stream": lambda: pa.table(OURS).to_reader(max_chunksize=2),
    "data set": lambda: datasets.Dataset.from_dict(OURS),
    "data set, chosen": lambda: datasets.Dataset.from_dict(OURS).select([2, 0, 1]).select([1, 2, 0]),
    "data set as torch has it": lambda: datasets.Dataset.from_dict(OURS).with_format("numpy"),
    "data set, streamed": lambda: datasets.Dataset.from_dict(OURS).to_iterable_dataset(),
    "data set, generated": lambda: datasets.IterableDataset.from_generator(lambda: iter(ROWS)),
}


def test_texts_as_metrics_are_an_error_that_says_how_reports_are_passed():
    with pytest.raises(
        InputError, match=r"first argument of score is metrics.* by name: .* predictions=\.\.\., references="
    ):
        rrgmetrics.score(["Clear lungs."], ["Lungs are clear."])
    texts = pd.Series([None, "Clear lungs.", None])
    with pytest.raises(InputError, match=r"pairs\[1\] is 'Clear lungs\.'.* first argument of score is metrics"):
        rrgmetrics.score(texts, texts)


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_table_of_any_library(make):
    studies = files.read_pairs(make(), COLUMNS)
    assert studies.study_ids == OURS["id"]
    ages = [Context(40.0), Context(), Context(72.0)]
    assert studies.pairs == [Pair(*row) for row in zip(OURS["truth"], OURS["generated"], ages, strict=True)]


@pytest.mark.parametrize(
    "column", [pd.Series, pl.Series, pa.array, pa.chunked_array, tuple, iter], ids=lambda make: make.__name__
)
def test_a_column_of_any_library(column):
    texts = [OURS["generated"]] if column is pa.chunked_array else OURS["generated"]
    results = rrgmetrics.score("bleu", predictions=column(texts), references=OURS["truth"], progress=False)
    assert results["bleu"].n_pairs == 3
    systems = files.read_systems({"a": column(texts)}, OURS["truth"])
    assert [pair.candidate for pair in systems["a"].pairs] == OURS["generated"]


def test_every_door_takes_a_table_and_gives_the_same():
    expected = rrgmetrics.score("rouge", predictions=OURS["generated"], references=OURS["truth"])["rouge"].scores
    frame, named = pd.DataFrame(OURS), {"columns": COLUMNS, "progress": False}
    assert rrgmetrics.score("rouge", frame, **named)["rouge"].scores == expected
    with rrgmetrics.prepare("rouge") as metrics:
        assert metrics.score(frame, **named)["rouge"].scores == expected
        shuffled = pl.DataFrame({"id": ["s3", "s1", "s2"], "generated": [OURS["generated"][i] for i in (2, 0, 1)]})
        results = metrics.score_systems(
            {"pairs": frame, "shuffled": shuffled},
            frame[["id", "truth"]],
            **{**named, "columns": {key: column for key, column in COLUMNS.items() if key != "age"}},
        )
        assert [by_metric["rouge"].scores for by_metric in results.values()] == [expected] * 2
        assert metrics.score_systems({"a": frame}, **named)["a"]["rouge"].scores == expected


def test_nothing_is_imported_for_a_list_of_dicts(run_python):
    loaded = run_python(
        "import sys; from rrgmetrics import files; files.pairs_of([{'reference': 'a', 'candidate': 'b'}]);"
        "print(*sys.modules)"
    )
    assert not {"pandas", "polars", "pyarrow", "datasets"} & set(loaded.split())


REFUSED = {
    "no such column": (
        OURS,
        {**COLUMNS, "reference": "thruth"},
        "pairs has no column 'thruth'; .* Did you mean 'truth'?",
    ),
    "no such field": (OURS, {"refrence": "truth"}, "the key 'refrence'; .* Did you mean 'reference'?"),
    "one column twice": (OURS, {"reference": "truth", "candidate": "truth"}, "a column can have only one field"),
    "nobody's names": ({"a": ["x"], "b": ["y"]}, None, "no column 'reference'; it has: .*columns={'reference': "),
    "a number": (pa.table({**OURS, "truth": [1, 2, 3]}), COLUMNS, r"pairs\[0\], column 'truth' is 1 \(int\)"),
    "an id twice": ([*ROWS, ROWS[1]], COLUMNS, r"pairs\[3\], column 'id': 's2' is already in pairs\[1\]"),
    "a row without": ([*ROWS, {"truth": "a"}], COLUMNS, r"pairs\[3\] has no column 'generated'"),
    "columns of two lengths": ({**OURS, "truth": ["a"]}, COLUMNS, "differ in length"),
    "splits": (
        datasets.DatasetDict(test=datasets.Dataset.from_dict(OURS)),
        COLUMNS,
        r"pass one of them.*pairs\['test'\]",
    ),
    "texts": (["Clear lungs."], None, r"pairs\[0\] is 'Clear lungs.' \(str\)"),
    "a column": (pd.Series(["Clear lungs."]), None, r"pairs\[0\] is 'Clear lungs.' \(str\)"),
    "no row": (pd.DataFrame(OURS)[:0], COLUMNS, "pairs contains no reports"),
    "a number alone": (3, None, r"pairs is 3 \(int\); pass a frame"),
}


@pytest.mark.parametrize(("table", "columns", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(table, columns, message):
    with pytest.raises(InputError, match=f"(?s){message}"):
        rrgmetrics.score("bleu", table, columns=columns)


def test_a_table_is_no_list_of_reports():
    with pytest.raises(InputError, match="predictions has no column 'report' or 'candidate'"):
        rrgmetrics.score("bleu", predictions=pd.DataFrame({"words": ["a"]}), references=["a"])
    with pytest.raises(InputError, match=r"predictions is \{'a'\} \(set\); pass a list"):
        rrgmetrics.score("bleu", predictions={"a"}, references=["a"])


# --- files ------------------------------------------------------------------------------------------------------------

CSV = "study_id,reference,candidate\n" + "".join(f"{row['id']},{row['truth']},{row['generated']}\n" for row in ROWS)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    with pa.output_stream(tmp_path / "b.csv.zst", compression="zstd") as file:
        file.write(CSV.replace("\ns", "\nt").encode())
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(3):
        parquet.write_table(pa.table(OURS)[number : number + 1], parts / f"part-{number}.parquet")
    (parts / "_SUCCESS").touch()
    return tmp_path


def test_compressed_files_patterns_and_folders(folder):
    expected = list(zip(OURS["truth"], OURS["generated"], strict=True))
    for source in (folder / "a.csv.gz", str(folder / "b.csv.zst")):
        assert [pair[:2] for pair in files.read_pairs(source).pairs] == expected
    for source in (folder / "parts", str(folder / "parts" / "*.parquet"), str(folder / "**" / "*-?.parquet")):
        studies = files.read_pairs(source, COLUMNS)
        assert studies.study_ids == OURS["id"]
        assert [pair[:2] for pair in studies.pairs] == expected
    assert files.read_pairs(folder / "*.csv.*").study_ids == ["s1", "s2", "s3", "t1", "t2", "t3"]


def test_refused_files(folder):
    whole = (folder / "a.csv.gz").read_bytes()
    for name, content in {"cut.csv.gz": whole[:-12], "cut.csv.zst": (folder / "b.csv.zst").read_bytes()[:-9]}.items():
        (folder / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name} (is damaged|cannot be read)"):
            files.read_pairs(folder / name)
    (folder / "plain.csv.gz").write_text(CSV)
    (folder / "twice").mkdir()
    for name in ("1.csv", "2.csv"):
        (folder / "twice" / name).write_text(CSV)
    for source, message in {
        folder / "plain.csv.gz": "cannot be read: Not a gzipped file",
        folder / "twice" / "*.csv": "2.csv, line 2, column 'study_id': 's1' is already in .*1.csv, line 2",
        folder / "twice": "a folder without Parquet files",
        folder / "*.tsv": "No file is called",
        folder / "b.parquet.gz": "does not exist",
    }.items():
        with pytest.raises(InputError, match=message):
            files.read_pairs(source)
    with pytest.raises(InputError, match="is compressed; unpack it first"):
        list(files.rows_of(folder / "a.csv.gz", files.COLUMNS, longest=1000))


def test_systems_are_compared_on_the_same_references(tmp_path):
    for name, change in {"a": ("", ""), "b": ("Clear lungs", "CLEAR  lungs"), "c": ("Clear lungs", "Edema")}.items():
        (tmp_path / f"{name}.csv").write_text(CSV.replace(*change) if change[0] else CSV)
    read = files.read_systems({"a": tmp_path / "a.csv", "b": Path(tmp_path / "b.csv")})
    assert read["a"].pairs == read["b"].pairs
    with pytest.raises(InputError, match=r"c.csv has another reference for study 's1' than .*a.csv"):
        files.read_systems({"a": tmp_path / "a.csv", "c": tmp_path / "c.csv"})
    (tmp_path / "blank.csv").write_text(CSV.replace("Lungs are clear", "").replace("Clear lungs", ""))
    for pair in (("a", "blank"), ("blank", "a")):
        with pytest.raises(InputError, match=r"blank.csv has no reference for study 's1', and .*a.csv has one"):
            files.read_systems({name: tmp_path / f"{name}.csv" for name in pair})
    with pytest.raises(InputError, match=r"systems\['x'\]\[0\] has no column 'reference'"):
        files.read_systems({"x": ["Clear."]})
    with pytest.raises(InputError, match=r"references has study_id and systems\['x'\] does not"):
        files.read_systems(
            {"x": OURS["generated"]}, pd.DataFrame(OURS), columns={"study_id": "id", "reference": "truth"}
        )
    with pytest.raises(InputError, match="references has 2 reports"):
        files.read_systems({"x": ["Clear."]}, ["Clear.", "Clear."])


def test_series_with_other_indexes_are_not_joined_by_position():
    references = pd.Series(["Edema.", "Clear lungs.", "Edema."], index=["a", "b", "c"])
    shuffled = references[["b", "c", "a"]]
    same = {"references": references, "progress": False}
    with pytest.raises(InputError, match=r"predictions and references .* predictions\.loc\[references\.index\]"):
        rrgmetrics.score("rouge", predictions=shuffled, **same)
    with pytest.raises(InputError, match=r"systems\['x'\] and references are pandas Series"):
        rrgmetrics.compare({"x": shuffled}, references, metrics="rouge", progress=False)
    for labels in (["a", "b", "d"], [0, 2, 5]):
        numbers = None if labels[0] == 0 else ["a", "b", "c"]
        of_others, own = (pd.Series(list(references), index=index) for index in (labels, numbers))
        with pytest.raises(
            InputError, match=r"pandas Series with different labels .* two tables with a column study_id"
        ):
            rrgmetrics.score("rouge", predictions=of_others, references=own, progress=False)
    sorted_again = rrgmetrics.score("rouge", predictions=shuffled.loc[references.index], **same)["rouge"]
    by_position = rrgmetrics.score("rouge", predictions=shuffled.reset_index(drop=True), **same)["rouge"]
    assert (sorted_again.scores["rouge"], by_position.scores["rouge"]) == (1, pytest.approx(1 / 3))
