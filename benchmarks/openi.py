"""How well our labellers find what hand coders found: Open-i (Indiana University chest X-rays) against its MeSH codes.

    python benchmarks/openi.py indiana_reports.csv                       # the reader's findings, sides and severities
    python benchmarks/openi.py indiana_reports.csv --labels conditions   # CheXpert's, of the bundled labeller
    python benchmarks/openi.py indiana_reports.csv --labels leaves       # SRR-BERT's, of the bundled labeller

Every report of Open-i was coded by hand with MeSH terms, often with place and severity
("Opacity/lung/base/left/mild"). `openi.yaml` says which codes mean which label; precision, recall and F1 are counted by
report. The reader was written with these reports at hand: on others expect less.

Choices, so that the numbers can be judged:

- Codes that name one thing are one row: "Cardiomegaly" and "Cardiac Shadow/enlarged"; "Emphysema" and "Pulmonary
  Emphysema"; degenerative change of the spine, spondylosis, osteophytes and arthritis; "Aorta/tortuous" and "Aorta,
  Thoracic/tortuous"; granulomas whether or not they are called calcified.
- Hedged mentions: what is stated, probable ("likely", "consistent with") or one of two alternatives ("atelectasis
  versus scarring") counts as read; what is only possible ("suggests", "may represent", "cannot be excluded") does
  not. The coders mostly did the same. A condition counts where it is positive, a leaf where it is Present.
- Lung Opacity is what CheXpert's labeller takes for one: also airspace disease, infiltrates, scars, fibrosis and
  interstitial markings. Consolidation, pneumonia, edema, atelectasis and nodules are conditions of their own. Lung
  Lesion also holds round opacities ("nodular" in the reports), and no granulomas; Fracture also deformities of
  vertebrae. Devices are catheters, tubes, implants, stents and hardware of the spine; clips, sutures and wires are not.
- A leaf's nodule may be coded as a round opacity or a granuloma; emphysema holds hyperinflation and COPD, fibrosis
  holds scars, edema holds heart failure, as `lexicon/*/srr.yaml` has them.
- Left out: "No Indexing", technique ("Technical Quality of Image Unsatisfactory"), "Density", "Markings", findings
  that are coded in fewer than 15 reports, and reports without text.

Where reader and coders disagree, and the reader is left as it is (counts are small; the coders are not consistent):

- Old or incidental fractures, clips and hardware are left uncoded in some reports called "normal"; a rib fracture may
  be coded as "Deformity", "Lucency" or "Fractures, Bone".
- A round or nodular opacity is coded as "Nodule", as "Opacity/round" or as "Density/round"; a calcified nodule as
  "Nodule", as "Calcinosis" or as "Calcified Granuloma".
- "Suggests" and "suspected" are coded in some reports and not in others; so is the second of two alternatives.
- A heart at the upper limits of normal is coded as borderline cardiomegaly in some reports; a prominent ventricle is
  not.
- Removed words (XXXX) hide catheters, pacemakers, sutures and "likely"; the coders saw the word, the reader does not.
- A finding of another body part in the same report (hip, knee, lumbar spine) is read, but not coded.

Source of the data: Open-i, National Library of Medicine (CC BY-NC-ND 4.0), for research; it is not part of this
repository.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from rrgmetrics.labels.conditions import Status, condition_statuses, load_conditions
from rrgmetrics.labels.srr import srr_labels
from rrgmetrics.reading import Finding, Reading, read
from rrgmetrics.reading.lexicon import load

TABLES: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
MINIMUM_REPORTS = 15
NOT_AVERAGED = frozenset(TABLES["not_averaged"])
Mesh = tuple[str, ...]  # a heading, and its qualifiers


class OpeniReport(NamedTuple):
    """One report with its MeSH codes."""

    uid: str
    codes: tuple[Mesh, ...]
    text: str


@dataclass(frozen=True)
class Code:
    """MeSH codes that name one thing.

    Attributes:
        name: Of the label that they mean.
        mesh: Alternatives: a heading, and the qualifiers one of which must stand after it, or that may not ("!").
        concepts: Concepts of the lexicon that mean it, for findings.
        with_children: Whether the children of those concepts mean it too.
    """

    name: str
    mesh: tuple[tuple[str, frozenset[str]], ...]
    concepts: frozenset[str] = frozenset()
    with_children: bool = True


@dataclass
class Tally:
    """True positives, false positives and false negatives, counted by report, with the ids of the reports that err."""

    true_positive: int = 0
    false_positives: list[str] = field(default_factory=list)
    false_negatives: list[str] = field(default_factory=list)

    def count(self, is_coded: bool, is_read: bool, uid: str) -> None:
        """Adds one report: whether it carries the code, and whether the label was read in it."""
        if is_coded and is_read:
            self.true_positive += 1
        elif is_read:
            self.false_positives.append(uid)
        elif is_coded:
            self.false_negatives.append(uid)

    @property
    def n(self) -> int:
        """The number of reports that carry the code."""
        return self.true_positive + len(self.false_negatives)

    @property
    def precision(self) -> float:
        """The share of the labels read that the coders share; NaN if there is none."""
        return _ratio(self.true_positive, self.true_positive + len(self.false_positives))

    @property
    def recall(self) -> float:
        """The share of the codes that are read; NaN if there is none."""
        return _ratio(self.true_positive, self.n)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; NaN if both are undefined."""
        return _ratio(2 * self.true_positive, self.n + self.true_positive + len(self.false_positives))


