"""Folders of language models and encoders that somebody made to do harm: one sentence each, in bounded time."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from rrgmetrics.backends.checkpoints import trial
from rrgmetrics.errors import BackendError
from rrgmetrics.judges.base import EngineName, Message, Prompt, Reply
from rrgmetrics.judges.engines import load_engine

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of a process are POSIX's")
LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}"
PROMPT = Prompt(
    (Message("system", "Judge."), Message("user", "No effusion. aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")), "t@1"
)
ENDLESS = {
    "loop": (LOOP + "{% endfor %}{% endfor %}x", "chat template.*end within"),
    "memory": ("{{ 'a' * 10**11 }}", "chat template.*memory"),
}
WRONG = {
    "giant": ("{{ 'a' * 10**7 }}", "chat template.*characters"),
    "private": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "chat template.*unsafe"),
    "syntax": ("{% for %}", "chat template.*Expected an expression"),
    "undefined": ("{{ messages[7].content.x }}", "chat template"),
    "recursion": ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "chat template"),
}


@pytest.fixture
def folder(tmp_path, checkpoints):
    checkpoints.write_causal(tmp_path, ["No effusion . aaaa"] * 20, endless=True, chat="{{ messages[0].content }}")
    return tmp_path


def change(file: Path, **settings) -> None:
    file.write_text(json.dumps((json.loads(file.read_text()) if file.exists() else {}) | settings))


def answer(folder: Path, **options) -> Reply:
    engine = load_engine(EngineName("hf", str(folder)), options={"cache": "no"} | options, progress=False)
    return engine.answer([PROMPT])[0]


def ask(folder: Path, **options) -> str:
    """Asks the model; returns the one sentence with which that fails."""
    began = time.monotonic()
    with pytest.raises(BackendError) as raised:
        answer(folder, **options)
    assert time.monotonic() - began < 90
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_chat_template_is_tried_within_bounds(folder, kind, monkeypatch):
    template, message = ENDLESS[kind]
    if kind == "loop":
        monkeypatch.setattr(trial, "SECONDS", 1)
    change(folder / "tokenizer_config.json", chat_template=template)
    assert re.search(message, ask(folder))


@pytest.fixture
def tried_here(monkeypatch):
    """Tries in this process, which imports no transformers anew, what ends by itself."""
    monkeypatch.setattr(trial, "_tried", lambda request: trial.fault_of(json.loads(request)))


@pytest.mark.usefixtures("tried_here")
@pytest.mark.parametrize("kind", WRONG)
def test_a_chat_template_that_is_wrong_is_refused(folder, kind):
    template, message = WRONG[kind]
    change(folder / "tokenizer_config.json", chat_template=template)
    assert re.search(message, ask(folder))


@pytest.mark.usefixtures("tried_here")
def test_a_template_that_refuses_a_system_turn_is_none(folder, checkpoints):
    change(folder / "tokenizer_config.json", chat_template=checkpoints.CHAT)
    assert answer(folder, max_tokens=3).partial


PATTERNS = {"nested": r"(\w+\s?)+$", "letters": "(a+)+$", "damaged": "("}


def split(folder: Path, pattern: str) -> None:
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text())
    behaviour = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [behaviour, content["pre_tokenizer"]]}
    file.write_text(json.dumps(content))


@pytest.mark.parametrize("kind", PATTERNS)
def test_a_pattern_of_a_tokenizer_is_tried_within_bounds(folder, kind):
    split(folder, PATTERNS[kind])
    assert "tokenizer.json" in ask(folder)


GENERATION = {
    "num_beams": 5000, "num_return_sequences": 3, "min_new_tokens": 10**12, "eos_token_id": "x",
    "repetition_penalty": 0,
}  # fmt: skip


@pytest.mark.parametrize("name", GENERATION)
def test_settings_of_generation_are_checked(folder, name):
    change(folder / "generation_config.json", **{name: GENERATION[name]})
    sentence = ask(folder, max_tokens=3)
    assert "generation_config.json" in sentence


def test_a_longest_length_of_the_folder_is_not_used(folder):
    change(folder / "generation_config.json", max_length=10**30, max_new_tokens=10**12)
    assert "6 tokens" in answer(folder, max_tokens=3).error


def test_an_encoder_whose_pattern_backtracks(tmp_path, checkpoints):
    from rrgmetrics.backends.encoder import load_encoder

    checkpoints.write_causal(tmp_path, ["No effusion ."] * 20)
    assert load_encoder(str(tmp_path)).annotate(["No effusion."])
    split(tmp_path, PATTERNS["nested"])
    with pytest.raises(BackendError, match=r"A pattern of .*tokenizer\.json cannot be used: Onig"):
        load_encoder(str(tmp_path)).annotate(["No effusion."])


def test_replacements_that_grow_without_end_are_refused(folder, monkeypatch):
    """Forty that each double a letter make a trillion of one."""
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text())
    double = {"type": "Replace", "pattern": {"String": "x"}, "content": "xx"}
    content["normalizer"] = {"type": "Sequence", "normalizers": [double] * 40}
    file.write_text(json.dumps(content))
    monkeypatch.setattr(trial, "SECONDS", 1)
    assert "tokenizer.json cannot be used: it does not end within 1 seconds" in ask(folder)


def test_a_tokenizer_that_makes_nothing_is_named(folder):
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text())
    content["normalizer"] = {"type": "Replace", "pattern": {"Regex": "."}, "content": ""}
    file.write_text(json.dumps(content))
    assert "returns no token" in ask(folder)


def test_patterns_of_published_models_are_taken(tmp_path, checkpoints):
    """Those of Llama 3, Qwen 2 and GPT-4."""
    from rrgmetrics.backends.checkpoints.trial import check_tokenizer

    checkpoints.write_causal(tmp_path, ["No effusion ."] * 20)
    split(
        tmp_path,
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+",
    )
    check_tokenizer(tmp_path)
