"""The engine `hf`: a tiny random model of transformers, and a stand-in for vLLM's module."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.judges.base import EngineName, Message, Prompt
from rrgmetrics.judges.engines import load_engine
from rrgmetrics.utils.extras import install_command

WORDS = "The heart is normal in size . There is a small left pleural effusion . No pneumothorax .".split()


def prompts(n: int, **keywords) -> list[Prompt]:
    """Of one word, two words, ..."""
    keywords = {"protocol": "test@1", "max_tokens": 7} | keywords
    return [Prompt((Message("user", " ".join((WORDS * 9)[: i + 1])),), **keywords) for i in range(n)]


@pytest.fixture(scope="module")
def model(tmp_path_factory, checkpoints):
    """Makes the folder of a babbling model; keywords as `write_causal`."""
    made = {}

    def make(**keywords):
        key = json.dumps(keywords)
        if key not in made:
            made[key] = tmp_path_factory.mktemp("model")
            checkpoints.write_causal(made[key], [" ".join(WORDS)] * 20, **keywords)
        return str(made[key])

    return make


def load(folder: str, batch_size: int | None = None, *, raw: bool = False, **options):
    return load_engine(
        EngineName("hf", folder, raw), options={"cache": "no"} | options, batch_size=batch_size, progress=False
    )


def test_same_alone_and_in_any_batch(model):
    asked = prompts(11)
    alone = load(model(), 1).answer(asked)
    assert [reply.error for reply in alone] == [None] * 11
    assert len({reply.text for reply in alone}) > 3
    assert load(model(), 4).answer(asked) == alone
    assert load(model(), 64).answer(asked[::-1]) == alone[::-1]


def test_only_what_was_generated_is_decoded(model):
    """The reply is what a plain loop of single steps adds to the prompt."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = model()
    tokenizer, plain = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    for prompt, reply in zip(prompts(3), load(folder).answer(prompts(3)), strict=True):
        ids = tokenizer(prompt.text, return_tensors="pt")["input_ids"]
        start = ids.shape[1]
        ends, best = plain.generation_config.eos_token_id, None
        while best is None or best.item() not in ends:
            with torch.no_grad():
                best = plain(input_ids=ids).logits[:, -1:].argmax(-1)
            ids = torch.cat([ids, best], dim=1)
        assert reply.text == tokenizer.decode(ids[0, start:], skip_special_tokens=True)
        assert prompt.text not in reply.text


def test_a_reply_that_ends_at_its_limit_is_half_a_one(model, tmp_path):
    """It is asked for again with twice the room; what was said is kept with the reason."""
    engine = load(model(endless=True), cache=str(tmp_path))
    sizes, generate = [], engine.source.model.generate
    engine.source.model.generate = lambda generation_config, **keywords: (
        sizes.append(generation_config.max_new_tokens) or generate(generation_config=generation_config, **keywords)
    )
    replies = engine.answer(prompts(3))
    assert engine.answer(prompts(3)) == replies  # from the cache
    del engine.source.model.generate
    assert sizes == [7, 14]
    assert all(reply.text is None and reply.partial for reply in replies)
    assert {reply.error for reply in replies} == {"the reply was cut off at 14 tokens; allow more with max_tokens"}


def test_the_end_of_the_context_is_a_limit_too_alone_and_in_any_batch(model):
    """A longer prompt beside it does not take its room away; nobody is asked twice for what has no room."""
    asked = prompts(4, max_tokens=1000)
    alone = load(model(endless=True, positions=12), 1).answer(asked)
    engine = load(model(endless=True, positions=12))
    calls, generate = [], engine.source.model.generate
    engine.source.model.generate = lambda **keywords: calls.append(keywords) or generate(**keywords)
    assert engine.answer(asked) == alone
    cut = {reply.partial: reply.error for reply in alone if "cut off" in reply.error}
    assert len(calls) == len(cut) > 1
    assert set(cut.values()) == {"the reply was cut off at the model's limit of 12 tokens for prompt and reply"}


