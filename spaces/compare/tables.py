"""The page's tables as HTML: scores side by side, what differs, and agreement with radiologists."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup

from rrgmetrics.metaeval.measured import Measured, MeasuredSet
from rrgmetrics.reading.scope import CHEST_XRAY
from rrgmetrics.reporting.html import NOTHING, alert, part, remarks, reports
from rrgmetrics.reporting.marks import Explanation
from rrgmetrics.reporting.numbers import direction, show
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.spaces.compare.scoring import COMMON, Line, title_of
from rrgmetrics.spaces.compare.verdict import FAMILIES, SIDES, Family, Summary, Wrong, amount, family_of
from rrgmetrics.specs import SPECS, MetricSpec
from rrgmetrics.stats import Estimate
from rrgmetrics.utils.text_format import counted

PREFERS = {"first": "1", "second": "2", "tie": "=", "unscored": "–"}
SIDE_BY_SIDE = "side-by-side"  # class of the style sheet
TITLES = {  # in full, and where there is little room
    "total_errors": ("error counts", "errors"),
    "significant_errors": ("significant errors", "signif."),
    "rating": ("ratings, 1 to 5", "rating"),
}
SHOWN_ERRORS = 3  # of each candidate, in the verdict


def verdict_part(verdict: Summary, alerts: Sequence[str] = ()) -> Markup:
    """The verdict: what cannot be read, a headline that screen readers announce, the errors, the voices, remarks."""
    votes = NOTHING.join(Markup("<dt>{}</dt><dd>{}</dd>").format(*vote) for vote in verdict.votes.items())
    lines = NOTHING.join(Markup("<li>{}</li>").format(sentence) for sentence in verdict.remarks)
    return part(
        *map(alert, alerts),
        Markup('<div class="verdict"><h2 role="status">{}</h2><div class="wrong">{}</div>{}<ul>{}</ul></div>').format(
            verdict.headline,
            NOTHING.join(map(_wrong, verdict.wrong)),
            Markup('<dl class="votes">{}</dl>').format(votes) if votes else NOTHING,
            lines,
        ),
    )


def _wrong(candidate: Wrong) -> Markup:
    """The gravest errors of a candidate; all of them stand below, beside the reports."""
    gravest = sorted(candidate.errors, key=lambda error: (error.significant is not True, -error.part))[:SHOWN_ERRORS]
    more = len(candidate.errors) - len(gravest)
    rest = Markup('<p class="note">And {}, below.</p>').format(counted(more, "more error")) if more else NOTHING
    return Markup("<div><h3>{}: {}</h3>{}{}</div>").format(candidate.title, candidate.summary, remarks(gravest), rest)


def score_part(lines: Sequence[Line], measured: MeasuredSet) -> Markup:
    """Every metric's scores, by kind of metric, with how far each agrees with radiologists; what ran, folded."""
    n_candidates = max(len(line.values) for line in lines)
    heads = [_head("Candidate 1", "1st"), _head("Candidate 2", "2nd"), _head("Prefers", "Best")]
    if n_candidates == 1:
        heads = [Markup("Score")]
    agreement = [
        _head("Tau-b, development cases", "Tau\N{NON-BREAKING HYPHEN}b, dev."),
        _head("Same preference", "Same"),
    ]
    table = Table(
        ("Metric", *heads, *(agreement if measured.metrics else ())),
        tuple(group for family in FAMILIES if (group := _group(family, lines, measured, len(heads))).lines),
        title="Scores of every metric",
        style=SIDE_BY_SIDE,
    )
    note = Markup(
        '<p class="note">{} <em>Bundled</em>: computed with a model or reader that ships with rrgmetrics instead of '
        "published weights or a language model; not comparable with published scores.</p>"
    ).format(_about_agreement(measured))
    return part(Markup(table), note, _signatures(lines))


def _about_agreement(measured: MeasuredSet) -> str:
    """What the columns of agreement are, or why there are none."""
    if not measured.metrics:
        return f"The metrics' agreement with radiologists was measured on {CHEST_XRAY}, so it is not shown here."
    low, high = measured.ceiling["total_errors"]
    return (
        f"Tau-b: rank correlation with the errors that {measured.raters} radiologists counted in {measured.rows} pairs "
        f"of chest X-ray reports (a radiologist against the others: {low:.2f} to {high:.2f}). The bar is its "
        f"{measured.level:.0%} interval. Same preference: share of cases in which the metric prefers the candidate "
        "that they rate higher; chance is 50%."
    )


def difference_part(reference: str, candidates: Sequence[str], found: Sequence[Explanation]) -> Markup:
    """What the reader finds wrong with each candidate, in colour and in words."""
    sections = []
    for number, (candidate, read) in enumerate(zip(candidates, found, strict=True), 1):
        name = f"Candidate {number}" if len(candidates) > 1 else "Candidate"
        texts = reports({"Reference": reference, name: candidate}, {"Reference": read.reference, name: read.candidate})
        everything = "all errors" if read.remarks and len(candidates) > 1 else amount(read)  # the verdict has counted
        heading = f"{name}: {read.summary if read.out_of_scope else everything}"
        sections.append(Markup("<section><h2>{}</h2>{}{}</section>").format(heading, texts, remarks(read.remarks)))
    about = Markup(
        '<p class="note">As extracted by the bundled reader, which supports English reports of chest X-rays and '
        "chest CT.</p>"
    )
    return part(*sections, about)


