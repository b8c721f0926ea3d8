"""Systems against a baseline, on numbers that can be checked on paper."""

import json

import numpy as np
import pandas as pd
import pytest

import rrgmetrics
from rrgmetrics import InputError, Result
from rrgmetrics.baselines.skill import PERFECT
from rrgmetrics.baselines.worth import worth_of
from rrgmetrics.cli.listing import preset_table
from rrgmetrics.reporting.documents import latex
from rrgmetrics.reporting.exports import table_of
from rrgmetrics.reporting.report import report_page
from rrgmetrics.reporting.results import comparison_table, paper_table, totals_table
from rrgmetrics.reports import Pair
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Mean
from rrgmetrics.specs import Key, MetricSpec, get_spec
from rrgmetrics.systems.table import compare_systems

WORSE, SAME, BETTER = np.zeros(5), np.arange(5) / 4, np.ones(5)


def result(values):
    stats = np.stack([values] * 4, axis=1).astype(float)
    reduction = Mean(("rouge", "rouge_1", "rouge_2", "rouge_l"))
    per_pair = reduction.per_pair(stats)
    scores = aggregate.reduce(reduction, stats)
    return Result(get_spec("rouge"), scores, per_pair, stats, reduction, "rouge|v:0")


def table(**systems):
    return compare_systems({name: {"rouge": result(values)} for name, values in systems.items()}, trials=200)


def test_exact_p_and_direction():
    baseline, better, same = table(base=WORSE, better=BETTER, same=WORSE)
    assert baseline.test is None
    assert better.test.p_value == 2 / 32
    assert better.is_better is True
    assert same.test.p_value == 1.0
    assert same.is_better is None


def test_correction_is_over_the_whole_table():
    rows = table(base=WORSE, one=BETTER, two=BETTER)
    assert [row.p_corrected for row in rows[1:]] == [4 / 32, 4 / 32]  # Holm: twice 2/32
    uncorrected = compare_systems(
        {name: {"rouge": result(values)} for name, values in {"base": WORSE, "one": BETTER, "two": BETTER}.items()},
        trials=200,
        correction="none",
    )
    assert [row.p_corrected for row in uncorrected[1:]] == [2 / 32, 2 / 32]


def test_all_keys_and_unscored_pairs():
    gap = BETTER.copy()
    gap[0] = np.nan
    rows = compare_systems({"base": {"rouge": result(SAME)}, "gap": {"rouge": result(gap)}}, all_keys=True, trials=200)
    assert [row.key.name for row in rows[::2]] == ["rouge", "rouge_1", "rouge_2"]
    assert rows[1].n_unscored == 1
    assert rows[1].test.n_left_out == 1
    assert rows[1].test.baseline == pytest.approx(np.mean(SAME[1:]))


def with_gaps(values, *gaps):
    return np.where(np.isin(np.arange(len(values)), gaps), np.nan, values)


def test_means_are_over_the_studies_that_every_system_has_a_score_for():
    """Equal reports of which different ones are unscored: over their own studies the means would differ."""
    systems = {"base": with_gaps(SAME, 0, 1), "pred": with_gaps(SAME, 0), "other": with_gaps(SAME, 4)}
    rows = table(**systems)
    assert [(row.score.value, row.score.n) for row in rows] == [(pytest.approx(0.625), 2)] * 3
    assert [row.n_unscored for row in rows] == [2, 1, 1]
    assert [row.n_left_out for row in rows] == [3, 3, 3]
    assert all(row.test.difference.value == 0 and row.test.system == pytest.approx(0.625) for row in rows[1:])
    results = {name: {"rouge": result(values)} for name, values in systems.items()}
    trivial = {"empty": {"rouge": result(WORSE)}, PERFECT: {"rouge": result(BETTER)}}
    worth = worth_of(results, trivial, {name: [Pair("Clear.", "Clear.")] * 5 for name in systems})
    assert [skill.score for skill in worth.skills] == pytest.approx([0.625] * 3)
    (alone,) = table(pred=systems["pred"])
    assert (alone.score.value, alone.score.n, alone.n_left_out) == (pytest.approx(0.625), 4, 1)


def test_a_system_without_any_score_leaves_the_others_theirs():
    rows = table(base=SAME, failed=with_gaps(SAME, *range(5)), gap=with_gaps(SAME, 4))
    assert [row.score.n for row in rows] == [4, 0, 4]
    assert [row.n_left_out for row in rows] == [1, 5, 1]
    assert "Scores on 5 studies, 1 not scored" in latex([paper_table(rows, n_pairs=5, correction="holm")])


