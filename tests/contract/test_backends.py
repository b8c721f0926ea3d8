"""Every backend sees each distinct text once, whichever metrics share it, and lets go of it after its last use."""

from __future__ import annotations

import weakref
from collections import Counter

import pytest

import rrgmetrics
from float32 import in_float32, rounding
from rrgmetrics import SPECS
from rrgmetrics.backends import reader
from rrgmetrics.scoring import runner

BLOCK = 7
NAMES = {
    "all": [name for name in SPECS if name != "mammo_green"],  # which reads no chest X-ray
    "one encoder": ["bertscore", "bertscore?idf=call"],
    "one encoder, two normalisers": ["bertscore", "bertscore?text=space", "bertscore?text=lower"],
    "one n-gram counter": ["bleu", "cider"],
    "two layers": ["bertscore@crepe-bundled@3?layer=3", "bertscore@crepe-bundled@3?layer=2"],
}


@pytest.fixture
def seen(monkeypatch) -> dict[str, Counter[str]]:
    """Texts annotated, by backend; blocks are small."""
    counts: dict[str, Counter[str]] = {}
    of_texts = runner.Annotations._of_texts

    def count(self, backend, texts):
        counts.setdefault(backend.key, Counter()).update(texts)
        return of_texts(self, backend, texts)

    monkeypatch.setattr(runner.Annotations, "_of_texts", count)
    monkeypatch.setattr(runner, "BLOCK", BLOCK)
    return counts


def repeating(reports):
    """Five blocks of pairs: within and across blocks, references, candidates and whole pairs repeat."""
    references = [*reports.references, *reports.references, *reports.altered[:7]]
    candidates = [*reports.altered, *reversed(reports.altered), *reports.references[:7]]
    return references, candidates


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_each_distinct_text_once(names, seen, reports):
    references, candidates = repeating(reports)
    rrgmetrics.score(names, predictions=candidates, references=references, progress=False)
    texts = {*references, *candidates}
    if "bertscore?text=lower" in names:
        texts |= {text.lower() for text in texts}
    assert seen
    for counts in seen.values():
        assert counts == dict.fromkeys(texts, 1)


def test_metrics_share_a_backend_by_its_key(seen, reports):
    references, candidates = repeating(reports)
    rrgmetrics.score(
        NAMES["one encoder"] + NAMES["two layers"][1:], predictions=candidates, references=references, progress=False
    )
    assert len(seen) == 2  # one encoder at two layers


READING = ["finding_errors", "green", "crepe", "radgraph_f1", "chexbert_f1", "radcliq", "ratescore", "temporal_f1"]


@pytest.mark.parametrize("names", [READING[:2], READING], ids=["two metrics", "all that read findings"])
def test_the_reader_reads_each_distinct_text_once(names, monkeypatch, reports):
    """Whatever is made of its readings, and for the check of scope too."""
    read = Counter()
    annotate = reader.ReaderBackend.annotate
    monkeypatch.setattr(
        reader.ReaderBackend, "annotate", lambda self, texts: read.update(texts) or annotate(self, texts)
    )
    monkeypatch.setattr(runner, "BLOCK", BLOCK)
    references, candidates = repeating(reports)
    rrgmetrics.score(names, predictions=candidates, references=references, progress=False)
    assert {*references, *candidates} <= read.keys()
    assert set(read.values()) == {1}  # RadCliQ's standard wording of a report is a text of its own


def test_several_systems_share_the_references(seen, reports):
    systems = {"a": reports.altered, "b": reports.references, "c": reports.altered[::-1]}
    ready = rrgmetrics.prepare(["bleu", "bertscore"])
    together = ready.score_systems(systems=systems, references=reports.references, progress=False)
    for counts in seen.values():
        assert counts == dict.fromkeys([*reports.references, *reports.altered], 1)
    for name, candidates in systems.items():
        alone = rrgmetrics.score(
            ["bleu", "bertscore"], predictions=candidates, references=reports.references, progress=False
        )
        for metric, result in alone.items():
            assert together[name][metric].scores == in_float32(result.scores)


def test_small_blocks_change_no_score(spec, seen, altered, score, reports):
    result = score(spec.name, reports.altered, reports.references)
    for key, values in result.per_pair.items():
        expected = altered(spec.name).per_pair[key]
        assert values == pytest.approx(expected, rel=rounding(spec), abs=rounding(spec), nan_ok=True)


def test_annotations_are_dropped_after_their_last_use(monkeypatch):
    """Some blocks' worth is alive at any time, not the whole run's, with several normalisers too."""
    from rrgmetrics.scorers import bleu

    class Annotation:
        length, counts = 0, Counter()

        def __init__(self, text):
            alive.add(self)
            most.append(len(alive))

    alive, most = weakref.WeakSet(), []
    monkeypatch.setattr(runner, "BLOCK", BLOCK)
    monkeypatch.setattr(bleu.tokens, "whitespace_ngrams", lambda: bleu.tokens.TextFunction("counted", Annotation))
    texts = [f"report {i}" for i in range(40 * BLOCK)]
    candidates = [f"candidate {i}" for i in range(40 * BLOCK)]
    rrgmetrics.score(["bleu", "bleu?text=lower"], predictions=candidates, references=texts, progress=False)
    assert len(most) == 80 * BLOCK
    assert max(most) <= 2 * BLOCK
