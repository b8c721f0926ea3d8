"""The one file of results: what it holds, how it is written, and where it is shown."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
import yaml
from markupsafe import escape

from rrgmetrics import cli
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import advice, agree
from rrgmetrics.metaeval.measured import DEVELOPMENT, USUAL, measured_sets, of_metric
from rrgmetrics.metaeval.recording import record
from rrgmetrics.reporting import evidence
from rrgmetrics.specs import SPECS
from rrgmetrics.stats import Estimate


def test_every_number_belongs_to_a_metric_and_lies_in_its_interval():
    sets = measured_sets()
    assert {name for name, data in sets.items() if data.seen} == {DEVELOPMENT, USUAL, "cost"}
    for data in sets.values():
        assert set(data.metrics) <= set(SPECS)
        assert set(data.ceiling) <= set(data.measures)
        for row in data.metrics.values():
            assert row.version
            assert row.date
            assert set(row.values) <= set(data.measures)
            for value in row.values.values():
                assert math.isnan(value.low) or value.low <= value.value <= value.high
                assert value.n <= data.rows


def test_what_was_measured_before_a_metric_changed_is_shown_nowhere():
    specs = list(SPECS.values())
    assert advice.verdict("radgraph_f1") == "unmeasured"
    assert list(of_metric("radgraph_f1")) == []
    assert list(of_metric("radgraph_f1", seen=True))  # measured again
    for table in (evidence.advice_table(specs), evidence.ranked_table(specs)):
        (line,) = (line for group in table.groups for line in group.lines if line[0] == "radgraph_f1 *")
        assert "–" in str(line[1])
    root = Path(__file__).parents[3]
    card = (root / "metrics/radgraph_f1/README.md").read_text()
    assert "version 0.1.0" not in card
    assert "its agreement has not been measured since" in card
    (row,) = re.findall(r"\n\| \[`radgraph_f1`\].*", (root / "README.md").read_text())
    (ours,) = re.findall(r"\n\| radgraph_f1 \\\* \|.*(?:weights) \|", (root / "docs/which_metric.md").read_text())
    assert [cell.strip() for cell in row.split("|")][7] == "–"
    assert [cell.strip() for cell in ours.split("|")][2] == "–"


def test_a_metric_that_was_not_measured_has_none():
    assert list(of_metric("finding_score")) == []


RATER = {f"{kind}{end}": 0 for kind in ("false", "missing", "attribute") for end in ("", "_significant")}
GOOD = {"report": "Small left effusion.", "raters": [RATER | {"rating": 5}] * 2}
BAD = {"report": "Clear lungs.", "raters": [RATER | {"rating": 1, "missing": 1}] * 2}
ROWS = [{"case": n, "reference": "Small left effusion.", "candidates": {"C1": GOOD, "C2": BAD}} for n in range(3)]
MADE = """\
# By hand.
datasets:
  made:
    {title: Made, short: Made, description: Invented., unit: pairs, seen: true, measures: {
      total_errors: {title: all errors, statistic: tau_b}, preferences: {title: preferences, statistic: share},
      own_missing_finding: {title: missing, statistic: tau_b}, overlooked: {title: all errors, statistic: errors},
      overlooked_missing_finding: {title: missing, statistic: errors}}}