def test_marks_are_explained_where_a_table_has_them():
    marked = paper_table(table(base=np.zeros(12), pred=np.ones(12)), n_pairs=12, correction="holm").note
    assert "Best in bold. † differs from base, p < 0.05 (two-sided" in marked
    unmarked = paper_table(table(base=WORSE, pred=BETTER), n_pairs=5, correction="holm").note
    assert "Best in bold. No difference from base has p < 0.05 (two-sided" in unmarked
    alone = paper_table(table(base=WORSE), n_pairs=5, correction="holm").note
    assert alone == "95% bootstrap intervals in brackets."


def test_a_paper_s_table_of_two_systems_has_p_values():
    two, three = table(base=WORSE, pred=BETTER), table(base=WORSE, pred=BETTER, other=SAME)
    written = latex([paper_table(two, n_pairs=5, correction="holm")])
    assert r"& base & pred & p \\" in written
    assert r"& 0.062 \\" in written  # 2 of 2**5 swaps
    assert "& p" not in latex([paper_table(three, n_pairs=5, correction="holm")])


def test_tables_rank_on_the_same_studies_and_count_those_left_out():
    gaps = table(base=with_gaps(SAME, 0, 1), pred=with_gaps(SAME, 0))
    said = "2 studies that not every system has a score for are left out."
    for of in (paper_table, comparison_table):
        text = latex([of(gaps, n_pairs=5, correction="holm")])
        assert "5 studies, 2 not scored" in text
        assert said in text
        assert text.count(r"\textbf{0.750}") == 2  # a tie: neither is ranked above the other
    equal = latex([paper_table(table(base=with_gaps(SAME, 0), pred=with_gaps(SAME, 0)), n_pairs=5, correction="holm")])
    assert "1 study without a score is left out." in equal
    results = {name: {"rouge": result(with_gaps(SAME, *own))} for name, own in {"base": (0, 1), "pred": (0,)}.items()}
    pairs = {name: [Pair("Clear.", "Clear.")] * 5 for name in results}
    page = report_page(results, pairs, rows=compare_systems(results, trials=50))
    scores = page[page.index("Every score") :]
    assert scores.count("0.750") >= 6  # three keys of two systems, also those without an interval
    assert said in page


def test_documents_count_the_reports_that_are_scored_as_empty():
    references = ["Clear lungs.", "Edema.", "Cardiomegaly."]
    systems = {"a": ["Clear lungs.", None, "Edema."], "b": references}
    options = {"metrics": "rouge", "trivial": False, "progress": False, "trials": 50}
    comparison = rrgmetrics.compare(systems, references, **options)
    said = "1 candidate of a is missing and scored as an empty report."
    assert said in comparison.to_latex()
    assert said in comparison.to_markdown()
    empty = rrgmetrics.compare({"a": references, "b": references}, ["", *references[1:]], missing="empty", **options)
    assert "1 reference is missing and scored as an empty report." in empty.to_markdown()


def test_unknown_correction():
    with pytest.raises(InputError, match="holm, bh, none"):
        compare_systems({"base": {"rouge": result(SAME)}}, correction="bonferroni")


def test_a_target_is_better_the_nearer():
    """Of a key with a target the distances are compared, and the scores are shown as they are."""
    spec = MetricSpec(
        "length", "Length", "", (Key("length", "Length", (0.0, 9.0), None, target=1.0),), "pair", (0.0,) * 3
    )

    def length(*values):
        stats = np.array(values)[:, None]
        return Result(spec, {"length": stats.mean()}, {"length": stats[:, 0]}, stats, Mean(("length",)), "length|v:0")

    results = {"base": {"length": length(1.9, 2.1, 2.0, 2.0)}, "near": {"length": length(0.8, 0.8, 0.9, 0.9)}}
    base, near = compare_systems(results, trials=50)
    assert (base.score.value, near.score.value) == pytest.approx((2.0, 0.85))
    assert (near.test.baseline, near.test.system) == pytest.approx((2.0, 0.85))
    assert near.test.difference.value == pytest.approx(0.15 - 1.0)
    assert near.is_better


# --- rrgmetrics.compare, notebooks ------------------------------------------------------------------------------------

REFERENCES = ["Small left effusion.", "Clear lungs.", "Right apical pneumothorax.", "Mild edema."]
SYSTEMS = {"ours": [text.replace("left", "right") for text in REFERENCES], "<b>theirs": ["Clear lungs."] * 4}


@pytest.fixture(scope="module")
def compared():
    names = ["rouge", "finding_errors"]
    return rrgmetrics.compare(SYSTEMS, REFERENCES, metrics=names, trials=100, correction="bh", progress=False)


