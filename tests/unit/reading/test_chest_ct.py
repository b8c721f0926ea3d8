"""Reports of chest CT, read with their pack: synonyms, sentences, and the 18 conditions of RadBERT-CT (chest_ct/)."""

from __future__ import annotations

from pathlib import Path

from benchmark import benchmark
from synonyms import check_synonyms

from rrgmetrics.comparing import compare
from rrgmetrics.labels.ct import ct_conditions
from rrgmetrics.reading import Reader
from table_rows import each_row, read_table
from tests.unit.reading.test_sentences import check

READER = Reader("chest_ct")
HERE = Path(__file__).parent / "chest_ct"


@each_row("name, wordings, neighbours", read_table(*sorted((HERE / "synonyms").glob("*.tsv"))))
def test_synonyms_of_ct(name: str, wordings: str, neighbours: str) -> None:
    check_synonyms(name, wordings, neighbours, "chest_ct")


@each_row("phenomenon, sentence, expected", read_table(HERE / "sentences.tsv"))
def test_sentences_of_ct(phenomenon: str, sentence: str, expected: str) -> None:
    reading, observations = READER.read(sentence), dict[str, int]()
    for part in expected.split(";"):
        check(part.strip(), reading, observations)


@each_row("text, labels", read_table(HERE / "labels.tsv"))
def test_conditions_of_ct(text: str, labels: str) -> None:
    assert sorted(ct_conditions(READER.read(text))) == sorted(set(labels.split("; ")) - {"none"})


@each_row("kind, text, labels", read_table(HERE / "label_kinds.tsv"))
def test_kinds_of_ct_conditions(kind: str, text: str, labels: str) -> None:
    found = ct_conditions(READER.read(text))
    assert [label for label in labels.split("; ") if (label[1:] in found) != (label[0] == "+")] == [], kind


@each_row("reference, candidate, expected", read_table(HERE / "pairs.tsv"))
def test_pairs_of_ct(reference: str, candidate: str, expected: str) -> None:
    counts = compare(READER.read(reference), READER.read(candidate)).counts
    assert ("".join(f"{kind.letter}{n}" for kind, n in counts.items() if n) or "none") == expected


@each_row("expected, reference, candidate", read_table(HERE / "left_out.tsv"))
def test_what_is_left_out_on_ct(expected: str, reference: str, candidate: str) -> None:
    errors = compare(READER.read(reference), READER.read(candidate)).errors
    left = {error.sentence.partition(" left out")[0].lower() for error in errors if error.is_left_out}
    assert left == (set() if expected == "free" else set(expected.split(", ")))


@each_row(
    "before, heading, concept",
    [
        ("Comparison: None.", "Pulmonary arteries: Saddle embolus.", "saddle_embolism"),
        ("Technique: CT with contrast.", "Aorta: Type B dissection.", "aortic_dissection"),
        ("Clinical history: Lung cancer.", "Lymph nodes: Enlarged subcarinal node, 16 mm.", "lymphadenopathy"),
        ("Comparison: CT of 2022, effusion.", "Nodules: Solid nodule in the left apex, 7 mm.", "nodule"),
        ("Indication: Dyspnea.", "Airways: Bronchial wall thickening.", "bronchial_thickening"),
    ],
)
def test_a_heading_that_names_what_it_is_about_ends_a_section_that_is_not_read(
    before: str, heading: str, concept: str
) -> None:
    reading = READER.read(f"{before}\n{heading}\nLungs: Clear.")
    assert [finding.concept for finding in reading.abnormal] == [concept]


@each_row(
    "before, behind, concepts",
    [
        ("Clinical: fall.\n\nLeft rib fracture. Left hemothorax.", "Upper abdomen: Normal.", "rib_fracture hemothorax"),
        ("Clinical: dyspnea\nLarge right pleural effusion.", "Heart: Normal.", "pleural_effusion"),
        ("Indication - fever\n\nCavity in the left upper lobe.", "Pleura: No effusion.", "cavity"),
        ("Reason for exam: staging.\n\nA 4 cm mass is in the right upper lobe.", "Liver: Normal.", "mass"),
        ("Clinical information: Chest pain.\n\nSaddle embolus.", "LUNGS: Clear.", "saddle_embolism"),
        ("Clinical question: infection?\n\n- small left effusion", "Mediastinum: Normal.", "pleural_effusion"),
        ("CT. Indication: fever.\nLUL, apicoposterior: thick-walled cavity.", "Pleura: Normal.", "cavity"),
        ("Clinical: fall.\nNo aortic injury.\nLeft rib fracture.", "Upper abdomen: Normal.", "rib_fracture"),
        ("Indication: cough and\nfever. Rule out pneumonia.\nHistory of COPD.", "Lungs: Clear.", ""),
        ("Indication: Pneumonia in March. History of COPD.", "Lungs: Clear.", ""),
        ("History: right pneumothorax. Chest tube yesterday.", "LUNGS: Clear.", ""),
    ],
)
def test_paragraphs_before_a_heading_of_an_organ_are_no_part_of_the_indication(
    before: str, behind: str, concepts: str
) -> None:
    reading = READER.read(f"{before}\n\n{behind}")
    assert [finding.concept for finding in reading.abnormal] == concepts.split()


def test_the_evidence_of_a_finding_under_a_heading_is_its_own_sentence() -> None:
    text = "Thyroid: Enlarged. 15 mm nodule on the left."
    (nodule,) = (finding for finding in READER.read(text).findings if finding.concept == "thyroid_nodule")
    assert [text[span.start : span.end] for span in nodule.spans] == ["15 mm nodule on the left"]


def test_reports_of_another_writer() -> None:
    """What benchmarks/chest_ct.py measures does not fall."""
    script = benchmark("chest_ct")
    tallies = script.label_tallies([])
    assert script.f1(tallies["micro"]) >= 0.98
    assert min(map(script.f1, tallies.values())) >= 0.85
    assert script.exact_pairs() >= 26
    assert sum(not script.faults(row) for row in script.rows("sentences")) >= 130
