"""The agreement on data that development never saw: what the file holds, and where it is shown."""

from __future__ import annotations

import math

from rrgmetrics import cli
from rrgmetrics.metaeval.independent import of_metric, rated_sets
from rrgmetrics.specs import SPECS


def test_every_number_belongs_to_a_metric_and_lies_in_its_interval():
    sets = rated_sets()
    assert set(sets) == {"radpref_kept_back", "radeval_expert", "radevalx", "refisco"}
    for rated in sets.values():
        assert set(rated.metrics) <= set(SPECS)
        assert set(rated.ceiling) <= set(rated.targets)
        for targets in rated.metrics.values():
            assert set(targets) == set(rated.targets)
            for tau in targets.values():
                assert math.isnan(tau.low) or -1 <= tau.low <= tau.value <= tau.high <= 1
                assert tau.n == rated.pairs


def test_a_metric_that_was_not_measured_has_none():
    assert list(of_metric("finding_score")) == []


def test_the_list_by_agreement_has_the_best_first_and_the_unmeasured_last(capsys):
    assert cli.main(["list", "--by", "agreement"]) == 0
    named = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.split()[:1]]
    named = [name for name in named if name in SPECS]
    assert set(named) == set(SPECS)
    assert (
        named.index("finding_errors") < named.index("radgraph_f1") < named.index("bleu") < named.index("finding_score")
    )


def test_a_metric_alone_shows_each_data_set_with_its_interval(capsys):
    assert cli.main(["list", "finding_errors"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "RadEval expert significant errors 318 0.58 [0.48, 0.67] 0.1.0" in shown, shown