def test_compare_is_compare_systems_on_what_score_gives(compared):
    results = {
        name: rrgmetrics.score(["rouge", "finding_errors"], predictions=reports, references=REFERENCES, progress=False)
        for name, reports in SYSTEMS.items()
    }
    rows = compare_systems(results, trials=100, correction="bh")
    assert [(row.system, row.score, row.p_corrected) for row in compared.rows[1::2]] == [
        (row.system, row.score, row.p_corrected) for row in rows[1::2]
    ]
    assert compared["ours"]["rouge"].scores == results["ours"]["rouge"].scores
    assert compared.worth.n_studies == compared.n_studies == 4
    assert repr(compared) == "Comparison(ours, <b>theirs on 4 studies: rouge, finding_errors)"


def test_compare_as_a_frame(compared):
    frame = compared.to_frame().set_index(["metric", "system"])
    assert list(frame["value"]) == [row.score.value for row in compared.rows]
    assert frame["p"].isna().tolist() == [True, False, True, False]
    test = compared.rows[1].test
    assert frame.loc[("rouge", "<b>theirs"), ["difference", "difference_low", "p", "effect_size"]].tolist() == [
        test.difference.value, test.difference.low, test.p_value, test.effect_size,
    ]  # fmt: skip


def test_compare_as_documents(compared):
    assert "| Finding errors ↓ |" in compared.to_markdown()
    assert r"\begin{tabular}{lrrr}" in compared.to_latex()
    assert "&lt;b&gt;theirs" in compared.to_html()
    document = json.loads(compared.to_json())
    assert document["systems"]["ours"]["rouge"]["scores"] == compared["ours"]["rouge"].scores
    assert "| ROUGE-1 ↑ |" in compared["ours"]["rouge"].to_markdown()
    assert r"\begin{tabular}" in compared["ours"]["rouge"].to_latex()
    assert compared["ours"]["rouge"].to_html().startswith("<div")
    assert json.loads(compared["ours"]["rouge"].to_json())["n_pairs"] == 4


def test_the_level_of_intervals_is_stated_wherever_they_are(compared):
    texts = {"ours": ["Clear lungs.", *REFERENCES[1:]], "theirs": ["Edema."] * len(REFERENCES)}
    drawn = rrgmetrics.compare(texts, REFERENCES, metrics=["rouge", "finding_errors"], level=0.9, progress=False)
    page = drawn.to_html().partition('id="worth"')[0]
    assert page.count("90% interval") > 2
    tables = [table_of(drawn.rows[::2], 4, "holm"), comparison_table(drawn.rows, n_pairs=4, correction="holm")]
    for text in (page, drawn.to_markdown(), drawn.to_latex(), *map(str, tables)):
        assert "90" in text
        assert "95%" not in text
        assert r"95\%" not in text
    assert {row["level"] for row in json.loads(drawn.to_json())["rows"]} == {0.9}
    assert {row["level"] for row in json.loads(compared.to_json())["rows"]} == {0.95}


def test_the_levels_of_a_page_hold_for_parts_and_kinds_too(monkeypatch):
    from rrgmetrics import stats

    levels, bootstrap = set(), stats.bootstrap
    drawn = rrgmetrics.compare(
        {"ours": REFERENCES, "theirs": ["Edema."] * len(REFERENCES)}, REFERENCES, metrics="finding_errors", level=0.8,
        trivial=False, progress=False,
    )  # fmt: skip
    monkeypatch.setattr(
        stats, "bootstrap", lambda *own, **said: levels.add(said.get("level")) or bootstrap(*own, **said)
    )
    drawn.to_html()
    assert levels == {0.8}


def test_a_table_says_what_its_effect_is():
    tested = comparison_table(table(base=WORSE, better=SAME), n_pairs=5, correction="holm")
    assert "Effect: the mean difference of the pairs, divided by its standard deviation over the pairs." in tested.note
    assert "Effect" not in comparison_table(table(base=WORSE, better=WORSE), n_pairs=5, correction="holm").note


def test_tables_say_how_published_values_of_the_same_name_differ():
    said = "METEOR is NLTK's: about twice the value of Java METEOR 1.5"
    one = rrgmetrics.compare({"ours": REFERENCES}, REFERENCES, metrics="r2gen", trivial=False, progress=False)
    two = rrgmetrics.compare({"a": REFERENCES, "b": REFERENCES}, REFERENCES, metrics="meteor", progress=False)
    streamed = rrgmetrics.score_stream(
        "meteor", [{"reference": text, "candidate": text} for text in REFERENCES], progress=False
    )
    written = [one.to_markdown(), two.to_markdown(), totals_table(streamed).note]
    written += [comparison_table(two.rows, n_pairs=4, correction="holm").note, preset_table().note]
    assert all(text.count(said) == 1 for text in written)
    bleu = rrgmetrics.compare({"ours": REFERENCES}, REFERENCES, metrics="bleu", trivial=False, progress=False)
    assert "Java" not in bleu.to_markdown()


