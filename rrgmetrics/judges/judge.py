"""`judge_for`: a protocol and an engine → a backend that the runner can ask for verdicts.

A judge's scorer is built with `config` (the configuration), `engine` (its spec's engine options, `JUDGE_OPTIONS`, as
one mapping) and the metric's own options; `backend(runtime)` passes them to `judge_for`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rrgmetrics.backends.base import SupportsPacks
from rrgmetrics.backends.compared_pairs import Compared, ComparedPairs
from rrgmetrics.errors import BackendError, InputError, VerdictError
from rrgmetrics.judges.base import (
    Engine,
    JudgeProtocol,
    Prompt,
    Reply,
    Runs,
    SupportsBool,
    Unscored,
    Verdict,
    engine_for,
)
from rrgmetrics.judges.outcomes import OUTCOMES, Outcome, State
from rrgmetrics.reports import Pair
from rrgmetrics.utils.causes import Cause

MAX_CHARACTERS = 200_000  # of a reply; beyond, a model has lost itself in a loop
KEPT_CHARACTERS = 20_000  # of an unreadable reply
MOST_RUNS = 1000
LOOKAHEAD = 4096  # pairs asked about at a time: some 60 MB of prompts and replies, and a seldom wait for the slowest

# A block of pairs none of which can be scored has one blank pair in their place (`rrgmetrics.scoring.scope_filter`).
NOT_ASKED = Unscored("no judge was asked about this pair")


@dataclass(frozen=True)
class Judge:
    """Asks an engine about pairs; an annotation is a verdict or Unscored, of several runs `Runs`.

    Attributes:
        protocol: What is asked.
        engine: Who answers.
        runs: How often each question is asked: replies differ, even at temperature 0 on most servers.
    """

    protocol: JudgeProtocol
    engine: Engine
    runs: int = 1

    @property
    def lookahead(self) -> int:
        """The number of pairs to ask about at a time."""
        return LOOKAHEAD

    @property
    def key(self) -> str:
        """The identity: the protocol with its options, the engine with its parameters."""
        parameters = json.dumps(dict(self.engine.parameters), sort_keys=True, default=str)
        runs = f"|{self.runs} runs" if self.runs > 1 else ""
        return f"judge|{self.protocol!r}|{self.engine.identity}|{parameters}{runs}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature, of the engine and of the protocol."""
        runs = {"runs": str(self.runs)} if self.runs > 1 else {}
        return {"engine": self.engine.identity, **self.protocol.facts, **self.engine.facts, **runs}

    def for_pack(self, pack: str) -> Judge:
        """Returns the judge that asks about reports of another kind."""
        protocol = self.protocol
        return replace(self, protocol=protocol.for_pack(pack)) if isinstance(protocol, SupportsPacks) else self

    def annotate_pairs(self, pairs: Sequence[Pair]) -> list[Verdict | Unscored | Runs]:
        """Asks everything about all pairs in one call of the engine, what the replies call for in further ones.

        Raises:
            BackendError: Nobody answers; all pairs count as pending.
        """
        kept = getattr(self.engine, "cache", None) is not None
        outcome = OUTCOMES.setdefault((self.protocol.name, self.engine.identity), Outcome(kept))
        try:
            verdicts = self._verdicts([(pair, run) for pair in pairs for run in range(self.runs)])
        except BackendError:
            outcome.add(pairs, [State.PENDING] * len(pairs))
            raise
        whole = [_together(verdicts[start : start + self.runs]) for start in range(0, len(verdicts), self.runs)]
        outcome.add(pairs, map(state_of, whole))
        return whole

    def of_run(self, prompts: Sequence[Prompt], run: int) -> tuple[Prompt, ...]:
        """The questions of one run, from 0: those after the first have the run in their identity, and so in caches."""
        return tuple(
            replace(prompt, protocol=f"{prompt.protocol}+run{run + 1}") if run else prompt for prompt in prompts
        )

    def _verdicts(self, asked: Sequence[tuple[Pair, int]]) -> list[Verdict | Unscored]:
        """The outcomes of pairs and runs, all asked in one call."""
        pairs = [pair for pair, _ in asked]
        replies = self._ask([self.of_run(self.protocol.prompts(pair), run) for pair, run in asked])
        unscored: dict[int, Unscored] = {}
        waiting = list(range(len(pairs)))
        while waiting:
            further = {row: self.read(self.protocol.follow_up, pairs[row], replies[row]) for row in waiting}
            unscored |= {row: outcome for row, outcome in further.items() if isinstance(outcome, Unscored)}
            waiting = [row for row, prompts in further.items() if prompts and row not in unscored]
            questions = [self.of_run(further[row], asked[row][1]) for row in waiting]
            for row, answers in zip(waiting, self._ask(questions), strict=True):
                replies[row] += answers
        return [
            unscored[row] if row in unscored else self.read(self.protocol.verdict, pair, replies[row])
            for row, pair in enumerate(pairs)
        ]

    def replies(self, pair: Pair) -> list[str | None]:
        """The replies about a pair, to the first questions and to what they call for; None for one that is missing."""
        replies = self._ask([self.protocol.prompts(pair)])[0]
        more = self.read(self.protocol.follow_up, pair, replies) if replies else ()
        while more and not isinstance(more, Unscored):
            replies += self._ask([more])[0]
            more = self.read(self.protocol.follow_up, pair, replies)
        return [reply.text for reply in replies]

    def _ask(self, questions: Sequence[tuple[Prompt, ...]]) -> list[list[Reply]]:
        """Replies in the shape of the questions; equal prompts are asked once."""
        distinct = {prompt.sha256: prompt for prompts in questions for prompt in prompts}
        replies = dict(zip(distinct, self.engine.answer(list(distinct.values())) if distinct else (), strict=True))
        return [[replies[prompt.sha256] for prompt in prompts] for prompts in questions]

    @staticmethod
    def read(how: Any, pair: Pair, replies: Sequence[Reply]) -> Any:
        """Reads the replies with `how`; Unscored if one is missing or cannot be read."""
        texts = tuple(reply.text for reply in replies if reply.text is not None)
        raw = (reply.partial or None if reply.text is None else reply.text for reply in replies)
        kept = tuple(text[:KEPT_CHARACTERS] for text in raw if text is not None)
        if len(texts) < len(replies):
            lacking = [reply for reply in replies if reply.text is None]
            causes = [reply.cause for reply in lacking]
            cause: Cause = "candidate" if "candidate" in causes else causes[0]
            return Unscored(f"No reply: {lacking[0].error}", kept, any(reply.is_pending for reply in replies), cause)
        if any(len(text) > MAX_CHARACTERS for text in texts):
            return Unscored(f"The reply has {max(map(len, texts)):,} characters, more than {MAX_CHARACTERS:,}.", kept)
        try:
            return how(pair, texts)
        except VerdictError as error:
            return Unscored(str(error) if all(map(str.strip, texts)) else "The reply is empty.", kept)
        except (ArithmeticError, RecursionError, ValueError) as error:  # numbers of 100,000 digits, 10,000 brackets
            return Unscored(f"The reply cannot be parsed ({type(error).__name__}: {error}).", kept)


