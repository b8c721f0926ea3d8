"""Open-i's measurement (benchmarks/openi.py) on an invented miniature of its CSV file."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks import openi
from rrgmetrics.labels.conditions import load_conditions
from rrgmetrics.labels.srr import label_names
from rrgmetrics.reading.lexicon import load

CSV = """uid,MeSH,Problems,image,indication,comparison,findings,impression
1,normal,normal,PA,Cough.,None.,"The heart is normal, the lungs are clear.",Normal chest.
2,Cardiomegaly/mild;Pleural Effusion/left/small,x,PA,,,Mild cardiomegaly. Small left pleural effusion.,
3,Cardiac Shadow/enlarged;Pleural Effusion/right/large,x,PA,,,,The heart is enlarged. Large left effusion.
4,Nodule/lung/apex/right,x,PA,,,No pneumothorax.,Possible right apical nodule.
5,Calcinosis/lung/hilum,x,PA,,,"Calcified hilar nodes, no effusion.",
6,normal,normal,PA,,,,
7,normal,normal,PA,,,Small right effusion.,
8,Cicatrix/lung/apex;Opacity/lung/base,x,PA,,,Apical scarring. Possible opacity at the left base.,
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


@pytest.fixture
def reports(file: Path) -> list[openi.OpeniReport]:
    return openi.load_openi(file)


@pytest.fixture
def tallies(reports: list[openi.OpeniReport], monkeypatch: pytest.MonkeyPatch) -> dict[str, openi.Tally]:
    monkeypatch.setattr(openi, "MINIMUM_REPORTS", 1)
    return openi.tally_findings(reports)


def counts(tally: openi.Tally) -> tuple[int, int, int]:
    return tally.true_positive, len(tally.false_positives), len(tally.false_negatives)


def test_reports_without_text_are_left_out(reports: list[openi.OpeniReport]) -> None:
    assert [r.uid for r in reports] == ["1", "2", "3", "4", "5", "7", "8"]
    assert reports[0].text == "FINDINGS: The heart is normal, the lungs are clear.\n\nIMPRESSION: Normal chest."
    assert reports[1].codes == (("Cardiomegaly", "mild"), ("Pleural Effusion", "left", "small"))


def test_counts_by_code(tallies: dict[str, openi.Tally]) -> None:
    assert counts(tallies["cardiomegaly"]) == (2, 0, 0)
    effusion = tallies["pleural effusion"]
    assert counts(effusion) == (2, 1, 0)
    assert effusion.precision == pytest.approx(2 / 3)
    assert effusion.f1 == pytest.approx(0.8)
    assert effusion.false_positives == ["7"]


def test_what_is_only_possible_does_not_count(tallies: dict[str, openi.Tally]) -> None:
    assert counts(tallies["nodule"]) == (0, 0, 1)


def test_qualifiers_choose_the_code(tallies: dict[str, openi.Tally]) -> None:
    assert tallies["calcified nodes"].true_positive == 1
    assert "vascular calcification" not in tallies


def test_unwanted_qualifiers_leave_a_code_out() -> None:
    deformity = next(code for code in openi.load_codes("findings") if code.name == "deformity")
    lung, rib = (openi.OpeniReport("1", (("Deformity", place),), "") for place in ("lung", "ribs"))
    assert not openi.coded(deformity, lung)
    assert openi.coded(deformity, rib) == [("Deformity", "ribs")]


def test_laterality_and_severity(tallies: dict[str, openi.Tally]) -> None:
    assert counts(tallies["laterality"]) == (1, 1, 1)
    assert counts(tallies["severity"]) == (3, 0, 0)


def test_micro_sums_the_codes(tallies: dict[str, openi.Tally]) -> None:
    codes = [counts(tally) for name, tally in tallies.items() if name not in ("laterality", "severity", "micro")]
    assert counts(tallies["micro"]) == tuple(map(sum, zip(*codes, strict=True)))


def test_rare_codes_are_left_out(reports: list[openi.OpeniReport]) -> None:
    assert set(openi.tally_findings(reports)) == {"laterality", "severity", "micro"}


def test_counts_by_condition(reports: list[openi.OpeniReport]) -> None:
    tallies = openi.tally_labels(reports, "conditions", openi.read_conditions)
    assert list(tallies) == list(load_conditions().names)
    assert counts(tallies["Cardiomegaly"]) == (2, 0, 0)
    assert counts(tallies["Pleural Effusion"]) == (2, 1, 0)
    assert counts(tallies["Lung Opacity"]) == (1, 0, 0)  # the scar counts, the possible opacity does not
    assert counts(tallies["No Finding"])[::2] == (1, 1)
    assert tallies["Pleural Effusion"].false_positives == ["7"]


def test_macro_leaves_out_what_is_rare_or_has_no_code(reports: list[openi.OpeniReport]) -> None:
    tallies = openi.tally_labels(reports, "conditions", openi.read_conditions)
    assert math.isnan(openi.macro_f1(tallies, minimum=15))
    assert openi.macro_f1(tallies, minimum=2) == pytest.approx((1 + 0.8) / 2)


def test_counts_by_leaf(reports: list[openi.OpeniReport]) -> None:
    tallies = openi.tally_labels(reports, "leaves", openi.read_leaves)
    assert counts(tallies["Cardiomegaly"]) == (2, 0, 0)
    assert counts(tallies["Fibrosis"]) == (1, 0, 0)


def test_a_tally_without_cases_is_undefined() -> None:
    assert math.isnan(openi.Tally().f1)


def test_every_code_names_what_the_reader_knows() -> None:
    for code in openi.load_codes("findings"):
        assert code.concepts <= set(load().concepts), code.name
        assert code.concepts
    assert {code.name for code in openi.load_codes("conditions")} == set(load_conditions().names)
    assert {code.name for code in openi.load_codes("leaves")} <= set(label_names("leaves", False))


@pytest.mark.parametrize(("labels", "last"), [("findings", "micro"), ("conditions", "macro"), ("leaves", "macro")])
def test_the_table_is_printed_for_a_file(
    labels: str, last: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    openi.main([str(file), "--labels", labels])
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["code", "n", "P", "R", "F1", "FP", "FN"]
    assert table[-1].split()[0] == last