def test_question_and_reply_together_have_a_limit_too(model):
    """As GREEN's authors bound them: what the question leaves is the reply's, to the token."""
    asked, total = prompts(6, max_tokens=1000), 20
    engine = load(model(endless=True, positions=64), total_tokens=total)
    pieces = []
    generate = engine.source.model.generate
    engine.source.model.generate = lambda input_ids, **keywords: (
        pieces.append(full := generate(input_ids=input_ids, **keywords)) or full
    )
    replies = engine.answer(asked)
    assert {piece.shape[1] for piece in pieces} == {total}
    assert {reply.error for reply in replies} == {
        "the reply was cut off at the model's limit of 20 tokens for prompt and reply"
    }
    assert engine.answer(prompts(30))[-1].error.startswith("the prompt has ")
    plain = load(model(endless=True, positions=64))
    assert engine.parameters == {**plain.parameters, "total_tokens": total}
    assert engine.facts["total_tokens"] == "20"
    assert load(model(), total_tokens=60).answer(prompts(3)) == load(model()).answer(prompts(3))
    with pytest.raises(InputError, match="total_tokens is an option of hf"):
        load_engine(EngineName("openai", "m"), options={"total_tokens": 9}, progress=False)


def test_prompts_that_leave_about_the_same_room_are_asked_together(model):
    engine = load(model(endless=True, positions=64))
    sizes, generate = [], engine.source.model.generate
    engine.source.model.generate = lambda input_ids, **keywords: (
        sizes.append(len(input_ids)) or generate(input_ids=input_ids, **keywords)
    )
    engine.answer(prompts(6, max_tokens=1000))
    assert sum(sizes) == 6 > 2 * len(sizes)


def test_each_prompt_has_its_own_longest_reply(model):
    engine = load(model())
    short, long = (engine.answer(prompts(9, max_tokens=n)) for n in (1, 7))
    mixed = engine.answer([*prompts(9, max_tokens=1), *prompts(9, max_tokens=7)])
    assert mixed == [*short, *long]
    assert short != long
    assert load(model(), max_tokens=1).answer(prompts(9, max_tokens=7)) == short
    assert engine.parameters != load(model(), max_tokens=1).parameters


def test_a_prompt_too_long_is_no_reply_and_loses_no_other(model):
    asked = prompts(100, max_tokens=1000)
    replies = load(model(positions=64), max_tokens=5).answer(asked)
    lost = ["the limit of the model is 64" in (reply.error or "") for reply in replies]
    assert 0 < sum(lost) < 80
    assert not any(lost[:20])
    assert all(reply.text or reply.partial for reply in replies[:20])


def test_the_chat_template_writes_the_prompt(model, checkpoints):
    from rrgmetrics.judges.engines.chats import fold_system, prompt_ids, write_chat

    engine = load(model(chat=checkpoints.CHAT))
    turns = (Message("system", "Judge."), Message("user", "A. B."))
    assert fold_system(turns) == [Message("user", "Judge.\n\nA. B.")]
    written = write_chat(engine.source.tokenizer, turns)  # its template has no system turn
    assert written == "<s>[user] Judge.\n\nA. B.\n[assistant] "
    assert engine.facts["template"] == "chat"
    ids = prompt_ids(engine.source.tokenizer, Prompt(turns, "test@1"), raw=False)
    assert ids.count(engine.source.tokenizer.bos_token_id) == 1


@pytest.mark.parametrize("keywords", [{}, {"chat": "x"}])
def test_the_protocols_own_text_without_template_or_where_asked(model, keywords):
    engine = load(model(**keywords), raw=bool(keywords))
    assert engine.facts["template"] == "protocol"
    prompt = Prompt((Message("user", "A."),), "test@1", raw="<|user|> A.")
    asked = []
    engine.source.model.generate, generate = lambda **k: asked.append(k) or generate(**k), engine.source.model.generate
    engine.answer([prompt])
    del engine.source.model.generate
    assert asked[0]["input_ids"].tolist() == [engine.source.tokenizer("<|user|> A.")["input_ids"]]


