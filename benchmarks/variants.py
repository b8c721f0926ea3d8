"""How many variants of known misreadings are read rightly, by kind.

    python benchmarks/variants.py                # the unread half: totals only

`variants/unread.jsonl`: pairs with the errors of each kind that a radiologist would count, some ten a kind, written
before the repairs from the faults that users had reported. Their other half was read while the reader was repaired,
and is a test (`tests/unit/reading/variants`). All reports are invented. Nobody has read this half or what the reader
makes of it: keep it so.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

from voices import counted, counts

FILE = Path(__file__).parent / "variants" / "unread.jsonl"


def main() -> None:
    """Prints the pairs whose errors are counted as expected, by kind."""
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    for row in map(json.loads, FILE.read_text(encoding="utf-8").splitlines()):
        is_right = counts(counted(row)) == row["expected"]
        for name in ("all", row["kind"]):
            tallies[name].update(n=1, right=is_right)
    for name, tally in tallies.items():
        print(f"{name:48} {tally['right']:4} of {tally['n']:4} {tally['right'] / tally['n']:7.1%}")


if __name__ == "__main__":
    main()
