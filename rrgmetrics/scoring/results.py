"""The result of one metric, as `rrgmetrics.score` returns it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import stats
from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import PathLike
from rrgmetrics.files.stored import SHOWN, Scored, Stored, joined, read_stored, reading, storing
from rrgmetrics.reports import Pair, describe
from rrgmetrics.reports.missing import FACT as MISSING
from rrgmetrics.reports.missing import MissingReports
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Array, Chosen, Reduction, SupportsNotes
from rrgmetrics.scorers.build import build_scorer
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.error_rows import ERROR_LISTS, ToldError, errors_of
from rrgmetrics.scoring.packs import FACT, counts_of, facts_of, packs_of
from rrgmetrics.scoring.scope_filter import REMOVED, STRANGE, in_plural
from rrgmetrics.specs import MetricSpec
from rrgmetrics.specs.names import MetricName, parse_name, shown
from rrgmetrics.utils.causes import Cause, as_entry
from rrgmetrics.utils.notebook import drawn, exported
from rrgmetrics.utils.text_format import by_number, count_studies, counted, did_you_mean, listed

if TYPE_CHECKING:
    import pandas


NAMED = 5  # studies that a sentence names


@dataclass(frozen=True)
class NoScores:
    """The reduction of a metric that failed: every value is NaN."""

    spec: MetricSpec

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Returns NaN for every key."""
        return {key.name: np.full(np.shape(n), np.nan) for key in self.spec.keys}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """Returns NaN for every pair, by the keys that exist per pair."""
        return {key.name: np.full(len(stats), np.nan) for key in self.spec.keys if key.per_pair}


