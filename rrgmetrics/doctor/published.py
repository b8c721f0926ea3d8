"""Runs the examples that authors have published with their values, and compares.

Texts that may derive from patients' reports are not ours to ship: such an example names the authors' public file and
the SHA-256 of each text in it, and is run where that file can be read. The others stand in `examples.yaml` as they are.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from rrgmetrics.doctor.repositories import TIMEOUT, Remark, in_one_line
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.scoring.prepared import score
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.text_format import counted

MOST_BYTES = 4 << 20  # of a file with published examples; the largest has 40 kB
INVENTED = {
    "reference": "Small left pleural effusion. No pneumothorax.",
    "candidate": "Moderate left pleural effusion and a pneumothorax.",
}


Folders = Sequence[Path]


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
        lines: Addresses of two files whose lines, but for blank ones, are the references and the candidates.
        replies: SHA-256 of a judge's replies in the file at `url`; `per_pair` has what is read of them; no model runs.
        logits: Of a classifier of `references`: the published logits of each.
        conditions: Of CheXbert: a condition that each of `references` has.
    """

    metric: str
    source: str
    references: Sequence[str]
    candidates: Sequence[str]
    within: float
    scores: Mapping[str, float] = field(default_factory=dict)
    per_pair: Mapping[str, Sequence[float]] = field(default_factory=dict)
    url: str = ""
    lines: Sequence[str] = ()
    replies: Sequence[str] = ()
    logits: Sequence[Sequence[float]] = ()
    conditions: Sequence[str] = ()

    @property
    def configuration(self) -> str:
        """The metric and its configuration, without options."""
        return self.metric.partition("?")[0]

    @property
    def is_remote(self) -> bool:
        """Whether its texts stand in files on the network."""
        return bool(self.url or self.lines)

    def is_in(self, folders: Folders) -> bool:
        """Whether the authors' files lie in one of some folders."""
        return all(found_in(url, folders) for url in (*self.lines, *([self.url] if self.url else [])))

    def texts(self, folders: Folders = ()) -> tuple[list[str], list[str]]:
        """References and candidates, read from the authors' file where it holds them.

        Raises:
            InputError: The file does not hold a text.
            OSError: It cannot be read.
        """
        if self.lines:
            references, candidates = (
                [line.strip() for line in read(url, folders).splitlines() if line.strip()] for url in self.lines
            )
            return references, candidates
        return self._found(self.references, folders), self._found(self.candidates, folders)

    def texts_of_replies(self, folders: Folders = ()) -> list[str]:
        """The judge's replies, as `texts`."""
        return self._found(self.replies, folders)

    def _found(self, names: Sequence[str], folders: Folders) -> list[str]:
        """Texts by their checksum in the authors' file, or as they stand here."""
        if not self.url:
            return list(names)
        known = {hashlib.sha256(text.encode()).hexdigest(): text for text in strings(read(self.url, folders), self.url)}
        lost = sum(name not in known for name in names)
        if lost:
            raise InputError(f"{self.url} no longer has {lost} of its texts")
        return [known[name] for name in names]


@lru_cache(maxsize=1)
def examples() -> Sequence[Example]:
    """Reads `examples.yaml`."""
    import yaml

    return tuple(
        Example(**row) for row in yaml.safe_load((Path(__file__).parent / "examples.yaml").read_text(encoding="utf-8"))
    )


def read(url: str, folders: Folders) -> str:
    """Reads an authors' file: in a folder that has it, else from the network."""
    file = found_in(url, folders)
    return file.read_text(encoding="utf-8", errors="replace") if file else fetch(url)


def found_in(url: str, folders: Folders) -> Path | None:
    """The file of an address in a folder named after its repository, such as `radeval-2.2.1` or a clone `RadEval`.

    Example:
        >>> found_in("https://raw.githubusercontent.com/org/Tool/c0ffee/tests/test_it.py", [Path("/nowhere")])
    """
    for folder in folders:
        _, _, _, _, repository, _, *path = url.split("/")
        file = folder.joinpath(*path)
        if folder.resolve().name.lower().startswith(repository.lower()) and file.is_file():
            return file
    return None


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


