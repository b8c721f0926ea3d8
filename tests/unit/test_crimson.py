"""CRIMSON: replies that judges write, and the bundled judge's rubric. All reports are invented."""

from __future__ import annotations

import json
import pickle
import re

import pytest

import rrgmetrics
from rrgmetrics.comparing import compare
from rrgmetrics.comparing.rubric import appraise
from rrgmetrics.comparing.significance import indication_kinds
from rrgmetrics.errors import MissingExtraError, VerdictError
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load
from rrgmetrics.reports import Context, Pair, parse_context
from rrgmetrics.scorers.crimson import CrimsonProtocol, wordings
from rrgmetrics.scorers.crimson.parsers import LONGEST, published_ct, tolerant
from rrgmetrics.scorers.crimson.score import tally
from rrgmetrics.scorers.crimson.wordings import described, question
from rrgmetrics.utils.extras import install_command

PAIR = Pair("Left effusion. Rib fracture.", "Right effusion. Mass.", Context())


def evaluation(**changes):
    parts = {
        "reference_findings": [
            {"id": "R1", "finding": "left effusion", "clinical_significance": "actionable_not_urgent"},
            {"id": "R2", "finding": "rib fracture", "clinical_significance": "not_actionable_not_urgent"},
        ],
        "predicted_findings": [
            {"id": "P1", "finding": "right effusion", "clinical_significance": "actionable_not_urgent"},
            {"id": "P2", "finding": "mass", "clinical_significance": "actionable_not_urgent"},
        ],
        "matched_findings": [{"ref_id": "R1", "pred_id": "P1"}],
        "errors": {
            "false_findings": ["P2"],
            "missing_findings": ["R2"],
            "attribute_errors": [
                {
                    "ref_id": "R1",
                    "pred_id": "P1",
                    "severity": "significant",
                    "error_types": ["location"],
                    "explanation": "other side",
                }
            ],
        },
    }
    return parts | changes


REPLY = json.dumps(evaluation())
# Credit 0.5² / (0.5 + 0.5) = 0.25, false 0.5: A = 0.25, score −0.25 / 1.25.
SCORE = -0.2


def test_two_kinds_in_one_entry_weigh_once_as_in_the_code_or_twice_as_in_the_paper():
    entry = evaluation()["errors"]["attribute_errors"][0]
    both = entry | {"error_types": ["location", "severity", "severity"]}
    neither = entry | {"error_types": []}
    for entries, once, twice, n_errors in (([both], 0.25, 1 / 6, 2), ([neither], 0.25, 0.25, 1)):
        errors = {"false_findings": [], "missing_findings": ["R2"], "attribute_errors": entries}
        reply = json.dumps(evaluation(errors=errors))
        by_entry, by_kind = (
            CrimsonProtocol(attributes=how).verdict(PAIR, [reply]).tally for how in ("entries", "kinds")
        )
        assert (by_entry.correct, by_entry.n_attribute) == (once, 1)  # 0.5² / (0.5 + 0.5)
        assert (by_kind.correct, by_kind.n_attribute) == (pytest.approx(twice), n_errors)  # 0.5² / (0.5 + 1)


NOTHING = json.dumps(
    {
        "reference_findings": [],
        "predicted_findings": [],
        "matched_findings": [],
        "errors": {"false_findings": [], "missing_findings": [], "attribute_errors": []},
    }
)


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("Large left pneumothorax. The heart is normal.", "Large left pneumothorax"),
        ("Patchy opacity in the right lower lobe.", "opacity in the right lower lobe"),
        ("Clear lungs. No effusion or pneumothorax.", ""),
        ("Possible small effusion.", ""),
        ("Calcified aortic arch. Clear lungs.", ""),  # benign: a judge may leave it out
    ],
)
def test_a_reply_without_findings_of_an_abnormal_reference_has_no_verdict(reference, found):
    pair = Pair(reference, "Clear lungs.", Context(age=70.0))
    if found:
        with pytest.raises(VerdictError, match=f"lists no finding of the reference.*{found}"):
            CrimsonProtocol().verdict(pair, [NOTHING])
    else:
        assert CrimsonProtocol().verdict(pair, [NOTHING]).score == 1
    for as_the_authors in (CrimsonProtocol(parser="strict"), CrimsonProtocol(wording="published")):
        assert as_the_authors.verdict(pair, [NOTHING]).score == 1


