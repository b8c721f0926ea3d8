"""Per-pair scores as a data set on the Hub: one configuration a system, one row a study.

Reports are patients' texts: they are left out unless they are asked for, and the data set is private unless it is made
public. What was scored, and with which signatures, is in the data set's card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rrgmetrics.reports import Pair
from rrgmetrics.scoring.results import Result, per_pair_columns


def details(results: Mapping[str, Result], ids: Sequence[str], pairs: Sequence[Pair] = ()) -> Any:
    """Returns one system's scores of each pair as a `datasets.Dataset`; NaN is unscored, and `unscored` says why.

    Args:
        results: By metric.
        ids: The study of each pair.
        pairs: The pairs, for the columns `reference` and `candidate`; none leaves them out.
    """
    from datasets import Dataset

    columns: dict[str, Any] = {"study_id": list(ids)}
    if pairs:
        columns |= {"reference": [pair.reference for pair in pairs], "candidate": [pair.candidate for pair in pairs]}
    columns |= {key: list(values) for key, values in per_pair_columns(results).items()}
    reasons = {name: result.unscored_reasons for name, result in results.items()}
    columns["unscored"] = [
        "; ".join(f"{name}: {why[row]}" for name, why in reasons.items() if row in why) for row in range(len(ids))
    ]
    return Dataset.from_dict(columns, info=_info(results))


def _info(results: Mapping[str, Result]) -> Any:
    from datasets import DatasetInfo

    lines = [f"{name}: {result.signature}" for name, result in results.items()]
    return DatasetInfo(description="Scores of radiology reports by rrgmetrics, a row a study.\n" + "\n".join(lines))


def push_details(repository: str, systems: Mapping[str, Any], *, public: bool = False) -> None:
    """Uploads the details of systems, one configuration each.

    Args:
        repository: The id of the data set: `my-lab/my-scores`.
        systems: The `details` of each system by its name.
        public: Whether anybody may read a data set that is made by this; one that exists stays as it is.
    """
    for name, dataset in systems.items():
        dataset.push_to_hub(repository, config_name=name, split="test", private=not public)
