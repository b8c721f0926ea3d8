"""Only a few files load what others trained or packed, above all those of `backends/checkpoints`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("rrgmetrics", "callbacks", "spaces", "metrics", "examples", "benchmarks")
METHODS = {
    *("from_pretrained", "from_config", "_from_config", "from_encoder_decoder_pretrained"),
    *("extractall", "unpack_archive", "load_state_dict_from_url", "get_class_from_dynamic_module"),
}
FUNCTIONS = {"torch.load", "torch.jit.load", "torch.hub.load"}
MODULES = {"pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "tarfile", "zipfile"}
READERS = {"load_file", "load", "safe_open", "deserialize"}  # of safetensors
LOADERS = {
    "rrgmetrics/backends/checkpoints/archives.py": {"tarfile", "zipfile"},
    "rrgmetrics/backends/checkpoints/limits.py": {"safe_open"},  # headers only, before torch is imported
    "rrgmetrics/backends/checkpoints/loading.py": {"from_pretrained", "from_config", "torch.load", "load_file"},
    # The user's own class, in memory already, reads what its Trainer wrote a moment ago; safetensors only.
    "callbacks/restoring.py": {"from_pretrained"},
    "rrgmetrics/reading/lexicon/compiled.py": {"marshal"},  # plain data that it wrote itself; runs nothing
    "rrgmetrics/scoring/workers.py": {"joblib", "pickle"},  # its own processes, and what it wrote for them
    "rrgmetrics/judges/engines/replicas.py": {"joblib"},  # its own processes
    "rrgmetrics/testing/scores.py": {"pickle"},  # a result, there and back
    "spaces/leaderboard/scoring.py": {"zipfile"},  # what numpy raises for statistics of its own that are damaged
}


def loads(source: str) -> Iterator[str]:
    """Each way of a module to read weights, configs or archives; a mention of the function is enough."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            if node.attr in METHODS:
                yield node.attr
            if ast.unparse(node) in FUNCTIONS:
                yield ast.unparse(node)
        elif isinstance(node, ast.Import):
            yield from ({alias.name.partition(".")[0] for alias in node.names} & MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {alias.name for alias in node.names}
            yield from ({node.module.partition(".")[0]} & MODULES) | (names & METHODS)
            if node.module.startswith("safetensors"):
                yield from names & READERS
            yield from {f"{node.module}.{name}" for name in names} & FUNCTIONS


def sources() -> list[str]:
    return [str(path.relative_to(ROOT)) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def test_only_these_files_load():
    found = {path: set(loads((ROOT / path).read_text(encoding="utf-8"))) for path in sources()}
    assert {path: loaders for path, loaders in found.items() if loaders} == LOADERS


@pytest.mark.parametrize(
    ("source", "loader"),
    [
        ("from transformers import AutoModel as A\nA.from_pretrained('x')", "from_pretrained"),
        ("from functools import partial\nmake = partial(kind.from_config, trust_remote_code=True)", "from_config"),
        ("import torch\ntorch.load('x')", "torch.load"),
        ("from torch import load", "torch.load"),
        ("def f():\n    from safetensors.torch import load_file", "load_file"),
        ("import tarfile as t", "tarfile"),
        ("import shutil\nshutil.unpack_archive('x')", "unpack_archive"),
        ("from shutil import unpack_archive", "unpack_archive"),
        ("import pickle", "pickle"),
    ],
)
def test_a_loader_is_found(source, loader):
    assert loader in set(loads(source))


@pytest.mark.parametrize("source", ["from rrgmetrics.reading.lexicon import load_file", "json.load(file)"])
def test_what_loads_nothing_passes(source):
    assert not set(loads(source))
