"""`ReportMetrics` has update, compute and reset, for Lightning and hand-written loops, on any number of processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rrgmetrics.callbacks import processes
from rrgmetrics.callbacks.baselines import Baseline, Baselines, Watch
from rrgmetrics.callbacks.scoring import OnError, Scoring
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair, check_pairs, readable_part
from rrgmetrics.reports.missing import Missing

Row = tuple[int | str | None, Pair]


class ReportMetrics:
    """Collects reports batch by batch and scores them at the end, as torchmetrics does.

    Where a headline does not beat what an empty report or a one-sentence normal report scores on the same references,
    the log `rrgmetrics` warns, once per change. Both are scored once for each distinct set of references; where every
    `compute` sees others, that is a second scoring each time, and `baselines="none"` spares it.

    Args:
        metrics: Names as in `rrgmetrics.score`: `["bleu", "green", "bertscore@radeval"]`.
        prefix: Put before every key: `"val/"`.
        batch_size: Texts per forward pass of a model; None leaves it to the backend.
        device: torch device of models; None takes CUDA where there is one.
        on_error: `"raise"`, or `"log"`: a metric that fails while it scores is NaN, and that is logged once.
        baselines: Which metrics are compared with trivial reports: `"bundled"`, `"all"` or `"none"`, as in
            `ReportMetricsCallback`.
        missing: What becomes of studies whose reference is missing: `"unscored"`, `"empty"` or `"error"`, as in
            `rrgmetrics.score`.

    Raises:
        InputError: A name, an option or an argument that cannot be used.
        BackendError: Weights or data that are not there.
        MissingExtraError: An optional dependency that is not installed.

    Example:
        >>> metrics = ReportMetrics(["rouge"])
        >>> metrics.update(["Clear lungs."], ["Lungs are clear."])
        >>> metrics.compute()["rouge_1"]
        0.8
        >>> metrics.reset()
    """

    def __init__(
        self,
        metrics: str | Sequence[str],
        *,
        prefix: str = "",
        batch_size: int | None = None,
        device: str | None = None,
        on_error: OnError = "raise",
        baselines: Baselines = "bundled",
        missing: Missing = "unscored",
    ) -> None:
        self._scoring = Scoring(metrics, batch_size=batch_size, device=device, on_error=on_error, missing=missing)
        self._watch = Watch(self._scoring, baselines)
        self._prefix = prefix
        self._rows: list[Row] = []

    @property
    def baselines(self) -> Mapping[str, Baseline]:
        """The scores of an empty and a one-sentence normal report by key, for the latest set; in the main process."""
        return self._watch.baselines

    def __len__(self) -> int:
        return len(self._rows)

    def update(
        self,
        predictions: Sequence[str],
        references: Sequence[str],
        *,
        contexts: Any = None,
        ids: Sequence[int | str] | None = None,
    ) -> None:
        """Adds a batch of reports.

        Args:
            predictions: The model's reports, one a study; `""` for an empty one.
            references: The radiologists' reports, in the same order.
            contexts: One dict a pair with any of `age`, `sex`, `indication`, `prior`; or None.
            ids: One number (or string) a study. A study that several processes saw, because a distributed sampler
                fills its last batches, then counts once, and the order is that of the ids on any number of processes.

        Raises:
            InputError: Different lengths, an element that is not a report, or ids that cannot be used.
        """
        if isinstance(predictions, list | tuple):
            predictions = [readable_part(text) if isinstance(text, str) else text for text in predictions]
        pairs = check_pairs(predictions, references, contexts, start=len(self))
        numbers = _check_ids(ids, len(pairs))
        if self._rows and (self._rows[0][0] is None) != (ids is None):
            raise InputError("ids were passed for some batches only; pass them for all or for none.")
        self._rows += zip(numbers, pairs, strict=True)

    def compute(self) -> dict[str, float]:
        """Scores what all processes added since the last reset; collective.

        Returns:
            Corpus values by key (those of the metric's spec, after `prefix`) and `<metric>_n_unscored`; the same in
            every process. NaN if no pair could be scored.

        Raises:
            InputError: No process added a report, or one id has two references.
            BackendError: A model or server failed, with `on_error="raise"`.
        """
        pairs = distinct(processes.gather(self._rows))
        if not pairs:
            raise InputError("There is nothing to compute; call update(predictions, references) first.")
        values = processes.on_main(lambda: self._score(pairs))
        return {self._prefix + key: value for key, value in values.items()}

    def _score(self, pairs: Sequence[Pair]) -> dict[str, float]:
        values = self._scoring.score(pairs, where=self._prefix).values
        self._watch.see(pairs, values, prefix=self._prefix)
        return values

    def reset(self) -> None:
        """Forgets the reports; the metrics stay loaded."""
        self._rows.clear()


def distinct(rows: Sequence[Row]) -> list[Pair]:
    """Returns pairs in the order of their ids, each id once (the first is kept); without ids all pairs as they come."""
    if any(number is None for number, _ in rows):
        return [pair for _, pair in rows]
    first: dict[Any, Pair] = {}
    for number, pair in rows:
        kept = first.setdefault(number, pair)
        if kept.reference != pair.reference:
            raise InputError(f"The id {number!r} belongs to two references; ids must be unique over the data set.")
    return [first[number] for number in sorted(first)]


def _check_ids(ids: Sequence[int | str] | None, n_pairs: int) -> Sequence[int | str | None]:
    if ids is None:
        return [None] * n_pairs
    numbers = [value.item() if hasattr(value, "item") else value for value in ids]
    if len(numbers) != n_pairs:
        raise InputError(f"ids has {len(numbers)} entries for {n_pairs} pairs; pass one for each study.")
    kinds = {str if isinstance(value, str) else int if isinstance(value, int) else None for value in numbers}
    if len(kinds) > 1 or None in kinds:
        raise InputError("ids must all be whole numbers or all strings, one for each study.")
    return numbers
