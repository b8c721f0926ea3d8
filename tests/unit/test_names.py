"""The grammar of metric names, the table's parsers, and signatures."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rrgmetrics
from rrgmetrics import InputError
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.prepared import parse_names
from rrgmetrics.specs import SPECS, Option, all_keys, get_spec, known_as
from rrgmetrics.specs.names import parse_config, parse_name
from rrgmetrics.utils.text_format import did_you_mean, near_names
from rrgmetrics.version import VERSION


@pytest.mark.parametrize(
    ("text", "config", "options", "shortest"),
    [
        ("bleu", "default", {}, "bleu"),
        (" bleu ", "default", {}, "bleu"),
        ("bleu@default", "default", {}, "bleu"),
        ("bleu?tokenizer=13a", "default", {"tokenizer": "13a"}, "bleu?tokenizer=13a"),
        ("bleu?tokenizer=coco", "default", {"tokenizer": "coco"}, "bleu"),
        ("bleu?tokenizer=13a&smoothing=exp", "default", {"smoothing": "exp"}, "bleu?tokenizer=13a"),  # implied
        ("rouge?flavour=coco", "default", {"stemmer": False}, "rouge?flavour=coco"),
        ("rouge?flavour=coco&stemmer=yes", "default", {"stemmer": True}, "rouge?flavour=coco&stemmer=yes"),
        ("bertscore@radeval", "radeval", {"rescale": True}, "bertscore@radeval"),
        ("bertscore@radeval?rescale=no", "radeval", {"rescale": False}, "bertscore@radeval?rescale=no"),
        ("bertscore@org/model@main?layer=5", "org/model@main", {"layer": 5}, "bertscore@org/model@main?layer=5"),
        ("bertscore@/data/my model", "/data/my model", {}, "bertscore@/data/my model"),
        ("meteor?wordnet=/a%26b", "default", {"wordnet": "/a&b"}, "meteor?wordnet=/a%26b"),
        ("rouge?stemmer=no&text=lower", "default", {"stemmer": False, "text": "lower"}, "rouge?text=lower&stemmer=no"),
    ],
)
def test_names(text, config, options, shortest):
    name = parse_name(text)
    assert name.config == config
    assert {key: name.options[key] for key in options} == options
    assert str(name) == shortest
    assert parse_name(shortest) == name
    assert parse_config(name.spec.name, str(name)[len(name.spec.name) :].removeprefix("@")) == name


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("bleu", "bleu"),
        ("bertscore@paper", "bertscore__paper"),
        ("bertscore@org/my-model?layer=5", "bertscore__org_my_model_layer_5"),
        ("bleu?tokenizer=13a", "bleu__tokenizer_13a"),
        ("finding_errors?text=lower", "finding_errors__text_lower"),
        ("finding_errors", "finding_errors"),
    ],
)
def test_slugs(text, slug):
    assert parse_name(text).slug == slug


@settings(deadline=None)  # the first name imports what others have ready
@given(st.text(max_size=30), st.sampled_from(list(SPECS)))
@example("\x85?", "radfact")
def test_any_text_is_a_name_or_an_input_error(text, metric):
    for spelling in (text, f"{metric}@{text}", f"{metric}?{text}", f"{metric}?text={text}"):
        try:
            name = parse_name(spelling)
        except InputError:
            continue
        assert parse_name(str(name)) == name


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(str.strip))
def test_any_value_survives_name_and_signature(value):
    name = parse_name("meteor").__class__(
        SPECS["meteor"], "default", {**parse_name("meteor").options, "wordnet": value}
    )
    assert parse_name(str(name)).options["wordnet"] == value
    written = signature.write(name, facts={"nltk": "1|2:3"}, n_pairs=3)
    assert signature.read(written) == name
    assert signature.parse(written)[1]["nltk"] == "1|2:3"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (Option(True, ""), "no", False),
        (Option(False, ""), "yes", True),
        (Option(0, ""), "-3", -3),
        (Option(0.5, ""), "1e-3", 0.001),
        (Option("a", "", ("a", "b")), "b", "b"),
        (Option("", ""), "any = thing", "any = thing"),
        (Option(True, ""), "True", None),
        (Option(0, ""), "1.5", None),
        (Option(0.5, ""), "nan", None),
        (Option(0.5, ""), "inf", None),
        (Option("a", "", ("a", "b")), "c", None),
    ],
)
def test_options(option, text, value):
    if value is None:
        with pytest.raises(InputError, match="metric\\?key="):
            option.parse(text, "metric?key")
    else:
        assert option.parse(text, "metric?key") == value
        assert option.parse(option.write(value), "") == value


def test_unknown_metrics_get_near_spellings():
    with pytest.raises(InputError, match="did you mean rouge"):
        get_spec("rogue")
    with pytest.raises(InputError, match=f"known: {next(iter(SPECS))}"):
        get_spec("zzz")
    with pytest.raises(InputError, match="only `rrgmetrics stress` and `rrgmetrics game` take"):
        get_spec("mine2:miss")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("gren", "green"),
        ("gree", "green"),
        ("radgraph", "radgraph_f1"),
        ("bert", "bertscore"),
        ("score", "ratescore or bertscore"),
        ("rexran", "rexrank or rexrank-ce"),  # presets, where no metric is near
        ("chest-xry", "chest-xray"),
    ],
)
def test_only_near_names_are_suggested(text, near):
    with pytest.raises(InputError, match=rf"did you mean {near}\?"):
        get_spec(text)


@pytest.mark.parametrize(
    "text",
    ["", "bleu", "bleu|", "|v:1", "bleu|tokenizer", "bleu|tokenizer:coco", "bleu|v:1|n:3", "nothing|n:1|v:1",
     "bleu|text:none@7|n:1|v:1", "bleu|text:shiny@1|n:1|v:1", "bleu|config:paper|n:1|v:1", "bleu|tokenizer:x|n:1|v:1"],
)  # fmt: skip
def test_not_a_signature(text):
    with pytest.raises(InputError):
        signature.read(text)


def test_signature_leaves_out_what_is_default_and_ends_with_the_version():
    written = signature.write(parse_name("bleu"), facts={}, n_pairs=8)
    assert written == f"bleu|text:none@1|tokenizer:coco|smoothing:coco|n:8|v:{VERSION}"
    assert "config:radeval" in signature.write(parse_name("bertscore@radeval"), facts={}, n_pairs=8)


@pytest.mark.parametrize(
    ("alias", "key"),
    [
        ("RadGraph-F1", "radgraph_f1"),
        ("CheXbert-14 micro", "chexbert_f1"),
        ("chexbert-5 MACRO", "chexbert_f1_macro_5"),
        ("BERTScore F1", "bertscore"),
        ("RaTEScore", "ratescore"),
        ("R-1", "rouge_1"),
    ],
)
def test_what_papers_call_a_key(alias, key):
    assert key in [known.name for known in known_as(alias)]
    with pytest.raises(InputError, match=rf"'{alias}' is a score of \w+ \(key {key}\); name the metric"):
        get_spec(alias)


def test_an_alias_belongs_to_one_metric_and_every_published_metric_has_one():
    owners: dict[str, set[str]] = {}
    for spec, key in all_keys():
        for alias in key.aliases:
            owners.setdefault(alias.casefold(), set()).add(spec.name)
    assert {alias: names for alias, names in owners.items() if len(names) > 1} == {}
    unnamed = [spec.name for spec in SPECS.values() if spec.stand_in and not spec.headline.aliases]
    assert unnamed == ["mammo_green"]  # what papers call it is its name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "rouge?use_stemmer=yes",
            r"has no option 'use_stemmer'; .* evaluate's rouge; here name the metric rouge\?stemmer=yes",
        ),
        ("bleu?max_order=2", r"evaluate's bleu; here the keys bleu_1, bleu_2 and bleu_3 are always returned\.$"),
        ("bleu?tokeniser=13a", r"it has: text, tokenizer, smoothing\. Did you mean 'tokenizer'\?$"),
        ("bleu?colour=red", r"has no option 'colour'; it has: text, tokenizer, smoothing\.$"),
    ],
)
def test_a_keyword_of_evaluates_own_module_is_told_what_does_it_here(name, message):
    with pytest.raises(InputError, match=message):
        parse_name(name)


def test_a_short_name_stands_for_a_long_one():
    text = "g=green@openai:my-model?base_url=http://127.0.0.1:8000/v1"
    name = parse_name(text)
    assert (name.short, name.slug, name.suffix, str(name)) == ("g", "green__g", "__g", text)
    assert name.spec is parse_name("green").spec
    assert parse_name("bleu?tokenizer=13a").short == ""
    with pytest.raises(InputError, match="Two metrics have the same short name"):
        parse_names(["a=bleu", "a=bleu?tokenizer=13a"])
    result = rrgmetrics.score("b=bleu?tokenizer=13a", predictions=["a"], references=["a"], progress=False)
    assert "tokenizer:13a" in result["b=bleu?tokenizer=13a"].signature


@pytest.mark.parametrize(
    ("word", "words", "question"),
    [
        (
            "radgraph",
            ["rouge", "radgraph_f1_partial_of_all"],
            " Did you mean 'radgraph_f1_partial_of_all'?",
        ),  # begins it
        ("Refrence", ["candidate", "REFERENCE"], " Did you mean 'REFERENCE'?"),
        ("knee", ["candidate", "reference"], ""),
    ],
)
def test_a_question_names_what_a_list_of_near_names_opens_with(word: str, words: list[str], question: str):
    assert did_you_mean(word, words) == question
    assert near_names(word, words)[:1] == [name for name in words if name in question]
