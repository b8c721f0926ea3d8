"""Data that radiologists judged, as published: invented miniatures, and what is wrong with bad files."""

import csv
import json

import numpy as np
import pytest

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import agree
from rrgmetrics.metaeval.counting import EVERY_KIND, counting
from rrgmetrics.metaeval.loaders import load, load_table
from rrgmetrics.metaeval.loaders.radeval_expert import read_annotation
from rrgmetrics.metaeval.rated import KINDS
from rrgmetrics.reports import Context
from rrgmetrics.specs import SPECS

EFFUSION, CLEAR, MASS = "Small left effusion.", "Clear lungs.", "Mass in the right upper lobe."


def write(path, rows):
    """Rows as CSV or JSONL; the first one names the columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    return path


def edited(rows, row, column, value):
    """A copy of rows with one cell changed."""
    rows = [list(each) for each in rows]
    rows[row][column] = value
    return rows


# --- ReXVal

REXVAL = [
    ["study_id", "gt_report", "radgraph", "bertscore", "s_emb", "bleu"],
    ["501", EFFUSION, EFFUSION, CLEAR, "Left effusion.", MASS],
    ["502", CLEAR, CLEAR + " ", MASS, EFFUSION, "Lungs are clear."],
]
REXVAL_ERRORS = [
    ["study_number", "candidate_type", "error_category", "clinically_significant", "rater_index", "num_errors"],
    *([0, "bertscore", 2, True, rater, 1] for rater in range(6)),
    *([0, "bleu", 1, True, rater, 1 + (rater == 5)] for rater in range(6)),
    *([0, "bleu", 6, False, rater, 2] for rater in range(6)),
    *([1, "bleu", 4, False, rater, 0] for rater in range(5)),  # the sixth did not judge it
]


@pytest.fixture
def rexval(tmp_path):
    def make(reports=REXVAL, errors=REXVAL_ERRORS):
        write(tmp_path / "50_samples_gt_and_candidates.csv", reports)
        write(tmp_path / "6_valid_raters_per_rater_error_categories.csv", errors)
        return f"rexval:{tmp_path}"

    return make


def test_rexval(rexval):
    data = load(rexval())
    assert (len(data.pairs), data.n_studies, data.raters) == (8, 2, ["0", "1", "2", "3", "4", "5"])
    assert data.labels["source"] == ["radgraph", "bertscore", "s_emb", "bleu"] * 2
    assert data.pairs[3][:2] == (EFFUSION, MASS)
    assert data.values["total_errors"][:, 3].tolist() == [3, 3, 3, 3, 3, 4]
    assert data.values["significant_errors"][:, 1].tolist() == [1] * 6
    assert data.values["missing_comparison"][0, 3] == 2
    assert data.values["missing_comparison_significant"][0, 3] == 0
    assert data.values["total_errors"][:, 7].tolist()[:5] == [0] * 5
    assert np.isnan(data.values["total_errors"][5, 7])
    assert np.isnan(data.mean("total_errors")[0])  # nobody judged it


def test_rexval_counts_studies_from_one_too(rexval):
    from_one = [REXVAL_ERRORS[0], *([row[0] + 1, *row[1:]] for row in REXVAL_ERRORS[1:])]
    assert np.array_equal(
        load(rexval(errors=from_one)).mean("total_errors"), load(rexval()).mean("total_errors"), equal_nan=True
    )


def test_rexval_star_leaves_out_equal_pairs(rexval):
    data = load(rexval().replace("rexval:", "rexval_star:"))
    assert (data.name, len(data.pairs)) == ("rexval_star", 6)
    assert "radgraph" not in data.labels["source"]
    assert data.notes == ("2 pairs of equal texts are left out",)


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (edited(REXVAL_ERRORS, 1, 1, "rouge"), "line 2: candidate_type is 'rouge'; the reports have radgraph"),
        (edited(REXVAL_ERRORS, 1, 2, 7), "line 2: error_category is 7; they go from 1 to 6"),
        (edited(REXVAL_ERRORS, 1, 3, "maybe"), "line 2: clinically_significant is 'maybe'; True or False"),
        (edited(REXVAL_ERRORS, 3, 5, -1), "line 4: num_errors is '-1'; a whole number"),
        (edited(REXVAL_ERRORS, 3, 0, 9), "study_number goes from 0 to 9 for 2 studies"),
        (edited(REXVAL_ERRORS, 0, 5, "n"), "has no 'num_errors'; it has: study_number"),
        (REXVAL_ERRORS[:1], "has no rows"),
    ],
)
def test_bad_files_of_rexval(rexval, errors, message):
    with pytest.raises(InputError, match=message):
        load(rexval(errors=errors))


def test_rexval_needs_both_files(rexval, tmp_path):
    with pytest.raises(InputError, match="nowhere does not exist; give the folder of ReXVal's files"):
        load("rexval:nowhere")
    name = rexval()
    (tmp_path / "6_valid_raters_per_rater_error_categories.csv").unlink()
    with pytest.raises(InputError, match=r"has no .*raters_per_rater_error_categories"):
        load(name)
    with pytest.raises(InputError, match="has no 'gt_report'"):
        load(rexval(reports=edited(REXVAL, 0, 1, "report")))


# --- RadEvalX

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
RADEVALX_REPORTS = [["report_id", "ground_truth", "prediction"], ["12", EFFUSION, CLEAR], ["7", CLEAR, CLEAR]]
RADEVALX_ERRORS = [
    ["report_id", "error_type", *NUMBERS],
    ["12", "significant", 0, 1, 0, 0, 0, 0, 1, 0],
    ["12", "insignificant", 0, 0, 0, 2, 0, 0, 0, 1],
    ["7", "significant", 0, 0, 0, 0, 0, 0, 0, 0],
]


@pytest.fixture
def radevalx(tmp_path):
    def make(reports=RADEVALX_REPORTS, errors=RADEVALX_ERRORS):
        write(tmp_path / "texts.csv", reports)
        write(tmp_path / "counted.csv", errors)
        return f"radevalx:{tmp_path}"

    return make


def test_radevalx(radevalx):
    data = load(radevalx())
    assert (data.studies, data.raters) == (["12", "7"], ["consensus"])
    assert {name: data.values[name].tolist() for name in ("total_errors", "significant_errors", "all_eight")} == {
        "total_errors": [[3, 0]],
        "significant_errors": [[1, 0]],
        "all_eight": [[5, 0]],
    }
    assert data.values["incorrect_severity"].tolist() == [[2, 0]]
    assert data.values["partly_right"].tolist() == [[2, 0]]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"errors": edited(RADEVALX_ERRORS, 1, 1, "grave")}, "line 2: error_type is 'grave'"),
        ({"errors": edited(RADEVALX_ERRORS, 2, 1, "significant")}, "line 3: report 12 has two rows of significant"),
        ({"errors": edited(RADEVALX_ERRORS, 1, 4, "x")}, "line 2: three is 'x'; a whole number"),
        ({"errors": RADEVALX_ERRORS[:3]}, "line 3: report 7 has no row in counted.csv"),
        (
            {"errors": edited(RADEVALX_ERRORS, 0, 9, "nine")},
            "0 files of errors and 1 of reports .*texts.csv: ",
        ),
        ({"reports": edited(RADEVALX_REPORTS, 0, 2, "system")}, "1 files of errors and 0 of reports"),
    ],
)
def test_bad_files_of_radevalx(radevalx, files, message):
    with pytest.raises(InputError, match=message):
        load(radevalx(**files))


# PhysioNet 1.0.0: two files of errors with the reports in them, blank for 0, and one with scores of metrics

RADEVALX_HEAD = ["report_id", "ground_truth", "M2Tr-Generation", *map(str, range(1, 9))]
RADEVALX_PUBLISHED = {
    "significant_errors.csv": [
        RADEVALX_HEAD,
        ["12", EFFUSION, CLEAR, "", 1, "", "", "", "", 1, ""],
        ["7", CLEAR, CLEAR, *[""] * 8],
    ],
    "insignificant_errors.csv": [
        RADEVALX_HEAD,
        ["7", CLEAR, CLEAR, *[""] * 8],
        ["12", EFFUSION + " ", CLEAR, "", "", "", "2.0", "", "", "", 1],
    ],
    "metrics.csv": [
        ["report_id", "id", "bleu4", "bleu_2", "bertscore", "CheXbert", "radgraph_f1", "radcliq"],
        ["7", "0", 1, 1, 1, 1, 1, -0.5],
        ["12", "1", 0.1, 0.2, 0.3, 0.4, "", 1.5],
    ],
    "russian_RadEvalX.csv": [["report_id", "M2Tr-Generation_ru"], ["12", "x"]],
}


@pytest.fixture
def radevalx_published(tmp_path):
    def make(**changed):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, rows in {**RADEVALX_PUBLISHED, **changed}.items():
            if rows:
                write(folder / name, rows)
        return folder

    return make


def test_radevalx_as_published(radevalx_published, radevalx):
    data, reshaped = load(f"radevalx:{radevalx_published()}"), load(radevalx())
    assert (data.pairs, data.studies, data.raters) == (reshaped.pairs, ["12", "7"], ["consensus"])
    assert {name: values.tolist() for name, values in data.values.items()} == {
        name: values.tolist() for name, values in reshaped.values.items()
    }
    assert list(data.published) == ["bleu4", "bleu_2", "bertscore", "CheXbert", "radgraph_f1", "radcliq"]
    assert data.published["radcliq"].scores.tolist() == [1.5, -0.5]
    assert [name for name, each in data.published.items() if not each.higher_is_better] == ["radcliq"]
    np.testing.assert_array_equal(data.published["radgraph_f1"].scores, [np.nan, 1])
    assert data.only(np.array([False, True])).published["bleu4"].scores.tolist() == [1]
    known = {key.name for spec in SPECS.values() for key in spec.keys}
    assert {key for each in data.published.values() for key in each.counterparts} <= known


def test_radevalx_by_one_of_its_files_and_without_metrics(radevalx_published):
    folder = radevalx_published(**{"metrics.csv": []})
    data = load(f"radevalx:{folder / 'insignificant_errors.csv'}")
    assert (data.mean("total_errors").tolist(), data.published) == ([3, 0], {})


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("significant_errors.csv", [], "has 1 of the two files of errors"),
        ("more_significant.csv", [RADEVALX_HEAD, ["8", "", "", *[""] * 8]], "has 3 of the two files of errors"),
        (
            "insignificant_errors.csv",
            RADEVALX_PUBLISHED["insignificant_errors.csv"][:2],
            "report 12 has no row in insig",
        ),
        ("significant_errors.csv", edited(RADEVALX_PUBLISHED["significant_errors.csv"], 1, 4, "x"), "line 2: 2 is 'x'"),
        (
            "significant_errors.csv",
            edited(RADEVALX_PUBLISHED["significant_errors.csv"], 2, 0, "12"),
            "line 3: report 12",
        ),
        (
            "significant_errors.csv",
            edited(RADEVALX_PUBLISHED["significant_errors.csv"], 1, 1, MASS),
            "report 12 has other",
        ),
        ("metrics.csv", edited(RADEVALX_PUBLISHED["metrics.csv"], 1, 2, "high"), "line 2: bleu4 is 'high'"),
        ("metrics.csv", RADEVALX_PUBLISHED["metrics.csv"][:2], "report 12 has no row in metrics.csv"),
    ],
)
def test_bad_files_of_radevalx_as_published(radevalx_published, name, rows, message):
    with pytest.raises(InputError, match=message):
        load(f"radevalx:{radevalx_published(**{name: rows})}")


def test_radevalx_needs_names_that_tell_significance(radevalx_published):
    folder = radevalx_published()
    (folder / "insignificant_errors.csv").rename(folder / "b.csv")
    with pytest.raises(InputError, match=r"b\.csv and significant_errors\.csv do not say"):
        load(f"radevalx:{folder}")


# --- RadEval expert

LINES = (
    "False prediction of finding",
    "Omission of finding",
    "Incorrect location/position of finding",
    "Incorrect severity of finding",
    "Mention of comparison that is not present in the reference",
    "Omission of a change from a previous study",
    "Inarticulate report (grammar and readability issues)",
)


def annotation(significant, insignificant=(0,) * 7):
    parts = []
    for heading, counts in (("Significant", significant), ("Insignificant", insignificant)):
        numbered = zip(LINES, counts, strict=True)
        parts.append("\n".join([heading, *(f"{n}. {line}: {count}" for n, (line, count) in enumerate(numbered, 1))]))
    return "\n\n".join(parts)


def expert_row(study, source, counted, annotator="one", path="data/mimic-cxr/p1.jpg", section="findings"):
    return {
        "id": f"{study}-{source}",
        "original_example_id": study,
        "prediction": CLEAR,
        "reference": EFFUSION,
        "prediction_source": source,
        "type": section,
        "annotator": annotator,
        "images_path": path,
        "annotation": counted,
    }


EXPERT = [
    expert_row(1, "model_1", annotation((1, 2, 0, 0, 0, 0, 1), (0, 0, 0, 1, 0, 0, 0))),
    expert_row(1, "model_2", annotation((0,) * 7), path="RexGradient-160K/x.png", section="impression"),
    expert_row(2, "model_1", annotation((0, 0, 1, 0, 0, 0, 0)), annotator="two", path="CheXpert-plus/x.png"),
    expert_row(2, "model_2", annotation((0,) * 7).replace("finding: 0", "finding: none")),
]


def test_radeval_expert(tmp_path):
    data = load(f"radeval_expert:{write(tmp_path / 'expert.jsonl', EXPERT)}")
    assert (data.studies, data.raters) == (["1", "1", "2", "2"], ["one", "two"])
    assert data.mean("total_errors").tolist()[:3] == [4, 0, 1]
    assert data.mean("significant_errors").tolist()[:3] == [3, 0, 1]
    assert data.mean("inarticulate").tolist()[:3] == [1, 0, 0]
    assert np.isnan(data.mean("total_errors")[3])
    assert np.isnan(data.values["total_errors"]).tolist() == [[False, False, True, True], [True, True, False, True]]
    assert data.labels == {
        "section": ["findings", "impression", "findings", "findings"],
        "source": ["model_1", "model_2"] * 2,
        "origin": ["MIMIC-CXR", "ReXGradient", "CheXpert-Plus", "MIMIC-CXR"],
    }
    assert data.notes == ("1 annotations cannot be read (line 4)",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no errors",
        annotation((0,) * 7).replace("2. Omission of finding: 0\n", ""),
        annotation((0,) * 7).replace("2. ", "1. "),
        annotation((0,) * 7).replace("Insignificant", "Other"),
    ],
)
def test_annotations_that_cannot_be_read(text):
    assert read_annotation(text) is None


@pytest.mark.parametrize(
    ("old", "new"), [("2. Omission of finding: 0\n", ""), ("2. ", "1. "), ("finding: 0", "finding: none")]
)
@pytest.mark.parametrize("part", [0, 1])
def test_one_part_of_an_annotation_is_kept(part, old, new):
    parts = annotation((0,) * 7).split("\n\n")
    parts[part] = parts[part].replace(old, new, 1)
    read = read_annotation("\n\n".join(parts))
    assert np.isnan(read[part]).all()
    assert read[1 - part].tolist() == [0] * 7


EXPERT_HUB = [
    [
        "annotator",
        "type",
        "ground_truth",
        "images_path",
        *(f"{name}{n}" for name in ("prediction", "annotation") for n in (1, 2, 3)),
    ],
    ["one", "findings", EFFUSION, "data/mimic-cxr/p1.jpg", CLEAR, MASS, "", *[annotation((1, 2, 0, 0, 0, 0, 1))] * 3],
    [
        *("two", "impression", CLEAR, "CheXpert-plus/x.png", CLEAR, CLEAR, MASS, annotation((0,) * 7)),
        annotation((0, 0, 1, 0, 0, 0, 0)).partition("\n7. ")[0],  # cut off within the significant ones
        annotation((0, 0, 0, 1, 0, 0, 0)).replace("Insignificant", "").rpartition("1. ")[0],
    ],
]


def test_radeval_expert_as_on_the_hub(tmp_path):
    file = write(tmp_path / "reader_study_final_with_annotationsv3.csv", EXPERT_HUB)
    data = load(f"radeval_expert:{file.parent}")
    assert (len(data.pairs), data.studies, data.raters) == (6, ["1"] * 3 + ["2"] * 3, ["one", "two"])
    assert [pair[:2] for pair in data.pairs] == [
        *((EFFUSION, CLEAR), (EFFUSION, MASS), (EFFUSION, "")),
        *((CLEAR, CLEAR), (CLEAR, CLEAR), (CLEAR, MASS)),
    ]
    assert data.labels == {
        "section": ["findings"] * 3 + ["impression"] * 3,
        "source": ["model_1", "model_2", "model_3"] * 2,
        "origin": ["MIMIC-CXR"] * 3 + ["CheXpert-Plus"] * 3,
    }
    np.testing.assert_array_equal(data.mean("total_errors"), [3, 3, 3, 0, np.nan, np.nan])
    np.testing.assert_array_equal(data.mean("significant_errors"), [3, 3, 3, 0, np.nan, 1])
    assert data.notes == (
        "1 annotations cannot be read (row 2, annotation2)",
        "1 annotations are read in part (row 2, annotation3)",
    )


def test_radeval_expert_of_the_hub_without_a_column(tmp_path):
    rows = [row[:-1] for row in EXPERT_HUB]
    with pytest.raises(InputError, match="line 2 has no 'annotation3'; it has: annotator, type"):
        load(f"radeval_expert:{write(tmp_path / 'a.csv', rows)}")


def test_annotations_in_other_dress():
    text = annotation((1, 2, 3, 4, 5, 6, 7)).replace("Significant", "**significant errors:**", 1).replace("1. ", "1) ")
    assert read_annotation(text.replace("\n", "\r\n"))[0].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_bad_files_of_radeval_expert(tmp_path):
    row = dict(EXPERT[0])
    del row["type"]
    with pytest.raises(InputError, match="line 1 has no 'type'; it has: id, original_example_id"):
        load(f"radeval_expert:{write(tmp_path / 'a.jsonl', [row])}")
    with pytest.raises(InputError, match="no annotation can be read"):
        load(f"radeval_expert:{write(tmp_path / 'b.jsonl', [EXPERT[3]])}")
    with pytest.raises(InputError, match="reference is None"):
        load(f"radeval_expert:{write(tmp_path / 'c.jsonl', [EXPERT[0] | {'reference': None}])}")


# --- ReFiSco

REFISCO = [
    ["id", "indication", "impression_original", "impression_edited", "score", "annotator", "source", "notes"],
    ["1", "Cough.", "Clear lungs.", "[no edit]", "No error", "1", "model", ""],
    ["1", "Cough.", "Large effusion.", "Small effusion.", "Actionable nonurgent error", "1", "model", "size"],
    ["1", "Cough.", "Right mass.", "[delete]", "Urgent error", "1", "model", ""],
    ["1", "Cough.", "", "Rib fracture.", "Not actionable", "1", "model", ""],
    ["1", "Cough.", "Clear lungs.", "", "No error", "1", "human", ""],
    ["2", "", "Old line.", "[delete]", "Emergent error", "2", "model", ""],
]


def test_refisco_is_rebuilt_line_by_line(tmp_path):
    data = load(f"refisco:{write(tmp_path / 'refisco-v0.csv', REFISCO).parent}")
    assert data.pairs[0] == (
        "Clear lungs.\nSmall effusion.\nRib fracture.",
        "Clear lungs.\nLarge effusion.\nRight mass.",
        Context(None, "", "Cough."),
    )
    assert data.pairs[1][:2] == ("Clear lungs.", "Clear lungs.")
    assert data.pairs[2][:2] == ("", "Old line.")
    assert (data.studies, data.labels["source"]) == (["1", "1", "2"], ["model", "human", "model"])
    assert {name: values.tolist() for name, values in data.values.items()} == {
        "total_errors": [[3, 0, 1]],
        "severity_sum": [[6, 0, 4]],
        "severity_max": [[3, 0, 4]],
        "severity_mean": [[2, 0, 4]],
    }


def test_refisco_divides_by_the_original_lines(tmp_path):
    head, kept, *_ = REFISCO
    inserted = ["1", "Cough.", "", "Rib fracture.", "Urgent error", "1", "model", ""]
    only_inserted = ["2", "", "", "Rib fracture.", "Emergent error", "1", "model", ""]
    data = load(f"refisco:{write(tmp_path / 'refisco-v0.csv', [head, kept, inserted, inserted, only_inserted])}")
    np.testing.assert_array_equal(data.values["severity_mean"], [[6, np.nan]])
    assert data.values["severity_max"].tolist() == [[3, 4]]


def test_refisco_leaves_out_rows_that_hold_nothing(tmp_path):
    empty = ["1", "Cough.", "", "", "", "1", "model", ""]
    alone = ["9", "", "", " ", "", "1", "model", "notes are no line"]
    data = load(f"refisco:{write(tmp_path / 'refisco-v0.csv', [*REFISCO[:3], empty, *REFISCO[3:], alone])}")
    assert data.pairs == load(f"refisco:{write(tmp_path / 'other' / 'refisco-v0.csv', REFISCO)}").pairs
    assert data.notes == ("2 rows without original, edit and score are left out (line 4, line 9)",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (edited(REFISCO, 2, 4, "Bad"), "line 3: score is 'Bad'; we know no error, not actionable"),
        (edited(REFISCO, 2, 4, ""), "line 3: score is ''; we know"),
        (edited(REFISCO, 2, 3, ""), "line 3: impression_edited is blank although there is an error"),
        (
            edited(REFISCO, 4, 3, "[delete]"),
            r"line 5: impression_edited is \[delete\], but impression_original is blank",
        ),
        (edited(REFISCO, 0, 3, "edit"), "line 2 has no 'impression_edited'"),
        (REFISCO[:1], "no pairs with single judgements|no pairs that were judged|no rows"),
    ],
)
def test_bad_files_of_refisco(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        load(f"refisco:{write(tmp_path / 'refisco-v0.csv', rows)}")


# --- RaTE-Eval


def test_rate_eval_of_sentences(tmp_path):
    rows = [["id", "gt", "pred", "errors", "potential_errors", "modality"]]
    rows += [["1", EFFUSION, CLEAR, 1, 4, "X-ray"], ["2", CLEAR, CLEAR, 0, 0, "CT"]]
    data = load(f"rate_eval:{write(tmp_path / 'task1.csv', rows)}")
    assert data.values["total_errors"].tolist() == [[1, 0]]
    assert data.values["error_share"][0, 0] == 0.25
    assert np.isnan(data.values["error_share"][0, 1])  # no error was possible
    assert data.labels == {"source": ["X-ray", "CT"]}


@pytest.mark.parametrize("names", [list(KINDS), list("ABCDEF"), list("123456")], ids=",".join)
@pytest.mark.parametrize("total", [False, True], ids=["no total", "total"])
def test_rate_eval_with_columns_of_kinds(tmp_path, names, total):
    more = ["errors"] if total else []
    rows = [["id", "gt", "pred", "potential_errors", *names, *more]]
    rows += [["1", EFFUSION, CLEAR, 4, 0, 1, 0, 0, 0, 1, *([2] if total else [])]]
    rows += [["2", CLEAR, CLEAR, 0, 0, 0, 0, 0, 0, 0, *([0] if total else [])]]
    data = load(f"rate_eval:{write(tmp_path / 'task1.csv', rows)}")
    assert data.targets[:2] == ("total_errors", "error_share")
    assert data.counted_kinds == KINDS
    assert data.values["total_errors"].tolist() == [[2, 0]]
    assert data.values["missing_comparison"].tolist() == [[1, 0]]
    assert data.values["error_share"][0, 0] == 0.5
    report = agree(f"rate_eval:{tmp_path / 'task1.csv'}", ["finding_errors"], trials=5, progress=False)
    (every,) = [line for line in counting(report) if line.target == EVERY_KIND]
    assert every.n == 12  # each kind of each pair is one count: CREPE, section 4.6


def test_rate_eval_of_paragraphs(tmp_path):
    rows = [["id", "gt", "pred", "score"], ["1", EFFUSION, CLEAR, 4], ["2", CLEAR, CLEAR, 5]]
    data = load(f"rate_eval:{write(tmp_path / 'task2.csv', rows)}")
    assert (data.targets, data.values["rating"].tolist()) == (("rating",), [[4, 5]])


RATE = [["id", "gt", "pred", "errors", "potential_errors"], ["1", EFFUSION, CLEAR, 1, 4]]
RATE_TRAIN = [RATE[0], ["1", EFFUSION, CLEAR, 3, 4]]


@pytest.fixture
def rate_eval(tmp_path):
    for task, stars in (("Task1_sentence_rate", 1), ("Task2_paragraph_rate", 2)):
        write(tmp_path / task / "rate_train.csv", RATE_TRAIN)
        write(tmp_path / task / "rate_test.csv", edited(RATE, 1, 3, stars))
        (tmp_path / task / "gt_report_1.json").write_text("[]")
    write(tmp_path / "a_first.csv", RATE_TRAIN)
    return tmp_path


@pytest.mark.parametrize(("task", "errors"), [("Task1_sentence_rate", 1), ("Task2_paragraph_rate", 2)])
def test_rate_eval_reads_the_test_file_of_a_task(rate_eval, task, errors):
    for path in (rate_eval / task, rate_eval / task / "rate_test.csv"):
        assert load(f"rate_eval:{path}").values["total_errors"].tolist() == [[errors]]
    assert load(f"rate_eval:{rate_eval / task / 'rate_train.csv'}").values["total_errors"].tolist() == [[3]]


def test_rate_eval_does_not_choose_a_task(rate_eval):
    with pytest.raises(InputError, match=r"has 2 tasks.*Task1_sentence_rate, .*Task2_paragraph_rate"):
        load(f"rate_eval:{rate_eval}")


def test_rate_eval_of_a_folder_with_one_task(rate_eval):
    for file in (rate_eval / "Task2_paragraph_rate").iterdir():
        file.unlink()
    assert load(f"rate_eval:{rate_eval}").values["total_errors"].tolist() == [[1]]


def test_rate_eval_does_not_choose_a_file(tmp_path):
    write(tmp_path / "b.csv", RATE)
    assert load(f"rate_eval:{tmp_path}").values["total_errors"].tolist() == [[1]]
    write(tmp_path / "a.csv", RATE_TRAIN)
    with pytest.raises(InputError, match=r"has no rate_test\.csv and 2 other tables: a\.csv, b\.csv; name one"):
        load(f"rate_eval:{tmp_path}")
    with pytest.raises(InputError, match=r"nowhere does not exist; give RaTE-Eval's folder of a task"):
        load("rate_eval:nowhere")
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match=r"none has no rate_test\.csv"):
        load(f"rate_eval:{tmp_path / 'none'}")


def test_rate_eval_under_other_names(tmp_path):
    rows = [["n", "doctor", "machine", "stars"], ["1", EFFUSION, CLEAR, 4]]
    file = write(tmp_path / "task2.csv", rows)
    with pytest.raises(InputError, match="has the columns n, doctor, machine, stars; none is known"):
        load(f"rate_eval:{file}")
    columns = {"reference": "doctor", "candidate": "machine", "study": "n"}
    data = load(f"rate_eval:{file}", columns=columns, ratings=["rating=stars"])
    assert data.values["rating"].tolist() == [[4]]


# --- any table

TABLE = [
    ["case", "truth", "draft", "reader", "errors", "false", "stars", "part"],
    ["a", EFFUSION, CLEAR, "anna", 1, 0, 2, "findings"],
    ["a", EFFUSION, CLEAR, "ben", 2, 1, 1, "findings"],
    ["a", EFFUSION, EFFUSION, "anna", 0, 0, 5, "findings"],
    ["b", CLEAR, CLEAR, "ben", 0, 0, "", "impression"],
]
PLACES = {"reference": "truth", "candidate": "draft", "study": "case"}
WANTED = {"counts": ["total_errors=errors", "false_finding=false"], "ratings": ["rating=stars"]}


def test_a_row_a_rater(tmp_path):
    file = write(tmp_path / "lab.csv", TABLE)
    data = load(str(file), columns={**PLACES, "rater": "reader", "section": "part"}, **WANTED)
    assert (data.name, data.studies, data.raters) == ("lab", ["a", "a", "b"], ["anna", "ben"])
    np.testing.assert_array_equal(data.values["total_errors"], [[1, 0, np.nan], [2, np.nan, 0]])
    np.testing.assert_array_equal(data.values["rating"], [[2, 5, np.nan], [1, np.nan, np.nan]])
    assert data.mean("total_errors").tolist() == [1.5, 0, 0]
    assert (data.kinds, data.counted_by("total_errors")) == (("false_finding",), (("false_finding",), ("errors",)))
    assert data.labels == {"section": ["findings", "findings", "impression"]}
    assert (data.goodness("rating"), data.goodness("total_errors"), data.preferred_by) == (1, -1, "rating")


def test_a_column_a_rater(tmp_path):
    rows = [
        ["case", "truth", "draft", "anna", "ben", "stars1", "stars2"],
        ["a", EFFUSION, CLEAR, 1, 2, 2, 1],
        ["b", CLEAR, CLEAR, 0, "", 5, 4],
    ]
    file = write(tmp_path / "lab.csv", rows)
    data = load(str(file), columns=PLACES, counts=["total_errors=anna + ben"], ratings=["rating=stars1+stars2"])
    assert (data.raters, len(data.pairs)) == (["anna", "ben"], 2)
    np.testing.assert_array_equal(data.values["total_errors"], [[1, 0], [2, np.nan]])
    np.testing.assert_array_equal(data.values["rating"], [[2, 5], [1, 4]])
    assert "1 of 4 cells of 'anna+ben' is blank: not judged" in data.notes
    (note,) = (note for note in load(str(file), columns=PLACES, ratings=["stars1", "stars2"]).notes if "stars1" in note)
    assert note.startswith("'stars1' and 'stars2' are different targets")
    assert note.endswith("join them: NAME=stars1+stars2")
    with pytest.raises(InputError, match=r"each target needs a column of each rater.*stars1 and stars2"):
        load(str(file), columns=PLACES, counts=["anna"], ratings=["rating=stars1+stars2"])
    with pytest.raises(InputError, match="has no column 'eve'"):
        load(str(file), columns=PLACES, counts=["errors=anna+eve"])
    with pytest.raises(InputError, match="has a column of raters"):
        load(str(write(tmp_path / "own.csv", TABLE)), columns={**PLACES, "rater": "reader"}, counts=["n=errors+false"])


def test_white_space_and_digits_of_a_spreadsheet_make_no_new_pair(tmp_path):
    rows = edited(edited(TABLE, 2, 1, f" {EFFUSION}\n"), 2, 2, CLEAR.replace(" ", "  ", 1))
    rows = [[row[0], *row[1:]] for row in rows]
    for row, case in zip(rows[1:], ("1", "1.0", "1", "2"), strict=True):
        row[0] = case
    data = load(str(write(tmp_path / "lab.csv", rows)), columns={**PLACES, "rater": "reader"}, **WANTED)
    assert data.studies == ["1", "1", "2"]
    assert data.mean("total_errors").tolist() == [1.5, 0, 0]
    assert data.pairs[0][:2] == (EFFUSION, CLEAR)
    assert "1 row differs in white space alone from an earlier row of the same pair" in data.notes


def test_raters_and_references_that_look_wrong_are_noted(tmp_path):
    def notes(rows):
        return load(str(write(tmp_path / "lab.csv", rows)), columns={**PLACES, "rater": "reader"}, **WANTED).notes

    assert not [note for note in notes(TABLE) if "raters" in note or "references" in note]
    assert "'anna' and 'Anna' count as two raters: write the name alike if it is one" in notes(
        edited(TABLE, 2, 3, "Anna")
    )
    other = notes(edited(TABLE, 2, 2, f"{CLEAR} Normal heart."))
    assert any(note.startswith("raters 'anna' and 'ben' share studies but no pair") for note in other)
    other = notes(edited(TABLE, 3, 1, CLEAR))
    assert "study 'a' has different references in the rows: is the study right?" in other


def test_a_row_a_pair(tmp_path):
    data = load_table(write(tmp_path / "lab.csv", TABLE), columns=PLACES, counts=["errors"])
    assert (len(data.pairs), data.targets, data.main) == (4, ("errors",), ("errors",))
    assert data.kinds == KINDS
    (note,) = data.notes
    assert note.startswith("no column of raters: 1 of 4 rows repeat an earlier pair")
    assert "rater=COLUMN" in note
    assert not load_table(write(tmp_path / "once.csv", TABLE[:2]), columns=PLACES, counts=["errors"]).notes


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_other_formats(tmp_path, suffix):
    names, *rows = TABLE[:4]
    records = [dict(zip(names, row, strict=True)) for row in rows]
    file = tmp_path / f"lab{suffix}"
    if suffix == ".jsonl":
        write(file, records)
    else:
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(records), file)
    data = load(str(file), columns={**PLACES, "rater": "reader"}, **WANTED)
    assert data.mean("rating").tolist() == [1.5, 5]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_blank_cells_are_counted_and_are_no_verdict(tmp_path, suffix):
    """A row that names no rater is no further radiologist, and a blank count is no 0."""
    names, *rows = edited(edited(TABLE, 2, 3, None), 1, 4, None)
    file = tmp_path / f"lab{suffix}"
    if suffix == ".parquet":
        import pyarrow
        from pyarrow import parquet

        cells = [[None if cell in (None, "") else str(cell) for cell in column] for column in zip(*rows, strict=True)]
        parquet.write_table(pyarrow.table(dict(zip(names, cells, strict=True))), file)
    elif suffix == ".jsonl":
        write(file, [dict(zip(names, row, strict=True)) for row in rows])
    else:
        write(file, [names, *rows])
    data = load(str(file), columns={**PLACES, "rater": "reader"}, counts=["errors"], ratings=["stars"])
    assert data.raters == ["anna", "ben"]
    np.testing.assert_array_equal(data.values["errors"], [[np.nan, 0, np.nan], [np.nan, np.nan, 0]])
    assert data.notes == (
        "1 row names no rater and is left out",
        "1 of 3 cells of each of 'errors', 'stars' is blank: not judged",
    )


def test_a_table_whose_rows_name_no_rater(tmp_path):
    with pytest.raises(InputError, match="no row that names a rater"):
        load(
            str(write(tmp_path / "lab.csv", edited(TABLE[:2], 1, 3, " "))),
            columns={**PLACES, "rater": "reader"},
            **WANTED,
        )


def test_without_studies_a_reference_is_one(tmp_path):
    places = {name: column for name, column in PLACES.items() if name != "study"}
    data = load_table(write(tmp_path / "lab.csv", TABLE), columns=places, counts=["errors"])
    assert data.n_studies == 2
    assert data.notes[0] == "no column of studies: pairs of one reference are one study"


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        (
            TABLE,
            {"columns": {}},
            "no column 'reference' or 'candidate', but 'case'.*them: --columns reference=COLUMN,candidate=COLUMN",
        ),
        (TABLE, {"columns": {"reference": "truth"}}, "'candidate', but .*name it: --columns candidate=COLUMN"),
        (TABLE, {"columns": {**PLACES, "rater": "who"}}, "has no column 'who', but 'case'"),
        (TABLE, {"columns": {**PLACES, "patient": "case"}}, "--columns has 'patient'; it names columns for reference"),
        (TABLE, {"counts": [], "ratings": []}, "name the columns of the raters: --counts"),
        (TABLE, {"counts": ["mistakes"]}, "has no column 'mistakes'"),
        (TABLE, {"counts": ["errors", "errors"]}, "'errors' is named in both"),
        (edited(TABLE, 2, 4, "two"), {}, "line 3: errors is 'two'; a number from 0 is needed"),
        (edited(TABLE, 2, 4, -1), {}, "line 3: errors is '-1'"),
        (edited(TABLE, 2, 3, "anna"), {}, "line 3: rater 'anna' judges this pair of study 'a' a second time"),
        (TABLE[:1], {}, "has no rows|holds no"),
    ],
)
def test_bad_tables(tmp_path, rows, arguments, message):
    wanted = {"columns": {**PLACES, "rater": "reader"}, **WANTED, **arguments}
    with pytest.raises(InputError, match=message):
        load(str(write(tmp_path / "lab.csv", rows)), **wanted)


@pytest.mark.parametrize("dataset", ["radpref", "radpref:", "other:path", "", "notes.txt", "rexval"])
def test_unknown_data_sets(dataset):
    with pytest.raises(InputError, match="write NAME:PATH with one of rexval, rexval_star, radevalx"):
        load(dataset)


def test_a_frame_is_no_data_set():
    with pytest.raises(InputError, match=r"dataset is dict; pass NAME:PATH or the path .*to_csv"):
        agree({"reference": [CLEAR]}, ["bleu"])


def test_a_path_and_single_names(tmp_path):
    report = agree(write(tmp_path / "lab.csv", TABLE), "bleu", columns=PLACES, counts="errors", trials=10)
    assert (report.data.name, report.data.targets, [*report.results]) == ("lab", ("errors",), ["bleu"])
