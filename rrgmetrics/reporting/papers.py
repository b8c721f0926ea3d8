"""Tables of rated data as in papers, one function for each: RadEval, ReXVal, CRIMSON, GREEN, CREPE."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.metaeval.ablation import Ablated
from rrgmetrics.metaeval.agreement import AgreementReport, Resampling, main_target, row
from rrgmetrics.metaeval.blocks import Block, by_block
from rrgmetrics.metaeval.by_rater import ByRater, SameSide, between_raters, by_rater, same_classes, same_side
from rrgmetrics.metaeval.counting import EVERY_KIND, RADIOLOGIST, Counting, FromRater, counting, from_raters
from rrgmetrics.metaeval.failures import FailureModes, MoreErrors, failure_modes
from rrgmetrics.metaeval.judge_noise import noise_reports
from rrgmetrics.metaeval.model import Agreement
from rrgmetrics.metaeval.overlooked import ANY, BEST, Overlooked, overlooked
from rrgmetrics.metaeval.rated import SIGNIFICANT, TOTAL, Rated
from rrgmetrics.metaeval.reliability import Distribution, distributions
from rrgmetrics.metaeval.significance_classes import compare_classes
from rrgmetrics.metaeval.timing import machine
from rrgmetrics.reporting.judge_noise import noise_numbers, noise_tables
from rrgmetrics.reporting.numbers import figure, p_value
from rrgmetrics.reporting.short import (
    NO_CEILING,
    NOTHING,
    STYLES,
    label_mark,
    label_notes,
    named,
    short,
    short_estimate,
    short_signed,
    span,
)
from rrgmetrics.reporting.significance_classes import class_numbers, class_tables
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.scorers.base import Mean
from rrgmetrics.stats import bootstrap
from rrgmetrics.utils.text_format import listed

BLOCKS_NOTE = (
    "Within (blocked): tau-b of each study's candidates, averaged over the studies where neither side is constant; the "
    "interval resamples studies. A radiologist: one against the mean of the others, lowest to highest."
)
SHOWN_TESTS = 12


class Further(NamedTuple):
    """What `agree --also NAME` adds.

    Attributes:
        tables: For people.
        numbers: A row each, for tables of numbers and JSON; None where the tables have all there is.
    """

    tables: list[Table]
    numbers: list[dict[str, Any]] | None = None


def find_failures(report: AgreementReport) -> Further:
    """Which source's reports have more errors of a kind, as Yu et al. (2023) test it."""
    found = failure_modes(report.data)
    if found is None:
        return Further([], [])
    return Further(list(_failure_tables(report, found)), _failure_numbers(report, found))


def _failure_tables(report: AgreementReport, found: FailureModes) -> Iterator[Table]:
    """Yields Supplementary Tables 2 and 3 of Yu et al. (2023): mean counts by source and kind, and the tests.

    A family of tests has a table where any of them is significant.
    """
    yield from _mean_tables(report.data, found)
    for target, tests in found.families.items():
        if any(test.is_significant for test in tests):
            yield _tests_table(report.data, target, tests)


def _mean_tables(data: Rated, found: FailureModes) -> Iterator[Table]:
    """Yields the mean counts of all errors, and those of the significant ones."""
    means = {(each.source, each.target): each for each in found.means}
    for total, suffix, which in ((TOTAL, "", "errors"), (SIGNIFICANT, "_significant", "significant errors")):
        targets = [target for kind in data.counted_kinds if (target := kind + suffix) in data.values]
        if not targets:
            continue
        heads = [_letters(data.title(target.removesuffix("_significant"))) for target in targets]
        silent = [
            data.title(each.removesuffix("_significant"))
            for each in targets
            if not any(test.is_significant for test in found.families[each])
        ]
        note = f" No source differs from another in {', '.join(silent)}." if silent else ""
        if total in data.values:
            targets, heads = [*targets, total], [*heads, "total"]
        lines: list[Cells] = [
            (source, *(_three(means[source, target].mean) for target in targets), str(means[source, targets[0]].n))
            for source in dict.fromkeys(each.source for each in found.means)
        ]
        yield Table(
            ("source", *heads, "points"),
            (Group(tuple(lines)),),
            title=f"{data.name}: mean {which} by source",
            note=f"A point is one rater and one study.{note}",
        )


