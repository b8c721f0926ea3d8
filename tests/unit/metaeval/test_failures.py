"""Failure modes on fabricated files in ReXVal's layout: Supplementary Tables 2 and 3 of Yu et al. (2023)."""

import csv
import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_ind

from rrgmetrics.cli import main
from rrgmetrics.metaeval.failure_plot import failure_bars
from rrgmetrics.metaeval.failures import failure_modes
from rrgmetrics.metaeval.loaders import load
from rrgmetrics.metaeval.rated import KINDS

SOURCES = ("radgraph", "bertscore", "s_emb", "bleu")
N_STUDIES, N_RATERS = 50, 6
# Mean errors a candidate by source and kind: BLEU's have more false findings, CheXbert's more wrong locations.
RATES = {
    "radgraph": (0.4, 0.6, 0.1, 0.2, 0.1, 0.1),
    "bertscore": (0.5, 0.5, 0.2, 0.2, 0.1, 0.1),
    "s_emb": (0.6, 0.4, 0.5, 0.2, 0.1, 0.06),
    "bleu": (1.1, 0.5, 0.1, 0.1, 0.1, 0.08),
}


@pytest.fixture(scope="module")
def counted():
    """Counts by source: (significant or not, kind, rater, study)."""
    rng = np.random.default_rng(1)
    return {
        source: np.stack(
            [
                rng.poisson(share * np.array(RATES[source])[:, None, None], (6, N_RATERS, N_STUDIES))
                for share in (0.3, 0.7)
            ]
        )
        for source in SOURCES
    }


@pytest.fixture(scope="module")
def rexval(tmp_path_factory, counted):
    folder = tmp_path_factory.mktemp("rexval")
    with (folder / "50_samples_gt_and_candidates.csv").open("w", newline="") as file:
        rows = [
            [f"s{n}", f"Nodule of {n} mm.", *(f"Nodule of {n} mm, {s}." for s in SOURCES)] for n in range(N_STUDIES)
        ]
        csv.writer(file).writerows([["study_id", "gt_report", *SOURCES], *rows])
    head = ["study_number", "candidate_type", "error_category", "clinically_significant", "rater_index", "num_errors"]
    with (folder / "6_valid_raters_per_rater_error_categories.csv").open("w", newline="") as file:
        rows = (
            [study, source, kind + 1, bool(significant), rater, own[significant, kind, rater, study]]
            for source, own in counted.items()
            for significant, kind, rater, study in np.ndindex(own.shape)
        )
        csv.writer(file).writerows([head, *rows])
    return folder


def points(counted, source, kind, significant):
    own = counted[source]
    return (own[1] if significant else own.sum(axis=0))[kind].ravel()


@pytest.mark.parametrize("significant", [False, True])
def test_tests_are_those_of_scipy(rexval, counted, significant):
    found = failure_modes(load(f"rexval:{rexval}"))
    for number, kind in enumerate(KINDS):
        family = found.families[f"{kind}_significant" if significant else kind]
        assert [(test.first, test.second) for test in family] == list(permutations(SOURCES, 2))
        assert {test.degrees for test in family} == {598}
        samples = {source: points(counted, source, number, significant) for source in SOURCES}
        wanted = [
            ttest_ind(samples[one], samples[other], equal_var=True, alternative="greater")
            for one, other in permutations(SOURCES, 2)
        ]
        p_values = [each.pvalue for each in wanted]
        assert [test.p_value for test in family] == pytest.approx(p_values)
        assert [test.t for test in family] == pytest.approx([each.statistic for each in wanted])
        adjusted = false_discovery_control(p_values)
        assert [test.p_corrected for test in family] == pytest.approx(adjusted)
        assert [test.is_significant for test in family] == [p <= 0.01 for p in adjusted]
        order = sorted(range(12), key=lambda place: p_values[place])
        assert [family[place].critical for place in order] == pytest.approx([k / 12 * 0.01 for k in range(1, 13)])


