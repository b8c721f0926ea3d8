"""What a submitter may send, and what is said of everything else."""

from __future__ import annotations

import doctest
import gzip
import io
import json
import time
import zipfile

import pytest

from rrgmetrics.errors import InputError
from rrgmetrics.spaces import identity
from rrgmetrics.spaces.leaderboard import submissions
from rrgmetrics.spaces.leaderboard.model import Limits, RefusedError

N = 12


def rows(n: int = N) -> str:
    return "study_id,report\n" + "".join(f"study-{i:03d},Clear.\n" for i in range(n))


def problems(board, path, **keywords) -> list[str]:
    return list(board.check(path, **{"name": "A", "submitter": "lab", **keywords}))


def file_problems(board, tmp_path, content: bytes | str, suffix: str = ".csv") -> list[str]:
    path = tmp_path / f"reports{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return problems(board, path)


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("reports.csv", content)
    return file.getvalue()


def test_blanks_around_ids_do_not_count(board, tmp_path):
    written = rows().replace("study-000", " study-000").replace("study-001", "study-001  ")
    assert file_problems(board, tmp_path, written) == []


def test_csv_and_jsonl_in_any_order(board, tmp_path, write_reports):
    backwards = "study_id,report\n" + "".join(f"study-{i:03d},Clear {i}.\n" for i in reversed(range(N)))
    assert file_problems(board, tmp_path, backwards) == []
    assert problems(board, write_reports([f"Clear {i}." for i in range(N)], "reports.jsonl")) == []
    one, other = (
        submissions.check_file(path, "", [f"study-{i:03d}" for i in range(N)], Limits())
        for path in (tmp_path / "reports.csv", tmp_path / "reports.jsonl")
    )
    assert one == other
    assert one.reports[0] == "Clear 0."


def test_the_columns_can_have_other_names(board, tmp_path):
    columns = {"study_id": "exam", "report": "model"}
    path = tmp_path / "reports.csv"
    path.write_text(rows().replace("study_id,report", "exam,model"))
    assert problems(board, path, columns=columns) == []
    problem = next(iter(problems(board, path, columns={"study_id": "exam"})))
    assert problem.startswith(
        "reports.csv, line 2 has no report; it has 'exam', 'model'. The columns are exam, report."
    )
    with pytest.raises(InputError, match="A submission has no age; name the columns of study_id and report only"):
        problems(board, path, columns={"age": "a"})


@pytest.mark.parametrize(
    ("header", "option"),
    [
        ("study_id,generated,output", " --columns report=generated."),
        ("study_id,findings,impression", " --columns report=findings."),
        (f"study_id,prediction_{'x' * 99},output_{'x' * 99}", " The columns are study_id, report. The"),  # too long
        ("key,prediction,more", " The columns are study_id, prediction."),  # no name says that it holds ids
    ],
)
def test_the_option_to_copy_is_shown(board, tmp_path, header, option):
    """Where two columns are named alike."""
    content = rows().replace("study_id,report", header).replace("Clear", "Clear,Clear")
    problem = file_problems(board, tmp_path, content)[0]
    assert option in problem


@pytest.mark.parametrize("name", ["study", "accession_number"])
def test_a_column_of_ids_is_found_by_its_name(board, tmp_path, caplog, name):
    assert file_problems(board, tmp_path, rows().replace("study_id", name)) == []
    assert f"reports.csv: study_id is column {name!r}, by name" in caplog.text


@pytest.mark.parametrize(
    "header",
    [
        "Study_ID,Report",
        "study_id, report",
        "STUDY ID,REPORT",
        "study_id,prediction",
        "exam_id,hyp",
        "study_id,findings",
    ],
)
def test_columns_that_are_spelt_otherwise_are_taken(board, tmp_path, caplog, header):
    assert file_problems(board, tmp_path, rows().replace("study_id,report", header)) == []
    assert f"report is column {header.partition(',')[2]!r}, by name" in caplog.text


