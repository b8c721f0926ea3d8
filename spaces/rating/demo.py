"""A project of invented reports, to look at and for tests: 20 studies, two candidates each, all three questions."""

from __future__ import annotations

from random import Random

from rrgmetrics.files import PathLike
from rrgmetrics.reports import Context
from rrgmetrics.spaces.rating.project import ASKS, NewProject, create_project
from rrgmetrics.spaces.rating.table import Study
from rrgmetrics.synthesis.generator import corrupt, draw_study, render, styles

TITLE = "Invented chest radiographs"
NOTES = "Every study and report here is invented: this project is a demonstration."
ERRORS = {"careful-model": 1, "vivid-model": 3}  # put into each report, by source


def demo_studies(n_studies: int = 20, *, seed: int = 0) -> list[Study]:
    """Invented studies with a candidate of each of two sources."""
    return [_study(i, seed) for i in range(n_studies)]


def demo_project(path: PathLike, *, n_studies: int = 20, ask: tuple[str, ...] = ASKS, seed: int = 0) -> NewProject:
    """Makes a project of invented studies in a file that does not exist."""
    return create_project(path, demo_studies(n_studies, seed=seed), ask=ask, title=TITLE, notes=NOTES, seed=seed)


def _study(i: int, seed: int) -> Study:
    rng = Random(f"rating {seed} {i}")
    study = draw_study(rng)
    candidates = {source: render(corrupt(study, n, rng)[0], rng.choice(styles()), rng) for source, n in ERRORS.items()}
    context = Context(study.age, study.sex[0].upper(), "Shortness of breath.")
    return Study(f"study-{i + 1:03d}", render(study, rng.choice(styles()), rng), context, candidates)
