"""Shards: the parts that a file of pairs is made in, each whole as soon as it is there.

Every pair has a seed of its own, made from the run's seed, the way of pairing and its number: what is in a file depends
neither on the number of processes nor on interruptions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.labels.graph import Graph
from rrgmetrics.labels.positive_sentences import affirmed
from rrgmetrics.reading.lexicon import folder_in_use, start_with
from rrgmetrics.synthesis.edits.distractors import add_distractors
from rrgmetrics.synthesis.edits.hands import in_another_hand
from rrgmetrics.synthesis.generator import generate_pairs
from rrgmetrics.synthesis.labels import Labeller, labeller_for
from rrgmetrics.synthesis.likeness import by_bertscore, by_mean_vector
from rrgmetrics.synthesis.pairing import WAYS, Pool, find_neighbours
from rrgmetrics.synthesis.pairs import (
    CANDIDATE,
    REFERENCE,
    Draft,
    Label,
    Row,
    identity,
    row_of,
    schema,
    seed_of,
    split_of,
)
from rrgmetrics.synthesis.plan import COMPOSED, Plan
from rrgmetrics.synthesis.readings import reading_of
from rrgmetrics.synthesis.written import KINDS, Writer

if TYPE_CHECKING:
    from rrgmetrics.scoring.prepared import Metrics

NEIGHBOURS_FILES = {"nearest": "neighbours.npy", "nearest_bertscore": "nearest_bertscore.npy"}  # by way
METADATA = b"rrgmetrics"
OUTCOMES = ("pairs", "not_made", "unlabelled", "doubled")
Outcomes = Mapping[str, Mapping[str, int]]  # how many pairs of each way had each of `OUTCOMES`


class Maker:
    """Makes the shards of a plan; one a process."""

    def __init__(self, plan: Plan, folder: Path, labeller: Labeller, writer: Writer | None = None) -> None:
        self.plan, self.folder, self.labeller, self.writer = plan, folder, labeller, writer
        files_of = (folder / name for name in NEIGHBOURS_FILES.values())
        neighbours, nearest = (np.load(file, mmap_mode="r") if file.exists() else None for file in files_of)
        self.pool = Pool(plan.collection.reports, plan.splits, plan.outputs, neighbours, nearest)
        self._radgraph: Metrics | None = None
        self.orders = {way: plan.order(way) for way in plan.counts if way != COMPOSED}

    def make(self, shard: int) -> None:
        """Makes one shard and writes it; what is written is whole."""
        rows: list[Row] = []
        outcomes: dict[str, dict[str, int]] = {}
        for way in self.plan.counts:
            numbers = self.plan.numbers(way, shard)
            drafts = list(self._made(way, numbers))
            splits = [split_of(draft.reference, self.plan.held_out) for draft in drafts]
            drafts = [self._with_distractors(self._in_another_hand(draft)) for draft in drafts]
            labels = self.labeller.label(drafts)
            n_labelled = len(labels) - labels.count(None)
            if self.plan.affirmed:
                kept = list(map(only_affirmed, drafts, labels))
                drafts, labels = [draft for draft, _ in kept], [label for _, label in kept]
            labelled = [self._row(*each) for each in zip(drafts, labels, splits, strict=True)]
            made = [row for row in labelled if row is not None]
            rows += made
            outcomes[way] = {
                "not_made": len(numbers) - len(drafts) + n_labelled - len(made),
                "unlabelled": len(drafts) - n_labelled,
            }
        write_shard(shard_path(self.folder, shard), rows, outcomes)

    def _made(self, way: str, numbers: range) -> Iterator[Draft]:
        if way == COMPOSED:
            return self._composed(numbers)
        written = self.writer if way in KINDS else None
        return self._written(written, way, numbers) if written else self._drafts(way, numbers)

    def _written(self, writer: Writer, way: str, numbers: range) -> Iterator[Draft]:
        order = self.orders[way]
        reports = [self.plan.collection.reports[order[number % len(order)]] for number in numbers]
        seeds = [seed_of(self.plan.seed, way, number) for number in numbers]
        written = writer.write([report.text for report in reports], seeds, way)
        for report, seed, candidate in zip(reports, seeds, written, strict=True):
            if candidate is not None:
                text, asked = candidate
                yield Draft(report.text, text, report.study_id, way, seed, asked.style, asked.counts)

    def _drafts(self, way: str, numbers: range) -> Iterator[Draft]:
        order, reports = self.orders[way], self.plan.collection.reports
        if way == "permuted_radgraph":
            self.pool.graphs = self._graphs([reports[order[number % len(order)]].text for number in numbers])
        for number in numbers:
            turn, place = divmod(number, len(order))
            index, seed = order[place], seed_of(self.plan.seed, way, number)
            candidate = WAYS[way](self.pool, index, Random(seed), turn)
            if candidate is not None:
                report = reports[index]
                style = report.style if candidate.style in ("", report.style) else f"{report.style}>{candidate.style}"
                yield Draft(report.text, candidate.text, report.study_id, way, seed, style, candidate.injected)

    def _graphs(self, texts: Sequence[str]) -> dict[str, Graph | None]:
        """The RadGraph of each text."""
        from rrgmetrics.scoring.prepared import prepare

        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return {}
        if self._radgraph is None:
            self._radgraph = prepare([self.plan.radgraph])
        graphs = self._radgraph.annotations({self.plan.radgraph: distinct})[self.plan.radgraph]
        return dict(zip(distinct, graphs, strict=True))

    def _composed(self, numbers: range) -> Iterator[Draft]:
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

    def _in_another_hand(self, draft: Draft) -> Draft:
        rng = Random(f"hands {draft.seed} {draft.study_id} {draft.pairing}")
        reference, candidate = (
            in_another_hand(text, rng) if rng.random() < self.plan.hands else text
            for text in (draft.reference, draft.candidate)
        )
        return draft._replace(reference=reference, candidate=candidate)

    def _with_distractors(self, draft: Draft) -> Draft:
        if not self.plan.distractors:
            return draft
        rng = Random(f"{draft.seed} {draft.study_id} {draft.pairing}")
        reference, candidate = (
            add_distractors(text, rng) if rng.random() < self.plan.distractors else text
            for text in (draft.reference, draft.candidate)
        )
        return draft._replace(reference=reference, candidate=candidate)

    def _row(self, draft: Draft, label: Label | None, split: str) -> Row | None:
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


def only_affirmed(draft: Draft, label: Label | None) -> tuple[Draft, Label | None]:
    """Returns a pair as the bundled CREPE reads it: what both texts affirm, and the errors that stand there.

    Characters keep their places. An error none of whose words are left is not counted; a pair that says the same word
    for word, which no network is asked about, has no label any more.
    """
    texts = affirmed(reading_of(draft.reference)), affirmed(reading_of(draft.candidate))
    draft = draft._replace(reference=texts[REFERENCE], candidate=texts[CANDIDATE])
    if label is None or texts[REFERENCE].split() == texts[CANDIDATE].split():
        return draft, None
    there = tuple(piece for piece in label.evidence if texts[piece.text][piece.start : piece.end].strip())
    gone = Counter({piece.error: piece.category for piece in label.evidence})
    for piece in there:
        gone.pop(piece.error, None)
    lost = Counter(gone.values())
    significant = tuple(max(n - lost[c], 0.0) for c, n in enumerate(label.significant))
    left = (
        n - m + s - lost[c]
        for c, (n, m, s) in enumerate(zip(label.significant, significant, label.insignificant, strict=True))
    )
    return draft, Label(significant, tuple(max(n, 0.0) for n in left), there)


def shard_path(folder: Path, shard: int) -> Path:
    """Returns where a shard lies."""
    return folder / f"{shard:06d}.parquet"


def write_shard(path: Path, rows: Sequence[Row], outcomes: Mapping[str, Any]) -> None:
    """Writes a shard under its name as soon as it is whole."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = zip(*rows, strict=True) if rows else ((),) * len(Row._fields)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, schema(), strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema().with_metadata({METADATA: json.dumps(outcomes)}))
    with files.replacing(path, force=True) as part:
        parquet.write_table(table, part)


