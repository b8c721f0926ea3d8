"""Report → reading: sentences → items → mentions → assertion → attributes → merged findings."""

from __future__ import annotations

from dataclasses import replace

from rrgmetrics.reader.assertion import assert_mentions
from rrgmetrics.reader.attributes import attach, build, by_side, describe, one_side
from rrgmetrics.reader.change import compared_as, course_of_all
from rrgmetrics.reader.items import Item, Mention, read_sentences
from rrgmetrics.reader.lexicon import (
    AUTO,
    DEFAULT_PACK,
    Lexicon,
    Senses,
    check_pack,
    load,
    pack_in_use,
    pack_used,
)
from rrgmetrics.reader.model import Assertion, Compared, Finding, Reading, Span
from rrgmetrics.reader.places import near, same_side
from rrgmetrics.reader.references import (
    SUMMARY,
    add,
    add_what_is_said,
    antecedent,
    clause_ahead,
    drop_history,
    drop_question,
    is_left_by,
    named_before,
    other_side,
    pointer,
    side_meant,
    sums_up,
)
from rrgmetrics.reader.scope import Scan, pack_for
from rrgmetrics.reader.tokens import Sentence, Token
from rrgmetrics.reader.typing_errors import tokenize_report


def read(report: str, modality: str = "") -> Reading:
    """Reads a report, by itself as an English chest X-ray report.

    Args:
        report: The text; its sections may have headings. An empty text gives an empty reading.
        modality: The pack to read it with (`chest_ct`, ...); `auto`: that of its kind of report; "": the one in use.

    Returns:
        Reading: every finding, present, absent or uncertain, with attributes and character spans. Sections that hold no
        observations (indication, comparison, technique, recommendation, communication) are skipped.

    Raises:
        InputError: There is no such pack.

    Example:
        >>> reading = read("Small left pleural effusion. No pneumothorax.")
        >>> [(f.concept, f.assertion, f.side) for f in reading.findings]
        [('pleural_effusion', 'present', 'left'), ('pneumothorax', 'absent', None)]
    """
    if not modality:
        return _read(report)
    with pack_used(DEFAULT_PACK if check_pack(modality) == AUTO else modality):
        reading = _read(report)
    pack = pack_for(reading.scope) if modality == AUTO else reading.pack
    return reading if pack == reading.pack else read(report, pack)


def _read(report: str) -> Reading:
    lexicon = load()
    tokens = tokenize_report(report, lexicon)
    findings: list[Finding] = []
    scan = Scan(report, tokens, lexicon)
    compared: list[Compared] = []
    for number, (sentence, items, mentions) in enumerate(read_sentences(tokens, lexicon)):
        scan.add(sentence, items, mentions)
        if sums_up(items, lexicon):
            sentence = sentence._replace(section=SUMMARY)
        _read_sentence(tokens, sentence, number, items, mentions, lexicon, findings)
        kind = compared_as(items, lexicon.small)
        if kind:
            span = Span(tokens[sentence.first].start, tokens[sentence.last - 1].end)
            alone = not mentions and pointer(items, lexicon) is None
            of_all = _of_all(items, span, number, lexicon, findings) if alone else None
            named = "named" if kind == "earlier" and not mentions else kind
            compared.append(of_all or Compared(named, span))
    return Reading(report, tuple(_merge(findings, lexicon)), scan.scope(), tuple(compared), pack_in_use())


