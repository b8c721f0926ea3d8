"""Distractors change no finding, and a run with them keeps its splits."""

from __future__ import annotations

from random import Random

import pytest

from rrgmetrics import InputError
from rrgmetrics.comparing import compare
from rrgmetrics.reading import read
from rrgmetrics.synthesis.edits.distractors import add_distractors
from rrgmetrics.synthesis.pairs import split_of
from rrgmetrics.synthesis.sources import load_collection
from rrgmetrics.synthesis.synthesize import synthesize

TEXT = "Moderate right pleural effusion with adjacent atelectasis. No pneumothorax. The heart is mildly enlarged."


def test_words_come_in_and_findings_stay():
    rng = Random(3)
    texts = [add_distractors(TEXT, rng) for _ in range(50)]
    assert sum(text != TEXT for text in texts) > 45
    assert len(set(texts)) > 45
    assert not any(compare(read(TEXT), read(text)).errors for text in texts)
    assert add_distractors("", Random(0)) != ""  # a sentence of talk is no finding


def test_a_share_of_the_texts_gets_them(tmp_path):
    from pyarrow import parquet

    def made(name: str, share: float) -> list[dict]:
        collection = load_collection("generator:40", seed=1)
        options = {"n_pairs": 60, "ways": {"random": 1.0}, "held_out": (0.3, 0.0), "progress": False}
        return parquet.read_table(
            synthesize(collection, tmp_path / f"{name}.parquet", distractors=share, **options).path
        ).to_pylist()

    plain, all_of_them = made("plain", 0.0), made("all", 1.0)
    known = {row["reference"] for row in plain}
    assert sum(row["reference"] in known for row in all_of_them) < 10
    by_study = {row["study_id"]: row["split"] for row in plain}
    assert {row["study_id"]: row["split"] for row in all_of_them} == by_study
    assert {split_of(row["reference"], (0.3, 0.0)) for row in plain} == {"train", "validation"}
    with pytest.raises(InputError, match="must be between 0 and 1"):
        synthesize(load_collection("generator:3"), tmp_path / "no.parquet", n_pairs=30, distractors=2.0)
