"""A metric's page: what is shown of a pair, of a file, and of texts that are none; one round trip through a server."""

import csv
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import rrgmetrics
from float32 import assert_equal_in_float32, in_float32
from rrgmetrics import SPECS, cli, files, spaces
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.metaeval.measured import USUAL, measured_sets, reads_chest_xrays
from rrgmetrics.reporting.explanations import VIEWS, explain_pair
from rrgmetrics.reporting.usual import usual
from rrgmetrics.reports import Context, Pair
from rrgmetrics.spaces import batch, controls, limits, rows, snippets, ui
from rrgmetrics.spaces.examples import examples, opening, sample_file
from rrgmetrics.spaces.framework import launched
from rrgmetrics.spaces.pair_view import pair_view
from rrgmetrics.specs.names import parse_name

pytest.importorskip("gradio")

OF_CHEST_XRAYS = [name for name, spec in SPECS.items() if reads_chest_xrays(spec)]
REFERENCE = "Moderate right pleural effusion. Mild cardiomegaly. No pneumothorax."
CANDIDATE = "Small left pleural effusion. Heart size is normal. No pneumothorax."
ATTACK = "<script>alert(1)</script><img src=x onerror=alert(1)> small effusion"


def kinds(marks, text):
    """What is marked: (words, kind)."""
    return {(" … ".join(text[start:end] for start, end in mark.spans), mark.kind) for mark in marks}


# --- one pair ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["finding_errors", "bleu"])
def test_a_metric_has_a_page(name):
    assert parse_name(name).title in spaces.build_space(name).title


def test_a_name_that_is_none():
    with pytest.raises(InputError, match="did you mean bleu"):
        spaces.build_space("blue")


@pytest.mark.parametrize("name", SPECS)
def test_every_card_says_what_the_page_is_for(name):
    assert 20 < len(ui.heading(SPECS[name]).striptags()) < 500


def test_the_page_of_finding_errors_shows_how_a_pair_was_compared():
    result, pair = ui.answer(SPECS["finding_errors"], REFERENCE, CANDIDATE, "72", "F", "Dyspnea.")
    page = str(pair_view(result, pair))
    assert "<h3>How both were compared</h3>" in page
    assert "<code>differences._location_error</code>" in page
    assert "policies.is_significant" not in page
    assert "policy report" in str(pair_view(result, pair, "finding_errors?policy=report"))


@pytest.mark.parametrize("name", OF_CHEST_XRAYS)
def test_every_metric_shows_a_pair(name):
    result, pair = ui.answer(SPECS[name], REFERENCE, CANDIDATE, "72", "F", "Dyspnea.")
    html = pair_view(result, pair)
    assert result.titled.headline.title in html
    assert (html.count("<mark") >= 2) == (not SPECS[name].corpus_statistics)  # which leaves a pair alone unscored
    assert "Explanation of the score" not in html, "explanations.py has no view of what this metric explains"
    assert all(key.name in html for key in SPECS[name].keys)
    assert ("Errors by category" in html) == any(key.name.endswith("_false_finding") for key in SPECS[name].keys)


@pytest.mark.parametrize("name", OF_CHEST_XRAYS)
def test_context_is_asked_for_where_it_matters(name):
    said = {"age": "20", "sex": "F", "indication": "Trauma."}, {"age": "88", "sex": "M", "indication": "Cough."}
    report = "Tortuous aorta. Mild cardiomegaly. Small hiatal hernia."
    scores = []
    for context in said:
        texts = {"predictions": ["", "Mild cardiomegaly."], "references": [report] * 2, "contexts": [context] * 2}
        scores.append(rrgmetrics.score(name, **texts, progress=False)[name].scores)
    assert (str(scores[0]) != str(scores[1])) == SPECS[name].takes_context  # as texts: nan is not nan


def test_a_page_of_mammograms_opens_with_one():
    view, _ = ui.opened("mammo_green")
    assert "spiculated mass" in view
    assert examples(SPECS["mammo_green"])[0].candidate in Path(sample_file(SPECS["mammo_green"])).read_text()


def test_finding_errors_show_their_evidence():
    result, pair = ui.answer(SPECS["finding_errors"], REFERENCE, CANDIDATE)
    found = explain_pair(result, pair)
    assert ("Moderate right pleural effusion", "incorrect_location") in kinds(found.reference, REFERENCE)
    assert ("Small left pleural effusion", "incorrect_location") in kinds(found.candidate, CANDIDATE)
    assert ("Mild cardiomegaly", "missing_finding") in kinds(found.reference, REFERENCE)
    assert ("pneumothorax", "matched") in {(words[-12:], kind) for words, kind in kinds(found.candidate, CANDIDATE)}
    assert len(found.remarks) == result.scores["finding_errors"]


