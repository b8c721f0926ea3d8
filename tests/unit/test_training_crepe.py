"""Training of CREPE on the invented reports of examples/: data, runs, search, ablation, export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from safetensors.numpy import load_file, save_file
from scipy.stats import spearmanr

from rrgmetrics import BackendError, InputError, cli
from rrgmetrics.backends.checkpoints import find_checkpoint
from rrgmetrics.backends.crepe import load_crepe
from rrgmetrics.backends.crepe.alignment import TYPES_A_TEXT
from rrgmetrics.backends.crepe.model import CrepeSettings
from rrgmetrics.comparing import explain
from rrgmetrics.files import join, read_references, read_system
from rrgmetrics.reports import Context, Pair
from rrgmetrics.synthesis.pairs import CANDIDATE, REFERENCE, Evidence
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.ablation import run_ablation, variant
from rrgmetrics.training.config import CrepeConfig, EncoderConfig, changed, read_config, write_config
from rrgmetrics.training.corpus import save_vocabulary, train_vocabulary
from rrgmetrics.training.crepe import load_tokenizer, selection_metrics, train_crepe
from rrgmetrics.training.export import export_checkpoint
from rrgmetrics.training.labelled import read_labelled_pairs, split_pairs
from rrgmetrics.training.measured import compare_counts, read_measured
from rrgmetrics.training.pretraining import bert_config
from rrgmetrics.training.start import continued
from rrgmetrics.training.tokenized import PairBatches, spread_errors, tokenize_pairs

EXAMPLES = Path(__file__).parents[2] / "examples"
LETTERS = "ABCDEF"
A, B, C = range(3)


def labelled(pair, study, split):
    """A pair with the reader's errors, as a row of the file."""
    counts = {"significant": [0.0] * 6, "insignificant": [0.0] * 6}
    evidence = []
    for number, error in enumerate(explain(reference=pair.reference, candidate=pair.candidate).errors):
        category = LETTERS.index(error.category.letter)
        counts["significant" if error.significant else "insignificant"][category] += 1
        for text, spans in ((REFERENCE, error.reference_spans), (CANDIDATE, error.candidate_spans)):
            evidence += [Evidence(category, number, text, span.start, span.end)._asdict() for span in spans]
    facts = {"reference": pair.reference, "candidate": pair.candidate, "study_id": study, "split": split}
    return facts | counts | {"evidence": evidence, "label_source": "reader", "label_version": "test"}


@pytest.fixture(scope="module")
def rows():
    """32 pairs; the same 32 stand for train and validation, for what is tested is whether they can be learnt."""
    references = read_references(EXAMPLES / "references.csv")
    systems = [join(references, read_system(EXAMPLES / f"system_{name}.csv")) for name in "ab"]
    pairs = [(pair, study) for one in systems for pair, study in zip(one.pairs, one.study_ids, strict=True)][-32:]
    return [labelled(pair, study, split) for split in ("train", "validation") for pair, study in pairs]


def write_pairs(path, rows):
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return str(path)


@pytest.fixture(scope="module")
def shared(rows, tmp_path_factory):
    """A file of pairs and a two-layer encoder with a vocabulary of its own."""
    import torch
    from transformers import BertModel

    folder = tmp_path_factory.mktemp("training")
    texts = [row[name] for row in rows for name in ("reference", "candidate")]
    encoder = folder / "encoder"
    sizes = EncoderConfig(hidden_size=64, layers=2, attention_heads=2, intermediate_size=128, dropout=0.1)
    torch.manual_seed(0)
    tokenizer = train_vocabulary(texts, size=600, min_frequency=1)
    BertModel(bert_config(sizes, tokenizer.get_vocab_size())).save_pretrained(encoder)
    save_vocabulary(tokenizer, encoder, max_length=512)
    return SimpleNamespace(pairs=write_pairs(folder / "pairs.parquet", rows), encoder=str(encoder), rows=rows)


def config_for(shared, **values):
    base = CrepeConfig(
        pairs=(shared.pairs,), encoder=shared.encoder, features="tokens", token_weight=0.1, epochs=2, batch_size=8,
        learning_rate=1e-3, warmup_ratio=0.0, patience=0, precision="fp32", cpu=True,
    )  # fmt: skip
    return changed(base, **values)


def train(config, folder, **options):
    return train_crepe(config, folder, progress=False, **options)


