"""Which words of a sentence are entities of RadGraph, and with what label.

A sentence becomes a row of chunks: nodes that stand together, with what stands between two chunks ("in the", "and",
"are"). Whether a word is a place or an observation says `lexicon/graph.yaml`, else the lexicon's terms that hold it;
whether an observation is present, uncertain or absent says the reader's assertion of the finding that it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rrgmetrics.reader.assertion import assert_mentions
from rrgmetrics.reader.items import Item, Mention, read_sentences
from rrgmetrics.reader.lexicon import TECHNIQUE, Lexicon, Senses, Trie, load, load_file, per_lexicon
from rrgmetrics.reader.lexicon.build import words_of
from rrgmetrics.reader.tokens import Token, tokenize

ANATOMY = "ANAT-DP"
OBSERVATION = {"present": "OBS-DP", "uncertain": "OBS-U", "absent": "OBS-DA"}
_PLACES = frozenset({"structure", "side", "zone", "tip"})
_SEEN = frozenset(
    {"concept", "quality", "severity", "change", "acuity", "morphology", "position", "count", "asymmetry"}
)
_HEDGES = ("probable_before", "possible_before", "possible_list", "not_excluded_before")
_CUES = frozenset(
    {
        *_HEDGES,
        "hypothetical",
        "negation_before",
        "negation_after",
        "negation_verb",
        "not_negation",
        "possible_after",
        "nothing",
    }
    | {"not_excluded_after", "hypothetical_after", "recommendation", "retracted"}
)
_GONE = frozenset(
    {"resolved", "resolution", "removed", "removal", "cleared", "extubated"}
)  # present, what is gone is not
_ADJECTIVE = re.compile(r".*(?:ed|ic|ac|al|ar|ous|ive|ary|ile|ior|like|ly|form|oid)")

# What stands between two chunks, one letter each.
JOINT, WITH, PLACING, OF, VERB, END, DENIED, HEDGED, ARTICLE = "JWPFCENLA"
Gap = frozenset[str]


@dataclass(slots=True, eq=False)
class Node:
    """Tokens `[first, last)` that are one entity."""

    first: int
    last: int
    word: str
    is_place: bool
    is_adjective: bool = False
    is_adverb: bool = False
    is_size: bool = False
    label: str = ""
    arrows: dict[tuple[str, int], tuple[str, Node]] = field(default_factory=dict)

    def point(self, kind: str, to: Node) -> None:
        """Adds an arrow to another node, once."""
        if to is not self:
            self.arrows.setdefault((kind, id(to)), (kind, to))


class Chunk(NamedTuple):
    """Nodes that stand together, and what stands before them."""

    before: Gap
    nodes: list[Node]

    @property
    def places(self) -> list[Node]:
        """The places."""
        return [node for node in self.nodes if node.is_place]

    @property
    def observations(self) -> list[Node]:
        """The observations."""
        return [node for node in self.nodes if not node.is_place]

    @property
    def describes(self) -> bool:
        """Whether its observations are adjectives alone, as behind "is"."""
        return all(node.is_adjective for node in self.observations)


class Clause(NamedTuple):
    """The chunks of a sentence, and which mention explains which, by their nodes."""

    chunks: list[Chunk]
    links: list[tuple[Node, Node]]


class Words(NamedTuple):
    """What is known of single words."""

    places: frozenset[str]
    observations: frozenset[str]
    either: frozenset[str]
    device_words: frozenset[str]
    adjectives: frozenset[str]
    nouns: frozenset[str]
    adverbs: frozenset[str]
    attributes: frozenset[str]
    parts: frozenset[str]
    placing: frozenset[str]
    studies: frozenset[str]


@per_lexicon
def known_words() -> Words:
    """The words of `graph.yaml`, with those that only the lexicon's terms tell of."""
    lexicon = load()
    table = {name: frozenset(words) for name, words in load_file("graph").items()}
    vocabulary = {
        group: {word for term in terms for word in words_of(str(term), lexicon.words)}
        for group, terms in load_file("vocabulary").items()
    }
    listed = table["anatomy"] | table["observation"] | table["no_node"]
    listed |= vocabulary["grammar"] | vocabulary["report"] | vocabulary["clinical"]
    places, seen = set(vocabulary["anatomy"]), set(vocabulary["description"])
    for words, senses in _terms(lexicon.trie, ()):
        (places if senses.keys() & _PLACES else seen if senses.keys() & _SEEN else set()).update(words)
    places, seen = places - listed, {word for word in seen - listed if word.isalpha() and len(word) > 1}
    clinical = {word for word in vocabulary["clinical"] if _is_finding(word, lexicon)} - table["no_node"]
    return Words(
        frozenset(table["anatomy"] | (places - table["observation"])),
        frozenset(table["observation"] | ((seen | clinical) - places - table["anatomy"])),
        *(table[name] for name in Words._fields[2:]),
    )


