"""CREPE's network (EMNLP 2025): a BERT with linear heads that predict how many errors a radiologist would count.

`BertForCategoryErrorRegression` is a `transformers.PreTrainedModel` for training and for encoders other than BERT; its
checkpoints have the keys and the config of the authors' package, so that either side reads the other's. The class is
made when it is first asked for: importing this file loads neither torch nor transformers.

Read from the config, beside the encoder's own keys; the authors' four must be there:

| key | meaning |
|---|---|
| `num_error_categories` | heads: 6 (A to F), 2 (significant, not significant) or 1 (all) |
| `use_poisson_loss` | counts are softplus of the heads, and their loss is Poisson's |
| `use_presence_loss`, `presence_loss_weight` | binary cross-entropy of n > 0 beside the counts' loss, and its weight |
| `crepe_features` | what the heads read: `pooler` (default where there is one), `cls` (else) or `tokens` |
| `crepe_token_loss_weight` | weight of the squared error of token rates (with `tokens`; default 0) |
| `cls_token_id`, `sep_token_id` | tokens that count nothing (with `tokens`) |
| `crepe_alignment` | whether a token's type tells where its word stands in the other report (`alignment`) |
| `crepe_whole` | counts this close to a whole number are read as it (default 0) |

The last six are ours. With `tokens` a count is a sum over both reports, n̂_c = Σ_t softplus(w_c·h_t + b_c),
so the score is explained by each word's share of it; the presence heads then read [CLS].

Differs from the authors: the class builds its encoder from the config and takes all weights from one file (theirs reads
the encoder twice, and fails on transformers 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from rrgmetrics.backends.checkpoints import PICKLE, WEIGHTS, find_checkpoint
from rrgmetrics.backends.checkpoints.loading import build_model, load_config, load_model
from rrgmetrics.backends.crepe.alignment import RELATIONS, STATES, TYPES_A_TEXT
from rrgmetrics.errors import BackendError

if TYPE_CHECKING:
    from torch import Tensor

Features = Literal["pooler", "cls", "tokens"]
PUBLISHED_KEYS = ("num_error_categories", "use_poisson_loss", "use_presence_loss", "presence_loss_weight")
TYPES = "embeddings.token_type_embeddings.weight"
PATTERNS = 0.3  # size of the first vectors of states and relations, beside those of the two texts
EPSILON = 1e-8  # of torch's PoissonNLLLoss


@dataclass(frozen=True)
class CrepeSettings:
    """The settings of the heads in a checkpoint's config; the names are those of the config's keys."""

    num_error_categories: int = 6
    use_poisson_loss: bool = False
    use_presence_loss: bool = True
    presence_loss_weight: float = 0.5
    crepe_features: Features | None = None
    crepe_token_loss_weight: float = 0.0
    cls_token_id: int | None = None
    sep_token_id: int | None = None
    crepe_alignment: bool = False
    crepe_whole: float = 0.0

    def __post_init__(self) -> None:
        if self.num_error_categories not in (1, 2, 6):
            raise BackendError(f"num_error_categories is {self.num_error_categories!r}; CREPE has 1, 2 or 6 heads.")
        if self.crepe_features not in (None, *get_args(Features)):
            raise BackendError(f"crepe_features is {self.crepe_features!r}; it is one of pooler, cls, tokens.")
        if self.crepe_features == "tokens" and (self.cls_token_id is None or self.sep_token_id is None):
            raise BackendError("crepe_features is 'tokens'; the config must name cls_token_id and sep_token_id.")
        if not 0 <= self.crepe_whole < 0.5:
            raise BackendError(f"crepe_whole is {self.crepe_whole!r}; it is a number from 0 to less than 0.5.")

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> CrepeSettings:
        """Reads the settings from a config (a dict); a missing published key or a bad value is a BackendError."""
        missing = [key for key in PUBLISHED_KEYS if key not in config]
        if missing:
            raise BackendError(f"the config lacks {', '.join(missing)}; it is not a CREPE checkpoint.")
        return cls(**{key: config[key] for key in cls.__dataclass_fields__ if key in config})

    def written(self) -> dict[str, object]:
        """The inverse of `read`: the authors' keys, and those of ours that are set."""
        ours = {key: value for key, value in vars(self).items() if value != self.__dataclass_fields__[key].default}
        return {key: getattr(self, key) for key in PUBLISHED_KEYS} | ours


