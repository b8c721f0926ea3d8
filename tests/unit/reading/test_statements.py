"""Statements with commas, or nothing, between them read as with full stops; lists and appositions have commas too."""

from __future__ import annotations

from pathlib import Path

import pytest

from rrgmetrics.reading import Finding, read
from table_rows import each_row, read_table

HERE = Path(__file__).parent
ROWS = read_table(HERE / "spliced.tsv")


def _said(text: str) -> list[tuple[object, ...]]:
    def what(f: Finding) -> tuple[object, ...]:
        return f.concept, f.assertion, f.certainty, f.side, f.zones, f.severity, f.change, f.measurements_mm, f.tip

    return sorted((what(f) for f in read(text).findings), key=repr)


@each_row("kind, text", ROWS)
def test_commas_read_as_full_stops(kind: str, text: str) -> None:
    statements = [part.rstrip(",").removeprefix("and ") for part in text.split(" | ")]
    expected = _said(". ".join(part[0].upper() + part[1:] for part in statements) + ".")
    assert expected, kind
    assert _said(text.replace(", | ", ", ").replace(" | ", ", ") + ".") == expected, kind


@each_row("text, same", read_table(HERE / "one_statement.tsv"))
def test_commas_within_a_statement_part_nothing(text: str, same: str) -> None:
    assert _said(same)
    assert _said(text) == _said(same)


@each_row("kind, text", read_table(HERE / "unmarked.tsv"))
def test_text_without_punctuation_reads_as_with_full_stops(kind: str, text: str) -> None:
    small = text.split(" | ")
    expected = _said(". ".join(part[0].upper() + part[1:] for part in small) + ".")
    assert expected, kind
    assert _said(" ".join(small)) == expected, kind
    assert _said(" ".join(part[0].upper() + part[1:] for part in small)) == expected, kind


@each_row("text", read_table(HERE / "long_lines.tsv"))
def test_long_lines_read_as_with_full_stops(text: str) -> None:
    lines = text.split(" | ")
    assert _said("FINDINGS:\n" + "\n".join(lines)) == _said("FINDINGS:\n" + " ".join(f"{line}." for line in lines))


ROWS_OF_SEMICOLONS = (
    "Heart size is normal; the lungs are hyperinflated; small left effusion; no pneumothorax",
    "Large right effusion; mediastinum shifted to the left; bones intact; left lung clear",
    "ETT 4 cm above the carina; NG tube in the stomach; low lung volumes; mild edema; no effusion",
    "There is a 6 mm nodule in the right apex; no effusion; the hila are normal; old left rib fractures",
    "Hila are unchanged; normal pulmonary vascularity; minimal streaky bibasilar opacities; no effusion",
    "Heart and mediastinum unremarkable; calcified granuloma in the left upper lobe; no infiltrate",
    "No effusion, pneumothorax, or consolidation; 8 mm nodule in the right upper lobe; bones intact",
    "Left basal opacity, atelectasis or pneumonia; heart enlarged; tortuous aorta",
    "Cardiac contours within normal limits; the right heart border is obscured; middle lobe opacity",
    "Chronic changes in the apices; the clavicles are intact; no focal opacity; blunted left costophrenic angle",
    "Mildly increased calcification of the aorta; 1 cm nodule in the left midlung; no consolidation",
    "There is a mass in the right upper lobe; the remainder of the lungs is clear; no adenopathy",
    "Stable cardiac silhouette; tortuous aorta; mild lingular atelectasis, no edema",
    "Heart size mildly enlarged, stable mediastinal contours; mild lingular scarring; no edema",
)


@pytest.mark.parametrize("text", ROWS_OF_SEMICOLONS)
def test_semicolons_between_statements_read_as_full_stops(text: str) -> None:
    sentences = (part[0].upper() + part[1:] for part in text.split("; "))
    assert _said(text + ".") == _said(". ".join(sentences) + ".")


@pytest.mark.parametrize("written", ["{};", "{};.", "; {} ;;", "{}; ;", "{};\n"])
@pytest.mark.parametrize("text", ROWS_OF_SEMICOLONS)
def test_semicolons_with_nothing_beside_them_change_nothing(text: str, written: str) -> None:
    assert _said(written.format(text)) == _said(f"{text}.")
    assert _said(written.format(text.replace("; ", ";; "))) == _said(f"{text}.")


def test_what_a_part_between_semicolons_leaves_out_stands_before_it() -> None:
    text = "Effusions are small on the right; moderate on the left; no pneumothorax; the heart is normal."
    assert {(f.concept, f.side) for f in read(text).findings} >= {
        ("pleural_effusion", "right"),
        ("pleural_effusion", "left"),
    }
    nodules = read(
        "Nodules: 4 mm in the right apex; 5 mm in the lingula; 6 mm in the left base; 8 mm in the middle lobe."
    )
    assert {f.concept for f in nodules.findings} == {"nodule"}


LINES = (  # what could end within a line does not where lines, or the marks of a list, end statements
    "Blunting of the right angle may represent residual small effusion or scarring",
    "Several large bilateral cavities and small nodules",
    "A left basal density could be old calcified granuloma",
    "Heart size is normal",
    "No pneumothorax",
)


@pytest.mark.parametrize("between", ["<br/>", "\t", "\n", "\n- ", " | ", "</li><li>"])
def test_statements_without_full_stops_end_where_lines_and_items_do(between: str) -> None:
    assert _said(between.join(LINES)) == _said(". ".join(LINES) + ".")
