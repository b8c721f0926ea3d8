"""Report → reading: clean text → sentences → items → mentions → assertion → attributes → merged findings."""

from __future__ import annotations

from dataclasses import replace

from rrgmetrics.reading.abbreviations import spell_out
from rrgmetrics.reading.attributes import build, describe, one_side, position_of
from rrgmetrics.reading.background import only_asked, told_ahead, told_as_title, told_of_patient, told_of_person
from rrgmetrics.reading.change import course_of_all, is_of_lungs, stable_organ
from rrgmetrics.reading.coreference import (
    SUMMARY,
    add,
    add_to_device,
    add_what_is_said,
    antecedent,
    is_still_normal,
    named_before,
    other_side,
    pointer,
    relative_side,
    share_with_one_before,
    side_meant,
)
from rrgmetrics.reading.dates import compared_as
from rrgmetrics.reading.excluded_places import denies_others
from rrgmetrics.reading.headings import Courses, Headings, Sides
from rrgmetrics.reading.interpretation import explained
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.levels import of_two_ages
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import BESIDES, Assertion, Compared, Finding, Reading, Span
from rrgmetrics.reading.parsed import Parsed, asserted, read_sentences
from rrgmetrics.reading.pipeline import Draft, assert_mentions, describe_statement, find_mentions
from rrgmetrics.reading.places import named_as, near, same_side
from rrgmetrics.reading.pronouns import pronoun_for
from rrgmetrics.reading.recording import follow, note_each, recorder
from rrgmetrics.reading.scope import Scan, given_spans, scope_as_given
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.similarity import of_two_sizes
from rrgmetrics.reading.tokens import Sentence, Token
from rrgmetrics.reading.typing_errors import tokenize_report
from rrgmetrics.reports.cleaning import CleanText, clean


def read_with(lexicon: Lexicon, report: str) -> Reading:
    """Reads a report with a lexicon, whatever kind of report it is."""
    recording, given = recorder(), clean(report)
    text = given.text
    tokens = tokenize_report(text, lexicon)
    if recording is not None:
        recording.clear()
    findings: list[Finding] = follow([])
    scan = Scan(text, tokens, lexicon)
    compared: list[Compared] = []
    told: list[Finding] = []
    headings, courses, sides = Headings(text, tokens, lexicon), Courses(text, tokens), Sides(text, tokens, lexicon)
    for number, (sentence, parsed) in enumerate(read_sentences(text, tokens, lexicon)):
        scan.add(sentence, parsed)
        parsed, headed = headings.read_under(sentence, parsed)
        first = len(findings)
        said = parsed.once(_say)
        if recording is not None:
            span = _span(tokens, sentence.first, sentence.last)
            recording.enter(span, parsed.items, communicates=parsed.communicates)
        if said.sums_up:
            sentence = sentence._replace(section=SUMMARY)
        if parsed.communicates:
            kind, items = said.compared, said.items
        elif parsed.mentions:
            kind, items = _read_sentence(tokens, sentence, number, parsed, headed, lexicon, findings, told), said.items
        else:
            items = _read_remark(parsed, number, lexicon, findings, _span(tokens, sentence.first, sentence.last))
            kind = compared_as(items, lexicon.small)
        courses.give(sentence, parsed, findings, first, lexicon)
        sides.give(sentence, parsed, findings, first)
        if kind:
            span = _span(tokens, sentence.first, sentence.last)
            alone = not parsed.mentions and pointer(items, lexicon) is None
            of_all = _of_all(items, span, number, sentence.section, lexicon, findings) if alone else None
            named = "named" if kind == "earlier" and not parsed.mentions else kind
            words = {token.word for token in parsed.tokens}
            organ = stable_organ(items, parsed.mentions, words, lexicon) if kind == "stable" else None
            nothing = kind == "stable" and alone and organ is None
            compared.append(of_all or Compared(named, span, study=nothing, organ=organ))
    spell_out(findings, text, tokens, lexicon)
    kept = tuple(_merge(findings, lexicon))
    pack, folder = lexicon.key
    reading = Reading(report, kept, scan.scope(), tuple(compared), pack, tuple(told), given.removed, folder=folder)
    return reading if given.offsets is None else _as_given(reading, given)


