"""The pipeline: every step that reads a sentence, in order, with what it takes and what it writes.

A report is cleaned (`reports.cleaning`), cut into words (`typing_errors.tokenize_report`) and into statements
(`parsed.read_sentences`). Each statement goes through five stages:

- `ITEMS` makes items of its words and settles what they mean;
- `MENTIONS` finds what is named;
- `ASSERTION` decides whether it is present, absent or uncertain;
- `DESCRIPTION` gives each mention the words that describe it;
- `STATEMENT` reads their values, and what the statement has to do with others and with earlier films.

`engine` then makes findings of the mentions, connects them with those of other statements (`coreference`,
`background`), spells out what later statements abbreviate, and merges what was named twice.

A stage is a list of steps. To change how a statement is read, find the function or the context rule that a trace names
(`rrgmetrics explain --trace`) and mend it. To add a step, write a function of a statement's parts and give it a line
here: its place in the list is when it runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any, Literal, NamedTuple

from rrgmetrics.reading.assertion import apply_cues
from rrgmetrics.reading.attachment import (
    add_topic,
    attach_words,
    deny_positions,
    find_topic,
    give_place_of_change,
    give_side_of_normal,
    give_to_whole,
    judge_depths,
    return_earlier_sizes,
    share_device_words,
    share_places,
    share_verdict,
    share_with_included,
)
from rrgmetrics.reading.attributes import Stated, state_mentions
from rrgmetrics.reading.background import FOR, find_dated, told_of_patient
from rrgmetrics.reading.boundaries import INCLUDING
from rrgmetrics.reading.change import RECENT, give_changes, give_growth, give_now, settle_changes
from rrgmetrics.reading.coreference import clause_ahead, sums_up
from rrgmetrics.reading.dates import PRIOR, compared_as, name_prior_study, read_same_as_before, read_seen_before
from rrgmetrics.reading.denied_lists import deny_lists
from rrgmetrics.reading.device_moves import read_device_moves, read_moves_to_come
from rrgmetrics.reading.device_passage import skip_former_places, skip_passed_places
from rrgmetrics.reading.device_sums import BARE, sum_devices
from rrgmetrics.reading.ellipsis import add_excepted, inherit_words, resolve_ellipsis, share_sides_beside
from rrgmetrics.reading.excluded_places import LEAVING, OPEN, OTHER, exclude_places
from rrgmetrics.reading.held_states import before_cues, explain_states
from rrgmetrics.reading.in_turn import IN_TURN, give_in_turn
from rrgmetrics.reading.inclusions import keep_calcium_in_lesions, merge_parts
from rrgmetrics.reading.items import COILING, Item, Mention, bend_verbs, deny_larger, match_phrases
from rrgmetrics.reading.levels import SIDED_RIBS, name_ribs, number_bones
from rrgmetrics.reading.lexicon import Lexicon, Role, SmallWords, per_lexicon
from rrgmetrics.reading.mentions import add_wholes, drop_topics, find_named, merge_qualities
from rrgmetrics.reading.node_stations import NUMBERS, name_stations
from rrgmetrics.reading.normality import read_normal_structures
from rrgmetrics.reading.nouns import (
    ASPECTS,
    CHOSEN,
    UNITS_OF_DENSITY,
    drop_chosen_lesions,
    drop_larger_of_several,
    drop_measured_densities,
    drop_normal_aspects,
    drop_outlines,
    name_nouns,
)
from rrgmetrics.reading.organs import THERE, name_in_organs, turn_place_first
from rrgmetrics.reading.place_words import (
    INNER,
    PARTS,
    forget_inner_places,
    resolve_places,
    resolve_relative_sides,
)
from rrgmetrics.reading.prior_values import INSTEAD, NOW, tell_what_was
from rrgmetrics.reading.pronouns import NONE, OF_TWO, PRONOUNS, resolve_pronouns, separate_none
from rrgmetrics.reading.recording import follow, recorder, watch
from rrgmetrics.reading.resection import (
    IF,
    ON,
    SINCE,
    drop_conditions,
    drop_dating_changes,
    drop_names_of_studies,
    read_nothing_left,
    read_resections,
)
from rrgmetrics.reading.settled import (
    WAS,
    explain_feigned,
    settle_devices,
    settle_past,
)
from rrgmetrics.reading.shared_words import (
    JOINTS,
    TOGETHER,
    join_together,
    place_nodes,
    share_beginnings,
    share_nouns,
    share_structures,
)
from rrgmetrics.reading.sizes import (
    FRACTIONS,
    judge_diameters,
    read_fractions,
    restore_points,
    settle_sizes,
    tell_degrees_apart,
)
from rrgmetrics.reading.subjects import give_since
from rrgmetrics.reading.tables import answer_headings, separate_rows
from rrgmetrics.reading.tokens import Token
from rrgmetrics.reading.verbs import APPEARANCE, DOES, HAS, read_verbs_of_change


@dataclass(slots=True)
class Draft:
    """The parts of a statement while it is read.

    Attributes:
        lexicon: What it is read with.
        items: Words and terms, in order.
        mentions: What is named, in order.
        tokens: The words, where items are made of them.
        topic: The side that the statement is about.
        stated: The mentions that say something, with their values.
        history: Mentions that are only about the patient.
        dated: Operations whose day is stated, and removals of devices that only state a time.
        compared: How the statement compares with an earlier study.
        ahead: Where a clause before the first mention ends, which may be about a finding before; 0 if there is none.
        sums_up: Whether it sums up the statements before.
    """

    lexicon: Lexicon
    items: list[Item]
    mentions: list[Mention] = field(default_factory=list)
    tokens: Sequence[Token] = ()
    topic: Item | None = None
    stated: list[Stated] = field(default_factory=list)
    history: list[Mention] = field(default_factory=list)
    dated: list[Mention] = field(default_factory=list)
    compared: str = ""
    ahead: int = 0
    sums_up: bool = False

    @property
    def small(self) -> SmallWords:
        """The lexicon's small words."""
        return self.lexicon.small


