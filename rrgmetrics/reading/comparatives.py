"""Whether "larger", "more", "worse" compares two dates, or two places: "opacities, WORSE on the right"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

from rrgmetrics.reading.dates import is_date, is_then
from rrgmetrics.reading.items import Item
from rrgmetrics.reading.lexicon import Lexicon, SmallWords

CHEST = ("chest",)  # the study
TURNED = {"worse": "better", "better": "worse"}
NEAR = 4  # items between a word of change and the verb or the place that belongs to it
ADVERBS = frozenset({"now", "again", "also", "somewhat", "slightly", "even", "still", "too", "as"})
_THEN = {
    ("it", "was"),
    ("they", "were"),
    ("it", "had"),
    ("they", "had"),
    ("there", "was"),
    ("there", "were"),
}  # "less THAN IT WAS"
_DURING = frozenset({"during", "with", "between"})
_EVERYWHERE = frozenset({"everywhere", "throughout", "overall"})  # may end a clause
_THINGS = frozenset({"concept", "structure"})
PLAIN = frozenset(
    {"severity", "measure", "count", "side", "zone", "morphology", "acuity", "structure", "location_preposition"}
)


def compares_no_dates(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a word of change compares no two studies."""
    if _of_two_phases(items, i, lexicon.small) or _of_a_property(items, i, lexicon.small):
        return True
    if items[i].word not in lexicon.small.comparatives:
        return False
    if _than_another_thing(items, i, lexicon):
        return True
    if i and items[i - 1].word in lexicon.small.indefinite and _than_a_date(items[i + 1 :], lexicon):
        return False  # "a LARGER effusion than before"
    return (
        _of_two_places(items, i, lexicon)
        or _of_another_word(items, i, lexicon)
        or _of_other_things(items, i, lexicon)
        or _of_further_lesions(items, i, lexicon)
    )


def was_then(items: list[Item], i: int, small: SmallWords) -> bool:
    """Whether a comparative says what a finding was at an earlier date: "it WAS LARGER on the last film"."""
    if items[i].word not in small.comparatives or items[i].senses.get("change") is None:
        return False
    if [item.word for item in items[max(0, i - 3) : i]] == ["used", "to", "be"]:
        return True
    verb = next((k for k in range(i - 1, max(-1, i - NEAR), -1) if items[k].word in small.verbs), -1)
    if items[verb].word not in ("was", "were", "been") or verb < 0:
        return False
    if items[verb].word == "been" and items[verb - 1].word != "had":
        return False
    behind = items[i + 1 : i + 1 + NEAR]
    if any(item.word == "than" or item.word in small.separators for item in behind[:1]):
        return False
    opening = items[:verb] if items[0].word in ("in", "on") else []  # "ON THE LAST FILM it was larger"
    return any(is_then(item, small) for item in (*opening, *behind))


def _of_two_phases(items: list[Item], i: int, small: SmallWords) -> bool:
    """Whether a change is that of a breath, of a position or of contrast: "accentuated ON EXPIRATION"."""
    behind = items[i + 1 : i + 2 + NEAR]
    at = next((k for k, item in enumerate(behind) if item.word in small.phases), len(behind))
    led = any(item.word in small.placing or item.word in _DURING for item in behind[:at])
    return at < len(behind) and led and not any(_is_date(item, small) for item in items)


def _of_a_property(items: list[Item], i: int, small: SmallWords) -> bool:
    """Whether a word of change only describes how a finding looks: "areas of REDUCED ENHANCEMENT"."""
    between = takewhile(lambda item: item.word not in small.separators, items[i + 1 : i + 1 + NEAR])
    words = {item.word for item in between} if items[i].word in small.altered else set()
    dated = any(_is_date(item, small) for item in items)
    return not words.isdisjoint(small.healing) or (not dated and not words.isdisjoint(small.properties))


