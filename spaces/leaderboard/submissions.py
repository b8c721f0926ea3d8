"""Checks of what a submitter sends: the form, and a file of `study_id, report`. All that is wrong is said at once.

Messages quote the submitter's own words, cut short, and ids of studies; never a reference. The file is read where it
lies and under the board's limits: nothing is unpacked, copied or kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, NotRequired, TypedDict
from urllib.parse import urlsplit

from rrgmetrics.errors import InputError
from rrgmetrics.files import Columns, Row, check_columns, rows_of
from rrgmetrics.files.columns import announce_columns, fitting_columns, obvious_columns, respelt_columns
from rrgmetrics.reports.missing import MissingReports, log_lines, says_nothing
from rrgmetrics.scoring.notice import warn_of_control_tokens
from rrgmetrics.spaces import identity
from rrgmetrics.spaces.leaderboard.model import Limits
from rrgmetrics.utils.printable import columns_option

HUB = "https://huggingface.co/"
SUFFIXES = (".csv", ".jsonl")
FIELDS = ("study_id", "report")
MAX_NAME, MAX_URL, MAX_TAG, MAX_TAGS = 80, 300, 30, 10
MOST_TAGS = 100  # that are looked at, to say how many are too many
NO_NAMES = ("null", "none", "nil", "undefined", "nan")
MAX_PROBLEMS = 50  # sentences of each kind of fault that are said; then their number
SHOWN = 5  # ids a sentence lists
ESCAPED, SPARE = 12, 50_000  # the longest line: every character of a report as two \\uXXXX, and what else it may hold

_HANDLE = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
HUB_ID = f"{_HANDLE}/{_HANDLE}"
_URL = re.compile(r"https?://[^\s<>\"'`\\^{|}]+", re.IGNORECASE)
_FORBIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_TAG = re.compile(r"[^\W_](?:[\w .+/-]*[\w+])?")


@dataclass(frozen=True)
class Form:
    """A submission's description, checked.

    Attributes:
        name: Of the system.
        name_key: Equal for names that differ in case or in what is not seen.
        submitter: Hub handle or URL, as typed.
        submitter_key: Equal for one submitter.
        submitter_url: Link.
        verified: Whether the submitter is the account that was logged in.
        model_card: Link, or "".
        model: Hub id, or "".
        tags: Without repetitions.
    """

    name: str
    name_key: str
    submitter: str
    submitter_key: str
    submitter_url: str
    verified: bool
    model_card: str
    model: str
    tags: tuple[str, ...]


NO_FORM = Form("", "", "", "", "", False, "", "", ())  # of a form that is not looked at


class Checked(NamedTuple):
    """Reports in the board's order, their checksum, and what must be corrected (then there are no reports)."""

    reports: list[str]
    sha256: str
    problems: list[str]


class Description(TypedDict):
    """What a submitter says of a submission.

    Attributes:
        name: Of the system, unique on the board.
        submitter: Hub handle (`user` or `org`) or http(s) URL.
        model_card: Hub id (`org/name`) or http(s) URL; may be "".
        tags: At most ten short words.
        verified: Whether the submitter is the account of the Hub that is logged in. Its limits are its own: what others
            type under its name does not count.
    """

    name: str
    submitter: str
    model_card: NotRequired[str]
    tags: NotRequired[Sequence[str]]
    verified: NotRequired[bool]


def check_form(
    *, name: Any, submitter: Any, model_card: Any = "", tags: Sequence[Any] | None = (), verified: bool = False
) -> tuple[Form, list[str]]:
    """Reads the form, of which any field may be missing (None); of use only if there are no problems."""
    name, submitter, model_card = (_text(value) for value in (name, submitter, model_card))
    lengths = ("name", name, MAX_NAME), ("submitter", submitter, MAX_URL), ("model card", model_card, MAX_URL)
    problems = [problem for length in lengths if (problem := _length_problem(*length))]
    if problems:  # said before anything else is looked at, which takes its time
        return NO_FORM, problems
    name = " ".join(unicodedata.normalize("NFC", name).split())
    problems += _name_problems(name)
    submitter_url = link(submitter, _HANDLE)
    if not submitter_url:
        problems.append(f"The submitter {_cut(submitter)} is neither a Hub handle, such as my-lab, nor an http(s) URL.")
    if fault := identity.mixed(submitter):
        problems.append(f"The submitter contains misleading characters: {fault}.")
    card_url = link(model_card, HUB_ID)
    if model_card and not card_url:
        problems.append(f"The model card {_cut(model_card)} is neither a Hub id (org/name) nor an http(s) URL.")
    looked_at = (_text(tag)[: MAX_TAG + 1].split() for tag in islice(tags or (), MOST_TAGS))
    kept = tuple(dict.fromkeys(filter(None, map(" ".join, looked_at))))
    problems += _tag_problems(kept)
    form = Form(
        name=name,
        name_key=identity.key(name),
        submitter=submitter,
        submitter_key=submitter_key(submitter_url),
        submitter_url=submitter_url,
        verified=verified,
        model_card=card_url,
        model=_hub_id(card_url),
        tags=kept,
    )
    return form, problems