def test_out_of_memory_halves_the_batch(model, monkeypatch):
    alone = load(model(), 1).answer(prompts(9))
    engine = load(model(), 8)
    generate, sizes = engine.source.model.generate, []

    def small(input_ids, **keywords):
        sizes.append(len(input_ids))
        if len(input_ids) > 2 or sizes.count(2) > 2:
            raise RuntimeError("CUDA out of memory.")
        return generate(input_ids=input_ids, **keywords)

    monkeypatch.setattr(engine.source.model, "generate", small)
    replies = engine.answer(prompts(9))
    assert sizes == [8, 4, 2, 2, 2, 1, 1, 1, 1, 1]  # two batches of two, then there is no room even for one
    assert replies[-4:] == alone[-4:]
    assert all("too little memory" in reply.error for reply in replies[:-4])


def test_replies_are_kept_a_batch_at_a_time(model, tmp_path, monkeypatch):
    first = load(model(), 2, cache=str(tmp_path))
    generate, calls = first.source.model.generate, []

    def breaks(**keywords):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return generate(**keywords)

    monkeypatch.setattr(first.source.model, "generate", breaks)
    with pytest.raises(KeyboardInterrupt):
        first.answer(prompts(8))
    monkeypatch.setattr(first.source.model, "generate", lambda **keywords: calls.append(1) or generate(**keywords))
    assert all(reply.text is not None for reply in load(model(), 2, cache=str(tmp_path)).answer(prompts(8)))
    assert len(calls) == 3 + 2  # two batches of four were known


def test_what_cannot_run(model, tmp_path):
    with pytest.raises(InputError, match="greedily"):
        load(model(), temperature=0.5)
    with pytest.raises(BackendError, match="no folder"):
        load(str(tmp_path / "nowhere"))
    with pytest.raises(BackendError, match="hf download"):
        load("no/such-model")
    with pytest.raises(BackendError, match="device 'cuda:7'"):
        load_engine(EngineName("hf", model()), options={"cache": "no"}, device="cuda:7")
    with pytest.raises(BackendError, match="accelerate launch"):
        load(model(), processes=3).answer(prompts(2))


SHARE = """
import json, sys
from rrgmetrics.judges.base import EngineName, Message, Prompt
from rrgmetrics.judges.engines import load_engine

engine = load_engine(EngineName("hf", sys.argv[1]), options={"cache": "no", "processes": 2}, progress=False)
model, asked = engine.engine.source.model, []
generate = model.generate
model.generate = lambda input_ids, **keywords: asked.append(len(input_ids)) or generate(input_ids, **keywords)
words = sys.argv[2].split()
prompts = [Prompt((Message("user", " ".join(words[: i + 1])),), "test@1", max_tokens=7) for i in range(7)]
replies = [reply.text for reply in engine.answer(prompts)]
print(json.dumps([sum(asked), replies]))
"""


@pytest.mark.slow
def test_two_processes_share_the_prompts_and_know_all_replies(model):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", SHARE, model(), " ".join(WORDS)],
            env=os.environ
            | {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
            | {"MASTER_PORT": str(port), "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    printed = [json.loads(rank.communicate(timeout=600)[0].splitlines()[-1]) for rank in ranks]
    expected = [reply.text for reply in load(model()).answer(prompts(7))]
    assert printed == [[4, expected], [3, expected]]


def test_without_vllm_the_message_has_the_command(model):
    if "vllm" in sys.modules:
        pytest.skip("vLLM is installed here")
    with pytest.raises(MissingExtraError, match=re.escape(install_command("vllm"))):
        load_engine(EngineName("vllm", model()), options={"cache": "no"})


class FakeLLM:
    """What the engine uses of vLLM's class; no test here runs vLLM itself, which needs a GPU."""

    def __init__(self, model, tokenizer, tensor_parallel_size, trust_remote_code, load_format, **settings):
        assert (trust_remote_code, load_format) == (False, "safetensors")  # no code, no pickles
        from transformers import AutoTokenizer

        self.model, self.files = model, {file.name for file in Path(model).iterdir()}
        self.tokenizer, self.rounds = AutoTokenizer.from_pretrained(tokenizer, trust_remote_code=False), []
        self.settings, self.adapter = settings, None
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=30))

    def generate(self, prompts, settings, use_tqdm, lora_request=None):
        self.adapter = lora_request
        self.rounds.append((prompts, settings))
        texts = [self.tokenizer.decode(prompt["prompt_token_ids"]).strip().upper() for prompt in prompts]
        whys = [
            "length" if "SMALL" in text and one["max_tokens"] < 14 else "stop"
            for text, one in zip(texts, settings, strict=True)
        ]
        return [
            SimpleNamespace(outputs=[SimpleNamespace(text=text, finish_reason=why)])
            for text, why in zip(texts, whys, strict=True)
        ]


