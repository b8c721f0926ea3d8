"""Shared by all engines: known replies are not asked for again, and new ones are kept as they arrive.

A `Source` brings replies in whatever order they come; `CachedEngine` makes an engine of it. A reply that ended at its
limit is incomplete: it is asked for once more with twice the token budget, and is no reply if it is cut off there as
well. Both are kept, each under its limit: a run that is stopped between them pays for neither twice. A reply that ends
in a loop is not asked for again: the model would repeat itself up to any limit.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import Answerer, Prompt, Reply, SupportsBool
from rrgmetrics.judges.cache import Cache, Record, append, read_records
from rrgmetrics.utils.causes import Cause, of_ending
from rrgmetrics.utils.progress import phase
from rrgmetrics.utils.text_format import counted

MAX_CHARACTERS = 1_000_000  # of a reply; the longest that a protocol expects has some ten thousand
MILLION = 1_000_000
LONGER = 2  # times the limit at which a reply was cut off
LOOPS = 4  # repetitions that make a loop
LONGEST_LOOP, LEAST = 300, 80  # characters: of what is repeated at most, of all repetitions at least
WHOLE = (None, "", "stop", "eos_token", "stop_sequence")  # why a reply ended, by itself; the last two are older TGI's
CUT = ("length", "max_tokens", "model_length")
logger = logging.getLogger("rrgmetrics")
_dry: ContextVar[bool] = ContextVar("dry", default=False)


class Answer(NamedTuple):
    """A reply that has just arrived from a source.

    Attributes:
        number: Which prompt it answers.
        reply: The reply, or why there is none.
        received: Whether the engine has answered, so that asking again would bring the same.
        tokens_in: Tokens asked, where the engine says so.
        tokens_out: Tokens answered, where the engine says so.
        cut: Whether the reply ended at its limit.
    """

    number: int
    reply: Reply
    received: bool
    tokens_in: int = 0
    tokens_out: int = 0
    cut: bool = False


@contextlib.contextmanager
def dry_run() -> Iterator[None]:
    """Loads engines that nobody will ask: they need no key."""
    token = _dry.set(True)
    try:
        yield
    finally:
        _dry.reset(token)


def is_dry() -> bool:
    """Whether engines are loaded that nobody will ask."""
    return _dry.get()


@dataclass
class Spending:
    """What the questions of one metric to one engine took in this run.

    Attributes:
        priced: Whether prices were named, so that the cost is more than 0.
        replies: Replies that came, those to the same questions again included.
        again: Those that were asked for again, as the first ones were cut off.
        tokens_in: Tokens asked, where the engine says so.
        tokens_out: Tokens answered, where the engine says so.
        cost: In the currency of the prices.
    """

    priced: bool
    replies: int = 0
    again: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0

    def add(self, answer: Answer, price: float, *, again: bool) -> None:
        """Adds what came; a request that failed brought no reply."""
        came = answer.received or bool(answer.tokens_out)
        self.replies += came
        self.again += came and again
        self.tokens_in += answer.tokens_in
        self.tokens_out += answer.tokens_out
        self.cost += price


SPENT: dict[tuple[str, str], Spending] = {}  # by metric and engine, since the command began


def spending_lines() -> list[str]:
    """Describes what each judge's questions took, a line for each engine that counts tokens."""
    return [
        f"{metric}, {engine}: {counted(each.replies, 'reply', 'replies')}"
        + (f" ({each.again:,} with twice the tokens, as the first were cut off)" if each.again else "")
        + f", {each.tokens_in:,} tokens asked, {each.tokens_out:,} answered"
        + (f"; cost {each.cost:,.4g}" if each.priced else "")
        for (metric, engine), each in SPENT.items()
        if each.tokens_in or each.tokens_out
    ]


class Source(Answerer, Protocol):
    """A source of replies."""

    def stream(self, prompts: Sequence[Prompt]) -> Generator[Answer, None, None]:
        """Yields one answer for each prompt, in the order of arrival; raises BackendError if none can come.

        Closed early, it ends what is under way.
        """


@dataclass(frozen=True)
class AbsentSource:
    """The source of a dry run where the model is not on this machine.

    Attributes:
        identity: The model by its name; the cache knows replies by its revision, so that none is found.
        problem: Why it cannot be loaded, and how to get it.
    """

    identity: str
    problem: str

    @property
    def parameters(self) -> Mapping[str, Any]:
        """None are known."""
        return {}

    @property
    def facts(self) -> Mapping[str, str]:
        """None are known."""
        return {}

    def stream(self, prompts: Sequence[Prompt]) -> Generator[Answer, None, None]:
        """Raises BackendError with the problem."""
        raise BackendError(self.problem)


