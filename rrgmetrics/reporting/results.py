"""Tables of what was scored, compared and fitted."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rrgmetrics.files.per_study import dependent_lines
from rrgmetrics.metaeval.judge_runs import Spread, runs_of, spread_of
from rrgmetrics.reporting.numbers import (
    AT_FLOOR,
    bounds,
    direction,
    estimate,
    figure,
    floor_note,
    headed,
    p_value,
    show,
    signed,
    signed_figure,
)
from rrgmetrics.reporting.short import CORRECTED, marked, with_stand_in_note
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.scoring.results import Result, on_shared_studies
from rrgmetrics.scoring.streaming import Totals
from rrgmetrics.specs import JUDGE_OPTIONS, SPECS, Key
from rrgmetrics.specs.conventions import Convention
from rrgmetrics.specs.names import MetricName, parse_name, shown
from rrgmetrics.stats import PairedTest
from rrgmetrics.systems.table import SIGNIFICANT, Row, coverage
from rrgmetrics.utils.text_format import by_number, count_studies, counted, listed

if TYPE_CHECKING:
    from rrgmetrics.metaeval.composite import Composite
    from rrgmetrics.metaeval.judges_compared import JudgesCompared
    from rrgmetrics.metaeval.predicted import Predictions
    from rrgmetrics.stats import Estimate
    from rrgmetrics.training.preference_pairs import Preferences

OWN_PROMPT = "the judge has a prompt of rrgmetrics, not of the authors, whose scores may differ"
MARK = "†"
EFFECT = "Effect: the mean difference of the pairs, divided by its standard deviation over the pairs."


def score_table(rows: Sequence[Row], *, n_pairs: int, notes: Sequence[str] = ()) -> Table:
    """One system's scores: a line a key.

    Args:
        rows: Of one system.
        n_pairs: Pairs in all.
        notes: Further sentences of its note.
    """
    lines: list[Cells] = []
    previous = ""
    rows, left_out = _with_values(rows)
    for row in rows:
        name = shown(row.metric) if row.metric != previous else ""
        lines.append((name, marked(headed(row.key)), _value_cell(row)))
        previous = row.metric
    note = " ".join(filter(None, (left_out, left_out_clause(rows), *published_clauses(_metrics(rows)), *notes)))
    heads = ("metric", "score", f"value [{coverage(rows)} interval]")
    title = _scored_of(rows, n_pairs, notes)
    return with_stand_in_note(Table(heads, (Group(tuple(lines)),), title=title, note=note))


def totals_table(totals: Mapping[str, Totals]) -> Table:
    """The scores of pairs that went through as they came: a line a key, without intervals.

    Args:
        totals: By metric.
    """
    lines: list[Cells] = []
    for name, each in totals.items():
        titled, scores = parse_name(name).titled, each.scores
        for index, key in enumerate(titled.keys):
            number = Cell(show(scores[key.name], key), "number")
            lines.append((name if not index else "", marked(headed(key)), number, str(each.n_unscored)))
    n_pairs = next(iter(totals.values())).n_pairs
    heads = ("metric", "score", "value", "not scored")
    title = count_studies(n_pairs, *(each.n_unscored for each in totals.values()))
    note = " ".join(published_clauses(totals))
    return with_stand_in_note(Table(heads, (Group(tuple(lines)),), title=title, note=note))


def comparison_table(rows: Sequence[Row], *, n_pairs: int, correction: str, notes: Sequence[str] = ()) -> Table:
    """Several systems' scores: for each key a line a system, with the difference from the first system.

    Args:
        rows: By metric, key and system, as `compare_systems` returns them.
        n_pairs: Studies in all.
        correction: Of the p-values.
        notes: Further sentences of its note.
    """
    groups = []
    rows, left_out = _with_values(rows)
    for of_key in _by_key(rows):
        best = _best(of_key)
        lines = [
            (
                f"  {row.system}",
                _value_cell(row, best),
                *(_test_cells(row.test, row) if row.test else ("", "", "")),
            )
            for row in of_key
        ]
        groups.append(Group(tuple(lines), (Cell(_key_head(of_key[0]), "strong"),)))
    scored = _scored_of(rows, n_pairs, notes)
    clauses = (
        _footnote(rows, correction),
        floor_note(row.at_floor for row in rows),
        _effect_clause(rows),
        left_out,
        left_out_clause(rows),
        *published_clauses(_metrics(rows)),
        *notes,
    )
    table = Table(
        ("", f"value [{coverage(rows)} interval]", "difference", "p", "effect"),
        tuple(groups),
        title=f"{scored}; differences from {rows[0].system}; p corrected: {correction}",
        note=" ".join(filter(None, clauses)),
    )
    return with_stand_in_note(table)


def paper_table(rows: Sequence[Row], *, n_pairs: int, correction: str, notes: Sequence[str] = ()) -> Table:
    """Several systems' scores as papers print them: a cell each, along the longer side of scores and systems.

    Two systems have a column of corrected p-values.

    Args:
        rows: By metric, key and system, as `compare_systems` returns them.
        n_pairs: Studies in all.
        correction: Of the p-values.
        notes: Further sentences of its note.
    """
    rows, without = _with_values(rows)
    by_key = _by_key(rows)
    systems = [row.system for row in by_key[0]]
    cells: list[list[str | Cell]] = [[_value_cell(row, _best(of_key)) for row in of_key] for of_key in by_key]
    names = [_key_head(of_key[0]) for of_key in by_key]
    heads = systems
    if len(systems) == 2 and any(row.test for row in rows):
        heads = [*systems, "p"]
        for own, (_, other) in zip(cells, by_key, strict=True):
            own.append(p_value(other.p_corrected, at_floor=other.at_floor).removesuffix(AT_FLOOR))
    elif len(systems) > len(names):
        cells, names, heads = [list(column) for column in zip(*cells, strict=True)], systems, names
    lines: list[Cells] = [(name, *own) for name, own in zip(names, cells, strict=True)]
    clauses = (
        f"{coverage(rows)} bootstrap intervals in brackets.",
        _footnote(rows, correction),
        left_out_clause(rows),
        without,
        *published_clauses(_metrics(rows)),
        *notes,
    )
    table = Table(
        ("", *heads),
        (Group(tuple(lines)),),
        title=f"Scores on {_scored_of(rows, n_pairs, notes)}",
        note=" ".join(filter(None, clauses)),
    )
    return with_stand_in_note(table)


def convention_table(convention: Convention, results: Mapping[str, Mapping[str, Result]]) -> Table:
    """The numbers that a paper prints, by its own words, for each system.

    Args:
        convention: The paper's.
        results: For each system its Results by metric.
    """
    lines: list[Cells] = []
    beside = on_shared_studies(results)
    for words, number in convention.numbers.items():
        key = next(key for key in parse_name(number.metric).spec.keys if key.name == number.key)
        values = [show(by_metric[number.metric].scores[number.key], key) for by_metric in beside.values()]
        lines.append((words, *values, Cell(number.key, "quiet")))
    heads = ("", *(results if len(results) > 1 else ("value",)), "key")
    return Table(heads, (Group(tuple(lines)),), title=f"As {convention.title} prints it", note=convention.words)


def key_table(keys: Iterable[Key], scores: Mapping[str, float]) -> Table:
    """Every key with its value, range and direction."""
    lines = tuple(
        (
            key.title,
            Cell(show(scores[key.name], key), "number"),
            bounds(key),
            direction(key),
            Cell(key.name, "code"),
        )
        for key in keys
    )
    return Table(("Score", "Value", "Range", "Direction", "Key"), (Group(lines),), title="All scores")


def composite_table(composite: Composite) -> Table:
    """A refitted RadCliQ: its weights, and how far it agrees with raters of cases it has not seen."""
    title = f"{composite.n_pairs:,} pairs of {composite.n_cases:,} cases"
    if composite.n_left_out:
        title += f"; {composite.n_left_out:,} pairs unscored"
    weights = [(f"{name}, errors a standard deviation", estimate(weight)) for name, weight in composite.weights.items()]
    intercept = ("errors at the mean of all", estimate(composite.intercept))
    agreement = [
        row
        for quality, of in ((composite.fitted, "as fitted"), (composite.left_out, "each case left out"))
        for row in (
            (f"R², {of}", figure(quality.r2)),
            (f"tau-b with raters, {of}", f"{estimate(quality.correlation.tau_b)}, p {p_value(quality.p_value)}"),
            (f"mean absolute error, {of}", figure(quality.mae)),
        )
    ]
    predicted = composite.predicted
    errors = (
        ("predicted errors, these candidates", figure(predicted.candidates)),
        ("predicted errors, other cases' references", figure(predicted.random)),
        ("decrease", "—" if math.isnan(predicted.decrease) else f"{predicted.decrease:.1f}%".replace("-", "−")),
    )
    note = "p as if pairs were independent; the intervals are over cases."
    groups = (Group((*weights, intercept)), Group(tuple(agreement)), Group(errors))
    return Table(("", "value [95% interval]"), groups, title=f"{title}; fitted by {composite.method}", note=note)


def prediction_table(predictions: Predictions) -> Table:
    """Predicted errors of systems, and per cent by which they lie below those of other studies' reports."""
    lines = [
        (
            name,
            estimate(each.errors),
            "" if each.is_random else _percent(each.decrease),
            *([str(each.n_unscored)] if each.n_unscored else []),
        )
        for name, each in predictions.systems.items()
    ]
    has_unscored = any(each.n_unscored for each in predictions.systems.values())
    heads = ("", "predicted errors [95% interval]", "decrease", *(["unscored"] if has_unscored else []))
    rows = tuple((*line, *[""] * (len(heads) - len(line))) for line in lines)
    title = f"{predictions.model}, {counted(predictions.n_studies, 'study', 'studies')}"
    note = "Decrease: by how many per cent fewer errors are predicted than for another study's reference."
    return Table(heads, (Group(rows),), title=title, note=note)


