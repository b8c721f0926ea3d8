"""Makes `rrgmetrics/backends/weights/wordnet-3.0.zip`: the part of WordNet 3.0 that METEOR's synonym stage reads.

Usage: python scripts/bundle_wordnet.py /usr/share/wordnet    (Debian: apt-get install wordnet-base)

Kept, in WordNet's own file format so that NLTK's reader opens it: every single-word lemma, its synsets and the
exceptions of inflection. Left out: multi-word lemmas, which NLTK's METEOR skips, glosses, relations and frames.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import zopfli.zlib  # pip install zopfli: the same format in a tenth less room

TARGET = Path(__file__).parents[1] / "rrgmetrics/backends/weights/wordnet-3.0.zip"
PARTS = ("noun", "verb", "adj", "adv")
UNUSED = ("cntlist.rev", "index.sense")  # the reader wants them to exist


def split_header(text: str) -> tuple[str, list[str]]:
    """The licence at the top of each file (lines that begin with two spaces) and the lines after it."""
    lines = text.splitlines()
    header = [line for line in lines if line.startswith("  ")]
    return "".join(line.rstrip() + "  \n" for line in header), lines[len(header) :]


def strip_data(text: str) -> tuple[str, dict[str, int]]:
    """Synsets with their single-word lemmas; returns the new file and old offset → new offset."""
    header, lines = split_header(text)
    out, position, moved = [header], len(header.encode()), {}
    for line in lines:
        fields = line.split()
        n_words = int(fields[3], 16)
        words = [word for word in fields[4 : 4 + 2 * n_words : 2] if "_" not in word]
        if not words:
            continue
        moved[fields[0]] = position
        lemmas = " ".join(f"{word} 0" for word in words)
        stripped = f"{position:08d} 00 {fields[2]} {len(words):02x} {lemmas} 000 | \n"
        out.append(stripped)
        position += len(stripped.encode())
    return "".join(out), moved


def strip_index(text: str, moved: dict[str, int]) -> str:
    """Single-word lemmas with the new offsets of their synsets."""
    header, lines = split_header(text)
    out = [header]
    for line in lines:
        fields = line.split()
        lemma, part, n_synsets = fields[0], fields[1], int(fields[2])
        if "_" not in lemma:
            offsets = " ".join(f"{moved[offset]:08d}" for offset in fields[-n_synsets:])
            out.append(f"{lemma} {part} {n_synsets} 0 {n_synsets} 0 {offsets}  \n")
    return "".join(out)


class Zopfli:
    """What `zipfile` compresses with: takes its time, and writes what any zlib reads."""

    def __init__(self, *_: Any) -> None:
        self.data = b""

    def compress(self, data: bytes) -> bytes:
        """Keeps the bytes until all are there."""
        self.data += data
        return b""

    def flush(self) -> bytes:
        """Returns all of them, without zlib's head and checksum."""
        return bytes(zopfli.zlib.compress(self.data)[2:-4])


def main(source: Path) -> None:
    """Reads WordNet's database files below `source` and writes the archive."""
    files = {"lexnames": "00\tall\t0\n", **dict.fromkeys(UNUSED, "")}
    for part in PARTS:
        files[f"data.{part}"], moved = strip_data((source / f"data.{part}").read_text())
        files[f"index.{part}"] = strip_index((source / f"index.{part}").read_text(), moved)
        files[f"{part}.exc"] = (source / f"{part}.exc").read_text()
    files["LICENSE"] = split_header((source / "data.adj").read_text())[0]
    zipfile._get_compressor = Zopfli  # type: ignore[attr-defined]
    with zipfile.ZipFile(TARGET, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"wordnet/{name}", (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
