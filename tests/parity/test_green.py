"""GREEN against the authors' functions (Stanford-AIMI/GREEN d72c195); texts are invented, tests/data/judges.json."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from rrgmetrics.judges.base import engine_for
from rrgmetrics.judges.protocols.counts import CATEGORIES
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.green import CHECKPOINTS, Green, GreenProtocol, parsers, question
from rrgmetrics.scoring.error_summary import search_clusters, summarise, typical

AUTHORS = json.loads((Path(__file__).parents[1] / "data" / "judges.json").read_text())["green"]
REPLIES = {case["name"]: case["analysis"] for case in AUTHORS["parse"]}
PAIR = Pair("Clear lungs.", "Clear lungs.")


def test_labels():
    assert list(parsers.LABELS) == AUTHORS["sub_categories"]
    assert list(parsers.TITLES) == AUTHORS["categories"]


@pytest.mark.parametrize("case", AUTHORS["parse"], ids=lambda case: case["name"])
def test_strict_parser(case):
    verdict = GreenProtocol("strict").verdict(PAIR, [case["analysis"]])
    assert list(verdict.significant.counts) == case["significant"]
    assert list(verdict.insignificant.counts) == case["insignificant"]
    assert verdict.n_matched == case["matched_findings"]
    assert verdict.score == case["green"]
    assert [*verdict.significant.counts, verdict.n_matched] == case["error_count_row"]
    assert verdict.significant.total == case["ec_sig"]
    assert verdict.significant.total + verdict.insignificant.total == case["ec_total"]


@pytest.mark.parametrize("case", AUTHORS["clean_responses"], ids=lambda case: case["name"])
def test_clean_responses(case):
    assert parsers.strict_clean(case["input"]) == case["output"]


@pytest.mark.parametrize("case", AUTHORS["prompt"], ids=range(len(AUTHORS["prompt"])))
def test_prompt(case):
    reference = case["reference"]
    if reference.startswith("' '.join"):
        reference = " ".join(f"w{i}" for i in range(400))
    text = question(reference, case["candidate"])
    assert len(text) == case["length"]
    assert hashlib.sha256(text.encode()).hexdigest() == case["sha256"]


def test_chat_template():
    (prompt,) = GreenProtocol().prompts(Pair("REF", "CAND"))
    rendered = AUTHORS["chat_template"]["rendered_for_inference"]
    assert prompt.raw == rendered.replace("PROMPT", prompt.messages[0].content)


@pytest.mark.parametrize(
    ("config", "repository", "end"),
    [
        ("paper", "StanfordAIMI/GREEN-radllama2-7b", "</s>"),
        ("small", "StanfordAIMI/GREEN-RadPhi2", "<|endoftext|>"),
        ("multimodal", "StanfordAIMI/GREEN-MM-RadLLaMA-7b", "</s>"),
        ("small_multimodal", "StanfordAIMI/GREEN-Gemma-2b-MM", "<eos>"),
        ("hf:copies/green-gemma-2b-mm", "StanfordAIMI/GREEN-Gemma-2b-MM", "<eos>"),
        ("another/model", "StanfordAIMI/GREEN-radllama2-7b", "</s>"),
        ("openai:GREEN-RadPhi2", "StanfordAIMI/GREEN-radllama2-7b", "</s>"),
    ],
)
def test_each_published_model_is_asked_with_the_end_of_its_own_tokenizer(config, repository, end):
    protocol = Green(config=config).protocol
    (prompt,) = protocol.prompts(Pair("REF {end}", "CAND"))
    assert protocol.paper == f"hf:{repository}"
    assert prompt.raw == f"<|user|>\n{prompt.messages[0].content}{end}\n<|assistant|>\n{end}\n<|assistant|>\n"
    assert "REF {end}" in prompt.raw
    named = engine_for(Green(config=config).engine_config, protocol.paper)
    asked_as_published = config in CHECKPOINTS or config.startswith("hf:")
    assert named.raw is asked_as_published
    if config in CHECKPOINTS:
        assert (named.kind, named.model) == ("hf", repository)


def test_words_of_the_errors():
    standard, matched, numbered = AUTHORS["parse_error_sentences"]
    words = parsers.strict_words(REPLIES["standard"], parsers.SIGNIFICANT)
    assert dict(zip(parsers.LABELS, map(list, words), strict=True)) == standard["output"]
    assert parsers.strict_matched_words(REPLIES["standard"]) == matched["output"]
    # The authors file these under "(1) ".. and forget their categories; here they stay in a to f.
    words = parsers.strict_words(REPLIES["numeric_markers"], parsers.SIGNIFICANT)
    assert list(map(list, words)) == [numbered["output"][f"({i}) "] for i in range(1, 7)]


def test_no_state_is_kept():
    green = GreenProtocol("strict")
    before = green.verdict(PAIR, [REPLIES["standard"]]).score
    parsers.strict_words(REPLIES["numeric_markers"], parsers.SIGNIFICANT)
    assert green.verdict(PAIR, [REPLIES["standard"]]).score == before == AUTHORS["instance_state_bug"]["before"]


def test_accuracy():
    case = AUTHORS["compute_accuracy"]
    explained = [GreenProtocol("strict").verdict(PAIR, [REPLIES[name]]).to_dict() for name in case["analyses"]]
    scores = [verdict["score"] for verdict in explained]
    summary = summarise("green", explained, scores, embed=lambda texts: np.ones((len(texts), 1)))
    assert [kind.accuracy for kind in summary.kinds] == list(case["accuracy"].values())
    assert [kind.category for kind in summary.kinds] == [category.value for category in CATEGORIES]
    assert summary.mean == pytest.approx((0.4 + 1 + 0 + 10 / 22) / 4)


@pytest.mark.parametrize("case", AUTHORS["kmeans"], ids=lambda case: case["name"])
def test_clusters(case):
    vectors = np.array(case["embeddings"])
    labels = search_clusters(vectors)
    authors = np.array(case["partition"])
    assert ((labels[:, None] == labels) == (authors[:, None] == authors)).all()  # up to the names of clusters
    assert labels.max() + 1 == case["best_k"]
    if case["name"] != "three_clusters_9":  # two largest clusters: the names of clusters decide
        assert typical([str(i) for i in range(len(vectors))], vectors)[0] == str(case["representative_index"])
