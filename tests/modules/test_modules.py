"""Our modules through `evaluate`: loading, adding, computing, and the traps of evaluate 0.4.6."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import SPECS, BackendError, InputError
from rrgmetrics.testing import case_of

GOOD = ["Clear lungs.", "Small effusion.", "No pneumothorax."]
OTHER = ["The lungs are clear.", "Large effusion.", "Tiny pneumothorax."]


@pytest.fixture
def rouge(data_cache):
    return rrgmetrics.load("rouge")


def compute(module, **keywords):
    return module.compute(progress=False, **keywords)


@pytest.mark.parametrize("name", SPECS)
def test_load_by_folder_equals_score(name, data_cache):
    import evaluate

    reports = case_of(name)
    module = evaluate.load(str(rrgmetrics.module_path(name)))
    values = compute(module, predictions=reports.altered, references=reports.references, per_pair=True)
    result = rrgmetrics.score(name, predictions=reports.altered, references=reports.references, progress=False)[name]
    spec = SPECS[name]
    keys = [key.name for key in spec.keys]
    listed = [f"{key.name}_per_pair" for key in spec.keys if key.per_pair]
    told = [f"{name}_modality"] if name == "mammo_green" else []  # of reports that are no chest X-rays
    assert list(values) == [*keys, f"{name}_n_unscored", f"{name}_signature", *told, *listed]
    assert {key: values[key] for key in keys} == pytest.approx(result.scores, abs=1e-12, nan_ok=True)
    assert values[f"{name}_signature"] == result.signature
    assert values[f"{name}_n_unscored"] == 0
    assert values[f"{name}_per_pair"] == pytest.approx(result.per_pair[name].tolist(), abs=1e-12)
    assert repr(json.loads(json.dumps(values))) == repr(values)  # plain numbers
    assert set(module.features) == {"predictions", "references"}
    assert not list(data_cache.rglob("*.arrow"))  # no report stays on disk


@pytest.mark.parametrize("name", SPECS)
def test_reused_module_equals_a_fresh_one(name, data_cache):
    reports = case_of(name)
    columns = {"predictions": reports.altered[:6], "references": reports.references[:6]}
    module = rrgmetrics.load(name)
    first = compute(module, **columns)
    compute(module, predictions=reports.references[:3], references=reports.altered[:3])
    for other in (module, rrgmetrics.load(name)):
        again = compute(other, **columns)
        words = {key for key, value in first.items() if isinstance(value, list)}
        assert {key: again[key] for key in words} == {key: first[key] for key in words}
        assert {key: again[key] for key in first.keys() - words} == pytest.approx(
            {key: first[key] for key in first.keys() - words}, abs=0, nan_ok=True
        )


@pytest.mark.parametrize("name", SPECS)
def test_all_modules_take_the_same_keywords(name, data_cache):
    contexts = [{"age": "072Y", "sex": "F", "indication": "cough"}, None, {"age": 3}]
    module = rrgmetrics.load(name)
    values = module.compute(
        predictions=GOOD, references=OTHER, contexts=contexts, per_pair=True, batch_size=2, device="cpu", progress=False
    )
    assert len(values[f"{name}_per_pair"]) == 3
    with pytest.raises(
        InputError, match=r"unknown keyword 'stemmer'.*contexts, per_pair, batch_size, device, progress"
    ):
        module.compute(predictions=GOOD, references=OTHER, stemmer=False)


def test_add_add_batch_and_compute_mixed(rouge, data_cache):
    whole = compute(rouge, predictions=GOOD, references=OTHER, per_pair=True)
    rouge.add(prediction=GOOD[0], reference=OTHER[0])
    assert len(rouge) == 1
    rouge.add_batch(predictions=GOOD[1:2], references=OTHER[1:2])
    assert compute(rouge, predictions=GOOD[2:], references=OTHER[2:], per_pair=True) == whole
    for prediction, reference in zip(GOOD, OTHER, strict=True):
        rouge.add(prediction=prediction, reference=reference)
    assert compute(rouge, per_pair=True) == whole
    assert compute(rouge, predictions=tuple(GOOD), references=np.array(OTHER), per_pair=True) == whole
    in_memory = rrgmetrics.load("rouge", keep_in_memory=True)
    in_memory.add_batch(predictions=GOOD, references=OTHER)
    assert compute(in_memory, per_pair=True) == whole


def test_columns_of_datasets_and_pandas(rouge):
    import datasets
    import pandas

    whole = compute(rouge, predictions=GOOD, references=OTHER)
    data = datasets.Dataset.from_dict({"ours": GOOD, "theirs": OTHER})
    assert compute(rouge, predictions=data["ours"], references=data["theirs"]) == whole
    frame = pandas.DataFrame({"ours": GOOD, "theirs": OTHER}, index=[7, 8, 9])
    assert compute(rouge, predictions=frame["ours"], references=frame["theirs"]) == whole


BAD = {
    "number": (3, "is 3 (int)"),
    "bytes": (b"Clear.", "(bytes)"),
    "several": (["Clear.", "Edema."], "is a list of 2"),
    "2 MB": ("effusion " * 250_000, "2,250,000 characters"),
}


@pytest.mark.parametrize("column", ["predictions", "references"])
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("place", [0, 2])
def test_bad_report_is_named(rouge, bad, column, place):
    """evaluate checks the first row alone, and casts numbers and lists to text."""
    value, message = BAD[bad]
    columns = {"predictions": list(GOOD), "references": list(OTHER)}
    columns[column][place] = value
    for call in (lambda: compute(rouge, **columns), lambda: rouge.add_batch(**columns)):
        with pytest.raises(InputError) as error:
            call()
        assert f"{column}[{place}] " in str(error.value)
        assert message in str(error.value)
    with pytest.raises(InputError, match=column[:-1]):
        rouge.add(**{"prediction": "a", "reference": "b"} | {column[:-1]: value})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"predictions": GOOD, "references": GOOD[:2]}, "3 reports and references has 2"),
        ({"predictions": [], "references": []}, "no pairs"),
        ({"predictions": "Clear.", "references": ["Clear."]}, "predictions is 'Clear.'"),
        ({"predictions": GOOD}, "references is None"),
        ({"references": GOOD}, "predictions is None"),
        ({"predictions": [["a", "b"], ["b"], ["c"]], "references": GOOD}, r"predictions\[0\] is a list of 2"),
    ],
)
def test_bad_columns(rouge, columns, message):
    for call in (compute, lambda module, **columns: module.add_batch(**columns)):
        with pytest.raises(InputError, match=message):
            call(rouge, **columns)


def test_messages_count_on_over_batches(rouge):
    rouge.add_batch(predictions=GOOD, references=OTHER)
    with pytest.raises(InputError, match=r"references\[4\] is 3"):
        rouge.add_batch(predictions=["a", "b"], references=["a", 3])
    assert compute(rouge, per_pair=True)["rouge_signature"].count("n:3|")


def test_compute_without_reports(rouge):
    with pytest.raises(InputError, match="no pairs"):
        compute(rouge)


ERRORS = {
    "report": {"predictions": [*GOOD[:2], 3], "references": OTHER},
    "lengths": {"predictions": GOOD[:2], "references": OTHER},
    "keyword": {"predictions": GOOD, "references": OTHER, "colour": 1},
    "contexts": {"predictions": GOOD, "references": OTHER, "contexts": [{"colour": 1}, {}, {}]},
    "batch_size": {"predictions": GOOD, "references": OTHER, "batch_size": 0},
    "nothing": {},
}


@pytest.mark.parametrize("keep_in_memory", [False, True])
@pytest.mark.parametrize("error", ERRORS)
def test_after_an_error_the_next_compute_neither_waits_nor_sees_its_reports(
    error, keep_in_memory, data_cache, no_waiting
):
    """evaluate waits a second for a lock that was leaked."""
    module = rrgmetrics.load("rouge", keep_in_memory=keep_in_memory)
    expected = compute(module, predictions=GOOD, references=OTHER)
    for _ in range(2):
        with pytest.raises(InputError):
            compute(module, **ERRORS[error])
    assert compute(module, predictions=GOOD, references=OTHER) == expected
    assert not list(data_cache.rglob("*.arrow"))


def test_added_reports_survive_a_wrong_keyword(data_cache):
    """Hours of generation are not lost for a typing error."""
    bertscore = rrgmetrics.load("bertscore")
    whole = compute(bertscore, predictions=GOOD, references=OTHER)
    for wrong in (
        {"colour": 1},
        {"contexts": [{}]},
        {"contexts": [{"sex": "?"}, {}, {}]},
        {"batch_size": 0},
        {"device": "gameboy"},
    ):
        bertscore.add_batch(predictions=GOOD, references=OTHER)
        with pytest.raises((InputError, BackendError)):
            compute(bertscore, **wrong)
        assert compute(bertscore) == whole, wrong


def test_error_while_scoring_releases_everything(rouge, monkeypatch, data_cache, no_waiting):
    from rrgmetrics.scorers.rouge import Rouge

    def fail(*arguments):
        raise BackendError("out of memory")

    expected = compute(rouge, predictions=GOOD, references=OTHER)
    with monkeypatch.context() as patch:
        patch.setattr(Rouge, "pair_stats", fail)
        for _ in range(2):
            with pytest.raises(BackendError, match="out of memory"):
                compute(rouge, predictions=GOOD, references=OTHER)
    other = rrgmetrics.load("rouge")
    assert compute(other, predictions=GOOD, references=OTHER) == expected
    assert compute(rouge, predictions=GOOD, references=OTHER) == expected
    assert not list(data_cache.rglob("*.arrow"))


def test_configurations(data_cache, published_checkpoints, reports, tmp_path):
    columns = {"predictions": reports.altered[:3], "references": reports.references[:3]}
    names = {"bleu": ["?tokenizer=13a", "default?tokenizer=13a"], "bertscore": ["radeval", "radeval?idf=call"]}
    for name, configs in names.items():
        for config in configs:
            full = name + config if config.startswith("?") else f"{name}@{config}"
            values = compute(rrgmetrics.load(name, config), **columns)
            assert values == compute(rrgmetrics.load(full), **columns)
            assert values[name] == rrgmetrics.score(full, progress=False, **columns)[full].scores[name]


def test_wrong_configurations(data_cache):
    with pytest.raises(InputError, match="did you mean bleu"):
        rrgmetrics.load("blue")
    with pytest.raises(InputError, match=r"no configuration 'papre'.*default"):
        rrgmetrics.load("bleu", "papre")
    with pytest.raises(InputError, match=r"no option 'colour'.*tokenizer"):
        rrgmetrics.load("bleu", "?colour=red")
    with pytest.raises(InputError, match="already has a configuration"):
        rrgmetrics.load("bertscore@radeval", "radcliq")
    with pytest.raises(InputError, match=r"'use_stemmer'\..* evaluate's rouge.*rouge\?stemmer=yes"):
        rrgmetrics.load("rouge", use_stemmer=True)
    with pytest.raises(InputError, match=r"'use_stemmer'.*evaluate's rouge.*rouge\?stemmer=yes"):
        rrgmetrics.load("rouge").compute(predictions=GOOD, references=OTHER, use_stemmer=True)
    with pytest.raises(InputError, match=r"unknown keyword 'max_order'.*bleu_1, bleu_2 and bleu_3"):
        rrgmetrics.load("bleu").compute(predictions=GOOD, references=OTHER, max_order=2)
    with pytest.raises(InputError, match=r"unknown keyword 'tokenizer'.*\?tokenizer=13a"):
        rrgmetrics.load("bleu", tokenizer="13a")
    for wrong in ("num_proces", "info", "kwargs"):
        with pytest.raises(InputError, match="unknown keyword"):
            rrgmetrics.load("bleu", **{wrong: 2})


def test_missing_weights_are_named_at_load_and_at_once(data_cache, tmp_path, monkeypatch, no_waiting):
    rrgmetrics.load("bertscore")  # evaluate and torch are imported
    monkeypatch.setenv("HF_HOME", str(tmp_path / "empty"))
    for config in ("paper", "radeval", "some/model", "some/model@v1", str(tmp_path / "nowhere")):
        with pytest.raises(BackendError) as error:
            rrgmetrics.load("bertscore", config)
        named = {"paper": "roberta-large", "radeval": "distilbert-base-uncased"}.get(config, config.partition("@")[0])
        assert named in str(error.value)


def test_nothing_is_written_into_a_checkpoint_folder(data_cache, published_checkpoints, reports):
    folder = next((published_checkpoints / "models--distilbert-base-uncased" / "snapshots").iterdir())
    before = {path: path.stat().st_mtime_ns for path in folder.parents[1].rglob("*")}
    module = rrgmetrics.load("bertscore", f"{folder}?layer=5")
    module.add_batch(predictions=reports.altered, references=reports.references)
    assert list(data_cache.rglob("*.arrow"))
    compute(module)
    assert {path: path.stat().st_mtime_ns for path in folder.parents[1].rglob("*")} == before


def test_threads_with_an_instance_each(data_cache):
    expected = compute(rrgmetrics.load("rouge"), predictions=GOOD, references=OTHER)
    modules = [rrgmetrics.load("rouge", experiment_id=f"thread{i}") for i in range(4)]
    results = []
    threads = [
        threading.Thread(target=lambda m=module: results.append(compute(m, predictions=GOOD, references=OTHER)))
        for module in modules
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_combine(data_cache, reports):
    import evaluate

    together = evaluate.combine([rrgmetrics.load(name) for name in SPECS])
    columns = {"predictions": reports.altered[:4], "references": reports.references[:4]}
    values = compute(together, **columns, per_pair=True)
    alone: dict = {}
    for name in SPECS:
        alone |= compute(rrgmetrics.load(name), **columns, per_pair=True)
    assert str(values) == str(alone)  # no key is prefixed; as texts, where NaN is NaN
    together.add_batch(**columns)
    assert str(compute(together, per_pair=True)) == str(alone)
    paths = evaluate.combine([str(rrgmetrics.module_path(name)) for name in ("bleu", "rouge")])
    assert compute(paths, **columns)["rouge"] == alone["rouge"]


def test_save(data_cache, tmp_path, rouge, capfd):
    import evaluate

    values = compute(rouge, predictions=GOOD, references=OTHER, per_pair=True)
    evaluate.save(tmp_path / "result.json", **values, model="invented")
    saved = json.loads((tmp_path / "result.json").read_text())
    assert {key: saved[key] for key in values} == values


def test_an_unused_module_can_be_pickled_to_a_worker(rouge):
    import pickle

    again = pickle.loads(pickle.dumps(rouge))
    assert compute(again, predictions=GOOD, references=OTHER) == compute(rouge, predictions=GOOD, references=OTHER)


def test_contexts_with_several_processes_are_refused(data_cache):
    module = rrgmetrics.load("rouge", num_process=2, process_id=0)
    with pytest.raises(InputError, match="contexts cannot be gathered"):
        compute(module, predictions=GOOD, references=OTHER, contexts=[{}, {}, {}])


def test_docstrings_show_the_inputs(rouge):
    for text in (rouge.compute.__doc__, rouge.add_batch.__doc__, rouge.inputs_description, type(rouge).__doc__):
        assert "predictions (list of str)" in text
    assert "longest common subsequence" in rouge.description
    assert "lin-2004-rouge" in rouge.citation


def test_a_module_that_is_asked_pair_by_pair_warns_once(caplog, data_cache):
    module, mean = rrgmetrics.load("bleu"), rrgmetrics.load("rouge")
    for _ in range(7):
        for each in (module, mean):
            each.compute(predictions=["Clear lungs."], references=["The lungs are clear."], progress=False)
    (message,) = [record.message for record in caplog.records if "with single pairs" in record.message]
    assert message.startswith("bleu was called with single pairs 5 times; its corpus value is not a mean over pairs")
