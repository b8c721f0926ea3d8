"""Judges: configurations, prompts, and what becomes of replies that are late, missing, endless or of no use."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics.backends import compared_pairs
from rrgmetrics.errors import InputError
from rrgmetrics.judges.base import EngineName, Message, Prompt, Reply, Unscored, engine_for
from rrgmetrics.judges.judge import MAX_CHARACTERS, Judge
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.chexprompt import ChexpromptProtocol
from rrgmetrics.scorers.fineradscore import FineradscoreProtocol
from rrgmetrics.scorers.green import GreenProtocol, question
from rrgmetrics.scorers.judged import KnownMean, known_stats
from rrgmetrics.scorers.radfact import RadfactProtocol

PROTOCOLS = (GreenProtocol(), GreenProtocol("strict"), ChexpromptProtocol(), FineradscoreProtocol(), RadfactProtocol())
PAIR = Pair("Small left effusion.", "Small right effusion. {reference} {0} %s")


@dataclass
class Scripted:
    """An engine that answers by a function of the question."""

    answer_one: object
    identity: str = "openai:scripted"
    parameters: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def answer(self, prompts):
        self.asked.append(list(prompts))
        replies = [self.answer_one(prompt.messages[-1].content) for prompt in prompts]
        return [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ("default", ("reader", "", False)),
        ("reader", ("reader", "", False)),
        ("paper", ("hf", "org/published-7b", True)),
        ("openai:gpt:x", ("openai", "gpt:x", False)),
        ("vllm:org/model", ("vllm", "org/model", False)),
        ("replies:a.jsonl", ("replies", "a.jsonl", False)),
        ("org/model@main", ("hf", "org/model@main", False)),
        ("org/other-model", ("hf", "org/other-model", False)),
        ("vllm:/copies/Published-7B", ("vllm", "/copies/Published-7B", True)),
        ("openai:published-7b", ("openai", "published-7b", False)),
        ("openai:/models/judge.Q4_K_M.gguf", ("openai", "/models/judge.Q4_K_M.gguf", False)),
        ("/folder/with:colon", ("hf", "/folder/with:colon", False)),
    ],
)
def test_engine_for(config, name):
    assert engine_for(config, "hf:org/published-7b") == EngineName(*name)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("paper", "No checkpoint was published"),
        ("openai:", "openai:<model>"),
        ("/models/judge.Q4_K_M.gguf", r"is a GGUF file, .*llama-server -m /models/judge.Q4_K_M.gguf .*openai:<model>"),
        ("hf:./judge.GGUF", "is a GGUF file"),
    ],
)
def test_engine_for_refuses(config, message):
    with pytest.raises(InputError, match=message):
        engine_for(config)


def test_a_prompt_is_known_by_protocol_and_messages():
    prompt = Prompt((Message("user", "a"),), "green@1", max_tokens=5)
    assert prompt.sha256 == Prompt((Message("user", "a"),), "green@1", raw="<a>").sha256
    others = [
        Prompt((Message("user", "b"),), "green@1"),
        Prompt((Message("user", "a"),), "green@2"),
        Prompt((Message("system", "a"),), "green@1"),
        Prompt((Message("user", "a"), Message("user", "")), "green@1"),
    ]
    assert len({prompt.sha256, *(other.sha256 for other in others)}) == 5


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_reports_stand_in_the_prompts_as_they_are(protocol):
    text = "".join(message.content for prompt in protocol.prompts(PAIR) for message in prompt.messages)
    assert "Small left effusion." in text
    assert "{reference} {0} %s" in text
    assert len(protocol.facts["prompt"]) == 8
    assert {prompt.protocol for prompt in protocol.prompts(PAIR)} == {f"{protocol.name}@{protocol.version}"}


def test_only_300_words_of_a_report_are_asked_about():
    assert "w299\n" in question(" ".join(f"w{i}" for i in range(400)), "")


HOPELESS = {
    "empty": "",
    "blank": " \n ",
    "refusal": "I'm sorry, but I can't help with medical reports.",
    "wrong JSON": '```json\n{"verdict": "good", "score": 0.9}\n```',
    "broken JSON": '{"corrections": [{"line": 0, "correction": "No eff',
    "endless": "[Matched Findings]:\n1. A\n" * 400_000,
    "deep": "[" * 50_000 + "{" * 50_000,
    "the form again": question("", ""),
    "marks": "#" * 99_999 + "\n" + "* " * 49_999,
    "blanks": "[Matched Findings]:" + " \t" * 49_999 + "(" * 49_999,
    "dashes": "Number of clinically significant errors by type:" + "- (" * 49_999,
    "phrases": json.dumps({"phrases": ["No effusion"] * 9_999}),
}


@pytest.mark.parametrize("reply", HOPELESS.values(), ids=HOPELESS)
@pytest.mark.parametrize(
    "protocol", [GreenProtocol(), ChexpromptProtocol(), FineradscoreProtocol(), RadfactProtocol()], ids=lambda p: p.name
)
def test_hopeless_replies_leave_a_pair_unscored(protocol, reply):
    (outcome,) = Judge(protocol, Scripted(lambda prompt: reply)).annotate_pairs([PAIR])
    assert isinstance(outcome, Unscored)
    assert outcome.reason
    assert outcome.replies[0] == reply[:20_000]
    assert json.loads(json.dumps(outcome.to_dict()))["unscored"] == outcome.reason


def test_a_reply_without_end_is_not_read():
    reply = "x" * (MAX_CHARACTERS + 1)
    (outcome,) = Judge(GreenProtocol(), Scripted(lambda prompt: reply)).annotate_pairs([PAIR])
    assert "200,001 characters" in outcome.reason


@pytest.mark.parametrize("n_digits", [10, 400, 5_000])
@pytest.mark.parametrize("parser", ["strict", "tolerant"])
def test_a_count_without_end_is_none(parser, n_digits):
    reply = f"[Clinically Significant Errors]:\nNone\n\n[Matched Findings]:\n{'1' * n_digits}. A"
    (outcome,) = Judge(GreenProtocol(parser), Scripted(lambda prompt: reply)).annotate_pairs([PAIR])
    assert isinstance(outcome, Unscored)


def test_a_failure_of_the_engine_costs_one_pair():
    pairs = [Pair("Clear lungs.", f"Candidate {n}.") for n in range(3)]
    chexprompt = "\n".join(
        f"Number of clinically {kind} errors by type: [(A, 1), (B, 0), (C, 0), (D, 0), (E, 0), (F, 0)]"
        for kind in ("significant", "insignificant")
    )
    engine = Scripted(lambda prompt: Reply(None, "timed out") if "Candidate 1" in prompt else chexprompt)
    outcomes = Judge(ChexpromptProtocol(), engine).annotate_pairs(pairs)
    assert [isinstance(outcome, Unscored) for outcome in outcomes] == [False, True, False]
    assert outcomes[1].reason == "No reply: timed out"


def test_equal_questions_are_asked_once_and_second_questions_in_one_call():
    def answer(prompt):
        last = prompt.rpartition("\n")[2]
        if last.startswith("Report:"):
            return json.dumps({"phrases": [part.strip() for part in last.removeprefix("Report: ").split(".") if part]})
        phrase = last.removeprefix("Phrase: ")
        report = json.loads(prompt.splitlines()[-2].removeprefix("Report: "))
        return json.dumps({"evidence": [phrase] * (phrase in report), "status": "entailment"})

    engine = Scripted(answer)
    pairs = [Pair("Effusion. Oedema.", "Effusion. Mass. Oedema. Scar."), Pair("Effusion. Oedema.", "Effusion. Oedema.")]
    verdicts = Judge(RadfactProtocol(), engine).annotate_pairs(pairs)
    assert [len(call) for call in engine.asked] == [2, 6]
    assert [[phrase.entailed for phrase in verdict.candidate] for verdict in verdicts] == [
        [True, False, True, False],
        [True, True],
    ]
    assert all(phrase.entailed for verdict in verdicts for phrase in verdict.reference)


def test_radfact_asks_nothing_about_an_empty_report():
    engine = Scripted(lambda prompt: '{"phrases": ["Effusion"]}')
    (verdict,) = Judge(RadfactProtocol(), engine).annotate_pairs([Pair("Effusion.", " ")])
    assert ([len(call) for call in engine.asked], verdict.candidate) == ([1], ())
    assert [phrase.entailed for phrase in verdict.reference] == [False]


def test_all_metrics_share_one_comparison_and_one_appraisal(monkeypatch):
    calls = []

    def count(module, name):
        function = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args: calls.append(name) or function(*args))

    count(sys.modules["rrgmetrics.comparing.compare"], "_compare")
    count(compared_pairs, "appraise")
    judges = ["green", "chexprompt", "fineradscore", "radfact", "crimson"]
    names = [*judges, "finding_errors", "finding_score", "finding_f1", "crepe"]
    rrgmetrics.score(names, predictions=[PAIR.candidate], references=[PAIR.reference], progress=False)
    assert sorted(calls) == ["_compare", "appraise"]


def test_the_context_reaches_the_bundled_judge():
    ages = [{"age": 80, "indication": "cough"}, {"age": 25, "indication": "chest pain"}]
    result = rrgmetrics.score(
        "chexprompt",
        predictions=["Heart size is normal."] * 2,
        references=["Heart size is normal. Aortic calcification."] * 2,
        contexts=ages,
        progress=False,
    )["chexprompt"]
    assert result.per_pair["chexprompt"].tolist() == [1, 1]
    assert result.per_pair["chexprompt_significant"].tolist() == [0, 1]


def test_means_over_what_is_known():
    nan = float("nan")
    stats = known_stats([(1, nan), (0, 4), (nan, nan), (nan, 2)], 2)
    mean = KnownMean(("a", "b"))
    per_pair = mean.per_pair(stats)
    np.testing.assert_array_equal(per_pair["a"], [1, 0, nan, nan])
    np.testing.assert_array_equal(per_pair["b"], [nan, 4, nan, nan])  # unscored without the first
    kept = stats[~np.isnan(stats).any(axis=1)]
    assert mean.corpus(kept.sum(axis=0), np.array(2.0)) == {"a": 0.5, "b": 4.0}