@pytest.mark.parametrize("name", ["finding_errors", "green", "finding_f1"])
@pytest.mark.parametrize(
    ("reference", "candidate", "in_reference", "in_candidate"),
    [
        (
            "CT chest. Spiculated mass in the right upper lobe measures 4.2 cm. No pericardial effusion.",
            "CT chest. Spiculated mass in the right lower lobe measures 4.2 cm. No pericardial effusion.",
            ("Spiculated mass in the right upper lobe measures 4.2 cm", "incorrect_location"),
            ("Spiculated mass in the right lower lobe measures 4.2 cm", "incorrect_location"),
        ),
        (
            "CT head. Acute left subdural hematoma. No midline shift.",
            "CT head. Acute right subdural hematoma. No midline shift.",
            ("Acute left subdural hematoma", "incorrect_location"),
            ("Acute right subdural hematoma", "incorrect_location"),
        ),
        (
            "Mammogram. Spiculated mass in the left breast. No suspicious calcifications.",
            "Mammogram. Spiculated mass in the right breast. No suspicious calcifications.",
            ("Spiculated mass in the left breast", "incorrect_location"),
            ("Spiculated mass in the right breast", "incorrect_location"),
        ),
    ],
)
def test_evidence_is_read_as_the_kind_of_the_pair(name, reference, candidate, in_reference, in_candidate):
    result, pair = ui.answer(SPECS[name], reference, candidate)
    found = explain_pair(result, pair)
    assert in_reference in kinds(found.reference, reference)
    assert in_candidate in kinds(found.candidate, candidate)
    assert "matched" in {kind for _, kind in kinds(found.candidate, candidate)}


def test_a_section_alone_is_read_as_its_report():
    places = "lingula", "right upper lobe"
    reports = [f"CT chest.\nFINDINGS:\nTree-in-bud opacities in the {place}." for place in places]
    name = "finding_errors?text=findings&explain=yes"
    result, pair = ui.answer(SPECS["finding_errors"], *reports, name=name)
    view = pair_view(result, pair, name)
    assert '<mark class="kind-incorrect_location">Tree-in-bud opacities in the lingula</mark>' in view
    assert "chest_ct/" in view[view.index("class='trace'") :]  # a file of the lexicon


def test_what_the_reader_does_not_read_has_no_evidence():
    """A language model scores any pair; the reader finds nothing in both reports of a knee."""
    result, _ = ui.answer(SPECS["chexprompt"], REFERENCE, CANDIDATE)
    knee = Pair("MRI of the knee. No fracture. Small effusion.", "MRI of the knee. No fracture. Large effusion.")
    found = explain_pair(result, knee)
    assert (found.reference, found.candidate) == ((), ())
    assert found.remarks


def test_crepe_shows_shares_of_findings_that_add_up():
    several = next(example for example in examples() if example.title == "Several errors")
    result, pair = ui.answer(SPECS["crepe"], *several.texts)
    found = explain_pair(result, pair)
    invented = max((mark for mark in found.candidate if mark.kind == "false_finding"), key=lambda mark: mark.amount)
    assert [several.candidate[slice(*span)] for span in invented.spans] == ["Small left apical pneumothorax"]
    words = [word for word in result.details["crepe_explained"][0] if word["category"] == "false_finding"]
    (span,) = invented.spans
    inside = [word["rate"] for word in words if span.start <= word["start"] < span.end]
    assert invented.amount == pytest.approx(sum(inside))
    marked, total, rest = map(float, re.findall(r"\d+\.\d\d", found.note))
    assert total == round(result.scores["crepe"], 2)
    assert marked == pytest.approx(sum(round(mark.amount, 2) for mark in (*found.reference, *found.candidate)))
    assert marked + rest == pytest.approx(total)


@pytest.mark.parametrize(
    ("reference", "candidate", "words"),
    [
        ("Small right effusion.", "Small right effusion. Glorp bim wuzzle.", "Glorp bim wuzzle"),
        ("Small right effusion. No pneumothorax. No fracture.", "", "No pneumothorax"),
        ("Small right effusion.", "Small right effusion. No right effusion.", "right effusion"),
    ],
)
def test_what_crepe_counts_beside_its_network_has_words_too(reference, candidate, words):
    result, pair = ui.answer(SPECS["crepe"], reference, candidate)
    found = explain_pair(result, pair)
    sides = zip(pair[:2], (found.reference, found.candidate), strict=True)
    marks = [(text[slice(*mark.spans[0])], mark.amount) for text, own in sides for mark in own]
    assert any(text == words and amount >= 0.3 for text, amount in marks), marks


