"""Errors in words: from Python, as an option of the metric, on the command line, on the HTML page."""

import json
import math

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import cli
from rrgmetrics.comparing import compare
from rrgmetrics.reading import read
from rrgmetrics.reading.model import Span
from rrgmetrics.reporting.explanations import VIEWS, explain_pair
from rrgmetrics.reporting.marks import Explanation, Mark, pieces
from rrgmetrics.reports import Pair

REFERENCE = "There is a small right pleural effusion. Mild cardiomegaly."
CANDIDATE = "Small left pleural effusion. The heart is normal in size."


def test_explain_tells_category_words_and_evidence():
    comparison = rrgmetrics.explain(reference=REFERENCE, candidate=CANDIDATE)
    assert [error.category.letter for error in comparison.errors] == ["B", "C"]
    missing = comparison.errors[0]
    assert missing.sentence == "Only the reference reports: mild cardiomegaly; the candidate denies it."
    assert [REFERENCE[s.start : s.end] for s in missing.reference_spans] == ["Mild cardiomegaly"]
    assert [CANDIDATE[s.start : s.end] for s in missing.candidate_spans] == ["heart is normal in size"]


def test_reports_without_their_names_are_refused_with_the_call_to_write():
    with pytest.raises(rrgmetrics.InputError, match=r"explain\(reference=\.\.\., candidate=\.\.\.\)"):
        rrgmetrics.explain("Small right effusion.", "Small left effusion.")


def test_context_decides_what_is_significant():
    young = rrgmetrics.explain(
        reference="Aortic calcification.", candidate="", context={"age": "025Y", "indication": "Chest pain."}
    )
    old = rrgmetrics.explain(
        reference="Aortic calcification.", candidate="", context={"age": "082Y", "indication": "Before an operation."}
    )
    assert (young.total, young.significant, old.total, old.significant) == (1, 1, 1, 0)


def test_the_option_adds_the_errors_of_each_pair():
    name = "finding_errors?explain=yes"
    pairs = {"predictions": [CANDIDATE, "", CANDIDATE], "references": [REFERENCE, "", REFERENCE]}
    result = rrgmetrics.score(name, missing="empty", progress=False, **pairs)[name]
    first, second, third = result.details["finding_errors_explained"]
    assert [error["category"] for error in first] == ["missing_finding", "incorrect_location"]
    assert second == []
    assert third == first
    json.dumps(first)
    plain = rrgmetrics.score("finding_errors", missing="empty", progress=False, **pairs)["finding_errors"]
    assert plain.details == {}
    assert plain.scores == result.scores


def test_the_module_returns_them():
    module = rrgmetrics.load("finding_errors", "?explain=yes")
    results = module.compute(predictions=[CANDIDATE], references=[REFERENCE], progress=False)
    assert len(results["finding_errors_explained"][0]) == 2


