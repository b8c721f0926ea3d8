"""The same invented judgements in the layout of each rated data set, as published and as others have reshaped it.

Four studies with two candidates each; of each pair the significant errors by kind A to F. Where a layout cannot say
that (another unit, pairs without an error), it says what it can.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.comparing import ErrorCategory

REFERENCES = (
    "Small left pleural effusion. No pneumothorax.",
    "Mild cardiomegaly. The lungs are clear.",
    "Mass of 3 cm in the right upper lobe.",
    "Mild pulmonary edema, improved.",
)
CANDIDATES = (  # of each reference
    ("Small left effusion. No pneumothorax.", "Large right effusion. Pneumothorax."),
    ("The heart is mildly enlarged. Clear lungs.", "Normal heart size."),
    ("Right upper lobe mass, 3 cm.", "Mass of 6 cm in the left upper lobe."),
    ("Improved mild edema.", "Severe edema."),
)
COUNTS = (  # A to F of each candidate
    ((0, 0, 0, 0, 0, 0), (1, 0, 1, 1, 0, 0)),
    ((0, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0)),
    ((0, 0, 0, 0, 0, 0), (0, 0, 1, 1, 0, 0)),
    ((0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 1)),
)
PAIRS = [
    (str(study), which, REFERENCES[study], CANDIDATES[study][which], COUNTS[study][which])
    for study in range(len(REFERENCES))
    for which in range(2)
]
TOTALS = [float(sum(counts)) for *_, counts in PAIRS]


class Layout(NamedTuple):
    """A layout.

    Attributes:
        name: Of the data set, as `--dataset` takes it; "" for a table of one's own.
        write: Writes the files into a folder, and returns what is named behind the name: a folder or a file.
        arguments: Further arguments of the command.
        kind: What the data hold: `counts` (our totals), `one` candidate a study, `other` numbers, `ranked`, or `equal`.
    """

    name: str
    write: Callable[[Path], Path]
    arguments: tuple[str, ...] = ()
    kind: str = "counts"


def table(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Writes rows as CSV, JSONL or Parquet."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif file.suffix == ".parquet":
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), file)
    else:
        with file.open("w", newline="", encoding="utf-8") as opened:
            writer = csv.DictWriter(opened, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return file


def rexval(folder: Path) -> Path:
    sources = ("radgraph", "bleu")
    reports = [
        {"study_id": 500 + n, "gt_report": REFERENCES[n], **dict(zip(sources, CANDIDATES[n], strict=True))}
        for n in range(len(REFERENCES))
    ]
    errors = [
        {
            "study_number": study,
            "candidate_type": sources[which],
            "error_category": kind,
            "clinically_significant": True,
            "rater_index": rater,
            "num_errors": count,
        }
        for study, which, _, _, counts in PAIRS
        for rater in range(2)
        for kind, count in enumerate(counts, 1)
    ]
    table(folder / "50_samples_gt_and_candidates.csv", reports)
    table(folder / "6_valid_raters_per_rater_error_categories.csv", errors)
    return folder


def sheet(folder: Path) -> Path:
    """Sheets of `rrgmetrics oracle --sheet`, filled in by two raters; the third is blank."""
    kinds = [kind.value for kind in ErrorCategory]
    items = [f"s{n:03}r1" for n in range(len(PAIRS))]
    blank = {f"{kind}_{which}": "" for which in ("significant", "insignificant") for kind in kinds}
    key, filled = [], []
    for item, (study, which, reference, candidate, counts) in zip(items, PAIRS, strict=True):
        texts = {"reference": reference, "candidate": candidate}
        key.append({"item": item, "study_id": study, "source": ("bleu", "rouge")[which], **texts, "bleu": 0.5})
        own = {
            f"{kind}_significant": count or ("" if sum(counts) else 0)
            for kind, count in zip(kinds, counts, strict=True)
        }
        filled.append({"item": item, **texts, **blank, **own})
    table(folder / "key.csv", key)
    for rater in ("anna", "ben"):
        table(folder / "raters" / f"{rater}.csv", filled[::-1])
    table(folder / "raters" / "sheet.csv", [{**row, **blank} for row in filled])
    return folder


def radevalx(folder: Path) -> Path:
    """PhysioNet 1.0.0; a study has one candidate."""
    significant, insignificant, scores = [], [], []
    for study, which, reference, candidate, counts in PAIRS:
        about: dict[str, int | str] = {
            "report_id": f"{study}{which}",
            "ground_truth": reference,
            "M2Tr-Generation": candidate,
        }
        eight: dict[str, int | str] = {str(number): count or "" for number, count in enumerate((*counts, 0, 0), 1)}
        significant.append(about | eight)
        insignificant.append(about | dict.fromkeys(map(str, range(1, 9)), ""))
        names = ("bleu4", "bleu_2", "bertscore", "CheXbert", "radgraph_f1", "radcliq")
        scores.append({"report_id": f"{study}{which}", "id": study} | dict.fromkeys(names, 1 / (1 + sum(counts))))
    table(folder / "RadEval_clinically_significant_errors.csv", significant)
    table(folder / "RadEval-clinically_insignificant_errors.csv", insignificant)
    table(folder / "metrcis_scores_m2tr.csv", scores)
    return folder


def radevalx_merged(folder: Path) -> Path:
    numbers = ("one", "two", "three", "four", "five", "six", "seven", "eight")
    ids = [f"{study}{which}" for study, which, *_ in PAIRS]
    table(
        folder / "reports.csv",
        [
            {"report_id": name, "ground_truth": reference, "prediction": candidate}
            for name, (_, _, reference, candidate, _) in zip(ids, PAIRS, strict=True)
        ],
    )
    table(
        folder / "radeval_total.csv",
        [
            {"report_id": name, "error_type": "significant", **dict(zip(numbers, (*counts, 0, 0), strict=True))}
            for name, (*_, counts) in zip(ids, PAIRS, strict=True)
        ],
    )
    return folder


EXPERT_LINES = (
    "False prediction of finding",
    "Omission of finding",
    "Incorrect location/position of finding",
    "Incorrect severity of finding",
    "Mention of comparison that is not present in the reference",
    "Omission of a change from a previous study",
    "Inarticulate report (grammar and readability issues)",
)


def annotation(counts: Sequence[int]) -> str:
    def part(title: str, own: Sequence[int]) -> str:
        lines = [f"{n}. {text}: {count}" for n, (text, count) in enumerate(zip(EXPERT_LINES, own, strict=True), 1)]
        return "\n".join([title, *lines])

    return f"{part('Significant', (*counts, 0))}\n\n{part('Insignificant', (0,) * 7)}"


def expert_of_hub(folder: Path) -> Path:
    """One row a study, with three candidates: the third repeats the first."""
    rows = []
    for n, reference in enumerate(REFERENCES):
        row = {"annotator": "one", "type": "findings", "ground_truth": reference, "images_path": "mimic-cxr/a.jpg"}
        for number, which in enumerate((0, 1, 0), 1):
            row |= {f"prediction{number}": CANDIDATES[n][which], f"annotation{number}": annotation(COUNTS[n][which])}
        rows.append(row)
    table(folder / "reader_study_final_with_annotationsv3.csv", rows)
    return folder


def expert_of_pairs(suffix: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        rows = [
            {
                "id": f"{study}{which}",
                "original_example_id": study,
                "prediction": candidate,
                "reference": reference,
                "prediction_source": f"model_{which + 1}",
                "type": "findings",
                "annotator": "one",
                "images_path": "CheXpert-plus/x.png",
                "annotation": annotation(counts),
            }
            for study, which, reference, candidate, counts in PAIRS
        ]
        return table(folder / f"expert{suffix}", rows)

    return write


def refisco(folder: Path) -> Path:
    """One row a line of a report, and a row that holds nothing."""
    rows: list[dict[str, Any]] = []
    for study, which, reference, candidate, counts in PAIRS:
        about = {"id": study, "indication": "Cough.", "annotator": "1", "source": f"model {which}", "notes": ""}
        edit, score = (reference, "Urgent error") if sum(counts) else ("[no edit]", "No error")
        rows.append(about | {"impression_original": candidate, "impression_edited": edit, "score": score})
    rows.append(dict.fromkeys(rows[0], ""))
    return table(folder / "refisco-v0.csv", rows).parent


def rate_eval(task: str, columns: Callable[[int], Mapping[str, Any]]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        rows = [
            {"id": study, "gt": reference, "pred": candidate, "modality": "CT", **columns(sum(counts))}
            for study, _, reference, candidate, counts in PAIRS
        ]
        table(folder / task / "rate_train.csv", rows[:1])
        (folder / task / "gt_report_1.json").write_text("[]", encoding="utf-8")
        return table(folder / task / "rate_test.csv", rows).parent

    return write


def radpref(folder: Path) -> Path:
    """A clone of CRIMSON's repository."""
    preferences: list[dict[str, Any]] = []
    marks: dict[str, dict[str, Any]] = {}
    for n, reference in enumerate(REFERENCES):
        row: dict[str, Any] = {"id": n, "ground_truth_report": reference, "ground_truth_findings": [reference]}
        row |= {"PatientAge": "061Y", "PatientSex": "F", "Indication": "Cough."}
        marks[str(n)] = {}
        for name, candidate, counts in zip(("C1", "C2"), CANDIDATES[n], COUNTS[n], strict=True):
            total = sum(counts)
            row |= {
                f"{name}_report": candidate,
                f"{name}_findings": [candidate] * max(total, 1),
                f"{name}_source": name,
            }
            error = {"error_type": "false", "clinical_significance": "urgent"}
            found = {str(number): error for number in range(total)}
            marks[str(n)][name] = {"finding_errors": found, "missing_findings": {}, "rating": 5 - total}
        preferences.append(row)
    annotations = folder / "RadPref" / "radiologist_annotations"
    annotations.mkdir(parents=True)
    (folder / "RadPref" / "preference_data.json").write_text(json.dumps(preferences), encoding="utf-8")
    for rater in (1, 2):
        content = json.dumps({"user_id": rater, "annotations": marks})
        (annotations / f"user_{rater}.json").write_text(content, encoding="utf-8")
    return folder