def test_phrases_end_where_sentences_do_and_bridge_one_word():
    text = "One two three. Four five six seven."
    places = {match[0]: match.span() for match in re.finditer(r"\w+|\.", text)}
    words = [
        {"text": "candidate", "start": a, "end": b, "category": "false_finding", "rate": 0.25}
        for a, b in (places[word] for word in ("One", "three", ".", "Four", "seven"))
    ]
    result, _ = ui.answer(SPECS["crepe"], REFERENCE, CANDIDATE)
    result = rrgmetrics.Result(**{**vars(result), "details": {"crepe_explained": [words]}})
    found = explain_pair(result, Pair("", text)).candidate
    assert [(text[slice(*mark.spans[0])], mark.amount) for mark in found] == [
        ("One two three", 0.5),
        ("Four", 0.25),
        ("seven", 0.25),
    ]


@pytest.mark.parametrize("name", ["green", "chexprompt", "crimson", "fineradscore"])
def test_judges_show_every_error_in_words(name):
    result, pair = ui.answer(SPECS[name], REFERENCE, CANDIDATE)
    found = explain_pair(result, pair)
    assert found.rest is None
    assert {remark.kind for remark in found.remarks} >= {"missing_finding", "incorrect_location"}
    assert ("Mild cardiomegaly", "missing_finding") in kinds(found.reference, REFERENCE)


def test_an_alternative_that_one_report_lacks_is_not_in_both():
    reference, candidate = "Basal opacity, atelectasis or pneumonia.", "Basal opacity, likely pneumonia."
    result, pair = ui.answer(SPECS["finding_errors"], reference, candidate)
    found = explain_pair(result, pair)
    marked = {words for words, kind in kinds(found.reference, reference) if kind == "matched"}
    assert marked == {"Basal opacity … pneumonia"}


def test_radfact_marks_phrases():
    result, pair = ui.answer(SPECS["radfact"], REFERENCE, CANDIDATE)
    found = explain_pair(result, pair)
    assert ("Small left pleural effusion", "only_here") in kinds(found.candidate, CANDIDATE)
    assert ("Mild cardiomegaly", "only_here") in kinds(found.reference, REFERENCE)


def test_radfact_says_what_is_in_no_phrase_of_a_report():
    reference = "Small right pneumothorax. No edema. Impression: Right pneumothorax."
    result, pair = ui.answer(SPECS["radfact"], reference, "Pulmonary edema. No edema.")
    found = explain_pair(result, pair)
    assert [remark.sentence for remark in found.remarks] == [
        "The candidate says: Pulmonary edema. The reference does not entail it.",
        "The reference says: Small right pneumothorax … Right pneumothorax. The candidate does not entail it.",
        "The reference says: no edema. The candidate does not entail it.",
        "The reference implies that the rest is normal. The candidate does not entail it.",
    ]
    assert ("Small right pneumothorax … Right pneumothorax", "only_here") in kinds(found.reference, reference)


def test_what_is_not_scored_has_no_marks_and_one_reason():
    view, _ = ui.answered(SPECS["crepe"], ("Cráneo sin fracturas ni hemorragia.", "Acute hemorrhage."))
    assert "<mark" not in view
    assert view.count("the reference looks Spanish") == 1
    result, pair = ui.answer(SPECS["crepe"], "Cráneo sin fracturas ni hemorragia.", "Acute hemorrhage.")
    assert explain_pair(result, pair).note == "Unscored: the reference looks Spanish."


def test_a_metric_without_words_marks_what_differs_as_written():
    result, pair = ui.answer(SPECS["bleu"], "Small right effusion.", "Small left effusion.")
    found = explain_pair(result, pair)
    assert kinds(found.reference, pair.reference) == {("right", "only_here")}
    assert kinds(found.candidate, pair.candidate) == {("left", "only_here")}