def _as_given(reading: Reading, given: CleanText) -> Reading:
    """Returns a reading of cleaned text whose spans count the characters of the text that was given."""
    return replace(
        reading,
        findings=tuple(replace(each, spans=given_spans(each.spans, given)) for each in reading.findings),
        told=tuple(replace(each, spans=given_spans(each.spans, given)) for each in reading.told),
        scope=scope_as_given(reading.scope, given),
        compared=tuple(each._replace(span=Span(*given.given(*each.span))) for each in reading.compared),
    )


def _span(tokens: list[Token], first: int, last: int) -> Span:
    """The characters of the tokens `[first, last)`."""
    return Span(tokens[first].start, tokens[last - 1].end)


def _say(parsed: Parsed) -> Draft:
    """Describes a statement by itself."""
    mentions = [] if parsed.communicates else parsed.once(asserted)
    return describe_statement(parsed.items, mentions, parsed.lexicon)


def _read_remark(parsed: Parsed, number: int, lexicon: Lexicon, findings: list[Finding], span: Span) -> list[Item]:
    """Adds to the findings before what a sentence without a finding of its own says; returns its items."""
    items = list(parsed.items)
    other = pronoun_for(items, findings, number, lexicon)
    if other is not None:
        assert_mentions(items, [other], lexicon)
        said = describe_statement(items, [other], lexicon)
        for mention, _, parts in said.stated:
            section = findings[-1].section
            findings.extend(build(mention, part, section, number, len(findings), (span,)) for part in parts)
        return said.items
    if not add_what_is_said(items, number, lexicon, findings, span):
        beside = other_side(items, number, lexicon, findings, span)
        findings.extend(beside)
        if not beside:
            add_to_device(items, lexicon, findings, span)
    return items


def _read_sentence(
    tokens: list[Token],
    sentence: Sentence,
    number: int,
    parsed: Parsed,
    headed: int,
    lexicon: Lexicon,
    findings: list[Finding],
    told: list[Finding],
) -> str:
    """Appends findings of one sentence, and to `told` illnesses; returns how it compares with an earlier study."""
    said = parsed.once(_say)
    start = sentence.first - headed
    ahead = parsed.items[: said.ahead]
    if ahead and add_what_is_said(ahead, number, lexicon, findings, _span(tokens, start, start + ahead[-1].last)):
        rest = [item.saying({}) for item in ahead] + parsed.items[said.ahead :]
        mentions = find_mentions(parsed.items, lexicon)
        assert_mentions(rest, mentions, lexicon)
        said = describe_statement(rest, mentions, lexicon)
    items, history, operations = said.items, said.history, said.dated
    share_with_one_before(items, said.mentions, number, lexicon, findings)
    goes_on, of_patient = sentence.last < len(tokens) - 1, list[Mention]()
    if not number:
        history = [*history, *told_as_title(items, parsed.mentions, lexicon)]
    note_each(history, "history", told_of_patient)
    if goes_on and all(finding.background or finding.assertion != "present" for finding in findings):
        ahead_of_all = told_ahead(items, parsed.mentions, lexicon)
        history, operations = [*history, *ahead_of_all.illnesses], [*operations, *ahead_of_all.operations]
        note_each(ahead_of_all.illnesses, "history", told_ahead)
        of_patient = told_of_person(items, parsed.mentions, [token.word for token in parsed.tokens])
        note_each(of_patient, "history", told_of_person)
    of_patient += [m for m in history if not (m.dropped or m.denies or m.assertion == "absent")]
    for mention in {id(mention): mention for mention in of_patient}.values():
        span = _span(tokens, start + mention.extent[0], start + mention.extent[1])
        told.append(build(mention, describe(mention, lexicon), sentence.section, number, len(told), (span,)))
    if not number and goes_on:
        asked = only_asked(items, parsed.mentions)
        note_each(asked, "question", only_asked)
        history = [*history, *asked]
    observations: dict[int, list[int]] = {}
    for mention, fields, parts in said.stated:
        if mention in history:
            continue
        first, last = mention.tokens if mention.denies else mention.extent
        if first < headed:  # a word of the heading
            first, last = headed, max(last, headed + 1)
        spans = (_span(tokens, start + first, start + last),)
        if mention.denies:
            besides = any(item.word in lexicon.small.otherwise for item in items)
            findings.extend(_denied(mention, sentence, number, spans, BESIDES if besides else -1))
            continue
        if is_still_normal(mention, fields, items, findings, lexicon):
            continue
        if mention.again:
            for k in observations.get(id(mention.elided), ()):
                findings[k] = add(findings[k], build(mention, fields, sentence.section, number, k, spans))
            continue
        before = antecedent(mention, fields, findings, number, lexicon)
        if before is not None:
            observations[id(mention)] = [before]
            more = build(mention, fields, sentence.section, number, before, spans)
            findings[before] = add(findings[before], more)
            continue
        read_as = explained(mention, items, findings, observations, sentence.section, number, lexicon)
        if read_as and not fields["sides"] and not fields["zones"]:
            places = [(findings[k].side, findings[k].zones) for k in read_as]
            parts = [{**fields, "sides": {side} if side else set(), "zones": {*zones}} for side, zones in places]
        elif not fields["sides"] and (side := relative_side(mention, findings, lexicon)):
            parts = [{**part, "sides": {side}} for part in parts]
        observations[id(mention)] = list(range(len(findings), len(findings) + len(parts)))
        for part in parts:
            on_side = [k for k in read_as if findings[k].side == one_side(part["sides"])]
            fitting = on_side or (read_as if part is parts[0] else [])
            observation = findings[fitting[0]].observation if fitting else len(findings)
            finding = build(mention, part, sentence.section, number, observation, spans)
            if fitting:
                finding = replace(finding, concept=named_as(mention.concept, findings[fitting[0]].concept, lexicon))
            if mention.assertion == "absent" and denies_others(mention, items, lexicon.small):
                finding = replace(finding, observation=BESIDES)
            findings.append(replace(finding, background=True) if mention in operations and not fitting else finding)
    return said.compared


