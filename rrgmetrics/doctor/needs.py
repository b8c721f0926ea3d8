"""What the `paper` configurations load: repositories of the Hub, their files and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

from rrgmetrics.backends.checkpoints import PATTERNS, PICKLE, WEIGHTS

TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spm.model")
CONFIG = ("config.json",)
LAYOUTS: Mapping[str, tuple[tuple[str, ...], ...]] = {  # of each group one file must be there
    "model": (CONFIG, (*WEIGHTS, PICKLE), TOKENIZERS),
    "weights": (CONFIG, (*WEIGHTS, PICKLE)),
    "tokenizer": (CONFIG, ("vocab.txt",)),
    "any tokenizer": (CONFIG, ("tokenizer.json", "vocab.txt", "vocab.json")),
}


@dataclass(frozen=True)
class Need:
    """A repository, or one file of it, that configurations load.

    Attributes:
        repository: Its Hub id.
        gigabytes: Of what is loaded, about.
        licence: The tag of its card; "" where it is not known.
        configurations: Those that load it, as a metric is named.
        holds: What a folder of transformers must hold, a key of `LAYOUTS`.
        file: The one file that is loaded; "" for a folder of transformers.
    """

    repository: str
    gigabytes: float
    licence: str
    configurations: tuple[str, ...]
    holds: str = "model"
    file: str = ""
    layout: tuple[tuple[str, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", ((self.file,),) if self.file else LAYOUTS[self.holds])

    @property
    def name(self) -> str:
        """The repository, with the file where it is one."""
        return f"{self.repository}/{self.file}" if self.file else self.repository

    def chosen(self, files: Iterable[str]) -> list[str]:
        """Those files of a repository that are loaded: pickled weights only where there are no others."""
        if self.file:
            return [file for file in files if file == self.file]
        known = [file for file in files if "/" not in file]
        wanted = [file for file in known if any(fnmatch(file, pattern) for pattern in PATTERNS)]
        if self.holds.endswith("tokenizer"):
            return [file for file in wanted if not file.endswith(".safetensors")]
        return wanted if any(file in known for file in WEIGHTS) else [*wanted, *(f for f in known if f == PICKLE)]

    def missing(self, files: Iterable[str]) -> list[str]:
        """What the layout asks for and is not there, each group in words."""
        there = set(files)
        return [" or ".join(group) for group in self.layout if not there & set(group)]


@lru_cache(maxsize=1)
def needs() -> Sequence[Need]:
    """Reads `needs.yaml`."""
    import yaml

    rows = yaml.safe_load((Path(__file__).parent / "needs.yaml").read_text(encoding="utf-8"))
    return tuple(Need(configurations=tuple(row.pop("for")), **row) for row in rows)


def needs_of(configuration: str) -> list[Need]:
    """Returns what a configuration loads; options choose among checkpoints only where the table says so.

    Example:
        >>> [need.name for need in needs_of("bertscore@paper?idf=call")]
        ['roberta-large']
    """
    exactly = [need for need in needs() if configuration in need.configurations]
    return exactly or [need for need in needs() if configuration.partition("?")[0] in need.configurations]