def submitter_key(url: str) -> str:
    """Equal for one submitter, however the link is written.

    Example:
        >>> submitter_key("http://www.hf.co/Lab/") == submitter_key("https://huggingface.co/lab")
        True
    """
    address = re.sub(r"^https?://(www\.)?", "", identity.key(url)).rstrip("/")
    return re.sub(r"^hf\.co/", "huggingface.co/", address)


def link(text: str, hub_pattern: str) -> str:
    """The http(s) URL that a text is, or that it stands for on the Hub; "" if it is neither."""
    if re.fullmatch(hub_pattern, text):
        return HUB + text
    if len(text) > MAX_URL or not text.isprintable() or not _URL.fullmatch(text):
        return ""
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and "@" not in parts.netloc and (parts.port is None or parts.port > 0)
    except ValueError:
        return ""
    return text if has_host else ""


def shown_name(file: Path, filename: str) -> str:
    """What messages call a file: the last part of the submitter's name for it, printable and short."""
    last = PurePosixPath((filename or file.name).replace("\\", "/")).name
    printable = "".join(char for char in last if char.isprintable())
    return printable[-60:] or "the file"


def check_file(file: Path, filename: str, study_ids: Sequence[str], limits: Limits, columns: Columns = None) -> Checked:
    """Reads a submission's file against the board's studies; `columns`: what its columns are called.

    Columns are found by their names (`exam_id`; `prediction`, `Report`), as in other files of reports.

    Raises:
        InputError: `columns` names a field that no submission has.
    """
    named = check_columns(columns)
    if other := named.keys() - set(FIELDS):
        raise InputError(f"A submission has no {min(other)}; name the columns of {' and '.join(FIELDS)} only.")
    shown = shown_name(file, filename)
    if file.suffix.lower() not in SUFFIXES:
        return _refused(f"{shown} must be {' or '.join(SUFFIXES)}, plain text in UTF-8.")
    if not file.is_file():
        return _refused(f"{shown} does not exist, or is not a file.")
    if file.stat().st_size > limits.file_bytes:
        return _refused(f"{shown} is larger than {limits.file_bytes / 1e6:g} MB; send study_id and report only.")
    reader = _Reader(study_ids, limits, named)
    try:
        longest = ESCAPED * limits.report_characters + SPARE
        for where, number, row in rows_of(file, FIELDS, damaged=reader.damaged, longest=longest):
            if not reader.take(f"{shown}, {where} {number}", row):
                break
    except InputError as error:
        reader.stopped(str(error))
    announce_columns(dict(zip(FIELDS, reader.fields, strict=True)), named, shown)
    checked = reader.checked(shown, names_columns=_names_columns(file, reader.fields))
    if not checked.problems:
        _warn_of_reports(shown, checked.reports, study_ids)
    return checked._replace(problems=[problem.replace(str(file), shown) for problem in checked.problems])


def _warn_of_reports(shown: str, reports: Sequence[str], study_ids: Sequence[str]) -> None:
    """Logs, as `score` does, which reports are missing ("nan", "N/A") and which have control tokens."""
    missing = MissingReports("empty")
    missing.add({shown: [("-", "" if says_nothing(report) else report) for report in reports]}, study_ids)
    log_lines(missing.candidate_lines)
    warn_of_control_tokens({f"reports of {shown}": reports}, study_ids)


def _names_columns(file: Path, fields: Sequence[str]) -> bool:
    """Whether the first line of a CSV file names the columns of a submission."""
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        return set(fields) <= set(lines.readline(SPARE).strip().replace('"', "").split(","))


