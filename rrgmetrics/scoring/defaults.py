"""The default metrics: about eight that read the given kind of report.

>>> default_metrics(["Small left pleural effusion."])[:2]
('finding_errors', 'crepe')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import AUTO, DEFAULT_PACK
from rrgmetrics.specs import PRESETS

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
    counts = Counter(read(text, AUTO).pack for text in islice(references, LOOKED_AT) if text.strip())
    return OF_PACKS.get(counts.most_common(1)[0][0] if counts else DEFAULT_PACK, OF_PACKS[DEFAULT_PACK])
