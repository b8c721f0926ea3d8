"""Columns that are not called as ours are: taken where their names leave no choice, else a line to copy."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

import rrgmetrics
from rrgmetrics import InputError, files
from rrgmetrics.cli import main
from rrgmetrics.cli.arguments import system_paths
from rrgmetrics.files.columns import pick_columns, use_context
from rrgmetrics.files.mistaken import suggest_systems
from rrgmetrics.files.stream import read_rows, stream_pairs
from rrgmetrics.specs.names import context_of
from rrgmetrics.utils.printable import as_options

PAIRS = (("reference",), ("candidate",))
REFERENCE, CANDIDATE = "Small left pleural effusion.", "Small right pleural effusion."


@pytest.mark.parametrize(
    ("found", "picked"),
    [
        (("findings_gt", "findings_pred"), {"reference": "findings_gt", "candidate": "findings_pred"}),
        (("report", "hyp"), {"reference": "report", "candidate": "hyp"}),
        (("split", "report_text", "hyp"), {"reference": "report_text", "candidate": "hyp"}),
        (("ground truth", "GeneratedReport"), {"reference": "ground truth", "candidate": "GeneratedReport"}),
        (("target", "text"), {"reference": "target", "candidate": "text"}),
        (("uid", "reference", "output"), {"study_id": "uid", "reference": "reference", "candidate": "output"}),
        (("gt", "pred", "gt_labels", "pred_score", "model_name"), {"reference": "gt", "candidate": "pred"}),
    ],
)
def test_obvious_names_are_taken(found, picked):
    assert pick_columns(found, PAIRS, {}, "a.csv") == picked


@pytest.mark.parametrize(
    ("found", "columns", "says"),
    [
        (
            ("gt", "pred_a", "pred_b"),
            {},
            "--columns reference=gt,candidate=pred_a or --columns reference=gt,candidate=pred_b.",
        ),
        (
            ("gt", "pred_a", "pred_b"),
            {"study_id": "gt"},
            "study_id=gt,reference=pred_a,candidate=pred_b or --columns study_id=gt,reference=pred_b,candidate=pred_a.",
        ),
        (
            ("findings", "impression", "hyp"),
            {},
            "candidate=hyp,reference=findings or --columns candidate=hyp,reference=impression.",
        ),
        (("reference", "my reports"), {}, "--columns 'candidate=my reports'."),
        (("reference;text",), {}, "separated by semicolons; use commas"),
        (("id;ref",), {"reference": "ref"}, "separated by semicolons; use commas"),
        (("reference",), {}, "has no column 'candidate'"),
        (
            ("reference_prediction", "x"),
            {},
            "Name the right ones: --columns reference=reference_prediction,candidate=x.",
        ),
        (("id", "prompt", "predict", "label"), {}, "--columns candidate=predict,study_id=id,reference=label."),
        (("Befundtext",), {}, "Name the right one: --columns reference=Befundtext."),
        (("split", "report_de", "pred"), {}, "--columns candidate=pred,reference=report_de."),
    ],
)
def test_what_is_not_obvious_is_refused_with_a_line_to_copy(found, columns, says):
    with pytest.raises(InputError) as refused:
        pick_columns(found, PAIRS, columns, "a.csv")
    assert says in as_options(str(refused.value))


@pytest.mark.parametrize(
    ("found", "wanted", "says"),
    [
        (("7", "Small left effusion. No pneumothorax."), (("report", "candidate"),), "study_id,report."),
        (("CXR", "No acute disease seen in the chest and no change since the last"), PAIRS[:1], "study_id,reference"),
        (("Left pneumothorax.", "Normal."), PAIRS, "text 'Left pneumothorax.'; write .* as reference,candidate."),
        (("a", "Output of urine is low. Edema.", "Edema."), PAIRS, "study_id,reference,candidate."),
    ],
)
def test_a_report_in_the_place_of_a_column_name_is_recognised(found, wanted, says):
    with pytest.raises(InputError, match=f"^a.csv has no names of columns: .*{says}"):
        pick_columns(found, wanted, {}, "a.csv")


@pytest.mark.parametrize(
    "names",
    [
        ("Study No.", "report (v1.2)"),
        ("data.findings.text", "Which errors does it have?"),
        ("study_id", "Is the report correct? Explain. Use whole sentences."),
    ],
)
def test_a_name_of_a_column_is_no_report(names):
    with pytest.raises(InputError, match=r"has no column 'reference'"):
        pick_columns(names, PAIRS, {}, "a.csv")


@pytest.mark.parametrize("command", ["score", "score --stream --output s.parquet", "compare", "agree --dataset"])
def test_a_file_without_names_of_columns_is_named(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text(f"{REFERENCE},{CANDIDATE}\n" * 2)
    command, *options = command.replace(" --dataset", "").split()
    source = ["--dataset", "pairs.csv"] if command == "agree" else ["pairs.csv"]
    assert main([command, *source, *options, "--metrics", "bleu"]) == 2
    assert "rrgmetrics: pairs.csv has no names of columns" in capsys.readouterr().err


@pytest.mark.parametrize(
    "names", [("id", "text", "prompt"), ("id", "predict", "label"), ("id", "report_text", "split")]
)
def test_the_reports_of_a_system_in_a_file_of_their_own(tmp_path, names):
    pd.DataFrame([("a", CANDIDATE, "x")], columns=names).to_csv(tmp_path / "system.csv", index=False)
    pd.DataFrame({"id": ["a"], "report": [CANDIDATE]}).to_csv(tmp_path / "references.csv", index=False)
    files = {"predictions": tmp_path / "system.csv", "references": tmp_path / "references.csv"}
    assert rrgmetrics.score("rouge", **files, progress=False)["rouge"].scores["rouge"] == 1


def test_ids_of_two_files_under_other_names(tmp_path):
    """A named column of ids must be in each file; without the name each file's own is found."""
    pd.DataFrame({"accession": ["a"], "report_text": [REFERENCE]}).to_csv(tmp_path / "references.csv")
    pd.DataFrame({"id": ["a"], "output": [CANDIDATE]}).to_csv(tmp_path / "system.csv")
    files = {"predictions": tmp_path / "system.csv", "references": tmp_path / "references.csv"}
    with pytest.raises(InputError, match=r"leave out study_id=accession, .* in each file \(here 'id'\)"):
        rrgmetrics.score("bleu", **files, columns={"study_id": "accession"}, progress=False)
    assert rrgmetrics.score("bleu", **files, progress=False)["bleu"].n_pairs == 1


