"""Properties of denial, hedges and their reach: they hold for every finding and every sentence of the tables."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import pytest

from rrgmetrics.reading import Finding, read
from tests.unit.reading.test_sentences import ROWS

FINDINGS = (
    "pleural effusion",
    "left lower lobe consolidation",
    "rib fracture",
    "pneumothorax",
    "mediastinal mass",
    "cardiomegaly",
    "pulmonary edema",
    "hiatal hernia",
    "vertebral compression fracture",
    "subcutaneous emphysema",
    "right apical nodule",
    "interstitial opacities",
    "calcified granuloma",
    "cavitation",
    "bilateral infiltrates",
    "volume loss",
    "lymphadenopathy",
    "pneumoperitoneum",
)
DENIALS = (
    "No {}.",
    "There is no {}.",
    "No evidence of {}.",
    "No radiographic evidence for {}.",
    "No definite {}.",
    "Without {}.",
    "Negative for {}.",
    "I see no {}.",
    "There are no signs of {} today.",
    "The lungs show no features to suggest {}.",
    "There is nothing that would suggest {}.",
    "The film does not demonstrate {}.",
    "A {} is not seen.",
    "The {} has resolved.",
    "{} is absent.",
    "{} is unlikely.",
    "{}: none.",
)
HEDGES = {
    "Possible {}.": "possible",
    "Query {}.": "possible",
    "?{}": "possible",
    "{}?": "possible",
    "There may be a {}.": "possible",
    "A {} is possible.": "possible",
    "A {} is suspected.": "possible",
    "A {} is a consideration.": "possible",
    "Probable {}.": "suspected",
    "A {} is likely.": "probable",
    "A {} is thought to be present.": "probable",
    "A {} cannot be excluded.": "not_excluded",
    "A {} has not been entirely excluded.": "not_excluded",
    "Cannot reliably exclude {}.": "not_excluded",
}
UNSAID = (
    "CT to rule out {}.",
    "Evaluate for {}.",
    "If there is concern for {}, a lateral view is advised.",
    "Should {} be suspected, CT is advised.",
    "Noise may hide a {}.",
    "CT is better for {}.",
    "Sensitivity for {} is limited.",
    "A small {} could be missed.",
    "A small {} would not be visible.",
)
POINTERS = ("it", "this", "these", "they")  # a sentence that begins so speaks of the one before
SPLICED = {  # in a report of several sentences a comma ends a statement less readily (boundaries.is_boundary)
    "Effusion, right lung better aerated.",
    "Emphysema, no nodule, apical scarring.",
}
ALONE = [
    sentence
    for _, sentence, _ in ROWS
    if ":" not in sentence
    and sentence not in SPLICED
    and "XXXX" not in sentence
    and sentence.split()[0].lower() not in POINTERS
    and "." in sentence  # without a full stop, what follows another sentence is read otherwise
]
OTHER = "pneumoperitoneum"  # a finding that says nothing of the others


@cache
def said(text: str) -> tuple[tuple[object, ...], ...]:
    """What a text says, without the numbers of its sentences; nothing of the other finding."""
    return tuple(facts(finding) for finding in read(text).findings if finding.concept != OTHER)


def facts(finding: Finding) -> tuple[object, ...]:
    return finding.concept, finding.assertion, finding.certainty, finding.side, finding.zones, finding.severity


def concepts(text: str, assertion: str) -> set[str]:
    return {finding.concept for finding in read(text).findings if finding.assertion == assertion}


@pytest.mark.parametrize("denial", DENIALS)
def test_a_denial_denies_every_finding(denial: str) -> None:
    for finding in FINDINGS:
        text = denial.format(finding)
        assert read(text).abnormal == (), text
        assert concepts(finding, "present") <= concepts(text, "absent"), text


@pytest.mark.parametrize(("hedge", "certainty"), HEDGES.items())
def test_a_hedge_holds_for_every_finding(hedge: str, certainty: str) -> None:
    for finding in FINDINGS:
        text = hedge.format(finding)
        assert {f.concept for f in read(text).abnormal} == concepts(finding, "present"), text
        assert {f.certainty for f in read(text).abnormal} == {certainty}, text


@pytest.mark.parametrize("speech", UNSAID)
def test_what_is_only_asked_or_feared_is_not_said(speech: str) -> None:
    for finding in FINDINGS:
        assert not {f.concept for f in read(speech.format(finding)).abnormal} & concepts(finding, "present"), finding


@pytest.mark.parametrize(
    "joints", [(", ", ", or "), (", ", " or "), (" or ", " or "), (", ", ", and "), (" / ", " / ")]
)
def test_every_finding_of_a_denied_list_is_denied(joints: tuple[str, str]) -> None:
    for a, b, c in permutations(FINDINGS[:6], 3):
        text = f"No {a}{joints[0]}{b}{joints[1]}{c}."
        assert read(text).abnormal == (), text


@pytest.mark.parametrize("bridge", [", but there is ", "; ", ". ", " but ", ", although there is "])
def test_a_denial_ends_with_its_clause(bridge: str) -> None:
    for a, b in permutations(FINDINGS[:8], 2):
        text = f"No {a}{bridge}{b}."
        assert concepts(b, "present") <= concepts(text, "present"), text
        assert concepts(a, "present") - concepts(b, "present") <= concepts(text, "absent"), text


def test_a_denied_sentence_changes_no_other_sentence() -> None:
    changed = [
        sentence
        for sentence in ALONE
        if said(f"{sentence.rstrip('.?')}. There is no {OTHER}.") != said(f"{sentence.rstrip('.?')}.")
        or said(f"No {OTHER}. {sentence}") != said(sentence)
    ]
    assert changed == []


def test_a_hedged_sentence_changes_no_other_sentence() -> None:
    assert [sentence for sentence in ALONE if said(f"Possible {OTHER}. {sentence}") != said(sentence)] == []
