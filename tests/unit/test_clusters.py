"""A picture of GREEN's clusters of typical errors."""

from __future__ import annotations

import numpy as np
import pytest

from rrgmetrics import cli
from rrgmetrics.errors import InputError
from rrgmetrics.reporting.clusters import clusters, draw_clusters, placed
from rrgmetrics.scoring.error_summary import search_clusters, summarise

pytest.importorskip("sklearn", reason="pip install 'rrgmetrics[plots]'")
imread = pytest.importorskip("matplotlib.image", reason="pip install 'rrgmetrics[plots]'").imread
WORDS = ("Small left pleural effusion", "Large right pneumothorax", "Mild cardiomegaly", "Tube at 1 cm")
EXPLAINED = [
    {
        "score": 0.5,
        "significant": {"missing_finding": {"count": 2, "errors": [word, f"{word}, {n} cm"]}},
        "insignificant": {},
    }
    for n in range(4)
    for word in WORDS
] + [
    {"score": 0.5, "significant": {"false_finding": {"count": 1, "errors": ["A $x_1$ nodule"]}}, "insignificant": {}},
    {"unscored": "why"},
]


def test_errors_are_placed_with_the_clusters_of_the_summary(tmp_path):
    found = clusters(EXPLAINED)
    assert [each.category.letter for each in found] == ["A", "B"]
    one, missing = found
    assert (len(one.texts), len(missing.texts)) == (1, 32)
    assert (
        missing.typical
        == summarise("green", EXPLAINED, [each.get("score", np.nan) for each in EXPLAINED]).kinds[1].typical
    )
    again = clusters(EXPLAINED)[1]
    np.testing.assert_array_equal(missing.places, again.places)
    np.testing.assert_array_equal(missing.labels, again.labels)
    draw_clusters(found, tmp_path / "clusters.png")
    drawn = imread(tmp_path / "clusters.png")[..., :3]
    inked = (drawn < 0.95).any(axis=(0, 2))  # columns with anything but white
    thirds = np.array_split(inked, 3)
    assert [third.mean() > 0.5 for third in thirds] == [True, True, False]
    with pytest.raises(InputError, match="exists"):
        draw_clusters(found, tmp_path / "clusters.png")


def test_what_is_alike_lies_side_by_side():
    random = np.random.default_rng(0)
    centres = np.eye(8)[:3].repeat(20, axis=0)
    vectors = centres + 0.02 * random.normal(size=centres.shape)
    places, labels = placed(vectors), search_clusters(vectors)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    group = np.arange(60) // 20
    assert (group[distances.argmin(axis=1)] == group).all()
    assert len(labels) == 60
    for few in (1, 2, 3, 5):
        assert placed(vectors[:few]).shape == (few, 2)
        assert np.isfinite(placed(vectors[[0] * few])).all()


def test_on_the_command_line(tmp_path, capsys):
    rows = ["study_id,reference,candidate", "1,Small left effusion. Mild cardiomegaly.,Large right pneumothorax."]
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    common = ["score", str(tmp_path / "pairs.csv"), "--no-trivial", "--no-progress"]
    picture = tmp_path / "clusters.png"
    assert cli.main([*common, "--metrics", "green", "--clusters", str(picture)]) == 0
    assert picture.is_file()
    assert cli.main([*common, "--metrics", "rouge", "--clusters", str(picture), "--force"]) == 2
    assert "--clusters needs a GREEN metric" in capsys.readouterr().err
    with pytest.raises(InputError, match="no clusters"):
        clusters([{"score": 1.0, "significant": {}}])
