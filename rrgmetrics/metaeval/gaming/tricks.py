"""Every trick on honest candidates: what each of them earns more than the candidate that it was played on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from rrgmetrics.metaeval.gaming.studies import Studies
from rrgmetrics.metaeval.tricks import added, common_findings, standalone
from rrgmetrics.reading.lexicon import DEFAULT_PACK
from rrgmetrics.synthesis.edits import style
from rrgmetrics.synthesis.edits.evasions import (
    evasion_words,
    excuse_all,
    hide,
    leave_out,
    pad,
    tell_as_history,
)
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.readings import reading_of

Make = Callable[[str, Random], str]  # of a candidate


class Trick(NamedTuple):
    """A trick: how tables call it, and what it makes of a candidate."""

    title: str
    make: Make


def all_tricks() -> dict[str, Trick]:
    """Returns every trick by name, those last that look at no image."""
    words = evasion_words()
    attributes = list(words["left_out"])
    made = {f"vague_{each}": Trick(f"{each} left out", _vague([each])) for each in attributes}
    made["vague"] = Trick(f"{', '.join(attributes[:-1])} and {attributes[-1]} left out", _vague(attributes))
    made |= {f"excused_{word}": Trick(f'"{word}" before each finding', _excused(word)) for word in words["excuses"]}
    common = common_findings(DEFAULT_PACK)
    made["history"] = Trick("common findings reported as history", lambda text, rng: tell_as_history(text, common, rng))
    made["contradiction"] = Trick("contradicted", _contradicted)
    made["hedged"] = Trick("every finding hedged", lambda text, rng: style.hedge_all(text))
    titles = {
        "repetition": "repeated",
        "normals": "normal template added",
        "denials": "denials added",
        "hedges": "hedges added",
        "babble": "babble added",
        "shuffled": "words shuffled",
    }
    made |= {name: Trick(title, _added(name)) for name, title in titles.items()}
    made["tokens"] = Trick("end tokens added", lambda text, rng: f"{text} {words['tokens']}")
    made["padded"] = Trick("padded past an encoder's length", lambda text, rng: pad(text))
    made["hidden_front"] = Trick(
        "false finding before the findings, under a heading that may be skipped", _hidden(in_front=True)
    )
    made["hidden_end"] = Trick(
        "false finding after the findings, under a heading that may be skipped", _hidden(in_front=False)
    )
    alone = {"empty": "", **standalone(DEFAULT_PACK), "chronic list": words["chronic_list"]}
    return made | {f"{name} alone": Trick(f"{name} alone", _constant(text)) for name, text in alone.items()}


def played(trick: Trick, studies: Studies) -> Mapping[str, list[str | None]]:
    """What a trick makes of each system's candidates; None where it changes nothing."""
    return {
        system: [
            made if made != text else None
            for row, text in enumerate(texts)
            for made in [trick.make(text, Random(f"{studies.seed} {trick.title} {row}"))]
        ]
        for system, texts in studies.systems.items()
    }


def _vague(attributes: list[str]) -> Make:
    return lambda text, rng: leave_out(text, attributes)


def _excused(word: str) -> Make:
    return lambda text, rng: excuse_all(text, word)


def _contradicted(text: str, rng: Random) -> str:
    return style.contradict(Page(text, reading_of(text)), rng)


def _added(name: str) -> Make:
    return lambda text, rng: added(text, rng, DEFAULT_PACK)[name]


def _hidden(*, in_front: bool) -> Make:
    return lambda text, rng: hide(text, rng, in_front=in_front)


def _constant(constant: str) -> Make:
    return lambda text, rng: constant
