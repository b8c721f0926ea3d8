"""One key of a metric as the subject: `metric#key` wherever a metric is named."""

import csv
import json

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import InputError
from rrgmetrics.cli import main
from rrgmetrics.metaeval import agree
from rrgmetrics.metaeval.oracle import oracles
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.evaluation import Evaluation
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import PRESETS, all_specs
from rrgmetrics.specs.names import check_per_pair, label, parse_config, parse_name

REFERENCES = [
    "Small right pleural effusion. No pneumothorax.",
    "Mild cardiomegaly. Clear lungs.",
    "Left lower lobe consolidation.",
    "Normal chest.",
]
CANDIDATES = ["Small left pleural effusion.", "Mild cardiomegaly.", "Large nodule. Edema.", "Normal chest."]
TEXTS = {"predictions": CANDIDATES, "references": REFERENCES, "progress": False}


@pytest.mark.parametrize("spec", all_specs().values(), ids=lambda spec: spec.name)
def test_each_key_of_each_metric_can_be_named_whole_or_by_its_end(spec):
    for key in spec.keys:
        for written in (key.name, key.name.removeprefix(f"{spec.name}_")):
            name = parse_name(f"{spec.name}#{written}")
            assert name.spec.headline == key
            assert parse_name(str(name)) == name
            assert name.slug == key.name
            assert name.whole == parse_name(spec.name)


@pytest.mark.parametrize(
    ("text", "key", "shortest"),
    [
        ("radgraph_f1#radcliq", "radgraph_f1_radcliq", "radgraph_f1#radcliq"),
        ("bleu#bleu_2", "bleu_2", "bleu#2"),
        ("bleu#bleu", "bleu", "bleu"),
        ("bleu?tokenizer=13a#2", "bleu_2", "bleu?tokenizer=13a#2"),
        ("g=green@paper#errors", "green_errors", "g=green@paper#errors"),
        ("green@openai:m?base_url=http://127.0.0.1:8000/v1#errors", "green_errors", None),
        ("crepe@runs/%233#false_finding", "crepe_false_finding", "crepe@runs/%233#false_finding"),
    ],
)
def test_a_key_fits_the_rest_of_the_grammar(text, key, shortest):
    name = parse_name(text)
    assert name.spec.headline.name == key
    assert str(name) == (shortest or text)
    assert parse_name(str(name)) == name


def test_the_number_sign_of_a_path_is_written_in_percent():
    assert parse_name("crepe@runs/%233").config == "runs/#3"
    with pytest.raises(InputError, match="crepe has no key '3'; its keys after crepe# are: false_finding, "):
        parse_name("crepe@runs/#3")
    with pytest.raises(InputError, match=r"a key comes after #, and 'b\.jsonl' is not a key; write a # .* as %23"):
        parse_name("green@replies:a#b.jsonl")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bleu#5", "^bleu has no key '5'; its keys after bleu# are: 1, 2, 3"),
        ("cider#d", "^cider has no key 'd'; it has one key, cider.$"),
        ("green#", "^green has no key ''; its keys after green# are: errors_significant, errors,"),
    ],
)
def test_an_unknown_key_lists_the_keys(text, words):
    with pytest.raises(InputError, match=words):
        parse_name(text)


def test_evaluate_takes_a_key_behind_the_name():
    assert parse_config("bleu", "#2") == parse_name("bleu#2")
    assert parse_config("green", "paper#errors") == parse_name("green@paper#errors")
    assert parse_config("bleu", "?tokenizer=13a#2") == parse_name("bleu?tokenizer=13a#2")


def test_a_key_scores_as_within_its_metric_and_has_its_own_direction():
    results = rrgmetrics.score(["green", "green#errors", "bleu#2", "crimson#weighted_errors"], **TEXTS)
    green, errors = results["green"], results["green#errors"]
    assert errors.scores == {"green_errors": green.scores["green_errors"]}
    np.testing.assert_array_equal(errors.headline, green.per_pair["green_errors"])
    assert (green.spec.headline.better, errors.spec.headline.better) == ("higher", "lower")
    assert errors.interval() == green.interval("green_errors")
    assert errors.reduce([0, 1]) == {"green_errors": green.reduce([0, 1])["green_errors"]}
    assert (errors.n_unscored, errors.signature) == (0, green.signature)
    assert repr(errors).startswith("Result(green#errors ")
    assert list(results["bleu#2"].scores) == ["bleu_2"]
    assert label("green#errors", errors.titled) == "GREEN (bundled): Errors (green#errors)"


def test_a_metric_of_which_two_keys_are_asked_is_scored_once(monkeypatch):
    from rrgmetrics.scorers.bleu import Bleu

    calls = []
    scored = Bleu.pair_stats
    monkeypatch.setattr(Bleu, "pair_stats", lambda self, *rest: calls.append(1) or scored(self, *rest))
    with prepare(["bleu#2", "bleu#3", "bleu", "bleu?tokenizer=13a"]) as metrics:
        results = metrics.score(**TEXTS)
    assert len(calls) == 2  # one a tokenizer
    assert list(results) == ["bleu#2", "bleu#3", "bleu", "bleu?tokenizer=13a"]
    assert results["bleu#3"].scores["bleu_3"] == results["bleu"].scores["bleu_3"]


def test_workers_and_files_keep_the_key(tmp_path):
    names = ["green#errors", "bleu#2"]
    alone, together = rrgmetrics.score(names, **TEXTS), rrgmetrics.score(names, **TEXTS, workers=2)
    for name in names:
        assert together[name].scores == alone[name].scores
    alone["green#errors"].save(tmp_path / "green.parquet")
    loaded = Result.load(tmp_path / "green.parquet")
    assert (loaded.spec, loaded.scores) == (alone["green#errors"].spec, alone["green#errors"].scores)
    halves = [
        rrgmetrics.score("bleu#2", predictions=CANDIDATES[part], references=REFERENCES[part], progress=False)["bleu#2"]
        for part in (slice(0, 2), slice(2, 4))
    ]
    assert Result.merge(halves).scores == pytest.approx(alone["bleu#2"].scores)


