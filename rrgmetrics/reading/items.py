"""A sentence as a row of items: the lexicon's phrases found in it, and what is between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from rrgmetrics.reading.lexicon import Lexicon, Trie
from rrgmetrics.reading.model import Assertion, Certainty
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.sizes import earlier, measure, ratio
from rrgmetrics.reading.tokens import ARTICLES, BEFORE_NEW_NOUN, Token
from rrgmetrics.reading.tokens import Item as Item

_SAME = "same"  # at the end of a statement: "effusions SAME", "the left is THE SAME"
_NIL = "nil"
_NON = "non"
_WITHOUT = frozenset({"no", "without"})
_UNNAMED = frozenset({"abnormality", "alteration", "finding", "focus", "lesion", "pathology"})
_NAMING = frozenset({"of", "to", "suggestive", "suggesting", "suspicious", "indicative", "consistent", "compatible"})
_LONGEST_PHRASE = 16  # tokens
_TAKEN = 6  # items from a device to the word that says that it is gone
_NAMED = frozenset({"concept", "structure", "side", "zone", "morphology"})
_WHERE = frozenset({"side", "location_preposition", "item_break"})
_PLACED = frozenset({"side", "zone", "structure", "several", "level"})
_NAMES = frozenset({"concept", "lone", "noun", "structure", "zone", "tip", "side", "level", "normal"})
_VERBS = 5  # tokens of the verbs that may be inside a name
_PREPOSITIONS = frozenset(
    {"in", "into", "within", "under", "beneath", "below", "at", "around", "behind", "above", "over", "between"}
)
_DESCRIBING = frozenset({"severity", "quality"})
_LEADING = _PREPOSITIONS | {"of", "to", "from", "with"}  # words before another name inside a phrase
_LEADING_OR_DENYING = _LEADING | {"no", "without"}
_INTO = {"into": "in", "within": "in"}
COILING = frozenset({"coil", "loop", "curl", "kink"})  # behind a line or tube, with an s, what it does
BARE = ("bare_tube",)  # the structure of a word that alone names no device


@dataclass(slots=True, eq=False)
class Mention:
    """A finding named in a sentence, before its attributes and its assertion are known.

    `first` and `last` bound its items, `at` is the item that carries the assertion ("the heart is ENLARGED"). A
    normal statement has no concept; `denies` holds what it denies.
    """

    concept: str
    first: int
    last: int
    at: int
    tokens: tuple[int, int]
    denies: tuple[str, ...] = ()
    nearly: bool = False  # "upper normal"
    assertion: Assertion = "present"
    certainty: Certainty = "definite"
    change: str | None = None
    course: str | None = None  # the change that is said of it
    dropped: bool = False  # only asked, advised or historic
    link: Mention | None = None  # the mention it explains or is an alternative of
    whole_of: Mention | None = None  # the mention of its fault: "the LEADS are not broken"
    elided: Mention | None = None  # the mention that it has its name from: "effusion on the right, none on the LEFT"
    again: bool = False  # it says more of the one that it has its name from: "THE FORMER is larger"
    excepts: bool = False  # what is denied is there at another place: "none EXCEPT on the left"
    whole: bool = False  # what is stated of both sides together holds of it too
    modifiers: list[Item] = field(default_factory=list)
    extent: tuple[int, int] = (0, 0)  # tokens of the mention with the words that describe it: the evidence
    pre_place: bool = False  # a place is before it
    post_place: bool = False  # a place stands after it
    definite_article: bool = False  # "the opacity"


def match_phrases(tokens: list[Token], first: int, last: int, lexicon: Lexicon) -> list[Item]:
    """Cuts tokens `[first, last)` into items, the longest known phrase first."""
    items: list[Item] = []
    trie = lexicon.trie
    i = first
    while i < last:
        word = tokens[i].word
        end, senses = _longest(tokens, i, last, lexicon) if word in trie else (i + 1, None)
        if end - i > 1:
            if (word == _NIL and _goes_before_name(tokens, end, last, lexicon)) or (
                word in _WITHOUT and _leads_on(tokens, end, last)
            ):
                end, senses = i + 1, trie[word][""]
        elif word == _NON and (adjective := _adjective_end(tokens, i, last, lexicon)):
            end, senses = adjective, None
        if senses is None:
            if word[0].isdigit():
                length = measure(tokens, i, last, lexicon) or earlier(tokens, i, items, lexicon)
                if length:
                    end, senses = length[0], {"measure": length[1]}
                else:
                    end, senses = ratio(tokens, i, last, items, lexicon)
            elif word == _SAME and items and (i + 1 == last or tokens[i + 1].word in lexicon.small.closing):
                senses = {"change": "stable"}
            elif word in lexicon.small.bare:
                senses = {"structure": BARE}
            elif word in lexicon.small.withdrawn and _is_taken(tokens, i, last, items, lexicon):
                senses = {"change": "resolved"}
            items.append(Item(i, end, senses or {}, word))
        elif "parts" in senses:
            items.extend(_part(i, end, word, part, lexicon) for part in senses["parts"])
            end = _goes_on(tokens, end, last, items[-1], senses["parts"][-1], lexicon)
        else:
            if ("zone" in senses or "listed" in senses) and "level" not in senses and tokens[end - 1].is_plural:
                senses = {**senses, "several": True}  # "the lung bases" are both
            if "change" in senses and end - i > 1 and "quality" not in senses:
                senses = _with_quality(senses, tokens[end - 1], lexicon)
            if word == "/" and 0 < i < last - 1 and tokens[i - 1].word[0].isdigit() and tokens[i + 1].word[0].isdigit():
                senses = {}  # of a series and an image, a date
            items.append(Item(i, end, senses, word))
        i = end
    return items


def bend_verbs(items: list[Item], tokens: list[Token], lexicon: Lexicon) -> None:
    """Takes a verb behind a line or tube for what it does, in place: "the NG tube COILS in the neck" is no coil."""
    for i in range(1, len(items)):
        if items[i].word in COILING and tokens[items[i].last - 1].is_plural:
            before = items[i - 2] if items[i - 1].word == "tip" and i > 1 else items[i - 1]
            device = lexicon.concepts.get(before.senses.get("concept", ""))
            if device is not None and device.wrong_tip and not tokens[before.last - 1].is_plural:
                items[i] = items[i].saying({"position": "bad"})


def deny_larger(items: list[Item], tokens: list[Token], lexicon: Lexicon) -> None:
    """Takes "no larger" before a name for "no large", in place: "NO LARGER effusion"."""
    for i in range(len(items) - 1):
        item, after = items[i], items[i + 1]
        words = [token.word for token in tokens[item.first : item.last]]
        if words[0] == "no" and len(words) == 2 and words[1] in lexicon.small.exceeding:
            name = not after.senses.keys().isdisjoint(_NAMED) or after.word.removesuffix("s") in lexicon.small.amounts
            if name and item.senses.get("change") == "stable":
                items[i] = item.saying({"negation_before": "negation_before", "severity": lexicon.severity["severe"]})


def _is_taken(tokens: list[Token], i: int, last: int, items: list[Item], lexicon: Lexicon) -> bool:
    """Whether the word at `i` says that the device before it is gone: "NG tube OUT", "UVC now OUT"."""
    if i + 1 < last and tokens[i + 1].word not in lexicon.small.closing:
        return False
    known = (item for item in reversed(items[-_TAKEN:]) if not _is_beside(item, lexicon))
    before = next(known, None)
    concept = before.senses.get("concept") if before else None
    return concept is not None and lexicon.concepts[concept].is_device


def _is_beside(item: Item, lexicon: Lexicon) -> bool:
    """Whether an item only says where a device was, or that it is gone now: "chest drain ON THE LEFT NOW out"."""
    if item.senses:
        return item.senses.keys() <= _WHERE
    return item.word in lexicon.small.dates


def _goes_before_name(tokens: list[Token], end: int, last: int, lexicon: Lexicon) -> bool:
    """Whether a normal statement ends before a finding's name: "NIL FOCAL consolidation" denies that."""
    if end >= last or tokens[end].word not in lexicon.trie or tokens[end].word in lexicon.small.closing:
        return False
    senses = _longest(tokens, end, last, lexicon)[1] or {}
    return not senses.keys().isdisjoint({"concept", "structure", "quality", "morphology"})


