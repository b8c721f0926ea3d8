"""The Space for all metrics: verdicts in words, hostile texts, and a round trip through a served page."""

import math
from dataclasses import replace
from functools import partial

import pytest

pytest.importorskip("gradio")

from rrgmetrics import SPECS
from rrgmetrics.comparing import explain
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.metaeval.measured import DEVELOPMENT, Measured, MeasuredSet, measured_sets
from rrgmetrics.reporting.marks import Explanation
from rrgmetrics.scorers.rouge import Rouge
from rrgmetrics.spaces.compare import page, scoring, tables
from rrgmetrics.spaces.compare.scoring import Line, compare_reports
from rrgmetrics.spaces.compare.verdict import JUDGES, RADIOLOGY, WORDING, family_of, summary, voices
from rrgmetrics.specs.names import parse_name
from rrgmetrics.stats import Estimate

REFERENCE, WRONG_SIDE, PARAPHRASE = (
    "There is a small left pleural effusion. The heart is normal in size.",
    "There is a small right pleural effusion. The heart is normal in size.",
    "Small effusion at the left base. Normal heart size.",
)
ATTACK = "<script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
NAMES = ("finding_errors", "green", "bleu", "rouge")
FACTS = {"title": "", "short": "", "description": "", "rows": 9, "unit": "pairs", "studies": 5, "raters": 3}
NOBODY = MeasuredSet(
    "made", **FACTS, seen=True, level=0.95, measures={}, ceiling={"total_errors": (0.8, 0.9)}, metrics={}
)


def line(name, *values):
    return Line(name, SPECS[name], values)


def measured(**shares):
    rows = {
        name: Measured(
            "0.1.0",
            "2026-01-02",
            {"total_errors": Estimate(0.5, 0.4, 0.6, 9), "preferences": Estimate(share, 0, 1, 40)},
        )
        for name, share in shares.items()
    }
    return replace(NOBODY, metrics=rows)


# --- which of two


@pytest.mark.parametrize(
    ("name", "values", "verdict"),
    [
        ("bleu", (0.5, 0.4), "first"),
        ("crepe", (0.5, 0.4), "second"),  # fewer errors are better
        ("bleu", (0.50001, 0.50002), "tie"),  # 0.500 either way on the page
        ("crepe", (0.501, 0.502), "tie"),
        ("bleu", (0.5, math.nan), "unscored"),
        ("bleu", (0.5,), "unscored"),
    ],
)
def test_a_metric_prefers(name, values, verdict):
    assert line(name, *values).verdict == verdict


def found(*candidates, reference=REFERENCE):
    return [Explanation.of(explain(candidate=text, reference=reference)) for text in candidates]


def test_findings_against_words():
    """The wrong side in the reference's words, and the right side in others: what is wrong leads, readers are one."""
    lines = compare_reports(REFERENCE, [WRONG_SIDE, PARAPHRASE], names=NAMES)
    assert {line.name: line.verdict for line in lines} == {
        "finding_errors": "second",
        "green": "second",
        "bleu": "first",
        "rouge": "first",
    }
    said = summary(lines, found(WRONG_SIDE, PARAPHRASE), NOBODY)
    assert said.headline == "Candidate 2 has fewer errors: no error against 1 significant error."
    (wrong, right) = said.wrong
    assert wrong.errors[0].sentence == "Pleural effusion, side: left → right."
    assert right == ("Candidate 2", "no error", ())
    assert said.votes == {
        "For candidate 1": "words in common (BLEU and ROUGE)",
        "For candidate 2": "the bundled reader (Finding errors and GREEN (bundled))",
    }
    assert said.remarks == (
        "The votes are 1 for candidate 1 and 1 for candidate 2. Metrics with the same reader or the same kind of "
        "features tend to make the same errors, so they have one vote together: 4 metrics, 2 votes.",
        "Candidate 1 is preferred by 2 of 2 metrics of wording, candidate 2 by 1 of 1 made for radiology: "
        "similar wording does not mean similar findings.",
    )


@pytest.mark.parametrize(
    ("candidates", "headline"),
    [
        ([PARAPHRASE, REFERENCE], "Neither candidate has an error."),
        ([WRONG_SIDE, WRONG_SIDE.lower()], "Both candidates have 1 significant error."),
        ([REFERENCE, ""], "Candidate 1 has fewer errors: no error against 2 errors, 1 of them significant."),
        ([WRONG_SIDE], "1 significant error."),
    ],
)
def test_the_headline_goes_by_the_errors(candidates, headline):
    assert summary((), found(*candidates), NOBODY).headline == headline


