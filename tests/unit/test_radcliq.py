"""RadCliQ: golden points, BLEU-2, one pair alone, the authors' metrics, and refitting."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

import rrgmetrics
from float32 import in_float32
from rrgmetrics import BackendError, InputError
from rrgmetrics.backends.encoder import FINDINGS, FINDINGS_LAYERS, BySentence, load_encoder
from rrgmetrics.backends.tokens import count_ngrams
from rrgmetrics.cli import main
from rrgmetrics.labels.positive_sentences import standard_wording
from rrgmetrics.metaeval.composite import fit, read_rated
from rrgmetrics.reading import read
from rrgmetrics.scorers.bertscore import Bertscore
from rrgmetrics.scorers.radcliq import (
    KEYS,
    Coefficients,
    Radcliq,
    RadcliqReduction,
    bleu_2,
    bleu_tokens,
    on_printed_scale,
    read_coefficients,
)
from rrgmetrics.scorers.semb_score import SembScore
from rrgmetrics.synthesis.sources import load_collection

# Features (RadGraph, BERTScore, SembScore, BLEU-2), version 0, version 1: the pickles' own arithmetic.
GOLDEN = [
    ((0, 0, 0, 0), 5.516160804054495, 2.4501430833271307),
    ((1, 1, 1, 1), -0.24213342294409346, -1.4406902828047017),
    ((0.5, 1, 1, 1), 0.5523836938590196, -0.818082117695542),
    ((0.25, 0.4, 0.6, 0.3), 3.005129721042395, 0.8816378449652857),
]


def score(name, candidates, references):
    return rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name]


@pytest.mark.parametrize(("features", "v0", "v1"), GOLDEN)
def test_golden_points(features, v0, v1):
    for version, expected in (("v0", v0), ("v1", v1)):
        assert read_coefficients(version).raw(np.array([features]))[0] == pytest.approx(expected, abs=1e-12)


def test_lost_bertscore_is_what_radeval_prints_for_a_single_pair():
    """Its gallery has 9.372604544321518 for identical reports: BERTScore is 0, rescaled by the baseline 0.8473319."""
    lost = np.array([[1, -0.8473319 / (1 - 0.8473319), 1, 1]])
    assert read_coefficients("v1").raw(lost)[0] == pytest.approx(9.372604544321518, abs=2e-6)  # float32 there


def test_rexrank_is_the_inverse_of_the_mean_and_puts_perfect_below_worst():
    perfect, worst = (read_coefficients("v1").raw(np.full((1, 4), value))[0] for value in (1.0, 0.0))
    rows = np.array([[perfect, 1, 1, 1, 1], [worst, 0, 0, 0, 0]])
    best, least = (corpus(rows[[i]]) for i in (0, 1))
    assert best["radcliq"] < least["radcliq"]
    assert best["radcliq_rexrank"] == pytest.approx(-0.6941117, abs=1e-6)
    assert best["radcliq_rexrank"] < least["radcliq_rexrank"]
    both = corpus(rows)
    assert both["radcliq_rexrank"] == pytest.approx(1 / np.mean([perfect, worst]))
    assert list(both) == list(KEYS)
    spec = rrgmetrics.SPECS["radcliq"]
    assert not spec.higher_is_better
    assert {key.name: key.per_pair for key in spec.keys}["radcliq_rexrank"] is False


def corpus(rows):
    scores = RadcliqReduction().corpus(rows.sum(axis=0)[None], np.array([len(rows)]))
    return {key: float(value[0]) for key, value in scores.items()}


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("Small left effusion. No pneumothorax.", "Left effusion. No pneumothorax.", 0.846481724890614),
        ("Clear lungs.", "Lungs are clear.", 0.15811388300841897),
        ("Mass.", "MASS.", 1.0),
        ("Cardiomegaly", "cardiomegaly", 0.316227766016838),
        ("The heart is large.", "The the the heart", 0.3179440883008189),
    ],
)
def test_bleu_2(reference, candidate, expected):
    """fast-bleu 0.0.90 is NLTK's arithmetic in C++; values of NLTK 3.10.4, smoothing method 1 with epsilon 0.1."""
    ngrams = (count_ngrams(bleu_tokens(text), 2) for text in (reference, candidate))
    assert bleu_2(*ngrams) == pytest.approx(expected, abs=1e-12)