def test_frames_have_the_ids_of_studies():
    rows = [{"study_id": f"s{n}", "reference": text, "candidate": "Clear lungs."} for n, text in enumerate(REFERENCES)]
    result = rrgmetrics.score("finding_errors?explain=yes", rows, progress=False)["finding_errors?explain=yes"]
    assert list(result.to_frame().index) == ["s0", "s1", "s2", "s3"]
    errors = result.errors_frame()
    assert set(errors.index) == {"s0", "s2", "s3"}
    assert [f"s{pair}" for pair in errors["pair"]] == list(errors.index)
    table = pd.DataFrame(rows)
    compared = rrgmetrics.compare({"a": table}, metrics="rouge", trivial=False, trials=10, progress=False)
    assert list(compared["a"]["rouge"].to_frame().index) == ["s0", "s1", "s2", "s3"]
    right = table.assign(candidate=table["reference"])
    named = ["finding_errors?explain=yes", "rouge"]
    compared = rrgmetrics.compare({"a": table, "b": right}, metrics=named, trivial=False, trials=10, progress=False)
    of_all = compared.errors_frame()
    assert list(of_all.columns) == ["system", "metric", *errors.columns]
    assert list(zip(of_all["system"], of_all["error"], strict=True)) == [("a", error) for error in errors["error"]]
    assert list(of_all.index) == list(errors.index)
    compared = rrgmetrics.compare({"a": table}, metrics="rouge", trivial=False, trials=10, progress=False)
    with pytest.raises(InputError, match="rouge lists no errors; these metrics do"):
        compared.errors_frame()
    without = rrgmetrics.score("rouge", predictions=["x"], references=["y"], progress=False)["rouge"]
    assert list(without.to_frame().index) == [0]


def test_compare_takes_tables_and_refuses_before_any_work(tmp_path):
    ids = [f"s{index}" for index in range(4)]
    frame = pd.DataFrame({"id": ids, "truth": REFERENCES, "generated": SYSTEMS["ours"]})
    (tmp_path / "b.jsonl").write_text(
        "".join(json.dumps({"id": ids[i], "generated": SYSTEMS["<b>theirs"][i]}) + "\n" for i in (2, 0, 3, 1))
    )
    columns = {"study_id": "id", "reference": "truth", "candidate": "generated"}
    options = {"metrics": "rouge", "columns": columns, "trials": 50, "trivial": False, "progress": False}
    result = rrgmetrics.compare({"a": frame, "b": tmp_path / "b.jsonl"}, frame[["id", "truth"]], **options)
    assert [pair.candidate for pair in result.studies["b"].pairs] == SYSTEMS["<b>theirs"]
    assert rrgmetrics.compare({"a": frame}, **options).rows[0].score == result.rows[0].score
    for change, message in {
        ("metrics", "rogue"): "did you mean rouge",
        ("correction", "holms"): "holm, bh, none",
        ("abnormal", (True,)): "abnormal has 1 entries for 4 studies",
    }.items():
        with pytest.raises(InputError, match=message):
            rrgmetrics.compare({"a": frame}, **{**options, change[0]: change[1]})


def test_results_and_explanations_say_what_they_are(compared):
    result = compared["<b>theirs"]["finding_errors"]
    assert repr(result) == "Result(finding_errors 0.750, 4 studies)"
    assert result.interval(trials=100) == compared.rows[3].score
    with pytest.raises(InputError, match=r"has no key .finding_eror.; .* Did you mean .finding_errors."):
        result.interval("finding_eror")
    assert result.to_frame()["finding_errors"].tolist() == result.per_pair["finding_errors"].tolist()
    mixed = ["Das Herz ist normal.", "Clear lungs."]
    unread = rrgmetrics.score("finding_errors", predictions=mixed, references=mixed, progress=False)["finding_errors"]
    assert repr(unread) == "Result(finding_errors 0.000, 2 studies, 1 not scored)"
    assert unread.to_frame()["unscored"].map(bool).tolist() == [True, False]


def test_notebooks_show_colours_and_run_nothing(compared):
    explanation = rrgmetrics.explain(candidate="<i>Small</i> right effusion.", reference="Small left effusion.")
    assert repr(explanation) == "ReportComparison(1 error: C 1; 1 significant)"
    shown = explanation._repr_html_()
    assert '<mark class="kind-incorrect_location">' in shown
    assert "&lt;i&gt;" in shown
    assert "<i>" not in shown.replace("<i></i>", "")
    table = compared._repr_html_()
    assert "&lt;b&gt;theirs" in table
    assert "<b>theirs" not in table
    assert "Compared with trivial systems" in table
    assert "finding_errors_false_finding" in compared["ours"]["finding_errors"]._repr_html_()