@pytest.mark.parametrize(
    ("candidates", "headline"),
    [
        (
            ["Pleural effusion. No pneumothorax.", "Large left pleural effusion. Small right pneumothorax."],
            "Candidate 2 has fewer errors: 1 significant error against 1.1 significant errors.",
        ),
        (
            ["Large left pleural effusion. No pneumothorax.", "Pleural effusion. No pneumothorax."],
            "Candidate 1 has fewer errors: no error against 1.1 significant errors.",
        ),
        (["Pleural effusion. No pneumothorax."], "1.1 significant errors."),
        (
            ["Large left effusion. No pneumothorax. Mild scoliosis.", "Large left effusion. Right pneumothorax."],
            "Both candidates have 1 error; candidate 1 has fewer significant ones: 0 against 1.",
        ),
    ],
)
def test_what_is_left_out_counts_as_the_part_that_it_is(candidates, headline):
    """The headline, the row of `finding_errors` and what `explain` prints give the same numbers."""
    reference = "Large left pleural effusion. No pneumothorax."
    read = found(*candidates, reference=reference)
    said = summary((), read, NOBODY)
    assert said.headline == headline
    assert all(
        one.summary == each.summary for one, each in zip(said.wrong, read, strict=True) if "left out" in str(one)
    )
    (row,) = compare_reports(reference, candidates, names=["finding_errors"])
    better = {"first": "Candidate 1 has fewer", "second": "Candidate 2 has fewer", "tie": "Both"}.get(row.verdict, "")
    assert said.headline.startswith(better)
    sums = [sum(remark.part for remark in each.remarks) for each in read]
    assert list(row.values) == pytest.approx(sums)


def test_eight_against_eight_is_no_split_where_the_errors_agree():
    readers = [name for name, spec in SPECS.items() if "reader" in spec.needs and spec.higher_is_better][1:10]
    lines = [line(name, *((0.3, 0.2) if number % 3 else (0.2, 0.2))) for number, name in enumerate(readers)]
    lines += [line("bleu", 0.1, 0.2), line("rouge", 0.1, 0.2), line("meteor", 0.1, 0.2), line("crepe", 2, 1)]
    said = summary([*lines, line("finding_score", 0.2, 0.5)], found(WRONG_SIDE, WRONG_SIDE.lower()), NOBODY)
    assert said.headline == "Both candidates have 1 significant error."
    assert said.remarks[0] == (
        "Weighted by clinical significance, candidate 2 is better: Finding score 0.500 against 0.200."
    )
    assert said.remarks[1].startswith("The votes are 1 for candidate 1 and 1 for candidate 2. ")
    assert said.votes == {
        "For candidate 1": "the bundled reader (6 of its 11 metrics)",
        "For candidate 2": "words in common (BLEU, ROUGE and METEOR)",
    }
    assert "split" not in str(said)


def test_a_language_model_is_a_voice_of_its_own():
    judge = Line("green@openai:m", SPECS["green"], (1.0, 0.5))
    found = voices([line("green", 1.0, 0.5), line("crimson", 1.0, 0.5), judge])
    assert {title: len(own) for title, own in found.items()} == {"the bundled reader": 2, "GREEN by m": 1}


def test_the_bundled_crepe_votes_with_its_teacher():
    published = Line("crepe@paper", SPECS["crepe"], (1.0, 0.5))
    lines = [line("finding_errors", 1.0, 0.5), line("crepe", 1.0, 0.5), published]
    assert voices(lines) == {"the bundled reader": lines[:2], published.title: [published]}


def test_the_metric_nearest_to_radiologists_is_named():
    lines = [line("bleu", 0.3, 0.2), line("crepe", 2, 1), line("rouge", 0.1, 0.1)]
    remark = summary(lines, found(WRONG_SIDE, PARAPHRASE), measured(bleu=0.6, crepe=0.85, green=0.99)).remarks[1]
    assert "preferences (85% of 40 development cases), CREPE (bundled), prefers candidate 2." in remark