def _denied(
    mention: Mention, sentence: Sentence, number: int, spans: tuple[Span, ...], observation: int
) -> list[Finding]:
    """Returns the absent findings of a normal statement; "the left lung is clear" denies on the left only."""
    before: list[Senses] = []
    for item in mention.modifiers:
        if item.first >= mention.tokens[1]:
            continue
        if item.word == ";":
            before = []  # "the right angle is blunted; the left is clear"
        else:
            before.append(item.senses)
    sides = {senses["side"] for senses in before if "side" in senses}
    measured = next((senses["measure"] for senses in before if "measured" in senses), ())
    return [
        Finding(
            concept=concept,
            assertion="absent",
            side=next(iter(sides)) if sides in ({"left"}, {"right"}) else None,
            zones=frozenset(senses["zone"] for senses in before if "zone" in senses),
            section=sentence.section,
            sentence=number,
            severity=0 if mention.nearly else None,
            measurements_mm=measured,
            normal=True,
            spans=spans,
            observation=observation,
        )
        for concept in mention.denies
    ]


def _of_all(
    items: list[Item], span: Span, number: int, section: str, lexicon: Lexicon, findings: list[Finding]
) -> Compared | None:
    """Reads the change that a sentence without a finding tells of what was named before ("Overall worse.").

    If the sentence before names one finding, the change is that one's; one that begins a summary ("Conclusion:
    progression.") is of all findings.
    """
    change = course_of_all(items, lexicon)
    if not change:
        return None
    if is_of_lungs(items, lexicon):
        return Compared(change, span, study=True)
    last = range(max(0, len(findings) - 8), len(findings))
    sums_up = section == SUMMARY and all(finding.section != SUMMARY for finding in findings)
    before = [k for k in last if sums_up or findings[k].sentence == number - 1]
    before = [k for k in before if findings[k].assertion != "absent"]
    if any(item.word in lexicon.small.sizes for item in items):
        before = [k for k in before if not lexicon.concepts[findings[k].concept].is_device][-1:]  # "Slightly smaller."
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
    kept: list[Finding] = follow([])
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
            if finding.observation != alone:  # what is beside it in one sentence comes along
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
    """Whether two findings of one report may be at one place."""
    if not same_side(a.side, b.side) or (a.route and b.route and a.route != b.route):
        return False
    if a.section != b.section:
        return True
    return near(a.zones, b.zones, lexicon) and not of_two_ages(a, b, lexicon) and not of_two_sizes(a, b, lexicon)


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
        per_cent=a.per_cent or b.per_cent,
        measurements_mm=a.measurements_mm or b.measurements_mm,
        count=a.count or b.count,
        acuity=a.acuity or b.acuity,
        change=a.change or b.change,
        morphology=a.morphology | b.morphology,
        tip=a.tip | b.tip,
        route=a.route or b.route,
        position=position_of(a.position, b.position),
        normal=a.normal and b.normal,
        background=a.background and b.background,
        spans=tuple(dict.fromkeys(spans)),
    )