@pytest.mark.parametrize(
    ("name", "reference", "candidate"),
    [
        ("chexbert_f1", {"edema": "positive", "effusion": "negative"}, {"edema": "positive"}),
        ("srr_bert_f1", ["edema: positive", "effusion: negative"], ["edema: positive"]),
        (
            "temporal_f1",
            [{"change": "edema", "words": "positive"}, {"change": "effusion", "words": "negative"}],
            [{"change": "edema", "words": "positive"}],
        ),
        ("temporal_f1", ["edema: positive", "effusion: negative"], ["edema: positive"]),
    ],
)
def test_labels_of_either_report(name, reference, candidate):
    result, pair = ui.answer(SPECS[name], "Stable effusion. Edema.", "Effusion has increased. Edema.")
    details = {f"{name}_explained": [{"reference": reference, "candidate": candidate}]}
    explanation = explain_pair(rrgmetrics.Result(**{**vars(result), "details": details}), pair)
    assert [(remark.kind, remark.sentence) for remark in explanation.remarks] == [
        ("matched", "Both: edema: positive."),
        ("only_here", "Only the reference: effusion: negative."),
    ]


@pytest.mark.parametrize("name", SPECS)
def test_every_metric_that_explains_itself_has_a_view(name):
    assert (name in VIEWS) == ("explain" in SPECS[name].options)


def test_what_a_metric_without_a_view_says_is_shown_as_it_is():
    result, pair = ui.answer(SPECS["bleu"], REFERENCE, CANDIDATE)
    details = {"bleu_explained": [{"something": ATTACK}]}
    html = pair_view(rrgmetrics.Result(**{**vars(result), "details": details}), pair)
    assert "Explanation of the score" in html
    assert "<script" not in html


def test_texts_that_are_none():
    for reference, candidate, message in (
        ("", " \n", "Both reports are empty"),
        ("word " * 10_000, "Clear.", "The reference has 10,000 words; the limit of this page is 2,000"),
        ("Clear.", "x" * 50_000, "The candidate has 50,000 characters"),
        ("Clear.", "Cle\0ar.", "The candidate contains a NUL character"),
        ("Clear.", "\ud800", "half a character"),
    ):
        with pytest.raises(InputError, match=message):
            ui.answer(SPECS["bleu"], reference, candidate)
    with pytest.raises(InputError, match="age 'old' is not an age"):
        ui.answer(SPECS["bleu"], "Clear.", "Clear.", "old")


@pytest.mark.parametrize("name", SPECS)
def test_nothing_breaks_out(name):
    result, pair = ui.answer(SPECS[name], ATTACK, ATTACK + " on the right")
    html = pair_view(result, pair)
    assert "<script" not in html
    assert "<img" not in html


def test_examples_differ_in_what_their_title_says():
    counts = {}
    for example in examples():
        result, _ = ui.answer(SPECS["finding_errors"], *example.texts)
        counts[example.title] = {key: value for key, value in result.scores.items() if value}
    assert counts["Same findings, other words"] == {}
    assert counts["Wrong side"]["finding_errors_incorrect_location"] == 1
    assert counts["Missed pneumothorax"]["finding_errors_missing_finding"] >= 1
    assert counts["Invented finding"]["finding_errors_false_finding"] == 1
    assert counts["Made-up comparison"]["finding_errors_false_comparison"] >= 1
    assert counts["Several errors"]["finding_errors"] >= 5


@pytest.mark.parametrize("name", SPECS)
def test_a_page_opens_with_a_scored_example(name):
    view, calls = ui.opened(name)
    assert f'role="status">{parse_name(name).titled.headline.title} ' in view
    assert repr(opening(SPECS[name]).candidate) in calls


def test_options_of_the_spec_are_offered_but_no_file_and_no_server():
    assert list(controls.offered(SPECS["rouge"])) == ["text", "flavour", "stemmer"]
    assert list(controls.offered(SPECS["green"])) == ["text"]
    assert not {"wordnet", "idf", "idf_file", "encoder", "base_url"} & {
        key for row in SPECS.values() for key in controls.offered(row)
    }
    texts = (
        "FINDINGS: Mild cardiomegaly. IMPRESSION: Small right effusion.",
        "IMPRESSION: Small left effusion.",
        "",
        "",
        "",
    )
    view, calls = ui.answered(SPECS["finding_errors"], texts, ["impression", "report"])
    assert "finding_errors|text:impression@2|modality:auto|policy:report" in view
    assert "Mild cardiomegaly" not in view, "what the metric did not read is shown"
    assert '<mark class="kind-incorrect_location">Small left effusion</mark>' in view
    assert "Typical scores" not in view
    assert "'finding_errors?text=impression&policy=report&explain=yes'" in calls
    assert "--metrics 'finding_errors?text=impression&policy=report'" in calls
    with pytest.raises(InputError, match="text='upper' is unknown"):
        ui.answered(SPECS["rouge"], texts, ["upper"])
    assert "crepe_presence" not in ui.answered(SPECS["crepe"], texts)[0]
    assert "false_finding: 0" in ui.answered(SPECS["crepe"], texts, ["", "", "", "yes"])[0]


