"""Trains what tells where statements end: `boundaries.tsv` for commas and semicolons, `unmarked.tsv` without marks.

Usage: python scripts/train_boundaries.py

Sentences of invented reports are joined by commas, and by semicolons: a mark that joins two of them is a boundary, one
inside a sentence is none, unless `boundary_examples.txt` says so. A mark counts in full where the reading of the
report depends on it, else little. For text without marks all punctuation is removed, and each gap between two items is
an example; texts keep their capitals, or lose them, and have lines. In some reports words are replaced by "XXXX", as
in public sets whose names and dates were removed. The reports: the generator's, those of `benchmarks/voices` that may
be read, the sentences of the reader's tables, alone and together, lists from `boundary_frames.yaml`, and
`gap_examples.txt`. Some twelve minutes of processor time. The generator uses the reader, so that a second run gives
slightly other weights: run the tests of the reader, and `benchmarks/layouts.py`, before you keep them. Needs
scikit-learn.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple
from unittest.mock import patch

import yaml
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from rrgmetrics.reading import Finding, boundaries, read, unmarked
from rrgmetrics.reading.boundaries import MARKS, BoundarySearch
from rrgmetrics.reading.unmarked import UnmarkedSearch
from rrgmetrics.synthesis.generator import generate_reports

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
import layouts  # noqa: E402

TABLES = ROOT / "tests" / "unit" / "reading"
FRAMES = Path(__file__).with_name("boundary_frames.yaml")
EXAMPLES = Path(__file__).with_name("boundary_examples.txt")
GAP_EXAMPLES = Path(__file__).with_name("gap_examples.txt")
BAR = " |"  # behind a mark within a sentence that ends a statement
JOINTS = (", ", "; ")
CASES: dict[str, Callable[[str], str]] = {"as written": str, "lower": str.lower, "plain": layouts.uncapitalised}
GAPS = (" ", " ", " ", "\n")  # between sentences without punctuation
WRAPPED = 0.2  # of the texts with spaces between sentences: lines of so many words
LINE = (6, 12)
SIZES = (1, 2, 3, 3, 4, 5)  # sentences of a report made of single ones
REPORTS = 1800  # of each kind
MARKED = 0.35  # of the sentences of a report from tables, those with a mark at least
INDIFFERENT = 0.3  # weight of a mark on which the reading does not depend
REMOVED = 0.3  # of the reports, those from which words are removed: from so many of their sentences,
REMOVED_SENTENCES = 0.6  # a word each,
REMOVED_NEXT = 0.3  # or that word and the next
WRITTEN = 3.0  # weight of a mark in what was written to show where statements end
STRENGTH = 1.0  # inverse of the penalty (L1), which leaves some 2,500 features
STRENGTH_GAPS = 0.4
SLOT = re.compile(r"\{(\w+)(?::(\d)-(\d):(\W|\w+))?\}")

Said = Sequence[str]  # the sentences of a report


class Example(NamedTuple):
    """A mark: what speaks for or against a boundary, whether it is one, and how much it counts."""

    features: list[str]
    is_boundary: bool
    weight: float


class Boundaries:
    """Boundaries at given characters, in place of the model; keeps what the model would look at."""

    def __init__(self, starts: set[int]) -> None:
        self.starts, self.seen = starts, dict[int, list[str]]()

    def decide(self, search: BoundarySearch, first: int, mark: int, **_: bool) -> bool:
        """Whether a mark is one of the boundaries."""
        start = search.tokens[search.items[mark].first].start
        self.seen.setdefault(start, list(search.features(first, mark)))
        return start in self.starts

    def read(self, text: str) -> frozenset[Finding]:
        """Reads a text with these boundaries."""
        with patch.object(BoundarySearch, "is_boundary", lambda *place, **where: self.decide(*place, **where)):
            return frozenset(map(layouts.plain, read(text).findings))


def main() -> None:
    """Trains and writes the weights of both models."""
    kinds = {
        "generator": [*generated()],
        "voices": [*voices()],
        "tables": [*collages()],
        "frames": [*lists()],
        "written": [*written()],
    }
    removing = Random(9)
    kinds = {
        kind: reports if kind == "written" else [without_words(said, removing) for said in reports]
        for kind, reports in kinds.items()
    }
    rng = Random(5)
    at_marks = {
        kind: [each for said in reports for joint in JOINTS for each in examples_of(said, joint)]
        for kind, reports in kinds.items()
    }
    kinds["written"] += [*written_gaps()] * len(CASES)
    in_gaps = {kind: [each for said in reports for each in gaps_of(said, rng)] for kind, reports in kinds.items()}
    for examples, path, strength in (
        (at_marks, boundaries.WEIGHTS, STRENGTH),
        (in_gaps, unmarked.WEIGHTS, STRENGTH_GAPS),
    ):
        for kind, own in examples.items():
            print(f"{kind}: {len(own):,} places, {sum(each.is_boundary for each in own):,} boundaries")
        examples["written"] = [each._replace(weight=WRITTEN) for each in examples["written"]]
        write_weights([each for own in examples.values() for each in own], path, strength)


def write_weights(examples: Sequence[Example], path: Path, strength: float) -> None:
    """Trains on the examples and writes the weights."""
    vectorizer = DictVectorizer()
    rows = vectorizer.fit_transform([dict.fromkeys(each.features, 1) for each in examples])
    rows.indices, rows.indptr = rows.indices.astype("int32"), rows.indptr.astype("int32")
    model = LogisticRegression(C=strength, l1_ratio=1.0, solver="liblinear", random_state=0, max_iter=400)
    model.fit(
        rows,
        [each.is_boundary for each in examples],
        sample_weight=[each.weight for each in examples],
    )
    weights = dict(zip(vectorizer.feature_names_, model.coef_[0], strict=True), bias=model.intercept_[0])
    lines = [f"{feature}\t{weight:.2f}" for feature, weight in sorted(weights.items()) if abs(weight) >= 0.005]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(lines):,} weights")


def without_words(said: Said, rng: Random) -> Said:
    """Returns a report with some words removed, or as it is."""
    if rng.random() >= REMOVED:
        return said
    return [without_word(sentence, rng) if rng.random() < REMOVED_SENTENCES else sentence for sentence in said]


def without_word(sentence: str, rng: Random) -> str:
    """Returns a sentence with "XXXX" for one of its words, or for two in a row."""
    words = sentence.split(" ")
    bare = [word.strip(".,;") for word in words]
    first = rng.choice([k for k, word in enumerate(bare) if word.isalpha()] or [len(words)])
    last = first + 1 + (rng.random() < REMOVED_NEXT)
    return " ".join(
        word.replace(own, "XXXX") if first <= k < last and own.isalpha() else word
        for k, (word, own) in enumerate(zip(words, bare, strict=True))
    )


def gaps_of(said: Said, rng: Random) -> Iterator[Example]:
    """Yields the gaps of a report whose sentences are joined and whose punctuation is removed."""
    text, begins = unpunctuated(said, CASES[rng.choice(sorted(CASES))], rng.choice(GAPS))
    if "\n" not in text and rng.random() < WRAPPED:
        text = wrapped(text, rng.randint(*LINE))
    seen: dict[int, list[str]] = {}

    def is_gap(search: UnmarkedSearch, first: int, k: int) -> bool:
        start = search.tokens[search.items[k].first].start
        seen.setdefault(start, list(search.gap_features(first, k)))
        return start in begins

    with patch.object(UnmarkedSearch, "is_gap", is_gap):
        read(text)
    for start, features in seen.items():
        yield Example(features, start in begins, 1.0)


def unpunctuated(said: Said, write: Callable[[str], str], gap: str) -> tuple[str, set[int]]:
    """Returns sentences as one text without punctuation, and the characters at which statements begin in it."""
    text, begins = "", set[int]()
    for sentence in said:
        for part in layouts.bare(sentence).split(BAR):
            if text:
                begins.add(len(text) + len(gap))
                text += gap
            text += write(layouts.unpunctuated(part).strip())
    return text, begins


def wrapped(text: str, width: int) -> str:
    """Returns a text in lines of so many words, each character in its place."""
    words = iter(range(text.count(" ")))
    return re.sub(" ", lambda _: "\n" if next(words) % width == width - 1 else " ", text)


def examples_of(said: Said, joint: str) -> Iterator[Example]:
    """Yields the marks of a report whose sentences are joined."""
    text, joints = joined(said, joint)
    search = Boundaries(joints)
    reading = search.read(text)
    for start, features in search.seen.items():
        matters = Boundaries(joints ^ {start}).read(text) != reading
        yield Example(features, start in joints, 1.0 if matters else INDIFFERENT)


def joined(said: Said, joint: str) -> tuple[str, set[int]]:
    """Returns sentences as one, and the characters at which statements end in it."""
    text, ends = "", set[int]()
    for sentence in said:
        first, *others = layouts.bare(sentence).split(BAR)
        if text:
            ends.add(len(text))
            text, first = text + joint, layouts.uncapitalised(first)
        text += first
        for other in others:
            ends.add(len(text) - 1)
            text += other
    return text + ".", ends


def usable(sentences: Iterable[str]) -> list[str]:
    """Keeps sentences of more than one word, once each, with a bar behind the marks that end statements."""
    parted = {line.replace(" |", ""): line for (line,) in rows_of(EXAMPLES)}
    return [parted.get(each, each) for each in dict.fromkeys(sentences) if " " in each and not each.isupper()]


def generated() -> Iterator[Said]:
    """Yields the generator's reports."""
    for report in generate_reports(REPORTS, seed=77):
        yield from sections(layouts.of_text("", report.text))


