"""Scores of data sets of any size on a Ray cluster, or on the cores of one machine (extra `ray`).

Ray Data streams blocks of rows through actors that hold prepared metrics: models are loaded once an actor, and no block
waits for another. The scores and statistics of each pair stay columns of the data set; every corpus score follows from
sums of them. A row that cannot be used, and every row of a metric that fails, is unscored with its reason.
"""

from __future__ import annotations

import glob
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rrgmetrics.errors import InputError, MissingExtraError
from rrgmetrics.files import Columns, check_columns
from rrgmetrics.files.codes import SAMPLE, check_codes
from rrgmetrics.files.columns import announce_columns, pick_columns, use_context
from rrgmetrics.files.sources import parts
from rrgmetrics.files.stored import DETAILS, STATISTICS, arrays_of, scored_of
from rrgmetrics.files.stream import read_rows, refuse_ids
from rrgmetrics.reading.lexicon import environment_of_children
from rrgmetrics.reports import report_of
from rrgmetrics.reports.missing import Missing, MissingReports, is_missing, log_lines, says_nothing
from rrgmetrics.reports.text import SAMPLED, get_normaliser
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.scoring.prepared import prepare, warn_of_sections
from rrgmetrics.scoring.results import Result, per_pair_columns
from rrgmetrics.scoring.streaming import Totals, add_results, score_reads
from rrgmetrics.specs.names import MetricName, context_of, parse_name, parse_names, uncounted
from rrgmetrics.utils.extras import install_command
from rrgmetrics.version import VERSION

try:
    import ray
    import ray.data
    from ray.data.checkpoint import CheckpointConfig
except ImportError as error:
    raise MissingExtraError(f"Ray is missing: {install_command('ray')}") from error

if TYPE_CHECKING:
    import pyarrow

SIGNATURE = " signature"
ROWS = 2_048  # that an actor is given at a time
BLOCK_BYTES = 8_000_000  # that are written, and then done, at a time: some 5,000 rows
JOB, SCORES = "job.json", "scores"  # in the folder of a job
READERS = {".parquet": "read_parquet", ".jsonl": "read_json"}


@dataclass(frozen=True)
class ScoredDataset:
    """A data set with the scores of each pair as columns; whatever Ray's data sets can do, `dataset` does.

    Attributes:
        dataset: The rows, with the columns `<metric> statistics`, `<metric> details` and `<metric> signature` beside
            the scores that people read.
        names: The metrics.
    """

    dataset: Any
    names: tuple[str, ...]

    @cached_property
    def _own(self) -> list[str]:
        return [name + kind for name in self.names for kind in (STATISTICS, DETAILS, SIGNATURE)]

    def reduce(self) -> dict[str, Totals]:
        """Computes the corpus scores of each metric, and counts what is unscored, in flat memory."""
        totals: dict[str, Totals] = {}
        for results in self._blocks():
            add_results(totals, results)
        if not totals:
            raise InputError("The data set has no rows.")
        return totals

    def results(self) -> dict[str, Result]:
        """Collects the statistics of all pairs: Results as `rrgmetrics.score` gives them, for intervals and tests."""
        blocks = list(self._blocks())
        if not blocks:
            raise InputError("The data set has no rows.")
        return {name: Result.merge([block[name] for block in blocks]) for name in self.names}

    def _blocks(self) -> Iterator[dict[str, Result]]:
        batches = self.dataset.select_columns(self._own).iter_batches(batch_format="pyarrow", batch_size=ROWS * 8)
        for table in batches:
            yield {
                name: Result.of_stats(each.stats, table[name + SIGNATURE][0].as_py(), each.details).focused(
                    parse_name(name).spec
                )
                for name, each in ((name, scored_of(table, name)) for name in self.names)
            }


