"""Reports → labelled pairs in a Parquet file, in shards, so that a run that was stopped goes on where it was.

Every pair has a seed of its own, made from the run's seed, the way of pairing and its number: what is in a file depends
neither on the number of processes nor on interruptions. Shards wait in a folder beside the output and leave when it is
whole.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.synthesis.edits import wording_sha256
from rrgmetrics.synthesis.foreign import add_foreign_words
from rrgmetrics.synthesis.labels import INJECTED, READER, Labeller, labeller_for
from rrgmetrics.synthesis.pairing import NEAREST_AMONG, WAYS, Pool, find_neighbours
from rrgmetrics.synthesis.pairs import (
    Draft,
    Row,
    identity,
    row_of,
    schema,
    seed_of,
    split_of,
)
from rrgmetrics.synthesis.sources import Collection
from rrgmetrics.version import VERSION

COMPOSED = "composed"  # pairs that our generator makes whole
# GREEN takes a fifth of each: random, removed or shuffled, generated, nearest, permuted.
WEIGHTS = {
    "random": 2.0,
    "removed": 1.0,
    "shuffled": 1.0,
    "generated": 2.0,
    "nearest": 2.0,
    "permuted": 2.0,
    "paraphrased": 1.0,
    COMPOSED: 4.0,
}
SHARD_SIZE = 2_000  # pairs
HELD_OUT = (0.1, 0.1)  # validation, test
PLAN_FILE, NEIGHBOURS_FILE = "plan.json", "neighbours.npy"
METADATA = b"rrgmetrics"
OUTCOMES = ("pairs", "not_made", "unlabelled", "doubled")


@dataclass(frozen=True)
class Plan:
    """Everything a run's pairs depend on.

    Attributes:
        collection: The reports.
        counts: Pairs wanted by way.
        outputs: A report generator's outputs by study.
        labels: Who counts the errors (`labeller_for`).
        seed: Of the run.
        held_out: Shares of validation and test.
        shard_size: Pairs a shard.
        foreign: Share of texts that get words from outside the lexicon.
    """

    collection: Collection
    counts: Mapping[str, int]
    outputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: str = READER
    seed: int = 0
    held_out: tuple[float, float] = HELD_OUT
    shard_size: int = SHARD_SIZE
    foreign: float = 0.0

    @cached_property
    def n_shards(self) -> int:
        """Shards in all."""
        return -(-sum(self.counts.values()) // self.shard_size)

    @cached_property
    def splits(self) -> list[Any]:
        """The part of the data of each report."""
        return [split_of(report.text, self.held_out) for report in self.collection.reports]

    def order(self, way: str) -> list[int]:
        """The references of a way, in the order in which they take their turns: the same for all ways."""
        reports = self.collection.reports
        order = list(range(len(reports)))
        Random(self.seed).shuffle(order)
        if way == "generated":
            return [i for i in order if reports[i].study_id in self.outputs]
        return order[:NEAREST_AMONG] if way == "nearest" else order

    def numbers(self, way: str, shard: int) -> range:
        """The numbers of the pairs of a way that a shard holds."""
        n = self.counts[way]
        return range(n * shard // self.n_shards, n * (shard + 1) // self.n_shards)

    def facts(self, labeller: Labeller) -> dict[str, Any]:
        """What stands in the file's metadata; runs of equal facts make equal files."""
        outputs = [part for study, reports in sorted(self.outputs.items()) for part in (study, *reports)]
        return {
            "rrgmetrics": VERSION,
            "source": self.collection.name,
            "source_sha256": self.collection.sha256,
            "n_reports": len(self.collection.reports),
            "outputs_sha256": identity(outputs) if outputs else "",
            "wanted": dict(self.counts),
            "label_source": labeller.source,
            "label_version": labeller.version,
            "wording_sha256": wording_sha256()[:8],
            "seed": self.seed,
            "held_out": list(self.held_out),
            "shard_size": self.shard_size,
            "foreign": self.foreign,
        }


