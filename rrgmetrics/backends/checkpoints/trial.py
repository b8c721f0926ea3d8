"""Tries the parts of a checkpoint that are programs, in a process whose time and memory are limited.

A chat template is a program of Jinja: transformers lets it run in a sandbox, which keeps it from files but not from
endless loops or from texts that fill all memory. The patterns of a tokenizer.json are regular expressions that
backtrack, some of them without end. Neither can be stopped once it runs in this process. So each is run beforehand in
another one, on texts of usual length and on texts that repeat a character: what does not end there is refused. What
only certain words set off is not found.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from rrgmetrics.backends.checkpoints import limits
from rrgmetrics.errors import BackendError

SECONDS = 8  # of a processor; a template takes milliseconds, importing what runs it less than two seconds
PATIENCE = 240  # seconds that may pass meanwhile, where others use the processor
MEMORY = 4 << 30  # bytes of addresses, of which libraries take one and a half
MOST_CHARACTERS = 1_000_000  # that a template may make of some thousand
LENGTH = 2_000  # characters of a text that is tried
REPORT = "There is a small left pleural effusion, 12 mm; no pneumothorax.\n\n1. Stable heart size (normal). "
_PATTERN = re.compile(rb'"(?:Regex|String)"\s*:')
Conversation = Sequence[Mapping[str, str]]


def check_tokenizer(folder: Path) -> None:
    """Tries the patterns and replacements of a folder's tokenizer.json, if it has any of its own.

    Raises:
        BackendError: One is no pattern, or does not end within the limits.
    """
    file = folder / "tokenizer.json"
    if not file.is_file() or not _PATTERN.search(file.read_bytes()):
        return
    content = limits.read_json(file, most=limits.VOCABULARY_BYTES)
    parts = {name: content.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")}
    patterns = [
        value
        for key, value in limits.entries(parts, file.name)
        if key in ("Regex", "String") and isinstance(value, str)
    ]
    if patterns:
        fault = _tried(json.dumps({"parts": parts, "texts": _texts("".join(patterns))}))
        if fault:
            raise BackendError(f"A pattern of {file} cannot be used: {fault}.")


def check_template(
    template: str, words: Mapping[str, Any], conversations: Iterable[Sequence[Conversation]], folder: Path
) -> None:
    """Tries a chat template.

    Args:
        template: The text of the template.
        words: What it is given beside a conversation: the special tokens.
        conversations: Each in several forms; one form that it can write is enough.
        folder: Where it comes from.

    Raises:
        BackendError: It can write none of the forms, makes a giant text, or does not end within the limits.
    """
    asked = {"template": template, "words": dict(words), "conversations": [list(forms) for forms in conversations]}
    fault = _tried(json.dumps(asked, default=str))
    if fault:
        raise BackendError(f"The chat template of {folder} cannot be used: {fault}.")


def _texts(patterns: str) -> list[str]:
    """Texts to try patterns on: a report, and each character of the patterns repeated, with an end that is another."""
    letters = sorted(set(patterns) | set("aA1 \n.,-"))[:200]
    return [(REPORT * LENGTH)[:LENGTH], *(letter * LENGTH + end for letter in letters for end in ("", "\x00"))]


@lru_cache(maxsize=64)
def _tried(request: str) -> str:
    """What is wrong, as the other process says; "" for nothing."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))
    command = [sys.executable, "-P", "-m", __name__, str(SECONDS)]
    try:
        done = subprocess.run(
            command, input=request.encode(), capture_output=True, env=environment, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it does not end within {PATIENCE} seconds"
    try:
        return str(json.loads(done.stdout)["fault"])
    except (ValueError, KeyError, TypeError):
        return f"it does not end within {SECONDS} seconds of a processor and {MEMORY >> 30} GB of memory"


def _limit(seconds: int) -> None:
    """Limits this process where the system can: all but Windows, where only `PATIENCE` does."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _try(request: Mapping[str, Any]) -> None:
    if "template" in request:
        _try_template(**request)
    else:
        _try_parts(**request)


def _try_parts(parts: Mapping[str, Any], texts: Sequence[str]) -> None:
    """Reads and writes texts with the parts of a tokenizer that hold patterns, beside a vocabulary of nothing."""
    from tokenizers import Tokenizer

    model = {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}
    tokenizer = Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "model": model, **parts}))
    for text in texts:
        tokenizer.encode(text)
        if tokenizer.decoder is not None:
            tokenizer.decoder.decode([text])


def _try_template(
    template: str, words: Mapping[str, Any], conversations: Sequence[Sequence[list[dict[str, str]]]]
) -> None:
    """Writes each conversation in the first of its forms that the template takes.

    Raises:
        ValueError: A text is longer than any.
        Exception: Whatever the template raises on the last form.
    """
    from transformers.utils.chat_template_utils import render_jinja_template

    for forms in conversations:
        for form in forms:
            try:
                (text,), _ = render_jinja_template([form], chat_template=template, add_generation_prompt=True, **words)
            except Exception:  # jinja's, raised by the template itself
                if form == forms[-1]:
                    raise
                continue
            if len(text) > MOST_CHARACTERS:
                raise ValueError(f"it turns a prompt of about {LENGTH:,} characters into {len(text):,} characters")
            break


def fault_of(request: Mapping[str, Any]) -> str:
    """What is wrong with the parts or the template of a request; "" for nothing."""
    try:
        _try(request)
    except MemoryError:
        return f"it takes more than {MEMORY >> 30} GB of memory"
    except BaseException as error:  # a fault in tokenizers' Rust is no Exception
        return limits.reason_of(error)
    return ""


def main() -> None:
    """Reads a request from standard input, and writes what is wrong to standard output."""
    request = json.loads(sys.stdin.buffer.read())
    _limit(int(sys.argv[1]))
    sys.stdout.write(json.dumps({"fault": fault_of(request)}))


if __name__ == "__main__":
    main()
