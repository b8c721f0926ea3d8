"""Missing reports: which cells hold none, and what becomes of them on every way into the package."""

import html
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rrgmetrics
from rrgmetrics import files
from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.reporting.report import report_page
from rrgmetrics.reports import check_pairs
from rrgmetrics.reports.missing import is_missing, says_nothing
from rrgmetrics.scoring.results import Result
from rrgmetrics.scoring.streaming import score_stream

CELLS = [None, math.nan, np.float32("nan"), np.float64("nan"), pd.NA, pd.NaT]
TEXTS = [
    "",
    "  \n",
    "nan",
    "NaN",
    " NAN ",
    "None",
    "none.",
    "NONE",
    "null",
    "N/A",
    "n/a.",
    "NA",
    "n.a.",
    "<NA>",
    "#N/A",
    "___",
    ".",
    "-",
    "See impression.",
    "SEE IMPRESSION",
    "see  impression below.",
    "(See Impression)",
    "Not available.",
    "not provided",
]
REPORTS = [
    "No.",
    "Normal.",
    "None seen.",
    "No acute findings.",
    "Clear.",
    "1",
    "See impression. Small left effusion.",
    "Nan syndrome.",
    "FINDINGS: None.",
    "Névus.",
]
REASON = "the reference is missing"
METRICS = ["rouge", "finding_errors", "cider"]
REFERENCES = ["Small left effusion.", "Cardiomegaly. No edema.", "Right pneumothorax.", "Clear lungs."]
CANDIDATES = ["Small left effusion.", "Cardiomegaly.", "No pneumothorax.", "The lungs are clear."]
IDS = ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_cells_that_are_missing(cell):
    assert is_missing(cell)


@pytest.mark.parametrize("cell", ["", "nan", 0, 1.5, False, math.inf, [], {}, 10**400], ids=lambda cell: repr(cell)[:9])
def test_cells_that_are_not(cell):
    assert not is_missing(cell)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_say_there_is_no_report(text):
    assert says_nothing(text)


@pytest.mark.parametrize("text", REPORTS)
def test_texts_that_are_reports(text):
    assert not says_nothing(text)


@pytest.mark.parametrize("cell", [*CELLS, *TEXTS], ids=repr)
def test_a_missing_report_is_blank_in_pairs(cell):
    assert check_pairs([cell, "a"], ["b", cell]) == [("b", "", (None, "", "", "")), ("", "a", (None, "", "", ""))]


def of_references(missing):
    """References, two of them missing in this way."""
    return [REFERENCES[0], missing, REFERENCES[2], missing]


SOURCES = {
    "lists": lambda missing: {"predictions": CANDIDATES, "references": of_references(missing)},
    "pandas": lambda missing: {"pairs": frame(missing)},
    "series": lambda missing: {"predictions": pd.Series(CANDIDATES), "references": pd.Series(of_references(missing))},
    "dicts": lambda missing: {"pairs": frame(missing).to_dict("records")},
}


def frame(missing):
    """A frame of pairs, two of whose references are missing in this way."""
    return pd.DataFrame({"study_id": IDS, "reference": of_references(missing), "candidate": CANDIDATES})


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, "", "nan", "N/A", "See impression."], ids=repr)
@pytest.mark.parametrize("source", SOURCES)
def test_missing_references_are_unscored(source, missing, caplog):
    results = rrgmetrics.score(METRICS, **SOURCES[source](missing), progress=False)
    for result in results.values():
        assert (result.n_pairs, result.n_unscored) == (4, 2)
        assert result.unscored_reasons == {1: REASON, 3: REASON}
        assert "missing" not in result.signature
    known = [0, 2]
    expected = rrgmetrics.score(
        METRICS, predictions=[CANDIDATES[i] for i in known], references=[REFERENCES[i] for i in known], progress=False
    )
    assert [each.scores for each in results.values()] == [each.scores for each in expected.values()]
    places = "study ids s2, s4" if source in ("pandas", "dicts") else "indices 1, 3"
    said = [record.getMessage() for record in caplog.records if "missing" in record.getMessage()]
    assert len(said) == 1
    assert said[0].startswith(f"2 references are missing ({places}): unscored; pass missing='empty' ")


@pytest.mark.parametrize("source", [pl.DataFrame, pa.table])
def test_nulls_of_other_frames(source):
    table = source({"study_id": IDS, "reference": of_references(None), "candidate": CANDIDATES})
    assert rrgmetrics.score("rouge", table, progress=False)["rouge"].n_unscored == 2


