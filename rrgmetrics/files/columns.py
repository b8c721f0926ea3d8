"""Which column of a source holds what: by the names that we use, or by those that a user gives.

What a column holds is its *field*: `study_id`, `reference`, `candidate` (or `report`), `age`, `sex`, `indication`,
`prior`.
"""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import COLUMNS, separated_by
from rrgmetrics.files.labels import some
from rrgmetrics.reports import CONTEXT_KEYS, Context, describe, parse_context
from rrgmetrics.utils.printable import columns_option
from rrgmetrics.utils.text_format import by_number, did_you_mean, listed

MOST = 4  # columns that a message suggests
_SENTENCE = re.compile(r"[^\W\d]{4,}\.(?:\s|$)|^\S+(?:\s+\S+){11}")  # of a report, in the place of a column's name
_IN_PYTHON = re.compile(r"pairs|predictions|references|systems\[.*\]")  # how messages call what is no file
logger = logging.getLogger("rrgmetrics")
Columns = Mapping[str, str] | None
_used: ContextVar[Collection[str]] = ContextVar("used", default=CONTEXT_KEYS)
_pending: ContextVar[list[_Taken] | None] = ContextVar("pending", default=None)

_GENERATED = tuple("prediction predictions predict pred hypothesis hyp generated generated_report output".split())
_WRITTEN = ("ground_truth", "gt", "target", "gold", "label", "references", "reference_report", "original")
# Words of a column's name that say what it holds: `findings_gt` and `GT report` are references.
_WORDS = {
    "reference": frozenset("gt truth ref reference references target gold radiologist".split()),
    "candidate": frozenset(
        "pred preds predict prediction predictions predicted hyp hypothesis generated candidate candidates "
        "output".split()
    ),
    "study_id": frozenset("id uid accession".split()),
}
_WORDS["report"] = _WORDS["candidate"]
# Whole names that say it where no column has such a word.
_NAMES = {
    "reference": frozenset({"report", "reports", "text", "report_text", "findings", "impression", "original"}),
    "candidate": frozenset({"report", "reports", "text", "report_text", "findings", "impression"}),
    "report": frozenset({"reports", "text", "report_text", "findings", "impression"}),
    "study_id": frozenset({"id", "uid", "study", "studyid", "exam_id", "accno", "accnr", "volume_name"}),
}
# All words that a column of study ids may have: `dicom_accession` is one, `patient_id` and `model_id` are none.
_NUMBER = frozenset("no nr num number nummer".split())
_NUMBERED = frozenset("acc case exam examination order report request study".split())  # `AccNr`, `case_number`
_OF_IDS = (
    _WORDS["study_id"] | _NUMBER | _NUMBERED | frozenset("dicom image instance question row sample sop volume".split())
)
# Words of columns that hold no report.
_OTHER = frozenset(
    "id ids label labels score scores path file date time length count name split class prompt instruction metadata "
    "age sex gender".split()
)
# What other tools call a column that is missing here, for the message only.
RENAMES = {
    "reference": (*_WRITTEN, "report", "text"),
    "candidate": (*_GENERATED, "report", "text"),
    "report": (*_GENERATED, "text", "report_text", "reports", *_WRITTEN),
}


_SYSTEMS = ("system", "model", "method", "pairing")  # what a column that names the system of a row is called


class Needed(tuple[str, ...]):
    """Columns that a reader of files needs: the named ones, and those that may be picked by their names' words."""

    __slots__ = ()

    @classmethod
    def of(cls, columns: Columns, beside: Sequence[str] = ()) -> Needed:
        """The columns of all fields, by our names and by those that a user gave, and those `beside` them."""
        return cls((*COLUMNS, *(columns or {}).values(), *beside))

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name) or not isinstance(name, str):
            return super().__contains__(name)
        return any(has_word(name, field) or _has_name(name, field) for field in _WORDS)


