"""Nodules of chest CT beside RadEval's two metrics: sections, order, replies, and both metrics from end to end."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Reply, Unscored
from rrgmetrics.judges.judge import Judge
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.nodule_f1 import NoduleF1, NoduleF1Protocol
from rrgmetrics.scorers.nodule_f1.nodules import (
    BUCKETS,
    bucket_of,
    count_row,
    is_solid,
    largest_size,
    normal_density,
    ordered,
    read_row,
    section,
)
from rrgmetrics.specs import SPECS

DATA = json.loads((Path(__file__).parents[1] / "data/other_modalities.json").read_text())["cases"]
CASES = {case["id"]: case for case in DATA if case["metric"] in ("nodule_eval", "lung_nodules")}
STEPS = {
    "extract_pn_segment": lambda given: section(given["report"]),
    "canonicalize_pn_segment": lambda given: ordered(given["segment"]),
    "bucket_from_size": lambda given: [bucket_of(size) for size in given["sizes"]],
    "norm_density+is_solid": lambda given: [[normal_density(one), is_solid(one)] for one in given["values"]],
    "largest_size_mm": lambda given: [largest_size(sentence) for sentence in given["sentences"]],
}
MEANS = {  # theirs → our field
    "detection_precision": "precision",
    "detection_recall": "recall",
    "detection_f1": "f1",
    "size_accuracy": "size_accuracy",
    "size_exact_match": "size_exact",
    "size_mae_mm": "size_mae",
    "size_mape": "size_mape",
    "noun_accuracy": "noun",
    "uncertainty_accuracy": "certainty",
    "composite": "composite",
}
SUMS = {  # our field → numerator and denominator of theirs
    "density_solid": ("density_correct_solid", "density_total_solid"),
    "density_subsolid": ("density_correct_subsolid", "density_total_subsolid"),
    "calcification": ("calcified_correct", "calcified_total"),
    "side": ("laterality_correct", "laterality_total"),
    "place": ("lobe_correct", "lobe_total"),
    "mae_4to6": ("abs_err_sum_4to6", "abs_err_n_4to6"),
    "mae_6to8": ("abs_err_sum_6to8", "abs_err_n_6to8"),
}


def cases(*functions):
    chosen = [case for case in CASES.values() if case["function"] in functions]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def ratio(numbers):
    return numbers[0] / numbers[1] if numbers[1] else None


def near(value):
    return value if value is None else pytest.approx(value, abs=1e-12)


@cases(*STEPS)
def test_steps(case):
    assert STEPS[case["function"]](case["input"]) == case["expected"]


@cases("parse_response")
def test_a_reply(case):
    reply, form, expected = case["input"]["reply"], case["metric"], case["expected"]
    reply = reply if isinstance(reply, str) else json.dumps(reply)
    if isinstance(expected, dict) and "raises" in expected:
        with pytest.raises(VerdictError):
            read_row(reply)
        return
    counts = count_row(read_row(reply), form)
    if not isinstance(expected, dict):
        assert ratio(counts["composite"]) == near(expected)
        return
    for theirs, ours in MEANS.items():
        assert ratio(counts[ours]) == near(expected[theirs]), theirs
    if form == "nodule_eval":
        assert ratio(counts["type"]) == near(expected["type_accuracy"])
        assert ratio(counts["place"]) == near(expected["location_accuracy"])
        return
    for ours, theirs in SUMS.items():  # zero counters are left out of the file
        assert counts[ours] == pytest.approx([expected.get(name, 0) for name in theirs]), ours
    large = [[expected.get(f"pct_err_{kind}_{size}", 0) for size in BUCKETS[3:]] for kind in ("sum", "n")]
    assert counts["mape_gt8"] == pytest.approx([sum(one) for one in large])
    for bucket in BUCKETS:
        found, missed, false = (expected.get(f"{kind}_{bucket}", 0) for kind in ("tp", "fn", "fp"))
        assert counts[f"sensitivity_{bucket}"] == [found, found + missed]
        assert counts[f"false_{bucket}"] == [false, 1]


class Canned:
    """Answers questions in their order; counts them."""

    identity, parameters, facts = "canned", {}, {}

    def __init__(self, replies):
        self.replies, self.n_asked = list(replies), 0

    def answer(self, prompts):
        self.n_asked += len(prompts)
        return [Reply(self.replies.pop(0)) for _ in prompts]


def reply_named(name, prefix):
    """A reply as the fixtures name it."""
    if name.startswith("row "):
        return json.dumps(CASES[f"{prefix}_{name.replace(' ', '_')}"]["input"]["reply"])
    if name.startswith("not json"):
        return "no JSON"
    nodule = {"size_bucket": "gt15", "density": "part-solid", "location": "lingula", "laterality": "left"}
    pair = {"ref_id": "R1", "pred_id": "P1", "ref_size_mm": 20, "pred_size_mm": 24, "size_error": True}
    sides = [[nodule | {"id": "R1", "size_mm": 20}], [nodule | {"id": "P1", "size_mm": 24}]]
    return json.dumps(
        dict(zip(("reference_nodules", "predicted_nodules"), sides, strict=True))
        | {"matched_pairs": [pair], "false_findings": [], "missing_findings": []}
    )


@cases("adapter.compute")
def test_a_whole_run(case):
    """A pair without a reply is unscored here; theirs counts it as a study without a false nodule."""
    form, given = case["metric"], case["input"]
    prefix, name = {"nodule_eval": ("nodule", "nodule_eval"), "lung_nodules": ("lung", "hoppr_ctc_lung_nodules")}[form]
    replies = [reply_named(one, prefix) for one in given.get("replies", ()) if one != "not asked"]
    engine = Canned(replies)
    pairs = check_pairs(given["candidates"], given["references"])
    scorer = NoduleF1(config="openai:m", form=form)
    annotations = Judge(NoduleF1Protocol(form), engine).annotate_pairs(pairs)
    assert engine.n_asked == len(replies)
    stats = scorer.pair_stats(pairs, dict(zip(pairs, annotations, strict=True)))
    scores, of_pairs = aggregate.reduce(scorer.reduction, stats), scorer.reduction.ratios(stats)
    n_unscored = sum(isinstance(one, Unscored) for one in annotations)
    known = {alias: key.name for key in SPECS["nodule_f1"].keys for alias in key.aliases}
    expected = case["expected"].get("result", case["expected"])
    known |= {"nodule_eval_type_accuracy": "nodule_f1_density"}
    known |= {f"{name}_{theirs}": known.get(f"nodule_eval_{theirs}") for theirs in MEANS if form == "lung_nodules"}
    known[f"{name}_detection_f1"] = "nodule_f1"
    compared = [key for key in expected if known.get(key)]
    assert len(compared) >= 1
    for key in compared:
        value, ours = expected[key], known[key]
        if isinstance(value, list):
            assert of_pairs[ours] == pytest.approx([math.nan if one == "nan" else one for one in value], nan_ok=True)
        elif "fp_per_study" in key:
            assert scores[ours] * (len(pairs) - n_unscored) == pytest.approx(value * len(pairs))
        else:
            assert scores[ours] == pytest.approx(math.nan if value is None else value, abs=5e-5, nan_ok=True), key


PAIRED = {
    "reference_nodules": [{"id": "R1", "size_mm": 5, "calcified": True, "laterality": ""}],
    "predicted_nodules": [{"id": "P1", "size_mm": 5, "calcified": True, "laterality": ""}],
    "matched_pairs": [{"ref_id": "R1", "pred_id": "P1", "ref_size_mm": 5}],
    "false_findings": [],
    "missing_findings": [],
}


def counted(changes):
    counts = count_row(read_row(json.dumps(PAIRED | changes)), "lung_nodules")
    return {field: tuple(ratio) for field, ratio in counts.items()}


def test_what_the_fork_leaves_out_of_ill_formed_nodules():
    """RadEval's fork b09e5d1: no side that is "", no calcification that is no bool, no group of a nodule not listed."""
    assert (counted({})["side"], counted({})["calcification"]) == ((0, 0), (1, 1))
    nodules = [{"id": "R1", "size_mm": 5, "calcified": "yes"}]
    assert counted({"reference_nodules": nodules})["calcification"] == (0, 0)
    assert counted({})["sensitivity_4to6"] == (1, 1)
    assert counted({"reference_nodules": [{"id": "R2", "size_mm": 5}]})["sensitivity_4to6"] == (0, 0)


def test_a_size_that_is_not_a_number_is_in_no_group():
    assert bucket_of(math.nan) is None


def test_all_sentences_are_ordered_by_side_lobe_and_size():
    text = "Scar in the left lower lobe. Micronodules in the right upper lobe. A nodule in the lingula. Bleb of 4 mm."
    assert ordered(text) == (
        "A nodule in the lingula. Micronodules in the right upper lobe. Scar in the left lower lobe. Bleb of 4 mm."
    )