def _tests_table(data: Rated, target: str, tests: Sequence[MoreErrors]) -> Table:
    lines: list[Cells] = [
        (
            f"{test.first} > {test.second}",
            short_signed(test.difference),
            _scientific(test.p_value),
            _scientific(test.critical),
            Cell("yes", "strong") if test.is_significant else "no",
        )
        for test in tests
    ]
    return Table(
        ("has more errors", "difference", "p", "critical", "significant"),
        (Group(tuple(lines)),),
        title=f"{data.name}: sources compared, {data.title(target)}",
        note=f"One-sided two-sample t tests, equal variance, {tests[0].degrees} degrees of freedom; Benjamini–Hochberg "
        f"at {tests[0].rate:.0%} over the {len(tests)} tests. A < B is the test B > A.",
    )


def _failure_numbers(report: AgreementReport, found: FailureModes) -> list[dict[str, object]]:
    """The mean counts and the tests."""
    means = [
        {
            "dataset": report.name,
            "subject": each.source,
            "target": each.target,
            "view": "mean count",
            "mean": each.mean,
            "n": each.n,
        }
        for each in found.means
    ]
    tests = [
        {
            "dataset": report.name,
            "subject": test.first,
            "target": test.target,
            "view": "has more than",
            "other": test.second,
            "difference": test.difference,
            "t": test.t,
            "degrees": test.degrees,
            "p_value": test.p_value,
            "critical": test.critical,
            "p_corrected": test.p_corrected,
            "is_significant": test.is_significant,
        }
        for family in found.families.values()
        for test in family
    ]
    return [*means, *tests]


def find_overlooked(report: AgreementReport) -> Further:
    """What each metric overlooks by kind, and the paired tests between kinds."""
    found = list(overlooked(report))
    return Further(list(_overlooked_tables(report, found)), _overlooked_numbers(report, found))


def _overlooked_numbers(report: AgreementReport, found: Sequence[Overlooked]) -> list[dict[str, object]]:
    """What each metric overlooks by kind and the paired tests."""
    rows: list[dict[str, Any]] = []
    for each in found:
        about = {"dataset": report.name, "subject": each.subject, "n": each.n}
        rows += [{**about, "target": kind, "view": "overlooked", "mean": mean} for kind, mean in each.means.items()]
        rows += [
            {
                **about,
                "target": test.first,
                "view": "overlooked more than",
                "other": test.second,
                "difference": test.difference,
                "p_value": test.p_value,
                "p_corrected": test.p_corrected,
            }
            for test in each.tests
        ]
    return rows


def _overlooked_tables(report: AgreementReport, found: Sequence[Overlooked]) -> Iterator[Table]:
    """Yields what each metric overlooks by kind, and the paired t-tests between kinds."""
    if not found:
        return
    kinds = list(found[0].means)
    lines: list[Cells] = []
    for each in found:
        shares = each.shares
        cells = [_percent(share) for share in shares.values()]
        style = "quiet" if each.subject in (ANY, BEST) or each.subject.startswith("source ") else ""
        lines.append((Cell(_name(report, each.subject), style), short(each.total), *cells, str(each.n)))
    yield Table(
        ("ranked best by", "errors", *(_letters(report.data.title(kind)) for kind in kinds), "studies"),
        (Group(tuple(lines)),),
        title=f"{report.name}: what a metric overlooks",
        note="Errors a report in the candidate of each study that the metric ranks best; parts by kind: "
        f"{', '.join(map(report.data.title, kinds))}.",
    )
    tests = [(each, test) for each in found if each.subject in report.results for test in each.tests]
    tests = [(each, test) for each, test in tests if test.p_corrected < 0.05]
    tests.sort(key=lambda pair: pair[1].p_corrected)
    rows = [
        (
            _name(report, each.subject),
            f"{report.data.title(test.first)} − {report.data.title(test.second)}",
            short_signed(test.difference),
            p_value(test.p_corrected),
        )
        for each, test in tests[:SHOWN_TESTS]
    ]
    more = f" {len(tests) - SHOWN_TESTS} more are below 0.05." if len(tests) > SHOWN_TESTS else ""
    n_tests = sum(not math.isnan(test.p_value) for each in found for test in each.tests)
    yield Table(
        ("metric", "kinds", "difference", "p"),
        (Group(tuple(rows)),),
        title=f"{report.name}: kinds that a metric overlooks more often than others",
        note=f"Errors a report; paired t-tests over studies, Benjamini–Hochberg over {n_tests} tests.{more}",
        broken=frozenset({0, 1}),
    )


