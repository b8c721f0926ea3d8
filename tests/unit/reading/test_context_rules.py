"""The context rules: each example of context_rules.yaml is a test, and each rule is needed by one of its own."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
from reading_table import check

from rrgmetrics.errors import InputError
from rrgmetrics.reading import assertion, context_rules, parsed, read
from rrgmetrics.reading.clause import Clause
from rrgmetrics.reading.context_rules import Rule, all_rules
from rrgmetrics.reading.lexicon import load, load_file, use
from rrgmetrics.reading.lexicon.rules import PREDICATES
from rrgmetrics.reading.senses import SENSES
from table_rows import each_row

ROWS: list[tuple[str, dict[str, Any]]] = [
    (stage, row) for stage, rows in load_file("context_rules").items() for row in rows
]
EXAMPLES = [
    (row["id"], is_used, text, expected)
    for _, row in ROWS
    for is_used, kind in ((True, "used"), (False, "unused"))
    for text, expected in row["examples"].get(kind, {}).items()
]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence is read anew."""
    monkeypatch.setattr(parsed, "_kept", lambda lexicon: OrderedDict())


@each_row("rule, is_used, text, expected", EXAMPLES)
def test_example(rule: str, is_used: bool, text: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    use_rule = assertion.Engine._use

    def noted(engine: assertion.Engine, rule: Rule, i: int) -> None:
        used.append(rule.id)
        use_rule(engine, rule, i)

    monkeypatch.setattr(assertion.Engine, "_use", noted)
    reading = read(text)
    assert (rule in used) == is_used
    for part in expected.split(";"):
        check(part.strip(), reading, {})


@each_row("stage, row", ROWS)
def test_without_a_rule_an_example_is_read_otherwise(
    stage: str, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lexicon, texts = load(), row["examples"]["used"]
    findings = [read(text).findings for text in texts]
    rules = lexicon.context_rules
    without = {**rules, stage: [each for each in rules[stage] if each["id"] != row["id"]]}
    monkeypatch.setattr(lexicon, "context_rules", without)
    kept = {function: made for function, made in lexicon.made.items() if function.__module__ != context_rules.__name__}
    monkeypatch.setattr(lexicon, "made", kept)  # but for what is made of the rules
    assert [read(text).findings for text in texts] != findings


def test_ids_and_predicates_are_known() -> None:
    ids = [row["id"] for _, row in ROWS]
    assert len({*ids}) == len(ids)
    assert all(callable(getattr(Clause, name)) for name in PREDICATES)
    assert {name for _, row in ROWS for key in ("when", "unless") for name in row.get(key, ())} == {*PREDICATES}
    assert {kind for rule in all_rules(load()) for kind, _ in rule.cue} <= SENSES.keys()


@pytest.mark.usefixtures("small_lexicon")
def test_a_rule_of_ones_own_comes_first_or_takes_the_place_of_ours(tmp_path) -> None:
    row = "cues:\n  - {id: possible.own, words: [perchance], effect: possible}\n"
    (tmp_path / "context_rules.yaml").write_text(row + "  - {id: absent.before, words: [nary], effect: absent}\n")
    with use(tmp_path):
        assert [f.assertion for f in read("Perchance edema.").findings] == ["uncertain"]
        assert [f.assertion for f in read("Nary edema.").findings] == ["absent"]
        assert [f.assertion for f in read("No edema.").findings] == ["present"]
    assert [f.assertion for f in read("Perchance edema. No mass.").findings] == ["present", "absent"]


@pytest.mark.usefixtures("small_lexicon")
def test_a_list_that_does_not_exist_is_named(tmp_path) -> None:
    (tmp_path / "context_rules.yaml").write_text("cues:\n  - {id: own.rule, words: [PERCHANCES], effect: possible}\n")
    with pytest.raises(InputError, match=r'context_rules\.yaml:2: words names "PERCHANCES"'), use(tmp_path):
        pytest.fail("it was used")