def ended(number: int, text: str, why: Any, limit: int, tokens_in: int = 0, tokens_out: int = 0) -> Answer:
    """Makes the answer with this text, or without one, from the reason for which the engine ended it.

    Args:
        number: Which prompt it answers.
        text: The reply.
        why: As servers' `finish_reason` and vLLM have it. Where it gives none, the reply counts as whole: several
            servers leave it null or out, and a protocol's parser still refuses what it cannot read.
        limit: Tokens that the reply was given.
        tokens_in: Tokens asked.
        tokens_out: Tokens answered.

    Returns:
        The reply if it ended by itself; none where it was cut off at the limit, to be asked for again unless it ends in
        a loop; none, and none to be kept, for any other reason, such as a filter's.
    """
    whole = answered(number, text, tokens_in, tokens_out)
    if why in WHOLE:
        return whole
    partial = whole.reply.text or ""
    if why in CUT:
        if is_endless(partial):
            reason = f"the reply repeats itself endlessly and was cut off at {limit:,} tokens"
            return whole._replace(reply=Reply(None, reason, partial))
        reason = f"the reply was cut off at {limit:,} tokens; allow more with max_tokens"
        return whole._replace(reply=Reply(None, reason, partial, is_cut=True), cut=True)
    reply = Reply(None, f"the reply ended with {why!r}", partial, cause=of_ending(why))
    return whole._replace(reply=reply, received=False)


def answered(number: int, text: str, tokens_in: int = 0, tokens_out: int = 0) -> Answer:
    """Makes the answer with this text, or without one if it is too long."""
    if len(text) > MAX_CHARACTERS:
        return too_long(number)
    whole = text.encode(errors="replace").decode()  # JSON can hold half a character, which no file can
    return Answer(number, Reply(whole), True, tokens_in, tokens_out)


def is_endless(text: str) -> bool:
    """Whether a text ends in a loop: the same characters again and again.

    Example:
        >>> is_endless("1. " + "No effusion. " * 30), is_endless("No effusion. No effusion.")
        (True, False)
    """
    for length in range(1, LONGEST_LOOP + 1):
        span = max(LEAST, LOOPS * length)
        if len(text) < span:
            return False
        end = text[-span:]
        if end[length:] == end[:-length]:
            return True
    return False


def too_long(number: int) -> Answer:
    """Makes the answer in place of a text that is longer than any verdict."""
    return impossible(number, f"the reply has more than {MAX_CHARACTERS:,} characters")


def impossible(number: int, reason: str, cause: Cause = "candidate") -> Answer:
    """Makes the answer to a prompt to which this engine has no reply, however often it is asked."""
    return Answer(number, Reply(None, reason, cause=cause), True)


def failed(number: int, reason: str, partial: str = "", *, cause: Cause) -> Answer:
    """Makes the answer without a text, with the reason and what it is due to."""
    return Answer(number, Reply(None, reason, partial, cause=cause), False)


