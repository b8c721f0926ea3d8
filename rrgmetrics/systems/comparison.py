"""Compares systems: reads their reports and returns a table with intervals and corrected tests.

>>> import rrgmetrics
>>> comparison = rrgmetrics.compare(
...     {"a": ["Clear lungs.", "Edema."], "b": ["Lungs are clear.", "Edema."]},
...     ["Lungs are clear.", "Mild edema."], metrics="rouge", trivial=False, progress=False,
... )
>>> comparison
Comparison(a, b on 2 studies: rouge)
>>> round(comparison["b"]["rouge"].scores["rouge_1"], 3)
0.833
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rrgmetrics import files, stats
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.worth import TRIALS as WORTH_TRIALS
from rrgmetrics.baselines.worth import Worth, score_with_worth
from rrgmetrics.errors import InputError
from rrgmetrics.files.mistaken import check_files
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import Missing, check_choice
from rrgmetrics.scoring.defaults import default_metrics, fitting_metrics
from rrgmetrics.scoring.error_rows import ERROR_LISTS
from rrgmetrics.scoring.prepared import parse_names, prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import context_of, listed_names
from rrgmetrics.systems.table import Correction, Row, check_correction, choose_keys, compare_systems
from rrgmetrics.utils.notebook import drawn, exported
from rrgmetrics.utils.progress import STATISTICS, phase, showing
from rrgmetrics.utils.text_format import counted, listed

if TYPE_CHECKING:
    import pandas

logger = logging.getLogger("rrgmetrics")


@dataclass(frozen=True, repr=False)
class Comparison:
    """Scores of systems on the same studies, and their differences from the first system.

    Attributes:
        results: The Results of each system by metric; `comparison["name"]` is a shortcut.
        rows: Every score with its interval, difference, test and corrected p-value, by metric, key and system.
        studies: The pairs of each system.
        correction: The correction of the p-values, over all tests of the table.
        worth: The comparison with trivial systems; None if it was not requested.
    """

    results: Mapping[str, Mapping[str, Result]]
    rows: Sequence[Row]
    studies: Mapping[str, files.Studies]
    correction: Correction = "holm"
    worth: Worth | None = None

    @property
    def n_studies(self) -> int:
        """Number of studies."""
        return len(next(iter(self.studies.values())).pairs)

    def __getitem__(self, system: str) -> Mapping[str, Result]:
        """The Results of one system by metric."""
        return self.results[system]

    def to_frame(self) -> pandas.DataFrame:
        """Returns the rows as a pandas frame.

        Returns:
            A line a metric, key and system: `value`, `low` and `high` of the score, `difference`, `difference_low` and
            `difference_high` from the first system, `p`, `p_corrected`, `p_floor` (the smallest p that the trials can
            give, 0 if it is exact), `effect_size`; NaN for the first system.
        """
        import pandas

        return pandas.DataFrame([row.to_dict() for row in self.rows])

    def errors_frame(self) -> pandas.DataFrame:
        """Returns the errors of all systems as a pandas frame: a line an error.

        Returns:
            `system`, `metric`, and the columns of `Result.errors_frame`; of metrics that name no errors no line.

        Raises:
            InputError: No metric names errors, or one was not asked to (`?explain=yes`).
        """
        import pandas

        results = [(system, name, each) for system, own in self.results.items() for name, each in own.items()]
        listing = [row for row in results if row[2].spec.name in ERROR_LISTS] or results[:1]  # whose own error says why
        frames = {(system, name): each.errors_frame() for system, name, each in listing}
        return pandas.concat(frames, names=["system", "metric"]).reset_index(level=["system", "metric"])

    def to_latex(self) -> str:
        """Returns the table of a paper (a line a metric, a column a system) as LaTeX with booktabs."""
        return exported(self, "latex")

    def to_markdown(self) -> str:
        """Returns the table of a paper (a line a metric, a column a system) as Markdown."""
        return exported(self, "markdown")

    def to_html(self) -> str:
        """Returns the page with scores, tests and every study, as `--html` writes it."""
        return exported(self, "html")

    def to_json(self) -> str:
        """Returns scores, intervals, tests and signatures as JSON, as `--json` writes them."""
        return exported(self, "json")

    def __repr__(self) -> str:
        metrics = ", ".join(next(iter(self.results.values())))
        studies = counted(self.n_studies, "study", "studies")
        return f"Comparison({', '.join(self.results)} on {studies}: {metrics})"

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return drawn(self)


def compare(
    systems: Mapping[str, Any] | Sequence[str] | None,
    references: Any = None,
    *,
    metrics: str | Sequence[str] | None = None,
    contexts: Any = None,
    columns: files.Columns = None,
    all_keys: bool = False,
    keys: Sequence[str] | None = None,
    correction: Correction = "holm",
    trials: int = stats.TRIALS,
    level: float = stats.LEVEL,
    seed: int = 0,
    trivial: bool = True,
    train: Sequence[str] = (),
    abnormal: Sequence[bool] | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    workers: int = 1,
    progress: bool = True,
    missing: Missing = "unscored",
    per_study: str = "error",
    text: str = "",
    by: str = "",
    readings: Readings | None = None,
) -> Comparison:
    """Scores systems on the same studies and tests their differences from the first one.

    Scores, intervals and tests of a metric count the studies that every system has a score for; a note gives the number
    of the others. `.results` holds the scores of each system over all of its own.

    Args:
        systems: The reports of each system by name: a list or column of texts, or a table or file of any kind that
            `rrgmetrics.score` accepts, joined with the references by `study_id` if both have it. The first system is
            the baseline. Or a list of columns of the table `references`, which then contains the reports of all
            systems.
        references: The radiologists' reports, likewise; None takes the references in the systems' tables, which must be
            the same for all systems.
        metrics: Metrics as in `rrgmetrics.score`; None: about eight metrics that fit the kind of report
            (`rrgmetrics.scoring.defaults`).
        contexts: One dict for each study with any of `age`, `sex`, `indication`, `prior`; or None.
        columns: The column names of tables and files, as in `rrgmetrics.score`.
        all_keys: Whether to show every key of each metric instead of the headline only.
        keys: The result keys to show, in this order, such as `["rouge_1", "crepe"]`; None: as `all_keys` says.
        correction: The correction over all tests of the table: "holm", "bh" (Benjamini-Hochberg) or "none".
        trials: Number of resamples of intervals and of random swaps of tests.
        level: Coverage of intervals, between 0 and 1.
        seed: Random seed of intervals and tests.
        trivial: Whether to score trivial systems too (`rrgmetrics.measure_worth`).
        train: Reports of a training set, whose most frequent report is a trivial system.
        abnormal: Which studies are abnormal; None: those with findings of the reader in the references.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        workers: As in `rrgmetrics.score`.
        progress: Whether to show a progress bar.
        missing: As in `rrgmetrics.score`.
        per_study: As in `rrgmetrics.score`.
        text: As in `rrgmetrics.prepare`.
        by: The column of the table `references` that names the system of each row; `systems` lists values of it, or is
            None for all. Only studies that every system has are compared; the others are counted in the log.
        readings: A cache of the reader's results, so that a page of the comparison does not repeat them.

    Returns:
        The comparison: a table in notebooks, `.to_latex()`, `.to_markdown()`, `.to_html()`, `.to_json()`, `.to_frame()`
        and `.errors_frame()` for pandas, `.results` for the Results.

    Raises:
        InputError: An invalid name, system, report or list; nothing was scored.
        BackendError: Missing weights or data; nothing was scored.
        MissingExtraError: An optional dependency that is not installed; nothing was scored.
    """
    metrics = None if metrics is None else listed_names(metrics)
    texts = [] if metrics is None else list(parse_names(metrics))
    check_correction(correction)
    if keys is not None and texts:
        choose_keys(texts, keys)
    if isinstance(systems, Mapping) and not any(isinstance(source, files.InTable) for source in systems.values()):
        check_files(systems, references)
    with files.use_context(context_of(texts or list(default_metrics(())))):
        studies = files.read_systems(systems, references, contexts, columns, per_study, by)
    pairs = {name: each.pairs for name, each in studies.items()}
    _warn_of_copies(pairs)
    n_studies = len(next(iter(pairs.values())))
    first = [pair.reference for pair in next(iter(pairs.values()))]
    texts = list(default_metrics(first)) if metrics is None else fitting_metrics(metrics, first)
    if abnormal is not None and len(abnormal) != n_studies:
        raise InputError(f"abnormal has {len(abnormal)} entries for {n_studies} studies; pass one truth value a study.")
    ids = next(iter(studies.values())).study_ids
    scored = partial(_scored, texts, pairs, ids, trivial, train=train, abnormal=abnormal, trials=trials, seed=seed)
    drawing: dict[str, Any] = {"trials": trials, "level": level, "seed": seed}
    with showing(progress):
        runtime: dict[str, Any] = {"batch_size": batch_size, "device": device, "workers": workers, "text": text}
        results, worth = scored(
            progress=progress, readings=readings or Readings(), missing=check_choice(missing), **runtime
        )
        with phase(STATISTICS, shown=progress):
            results = {
                name: {metric: replace(result, study_ids=ids) for metric, result in own.items()}
                for name, own in results.items()
            }
            rows = compare_systems(results, all_keys=all_keys, keys=keys, correction=correction, **drawing)
    return Comparison(results, rows, studies, correction, worth)


def _warn_of_copies(pairs: Mapping[str, Sequence[Pair]]) -> None:
    """Warns of systems with the same reports, as when one column or file is named for both."""
    alike: dict[tuple[str | None, ...], list[str]] = {}
    for name, own in pairs.items():
        alike.setdefault(tuple(pair.candidate for pair in own), []).append(name)
    for names in alike.values():
        if len(names) > 1:
            logger.warning("%s have the same reports; is a file or column named twice?", listed(names))


def _scored(
    metrics: Sequence[str],
    pairs: Mapping[str, Sequence[Pair]],
    study_ids: Sequence[str] | None,
    trivial: bool,
    *,
    train: Sequence[str],
    abnormal: Sequence[bool] | None,
    trials: int,
    seed: int,
    progress: bool,
    readings: Readings,
    **runtime: Any,
) -> tuple[Mapping[str, Mapping[str, Result]], Worth | None]:
    """The results of each system by metric, and their worth, if they are compared with trivial systems."""
    with prepare(metrics, **runtime) as ready:
        prepared = ready.keeping(readings)
        if not trivial:
            prepared.warn(pairs, study_ids)
            results = prepared.score_sets(list(pairs.values()), progress=progress)
            return dict(zip(pairs, results, strict=True)), None
        options: dict[str, Any] = {"train": train, "abnormal": abnormal, "study_ids": study_ids}
        options |= {"trials": min(trials, WORTH_TRIALS), "seed": seed}
        return score_with_worth(prepared, pairs, progress=progress, **options)