def _than_another_thing(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a finding is compared with another: "the false lumen is LARGER THAN THE TRUE LUMEN"."""
    ahead = items[i + 1 :]
    if [item.word for item in ahead[:2]] != ["than", "the"] or _than_a_date(ahead, lexicon):
        return False
    things = [item for item in ahead[2 : 2 + NEAR] if item.senses.keys() & _THINGS or item.word in lexicon.small.others]
    studies = (_is_date(item, lexicon.small) or item.senses.get("structure") == CHEST for item in ahead)
    return bool(things) and not any(studies)


def _of_other_things(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a comparative only describes a thing that is no finding: "one bullet and SMALLER fragments"."""
    small = lexicon.small
    if items[i].last - items[i].first > 1 or i + 1 == len(items) or items[i].word in ("more", "less"):
        return False
    thing = items[i + 1]
    known = small.after_nouns | small.joints | small.verbs | small.dates | small.definite | ADVERBS
    return not thing.senses and thing.word.isalpha() and thing.word not in known


def _of_further_lesions(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a comparative sets lesions against others of the same study: "several SMALLER metastases"."""
    than = any(b.word == "than" and a.word not in lexicon.small.below for a, b in pairwise(items[i + 1 :]))
    if than or i + 1 == len(items):
        return False  # "SMALLER nodules than before"
    if items[i + 1].senses.get("concept") not in lexicon.roles["one_by_one"]:
        return False
    if not i:
        return any(
            item.word in lexicon.small.verbs for item in items[i + 2 : i + 2 + NEAR]
        )  # "SMALLER nodules ARE seen"
    before = items[i - 1]
    return "several" in before.senses or "multifocal" in before.senses.get("morphology", ())


def _of_two_places(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a comparative sets one place against another: "worse at the bases", "a smaller one on the left"."""
    small = lexicon.small
    if i and items[i - 1].word in small.indefinite | small.others:
        return True  # "a SMALLER one on the left", "a second SMALLER nodule"
    if _of_one_of_both(items, i, small):
        return True
    if _than_a_number(items, i, small):
        return True
    placed = False
    aside = i > 1 and [items[k].word for k in (i - 2, i - 1)] == ["and", ","]  # "at the apex AND, LESS MARKED, at"
    for item in items[i + 1 + aside : i + 1 + NEAR]:
        if placed and item.senses.keys() & {"side", "zone", "structure"}:
            if goes_through_sides(items, i):
                return False  # "stable on the right, SMALLER on the left"
            return not any(_is_date(item, small) for item in _without_asides(items, i, small))
        placed = placed or item.word in small.placing
        if not placed:
            return False
    return False


def _than_a_number(items: list[Item], i: int, small: SmallWords) -> bool:
    """Whether a comparative bounds a number: "none is LARGER than 8 mm", "LESS than 20% height loss"."""
    number, behind = items[i + 2 : i + 3], items[i + 3 : i + 5]
    if not number or items[i + 1].word != "than":
        return False
    counts = number[0].word[0].isdigit() or not number[0].senses.keys().isdisjoint({"measure", "count"})
    dated = any(_is_date(item, small) or item.word in small.periods | {"/"} for item in (*number, *behind))
    return counts and not dated


def goes_through_sides(items: list[Item], i: int) -> bool:
    """Whether the comparative at `i` is stated of one side, and a change of the other: "BETTER left, stable right"."""
    sides = [k for k, item in enumerate(items) if item.senses.get("side") in ("left", "right")]
    before, behind = [k for k in sides if k < i], [k for k in sides if k > i]
    earlier = items[max(0, before[-1] - NEAR) : before[-1]] if before else []
    later = items[behind[0] : behind[1]] if len(behind) > 1 else []
    if any("concept" in item.senses for item in later):
        return False
    return any("change" in item.senses for item in (*earlier, *later[1:]))


def _is_date(item: Item, small: SmallWords) -> bool:
    return item.word in small.dates or "earlier_study" in item.senses or is_date(item, small)


def _of_one_of_both(items: list[Item], i: int, small: SmallWords) -> bool:
    """Whether a comparative sets one side against the other: "bilateral effusions, and THE LEFT IS LARGER"."""
    parts = (part for item in items[:i] for part in (item.senses, *item.senses.get("inside", ())))
    sides = list(dict.fromkeys(part["side"] for part in parts if "side" in part))
    if len(sides) != 2 or sides[0] != "bilateral":
        return False
    said = _without_asides(items, i, small)
    return not any(_is_date(item, small) or ("change" in item.senses and item is not items[i]) for item in said)


def _without_asides(items: list[Item], i: int, small: SmallWords) -> list[Item]:
    """Returns what is said without a clause behind `i` with dates of something else: "WHERE a drain was before"."""
    openers = small.relative | small.patients | {"where"}
    opened = next((k for k in range(i + 1, len(items)) if items[k].word in openers), len(items))
    closed = next((k for k in range(opened + 1, len(items)) if items[k].word in small.separators), len(items))
    aside = items[opened:closed]
    compares = any("change" in item.senses or item.word in small.comparatives for item in aside)
    return items if compares else items[:opened] + items[closed:]


def _of_another_word(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a bare "more" or "less" says nothing of its own: "less likely", but "the effusion is less"."""
    alone = items[i].word in ("more", "less") and items[i].last - items[i].first == 1
    then = items[i + 1] if i + 1 < len(items) else None
    if not alone or then is None or then.word in lexicon.small.separators | _EVERYWHERE:
        return False
    if any(tells(items, i, lexicon) for tells in (_heads_statement, _goes_on_comparing, _ends_clause)):
        return False
    if "concept" in then.senses and not any(item.word == "than" for item in items):
        starts = i == 0 and items[i].word == "less"
        return not starts and any(item.senses.keys() & {"side", "zone"} for item in items)  # "more edema on the left"
    if then.senses.keys() & {"earlier_study", "clause_end"} or then.word in lexicon.small.dates:
        return False
    return not _than_a_date(items[i + 1 :], lexicon)


def _goes_on_comparing(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a change is stated before, and a finding follows: "better aerated, with LESS ATELECTASIS"."""
    listed = i > 0 and items[i - 1].word in lexicon.small.separators and "concept" in items[i + 1].senses
    return listed and any("change" in item.senses or item.word in lexicon.small.comparatives for item in items[:i])


def _heads_statement(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether "more" or "less" opens a statement of a finding at one place, which can only be a change there.

    "MORE left basal atelectasis.", "there is LESS edema at the right base"; but "more edema on the left" than there.
    """
    before = [item for item in items[:i] if "severity" not in item.senses and item.word not in ADVERBS]
    opens = not before or before[-1].word in lexicon.small.verbs | lexicon.small.existing or before[-1].word == ";"
    opens = opens or (before[-1].word == "," and all(_only_dates(item, lexicon) for item in before))
    ahead = items[i + 1 : i + 1 + NEAR + 1]
    at = next((k for k, item in enumerate(ahead) if "concept" in item.senses), None)
    if not opens or at is None or any(not item.senses.keys() & PLAIN for item in ahead[:at]):
        return False
    behind = items[i + 2 + at : i + 2 + at + NEAR]
    if any(item.word == "than" for item in items[i:]):
        return False
    sides = [item for item in behind if item.senses.get("side") in ("left", "right")]
    return bool(at) or not sides or any("zone" in item.senses for item in behind)


def _only_dates(item: Item, lexicon: Lexicon) -> bool:
    """Whether a word only names an earlier study: "COMPARED WITH THE PRIOR FILM, less fluid"."""
    if item.senses.get("structure") == CHEST or _is_date(item, lexicon.small):
        return True
    return item.senses.keys() <= {"location_preposition", "clause_end", "item_break"}


def _ends_clause(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a quality that is more or less than it was ends its clause: "the vessels are LESS congested"."""
    verb = i > 0 and items[i - 1].word in lexicon.small.verbs
    ends = len(items) < i + 3 or items[i + 2].word in lexicon.small.separators | ADVERBS | _EVERYWHERE
    placed = any(item.senses.keys() & {"side", "zone"} for item in items)
    return verb and ends and not placed and "quality" in items[i + 1].senses


def _than_a_date(items: list[Item], lexicon: Lexicon) -> bool:
    """Whether a comparative continues to a date: "more free gas THAN ON DAY 2"."""
    than = next((i for i, item in enumerate(items) if item.word == "than"), len(items))
    on = items[than + 1 : than + 1 + NEAR]
    if tuple(item.word for item in on[:2]) in _THEN:
        return True
    if on and on[0].word == "on" and not any(item.senses.keys() & {"side", "zone"} for item in on):
        return True  # "less fluid THAN ON the 3rd of May"
    return any(
        _is_date(item, lexicon.small)
        or item.word in lexicon.small.uncounted
        or "nothing" in item.senses  # "IN MAY", which is no "may"
        or (item.word[0].isdigit() and not item.senses)
        for item in items[than : than + 1 + NEAR]
    )


def denies_anything(items: Sequence[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a noun says that nothing has come, and not what: "lobectomy, NO local RECURRENCE"."""
    of = i + 1 < len(items) and items[i + 1].word in ("of", ":")
    denied = any("negation_before" in item.senses for item in items[max(0, i - 2) : i])
    return items[i].word in lexicon.small.change_nouns and denied and not of


def counts_another(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a number counts no findings: "two views", "four hours"."""
    after = items[i + 1] if i + 1 < len(items) else None
    if items[i].word == "one" and any(item.word in lexicon.small.others for item in items if item is not items[i]):
        return True  # "ONE apical, the other basal"
    return after is not None and (after.word in lexicon.small.uncounted or after.senses.get("structure") == CHEST)


def compares_dates(items: list[Item], lexicon: Lexicon) -> bool:
    """Whether what follows a finding compares it with an earlier study, and not with another place."""
    at = next(
        (i for i, item in enumerate(items) if "earlier_study" in item.senses or item.word in lexicon.small.dates), None
    )
    return at is not None and not any(item.senses.keys() & {"side", "zone"} for item in items[at + 1 : at + 5])


def leads_to_change(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a noun of change leads to what has changed: "increase in the effusion"."""
    small = lexicon.small
    noun = items[i].word in small.change_nouns | small.gerunds
    return i + 1 < len(items) and (items[i + 1].word == "of" or (noun and items[i + 1].word in small.leading))
