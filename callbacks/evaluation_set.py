"""The validation examples of a callback: which of them, in which order, with their references and contexts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from rrgmetrics.callbacks.conversation import answer_of
from rrgmetrics.callbacks.generation import labelled_text
from rrgmetrics.callbacks.lengths import Labels
from rrgmetrics.errors import InputError
from rrgmetrics.reports import CONTEXT_KEYS, Context, Pair, parse_context, report_of

REFERENCE_COLUMNS = ("reference", "report")
ANSWERED_COLUMN = "messages"  # whose last turn is the report, if it is the assistant's
ID_COLUMNS = ("study_id", "id")
LOOKED_AT = 32  # examples that are loaded, images and all, before the first step


class EvaluationSet:
    """A fixed choice of examples.

    Args:
        dataset: Rows by number, or (with `n_reports`) an iterable.
        reference: A column, or a function of an example; None takes the column `reference` or `report`, else the
            assistant's last turn in `messages`, else decodes the labels.
        tokenizer: Decodes labels; its end token, which TRL adds to columns, is no part of a reference.
        n_reports: How many examples; None is all.
        seed: Chooses them, and their order: what a time limit leaves over is a fair sample too.

    Raises:
        InputError: No examples, or examples without a reference.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        reference: str | Callable[[Any], str] | None,
        tokenizer: Any,
        n_reports: int | None,
        seed: int,
    ) -> None:
        self._dataset = _indexable(dataset, n_reports)
        n = len(self._dataset)
        if n == 0:
            raise InputError("The evaluation set is empty; there is nothing to generate reports for.")
        rows: list[int] = np.random.default_rng(seed).permutation(n)[:n_reports].tolist()
        self.rows = rows
        self._tokenizer = tokenizer
        self._reference = reference
        self._check()

    def __getitem__(self, row: int) -> Any:
        return self._dataset[row]

    def reference(self, example: Any, row: int) -> str:
        """Returns the radiologist's report of an example, "" for a missing one; raises InputError if it is no text."""
        return self._report(self._find_reference(example), f"The reference of example {row} of the evaluation set")

    def _report(self, value: Any, where: str) -> str:
        """The report of a cell; of a conversation, the assistant's last turn."""
        answer = answer_of(value)
        report = report_of(value if answer is None else answer, where)
        end = getattr(self._tokenizer, "eos_token", None)
        return report.removesuffix(end).rstrip() if end and report.endswith(end) else report

    def context(self, example: Any, row: int) -> Context:
        """Returns age, sex and indication, where the example has such columns."""
        known = {key: example[key] for key in CONTEXT_KEYS if isinstance(example, Mapping) and key in example}
        return parse_context(known, f"Example {row} of the evaluation set")

    def pairs(self) -> list[Pair]:
        """Returns each reference with its context, and no candidate; none where that would load images."""
        dataset = self._dataset
        if self._is_answered(self[self.rows[0]]):  # its turns may hold images
            return []
        if hasattr(dataset, "select_columns") and not callable(self._reference):
            wanted = (self._reference, *REFERENCE_COLUMNS, "labels", *CONTEXT_KEYS)
            dataset = dataset.select_columns([name for name in dataset.column_names if name in wanted])
        elif not isinstance(dataset, list):
            return []
        examples = ((dataset[row], row) for row in self.rows)
        return [Pair(self.reference(*each), "", self.context(*each)) for each in examples]

    def labels(self) -> list[Labels]:
        """Returns how the labels end that references are decoded from; of a few where that would load images."""
        first = self[self.rows[0]]
        if self._reference is not None or not isinstance(first, Mapping) or {*REFERENCE_COLUMNS} & {*first}:
            return []
        if self._is_answered(first):
            return []
        dataset, rows = self._dataset, self.rows
        if hasattr(dataset, "select_columns"):
            dataset = dataset.select_columns(["labels"])
        elif not isinstance(dataset, list):
            rows = rows[:LOOKED_AT]
        return [Labels.of(dataset[row]["labels"], self._tokenizer) for row in rows]

    def identity(self, example: Any, row: int) -> int | str:
        """Returns an example's name in tables: its `study_id` or `id`, else its number."""
        for name in ID_COLUMNS:
            if isinstance(example, Mapping) and isinstance(example.get(name), int | str):
                return example[name]  # type: ignore[no-any-return]
        return row

    def shrink(self, n_reports: int) -> None:
        """Keeps the first examples only, from now on."""
        self.rows = self.rows[:n_reports]

    def _find_reference(self, example: Any) -> Any:
        if callable(self._reference):
            return self._reference(example)
        if not isinstance(example, Mapping):
            raise InputError(f"An example is a {type(example).__name__}, not a dict; pass reference= as a function.")
        for name in [self._reference] if self._reference else REFERENCE_COLUMNS:
            if name in example:
                return example[name]
        if self._is_answered(example):
            return example[ANSWERED_COLUMN]
        if self._reference is None and "labels" in example:
            return labelled_text(example, self._tokenizer)
        raise InputError(
            f"The evaluation set has no references: its columns are {', '.join(map(str, example))}; pass reference= (a "
            "column or a function of an example)."
        )

    def _is_answered(self, example: Any) -> bool:
        """Whether the reference of an example is a turn of its conversation."""
        if self._reference is not None or not isinstance(example, Mapping) or {*REFERENCE_COLUMNS} & {*example}:
            return False
        return answer_of(example.get(ANSWERED_COLUMN)) is not None

    def _check(self) -> None:
        """Checks all references of a column that can be read alone, else the first: each row may have an image."""
        first = self.rows[0]
        if not any(self.reference(self[row], row) for row in self.rows[:LOOKED_AT]):  # the first one, as a rule
            raise InputError(
                "Every reference of the evaluation set is missing; pass reference= (a column or function)."
            )
        self.context(self[first], first)
        names = [self._reference] if isinstance(self._reference, str) else list(REFERENCE_COLUMNS)
        columns: Sequence[str] = getattr(self._dataset, "column_names", None) or ()
        for name in names[: 0 if callable(self._reference) else None]:
            if name in columns:
                texts = self._dataset[name]
                for row in self.rows:
                    self._report(texts[row], f"{name}[{row}] of the evaluation set")
                return


def _indexable(dataset: Any, n_reports: int | None) -> Any:
    if dataset is None:
        raise InputError("There is no evaluation set; pass eval_dataset to the Trainer, or dataset= to the callback.")
    if n_reports is not None and (isinstance(n_reports, bool) or not isinstance(n_reports, int) or n_reports < 1):
        raise InputError(f"n_reports is {n_reports!r}; pass a whole number of at least 1, or None for all.")
    if hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"):
        return dataset
    if n_reports is None:
        raise InputError("The evaluation set has no length (an iterable); pass n_reports= to use its first examples.")
    return list(islice(dataset, n_reports))