@dataclass(frozen=True, repr=False)
class Result:
    """The scores of one configured metric on one set of pairs.

    Example:
        >>> import rrgmetrics
        >>> rrgmetrics.score("rouge", predictions=["Clear lungs."], references=["Lungs are clear."])["rouge"]
        Result(rouge 0.400, 1 study)

    Attributes:
        spec: The metric with its keys, ranges and directions; only the named key if one was named (`green#errors`).
        scores: Corpus values by key.
        per_pair: An array `(n_pairs,)` for each key with values per pair, such as the headline; NaN = unscored.
        pair_stats: An array `(n_pairs, n_stats)`, from which the scores of any subset are computed exactly; NaN row =
            unscored.
        reduction: Computes scores from `pair_stats`.
        signature: The metric, options and version; `rrgmetrics.scoring.signature.read` converts it to arguments.
        details: Additional output for each pair, such as explanations, by key: a list with one entry for each pair.
        bundled: Whether a stand-in scored, whose numbers are not comparable with published ones.
        error: Why the metric failed, if failures are recorded instead of raised; every pair is then unscored.
        study_ids: One id for each pair, if the pairs have ids.
    """

    spec: MetricSpec
    scores: dict[str, float]
    per_pair: dict[str, Array]
    pair_stats: Array
    reduction: Reduction
    signature: str
    details: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    bundled: bool = False
    error: Exception | None = None
    study_ids: Sequence[str] | None = field(default=None, compare=False)

    @property
    def titled(self) -> MetricSpec:
        """The metric with titles as people read them: `GREEN (bundled)` where a stand-in scored."""
        return self.spec.titled(bundled=self.bundled)

    @property
    def title(self) -> str:
        """The metric's title as people read it."""
        return self.titled.title

    @property
    def headline(self) -> Array:
        """The headline of each pair `(n_pairs,)`, or the key that was asked for; NaN = unscored."""
        return self.per_pair[self.spec.headline.name]

    def focused(self, spec: MetricSpec) -> Result:
        """The same result with one key alone, if the spec is that of a key (`green#errors`); else itself."""
        if not spec.fragment:
            return self
        key = spec.headline.name
        return replace(
            self,
            spec=spec,
            scores={key: self.scores[key]},
            per_pair={key: self.per_pair[key]} if key in self.per_pair else {},
            reduction=Chosen(self.reduction, frozenset({key})),
        )

    @property
    def modalities(self) -> dict[str, int]:
        """The number of pairs that were read as each kind of report, by pack of the lexicon, the commonest first."""
        return counts_of(signature.read(self.signature), self.details, self.n_pairs)

    @property
    def scored_modalities(self) -> dict[str, int]:
        """As `modalities`, of the pairs with a score alone."""
        read = Counter(compress(self.packs, aggregate.scored(self.pair_stats)))
        return dict(read.most_common()) if self.modalities else {}

    @property
    def packs(self) -> list[str]:
        """The pack of the lexicon that the reader uses for each pair."""
        return packs_of(signature.read(self.signature), self.details, self.n_pairs)

    @property
    def n_pairs(self) -> int:
        """The number of pairs, scored or not."""
        return len(self.pair_stats)

    @property
    def n_unscored(self) -> int:
        """The number of pairs without a score; they count in no mean."""
        return int((~aggregate.scored(self.pair_stats)).sum())

    @property
    def removed(self) -> dict[str, int]:
        """How many things of each kind were cleaned away before reading, in both texts, the commonest first.

        Of metrics that read findings; the others see the texts as they came. Kinds: `rrgmetrics.reports.cleaning`.
        """
        each = self.details.get(self.spec.name + REMOVED) or ()
        return dict(sum(map(Counter, filter(None, each)), Counter[str]()).most_common())

    @property
    def unscored_reasons(self) -> dict[int, str]:
        """The reason why each unscored pair has no score, by its index: a clause without a full stop."""
        reasons = self.details.get(f"{self.spec.name}_unscored") or [None] * self.n_pairs
        unscored = np.flatnonzero(~aggregate.scored(self.pair_stats)).tolist()
        words = {index: (reasons[index] or {}).get("unscored", self.spec.no_number) for index in unscored}
        return {index: reason.removesuffix(".") for index, reason in words.items()}

    @property
    def strange_candidates(self) -> dict[int, str]:
        """Why a candidate cannot be read, by its index: a clause. It gets the worse of its score and an empty one's."""
        reasons = self.details.get(f"{self.spec.name}{STRANGE}") or ()
        return {index: reason for index, reason in enumerate(reasons) if reason}

    @property
    def unscored_causes(self) -> dict[int, Cause | None]:
        """What it is due to that each unscored pair has no score, by its index; None where the scorer does not say."""
        entries = self.details.get(f"{self.spec.name}_unscored") or [None] * self.n_pairs
        unscored = np.flatnonzero(~aggregate.scored(self.pair_stats)).tolist()
        return {index: (entries[index] or {}).get("cause") for index in unscored}

    @property
    def unscored_counts(self) -> dict[str, int]:
        """The number of unscored pairs for each reason, the commonest first."""
        return dict(Counter(self.unscored_reasons.values()).most_common())

    def interval(
        self, key: str | None = None, *, trials: int = stats.TRIALS, level: float = stats.LEVEL, seed: int = 0
    ) -> stats.Estimate:
        """Returns a corpus score with its interval, by a bootstrap of the pairs.

        Args:
            key: Which of `scores`; None: the headline.
            trials: Number of resamples.
            level: Coverage, between 0 and 1.
            seed: Of the resamples.

        Returns:
            `value`, `low`, `high`, and the number `n` of scored pairs; of a single pair the ends are NaN.

        Raises:
            InputError: No such key; `trials` or `level` out of range.
        """
        key = self.spec.headline.name if key is None else key
        if key not in self.scores:
            near = did_you_mean(key, self.scores)
            raise InputError(f"{self.spec.name} has no key {key!r}; it has: {', '.join(self.scores)}.{near}")
        return stats.bootstrap(self.reduction, self.pair_stats, trials=trials, level=level, seed=seed)[key]

    def to_latex(self) -> str:
        """Returns every score with its interval as LaTeX with booktabs."""
        return exported(self, "latex")

    def to_markdown(self) -> str:
        """Returns every score with its interval as Markdown."""
        return exported(self, "markdown")

    def to_html(self) -> str:
        """Returns every score with its interval as an HTML table."""
        return exported(self, "html")

    def to_json(self) -> str:
        """Returns scores, numbers of pairs and the signature as JSON."""
        return exported(self, "json")

    def to_frame(self) -> pandas.DataFrame:
        """Returns the scores of each pair as a pandas frame.

        Returns:
            A line a pair, a column a key that exists per pair, NaN = unscored; and where a pair is unscored a column
            `unscored` with the reasons. The index is the study's id where the pairs have ids, else their order.
        """
        import pandas

        frame = pandas.DataFrame(dict(self.per_pair), index=self._index(pandas))
        if reasons := self.unscored_reasons:
            frame["unscored"] = [reasons.get(index, "") for index in range(self.n_pairs)]
        return frame

    def errors_frame(self) -> pandas.DataFrame:
        """Returns the errors that the metric names as a pandas frame: a line an error.

        Returns:
            `pair` (its number, from 0), `category`, `error` (in words), `significant`, `n_errors` (more than 1 where a
            judge only counted) and `grade`, as `rrgmetrics.scoring.error_rows.ToldError` says. A pair without
            an error has no line, and neither has an unscored one. The index is the study's id where the pairs have ids.

        Raises:
            InputError: The metric names no errors, or was not asked to (`?explain=yes`).
        """
        import pandas

        told = self.details.get(f"{self.spec.name}_explained")
        if self.spec.name not in ERROR_LISTS:
            raise InputError(f"{self.spec.name} lists no errors; these metrics do: {', '.join(ERROR_LISTS)}.")
        if told is None:
            raise InputError(f"{self.spec.name} did not return its errors; score with {self.spec.name}?explain=yes.")
        unscored = self.unscored_reasons
        rows = [
            {"pair": index, **error._asdict()}
            for index, of_pair in enumerate(told)
            if index not in unscored
            for error in errors_of(self.spec.name, of_pair)
        ]
        index = self._index(pandas, [row["pair"] for row in rows])
        return pandas.DataFrame(rows, columns=["pair", *ToldError._fields], index=index)

    def _index(self, pandas: Any, rows: Sequence[int] | None = None) -> Any:
        """The ids of the studies of some rows as a frame's index; None without ids."""
        if self.study_ids is None:
            return None
        ids = list(self.study_ids) if rows is None else [self.study_ids[row] for row in rows]
        return pandas.Index(ids, name="study_id", dtype=object)

    def std(self, key: str | None = None) -> float:
        """Returns the standard deviation of the scores of pairs: of all of them, as a population; NaN if none has one.

        Args:
            key: One that exists per pair; None: the headline.

        Raises:
            InputError: No such key, or one that exists over all pairs only.
        """
        key = self.spec.headline.name if key is None else key
        if key not in self.per_pair:
            near = did_you_mean(key, self.per_pair)
            raise InputError(f"{self.spec.name} has no {key!r} per pair; it has: {', '.join(self.per_pair)}.{near}")
        known = self.per_pair[key][~np.isnan(self.per_pair[key])]
        return float(known.std()) if known.size else math.nan

    def __repr__(self) -> str:
        value = self.scores[self.spec.headline.name]
        return (
            f"Result({self.spec.name}{self.spec.fragment} {value:.3f}, {count_studies(self.n_pairs, self.n_unscored)})"
        )

    def _repr_html_(self) -> str:
        """Every score with its range and direction, for a notebook."""
        return drawn(self)

    def reduce(self, rows: Sequence[int] | NDArray[np.integer] | NDArray[np.bool_] | slice) -> dict[str, float]:
        """Corpus scores of a subset of pairs, from their statistics: no text is read again.

        Args:
            rows: Indices, a mask or a slice of the pairs.

        Returns:
            Corpus values by key. For a metric with corpus statistics (CIDEr) the weights stay those of the whole set.

        Raises:
            InputError: An index that no pair has, a mask of another length, or something else.
        """
        if not isinstance(rows, slice):
            rows = _checked_rows(rows, len(self.pair_stats))
        return aggregate.reduce(self.reduction, self.pair_stats[rows])

    def only(self, kept: NDArray[np.bool_]) -> Result:
        """Returns the result with the other pairs unscored; itself if these have no score already.

        Args:
            kept: Which pairs keep their scores `(n_pairs,)`.
        """
        if not (aggregate.scored(self.pair_stats) & ~kept).any():
            return self
        return replace(
            self,
            scores=self.reduce(kept),
            per_pair={key: np.where(kept, values, np.nan) for key, values in self.per_pair.items()},
            pair_stats=np.where(kept[:, None], self.pair_stats, np.nan),
        )

    @classmethod
    def of_stats(cls, stats: Array, signed: str, details: Mapping[str, Sequence[Any]]) -> Result:
        """Makes a result of the statistics of its pairs.

        Args:
            stats: `(n_pairs, n_stats)`.
            signed: The signature of what gave them, of these or of other pairs.
            details: By key, one entry a pair.

        Raises:
            InputError: A signature of something that this version does not have.
        """
        name = signature.read(signed)
        scorer = build_scorer(name)
        notes = dict(scorer.notes(stats)) if isinstance(scorer, SupportsNotes) else {}
        notes |= facts_of(name, counts_of(name, details, len(stats)))
        return cls(
            spec=name.spec,
            scores=aggregate.reduce(scorer.reduction, stats),
            per_pair=scorer.reduction.per_pair(stats),
            pair_stats=stats,
            reduction=scorer.reduction,
            signature=signature.rewrite(signed, {**notes, "n": str(len(stats))}),
            details=details,
            bundled=name.bundled,
        )

    @classmethod
    def failed(cls, name: MetricName, signed: str, n_pairs: int, error: Exception) -> Result:
        """Makes the result of a metric that failed: no pair has a score, and each says why."""
        reduction, stats = NoScores(name.spec), np.full((n_pairs, 1), np.nan)
        reason = as_entry(f"the metric failed: {type(error).__name__}: {error}", "outage")
        return cls(
            spec=name.spec,
            scores=aggregate.reduce(reduction, stats),
            per_pair=reduction.per_pair(stats),
            pair_stats=stats,
            reduction=reduction,
            signature=signed,
            details={f"{name.spec.name}_unscored": [reason] * n_pairs},
            bundled=name.bundled,
            error=error,
        )

    @classmethod
    def merge(cls, results: Sequence[Result]) -> Result:
        """Joins the results of parts of the pairs, in their order: exactly that of all pairs at once.

        A metric whose scores depend on all references (`cider`) must have been given the same statistics for each part
        (`Metrics.count_references`).

        Args:
            results: Of one metric, as configured, on different pairs.

        Raises:
            InputError: No result, one of another metric, option, model or version, or one that failed.

        Example:
            >>> import rrgmetrics
            >>> parts = [rrgmetrics.score("rouge", predictions=[text], references=["Clear lungs."])["rouge"]
            ...          for text in ("Clear lungs.", "Edema.")]
            >>> Result.merge(parts).scores["rouge"]
            0.5
        """
        if not results:
            raise InputError("There are no results to merge.")
        first = results[0]
        for number, result in enumerate(results, 1):
            if result.error is not None:
                raise InputError(f"Result {number} is of a metric that failed ({result.error}); score its pairs again.")
            if other := difference(first, result):
                raise InputError(f"Results 1 and {number} cannot be merged: {other}.")
        _, fields = signature.parse(first.signature)
        if len(results) > 1 and signature.read(first.signature).counts_references and "statistics" not in fields:
            raise InputError(
                f"The scores of {first.spec.name} depend on all references: give each part the same statistics "
                "(Metrics.count_references; --statistics on the command line)."
            )
        whole = joined([result.stored for result in results])
        return cls.of_stats(whole.stats, first.signature, whole.details).focused(first.spec)

    def save(self, path: PathLike, *, force: bool = False) -> None:
        """Writes the result with all that follows from it: scores, statistics and details of each pair.

        Args:
            path: A file that ends in .parquet.
            force: Whether a file on disk may be replaced.

        Raises:
            InputError: The metric failed, or the file cannot be written.
        """
        if self.error is not None:
            raise InputError(f"The metric failed ({self.error}); there is nothing to save.")
        name = str(signature.read(self.signature)) + self.spec.fragment
        with storing(path, {"metrics": {name: self.signature}}, force=force) as file:
            file.add({name: self.stored}, self.per_pair)

    @classmethod
    def load(cls, path: PathLike) -> Result:
        """Reads a result that `save` wrote.

        Raises:
            InputError: The file cannot be used, or holds the results of several metrics.
        """
        results = restored(read_stored(path), path)
        if len(results) != 1:
            raise InputError(f"{path} contains the results of {len(results)} metrics; rrgmetrics merge reads them.")
        return next(iter(results.values()))

    @property
    def stored(self) -> Scored:
        """What a file keeps of it."""
        return Scored(self.pair_stats, self.details)


