"""What is kept of sentences changes no reading, has an end, and leaves the garbage collector as it was."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from rrgmetrics.labels.graph import Graph, build_graph
from rrgmetrics.reading import Reading, parsed, read

# What a sentence says here depends on what stands before it, on its place, or on the characters between its words.
REPORTS = (
    "Left pleural effusion. It has increased. Right unchanged.",
    "Pneumothorax on the right. It has increased and shifts the mediastinum. Right unchanged.",
    "Breast carcinoma.",
    "Clear lungs. Breast carcinoma.",
    "? Chest infection. No effusion.",
    "No effusion. ? Chest infection.",
    "Small effusions. Overall worse.",
    "No effusion. Overall worse.",
    "Fractures of ribs 4-6. Fractures of ribs 4 - 6. Fractures of the left-sided ribs.",
    "FINDINGS: PICC line. IMPRESSION: The tip lies in the right atrium.",
    "Small effusion.\n\nSmall effusion. In summary, small left effusion.",
    "Disregard: small effusion. Nodule.",
)


def read_all(reports: tuple[str, ...]) -> dict[str, tuple[Reading, Graph]]:
    readings = {report: read(report) for report in reports}
    return {report: (reading, build_graph(reading)) for report, reading in readings.items()}


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> OrderedDict[object, object]:
    """What is kept of sentences: nothing yet."""
    sentences: OrderedDict[object, object] = OrderedDict()
    monkeypatch.setattr(parsed, "_kept", lambda lexicon: sentences)
    return sentences


def test_what_was_read_before_changes_nothing(kept: OrderedDict[object, object]) -> None:
    apart = {}
    for report in REPORTS:
        kept.clear()
        apart |= read_all((report,))
    assert read_all(REPORTS) == read_all(REPORTS[::-1]) == apart


def test_no_more_is_kept_than_is_said(kept: OrderedDict[object, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "KEPT", 3)
    read_all(REPORTS)
    assert len(kept) == 3
    assert ("Nodule", "nodule") in kept
