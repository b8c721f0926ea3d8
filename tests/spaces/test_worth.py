"""The batch tab compares a file of reports with trivial systems."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

pytest.importorskip("gradio")

from rrgmetrics.spaces import batch, ui

REFERENCES = [f"Nodule of {size} mm in the left upper lobe. No pleural effusion." for size in range(3, 15)]


@pytest.fixture
def upload(tmp_path):
    def write(candidates):
        path = tmp_path / "pairs.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("reference", "candidate"), *zip(REFERENCES, candidates, strict=False)])
        return str(path)

    return write


def last(path):
    *_, (page, scored) = ui.run_file("finding_errors", path)
    return page, scored


def test_what_does_not_beat_a_trivial_system_is_told_so(upload, tmp_path):
    page, scored = last(upload(["Clear lungs."] * 12))
    assert "<h2>Compared with trivial systems</h2>" in page
    assert "The file does not beat the best trivial system" in page
    assert "The file writes 1 distinct report for 12 studies" in page
    *_, report = batch.write_scores(scored, str(tmp_path))
    assert "Compared with trivial systems" in Path(report).read_text()


def test_three_pairs_are_too_few_to_tell(upload):
    page, scored = last(upload(["Clear lungs."] * 3))
    assert scored.worth is None
    assert "Compared with trivial systems" not in page


def test_a_file_with_other_columns_is_scored_by_the_chosen_ones(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("id,gt,hyp\n7,Left effusion.,Right effusion.\n8,Clear lungs.,Clear lungs.\n")
    found = batch.columns_of(str(path))
    assert found == ["id", "gt", "hyp"]
    chosen = batch.guessed_columns(found) | {"study_id": "id"}
    *_, (_, scored) = ui.run_file("finding_errors", str(path), chosen)
    assert scored.study_ids == ["7", "8"]
    assert scored.result.per_pair["finding_errors"].tolist() == [1, 0]


def test_no_heading_stands_twice(upload):
    page, _ = last(upload(["Clear lungs."] * 12))
    headings = re.findall(r"<h[1-6][^>]*>(.*?)</h", page.partition("All pairs")[0])
    assert len(headings) == len(set(headings))
    assert sum("Compared with trivial systems" in heading for heading in headings) == 1
