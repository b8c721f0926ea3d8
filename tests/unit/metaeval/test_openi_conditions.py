"""CheXpert's conditions against MeSH, on an invented miniature of Open-i's CSV file."""

from __future__ import annotations

import math

import pytest

from rrgmetrics.metaeval import openi_conditions
from rrgmetrics.metaeval.openi import load_openi
from rrgmetrics.reader.conditions import load_conditions

CSV = """uid,MeSH,Problems,image,indication,comparison,findings,impression
1,normal,normal,PA,Cough.,None.,"The heart is normal, the lungs are clear.",Normal chest.
2,Cardiomegaly/mild;Pleural Effusion/left/small,x,PA,,,Mild cardiomegaly. Small left pleural effusion.,
3,Cardiac Shadow/enlarged;Opacity/lung/base,x,PA,,,,The heart is enlarged. Possible opacity at the left base.
4,normal,normal,PA,,,Small right effusion.,
5,Cicatrix/lung/apex,x,PA,,,Apical scarring.,
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "reports.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def test_counts_by_condition(file):
    tallies = openi_conditions.evaluate(load_openi(file))
    assert list(tallies) == list(load_conditions().names)
    counts = {name: (t.true_positive, t.false_positive, t.false_negative) for name, t in tallies.items()}
    assert counts["Cardiomegaly"] == (2, 0, 0)
    assert counts["Pleural Effusion"] == (1, 1, 0)
    assert counts["Lung Opacity"] == (1, 0, 1)  # what is only possible does not count
    assert counts["No Finding"] == (1, 0, 1)
    assert tallies["Pleural Effusion"].examples["false_positive"] == ["4"]


def test_macro(file, monkeypatch):
    tallies = openi_conditions.evaluate(load_openi(file))
    assert math.isnan(openi_conditions.macro_f1(tallies))  # no condition has 15 reports
    monkeypatch.setattr(openi_conditions, "MINIMUM_REPORTS", 1)
    assert openi_conditions.macro_f1(tallies) == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)


def test_the_command(file, capsys):
    assert openi_conditions.main([str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 16
    assert lines[2].split() == ["Cardiomegaly", "2", "1.000", "1.000", "1.000", "0", "0"]
    assert openi_conditions.main([]) == 2
