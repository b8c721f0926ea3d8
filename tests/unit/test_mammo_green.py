"""MammoGREEN beside RadEval's numbers, and where it differs: words instead of counts, nothing to compare, caps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics.errors import VerdictError
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers.mammo_green import KINDS, MammoGreenProtocol, strict, tolerant
from rrgmetrics.scoring.error_rows import errors_of

CASES = json.loads((Path(__file__).parents[1] / "data/other_modalities.json").read_text())["cases"]
CASES = [case for case in CASES if case["metric"] == "mammo_green"]
PAIR = check_pairs(["HYP."], ["REF."])[0]


def cases(function):
    chosen = [case for case in CASES if case["function"] == function]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def answer(matched=1, insignificant=0, **errors):
    return {
        "matched_findings": matched,
        "significant_errors": dict.fromkeys(KINDS, 0) | errors,
        "insignificant_errors": insignificant,
    }


def score(replies, tmp_path, options="", candidates=None):
    """The metric on recorded replies, a pair each."""
    pairs = check_pairs([f"Candidate {i}." for i in range(len(replies))], ["Reference."] * len(replies))
    protocol = MammoGreenProtocol("strict" if "strict" in options else "tolerant")
    lines = []
    for pair, reply in zip(pairs, replies, strict=True):
        (prompt,) = protocol.prompts(pair)
        text = reply if isinstance(reply, str) else json.dumps(reply)
        line = {"protocol": prompt.protocol, "prompt_sha256": prompt.sha256, "reply": text}
        lines.append(json.dumps(line | {"engine": "a", "parameters": {}}))
    file = tmp_path / "replies.jsonl"
    file.write_text("\n".join(lines))
    name = f"mammo_green@replies:{file}{options}"
    texts = {"predictions": [pair.candidate for pair in pairs], "references": [pair.reference for pair in pairs]}
    return rrgmetrics.score(name, progress=False, **texts)[name]


@cases("parse_response+score")
def test_replies_as_theirs(case):
    expected, reply = case["expected"], case["input"]["reply"]
    if "raises" in expected:
        with pytest.raises(VerdictError):
            strict(reply)
        return
    verdict, parsed = strict(reply), expected["parsed"]
    assert verdict.score == pytest.approx(expected["score"])
    assert verdict.matched.number == int(float(parsed["matched_findings"]))
    assert [verdict.significant[kind].number for kind in KINDS] == [
        int(float(parsed["significant_errors"][kind])) for kind in KINDS
    ]


@cases("aggregate")
def test_means_and_deviations_as_theirs(case, tmp_path):
    replies, expected = case["input"]["replies"], case["expected"]
    if not replies:
        return  # no pair at all is an error here
    result = score(replies, tmp_path, "?parser=strict")
    assert result.per_pair["mammo_green"] == pytest.approx(expected["per_sample"])
    assert (result.scores["mammo_green"], result.std()) == pytest.approx((expected["mean"], expected["std"]))


@cases("summary")
def test_totals_as_theirs(case, tmp_path):
    result, expected = score(case["input"]["replies"], tmp_path, "?parser=strict"), case["expected"]
    n = expected["n"]
    totals = {kind: round(n * result.scores[f"mammo_green_{kind}"]) for kind in KINDS}
    assert totals == expected["total_significant_errors_by_type"]
    assert round(n * result.scores["mammo_green_matched"]) == expected["total_matched_findings"]
    assert round(n * result.scores["mammo_green_significant"]) == expected["total_significant_errors"]


@cases("call")
def test_one_bad_reply_costs_one_pair(case, tmp_path):
    """Theirs ends the run."""
    result = score(case["input"]["replies"], tmp_path, "?parser=strict")
    np.testing.assert_array_equal(result.per_pair["mammo_green"], [1.0, np.nan])


@cases("build_request")
def test_the_question(case):
    """Roles and the two blocks as theirs; the words of the task are our own."""
    given, expected = case["input"], case["expected"]
    (pair,) = check_pairs([given["candidate"]], [given["reference"]])
    (prompt,) = MammoGreenProtocol().prompts(pair)
    assert [message.role for message in prompt.messages] == expected["roles"]
    assert prompt.messages[1].content == expected["user"]
    assert prompt.max_tokens == expected["other"]["max_completion_tokens"]
    assert "{form}" not in prompt.text


def test_words_caps_and_nothing_to_compare(tmp_path):
    listed = answer(["Mass, left, upper outer"], ["a cyst left out"], incorrect_birads=["4 for 2", "5 for 2"])
    lists = listed["significant_errors"]
    listed["significant_errors"] = {kind: errors or [] for kind, errors in lists.items()}
    result = score([listed, answer(0), answer(3, false_finding=1)], tmp_path, "?explain=yes")
    np.testing.assert_array_equal(result.per_pair["mammo_green"], [0.5, np.nan, 0.75])
    assert "nothing to compare" in result.unscored_reasons[1]
    assert result.per_pair["mammo_green_errors"][0] == 2
    told = errors_of("mammo_green", result.details["mammo_green_explained"][0])
    assert [(one.category, one.error, one.significant) for one in told] == [
        ("incorrect_birads", "4 for 2", True),
        ("", "a cyst left out", False),
    ]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("The reports agree.", "no JSON object"),
        ('{"matched_findings": ["a"], "significant_errors": {"false_fin', "broken or cut off"),
        (json.dumps(answer() | {"significant_errors": None}), "significant_errors"),
        (json.dumps(answer(None)), "matched_findings"),
        (json.dumps(answer(wrong_side=1)), "kind 'wrong_side'"),
        (json.dumps(answer(-1)), "counts -1"),
        (json.dumps(answer(1.5)), "counts 1.5"),
        (json.dumps(answer({"a": 1})), "not a list of texts"),
    ],
)
def test_replies_that_cannot_be_read(reply, message):
    with pytest.raises(VerdictError, match=message):
        tolerant(reply)


def test_the_bundled_engine_sorts_the_readers_errors():
    name = "mammo_green?modality=chest_xray&explain=yes"
    texts = {"predictions": ["Small right effusion. Nodule."], "references": ["Small left effusion. Old rib fracture."]}
    result = rrgmetrics.score(name, progress=False, **texts)[name]
    assert result.scores["mammo_green_wrong_location_laterality"] == 1
    assert result.scores["mammo_green_false_finding"] == 1


FILM = "Small right effusion. The heart is normal in size. No pneumothorax."
HEAD = "Bilateral mammogram. "


def bundled(reference, candidate, name="mammo_green"):
    result = rrgmetrics.score(name, progress=False, predictions=[candidate], references=[reference])[name]
    return result, {key.removeprefix("mammo_green_"): value for key, value in result.scores.items() if value}


def test_a_chest_film_is_no_mammogram():
    result, _ = bundled(FILM, FILM)
    assert list(result.unscored_reasons.values()) == ["the reference looks like a chest X-ray report"]
    assert bundled(HEAD + "BI-RADS 1.", FILM)[0].n_unscored == 0  # a film in a mammogram's place misses it
    assert bundled(FILM, FILM, "mammo_green?modality=chest_xray")[0].n_unscored == 0  # who asks for it


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("Mass in the left breast. BI-RADS 4.", "Mass in the left breast. BI-RADS 5.", {"incorrect_birads": 1}),
        (
            "Mass in the left breast. BI-RADS 4.",
            "Mass in the left breast. BI-RADS 4. BI-RADS 2.",
            {},
        ),  # the overall one
        ("Mass in the left breast. BI-RADS 4.", "Mass in the left breast.", {"missing_finding": 1}),
        ("Cyst in the left breast. BI-RADS 2.", "Cyst in the left breast.", {}),
        ("Mass in the left breast.", "Mass in the left breast. BI-RADS 4.", {}),
        ("Mass in the left breast. Density B.", "Mass in the left breast. Density C.", {"incorrect_breast_density": 1}),
        ("Mass in the left breast. Density A.", "Mass in the left breast. Density B.", {}),
        ("Mass in the left breast. Density D.", "Mass in the left breast.", {}),
        ("No suspicious mass. BI-RADS 1.", "BI-RADS 1. Negative mammogram.", {}),
        ("No suspicious mass. BI-RADS 1.", "BI-RADS 0.", {"incorrect_birads": 1}),
    ],
)
def test_assessment_and_density(reference, candidate, expected):
    """Neither is a finding to match; which differences count says the module."""
    result, found = bundled(HEAD + reference, HEAD + candidate)
    assert {kind: found[kind] for kind in KINDS if kind in found} == expected
    assert result.scores["mammo_green"] == 1 / (1 + sum(expected.values()))
    assert result.scores["mammo_green_matched"] == 1
