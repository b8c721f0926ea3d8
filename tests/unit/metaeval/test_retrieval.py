"""Retrieval on labelled pools: numbers worked out by hand, pools, and the commands."""

import csv
import math

import numpy as np
import pytest

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.retrieval import KEYS, Pool, make_pool, read_pool, retrieve, scores_of_queries, shared_labels

NAN = float("nan")
NDCG = KEYS.index("nDCG@5")


def labels(*texts):
    return [frozenset(text.split()) for text in texts]


def test_shared_labels():
    assert shared_labels(labels("a b", "b c", "a b c", "d")).tolist() == [
        [0, 1, 2, 0],
        [1, 0, 2, 0],
        [2, 2, 0, 0],
        [0, 0, 0, 0],
    ]


def test_scores_by_hand():
    # One query at angle 0; seven others at growing angles, so they are ranked in order; gains 2, 0, 1, 0, 0, 0, 1.
    angles = np.radians([0, 10, 20, 30, 40, 50, 60, 70])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.arange(1, 9)[:, None]  # lengths do not matter
    gains = np.zeros((8, 8))
    gains[0, 1:] = [2, 0, 1, 0, 0, 0, 1]
    found = dict(zip(KEYS, scores_of_queries(vectors, gains)[0], strict=True))
    best = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert found["P@5"] == pytest.approx(2 / 5)
    assert found["P@10"] == pytest.approx(3 / 10)
    assert found["P@50"] == pytest.approx(3 / 50)
    assert found["P@100"] == pytest.approx(3 / 100)
    assert found["nDCG@5"] == pytest.approx((2 + 1 / math.log2(4)) / best)
    assert found["nDCG@10"] == pytest.approx((2 + 1 / math.log2(4) + 1 / math.log2(8)) / best)
    assert found["mAP"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 7) / 3)
    assert np.isnan(scores_of_queries(vectors, gains)[1:]).all()  # they have nothing to find


def test_ndcg_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    vectors, gains = rng.normal(size=(30, 4)), rng.integers(3, size=(30, 30)).astype(float)
    np.fill_diagonal(gains, 0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = scores_of_queries(vectors, gains)
    for query in range(30):
        others = np.delete(np.arange(30), query)
        gain, cosine = gains[query, others], unit[others] @ unit[query]
        assert found[query, NDCG] == pytest.approx(metrics.ndcg_score([gain], [cosine], k=5))
        assert found[query, NDCG + 1] == pytest.approx(metrics.ndcg_score([gain], [cosine], k=10))
        assert found[query, -1] == pytest.approx(metrics.average_precision_score(gain > 0, cosine))


def test_zero_vectors_keep_the_order_of_the_pool():
    found = scores_of_queries(np.zeros((3, 2)), np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0.0]]))
    assert found[:, -1].tolist() == [0.5, 0.5, 1]


REPORTS = ["Small left effusion.", "Left pleural effusion.", "Mild cardiomegaly.", "The heart is enlarged.", "Clear."]
POOL = Pool(REPORTS, labels("effusion", "effusion", "heart", "heart", "normal"))


def test_bundled_encoders_retrieve():
    found = retrieve(POOL, ["bundled", "minilm", "bundled#1"], trials=20)
    assert [each.n_left_out for each in found] == [1, 1, 1]
    assert found[1].scores["mAP"].n == 4
    assert 0.5 < found[1].scores["mAP"].value <= 1
    assert found[0].facts["layers"] == "3"
    assert found[2].facts["layers"] == "1"


def test_drawn_queries_have_a_mean_and_a_deviation_over_seeds():
    pool = Pool(
        [f"{text} {n}." for text in ("Effusion", "Edema", "Nodule") for n in range(8)],
        labels(*"aaaaaaaabbbbbbbbcccccccc"),
    )
    (found,) = retrieve(pool, ["minilm"], queries=5, seeds=10, seed=3)
    (whole,) = retrieve(pool, ["minilm"], trials=10)
    assert found.per_seed.shape == (10, len(KEYS))
    by_hand = [
        whole.per_query[np.random.default_rng(seed).choice(24, 5, replace=False)].mean(axis=0) for seed in range(3, 13)
    ]
    np.testing.assert_allclose(found.per_seed, by_hand)
    assert found.scores["mAP"].value == pytest.approx(np.mean(by_hand, axis=0)[-1])
    assert found.deviations["mAP"] == pytest.approx(np.std(by_hand, axis=0, ddof=1)[-1])
    assert found.scores["mAP"].n == 5
    assert retrieve(pool, ["minilm"], queries=24, seeds=2)[0].deviations["mAP"] == pytest.approx(0)
    with pytest.raises(InputError, match="queries is 25; 24 reports"):
        retrieve(pool, ["minilm"], queries=25)
    with pytest.raises(InputError, match="seeds is 1"):
        retrieve(pool, ["minilm"], queries=5, seeds=1)


