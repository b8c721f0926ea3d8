"""Candidates that a language model writes: a report with errors of drawn kinds, half of them subtle, or in other words.

After GREEN (Ostmeier et al. 2024, A.4), in our own words: `written` draws from all six kinds. CRIMSON (2026, 4.3) has a
language model edit findings, add some or remove some: these are three ways, `written_edited`, `written_added` and
`written_removed`. What was asked for is kept with the pair; whether the model did it is for whoever labels the pair.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from rrgmetrics.judges.base import Engine, Message, Prompt
from rrgmetrics.judges.engines.named import engine_named
from rrgmetrics.judges.protocols.templates import Prompts
from rrgmetrics.synthesis.pairs import N_CATEGORIES, Counts

PROMPTS = Prompts("rrgmetrics.synthesis")
WRITTEN, VERSION = "written", 1
KINDS = {  # of errors that each way draws from, as indices of A to F
    WRITTEN: range(N_CATEGORIES),
    "written_edited": (2, 3),
    "written_added": (0,),
    "written_removed": (1,),
}
TEMPLATE = "written"
NUMBER_WEIGHTS = (2, 3, 3, 2, 1)  # how often a report gets 0 (other words), 1, 2, ... errors
TASKS = (  # A to F
    "state a finding that the report does not have",
    "leave out a finding that the report has",
    "give a finding another side, place or device position",
    "give a finding another severity, size or certainty",
    "state a comparison with an earlier study that the report does not make",
    "leave out a comparison with an earlier study that the report makes",
)
REPHRASE = "It must say exactly the same: put in no error."
SUBTLE = "Make each error subtle: one that a careful reader finds only by comparing both reports word for word."
MAX_TOKENS = 1024
_MARKED = re.compile(r"<report>(.*?)(?:</report>|\Z)", re.DOTALL)


class Wanted(NamedTuple):
    """What a model is asked to put into a report.

    Attributes:
        counts: Errors of each kind, A to F.
        subtle: Whether they are to be subtle.
    """

    counts: Counts
    subtle: bool

    @property
    def style(self) -> str:
        """The word for it in the column `style`."""
        return f"{WRITTEN}:{'rephrased' if not any(self.counts) else 'subtle' if self.subtle else 'plain'}"


@dataclass(frozen=True)
class Writer:
    """Asks an engine for candidates."""

    engine: Engine

    @property
    def facts(self) -> dict[str, str]:
        """Who writes, and by which question."""
        return {"writer": self.engine.identity, "writer_prompt": PROMPTS.digits(TEMPLATE)}

    def write(
        self, references: Sequence[str], seeds: Sequence[int], way: str = WRITTEN
    ) -> list[tuple[str, Wanted] | None]:
        """Returns a candidate of each reference and what was asked for; None where there is no usable reply."""
        wanted = [draw(Random(seed), way) for seed in seeds]
        replies = self.engine.answer([prompt(*each) for each in zip(references, wanted, strict=True)])
        texts = [report_in(reply.text or "") for reply in replies]
        return [
            (text, asked) if text and text.split() != reference.split() else None
            for text, asked, reference in zip(texts, wanted, references, strict=True)
        ]


def draw(rng: Random, way: str = WRITTEN) -> Wanted:
    """Draws kinds and number of errors; subtle ones half of the time. `written` alone also draws none."""
    kinds, least = KINDS[way], 0 if way == WRITTEN else 1
    number = rng.choices(range(least, len(NUMBER_WEIGHTS)), NUMBER_WEIGHTS[least:])[0]
    counts = [0] * N_CATEGORIES
    for category in rng.choices(kinds, k=number):
        counts[category] += 1
    return Wanted(tuple(counts), rng.random() < 0.5)


def prompt(reference: str, wanted: Wanted) -> Prompt:
    """Returns the question."""
    return Prompt(
        (Message("user", PROMPTS.fill(TEMPLATE, task=task(wanted), reference=reference)),),
        f"{WRITTEN}@{VERSION}",
        max_tokens=MAX_TOKENS,
    )


def task(wanted: Wanted) -> str:
    """Returns what is to be done, in words.

    Example:
        >>> print(task(Wanted((0, 1, 0, 0, 0, 0), subtle=False)))
        It must have exactly these errors:
        - leave out a finding that the report has
    """
    if not any(wanted.counts):
        return REPHRASE
    lines = [
        f"- {words}" + (f" ({count} times)" if count > 1 else "")
        for words, count in zip(TASKS, wanted.counts, strict=True)
        if count
    ]
    return "\n".join(["It must have exactly these errors:", *lines, *([SUBTLE] if wanted.subtle else [])])


def report_in(reply: str) -> str:
    """Returns the report between the marks; "" without them.

    Example:
        >>> report_in("Here it is. <report> Clear lungs. </report>")
        'Clear lungs.'
    """
    found = _MARKED.search(reply)
    return found[1].strip() if found else ""


def writer_for(name: str, *, progress: bool = True) -> Writer:
    """Returns who writes.

    Args:
        name: An engine with options: `openai:<model>?temperature=1`, `hf:<id>`, `vllm:<id>`, `replies:<file>`.
        progress: Whether to show a bar.

    Raises:
        InputError: There is no such engine, an option that cannot be used, or several runs.
        BackendError: A model, file or server that is not there.
        MissingExtraError: The engine's package is not installed.
    """
    return Writer(engine_named(name, "--writer", progress=progress))
