"""Spreadsheets for raters without a server: one rater's studies, blind and in his order, written and read back.

A form is an Excel workbook (.xlsx: sheets "How to rate", "Reports", "Preferences"), or CSV files (`NAME.csv`,
`NAME-preferences.csv`, `NAME-how-to-rate.txt`). The project is the key: a form has codes for its rows, which only the
project can read. Rows may be sorted, and columns moved. A row whose answers are all blank is not rated; in any other a
blank count is 0. Words cannot be marked on a form.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError
from rrgmetrics.files import PathLike, csv_text, write_text
from rrgmetrics.files.write import replacing, without_guard
from rrgmetrics.reporting.kinds import KINDS
from rrgmetrics.spaces.rating.answers import EQUAL, LETTERS, MAX_ERRORS, Answer, Error, Judged, Preferred
from rrgmetrics.spaces.rating.conventions import CATEGORIES, CONFIDENCE, CONVENTIONS, RATING, SIGNIFICANT
from rrgmetrics.spaces.rating.project import Project, Rater, Sheet, Stamp
from rrgmetrics.utils.extras import need

REPORTS, PREFERENCES, HOW = "Reports", "Preferences", "How to rate"  # sheets
CLIENT = "form"
DEGREES = {"significant": True, "not significant": False}
COUNTS = {f"{letter} {degree}": (letter, matters) for letter in LETTERS for degree, matters in DEGREES.items()}
RATED, CHOSEN, SURE = "rating 1 to 5", "better report", "sure 1 to 10"
SUFFIXES = (".xlsx", ".csv")
SHOWN_PROBLEMS = 30
NARROW = 12
WIDTHS = {"": 110, **dict.fromkeys(("reference", "candidate", "first report", "second report"), 60)}  # of columns
MARK = "\ufeff"  # by which Excel knows UTF-8
# What a workbook cannot hold or a program may change: control characters, line ends, blanks.
_BLANK = re.compile(r"[\x00-\x20\x7f-\x9f\s]+")
_BLANK_BUT_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]+")
Cells = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Row:
    """A row of a form that is read: where it stands, its cells by header, and the letters of their columns."""

    where: str
    cells: Mapping[str, Any]
    letters: Mapping[str, str]

    def place(self, header: str) -> str:
        """Where a cell stands, in words."""
        return f"{self.where}, column {self.letters[header]} ({header})"


def write_form(project: Project, name: str, path: PathLike, *, force: bool = False) -> list[Path]:
    """Writes one rater's form.

    Args:
        project: Whose.
        name: The rater's, who joins the project if he has not.
        path: `.xlsx`, or `.csv` for plain files.
        force: Whether files that exist are replaced.

    Returns:
        The files.

    Raises:
        InputError: Another ending, or files that exist.
        MissingExtraError: openpyxl is not installed.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{target} ends in {suffix or 'nothing'!r}; a form is {' or '.join(SUFFIXES)}.")
    if suffix == ".xlsx":
        need("A form as a workbook", "spaces", "openpyxl")
    beside = [target.with_name(f"{target.stem}{end}") for end in ("-preferences.csv", "-how-to-rate.txt")]
    files = [target] if suffix == ".xlsx" else [target, *beside]
    for file in files:
        if file.exists() and not force:
            raise InputError(f"{file} exists; pass --force to replace it, or choose another name.")
    sheets = _sheets(project, project.enter(name))
    if suffix == ".xlsx":
        with replacing(target, force) as part:
            _workbook(_how(project), sheets).save(part)
        return files
    written = {
        {REPORTS: target, PREFERENCES: beside[0]}[sheet]: MARK + csv_text(cells) for sheet, cells in sheets.items()
    }
    written[beside[1]] = "\n\n".join(_how(project)) + "\n"
    for file, text in written.items():
        write_text(file, text, force=force)
    return list(written)