def test_options_for_two_files_with_other_names_fit_both(tmp_path, capsys):
    """Each error adds to the option, until the command runs."""
    pd.DataFrame({"accession": ["a"], "wording": [REFERENCE]}).to_csv(tmp_path / "references.csv", index=False)
    pd.DataFrame({"id": ["a"], "prose": [CANDIDATE]}).to_csv(tmp_path / "system.csv", index=False)
    command = ["score", "--predictions", str(tmp_path / "system.csv"), "--references", str(tmp_path / "references.csv")]
    command += ["--metrics", "bleu", "--no-trivial", "--no-progress", "--columns"]
    options = "report=prose"
    for suggested in ("candidate=prose", "candidate=prose,reference=wording"):
        assert main([*command, options]) == 2
        options = capsys.readouterr().err.rpartition("--columns ")[2].strip().removesuffix(".")
        assert options == suggested
    assert main([*command, options]) == 0


def test_a_name_that_the_user_gave_is_never_replaced():
    with pytest.raises(InputError, match="no column 'truth'"):
        pick_columns(("gt", "pred"), PAIRS, {"reference": "truth"}, "a.csv")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "frame", "dict", "rows"])
def test_every_source_takes_the_same_columns_and_says_so_once(form, tmp_path, caplog):
    rows = [{"id": f"s{n}", "findings_gt": REFERENCE, "findings_pred": CANDIDATE, "age_group": "x"} for n in range(3)]
    frame = pd.DataFrame(rows)
    path = tmp_path / f"pairs.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "parquet":
        frame.to_parquet(path)
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = {"frame": frame, "dict": frame.to_dict("list"), "rows": rows}.get(form, path)
    studies = files.read_pairs(source)
    assert studies.study_ids == ["s0", "s1", "s2"]
    assert {(pair.reference, pair.candidate) for pair in studies.pairs} == {(REFERENCE, CANDIDATE)}
    (said,) = caplog.messages
    assert "reference is column 'findings_gt'" in said
    named = {"reference": "findings_gt", "candidate": "findings_pred", "study_id": "id"}
    assert said.endswith(f"same as columns={named}")
    assert as_options(said).endswith("same as --columns reference=findings_gt,candidate=findings_pred,study_id=id")
    caplog.clear()
    streamed = rrgmetrics.score_stream("rouge", source, progress=False)["rouge"]
    alone = rrgmetrics.score("rouge", source, progress=False)["rouge"]
    assert (streamed.scores, streamed.n_unscored) == (alone.scores, 0)
    assert len(caplog.messages) == 2