def without_dropout(encoder, folder):
    """A copy of an encoder that learns what it sees in fewer epochs."""
    copy = shutil.copytree(encoder, folder / "encoder")
    settings = json.loads((copy / "config.json").read_text())
    settings |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (copy / "config.json").write_text(json.dumps(settings))
    return str(copy)


# --- overfitting ------------------------------------------------------------------------------------------------------


def test_a_two_layer_encoder_learns_32_pairs(shared, tmp_path):
    encoder = without_dropout(shared.encoder, tmp_path)
    config = config_for(shared, encoder=encoder, epochs=30, learning_rate=4e-3, schedule="linear", token_weight=1.0)
    run = train(changed(config, evaluations=0.1, presence_weight=0.1), tmp_path / "run")
    rows = shared.rows[:32]
    readings = load_crepe(str(run.folder), device="cpu").annotate_pairs(
        [Pair(row["reference"], row["candidate"], Context()) for row in rows]
    )
    predicted = [reading.counts.sum() for reading in readings]
    total = [sum(row["significant"]) + sum(row["insignificant"]) for row in rows]
    assert spearmanr(predicted, total).statistic > 0.9  # 0.96 is all that untied counts can reach: labels are tied
    assert np.abs(np.subtract(predicted, total)).mean() < 0.5  # the mean label is 1.4 off
    assert run.measured[0].tau.value == pytest.approx(read_measured(run.folder)[0].tau.value)


def test_a_run_that_was_killed_ends_as_one_that_was_not(shared, tmp_path, monkeypatch):
    config = config_for(shared, evaluations=2)
    whole = train(config, tmp_path / "whole")

    with monkeypatch.context() as patch:
        save = runs.trainer_class()._save_checkpoint

        def save_and_die(trainer, *arguments, **options):
            save(trainer, *arguments, **options)
            if trainer.state.global_step == 6:
                raise KeyboardInterrupt

        patch.setattr(runs.trainer_class(), "_save_checkpoint", save_and_die)
        with pytest.raises(KeyboardInterrupt):
            train(config, tmp_path / "killed")
    with pytest.raises(InputError, match="started with another learning_rate"):
        train(changed(config, learning_rate=0.5), tmp_path / "killed")
    resumed = train(config, tmp_path / "killed")

    assert "resumed at checkpoint-6" in (resumed.folder / "README.md").read_text()
    one, other = (load_file(run.folder / "model.safetensors") for run in (whole, resumed))
    assert one.keys() == other.keys()
    for name, weight in one.items():
        np.testing.assert_array_equal(weight, other[name], err_msg=name)


def test_a_run_that_an_earlier_version_began_can_be_gone_on_with(shared, tmp_path):
    config = config_for(shared)
    write_config(config, tmp_path / "recipe.yaml")
    runs.check_run(tmp_path, config, force=False)
    with pytest.raises(InputError, match=r"started with another seed; resume it with its recipe\.yaml"):
        runs.check_run(tmp_path, changed(config, seed=1), force=False)


def test_a_finished_run_is_a_checkpoint_with_a_card_and_is_not_replaced(shared, tmp_path):
    config = config_for(shared, epochs=1, features="pooler", token_weight=0.0, loss="poisson", heads=2)
    run = train(config, tmp_path / "run")
    written = {path.name for path in run.folder.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "README.md", "training_config.yaml"} <= written
    assert not written & {"checkpoints", "training_args.bin"}
    card = (run.folder / "README.md").read_text()
    assert "32 to train, 32 validation" in card
    assert "reader test" in card
    assert str(tmp_path) not in card
    settings = json.loads((run.folder / "config.json").read_text())
    assert (settings["num_error_categories"], settings["use_poisson_loss"], settings["use_presence_loss"]) == (
        2,
        True,
        False,
    )
    with pytest.raises(InputError, match="finished run; pass force=True"):
        train(config, tmp_path / "run")
    again = train(changed(config, encoder=str(run.folder), learning_rate=1e-12), tmp_path / "more")
    assert again.measured[0].mae == pytest.approx(run.measured[0].mae, rel=1e-3)  # heads were kept


# --- data -------------------------------------------------------------------------------------------------------------


