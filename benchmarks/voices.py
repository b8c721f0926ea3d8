"""How well the reader counts and ranks on invented reports in ten voices, written before any run.

    python benchmarks/voices.py                    # counts by voice and kind, rankings by kind
    python benchmarks/voices.py --set blind        # or development, second, third, fourth, fifth, sixth, weak
    python benchmarks/voices.py --misses           # every pair and ranking that is wrong

`voices/pairs.jsonl`: a reference, a candidate, and the errors of each kind that a radiologist would count, in words.
`voices/rankings.jsonl`: a reference with the patient's context, and two candidates of which one is clearly better for
the patient. All are invented, and written down before any run. The set `development` was read while the reader was
repaired; of the set `blind` the odd numbers were read after a first run, the even pairs after a second; its even
rankings were never read. The set `second` is of two other writers; its odd numbers were read after a first run, its
even pairs after a second, its even rankings never. The set `third` is of five more; of its pairs the odd numbers were
read after a first run, the even ones after a second. The set `fourth` is of four more; its odd numbers were read after
a first run, its even ones never. The set `fifth` is of five more, `sixth` of three; of the former the odd numbers were
read after a first run, the even ones and the latter never. The set `weak` is of three more, told to write in the voices
that were read worst; it was read. What each was before anybody read it stands in benchmarks/README.md.

Conventions: a wrong side, place or tip is C, not A and B; a finding that is denied is B once; "possible" against what
is stated is D; a change that is left out, reversed or called stable is F once; "unchanged" is E once where the
reference nowhere compares. Words never matter.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import rrgmetrics
from rrgmetrics.comparing import ReportComparison, compare
from rrgmetrics.reading import read

HERE = Path(__file__).parent / "voices"
SETS = ("development", "blind", "second", "third", "fourth", "fifth", "sixth", "weak")
KINDS = "ABCDEF"
METRICS = ("crimson", "finding_score", "finding_errors")
Row = dict[str, Any]


def load(name: str, chosen: str = "") -> list[Row]:
    """Reads the pairs or the rankings of a set; all for ""."""
    lines = (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if chosen in ("", row["set"])]


def context(row: Row) -> dict[str, str]:
    """The patient's context of a row."""
    return {key: row.get(key, "") for key in ("age", "sex", "indication")}


def counted(row: Row) -> ReportComparison:
    """The comparison of a pair, of a kind that is read or not."""
    reference = read(row["reference"], row.get("modality", "auto"))
    return compare(reference, read(row["candidate"], reference.pack), context(row))


def counts(comparison: ReportComparison) -> dict[str, int]:
    """Errors by the letter of their kind; kinds without an error are left out."""
    return {kind.letter: number for kind, number in comparison.counts.items() if number}


def pair_lines(rows: Sequence[Row], *, misses: bool) -> Iterator[str]:
    """Yields the table of the pairs: exact total and right kinds by voice, errors found by kind."""
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        comparison = counted(row)
        got, want = counts(comparison), row["expected"]
        for name in ("all", row["voice"]):
            tallies[name].update(n=1, exact=sum(got.values()) == sum(want.values()), kinds=got == want)
        for kind in KINDS:
            mine, theirs = got.get(kind, 0), want.get(kind, 0)
            found[kind].update(expected=theirs, found=min(mine, theirs), extra=max(0, mine - theirs))
        if misses and got != want:
            yield f"{row['id']} ({row['voice']}): expected {want or 'none'}, counted {got or 'none'}"
            yield from (f"    expected {error['category']}: {error['what']}" for error in row["errors"])
            yield from (f"    counted {error.category.letter}: {error.sentence}" for error in comparison.errors)
    yield f"{'pairs':24} {'n':>4} {'exact':>7} {'kinds':>7}"
    for name, tally in tallies.items():
        yield f"{name:24} {tally['n']:4} {tally['exact'] / tally['n']:7.1%} {tally['kinds'] / tally['n']:7.1%}"
    yield from (f"{kind}: {x['found']} of {x['expected']} found, {x['extra']} extra" for kind, x in found.items())


def ranking_lines(rows: Sequence[Row], *, misses: bool) -> Iterator[str]:
    """Yields for each metric how many rankings hold, by kind; a tie does not."""
    texts = {
        "predictions": [row[side] for side in ("better", "worse") for row in rows],
        "references": [row["reference"] for row in rows] * 2,
        "contexts": [context(row) for row in rows] * 2,
    }
    for metric, result in rrgmetrics.score(list(METRICS), progress=False, **texts).items():
        goodness = [result.spec.headline.goodness(float(value)) for value in result.per_pair[metric]]
        kinds: dict[str, list[bool]] = defaultdict(list)
        for row, better, worse in zip(rows, goodness[: len(rows)], goodness[len(rows) :], strict=True):
            kinds[row["kind"]].append(better > worse + 1e-9)
            if misses and not kinds[row["kind"]][-1]:
                yield f"{metric} {row['id']} ({row['kind']}): {better:.3f} against {worse:.3f}; {row['why']}"
        right = sum(map(sum, kinds.values()))
        by_kind = ", ".join(f"{kind} {sum(held)}/{len(held)}" for kind, held in kinds.items())
        yield f"{metric}: {right} of {len(rows)} = {right / len(rows):.1%} ({by_kind})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="", choices=["", *SETS])
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args(arguments)
    print(*pair_lines(load("pairs", options.set), misses=options.misses), sep="\n")
    rankings = load("rankings", options.set)
    print(*(ranking_lines(rankings, misses=options.misses) if rankings else ()), sep="\n")


if __name__ == "__main__":
    main()
