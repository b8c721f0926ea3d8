"""Tables of agreement with radiologists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from rrgmetrics.metaeval.agree import Report
from rrgmetrics.metaeval.agreement import AgreementReport, main_target
from rrgmetrics.metaeval.equal import EqualReport
from rrgmetrics.metaeval.model import Agreement, Between, Preference, View
from rrgmetrics.metaeval.preferences import PreferenceReport
from rrgmetrics.metaeval.ranked import RankedReport
from rrgmetrics.metaeval.rated import TOTAL
from rrgmetrics.reporting.equal import equal_table
from rrgmetrics.reporting.numbers import floor_note, p_value
from rrgmetrics.reporting.preferences import preference_tables
from rrgmetrics.reporting.ranked import failed_table, passed_table
from rrgmetrics.reporting.short import (
    CORRECTED,
    NO_CEILING,
    NOTHING,
    STYLES,
    best_note,
    best_strong,
    few_note,
    label_notes,
    metric_head,
    named,
    short,
    short_estimate,
    short_signed,
    span,
    subject_of,
    tau_cell,
)
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.specs import BUNDLED_MARK
from rrgmetrics.stats import Estimate
from rrgmetrics.systems.table import SIGNIFICANT
from rrgmetrics.utils.text_format import counted

CEILING = {"others": "a radiologist", "each other": "two radiologists"}


def agreement_tables(reports: Sequence[Report]) -> Iterator[Table]:
    """Yields every table: all rated data sets in one summary, then each data set's own."""
    rated = [report for report in reports if isinstance(report, AgreementReport)]
    if len(rated) > 1:
        yield datasets_table(rated)
    for report in rated:
        yield summary_table(report)
        yield pooled_table(report)
        if report.data.published:
            yield published_table(report)
        if any(not math.isnan(line.mae) for line in report.agreements):
            yield counts_table(report)
        if any(line.view != "pairs" for line in report.agreements):
            yield within_table(report)
        if len(report.data.counted_kinds) > 1:
            yield kinds_table(report)
        yield from subset_tables(report)
        if report.between:
            yield between_table(report)
    equal = [report for report in reports if isinstance(report, EqualReport)]
    if equal:
        yield equal_table(equal)
    for preferences in reports:
        if isinstance(preferences, PreferenceReport):
            yield from preference_tables(preferences)
    for ranked in reports:
        if isinstance(ranked, RankedReport):
            yield passed_table(ranked)
            if not all(row.passed for row in ranked.judged):
                yield failed_table(ranked)


def summary_table(report: AgreementReport) -> Table:
    """tau-b of each metric's headline with each main target, pooled and within studies, and preferences."""
    heads = [report.data.title(target) for target in report.data.main]
    heads += ["within"] if _has(report, "within") else []
    heads += ["preferences"] if _has_preferences(report) else []
    lines = [(named(name, result), *_summary_cells(report, name)) for name, result in report.results.items()]
    lines = best_strong(lines)
    ceiling = list(_ceiling_cells(report))
    n_scored = [len(report.data.pairs) - result.n_unscored for result in report.results.values()]
    if len(set(n_scored)) > 1:  # the metrics are not measured on the same pairs
        heads.append("pairs")
        ceiling.append(Cell(""))
        lines = [(*line, str(n)) for line, n in zip(lines, n_scored, strict=True)]
    groups = [Group(tuple(lines))]
    if report.published:
        groups.append(Group(tuple(_published_summary(report, len(heads))), (Cell("published", "quiet"),)))
    groups.append(Group(((Cell("a radiologist", "quiet"), *ceiling),)))
    within = f"Within: tau-b with {report.data.title(main_target(report.data))} over each study's candidates, averaged."
    return Table(
        ("metric", *heads),
        tuple(groups),
        title=f"{_size(report)}: tau-b with radiologists",
        note=" ".join(filter(None, (_label_note(groups), within if _has(report, "within") else "", _notes([report])))),
    )


