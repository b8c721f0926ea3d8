"""The relations between the entities of a sentence: located_at, modify, suggestive_of.

A chunk of words has a head for its places ("left lower LOBE", "HEART size") and one for its observations ("small
EFFUSION"); what else stands in it modifies them, and the observation is located at the place. Between chunks a
preposition leads to a place ("opacity IN the left base"), a verb back to its subject ("the heart IS enlarged").
"""

from __future__ import annotations

from itertools import zip_longest

from rrgmetrics.labels.graph_words import (
    ARTICLE,
    DENIED,
    END,
    HEDGED,
    JOINT,
    OF,
    PLACING,
    VERB,
    WITH,
    Chunk,
    Clause,
    Node,
)

_VIEWS = frozenset({"chest", "lateral", "single"})


def relate(clause: Clause) -> None:
    """Adds the arrows of a sentence to its nodes, in place."""
    chunks = _merged(clause.chunks)
    for chunk in chunks:
        _inside(chunk)
    _across(chunks)
    for picture, meaning in clause.links:
        if picture.label != "OBS-DA" and meaning.label != "OBS-DA":
            picture.point("suggestive_of", meaning)


def entities_of(clause: Clause) -> list[Node]:
    """The nodes of a related sentence; a "chest" of which nothing is said is the name of the examination."""
    nodes = [node for chunk in clause.chunks for node in chunk.nodes]
    views = [node for node in nodes if node.word in _VIEWS]
    if not views:
        return nodes
    told = {id(to) for node in nodes if node not in views for _, to in node.arrows.values()}
    told |= {id(node) for node in views for _, to in node.arrows.values() if to not in views}
    told |= {id(to) for node in views if id(node) in told for _, to in node.arrows.values()}
    return [node for node in nodes if node not in views or id(node) in told]


def _merged(chunks: list[Chunk]) -> list[Chunk]:
    """Joins descriptions of one noun: "upper and lower | lobes", "tortuous and | calcified aorta"."""
    merged: list[Chunk] = []
    for chunk in chunks:
        before = merged[-1] if merged else None
        if before is not None and JOINT in chunk.before <= {JOINT} and _continues(before, chunk):
            merged[-1] = Chunk(before.before, [*before.nodes, *chunk.nodes])
        else:
            merged.append(chunk)
    return merged


def _continues(before: Chunk, chunk: Chunk) -> bool:
    """Whether the words of a chunk are adjectives that go on, over a joint, in the next one."""
    if not all(node.kind.is_adjective and not node.is_size for node in before.nodes):
        return False
    if before.nodes[-1].kind.is_place != chunk.nodes[0].kind.is_place:
        return False
    return VERB not in before.before or (chunk.describes and not chunk.places)


def _inside(chunk: Chunk) -> None:
    """The arrows within a chunk."""
    runs = _runs(chunk)
    for run in runs:
        for node in run:
            node.point("modify", head_of_places(run))
    observations, head = chunk.observations, head_of(chunk)
    for node, after in zip_longest(observations, observations[1:]):
        if node.kind.is_adverb and after is not None and after.kind.is_adjective and not after.is_size:
            node.point("modify", after)
        elif head is not None and node is not head:
            node.point("modify", _modified(node, observations, head))
    for run in runs:
        for node in _located(chunk, run[0].first):
            node.point("located_at", head_of_places(run))


def _located(chunk: Chunk, at: int) -> list[Node]:
    """The observations of a chunk that are at the places that begin at token `at`."""
    head, part = head_of(chunk), locator(chunk)
    if head is None or part is None:
        return _free(chunk.observations)
    return [part if at > part.first else head]


def _modified(node: Node, observations: list[Node], head: Node) -> Node:
    """Returns what a word modifies: a part of a device the device before it, a size the last noun, else the head."""
    if node.is_size:
        return next((o for o in reversed(observations) if not o.kind.is_adjective and o.first < node.first), head)
    if node.kind.is_part:
        before = observations[: observations.index(node)]
        return next((other for other in reversed(before) if not other.kind.is_adjective), head)
    return head


def _free(observations: list[Node]) -> list[Node]:
    """The descriptions that are no adverbs, or the adverbs if there is nothing else."""
    return [node for node in observations if not node.kind.is_adverb] or observations


def _runs(chunk: Chunk) -> list[list[Node]]:
    """The places of a chunk, those that stand together apart."""
    runs: list[list[Node]] = []
    before: Node | None = None
    for node in chunk.nodes:
        if node.kind.is_place:
            if before is not None and before.kind.is_place:
                runs[-1].append(node)
            else:
                runs.append([node])
        before = node
    return runs


def head_of_places(run: list[Node]) -> Node:
    """Returns the organ or part of it that a run of places is about."""
    nouns = [node for node in run if not node.kind.is_adjective]
    core = [node for node in nouns if not node.kind.is_attribute]
    return (core or nouns or run)[-1]


