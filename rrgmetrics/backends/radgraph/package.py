"""Graphs by the authors' package `radgraph` itself, where its environment allows; the weights are found by us.

radgraph 0.1.18 reads one report at a time, needs transformers 4, and does not import without `requests`, which it does
not ask for. `radgraph_network` gives the same graphs without it.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rrgmetrics.backends.checkpoints.limits import entries, read_config
from rrgmetrics.backends.checkpoints.loading import load_weights
from rrgmetrics.backends.radgraph.checkpoint import PUBLISHED_FILES, Parts, find_radgraph
from rrgmetrics.backends.shared import shared
from rrgmetrics.errors import BackendError, MissingExtraError
from rrgmetrics.labels.graph import Graph
from rrgmetrics.utils.extras import install_command


@dataclass(frozen=True)
class PackageBackend:
    """A backend that annotates reports with `radgraph.RadGraph`.

    Attributes:
        model: The loaded object of the package.
        identity: How the signature names the weights.
    """

    model: Any
    identity: str

    @property
    def key(self) -> str:
        """The identity: the package and the weights."""
        return f"radgraph-package:{self.identity}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the weights and the package's version."""
        return {"model": self.identity, "radgraph": version("radgraph")}

    def annotate(self, texts: Sequence[str]) -> list[Graph]:
        """Returns the graph of each text; the package never sees an empty one, at which it stops."""
        asked = [text for text in texts if text.strip()]
        with _silently():
            stored = self.model(asked) if asked else {}
        graphs = iter([Graph.from_json(stored[str(i)], f"radgraph's graph {i}") for i in range(len(asked))])
        return [next(graphs) if text.strip() else Graph("", ()) for text in texts]


def version(package: str) -> str:
    """The version of an installed package; importing what finds it takes time, so it is done here."""
    from importlib import metadata

    return metadata.version(package)


def load_package(name: str = "radgraph-xl", *, device: str) -> PackageBackend:
    """Loads a model of the package.

    Args:
        name: `radgraph` or `radgraph-xl`, or a folder or archive of such.
        device: `cpu`, or `cuda`, or `cuda:<number>`.

    Raises:
        MissingExtraError: The package is not installed.
        BackendError: It cannot work beside the installed packages, or weights are missing.
    """
    if find_spec("radgraph") is None:
        raise MissingExtraError(
            f"radgraph_f1@package needs the package radgraph: {install_command('radgraph')}. "
            "radgraph_f1@paper computes the same without it."
        )
    if int(version("transformers").partition(".")[0]) >= 5:
        raise BackendError(
            f"radgraph {version('radgraph')} needs transformers 4, and version {version('transformers')} is "
            "installed. Use a separate environment (pip install 'transformers<5'), or radgraph_f1@paper, which "
            "computes the same."
        )
    parts = find_radgraph(name)
    if parts.weights.name != PUBLISHED_FILES[-1]:
        raise BackendError(
            f"{parts.identity} is a converted checkpoint, which the package cannot read; name the original."
        )
    return _load(parts, device)


@shared
def _load(parts: Parts, device: str) -> PackageBackend:
    _check(parts)
    cuda = -1 if device == "cpu" else int(device.partition(":")[2] or 0)
    with tempfile.TemporaryDirectory() as cache, _silently():
        (Path(cache) / parts.settings.dataset).symlink_to(parts.weights.parent.resolve(), target_is_directory=True)
        try:
            model = import_module("radgraph").RadGraph(
                model_type=parts.settings.dataset, model_cache_dir=cache, cuda=cuda
            )
        except Exception as error:  # the package and AllenNLP raise whatever they like
            raise BackendError(
                f"radgraph {version('radgraph')} cannot be used here: {type(error).__name__}: {error}. Use "
                "radgraph_f1@paper, which computes the same."
            ) from error
    return PackageBackend(model, parts.identity)


def _check(parts: Parts) -> None:
    """Raises BackendError for what would be run: the package trusts the pickle, AllenNLP any class that is named."""
    load_weights(parts.weights)
    for key, value in entries(read_config(parts.weights.parent), "config.json"):
        if key == "type" and "." in str(value):
            raise BackendError(f"{parts.identity}: config.json requests code (type: {value}), which is never run.")


@contextlib.contextmanager
def _silently() -> Any:
    """Keeps the package's prints and its changes of warning filters to itself."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