def test_columns_that_all_files_share_are_announced_in_one_line(tmp_path, caplog):
    rows = [{"study_id": f"s{n}", "gt": REFERENCE, "hyp": CANDIDATE} for n in range(3)]
    names = ["a.csv", "b.csv", "c.csv"]
    for name in names:
        pd.DataFrame(rows)[["study_id", "hyp"]].to_csv(tmp_path / name, index=False)
    pd.DataFrame(rows)[["study_id", "gt"]].to_csv(tmp_path / "gt.csv", index=False)
    files.read_systems({name: tmp_path / name for name in names}, tmp_path / "gt.csv")
    (said,) = caplog.messages
    assert said.count("is column 'hyp'") == said.count("is column 'gt'") == 1
    assert "c.csv: report is column 'hyp'; " in said
    assert said.endswith("same as columns={'report': 'hyp', 'reference': 'gt'}")
    caplog.clear()
    pd.DataFrame(rows)[["study_id", "hyp"]].rename(columns={"hyp": "pred"}).to_csv(tmp_path / "b.csv", index=False)
    files.read_systems({name: tmp_path / name for name in names}, tmp_path / "gt.csv")
    (said,) = caplog.messages
    assert said.endswith("by name")  # no option names both columns


@pytest.mark.parametrize("code", ["s500{}", "/files/p10/s{}.jpg", "{}", "IM_{}"])
@pytest.mark.parametrize("read", [files.read_pairs, lambda source: list(stream_pairs(source))])
def test_ids_in_the_place_of_reports_are_named_with_the_column_of_reports(code, read, tmp_path):
    rows = [{"reference": code.format(n), "candidate": CANDIDATE, "text_gt": REFERENCE, "n": n} for n in range(30)]
    path = tmp_path / "pairs.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    with pytest.raises(InputError) as caught:
        read(path)
    said = str(caught.value)
    assert f"column 'reference' holds ids, numbers or paths, such as '{code.format(0)}', and no reports" in said
    assert said.endswith("reports are in 'text_gt': columns={'reference': 'text_gt'}.")
    rows[3]["reference"] = "Clear lungs."
    with pytest.raises(InputError, match="and no reports"):
        read(rows)


@pytest.mark.parametrize("text", ["Normal.", "Cardiomegaly", "", "T8 fracture.", "N/A", "CABG.", "Clear"])
def test_short_reports_are_no_ids(text, caplog):
    files.read_pairs([{"reference": text, "candidate": CANDIDATE}] * 3)
    assert not caplog.messages


def test_a_column_behind_a_file_is_answered_with_the_option(tmp_path):
    pd.DataFrame([{"hyp": CANDIDATE}]).to_csv(tmp_path / "gen.csv", index=False)
    with pytest.raises(InputError, match=r"For its column 'hyp', write .*gen\.csv and columns={'report': 'hyp'};"):
        rrgmetrics.compare({"ours": f"{tmp_path}/gen.csv:hyp"}, [REFERENCE], metrics="bleu")
    with pytest.raises(InputError, match=r"does not exist \(looked in [^)]*\)\.$"):
        rrgmetrics.compare({"ours": f"{tmp_path}/other.csv"}, [REFERENCE], metrics="bleu")


def test_a_column_of_ids_is_left_out_if_its_cells_are_no_ids(caplog):
    rows = {"id": ["p1", "p1", ""], "gt": [REFERENCE] * 3, "pred": [CANDIDATE] * 3}
    assert files.read_pairs(rows).study_ids is None
    with pytest.raises(InputError, match="is already in"):
        files.read_pairs(rows, {"study_id": "id"})
    assert (
        "column 'id' is blank; give each study an id, or leave the column out. So the column is not used" in caplog.text
    )