"""


def test_measuring_writes_its_own_rows_only(tmp_path):
    data, file = tmp_path / "cases.jsonl", tmp_path / "measured.yaml"
    file.write_text(MADE)

    def measure(metric, date, name="made"):
        record(agree(f"radpref:{data}", [metric], trials=10, progress=False), name, date=date, file=file)

    data.write_text("\n".join(map(json.dumps, ROWS)))
    measure("rouge", "2026-01-02")
    measure("finding_errors", "2026-01-03")
    made = measured_sets(file)["made"]
    assert file.read_text().startswith("# By hand.\n")
    assert (made.rows, made.studies, made.raters, made.title) == (6, 3, 2, "Made")
    assert {name: row.date for name, row in made.metrics.items()} == {
        "rouge": "2026-01-02",
        "finding_errors": "2026-01-03",
    }
    assert made.metrics["rouge"].values["preferences"].value == 1.0
    assert set(made.metrics["rouge"].values) == set(made.measures) - {"own_missing_finding"}
    assert made.metrics["finding_errors"].values["own_missing_finding"].value == 1.0
    assert made.metrics["finding_errors"].values["overlooked"].value == 0.0  # it ranks the right report best
    assert made.choices["any candidate"]["overlooked_missing_finding"] == 0.5
    with pytest.raises(InputError, match=r"no data set 'other', only made; write its title"):
        measure("rouge", "2026-01-04", "other")
    data.write_text("\n".join(map(json.dumps, ROWS[:2])))
    with pytest.raises(InputError, match="was measured on other pairs"):
        measure("rouge", "2026-01-04")


def test_what_the_raters_did_not_say_is_named(tmp_path):
    data, file = tmp_path / "cases.jsonl", tmp_path / "measured.yaml"
    data.write_text("\n".join(map(json.dumps, ROWS)))
    stored = yaml.safe_load(MADE)
    stored["datasets"]["made"]["measures"]["tone"] = {"title": "tone", "statistic": "tau_b"}
    file.write_text(yaml.safe_dump(stored))
    with pytest.raises(InputError, match="has no tone, which tone needs; it has total_errors"):
        record(agree(f"radpref:{data}", ["rouge"], trials=10, progress=False), "made", date="2026-01-02", file=file)


def test_the_list_by_agreement_has_the_best_first_and_the_unmeasured_last(capsys):
    assert cli.main(["list", "--by", "agreement"]) == 0
    shown = capsys.readouterr().out
    named = [line.split()[0] for line in shown.splitlines() if line.split()[:1]]
    named = list(dict.fromkeys(name for name in named if name in SPECS))
    assert set(named) == set(SPECS)
    ordered = ["finding_errors", "radcliq", "bleu", "finding_score", "radgraph_f1"]
    assert [name for name in named if name in ordered] == ordered


def test_a_metric_alone_shows_each_data_set_with_its_interval(capsys):
    assert cli.main(["list", "finding_errors"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "RadEval expert significant errors 0.58 [0.48, 0.67] 318 0.1.0" in shown, shown


def estimates(*rows):
    return {f"set {n}": Estimate(*row, 9) for n, row in enumerate(rows)}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        (estimates((0.5, 0.4, 0.6), (0.4, math.nan, math.nan)), "report"),
        (estimates((0.5, 0.4, 0.6), (0.39, 0.1, 0.5)), "beside"),
        (estimates((0.5, 0.4, 0.6), (0.39, 0.0, 0.5)), "compare"),  # the interval holds 0
        (estimates((0.5, 0.4, 0.6), (0.19, math.nan, math.nan)), "compare"),  # no interval, and little
        (estimates((0.9, 0.8, 1.0), (-0.3, -0.4, -0.2)), "compare"),  # it prefers what radiologists do not
        ({}, "unmeasured"),
    ],
)
def test_what_to_do_with_a_metric_follows_from_the_least_of_its_agreements(monkeypatch, values, verdict):
    found = [advice.Main(None, name, value) for name, value in values.items()]
    monkeypatch.setattr(advice, "main_agreements", lambda metric: found)
    assert advice.verdict("bleu") == verdict


def test_the_page_holds_every_number_of_unseen_data_and_loads_nothing(tmp_path, capsys):
    path = tmp_path / "page.html"
    assert cli.main(["list", "--by", "agreement", "--html", str(path)]) == 0
    written, shown = path.read_text(), evidence.page_markdown(list(SPECS.values()))
    assert not set(re.findall(r"(?:src|href)=\"([^\"]*)", written)) - {"data:,"}
    assert "<script" not in written
    assert "&lt;" not in written
    for data in measured_sets().values():
        if not data.seen:
            assert f"**{data.title}**: {data.rows} {data.unit}" in shown
            assert f"<b>{escape(data.title)}</b>: {data.rows} {data.unit}" in written
            for row in data.metrics.values():
                for value in row.values.values():
                    assert f"{value.value:.2f}".replace("-", "\N{MINUS SIGN}").removesuffix(".00") in shown
    capsys.readouterr()
    assert cli.main(["list", "--by", "agreement", "--html", str(path)]) == 2
    assert "exists" in capsys.readouterr().err
    assert cli.main(["list", "--html", str(path)]) == 2
    assert "needs --by agreement" in capsys.readouterr().err
