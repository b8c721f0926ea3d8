"""Checks pairs of reports and their patient contexts before scoring."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple, TypeGuard

from rrgmetrics.errors import InputError
from rrgmetrics.reports.missing import is_missing as is_missing
from rrgmetrics.reports.missing import says_nothing
from rrgmetrics.utils.text_format import counted

MAX_CHARACTERS = 100_000  # a chest X-ray report has some 500; beyond this a file was read as one report
CONTEXT_KEYS = ("age", "sex", "indication", "prior")
YEARS_PER_UNIT = {"y": 1.0, "m": 1 / 12, "w": 7 / 365.25, "d": 1 / 365.25, "h": 1 / 8766}  # DICOM PS3.5, AS; and hours
_UNITS = "y|years?|yrs?|yo|m|months?|mos?|w|weeks?|wks?|d|days?|h|hours?|hrs?"
_AGE = re.compile(rf"(?:(\d{{1,3}}(?:\.\d+)?)[\s-]*({_UNITS})?(?:[\s-]*old)?)?")
_DICOM_AGE = re.compile(r"\d{3}[DWMY]")  # PS3.5, AS
AGES = ("072Y", "019M", "3W", "3D", "5 months", "25")  # as messages show how they are written
SEXES = {"f": "F", "female": "F", "m": "M", "male": "M", "o": "O", "other": "O", "": ""}


class Context(NamedTuple):
    """The patient's context.

    Attributes:
        age: In years; None if unknown.
        sex: F, M, O or "".
        indication: Why the image was taken; "" if unknown.
        prior: The report of the study before, which supports comparisons; "" if unknown.
    """

    age: float | None = None
    sex: str = ""
    indication: str = ""
    prior: str = ""

    @property
    def typed_age(self) -> str | None:
        """The age as DICOM's text has it, where `dicom_age` would write it otherwise: "030M", or "" (blank)."""
        return None


class TypedContext(Context):
    """A context that remembers how its age was typed; it equals one that does not."""

    _typed_age: str

    @classmethod
    def of(cls, context: Context, typed_age: str) -> TypedContext:
        """Returns the context with its age as it was typed."""
        typed = cls(*context)
        typed._typed_age = typed_age
        return typed

    @property
    def typed_age(self) -> str | None:
        """The age as it was typed; None for a copy with other fields."""
        return vars(self).get("_typed_age")


class Pair(NamedTuple):
    """One radiologist's report, one candidate report, and the patient's context."""

    reference: str
    candidate: str
    context: Context = Context()


def count_distinct(sets: Iterable[Sequence[Pair]]) -> int:
    """The pairs that are scored of several lists: equal ones of a list once."""
    return sum(len(set(pairs)) for pairs in sets)


def distinct_texts(pairs: Iterable[Pair]) -> list[str]:
    """Returns the references and candidates of pairs, each distinct text once, in order."""
    return list(dict.fromkeys(text for pair in pairs for text in pair[:2]))


def check_pairs(
    predictions: Any, references: Any, contexts: Any = None, *, start: int = 0, name: str = "predictions"
) -> list[Pair]:
    """Checks that two lists of reports can be scored against each other.

    Args:
        predictions: The system's reports, one a study; a missing one is "" (`rrgmetrics.reports.missing`). A list, or a
            column of a frame or table. Each may be in a list of its own, as `evaluate`'s `bleu` has references.
        references: The radiologists' reports, in the same order.
        contexts: One dict a pair with any of `age`, `sex`, `indication`, `prior`; or None.
        start: Index of the first pair, for messages of a caller who checks in batches.
        name: What the caller calls the predictions, for messages.

    Returns:
        The pairs, in order.

    Raises:
        InputError: Not lists, no pairs, different lengths, or an element that is not a report; names list and index.
    """
    columns = {name: _column(predictions, name), "references": _column(references, "references")}
    n_predictions, n_references = (len(column) for column in columns.values())
    if n_predictions != n_references:
        raise InputError(
            f"{name} has {counted(n_predictions, 'report')} and references has {n_references:,}; pass one of each "
            "for every study."
        )
    if not n_references:
        raise InputError(f"There are no pairs to score: {name} and references are empty lists.")
    texts = {
        each: [_report_in(column[index], f"{each}[{start + index}]") for index in range(n_references)]
        for each, column in columns.items()
    }
    parsed = check_contexts(contexts, n_references, start=start)
    return [Pair(*row) for row in zip(texts["references"], texts[name], parsed, strict=True)]


def report_of(value: Any, where: str) -> str:
    """Returns the report of a cell: its text, "" for a missing one (`rrgmetrics.reports.missing`)."""
    if is_missing(value):
        return ""
    check_report(value, where)
    return "" if says_nothing(value) else value


def _report_in(value: Any, where: str) -> str:
    """The report of a cell, which may be alone in a list: `references=[[text], [text]]`."""
    if isinstance(value, list | tuple):
        if len(value) != 1:
            raise InputError(
                f"{where} is a list of {len(value)}; each study has one report here: pass a string for each study, "
                "or a list with one string."
            )
        value = value[0]
    return report_of(value, where)


def check_report(text: Any, where: str) -> None:
    """Raises InputError, naming `where`, unless `text` is a report: a string of at most MAX_CHARACTERS."""
    if not isinstance(text, str):
        raise InputError(f"{where} is {describe(text)}; pass a string for each report{_string_in(text)}.")
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"{where} has {len(text):,} characters, and the limit for a report is {MAX_CHARACTERS:,}; does it "
            "contain a whole file?"
        )
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{where} holds half a character (a lone surrogate) at position {error.start}; decode the text again."
            ) from None