def _ratio(a: int, b: int) -> float:
    return a / b if b else float("nan")


def load_openi(path: str | Path) -> list[OpeniReport]:
    """Reads the public CSV of Open-i (columns `uid`, `MeSH`, `findings`, `impression`; UTF-8).

    Returns:
        One report for each row that holds a text; findings and impression are joined under their headings.
    """
    reports = []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sections = [(name, (row.get(name) or "").strip()) for name in ("findings", "impression")]
            text = "\n\n".join(f"{name.upper()}: {section}" for name, section in sections if section)
            if text:
                reports.append(OpeniReport(row["uid"], parse_mesh(row["MeSH"]), text))
    return reports


def parse_mesh(text: str) -> tuple[Mesh, ...]:
    """Splits a MeSH field into codes.

    >>> parse_mesh("Opacity/lung/base/left/mild;Cardiomegaly")
    (('Opacity', 'lung', 'base', 'left', 'mild'), ('Cardiomegaly',))
    """
    codes = (tuple(part.strip() for part in code.split("/")) for code in text.split(";"))
    return tuple(code for code in codes if code[0])


def load_codes(table: str) -> list[Code]:
    """Reads the codes of `findings`, `conditions` or `leaves`."""
    codes = []
    for name, entry in TABLES[table].items():
        row = entry if isinstance(entry, dict) else {"mesh": entry}
        alternatives = (part.strip().partition("/") for part in row["mesh"].split(";"))
        mesh = tuple((heading, frozenset(filter(None, after.split("|")))) for heading, _, after in alternatives)
        codes.append(Code(name, mesh, frozenset(row.get("concepts", ())), row.get("children", True)))
    return codes


def coded(code: Code, report: OpeniReport) -> list[Mesh]:
    """Returns the MeSH codes of a report that `code` stands for."""
    return [mesh for mesh in report.codes if any(_stands_for(mesh, *alternative) for alternative in code.mesh)]


def _stands_for(mesh: Mesh, heading: str, qualifiers: frozenset[str]) -> bool:
    if mesh[0] != heading:
        return False
    if any(qualifier.startswith("!") for qualifier in qualifiers):
        return not {qualifier.removeprefix("!") for qualifier in qualifiers}.intersection(mesh[1:])
    return not qualifiers or bool(qualifiers.intersection(mesh[1:]))


def mentioned(code: Code, reading: Reading) -> list[Finding]:
    """Returns the findings of a reading that mean `code`; what is only possible does not count."""
    concepts = load().concepts

    def means(concept: str) -> bool:
        children = code.with_children and not code.concepts.isdisjoint(concepts[concept].ancestors)
        return concept in code.concepts or children

    return [finding for finding in reading.findings if finding.assertion == "present" and means(finding.concept)]


def tally_findings(reports: Iterable[OpeniReport]) -> dict[str, Tally]:
    """Counts, for every finding and for "laterality" and "severity", where reader and coders agree.

    Laterality and severity are counted over the reports and codes that both have and to which the coders gave one
    side (or both) or one severity: right if the reader gives the same.

    Returns:
        A tally for each code of at least 15 reports, then "laterality", "severity" and "micro" (all codes).
    """
    codes = load_codes("findings")
    tallies = {code.name: Tally() for code in codes}
    attributes = {"laterality": Tally(), "severity": Tally()}
    for report in reports:
        reading = read(report.text)
        for code in codes:
            mesh, findings = coded(code, report), mentioned(code, reading)
            tallies[code.name].count(bool(mesh), bool(findings), report.uid)
            if mesh and findings:
                where = f"{code.name} {report.uid}"
                _count_attribute(attributes["laterality"], _coded_sides(mesh), _read_sides(findings), where)
                _count_attribute(attributes["severity"], _coded_severities(mesh), _read_severities(findings), where)
    frequent = {name: tally for name, tally in tallies.items() if tally.n >= MINIMUM_REPORTS}
    micro = Tally()
    for tally in frequent.values():
        micro.true_positive += tally.true_positive
        micro.false_positives += tally.false_positives
        micro.false_negatives += tally.false_negatives
    return frequent | attributes | {"micro": micro}