def preferences_table(preferences: Preferences, metric: str, output: str) -> Table:
    """How many pairs were written, and what was left out."""
    left_out = (
        ("repeated word for word within a study", preferences.n_repeated),
        ("candidates without a score", preferences.n_unscored),
        ("pairs of equal scores", preferences.n_ties),
        ("pairs within the margin", preferences.n_near),
        ("studies without a pair", preferences.n_without),
    )
    rows = len(next(iter(preferences.columns.values())))
    written = (("pairs", f"{preferences.n_pairs:,}"), ("rows", f"{rows:,}"))
    lines = tuple((f"left out: {what}", f"{n:,}") for what, n in left_out)
    of = f"{counted(preferences.n_candidates, 'candidate')} for {count_studies(preferences.n_studies)}"
    title = f"{of} by {shown(metric)}: {output}"
    return Table(("", "number"), (Group(written), Group(lines)), title=title)


def _percent(value: Estimate) -> str:
    if math.isnan(value.value):
        return "—"
    ends = "" if math.isnan(value.low) else f" [{value.low:.1f}, {value.high:.1f}]"
    return f"{value.value:.1f}%{ends}".replace("-", "−")


def judge_lines(results: Mapping[str, Result], record: str = "", *, is_cached: bool = False) -> str:
    """How many pairs each judge has scored, why it has not scored the others, and how to score again without asking.

    Nothing can be scored again where no pair has a verdict.

    Args:
        results: By the name that was asked for.
        record: The file of the replies; "": none was written.
        is_cached: Whether there are replies in the cache, where the name itself finds them.
    """
    lines = []
    for asked, result in results.items():
        name, headline = result.spec.name, result.titled.headline
        scored = f"{result.n_pairs - result.n_unscored:,} of {result.n_pairs:,} pairs scored"
        lines.append(f"{name}: {scored}, {headed(headline)} {show(result.scores[headline.name], headline)}")
        runs = runs_of(result)
        lines += [f"  {spread_line(spread_of(runs))}"] if runs is not None else []
        lines += [f"  unscored: {reason} ({count:,})" for reason, count in result.unscored_counts.items()]
        again = replay_name(asked, record) if record else f"{asked} (its replies are cached)" if is_cached else ""
        lines += [f"  score again without asking: {again}"] if again and result.n_unscored < result.n_pairs else []
    return "\n".join(lines)


