"""Numbers small enough to check on paper, and degenerate texts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rrgmetrics
from float32 import ROUNDING, in_float32
from rrgmetrics import InputError
from rrgmetrics.backends.encoder import TokenVectors
from rrgmetrics.backends.tokens import RougeTokens, count_ngrams, rouge_tokens
from rrgmetrics.scorers.bertscore import Idf, find_baseline, greedy_match
from rrgmetrics.scorers.bleu import coco_bleu, sacrebleu_bleu
from rrgmetrics.scorers.rouge import f_measure, longest_common_subsequence

SUMMED = """
from random import Random
import rrgmetrics
random = Random(0)
words = "small large left right pleural effusion edema nodule of the lung base no new stable mild".split()
references, candidates = ([" ".join(random.choices(words, k=40)) for _ in range(60)] for _ in range(2))
result = rrgmetrics.score("cider", predictions=candidates, references=references, progress=False)["cider"]
print(result.scores["cider"].hex(), [value.hex() for value in result.per_pair["cider"].tolist()])
"""


def score(name, candidates, references, **options):
    return rrgmetrics.score(name, predictions=candidates, references=references, progress=False, **options)[name]


def bleu_counts(matches, guesses, candidate, reference):
    return np.array([*matches, *guesses, candidate, reference], dtype=float)


@pytest.mark.parametrize(
    ("name", "reference", "candidate", "value"),
    [
        ("rouge", "a b c d", "a b c d", 1),
        ("rouge?stemmer=no", "a b c", "c b a", 1 / 3),  # one word in order, of three and three
        ("rouge", "effusions", "effusion", 1),  # the same stem
        ("rouge?stemmer=no", "effusions", "effusion", 0),
        ("rouge", "...", "...", 0),  # no words
        ("meteor", "a b c", "a b c", 1 - 0.5 / 27),  # one chunk of three matches
        ("meteor", "a b", "b a", 0.5),  # two chunks of two matches
        ("meteor", "a b", "c d", 0),
        ("meteor?synonyms=no", "physician", "doctor", 0),
        ("meteor", "physician", "doctor", 0.5),  # one chunk of one match
        ("bleu?tokenizer=13a", "a b c d", "a b c d", 1),
        ("bleu?tokenizer=13a", "a b", "a b", 1),  # effective order
        ("bleu?tokenizer=13a", "a b", "c d", 0),
        ("bertscore?text=words", "...", "...", 0),  # nothing is left
    ],
)
def test_pair_values(name, reference, candidate, value):
    result = score(name, [candidate], [reference], missing="empty")
    assert result.per_pair[result.spec.name][0] == pytest.approx(value, abs=1e-9)


def test_bleu_on_paper():
    counts = bleu_counts([3, 1, 0, 0], [4, 3, 2, 1], 4, 5)  # precisions 3/4, 1/3; brevity exp(1 - 5/4)
    brevity = math.exp(-0.25)
    assert coco_bleu(counts)[:2] == pytest.approx([0.75 * brevity, 0.5 * brevity], abs=1e-8)
    expected = [0.75, 0.5, (0.25 / 4) ** (1 / 3), (0.25 / 4 / 4) ** (1 / 4)]  # zero counts become 1/2·1/2, 1/4·1/1
    for effective in (True, False):
        assert sacrebleu_bleu(counts, effective_order=effective) == pytest.approx(np.array(expected) * brevity)


def test_corpus_bleu_sums_counts_and_is_no_mean():
    result = score("bleu", ["a b c d e", "x"], ["a b c d e", "y y y y y"])
    assert result.scores["bleu_1"] == pytest.approx(5 / 6 * math.exp(1 - 10 / 6), abs=1e-8)
    assert np.mean(result.per_pair["bleu_1"]) == pytest.approx(0.5, abs=1e-8)


def test_counts_of_ngrams():
    counted = count_ngrams("a b a b".split())
    assert counted.length == 4
    assert counted.counts == {
        ("a",): 2, ("b",): 2, ("a", "b"): 2, ("b", "a"): 1, ("a", "b", "a"): 1, ("b", "a", "b"): 1,
        ("a", "b", "a", "b"): 1,
    }  # fmt: skip


@pytest.mark.parametrize(("matches", "n", "m", "f"), [(0, 0, 0, 0), (0, 3, 0, 0), (2, 2, 4, 2 / 3), (1, 1, 1, 1)])
def test_f_measure(matches, n, m, f):
    assert f_measure(matches, n, m) == pytest.approx(f)


def slow_lcs(left, right):
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(st.text("abc ", max_size=150), st.text("abc ", max_size=150))
def test_longest_common_subsequence(left, right):
    words = rouge_tokens(False)
    a, b = (words.function(" ".join(text)) for text in (left, right))
    assert isinstance(a, RougeTokens)
    assert longest_common_subsequence(a, b) == slow_lcs(a.tokens, b.tokens)


def test_rouge_l_of_long_reports():
    """rouge-score's table would have 1e8 entries."""
    text = "effusion " * 10_000
    assert score("rouge", [text], [text + "no"]).scores["rouge"] == pytest.approx(20_000 / 20_001)