def head_of(chunk: Chunk) -> Node | None:
    """Returns the finding or device that a chunk is about; None where it only describes."""
    nouns = [node for node in chunk.observations if not node.kind.is_adjective]
    whole = [node for node in nouns if not node.kind.is_part]
    named = whole or nouns
    return named[-1] if named else None


def locator(chunk: Chunk) -> Node | None:
    """Returns what a place is said of: the part of a device, else the head."""
    nouns = [node for node in chunk.observations if not node.kind.is_adjective]
    return nouns[-1] if nouns else None


class _Walk:
    """What a chunk may be said of, on the way through a sentence.

    Attributes:
        subjects: Places that a verb may speak of.
        spoken: Whether one has.
        located: Observations that a preposition may place.
        placed: Whether the chunk before was such a place.
    """

    def __init__(self) -> None:
        self.subjects: list[Node] = []
        self.spoken = False
        self.located: list[Node] = []
        self.placed = False
        self.before: Chunk | None = None

    def step(self, chunk: Chunk, after: Chunk | None) -> None:
        """Adds the arrows between a chunk and what stands before it."""
        if END in chunk.before:
            self.subjects, self.located, self.placed, self.before = [], [], False, None
        if not chunk.observations:
            self._place(chunk, after)
        elif head_of(chunk) is None:
            self._describe(chunk)
        else:
            self._observe(chunk)
        if chunk.observations:
            self.placed = False
        self.before = chunk

    def _place(self, chunk: Chunk, after: Chunk | None) -> None:
        """A chunk of places alone: where something is, or what the next verb speaks of."""
        gap, heads = chunk.before, [head_of_places(run) for run in _runs(chunk)]
        of_place = self.before is not None and not self.before.observations and OF in gap and JOINT not in gap
        for part in self.subjects[-1:] if of_place else []:
            for head in heads:
                part.point("modify", head)
        goes_on = self.placed and gap <= {JOINT, ARTICLE, PLACING} and not _is_subject(after)
        if self.located and (gap & {PLACING, OF} or goes_on):
            for node in self.located if not _only_names(chunk) else []:
                for head in heads:
                    node.point("located_at", head)
            self.placed, self.subjects = True, heads
            return
        if of_place:
            heads = [*self.subjects[:-1], *heads]
        elif JOINT in gap and not self.located and not self.spoken:
            heads = [*self.subjects, *heads]
        self.subjects, self.spoken, self.located, self.placed = heads, False, [], False

    def _describe(self, chunk: Chunk) -> None:
        """A chunk of adjectives: said of the places before the verb, or of the observation before them."""
        gap, free = chunk.before, _free(chunk.observations)
        sizes = [node for node in free if node.is_size]
        if sizes and self.located:
            for node in sizes:
                node.point("modify", self.located[-1])
        elif chunk.places:
            self.subjects, self.spoken = [head_of_places(run) for run in _runs(chunk)], True
            self.located = free
        elif self.subjects and not self.placed and WITH not in gap:
            for node in free:
                for subject in self.subjects:
                    node.point("located_at", subject)
            self.located, self.spoken = free, True
        elif self.located and gap & {VERB, JOINT, DENIED, HEDGED, PLACING}:
            for node in free:
                node.point("modify", self.located[-1])
        else:
            self.located = free

    def _observe(self, chunk: Chunk) -> None:
        """A chunk with a finding or a device."""
        gap, head, own = chunk.before, head_of(chunk), locator(chunk)
        assert head is not None
        assert own is not None
        before = self.before if self.before is not None and self.before.observations else None
        if before is not None and PLACING in gap and self.located and head.word in ("position", "place", "location"):
            head.point("modify", self.located[-1])
            return
        if before is not None and not before.places and gap & {OF, PLACING} and gap <= {OF, PLACING, ARTICLE}:
            for node in _free(before.observations) if head_of(before) is None else [locator(before)]:
                if node is not None:
                    node.point("modify", head)
        elif before is not None and HEDGED in gap and head.label == "OBS-U" and (JOINT not in gap or before.describes):
            for node in self.located[-1:]:
                if node.label == "OBS-DP":
                    node.point("suggestive_of", head)
        listed = before is not None and gap <= {JOINT} and not before.places and not chunk.places
        self.located = [*self.located, own] if listed else [own]
        self.subjects = []


def _across(chunks: list[Chunk]) -> None:
    """The arrows from chunk to chunk."""
    walk = _Walk()
    for chunk, after in zip_longest(chunks, chunks[1:]):
        walk.step(chunk, after)


def _is_subject(chunk: Chunk | None) -> bool:
    """Whether a verb follows that says something of the place before it."""
    return chunk is not None and VERB in chunk.before and bool(chunk.observations)


def _only_names(chunk: Chunk) -> bool:
    """Whether a place only says in what way: "normal in size"."""
    return all(node.word in ("size", "volume", "contour") for node in chunk.nodes)
