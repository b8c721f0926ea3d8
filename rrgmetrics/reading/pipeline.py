"""The pipeline: every step that reads a sentence, in order, with what it takes and what it writes.

A report is cleaned (`reports.cleaning`), cut into words (`typing_errors.tokenize_report`) and into statements
(`parsed.read_sentences`). Each statement goes through four stages:

- `ITEMS` makes items of its words and settles what they mean;
- `MENTIONS` finds what is named;
- `ASSERTION` decides whether it is present, absent or uncertain;
- `DESCRIPTION` gives each mention the words that describe it.

`engine` then makes findings of the mentions (`attributes.describe`), connects them with those of other statements
(`coreference`, `background`), spells out what later statements abbreviate, and merges what was named twice.

A stage is a list of steps. To change how a statement is read, find the function or the context rule that a trace names
(`rrgmetrics explain --trace`) and mend it. To add a step, write a function of a statement's parts and give it a line
here: its place in the list is when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rrgmetrics.reading.assertion import apply_cues
from rrgmetrics.reading.attachment import (
    add_topic,
    attach_words,
    deny_positions,
    find_topic,
    give_to_whole,
    judge_depths,
    share_device_words,
    share_places,
    share_verdict,
)
from rrgmetrics.reading.change import give_changes, settle_changes
from rrgmetrics.reading.dates import read_same_as_before, read_seen_before
from rrgmetrics.reading.denied_lists import deny_lists
from rrgmetrics.reading.device_moves import read_device_moves
from rrgmetrics.reading.device_passage import skip_former_places, skip_passed_places
from rrgmetrics.reading.device_sums import sum_devices
from rrgmetrics.reading.ellipsis import inherit_words, resolve_ellipsis
from rrgmetrics.reading.excluded_places import exclude_places
from rrgmetrics.reading.held_states import before_cues, explain_states
from rrgmetrics.reading.items import COILING, Item, Mention, bend_verbs, deny_larger, match_phrases
from rrgmetrics.reading.levels import number_bones
from rrgmetrics.reading.lexicon import Lexicon, SmallWords
from rrgmetrics.reading.mentions import find_named
from rrgmetrics.reading.normality import read_normal_structures
from rrgmetrics.reading.nouns import name_nouns
from rrgmetrics.reading.place_words import resolve_places
from rrgmetrics.reading.pronouns import resolve_pronouns
from rrgmetrics.reading.recording import follow, watch
from rrgmetrics.reading.resection import drop_dating_changes, drop_names_of_studies, read_resections
from rrgmetrics.reading.settled import (
    explain_feigned,
    settle_devices,
    settle_past,
)
from rrgmetrics.reading.shared_words import share_nouns, share_structures
from rrgmetrics.reading.sizes import judge_diameters, read_fractions, settle_sizes
from rrgmetrics.reading.tables import answer_headings, separate_rows
from rrgmetrics.reading.tokens import Token
from rrgmetrics.reading.verbs import read_verbs_of_change


@dataclass(slots=True)
class Draft:
    """The parts of a statement while it is read.

    Attributes:
        lexicon: What it is read with.
        items: Words and terms, in order.
        mentions: What is named, in order.
        tokens: The words, where items are made of them.
        words: The words that its items begin with, before any step has changed one.
        topic: The side that the statement is about.
    """

    lexicon: Lexicon
    items: list[Item]
    mentions: list[Mention] = field(default_factory=list)
    tokens: Sequence[Token] = ()
    words: frozenset[str] = frozenset()
    topic: Item | None = None

    @property
    def small(self) -> SmallWords:
        """The lexicon's small words."""
        return self.lexicon.small


class Step(NamedTuple):
    """A step of the pipeline.

    Attributes:
        run: The function; its name is the step's.
        takes: The parts of the draft that it is called with, and looks at.
        writes: What it changes in place: senses of items ("severity"; "senses": it takes them all from words that mean
            something else here), fields of mentions ("mention.course"). A test holds it to these.
        makes: The part of the draft that its result takes the place of; "": it returns nothing.
        needs: Whether there is anything to do, where looking is faster than running; None: always.
    """

    run: Callable[..., Any]
    takes: tuple[str, ...]
    writes: tuple[str, ...] = ()
    makes: str = ""
    needs: Callable[[Draft], bool] | None = None


_ITEMS = ("items", "lexicon")
_TOKENS = ("items", "tokens", "lexicon")
_SMALL = ("items", "small")
_MENTIONS = ("items", "mentions", "lexicon")


def _has_colon(draft: Draft) -> bool:
    return ":" in draft.words


def _names_several(draft: Draft) -> bool:
    return len(draft.mentions) > 1


