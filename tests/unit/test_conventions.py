"""Tables as papers and ReXrank print them, on labels that can be counted on paper; presets; R2Gen's cleaning."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import cli
from rrgmetrics.backends.chexbert import ConditionReading
from rrgmetrics.labels.conditions import Status, load_conditions
from rrgmetrics.reports import Pair
from rrgmetrics.reports.text import get_normaliser
from rrgmetrics.scorers import aggregate
from rrgmetrics.scoring.prepared import build_scorer
from rrgmetrics.specs import PRESETS
from rrgmetrics.specs.conventions import CONVENTIONS
from rrgmetrics.specs.names import parse_name

P, U = Status.POSITIVE, Status.UNCERTAIN
PAIRS = [  # reference, candidate
    ({"Cardiomegaly": P, "Edema": U}, {"Cardiomegaly": P}),
    ({"No Finding": P}, {"No Finding": P}),
    ({}, {}),
    ({"Fracture": P}, {"Pleural Effusion": U}),
]


def reading(statuses):
    row = [statuses.get(name, Status.BLANK) for name in load_conditions().names]
    return ConditionReading(tuple(row), np.zeros(3, dtype=np.float32), False)


def scores(uncertain):
    scorer = build_scorer(parse_name(f"chexbert_f1?uncertain={uncertain}"))
    pairs = [Pair(f"r{i}", f"c{i}") for i in range(len(PAIRS))]
    sides = {f"{side}{i}": reading(pair[j]) for i, pair in enumerate(PAIRS) for j, side in enumerate("rc")}
    return aggregate.reduce(scorer.reduction, scorer.pair_stats(pairs, sides))


BY_HAND = {
    # Of 14 classes two are found whenever they are there, fracture is missed: TP 2, candidates 2, references 3.
    "r2gen-ce": {"precision": 2 / 14, "recall": 2 / 14, "F1": 2 / 14, "F1 micro": 4 / 5},
    # The four studies: 1, 1, 0 (undefined), 0.
    "cvt2distilgpt2-ce": {
        "precision, example-based": 0.5,
        "recall, example-based": 0.5,
        "F1, example-based": 0.5,
        "F1, micro": 4 / 5,
        "F1, macro": 2 / 14,
    },
    # Of the five classes, uncertain as positive: references have cardiomegaly and edema, candidates cardiomegaly and
    # effusion.
    "rgrg-ce": {
        "precision, micro-5": 0.5,
        "recall, micro-5": 0.5,
        "F1, micro-5": 0.5,
        "precision, example-based": 0.5,
        "recall, example-based": 0.5,
        "F1, example-based": 0.5,
    },
    # Of the five classes, uncertain as negative, cardiomegaly alone is there, and found.
    "maira-ce": {"Macro-F1-14": 2 / 14, "Micro-F1-14": 4 / 5, "Macro-F1-5": 1 / 5, "Micro-F1-5": 1.0},
}


@pytest.mark.parametrize("preset", BY_HAND)
def test_numbers_by_hand(preset):
    by_uncertain = {uncertain: scores(uncertain) for uncertain in ("positive", "negative")}
    ours = {
        words: by_uncertain[parse_name(number.metric).options["uncertain"]][number.key]
        for words, number in CONVENTIONS[preset].numbers.items()
    }
    assert ours == pytest.approx(BY_HAND[preset])


def test_without_no_finding():
    """Cardiomegaly is found, fracture is missed; effusion is uncertain."""
    without = scores("negative")
    assert without["chexbert_f1_micro_13"] == pytest.approx(2 / 3)
    assert without["chexbert_f1_macro_13"] == pytest.approx(1 / 13)


def test_example_based_with_uncertain_as_positive():
    """F1 2/3, 1, 0, 0; precision 1, 1, 0, 0; recall 1/2, 1, 0, 0."""
    positive = scores("positive")
    assert positive["chexbert_f1_example"] == pytest.approx(5 / 12)
    assert positive["chexbert_f1_example_precision"] == pytest.approx(1 / 2)
    assert positive["chexbert_f1_example_recall"] == pytest.approx(3 / 8)


@pytest.mark.parametrize("preset", CONVENTIONS)
def test_presets_name_keys_that_are_there_and_a_source(preset):
    convention = CONVENTIONS[preset]
    assert PRESETS[preset] == convention.metrics
    assert convention.source
    for number in convention.numbers.values():
        assert number.key in {key.name for key in parse_name(number.metric).spec.keys}


@pytest.mark.parametrize(
    ("name", "report", "cleaned"),
    [
        ("r2gen_iu", "The heart is normal.. No effusion.", "the heart is normal . no effusion ."),
        ("r2gen_iu", "1. No effusion. 2. Clear lungs.", "no effusion . clear lungs ."),
        ("r2gen_iu", "XXXX-year-old; 'old' scar/fibrosis, 5 mm", "xxxx-year-old old scarfibrosis 5 mm ."),
        ("r2gen_iu", "Grade 31. Stable.", "grade 3stable ."),  # as theirs: "1. " goes wherever it stands
        ("r2gen_iu", "", " ."),
        ("r2gen", "FINDINGS:\n  Heart is ___ enlarged.\n\n2. No edema.", "findings heart is  enlarged . no edema ."),
    ],
)
def test_r2gen_cleans_a_report(name, report, cleaned):
    assert get_normaliser(name).apply(report) == cleaned


def test_a_preset_prints_the_paper_s_own_words(tmp_path, capsys, published_checkpoints):
    path = tmp_path / "pairs.csv"
    path.write_text("reference,candidate\nMild cardiomegaly.,Mild cardiomegaly.\nSmall effusion.,Clear lungs.\n")
    assert (
        cli.main(["score", str(path), "--metrics", "rgrg-ce", "--no-progress", "--no-trivial", "--trials", "10"]) == 0
    )
    printed = capsys.readouterr().out
    assert "As RGRG prints it" in printed
    assert "precision, example-based" in printed


REFERENCES = ["Small left effusion. No pneumothorax.", "Mild cardiomegaly. Lungs are clear."]
CANDIDATES = ["Small right effusion. No pneumothorax.", "Lungs are clear."]


def rexrank_bleu(reference, candidate):
    """fast-bleu's BLEU-2 on the words of CXR-Report-Metric's `prep_reports`."""
    words = [[word for word in text.lower().replace(".", " .").split(" ") if word] for text in (reference, candidate)]
    logs = []
    for n in (1, 2):
        grams = [Counter(zip(*(side[i:] for i in range(n)), strict=False)) for side in words]
        logs.append(math.log((grams[0] & grams[1]).total() / max(grams[1].total(), 1)))
    shortness = min(1.0, math.exp(1 - len(words[0]) / len(words[1])))
    return shortness * math.exp(sum(logs) / 2)


def rexrank_radcliq(radgraph, bertscore, semb, bleu):
    """Version 1 as CXR-Report-Metric's pickle has it: mean, scale and coefficient of each feature, and the bias."""
    rows = [
        (radgraph, 0.5379231241355762, 0.3028258411486429, -0.37708368261038905),
        (bertscore, 0.6175725628125001, 0.22430938459304575, -0.37030009974480316),
        (semb, 0.7647942121140658, 0.2539439110169773, -0.25261621789593225),
        (bleu, 0.44738335396242174, 0.2989271671041838, 4.315048405024756e-12),
    ]
    return sum((x - mean) / scale * weight for x, mean, scale, weight in rows) + 2.466552561323256e-10


