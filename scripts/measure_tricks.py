"""What silence, nonsense and tricks earn in each metric: writes the table of every card.

    python scripts/measure_tricks.py [METRIC ...]

The reports are those of `rrgmetrics.metaeval.tricks`, all invented; four studies, so that a number is an example.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import rrgmetrics
from rrgmetrics.gate import modality_of
from rrgmetrics.metaeval.tricks import load_cases, standalone, tricks
from rrgmetrics.names import parse_name
from rrgmetrics.present.numbers import headed
from rrgmetrics.scorers.base import Array
from rrgmetrics.specs import SPECS

CARDS = Path(__file__).parents[1] / "metrics"
BEGIN, END = "<!-- tricks: scripts/measure_tricks.py writes this part -->\n", "<!-- /tricks -->\n"
HEADING = "#### Silence, Nonsense and Tricks"
SENTENCE = "No acute cardiopulmonary abnormality."
READS = """\
A pair whose reference is no English report of the chest (another language, another part of the body or modality, a text
that says nothing that could be read) is unscored, with the reason. A candidate that cannot be read scores as an empty
one or as it stands, whichever is worse. Checkpoints and engines that are named are asked about every pair.
"""
ANY_TEXT = """\
It compares wording, whatever the text is about, and can be gamed. Where a reward or the choice of a model needs a
metric that cannot, take `finding_errors` or `crimson`.
"""
WHAT = """\
{title}: what a candidate earns on a normal study, and what tricks make of an honest report (means of invented studies).
"""


def main(names: Sequence[str]) -> None:
    """Measures the metrics, all that score pairs by default, and writes their cards."""
    for name in names or [name for name, spec in SPECS.items() if not spec.corpus_statistics]:
        card = CARDS / name / "README.md"
        text = re.sub(
            f"{re.escape(BEGIN)}.*?{re.escape(END)}\n?", "", card.read_text(encoding="utf-8"), flags=re.DOTALL
        )
        place = re.search(r"^#### Cost$", text, flags=re.MULTILINE)
        if place is None:
            raise SystemExit(f"{card} has no heading '#### Cost' to put the table before.")
        card.write_text(text[: place.start()] + section(name) + "\n" + text[place.start() :], encoding="utf-8")


def section(name: str) -> str:
    """The part of a card."""
    cases = load_cases()
    alone = {
        "the radiologist's own words": cases[-1].reference,
        f'"{SENTENCE}"': SENTENCE,
        '""': "",
        "babble": standalone()["babble"],
    }
    made = [(case, trick) for case in cases for trick in tricks(case) if trick.name not in standalone()]
    pairs = [(cases[-1].reference, text) for text in alone.values()]
    pairs += [(case.reference, text) for case, trick in made for text in (trick.honest, trick.candidate)]
    references, candidates = zip(*pairs, strict=True)
    values = rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name].per_pair[name]
    before, after = values[len(alone) :: 2], values[len(alone) + 1 :: 2]
    metric = parse_name(name)
    kinds = [trick.name for _, trick in made]
    lines = [
        HEADING,
        "",
        READS if modality_of(metric) else ANY_TEXT,
        WHAT.format(title=headed(metric.titled.headline)),
        "| on a normal study | score |",
        "|---|---|",
        *(f"| {words} | {value:.2f} |" for words, value in zip(alone, values, strict=False)),
        "",
        "| trick | honest report | with the trick |",
        "|---|---|---|",
        *(f"| {kind} | {_mean(before, kinds, kind)} | {_mean(after, kinds, kind)} |" for kind in dict.fromkeys(kinds)),
        "",
    ]
    return BEGIN + "\n".join(lines) + END


def _mean(values: Array, kinds: Sequence[str], kind: str) -> str:
    return f"{np.mean(values[np.array(kinds) == kind]):.2f}"


if __name__ == "__main__":
    main(sys.argv[1:])