def read_forms(project: Project, paths: Sequence[PathLike], *, force: bool = False) -> dict[str, int]:
    """Reads filled forms into their project; nothing is saved unless all of them can be.

    Args:
        project: Whose.
        paths: The forms, of any raters.
        force: Whether an answer that was given on the page is replaced by another one of a form.

    Returns:
        By rater the number of answers that are new or changed; 0 for one whose rows are blank.

    Raises:
        InputError: One line for everything that must be corrected, with file, row and column.
    """
    known = _Codes(project)
    problems: list[str] = []
    raters: dict[Rater, None] = {}
    read: dict[tuple[Rater, int, str], tuple[Row, Answer]] = {}
    for path in paths:
        for row in _rows(Path(path)):
            try:
                key, answer = known.answer(row, force=force)
            except InputError as error:
                problems += str(error).split("\n")
                continue
            raters[key[0]] = None
            if answer is None:
                continue
            if key in read:
                problems.append(f"{row.where} has the code of {read[key][0].where}.")
            read[key] = row, answer
    if problems:
        more = [f"... and {len(problems) - SHOWN_PROBLEMS:,} more."] if len(problems) > SHOWN_PROBLEMS else []
        raise InputError("\n".join([*problems[:SHOWN_PROBLEMS], *more]))
    changed = _save(project, known, {key: answer for key, (_, answer) in read.items()})
    return {rater.name: changed.get(rater.name, 0) for rater in raters}


def _save(project: Project, known: _Codes, read: Mapping[tuple[Rater, int, str], Answer]) -> dict[str, int]:
    changed: dict[str, int] = {}
    for (rater, place, item), answer in read.items():
        saved = known.sheets[rater][place - 1].items[item]
        changed.setdefault(rater.name, 0)
        if not saved.revision or answer != saved.answer:
            client = f"{CLIENT} {saved.revision}"  # of its own at each reading
            project.save(rater, place, item, _as_sent(answer), Stamp(client, 1, saved.revision))
            changed[rater.name] += 1
    for rater, place in dict.fromkeys((rater, place) for rater, place, _ in read):
        sheet = project.sheet(rater, place)
        if all(saved.revision for saved in sheet.items.values()):
            project.finish(rater, place)
    return changed


def _as_sent(answer: Answer) -> dict[str, object]:
    """An answer as a page sends it."""
    if isinstance(answer, Preferred):
        return {"choice": answer.choice, "confidence": answer.confidence}
    errors = [[error.letter, error.significant, [list(mark) for mark in error.marks]] for error in answer.errors]
    return {"errors": errors, "rating": answer.rating}