def test_two_columns_of_one_name_are_left_to_the_submitter(board, tmp_path):
    said = file_problems(board, tmp_path, "study_id,Report,REPORT\nstudy-000,Clear.,Clear.\n")
    assert "has no report; it has 'study_id', 'Report', 'REPORT'" in said[0]
    assert "--columns report=Report" in said[0]


def test_no_format_is_offered_that_is_refused(board, tmp_path):
    said = file_problems(board, tmp_path, bytes(range(256)) * 20)
    assert said == ["reports.csv is not a table: it looks like binary data; pass a CSV or JSONL file of reports."]


def test_everything_is_said_at_once(board, tmp_path):
    """The form first, then the file in its order, then what is unknown and missing."""
    lines = ["study_id,report", "study-000,Clear.", "study-000,Twice.", f"study-001,{'x' * 20_001}", "other,Clear."]
    path = tmp_path / "reports.csv"
    path.write_text("\n".join(lines))
    said = problems(board, path, name="\u202ename", submitter="not one", model_card="ftp://x/y", tags=["<b>"])
    assert said[0] == "The name contains the control character U+202E."
    assert said[1] == "The submitter 'not one' is neither a Hub handle, such as my-lab, nor an http(s) URL."
    assert said[2] == "The model card 'ftp://x/y' is neither a Hub id (org/name) nor an http(s) URL."
    assert said[3].startswith("The tag '<b>' is not a short word")
    assert said[4] == "reports.csv, line 3: study 'study-000' occurs twice; send each study once."
    assert said[5] == "reports.csv, line 4, study 'study-001': the report has 20,001 characters; 20,000 are allowed."
    assert said[6] == "reports.csv: the board has no study 'other'; leave such rows out."
    assert said[7].startswith("reports.csv: there is no report for 'study-002', 'study-003'")
    assert "and 5 more" in said[7]
    assert len(said) == 8
    with pytest.raises(RefusedError) as caught:
        board.submit(path, name="\u202ename", submitter="not one", model_card="ftp://x/y", tags=["<b>"])
    assert caught.value.problems == tuple(said)
    assert board.info().n_queued == 0


def test_damaged_lines_are_all_named(board, tmp_path):
    lines = rows().splitlines()
    lines[2], lines[4], lines[6] = "study-001,a,b", 'study-003,a "quote"', "study-005"
    said = file_problems(board, tmp_path, "\n".join(lines))
    assert [problem.split(",")[1].split(" has")[0].strip() for problem in said] == ["line 3", "line 5", "line 7"]
    said = file_problems(board, tmp_path, '{"study_id": "study-000", "report": ""}\nnonsense\n[1]\n', ".jsonl")
    assert "line 2 is not a JSON object" in said[0]
    assert "line 3 is a JSON list" in said[1]
    assert "no report for 'study-001'" in said[2]
    said = file_problems(board, tmp_path, rows() + "a,b,c\n" * 1_000_000)
    assert said[-1].endswith("many more rows. The rest of the file was not read.")