def compare_counts(report: AgreementReport) -> Further:
    """MAE by kind, against the mean of the raters and against each."""
    means, alone = list(counting(report)), list(from_raters(report))
    tables = [*_counting_tables(report, means), *_from_raters_tables(report, alone)]
    return Further(tables, _counting_numbers(report, means, alone))


def _counting_tables(report: AgreementReport, found: Sequence[Counting]) -> Iterator[Table]:
    """Yields MAE by kind with one rater left out, and accuracies."""
    groups: dict[str, list[Cells]] = {}
    for line in found:
        quiet = "quiet" if line.subject == RADIOLOGIST else ""
        groups.setdefault(report.data.title(line.target), []).append(
            (
                Cell(f"  {_name(report, line.subject)}", quiet),
                _with_sd(line.mae, line.sd),
                short(line.left_out, ""),
                _percent(line.exact),
                _percent(line.any_rater),
                str(line.n),
            )
        )
    if groups:
        yield Table(
            ("", "MAE ± SD", "one left out", "exact", "any rater", "pairs"),
            tuple(Group(tuple(lines), (Cell(title, "strong"),)) for title, lines in groups.items()),
            title=f"{report.name}: counts by kind",
            note="MAE ± SD: of the absolute errors against the mean of the raters; one left out: against the mean of "
            "the others, averaged. Exact: equal to the mean, which is a fraction where raters differ; any rater: equal "
            f"to one of them. Under {EVERY_KIND!r} every kind of every pair is one count.",
        )


def _from_raters_tables(report: AgreementReport, alone: Sequence[FromRater]) -> Iterator[Table]:
    """Yields MAE ± SD of each metric and each rater against every rater alone, where there are several."""
    if len(report.data.raters) < 2:
        return
    found = {(line.target, line.subject, line.rater): line for line in alone}
    groups: dict[str, list[Cells]] = {}
    raters = report.data.raters
    for target, subject in dict.fromkeys((target, subject) for target, subject, _ in found):
        lines = [found.get((target, subject, rater)) for rater in raters]
        cells = [_with_sd(line.mae, line.sd) if line else NOTHING for line in lines]
        quiet = "quiet" if subject in raters else ""
        groups.setdefault(target, []).append((Cell(f"  {_name(report, subject)}", quiet), *cells))
    if groups:
        yield Table(
            ("", *raters),
            tuple(
                Group(tuple(lines), (Cell(report.data.title(target), "strong"),)) for target, lines in groups.items()
            ),
            title=f"{report.name}: MAE ± SD of counts against each rater",
            broken=frozenset(range(len(raters) + 1)),
        )


def _with_sd(mean: float, sd: float) -> str:
    return "" if math.isnan(mean) else f"{short(mean)} ± {short(sd)}"


def _counting_numbers(
    report: AgreementReport, means: Sequence[Counting], alone: Sequence[FromRater]
) -> list[dict[str, object]]:
    rows = [{"dataset": report.name, "view": "counts", **vars(line)} for line in means]
    rows += [{"dataset": report.name, "view": "counts of one rater", **vars(line)} for line in alone]
    return [{("mae_sd" if key == "sd" else key): value for key, value in each.items()} for each in rows]


def compare_raters(report: AgreementReport) -> Further:
    """Each metric against each rater alone, and how far raters agree."""
    lines, of_raters = list(by_rater(report)), list(between_raters(report))
    return Further(list(_rater_tables(report, lines, of_raters)), _rater_numbers(report, [*lines, *of_raters]))


