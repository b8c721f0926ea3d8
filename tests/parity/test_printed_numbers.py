"""Numbers that authors have printed, as far as they follow without a network and without weights.

`rrgmetrics doctor` computes the others, from the texts in the authors' files. Texts that may come from patients'
reports are not here: of those of RadEval's tests, tests/data/printed_numbers.json has the numbers of the words.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from rrgmetrics.doctor import published
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.green import GreenProtocol

WORDS = json.loads((Path(__file__).parents[1] / "data" / "printed_numbers.json").read_text())
EXAMPLES = published.examples()
WITHOUT_WEIGHTS = [each for each in EXAMPLES if each.metric in ("bleu", "rouge", "temporal_f1@paper")]


def report(numbers):
    """A text of made-up words, which no stemmer shortens."""
    return " ".join(f"{chr(97 + number // 100)}{number % 100:02}" for number in numbers)


def source_of(example):
    return example.source.removeprefix("RadEval's ").partition(" (")[0]


IN_NUMBERS = [each for each in WITHOUT_WEIGHTS if each.url and each.metric in ("bleu", "rouge")]


@pytest.mark.parametrize("example", IN_NUMBERS, ids=lambda each: f"{each.metric} {each.source}")
def test_radevals_tests_in_numbers_of_words(example, score):
    texts = WORDS[source_of(example)][example.metric]
    candidates, references = ([report(row) for row in texts[side]] for side in ("candidates", "references"))
    result = score(example.metric, candidates, references)
    for key, value in example.scores.items():
        assert result.scores[key] == pytest.approx(value, abs=example.within)
    for key, values in example.per_pair.items():
        assert list(result.per_pair[key]) == pytest.approx(values, abs=example.within)


def test_numbers_are_there_for_each_file():
    assert {source_of(each) for each in IN_NUMBERS} == set(WORDS) - {"what"}


@pytest.mark.parametrize(
    "example", [each for each in WITHOUT_WEIGHTS if not each.is_remote], ids=lambda each: each.source
)
def test_examples_that_need_neither_network_nor_weights(example):
    assert published.score_example(example, None).status == "ok"


# GREEN's tests/test_repro.py and RadEval's tests/test_greenscore.py: what the authors count in five replies, (a) to (f)
# and matched findings, and their scores. The replies are of patients' reports; those here are invented to these counts.
FIVE = (
    ([2, 3, 0, 1, 0, 0], 0, 0),
    ([2, 1, 2, 0, 0, 0], 1, 1 / 6),
    ([0, 2, 1, 1, 0, 0], 2, 1 / 3),
    ([1, 0, 0, 0, 0, 0], 1, 1 / 2),
    ([1, 0, 1, 1, 0, 0], 1, 1 / 4),
)
KINDS = (
    "False report of a finding in the candidate",
    "Missing a finding present in the reference",
    "Misidentification of a finding's anatomic location/position",
    "Misassessment of the severity of a finding",
    "Mentioning a comparison that isn't in the reference",
    "Omitting a comparison detailing a change from a prior study",
)


def reply(counts, n_matched):
    words = ("edema", "effusion", "a nodule")
    lines = [f"({'abcdef'[i]}) {KINDS[i]}: {n}. {'; '.join(words[:n])}." for i, n in enumerate(counts)]
    return "\n".join(
        [
            "[Explanation]:\nInvented.\n",
            "[Clinically Significant Errors]:",
            *lines,
            "\n[Clinically Insignificant Errors]:",
            *(f"({'abcdef'[i]}) {kind}: 0." for i, kind in enumerate(KINDS)),
            f"\n[Matched Findings]:\n{n_matched}. {'; '.join(words[:n_matched])}",
        ]
    )


@pytest.mark.parametrize("parser", ["strict", "tolerant"])
def test_greens_five_replies(parser):
    verdicts = [GreenProtocol(parser).verdict(Pair("", ""), [reply(counts, n)]) for counts, n, _ in FIVE]
    assert [list(verdict.significant.counts) for verdict in verdicts] == [counts for counts, *_ in FIVE]
    assert [verdict.score for verdict in verdicts] == pytest.approx([score for *_, score in FIVE], abs=1e-12)
    (printed,) = (each for each in EXAMPLES if each.replies)
    assert printed.per_pair["green"] == pytest.approx([score for *_, score in FIVE])
    assert printed.per_pair["green_errors_significant"] == [sum(counts) for counts, *_ in FIVE]


@pytest.mark.network
def test_radevals_own_files(tmp_path):
    """RadEval 2.2.1 from PyPI holds every text that the doctor looks for, and what needs no weights is equal."""
    ask = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary=:all:", "--no-build-isolation"]
    done = subprocess.run([*ask, "radeval==2.2.1"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(done.stderr)
    with tarfile.open(next(tmp_path.glob("radeval-*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    folders = [tmp_path / "radeval-2.2.1"]
    of_tests = [each for each in EXAMPLES if "/RadEval/" in each.url and "/fixtures/" not in each.url]
    assert len(of_tests) > 15
    for example in of_tests:
        assert example.is_in(folders)
        example.texts(folders)
        if example.replies or example in WITHOUT_WEIGHTS:
            assert published.score_example(example, None, folders).status == "ok"
