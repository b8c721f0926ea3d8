"""Training of judges: what is learnt from which file, how a run goes on, and what its folder is good for."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from safetensors.numpy import load_file

import rrgmetrics
from rrgmetrics import InputError, cli
from rrgmetrics.backends.compared_pairs import ComparedPairs
from rrgmetrics.errors import BackendError
from rrgmetrics.judges.base import EngineName, Reply
from rrgmetrics.judges.cache import Record
from rrgmetrics.judges.engines import load_engine
from rrgmetrics.judges.engines.chats import prompt_ids
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.crimson import CrimsonProtocol
from rrgmetrics.synthesis.pairs import Draft, Label, row_of, schema
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.config import JudgeConfig, asked_as, changed, read_config
from rrgmetrics.training.judge import Questions, judge_trainer, train_judge
from rrgmetrics.training.judge_data import IGNORED, PROTOCOLS, count_errors, ending, read_judge_data, token_rows
from rrgmetrics.training.judge_models import model_and_tokenizer

pytest.importorskip("trl", reason="pip install 'rrgmetrics[training]'")

FINDINGS = (
    "Small left pleural effusion.",
    "Large right pneumothorax.",
    "Mild cardiomegaly.",
    "Endotracheal tube 4 cm above the carina.",
    "Consolidation in the left lower lobe.",
    "No pneumothorax.",
    "Moderate pulmonary edema.",
    "Lungs are clear.",
)
PAIRS = [Pair(reference, candidate) for reference in FINDINGS for candidate in FINDINGS]


def write_pairs(path, pairs):
    columns = {"study_id": list(range(len(pairs))), "reference": [p.reference for p in pairs]}
    parquet.write_table(pyarrow.table(columns | {"candidate": [p.candidate for p in pairs]}), path)
    return str(path)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("pairs") / "pairs.parquet", PAIRS)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("few") / "pairs.parquet", PAIRS[::3])


def config_for(pairs, **values):
    base = JudgeConfig(
        pairs=(pairs,), hidden_size=32, layers=1, attention_heads=2, vocabulary_size=600, batch_size=16, epochs=1,
        learning_rate=3e-3, validation_fraction=0.3, validation_pairs=1, patience=0, max_length=512, cpu=True,
    )  # fmt: skip
    return changed(base, **values)


def train(config, folder, **options):
    return train_judge(config, folder, progress=False, **options)


def bundled(protocol):
    compared = ComparedPairs(engine="reader").annotate_pairs(PAIRS)
    return [protocol.from_comparison(pair, each) for pair, each in zip(PAIRS, compared, strict=True)]


# --- replies


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_reply_is_read_as_the_verdict_it_was_written_from(name):
    protocol = PROTOCOLS[name]
    for pair, verdict in zip(PAIRS, bundled(protocol), strict=True):
        read = protocol.verdict(pair, [protocol.written(verdict)])
        assert getattr(read, "notes", ()) == ()
        assert count_errors(read) == count_errors(verdict)
        if name == "crimson":
            assert read.tally == verdict.tally
        else:
            assert read.significant.counts == verdict.significant.counts
            assert read.insignificant.counts == verdict.insignificant.counts
        if name == "green":
            assert (read.score, read.n_matched, read.matched) == (verdict.score, verdict.n_matched, verdict.matched)
            said = [words.rstrip(".").replace(";", ",") for each in verdict.significant.words for words in each]
            assert [words for each in read.significant.words for words in each] == said


def test_recorded_replies_are_learnt_word_for_word(tmp_path, pairs):
    """Those that hold no verdict are left out and counted, as are pairs without one."""
    protocol = PROTOCOLS["chexprompt"]
    file = tmp_path / "replies.jsonl"
    said = [f"Of course.\n{protocol.written(verdict)}" for verdict in bundled(protocol)]
    said[3] = "I cannot help with that."
    with file.open("wb") as lines:
        for pair, reply in list(zip(PAIRS, said, strict=True))[:-1]:
            (prompt,) = protocol.prompts(pair)
            lines.write(Record.of(prompt, Reply(reply), "openai:strong", {}).line())
    data = read_judge_data(config_for(pairs, protocol="chexprompt", labels=f"replies:{file}"))
    learnt = {example.pair: example.reply for rows in data.rows.values() for example in rows}
    assert learnt == {pair: reply for n, (pair, reply) in enumerate(zip(PAIRS, said, strict=True)) if n not in (3, 63)}
    assert data.left_out == {"there is no verdict": 1, "the recorded reply cannot be parsed": 1}
    with pytest.raises(InputError, match=r"no reply is to a question of green about these pairs; record them with"):
        read_judge_data(config_for(pairs, labels=f"replies:{file}"))


def test_counts_of_raters_are_learnt(tmp_path):
    """The mean over raters, to whole errors; errors of which nobody says whether they matter do."""
    file = tmp_path / "rated.csv"
    rows = ["reference,candidate,rater,false_finding,missing_finding,missing_finding_significant"]
    for n, pair in enumerate(PAIRS[:20]):
        rows += [f"{pair.reference},{pair.candidate},{rater},{count},{n},1" for rater, count in (("x", 1), ("y", 2))]
    file.write_text("\n".join(rows))
    for name in ("green", "chexprompt"):
        data = read_judge_data(config_for(str(file), protocol=name, labels="counts"))
        found = {example.pair: example for rows in data.rows.values() for example in rows}
        assert len(found) == 20
        verdict = PROTOCOLS[name].verdict(PAIRS[7], [found[PAIRS[7]].reply])
        assert verdict.significant.counts == (2, 1, 0, 0, 0, 0)
        assert verdict.insignificant.counts == (0, 6, 0, 0, 0, 0)
    file.write_text("reference,candidate,false_finding\nClear.,Clear.,many")
    with pytest.raises(
        InputError, match=r"rated\.csv, line 2, column 'false_finding' is 'many'; it must be a number of errors"
    ):
        read_judge_data(config_for(str(file), labels="counts"))
    with pytest.raises(InputError, match="labels=counts does not list the findings that CRIMSON's replies need"):
        config_for(str(file), labels="counts", protocol="crimson")


def test_pairs_of_a_synthesis_keep_their_parts(tmp_path):
    file = tmp_path / "made.parquet"
    cli.main(["synthesize", "generator:40", "--pairs", "80", "--output", str(file), "--no-progress"])
    written = parquet.read_table(file).to_pylist()
    data = read_judge_data(config_for(str(file)))
    for part in ("train", "validation"):
        expected = {(row["reference"], row["candidate"]) for row in written if row["split"] == part}
        assert {example.pair[:2] for example in data.rows[part]} == expected
    assert data.left_out["of the part test"] == sum(row["split"] == "test" for row in written)
    significant = {(row["reference"], row["candidate"]): row["significant"] for row in written}
    for example in read_judge_data(config_for(str(file), labels="counts")).rows["train"]:
        verdict = PROTOCOLS["green"].verdict(example.pair, [example.reply])
        assert verdict.significant.counts == tuple(significant[example.pair[:2]])


# --- tokens


@pytest.mark.parametrize("template", ["", "chat", "chat without an end"])
def test_the_loss_covers_the_reply_and_its_end_alone(pairs, template):
    config = config_for(pairs)
    examples = read_judge_data(config).rows["train"]
    model, tokenizer = model_and_tokenizer(config, examples)
    end = "" if template.endswith("end") else "</s>"
    if template:
        tokenizer.chat_template = (
            "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% if m.role == 'assistant' %}"
            f"{end}{{% endif %}}\n{{% endfor %}}{{% if add_generation_prompt %}}[assistant] {{% endif %}}"
        )
    raw = not template
    asked = Questions(config, examples[:1], tokenizer, raw)
    rows = token_rows(examples, tokenizer, raw=raw, max_length=512, left_out={})
    trainer = judge_trainer(config, model, rows, asked, Path("unused"), progress=False)
    batch = next(iter(trainer.get_train_dataloader()))
    by_question = {tuple(prompt_ids(tokenizer, each.prompt, raw=raw)): each for each in examples}
    for ids, mask, labels in zip(batch["input_ids"], batch["attention_mask"], batch["labels"], strict=True):
        learnt = labels != IGNORED
        question = ids[mask.bool() & ~learnt]
        example = by_question[tuple(question.tolist())]
        assert tokenizer.decode(labels[learnt]) == example.reply + "</s>"
        assert ending(tokenizer, example, raw=raw) == [tokenizer.eos_token_id]


def test_rows_that_are_too_long_are_left_out_and_counted(pairs, tmp_path):
    with pytest.raises(InputError, match="All prompts with their replies are longer than max_length, 50 tokens"):
        train(config_for(pairs, max_length=50), tmp_path / "run")
    assert not (tmp_path / "run").exists()


# --- runs


def test_a_run_that_was_killed_ends_as_one_that_was_not(few, tmp_path, monkeypatch):
    from trl import SFTTrainer

    config = config_for(few, epochs=2)
    whole = train(config, tmp_path / "whole")
    with monkeypatch.context() as patch:
        save = SFTTrainer._save_checkpoint

        def save_and_die(trainer, *arguments, **options):
            save(trainer, *arguments, **options)
            raise KeyboardInterrupt

        patch.setattr(SFTTrainer, "_save_checkpoint", save_and_die)
        with pytest.raises(KeyboardInterrupt):
            train(config, tmp_path / "killed")
    with pytest.raises(InputError, match="started with another learning_rate"):
        train(changed(config, learning_rate=0.5), tmp_path / "killed")
    resumed = train(config, tmp_path / "killed")

    card = (resumed.folder / "README.md").read_text()
    assert "resumed at checkpoint-" in card
    assert "the bundled judge's verdicts" in card
    assert str(tmp_path) not in card
    one, other = (load_file(run.folder / "model.safetensors") for run in (whole, resumed))
    assert all((weight == other[name]).all() for name, weight in one.items())
    assert {path.name for path in whole.folder.iterdir()} == {path.name for path in resumed.folder.iterdir()}
    assert json.loads((whole.folder / "measured.json").read_text())["n"] == 1
    with pytest.raises(InputError, match="contains a finished run"):
        train(config, tmp_path / "whole")


def test_the_checkpoint_with_the_nearest_verdicts_is_kept_and_ends_the_run(few, tmp_path, monkeypatch):
    """Replies without a verdict do not count as no progress."""
    config = config_for(few, epochs=9, patience=2, validation_pairs=2)
    examples = read_judge_data(config).rows["validation"][:2]
    good, lies = [each.reply for each in examples], [each.reply.replace(": 0.", ": 3.") for each in examples]
    scripted = iter([["", ""]] * 4 + [lies, good, lies, lies, *[good] * 9])
    told = []

    def ask(questions, model):
        told.append(questions.compare(next(scripted)))
        return told[-1]

    monkeypatch.setattr(Questions, "ask", ask)
    best = []
    monkeypatch.setattr(
        runs, "close_run", lambda folder: best.extend(json.loads(f.read_text()) for f in folder.rglob("*_state.json"))
    )
    train(config, tmp_path / "run")
    assert [each.unreadable for each in told[:-1]] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert [each.exact for each in told[4:6]] == [0, 1]
    steps = runs.steps_an_epoch(config, len(read_judge_data(config).rows["train"]))
    assert best[-1]["best_global_step"] == 6 * steps


def test_an_adapter_judges_as_the_merged_weights(few, tmp_path):
    pytest.importorskip("peft")
    base = train(config_for(few, epochs=1), tmp_path / "base").folder
    lora = config_for(few, model=str(base), lora_rank=4, learning_rate=0.05)
    merged = train(lora, tmp_path / "merged").folder
    alone = train(changed(lora, merge=False), tmp_path / "alone").folder
    assert not (alone / "config.json").exists()
    (prompt,) = PROTOCOLS["green"].prompts(PAIRS[3])
    replies = {}
    for folder in (base, merged, merged / "adapter", alone):
        engine = load_engine(EngineName("hf", str(folder)), options={"cache": "no", "max_tokens": 40}, progress=False)
        replies[folder] = engine.answer([prompt])[0].partial
    assert replies[base] != replies[merged]
    assert replies[merged] == replies[merged / "adapter"] == replies[alone]
    assert engine.identity.startswith("hf:alone@sha256:")
    assert "+base@sha256:" in engine.identity

    settings = json.loads((alone / "adapter_config.json").read_text())
    (alone / "adapter_config.json").write_text(json.dumps(settings | {"base_model_name_or_path": "my-lab/gone"}))
    with pytest.raises(BackendError, match=r"a model that is not on this machine\. There is no folder my-lab/gone"):
        load_engine(EngineName("hf", str(alone)), options={"cache": "no"}, progress=False)
    (alone / "adapter_config.json").write_text(json.dumps(settings | {"r": 5}))
    with pytest.raises(BackendError, match="does not fit"):
        load_engine(EngineName("hf", str(alone)), options={"cache": "no"}, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_pairs", "epochs"), [("green", 64, 80), ("crimson", 8, 300), ("chexprompt", 8, 300)]
)
def test_a_tiny_model_learns_pairs_and_reproduces_their_verdicts(tmp_path, name, n_pairs, epochs):
    """The same pairs stand for train and validation, for what is tested is whether they can be learnt."""
    nothing = Label((0,) * 6, (0,) * 6)
    facts = {"source": "invented", "label_source": "none", "label_version": ""}
    chosen = PAIRS[:: len(PAIRS) // n_pairs]
    rows = [
        row_of(Draft(*pair[:2], f"s{number}", "own", 0), nothing, split=split, **facts)._asdict()
        for split in ("train", "validation")
        for number, pair in enumerate(chosen)
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema()), tmp_path / "pairs.parquet")
    config = config_for(
        str(tmp_path / "pairs.parquet"), protocol=name, hidden_size=64, layers=2, attention_heads=4, batch_size=8,
        epochs=epochs, evaluations=3 / epochs, validation_pairs=n_pairs, max_length=2048,
    )  # fmt: skip
    run = train(config, tmp_path / "run")
    texts = {"predictions": [pair.candidate for pair in chosen], "references": [pair.reference for pair in chosen]}
    bundled, learnt = rrgmetrics.score([name, f"{name}@{run.folder}?cache=no"], **texts, progress=False).values()
    assert learnt.n_unscored == 0
    assert sum(bundled.per_pair[name] == learnt.per_pair[name]) >= 0.9 * n_pairs


# --- the command


def test_wrong_input_is_told_before_any_work(pairs, tmp_path, capsys):
    for arguments, told in (
        ((), "There are no pairs to train on; pass --pairs FILE, or --generate N."),
        (("--pairs", pairs, "lora_rank=8"), "lora_rank needs a pretrained model"),
        (("--pairs", pairs, "labels=gpt"), "labels is 'gpt'; it must be reader, counts or replies:FILE."),
        (("--generate", "-1"), "--generate is -1; pass a number of pairs."),
        (("--pairs", "nowhere.csv"), "nowhere.csv"),
        (("--pairs", pairs, "validation_fraction=0.01"), "No pair of 64 is left for validation; add pairs, or set"),
        (("--pairs", pairs, "validation_fraction=0.3", "model=/nowhere"), "There is no folder /nowhere"),
        (("--pairs", pairs, "--config", "judge-gren"), "the bundled ones are"),
    ):
        assert cli.main(["train", "judge", "--output", str(tmp_path / "run"), *arguments, "--no-progress"]) != 0
        assert told in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_presets_are_those_of_the_authors():
    green, crimson = (read_config(JudgeConfig, f"judge-{name}") for name in ("green", "crimson"))
    assert (green.epochs, green.learning_rate, green.batch_size, green.weight_decay) == (10, 1e-5, 1024, 0.1)
    assert (crimson.epochs, crimson.learning_rate, crimson.lora_rank, crimson.lora_alpha) == (3, 2e-5, 16, 32)
    assert (green.schedule, crimson.schedule) == ("cosine", "cosine")


def test_presets_of_the_papers_stand_beside_those_of_the_repositories():
    """GREEN 3.1.2; CRIMSON 4.4."""
    green, crimson = (read_config(JudgeConfig, f"judge-{name}-paper") for name in ("green", "crimson"))
    assert (green.epochs, green.learning_rate, green.batch_size, green.weight_decay) == (12, 1e-4, 2048, 0.1)
    assert (green.warmup_ratio, green.attention, green.max_length) == (0.05, "flash_attention_2", 2048)
    assert (crimson.epochs, crimson.lora_rank, crimson.wording) == (10, 16, "checkpoint")
    assert changed(crimson, epochs=3, wording="own") == read_config(JudgeConfig, "judge-crimson")
    assert asked_as(crimson) == "?wording=checkpoint"
    assert asked_as(green) == ""
    with pytest.raises(InputError, match="wording=checkpoint is an option of CRIMSON"):
        read_config(JudgeConfig, "judge-green", ["wording=checkpoint"])


def test_crimson_learns_its_authors_question(pairs):
    pytest.importorskip("CRIMSON.prompt_parts", reason="needs the authors' package crimson-score")
    config = config_for(pairs, protocol="crimson")
    own, authors = (
        read_judge_data(changed(config, wording=wording)).rows["train"][0] for wording in ("own", "checkpoint")
    )
    assert authors.prompt == CrimsonProtocol(wording="checkpoint").prompts(authors.pair)[0]
    assert own.prompt.text != authors.prompt.text
    assert own.reply == authors.reply


def test_the_how_to_page_names_configs_and_keys_that_there_are():
    page = Path(__file__).parents[2] / "docs" / "howto" / "train-a-judge.md"
    commands = re.findall(r"rrgmetrics train judge +(-.*?)(?:  #|`)", page.read_text())
    assert len(commands) >= 4
    for command in commands:
        words = shlex.split(command.replace("...", ""))
        name = words[words.index("--config") + 1] if "--config" in words else "judge"
        read_config(JudgeConfig, name, [word for word in words if re.match(r"\w+=", word)])
