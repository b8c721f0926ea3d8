"""The page's tables as HTML: scores side by side, what differs, and agreement with radiologists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from rrgmetrics.metaeval.measured import Agreements, Measured
from rrgmetrics.pages import show
from rrgmetrics.reader import Comparison, explain
from rrgmetrics.spaces.compare.scoring import Line, title_of
from rrgmetrics.spaces.compare.verdict import JUDGES, RADIOLOGY, SIDES, WORDING, Group, Summary, group_of
from rrgmetrics.spaces.highlight import NOTHING, Mark, Remark, direction, part, remarks, reports
from rrgmetrics.specs import SPECS, MetricSpec
from rrgmetrics.stats import Estimate

GROUPS: tuple[Group, ...] = (RADIOLOGY, JUDGES, WORDING)
COMMON = ("any text", "chest X-ray reports in English")  # modalities that go without saying
PREFERS = {"first": "1", "second": "2", "tie": "=", "unscored": "–"}
TITLES = {
    "total_errors": "error counts",
    "significant_errors": "significant errors",
    "rating": "ratings, 1 to 5",
}


def verdict_part(said: Summary) -> Markup:
    """The verdict: a headline, who says so, and what to make of it; announced to screen readers."""
    votes = NOTHING.join(Markup("<dt>{}</dt><dd>{}</dd>").format(*vote) for vote in said.votes.items())
    lines = NOTHING.join(Markup("<li>{}</li>").format(sentence) for sentence in said.remarks)
    return part(
        Markup('<div class="verdict" role="status"><h2>{}</h2>{}<ul>{}</ul></div>').format(
            said.headline, Markup('<dl class="votes">{}</dl>').format(votes) if votes else NOTHING, lines
        )
    )


def score_part(lines: Sequence[Line], measured: Agreements) -> Markup:
    """Every metric's scores, by kind of metric, with how far each agrees with radiologists; what ran, folded."""
    n_candidates = max(len(line.values) for line in lines)
    heads = ["Candidate 1", "Candidate 2", "Prefers"] if n_candidates > 1 else ["Score"]
    bodies = NOTHING.join(_group(group, lines, measured, len(heads)) for group in GROUPS)
    table = _table("Scores of every metric", ["Metric", *heads, "Tau-b with radiologists", "Same preference"], bodies)
    note = Markup(
        '<p class="note">Tau-b: rank correlation with the errors that {} radiologists counted in {} pairs of reports; '
        "one of them against the others reaches {:.2f} to {:.2f}. The bar is its {:.0%} interval. Same preference: "
        "how often the metric prefers the candidate that they rate higher; chance is 50%. <em>Bundled</em>: by what "
        "ships with rrgmetrics, not by the published weights or a language model: such a score does "
        "not compare with published ones.</p>"
    ).format(measured.n_raters, measured.n_pairs, *measured.ceiling["total_errors"], measured.level)
    return part(table, note, _signatures(lines))


def difference_part(reference: str, candidates: Sequence[str], context: Mapping[str, str]) -> Markup:
    """What the reader finds wrong with each candidate, in colour and in words."""
    sections = []
    for number, candidate in enumerate(candidates, 1):
        found = explain(reference, candidate, context)
        name = f"Candidate {number}" if len(candidates) > 1 else "Candidate"
        said = f"{name}: {f'unscored, the reference {found.out_of_scope}' if found.out_of_scope else _errors(found)}"
        texts = reports({"Reference": reference, name: candidate}, _marks(found, name))
        sections.append(Markup("<section><h2>{}</h2>{}{}</section>").format(said, texts, _remarks(found)))
    about = Markup('<p class="note">As the bundled reader reads them; it knows chest X-ray reports in English.</p>')
    return part(*sections, about)


def agreement_part(measured: Agreements) -> Markup:
    """All that was measured, the metric nearest to radiologists' counts first; above, what radiologists reach."""
    rows = sorted(measured.metrics.items(), key=lambda row: -row[1].tau_b["total_errors"].value)
    known = [(SPECS[name], row) for name, row in rows if name in SPECS]
    missing = [title_of(name) for name in SPECS if name not in measured.metrics]
    body = Markup("<tbody>{}{}</tbody>").format(
        _ceiling(measured), NOTHING.join(_agreement_row(spec, row) for spec, row in known)
    )
    table = _table("Agreement with radiologists", ["Metric", *TITLES.values(), "Same preference"], body)
    dates = sorted({row.date for row in measured.metrics.values()})
    note = Markup(
        '<p class="note">Kendall’s tau-b with the mean of {} cardiothoracic radiologists over {} pairs of {} RadPref '
        "cases, {:.0%} intervals over cases; same preference: over the {} cases in which their ratings of two "
        "candidates differ. These are development cases: our models were chosen on them, and will agree less on "
        "others. Measured {} with rrgmetrics {}, each metric as it is installed.{}</p>"
    ).format(
        measured.n_raters,
        measured.n_pairs,
        measured.n_cases,
        measured.level,
        max((row.preferences.n for _, row in known), default=0),
        " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "never",
        " and ".join(sorted({row.version for row in measured.metrics.values()})),
        f" Not measured yet: {', '.join(missing)}." if missing else "",
    )
    return part(table, note)


