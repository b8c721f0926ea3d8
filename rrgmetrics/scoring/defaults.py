"""The metrics that fit the kind of report: about eight by default, and those of a preset.

>>> default_metrics(["Small left pleural effusion."])[:2]
('finding_errors', 'crepe')
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import AUTO, DEFAULT_PACK, all_packs
from rrgmetrics.scoring.scope_filter import modality_of
from rrgmetrics.specs import PRESETS
from rrgmetrics.specs.names import ALL, expand, listed_names, parse_names
from rrgmetrics.utils.text_format import by_number, listed

logger = logging.getLogger("rrgmetrics")

LOOKED_AT = 200  # references that decide what kind of report it is
OF_PACKS = {  # the preset of each pack of the lexicon
    "chest_xray": "chest-xray",
    "chest_ct": "chest-ct",
    "brain_ct": "brain-ct",
    "mammography": "mammography",
}


def default_metrics(references: Iterable[str]) -> Sequence[str]:
    """Returns the metrics for the kind of report that most of the first references are.

    Args:
        references: The radiologists' reports; `LOOKED_AT` of them are read.
    """
    return PRESETS[default_preset(references)]


def default_preset(references: Iterable[str]) -> str:
    """Returns the name of the preset for the kind of report that most of the first references are."""
    return OF_PACKS.get(_commonest_pack(references), OF_PACKS[DEFAULT_PACK])


def fitting_metrics(metrics: str | Sequence[str], references: Iterable[str]) -> list[str]:
    """Returns the metrics that are named, presets expanded, without those of a preset that do not fit the reports.

    A metric that is named by itself stays, and so does a preset of which no metric fits. What is left out is logged.

    Args:
        metrics: Names, as `parse_names` takes them.
        references: The radiologists' reports; `LOOKED_AT` of them are read, if a metric of a preset may not fit.

    Raises:
        InputError: No metric, an invalid name, or one that is named twice.

    Example:
        >>> "f1_radbert_ct" in fitting_metrics("paper-table", ["Small left pleural effusion."])
        False
        >>> fitting_metrics("f1_radbert_ct", ["Small left pleural effusion."])
        ['f1_radbert_ct']
    """
    texts = listed_names(metrics)
    parsed = parse_names(texts)
    by_itself = {*texts, *(expand(ALL) if ALL in texts else ())}
    of_one_kind = {
        text: modality
        for text, name in parsed.items()
        if text not in by_itself and (modality := modality_of(name)) not in ("", AUTO)
    }
    if not of_one_kind:
        return list(parsed)
    kind = all_packs()[_commonest_pack(references)].title
    left_out = {text: modality for text, modality in of_one_kind.items() if modality != kind}
    if len(left_out) == len(parsed):
        return list(parsed)
    by_modality: dict[str, list[str]] = {}
    for text, modality in left_out.items():
        by_modality.setdefault(modality, []).append(text)
    said = [f"{listed(names)} {by_number(len(names), 'scores', 'score')} {kind}" for kind, names in by_modality.items()]
    if said:
        logger.warning(
            "Left out of the preset, as the references are %s: %s. A metric that is named by itself is scored.",
            kind,
            "; ".join(said),
        )
    return [text for text in parsed if text not in left_out]


def _commonest_pack(references: Iterable[str]) -> str:
    """The pack of the kind of report that most of the first references are."""
    counts = Counter(read(text, AUTO).pack for text in islice(references, LOOKED_AT) if text.strip())
    return counts.most_common(1)[0][0] if counts else DEFAULT_PACK