def _rater_numbers(report: AgreementReport, lines: Sequence[ByRater]) -> list[dict[str, object]]:
    """tau-b with each rater alone."""
    return [
        {
            "dataset": report.name,
            "subject": line.subject,
            "target": line.target,
            "view": "one rater",
            "rater": line.rater,
            **dict(zip(("tau_b", "low", "high", "n"), line.tau_b, strict=True)),
        }
        for line in lines
    ]


def _rater_tables(
    report: AgreementReport, lines: Sequence[ByRater], raters_lines: Sequence[ByRater]
) -> Iterator[Table]:
    """Yields each metric against each rater alone, and how often raters class an error alike."""
    data = report.data
    for target in data.main:
        raters = [rater for rater in data.raters if any((each.rater, each.target) == (rater, target) for each in lines)]
        if len(raters) > 1:
            found = {(each.subject, each.rater): each for each in lines if each.target == target}
            rows: list[Cells] = [
                (named(subject, result), *(short_estimate(found[subject, rater].tau_b) for rater in raters))
                for subject, result in report.results.items()
            ]
            others = {(each.subject, each.rater): each for each in raters_lines if each.target == target}
            rows_of_raters: list[Cells] = []
            for one in dict.fromkeys(subject for subject, _ in others):
                found_of = (others.get((one, rater)) for rater in raters)
                cells = (short_estimate(line.tau_b) if line else "" for line in found_of)
                rows_of_raters.append((Cell(one, "quiet"), *cells))
            yield Table(
                ("metric", *raters),
                tuple(Group(tuple(own)) for own in (rows, rows_of_raters) if own),
                title=f"{report.name}: tau-b with each rater alone, {data.title(target)}",
                broken=frozenset(range(len(raters) + 1)),
            )
    sides = list(same_side(report))
    if sides:
        yield _sides_table(report, sides)
    if data.marks:
        yield _classes_table(data)


def _sides_table(report: AgreementReport, sides: Sequence[SameSide]) -> Table:
    raters = list(dict.fromkeys(each.rater for each in sides))
    shares = {(each.subject, each.rater): each.share for each in sides}
    rows: list[Cells] = [
        (
            Cell(_name(report, subject), "" if subject in report.results else "quiet"),
            *(_percent(shares.get((subject, rater), math.nan)) for rater in raters),
        )
        for subject in dict.fromkeys(each.subject for each in sides)
    ]
    return Table(
        ("", *raters),
        (Group(tuple(rows)),),
        title=f"{report.name}: agreement on whether a pair has a significant error",
        note="Share of the pairs that both rated.",
        broken=frozenset(range(len(raters) + 1)),
    )


def _classes_table(data: Rated) -> Table:
    rows: list[Cells] = [
        (" and ".join(each.raters), _percent(each.classes), _percent(each.significant), str(each.n))
        for each in same_classes(data.marks, data.significant_classes)
    ]
    return Table(
        ("raters", "same class", "same side of significant", "errors"),
        (Group(tuple(rows)),),
        title=f"{data.name}: classes of the errors that both marked",
        broken=frozenset(range(4)),
    )


def compare_sources(report: AgreementReport) -> Further:
    """What raters say of each source's reports."""
    return Further(list(_source_tables(report)))


def _source_tables(report: AgreementReport) -> Iterator[Table]:
    """Yields what raters say of each source of candidates: a row each count and rating, a column each source."""
    data = report.data
    sources = list(dict.fromkeys(data.labels.get("source", ())))
    if len(sources) < 2:
        return
    masks = [np.array([each == source for each in data.labels["source"]]) for source in sources]
    parts = [data.only(keep) for keep in masks]
    rows: list[Cells] = [
        (data.title(target), *(_mean_of(part, target, report.resampling) for part in parts)) for target in data.targets
    ]
    sizes: Cells = (Cell("pairs", "quiet"), *(str(len(part.pairs)) for part in parts))
    yield Table(
        ("mean a report", *sources),
        (Group(tuple(rows)), Group((sizes,))),
        title=f"{report.name}: raters' counts for each source",
        broken=frozenset(range(len(sources) + 1)),
    )