ITEMS = (
    Step(
        bend_verbs, _TOKENS, ("concept", "position", "quality"), needs=lambda draft: not draft.words.isdisjoint(COILING)
    ),
    Step(deny_larger, _TOKENS, ("change", "negation_before", "severity"), needs=lambda draft: "no" in draft.words),
    Step(share_nouns, _TOKENS, ("about", "concept", "holds", "inside", "morphology", "route", "structure", "zone")),
    Step(share_structures, _TOKENS, ("inside", "level", "listed", "structure")),
    Step(name_nouns, _ITEMS, ("senses", "concept", "noun")),
    Step(drop_names_of_studies, _ITEMS, ("senses",)),
    Step(separate_rows, _ITEMS, ("word",), needs=_has_colon),
    Step(answer_headings, _ITEMS, ("quality",), needs=_has_colon),
    Step(deny_lists, _ITEMS, ("negation_before",)),
    Step(read_fractions, _ITEMS, ("senses", "ordinal", "severity"), needs=lambda draft: bool(draft.lexicon.shares)),
    Step(read_verbs_of_change, _TOKENS, ("senses", "word", "change", "negation_after", "quality")),
    Step(read_seen_before, _SMALL, ("change", "item_break", "negation_after", "negation_before", "quality")),
    Step(read_same_as_before, _SMALL, ("change",)),
    Step(
        settle_sizes,
        _ITEMS,
        (
            "senses",
            "before",
            "change",
            "concept",
            "item_break",
            "measure",
            "quality",
            "resolved_before",
            "severity",
            "structure",
        ),
        makes="items",
    ),
    Step(number_bones, _TOKENS, ("level", "ordinal", "side", "structure"), makes="items"),
    Step(resolve_places, _TOKENS, ("side", "structure", "zone"), makes="items"),
    Step(read_resections, _ITEMS, ("quality", "resolved_before")),
    Step(drop_dating_changes, _ITEMS, ("senses",)),
    Step(read_normal_structures, _TOKENS, ("senses", "change", "quality", "structure")),
    Step(sum_devices, _TOKENS, ("concept", "structure")),
    Step(read_device_moves, _ITEMS, ("change", "quality", "severity")),
    Step(
        judge_diameters,
        _ITEMS,
        ("senses", "measured", "quality"),
        makes="items",
        needs=lambda draft: bool(draft.lexicon.diameters),
    ),
)
MENTIONS = (
    Step(find_named, _ITEMS, ("zone",), makes="mentions"),
    Step(resolve_pronouns, _MENTIONS, ("senses",), makes="mentions"),
    Step(
        resolve_ellipsis,
        _MENTIONS,
        (
            "clause_end",
            "negation_after",
            "negation_before",
            "negation_verb",
            "quality",
            "mention.dropped",
            "mention.excepts",
        ),
        makes="mentions",
    ),
)
ASSERTION = (
    Step(
        apply_cues,
        _MENTIONS,
        ("mention.assertion", "mention.certainty", "mention.change", "mention.dropped", "mention.link"),
    ),
    Step(
        settle_devices,
        _MENTIONS,
        ("senses", "change", "position", "mention.assertion", "mention.change", "mention.dropped"),
    ),
    Step(settle_past, _MENTIONS, ("mention.assertion", "mention.change")),
    Step(explain_feigned, _MENTIONS, ("mention.dropped",)),
)
DESCRIPTION = (
    Step(deny_positions, ("items",), ("denied",)),
    Step(judge_depths, _MENTIONS, ("position", "quality")),
    Step(skip_passed_places, _SMALL, ("senses", "tip")),
    Step(skip_former_places, _SMALL, ("senses",)),
    Step(exclude_places, _SMALL, ("senses", "tip", "zone")),
    Step(find_topic, ("items", "mentions"), makes="topic"),
    Step(settle_changes, _MENTIONS, ("senses", "acuity", "change", "count", "quality", "severity")),
    Step(give_changes, _MENTIONS, ("mention.course",)),
    Step(
        attach_words,
        _MENTIONS,
        ("mention.change", "mention.definite_article", "mention.modifiers", "mention.post_place", "mention.pre_place"),
    ),
    Step(add_topic, ("mentions", "topic"), ("mention.extent", "mention.modifiers")),
    Step(
        share_places, _MENTIONS, ("mention.modifiers", "mention.post_place", "mention.pre_place"), needs=_names_several
    ),
    Step(share_device_words, ("mentions", "lexicon"), ("mention.modifiers",), needs=_names_several),
    Step(give_to_whole, ("mentions",), ("mention.course", "mention.modifiers"), needs=_names_several),
    Step(share_verdict, _MENTIONS, ("mention.modifiers",), needs=_names_several),
    Step(inherit_words, ("mentions", "lexicon"), ("mention.course", "mention.modifiers")),
)


def run(stage: Sequence[Step], draft: Draft) -> Draft:
    """Runs the steps of a stage over a draft, in order, and returns it."""
    for step in stage:
        if step.needs is not None and not step.needs(draft):
            continue
        made = step.run(*[getattr(draft, part) for part in step.takes])
        if step.makes == "items":
            draft.items = follow(made, draft.items, step.run)
        elif step.makes == "mentions":
            draft.mentions = watch(made, step.run)
        elif step.makes:
            setattr(draft, step.makes, made)
    return draft


def find_items(tokens: list[Token], first: int, last: int, lexicon: Lexicon) -> list[Item]:
    """Cuts tokens `[first, last)` into items, the longest known phrase first, and settles what they mean."""
    items = follow(match_phrases(tokens, first, last, lexicon))
    return run(ITEMS, Draft(lexicon, items, tokens=tokens, words=frozenset([item.word for item in items]))).items


def find_mentions(items: list[Item], lexicon: Lexicon) -> list[Mention]:
    """Finds what a statement names, also by pronoun, and what it leaves out the name of."""
    return run(MENTIONS, Draft(lexicon, items)).mentions


def assert_mentions(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Sets assertion, certainty and links of every mention in place; drops those that are only asked or advised."""
    before = before_cues(items, mentions)
    run(ASSERTION, Draft(lexicon, items, mentions))
    if before is not None:
        explain_states(before, mentions, lexicon)


def describe_mentions(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Item]:
    """Gives each mention the items that describe it (`mention.modifiers`); returns the items as they are settled."""
    return run(DESCRIPTION, Draft(lexicon, follow(list(items)), mentions)).items
