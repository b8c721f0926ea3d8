"""What the reader knows of a term, for a radiologist who wants to correct it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from rrgmetrics.comparing.model import Unit
from rrgmetrics.comparing.wording import phrase
from rrgmetrics.errors import InputError
from rrgmetrics.labels.conditions import Status, condition_statuses, load_conditions
from rrgmetrics.labels.ct import ct_conditions
from rrgmetrics.labels.srr import srr_labels
from rrgmetrics.reading.engine import read_with
from rrgmetrics.reading.lexicon import DEFAULT_PACK, Lexicon, load, load_file
from rrgmetrics.reading.lexicon.build import forms_of, without_articles, words_of
from rrgmetrics.reading.lexicon.checking import terms
from rrgmetrics.reading.lexicon.faults import place, whose
from rrgmetrics.reading.lexicon.terms import Term
from rrgmetrics.reading.model import Finding, Reading, Scope, Span
from rrgmetrics.utils.text_format import capitalized

NEAR = 5  # terms that are named where a term is unknown
Row = tuple[str, str]


def show_term(text: str, pack: str = DEFAULT_PACK) -> list[Row]:
    """Describes a term, or a concept by its key.

    Args:
        text: The term as a report might write it, or a concept's key.
        pack: The kind of report.

    Returns:
        list[Row]: What is known, each with its name: where the term is listed, the concept with its file, group,
        parents and significance, what it counts as, its synonyms, and how sentences with it are read.

    Raises:
        InputError: No term and no concept of this name; the message names terms near it, and how it is read by itself.

    Example:
        >>> rows = dict(show_term("hemothorax"))
        >>> rows["below"], rows["significance"], rows['"No hemothorax."']
        ('pleural effusion', 'urgent', 'absent: hemothorax')
    """
    lexicon = load(pack)
    everywhere = terms(lexicon.key)
    words = without_articles(words_of(text.lower(), lexicon.words))
    phrases = load_file("spellings", lexicon.key)["phrases"]
    places = [
        term
        for term in everywhere
        if term.value.term in ("report", "word")
        and any(without_articles(words_of(form, lexicon.words)) == words for form in forms_of(term.text, phrases))
    ]
    keys = [term.keys[0] for term in places if _is_concept(term)]
    keys += [text] if text in lexicon.concepts else []
    rows = [("listed in", f"{' → '.join(term.keys)} ({_place(term)} of {whose(term.source)})") for term in places]
    rows += [row for key in dict.fromkeys(keys) for row in _concept(key, lexicon)]
    sentence = text.replace("_", " ")
    sentences = [f'"{capitalized(sentence)}."', f'"No {sentence}."']
    readings = [(each, _read_as(each.strip('"'), lexicon)) for each in sentences]
    if not rows:
        options = dict.fromkeys(term.text for term in everywhere if _is_concept(term))
        near = ", ".join(f'"{term}"' for term in difflib.get_close_matches(text.lower(), options, NEAR))
        alone = f" {sentences[0]} is read as {readings[0][1]}." if readings[0][1] else ""
        raise InputError(f'"{text}" is not a term of the lexicon{"; similar terms: " * bool(near)}{near}.{alone}')
    rows += [(name, what or "nothing") for name, what in readings if keys or what]
    return sorted((row for row in rows if row[1]), key=lambda row: row[0] == "terms")  # the longest one last


def _place(term: Term) -> str:
    """The file and line of a term; a file of the bundled lexicon by its folder and name."""
    path = term.source.path
    return place(path, term.line) if term.source.is_own else f"{path.parent.name}/{path.name}:{term.line}"


def _is_concept(term: Term) -> bool:
    return term.source.holds_concepts


def _concept(key: str, lexicon: Lexicon) -> Iterator[Row]:
    concept = lexicon.concepts[key]
    entry = load_file(concept.group, lexicon.key)[key]
    yield "concept", f"{concept.name} ({key}, {concept.group}.yaml)"
    yield "below", ", ".join(lexicon.concepts[parent].name for parent in concept.ancestors)
    yield "significance", concept.significance
    yield "counts", "" if concept.counts else "no: it is never an error by itself"
    yield "same as", ", ".join(lexicon.concepts[other].name for other in sorted(concept.same_as))
    yield "sign of", ", ".join(lexicon.concepts[other].name for other in sorted(concept.sign_of))
    yield "roles", ", ".join(role for role, keys in lexicon.roles.items() if key in keys)
    if load_conditions(lexicon).names:  # of the chest
        yield from _labels(key, concept.name, lexicon)
    yield "seen as", ", ".join(entry.get("seen_as", ()))
    yield "found in", ", ".join(entry.get("found_in", ()))
    yield "terms", ", ".join(map(str, entry["terms"]))


def _labels(key: str, name: str, lexicon: Lexicon) -> Iterator[Row]:
    """What a report with nothing but this finding has in the label sets."""
    finding = Finding(key, "present", spans=(Span(0, len(name)),))
    scope, (pack, folder) = Scope("", statements=finding.spans), lexicon.key
    reading = Reading(name, (finding,), scope, pack=pack, folder=folder)
    statuses = zip(load_conditions(lexicon).names[:-1], condition_statuses(reading), strict=False)
    yield "CheXpert", ", ".join(condition for condition, status in statuses if status is Status.POSITIVE)
    labels = dict.fromkeys([*srr_labels(reading, "leaves", False), *srr_labels(reading, "upper", False)])
    yield "SRR-BERT", ", ".join(labels)
    yield "RadBERT-CT", ", ".join(ct_conditions(reading))


def _read_as(sentence: str, lexicon: Lexicon) -> str:
    findings = read_with(lexicon, sentence).findings
    units = [Unit(finding, (finding,), finding.side, finding.zones) for finding in findings]
    return ", ".join(f"{unit.head.assertion}: {phrase(unit, lexicon)}" for unit in units)
