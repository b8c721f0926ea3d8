"""Tables: one test reads every row of a table, and fails with each row that is wrong.

`@each_row` stands where `@pytest.mark.parametrize` would, for many rows that cost milliseconds each: pytest spends
more on a test than the reader on a sentence. `pytest --row "words of a row"` runs the rows with these words alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

_SHOWN = 4  # lines of a row's message where several rows are wrong


class Row(tuple[Any, ...]):
    """The cells of a row.

    Attributes:
        file: Where it is written: name of the table.
        line: Its number there, from 1; 0 for a row that stands in the test's own file.
        known: Why it is still wrong; the test fails where it is not.
    """

    file: str
    line: int
    known: str

    @classmethod
    def of(cls, cells: Iterable[Any], file: str = "", line: int = 0, known: str = "") -> Row:
        """Makes a row."""
        row = cls(cells)
        row.file, row.line, row.known = file, line, known
        return row

    def with_cells(self, *cells: Any, known: str = "") -> Row:
        """The same row with other cells."""
        return Row.of(cells, self.file, self.line, known)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file else ""
        return place + " | ".join(cell if isinstance(cell, str) else repr(cell) for cell in self)


def read_table(*files: Path) -> list[Row]:
    """The rows of tables with tabs between their cells, without empty lines and comments."""
    return [
        Row.of(text.split("\t"), file.name, number)
        for file in files
        for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if text and not text.startswith("#")
    ]


def unescaped(text: str) -> str:
    r"""A cell with line ends and tabs for its "\n" and "\t"."""
    return text.replace(r"\n", "\n").replace(r"\t", "\t")


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Runs a test with each row; rows that were read from several files are a test for each file.

    Args:
        names: The arguments that a row's cells are, as for `pytest.mark.parametrize`.
        rows: Rows, tuples, or values where there is one name. They share the test's fixtures, but for
            `monkeypatch`, which is undone after each.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    made = [_row(row, len(arguments)) for row in rows]
    assert made, "a table without rows checks nothing"
    tables = {file: list(group) for file, group in groupby(made, key=lambda row: row.file)}
    assert sum(map(len, tables.values())) == len(made), "the rows of a file stand together"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            __tracebackhide__ = True
            patched = fixtures.pop("monkeypatch", None)
            rows = chosen(tables[fixtures.pop("table", "")], fixtures.pop("request").config.getoption("row"))
            wrong = []
            for row in rows:
                try:
                    _run_row(test, row, fixtures | dict(zip(arguments, row, strict=True)), patched)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                    wrong.append((row, error))
            if len(wrong) == 1:
                wrong[0][1].add_note(f"in the row {wrong[0][0]}")
                raise wrong[0][1]
            if wrong:
                lines = [f"{row}\n{_message(error)}" for row, error in wrong]
                pytest.fail("\n".join([f"{len(wrong)} of {len(rows)} rows are wrong:", *lines]), pytrace=False)

        files = [file for file in tables if file]
        run.tables = tables  # type: ignore[attr-defined]
        run.__signature__ = _signature(test, arguments, ["request", *["table"][: len(files)]])  # type: ignore[attr-defined]
        if files:
            parametrized: Callable[..., None] = pytest.mark.parametrize(
                "table", files, ids=[Path(file).stem for file in files]
            )(run)
            return parametrized
        return run

    return decorate


def chosen(rows: list[Row], words: str) -> list[Row]:
    """The rows with words in them; all where there are no words."""
    return [row for row in rows if words in str(row)] if words else rows


def is_chosen(item: pytest.Item, words: str) -> bool:
    """Whether a collected test has a row with these words."""
    tables: dict[str, list[Row]] = getattr(getattr(item, "function", None), "tables", {})
    callspec = getattr(item, "callspec", None)
    return bool(chosen(tables.get(callspec.params.get("table", "") if callspec else "", []), words))


def _row(row: Any, n: int) -> Row:
    if isinstance(row, Row):
        return row
    return Row.of(row if n > 1 else (row,))


def _run_row(test: Callable[..., None], row: Row, arguments: dict[str, Any], patched: Any) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        try:
            test(**arguments, **({"monkeypatch": monkeypatch} if patched else {}))
        except (Exception, pytest.fail.Exception):
            if row.known:
                return
            raise
    if row.known:
        pytest.fail(f"it is right, and named as known to be wrong: {row.known}")


def _signature(test: Callable[..., None], arguments: list[str], added: list[str]) -> inspect.Signature:
    names = [name for name in inspect.signature(test).parameters if name not in {*arguments, *added}]
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in [*added, *names]])


def _message(error: BaseException) -> str:
    """The first lines of an error's message."""
    told = str(error) if isinstance(error, AssertionError | pytest.fail.Exception) else repr(error)
    lines = [line for line in told.splitlines() if line.strip()]
    return "\n".join(f"    {line}" for line in lines[:_SHOWN] or [repr(error)])
