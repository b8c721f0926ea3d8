"""Files: what is read, what is refused and how that is said, what is written."""

import gzip
import json
import math
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.files.stream import check_ids

PAIRS = "study_id,reference,candidate\n"


@pytest.fixture
def save(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path, read=files.read_pairs):
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert str(path) in message
    assert len(message) < 700
    return message


# --- what is read -----------------------------------------------------------------------------------------------------


def test_csv_keeps_every_text_as_it_stands(save):
    cells = ["1", " padded ", "0.5 cm", "No.", "none seen"]
    path = save("a.csv", PAIRS + "".join(f"s{i},Clear.,{cell}\n" for i, cell in enumerate(cells)))
    assert files.read_pairs(path).candidates == cells


def test_csv_quotes_commas_line_ends_and_byte_order_mark(save):
    path = save(
        "a.csv", b"\xef\xbb\xbf" + (PAIRS + 's1,"Heart, lungs\r\nnormal.","A ""5 mm"" nodule, caf\u00e9."\r\n').encode()
    )
    studies = files.read_pairs(path)
    assert studies.study_ids == ["s1"]
    assert studies.pairs[0][:2] == ("Heart, lungs\r\nnormal.", 'A "5 mm" nodule, café.')


def test_contexts_and_other_columns(save):
    path = save(
        "a.csv", "age,reader,reference,candidate,sex,indication\n072Y,x,Clear.,Clear.,F,Cough\n,y,Clear.,Clear.,,\n"
    )
    studies = files.read_pairs(path)
    assert studies.study_ids is None
    assert studies.contexts[0] == {"age": 72.0, "sex": "F", "indication": "Cough", "prior": ""}
    assert studies.contexts[1] == {"age": None, "sex": "", "indication": "", "prior": ""}


def test_trailing_blank_lines_are_nothing_and_the_last_newline_is_optional(save):
    assert files.read_pairs(save("a.csv", PAIRS + "s1,a,b\n\n\n")).candidates == ["b"]
    assert files.read_pairs(save("b.csv", PAIRS + "s1,a,b")).candidates == ["b"]
    assert files.read_system(save("c.csv", 'report\r\nClear.\r\n""\r\n')).reports == ["Clear.", ""]


def test_text_file_is_one_report_a_line(save):
    assert files.read_system(save("a.txt", "Clear lungs.\n\nEffusion.\r\n")).reports == [
        "Clear lungs.",
        "",
        "Effusion.",
    ]
    assert files.read_references(save("b.txt", "\n")).reports == [""]
    assert files.read_system(save("c.txt", "A\u2028B\x0bC\n[REDACTED] chest.")).reports == [
        "A\u2028B\x0bC",
        "[REDACTED] chest.",
    ]


def test_jsonl_and_parquet_read_alike(save, tmp_path):
    rows = [
        {"study_id": 12, "report": "Line one\nline two.", "age": 60, "sex": "male", "note": [1]},
        {"study_id": 13, "report": "", "age": None, "sex": None, "note": []},
    ]
    jsonl = save("a.jsonl", "".join(json.dumps(row) + "\n\n" for row in rows))
    pd.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    for path in (jsonl, tmp_path / "a.parquet"):
        reports = files.read_references(path)
        assert reports.study_ids == ["12", "13"]
        assert reports.reports == ["Line one\nline two.", ""]
        assert [context.age for context in reports.contexts] == [60.0, None]


def test_references_under_either_name(save):
    assert files.read_references(save("a.csv", "reference\nClear.\n")).reports == ["Clear."]
    assert files.read_references(save("b.csv", "report\nClear.\n")).reports == ["Clear."]
    assert "keep only the column" in refused(save("c.csv", "report,reference\na,b\n"), files.read_references)


# --- what is refused, and how that is said ----------------------------------------------------------------------------