def check_columns(columns: Columns) -> dict[str, str]:
    """Checks what a user calls the columns.

    Args:
        columns: Column by field, such as `{"reference": "ground_truth"}`; None: all are called as their fields. "" for
            a field of contexts leaves it out.

    Raises:
        InputError: An unknown field, with the nearest one; a column that is no text, or that has two fields.
    """
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InputError(f"columns is {describe(columns)}; pass a dict, such as {{'reference': 'ground_truth'}}.")
    for field, column in columns.items():
        if field not in COLUMNS:
            near = did_you_mean(str(field), COLUMNS)
            raise InputError(f"columns has the key {field!r}; its keys are {', '.join(COLUMNS)}.{near}")
        if column == "" and field in CONTEXT_KEYS:
            continue  # to leave a column out
        if not isinstance(column, str) or not column:
            raise InputError(f"columns[{field!r}] is {describe(column)}; pass the name of a column.")
        if (other := next(key for key, value in columns.items() if value == column)) != field:
            raise InputError(
                f"columns names {column!r} for {other!r} and for {field!r}; a column can have only one field."
            )
    return dict(columns)


def pick_columns(
    found: Collection[str],
    wanted: Sequence[tuple[str, ...]],
    columns: Mapping[str, str],
    where: str,
    *,
    optional: Collection[str] = (),
) -> dict[str, str]:
    """Returns the column of each field that a source has.

    Args:
        found: Its columns.
        wanted: Fields of texts; of each tuple it must have exactly one.
        columns: Names that a user gave, by field.
        where: The source, for messages.
        optional: Fields that it may lack.

    A field that no column is called by, and the user has not named, is looked for by the words of the columns' names
    (`findings_gt`, `hyp`); it is taken if exactly one column fits.

    Raises:
        InputError: A column is missing, doubled, or spelt otherwise; with the columns found and a way out.
    """
    used = [] if {*CONTEXT_KEYS} <= {*optional} else [key for key in used_context() if key not in columns]
    needed = [fields for fields in wanted if fields[0] not in optional]
    respelt = respelt_columns(found, columns, ("study_id", *(fields[0] for fields in needed), *used))
    _check_spelling(found, {**respelt, **columns}, where, used)
    user_named = columns
    columns = {**obvious_columns(found, needed, {**respelt, **columns}), **respelt, **columns}
    names = {field: columns.get(field, field) for field in COLUMNS}
    chosen: dict[str, str] = {}
    for fields in wanted:
        given = [field for field in fields if field in columns and names[field] in found]
        there = given or [field for field in fields if field not in columns and field in found]
        if len(there) > 1:
            raise InputError(f"{where} has the columns {some(there)}; keep only the column with the reports.")
        if not there and fields[0] not in optional:
            others = [each[0] for each in wanted if not {*each, *optional} & {fields[0], *optional, *columns, *found}]
            # Beside another file, which may call its ids otherwise, an option must not repeat what was found by name.
            named = columns if len(fields) == 1 else user_named
            raise InputError(_missing(found, fields, named, where, others))
        chosen |= {field: names[field] for field in there}
    for field in ("study_id", *CONTEXT_KEYS):
        if not names[field]:
            continue
        if names[field] in found:
            chosen[field] = names[field]
        elif field in columns and field not in optional:
            raise InputError(_missing(found, (field,), columns, where))
    return chosen


def announce_columns(picked: Mapping[str, str], columns: Mapping[str, str], where: str) -> None:
    """Logs which columns were taken though neither the user nor their names said so, with the way to say it.

    Args:
        picked: As `pick_columns` returns it.
        columns: Names that a user gave, by field.
        where: The source.
    """
    taken = {field: column for field, column in picked.items() if column != columns.get(field, field)}
    if taken:
        pending = _pending.get()
        (_log_taken if pending is None else pending.extend)([_Taken(where, taken, columns)])


@contextmanager
def use_context(fields: Collection[str]) -> Iterator[None]:
    """Ignores, while it lasts, what cannot be read of columns of the patient's context but these.

    Args:
        fields: The fields of contexts that can change a score (`rrgmetrics.specs.names.context_of`).
    """
    token = _used.set(fields)
    try:
        yield
    finally:
        _used.reset(token)