@pytest.mark.parametrize(
    ("content", "suffix", "said"),
    [
        (b"", ".csv", "is empty"),
        (b"study_id,report\n", ".csv", "no report for"),
        ("study_id;report\nstudy-000;Clear.\n", ".csv", "separated by semicolons"),
        ("study_id,age\nstudy-000,70\n", ".csv", "has no report; it has 'study_id', 'age'"),
        ("report\nClear.\n", ".csv", "has no study_id"),
        (rows().replace("Clear", "Cl\0ear"), ".csv", "NUL"),
        (rows().replace("Clear", "\x1b[31mClear"), ".csv", "control character U+001B"),
        (rows().encode("utf-16"), ".csv", "UTF-16"),
        (rows().encode().replace(b"Clear", b"Cl\xe9ar"), ".csv", "not UTF-8"),
        (zipped(rows().encode()), ".csv", "zip"),
        (zipped(b"\0" * 1_000_000), ".csv", "zip"),
        (gzip.compress(b"\0" * 1_000_000), ".jsonl", "gzip"),
        (b"PAR1", ".parquet", "must be .csv or .jsonl"),
        (b"Clear.\n" * N, ".txt", "must be .csv or .jsonl"),
        (rows() + 'study-x,"open', ".csv", "never closed"),
        # What ends such a file would be said if it were read so far: a NUL.
        (
            rows() + 'study-x,"' + "open\n" * 100_000 + "\0",
            ".csv",
            "never closed: the record does not end within 290,000",
        ),
        (rows() + "\n" * 2_000 + "\0", ".csv", "line 14 is blank"),
        ("\n" * 2_000 + "\0", ".jsonl", "1,001 blank lines"),
        (rows() + "a," * 200_000 + "\0", ".csv", "line 14 has more than 290,000 characters"),
        ('{"report": [' + "[]," * 200_000 + "\0", ".jsonl", "line 1 has more than 290,000 characters"),
        ('{"a": 0, "a": 0}\n', ".jsonl", "the key 'a' occurs twice"),
        ("[" * 100_000, ".jsonl", "JSON array"),
        ('{"study_id": ' + "[" * 100_000, ".jsonl", "not a JSON object"),
        ('{"study_id": ' + "9" * 10_000 + "}", ".jsonl", "not a JSON object"),
        ('{"study_id": "study-000", "report": "a\\u0000b"}', ".jsonl", "control character U+0000"),
        ('{"study_id": "study-000", "report": "a\\ud800b"}', ".jsonl", "control character U+D800"),
        ('{"study_id": "study-000", "report": null}', ".jsonl", "the report is None, not a text"),
        ('{"study_id": ["study-000"], "report": ""}', ".jsonl", "study_id ['study-000'] is not a text"),
        ('{"study_id": true, "report": ""}', ".jsonl", "study_id True is not a text"),
        (rows() + "study-000,Clear.\n" * 1000, ".csv", "many more rows"),
        (rows().replace("Clear.", "word " * 10_000), ".csv", "50,000 characters; 20,000 are allowed"),
    ],
)
def test_files_that_are_refused(board, tmp_path, content, suffix, said):
    found = file_problems(board, tmp_path, content, suffix)
    assert any(said in problem for problem in found), found
    assert all(len(problem) < 500 for problem in found)


@pytest.mark.parametrize("cell", ["", '""', " "])
def test_a_template_that_nobody_has_filled_in_is_refused(board, tmp_path, cell):
    content = "study_id,report\n" + "".join(f"study-{i:03d},{cell}\n" for i in range(N))
    blank = "reports.csv: every report is blank; write the system's reports in the column report."
    assert file_problems(board, tmp_path, content) == [blank]
    assert file_problems(board, tmp_path, content.replace(f"000,{cell}", "000,Clear.")) == []


def test_ids_as_numbers(make_board, tmp_path, write_reports):
    """JSON keeps whole numbers where CSV has their digits."""
    checked = submissions.check_file(write_reports(["Clear.", ""], "a.jsonl"), "", ["study-000", "study-001"], Limits())
    assert checked.reports == ["Clear.", ""]
    path = tmp_path / "numbers.jsonl"
    path.write_text('{"study_id": 7, "report": "Clear."}\n')
    assert submissions.check_file(path, "", ["7"], Limits()).reports == ["Clear."]


def test_missing_reports_and_control_tokens_are_named_as_by_score(write_reports, caplog):
    path = write_reports(["nan", "", "Clear.</s>", "Clear."])
    assert submissions.check_file(path, "", [f"study-{i:03d}" for i in range(4)], Limits()).problems == []
    missing, tokens = caplog.messages
    assert missing == "reports.csv: 2 candidates are missing (study ids study-000, study-001): scored as empty reports."
    assert tokens.startswith("1 of 4 reports of reports.csv contain control tokens or a prompt, as </s>")