def test_a_sentence_has_the_same_vectors_in_any_report():
    encoder = load_encoder(FINDINGS, layer=FINDINGS_LAYERS)
    alone = encoder.annotate(["Small left effusion.", "Clear lungs."])
    together, single, nothing = BySentence(encoder).annotate(
        [" Small left effusion.\n\nClear lungs. ", "Clear lungs.", ""]
    )
    np.testing.assert_array_equal(together.ids, np.concatenate([each.ids for each in alone]))
    np.testing.assert_allclose(together.vectors, np.concatenate([each.vectors for each in alone]), atol=1e-6)
    np.testing.assert_array_equal(single.vectors, together.vectors[len(alone[0].ids) :])
    assert not nothing.own.any()


def test_bleu_2_of_nothing():
    nothing, something = count_ngrams([], 2), count_ngrams(["clear"], 2)
    assert [bleu_2(*pair) for pair in ((nothing, nothing), (something, nothing), (nothing, something))] == [0, 0, 0]


def test_a_pair_alone_scores_as_among_others(reports):
    """RadEval's does not: the weights of its tokens come from the other references of the call."""
    whole = score("radcliq", reports.altered, reports.references).per_pair["radcliq"]
    alone = score("radcliq", reports.altered[:1], reports.references[:1])
    assert alone.per_pair["radcliq"][0] == in_float32(whole[0])
    same = score("radcliq", reports.references[:1], reports.references[:1])
    assert same.scores["radcliq"] < 0
    assert "|calibrated:no|" in same.signature


def test_without_weights_of_tokens_a_pair_is_unscored(reports):
    alone = score("radcliq?idf=call", reports.altered[:1], reports.references[:1])
    assert (alone.n_unscored, math.isnan(alone.scores["radcliq"])) == (1, True)


def by_sentence(load):
    """Returns a scorer's `backend` that encodes each sentence by itself."""
    return lambda scorer, runtime: BySentence(load(scorer, runtime))


def test_features_are_the_metrics_own(reports, published_checkpoints, monkeypatch):
    parts = {
        "radcliq": ("radgraph_f1", "bertscore@crepe-bundled@3?layer=3", "semb_score"),
        "radcliq@paper": (
            "radgraph_f1@radgraph?lowercase=no&text=space",
            "bertscore@radcliq",
            "semb_score@paper?text=space",
        ),
    }
    for name, (radgraph, bertscore, semb) in parts.items():
        result = score(name, reports.altered[:5], reports.references[:5])
        wording = reports.altered[:5], reports.references[:5]
        if name == "radcliq":
            wording = [list(map(standard_wording, map(read, side))) for side in wording]
            monkeypatch.setattr(Bertscore, "backend", by_sentence(Bertscore.backend))
            monkeypatch.setattr(SembScore, "backend", by_sentence(SembScore.backend))
        alone = {part: score(part, *wording) for part in (radgraph, bertscore, semb)}
        monkeypatch.undo()
        columns = [
            alone[radgraph].per_pair["radgraph_f1_radcliq"],
            alone[bertscore].per_pair["bertscore"],
            alone[semb].per_pair["semb_score"],
            result.per_pair["radcliq_bleu"],
        ]
        for key, column in zip(KEYS[2:], columns, strict=True):
            assert result.per_pair[key] == in_float32(column)
        model = read_coefficients("v1")
        raw = model.raw(np.column_stack(columns))
        raw = raw if name.endswith("paper") else on_printed_scale(raw, model)
        assert result.per_pair["radcliq"] == in_float32(raw, scale=10)  # weights of up to 10 for a unit of a feature
        assert f"|calibrated:{'yes' if name.endswith('paper') else 'no'}|" in result.signature


# --- The bundled metrics on the scale of the authors'

MISSED = [
    ("Large left pneumothorax.", "Normal chest."),
    ("Large left pneumothorax.", "The lungs are clear. No pneumothorax. Heart size is normal."),
    ("Cardiomegaly. Right upper lobe mass. Small left effusion.", "Cardiomegaly. Small left effusion."),
    ("Normal chest.", "Large left pneumothorax."),
    ("Endotracheal tube in the right main bronchus.", "No acute disease."),
]


