"""METEOR and WordNet beside NLTK's own, which reads the same database files from a temporary nltk_data folder."""

from __future__ import annotations

import itertools
import re
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rrgmetrics
from rrgmetrics.backends import porter
from rrgmetrics.backends.wordnet import BUNDLED, PARTS, load_wordnet
from rrgmetrics.reports.missing import says_nothing

TOKEN = re.compile(r"\w+|[^\w\s]+")  # nltk.wordpunct_tokenize


@pytest.fixture(scope="module")
def nltk_wordnet(tmp_path_factory):
    """NLTK's reader over the bundled files; it wants the folder below one of nltk.data.path."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    root = tmp_path_factory.mktemp("nltk_data")
    with zipfile.ZipFile(BUNDLED) as archive:
        archive.extractall(root / "corpora")
    # NLTK derives a satellite adjective's key from its head, which the bundled files leave out: make it a plain one
    adjectives = root / "corpora" / "wordnet" / "data.adj"
    adjectives.write_bytes(re.sub(rb"(?m)^(\d{8} \d\d) s ", rb"\1 a ", adjectives.read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [str(root)])
        with pytest.warns(UserWarning, match="multilingual"):
            reader = WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
        yield reader


@pytest.fixture(scope="module")
def stemmer():
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


def names(synsets):
    return sorted(sorted(lemma.name() for lemma in synset.lemmas()) for synset in synsets)


def vocabulary() -> list[str]:
    """Every 60th entry of WordNet and every 20th exception, each in the inflections that the rules undo."""
    wordnet = load_wordnet()
    bases = sorted({word for part in PARTS for word in wordnet._index[part]})[::60]
    exceptions = sorted({word for part in PARTS for word in wordnet._exceptions[part]})[::20]
    endings = ("", "s", "es", "ed", "ing", "er", "est")
    medical = (
        "lungs lung opacities opacity effusions vertebrae worsened men axes better left felt Lungs WORSE x 3.5".split()
    )
    return [*medical, *exceptions, *(base + ending for base, ending in itertools.product(bases, endings))]


def test_synsets_word_by_word(nltk_wordnet):
    words = vocabulary()
    assert len(words) > 5000
    ours, n_known = load_wordnet(), 0
    for word in words:
        expected = names(nltk_wordnet.synsets(word))
        assert sorted(map(sorted, ours.synsets(word))) == expected, word
        n_known += bool(expected)
    assert n_known > 3000  # the comparison is not of nothing with nothing


ENDINGS = [*(ending for ending, _ in (*porter.PLURALS, *porter.STEP_2, *porter.STEP_3)), *porter.STEP_4]
ENDINGS += ["", "ed", "eed", "ied", "ing", "y", "logi", "e", "ll", "tion", "sion"]


def test_stems_word_by_word(stemmer):
    roots = ["", "a", "b", "y", "ab", "ay", "by", "ox", "yy", "bab", "abb", "hiss", "siz", "archaeo", "yby", "Ünd"]
    words = [*vocabulary(), *porter.IRREGULAR, *map("".join, itertools.product(roots, ENDINGS, ENDINGS))]
    assert len(words) > 50_000
    assert [porter.stem(word) for word in words] == [stemmer.stem(word) for word in words]


def check(references, candidates, wordnet, stemmer, option="", tokenize=TOKEN.findall):
    from nltk.translate.meteor_score import meteor_score

    name = f"meteor{option}"
    result = rrgmetrics.score(name, predictions=candidates, references=references, missing="empty", progress=False)[
        name
    ]
    for reference, candidate, value in zip(references, candidates, result.per_pair["meteor"], strict=True):
        expected = meteor_score([tokenize(reference)], tokenize(candidate), stemmer=stemmer, wordnet=wordnet)
        assert value == pytest.approx(expected, abs=1e-12)


def test_meteor_on_reports(reports, nltk_wordnet, stemmer):
    synonyms = ["The physician noted an enlarged bosom.", "A big tumour grew.", "Left leg broken."]
    others = ["The doctor remarked a large chest.", "A large tumor developed.", "Go forth. Leg fractured!"]
    check([*reports.references, *synonyms], [*reports.altered, *others], nltk_wordnet, stemmer)
    check(reports.references, reports.altered, nltk_wordnet, stemmer, "?tokenizer=whitespace", str.split)


def test_synonyms_count(reports, score):
    pair = (["The physician saw a large tumour."], ["The doctor saw a big tumor."])
    assert score("meteor", *pair).scores["meteor"] > score("meteor?synonyms=no", *pair).scores["meteor"]


WORDS = st.sampled_from(
    "lungs lung clear Clear heart big large enlarged enlarge effusion effusions . , no doctor physician".split()
)
REPORTS = st.lists(WORDS, max_size=20).map(" ".join).filter(lambda text: not says_nothing(text))  # "." is missing


@settings(max_examples=60, deadline=None)
@given(REPORTS, REPORTS)
def test_meteor_on_generated_texts(nltk_wordnet, stemmer, reference, candidate):
    check([reference], [candidate], nltk_wordnet, stemmer)
