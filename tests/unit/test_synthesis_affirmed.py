"""Pairs as the bundled CREPE reads them, and texts that another hand has rewritten."""

from __future__ import annotations

from random import Random

import pytest

from rrgmetrics import InputError, cli
from rrgmetrics.comparing import compare
from rrgmetrics.reading import read
from rrgmetrics.synthesis.edits.hands import HANDS, in_another_hand
from rrgmetrics.synthesis.labels import ReaderLabels
from rrgmetrics.synthesis.pairs import CANDIDATE, Draft, read_rows
from rrgmetrics.synthesis.shards import only_affirmed
from rrgmetrics.synthesis.sources import load_collection
from rrgmetrics.synthesis.synthesize import provenance, synthesize

TEXT = "There is a moderate right pleural effusion with adjacent atelectasis. No pneumothorax. Heart enlarged."


def shortened(reference: str, candidate: str):
    draft = Draft(reference, candidate, "1", "random", 0)
    (label,) = ReaderLabels(penalties=False).label([draft])
    return only_affirmed(draft, label)


def test_a_pair_holds_what_it_affirms_and_the_errors_that_stand_there():
    draft, label = shortened("No effusion. Large heart.", "Clear lungs. Small left effusion. Large heart. No mass.")
    assert draft.reference.split() == ["Large", "heart."]
    assert draft.candidate.index("Small") == 13  # characters keep their places
    assert [n + m for n, m in zip(label.significant, label.insignificant, strict=True)] == [1, 0, 0, 0, 0, 0]
    (piece,) = (piece for piece in label.evidence if piece.text == CANDIDATE)
    assert draft.candidate[piece.start : piece.end] == "Small left effusion"


def test_texts_that_affirm_the_same_have_no_label():
    assert shortened("Clear lungs.", "No effusion.")[1] is None
    assert shortened("Large heart. No mass.", "Large heart.")[1] is None


def test_penalties_are_no_part_of_the_labels():
    contradictory = Draft("Small left effusion.", "Small left effusion. No effusion.", "1", "random", 0)
    both = [sum(map(sum, ReaderLabels(penalties=p).label([contradictory])[0][:2])) for p in (True, False)]
    assert both == [1, 0]
    assert ReaderLabels().version != ReaderLabels(penalties=False).version


def test_another_hand_writes_the_same_findings():
    texts = {in_another_hand(TEXT, Random(seed)) for seed in range(60)}
    assert len(texts) > 8
    same = [text for text in texts if not compare(read(TEXT), read(text)).errors]
    assert len(same) > len(texts) / 2  # a hedge is an error, a word mistyped may be
    assert all(isinstance(edit(text, Random(0)), str) for _, edit in HANDS.values() for text in ("", TEXT))


def test_the_command_makes_them_again(tmp_path, capsys):
    arguments = ["synthesize", "generator:20", "--pairs", "30", "--ways", "composed", "permuted", "--no-progress"]
    for name in ("one", "two"):
        output = ["--output", str(tmp_path / f"{name}.parquet")]
        assert cli.main([*arguments, *output, "--affirmed", "--hands", "0.5"]) == 0
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    facts = provenance(tmp_path / "one.parquet")
    assert (facts["affirmed"], facts["hands"]) == (True, 0.5)
    rows = list(read_rows(tmp_path / "one.parquet"))
    assert all(row.reference.split() != row.candidate.split() for row in rows)
    assert not any("No pneumothorax" in row.candidate for row in rows)
    with pytest.raises(InputError, match="in another writing style is 2; it must be between 0 and 1"):
        synthesize(load_collection("generator:3"), tmp_path / "no.parquet", n_pairs=30, hands=2)