def datasets_table(reports: Sequence[AgreementReport]) -> Table:
    """tau-b of each metric with what the raters of each data set said, pooled and within studies."""
    groups = []
    for target in dict.fromkeys(target for report in reports for target in report.data.main):
        views: tuple[View, ...] = ("pairs", "within")
        for view in views:
            have = [report for report in reports if target in report.data.main and _has(report, view)]
            if have and (view == "pairs" or any(target == main_target(report.data) for report in have)):
                over = "over all pairs" if view == "pairs" else "within studies"
                groups.append(_datasets_group(reports, target, view, f"{have[0].data.title(target)}, {over}"))
            if have and view == "pairs":
                groups.append(
                    _rho_group(reports, target, f"{have[0].data.title(target)}, Spearman's rho over all pairs")
                )
    return Table(
        ("metric", *(report.name for report in reports), *["second minus first"][: _is_part(reports)]),
        tuple(groups),
        title="tau-b and rho with radiologists",
        note=" ".join(filter(None, (f"{'; '.join(map(_size, reports))}.", _label_note(groups), _notes(reports)))),
        broken=frozenset(range(len(reports) + 2)),
    )


def _datasets_group(reports: Sequence[AgreementReport], target: str, view: View, title: str) -> Group:
    lines: list[Cells] = []
    differences = []
    for name, result in reports[0].results.items():
        found = [report.headline(name, target, view) if target in report.data.values else None for report in reports]
        lines.append((f"  {named(name, result)}", *map(_agreed, found)))
        differences.append(_difference_of(reports, found, "tau_b"))
    lines = [(*line, *own) for line, own in zip(best_strong(lines), differences, strict=True)]
    have = [target in report.data.values for report in reports]
    reached = [report.reached(target, view) for report in reports]
    cells = (_ceiling_cell(own) if there else "" for own, there in zip(reached, have, strict=True))
    lines.append((Cell("  a radiologist", "quiet"), *cells, *[""][: _is_part(reports)]))
    return Group(tuple(lines), (Cell(title, "strong"),))


def _rho_group(reports: Sequence[AgreementReport], target: str, title: str) -> Group:
    """Rho of each metric on each data set."""
    lines: list[Cells] = []
    differences = []
    for name, result in reports[0].results.items():
        found = [report.headline(name, target) if target in report.data.values else None for report in reports]
        lines.append((f"  {named(name, result)}", *(short(line.rho.value) if line else "" for line in found)))
        differences.append(_difference_of(reports, found, "rho"))
    lines = [(*line, *own) for line, own in zip(best_strong(lines), differences, strict=True)]
    return Group(tuple(lines), (Cell(title, "strong"),))


def _is_part(reports: Sequence[AgreementReport]) -> bool:
    """Whether there are two data sets and the second is a part of the first, as ReXVal without its equal pairs is."""
    return len(reports) == 2 and set(reports[1].data.pairs) <= set(reports[0].data.pairs)


def _difference_of(reports: Sequence[AgreementReport], found: Sequence[Agreement | None], name: str) -> Cells:
    """The second data set's number less the first one's, as CREPE's table 2 has it; no cell for other data sets."""
    if not _is_part(reports):
        return ()
    first, second = (getattr(line, name).value if line else math.nan for line in found)
    return (short_signed(second - first),)


def pooled_table(report: AgreementReport) -> Table:
    """Each metric against each target over all pairs."""
    groups = []
    for subject, result in report.results.items():
        lines = [line for line in _of(report, subject, "pairs") if not line.subset]
        groups.append(Group(tuple(_pooled_line(report, line) for line in lines), metric_head(subject, result)))
    groups += [*_published_groups(report), *_ceiling_groups(report)]
    few = few_note(line.tau_b for line in report.agreements if line.view == "pairs" and not line.subset)
    return Table(
        ("metric against", "tau-b", "label", "p", "rho", "r", "pairs"),
        tuple(groups),
        title=f"{report.name}: pairs, {100 * report.resampling.level:g}% intervals over studies",
        note=" ".join(
            filter(None, (POOLED_NOTE, P_NOTE, few, CEILING_NOTE if report.ceiling else "", _lacking(report)))
        ),
    )


