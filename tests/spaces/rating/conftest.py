"""A small project of invented reports, and raters who answer it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("sqlalchemy")

from rrgmetrics.spaces.rating import Project, create_project
from rrgmetrics.spaces.rating.project import ASKS, Rater, Stamp

SOURCES = ("Secret Model Seven", "Hidden Model Nine")
REFERENCE = "Small left pleural effusion, increased. Study {}."
CANDIDATES = ("- Small right pleural effusion.\r\nStudy {}.", "No effusion. Pneumothorax \N{LUNGS} of study {}.")


@pytest.fixture
def write_table(tmp_path) -> Callable[..., str]:
    """Writes a table of rows, by default four studies with two candidates each."""

    def write(rows: list[dict] | None = None, name: str = "table.csv") -> str:
        if rows is None:
            rows = [
                {"study_id": f"id-{i}", "reference": REFERENCE.format(i), "candidate": text.format(i), "source": source}
                for i in range(4)
                for source, text in zip(SOURCES, CANDIDATES, strict=True)
            ]
        path = tmp_path / name
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return str(path)

    return write


@pytest.fixture
def make_project(tmp_path, write_table, no_waiting_for_disks) -> Iterator[Callable[..., Project]]:
    """Makes projects; the token of one is `project.token`."""
    made: list[Project] = []

    def make(rows=None, *, place=None, ask=ASKS, **keywords) -> Project:
        new = create_project(
            place or tmp_path / f"project{len(made)}.sqlite", write_table(rows), ask=ask, seed=7, **keywords
        )
        new.project.token = new.host_token
        made.append(new.project)
        return new.project

    yield make
    for project in made:
        project.close()


@pytest.fixture
def project(make_project) -> Project:
    return make_project()


@pytest.fixture(params=["sqlite", "postgresql"])
def any_project(request, make_project) -> Project:
    """The same project in every database that it can lie in."""
    if request.param == "postgresql":
        return make_project(place=request.getfixturevalue("postgres_url"))
    return make_project()


def answer(project: Project, rater: Rater, place: int, *, errors=(), rating=3, choice="1", confidence=5) -> list[str]:
    """Answers a whole study and finishes it; the same of both candidates."""
    for item, saved in project.sheet(rater, place).items.items():
        value = {"choice": choice, "confidence": confidence}
        if len(item) == 1:
            value = {"errors": [list(error) for error in errors], "rating": rating}
        project.save(rater, place, item, value, Stamp("test", saved.revision + 1, saved.revision))
    return project.finish(rater, place)
