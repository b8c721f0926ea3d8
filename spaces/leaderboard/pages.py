"""What the board says, as HTML; every text is escaped by Jinja, links are http or https or no links.

Takes the records of `model` and gives strings, so that pages can be tested and read without a server. The folder
`templates` has the words; `board.css` and `board.js` stand on the house's style sheet (`spaces.theme`).
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from rrgmetrics import files
from rrgmetrics.baselines.skill import TRIVIAL_NAMES
from rrgmetrics.baselines.worth import skill_lines
from rrgmetrics.comparing import ErrorCategory, explain
from rrgmetrics.reporting import html
from rrgmetrics.reporting.drawing import Scale, scale_around, scale_around_zero, scale_from_zero, scale_of_range
from rrgmetrics.reporting.marks import Explanation
from rrgmetrics.reporting.numbers import p_value, show, signed
from rrgmetrics.reporting.patients import patient
from rrgmetrics.reporting.tables import Table
from rrgmetrics.reporting.verdict import favour, summary, verdict
from rrgmetrics.reporting.worth import HEADING, collapse_table, skill_table
from rrgmetrics.reports import Context
from rrgmetrics.spaces.advice import for_page
from rrgmetrics.spaces.leaderboard.model import (
    BoardInfo,
    BoardMetric,
    Example,
    HeadToHead,
    MetricResult,
    Progress,
    Receipt,
    Standing,
    Standings,
    State,
    System,
    SystemReport,
    Versus,
)
from rrgmetrics.specs import names
from rrgmetrics.stats import Estimate
from rrgmetrics.utils.text_format import counted

CARDS = "https://github.com/rrgmetrics/rrgmetrics/blob/main/metrics"
MOST_IN_A_TEMPLATE = 20_000  # studies: about 400 kB of the page

EXAMPLES = 5  # a page
MINUS = "\N{MINUS SIGN}"
STEPS: tuple[tuple[State, str], ...] = (("queued", "Waiting"), ("running", "Being scored"), ("done", "On the board"))


# --- pages ------------------------------------------------------------------------------------------------------------


def board_head(board: BoardInfo) -> str:
    """The board's title, what ranks, and how many submissions wait."""
    return _render("board_head", info=board)


def standings_page(standings: Standings) -> str:
    """The table: ranked systems, then those that are listed only, with the reason.

    Sorting and filters are done in the browser (`board.js`) and stand in the address.
    """
    info = standings.board
    ranked = [row for row in standings.systems if row.rank is not None]
    return _render(
        "standings",
        info=info,
        standings=standings,
        ranked=ranked,
        listed=[row for row in standings.systems if row.rank is None],
        everyone=[row.system for row in standings.systems],
        scales={metric.name: scale_around(_scores(standings.systems, metric.name)) for metric in info.metrics},
        leaders={metric.name: _leader(ranked, metric) for metric in info.metrics} if len(ranked) > 1 else {},
        common=_common(standings),
    )


def system_page(
    board: BoardInfo,
    report: SystemReport,
    examples: Sequence[Example] = (),
    *,
    offset: int = 0,
    others: Sequence[System] = (),
) -> str:
    """A system: scores, errors by kind, parts of the studies, the systems above it, examples.

    Args:
        board: The board's head.
        report: What the board knows of the system.
        examples: Public studies, those from number `offset` on.
        offset: Number of the first of the examples, from 0.
        others: Systems that it can be compared with.
    """
    counted = [result for result in report.results if result.categories]
    return _render(
        "system",
        info=board,
        report=report,
        by_category=[_by_category(result) for result in counted],
        slice_scales={
            result.metric.name: scale_around(part.scores.get(result.metric.name) for part in report.slices)
            for result in report.results
        },
        worth=_worth(report),
        above_scale=scale_around_zero(row.test.difference for row in report.above),
        scale_of=lambda result: scale_of_range(result.scores[0].key.range, result.scores[0].score),
        examples=[_example(board, example) for example in examples],
        offset=offset,
        step=EXAMPLES,
        others=[system for system in others if system.id != report.standing.system.id],
    )


