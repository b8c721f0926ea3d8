"""Numbers of papers that follow from numbers in the same papers: corrections, accuracies, RadCliQ's arithmetic."""

import numpy as np
import pytest
import scipy.stats

from rrgmetrics.metaeval.counting import count_line
from rrgmetrics.metaeval.model import label_of
from rrgmetrics.scorers.radcliq import read_coefficients
from rrgmetrics.stats import Estimate, benjamini_hochberg, holm

# Benjamini and Hochberg 1995, section 3.2: fifteen p-values of a study of myocardial infarction, in order.
INFARCTION = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
    *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]


def test_the_example_of_benjamini_and_hochberg():
    """The paper rejects four hypotheses at 0.05 by its procedure, and three by Bonferroni's (and by Holm's)."""
    shuffled = np.random.default_rng(0).permutation(15)
    p_values = np.array(INFARCTION)[shuffled]
    assert sorted(shuffled[benjamini_hochberg(p_values) <= 0.05]) == [0, 1, 2, 3]
    assert sorted(shuffled[p_values <= 0.05 / 15]) == sorted(shuffled[holm(p_values) <= 0.05]) == [0, 1, 2]
    np.testing.assert_allclose(benjamini_hochberg(p_values), scipy.stats.false_discovery_control(p_values), rtol=1e-12)


# The linear forms that follow from the published scalers and coefficients (Yu et al. 2023, the authors' two pickles).
# Features: RadGraph, BERTScore, SembScore, BLEU-2.
LINEAR = {
    "v1": (2.4501430833, (-1.24521633, -1.65084533, -0.99477171, 1.44e-11)),
    "v0": (5.5161608041, (-1.58903423, -3.00983014, -1.87337171, 0.71394185)),
}


@pytest.mark.parametrize("version", LINEAR)
def test_radcliq_is_linear_in_its_metrics(version):
    intercept, slopes = LINEAR[version]
    model = read_coefficients(version)
    at_zero = model.raw(np.zeros((1, 4)))[0]
    assert at_zero == pytest.approx(intercept, abs=5e-11)
    assert model.raw(np.eye(4)) - at_zero == pytest.approx(slopes, abs=5e-9)
    own = np.array(model.weight) / np.array(model.scale)
    assert own == pytest.approx(slopes, abs=5e-9)
    shift = model.intercept - float(np.dot(own, model.mean))
    assert shift == pytest.approx(intercept, abs=5e-11)


# Yu et al., Supplementary Tables 4 and 5: mean BLEU-2, mean RadGraph F1, and the errors predicted from them.
SYSTEMS = {
    "Random": (0.048, 0.049, 3.266),
    "M2 Trans": (0.087, 0.110, 3.088),
    "R2Gen": (0.059, 0.057, 3.233),
    "CXR-RePaiR": (0.055, 0.091, 3.181),
    "WCL": (0.064, 0.068, 3.205),
    "CvT2DistilGPT2": (0.066, 0.073, 3.191),
}


def test_radcliq_of_the_paper_predicts_the_errors_that_it_prints():
    """The printed means have three digits: 0.0005 of each feature is 0.002 errors. A constant 0.009 stays.

    A scaler that differs from version 0's in the third digit adds as much to all systems alike; the paper prints none.
    """
    model = read_coefficients("yu2022")
    assert model.features == ("radgraph", "bleu")
    means = np.array([(radgraph, bleu) for bleu, radgraph, _ in SYSTEMS.values()])
    ours = model.raw(means)
    assert ours == pytest.approx([3.258, 3.080, 3.224, 3.172, 3.195, 3.183], abs=0.0005)
    off = np.array([printed for *_, printed in SYSTEMS.values()]) - ours
    assert off == pytest.approx(0.009, abs=0.002)
    order = np.argsort([printed for *_, printed in SYSTEMS.values()])
    assert (np.argsort(ours) == order).all()


def test_radcliq_of_identical_pleural_effusions():
    """jbdel/RadEval issue 5: 1/raw of "pleural effusion" twice is -1.2223714910823704; RadGraph's mean is 0.5."""
    raw = read_coefficients("v1").raw(np.array([[0.5, 1, 1, 1]]))[0]
    assert 1 / raw == pytest.approx(-1.2223714910823704, abs=4e-7)  # BERTScore is 0.9999999 there, in float32


def test_greens_accuracies():
    """Ostmeier et al. 2024: an exact count is one equal to the mean of six raters, which may be a fraction.

    Their evaluation compares with that mean, and in variants with the nearest rater.
    """
    raters = np.array([[1, 0, 2, 0], [1, 0, 2, 0], [1, 0, 2, 1], [1, 0, 3, 1], [1, 0, 3, 1], [1, 0, 3, 3.0]])
    line = count_line("judge", "false_finding", np.array([1, 1, 2, 1.0]), raters)
    assert line.exact == 0.5  # the first, and the last: 1 is the mean of 0, 0, 1, 1, 1, 3
    assert line.any_rater == 0.75
    assert line.mae == pytest.approx((0 + 1 + 0.5 + 0) / 4)
    others = [(6 * mean - own) / 5 for mean, row in zip(raters.mean(axis=0), raters.T, strict=True) for own in row]
    counted = np.repeat([1, 1, 2, 1.0], 6)
    assert line.left_out == pytest.approx(np.abs(counted - others).mean())


@pytest.mark.parametrize(
    ("tau", "label"),
    [
        ((0.183, 0.122, 0.246), "aligned"),  # GREEN against significant errors, pooled, its sign turned
        ((-0.07, -0.13, -0.01), "misaligned"),
        ((0.03, -0.03, 0.09), "not significant"),
    ],
)
def test_radevals_labels(tau, label):
    """Xu et al. 2025, table 2: an interval above 0 is aligned, one below misaligned, any other not significant."""
    assert label_of(Estimate(*tau, 624)) == label