class _Reader:
    """Takes rows, remembers faults."""

    def __init__(self, study_ids: Sequence[str], limits: Limits, named: Mapping[str, str]) -> None:
        self._named = named
        self.fields = [named.get(field, field) for field in FIELDS]
        self._study_ids = study_ids
        self._known = set(study_ids)
        self._limits = limits
        self._reports: dict[str, str] = {}
        self._unknown: list[str] = []
        self._faults: list[str] = []
        self._n_rows = 0
        self._n_damaged = 0
        self._stopped = ""

    def take(self, where: str, row: Row) -> bool:
        """Reads one row; False if the rest need not be read."""
        self._n_rows += 1
        self.fields = self._columns_of(row)
        missing = {field: column for field, column in zip(FIELDS, self.fields, strict=True) if column not in row}
        if missing:
            columns = ", ".join(_cut(name) for name in list(row)[:SHOWN]) or "nothing"
            self.stopped(
                f"{where} has no {' and no '.join(missing.values())}; it has {columns}. "
                f"The columns are {', '.join(self.fields)}{self._option(row, list(missing))}."
            )
            return False
        if self._too_many():
            self.stopped(f"{where}: {self._too_many()}")
            return False
        study_id, report = (row[column] for column in self.fields)
        if isinstance(study_id, int) and not isinstance(study_id, bool):
            study_id = str(study_id)
        if isinstance(study_id, str) and study_id not in self._known:
            study_id = study_id.strip()
        if not isinstance(study_id, str):
            self._faults.append(f"{where}: study_id {_cut(study_id)} is not a text.")
        elif study_id not in self._known:
            self._unknown.append(study_id)
        elif study_id in self._reports:
            self._faults.append(f"{where}: study {_cut(study_id)} occurs twice; send each study once.")
        else:
            self._reports[study_id] = ""
            self._take_report(f"{where}, study {_cut(study_id)}", study_id, report)
        return True

    def _columns_of(self, row: Row) -> list[str]:
        """The columns of ids and of reports: the named ones, those spelt otherwise, and those found by their names."""
        named = {**respelt_columns(row, self._named, FIELDS), **self._named}
        columns = {**obvious_columns(row, [("report",)], named), **named}
        return [columns.get(field, field) for field in FIELDS]

    def _option(self, row: Row, missing: Sequence[str]) -> str:
        """The option of the command line that names the columns of a file; "" where no name fits."""
        short = [name for name in list(row)[:SHOWN] if name.isprintable() and _cut(name) == repr(name)]
        fitting = fitting_columns(short, missing, self._named)
        if not fitting.keys() >= {*missing}:
            return ""
        return f"; rename those of the file, or on the command line name them: --columns {columns_option(fitting)}"

    def damaged(self, error: InputError) -> None:
        """Notes a line that is no row; InputError where there are too many rows to go on."""
        self._n_rows += 1
        self._n_damaged += 1
        self._faults.append(str(error))
        if self._too_many():
            raise InputError(self._too_many())

    def _too_many(self) -> str:
        n_studies = len(self._study_ids)
        return (
            f"The board has {n_studies:,} studies, and the file has many more rows."
            if self._n_rows > 2 * n_studies + 100
            else ""
        )

    def _take_report(self, where: str, study_id: str, report: object) -> None:
        if not isinstance(report, str):
            self._faults.append(f'{where}: the report is {_cut(report)}, not a text; write "" for an empty one.')
        elif len(report) > self._limits.report_characters:
            self._faults.append(
                f"{where}: the report has {len(report):,} characters; {self._limits.report_characters:,} are allowed."
            )
        elif fault := text_fault(report):
            self._faults.append(f"{where}: the report contains {fault}.")
        else:
            self._reports[study_id] = report

    def _way_out(self) -> str:
        """What to do about unknown studies; some may differ from the board's in case, signs or leading zeros alone."""
        alike: dict[str, list[str]] = {}
        for study_id in self._study_ids:
            alike.setdefault(_core(study_id), []).append(study_id)
        near = [(unknown, *alike.get(_core(unknown), ())) for unknown in self._unknown]
        said = [f"{_cut(pair[0])} may be {_cut(pair[1])}" for pair in near if len(pair) == 2]
        return f"correct such ids ({', '.join(said[:SHOWN])}) or leave the rows out" if said else "leave such rows out"

    def stopped(self, problem: str) -> None:
        """Reading ended before the end of the file."""
        self._stopped = f"{problem} The rest of the file was not read." if self._n_rows else problem

    def checked(self, shown: str, *, names_columns: bool = False) -> Checked:
        """The reports, or everything that is wrong; `names_columns`: the first line of the file does."""
        problems = self._faults[:MAX_PROBLEMS]
        if len(self._faults) > MAX_PROBLEMS:
            problems.append(f"{shown}: {len(self._faults) - MAX_PROBLEMS:,} more rows have such errors.")
        if self._stopped:
            problems.append(self._stopped)
        if not self._n_rows and not self._stopped and not names_columns:
            problems.append(
                f"{shown} has no rows; the first line must name the columns {', '.join(self.fields)}, and each "
                "further line must contain one study."
            )
            return Checked([], "", problems)
        if self._unknown:
            problems.append(f"{shown}: the board has no study {_some(self._unknown)}; {self._way_out()}.")
        missing = [study_id for study_id in self._study_ids if study_id not in self._reports]
        if len(missing) > self._n_damaged and not self._stopped:
            problems.append(
                f'{shown}: there is no report for {_some(missing)}; send every study ("" for an empty report).'
            )
        if problems:
            return Checked([], "", problems)
        reports = [self._reports[study_id] for study_id in self._study_ids]
        if not any(report.strip() for report in reports):
            return Checked(
                [], "", [f"{shown}: every report is blank; write the system's reports in the column report."]
            )
        return Checked(reports, _checksum(reports), [])


