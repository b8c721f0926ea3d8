"""RadPref and RadJudge in the published format and as JSONL, on an invented miniature."""

import itertools
import json
from types import SimpleNamespace

import numpy as np
import pytest

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import agree
from rrgmetrics.metaeval.loaders import load_radjudge, load_radpref
from rrgmetrics.reports import Context

PREFERENCES = [
    {
        "id": 7,
        "ground_truth_report": "Small left effusion. Clips in the right breast.",
        "ground_truth_findings": ["small left effusion", "clips in the right breast"],
        "C1_report": "Large left effusion. Rib fracture.",
        "C1_findings": ["large left effusion", "rib fracture"],
        "C1_source": "one",
        "C2_report": "Left effusion.",
        "C2_findings": ["left effusion"],
        "C2_source": "two",
        "PatientAge": "061Y",
        "PatientSex": "F",
        "Indication": "Cough.",
    },
    {
        "id": 8,
        "ground_truth_report": "Clear lungs.",
        "ground_truth_findings": [],
        "C1_report": "Clear lungs.",
        "C1_findings": [],
        "C2_report": "",
        "C2_findings": [],
        "PatientAge": "",
        "PatientSex": "M",
        "Indication": None,
    },
]
NOTHING = {"finding_errors": {}, "missing_findings": {}, "rating": 5}
MARKS = {
    "finding_errors": {
        "0": {"error_type": "attribute", "attributes": {"severity": "significant", "location": "negligible"}},
        "1": {"error_type": "false", "clinical_significance": "actionable_not_urgent", "explanation": "not there"},
        "9": {"error_type": "false", "clinical_significance": "benign_expected"},  # beyond the list of two
    },
    "missing_findings": {"1": {"clinical_significance": "not_actionable_not_urgent"}},
    "rating": 2,
}
FALSE_ONLY = {"finding_errors": {"0": {"error_type": "false"}}, "rating": 4}
USERS = [
    {"7": {"C1": MARKS, "C2": NOTHING, "new_finding_indices": {"C1": [9]}}, "8": {"C1": NOTHING, "C2": FALSE_ONLY}},
    {"7": {"C1": NOTHING, "C2": NOTHING}, "8": {"C1": NOTHING, "C2": NOTHING}},
]


def counts(false=0, missing=0, attribute=0, rating=5, **significant):
    return {
        "false": false,
        "missing": missing,
        "attribute": attribute,
        "rating": rating,
        **{f"{kind}_significant": significant.get(kind, 0) for kind in ("false", "missing", "attribute")},
        "false_significance": [None] * false,
        "missing_significance": [None] * missing,
    }


def significant(**kinds):
    return {f"{kind}_significant": count for kind, count in kinds.items()}


CLASSES = {
    "false_significance": ["actionable_not_urgent", "benign_expected"],
    "missing_significance": ["not_actionable_not_urgent"],
}


CASES = [
    {
        "case": 7,
        "reference": "Small left effusion. Clips in the right breast.",
        "age": "061Y",
        "sex": "F",
        "indication": "Cough.",
        "candidates": {
            "C1": {
                "report": "Large left effusion. Rib fracture.",
                "raters": [counts(2, 1, 2, 2) | significant(false=1, attribute=1) | CLASSES, counts()],
            },
            "C2": {"report": "Left effusion.", "raters": [counts(), counts()]},
        },
    },
    {
        "case": 8,
        "reference": "Clear lungs.",
        "age": "",
        "sex": "M",
        "indication": "",
        "candidates": {
            "C1": {"report": "Clear lungs.", "raters": [counts(), counts()]},
            "C2": {"report": "", "raters": [counts(1, rating=4), counts()]},
        },
    },
]

JUDGED = [
    {
        "id": "1a",
        "category": "Left and right",
        "reference": "Left effusion.",
        "candidates": {"C1": {"text": "Effusion on the left."}, "C2": {"text": "Right effusion."}},
        "expected": ["C1 > C2"],
    },
    {
        "id": "2a",
        "category": "Age",
        "reference": "Calcified aorta.",
        "candidates": {
            "C1": {"text": "Clear lungs.", "context": {"age": "30", "indication": "Chest pain."}},
            "C2": {"text": "Clear lungs.", "context": {"age": "80"}},
            "C3": {"text": "Calcified aorta."},
        },
        "expected": ["C3 > C2", "C2 > C1"],
    },
]