def score_example(example: Example, device: str | None, folders: Folders = ()) -> Remark:
    """Computes the values of an example and says how far they are from the published ones.

    Args:
        example: The example.
        device: Where networks run.
        folders: With the authors' files, which are looked for there before they are fetched.
    """
    try:
        pairs = list(_beside(example, device, folders))
    except (InputError, SyntaxError) as error:
        return Remark("left", f"{example.source} was not scored: {error}.")
    except (BackendError, MissingExtraError) as error:
        return Remark("fault", in_one_line(str(error)))
    return compare(example, pairs)


Beside = Iterator[tuple[str, float, float]]  # key, published, ours


def _beside(example: Example, device: str | None, folders: Folders) -> Beside:
    """Yields every published value with ours."""
    if example.replies:
        yield from _of_replies(example, folders)
    elif example.logits:
        yield from _of_logits(example, device, folders)
    elif example.conditions:
        yield from _of_conditions(example, device, folders)
    else:
        references, candidates = example.texts(folders)
        results = score(example.metric, predictions=candidates, references=references, progress=False, device=device)
        result = results[example.metric]
        for key, value in example.scores.items():
            yield key, value, result.scores[key]
        for key, values in example.per_pair.items():
            yield from _each(key, values, result.per_pair[key])


def _each(key: str, published: Sequence[float], ours: Iterable[float]) -> Beside:
    for number, (one, other) in enumerate(zip(published, ours, strict=True), 1):
        yield f"{key} of pair {number}", one, float(other)


def _of_replies(example: Example, folders: Folders) -> Beside:
    """What GREEN's authors read of replies, and what we do: by their rules and by ours."""
    from rrgmetrics.reports import Pair
    from rrgmetrics.scorers.green import KEYS, Green, GreenProtocol

    for parser in ("strict", "tolerant"):
        rows = [
            Green.row(GreenProtocol(parser).verdict(Pair("", ""), [reply]))
            for reply in example.texts_of_replies(folders)
        ]
        for key, values in example.per_pair.items():
            yield from _each(f"{key} ({parser})", values, [row[KEYS.index(key)] for row in rows])


def _of_logits(example: Example, device: str | None, folders: Folders) -> Beside:
    from rrgmetrics.backends.classifier import load_classifier
    from rrgmetrics.scorers.f1_radbert_ct import PUBLISHED

    texts, _ = example.texts(folders)
    logits = load_classifier(PUBLISHED, n_labels=len(example.logits[0]), device=device).logits(texts, None)
    for number, (published, ours) in enumerate(zip(example.logits, logits, strict=True), 1):
        yield from _each(f"logit of text {number}", published, ours)


def _of_conditions(example: Example, device: str | None, folders: Folders) -> Beside:
    from rrgmetrics.backends.chexbert import load_chexbert
    from rrgmetrics.labels.conditions import Status, load_conditions

    names = load_conditions().names
    texts, _ = example.texts(folders)
    readings = load_chexbert(device=device).annotate(texts)
    for condition, reading in zip(example.conditions, readings, strict=True):
        status = reading.statuses[names.index(condition)]
        yield condition, 1.0, float(status in (Status.POSITIVE, Status.UNCERTAIN))


def compare(example: Example, pairs: Sequence[tuple[str, float, float]]) -> Remark:
    """Compares published values with ours: key, published, ours."""
    differences = np.abs([published - ours for _, published, ours in pairs])
    worst = int(np.argmax(np.where(np.isnan(differences), np.inf, differences)))
    key, published, ours = pairs[worst]
    wrong = int(np.sum(~(differences <= example.within)))
    if wrong:
        return Remark(
            "fault",
            f"{wrong} of {counted(len(pairs), 'value')} of {example.source} differ by more than "
            f"{example.within:g}; the largest, {key}: published {published:.6g}, here {ours:.6g}.",
        )
    are = "is" if len(pairs) == 1 else "are"
    return Remark(
        "ok",
        f"{counted(len(pairs), 'value')} of {example.source} {are} reproduced; the largest difference is "
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
        return Remark("fault", "The weights load, but return no number for an invented pair.")
    return Remark("ok", f"The weights load and give {value:.4g} for an invented pair.")