def _refused(problem: str) -> Checked:
    return Checked([], "", [problem])


def _checksum(reports: Sequence[str]) -> str:
    digest = sha256()
    for report in reports:
        encoded = report.encode()
        digest.update(len(encoded).to_bytes(8) + encoded)
    return digest.hexdigest()


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _length_problem(field: str, text: str, most: int) -> str:
    """What is said of a text that is far too long to be looked at; "" for others.

    Letters can be written as several characters, which are one once they are composed.
    """
    return f"The {field} has {len(text):,} characters; {most} are allowed." if len(text) > 4 * most else ""


def _name_problems(name: str) -> Iterator[str]:
    if not any(char.isalnum() for char in identity.key(name)):
        yield "The name contains no letter and no digit; enter a name for the system."
    if identity.key(name) in NO_NAMES:
        yield f"The name {name!r} is a placeholder for a missing name; enter another."
    if fault := identity.mixed(name):
        yield f"The name contains misleading characters: {fault}. Write each word in one script."
    if len(name) > MAX_NAME:
        yield f"The name has {len(name)} characters; {MAX_NAME} are allowed."
    if fault := text_fault(name):
        yield f"The name contains {fault}."


def _tag_problems(tags: Collection[str]) -> Iterator[str]:
    if len(tags) > MAX_TAGS:
        yield f"There are {len(tags)} tags; {MAX_TAGS} are allowed."
    for tag in list(tags)[:MAX_TAGS]:
        if len(tag) > MAX_TAG or not _TAG.fullmatch(tag):
            yield f"The tag {_cut(tag)} is not a short word of letters, digits and . + - / _ (at most {MAX_TAG})."


def text_fault(text: str) -> str:
    """What no report or name may hold: NUL and other control characters, and those that turn the direction of text."""
    forbidden = _FORBIDDEN.search(text)
    return f"the control character U+{ord(forbidden[0]):04X}" if forbidden else ""


def _hub_id(url: str) -> str:
    match = re.fullmatch(rf"https?://(?:www\.)?(?:huggingface\.co|hf\.co)/({HUB_ID})/?", url)
    return match[1] if match and match[1].split("/")[0] not in ("datasets", "spaces", "papers", "blog") else ""


def _cut(value: object) -> str:
    shown = repr(value) if not isinstance(value, str) else repr(value[:45])
    return shown if len(shown) <= 48 else shown[:45] + "…'"


def _core(study_id: str) -> str:
    """An id in lower case, with "-" for all signs and without leading zeros.

    >>> _core("Study_007 ")
    'study-7'
    """
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\W_]+", "-", study_id.casefold()).strip("-"))


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return ", ".join(_cut(study_id) for study_id in ids[:SHOWN]) + more