def test_the_command_line_shows_both_reports_and_the_errors(tmp_path, capsys):
    file = tmp_path / "reference.txt"
    file.write_text(REFERENCE)
    assert cli.main(["explain", str(file), CANDIDATE]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "There is a small right pleural effusion [C]. Mild cardiomegaly [B]." in shown
    assert "Small left pleural effusion [C]. The heart is normal in size [B]." in shown
    assert shown.endswith("patient, by fixed rules B missing finding C wrong location")
    assert "2 errors, 2 significant" in shown
    assert "C Pleural effusion, side: right → left." in shown


def test_an_empty_reference_is_named(capsys):
    assert cli.main(["explain", "", "Clear lungs."]) == 0
    assert "The reference is empty; `score` leaves such a pair unscored." in capsys.readouterr().out


def test_the_words_of_a_kind_fit_a_change_that_is_reversed(capsys):
    assert cli.main(["explain", "Right effusion has decreased.", "Right effusion has increased."]) == 0
    shown = capsys.readouterr().out
    assert "F Right pleural effusion, change: better → worse." in shown
    assert shown.endswith("F missing or wrong comparison\n")


def test_the_command_line_reads_what_it_is_told_and_says_what_it_knows(tmp_path, capsys):
    ct, other = "CT chest. 6 mm nodule in the right upper lobe.", "CT chest. 6 mm nodule in the left upper lobe."
    assert cli.main(["explain", ct, other, "--modality", "chest_ct"]) == 0
    assert "1 error" in capsys.readouterr().out
    assert cli.main(["explain", "No se observa derrame pleural.", ""]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "the reference looks Spanish. The bundled reader supports chest X-ray and chest CT reports in English (exp"
        in shown
    )
    (tmp_path / "a.txt").write_text("\ufeffClear lungs.\r\n", encoding="utf-8")
    assert cli.main(["explain", str(tmp_path / "a.txt"), ""]) == 0
    assert "Reference\nClear lungs [B].\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reference", "experimental"),
    [("CT head. Acute left subdural hematoma.", True), ("Small effusion.", False), ("MRI knee. ACL tear.", False)],
)
def test_the_command_line_says_what_is_experimental(capsys, reference, experimental):
    assert cli.main(["explain", reference, ""]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert ("Support for brain CT reports in English is experimental: it was measured" in shown) == experimental


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("Clear lungs.".encode("utf-16"), "looks like UTF-16 text, and rrgmetrics reads UTF-8: iconv -f UTF-16 "),
        ("Cœur élargi.".encode("cp1252"), "line 1 is not UTF-8"),
        (b"\0" * 9, "looks like UTF-16"),
    ],
)
def test_a_file_in_another_encoding(tmp_path, capsys, content, says):
    (tmp_path / "a.rep").write_bytes(content)
    assert cli.main(["explain", str(tmp_path / "a.rep"), ""]) == 2
    assert says in capsys.readouterr().err


