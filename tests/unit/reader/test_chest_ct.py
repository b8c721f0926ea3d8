"""Reports of chest CT, read with their pack: synonyms, sentences, and the 18 conditions of RadBERT-CT (chest_ct/)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rrgmetrics.reader import read
from rrgmetrics.reader.ct_conditions import ct_conditions
from rrgmetrics.reader.lexicon import pack_used
from tests.unit.reader.test_sentences import check
from tests.unit.reader.test_synonyms import test_synonyms as synonyms

HERE = Path(__file__).parent / "chest_ct"


def rows(*files: Path) -> list[tuple[str, list[str]]]:
    """The rows of tables, each behind the name of its table."""
    return [
        (file.stem, line.split("\t"))
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]


@pytest.fixture(autouse=True)
def chest_ct() -> Iterator[None]:
    with pack_used("chest_ct"):
        yield


@pytest.mark.parametrize(
    ("name", "wordings", "neighbours"),
    [pytest.param(*row, id=f"{table}: {row[0]}") for table, row in rows(*sorted((HERE / "synonyms").glob("*.tsv")))],
)
def test_synonyms_of_ct(name: str, wordings: str, neighbours: str) -> None:
    synonyms(name, wordings, neighbours)


@pytest.mark.parametrize(
    ("phenomenon", "sentence", "expected"), [row for _, row in rows(HERE / "sentences.tsv")], ids=lambda cell: cell[:50]
)
def test_sentences_of_ct(phenomenon: str, sentence: str, expected: str) -> None:
    reading, observations = read(sentence), dict[str, int]()
    for part in expected.split(";"):
        check(part.strip(), reading, observations, phenomenon)


@pytest.mark.parametrize(("text", "labels"), [row for _, row in rows(HERE / "labels.tsv")], ids=lambda cell: cell[:50])
def test_conditions_of_ct(text: str, labels: str) -> None:
    assert sorted(ct_conditions(read(text))) == sorted(set(labels.split("; ")) - {"none"})