@pytest.mark.parametrize(("reference", "candidate"), MISSED)
def test_a_finding_that_is_missed_or_made_up_costs_about_an_error(reference, candidate):
    """It cost 0.44 under version 1; an unrelated report cost 1.1, which is 3.2 under the authors' metrics."""
    for name, least, most in (("radcliq", 1.0, 2.5), ("radcliq?coefficients=yu2022", 0.7, 2.0)):
        changed, same, empty = score(name, [candidate, reference, ""], [reference] * 3).per_pair["radcliq"]
        assert least < changed - same < most
        assert changed < empty


def test_more_errors_score_worse():
    reference = "Large left pneumothorax. Cardiomegaly. Right pleural effusion."
    candidates = [reference, "Large left pneumothorax. Cardiomegaly.", "Cardiomegaly.", "Normal chest.", ""]
    for name in ("radcliq", "radcliq?coefficients=yu2022"):
        scores = score(name, candidates, [reference] * 5).per_pair["radcliq"]
        assert list(scores) == sorted(scores)


def test_unrelated_reports_score_as_the_paper_prints():
    """Version 0 is left out: it weighs BLEU upwards, and no mean of it is printed."""
    texts = [report.text for report in load_collection("generator:201", seed=3).reports]
    for name, printed, perfect in (("radcliq?coefficients=yu2022", 3.258, -0.155), ("radcliq", 1.757, -1.441)):
        result = score(name, texts[1:], texts[:-1])
        unrelated = np.nanmean(result.per_pair["radcliq"])
        assert unrelated - perfect == pytest.approx(printed - perfect, rel=0.1)  # a sample of 200 pairs
        assert "|calibrated:no|scale:random_reports@3|" in result.signature


@pytest.mark.parametrize("version", ["v0", "v1", "yu2022"])
def test_the_scale_changes_no_rank_and_no_correlation(version):
    model = read_coefficients(version)
    raw = np.random.default_rng(0).normal(size=50)
    scaled = on_printed_scale(raw, model)
    np.testing.assert_array_equal(np.argsort(scaled), np.argsort(raw))
    assert np.corrcoef(scaled, raw)[0, 1] == pytest.approx(1)
    perfect = model.raw(np.ones((1, len(model.features))))
    np.testing.assert_allclose(on_printed_scale(perfect, model), perfect)


def test_coefficients_that_call_unrelated_reports_better_keep_their_scale():
    model = Coefficients((0.5, 0.5), (1.0, 1.0), (1.0, 1.0), 2.0, "paper", {}, ("radgraph", "bleu"))
    np.testing.assert_array_equal(on_printed_scale(np.arange(3.0), model), np.arange(3.0))


# --- The paper's model of two metrics


def test_the_model_of_the_paper_reads_two_metrics_and_loads_no_other(reports, monkeypatch):
    for other in ("Bertscore", "SembScore"):
        monkeypatch.delattr(f"rrgmetrics.scorers.radcliq.{other}.backend")
    result = score("radcliq?coefficients=yu2022", reports.altered[:3], reports.references[:3])
    assert result.n_unscored == 0
    assert np.isnan(result.per_pair["radcliq_bertscore"]).all()
    assert math.isnan(result.scores["radcliq_semb"])
    assert 0 < result.scores["radcliq_bleu"] <= 1
    assert "bertscore" not in result.signature
    assert result.titled.title == "RadCliQ (bundled)"


def test_the_configuration_of_the_paper_is_the_published_radgraph_and_bleu(reports, published_checkpoints):
    names = ["radcliq@yu2022", "radcliq@paper?coefficients=yu2022"]
    one, other = (score(name, reports.altered[:3], reports.references[:3]) for name in names)
    np.testing.assert_array_equal(one.per_pair["radcliq"], other.per_pair["radcliq"])
    radgraph = score("radgraph_f1@radgraph?lowercase=no&text=space", reports.altered[:3], reports.references[:3])
    np.testing.assert_allclose(one.per_pair["radcliq_radgraph"], radgraph.per_pair["radgraph_f1_radcliq"])
    features = np.column_stack([one.per_pair["radcliq_radgraph"], one.per_pair["radcliq_bleu"]])
    np.testing.assert_allclose(one.per_pair["radcliq"], read_coefficients("yu2022").raw(features))
    assert "|calibrated:yes|" in one.signature
    assert one.titled.title == "RadCliQ"


