"""The judge of CONTRIBUTING.md answers: built from its lines, as a package of somebody else's."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

import rrgmetrics
from rrgmetrics.reports import Pair
from rrgmetrics.specs import plugins
from rrgmetrics.testing import CHECKS, case_of
from worked_examples import block, install

IMPORTS = (
    "from rrgmetrics.specs.judges import BUNDLED_CONFIGS, EXPLAIN_OPTION, JUDGE_OPTIONS\n"
    "from rrgmetrics.specs import TEXT_OPTION, Key, MetricSpec\n"
    "from rrgmetrics.specs.shared import CHEST_XRAY\n\n"
)
PAIR = Pair("Large left pneumothorax.", "Clear lungs.")
REPLIES = {  # → harm, None if it cannot be read
    "Harm: 2 - the pneumothorax is missed.": 2,
    "**harm: 0**": 0,
    "**Harm:** 1, perhaps": 1,
    "Harm : 2": 2,
    "I cannot answer.": None,
    "Harm: 7": None,
    "Harm: 1.5": None,
    "Harm: 2/10": None,
    "Charm: 2": None,
    "Possible: Harm: 0, Harm: 1. My answer: Harm: 2": None,
}


def forget() -> None:
    """As in a new process: no package of others is known."""
    plugins.cache_clear()
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] == "harm_metrics"]:
        del sys.modules[name]


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory):
    """The judge, installed."""
    folder = tmp_path_factory.mktemp("site-packages")
    row = block("rrgmetrics/specs/judges.py").strip().removesuffix(",")
    assert "rrgmetrics.scorers.harm:Harm" in row
    modules = {
        "harm_metrics/__init__.py": "",
        "harm_metrics/rows.py": f"{IMPORTS}HARM = {row.replace('rrgmetrics.scorers.harm:', 'harm_metrics.scorer:')}\n",
        "harm_metrics/scorer.py": block("rrgmetrics/scorers/harm/__init__.py"),
    }
    points = {"rrgmetrics.metrics": {"harm": "harm_metrics.rows:HARM"}}
    install(folder, {"name": "harm-metrics", "entry-points": points}, modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        forget()
        yield
    forget()


@pytest.mark.parametrize(
    "check", [check for check in CHECKS if "folder" not in check.__module__], ids=lambda f: f.__name__
)
def test_the_judge_keeps_the_contract(check):
    check(case_of("harm"))


def test_the_bundled_judge():
    texts = {"references": [PAIR.reference] * 2, "predictions": [PAIR.candidate, PAIR.reference]}
    result = rrgmetrics.score("harm?explain=yes", progress=False, **texts)["harm?explain=yes"]
    assert result.per_pair["harm"].tolist() == [2, 0]
    assert "pneumothorax" in result.details["harm_explained"][0]["reason"]
    assert "|prompt:" not in result.signature  # nobody was asked


@pytest.mark.parametrize("reply", REPLIES)
def test_replies(reply, tmp_path):
    (prompt,) = importlib.import_module("harm_metrics.scorer").HarmProtocol().prompts(PAIR)
    row = {"protocol": "harm@1", "prompt_sha256": prompt.sha256, "reply": reply, "engine": "a", "parameters": {}}
    (tmp_path / "replies.jsonl").write_text(json.dumps(row) + "\n")
    name = f"harm@replies:{tmp_path / 'replies.jsonl'}"
    result = rrgmetrics.score(name, references=[PAIR.reference], predictions=[PAIR.candidate], progress=False)[name]
    if REPLIES[reply] is None:
        assert result.n_unscored == 1
        assert "has no line" in result.unscored_reasons[0]
    else:
        assert result.scores["harm"] == REPLIES[reply]
