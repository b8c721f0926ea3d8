"""A sheet on which raters count the errors of what oracles retrieved, without knowing which oracle did.

In Yu et al. (2023) six radiologists judged the reports of four metrics for 50 studies, the four in a random order. The
sheet has the studies in their order, and within each the reports shuffled; sources and scores are in the key alone,
which is to be kept from the raters. `rrgmetrics agree --dataset sheet:FOLDER` joins both again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics import files
from rrgmetrics.metaeval.loaders.kinds import INSIGNIFICANT_KINDS, SIGNIFICANT_KINDS
from rrgmetrics.metaeval.loaders.sheet import COMMENT, ITEM, KEY, RATERS, SHEET
from rrgmetrics.metaeval.oracle import Oracles
from rrgmetrics.reports import CONTEXT_KEYS, Context, Pair

Rows = list[dict[str, Any]]


def sheet_paths(folder: str | Path) -> tuple[Path, Path]:
    """The sheet for raters, and its key."""
    return Path(folder) / RATERS / SHEET, Path(folder) / KEY


def write_sheet(folder: str | Path, oracles: Oracles, *, force: bool = False) -> tuple[Path, Path]:
    """Writes a sheet and its key.

    Args:
        folder: Where to; `files.check_outputs` makes its folders.
        oracles: What was retrieved; random reports and systems are left out. Its seed shuffles.
        force: Whether files on disk may be replaced.

    Returns:
        The sheet, of which each rater gets a copy `raters/NAME.csv`, and the key.
    """
    sheet, key = sheet_paths(folder)
    shown, kept = blind(oracles)
    for path, rows in ((sheet, shown), (key, kept)):
        files.write_table(path, {name: [row[name] for row in rows] for name in rows[0]}, force=force)
    return sheet, key


def blind(oracles: Oracles) -> tuple[Rows, Rows]:
    """The rows of the sheet, and those of the key in the same order."""
    rng = np.random.default_rng([oracles.seed, len(oracles.study_ids)])
    sources = oracles.metrics
    scores = {source: {m: r.headline for m, r in oracles.judged[source].items()} for source in sources}
    shown, kept = [], []
    context = _given(pair.context for pairs in oracles.retrieved.values() for pair in pairs)
    for number, study in enumerate(oracles.study_ids):
        for place, chosen in enumerate(rng.permutation(len(sources)).tolist(), 1):
            source = sources[chosen]
            pair = oracles.retrieved[source][number]
            item = {ITEM: f"s{number + 1:03}r{place}"}
            about = {**{name: getattr(pair.context, name) for name in context}, **_texts(pair)}
            blank = dict.fromkeys((*SIGNIFICANT_KINDS, *INSIGNIFICANT_KINDS, COMMENT), "")
            shown.append({**item, **about, **blank})
            own = {metric: float(values[number]) for metric, values in scores[source].items()}
            kept.append({**item, "study_id": study, "source": source, **about, **own})
    return shown, kept


def _texts(pair: Pair) -> Mapping[str, str]:
    return {"reference": pair.reference, "candidate": pair.candidate}


def _given(contexts: Any) -> Sequence[str]:
    """What any context says of a patient."""
    empty = Context()
    known = {name for each in contexts for name in CONTEXT_KEYS if getattr(each, name) != getattr(empty, name)}
    return [name for name in CONTEXT_KEYS if name in known]