def test_missing_weights_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(BackendError, match="hf download"):
        score("radcliq@paper", ["a"], ["a"])


# --- Refitting


def made(n_cases: int = 40, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Features of two candidates a case, and errors 3 - 1.0 z_radgraph - 0.5 z_semb + 0.2 z_bleu."""
    generator = np.random.default_rng(1)
    z = generator.normal(size=(2 * n_cases, 4))
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    errors = 3 - z[:, 0] - 0.5 * z[:, 2] + 0.2 * z[:, 3] + noise * generator.normal(size=2 * n_cases)
    return 0.6 + 0.2 * z, errors, [str(i // 2) for i in range(2 * n_cases)]


def test_fit_recovers_weights_and_none_is_above_zero():
    features, errors, cases = made()
    composite = fit(features, errors, cases, trials=200)
    assert composite.coefficients.weight == pytest.approx((-1, 0, -0.5, 0), abs=0.1)
    assert max(composite.coefficients.weight) <= 0
    assert composite.coefficients.intercept == pytest.approx(errors.mean())
    for estimate in composite.weights.values():
        assert estimate.low <= estimate.value <= estimate.high <= 0
    assert composite.weights["radgraph"].low < -1 < composite.weights["radgraph"].high
    assert composite.held_out.tau_b.value > 0.7
    assert (composite.n_pairs, composite.n_cases, composite.n_left_out) == (80, 40, 0)


def test_a_case_that_is_left_out_does_not_help_itself():
    features, errors, cases = made()
    nothing = np.random.default_rng(2).permutation(errors)
    assert abs(fit(features, nothing, cases, trials=20).held_out.tau_b.value) < 0.25


def test_folds_of_cases():
    features, errors, cases = made()
    whole = fit(features, errors, cases, trials=20)
    five = fit(features, errors, cases, folds=5, trials=20)
    assert five.coefficients == whole.coefficients  # folds say how well it does, not what it is
    assert five.held_out.tau_b.value == pytest.approx(whole.held_out.tau_b.value, abs=0.1)
    assert five.held_out != whole.held_out
    assert fit(features, errors, cases, folds=40, trials=20).mae == pytest.approx(whole.mae)
    for folds in (1, -2, 41):
        with pytest.raises(InputError, match=f"folds is {folds} for 40 cases"):
            fit(features, errors, cases, folds=folds, trials=20)


def test_fit_leaves_out_what_is_unscored_and_survives_constants():
    features, errors, cases = made()
    features[3, 1] = np.nan
    features[:, 3] = 0.5
    composite = fit(features, errors, cases, trials=20)
    assert (composite.n_pairs, composite.n_left_out) == (79, 1)
    assert composite.coefficients.weight[3] == 0


@pytest.fixture
def rated(tmp_path, reports):
    """Invented reports with a number of errors each."""
    path = tmp_path / "rated.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["reference", "candidate", "errors"])
        for i, (reference, altered) in enumerate(zip(reports.references, reports.altered, strict=True)):
            writer.writerow([reference, altered, 2 + i % 3])
            writer.writerow([reference, reference, 0])
    return path


def test_fit_from_a_file_to_a_score(rated, tmp_path, reports, capsys):
    output = tmp_path / "coefficients.json"
    command = ["radcliq", "fit", str(rated), "--output", str(output), "--trials", "50", "--no-progress"]
    assert main(command) == 0
    output_text = capsys.readouterr().out
    assert "28 pairs of 14 cases" in output_text
    assert f"radcliq@{output}" in output_text.replace("\n", "")
    result = score(f"radcliq@{output}", reports.references, reports.references)
    assert "|calibrated:yes|coefficients_sha256:" in result.signature
    assert result.scores["radcliq"] == pytest.approx(0, abs=0.7)
    features = np.column_stack([result.per_pair[key] for key in KEYS[2:]])
    np.testing.assert_allclose(result.per_pair["radcliq"], read_coefficients(str(output)).raw(features))
    assert score(f"radcliq?coefficients={output}", ["a"], ["b"]).signature.count("calibrated:yes") == 1
    assert main(command) == 2  # nothing is replaced without --force
    table = json.loads(output.read_text())
    table["fitted_on"]["bertscore_model"] = "another"
    output.write_text(json.dumps(table))
    assert "calibrated:no" in score(f"radcliq@{output}", ["a"], ["b"]).signature
    table["parts"] = "paper"
    output.write_text(json.dumps(table))
    with pytest.raises(InputError, match=r"write radcliq@paper\?coefficients="):
        score(f"radcliq@{output}", ["a"], ["b"])


def test_ordinary_least_squares_leave_the_sign_free():
    features, errors, cases = made()
    free = fit(features, errors, cases, method="ols", trials=20)
    assert free.coefficients.weight == pytest.approx((-1, 0, -0.5, 0.2), abs=0.1)
    assert free.fitted.r2 > fit(features, errors, cases, trials=20).fitted.r2
    assert free.fitted.r2 > free.left_out.r2 > 0.8
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    design = np.column_stack([z, np.ones(len(z))])
    residual = np.linalg.lstsq(design, errors, rcond=None)[1][0]
    assert free.fitted.r2 == pytest.approx(1 - residual / ((errors - errors.mean()) ** 2).sum())


def test_a_feature_of_which_less_is_better_adds_errors():
    features, errors, cases = made()
    features[:, 0] *= -1
    composite = fit(features, errors, cases, signs=(1, -1, -1, -1), trials=20)
    assert composite.coefficients.weight == pytest.approx((1, 0, -0.5, 0), abs=0.1)


def test_p_and_r2_of_noise_say_nothing():
    features, errors, cases = made()
    noise = fit(features, np.random.default_rng(4).permutation(errors), cases, method="ols", trials=20).left_out
    assert noise.p_value > 0.05
    assert noise.r2 < 0.1
    assert fit(features, errors, cases, trials=20).left_out.p_value < 0.001


def test_predicted_errors_of_candidates_and_of_random_reports():
    features, errors, cases = made()
    composite = fit(features, errors, cases, random=np.full((5, 4), 0.6), trials=20)
    assert composite.predicted.candidates == pytest.approx(errors.mean())
    assert composite.predicted.random == pytest.approx(errors.mean())  # 0.6 is the mean of each feature
    assert composite.predicted.decrease == pytest.approx(0, abs=1e-9)
    assert math.isnan(fit(features, errors, cases, trials=20).predicted.decrease)


def run(*arguments):
    return main(["radcliq", *map(str, arguments), "--trials", "20", "--no-progress"])


def test_the_model_of_the_paper_is_fitted_again_and_scores(rated, tmp_path, reports, capsys):
    output = tmp_path / "two.json"
    features = ("--features", "radcliq#bleu", "radcliq#radgraph", "--method", "ols")
    assert run("fit", rated, "--output", output, *features) == 0
    printed = capsys.readouterr().out
    for line in ("R², as fitted", "R², each case left out", "decrease", "fitted by ols"):
        assert line in printed
    model = read_coefficients(str(output))
    assert (model.features, model.parts) == (("radgraph", "bleu"), "default")
    result = score(f"radcliq@{output}", reports.altered, reports.references)
    assert "|calibrated:yes|" in result.signature
    assert "scale:" not in result.signature
    columns = np.column_stack([result.per_pair["radcliq_radgraph"], result.per_pair["radcliq_bleu"]])
    np.testing.assert_allclose(result.per_pair["radcliq"], model.raw(columns))


def test_any_keys_are_fitted_and_predict(rated, tmp_path, reports, capsys):
    output, predicted = tmp_path / "any.json", tmp_path / "predicted.json"
    assert run("fit", rated, "--output", output, "--features", "rouge#1", "finding_errors") == 0
    model = json.loads(output.read_text())
    assert list(model["features"]) == ["rouge#1", "finding_errors"]
    assert model["features"]["rouge#1"]["weight"] <= 0 <= model["features"]["finding_errors"]["weight"]
    with pytest.raises(InputError, match="radcliq predict --model"):
        score(f"radcliq@{output}", ["a"], ["b"])
    pairs = tmp_path / "system.csv"
    with pairs.open("w", newline="") as file:
        rows = [["reference", "candidate"], *zip(reports.references, reports.references, strict=True)]
        csv.writer(file).writerows(rows)
    assert run("predict", "--systems", f"same={pairs}", "--model", output, "--output", predicted) == 0
    same, random = json.loads(predicted.read_text())["systems"].values()
    assert same["errors"]["value"] < random["errors"]["value"]
    assert same["decrease_percent"]["value"] == pytest.approx(
        100 * (1 - same["errors"]["value"] / random["errors"]["value"])
    )
    assert run("predict", "--systems", f"same={pairs}") == 0  # the paper's coefficients
    assert "radcliq?coefficients=yu2022" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--features", "bleu#nothing"], "nothing"),
        (["--features", "radcliq#rexrank"], "one number for all pairs"),
        (["--features", "rouge", "--metric", "radcliq@paper"], "leave out radcliq@paper"),
        (["--metric", "radcliq@yu2022"], "cannot be refitted"),
    ],
)
def test_features_that_cannot_be_fitted(rated, tmp_path, capsys, arguments, message):
    assert run("fit", rated, "--output", tmp_path / "out.json", *arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("radcliq", "count standard deviations"),
        ("rouge", "predicts no errors"),
        ("radcliq@none.json", "no configuration"),
    ],
)
def test_models_that_predict_no_errors(rated, capsys, model, message):
    assert run("predict", "--systems", rated, "--model", model) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reference,candidate\na,b\n", "None is not a number of errors"),
        ("reference,candidate,errors\na,b,many\n", "line 2, column 'errors': 'many' is not a number"),
        ("reference,candidate,errors\n" + "a,b,1\n" * 9, "has 1 cases"),
        ("reference,candidate,errors\n" + "".join(f"case {i},b,1\n" for i in range(9)), "nothing to fit"),
    ],
)
def test_rated_pairs_that_cannot_be_used(tmp_path, capsys, text, message):
    path = tmp_path / "rated.csv"
    path.write_text(text)
    assert main(["radcliq", "fit", str(path), "--output", str(tmp_path / "out.json"), "--no-progress"]) == 2
    assert message in capsys.readouterr().err


def test_cases_and_errors_by_column(tmp_path):
    path = tmp_path / "rated.jsonl"
    rows = [{"reference": "a", "candidate": "b", "total": i, "patient": i // 2} for i in range(4)]
    path.write_text("\n".join(map(json.dumps, rows)))
    rated = read_rated(str(path), errors="total", case="patient")
    assert (rated.errors.tolist(), rated.cases) == ([0, 1, 2, 3], ["0", "0", "1", "1"])
    path.write_text(path.read_text().replace("reference", "truth").replace("candidate", "draft"))
    named = read_rated(str(path), errors="total", columns={"reference": "truth", "candidate": "draft"})
    assert (named.pairs, named.cases) == (rated.pairs, ["a"] * 4)
    with pytest.raises(InputError, match="has no column 'candidate'"):
        read_rated(str(path), errors="total")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("radcliq@v0", r"radcliq@paper\?coefficients=v0"),
        ("radcliq?coefficients=v2", "there are no coefficients 'v2'"),
        ("radcliq?idf=frozen", "idf=frozen needs idf_file"),
        ("radcliq@yu2022?coefficients=v0", "given twice, yu2022 and v0"),
        ("radcliq?coefficients=yu2022&idf=call", "have no BERTScore; leave out idf=call"),
    ],
)
def test_wrong_names(name, message):
    with pytest.raises(InputError, match=message):
        score(name, ["a"], ["b"])


@pytest.mark.parametrize(
    "table",
    ["[]", "{}", '{"features": {}}', "not json", json.dumps({"features": {}, "intercept": 1, "parts": "default"})],
)
def test_a_file_that_holds_no_coefficients(tmp_path, table):
    path = tmp_path / "coefficients.json"
    path.write_text(table)
    with pytest.raises(InputError, match=r"coefficients\.json"):
        Radcliq(str(path))
