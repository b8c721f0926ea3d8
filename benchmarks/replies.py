"""How many replies of judges each parser reads, by protocol and by kind of reply.

    python benchmarks/replies.py [--kinds] [--show] [PROTOCOL ...]

The replies in tests/data/replies are invented, in the shapes that judges write. Each has the verdict that a person
reads in it, or "refused" where a person could not say. `read` are those read as that verdict, `refused` those that are
rightly refused, `lost` those that a person could read and the parser refuses, `wrong` those that are read as something
else.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rrgmetrics.errors import VerdictError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers import chexprompt, crimson, fineradscore, mammo_green, nodule_f1, radfact
from rrgmetrics.scorers.green import parsers
from rrgmetrics.scorers.nodule_f1 import nodules

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "replies"
PAIR = Pair("A reference.", "A candidate.")
OUTCOMES = ("read", "refused", "lost", "wrong")
Row = Mapping[str, Any]


def _green(row: Row) -> Any:
    parsed = parsers.tolerant(row["reply"])
    insignificant = None if parsed.insignificant is None else list(parsed.insignificant.counts)
    return {
        "significant": list(parsed.significant.counts),
        "insignificant": insignificant,
        "matched": parsed.n_matched,
    }


def _chexprompt(row: Row) -> Any:
    significant, insignificant = chexprompt.tolerant(row["reply"])
    return {"significant": list(significant), "insignificant": list(insignificant)}


def _mammo_green(row: Row) -> Any:
    verdict = mammo_green.tolerant(row["reply"])
    significant = [verdict.significant[kind].number for kind in mammo_green.KINDS]
    return {
        "matched": verdict.matched.number,
        "significant": significant,
        "insignificant": verdict.insignificant.number,
    }


def _crimson(row: Row) -> Any:
    evaluation = crimson.CrimsonProtocol().verdict(PAIR, [row["reply"]]).evaluation
    errors = evaluation["errors"]
    return {
        "reference": {one["id"]: one["clinical_significance"] for one in evaluation["reference_findings"]},
        "predicted": {one["id"]: one["clinical_significance"] for one in evaluation["predicted_findings"]},
        "matched": [[one["ref_id"], one["pred_id"]] for one in evaluation["matched_findings"]],
        "false": errors["false_findings"],
        "missing": errors["missing_findings"],
        "attribute": [
            [one["ref_id"], one.get("pred_id"), one["severity"], one["error_types"]]
            for one in errors["attribute_errors"]
        ],
    }


def _fineradscore(row: Row) -> Any:
    corrections = fineradscore.FineradscoreProtocol().verdict(PAIR, [row["reply"]]).corrections
    return [[one.line, one.severity, "".join("ABCDEF"[index] for index in one.categories)] for one in corrections]


def _entailment(row: Row) -> Any:
    phrase = radfact.read_entailment(row["phrase"], row["other"], row["reply"])
    return {"entailed": phrase.entailed, "evidence": list(phrase.evidence)}


def _nodules(row: Row) -> Any:
    return [
        [one.size_mm, one.density, one.calcified, one.place, "mass" if one.is_mass else "nodule", one.uncertain]
        for one in nodule_f1.read_nodules(row["reply"])
    ]


def _nodules_published(row: Row) -> Any:
    lists = nodules.read_row(row["reply"])
    pairs = lists["matched_pairs"]
    return {
        "reference": len(lists["reference_nodules"]),
        "predicted": len(lists["predicted_nodules"]),
        "matched": [[pair.get("ref_id"), pair.get("pred_id"), sorted(_flags(pair))] for pair in pairs],
        "false": lists["false_findings"],
        "missing": lists["missing_findings"],
    }


def _flags(pair: Mapping[str, Any]) -> Iterator[str]:
    return (flag for flag, value in pair.items() if flag.endswith("_error") and value)


READERS: dict[str, Callable[[Row], Any]] = {
    "green": _green,
    "mammo_green": _mammo_green,
    "crimson": _crimson,
    "crimson_ct": _crimson,
    "chexprompt": _chexprompt,
    "fineradscore": _fineradscore,
    "radfact_phrases": lambda row: list(radfact.read_phrases(row["reply"])),
    "radfact_entailment": _entailment,
    "radfact_positives": lambda row: list(radfact.read_positives(row["reply"], row["phrases"])),
    "nodules": _nodules,
    "nodules_published": _nodules_published,
}


def rows(protocol: str) -> list[Row]:
    """The replies of a protocol: kind, reply, verdict, and what was asked where the reading depends on it."""
    lines = (FOLDER / f"{protocol}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def outcome(protocol: str, row: Row) -> tuple[str, Any]:
    """One of OUTCOMES for a reply, and what was read or why it was refused."""
    try:
        verdict = READERS[protocol](row)
    except VerdictError as error:
        return ("refused" if row["verdict"] == "refused" else "lost"), str(error)
    return ("read" if verdict == row["verdict"] else "wrong"), verdict


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL", help=f"some of {', '.join(READERS)}")
    parser.add_argument("--kinds", action="store_true", help="one line for each kind of reply")
    parser.add_argument("--show", action="store_true", help="print the replies that are lost or wrong")
    options = parser.parse_args()
    print(f"{'protocol':<20}{'kind':<34}{'n':>5}" + "".join(f"{name:>9}" for name in OUTCOMES))
    for protocol in options.protocols or READERS:
        found = [(row, *outcome(protocol, row)) for row in rows(protocol)]
        kinds = dict.fromkeys(row["kind"] for row, _, _ in found) if options.kinds else {}
        for kind in (*kinds, None):
            counts = Counter(what for row, what, _ in found if kind in (None, row["kind"]))
            numbers = "".join(f"{counts[name]:>9}" for name in OUTCOMES)
            print(f"{protocol:<20}{kind or 'all':<34}{sum(counts.values()):>5}{numbers}")
        if options.show:
            for row, what, verdict in found:
                if what in ("lost", "wrong"):
                    print(f"--- {what}: {row['kind']}\n{row['reply']}\n=> {verdict}\n   {row['verdict']}")


if __name__ == "__main__":
    main()
