"""What surrounds the numbers in RadEval's metrics of other modalities: engines, options, questions, no pairs at all.

Where theirs guesses, refuses or drops something, ours says so or takes it; the cases of the file name what theirs does.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rrgmetrics
from rrgmetrics.errors import InputError
from rrgmetrics.judges.base import EngineName, engine_for
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers.crimson import CrimsonProtocol
from rrgmetrics.scorers.nodule_f1 import NoduleF1Protocol
from rrgmetrics.specs.names import parse_names

CASES = json.loads((Path(__file__).parents[1] / "data/other_modalities.json").read_text())["cases"]
SECTIONS = {  # of their question about CT → what says the same in ours
    "OBJECTIVE_CT": "You compare a candidate CT report with",
    "TASK_STEPS": "1. List the findings of each report",
    "CLINICAL_SIGNIFICANCE_LEVELS": "urgent: life is in danger",
    "SIGNIFICANCE_EXAMPLES_CT": "central or lobar pulmonary embolism",
    "SIGNIFICANCE_APPLICATION": "expected in one patient and alarming in another",
    "ATTRIBUTE_SEVERITY_LEVELS": "negligible: could not.",
    "ERROR_CATEGORIES": '"attribute_errors"',
    "MATCHING_CRITERIA": "2. Match findings that describe the same thing",
    "ATTRIBUTE_ERROR_INSTRUCTIONS": "3. For each matched pair name every attribute that differs",
    "ATTRIBUTE_SEVERITY_GUIDELINES_CT": "another organ, lobe or vascular territory",
    "CONTEXT_GUIDELINES_CT": "Age: 70\nIndication: Cough",
    "OUTPUT_FORMAT": "Answer with this JSON object alone",
    "IMPORTANT_NOTES": "that contradicts nothing, is no error",
}


def cases(function, *metrics):
    chosen = [case for case in CASES if case["function"] == function and (not metrics or case["metric"] in metrics)]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


@cases("detect_provider")
def test_who_answers_is_said_and_not_guessed(case):
    """Theirs takes a provider from the model's name; here any model of any server is `openai:` with its `base_url`."""
    model = case["input"]["model"]
    assert engine_for(f"openai:{model}") == EngineName("openai", model)
    (name,) = parse_names(f"mammo_green@openai:{model}?base_url=http://127.0.0.1:8000/v1").values()
    assert name.published


@cases("adapter_init")
def test_an_option_of_another_metric_is_refused_in_words(case):
    """Theirs dies of it when RadEval passes both keys to all of its metrics; ours take one key each, side by side."""
    metric = case["metric"].removesuffix("_ct")
    (unknown,) = set(case["input"]) - {"openai_api_key"}
    with pytest.raises(InputError, match=f"{metric} has no option '{unknown}'; it has: text"):
        parse_names(f"{metric}@openai:m?{unknown}=x")
    assert len(parse_names(["mammo_green@openai:m?api_key=K", "radfact@openai:m?modality=chest_ct&api_key=K"])) == 2


@cases("init", "crimson_ct")
def test_an_engine_that_is_none_is_refused(case):
    with pytest.raises(InputError, match="gemini_api_key"):
        parse_names("crimson@openai:m?gemini_api_key=g")
    assert case["expected"] == {"raises": "NotImplementedError"}
    assert engine_for("openai:gemini-2.5-pro").kind == "openai"  # asks Gemini for CRIMSON too


@cases("build_prompt_ct")
def test_the_question_of_crimson_about_ct_has_their_parts(case):
    given, sections = case["input"], case["expected"]["sections"]
    context = {key.lower(): value for key, value in (given["context"] or {}).items()}
    (pair,) = check_pairs([given["candidate"]], [given["reference"]], [context])
    (prompt,) = CrimsonProtocol(pack="chest_ct").prompts(pair)
    assert [section for section in sections if SECTIONS[section] not in prompt.text] == []
    assert (SECTIONS["CONTEXT_GUIDELINES_CT"] in prompt.text) == ("CONTEXT_GUIDELINES_CT" in sections)
    assert "{{" not in prompt.text  # theirs leaves nine


@cases("build_request", "crimson_ct")
def test_the_request_of_crimson_about_ct(case):
    """Theirs sends the chest X-ray's system message with a question about CT; ours about CT alone."""
    given, other = case["input"], case["expected"]["other"]
    (pair,) = check_pairs([given["candidate"]], [given["reference"]])
    (prompt,) = CrimsonProtocol(pack="chest_ct").prompts(pair)
    assert case["expected"]["system_is_cxr_message"]
    assert [message.role for message in prompt.messages] == ["system", "user"]
    assert "X-ray" not in prompt.text
    assert (prompt.json_schema is not None) == ("response_format" in other)
    (name,) = parse_names("crimson@openai:m?modality=chest_ct").values()
    assert name.options["temperature"] == other["temperature"]


@cases("call", "crimson_ct")
def test_contexts_of_ct_are_taken(case):
    """Theirs raises: its wrapper takes none."""
    contexts = [{"age": one["Age"]} for one in case["input"]["patient_contexts"]]
    texts = {
        "predictions": ["Chest CT, axial images. No nodule."],
        "references": ["Chest CT, axial images. 8 mm nodule."],
    }
    assert rrgmetrics.score("crimson", contexts=contexts, progress=False, **texts)["crimson"].n_unscored == 0


@cases("build_prompt", "nodule_eval", "lung_nodules")
def test_a_report_without_the_section_is_asked_about_as_none(case):
    given = case["input"]
    (pair,) = check_pairs([given["candidate"]], [f"PULMONARY NODULES: {given['reference']}"])
    (prompt,) = NoduleF1Protocol(case["metric"]).prompts(pair)
    assert case["expected"]["ends_with"].endswith("(none)")
    assert prompt.text.endswith("(none)")
    assert given["reference"] in prompt.text


@cases("forward")
def test_no_pairs_at_all_are_an_error(case):
    """Theirs scores 0."""
    given = case["input"]
    assert not any(given.values())
    name = "radfact?modality=chest_ct" if case["metric"] == "radfact_ct" else "f1_radbert_ct"
    with pytest.raises(InputError, match="no pairs"):
        rrgmetrics.score(name, predictions=[], references=[], progress=False)