class Signs(NamedTuple):
    """What a statement shows where a step has work: one of these is enough.

    Attributes:
        words: Words that items begin with.
        lists: Lists of `small_words.yaml`: one of their words.
        senses: Names of senses.
        roles: Roles of concepts that are mentioned; "device" is that of all devices.
    """

    words: Collection[str] = ()
    lists: tuple[str, ...] = ()
    senses: tuple[str, ...] = ()
    roles: tuple[Role | Literal["device"], ...] = ()


class Step(NamedTuple):
    """A step of the pipeline.

    Attributes:
        run: The function; its name is the step's.
        takes: The parts of the draft that it is called with, and looks at.
        writes: What it changes in place: senses of items ("severity"; "senses": it takes them all from words that mean
            something else here), fields of mentions ("mention.course"). A test holds it to these.
        makes: The part of the draft that its result takes the place of; "": it returns nothing.
        needs: What it looks for, each of them: without, it has no work and does not run. A test holds it to these too.
        mentions: How many mentions it needs.
    """

    run: Callable[..., Any]
    takes: tuple[str, ...]
    writes: tuple[str, ...] = ()
    makes: str = ""
    needs: tuple[Signs, ...] = ()
    mentions: int = 0


_ITEMS = ("items", "lexicon")
_TOKENS = ("items", "tokens", "lexicon")
_SMALL = ("items", "small")
_MENTIONS = ("items", "mentions", "lexicon")
_COLON = (Signs(words=(":",)),)
_SIZED = Signs(senses=("measure", "severity"))
_DEVICE = (Signs(roles=("device",)),)

