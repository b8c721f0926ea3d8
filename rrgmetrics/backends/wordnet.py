"""Synonyms from WordNet's database files (format: WordNet manual, wndb(5WN)).

WordNet 3.0 ships with rrgmetrics, reduced to what METEOR reads (`weights/wordnet-3.0.zip`); any folder of WordNet
database files serves too. NLTK's own reader is not used: since 3.10 it refuses folders outside nltk_data, it takes
two seconds to load, and its rules of inflection changed between releases. These are the rules of NLTK 3.10
(one application, exceptions first); the tests compare the two word by word.
"""

from __future__ import annotations

import hashlib
import io
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO

from rrgmetrics.backends.checkpoints.archives import read_zip_member
from rrgmetrics.errors import BackendError

BUNDLED = Path(__file__).parent / "weights" / "wordnet-3.0.zip"
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
# Detachment rules, WordNet manual, morphy(7WN); "men" and "ies" as in NLTK.
SUFFIXES = {
    "n": (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
          ("men", "man"), ("ies", "y")),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}  # fmt: skip


class WordNet:
    """A look-up of synonyms in WordNet's database files.

    Args:
        root: A folder with `data.*`, `index.*` and `*.exc`, or a zip archive of a folder `wordnet` with them.

    Raises:
        BackendError: The folder or one of the files is not there, or is not in WordNet's format.
    """

    def __init__(self, root: Path = BUNDLED) -> None:
        self.root = root
        self._index: dict[str, dict[str, list[int]]] = {}
        self._exceptions: dict[str, dict[str, list[str]]] = {}
        self._data: dict[str, bytes] = {}
        try:
            for part, suffix in PARTS.items():
                self._index[part] = self._read_index(suffix)
                with self._open(f"{suffix}.exc") as lines:
                    fields = (line.decode().split() for line in lines)
                    self._exceptions[part] = {words[0]: words[1:] for words in fields if words}
                with self._open(f"data.{suffix}") as file:
                    self._data[part] = file.read()
        except (OSError, KeyError, ValueError, IndexError, BackendError) as error:
            raise BackendError(
                f"{root} does not contain WordNet's database files ({error}); it needs data.*, index.* and *.exc "
                f"for {', '.join(PARTS.values())}, as in nltk_data/corpora/wordnet or Debian's package wordnet-base."
            ) from error

    @cached_property
    def sha256(self) -> str:
        """The checksum of the data, so that a signature says which WordNet was read."""
        digest = hashlib.sha256()
        for part in PARTS:
            digest.update(self._data[part])
        return digest.hexdigest()

    @lru_cache(maxsize=100_000)  # noqa: B019 - one object a process, its vocabulary bounded
    def synonyms(self, word: str) -> frozenset[str]:
        """The word itself and all single words that share a meaning with it."""
        return frozenset((word, *(other for synset in self.synsets(word) for other in synset if "_" not in other)))

    def synsets(self, word: str) -> list[tuple[str, ...]]:
        """The words of each meaning of a word in any inflection and part of speech; spaces are underscores."""
        word = word.lower()
        return [
            self._synset(part, offset)
            for part in PARTS
            for form in self._base_forms(word, part)
            for offset in self._index[part][form]
        ]

    def words(self, *, senses: int = 1) -> set[str]:
        """Words in their base forms that have at least so many senses as one part of speech; common words have more."""
        return {word for index in self._index.values() for word, offsets in index.items() if len(offsets) >= senses}

    def _base_forms(self, word: str, part: str) -> list[str]:
        forms = self._exceptions[part].get(word)
        if forms is None:
            forms = [word[: -len(old)] + new for old, new in SUFFIXES[part] if word.endswith(old)]
        return [form for form in dict.fromkeys([word, *forms]) if form in self._index[part]]

    def _synset(self, part: str, offset: int) -> tuple[str, ...]:
        data = self._data[part]
        fields = data[offset : data.index(b"\n", offset)].decode().split()
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        return tuple(word.partition("(")[0] for word in words)  # adjectives carry markers: "abroad(p)"

    def _read_index(self, suffix: str) -> dict[str, list[int]]:
        with self._open(f"index.{suffix}") as lines:
            rows = (line.decode().split() for line in lines if not line.startswith(b" "))
            return {row[0]: [int(offset) for offset in row[-int(row[2]) :]] for row in rows}

    def _open(self, name: str) -> IO[bytes]:
        if self.root.is_dir():
            return (self.root / name).open("rb")
        return io.BytesIO(read_zip_member(self.root, f"wordnet/{name}"))


@lru_cache(maxsize=4)
def load_wordnet(folder: str = "") -> WordNet:
    """The WordNet in `folder`, or the bundled one for ""; loaded once a process."""
    return WordNet(Path(folder) if folder else BUNDLED)
