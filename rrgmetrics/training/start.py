"""Training that goes on with a CREPE checkpoint: perhaps told where words stand in the other text, perhaps smaller.

The last layers go first. Narrowing keeps the inner neurons of each feed-forward layer that could say most: those with
the largest product of the norms of the weights that lead to them and away from them. Nothing else changes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rrgmetrics.backends.bert import load_int8
from rrgmetrics.backends.checkpoints import Checkpoint
from rrgmetrics.backends.checkpoints.limits import weight_files
from rrgmetrics.backends.checkpoints.loading import load_config
from rrgmetrics.backends.crepe.alignment import TYPES_A_TEXT
from rrgmetrics.backends.crepe.model import TYPES, CrepeSettings, align_types, crepe_class
from rrgmetrics.errors import BackendError, InputError

if TYPE_CHECKING:
    from torch import Tensor

ALIGNED_TYPES = 2 * TYPES_A_TEXT


def continued(checkpoint: Checkpoint, settings: CrepeSettings, *, layers: int = 0, intermediate_size: int = 0) -> Any:
    """Returns a model with the weights of a CREPE checkpoint, stored in 32, 16 or 8 bits, to be trained further.

    Args:
        checkpoint: Encoder and heads.
        settings: The heads and losses to train with.
        layers: The first so many that stay; 0 keeps all.
        intermediate_size: Inner neurons a layer that stay; 0 keeps all.

    Raises:
        InputError: More layers or neurons are to stay than there are.
        BackendError: The checkpoint lacks weights.
    """
    config = load_config(checkpoint)
    for key, value in settings.written().items():
        setattr(config, key, value)
    weights: dict[str, Tensor] = {}
    for file in weight_files(checkpoint.folder):
        weights |= load_int8(file)
    types = f"bert.{TYPES}"
    if settings.crepe_alignment and len(weights[types]) != ALIGNED_TYPES:
        weights[types] = align_types(weights[types])
        config.type_vocab_size = ALIGNED_TYPES
    for name, kept in (("num_hidden_layers", layers), ("intermediate_size", intermediate_size)):
        there = getattr(config, name)
        if kept > there:
            raise InputError(
                f"{name.removeprefix('num_hidden_')} is {kept}, but {checkpoint.identity} has {there}; "
                "a network can be made smaller, not larger."
            )
        setattr(config, name, kept or there)
    if layers:
        weights = {name: weight for name, weight in weights.items() if _layer(name) < layers}
    if intermediate_size:
        weights = narrowed(weights, intermediate_size)
    model = crepe_class()(config)
    missing = [name for name in model.load_state_dict(weights, strict=False).missing_keys if ".pooler." not in name]
    if missing:
        raise BackendError(f"{checkpoint.identity} lacks {len(missing)} weights, such as {missing[0]}.")
    return model.train()


def _layer(name: str) -> int:
    """The number of the layer that a weight is of; -1 for those of none."""
    found = re.search(r"encoder\.layer\.(\d+)\.", name)
    return int(found[1]) if found else -1


def narrowed(weights: dict[str, Tensor], size: int) -> dict[str, Tensor]:
    """Returns BERT's weights with `size` inner neurons in each feed-forward layer, in the order they had."""
    done = dict(weights)
    for into in (name for name in weights if name.endswith("intermediate.dense.weight")):
        bias, out = into.removesuffix("weight") + "bias", into.replace("intermediate.dense", "output.dense")
        said = weights[into].norm(dim=1) * weights[out].norm(dim=0)
        kept = said.topk(size).indices.sort().values
        done |= {into: weights[into][kept], bias: weights[bias][kept], out: weights[out][:, kept]}
    return done
