"""How well the reader reads, counts and labels invented reports of chest CT, written before any run.

    python benchmarks/chest_ct.py             # counts of the pairs, F1 of the 18 conditions, sentences read
    python benchmarks/chest_ct.py --misses    # everything that is wrong

`chest_ct/pairs.jsonl`: a reference, a candidate, and the errors of each kind that a radiologist would count (see
voices.py). `chest_ct/labelled.jsonl`: whole reports with the 18 conditions of RadBERT-CT. `chest_ct/sentences.jsonl`:
sentences with their findings: status, side, size. All are invented by another writer than the pack's, and were read
after a first run; what that run gave stands in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rrgmetrics.labels.ct import ct_conditions
from rrgmetrics.reading import Finding, Reader
from rrgmetrics.reading.lexicon import load_file
from rrgmetrics.reading.similarity import related

sys.path.insert(0, str(Path(__file__).parent))
from voices import counted, counts, pair_lines

PACK = "chest_ct"
READER = Reader(PACK)
HERE = Path(__file__).parent / PACK
Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    """The rows of a file."""
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def f1(tally: Counter[str]) -> float:
    """The F1 of true and false positives and false negatives; 1 where there are none."""
    positives = 2 * tally["tp"] + tally["fp"] + tally["fn"]
    return 2 * tally["tp"] / positives if positives else 1.0


def label_tallies(misses: list[str]) -> dict[str, Counter[str]]:
    """True and false positives and false negatives by condition, and of all under "micro"; appends what is wrong."""
    tallies: dict[str, Counter[str]] = {
        name: Counter() for name in ("micro", *load_file("ct", READER.lexicon.key)["conditions"])
    }
    for row in rows("labelled"):
        got, want = ct_conditions(READER.read(row["report"])), set(row["labels"])
        for kind, names in (("tp", got & want), ("fp", got - want), ("fn", want - got)):
            for name in names:
                tallies[name][kind] += 1
                tallies["micro"][kind] += 1
        if got != want:
            misses.append(f"{row['id']}: missing {sorted(want - got)}, false {sorted(got - want)}")
    return tallies


def exact_pairs() -> int:
    """The number of pairs with as many errors as expected."""
    return sum(sum(counts(counted(row)).values()) == sum(row["expected"].values()) for row in rows("pairs"))


def faults(row: Row) -> list[str]:
    """What is read otherwise than a sentence's row says; a finding is what the reader reads in its name."""
    lexicon, findings, known, wrong = READER.lexicon, READER.read(row["sentence"]).findings, set(), []
    for want in row["findings"]:
        names = {finding.concept for finding in READER.read(f"{want['finding'].capitalize()}.").findings}
        fitting = [f for f in findings if any(related(f.concept, name, lexicon) for name in names)]
        known.update(map(id, fitting))
        absent = want.get("status") == "absent"
        alike = [finding for finding in fitting if (finding.assertion == "absent") == absent]
        if not alike and not (absent and not fitting):
            wrong.append(f"{want['finding']} is not read as {want.get('status')}")
        elif alike:
            wrong.extend(f"{want['finding']}: {what}" for what in _details(want, alike))
    extra = [f.concept for f in findings if f.assertion != "absent" and id(f) not in known]
    return wrong + [f"{concept} is read, too" for concept in extra if lexicon.concepts[concept].counts]


def _details(want: Row, alike: Sequence[Finding]) -> Iterator[str]:
    if want.get("side") and want.get("status") != "absent" and all(f.side != want["side"] for f in alike):
        yield f"not {want['side']}"
    if want.get("size_mm") and all(float(want["size_mm"]) not in f.measurements_mm for f in alike):
        yield f"not {want['size_mm']} mm"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args(arguments)
    print(*pair_lines(rows("pairs"), misses=options.misses), sep="\n")
    missed: list[str] = []
    for name, tally in label_tallies(missed).items():
        print(f"{name:36} F1 {f1(tally):.3f}  ({tally['tp']} right, {tally['fp']} false, {tally['fn']} missed)")
    by_sentence = {row["sentence"]: faults(row) for row in rows("sentences")}
    print(f"sentences: {sum(not wrong for wrong in by_sentence.values())} of {len(by_sentence)} as written")
    if options.misses:
        print(*missed, sep="\n")
        print(*(f"{sentence}\n    {'; '.join(w)}" for sentence, w in by_sentence.items() if w), sep="\n")


if __name__ == "__main__":
    main()