def _is_finding(word: str, lexicon: Lexicon) -> bool:
    return "concept" in lexicon.trie.get(word, {}).get("", {})


def _terms(trie: Trie, before: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Senses]]:
    """The terms of the lexicon word by word, with their senses."""
    for word, node in trie.items():
        if word:
            yield from _terms(node, (*before, word))
        else:
            yield before, node


def clauses(report: str) -> Iterator[tuple[Sequence[Token], Clause]]:
    """Yields the sentences of a report that stand in sections with observations, as chunks of labelled nodes."""
    lexicon, words = load(), known_words()
    tokens = tokenize(report, lexicon.words)
    for _, items, mentions in read_sentences(tokens, lexicon):
        if any("communication" in item.senses for item in items):
            continue
        assert_mentions(items, mentions, lexicon)
        chunks = _without_views(_chunks(report, tokens, items, lexicon, words), items, words)
        links = _label(chunks, items, mentions)
        yield tokens, Clause([chunk for chunk in chunks if chunk.nodes], links)


def _chunks(report: str, tokens: Sequence[Token], items: Sequence[Item], lexicon: Lexicon, words: Words) -> list[Chunk]:
    """Cuts a sentence into chunks; a hyphen joins words to one node."""
    chunks: list[Chunk] = []
    gap: set[str] = {END}
    open_node: Node | None = None
    for k, item, node in _nodes(tokens, items, lexicon, words):
        hyphen = k > 0 and report[tokens[k - 1].end : tokens[k].start] == "-"
        if hyphen and open_node is not None:
            _join(open_node, k, node)
        elif node is None:
            gap |= _between(item, tokens[k].word, words)
            open_node = None
        else:
            if gap or not chunks:
                chunks.append(Chunk(frozenset(gap), []))
                gap = set()
            chunks[-1].nodes.append(node)
            if hyphen and tokens[k - 1].word.isalpha():
                node.first -= 1  # "post-surgical"
            open_node = node
    chunks.append(Chunk(frozenset(gap), []))  # what stands behind the last one
    return chunks


def _join(node: Node, k: int, other: Node | None) -> None:
    """Adds the token behind a hyphen to a node ("left-sided", "air-fluid")."""
    node.last = k + 1 if other is None else other.last
    if other is not None:
        node.word, node.is_adjective, node.is_adverb = other.word, other.is_adjective, other.is_adverb


def _nodes(
    tokens: Sequence[Token], items: Sequence[Item], lexicon: Lexicon, words: Words
) -> Iterator[tuple[int, Item, Node | None]]:
    """Yields every token with its item, and the node that starts there, if one does."""
    done = 0
    for item in items:
        if item.first < done:
            continue  # another part of the same abbreviation
        done = item.last
        senses = item.senses
        if "measure" in senses or ("severity" in senses and _is_range(tokens, item)):
            last = tokens[item.last - 1].word
            yield item.first, item, Node(item.first, item.last, last, False, True, is_size="measure" in senses)
            continue
        concept = lexicon.concepts.get(senses.get("concept", ""))
        technical = concept is not None and concept.group == TECHNIQUE
        if item.last - item.first > 1 and senses and senses.keys() <= _CUES:
            technical = True
        device = concept is not None and concept.is_device
        for k in range(item.first, item.last):
            word, after = tokens[k].word, tokens[k + 1].word if k + 1 < item.last else ""
            place = None if technical else _is_place(word, after, item, device, words)
            if place is None:
                yield k, item, None
            else:
                yield k, item, Node(k, k + 1, word, place, _is_adjective(word, words), word in words.adverbs)


def _is_range(tokens: Sequence[Token], item: Item) -> bool:
    """Tells whether an item is a range of severity, which is one node ("mild to moderate")."""
    return item.last - item.first == 3 and tokens[item.first + 1].word == "to"


def _is_adjective(word: str, words: Words) -> bool:
    if word in words.nouns:
        return False
    return word in words.adjectives or word in words.adverbs or _ADJECTIVE.fullmatch(word) is not None


def _is_place(word: str, after: str, item: Item, device: bool, words: Words) -> bool | None:
    """Tells whether a word is a place, an observation (False), or no node (None), by the next word of its term."""
    if word in words.either and item.last - item.first > 1 and not item.senses.keys() & _SEEN:
        return bool(item.senses.keys() & _PLACES)
    if device and word in words.device_words:
        return after in words.places and after not in words.device_words  # "chest wall pacemaker", "chest tube"
    if word in words.attributes and after in words.observations and not _is_adjective(after, words):
        return False  # "volume loss"
    if word in words.places:
        return True
    return False if word in words.observations else None


