"""Pairs, contexts, sections and normalisers."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rrgmetrics import InputError
from rrgmetrics.reports import MAX_CHARACTERS, Context, Pair, check_pairs, check_report, parse_age, parse_context
from rrgmetrics.reports.text import (
    NORMALISERS,
    Sections,
    findings_text,
    get_normaliser,
    impression_text,
    section_spans,
    split_sections,
)


def test_pairs():
    assert check_pairs(["a"], ("b",), [{"sex": "f"}]) == [Pair("b", "a", Context(sex="F"))]
    assert check_pairs(iter(["a", ""]), np.array(["b", "c"])) == [Pair("b", "a"), Pair("c", "")]
    assert check_pairs([np.str_("a")], ["b"])[0].candidate == "a"


def test_longest_report():
    assert check_pairs(["x" * MAX_CHARACTERS], ["é"])
    with pytest.raises(InputError, match=r"predictions\[0\] has 100,001 characters"):
        check_pairs(["x" * (MAX_CHARACTERS + 1)], ["é"])


def test_messages_of_batches_count_on():
    with pytest.raises(InputError, match=r"references\[11\] is 3"):
        check_pairs(["a", "b"], ["a", 3], start=10)
    with pytest.raises(InputError, match=r"contexts\[11\] is 3"):
        check_pairs(["a", "b"], ["a", "b"], [{}, 3], start=10)


@pytest.mark.parametrize(
    ("value", "years"),
    [("5 months", 5 / 12), ("3-day-old", 3 / 365.25), ("72 years", 72), ("6 hours old", 6 / 8766),
     ("072Y", 72), ("018M", 1.5), ("52W", 52 * 7 / 365.25), ("3D", 3 / 365.25), ("25", 25), (25, 25), (25.5, 25.5),
     (" 7y ", 7), ("", None), (None, None), (math.nan, None), ("0", 0), (np.int64(40), 40), (np.float64("nan"), None)],
)  # fmt: skip
def test_ages(value, years):
    assert parse_age(value) == (years if years is None else pytest.approx(years))


@pytest.mark.parametrize(
    "value", ["old", "-3", "151", 151, -1, "12 eons", "years", "5 old months", True, False, [3], "1e2", math.inf, "7YY"]
)
def test_not_an_age(value):
    with pytest.raises(InputError, match="age"):
        parse_age(value)


@pytest.mark.parametrize(
    ("value", "context"),
    [
        (None, Context()),
        ({}, Context()),
        ({"age": "", "sex": None, "indication": None}, Context()),
        ({"age": "060Y", "sex": "Female", "indication": "cough"}, Context(60, "F", "cough")),
        ({"sex": " m "}, Context(sex="M")),
    ],
)
def test_contexts(value, context):
    assert parse_context(value) == context


@pytest.mark.parametrize(("age", "typed"), [("030M", "030M"), ("", ""), ("072Y", None), (None, None)])
def test_how_an_age_was_typed_is_no_part_of_a_context(age, typed):
    context = parse_context({"age": age, "sex": "F"})
    assert context.typed_age == typed
    plain = Context(context.age, "F")
    assert context == plain
    assert hash(context) == hash(plain)
    assert context._asdict() == plain._asdict()


REPORT = "Chest, two views.\nINDICATION: Cough.\nFINDINGS\nSmall effusion. IMPRESSION: Effusion.\nImpression: Stable."


def test_sections():
    assert split_sections(REPORT) == Sections(
        body="Chest, two views.",
        indication="Cough.",
        findings_section="Small effusion.",
        impression="Effusion.\nStable.",
    )
    names = [span.name for span in section_spans(REPORT)]
    assert names == ["body", "indication", "findings_section", "impression", "impression"]


@pytest.mark.parametrize(
    ("report", "findings", "impression"),
    [
        ("", "", ""),
        ("Clear lungs.", "Clear lungs.", "Clear lungs."),
        ("Findings: Clear.", "Clear.", "Findings: Clear."),
        ("Impression: Normal.", "Normal.", "Normal."),
        ("Clear. Impression: Normal.", "Clear.", "Normal."),
        ("**Findings:** Clear.\n**Impression:** Normal.", "Clear.", "Normal."),
        ("The findings are: clear lungs.", "The findings are: clear lungs.", "The findings are: clear lungs."),
        ("Impression\non the left lung.", "Impression\non the left lung.", "Impression\non the left lung."),
        ("FINDINGS:", "FINDINGS:", "FINDINGS:"),
        ("FINDINGS AND IMPRESSION: Clear.", "Clear.", "FINDINGS AND IMPRESSION: Clear."),
    ],
)
def test_findings_and_impression(report, findings, impression):
    assert findings_text(report) == findings
    assert impression_text(report) == impression


@given(st.text(max_size=200))
def test_spans_are_ordered_and_inside(report):
    last = 0
    for _, start, end in section_spans(report):
        assert last <= start < end <= len(report)
        last = end


@pytest.mark.parametrize("piece", ["FINDINGS:", "findings ", "\n* ", " \t", "impression. ", "a. ", "\n"])
@pytest.mark.parametrize("length", [MAX_CHARACTERS // 8, pytest.param(MAX_CHARACTERS, marks=pytest.mark.slow)])
def test_sections_of_the_longest_text(piece, length):
    """In the square of its length this would take long; benchmarks/promises.py measures it."""
    report = piece * (length // len(piece))
    assert sum(map(len, astuple(split_sections(report)))) <= len(report)


@pytest.mark.parametrize(
    ("name", "text", "normal"),
    [
        ("none", " A  b\n", " A  b\n"),
        ("space", " A  b\u00a0c\n", "A b c"),
        ("lower", " A  É\n", "a é"),
        ("words", "3.5 cm, X-ray (new); 1,000.", "3.5 cm x ray new 1,000"),
        ("words", "_ --- \u00b5m", "\u00b5m"),
    ],
)
def test_normalisers(name, text, normal):
    assert NORMALISERS[name].apply(text) == normal


@given(st.text(max_size=80), st.sampled_from(["none", "space", "lower", "words"]))
def test_normalisers_are_idempotent(text, name):
    once = NORMALISERS[name].apply(text)
    assert NORMALISERS[name].apply(once) == once


def test_normalisers_have_versions():
    assert str(get_normaliser("lower@1")) == "lower@1"
    with pytest.raises(InputError, match="This version of rrgmetrics has lower@1"):
        get_normaliser("lower@2")
    with pytest.raises(InputError, match="text='shiny' is unknown; choose one of none, space"):
        get_normaliser("shiny")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is None; pass a string for each report ('' for an empty one)."),
        (["Clear lungs."], "(list); pass a string for each report: one text of the list."),
        (
            [{"role": "user", "content": "Describe."}],
            "pass a string for each report: the 'content' of its last message.",
        ),
    ],
)
def test_what_is_no_report_is_named_with_the_text_in_it(value, words):
    with pytest.raises(InputError) as refused:
        check_report(value, "candidates[0]")
    assert words in str(refused.value)
