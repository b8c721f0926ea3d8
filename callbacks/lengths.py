"""Lengths: references that were cut together with their labels, and reports that outgrow the model's positions.

Both spoil a whole run in silence: a reference that ends in the middle calls the rest of a good report false, and beyond
its last position a model fails or writes nonsense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.callbacks.generation import IGNORED, Generation, is_encoder_decoder

CLOSING = frozenset(".!?:;)]\"'")  # what reports end with
FEW = 3  # labels of one greatest length that are no accident, where texts end with none of these


class Labels(NamedTuple):
    """How the labels of an example end.

    Attributes:
        length: Where the last token with a loss stands, counted from 1.
        ended: Whether that is the end token.
        closed: Whether the text ends as a sentence does.
    """

    length: int
    ended: bool
    closed: bool

    @classmethod
    def of(cls, labels: Any, tokenizer: Any) -> Labels:
        """Reads the labels `(length,)` of one example; -100 and padding do not count."""
        tokens = np.asarray(labels)
        kept = np.flatnonzero((tokens != IGNORED) & (tokens != tokenizer.pad_token_id))
        if not len(kept):
            return cls(0, True, True)  # an empty report
        end, padded = tokenizer.eos_token_id, tokenizer.pad_token_id == tokenizer.eos_token_id
        length = int(kept[-1]) + 1
        ended = tokens[length - 1] == end or (padded and length < len(tokens) and tokens[length] == end)
        text = str(tokenizer.decode(tokens[kept], skip_special_tokens=True)).rstrip()
        return cls(length, bool(ended), text[-1:] in CLOSING)


def count_cut(labels: Sequence[Labels]) -> int:
    """Counts the labels that were cut: those without the end token that others have, or that fill the greatest length.

    Tokenizers that cut a text may write the end token behind it all the same. So labels of the greatest length count
    too, if their text stops within a sentence; where texts have no full stops at all, if several are that long.
    """
    longest = max((each.length for each in labels), default=0)
    shorter = [each.closed for each in labels if each.length < longest]
    stopped = not shorter or 2 * sum(shorter) >= len(shorter)
    full = sum(each.length == longest for each in labels)
    ends = any(each.ended for each in labels if each.length)

    def is_cut(each: Labels) -> bool:
        fills = each.length == longest > 0 and (not each.closed if stopped else full >= FEW)
        return fills or (ends and not each.ended)

    return sum(map(is_cut, labels))


def say_cut(labels: Sequence[Labels], where: str) -> str:
    """Returns what is to be said of references that come from labels; "" if none was cut."""
    n_cut = count_cut(labels)
    if not n_cut:
        return ""
    longest = max(each.length for each in labels)
    return (
        f"{where}{n_cut} of {len(labels)} references ({n_cut / len(labels):.0%}) come from truncated labels: they "
        f"fill {longest} tokens, or lack the end token. The lost end of a reference counts as false if the model "
        "writes it, and its omission is not counted. Pass reference= (a column with whole reports), or truncate "
        "labels later."
    )


def positions(model: Any) -> int | None:
    """Returns how many tokens the (de)coder has positions for; None where they are relative, or nobody knows."""
    config = model.config
    decoder = getattr(config, "decoder", None) or getattr(config, "text_config", None) or config
    if hasattr(decoder, "relative_attention_num_buckets"):  # T5 has any number of them
        return None
    known = getattr(decoder, "max_position_embeddings", None) or getattr(decoder, "n_positions", None)
    return int(known) if known else None


def say_overrun(model: Any, generation: Generation, examples: Sequence[Any]) -> str:
    """Returns what is to be said if a report may outgrow the model's positions, with the number to use; else ""."""
    room, settings = positions(model), generation.settings
    inputs = {} if is_encoder_decoder(model) else generation.make_inputs(list(examples))
    prompt = int(inputs["input_ids"].shape[1]) if "input_ids" in inputs else 1  # the token that starts a decoder
    new = settings.max_new_tokens or (settings.max_length or 0) - prompt
    if room is None or prompt + new <= room:
        return ""
    what = f"Reports may have {new} new tokens, and {type(model).__name__} has {room} positions"
    if prompt > 1:
        what += f", of which the longest prompt of {len(examples)} takes {prompt}"
    advice = (
        f"Pass generation_config={{'max_new_tokens': {room - prompt}}}."
        if room > prompt
        else "The prompt leaves no tokens for a report: shorten it."
    )
    return f"{what}: beyond them it fails, or generates nonsense. {advice}"