@pytest.mark.parametrize(
    "reply",
    [
        REPLY,
        f"```json\n{REPLY}\n```",
        f"Let me think {{about it}}. First draft: {json.dumps(evaluation(matched_findings=[]))}\nFinal: {REPLY} Done.",
        REPLY.replace('"P2"], "missing', '"P2",], "missing'),
        REPLY.replace('"false_findings"', 'false_findings"'),
        REPLY.replace("other side", 'the "other" side, I think'),
        REPLY.replace('{"ref_id": "R1", "pred_id"', '{"ref_id": "R1", "pred_old", "pred_id"', 1),
        REPLY.replace("actionable_not_urgent", "Actionable, not urgent").replace("not_Actionable", "Not Actionable"),
        REPLY.replace('["P2"]', '[{"id": "P2", "finding": "mass"}]'),
        REPLY.replace('["location"]', '"location"'),
        REPLY.replace('"R1"', "1").replace('"R2"', "2"),
        REPLY.replace("other side", "the \\L side"),
    ],
    ids="plain fence thoughts comma unopened quotes stray label objects string numbers escape".split(),
)
def test_a_reply_in_many_dresses(reply):
    verdict = CrimsonProtocol().verdict(PAIR, [reply])
    assert verdict.score == pytest.approx(SCORE)
    assert (verdict.tally.n_errors, verdict.tally.significant, verdict.tally.weighted_errors) == (3, 2, 1.25)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot compare these reports.",
        "{}",
        "[]",
        "null",
        REPLY[:-40],
        json.dumps({key: value for key, value in evaluation().items() if key != "matched_findings"}),
        json.dumps(evaluation(errors=None)),
        json.dumps(evaluation(errors={"false_findings": [], "missing_findings": []})),
        json.dumps(evaluation(reference_findings=[{"finding": "effusion"}])),
        json.dumps(evaluation(matched_findings=[{"pred_id": "P1"}])),
        json.dumps(evaluation(predicted_findings="none")),
        "x" * (LONGEST + 1),
        "{" * LONGEST,
        '{"a":' * 20_000,
    ],
    ids="empty refusal object list null truncated lost errors lists id match text long braces deep".split(),
)
def test_an_unreadable_reply_has_no_verdict(reply):
    with pytest.raises(VerdictError):
        CrimsonProtocol().verdict(PAIR, [reply])


def test_the_strict_parser_scores_what_the_authors_score():
    assert CrimsonProtocol(parser="strict").verdict(PAIR, ["{}"]).score == 1.0
    assert CrimsonProtocol(parser="strict").verdict(PAIR, [REPLY]).score == pytest.approx(SCORE)
    for reply in ("[]", "{" * LONGEST, '{"a":' * 15_000, json.dumps(evaluation(errors=None))):
        with pytest.raises(VerdictError):
            CrimsonProtocol(parser="strict").verdict(PAIR, [reply])


def test_a_cut_reply_of_ct_never_scores_one():
    """Theirs closes what is open, and finds no error where the errors are lost."""
    nothing = {"reference_findings": [], "predicted_findings": [], "matched_findings": [], "errors": {}}
    reply = json.dumps(evaluation(errors={"false_findings": [], "missing_findings": [], "attribute_errors": []}))
    for text in (json.dumps(nothing), reply):
        for end in range(len(text)):
            try:
                assert tally(published_ct(text[:end])).score < 1
            except (VerdictError, KeyError):
                continue
    assert tally(published_ct(json.dumps(nothing))).score == 1


def test_no_item_of_a_list_is_dropped_and_keys_that_come_twice_are_joined():
    parsed, notes = tolerant('{"false_findings": ["P1", "P2", "P3"], "x", "false_findings": ["P4"], "y": 1, "y": 2}')
    assert parsed == {"false_findings": ["P1", "P2", "P3", "P4"], "y": 1}
    assert notes == ("stray string", "a key twice")


def test_labels():
    odd = json.dumps(evaluation()).replace('"significant"', '"moderate"')
    assert CrimsonProtocol().verdict(PAIR, [odd]).score == pytest.approx((1 / 3 - 0.5) / (1 + 1 / 6))  # e = 0.25
    for reply in (odd, REPLY.replace("not_actionable_not_urgent", "critical"), REPLY.replace('["P2"]', '["P9"]')):
        with pytest.raises(VerdictError):
            CrimsonProtocol(labels="strict").verdict(PAIR, [reply])
    assert CrimsonProtocol(labels="strict").verdict(PAIR, [REPLY]).score == pytest.approx(SCORE)