def replay_name(asked: str, record: str) -> str:
    """The name of a judge that reads recorded replies: with the same texts and runs, without options of the engine.

    Example:
        >>> replay_name("green@openai:my-model?text=findings&runs=3&timeout=60", "replies.jsonl")
        'green@replies:replies.jsonl?text=findings&runs=3'
    """
    name = parse_name(asked)
    kept = {key: value for key, value in name.options.items() if key == "runs" or key not in JUDGE_OPTIONS}
    return str(MetricName(name.spec, f"replies:{record}", kept))


def judges_table(compared: JudgesCompared) -> Table:
    """How far two judges' counts, scores and replies lie apart."""
    lines: list[Cells] = [
        (
            each.title,
            f"{figure(each.mae)} ± {figure(each.sd)}",
            signed_figure(each.bias),
            f"{each.same:.0%}",
            str(each.n),
        )
        for each in compared.apart
    ]
    texts: list[Cells] = [
        (f"replies as texts: {parse_name(name).titled.headline.title}", estimate(each), "", "", str(each.n))
        for name, each in compared.texts.items()
    ]
    missing = ", ".join(
        f"{shown(name)} {n:,}"
        for name, n in zip((compared.first, compared.second), compared.unscored, strict=True)
        if n
    )
    unscored = f" Without a verdict: {missing}." if missing else ""
    return Table(
        ("", "MAE ± SD", "bias", "same", "pairs"),
        tuple(Group(tuple(part)) for part in (lines, texts) if part),
        title=f"{shown(compared.second)} against {shown(compared.first)}, {counted(compared.n_pairs, 'pair')}",
        note="Bias: the second minus the first. Texts: score [95% interval], with the first's reply as reference."
        + unscored,
    )