def score_dataset(
    dataset: Any,
    metrics: str | Sequence[str],
    *,
    columns: Columns = None,
    statistics: Mapping[str, Frequencies] | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    concurrency: int | tuple[int, int] = (1, 2),
    num_gpus: float = 0,
    missing: Missing = "unscored",
    text: str = "",
    source: str = "The data set",
) -> ScoredDataset:
    """Scores the pairs of a Ray data set. Its ids and missing reports are checked now, the scores follow on demand.

    Args:
        dataset: With a column of references and one of candidates, optionally `study_id, age, sex, indication`.
        metrics: Metrics as in `rrgmetrics.score`.
        columns: What its columns are called.
        statistics: What `Metrics.count_references` gave for all references; None: the data set is read once for it
            where a metric (`cider`) needs it.
        batch_size: Texts per forward pass of a model.
        device: torch device of models; None takes CUDA where an actor has a GPU, else the CPU.
        concurrency: Actors, or the least and the most of them; each takes a core.
        num_gpus: Of each actor; 1 for encoders and judges.
        missing: As in `rrgmetrics.score`.
        text: As in `rrgmetrics.score`.
        source: What messages call the data set.

    Raises:
        InputError: A name or a column that cannot be used; a study id that is blank or in two rows; or a reference is
            missing, and `missing` is "error".

    Example:
        >>> import ray                                                          # doctest: +SKIP
        >>> scored = score_dataset(ray.data.read_parquet("pairs"), ["bleu"])    # doctest: +SKIP
        >>> scored.reduce()["bleu"].scores                                      # doctest: +SKIP
    """
    parsed, named = parse_names(metrics), check_columns(columns)
    get_normaliser(text or "none")  # an unknown one is refused here, and not by each actor
    with use_context(context_of(metrics)):
        fields = pick_columns(dataset.columns(), (("reference",), ("candidate",)), named, source)
    announce_columns({field: fields[field] for field in ("reference", "candidate")}, named, source)
    rows = dataset.take(SAMPLED)
    check_codes(rows[:SAMPLE], fields, source)
    _check_rows(dataset, source, fields, named, missing)
    with use_context(context_of(metrics)):
        pairs = [read.pair for read in read_rows(((source, row) for row in rows), named) if read.pair is not None]
    warn_of_sections(parsed.values(), text, {"": pairs}, SAMPLED if len(rows) == SAMPLED else 0)
    frequencies = _counted(dataset, parsed, fields["reference"], statistics or {}, missing, text)
    shared = ray.put(frequencies) if frequencies else None
    scored = dataset.map_batches(
        Scorer,
        fn_constructor_args=(list(parsed), named, shared, batch_size, device, missing, text),
        batch_format="pyarrow",
        batch_size=ROWS,
        compute=_actors(concurrency),
        num_gpus=num_gpus or None,
    )
    return ScoredDataset(scored, tuple(parsed))


def _actors(concurrency: int | tuple[int, int]) -> Any:
    """Ray's words for a number of actors."""
    if isinstance(concurrency, int):
        return ray.data.ActorPoolStrategy(size=concurrency)
    least, most = concurrency
    return ray.data.ActorPoolStrategy(min_size=least, max_size=most)


class Scorer:
    """An actor's own prepared metrics: from a block of rows to the same rows with scores."""

    def __init__(
        self,
        names: list[str],
        columns: Columns,
        statistics: Any,
        batch_size: int | None,
        device: str | None,
        missing: Missing = "unscored",
        text: str = "",
    ) -> None:
        self.metrics = prepare(names, batch_size=batch_size, device=device, missing=missing, text=text)
        self.columns = columns
        self.statistics = None if statistics is None else ray.get(statistics)

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        """Scores a block."""
        import pyarrow

        id_column = check_columns(self.columns).get("study_id", "study_id")
        rows = ((f"{id_column} {row.get(id_column)!r}", row) for row in table.to_pylist())
        with use_context(self.metrics.context):
            results = score_reads(self.metrics, list(read_rows(rows, self.columns)), self.statistics)
        arrays = arrays_of({name: result.stored for name, result in results.items()}, per_pair_columns(results))
        for name, result in results.items():
            arrays[name + SIGNATURE] = pyarrow.array([result.signature] * table.num_rows)
        for name, values in arrays.items():
            if name in table.column_names:
                table = table.drop_columns([name])
            table = table.append_column(name, values)
        return table