@dataclass(frozen=True)
class Synthesis:
    """What a run made.

    Attributes:
        path: The file.
        outcomes: By way: `pairs` in the file, `not_made` (the report offers none), `unlabelled`, `doubled`.
    """

    path: Path
    outcomes: Mapping[str, Mapping[str, int]]

    @property
    def n_pairs(self) -> int:
        """Pairs in the file."""
        return sum(outcome["pairs"] for outcome in self.outcomes.values())


def synthesize(
    collection: Collection,
    output: str | Path,
    *,
    n_pairs: int,
    ways: Mapping[str, float] | None = None,
    outputs: Mapping[str, Sequence[str]] | None = None,
    labels: str = READER,
    seed: int = 0,
    held_out: tuple[float, float] = HELD_OUT,
    foreign: float = 0.0,
    n_jobs: int = 1,
    shard_size: int = SHARD_SIZE,
    force: bool = False,
    progress: bool = True,
) -> Synthesis:
    """Makes labelled pairs from reports and writes them as Parquet (columns: `pairs.Row`).

    Args:
        collection: The reports (`load_collection`).
        output: Where to; ends in .parquet. Shards wait beside it in `<name>.shards` until it is whole.
        n_pairs: Pairs wanted in all; a report may not offer what is asked of it, so a file can have fewer.
        ways: Weight of each way of pairing (`WEIGHTS`); None takes all that the reports allow.
        outputs: A report generator's outputs by study (`read_outputs`), for the way `generated`.
        labels: `reader`, `injected`, or a judge (`labeller_for`).
        seed: Of every draw.
        held_out: Shares of the reports for validation and test.
        foreign: Share of texts that get words from outside the lexicon, which change no finding (`foreign`).
        n_jobs: Processes; with more than one the caller's script needs `if __name__ == "__main__":`.
        shard_size: Pairs a shard: what is lost at most if a process is stopped.
        force: Whether the output, and shards of another run, may be replaced.
        progress: Whether to show a bar.

    Returns:
        What was made, by way.

    Raises:
        InputError: An argument that cannot be used, a file that exists, shards of another run, or no pair at all.
        BackendError: The judge is not there.
    """
    path = Path(output)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"{path} must end in .parquet.")
    files.check_outputs(tables=[path], force=force)
    outputs = outputs or {}
    counts = _counts(collection, outputs, ways, n_pairs)
    plan = Plan(collection, counts, outputs, labels, seed, held_out, shard_size, foreign)
    _check(plan, n_jobs)
    labeller = labeller_for(labels, progress=progress)
    facts = plan.facts(labeller)
    folder = path.with_name(f"{path.name}.shards")
    _open(folder, facts, force)
    if plan.counts.get("nearest") and not (folder / NEIGHBOURS_FILE).exists():
        _write_neighbours(plan, folder)
    _make_shards(plan, folder, labeller, n_jobs, progress)
    outcomes = _merge(plan, folder, path, facts, force)
    shutil.rmtree(folder)
    return Synthesis(path, outcomes)


def parse_ways(texts: Sequence[str]) -> dict[str, float]:
    """Reads ways of pairing as the command line has them; without a weight a way has that of `WEIGHTS`.

    Raises:
        InputError: A way that stands twice or does not exist, or a weight that is no number.

    Example:
        >>> parse_ways(["random", "permuted:5"])
        {'random': 2.0, 'permuted': 5.0}
    """
    ways: dict[str, float] = {}
    for way, colon, weight in (text.partition(":") for text in texts):
        _check_way(way)
        if way in ways:
            raise InputError(f"The way {way!r} is given twice.")
        try:
            ways[way] = float(weight) if colon else WEIGHTS[way]
        except ValueError:
            raise InputError(f"The weight {weight!r} of the way {way!r} is no number; write {way}:2.") from None
    return ways


def _check_way(way: str) -> None:
    if way not in WEIGHTS:
        raise InputError(f"There is no way of pairing {way!r}; there are: {', '.join(WEIGHTS)}.")