def _checked_rows(rows: Any, n_pairs: int) -> NDArray[np.integer] | NDArray[np.bool_]:
    """Indices or a mask of the pairs as an array; InputError if they are something else or do not fit."""
    found = np.asarray(rows)
    if found.shape == (0,):
        return np.zeros(0, dtype=int)
    if found.ndim != 1 or found.dtype.kind not in "iub":
        raise InputError(f"rows is {describe(rows)}; pass indices, a mask or a slice of the pairs.")
    if found.dtype.kind == "b":
        if len(found) != n_pairs:
            raise InputError(f"rows is a mask of {len(found):,} values for {counted(n_pairs, 'pair')}.")
        return found
    if (outside := np.flatnonzero((found >= n_pairs) | (found < -n_pairs))).size:
        first = int(outside[0])
        there = f"there {by_number(n_pairs, 'is', 'are')} {counted(n_pairs, 'pair')}, numbered from 0"
        raise InputError(f"rows[{first}] is {found[first]}, and {there}.")
    return found


def restored(stored: Stored, path: PathLike) -> dict[str, Result]:
    """Makes the results of what a file holds, by the names that the metrics were asked for.

    Raises:
        InputError: The numbers are not those of these metrics, or this version has no such metric; names the file.
    """
    results: dict[str, Result] = {}
    for name, scored in stored.metrics.items():
        signed = stored.facts["metrics"][name]
        try:
            with reading(path, f"its content for {name[:SHOWN]}"):
                asked = parse_name(name)
                if signature.parse(signed)[0] != asked.spec.name:
                    raise InputError(f"the signature of {name} is {describe(signed)}; score its pairs again.")
                results[name] = Result.of_stats(scored.stats, signed, scored.details).focused(asked.spec)
        except InputError as error:
            raise error if str(path) in str(error) else InputError(f"{path}: {error}") from None
    return results


