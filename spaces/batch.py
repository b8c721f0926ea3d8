"""A file of pairs: read strictly, scored a piece at a time so that progress can be told, shown and written."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.abnormal import MIN_STUDIES
from rrgmetrics.baselines.skill import score_beside, trivial_systems
from rrgmetrics.baselines.worth import Worth, worth_of
from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import RENAMES, obvious_columns
from rrgmetrics.reporting.html import NOTHING, category_bars, category_counts, headline, part
from rrgmetrics.reporting.numbers import between, direction
from rrgmetrics.reporting.report import report_page
from rrgmetrics.reporting.results import key_table
from rrgmetrics.reporting.spread import spread
from rrgmetrics.reporting.worth import HEADING, worth_tables
from rrgmetrics.reports.missing import missing_lines
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.packs import kind_lines
from rrgmetrics.scoring.prepared import Progress
from rrgmetrics.scoring.results import Result
from rrgmetrics.spaces.advice import for_page
from rrgmetrics.spaces.limits import MAX_MEGABYTES, MAX_PAIRS, MAX_SECONDS, check_size
from rrgmetrics.spaces.ready import ready
from rrgmetrics.spaces.rows import rows_view
from rrgmetrics.specs import Key, MetricSpec
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.text_format import capitalized, count_studies

PIECE = 64  # pairs between two reports of progress
SYSTEM = "The file"  # as tables name it
SUFFIXES = (".csv", ".jsonl")  # Parquet is not taken: a small file of it can unpack to any size


class Scored(NamedTuple):
    """A whole file's scores, by the name that was asked for, and what they are worth beside trivial systems."""

    name: str
    studies: files.Studies
    result: Result
    worth: Worth | None = None
    readings: Readings | None = None

    @property
    def study_ids(self) -> list[str]:
        """The file's ids, or numbers from 1."""
        return self.studies.study_ids or [str(number) for number in range(1, len(self.studies.pairs) + 1)]


# --- reading ----------------------------------------------------------------------------------------------------------


def columns_of(path: str) -> list[str]:
    """The columns of an uploaded file, by its first row; none of one that cannot be read."""
    try:
        _, _, row = next(files.rows_of(Path(path), files.COLUMNS), ("", 0, {}))
        return list(row)
    except InputError:
        return []  # reading it says why


def guessed_columns(found: Sequence[str]) -> dict[str, str]:
    """Which columns most likely hold what, by field: those that reading takes, and names that other tools give.

    Example:
        >>> guessed_columns(["id", "findings_gt", "findings_pred"])
        {'reference': 'findings_gt', 'candidate': 'findings_pred', 'study_id': 'id'}
        >>> guessed_columns(["truth a", "truth b", "hyp"])
        {'candidate': 'hyp'}
    """
    guesses = obvious_columns(found, [("reference",), ("candidate",)], {})
    for field in (field for field in ("reference", "candidate", "study_id") if field not in guesses):
        names = (field, *RENAMES.get(field, ()))
        free = [column for column in found if column not in guesses.values()]
        if guess := next((column for name in names for column in free if column.strip().lower() == name), ""):
            guesses[field] = guess
    return guesses


def read_upload(path: str, columns: Mapping[str, str] | None = None) -> files.Studies:
    """Reads an uploaded file of pairs.

    Args:
        path: Where it lies.
        columns: Its column by field, where a visitor chose one.

    Raises:
        InputError: It cannot be used; the message does not name the server's own path.
    """
    file = Path(path)
    try:
        return _read(file, columns or {})
    except InputError as error:
        raise InputError(for_page(_without_folders(str(error), file))) from None


def _read(file: Path, columns: Mapping[str, str]) -> files.Studies:
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(f"{file} is neither CSV nor JSONL; save it as one of them.")
    size = file.stat().st_size / 1e6
    if size > MAX_MEGABYTES:
        raise InputError(f"{file} has {size:,.0f} MB; the limit of this page is {MAX_MEGABYTES} MB. {_ELSEWHERE}")
    n_rows = sum(1 for _ in islice(files.rows_of(file, files.COLUMNS), MAX_PAIRS + 1))
    if n_rows > MAX_PAIRS:
        raise InputError(f"{file} has more than {MAX_PAIRS:,} pairs, the limit of this page. {_ELSEWHERE}")
    studies = files.read_pairs(file, columns)
    for number, pair in enumerate(studies.pairs, 1):
        check_size(pair.reference, f"{file}, pair {number}, column 'reference'")
        check_size(pair.candidate, f"{file}, pair {number}, column 'candidate'")
    return studies


_ELSEWHERE = "Split it, or install rrgmetrics and score it on your own machine, which has no such limit."


def _without_folders(message: str, file: Path) -> str:
    """Messages name the file as the user knows it; the current folder of the server is nobody's business either."""
    message = message.replace(str(file), file.name)
    return re.sub(r" \(looked in .*?\)", "", message)


# --- scoring ----------------------------------------------------------------------------------------------------------


def score_file(name: str, studies: files.Studies) -> Iterator[int | Result]:
    """Scores pairs with a metric of this name; yields how many are done, again and again, and at last the result.

    Raises:
        InputError: It takes longer than a page may.
    """
    n_pairs, end = len(studies.pairs), time.monotonic() + MAX_SECONDS
    yield 0
    at_once = parse_name(name).counts_references
    for step in ready(name).steps(studies.pairs, block=n_pairs if at_once else PIECE):
        if not isinstance(step, Progress):
            yield step[name]
        elif step.done < step.total:
            done = step.done * n_pairs // step.total  # equal pairs are scored once
            yield done
            if time.monotonic() > end:
                raise InputError(
                    f"After {MAX_SECONDS // 60} minutes, the time limit of this page, {done:,} of {n_pairs:,} pairs "
                    f"were scored. {_ELSEWHERE}"
                )