def test_a_large_file_is_not_read(board, tmp_path, monkeypatch):
    path = tmp_path / "reports.csv"
    with path.open("wb") as file:
        file.truncate(100_000_000)  # a sparse file: nothing is written
    monkeypatch.setattr(submissions, "rows_of", lambda *_: pytest.fail("read"))
    assert problems(board, path) == ["reports.csv is larger than 50 MB; send study_id and report only."]


def test_a_file_of_far_too_many_rows_is_left_early(board, tmp_path, monkeypatch):
    read = []
    rows_of = submissions.rows_of
    monkeypatch.setattr(submissions, "rows_of", lambda *a, **k: (read.append(row) or row for row in rows_of(*a, **k)))
    said = file_problems(board, tmp_path, rows() + "x,y\n" * 100_000)
    assert any("many more rows" in problem for problem in said)
    assert len(read) < 1_000


def test_many_faults_are_counted(make_board, tmp_path):
    ids = [f"study-{i:03d}" for i in range(300)]
    path = tmp_path / "reports.jsonl"
    path.write_text("".join(json.dumps({"study_id": i, "report": None}) + "\n" for i in ids))
    said = submissions.check_file(path, "", ids, Limits()).problems
    assert len(said) == submissions.MAX_PROBLEMS + 1
    assert said[-1] == "reports.jsonl: 250 more rows have such errors."


def test_an_id_that_is_nearly_one_of_the_board_is_named(board, tmp_path):
    written = rows().replace("study-000", "Study_0 ").replace("study-001", "STUDY-001").replace("study-002", "study-99")
    said = file_problems(board, tmp_path, written)
    assert said[0] == (
        "reports.csv: the board has no study 'Study_0', 'STUDY-001', 'study-99'; correct such ids ('Study_0' may be "
        "'study-000', 'STUDY-001' may be 'study-001') or leave the rows out."
    )


@pytest.mark.parametrize(
    ("filename", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\reports.csv", "reports.csv"),
        ("/abs/\u202ereports\n.csv", "reports.csv"),
        ("x" * 500 + ".csv", "x" * 56 + ".csv"),
        ("", "upload.csv"),
        ("..", ".."),
    ],
)
def test_file_names_are_shown_not_used(board, tmp_path, filename, shown):
    path = tmp_path / "upload.csv"
    path.write_text("study_id,report\nother,\n")
    said = problems(board, path, filename=filename)
    assert said[0] == f"{shown}: the board has no study 'other'; leave such rows out."
    assert not any(str(tmp_path) in problem for problem in said)


def test_paths_of_the_server_are_not_told(board, tmp_path):
    path = tmp_path / "upload-7f3a.csv"
    path.write_bytes(b"study_id,report\nstudy-000,Cl\xe9ar\n")
    (said,) = problems(board, path, filename="mine.csv")
    assert "mine.csv" in said
    assert str(tmp_path) not in said


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("lab", "https://huggingface.co/lab"),
        ("https://example.org/a?b=1#c", "https://example.org/a?b=1#c"),
        ("HTTP://example.org", "HTTP://example.org"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("https://", ""),
        ("https://user:password@example.org", ""),
        ("https://example.org/<script>", ""),
        ("https://example.org/\u202e", ""),
        ("https://exa mple.org", ""),
        ("https://example.org:99999", ""),
        ("https://[", ""),
        ("https://example.org/" + "x" * 300, ""),
        ("../lab", ""),
        ("lab/", ""),
        ("", ""),
    ],
)
def test_links_are_web_addresses(text, url):
    assert submissions.link(text, submissions._HANDLE) == url


def test_form():
    form, said = submissions.check_form(
        name="  My   model ", submitter="lab", model_card="lab/model", tags=["VLM", " VLM ", "", "CT+X-ray", "é"]
    )
    assert said == []
    assert (form.name, form.name_key, form.tags) == ("My model", "my model", ("VLM", "CT+X-ray", "é"))
    assert (form.model, form.model_card) == ("lab/model", "https://huggingface.co/lab/model")
    linked, _ = submissions.check_form(name="A", submitter="lab", model_card="https://hf.co/lab/model", tags=[])
    assert linked.model == "lab/model"
    space, _ = submissions.check_form(name="A", submitter="lab", model_card="https://hf.co/spaces/lab", tags=[])
    assert space.model == ""


