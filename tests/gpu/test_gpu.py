"""What only a GPU can show: `python -m pytest -m gpu tests/gpu`; each test prints or compares its own numbers."""

from __future__ import annotations

import gc
import json
import time

import numpy as np
import pytest

from rrgmetrics.judges.base import Message, Prompt
from rrgmetrics.reports import Pair

pytestmark = pytest.mark.gpu
FINDINGS = (
    "Small left pleural effusion.",
    "Large right pneumothorax.",
    "Mild cardiomegaly. No pneumothorax.",
    "Endotracheal tube 4 cm above the carina.",
    "Consolidation in the left lower lobe, unchanged.",
    "Lungs are clear.",
)
PAIRS = [Pair(reference, candidate) for reference in FINDINGS for candidate in FINDINGS]
GIGABYTES_OF_7B = 17  # weights in bf16, keys and values, room to work


@pytest.fixture(autouse=True)
def cuda():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    return torch.cuda


@pytest.mark.parametrize(("precision", "most"), [("fp16", 0.005), ("bf16", 0.02)])
def test_crepe_counts_as_it_does_in_fp32(precision, most):
    """`most`: errors a pair, on average; a count of six kinds is some 2 on these pairs."""
    from rrgmetrics.backends.crepe import load_crepe

    full, reduced = (
        np.array([reading.counts.sum() for reading in load_crepe(precision=name, device="cuda").annotate_pairs(PAIRS)])
        for name in ("fp32", precision)
    )
    assert np.abs(full - reduced).mean() <= most
    assert np.abs(full - reduced).max() <= 10 * most


def test_a_judge_is_trained_in_bf16(tmp_path, cuda, monkeypatch):
    """On the device, under autocast, with weights in fp32; and the folder judges."""
    import torch

    pytest.importorskip("trl", reason="pip install 'rrgmetrics[training]'")
    import rrgmetrics
    from rrgmetrics.files import write_table
    from rrgmetrics.training.config import JudgeConfig
    from rrgmetrics.training.judge import Questions, train_judge

    seen = []
    ask = Questions.ask

    def look(self, model):
        weight = next(model.parameters())
        seen.append((weight.device.type, weight.dtype))
        return ask(self, model)

    monkeypatch.setattr(Questions, "ask", look)
    write_table(
        tmp_path / "pairs.csv",
        {
            "study_id": [f"s{n}" for n in range(len(PAIRS))],
            "reference": [pair.reference for pair in PAIRS],
            "candidate": [pair.candidate for pair in PAIRS],
        },
    )
    config = JudgeConfig(
        pairs=(str(tmp_path / "pairs.csv"),), epochs=40, evaluations=0.1, patience=0, hidden_size=128, layers=2,
        vocabulary_size=800, learning_rate=2e-3, validation_fraction=0.3,
    )  # fmt: skip
    run = train_judge(config, tmp_path / "run", progress=False)
    assert set(seen) == {("cuda", torch.float32)}
    assert "bf16" not in (run.folder / "training_config.yaml").read_text()  # auto it was, and auto it stays
    texts = {"predictions": [pair.candidate for pair in PAIRS], "references": [pair.reference for pair in PAIRS]}
    result = rrgmetrics.score(f"green@{run.folder}?cache=no", device="cuda", progress=False, **texts)
    assert next(iter(result.values())).n_unscored <= len(PAIRS) // 2  # it never saw a sixth of them


FORKED = """
import logging, multiprocessing, sys
import rrgmetrics

logging.basicConfig(stream=sys.stdout)

TEXTS = ["Small left effusion. No pneumothorax.", "Large right effusion.", "Mild cardiomegaly."] * 2

def score(_):
    results = rrgmetrics.score("crepe", predictions=TEXTS, references=TEXTS[::-1], progress=False)
    return results["crepe"].scores["crepe"]

if __name__ == "__main__":
    here = score(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert all(abs(there - here) < 1e-4 for there in pool.map_async(score, range(2)).get(timeout=120))
"""


def test_a_process_that_is_forked_after_cuda_has_run_scores_on_the_cpu(run_python):
    """CUDA cannot be used in it; the warning says that the CPU is."""
    assert "Models run on the CPU, because CUDA cannot be used here" in run_python(FORKED)