def _leads_on(tokens: list[Token], end: int, last: int) -> bool:
    """Whether what is denied is named behind: "WITHOUT FINDINGS of pneumonia", "NO LESION suspicious for it"."""
    return end < last and tokens[end - 1].word in _UNNAMED and tokens[end].word in _NAMING


def _adjective_end(tokens: list[Token], i: int, last: int, lexicon: Lexicon) -> int:
    """Returns where the adjective behind "non" ends if a finding's name follows: "NON-SOLID nodule" is one; else 0."""
    end = i + 2
    while end < last and tokens[end].start - tokens[end - 1].end == 1 and tokens[end].word not in lexicon.trie:
        end += 1  # "NON-FDG-AVID nodule"
    name = end
    while name < last and tokens[name].word in lexicon.trie:
        name, senses = _longest(tokens, name, last, lexicon)
        if senses and "concept" in senses:
            return end
        if not senses or not senses.keys() <= _PLACED:
            break
    return 0


def _with_quality(senses: Senses, last: Token, lexicon: Lexicon) -> Senses:
    """Returns a change with the quality that its last word has by itself: the heart "has become LARGER"."""
    own = lexicon.trie.get(last.word, {}).get("", {})
    return (
        {**senses, "quality": own["quality"]} if own.get("change") == senses["change"] and "quality" in own else senses
    )