@pytest.fixture
def clone(tmp_path):
    """A clone of the published repository in miniature, with functions to change it."""
    root = tmp_path / "clone"
    annotations = root / "RadPref" / "radiologist_annotations"
    annotations.mkdir(parents=True)
    (root / "RadJudge").mkdir()

    def write(preferences=PREFERENCES, users=USERS, cases=f"CASES = {JUDGED!r}\n"):
        (root / "RadPref" / "preference_data.json").write_text(json.dumps(preferences))
        for number, marks in enumerate(users, 1):
            content = {"user_id": number, "annotations": marks}
            (annotations / f"user_{number}.json").write_text(json.dumps(content))
        (root / "RadJudge" / "test_cases.py").write_text(cases)

    write()
    return SimpleNamespace(root=root, write=write)


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_both_formats_of_radpref_read_alike(clone, tmp_path):
    published, lines = load_radpref(clone.root), load_radpref(jsonl(tmp_path / "cases.jsonl", CASES))
    assert (published.pairs, published.studies) == (lines.pairs, lines.studies)
    assert {name: values.tolist() for name, values in published.values.items()} == {
        name: values.tolist() for name, values in lines.values.items()
    }
    assert published.labels == {"source": ["one", "two", "", ""]}


def test_weighted_errors(tmp_path):
    data = load_radpref(jsonl(tmp_path / "cases.jsonl", CASES))
    weighted = data.values["weighted_errors"].T.tolist()
    # 0.5 + 0 for false findings, 0.25 for the missing one, 0.5 for the significant attribute; 0.25 without a class
    assert weighted == [[1.25, 0.0], [0.0, 0.0], [0.0, 0.0], [0.25, 0.0]]


@pytest.mark.parametrize("place", ["", "RadPref", "RadPref/preference_data.json"])
def test_radpref_is_found(clone, place):
    assert len(load_radpref(clone.root / place).pairs) == 4


def test_errors_are_counted(clone):
    data = load_radpref(str(clone.root))
    assert data.studies == ["7", "7", "8", "8"]
    assert data.values["false_finding"].tolist() == [[2, 0, 0, 1], [0, 0, 0, 0]]
    assert data.values["missing_finding"][0].tolist() == [1, 0, 0, 0]
    assert data.values["attribute"][0].tolist() == [2, 0, 0, 0]
    assert data.values["total_errors"][0].tolist() == [5, 0, 0, 1]
    assert data.values["significant_errors"][0].tolist() == [2, 0, 0, 0]
    assert data.values["rating"].tolist() == [[2, 5, 5, 4], [5, 5, 5, 5]]
    assert [pair.context for pair in data.pairs[1:3]] == [Context(61.0, "F", "Cough."), Context(None, "M", "")]
    assert [pair.context.typed_age for pair in data.pairs[1:3]] == [None, ""]  # for CRIMSON's question
    assert data.pairs[3][:2] == ("Clear lungs.", "")


def test_both_formats_of_radjudge_read_alike(clone, tmp_path):
    cases = load_radjudge(clone.root).cases
    assert cases == load_radjudge(jsonl(tmp_path / "judged.jsonl", JUDGED)).cases
    for place in ("RadJudge", "RadJudge/test_cases.py"):
        assert cases == load_radjudge(clone.root / place).cases
    assert cases[1].pairs["C1"] == ("Calcified aorta.", "Clear lungs.", Context(30.0, "", "Chest pain."))
    assert cases[1].pairs["C3"].context == Context()
    assert cases[1].expected == ("C3 > C2", "C2 > C1")


