"""SRR-BERT's leaves against MeSH codes, on invented reports."""

from __future__ import annotations

from rrgmetrics.metaeval.openi import OpeniReport
from rrgmetrics.metaeval.openi_srr import MESH, evaluate, main
from rrgmetrics.reader.srr_labels import label_names

REPORTS = [
    OpeniReport("1", (("Cardiomegaly", "mild"), ("Cicatrix", "lung")), "Mild cardiomegaly. Scarring at the left base."),
    OpeniReport("2", (("Pleural Effusion", "left"),), "No effusion. Possible pneumonia."),
    OpeniReport("3", (("normal",),), "The heart is enlarged."),
]


def test_tallies_on_paper():
    found = {
        leaf: (tally.true_positive, tally.false_positive, tally.false_negative)
        for leaf, tally in evaluate(REPORTS).items()
        if tally.n or tally.false_positive
    }
    assert found == {"Cardiomegaly": (1, 1, 0), "Fibrosis": (1, 0, 0), "Simple pleural effusion": (0, 0, 1)}


def test_the_leaves_are_leaves():
    assert MESH.keys() <= set(label_names("leaves", False))


def test_usage(capsys):
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
