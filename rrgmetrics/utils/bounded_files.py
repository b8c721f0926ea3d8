"""Small text files that a user names, read within bounds: no pipe or device, no giant, no bomb of YAML's aliases.

YAML lets a few lines stand for a structure of any size (an alias repeats what an anchor names) and any depth. Its
events are counted before anything is made of them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError

LARGEST = 4_000_000  # bytes; the largest file of the lexicon has 170,000
MOST = 200_000  # texts, lists and blocks, repeated ones counted each time; that file has 7,000
DEEPEST = 32  # blocks and lists inside each other; the deepest file of ours has 7
LONGEST = 10_000  # characters of a text; the longest of the lexicon has 115


def read_text(path: Path, largest: int = LARGEST) -> str:
    """Reads a text file of at most so many bytes, without waiting for anybody who might write to it.

    Raises:
        InputError: It is no file, cannot be read, is too large, or is not UTF-8.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError(f"{path} is a folder, pipe or device, not a file; save its text to a file.")
            content = file.read(largest + 1)
        if len(content) > largest:
            raise InputError(f"{path} has more than {largest:,} bytes; is it the right file?")
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def check_yaml(text: str, most: int = MOST) -> str:
    r"""Returns what is too large about a YAML text once its aliases are followed; "" for nothing.

    Raises:
        yaml.YAMLError: It is no YAML.

    Example:
        >>> check_yaml("a: &a [*a]"), check_yaml("a: &a [1]\nb: *a")
        ('line 1: *a refers to itself', '')
    """
    import yaml

    total, opened, sizes = 0, list[tuple[str | None, int]](), dict[str | None, int]()
    events: Iterator[Any] = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor is not None:
                sizes[anchor] = total - before
            continue
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in opened):
                return f"line {line}: *{event.anchor} refers to itself"
            total += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if len(event.value) > LONGEST:
                return f"line {line}: a text has more than {LONGEST:,} characters"
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if len(opened) > DEEPEST:
            return f"line {line}: more than {DEEPEST} nested blocks or lists"
        if total > most:
            return f"line {line}: with its aliases it has more than {most:,} entries"
    return ""


def yaml_errors() -> tuple[type[Exception], ...]:
    """What making something of a YAML text may raise: PyYAML passes on what its tags meet (`!!int x`, 2024-99-99)."""
    import yaml

    return yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError


def read_yaml_text(path: Path, largest: int = LARGEST, most: int = MOST) -> str:
    """Reads the text of a YAML file; what is no YAML is left for the caller to say.

    Raises:
        InputError: As `read_text`, or too many entries once its aliases are followed, or too deep.
    """
    import yaml

    text = read_text(path, largest)
    try:
        fault = check_yaml(text, most)
    except yaml.YAMLError:
        fault = ""
    if fault:
        raise InputError(f"{path}, {fault}.")
    return text
