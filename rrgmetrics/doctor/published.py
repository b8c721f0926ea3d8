"""Runs the examples that authors have published with their values, and compares.

Texts that may derive from patients' reports are not ours to ship: such an example names the authors' public file and
the SHA-256 of each text in it, and is run where that file can be read. The others stand in `examples.yaml` as they are.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from rrgmetrics.doctor.repositories import TIMEOUT, Remark, in_one_line
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.names import parse_name
from rrgmetrics.prepared import score

MOST_BYTES = 4 << 20  # of a file with published examples; the largest has 40 kB
INVENTED = {
    "reference": "Small left pleural effusion. No pneumothorax.",
    "candidate": "Moderate left pleural effusion and a pneumothorax.",
}


@dataclass(frozen=True)
class Example:
    """Pairs with the values that were published for them.

    Attributes:
        metric: The metric, configuration and options that they were computed with.
        source: Where the values were printed.
        scores: Published values over all pairs by key.
        per_pair: Published values of each pair by key.
        within: Largest difference that counts as equal.
        references, candidates: The texts, or their SHA-256 in the file at `url`.
        url: The authors' file that holds the texts; "" where they stand here.
    """

    metric: str
    source: str
    references: Sequence[str]
    candidates: Sequence[str]
    within: float
    scores: Mapping[str, float] = field(default_factory=dict)
    per_pair: Mapping[str, Sequence[float]] = field(default_factory=dict)
    url: str = ""

    @property
    def configuration(self) -> str:
        """The metric and its configuration, without options."""
        return self.metric.partition("?")[0]

    def texts(self) -> tuple[list[str], list[str]]:
        """References and candidates, read from the authors' file where it holds them.

        Raises:
            InputError: The file does not hold a text.
            OSError: It cannot be read.
        """
        if not self.url:
            return list(self.references), list(self.candidates)
        known = {hashlib.sha256(text.encode()).hexdigest(): text for text in strings(fetch(self.url), self.url)}
        lost = [name for name in (*self.references, *self.candidates) if name not in known]
        if lost:
            raise InputError(f"{self.url} holds {len(lost)} of its texts no longer")
        return [known[name] for name in self.references], [known[name] for name in self.candidates]


@lru_cache(maxsize=1)
def examples() -> Sequence[Example]:
    """Reads `examples.yaml`."""
    import yaml

    return tuple(
        Example(**row) for row in yaml.safe_load((Path(__file__).parent / "examples.yaml").read_text(encoding="utf-8"))
    )


def fetch(url: str) -> str:
    """Reads a public file, once.

    Raises:
        InputError: It does not answer, or sends too much.
    """
    content = _fetched(url)
    if isinstance(content, Exception):
        raise InputError(f"{url}: {content}")
    if len(content) > MOST_BYTES:
        raise InputError(f"{url} sends more than {MOST_BYTES >> 20} MB")
    return content.decode(errors="replace")


@lru_cache(maxsize=8)
def _fetched(url: str) -> bytes | OSError:
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=TIMEOUT) as stream:
            content: bytes = stream.read(MOST_BYTES + 1)
        return content
    except OSError as error:
        return error


def strings(content: str, name: str) -> list[str]:
    """The texts that a file quotes: the string constants of Python, else what stands between double quotes.

    Example:
        >>> strings('refs = ["No acute" " process."]', "tests/test_it.py"), strings('`refs = ["Clear."]`', "README.md")
        (['No acute process.'], ['Clear.'])
    """
    if not name.endswith(".py"):
        return re.findall(r'"([^"\n]+)"', content)
    tree = ast.parse(content)
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def score_example(example: Example, device: str | None) -> Remark:
    """Scores the pairs of an example and says how far the values are from the published ones."""
    try:
        references, candidates = example.texts()
    except (InputError, SyntaxError) as error:
        return Remark("left", f"{example.source} was not scored: {error}.")
    try:
        results = score(example.metric, predictions=candidates, references=references, progress=False, device=device)
    except (BackendError, MissingExtraError) as error:
        return Remark("fault", in_one_line(str(error)))
    result = results[example.metric]
    pairs = [(key, value, result.scores[key]) for key, value in example.scores.items()]
    for key, values in example.per_pair.items():
        pairs += [
            (f"{key} of pair {i}", *both)
            for i, both in enumerate(zip(values, result.per_pair[key], strict=True), start=1)
        ]
    return compare(example, pairs)


def compare(example: Example, pairs: Sequence[tuple[str, float, float]]) -> Remark:
    """Compares published values with ours: key, published, ours."""
    differences = np.abs([published - ours for _, published, ours in pairs])
    worst = int(np.argmax(np.where(np.isnan(differences), np.inf, differences)))
    key, published, ours = pairs[worst]
    wrong = int(np.sum(~(differences <= example.within)))
    if wrong:
        return Remark(
            "fault",
            f"{wrong} of {len(pairs)} values of {example.source} differ by more than "
            f"{example.within:g}; the largest, {key}: published {published:.6g}, here {ours:.6g}.",
        )
    return Remark(
        "ok",
        f"{len(pairs)} values of {example.source} are reproduced; the largest difference is "
        f"{differences[worst]:.2g} ({key}), and {example.within:g} is allowed.",
    )


def score_invented(configuration: str, device: str | None) -> Remark:
    """Scores one invented pair, where no published values are at hand: the weights load and give a number."""
    try:
        result = score(configuration, [INVENTED], progress=False, device=device)
    except (BackendError, MissingExtraError) as error:
        return Remark("fault", in_one_line(str(error)))
    value = result[configuration].scores[parse_name(configuration).spec.name]
    if not np.isfinite(value):
        return Remark("fault", "The weights load, and give no number for an invented pair.")
    return Remark("ok", f"The weights load and give {value:.4g} for an invented pair.")
