"""How well the bundled labeller finds what hand coders found: CheXpert's conditions against Open-i's MeSH codes.

For each condition the MeSH codes that mean it are listed in `MESH`; precision, recall and F1 are counted by report.
A condition counts as read where it is positive, not where it is uncertain (the coders mostly did the same).

Choices, so that the numbers can be judged:

- Lung Opacity is what CheXpert's labeller takes for one: also airspace disease, infiltrates, scars, fibrosis and
  interstitial markings. Consolidation, pneumonia, edema, atelectasis and nodules are conditions of their own.
- Lung Lesion also holds round opacities ("nodular" in the reports), and no granulomas. Fracture also
  holds deformities of vertebrae.
- Devices are catheters, tubes, implants, stents and hardware of the spine; clips, sutures and wires are not.
- Enlarged Cardiomediastinum and No Finding are shown but not averaged: MeSH has no code for the first, and "normal" is
  what a coder wrote where nothing was worth a code, old scars and spines included.

What is left over is mostly the coders': see `rrgmetrics.metaeval.openi`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from rrgmetrics.metaeval.openi import (
    MINIMUM_REPORTS,
    OpeniReport,
    Tally,
    coded,
    count_report,
    load_openi,
    make_code,
    table,
)
from rrgmetrics.reader import read
from rrgmetrics.reader.conditions import Status, Statuses, condition_statuses, load_conditions

NOT_AVERAGED = frozenset({"Enlarged Cardiomediastinum", "No Finding"})

MESH = {
    "Enlarged Cardiomediastinum": "Mediastinum/prominent|enlarged",
    "Cardiomegaly": "Cardiomegaly; Cardiac Shadow/enlarged|borderline|prominent",
    "Lung Opacity": "Opacity; Airspace Disease; Infiltrate; Cicatrix; Pulmonary Fibrosis; Fibrosis; "
    "Lung Diseases, Interstitial; Markings/interstitial; Density/lung",
    "Lung Lesion": "Nodule; Mass/lung; Opacity/round; Density/round; Cavitation",
    "Edema": "Pulmonary Edema; Pulmonary Congestion; Heart Failure",
    "Consolidation": "Consolidation",
    "Pneumonia": "Pneumonia; Tuberculosis",
    "Atelectasis": "Pulmonary Atelectasis; Volume Loss",
    "Pneumothorax": "Pneumothorax; Hydropneumothorax; Hemopneumothorax",
    "Pleural Effusion": "Pleural Effusion; Hydropneumothorax; Hemopneumothorax",
    "Pleural Other": "Thickening/pleura; Pleura; Calcinosis/pleura; Cicatrix/pleura",
    "Fracture": "Fractures, Bone; Deformity/thoracic vertebrae|lumbar vertebrae|cervical vertebrae|spine",
    "Support Devices": "Catheters, Indwelling; Tube, Inserted; Implanted Medical Device; Medical Device; Stents; "
    "Spinal Fusion",
    "No Finding": "normal",
}


def read_conditions(report: str) -> Statuses:
    """The bundled labeller: the reader's findings as conditions."""
    return condition_statuses(read(report))


def evaluate(
    reports: Iterable[OpeniReport], *, labeller: Callable[[str], Statuses] = read_conditions
) -> dict[str, Tally]:
    """Count for every condition where labeller and coders agree.

    Args:
        reports: from ``load_openi``.
        labeller: report → the status of each condition, in the order of ``load_conditions().names``.

    Returns:
        dict[str, Tally]: one per condition.
    """
    codes = [make_code(name, MESH[name]) for name in load_conditions().names]
    tallies = {code.name: Tally() for code in codes}
    for report in reports:
        for code, status in zip(codes, labeller(report.text), strict=True):
            count_report(tallies[code.name], bool(coded(code, report)), status == Status.POSITIVE, report.uid)
    return tallies


def macro_f1(tallies: Mapping[str, Tally]) -> float:
    """Mean F1 of the conditions that at least 15 reports carry, those of ``NOT_AVERAGED`` left out; NaN if none."""
    kept = [t.f1 for name, t in tallies.items() if name not in NOT_AVERAGED and t.n >= MINIMUM_REPORTS]
    return float(np.mean(kept)) if kept else float("nan")


def main(arguments: list[str]) -> int:
    """Print the table for a file: ``python -m rrgmetrics.metaeval.openi_conditions indiana_reports.csv``."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m rrgmetrics.metaeval.openi_conditions FILE.csv\n")
        return 2
    tallies = evaluate(load_openi(arguments[0]))
    for line in table(tallies):
        sys.stdout.write(line + "\n")
    sys.stdout.write(f"{'macro':34} {'':19} {macro_f1(tallies):6.3f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