def _by_category(result: MetricResult) -> tuple[MetricResult, dict[str, Estimate], Scale]:
    """A metric's errors by kind, and their axis."""
    kinds = {category.letter: category.value for category in ErrorCategory}
    counts = {kinds[letter]: item.score for letter, item in result.categories.items()}
    return result, counts, scale_from_zero(counts.values())


def _worth(report: SystemReport) -> tuple[list[Table], list[str]]:
    """The system beside trivial ones, where that is recorded, and how different its reports are; and in words."""
    skills = [result.skill for result in report.results if result.skill is not None]
    tables = [skill_table(skills, "Skill beside trivial systems", with_note=True)] if skills else []
    sentence = replace(report.collapse, system="This system").sentence
    lines = [*skill_lines("This system", skills), *([sentence] if sentence else [])]
    return [*tables, collapse_table([report.collapse])], lines


def head_to_head_page(
    systems: Sequence[System], compared: HeadToHead | None = None, *, chosen: Sequence[str] = (), problem: str = ""
) -> str:
    """Two systems on their common pairs, or the form that asks which, with what is wrong about the last choice."""
    first, second = (*chosen, "", "")[:2]
    groups: dict[str, list[Versus]] = {}
    for row in compared.rows if compared else ():
        groups.setdefault(row.metric.name, []).append(row)
    return _render(
        "versus",
        systems=systems,
        first=first or (systems[0].id if systems else ""),
        second=second or (systems[1].id if len(systems) > 1 else ""),
        compared=compared,
        problem=problem,
        summary=_summary(compared, [rows[0] for rows in groups.values()]) if compared else "",
        groups=[(rows[0].metric, rows) for rows in groups.values()],
        more=[row for rows in groups.values() for row in rows[1:]],
        around=lambda rows: scale_around_zero([rows[0].test.difference]),
        favour=favour,
    )


def progress_page(progress: Progress) -> str:
    """Where a submission stands."""
    steps = [*STEPS[:2], ("failed", "Failed")] if progress.state == "failed" else STEPS
    return _render("progress", progress=progress, steps=steps, at=[state for state, _ in steps].index(progress.state))


def submit_page(board: BoardInfo, study_ids: Sequence[str] = (), *, accounts: bool = False) -> str:
    """What a submission must be, above the form.

    Args:
        board: What the page says of the board.
        study_ids: The studies, for a template to download; of very many the page offers none.
        accounts: Whether submitters are logged in.
    """
    template = ""
    if 0 < len(study_ids) <= MOST_IN_A_TEMPLATE:
        columns = {"study_id": study_ids, "report": [""] * len(study_ids)}
        template = "data:text/csv;base64," + b64encode(files.csv_text(columns).encode()).decode()
    return _render("submit", info=board, accounts=accounts, template=template)


def card_of(metric: BoardMetric) -> str:
    """The address of a metric's card; "" for a metric from outside."""
    name = metric.spec.name
    return f"{CARDS}/{name}/README.md" if metric.spec.modules == "rrgmetrics.metrics" else ""


# --- answers ----------------------------------------------------------------------------------------------------------


def refused(problems: Sequence[str]) -> str:
    """Everything that must be corrected."""
    return _answer("refused", list(map(for_page, problems)))


def limited(message: str, retry_after: float) -> str:
    """Too many tries, and when the next can succeed."""
    return _answer("limited", message, duration(retry_after))


def fine(n_studies: int) -> str:
    """A checked file without faults."""
    return _answer("fine", n_studies)


def received(receipt: Receipt) -> str:
    """A submission was stored; the link leads to its progress."""
    return _answer("received", receipt)


def told(text: str, *, good: bool = True) -> str:
    """One sentence, announced to screen readers."""
    return _answer("told", text, good)


def lost(title: str, message: str) -> str:
    """A page that is not there."""
    return _answer("lost", title, message)


def heading(title: str, lead: str) -> str:
    """The head of a page of widgets."""
    return _answer("heading", title, lead)


# --- words and numbers ------------------------------------------------------------------------------------------------