@pytest.mark.parametrize("column", ["study", "id", "image_id"])
def test_an_id_that_occurs_twice_is_an_error_in_a_column_taken_by_its_name_too(column, tmp_path, capsys):
    """In one process, with workers and as a stream, in a file of pairs and in two files, and in Python."""
    rows = pd.DataFrame({column: ["p1", "p2", "p1"], "gt": [REFERENCE] * 3, "pred": [CANDIDATE] * 3})
    pairs, refs, twice = (str(tmp_path / name) for name in ("pairs.csv", "refs.csv", "twice.csv"))
    rows.to_csv(pairs, index=False)
    rows[:2].drop(columns="pred").to_csv(refs, index=False)
    rows.drop(columns="gt").to_csv(twice, index=False)
    two = ["--references", refs, "--predictions", twice]
    for source, command in (
        (pairs, [pairs]),
        (pairs, [pairs, "--stream", "--output", str(tmp_path / "scores.parquet")]),
        (pairs, [pairs, "--workers", "2"]),
        (twice, two),
    ):
        assert main(["score", *command, "--metrics", "bleu", "--no-trivial", "--no-progress"]) == 2
        said = capsys.readouterr().err
        assert f"{source}, line 4, column {column!r}: 'p1' is already in {source}, line 2" in said
    with pytest.raises(InputError, match=f"column '{column}': 'p1' is already in"):
        rrgmetrics.score(pairs=rows, metrics="bleu")
    with pytest.raises(InputError, match=f"column '{column}': 'p1' is already in"):
        rrgmetrics.score_stream("bleu", rows, progress=False)


SECTIONS = [
    ("FINDINGS: Small left pleural effusion. IMPRESSION: Stable.", "Small left pleural effusion."),
    ("Clear lungs.", "FINDINGS: Clear lungs."),
]


def test_one_option_chooses_the_section_for_all_metrics(caplog):
    names = ["bleu", "finding_errors", "rouge?text=lower"]
    rows = [{"reference": reference, "candidate": candidate} for reference, candidate in SECTIONS]
    results = rrgmetrics.score(names, rows, text="findings", progress=False)
    assert list(results) == names  # a metric's name stays
    assert [part for result in results.values() for part in result.signature.split("|") if part.startswith("text")] == [
        "text:findings@2", "text:findings@2", "text:lower@1",
    ]  # fmt: skip
    said = "1 of 2 references and 1 of 2 candidates have no findings section: their other text is used."
    assert caplog.messages.count(said) == 1
    asked = rrgmetrics.score("bleu?text=findings", rows, progress=False)["bleu?text=findings"]
    assert results["bleu"].scores == asked.scores
    compared = rrgmetrics.compare({"a": rows, "b": rows}, metrics="bleu", text="findings", trials=10, progress=False)
    assert compared["a"]["bleu"].scores == asked.scores
    assert "1 of 2 candidates of a and 1 of 2 candidates of b" in caplog.text
    with pytest.raises(
        InputError, match=r"text='findigs' is unknown; choose one of none, .*\. Did you mean 'findings'\?$"
    ):
        rrgmetrics.score("bleu", rows, text="findigs", progress=False)