def published_table(report: AgreementReport) -> Table:
    """Scores that the data come with, each beside ours of the same metric."""
    groups = []
    for name, published in report.data.published.items():
        own = [each for each in report.beside if each.published == name]
        rows: list[Cells] = [
            (
                f"  {subject_of(each.subject, report.results[each.subject])}: {each.key}",
                short_signed(each.mean),
                short(each.largest),
                short(each.tau_b.value),
                short(each.rho.value),
                short(each.r.value),
                str(each.n),
            )
            for each in own
        ]
        wanted = f"  not scored: {' or '.join(published.counterparts)}" if published.counterparts else "  none of ours"
        groups.append(Group(tuple(rows or [(Cell(wanted, "quiet"), *[""] * 6)]), (Cell(name, "strong"),)))
    return Table(
        ("published and ours", "mean difference", "largest", "tau-b", "rho", "r", "pairs"),
        tuple(groups),
        title=f"{report.name}: published scores and ours",
        note="Difference: ours minus published; largest: in absolute value. tau-b, rho, r: between ours and the "
        "published.",
        broken=frozenset(range(1, 7)),
    )


def counts_table(report: AgreementReport) -> Table:
    """How far a metric's counts lie from the raters' mean, and a rater's from the mean of the others."""
    groups = []
    for subject, result in report.results.items():
        counted = [line for line in _of(report, subject, "pairs") if not math.isnan(line.mae)]
        rows = [
            (f"  {_against(report, line)}", short(line.mae), short_signed(line.bias), str(line.n)) for line in counted
        ]
        groups += [Group(tuple(rows), metric_head(subject, result))] if rows else []
    spans: list[Cells] = []
    for target in report.data.main:
        lines = [line for line in _rated_lines(report, "others", target, "pairs") if not math.isnan(line.mae)]
        if lines:
            mae, bias = (span(getattr(line, name) for line in lines) for name in ("mae", "bias"))
            spans.append((Cell(f"  {report.data.title(target)}", "quiet"), mae, bias, _n(lines)))
    groups += [Group(tuple(spans), (Cell(CEILING["others"], "quiet"),))] if spans else []
    return Table(
        ("counts", "MAE", "bias", "pairs"),
        tuple(groups),
        title=f"{report.name}: mean absolute error of counts a pair",
        note="Compared with the mean of the raters; a radiologist: with the mean of the other raters. Bias: "
        "counted minus annotated.",
    )


def within_table(report: AgreementReport) -> Table:
    """Each metric against each target within studies, and on differences where each study has two candidates."""
    views: list[View] = [view for view in ("within", "differences") if _has(report, view)]
    heads = {"within": ("within", "studies"), "differences": ("C1 − C2", "twos")}
    groups = []
    for subject, result in report.results.items():
        by_view = {view: _of(report, subject, view) for view in views}
        lines: list[Cells] = []
        for line in by_view[views[0]]:
            same = [_same(by_view[view], line) for view in views]
            cells = [
                cell for each in same for cell in ((short_estimate(each.tau_b), str(each.n)) if each else ("", ""))
            ]
            lines.append((f"  {_against(report, line)}", *cells))
        groups.append(Group(tuple(lines), metric_head(subject, result)))
    for key, heading in CEILING.items():
        spans: list[Cells] = []
        for target in report.data.main:
            own = [_rated_lines(report, key, target, view) for view in views]
            if any(own):
                cells = [cell for lines in own for cell in (span(line.tau_b.value for line in lines), _n(lines))]
                spans.append((Cell(f"  {report.data.title(target)}", "quiet"), *cells))
        if spans:
            groups.append(Group(tuple(spans), (Cell(heading, "quiet"),)))
    few = few_note(line.tau_b for line in report.agreements if line.view in views)
    return Table(
        ("metric against", *(head for view in views for head in heads[view])),
        tuple(groups),
        title=f"{report.name}: within studies",
        note=" ".join(filter(None, (*(VIEW_NOTES[view] for view in views), few, _lacking(report)))),
    )