def outcome_lines(made: Synthesis, collection: Collection) -> list[str]:
    """What became of the pairs that are not in the file, and of the reports that were left out, in words."""
    lines = []
    if collection.n_blank:
        lines.append(f"{collection.n_blank:,} blank reports of {collection.name} left out.")
    reasons = {
        "not_made": "not made, because the report offers none",
        "unlabelled": "left out, because there is no label for them",
        "doubled": "left out, because they are there already",
    }
    for outcome, reason in reasons.items():
        ways = {way: counts[outcome] for way, counts in made.outcomes.items() if counts[outcome]}
        if ways:
            each = ", ".join(f"{way} {n:,}" for way, n in ways.items())
            lines.append(f"{sum(ways.values()):,} pairs {reason} ({each}).")
    return [*lines, f"Pairs: {made.path}"]


def _counts(
    collection: Collection, outputs: Mapping[str, Any], ways: Mapping[str, float] | None, n_pairs: int
) -> dict[str, int]:
    """Pairs by way, in proportion to the weights."""
    possible = {
        way: weight
        for way, weight in WEIGHTS.items()
        if (way != "generated" or outputs) and (way != COMPOSED or collection.is_generated)
    }
    weights = dict(possible if ways is None else ways)
    for way, weight in weights.items():
        _check_way(way)
        if way not in possible:
            need = "a report generator's outputs (--generated)" if way == "generated" else "the source generator:<n>"
            raise InputError(f"The way {way!r} needs {need}.")
        if not 0 < weight < float("inf"):
            raise InputError(f"The way {way!r} has the weight {weight:g}; give a number above 0, or leave it out.")
    if n_pairs < len(weights) or not weights:
        raise InputError(f"{n_pairs} pairs cannot be spread over {len(weights)} ways; ask for more pairs.")
    total, done, counts = sum(weights.values()), 0.0, dict[str, int]()
    for way, weight in weights.items():  # rounded sums, not rounded parts: they add up
        counts[way] = round(n_pairs * (done + weight) / total) - round(n_pairs * done / total)
        done += weight
    return counts


def _check(plan: Plan, n_jobs: int) -> None:
    if n_jobs < 1 or plan.shard_size < 1:
        raise InputError("The numbers of processes and of pairs a shard must be at least 1.")
    if n_jobs > 1 and plan.labels not in (READER, INJECTED):
        raise InputError("A judge's labels are made in one process (its engine asks in parallel); leave --jobs out.")
    if not 0 <= plan.foreign <= 1:
        raise InputError(f"The share of texts with foreign words is {plan.foreign}; it lies between 0 and 1.")
    if min(plan.held_out) < 0 or sum(plan.held_out) >= 1:
        raise InputError(f"The held-out shares {plan.held_out} must not be negative, and leave something to train on.")
    known = {report.study_id for report in plan.collection.reports}
    if plan.counts.get("generated") and known.isdisjoint(plan.outputs):
        raise InputError(
            f"None of the {len(plan.outputs):,} studies of the generator's outputs is among the {len(known):,} of "
            f"{plan.collection.name}; they are joined by study_id."
        )


def _open(folder: Path, facts: Mapping[str, Any], force: bool) -> None:
    """Opens the folder of shards, empty or of the same run."""
    file = folder / PLAN_FILE
    if folder.exists():
        try:
            before = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            before = {}
        other = [key for key, value in facts.items() if before.get(key) != value]
        if not other:
            return
        if not force:
            raise InputError(
                f"{folder} holds shards of a run with other arguments (another {', '.join(other)}); give the same "
                "arguments to go on with it, remove it, or pass --force (force=True) to begin anew."
            )
        shutil.rmtree(folder)
    folder.mkdir()
    files.write_json(file, facts)