class _Codes:
    """What stands behind the codes of all raters' forms."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.sheets: dict[Rater, list[Sheet]] = {}
        self.by_code: dict[str, tuple[Rater, int, str]] = {}
        for rater in project.raters():
            ordered = project.ordered(rater)
            self.sheets[rater] = [sheet for sheet, _ in ordered]
            for sheet, numbers in ordered:
                for item, number in numbers.items.items():
                    self.by_code[project.code(rater, number)] = rater, sheet.place, item

    def answer(self, row: Row, *, force: bool) -> tuple[tuple[Rater, int, str], Answer | None]:
        """Whose row it is, and what it says: None if it is not rated. Raises InputError, a line a problem."""
        code = str(row.cells.get("code") or "").strip()
        if code not in self.by_code:
            raise InputError(f"{row.place('code')}: {code[:20]!r} is not a code of this project.")
        rater, place, item = self.by_code[code]
        sheet = self.sheets[rater][place - 1]
        texts = {"reference": sheet.reference, **_texts(sheet, item)}
        for header, text in texts.items():
            if header not in row.cells:
                raise InputError(f"{row.where} has no column {header!r}; restore it.")
            if _squeezed(row.cells.get(header)) != _squeezed(text):
                raise InputError(f"{row.place(header)} differs from the original text of the code {code}; restore it.")
        answer = _judged(row, self.project.ask) if len(item) == 1 else _preferred(row, item)
        saved = sheet.items[item]
        is_of_page = saved.revision > 0 and not saved.client.startswith(CLIENT)
        if answer is not None and is_of_page and saved.answer != answer and not force:
            raise InputError(f"{row.where}: {rater.name} has answered this on the page; --force replaces the answer.")
        return (rater, place, item), answer


def _judged(row: Row, ask: Sequence[str]) -> Judged | None:
    headers = _headers(ask)
    if absent := [header for header in headers if header not in row.cells]:
        raise InputError(f"{row.where} has no column {absent[0]!r}.")
    if all(_is_blank(row.cells[header]) for header in headers):
        return None
    problems: list[str] = []
    errors: list[Error] = []
    for header in COUNTS if "errors" in ask else ():
        number = _whole(row, header, range(MAX_ERRORS + 1), "a whole number from 0 is needed", problems, blank=0)
        errors += [Error(*COUNTS[header])] * (number or 0)
    if len(errors) > MAX_ERRORS:
        problems.append(f"{row.where} counts {len(errors)} errors; at most {MAX_ERRORS}.")
    rating = None
    if "rating" in ask:
        rating = _whole(row, RATED, RATING, "1, 2, 3, 4 or 5 is needed", problems)
    if problems:
        raise InputError("\n".join(problems))
    return Judged(tuple(errors), rating)


def _preferred(row: Row, item: str) -> Preferred | None:
    if absent := [header for header in (CHOSEN, SURE) if header not in row.cells]:
        raise InputError(f"{row.where} has no column {absent[0]!r}.")
    if _is_blank(row.cells[CHOSEN]) and _is_blank(row.cells[SURE]):
        return None
    problems: list[str] = []
    choices = (*item, EQUAL)
    choice = str(row.cells[CHOSEN] if row.cells[CHOSEN] is not None else "").strip().lower().removesuffix(".0")
    if choice not in choices:
        problems.append(f"{row.place(CHOSEN)} is {choice!r}; {', '.join(choices[:-1])} or {EQUAL} is needed.")
    confidence = _whole(row, SURE, CONFIDENCE, "a whole number from 1 to 10 is needed", problems)
    if problems:
        raise InputError("\n".join(problems))
    return Preferred(choice, confidence)


def _whole(
    row: Row, header: str, known: Any, wanted: str, problems: list[str], *, blank: int | None = None
) -> int | None:
    """A whole number of a cell; adds what is wrong about it to the problems."""
    value = row.cells[header]
    if _is_blank(value) and blank is not None:
        return blank
    text = str("" if value is None else value).strip().removesuffix(".0")
    if not (text.isascii() and text.isdigit() and len(text) < 5 and int(text) in known):
        problems.append(f"{row.place(header)} is {text[:40]!r}; {wanted}.")
        return None
    return int(text)


def _is_blank(value: Any) -> bool:
    return value is None or not str(value).strip()


def _squeezed(text: Any) -> str:
    """A text for comparison: spreadsheets change blanks, and an apostrophe keeps one from being a formula."""
    return without_guard(_BLANK.sub(" ", str("" if text is None else text)).strip())


# --- writing


def _sheets(project: Project, rater: Rater) -> dict[str, Cells]:
    """The tables of a form, as columns."""
    tables: dict[str, list[dict[str, Any]]] = {REPORTS: [], PREFERENCES: []}
    judged = dict.fromkeys(_headers(project.ask), "")
    for sheet, numbers in project.ordered(rater):
        for item, number in numbers.items.items():
            head = {"code": project.code(rater, number), "study": sheet.place}
            texts = {"reference": sheet.reference, **_texts(sheet, item)}
            if len(item) == 1:
                tables[REPORTS].append({**head, "report": item, **texts, **judged})
            else:
                two = {"first": item[0], "second": item[1]}
                tables[PREFERENCES].append({**head, **two, **texts, CHOSEN: "", SURE: ""})
    return {name: {key: [row[key] for row in rows] for key in rows[0]} for name, rows in tables.items() if rows}


def _texts(sheet: Sheet, item: str) -> dict[str, str]:
    """The texts of an item by header, beside the reference."""
    if len(item) == 1:
        return {"candidate": sheet.reports[item]}
    return {"first report": sheet.reports[item[0]], "second report": sheet.reports[item[1]]}


def _headers(ask: Sequence[str]) -> list[str]:
    """The columns that are filled in for a candidate."""
    return [*(COUNTS if "errors" in ask else ()), *([RATED] if "rating" in ask else [])]


def _how(project: Project) -> list[str]:
    """How to rate, a paragraph an entry."""
    lines = [project.title, *([project.notes] if project.notes else [])]
    if "errors" in project.ask:
        kinds = {category.letter: KINDS[category.value].title for category in ErrorCategory}
        lines += [f"{letter}, {kinds[letter]}. {text}" for letter, text in CATEGORIES.items()]
        lines += [SIGNIFICANT, *(f"{question} {answer}" for question, answer in CONVENTIONS.items())]
        lines += ["For a report without errors, write 0 in at least one cell: a blank row is not rated."]
    if "rating" in project.ask:
        lines += [f"Rating: {', '.join(f'{number} {words}' for number, words in RATING.items())}."]
    if "preference" in project.ask:
        lines += [f"{PREFERENCES}: write the number of the better report, or {EQUAL}; 1 is a guess, 10 certain."]
    return [*lines, "Do not change codes or reports. You may sort rows and move columns."]


def _workbook(how: Sequence[str], sheets: Mapping[str, Cells]) -> Any:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font

    book = Workbook()
    pages: dict[str, Cells] = {HOW: {"": how}, **sheets}
    for name, cells in pages.items():
        page = book.active if name == HOW else book.create_sheet(name)
        page.title = name
        for column, (header, values) in enumerate(cells.items(), 1):
            page.column_dimensions[ascii_uppercase[column - 1]].width = WIDTHS.get(header, NARROW)
            for row, value in enumerate((header, *values), 1):
                cell = page.cell(row, column)
                cell.alignment = Alignment(wrap_text=True, vertical="top")
                if isinstance(value, str) and value:
                    cell.value, cell.data_type = _BLANK_BUT_LINES.sub(" ", value), "s"  # never a formula
                elif value != "":
                    cell.value = value
            page.cell(1, column).font = Font(bold=True)
        if name != HOW:
            page.freeze_panes = "C2"
            _restrict(page, cells)
    return book


def _restrict(page: Any, cells: Cells) -> None:
    """Lets the program itself refuse what is no answer."""
    from openpyxl.worksheet.datavalidation import DataValidation

    bounds = {**dict.fromkeys(COUNTS, (0, MAX_ERRORS)), RATED: (1, max(RATING)), SURE: (1, max(CONFIDENCE))}
    for column, header in enumerate(cells):
        if header in bounds:
            low, high = bounds[header]
            rule = DataValidation("whole", operator="between", formula1=str(low), formula2=str(high), allow_blank=True)
            rule.error = f"A whole number from {low} to {high}"
            page.add_data_validation(rule)
            letter = ascii_uppercase[column]
            rule.add(f"{letter}2:{letter}{len(cells[header]) + 1}")


# --- reading


def _rows(path: Path) -> Iterator[Row]:
    """The rows of a form with where they stand."""
    if not path.is_file():
        raise InputError(f"{path} does not exist, or is not a file.")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path} ends in {suffix or 'nothing'!r}; a form is {' or '.join(SUFFIXES)}.")
    tables = _read_workbook(path) if suffix == ".xlsx" else {str(path): _read_csv(path)}
    for where, rows in tables.items():
        filled = ((number, row) for number, row in enumerate(rows, 1) if not all(map(_is_blank, row)))
        _, head = next(filled, (0, ()))
        headers = [str(cell if cell is not None else "").strip() for cell in head]
        answers = (
            (CHOSEN, SURE) if CHOSEN in headers else tuple(header for header in (*COUNTS, RATED) if header in headers)
        )
        if "code" not in headers or not answers or any(headers.count(header) > 1 for header in headers if header):
            raise InputError(f"{where} lacks the columns of a form (code, reference, ...) in its first row.")
        letters = {header: _column(number) for number, header in enumerate(headers)}
        for number, row in filled:
            cells = dict(zip(headers, row, strict=False))
            yield Row(f"{where}, row {number}", {header: cells.get(header) for header in headers}, letters)


def _column(number: int) -> str:
    """The letters of a column: 0 is A, 26 AA."""
    high, low = divmod(number, len(ascii_uppercase))
    return (ascii_uppercase[high - 1] if high else "") + ascii_uppercase[low]


def _read_workbook(path: Path) -> dict[str, Iterator[Sequence[Any]]]:
    need("A form as a workbook", "spaces", "openpyxl")
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # what a damaged archive raises is of many kinds
        raise InputError(f"{path} cannot be read as a workbook; save it as .xlsx again.") from error
    names = [name for name in (REPORTS, PREFERENCES) if name in book.sheetnames]
    if not names:
        raise InputError(f"{path} has neither a sheet {REPORTS!r} nor {PREFERENCES!r}.")
    return {f"{path}, sheet {name}": book[name].iter_rows(values_only=True) for name in names}


def _read_csv(path: Path) -> Iterator[Sequence[Any]]:
    """The rows of a CSV, with commas or, as Excel writes it in some languages, semicolons."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; save it as “CSV UTF-8”.") from None
    head = text.partition("\n")[0]
    return csv.reader(io.StringIO(text, newline=""), delimiter=";" if head.count(";") > head.count(",") else ",")
