"""Earlier films: "present on the film of 2016" compares with one, "not seen in 2016" tells that a finding is new."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.reading.lexicon import Lexicon, SmallWords
from rrgmetrics.reading.model import Reading, Span
from rrgmetrics.reading.tokens import Item

_FILM = 8  # items from a film, or a verb of seeing, to its date
_THEN = 8  # items from "not seen" to the date
_BETWEEN = frozenset({"location_preposition", "structure", "count"})
_STUDY = frozenset({"earlier_study"})
_BEFORE_MAY = frozenset({"of", "in", "since", "from"})  # "not seen IN MAY", one phrase of the lexicon
_IN_MAY = 2  # tokens; "in the sections" has more
_ON = frozenset({"on", "in", "at"})
_NONE = frozenset({"none", "neither"})
_DENIED = 5  # items from "none of which" to "was present"
_ALSO = frozenset({"was", "were", "also", "already", ","})  # before "present"
_NAMES = frozenset({"concept", "listed"})
_WHICH = frozenset({"that"})
_YET = frozenset({"been", "yet"})
_EXISTING = frozenset({"described", "mentioned", "reported", "recorded", "documented", "exist", "existing", "there"})
_CENTURIES = ("19", "20")
PRIOR = frozenset({"prior", "previous"})
_BEFORE_PRIOR = frozenset({"than", "to", "from", "with", "on", "as", "since", "versus", "vs"})
_BREAKS = frozenset({"item_break", "clause_end"})


def is_date(item: Item, small: SmallWords) -> bool:
    """Whether an item is a year or a month."""
    is_year = len(item.word) == 4 and item.word.isdigit() and item.word[:2] in _CENTURIES and not item.senses
    is_may = "nothing" in item.senses and item.word.isdigit()  # "4 May"
    return is_year or is_may or item.word in small.months


def is_then(item: Item, small: SmallWords) -> bool:
    """Whether an item speaks of an earlier date."""
    return is_date(item, small) or item.word in small.past or "earlier_study" in item.senses


def is_dated(items: Sequence[Item], i: int, small: SmallWords) -> bool:
    """Whether a date is behind an item: "large ON 28 APRIL", "small 3/5"."""
    ahead = [
        item for item in items[i + 1 : i + _THEN] if item.word not in small.definite or item.senses.keys() & _STUDY
    ]
    led = bool(ahead) and ahead[0].word in _ON
    date = ahead[led : led + 3]
    if not date:
        return False
    words = [item.word for item in date]
    in_numbers = len(words) == 3 and words[1] == "/" and words[0].isdigit() and words[2].isdigit()
    day = words[0].isdigit() and len(words) > 1 and date[1].word in small.past
    return in_numbers or day or is_then(date[0], small)


def dates_a_film(items: Sequence[Item], i: int, small: SmallWords) -> bool:
    """Whether a month or a year says when something was seen: "present on the film of June 2019"."""
    if not is_date(items[i], small):
        return False
    before = [item.word for item in items[max(0, i - _FILM) : i]]
    return not small.films.isdisjoint(before) or not small.existent.isdisjoint(before)


def name_prior_study(items: list[Item], small: SmallWords) -> None:
    """Takes "prior" without a noun for the earlier study, in place: "unchanged from PRIOR", but "prior fracture"."""
    for i in range(1, len(items)):
        before, ahead = items[i - 1], items[i + 1 : i + 2]
        if items[i].word not in PRIOR or "acuity" not in items[i].senses:
            continue
        compared = "change" in before.senses or before.word in _BEFORE_PRIOR | small.periods  # "one DAY prior"
        if compared and all(item.word in small.closing or not _BREAKS.isdisjoint(item.senses) for item in ahead):
            items[i] = items[i].saying({"earlier_study": "earlier_study"})


def read_seen_before(items: list[Item], small: SmallWords) -> None:
    """Takes what was not seen on an earlier film for new, what was for stable, in place: "a nodule, NOT SEEN in 2016".

    A sentence that begins so tells it of what the one before it names: "NOT SEEN on the previous film."
    """
    named = bool(items) and ("negation_after" in items[0].senses or items[0].word in small.existing)
    for i, item in enumerate(items):
        unseen = named and "negation_after" in item.senses and leads_to_then(items, i, small)
        if unseen or (named and _was_not_shown(items, i, small)):
            items[i] = item.saying({"change": "new"})
        elif named and "negation_verb" in item.senses and (last := _was_not_there(items, i, small)):
            items[i:last] = [item.saying({"change": "new"}), *(each.saying({}) for each in items[i + 1 : last])]
        elif item.word in small.existent and leads_to_then(items, i, small):
            none = any(other.word in _NONE for other in items[max(0, i - _DENIED) : i])
            if none or _was_there(items, i, small):
                items[i] = item.saying({"change": "new" if none else "stable"})  # "NONE of which WAS PRESENT in May"
        named = named or not _NAMES.isdisjoint(item.senses) or item.word in small.subjects


def _was_not_shown(items: Sequence[Item], i: int, small: SmallWords) -> bool:
    """Whether an earlier study is said not to show what is before it: "a collection WHICH THE LAST CT DID NOT SHOW"."""
    ends = i + 1 == len(items) or items[i + 1].word in small.separators
    if not ends or "negation_before" not in items[i].senses:
        return False
    start = max(0, i - _THEN)
    which = next((k for k in range(i - 1, start - 1, -1) if items[k].word in small.relative | _WHICH), i)
    return any(item.word in small.films or "earlier_study" in item.senses for item in items[which + 1 : i])


def _was_not_there(items: Sequence[Item], i: int, small: SmallWords) -> int:
    """Returns the item behind "not there before": "PREVIOUSLY NOT EXISTING", "NOT DESCRIBED in the last report"; 0."""
    at = next((k for k in range(i + 1, len(items)) if items[k].word not in _YET), len(items))
    if at == len(items) or items[at].word not in small.existent | _EXISTING:
        return 0
    earlier = items[at].senses.get("change") == "stable" or (i and items[i - 1].word in small.past)
    return at + 1 if earlier or leads_to_then(items, at, small) else 0


def _was_there(items: Sequence[Item], i: int, small: SmallWords) -> bool:
    """Whether a sentence ends with when something was there as well: "it WAS PRESENT on the previous film"."""
    led = not i or items[i - 1].word in _ALSO
    return led and not any(item.word in small.verbs for item in items[i + 1 :])


def read_same_as_before(items: list[Item], small: SmallWords) -> None:
    """Takes what is as it was for stable, in place: "a hernia, same AS ON THE 2019 STUDY", "the SAME on the left"."""
    for i in range(1, len(items) - 2):
        dated = items[i].word == "as" and not items[i].senses and items[i + 1].word in _ON and is_dated(items, i, small)
        sided = [item.word for item in items[i - 1 : i + 2]] == ["the", "same", "on"] and "side" in items[-1].senses
        if dated or sided:
            items[i] = items[i].saying({"change": "stable"})


def leads_to_then(items: Sequence[Item], i: int, small: SmallWords) -> bool:
    """Whether what an item says was so at an earlier time: "not seen ON THE 2/11 STUDY", "... TWO YEARS AGO"."""
    behind = items[i + 1 : i + 1 + _THEN]
    for k, item in enumerate(behind):
        day = item.word == "/" and k and behind[k - 1].word.isdigit()
        in_may = "nothing" in item.senses and item.word in _BEFORE_MAY and item.last - item.first == _IN_MAY
        if day or in_may or is_then(item, small):
            return True
        if not item.senses.keys() <= _BETWEEN or item.word in small.separators or item.word in small.verbs:
            return False
    return False


def compared_as(items: Sequence[Item], small: SmallWords) -> str:
    """Returns how a sentence compares with an earlier study: a change rather than "stable", "earlier", "" if not."""
    told, denied = "", False
    named = any("concept" in item.senses for item in items)
    for i, item in enumerate(items):
        senses = item.senses
        if not told and not denied and dates_a_film(items, i, small):
            told = "earlier"
        if not senses:
            continue
        if "recommendation" in senses:
            return ""  # "continued follow-up is advised"
        if "negation_before" in senses or "hypothetical" in senses:
            denied = True  # "no earlier study", "no new opacity"
        if item.word in small.deny and [each.word for each in items[i - 1 : i]] == ["is"] and not named:
            continue  # "the cardiac size IS NOT INCREASED" is normal
        if not named and senses.get("change") == "stable" and "normal" in senses.get("quality", ()):
            continue  # "NO ENLARGEMENT of the heart"
        kind = senses.get("change") or ("earlier" if "earlier_study" in senses else "")
        if kind and not denied and item.word not in small.similar and told in ("", "earlier", "stable"):
            told = kind if kind not in ("earlier", "stable") or not told else "stable"
    return told


def told_of_the_study(reading: Reading, reference: Reading, lexicon: Lexicon) -> list[Span]:
    """Returns the sentences that call something unchanged, or compare with an earlier study in general.

    "It WAS 9 MM IN MAY" names an earlier study only to say what has become of one finding. An organ that is called
    stable, and is normal in the reference, is not compared with anything.
    """
    shown = {name for each in reference.abnormal for name in (each.concept, *lexicon.concepts[each.concept].ancestors)}
    moved = [finding for finding in reading.findings if finding.change not in (None, "stable")]
    spans = [span for finding in moved for span in finding.spans]

    def tells_a_course(told: Span) -> bool:
        return any(span.start < told.end and told.start < span.end for span in spans)

    return [
        compared.span
        for compared in reading.compared
        if (compared.kind == "stable" and (compared.organ is None or not shown.isdisjoint(compared.organ)))
        or (compared.kind == "earlier" and not tells_a_course(compared.span))
    ]
