"""Terms of the lexicon that change no reading, because the reader combines shorter ones to the same.

    python benchmarks/redundant_terms.py                    # the terms that main does not have
    python benchmarks/redundant_terms.py --since HEAD       # those that are not committed
    python benchmarks/redundant_terms.py --concept opacity  # all terms of a concept

Only the files of concepts are looked at (lung.yaml, devices.yaml, ...). For cues and small words see test_cues.py;
nothing looks at the terms of attributes.yaml, anatomy.yaml, qualities.yaml and normal.yaml.

A term of several words is redundant if the sentences of FRAMES are read the same without it (findings, attributes,
evidence and graph) with every pack that has it. Shorter terms are tried first, and what is redundant stays away from
then on, so that all redundant terms can be removed together. Afterwards run `benchmarks/golden.py --against main`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from golden import canonical_reading

from rrgmetrics.labels.graph import build_graph
from rrgmetrics.reading import Reader
from rrgmetrics.reading.lexicon import all_packs, concept_files, key_in_use, load_file
from rrgmetrics.reading.lexicon.packs import BUNDLED, chain
from rrgmetrics.reading.lexicon.parsing import parse
from rrgmetrics.utils.text_format import capitalized

FRAMES = (
    "There is {}.",
    "{}.",
    "No {}.",
    "Left lower lobe {}.",
    "{} has increased.",
    "There is no {} or pneumothorax.",
    "Rib fracture and {} at the right base.",
    "Small {}, unchanged.",
    "{}, likely pneumonia.",
    "The heart is {}.",
    "Pleural effusion, {}, and rib fracture.",
    "{} of the left lung is smaller.",
    "The {} is not seen.",
    "Possible {} with {} on the right.",
)


class Term(NamedTuple):
    """A term of a concept, and the pack and the file that list it."""

    pack: str
    file: str
    concept: str
    text: str


def terms_in(pack: str, file: str, text: str) -> Iterator[Term]:
    """Yields the terms of several words in a file of concepts."""
    for concept, entry in (parse(text) or {}).items():
        for term in entry.get("terms", ()):
            if len(str(term).split()) > 1:
                yield Term(pack, file, concept, str(term))


def all_terms(revision: str = "") -> set[Term]:
    """The terms of all packs, as they are now or were in a revision."""
    found: set[Term] = set()
    for pack in all_packs(""):
        for file in concept_files(key_in_use(pack)):
            path = BUNDLED / pack / f"{file}.yaml"
            if path.is_file():
                text = text_in(revision, path) if revision else path.read_text(encoding="utf-8")
                found.update(terms_in(pack, file, text))
    return found


def text_in(revision: str, path: Path) -> str:
    """The text of a file in a revision; "" if it was not there."""
    command = ["git", "-C", str(path.parent), "show", f"{revision}:./{path.name}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def without(terms: Iterable[Term], folder: Path) -> None:
    """Writes a folder of one's own that takes the terms away."""
    files: dict[Path, dict[str, dict[str, list[str]]]] = defaultdict(dict)
    for term in terms:
        entries = files[folder / term.pack / f"{term.file}.yaml"]
        entries.setdefault(term.concept, {}).setdefault("without", []).append(term.text)
    for path, entries in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(entries), encoding="utf-8")


def reading_of(reader: Reader, text: str) -> tuple[dict[str, Any], str]:
    """Reads a text, with the graph; which folder it was read with does not count."""
    reading = reader.read(text)
    return canonical_reading(replace(reading, folder="")), repr(build_graph(reading))


def is_needed(term: Term, readers: Sequence[Reader]) -> bool:
    """Whether a term changes the reading of a sentence, or is a finding only by itself."""
    full, reduced = readers
    texts = [capitalized(frame.replace("{}", term.text)) for frame in FRAMES]
    read = {finding.concept for text in texts[:2] for finding in full.read(text).findings}
    return term.concept not in read or any(reading_of(full, text) != reading_of(reduced, text) for text in texts)


def redundant(terms: Collection[Term], pack: str) -> list[Term]:
    """The terms that a pack reads the same without, shorter ones first."""
    compounds = load_file("spellings", key_in_use(pack))["compounds"].values()
    parts = {part for each in compounds for part in each}
    found: list[Term] = []
    lengths = defaultdict(list)
    for term in sorted(terms):
        if term.text not in parts:
            lengths[len(term.text.split())].append(term)
    for length in sorted(lengths):
        with tempfile.TemporaryDirectory() as folder:
            without([*found, *lengths[length]], Path(folder))
            readers = Reader(pack, ""), Reader(pack, folder)
            found += [term for term in lengths[length] if not is_needed(term, readers)]
    return found


def redundant_everywhere(terms: Collection[Term]) -> list[Term]:
    """The terms that every pack that has them reads the same without."""
    left = set(terms)
    for name in all_packs(""):
        layers = {pack.name for pack in chain(name)}
        own = {term for term in left if term.pack in layers}
        left -= own - set(redundant(own, name)) if own else set()
    return sorted(left)


def main(arguments: Sequence[str] | None = None) -> int:
    """Lists the redundant terms; returns 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--since", metavar="REVISION", default="main", help="the terms that a revision does not have")
    which.add_argument("--concept", metavar="KEY", help="all terms of a concept")
    options = parser.parse_args(arguments)
    terms = all_terms()
    if options.concept:
        terms = {term for term in terms if term.concept == options.concept}
    else:
        terms -= all_terms(options.since)
    found = redundant_everywhere(terms)
    for term in found:
        print(f"{term.pack}/{term.file}.yaml, {term.concept}: {term.text!r} is read the same without it")
    print(f"{len(found)} of {len(terms)} terms of several words are redundant, in the files of concepts (no others)")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