def test_the_command_line_shows_what_any_metric_says(capsys):
    assert cli.main(["explain", REFERENCE, CANDIDATE, "--metrics", "green", "crepe", "bleu", "chexbert_f1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    green, crepe = shown.index("GREEN (bundled) ↑"), shown.index("CREPE (bundled) ↓")
    assert "Its errors are those above." in shown[green:crepe]  # in the same words
    assert "“Small left pleural effusion” in the candidate adds" in shown[crepe:]
    assert "BLEU-4 ↑" in shown
    assert "CheXbert F1 micro-14 (bundled) ↑" in shown
    assert "?explain" not in shown
    assert "clinical_significance" not in shown


def test_explain_takes_presets_and_all(capsys):
    assert cli.main(["explain", REFERENCE, CANDIDATE, "--metrics", "mammography"]) == 0
    shown = capsys.readouterr().out
    assert "ROUGE-L" in shown
    assert "MammoGREEN" not in shown  # of a preset, what does not fit the reports is left out
    assert cli.main(["explain", REFERENCE, CANDIDATE, "--metrics", "all"]) == 0
    shown = capsys.readouterr().out
    assert all(spec.headline.title in shown for spec in rrgmetrics.SPECS.values())


def test_a_metric_of_labels_is_not_said_to_be_silent(capsys):
    cli.main(["explain", "Small effusion.", "Clear lungs.", "--metrics", "chexbert_f1", "--no-progress"])
    said = " ".join(capsys.readouterr().out.split())
    assert "≠ Only the reference: Pleural Effusion: positive." in said
    assert "The metric compares these items, not the words of the reports." in said
    assert "gives no explanation" not in said


def test_the_command_line_writes_a_page_json_and_latex(tmp_path, capsys):
    page, data, figure = (tmp_path / name for name in ("pair.html", "pair.json", "pair.tex"))
    written = ["--html", str(page), "--json", str(data), "--latex", str(figure)]
    assert cli.main(["explain", REFERENCE, CANDIDATE, "--metrics", "green", *written]) == 0
    assert "Pleural effusion, <b>side: right → left</b>." in page.read_text()
    assert "Higher is better, from 0 (the worst) to 1 (the best)." in page.read_text()
    found = json.loads(data.read_text())
    assert [error["letter"] for error in found["errors"]] == ["B", "C"]
    assert found["metrics"]["green"]["scores"]["green"] == pytest.approx(1 / 3)
    latex = figure.read_text()
    assert r"\textbf{side: right $\rightarrow$ left}" in latex
    assert r"\uline{small right pleural effusion}\textsuperscript{C}" in latex
    assert cli.main(["explain", REFERENCE, CANDIDATE, *written]) == 2
    assert "--force" in capsys.readouterr().err


def test_a_figure_fits_on_a_page_and_names_what_pdflatex_lacks(tmp_path):
    figure = tmp_path / "pair.tex"
    normal = "The heart is normal in size. "
    for n_sentences, size in ((1, ""), (50, r"\footnotesize"), (75, r"\scriptsize"), (120, r"\tiny")):
        reference = f"{normal * n_sentences}\n\nIMPRESSION: SpO₂ ≈ 88%, ≠ before. 肺. Small right effusion."
        assert cli.main(["explain", reference, "Clear lungs.", "--latex", str(figure), "--force"]) == 0
        lines = figure.read_text().splitlines()
        needs = [
            "% ulem is in texlive-plain-generic on Debian and Ubuntu",
            r"% XeLaTeX with \usepackage{xeCJK}, not pdfLaTeX, for 肺",
        ]
        assert lines[1:5] == [*needs, r"\begin{figure*}", size]
    assert (
        r"in size. \newline IMPRESSION: SpO$_2$ $\approx$ 88\%, $\neq$ before. 肺. \uline{Small" in figure.read_text()
    )


def test_errors_that_are_listed_above_are_not_listed_again(tmp_path, capsys):
    page = tmp_path / "pair.html"
    named = ["finding_errors", "green", "fineradscore"]
    assert cli.main(["explain", REFERENCE, CANDIDATE, "--metrics", *named, "--html", str(page)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("Pleural effusion, side: right → left.") == 2  # the reader's, and FineRadScore's with a grade
    assert printed.count("Its errors are those above.") == 2
    assert page.read_text().count("Its errors are those above.") == 2


def test_what_is_left_out_has_the_same_significance_everywhere(tmp_path, capsys):
    reference, candidate = "Large left pleural effusion. Healed left rib fracture.", "Pleural effusion. Rib fracture."
    page, data, figure = (tmp_path / f"pair.{suffix}" for suffix in ("html", "json", "tex"))
    written = ["--html", str(page), "--json", str(data), "--latex", str(figure), "--trace"]
    assert cli.main(["explain", reference, candidate, *written]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    errors = rrgmetrics.explain(reference=reference, candidate=candidate).errors
    assert {error.significant for error in errors if error.is_left_out} == {True, False}
    shown = [error["significant"] for error in json.loads(data.read_text())["errors"]]
    assert shown == [error.significant for error in errors]
    for error in errors:
        words = f"{'' if error.significant else 'not '}significant, {error.part:g} of an error"
        assert f"{error.sentence} {words}" in printed
        assert f"error {error.category.letter}, {words}: {error.sentence}" in printed
        assert f">{words}</span>" in page.read_text()
        assert rf"(\emph{{{words}}})" in figure.read_text()


def test_every_mention_of_a_finding_has_its_letter(capsys):
    twice = "Large left pneumothorax. The heart is normal in size. IMPRESSION: Large left pneumothorax."
    assert cli.main(["explain", twice, "The heart is normal in size."]) == 0
    assert capsys.readouterr().out.count("pneumothorax [B]") == 2


def test_stretches_of_one_sentence_have_one_letter():
    text = "Effusion on the left, small. Normal heart. Left effusion."
    mark = Mark((Span(0, 8), Span(16, 27), Span(43, 56)), "missing_finding")
    assert [piece.text for piece in pieces(text, [mark]) if piece.ending] == ["left, small", "Left effusion"]


def test_identical_reports_have_no_errors(capsys):
    assert cli.main(["explain", REFERENCE, REFERENCE]) == 0
    assert "No error." in capsys.readouterr().out


def test_the_page_marks_the_evidence(tmp_path):
    file, page = tmp_path / "pairs.jsonl", tmp_path / "page.html"
    file.write_text(json.dumps({"study_id": "s1", "reference": REFERENCE, "candidate": CANDIDATE}) + "\n")
    arguments = ["score", str(file), "--metrics", "finding_errors", "--html", str(page), "--trials", "10"]
    assert cli.main([*arguments, "--no-progress"]) == 0
    assert "Pleural effusion, <b>side: right → left</b>." in page.read_text()


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("CT ABDOMEN: 2 cm liver lesion. Cholelithiasis. No hydronephrosis.", "CT ABDOMEN: Cholelithiasis."),
        ("2 cm liver lesion, cholelithiasis.", "Cholelithiasis."),
        ("Ultrasound of the gallbladder: Gallstones. No wall thickening.", "Normal gallbladder."),
        ("CT abdomen and pelvis with contrast. Acute appendicitis. Small pleural effusions.", "Normal appendix."),
        ("MRI of the knee: Tear of the medial meniscus. Effusion.", "Normal menisci."),
    ],
)
def test_what_no_judge_scores_explain_does_not_score_either(reference, candidate):
    judges = ["green", "crimson", "chexprompt", "fineradscore", "radfact", "finding_errors", "finding_score"]
    scored = rrgmetrics.score(judges, references=[reference], predictions=[candidate], progress=False)
    compared = rrgmetrics.explain(reference=reference, candidate=candidate)
    for result in scored.values():
        assert np.isnan(result.headline).all()
        assert result.unscored_reasons == {0: f"the reference {compared.out_of_scope}"}
    assert compared.errors == ()
    assert repr(compared) == f"ReportComparison(not scored: the reference {compared.out_of_scope})"
    assert all(
        map(math.isnan, (compared.total, compared.significant, compared.cost(), compared.cost(significant=True)))
    )
    assert Explanation.of(compare(read(reference), read(candidate))).remarks == ()


@pytest.mark.parametrize(
    ("reference", "candidate", "why"),
    [
        (
            "2 mm calcified granuloma in the right lower lobe. Hepatic steatosis. Cholelithiasis.",
            "Fatty liver and gallstones. Calcified granuloma.",
            "looks like an abdominal report",
        ),
        (
            "Small right pleural effusion. Mild cardiomegaly. Clear lungs.",
            "MRI of the knee. Small right pleural effusion. Mild cardiomegaly.",
            "looks like a limb report",
        ),
    ],
)
def test_a_candidate_of_another_kind_has_the_errors_that_the_metric_counts(reference, candidate, why, capsys):
    result = rrgmetrics.score("finding_errors", references=[reference], predictions=[candidate], progress=False)
    compared = rrgmetrics.explain(reference=reference, candidate=candidate)
    empty = rrgmetrics.explain(reference=reference, candidate="")
    assert compared.cost() == result["finding_errors"].headline[0] == empty.cost()
    assert compared.unread_candidate == why
    explained = rrgmetrics.score("green?explain=yes", references=[reference], predictions=[candidate], progress=False)
    assert f"The candidate {why} and counts" in explain_pair(*explained.values(), Pair(reference, candidate)).note
    assert empty.unread_candidate == ""
    cli.main(["explain", reference, candidate])
    assert f"The candidate {why} and counts as an empty report." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("candidate", "note"),
    [
        ("Derrame pleural izquierdo, sin neumotórax.", "The candidate looks Spanish and counts as an empty report."),
        (
            "MRI of the knee. Large left pneumothorax. Left rib fracture.",
            "The candidate looks like a limb report, so that it gets the worse of its own score and that of an empty "
            "report.",
        ),
        ("Small left pleural effusion.", ""),
        ("", ""),
    ],
)
def test_a_candidate_of_another_kind_is_named(candidate, note):
    assert Explanation.of(rrgmetrics.explain(reference=REFERENCE, candidate=candidate)).note == note


def test_errors_that_a_judge_only_counted_are_named():
    counted = {"significant": {"false_finding": {"count": 2, "errors": []}}, "insignificant": {}}
    explanation = VIEWS["chexprompt"](counted, Pair(REFERENCE, CANDIDATE))
    (remark,) = explanation.remarks
    assert (remark.kind, remark.sentence, remark.significant) == (
        "false_finding",
        "False finding: the judge counts 2.",
        True,
    )
