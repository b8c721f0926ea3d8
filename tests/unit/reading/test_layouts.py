"""A report reads the same however it is laid out: benchmarks/layouts.py on invented reports."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks import layouts
from rrgmetrics.reading import Reading, read

REPORTS = (
    (
        "The heart is mildly enlarged. Small left pleural effusion with adjacent atelectasis, unchanged. There is no "
        "pneumothorax or pulmonary edema. Old fractures of the left sixth and seventh ribs.",
        "1. Mild cardiomegaly. 2. Stable small left pleural effusion.",
    ),
    (
        "Endotracheal tube tip 4.5 cm above the carina. Right internal jugular catheter with its tip in the lower SVC. "
        "The enteric tube courses below the diaphragm. No pneumothorax.",
        "Lines and tubes in standard position.",
    ),
    (
        "A 1.2 x 0.8 cm nodule in the right upper lobe is new. No pleural effusion. The lungs are otherwise clear.",
        "New right upper lobe nodule; chest CT is recommended.",
    ),
    (
        "The patient's port-a-cath ends at the cavoatrial junction. Bibasilar opacities are worse, likely pneumonia. "
        "Cardiomediastinal silhouette is normal. No acute osseous abnormality.",
        "",
    ),
    (
        "Low lung volumes. Moderate right hydropneumothorax has increased since the prior study. The mediastinum is "
        "shifted to the left. Subcutaneous emphysema in the right chest wall.",
        "Increasing right hydropneumothorax with mediastinal shift to the left.",
    ),
    (
        "No focal consolidation, effusion, or pneumothorax. The cardiac silhouette is normal in size. The aorta is "
        "tortuous and calcified. Degenerative changes of the thoracic spine.",
        "No acute cardiopulmonary process.",
    ),
    (
        "Hyperinflated lungs with flattened diaphragms, consistent with emphysema. Biapical scarring is stable. A 6 mm "
        "calcified granuloma is seen in the left lower lobe.",
        "Emphysema. No acute disease.",
    ),
    (
        "Diffuse interstitial edema, moderate, improved from yesterday. Small bilateral effusions, right greater than "
        "left. Dual-lead pacemaker with leads in the right atrium and right ventricle.",
        "Improved moderate pulmonary edema.",
    ),
    (
        "Left lower lobe consolidation may represent pneumonia or aspiration. There is no evidence of a pneumothorax. "
        "The right hemidiaphragm is elevated. Surgical clips in the right upper quadrant.",
        "Possible left lower lobe pneumonia.",
    ),
    ("Clear lungs. Normal heart. No effusion.", ""),
    (
        "CT chest with contrast. Mediastinal lymph nodes measure up to 9 mm in short axis. A filling defect in the "
        "right lower lobe artery. Ground-glass opacities in both upper lobes. No pericardial effusion.",
        "Acute pulmonary embolism on the right.",
    ),
    (
        "Interval removal of the left chest tube. No residual pneumothorax. Widened mediastinum. Compression fracture "
        "of T8, unchanged. Hiatal hernia.",
        "",
    ),
)

OTHERWISE = {  # how many of the twelve reports may read otherwise, where a layout loses information
    "lower-case lines, no full stops": 0,
    "commas for full stops": 1,
    "no commas": 0,
    "no punctuation": 0,
    "?text=words": 6,
    "?text=r2gen": 1,
}


@cache
def originals() -> tuple[list[layouts.Report], list[Reading]]:
    parts = [
        [("FINDINGS" if impression else "", findings), ("IMPRESSION", impression)] for findings, impression in REPORTS
    ]
    reports = [layouts.Report.of(f"report {number}", each) for number, each in enumerate(parts, 1)]
    return reports, [read(report.text) for report in reports]


@pytest.mark.parametrize("layout", layouts.LAYOUTS, ids=lambda layout: layout.name)
def test_a_report_reads_the_same_in_each_layout(layout: layouts.Layout) -> None:
    reports, readings = originals()
    different = [
        report.name
        for report, reading in zip(reports, readings, strict=True)
        if layouts.difference(report, layout, reading)
    ]
    assert len(different) <= OTHERWISE.get(layout.name, 0), different


def test_only_layouts_that_lose_information_may_read_otherwise() -> None:
    assert set(OTHERWISE) == {layout.name for layout in layouts.LAYOUTS if layout.loses}


def test_a_layout_that_changes_the_content_is_found() -> None:
    reports, readings = originals()
    other_side = layouts.Layout("other side", lambda report: report.text.replace("left", "right"))
    found = layouts.difference(reports[0], other_side, readings[0])
    assert found is not None
    assert found.in_fields
    assert found.in_comparison


def test_the_table_of_a_file(tmp_path, capsys) -> None:
    file = tmp_path / "reports.csv"
    file.write_text("findings,impression\n1. Clear lungs. 2. Normal heart.,Normal chest.\nFlorp wug zibble.,\n,\n")
    layouts.main([str(file), "--layout", "bullets", "--misses", "1"])
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["layout", "reports", "otherwise", "fields", "compare", "errors", "loses"]
    assert [row.split()[-5:] for row in rows] == [["1", "0.0%", "0.0%", "0.0%", "0.000"]] * len(rows)
    assert len(rows) > 2