def _read_sentence(
    tokens: list[Token],
    sentence: Sentence,
    number: int,
    items: list[Item],
    mentions: list[Mention],
    lexicon: Lexicon,
    findings: list[Finding],
) -> None:
    """Appends the findings of one sentence."""
    if True in ["communication" in item.senses for item in items]:
        return
    if not mentions:
        if not add_what_is_said(items, number, lexicon, findings):
            other = other_side(items, number, lexicon, findings)
            findings.extend(other)
            if not other:
                _continue(items, number, lexicon, findings)
        return
    ahead = clause_ahead(items, mentions, lexicon)
    if ahead and add_what_is_said(items[:ahead], number, lexicon, findings):
        items[:ahead] = [Item(item.first, item.last, {}, item.word) for item in items[:ahead]]
    assert_mentions(items, mentions, lexicon)
    attach(items, mentions, lexicon)
    drop_history(items, mentions, lexicon, opening=not number)
    if not number and sentence.last < len(tokens) - 1:
        drop_question(items, mentions)
    observations: dict[int, list[int]] = {}
    for mention in mentions:
        if mention.dropped:
            continue
        first, last = mention.tokens if mention.denies else mention.extent
        spans = (Span(tokens[first].start, tokens[last - 1].end),)
        if mention.denies:
            findings.extend(_denied(mention, sentence, number, spans))
            continue
        fields = describe(mention, lexicon)
        before = antecedent(mention, fields, findings, number, lexicon)
        if before is not None:
            observations[id(mention)] = [before]
            more = build(mention, fields, sentence.section, number, before, spans)
            findings[before] = add(findings[before], more)
            continue
        explained = _explained(mention, items, findings, observations, sentence.section, number, lexicon)
        parts = by_side(mention, fields, lexicon)
        if explained and not fields["sides"] and not fields["zones"]:
            places = [(findings[k].side, findings[k].zones) for k in explained]
            parts = [{**fields, "sides": {side} - {None}, "zones": zones} for side, zones in places]
        observations[id(mention)] = list(range(len(findings), len(findings) + len(parts)))
        for part in parts:
            on_side = [k for k in explained if findings[k].side == one_side(part["sides"])]
            fitting = on_side or (explained if part is parts[0] else [])
            observation = findings[fitting[0]].observation if fitting else len(findings)
            findings.append(build(mention, part, sentence.section, number, observation, spans))


