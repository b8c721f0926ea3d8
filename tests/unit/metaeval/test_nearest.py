"""Indexes of a pool find the reports that scoring all pairs finds."""

import logging

import numpy as np
import pytest

from rrgmetrics.metaeval import nearest as module
from rrgmetrics.metaeval.nearest import Question, nearest
from rrgmetrics.metaeval.pool_index import Postings, index_of
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.synthesis.generator import generate_pairs

INDEXED = [
    "bleu",
    "bleu?tokenizer=13a",
    "bleu?tokenizer=13a&smoothing=none",
    "bleu?text=impression",
    "radgraph_f1",
    "radgraph_f1?lowercase=no",
    "radgraph_f1?modality=auto",
    "chexbert_f1",
    "chexbert_f1?uncertain=ignored",
    "chexbert_f1?uncertain=negative",
    "semb_score",
    "semb_score?vectors=conditions",
]
REPEATS = "No pneumothorax. No pneumothorax. No pleural effusion. No pleural effusion."
ODD = [
    "no no no no pneumothorax pneumothorax .",
    REPEATS,
    "Pleural effusion. No pleural effusion.",  # affirmed and denied
    "Xyzzy plugh frotz, qwerty. Zorkmid blorb.",  # nothing to be read
    "Colourless green ideas. Left pleural effusion. Frobnicate the widget!",
    "IMPRESSION: Left pleural effusion.",
    "left Pleural EFFUSION",
    "BI-RADS 4. Spiculated mass in the left breast.",  # another kind of report
    "CT of the chest. Nodule of 5 mm.",
    ".",
]