@pytest.fixture
def fake_vllm(monkeypatch):
    settings = types.ModuleType("vllm.sampling_params")
    settings.StructuredOutputsParams = lambda json: ("schema", json)
    vllm = types.ModuleType("vllm")
    vllm.LLM, vllm.SamplingParams, vllm.__version__ = FakeLLM, lambda **keywords: keywords, "0"
    vllm.sampling_params = settings
    request = types.ModuleType("vllm.lora.request")
    request.LoRARequest = lambda *about: about
    for module in (vllm, settings, types.ModuleType("vllm.lora"), request):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_vllm_adds_an_adapter_to_its_model(model, fake_vllm, tmp_path):
    from safetensors.numpy import save_file

    settings = {"peft_type": "LORA", "r": 9, "base_model_name_or_path": model()}
    (tmp_path / "adapter_config.json").write_text(json.dumps(settings))
    save_file({"lora": np.zeros(2)}, tmp_path / "adapter_model.safetensors")
    engine = load_engine(EngineName("vllm", str(tmp_path)), options={"cache": "no"}, progress=False)
    assert engine.answer(prompts(2))[1].text == prompts(2)[1].text.upper()
    llm = engine.source.replicas[0].model.llm
    assert llm.settings == {"dtype": "auto", "enable_lora": True, "max_lora_rank": 16}
    assert llm.adapter == ("judge", 1, str(tmp_path))
    assert engine.identity.startswith(f"vllm:{tmp_path.name}@sha256:")


def test_vllm_is_asked_in_rounds(model, fake_vllm, monkeypatch):
    monkeypatch.setattr("rrgmetrics.judges.engines.vllm.ROUND", 3)
    engine = load_engine(EngineName("vllm", model()), options={"cache": "no"}, progress=False)
    replies = engine.answer(prompts(40, json_schema={"type": "object"}))
    fitting = [reply for reply in replies if reply.text is not None]
    assert [reply.text for reply in fitting] == [prompt.text.upper() for prompt in prompts(len(fitting))]
    assert all("the limit of the model is 30" in reply.error for reply in replies[len(fitting) :])
    assert [len(asked) for asked, _ in engine.source.replicas[0].model.llm.rounds[:2]] == [3, 3]
    asked = engine.source.replicas[0].model.llm.rounds[0][1][0]
    assert asked == {"temperature": 0.0, "max_tokens": 7, "structured_outputs": ("schema", {"type": "object"})}
    assert engine.facts == {"template": "protocol", "temperature": "0.0", "vllm": "0"}


# --- GREEN's checkpoint as it is published ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def green(tmp_path_factory, checkpoints):
    folder = tmp_path_factory.mktemp("green")
    checkpoints.write_green(folder, [" ".join(WORDS)] * 20)
    return folder


def test_greens_layout(green):
    assert {file.name for file in green.iterdir()} == {
        *("added_tokens.json", "config.json", "generation_config.json", "special_tokens_map.json"),
        *(f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)),
        *("model.safetensors.index.json", "tokenization_chexagent.py", "tokenizer.model", "tokenizer_config.json"),
        *("trainer_state.json", "training_args.bin"),
    }


