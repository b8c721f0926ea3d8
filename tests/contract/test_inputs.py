"""Bad input: one clear error that names list and index, before any work."""

from __future__ import annotations

import pytest

import rrgmetrics
from rrgmetrics import InputError
from rrgmetrics.testing import checks_of, inputs


@pytest.mark.parametrize("check", checks_of(inputs), ids=lambda check: check.__name__)
def test_inputs(case, check):
    check(case)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blue", "did you mean bleu"),
        ("", "non-empty string"),
        ([], "No metric was named"),
        (["bleu", "bleu"], "named twice"),
        ([None], "non-empty string, not None"),
        (None, "metrics is None; pass names of metrics, such as 'bleu'"),
        (3, "metrics is 3; pass names of metrics"),
        ([rrgmetrics.load("bleu")], r"non-empty string, not an object of the class \w+; for example 'bleu'\.$"),
        ("bleu@", "nothing after the @"),
        ("bleu?tokenizer", "not of the form option=value"),
        ("bleu?tokenizer=13a&tokenizer=coco", "given twice"),
        ("bertscore?layer=two", "not a whole number"),
        ("rouge?stemmer=maybe", "not yes or no"),
    ],
)
def test_bad_name(name, message):
    with pytest.raises(InputError, match=message):
        rrgmetrics.score(name, predictions=inputs.GOOD, references=inputs.GOOD)
