"""Conversations as a model's chat template writes them, and their tokens.

A template comes with a checkpoint and is a program: `check_chats` tries it within limits when the model is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rrgmetrics.backends.checkpoints.loading import blamed
from rrgmetrics.backends.checkpoints.trial import LENGTH, REPORT, check_template
from rrgmetrics.errors import BackendError
from rrgmetrics.judges.base import Message, Prompt

MOST_CHARACTERS = 10_000_000  # of a prompt
TRIED = (Message("system", "You compare two reports."), Message("user", (REPORT * LENGTH)[:LENGTH]))


def has_template(tokenizer: Any) -> bool:
    """Whether a tokenizer has a chat template."""
    return bool(getattr(tokenizer, "chat_template", None))


def check_chats(tokenizer: Any, folder: Path) -> None:
    """Tries a tokenizer's chat template, if it has one, before anything is asked.

    Raises:
        BackendError: It can write no conversation, or does not end within limits.
    """
    if has_template(tokenizer):
        with blamed(f"The chat template of {folder} cannot be used"):
            template = tokenizer.get_chat_template()
        conversations = [(TRIED, fold_system(TRIED)), (TRIED[1:],)]
        forms = [[[turn._asdict() for turn in form] for form in each] for each in conversations]
        check_template(template, tokenizer.special_tokens_map, forms, folder)


def prompt_ids(tokenizer: Any, prompt: Prompt, *, raw: bool) -> list[int]:
    """Returns the token ids of the whole prompt; a chat template writes its own special tokens.

    Raises:
        BackendError: The template takes no such conversation, or the tokenizer fails.
    """
    name = getattr(tokenizer, "name_or_path", "the model")
    with blamed(f"The chat template of {name} cannot be used"):
        text = prompt.text if raw else write_chat(tokenizer, prompt.messages)
    if len(text) > MOST_CHARACTERS:
        raise BackendError(
            f"The chat template of {name} cannot be used: it generates a prompt of {len(text):,} characters."
        )
    with blamed(f"The tokenizer of {name} fails"):
        ids = list(tokenizer(text, **({} if raw else {"add_special_tokens": False}))["input_ids"])
    if not ids:
        raise BackendError(f"The tokenizer of {name} returns no token for a prompt of {len(text):,} characters.")
    return ids


def write_chat(tokenizer: Any, messages: Sequence[Message]) -> str:
    """Writes the conversation with the chat template; one without a system turn gets it before the user's.

    Raises:
        Exception: Jinja's: the template takes neither.
    """
    try:
        return _apply(tokenizer, messages)
    except Exception:  # jinja's, raised by the template itself
        return _apply(tokenizer, fold_system(messages))


def _apply(tokenizer: Any, messages: Sequence[Message]) -> str:
    turns = [message._asdict() for message in messages]
    text: str = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    return text


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """Moves the system's message to the head of the user's first turn."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = [message for message in messages if message.role != "system"]
    return [Message("user", f"{system}\n\n{turns[0].content}"), *turns[1:]] if system and turns else turns
