"""What the sum of all devices ("all lines") stands for: the devices that the other report names.

A device that is new, or named beside a sum for the rest, needs a match of its own.
"""

from __future__ import annotations

from dataclasses import replace

from rrgmetrics.comparing.model import Unit
from rrgmetrics.reading.device_moves import is_support_device
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding, Reading


def is_sum(finding: Finding, lexicon: Lexicon) -> bool:
    """Whether a finding is the sum of all devices."""
    return finding.concept in lexicon.roles["device_sum"]


def mark_own(units: list[Unit], lexicon: Lexicon) -> list[Unit]:
    """Marks the devices of a report that no sum of another report stands for: new ones, those beside a sum."""
    summed = any(is_sum(unit.head, lexicon) for unit in units)
    return [
        replace(unit, own=True)
        if is_support_device(unit.head.concept, lexicon)
        and not is_sum(unit.head, lexicon)
        and (summed or unit.head.change == "new")
        else unit
        for unit in units
    ]


def is_summed_up(unit: Unit, other: Reading, lexicon: Lexicon) -> bool:
    """Whether a report's sum says no more than that there are devices, which the other report names."""
    return is_sum(unit.head, lexicon) and any(is_support_device(x.concept, lexicon) for x in other.abnormal)
