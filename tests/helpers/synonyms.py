"""What a row of synonyms expects: one finding in several wordings, and neighbours that are another thing."""

from __future__ import annotations

from rrgmetrics.comparing import compare
from rrgmetrics.reading import Reading, read


def check_synonyms(name: str, wordings: str, neighbours: str, modality: str = "chest_xray") -> None:
    """The first wording affirms something abnormal; the others, in either order, say the same; a neighbour does not."""
    first, *others = (read(wording, modality) for wording in wordings.split(" | "))
    near = [read(neighbour, modality) for neighbour in filter(None, neighbours.split(" | "))]
    assert first.abnormal, f"nothing abnormal is read in {first.text!r}"
    apart = [other.text for other in others if _errors(first, other) or _errors(other, first)]
    alike = [other.text for other in near if not _errors(first, other)]
    assert (apart, alike) == ([], []), name


def _errors(reference: Reading, candidate: Reading) -> int:
    """The number of errors of all kinds, also where a single sentence is not yet a report of the chest."""
    return sum(compare(reference, candidate).counts.values())