UNUSABLE = {
    "empty.csv": (b"", "is empty"),
    "only_mark.csv": (b"\xef\xbb\xbf", "is empty"),
    "header_only.csv": (PAIRS, "no reports below its column names"),
    "newlines.csv": ("\n\n", "line 1 is blank"),
    "blank_line.csv": (PAIRS + "s1,a,b\n\ns2,a,b\n", "line 3 is blank"),
    "blank_lines.jsonl": ("\n\n", "contains no reports"),
    "parquet.csv": (b"PAR1....", "looks like Parquet"),
    "text.parquet": (PAIRS + "s1,a,b\n", "named .parquet but looks like text"),
    "cut.parquet": (b"PAR1....", "cannot be read as Parquet"),
    "gzip.csv": (gzip.compress(b"a"), "looks like gzip"),
    "workbook.csv": (b"PK\x03\x04....", "an Excel workbook"),
    "png.csv": (
        b"\x89PNG\r\n\x1a\n" + bytes(range(1, 256)) * 9,
        "is not a table: it looks like a PNG image; pass a CSV",
    ),
    "jpeg.csv": (b"\xff\xd8\xff\xe0" + bytes(range(1, 256)) * 9, "is not a table: it looks like a JPEG image"),
    "dicom.csv": (b"\0" * 128 + b"DICM" + bytes(range(1, 256)) * 9, "is not a table: it looks like binary data"),
    "weights.jsonl": (bytes(range(1, 256)) * 9, "is not a table: it looks like binary data"),
    "page.csv": ("<!DOCTYPE html><html>", "HTML"),
    "array.jsonl": ('[{"reference": "a", "candidate": "b"}]', "a JSON array"),
    "csv.jsonl": (PAIRS + "s1,a,b\n", "line 1 is not a JSON object"),
    "pretty.jsonl": ('{\n "reference": "a"\n}', "line 1 is not a JSON object"),
    "text.jsonl": ('{"reference": "a", "candidate": "b"}\n"b"\n', "line 2 is a JSON str"),
    "deep.jsonl": ('{"reference": ' + "[" * 100_000, "line 1 is not a JSON object"),
    "jsonl.csv": ('{"reference": "a"}\n', "looks like JSON"),
    "utf16.csv": (
        (PAIRS + "s1,a,b\n").encode("utf-16"),
        "looks like UTF-16 text, and rrgmetrics reads UTF-8: iconv -f UTF-16 ",
    ),
    "utf16_unmarked.csv": ((PAIRS + "s1,a,b\n").encode("utf-16-le"), "looks like UTF-16LE text"),
    "latin1.csv": (
        (PAIRS + "s1,a,b\ns2,a,Caf\u00e9 au lait\n").encode("latin-1"),
        "line 3 is not UTF-8 (byte 0xE9 in 's2,a,Café au l",
    ),
    "nul.csv": (PAIRS + "s1,a,b\ns2,a\0,b\n", "line 3 contains a NUL byte"),
    "unclosed.csv": (
        PAIRS + 's1,a,b\ns2,a,"b\ns3,a,b\n',
        "line 3, column 'candidate' has a quote that is never closed",
    ),
    "unclosed_then_quoted.csv": (PAIRS + 's1,"a,b\ns2,"c",d\n', "line 3, column 'reference' continues with 'c"),
    "stray.csv": (PAIRS + 's1,a 5" by 6" mass,b\n', "line 2, column 'reference' has a stray quote"),
    "stray_odd.csv": (PAIRS + 's1,a,5" mass\n' + "s2,a,b\n" * 3, "line 2, column 'candidate' has a stray quote"),
    "after_quote.csv": (PAIRS + 's1,"a "big" mass",b\n', "line 2, column 'reference' continues with 'big"),
    "space_before_quote.csv": (PAIRS + 's1, "a",b\n', "line 2, column 'reference' has a stray quote"),
    "short.csv": (PAIRS + "s1,a,b\ns2,a\n", "line 3 has 2 cells for 3 columns"),
    "long.csv": (PAIRS + 's1,"a\nb",c,d\n', "line 2 has 4 cells"),
    "twice.csv": ("reference,candidate,candidate\na,b,c\n", "two columns named 'candidate'"),
    "twice.jsonl": (
        '{"reference": "a", "reference": "b", "candidate": ""}',
        "line 1 is not a JSON object (the key 'reference'",
    ),
    "duplicate.csv": (PAIRS + "s1,a,b\ns2,a,b\ns1,a,b\n", "line 4, column 'study_id': 's1' is already in"),
    "blank_id.csv": (PAIRS + "s1,a,b\n ,a,b\n", "line 3, column 'study_id' is blank"),
    "null_id.jsonl": ('{"study_id": null, "reference": "a", "candidate": "b"}', "line 1, column 'study_id' is None"),
    "float_id.jsonl": ('{"study_id": 1.0, "reference": "a", "candidate": "b"}', "column 'study_id' is 1.0"),
    "some_ids.jsonl": (
        '{"study_id": "1", "reference": "a", "candidate": "b"}\n{"reference": "a", "candidate": "b"}',
        "line 2, column 'study_id': some rows have an id",
    ),
    "late_id.jsonl": (
        '{"reference": "a", "candidate": "b"}\n{"study_id": "1", "reference": "a", "candidate": "b"}',
        "line 2, column 'study_id': some rows have an id",
    ),
    "missing_key.jsonl": (
        '{"reference": "a", "candidate": "b"}\n{"reference": "a"}',
        "line 2 has no column 'candidate'",
    ),
    "number.jsonl": ('{"reference": "a", "candidate": 3}', "line 1, column 'candidate' is 3 (int)"),
    "list.jsonl": ('{"reference": ["a", "b"], "candidate": "b"}', "line 1, column 'reference' is ['a', 'b'] (list)"),
    "surrogate.jsonl": (
        '{"reference": "\\ud800", "candidate": "b"}',
        "line 1, column 'reference' holds half a character",
    ),
    "huge.csv": (
        PAIRS + "s1,a,b\ns2,a," + "word " * 400_000 + "\n",
        "line 3, column 'candidate' has 2,000,000 characters",
    ),
    "huge_quoted.csv": (PAIRS + 's1,"' + "word\n" * 400_000 + '",b\n', "line 2, column 'reference' has 2,000,000 char"),
    # What ends such a file would be said if it were read so far: a NUL.
    "open.csv": (
        PAIRS + 's1,"' + "word\n" * 900_000 + "\0",
        "line 2 has a quote that is never closed: the record does not end within 4,000,000",
    ),
    "blank.csv": (PAIRS + "\n" * 2_000 + "\0", "line 2 is blank"),
    "age.csv": ("reference,candidate,age\na,b,old\n", "line 2: age 'old' is not an age"),
    "sex.csv": ("reference,candidate,sex\na,b,x\n", "line 2['sex'] is 'x'"),
    "mine.csv": ("reference,mine\na,b\n", "'reference', 'mine'. Name the right one: columns={'candidate': 'mine'}."),
    "label.csv": ("label,other,candidate\na,b,c\n", "columns={'reference': 'label'}."),
    "system.csv": ("ImageID,pred\n1,a\n", "If the radiologists' reports are in another file, name it"),
    "capitals.csv": ("Study ID,study id,reference,candidate\n1,1,a,b\n", "'Study ID'; rename it to 'study_id'"),
    "semicolons.csv": (
        'id;reference;candidate\n1;a "big" mass;b\n',
        "semicolons.csv: cells are separated by semicolons, not by commas; in Python: import pandas; pandas.read_csv('",
    ),
    "semicolons_quoted.csv": ('"id";"a, b";"c"\r\n"1";"a";"b"\r\n', "cells are separated by semicolons"),
    "semicolons_latin1.csv": ("id;reference\n1;Ödem\n".encode("latin-1"), "line 2 is not UTF-8"),
    "tabs.csv": ("study_id\treference\tcandidate\n1\ta\tb\n", "cells are separated by tabs"),
    "table.xlsx": (b"PK\x03\x04", "ends in '.xlsx'; we read .csv, .jsonl, .parquet, .txt"),
    "pairs.tsv": (PAIRS.replace(",", "\t"), "Write commas between cells and name it .csv"),
    "pairs.json": ('[{"reference": "a", "candidate": "b"}]', "Write one object a line and name it .jsonl"),
    "reports.txt": ("Clear.\n", "pass references and reports as two text files"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable(save, name):
    content, message = UNUSABLE[name]
    assert message in refused(save(name, content))


def test_the_command_for_a_list_in_json_writes_what_can_be_read(save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, written in (
        ("my pairs.json", "my pairs.jsonl"),
        ("array.jsonl", "array_lines.jsonl"),
        ("a.csv", "a.jsonl"),
    ):
        path = save(name, '[{"study_id": "01", "reference": "Ödem.", "candidate": "b"}]')
        said = refused(path)
        subprocess.run(said.partition("in a shell: ")[2].removesuffix("."), shell=True, check=True)
        read = files.read_pairs(written)
        assert (read.study_ids, read.pairs[0].reference) == (["01"], "Ödem.")
        assert "matching suffix" not in said
    assert "; in Python: import pandas; pandas.read_csv(" in refused(save("t.tsv", "study_id\treference\n"))


def test_the_command_for_an_object_in_json_that_has_a_report_for_each_id(save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save("references.json", '{\n  "s 1": "Ödem.",\n  "s2": "Clear lungs."\n}')
    subprocess.run(refused(path).partition("in a shell: ")[2].removesuffix("."), shell=True, check=True)
    read = files.read_system("references.jsonl")
    assert (read.study_ids, read.reports) == (["s 1", "s2"], ["Ödem.", "Clear lungs."])
    assert refused(save("nested.json", '{"data": [{"reference": "a"}]}')).endswith("and name it .jsonl.")


def test_unusable_text_files(save):
    assert "a CSV with column names" in refused(save("a.txt", "study_id,report\r\n1,Clear.\r\n"), files.read_system)
    assert "looks like JSON" in refused(save("b.txt", '{"report": "Clear."}\n'), files.read_system)
    assert "line 2 is not UTF-8" in refused(save("c.txt", b"Clear.\nCaf\xe9.\n"), files.read_system)


@pytest.mark.parametrize("value", [3, 2.5, b"Clear.", ["Clear."], {"text": "Clear."}])
def test_unusable_parquet_cells(tmp_path, value):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"reference": ["a"], "candidate": [value]}).to_parquet(path)
    assert "row 1, column 'candidate' is " in refused(path)


def test_parquet_of_other_columns_or_no_rows(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"reference": ["a"], "mine": ["b"]}).to_parquet(path)
    assert "columns={'candidate': 'mine'}" in refused(path)
    pd.DataFrame({"reference": [], "candidate": []}).to_parquet(path)
    assert "contains no reports" in refused(path)


def test_file_that_cannot_be_opened(tmp_path, monkeypatch):
    assert "does not exist" in refused(tmp_path / "none.csv")
    assert "is a folder" in refused(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    assert "not a regular file" in refused(tmp_path / "pipe.csv")
    (tmp_path / "a.csv").write_text("a")

    def deny(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", deny)
    assert "Permission denied" in refused(tmp_path / "a.csv")


# --- join -------------------------------------------------------------------------------------------------------------


def test_join_by_study_id(save):
    references = files.read_references(save("r.csv", "study_id,reference,age\ns1,a,60\ns2,b,\n"))
    system = files.read_system(save("s.csv", "study_id,report\ns2,B\ns1,A\n"))
    studies = files.join(references, system)
    assert studies.study_ids == ["s1", "s2"]
    assert [pair[:2] for pair in studies.pairs] == [("a", "A"), ("b", "B")]
    assert studies.pairs[0].context.age == 60


def test_blanks_around_ids_do_not_count(save):
    references = files.read_references(save("r.csv", "study_id,reference\ns1 ,a\ns2,b\n"))
    studies = files.join(references, files.read_system(save("s.csv", "study_id,report\n s2,B\ns1,A\n")))
    assert studies.study_ids == ["s1", "s2"]
    assert [pair[:2] for pair in studies.pairs] == [("a", "A"), ("b", "B")]
    twice = save("t.csv", "study_id,reference,candidate\ns1,a,A\ns1 ,b,B\n")
    for read in (files.read_pairs, check_ids):
        with pytest.raises(InputError, match=r"line 3, .*'s1' is already in .*line 2"):
            read(twice)


def test_join_refuses_to_guess(save):
    with_ids = files.read_references(save("r.csv", "study_id,reference\n" + "".join(f"s{i},a\n" for i in range(9))))
    others = files.read_system(save("s.csv", "study_id,report\ns1,A\nx1,A\n"))
    without = files.read_system(save("t.txt", "A\n" * 9))
    fewer = files.read_system(save("u.txt", "A\n" * 8))
    with pytest.raises(
        InputError, match=r"8 only in .*r\.csv \('s0', 's2', .* and 3 more\); 1 only in .*s\.csv \('x1'\)"
    ):
        files.join(with_ids, others)
    with pytest.raises(InputError, match=r"r\.csv has study_id and .*t\.txt does not"):
        files.join(with_ids, without)
    with pytest.raises(InputError, match=r"s\.csv has study_id and .*t\.txt does not"):
        files.join(without, others)
    with pytest.raises(InputError, match=r"9 reports and .* 8"):
        files.join(without, fewer)
    with pytest.raises(InputError, match=r"v\.txt has 1 report and .*t\.txt has 9;"):
        files.join(files.read_system(save("v.txt", "A\n")), without)
    assert files.join(without, without).study_ids is None


@pytest.mark.parametrize(("ours", "theirs"), [("7", "007"), ("7", "7.0"), ("0", "000")])
def test_ids_that_became_numbers_are_recognised(save, ours, theirs):
    references = files.read_references(save("r.csv", f"study_id,reference\n{ours},a\n12,a\n"))
    for other, said in ((theirs, True), (f"{theirs}1", False)):
        with pytest.raises(InputError) as refused:
            files.join(references, files.read_system(save("s.csv", f"study_id,report\n{other},A\n12,A\n")))
        assert ("leading zeros" in str(refused.value)) == said


# --- writing ----------------------------------------------------------------------------------------------------------

TABLE = {"study_id": ["s1", "=1+1"], "bleu": np.array([0.1 + 0.2, np.nan]), "rouge": [1.0, -0.5]}


def test_tables(tmp_path):
    for suffix in files.TABLE_SUFFIXES:
        files.write_table(tmp_path / f"t{suffix}", TABLE)
    assert (tmp_path / "t.csv").read_bytes() == b"study_id,bleu,rouge\r\ns1,0.30000000000000004,1.0\r\n'=1+1,,-0.5\r\n"
    last = json.loads((tmp_path / "t.jsonl").read_text().splitlines()[1])
    assert last == {"study_id": "=1+1", "bleu": None, "rouge": -0.5}
    frame = pd.read_parquet(tmp_path / "t.parquet")
    assert frame["bleu"].isna().tolist() == [False, True]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.jsonl", "t.parquet"]


def test_json(tmp_path):
    value = {"scores": {"bleu": np.float64("nan"), "low": -math.inf}, "rows": np.arange(2), "name": "é"}
    files.write_json(tmp_path / "r.json", value)
    text = (tmp_path / "r.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"scores": {"bleu": None, "low": "-inf"}, "rows": [0, 1], "name": "é"}
    assert "é" in text


def test_nothing_is_replaced_without_force_and_nothing_half_written_stays(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("mine")
    with pytest.raises(InputError, match="force=True"):
        files.write_table(path, TABLE)
    with pytest.raises(ValueError, match="zip"):
        files.write_table(path, {"a": [1], "b": [1, 2]}, force=True)
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]
    files.write_text(path, "yours", force=True)
    assert path.read_text() == "yours"
    with pytest.raises(InputError, match="cannot be written"):
        files.write_text(tmp_path / "none" / "a.html", "")


def test_outputs_are_checked_first(tmp_path, save, caplog):
    path = save("in.csv", "")
    for _ in range(2):
        files.check_outputs(tables=[tmp_path / "new" / "deep" / "t.csv", None], results=[tmp_path / "r.json"])
    assert (tmp_path / "new" / "deep").is_dir()
    assert caplog.messages == [f"The folder {tmp_path / 'new' / 'deep'} did not exist; it has been created."]
    for arguments, message in [
        ({"tables": [tmp_path / "t.json"]}, r"must end in \.csv or \.jsonl or \.parquet"),
        ({"pages": [tmp_path / "p.htm"]}, r"must end in \.html"),
        ({"tables": [tmp_path / "t.csv", tmp_path / "new" / ".." / "t.csv"]}, "named for two outputs"),
        ({"tables": [path], "inputs": [path], "force": True}, "one of the inputs"),
        ({"tables": [path]}, "exists; pass force=True"),
        ({"results": [path / "r.json"]}, "cannot be created"),
        ({"results": [tmp_path / f"{'r' * 300}.json"]}, "cannot be written"),
        ({"results": [tmp_path]}, "must end in .json"),
    ]:
        with pytest.raises(InputError, match=message):
            files.check_outputs(**arguments)
    os.link(path, tmp_path / "linked.csv")
    with pytest.raises(InputError, match="one of the inputs"):
        files.check_outputs(tables=[tmp_path / "linked.csv"], inputs=[path], force=True)
    files.check_outputs(tables=[path], force=True)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="a folder that takes no file, not even of root")
def test_a_folder_that_takes_no_file_is_found_first():
    with pytest.raises(InputError, match="The folder /proc cannot be written to"):
        files.check_outputs(tables=["/proc/t.csv"])


def test_a_written_table_reads_back(tmp_path):
    rows = {"study_id": ["a", "b"], "report": ['He said "clear", twice.\nNormal.\r', ""]}
    for suffix in files.TABLE_SUFFIXES:
        files.write_table(tmp_path / f"t{suffix}", rows)
        assert files.read_system(tmp_path / f"t{suffix}").reports == rows["report"]
