"""Summarises ReXrank's published tables (rajpurkarlab/ReXrank, MIT) for the cards: quartiles and the best system.

    python scripts/summarize_rexrank.py FOLDER   # with findings_result_<data set>.csv

Writes `rrgmetrics/metaeval/rexrank.yaml`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml

TARGET = Path(__file__).parents[1] / "rrgmetrics" / "metaeval" / "rexrank.yaml"
SETS = {
    "mimiccxr": "MIMIC-CXR",
    "chexpertplus": "CheXpert Plus",
    "iu_xray": "IU X-ray",
    "gradienthealth": "ReXGradient",
}
METRICS: dict[
    str, tuple[str, str, Callable[[float], float], bool]
] = {  # metric: column, key in words, to its unit, higher is better
    "bleu": ("BLEU", "BLEU-2", float, True),
    "bertscore": ("BertScore", "BERTScore", float, True),
    "semb_score": ("SembScore", "SembScore", float, True),
    "radgraph_f1": ("RadGraph", "RadGraph F1 in RadCliQ", float, True),
    "radcliq": ("1/RadCliQ-v1", "RadCliQ-v1", lambda value: 1 / value, False),
    "ratescore": ("RaTEScore", "RaTEScore", float, True),
    "green": ("GREEN", "GREEN", float, True),
}


def main(folder: Path) -> None:
    """Writes the summary."""
    metrics: dict[str, dict[str, object]] = {}
    for metric, (column, title, unit, higher) in METRICS.items():
        sets = {}
        for name, shown in SETS.items():
            with (folder / f"findings_result_{name}.csv").open(encoding="utf-8-sig", newline="") as file:
                values = [
                    unit(float(row[column])) for row in csv.DictReader(file) if row[column] not in ("", "-", "NULL")
                ]
            low, high = np.quantile(values, [0.25, 0.75])
            best = max(values) if higher else min(values)
            sets[shown] = [len(values), *(round(float(value), 3) for value in (low, high, best))]
        metrics[metric] = {"title": title, "sets": sets}
    text = "# Made by scripts/summarize_rexrank.py. Of each data set: systems, quartiles of their scores, the best.\n"
    text += yaml.safe_dump(
        {"source": "ReXrank, findings, github.com/rajpurkarlab/ReXrank (MIT)", "metrics": metrics}, sort_keys=False
    )
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