def test_errors_are_spread_over_the_tokens_of_their_home_text():
    #            [CLS] small left effusion [SEP] large effusion [SEP]
    offsets = np.array([(0, 0), (0, 5), (6, 10), (11, 19), (0, 0), (0, 5), (6, 14), (0, 0)])
    texts = np.array([-1, 0, 0, 0, -1, 1, 1, -1])
    spans = [
        Evidence(A, 0, CANDIDATE, 0, 14),  # A is read in the candidate: two tokens, half each
        Evidence(A, 0, REFERENCE, 0, 5),
        Evidence(B, 1, CANDIDATE, 6, 14),  # B is read in the reference, but has its only span here
        Evidence(C, 2, CANDIDATE, 6, 9),  # touches a part of a token
        Evidence(C, 3, CANDIDATE, 6, 14),
        Evidence(5, 4, REFERENCE, 40, 50),  # F: beyond the text, as in a pair that was cut
    ]
    targets, located = spread_errors(offsets, texts, spans)
    assert targets[:, A].tolist() == [0, 0, 0, 0, 0, 0.5, 0.5, 0]
    assert targets[:, B].tolist() == [0, 0, 0, 0, 0, 0, 1, 0]
    assert targets[:, C].tolist() == [0, 0, 0, 0, 0, 0, 2, 0]
    assert located.tolist() == [1, 1, 2, 0, 0, 0]


def test_batches_are_what_inference_reads(shared, tmp_path):
    first = shared.rows[0] | {
        "reference": "lungs clear.",
        "candidate": "",
        "evidence": [],
        "significant": [0, 2, 0, 0, 0, 0],
    }
    second = shared.rows[1] | {"reference": "lungs " * 600, "candidate": "effusion " * 600, "evidence": []}
    pairs = read_labelled_pairs([write_pairs(tmp_path / "two.parquet", [first, second])])
    tokenizer = load_tokenizer(find_checkpoint(shared.encoder), 512)
    tokens = tokenize_pairs(pairs, np.arange(2), tokenizer, targets=True)
    batch = PairBatches(padding=0, max_length=512)([tokens[0], tokens[1]])
    assert tokens.n_cut == 1
    assert batch["input_ids"].shape == (2, 512)
    expected, _ = tokenizer.join(tokenizer.encode(["lungs clear."])[0].ids, [])
    assert batch["input_ids"][0, : len(expected)].tolist() == expected
    assert batch["attention_mask"].sum(1).tolist() == [len(expected), 512]
    assert batch["token_type_ids"].sum(1).tolist() == [0, 256]  # 254 of the candidate and [SEP], after 255 and 2 marks
    assert batch["labels"][0].tolist() == [0, 2, 0, 0, 0, 0]
    unknown = batch["token_targets"][0].isnan().all(0).tolist()
    assert unknown == [False, True, False, False, False, False]  # two errors are labelled and none is shown


def test_batches_have_few_lengths(shared, tmp_path):
    rows = [shared.rows[0] | {"reference": "lungs " * n, "candidate": "", "evidence": []} for n in range(1, 60)]
    pairs = read_labelled_pairs([write_pairs(tmp_path / "lengths.parquet", rows)])
    tokenizer = load_tokenizer(find_checkpoint(shared.encoder), 50)
    tokens = tokenize_pairs(pairs, np.arange(len(rows)), tokenizer, targets=False)
    collate = PairBatches(padding=0, max_length=50)
    assert {collate([tokens[i]])["input_ids"].shape[1] for i in range(len(rows))} == {16, 32, 48, 50}


def test_studies_stay_on_one_side_of_the_split(rows, tmp_path):
    without = [{key: value for key, value in row.items() if key != "split"} for row in rows]
    pairs = read_labelled_pairs([write_pairs(tmp_path / "pairs.parquet", without)])
    split = split_pairs(pairs, fraction=0.25, seed=3)
    sides = [{pairs.studies[i] for i in split[name]} for name in ("train", "validation")]
    assert not sides[0] & sides[1]
    assert len(split["train"]) + len(split["validation"]) == 64
    assert len(sides[1]) == round(0.25 * len(set(pairs.studies)))
    with pytest.raises(InputError, match="leave no validation rows"):
        split_pairs(pairs, fraction=0.0, seed=3)