def kinds_table(report: AgreementReport) -> Table:
    """Each metric's headline against each kind of error: what a metric sees."""
    kinds = report.data.counted_kinds
    lines = []
    for subject, result in report.results.items():
        found = [report.headline(subject, kind) for kind in kinds]
        lines.append((named(subject, result), *map(_agreed, found)))
    lines = best_strong(lines)
    ceiling = (Cell("a radiologist", "quiet"), *(_ceiling_cell(report.reached(kind)) for kind in kinds))
    mean = ("errors a pair", *(f"{_nanmean(report.data.mean(kind)):.2f}" for kind in kinds))
    groups = (Group(tuple(lines)), Group((ceiling, (Cell(mean[0], "quiet"), *mean[1:]))))
    return Table(
        ("metric", *map(report.data.title, kinds)),
        groups,
        title=f"{report.name}: tau-b of each headline with each kind of error",
        note=_label_note(groups),
        broken=frozenset(range(len(kinds) + 1)),
    )


def subset_tables(report: AgreementReport) -> Iterator[Table]:
    """Yields for each label, such as the section or the source of the candidate, the pooled tau-b of each part."""
    parts: dict[str, list[str]] = {}
    for label, text, _ in report.data.subsets():
        parts.setdefault(label, []).append(text)
    for label, target in product(parts, report.data.main):
        texts = parts[label]
        lines = []
        for subject, result in report.results.items():
            found = [report.headline(subject, target, subset=f"{label} {text}") for text in texts]
            lines.append((named(subject, result), *map(_agreed, found)))
        lines = best_strong(lines)
        sizes = [str(sum(each == text for each in report.data.labels[label])) for text in texts]
        reached = (_ceiling_cell(report.reached(target, subset=f"{label} {text}")) for text in texts)
        quiet: list[Cells] = [(Cell("a radiologist", "quiet"), *reached), (Cell("pairs", "quiet"), *sizes)]
        groups = (Group(tuple(lines)), Group(tuple(quiet)))
        yield Table(
            ("metric", *texts),
            groups,
            title=f"{report.name}: tau-b with {report.data.title(target)}, by {label}",
            note=_label_note(groups),
            broken=frozenset(range(len(texts) + 1)),
        )


def between_table(report: AgreementReport) -> Table:
    """The metric that agrees best against every other one."""
    lines = report.between
    taus: dict[str, float] = {}
    for line in lines:
        taus |= {line.first: line.taus[0], line.second: line.taus[1]}
    ranked = sorted(taus, key=lambda name: -math.inf if math.isnan(taus[name]) else taus[name], reverse=True)
    best, *others = ranked
    rows: list[Cells] = [(Cell(named(best, report.results[best]), "strong"), short(taus[best]), "", "")]
    for name in others:
        line = next(line for line in lines if {line.first, line.second} == {best, name})
        rows.append((named(name, report.results[name]), short(taus[name]), *_difference(line, best)))
    shown = report.data.title(lines[0].target)
    over = f", corrected over all {len(lines)} pairs of metrics ({CORRECTED[report.correction]})"
    corrected = over if len(lines) > 1 else ""
    floor = floor_note(line.at_floor for line in lines)
    few = few_note(line.difference for line in lines)
    return Table(
        ("metric", "tau-b", "best minus this", "p"),
        (Group(tuple(rows)),),
        title=f"{report.name}: differences between metrics, {shown}",
        note=f"Paired bootstrap over studies; p two-sided{corrected}. {floor or few}".strip(),
    )


def number_rows(reports: Sequence[Report]) -> list[dict[str, object]]:
    """Every number, a row each, as `--output` writes them."""
    return [row for report in reports for row in report.rows()]