def score_files(
    source: str,
    metrics: Sequence[str],
    output: str,
    *,
    columns: Columns = None,
    address: str | None = None,
    concurrency: int = 2,
    num_gpus: float = 0,
    batch_size: int | None = None,
    device: str | None = None,
    missing: Missing = "unscored",
    text: str = "",
    progress: bool = True,
) -> dict[str, Totals]:
    """Scores files of any size to files; the same call resumes a run that was stopped.

    Args:
        source: Parquet or JSONL: a file, a folder or a pattern, on disk or `s3://...`; with a `study_id` a row.
        metrics: Names as in `rrgmetrics.score`.
        output: A folder for Parquet files with the rows and their scores.
        columns: What the columns are called.
        address: Of a Ray cluster; None: this machine.
        concurrency: Actors.
        num_gpus: Of each actor.
        batch_size: Texts per forward pass of a model.
        device: torch device of models.
        missing: As in `rrgmetrics.score`.
        text: As in `rrgmetrics.score`.
        progress: Whether to show Ray's bars.

    Returns:
        The corpus scores of all rows.

    Raises:
        InputError: A source that cannot be used, or a folder that holds another job.
    """
    from pyarrow.fs import FileSystem

    parsed, paths, reader = parse_names(list(metrics)), *_files(source)
    _start(address, concurrency)
    logging.getLogger("ray.data").setLevel(logging.ERROR)  # it logs every plan that it runs
    ray.data.DataContext.get_current().enable_progress_bars = progress
    filesystem, folder = FileSystem.from_uri(output if "://" in output else str(Path(output).resolve()))
    dataset = getattr(ray.data, reader)(paths)
    named = check_columns(columns)
    id_column = named.get("study_id", "study_id")
    if id_column not in dataset.columns():
        raise InputError(f"{source} has no column {id_column!r}, which is needed to resume a run.")
    scored = score_dataset(
        dataset,
        metrics,
        columns=columns,
        batch_size=batch_size,
        device=device,
        concurrency=concurrency,
        num_gpus=num_gpus,
        missing=missing,
        text=text,
        source=source,
    )
    job = {"source": source, "metrics": list(parsed), "columns": named, "v": VERSION}
    changed = {"missing": missing != "unscored" and missing, "text": text}
    _claim(filesystem, folder, job | {key: value for key, value in changed.items() if value})
    scored.dataset.context.target_max_block_size = BLOCK_BYTES
    scored.dataset.context.checkpoint_config = CheckpointConfig(
        id_column, f"{folder}/done", override_filesystem=filesystem, delete_checkpoint_on_success=False
    )
    scored.dataset.write_parquet(f"{folder}/{SCORES}", filesystem=filesystem)
    written = ray.data.read_parquet(f"{folder}/{SCORES}", filesystem=filesystem)
    return ScoredDataset(written, scored.names).reduce()


def _check_rows(
    dataset: Any, source: str, fields: Mapping[str, str], named: Mapping[str, str], missing: Missing
) -> None:
    """Checks ids and reports before any work, as one process does, and logs what is missing.

    Raises:
        InputError: An id is blank or in two rows; or a reference is missing, and `missing` is "error".
    """
    texts = [fields["reference"], fields["candidate"]]
    id_column = fields.get("study_id", "")
    by_name = id_column != named.get("study_id", "study_id")
    marks = dataset.map_batches(_marks, fn_kwargs={"id_column": id_column, "texts": texts}, batch_format="pyarrow")
    marks.context.execution_options.preserve_order = True
    marks = marks.materialize()
    unit = "line" if source.lower().endswith(".jsonl") else "row"

    def cells(column: str) -> Iterator[Any]:
        for batch in marks.iter_batches(batch_format="pyarrow", batch_size=ROWS * 8):
            yield from batch[column].to_pylist()

    if id_column:
        refuse_ids(
            lambda: ((f"{source}, {unit} {number}", cell) for number, cell in enumerate(cells("id"), 1)),
            id_column,
            dataset.columns(),
            by_name=by_name,
        )
    lacking = MissingReports(missing)
    for batch in marks.iter_batches(batch_format="pyarrow", batch_size=ROWS * 8):
        pairs = zip(batch["reference"].to_pylist(), batch["candidate"].to_pylist(), strict=True)
        lacking.add(
            {"": list(pairs)}, [str(cell) for cell in batch["id"].to_pylist()] if id_column and not by_name else None
        )
    log_lines(lacking.lines)


