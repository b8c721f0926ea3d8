"""What a judge would be asked, and what that would cost, before anything is asked.

Two amounts are counted. The **likely** one takes four characters a token, as English has in byte-pair vocabularies, and
each question once. The **most** is a bound: three characters a token, what a server adds around a message and for a
schema, and each question twice, as a reply that is cut off at its limit is asked for again with twice the tokens.

The first questions about a pair are known. Of those that depend on a reply that is not cached, as RadFact's do, the
number is guessed from the clauses of the reports: of these "most" is no bound.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from rrgmetrics.errors import InputError
from rrgmetrics.judges.base import JudgeProtocol, Prompt, Reply, Unscored
from rrgmetrics.judges.engines.asking import LONGER, MILLION, AbsentSource, CachedEngine
from rrgmetrics.judges.judge import Judge
from rrgmetrics.reports import Pair

LIKELY_CHARACTERS, FEWEST_CHARACTERS = 4.0, 3.0  # of a token
AROUND = 16  # tokens that a chat template or a server puts around a message, at most


@runtime_checkable
class SupportsLikelyReplies(Protocol):
    """A protocol whose further questions depend on the first replies."""

    def likely_replies(self, pair: Pair) -> tuple[str, ...]:
        """Returns replies that call for about as many further questions as a model's, in the order of the prompts."""


class Amount(NamedTuple):
    """Requests, and their tokens.

    Attributes:
        requests: How many are made.
        tokens_in: Tokens asked.
        tokens_out: Tokens answered; None where there is nothing to judge by.
    """

    requests: int
    tokens_in: int
    tokens_out: int | None

    def cost(self, prices: tuple[float, float]) -> float | None:
        """The cost at these prices of a million tokens asked and answered."""
        if self.tokens_out is None:
            return None
        return (self.tokens_in * prices[0] + self.tokens_out * prices[1]) / MILLION


@dataclass(frozen=True)
class Bill:
    """The questions of one judge about pairs, and what they would cost.

    Attributes:
        metric: The protocol that asks.
        engine: Who would answer.
        n_pairs: Pairs.
        questions: Different questions about them.
        cached: Those whose replies are there already.
        guessed: Further questions whose number is guessed, as they depend on replies that are not there.
        likely: If no reply is cut off, each as long as the cached ones are.
        most: If each reply is cut off, and asked for again.
        prices: Of a million tokens asked and answered; 0 where none was named.
        problem: Why the engine cannot be loaded on this machine; "" if it can.
    """

    metric: str
    engine: str
    n_pairs: int
    questions: int
    cached: int
    guessed: int
    likely: Amount
    most: Amount
    prices: tuple[float, float]
    problem: str = ""

    @property
    def is_priced(self) -> bool:
        """Whether prices were named."""
        return any(self.prices)


def bill_of(judge: object, pairs: Sequence[tuple[Pair, str]]) -> Bill:
    """Counts what a judge would ask about pairs; asks nothing.

    Args:
        judge: The backend of a judge's metric (`Metrics.jobs[name].backend`).
        pairs: Those that it would be asked about, each with its pack (`Metrics.as_read`).

    Raises:
        InputError: A backend that asks nobody, or one of several processes.
    """
    judge, engine = cached_judge(judge)
    asked: dict[str, Prompt] = {}
    guessed: dict[str, Prompt] = {}
    for pair, pack in pairs:
        of_pack = judge.for_pack(pack)
        for run in range(judge.runs):
            rounds = list(known_rounds(of_pack, engine, pair, run))
            asked.update((prompt.sha256, prompt) for prompts, _ in rounds for prompt in prompts)
            if rounds and None in rounds[-1][1]:
                n_replies = sum(len(prompts) for prompts, _ in rounds)
                likely = judge.of_run(list(_guessed(of_pack.protocol, pair, n_replies)), run)
                guessed.update((prompt.sha256, prompt) for prompt in likely)
    known = [engine.known(prompt) for prompt in asked.values()]
    further = [prompt for sha256, prompt in guessed.items() if sha256 not in asked]
    missing = [prompt for prompt, reply in zip(asked.values(), known, strict=True) if reply is None]
    missing += engine.fitted(further)
    lengths = [len(reply.text) / LIKELY_CHARACTERS for reply in known if reply is not None and reply.text is not None]
    mean = sum(lengths) / len(lengths) if lengths else None
    return Bill(
        metric=judge.protocol.name,
        engine=engine.identity,
        n_pairs=len(pairs),
        questions=len(asked) + len(further),
        cached=sum(reply is not None for reply in known),
        guessed=len(further),
        likely=_likely(missing, mean),
        most=_most(missing, [engine.is_cut(prompt) for prompt in missing]),
        prices=engine.prices,
        problem=engine.source.problem if isinstance(engine.source, AbsentSource) else "",
    )


