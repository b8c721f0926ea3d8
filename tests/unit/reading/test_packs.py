"""Packs: sentences that each reads (packs/*.tsv, as sentences.tsv), how reports are told apart, packs of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from edited_lexicon import BUNDLED, bundled_in, write_small_lexicon
from reading_table import check

from rrgmetrics.cli import main
from rrgmetrics.comparing import explain
from rrgmetrics.errors import InputError
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import all_packs, checking, load, load_file, use
from rrgmetrics.reading.scope import out_of_scope
from table_rows import each_row, read_table

HERE = Path(__file__).parent
MISSED = "not read yet"
ROWS = [
    row.with_cells(Path(row.file).stem, *row[1:], known=MISSED if row[0] == MISSED else "")
    for row in read_table(*sorted((HERE / "packs").glob("*.tsv")))
]

# A report of each kind, and the pack that reads it.
KINDS = {
    "PA and lateral views. The cardiac silhouette is normal. Small right effusion. CT is recommended.": "chest_xray",
    "Axial images with intravenous contrast. Centrilobular emphysema. 6 mm nodule in the left lower lobe.": "chest_ct",
    "CT head without contrast. Axial images. Left subdural hematoma with midline shift. Basal cisterns are patent.": (
        "brain_ct"
    ),
    "The breasts are heterogeneously dense. Architectural distortion in the upper outer quadrant. BI-RADS 4.": (
        "mammography"
    ),
    "Normal.": "chest_xray",
    "": "chest_xray",
}

PACK = {
    "pack.yaml": "title: knee X-ray reports in English\nkind: a limb report\nconcepts: [knee]\n",
    "knee.yaml": "knee_effusion:\n  name: knee effusion\n  significance: actionable_not_urgent\n  why: fluid\n"
    "  terms: [knee effusion, joint effusion]\n",
}


@each_row("pack, sentence, expected", ROWS)
def test_sentence_of_a_pack(pack: str, sentence: str, expected: str) -> None:
    reading = read(sentence, pack)
    for part in expected.split(";"):
        check(part.strip(), reading, {})


@each_row("pack, reference, candidate, expected", read_table(HERE / "packs_pairs.tsv"))
def test_a_pair_of_a_pack(pack: str, reference: str, candidate: str, expected: str) -> None:
    errors = explain(reference=reference, candidate=candidate, modality=pack).whole.errors
    letters = [error.category.letter if error.significant else error.category.letter.lower() for error in errors]
    assert "".join(sorted(letters)) == expected.replace("none", "")


@pytest.mark.parametrize("report", KINDS)
def test_the_pack_follows_from_the_report(report: str) -> None:
    reading = read(report, "auto")
    assert reading.pack == KINDS[report]
    assert out_of_scope(reading.scope, all_packs()[reading.pack].title) == ""


@each_row("pack, report", read_table(HERE / "packs_kinds.tsv"))
def test_a_terse_report_is_told_by_few_words(pack: str, report: str) -> None:
    reading = read(report, "auto")
    assert (reading.pack, reading.scope.kind) == (pack, all_packs()[pack].kind)


@pytest.mark.parametrize("pack", all_packs())
def test_each_pack_compares_reports_and_has_normal_sentences_that_it_reads(pack: str) -> None:
    lexicon = load(pack)
    sentences = load_file("normal", lexicon.key)["sentences"].values()
    assert [sentence for sentence in sentences if not read(sentence, pack).findings] == []
    concept = next(iter(lexicon.concepts.values()))
    text = f"{str(load_file(concept.group, lexicon.key)[concept.key]['terms'][0]).capitalize()}."
    assert explain(reference=text, candidate=text, modality=pack).total == 0
    assert explain(reference=text, candidate="", modality=pack).total >= 1


def test_a_word_of_one_pack_is_none_of_another() -> None:
    assert [finding.concept for finding in read("Left subdural hematoma.", "brain_ct").findings] == [
        "subdural_hemorrhage"
    ]
    assert "subdural_hemorrhage" not in [finding.concept for finding in read("Left subdural hematoma.").findings]


def test_a_folder_of_ones_own_may_hold_packs(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    for name, text in {
        "lung.yaml": "opacity:\n  terms:\n    - fire sign\n",
        "brain_ct/skull.yaml": "skull_fracture:\n  terms:\n    - egg crack\n",
        **{f"knee_xray/{name}": text for name, text in PACK.items()},
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    knee = "Patella and tibial plateau are intact. Small joint effusion."
    with bundled_in(write_small_lexicon(tmp_path, "brain_ct", "chest_ct", "mammography")), use(folder):
        assert [finding.concept for finding in read("Egg crack.", "brain_ct").findings] == ["skull_fracture"]
        assert [finding.concept for finding in read("Fire sign.", "chest_ct").findings] == ["opacity"]
        assert not read("Egg crack.").findings
        assert not read("Fire sign.", "brain_ct").findings
        reading = read(knee, "auto")
        assert (reading.pack, [finding.concept for finding in reading.abnormal]) == ("knee_xray", ["knee_effusion"])
    assert read(knee, "auto").scope.looks == "a limb report"


def test_what_is_wrong_with_packs_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "knees").mkdir()
    (tmp_path / "knees" / "knee.yaml").write_text(PACK["knee.yaml"])
    with pytest.raises(
        InputError, match=r"knees is not a pack: name it as one of chest_xray, .* or describe your own pack"
    ):
        checking.check([tmp_path])
    (tmp_path / "knees" / "pack.yaml").write_text("title: knees\n")
    with pytest.raises(InputError, match=r"pack.yaml does not describe a pack: it needs title and kind"):
        checking.check([tmp_path])
    (tmp_path / "knees" / "pack.yaml").write_text(PACK["pack.yaml"].replace("limb", "lim"))
    (fault,) = checking.check([tmp_path])
    assert fault.message == 'kind names "a lim report", which does not exist; did you mean "a limb report"?'
    assert main(["lexicon", "show", "midline shift", "--pack", "brain_ct"]) == 0
    assert "midline shift (midline_shift, csf_spaces.yaml)" in capsys.readouterr().out
    assert main(["lexicon", "show", "midline shift", "--pack", "brain_mri"]) == 2
    assert "--pack='brain_mri' is unknown; choose one of" in capsys.readouterr().err


def test_every_pack_ships() -> None:
    names = (BUNDLED.parents[2] / "setup.cfg").read_text(encoding="utf-8")
    assert all(f"rrgmetrics.reading.lexicon.{pack}\n" in names for pack in all_packs())
