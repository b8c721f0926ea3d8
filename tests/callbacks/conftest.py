"""Tiny models with random weights, a tokenizer of some words, and invented studies."""

from __future__ import annotations

import os

import pytest

REPORTS = (
    "Small left pleural effusion.",
    "Small right pleural effusion.",
    "No pleural effusion.",
    "Mild cardiomegaly. No pneumothorax.",
    "Large left pneumothorax.",
    "The lungs are clear.",
)
WORDS = ["<pad>", "<s>", "</s>", "<unk>", "<image>"]
CHAT = (
    "{% for m in messages %}{{ m['role'] }} : {% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for p in m['content'] %}{{ '<image>' if p['type'] == 'image' else p['text'] }} {% endfor %}{% endif %} "
    "{% endfor %}{% if add_generation_prompt %}assistant : {% endif %}"
)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    import torch

    monkeypatch.setattr(os, "environ", os.environ | {"OMP_NUM_THREADS": "1"})
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    texts = [*REPORTS, "user : assistant : Describe the image . Findings"]
    split = pre_tokenizers.Whitespace()
    words = list(dict.fromkeys(word for text in texts for word, _ in split.pre_tokenize_str(text)))
    vocabulary = {word: index for index, word in enumerate([*WORDS, *words])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = split
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    made.add_special_tokens({"additional_special_tokens": ["<image>"]})
    made.chat_template = CHAT
    return made


@pytest.fixture
def vision_model(tokenizer):
    """ViT + GPT-2."""
    import torch
    from transformers import (
        GPT2Config,
        VisionEncoderDecoderConfig,
        VisionEncoderDecoderModel,
        ViTConfig,
    )

    torch.manual_seed(0)
    encoder = ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=8, patch_size=4
    )
    decoder = GPT2Config(
        vocab_size=len(tokenizer), n_embd=8, n_layer=1, n_head=2, n_positions=16, bos_token_id=1, eos_token_id=2
    )
    model = VisionEncoderDecoderModel(config=VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder))
    _set_tokens(model, tokenizer)
    return model


@pytest.fixture
def text_model(tokenizer):
    """T5."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    config = T5Config(vocab_size=len(tokenizer), d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    model = T5ForConditionalGeneration(config)
    _set_tokens(model, tokenizer)
    return model


@pytest.fixture
def causal_model(tokenizer):
    """Llama."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    model = LlamaForCausalLM(config)
    _set_tokens(model, tokenizer)
    return model


def _set_tokens(model, tokenizer):
    special = {
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": tokenizer.bos_token_id,
    }
    for key, value in special.items():
        setattr(model.config, key, value)
        setattr(model.generation_config, key, value)


@pytest.fixture
def studies(tokenizer):
    """An image of noise and its report, tokenised for the decoder."""
    import torch

    generator = torch.Generator().manual_seed(0)
    labels = tokenizer(list(REPORTS), padding="max_length", max_length=8, return_tensors="pt").input_ids
    labels[labels == tokenizer.pad_token_id] = -100
    return [
        {
            "pixel_values": torch.randn(3, 8, 8, generator=generator),
            "labels": label,
            "report": report,
            "study_id": f"s{index}",
        }
        for index, (report, label) in enumerate(zip(REPORTS, labels, strict=True))
    ]


@pytest.fixture
def make_trainer(tmp_path, tokenizer, studies):
    """A Trainer that takes four steps and evaluates at each second."""
    from transformers import Trainer, TrainingArguments, default_data_collator

    def make(
        model, *, trainer_class=Trainer, callbacks=(), eval_dataset=studies, collator=default_data_collator, **given
    ):
        settings = {
            "output_dir": str(tmp_path / "out"),
            "max_steps": 4,
            "eval_strategy": "steps",
            "eval_steps": 2,
            "save_strategy": "no",
            "logging_steps": 2,
            "per_device_train_batch_size": 2,
            "per_device_eval_batch_size": 4,
            "learning_rate": 0.1,
            "use_cpu": True,
            "report_to": [],
            "disable_tqdm": True,
            "dataloader_pin_memory": False,
        } | given
        arguments_class = settings.pop("arguments_class", TrainingArguments)
        train_dataset = settings.pop("train_dataset", studies)
        return trainer_class(
            model=model,
            args=arguments_class(**settings),
            train_dataset=train_dataset,
            eval_dataset=eval_dataset,
            processing_class=tokenizer,
            data_collator=collator,
            callbacks=list(callbacks),
        )

    return make


@pytest.fixture
def parrot():
    """A generate_fn that says the references and remembers for which studies it was asked."""

    def make():
        asked = []

        def generate(model, examples):
            assert not model.training
            asked.extend(example["study_id"] for example in examples)
            return [example["report"] for example in examples]

        generate.asked = asked
        return generate

    return make
