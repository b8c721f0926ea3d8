"""Reports of chest CT, read with their pack: synonyms, sentences, and the 18 conditions of RadBERT-CT (chest_ct/)."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmark import benchmark
from synonyms import check_synonyms

from rrgmetrics.comparing import explain
from rrgmetrics.labels.ct import ct_conditions
from rrgmetrics.reading import Reader
from tests.unit.reading.test_sentences import check

READER = Reader("chest_ct")
HERE = Path(__file__).parent / "chest_ct"


def rows(*files: Path) -> list[tuple[str, list[str]]]:
    """The rows of tables, each behind the name of its table."""
    return [
        (file.stem, line.split("\t"))
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]


@pytest.mark.parametrize(
    ("name", "wordings", "neighbours"),
    [pytest.param(*row, id=f"{table}: {row[0]}") for table, row in rows(*sorted((HERE / "synonyms").glob("*.tsv")))],
)
def test_synonyms_of_ct(name: str, wordings: str, neighbours: str) -> None:
    check_synonyms(name, wordings, neighbours, "chest_ct")


@pytest.mark.parametrize(
    ("phenomenon", "sentence", "expected"), [row for _, row in rows(HERE / "sentences.tsv")], ids=lambda cell: cell[:50]
)
def test_sentences_of_ct(phenomenon: str, sentence: str, expected: str) -> None:
    reading, observations = READER.read(sentence), dict[str, int]()
    for part in expected.split(";"):
        check(part.strip(), reading, observations, phenomenon)


@pytest.mark.parametrize(("text", "labels"), [row for _, row in rows(HERE / "labels.tsv")], ids=lambda cell: cell[:50])
def test_conditions_of_ct(text: str, labels: str) -> None:
    assert sorted(ct_conditions(READER.read(text))) == sorted(set(labels.split("; ")) - {"none"})


@pytest.mark.parametrize(
    ("kind", "text", "labels"), [row for _, row in rows(HERE / "label_kinds.tsv")], ids=lambda cell: cell[:50]
)
def test_kinds_of_ct_conditions(kind: str, text: str, labels: str) -> None:
    found = ct_conditions(READER.read(text))
    assert [label for label in labels.split("; ") if (label[1:] in found) != (label[0] == "+")] == [], kind


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"), [row for _, row in rows(HERE / "pairs.tsv")], ids=lambda cell: cell[:50]
)
def test_pairs_of_ct(reference: str, candidate: str, expected: str) -> None:
    counts = explain(reference=reference, candidate=candidate, modality="chest_ct").counts
    assert ("".join(f"{kind.letter}{n}" for kind, n in counts.items() if n) or "none") == expected


def test_reports_of_another_writer() -> None:
    """What benchmarks/chest_ct.py measures does not fall."""
    script = benchmark("chest_ct")
    tallies = script.label_tallies([])
    assert script.f1(tallies["micro"]) >= 0.98
    assert min(map(script.f1, tallies.values())) >= 0.85
    assert script.exact_pairs() >= 26
    assert sum(not script.faults(row) for row in script.rows("sentences")) >= 130