ITEMS = (
    Step(bend_verbs, _TOKENS, ("concept", "position", "quality"), needs=(Signs(words=COILING),)),
    Step(deny_larger, _TOKENS, ("change", "negation_before", "severity"), needs=(Signs(words=("no",)),)),
    Step(
        join_together,
        ("items",),
        ("senses", "word"),
        makes="items",
        needs=(Signs(words=TOGETHER), Signs(words=("with",))),
    ),
    Step(
        share_nouns,
        _TOKENS,
        ("about", "concept", "holds", "inside", "morphology", "route", "structure", "zone"),
        needs=(Signs(words=JOINTS), Signs(senses=("concept",))),
    ),
    Step(
        share_beginnings,
        _TOKENS,
        ("about", "concept", "holds", "inside", "structure", "zone"),
        needs=(Signs(words=JOINTS), Signs(senses=("concept",)), Signs(senses=("structure",))),
    ),
    Step(
        share_structures,
        _TOKENS,
        ("inside", "level", "listed", "structure"),
        needs=(Signs(words=JOINTS), Signs(senses=("structure",))),
    ),
    Step(name_stations, _ITEMS, ("structure", "listed", "zone", "inside"), needs=(Signs(words=NUMBERS),)),
    Step(give_in_turn, ("items",), ("measure", "severity", "zone"), makes="items", needs=(Signs(words=IN_TURN),)),
    Step(place_nodes, ("items",), ("structure",), needs=(Signs(words=("(",)), Signs(senses=("structure",)))),
    Step(name_nouns, _ITEMS, ("senses", "concept", "noun"), needs=(Signs(senses=("noun",)),)),
    Step(drop_chosen_lesions, _ITEMS, ("senses",), needs=(Signs(words=CHOSEN),)),
    Step(
        drop_larger_of_several,
        _TOKENS,
        ("senses", "change", "quality"),
        needs=(Signs(lists=("comparatives",)), Signs(senses=("change",))),
    ),
    Step(drop_outlines, ("items",), ("senses",), needs=(Signs(senses=("structure",)),)),
    Step(drop_normal_aspects, _SMALL, ("senses",), needs=(Signs(words=ASPECTS), Signs(senses=("quality",)))),
    Step(drop_measured_densities, ("items",), ("senses",), needs=(Signs(words=UNITS_OF_DENSITY),)),
    Step(drop_names_of_studies, _ITEMS, ("senses",), needs=(Signs(lists=("studies",)), Signs(words=ON))),
    Step(separate_rows, _ITEMS, ("word",), needs=_COLON),
    Step(answer_headings, _ITEMS, ("quality",), needs=_COLON),
    Step(turn_place_first, ("items",), ("senses", "word", "structure", "item_break"), needs=(Signs(words=THERE),)),
    Step(deny_lists, _ITEMS, ("negation_before",), needs=(Signs(words=(":", ";")),)),
    Step(keep_calcium_in_lesions, _ITEMS, ("senses", "quality", "concept"), needs=(Signs(senses=("concept",)),)),
    Step(separate_none, ("items",), ("negation_after", "negation_before", "clause_end"), needs=(Signs(words=(NONE,)),)),
    Step(read_fractions, _ITEMS, ("senses", "ordinal", "severity"), needs=(Signs(words=FRACTIONS),)),
    Step(
        read_verbs_of_change,
        _TOKENS,
        ("senses", "word", "change", "negation_after", "quality"),
        needs=(Signs(words=HAS | DOES | APPEARANCE),),
    ),
    Step(
        name_prior_study,
        _SMALL,
        ("senses", "acuity", "earlier_study"),
        needs=(Signs(words=PRIOR), Signs(senses=("acuity",))),
    ),
    Step(
        read_seen_before,
        _SMALL,
        ("change", "item_break", "negation_after", "negation_before", "negation_verb", "quality"),
        needs=(Signs(lists=("existent",), senses=("negation_after", "negation_before", "negation_verb")),),
    ),
    Step(read_same_as_before, _SMALL, ("change",), needs=(Signs(words=("as", "same")),)),
    Step(restore_points, _ITEMS, ("measure",), needs=(Signs(senses=("measure",)),)),
    Step(
        settle_sizes,
        _ITEMS,
        ("senses", "before", "change", "measure", "quality", "resolved_before", "severity"),
        needs=(Signs(senses=("measure", "severity", "change")),),
    ),
    Step(tell_degrees_apart, _ITEMS, ("before", "quality", "severity"), needs=(Signs(senses=("severity",)),)),
    Step(
        tell_what_was,
        _ITEMS,
        ("senses", "before", "measure", "quality", "severity"),
        needs=(Signs(words=NOW | INSTEAD), _SIZED),
    ),
    Step(name_ribs, _ITEMS, ("level", "side", "structure"), needs=(Signs(words=SIDED_RIBS),)),
    Step(
        number_bones,
        _TOKENS,
        ("level", "ordinal", "side", "structure"),
        makes="items",
        needs=(Signs(senses=("ordinal", "level", "structure", "concept")),),
    ),
    Step(forget_inner_places, ("items",), ("senses", "zone"), needs=(Signs(words=INNER), Signs(words=PARTS))),
    Step(
        resolve_relative_sides,
        _ITEMS,
        ("side",),
        needs=(
            Signs(senses=("side", "zone")),
            Signs(words=("side",), lists=("contralateral", "ipsilateral", "overlain")),
        ),
    ),
    Step(
        resolve_places,
        _TOKENS,
        ("senses", "holds", "quality", "severity", "side", "structure", "tip", "zone"),
        makes="items",
        needs=(Signs(lists=("pairing", "heights", "more")),),
    ),
    Step(
        read_resections,
        _ITEMS,
        ("quality", "resolved_before"),
        needs=(Signs(lists=("withdrawn",)), Signs(senses=("resolved_before",))),
    ),
    Step(
        read_nothing_left,
        ("items",),
        ("change", "resolved_before"),
        needs=(Signs(words=("no",)), Signs(senses=("resolved_before",))),
    ),
    Step(
        drop_conditions,
        ("items",),
        ("senses", "severity", "change"),
        needs=(Signs(words=(IF,)), Signs(senses=("severity", "change"))),
    ),
    Step(drop_dating_changes, _ITEMS, ("senses",), needs=(Signs(words=SINCE), Signs(senses=("change",)))),
    Step(
        read_normal_structures,
        _TOKENS,
        ("senses", "change", "quality", "structure"),
        needs=(Signs(lists=("ordinary",), senses=("change", "negation_before", "quality")),),
    ),
    Step(sum_devices, _TOKENS, ("concept", "structure"), needs=(Signs(words=BARE, lists=("device_nouns",)),)),
    Step(
        read_device_moves,
        _ITEMS,
        ("change", "quality", "severity"),
        needs=(Signs(lists=("advancing", "retracting", "swapping", "repositioning")),),
    ),
    Step(
        read_moves_to_come,
        _ITEMS,
        ("senses", "position", "quality", "severity"),
        needs=(Signs(lists=("advancing", "retracting", "repositioning", "to_be_moved")),),
    ),
    Step(
        judge_diameters,
        _ITEMS,
        ("senses", "measured", "quality"),
        makes="items",
        needs=(Signs(senses=("measure",)),),
    ),
)
MENTIONS = (
    Step(
        find_named,
        _ITEMS,
        ("zone",),
        makes="mentions",
        needs=(Signs(senses=("concept", "quality", "normal", "lone", "listed")),),
    ),
    Step(add_wholes, _MENTIONS, makes="mentions", needs=(*_DEVICE, Signs(senses=("quality",))), mentions=1),
    Step(name_in_organs, _MENTIONS, ("mention.concept",), makes="mentions", mentions=1),
    Step(merge_qualities, _MENTIONS, ("mention.dropped",), makes="mentions", mentions=2),
    Step(merge_parts, _MENTIONS, ("zone",), makes="mentions", mentions=2),
    Step(drop_topics, _MENTIONS, makes="mentions", needs=_COLON, mentions=1),
    Step(
        resolve_pronouns,
        _MENTIONS,
        ("senses",),
        makes="mentions",
        needs=(Signs(words=PRONOUNS | OF_TWO.keys() | {NONE}, senses=("holds",)),),
        mentions=1,
    ),
    Step(
        add_excepted,
        _MENTIONS,
        ("senses", "clause_end", "mention.excepts"),
        makes="mentions",
        needs=(Signs(lists=("excepting",)),),
        mentions=1,
    ),
    Step(
        resolve_ellipsis,
        _MENTIONS,
        ("senses", "negation_after", "negation_before", "negation_verb", "quality", "mention.dropped"),
        makes="mentions",
        needs=(Signs(senses=("side", "measure")),),
        mentions=1,
    ),
)
ASSERTION = (
    Step(
        apply_cues,
        _MENTIONS,
        (
            "mention.assertion",
            "mention.certainty",
            "mention.change",
            "mention.course",
            "mention.dropped",
            "mention.link",
        ),
        mentions=1,
    ),
    Step(
        settle_devices,
        _MENTIONS,
        ("senses", "change", "position", "mention.assertion", "mention.change", "mention.dropped"),
        needs=(Signs(roles=("device", "feigns")),),
        mentions=1,
    ),
    Step(
        settle_past,
        _MENTIONS,
        ("mention.assertion", "mention.change"),
        needs=(Signs(words=WAS, lists=("bygone",)),),
        mentions=2,
    ),
    Step(explain_feigned, _MENTIONS, ("mention.dropped",), needs=(Signs(senses=("feigning",)),), mentions=1),
)
DESCRIPTION = (
    Step(deny_positions, ("items",), ("denied",), needs=(Signs(senses=("position",)),)),
    Step(
        judge_depths,
        _MENTIONS,
        ("position", "quality"),
        needs=(Signs(roles=("tipped",)), Signs(lists=("astray",))),
    ),
    Step(
        skip_passed_places,
        _SMALL,
        ("senses", "tip"),
        needs=(Signs(senses=("tip",)), Signs(words=("along",), lists=("passing",))),
    ),
    Step(skip_former_places, _SMALL, ("senses",), needs=(Signs(senses=("tip", "position")),)),
    Step(
        exclude_places,
        _SMALL,
        ("senses", "tip", "zone"),
        needs=(Signs(words=OTHER | LEAVING | OPEN, lists=("sparing", "reaching", "ways", "relative")),),
    ),
    Step(find_topic, ("items", "mentions"), makes="topic", needs=_COLON),
    Step(
        settle_changes,
        _MENTIONS,
        ("senses", "acuity", "change", "count", "morphology", "quality", "severity"),
        needs=(
            Signs(
                words=("now", "become", "enlargement", "fresh"),
                lists=("raised", "lowered", "grown"),
                senses=("change", "severity", "count"),
            ),
        ),
    ),
    Step(give_now, _MENTIONS, ("mention.course",), needs=(Signs(words=("now",)),), mentions=1),
    Step(
        give_growth,
        _MENTIONS,
        ("mention.course",),
        needs=(Signs(words=("increased",)), Signs(words=RECENT)),
        mentions=1,
    ),
    Step(give_changes, _MENTIONS, ("mention.course",), needs=(Signs(senses=("change",)),), mentions=1),
    Step(give_since, _MENTIONS, ("mention.course",), needs=(Signs(words=("since",)),), mentions=1),
    Step(
        attach_words,
        _MENTIONS,
        ("mention.change", "mention.definite_article", "mention.modifiers", "mention.post_place", "mention.pre_place"),
        mentions=1,
    ),
    Step(
        return_earlier_sizes,
        ("mentions", "small"),
        ("mention.modifiers",),
        needs=(Signs(lists=("earlier",)), Signs(senses=("measure",))),
        mentions=2,
    ),
    Step(add_topic, ("mentions", "topic"), ("mention.extent", "mention.modifiers"), mentions=1),
    Step(
        give_place_of_change,
        ("items", "mentions"),
        ("mention.modifiers", "mention.pre_place"),
        needs=(Signs(words=("with",)), Signs(senses=("change",)), Signs(senses=("side",))),
        mentions=1,
    ),
    Step(
        share_places,
        _MENTIONS,
        ("mention.modifiers", "mention.post_place", "mention.pre_place"),
        mentions=2,
    ),
    Step(
        give_side_of_normal,
        _MENTIONS,
        ("mention.modifiers",),
        needs=(Signs(words=("without", "with"), lists=("excepting",)), Signs(senses=("side",))),
        mentions=2,
    ),
    Step(share_device_words, ("mentions", "lexicon"), ("mention.modifiers",), needs=_DEVICE, mentions=2),
    Step(give_to_whole, ("mentions",), ("mention.course", "mention.modifiers"), needs=_DEVICE, mentions=2),
    Step(share_verdict, _MENTIONS, ("mention.modifiers",), needs=_DEVICE, mentions=2),
    Step(
        share_with_included,
        _MENTIONS,
        ("mention.course", "mention.modifiers"),
        needs=(*_DEVICE, Signs(words=INCLUDING)),
        mentions=2,
    ),
    Step(inherit_words, _MENTIONS, ("mention.course", "mention.modifiers"), mentions=2),
)
STATEMENT = (
    Step(state_mentions, ("mentions", "lexicon"), ("mention.concept",), makes="stated", mentions=1),
    Step(
        share_sides_beside,
        ("items", "stated", "small"),
        needs=(Signs(lists=("companions",)), Signs(senses=("side",))),
        mentions=2,
    ),
    Step(
        told_of_patient,
        _MENTIONS,
        makes="history",
        needs=(Signs(words=(FOR,), lists=("treated", "historic")),),
        mentions=1,
    ),
    Step(find_dated, _MENTIONS, makes="dated", needs=(*_DEVICE, Signs(lists=("settings",))), mentions=1),
    Step(
        compared_as,
        _SMALL,
        makes="compared",
        needs=(Signs(lists=("films", "existent"), senses=("change", "earlier_study")),),
    ),
    Step(clause_ahead, _MENTIONS, makes="ahead", needs=(Signs(lists=("subjects", "definite")),), mentions=1),
    Step(sums_up, _ITEMS, makes="sums_up", needs=(Signs(lists=("summing",)),)),
)
STAGES = (ITEMS, MENTIONS, ASSERTION, DESCRIPTION, STATEMENT)