def test_missing_references_are_scored_as_empty_where_that_is_asked(caplog):
    result = rrgmetrics.score("rouge", frame(None), missing="empty", progress=False)["rouge"]
    assert result.n_unscored == 0
    assert result.per_pair["rouge"][[1, 3]].tolist() == [0, 0]
    assert "|missing:empty|" in result.signature
    assert "2 references are missing (study ids s2, s4): scored as empty reports" in caplog.text
    assert Result.merge([result, result]).signature.count("missing:empty") == 1
    assert rrgmetrics.Evaluation.of({"rouge": result}).settings == {"missing": "empty"}


def test_missing_references_end_the_call_where_that_is_asked():
    with pytest.raises(InputError, match=r"^2 references are missing \(study ids s2, s4\); pass missing="):
        rrgmetrics.score("rouge", frame(None), missing="error", progress=False)
    with rrgmetrics.prepare("rouge", missing="error") as metrics, pytest.raises(InputError, match="1 reference is"):
        metrics.score_sets([check_pairs(["a"], [None])], progress=False)
    with pytest.raises(InputError, match=r"missing is 'emtpy'; .* Did you mean 'empty'"):
        rrgmetrics.score("rouge", frame(None), missing="emtpy")


def test_three_of_three_thousand_and_many_ids(caplog):
    references = [None if i in (7, 70, 700) else f"Nodule of {i} mm." for i in range(3000)]
    table = {"study_id": [f"s{i}" for i in range(3000)], "reference": references, "candidate": ["Nodule."] * 3000}
    result = rrgmetrics.score("rouge", table, progress=False)["rouge"]
    assert (result.n_pairs - result.n_unscored, result.n_unscored) == (2997, 3)
    assert "3 references are missing (study ids s7, s70, s700): unscored" in caplog.text
    table["reference"] = [None] * 2999 + ["Nodule."]
    rrgmetrics.score("rouge", table, progress=False)
    assert "2,999 references are missing (study ids s0, s1, s2, s3, s4 and 2,994 others)" in caplog.text


@pytest.mark.parametrize("candidate", [None, math.nan, "", "nan", "None", "N/A", "See impression."], ids=repr)
def test_a_missing_candidate_is_an_empty_report(candidate, caplog):
    references = ["Small left effusion.", "Clear lungs."]
    names = ["finding_errors", "rouge", "green"]
    empty = rrgmetrics.score(names, predictions=["", "Clear."], references=references, progress=False)
    caplog.clear()
    given = rrgmetrics.score(names, predictions=[candidate, "Clear."], references=references, progress=False)
    assert [each.scores for each in given.values()] == [each.scores for each in empty.values()]
    assert given["finding_errors"].scores["finding_errors_false_finding"] == 0
    assert caplog.text.count("1 candidate is missing (index 0): scored as an empty report.") == 1


def test_references_in_lists_of_one():
    nested = [[text] for text in REFERENCES]
    plain = rrgmetrics.score("rouge", predictions=CANDIDATES, references=REFERENCES, progress=False)
    result = rrgmetrics.score("rouge", predictions=CANDIDATES, references=nested, progress=False)["rouge"]
    assert result.scores == plain["rouge"].scores
    with pytest.raises(
        InputError, match=r"references\[0\] is a list of 2; each study has one report here: pass a string"
    ):
        rrgmetrics.score("rouge", predictions=["a"], references=[["a", "b"]])


def test_the_evaluate_module_knows_missing_reports():
    module = rrgmetrics.load("rouge")
    values = module.compute(predictions=CANDIDATES, references=[[text] for text in of_references("nan")])
    assert values["rouge_n_unscored"] == 2
    module.add_batch(predictions=CANDIDATES, references=of_references(None))
    module.add(prediction=None, reference=[REFERENCES[0]])
    values = module.compute(missing="empty", per_pair=True)
    assert (values["rouge_n_unscored"], values["rouge_per_pair"][-1]) == (0, 0)


def test_one_pair_says_why_cider_has_no_number():
    result = rrgmetrics.score("cider", predictions=["Clear."], references=["Clear lungs."], progress=False)["cider"]
    assert "always so with one pair" in result.unscored_reasons[0]


FALLBACKS = ["None.", "nan", "N/A", "See impression.", "___", "Not available"]


@pytest.mark.parametrize("findings", FALLBACKS)
@pytest.mark.parametrize("layout", ["FINDINGS: {} IMPRESSION: {}", "FINDINGS:\n{}\n\nIMPRESSION:\n{}"])
def test_a_findings_section_that_says_nothing_falls_back(findings, layout):
    reference = layout.format(findings, "Small left effusion.")
    result = rrgmetrics.score(
        "finding_errors?text=findings", predictions=["Small left effusion."], references=[reference], progress=False
    )["finding_errors?text=findings"]
    assert (result.scores["finding_errors"], result.n_unscored) == (0, 0)


