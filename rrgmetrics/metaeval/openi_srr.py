"""How well the reader finds SRR-BERT's leaves: against Open-i's MeSH codes, for the leaves that have one.

A leaf counts as read where it is Present. Leaves that MeSH does not code, or codes in fewer than 15 of the reports at
hand, are left out. Choices: a nodule may be coded as a round opacity or a granuloma; emphysema holds hyperinflation and
COPD, fibrosis holds scars, edema holds heart failure, as `lexicon/srr.yaml` has them. Both the table and the lexicon
were written with Open-i at hand. What is left over is mostly the coders': see `rrgmetrics.metaeval.openi`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np

from rrgmetrics.metaeval.openi import OpeniReport, Tally, coded, count_report, load_openi, make_code, table
from rrgmetrics.reader import read
from rrgmetrics.reader.srr_labels import srr_labels

MESH = {
    "Edema": "Pulmonary Edema; Heart Failure",
    "Pneumonia": "Pneumonia; Tuberculosis",
    "Atelectasis": "Pulmonary Atelectasis; Volume Loss",
    "Nodule/Solitary lung nodule": "Nodule; Calcified Granuloma; Granuloma; Opacity/round; Density/round",
    "Emphysema": "Emphysema; Pulmonary Emphysema; Bullous Emphysema; Pulmonary Disease, Chronic Obstructive; "
    "Lung/hyperdistention",
    "Fibrosis": "Pulmonary Fibrosis; Fibrosis; Lung Diseases, Interstitial; Cicatrix",
    "Pulmonary congestion": "Pulmonary Congestion",
    "Simple pneumothorax": "Pneumothorax",
    "Simple pleural effusion": "Pleural Effusion; Hemopneumothorax",
    "Pleural scarring": "Thickening/pleura",
    "Cardiomegaly": "Cardiomegaly; Cardiac Shadow/enlarged|borderline|prominent",
    "Tortuous Aorta": "Aorta/tortuous; Aorta, Thoracic/tortuous",
    "Calcification of the Aorta": "Atherosclerosis; Calcinosis/aorta|aorta, thoracic|blood vessels",
    "Hernia": "Hernia, Hiatal; Hernia, Diaphragmatic",
}


def evaluate(reports: Iterable[OpeniReport]) -> dict[str, Tally]:
    """Count for every leaf of `MESH` where reader and coders agree; reports are those of ``load_openi``."""
    codes = [make_code(leaf, mesh) for leaf, mesh in MESH.items()]
    tallies = {leaf: Tally() for leaf in MESH}
    for report in reports:
        found = srr_labels(read(report.text), "leaves", True)
        for code in codes:
            has = f"{code.name} (Present)" in found
            count_report(tallies[code.name], bool(coded(code, report)), has, report.uid)
    return tallies


def main(arguments: list[str]) -> int:
    """Print the table for a file: ``python -m rrgmetrics.metaeval.openi_srr indiana_reports.csv``."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m rrgmetrics.metaeval.openi_srr FILE.csv\n")
        return 2
    tallies = evaluate(load_openi(arguments[0]))
    for line in table(tallies):
        sys.stdout.write(line + "\n")
    sys.stdout.write(f"{'macro':34} {'':19} {np.nanmean([tally.f1 for tally in tallies.values()]):6.3f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