def test_means_are_over_raters_and_studies(rexval, counted):
    means = {(each.source, each.target): each for each in failure_modes(load(f"rexval:{rexval}")).means}
    for source in SOURCES:
        assert means[source, "total_errors"].mean == pytest.approx(counted[source].sum(axis=(0, 1)).mean())
        assert means[source, "significant_errors"].mean == pytest.approx(counted[source][1].sum(axis=0).mean())
        for number, kind in enumerate(KINDS):
            assert means[source, kind].mean == pytest.approx(points(counted, source, number, False).mean())
            assert means[source, f"{kind}_significant"] == (
                source,
                f"{kind}_significant",
                pytest.approx(points(counted, source, number, True).mean()),
                300,
            )


def test_the_command(rexval, counted, tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("all.csv", "all.md", "all.tex")]
    arguments = ["agree", "--dataset", f"rexval:{rexval}", "--metrics", "bleu", "--trials", "10", "--also", "failures"]
    assert main([*arguments, "--output", *files, "--json", str(tmp_path / "all.json"), "--no-progress"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for words in (
        "mean errors by source",
        "mean significant errors by source",
        "sources compared, A false",
        "bleu > radgraph",
        "sources compared, A false, significant",
        "sources compared, C location",
        "598 degrees of freedom",
    ):
        assert words in printed
    assert f"{counted['bleu'].sum(axis=(0, 1)).mean():.3f}" in (tmp_path / "all.md").read_text()
    assert "sources compared, C location, significant" in (tmp_path / "all.tex").read_text()
    rows = json.loads((tmp_path / "all.json").read_text())["failures"]
    assert sum(row["view"] == "has more than" for row in rows) == 12 * 6 * 2
    assert sum(row["view"] == "mean count" for row in rows) == 4 * (6 + 1) * 2
    with (tmp_path / "all.csv").open(newline="") as file:
        written = [row for row in csv.DictReader(file) if row["view"] == "has more than"]
    p = {(row["subject"], row["other"], row["target"]): float(row["p_value"]) for row in written}
    one, other = (points(counted, source, 0, True) for source in ("bleu", "bertscore"))
    wanted = ttest_ind(one, other, alternative="greater").pvalue
    assert p["bleu", "bertscore", "false_finding_significant"] == pytest.approx(wanted)


def test_what_nobody_judged_is_no_point(rexval):
    data = load(f"rexval:{rexval}")
    for values in data.values.values():
        values[0, :40] = np.nan  # the first rater left out ten studies
    found = failure_modes(data)
    assert {each.n for each in found.means} == {290}
    assert {test.degrees for family in found.families.values() for test in family} == {578}


def test_counts_that_do_not_vary_have_no_test(rexval):
    data = load(f"rexval:{rexval}")
    data.values["missing_comparison"][:] = 0
    family = failure_modes(data).families["missing_comparison"]
    assert all(np.isnan(test.p_value) and np.isnan(test.critical) and not test.is_significant for test in family)


def test_data_without_sources_have_no_failure_modes(rexval):
    data = load(f"rexval:{rexval}")
    one = np.array([source == "bleu" for source in data.labels["source"]])
    assert failure_modes(data.only(one)) is None
    assert failure_modes(replace(data, labels={})) is None


def test_bars_of_each_kind_and_source(rexval, counted):
    data = load(f"rexval:{rexval}")
    figure = failure_bars(data, failure_modes(data))
    assert [axes.get_title() for axes in figure.axes] == ["all errors", "significant errors"]
    heights = [[bar.get_height() for bar in bars] for bars in figure.axes[1].containers]
    wanted = [[points(counted, source, kind, True).mean() for kind in range(6)] for source in SOURCES]
    np.testing.assert_allclose(heights, wanted)


def test_the_plot_is_written(rexval, tmp_path):
    arguments = ["agree", "--dataset", f"rexval:{rexval}", "--metrics", "bleu", "--trials", "10", "--no-progress"]
    assert main([*arguments, "--plots", str(tmp_path)]) == 0
    names = {"rexval_forest.png", "rexval_kinds.png", "rexval_sources.png", "rexval_bleu.png"}
    assert {path.name for path in tmp_path.iterdir()} >= names
