"""What a judge learns from: pairs of reports, the question of a protocol about each, and the reply to it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics import files
from rrgmetrics.backends.compared_pairs import ComparedPairs
from rrgmetrics.errors import InputError, VerdictError
from rrgmetrics.judges.base import Prompt
from rrgmetrics.judges.engines.chats import prompt_ids, write_chat
from rrgmetrics.judges.engines.replies import ReplyFile
from rrgmetrics.judges.protocols.counts import CATEGORIES, Errors
from rrgmetrics.reports import CONTEXT_KEYS, Pair, check_report, parse_context
from rrgmetrics.scorers.chexprompt import ChexpromptProtocol
from rrgmetrics.scorers.crimson import CrimsonProtocol
from rrgmetrics.scorers.green import GreenProtocol
from rrgmetrics.synthesis.pairs import Row, read_rows, split_of
from rrgmetrics.training.config import COUNTS, READER, REPLIES, JudgeConfig

PROTOCOLS: Mapping[str, Any] = {
    "green": GreenProtocol(),
    "chexprompt": ChexpromptProtocol(),
    "crimson": CrimsonProtocol(),
}
IGNORED = -100  # a label that the loss passes over
SUFFIX = "_significant"  # of the columns that count significant errors alone
LONGEST_END = 4  # tokens that a chat template may write behind a reply


class Counted(NamedTuple):
    """Errors of a pair A to F, as whoever rated it counts them."""

    significant: tuple[int, ...]
    insignificant: tuple[int, ...]


class Studied(NamedTuple):
    """A pair of a file: its reports, the part that the file puts it in ("" for none), and its errors if counted."""

    pair: Pair
    split: str = ""
    counted: Counted | None = None


class Example(NamedTuple):
    """A question with the reply to learn.

    Attributes:
        pair: The reports.
        prompt: The question.
        reply: What the model should say.
        errors: How many errors the reply counts.
    """

    pair: Pair
    prompt: Prompt
    reply: str
    errors: int


@dataclass
class JudgeData:
    """What a run learns from.

    Attributes:
        rows: Examples by part: train, validation.
        source: Whose verdicts they are, in words.
        left_out: Pairs that are not learnt, by reason.
    """

    rows: Mapping[str, list[Example]]
    source: str
    left_out: Counter[str] = field(default_factory=Counter)


def protocol_of(config: JudgeConfig) -> Any:
    """Returns the protocol whose question and replies are learnt.

    Raises:
        MissingExtraError: CRIMSON's authors' question is asked for, and their package is not installed.
    """
    return PROTOCOLS[config.protocol] if config.wording == "own" else CrimsonProtocol(wording=config.wording)


def read_judge_data(config: JudgeConfig) -> JudgeData:
    """Reads the pairs, and makes or finds the replies.

    Raises:
        InputError: No pairs, files that cannot be read, or nothing left to train on or to validate with.
    """
    if not config.pairs:
        raise InputError("There are no pairs to train on; pass --pairs FILE, or --generate N.")
    protocol = protocol_of(config)
    read = [each for path in config.pairs for each in read_pairs(path, config.labels)]
    studied = list({(each.pair, each.split): each for each in read}.values())
    left_out = Counter[str]()
    replies, source = _replies(protocol, studied, config.labels)
    rows: dict[str, list[Example]] = {"train": [], "validation": []}
    for each, reply in zip(studied, replies, strict=True):
        part = each.split or split_of(each.pair.reference, (config.validation_fraction, 0.0))
        if part not in rows:
            left_out[f"of the part {part}"] += 1
        elif example := _example(protocol, each.pair, reply, left_out):
            rows[part].append(example)
    for part, examples in rows.items():
        if not examples:
            why = "".join(f"; {reason}: {count:,}" for reason, count in left_out.items())
            raise InputError(
                f"No pair of {len(studied):,} is left for {part}{why}; add pairs, or set validation_fraction."
            )
    return JudgeData(rows, source, left_out)


# --- pairs


def read_pairs(path: str, labels: Sequence[str]) -> list[Studied]:
    """Reads the pairs of a file.

    Args:
        path: What `rrgmetrics synthesize` wrote, whose rows of the part `test` stay out; or a table with `reference`,
            `candidate` and, where it counts errors, the columns `false_finding` to `missing_comparison`, each with
            `false_finding_significant` and so on beside it if it tells which matter. Rows of one pair are its raters.
        labels: As `JudgeConfig.labels`; counts are read if it names them.

    Raises:
        InputError: The file cannot be read, or lacks counts that are wanted; names file, line and column.
    """
    if _is_synthesized(path):
        return [_studied(row) for row in read_rows(path)]
    if COUNTS not in labels:
        return [Studied(pair) for pair in files.read_pairs(path).pairs]
    raters: dict[Pair, list[list[float]]] = {}
    for pair, counts in _rated_rows(path):
        raters.setdefault(pair, []).append(counts)
    return [Studied(pair, "", _counted(counts)) for pair, counts in raters.items()]


def _is_synthesized(path: str) -> bool:
    from pyarrow import ArrowException, parquet

    try:
        return path.endswith(".parquet") and set(Row._fields) <= set(parquet.read_schema(path).names)
    except (ArrowException, OSError):
        return False  # whoever reads it says what is wrong with it


def _studied(row: Row) -> Studied:
    counted = Counted(*(tuple(map(_rounded, counts)) for counts in (row.significant, row.insignificant)))
    return Studied(Pair(row.reference, row.candidate), row.split, counted)


def _rated_rows(path: str) -> Iterator[tuple[Pair, list[float]]]:
    """Yields the pair of each row, and its errors: of each category all, then of each the significant ones."""
    kinds = [category.value for category in CATEGORIES]
    names = [*kinds, *(kind + SUFFIX for kind in kinds)]
    for unit, number, row in files.rows_of(path, ("reference", "candidate", *CONTEXT_KEYS, *names)):
        where = f"{path}, {unit} {number}"
        if all(row.get(name) is None for name in names):
            raise InputError(f"{where} counts no errors; labels=counts needs the columns {', '.join(kinds)}.")
        for name in ("reference", "candidate"):
            check_report(row.get(name), f"{where}, column {name!r}")
        context = parse_context({key: row[key] for key in CONTEXT_KEYS if key in row}, where)
        total = [_count(row.get(kind), f"{where}, column {kind!r}", 0.0) for kind in kinds]
        significant = [
            _count(row.get(kind + SUFFIX), f"{where}, column {kind + SUFFIX!r}", count)
            for kind, count in zip(kinds, total, strict=True)
        ]
        yield Pair(row["reference"], row["candidate"], context), [*total, *significant]


def _count(value: Any, where: str, missing: float) -> float:
    if value is None or value == "":
        return missing
    try:
        count = float(value)
    except (TypeError, ValueError):
        count = math.nan
    if not 0 <= count < 1000:
        raise InputError(f"{where} is {value!r}; it must be a number of errors of at least 0.")
    return count


def _counted(raters: Sequence[Sequence[float]]) -> Counted:
    """The mean over raters, to whole errors."""
    means = [_rounded(sum(counts) / len(raters)) for counts in zip(*raters, strict=True)]
    total, significant = means[: len(CATEGORIES)], means[len(CATEGORIES) :]
    both = [(min(part, whole), max(whole - part, 0)) for whole, part in zip(total, significant, strict=True)]
    return Counted(*map(tuple, zip(*both, strict=True)))


def _rounded(count: float) -> int:
    return math.floor(count + 0.5)


# --- replies


def _replies(protocol: Any, studied: Sequence[Studied], labels: Sequence[str]) -> tuple[list[str | None], str]:
    """The reply about each pair, None where there is none; and whose they are."""
    pairs = [each.pair for each in studied]
    if labels == (READER,):
        return list(map(protocol.written, _bundled(protocol, pairs))), "the bundled judge's verdicts"
    if labels == (COUNTS,):
        return _of_counts(protocol, studied), "errors as the files of pairs count them"
    paths = [Path(label.removeprefix(REPLIES)) for label in labels]
    answers = {key: record.answer for path in paths for key, record in ReplyFile.read(path).records.items()}
    found = [answers.get((prompt.protocol, prompt.sha256)) for pair in pairs for prompt in protocol.prompts(pair)]
    if not any(found):
        raise InputError(
            f"{', '.join(map(str, paths))}: no reply is to a question of {protocol.name} about these pairs; record "
            f"them with `rrgmetrics judge PAIRS --metrics {protocol.name}@... --record FILE`."
        )
    return [answer.text if answer else None for answer in found], f"recorded: {', '.join(p.name for p in paths)}"


def _bundled(protocol: Any, pairs: Sequence[Pair]) -> list[Any]:
    """The bundled judge's verdicts, of whole errors: a reply has no form for what is left out, a part of one."""
    compared = ComparedPairs(engine="reader").annotate_pairs(pairs)
    whole = [replace(each, comparison=each.comparison.whole) for each in compared]
    return [protocol.from_comparison(pair, each) for pair, each in zip(pairs, whole, strict=True)]


