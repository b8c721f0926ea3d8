"""The engine `openai:<model>`: any server that speaks OpenAI's chat completions (vLLM, llama.cpp, Ollama, TGI, OpenAI).

Several requests run at a time, each on a connection of its own, so that nothing a server sends late answers another,
and each with one deadline from the look-up of the address to the last byte. What may pass is tried again, after the
pause that the server asks for or a growing one; a pause asked for holds up all requests. A reply's schema is asked for
where the server offers that; where it refuses, the weaker JSON mode is tried, then none. Whatever leaves here, the key
is taken out of it first.

The tries are not left to the package `tenacity` nor to the client: a try here depends on what all requests share (a
pause that the server asked for, how many failed in a row, the JSON mode), which neither knows of. The client also
tries again before it says that nothing listens, and never where a reply breaks off half way.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import queue
import random
import re
import ssl
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import Prompt, Reply
from rrgmetrics.judges.engines.asking import MAX_CHARACTERS, WHOLE, Answer, ended, failed, is_dry, too_long
from rrgmetrics.judges.engines.bodies import ACCEPTED, limit_bodies
from rrgmetrics.judges.engines.hosts import is_loopback, tell_host
from rrgmetrics.judges.engines.model_names import is_same_model
from rrgmetrics.judges.engines.secret import Secret
from rrgmetrics.utils.causes import Cause, of_status
from rrgmetrics.utils.extras import need

if TYPE_CHECKING:
    from rrgmetrics.judges.engines import EngineOptions

OPENAI = "https://api.openai.com/v1"
NO_KEY = "none"  # is sent where there is no key: the client needs one
OUTAGE: Cause = "outage"
MAX_BYTES = 4 * MAX_CHARACTERS
MAX_MESSAGE = 300  # characters of a server's message
MAX_PAUSE = 60.0  # seconds; a server that asks for more is asked no more about that prompt
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
PASSING = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # HTTP status: try again
UNAUTHORIZED = 401
HOPELESS = (UNAUTHORIZED, 403, 404)  # the key, the model or the address is wrong: true of every request
JSON_MODES = ("json_schema", "json_object", "")
READ = {"choices", "content", "finish_reason", "index", "message", "model", "refusal", "usage"}  # keys of an answer
JSON_WORDS = ("response_format", "json_schema", "json_object")  # in a message: the mode is what the server minds


class TransientError(Exception):
    """A request that may succeed when it is made again, after `pause` seconds if the server says so."""

    def __init__(self, reason: str, pause: float | None = None, cause: Cause = OUTAGE) -> None:
        super().__init__(reason)
        self.pause, self.cause = pause, cause


class RejectedRequestError(Exception):
    """A request that the server understood and does not serve, and what that is due to."""

    def __init__(self, reason: str, cause: Cause) -> None:
        super().__init__(reason)
        self.cause = cause


class OtherModelError(Exception):
    """An answer that names another model than the one asked."""


@dataclass
class RequestState:
    """The state that the requests of one call share.

    Attributes:
        resume_at: No request starts before (`time.monotonic`).
        failures: Requests that failed since the last one that did not.
        received: Whether any reply has come.
        others: Answers of another model than the one asked.
        other: What is to be said of them.
        json_mode: The best of `JSON_MODES` that the server takes.
        json_proven: Whether it has answered in that mode.
        tokens_key: What the server calls the longest reply.
    """

    resume_at: float = 0.0
    failures: int = 0
    received: bool = False
    others: int = 0
    other: str = ""
    json_mode: int = 0
    json_proven: bool = False
    tokens_key: str = "max_tokens"

    async def wait(self, pause: float = 0.0) -> None:
        """Waits until this pause and the one that the server asked for are over."""
        until = max(time.monotonic() + pause, self.resume_at)
        await asyncio.sleep(max(0.0, until - time.monotonic()))


@dataclass(frozen=True)
class Server:
    """A source of replies: a model on a server.

    Attributes:
        model: Its name there.
        base_url: Address, for example `http://127.0.0.1:8000/v1`.
        api_key: The key.
        options: Temperature, deadlines and the like.
    """

    model: str
    base_url: str
    api_key: str = field(repr=False)
    options: EngineOptions

    @classmethod
    def connect(cls, model: str, options: EngineOptions) -> Server:
        """Finds address and key; sends nothing.

        Raises:
            MissingExtraError: No `openai`, unless it is a dry run.
            InputError: The key itself where the name of its variable must stand.
            BackendError: No key for OpenAI, unless it is a dry run; or one that cannot be sent.
        """
        if not is_dry():
            need(f"openai:{model}", "judges")
        if not re.fullmatch(r"\w+", options.api_key):
            raise InputError("api_key is the name of an environment variable; put the key in that variable, not here.")
        key = os.environ.get(options.api_key, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise BackendError(f"{options.api_key} contains characters that no key has.")
        address = options.base_url or os.environ.get("OPENAI_BASE_URL", "").strip()
        if not key and not address and not is_dry():
            raise BackendError(
                f"openai:{model} uses OpenAI's server, and the environment variable {options.api_key} contains no "
                f"key; set it, or name your own server: openai:{model}?base_url=http://127.0.0.1:8000/v1."
            )
        return cls(model, (address or OPENAI).rstrip("/"), key or NO_KEY, options)

    @property
    def secret(self) -> Secret:
        """The key, which is removed from whatever the server sends."""
        return Secret(self.api_key)

    @property
    def identity(self) -> str:
        """The identity: the model's name on the server."""
        return f"openai:{self.model}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The address and how words are drawn: two servers may call different models by one name."""
        return {"base_url": self.base_url, **self.options.sampling}

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: address, how words are drawn, and which other model may answer."""
        allowed = {"answers_as": self.options.answers_as} if self.options.answers_as else {}
        sampling = {key: str(value) for key, value in self.options.sampling.items()}
        return {"base_url": self.base_url, **sampling, **allowed}

    def stream(self, prompts: Sequence[Prompt]) -> Generator[Answer, None, None]:
        """Yields answers as they arrive.

        Raises:
            BackendError: Nothing listens there, or the server refuses key, model or address, before any reply.
        """
        from anyio.from_thread import start_blocking_portal

        tell_host(self.base_url, self.identity)
        client, secret = self._client(), self.secret
        arrived: queue.SimpleQueue[Answer | Exception] = queue.SimpleQueue()
        with secret.kept_from_logs(), start_blocking_portal() as portal:  # whatever ends this ends the requests
            portal.start_task_soon(self._ask_all, client, prompts, arrived.put)
            for _ in prompts:
                answer = arrived.get()
                if isinstance(answer, Exception):  # raised anew: its causes may quote the key
                    message = str(answer) if isinstance(answer, BackendError) else f"{self.identity}: {answer!r}"
                    raise BackendError(secret.out_of(message))
                yield answer._replace(reply=_without(secret, answer.reply))

    async def _ask_all(
        self, client: Any, prompts: Sequence[Prompt], arrived: Callable[[Answer | Exception], None]
    ) -> None:
        """Asks all prompts, `concurrency` at a time, each when one before it is answered."""
        state, numbers = RequestState(), iter(range(len(prompts)))

        async def work() -> None:
            for index in numbers:
                try:
                    arrived(await self._ask(client, index, prompts[index], state))
                except Exception as error:  # raised again where the answers are awaited
                    arrived(error)

        async with client:
            await asyncio.gather(*(work() for _ in range(min(self.options.concurrency, len(prompts)))))

    def _client(self) -> Any:
        """A client without tries, redirects (which may lead elsewhere) or, on this machine, proxies of its own."""
        import openai

        # Without TLS nobody has to be trusted, and reading whom takes some 30 ms a client.
        is_plain = self.base_url.lower().startswith("http://")
        http = openai.DefaultAsyncHttpxClient(
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True,
            follow_redirects=False,
            trust_env=not is_loopback(self.base_url),
            event_hooks={"response": [limit_bodies(MAX_BYTES)]},
        )
        client = openai.AsyncOpenAI(
            api_key=self.api_key,
            base_url=self.base_url,
            max_retries=0,
            timeout=None,  # the deadline is ours
            default_headers={"Connection": "close", "Accept-Encoding": ACCEPTED},
            http_client=http,
        )
        _ = client.chat.completions.with_streaming_response  # imports a hundred files, before any deadline runs
        return client

    async def _ask(self, client: Any, index: int, prompt: Prompt, state: RequestState) -> Answer:
        """Asks until there is an answer, a refusal, or no try left; after many failures in a row only once."""
        reason, tries, cause = "", 0, OUTAGE
        while True:
            if state.others >= self.options.concurrency and not state.received:
                return failed(index, state.other, cause="outage")  # it would be paid for, and be no answer either
            try:
                await state.wait()
                answer = await self._adapt(client, index, prompt, state, last=0 < tries == self.options.retries)
                state.failures, state.received = 0, True
                return answer
            except RejectedRequestError as error:
                return failed(index, str(error), cause=error.cause)
            except OtherModelError as error:
                state.others, state.other = state.others + 1, str(error)
                return failed(index, str(error), cause="outage")
            except TransientError as error:
                reason, pause, cause = str(error), error.pause, error.cause
            tries += 1
            state.failures += 1
            in_a_row = self.options.concurrency * (self.options.retries + 1)
            if tries > self.options.retries or state.failures > in_a_row or (pause or 0) > MAX_PAUSE:
                break
            if pause is not None:
                state.resume_at = max(state.resume_at, time.monotonic() + pause)
            else:
                grown = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tries - 1))
                await state.wait(grown * random.Random().uniform(0.75, 1.0))
        return failed(index, reason, cause=cause)

    async def _adapt(self, client: Any, index: int, prompt: Prompt, state: RequestState, *, last: bool) -> Answer:
        """Makes one request; where the server refuses it, makes it again in a weaker JSON mode, down to none.

        Some servers fail at a schema instead of refusing it: unless it has worked, the last try goes without.
        """
        if prompt.json_schema is None:
            return await self._named(client, index, prompt, "", state)
        refusal = RejectedRequestError("no request was made", OUTAGE)
        without = len(JSON_MODES) - 1  # the last mode asks for no JSON
        for mode in range(without if last and not state.json_proven else state.json_mode, len(JSON_MODES)):
            try:
                answer = await self._named(client, index, prompt, JSON_MODES[mode], state)
            except RejectedRequestError as error:
                refusal = error
                continue
            state.json_mode, state.json_proven = max(state.json_mode, mode), True
            return answer
        raise refusal

    async def _named(self, client: Any, index: int, prompt: Prompt, json_mode: str, state: RequestState) -> Answer:
        """Makes one request; OpenAI's newer models have another name for the longest reply, and say so."""
        name = state.tokens_key
        try:
            return await self._request(client, index, prompt, json_mode, state)
        except RejectedRequestError as error:
            if "max_completion_tokens" not in str(error) or name == "max_completion_tokens":
                raise
        state.tokens_key = "max_completion_tokens"
        return await self._request(client, index, prompt, json_mode, state)

    async def _request(self, client: Any, index: int, prompt: Prompt, json_mode: str, state: RequestState) -> Answer:
        """Sends one request; raises TransientError, RejectedRequestError or BackendError."""
        import openai

        late = f"no reply within {self.options.timeout:g} s"
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": prompt.conversation,
            **self.options.sampling,
            state.tokens_key: prompt.max_tokens,
        }
        if json_mode:
            arguments["response_format"] = response_format(json_mode, prompt)
        try:
            async with (
                asyncio.timeout(self.options.timeout),
                client.chat.completions.with_streaming_response.create(**arguments) as response,
            ):
                late = "the reply was not complete in time"
                body = await _read(response)
        except TimeoutError as error:
            raise TransientError(late) from error
        except openai.APIStatusError as error:
            raise self._status_error(error, json_mode, state) from error
        except openai.APIConnectionError as error:
            if type(error.__cause__).__name__ == "ConnectError" and not state.received:
                raise BackendError(
                    f"{self.identity}: there is no answer from {self.base_url} ({error.__cause__}); start the "
                    "server, or correct base_url."
                ) from error
            cause = error.__cause__ or error
            raise TransientError(f"the connection broke: {str(cause) or type(cause).__name__}") from error
        if body is None:
            return too_long(index)
        document = _load(body)
        self._check_model(document)
        return _parse(index, document, prompt.max_tokens)

    def _check_model(self, document: Any) -> None:
        """Raises OtherModelError for an answer that names another model; one that names none is not asked further."""
        named, allowed = document.get("model") if isinstance(document, dict) else None, self.options.answers_as
        if not isinstance(named, str) or not named or allowed == "any":
            return
        if not is_same_model(allowed or self.model, named):
            shown = self.secret.out_of(named)[:100]
            raise OtherModelError(
                f"the server answered as {shown!r}, and {allowed or self.model!r} was requested; name that model, or "
                f"allow it with answers_as={shown} (answers_as=any: every one)"
            )

    def _status_error(self, error: Any, json_mode: str, state: RequestState) -> Exception:
        status = int(error.status_code)
        reason = f"HTTP {status}: {self.secret.out_of(_message(error))[:MAX_MESSAGE]}"
        if status == UNAUTHORIZED:
            fault = "contains no key" if self.api_key == NO_KEY else "contains a key that was refused"
            reason += f"; the environment variable {self.options.api_key} {fault}"
        cause = of_status(status, reason)
        if json_mode and any(word in reason for word in JSON_WORDS):  # llama-cpp-python refuses it with a 500
            return RejectedRequestError(reason, cause)
        if status in PASSING:
            return TransientError(reason, retry_after(error.response.headers.get("retry-after")), cause)
        if status in HOPELESS and not state.received:
            return BackendError(f"{self.identity} at {self.base_url} refuses every request ({reason}).")
        return RejectedRequestError(reason, cause)