BARE = ["Small left pleural effusion.", "Clear lungs.", "Mild edema.", "Nodule."]
WHOLE = [f"EXAMINATION: Chest. INDICATION: Cough.\nFINDINGS: {text}\nIMPRESSION: As above." for text in BARE]
UNLIKE = {
    "references": (WHOLE, BARE, "4 of 4 references have sections that the candidates lack; --text findings"),
    "candidates": (BARE, WHOLE, "4 of 4 candidates have sections that the references lack; --text findings"),
    "most": ([*WHOLE[:3], BARE[3]], [*BARE[:3], WHOLE[3]], "3 of 4 references have sections that the candidates lack"),
    "impression": (
        [f"IMPRESSION: {text}" for text in BARE],
        BARE,
        "--text impression (text='impression')",
    ),
    "both": (WHOLE, WHOLE, ""),
    "neither": (BARE, BARE, ""),
    "half": ([*WHOLE[:2], *BARE[2:]], BARE, ""),
    "one pair": (WHOLE[:1], BARE[:1], ""),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_sections_that_one_side_lacks_are_named_once(case, caplog):
    references, candidates, said = UNLIKE[case]
    pairs = {"predictions": candidates, "references": references, "progress": False}
    rrgmetrics.score("bleu,rouge".split(","), **pairs)
    lines = [line for line in caplog.messages if "have sections that" in line]
    assert len(lines) == bool(said)
    assert all(said in line for line in lines)
    caplog.clear()
    rrgmetrics.score("bleu", **pairs, text="findings")
    rrgmetrics.score("bleu?text=impression", **pairs)
    rrgmetrics.score("bleu", **pairs, text="space")  # whole reports were asked for
    assert "have sections that" not in caplog.text


def test_a_stream_names_sections_as_one_call_does_and_reads_the_same_part(caplog, monkeypatch):
    rows = [{"reference": whole, "candidate": bare} for whole, bare in zip(WHOLE, BARE, strict=True)]
    said = []
    for score in (rrgmetrics.score, rrgmetrics.score_stream):
        caplog.clear()
        score("bleu", rows, progress=False)
        said.append([line for line in caplog.messages if "have sections that" in line])
    assert len(said[0]) == 1
    assert said[0] == said[1]
    caplog.clear()
    streamed = rrgmetrics.score_stream("bleu", rows, text="findings", progress=False)["bleu"]
    assert streamed.scores == rrgmetrics.score("bleu", rows, text="findings", progress=False)["bleu"].scores
    assert "have sections that" not in caplog.text
    monkeypatch.setattr("rrgmetrics.scoring.streaming.CHUNK", 2)
    rrgmetrics.score_stream("bleu", rows, progress=False)
    (line,) = (line for line in caplog.messages if "have sections that" in line)
    assert line.startswith("Of the first 2 pairs: 2 of 2 references have sections that the candidates lack")


def test_only_who_opens_a_source_announces_its_columns(tmp_path, caplog):
    row = {"findings_gt": REFERENCE, "findings_pred": CANDIDATE}
    (read,) = read_rows(iter([("row 1", row)]))
    assert (read.pair.reference, caplog.messages) == (REFERENCE, [])
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(row) + "\n")
    rrgmetrics.score_stream("cider", path, progress=False)  # reads the file twice
    assert sum("is column 'findings_gt'" in line for line in caplog.messages) == 1


def test_sections_that_a_system_lacks_are_named_in_a_comparison(caplog):
    options = {"metrics": "bleu", "trials": 10, "progress": False}
    rrgmetrics.compare({"ours": WHOLE, "bare": BARE}, WHOLE, **options)
    (said,) = (line for line in caplog.messages if "have sections that" in line)
    assert said.startswith("4 of 4 references have sections that the candidates of bare lack; --text findings")
    caplog.clear()
    rrgmetrics.compare({"a": BARE, "b": BARE[::-1]}, WHOLE, **options)
    assert (
        sum("4 of 4 references have sections that the candidates of a and b lack" in line for line in caplog.messages)
        == 1
    )
    caplog.clear()
    rrgmetrics.compare({"a": WHOLE, "b": WHOLE[::-1], "c": BARE}, BARE, **options)
    assert "8 of 8 candidates of a and b have sections that the references lack; --text findings" in caplog.text


def test_only_references_without_the_section_are_said_to_be_unscored(caplog):
    rows = [{"reference": f"FINDINGS: {text}", "candidate": text} for text in ("Clear lungs.", "Mild edema.")]
    options = {"metrics": ["bleu"], "trials": 10, "progress": False, "text": "findings_only"}
    compared = rrgmetrics.compare({"a": rows}, **options)
    assert compared["a"]["bleu"].n_unscored == 0
    assert "2 of 2 candidates of a have no findings section: a text without headings is read whole" in caplog.text
    assert "unscored" not in caplog.text + compared.to_latex()
    rrgmetrics.compare({"a": [{**rows[0], "reference": "Clear lungs."}, rows[1]]}, **options)
    assert "1 of 2 references have no findings section: such pairs are unscored." in caplog.text


def test_tables_and_pages_name_the_part_that_was_read():
    metrics = ["bleu", "rouge", "meteor?text=lower"]
    options = {"references": WHOLE, "metrics": metrics, "trials": 10, "progress": False}
    whole, part, lower = (rrgmetrics.compare({"a": WHOLE}, **options, text=text) for text in ("", "findings", "lower"))
    said = "Scored on the findings of both reports (text=findings), except meteor?text=lower."
    for text in (part.to_latex(), part.to_markdown(), part.to_html()):
        assert said in text
    bare = rrgmetrics.compare({"a": BARE}, **options, text="findings")
    for text in (bare.to_latex(), bare.to_html()):
        assert "4 of 4 candidates of a have no findings section: their other text is used." in text
    alone = rrgmetrics.score("bleu", predictions=WHOLE, references=WHOLE, text="findings", progress=False)["bleu"]
    assert "Scored on the findings of both reports (text=findings)." in alone.to_latex()
    assert "Scored with text=lower in both reports." in lower.to_latex()
    assert "Scored" not in whole.to_latex()