def _of_counts(protocol: Any, studied: Sequence[Studied]) -> list[str | None]:
    """Replies that say the counts; GREEN's matched findings, which raters do not count, are the bundled judge's."""
    bundled = _bundled(protocol, [each.pair for each in studied])
    return [
        None if each.counted is None else protocol.written(replace(verdict, **_errors(each.counted)))
        for each, verdict in zip(studied, bundled, strict=True)
    ]


def _errors(counted: Counted) -> dict[str, Errors]:
    return {name: Errors(counts) for name, counts in counted._asdict().items()}


def _example(protocol: Any, pair: Pair, reply: str | None, left_out: Counter[str]) -> Example | None:
    if reply is None:
        left_out["there is no verdict"] += 1
        return None
    try:
        verdict = protocol.verdict(pair, [reply])
    except VerdictError:
        left_out["the recorded reply cannot be parsed"] += 1
        return None
    (prompt,) = protocol.prompts(pair)
    return Example(pair, prompt, reply, count_errors(verdict))


def count_errors(verdict: Any) -> int:
    """Returns how many errors a verdict of any of the protocols counts, significant or not."""
    if hasattr(verdict, "evaluation"):
        return sum(len(each) for each in verdict.evaluation["errors"].values())
    return sum(each.total for each in (verdict.significant, verdict.insignificant) if each)