def _together(outcomes: Sequence[Verdict | Unscored]) -> Verdict | Unscored | Runs:
    """The outcome of all runs of a pair; where none has a verdict, why the first has none."""
    if len(outcomes) == 1 or all(isinstance(outcome, Unscored) for outcome in outcomes):
        return outcomes[0]
    return Runs(tuple(outcomes))


def state_of(verdict: Verdict | Unscored | Runs) -> State:
    """What became of a pair with this verdict."""
    if not isinstance(verdict, Unscored):
        return State.SCORED
    if verdict.is_pending:
        return State.PENDING
    return State.UNRECORDED if verdict.cause == "outage" else State.UNUSABLE


def judge_for(
    protocol: JudgeProtocol,
    config: str,
    options: Mapping[str, Any],
    *,
    batch_size: int | None = None,
    device: str | None = None,
    progress: SupportsBool = True,
) -> Judge | ComparedPairs:
    """The backend of a judge's configuration (`engine_for`); `options` are those of the engine, and `runs`.

    Raises:
        InputError: A configuration or option that cannot be used.
        BackendError: A model, file or server that is not there.
        MissingExtraError: The engine's package is not installed.
    """
    name = engine_for(config, protocol.paper)
    name = name._replace(sampled=name.raw and getattr(protocol, "sampled", False))
    if name.kind == "reader":
        return ComparedPairs(engine="reader")
    from rrgmetrics.judges.engines import load_engine

    runs = int(options.get("runs", 1))
    if not 1 <= runs <= MOST_RUNS:
        raise InputError(f"runs={runs}: pass the number of times to ask each question, from 1 to {MOST_RUNS}.")
    engine = load_engine(name, options=options, batch_size=batch_size, device=device, progress=progress)
    return Judge(protocol, engine, runs)


def verdicts(protocol: JudgeProtocol, pairs: Iterable[Pair], annotations: Mapping[Any, Any]) -> list[Any]:
    """Returns the verdict (of the protocol's own class) or Unscored for each pair, whichever engine ran."""
    return [
        protocol.from_comparison(pair, annotation) if isinstance(annotation, Compared) else annotation
        for pair, annotation in ((pair, annotations.get(pair, NOT_ASKED)) for pair in pairs)
    ]