@pytest.mark.parametrize(
    "source",
    [
        f'"""Cases."""\nimport absent_package\n\nTEST_CASES: list = {JUDGED!r}\n\n\ndef run():\n    return 1\n',
        f"FIRST = {JUDGED[:1]!r}\nSECOND = {tuple(JUDGED[1:])!r}\nALL = FIRST + list(SECOND)\n",
        f"CASES = { ({row['id']: {k: v for k, v in row.items() if k != 'id'} for row in JUDGED})!r}\n",
        f"CASES = { ({row['category']: [row] for row in JUDGED})!r}\n",
        f"CASES = {JUDGED!r}\n".replace("['C1 > C2']", "'C1 > C2'").replace(
            "{'text': 'Calcified aorta.'}", "'Calcified aorta.'"
        ),
    ],
    ids=["annotated", "two literals", "by id", "by category", "plain strings"],
)
def test_test_cases_are_read_and_not_run(clone, tmp_path, source):
    clone.write(cases=source)
    assert load_radjudge(clone.root) == load_radjudge(jsonl(tmp_path / "judged.jsonl", JUDGED))


def test_test_cases_are_never_executed(clone, tmp_path):
    clone.write(cases=f"open({str(tmp_path / 'ran')!r}, 'w')\nCASES = {JUDGED!r}\n")
    load_radjudge(clone.root)
    assert not (tmp_path / "ran").exists()


def changed(rows, *path, **fields):
    """A copy of `rows` with `fields` set in the object at `path`; None removes a field."""
    rows = json.loads(json.dumps(rows))
    spot = rows
    for step in path:
        spot = spot[step]
    for name, value in fields.items():
        if value is None:
            del spot[name]
        else:
            spot[name] = value
    return rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"preferences": changed(PREFERENCES, 0, C2_report=None)}, "case 7 has no 'C2_report'; it has: id"),
        ({"preferences": changed(PREFERENCES, 0, C2_report=3)}, "case 7: C2: report is 3"),
        ({"preferences": changed(PREFERENCES, 1, PatientAge="old")}, "case 8: context: age 'old'"),
        ({"preferences": changed(PREFERENCES, 1, id=7)}, "case 7 occurs 2 times"),
        ({"preferences": changed(PREFERENCES, 1, id=9)}, r"user_1.json has no '9'"),
        ({"preferences": {"cases": []}}, "preference_data.json is dict; a list"),
        ({"preferences": []}, "has no cases"),
        ({"users": [{"7": {"C1": MARKS}}]}, "user_1.json: case 7 has no 'C2'"),
        ({"users": changed(USERS, 0, "7", "C1", rating=9)}, "case 7: C1, rater 1: rating is 9"),
        (
            {"users": changed(USERS, 0, "7", "C1", "finding_errors", "0", error_type="odd")},
            "case 7, C1: error_type is 'odd'",
        ),
        (
            {"users": changed(USERS, 0, "7", "C1", "missing_findings", "1", clinical_significance="odd")},
            "significance is 'odd'; we know urgent",
        ),
    ],
)
def test_published_radpref_errors(clone, content, message):
    clone.write(**content)
    with pytest.raises(InputError, match=message):
        load_radpref(clone.root)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no cases"),
        (changed(CASES, 1, reference=None), "line 2 has no 'reference'"),
        (changed(CASES, 0, "candidates", C2=None), "line 1: candidates has no 'C2'; it has: C1"),
        (changed(CASES, 0, "candidates", "C1", "raters", 0, missing=1.5), "C1, rater 1: missing is 1.5"),
        (changed(CASES, 0, "candidates", "C1", "raters", 0, rating="good"), "rating is 'good'"),
        (changed(CASES, 0, "candidates", "C1", raters=[]), "candidates have 0, 2 raters"),
        (["text"], "line 1 is str"),
    ],
)
def test_jsonl_radpref_errors(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        load_radpref(jsonl(tmp_path / "cases.jsonl", rows))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("CASES = make_cases()\n", "no list or dict of cases written out at module level"),
        ("CASES = [", "not Python that we can read"),
        (
            f"CASES = {changed(JUDGED, 0, reference=None)!r}",
            "case 1a has none of reference, ground_truth",
        ),
        (f"CASES = {changed(JUDGED, 1, expected=[])!r}", "case 2a: expected is"),
        (f"CASES = {changed(JUDGED, 1, id='1a')!r}", "case 1a occurs 2 times"),
        (f"CASES = {changed(JUDGED, 1, 'candidates', 'C2', context={'age': 'old'})!r}", "case 2a: C2: context: age"),
        (f"CASES = {changed(JUDGED, 0, 'candidates', 'C1', text=None)!r}", "case 1a: C1 has none of text"),
    ],
)
def test_radjudge_errors(clone, source, message):
    clone.write(cases=source)
    with pytest.raises(InputError, match=message):
        load_radjudge(clone.root)


