"""A language model chooses between two candidates, asked in both orders, and is held against radiologists' choices.

The direct preference of Ostmeier et al. 2024 (GREEN, appendix A.3), in our own words. Models favour one of the two
places, so each choice is asked for twice, with the candidates swapped. Only a choice that stays the same counts as one;
where the answers differ, the model prefers neither. The share of answers for the report shown first is a half for a
model without such a bias.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rrgmetrics.judges.base import Message, Prompt, Reply
from rrgmetrics.judges.engines.named import engine_named
from rrgmetrics.judges.outcomes import OUTCOMES, Outcome, State
from rrgmetrics.metaeval.preferences import Accuracy, Preferred, hold_choices
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.stats import LEVEL, TRIALS

PROTOCOL = "direct_preference@1"
MAX_TOKENS = 1024
SYSTEM = "You are a radiologist who compares reports."
QUESTION = """\
A radiologist wrote the reference report about an imaging study. Two other reports about the same study follow.
Which of them would serve this patient better, if the reference is right? What matters is what a clinician would do:
findings that are made up or missed, and wrong places, degrees or changes over time. The graver an error is, the more
it weighs. Wording, length, order and normal findings that are left out do not matter.
{patient}
Reference report:
{reference}

Report 1:
{first}

Report 2:
{second}

Give your reasons in two sentences or less. End with one line, and nothing after it:
Choice: 1
or
Choice: 2
or
Choice: equal
"""
CHOICE = re.compile(r"choice\s*[:=]?\s*[*\"'(\[]*\s*(?:report\s*)?(1|2|equal)\b", re.IGNORECASE)
CHOSEN: Mapping[str, float] = {"1": 1.0, "2": -1.0, "equal": 0.0}


class Answers(NamedTuple):
    """What a model chose.

    Attributes:
        as_given: With A shown first `(n,)`: 1 for A, −1 for B, 0 for neither; NaN where the reply cannot be read.
        swapped: With B shown first, in the same terms.
    """

    as_given: Array
    swapped: Array

    @property
    def choices(self) -> Array:
        """The choice that is the same in both orders, 0 where they differ; NaN where a reply cannot be read."""
        same = np.where(self.as_given == self.swapped, self.as_given, 0.0)
        return np.where(np.isnan(self.as_given) | np.isnan(self.swapped), np.nan, same)

    @property
    def differing(self) -> float:
        """Share of the pairs whose two answers differ."""
        known = ~np.isnan(self.choices)
        return float((self.as_given != self.swapped)[known].mean()) if known.any() else np.nan

    @property
    def first_shown(self) -> float:
        """Share of the report that was shown first among all answers that choose one."""
        shown = np.concatenate([self.as_given, -self.swapped])
        chosen = shown[~np.isnan(shown) & (shown != 0)]
        return float((chosen > 0).mean()) if len(chosen) else np.nan


@dataclass(frozen=True)
class DirectPreference:
    """A model's choices against those of radiologists.

    Attributes:
        engine: Who was asked.
        answers: Its choices.
        accuracies: By stratum, as of a metric's scores; both accuracies are of choices that stay when swapped.
    """

    engine: str
    answers: Answers
    accuracies: tuple[Accuracy, ...]

    def to_dict(self) -> dict[str, object]:
        """Returns the numbers as JSON has them."""
        return {
            "engine": self.engine,
            "differing_when_swapped": self.answers.differing,
            "share_of_first_shown": self.answers.first_shown,
            "choices": self.answers.choices.tolist(),
            "preferences": [each.to_dict() for each in self.accuracies],
        }


def ask_preferences(
    data: Preferred,
    engine: str,
    *,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> DirectPreference:
    """Asks a model which of two candidates is better, in both orders, and holds it against the raters' choices.

    Args:
        data: The choices (`rrgmetrics.metaeval.load("preferences:FILE")`).
        engine: `openai:<model>`, `hf:<id>`, `vllm:<id>` or `replies:<file>`, with options as judges have them.
        trials: Resamples of studies behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
        batch_size: Prompts per forward pass of `hf`.
        device: torch device of `hf`.
        progress: Whether to show a bar.

    Raises:
        InputError: No engine of that name, or an option that cannot be used.
        BackendError: A model, file or server that is not there.
    """
    loaded = engine_named(engine, "--engine", batch_size=batch_size, device=device, progress=progress)
    both = list(zip(data.first, data.second, strict=True))
    prompts = [question(a, b) for a, b in both] + [question(b, a) for a, b in both]
    distinct = {prompt.sha256: prompt for prompt in prompts}
    replies = dict(zip(distinct, loaded.answer(list(distinct.values())), strict=True))
    given = [replies[prompt.sha256] for prompt in prompts]
    of_pairs = zip(given[: len(both)], given[len(both) :], strict=True)
    OUTCOMES[PROTOCOL.partition("@")[0], loaded.identity] = outcome = Outcome(is_kept=False)  # `--redo` is `judge`'s
    outcome.add(both, [max(map(_state_of, two), key=list(State).index) for two in of_pairs])
    chosen = np.array([read_choice(reply) for reply in given])
    answers = Answers(chosen[: len(both)], -chosen[len(both) :])
    accuracies = hold_choices(data, engine, answers.choices, trials=trials, level=level, seed=seed)
    return DirectPreference(loaded.identity, answers, accuracies)


def question(first: Pair, second: Pair) -> Prompt:
    """The question about two candidates, in this order."""
    age, sex, indication, _ = first.context
    known = {"Age": f"{age:g} years" if age is not None else "", "Sex": sex, "Indication": indication}
    patient = "".join(f"{name}: {value}\n" for name, value in known.items() if value)
    parts = {
        "patient": f"\n{patient}",
        "reference": first.reference,
        "first": first.candidate,
        "second": second.candidate,
    }
    text = re.sub(r"\{(\w+)\}", lambda match: parts[match[1]], QUESTION)  # a report may hold braces
    return Prompt((Message("system", SYSTEM), Message("user", text)), PROTOCOL, max_tokens=MAX_TOKENS)


def read_choice(reply: Reply) -> float:
    """The last choice in a reply: 1 for report 1, −1 for report 2, 0 for neither; NaN without one.

    Example:
        >>> read_choice(Reply("Report 2 misses the mass. **Choice: 1**")), read_choice(Reply("Both are poor."))
        (1.0, nan)
    """
    found = CHOICE.findall(reply.text or "")
    return CHOSEN[found[-1].lower()] if found else np.nan


def _state_of(reply: Reply) -> State:
    """What became of a question; of a pair's two, the later of `State` counts."""
    if reply.is_pending:
        return State.PENDING
    return State.UNUSABLE if np.isnan(read_choice(reply)) else State.SCORED