def _likely(missing: Sequence[Prompt], mean: float | None) -> Amount:
    """The amount if each reply is as long as the mean of those that are known."""
    tokens_in = sum(_characters(prompt) for prompt in missing) / LIKELY_CHARACTERS
    tokens_out = 0 if not missing else None if mean is None else round(mean * len(missing))
    return Amount(len(missing), round(tokens_in), tokens_out)


def _most(missing: Sequence[Prompt], cut: Sequence[bool]) -> Amount:
    """The amount if each reply is as long as it may be, and asked for again; some are known to be cut off."""
    requests = tokens_in = tokens_out = 0
    for prompt, half in zip(missing, cut, strict=True):
        schema = len(json.dumps(prompt.json_schema)) if prompt.json_schema else 0
        asked = math.ceil((_characters(prompt) + schema) / FEWEST_CHARACTERS) + AROUND * len(prompt.messages)
        times = 1 if half else 2
        requests += times
        tokens_in += times * asked
        tokens_out += (LONGER if half else 1 + LONGER) * prompt.max_tokens
    return Amount(requests, tokens_in, tokens_out)


def _characters(prompt: Prompt) -> int:
    return sum(len(message.content) for message in prompt.messages)


def _guessed(protocol: JudgeProtocol, pair: Pair, n_replies: int) -> Iterator[Prompt]:
    """Yields further questions about a pair, from replies that are likely; the first `n_replies` are asked for."""
    if not isinstance(protocol, SupportsLikelyReplies):
        return
    replies = protocol.likely_replies(pair)
    while n_replies <= len(replies):
        more = protocol.follow_up(pair, replies[:n_replies])
        if not more:
            return
        yield from more
        n_replies += len(more)


# --- what is known


def cached_judge(judge: object) -> tuple[Judge, CachedEngine]:
    """Returns a judge and its engine; raises InputError for one that asks nobody, or one of several processes."""
    if not isinstance(judge, Judge) or not isinstance(judge.engine, CachedEngine):
        raise InputError("The cost estimate supports one process only; leave out ?processes=.")
    return judge, judge.engine


def known_rounds(
    judge: Judge, engine: CachedEngine, pair: Pair, run: int = 0
) -> Iterator[tuple[Sequence[Prompt], list[Reply | None]]]:
    """Yields the questions of a run with their cached replies, round by round, until a reply is missing."""
    replies: list[Reply] = []
    prompts = engine.fitted(judge.of_run(judge.protocol.prompts(pair), run))
    while prompts:
        known = [engine.known(prompt) for prompt in prompts]
        yield prompts, known
        replies += filter(None, known)
        if None in known:
            return
        more = judge.read(judge.protocol.follow_up, pair, replies)
        prompts = () if isinstance(more, Unscored) else engine.fitted(judge.of_run(more, run))


def redo_unusable(judge: object, pairs: Sequence[tuple[Pair, str]]) -> None:
    """Lets a judge ask again about pairs whose cached replies give no verdict.

    Of a pair's replies those are passed over that are none, as they were cut off; else those of the last round.
    """
    judge, engine = cached_judge(judge)
    for pair, pack in pairs:
        for run in range(judge.runs):
            engine.redone.update(_unusable(judge.for_pack(pack), engine, pair, run))


def _unusable(judge: Judge, engine: CachedEngine, pair: Pair, run: int) -> set[str]:
    """Returns the checksums of the prompts whose replies are the reason that a run has no verdict on a pair."""
    rounds = list(known_rounds(judge, engine, pair, run))
    prompts = [prompt for asked, _ in rounds for prompt in asked]
    replies = [reply for _, known in rounds for reply in known if reply is not None]
    if not prompts or len(replies) < len(prompts):
        return set()
    if not isinstance(judge.read(judge.protocol.verdict, pair, replies), Unscored):
        return set()
    none = {prompt.sha256 for prompt, reply in zip(prompts, replies, strict=True) if reply.text is None}
    return none or {prompt.sha256 for prompt in rounds[-1][0]}
