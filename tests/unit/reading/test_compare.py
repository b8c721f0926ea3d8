"""Which differences between two invented reports are errors, of which kind, and how much they matter."""

from __future__ import annotations

from pathlib import Path

from rrgmetrics.comparing import ErrorCategory, compare, explain
from rrgmetrics.reading import read
from table_rows import each_row, read_table

# reference, candidate, categories of the errors (letters), number of significant errors
PAIRS = [
    # the same in other words
    ("The heart is enlarged.", "Cardiomegaly.", "", 0),
    ("Left base consolidation.", "Left lower lobe pneumonia.", "", 0),
    ("Bibasilar atelectasis.", "Atelectasis at both lung bases.", "", 0),
    ("Hyperinflated lungs.", "COPD.", "", 0),
    ("Lungs are clear.", "No consolidation.", "", 0),
    ("Small left effusion.", "Tiny left pleural effusion.", "", 0),
    ("Right opacity, likely pneumonia.", "Right airspace opacity.", "", 0),
    ("Left effusion.", "Small left effusion with blunting of the left costophrenic angle.", "", 0),
    # false and missing findings
    ("Clear lungs.", "Right upper lobe mass.", "A", 1),
    ("Right upper lobe mass.", "Clear lungs.", "B", 1),
    ("Normal heart.", "Small hiatal hernia.", "A", 0),
    ("Left rib fracture.", "Left rib fracture. Right pneumothorax.", "A", 1),
    ("Cardiomegaly. Left effusion.", "No cardiomegaly. No effusion.", "BB", 2),
    ("Left lower lobe atelectasis.", "Right upper lobe nodule.", "AB", 1),
    # location
    ("Small right effusion.", "Small left effusion.", "C", 1),
    ("Left apical pneumothorax.", "Left basilar pneumothorax.", "C", 1),
    ("Right upper lobe nodule.", "Right middle lobe nodule.", "C", 0),  # adjacent
    ("Right lower lobe nodule.", "Right upper lobe nodule.", "C", 1),
    ("Pneumothorax.", "Left pneumothorax.", "", 0),  # a place added where the reference has none
    ("Bilateral effusions.", "Right effusion.", "C", 0),
    # severity and size; a size that differs by less than the thresholds is an error that does not matter
    ("Small left effusion.", "Large left effusion.", "D", 1),
    ("Mild cardiomegaly.", "Mild to moderate cardiomegaly.", "", 0),
    ("Mild cardiomegaly.", "Moderate cardiomegaly.", "D", 0),
    ("Mild cardiomegaly.", "Severe cardiomegaly.", "D", 1),
    ("Heart size is top normal.", "Borderline heart size.", "", 0),
    ("Old left clavicle fracture.", "Acute left clavicle fracture.", "D", 1),
    ("A 4 mm nodule.", "A 5 mm nodule.", "D", 0),
    ("A 4 mm nodule.", "A 9 mm nodule.", "D", 1),
    ("A 12 mm nodule.", "A 15 mm nodule.", "D", 0),
    ("A 12 mm nodule.", "A 18 mm nodule.", "D", 1),
    ("A 5 cm mass.", "A 5.5 cm mass.", "D", 0),
    ("A 5 cm mass.", "A 7 cm mass.", "D", 1),
    ("A 3.2 cm mass.", "A 2.8 cm mass.", "D", 1),  # crosses 3 cm
    # devices
    ("Right IJ line, tip in the SVC.", "Left IJ line, tip in the SVC.", "C", 1),
    ("Right PICC with tip in the upper SVC.", "Right PICC with tip in the right atrium.", "C", 1),
    ("Right PICC with tip in the mid SVC.", "Right PICC with tip in the lower SVC.", "", 0),
    ("Nasogastric tube in the stomach.", "Nasogastric tube in the esophagus.", "C", 1),
    ("Pacemaker, leads in the right atrium and right ventricle.", "Pacemaker, lead in the right ventricle.", "C", 0),
    ("Endotracheal tube in good position.", "Endotracheal tube in the right mainstem bronchus.", "C", 1),
    ("Endotracheal tube 5 cm above the carina.", "Endotracheal tube 1 cm above the carina.", "C", 1),
    ("Endotracheal tube 4 cm above the carina.", "Endotracheal tube 4.5 cm above the carina.", "", 0),
    # over- and underinterpretation
    ("Right upper lobe opacity.", "Right upper lobe mass.", "D", 1),
    ("Right upper lobe mass.", "Right upper lobe opacity.", "D", 1),
    # temporal
    ("Left effusion.", "Worsening left effusion.", "E", 1),
    ("Worsening left effusion.", "Left effusion.", "F", 1),
    ("Improving left effusion.", "Worsening left effusion.", "F", 1),
    ("Left effusion.", "Stable left effusion.", "E", 0),
    ("New left effusion. Mild cardiomegaly.", "New left effusion. Stable mild cardiomegaly.", "", 0),
    # not counted
    ("Clear lungs.", "Clear lungs. The patient is rotated.", "", 0),
    ("Left lung opacity.", "Left lung opacity. Pneumonia cannot be excluded.", "", 0),
    ("", "", "", 0),
    ("Small left effusion.", "", "B", 1),
    ("", "Large left effusion.", "A", 1),
]