@pytest.mark.parametrize(
    ("reference", "candidate", "said"),
    [
        (
            "Rodilla derecha sin fractura. No hay derrame articular.",
            CANDIDATE,
            "Not scored: the reference looks Spanish. CREPE (bundled) supports chest X-ray reports in English.",
        ),
        (
            REFERENCE,
            "Knee radiograph. No fracture of the patella. Small joint effusion.",
            "The candidate looks like a limb",
        ),
    ],
)
def test_a_text_out_of_scope_is_named_at_the_top(reference, candidate, said):
    view = ui.answered(SPECS["crepe"], (reference, candidate))[0]
    assert said in view[: view.index('class="headline"')]
    assert ("Errors by category" in view) == ("Not scored" not in said)
    view = ui.answered(SPECS["bleu"], (reference, candidate))[0]
    assert 'role="alert"' not in view


def test_no_words_are_marked_as_in_both_reports_if_the_candidate_counts_as_an_empty_report():
    texts = (
        "2 mm calcified granuloma in the right lower lobe. Hepatic steatosis. Cholelithiasis.",
        "Fatty liver and gallstones. Calcified granuloma.",
    )
    view = ui.answered(SPECS["finding_errors"], texts)[0]
    assert "Only the reference reports: gallstones." in view
    assert "in both reports" not in view
    assert "in both reports" in ui.answered(SPECS["finding_errors"], (texts[0], texts[0]))[0]


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "is better than three quarters"), (2.2, "is within this range"), (9.5, "is worse than three quarters")],
)
def test_what_is_usual_comes_from_the_file_of_results(value, words):
    data = measured_sets()[USUAL]
    shown = usual(parse_name("crepe").titled, value)
    assert words in shown
    models = data.metrics["crepe"].values["models"]
    assert f"{models.low:.2f} to {models.high:.2f}" in shown
    assert all(measure.title.capitalize() in shown for measure in data.measures.values())
    assert f"{data.studies} chest X-ray references" in shown
    assert usual(SPECS["crepe"], float("nan")) == ""
    assert all("left:-" not in usual(SPECS[name], SPECS[name].range[0]) for name in data.metrics if name != "radcliq")
    assert set(SPECS) - set(data.metrics) == {
        "cider",
        "f1_radbert_ct",
        "nodule_f1",
        "mammo_green",
    }  # a set of reports; CT; mammograms


@pytest.mark.parametrize("name", ["finding_errors", "green", "bleu"])
@pytest.mark.parametrize("study", ["Chest radiograph.", "CT chest.", "CT head.", "Mammogram."])
def test_only_chest_x_rays_are_compared_with_typical_scores(name, study):
    reports = f"{study} Small left nodule. No fracture.", f"{study} Small right nodule. No fracture."
    assert ("Typical scores" in ui.answered(SPECS[name], reports)[0]) == (study == "Chest radiograph.")


# --- how to call it ---------------------------------------------------------------------------------------------------

AWKWARD = "It's \"5 cm\" $(rm -rf x) `id` \\ line\nEND\nsecond {line} 'END'"


def test_the_python_call_gives_the_same_score(capsys):
    pair = Pair(AWKWARD + ". No effusion. Clear lungs.", AWKWARD + ". Small effusion.", Context(72.0, "F", "it's"))
    names = "rouge", "finding_errors"
    for name in names:
        exec(snippets.python_pair(name, pair), {})
        said = capsys.readouterr().out.splitlines()
        result, _ = ui.answer(SPECS[name], pair.reference, pair.candidate, "72", "F", "it's")
        assert str(result.scores) in said