def test_columns_of_a_frame_are_named_as_python_names_them():
    frame = pd.DataFrame({"study_id": ["1"], "ref": ["Edema."], "cand": ["Edema."]})
    with pytest.raises(InputError, match=r"one: columns=\{'reference': 'ref', 'candidate': 'cand'\}\.$"):
        rrgmetrics.score("bleu", frame)
    with pytest.raises(InputError, match=r"predictions has no column .* one: columns=\{'candidate': 'cand'\}\.$"):
        rrgmetrics.score("bleu", predictions=frame[["study_id", "cand"]], references=frame[["study_id", "ref"]])


OF_IDS = ["dicom_accession", "image_id", "StudyInstanceUID", "SOPInstanceUID", "Accession Number", "report_id"]
OF_IDS += [
    "AccNr",
    "ACC_NUM",
    "accno",
    "accession_no",
    "exam_no",
    "case_number",
    "RequestNo",
    "VolumeName",
    "question_id",
]


@pytest.mark.parametrize("column", OF_IDS)
def test_files_are_joined_by_a_column_of_ids_though_their_rows_differ_in_order(column, tmp_path):
    reports = {f"s{n}": f"Nodule of {n} mm." for n in range(3, 7)}
    references, system = tmp_path / "references.csv", tmp_path / "system.csv"
    pd.DataFrame({column: reports.keys(), "gt": reports.values()}).to_csv(references, index=False)
    pd.DataFrame({column: reports.keys(), "pred": reports.values()})[::-1].to_csv(system, index=False)
    studies = files.join(files.read_references(references), files.read_system(system))
    assert studies.study_ids == [*reports]
    assert studies.candidates == studies.references


@pytest.mark.parametrize("column", ["patient_id", "model_id", "label_ids", "path", "no", "image_no", "row_number"])
def test_ids_of_something_else_are_no_study_ids(column):
    assert "study_id" not in pick_columns((column, "gt", "pred"), PAIRS, {}, "a.csv")


def test_a_join_by_order_is_said(tmp_path, caplog):
    references, system = tmp_path / "references.csv", tmp_path / "system.csv"
    pd.DataFrame({"patient_id": [1, 2], "gt": [REFERENCE] * 2}).to_csv(references, index=False)
    pd.DataFrame({"patient_id": [2, 1], "pred": [CANDIDATE] * 2}).to_csv(system, index=False)
    files.join(files.read_references(references), files.read_system(system))
    assert "have no study_id: joined by order. columns={'study_id': 'COLUMN'} joins" in caplog.text


def test_the_line_to_copy_names_a_column_of_texts_rather_than_one_of_ids():
    found = ("dicom_accession", "patient_id", "PatientAge", "metadata", "gt", "chexagent", "llava")
    with pytest.raises(InputError, match=r", 'candidate': 'chexagent'} or columns=.*, 'candidate': 'llava'}\. If"):
        pick_columns(found, PAIRS, {}, "a.csv")


# --- a table with a column for each system

WIDE = {
    "id": ["s0", "s1"],
    "findings_gt": [REFERENCE, "Normal."],
    "pred_a": [CANDIDATE, "Normal."],
    "pred_b": ["", "Edema."],
}


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_a_table_has_a_column_for_each_system(form, tmp_path, caplog):
    frame = pd.DataFrame(WIDE)
    path = tmp_path / f"wide.{form}"
    if form != "frame":
        frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    read = files.read_systems(["pred_b", "pred_a"], frame if form == "frame" else path)
    assert list(read) == ["pred_b", "pred_a"]
    assert read["pred_a"].study_ids == ["s0", "s1"]
    assert read["pred_a"].references == read["pred_b"].references == WIDE["findings_gt"]
    assert (read["pred_a"].candidates, read["pred_b"].candidates) == (WIDE["pred_a"], WIDE["pred_b"])
    assert len(caplog.messages) == 1  # one for the table, not one for each system


def test_python_compares_columns_of_one_table():
    compared = rrgmetrics.compare(["pred_a", "pred_b"], WIDE, metrics="bleu", trivial=False, progress=False, trials=10)
    assert compared["pred_a"]["bleu"].scores["bleu"] > compared["pred_b"]["bleu"].scores["bleu"]