_maker: Maker | None = None  # of a worker process


def _begin(plan: Plan, folder: Path, lexicon: str) -> None:
    global _maker
    start_with(lexicon)
    _maker = Maker(plan, folder, labeller_for(plan.labels, progress=False, penalties=not plan.affirmed))


def _work(shard: int) -> None:
    if _maker is not None:
        _maker.make(shard)


def make_shards(
    plan: Plan, folder: Path, labeller: Labeller, n_jobs: int, progress: bool, writer: Writer | None = None
) -> None:
    """Makes the shards that are not there yet."""
    from tqdm import tqdm

    missing = [shard for shard in range(plan.n_shards) if not shard_path(folder, shard).exists()]
    there = plan.n_shards - len(missing)
    with tqdm(total=plan.n_shards, initial=there, unit="shard", disable=not progress) as bar:
        if n_jobs == 1 or len(missing) < 2:
            maker = Maker(plan, folder, labeller, writer)
            for shard in missing:
                maker.make(shard)
                bar.update()
            return
        context = get_context("spawn")  # the encoder's threads would not survive a fork
        with ProcessPoolExecutor(
            min(n_jobs, len(missing)), context, _begin, (plan, folder, folder_in_use())
        ) as workers:
            try:
                for _ in workers.map(_work, missing):
                    bar.update()
            except BaseException:
                workers.shutdown(wait=False, cancel_futures=True)
                raise


def merge_shards(plan: Plan, folder: Path, path: Path, facts: Mapping[str, Any], force: bool) -> Outcomes:
    """Puts the shards into one file; a pair that was made twice is in it once."""
    from pyarrow import parquet

    outcomes = {way: Counter[str](dict.fromkeys(OUTCOMES, 0)) for way in plan.counts}
    seen: set[int] = set()
    with files.replacing(path, force) as part:
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


def _nothing(outcomes: Outcomes, labels: str) -> str:
    unlabelled = sum(counts["unlabelled"] for counts in outcomes.values())
    if unlabelled:
        return f"{labels} has no label for any of the {unlabelled:,} pairs; nothing was written."
    return (
        "No pair can be made from these reports in any of these ways: each has one sentence, or all are equal. "
        "Pass more reports."
    )


def write_neighbours(plan: Plan, folder: Path) -> None:
    """Writes the nearest reports of each report for the ways that need them, unless they are there."""
    texts = [report.text for report in plan.collection.reports]
    for way, name in NEIGHBOURS_FILES.items():
        if not plan.counts.get(way) or (folder / name).exists():
            continue
        likeness = by_mean_vector if way == "nearest" else by_bertscore(plan.bertscore)
        neighbours = find_neighbours(texts, plan.splits, plan.order(way), likeness)
        with files.replacing(folder / name, force=True) as part, part.open("wb") as file:
            np.save(file, neighbours)