# --- cells

POOLED_NOTE = (
    "label: aligned, tau-b is significantly above 0 (its interval lies above 0); misaligned, significantly below; not "
    "significant, the interval contains 0."
)
P_NOTE = "p: two-sided Kendall test of tau-b = 0, which assumes independent pairs; the intervals resample studies."
CEILING_NOTE = (
    "Lowest to highest over raters. A radiologist: one against the mean of the others; two: one against another; "
    "errors to rating: the mean counts against the mean rating."
)
VIEW_NOTES: dict[View, str] = {
    "within": "Within (blocked): tau-b of each study's candidates, averaged over the studies where neither side is "
    "constant.",
    "differences": "C1 − C2: tau-b of the differences of the two candidates of each study.",
}


def _label_note(groups: Sequence[Group]) -> str:
    """What bold, ° and ? mean, where a table has them."""
    return " ".join(filter(None, (best_note(groups), label_notes(groups))))


def _summary_cells(report: AgreementReport, subject: str) -> Iterator[str | Cell]:
    for target in report.data.main:
        line = report.headline(subject, target)
        yield tau_cell(line.tau_b, line.label) if line else ""
    if _has(report, "within"):
        line = report.headline(subject, main_target(report.data), "within")
        yield tau_cell(line.tau_b, line.label) if line else ""
    if _has_preferences(report):
        yield _share(next(each for each in report.preferences if each.subject == subject))


def _ceiling_cells(report: AgreementReport) -> Iterator[Cell]:
    """What raters reach with the others, under the columns of the summary."""
    yield from (_ceiling_cell(report.reached(target)) for target in report.data.main)
    if _has(report, "within"):
        yield _ceiling_cell(report.reached(main_target(report.data), "within"))
    if _has_preferences(report):
        yield _ceiling_cell([each.share.value for each in report.ceiling_preferences])


def _lacking(report: AgreementReport) -> str:
    """That nothing is known of a ceiling, where no rater shares pairs with others."""
    known = any(line.key == "others" for line in report.ceiling)
    return "" if known else "No two raters rated the same pairs, so the ceiling is unknown."


def _ceiling_cell(reached: Sequence[float]) -> Cell:
    return Cell(span(reached) or NO_CEILING, "quiet")


def _published_summary(report: AgreementReport, n_columns: int) -> Iterator[Cells]:
    """The rows of the summary for scores that the data come with."""
    views: list[tuple[str, View]] = [(target, "pairs") for target in report.data.main]
    views += [(main_target(report.data), "within")] if _has(report, "within") else []
    for name, published in report.data.published.items():
        found = {(line.target, line.view): line for line in report.published if line.key == name}
        arrow = "↑" if published.higher_is_better else "↓"
        yield f"  {name} {arrow}", *(_agreed(found.get(view)) for view in views), *[""] * (n_columns - len(views))


def _published_groups(report: AgreementReport) -> list[Group]:
    """Scores that the data come with, against each target over all pairs."""
    groups = []
    for name in report.data.published:
        own = [line for line in report.published if line.key == name and line.view == "pairs"]
        rows = [_line_cells(f"  {report.data.title(line.target)}", line) for line in own]
        groups.append(Group(tuple(rows), (Cell(f"{name}, published", "strong"),)))
    return groups


def _size(report: AgreementReport) -> str:
    pairs, studies = counted(len(report.data.pairs), "pair"), counted(report.data.n_studies, "study", "studies")
    return f"{report.name}, {pairs} of {studies}"


def _notes(reports: Sequence[AgreementReport]) -> str:
    notes = []
    clear = [f"{each.preferences[0].n_clear} of {each.name}" for each in reports if _has_preferences(each)]
    if clear and len(reports) == 1:
        notes.append(
            f"Preferences: share of the candidate pairs with a clear preference of the raters ({', '.join(clear)}) "
            "that the metric reproduces; equal scores count half."
        )
    notes += [f"{report.name}: {note}." for report in reports for note in report.data.notes]
    unscored = [
        f"{name}{f' {BUNDLED_MARK}' * result.bundled} {result.n_unscored} of {report.name}"
        for report in reports
        for name, result in report.results.items()
        if result.n_unscored
    ]
    same = "; the table of differences compares metrics on the pairs that both scored" if len(reports) == 1 else ""
    notes += [f"Unscored pairs are left out: {', '.join(unscored)}{same}."] if unscored else []
    return " ".join(notes)