@pytest.mark.parametrize(
    ("systems", "says"),
    [
        (["pred_a", "pred_c"], "has no column 'pred_c'; it has: 'id', 'findings_gt', 'pred_a', 'pred_b'."),
        (["pred_a", "pred_a"], "names 'pred_a' twice"),
        (["findings_gt", "pred_a"], "has no column 'reference'"),
    ],
)
def test_a_column_of_a_system_that_is_not_there(systems, says):
    with pytest.raises(InputError, match=re.escape(says)):
        files.read_systems(systems, WIDE)


def test_lists_of_reports_need_names():
    with pytest.raises(InputError, match=r"systems is \[\['Edema.'\], .* \(list\); pass a dict with .* by its name"):
        files.read_systems([["Edema."], ["Clear."]], ["Edema."])


@pytest.mark.parametrize(
    ("found", "says"),
    [(("id", "Output"), "hold for every file: rename the column in this one"), (("id", "gen"), "Did you mean 'gen'?")],
)
def test_columns_hold_for_the_file_of_every_system(found, says):
    with pytest.raises(InputError, match=re.escape(says)):
        pick_columns(found, [("report", "candidate")], {"study_id": "id", "report": "genn"}, "b.csv")


def test_a_column_of_ids_is_no_system():
    says = "The column 'id' is named as study_id and as a system; name each column once."
    with pytest.raises(InputError, match=re.escape(says)):
        files.read_systems(["pred_a", "id"], WIDE, columns={"reference": "findings_gt", "study_id": "id"})


def test_the_error_says_how_the_reports_of_a_system_are_named():
    with pytest.raises(InputError, match=r"'study_id', 'report'\. .* --references FILE, .* --predictions FILE"):
        pick_columns(("study_id", "report"), PAIRS, {}, "a.csv")


def test_the_error_says_how_columns_of_systems_are_named():
    with pytest.raises(InputError, match=re.escape("rrgmetrics compare w.csv --systems pred_a pred_b.")):
        pick_columns(("reference", "pred_a", "pred_b"), PAIRS, {}, "w.csv")


def test_the_command_for_columns_of_systems_runs_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [("A1", REFERENCE, 70, CANDIDATE, ""), ("A2", "Normal.", 60, "Normal.", "Edema.")]
    pd.DataFrame(rows, columns=["AccNr", "befund_gt", "Age", "pred_a", "pred b"]).to_csv("w.csv", index=False)
    assert main(["score", "w.csv", "--columns", "age=Age", "--metrics", "finding_errors"]) == 2
    command = capsys.readouterr().err.rpartition("run: ")[2].strip().removesuffix(".")
    columns = "reference=befund_gt,study_id=AccNr,age=Age"
    assert command == f"rrgmetrics compare w.csv --systems pred_a 'pred b' --columns {columns}"
    assert main([*shlex.split(command)[1:], "--metrics", "bleu", "--no-trivial", "--no-progress"]) == 0


@pytest.mark.parametrize("named", [{}, {"reference": "findings_gt"}])
def test_the_references_are_no_suggested_system(named, tmp_path):
    path = tmp_path / "w.csv"
    pd.DataFrame(WIDE).to_csv(path, index=False)
    command = suggest_systems(str(path), named)
    assert command.startswith(f"rrgmetrics compare {path} --systems pred_a pred_b")
    assert command.endswith("--columns reference=findings_gt") == bool(named)


@pytest.mark.parametrize(
    ("systems", "says"),
    [
        (
            "a=w.csv a=v.csv",
            "Two systems are called 'a': w.csv and v.csv. Give each its own name, such as a1=w.csv a2=",
        ),
        ("w.csv w.csv", "w.csv is named twice; name each of the systems once."),
        ("a=w.csv a=w.csv", "w.csv is named twice; name each of the systems once."),
    ],
)
def test_a_name_of_two_systems(systems, says):
    with pytest.raises(InputError, match=re.escape(says)):
        system_paths(systems.split())


def test_a_column_of_two_systems():
    with pytest.raises(InputError, match="The column 'pred_a' is named for two systems; name each column once"):
        files.read_systems({"a": files.InTable("pred_a"), "b": files.InTable("pred_a")}, WIDE)


