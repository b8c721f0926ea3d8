"""What every metric's scores obey: `rrgmetrics.testing.scores`, and what holds of all metrics together."""

from __future__ import annotations

import pytest

import rrgmetrics
from float32 import needs_model, rounding
from rrgmetrics.metaeval.measured import reads_reports_of
from rrgmetrics.specs.shared import MODALITY_OPTION
from rrgmetrics.testing import case_of, checks_of, scores
from rrgmetrics.testing.scores import assert_same

pytestmark = pytest.mark.usefixtures("loaded")


@pytest.mark.float32
@pytest.mark.parametrize("check", checks_of(scores), ids=lambda check: check.__name__)
def test_scores(case, check):
    check(case)


OTHER_KINDS = [
    pytest.param(pack, name, id=f"{pack}-{name}")
    for pack in ("chest_ct", "mammography")
    for name, spec in rrgmetrics.SPECS.items()
    if spec.options.get("modality", MODALITY_OPTION).default == "auto" and "modality" in spec.options
    if reads_reports_of(spec, pack)
]


@pytest.mark.parametrize(("pack", "name"), OTHER_KINDS)
def test_scores_of_other_kinds_of_report(pack, name):
    """What follows the report obeys the same on chest CT and on mammograms, each read with its own pack."""
    references, altered = rrgmetrics.testing.invented_reports(pack)
    case = case_of(name, references=references, altered=altered)
    assert case.on_altered.modalities == {pack: len(references)}
    for check in (
        scores.check_keys,
        scores.check_empty_texts,
        scores.check_identical_text_is_best,
        scores.check_pair_order,
        scores.check_alone_as_in_a_batch,
        scores.check_reduce_equals_scoring,
    ):
        check(case)


def test_keys_are_unique_over_all_metrics():
    keys = [key.name for _, key in rrgmetrics.specs.all_keys()]
    assert len(keys) == len(set(keys))


def test_together_as_alone(reports, altered):
    together = rrgmetrics.score(
        list(rrgmetrics.SPECS), predictions=reports.altered, references=reports.references, progress=False
    )
    assert list(together) == list(rrgmetrics.SPECS)
    for name, result in together.items():
        assert_same(result.per_pair, altered(name).per_pair, rounding(result.spec))
        assert result.signature == altered(name).signature


@pytest.mark.parametrize("name", [name for name, spec in rrgmetrics.SPECS.items() if needs_model(spec)])
def test_the_number_of_threads_changes_no_score(name, score, reports, altered):
    """All other tests leave torch one thread (tests/conftest.py)."""
    import torch

    expected, threads = altered(name).per_pair, torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        result = score(name, reports.altered, reports.references)
    finally:
        torch.set_num_threads(threads)
    assert_same(result.per_pair, expected, rounding(rrgmetrics.SPECS[name]))