# --- scores -----------------------------------------------------------------------------------------------------------


def _group(group: Group, lines: Sequence[Line], measured: Agreements, n_columns: int) -> Markup:
    own = [line for line in lines if group_of(line.spec) is group]
    if not own:
        return NOTHING
    head = Markup(
        '<tr class="group"><th scope="rowgroup" colspan="{}"><p><b>{}</b> <span>{}</span></p></th></tr>'
    ).format(n_columns + 3, group.title, group.about)
    rows = NOTHING.join(_row(line, measured.metrics.get(line.name), n_columns) for line in own)
    return Markup("<tbody>{}{}</tbody>").format(head, rows)


def _row(line: Line, row: Measured | None, n_columns: int) -> Markup:
    cells = (
        Markup('<td class="reason" colspan="{}">{}</td>').format(
            n_columns, f"{'Unscored' if line.signature else 'Not asked'}: {line.reason}"
        )
        if line.reason
        else _values(line)
    )
    return Markup('<tr><th scope="row">{}</th>{}{}</tr>').format(_metric(line), cells, _agreement(row))


def _metric(line: Line) -> Markup:
    words = direction(line.spec.headline)
    if line.spec.modality not in COMMON:
        words += f"; for {line.spec.modality}"
    return Markup("<b>{}</b><small>{}</small>").format(line.title, words)


def _values(line: Line) -> Markup:
    preferred = {"first": 0, "second": 1}.get(line.verdict)
    cells = [
        Markup('<td class="number{}">{}</td>').format(
            " better" if n == preferred else "", show(value, line.spec.headline)
        )
        for n, value in enumerate(line.values)
    ]
    if len(line.values) > 1:
        words = {"tie": "prefers neither", "unscored": "unscored"}.get(line.verdict) or f"prefers {SIDES[line.verdict]}"
        cell = Markup('<td class="prefers {}"><span aria-hidden="true">{}</span><span class="unseen">{}</span></td>')
        cells.append(cell.format(line.verdict, PREFERS[line.verdict], words))
    return NOTHING.join(cells)


def _agreement(row: Measured | None) -> Markup:
    if row is None:
        return Markup('<td colspan="2" class="reason">not measured</td>')
    return Markup("<td>{}</td><td>{}</td>").format(interval(row.tau_b["total_errors"]), share(row.preferences))


def _signatures(lines: Sequence[Line]) -> Markup:
    """What ran, but for the server that a language model answers from."""
    signatures = [re.sub(r"\|base_url:[^|]*", "", line.signature) for line in lines if line.signature]
    ran = NOTHING.join(Markup("<li><code>{}</code></li>").format(signature) for signature in signatures)
    return (
        Markup('<details><summary>What ran</summary><ul class="ran">{}</ul></details>').format(ran) if ran else NOTHING
    )


# --- differences ------------------------------------------------------------------------------------------------------


def _errors(found: Comparison) -> str:
    if not found.errors:
        return "no error"
    return f"{found.total} error{'s' * (found.total > 1)}, {found.significant} significant"


def _marks(found: Comparison, name: str) -> dict[str, list[Mark]]:
    def marks(side: str) -> list[Mark]:
        return [
            Mark(tuple((span.start, span.end) for span in spans), error.category.value)
            for error in found.errors
            if (spans := getattr(error, f"{side}_spans"))
        ]

    return {"Reference": marks("reference"), name: marks("candidate")}


def _remarks(found: Comparison) -> Markup:
    return remarks([Remark(error.category.value, error.sentence, error.significant) for error in found.errors])


# --- agreement --------------------------------------------------------------------------------------------------------


def _agreement_row(spec: MetricSpec, row: Measured) -> Markup:
    cells = [interval(row.tau_b[target]) if target in row.tau_b else Markup("–") for target in TITLES]
    cells.append(share(row.preferences))
    name = Markup("<b>{}</b><small>{}</small>").format(title_of(spec.name), group_of(spec).title)
    return Markup('<tr><th scope="row">{}</th>{}</tr>').format(name, _cells(cells))


def _ceiling(measured: Agreements) -> Markup:
    spans = [measured.ceiling[target] for target in TITLES]
    low, high = measured.ceiling["preferences"]
    cells = [
        *(Markup('{}<span class="figure">{:.2f} to {:.2f}</span>').format(_bar(*span), *span) for span in spans),
        f"{low:.0%} to {high:.0%}",
    ]
    name = Markup("<b>A radiologist</b><small>against the mean of the others</small>")
    return Markup('<tr class="ceiling"><th scope="row">{}</th>{}</tr>').format(name, _cells(cells))


def _cells(contents: Sequence[str]) -> Markup:
    return NOTHING.join(Markup("<td>{}</td>").format(content) for content in contents)


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


def _table(label: str, heads: Sequence[str], body: Markup) -> Markup:
    first, *others = (Markup('<th scope="col">{}</th>').format(head) for head in heads)
    return Markup(
        '<div class="wide side-by-side" tabindex="0" role="region" aria-label="{}"><table><thead><tr>{}</tr></thead>{}'
        "</table></div>"
    ).format(label, NOTHING.join((first, *others)), body)
