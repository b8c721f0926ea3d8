"""What a candidate pays for besides its findings."""

from __future__ import annotations

import pytest

from rrgmetrics import score
from rrgmetrics.comparing import explain
from rrgmetrics.comparing.penalties import contradictions
from rrgmetrics.labels.positive_sentences import affirmed, standard_wording
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load

PNEUMOTHORAX = "Large right pneumothorax with mild leftward shift. The heart is normal in size."

CONTRADICTING = [
    "Large right pneumothorax. The lungs are expanded. No pneumothorax.",
    "Large right pneumothorax, or no pneumothorax.",
    "Moderate left effusion. There is no pleural effusion.",
    "The heart is enlarged. No rib fracture. Heart size is normal.",
    "Right upper lobe mass. No mass in the right upper lobe.",
]
CONSISTENT = [
    "Small right pneumothorax. No left pneumothorax.",
    "Small apical pneumothorax. No large pneumothorax.",
    "Stable small effusion. No new pleural effusion.",
    "Old healed rib fracture. No acute rib fracture.",
    "Left basilar atelectasis. The lungs are otherwise clear.",
    "Tiny pneumothorax. No tension pneumothorax.",
    "Trace left effusion. No significant effusion on the right.",
]
TAKEN_BACK = [
    "It is false that there is a large right pneumothorax with mild leftward shift.",
    "It is not true that there is a large right pneumothorax.",
    "Disregard: large right pneumothorax with mild leftward shift. The heart is normal in size.",
    "The following is false: large right pneumothorax. Mild leftward shift.",
    "Another patient has a large right pneumothorax with mild leftward shift.",
]


@pytest.mark.parametrize("text", CONTRADICTING)
def test_a_report_that_contradicts_itself_is_wrong(text: str) -> None:
    assert contradictions(read(text), load())
    affirmed_alone = text.split(".")[0].split(", or")[0] + "."
    for reference in (affirmed_alone, "The lungs are clear.", "Right clavicle fracture."):
        assert (
            explain(reference=reference, candidate=text).total
            > explain(reference=reference, candidate=affirmed_alone).total
            or reference != affirmed_alone
        )
        assert explain(reference=reference, candidate=text).total >= 1
    assert explain(reference=text, candidate=text).total == 0


@pytest.mark.parametrize("text", CONSISTENT)
def test_a_narrower_denial_is_no_contradiction(text: str) -> None:
    assert not contradictions(read(text), load())


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_what_is_taken_back_is_not_said(text: str) -> None:
    missing = {
        error.reference.concept for error in explain(reference=PNEUMOTHORAX, candidate=text).errors if error.reference
    }
    assert "pneumothorax" in missing


@pytest.mark.parametrize(
    "text", ["Pneumonia cannot be excluded.", "A rib fracture is not excluded.", "Cannot exclude a nodule."]
)
def test_a_hedge_about_nothing_has_a_price(text: str) -> None:
    assert [
        error.category.letter for error in explain(reference="Clear lungs.", candidate=f"Clear lungs. {text}").errors
    ] == ["A"]
    assert explain(reference=f"Clear lungs. {text}", candidate=f"Clear lungs. {text}").total == 0


@pytest.mark.parametrize(
    "text",
    [
        "Left basilar opacity; pneumonia cannot be excluded.",
        "Left basilar opacity. Underlying infection is not excluded.",
    ],
)
def test_a_hedge_about_what_is_shown_is_free(text: str) -> None:
    assert explain(reference="Left basilar opacity.", candidate=text).total == 0


def test_an_unread_sentence_costs_unless_the_reference_says_it() -> None:
    reference = "Small left effusion."
    errors = explain(reference=reference, candidate=f"{reference} Florp wug zibble.").errors
    assert [(error.category.letter, error.significant) for error in errors] == [("A", True)]
    assert "Florp wug zibble" in errors[0].sentence
    assert explain(reference=f"{reference} Zibble: wug, florp.", candidate=f"{reference} Florp wug zibble.").total == 0


@pytest.mark.parametrize("candidate", ["", "definite definite", "Technique: PA and lateral views."])
def test_silence_leaves_every_sentence_of_the_reference_unsaid(candidate: str) -> None:
    reference = "Small left effusion. The heart is normal in size. No pneumothorax or focal consolidation."
    errors = explain(reference=reference, candidate=candidate).errors
    assert [error.category.letter for error in errors] == ["B", "B", "B"]
    assert any("“No pneumothorax or focal consolidation”" in error.sentence for error in errors)
    assert (
        explain(reference=reference, candidate="Small left effusion.").total == 0
    )  # silence in a report means that it is not there


def test_affirmed_keeps_places_and_drops_what_earns_nothing() -> None:
    text = "The heart is normal. Small left effusion. No pneumothorax. small left  effusion. Wug florp."
    short = affirmed(read(text))
    assert len(short) == len(text)
    assert short.split() == ["Small", "left", "effusion.", "Wug", "florp."]
    assert short.index("Small") == text.index("Small")


def test_standard_wording_does_not_tell_denials_from_silence() -> None:
    plain, wordy = (
        "Small left effusion.",
        "Small left effusion. The heart is normal. No nodule, no mass. Bones are intact.",
    )
    assert standard_wording(read(plain)) == standard_wording(read(wordy))
    assert standard_wording(read("")) == ""


@pytest.mark.parametrize("name", ["green", "radfact", "ratescore", "radgraph_f1", "chexbert_f1", "finding_errors"])
def test_a_report_that_is_otherwise_clear_is_its_own_equal(name: str) -> None:
    text = "Patchy opacity at the left base. The lungs are otherwise clear. Enlarged heart. No pneumothorax."
    result = score(name, predictions=[text], references=[text], progress=False)[name]
    assert result.scores[name] == pytest.approx(0 if name == "finding_errors" else 1)


def test_a_possibility_that_nothing_suggests():
    candidate = "The heart size is normal. Pneumonia cannot be excluded."
    (error,) = explain(reference="The heart size is normal.", candidate=candidate).errors
    assert error.sentence == "Only the candidate calls pneumonia possible, and no finding of either report suggests it."
