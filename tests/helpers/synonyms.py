"""What a row of synonyms expects: one finding in several wordings, and neighbours that are another thing."""

from __future__ import annotations

from rrgmetrics.comparing import compare
from rrgmetrics.reading import read


def check_synonyms(name: str, wordings: str, neighbours: str, modality: str = "chest_xray") -> None:
    """The first wording affirms something abnormal; the others, in either order, say the same; a neighbour does not."""
    first, *others = wordings.split(" | ")
    assert read(first, modality).abnormal, f"nothing abnormal is read in {first!r}"
    apart = [other for other in others if _errors(first, other, modality) or _errors(other, first, modality)]
    alike = [other for other in filter(None, neighbours.split(" | ")) if not _errors(first, other, modality)]
    assert (apart, alike) == ([], []), name


def _errors(reference: str, candidate: str, modality: str) -> int:
    """The number of errors of all kinds, also where a single sentence is not yet a report of the chest."""
    return sum(compare(read(reference, modality), read(candidate, modality)).counts.values())
