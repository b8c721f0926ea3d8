"""Forms: blind, read back with the place of every wrong cell, and nothing saved while one is wrong."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest

from rrgmetrics import cli
from rrgmetrics.errors import InputError
from rrgmetrics.spaces.rating import export
from rrgmetrics.spaces.rating.forms import read_forms, write_form

from .conftest import SOURCES, answer

openpyxl = pytest.importorskip("openpyxl")


def edit_workbook(path, change: Callable[[str, dict], None]) -> None:
    """Changes the cells of each row, by header."""
    book = openpyxl.load_workbook(path)
    for name in book.sheetnames[1:]:
        head = [cell.value for cell in book[name][1]]
        for row in book[name].iter_rows(min_row=2):
            cells = {header: cell.value for header, cell in zip(head, row, strict=True)}
            change(name, cells)
            for header, cell in zip(head, row, strict=True):
                cell.value = cells[header]
    book.save(path)


def edit_csv(path, change: Callable[[str, dict], None], delimiter=",") -> None:
    name = "Preferences" if "preferences" in path.name else "Reports"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        change(name, row)
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(reversed(rows))  # sorted otherwise
    path.write_text(text.getvalue(), encoding="utf-8")


def fill(name, cells):
    if name == "Preferences":
        cells["better report"], cells["sure 1 to 10"] = "equal", 10
    elif cells["report"] in (1, "1"):
        cells["B significant"], cells["F not significant"], cells["rating 1 to 5"] = 2, "1", "2"
    else:
        cells["A significant"], cells["rating 1 to 5"] = 0, 5.0


def test_a_workbook_is_blind_and_comes_back(project, tmp_path):
    path = tmp_path / "form.xlsx"
    assert write_form(project, "Ada", path) == [path]
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["How to rate", "Reports", "Preferences"]
    how = "\n".join(str(row[0]) for row in book["How to rate"].iter_rows(values_only=True))
    assert "What counts as one finding?" in how
    cells = [str(cell) for page in book for row in page.iter_rows(values_only=True) for cell in row]
    assert not any(source in cell or f"id-{i}" in cell for cell in cells for source in SOURCES for i in range(4))
    assert any(cell.startswith("- Small") for cell in cells)
    edit_workbook(path, fill)
    assert read_forms(project, [path]) == {"Ada": 12}
    assert read_forms(project, [path]) == {"Ada": 0}
    rater = project.enter("Ada")
    assert project.states(rater) == ["finished"] * 4
    assert sorted(export.ratings(project)["total_errors"]) == [0] * 4 + [3] * 4
    assert set(export.preferences(project)["choice"]) == {"equal"}


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_plain_files_come_back(project, tmp_path, delimiter):
    path = tmp_path / "form.csv"
    written = write_form(project, "Ada", path)
    assert [file.name for file in written] == ["form.csv", "form-preferences.csv", "form-how-to-rate.txt"]
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    for file in written[:2]:
        edit_csv(file, fill, delimiter)
    assert read_forms(project, written[:2]) == {"Ada": 12}
    assert project.states(project.enter("Ada")) == ["finished"] * 4


def test_two_raters_have_other_codes_and_orders(project, tmp_path):
    forms = [tmp_path / f"{name}.xlsx" for name in ("Ada", "Bob")]
    codes = []
    for form in forms:
        write_form(project, form.stem, form)
        codes.append([row[0] for row in openpyxl.load_workbook(form)["Reports"].iter_rows(min_row=2, values_only=True)])
        edit_workbook(form, fill)
    assert not set(codes[0]) & set(codes[1])
    assert read_forms(project, forms) == {"Ada": 12, "Bob": 12}


def test_blank_forms_are_said_to_be_blank(project, tmp_path, capsys):
    path = tmp_path / "form.xlsx"
    write_form(project, "Ada", path)
    assert cli.main(["rating", "read", project.place, str(path)]) == 0
    assert capsys.readouterr().out == "Ada: no new answer; blank rows are skipped; 0 of 4 studies finished\n"


def test_every_wrong_cell_is_named_and_nothing_is_saved(project, tmp_path, capsys):
    path = tmp_path / "form.xlsx"
    write_form(project, "Ada", path)
    edit_workbook(path, fill)
    book = openpyxl.load_workbook(path)
    reports, preferences = book["Reports"], book["Preferences"]
    reports["F2"], reports["R2"] = "many", 6
    reports["G3"] = -1
    reports["E4"] = "Another report."
    reports["A5"] = "0000000000"
    reports["A6"] = reports["A7"].value
    reports["E6"], reports["D6"] = reports["E7"].value, reports["D7"].value
    preferences["H2"], preferences["I2"] = "3", "very"
    book.save(path)
    assert cli.main(["rating", "read", project.place, str(path)]) == 2
    lines = capsys.readouterr().err.replace("\n", " ")
    for part in (
        "sheet Reports, row 2, column F (A significant) is 'many'; a whole number from 0 is needed.",
        "sheet Reports, row 2, column R (rating 1 to 5) is '6'; 1, 2, 3, 4 or 5 is needed.",
        "sheet Reports, row 3, column G (A not significant) is '-1'",
        "sheet Reports, row 4, column E (candidate) differs from the original text",
        "sheet Reports, row 5, column A (code): '0000000000' is not a code of this project.",
        "sheet Reports, row 7 has the code of ",
        "sheet Preferences, row 2, column H (better report) is '3'; 1, 2 or equal is needed.",
        "sheet Preferences, row 2, column I (sure 1 to 10) is 'very'; a whole number from 1 to 10 is needed.",
    ):
        assert part in lines, part
    assert project.states(project.enter("Ada")) == ["open"] * 4


def test_a_form_half_filled_is_taken_so_far(project, tmp_path):
    path = tmp_path / "form.xlsx"
    write_form(project, "Ada", path)
    edit_workbook(path, lambda name, cells: fill(name, cells) if int(cells["study"]) < 3 else None)
    assert read_forms(project, [path]) == {"Ada": 6}
    assert project.states(project.enter("Ada")) == ["finished", "finished", "open", "open"]


def test_what_was_answered_on_the_page_is_replaced_on_request_only(project, tmp_path):
    path = tmp_path / "form.xlsx"
    write_form(project, "Ada", path)
    edit_workbook(path, fill)
    rater = project.enter("Ada")
    answer(project, rater, 1, rating=4)
    with pytest.raises(InputError, match="Ada has answered this on the page; --force replaces the answer"):
        read_forms(project, [path])
    assert project.sheet(rater, 1).items["1"].answer.rating == 4
    assert read_forms(project, [path], force=True) == {"Ada": 12}
    assert project.sheet(rater, 1).items["1"].answer.rating == 2


def test_files_that_are_no_forms(project, tmp_path):
    (tmp_path / "a.xlsx").write_text("no workbook")
    (tmp_path / "b.csv").write_text("x,y\n1,2\n")
    (tmp_path / "c.csv").write_bytes(b"code,reference\n\xff,x\n")
    (tmp_path / "d.csv").write_text("code,reference,rating 1 to 5\nabc,x,3\n")
    openpyxl.Workbook().save(tmp_path / "e.xlsx")
    for name, message in {
        "a.xlsx": "cannot be read as a workbook",
        "b.csv": "lacks the columns of a form",
        "c.csv": "is not UTF-8",
        "d.csv": "'abc' is not a code of this project",
        "e.xlsx": "neither a sheet 'Reports'",
        "f.xlsx": "does not exist",
        "g.ods": "does not exist",
    }.items():
        with pytest.raises(InputError, match=message):
            read_forms(project, [tmp_path / name])
    with pytest.raises(InputError, match=r"a form is \.xlsx or \.csv"):
        write_form(project, "Ada", tmp_path / "form.ods")
    write_form(project, "Ada", tmp_path / "form.csv")
    with pytest.raises(InputError, match=r"form\.csv exists"):
        write_form(project, "Ada", tmp_path / "form.csv")