def voices() -> Iterator[Said]:
    """Yields the invented reports that may be read."""
    for report in layouts.invented():
        yield from sections(report)


def sections(report: layouts.Report) -> Iterator[Said]:
    """Yields the sentences of each section that can be used."""
    for _, said in report.sections:
        if kept := usable(said):
            yield kept


def collages() -> Iterator[Said]:
    """Yields reports made of the sentences of the reader's tables, a third of them with a mark."""
    texts = {
        cell
        for path in sorted(TABLES.rglob("*.tsv"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
        for cell in line.split("\t")[1:]
        if len(cell.split()) > 2 and not re.search(r"[|=+<>{}_]", cell)
    }
    rng = Random(1)
    single = usable(sentence for text in sorted(texts) for sentence in layouts.sentences(text))
    marked = [sentence for sentence in single if not MARKS.isdisjoint(sentence)]
    yield from ([sentence] for sentence in marked)
    for _ in range(REPORTS):
        yield [rng.choice(marked if rng.random() < MARKED else single) for _ in range(rng.choice(SIZES) + 1)]


def written() -> Iterator[Said]:
    """Yields what was written to show where statements end and where not."""
    for row in rows_of(TABLES / "spliced.tsv"):
        yield [part.rstrip(",").removeprefix("and ") for part in row[1].split(" | ")]
    for row in (*rows_of(TABLES / "one_statement.tsv"), *rows_of(EXAMPLES)):
        yield [row[0]]


def written_gaps() -> Iterator[Said]:
    """Yields what was written to show where statements end in text without punctuation."""
    for row in rows_of(GAP_EXAMPLES):
        yield row[0].split(" | ")


def rows_of(path: Path) -> Iterator[list[str]]:
    """Yields the rows of a table, without its remarks."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def lists() -> Iterator[Said]:
    """Yields reports of which half the sentences are made from frames, the others from the generator and voices."""
    rng = Random(11)
    frames = yaml.safe_load(FRAMES.read_text(encoding="utf-8"))
    others = [sentence for said in (*generated(), *voices()) for sentence in said]
    for _ in range(REPORTS):
        yield [
            filled(rng.choice(frames["frames"]), frames["words"], rng) if rng.random() < 0.5 else rng.choice(others)
            for _ in range(rng.choice(SIZES))
        ]


def filled(frame: str, words: dict[str, list[str]], rng: Random) -> str:
    """Fills the slots of a frame.

    >>> filled("No {a:2-2:or} {b}", {"a": ["edema"] * 2, "b": ["seen"]}, Random(0))
    'No edema or edema seen.'
    """

    def fill(slot: re.Match[str]) -> str:
        name, least, most, joint = slot.groups()
        if least is None:
            return rng.choice(words[name])
        drawn = rng.sample(words[name], rng.randint(int(least), int(most)))
        if joint == ",":
            return ", ".join(drawn)
        *first, last = drawn
        comma = "," if len(first) > 1 and rng.random() < 0.5 else ""
        return f"{', '.join(first)}{comma} {joint} {last}"

    text = " ".join(SLOT.sub(fill, frame).split())
    return text[0].upper() + text[1:] + "."


if __name__ == "__main__":
    with patch("rrgmetrics.reading.parsed.KEPT", 0):  # a sentence is read again with other boundaries
        main()