def test_the_shell_commands_give_the_same_score(tmp_path):
    pair = Pair(AWKWARD + ". No effusion. Clear lungs.", AWKWARD + ". Small effusion.", Context(72.0, "F", "it's"))
    script = snippets.shell_pair("finding_errors", pair)
    stub = f'rrgmetrics() {{ {shlex.quote(sys.executable)} -m rrgmetrics "$@" --no-progress --json out.json; }}\n'
    subprocess.run(["sh", "-c", stub + script], cwd=tmp_path, check=True, capture_output=True, timeout=600)
    written = json.loads((tmp_path / "pair.jsonl").read_text())
    known = {name: value for name, value in pair.context._asdict().items() if value}
    assert written == {"reference": pair.reference, "candidate": pair.candidate, **known}
    result, _ = ui.answer(SPECS["finding_errors"], pair.reference, pair.candidate, "72", "F", "it's")
    assert f'"finding_errors": {result.scores["finding_errors"]}' in (tmp_path / "out.json").read_text()


def test_file_names_are_quoted():
    assert shlex.split(snippets.shell_file("bleu", "my $(rm) 'file'.csv"))[2] == "my $(rm) 'file'.csv"
    assert shlex.split(snippets.shell_file("bleu", "--output.csv"))[2] == "./--output.csv"
    compile(snippets.python_file("bleu", "it's\n\".csv"), "snippet", "exec")


# --- a file -----------------------------------------------------------------------------------------------------------


def whole(name, path):
    """The last thing that is shown of a file, its scores, and what was shown before."""
    *before, (view, scored) = ui.run_file(name, str(path))
    return view, scored, [view for view, _ in before]


@pytest.mark.parametrize("name", SPECS)
def test_pieces_add_up_to_one_call(name, monkeypatch):
    monkeypatch.setattr(batch, "PIECE", 5)
    view, scored, before = whole(name, sample_file())
    pairs = scored.studies
    once = rrgmetrics.score(
        name,
        predictions=pairs.candidates,
        references=pairs.references,
        contexts=pairs.contexts,
        progress=False,
    )[name]
    for key, value in once.scores.items():
        assert scored.result.scores[key] == in_float32(value, nan_ok=True)
    assert_equal_in_float32(scored.result.per_pair[name], once.per_pair[name])
    assert scored.result.signature == once.signature
    assert len(before) == (1 if SPECS[name].corpus_statistics else 3)
    assert "12 studies" in view


def test_progress_counts_and_says_how_long():
    assert "5,000 of 10,000 pairs, about 30 s left" in batch.progress(5_000, 10_000, 30.0)
    assert "0 of 12 pairs<" in batch.progress(0, 12, 0.0)
    assert "about 5 min left" in batch.progress(100, 1_100, 30.0)


def test_the_worst_come_first_and_unscored_last(tmp_path):
    view, scored, _ = whole("crimson", sample_file())
    values = scored.result.per_pair["crimson"]
    order = rows.worst_rows(scored.result)
    assert values[order[0]] == values.min()
    assert "All pairs, the worst first" in view
    assert view.count("<details><summary><span") == len(order) == 12
    assert "95% interval" in view


def test_a_file_is_scored_with_options_and_its_rows_open(tmp_path):
    view, scored, _ = whole("finding_errors?policy=report", sample_file())
    assert "|policy:report|" in view
    worst = view[view.index("<details><summary><span") :].partition("</details>")[0]
    assert "study-06" in worst
    assert "Small left apical pneumothorax" in worst
    assert "only the candidate reports: small left apical pneumothorax" in worst.lower()
    page = Path(batch.write_scores(scored, str(tmp_path))[1]).read_text()
    assert batch.SYSTEM in page


def test_exports_run_no_formula(tmp_path):
    path = tmp_path / "pairs.csv"
    ids = ["=cmd|' /C calc'!A0", "+1", "@SUM(1)", ATTACK]
    rows = [[study_id, "Clear lungs.", "The lungs are clear."] for study_id in ids]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["study_id", "reference", "candidate"], *rows])
    view, scored, _ = whole("rouge", path)
    table, page = batch.write_scores(scored, str(tmp_path))
    with open(table, newline="") as file:
        cells = [row["study_id"] for row in csv.DictReader(file)]
    assert cells == ["'=cmd|' /C calc'!A0", "'+1", "'@SUM(1)", ATTACK]
    assert "<script" not in view
    assert "<script>alert" not in Path(page).read_text()


