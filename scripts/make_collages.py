"""Makes pairs of reports from the sentences of the reader's tables (`tests/unit/reading`), for `make crepe`.

Usage: python scripts/make_collages.py FOLDER [STUDIES]

Writes FOLDER/references.jsonl and FOLDER/candidates.jsonl (`study_id, report`), which `rrgmetrics synthesize` takes.
The generator has few of the tables' words: ribs by number, displaced or healed, levels of vertebrae, ways to compare.
Each report is of two to six blocks, no two of which tell of one concept. A block is a row of two texts (`pairs/`), a
finding in two wordings or beside a neighbour (`synonyms/`), or a sentence, told in both reports or in one. Nobody
counts errors here: whoever labels the pair reads it. All rows are invented. The same rows make the same bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from rrgmetrics.reading import read

TABLES = Path(__file__).parents[1] / "tests" / "unit" / "reading"
SIDES = ("references", "candidates")
BLOCKS = (2, 3, 3, 4, 4, 5, 6)  # a report
DRAWS = 8  # blocks looked at for each that is taken, so that no two tell of one concept
ALIKE = "none"
# How often each kind of block is drawn: rows of two texts by what they expect, so that each kind of error is there.
KINDS = {ALIKE: 3, "A": 0.2, "B": 0.3, "C": 0.7, "D": 0.8, "E": 0.8, "F": 0.8, "synonyms": 2.5, "sentences": 1.5}
SWAPPED, REORDERED, LEFT_OUT = 0.2, 0.5, 0.3  # pairs; candidates; other blocks in one report only
NEIGHBOUR = 0.25  # of the synonyms' blocks: another thing beside the finding


class Block(NamedTuple):
    """Texts of which any two may stand beside each other: wordings of one thing, neighbours of it, and its concepts."""

    wordings: Sequence[str]
    neighbours: Sequence[str]
    concepts: frozenset[str]


def main(folder: str, n_studies: str = "50000") -> None:
    """Writes both files."""
    blocks = {kind: list(read_blocks(kind)) for kind in KINDS}
    Path(folder).mkdir(parents=True, exist_ok=True)
    rows = [collage(blocks, Random(f"collage {number}")) for number in range(int(n_studies))]
    for side, texts in zip(SIDES, zip(*rows, strict=True), strict=True):
        lines = (json.dumps({"study_id": f"collage-{i}", "report": text}) for i, text in enumerate(texts))
        (Path(folder) / f"{side}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{folder}: {len(rows):,} pairs of {', '.join(f'{len(blocks[kind]):,} {kind}' for kind in KINDS)}")


def read_blocks(kind: str) -> Iterator[Block]:
    """Yields the rows of one kind, each with the concepts that its texts tell of."""
    table = kind if (TABLES / kind).is_dir() else "pairs"
    for file in sorted((TABLES / table).glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            cells = line.split("\t")
            if line and not line.startswith("#") and (table != "pairs" or kind in cells[3]):
                texts = [cell.split(" | ") for cell in cells[1:3]]
                wordings, neighbours = texts if table != "sentences" else (texts[0], [])
                found = {item.concept for text in (*wordings, *neighbours) for item in read(text).findings}
                yield Block(wordings, [text for text in neighbours if text], frozenset(found))


def collage(blocks: dict[str, list[Block]], rng: Random) -> tuple[str, str]:
    """Returns one reference and one candidate."""
    told: set[str] = set()
    parts: list[tuple[str, str]] = []
    for kind in rng.choices(list(KINDS), list(KINDS.values()), k=rng.choice(BLOCKS)):
        drawn = (rng.choice(blocks[kind]) for _ in range(DRAWS))
        block = next((block for block in drawn if told.isdisjoint(block.concepts)), None)
        if block:
            told |= block.concepts
            parts.append(two_texts(kind, block, rng))
    candidate = [text for _, text in parts]
    if rng.random() < REORDERED:
        rng.shuffle(candidate)
    return joined([text for text, _ in parts]), joined(candidate)


def two_texts(kind: str, block: Block, rng: Random) -> tuple[str, str]:
    """Returns what the reference and the candidate say of a block; nothing where one of them leaves it out."""
    if kind in ("synonyms", "sentences"):
        beside = block.neighbours if block.neighbours and rng.random() < NEIGHBOUR else block.wordings
        first, second = rng.choice(block.wordings), rng.choice(beside) if rng.random() > LEFT_OUT else ""
    else:
        first, second = block.wordings[0], block.neighbours[0]
    return (second, first) if rng.random() < SWAPPED else (first, second)


def joined(texts: Sequence[str]) -> str:
    """Returns texts as the sentences of one report."""
    return " ".join(text if text.endswith((".", "?", "!", ":")) else f"{text}." for text in texts if text)


if __name__ == "__main__":
    main(*sys.argv[1:])