def test_the_check_of_scope_reads_what_text_leaves():
    reference = "FINDINGS: Blorp zint quazzle frumious vex. IMPRESSION: Small effusion. No pneumothorax. Clear lungs."
    scores = {
        name: rrgmetrics.score(name, predictions=["Clear lungs."], references=[reference], progress=False)[name]
        for name in ("finding_errors", "finding_errors?text=findings", "finding_errors?text=impression")
    }
    assert [each.n_unscored for each in scores.values()] == [0, 1, 0]


# --- files and the command line --------------------------------------------------------------------------------------

ROWS = [
    ("s1", "Small left effusion.", "Small left effusion."),
    ("s2", "", "Cardiomegaly."),
    ("s3", "nan", "Cardiomegaly."),
    ("s4", "None", "Cardiomegaly."),
    ("s5", "Right pneumothorax.", "NaN"),
    ("s6", "Clear lungs.", ""),
]


@pytest.fixture
def csv(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["study_id,reference,candidate", *map(",".join, ROWS)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    return "pairs.csv"


def run(capsys, *arguments):
    status = main([*arguments, "--metrics", "rouge,finding_errors", "--no-progress"])
    out, err = capsys.readouterr()
    return status, out, err


REFERENCES_SAID = "3 references are missing (study ids s2, s3, s4): unscored"
CANDIDATES_SAID = "2 candidates are missing (study ids s5, s6): scored as empty reports"


@pytest.mark.parametrize("more", [(), ("--workers", "2"), ("--no-trivial",)], ids=" ".join)
def test_score_on_the_command_line(csv, capsys, caplog, more):
    outputs = ("--json", "a.json", "--html", "a.html", "--table", "a.md", "a.tex", "--output", "a.csv")
    status, out, _ = run(capsys, "score", csv, *outputs, *more)
    assert status == 0
    assert caplog.text.count(REFERENCES_SAID) == caplog.text.count(CANDIDATES_SAID) == 1
    assert "without a score are left out" in " ".join(out.split())
    assert "the reference is missing" not in out  # which was said before, with the studies
    written = json.loads(Path("a.json").read_text())["systems"]["pairs"]
    assert written["rouge"]["unscored"] == {REASON: 3}
    page = Path("a.html").read_text()
    assert "3 references are missing (study ids s2, s3, s4)" in page
    assert all("3 studies without a score are left out." in Path(name).read_text() for name in ("a.md", "a.tex"))
    said = "2 candidates are missing and scored as empty reports."
    for document in (Path(name).read_text() for name in ("a.md", "a.tex")):
        assert said in document
        assert "6 studies, 3 not scored" in document
    assert pd.read_csv("a.csv")["rouge"].isna().tolist() == [False, True, True, True, False, False]


def test_empty_and_error_on_the_command_line(csv, capsys):
    assert run(capsys, "score", csv, "--missing", "empty", "--json", "b.json")[0] == 0
    written = json.loads(Path("b.json").read_text())["systems"]["pairs"]["rouge"]
    assert written["n_unscored"] == 0
    assert "|missing:empty|" in written["signature"]
    status, _, err = run(capsys, "score", csv, "--missing", "error")
    assert status == 2
    assert "3 references are missing (study ids s2, s3, s4); pass --missing unscored" in err


def test_compare_on_the_command_line(csv, capsys, caplog):
    status, out, _ = run(capsys, "compare", "--systems", f"a={csv}", f"b={csv}", "--trials", "50")
    assert status == 0
    assert caplog.text.count(REFERENCES_SAID) == 1
    assert all(f"{name}: {CANDIDATES_SAID}" in caplog.text for name in "ab")
    assert "without a score are left out" in " ".join(out.split())
    assert "the reference is missing" not in out  # which was said before, with the studies


def test_a_stream_and_shards(csv, capsys, caplog):
    status, out, _ = run(capsys, "score", csv, "--stream", "--output", "s.parquet", "--no-trivial")
    assert status == 0
    assert caplog.text.count(REFERENCES_SAID) == caplog.text.count(CANDIDATES_SAID) == 1
    assert "3 of 6 studies not scored (the reference is missing)" in " ".join(out.split())
    for part in ("1/2", "2/2"):
        assert run(capsys, "score", csv, "--shard", part, "--output", f"p{part[0]}.parquet")[0] == 0
    assert main(["merge", "p1.parquet", "p2.parquet", "--json", "m.json"]) == 0
    assert main(["score", csv, "--metrics", "rouge,finding_errors", "--json", "w.json", "--no-progress"]) == 0
    scores = [json.loads(Path(name).read_text())["systems"]["pairs"] for name in ("m.json", "w.json")]
    assert scores[0]["finding_errors"]["scores"] == scores[1]["finding_errors"]["scores"]
    assert scores[0]["rouge"]["unscored"] == {REASON: 3}
    with pytest.raises(InputError, match="3 references are missing"):
        score_stream("rouge", csv, missing="error", progress=False)
    assert score_stream("rouge", csv, missing="empty", progress=False)["rouge"].n_unscored == 0


def test_null_in_other_files(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"reference": null, "candidate": "b"}\n{"reference": NaN, "candidate": "b"}\n')
    assert files.read_pairs(path).references == ["", ""]
    parquet = tmp_path / "a.parquet"
    pd.DataFrame({"reference": ["a", None], "candidate": [math.nan, "b"]}).to_parquet(parquet)
    assert [pair[:2] for pair in files.read_pairs(parquet).pairs] == [("a", ""), ("", "b")]
    assert files.read_column(parquet, "reference") == ["a", ""]


def test_a_page_of_scores_without_ids():
    pairs = check_pairs(CANDIDATES, of_references(None))
    results = rrgmetrics.score("rouge", predictions=CANDIDATES, references=of_references(None), progress=False)
    assert "2 references are missing (study ids 2, 4): unscored" in report_page({"a": results}, {"a": pairs})


# --- a section that is missing ---------------------------------------------------------------------------------------

SECTIONS = [
    ("FINDINGS: Small left effusion. IMPRESSION: Left effusion.", "FINDINGS: Clear. IMPRESSION: Left effusion."),
    ("FINDINGS: Small left effusion.", "FINDINGS: Small left effusion."),
    ("Small left effusion.", "Small left effusion."),
    ("FINDINGS: Small left effusion. IMPRESSION: None.", "IMPRESSION: Left effusion."),
    ("FINDINGS: Edema. IMPRESSION: Pulmonary edema.", "Pulmonary edema."),  # a system that writes the section alone
    ("FINDINGS: Edema. IMPRESSION: Cardiomegaly.", "FINDINGS: Cardiomegaly."),
]


@pytest.mark.parametrize("metric", ["rouge", "finding_errors", "cider"])
def test_a_reference_without_the_section_is_unscored(metric, caplog):
    references, candidates = zip(*SECTIONS, strict=True)
    name = f"{metric}?text=impression_only"
    result = rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name]
    assert list(result.unscored_reasons) == [1, 2, 3]
    assert set(result.unscored_reasons.values()) == {"the reference lacks an impression section"}
    alone = rrgmetrics.score(
        metric,
        predictions=["Left effusion.", "Pulmonary edema.", ""],
        references=["Left effusion.", "Pulmonary edema.", "Cardiomegaly."],
        progress=False,
    )[metric]
    np.testing.assert_array_equal(result.per_pair[metric][[0, 4, 5]], alone.per_pair[metric])
    assert result.scores[metric] == pytest.approx(np.mean(alone.per_pair[metric]))
    assert "3 of 6 references lack an impression section" in caplog.text
    assert "text:impression_only@1" in result.signature


def test_findings_alone_and_sections_that_are_scored_as_empty_texts():
    references, candidates = zip(*SECTIONS, strict=True)
    names = ["rouge?text=findings_only", "rouge?text=findings", "rouge?text=impression"]
    results = rrgmetrics.score(names, predictions=candidates, references=references, progress=False)
    assert [results[name].n_unscored for name in names] == [1, 0, 0]
    asked = rrgmetrics.score(
        "rouge?text=impression_only", predictions=candidates, references=references, progress=False, missing="empty"
    )
    assert [round(float(each), 2) for each in asked["rouge?text=impression_only"].per_pair["rouge"]] == [
        1,
        0,
        0,
        0,
        1,
        0,
    ]


def test_the_page_of_the_command_line_names_options_as_the_terminal_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["study_id,reference,candidate", "a,Edema.,Edema.", "b,,Edema."]
    Path("pairs.csv").write_text("\n".join(rows))
    assert main(["score", "pairs.csv", "--metrics", "bleu", "--no-trivial", "--no-progress", "--html", "a.html"]) == 0
    assert "unscored; pass --missing empty to score it as an empty report" in Path("a.html").read_text()
    in_python = rrgmetrics.compare({"ours": "pairs.csv"}, metrics="bleu", trivial=False, progress=False).to_html()
    assert "pass missing='empty'" in html.unescape(in_python)