def radpref_lines(folder: Path) -> Path:
    """One case a line, with the counts of each rater."""
    rows = []
    for n, reference in enumerate(REFERENCES):
        candidates = {}
        for name, candidate, counts in zip(("C1", "C2"), CANDIDATES[n], COUNTS[n], strict=True):
            kinds = {"false": sum(counts), "missing": 0, "attribute": 0}
            rated: dict[str, Any] = kinds | {f"{kind}_significant": count for kind, count in kinds.items()}
            rated |= {f"{kind}_significance": [None] * kinds[kind] for kind in ("false", "missing")}
            candidates[name] = {"report": candidate, "raters": [rated | {"rating": 5 - sum(counts)}] * 2}
        about = {"case": n, "reference": reference, "age": "061Y", "sex": "F", "indication": "Cough."}
        rows.append(about | {"candidates": candidates})
    return table(folder / "radpref.jsonl", rows)


def _judged() -> list[dict[str, Any]]:
    return [
        {
            "id": f"{n}a",
            "category": "Severity",
            "reference": reference,
            "candidates": {name: {"text": text} for name, text in zip(("C1", "C2"), CANDIDATES[n], strict=True)},
            "expected": ["C1 > C2"],
        }
        for n, reference in enumerate(REFERENCES)
    ]