def test_complete_counts_what_a_reply_puts_nowhere():
    errors = evaluation()["errors"] | {"false_findings": [], "missing_findings": []}
    reply = json.dumps(evaluation(errors=errors))
    assert CrimsonProtocol().verdict(PAIR, [reply]).score == pytest.approx(0.25 / 0.75)
    verdict = CrimsonProtocol(complete=True).verdict(PAIR, [reply])
    assert (verdict.score, verdict.tally.n_errors) == (pytest.approx(SCORE), 3)


def test_the_question_tells_what_is_known_of_the_patient():
    context = parse_context({"age": "019M", "sex": "F", "indication": " Fall. "})
    assert described(context) == {"Age": "19 months", "Sex": "F", "Indication": "Fall."}
    assert described(Context(age=3 / 365)) == {"Age": "3 days"}
    text = question("{candidate} left", "right", context)
    assert "{candidate} left" in text
    assert "Age: 19 months\nSex: F\nIndication: Fall." in text
    assert "Patient:" not in question("a", "b", Context())


def test_the_authors_question_needs_their_package(monkeypatch):
    wordings.authors_prompts.cache_clear()
    monkeypatch.setattr(wordings.importlib.util, "find_spec", lambda name: None)
    for name in ("crimson@openai:x?wording=published", "crimson@paper"):  # before a key or weights are looked for
        with pytest.raises(MissingExtraError, match=re.escape(install_command("crimson"))) as raised:
            rrgmetrics.score(name, predictions=["a"], references=["b"], progress=False)
        assert "\n" not in str(raised.value)
        assert f"wording={'checkpoint' if name.endswith('paper') else 'published'}" in str(raised.value)


def test_recorded_replies_and_those_that_cannot_be_read(tmp_path):
    pairs = [PAIR, Pair("Clear lungs.", "Nodule.", Context())]
    rows = [
        {"protocol": prompt.protocol, "prompt_sha256": prompt.sha256, "reply": reply, "engine": "x", "parameters": {}}
        for pair, reply in zip(pairs, (REPLY, REPLY[:-9]), strict=True)
        for prompt in CrimsonProtocol().prompts(pair)
    ]
    file = tmp_path / "replies.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    name = f"crimson@replies:{file}"
    result = rrgmetrics.score(
        name, predictions=[p.candidate for p in pairs], references=[p.reference for p in pairs], progress=False
    )[name]
    assert result.n_unscored == 1
    assert result.scores["crimson"] == pytest.approx(SCORE)
    assert result.details["crimson_unscored"][1]["replies"] == [REPLY[:-9]]
    rows = [{"reference": pair.reference, "candidate": pair.candidate} for pair in pairs]
    note = "CRIMSON: the judge has a prompt of rrgmetrics, not of the authors, whose scores may differ."
    for metric, n in ((name, 1), ("crimson", 0)):
        compared = rrgmetrics.compare({"ours": rows}, metrics=metric, trivial=False, progress=False)
        assert [text.count(note) for text in (compared.to_markdown(), compared.to_latex())] == [n, n]


# --- the bundled judge


def crimson(reference, candidate, **context):
    result = rrgmetrics.score(
        "crimson", predictions=[candidate], references=[reference], contexts=[context], progress=False
    )
    return result["crimson"].scores["crimson"]


# reference, candidate, context in which leaving something out costs more, context in which it costs less
CONTEXTS = [
    (
        "Calcified aortic arch. Left basal consolidation.",
        "Left basal consolidation.",
        {"age": 31, "indication": "Chest tightness."},
        {"age": 79, "indication": "Clearance for hip surgery."},
    ),
    (
        "Fracture of the left seventh rib. Moderate cardiomegaly.",
        "Moderate cardiomegaly.",
        {"age": 4, "indication": "Crying, chest pain."},
        {"age": 45, "indication": "MVC."},
    ),
    (
        "Pneumoperitoneum. Left basal atelectasis.",
        "Left basal atelectasis.",
        {"age": 52, "indication": "Acute abdomen."},
        {"age": 52, "indication": "Laparotomy two days ago."},
    ),
    (
        "Moderate left pleural effusion. Right basal atelectasis.",
        "Right basal atelectasis.",
        {"age": 23, "indication": "Palpitations."},
        {"age": 77, "indication": "Known heart failure."},
    ),
    (
        "Moderately enlarged heart. Right upper lobe nodule of 9 mm.",
        "Right upper lobe nodule of 9 mm.",
        {"age": 27, "indication": "Syncope."},
        {"age": 71, "indication": "Known congestive heart failure."},
    ),
    (
        "Tortuous aorta. Right middle lobe opacity.",
        "Right middle lobe opacity.",
        {"age": 70, "indication": "Tearing pain, dissection?"},
        {"age": 70, "indication": "Cough, no aneurysm."},
    ),
    (
        "Small left pleural effusion. Right upper lobe nodule.",
        "Right upper lobe nodule.",
        {"age": 50, "indication": "Fall from a ladder."},
        {"age": 50, "indication": "Known heart failure. No trauma."},
    ),
]


