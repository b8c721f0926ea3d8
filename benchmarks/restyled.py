"""How many errors the reader counts between two wordings of the same content; every one of them is wrong.

    python benchmarks/restyled.py                        # both sets
    python benchmarks/restyled.py --set read --misses    # every error that is counted

`restyled/read.jsonl` and `restyled/unread.jsonl`: a report in plain English, and its content in the English of Chinese,
German, French, Indian, Gulf or Latin American radiology; chest films and chest CT. All are invented, and were written
before any run. The set `read` was read while the reader was repaired, the set `unread` never.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from voices import KINDS, Row, counted, counts

HERE = Path(__file__).parent / "restyled"
SETS = ("read", "unread")


def load(name: str) -> list[Row]:
    """Reads the pairs of a set."""
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def table_lines(rows: Sequence[Row], *, misses: bool) -> Iterator[str]:
    """Yields errors a pair by modality and place, with the modality given and found, then the errors by kind."""
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: Counter[str] = Counter()
    for row in rows:
        comparison, found = counted(row), counted({**row, "modality": "auto"})
        kinds.update(counts(comparison))
        for name in (row["modality"], f"{row['modality']} {row['place']}"):
            errors, found_errors = comparison.whole.errors, found.whole.errors
            tallies[name].update(n=1, given=len(errors), auto=len(found_errors), clean=not comparison.errors)
        if misses and comparison.errors:
            yield f"{row['id']} ({row['place']}, {row['modality']})\n  R {row['reference']}\n  C {row['candidate']}"
            yield from (f"    counted {error.category.letter}: {error.sentence}" for error in comparison.errors)
    yield f"{'errors a pair':28} {'n':>4} {'given':>7} {'auto':>7} {'none':>7}"
    for name, tally in sorted(tallies.items()):
        n = tally["n"]
        yield f"{name:28} {n:4} {tally['given'] / n:7.2f} {tally['auto'] / n:7.2f} {tally['clean'] / n:7.1%}"
    yield ", ".join(f"{kind} {kinds[kind]}" for kind in KINDS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a table a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args(arguments)
    if options.misses and options.set != "read":
        parser.error("--misses prints texts; it needs --set read.")
    for name in [options.set] if options.set else SETS:
        print(name, *table_lines(load(name), misses=options.misses), sep="\n")


if __name__ == "__main__":
    main()