def used_context() -> Collection[str]:
    """The fields of contexts that can change a score, as `use_context` says; all of them outside of it."""
    return _used.get()


def context_in(row: Mapping[str, Any], fields: Mapping[str, str], where: str) -> Context:
    """Reads the context of a row.

    Args:
        row: Its cells by column.
        fields: The column of each field of contexts that it has.
        where: The row, for messages.

    Raises:
        InputError: A value that can change a score cannot be read; with the option that leaves its column out.
    """
    cells = {field: row[column] for field, column in fields.items()}
    try:
        return parse_context(cells, where)
    except InputError:
        readable = {field: cell for field, cell in cells.items() if _is_readable(field, cell, fields[field], where)}
        return parse_context(readable, where)


def _is_readable(field: str, cell: Any, column: str, where: str) -> bool:
    """Whether a value can be read; InputError if it cannot, and can change a score."""
    try:
        parse_context({field: cell}, where)
    except InputError as error:
        if field in used_context():
            raise InputError(f"{error} {written({field: ''})} leaves the column {column!r} out.") from None
        return False
    return True


@contextmanager
def announced_together() -> Iterator[None]:
    """Logs in one line what `announce_columns` has to say of all sources that are read in a call."""
    pending: list[_Taken] = []
    token = _pending.set(pending)
    try:
        yield
    finally:
        _pending.reset(token)
        _log_taken(pending)


class _Taken(NamedTuple):
    """The columns of a source that were taken by their names, by field, beside those that the user named."""

    where: str
    taken: Mapping[str, str]
    columns: Mapping[str, str]


def _log_taken(pending: Sequence[_Taken]) -> None:
    """Logs a line for all sources, with the option that says the same where one option can name all their columns."""
    by_columns: dict[str, list[str]] = {}
    option: dict[str, str] = {}
    is_one_option = True
    for where, taken, columns in pending:
        said = ", ".join(f"{field} is column {column!r}" for field, column in taken.items())
        by_columns.setdefault(said, []).append(where)
        is_one_option &= all(option.get(field, column) == column for field, column in taken.items())
        option |= {**columns, **taken}
    if by_columns:
        said = "; ".join(f"{listed([*dict.fromkeys(names)])}: {text}" for text, names in by_columns.items())
        logger.warning("%s, by name%s", said, f"; same as {written(option)}" if is_one_option else "")


def written(columns: Mapping[str, str]) -> str:
    """Columns as an argument of Python; the command line shows it as its option (`rrgmetrics.utils.printable`).

    Example:
        >>> written({"reference": "findings_gt"})
        "columns={'reference': 'findings_gt'}"
    """
    return f"columns={dict(columns)}"


def obvious_columns(
    found: Collection[str], wanted: Sequence[tuple[str, ...]], columns: Mapping[str, str]
) -> dict[str, str]:
    """The column of each field that is missing, where exactly one column fits by its name.

    Args:
        found: The columns of a source.
        wanted: Fields of texts, as `pick_columns` takes them.
        columns: Names that a user gave, by field.
    """
    fields = [
        each[0]
        for each in (*wanted, ("study_id",))
        if not any(columns.get(field, field) in found or field in columns for field in each)
    ]
    taken = {"study_id", *CONTEXT_KEYS, *columns.values(), *(field for each in wanted for field in each)}
    left = [name for name in found if name not in taken and not separated_by(name)]
    chosen: dict[str, str] = {}
    for fits in (has_word, _has_name):
        open_fields = [field for field in fields if field not in chosen]
        fitting = {field: [name for name in left if fits(name, field)] for field in open_fields}
        for field, names in fitting.items():
            alone = [name for name in names if sum(name in others for others in fitting.values()) == 1]
            if len(names) == 1 == len(alone):
                chosen[field] = names[0]
        left = [name for name in left if name not in chosen.values()]
    return chosen


