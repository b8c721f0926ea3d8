"""The key of a server: taken out of whatever the server sends back, and of what other packages log meanwhile."""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Iterator
from urllib.parse import quote

STAND_IN = "[API key]"
SHORTEST = (
    6  # characters of a key that is taken out anywhere; "none" or "EMPTY", for servers that want no key, is a word
)
HALVED = 16  # characters of a key of which half is taken out too: a message may be cut off in the middle of it
CLIENTS = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")  # packages that log what they send and receive


class Secret:
    """A key that texts may quote: alone or after `Bearer`, as JSON or an address has it, whole or one half of it.

    Args:
        key: The key; one of fewer than `SHORTEST` characters is only taken out after `Bearer`.
    """

    def __init__(self, key: str) -> None:
        as_json = json.dumps(key)[1:-1]
        forms = {key, as_json, as_json.replace("/", "\\/"), quote(key), quote(key, safe="")}
        half = len(key) // 2
        halves = [rf"{re.escape(key[:half])}[\w-]*", re.escape(key[half:])] if len(key) >= HALVED else []
        whole = [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
        before = "" if len(key) >= SHORTEST else "(?<=Bearer )"
        self._pattern = re.compile(f"{before}(?:{'|'.join(whole + halves)})") if key else None

    def out_of(self, text: str) -> str:
        """Returns the text with `STAND_IN` wherever it quotes the key."""
        return self._pattern.sub(STAND_IN, text) if self._pattern else text

    @contextlib.contextmanager
    def kept_from_logs(self) -> Iterator[None]:
        """Keeps the key out of the logs of the client's packages for the duration of the context."""

        def clean(record: logging.LogRecord) -> bool:
            record.msg, record.args = self.out_of(record.getMessage()), None
            if record.exc_info:
                record.exc_text = self.out_of(logging.Formatter().formatException(record.exc_info))
                record.exc_info = None
            return True

        known = list(logging.root.manager.loggerDict.items())
        loggers = [
            logger for name, logger in known if isinstance(logger, logging.Logger) and name.split(".")[0] in CLIENTS
        ]
        for logger in loggers:
            logger.addFilter(clean)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(clean)