def radjudge(folder: Path) -> Path:
    """A clone of CRIMSON's repository."""
    (folder / "RadJudge").mkdir(parents=True)
    (folder / "RadJudge" / "test_cases.py").write_text(f"CASES = {_judged()!r}\n", encoding="utf-8")
    return folder


def rexerr(folder: Path) -> Path:
    rows = [
        {
            "original_report": reference,
            "error_report": CANDIDATES[n][1],
            "errors_sampled": "['Change severity', 'Change location', 'Add typo']",
            "acceptable": "No" if n == 3 else "Yes",
            "comments": "",
        }
        for n, reference in enumerate(REFERENCES)
    ]
    return table(folder / "clinician-review.csv", rows).parent


CHEST2ERROR_KINDS = (
    *("1_false_finding", "2_omission", "3_location", "4_severity"),
    *("5_spurious_comparison", "6_omitted_comparison"),
)


def chest2error(suffix: str) -> Callable[[Path], Path]:
    """Both tables in one folder."""

    def write(folder: Path) -> Path:
        gold = [
            {
                "anchor_id": f"anchor {study}",
                "reference_style": "GT-S",
                "variant_id": which,
                "reference_report": reference,
                "candidate_report": candidate,
                "rad_error_count": sum(counts),
                "rad_error_count_capped": min(sum(counts), 3),
                "rad_critical_count": sum(counts),
                "rad_minor_count": 0,
                "rad_weighted_error": 2.0 * sum(counts),
                "rad_has_critical_error": bool(sum(counts)),
                **{f"rad_cat_count_{name}": count for name, count in zip(CHEST2ERROR_KINDS, counts, strict=True)},
                "rad_errors": "[]",
            }
            for study, which, reference, candidate, counts in PAIRS
        ]
        table(folder / f"gold_pairs{suffix}", gold)
        equal = [
            {"anchor_id": f"anchor {study}", "reference_report": reference, "candidate_report": candidate}
            for study, which, reference, candidate, _ in PAIRS
            if which == 0
        ]
        table(folder / f"gt_equiv_pairs{suffix}", equal)
        return folder

    return write