def per_pair_columns(results: Mapping[str, Result]) -> dict[str, Array]:
    """Per-pair scores as columns; a second configuration of a metric is `bleu__tokenizer_13a`."""
    columns: dict[str, Array] = {}
    for name, result in results.items():
        suffix = parse_name(name).suffix
        columns |= {key + suffix: values for key, values in result.per_pair.items()}
    return columns


def difference(one: Result, other: Result) -> str:
    """Describes how two results differ in what ran: metric, option, model, version; "" if they are of one kind."""
    (name, fields), (another, others) = signature.parse(one.signature), signature.parse(other.signature)
    if name != another:
        return f"{name} and {another}"
    of_pairs = {"n", FACT, *_notes(one), *_notes(other)}
    keys = [key for key in fields | others if key not in of_pairs and fields.get(key) != others.get(key)]
    return "; ".join(
        f"{name} has {key} {fields.get(key, 'unset')} and {others.get(key, 'unset')}".replace(" v ", " version ")
        for key in keys
    )


def _notes(result: Result) -> Mapping[str, str]:
    """The facts of a result's signature that its pairs decide."""
    scorer = build_scorer(signature.read(result.signature))
    return scorer.notes(result.pair_stats) if isinstance(scorer, SupportsNotes) else {}


def cut_line(sets: Iterable[Mapping[str, Result]]) -> str:
    """Describes the reports that were longer than a model or a judge reads, by metric; "" if there are none.

    Args:
        sets: The Results by metric of each list of pairs.
    """
    counts: dict[str, int] = {}
    for name, result in (item for results in sets for item in results.items()):
        fields = signature.parse(result.signature)[1]
        if fields.get("long") != "windows":
            counts[name] = max(counts.get(name, 0), int(fields.get("too_long", "0")))
    cut = [f"{name} ({count:,})" for name, count in counts.items() if count]
    return (
        (
            f"{', '.join(cut)}: some reports exceed the length limit of the model, and the rest of them was not "
            "compared. The signature counts them as too_long."
        )
        if cut
        else ""
    )