@pytest.mark.parametrize("load", [load_radpref, load_radjudge])
def test_nothing_there(tmp_path, load):
    with pytest.raises(InputError, match="absent does not exist; give a clone"):
        load(tmp_path / "absent")
    with pytest.raises(InputError, match="has neither"):
        load(tmp_path)
    (tmp_path / "cases.csv").write_text("case")
    with pytest.raises(InputError, match=r"is neither \w+\.\w+ nor a \.jsonl file"):
        load(tmp_path / "cases.csv")
    (tmp_path / "cases.jsonl").write_text("{")
    with pytest.raises(InputError, match="line 1 is not JSON"):
        load(tmp_path / "cases.jsonl")
    (tmp_path / "cases.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8 at byte 0"):
        load(tmp_path / "cases.jsonl")


def test_no_annotations(clone):
    for path in (clone.root / "RadPref" / "radiologist_annotations").iterdir():
        path.unlink()
    with pytest.raises(InputError, match=r"no radiologist_annotations/user_1\.json"):
        load_radpref(clone.root)


# --- RadJudge as its repository has it

PUBLISHED = '''"""Ranking tests."""
from typing import Any

PREFIX = "The heart is "
RANKING_TESTS: list[dict[str, Any]] = [
    {
        "category": "Left and right",
        "description": "Sides matter.",
        "tests": [
            {
                "id": "1a",
                "ground_truth": "Left effusion.",
                "candidates": {"C1": "Effusion on " + "the left.", "C2": {"text": "Right effusion."}},
                "expected_ranking": "C1 > C2",
            },
            {
                "id": "1b",
                "ground_truth": PREFIX + "enlarged.",
                "candidates": {"C1": "Mild cardiomegaly.", "C2": "Cardiomegaly.", "C3": "Clear lungs."},
                "expected_ranking": ["C1 = C2", "C2 > C3"],
            },
        ],
    },
    {
        "category": "Age",
        "description": "Context matters.",
        "tests": [
            {
                "id": "2a",
                "ground_truth": "Calcified aorta.",
                "candidates": {
                    "C1": {"text": "Clear lungs.", "context": {"age": 25, "indication": "Chest pain."}},
                    "C2": {"text": "Clear lungs.", "context": {"age": "82"}},
                },
                "expected_ranking": "C2 > C1",
            },
        ],
    },
]
ALL_TESTS = RANKING_TESTS
'''