class TestCider:
    def test_one_pair_has_no_weights(self):
        result = score("cider", ["a b"], ["a b"])
        assert math.isnan(result.scores["cider"])
        assert result.n_unscored == 1

    def test_a_reference_that_all_share_is_unscored(self):
        result = score("cider", ["a b", "a b"], ["a b", "a b"])
        assert result.n_unscored == 2

    def test_identical_reports(self):
        result = score("cider", ["a b c d", "e f g h"], ["a b c d", "e f g h"])
        assert result.per_pair["cider"] == pytest.approx([10, 10])

    def test_short_reports_lack_the_longer_ngrams(self):
        assert score("cider", ["a b", "c d"], ["a b", "c d"]).per_pair["cider"] == pytest.approx([5, 5])

    def test_length_penalty(self):
        result = score("cider", ["a b c d a b c d a b c d", "e"], ["a b c d", "e"])
        assert result.per_pair["cider"][0] < 10 * math.exp(-(8**2) / 72)

    def test_repeated_references_count_each_time(self):
        weights = score("cider", ["a b"] * 3, ["a b", "a b", "c d"]).per_pair["cider"]
        assert weights == pytest.approx([5, 5, 0])

    def test_order_of_the_references_does_not_matter(self):
        references = ["a b c", "a d", "e f", "a b"]
        forward = score("cider", references[::-1], references).per_pair["cider"]
        backward = score("cider", references, references[::-1]).per_pair["cider"]
        assert forward == pytest.approx(backward[::-1], abs=1e-9)

    def test_the_last_digit_does_not_depend_on_the_order_of_a_set(self, run_python):
        """PYTHONHASHSEED orders the sets of a process; a sum of floats in another order has another last digit."""
        printed = {run_python(SUMMED, PYTHONHASHSEED=str(seed)) for seed in range(4)}
        assert len(printed) == 1


def vectors(rows, own=None):
    matrix = np.array(rows, dtype=np.float32).reshape(-1, 2)
    own = [True] * len(matrix) if own is None else own
    return TokenVectors(np.arange(len(matrix)), matrix, np.array(own, dtype=bool))


X, Y, XY = (1, 0), (0, 1), (0.6, 0.8)


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        (vectors([X, Y]), vectors([X, Y]), (1, 1, 1)),
        (vectors([X]), vectors([X, Y]), (0.5, 1, 2 / 3)),
        (vectors([X, Y]), vectors([XY]), (0.8, 0.7, 2 * 0.56 / 1.5)),
        (vectors([X]), vectors([]), (0, 0, 0)),
        (vectors([]), vectors([]), (0, 0, 0)),
        (vectors([X, Y], [False, False]), vectors([X]), (0, 0, 0)),
        (vectors([X, Y], [True, False]), vectors([Y, Y], [True, False]), (1, 0, 0)),  # may match a closing token
        (vectors([X]), vectors([Y]), (0, 0, 0)),
    ],
)
def test_greedy_match(reference, candidate, expected):
    assert greedy_match(reference, candidate, None) == in_float32(expected)


def test_greedy_match_with_frequencies():
    from collections import Counter

    idf = Idf(Counter({0: 1, 1: 3}), 3)  # weights log(4/2), log(4/4)
    precision, recall, _ = greedy_match(vectors([X]), vectors([X, Y]), idf)
    assert (precision, recall) == in_float32((1, 1))  # the second token weighs nothing
    everywhere = Idf(Counter({0: 3, 1: 3}), 3)
    assert all(map(math.isnan, greedy_match(vectors([X]), vectors([X]), everywhere)))


def test_a_pair_without_weight_is_unscored():
    result = score("bertscore?idf=call", ["effusion", "effusion"], ["effusion", "effusion"])
    assert result.n_unscored == 2
    assert math.isnan(result.scores["bertscore"])


def test_idf_of_a_call_is_never_stale(reports):
    """RadEval keeps the first call's frequencies."""
    name = "bertscore?idf=call"
    first = score(name, reports.altered[:5], reports.references[:5])
    score(name, reports.altered[5:], reports.references[5:])
    again = score(name, reports.altered[:5], reports.references[:5])
    assert again.scores == first.scores
    plain = score("bertscore", reports.altered[:5], reports.references[:5])
    assert abs(plain.scores["bertscore"] - first.scores["bertscore"]) > ROUNDING


def test_frozen_idf_reads_the_file_each_time(tmp_path, reports):
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(reports.references))
    name = f"bertscore?idf=frozen&idf_file={file}"
    call = score("bertscore?idf=call", reports.altered, reports.references)
    frozen = score(name, reports.altered, reports.references)
    assert frozen.scores == in_float32(call.scores)
    part = score(name, reports.altered[:3], reports.references[:3])
    assert part.per_pair["bertscore"] == in_float32(frozen.per_pair["bertscore"][:3])
    file.write_text("\n".join(reports.altered[:4]))
    changed = score(name, reports.altered, reports.references)
    assert abs(changed.scores["bertscore"] - frozen.scores["bertscore"]) > ROUNDING
    assert changed.signature != frozen.signature  # it holds the file's checksum


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("idf=frozen", "needs idf_file"),
        ("idf_file=/tmp", "needs idf_file"),
        ("idf=frozen&idf_file=/nowhere/a.txt", "does not exist"),
        ("rescale=yes", "no English baseline"),
        ("layer=4", "its last is 1"),
        ("layer=-1", "its last is 1"),
    ],
)
def test_wrong_bertscore_options(options, message):
    with pytest.raises((InputError, rrgmetrics.BackendError), match=message):
        score(f"bertscore?{options}", ["a"], ["b"])


@pytest.mark.parametrize("content", ["", "\n\n", "x" * 100_001, b"\xff\xfe\x00"])
def test_wrong_idf_file(tmp_path, content):
    file = tmp_path / "corpus.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=r"corpus\.txt"):
        score(f"bertscore?idf=frozen&idf_file={file}", ["a"], ["b"])


def test_baseline_of_an_unknown_model_or_layer():
    assert find_baseline("minilm", 3) is None
    assert find_baseline("roberta-large", 99) is None
    assert find_baseline("roberta-large", 0) is None