def test_throughput_of_a_model_of_seven_billion_weights(cuda, record_testsuite_property):
    """Random weights of Llama 2's shape, built on the meta device; 64 prompts as long as GREEN's, 64 tokens each."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from rrgmetrics.judges.engines.hf import Loaded, LocalModel

    free, _ = cuda.mem_get_info()
    if free < GIGABYTES_OF_7B * 1e9:
        pytest.skip(f"{free / 1e9:.0f} GB are free; it takes {GIGABYTES_OF_7B}")
    config = AutoConfig.for_model(
        "llama", vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32,
        num_attention_heads=32, num_key_value_heads=32, max_position_embeddings=4096,
    )  # fmt: skip
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model = model.to_empty(device="cuda").eval()
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point():
                tensor.normal_(0.0, 0.01)
    model.generation_config.eos_token_id = -1  # never drawn
    prompts = [Prompt((Message("user", "word " * 550),), "throughput@1", max_tokens=64) for _ in range(64)]
    source = LocalModel(Loaded(model, Words(), ""), raw=True, batch_size=16)
    list(source.stream(prompts[:16]))  # warms up
    cuda.synchronize()
    begun = time.perf_counter()
    answers = list(source.stream(prompts))
    seconds = time.perf_counter() - begun
    assert len(answers) == 64
    record_testsuite_property("replies of 64 tokens a minute", round(60 * len(answers) / seconds))
    del model, source
    gc.collect()
    cuda.empty_cache()


class Words:
    """A tokenizer of one word."""

    pad_token_id, eos_token_id = 0, -1

    def __call__(self, text):
        return {"input_ids": [7] * len(text.split())}

    def batch_decode(self, rows, skip_special_tokens):
        return ["word"] * len(rows)


SHARED = """
import json, multiprocessing, os, socket, sys
from pathlib import Path
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Trainer, TrainingArguments,
    default_data_collator)
from rrgmetrics.callbacks import ReportMetricsCallback

WORDS = ["<pad>", "<s>", "</s>", "<unk>", "small", "large", "left", "right", "effusion", "pneumothorax", "describe"]
REPORTS = ["small left effusion", "large right pneumothorax", "large left effusion", "small right pneumothorax", "left"]

def make(way):
    inner = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        unk_token="<unk>")
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(WORDS), hidden_size=32, intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, initializer_range=0.5))
    rows = [{"input_ids": torch.tensor([1, 10, *[WORDS.index(word) for word in (report.split() * 4)[:4]]]),
        "prompt": "describe", "report": report} for report in REPORTS]
    for row in rows:
        row["labels"] = row["input_ids"].clone()
    ways = {
        "alone": {},
        "fsdp1": {"fsdp": "full_shard", "fsdp_config": {"version": 1}},
        "fsdp2": {"fsdp": "full_shard", "fsdp_config": {"version": 2}},
        "zero3": {"deepspeed": {"zero_optimization": {"stage": 3}, "train_micro_batch_size_per_gpu": "auto",
            "train_batch_size": "auto", "gradient_accumulation_steps": "auto"}},
    }
    arguments = TrainingArguments(output_dir=way, max_steps=2, learning_rate=1e-9, eval_strategy="steps", eval_steps=1,
        save_strategy="no", per_device_train_batch_size=1, report_to=[], disable_tqdm=True,
        remove_unused_columns=False, **ways[way])
    collate = lambda rows: default_data_collator([{k: row[k] for k in ("input_ids", "labels")} for row in rows])
    trainer = Trainer(model=model, args=arguments, train_dataset=rows, eval_dataset=rows, data_collator=collate,
        processing_class=tokenizer)
    ReportMetricsCallback(["bleu", "rouge"], baselines="none", on_error="raise").attach(trainer)
    return trainer

def work(rank, world, port, way):
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port)}
    trainer = make(way)
    trainer.train()
    logged = [{key: round(value, 6) for key, value in row.items() if key in ("eval_bleu", "eval_rouge", "eval_reports")}
        for row in trainer.state.log_history if "eval_bleu" in row]
    Path(f"{way}-{rank}.json").write_text(json.dumps(logged))

if __name__ == "__main__":
    way = sys.argv[1]
    world = 1 if way == "alone" else 2
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawn = multiprocessing.get_context("fork")
    running = [spawn.Process(target=work, args=(rank, world, port, way)) for rank in range(world)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    sys.exit(any(process.exitcode for process in running))
"""


@pytest.mark.parametrize("way", ["fsdp1", "fsdp2", "zero3"])
def test_the_callback_generates_with_weights_that_two_processes_share_out(way, tmp_path, run_python, cuda):
    """Both processes log what one alone does: each report once, written by the whole model."""
    if cuda.device_count() < 2:
        pytest.skip("it takes two GPUs")
    if way == "zero3":
        pytest.importorskip("deepspeed")
    for each in ("alone", way):
        run_python(SHARED, each, CUDA_VISIBLE_DEVICES="0,1")
    logged = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("*-?.json")}
    assert len(logged["alone-0"]) == 2
    assert logged["alone-0"][0]["eval_reports"] == 5
    assert logged[f"{way}-0"] == logged[f"{way}-1"] == logged["alone-0"]


def test_memory_is_given_back_after_each_evaluation(cuda):
    """Evaluations take no more each time, and what a loop's metrics hold on the device goes with them."""
    from rrgmetrics.callbacks import ReportMetrics

    def held():
        gc.collect()
        return cuda.memory_allocated()

    def evaluate(metrics):
        metrics.update([pair.candidate for pair in PAIRS], [pair.reference for pair in PAIRS])
        metrics.compute()
        metrics.reset()
        return held()

    before = held()
    metrics = ReportMetrics(["crepe", "bertscore"], device="cuda")
    first = evaluate(metrics)
    assert first > before
    assert [evaluate(metrics) for _ in range(3)] == [first] * 3
    del metrics
    assert held() - before < 64e6  # the libraries' own work space
