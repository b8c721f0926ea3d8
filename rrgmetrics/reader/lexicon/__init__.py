"""Loads the lexicon: the radiology the reader knows, kept in the YAML files of this folder.

The terms of all files go into one trie over words. Reading a text is then a walk through that trie, longest phrase
first, in linear time. Aho–Corasick libraries (pyahocorasick, ahocorasick-rs) and spaCy's PhraseMatcher were
considered: they match characters or need a pipeline object; a trie over normalised words needs no compiled
dependency, respects word borders and plurals by construction, and reads a usual report in a fraction of a
millisecond. medspaCy's ConText and negspaCy set scope by a window of words; here a cue reaches to the end of its
clause, which is what a radiologist's lists under one "no" need.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import resources
from itertools import product
from typing import Any

from rrgmetrics.reader.tokens import singular, tokenize

CONCEPT_FILES = (
    "lung",
    "pleura",
    "heart_and_vessels",
    "mediastinum",
    "bones",
    "chest_wall_and_abdomen",
    "devices",
    "technique",
)
TABLE_FILES = (
    "anatomy",
    "qualities",
    "attributes",
    "cues",
    "normal",
    "sections",
    "spellings",
    "context",
    "rubric",
    "scope",
    "vocabulary",
)

# What a term of several words tells of its finding besides the concept.
_INSIDE = ("side", "zone", "severity", "acuity", "morphology", "route")

Senses = dict[str, Any]
Trie = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing a report can speak of; the fields are explained at the top of ``lung.yaml``."""

    key: str
    name: str
    group: str
    parent: str | None = None
    same_as: frozenset[str] = frozenset()
    sign_of: frozenset[str] = frozenset()
    condition: str | None = None
    significance: str = "not_actionable_not_urgent"
    counts: bool = True
    carina_cm: tuple[float, ...] = ()
    expected_tip: frozenset[str] = frozenset()
    ancestors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Zone:
    """A place in the chest: the bigger place it is in, the places near it, and a side it implies."""

    inside: str | None = None
    near: frozenset[str] = frozenset()
    side: str | None = None


@dataclass(slots=True)
class Lexicon:
    """Everything the reader knows, ready for use."""

    concepts: dict[str, Concept] = field(default_factory=dict)
    zones: dict[str, Zone] = field(default_factory=dict)
    tips: dict[str, tuple[str, int, bool]] = field(default_factory=dict)
    severity: dict[str, int] = field(default_factory=dict)
    findings_of: dict[tuple[str, str], str] = field(default_factory=dict)
    denials: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    partners: frozenset[str] = frozenset()
    headings: dict[str, tuple[str, bool]] = field(default_factory=dict)
    rules: list[dict[str, Any]] = field(default_factory=list)
    indications: dict[str, re.Pattern[str]] = field(default_factory=dict)
    rubric: dict[str, Any] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    trie: Trie = field(default_factory=dict)


def load_file(name: str) -> Any:
    """Return the content of one lexicon file as plain dictionaries and lists."""
    import yaml  # 20 ms that `import rrgmetrics` need not pay

    text = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # both read plain data only
    return yaml.load(text, Loader=loader)


@cache
def checksum() -> str:
    """Return the SHA-256 of all lexicon files: two readers with the same checksum know the same."""
    digest = sha256()
    for name in (*CONCEPT_FILES, *TABLE_FILES):
        digest.update(resources.files(__package__).joinpath(f"{name}.yaml").read_bytes())
    return digest.hexdigest()