@pytest.mark.parametrize(
    ("pool", "encoders", "message"),
    [
        (Pool(REPORTS[:2], labels("a", "b")), ["bundled"], "No two reports of the pool share a label"),
        (POOL, ["bundled", "bundled"], "each only once"),
        (POOL, [], "at least one"),
        (POOL, ["minilm#top"], "'top' is not a layer"),
    ],
)
def test_wrong_retrieval(pool, encoders, message):
    with pytest.raises(InputError, match=message):
        retrieve(pool, encoders, trials=10)


OPENI = [
    ["uid", "Problems", "findings", "impression"],
    *([f"e{n}", "Pleural Effusion/left/small", "Small effusion.", f"Effusion {n}."] for n in range(4)),
    *([f"c{n}", "Cardiomegaly/mild", "", f"Cardiomegaly {n}."] for n in range(3)),
    ["both", "Cardiomegaly; Pleural effusion", "Effusion.", "Large heart."],
    ["normal", "normal", "Clear.", ""],
]


@pytest.fixture
def openi(tmp_path):
    with (tmp_path / "openi.csv").open("w", newline="") as file:
        csv.writer(file).writerows(OPENI)
    return tmp_path / "openi.csv"


def test_pools_from_data_like_openi(openi):
    pool = read_pool(openi, text="findings,impression", labels="Problems")
    assert pool.reports[0] == "Small effusion. Effusion 0."
    assert pool.reports[4] == "Cardiomegaly 0."
    assert pool.labels[7] == {"cardiomegaly", "pleural effusion"}
    one = make_pool(pool, per_label=3)
    assert one.counts == {"pleural effusion": 3, "cardiomegaly": 3}
    assert len(one.reports) == 6
    several = make_pool(pool, per_label=4, labels=["Cardiomegaly"], several=True)
    assert several.counts == {"cardiomegaly": 4}
    assert make_pool(pool, per_label=3, seed=1) == make_pool(pool, per_label=3, seed=1)
    with pytest.raises(InputError, match=r"too few reports of cardiomegaly \(3\)"):
        make_pool(pool, per_label=4, labels=["cardiomegaly"])
    with pytest.raises(InputError, match="No label has 9 reports; most frequent: pleural effusion 4"):
        make_pool(pool, per_label=9)


def test_a_pool_of_one_report(tmp_path):
    (tmp_path / "one.csv").write_text("report,labels\nSmall effusion.,effusion\n")
    with pytest.raises(InputError, match=r"one\.csv has 1 report; a pool has two or more"):
        read_pool(tmp_path / "one.csv", text="report", labels="labels")


def test_the_commands(openi, tmp_path, capsys):
    pool = tmp_path / "pool.csv"
    columns = ["--text", "findings,impression", "--labels", "Problems"]
    assert main(["retrieve", "pool", str(openi), *columns, "--per-label", "3", "--output", str(pool)]) == 0
    assert "6 reports (cardiomegaly 3, pleural effusion 3)" in capsys.readouterr().out
    wanted = ["--encoders", "minilm", "--trials", "10", "--output", str(tmp_path / "out.csv")]
    assert main(["retrieve", "measure", str(pool), *wanted]) == 0
    assert "Retrieval of 6 reports with 2 labels" in " ".join(capsys.readouterr().out.split())
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["score"] for row in csv.DictReader(file)] == list(KEYS)
    assert main(["retrieve", "measure", str(pool), *wanted, "--force", "--queries", "2", "--seeds", "3"]) == 0
    assert "2 reports are queries, drawn with each of 3 seeds" in " ".join(capsys.readouterr().out.split())
    with (tmp_path / "out.csv").open(newline="") as file:
        assert all(float(row["sd"]) >= 0 for row in csv.DictReader(file))
    assert main(["retrieve", "measure", str(pool), "--labels", "topics"]) == 2
    assert "no column 'topics'; it has: report, labels" in capsys.readouterr().err
