"""Logs warnings about scores, each once: stand-ins that ran, control tokens in texts.

Of processes that work together one does: rank 0 of a training, and the first worker of a pool.

The logger is `rrgmetrics.notice`. It writes to standard error if logging is not configured, never to standard output.
To turn it off, set `RRGMETRICS_NOTICE=no` in the environment, or
`logging.getLogger("rrgmetrics.notice").disabled = True`.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING

from rrgmetrics.reports import Pair
from rrgmetrics.reports.cleaning import first_control_token
from rrgmetrics.reports.missing import first_of
from rrgmetrics.reports.text import missing_sections, sections_of
from rrgmetrics.scoring import signature
from rrgmetrics.specs.names import MetricName, parse_name, shown
from rrgmetrics.utils.text_format import listed

if TYPE_CHECKING:
    from rrgmetrics.scoring.results import Result

VARIABLE = "RRGMETRICS_NOTICE"  # "no": this process, and those that it starts, say nothing
logger = logging.getLogger("rrgmetrics.notice")
_once = Lock()  # taken by the thread that speaks, and never given back
_of_tokens: set[str] = set()  # messages that were logged


def name_stand_ins(names: Iterable[MetricName]) -> None:
    """Logs once in a process which of the metrics that ran are stand-ins, if there are any."""
    stand_ins = [name for name in names if name.bundled]
    if stand_ins:
        message = words(stand_ins)
        if _speaks() and _once.acquire(blocking=False):
            logger.warning("%s", message)


def leave_stand_ins_to_tables() -> None:
    """Logs nothing of stand-ins in this process: its tables mark them."""
    _once.acquire(blocking=False)


def warn_of_control_tokens(
    columns: Mapping[str, Sequence[str]], study_ids: Sequence[str] | None = None, *, warned: set[str] | None = None
) -> None:
    """Logs which texts of a column hold control tokens, a sign of a fault in decoding; the same message only once.

    Args:
        columns: Texts by the name of their column.
        study_ids: One a study; None: their indices.
        warned: Columns that had their warning, for texts that change during a training; those that get one are added.
    """
    for name, texts in columns.items() if _speaks() else ():
        if warned is not None and name in warned:
            continue
        marked = {index: token for index, text in enumerate(texts) if (token := first_control_token(text))}
        if not marked:
            continue
        unit = "index" if study_ids is None else "study id"
        ids = [str(index) if study_ids is None else study_ids[index] for index in marked]
        message = (
            f"{len(marked):,} of {len(texts):,} {name} contain control tokens or a prompt, as "
            f"{next(iter(marked.values()))} ({first_of(ids, unit)}): decode the new tokens only, with "
            f"skip_special_tokens=True. Metrics that extract findings ignore "
            f"them; the others count them as words. {VARIABLE}=no turns this message off."
        )
        if message not in _of_tokens:
            _of_tokens.add(message)
            logger.warning("%s", message)
        if warned is not None:
            warned.add(name)


def token_lines(systems: Mapping[str, Sequence[Pair]]) -> list[str]:
    """Describes for tables and pages how many reports contain control tokens or a prompt.

    Args:
        systems: The pairs of each system, on the same references.
    """
    columns = {"references": [pair.reference for pair in next(iter(systems.values()), [])]}
    for system, pairs in systems.items():
        columns[f"candidates of {system}" if len(systems) > 1 else "candidates"] = [pair.candidate for pair in pairs]
    counts = {name: sum(bool(first_control_token(text)) for text in texts) for name, texts in columns.items()}
    return [
        f"{n:,} of {len(columns[name]):,} {name} contain control tokens or a prompt, which metrics that extract no "
        "findings count as words."
        for name, n in counts.items()
        if n
    ]


def text_lines(
    results: Mapping[str, Mapping[str, Result]], systems: Mapping[str, Sequence[Pair]] = MappingProxyType({})
) -> list[str]:
    """Describes for tables and pages the part of the reports that `--text` (`text=`) had the metrics read.

    A metric whose name has its own `?text=` keeps it, and is named as an exception.

    Args:
        results: For each system its Results by metric.
        systems: The pairs of each system, to count the reports that lack this part; none: they are not counted.
    """
    read = {
        name: signature.parse(result.signature)[1].get("text", "").partition("@")[0]
        for name, result in next(iter(results.values()), {}).items()
    }
    chosen = [text for name, text in read.items() if text and text != parse_name(name).options.get("text")]
    if not chosen:
        return []
    text = chosen[0]
    section = sections_of(text).partition("_")[0]
    what = f"on the {section} of both reports (text={text})" if section else f"with text={text} in both reports"
    others = [shown(name) for name, own in read.items() if own != text]
    lacking = missing_sections(text, systems) if systems else ""
    return [f"Scored {what}{f', except {listed(others)}' if others else ''}.", *filter(None, [lacking])]


def _speaks() -> bool:
    """Whether this process logs; of processes that work together one does."""
    if os.environ.get(VARIABLE) == "no" or not logger.isEnabledFor(logging.WARNING):
        return False
    return os.environ.get("RANK", "0") == "0" and not _is_further_worker()


def _is_further_worker() -> bool:
    """Whether this is a second or later worker of `multiprocessing`, such as `SpawnPoolWorker-2`."""
    processes = sys.modules.get("multiprocessing")  # every worker has it; a first answer does without
    if processes is None or processes.parent_process() is None:
        return False
    number = processes.current_process().name.rpartition("-")[2]
    return number.isdigit() and int(number) > 1


def words(names: Sequence[MetricName]) -> str:
    """Returns the text of the notice about stand-ins.

    Example:
        >>> from rrgmetrics.specs.names import parse_name
        >>> print(words([parse_name("green")]).partition(";")[0])
        green ran as a bundled stand-in
    """
    ran = _listed(list(dict.fromkeys(map(_asked, names))))
    kind = "bundled stand-ins; their scores are" if len(names) > 1 else "a bundled stand-in; its scores are"
    specs = {name.spec.name: name.spec for name in names}
    published = [name for name, spec in specs.items() if "paper" in spec.configs]
    asked = [name for name in specs if name not in published]
    ways = []
    if len(published) > 1:
        ways.append(f"@paper gives the published setting, as {published[0]}@paper")
    elif published:
        ways.append(f"{published[0]}@paper gives the published setting")
    if asked:
        ways.append(f"{_listed(asked)} {'need' if len(asked) > 1 else 'needs'} an engine: {asked[0]}@openai:<model>")
    return (
        f"{ran} ran as {kind} not comparable with published scores. {'; '.join(ways)}. This message appears once; "
        f"{VARIABLE}=no turns it off."
    )


def _asked(name: MetricName) -> str:
    """The metric as a user names it; that its errors are wanted in words changes no score."""
    return str(replace(name, options={key: value for key, value in name.options.items() if key != "explain"}))


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
