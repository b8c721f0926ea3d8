"""CheXprompt's parser against the authors' (microsoft/chexprompt 8cfddec); invented texts, tests/data/judges.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.chexprompt import strict, tolerant

AUTHORS = json.loads((Path(__file__).parents[1] / "data" / "judges.json").read_text())["chexprompt"]
UNREADABLE = {"missing_insignificant", "missing_significant", "non_integer", "unknown_key", "empty"}


@pytest.mark.parametrize("case", AUTHORS["parse"], ids=lambda case: case["name"])
def test_strict_parser(case):
    names = AUTHORS["error_type_map"]
    for counts, side in zip(strict(case["completion"]), ("significant", "insignificant"), strict=True):
        assert (counts and {names.get(key, key): value for key, value in counts.items()}) == case[side]


@pytest.mark.parametrize("case", AUTHORS["parse"], ids=lambda case: case["name"])
def test_tolerant_parser_reads_what_the_authors_read_and_more(case):
    if case["name"] in UNREADABLE:
        with pytest.raises(VerdictError):
            tolerant(case["completion"])
        return
    read = tolerant(case["completion"])
    for counts, side in zip(read, ("significant", "insignificant"), strict=True):
        if case[side] is not None:
            assert counts == tuple(case[side].get(name, 0) for name in AUTHORS["error_type_map"].values())
