"""`score` leaves the process as it found it and prints nothing unless asked."""

from __future__ import annotations

import json
import logging
import os
import random
import warnings

import nltk  # noqa: F401 - at its import rich draws an id from random: not ours, so before any test
import numpy as np
import pytest

from rrgmetrics import SPECS

# All metrics in a fresh interpreter. Libraries add filters for their own warnings when they are imported; these
# come first, so that what is left is ours.
FRESH = """
import json, logging, os, random, sys, warnings
import nltk, numpy as np, scipy.special, torch
import rrgmetrics

names, references, candidates = json.loads(sys.argv[1])

def state():
    root = logging.getLogger()
    return {
        "environment": dict(os.environ),
        "filters": [repr(entry) for entry in warnings.filters],
        "showwarning": repr(warnings.showwarning),
        "root": [root.level, list(map(repr, root.handlers)), logging.root.manager.disable],
        "random": repr(random.getstate()),
        "numpy": repr(np.random.get_state()),
        "error state": repr(np.geterr()),
        "path": sys.path,
        "folder": os.getcwd(),
    }

before = state()
rrgmetrics.score(names, predictions=candidates, references=references, progress=False)
after = state()
print(json.dumps({key: [before[key], after[key]] for key in before if before[key] != after[key]}))
"""


def test_a_fresh_process_is_left_as_it_was(run_python, reports):
    arguments = json.dumps([list(SPECS), reports.references[:3], reports.altered[:3]])
    changed = json.loads(run_python(FRESH, arguments))
    assert changed == {}


def state():
    import torch

    root = logging.getLogger()
    return {
        "environment": dict(os.environ),
        "filters": list(warnings.filters),
        "root": (root.level, tuple(root.handlers)),
        "random": random.getstate(),
        "numpy": repr(np.random.get_state()),
        "torch": torch.random.get_rng_state().tolist(),
        "gradients": torch.is_grad_enabled(),
        "threads": torch.get_num_threads(),
    }


def test_state_and_streams(spec, score, reports, capfd):
    before = state()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score(spec.name, reports.altered, reports.references)
    assert state() == before
    assert caught == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "config", [(name, config) for name, spec in SPECS.items() for config in spec.configs], ids="@".join
)
def test_loading_a_checkpoint_prints_nothing(config, score, reports, published_checkpoints, capfd, monkeypatch):
    import torch

    if config == ("crimson", "paper"):
        pytest.importorskip("CRIMSON.prompt_parts", reason="its question is in the authors' package crimson-score")
    before = torch.random.get_rng_state()
    score("@".join(config), reports.altered[:2], reports.references[:2])
    assert capfd.readouterr() == ("", "")
    assert torch.equal(torch.random.get_rng_state(), before)


def test_progress_is_shown_on_standard_error(spec, reports, capfd, monkeypatch):
    import sys

    import rrgmetrics

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")  # to rich: a terminal
    rrgmetrics.score(spec.name, predictions=reports.altered, references=reports.references)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "scoring" in printed.err
