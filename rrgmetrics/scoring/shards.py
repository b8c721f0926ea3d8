"""Parts of a job, and how they are merged into the result of a single run.

A part is a run of consecutive pairs. Its file (`rrgmetrics.files.stored`) holds the statistics of each pair, and
describes the whole job: the number of pairs, and checksums of all texts. Corpus scores, intervals and tests only depend
on the statistics, so they equal those of a single run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.files import PathLike, Studies
from rrgmetrics.files.labels import some
from rrgmetrics.files.stored import count_rows, read_facts, read_stored, reading, storing
from rrgmetrics.reports import Pair
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.results import Result, difference, per_pair_columns, restored

_SHARD = re.compile(r"(\d+)/(\d+)")


class Shard(NamedTuple):
    """One of the parts of a job: number 1 to `of`."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def rows(self, n_pairs: int) -> slice:
        """The pairs of the part, of so many in all; parts differ by one pair at most."""
        return slice(n_pairs * (self.number - 1) // self.of, n_pairs * self.number // self.of)


class Whole(NamedTuple):
    """What a part is a part of.

    Attributes:
        system: Whose reports they are.
        n_pairs: Pairs of all parts.
        references: Checksum of all references with their contexts and ids.
        data: Checksum of all candidates too.
    """

    system: str
    n_pairs: int
    references: str
    data: str


class Part(NamedTuple):
    """A file and what it says of itself."""

    path: Path
    shard: Shard
    whole: Whole
    metrics: Mapping[str, str]


class Merged(NamedTuple):
    """The whole of a system's parts."""

    whole: Whole
    study_ids: list[str] | None
    results: dict[str, Result]


def parse_shard(text: str) -> Shard:
    """Reads `3/16`.

    Raises:
        InputError: Anything else, or a number that is not among the parts.

    Example:
        >>> parse_shard("3/16").rows(100)
        slice(12, 18, None)
    """
    match = _SHARD.fullmatch(text.strip())
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise InputError(f"--shard is {text!r}; write NUMBER/PARTS, from 1/16 to 16/16 for sixteen parts.")
    return Shard(int(match[1]), int(match[2]))


def whole_of(system: str, studies: Studies) -> Whole:
    """Describes a job by its pairs."""
    described = Description()
    described.add(zip(studies.study_ids or [""] * len(studies.pairs), studies.pairs, strict=True))
    return described.whole(system)


class Description:
    """What is known of a job's pairs, which are added as they come."""

    def __init__(self) -> None:
        self._n_pairs = 0
        self._references, self._candidates = hashlib.sha256(), hashlib.sha256()

    def add(self, pairs: Iterable[tuple[str, Pair]]) -> None:
        """Adds pairs, each after its id or ""."""
        for study_id, pair in pairs:
            self._n_pairs += 1
            self._references.update(_line((study_id, pair.reference, *pair.context)))
            self._candidates.update(_line((pair.candidate,)))

    def whole(self, system: str) -> Whole:
        """Describes the pairs so far."""
        references, candidates = (_short(digest) for digest in (self._references, self._candidates))
        return Whole(system, self._n_pairs, references, _checksum([(references, candidates)]))


def check_shard(shard: Shard, n_pairs: int) -> None:
    """Raises InputError if some part would hold no pair."""
    if shard.of > n_pairs:
        raise InputError(f"--shard {shard}: there are only {n_pairs:,} pairs; use at most as many parts.")


def write_part(
    path: PathLike,
    shard: Shard,
    whole: Whole,
    results: Mapping[str, Result],
    study_ids: Sequence[str] | None,
    *,
    force: bool = False,
) -> None:
    """Writes the results of one part, which any reader of Parquet takes for a table of scores.

    Args:
        path: A file that ends in .parquet.
        shard: Which part.
        whole: Of what.
        results: By metric, of the pairs of the part.
        study_ids: Of these pairs.
        force: Whether a file on disk may be replaced.
    """
    facts = {"part": [*shard], "whole": whole._asdict(), "metrics": {name: r.signature for name, r in results.items()}}
    columns: dict[str, Any] = {"study_id": study_ids} if study_ids is not None else {}
    with storing(path, facts, force=force) as file:
        file.add({name: result.stored for name, result in results.items()}, columns | per_pair_columns(results))


def merge(paths: Sequence[PathLike]) -> dict[str, Merged]:
    """Joins the parts of one or several systems.

    Args:
        paths: Files of all parts, in any order.

    Returns:
        For each system, in the order in which they are first named, what one run would have given.

    Raises:
        InputError: A file that is no part, a part that is missing, doubled, or of something else; all are named.
    """
    parts: dict[str, list[Part]] = {}
    for path in paths:
        part = _read_part(Path(path))
        parts.setdefault(part.whole.system, []).append(part)
    for own in parts.values():
        _check_one_job(own)
    first = next(iter(parts.values()))[0]
    for own in parts.values():
        if len(parts) > 1 and not own[0].whole.references:
            raise InputError(
                f"{own[0].path} does not record which studies it is of; systems are compared from files that "
                "score --shard or --stream has written."
            )
        if own[0].whole.references != first.whole.references:
            raise InputError(
                f"{own[0].path} and {first.path} have other references or ids, or the same in another order; systems "
                "are compared on the same studies in the same order."
            )
        _check_same_metrics(first, own[0])
    merged = {system: _merged(own) for system, own in parts.items()}
    _check_comparable(merged)
    return merged


def _read_part(path: Path) -> Part:
    facts = read_facts(path)
    if "part" not in facts:  # of Result.save: whole, without its references
        return Part(path, Shard(1, 1), Whole(path.stem, count_rows(path), "", ""), facts["metrics"])
    with reading(path, "which part it is of what"):
        shard, whole = Shard(*facts["part"]), Whole(**facts["whole"])
        whole = whole._replace(system=whole.system or path.stem)  # a stream does not name its system
        kinds = [*map(type, shard), *map(type, whole)]
        if kinds != [int, int, str, int, str, str] or not 1 <= shard.number <= shard.of <= whole.n_pairs:
            raise ValueError("no numbers of a part")
    return Part(path, shard, whole, facts["metrics"])


def _check_one_job(parts: Sequence[Part]) -> None:
    """Raises InputError unless these are all parts of one job, each once."""
    first = parts[0]
    seen: dict[int, Path] = {}
    for part in parts:
        if part.shard.of != first.shard.of:
            raise InputError(f"{part.path} is part {part.shard} and {first.path} is part {first.shard}.")
        if part.whole != first.whole:
            what = "references" if part.whole.references != first.whole.references else "reports of the system"
            raise InputError(
                f"{part.path} was scored on other data than {first.path}: the {what} of all {part.whole.n_pairs:,} "
                f"pairs differ from those of the other's {first.whole.n_pairs:,}."
            )
        _check_same_metrics(first, part)
        if part.shard.number in seen:
            raise InputError(
                f"{part.path} and {seen[part.shard.number]} are both part {part.shard}; name only one of them."
            )
        seen[part.shard.number] = part.path
    missing = [str(Shard(number, first.shard.of)) for number in range(1, first.shard.of + 1) if number not in seen]
    if missing:
        raise InputError(
            f"{len(missing)} of {first.shard.of} parts of {first.whole.system} are missing: "
            f"{some(missing).replace(chr(39), '')}; score each with --shard."
        )


def _check_same_metrics(first: Part, part: Part) -> None:
    for one, other in ((first, part), (part, first)):
        only = [name for name in one.metrics if name not in other.metrics]
        if only:
            raise InputError(
                f"{one.path} has the metrics {some(only)} and {other.path} does not; score the same metrics."
            )


def _merged(parts: Sequence[Part]) -> Merged:
    """Joins the parts of one system, in the order of their pairs."""
    ordered = sorted(parts, key=lambda part: part.shard)
    results: list[dict[str, Result]] = []
    study_ids: list[str] | None = []
    for part in ordered:
        stored = read_stored(part.path)
        own = restored(stored, part.path)
        expected = part.shard.rows(part.whole.n_pairs)
        for name, result in own.items():
            if result.n_pairs != expected.stop - expected.start:
                raise InputError(
                    f"{part.path} has {result.n_pairs:,} of {expected.stop - expected.start:,} pairs; score it again."
                )
            if results and (other := difference(results[0][name], result)):
                raise InputError(f"{part.path} was scored differently from {ordered[0].path}: {other}.")
        results.append(own)
        study_ids = None if stored.study_ids is None or study_ids is None else study_ids + stored.study_ids
    joined = {name: _whole(Result.merge([own[name] for own in results])) for name in results[0]}
    return Merged(parts[0].whole, study_ids, joined)


def _whole(result: Result) -> Result:
    """The result of all pairs, whose references are those that statistics were counted over: it need not say so."""
    return replace(result, signature=signature.rewrite(result.signature, {"statistics": ""}))


def _check_comparable(merged: Mapping[str, Merged]) -> None:
    """Raises InputError if two systems were scored otherwise."""
    (first, base), *others = merged.items()
    for system, own in others:
        for name, result in own.results.items():
            if other := difference(base.results[name], result):
                raise InputError(f"{system} was scored differently from {first}: {other}.")


def _checksum(rows: Iterable[Sequence[Any]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(_line(row))
    return _short(digest)


def _line(row: Sequence[Any]) -> bytes:
    return "\x1f".join(map(str, row)).encode() + b"\x1e"


def _short(digest: hashlib._Hash) -> str:
    return digest.hexdigest()[:16]


def checksum_of(references: Iterable[Pair]) -> str:
    """Returns a checksum of references alone, by which the counts made of them are known again."""
    return _checksum((pair.reference,) for pair in references)
