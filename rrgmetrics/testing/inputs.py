"""Bad input to a metric: one clear error that names list and index, before any work."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

from rrgmetrics.errors import InputError
from rrgmetrics.testing.case import Case

GOOD = ["Clear lungs.", "Small effusion.", "No pneumothorax."]
BAD_REPORTS: dict[str, tuple[Any, str]] = {  # one element that is not a report → what the message says of it
    "number": (7, "is 7 (int)"),
    "bool": (True, "is True (bool)"),
    "bytes": (b"Clear lungs.", "(bytes)"),
    "several reports": (["Clear lungs.", "Edema."], "is a list of 2"),
    "dict": ({"report": "Clear lungs."}, "(dict)"),
    "2 MB": ("effusion " * 250_000, "has 2,250,000 characters"),
    "half a character": ("effusion \ud83e", "lone surrogate"),
}
BAD_LISTS: dict[str, tuple[Any, Any, str]] = {  # both lists → the message
    "lengths": (GOOD, GOOD[:2], "predictions has 3 reports and references has 2"),
    "empty": ([], [], "no pairs"),
    "str": ("Clear lungs.", GOOD, "predictions is 'Clear lungs.' (str); pass a list"),
    "bytes": (GOOD, b"Clear lungs.", "references is b'Clear lungs.' (bytes); pass a list"),
    "None": (None, GOOD, "predictions is None"),
    "number": (GOOD, 3, "references is 3"),
    "dict": ({"a": "Clear lungs."}, GOOD, "predictions is"),
    "float": (math.nan, GOOD, "predictions is NaN"),
}
BAD_CONTEXTS: dict[str, tuple[Any, str]] = {
    "length": ([{}], "contexts has 1 entries for 3 pairs"),
    "dict": ({"age": 3}, "contexts is {'age': 3} (dict); pass a list of dicts"),
    "str": ("age", "contexts is 'age'"),
    "element": ([{}, 3, {}], "contexts[1] is 3 (int)"),
    "key": ([{}, {}, {"Age": 3}], "contexts[2] has the key 'Age'"),
    "age": ([{"age": "old"}, {}, {}], "contexts[0]: age 'old'"),
    "sex": ([{}, {"sex": "x"}, {}], "contexts[1]['sex'] is 'x'"),
    "indication": ([{}, {"indication": 5}, {}], "contexts[1]['indication'] is 5"),
}


def check_bad_reports(case: Case) -> None:
    """A report that is none is named by its list and index."""
    for value, message in BAD_REPORTS.values():
        for column in ("predictions", "references"):
            lists = {"predictions": GOOD, "references": GOOD} | {column: [*GOOD[:2], value]}
            error = _refused(case, lists["predictions"], lists["references"])
            assert error.startswith(f"{column}[2] ")
            assert message in error
            assert len(error) < 200


def check_bad_lists(case: Case) -> None:
    """What is no list, or not as long as the other one, is refused."""
    for predictions, references, message in BAD_LISTS.values():
        assert message in _refused(case, predictions, references)


def check_bad_contexts(case: Case) -> None:
    """A context that cannot be used is named by its index."""
    for contexts, message in BAD_CONTEXTS.values():
        assert message in _refused(case, GOOD, GOOD, contexts=contexts)


def check_bad_batch_sizes(case: Case) -> None:
    """A batch size is a whole number of at least 1."""
    for batch_size in (0, -1, 2.0, "8", True):
        assert "batch_size is" in _refused(case, GOOD, GOOD, batch_size=batch_size)


def check_unknown_options(case: Case) -> None:
    """An unknown option, choice or configuration is answered with those that there are."""
    spec = case.spec
    error = _refused(case, GOOD, GOOD, name=f"{spec.name}?colour=red")
    assert all(option in error for option in ("colour", *spec.options))
    for key, option in spec.options.items():
        if option.choices:
            error = _refused(case, GOOD, GOOD, name=f"{spec.name}?{key}=purple")
            assert all(str(text) in error for text in ("purple", key, *option.choices))
    if not spec.takes_checkpoint:
        error = _refused(case, GOOD, GOOD, name=f"{spec.name}@papre")
        assert all(config in error for config in ("papre", *spec.configs))


def _refused(case: Case, predictions: Any, references: Any, **keywords: Any) -> str:
    """The message of the InputError; fails if a model is loaded before it, or nothing is refused."""
    with mock.patch("rrgmetrics.scoring.prepared.build_scorer", side_effect=AssertionError("the scorer was built")):
        try:
            case.score(predictions, references, **keywords)
        except InputError as error:
            return str(error)
    raise AssertionError("nothing was refused")