# --- tokens


def token_rows(
    examples: Iterable[Example], tokenizer: Any, *, raw: bool, max_length: int, left_out: Counter[str]
) -> dict[str, list[list[int]]]:
    """Returns questions with replies as tokens, asked exactly as the engines ask; only the reply has labels.

    Args:
        examples: The rows.
        tokenizer: Of the model.
        raw: Whether the model is asked without a chat template.
        max_length: Longer rows are left out.
        left_out: Counts them.

    Returns:
        Columns `input_ids` and `labels`, one list a row.
    """
    columns: dict[str, list[list[int]]] = {"input_ids": [], "labels": []}
    for example in examples:
        asked = prompt_ids(tokenizer, example.prompt, raw=raw)
        said = tokenizer(example.reply, add_special_tokens=False)["input_ids"] + ending(tokenizer, example, raw=raw)
        if len(asked) + len(said) > max_length:
            left_out[f"longer than {max_length:,} tokens"] += 1
            continue
        columns["input_ids"].append(asked + said)
        columns["labels"].append([IGNORED] * len(asked) + said)
    return columns


def ending(tokenizer: Any, example: Example, *, raw: bool) -> list[int]:
    """Returns the tokens that end a reply: what the chat template writes behind it, else the end of the text."""
    behind = "" if raw else _behind(tokenizer, example)
    tokens = list(tokenizer(behind, add_special_tokens=False)["input_ids"]) if behind else []
    return tokens if 0 < len(tokens) <= LONGEST_END else [tokenizer.eos_token_id]


def _behind(tokenizer: Any, example: Example) -> str:
    turns = [message._asdict() for message in example.prompt.messages]
    turns.append({"role": "assistant", "content": example.reply})
    try:
        whole: str = tokenizer.apply_chat_template(turns, tokenize=False)
    except Exception:  # a template without a system turn, as in write_chat: the reply ends as a text does
        return ""
    asked = write_chat(tokenizer, example.prompt.messages)
    return whole.removeprefix(asked).removeprefix(example.reply).strip() if whole.startswith(asked) else ""
