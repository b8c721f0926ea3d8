"""The Open-i evaluation on an invented miniature of its CSV file."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rrgmetrics.metaeval import openi
from rrgmetrics.reader.lexicon import load

CSV = """uid,MeSH,Problems,image,indication,comparison,findings,impression
1,normal,normal,PA,Cough.,None.,"The heart is normal, the lungs are clear.",Normal chest.
2,Cardiomegaly/mild;Pleural Effusion/left/small,x,PA,,,Mild cardiomegaly. Small left pleural effusion.,
3,Cardiac Shadow/enlarged;Pleural Effusion/right/large,x,PA,,,,The heart is enlarged. Large left effusion.
4,Nodule/lung/apex/right,x,PA,,,No pneumothorax.,Possible right apical nodule.
5,Calcinosis/lung/hilum,x,PA,,,"Calcified hilar nodes, no effusion.",
6,normal,normal,PA,,,,
7,normal,normal,PA,,,Small right effusion.,
"""


@pytest.fixture
def reports(tmp_path: Path) -> list[openi.OpeniReport]:
    path = tmp_path / "reports.csv"
    path.write_text(CSV, encoding="utf-8")
    return openi.load_openi(path)


@pytest.fixture
def tallies(reports: list[openi.OpeniReport], monkeypatch: pytest.MonkeyPatch) -> dict[str, openi.Tally]:
    monkeypatch.setattr(openi, "MINIMUM_REPORTS", 1)
    return openi.evaluate(reports)


def test_reports_without_text_are_left_out(reports: list[openi.OpeniReport]) -> None:
    assert [r.uid for r in reports] == ["1", "2", "3", "4", "5", "7"]
    assert reports[0].text == "FINDINGS: The heart is normal, the lungs are clear.\n\nIMPRESSION: Normal chest."
    assert reports[1].codes == (("Cardiomegaly", "mild"), ("Pleural Effusion", "left", "small"))


def test_counts_by_code(tallies: dict[str, openi.Tally]) -> None:
    heart, effusion = tallies["cardiomegaly"], tallies["pleural effusion"]
    assert (heart.true_positive, heart.false_positive, heart.false_negative) == (2, 0, 0)
    assert (effusion.true_positive, effusion.false_positive, effusion.false_negative) == (2, 1, 0)
    assert effusion.precision == pytest.approx(2 / 3)
    assert effusion.f1 == pytest.approx(0.8)
    assert effusion.examples["false_positive"] == ["7"]


def test_what_is_only_possible_does_not_count(tallies: dict[str, openi.Tally]) -> None:
    assert tallies["nodule"].false_negative == 1


def test_qualifiers_choose_the_code(tallies: dict[str, openi.Tally]) -> None:
    assert tallies["calcified nodes"].true_positive == 1
    assert "vascular calcification" not in tallies


def test_laterality_and_severity(tallies: dict[str, openi.Tally]) -> None:
    side, severity = tallies["laterality"], tallies["severity"]
    assert (side.true_positive, side.false_positive, side.false_negative) == (1, 1, 1)
    assert (severity.true_positive, severity.false_positive, severity.false_negative) == (3, 0, 0)


def test_micro_sums_the_codes(tallies: dict[str, openi.Tally]) -> None:
    names = [n for n in tallies if n not in ("laterality", "severity", "micro")]
    assert tallies["micro"].true_positive == sum(tallies[n].true_positive for n in names)
    assert tallies["micro"].false_positive == sum(tallies[n].false_positive for n in names)


def test_rare_codes_are_left_out(reports: list[openi.OpeniReport]) -> None:
    assert set(openi.evaluate(reports)) == {"laterality", "severity", "micro"}


def test_a_tally_without_cases_is_undefined() -> None:
    assert math.isnan(openi.Tally().f1)


def test_the_table_has_a_line_for_each_code(tallies: dict[str, openi.Tally]) -> None:
    lines = list(openi.table(tallies))
    assert len(lines) == len(tallies) + 1
    assert lines[0].split() == ["code", "n", "P", "R", "F1", "FP", "FN"]


def test_every_code_names_known_concepts() -> None:
    for code in openi.CODES:
        assert code.concepts <= set(load().concepts), code.name
        assert code.concepts


def test_the_table_is_printed_for_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "reports.csv"
    path.write_text(CSV, encoding="utf-8")
    assert openi.main([str(path)]) == 0
    assert "micro" in capsys.readouterr().out
    assert openi.main([]) == 2