def _string_in(value: Any) -> str:
    """Which string of a value a report may be, for a message."""
    last = value[-1] if isinstance(value, list | tuple) and value else None
    if isinstance(last, Mapping) and "content" in last:
        return ": the 'content' of its last message"
    return ": one text of the list" if isinstance(last, str) else " ('' for an empty one)"


def readable_part(text: str) -> str:
    r"""What metrics read of a text that a model wrote, so that none stops a training.

    Its first MAX_CHARACTERS, without half characters (lone surrogates).

    Example:
        >>> readable_part("Small effusion\ud800.")
        'Small effusion.'
    """
    return text[:MAX_CHARACTERS].encode(errors="ignore").decode()


def parse_age(value: Any) -> float | None:
    """Reads a patient's age in years from `"072Y"`, `"019M"`, `"3W"`, `"3D"`, `"5 months"`, `"25"`, 25, `""` or None.

    Example:
        >>> parse_age("018M")
        1.5
    """
    if is_missing(value):
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        years = float(value)
    else:
        match = _AGE.fullmatch(str(value).strip().lower())
        if match is None or isinstance(value, bool):
            raise InputError(f"age {value!r} is not an age; write {', '.join(map(repr, AGES))} or ''.")
        if match[1] is None:
            return None
        years = float(match[1]) * YEARS_PER_UNIT[(match[2] or "y")[0]]
    if not 0 <= years <= 150:
        raise InputError(f"age {value!r} is {years:g} years; it must lie between 0 and 150.")
    return years


def parse_context(value: Any, where: str = "context") -> Context:
    """Reads one patient's context; raises InputError naming `where` for unknown keys and unreadable values."""
    if value is None:
        return Context()
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {describe(value)}; pass a dict with any of {', '.join(CONTEXT_KEYS)}, or None.")
    unknown = [key for key in value if key not in CONTEXT_KEYS]
    if unknown:
        raise InputError(f"{where} has the key {unknown[0]!r}; the keys of a context are {', '.join(CONTEXT_KEYS)}.")
    typed = value.get("age")
    value = {key: None if is_missing(cell) else cell for key, cell in value.items()}
    indication = value.get("indication") or ""
    check_report(indication, f"{where}['indication']")
    prior = value.get("prior") or ""
    check_report(prior, f"{where}['prior']")
    sex = str(value.get("sex") or "").strip().lower()
    if sex not in SEXES:
        raise InputError(f"{where}['sex'] is {value['sex']!r}; write F, M, O or ''.")
    try:
        context = Context(parse_age(value.get("age")), SEXES[sex], indication, prior)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return TypedContext.of(context, typed) if _is_typed_otherwise(typed, context.age) else context


def _is_typed_otherwise(value: Any, years: float | None) -> TypeGuard[str]:
    """Whether an age is blank, or has DICOM's form and other words than `dicom_age`."""
    if not isinstance(value, str):
        return False
    return not value if years is None else bool(_DICOM_AGE.fullmatch(value)) and value != dicom_age(years)


def dicom_age(years: float) -> str:
    """An age as DICOM writes it: in years, in months below two years, and in days below a month.

    Example:
        >>> dicom_age(72.0), dicom_age(1.5)
        ('072Y', '018M')
    """
    months = years * 12
    number, unit = (years, "Y") if years >= 2 else (months, "M") if months >= 1 else (years * 365.25, "D")
    return f"{round(number):03d}{unit}"


def check_contexts(contexts: Any, n_pairs: int, *, start: int = 0) -> list[Context]:
    """Reads one context a pair; raises InputError that names the first one that cannot be read."""
    if contexts is None:
        return [Context()] * n_pairs
    column = _column(contexts, "contexts", of="dicts, one for each pair, such as [{'age': 60}, None]")
    if len(column) != n_pairs:
        raise InputError(
            f"contexts has {len(column)} entries for {n_pairs} pairs; pass one dict (or None) for each pair."
        )
    return [parse_context(value, f"contexts[{start + index}]") for index, value in enumerate(column)]


def columns_of(table: Any) -> list[str] | None:
    """The names of the columns of a frame, table or data set; None for anything else."""
    if hasattr(table, "collect_schema"):  # polars: a lazy frame warns where its columns are asked for
        return list(table.collect_schema().names())
    names = getattr(table, "column_names", None)
    names = getattr(table, "columns", None) if names is None else names
    return None if names is None or callable(names) else list(names)


def listed_values(column: Any) -> Iterable[Any]:
    """The values of a list, an array or a column of any library, as Python has them."""
    values: Iterable[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column
    return values


def _column(values: Any, name: str, *, of: str = "reports") -> Sequence[Any]:
    if (names := columns_of(values)) is not None:
        some = ", ".join(map(repr, names[:5]))
        raise InputError(
            f"{name} is a table with the columns {some}; pass one of them, such as {name}=table['report']."
        )
    values = listed_values(values)
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        raise InputError(f"{name} is {describe(values)}; pass a list of {of}.")
    return values if isinstance(values, list | tuple) else list(values)


def describe(value: Any) -> str:
    """A value with its type, cut short, for a message."""
    if value is None:
        return "None"
    if is_missing(value):
        return "NaN (a missing value)"
    shown = repr(value)
    return f"{shown if len(shown) <= 40 else shown[:37] + '...'} ({type(value).__name__})"