@dataclass(frozen=True)
class CachedEngine:
    """An engine: a source with a cache, a file that records replies, and a progress bar.

    Attributes:
        source: Who answers.
        cache: Replies of earlier calls; None: none are kept.
        recorder: File that gets every reply, known ones too.
        redone: Checksums of prompts whose cached replies are passed over, until there are new ones.
        max_tokens: Longest reply instead of the protocol's own; 0: the protocol's.
        prices: Of a million tokens asked and answered.
        progress: Whether to show a bar.
    """

    source: Source
    cache: Cache | None = None
    recorder: Recorder | None = None
    redone: set[str] = field(default_factory=set)
    max_tokens: int = 0
    prices: tuple[float, float] = (0.0, 0.0)
    progress: SupportsBool = True

    @property
    def identity(self) -> str:
        """The source's identity."""
        return self.source.identity

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The source's, with the longest reply if one was set."""
        return {**self.source.parameters, **({"max_tokens": self.max_tokens} if self.max_tokens else {})}

    @property
    def facts(self) -> Mapping[str, str]:
        """The source's, with the longest reply if one was set."""
        return {**self.source.facts, **({"max_tokens": str(self.max_tokens)} if self.max_tokens else {})}

    def answer(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Returns one reply for each prompt, in order. The cache is asked first, and what arrives is kept at once.

        Raises:
            BackendError: Nobody answers at all; what had arrived is kept.
        """
        prompts = self.fitted(prompts)
        replies = [self.known(prompt) for prompt in prompts]
        missing = [index for index, reply in enumerate(replies) if reply is None]
        for answer in self._ask([prompts[index] for index in missing]):
            pending = not answer.received
            replies[missing[answer.number]] = replace(answer.reply, is_pending=pending) if pending else answer.reply
        whole = [
            reply or Reply(None, "the engine returned no reply", is_pending=True, cause="outage") for reply in replies
        ]
        self._record(prompts, whole)
        self._warn([reply.error for i in missing if (reply := whole[i]).text is None], len(prompts))
        return whole

    def _ask(self, prompts: Sequence[Prompt]) -> Iterator[Answer]:
        """The source's answers, kept as they come; those that were cut off come last, with twice the token budget."""
        cut = {number: reply for number, prompt in enumerate(prompts) if (reply := self._cached(prompt)) is not None}
        new = [number for number in range(len(prompts)) if number not in cut]
        for answer in self._watched([prompts[number] for number in new]):
            number = new[answer.number]
            self._keep(prompts[number], answer)
            if answer.cut:
                cut[number] = answer.reply
            else:
                yield answer._replace(number=number)
        again = sorted(cut)
        for answer in self._ask_again([with_room(prompts[number]) for number in again], heard=bool(new)):
            number = again[answer.number]
            self._keep(with_room(prompts[number]), answer)
            if answer.reply.text is None and not answer.received:
                limit = prompts[number].max_tokens
                reason = f"the reply was cut off at {limit:,} tokens, and again at {LONGER * limit:,}: "
                error, cause = reason + str(answer.reply.error), answer.reply.cause
                answer = failed(number, error, cut[number].partial, cause=cause)
            yield answer._replace(number=number)

    def _ask_again(self, prompts: Sequence[Prompt], *, heard: bool) -> Iterator[Answer]:
        """The source's answers; where it was heard in this call and has ended since, the others have none."""
        waiting = set(range(len(prompts)))
        try:
            for answer in self._watched(prompts, again=True):
                waiting.discard(answer.number)
                yield answer
        except BackendError as error:
            if not heard:
                raise
            yield from (failed(number, str(error), cause="outage") for number in sorted(waiting))

    def fitted(self, prompts: Sequence[Prompt]) -> Sequence[Prompt]:
        """Returns the prompts with the longest reply that was set."""
        return [replace(prompt, max_tokens=self.max_tokens) for prompt in prompts] if self.max_tokens else prompts

    def known(self, prompt: Prompt) -> Reply | None:
        """Returns the cached reply to a fitted prompt, or None; asks nobody."""
        reply = self._cached(prompt)
        return self._cached(with_room(prompt)) if reply is not None and reply.is_cut else reply

    def is_cut(self, prompt: Prompt) -> bool:
        """Whether the cached reply to a fitted prompt was cut off, and the one with more tokens is not there."""
        return self.known(prompt) is None and self._cached(prompt) is not None

    def _cached(self, prompt: Prompt) -> Reply | None:
        """Returns the cached reply to a prompt at its limit, or None."""
        if self.cache is None or prompt.sha256 in self.redone:
            return None
        return self.cache.get(prompt, self.identity, self.source.parameters)

    def _keep(self, prompt: Prompt, answer: Answer) -> None:
        """Keeps what came; asked again, the engine would say the same."""
        if self.cache is not None and answer.received:
            self.cache.put(Record.of(prompt, answer.reply, self.identity, self.source.parameters))
            self.redone.discard(prompt.sha256)

    def _record(self, prompts: Sequence[Prompt], replies: Sequence[Reply]) -> None:
        if self.recorder:
            for prompt, reply in zip(prompts, replies, strict=True):
                if reply.text is not None or reply.partial:  # what was cut off says why, as it does here
                    self.recorder.add(Record.of(prompt, reply, self.identity, self.source.parameters))

    def _warn(self, errors: Sequence[str | None], n_prompts: int) -> None:
        if errors:
            logger.warning(
                "%s: %d of %d prompts have no reply; the first: %s", self.identity, len(errors), n_prompts, errors[0]
            )

    def _watched(self, prompts: Sequence[Prompt], *, again: bool = False) -> Iterator[Answer]:
        """The source's answers; shows how many there are, how long it will take and what it will cost."""
        if not prompts:
            return
        cost, total = 0.0, len(prompts)
        asker = prompts[0].protocol.partition("@")[0]
        spending = SPENT.setdefault((asker, self.identity), Spending(any(self.prices)))
        doing = f"{asker}: asking {self.identity}" + (" again where replies were cut off" if again else "")
        with (
            contextlib.closing(self.source.stream(prompts)) as answers,
            phase(doing, total=total, unit="replies", shown=bool(self.progress)) as line,
        ):
            for done, answer in enumerate(answers, 1):
                yield answer
                price = (answer.tokens_in * self.prices[0] + answer.tokens_out * self.prices[1]) / MILLION
                spending.add(answer, price, again=again)
                cost += price
                if any(self.prices):
                    line.note = f"cost {cost:.2f} of about {cost / done * total:.2f}"
                line.done = done


def with_room(prompt: Prompt) -> Prompt:
    """Returns the prompt for a reply that may be longer than the one that was cut off."""
    return replace(prompt, max_tokens=LONGER * prompt.max_tokens)


@dataclass(frozen=True)
class Recorder:
    """Writes each reply of one engine once to a file.

    Raises:
        InputError: The file holds something else, or replies of another engine.
    """

    path: Path
    engine: str
    _seen: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise InputError(f"record={self.path} is not a file in an existing folder.")
        for number, record in read_records(self.path) if self.path.exists() else ():
            if record.engine != self.engine:
                raise InputError(
                    f"{self.path}, line {number} is a reply of {record.engine or 'an unnamed engine'}, not of "
                    f"{self.engine}; use a separate file for each engine."
                )
            self._seen.add(record[:2])

    def add(self, record: Record) -> None:
        """Appends a reply unless the file has one to that prompt."""
        if record[:2] not in self._seen:
            append(self.path, record)
            self._seen.add(record[:2])