def test_rexrank_computes_what_rexrank_computes(published_checkpoints):
    numbers = CONVENTIONS["rexrank"].numbers
    names = [number.metric for number in numbers.values() if not number.metric.startswith("GREEN")]
    parts = ["bertscore@radcliq", "semb_score@paper", "radgraph_f1@radgraph?lowercase=no"]
    results = rrgmetrics.score([*names, *parts], predictions=CANDIDATES, references=REFERENCES, progress=False)
    ours = {
        words: results[number.metric].scores[number.key]
        for words, number in numbers.items()
        if number.metric in results
    }
    assert list(ours) == ["1/RadCliQ-v1", "BLEU", "BertScore", "SembScore", "RadGraph", "RaTEScore"]

    bleu = [rexrank_bleu(*pair) for pair in zip(REFERENCES, CANDIDATES, strict=True)]
    bertscore, semb, graph = (results[name].per_pair for name in parts)
    radgraph = graph["radgraph_f1_radcliq"]
    assert ours["BLEU"] == pytest.approx(np.mean(bleu))
    assert ours["BertScore"] == pytest.approx(np.mean(bertscore["bertscore"]))
    assert ours["SembScore"] == pytest.approx(np.mean(semb["semb_score"]))
    assert ours["RadGraph"] == pytest.approx(np.mean(radgraph))
    features = zip(radgraph, bertscore["bertscore"], semb["semb_score"], bleu, strict=True)
    assert ours["1/RadCliQ-v1"] == pytest.approx(1 / np.mean([rexrank_radcliq(*row) for row in features]))
    assert "idf:no" in results["radcliq@paper"].signature
