"""`prepare` loads metrics to score any number of times; `score` prepares and scores once.

All scoring uses a `Metrics` object: the `evaluate` modules, the command line, callbacks, rewards, Spaces, the
leaderboard's worker and the measurement of agreement. It owns the loaded models, which are released with the last
`Metrics` that uses them, and it is the only caller of `rrgmetrics.scoring.runner`.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Literal, cast

from rrgmetrics import files
from rrgmetrics.backends.base import Backend, for_pack
from rrgmetrics.backends.reader import Readings
from rrgmetrics.errors import InputError
from rrgmetrics.files.mistaken import first_text
from rrgmetrics.reading.lexicon import DEFAULT_PACK, first_pack
from rrgmetrics.reports import Pair, count_distinct, describe
from rrgmetrics.reports.missing import Missing, MissingReports, check_choice, log_lines, warn_of_missing
from rrgmetrics.reports.text import get_normaliser, missing_sections, sections_of, unlike_sections
from rrgmetrics.scorers.base import Runtime
from rrgmetrics.scorers.build import build_scorer
from rrgmetrics.scorers.build import reduction_of as reduction_of  # of scores that were stored
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.defaults import fitting_metrics
from rrgmetrics.scoring.notice import name_stand_ins, warn_of_control_tokens
from rrgmetrics.scoring.packs import pack_of
from rrgmetrics.scoring.results import Result, cut_line
from rrgmetrics.scoring.runner import Annotations, Job, Memory, as_read, run, unscored_references
from rrgmetrics.scoring.workers import Pool, check_workers, heed_fork, score_in_pool
from rrgmetrics.specs import MetricSpec
from rrgmetrics.specs.names import MetricName, context_of, listed_names, with_text
from rrgmetrics.specs.names import parse_names as parse_names
from rrgmetrics.utils.progress import Progress as Progress  # what `Metrics.steps` yields
from rrgmetrics.utils.progress import drained, showing

OnError = Literal["raise", "unscored"]
COUNTED = 10_000  # references whose n-grams are counted at a time


class Metrics:
    """Metrics whose names and options are checked and whose models are loaded; returned by `prepare`.

    Use it as a context manager, or delete it: models are freed with the last object that uses them.

    Attributes:
        jobs: Scorer, backend and normaliser of each metric, by the name that was passed.
        missing: What to do with pairs whose reference is missing, as in `prepare`.
        readings: A cache of the reader's results, for pages that show the scores; None: no cache.
        text: The normaliser of all metrics, as in `prepare`; "": each metric uses its own.
    """

    readings: Readings | None = None
    text: str = ""

    def __init__(
        self, jobs: Mapping[str, Job], runtime: Runtime, kept_references: int = 0, missing: Missing = "unscored"
    ) -> None:
        self.jobs = dict(jobs)
        self.missing = missing
        self._runtime = runtime
        self._memory = Memory(kept_references)
        self._pool: Pool | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process loads its own models."""
        runtime, kept = self._runtime, self._memory.size
        options: dict[str, Any] = {"device": runtime.device, "kept_references": kept, "missing": self.missing}
        options["text"] = self.text
        return partial(prepare, batch_size=runtime.batch_size, **options), (list(self.jobs),)

    @property
    def names(self) -> dict[str, MetricName]:
        """Each metric with its configuration and options, by the name it was asked for."""
        return {text: job.name for text, job in self.jobs.items()}

    @property
    def specs(self) -> dict[str, MetricSpec]:
        """The spec of each metric, by the name it was asked for."""
        return {text: job.name.spec for text, job in self.jobs.items()}

    def __enter__(self) -> Metrics:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases the models, and ends worker processes; to score again is an InputError."""
        self.jobs, self._memory = {}, Memory(0)
        if self._pool is not None:
            self._pool.close()

    @classmethod
    def together(cls, parts: Sequence[Metrics]) -> Metrics:
        """Joins metrics that were prepared one by one, so that they share what they read."""
        jobs = {text: job for part in parts for text, job in part.jobs.items()}
        return cls(jobs, parts[0]._runtime, missing=parts[0].missing)

    def annotations(self, texts: Mapping[str, Sequence[str]], pack: str = DEFAULT_PACK) -> dict[str, list[Any]]:
        """Returns what metrics read in single texts; metrics that share a backend read each text once.

        Args:
            texts: By metric that reads texts one by one, as its normaliser leaves them.
            pack: What they are read with.
        """
        shared = Annotations([], Memory(0))
        found: dict[str, list[Any]] = {}
        for name, own in texts.items():
            known = shared.read_texts(for_pack(cast(Backend, self.jobs[name].backend), pack), list(dict.fromkeys(own)))
            found[name] = [known[text] for text in own]
        return found

    def only(self, names: Iterable[str]) -> Metrics:
        """Returns some of the metrics, which share the models of all.

        Args:
            names: As they were asked for; in the order of `names`.
        """
        wanted = set(names)
        jobs = {text: job for text, job in self.jobs.items() if text in wanted}
        chosen = Metrics(jobs, self._runtime, missing=self.missing)
        chosen._memory, chosen._pool, chosen.readings = self._memory, self._pool, self.readings
        chosen.text = self.text
        return chosen

    def keeping(self, readings: Readings) -> Metrics:
        """Returns the same metrics, which keep what the reader reads of the reports that they score."""
        kept = self.only(self.jobs)
        kept.readings = readings
        return kept

    def renamed(self, names: Mapping[str, str]) -> Metrics:
        """Returns the same metrics, whose Results come under other names.

        Args:
            names: The new name of each.
        """
        renamed = Metrics(
            {names[text]: job for text, job in self.jobs.items()}, self._runtime, self._memory.size, self.missing
        )
        renamed._pool, renamed.readings, renamed.text = self._pool, self.readings, self.text
        return renamed

    def warn(self, systems: Mapping[str, Sequence[Pair]], study_ids: Sequence[str] | None) -> None:
        """Logs which reports are missing or have control tokens, and how many lack the section that all metrics read.

        Without `text` it logs whether only the references, or only the candidates, have sections.

        Args:
            systems: The pairs of each system, on the same studies.
            study_ids: One id a study; None names them by their index.
        """
        warn_of_missing(systems, study_ids, self.missing)
        candidates = {f"candidates of {name}" if name else "candidates": each for name, each in systems.items()}
        columns = {name: [pair.candidate for pair in pairs] for name, pairs in candidates.items()}
        columns["references"] = [pair.reference for pair in next(iter(systems.values()))]
        warn_of_control_tokens(columns, study_ids)
        warn_of_sections(self.names.values(), self.text, systems)

    @property
    def context(self) -> Collection[str]:
        """The keys of the patient's context that can change a score."""
        return {key for name in self.names.values() for key in name.context}

    @property
    def widths(self) -> dict[str, int]:
        """The number of statistics of a pair, by metric."""
        nothing = {text: job.reference_statistics([""]) for text, job in self.jobs.items()}
        return {text: job.scorer.pair_stats([], {}, nothing[text]).shape[1] for text, job in self.jobs.items()}

    def unscored_references(self, references: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Returns why each metric leaves pairs with these references unscored, without scoring any.

        Args:
            references: The radiologists' reports; "" for one that is missing.

        Returns:
            For each metric a reason a reference, "" where it can be scored.

        Example:
            >>> prepare("finding_errors").unscored_references(["Clear lungs.", ""])
            {'finding_errors': ('', 'the reference is missing')}
        """
        return {text: unscored_references(job, references) for text, job in self.jobs.items()}

    def signatures(self, n_pairs: int) -> dict[str, str]:
        """Returns the signatures of results for so many pairs, by name, without what depends on the pairs."""
        return {text: signature.write(job.name, facts=job.facts, n_pairs=n_pairs) for text, job in self.jobs.items()}

    def score(
        self,
        pairs: Any = None,
        *,
        predictions: Any = None,
        references: Any = None,
        contexts: Any = None,
        columns: files.Columns = None,
        progress: bool = True,
    ) -> dict[str, Result]:
        """Scores reports against reports.

        Args:
            pairs: A table or file with both reports of each study, as in `rrgmetrics.score`; or None.
            predictions: The system's reports, one a study; `""` for an empty one.
            references: The radiologists' reports, in the same order.
            contexts: One dict for each pair with any of `age`, `sex`, `indication`, `prior`; or None.
            columns: What the columns of tables and files are called, as in `rrgmetrics.score`.
            progress: Whether to show a progress bar.

        Returns:
            A Result for each metric, under the name it was asked for.

        Raises:
            InputError: A report or context that cannot be used; nothing was scored.
        """
        with files.use_context(self.context):
            studies = files.pairs_of(pairs, predictions, references, contexts, columns)
        return self.score_pairs(studies.pairs, study_ids=studies.study_ids, progress=progress)

    def score_systems(
        self,
        systems: Mapping[str, Any],
        references: Any = None,
        *,
        contexts: Any = None,
        columns: files.Columns = None,
        progress: bool = True,
    ) -> dict[str, dict[str, Result]]:
        """Scores several systems' reports on the same studies; equals `score` for each, but reads each text once.

        Args:
            systems: Each system's reports by its name: a list or column of texts, or a table or file, joined with the
                references by `study_id` where both have one.
            references: The radiologists' reports, likewise; None takes those beside the systems' reports.
            contexts: As in `score`.
            columns: As in `score`.
            progress: As in `score`.

        Returns:
            For each system its Results by metric.

        Raises:
            InputError: As in `score`, or no system.
        """
        with files.use_context(self.context):
            studies = files.read_systems(systems, references, contexts, columns)
        sets = [each.pairs for each in studies.values()]
        self.warn(dict(zip(studies, sets, strict=True)), next(iter(studies.values())).study_ids)
        return dict(zip(studies, self.score_sets(sets, progress=progress), strict=True))

    def score_pairs(
        self,
        pairs: Sequence[Pair],
        *,
        on_error: OnError = "raise",
        progress: bool = True,
        announce: bool = True,
        statistics: Mapping[str, Frequencies] | None = None,
        study_ids: Sequence[str] | None = None,
    ) -> dict[str, Result]:
        """Scores pairs that were checked before (`rrgmetrics.reports.check_pairs`).

        Args:
            pairs: The pairs.
            on_error: What becomes of a metric that fails while it scores: `"raise"`, or `"unscored"`: its Result has no
                number and holds the error; the others score all the same.
            progress: Whether to show a progress bar.
            announce: Whether to warn of reports that are missing or out of scope.
            statistics: What `count_references` gave for all references, of which these pairs hold some.
            study_ids: One id a pair, for warnings and frames; None: they name pairs by their index.

        Returns:
            A Result for each metric, under the name it was asked for.
        """
        if announce and pairs:
            self.warn({"": pairs}, study_ids)
        (results,) = self.score_sets(
            [pairs], on_error=on_error, progress=progress, announce=announce, statistics=statistics
        )
        if study_ids is None:
            return results
        return {name: replace(result, study_ids=study_ids) for name, result in results.items()}

    def score_sets(
        self,
        sets: Sequence[Sequence[Pair]],
        *,
        on_error: OnError = "raise",
        progress: bool = True,
        announce: bool = True,
        statistics: Mapping[str, Frequencies] | None = None,
    ) -> list[dict[str, Result]]:
        """Scores several lists of pairs, reading each distinct text once; arguments as in `score_pairs`.

        Returns:
            The Results by metric of each list.
        """
        if on_error not in ("raise", "unscored"):
            raise InputError(f"on_error is {on_error!r}; pass 'raise' or 'unscored'.")
        if not sets or not all(sets):
            raise InputError("There are no pairs to score.")
        if self.missing == "error":
            for pairs in sets:
                MissingReports("error").add({"": pairs})
        self._show_bars(progress)
        try:
            with showing(progress) as display:
                if display is not None and not display.total:
                    display.expect(map(str, self.names.values()), count_distinct(sets))
                return drained(self._walk(sets, announce=announce, statistics=statistics), progress)
        except Exception as error:  # a server, a model or a plug-in: the other metrics must outlive it
            if on_error == "raise" or not self.jobs:
                raise
            if len(self.jobs) == 1:
                return [{name: _failed(job, len(pairs), error) for name, job in self.jobs.items()} for pairs in sets]
        options: dict[str, Any] = {
            "on_error": on_error,
            "progress": progress,
            "announce": announce,
            "statistics": statistics,
        }
        alone = [self.only([name]).score_sets(sets, **options) for name in self.jobs]
        return [{name: each for part in parts for name, each in part.items()} for parts in zip(*alone, strict=True)]

    def steps(self, pairs: Sequence[Pair], *, block: int | None = None) -> Iterator[Progress | dict[str, Result]]:
        """Scores pairs step by step: yields Progress after each metric of each block, and at last the Results.

        Args:
            pairs: As in `score_pairs`.
            block: Distinct pairs between two words of progress; None: the runner's own number.
        """
        self._show_bars(False)
        results = yield from self._walk([pairs], block=block)
        yield results[0]

    def _show_bars(self, shown: bool) -> None:
        """Tells the engines whether to show bars of their own."""
        for job in self.jobs.values():
            job.bars.shown = shown

    def count_references(self, references: Iterable[str]) -> dict[str, Frequencies]:
        """Counts what metrics with corpus statistics must know of all references, before parts of them are scored.

        Args:
            references: All of them, in any order; an iterable goes through in flat memory, but for what is counted.

        Returns:
            For each metric that depends on other references than a pair's own (`cider`, `bertscore?idf=call`) how many
            of them hold each n-gram or token, for `score_pairs(statistics=...)`; empty if there is no such metric.
        """
        jobs = {name: job for name, job in self.jobs.items() if job.name.counts_references}
        counted: dict[str, Frequencies] = {}
        chunks = iter(references) if jobs else iter(())
        while chunk := list(islice(chunks, COUNTED)):
            for name, job in jobs.items():
                frequencies = job.reference_statistics(chunk)
                assert frequencies is not None
                counted[name] = counted[name].add(frequencies) if name in counted else frequencies
        return counted

    def as_read(self, name: str, pairs: Sequence[Pair]) -> list[tuple[Pair, str]]:
        """Returns the pairs that a metric reads, normalised, each with its pack; none with a missing reference."""
        return as_read(self.jobs[name], pairs)

    def _walk(
        self,
        sets: Sequence[Sequence[Pair]],
        statistics: Mapping[str, Frequencies] | None = None,
        **options: Any,
    ) -> Generator[Progress, None, list[dict[str, Result]]]:
        if not self.jobs:
            raise InputError("These metrics are closed; call prepare again.")
        walked = self._walked()
        if self._pool is not None:
            names = {text: self.jobs[text].name.whole for text in walked.values()}
            announced = options.get("announce", True)
            by_name = yield from self._walk_together(self._pool, names, sets, statistics or {}, announced)
        else:
            heed_fork()
            jobs = {text: replace(self.jobs[text], name=self.jobs[text].name.whole) for text in walked.values()}
            options["statistics"] = [(statistics or {}).get(text) for text in jobs]
            results = yield from run(list(jobs.values()), sets, memory=self._memory, readings=self.readings, **options)
            by_name = [dict(zip(jobs, of_set, strict=True)) for of_set in results]
        name_stand_ins(self.names.values())
        if options.get("announce", True):
            log_lines(filter(None, [cut_line(by_name)]))
        return [
            {text: of_set[first].focused(self.jobs[text].name.spec) for text, first in walked.items()}
            for of_set in by_name
        ]

    def _walked(self) -> dict[str, str]:
        """By each name the one that is scored for it: a metric of which several keys are asked is scored once."""
        first: dict[str, str] = {}
        return {text: first.setdefault(str(job.name.whole), text) for text, job in self.jobs.items()}

    def _walk_together(
        self,
        pool: Pool,
        names: Mapping[str, MetricName],
        sets: Sequence[Sequence[Pair]],
        given: Mapping[str, Frequencies],
        announced: bool,
    ) -> Generator[Progress, None, list[dict[str, Result]]]:
        """Scores with worker processes, which are given what is to be known of all references of each set."""
        others = self.only(name for name in self.jobs if name not in given)
        statistics = [{**given, **others.count_references(pair.reference for pair in pairs)} for pairs in sets]
        return (yield from score_in_pool(pool, names, sets, statistics, kept=given, announced=announced))


def prepare(
    metrics: str | Sequence[str],
    *,
    batch_size: int | None = None,
    device: str | None = None,
    kept_references: int = 0,
    workers: int = 1,
    missing: Missing = "unscored",
    text: str = "",
) -> Metrics:
    """Prepares metrics: parses their names, checks their options and loads their models.

    Args:
        metrics: One or several names, such as `"bleu"`, `"bertscore@radeval"` or `"bleu?tokenizer=13a"`, or keys, as
            `"bleu#2"`.
        batch_size: Number of texts per forward pass of a model; None: the default of the backend.
        device: torch device of models; None: CUDA if available, else the CPU.
        kept_references: Number of references whose backend results are cached between calls, for a loop that scores new
            candidates of the same studies.
        workers: Number of processes, each with its own models; they start with the first pairs and stop with `close`.
        missing: What to do with a pair whose reference is missing (None, NaN, blank, "nan", "N/A"): leave it
            "unscored", score it as an "empty" report, or raise an "error" before scoring. A missing candidate counts as
            an empty report.
        text: The part of both reports that every metric uses, such as "findings" or "impression_only" (the option
            `text`); a metric with its own `text` keeps it. "": each metric uses its own.

    Returns:
        The prepared metrics, for any number of calls.

    Raises:
        InputError: An invalid name, option or argument.
        BackendError: Missing weights or data.
        MissingExtraError: An optional dependency that is not installed.

    Example:
        >>> with prepare(["rouge", "finding_errors"]) as metrics:
        ...     results = metrics.score(predictions=["Clear lungs."], references=["Lungs are clear."], progress=False)
        >>> results["rouge"].scores["rouge_1"]
        0.8
    """
    heed_fork()
    parsed = {asked: with_text(name, asked, text) for asked, name in parse_names(metrics).items()}
    runtime = Runtime(batch_size, device)
    check_workers(workers, parsed.values())
    check_choice(missing)
    scorers = [build_scorer(name) for name in parsed.values()]  # all of them before any model is loaded
    jobs = {}
    for (asked, name), scorer in zip(parsed.items(), scorers, strict=True):
        normaliser = get_normaliser(str(name.options.get("text", "none")))
        backend = for_pack(scorer.backend(runtime), first_pack(pack_of(name)))
        jobs[asked] = Job(name, scorer, backend, normaliser, runtime.progress, missing)
    made = Metrics(jobs, runtime, kept_references, missing)
    made.text = text
    made._pool = Pool(made, workers) if workers > 1 else None
    return made


def warn_of_sections(
    names: Iterable[MetricName], text: str, systems: Mapping[str, Sequence[Pair]], n_first: int = 0
) -> None:
    """Logs how many reports lack the section that all metrics read.

    Without `text` it logs whether only the references, or only the candidates, have sections.

    Args:
        names: The metrics.
        text: As in `prepare`.
        systems: The pairs of each system, on the same studies.
        n_first: Their number, if they are only the first pairs of a source; else 0.
    """
    first = f"Of the first {n_first:,} pairs: " if n_first else ""
    log_lines(first + line for line in section_lines(names, text, systems))


def section_lines(names: Iterable[MetricName], text: str, systems: Mapping[str, Sequence[Pair]]) -> list[str]:
    """What `warn_of_sections` logs of pairs."""
    reads_whole = any(not sections_of(str(name.options.get("text", ""))) for name in names)
    unlike = unlike_sections(systems) if reads_whole and not text else ""
    return [line for line in (missing_sections(text, systems), unlike) if line]


def score(
    metrics: str | Sequence[str],
    pairs: Any = None,
    *,
    predictions: Any = None,
    references: Any = None,
    contexts: Any = None,
    columns: files.Columns = None,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
    workers: int = 1,
    missing: Missing = "unscored",
    per_study: str = "error",
    text: str = "",
) -> dict[str, Result]:
    """Scores reports against references with any number of metrics; for several calls, use `prepare`.

    Args:
        metrics: One or several names, such as `"bleu"`, `"bertscore@radeval"` or `"bleu?tokenizer=13a"`, or keys, as
            `"bleu#2"`. Of a preset, metrics that do not fit the kind of report are left out, with a line in the log.
        pairs: Both reports of each study: a pandas or polars frame, a pyarrow table, a `datasets.Dataset` or
            `IterableDataset`, a dict of columns, an iterable of dicts; or the name of a file (CSV, JSONL, Parquet,
            `.gz` and `.zst` too), of a folder of Parquet, of a data set on the Hub
            (`"hub:org/reports@revision?config=findings&split=test"`), or a pattern such as `"runs/*.jsonl.gz"`.
        predictions: The system's reports, one for each study; `""` for an empty report. A list or a column (a series,
            an Arrow array); or a table or file with `study_id` and `report`, joined with the references by `study_id`.
        references: The radiologists' reports, likewise; lists and columns in the same order.
        contexts: One dict for each pair with any of `age`, `sex`, `indication`, `prior`; or None.
        columns: The column names of tables and files: `{"reference": "ground_truth", "candidate": "generated",
            "study_id": "id"}`, also `report`, `age`, `sex`, `indication`; fields that are not listed keep these names.
        batch_size: Number of texts per forward pass of a model; None: the default of the backend.
        device: torch device of models; None: CUDA if available, else the CPU.
        progress: Whether to show a progress bar.
        workers: Number of processes on this machine, each with its own models.
        missing: What to do with a pair whose reference is missing (None, NaN, blank, "nan", "N/A"): leave it
            "unscored", score it as an "empty" report, or raise an "error" before scoring. A missing candidate counts as
            an empty report.
        per_study: Which report of a study to use if a table has several with the same `study_id`: "first", "last",
            "longest" or "random:SEED"; "all" scores each as a separate pair; "error" rejects such a table.
        text: As in `prepare`.

    Returns:
        A Result for each metric, under the string that was passed.

    Raises:
        InputError: An invalid name, option or report; nothing was scored.
        BackendError: Missing weights or data; nothing was scored.
        MissingExtraError: An optional dependency that is not installed; nothing was scored.

    Example:
        >>> score("rouge", predictions=["Clear lungs."], references=["Lungs are clear."])["rouge"].scores["rouge_1"]
        0.8
        >>> rows = [{"truth": "Lungs are clear.", "generated": "Clear lungs."}]
        >>> results = score("rouge", rows, columns={"reference": "truth", "candidate": "generated"})
        >>> results["rouge"].scores["rouge_1"]
        0.8
    """
    if sample := first_text(pairs):
        raise InputError(
            f"pairs[{sample[0]}] is {describe(sample[1])}. The first argument of score is metrics, the second a table "
            "of pairs; pass reports by name: score('bleu', predictions=..., references=...)."
        )
    metrics = listed_names(metrics)
    used = context_of(metrics)  # and the pairs, before any model is loaded
    check_choice(missing)
    with files.use_context(used):
        studies = files.pairs_of(pairs, predictions, references, contexts, columns, per_study)
    texts = fitting_metrics(metrics, [pair.reference for pair in studies.pairs])
    with prepare(texts, batch_size=batch_size, device=device, workers=workers, missing=missing, text=text) as prepared:
        return prepared.score_pairs(studies.pairs, study_ids=studies.study_ids, progress=progress)


def _failed(job: Job, n_pairs: int, error: Exception) -> Result:
    signed = signature.write(job.name, facts=job.facts, n_pairs=n_pairs)
    return Result.failed(job.name.whole, signed, n_pairs, error).focused(job.name.spec)
