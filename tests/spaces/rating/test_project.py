"""What is kept of raters' answers: nothing is lost, nothing doubled, nobody sees a source."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sqlalchemy import func, select

from rrgmetrics import cli
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import load
from rrgmetrics.spaces.access import LimitError
from rrgmetrics.spaces.rating import create_project, export, open_project, schema
from rrgmetrics.spaces.rating.answers import Error, Judged, Mark, Preferred
from rrgmetrics.spaces.rating.conventions import CATEGORIES
from rrgmetrics.spaces.rating.project import StaleError, Stamp

from .conftest import CANDIDATES, REFERENCE, SOURCES, answer


def stored(project):
    with project.store.reading() as connection:
        return connection.execute(select(func.count()).select_from(schema.answers)).scalar_one()


def test_an_answer_is_kept_and_an_edit_replaces_it(any_project):
    rater = any_project.enter("Dr. Ada")
    value = {"errors": [["C", True, [["candidate", 0, 7], ["reference", 6, 10]]]], "rating": None}
    assert any_project.save(rater, 2, "1", value, Stamp("page", 1, 0)) == 1
    assert any_project.save(rater, 2, "12", {"choice": "2", "confidence": None}, Stamp("page", 1, 0)) == 1
    assert any_project.save(rater, 2, "12", {"choice": "2", "confidence": 10}, Stamp("page", 2, 1)) == 2
    again = open_project(any_project.store.url.render_as_string(hide_password=False))
    items = again.sheet(again.enter("dr.  ada"), 2).items
    marks = (Mark("candidate", 0, 7), Mark("reference", 6, 10))
    assert items["1"].answer == Judged((Error("C", True, marks),), None)
    assert items["2"].revision == 0
    assert items["12"].answer == Preferred("2", 10)
    assert stored(again) == 2
    again.close()


def test_a_page_that_sends_twice_or_late_doubles_nothing(project):
    rater = project.enter("Ada")

    def save(rating, *stamp):
        return project.save(rater, 1, "1", {"errors": [], "rating": rating}, Stamp(*stamp))

    assert save(1, "page", 1, 0) == 1
    assert save(1, "page", 1, 0) == 1  # its answer was lost on the way
    assert save(3, "page", 3, 0) == 2  # the page never learned of revision 1
    assert save(2, "page", 2, 1) == 2  # came late
    assert project.sheet(rater, 1).items["1"].answer.rating == 3
    with pytest.raises(StaleError, match="another window"):
        save(5, "other", 1, 1)
    assert save(5, "other", 1, 2) == 3
    with pytest.raises(StaleError):
        save(4, "page", 4, 2)
    assert project.sheet(rater, 1).items["1"].answer.rating == 5
    assert stored(project) == 1


def test_windows_that_write_at_once_make_one_answer(any_project):
    rater = any_project.enter("Ada")

    def save(i):
        try:
            return any_project.save(rater, 1, "1", {"errors": [], "rating": 1 + i % 5}, Stamp(f"page {i}", 1, 0))
        except StaleError:
            return 0

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(save, range(8))) == [0] * 7 + [1]
    assert stored(any_project) == 1


def test_a_name_is_one_rater_however_it_is_written_and_when(any_project):
    with ThreadPoolExecutor(8) as pool:
        raters = set(pool.map(any_project.enter, ["Dr. Ada Lovelace", "dr. ada  lovelace"] * 6))
    assert len(raters) == 1
    with pytest.raises(InputError, match="looks like that of another rater"):
        any_project.enter("Dr. Ada Love1ace")
    with pytest.raises(InputError, match="mixes CYRILLIC and LATIN"):
        any_project.enter("Dr. Аda")
    for name in ("", "  ", "...", "x" * 61):
        with pytest.raises(InputError, match="Type your name"):
            any_project.enter(name)


@pytest.mark.parametrize(
    ("item", "value", "message"),
    [
        ("1", {"errors": [["G", True, []]]}, "'G' is not a letter from A to F"),
        ("1", {"errors": [["A", 1, []]]}, "'1' is not true or false"),
        ("1", {"errors": [["A", True, [["candidate", 3, 3]]]]}, "is not words of it"),
        ("1", {"errors": [["A", True, [["candidate", 0, 900]]]]}, "is not words of it"),
        ("1", {"errors": [["A", True, [["source", 0, 1]]]]}, "is not a mark"),
        ("1", {"errors": [["A", True, []]] * 100}, "at most 99 errors"),
        ("1", {"rating": 6}, "'6' is not a rating"),
        ("1", {"rating": True}, "is not a rating"),
        ("1", {"rating": 2.0}, "is not a rating"),
        ("1", {"source": "x"}, "is not an answer"),
        ("1", None, "is not an answer"),
        ("12", {"choice": "3"}, "'3' is not one of 1, 2, equal"),
        ("12", {"choice": ["1"]}, "is not one of"),
        ("12", {"confidence": 11}, "not a confidence"),
        ("3", {}, "no item '3'"),
    ],
)
def test_what_is_no_answer_is_refused(project, item, value, message):
    with pytest.raises(InputError, match=message):
        project.save(project.enter("Ada"), 1, item, value, Stamp("page", 1, 0))
    assert stored(project) == 0


def test_only_what_is_asked_is_answered(make_project):
    project = make_project(ask=["rating"])
    rater = project.enter("Ada")
    assert set(project.sheet(rater, 1).items) == {"1", "2"}
    with pytest.raises(InputError, match="does not ask for"):
        project.save(rater, 1, "1", {"errors": [["A", True, []]]}, Stamp("page", 1, 0))
    assert "false_finding_significant" not in export.ratings(project)
    with pytest.raises(InputError, match="does not ask for preferences"):
        export.preferences(project)
    with pytest.raises(InputError, match="asks for preferences only"):
        export.ratings(make_project(ask=["preference"]))


def test_a_study_is_finished_when_nothing_is_missing(make_project):
    project = make_project()
    rater = project.enter("Ada")
    assert project.finish(rater, 1) == [
        "a rating for report 1",
        "a rating for report 2",
        "a choice for 1 and 2",
        "a confidence for 1 and 2",
    ]
    assert answer(project, rater, 1) == []
    assert project.states(rater) == ["finished", "open", "open", "open"]
    counted = make_project(ask=["errors"])
    rater = counted.enter("Ada")
    assert counted.finish(rater, 3) == counted.finish(rater, 3) == []  # no errors, said twice
    assert counted.states(rater) == ["open", "open", "finished", "open"]
    assert export.ratings(counted)["total_errors"] == [0, 0]
    for place in (0, 5, -1):
        with pytest.raises(InputError, match="There is no study"):
            counted.sheet(rater, place)


def test_each_rater_has_an_order_of_his_own_and_keeps_it(make_project):
    rows = [
        {"study_id": i, "reference": f"Reference {i}.", "candidate": f"{i} {source}", "source": source}
        for i in range(20)
        for source in "xy"
    ]
    project = make_project(rows, ask=["errors"])
    raters = [project.enter(f"Rater {name}") for name in ("Ada", "Bob", "Cyd")]
    orders = [[project.sheet(rater, place).reference for place in range(1, 21)] for rater in raters]
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    first = [project.sheet(raters[0], place).reports["1"][-1] for place in range(1, 21)]
    assert 3 < first.count("x") < 17
    again = open_project(project.place)
    assert [again.sheet(again.enter("rater ada"), place).reference for place in range(1, 21)] == orders[0]
    again.close()


def test_the_export_has_every_answer_once_and_agree_reads_it(any_project, tmp_path, capsys):
    error = ["C", True, [["candidate", 8, 13]]]
    for name, rating in (("Ada", 2), ("Bob", 4)):
        rater = any_project.enter(name)
        for place in range(1, 5):
            assert answer(any_project, rater, place, errors=[error, ["F", False, []]], rating=rating) == []
    ratings, preferences = tmp_path / "ratings.csv", tmp_path / "preferences.csv"
    place = any_project.store.url.render_as_string(hide_password=False)
    assert cli.main(["rating", "export", place, str(ratings), "--preferences", str(preferences)]) == 0
    data = load(f"rating:{ratings}")
    assert len(data.pairs) == 8
    assert data.raters == ["Ada", "Bob"]
    assert {pair.candidate for pair in data.pairs} == {text.format(i) for text in CANDIDATES for i in range(4)}
    assert {pair.reference for pair in data.pairs} == {REFERENCE.format(i) for i in range(4)}
    assert set(data.labels["source"]) == set(SOURCES)
    np.testing.assert_array_equal(data.values["rating"], [[2] * 8, [4] * 8])
    for target, value in {
        "total_errors": 2,
        "significant_errors": 1,
        "insignificant_errors": 1,
        "incorrect_location": 1,
        "incorrect_location_significant": 1,
        "missing_comparison": 1,
        "false_finding": 0,
    }.items():
        np.testing.assert_array_equal(data.values[target], np.full((2, 8), value))
    with ratings.open(encoding="utf-8", newline="") as file:
        words = {tuple(json.loads(row["marks"])[0][2]) for row in csv.DictReader(file)}
    assert words == {("right",), ("ion. ",)}
    with preferences.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [len(rows), len({(row["study_id"], row["rater"]) for row in rows})] == [8, 8]
    for row in rows:  # each chose the report that he saw first
        assert row["choice"] == row["shown_first"]
        assert (row["source_a"], row["source_b"]) == SOURCES
    assert {row["choice"] for row in rows} == {"A", "B"}
    read = load(f"preferences:{preferences}")
    assert (len(read.first), read.raters) == (4, ("Ada", "Bob"))
    assert {text.format(i) for text in CANDIDATES for i in range(4)} == {
        pair.candidate for pair in (*read.first, *read.second)
    }
    capsys.readouterr()
    arguments = ["--metrics", "bleu", "finding_errors", "--trials", "100", "--no-progress"]
    assert cli.main(["agree", "--dataset", f"rating:{ratings}", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "total errors" in printed
    assert "8 pairs" in printed


def test_what_is_not_finished_is_not_exported(project, tmp_path, capsys):
    ada, bob = project.enter("Ada"), project.enter("Bob")
    answer(project, ada, 1)
    project.save(bob, 1, "1", {"errors": [], "rating": 1}, Stamp("page", 1, 0))
    assert cli.main(["rating", "export", project.place, str(tmp_path / "r.csv")]) == 0
    said = capsys.readouterr().out
    assert "2 ratings of finished studies" in said
    assert "Left out: 1 study that a rater has started" in said
    assert load(f"rating:{tmp_path / 'r.csv'}").raters == ["Ada"]
    assert [(row.rater, row.finished, row.begun) for row in project.progress()] == [("Ada", 1, 1), ("Bob", 0, 1)]


def test_a_table_is_checked_as_a_whole_before_anything_is_made(make_project, tmp_path):
    good = {"study_id": "a", "reference": "Clear lungs.", "candidate": "Clear.", "source": "x"}
    for rows, message in [
        ([good, good], "line 3: study 'a' has a candidate of source 'x' in an earlier row"),
        ([good, {**good, "source": "y", "reference": "Other."}], "line 3: study 'a' has a different reference"),
        ([{**good, "reference": " "}], "line 2, column 'reference' is blank"),
        ([good, {**good, "study_id": " "}], "line 3, column 'study_id' is ' '|blank"),
        ([{**good, "candidate": "word " * 2001}], "line 2, column 'candidate' has 2,001 words"),
        ([{**good, "source": f"s{i}"} for i in range(7)], "study 'a' has 7 candidates; at most 6"),
        ([good, {**good, "source": ""}], "has no source, and others have"),
        ([good], "one candidate for each study, and preferences need two"),
    ]:
        with pytest.raises(InputError, match=message):
            make_project(rows)
    with pytest.raises(InputError, match="has no column 'candidate', but 'study_id', 'reference'"):
        make_project([{"study_id": "a", "reference": "b"}])
    with pytest.raises(InputError, match="--ask takes one or more of errors, rating, preference"):
        make_project(ask=["colour"])
    problems = [{**good, "study_id": f"s{i}", "reference": ""} for i in range(30)]
    with pytest.raises(InputError) as caught:
        make_project(problems)
    assert str(caught.value).endswith("... and 10 more.")
    assert not list(tmp_path.glob("*.sqlite"))
    assert make_project([{**good, "candidate": ""}], ask=["errors"]).n_studies == 1


def test_the_host_has_a_token_that_is_not_guessed(project):
    assert project.verify_host(project.token)
    for _ in range(5):
        assert not project.verify_host("wrong", "192.0.2.1")
    with pytest.raises(LimitError, match="Too many wrong tokens"):
        project.verify_host("wrong", "192.0.2.1")
    assert project.verify_host(project.token, "192.0.2.1")
    session = project.begin_session(None)
    assert project.is_host(session)
    assert not project.is_host(project.begin_session(project.enter("Ada")))
    new = project.new_host_token()
    assert not project.is_host(session)
    assert project.verify_host(new)
    assert not project.verify_host(project.token)


def test_commands(tmp_path, write_table, capsys):
    place, copy = str(tmp_path / "p.sqlite"), str(tmp_path / "copy.sqlite")
    notes = tmp_path / "notes.txt"
    notes.write_text("Think twice.\n")
    columns = ["--columns", "reference=reference"]
    made = ["rating", "init", place, write_table(), "--ask", "errors,preference", "--notes", str(notes), *columns]
    assert cli.main(made) == 0
    assert "4 studies; asks for errors, preference." in capsys.readouterr().out
    assert cli.main(made) == 2
    assert "exists; choose another name for the rating project" in capsys.readouterr().err
    project = open_project(place)
    assert project.notes == "Think twice."
    project.enter("Ada")
    assert cli.main(["rating", "show", place]) == 0
    assert "0 of 4" in capsys.readouterr().out
    assert cli.main(["rating", "backup", place, copy]) == 0
    assert cli.main(["rating", "token", copy]) == 0
    token = capsys.readouterr().out.split()[-1]
    copied = open_project(copy)
    assert copied.verify_host(token)
    assert not project.verify_host(token)
    for step in (["init", str(tmp_path / "q")], ["init", str(tmp_path / "q"), "t.csv", "--demo"], ["export", place]):
        assert cli.main(["rating", *step]) == 2
    assert cli.main(["rating", "init", str(tmp_path / "demo.sqlite"), "--demo"]) == 0
    with pytest.raises(InputError, match=r"no rating project in .*; create one with `rrgmetrics rating init`"):
        open_project(tmp_path / "missing.sqlite")
    project.close()
    copied.close()


def test_a_file_that_is_no_export_is_refused(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("study_id,rater,reference,candidate,false_finding_significant\na,b,c,d,1\n")
    with pytest.raises(InputError, match="neither all twelve counts"):
        load(f"rating:{file}")


def test_every_kind_is_explained():
    assert "".join(CATEGORIES) == "ABCDEF"


def test_studies_without_two_candidates_are_not_asked_for_a_choice_alone(write_table, tmp_path):
    rows = [
        {"study_id": "a", "reference": "R.", "candidate": "C.", "source": "x"},
        {"study_id": "b", "reference": "R.", "candidate": "C.", "source": "x"},
        {"study_id": "b", "reference": "R.", "candidate": "D.", "source": "y"},
    ]
    made = create_project(tmp_path / "p.sqlite", write_table(rows), ask=["preference"])
    assert made.project.n_studies == 1
    made.project.close()
