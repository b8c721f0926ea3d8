"""rouge-score, sacrebleu and bert-score themselves, on invented reports and on generated texts."""

from __future__ import annotations

import json
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rrgmetrics
from float32 import assert_equal_in_float32
from rrgmetrics.backends import encoder
from rrgmetrics.backends.bert import load_int8
from rrgmetrics.reports.missing import says_nothing

WORDS = st.sampled_from(
    "no small left right pleural effusion effusions Effusion. enlarged, heart 3.5 cm x-ray e.g. 50% (new) n't U.S. "
    "é ﬁnding ²³ -- ... \" ' & &amp; &quot; <skipped> \n \t \u00a0 \u2028".split(" ")
)
TEXTS = (st.lists(WORDS, max_size=25).map(" ".join) | st.text(max_size=40)).filter(
    lambda text: not says_nothing(text)  # "." is missing
)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6)
GENERATED = settings(max_examples=150, deadline=None)


def columns(pairs):
    return [reference for reference, _ in pairs], [candidate for _, candidate in pairs]


def check_rouge(references, candidates, stemmer):
    from rouge_score.rouge_scorer import RougeScorer

    name = f"rouge?stemmer={'yes' if stemmer else 'no'}"
    result = rrgmetrics.score(name, predictions=candidates, references=references, missing="empty", progress=False)[
        name
    ]
    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stemmer)
    for i, (reference, candidate) in enumerate(zip(references, candidates, strict=True)):
        for key, score in theirs.score(reference, candidate).items():
            assert result.per_pair[f"rouge_{key[5:].lower()}"][i] == pytest.approx(score.fmeasure, abs=1e-12)


def check_sacrebleu(references, candidates):
    from sacrebleu.metrics import BLEU

    name = "bleu?tokenizer=13a"
    result = rrgmetrics.score(name, predictions=candidates, references=references, missing="empty", progress=False)[
        name
    ]
    for order, key in enumerate(("bleu_1", "bleu_2", "bleu_3", "bleu"), start=1):
        corpus = BLEU(max_ngram_order=order).corpus_score(candidates, [references]).score
        assert 100 * result.scores[key] == pytest.approx(corpus, abs=1e-9)
        sentence = BLEU(max_ngram_order=order, effective_order=True)
        for i, (reference, candidate) in enumerate(zip(references, candidates, strict=True)):
            expected = sentence.sentence_score(candidate, [reference]).score
            assert 100 * result.per_pair[key][i] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("stemmer", [True, False])
def test_rouge_on_reports(reports, stemmer):
    check_rouge(reports.references, reports.altered, stemmer)


@GENERATED
@given(PAIRS, st.booleans())
def test_rouge_on_generated_texts(pairs, stemmer):
    check_rouge(*columns(_encodable(pairs)), stemmer)


def test_sacrebleu_on_reports(reports):
    check_sacrebleu(reports.references, reports.altered)


@GENERATED
@given(PAIRS)
def test_sacrebleu_on_generated_texts(pairs):
    check_sacrebleu(*columns(_encodable(pairs)))


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="aB07.,-&;<>'\"/!@[`{~() \n\t\u00e9\u2028\u00b2", max_size=30) | TEXTS)
def test_13a_tokens(text):
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    from rrgmetrics.backends.tokens import tokenize_13a

    for variant in (text, f"<skipped>{text}&quot;&amp;lt;", text.replace("a", "-\n")):
        assert tokenize_13a(variant) == Tokenizer13a()(variant.rstrip()).split()


def _encodable(pairs):
    return [tuple(text.encode("utf-8", "ignore").decode() for text in pair) for pair in pairs]


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    """The bundled encoder's weights as a checkpoint of transformers: real ones, so that matches mean something."""
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("minilm")
    config = json.loads((encoder.BUNDLED_FOLDER / "config.json").read_text())
    model = BertModel(BertConfig(**config), add_pooling_layer=False)
    model.load_state_dict(load_int8(encoder.BUNDLED_FOLDER / "model.safetensors"))
    model.save_pretrained(folder)
    special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    tokens = str(encoder.BUNDLED_FOLDER / "tokenizer.json")
    PreTrainedTokenizerFast(tokenizer_file=tokens, model_max_length=512, **special).save_pretrained(folder)
    return folder


def bert_score(folder, layers, references, candidates, idf):
    """bert-score's own precision, recall and F.

    It asks for RoBERTa's leading space in a way that transformers 5 ignores; RadEval asks when it loads the tokenizer.
    It takes a path that holds "t5" for a T5; the name of a temporary folder may, so that its path is relative here.
    """
    import bert_score.scorer
    from bert_score import BERTScorer
    from transformers import AutoTokenizer

    def load(model, use_fast=False):
        return AutoTokenizer.from_pretrained(model, **({"add_prefix_space": True} if "roberta" in model else {}))

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(bert_score.scorer, "get_tokenizer", load)
        patch.chdir(folder.parents[2])
        name = str(folder.relative_to(folder.parents[2]))
        asked = {"num_layers": layers, "idf": idf, "idf_sents": references if idf else None}
        scorer = BERTScorer(model_type=name, nthreads=0, **asked)  # its pool forks, and a fork of many threads may hang
        return [values.numpy() for values in scorer.score(candidates, references)]


def check_bert_score(name, folder, layers, references, candidates, idf, scale=lambda values: values):
    result = rrgmetrics.score(name, predictions=candidates, references=references, missing="empty", progress=False)[
        name
    ]
    theirs = bert_score(folder, layers, references, candidates, idf)
    for key, expected in zip(("bertscore_precision", "bertscore_recall", "bertscore"), theirs, strict=True):
        assert_equal_in_float32(result.per_pair[key], scale(expected), err_msg=key)


@pytest.mark.parametrize("idf", [False, True])
def test_bert_score_on_reports(minilm, reports, idf):
    name = f"bertscore@{minilm}?layer=1&idf={'call' if idf else 'no'}"
    references = [*reports.references, *reports.references[:2], "x " * 600, "  Tab\tand\nline. "]
    candidates = [*reports.altered, *reports.altered[2:4], "x " * 700, "Tab and line.  "]
    check_bert_score(name, minilm, 1, references, candidates, idf)


@pytest.mark.parametrize("model", ["distilroberta-base", "distilbert-base-uncased"])
def test_bert_score_with_other_tokenizers_and_layers(published_checkpoints, reports, model):
    """The stand-ins' weights are random, so that what is compared is tokens, layers and arithmetic."""
    folder = next((published_checkpoints / f"models--{model}" / "snapshots").iterdir())
    check_bert_score(f"bertscore@{folder}?layer=5", folder, 5, reports.references, reports.altered, False)


def test_rescaling(published_checkpoints, reports):
    """RadEval 2.2 on the stand-in: bert-score's values against the published baseline of layer 5."""
    folder = next((published_checkpoints / "models--distilbert-base-uncased" / "snapshots").iterdir())
    result = rrgmetrics.score(
        "bertscore@radeval", predictions=reports.altered, references=reports.references, progress=False
    )["bertscore@radeval"]
    f = bert_score(folder, 5, reports.references, reports.altered, False)[2]
    expected = (f - 0.66620487) / (1 - 0.66620487)
    assert_equal_in_float32(result.per_pair["bertscore"], expected, scale=1 / (1 - 0.66620487))
