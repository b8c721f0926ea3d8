"""What tasks of lm-evaluation-harness and lmms-eval call; neither is imported here.

Their own way to a metric that they do not know is `evaluate.load(name).compute` for one sample at a time, and the mean
over samples of whatever it returns: no corpus BLEU, no micro F1, and a signature has no mean. Here `process_results`
returns each pair's value with its statistics, and `corpus` makes the corpus value of them. Tasks that do so ship in
`rrgmetrics/integrations/tasks`; `rrgmetrics harness lm-eval` shows where, and writes others.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.integrations.documents import DEFAULT_METRICS, context_of, images_of
from rrgmetrics.integrations.pair_values import columns, corpus_value, score_pair
from rrgmetrics.reports import check_pairs
from rrgmetrics.scoring.prepared import Metrics, parse_names, prepare


class Functions:
    """The functions of a task, for metrics of one's choice.

    Args:
        metrics: Names as in `rrgmetrics.score`.
        reference: The column of the data that holds the radiologist's report.
        image: The column that holds an image, a path, or a list of either.
        all_keys: Whether each metric gives all its keys, or its headline alone.

    Raises:
        InputError: A name or option that cannot be used.
    """

    def __init__(
        self,
        metrics: str | Sequence[str] = DEFAULT_METRICS,
        *,
        reference: str = "reference",
        image: str = "image",
        all_keys: bool = False,
    ) -> None:
        self.names = parse_names(metrics)
        self._reference, self._image, self._all_keys = reference, image, all_keys
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> Functions:
        """Harnesses copy a task's configuration, functions and all; the models stay one."""
        return self

    @cached_property
    def _metrics(self) -> Metrics:
        return prepare(list(self.names))

    def loaded(self) -> Functions:
        """Returns itself, with its models in memory: what is missing is an error before anything is generated.

        Raises:
            BackendError: Weights that are not there.
            MissingExtraError: A package that is not installed.
        """
        _ = self._metrics
        return self

    @property
    def columns(self) -> dict[str, bool | None]:
        """Every column that `process_results` gives, with its direction: whether higher is better."""
        directions: dict[str, bool | None] = {}
        for name in self.names.values():
            known = {key.name: key.higher_is_better for key in name.spec.keys}
            named = columns(name, all_keys=self._all_keys)
            directions |= {column: known.get(key, False) for key, column in named.items()}
        return directions

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
        """Scores one reply of the model against the document's reference; empty texts are empty reports."""
        if self._reference not in doc:
            raise InputError(f"The data have no column {self._reference!r}; they have {', '.join(doc)}.")
        candidate = results[0][0] if isinstance(results[0], list) else results[0]
        (pair,) = check_pairs([candidate or ""], [doc[self._reference] or ""], [context_of(doc)])
        with self._lock:
            metrics = self._metrics
        values = score_pair(metrics, pair)
        return {column: values[column] for column in self.columns}

    def images(self, doc: Mapping[str, Any]) -> list[Any]:
        """Returns the images of a document, for `doc_to_image` and `doc_to_visual`."""
        return images_of(doc[self._image])


def corpus(values: Sequence[float]) -> float:
    """The aggregation of every column: its corpus value; of `<metric>_n_unscored` the sum."""
    return corpus_value(values)


def no_images(doc: Mapping[str, Any]) -> list[Any]:
    """The images of a document of a text task: none."""
    return []