def label(metric: BoardMetric) -> str:
    """How a column is called: the metric's title, and the name as asked for if that says more."""
    return names.label(metric.name, metric.spec)


def duration(seconds: float) -> str:
    """Seconds in words, rounded up; "" for none.

    Example:
        >>> duration(0), duration(41.2), duration(600), duration(7300)
        ('', '42 seconds', '10 minutes', '3 hours')
    """
    if not seconds > 0:
        return ""
    for name, size in (("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds > size or size == 1:
            return counted(math.ceil(seconds / size), name)
    return ""


def size(n_bytes: int) -> str:
    """Bytes in words: `50 MB`."""
    for name, unit in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return f"{n_bytes} bytes"


def day(moment: datetime) -> str:
    """`3 Nov 2026`."""
    return f"{moment.day} {moment:%b %Y}"


def is_web(url: str) -> bool:
    """Whether a link may be one: http or https, with a host.

    Example:
        >>> is_web("https://huggingface.co/a"), is_web("javascript:alert(1)"), is_web("//example.org")
        (True, False, False)
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


# --- parts ------------------------------------------------------------------------------------------------------------


def _scores(systems: Iterable[Standing], name: str) -> list[Estimate | None]:
    return [row.scores.get(name) for row in systems]


def _leader(ranked: Sequence[Standing], metric: BoardMetric) -> str:
    """The system with the best value of a column, or "" if several share it."""
    goodness = metric.spec.headline.goodness
    scores = {row.system.id: goodness(row.scores[metric.name].value) for row in ranked if metric.name in row.scores}
    best = max((value for value in scores.values() if not math.isnan(value)), default=math.nan)
    leaders = [id for id, value in scores.items() if value == best]
    return leaders[0] if len(leaders) == 1 else ""


def _common(standings: Standings) -> str:
    counts = {label(metric): standings.n_common.get(metric.name) for metric in standings.board.metrics}
    known = {title: n for title, n in counts.items() if n is not None}
    if len(set(known.values())) == 1:
        return f"{next(iter(known.values())):,} for every metric"
    return ", ".join(f"{n:,} for {title}" for title, n in known.items())


def _summary(compared: HeadToHead, headlines: Sequence[Versus]) -> str:
    """Who is better in how many metrics."""
    first, second = compared.first.name, compared.second.name
    better = [label(row.metric) for row in headlines if verdict(row) == "better"]
    worse = [label(row.metric) for row in headlines if verdict(row) == "worse"]
    return summary(first, second, better, worse, len(headlines))


def _example(board: BoardInfo, example: Example) -> dict[str, object]:
    """A public study: both reports marked, the errors in words, the scores of the pair."""
    context = Context(**example.context)
    read = Explanation.of(explain(candidate=example.candidate, reference=example.reference, context=context))
    keys = {metric.name: metric.spec.headline for metric in board.metrics}
    titles = {metric.name: label(metric) for metric in board.metrics}
    return {
        "study_id": example.study_id,
        "about": ". ".join(filter(None, (patient(context), context.indication))),
        "reports": html.reports(
            {"Reference": example.reference, "Candidate": example.candidate},
            {"Reference": read.reference, "Candidate": read.candidate},
        ),
        "remarks": html.remarks(read.remarks),
        "scores": [(titles[name], show(value, keys[name])) for name, value in example.scores.items()],
    }


@cache
def _environment() -> Any:
    return html.environment(
        "rrgmetrics.spaces.leaderboard",
        label=label,
        card_of=card_of,
        signed=signed,
        verdict=verdict,
        day=day,
        size=size,
        web=is_web,
        whole="{:,}".format,
        p_value=p_value,
        TRIVIAL_NAMES=TRIVIAL_NAMES,
        counted=counted,
        worth_heading=HEADING,
    )


def _render(name: str, **values: Any) -> str:
    page: str = _environment().get_template(f"{name}.html.j2").render(**values)
    return page


def _answer(macro: str, *values: Any) -> str:
    module = _environment().get_template("answers.html.j2").module
    return str(getattr(module, macro)(*values))