def test_groups_and_stand_ins_come_from_the_table():
    assert {family_of(SPECS[name]) for name in ("bleu", "bertscore")} == {WORDING}
    assert (family_of(SPECS["crepe"]), family_of(SPECS["green"])) == (RADIOLOGY, JUDGES)
    assert [line(name, 0.0).bundled for name in ("crepe", "green", "bertscore", "bleu", "finding_errors")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert not Line("green@openai:m", SPECS["green"], (0.0,)).bundled


@pytest.mark.parametrize(("study", "shown"), [("Chest radiograph.", True), ("CT chest.", False), ("Mammogram.", False)])
def test_agreement_on_chest_x_rays_stands_beside_these_alone(study, shown):
    _stands_beside([f"{study} Small {side} nodule." for side in ("left", "right", "left")], shown)


@pytest.mark.parametrize(
    "text",
    ["Petit épanchement pleural gauche. Pas de pneumothorax.", "Kleiner Pleuraerguss links. Kein Pneumothorax."],
)
def test_agreement_on_english_reports_does_not_stand_beside_others(text):
    _stands_beside([text, text, text], shown=False)


def _stands_beside(texts, shown):
    measured = scoring.measured_for(texts[0])
    lines = compare_reports(texts[0], texts[1:], names=["finding_errors", "bleu"])
    page = tables.score_part(lines, measured)
    assert ("Same preference" in page) == shown
    assert ("measured on chest X-ray reports in English, so it is not shown here" in page) != shown
    said = summary(lines, found(*texts[1:], reference=texts[0]), measured)
    assert any("development cases" in remark for remark in said.remarks) == shown


# --- what cannot be scored


@pytest.mark.parametrize(
    ("reference", "candidates", "message"),
    [
        (" ", ["Clear."], "There is no reference"),
        ("Clear.", ["", " \n"], "There is no candidate"),
        ("Clear.", ["Clear.", "a\0b"], "Candidate 2 contains a NUL"),
        ("word " * 10_000, ["Clear."], "The reference has 10,000 words"),
        ("Clear.", ["x" * 1_000_000], "Candidate 1 has 1,000,000 characters"),
        ("Clear.", ["\ud800"], "half a character"),
    ],
)
def test_hostile_texts_are_refused_before_any_work(monkeypatch, reference, candidates, message):
    monkeypatch.setattr(scoring, "ready", None)
    with pytest.raises(InputError, match=message):
        compare_reports(reference, candidates)


@pytest.mark.parametrize(
    ("reference", "shown"), [(REFERENCE, False), ("CT chest. 6 mm nodule in the left lung.", True)]
)
def test_metrics_of_another_modality_are_not_listed(monkeypatch, reference, shown):
    monkeypatch.setattr(scoring, "reason", lambda name: "not asked here")
    names = {line.name for line in compare_reports(reference, [reference])}
    assert ("nodule_f1" in names, "f1_radbert_ct" in names) == (shown, shown)
    assert {"bleu", "chexbert_f1"} <= names
    assert "mammo_green" not in names


def test_an_empty_candidate_is_a_report_beside_another():
    assert compare_reports(REFERENCE, ["", REFERENCE], names=["rouge"])[0].verdict == "second"


def test_a_metric_of_whole_sets_is_not_asked():
    (said,) = compare_reports(REFERENCE, [WRONG_SIDE, PARAPHRASE], names=["cider"])
    assert said.verdict == "unscored"
    assert "needs a set of reports" in said.reason


def test_a_metric_that_fails_stops_no_other_and_tells_no_secret(monkeypatch):
    def failing(self, *_):
        raise BackendError("http://10.0.0.7/secret did not answer")

    monkeypatch.setattr(Rouge, "pair_stats", failing)
    bleu, rouge = compare_reports(REFERENCE, [PARAPHRASE], names=["bleu", "rouge"])
    assert bleu.values[0] >= 0
    assert (rouge.verdict, rouge.reason) == ("unscored", "its model did not answer")


def test_texts_are_escaped():
    lines = compare_reports(REFERENCE, [ATTACK, PARAPHRASE], names=["bleu"])
    read = found(ATTACK, PARAPHRASE)
    measured = measured_sets()[DEVELOPMENT]
    shown = tables.score_part(lines, measured) + tables.difference_part(REFERENCE, [ATTACK, PARAPHRASE], read)
    shown += tables.verdict_part(summary(lines, read, measured), [ATTACK])
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;" in shown  # and behind it the mark of a sentence that nobody can read


# --- agreement


def test_every_measured_metric_is_in_the_table():
    known = measured_sets()[DEVELOPMENT]
    assert set(known.metrics) <= set(SPECS)
    shown = tables.agreement_part(known)
    for name, row in known.metrics.items():
        assert parse_name(name).title in shown
        assert (
            -1 <= row.values["total_errors"].low <= row.values["total_errors"].value <= row.values["total_errors"].high
        )
    assert all(parse_name(name).title in shown for name in SPECS)  # a row, or named as not measured yet


# --- the page


def test_judges_of_the_environment_are_offered_and_nothing_they_are_asked_is_kept(monkeypatch):
    monkeypatch.setenv(page.JUDGES, "green@openai:my-model?base_url=http://127.0.0.1:9/v1, ")
    ((title, name),) = page._check_judges(page.os.environ[page.JUDGES].split(",")).items()
    assert title == "GREEN by my-model"
    assert "cache=no" in name
    page.compare_space()
    with pytest.raises(InputError, match="bleu is not a judge"):
        page.compare_space(["bleu"])


def test_a_candidate_of_another_kind_is_named_beside_a_reference_of_chest_ct_too():
    reference = "2 mm calcified granuloma in the right lower lobe. Hepatic steatosis. Cholelithiasis."
    candidate = "Fatty liver and gallstones. Calcified granuloma."
    of_reference, of_candidate = page._scope(reference, [candidate, "Calcified granuloma."])
    assert of_reference.startswith("The reference looks like a CT report.")
    assert of_candidate.startswith("Candidate 1 looks like an abdominal report.")
    assert "chest CT reports in English give it the worse of two scores" in of_candidate


def test_a_slow_judge_comes_after_the_others_and_its_server_is_not_named(monkeypatch):
    monkeypatch.setattr(page, "compare_reports", lambda *texts, names=["bleu"]: compare_reports(*texts, names=names))
    judges = page._check_judges(["green@openai:my-model?base_url=http://127.0.0.1:9/v1&retries=0"])
    context = {"age": "", "sex": "", "indication": ""}
    (errors, nothing, _), (first, _, _), (second, scores, _) = page._answer(
        REFERENCE, [WRONG_SIDE, PARAPHRASE], context, [*judges.values()]
    )
    assert "Candidate 2 has fewer errors: no error" in errors
    assert nothing == ""  # the errors are said before anything is scored
    assert "Waiting for the language models." in first
    assert "Waiting" not in second
    assert "GREEN by my-model" in scores
    assert "127.0.0.1" not in scores
    answered = Line(
        judges["GREEN by my-model"], SPECS["green"], (1.0, 0.5), "green|engine:m|base_url:http://10.0.0.7|v:1"
    )
    assert "green|engine:m|v:1" in tables.score_part([answered], NOBODY)


def test_round_trip(monkeypatch):
    from gradio_client import Client
    from gradio_client.exceptions import AppError

    monkeypatch.setattr(page, "compare_reports", partial(compare_reports, names=NAMES))
    monkeypatch.setattr(page, "_warm_up", lambda: None)
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True)
    client = Client(url, verbose=False)
    verdict, scores, differences = client.predict(
        REFERENCE, WRONG_SIDE, PARAPHRASE, "72", "F", ATTACK, [], api_name="/compare"
    )
    assert "Candidate 2 has fewer errors" in verdict
    assert all(parse_name(name).title in scores for name in NAMES)
    assert "small right pleural effusion" in differences
    verdict, *others = client.predict("", "x", "", "", "", "", [], api_name="/compare")
    assert 'role="alert"' in verdict
    assert others == ["", ""]
    verdict, *_ = client.predict("Cráneo sin fracturas ni hemorragia.", "x", "", "", "", "", [], api_name="/compare")
    assert verdict.index("The reference looks Spanish") < verdict.index("<h2")
    verdict, *_ = client.predict("x", "x", "", "two hundred", "", "", [], api_name="/compare")
    assert "is not an age" in verdict
    with pytest.raises(AppError):  # no engine but those of the Space's owner
        client.predict("x", "x", "", "", "", "", ["green@openai:m?base_url=http://10.0.0.7"], api_name="/compare")