def run(stage: Sequence[Step], draft: Draft) -> Draft:
    """Runs the steps of a stage over a draft that have work, in order, and returns it."""
    sought = _sought(draft.lexicon)
    shown = sought.shown(draft)
    for step in stage:
        if sought.needs[step.run] & ~shown or len(draft.mentions) < step.mentions:
            continue
        made = step.run(*[getattr(draft, part) for part in step.takes])
        if step.makes == "items":
            draft.items = follow(made, draft.items, step.run)
        elif step.makes == "mentions":
            draft.mentions = watch(made, step.run, draft.mentions)
        elif step.makes:
            setattr(draft, step.makes, made)
        if sought.adds[step.run] & ~shown:
            shown = sought.shown(draft)
    return draft


class _Sought:
    """What the steps look for, as a lexicon has it: each `Signs` of a step is a bit.

    Attributes:
        words: The bits that a word shows.
        senses: Those that a sense shows.
        concepts: Those that a mention of a concept shows.
        needs: By step, the bits that it needs.
        adds: By step, those that what it writes or makes can show, and that a later step of its stage needs.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.words, self.senses, self.concepts = Counter[str](), Counter[str](), Counter[str]()
        self.needs, self.adds = Counter[Callable[..., Any]](), Counter[Callable[..., Any]]()
        steps = chain.from_iterable(STAGES)
        for number, (step, signs) in enumerate((each, signs) for each in steps for signs in each.needs):
            bit = 1 << number
            self.needs[step.run] |= bit
            for word in {*signs.words}.union(*(getattr(lexicon.small, name) for name in signs.lists)):
                self.words[word] |= bit
            for sense in signs.senses:
                self.senses[sense] |= bit
            devices = (key for key, concept in lexicon.concepts.items() if concept.is_device)
            for concept in chain.from_iterable(
                devices if role == "device" else lexicon.roles[role] for role in signs.roles
            ):
                self.concepts[concept] |= bit
        for stage in STAGES:
            later = 0
            for step in reversed(stage):
                found = [self.senses[name] for name in step.writes]
                found += self.concepts.values() if step.makes == "mentions" else ()
                self.adds[step.run] = reduce(or_, found, 0) & later
                later |= self.needs.setdefault(step.run, 0)

    def shown(self, draft: Draft) -> int:
        """The bits that a draft shows."""
        shown = 0
        for item in draft.items:
            shown |= self.words.get(item.word, 0)
            for sense in item.senses:
                shown |= self.senses.get(sense, 0)
        for mention in draft.mentions:
            shown |= self.concepts.get(mention.concept, 0)
        return shown


@per_lexicon
def _sought(lexicon: Lexicon) -> _Sought:
    """What the steps look for."""
    return _Sought(lexicon)


def find_items(tokens: list[Token], first: int, last: int, lexicon: Lexicon) -> list[Item]:
    """Cuts tokens `[first, last)` into items, the longest known phrase first, and settles what they mean."""
    items = follow(match_phrases(tokens, first, last, lexicon))
    return run(ITEMS, Draft(lexicon, items, tokens=tokens)).items


def find_mentions(items: list[Item], lexicon: Lexicon) -> list[Mention]:
    """Finds what a statement names, also by pronoun, and what it leaves out the name of."""
    return run(MENTIONS, Draft(lexicon, items)).mentions


def assert_mentions(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Sets assertion, certainty and links of every mention in place; drops those that are only asked or advised."""
    recording = recorder()
    before = before_cues(items, mentions) if recording and mentions else None
    run(ASSERTION, Draft(lexicon, items, mentions))
    if recording and before:
        explain_states(recording, before, mentions, lexicon)


def describe_statement(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> Draft:
    """Gives each mention its words and its values; returns the statement, whose items are new if it has mentions."""
    draft = Draft(lexicon, items, mentions)
    if mentions:
        draft.items = follow(list(items))
        run(DESCRIPTION, draft)
    return run(STATEMENT, draft)