def _write_neighbours(plan: Plan, folder: Path) -> None:
    texts = [report.text for report in plan.collection.reports]
    found = find_neighbours(texts, plan.splits, plan.order("nearest"))
    part = folder / f".{NEIGHBOURS_FILE}"
    with part.open("wb") as file:
        np.save(file, found)
    part.replace(folder / NEIGHBOURS_FILE)


# --- shards -----------------------------------------------------------------------------------------------------------


class Maker:
    """Makes the shards of a plan; one a process."""

    def __init__(self, plan: Plan, folder: Path, labeller: Labeller) -> None:
        self.plan, self.folder, self.labeller = plan, folder, labeller
        file = folder / NEIGHBOURS_FILE
        neighbours = np.load(file, mmap_mode="r") if file.exists() else None
        self.pool = Pool(plan.collection.reports, plan.splits, plan.outputs, neighbours)
        self.orders = {way: plan.order(way) for way in plan.counts if way != COMPOSED}

    def make(self, shard: int) -> None:
        """Makes one shard and writes it; what is written is whole."""
        rows: list[Row] = []
        outcomes: dict[str, dict[str, int]] = {}
        for way in self.plan.counts:
            numbers = self.plan.numbers(way, shard)
            drafts = list(self._composed(numbers) if way == COMPOSED else self._drafts(way, numbers))
            splits = [split_of(draft.reference, self.plan.held_out) for draft in drafts]
            drafts = [self._with_foreign_words(draft) for draft in drafts]
            labels = self.labeller.label(drafts)
            labelled = [self._row(*each) for each in zip(drafts, labels, splits, strict=True)]
            made = [row for row in labelled if row is not None]
            rows += made
            outcomes[way] = {"not_made": len(numbers) - len(drafts), "unlabelled": len(drafts) - len(made)}
        _write(shard_path(self.folder, shard), rows, outcomes)

    def _drafts(self, way: str, numbers: range) -> Iterator[Draft]:
        order, reports = self.orders[way], self.plan.collection.reports
        for number in numbers:
            turn, place = divmod(number, len(order))
            index, seed = order[place], seed_of(self.plan.seed, way, number)
            candidate = WAYS[way](self.pool, index, Random(seed), turn)
            if candidate is not None:
                report = reports[index]
                style = report.style if candidate.style in ("", report.style) else f"{report.style}>{candidate.style}"
                yield Draft(report.text, candidate.text, report.study_id, way, seed, style, candidate.injected)

    def _composed(self, numbers: range) -> Iterator[Draft]:
        from rrgmetrics.synthesis.generator import generate_pairs

        pairs = generate_pairs(len(numbers), seed=self.plan.seed, start=numbers.start)
        for number, pair in zip(numbers, islice(pairs, len(numbers)), strict=True):
            yield Draft(
                reference=pair.reference,
                candidate=pair.candidate,
                study_id=f"composed-{self.plan.seed}-{number}",
                pairing=COMPOSED,
                seed=self.plan.seed,
                style=f"{pair.way}:{'>'.join(pair.styles)}",
                injected=tuple(pair.injected),
            )

    def _with_foreign_words(self, draft: Draft) -> Draft:
        if not self.plan.foreign:
            return draft
        rng = Random(f"{draft.seed} {draft.study_id} {draft.pairing}")
        reference, candidate = (
            add_foreign_words(text, rng) if rng.random() < self.plan.foreign else text
            for text in (draft.reference, draft.candidate)
        )
        return draft._replace(reference=reference, candidate=candidate)

    def _row(self, draft: Draft, label: Any, split: str) -> Row | None:
        if label is None:
            return None
        return row_of(
            draft,
            label,
            source=self.plan.collection.name,
            label_source=self.labeller.source,
            label_version=self.labeller.version,
            split=split,
        )


def shard_path(folder: Path, shard: int) -> Path:
    """Where a shard lies."""
    return folder / f"{shard:06d}.parquet"


def _write(path: Path, rows: Sequence[Row], outcomes: Mapping[str, Any]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = zip(*rows, strict=True) if rows else ((),) * len(Row._fields)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, schema(), strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema().with_metadata({METADATA: json.dumps(outcomes)}))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    parquet.write_table(table, part)
    part.replace(path)