@each_row("reference, candidate, letters, significant", PAIRS)
def test_pair(reference: str, candidate: str, letters: str, significant: int) -> None:
    comparison = compare(read(reference), read(candidate))
    assert "".join(sorted(e.category.letter for e in comparison.errors)) == letters
    assert comparison.significant == significant
    assert comparison.total == len(letters) == sum(comparison.counts.values())


@each_row("reference, candidate", [(reference, candidate) for reference, candidate, _, _ in PAIRS])
def test_a_report_compared_with_itself_has_no_errors(reference: str, candidate: str) -> None:
    for text in (reference, candidate, f"{reference} {candidate}"):
        reading = read(text)
        assert compare(reading, reading).errors == ()


SENTENCES = [
    (
        "Moderate right pleural effusion, worse since the prior.",
        "Small bilateral pleural effusions, stable.",
        [
            "Pleural effusion, side: right → bilateral.",
            "Right pleural effusion, size: moderate → small.",
            "Right pleural effusion, change: worse → stable.",
        ],
    ),
    (
        "ET tube tip 35 mm above the carina.",
        "ET tube tip 10 mm above the carina.",
        ["Endotracheal tube, position: tip 35 mm above the carina → tip 10 mm above the carina."],
    ),
    (
        "Right IJ line, tip in the mid SVC.",
        "Right subclavian line, tip in the right atrium.",
        [
            "Central venous catheter, position: internal jugular, tip in the mid SVC → "
            "subclavian, tip in the right atrium."
        ],
    ),
    (
        "Mildly enlarged cardiomediastinal silhouette.",
        "Severely enlarged cardiomediastinal silhouette.",
        ["Enlarged cardiomediastinal silhouette, severity: mild → severe."],
    ),
    (
        "Mildly enlarged cardiomediastinal silhouette.",
        "Clear lungs.",
        ["Only the reference reports: mildly enlarged cardiomediastinal silhouette."],
    ),
    (
        "8 mm nodule in the left upper lobe.",
        "12 mm nodule in the right lower lobe.",
        [
            "Nodule, location: left upper lobe → right lower lobe.",
            "Left upper lobe nodule, size: 8 mm → 12 mm.",
        ],
    ),
    ("Possible left pneumonia.", "Left pneumonia.", ["Left pneumonia, certainty: possible → certain."]),
    ("Fractures of three left ribs.", "Fractures of five left ribs.", ["Left rib fracture, number: 3 → 5."]),
    (
        "Old healed left 6th and 7th rib fractures.",
        "Acute left 6th rib fracture.",
        ["Left rib fracture (rib 6, rib 7), number: 2 → 1."],  # one degree is one error
    ),
    (
        "Acute fracture of the left fourth rib.",
        "Old fracture of the left fourth rib.",
        ["Left rib fracture (rib 4), age: acute → chronic."],
    ),
    ("Left effusion has resolved.", "Left effusion is unchanged.", ["Pleural effusion, change: resolved → stable."]),
    ("Left effusion.", "Worsening left effusion.", ["Left pleural effusion, change: not given → worse."]),
    ("UVC tip at T8.", "UVC tip at T12.", ["Umbilical venous catheter, level: T8 → T12."]),
    (
        "IABP marker 2 cm below the aortic arch.",
        "IABP marker 6 cm below the aortic arch.",
        ["Intra-aortic balloon pump, distance: 20 mm → 60 mm."],
    ),
    (
        "No pneumothorax on either side.",
        "Right pneumothorax.",
        ["Only the candidate reports: right pneumothorax; the reference denies it."],
    ),
    ("Right aortic arch.", "Clear lungs.", ["Only the reference reports: right aortic arch."]),
    ("Tiny calcified granuloma.", "No effusion.", ["Only the reference reports: tiny calcified granuloma."]),
    (
        "Right basal opacity, possibly pneumonia.",
        "Right basal opacity, definite pneumonia.",
        [
            "Right basal opacity or pneumonia, certainty: certain opacity, possible pneumonia → certain opacity, "
            "certain pneumonia."
        ],
    ),
    ("Right chest tube.", "Clear lungs.", ["Only the reference reports: right chest tube."]),
    ("Clear lungs.", "Endotracheal tube in place.", ["Only the candidate reports: endotracheal tube (in position)."]),
    (
        "Spiculated nodule in the right upper lobe.",
        "No effusion.",
        ['Only the reference reports: right upper lobe nodule, "Spiculated nodule in the right upper lobe".'],
    ),
    (
        "No effusion.",
        "There is an acute displaced fracture of the left fifth rib.",
        ['Only the candidate reports: left rib fracture (rib 5), "acute displaced fracture of the left fifth rib".'],
    ),
    (
        "Thick-walled cavity in the right apex.",
        "Cavities: none.",
        [
            'Only the reference reports: right apical cavity, "Thick-walled cavity in the right apex"; '
            "the candidate denies it."
        ],
    ),
    ("Small left effusion.", "Clear heart.", ["Only the reference reports: small left pleural effusion."]),
    (
        "Progressive massive fibrosis in the right lung.",
        "No effusion.",
        ["Only the reference reports: right progressive massive fibrosis."],
    ),
    ("Pulmonary valve calcification.", "No effusion.", ["Only the reference reports: pulmonic valve calcification."]),
    ("Pulmonary embolism or infarct.", "No effusion.", ["Only the reference reports: pulmonary embolism or infarct."]),
    (
        "Cardiothoracic ratio of 0.62.",
        "Cardiothoracic ratio of 0.48.",
        [
            'Only the reference reports: cardiomegaly, "Cardiothoracic ratio of 0.62"; the candidate denies it; '
            "cardiothoracic ratio: 0.62 → 0.48."
        ],
    ),
    (
        "Heart size is normal, CTR 48%.",
        "The heart is enlarged, CTR 17/29.",
        ["Only the candidate reports: cardiomegaly; the reference denies it; cardiothoracic ratio: 48% → 17/29."],
    ),
    (
        "Normal heart size.",
        "CTR is 0.62.",
        ['Only the candidate reports: cardiomegaly, "CTR is 0.62"; the reference denies it.'],
    ),
    ("Cardiomegaly, CTR 0.62.", "Cardiomegaly, CTR 0.55.", []),
    (
        "Swan-Ganz tip in a segmental pulmonary artery.",
        "Swan-Ganz tip in the main pulmonary artery.",
        [
            "Pulmonary artery catheter, position: tip in a segmental pulmonary artery → "
            "tip in the main pulmonary artery."
        ],
    ),
]


