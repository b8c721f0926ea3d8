"""How a report was read, in words: what set each field of each finding, and why other words gave none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rrgmetrics.reading.lexicon import Lexicon, all_packs, lexicon_of, load_file, per_lexicon
from rrgmetrics.reading.lexicon.build import forms_of, words_of
from rrgmetrics.reading.lexicon.files import layers_of
from rrgmetrics.reading.model import Held, LeftOut, Reading, Span, Step, Trace, Traced
from rrgmetrics.reading.recording import RULES_FILE, Recorder, SentenceRecord, file_of, place_of
from rrgmetrics.reading.scope import out_of_scope
from rrgmetrics.reading.tokens import Token, inline_headings, sentences
from rrgmetrics.reading.typing_errors import meant_by, tokenize_report
from rrgmetrics.reading.unused_words import unused_words

_SAYING = frozenset({"attributes", "anatomy", "cues", "qualities", "normal", "small_words"})  # files that say fields
_NO_FINDING = {"history": "history of the patient", "question": "clinical question"}  # fields of mentions
_TABLES = {"side": "sides", "zones": "zones", "tip": "tip_sites", "denies": "normal", "levels": "last"}


def make_trace(reading: Reading, recorded: Recorder) -> Trace:
    """Returns the trace of a reading from what was recorded of it."""
    lexicon = lexicon_of(reading)
    findings = tuple(
        Traced(finding, tuple(_placed(step, lexicon) for step in _steps_of(finding, recorded)))
        for finding in reading.findings
    )
    left_out = (*_unread(reading, recorded, lexicon), *_sections(reading, recorded, lexicon))
    ordered = tuple(sorted(left_out, key=lambda each: each.span))
    unused = tuple(unused_words(reading, recorded, lexicon, _places))
    return Trace(reading.text, findings, ordered, _scope_words(reading), unused)


def _scope_words(reading: Reading) -> str:
    title = all_packs(reading.folder)[reading.pack].title
    why = out_of_scope(reading.scope, title)
    return f"The text {why}; it was read with the pack for {title}." if why else ""


def _placed(step: Step, lexicon: Lexicon) -> Step:
    """Returns a step with the places of its words, of those read as a typing error, and of what its state is due to."""
    rules = _rule_places(lexicon)
    mistyped = {word: meant for word in step.words.split() if (meant := meant_by(word, lexicon))}
    step = _with_source(step, " ".join(mistyped.get(word, word) for word in step.words.split()), lexicon)
    held = [Held(word, f'was read as "{meant}"', *place_of(tokenize_report)) for word, meant in mistyped.items()]
    for each in step.held:
        if each.name:
            held.append(each._replace(place=each.place or rules.get(each.name, "")))
        else:
            own = each.words == step.words and "cues.yaml" in step.source
            held.append(each._replace(source=step.source if own else _cue_place(each.words, lexicon)))
    return step._replace(held=tuple(held))


def _cue_place(words: str, lexicon: Lexicon) -> str:
    """The file and line that lists words, of cues.yaml if that does."""
    places = [place for _, place in _places(lexicon).get(tuple(words_of(words.lower(), lexicon.words)), ())]
    return next((place for place in places if "cues.yaml" in place), next(iter(places), ""))


def _steps_of(finding: object, recorded: Recorder) -> Iterator[Step]:
    """Yields what was done to the words of a finding, then what set its fields."""
    steps = recorded.steps(finding)
    mentions = [mention for sentence in recorded.sentences for mention in sentence.mentions]
    own = next((m for m in mentions if any(step in steps for step in recorded.steps(m)[:1])), None)
    if own is not None:
        sentence = next(each for each in recorded.sentences if own in each.mentions)
        yield from _meanings(sentence, own)
    yield from steps


def _meanings(sentence: SentenceRecord, mention: Any) -> Iterator[Step]:
    """Yields what changed the meaning of the words of a mention."""
    around = {(item.first, item.last) for item in mention.modifiers}
    first, last = mention.tokens
    for start, end, step in sentence.items:
        if (start, end) in around or (first <= start and end <= last):
            yield step


def _unread(reading: Reading, recorded: Recorder, lexicon: Lexicon) -> Iterator[LeftOut]:
    """Yields the mentions that gave no finding, and the sentences without one."""
    for sentence in recorded.sentences:
        for mention in sentence.mentions:
            is_taken = any(step.field in _NO_FINDING for step in recorded.steps(mention))
            if (is_taken or id(mention) not in recorded.finished) and not sentence.communicates:
                steps = tuple(_placed(step, lexicon) for step in recorded.steps(mention))
                yield LeftOut(_span_of(sentence, mention), _why_not(mention, steps), steps)
        start, end = sentence.span
        if not sentence.mentions and not any(
            s.start < end and start < s.end for f in reading.findings for s in f.spans
        ):
            yield LeftOut(Span(start, end), _why_nothing(sentence), tuple(step for _, _, step in sentence.items))
        elif sentence.communicates:
            yield LeftOut(Span(start, end), "It states only who was informed (parsed.Parsed).")
    yield from (LeftOut(Span(*span), "It retracts a statement, or was retracted.") for span in recorded.taken_back)


def _span_of(sentence: SentenceRecord, mention: Any) -> Span:
    first, last = mention.tokens
    offset = sentence.span[0] - sentence.tokens[0].start
    return Span(sentence.tokens[first].start + offset, sentence.tokens[last - 1].end + offset)


def _why_not(mention: Any, steps: Iterable[Step]) -> str:
    dropped = next((step for step in steps if step.field == "dropped"), None)
    if dropped is not None:
        return (
            f'Dropped by {dropped.name}, for "{dropped.words}": only a question, a recommendation or an inexact '
            "statement."
        )
    taken = next((step for step in steps if step.field in _NO_FINDING), None)
    if taken is not None:
        what = f"{mention.concept or 'a normal statement'} ({taken.name}, {taken.place})"
        return f"Read as {_NO_FINDING[taken.field]}: {what}."
    return "It adds to another finding."


def _why_nothing(sentence: SentenceRecord) -> str:
    """Says why a sentence names no finding."""
    items = sentence.parsed_items
    named = [item for item in items if "concept" in item.senses]
    if named:
        words = ", ".join(f'"{sentence.words(item.first, item.last)}" ({item.senses["concept"]})' for item in named)
        return f"{words}: terms of the lexicon, which mentions.find_named does not treat as findings here."
    known = [f'"{sentence.words(item.first, item.last)}" ({", ".join(item.senses)})' for item in items if item.senses]
    return "No term of the lexicon names a finding" + (f"; known are {', '.join(known)}." if known else ".")


def _sections(reading: Reading, recorded: Recorder, lexicon: Lexicon) -> Iterator[LeftOut]:
    """Yields the sentences of sections that are not read."""
    tokens = tokenize_report(reading.text, lexicon)
    inline = inline_headings(reading.text, tokens, lexicon.inline)
    every = {words: (section, True) for words, (section, _) in lexicon.headings.items()}
    seen = [*recorded.taken_back, *(sentence.span for sentence in recorded.sentences)]
    for sentence in sentences(reading.text, tokens, every, lexicon.small.abbreviations, inline):
        span = _characters(tokens[sentence.first : sentence.last])
        if not any(start < span.end and span.start < end for start, end in seen):
            yield LeftOut(span, f"The section {sentence.section} is not read (headings of sections.yaml).")


def _characters(tokens: list[Token]) -> Span:
    return Span(tokens[0].start, tokens[-1].end)


def _with_source(step: Step, meant: str, lexicon: Lexicon) -> Step:
    """Returns a step with the place of its words in the lexicon: under its value, or else where they say a field."""
    words = tuple(words_of(meant.lower(), lexicon.words))
    places = _places(lexicon).get(words, ())
    said = {str(step.new), _TABLES.get(step.field, step.field), *_rule_cues(lexicon).get(step.name, ())}
    under = [place for keys, place in places if not said.isdisjoint(keys)]
    place = _rule_places(lexicon).get(step.name, step.place) if step.place == RULES_FILE else step.place
    return step._replace(place=place, source=(under or [place for _, place in places] or [""])[0])


@per_lexicon
def _rule_places(lexicon: Lexicon) -> dict[str, str]:
    """Where each context rule is written, by the name of its step."""
    places: dict[str, str] = {}
    for layer in layers_of("context_rules", lexicon.key):
        path = layer.folder / RULES_FILE
        for number, line in enumerate(path.read_text("utf-8").splitlines() if path.is_file() else (), 1):
            if line.lstrip().startswith("- id: "):
                shown = str(path) if layer.is_own else file_of(str(path))
                places[f"rule {line.partition('id: ')[2].strip()}"] = f"{shown}:{number}"
    return places


@per_lexicon
def _rule_cues(lexicon: Lexicon) -> dict[str, list[str]]:
    """The lists of cues that each context rule asks for, by the name of its step."""
    rules = (rule for stage in lexicon.context_rules.values() for rule in stage)
    return {f"rule {rule['id']}": rule.get("cue", []) for rule in rules}


@per_lexicon
def _places(lexicon: Lexicon) -> dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]]:
    """Where the terms of the lexicon are listed, and the keys that lead there, by their words."""
    from rrgmetrics.reading.lexicon.checking import terms

    spellings, phrases = lexicon.words, load_file("spellings", lexicon.key)["phrases"]
    places: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = {}
    for term in terms(lexicon.key):
        if term.source.holds_concepts or term.source.name in _SAYING:
            for form in forms_of(term.text, phrases):
                place = f"{'/'.join(term.source.path.parts[-2:])}:{term.line}"
                places.setdefault(tuple(words_of(form, spellings)), []).append((term.keys, place))
    return places