def pool_of(n, seed=0):
    made = [each for pair in generate_pairs(n // 2, seed=seed) for each in (pair.reference, pair.candidate)]
    return list(dict.fromkeys([*ODD, *filter(str.strip, made)]))


def questions_of(pool, n, *, identical=False, packs=False):
    references = [pair.reference for pair in generate_pairs(n, seed=9)]
    references += ["Small left pleural effusion. No pneumothorax.", "Normal chest.", pool[20], pool[30]]
    references[0] = "CT chest without contrast. Nodule of 6 mm in the right upper lobe." if packs else references[0]
    left_out = [
        frozenset() if identical else frozenset(r for r, t in enumerate(pool) if t == own) for own in references
    ]
    return [Question(str(n), Pair(own, ""), out) for n, (own, out) in enumerate(zip(references, left_out, strict=True))]


@pytest.fixture(scope="module")
def pool():
    return pool_of(100)


@pytest.mark.parametrize(
    ("name", "identical"),
    [(name, False) for name in INDEXED] + [(name, True) for name in INDEXED if "?" not in name],
)
def test_an_index_finds_what_scoring_all_pairs_finds(name, identical, pool):
    pool = pool[:60]
    questions = questions_of(pool, 5, identical=identical, packs="auto" in name)
    counts = np.ones(len(pool))
    counts[7] = 3
    with prepare([name]) as ready:
        assert index_of(ready.jobs[name].scorer, ready.names[name].spec.headline.name) is not None
        read = module._as_read(ready, name, questions)
        assert len({each.pack for each in read}) == 1 + ("auto" in name)
        fast, slow = (nearest(ready, questions, pool, counts, indexed=i, progress=False) for i in (True, False))
    assert fast == slow
    if identical:
        assert fast[name][-1] == 30 or name == "chexbert_f1"


@pytest.mark.parametrize("name", [*INDEXED, "bleu#2", "bleu#1", "radgraph_f1#radcliq", "radgraph_f1#complete"])
def test_bounds_are_the_scores_or_above_them(name, pool):
    questions = questions_of(pool, 3)[:-1]
    questions.append(Question("repeats", Pair(REPEATS + " No edema.", ""), frozenset()))
    with prepare([name]) as ready:
        key = ready.names[name].spec.headline.name
        read = [(name, each, own) for each in questions for own in module._as_read(ready, name, [each])]
        indexes = module._indexes(ready, {name: {pack for *_, (_, pack) in read}}, pool, progress=False)
        pairs = [question.pair._replace(candidate=text) for _, question, _ in read for text in pool]
        every = ready.score_pairs(pairs, progress=False)[name].per_pair[key].reshape(len(read), len(pool))
        for (*_, (reference, pack)), scores in zip(read, every, strict=True):
            index = indexes[name, pack]
            (annotation,) = ready.jobs[name].backend.annotate([reference])
            bounds = index.bounds(annotation)
            assert (bounds + index.slack >= scores).all()
            same = np.isclose(bounds, scores, rtol=0, atol=max(1e-12, index.slack))
            assert same.all() if name.startswith("bleu") else same.mean() > 0.95


def test_more_reports_are_scored_while_a_bound_is_above_the_best():
    """Sentences that nobody can read are a label too many, which the bound of CheXbert F1 does not know."""
    pool = [f"Left pleural effusion. Xyzzy plugh frotz {'blorb ' * n}." for n in range(1, 60)]
    pool += ["Left pleural effusion is seen."]
    question = Question("1", Pair("Left pleural effusion.", ""), frozenset())
    for indexed in (True, False):
        with prepare(["chexbert_f1"]) as ready:
            assert nearest(ready, [question], pool, np.ones(60), indexed=indexed, progress=False) == {
                "chexbert_f1": [59]
            }


def test_a_report_that_affirms_and_denies_a_condition_has_it_wrong():
    pool = ["Pleural effusion. No pleural effusion.", "There is a pleural effusion."]
    question = Question("1", Pair("Pleural effusion.", ""), frozenset())
    with prepare(["chexbert_f1"]) as ready:
        job = ready.jobs["chexbert_f1"]
        index = index_of(job.scorer, "chexbert_f1")
        index.add(job.backend.annotate(pool))
        assert index.bounds(job.backend.annotate(["Pleural effusion."])[0]).tolist() == [0, 1]
        assert nearest(ready, [question], pool, np.ones(2), progress=False) == {"chexbert_f1": [1]}


def test_few_pairs_are_scored(pool, monkeypatch):
    names = ["bleu", "radgraph_f1", "chexbert_f1"]
    scored = []
    goodness = module._goodness
    monkeypatch.setattr(module, "_goodness", lambda r, pairs, **k: scored.append(len(pairs)) or goodness(r, pairs, **k))
    questions = questions_of(pool, 8)
    with prepare(names) as ready:
        nearest(ready, questions, pool, np.ones(len(pool)), progress=False)
    assert sum(scored) < 0.15 * len(names) * len(questions) * len(pool)


def test_several_metrics_read_each_report_of_the_pool_once(monkeypatch):
    from rrgmetrics.backends.reader import ReaderBackend

    pool = [f"Nodule of {n} mm in the left upper lobe." for n in range(50)]
    read = []
    annotate = ReaderBackend.annotate
    monkeypatch.setattr(ReaderBackend, "annotate", lambda self, texts: read.extend(texts) or annotate(self, texts))
    with prepare(["radgraph_f1", "chexbert_f1"]) as ready:
        nearest(ready, [Question("1", Pair("Small effusion.", ""), frozenset())], pool, np.ones(50), progress=False)
    assert len([text for text in read if text == pool[-1]]) == 1


def test_where_nothing_scores_the_most_frequent_report_is_taken():
    pool = ["Zebra.", "Xylophone.", "Yak.", "Umbrella."]
    questions = [Question("1", Pair("Small effusion.", ""), out) for out in (frozenset(), frozenset({2}))]
    for indexed in (True, False):
        with prepare(["bleu", "rouge"]) as ready:
            found = nearest(ready, questions, pool, np.array([1, 2, 5, 2]), indexed=indexed, progress=False)
        assert found == {"bleu": [2, 1], "rouge": [2, 1]}


def test_fewer_is_better_and_zero_is_something():
    pool = ["Large right effusion.", "Small left effusion.", "Clear lungs."]
    with prepare(["finding_errors"]) as ready:
        question = Question("1", Pair("Small left effusion.", ""), frozenset())
        assert nearest(ready, [question], pool, np.array([9, 1, 9]), progress=False) == {"finding_errors": [1]}


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("name", ["radgraph_f1", "chexbert_f1", "green"])
def test_a_reference_that_is_not_scored_finds_nothing(name, indexed):
    texts = (" ", "Nodule.", "MRI of the knee. The meniscus is torn.", "Effusion.", "Derrame pleural, sin neumotórax.")
    questions = [Question(str(number), Pair(text, ""), frozenset()) for number, text in enumerate(texts)]
    with prepare([name]) as ready:
        found = nearest(ready, questions, ["Nodule.", "Effusion."], np.ones(2), indexed=indexed, progress=False)
    assert found == {name: [-1, 0, -1, 1, -1]}


def test_long_work_is_announced(monkeypatch, caplog):
    monkeypatch.setattr(module, "PAIRS", 3)
    monkeypatch.setattr(module, "LONG", 0.0)
    questions = [Question("1", Pair("Small effusion.", ""), frozenset({0}))]
    with caplog.at_level(logging.WARNING), prepare(["rouge"]) as ready:
        found = nearest(ready, questions * 3, ["Small effusion.", "Effusion.", "Mass."], np.ones(3), progress=False)
    assert found == {"rouge": [1, 1, 1]}
    assert "rouge has no index; scoring 9 pairs takes about 0:0" in caplog.text


def test_postings_count_elements_in_common():
    postings = Postings()
    for elements in ({"a", "b"}, set(), {"b", "c", "d"}):
        postings.add(elements)
    assert postings.sizes.tolist() == [2, 0, 3]
    assert postings.shared({"b", "d", "z"}).tolist() == [1, 0, 2]
    assert postings.shared({"z"}).tolist() == [0, 0, 0]
    assert postings.shared(set()).tolist() == [0, 0, 0]
    empty = Postings()
    empty.add(set())
    assert empty.shared({"a"}).tolist() == [0]