def test_systems_with_the_same_reports_are_named(caplog):
    same = {"a": ["Edema."], "b": ["Clear."], "c": ["Edema."]}
    rrgmetrics.compare(same, ["Edema."], metrics="bleu", trivial=False, progress=False, trials=10)
    assert [line for line in caplog.messages if "same" in line] == [
        "a and c have the same reports; is a file or column named twice?"
    ]


ODD_CONTEXTS = [("Age", "72"), ("Sex", "X"), ("sex", "X"), ("age", "unknown"), ("AGE", "unknown"), ("prior", 3)]


@pytest.mark.parametrize(("column", "cell"), ODD_CONTEXTS)
def test_context_that_no_metric_uses_stops_nothing(column, cell, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    rows = [{"study_id": f"s{n}", "reference": REFERENCE, "candidate": CANDIDATE, column: cell} for n in range(2)]
    pd.DataFrame(rows).to_csv("pairs.csv", index=False)
    for source in (rows, "pairs.csv"):
        for metric in ("bleu", "green@openai:model"):
            with use_context(context_of(metric)):
                assert len(files.read_pairs(source).pairs) == 2
        assert rrgmetrics.score("bleu", source, progress=False)["bleu"].n_unscored == 0
        assert rrgmetrics.score_stream("bleu", source, progress=False)["bleu"].n_unscored == 0
        options = {"metrics": "bleu", "trivial": False, "progress": False, "trials": 10}
        assert rrgmetrics.compare({"ours": source}, **options).n_studies == 2
    assert not caplog.messages
    for more in ((), ("--columns", f"{column.lower()}={column}")):
        assert main(["score", "pairs.csv", "--metrics", "bleu", "--no-trivial", "--no-progress", *more]) == 0


def test_the_age_of_a_system_is_not_used(tmp_path):
    references = [{"study_id": "a", "report": REFERENCE, "age": 72}]
    system = [{"study_id": "a", "report": CANDIDATE, "age": "unknown", "Sex": "X"}]
    (pair,) = files.pairs_of(None, system, references).pairs
    assert pair.context.age == 72


def test_a_respelt_context_is_taken_where_a_metric_uses_it(tmp_path, monkeypatch, caplog, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"reference": REFERENCE, "candidate": CANDIDATE, "Age": "72", "Sex": "X"}]
    pd.DataFrame(rows).to_csv("pairs.csv", index=False)
    with use_context(context_of("finding_errors")):
        (pair,) = files.read_pairs("pairs.csv").pairs
    assert pair.context.age == 72
    assert caplog.messages == ["pairs.csv: age is column 'Age', by name; same as columns={'age': 'Age'}"]
    with pytest.raises(InputError, match=r"\['sex'\] is 'X'; .* columns={'sex': ''} leaves the column 'Sex' out\."):
        rrgmetrics.score("crimson@paper", "pairs.csv", progress=False)
    pd.DataFrame(rows).assign(Age="unknown").to_csv("pairs.csv", index=False)
    command = ["score", "pairs.csv", "--metrics", "finding_errors", "--no-trivial", "--no-progress"]
    assert main(command) == 2
    assert "or ''. --columns age= leaves the column 'Age' out.\n" in capsys.readouterr().err
    assert main([*command, "--columns", "age=", "--html", "a.html"]) == 0
    columns = {"age": "", "sex": ""}
    assert files.read_pairs(rows, columns).contexts[0]["age"] is None
    assert rrgmetrics.score("finding_errors", rows, columns=columns, progress=False)["finding_errors"].n_unscored == 0
    with pytest.raises(InputError, match="has a column 'Age'; rename it"):
        pick_columns(("reference", "candidate", "Age", "AGE"), PAIRS, {}, "a.csv")


def test_a_field_in_other_letters_is_taken_before_other_names(tmp_path, caplog):
    path = tmp_path / "pairs.csv"
    path.write_text(f"Study_ID,ImageID,Reference,generated_report\na,1,{REFERENCE},{CANDIDATE}\n")
    source = files.read_pairs(path)
    assert (source.study_ids, source.pairs[0][:2]) == (["a"], (REFERENCE, CANDIDATE))
    assert as_options(caplog.messages[0]).endswith(
        "same as --columns reference=Reference,candidate=generated_report,study_id=Study_ID"
    )
    (pair,) = files.pairs_of(
        None, [{"Study ID": "a", "Report": CANDIDATE}], [{"study_id": "a", "report": REFERENCE}]
    ).pairs
    assert pair.candidate == CANDIDATE