def fitting_columns(found: Collection[str], missing: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """The columns that a user may name for missing fields: those given, and the likeliest of each missing field.

    Args:
        found: The columns of a source.
        missing: Fields that it lacks.
        columns: Names that a user gave, by field.

    Example:
        >>> fitting_columns(["exam", "generated"], ["report"], {"study_id": "exam"})
        {'study_id': 'exam', 'report': 'generated'}
    """
    fitting = {field: column for field, column in columns.items() if column in found}
    for field in missing:
        left = [name for name in found if name not in fitting.values() and name not in COLUMNS]
        if alike := _alike(left, field):
            fitting[field] = alike[0]
    return fitting


def respelt_columns(found: Collection[str], columns: Mapping[str, str], fields: Collection[str]) -> dict[str, str]:
    """The column of each field that is spelt otherwise (`Age`, `Study_ID`, ` report`), where exactly one is.

    Args:
        found: The columns of a source.
        columns: Names that a user gave, by field.
        fields: Those that are looked for, of which a source may have some as they are.
    """
    left = [name for name in found if name not in columns.values()]
    open_fields = [field for field in fields if field not in (*columns, *found)]
    respelt = {field: [name for name in left if _as_field(name) == field] for field in open_fields}
    return {field: names[0] for field, names in respelt.items() if len(names) == 1}


def id_column(found: Collection[str], wanted: Sequence[tuple[str, ...]], columns: Mapping[str, str]) -> str:
    """The column of ids: `study_id`, the one that the user named, or the only one with such a name; "" if none.

    Args:
        found: The columns of a source.
        wanted: Fields of texts, as `pick_columns` takes them.
        columns: Names that a user gave, by field.
    """
    named = {**respelt_columns(found, {}, ("study_id",)), **columns}.get("study_id", "study_id")
    return named if named in found else obvious_columns(found, wanted, columns).get("study_id", "")


def check_header(found: Collection[str], fields: Sequence[str], where: str) -> None:
    """Raises InputError if a report is in the place of a column's name, with the line of names to write.

    Args:
        found: The columns of a source, of which some are missing.
        fields: What the columns could be called, less the ids.
        where: The source.
    """
    texts = [name for name in found if _SENTENCE.search(name)]
    if texts and not {*found} & {*COLUMNS}:  # beside `study_id` a long name is a question of a survey
        names = [*["study_id"] * (len(found) > len(fields)), *fields]
        raise InputError(
            f"{where} has no names of columns: its first line has the text {some(texts[:1])}; write a line above it, "
            f"such as {','.join(names)}."
        )


def reports_of_systems(names: Sequence[str]) -> list[str]:
    """The columns whose names do not say that they hold ids, labels or the like.

    Example:
        >>> reports_of_systems(["case_id", "maira", "libra", "split"])
        ['maira', 'libra']
    """
    others = _OTHER | (_OF_IDS - _NUMBER)
    return [name for name in names if not {*_words(name)} & others and not has_word(name, "study_id")]


def system_columns(found: Iterable[str]) -> list[str]:
    """The columns that name the system of each row, by their names."""
    return [name for name in found if name.strip().lower() in _SYSTEMS]


def _words(name: str) -> list[str]:
    """The words of a column's name; none of a report in the place of a name."""
    if _SENTENCE.search(name):
        return []
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower())


def has_word(name: str, field: str) -> bool:
    """Whether a word of a column's name says that it holds this field, and none that it holds something else."""
    words = {*_words(name)}
    if field == "study_id":
        return words <= _OF_IDS and bool(words & _WORDS[field] or (words & _NUMBER and words & _NUMBERED))
    return bool(words & _WORDS[field]) and not words & _OTHER


def _has_name(name: str, field: str) -> bool:
    return "_".join(_words(name)) in _NAMES[field]


