"""Faults of the lexicon's files: what does not fit their shape, and terms that no report can ever match."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.reading.lexicon.build import forms_of, without_articles, words_of
from rrgmetrics.reading.lexicon.packs import all_packs
from rrgmetrics.reading.lexicon.schema import SHAPES, Many, Record, Shape, Table, Value, empty, merge, shape_of
from rrgmetrics.reading.lexicon.terms import Source, Term, claim_of, how_to_take_away, is_sought, sense_of, unreadable
from rrgmetrics.reading.senses import SENSES
from rrgmetrics.utils.patterns import terms_of
from rrgmetrics.utils.text_format import by_number

_TAGS = {str: ("str",), int: ("int",), float: ("int", "float"), bool: ("bool",)}
_KINDS = {str: "words", int: "a whole number", float: "a number", bool: "yes or no"}
_SLIP = 0.75  # of letters that a mistyped choice shares with the one that was meant
_IDENTIFIER = re.compile(r"[a-z0-9_]+")
_DIGITS = re.compile(r"[\d.,/]+")
# The cues that deny or hedge what is behind them; `absence of the breast` is a finding all the same.
_DENYING = ("negation_before", "resolved_before")
_HEDGING = ("probable_before", "possible_before", "not_excluded_before", "hypothetical")
_FINDINGS_BY_ABSENCE = {("absent",), ("absence", "of")}
_SUMS = {
    "seen_as": (("structures", "qualities"), "structure + quality", "heart + enlarged"),
    "found_in": (("concepts", "zones, structures or concepts"), "concept + zone", "mass + mediastinal"),
}
Words = tuple[str, ...]


class Fault(NamedTuple):
    """One fault of a file, and what to do about it."""

    file: Path
    line: int
    message: str

    def __str__(self) -> str:
        """The line of an error: `lung.yaml:12: ...`."""
        return f"{place(self.file, self.line)}: {self.message}"


def find_faults(sources: Sequence[Source], concept_files: Sequence[str]) -> list[Fault]:
    """The faults of all files of a pack, in the order of the files, the user's own behind the bundled ones.

    Args:
        sources: The files, each layer behind those that it is laid over.
        concept_files: The names of its files of concepts.
    """
    check = _Check(sources, concept_files)
    if not check.faults:  # the rest needs files of the right shape
        check.reachable()
        check.claims()
        check.words_of_others()
        check.taken_away()
        check.concepts()
    order = {source.path: number for number, source in enumerate(sources)}
    return sorted(dict.fromkeys(check.faults), key=lambda fault: (order[fault.file], fault.line))


def find_terms(sources: Sequence[Source], concept_files: Sequence[str]) -> list[Term]:
    """The terms of all files with their places; arguments as for `find_faults`."""
    return _Check(sources, concept_files).terms


def place(file: Path, line: int) -> str:
    """A file, as it is seen from the current folder, and a line of it."""
    path, here = file.resolve(), Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{line}"


def whose(source: Source) -> str:
    """Says whose file it is."""
    return "your folder" if source.is_own else "the bundled lexicon"


def hint(word: str, options: Iterable[str]) -> str:
    """What may have been meant, as a question; "" if nothing is near."""
    near = nearest(word, options)
    return f'did you mean "{near}"?' if near else ""


def _is_slip(word: str, near: str) -> bool:
    """Whether a word is a choice mistyped, and not another word: "denied" is not "definite"."""
    return difflib.SequenceMatcher(None, word.lower(), near.lower()).ratio() > _SLIP


def nearest(word: str, options: Iterable[str]) -> str:
    """The option that a word is nearest to; "" if none is near."""
    return next(iter(difflib.get_close_matches(word, list(map(str, options)), 1)), "")


def listed(options: Sequence[str]) -> str:
    """Options in words: "a, b or c"."""
    return ", ".join(options[:-1]) + f" or {options[-1]}" if len(options) > 1 else "".join(options)


class _Check:
    """The files as they are read together, and what was found in them so far."""

    def __init__(self, sources: Sequence[Source], concept_files: Sequence[str]) -> None:
        self.sources = sources
        self.faults: list[Fault] = []
        self.terms: list[Term] = []
        self.contents: dict[str, Any] = {name: empty(shape_of(name)) for name in (*concept_files, *SHAPES)}
        self.home: dict[str, str] = {}  # concept → the file that it is in
        for source in sources:
            self.contents[source.name] = merge(source.name, self.contents[source.name], source.content)
            for key in source.content if source.holds_concepts else ():
                self.home.setdefault(key, source.name)
        self.entries = {key: self.contents[name][key] for key, name in self.home.items()}
        scope = self.contents["scope"]
        tables = {**self.contents["anatomy"], **self.contents["attributes"], **self.contents["context"]}
        labels = self.contents["srr"]
        self.tables: dict[str, Mapping[str, Any] | list[str]] = {
            **{name: table for name, table in tables.items() if isinstance(table, dict)},
            **{name: labels.get(name, []) for name in ("leaves", "uppers")},
            **{name: self.contents[name].get("conditions", []) for name in ("conditions", "ct")},
            "qualities": self.contents["qualities"],
            "concepts": self.entries,
            "concepts or any": {**self.entries, "any": None},
            "zones, structures or concepts": {
                **self.contents["anatomy"]["zones"],
                **self.contents["anatomy"]["structures"],
                **self.entries,
            },
            "files": list(concept_files),
            "packs": list(all_packs()),
            "lists of small_words.yaml": [key.upper() for key in self.contents["small_words"]],
            "senses": list(SENSES),
            "kinds": [*scope["elsewhere"], *scope["modality"]],
        }
        spellings = self.contents["spellings"].get("words", {})
        phrases = self.contents["spellings"].get("phrases", {})
        self.words_of = cache(lambda text: tuple(without_articles(words_of(text.strip(), spellings))))
        self.forms_of = cache(lambda text: [self.words_of(form) for form in forms_of(text, phrases)])
        for source in sources:
            self._shape(source, shape_of(source.name), source.node, (source.path.name,))

    def _say(self, source: Source, node: Any, message: str) -> None:
        line = node if isinstance(node, int) else node.start_mark.line + 1
        self.faults.append(Fault(source.path, line, message))

    def _shape(self, source: Source, shape: Shape, node: Any, keys: tuple[str, ...]) -> None:
        """Looks at one node of a file and all below it; `keys` lead to it. Terms are collected on the way."""
        if isinstance(shape, Value):
            self._value(source, shape, node, keys)
        elif isinstance(shape, Many) and node.id == "sequence":
            for item in node.value:
                self._shape(source, shape.value, item, keys)
        elif isinstance(shape, Many):
            self._say(source, node, f"{keys[-1]} should be a list: one item a line, each after a dash.")
        elif node.id != "mapping":
            self._say(
                source, node, f"{keys[-1]} should be a block of keys, each followed by a colon{self._as_in(source)}."
            )
        else:
            self._block(source, shape, node, keys)

    def _block(self, source: Source, shape: Record | Table, node: Any, keys: tuple[str, ...]) -> None:
        lines: dict[str, int] = {}
        for key, value in node.value:
            if key.value in lines:
                self._say(source, key, f"{key.value} occurs here and in line {lines[key.value]}; keep one of the two.")
            lines[key.value] = key.start_mark.line + 1
            if isinstance(shape, Table):
                self._value(source, shape.keys, key, (*keys, key.value), is_key=True)
                self._shape(source, shape.value, value, (*keys, key.value))
            elif key.value in shape.keys:
                self._shape(source, shape.keys[key.value], value, (*keys, key.value))
            else:
                advice = hint(key.value, shape.keys) or f"known here are {', '.join(shape.keys)}."
                self._say(source, key, f'unknown key "{key.value}"; {advice}')
                lines.setdefault(nearest(key.value, shape.keys), lines[key.value])
        missing = [key for key in shape.required if key not in lines] if isinstance(shape, Record) else []
        if missing and not self._stands_below(source, keys[1:]):
            line = lines[min(lines, key=lines.__getitem__)] - (len(keys) > 1) if lines else node
            home = self.home.get(keys[-1], source.name)
            them = by_number(len(missing), "it", "them")
            advice = f"add {them}"
            if home != source.name:
                advice = f"it is in {home}.yaml, change it there"
            elif source.holds_concepts and (near := nearest(keys[-1], self.home.keys() - {keys[-1]})):
                advice = f'add {them}, unless you mean "{near}"'
            self._say(source, line, f"{keys[-1]} has no {listed(missing)}; {advice}.")

    def _stands_below(self, source: Source, keys: Sequence[str]) -> bool:
        """Whether the keys lead to a block of a file, or of a layer below, which this one adds to."""
        return not keys or any(
            each.name == source.name and each.layer < source.layer and isinstance(_at(each.content, keys), dict)
            for each in self.sources
        )

    @staticmethod
    def _as_in(source: Source) -> str:
        """Names a bundled file that shows the format."""
        return "" if source.holds_concepts else f"; see the bundled {source.path.name} for its format"

    def _value(self, source: Source, value: Value, node: Any, keys: tuple[str, ...], *, is_key: bool = False) -> None:
        what = "the key" if is_key else keys[-1]
        if node.id != "scalar":
            colon = "; put a line with a colon in quotes" * (node.id == "mapping" and value.kind is str)
            self._say(source, node, f"{what} should be {_KINDS[value.kind]}{colon}.")
            return
        text, tag = node.value, node.tag.rpartition(":")[2]
        if value.of == "key":
            if not _IDENTIFIER.fullmatch(text):
                self._say(source, node, f'{what} is "{text}"; use only lower-case letters, digits and _.')
        elif tag not in _TAGS[value.kind] and value.kind is str:
            self._say(source, node, f'put {text} in quotes, "{text}": YAML does not read it as text.')
        elif tag not in _TAGS[value.kind]:
            self._say(source, node, f'{what} is "{text}"; it should be {_KINDS[value.kind]}.')
        elif value.choices and text not in value.choices:
            near = nearest(text, value.choices)
            advice = f'did you mean "{near}"?' if _is_slip(text, near) else f"it should be {listed(value.choices)}."
            self._say(source, node, f'{what} is "{text}"; {advice}')
        elif value.of in _SUMS:
            tables, written, example = _SUMS[value.of]
            parts = text.split(" + ")
            if len(parts) != len(tables):
                self._say(source, node, f'{what} contains "{text}"; write "{written}", as "{example}".')
                return
            for part, table in zip(parts, tables, strict=True):
                self._refer(source, node, what, part, table)
        elif value.of == "words of a rule":
            for word in filter(str.isupper, text.split()):
                self._refer(source, node, what, word, "lists of small_words.yaml")
        elif value.of == "senses":
            self._refer(source, node, what, text.partition("=")[0], "senses")
        elif value.of and value.of != "terms":
            self._refer(source, node, what, text, value.of)
        elif value.term or value.of:
            line = node.start_mark.line + 1
            self.terms += [Term(term, source, keys[1:], line, value) for term in terms_of(text)]

    def _refer(self, source: Source, node: Any, what: str, name: str, table: str) -> None:
        if name not in self.tables.get(table, ()):
            advice = hint(name, self.tables.get(table, ())) or f"it is none of the {table.replace('_', ' ')}."
            self._say(source, node, f'{what} names "{name}", which does not exist; {advice}')

    def reachable(self) -> None:
        """Terms that no report can match, and what keeps them from it."""
        spellings, small = self.contents["spellings"], self.contents["small_words"]
        known = {self.words_of(term.text) for term in self.terms if is_sought(term)}
        compounds = {self.words_of(word) for word in spellings["compounds"]}
        for term in self.terms:
            if term.value.of == "terms":
                fault = (
                    ""
                    if tuple(without_articles(term.text.split())) in known
                    else "it is not a term of the lexicon; name one."
                )
            else:
                fault = unreadable(term, self.words_of(term.text), compounds, small["abbreviations"])
            if fault:
                self._say(term.source, term.line, f'"{term.text}" is never read: {fault}')

    def claims(self) -> None:
        """Terms that two concepts, or two values of one attribute, claim: only one of them would have it."""
        lost = {
            (key, text): source.layer
            for source in self.sources
            for key, entry in (source.content.items() if source.holds_concepts else ())
            for text in entry.get("without", ())
        }
        owners: dict[tuple[str, Words], dict[str, Term]] = {}
        for term in self.terms:
            kind, owner = claim_of(term)
            if kind and term.source.layer >= lost.get((owner, term.text), 0):
                for words in self.forms_of(term.text):
                    owners.setdefault((kind, words), {}).setdefault(owner, term)
        for (kind, _), claims in owners.items():
            for owner, term in claims.items() if len(claims) > 1 else ():
                other, twin = next((key, claim) for key, claim in claims.items() if key != owner)
                both = f"{owner} and under {other} ({twin.source.path.name}:{twin.line} of {whose(twin.source)})"
                advice = f"remove it from one{how_to_take_away(kind, term, twin)}."
                self._say(
                    term.source, term.line, f'"{term.text}" is under {both}; only one {kind} can have it: {advice}'
                )

    def words_of_others(self) -> None:
        """Finds terms of concepts that say something else: a quality, structure, cue, number or normal statement."""
        senses = self._senses()
        named = {
            self.words_of(term.text) for term in self.terms if claim_of(term)[0] == "concept" and not term.source.is_own
        }
        openings = {
            words: "denies" if term.keys[0] in _DENYING else "hedges"
            for term in self.terms
            if term.source.name == "cues" and term.keys[0] in (*_DENYING, *_HEDGING)
            for words in self.forms_of(term.text)
        }
        for term in self.terms:
            if claim_of(term)[0] != "concept":
                continue
            words = self.words_of(term.text)
            sense, is_shared = senses.get(words, ("", False))
            opening = next((words[:n] for n in range(1, len(words)) if words[:n] in openings), ())
            fault = ""
            if words and all(_DIGITS.fullmatch(word) for word in words):
                fault = "is a number; write the words of the finding."
            elif sense and not (is_shared and (words in named or not term.source.is_own)):
                fault = f"is {sense}; a report with it does not name {term.keys[0]}: remove it."
            elif self._is_normal(words):
                fault = "is a normal statement; it does not name a finding: remove it."
            elif opening and opening not in _FINDINGS_BY_ABSENCE:
                fault = f'begins with "{" ".join(opening)}", which {openings[opening]} what follows; leave it out.'
            if fault:
                self._say(term.source, term.line, f'"{term.text}" {fault}')

    def _senses(self) -> dict[Words, tuple[str, bool]]:
        """Returns what words are beside terms of concepts, and whether a concept may have them as a term all the same.

        Bundled concepts share some of their terms with qualities, structures and attributes ("scarring", "opacity"),
        which reads well; no concept shares one with the grammar, or with a quality of normal statements.
        """
        normal = {quality for entry in self.contents["normal"]["structures"].values() for quality in entry["when"]}
        senses: dict[Words, tuple[str, bool]] = {}
        for term in self.terms:
            sense, is_shared = sense_of(term)
            is_shared = is_shared and not (term.source.name == "qualities" and term.keys[0] in normal)
            if sense and not (is_shared and term.source.is_own):
                for words in self.forms_of(term.text):
                    if words not in senses or not is_shared:
                        senses[words] = sense, is_shared
        return senses

    @cached_property
    def _normal_statements(self) -> set[Words]:
        """Structures with the qualities that make them normal, in both orders: "lung clear", "clear lung"."""
        forms: dict[str, set[Words]] = {}
        for term in self.terms:
            if term.source.name == "qualities" or (term.source.name == "anatomy" and term.keys[0] == "structures"):
                key = term.keys[0] if term.source.name == "qualities" else f"+ {term.keys[1]}"
                forms.setdefault(key, set()).add(self.words_of(term.text))
        return {
            pair
            for structure, entry in self.contents["normal"]["structures"].items()
            for quality in entry["when"]
            for one in forms.get(f"+ {structure}", ())
            for other in forms.get(quality, ())
            for pair in (one + other, other + one)
        }

    def _is_normal(self, words: Words) -> bool:
        """Says whether words are a normal statement such as "lungs are clear", the verb left out."""
        verbs = self.contents["small_words"]["judged"]
        return tuple(word for word in words if word not in verbs and word != "the") in self._normal_statements

    def taken_away(self) -> None:
        """Finds terms under `without` that their concept does not have."""
        for term in self.terms:
            if term.source.holds_concepts and term.keys[1] == "without":
                key = term.keys[0]
                texts = [
                    str(text)
                    for source in self.sources
                    if source.holds_concepts
                    for text in source.content.get(key, {}).get("terms", ())
                ]
                if term.text not in texts:
                    advice = hint(term.text, texts) or "remove it."
                    self._say(term.source, term.line, f'"{term.text}" is not a term of {key}; {advice}')

    def concepts(self) -> None:
        """What concepts say of each other that cannot be."""
        seen: dict[str, tuple[str, str, int]] = {}
        normals = self.contents["normal"]["structures"].items()
        normal = {f"{structure} + {quality}" for structure, entry in normals for quality in entry["when"]}
        for source in self.sources:
            for key, entry in source.node.value if source.holds_concepts else ():
                if self.home[key.value] != source.name:
                    self._say(source, key, f"{key.value} is in {self.home[key.value]}.yaml, change it there.")
                if self._is_below_itself(key.value):
                    self._say(source, key, f"{key.value} is its own parent, or its parents'; give it another parent.")
                for item in (item for name, node in entry.value if name.value == "seen_as" for item in node.value):
                    here = f"{source.path.name}:{item.start_mark.line + 1} of {whose(source)}"
                    owner, before, layer = seen.setdefault(item.value, (key.value, here, source.layer))
                    taken = layer < source.layer and not source.is_own  # a pack is exacter than what it extends
                    if owner != key.value and not taken:
                        self._say(source, item, f'"{item.value}" is also under {owner} ({before}); remove one.')
                    if item.value in normal:
                        self._say(source, item, f'"{item.value}" is a normal statement of normal.yaml; remove one.')

    def _is_below_itself(self, key: str) -> bool:
        passed: set[str] = set()
        parent = self.entries[key].get("parent")
        while parent is not None and parent not in passed:
            passed.add(parent)
            parent = self.entries[parent].get("parent")
        return key in passed


def _at(content: Any, keys: Sequence[str]) -> Any:
    """What is behind keys, one after the other; None if nothing does."""
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content
