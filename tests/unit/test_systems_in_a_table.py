"""Systems in one table, as columns or as rows; and the messages where files and columns are mistaken for each other."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

import rrgmetrics
from rrgmetrics import InputError, cli, files

STUDIES = {
    "1": ("Small left pleural effusion.", "Small left effusion.", "Small right effusion."),
    "2": ("The lungs are clear.", "The lungs are clear.", "Mild edema."),
    "3": ("Mild cardiomegaly.", "Mild cardiomegaly.", "Large heart. No effusion."),
}
QUICK = ("--metrics", "rouge", "--trials", "20", "--no-progress", "--no-trivial")


def write(path: Path, heads: str, rows: list[tuple[str, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads.split(","), *rows])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "wide.csv", "study_id,reference,a,b", [(key, *texts) for key, texts in STUDIES.items()])
    write(tmp_path / "references.csv", "study_id,report", [(key, texts[0]) for key, texts in STUDIES.items()])
    for number, name in enumerate("ab", 1):
        rows = [(key, texts[number]) for key, texts in STUDIES.items()]
        write(tmp_path / f"{name}.csv", "study_id,report", rows)
    long = [(key, texts[0], texts[n], "ab"[n - 1]) for n in (1, 2) for key, texts in STUDIES.items()]
    write(tmp_path / "long.csv", "study_id,reference,candidate,system", long)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = cli.main([*arguments, *QUICK])
    except SystemExit as end:
        status = int(end.code or 0)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.mark.parametrize(
    ("command", "type_this"),
    [
        ("compare --references wide.csv --systems a", "compare wide.csv --systems a"),
        ("compare --references wide.csv --systems a ours=b", "compare wide.csv --systems a ours=b"),
        ("compare wide.csv --systems a.csv b.csv", "compare --references wide.csv --systems a.csv b.csv"),
        ("compare references.csv --systems x=a.csv", "compare --references references.csv --systems x=a.csv"),
        ("compare wide.csv", "compare wide.csv --systems a b"),
        ("compare wide.csv a b", "compare wide.csv --systems a b"),
        (
            "compare --references references.csv a.csv b.csv",
            "compare --references references.csv --systems a.csv b.csv",
        ),
        ("compare a.csv --references references.csv", "compare --references references.csv --systems a.csv"),
        ("score --predictions b --references wide.csv", "score wide.csv --columns candidate=b"),
        ("compare long.csv", "compare long.csv --by system"),
    ],
)
def test_a_mistake_is_answered_by_the_command_to_type(folder, capsys, command: str, type_this: str) -> None:
    status, _, err = run(capsys, *command.split())
    assert (status, err.count("\n")) == (2, 1)
    assert f"rrgmetrics {type_this}" in err
    typed = re.search(r"rrgmetrics ((?:compare|score) .*?)(?: \(|\.?$|\. )", err.partition("run: ")[2])
    assert typed
    assert typed[1] == type_this
    assert run(capsys, *typed[1].split())[0] == 0


@pytest.mark.parametrize("metrics", [(), ("--metrics", "rouge")])
def test_a_column_of_a_system_is_not_suggested_as_the_reference(folder, capsys, metrics: tuple[str, ...]) -> None:
    write(folder / "doctor.csv", "study_id,doctor,a,b", [(key, *texts) for key, texts in STUDIES.items()])
    code, _, err = run(capsys, "compare", "doctor.csv", "--systems", "a", "b", *metrics)
    assert (code, err.split("Name the right one: ")[1]) == (2, "--columns reference=doctor.\n")


def test_columns_of_a_table_can_have_names_of_their_own(folder, capsys) -> None:
    status, out, _ = run(capsys, "compare", "wide.csv", "--systems", "base=b", "ours=a", "--format", "csv")
    assert status == 0
    assert [row["system"] for row in csv.DictReader(out.splitlines())] == ["base", "ours"]


def test_rows_of_a_long_table_are_compared_as_columns_of_a_wide_one(folder, capsys) -> None:
    tables = [
        run(capsys, "compare", *command, "--format", "csv")
        for command in (
            ("wide.csv", "--systems", "a", "b"),
            ("long.csv", "--by", "system"),
            ("long.csv", "--by", "system", "--systems", "a", "b"),
        )
    ]
    assert tables[0][0] == 0
    assert tables[0][1] == tables[1][1] == tables[2][1]
    _, out, _ = run(capsys, "compare", "long.csv", "--by", "system", "--systems", "base=b", "a", "--format", "csv")
    assert [row["system"] for row in csv.DictReader(out.splitlines())] == ["base", "a"]
    comparison = rrgmetrics.compare(None, "long.csv", by="system", metrics="rouge", progress=False, trivial=False)
    assert list(comparison.results) == ["a", "b"]


def test_a_long_table_that_was_saved_is_compared_again(folder, capsys) -> None:
    assert run(capsys, "compare", "long.csv", "--by", "system", "--save-config", "e.yaml")[0] == 0
    assert run(capsys, "compare", "wide.csv", "--systems", "x=a", "b", "--save-config", "w.yaml")[0] == 0
    assert cli.main(["compare", "--config", "e.yaml", "--no-progress"]) == 0
    assert cli.main(["compare", "--config", "w.yaml", "--no-progress"]) == 0


def test_studies_that_one_system_lacks_are_left_out_and_counted(folder, caplog) -> None:
    with (folder / "long.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:-1]
    read = files.read_systems(None, rows, by="system")
    assert {name: each.study_ids for name, each in read.items()} == {"a": ["1", "2"], "b": ["1", "2"]}
    assert "Without a report of every system: 1 of 3 studies, left out (b lacks 1)." in caplog.text


@pytest.mark.parametrize(
    ("table", "systems", "says"),
    [
        ([{"study_id": "1", "reference": "A.", "candidate": "B.", "system": "a"}] * 2, None, "per_study"),
        ([{"reference": "A.", "candidate": "B.", "system": "a"}], None, "study_id"),
        ([{"study_id": "1", "reference": "A.", "candidate": "B.", "sytem": "a"}], None, "Did you mean 'sytem'?"),
        (
            [
                {"study_id": "1", "reference": "A.", "candidate": "B.", "system": "a"},
                {"study_id": "2", "reference": "A.", "candidate": "B.", "system": "b"},
            ],
            None,
            "no study has a report of every system",
        ),
        (
            [
                {"study_id": "1", "reference": "A.", "candidate": "B.", "system": "a"},
                {"study_id": "1", "reference": "C.", "candidate": "B.", "system": "b"},
            ],
            None,
            "another reference",
        ),
        ([{"study_id": "1", "reference": "A.", "candidate": "B.", "system": "ours"}], ["our"], "Did you mean 'ours'?"),
        ([{"study_id": "1", "reference": "A.", "candidate": "B.", "system": None}], None, "blank"),
    ],
)
def test_a_long_table_that_cannot_be_compared(table, systems, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        files.read_systems(systems, table, by="system")


def test_several_runs_of_a_system_are_refused_with_advice_that_is_not_the_command_that_was_typed(
    folder, capsys
) -> None:
    rows = [
        (key, texts[0], texts[n], "ab"[n - 1], seed) for n in (1, 2) for seed in "01" for key, texts in STUDIES.items()
    ]
    write(folder / "runs.csv", "study_id,reference,candidate,system,seed", rows)
    status, _, err = run(capsys, "compare", "runs.csv", "--by", "system")
    assert status == 2
    assert "In the rows of 'a': runs.csv, line 5, column 'study_id': '1' is already in runs.csv, line 2" in err
    assert "write 'system' and that column into one column, and pass --by COLUMN with its name." in err
    assert "compare TABLE" not in err


def test_what_synthesize_writes_is_compared_in_one_command(folder, capsys) -> None:
    assert cli.main([
        "synthesize", "references.csv", "--output", "pairs.parquet", "--ways", "random", "paraphrased:3", "--pairs",
        "each", "--no-progress",
    ]) == 0  # fmt: skip
    said = capsys.readouterr().out
    assert "rrgmetrics compare pairs.parquet --by pairing" in said
    status, out, err = run(capsys, "compare", "pairs.parquet", "--by", "pairing", "--format", "csv")
    assert status == 0, err
    assert [row["system"] for row in csv.DictReader(out.splitlines())] == ["random", "paraphrased"]
    status, _, err = run(capsys, "score", "pairs.parquet")
    assert status == 2
    assert "--per-study all scores each" in err
    assert "use compare with --by pairing." in err


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (("references.csv", "a.csv", "b.csv"), "rrgmetrics compare --references references.csv --systems a.csv b.csv"),
        (("pairs.csv", "pairs.csv"), "rrgmetrics compare --systems pairs.csv pairs.csv"),  # files of pairs
        (("wide.csv", "a", "b"), "rrgmetrics compare wide.csv --systems a b"),
        (("--references", "references.csv", "a.csv"), "rrgmetrics compare --references references.csv --systems a.csv"),
    ],
)
def test_systems_without_their_option_are_answered_with_the_command(folder, capsys, typed, command) -> None:
    write(folder / "pairs.csv", "study_id,reference,candidate", [(key, *texts[:2]) for key, texts in STUDIES.items()])
    status, _, err = run(capsys, "compare", *typed)
    assert status == 2
    assert f"run: {command}." in err