def _explained(
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
    if observations:
        return [len(findings) - 1] if _names(mention, findings[-1], lexicon) else []
    pointed = any(item.word in lexicon.small.pointers for item in items[: mention.first])
    in_place = lexicon.concepts[mention.concept].group in lexicon.groups["one_place"]
    return _described(findings, section, number, lexicon) if pointed and in_place else []


def _described(findings: list[Finding], section: str, number: int, lexicon: Lexicon) -> list[int]:
    """Returns the last picture of the sentence before, if it describes one."""
    for k in range(len(findings) - 1, -1, -1):
        before = findings[k]
        if number - before.sentence != 1 or before.section != section:
            break
        if before.assertion != "absent" and before.concept in lexicon.roles["picture"]:
            return [k]
        if not lexicon.concepts[before.concept].sign_of:
            break
    return []


def _names(mention: Mention, before: Finding, lexicon: Lexicon) -> bool:
    """Tells whether a doubted diagnosis without a place names what stands before it: "hilar nodes; ?sarcoidosis"."""
    placed = any("side" in item.senses or "zone" in item.senses for item in mention.modifiers)
    if placed or before.assertion == "absent":
        return False
    shown = {before.concept, *lexicon.concepts[before.concept].ancestors}
    return any(
        mention.concept in row["diagnosis"] and not shown.isdisjoint(row["shown_by"]) for row in lexicon.rubric["named"]
    )


def _denied(mention: Mention, sentence: Sentence, number: int, spans: tuple[Span, ...]) -> list[Finding]:
    """Returns the absent findings of a normal statement; "the left lung is clear" denies on the left only."""
    before: list[Senses] = []
    for item in mention.modifiers:
        if item.word == ";":
            before = []  # "the right angle is blunted; the left is clear"
        elif item.first < mention.tokens[1]:
            before.append(item.senses)
    sides = {senses["side"] for senses in before if "side" in senses}
    return [
        Finding(
            concept=concept,
            assertion="absent",
            side=next(iter(sides)) if sides in ({"left"}, {"right"}) else None,
            zones=frozenset(senses["zone"] for senses in before if "zone" in senses),
            section=sentence.section,
            sentence=number,
            severity=0 if mention.nearly else None,
            normal=True,
            spans=spans,
            observation=-1,
        )
        for concept in mention.denies
    ]


def _continue(items: list[Item], number: int, lexicon: Lexicon, findings: list[Finding]) -> None:
    """Adds to the last device what a sentence without findings says of it ("The tip lies in the lower SVC.")."""
    if not any(item.word in lexicon.small.device_pointers for item in items):
        return
    for k in range(len(findings) - 1, max(-1, len(findings) - 4), -1):
        finding = findings[k]
        if finding.assertion != "absent" and lexicon.concepts[finding.concept].is_device:
            tips = {item.senses["tip"] for item in items if "tip" in item.senses}
            position = next((item.senses["position"] for item in items if "position" in item.senses), None)
            sizes = tuple(n for item in items for n in item.senses.get("measure", ()))
            findings[k] = replace(
                finding,
                tip=finding.tip | tips,
                position=finding.position or position,
                measurements_mm=finding.measurements_mm or sizes,
            )
            return


def _of_all(items: list[Item], span: Span, number: int, lexicon: Lexicon, findings: list[Finding]) -> Compared | None:
    """Reads the change that a sentence without a finding tells of what was named before ("Overall worse.").

    If the sentence before names one finding, the change is that one's.
    """
    change = course_of_all(items, lexicon)
    if not change:
        return None
    last = range(max(0, len(findings) - 8), len(findings))
    before = [k for k in last if findings[k].sentence == number - 1 and findings[k].assertion != "absent"]
    devices = any(lexicon.concepts[findings[k].concept].is_device for k in before)  # they grow no worse
    if (devices or len({findings[k].observation for k in before}) != 1) and change != "stable":
        return Compared(change, span, study=True)
    for k in before:
        assertion: Assertion = "absent" if change == "resolved" else findings[k].assertion
        course = change if findings[k].change in (None, "stable") else findings[k].change
        findings[k] = replace(findings[k], assertion=assertion, change=course, spans=(*findings[k].spans, span))
    return None


def _merge(findings: list[Finding], lexicon: Lexicon) -> list[Finding]:
    """Counts repeats once: one concept at one place, and what the impression names again."""
    kept: list[Finding] = []
    position: dict[int, int] = {}
    by_concept: dict[tuple[str, str], list[int]] = {}
    for finding in findings:
        key = (finding.concept, "absent" if finding.assertion == "absent" else "stated")
        alike = by_concept.setdefault(key, [])
        twin = (
            next((k for k in reversed(alike[-8:]) if _same_place(kept[k], finding, lexicon)), None) if alike else None
        )
        if twin is not None:
            kept[twin] = _union(kept[twin], finding)
            position.setdefault(finding.observation, kept[twin].observation)
            continue
        if finding.assertion != "absent":
            alone, finding = finding.observation, _join_observation(finding, kept, position, lexicon)
            if finding.observation != alone:  # what stands beside it in one sentence comes along
                position.setdefault(alone, finding.observation)
                kept[-8:] = [
                    replace(other, observation=finding.observation) if other.observation == alone else other
                    for other in kept[-8:]
                ]
        alike.append(len(kept))
        kept.append(finding)
    return kept


def _join_observation(finding: Finding, kept: list[Finding], position: dict[int, int], lexicon: Lexicon) -> Finding:
    """Gives a finding the observation of an earlier one if it describes the same picture."""
    if finding.observation in position:
        return replace(finding, observation=position[finding.observation])
    before = named_before(finding, kept, lexicon) if finding.section == SUMMARY else None
    if before is not None:
        return replace(finding, observation=before.observation, side=side_meant(finding, before, kept, lexicon))
    return finding


def _same_place(a: Finding, b: Finding, lexicon: Lexicon) -> bool:
    """Tells whether two findings of one report may be at one place."""
    if not same_side(a.side, b.side) or (a.route and b.route and a.route != b.route):
        return False
    return a.section != b.section or near(a.zones, b.zones, lexicon)


def _union(a: Finding, b: Finding) -> Finding:
    """Returns one finding with what both say."""
    spans = a.spans if len(a.spans) >= 16 else a.spans + b.spans
    return replace(
        a,
        certainty=a.certainty if a.certainty == "definite" else b.certainty,
        assertion=a.assertion if a.assertion != "uncertain" else b.assertion,
        side=a.side or b.side,
        worse_side=a.worse_side or b.worse_side,
        zones=a.zones | b.zones,
        levels=a.levels | b.levels,
        severity=a.severity if a.severity is not None else b.severity,
        measurements_mm=a.measurements_mm or b.measurements_mm,
        count=a.count or b.count,
        acuity=a.acuity or b.acuity,
        change=a.change or b.change,
        morphology=a.morphology | b.morphology,
        tip=a.tip | b.tip,
        route=a.route or b.route,
        position=a.position or b.position,
        normal=a.normal and b.normal,
        spans=tuple(dict.fromkeys(spans)),
    )