def test_pairs_without_label_are_left_out_and_counted(rows, tmp_path):
    unlabelled = rows[0] | {"significant": None, "insignificant": None}
    pairs = read_labelled_pairs([write_pairs(tmp_path / "pairs.parquet", [unlabelled, *rows[1:]])])
    assert (len(pairs), pairs.n_unlabelled) == (63, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: {key: value for key, value in row.items() if key != "candidate"}, "has no column candidate"),
        (lambda row: row | {"significant": [1.0, 2.0]}, "has 2 counts; there are six"),
        (lambda row: row | {"significant": [-1.0] * 6}, "negative count"),
        (lambda row: row | {"reference": None}, "have no text"),
        (lambda row: row | {"split": "dev"}, "'dev'; it is one of train, validation, test"),
        (lambda row: row | {"evidence": None}, "'evidence'; these pairs have none"),
        (lambda row: row | {"significant": None}, "none of 64 rows has a label"),
    ],
)
def test_pairs_that_cannot_be_used(rows, shared, tmp_path, change, message):
    path = write_pairs(tmp_path / "pairs.parquet", [change(row) for row in rows])
    with pytest.raises(InputError, match=message):
        train(config_for(shared, pairs=(path,)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_selection_is_by_tau_of_totals():
    labels = np.array([[0, 0], [1, 0], [1, 1], [3, 0]])
    prediction = SimpleNamespace(predictions=(np.array([[-1, 0.5], [1, 0], [0, 1.5], [2, 2]]), None), label_ids=labels)
    assert selection_metrics(prediction) == {"tau": 1.0, "mae": 0.5}  # totals 0.5, 1, 1.5, 4 of 0, 1, 2, 3: 2 / 4
    flat = SimpleNamespace(predictions=np.ones((4, 2)), label_ids=labels)
    assert selection_metrics(flat)["tau"] == -1


def test_measured_on_paper():
    labels = np.zeros((4, 6))
    labels[:, A] = [0, 1, 2, 3]
    measured = compare_counts("test", labels[[0, 2, 1, 3]], labels, ["a", "b", "c", "d"])
    assert measured.tau.value == pytest.approx(4 / 6)  # one of six pairs of pairs is in the wrong order
    assert measured.mae == 0.5
    assert measured.category_mae == (0.5, 0, 0, 0, 0, 0)
    assert np.isnan(measured.category_tau[B])


# --- configs ----------------------------------------------------------------------------------------------------------


def test_our_configs_can_be_read():
    paper = read_config(CrepeConfig, "crepe")
    assert changed(paper, search=None, ablation=None) == CrepeConfig()
    assert (paper.epochs, paper.batch_size, paper.max_length, paper.presence_weight) == (10, 64, 512, 0.5)
    assert read_config(CrepeConfig, "bundled").features == "tokens"
    assert read_config(CrepeConfig, "aligned").alignment
    assert read_config(EncoderConfig, "encoder").vocabulary_size


def test_configs_are_read_back_as_written(shared, tmp_path):
    config = config_for(shared, search={"learning_rate": {"low": 1e-5, "high": 1e-4, "log": True}})
    write_config(config, tmp_path / "config.yaml")
    assert read_config(CrepeConfig, str(tmp_path / "config.yaml")) == config
    one = read_config(CrepeConfig, "crepe", ["learning_rate=1e-5", "pairs=[a.parquet]", "cpu=true"])
    assert (one.learning_rate, one.pairs, one.cpu) == (1e-5, ("a.parquet",), True)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("learnin_rate=1", "no key 'learnin_rate'; did you mean learning_rate"),
        ("heads=3", "heads is 3; it must be 1, 2 or 6"),
        ("heads=six", "heads is 'six'; it must be 1, 2 or 6"),
        ("loss=l1", "loss is 'l1'; it must be 'mse', 'poisson'"),
        ("epochs=many", "epochs is 'many'; it must be a valid number"),
        ("learning_rate=-1", "learning_rate is -1; it must be greater than 0"),
        ("token_weight=1", "token_weight is 1.0, but features is pooler"),
        ("epochs", "'epochs' is not key=value"),
        ("epochs=[", "the value is not YAML"),
        ("epochs=true", "epochs is True; it must be a valid number"),
        ("batch_size=8.5", "batch_size is 8.5; it must be a valid integer"),
        ("cpu=1", "cpu is 1; it must be a valid boolean"),
        ("pairs=[1]", "pairs.0 is 1; it must be a valid string"),
        ("warmup_ratio=1", "warmup_ratio is 1; it must be less than 1"),
        ("colour=red", "no key 'colour'; the keys are epochs"),
        ("search={dropout: [0.1]}", "search is 'dropout'; it must be over learning_rate"),
        ("search={learning_rate: {low: 1, high: 0}}", "with low below high"),
        ("ablation={colour: [red]}", "ablation is 'colour'"),
    ],
)
def test_wrong_configs(override, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(").replace("[", r"\[")):
        read_config(CrepeConfig, "crepe", [override])


def test_a_config_made_in_python_is_checked_too():
    with pytest.raises(InputError, match="heads is 3; it must be 1, 2 or 6"):
        CrepeConfig(heads=3)
    with pytest.raises(InputError, match="hidden_size 10 is no multiple of 4 attention_heads"):
        changed(EncoderConfig(), hidden_size=10)


def test_a_folder_that_cannot_be_made_is_found_before_any_work(shared, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be created"):
        train(config_for(shared, encoder="nosuch"), tmp_path / "file" / "run")
    with pytest.raises(InputError, match="cannot be created"):
        export_checkpoint("nosuch", tmp_path / "file")


def test_wrong_runs(shared, tmp_path):
    with pytest.raises(
        InputError, match="no bundled configuration of that name; the bundled ones are aligned, bundled, crepe, encoder"
    ):
        read_config(CrepeConfig, "nosuch")
    with pytest.raises(InputError, match="No pairs are named"):
        train(config_for(shared, pairs=()), tmp_path / "run")
    with pytest.raises(InputError, match=r"nosuch\.parquet does not exist"):
        train(config_for(shared, pairs=("nosuch.parquet",)), tmp_path / "run")
    with pytest.raises(InputError, match="max_length is 1024"):
        train(config_for(shared, max_length=1024), tmp_path / "run")
    with pytest.raises(InputError, match="needs a CUDA device"):
        train(config_for(shared, precision="fp16"), tmp_path / "run")
    with pytest.raises(BackendError, match="nobody/nothing"):
        train(config_for(shared, encoder="nobody/nothing"), tmp_path / "run")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is not a run of rrgmetrics"):
        train(config_for(shared), tmp_path / "mine", force=True)


def test_rows_of_like_length_share_a_batch_and_each_comes_once():
    lengths = np.random.default_rng(0).integers(10, 200, 1000)
    order = runs.LengthGroups(lengths, batch_size=8, seed=1)
    first = list(order)
    assert sorted(first) == list(range(1000))
    assert list(order) == first
    order.set_epoch(1)
    assert list(order) != first
    spread = np.mean([np.ptp(lengths[first[i : i + 8]]) for i in range(0, 1000, 8)])
    assert spread < 10


# --- search, ablation, export, command line ---------------------------------------------------------------------------


def test_search_goes_on_and_writes_the_best_config(shared, tmp_path):
    pytest.importorskip("optuna")
    from rrgmetrics.training.search import search_crepe

    ranges = {"learning_rate": {"low": 1e-6, "high": 1e-2, "log": True}, "warmup_ratio": [0.0, 0.2]}
    config = config_for(shared, epochs=1, search=ranges | {"presence_weight": {"low": 0.1, "high": 0.9}})
    search_crepe(config, tmp_path / "search", trials=1, progress=False)
    result = search_crepe(config, tmp_path / "search", trials=2, progress=False)
    assert result.n_trials == 2
    assert result.values.keys() == {"learning_rate", "warmup_ratio", "presence_weight"}
    best = read_config(CrepeConfig, str(result.config))
    assert best.learning_rate == result.values["learning_rate"]
    assert best.search is None
    assert len((tmp_path / "search" / "trials.csv").read_text().splitlines()) == 3


def test_ablation_trains_each_variant_once(shared, tmp_path, monkeypatch):
    config = config_for(shared, epochs=0.5, ablation={"heads": [1, 6], "loss": ["poisson", "mse+bce"]})
    lines = run_ablation(config, tmp_path / "ablation", progress=False)
    assert [(line.title, line.value, line.is_base) for line in lines] == [
        ("Number of heads", "1", False),
        ("", "6", True),
        ("Loss", "Poisson NLL", False),
        ("", "MSE + BCE", True),
    ]
    assert lines[1].measured.tau == lines[3].measured.tau
    assert {path.name for path in (tmp_path / "ablation").iterdir() if path.is_dir()} == {
        "base",
        "heads-1",
        "loss-poisson",
    }
    assert "**MSE + BCE**" in (tmp_path / "ablation" / "README.md").read_text()
    (tmp_path / "ablation" / "README.md").unlink()  # as if it had been stopped before its end
    monkeypatch.setattr("rrgmetrics.training.ablation.train_crepe", None)
    assert run_ablation(config, tmp_path / "ablation", progress=False)[0].measured.tau == lines[0].measured.tau


def test_variants_without_tokens_have_no_token_targets(shared):
    config = config_for(shared)
    assert variant(config, "features", "cls").token_weight == 0
    assert variant(config, "heads", 2).token_weight == 0
    assert variant(config, "loss", "mse").token_weight == config.token_weight


@pytest.mark.parametrize(("storage", "tolerance"), [("int8", 0.01), ("fp16", 1e-3)])
def test_exported_checkpoints_score_alike(shared, tmp_path, storage, tolerance):
    run = train(config_for(shared, epochs=1), tmp_path / "run")
    done = export_checkpoint(run.folder, tmp_path / storage, storage=storage)
    whole = (run.folder / "model.safetensors").stat().st_size / 1e6
    assert done.megabytes < whole * {"int8": 0.35, "fp16": 0.6}[storage]
    assert done.error < tolerance
    pairs = [Pair(row["reference"], row["candidate"], Context()) for row in shared.rows[:4]]
    one, other = (load_crepe(str(folder), device="cpu").annotate_pairs(pairs) for folder in (run.folder, done.folder))
    for first, second in zip(one, other, strict=True):
        np.testing.assert_allclose(first.counts, second.counts, atol=0.05)
    with pytest.raises(InputError, match="exists; pass force=True"):
        export_checkpoint(run.folder, tmp_path / storage, storage=storage)


def test_command_line(shared, tmp_path, capsys):
    arguments = [
        "--pairs",
        shared.pairs,
        "--output",
        str(tmp_path / "run"),
        "--no-progress",
        f"encoder={shared.encoder}",
    ]
    values = ["epochs=0.2", "batch_size=8", "cpu=true", "patience=0"]
    assert cli.main(["train", "crepe", *arguments, *values]) == 0
    assert "crepe@" in capsys.readouterr().out
    assert cli.main(["train", "crepe", *arguments, *values]) == 2
    assert "finished run" in capsys.readouterr().err
    assert cli.main(["train", "export", str(tmp_path / "run"), "--output", str(tmp_path / "small")]) == 0
    assert cli.main(["train", "search", *arguments, "search={}"]) == 2
    assert "The configuration has no search" in capsys.readouterr().err


# --- going on with a checkpoint ---------------------------------------------------------------------------------------


def test_a_checkpoint_goes_on_narrower_and_aligned(tmp_path, checkpoints):
    """Neurons that say nothing can go; types that say nothing of words change nothing."""
    import torch

    tokens = {"crepe_features": "tokens", "cls_token_id": 2, "sep_token_id": 3}
    folder = checkpoints.write_crepe(tmp_path / "crepe", **tokens)
    weights = load_file(folder / "model.safetensors")
    for name in (name for name in weights if name.endswith("output.dense.weight") and "attention" not in name):
        weights[name][:, ::2] = 0
    save_file(weights, folder / "model.safetensors")
    checkpoint = find_checkpoint(str(folder))
    size = weights["bert.encoder.layer.0.intermediate.dense.bias"].shape[0]
    whole = continued(checkpoint, CrepeSettings(**tokens)).eval()
    settings = CrepeSettings(**tokens, crepe_alignment=True)
    narrow = continued(checkpoint, settings, intermediate_size=size // 2).eval()
    assert narrow.config.intermediate_size == size // 2
    ids = torch.tensor([[2, 5, 6, 3, 7, 8, 3]])
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1]])
    with torch.no_grad():
        before, after = (
            model(input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=kinds).counts
            for model, kinds in ((whole, types), (narrow, types * TYPES_A_TEXT))
        )
    assert after.numpy() == pytest.approx(before.numpy(), abs=1e-5)
    short = continued(checkpoint, settings, layers=1)
    assert short.config.num_hidden_layers == len(short.bert.encoder.layer) == 1 < narrow.config.num_hidden_layers
    first = whole.bert.encoder.layer[0].attention.self.query.weight
    assert torch.equal(short.bert.encoder.layer[0].attention.self.query.weight, first)
    for wrong in ({"intermediate_size": 2 * size}, {"layers": 99}):
        with pytest.raises(InputError, match="smaller, not larger"):
            continued(checkpoint, settings, **wrong)


@pytest.mark.parametrize("name", ["layers", "intermediate_size"])
def test_only_checkpoints_of_crepe_are_made_smaller(shared, tmp_path, name):
    with pytest.raises(InputError, match=f"{name} makes CREPE checkpoints smaller"):
        train(config_for(shared, **{name: 1}), tmp_path / "run")