def _mean_of(data: Rated, target: str, resampling: Resampling) -> str:
    """The mean over the pairs, with its interval over studies."""
    stats = data.mean(target)[:, None]
    return short_estimate(bootstrap(Mean(("mean",)), stats, groups=data.studies, **vars(resampling))["mean"])


def measure_blocks(report: AgreementReport) -> Further:
    """The agreement of each block of pairs: totals, sections, sources, significant kinds."""
    found = list(by_block(report))
    return Further([_block_table(report, found)], _block_numbers(report, found))


def _block_table(report: AgreementReport, found: Sequence[Block]) -> Table:
    """RadEval's table 2 and CRIMSON's table 1: a block a count of errors, tau-b and r of each metric."""
    groups = []
    for block in found:
        title = report.data.title(block.target) + (f", {block.subset}" if block.subset else "")
        within = {line.subject: line for line in block.within}
        lines: list[Cells] = []
        for line in block.pairs:
            studies = within.get(line.subject)
            cells = (_labelled(studies), str(studies.n)) if studies else ("", "")
            lines.append(
                (f"  {named(line.subject, report.results[line.subject])}", _labelled(line), str(line.n), *cells)
            )
            lines.append((Cell("    r", "quiet"), Cell(short_estimate(line.r), "quiet"), "", "", ""))
        reached = [span(taus) or NO_CEILING for taus in (block.ceiling, block.ceiling_within)[: 1 + bool(within)]]
        ceiling, ceiling_within, *_ = (Cell(text, "quiet") for text in (*reached, ""))
        lines.append((Cell("  a radiologist", "quiet"), ceiling, "", ceiling_within, ""))
        groups.append(Group(tuple(lines), (Cell(title, "strong"),)))
    return Table(
        ("metric", "tau-b", "pairs", "within studies", "studies"),
        tuple(groups),
        title=f"{report.name}: agreement block by block, {100 * report.resampling.level:g}% intervals over studies",
        note=f"{label_notes(groups)} {BLOCKS_NOTE}".lstrip(),
        broken=frozenset(range(5)),
    )


def _labelled(line: Agreement) -> Cell:
    return Cell(short_estimate(line.tau_b) + label_mark(line.tau_b, line.label), STYLES[line.label])


def _block_numbers(report: AgreementReport, found: Sequence[Block]) -> list[dict[str, object]]:
    """The agreement of each block, a row each metric and view."""
    return [
        row(report.name, line, ceiling) | {"view": f"block {line.view}"}
        for block in found
        for lines, ceiling in ((block.pairs, block.ceiling), (block.within, block.ceiling_within))
        for line in lines
    ]


def describe_distribution(report: AgreementReport) -> Further:
    """What raters said of each target, and how far they agree in it."""
    found = list(distributions(report.data))
    return Further([_distribution_table(report, found)], _distribution_numbers(report, found))


def _distribution_table(report: AgreementReport, found: Sequence[Distribution]) -> Table:
    data = report.data
    several = len(data.raters) > 1
    rows: list[Cells] = []
    for line in found:
        agreement = [short(value) for value in (line.icc_single, line.icc_mean, line.alpha)] if several else []
        quartiles = ", ".join(short(value).removesuffix(".00") for value in line.quartiles)
        cells = (_with_sd(line.mean, line.sd), quartiles, _percent(line.none), *agreement, str(line.n))
        rows.append((data.title(line.target), *cells))
    heads = ("ICC(2,1)", f"ICC(2,{len(data.raters)})", "alpha") if several else ()
    agreement_note = (
        " ICC(2,1) is of one rater, the other one of the mean of all (Shrout and Fleiss 1979), on the pairs that all "
        "judged; alpha is Krippendorff's, interval metric, on all that two judged."
        if several
        else " With one rater, the agreement between raters is unknown."
    )
    return Table(
        ("", "mean ± SD", "least, quartiles, most", "none", *heads, "pairs"),
        (Group(tuple(rows)),),
        title=f"{report.name}: raters' counts in {len(data.pairs)} pairs",
        note=f"Of the raters' mean of each pair; none: share of the pairs with 0.{agreement_note}",
        broken=frozenset({0, 1, 2}),
    )