def injected(suffix: str) -> Callable[[Path], Path]:
    """A table a split, as far as CSV and Parquet can hold the list of categories."""

    def write(folder: Path) -> Path:
        rows = []
        for study, which, reference, candidate, counts in PAIRS:
            names = ["laterality"] * sum(counts)
            split = ("single" if sum(counts) == 1 else "multi") if which else "stylistic"
            rows.append(
                {
                    "source_id": study,
                    "modality": "CT" if study < "2" else "MR",
                    "split": split,
                    "reference": reference,
                    "candidate": candidate,
                    "n_errors": sum(counts),
                    "categories": json.dumps(names) if suffix == ".csv" else names,
                }
            )
        for split in ("single", "multi", "stylistic"):
            table(folder / "data" / f"{split}-00000{suffix}", [row for row in rows if row["split"] == split])
        return folder

    return write


def own(file: str) -> Callable[[Path], Path]:
    """A table of a lab's own columns, one row a (pair, rater)."""

    def write(folder: Path) -> Path:
        rows = [
            {"case": study, "truth": reference, "draft": candidate, "reader": rater, "errs": sum(counts)}
            for study, _, reference, candidate, counts in PAIRS
            for rater in ("x", "y")
        ]
        return table(folder / file, rows)

    return write


OWN = ("--columns", "reference=truth,candidate=draft,study=case,rater=reader", "--counts", "total_errors=errs")
LAYOUTS: Mapping[str, Layout] = {
    "ReXVal": Layout("rexval", rexval),
    "ReXVal*": Layout("rexval_star", rexval),
    "RadEvalX of PhysioNet": Layout("radevalx", radevalx, kind="one"),
    "RadEvalX merged": Layout("radevalx", radevalx_merged, kind="one"),
    "RadEval expert of the Hub": Layout("radeval_expert", expert_of_hub, kind="other"),
    "RadEval expert as JSONL": Layout("radeval_expert", expert_of_pairs(".jsonl")),
    "RadEval expert as Parquet": Layout("radeval_expert", expert_of_pairs(".parquet")),
    "RadEval expert as CSV": Layout("radeval_expert", expert_of_pairs(".csv")),
    "ReFiSco": Layout("refisco", refisco, kind="other"),
    "RaTE-Eval, task 1": Layout(
        "rate_eval", rate_eval("Task1_sentence_rate", lambda n: {"errors": n, "potential_errors": 4})
    ),
    "RaTE-Eval, task 2": Layout(
        "rate_eval", rate_eval("Task2_paragraph_rate", lambda n: {"score": 5 - n}), kind="other"
    ),
    "RadPref": Layout("radpref", radpref),
    "RadPref as JSONL": Layout("radpref", radpref_lines),
    "RadJudge": Layout("radjudge", radjudge, kind="ranked"),
    "RadJudge as JSONL": Layout("radjudge", lambda folder: table(folder / "cases.jsonl", _judged()), kind="ranked"),
    "ReXErr": Layout("rexerr", rexerr, kind="other"),
    "chest2error, CSV": Layout("chest2error", chest2error(".csv")),
    "chest2error, Parquet": Layout("chest2error", chest2error(".parquet")),
    "chest2error, pairs that say the same": Layout("chest2error_equal", chest2error(".parquet"), kind="equal"),
    "radreport-error-injected, Parquet": Layout("radreport_error_injected", injected(".parquet")),
    "radreport-error-injected, CSV": Layout("radreport_error_injected", injected(".csv")),
    "radreport-error-injected, restyled": Layout("radreport_error_injected_equal", injected(".jsonl"), kind="equal"),
    "a blind sheet": Layout("sheet", sheet),
    "MetricEval-BodyCT": Layout("metriceval_bodyct", own("train-00000.parquet"), OWN),
    "a lab's CSV": Layout("", own("lab.csv"), OWN),
    "a lab's JSONL": Layout("", own("lab.jsonl"), OWN),
    "a lab's Parquet": Layout("", own("lab.parquet"), OWN),
}
