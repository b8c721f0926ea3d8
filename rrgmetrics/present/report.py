"""The report page: one HTML file with scores, their spread, and every study's texts side by side.

The file holds everything it shows; it loads nothing, and its content security policy forbids it to. Texts and names are
escaped by Jinja2. Words are compared as written (`differences`): what a candidate lacks is marked in the reference,
what it adds is marked in the candidate.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.english import counted
from rrgmetrics.errors import InputError
from rrgmetrics.names import label
from rrgmetrics.present import html
from rrgmetrics.present.differences import differences
from rrgmetrics.present.marks import Explanation, pieces
from rrgmetrics.present.numbers import UNSCORED, between, show
from rrgmetrics.present.patients import patient
from rrgmetrics.present.spread import spread
from rrgmetrics.present.worth import worth_tables
from rrgmetrics.reader.model import Span
from rrgmetrics.reports import Pair
from rrgmetrics.results import Result, unscored_lines
from rrgmetrics.scorers.base import Array
from rrgmetrics.specs import Key
from rrgmetrics.version import VERSION
from rrgmetrics.worth import Worth

Intervals = Mapping[str, Mapping[str, Mapping[str, tuple[float, float]]]]

MAX_STUDIES = 500  # about 1 MB of page for two systems
SHOWN_CHARACTERS = 6000  # of one report


class Layer(NamedTuple):
    """A stretch that is marked for one system: its CSS class, and what stands behind it."""

    spans: tuple[Span, ...]
    name: str
    label: str = ""


@dataclass(frozen=True)
class Segment:
    """A piece of text between two marks: its CSS classes, and the labels of the evidence that ends with it."""

    text: str
    classes: str = ""
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Order:
    """One way to sort the studies.

    Attributes:
        label: What is sorted by, within its group.
        group: The metric, if there are several systems.
        metric: Index of the metric.
        values: One number a study, smallest = worst; NaN comes last.
    """

    label: str
    group: str
    metric: int
    values: Array


def report_page(
    results: Mapping[str, Mapping[str, Result]],
    pairs: Mapping[str, Sequence[Pair]],
    study_ids: Sequence[str] | None = None,
    *,
    title: str = "Radiology report scores",
    intervals: Intervals | None = None,
    evidence: Mapping[str, Sequence[Explanation]] | None = None,
    worth: Worth | None = None,
    max_studies: int = MAX_STUDIES,
) -> str:
    """Makes a self-contained HTML page for one or several systems on the same studies.

    Args:
        results: System to what `rrgmetrics.score` returned for it; every system has the same metrics.
        pairs: System to its pairs, in the order that was scored; the references are the same for all.
        study_ids: One id a study; None numbers them from 1.
        title: Heading of the page.
        intervals: System to metric (as named in `results`) to key to the ends of its 95% interval.
        evidence: System to one explanation a pair, whose marks stand in the texts beside the words that differ.
        worth: What the systems are worth beside trivial ones.
        max_studies: How many studies to show in full, the worst by the first metric; the scores cover all.

    Returns:
        The page.

    Raises:
        InputError: No system or metric, systems with other metrics or other references, or a list of another length.
    """
    _check(results, pairs, study_ids, evidence)
    systems = list(results)
    n_studies = len(next(iter(pairs.values())))
    ids = list(study_ids) if study_ids is not None else [str(number) for number in range(1, n_studies + 1)]
    orders = _orders(results)
    shown = np.argsort(orders[0].values, kind="stable")[:max_studies]  # NaN sorts last
    environment = html.environment("rrgmetrics.present", counted=counted, unscored_word=UNSCORED)
    script = environment.loader.get_source(environment, "report.js")[0] if environment.loader else ""
    return environment.get_template("report.html.j2").render(
        title=title,
        systems=systems,
        n_studies=n_studies,
        version=VERSION,
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        metrics=[_metric(name, results, intervals or {}) for name in results[systems[0]]],
        signatures=_signatures(results),
        n_unscored=sum(result.n_unscored for by_name in results.values() for result in by_name.values()),
        unscored=unscored_lines(results),
        orders=list(enumerate(orders, 1)),
        groups=list(dict.fromkeys(order.group for order in orders)),
        studies=[_study(int(row), ids, pairs, results, orders, evidence or {}) for row in shown],
        worth=[] if worth is None else worth_tables(worth),
        remarks=[] if worth is None else worth.remarks,
        with_evidence=bool(evidence),
        with_intervals=bool(intervals),
    )


def _check(
    results: Mapping[str, Mapping[str, Result]],
    pairs: Mapping[str, Sequence[Pair]],
    study_ids: Sequence[str] | None,
    evidence: Mapping[str, Sequence[Explanation]] | None,
) -> None:
    if not results or not all(results.values()):
        raise InputError("There is nothing to show: pass at least one system with at least one metric.")
    first = next(iter(results))
    for system, by_name in results.items():
        if system not in pairs:
            raise InputError(f"pairs has no {system!r}, which results has; pass the pairs of each system.")
        if list(by_name) != list(results[first]):
            raise InputError(f"{system!r} was scored with {list(by_name)} and {first!r} with {list(results[first])}.")
        if [pair.reference for pair in pairs[system]] != [pair.reference for pair in pairs[first]]:
            raise InputError(f"{system!r} and {first!r} were not scored against the same references in the same order.")
        lengths = {f"results[{system!r}][{name!r}]": result.n_pairs for name, result in by_name.items()}
        if study_ids is not None:
            lengths["study_ids"] = len(study_ids)
        if evidence and system in evidence:
            lengths[f"evidence[{system!r}]"] = len(evidence[system])
        for name, length in lengths.items():
            if length != len(pairs[system]):
                raise InputError(f"{name} has {length} entries for the {len(pairs[system])} pairs of {system!r}.")


# --- numbers ----------------------------------------------------------------------------------------------------------


def _metric(name: str, results: Mapping[str, Mapping[str, Result]], intervals: Intervals) -> dict[str, Any]:
    """A metric's rows in the score table, and the spread of its headline."""
    by_system = {system: by_name[name] for system, by_name in results.items()}
    spec = next(iter(by_system.values())).titled
    keys = [key for i, key in enumerate(spec.keys) if i == 0 or key.title != spec.headline.title]
    rows = [
        {
            "key": key,
            "cells": [
                _cell(key, result, intervals.get(system, {}).get(name, {}).get(key.name))
                for system, result in by_system.items()
            ],
        }
        for key in keys
    ]
    of_headline = spread(spec.headline, {system: result.per_pair[spec.name] for system, result in by_system.items()})
    return {"name": name, "is_plain": name == spec.name, "key": spec.headline, "rows": rows, "spread": of_headline}