@each_row("reference, candidate, sentences", SENTENCES)
def test_a_sentence_names_the_attribute_that_differs(reference: str, candidate: str, sentences: list[str]) -> None:
    assert [error.sentence for error in compare(read(reference), read(candidate)).errors] == sentences


def test_a_ratio_of_ventricles_has_no_unit() -> None:
    (error,) = explain(reference="CT chest. RV/LV ratio 0.9.", candidate="CT chest. RV/LV ratio 1.6.").errors
    assert error.sentence == "Only the candidate reports: heart strain (1.6); the reference measures 0.9."


def test_the_sentence_names_the_diagnoses_that_differ() -> None:
    (error,) = explain(reference="Nodule, likely a metastasis.", candidate="Nodule, likely a granuloma.").errors
    assert error.sentence == "Nodule or metastatic disease, interpretation: metastatic disease → granuloma."
    assert error.significant


def test_an_error_has_one_sentence_with_its_evidence() -> None:
    reference, candidate = "There is a small right pleural effusion.", "Small left effusion."
    (error,) = compare(read(reference), read(candidate)).errors
    assert error.category is ErrorCategory.INCORRECT_LOCATION
    assert error.attribute == "location"
    assert error.sentence == "Pleural effusion, side: right → left."
    assert [reference[s.start : s.end] for s in error.reference_spans] == ["small right pleural effusion"]
    assert [candidate[s.start : s.end] for s in error.candidate_spans] == ["Small left effusion"]


