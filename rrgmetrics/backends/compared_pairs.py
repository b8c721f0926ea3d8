"""Reads and compares pairs of reports for `finding_errors`, the judges of the bundled engine, and rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rrgmetrics.backends.base import read_pair_parts
from rrgmetrics.backends.reader import ReaderBackend, Readings, reader_backend
from rrgmetrics.comparing import ReportComparison, compare, compare_as_scored
from rrgmetrics.comparing.claims import as_claimed
from rrgmetrics.comparing.rubric import Appraisal, appraise
from rrgmetrics.reading import Reading
from rrgmetrics.reports import Context, Pair


@dataclass(frozen=True, eq=False)
class Compared:
    """The annotation of a pair.

    Attributes:
        reference: The reading of the reference.
        candidate: What the candidate claims.
        comparison: Of both.
        context: Of the patient.
    """

    reference: Reading
    candidate: Reading
    comparison: ReportComparison
    context: Context

    @cached_property
    def appraisal(self) -> Appraisal:
        """What the comparison means for the patient, graded once for all metrics."""
        return appraise(self.comparison, self.context)


@dataclass(frozen=True)
class ComparedPairs:
    """A `ComposedPairs` backend that compares the reader's readings.

    Attributes:
        engine: What a judge's signature calls it; "" for a metric that has no other engine.
        reader: What the readings are made with.
    """

    engine: str = ""
    reader: ReaderBackend = field(default_factory=reader_backend)

    @property
    def key(self) -> str:
        """The identity: the reader's, with what is made of it."""
        return f"{self.reader.key}|compared"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the engine and the checksum of its knowledge."""
        engine = {"engine": self.engine} if self.engine else {}
        return {**engine, **self.reader.facts}

    def for_pack(self, pack: str) -> ComparedPairs:
        """Returns the backend that reads with another pack."""
        return replace(self, reader=self.reader.for_pack(pack))

    @property
    def parts(self) -> Mapping[str, ReaderBackend]:
        """The reader, shared with every metric that reads findings."""
        return {"reader": self.reader}

    def compose_pairs(self, pairs: Sequence[Pair], readings: Mapping[str, Mapping[str, Reading]]) -> list[Compared]:
        """Compares the readings of each pair."""
        known = readings["reader"]
        compared = []
        for pair in pairs:
            reference = known[pair.reference]
            candidate = as_claimed(reference, known[pair.candidate], pair.context)
            comparison = _counted(compare(reference, candidate, pair.context))
            compared.append(Compared(reference, candidate, comparison, pair.context))
        return compared

    def annotate_pairs(self, pairs: Sequence[Pair]) -> Sequence[Compared]:
        """Reads and compares pairs whose texts no other backend reads."""
        return read_pair_parts(self, pairs)


def _counted(comparison: ReportComparison) -> ReportComparison:
    """The comparison of a pair that is scored: the whole reference is in scope, also where a section alone is not."""
    return replace(comparison, out_of_scope="") if comparison.out_of_scope else comparison


def compare_pairs(pairs: Sequence[Pair], readings: Readings) -> dict[Pair, ReportComparison]:
    """Compares pairs as metrics score them, each read as the kind of report that its reference is."""
    compared: dict[Pair, ReportComparison] = {}
    for pair in dict.fromkeys(pairs):
        reference = readings.read(pair.reference)
        compared[pair] = compare_as_scored(reference, readings.read(pair.candidate, reference.pack), pair.context)
    return compared
