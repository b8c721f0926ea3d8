"""Tricks that a report generator could learn instead of writing good reports, made of `tests/data/hacks.yaml`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import yaml


class Case(NamedTuple):
    """A reference with a good, a middling and a weak candidate, and what contradicts the good one."""

    reference: str
    good: str
    mid: str
    weak: str
    contradiction: str


class Hack(NamedTuple):
    """A candidate made by a trick, and the honest one that it must not beat."""

    trick: str
    candidate: str
    honest: str


_DATA: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "data" / "hacks.yaml").read_text(encoding="utf-8"))
CASES = tuple(Case(**{name: text.strip() for name, text in case.items()}) for case in _DATA["cases"])
NORMAL, BABBLE = _DATA["normal"].strip(), _DATA["babble"].strip()
DENIALS = " ".join(f"No {finding}." for finding in _DATA["denied"])
HEDGES = " ".join(f"{finding} cannot be excluded." for finding in _DATA["hedged"])
STANDALONE = {
    "empty": "",
    "normal template": NORMAL,
    "deny-all": DENIALS,
    "assert-all": _DATA["asserted"].strip(),
    "hedge-all": HEDGES,
    "babble": BABBLE,
}


def hacks(case: Case) -> list[Hack]:
    """Every trick on one case; those that stand alone must beat neither the good nor (of an abnormal study) the mid."""
    words = case.good.replace(".", "").replace(",", "").split()
    random.Random(0).shuffle(words)
    honest = [case.good] if case is CASES[-1] else [case.good, case.mid]
    return [
        Hack("repetition", " ".join([case.mid] * 5), case.mid),
        Hack("mid + normal", f"{case.mid} {NORMAL}", case.mid),
        Hack("mid + deny-all", f"{case.mid} {DENIALS}", case.mid),
        Hack("mid + hedge-all", f"{case.mid} {HEDGES}", case.mid),
        Hack("normal + weak", f"{NORMAL} {case.weak}", case.weak),
        Hack("good + contradiction", f"{case.good} {case.contradiction}", case.good),
        Hack("good + babble", f"{case.good} {BABBLE}", case.good),
        Hack("shuffled words", " ".join(words), case.good),
        *(Hack(trick, text, better) for trick, text in STANDALONE.items() for better in honest),
        Hack("babble", BABBLE, ""),
    ]