_maker: Maker | None = None  # of a worker process


def _begin(plan: Plan, folder: Path) -> None:
    global _maker
    _maker = Maker(plan, folder, labeller_for(plan.labels, progress=False))


def _work(shard: int) -> None:
    if _maker is not None:
        _maker.make(shard)


def _make_shards(plan: Plan, folder: Path, labeller: Labeller, n_jobs: int, progress: bool) -> None:
    """Makes the shards that are not there yet."""
    from tqdm import tqdm

    missing = [shard for shard in range(plan.n_shards) if not shard_path(folder, shard).exists()]
    there = plan.n_shards - len(missing)
    with tqdm(total=plan.n_shards, initial=there, unit="shard", disable=not progress) as bar:
        if n_jobs == 1 or len(missing) < 2:
            maker = Maker(plan, folder, labeller)
            for shard in missing:
                maker.make(shard)
                bar.update()
            return
        context = get_context("spawn")  # the encoder's threads would not survive a fork
        with ProcessPoolExecutor(min(n_jobs, len(missing)), context, _begin, (plan, folder)) as workers:
            try:
                for _ in workers.map(_work, missing):
                    bar.update()
            except BaseException:
                workers.shutdown(wait=False, cancel_futures=True)
                raise


def _merge(plan: Plan, folder: Path, path: Path, facts: Mapping[str, Any], force: bool) -> dict[str, dict[str, int]]:
    """Puts the shards into one file; a pair that was made twice is in it once."""
    from pyarrow import parquet

    outcomes = {way: Counter[str](dict.fromkeys(OUTCOMES, 0)) for way in plan.counts}
    seen: set[int] = set()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with parquet.ParquetWriter(part, schema()) as writer:
            for shard in range(plan.n_shards):
                table = parquet.read_table(shard_path(folder, shard))
                for way, counts in json.loads(table.schema.metadata[METADATA]).items():
                    outcomes[way].update(counts)
                keep = _first_time(table, seen, outcomes)
                writer.write_table(table.filter(keep).replace_schema_metadata(None))
            writer.add_key_value_metadata({METADATA.decode(): json.dumps({**facts, "outcomes": outcomes})})
        if not seen:
            raise InputError(_nothing(outcomes, plan.labels))
        files.check_outputs(tables=[path], force=force)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return {way: dict(counts) for way, counts in outcomes.items()}


def _first_time(table: Any, seen: set[int], outcomes: Mapping[str, Counter[str]]) -> Any:
    import pyarrow as pa

    keep: list[bool] = []
    columns = (table[name].to_pylist() for name in ("reference", "candidate", "pairing"))
    for reference, candidate, way in zip(*columns, strict=True):
        key = seed_of(identity((reference, candidate)))
        keep.append(key not in seen)
        outcomes[way]["pairs" if keep[-1] else "doubled"] += 1
        seen.add(key)
    return pa.array(keep, pa.bool_())


def _nothing(outcomes: Mapping[str, Mapping[str, int]], labels: str) -> str:
    unlabelled = sum(counts["unlabelled"] for counts in outcomes.values())
    if unlabelled:
        return f"{labels} has a label for none of the {unlabelled:,} pairs; nothing was written."
    return "The reports offer no pair in any of these ways: each has one sentence, or all are alike. Give more reports."


def provenance(path: str | Path) -> dict[str, Any]:
    """What a file of pairs was made from and how, and what became of the pairs by way.

    Raises:
        InputError: No such file, or not one of `synthesize`.
    """
    from pyarrow import ArrowException, parquet

    try:
        metadata = parquet.read_metadata(path).metadata or {}
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None
    if METADATA not in metadata:
        raise InputError(f"{path} does not say how it was made; `rrgmetrics synthesize` makes such files.")
    facts: dict[str, Any] = json.loads(metadata[METADATA])
    return facts