def _as_field(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _check_spelling(found: Collection[str], columns: Mapping[str, str], where: str, used: Collection[str]) -> None:
    for name in found:
        near = _as_field(name)
        if near in CONTEXT_KEYS and (near not in used or near in found):
            continue
        if near in COLUMNS and name not in COLUMNS and near not in columns and name not in columns.values():
            raise InputError(
                f"{where} has a column {name!r}; rename it to {near!r}, or name it: {written({near: name})}."
            )


def _missing(
    found: Collection[str], fields: Sequence[str], columns: Mapping[str, str], where: str, others: Sequence[str] = ()
) -> str:
    """What is missing, what is there, and a way out, which names the columns of `others`, missing too, at once."""
    named = [field for field in fields if field in columns]
    needed = " or ".join(repr(columns.get(field, field)) for field in named or fields)
    said = f"{where} has no column {needed}; it has: {some(found)}."
    check_header(found, [fields[0], *others], where)
    if len(found) == 1 and (marks := separated_by(next(iter(found)))):
        return f"{said} Its cells are separated by {marks}; use commas."
    if named and (meant := did_you_mean(columns[named[0]], found)):
        return said + meant
    if named == ["report"] and fields[0] == "reference":
        theirs = {"candidate" if field == "report" else field: column for field, column in columns.items()}
        return f"{said} If it is a column of a system's file, name it as candidate: {written(theirs)}."
    if named and "report" in fields:
        return (
            f"{said} Names of columns hold for every file: rename the column in this one, or join the systems in one "
            "table, with a column for each: rrgmetrics compare TABLE --systems COLUMN COLUMN."
        )
    if named == ["study_id"] and (own := id_column(found, [], {})):
        return (
            f"{said} Names of columns hold for every file: leave out study_id={columns['study_id']}, and the column of "
            f"ids is found by its name in each file (here {own!r})."
        )
    if named:
        return said
    return f"{said} {_way_out(found, fields, columns, where, others)}".strip()


def _way_out(
    found: Collection[str], fields: Sequence[str], columns: Mapping[str, str], where: str, others: Sequence[str]
) -> str:
    """The columns to name, with the columns that may be meant."""
    field = "candidate" if "candidate" in fields else fields[0]  # a `report` may be the references' too
    left = [name for name in found if name not in columns.values() and name not in COLUMNS]
    near = _near(left, field)
    if not near and field == "reference":
        return (
            "If the radiologists' reports are in another file, name it: --references FILE, and the system's "
            "--predictions FILE (`score`) or --systems FILE (`compare`)."
        )
    if not near:
        return did_you_mean(field, found).strip()
    options = [{**columns, field: name} for name in near[:MOST]]
    for option in options:
        for other in others:
            unused = [name for name in left if name not in option.values()]
            option.update((other, name) for name in _near(unused, other)[:1])
    one = by_number(len(options[0]) - len(columns), "one", "ones")
    said = f"Name the right {one}: {' or '.join(map(written, options))}."
    is_file = not _IN_PYTHON.fullmatch(where)
    may_be_systems = len(near) > 1 and field in ("report", "candidate") and is_file
    if not may_be_systems or columns.get("reference", "reference") not in found:
        return said
    table = where if re.fullmatch(r"[\w./-]+", where) else "TABLE"
    named = f" --columns {columns_option(columns)}" if columns else ""
    systems = " ".join(map(shlex.quote, near))
    return f"{said} If each is a system, run: rrgmetrics compare {table} --systems {systems}{named}."


def _near(left: Sequence[str], field: str) -> list[str]:
    """The columns that may be meant by a field, by their names; all of them where no name says it."""
    texts = [name for name in left if not {*_words(name)} & _OTHER]
    return _alike(left, field) or reports_of_systems(left) or texts or list(left)


def _alike(left: Sequence[str], field: str) -> list[str]:
    """The columns whose names say that they may hold a field."""
    near = [name for name in left if _as_field(name) == field] or [name for name in left if has_word(name, field)]
    near = near or [name for name in left if _has_name(name, field)]
    return near or [name for name in left if name.strip().lower() in RENAMES.get(field, ())]
