"""How well the reader finds what hand coders found: Open-i (Indiana University chest X-rays) against its MeSH codes.

Every report of Open-i was coded by hand with MeSH terms, often with place and severity
("Opacity/lung/base/left/mild"). Here each code is mapped to concepts of the reader's lexicon, and precision, recall
and F1 are counted by report: a code counts as read if the reader finds one of its concepts.

Choices, so that the numbers can be judged:

- Codes that name one thing are one row: "Cardiomegaly" and "Cardiac Shadow/enlarged"; "Emphysema" and "Pulmonary
  Emphysema"; degenerative change of the spine, spondylosis, osteophytes and arthritis; "Aorta/tortuous" and "Aorta,
  Thoracic/tortuous"; granulomas whether or not they are called calcified (see ``CODES`` for all).
- Hedged mentions: what is stated, probable ("likely", "consistent with") or one of two alternatives ("atelectasis
  versus scarring") counts as read; what is only possible ("suggests", "may represent", "cannot be excluded") does
  not. The coders mostly did the same.
- Left out: "No Indexing", technique ("Technical Quality of Image Unsatisfactory"), "Density", "Markings" and codes
  that occur in fewer than 15 reports.
- Reports without text are left out.

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

Source of the data: Open-i, National Library of Medicine (CC BY-NC-ND 4.0); it is not part of this package. Terms:
research use.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rrgmetrics.reader import Reading, read
from rrgmetrics.reader.lexicon import load
from rrgmetrics.reader.model import Finding

MINIMUM_REPORTS = 15


@dataclass(frozen=True, slots=True)
class Code:
    """MeSH codes that name one thing, and the concepts (children included) that mean it.

    ``mesh`` holds alternatives; each is a heading and the qualifiers one of which must stand after it (none: any).
    """

    name: str
    mesh: tuple[tuple[str, frozenset[str]], ...]
    concepts: frozenset[str]
    with_children: bool = True


@dataclass(frozen=True, slots=True)
class OpeniReport:
    """One report with its MeSH codes, each split at the slashes: heading first, then qualifiers."""

    uid: str
    codes: tuple[tuple[str, ...], ...]
    text: str


@dataclass(slots=True)
class Tally:
    """True positives, false positives and false negatives, counted by report."""

    true_positive: int = 0
    false_positive: int = 0
    false_negative: int = 0
    examples: dict[str, list[str]] = field(default_factory=lambda: {"false_positive": [], "false_negative": []})

    @property
    def n(self) -> int:
        """Number of reports that carry the code."""
        return self.true_positive + self.false_negative

    @property
    def precision(self) -> float:
        """Share of the reader's mentions that the coders share; NaN if there is none."""
        return _ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float:
        """Share of the codes that the reader finds; NaN if there is none."""
        return _ratio(self.true_positive, self.n)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN if both are undefined."""
        return _ratio(2 * self.true_positive, 2 * self.true_positive + self.false_positive + self.false_negative)


def _ratio(a: int, b: int) -> float:
    return a / b if b else float("nan")


def make_code(name: str, mesh: str, concepts: str = "", with_children: bool = True) -> Code:
    """Return a code made from "Heading/qualifier|qualifier; Heading/!unwanted" and space-separated concepts."""
    alternatives = []
    for part in mesh.split(";"):
        heading, _, qualifiers = part.strip().partition("/")
        alternatives.append((heading, frozenset(q for q in qualifiers.split("|") if q)))
    return Code(name, tuple(alternatives), frozenset(concepts.split()), with_children)


CODES: tuple[Code, ...] = (
    make_code(
        "cardiomegaly",
        "Cardiomegaly; Cardiac Shadow/enlarged|borderline|prominent",
        "cardiomegaly cardiomediastinal_enlargement",
    ),
    make_code(
        "pleural effusion",
        "Pleural Effusion; Hydropneumothorax; Hemopneumothorax",
        "pleural_effusion hydropneumothorax hemothorax",
    ),
    make_code("atelectasis", "Pulmonary Atelectasis", "atelectasis"),
    make_code(
        "opacity",
        "Opacity",
        "opacity airspace_opacity linear_opacity interstitial_opacity reticular_opacity reticulonodular_opacity "
        "ground_glass nodular_opacity",
        False,
    ),
    make_code("airspace disease", "Airspace Disease", "airspace_disease", False),
    make_code("infiltrate", "Infiltrate", "infiltrate peribronchial_opacity", False),
    make_code("consolidation", "Consolidation", "consolidation", False),
    make_code("pneumonia", "Pneumonia; Tuberculosis", "pneumonia"),
    make_code("pulmonary edema", "Pulmonary Edema", "pulmonary_edema"),
    make_code(
        "pulmonary congestion",
        "Pulmonary Congestion; Heart Failure",
        "vascular_congestion heart_failure fluid_overload",
    ),
    make_code("pneumothorax", "Pneumothorax; Hydropneumothorax; Hemopneumothorax", "pneumothorax"),
    make_code("nodule", "Nodule", "nodule calcified_nodule", False),
    make_code("granuloma", "Calcified Granuloma; Granuloma", "granuloma"),
    make_code("granulomatous disease", "Granulomatous Disease", "granulomatous_disease"),
    make_code(
        "calcified nodes",
        "Calcinosis/lymph nodes|hilum|mediastinum|paratracheal",
        "calcified_lymph_node hilar_calcification mediastinal_calcification",
    ),
    make_code(
        "vascular calcification",
        "Atherosclerosis; Calcinosis/aorta|aorta, thoracic|blood vessels|coronary vessels",
        "aortic_atherosclerosis atherosclerosis",
    ),
    make_code("tortuous aorta", "Aorta/tortuous; Aorta, Thoracic/tortuous", "aortic_tortuosity aortic_ectasia"),
    make_code("scar", "Cicatrix", "scarring pleural_scarring"),
    make_code(
        "fibrosis and interstitial disease",
        "Pulmonary Fibrosis; Lung Diseases, Interstitial; Fibrosis",
        "interstitial_lung_disease",
    ),
    make_code("low lung volume", "Lung/hypoinflation", "low_lung_volume"),
    make_code("hyperinflation", "Lung/hyperdistention", "hyperinflation"),
    make_code("emphysema", "Emphysema; Pulmonary Emphysema; Bullous Emphysema", "emphysema"),
    make_code("COPD", "Pulmonary Disease, Chronic Obstructive", "copd", False),
    make_code("lucency", "Lucency; Lung, Hyperlucent", "lucency cyst bulla"),
    make_code("blunted costophrenic angle", "Costophrenic Angle/blunted|obscured; Sulcus/blunted", "blunted_angle"),
    make_code("pleural thickening", "Thickening/pleura", "pleural_thickening", False),
    make_code("elevated diaphragm", "Diaphragm/elevated", "diaphragm_elevation"),
    make_code("flattened diaphragm", "Diaphragm/flattened", "diaphragm_flattening"),
    make_code("eventration", "Diaphragmatic Eventration", "diaphragm_eventration"),
    make_code("hiatal hernia", "Hernia, Hiatal; Hernia, Diaphragmatic", "hiatal_hernia diaphragmatic_hernia"),
    make_code(
        "prominent mediastinum",
        "Mediastinum/prominent|enlarged",
        "mediastinal_widening mediastinal_mass lymphadenopathy",
    ),
    make_code(
        "degenerative change",
        "Spine/degenerative; Thoracic Vertebrae/degenerative; Lumbar Vertebrae/degenerative; "
        "Cervical Vertebrae/degenerative; Spondylosis; Osteophyte; Arthritis; Shoulder/degenerative; "
        "Hyperostosis, Diffuse Idiopathic Skeletal",
        "skeletal_degeneration",
    ),
    make_code("scoliosis", "Scoliosis", "scoliosis"),
    make_code("kyphosis", "Kyphosis", "kyphosis"),
    make_code("fracture", "Fractures, Bone", "fracture"),
    make_code(
        "deformity",
        "Deformity/!lung|mediastinum|hilum",
        "vertebral_deformity rib_deformity bone_deformity clavicle_deformity chest_wall_deformity",
    ),
    make_code("bone demineralization", "Bone Diseases, Metabolic; Osteoporosis", "bone_demineralization"),
    make_code("spinal fusion", "Spinal Fusion", "spinal_hardware"),
    make_code(
        "catheter",
        "Catheters, Indwelling",
        "central_venous_catheter picc port swan_ganz umbilical_catheter shunt_tube drain chest_tube",
    ),
    make_code("tube", "Tube, Inserted", "endotracheal_tube tracheostomy enteric_tube chest_tube gastrostomy_tube"),
    make_code("surgical clips", "Surgical Instruments; Sutures", "surgical_clip"),
    make_code(
        "implanted device",
        "Implanted Medical Device; Medical Device",
        "pacemaker defibrillator cardiac_device nerve_stimulator loop_recorder heart_valve_prosthesis monitor_lead "
        "orthopedic_hardware shoulder_arthroplasty occluder support_device",
        False,
    ),
    make_code("foreign body", "Foreign Bodies", "foreign_body"),
)


def load_openi(path: str | Path) -> list[OpeniReport]:
    """Read the public CSV of Open-i (columns ``uid``, ``MeSH``, ``findings``, ``impression``; UTF-8).

    Args:
        path: the file, such as ``indiana_reports.csv``.

    Returns:
        list[OpeniReport]: one for each row that holds a text; findings and impression are joined under their headings.
    """
    reports = []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            parts = [
                f"{name.upper()}: {row[name].strip()}"
                for name in ("findings", "impression")
                if (row.get(name) or "").strip()
            ]
            if parts:
                reports.append(OpeniReport(row["uid"], parse_mesh(row["MeSH"]), "\n\n".join(parts)))
    return reports


def parse_mesh(text: str) -> tuple[tuple[str, ...], ...]:
    """Split a MeSH field into codes.

    >>> parse_mesh("Opacity/lung/base/left/mild;Cardiomegaly")
    (('Opacity', 'lung', 'base', 'left', 'mild'), ('Cardiomegaly',))
    """
    codes = (tuple(part.strip() for part in code.split("/")) for code in text.split(";"))
    return tuple(code for code in codes if code[0])


def coded(code: Code, report: OpeniReport) -> list[tuple[str, ...]]:
    """Return the MeSH codes of a report that ``code`` stands for."""
    return [mesh for mesh in report.codes if any(_stands_for(mesh, heading, wanted) for heading, wanted in code.mesh)]


def _stands_for(mesh: tuple[str, ...], heading: str, wanted: frozenset[str]) -> bool:
    if mesh[0] != heading:
        return False
    unwanted = {q.removeprefix("!") for q in wanted} if any(q.startswith("!") for q in wanted) else set()
    if unwanted:
        return not unwanted.intersection(mesh[1:])
    return not wanted or bool(wanted.intersection(mesh[1:]))


def mentioned(code: Code, reading: Reading) -> list[Finding]:
    """Return the findings of a reading that mean ``code``; what is only possible does not count."""
    concepts = load().concepts
    return [
        f
        for f in reading.findings
        if f.assertion == "present"
        and (
            f.concept in code.concepts
            or (code.with_children and code.concepts.intersection(concepts[f.concept].ancestors))
        )
    ]


def evaluate(reports: Iterable[OpeniReport], *, reader: Callable[[str], Reading] = read) -> dict[str, Tally]:
    """Count, for every code and for "laterality" and "severity", where reader and coders agree.

    Laterality and severity are counted over the reports and codes that both have and to which the coders gave one
    side (or both) or one severity: right if the reader gives the same.

    Args:
        reports: from ``load_openi``.
        reader: the reader to evaluate.

    Returns:
        dict[str, Tally]: one per code with at least 15 reports, then "laterality", "severity" and "micro" (all codes).
    """
    tallies = {code.name: Tally() for code in CODES}
    side, severity = Tally(), Tally()
    for report in reports:
        reading = reader(report.text)
        for code in CODES:
            truth, found = coded(code, report), mentioned(code, reading)
            count_report(tallies[code.name], bool(truth), bool(found), report.uid)
            if truth and found:
                _count_attribute(side, _sides(truth), _found_sides(found), f"{code.name} {report.uid}")
                _count_attribute(severity, _severities(truth), _found_severities(found), f"{code.name} {report.uid}")
    kept = {name: tally for name, tally in tallies.items() if tally.n >= MINIMUM_REPORTS}
    micro = Tally(
        sum(t.true_positive for t in kept.values()),
        sum(t.false_positive for t in kept.values()),
        sum(t.false_negative for t in kept.values()),
    )
    return kept | {"laterality": side, "severity": severity, "micro": micro}


def count_report(tally: Tally, truth: bool, found: bool, uid: str) -> None:
    """Add one report to a tally: whether it carries the code, and whether it was read."""
    if truth and found:
        tally.true_positive += 1
    elif found:
        tally.false_positive += 1
        tally.examples["false_positive"].append(uid)
    elif truth:
        tally.false_negative += 1
        tally.examples["false_negative"].append(uid)


def _count_attribute(tally: Tally, truth: set[str], found: set[str], uid: str) -> None:
    """Count one attribute value: a wrong one is both a false positive and a false negative."""
    if len(truth) != 1:
        return
    if truth & found:
        tally.true_positive += 1
        return
    tally.false_negative += 1
    tally.examples["false_negative"].append(uid)
    if found:
        tally.false_positive += 1


def _sides(codes: list[tuple[str, ...]]) -> set[str]:
    """Return the one side the coders gave; left and right together are both sides."""
    sides = {q for mesh in codes for q in mesh[1:] if q in ("left", "right", "bilateral")}
    return {"bilateral"} if len(sides) > 1 else sides


def _found_sides(found: list[Finding]) -> set[str]:
    sides = {f.side for f in found if f.side}
    return {"bilateral"} if len(sides) > 1 else sides


_MESH_SEVERITY = {
    "borderline": "borderline",
    "mild": "mild",
    "small": "mild",
    "moderate": "moderate",
    "severe": "severe",
    "large": "severe",
}


def _severities(codes: list[tuple[str, ...]]) -> set[str]:
    """Return the severity the coders gave."""
    return {_MESH_SEVERITY[q] for mesh in codes for q in mesh[1:] if q in _MESH_SEVERITY}


# The coders' words for each step of the reader's scale; between two steps, both.
_STEP_WORDS = (
    {"borderline"}, {"mild"}, {"mild"}, {"mild", "moderate"},
    {"moderate"}, {"moderate", "severe"}, {"severe"}, {"severe"},
)  # fmt: skip


def _found_severities(found: list[Finding]) -> set[str]:
    """Return the reader's severities in the coders' words."""
    words: set[str] = set()
    return words.union(*(_STEP_WORDS[f.severity] for f in found if f.severity is not None))


def table(tallies: dict[str, Tally]) -> Iterator[str]:
    """Yield the lines of a table: code, reports, precision, recall, F1, errors."""
    yield f"{'code':34} {'n':>5} {'P':>6} {'R':>6} {'F1':>6} {'FP':>4} {'FN':>4}"
    for name, t in tallies.items():
        scores = f"{t.precision:6.3f} {t.recall:6.3f} {t.f1:6.3f}"
        yield f"{name:34} {t.n:5d} {scores} {t.false_positive:4d} {t.false_negative:4d}"


def main(arguments: list[str]) -> int:
    """Print the table for a file: ``python -m rrgmetrics.metaeval.openi indiana_reports.csv``."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m rrgmetrics.metaeval.openi FILE.csv\n")
        return 2
    for line in table(evaluate(load_openi(arguments[0]))):
        sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