def test_what_needs_pairs_refuses_a_key_of_all_pairs_together():
    with pytest.raises(InputError, match=r"^chexbert_f1#macro_14 is one number for all pairs; agree needs a number"):
        check_per_pair(["bleu", "chexbert_f1#macro_14"], "agree")
    check_per_pair(["bleu#2", "green#errors"], "agree")
    with pytest.raises(InputError, match="an oracle needs a number for each pair: chexbert_f1"):
        oracles({"1": Pair("Nodule.", "")}, ["Mass."], ["chexbert_f1#macro_14"], progress=False)


def test_presets_name_keys():
    assert "green@paper#errors" in PRESETS["crepe-paper"]
    assert {"green@paper#errors", "crimson@paper#errors", "crimson@paper#weighted_errors"} < set(
        PRESETS["crimson-paper"]
    )


# --- agree, oracle, compare, list, stress


@pytest.fixture
def rated_file(tmp_path):
    path = tmp_path / "rated.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["study", "reference", "candidate", "total_errors"])
        drafts = zip(REFERENCES, CANDIDATES, (2, 0, 3, 0), strict=True)
        writer.writerows(
            [number, reference, text, errors]
            for number, (reference, candidate, errors) in enumerate(drafts)
            for text, errors in ((candidate, errors), (reference, 0))
        )
    return path


def test_agree_holds_a_key_against_radiologists(rated_file, tmp_path, capsys):
    names = ["green", "green#errors", "radgraph_f1#radcliq", "bleu#2"]
    report = agree(str(rated_file), names, counts=["total_errors"], trials=20, progress=False)
    errors = report.headline("green#errors", "total_errors")
    whole = report.headline("green", "total_errors")
    assert errors.key == "green_errors"
    assert errors.tau_b.value > 0.5  # fewer errors is better, on both sides
    assert not np.isnan(errors.mae)
    assert np.isnan(whole.mae)
    out = tmp_path / "agreement.csv"
    arguments = ["agree", "--dataset", str(rated_file), "--metrics", *names, "--trials", "20", "--no-progress"]
    arguments += ["--counts", "total_errors"]
    assert main([*arguments, "--output", str(out), "--plots", str(tmp_path / "plots")]) == 0
    shown = capsys.readouterr().out
    assert "green#errors (bundled) ↓" in shown
    assert "radgraph_f1#radcliq (bundled) ↑" in shown
    with out.open(newline="") as file:
        assert {"green#errors", "bleu#2"} < {row["subject"] for row in csv.DictReader(file)}
    assert (tmp_path / "plots" / "rated_green_errors.png").is_file()


def test_an_oracle_ranks_by_a_key_in_its_direction():
    pairs = {"1": Pair("Small left pleural effusion.", "")}
    pool = ["Large right pneumothorax.", "A small effusion on the left."]
    found = oracles(pairs, pool, ["green#errors", "bleu#2"], trials=5, progress=False)
    assert found.retrieved["green#errors"][0].candidate == pool[1]
    assert {"green#errors", "bleu#2"} < set(next(iter(found.rows())))


def test_compare_tests_a_key(tmp_path, capsys):
    for name, reports in (("references", REFERENCES), ("a", CANDIDATES), ("b", REFERENCES[::-1])):
        lines = [json.dumps({"study_id": str(n), "report": text}) for n, text in enumerate(reports)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    systems = [f"{name}={tmp_path / name}.jsonl" for name in ("a", "b")]
    metrics = ["--metrics", "green#errors,bleu#2", "--trials", "20", "--no-progress"]
    files = ["--json", str(tmp_path / "out.json")]
    assert (
        main(["compare", "--references", str(tmp_path / "references.jsonl"), "--systems", *systems, *metrics, *files])
        == 0
    )
    assert "green#errors" in capsys.readouterr().out
    assert "green_errors" in (tmp_path / "out.json").read_text()


def test_list_says_what_a_key_is(capsys):
    assert main(["list", "bleu#2", "--format", "json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert (facts["metric"], [key["key"] for key in facts["keys"]]) == ("bleu#2", ["bleu_2"])


def test_stress_takes_a_key():
    from rrgmetrics.metaeval.stress.scoring import read_metrics

    assert read_metrics(["green#errors"]) == {"green#errors": None}
    with pytest.raises(InputError, match="one number for all pairs"):
        read_metrics(["chexbert_f1#macro_14"])


def test_yaml_needs_no_quotes(tmp_path):
    path = tmp_path / "evaluation.yaml"
    path.write_text("metrics:\n- bleu#2\n- bleu#3: {tokenizer: 13a}\n- green#errors\n")
    names = ("bleu#2", "bleu?tokenizer=13a#3", "green#errors")
    evaluation = Evaluation.read(path)
    assert evaluation.metrics == names
    evaluation.write(tmp_path / "again.yaml")
    assert Evaluation.read(tmp_path / "again.yaml").metrics == names


def test_an_evaluation_of_results_keeps_the_keys(tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("reference,candidate\nLeft effusion.,Right effusion.\n")
    names = ("bleu?tokenizer=13a#3", "green#errors", "rouge")
    assert main(["score", str(pairs), "--metrics", *names, "--json", str(tmp_path / "result.json")]) == 0
    assert Evaluation.read(tmp_path / "result.json").metrics == names
    results = rrgmetrics.score(names, predictions=["Clear."], references=["Clear."], progress=False)
    assert Evaluation.of(results).metrics == names