def build_crepe(encoder: str, settings: CrepeSettings | None = None) -> Any:
    """Builds a model with a pretrained encoder and untrained heads, to be trained.

    Args:
        encoder: Folder or Hub id of any encoder that `AutoModel` reads.
        settings: The heads; None means the paper's.

    Returns:
        A `BertForCategoryErrorRegression` in training mode.
    """
    import torch

    checkpoint = find_checkpoint(encoder, weights=(*WEIGHTS, PICKLE))
    with torch.random.fork_rng(devices=[]):  # the heads' first weights do not depend on what the encoder lacks
        pretrained, loading = load_model("AutoModel", checkpoint, pickled=True)
    absent = sorted(key for key in loading["missing_keys"] if "pooler" not in key)
    if absent:
        raise BackendError(f"{encoder} lacks {len(absent)} weights of the encoder, such as {absent[0]}.")
    config = load_config(checkpoint)
    for key, value in (settings or CrepeSettings()).written().items():
        setattr(config, key, value)
    weights = pretrained.state_dict()
    if settings is not None and settings.crepe_alignment:
        config.type_vocab_size = 2 * TYPES_A_TEXT
        weights[TYPES] = align_types(weights[TYPES])
    model = crepe_class()(config)
    model.bert.load_state_dict(weights)
    return model.train()


def align_types(types: Tensor) -> Tensor:
    """Returns vectors of aligned types `(48, H)`: those of both texts `(2, H)`, and parts for state and relation.

    The parts are fixed random patterns, a fraction as large as the vectors themselves: what they mean is learnt, but
    they differ from the start.
    """
    import torch

    generator = torch.Generator().manual_seed(0)
    size = PATTERNS * types.std()
    states, relations = (
        size * torch.randn(len(names), types.shape[1], generator=generator) for names in (STATES, RELATIONS)
    )
    states[0] = relations[0] = 0
    both = (states[:, None] + relations).flatten(0, 1)
    return torch.cat([types[text] + both for text in (0, len(types) - 1)])


@cache
def crepe_class() -> Any:
    """The class `BertForCategoryErrorRegression`; importing transformers takes seconds, so it is made on demand."""
    import inspect

    import torch
    from torch import nn
    from transformers import AutoConfig, PreTrainedModel
    from transformers.utils import ModelOutput

    @dataclass
    class CrepeOutput(ModelOutput):  # type: ignore[misc]
        """Loss if there were labels, counts and presence logits `(B, C)`, rates `(B, T, C)` if asked for."""

        loss: Tensor | None = None
        counts: Tensor | None = None
        presence_logits: Tensor | None = None
        rates: Tensor | None = None

        @property
        def all_logits(self) -> tuple[Tensor, ...]:
            """The counts as the authors' package returns them: one `(B, 1)` a category."""
            counts = cast("Tensor", self.counts)
            return tuple(counts[:, i : i + 1] for i in range(counts.shape[1]))

    class BertForCategoryErrorRegression(PreTrainedModel):  # type: ignore[misc]
        """An encoder `bert` with count heads `error_regressors.{i}` and presence heads `error_presence.{i}`."""

        config_class = AutoConfig

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.settings = CrepeSettings.read(config.to_dict())
            self.bert = build_model(config)
            self.dropout = nn.Dropout(_dropout(config))
            n_heads = range(self.settings.num_error_categories)
            self.error_regressors = nn.ModuleList(nn.Linear(config.hidden_size, 1) for _ in n_heads)
            self.error_presence = nn.ModuleList(nn.Linear(config.hidden_size, 1) for _ in n_heads)
            self._accepted = set(inspect.signature(self.bert.forward).parameters)
            self.post_init()

        def forward(
            self,
            *,
            input_ids: Tensor,
            attention_mask: Tensor,
            token_type_ids: Tensor | None = None,
            position_ids: Tensor | None = None,
            labels: Tensor | None = None,
            token_targets: Tensor | None = None,
            output_rates: bool = False,
        ) -> CrepeOutput:
            """Counts of errors of each pair.

            Args:
                input_ids: `(B, T)`, reference first, then candidate.
                attention_mask: `(B, T)`, 1 for tokens, 0 for padding.
                token_type_ids: `(B, T)`, 0 for the reference, 1 for the candidate; dropped if the encoder has none.
                position_ids: `(B, T)`; dropped if the encoder takes none.
                labels: Counts `(B, C)`, raw.
                token_targets: Rates `(B, T, C)` (features `tokens`); NaN where a token's rate is not known.
                output_rates: Whether to return the tokens' rates.
            """
            optional = {"token_type_ids": token_type_ids, "position_ids": position_ids}
            known = {key: value for key, value in optional.items() if value is not None and key in self._accepted}
            encoded = self.bert(input_ids=input_ids, attention_mask=attention_mask, **known)
            own = own_tokens(input_ids, attention_mask, self.settings)
            pooled = getattr(encoded, "pooler_output", None)
            counts, presence, rates = apply_heads(
                self.dropout(encoded.last_hidden_state),
                None if pooled is None else self.dropout(pooled),
                own,
                _stacked(self.error_regressors),
                _stacked(self.error_presence),
                self.settings,
            )
            loss = None if labels is None else count_loss(counts, presence, labels, self.settings)
            if loss is not None and token_targets is not None and rates is not None:
                loss = loss + self.settings.crepe_token_loss_weight * token_loss(rates, token_targets)
            return CrepeOutput(loss, counts, presence, rates if output_rates else None)

    def _stacked(heads: nn.ModuleList) -> tuple[Tensor, Tensor]:
        linears = [cast(nn.Linear, head) for head in heads]
        return torch.cat([head.weight for head in linears]), torch.cat([head.bias for head in linears])

    return BertForCategoryErrorRegression


