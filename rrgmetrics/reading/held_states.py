"""Why a finding is absent, uncertain or left out: what opened that state, and what could have ended it and did not.

Found by trial, in a trace only. The context rules are applied again to copies of a sentence: once without each of its
words, and once with each answer of a predicate turned round. The words without which a finding would be there opened
the state; the predicates whose other answer would have left it there could have ended the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

from rrgmetrics.reading.assertion import Engine, apply_rules
from rrgmetrics.reading.context_rules import Rule
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Held
from rrgmetrics.reading.recording import Recorder, place_of, unrecorded

Fields = Mapping[str, Any]  # the values of _FIELDS
_FIELDS = ("assertion", "certainty", "change", "dropped")  # of a mention, which the state sets
_LINKS = ("link", "elided", "whole_of")  # fields that hold another mention
_STANDS_FOR_NONE = "…"  # a word of no list
_WORK = 20_000  # words that are looked at for a sentence; a text without full stops has more than can be tried


class Before(NamedTuple):
    """The words and mentions of a sentence before the state is applied to them."""

    items: list[Item]
    mentions: list[Mention]


class _Answer(NamedTuple):
    """Which item a predicate was asked of, and the function; a rule's name if it asked whether that applies."""

    at: int
    maker: FunctionType
    rule: str


class _Answers:
    """The answers of the predicates of one run, in order; one of them may be turned round."""

    def __init__(self, turned: int = -1) -> None:
        self.turned, self.depth = turned, 0
        self.count = 0
        self.outer: dict[int, _Answer] = {}  # by their number; not what one predicate asks of another

    def ask(self, maker: FunctionType, view: Any, *given: Any, **named: Any) -> bool:
        """Calls a predicate."""
        rule = next((each for each in given if isinstance(each, Rule)), None)
        if rule is not None and rule.open and not view.holds(rule.open):
            return bool(maker(view, *given, **named))  # what it ends was not opened
        number, self.count = self.count, self.count + 1
        self.depth += not rule
        try:
            value = maker(view, *given, **named)
        finally:
            self.depth -= not rule
        at = next((each for each in given if type(each) is int), -1)
        if at >= 0 and self.depth == 0:
            self.outer[number] = _Answer(at, maker, f"rule {rule.id}" if rule else "")
        return value is not True if number == self.turned else value


def before_cues(items: list[Item], mentions: list[Mention]) -> Before:
    """Copies of what the rules are applied to."""
    return Before(list(items), _copies(mentions))


def explain_states(made: Recorder, before: Before, mentions: Sequence[Mention], lexicon: Lexicon) -> None:
    """Records for each mention that is not simply there what opened its state, and what could have ended that."""
    with unrecorded():
        base = _Answers()
        plain = _run(before, lexicon, base)
        if all(map(_is_there, plain)):
            return
        found: list[list[Held]] = [[] for _ in plain]
        openers = _openers(before, plain, lexicon)
        for k, opening in enumerate(openers):
            found[k] += [Held(_words(made, before.items[i]), "opened it") for i in sorted(opening)]
        for number, answer in list(base.outer.items())[: _most(before)]:
            turned = _tried(before, lexicon, _Answers(number))
            for k, mention in enumerate(before.mentions if turned else ()):
                at = answer.at
                if _is_freer(turned[k], plain[k]) and at not in openers[k] and not _is_in(at, mention):
                    name, place = (answer.rule, "") if answer.rule else place_of(answer.maker)
                    found[k].append(Held(_words(made, before.items[at]), "did not end it", name, place))
    for k, held in enumerate(found):
        if held:
            made.hold(mentions[k], plain[k], tuple(dict.fromkeys(held)))


def _openers(before: Before, plain: Sequence[Fields], lexicon: Lexicon) -> list[set[int]]:
    """The items without which each mention would be there, or if several do the same, those that do it alone."""
    silent = [i for i, item in enumerate(before.items) if "concept" not in item.senses][: _most(before)]
    openers: list[set[int]] = [set() for _ in plain]
    for i in silent:
        fields = _tried(before._replace(items=_without(before.items, {i})), lexicon, _Answers())
        for k, each in enumerate(fields):
            if _is_freer(each, plain[k]) and not _is_in(i, before.mentions[k]):
                openers[k].add(i)
    unexplained = [k for k, fields in enumerate(plain) if not _is_there(fields) and not openers[k]]
    for i in silent if unexplained else ():
        others = {*silent} - {i}
        fields = _tried(before._replace(items=_without(before.items, others)), lexicon, _Answers())
        for k in unexplained if fields else ():
            if fields[k] == plain[k] and not _is_in(i, before.mentions[k]):
                openers[k].add(i)
    return openers


def _most(before: Before) -> int:
    return _WORK // max(1, len(before.items))


def _is_in(i: int, mention: Mention) -> bool:
    return mention.first <= i < mention.last


def _tried(before: Before, lexicon: Lexicon, answers: _Answers) -> list[Fields]:
    """The same as `_run`; none if the cues cannot be applied so."""
    try:
        return _run(before, lexicon, answers)
    except Exception:  # whatever the reader does without an answer that it needs
        return []


def _run(before: Before, lexicon: Lexicon, answers: _Answers) -> list[Fields]:
    """Applies the cues to copies, and returns the fields that each mention gets."""
    mentions = _copies(before.mentions)
    engine = _asking_engine()(list(before.items), mentions, lexicon)
    engine.answers = answers
    apply_rules(engine)
    return [{name: getattr(mention, name) for name in _FIELDS} for mention in mentions]


def _copies(mentions: Sequence[Mention]) -> list[Mention]:
    with unrecorded():
        made = {id(mention): copy(mention) for mention in mentions}
        for each in made.values():
            for name in _LINKS:
                setattr(each, name, made.get(id(getattr(each, name)), getattr(each, name)))
    return list(made.values())


@cache
def _asking_engine() -> Any:
    """The engine, whose predicates are asked by way of `answers`."""
    makers: dict[str, Any] = {name: getattr(Engine, name) for name in dir(Engine) if not name.startswith("__")}
    asking = {
        name: _asked(maker)
        for name, maker in makers.items()
        if isinstance(maker, FunctionType) and maker.__annotations__.get("return") in ("bool", bool)
    }
    return type(Engine.__name__, (Engine,), asking)


def _asked(maker: FunctionType) -> Callable[..., bool]:
    def ask(self: Any, *given: Any, **named: Any) -> bool:
        answers: _Answers = self.answers
        return answers.ask(maker, self, *given, **named)

    return ask


def _without(items: list[Item], silent: set[int]) -> list[Item]:
    """The items, of which some say nothing."""
    return [Item(item.first, item.last, {}, _STANDS_FOR_NONE) if i in silent else item for i, item in enumerate(items)]


def _is_there(fields: Fields) -> bool:
    return fields["assertion"] == "present" and fields["certainty"] == "definite" and not fields["dropped"]


def _is_freer(fields: Fields, before: Fields) -> bool:
    """Whether a finding is there, or surer, with other fields than it had."""
    if _is_there(before) or fields["dropped"] or fields["assertion"] == "absent":
        return False
    if before["dropped"] or before["assertion"] == "absent":
        return True
    return _is_there(fields) or (fields["assertion"], before["assertion"]) == ("present", "uncertain")


def _words(made: Recorder, item: Item) -> str:
    return made.sentence.words(item.first, item.last)
