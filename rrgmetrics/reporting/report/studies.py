"""The studies of the report page: a piece of HTML each, and the numbers to sort and choose them by.

The first few stand in the page; all of them stand in it once more as data, a line of JSON a study, of which the script
shows some at a time. So the browser draws a page of ten studies, however many there are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jinja2
import numpy as np
from markupsafe import Markup

from rrgmetrics.backends.compared_pairs import compare_pairs
from rrgmetrics.backends.reader import Readings
from rrgmetrics.comparing import ErrorCategory, ReportComparison
from rrgmetrics.reading.model import Span
from rrgmetrics.reporting.differences import differences
from rrgmetrics.reporting.explanations import VIEWS
from rrgmetrics.reporting.html import marked, remarks
from rrgmetrics.reporting.kinds import KINDS, ONLY_HERE
from rrgmetrics.reporting.marks import Explanation, Mark
from rrgmetrics.reporting.numbers import decimals
from rrgmetrics.reporting.patients import patient
from rrgmetrics.reporting.report.sections import Comparisons, Results
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import label

SHOWN_CHARACTERS = 6000  # of one report
BLOCK = 250  # studies of one element of data: the browser reads one at a time
FIRST_SIGN = 0xE000  # private characters stand for what is often repeated
OFTEN = (
    *(f'<mark class="kind-{kind}">' for kind in KINDS),
    *(
        f'<span class="tag kind-{kind.value}"><span aria-hidden="true">{kind.letter}</span><span class="unseen">{end}'
        for kind in ErrorCategory
        for end in (f" ({KINDS[kind.value].title}) </span></span>", f"{KINDS[kind.value].title}: </span></span><span>")
    ),
    "</mark>",
    "</span></span>",
    ' <span class="matters much">significant</span></span></li>',
    ' <span class="matters">not significant</span></span></li>',
    '<ul class="remarks"><li>',
    "<li>",
    '<p class="report">',
)
SIGNS = {ord(sign): f"&#{ord(sign)};" for sign in map(chr, range(FIRST_SIGN, FIRST_SIGN + len(OFTEN)))}
READ_BY_THE_READER = ("finding_errors", "finding_score")  # their words are those beside each report anyway
EVERYONE = "all"


class Told(NamedTuple):
    """What one metric says of each pair of a system, and why pairs have no score."""

    title: str
    view: Any
    said: Sequence[Any]
    unscored: Mapping[int, str]


class Studies:
    """The studies of a page, the worst first.

    Attributes:
        rows: Their numbers, in the order of the page.
    """

    def __init__(
        self,
        template: jinja2.Template,
        ids: Sequence[str],
        pairs: Mapping[str, Sequence[Pair]],
        results: Results,
        found: Comparisons,
        rows: Sequence[int],
    ) -> None:
        self._template, self._ids, self._pairs, self._results, self._found = template, ids, pairs, results, found
        self._told = {system: list(_told(by_name)) for system, by_name in results.items()}
        self.rows = list(rows)

    def pieces(self) -> Iterator[Markup]:
        """The HTML of each study."""
        for place, row in enumerate(self.rows):
            yield Markup(self._template.render(place=place, **self._study(row)))

    def numbers(self, abnormal: Iterable[int]) -> dict[str, object]:
        """What the script sorts and chooses by, in the order of the page.

        Args:
            abnormal: Numbers of the abnormal studies.
        """
        ill = set(abnormal)
        return {
            "block": BLOCK,
            "often": OFTEN,
            "systems": list(self._results),
            "metrics": [self._column(name) for name in next(iter(self._results.values()))],
            "numbers": self.rows,
            "abnormal": [int(row in ill) for row in self.rows],
            "kinds": [self._kinds(row) for row in self.rows],
        }

    def _column(self, name: str) -> dict[str, object]:
        key = next(iter(self._results.values()))[name].titled.headline
        places = decimals(key)
        values = [by_name[name].per_pair[key.name][self.rows] for by_name in self._results.values()]
        return {
            "title": label(name, next(iter(self._results.values()))[name].titled),
            "places": places,
            "sign": 1 if key.higher_is_better else -1,
            "target": key.target,
            "values": [
                [None if math.isnan(value) else round(value, places) for value in own.tolist()] for own in values
            ],
        }

    def _kinds(self, row: int) -> int:
        """The kinds of error that any system makes, a bit each."""
        found = [own[row].counts for own in self._found.values()]
        return sum(1 << bit for bit, kind in enumerate(ErrorCategory) if any(counts.get(kind) for counts in found))

    # --- one study

    def _study(self, row: int) -> dict[str, object]:
        reference, _, context = next(iter(self._pairs.values()))[row]
        compared = {system: _differences(reference, self._pairs[system][row].candidate) for system in self._results}
        lacking = _in_all([missing for missing, _ in compared.values()])
        explained = {system: self._explained(system, row) for system in self._results}
        marks = _shared({system: each.reference for system, each in explained.items()})
        return {
            "id": self._ids[row],
            "about": ". ".join(filter(None, (patient(context), context.indication))),
            "reference": _report(reference, _with_words(marks, lacking)),
            "out_of_scope": next((each.summary for each in explained.values() if each.out_of_scope), ""),
            "candidates": [
                {
                    "system": system,
                    "report": _report(self._pairs[system][row].candidate, _with_words(own.candidate, added)),
                    "remarks": remarks(own.remarks),
                    "note": "" if own.out_of_scope else own.note,
                    "is_read": bool(self._found) and not own.out_of_scope,
                    "judges": list(self._judges(system, row)),
                }
                for (system, own), (_, added) in zip(explained.items(), compared.values(), strict=True)
            ],
        }

    def _explained(self, system: str, row: int) -> Explanation:
        return Explanation.of(self._found[system][row]) if self._found else Explanation()

    def _judges(self, system: str, row: int) -> Iterator[tuple[str, Markup]]:
        """The words of every metric that says what it saw, and why one gave no score."""
        pair = self._pairs[system][row]
        for title, view, said, unscored in self._told[system]:
            if row in unscored:
                yield title, Markup("<p>Not scored: {}.</p>").format(unscored[row])
            elif view is not None and said[row] is not None and (words := view(said[row], pair).remarks):
                yield title, remarks(words)


def _told(by_name: Mapping[str, Result]) -> Iterator[Told]:
    for name, result in by_name.items():
        said = next((values for key, values in result.details.items() if key.endswith("_explained")), None)
        view = None if said is None or result.spec.name in READ_BY_THE_READER else VIEWS.get(result.spec.name)
        if view is not None or result.n_unscored:
            yield Told(label(name, result.titled), view, said or (), result.unscored_reasons)


def worst_first(results: Results, most: int) -> list[int]:
    """The numbers of the studies with the worst mean in the first metric, unscored ones last."""
    order: list[int] = np.argsort(_mean_goodness(results), kind="stable")[:most].tolist()  # NaN sorts last
    return order


def _mean_goodness(results: Results) -> Array:
    """The mean of the systems that are scored, in the first metric `(n_pairs,)`; more is better, NaN without one."""
    columns = []
    for by_name in results.values():
        result = next(iter(by_name.values()))
        columns.append(result.titled.headline.goodness(result.headline))
    table = np.stack(columns)
    n_scored = (~np.isnan(table)).sum(axis=0)
    means: Array = np.full(table.shape[1], np.nan)
    np.divide(np.nansum(table, axis=0), n_scored, out=means, where=n_scored > 0)
    return means


def _report(text: str, marks: Sequence[Mark]) -> Markup:
    """A report with its marks, and how much of it is left out."""
    shown, n_left_out = marked(text[:SHOWN_CHARACTERS], marks), len(text) - SHOWN_CHARACTERS
    if n_left_out <= 0:
        return shown
    return shown + Markup('<p class="cut">… and {} more characters</p>').format(f"{n_left_out:,}")


_differences = lru_cache(maxsize=10_000)(differences)  # many reports of normal studies are the same


def _with_words(marks: Sequence[Mark], spans: Iterable[Span]) -> list[Mark]:
    """Marks, and those of the words that only one report has, where no other mark stands over them."""
    over = [span for mark in marks for span in mark.spans]
    free = [span for span in spans if not any(each.start <= span.start and span.end <= each.end for each in over)]
    return [*marks, *(Mark((span,), ONLY_HERE) for span in free)]


def _shared(marks: Mapping[str, Sequence[Mark]]) -> list[Mark]:
    """The marks of several systems in one reference: several that got a phrase wrong share a mark."""
    whose: dict[tuple[tuple[Span, ...], str], list[str]] = {}
    for system, own in marks.items():
        for mark in own:
            names = whose.setdefault((mark.spans, mark.kind), [])
            names += [system] if system not in names else []
    if len(marks) == 1:
        return [Mark(spans, kind) for spans, kind in whose]
    return [
        Mark(spans, kind, None, EVERYONE if len(names) == len(marks) else ", ".join(names))
        for (spans, kind), names in whose.items()
    ]


def _in_all(spans: Sequence[Sequence[Span]]) -> list[Span]:
    """Stretches that lie in spans of every list."""
    first, *others = spans
    found = list(first)
    for other in others:
        both = [Span(max(a.start, b.start), min(a.end, b.end)) for a in found for b in other]
        found = [span for span in both if span.start < span.end]
    return found


def comparisons_of(
    pairs: Mapping[str, Sequence[Pair]], rows: Sequence[int], readings: Readings
) -> dict[str, dict[int, ReportComparison]]:
    """What the reader finds in pairs of each system, by number; what stands there twice is read and compared once."""
    found = compare_pairs([own[row] for own in pairs.values() for row in rows], readings)
    return {system: {row: found[own[row]] for row in rows} for system, own in pairs.items()}


def as_data(value: Any) -> Markup:
    """JSON that may stand in a page's `script` element: nothing in it ends that, or opens another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("</", "<\\/").replace("<!", "\\u003c!").replace("<script", "\\u003cscript"))


def blocks(pieces: Sequence[Markup]) -> Iterator[Markup]:
    """The HTML of studies as data, a line each, `BLOCK` lines together; signs stand for `OFTEN`."""
    for start in range(0, len(pieces), BLOCK):
        yield Markup("\n").join(as_data(_shortened(piece)) for piece in pieces[start : start + BLOCK])


def _shortened(piece: str) -> str:
    short = str(piece).translate(SIGNS)  # a private character of a report is none of ours
    for number, words in enumerate(OFTEN):
        short = short.replace(words, chr(FIRST_SIGN + number))
    return short
