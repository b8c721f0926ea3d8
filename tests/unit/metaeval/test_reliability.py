"""How far raters agree: published worked examples, and degenerate cases."""

import math

import numpy as np
import pytest

from rrgmetrics.metaeval import Rated
from rrgmetrics.metaeval.plots import dots, histograms
from rrgmetrics.metaeval.reliability import distributions, intraclass, krippendorff
from rrgmetrics.reporting.papers import ALSO
from rrgmetrics.reports import Pair

NAN = float("nan")
# Shrout and Fleiss (1979), table 2: four judges, six targets; table 4 prints ICC(2,1) .29 and ICC(2,4) .62.
JUDGES = np.array([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]], dtype=float)
# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", section C: four observers, twelve units with gaps;
# section D prints alpha .849 for interval data.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def test_intraclass_correlations_as_shrout_and_fleiss_print_them():
    single, of_mean = intraclass(JUDGES)
    assert (round(single, 2), round(of_mean, 2)) == (0.29, 0.62)


def test_alpha_as_krippendorff_prints_it():
    assert round(krippendorff(OBSERVERS), 3) == 0.849


def test_raters_who_agree_and_raters_who_cannot():
    same = np.array([[0, 2, 1, 4.0]] * 3)
    assert intraclass(same) == pytest.approx((1, 1))
    assert krippendorff(same) == pytest.approx(1)
    for nothing in (np.array([[1, 2, 3.0]]), np.ones((2, 3)), np.array([[1, NAN], [NAN, 2.0]])):
        assert math.isnan(krippendorff(nothing))
    assert all(map(math.isnan, intraclass(np.ones((2, 3)))))
    assert all(map(math.isnan, intraclass(np.ones((1, 3)))))


def test_a_level_of_ones_own_lowers_it():
    shifted = np.array([[0, 2, 1, 4.0], [2, 4, 3, 6.0]])
    assert intraclass(shifted)[0] < 0.7  # their order is the same, their counts are not
    assert intraclass(shifted)[0] < intraclass(shifted)[1] < 1


def data(name="lab"):
    return Rated(
        name=name,
        pairs=[Pair("Clear lungs.", f"candidate {n}") for n in range(12)],
        studies=[f"study {n // 2}" for n in range(12)],
        raters=["anna", "ben", "carl", "dora"],
        values={"total_errors": OBSERVERS - 1, "missing_finding": OBSERVERS},
    )


def test_the_distribution_of_a_data_set():
    total, missing = distributions(data())
    assert (total.target, total.n, total.n_complete) == ("total_errors", 12, 8)
    assert total.alpha == pytest.approx(krippendorff(OBSERVERS))
    assert (total.icc_single, total.icc_mean) == pytest.approx(intraclass(OBSERVERS[:, 1:9]))
    means = np.nanmean(OBSERVERS - 1, axis=0)
    assert (total.mean, total.sd) == pytest.approx((means.mean(), means.std(ddof=1)))
    assert total.quartiles == pytest.approx(np.quantile(means, (0, 0.25, 0.5, 0.75, 1)))
    assert total.none == pytest.approx(np.mean(means == 0))
    assert missing.none == 0


def test_the_table_and_the_numbers():
    from made_results import result

    from rrgmetrics.metaeval import measure

    report = measure(data(), {"plain": result("plain", headline=range(12))}, trials=5)
    (table,), numbers = ALSO["distribution"](report)
    assert [str(head) for head in table.heads][-4:] == ["ICC(2,1)", "ICC(2,4)", "alpha", "pairs"]
    row = numbers[0]
    assert (row["target"], row["median"], row["view"]) == ("total_errors", pytest.approx(1.375), "distribution")


def test_pictures_of_counts():
    figure = histograms([data("one"), data("two")])
    assert [axes.get_title().split(":")[0] for axes in figure.axes] == ["one", "two"]
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == 12
    figure = dots(data())
    (axes,) = figure.axes
    assert "ICC(2,1) 0." in axes.get_title()
    assert [each.get_label() for each in axes.lines] == ["anna", "ben", "carl", "dora"]
    first, last = (np.nanmean([each.get_ydata()[place] for each in axes.lines]) for place in (0, -1))
    assert first <= last
