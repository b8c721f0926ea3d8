"""Reports → labelled pairs in a Parquet file, in shards, so that a run that was stopped goes on where it was.

Shards wait in a folder beside the output and leave when it is whole.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.synthesis.labels import READER, labeller_for
from rrgmetrics.synthesis.likeness import BERTSCORE
from rrgmetrics.synthesis.plan import (
    HELD_OUT,
    RADGRAPH,
    SHARD_SIZE,
    WEIGHTS,
    Plan,
    check_plan,
    count_pairs,
    parse_pairs,
    parse_ways,
)
from rrgmetrics.synthesis.shards import METADATA, Outcomes, make_shards, merge_shards, write_neighbours
from rrgmetrics.synthesis.sources import Collection
from rrgmetrics.synthesis.written import writer_for
from rrgmetrics.utils.text_format import counted

PLAN_FILE = "plan.json"
__all__ = ["WEIGHTS", "Synthesis", "outcome_lines", "parse_pairs", "parse_ways", "provenance", "synthesize"]


@dataclass(frozen=True)
class Synthesis:
    """What a run made.

    Attributes:
        path: The file.
        outcomes: By way: `pairs` in the file, `not_made` (the report offers none), `unlabelled`, `doubled`.
    """

    path: Path
    outcomes: Outcomes

    @property
    def n_pairs(self) -> int:
        """The number of pairs in the file."""
        return sum(outcome["pairs"] for outcome in self.outcomes.values())


def synthesize(
    collection: Collection,
    output: str | Path,
    *,
    n_pairs: int | Literal["each"],
    ways: Mapping[str, float] | None = None,
    outputs: Mapping[str, Sequence[str]] | None = None,
    labels: str = READER,
    seed: int = 0,
    held_out: tuple[float, float] = HELD_OUT,
    distractors: float = 0.0,
    hands: float = 0.0,
    affirmed: bool = False,
    writer: str = "",
    bertscore: str = BERTSCORE,
    radgraph: str = RADGRAPH,
    n_jobs: int = 1,
    shard_size: int = SHARD_SIZE,
    force: bool = False,
    progress: bool = True,
) -> Synthesis:
    """Makes labelled pairs from reports and writes them as Parquet (columns: `pairs.Row`).

    Args:
        collection: The reports (`load_collection`).
        output: Where to; ends in .parquet. Shards wait beside it in `<name>.shards` until it is whole.
        n_pairs: Pairs wanted in all; a report may not offer what is asked of it, so a file can have fewer. "each" asks
            every way for one candidate of each report: then the ways are systems on the same studies.
        ways: Weight of each way of pairing (`WEIGHTS`); None takes all that the reports allow.
        outputs: A report generator's outputs by study (`read_outputs`), for the way `generated`.
        labels: `reader`, `injected`, or a judge (`labeller_for`).
        seed: Of every draw.
        held_out: Shares of the reports for validation and test.
        distractors: Share of texts that get words from outside the lexicon, which change no finding.
        hands: Share of texts that another hand rewrites: terse, abbreviated, mistyped and so on.
        affirmed: Whether the file holds only the sentences that affirm a finding, as the bundled CREPE reads them, and
            the errors that stand there; penalties, which it counts by itself, are no part of the labels.
        writer: The engine that writes candidates, for the ways `written`, `written_edited`, `written_added` and
            `written_removed` (`writer_for`).
        bertscore: The BERTScore of the way `nearest_bertscore`: `bertscore`, `bertscore@paper`.
        radgraph: Whose graphs the way `permuted_radgraph` permutes: `radgraph_f1` the reader's, `radgraph_f1@radgraph`,
            `radgraph_f1@graphs:FILE`.
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
    counts = count_pairs(collection, outputs, ways, n_pairs)
    plan = Plan(
        collection,
        counts,
        outputs,
        labels,
        seed,
        held_out,
        shard_size,
        distractors=distractors,
        hands=hands,
        affirmed=affirmed,
        writer=writer,
        bertscore=bertscore,
        radgraph=radgraph,
    )
    check_plan(plan, n_jobs)
    labeller = labeller_for(labels, progress=progress, penalties=not affirmed)
    author = writer_for(writer, progress=progress) if writer else None
    facts = plan.facts(labeller, author)
    folder = path.with_name(f"{path.name}.shards")
    _open(folder, facts, force)
    write_neighbours(plan, folder)
    make_shards(plan, folder, labeller, n_jobs, progress, author)
    outcomes = merge_shards(plan, folder, path, facts, force)
    shutil.rmtree(folder)
    return Synthesis(path, outcomes)


def outcome_lines(made: Synthesis, collection: Collection) -> list[str]:
    """Returns what became of the pairs that are not in the file, and of the reports that were left out, in words."""
    lines = []
    if collection.n_blank:
        lines.append(f"{collection.n_blank:,} blank reports of {collection.name} left out.")
    reasons = {
        "not_made": "not made, because the report does not allow them",
        "unlabelled": "left out, because the label is missing",
        "doubled": "left out, because the same pair exists already",
    }
    for outcome, reason in reasons.items():
        ways = {way: counts[outcome] for way, counts in made.outcomes.items() if counts[outcome]}
        if ways:
            each = ", ".join(f"{way} {n:,}" for way, n in ways.items())
            lines.append(f"{counted(sum(ways.values()), 'pair')} {reason} ({each}).")
    lines.append(f"Pairs: {made.path}")
    if sum(counts["pairs"] > 0 for counts in made.outcomes.values()) > 1:
        lines.append(f"To compare the ways as systems, run:\n  rrgmetrics compare {made.path} --by pairing")
    return lines


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
                f"{folder} contains shards of a run with other arguments (another {', '.join(other)}); use the same "
                "arguments to resume it, remove it, or pass force=True to start again."
            )
        shutil.rmtree(folder)
    folder.mkdir()
    files.write_json(file, facts)


def provenance(path: str | Path) -> dict[str, object]:
    """Returns what a file of pairs was made from and how, and what became of the pairs by way.

    Raises:
        InputError: No such file, or not one of `synthesize`.
    """
    from pyarrow import ArrowException, parquet

    try:
        metadata = parquet.read_metadata(path).metadata or {}
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None
    if METADATA not in metadata:
        raise InputError(
            f"{path} does not contain the arguments it was made with; `rrgmetrics synthesize` writes such files."
        )
    facts: dict[str, Any] = json.loads(metadata[METADATA])
    return facts