def with_worth(name: str, studies: files.Studies, result: Result) -> Scored:
    """Compares a file's scores with those of trivial systems; in few pairs there is nothing to compare."""
    n_pairs = len(studies.pairs)
    if n_pairs < MIN_STUDIES:
        return Scored(name, studies, result)
    readings = Readings()
    metrics = ready(name).keeping(readings)
    trivial = score_beside(metrics, {}, trivial_systems(studies.pairs, readings=readings), progress=False)[1]
    systems = {SYSTEM: studies.pairs}
    worth = worth_of({SYSTEM: {name: result}}, trivial, systems, readings=readings)
    return Scored(name, studies, result, worth, readings)


# --- writing ----------------------------------------------------------------------------------------------------------


def write_scores(scored: Scored, folder: str) -> list[str]:
    """Writes the scores of each pair as CSV (what a spreadsheet would run, neutralised) and all as a readable page."""
    name = scored.result.spec.name
    paths = [str(Path(folder) / f"{name}_scores.csv"), str(Path(folder) / f"{name}_report.html")]
    columns: dict[str, Sequence[Any]] = {"study_id": scored.study_ids}
    columns |= {key: values.tolist() for key, values in scored.result.per_pair.items()}
    files.write_table(paths[0], columns, force=True)
    pairs = {SYSTEM: scored.studies.pairs}
    found = {SYSTEM: {scored.name: scored.result}}
    page = report_page(found, pairs, scored.study_ids, worth=scored.worth, readings=scored.readings)
    files.write_text(paths[1], page, force=True)
    return paths


# --- showing ----------------------------------------------------------------------------------------------------------


def progress(done: int, total: int, seconds: float) -> Markup:
    """How far a file is, and about how long it still takes."""
    left = "" if not done else f", about {_duration(seconds * (total - done) / done)} left"
    return part(
        Markup(
            '<p role="status">{:,} of {:,} pairs{}</p><div class="track" role="progressbar" aria-label="Pairs scored" '
            'aria-valuemin="0" aria-valuemax="{}" aria-valuenow="{}"><i style="width:{:.1f}%"></i></div>'
        ).format(done, total, left, total, done, 100 * done / total)
    )


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(1.0, seconds):.0f} s"


def overview(scored: Scored) -> Markup:
    """The corpus scores, their spread, and the worst pairs."""
    result = scored.result
    key = result.titled.headline
    n_scored = result.n_pairs - result.n_unscored
    pieces = [
        Markup('<p role="status" class="lead">{}.</p>').format(count_studies(result.n_pairs, result.n_unscored)),
        headline(key, result.scores[key.name]),
    ]
    if result.n_unscored:
        reasons = "; ".join(f"{reason}: {count:,}" for reason, count in result.unscored_counts.items())
        pieces.insert(1, Markup('<p class="note">Not scored: {}.</p>').format(reasons))
    missing = missing_lines({"": scored.studies.pairs}, scored.studies.study_ids, "unscored")
    for line in (*map(for_page, missing), *kind_lines({"": {scored.name: result}})):
        pieces.append(Markup('<p class="note">{}</p>').format(line))
    if n_scored > 1:
        interval = result.interval()
        pieces.append(
            Markup('<p class="note">95% interval over studies: {}.{}</p>').format(
                between(interval.low, interval.high, key), _level(result.spec)
            )
        )
    counts = category_counts(result)
    if scored.worth is not None:
        pieces.append(Markup("<h2>{}</h2>").format(HEADING))
        pieces += [Markup("<p>{}</p>").format(remark) for remark in scored.worth.remarks]
        for table in worth_tables(scored.worth):
            title = table.title.removeprefix(f"{HEADING}: ")  # the heading above says it
            pieces.append(Markup("<h3>{}</h3>{}").format(capitalized(title), table))
    if counts:
        pieces.append(Markup("<h2>Errors by category, a pair</h2>{}").format(category_bars(counts)))
    if n_scored:
        pieces.append(Markup("<h2>Spread over the pairs</h2>{}").format(histogram(result.per_pair[key.name], key)))
    pieces.append(rows_view(scored.name, scored.studies.pairs, scored.study_ids, result))
    pieces.append(
        Markup(
            "<details><summary>All scores and the signature</summary>{}<p class='note'><code>{}</code></p></details>"
        ).format(key_table(result.titled.keys, result.scores), result.signature)
    )
    return part(*pieces)


def _level(spec: MetricSpec) -> str:
    return (
        " The score is computed over all pairs together; it is not the mean of the pairs."
        if spec.level == "corpus"
        else ""
    )


def histogram(values: Array, key: Key) -> Markup:
    """How many pairs got which score, as a drawing with its description."""
    drawn = spread(key, {"": values})
    own = drawn.systems[""]
    bars = NOTHING.join(
        Markup('<rect x="{}" y="{:.1f}" width="9" height="{:.1f}"/>').format(x, 80 - 80 * share, 80 * share)
        for x, share in own.bars
    )
    return Markup(
        '<figure class="spread"><svg viewBox="0 0 300 80" preserveAspectRatio="none" role="img" aria-label="{}: {}">{}'
        '<line x1="{x}" x2="{x}" y1="0" y2="80"/></svg><div class="axis" aria-hidden="true"><span>{}</span>'
        "<span>{}</span></div><figcaption>{}; {}. The line is the median.</figcaption></figure>"
    ).format(key.title, own.described, bars, drawn.low, drawn.high, direction(key).capitalize(), own.described, x=own.x)


def plain(text: str) -> str:
    """A message for Gradio's own boxes, which read HTML."""
    return str(escape(text))
