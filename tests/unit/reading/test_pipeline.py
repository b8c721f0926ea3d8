"""The pipeline: each step has one place, and writes what it declares."""

from __future__ import annotations

import ast
from collections import Counter
from copy import copy
from pathlib import Path

from rrgmetrics.reading import pipeline, read
from rrgmetrics.reading.items import Mention
from rrgmetrics.reading.lexicon import load
from rrgmetrics.reading.parsed import _kept
from rrgmetrics.reading.senses import SENSES
from table_rows import read_table

STAGES = pipeline.STAGES
SENTENCES = [row[1] for row in read_table(*sorted((Path(__file__).parent / "sentences").glob("*.tsv")))[::4]]


def written(before, after):
    """The senses and fields in which two states of a statement differ."""
    items, mentions = before
    items_now, mentions_now = after
    for place in items.keys() & items_now.keys():
        (word, senses), (word_now, senses_now) = items[place], items_now[place]
        if word != word_now:
            yield "word"
        if senses and not senses_now:
            yield "senses"
        else:
            yield from (name for name in senses.keys() | senses_now.keys() if senses.get(name) != senses_now.get(name))
    for key in mentions.keys() & mentions_now.keys():
        yield from (f"mention.{name}" for name, value in mentions[key].items() if mentions_now[key][name] != value)


def state(draft):
    return (
        {(item.first, item.last): (item.word, dict(item.senses)) for item in draft.items},
        {
            id(mention): {name: fields(getattr(mention, name)) for name in Mention.__slots__}
            for mention in draft.mentions
        },
    )


def fields(value):
    return list(value) if isinstance(value, list) else value


def test_steps_write_what_they_declare(monkeypatch):
    run, seen = pipeline.run, {}

    def watched(stage, draft):
        for step in stage:
            before = state(draft)
            run((step,), draft)
            seen.setdefault(step.run.__name__, set()).update(written(before, state(draft)))
        return draft

    monkeypatch.setattr(pipeline, "run", watched)
    for sentence in SENTENCES:
        _kept(load()).clear()  # another test may have read it
        read(sentence)
    declared = {step.run.__name__: {*step.writes} for stage in STAGES for step in stage}
    assert seen.keys() == declared.keys()
    assert {name: extra for name, names in seen.items() if (extra := names - declared[name])} == {}
    assert sum(map(bool, seen.values())) > len(declared) / 2


def test_steps_without_what_they_look_for_have_no_work(monkeypatch):
    """A step that is left out would have changed nothing, and most are left out more often than not."""
    run, steps, missed = pipeline.run, Counter(), []

    def all_steps(stage, draft):
        sought = pipeline._sought(draft.lexicon)
        for step in stage:
            runs = len(draft.mentions) >= step.mentions and not sought.needs[step.run] & ~sought.shown(draft)
            steps[runs] += 1
            if runs:
                run((step,), draft)
                continue
            before, unchanged = state(draft), copy(getattr(draft, step.makes)) if step.makes else None
            made = step.run(*[getattr(draft, part) for part in step.takes])
            if state(draft) != before or made != unchanged:
                missed.append((step.run.__name__, [item.word for item in draft.items]))
        return draft

    monkeypatch.setattr(pipeline, "run", all_steps)
    for sentence in SENTENCES:
        _kept(load()).clear()
        read(sentence)
    assert missed == []
    assert steps[False] > steps[True]


def test_a_step_has_one_place():
    names = [step.run.__name__ for each in STAGES for step in each]
    assert len({*names}) == len(names)
    assert all(step.run.__doc__ for stage in STAGES for step in stage)


def test_steps_look_for_words_and_senses_that_there_are():
    signs = [each for stage in STAGES for step in stage for each in step.needs]
    assert {name for each in signs for name in each.senses} <= {*SENSES}
    assert all(hasattr(load().small, name) for each in signs for name in each.lists)


def test_steps_write_senses_and_fields():
    known = {"senses", "word", *SENSES, *(f"mention.{name}" for name in Mention.__slots__)}
    assert {name for stage in STAGES for step in stage for name in step.writes} <= known


def test_the_code_asks_for_known_senses():
    """`"concept" in item.senses`: mypy checks the keys that are read and written, but not those that are asked for."""
    asked = [
        (each.left.value, file.name, each.lineno)
        for file in Path(pipeline.__file__).parent.glob("*.py")
        for each in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(each, ast.Compare) and isinstance(each.left, ast.Constant)
        if isinstance(each.ops[0], ast.In | ast.NotIn) and ast.unparse(each.comparators[0]).endswith("senses")
    ]
    assert len(asked) > 100
    assert [place for place in asked if place[0] not in SENSES] == []