def _between(item: Item, word: str, words: Words) -> set[str]:
    """Returns what a token that is no node means for the chunks on both sides of it."""
    senses, found = item.senses, set()
    if "negation_before" in senses or "negation_verb" in senses or word in ("no", "not", "without"):
        found.add(DENIED)
    if not senses.keys().isdisjoint(_HEDGES):
        found.add(HEDGED)
    if ("item_break" in senses and word != "with") or "negation_verb" in senses or word == ":":
        found.add(VERB)
    if "clause_end" in senses or word in (";", "—", "–"):
        found.add(END)
    if "location_preposition" in senses and word not in ("of", "the"):
        found.add(PLACING)
    if not found:
        found.update(letter for letter, of in _small_words(words).items() if word in of)
    return found


def _small_words(words: Words) -> dict[str, frozenset[str]]:
    return {
        JOINT: frozenset({",", "and", "or", "nor", "/", "&"}),
        WITH: frozenset({"with", "than"}),
        VERB: frozenset({"is", "are", "was", "were", "be", "been", "has", "have", "had"}),
        OF: frozenset({"of"}),
        ARTICLE: frozenset({"a", "an", "the", "this", "these"}),
        PLACING: words.placing,
    }


def _without_views(chunks: list[Chunk], items: Sequence[Item], words: Words) -> list[Chunk]:
    """Leaves out the places that name a view, not a place of an observation ("lateral views of the chest")."""
    studies = [item.first for item in items if item.word in words.studies]
    if not studies:
        return chunks
    end = 0
    kept: list[Chunk] = []
    for chunk in chunks:
        nodes = chunk.nodes
        if nodes and not chunk.observations:
            of_study = OF in chunk.before and any(end <= at < nodes[0].first for at in studies)
            if of_study or nodes[-1].last in studies:
                chunk = Chunk(chunk.before | {END}, [])
        end = nodes[-1].last if nodes else end
        kept.append(chunk)
    return kept


def _label(chunks: list[Chunk], items: Sequence[Item], mentions: Sequence[Mention]) -> list[tuple[Node, Node]]:
    """Labels the nodes of a sentence; returns the pairs of which the first suggests the second."""
    nodes = [node for chunk in chunks for node in chunk.nodes]
    unlikely = max((i for i, item in enumerate(items) if item.word == "unlikely"), default=-1)
    named: dict[int, Node] = {}
    for mention in mentions:
        at = items[mention.at]
        own = [node for node in nodes if at.first <= node.first < at.last and not node.is_place]
        label = OBSERVATION[_assertion(mention)]
        for node in own:
            node.label = OBSERVATION["uncertain"] if mention.at < unlikely and label == "OBS-DA" else label
        if own:
            named[id(mention)] = own[-1]
    for chunk in chunks:
        _spread(chunk)
    for node in nodes:
        if node.word in _GONE and node.label == "OBS-DA":
            node.label = OBSERVATION["present"]
    denied = False
    for chunk in chunks:
        denied = (denied and END not in chunk.before and VERB not in chunk.before) or DENIED in chunk.before
        for node in chunk.nodes:
            if node.is_place:
                node.label = ANATOMY
            elif not node.label:
                node.label = OBSERVATION["absent" if denied else "uncertain" if HEDGED in chunk.before else "present"]
    return [(named[a], named[b]) for a, b in _suggested(mentions, items) if a in named and b in named]


def _suggested(mentions: Sequence[Mention], items: Sequence[Item]) -> Iterator[tuple[int, int]]:
    """Yields picture and meaning: what a hedge leads to, and its alternatives ("likely edema or pneumonia")."""
    pictures: dict[int, Mention] = {}
    for mention in mentions:
        link = mention.link
        if link is None or mention.dropped:
            continue
        picture = pictures.get(id(link))
        between = items[link.last : mention.first]
        if picture is None and any(not item.senses.keys().isdisjoint(_HEDGES) for item in between):
            picture = link
        if picture is not None:
            pictures[id(mention)] = picture
            yield id(picture), id(mention)


def _assertion(mention: Mention) -> str:
    """Returns how RadGraph would assert a mention: what is probable or only asked is uncertain."""
    if mention.denies:
        return "absent" if mention.dropped else "present"
    if mention.dropped or (mention.assertion == "present" and mention.certainty != "definite"):
        return "uncertain"
    return mention.assertion


def _spread(chunk: Chunk) -> None:
    """Gives the words of a chunk the label of the finding that they describe: the next one, else the one before."""
    for row in (chunk.observations[::-1], chunk.observations):
        label = ""
        for node in row:
            node.label = label = node.label or label
