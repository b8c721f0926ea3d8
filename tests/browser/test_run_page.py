"""The page of a training run, in a browser: light and dark, wide and narrow, without scripts."""

from __future__ import annotations

import pytest

from rrgmetrics.callbacks import run
from rrgmetrics.callbacks.baselines import Watch
from rrgmetrics.callbacks.sampling import Sample
from rrgmetrics.callbacks.scoring import Scoring
from rrgmetrics.callbacks.tables import make_rows, write
from rrgmetrics.reports import Pair

REFERENCES = ["Small left pleural effusion.", "Mild cardiomegaly. No pneumothorax.", "The lungs are clear."] * 3


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder, scoring = tmp_path_factory.mktemp("reports"), Scoring(["finding_score", "green"])
    watch = Watch(scoring, "bundled")
    for n_right, step in ((1, 100), (5, 200), (8, 300)):
        pairs = [Pair(text, text if i < n_right else "Large mass.") for i, text in enumerate(REFERENCES)]
        scores = scoring.score(pairs)
        watch.see(pairs, scores.values)
        write(
            make_rows([Sample(i, i, pair) for i, pair in enumerate(pairs)], scores.results, step, 2),
            folder,
            f"eval_{step:06d}",
        )
        run.add(folder, "eval", run.values_of(step, scores, watch.baselines))
    return run.write_page(folder, ["eval"], "a run").as_uri()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_it_looks_right(open_page, photograph, accessible, fits, address, width, scheme):
    page = open_page(width, scheme, java_script_enabled=True)
    page.goto(address)
    assert page.locator("svg polygon.band").count() == 2
    page.locator("summary", has_text="Every value").click()
    assert page.get_by_text("green_n_unscored").is_visible()
    fits(page)
    accessible(page)
    photograph(page, f"run-{width}-{scheme}")
