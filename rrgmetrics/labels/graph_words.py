"""Which words of a sentence are entities of RadGraph, and with what label.

A sentence becomes a row of chunks: nodes that stand together, with what stands between two chunks ("in the", "and",
"are"). Whether a word is a place or an observation says `lexicon/*/graph.yaml`, else the lexicon's terms that hold it;
whether an observation is present, uncertain or absent says the reader's assertion of the finding that it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import TECHNIQUE, Lexicon, load_file, per_lexicon
from rrgmetrics.reading.parsed import Parsed, asserted
from rrgmetrics.reading.tokens import Token

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
_ORDINAL, _LIKE = frozenset({"st", "nd", "rd", "th"}), frozenset({"like", "shaped", "appearing"})
_ADJECTIVE = re.compile(r".*(?:ed|ic|ac|al|ar|ous|ive|ary|ile|ior|like|ly|form|oid)")

# What stands between two chunks, one letter each.
JOINT, WITH, PLACING, OF, VERB, END, DENIED, HEDGED, ARTICLE = "JWPFCENLA"
_SMALL = {
    **dict.fromkeys((",", "and", "or", "nor", "/", "versus", "vs"), JOINT),
    **dict.fromkeys(("with", "than", "after", "following", "due", "(", ")"), WITH),
    **dict.fromkeys(("is", "are", "was", "were", "be", "been", "has", "have", "had"), VERB),
    **dict.fromkeys(("a", "an", "the", "this", "these"), ARTICLE),
    "of": OF,
}
Gap = frozenset[str]


class Word(NamedTuple):
    """What a word is in a graph: a place or an observation; how it stands to its neighbours."""

    is_place: bool
    is_adjective: bool = False
    is_adverb: bool = False
    is_attribute: bool = False
    is_part: bool = False


_DESCRIPTION = Word(is_place=False, is_adjective=True)


@dataclass(slots=True, eq=False)
class Node:
    """Tokens `[first, last)` that are one entity; `kind` is that of its last word."""

    first: int
    last: int
    word: str
    kind: Word
    is_size: bool = False
    label: str = ""
    arrows: dict[tuple[str, int], tuple[str, Node]] = field(default_factory=dict)

    def point(self, kind: str, to: Node) -> None:
        """Adds an arrow to another node, once."""
        if to is not self:
            self.arrows.setdefault((kind, id(to)), (kind, to))


class Chunk:
    """Nodes that stand together, and what stands before them; its places and its observations."""

    __slots__ = ("before", "nodes", "observations", "places")

    def __init__(self, before: Gap, nodes: list[Node]) -> None:
        self.before, self.nodes = before, nodes
        self.places = [node for node in nodes if node.kind.is_place]
        self.observations = [node for node in nodes if not node.kind.is_place]

    @property
    def describes(self) -> bool:
        """Whether its observations are adjectives alone, as behind "is"."""
        return all(node.kind.is_adjective for node in self.observations)


class Clause(NamedTuple):
    """The chunks of a sentence, and which mention explains which, by their nodes."""

    chunks: list[Chunk]
    links: list[tuple[Node, Node]]


class Words(NamedTuple):
    """What is known of single words: those of `graph.yaml`, and those that tell nothing by themselves."""

    known: dict[str, Word]
    places: frozenset[str]
    descriptions: frozenset[str]
    idle: frozenset[str]
    either: frozenset[str]
    device_words: frozenset[str]
    placing: frozenset[str]
    studies: frozenset[str]
    table: dict[str, frozenset[str]]

    def kind(self, word: str, is_place: bool) -> Word:
        """A place or an observation, by the lists of adjectives and the like, else by its ending."""
        table = self.table
        adverb = word in table["adverbs"]
        adjective = adverb or word in table["adjectives"] or _ADJECTIVE.fullmatch(word) is not None
        return Word(
            is_place,
            adjective and word not in table["nouns"],
            adverb,
            word in table["attributes"],
            word in table["parts"],
        )


@per_lexicon
def known_words(lexicon: Lexicon) -> Words:
    """The words of `graph.yaml` and of `vocabulary.yaml`."""
    table = {name: frozenset(words) for name, words in load_file("graph", lexicon.key).items()}
    vocabulary = {group: frozenset(map(str, words)) for group, words in load_file("vocabulary", lexicon.key).items()}
    words = Words(
        {},
        vocabulary["anatomy"],
        vocabulary["description"],
        table["no_node"] | vocabulary["grammar"] | vocabulary["report"],
        table["either"],
        table["device_words"],
        table["placing"],
        table["studies"],
        table,
    )
    for name, is_place in (("observation", False), ("anatomy", True)):
        words.known.update((word, words.kind(word, is_place)) for word in table[name])
    return words


def clause_of(parsed: Parsed) -> Clause:
    """The sentence as chunks of labelled nodes; one about people has none."""
    words, items = known_words(parsed.lexicon), parsed.items
    if any("communication" in item.senses for item in items):
        return Clause([], [])
    chunks = _without_views(_chunks(parsed, words), items, words)
    links = _label(chunks, parsed.tokens, items, parsed.once(asserted))
    return Clause([chunk for chunk in chunks if chunk.nodes], links)


def _chunks(parsed: Parsed, words: Words) -> list[Chunk]:
    """Cuts a sentence into chunks, the last one empty; a hyphen joins words to one node."""
    tokens = parsed.tokens
    rows: list[tuple[Gap, list[Node]]] = []
    gap: set[str] = {END}
    open_node: Node | None = None
    for k, item, node in _nodes(tokens, parsed.items, parsed.lexicon, words):
        ordinal = tokens[k].word in _ORDINAL and k > 0 and tokens[k - 1].word.isdigit()
        if ordinal and tokens[k - 1].end == tokens[k].start:
            node = Node(k - 1, k + 1, tokens[k].word, Word(is_place=True, is_adjective=True))  # "4th"
        elif tokens[k].word in _LIKE and open_node is None and k > 0:
            node = Node(k, k + 1, tokens[k].word, _DESCRIPTION) if parsed.between(k).endswith("-") else None
        hyphen = k > 0 and parsed.between(k) == "-"
        if hyphen and open_node is not None:
            _join(open_node, k, node)
        elif node is None:
            if open_node is not None and open_node.kind.is_adjective and tokens[k].word == "clinical":
                rows[-1][1].pop()  # "in the appropriate clinical setting"
            gap |= _between(item, tokens[k].word, words)
            open_node = None
        else:
            if gap or not rows:
                rows.append((frozenset(gap), []))
                gap = set()
            rows[-1][1].append(node)
            if hyphen and tokens[k - 1].word.isalpha():
                node.first -= 1  # "post-surgical"
            open_node = node
    return [Chunk(*row) for row in (*rows, (frozenset(gap), []))]


def _join(node: Node, k: int, other: Node | None) -> None:
    """Adds the token behind a hyphen to a node ("left-sided", "air-fluid")."""
    node.last = k + 1 if other is None else other.last
    if other is not None:
        node.word, node.kind = other.word, other.kind._replace(is_place=node.kind.is_place)


def _nodes(
    tokens: Sequence[Token], items: Sequence[Item], lexicon: Lexicon, words: Words
) -> Iterator[tuple[int, Item, Node | None]]:
    """Yields every token with its item, and the node that starts there, if one does."""
    done = 0
    for item in items:
        first, last, senses = item.first, item.last, item.senses
        first = max(first, done)  # another part of the same abbreviation: "RIJ line"
        done = last
        if "measure" in senses or ("severity" in senses and last - first == 3 and tokens[first + 1].word == "to"):
            yield first, item, Node(first, last, tokens[last - 1].word, _DESCRIPTION, is_size="measure" in senses)
            continue
        concept = lexicon.concepts[senses["concept"]] if "concept" in senses else None
        if (concept is not None and concept.group == TECHNIQUE) or (
            last - first > 1 and senses and senses.keys() <= _CUES
        ):
            for k in range(first, last):
                yield k, item, None
            continue
        for k in range(first, last):
            word, after = tokens[k].word, tokens[k + 1].word if k + 1 < last else ""
            kind = _kind(word, after, item, concept is not None and concept.is_device, words)
            yield k, item, None if kind is None else Node(k, k + 1, word, kind)


def _kind(word: str, after: str, item: Item, device: bool, words: Words) -> Word | None:
    """Tells what a word is, by the term that it stands in and the next word of it; None if it is no node."""
    senses, known = item.senses, words.known.get(word)
    if known is not None:
        behind = words.known.get(after)
        if word in words.either and behind is not None:  # "minor fissure", "soft tissue"
            return known._replace(is_place=behind.is_place and not behind.is_adjective)
        if device and word in words.device_words:  # "chest tube", but "chest wall pacemaker"
            place = behind is not None and behind.is_place and after not in words.device_words
            return known._replace(is_place=place)
        if known.is_attribute and behind is not None and not behind.is_place and not behind.is_adjective:
            return known._replace(is_place=False)  # "volume loss"
        if known.is_place and known.is_adjective and "quality" in senses and not senses.keys() & _PLACES and not device:
            return known._replace(is_place="concept" in senses)  # "upper limits of normal"
        return known
    if word in words.idle or not word.isalpha() or (len(word) < 2 and "side" not in senses):
        return None
    if word in words.places:
        return words.kind(word, True)
    if not senses:
        return words.kind(word, False) if word in words.descriptions else None
    if not senses.keys().isdisjoint(_SEEN):
        return words.kind(word, False)
    return words.kind(word, True) if not senses.keys().isdisjoint(_PLACES) else None


def _between(item: Item, word: str, words: Words) -> set[str]:
    """Returns what a token that is no node means for the chunks on both sides of it."""
    senses, found = item.senses, set()
    if senses:
        if "negation_before" in senses or "negation_verb" in senses:
            found.add(DENIED)
        if not senses.keys().isdisjoint(_HEDGES):
            found.add(HEDGED)
        if ("item_break" in senses and word != "with") or "negation_verb" in senses:
            found.add(VERB)
        if "clause_end" in senses:
            found.add(END)
        if "location_preposition" in senses and word not in ("of", "the"):
            found.add(PLACING)
    if not found and word in _SMALL:
        found.add(_SMALL[word])
    elif not found and word in words.placing:
        found.add(PLACING)
    if word in (";", "—", "–"):
        found.add(END)
    elif word == ":":
        found.add(VERB)
    elif word in ("no", "not", "without"):
        found.add(DENIED)
    return found


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


def _label(
    chunks: list[Chunk], tokens: Sequence[Token], items: Sequence[Item], mentions: Sequence[Mention]
) -> list[tuple[Node, Node]]:
    """Labels the nodes of a sentence; returns the pairs of which the first suggests the second."""
    nodes = [node for chunk in chunks for node in chunk.nodes]
    unlikely = max((i for i, item in enumerate(items) if item.word == "unlikely"), default=-1)
    named: dict[int, Node] = {}
    for mention in mentions:
        at = items[mention.at]
        own = [node for node in nodes if at.first <= node.first < at.last and not node.kind.is_place]
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
        elif node.label == "OBS-DP" and tokens[node.first - 1].word in ("not", "no") and node.first:
            node.label = OBSERVATION["absent"]
    denied = False
    for chunk in chunks:
        denied = (denied and END not in chunk.before and VERB not in chunk.before) or DENIED in chunk.before
        for node in chunk.nodes:
            if node.kind.is_place:
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