def _cell(key: Key, result: Result, interval: tuple[float, float] | None) -> dict[str, Any]:
    ends = "" if interval is None else between(*interval, key)
    unscored = result.n_unscored if key.name == result.spec.name else 0
    return {"value": show(result.scores.get(key.name, math.nan), key), "interval": ends, "n_unscored": unscored}


def _signatures(results: Mapping[str, Mapping[str, Result]]) -> list[tuple[str, list[str]]]:
    """Each system's signatures; once and without a name where they are the same for all."""
    listed = [(system, [result.signature for result in by_name.values()]) for system, by_name in results.items()]
    return [("", listed[0][1])] if all(lines == listed[0][1] for _, lines in listed) else listed


def _orders(results: Mapping[str, Mapping[str, Result]]) -> list[Order]:
    """How the studies can be sorted: by each metric, over all systems and for each, and by the systems' difference."""
    orders = []
    for metric, name in enumerate(next(iter(results.values()))):
        columns = []
        for by_name in results.values():
            spec = by_name[name].titled
            values = by_name[name].per_pair[spec.name]
            columns.append(spec.headline.goodness(values))
        group = label(name, spec)
        if len(columns) > 1:
            table = np.stack(columns)
            n_scored = (~np.isnan(table)).sum(axis=0)
            means = np.divide(
                np.nansum(table, axis=0), n_scored, out=np.full(len(columns[0]), np.nan), where=n_scored > 0
            )
            orders.append(Order("mean of systems", group, metric, means))
            orders += [Order(system, group, metric, column) for system, column in zip(results, columns, strict=True)]
            orders.append(Order("largest difference", group, metric, table.min(axis=0) - table.max(axis=0)))
        else:
            orders.append(Order(group, "", metric, columns[0]))
    return orders


# --- texts ------------------------------------------------------------------------------------------------------------


def _study(
    row: int,
    ids: Sequence[str],
    pairs: Mapping[str, Sequence[Pair]],
    results: Mapping[str, Mapping[str, Result]],
    orders: Sequence[Order],
    evidence: Mapping[str, Sequence[Explanation]],
) -> dict[str, Any]:
    """One study as the page shows it."""
    reference, _, context = pairs[next(iter(results))][row]
    reference_layers: list[Layer] = []
    candidates = []
    for i, (system, by_name) in enumerate(results.items()):
        candidate = pairs[system][row].candidate
        missing, added = differences(reference, candidate)
        explanation = evidence[system][row] if system in evidence else Explanation()
        whose = f"{system}: " if len(results) > 1 else ""
        reference_layers += [Layer((span,), f"m{i}") for span in missing]
        reference_layers += [Layer(mark.spans, f"e{i}", whose + mark.label) for mark in explanation.reference]
        layers = [Layer((span,), "added") for span in added]
        layers += [Layer(mark.spans, f"e{i}", mark.label) for mark in explanation.candidate]
        scores = [
            (label(name, result.titled), show(float(result.per_pair[result.spec.name][row]), result.spec.headline))
            for name, result in by_name.items()
        ]
        candidates.append({"system": system, "scores": scores, "text": _text(candidate, layers)})
    return {
        "index": row,
        "id": ids[row],
        "about": patient(context),
        "indication": context.indication,
        "reference": _text(reference, reference_layers, n_systems=len(results)),
        "candidates": candidates,
        "values": [
            str(row),
            *("x" if math.isnan(order.values[row]) else f"{order.values[row]:.9g}" for order in orders),
        ],
    }


def _text(text: str, layers: Sequence[Layer], *, n_systems: int = 0) -> dict[str, Any]:
    """A report cut at its marks, and how many characters of it are left out."""
    shown = text[:SHOWN_CHARACTERS]
    return {
        "segments": _segments(shown, layers, n_systems),
        "n_left_out": len(text) - len(shown),
        "is_empty": not text.strip(),
    }


def _segments(text: str, layers: Sequence[Layer], n_systems: int) -> list[Segment]:
    """The pieces of a text with their classes. `m-all` joins the classes where every system lacks the words."""
    lacking = {f"m{i}" for i in range(n_systems)}
    segments = []
    for piece in pieces(text, layers):
        classes = {layer.name for layer in piece.over} | {"evidence" for layer in piece.over if layer.label}
        if lacking and lacking <= classes:
            classes.add("m-all")
        labels = tuple((layer.name, layer.label) for layer in piece.ending if layer.label)
        segments.append(Segment(piece.text, " ".join(sorted(classes)), labels))
    return segments
