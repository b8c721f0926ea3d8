"""The authors' arithmetic, JSON repair and prompts: tests/data/crimson.json names where its values come from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from rrgmetrics.errors import VerdictError
from rrgmetrics.reports import Context, Pair, parse_context
from rrgmetrics.scorers.crimson import CrimsonProtocol
from rrgmetrics.scorers.crimson.parsers import published, tolerant
from rrgmetrics.scorers.crimson.score import ATTRIBUTES, tally
from rrgmetrics.scorers.crimson.wordings import authors_prompts, question

VALUES = json.loads((Path(__file__).parents[1] / "data" / "crimson.json").read_text())
PAIR = Pair("REF.", "CAND.", Context())
# Where the authors lose or mangle something, what the tolerant reader makes of it.
BETTER = {
    "curly_single": {"finding": "patient’s left"},
    "orphan_regex_eats_array_item": {"false_findings": ["P1", "P2", "P3"], "y": 1},
    "markdown_fence": {"a": 1},
    "trailing_comma": {"a": [1, 2]},
    "leading_text": {"a": 1},
}


def named(rows):
    return pytest.mark.parametrize("case", rows, ids=[row["name"] for row in rows])


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


@named(VALUES["score"])
def test_score(case):
    if "raises" in case:
        with pytest.raises((KeyError, AttributeError)) as error:
            tally(case["evaluation"])
        assert error.type.__name__ == case["raises"]
        with pytest.raises(VerdictError):
            CrimsonProtocol(parser="strict").verdict(PAIR, [json.dumps(case["evaluation"])])
        return
    tallied, expected = tally(case["evaluation"]), case["expected"]
    assert round(tallied.score, 4) == expected["crimson_score"]
    counts = expected["error_counts"]
    assert (tallied.n_false, tallied.n_missing, tallied.n_attribute) == tuple(list(counts.values())[:3])
    assert dict(zip(ATTRIBUTES, tallied.by_attribute, strict=True)) == {
        name: counts[f"{name}_errors"] for name in ATTRIBUTES
    }
    weighted = expected["weighted_error_counts"]
    assert tallied.weighted_false == weighted["false_findings"]
    assert tallied.weighted_missing == weighted["missing_findings"]
    assert tallied.weighted_attribute == weighted["attribute_errors"]
    metrics = expected["metrics"]
    assert (tallied.reference_weight, tallied.weighted_false) == (metrics["N_G"], metrics["E_penalty"])
    assert tallied.correct == pytest.approx(metrics["correct"], abs=1e-12)
    assert tallied.s == pytest.approx(metrics["S"], abs=1e-12)


@named(VALUES["json_repair"])
def test_json(case):
    if "raises" in case:
        with pytest.raises(VerdictError):
            published(case["input"])
    else:
        assert published(case["input"]) == case["output"]
    expected = BETTER.get(case["name"], case.get("output"))
    if expected is None:
        with pytest.raises(VerdictError):
            tolerant(case["input"])
    else:
        assert tolerant(case["input"])[0] == expected


@pytest.fixture(scope="module")
def prompts():
    pytest.importorskip("CRIMSON.prompt_parts", reason="needs the authors' package crimson-score")
    return authors_prompts()


@pytest.mark.parametrize("case", VALUES["prompt"], ids=lambda case: str(case["length"]))
def test_prompt(case, prompts):
    text = prompts.build_prompt(case["reference"], case["predicted"], **case["kwargs"])
    assert (sha256(text), len(text), text.count("{{")) == (case["sha256"], case["length"], case["double_braces"])


@pytest.mark.parametrize("section", VALUES["prompt_sections"])
def test_prompt_sections(section, prompts):
    assert sha256(getattr(prompts, section)) == VALUES["prompt_sections"][section]["sha256"]


@pytest.mark.parametrize(
    ("index", "wording", "context"),
    [
        (0, "published", Context()),
        (1, "published", Context(82.0, "", "Routine preoperative evaluation")),
        (2, "checkpoint", Context()),
        (3, "checkpoint", Context(82.0, "", "Routine preoperative evaluation")),
    ],
)
def test_our_question_is_theirs(index, wording, context, prompts):
    assert sha256(question("REF.", "CAND.", context, wording)) == VALUES["prompt"][index]["sha256"]


@pytest.mark.parametrize("age", ["072Y", "030M", "003W", ""])
def test_an_age_is_asked_as_radpref_has_it(age, prompts):
    """Their script passes PatientAge as it is, a blank one too."""
    theirs = prompts.build_prompt("REF.", "CAND.", patient_context={"Age": age, "Sex": "F"})
    context = parse_context({"age": age, "sex": "F"})
    assert question("REF.", "CAND.", context, "published", "dicom") == theirs
    assert f"    Age: {age}\n" in theirs