async def _read(response: Any) -> bytes | None:
    """The body; None if it is longer than any reply. Raises TransientError if it breaks off."""
    body = bytearray()
    try:
        async for chunk in response.iter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                return None
    except Exception as error:  # of httpx or httpx2, whichever the client's version uses
        raise TransientError(f"the reply was interrupted ({type(error).__name__})") from error
    return bytes(body)


def _load(body: bytes) -> Any:
    """The JSON of an answer; raises TransientError if it is none, or says twice what is read here."""
    try:
        return json.loads(body, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, DoubledKeyError) else type(error).__name__
        raise TransientError(f"the server's response is not a chat completion ({said})") from error


class DoubledKeyError(ValueError):
    """A key that an object has twice: which of the two counts would be anybody's guess."""


def _object(items: list[tuple[str, Any]]) -> dict[str, object]:
    found = dict(items)
    if len(found) < len(items):
        keys = [key for key, _ in items]
        if twice := next((key for key in keys if key in READ and keys.count(key) > 1), None):
            raise DoubledKeyError(f"the key {twice!r} occurs twice")
    return found


def _parse(index: int, document: Any, limit: int) -> Answer:
    """The text of the first choice, if it is whole (see `ended`).

    A refusal in words is a text too, but is not kept: asked again, the server may answer. Raises TransientError if
    there is no text.
    """
    try:
        choice = _first(document["choices"])
        message, why = choice["message"], choice.get("finish_reason")
        text, refusal = message.get("content"), message.get("refusal")
        usage = document.get("usage") or {}
        tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise TransientError(f"the server's response is not a chat completion ({type(error).__name__})") from error
    if text is None and isinstance(refusal, str):
        return ended(index, refusal, why, limit, *tokens)._replace(received=False)
    if text is None and why not in WHOLE:
        text = ""
    if not isinstance(text, str):
        raise TransientError("the server's response has no text")
    return ended(index, text, why, limit, *tokens)


def _first(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The choice with index 0, wherever it stands; the first one of a server that does not number them."""
    leading = [choice for choice in choices if choice.get("index") in (0, None)]
    return leading[0]


def _without(secret: Secret, reply: Reply) -> Reply:
    """The reply with every text free of the key."""
    text, error = (each and secret.out_of(each) for each in (reply.text, reply.error))
    return replace(reply, text=text, error=error, partial=secret.out_of(reply.partial))


def _message(error: Any) -> str:
    body = error.body
    text = body.get("message") if isinstance(body, Mapping) else body
    return " ".join(str(text or error.message).split())


def response_format(json_mode: str, prompt: Prompt) -> dict[str, object]:
    """Returns the request for JSON: by the prompt's schema, or for any object."""
    if json_mode == "json_object":
        return {"type": "json_object"}
    name = "".join(character if character.isalnum() else "_" for character in prompt.protocol)
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": dict(prompt.json_schema or {}), "strict": True},
    }


def retry_after(header: str | None) -> float | None:
    """Reads the seconds of a Retry-After header: a number of them, or a date.

    Example:
        >>> retry_after("1.5")
        1.5
    """
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    date = email.utils.parsedate_tz(header)
    return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