def _distribution_numbers(report: AgreementReport, found: Sequence[Distribution]) -> list[dict[str, object]]:
    names = ("least", "first_quartile", "median", "third_quartile", "most")
    return [
        {
            "dataset": report.name,
            "view": "distribution",
            **{key: value for key, value in vars(line).items() if key != "quartiles"},
            **dict(zip(names, line.quartiles, strict=True)),
        }
        for line in found
    ]


def list_times(report: AgreementReport) -> Further:
    """How long each metric took."""
    return Further([_time_table(report)], _time_numbers(report))


def _time_table(report: AgreementReport) -> Table:
    """How long each metric took, the fastest first, beside its agreement (CREPE's table 3 and figure 1)."""
    target = main_target(report.data)
    order = sorted(report.times, key=lambda name: (math.isnan(report.times[name].milliseconds), _time(report, name)))
    lines: list[Cells] = []
    for name in order:
        line = report.headline(name, target)
        shown = short_estimate(line.tau_b) if line else NOTHING
        lines.append((_name(report, name), figure(_time(report, name), 1) or NOTHING, shown))
    kept = [name for name, each in report.times.items() if each.n_kept]
    note = f" Replies were cached, so their time is unknown: {listed(kept)}; ?cache=no asks again." if kept else ""
    return Table(
        ("metric", "ms a pair", f"tau-b, {report.data.title(target)}"),
        (Group(tuple(lines)),),
        title=f"{report.name}: time of {len(report.data.pairs)} pairs",
        note=f"Wall-clock time of each metric alone, with weights loaded; on {machine()}.{note}",
    )


def _time_numbers(report: AgreementReport) -> list[dict[str, object]]:
    return [
        {
            "dataset": report.name,
            "subject": name,
            "view": "time",
            "milliseconds": each.milliseconds,
            "seconds": each.seconds,
            "n": each.n,
            "n_kept": each.n_kept,
            "machine": machine(),
        }
        for name, each in report.times.items()
    ]


def _time(report: AgreementReport, name: str) -> float:
    return report.times[name].milliseconds


def measure_noise(report: AgreementReport) -> Further:
    """The noise of judges that were asked several times."""
    found = list(noise_reports(report))
    return Further(list(noise_tables(report, found)), noise_numbers(report, found))


def compare_significance(report: AgreementReport) -> Further:
    """Classes of significance: a judge's against each radiologist's."""
    found = list(compare_classes(report))
    return Further(list(class_tables(report, found)), class_numbers(report, found))


ALSO: Mapping[str, Callable[[AgreementReport], Further]] = {
    "failures": find_failures,
    "overlooked": find_overlooked,
    "counts": compare_counts,
    "raters": compare_raters,
    "sources": compare_sources,
    "blocks": measure_blocks,
    "distribution": describe_distribution,
    "runs": measure_noise,
    "classes": compare_significance,
    "time": list_times,
}


def ablation_table(data: Rated, found: Sequence[Ablated]) -> Table:
    """Checkpoints with their heads and losses, and how far each agrees."""
    rows: list[Cells] = [
        (
            each.checkpoint,
            str(each.settings.num_error_categories),
            each.loss,
            each.encoder or NOTHING,
            short_estimate(each.agreement.tau_b),
            short_estimate(each.agreement.rho),
            short(each.mae),
        )
        for each in found
    ]
    return Table(
        ("checkpoint", "heads", "loss", "encoder", "tau-b", "rho", "MAE"),
        (Group(tuple(rows)),),
        title=f"{data.name}: checkpoints on {found[0].agreement.n} pairs, total errors",
        broken=frozenset({0, 2, 3}),
    )


def _name(report: AgreementReport, subject: str) -> str:
    return named(subject, report.results[subject]) if subject in report.results else subject


def _three(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _scientific(value: float) -> str:
    """A p-value as the paper prints it: `3.79e-03`."""
    return "" if math.isnan(value) else f"{value:.2e}"


def _letters(title: str) -> str:
    """The letters of a kind: `C + D` of `C + D attribute`."""
    return " ".join(word for word in title.split() if len(word) == 1) or title


def _percent(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.0%}"
