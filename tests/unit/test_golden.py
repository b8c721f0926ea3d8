"""benchmarks/golden.py: how readings become hashes, what differs between two of them, what is not shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from benchmark import benchmark

from rrgmetrics.reading import read


@pytest.fixture(scope="module")
def golden() -> ModuleType:
    return benchmark("golden")


def test_a_reading_is_plain_data_without_what_is_by_default_so(golden: ModuleType) -> None:
    data = golden.canonical_reading(read("New small effusion in the left base and apex."))
    (finding,) = data["findings"]
    assert finding == {
        "concept": "pleural_effusion",
        "assertion": "present",
        "side": "left",
        "zones": ["apex", "base"],
        "severity": 2,
        "change": "new",
        "spans": [[0, 44]],
        "observation": 0,
    }
    assert data["compared"] == [{"kind": "new", "span": [0, 44], "study": False, "organ": None}]


def test_observations_are_numbered_in_their_order(golden: ModuleType) -> None:
    reading = read("Left effusion. No pneumothorax. Opacity, likely pneumonia.")
    shifted = [
        replace(finding, observation=finding.observation + 7) if finding.observation >= 0 else finding
        for finding in reading.findings
    ]
    moved = replace(reading, findings=tuple(shifted))
    assert golden.canonical_reading(moved) == golden.canonical_reading(reading)
    one = replace(reading, findings=tuple(replace(finding, observation=0) for finding in reading.findings))
    assert golden.canonical_reading(one) != golden.canonical_reading(reading)


def test_what_differs_is_named_field_by_field(golden: ModuleType) -> None:
    before = golden.canonical_reading(read("Small left effusion. Cardiomegaly."))
    after = golden.canonical_reading(read("Large left effusion. Pneumothorax."))
    assert [(what, old, new) for what, old, new in golden.changes(before, after) if "spans" not in what] == [
        ("pleural_effusion.severity", 2, 6),
        ("cardiomegaly", before["findings"][1], None),
        ("pneumothorax", None, after["findings"][1]),
    ]
    assert golden.changes(before, before) == []


def test_a_text_that_nobody_has_read_is_counted_and_not_shown(golden: ModuleType) -> None:
    texts = [golden.Text("Seen.", "auto"), golden.Text("Secret.", "auto", unread=True)]
    old, new = golden.canonical_reading(read("Left effusion.")), golden.canonical_reading(read("Right effusion."))
    lines = list(golden.compare(texts, {text.key: old for text in texts}, {text.key: new for text in texts}))
    assert lines == [
        "'Seen.' (auto)",
        "    pleural_effusion.side: left → right",
        "    pleural_effusion.spans: [[0, 13]] → [[0, 14]]",
        "    scope: kind=chest x-ray, statements=[[0, 13]] → kind=chest x-ray, statements=[[0, 14]]",
        "2 of 2 readings differ; 1 of them, of texts that nobody has read, are not shown",
    ]
    kept, now = {text.key: "a" for text in texts}, {text.key: "b" for text in texts}
    lines = list(golden.check(texts, {**kept, "gone": "c"}, now))
    assert lines == [
        "'Seen.' (auto)",
        "2 of 2 readings differ; 1 of them, of texts that nobody has read, are not shown",
        "0 texts are new, 1 are gone",
    ]


@pytest.mark.parametrize(
    ("number", "chosen", "rankings", "expected"),
    [
        ("n02", "fourth", False, True),
        ("n01", "fourth", False, False),
        ("s10", "fifth", True, True),
        ("g01", "sixth", False, True),
        ("p002", "blind", False, False),
        ("r02", "blind", True, True),
    ],
)
def test_which_rows_nobody_has_read(
    golden: ModuleType, number: str, chosen: str, rankings: bool, expected: bool
) -> None:
    assert golden.is_unread({"id": number, "set": chosen}, rankings=rankings) is expected


def test_a_cell_of_a_table_may_hold_several_texts(golden: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "made_up.tsv").write_text(
        "# name\ttexts\n\nheart\tBig heart. | Large heart.\tLungs.\n", encoding="utf-8"
    )
    table = golden.Table("*.tsv", (1, 2), "chest_ct")
    assert [text.text for text in golden.table_texts(tmp_path, table)] == ["Big heart.", "Large heart.", "Lungs."]
    by_pack = golden.Table("*.tsv", (1,), 0, end="!")
    assert [(text.text, text.pack) for text in golden.table_texts(tmp_path, by_pack)] == [
        ("Big heart.!", "heart"),
        ("Large heart.!", "heart"),
    ]
    assert list(golden.row_texts({"report": "Clear.", "unread": 1}, "auto")) == [golden.Text("Clear.", "auto", True)]


def test_the_words_of_edited_lines_choose_texts(golden: ModuleType) -> None:
    lines = ["  - dense (left|right|) base  # a comment on effusion", "colour: [white, a fluid level]", "", "# nothing"]
    terms = golden.edited_terms(lines)
    assert frozenset({"dens", "base"}) in terms
    assert frozenset({"flui", "leve"}) in terms
    assert golden.holds_words("Both bases are densely opaque.", terms)
    assert golden.holds_words("Fluid-filled levels.", terms)
    assert not golden.holds_words("A left effusion at the base.", terms)
    assert golden.holds_words("Oedema.", golden.edited_terms(["- edema"]))
    assert not golden.holds_words("Edema.", golden.edited_terms(["", "  #"]))


def test_a_file_has_the_hash_that_git_gives_it(golden: ModuleType) -> None:
    content = (golden.CHECKOUT / "setup.cfg").read_bytes()
    assert golden.blob_of(content) == golden.git("hash-object", "setup.cfg").strip()


def test_kept_readings_are_read_once(golden: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(golden, "CACHE", tmp_path / "golden")
    sums = iter(["one", "one", "other"])
    monkeypatch.setattr(golden, "checksum", lambda revision: next(sums))
    texts = [golden.Text("Left effusion.", "auto"), golden.Text("Clear lungs.", "auto")]
    first = golden.kept_readings(texts[:1])
    monkeypatch.setattr(golden, "readings", lambda missing: {text.key: {"findings": []} for text in missing})
    assert golden.kept_readings(texts) == {**first, texts[1].key: {"findings": []}}
    assert golden.kept_readings(texts[:1]) == {texts[0].key: {"findings": []}}  # by other code