def _dropout(config: Any) -> float:
    """The dropout before the heads: the first of the encoder's rates that is not 0, as the authors take it."""
    rates = (getattr(config, key, None) for key in ("classifier_dropout", "hidden_dropout_prob", "dropout"))
    return next((float(rate) for rate in rates if rate), 0.1)


def own_tokens(input_ids: Tensor, attention_mask: Tensor, settings: CrepeSettings) -> Tensor:
    """A mask `(B, T)`, True for the tokens of the two reports: neither padding nor special tokens."""
    own = attention_mask.bool()
    for token in (settings.cls_token_id, settings.sep_token_id):
        if token is not None:
            own = own & (input_ids != token)
    return own


def apply_heads(
    states: Tensor,
    pooled: Tensor | None,
    own: Tensor,
    regressors: tuple[Tensor, Tensor],
    presence: tuple[Tensor, Tensor],
    settings: CrepeSettings,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Counts and presence logits from an encoder's output; the one place where the three kinds of features differ.

    Args:
        states: Hidden states `(B, T, H)`.
        pooled: The pooler's output `(B, H)`; None if the encoder has no pooler.
        own: `(B, T)`, the tokens that count.
        regressors: Weights `(C, H)` and biases `(C,)` of the count heads.
        presence: Those of the presence heads.
        settings: Which features, and whether counts are softplus.

    Returns:
        Counts `(B, C)` (before any clipping at 0), presence logits `(B, C)`, and with `tokens` the rates `(B, T, C)`.
    """
    from torch.nn.functional import linear, softplus

    features = settings.crepe_features or ("cls" if pooled is None else "pooler")
    if features == "pooler" and pooled is None:
        raise BackendError("crepe_features is 'pooler', but the encoder has no pooler; use cls or tokens.")
    dtype = regressors[0].dtype  # an encoder in bf16 has heads in fp32
    read = (pooled if features == "pooler" and pooled is not None else states[:, 0]).to(dtype)
    present = linear(read, *presence).float()
    if features == "tokens":
        rates = softplus(linear(states.to(dtype), *regressors).float()) * own[..., None]
        return rates.sum(dim=1), present, rates
    counts = linear(read, *regressors).float()
    return (softplus(counts) if settings.use_poisson_loss else counts), present, None


def count_loss(counts: Tensor, presence: Tensor, labels: Tensor, settings: CrepeSettings) -> Tensor:
    """The paper's loss (equations 4 to 7): (1 - w)·L_count + w·L_presence, each averaged over pairs and categories.

    L_count is the squared error, or with `use_poisson_loss` n̂ - n·log(n̂); L_presence the binary cross-entropy of n > 0.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss, poisson_nll_loss

    labels = labels.to(counts.dtype)
    if settings.use_poisson_loss:
        loss = poisson_nll_loss(counts, labels, log_input=False, full=False, eps=EPSILON)
    else:
        loss = mse_loss(counts, labels)
    if settings.use_presence_loss:
        weight = settings.presence_loss_weight
        loss = (1 - weight) * loss + weight * binary_cross_entropy_with_logits(presence, (labels > 0).to(counts.dtype))
    return loss


def token_loss(rates: Tensor, targets: Tensor) -> Tensor:
    """The squared error of rates `(B, T, C)`, summed over tokens, averaged over pairs and categories without NaN."""
    known = ~targets.isnan()
    return ((rates - targets.nan_to_num()).square() * known).sum(dim=1).mean()