def _count_attribute(tally: Tally, coded_values: set[str], read_values: set[str], where: str) -> None:
    """Counts one attribute value: a wrong one is both a false positive and a false negative."""
    if len(coded_values) != 1:
        return
    is_right = bool(coded_values & read_values)
    tally.count(True, is_right, where)
    if read_values and not is_right:
        tally.count(False, True, where)


def _coded_sides(codes: Iterable[Mesh]) -> set[str]:
    return _one_side(
        {qualifier for mesh in codes for qualifier in mesh[1:] if qualifier in ("left", "right", "bilateral")}
    )


def _read_sides(findings: Iterable[Finding]) -> set[str]:
    return _one_side({finding.side for finding in findings if finding.side})


def _one_side(sides: set[str]) -> set[str]:
    """The side that was given; left and right together are both sides."""
    return {"bilateral"} if len(sides) > 1 else sides


def _coded_severities(codes: Iterable[Mesh]) -> set[str]:
    words: dict[str, str] = TABLES["severity"]
    return {words[qualifier] for mesh in codes for qualifier in mesh[1:] if qualifier in words}


def _read_severities(findings: Iterable[Finding]) -> set[str]:
    """The reader's severities in the coders' words."""
    return {word for finding in findings if finding.severity is not None for word in TABLES["steps"][finding.severity]}


def read_conditions(report: str) -> set[str]:
    """The conditions that the bundled labeller calls positive."""
    statuses = zip(load_conditions().names, condition_statuses(read(report)), strict=True)
    return {name for name, status in statuses if status == Status.POSITIVE}


def read_leaves(report: str) -> set[str]:
    """The leaves of SRR-BERT that the bundled labeller calls Present."""
    labels = srr_labels(read(report), "leaves", True)
    return {leaf for leaf in TABLES["leaves"] if f"{leaf} (Present)" in labels}


def tally_labels(
    reports: Iterable[OpeniReport], table: str, labels_of: Callable[[str], AbstractSet[str]]
) -> dict[str, Tally]:
    """Counts for every label of `conditions` or `leaves` where labeller and coders agree."""
    codes = load_codes(table)
    tallies = {code.name: Tally() for code in codes}
    for report in reports:
        labels = labels_of(report.text)
        for code in codes:
            tallies[code.name].count(bool(coded(code, report)), code.name in labels, report.uid)
    return tallies


def macro_f1(tallies: dict[str, Tally], *, minimum: int = 0) -> float:
    """The mean F1 of the labels that `minimum` reports carry or more, without those of `NOT_AVERAGED`; NaN if none."""
    kept = [tally.f1 for name, tally in tallies.items() if name not in NOT_AVERAGED and tally.n >= minimum]
    return float(np.nanmean(kept)) if kept else float("nan")


def lines(tallies: dict[str, Tally]) -> Iterator[str]:
    """Yields the lines of a table: label, reports, precision, recall, F1, errors."""
    yield f"{'code':34} {'n':>5} {'P':>6} {'R':>6} {'F1':>6} {'FP':>4} {'FN':>4}"
    for name, tally in tallies.items():
        scores = f"{tally.precision:6.3f} {tally.recall:6.3f} {tally.f1:6.3f}"
        yield f"{name:34} {tally.n:5d} {scores} {len(tally.false_positives):4d} {len(tally.false_negatives):4d}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table for a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="Open-i's CSV: uid, MeSH, findings, impression")
    parser.add_argument("--labels", choices=["findings", "conditions", "leaves"], default="findings")
    options = parser.parse_args(arguments)
    reports = load_openi(options.file)
    if options.labels == "findings":
        tallies = tally_findings(reports)
        print(*lines(tallies), sep="\n")
        return
    if options.labels == "conditions":
        tallies, minimum = tally_labels(reports, "conditions", read_conditions), MINIMUM_REPORTS
    else:
        tallies, minimum = tally_labels(reports, "leaves", read_leaves), 0
    print(*lines(tallies), f"{'macro':34} {'':19} {macro_f1(tallies, minimum=minimum):6.3f}", sep="\n")


if __name__ == "__main__":
    main()
