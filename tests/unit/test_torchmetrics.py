"""`ReportMetric`: the sums of batches and of processes are those of all pairs at once."""

import copy
import json
import pickle

import matplotlib
import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import InputError

pytest.importorskip("torchmetrics")
from rrgmetrics.integrations.torchmetrics import ReportMetric

METRICS = ["bleu", "bleu?tokenizer=13a", "rouge", "chexbert_f1", "finding_score"]
REFERENCES = [
    "Small right pleural effusion. The heart is enlarged.",
    "The lungs are clear.",
    "Lorem ipsum dolor sit amet.",  # out of the readers' scope: unscored by them, and by no other metric
    "No acute findings.",
    "Left upper lobe nodule measuring 8 mm.",
]
CANDIDATES = ["Small left effusion.", "Clear lungs.", "Lorem ipsum dolor.", "", "Nodule in the left upper lobe."]

WORKER = """
import json, multiprocessing, os, sys
import torch.distributed
from rrgmetrics.integrations.torchmetrics import ReportMetric

metrics, candidates, references = json.loads(sys.argv[1])

def work(rank, store):
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    metric, other = ReportMetric(metrics), ReportMetric("bleu", key="bleu")
    mine = slice(0, 3) if rank else slice(3, None)
    metric.update(candidates[mine], references[mine])
    if rank:  # the other process has nothing
        other.update(candidates, references)
    values = {key: value.item() for key, value in metric.compute().items()}
    if other.compute().item() != values["bleu"]:
        sys.exit("a process without reports changes the score")
    if rank == 0:
        print(json.dumps(values))

context = multiprocessing.get_context("fork")
processes = [context.Process(target=work, args=(rank, os.path.abspath("store"))) for rank in (0, 1)]
for process in processes:
    process.start()
for process in processes:
    process.join()
sys.exit(any(process.exitcode for process in processes))
"""


def scored(candidates, references):
    results = rrgmetrics.score(METRICS, predictions=candidates, references=references, progress=False)
    end = {name: "__tokenizer_13a" if "?" in name else "" for name in METRICS}
    values = {key + end[name]: value for name, result in results.items() for key, value in result.scores.items()}
    return values | {f"{r.spec.name}{end[name]}_n_unscored": r.n_unscored for name, r in results.items()}


def close(values, expected):
    assert values.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(float(values[key]), value, rtol=0, atol=1e-12, err_msg=key)


def test_batches_sum_to_the_whole():
    metric = ReportMetric(METRICS)
    metric.update(CANDIDATES[:2], REFERENCES[:2])
    close(metric(CANDIDATES[2:4], REFERENCES[2:4]), scored(CANDIDATES[2:4], REFERENCES[2:4]))  # the batch alone
    metric.update(CANDIDATES[4:], REFERENCES[4:])
    expected = scored(CANDIDATES, REFERENCES)
    assert expected["finding_score_n_unscored"] == 1
    for each in (metric, copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        close(each.compute(), expected)
    metric.reset()
    metric.update(CANDIDATES[:1], REFERENCES[:1])
    close(metric.compute(), scored(CANDIDATES[:1], REFERENCES[:1]))


def test_what_processes_send_each_other_sums_to_the_whole():
    other = ReportMetric(METRICS)
    other.update(CANDIDATES[3:], REFERENCES[3:])
    sent = iter([other.metric_state[name] for name in other.metric_state])
    metric = ReportMetric(
        METRICS,
        dist_sync_fn=lambda state, group: [state, next(sent)],
        distributed_available_fn=lambda: True,
    )
    metric.update(CANDIDATES[:3], REFERENCES[:3])
    close(metric.compute(), scored(CANDIDATES, REFERENCES))


@pytest.mark.slow
def test_processes_sum_to_the_whole(run_python):
    printed = run_python(WORKER, json.dumps([METRICS, CANDIDATES, REFERENCES]))
    close(json.loads(printed), scored(CANDIDATES, REFERENCES))


def test_one_key_is_a_scalar_with_its_direction():
    metric = ReportMetric("crepe", key="crepe")
    metric.update(CANDIDATES[:1], REFERENCES[:1])
    assert metric.compute().shape == ()
    assert metric.higher_is_better is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"metrics": "cider"}, "cider: the score of a pair depends on the other pairs"),
        ({"metrics": ["bleu", "bertscore?idf=call"]}, "ReportMetrics, which scores all pairs at once"),
        ({"metrics": ["bleu", "bleu?tokenizer=coco"]}, "have the same keys"),
        ({"metrics": "bleu", "key": "blue_1"}, "choose one of bleu, bleu_1"),
    ],
)
def test_what_cannot_be_summed_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        ReportMetric(**arguments)


def test_a_wrong_batch_adds_nothing():
    metric = ReportMetric("bleu")
    metric.update(CANDIDATES, REFERENCES)
    before = metric.compute()
    with pytest.raises(InputError, match="1 report and references has 2"):
        metric.update(["Clear lungs."], ["Clear lungs.", "Clear."])
    assert metric.compute() == before


def test_plot_says_what_stands_in():
    matplotlib.use("Agg")
    metric = ReportMetric(["crepe", "bleu"])
    steps = [metric(CANDIDATES[:2], REFERENCES[:2]), metric(CANDIDATES[2:], REFERENCES[2:])]
    _, axes = metric.plot(steps)
    assert [line.get_label() for line in axes.lines if line.get_label()[0] != "_"][:2] == ["CREPE (bundled)", "BLEU-4"]
    assert metric.higher_is_better is None
    _, axes = ReportMetric("bleu", key="bleu_1").plot(steps[0]["bleu_1"])
    assert axes.get_ylabel() == "BLEU-1"