@pytest.mark.parametrize(("reference", "candidate", "worse", "milder"), CONTEXTS)
def test_context_decides_how_much_a_finding_matters(reference, candidate, worse, milder):
    assert crimson(reference, candidate, **worse) < crimson(reference, candidate, **milder)


# reference: candidates from best to worst
ORDERS = {
    "A 7 mm nodule in the left upper lobe.": (
        "9 mm nodule, left upper lobe. > Left upper lobe nodule of 17 mm. > No nodule."
    ),
    "Right lung mass of 4.0 cm.": (
        "4.4 cm right lung mass. > 6 cm mass in the right lung. = Right lung nodule of 2 cm. > Clear lungs."
    ),
    "Large right pneumothorax.": ("Large pneumothorax on the right. > Lucency of the right hemithorax. > Clear lungs."),
    "Left pleural effusion.": ("Left effusion. > Blunted left costophrenic angle. = Right effusion. > Clear."),
    "Left lower lobe pneumonia.": (
        "Left lower lobe consolidation. = Left lower lobe infiltrate. > Left lower lobe opacity. > Clear lungs."
    ),
    "Large left effusion.": (
        "Large effusion on the left. > Trace left effusion. > No effusion. > No effusion. Pneumothorax."
    ),
    "Tiny left effusion.": ("Small left effusion. > Clear lungs."),
    "Pneumothorax. Rib fracture.": (
        "Right pneumothorax. Left rib fracture. = Pneumothorax. Rib fracture. > Rib fracture."
    ),
    "Bilateral pleural effusions.": (
        "Right pleural effusion. Left pleural effusion. > Left pleural effusion. > Clear lungs."
    ),
    "Endotracheal tube in the right main bronchus. Trace effusion.": (
        "Endotracheal tube in the right mainstem bronchus. > Endotracheal tube in good position. Trace effusion."
    ),
    "Mild scoliosis. Large left pneumothorax.": ("Large left pneumothorax. > Mild scoliosis."),
    "Right hilar mass. Left lung nodule.": (
        "Right hilar mass. Left pulmonary nodule. > Right hilar mass. Left lung mass. > Normal chest."
    ),
    "Endotracheal tube 4 cm above the carina. Small effusion.": (
        "Well positioned endotracheal tube. Small effusion. > "
        "Small effusion. > "
        "Endotracheal tube in the right main bronchus. Small effusion."
    ),
    "Cavity in the right upper lobe.": ("Right upper lobe cavity. > Right upper lobe opacity. > Normal chest."),
    "Right rib fracture. No effusion. Normal heart.": (
        "Right rib fracture. = Right rib fracture. Heart normal. > No effusion. Normal heart."
    ),
    "Acute fracture of the right clavicle.": (
        "Acute right clavicle fracture. > Old right clavicle fracture. > Normal."
    ),
}


@pytest.mark.parametrize("reference", ORDERS)
def test_better_reports_score_better(reference):
    ranks = [rank.split(" = ") for rank in ORDERS[reference].split(" > ")]
    scores = [{crimson(reference, candidate) for candidate in rank} for rank in ranks]
    assert all(len(equal) == 1 for equal in scores)
    values = [equal.pop() for equal in scores]
    assert values == sorted(set(values), reverse=True)


def test_each_grade_has_its_reason():
    name = "crimson?explain=yes"
    result = rrgmetrics.score(
        name,
        predictions=["Small left effusion. Pneumothorax."],
        references=["Small right effusion. Aortic calcification. Left chest tube in place."],
        contexts=[{"age": 80}],
        progress=False,
    )[name]
    (explained,) = result.details["crimson_explained"]
    assert explained["reasons"] == [
        "False: pneumothorax (urgent: may grow, and be drained).",
        "Missing: aortic atherosclerosis (benign or expected: expected at this age).",
        "Missing: left chest tube (in position) (neither actionable nor urgent: in place).",
        "small right pleural effusion / small left pleural effusion: location, significant "
        "(another place, which would change the treatment).",
    ]
    assert explained["score"] == pytest.approx(result.scores["crimson"])
    json.dumps(explained)