def spread_line(spread: Spread) -> str:
    """How far the runs of a judge lie apart, in a line."""
    sd_of_mean = "—" if math.isnan(spread.sd_of_mean) else figure(spread.sd_of_mean)
    text = f"mean of {spread.n_runs} runs {figure(spread.mean)}, SD of the mean {sd_of_mean}"
    if math.isnan(spread.sd_of_pair):
        return text
    return (
        f"{text}, SD of a pair {figure(spread.sd_of_pair)} ({100 * spread.identical:.0f}% of pairs identical in "
        "all runs)"
    )


def _with_values(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """The rows without those that have no value though pairs were scored, and a sentence that says so.

    These are labels that no report has, and, of scores of pairs, what a configuration does not compute.
    """
    undefined = {
        (own[0].metric, own[0].key.name): own[0].key.per_pair
        for own in _by_key(rows)
        if all(math.isnan(row.score.value) and row.score.n for row in own)
    }
    kept = [row for row in rows if (row.metric, row.key.name) not in undefined]
    if not undefined or not kept:
        return list(rows), ""
    reasons = {False: "of labels that no report has", True: "that a configuration does not compute"}
    left_out = [
        f"{counted(n, 'score')} {reason}"
        for of_pair, reason in reasons.items()
        if (n := [*undefined.values()].count(of_pair))
    ]
    return kept, f"Left out: {', '.join(left_out)}."


def _by_key(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows of each score."""
    return [list(own) for _, own in groupby(rows, lambda row: (row.metric, row.key.name))]


def _key_head(row: Row) -> str:
    """A score with its direction, and the metric as it was asked for where the title does not say it."""
    return f"{marked(row.title)} {row.key.arrow}" + ("" if row.metric in SPECS else f" ({shown(row.metric)})")


def _best(rows: Sequence[Row]) -> set[str]:
    """The systems that no other one beats in a score as it is shown; none where there is one system alone."""
    scored = [row for row in rows if not math.isnan(row.score.value)]
    if len(rows) < 2 or not scored:
        return set()
    first = max(scored, key=lambda row: row.key.goodness(row.score.value))
    return {row.system for row in scored if show(row.score.value, row.key) == show(first.score.value, row.key)}


def _value_cell(row: Row, best: Container[str] = ()) -> Cell:
    """A score with its interval: the best one strong, one that differs from the baseline's marked."""
    value, _, ends = estimate(row.score, row.key).partition(" ")
    return Cell(value + (MARK if row.is_significant else ""), "strong" if row.system in best else "", detail=ends)


def _footnote(rows: Sequence[Row], correction: str) -> str:
    """What is bold and what the mark means, where there is one."""
    best = "Best in bold." if any(map(_best, _by_key(rows))) else ""
    tested = how_tested(rows, correction)
    if not tested:
        return best
    how = f"p < {SIGNIFICANT:g} ({tested})"
    is_marked = any(row.is_significant for row in rows)
    differ = f"{MARK} differs from {rows[0].system}," if is_marked else f"No difference from {rows[0].system} has"
    return f"{best} {differ} {how}.".lstrip()


def how_tested(rows: Sequence[Row], correction: str) -> str:
    """How differences were tested, in words; "" if none was.

    Args:
        rows: As `compare_systems` returns them.
        correction: Of the p-values.
    """
    tests = [row.test for row in rows if row.test is not None]
    drawn = {round(1 / test.floor) - 1 for test in tests if test.floor}
    swaps = f"{max(drawn):,} random swaps of pairs" if drawn else "every swap of pairs"
    corrected = f", {CORRECTED[correction]} over {counted(len(tests), 'test')}" if len(tests) > 1 else ""
    return f"two-sided randomisation test, {swaps}{corrected}" if tests else ""


def published_clauses(metrics: Iterable[str]) -> list[str]:
    """How published values of these metrics differ, a sentence each; and which judges have a prompt of our own.

    Example:
        >>> published_clauses(["bleu"]), published_clauses(["meteor?text=r2gen"])[0][:17]
        ([], "METEOR is NLTK's:")
    """
    names = list(map(parse_name, metrics))
    own = list(dict.fromkeys(name.spec.title for name in names if name.own_prompt))
    said = [f"{listed(own)}: {OWN_PROMPT}."] if own else []
    return [*filter(None, dict.fromkeys(name.spec.published for name in names)), *said]


def _metrics(rows: Iterable[Row]) -> list[str]:
    return [row.metric for row in rows]


def _effect_clause(rows: Sequence[Row]) -> str:
    """What the column of effect sizes holds, where it holds any."""
    return EFFECT if any(row.test is not None and not math.isnan(row.test.effect_size) for row in rows) else ""


def _test_cells(test: PairedTest, row: Row) -> Cells:
    style = {True: "better", False: "worse", None: "quiet"}[row.is_better if row.is_significant else None]
    change = test.difference
    value, low, high = (signed(end, row.key) for end in change[:3])
    effect = "" if math.isnan(test.effect_size) else signed_figure(test.effect_size, 2)
    return Cell(value, style, detail=f"[{low}, {high}]"), p_value(row.p_corrected, at_floor=row.at_floor), effect


def left_out_clause(rows: Sequence[Row]) -> str:
    """How many studies are left out because they have no score, of all metrics in one sentence.

    Args:
        rows: By metric, key and system.
    """
    counts = {metric: min(row.n_left_out for row in own) for metric, own in groupby(rows, lambda row: row.metric)}
    by_count: dict[int, list[str]] = {}
    for metric, n in counts.items():
        if n:
            by_count.setdefault(n, []).append(shown(metric))
    if not by_count:
        return ""
    without = "without a score"
    if any(row.n_left_out > row.n_unscored for row in rows):
        without = "that not every system has a score for"
    if len(by_count) == 1 and len(next(iter(by_count.values()))) == len(counts):
        n = next(iter(by_count))
        return f"{counted(n, 'study', 'studies')} {without} {by_number(n, 'is', 'are')} left out."
    parts = [f"{n:,} in {listed(names)}" for n, names in by_count.items()]
    return f"Studies {without} are left out: {'; '.join(parts)}."


def _scored_of(rows: Sequence[Row], n_pairs: int, notes: Sequence[str]) -> str:
    """How many studies there are, and how many of them the scores do not count."""
    scored = {row.score.n for row in rows if row.score.n} or {0}
    unscored = [n_pairs - n for n in scored] if rows else []
    return count_studies(n_pairs, *unscored, several=bool(dependent_lines(notes)))