def on_shared_studies(results: Mapping[str, Mapping[str, Result]]) -> dict[str, dict[str, Result]]:
    """Leaves out of each metric the studies that not every system has a score for, so that means can be compared.

    A system without any score in a metric is not counted: its metric failed, and the others can still be compared.

    Args:
        results: For each system its Results by metric, on the same studies.
    """
    beside: dict[str, dict[str, Result]] = {system: {} for system in results}
    for metric in next(iter(results.values())):
        own = {system: by_metric[metric] for system, by_metric in results.items()}
        scored = [mask for each in own.values() if (mask := aggregate.scored(each.pair_stats)).any()]
        shared = np.logical_and.reduce(scored) if scored else None
        for system, each in own.items():
            beside[system][metric] = each if shared is None else each.only(shared)
    return beside


def unscored_lines(
    results: Mapping[str, Mapping[str, Result]],
    study_ids: Sequence[str] | None = None,
    *,
    without: Collection[str] = (),
) -> list[str]:
    """Describes which pairs metrics left unscored, and why: a line for each reason and group of studies.

    Args:
        results: For each system its Results by metric.
        study_ids: One id a pair; None names them by their index.
        without: Reasons that were given elsewhere.
    """
    who: dict[tuple[str, tuple[int, ...]], dict[str, list[str]]] = {}  # metric → systems, by reason and studies
    for system, by_metric in results.items():
        for metric, result in by_metric.items():
            rows: dict[str, list[int]] = {}
            for row, reason in result.unscored_reasons.items():
                rows.setdefault(reason, []).append(row)
            for reason, own in rows.items():
                if reason not in without:
                    who.setdefault((reason, tuple(own)), {}).setdefault(metric, []).append(system)
    ids = study_ids or list(map(str, range(max(each.n_pairs for own in results.values() for each in own.values()))))
    lines = []
    for (reason, numbers), metrics in who.items():
        every = len(metrics) == len(next(iter(results.values()))) > 1
        systems = dict.fromkeys(system for each in metrics.values() for system in each)
        where = "every metric" if every else listed(list(map(shown, metrics)))
        of = f" of {listed(list(systems))}" if len(systems) < len(results) else ""
        named = some_of([ids[row] for row in numbers])
        lines.append(f"Not scored in {where}{of}: {count_studies(len(numbers))} ({named}), because {reason}.")
    return lines


