"""Tricks that a report generator could learn instead of writing good reports: repetition, templates, hedges, babble.

The reports are invented (`tricks.yaml`). A metric that may be a reward must not score a trick above the honest report
that it was made from; `tests/contract/test_tricks.py` holds ours to it, and each card shows what tricks do to it.
"""

from __future__ import annotations

import random
from functools import cache
from importlib import resources
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A reference with a good, a middling and a weak candidate, and what contradicts the good one."""

    reference: str
    good: str
    mid: str
    weak: str
    contradiction: str


class Trick(NamedTuple):
    """A candidate made by a trick, and the honest one that it must not beat."""

    name: str
    candidate: str
    honest: str


@cache
def load_cases() -> tuple[Case, ...]:
    """Loads the cases; the last one is a normal study."""
    return tuple(Case(**{name: text.strip() for name, text in case.items()}) for case in _tables()["cases"])


@cache
def standalone() -> dict[str, str]:
    """Returns the tricks that look at no report at all."""
    tables = _tables()
    return {
        "empty": "",
        "normal template": tables["normal"].strip(),
        "deny-all": " ".join(f"No {finding}." for finding in tables["denied"]),
        "assert-all": tables["asserted"].strip(),
        "hedge-all": " ".join(f"{finding} cannot be excluded." for finding in tables["hedged"]),
        "babble": tables["babble"].strip(),
    }


def tricks(case: Case) -> list[Trick]:
    """Returns every trick on one case; standalone ones must not beat the good or (in an abnormal study) the mid."""
    alone = standalone()
    words = case.good.replace(".", "").replace(",", "").split()
    random.Random(0).shuffle(words)
    honest = [case.good] if case is load_cases()[-1] else [case.good, case.mid]
    return [
        Trick("repetition", " ".join([case.mid] * 5), case.mid),
        Trick("mid + normal", f"{case.mid} {alone['normal template']}", case.mid),
        Trick("mid + deny-all", f"{case.mid} {alone['deny-all']}", case.mid),
        Trick("mid + hedge-all", f"{case.mid} {alone['hedge-all']}", case.mid),
        Trick("normal + weak", f"{alone['normal template']} {case.weak}", case.weak),
        Trick("good + contradiction", f"{case.good} {case.contradiction}", case.good),
        Trick("good + babble", f"{case.good} {alone['babble']}", case.good),
        Trick("shuffled words", " ".join(words), case.good),
        *(Trick(name, text, better) for name, text in alone.items() for better in honest),
        Trick("babble", alone["babble"], ""),
    ]


def _tables() -> dict[str, Any]:
    import yaml

    text = resources.files(__package__).joinpath("tricks.yaml").read_text(encoding="utf-8")
    tables: dict[str, Any] = yaml.safe_load(text)
    return tables
