"""Makes the lexicon of its files: the terms of all of them in one trie over words.

Reading a text is then a walk through that trie, longest phrase first, in linear time. Aho–Corasick libraries
(pyahocorasick, ahocorasick-rs) and spaCy's PhraseMatcher were considered: they match characters or need a pipeline
object; a trie over normalised words needs no compiled dependency, respects word borders and plurals by construction,
and reads a usual report in a fraction of a millisecond. medspaCy's ConText and negspaCy set scope by a window of words;
here a cue reaches to the end of its clause, which is what a radiologist's lists under one "no" need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, cast, get_args

from rrgmetrics.reading.lexicon.files import load_file
from rrgmetrics.reading.lexicon.in_use import LexiconKey
from rrgmetrics.reading.lexicon.model import Concept, Known, Lexicon, Role, SmallWords, TipSite, Trie, Zone
from rrgmetrics.reading.lexicon.packs import concept_files
from rrgmetrics.reading.lexicon.rules import Precision, Rubric
from rrgmetrics.reading.senses import SENSES, Senses, without
from rrgmetrics.reading.tokens import ARTICLES, BEFORE_NEW_NOUN, leaves, singular, tokenize

# What a term of several words tells of its finding besides the concept.
_INSIDE = ("side", "zone", "severity", "acuity", "morphology", "route", "count")
_OUTSIDE = SENSES.keys() - _INSIDE
_DESCRIBED = ("change", "acuity", "morphology", "position", "route", "asymmetry")
_LONG = 5  # letters of a word that has a plural of its own; shorter ones are abbreviations
_SHORT = 4  # words of a name for a place that may be made of two, "right upper lobe apex"
_LETTERED = frozenset({"kerley", "type", "stanford", "port", "xxxx", "4"})  # before the letter "a": "Kerley A lines"
_CHAMBERS = frozenset({"atrial", "atrium", "ventricle", "ventricular"})  # have no side of their own
_SIDES = frozenset({"left", "right"})  # inside the name of a structure: "dome of the LEFT hemidiaphragm"
_INHERITED: frozenset[Role] = frozenset(
    {"picture", "sized", "lodged", "one_by_one", "diffuse"}
)  # the concept's own and its children's
_BELOW: frozenset[Role] = frozenset({"tipped"})  # its children's only


def build_lexicon(key: LexiconKey) -> Lexicon:
    """A lexicon, made from its files."""
    spellings = load_file("spellings", key)
    small = SmallWords(**{name: frozenset(words) for name, words in load_file("small_words", key).items()})
    lexicon = Lexicon(dict(spellings["words"]), small, key=key)
    trie = _Builder(lexicon, spellings["phrases"])
    for name in concept_files(lexicon.key):
        _add_concepts(lexicon, trie, name)
    _add_ancestors(lexicon)
    _add_roles(lexicon)
    _add_anatomy(lexicon, trie)
    _add_qualities(lexicon, trie)
    _add_attributes(lexicon, trie)
    for kind, terms in load_file("cues", lexicon.key).items():
        trie.add(terms, kind, kind)
    for word, parts in spellings["compounds"].items():
        trie.add([word], "parts", tuple(" ".join(without_articles(part.split())) for part in parts))
    _add_normals(lexicon, trie)
    _add_headings(lexicon)
    _add_context(lexicon)
    lexicon.context_rules = load_file("context_rules", lexicon.key)
    lexicon.rubric = _rubric(load_file("rubric", lexicon.key))
    trie.look_inside()
    _add_plurals(lexicon, spellings.get("plurals", {}))
    return lexicon


def words_of(term: str, spellings: Mapping[str, str]) -> list[str]:
    """The words of a term as the words of a text will look."""
    if term.isascii() and term.replace(" ", "").isalpha():  # the same, faster: most terms are plain words
        return [spellings.get(word) or singular(word) for word in term.split()]
    return [token.word for token in tokenize(term, spellings)]


def without_articles(words: Sequence[str]) -> list[str]:
    """Returns the words of a term without the articles inside it, which matching passes over.

    The first and the last word stay ("where the" is a cue of its own), and so do the letter of "Kerley A lines" and an
    article that begins a noun phrase of its own ("has an increased size" is no "has increased").

    Example:
        >>> without_articles(["air", "under", "the", "diaphragm"]), without_articles(["kerley", "a", "line"])
        (['air', 'under', 'diaphragm'], ['kerley', 'a', 'line'])
    """
    if ARTICLES.isdisjoint(words[1:-1]):  # of most terms
        return list(words)
    last = len(words) - 1

    def is_passed_over(i: int) -> bool:
        if words[i] not in ARTICLES or i in (0, last) or words[i - 1] in BEFORE_NEW_NOUN:
            return False
        return words[i] != "a" or words[i - 1] not in _LETTERED

    return [word for i, word in enumerate(words) if not is_passed_over(i)]


def forms_of(term: str, phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """A term with its phrase-wise alternatives."""
    words = term.split()
    spans = {" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}
    forms = [f" {term} "]
    for phrase in () if phrases.keys().isdisjoint(spans) else phrases:
        if phrase in spans:
            forms = [form.replace(f" {phrase} ", f" {w} ") for form in forms for w in (phrase, *phrases[phrase])]
    return forms


class _Builder:
    """Puts terms into the trie, in all their spellings."""

    def __init__(self, lexicon: Lexicon, phrases: Mapping[str, Sequence[str]]) -> None:
        self.trie = lexicon.trie
        self.concepts = lexicon.concepts
        self.words = lexicon.words
        self.phrases = phrases
        self.terms_words = lexicon.terms_words
        self.named: list[tuple[list[str], Senses, str]] = []
        zones = load_file("anatomy", lexicon.key)["zones"].items()
        self.measured = load_file("attributes", lexicon.key)["diameters"].keys()
        self.findings_of = lexicon.findings_of
        self.valves = frozenset(key for key, entry in zones if entry.get("structure") == "heart_valve")

    def add(self, terms: Iterable[Any], kind: str, value: Any, *, several: bool = False) -> None:
        """Adds terms with one sense; of a kind that allows `several` values a term keeps all, otherwise the first."""
        for term in terms:
            for form in forms_of(str(term), self.phrases):
                words = without_articles(words_of(form, self.words))
                node = self.trie
                for word in words:
                    below = node.get(word)
                    if below is None:
                        below = node[word] = {}
                    node = below
                senses = node.setdefault("", {})
                self.terms_words.update(words)
                if several:
                    known = senses.get(kind, ())
                    senses[kind] = known if value in known else (*known, value)
                    told = value in self.measured or (value, "several") in self.findings_of
                    if (told and len(words) > 1) or not _SIDES.isdisjoint(words[1:]):
                        self.named.append((words, senses, kind))
                elif kind not in senses:
                    senses[kind] = value
                    sided = kind == "zone" and not _SIDES.isdisjoint(words[1:])  # "outer third of the LEFT lung"
                    if sided or (kind in ("concept", "lone", "tip") and len(words) > 1):
                        self.named.append((words, senses, kind))

    def look_inside(self) -> None:
        """Gives terms of several words the places and descriptions they hold ("right sided arch" is on the right).

        A term that ends in a structure also stands for it: a "calcified aorta" can be tortuous. One that begins with
        its adjective lends it to the noun beside it: "AORTIC calcification and tortuosity".
        """
        for words, senses, kind in self.named:
            held = self._structure(words)
            height = kind == "tip" and "level" in words  # "at the LEVEL of the clavicles" is not in them
            if held and kind != "structure" and not height:
                senses["holds"] = held
            about = self._structure_at(words[:1]) if kind == "concept" else ()
            if about:
                senses["about"] = about
            inside = []
            key = senses["concept"] if kind == "concept" else senses["lone"] if kind == "lone" else ""
            is_device = bool(key) and self.concepts[key].is_device
            i = 0
            own = words.index("than") if "than" in words else len(words)  # "is larger THAN THE RIGHT" is on the left
            while i < own:
                end, kept = self._described(words, i)
                if words[i] == "left" and leaves(words[i - 1] if i else "", words[i + 1 : i + 3]):
                    kept = {}  # "LEFT behind"
                if words[i] in _SIDES and not _CHAMBERS.isdisjoint(words[i + 1 : i + 2]):
                    kept = {}  # "RIGHT VENTRICULAR lead"
                if is_device and kept.get("zone") not in self.valves:
                    kept.pop("zone", None)  # a central catheter is not a place, an aortic valve is one
                if "zone" in senses and len(words) > _SHORT:
                    kept.pop("zone", None)  # "APICAL segment of the lower lobe"
                if i and words[i] == "central":
                    kept.pop("zone", None)  # "mass with CENTRAL cavitation"
                if kept:
                    inside.append(kept)
                i = end
            paired = held and "structure" not in senses  # a "left jugular vein"; the "right atrium" is on no side
            if inside and (kind != "tip" or paired or any("zone" in part for part in inside)):
                senses["inside"] = inside

    def _described(self, words: list[str], i: int) -> tuple[int, Senses]:
        """The index after the longest describing phrase at `i`, shorter than the whole term, and what it says."""
        node: Trie | None = self.trie.get(words[i])
        end = i + 1
        kept: Senses = {}
        for j in range(i + 1, len(words) + (i > 0)):
            if node is None:
                break
            if "" in node:
                here = without(node[""], *_OUTSIDE)
                end, kept = (j, here) if here else (end, kept)
                if "structure" in node[""] and not here:
                    kept = without(kept, "severity")  # "small bowel"
            node = node.get(words[j]) if j < len(words) else None
        return end, kept

    def _structure(self, words: list[str]) -> tuple[str, ...]:
        """The structures of the longest phrase that ends the term, without its first word."""
        return next(filter(None, (self._structure_at(words[i:]) for i in range(1, len(words)))), ())

    def _structure_at(self, words: list[str]) -> tuple[str, ...]:
        node: Trie | None = self.trie
        for word in words:
            node = node.get(word) if node else None
        structures: tuple[str, ...] = (node or {}).get("", {}).get("structure", ())
        return structures


def _add_concepts(lexicon: Lexicon, trie: _Builder, name: str) -> None:
    for key, entry in load_file(name, lexicon.key).items():
        lexicon.concepts[key] = Concept(
            key=key,
            name=entry["name"],
            group=name,
            parent=entry.get("parent"),
            same_as=frozenset(entry.get("same_as", ())),
            sign_of=frozenset(entry.get("sign_of", ())),
            condition=entry.get("condition"),
            significance=entry["significance"],
            why=entry.get("why", ""),
            counts=entry.get("counts", True),
            carina_cm=tuple(entry.get("carina_cm", ())),
            expected_tip=frozenset(entry.get("expected_tip", ())),
            wrong_tip=frozenset(entry.get("wrong_tip", ())),
            expected_levels=frozenset(entry.get("expected_levels", ())),
            never_in=frozenset(entry.get("never_in", ())),
            rivals=frozenset(entry.get("rivals", ())),
            parts=tuple(entry.get("parts", ())),
        )
        trie.add(entry["terms"], "concept", key)
        trie.add(entry.get("lone_terms", ()), "lone", key)
        trie.add(entry.get("noun_terms", ()), "noun", key)
        for pattern in entry.get("seen_as", ()):
            structure, quality = pattern.split(" + ")
            lexicon.findings_of[structure, quality] = key
        for pattern in entry.get("found_in", ()):
            picture, zone = pattern.split(" + ")
            lexicon.findings_in[picture, zone] = key


def _add_ancestors(lexicon: Lexicon) -> None:
    for key, concept in lexicon.concepts.items():
        chain = []
        parent = concept.parent
        while parent is not None:
            chain.append(parent)
            parent = lexicon.concepts[parent].parent
        lexicon.concepts[key] = replace(concept, ancestors=tuple(chain))


def _add_roles(lexicon: Lexicon) -> None:
    stated: dict[Role, set[str]] = {role: set() for role in get_args(Role)}
    for name in concept_files(lexicon.key):
        for key, entry in load_file(name, lexicon.key).items():
            for role in entry.get("roles", ()):
                stated[role].add(key)
    for role, keys in stated.items():
        below = {key for key, concept in lexicon.concepts.items() if not keys.isdisjoint(concept.ancestors)}
        own = keys if role not in _BELOW else set()
        lexicon.roles[role] = frozenset(own | below if role in _INHERITED | _BELOW else own)


def _add_anatomy(lexicon: Lexicon, trie: _Builder) -> None:
    anatomy = load_file("anatomy", lexicon.key)
    for key, terms in anatomy["structures"].items():
        trie.add(terms, "structure", key, several=True)
        if (key, "several") in lexicon.findings_of:
            trie.add(terms, "listed", lexicon.findings_of[key, "several"])
    for key, terms in anatomy["sides"].items():
        trie.add(terms, "side", key)
    for key, entry in anatomy["zones"].items():
        name = entry.get("name", key.replace("_", " "))
        near, beside, never = (frozenset(entry.get(field, ())) for field in ("near", "beside", "never"))
        lexicon.zones[key] = Zone(name, entry.get("in"), near, beside, entry.get("side"), never)
        trie.add(entry["terms"], "zone", key)
        if "structure" in entry:
            trie.add(entry["terms"], "structure", entry["structure"], several=True)
    lexicon.everywhere = frozenset(key for key, entry in anatomy["zones"].items() if entry.get("everywhere"))
    _add_levels(lexicon, trie, anatomy["levels"])
    lexicon.groups = {key: frozenset(names) for key, names in anatomy["groups"].items()}
    lexicon.organ_of = {zone: organ for organ, zones in anatomy.get("apart", {}).items() for zone in zones}
    lexicon.elsewhere = frozenset(name for names in anatomy.get("elsewhere", {}).values() for name in names)


def _add_levels(lexicon: Lexicon, trie: _Builder, tables: Mapping[str, Any]) -> None:
    """Adds ribs and vertebrae by their numbers, and the regions of the spine; ribs stand apart from the vertebrae."""
    ordinals, order = tables["ordinals"], 0
    for series, entry in tables["bones"].items():
        spine = "zone" in entry
        lexicon.level_bases[series] = order = order if spine else order + 1
        for number, ordinal in enumerate(ordinals[: entry["last"]], 1):
            order += 1
            name = f"{series}{number}" if spine else f"{series} {number}"
            lexicon.levels[name], lexicon.level_names[order] = (order, order), name
            terms = [f"{letter}{number}" for letter in entry.get("letters", ())]
            terms += [f"{n} {word}" for word in entry["words"] for n in (ordinal, _ordinal(number))]
            if spine:
                terms = [f"{term}{end}" for term in terms for end in ("", " vertebra", " vertebral body")]
                _add_spine(trie, terms, name, entry["zone"])
        if not spine:
            lexicon.rib_words = frozenset(entry["words"])
    for number, ordinal in enumerate(ordinals, 1):
        trie.add([ordinal, _ordinal(number)], "ordinal", number)
    for name, entry in tables["regions"].items():
        lexicon.levels[name] = lexicon.levels[entry["first"]][0], lexicon.levels[entry["last"]][0]
        _add_spine(trie, entry["terms"], name, tables["bones"][entry["first"][0]]["zone"])


def _add_spine(trie: _Builder, terms: Sequence[str], level: str, zone: str) -> None:
    trie.add(terms, "level", (level,))
    trie.add(terms, "zone", zone)
    trie.add(terms, "structure", "spine", several=True)


def _ordinal(number: int) -> str:
    return f"{number} {({1: 'st', 2: 'nd', 3: 'rd'}).get(number, 'th')}"


def _add_qualities(lexicon: Lexicon, trie: _Builder) -> None:
    for key, entry in load_file("qualities", lexicon.key).items():
        trie.add(entry["terms"], "quality", key, several=True)
        if "alone" in entry:
            trie.add(entry["terms"], "concept", entry["alone"])


def _add_attributes(lexicon: Lexicon, trie: _Builder) -> None:
    tables = load_file("attributes", lexicon.key)
    for key, entry in tables["severity"].items():
        lexicon.severity[key] = entry["step"]
        trie.add(entry["terms"], "severity", entry["step"])
    for key, entry in tables["tip_sites"].items():
        lexicon.tips[key] = TipSite(entry["path"], entry["order"], entry.get("any", False))
        trie.add(entry["terms"], "tip", key)
    for kind in _DESCRIBED:
        for key, terms in tables[kind].items():
            trie.add(terms, kind, key)
    for key, terms in tables["count"].items():
        trie.add(terms, "count", int(key))
    lexicon.old, lexicon.times = frozenset(tables["old"]), frozenset(tables["times"])
    lexicon.units = tables["units"]
    lexicon.diameters = {
        key: [(row["from"], row["quality"]) for row in rows] for key, rows in tables["diameters"].items()
    }
    lexicon.largest = dict(tables["largest"])
    lexicon.shares = {
        word: [(row["from"], tables["severity"][row["severity"]]["step"]) for row in rows]
        for word, rows in tables["shares"].items()
    }
    names = tables["names"]
    lexicon.position_names, lexicon.size_names = names["position"], names["size"]
    lexicon.concept_names, lexicon.tip_names = names.get("concept", {}), names.get("tip", {})


def _add_normals(lexicon: Lexicon, trie: _Builder) -> None:
    normal = load_file("normal", lexicon.key)
    for structure, entry in normal["structures"].items():
        for quality in entry["when"]:
            lexicon.denials[structure, quality] = tuple(entry.get("only", {}).get(quality, entry["denies"]))
    for entry in normal["phrases"]:
        trie.add(entry["terms"], "normal", tuple(entry["denies"]))


def _add_headings(lexicon: Lexicon) -> None:
    table = load_file("sections", lexicon.key)
    for way in ("read", "skip"):
        for section, terms in table[way].items():
            for term in terms:
                lexicon.headings[" ".join(words_of(term, lexicon.words))] = (section, way == "read")
    lexicon.inline = frozenset(" ".join(words_of(term, lexicon.words)) for term in table.get("inline", ()))


def _add_plurals(lexicon: Lexicon, ends: Mapping[str, str]) -> None:
    """Adds the plurals that do not end in s, of every word that the terms hold, in all its spellings."""
    spelled = {**dict.fromkeys(lexicon.terms_words), **lexicon.words}
    for (word, meant), (one, many) in product(sorted(spelled.items()), ends.items()):
        plural = word.removesuffix(one) + many
        if word.endswith(one) and len(word) >= _LONG and plural not in lexicon.terms_words:
            lexicon.words.setdefault(plural, meant or word)


def _add_context(lexicon: Lexicon) -> None:
    context = load_file("context", lexicon.key)
    lexicon.rules = context["rules"]
    lexicon.harm = context.get("harm", [])
    lexicon.denied = rf"\b(?:{'|'.join(context['denials'])})\b"
    for kind, words in context["indications"].items():
        lexicon.indications[kind] = _any_of(words)
    known = context["known"]
    shown_by = {disease: frozenset(signs) for disease, signs in known["shown_by"].items()}
    lexicon.known = Known(_any_of(known["said"]), _any_of(known["asked"]), frozenset(known["chronic"]), shown_by)


def _any_of(words: Iterable[str]) -> str:
    """A pattern for words of an indication; a star stands for the rest of a word."""
    forms = (re.escape(w[:-1]) + r"\w*" if w.endswith("*") else re.escape(w) + "s?" for w in words)
    return rf"\b(?:{'|'.join(forms)})\b"


def _rubric(tables: Mapping[str, Any]) -> Rubric:
    """The rubric with a row for each two concepts."""
    precision: dict[tuple[str, str], Precision] = {}
    for row in tables["precision"]:
        entry: Precision = {"matters": row["matters"], "unless": frozenset(row.get("unless_indication", ()))}
        for pair in product(row["precise"], row["vague"]):
            precision.setdefault(pair, entry)
    return cast(Rubric, {**tables, "precision": precision})
