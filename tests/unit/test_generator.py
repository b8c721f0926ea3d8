"""The generator of reports: texts can be read back, number i is always the same, every word of the lexicon occurs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from rrgmetrics.comparing import ErrorCategory, compare
from rrgmetrics.errors import InputError
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load
from rrgmetrics.reading.tokens import tokenize
from rrgmetrics.synthesis.generator import (
    WAYS,
    Fact,
    GeneratedPair,
    Study,
    corrupt,
    draw_study,
    generate_pairs,
    generate_reports,
    render,
    styles,
)
from rrgmetrics.synthesis.generator.draws import pick
from rrgmetrics.synthesis.generator.english import article, plural_of, surface
from rrgmetrics.synthesis.generator.knowledge import inside, knowledge
from rrgmetrics.synthesis.generator.phrasebook import phrasebook
from rrgmetrics.synthesis.generator.statements import Speaker
from rrgmetrics.synthesis.generator.studies import draw_fact
from rrgmetrics.synthesis.grammar import expand, parse, parse_rules, sentence

N = 300


@pytest.fixture(scope="module")
def pairs() -> list[GeneratedPair]:
    return list(generate_pairs(800, seed=5))


def test_number_i_is_the_same_in_every_slice() -> None:
    whole = list(generate_pairs(6, seed=3))
    assert whole[4:] == list(generate_pairs(2, seed=3, start=4))
    assert whole != list(generate_pairs(6, seed=4))
    assert list(generate_reports(3, seed=3))[2] == next(generate_reports(1, seed=3, start=2))


def test_reader_finds_the_facts_in_the_text() -> None:
    lexicon = load()
    n_read = total = 0
    for report in generate_reports(N, seed=2):
        findings = read(report.text).findings
        for fact in report.study.facts:
            concept = lexicon.concepts[fact.concept]
            if not concept.counts:
                continue
            total += 1
            denied = fact.assertion == "absent" or fact.change == "resolved"
            n_read += any(
                (f.concept == fact.concept or f.concept in concept.same_as or concept.key in _meant_by(f.concept))
                and (f.assertion == "absent") == denied
                and (fact.side is None or f.side in (None, fact.side))
                for f in findings
            )
    assert total > N
    assert n_read / total >= 0.97


def _meant_by(concept: str) -> frozenset[str]:
    known = load().concepts[concept]
    return known.same_as | set(known.ancestors)


def test_two_styles_of_one_study_differ_in_words_only() -> None:
    weights = phrasebook().weights
    clean = 0
    for i in range(200):
        rng = Random(i)
        study = draw_study(rng)
        texts = [render(study, rng.choices(list(w), list(w.values()))[0], rng) for w in weights]
        errors = compare(read(texts[0]), read(texts[1])).whole.errors  # a style may also leave out a degree
        told = ErrorCategory.FALSE_COMPARISON  # a style may leave out that something is unchanged
        clean += all(error.category is told for error in errors)
    assert clean / 200 >= 0.95


def test_injected_errors_are_what_the_reader_counts(pairs: list[GeneratedPair]) -> None:
    corrupted = [p for p in pairs if p.way == "corrupted"]
    counted = [tuple(compare(read(p.reference), read(p.candidate)).counts.values()) for p in corrupted]
    for category in range(6):
        same = sum(p.injected[category] == c[category] for p, c in zip(corrupted, counted, strict=True))
        assert same / len(corrupted) >= 0.9, "ABCDEF"[category]
        made = [c[category] for p, c in zip(corrupted, counted, strict=True) if p.injected[category]]
        assert sum(n > 0 for n in made) / len(made) >= 0.75, "ABCDEF"[category]


def test_mix_of_ways_and_of_normal_studies(pairs: list[GeneratedPair]) -> None:
    ways = Counter(p.way for p in pairs)
    for way, share in WAYS.items():
        assert ways[way] / len(pairs) == pytest.approx(share, abs=0.05)
    quiet = sum(not r.study.facts for r in generate_reports(N, seed=1)) / N
    assert 0.12 < quiet < 0.32
    assert {s for p in pairs for s in p.styles} == set(styles())


def test_corrupt_makes_the_errors_it_reports() -> None:
    study = Study((Fact("pleural_effusion", side="left", severity=1), Fact("cardiomegaly", severity=2)))
    for i in range(50):
        other, counts = corrupt(study, 2, Random(i))
        assert 0 < sum(counts) <= 2
        assert len(other.facts) == 2 + counts[0] - counts[1]
        assert other.facts != study.facts
    assert corrupt(study, 0, Random(0)) == (study, (0,) * 6)


def test_every_term_of_the_lexicon_can_be_written() -> None:
    words = load().words
    for concept, terms in knowledge().terms.items():
        for term in terms:
            wanted = [t.word for t in tokenize(term, words)]
            for written in surface(term):
                assert [t.word for t in tokenize(written, words)][: len(wanted)] == wanted, (concept, term, written)


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_every_term_of_the_lexicon_occurs(step: int) -> None:
    words, rng = load().words, Random(1)
    missing = set()
    for concept, term in sorted(knowledge().all_terms)[::step]:
        wanted = tuple(t.word for t in tokenize(term, words))
        if not any(_occurs(wanted, _statement_of(concept, term, rng)) for _ in range(100)):
            missing.add((concept, term))
    assert not missing


def _statement_of(concept: str, term: str, rng: Random) -> str:
    """Returns the statement of a finding that this term describes, not always in its words."""
    study = draw_study(rng, normal=True)
    fact = draw_fact(concept, rng, prior=study.prior, term=term)
    style = pick(tuple(phrasebook().styles.values()), rng)
    (statement,) = Speaker(replace(study, facts=(fact,)), style, rng).facts((fact,))
    return statement.text


def _occurs(wanted: tuple[str, ...], text: str) -> bool:
    found = tuple(t.word for t in tokenize(text, load().words))
    return any(found[i : i + len(wanted)] == wanted for i in range(len(found)))


def test_inside_tells_what_a_term_says_besides_its_concept() -> None:
    assert inside("pneumothorax", "pneumothorax") == {}
    assert inside("pneumothorax", "tiny apical pneumothorax") == {"zones": frozenset({"apex"}), "severity": 1}
    assert inside("cardiomegaly", "pneumothorax") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("opacity", "an opacity"), ("small effusion", "a small effusion"), ("8 mm nodule", "an 8 mm nodule")],
)
def test_article(text: str, expected: str) -> None:
    assert article(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pneumothorax", "pneumothoraces"),
        ("opacity", "opacities"),
        ("metastasis", "metastases"),
        ("fracture of the rib", "fractures of the rib"),
    ],
)
def test_plural(text: str, expected: str) -> None:
    assert plural_of(text) == expected


def test_grammar() -> None:
    rules = parse_rules({"seen": "seen"})
    template = parse("[No|No] {np} is <seen> .")
    assert sentence(expand(template, {"np": "mass"}, rules, Random(0))) == "No mass is seen."
    for broken in ("[a|b", "{np", "a] b", "a<b"):
        with pytest.raises(InputError, match="template"):
            parse(broken)


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="no style 'loud'"):
        render(Study(), "loud", Random(0))
    with pytest.raises(InputError, match="not negative"):
        next(generate_pairs(-1, seed=0))
