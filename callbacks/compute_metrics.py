"""`make_compute_metrics` gives metrics to `Seq2SeqTrainer(predict_with_generate=True)`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rrgmetrics.callbacks import processes
from rrgmetrics.callbacks.arguments import check_keys
from rrgmetrics.callbacks.baselines import Baselines, Watch
from rrgmetrics.callbacks.scoring import OnError, Scoring
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair, check_pairs, readable_part
from rrgmetrics.reports.missing import Missing


def make_compute_metrics(
    tokenizer: Any,
    metrics: str | Sequence[str],
    *,
    keys: Sequence[str] | None = None,
    n_pairs: int | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    on_error: OnError = "log",
    baselines: Baselines = "bundled",
    missing: Missing = "unscored",
) -> Callable[[Any], dict[str, float]]:
    """Makes a `compute_metrics` that decodes predictions and labels and scores them.

    The Trainer calls it in every process; one scores, all return the same. Where a headline does not beat what an empty
    report or a one-sentence normal report scores on the same references, the log `rrgmetrics` warns, as
    `ReportMetricsCallback` does.

    Args:
        tokenizer: The model's tokenizer, or its processor.
        metrics: Names as in `rrgmetrics.score`.
        keys: Which values it returns (`["green", "bleu_1"]`); None is all.
        n_pairs: Length of the evaluation set. Needed on several processes, where Seq2SeqTrainer fills the last batches
            with examples from the beginning and hands them over too: what lies beyond `n_pairs` is dropped.
        batch_size: Texts per forward pass of a metric's model; None leaves it to the backend.
        device: torch device of a metric's model; None takes CUDA where there is one.
        on_error: `"log"`: a metric that fails is NaN and logged once; training continues; or `"raise"`.
        baselines: Which metrics are compared with trivial reports: `"bundled"`, `"all"` or `"none"`, as in
            `ReportMetricsCallback`.
        missing: What becomes of studies whose reference is missing: `"unscored"`, `"empty"` or `"error"`, as in
            `rrgmetrics.score`.

    Returns:
        A function from transformers' EvalPrediction to plain floats by key; the Trainer puts `eval_` before them.

    Raises:
        InputError: An unknown metric or key, a tokenizer without pad token, or `n_pairs` missing on several processes.
        BackendError: Weights or data that are not there.
        MissingExtraError: An optional dependency that is not installed.
    """
    scoring = Scoring(metrics, batch_size=batch_size, device=device, on_error=on_error, missing=missing)
    watch = Watch(scoring, baselines)
    wanted = check_keys(keys, scoring.metrics.names.values())
    decoder = text_tokenizer(tokenizer)
    if n_pairs is None and (processes.count() > 1 or int(os.environ.get("WORLD_SIZE", "1")) > 1):
        raise InputError(
            "With several processes the Trainer repeats examples to fill the last batches, and these would be "
            "scored twice; pass n_pairs=len(eval_dataset)."
        )

    def compute_metrics(prediction: Any) -> dict[str, float]:
        predictions = prediction.predictions
        decoded = decode(decoder, predictions[0] if isinstance(predictions, tuple) else predictions, n_pairs)
        candidates = list(map(readable_part, decoded))
        references = decode(decoder, prediction.label_ids, n_pairs)
        pairs = check_pairs(candidates, references)
        values: dict[str, float] = processes.on_main(lambda: score(pairs))
        return values

    def score(pairs: Sequence[Pair]) -> dict[str, float]:
        values = scoring.score(pairs).values
        watch.see(pairs, values)
        return values if wanted is None else {key: value for key, value in values.items() if key in wanted}

    return compute_metrics


def text_tokenizer(tokenizer: Any) -> Any:
    """Returns a processor's tokenizer, or the tokenizer itself; raises InputError if it cannot decode or pad."""
    inner = getattr(tokenizer, "tokenizer", tokenizer)
    if not hasattr(inner, "batch_decode"):
        raise InputError(f"{type(tokenizer).__name__} cannot decode tokens; pass the model's tokenizer or processor.")
    if inner.pad_token_id is None:
        raise InputError(
            "The tokenizer has no pad token, so batches of reports cannot be padded; set it before training, for "
            "example tokenizer.pad_token = tokenizer.eos_token."
        )
    return inner


def decode(tokenizer: Any, tokens: Any, n_pairs: int | None = None) -> list[str]:
    """Decodes the first `n_pairs` rows of token ids `(n, length)`; -100, the Trainer's filler, is left out."""
    array = np.asarray(tokens)
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"The predictions are an array of {array.dtype} with shape {array.shape}, not token ids (n, length); use "
            "Seq2SeqTrainer with predict_with_generate=True."
        )
    if n_pairs is not None and len(array) < n_pairs:
        raise InputError(f"There are {len(array)} predictions and n_pairs is {n_pairs}; pass len(eval_dataset).")
    array = np.where(array < 0, tokenizer.pad_token_id, array)[:n_pairs]
    return [text.strip() for text in tokenizer.batch_decode(array, skip_special_tokens=True)]