@cache
def load() -> Lexicon:
    """Return the lexicon; read from the files once per process."""
    spellings = load_file("spellings")
    lexicon = Lexicon(words=spellings["words"])
    builder = _Builder(lexicon, spellings["phrases"])
    for name in CONCEPT_FILES:
        _add_concepts(lexicon, builder, name)
    _add_ancestors(lexicon)
    _add_anatomy(lexicon, builder)
    _add_qualities(lexicon, builder)
    _add_attributes(lexicon, builder)
    for kind, terms in load_file("cues").items():
        builder.add(terms, kind, kind)
    for word, parts in spellings["compounds"].items():
        builder.add([word], "parts", tuple(parts))
    _add_normals(lexicon, builder)
    for read, sections in load_file("sections").items():
        for section, terms in sections.items():
            for term in terms:
                lexicon.headings[" ".join(builder.tokens(term))] = (section, read == "read")
    context = load_file("context")
    lexicon.rules = context["rules"]
    for kind, words in context["indications"].items():
        forms = (re.escape(w[:-1]) + r"\w*" if w.endswith("*") else re.escape(w) + "s?" for w in words)
        lexicon.indications[kind] = re.compile(rf"\b(?:{'|'.join(forms)})\b")
    lexicon.rubric = _rubric(load_file("rubric"))
    builder.look_inside()
    return lexicon


class _Builder:
    """Puts terms into the trie, in all their spellings."""

    def __init__(self, lexicon: Lexicon, phrases: dict[str, list[str]]) -> None:
        self.trie = lexicon.trie
        self.concepts = lexicon.concepts
        self.words = lexicon.words
        self.phrases = [(f" {key} ", [f" {v} " for v in values]) for key, values in phrases.items()]
        self.named: list[tuple[list[str], Senses, str]] = []

    def tokens(self, term: str) -> list[str]:
        """Return the words of a term as the text's words will look."""
        words = term.split()
        if all(word.isalpha() for word in words):  # the same, faster: most terms are plain words
            return [self.words.get(word) or singular(word) for word in words]
        return [t.word for t in tokenize(term, self.words)]

    def spellings(self, term: str) -> list[str]:
        """Return a term with its phrase-wise alternatives."""
        padded = f" {term} "
        options = [(key, [key, *values]) for key, values in self.phrases if key in padded]
        if not options:
            return [term]
        forms = []
        for choice in product(*(values for _, values in options)):
            form = padded
            for (key, _), value in zip(options, choice, strict=True):
                form = form.replace(key, value)
            forms.append(form)
        return forms

    def add(self, terms: list[str], kind: str, value: Any, *, several: bool = False) -> None:
        """Add terms with one sense; of a kind that allows ``several`` values, a term keeps all, otherwise the first."""
        for term in terms:
            for form in self.spellings(str(term)):
                words = self.tokens(form)
                node = self.trie
                for word in words:
                    node = node.setdefault(word, {})
                senses = node.setdefault("", {})
                if several:
                    senses[kind] = (*senses.get(kind, ()), value)
                elif kind not in senses:
                    senses[kind] = value
                    if kind in ("concept", "tip") and len(words) > 1:
                        self.named.append((words, senses, kind))

    def look_inside(self) -> None:
        """Give terms of several words the places and descriptions they hold ("right sided arch" is on the right).

        A term that ends in a structure also stands for it: a "calcified aorta" can be tortuous.
        """
        for words, senses, kind in self.named:
            held = self._structure(words)
            if held:
                senses["holds"] = held
            if kind != "concept":
                continue
            inside = []
            device = self.concepts[senses["concept"]].group == "devices"
            i = 0
            while i < len(words):
                end, kept = self._described(words, i)
                if device:
                    kept.pop("zone", None)  # a central catheter is not a place
                if kept:
                    inside.append(kept)
                i = end
            if inside:
                senses["inside"] = inside

    def _described(self, words: list[str], i: int) -> tuple[int, Senses]:
        """Return the longest describing phrase at ``i``, shorter than the whole term, and the index after it."""
        node: Trie | None = self.trie.get(words[i])
        end, kept = i + 1, {}
        for j in range(i + 1, len(words) + (i > 0)):
            if node is None:
                break
            here = {k: v for k, v in node.get("", {}).items() if k in _INSIDE}
            if here:
                end, kept = j, here
            node = node.get(words[j]) if j < len(words) else None
        return end, kept

    def _structure(self, words: list[str]) -> tuple[str, ...]:
        """Return the structures of the longest phrase that ends the term, without its first word."""
        for i in range(1, len(words)):
            node: Trie | None = self.trie
            for word in words[i:]:
                node = node.get(word) if node else None
            structures: tuple[str, ...] = (node or {}).get("", {}).get("structure", ())
            if structures:
                return structures
        return ()


