"""The stress results on the card of a metric (`rrgmetrics.metaeval.stress.stored`)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.metaeval.stress.kinds import KINDS, LADDERS, kinds_of
from rrgmetrics.metaeval.stress.measure import Stressed
from rrgmetrics.metaeval.stress.stored import StoredStress, results_file, stored_stress
from rrgmetrics.metaeval.stress.written import PREFIX, written_packs
from rrgmetrics.reading.lexicon import DEFAULT_PACK
from rrgmetrics.reporting.folds import folded
from rrgmetrics.reporting.short import short
from rrgmetrics.reporting.stress import remarks, reports_of, value_of
from rrgmetrics.scoring.scope_filter import modality_of, reports_read
from rrgmetrics.specs import HACKS, MetricSpec
from rrgmetrics.specs.names import parse_name
from rrgmetrics.specs.shared import CHEST_CT

READS = """\
The metric reads {reports}.
Pairs with another reference (another language, body part or modality, or no readable statement) are unscored, with the
reason. A candidate that the reader cannot read gets the worse of two scores: that of an empty report and its own. A
checkpoint or engine that you name scores every pair."""
READ_AS_CT = """
A report of a radiograph is unscored only if its title says so ("Chest X-ray."); others are scored as CT reports."""
ANY_TEXT = """\
The metric compares wording, whatever the text is about, and can be gamed. As a reward, or to select models, use
`finding_errors` or `crimson` instead."""
MADE_BY_THE_READER = """\
The reader inserted these errors, and this metric uses the same reader. So it detects them by construction, which shows
nothing about errors that the reader misses."""
TABLES = (
    "All changes and their shares: [Metrics under stress]"
    "(https://rrgmetrics.github.io/rrgmetrics/evidence/stress/#{name})."
)
NOT_MEASURED = "It has no stress test yet: run `make stress`, then `make cards`."
OTHER_REPORTS = "Results on reports of other modalities"
UNSCORED = "Pairs that are unscored"
NO_HACKS = "As a reward: no trick raises the mean score noticeably (`rrgmetrics game`); it may raise single scores."
HACKED = "As a reward it can be gamed (`rrgmetrics game`):"
HARMLESS = "harmless, and errors that cost more (chance 0.50)"
HIDDEN = "false findings outside the findings"
ORDER = "the graver change scores worse (chance 0.50)"
TRICKS = "tricks that score no better than a report with two errors"


def stress_block(spec: MetricSpec) -> str:
    """Returns the part of a metric's card on what it sees and what it does not."""
    name = parse_name(spec.name)
    as_ct = READ_AS_CT if spec.modality == CHEST_CT else ""
    scope = folded(UNSCORED, READS.format(reports=reports_read(spec)) + as_ct) if modality_of(name) else ANY_TEXT
    stored = [stored_stress(results_file(pack)) for pack in (DEFAULT_PACK, *written_packs())]
    measured = ["\n\n".join(_parts(each, each.metrics[spec.name])) for each in stored if spec.name in each.metrics]
    if not measured:
        return "\n\n".join((NOT_MEASURED, games(spec), scope))
    first, *others = measured
    more = [folded(OTHER_REPORTS, "\n\n".join(others))] if others else []
    return "\n\n".join((first, games(spec), *more, TABLES.format(name=spec.name), scope))


def stress_table(metric: Stressed) -> str:
    """Returns every change that was made to reports, with the share that scores worse and the mean loss."""
    rows = "\n".join(f"| {head} | {', '.join(cells)} |" for head, cells in _rows(metric) if cells)
    return f"| change | share (loss) |\n|---|---|\n{rows}"


def games(spec: MetricSpec) -> str:
    """Returns what pays in a reward of the metric although it is not right."""
    if not spec.hacks:
        return NO_HACKS
    return "\n".join([HACKED, "", *(f"- {HACKS[hack]}" for hack in spec.hacks)])


def _parts(stored: StoredStress, metric: Stressed) -> Iterator[str]:
    """What was measured on reports of one kind, in words."""
    yield _about(stored, metric)
    yield "\n".join(f"- {remark}" for remark in remarks(metric))
    if metric.rests_on_the_reader:
        yield MADE_BY_THE_READER


def _about(stored: StoredStress, metric: Stressed) -> str:
    how = f"`rrgmetrics stress{_argument(stored)}`; version {stored.version}, {stored.date}"
    return f"On {reports_of(stored)}: each was changed in known ways and scored against the original\n({how})."


def _argument(stored: StoredStress) -> str:
    return f" {stored.source}" if stored.source.startswith(PREFIX) else ""


def _rows(metric: Stressed) -> Iterator[tuple[str, list[str]]]:
    for category in ErrorCategory:
        kinds = [kind for kind in kinds_of("error") if KINDS[kind].letter == category.letter]
        yield f"{category.letter} {category.value.replace('_', ' ')}", _cells(metric, kinds)
    yield HIDDEN, _cells(metric, kinds_of("hidden"))
    yield HARMLESS, _cells(metric, kinds_of("harmless"))
    ladders = {ladder.title: metric.ladders[name].share for name, ladder in LADDERS.items()}
    yield ORDER, [f"{title} {short(value)}" for title, value in ladders.items() if not math.isnan(value)]
    yield TRICKS, _cells(metric, kinds_of("trick"))


def _cells(metric: Stressed, kinds: list[str]) -> list[str]:
    known = {kind: metric.kinds[kind] for kind in kinds if metric.kinds[kind].n}
    return [
        f"{KINDS[kind].title} {short(value_of(kind, own))}{'' if math.isnan(own.fall) else f' ({short(own.fall)})'}"
        for kind, own in known.items()
    ]
