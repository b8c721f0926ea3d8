"""Doubted diagnoses that only say what a picture may be: "patchy opacities; FAT EMBOLISM SHOULD BE CONSIDERED".

Picture and diagnosis are one observation. Which diagnosis can explain which picture is data: the tables `named` and
`explains` of the rubric.
"""

from __future__ import annotations

from typing import Literal

from rrgmetrics.reading.coreference import is_left_by
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.model import Finding

_Table = Literal["named", "explains"]  # of the rubric
_HEDGES = frozenset({"possible_before", "probable_before", "possible_list"})
_BACK = 4  # findings before a diagnosis among which its picture may be


def explained(
    mention: Mention,
    items: list[Item],
    findings: list[Finding],
    observations: dict[int, list[int]],
    section: str,
    number: int,
    lexicon: Lexicon,
) -> list[int]:
    """Returns which findings a mention explains or is an alternative of, also one of the sentence before."""
    if mention.link is not None:
        return observations.get(id(mention.link), [])
    if is_left_by(mention, items, findings, number, lexicon):
        return [len(findings) - 1]
    if not findings or mention.certainty == "definite" or mention.assertion == "absent":
        return []
    pointed = any(item.word in lexicon.small.pointers for item in items[: mention.first])
    if not observations and (pointed or _goes_on(mention, items, findings[-1], lexicon)):
        in_place = lexicon.concepts[mention.concept].group in lexicon.groups["one_place"]
        described = _described(findings, section, number, lexicon) if in_place else []
        if described:
            return described
    return _shown(mention, findings, section, number, lexicon)


def _goes_on(mention: Mention, items: list[Item], before: Finding, lexicon: Lexicon) -> bool:
    """Whether a sentence only says what the picture before it may be: "A basal opacity. LIKELY ATELECTASIS."."""
    placed = any("side" in item.senses or "zone" in item.senses for item in mention.modifiers)
    one_organ = lexicon.concepts[mention.concept].group == lexicon.concepts[before.concept].group
    return one_organ and not placed and not _HEDGES.isdisjoint(items[0].senses)


def _described(findings: list[Finding], section: str, number: int, lexicon: Lexicon) -> list[int]:
    """Returns the last picture of the sentence before, if it describes one."""
    for k in range(len(findings) - 1, -1, -1):
        before = findings[k]
        if number - before.sentence != 1 or before.section != section:
            break
        shows = before.concept in lexicon.roles["picture"] and lexicon.concepts[before.concept].counts
        if before.assertion != "absent" and shows:
            return [k]
        if not lexicon.concepts[before.concept].sign_of:
            break
    return []


def _shown(mention: Mention, findings: list[Finding], section: str, number: int, lexicon: Lexicon) -> list[int]:
    """Returns the picture of this sentence or the one before that a diagnosis without a place explains."""
    if any("side" in item.senses or "zone" in item.senses for item in mention.modifiers):
        return []
    for k in range(len(findings) - 1, max(-1, len(findings) - 1 - _BACK), -1):
        before = findings[k]
        if number - before.sentence > 1 or before.section != section:
            break
        names = {before.concept, *lexicon.concepts[before.concept].ancestors}
        tables: tuple[_Table, ...] = ("named", "explains") if before.sentence == number else ("explains",)
        narrower = before.sentence == number and before.concept in lexicon.concepts[mention.concept].ancestors
        if before.assertion != "absent" and narrower:
            return [k]  # "a metallic disc, likely a COIN"
        if before.assertion != "absent" and any(_pictures(lexicon, table, mention.concept) & names for table in tables):
            return [k]
    return []


@per_lexicon
def _pictures(lexicon: Lexicon, table: _Table, diagnosis: str) -> frozenset[str]:
    """The pictures that a table of the rubric says a diagnosis explains."""
    rows = [row["shown_by"] for row in lexicon.rubric[table] if diagnosis in row["diagnosis"]]
    return frozenset().union(*rows)
