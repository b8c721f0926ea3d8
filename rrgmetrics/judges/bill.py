"""What a judge would be asked, and what that would cost, before anything is asked.

Tokens are counted as characters / 4, as no tokenizer is at hand for a model on a server. The first questions of each
pair are counted; those that depend on a reply, as RadFact's, only where that reply is cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rrgmetrics.errors import InputError
from rrgmetrics.judges.base import Prompt, Reply, Unscored
from rrgmetrics.judges.engines.asking import MILLION, CachedEngine
from rrgmetrics.judges.judge import Judge
from rrgmetrics.reports import Pair

ASKS_AGAIN = ("radfact",)  # protocols whose second questions depend on the first replies
CHARACTERS_PER_TOKEN = 4.0  # of English text, in byte-pair vocabularies


@dataclass(frozen=True)
class Bill:
    """The questions of one judge about pairs, and what they would cost.

    Attributes:
        metric: The protocol that asks.
        engine: Who would answer.
        n_pairs: Pairs.
        questions: Questions about them.
        distinct: Different ones among them.
        cached: Different ones whose replies are there already.
        waiting: Pairs whose further questions depend on replies that are not there.
        tokens_in: Tokens of the questions that remain, about.
        tokens_out: Tokens of their replies, about, as long as the cached ones are; None without any.
        longest_out: Tokens that those replies may have at most.
        prices: Of a million tokens asked and answered; 0 where none was named.
    """

    metric: str
    engine: str
    n_pairs: int
    questions: int
    distinct: int
    cached: int
    waiting: int
    tokens_in: int
    tokens_out: int | None
    longest_out: int
    prices: tuple[float, float]

    @property
    def asked(self) -> int:
        """The number of questions that would be asked."""
        return self.distinct - self.cached

    def cost(self, tokens_out: int) -> float:
        """The cost of the questions that remain, for replies of so many tokens."""
        return (self.tokens_in * self.prices[0] + tokens_out * self.prices[1]) / MILLION


def bill_of(judge: object, pairs: Sequence[Pair]) -> Bill:
    """Counts what a judge would ask about pairs; asks nothing.

    Args:
        judge: The backend of a judge's metric (`Metrics.jobs[name].backend`).
        pairs: As the judge reads them.

    Raises:
        InputError: A backend that asks nobody, or one of several processes.
    """
    if not isinstance(judge, Judge) or not isinstance(judge.engine, CachedEngine):
        raise InputError("Only a judge that one process asks has a bill; leave out ?processes=.")
    engine = judge.engine
    asked: list[Prompt] = []
    waiting = 0
    for pair in pairs:
        prompts = engine.fitted(judge.protocol.prompts(pair))
        replies: list[Reply] = []
        while prompts:
            asked += prompts
            answers = [reply for prompt in prompts if (reply := engine.known(prompt)) is not None]
            if len(answers) < len(prompts):
                waiting += judge.protocol.name in ASKS_AGAIN and not replies
                break
            replies += answers
            more = judge.read(judge.protocol.follow_up, pair, replies)
            prompts = () if isinstance(more, Unscored) else engine.fitted(more)
    distinct = list({prompt.sha256: prompt for prompt in asked}.values())
    known = [engine.known(prompt) for prompt in distinct]
    missing = [prompt for prompt, reply in zip(distinct, known, strict=True) if reply is None]
    lengths = [tokens(reply.text) for reply in known if reply is not None and reply.text is not None]
    return Bill(
        metric=judge.protocol.name,
        engine=engine.identity,
        n_pairs=len(pairs),
        questions=len(asked),
        distinct=len(distinct),
        cached=len(distinct) - len(missing),
        waiting=waiting,
        tokens_in=sum(tokens(prompt.text) for prompt in missing),
        tokens_out=round(sum(lengths) / len(lengths) * len(missing)) if lengths else None,
        longest_out=sum(prompt.max_tokens for prompt in missing),
        prices=engine.prices,
    )


def tokens(text: str) -> int:
    """Returns about how many tokens a text has."""
    return round(len(text) / CHARACTERS_PER_TOKEN)
