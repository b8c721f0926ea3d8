"""Tricks that a report generator could learn instead of writing good reports: repetition, templates, hedges, babble.

A metric that may be a reward must not score a trick above the honest report that it was made from. The stress suite
(`rrgmetrics.metaeval.stress`) plays them on any reports; the contract test plays them on the invented ones of
`tricks_<pack>.yaml` (`tests/contract/test_tricks.py`), for chest X-rays, chest CT and mammograms.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from random import Random
from typing import Any, NamedTuple

from rrgmetrics.reading.lexicon import DEFAULT_PACK
from rrgmetrics.synthesis.edits.evasions import evasion_words, excuse_all, leave_out, pad, tell_as_history
from rrgmetrics.synthesis.edits.style import hedge_all

REPEATS = 5


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
def load_cases(pack: str = DEFAULT_PACK) -> tuple[Case, ...]:
    """Loads the cases that a pack reads; the last one is a normal study."""
    return tuple(Case(**{name: text.strip() for name, text in case.items()}) for case in _tables(pack)["cases"])


def added(honest: str, rng: Random, pack: str = DEFAULT_PACK) -> dict[str, str]:
    """Returns what becomes of an honest report by each trick that takes it as it is, by the trick's name."""
    alone = standalone(pack)
    words = honest.replace(".", "").replace(",", "").split()
    rng.shuffle(words)
    return {
        "repetition": " ".join([honest] * REPEATS),
        "normals": f"{honest} {alone['normal template']}",
        "denials": f"{honest} {alone['deny-all']}",
        "hedges": f"{honest} {alone['hedge-all']}",
        "babble": f"{honest} {alone['babble']}",
        "shuffled": " ".join(words),
    }


def evaded(honest: str, rng: Random, pack: str = DEFAULT_PACK) -> dict[str, str]:
    """Returns what becomes of an honest report that evades (`synthesis.edits.evasions`), where that is another text.

    Args:
        honest: The report.
        rng: Of the draws.
        pack: What reads it.
    """
    words = evasion_words()
    made = {f"vague_{attribute}": leave_out(honest, [attribute]) for attribute in words["left_out"]}
    made["vague"] = leave_out(honest, words["left_out"])
    made["excused"] = excuse_all(honest, rng.choice(words["excuses"]))
    made["history"] = tell_as_history(honest, common_findings(pack), rng)
    made |= {"tokens": f"{honest} {words['tokens']}", "padded": pad(honest)}
    return {name: text for name, text in made.items() if text != honest}


def common_findings(pack: str = DEFAULT_PACK) -> list[str]:
    """The names of common findings, which `deny-all` denies."""
    return list(_tables(pack)["denied"])


@cache
def standalone(pack: str = DEFAULT_PACK) -> dict[str, str]:
    """Returns the tricks that look at no report at all, as reports that a pack reads."""
    tables = _tables(pack)
    return {
        "empty": "",
        "normal template": tables["normal"].strip(),
        "deny-all": " ".join(f"No {finding}." for finding in common_findings(pack)),
        "assert-all": tables["asserted"].strip(),
        "hedge-all": " ".join(f"{finding} cannot be excluded." for finding in tables["hedged"]),
        "babble": tables["babble"].strip(),
    }


def tricks(case: Case, pack: str = DEFAULT_PACK) -> list[Trick]:
    """Returns every trick on one case; standalone ones must not beat the good or (in an abnormal study) the mid."""
    alone = standalone(pack)
    honest = [case.good] if case is load_cases(pack)[-1] else [case.good, case.mid]
    of_mid, of_good = added(case.mid, Random(0), pack), added(case.good, Random(0), pack)
    return [
        *(Trick(name, of_mid[name], case.mid) for name in ("repetition", "normals", "denials", "hedges")),
        *(Trick(name, of_good[name], case.good) for name in ("babble", "shuffled")),
        Trick("normals before", f"{alone['normal template']} {case.weak}", case.weak),
        Trick("hedged", hedge_all(case.mid), case.mid),
        Trick("contradiction", f"{case.good} {case.contradiction}", case.good),
        *(Trick(f"{name} alone", text, better) for name, text in alone.items() for better in honest),
        Trick("babble alone", alone["babble"], ""),
    ]


def _tables(pack: str) -> dict[str, Any]:
    import yaml

    text = resources.files(__package__).joinpath(f"tricks_{pack}.yaml").read_text(encoding="utf-8")
    tables: dict[str, Any] = yaml.safe_load(text)
    return tables
