"""Which reports a metric reads: the same words in the README, in `list`, on the card and in messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rrgmetrics
from rrgmetrics.cli import main
from rrgmetrics.scoring.scope_filter import announcement, modality_of, reports_read
from rrgmetrics.specs import SPECS
from rrgmetrics.specs.names import parse_name

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
EVERY_KIND = "chest X-ray and chest CT reports in English (experimental: brain CT and mammography)"


@pytest.mark.parametrize("name", SPECS)
def test_one_source_for_the_kinds_of_report(name, capsys):
    said = reports_read(SPECS[name])
    (row,) = re.findall(rf"\n\| \[`{name}`\].*", README)
    assert row.split(" | ")[2] == said
    assert main(["list", name]) == 0
    assert f"Reads {said}." in " ".join(capsys.readouterr().out.split())
    modality = modality_of(parse_name(name))
    card = (rrgmetrics.module_path(name) / "README.md").read_text()
    assert (f"The metric reads {said}." in card) == bool(modality)
    if modality:
        assert f"{name} supports {said}" in announcement(modality, [name], [["the reference looks Spanish"]])


def test_metrics_that_follow_the_report_read_every_kind():
    follow = [name for name, spec in SPECS.items() if reports_read(spec) == EVERY_KIND]
    names = ["crimson", "finding_errors", "finding_f1", "finding_score", "green", "radfact", "radgraph_f1"]
    assert sorted(follow) == names