@pytest.mark.parametrize("name", ["", "   ", "...", "x" * 81, "a\u0000b", "a\u202eb", "a\ud800b"])
def test_names_that_are_refused(name):
    assert submissions.check_form(name=name, submitter="lab", model_card="", tags=[])[1]


@pytest.mark.parametrize("name", [None, "null", " NULL", "None", "undefined", 7, "\u3164", "\u200b\u2060"])
def test_no_name_is_no_name(name):
    assert submissions.check_form(name=name, submitter="lab", model_card=None, tags=None)[1]


def test_what_is_missing_is_said(board, write_reports):
    said = problems(board, write_reports(["Clear."] * N), name=None, submitter=None, model_card=None, tags=[None, 3])
    assert [problem.split()[1] for problem in said] == ["name", "submitter"]


@pytest.mark.parametrize(
    "name", ["Саreful", "Modеl 7B", "ВERT", "Mο\u0301del", "pаypal-x", "Моdel", "Vivid imaginatiοn", "Աbc"]
)
def test_words_of_two_scripts_are_a_disguise(name):
    (said,) = submissions.check_form(name=name, submitter="lab", model_card="", tags=[])[1]
    assert said.startswith("The name contains misleading characters")


@pytest.mark.parametrize("name", ["β-VAE", "模型 7B", "模型7B", "モデルV2", "모델2B", "Модель 2", "Modèle «é»", "Ærø"])
def test_names_of_other_scripts_are_names(name):
    assert submissions.check_form(name=name, submitter="lab", model_card="", tags=[])[1] == []


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "模型 7B", "Modèle «é»"])
def test_names_that_are_only_text(name):
    form, said = submissions.check_form(name=name, submitter="lab", model_card="", tags=[])
    assert (form.name, said) == (name, [])


@pytest.mark.parametrize("tags", [["a b c d" * 10], ["<b>"], ["=1+1"], ["a,b"], [f"t{i}" for i in range(11)]])
def test_tags_that_are_refused(tags):
    assert submissions.check_form(name="A", submitter="lab", model_card="", tags=tags)[1]


@pytest.mark.parametrize("module", [identity, submissions])
def test_examples_of_the_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert found.failed == 0


LONG = 1_000_000
LONG_FIELDS = {
    "name": {"name": "a" * LONG},
    "name of marks": {"name": "a" + "\u0323\u0301" * (LONG // 2)},
    "name of blanks": {"name": "a" + " " * LONG + "b"},
    "submitter": {"submitter": "a" * LONG},
    "model card": {"model_card": "https://huggingface.co/" + "a" * LONG},
    "tags": {"tags": ["a" * LONG] * 20},
    "many tags": {"tags": ["a"] * LONG},
    "tags of many kinds": {"tags": list(map(str, range(LONG)))},
}


@pytest.mark.parametrize("field", LONG_FIELDS)
def test_what_is_far_too_long_is_not_looked_at(board, send, write_reports, field):
    for i in range(5):
        send(board, f"System {i}", [f"Effusion {i}."] * N)
    path = write_reports(["Clear."] * N)
    start = time.process_time()
    said = problems(board, path, **LONG_FIELDS[field])
    assert time.process_time() - start < 0.5
    assert said == [] if field == "many tags" else said
    assert all(len(problem) < 300 for problem in said)
    if field in ("name", "submitter", "model card"):
        assert f"The {field} has 1,000,0" in said[0]


def test_a_name_may_be_written_with_marks(board, write_reports):
    """Each letter is two characters before they are composed."""
    assert problems(board, write_reports(["Clear."] * N), name="e\u0301" * 80) == []