def test_a_contradicted_normal_statement_is_shown() -> None:
    reference, candidate = "Heart size is normal.", "Cardiomegaly."
    (error,) = compare(read(reference), read(candidate)).errors
    assert error.contradicts
    assert [reference[s.start : s.end] for s in error.reference_spans] == ["Heart size is normal"]


def test_one_clear_lung_denies_nothing_in_the_other() -> None:
    (error,) = compare(read("The left lung is clear."), read("Right basal opacity.")).errors
    assert not error.contradicts
    (error,) = compare(read("The lungs are clear."), read("Right basal opacity.")).errors
    assert error.contradicts


def test_agreed_normals_are_kept() -> None:
    comparison = compare(read("No effusion. Normal heart."), read("Heart is unremarkable. No pleural effusion."))
    assert set(comparison.agreed_normals) == {"pleural_effusion", "cardiomegaly"}


# finding, context, significance
SIGNIFICANCE = [
    ("Aortic atherosclerosis.", {"age": "082Y", "indication": "Preoperative."}, "benign_expected"),
    ("Aortic atherosclerosis.", {"age": 25, "indication": "Chest pain."}, "actionable_not_urgent"),
    ("Degenerative changes of the spine.", {"age": "70"}, "benign_expected"),
    ("Large left pneumothorax.", None, "urgent"),
    ("Tension pneumothorax.", None, "urgent"),
    ("Tiny left apical pneumothorax.", None, "actionable_not_urgent"),
    ("Endotracheal tube in the right mainstem bronchus.", None, "urgent"),
    ("Endotracheal tube 1 cm above the carina.", None, "urgent"),
    ("Endotracheal tube 4 cm above the carina.", None, "not_actionable_not_urgent"),
    ("Nasogastric tube tip in the esophagus.", None, "urgent"),
    ("Right PICC in good position.", None, "not_actionable_not_urgent"),
    ("Moderate right pleural effusion.", None, "actionable_not_urgent"),
    ("Small right pleural effusion.", None, "actionable_not_urgent"),
    ("Old rib fracture.", None, "not_actionable_not_urgent"),
    ("Acute rib fracture.", None, "actionable_not_urgent"),
    ("Compression deformity of T12.", {"age": "60", "indication": "Fall."}, "actionable_not_urgent"),
    ("A cervical rib.", None, "not_actionable_not_urgent"),
]


@each_row("text, context, expected", SIGNIFICANCE)
def test_significance(text: str, context: dict[str, object] | None, expected: str) -> None:
    (error,) = compare(read(text), read(""), context).errors
    assert error.significance == expected


CLASSES = {
    "U": "urgent",
    "A": "actionable_not_urgent",
    "N": "not_actionable_not_urgent",
    "B": "benign_expected",
}


@each_row("text, age, indication, expected", read_table(Path(__file__).with_name("significance.tsv")))
def test_significance_in_context(text: str, age: str, indication: str, expected: str) -> None:
    """The class of a finding in the patient's context, with a reason."""
    errors = compare(read(text), read(""), {"age": age, "indication": indication}).errors
    (error,) = (error for error in errors if error.category is ErrorCategory.MISSING_FINDING)
    assert error.significance == CLASSES[expected]
