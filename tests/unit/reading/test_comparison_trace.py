"""The trace of a comparison: the counterpart of each observation, and the steps behind each error and each excuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from rrgmetrics import cli
from rrgmetrics.comparing import compare, explain
from rrgmetrics.comparing.model import ComparisonTrace, Decision
from rrgmetrics.comparing.trace_text import blocks
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon.packs import BUNDLED
from rrgmetrics.reporting.traces import comparison_html, trace_html
from table_rows import each_row, read_table

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ROWS = [row[:2] for row in read_table(*sorted((HERE / "pairs").glob("*.tsv")))[::25]]


def trace_of(reference: str, candidate: str) -> ComparisonTrace:
    trace = explain(reference=reference, candidate=candidate, trace=True).trace
    assert trace is not None
    return trace


def steps_of(trace: ComparisonTrace) -> dict[str, list[str]]:
    """The names of the steps of each block, by its title."""
    return {title: [step.name for step in decisions] for title, decisions in blocks(trace)}


def step(trace: ComparisonTrace, title: str, name: str) -> Decision:
    (found,) = {each for shown, steps in blocks(trace) if shown == title for each in steps if each.name == name}
    return found


def line_of(source: str) -> str:
    """The line of the lexicon, or of the repository, that a step names."""
    file, _, number = source.rpartition(":")
    folder = ROOT if file.startswith("rrgmetrics/") else BUNDLED
    return (folder / file).read_text("utf-8").splitlines()[int(number) - 1].strip()


def test_a_wrong_side_and_a_change_that_is_left_out():
    trace = trace_of("Small right pleural effusion, increased. No pneumothorax.", "Small left pleural effusion.")
    assert steps_of(trace) == {
        "reference: small right pleural effusion (worse)": ["similarity.assign"],
        "candidate: small left pleural effusion": ["similarity.assign"],
        "error C, significant: Pleural effusion, side: right → left.": [
            "differences._location_error",
            "policies.in_class",
            "significance.level",
        ],
        "error F, significant: Right pleural effusion, change: worse → not given.": [
            "differences._temporal_errors",
            "policies.in_class",
            "significance.level",
        ],
        'no error: reference "pneumothorax", pneumothorax: absent': ["observations.is_observation"],
    }
    matched = step(trace, "candidate: small left pleural effusion", "similarity.assign")
    assert matched.what == (
        "matched with small right pleural effusion (worse): same concept, place 0.70, likeness 0.70"
    )
    assert line_of(matched.place).startswith("def assign(")
    level = trace.errors[0].decisions[-1]
    assert line_of(level.source) == "pleural_effusion:"
    assert level.source.startswith("chest_xray/pleura.yaml:")


@pytest.mark.parametrize(
    ("reference", "candidate", "name", "what"),
    [
        ("Left mass.", "Right mass.", "_location_error", '"Left mass" paired with "Right mass": error C'),
        ("Mild edema.", "Severe edema.", "severity_steps", '"Mild edema" paired with "Severe edema": error D'),
        ("Nodule. Edema.", "Edema.", "_left_over", 'no pair for "Nodule": error B'),
        ("Edema.", "Edema. Old rib fracture.", "_left_over", 'no pair for "Old rib fracture": error A'),
        ("No effusion.", "Left effusion.", "_denial", '"effusion" against "Left effusion": error A'),
        (
            "Left effusion, larger.",
            "Left effusion.",
            "_temporal_errors",
            '"Left effusion, larger" paired with "Left effusion": error F',
        ),
    ],
)
def test_a_step_says_what_it_decided(reference: str, candidate: str, name: str, what: str):
    (error,) = trace_of(reference, candidate).errors
    assert [each.what for each in error.decisions if each.name.endswith(name)] == [what]


def test_a_finding_that_is_left_out_says_that_it_is_not_counted():
    trace = trace_of("Small left effusion. No edema.", "Small left effusion.")
    assert all(decisions[-1].what.startswith("not counted: ") for _, decisions in trace.uncounted)


def test_rows_of_the_lexicon_and_a_sign_beside_its_cause():
    trace = trace_of(
        "Thick-walled cavity in the left upper lobe. Large left effusion with blunted angle.",
        "Thin-walled cavity in the left upper lobe. Left effusion. Nodule of 8 mm.",
    )
    walls = "error D, significant: Left upper lobe cavity, description: thick walled → thin walled."
    assert line_of(step(trace, walls, "differences.opposed").source) == "- {one: [thick_walled], other: [thin_walled]}"
    degree = (
        "error D, significant, 0.6 of an error: Degree left out: large left pleural effusion → left pleural effusion."
    )
    row = step(trace, degree, "omissions.left_out_errors").source
    assert row.startswith("chest_xray/rubric.yaml:")
    assert line_of(row).startswith("- {what: severe, part: 0.6")
    levels = [each for each in trace.errors[-1].decisions if each.name == "significance.level"]
    assert levels[0].source.startswith("chest_xray/context.yaml:")
    assert "severity_at_least: 4" in line_of(levels[0].source)
    sign = 'no error: reference "blunted angle", blunted_angle: present'
    assert steps_of(trace)[sign] == ["observations._without_signs"]
    alone = step(trace, "candidate: nodule (8 mm)", "similarity.assign").what
    assert alone == "no counterpart: the other report has no observation of a like name"


def test_what_differs_and_is_no_error():
    trace = trace_of(
        "Overall worse. Right effusion. Left lower lobe opacity with volume loss. Borderline heart.",
        "Right effusion, worse. Left lower lobe collapse. Status post CABG.",
    )
    change = "no error: Right pleural effusion, change: not given → worse."
    assert steps_of(trace)[change] == ["differences._temporal_errors", "differences.told_of_all"]
    assert line_of(step(trace, change, "differences.told_of_all").place).startswith("def told_of_all(")
    opacity = steps_of(trace)["reference: left lower lobe opacity"]
    assert opacity == ["alignment._is_picture_of", "alignment.set_beside"]
    name = step(trace, "reference: volume loss", "differences._interpretation_errors").what
    assert name == "no error: interpretation volume loss → lobar collapse"


@pytest.mark.parametrize(
    ("reference", "candidate", "title", "name"),
    [
        (
            "Nodule of 8 mm.",
            "Nodule of 9 mm.",
            "error D, not significant: Nodule, size: 8 mm → 9 mm.",
            "differences._measurement_error",
        ),
        (
            "Possible edema.",
            "Edema.",
            "error D, significant: Pulmonary edema, certainty: possible → certain.",
            "differences._doubts",
        ),
        (
            "Pneumonia cannot be excluded.",
            "Right basal pneumonia.",
            "error D, significant: Pneumonia, certainty: not excluded → certain.",
            "compare._not_excluded",
        ),
        (
            "Left effusion.",
            "Left effusion. No effusion.",
            "error B, significant: The candidate both reports and denies pleural effusion.",
            "penalties._contradictory",
        ),
        (
            "Left effusion.",
            "Left effusion. No change from the prior study.",
            "error E, not significant: Only the candidate compares with an earlier study.",
            "differences.comparison_errors",
        ),
        (
            "ETT 3 cm above the carina.",
            "ETT 6 cm above the carina, advanced.",
            "no error: Endotracheal tube, change: not given → advanced.",
            "differences.attribute_errors",
        ),
    ],
)
def test_a_step_of_an_error(reference: str, candidate: str, title: str, name: str):
    assert name in steps_of(trace_of(reference, candidate))[title]


def test_the_nearest_observation_is_the_counterpart_of_another():
    trace = trace_of("Left upper lobe nodule.", "Left upper lobe nodule. Nodule in the right apex.")
    why = step(trace, "candidate: right apical nodule", "similarity.assign").what
    assert why.startswith("no counterpart: the nearest is left upper lobe nodule (same concept, place 0.62,")
    assert why.endswith("which is the counterpart of another")


def test_another_policy_adds_its_step():
    made = explain(reference="Left basal atelectasis.", candidate="Clear lungs.", policy="report", trace=True)
    assert made.trace is not None
    (traced,) = made.trace.errors
    assert traced.error is made.errors[0]
    assert traced.error.significant
    assert (traced.decisions[-1].name, traced.decisions[-1].what) == ("policies.is_significant", "policy report")


@each_row("pair", ROWS)
def test_tracing_changes_nothing_and_every_error_has_a_step(pair: list[str]):
    reference, candidate = map(read, pair)
    plain, traced = compare(reference, candidate), compare(reference, candidate, trace=True)
    assert plain == traced
    assert plain.trace is None
    assert traced.trace is not None
    assert [error for error, _ in traced.trace.errors] == list(traced.errors)
    for _, steps in blocks(traced.trace):
        assert steps
        for each in steps:
            assert line_of(each.place).startswith(f"def {each.name.partition('.')[2]}(")


def test_nothing_to_compare_and_a_text_out_of_scope():
    assert str(trace_of("Clear lungs.", "Clear lungs.")) == "There is nothing to compare."
    torn = "MRI of the knee. The anterior cruciate ligament is torn."
    assert explain(reference=torn, candidate="Clear lungs.", trace=True).trace is None


def test_the_command_line_shows_it(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["explain", "Small right effusion.", "Small left effusion.", "--trace"]) == 0
    shown = capsys.readouterr().out
    assert "How both were compared" in shown
    assert "  differences._location_error (rrgmetrics/comparing/differences.py:" in shown


def test_on_a_page_each_finding_and_error_is_a_closed_fold():
    report = "Small right pleural effusion. Mild cardiomegaly."
    reading = read(report, trace=True)
    shown = trace_html(reading.trace)
    assert shown.count("<details><summary>") == shown.count("<ol") + shown.count("<ul") > 1
    assert "<details open" not in shown
    compared = compare(reading, read("Small left pleural effusion.", trace=True), trace=True)
    page = comparison_html(compared.trace)
    assert page.count("<details><summary>") == page.count("<ol") > 1
