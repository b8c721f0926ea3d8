"""Scorers for inspect_ai on a log that a mock model made, as `inspect score` does it; offline."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import SPECS, InputError

pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def documents():
    with open(EXAMPLES / "references.csv") as references, open(EXAMPLES / "system_a.csv") as system:
        rows = list(zip(csv.DictReader(references), csv.DictReader(system), strict=True))
    return [*((row["report"], other["report"], row["age"]) for row, other in rows), ("Lorem ipsum dolor.", "", None)]


def make_log(documents, folder, epochs=1):
    """Each sample's completion is the system's report."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def system():
        async def solve(state, generate):
            text = documents[int(state.sample_id) - 1][1] if state.epoch == 1 else "Clear lungs."
            state.output = ModelOutput.from_content("mockllm/model", text)
            return state

        return solve

    samples = [Sample(input="?", target=reference, metadata={"age": age}) for reference, _, age in documents]
    task = Task(dataset=MemoryDataset(samples), solver=system(), epochs=epochs)
    (log,) = eval(task, model="mockllm/model", log_dir=str(folder), score=False, display="none")
    return log


def test_a_stored_log_is_scored_as_score_does(documents, tmp_path):
    from inspect_ai import score
    from inspect_ai.log import read_eval_log

    from rrgmetrics.integrations.inspect_ai import SCORERS

    log = read_eval_log(make_log(documents, tmp_path).location)
    names = {"green": {}, "chexbert_f1": {}, "bleu": {"config": "?tokenizer=13a"}}
    scored = score(log, [SCORERS[name](**args) for name, args in names.items()], action="overwrite", display="none")
    for result, (name, args) in zip(scored.results.scores, names.items(), strict=True):
        full = name + args.get("config", "")
        expected = rrgmetrics.score(
            full,
            predictions=[candidate for _, candidate, _ in documents],
            references=[reference for reference, _, _ in documents],
            contexts=[{"age": age} if age else {} for *_, age in documents],
            progress=False,
        )[full]
        assert (result.scorer, result.unscored_samples) == (name, expected.n_unscored)
        for key, value in expected.scores.items():
            np.testing.assert_allclose(result.metrics[key].value, value, rtol=0, atol=1e-12, err_msg=key)
        assert result.metrics["low"].value <= expected.scores[name] <= result.metrics["high"].value
    last = scored.samples[-1].scores["green"]
    assert math.isnan(last.as_float())
    assert "Latin" in last.explanation


def test_means_over_epochs_are_not_passed_off_as_corpus_values(documents, tmp_path):
    from inspect_ai import score

    from rrgmetrics.integrations.inspect_ai import SCORERS

    log = make_log(documents[:3], tmp_path, epochs=2)
    rouge, bleu = score(log, [SCORERS["rouge"](), SCORERS["bleu"]()], display="none").results.scores
    assert math.isnan(bleu.metrics["bleu"].value)
    per_epoch = [
        rrgmetrics.score("rouge", predictions=texts, references=[row[0] for row in documents[:3]], progress=False)
        for texts in ([row[1] for row in documents[:3]], ["Clear lungs."] * 3)
    ]
    assert rouge.metrics["rouge"].value == pytest.approx(np.mean([each["rouge"].scores["rouge"] for each in per_epoch]))


def test_every_metric_has_a_scorer_and_cider_says_why_not():
    from rrgmetrics.integrations.inspect_ai import SCORERS

    assert set(SCORERS) >= set(SPECS)
    with pytest.raises(InputError, match="cider: the score of a pair depends on the other pairs"):
        SCORERS["cider"]()
    with pytest.raises(InputError, match="no option 'tokeniser'"):
        SCORERS["bleu"]("?tokeniser=13a")