def test_the_published_radjudge_is_read(clone):
    clone.write(cases=PUBLISHED)
    cases = load_radjudge(clone.root).cases
    assert [(case.case, case.category) for case in cases] == [
        ("1a", "Left and right"),
        ("1b", "Left and right"),
        ("2a", "Age"),
    ]
    assert cases[0].pairs == {
        "C1": ("Left effusion.", "Effusion on the left.", Context()),
        "C2": ("Left effusion.", "Right effusion.", Context()),
    }
    assert cases[1].pairs["C3"].reference == "The heart is enlarged."
    assert cases[1].expected == ("C1 = C2", "C2 > C3")
    assert [pair.context for pair in cases[2].pairs.values()] == [Context(25.0, "", "Chest pain."), Context(82.0)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"ground_truth": "Left effusion."',
            '"truth": "Left effusion."',
            "case 1a has none of reference, ground_truth",
        ),
        ('"expected_ranking": "C2 > C1"', '"order": "C2 > C1"', "case 2a has none of expected, expected_ranking"),
        ('{"text": "Right effusion."}', '{"words": "Right effusion."}', "case 1a: C2 has none of text, report"),
        ('"age": 25', '"age": "old"', "case 2a: C1: context: age 'old'"),
        ("RANKING_TESTS: list[dict[str, Any]] = [", "RANKING_TESTS = make() or [", "no list or dict of cases"),
    ],
)
def test_published_radjudge_errors(clone, old, new, message):
    assert old in PUBLISHED
    clone.write(cases=PUBLISHED.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_radjudge(clone.root)


def test_published_radpref_keeps_the_class_of_each_finding(clone):
    marks = load_radpref(clone.root).marks
    assert marks == {
        "radiologist 1": {
            ("7", "C1", "false", "1"): "actionable_not_urgent",
            ("7", "C1", "false", "9"): "benign_expected",
            ("7", "C1", "missing", "1"): "not_actionable_not_urgent",
        }
    }


def test_the_general_path_gives_the_numbers_of_the_named_one(tmp_path):
    """The same judgements as `radpref:` and as a table with a row a (pair, rater): every number is the same."""
    texts = (
        "Small left effusion.",
        "Clear lungs.",
        "Large right effusion. Mild cardiomegaly.",
        "Right basal pneumonia.",
    )
    counts = itertools.cycle([(0, 0, 1), (1, 0, 0), (2, 1, 0), (0, 3, 1), (1, 2, 0)])
    kinds = ("false", "missing", "attribute")
    cases, table = [], []
    for case, reference in enumerate(texts * 3):
        candidates: dict = {}
        for number, report in enumerate((texts[case % 3], texts[(case + case // 4) % 4]), 1):
            marks = [dict(zip(kinds, next(counts), strict=True)) for _ in range(2)]
            for rater, own in enumerate(marks):
                own |= {f"{kind}_significant": own[kind] // 2 for kind in tuple(own)} | {"rating": 5 - own["missing"]}
                table.append(
                    {
                        "study": case,
                        "reference": reference,
                        "candidate": report,
                        "rater": f"radiologist {rater + 1}",
                        "source": f"C{number}",  # keeps apart candidates of one study that are equal
                        "total_errors": own["false"] + own["missing"] + own["attribute"],
                        "significant_errors": sum(own[kind] // 2 for kind in kinds),
                        "false_finding": own["false"],
                        "missing_finding": own["missing"],
                        "attribute": own["attribute"],
                        "rating": own["rating"],
                    }
                )
            candidates[f"C{number}"] = {"report": report, "source": f"C{number}", "raters": marks}
        cases.append({"case": case, "reference": reference, "candidates": candidates})
    named, general = tmp_path / "cases.jsonl", tmp_path / "table.jsonl"
    named.write_text("\n".join(map(json.dumps, cases)))
    general.write_text("\n".join(map(json.dumps, table)))
    metrics, draws = ["finding_errors", "rouge"], {"trials": 30, "progress": False}
    one = agree(f"radpref:{named}", metrics, **draws)
    counted = ("total_errors", "significant_errors", "false_finding", "missing_finding", "attribute")
    other = agree(str(general), metrics, counts=counted, ratings=["rating"], **draws)
    shown = [
        {(line.subject, line.key, line.target, line.view, line.subset): line for line in report.agreements}
        for report in (one, other)
    ]
    assert len(shown[0]) == len(shown[1]) > 30
    for key, line in shown[0].items():
        same = shown[1][key]
        np.testing.assert_allclose([*line.tau_b, *line.rho, *line.r], [*same.tau_b, *same.rho, *same.r], atol=1e-12)
        np.testing.assert_allclose([line.mae, line.bias], [same.mae, same.bias], atol=1e-12)
    assert [line.share for line in one.preferences] == [line.share for line in other.preferences]
    assert [line.taus for line in one.between] == [line.taus for line in other.between]
    assert [line.tau_b for line in one.ceiling] == [line.tau_b for line in other.ceiling]