def strange_lines(results: Mapping[str, Mapping[str, Result]], study_ids: Sequence[str] | None = None) -> list[str]:
    """Describes which candidates metrics could not read, though they scored them: a line for each system and reason.

    Args:
        results: For each system its Results by metric.
        study_ids: One id a pair; None names them by their index.
    """
    lines = []
    for system, by_metric in results.items():
        found: dict[str, dict[int, None]] = {}  # reason → pairs
        for result in by_metric.values():
            for row, reason in result.strange_candidates.items():
                found.setdefault(reason, {})[row] = None
        of = f" of {system}" if len(results) > 1 else ""
        for reason, rows in found.items():
            named = some_of([study_ids[row] if study_ids else str(row) for row in rows])
            looks = reason if len(rows) == 1 else in_plural(reason)
            lines.append(
                f"{counted(len(rows), 'candidate')}{of} ({named}) {looks}: {by_number(len(rows), 'it', 'each')} gets "
                "the worse of its own score and that of an empty report."
            )
    return lines


def missing_of(
    results: Mapping[str, Mapping[str, Result]], pairs: Mapping[str, Sequence[Pair]], study_ids: Sequence[str] | None
) -> MissingReports:
    """Counts the missing reports; the signatures of the results say what became of them.

    Args:
        results: For each system its Results by metric.
        pairs: The pairs of each system.
        study_ids: One id a pair; None names them by their index.
    """
    first = next(iter(next(iter(results.values())).values()))
    found = MissingReports("empty" if signature.parse(first.signature)[1].get(MISSING) == "empty" else "unscored")
    found.add({system: pairs[system] for system in results}, study_ids)
    return found


def some_of(ids: Sequence[str]) -> str:
    """The first of some ids, and how many more there are.

    Example:
        >>> some_of(["s1", "s2"]), some_of([f"s{number}" for number in range(8)])
        ('s1, s2', 's0, s1, s2, s3, s4 and 3 more')
    """
    more = f" and {len(ids) - NAMED:,} more" if len(ids) > NAMED else ""
    return f"{', '.join(ids[:NAMED])}{more}"
