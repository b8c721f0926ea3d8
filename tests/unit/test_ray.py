"""Ray: the same scores as one process, bad rows unscored, and a run that was killed goes on where it stood."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import rrgmetrics
from rrgmetrics import InputError, cli

ray = pytest.importorskip("ray")
pyarrow = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.slow  # Ray alone takes half a minute to start and to stop

N = 4_000
NAMES = ["bleu", "cider", "bleu?tokenizer=13a"]
REFERENCES = [f"Small left pleural effusion of {number % 50} mm. No pneumothorax." for number in range(N)]
CANDIDATES = [f"Small right effusion of {number % 70} mm." for number in range(N)]
COLUMNS = {"reference": "truth", "study_id": "id"}
RUN = """
import sys
from rrgmetrics import cli
from rrgmetrics.integrations import ray
ray.BLOCK_BYTES, ray.ROWS = 50_000, 250
cli.main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of pairs, in one of which a reference is missing."""
    from pyarrow import parquet

    folder = tmp_path_factory.mktemp("ray") / "pairs"
    folder.mkdir()
    references = [None, *REFERENCES[1:]]
    for part in range(4):
        rows = slice(part, None, 4)
        columns = {
            "id": [f"s{number}" for number in range(N)][rows],
            "truth": references[rows],
            "candidate": CANDIDATES[rows],
        }
        parquet.write_table(pyarrow.table(columns), folder / f"{part}.parquet", row_group_size=250)
    return folder


@pytest.fixture(scope="module")
def alone():
    texts = {"predictions": CANDIDATES[1:], "references": REFERENCES[1:], "progress": False}
    with rrgmetrics.prepare(NAMES) as metrics:
        statistics = metrics.count_references(REFERENCES[1:])
        pairs = rrgmetrics.files.pairs_of(predictions=texts["predictions"], references=texts["references"]).pairs
        return metrics.score_pairs(pairs, statistics=statistics, progress=False)


def test_a_run_that_is_killed_goes_on(folder, alone, tmp_path):
    from pyarrow import parquet

    output = tmp_path / "scored"
    command = [sys.executable, "-c", RUN, "score", folder, "--engine", "ray", "--output", output, "--workers", "2",
               "--metrics", *NAMES, "--columns", "reference=truth,study_id=id"]  # fmt: skip
    first = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while first.poll() is None and not list(output.glob("done/*.parquet")):
        time.sleep(0.1)
    os.killpg(first.pid, signal.SIGKILL)
    done = len(list(output.glob("scores/*.parquet")))
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "4,000 studies" in again.stdout
    assert "bleu: 1 of 4,000 studies not scored (the reference is missing)" in again.stdout
    table = parquet.read_table(output / "scores", columns=["id", "bleu", "cider"])
    assert sorted(table["id"].to_pylist()) == sorted(f"s{number}" for number in range(N))
    assert len(list(output.glob("scores/*.parquet"))) > done
    means = table["cider"].drop_null().to_pylist()
    assert sum(means) / len(means) == pytest.approx(alone["cider"].scores["cider"], rel=1e-12)
    job = json.loads((output / "job.json").read_text())
    assert job["metrics"] == NAMES


def test_a_data_set_is_scored_as_lists_are(folder, alone, tmp_path, capsys, caplog):
    from rrgmetrics.integrations.ray import score_dataset

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        scored = score_dataset(ray.data.read_parquet(str(folder)), NAMES, columns=COLUMNS)
        assert "1 reference is missing (study id s0)" in caplog.text  # before anything is scored
        caplog.clear()
        totals, results = scored.reduce(), scored.results()
        for name in NAMES:
            for found in (totals[name], results[name]):
                assert found.scores == pytest.approx(alone[name].scores, rel=1e-12)
                assert (found.n_pairs, found.n_unscored) == (N, 1)
        with pytest.raises(InputError, match="no column 'verity'"):
            score_dataset(ray.data.read_parquet(str(folder)), NAMES, columns={"reference": "verity"})
        refused_as_by_one_process(tmp_path, capsys, caplog)
        sections_are_read_and_named_as_by_one_process(tmp_path, capsys, caplog)
        (tmp_path / "job.json").write_text('{"source": "elsewhere"}')
        named = ["--columns", "reference=truth", "study_id=id", "--metrics", "bleu"]
        status = cli.main(["score", str(folder), "--engine", "ray", "--output", str(tmp_path), *named])
        assert (status, "contains another job: its source is 'elsewhere'" in capsys.readouterr().err) == (2, True)
    finally:
        ray.shutdown()


def refused_as_by_one_process(tmp_path, capsys, caplog):
    """Doubled and blank ids are refused, and missing reports counted, in the words of one process."""
    rows = [{"study_id": f"s{n}", "reference": REFERENCES[n], "candidate": CANDIDATES[n]} for n in range(30)]
    changes = {
        "doubled": {"study_id": "s3"},
        "blank": {"study_id": " "},
        "none": {"study_id": None},
        "reference": {"reference": None},
        "candidate": {"candidate": "N/A"},
    }
    for name, change in changes.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row | (change if n == 20 else {})) + "\n" for n, row in enumerate(rows)))
        said = []
        for how in (["--no-trivial"], ["--engine", "ray", "--output", str(tmp_path / name)]):
            status = cli.main(["score", str(path), "--metrics", "bleu", "--trials", "5", "--no-progress", *how])
            refused = [line for line in capsys.readouterr().err.splitlines() if line.startswith("rrgmetrics: ")]
            counted = [line.removeprefix(f"{name}: ") for line in caplog.messages if "missing" in line]
            caplog.clear()
            said.append((status, refused + counted))
        assert said[0] == said[1]
        assert said[0][0] == (0 if name in ("reference", "candidate") else 2)
        assert said[0][1]
    from rrgmetrics.integrations.ray import score_dataset

    named = [{"id": row["study_id"], "gt": row["reference"], "pred": row["candidate"]} for row in rows]
    with pytest.raises(InputError, match="column 'id': 's3' is already in"):
        score_dataset(
            ray.data.from_items([row | ({"id": "s3"} if n == 20 else {}) for n, row in enumerate(named)]), "bleu"
        )
    for change, says in (({"study_id": "s3"}, "'s3' is already in"), ({"study_id": " "}, "is blank")):
        dataset = ray.data.from_items([row | (change if n == 20 else {}) for n, row in enumerate(rows)])
        with pytest.raises(InputError, match=says):
            score_dataset(dataset, "bleu")
    ids = [{**row, "reference": row["study_id"], "truth": row["reference"]} for row in rows]
    with pytest.raises(
        InputError, match="column 'reference' holds ids, numbers or paths, such as 's0', and no reports"
    ):
        score_dataset(ray.data.from_items(ids), "bleu")


def sections_are_read_and_named_as_by_one_process(tmp_path, capsys, caplog):
    """Columns are announced, sections that one side lacks are named, and `--text` is heeded."""
    path = tmp_path / "sections.jsonl"
    rows = [{"study_id": f"s{n}", "gt": f"FINDINGS: {REFERENCES[n]}", "candidate": REFERENCES[n]} for n in range(9)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for part, value, word in ((["--text", "findings"], "1.000", ""), ([], "", "9 of 9 references have sections that")):
        said = []
        for how in (["--no-trivial"], ["--engine", "ray", "--output", str(tmp_path / f"sections{len(part)}")]):
            caplog.clear()
            command = ["score", str(path), "--metrics", "bleu", "--trials", "5", "--no-progress", *how, *part]
            assert cli.main(command) == 0
            assert value in capsys.readouterr().out
            said.append([line for line in caplog.messages if "sections that" in line or "is column 'gt'" in line])
        assert len(said[0]) == len(said[1]) == 1 + bool(word)
        assert said[0][1:] == said[1][1:]
    again = [*command, "--text", "findings"]
    assert (cli.main(again), "its text is None, not 'findings'" in capsys.readouterr().err) == (2, True)