def _longest(tokens: list[Token], i: int, last: int, lexicon: Lexicon) -> tuple[int, Senses | None]:
    """Returns where the longest phrase that starts at `i` ends, and its senses; None if none does.

    Inside a phrase an adverb or an article may be passed over: "cannot be RELIABLY excluded", "air under THE heart".
    A phrase ends before the name behind a bare preposition if that name reaches further: "in" | "liver failure"; one
    without a meaning also behind a denial: "no" | "contrast extravasation".
    """
    node = lexicon.trie[tokens[i].word]
    after = tokens[i + 1].word if i + 1 < last else ""
    if not (after in node or after in lexicon.small.adverbs or after in lexicon.small.carrying or after in ARTICLES):
        return i + 1, node.get("")
    end, senses = _longest_phrase(tokens, i, last, lexicon)
    if senses is None or end - i == 1 or not _DESCRIBING.isdisjoint(senses):  # "small to moderate | volume"
        return end, senses
    leading = _LEADING_OR_DENYING if "nothing" in senses else _LEADING
    name = next((k + 1 for k in range(i, end - 1) if tokens[k].word in leading), end)
    if name < end and tokens[name].word in lexicon.trie and _longest_phrase(tokens, name, last, lexicon)[0] > end:
        return _longest_phrase(tokens, i, name, lexicon)
    return end, senses


def _longest_phrase(tokens: list[Token], i: int, last: int, lexicon: Lexicon) -> tuple[int, Senses | None]:
    """Returns where the longest phrase that starts at `i` ends, and its senses, wherever a name may begin inside."""
    node, adverbs, carrying = lexicon.trie[tokens[i].word], lexicon.small.adverbs, lexicon.small.carrying
    end, senses, j = i + 1, node.get(""), i + 1
    last = min(last, i + _LONGEST_PHRASE)
    skipped: list[tuple[Trie, int]] = []
    while True:
        while j < last:
            word = tokens[j].word
            j += 1
            if word in adverbs or (word in ARTICLES and _goes_on_behind(tokens[j - 2].word, node)):
                skipped.append((node, j))
            elif word in node and word in carrying and (k := _carried(tokens, j, last, node, lexicon)) > j:
                skipped.append((node, k - 1))  # a name with this verb may not go on, one without it may
            if word not in node:
                if word not in carrying:
                    break
                j = _carried(tokens, j, last, node, lexicon)
                word = _INTO.get(tokens[j - 1].word, tokens[j - 1].word)
                if word not in node:
                    break
            elif word in carrying:  # "air HAS TRACKED into the neck", beside a name that goes on with "has"
                k = _carried(tokens, j, last, node, lexicon)
                after = node.get(_INTO.get(tokens[k - 1].word, tokens[k - 1].word), {}) if k > j else {}
                if after:
                    skipped.append((after, k))
            node = node[word]
            if "" in node and j > end:
                end, senses = j, node[""]
        if not skipped:
            return end, senses
        node, j = skipped.pop()


def _goes_on_behind(before: str, node: Trie) -> bool:
    """Whether a phrase may go on behind an article: not where a name ends, nor where another noun begins."""
    return before not in BEFORE_NEW_NOUN and _NAMES.isdisjoint(node.get("", ()))


def _carried(tokens: list[Token], j: int, last: int, node: Trie, lexicon: Lexicon) -> int:
    """Returns the index behind the preposition that verbs lead to inside a name: "gas IS SEEN UNDER the diaphragm"."""
    for k in range(j, min(last, j + _VERBS)):
        word = tokens[k].word
        if word not in lexicon.small.carrying:
            return k + 1 if word in _PREPOSITIONS else j
    return j


def _part(i: int, end: int, word: str, part: str, lexicon: Lexicon) -> Item:
    """Returns the item for one part of a compound such as RLL or "upper and lower lobe"."""
    node = lexicon.trie
    for piece in part.split():
        node = node[piece]
    return Item(i, end, node[""], word)


def _goes_on(tokens: list[Token], end: int, last: int, item: Item, part: str, lexicon: Lexicon) -> int:
    """Lets a compound's last part begin a longer phrase, "RIJ LINE"; returns where that phrase ends."""
    node = lexicon.trie
    for piece in part.split():
        node = node[piece]
    for j in range(end, min(last, end + _LONGEST_PHRASE)):
        if tokens[j].word not in node:
            break
        node = node[tokens[j].word]
        if "" in node:
            item.last, item.senses = j + 1, node[""]
    return item.last