def test_greens_prompts_end_as_its_authors(green):
    """The ids are SentencePiece's between `<s>` and `</s>`, and its code is not run."""
    from sentencepiece import SentencePieceProcessor

    pieces = SentencePieceProcessor(model_file=str(green / "tokenizer.model"))
    tokenizer = load(str(green), raw=True).source.tokenizer
    for text in ("The heart is normal in size.", "Small left\npleural  effusion?\n", "x\n</s>"):
        ids = tokenizer(text)["input_ids"]
        assert ids[0] == 1
        assert ids[-1] == 2
        assert tokenizer.decode(ids, skip_special_tokens=True).split() == text.replace("</s>", "").split()
        if "</s>" not in text:
            assert ids[1:-1] == pieces.encode(text)
    assert (tokenizer.padding_side, tokenizer.pad_token_id) == ("left", 0)
    assert not (green / "ran").exists()


def test_green_answers_the_same_each_time_alone_and_in_any_batch(green):
    """Its own settings for generation would sample."""
    asked = prompts(5)
    alone = load(str(green), 1, raw=True).answer(asked)
    assert [reply.text or reply.partial for reply in alone].count("") < 5
    assert load(str(green), 5, raw=True).answer(asked) == alone


@pytest.mark.parametrize("engine", ["hf", "vllm"])
def test_a_token_without_an_embedding_costs_one_reply(green, engine, fake_vllm):
    strange = Prompt((Message("user", "A nodule at <|coord_9|>."),), protocol="test@1", max_tokens=7)
    loaded = load_engine(EngineName(engine, str(green), raw=True), options={"cache": "no"}, progress=False)
    before, lost, after = loaded.answer([*prompts(1), strange, *prompts(1)])
    assert lost.error == "the prompt has the token <|coord_9|>, which the model does not know"
    assert lost.text is None
    assert before == after
    assert "which the model" not in (before.error or "")


def test_vllm_gets_greens_tokenizer_without_its_code(green, fake_vllm):
    engine = load_engine(EngineName("vllm", str(green), raw=True), options={"cache": "no"}, progress=False)
    loaded = engine.source.replicas[0].model
    assert loaded.llm.model == str(green)
    assert loaded.llm.settings == {"dtype": "auto"}
    assert loaded.llm.tokenizer("No pneumothorax.")["input_ids"] == loaded.tokenizer("No pneumothorax.")["input_ids"]
    assert not (green / "ran").exists()


# --- CRIMSON's: an index of shards that are not there -----------------------------------------------------------------


def test_vllm_gets_no_index_of_other_weights(checkpoints, tmp_path, fake_vllm):
    checkpoints.write_causal(tmp_path, [" ".join(WORDS)] * 20)
    here = {file.name for file in tmp_path.iterdir()}
    index = {"metadata": {"total_size": 1}, "weight_map": {"lm_head.weight": "model-00001-of-00002.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    engine = load_engine(EngineName("vllm", str(tmp_path)), options={"cache": "no"}, progress=False)
    loaded = engine.source.replicas[0].model
    assert loaded.llm.files == here
    links = Path(loaded.llm.model)
    assert (links / "model.safetensors").read_bytes() == (tmp_path / "model.safetensors").read_bytes()
    assert engine.answer(prompts(1))[0].text == prompts(1)[0].text.upper()
    loaded.close()
    assert not links.exists()
    assert (tmp_path / "model.safetensors").is_file()
    assert load(str(tmp_path)).answer(prompts(2))


@pytest.mark.parametrize(("kind", "dtype"), [("gemma3_text", "bfloat16"), ("gemma2", "bfloat16"), ("llama", "auto")])
def test_gemma_is_run_in_bf16(checkpoints, tmp_path, fake_vllm, kind, dtype):
    """Its activations overflow fp16."""
    from rrgmetrics.judges.engines.hf import needs_bf16

    checkpoints.write_causal(tmp_path, [" ".join(WORDS)] * 20)
    config = json.loads((tmp_path / "config.json").read_text()) | {"model_type": kind}
    (tmp_path / "config.json").write_text(json.dumps(config))
    engine = load_engine(EngineName("vllm", str(tmp_path)), options={"cache": "no"}, progress=False)
    assert engine.source.replicas[0].model.llm.settings == {"dtype": dtype}
    assert needs_bf16(tmp_path) == (dtype == "bfloat16")
