"""RadGraph: graphs of entities and relations, from the authors' weights or from a file of recorded graphs.

The weights run with our own inference code (`network`), which needs torch and transformers 4.57 or later but not the
package `radgraph`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rrgmetrics.backends.bert import pick_device
from rrgmetrics.backends.radgraph.checkpoint import find_radgraph, load_radgraph
from rrgmetrics.backends.radgraph.network import RadgraphNetwork
from rrgmetrics.labels.graph import Graph


@dataclass(frozen=True)
class RadgraphBackend:
    """A backend that annotates reports with the graphs of a RadGraph checkpoint.

    Attributes:
        network: The checkpoint.
        tokenizer: How the signature names the encoder's tokenizer; "" if it belongs to the checkpoint.
        batch_size: Reports per forward pass; None: as many as the token budget holds.
    """

    network: RadgraphNetwork
    tokenizer: str = ""
    batch_size: int | None = None

    @property
    def key(self) -> str:
        """The identity: the weights."""
        return f"radgraph:{self.network.identity}:{self.tokenizer}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the model, its data set, and the tokenizer if it comes from elsewhere."""
        facts = {"model": self.network.identity, "dataset": self.network.settings.dataset}
        return facts | ({"tokenizer": self.tokenizer} if self.tokenizer else {})

    def annotate(self, texts: Sequence[str]) -> list[Graph]:
        """Returns the graph of each text."""
        return self.network.read(texts, self.batch_size)


def load_backend(name: str, *, device: str | None = None, batch_size: int | None = None) -> RadgraphBackend:
    """Loads a checkpoint; all users in a process share the weights.

    Args:
        name: As for `radgraph_checkpoint.find_radgraph`.
        device: torch device; None takes CUDA where there is one, else the CPU.
        batch_size: Reports per forward pass; None: as many as the token budget holds.

    Raises:
        BackendError: Weights or tokenizer not found (within a second), damaged, or not of one piece.
    """
    parts = find_radgraph(name)  # before the seconds that importing torch takes
    return RadgraphBackend(load_radgraph(parts, pick_device(device)), parts.tokenizer, batch_size)