BOMB = b"\x1f\x8b" + b"\0" * 50
BAD_FILES = {
    "pairs.csv": (b"reference,candidate\na\0b,c\n", "pairs.csv, line 2 contains a NUL byte"),
    "none.csv": (b"reference,candidate\n", "none.csv contains no reports below its column names"),
    "columns.csv": (b"reference,note\na,b\n", "has no column 'candidate'"),
    "short.csv": (b"reference,candidate\na\n", "short.csv, line 2 has 1 cells for 2 columns"),
    "broken.jsonl": (b'{"reference": "a"\n', "broken.jsonl, line 1 is not a JSON object"),
    "deep.jsonl": (b"[" * 100_000, "JSON array"),
    "latin.csv": (b"reference,candidate\n\xe9,b\n", "it looks like Windows-1252 (Latin-1); save it as UTF-8."),
    "utf16.csv": ("reference,candidate\na,b\n".encode("utf-16"), "utf16.csv looks like UTF-16 text; save it as UTF-8."),
    "zip.csv": (b"PK\x03\x04" + b"\0" * 50, "looks like a zip archive"),
    "bomb.jsonl": (BOMB, "looks like gzip"),
    "columns.parquet": (b"PAR1" + b"\0" * 50, "is neither CSV nor JSONL"),
    "book.xlsx": (b"PK\x03\x04", "is neither CSV nor JSONL"),
    "long.csv": (b"reference,candidate\n" + b"word " * 3_000 + b",b\n", "pair 1, column 'reference' has 3,000 words"),
    "<b>.csv": (b"", "<b>.csv is empty"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_cannot_be_used(name, tmp_path):
    content, message = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        batch.read_upload(str(tmp_path / name))
    assert message in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "text_a,text_b\na,b\n",
            "in the menus, choose 'text_a' as the reference and 'text_b' as the candidate or 'text_b' as the reference "
            "and 'text_a' as the candidate.",
        ),
        ("reference;candidate\na;b\n", "f.csv: cells are separated by semicolons; write commas between cells."),
        ("Reference,REFERENCE,candidate\na,a,b\n", "or name it: in the menus, choose 'Reference' as the reference."),
        ("study_id,report\n1,a\n", "Upload one file with both reports of a study."),
        ("ImageID,pred\n1,a\n", "Upload one file with both reports of a study."),
        (
            "gt,one,two\na,b,c\n",
            "in the menus, choose 'gt' as the reference and 'one' as the candidate or 'gt' as the reference and 'two' "
            "as the candidate.",
        ),
        ("study_id,reference,candidate\nx,a,b\nx,a,b\n", "is already in f.csv, line 2; keep one report of each study."),
        ("reference,candidate,truth\ns1,Clear lungs.,No acute disease.\n", "choose 'truth' as the reference."),
    ],
)
def test_messages_advise_what_the_page_offers(content, message, tmp_path):
    (tmp_path / "f.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        batch.read_upload(str(tmp_path / "f.csv"))
    assert str(caught.value).endswith(message)
    assert "--" not in str(caught.value)


def test_a_million_rows_are_refused_early(tmp_path, monkeypatch):
    path = tmp_path / "million.csv"
    path.write_bytes(b"reference,candidate\n" + b"a,b\n" * 1_000_000)
    monkeypatch.setattr(files, "read_pairs", lambda path: pytest.fail("was read to the end"))
    with pytest.raises(InputError, match="more than 20,000 pairs"):
        batch.read_upload(str(path))
    with path.open("r+b") as file:
        file.truncate(30_000_000)
    with pytest.raises(InputError, match="has 30 MB; the limit of this page is 25 MB"):
        batch.read_upload(str(path))


def test_a_file_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(batch, "PIECE", 5)
    monkeypatch.setattr(batch, "MAX_SECONDS", 0)
    with pytest.raises(InputError, match="After 0 minutes, the time limit of this page, 5 of 12 pairs were scored"):
        whole("rouge", sample_file())


def test_limits_are_what_the_page_says():
    assert f"{limits.MAX_PAIRS:,} pairs" in ui.file_words(SPECS["bleu"])
    assert "age, sex" not in ui.file_words(SPECS["bleu"])
    assert "age, sex" in ui.file_words(SPECS["crimson"])


# --- a server ---------------------------------------------------------------------------------------------------------


def test_round_trip_and_errors():
    import httpx
    from gradio_client import Client, handle_file
    from gradio_client.exceptions import AppError

    page = spaces.build_space("rouge")
    _, url, _ = page.launch(**ui.launch_options() | {"prevent_thread_lock": True, "quiet": True})
    try:
        client = Client(url, verbose=False)
        said = client.predict("Clear lungs.", "Clear lungs.", api_name="/score")
        assert said["scores"]["rouge"] == 1.0
        assert "|n:1|" in said["signature"]
        with pytest.raises(AppError, match="the limit of this page"):
            client.predict("x" * 50_000, "Clear lungs.", api_name="/score")
        with pytest.raises(AppError, match="&lt;b&gt;"):
            client.predict("Clear lungs.", "Clear lungs.", "<b>", api_name="/score")
        shown, table, *_ = client.predict(handle_file(sample_file()), api_name="/score_file")
        assert "12 studies" in str(shown)
        assert Path(table["value"] if isinstance(table, dict) else table).name == "rouge_scores.csv"
        large = {"files": ("large.csv", b"x" * 30_000_000)}
        assert httpx.post(f"{url}gradio_api/upload", files=large, timeout=600).status_code == 413
        secret = Path(__file__).parents[2] / "examples" / "references.csv"  # a file that nobody has uploaded
        assert httpx.get(f"{url}gradio_api/file={secret}").status_code == 403
        call = f"{url}gradio_api/call/score_file"
        body = {"data": [{"path": str(secret), "meta": {"_type": "gradio.FileData"}}]}
        event = httpx.post(call, json=body).json()["event_id"]
        assert "event: error" in httpx.get(f"{call}/{event}", timeout=600).text
    finally:
        page.close()


@pytest.mark.parametrize(("failures", "launches"), [(0, 1), (1, 2), (2, 2)])
def test_a_page_that_does_not_answer_at_once_is_launched_again(failures, launches):
    said = []

    class Page:
        def launch(self, **keywords):
            said.append("launch")
            if said.count("launch") <= failures:
                raise ValueError("When localhost is not accessible, a shareable link must be created.")
            return keywords["server_port"]

        def close(self, verbose):
            said.append("close")

    if failures < 2:
        assert launched(Page(), server_port=7) == 7
    else:
        with pytest.raises(BackendError, match="NO_PROXY"):
            launched(Page(), server_port=7)
    assert said.count("launch") == launches
    assert said.count("close") == failures


def test_a_page_and_the_terminal_count_studies_in_one_way(tmp_path, capsys):
    rows = [*STUDIES_OF_TWO, ("", "Clear lungs.")]
    path = tmp_path / "pairs.csv"
    path.write_text("reference,candidate\n" + "".join(f"{reference},{candidate}\n" for reference, candidate in rows))
    result = rrgmetrics.score("rouge", str(path), progress=False)["rouge"]
    words = "3 studies, 1 not scored"
    assert words in repr(result)
    assert words in result.to_markdown()
    assert words in batch.overview(batch.Scored("rouge", batch.read_upload(str(path)), result))
    cli.main(["score", str(path), "--metrics", "rouge", "--html", str(tmp_path / "page.html"), "--no-progress"])
    assert words in capsys.readouterr().out
    assert words in (tmp_path / "page.html").read_text()


def test_the_scores_of_a_file_name_the_kinds_of_reports(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("reference,candidate\nCT chest: small effusion.,Effusion.\nChest radiograph: clear lungs.,Clear.\n")
    result = rrgmetrics.score("finding_errors", str(path), progress=False)["finding_errors"]
    words = "1 chest CT report in English, 1 chest X-ray report in English."
    assert words in batch.overview(batch.Scored("finding_errors", batch.read_upload(str(path)), result))


def test_the_letters_of_a_pair_have_the_numbers_of_its_score(tmp_path):
    path = tmp_path / "pairs.csv"
    rows = [
        "Small left pleural effusion. Mild cardiomegaly.,Pleural effusion.",
        "Mild edema. No effusion.,Mild edema. Left effusion.",
    ]
    path.write_text("\n".join(["reference,candidate", *rows]))
    result = rrgmetrics.score("finding_errors", str(path), progress=False)["finding_errors"]
    view = batch.overview(batch.Scored("finding_errors", batch.read_upload(str(path)), result))
    shown = re.findall(r'<span class="tag kind-\w+"><span aria-hidden="true">(\w) ([\d.]+)</span>', view)
    assert [letter for letter, _ in shown] == ["B", "C", "D", "A"]
    assert {number for letter, number in shown if letter in "AB"} == {"1"}
    vague = {
        f"finding_errors_{kind}": letter for letter, kind in (("C", "incorrect_location"), ("D", "incorrect_severity"))
    }
    for key, letter in vague.items():
        assert 0 < result.per_pair[key][0] < 1
        assert (letter, f"{result.per_pair[key][0]:.1f}") in shown


STUDIES_OF_TWO = [("Small effusion.", "Small effusion."), ("Clear lungs.", "No effusion.")]
