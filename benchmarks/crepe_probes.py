"""What one error put into a report does to a CREPE model's six counts.

    python benchmarks/crepe_probes.py                              # the bundled model on generated reports
    python benchmarks/crepe_probes.py --reports FILE --column findings --checkpoint FOLDER

For each category, and for each way of making an error of it (`rrgmetrics.synthesis.edits.perturb`), reports get exactly
one error; the counts of (report, edited) are compared with those of (report, report). *Rises* is the share of pairs
whose count in that category goes up, *own* and *others* the mean change of that category and of the other five
together. Reports are also scored against themselves and against a paraphrase.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import cycle
from random import Random

import numpy as np

from rrgmetrics.backends.crepe import BUNDLED, CrepeBackend, load_crepe
from rrgmetrics.comparing import ErrorCategory, compare
from rrgmetrics.reports import Pair
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.paraphrase import paraphrase
from rrgmetrics.synthesis.edits.perturb import KINDS, Kind, inject
from rrgmetrics.synthesis.readings import reading_of
from rrgmetrics.synthesis.sources import load_collection

SEED = 101  # not a seed that training used
PASSES = 6  # over the reports, for the rarer categories


def main() -> None:
    """Print one line a category, then identical and paraphrased pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", default="generator:3000")
    parser.add_argument("--column", nargs="+", default=["report"])
    parser.add_argument("--id-column", default=None)
    parser.add_argument("--checkpoint", default=BUNDLED)
    parser.add_argument("--affirmed", action="store_true", help="read FOLDER's pairs as the bundled model does")
    parser.add_argument("--pairs", type=int, default=200, help="of each category at most")
    options = parser.parse_args()
    collection = load_collection(options.reports, columns=options.column, id_column=options.id_column, seed=SEED)
    texts = [report.text for report in collection.reports]
    backend = load_crepe(options.checkpoint, only_affirmed=options.affirmed or None)
    for category, pairs in edit(texts, options.pairs).items():
        line(backend, list(ErrorCategory).index(category), f"{category.letter} {category.value}", pairs)
    for name, kind in KINDS.items():
        line(backend, kind.category, f"  {name}", edit_one_way(texts, kind, options.pairs))
    few = texts[: options.pairs]
    report("identical", counts(backend, [Pair(text, text) for text in few]))
    report("paraphrased", counts(backend, list(paraphrases(few))))


def edit(texts: list[str], n: int) -> dict[ErrorCategory, list[Pair]]:
    """Up to `n` pairs of each category: a report, and the same with one error."""
    rng = Random(SEED)
    pairs: dict[ErrorCategory, list[Pair]] = {category: [] for category in ErrorCategory}
    for text, _ in zip(cycle(texts), range(PASSES * len(texts))):
        reading = reading_of(text)
        edited = inject(reading, lambda rng: reading_of(rng.choice(texts)), rng, 1)
        if edited is None or sum(edited[1]) != 1 or not compare(reading, reading_of(edited[0])).total:
            continue  # most hedges are no error to the reader, who taught the model
        category = list(ErrorCategory)[edited[1].index(1)]
        if len(pairs[category]) < n:
            pairs[category].append(Pair(text, edited[0]))
        elif min(map(len, pairs.values())) == n:
            break
    return pairs


def edit_one_way(texts: list[str], kind: Kind, n: int) -> list[Pair]:
    """Up to `n` pairs whose one error is made in one way."""
    rng = Random(SEED)
    pairs: list[Pair] = []
    for text in texts:
        reading = reading_of(text)
        edited = kind.edit(Page(text, reading), rng, lambda rng: reading_of(rng.choice(texts)))
        seen = edited and compare(reading, reading_of(edited)).counts
        if edited and seen and seen[list(ErrorCategory)[kind.category]] == sum(seen.values()) == 1:
            pairs.append(Pair(text, edited))
        if len(pairs) == n:
            break
    return pairs


def line(backend: CrepeBackend, c: int, name: str, pairs: list[Pair]) -> None:
    """One line on pairs with one error of category number `c`."""
    if not pairs:
        return print(f"{name:22}    0 pairs")
    change = counts(backend, pairs) - counts(backend, [Pair(pair.reference, pair.reference) for pair in pairs])
    own, others = change[:, c], np.delete(change, c, axis=1).sum(axis=1)
    return print(
        f"{name:22} {len(pairs):4} pairs   rises {np.mean(own > 0):4.0%}   own {own.mean():+.2f}   "
        f"others {others.mean():+.2f}"
    )


def paraphrases(texts: list[str]) -> Iterator[Pair]:
    """Reports with their paraphrases, where they have one."""
    rng = Random(SEED)
    for text in texts:
        other = paraphrase(reading_of(text), rng)
        if other is not None:
            yield Pair(text, other)


def counts(backend: CrepeBackend, pairs: list[Pair]) -> np.ndarray:
    """Counts `(n_pairs, 6)`."""
    return np.array([reading.counts for reading in backend.annotate_pairs(pairs)])


def report(name: str, predicted: np.ndarray) -> None:
    """One line on pairs without an error."""
    totals = predicted.sum(axis=1)
    print(f"{name:22} {len(totals):4} pairs   median {np.median(totals):.2f}   mean {totals.mean():.2f}")


if __name__ == "__main__":
    main()