def agreement_part(measured: MeasuredSet) -> Markup:
    """All that was measured, the metric nearest to radiologists' counts first; above, what radiologists reach."""
    rows = sorted(measured.metrics.items(), key=lambda row: -row[1].values["total_errors"].value)
    known = [(SPECS[name], row) for name, row in rows if name in SPECS]
    missing = [title_of(name) for name in SPECS if name not in measured.metrics]
    table = Table(
        ("Metric", *(_head(*titles) for titles in TITLES.values()), _head("Same preference", "Same")),
        (Group((_ceiling(measured), *(_agreement_line(spec, row) for spec, row in known))),),
        title="Agreement with radiologists",
        style=SIDE_BY_SIDE,
    )
    dates = sorted({row.date for row in measured.metrics.values()})
    note = Markup(
        '<p class="note">Kendall’s tau-b with the mean of {} cardiothoracic radiologists over {} pairs of {} RadPref '
        "cases (chest X-rays), {:.0%} intervals over cases; same preference: over the {} cases in which their ratings "
        "of two candidates differ. These cases were used in development, so expect lower agreement on others. "
        "Measured {} with rrgmetrics {}, default configurations.{}</p>"
    ).format(
        measured.raters,
        measured.rows,
        measured.studies,
        measured.level,
        max((row.values["preferences"].n for _, row in known), default=0),
        " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "never",
        " and ".join(sorted({row.version for row in measured.metrics.values()})),
        f" Not measured yet: {', '.join(missing)}." if missing else "",
    )
    return part(Markup(table), note)


def _head(title: str, short: str) -> Markup:
    """The head of a column, which is short on a narrow screen."""
    return Markup('<span class="roomy">{}</span><span class="narrow">{}</span>').format(title, short)


# --- scores -----------------------------------------------------------------------------------------------------------


def _group(family: Family, lines: Sequence[Line], measured: MeasuredSet, n_columns: int) -> Group:
    own = [line for line in lines if family_of(line.spec) is family]
    head = Markup("<p><b>{}</b> <span>{}</span></p>").format(family.title, family.about)
    return Group(tuple(_line(line, measured, n_columns) for line in own), (head,))


def _line(line: Line, measured: MeasuredSet, n_columns: int) -> Cells:
    unscored = f"{'Unscored' if line.signature else 'Not asked'}: {line.reason}"
    values = (Cell(unscored, "reason", n_columns),) if line.reason else _values(line)
    agreement = _agreement(measured.metrics.get(line.name)) if measured.metrics else ()
    return _metric(line), *values, *agreement


def _metric(line: Line) -> Markup:
    words = direction(line.spec.headline)
    if line.spec.modality not in COMMON:
        words += f"; for {line.spec.modality}"
    return Markup("<b>{}</b><small>{}</small>").format(line.title, words)


def _values(line: Line) -> Cells:
    preferred = {"first": 0, "second": 1}.get(line.verdict)
    cells = tuple(
        Cell(show(value, line.spec.headline), "number better" if n == preferred else "number")
        for n, value in enumerate(line.values)
    )
    if len(cells) < 2:
        return cells
    words = {"tie": "prefers neither", "unscored": "unscored"}.get(line.verdict) or f"prefers {SIDES[line.verdict]}"
    sign = Markup('<span aria-hidden="true">{}</span><span class="unseen">{}</span>')
    return *cells, Cell(sign.format(PREFERS[line.verdict], words), f"prefers {line.verdict}")


def _agreement(row: Measured | None) -> Cells:
    if row is None:
        return (Cell("not measured", "reason", 2),)
    return interval(row.values["total_errors"]), share(row.values["preferences"])


def _signatures(lines: Sequence[Line]) -> Markup:
    """What ran, but for the server that a language model lines from."""
    signatures = [re.sub(r"\|base_url:[^|]*", "", line.signature) for line in lines if line.signature]
    ran = NOTHING.join(Markup("<li><code>{}</code></li>").format(signature) for signature in signatures)
    return (
        Markup('<details><summary>Signatures</summary><ul class="ran">{}</ul></details>').format(ran)
        if ran
        else NOTHING
    )


# --- agreement --------------------------------------------------------------------------------------------------------


def _agreement_line(spec: MetricSpec, row: Measured) -> Cells:
    name = Markup("<b>{}</b><small>{}</small>").format(title_of(spec.name), family_of(spec).title)
    taus = (interval(row.values[target]) if target in row.values else "–" for target in TITLES)
    return name, *taus, share(row.values["preferences"])


def _ceiling(measured: MeasuredSet) -> Cells:
    ends = [measured.ceiling[target] for target in TITLES]
    low, high = measured.ceiling["preferences"]
    name = Markup("<b>A radiologist</b><small>against the mean of the others</small>")
    taus = (Markup('{}<span class="figure">{:.2f} to {:.2f}</span>').format(_bar(*pair), *pair) for pair in ends)
    return Cell(name, "ceiling"), *taus, f"{low:.0%} to {high:.0%}"


def interval(estimate: Estimate) -> Markup:
    """A value from 0 to 1 as a dot on its interval, and in figures; below 0 the bar stops at its end."""
    return Markup('{}<span class="figure">{:.2f}</span><small>{:.2f} to {:.2f}</small>').format(
        _bar(estimate.low, estimate.high, estimate.value), estimate.value, estimate.low, estimate.high
    )


def share(estimate: Estimate) -> Markup:
    """A share in percent with its interval."""
    return Markup('<span class="figure">{:.0%}</span><small>{:.0%} to {:.0%}</small>').format(*estimate[:3])


def _bar(low: float, high: float, value: float | None = None) -> Markup:
    left, right = (100 * min(1.0, max(0.0, end)) for end in (low, high))
    dot = NOTHING if value is None else Markup('<b style="left:{:.1f}%"></b>').format(100 * min(1.0, max(0.0, value)))
    return Markup(
        '<span class="interval" aria-hidden="true"><i style="left:{:.1f}%;width:{:.1f}%"></i>{}</span>'
    ).format(left, right - left, dot)