def _add_concepts(lexicon: Lexicon, builder: _Builder, name: str) -> None:
    for key, entry in load_file(name).items():
        lexicon.concepts[key] = Concept(
            key=key,
            name=entry["name"],
            group=name,
            parent=entry.get("parent"),
            same_as=frozenset(entry.get("same_as", ())),
            sign_of=frozenset(entry.get("sign_of", ())),
            condition=entry.get("condition"),
            significance=entry["significance"],
            counts=entry.get("counts", True),
            carina_cm=tuple(entry.get("carina_cm", ())),
            expected_tip=frozenset(entry.get("expected_tip", ())),
        )
        builder.add(entry["terms"], "concept", key)
        for pattern in entry.get("seen_as", ()):
            structure, quality = pattern.split(" + ")
            lexicon.findings_of[structure, quality] = key


def _add_ancestors(lexicon: Lexicon) -> None:
    for key, concept in lexicon.concepts.items():
        chain = []
        parent = concept.parent
        while parent is not None:
            chain.append(parent)
            parent = lexicon.concepts[parent].parent
        object.__setattr__(lexicon.concepts[key], "ancestors", tuple(chain))


def _add_anatomy(lexicon: Lexicon, builder: _Builder) -> None:
    anatomy = load_file("anatomy")
    for key, terms in anatomy["structures"].items():
        builder.add(terms, "structure", key, several=True)
    for key, terms in anatomy["sides"].items():
        builder.add(terms, "side", key)
    for key, entry in anatomy["zones"].items():
        lexicon.zones[key] = Zone(entry.get("in"), frozenset(entry.get("near", ())), entry.get("side"))
        builder.add(entry["terms"], "zone", key)
        if "structure" in entry:
            builder.add(entry["terms"], "structure", entry["structure"], several=True)


def _add_qualities(lexicon: Lexicon, builder: _Builder) -> None:
    for key, entry in load_file("qualities").items():
        builder.add(entry["terms"], "quality", key, several=True)
        if "alone" in entry:
            builder.add(entry["terms"], "concept", entry["alone"])


def _add_attributes(lexicon: Lexicon, builder: _Builder) -> None:
    tables = load_file("attributes")
    for key, entry in tables["severity"].items():
        lexicon.severity[key] = entry["step"]
        builder.add(entry["terms"], "severity", entry["step"])
    for key, entry in tables["tip_sites"].items():
        lexicon.tips[key] = (entry["path"], entry["order"], entry.get("any", False))
        builder.add(entry["terms"], "tip", key)
    for kind in ("change", "acuity", "morphology", "position", "route", "asymmetry"):
        for key, terms in tables[kind].items():
            builder.add(terms, kind, key)
    for key, terms in tables["count"].items():
        builder.add(terms, "count", int(key))


def _rubric(tables: dict[str, Any]) -> dict[str, Any]:
    """Return the rubric with a row for each two concepts."""
    precision: dict[tuple[str, str], dict[str, Any]] = {}
    for row in tables["precision"]:
        entry = {"matters": row["matters"], "unless": frozenset(row.get("unless_indication", ()))}
        for pair in product(row["precise"], row["vague"]):
            precision.setdefault(pair, entry)
    return {"precision": precision, "opposed": tables["opposed"]}


def _add_normals(lexicon: Lexicon, builder: _Builder) -> None:
    normal = load_file("normal")
    for structure, entry in normal["structures"].items():
        for quality in entry["when"]:
            lexicon.denials[structure, quality] = tuple(entry["denies"])
    for entry in normal["phrases"]:
        builder.add(entry["terms"], "normal", tuple(entry["denies"]))