def _marks(table: pyarrow.Table, id_column: str, texts: Sequence[str]) -> pyarrow.Table:
    """Of each row the id, and for both reports "" if it is missing, else a mark in its place."""
    import pyarrow

    marks = [["" if _is_lacking(cell) else "x" for cell in table[name].to_pylist()] for name in texts]
    ids = table[id_column] if id_column else pyarrow.nulls(table.num_rows)
    return pyarrow.table({"id": ids, "reference": marks[0], "candidate": marks[1]})


def _is_lacking(cell: Any) -> bool:
    return is_missing(cell) or (isinstance(cell, str) and says_nothing(cell))


def _counted(
    dataset: Any,
    names: Mapping[str, MetricName],
    reference: str,
    given: Mapping[str, Frequencies],
    missing: Missing,
    text: str,
) -> dict[str, Frequencies]:
    """What metrics with corpus statistics must know of all references: as given, or from a first pass."""
    needed = uncounted(names, given)
    if not needed:
        return dict(given)
    batches = dataset.select_columns([reference]).iter_batches(batch_format="pyarrow", batch_size=ROWS * 8)
    cells = (cell for batch in batches for cell in batch[reference].to_pylist())
    with prepare(needed, missing=missing, text=text) as metrics:
        return {**given, **metrics.count_references(_usable(cells, reference))}


def _usable(cells: Iterable[Any], column: str) -> Iterator[str]:
    """The reports of cells, without those that make a row unscored."""
    for cell in cells:
        with suppress(InputError):
            yield report_of(cell, column)


def _files(source: str) -> tuple[list[str], str]:
    """The files that a source names, and the reader for what their names end in."""
    paths = _expanded(source) if "://" in source else [str(path) for path in parts(source)]
    suffixes = {Path(path).suffix.lower() for path in paths} - {""} or {".parquet"}
    if len(suffixes) > 1 or not suffixes <= READERS.keys():
        raise InputError(f"{source}: the engine ray reads {' or '.join(READERS)}, one of them at a time.")
    return paths, READERS[suffixes.pop()]


def _expanded(source: str) -> list[str]:
    """The files of a pattern in a bucket."""
    import fsspec

    filesystem, pattern = fsspec.core.url_to_fs(source)
    if not glob.has_magic(source):
        return [source]
    found = sorted(filesystem.glob(pattern))
    if not found:
        raise InputError(f"No file is called {source}.")
    return [filesystem.unstrip_protocol(path) for path in found]


def _start(address: str | None, concurrency: int) -> None:
    """Joins a cluster, or starts Ray on this machine with cores for reading and writing beside the actors."""
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would tell its makers what ran
    shared: dict[str, Any] = {"log_to_driver": False, "runtime_env": {"env_vars": environment_of_children()}}
    if address:
        ray.init(address=address, **shared)
    else:
        cores = max(os.cpu_count() or 1, concurrency + 2)
        ray.init(num_cpus=cores, include_dashboard=False, logging_level="ERROR", **shared)


def _claim(filesystem: Any, folder: str, job: Mapping[str, Any]) -> None:
    """Writes into a folder what job it belongs to; raises InputError if that is another one."""
    from pyarrow.fs import FileType

    path = f"{folder}/{JOB}"
    filesystem.create_dir(folder, recursive=True)
    if filesystem.get_file_info(path).type is FileType.NotFound:
        with filesystem.open_output_stream(path) as file:
            file.write(json.dumps(job, indent=2).encode())
        return
    with filesystem.open_input_stream(path) as file:
        known = json.loads(file.read())
    other = [key for key in job | known if known.get(key) != job.get(key)]
    if other:
        raise InputError(
            f"{folder} contains another job: its {other[0]} is {known.get(other[0])!r}, not {job.get(other[0])!r}; "
            "name an empty folder."
        )