def _pooled_line(report: AgreementReport, line: Agreement) -> Cells:
    return _line_cells(f"  {_against(report, line)}", line)


def _line_cells(head: str, line: Agreement) -> Cells:
    return (
        head,
        short_estimate(line.tau_b),
        Cell(line.label, STYLES[line.label]),
        p_value(line.p_value),
        short(line.rho.value),
        short(line.r.value),
        str(line.n),
    )


def _pooled_span(lines: Sequence[Agreement]) -> Cells:
    spans = (span(getattr(line, name).value for line in lines) for name in ("tau_b", "rho", "r"))
    tau, rho, r = spans
    return tau, "", "", rho, r, _n(lines)


def _ceiling_groups(report: AgreementReport) -> list[Group]:
    """What raters reach: a row a target, each cell from the least to the most over raters."""
    groups = []
    headings = CEILING | dict.fromkeys(report.data.main, "errors to rating")
    by_heading: dict[str, list[Cells]] = {}
    for key, heading in headings.items():
        lines = [line for line in report.ceiling if line.key == key and line.view == "pairs"]
        for target in dict.fromkeys(line.target for line in lines):
            own = [line for line in lines if line.target == target]
            shown = report.data.title(key if heading == "errors to rating" else target)
            by_heading.setdefault(heading, []).append((Cell(f"  {shown}", "quiet"), *_pooled_span(own)))
    for heading, rows in by_heading.items():
        groups.append(Group(tuple(rows), (Cell(heading, "quiet"),)))
    return groups


def _agreed(line: Agreement | None) -> str | Cell:
    return "" if line is None else tau_cell(line.tau_b, line.label)


def _rated_lines(report: AgreementReport, key: str, target: str, view: View) -> list[Agreement]:
    return [line for line in report.ceiling if (line.key, line.target, line.view) == (key, target, view)]


def _against(report: AgreementReport, line: Agreement) -> str:
    """What a line holds the metric against; of its own counts, how it counts them."""
    title = report.data.title(line.target)
    if line.key == report.results[line.subject].spec.headline.name:
        return title
    return f"own kinds: {title}" if line.target == TOTAL else f"own {title}"


def _of(report: AgreementReport, subject: str, view: View) -> list[Agreement]:
    return [line for line in report.agreements if (line.subject, line.view, line.subset) == (subject, view, "")]


def _same(lines: Iterable[Agreement], wanted: Agreement) -> Agreement | None:
    return next((line for line in lines if (line.key, line.target) == (wanted.key, wanted.target)), None)


def _has(report: AgreementReport, view: View) -> bool:
    return any(line.view == view for line in report.agreements)


def _has_preferences(report: AgreementReport) -> bool:
    return any(each.n_clear for each in report.preferences)


def _difference(line: Between, best: str) -> Cells:
    value, low, high = line.difference[:3]
    if line.first != best:
        value, low, high = -value, -high, -low
    style = "better" if line.p_corrected < SIGNIFICANT else "quiet"
    shown = p_value(line.p_corrected, at_floor=line.at_floor)
    return Cell(short_estimate(Estimate(value, low, high, line.difference.n)), style), shown


def _share(preference: Preference) -> str:
    share = preference.share
    if math.isnan(share.value):
        return NOTHING
    missing = "" if share.n == preference.n_clear else f" of {share.n}"
    return f"{share.value:.0%}{missing}"


def _n(lines: Sequence[Agreement]) -> str:
    return str(lines[0].n) if lines else ""


def _nanmean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