@pytest.mark.parametrize(
    ("reference", "candidate", "words"),
    [
        ("Left effusion, increased.", "Left effusion.", "unspecific, significant (change left out)."),
        ("Left effusion.", "Left effusion, increased.", "significant (only the candidate reports a change)."),
        ("Left effusion, unchanged.", "Left effusion, increased.", "(only the candidate reports a change)."),
        (
            "Left effusion, increased.",
            "Left effusion, decreased.",
            "temporal, significant (another course, which would",
        ),
        ("Clear lungs.", "A pneumothorax cannot be excluded.", "no finding of either report suggests it (actionable"),
    ],
)
def test_explanations_say_what_differs(reference, candidate, words):
    name = "crimson?explain=yes"
    pair = {"predictions": [candidate], "references": [reference]}
    (explained,) = rrgmetrics.score(name, **pair, progress=False)[name].details["crimson_explained"]
    assert words in " ".join(explained["reasons"])


def test_every_observation_is_matched_missing_or_false(reports):
    for reference, candidate in zip(reports.references, reports.altered, strict=True):
        appraisal = appraise(compare(read(reference), read(candidate)), Context())
        assert sorted({*appraisal.missing, *(r for r, _ in appraisal.links)}) == list(range(len(appraisal.references)))
        assert sorted({*appraisal.false, *(c for _, c in appraisal.links)}) == list(range(len(appraisal.candidates)))
        assert len({(d.reference, d.candidate, d.attribute) for d in appraisal.differences}) == len(
            appraisal.differences
        )
        assert {(d.reference, d.candidate) for d in appraisal.differences} <= set(appraisal.links)


@pytest.mark.parametrize(
    ("indication", "kinds"),
    [
        ("Fall from a ladder, no fever.", {"trauma"}),
        ("Evaluate fluid status.", {"heart_failure"}),
        ("Non-smoker. Denies trauma.", set()),
        ("Pre-op clearance", {"routine"}),
        ("Flu?", {"infection"}),
        ("", set()),
    ],
)
def test_kinds_of_indication(indication, kinds):
    assert indication_kinds(load(), indication) == kinds


@pytest.mark.parametrize(
    ("context", "patient", "known"),
    [
        (Context(72.0, "F", "Cough."), "years", {"Age": "72", "Sex": "F", "Indication": "Cough."}),
        (Context(72.0, "F", "Cough."), "dicom", {"Age": "072Y", "Sex": "F", "Indication": "Cough."}),
        (Context(25.0, "", "Fever."), "keys", {"age": "25", "indication": "Fever."}),
        (Context(19 / 12), "years", {"Age": "19 months"}),
        (Context(19 / 12), "dicom", {"Age": "019M"}),
        (Context(3 / 365.25), "dicom", {"Age": "003D"}),
        (Context(3 / 365.25), "years", {"Age": "3 days"}),
        (Context(), "dicom", {}),
        (parse_context({"age": "072Y"}), "dicom", {"Age": "072Y"}),
        (parse_context({"age": "030M"}), "dicom", {"Age": "030M"}),
        (parse_context({"age": "030M"}), "years", {"Age": "2.5"}),
        (parse_context({"age": "003W"}), "dicom", {"Age": "003W"}),
        (parse_context({"age": "30 months"}), "dicom", {"Age": "002Y"}),
        (parse_context({"age": "", "sex": "F"}), "dicom", {"Age": "", "Sex": "F"}),
        (parse_context({"age": "", "sex": "F"}), "years", {"Sex": "F"}),
        (parse_context({"age": "", "sex": "F"}), "keys", {"sex": "F"}),
        (parse_context({"age": None, "sex": "F"}), "dicom", {"Sex": "F"}),
        (pickle.loads(pickle.dumps(parse_context({"age": "030M"}))), "dicom", {"Age": "030M"}),  # another process
        (parse_context({"age": "030M"})._replace(age=4.0), "dicom", {"Age": "004Y"}),
    ],
)
def test_a_patient_as_the_authors_write_one(context, patient, known):
    """RadPref's rows have `Age: 072Y` as DICOM has it, RadJudge's cases `age: 25`."""
    assert described(context, patient) == known
