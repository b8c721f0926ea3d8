"""Asks the server of a judge which models it has. No report is sent, and no answer is awaited for long."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from rrgmetrics.doctor.repositories import Remark, in_one_line
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.files.labels import some
from rrgmetrics.judges.engines import EngineOptions
from rrgmetrics.judges.engines.hosts import is_loopback
from rrgmetrics.judges.engines.model_names import is_same_model
from rrgmetrics.judges.engines.openai import NO_KEY, Server

SECONDS = 5.0  # for the whole answer
MOST_BYTES = 4 << 20
REFUSED = (401, 403)
UNKNOWN = (404, 405, 501)  # a server without a list of models
BASE_URL = "OPENAI_BASE_URL"


def has_server() -> bool:
    """Whether the environment names a server for judges."""
    return bool(os.environ.get(BASE_URL, "").strip())


def look_at_server(model: str, options: Mapping[str, Any]) -> Remark:
    """Asks a server for its models.

    Args:
        model: The model that a judge asks; "": none is looked for.
        options: Those of the judge's engine, such as `base_url` and `api_key`.

    Returns:
        What was seen: whether the server answers, takes the key and has the model.
    """
    try:
        server = Server.connect(model, EngineOptions.of(options))
    except (BackendError, InputError, MissingExtraError) as error:
        return Remark("fault", in_one_line(str(error)))
    status, sentence = _seen(server)
    return Remark(status, in_one_line(server.secret.out_of(sentence)))


def _seen(server: Server) -> Remark:
    where, model = server.base_url, server.options.answers_as or server.model
    answer = _answer(server)
    if isinstance(answer, Exception):
        reason = getattr(answer, "reason", None) or answer
        return Remark("fault", f"There is no answer from {where} ({reason}); start the server, or correct base_url.")
    code, body = answer
    if code in REFUSED:
        key = "contains no key" if server.api_key == NO_KEY else "contains a key that was refused"
        return Remark("fault", f"{where} refuses the request (HTTP {code}); {server.options.api_key} {key}.")
    if code in UNKNOWN:
        return Remark("left", f"{where} lists no models (HTTP {code}); is it the address that ends in /v1?")
    try:
        names = [str(entry["id"]) for entry in json.loads(body)["data"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        return Remark("fault", f"{where} answers with HTTP {code}, but not as OpenAI's protocol does.")
    if model in ("", "any") and names:
        return Remark("ok", f"{where} answers and has the models {some(names)}. No report was sent.")
    if any(is_same_model(model, name) for name in names):
        return Remark("ok", f"{where} answers and has {model}. No report was sent.")
    there = f"only {some(names)}; name one of them" if names else "none; load one"
    return Remark("fault", f"{where} answers, but has no model {model!r}, {there}.")


class _NoRedirects(HTTPRedirectHandler):
    """Follows none: the key is for this server only."""

    def redirect_request(self, *arguments: Any) -> None:
        """Returns no request."""


def _answer(server: Server) -> tuple[int, bytes] | Exception:
    """The status and the body of the list of models, or why there is none."""
    arrived: queue.SimpleQueue[tuple[int, bytes] | Exception] = queue.SimpleQueue()
    proxies = [ProxyHandler({})] if is_loopback(server.base_url) else []
    key = {} if server.api_key == NO_KEY else {"Authorization": f"Bearer {server.api_key}"}

    def ask() -> None:
        try:
            request = Request(f"{server.base_url}/models", headers=key)
            with build_opener(_NoRedirects, *proxies).open(request, timeout=2 * SECONDS) as response:
                arrived.put((response.status, response.read(MOST_BYTES)))
        except HTTPError as error:
            arrived.put((error.code, b""))
        except Exception as error:  # of the network, of the name's look-up, of a server that is none
            arrived.put(error)

    threading.Thread(target=ask, daemon=True).start()  # looking up a name has no time-out
    try:
        return arrived.get(timeout=SECONDS)
    except queue.Empty:
        return TimeoutError(f"nothing within {SECONDS:g} s")
