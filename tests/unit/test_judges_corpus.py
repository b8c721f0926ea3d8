"""The parsers on all invented replies of tests/data/replies: none is read wrongly, what a person can read is read."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial

import pytest
from timing import ends_within

from benchmarks.replies import FOLDER, READERS, outcome, rows

# What a person can read and we refuse: (protocol, kind) → replies.
LOST = {("mammo_green", "a Markdown list"): 1}


def test_every_protocol_has_its_file():
    assert {file.stem for file in FOLDER.glob("*.jsonl")} == set(READERS)
    assert sum(len(rows(protocol)) for protocol in READERS) >= 300
    assert all(len(rows(protocol)) >= 25 for protocol in READERS)


@pytest.mark.parametrize("protocol", READERS)
def test_no_reply_is_read_wrongly(protocol):
    for row in rows(protocol):
        found, verdict = outcome(protocol, row)
        assert found != "wrong", (row["kind"], row["reply"], verdict)


@pytest.mark.parametrize("protocol", READERS)
def test_what_a_person_can_read_is_read(protocol):
    lost = Counter(row["kind"] for row in rows(protocol) if outcome(protocol, row)[0] == "lost")
    assert lost == {kind: n for (where, kind), n in LOST.items() if where == protocol}


JSON_PROTOCOLS = ("mammo_green", "crimson", "crimson_ct", "fineradscore", "radfact_entailment", "nodules")


@pytest.mark.parametrize("protocol", JSON_PROTOCOLS)
def test_a_cut_reply_is_refused_or_read_as_the_whole(protocol):
    """At 20 places of each reply that is JSON alone."""
    for row in rows(protocol):
        text = row["reply"].strip()
        if row["verdict"] == "refused" or not text.startswith("{") or _has_two_values(text):
            continue
        for end in range(1, len(text), max(1, len(text) // 20)):
            found, verdict = outcome(protocol, {**row, "reply": text[:end]})
            assert found != "wrong", (row["kind"], text[:end], verdict)


def _has_two_values(text: str) -> bool:
    try:
        return bool(text[json.JSONDecoder().raw_decode(text)[1] :].strip())
    except ValueError:
        return False


ENDLESS = {
    "blanks": " " * 50_000,
    "lines": "\n" * 50_000,
    "quotes": '{"a": "' + '"' * 50_000,
    "braces": '{"a":' * 10_000,
    "items": "(1) " * 12_000,
    "letters": "a: 0, " * 9_000,
    "cells": "| a | 1 " * 7_000,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("protocol", READERS)
def test_an_endless_reply_is_refused_in_time(protocol, text):
    row = {"reply": text, "verdict": "refused", "phrase": "a", "other": ["a"], "phrases": ["a"]}
    assert outcome(protocol, row)[0] == "refused"
    assert ends_within(5, partial(outcome, protocol, row))  # in the square of its length it would take minutes
