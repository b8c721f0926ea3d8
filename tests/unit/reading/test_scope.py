"""Which texts the reader can read, and which of their sentences it understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from rrgmetrics.reading import read
from rrgmetrics.reading.scope import out_of_scope, scope_of, unread_spans
from table_rows import each_row, read_table, unescaped

XRAY, CT = "chest X-ray reports in English", "chest CT reports in English"

OUT = [  # text, what it looks like
    ("Silueta cardiaca de tamaño normal. Derrame pleural izquierdo moderado. No hay neumotórax.", "Spanish"),
    ("SILUETA CARDIACA NORMAL. SIN DERRAME NI NEUMOTORAX.", "Spanish"),
    ("Não há derrame pleural. Coração de dimensões normais.", "Portuguese"),
    ("Le cœur est de taille normale. Pas d'épanchement pleural. Pas de pneumothorax.", "French"),
    ("Kein Pneumothorax.", "German"),
    ("Pas de pneumothorax.", "French"),
    ("Geen pneumothorax.", "Dutch"),
    ("Ingen pneumothorax.", "Swedish"),
    ("Das Herz ist normal groß. Kein Pleuraerguss. Keine Infiltrate.", "German"),
    ("Il cuore è nei limiti. Non versamento pleurico. Assenza di pneumotorace.", "Italian"),
    ("Het hart is niet vergroot. Geen pleuravocht. Geen afwijkingen aan de longen.", "Dutch"),
    ("Serce niepowiększone. Płuca bez zmian ogniskowych, bez cech odmy.", "Polish"),
    ("Kalp boyutu normal. Plevral efüzyon izlenmedi. Akciğer alanları doğal.", "Turkish"),
    ("两肺纹理清晰，心影大小正常。", "Chinese or Japanese script"),
    ("Легкие без очаговых и инфильтративных изменений.", "Cyrillic script"),
    ("Lorem ipsum dolor sit amet, consectetur adipiscing elit.", "Latin"),
    ("Restricted diffusion in the left middle cerebral artery territory, acute infarct. No midline shift.", "brain"),
    (
        "No acute intracranial hemorrhage. Ventricles and sulci are normal. Gray-white differentiation is preserved.",
        "brain",
    ),
    ("L4-L5: mild disc bulge with moderate foraminal stenosis. The conus medullaris ends at L1.", "spine"),
    (
        "The liver is normal. The gallbladder contains stones. The common bile duct is not dilated. No hydronephrosis.",
        "abdominal",
    ),
    ("Scattered fibroglandular densities. No suspicious mass or calcification. BI-RADS category 1.", "mammogram"),
    ("Three views of the knee. Moderate joint effusion. The patella is intact. No tibial plateau fracture.", "limb"),
    ("Axial CT images with intravenous contrast. No filling defect in the pulmonary arteries. Small effusion.", "CT"),
]
SAYS_NOTHING = [
    "definite definite",
    "As above.",
    "See comment.",
    "Florp wug zibble grommet tanno.",
    "The weather is nice today and I like pizza.",
    "View view patient image of the the.",
    "1. 2. 3.",
    "INDICATION: Cough and fever.",
]
IN = [  # reports in many voices
    "",
    "Normal.",
    "Unchanged.",
    "No acute cardiopulmonary abnormality.",
    "NO ACUTE DISEASE",
    "No significant interval change.",
    "Stable chest.",
    "Dextrocardia.",
    "Lungs clr, no eff, no PTX.",
    "ETT 3 cm above carina. NGT in stomach. RIJ line tip SVC. Unchanged bibasilar atelectasis.",
    "The radiograph shows a well-expanded chest without evidence of consolidation; the visualized osseous structures "
    "appear intact, and there is no indication of an acute process requiring intervention.",
    "Compared with the previous film the left-sided haemothorax has enlarged. The trachea remains central. Surgical "
    "emphysema persists over the right chest wall.",
    "Premature infant with respiratory distress. UAC at T7, UVC at the diaphragm. Ground-glass lungs.",
    "Follow-up CT chest is recommended to exclude an underlying lesion. 8 mm right upper lobe nodule.",
    "Mild degenerative changes of the thoracic spine. No free air. Cholecystectomy clips.",
    "Status post CABG with intact sternotomy wires; dual-lead pacemaker in the left chest wall, unchanged in position.",
    "COMPARISON: CT abdomen and pelvis. FINDINGS: Cardiomegaly with vascular congestion. Left retrocardiac opacity.",
    "Old healed fractures of the left clavicle and humeral head prosthesis on the right. Clear lungs.",
]


@each_row("text, looks", OUT)
def test_texts_that_cannot_be_read_say_what_they_look_like(text: str, looks: str) -> None:
    reason = out_of_scope(scope_of(text), XRAY)
    assert reason.startswith("looks ")
    assert looks in reason


@each_row("text", SAYS_NOTHING)
def test_texts_that_say_nothing(text: str) -> None:
    assert out_of_scope(scope_of(text), XRAY) == "has no readable statement"


@each_row("text", IN)
def test_reports_can_be_read(text: str) -> None:
    scope = scope_of(text)
    assert out_of_scope(scope, XRAY) == out_of_scope(scope, CT) == ""
    assert not scope.unread


def test_a_chest_ct_can_be_read_by_a_metric_of_chest_cts() -> None:
    scope = scope_of(
        "Axial CT images with intravenous contrast. No filling defect in the pulmonary arteries. Small effusion."
    )
    assert out_of_scope(scope, CT) == ""
    assert out_of_scope(scope, "any text") == ""


@each_row(
    "text, is_film",
    [
        ("Chest X-ray. Small right pleural effusion.", True),
        ("CHEST RADIOGRAPH, PA and lateral: The lungs are clear.", True),
        ("EXAM: Portable chest x-ray\nFINDINGS: 8 mm nodule in the left upper lobe.", True),
        ("CXR: No pneumothorax. Heart size normal.", True),
        ("XR chest AP portable\nMild cardiomegaly.", True),
        ("Study: Chest film. Findings: Right lower lobe consolidation.", True),
        ("Frontal chest radiograph shows a 9 mm nodule in the right mid zone.", True),
        ("AP view of the chest. Small left effusion.", True),
        ("Plain film of the chest: no focal consolidation.", True),
        ("CT chest. Small right pleural effusion.", False),
        ("CHEST CT WITHOUT CONTRAST. COMPARISON: Chest radiograph 3 May. 8 mm nodule.", False),
        ("COMPARISON: Chest x-ray from yesterday. FINDINGS: 8 mm nodule in the left upper lobe.", False),
        ("INDICATION: Nodule on chest x-ray. FINDINGS: 6 mm solid nodule in the lingula.", False),
        ("8 mm nodule in the left upper lobe, seen on the prior chest radiograph.", False),
        ("Small right pleural effusion.", False),
        ("Lungs: 4 mm nodule. Chest radiograph in 3 months is recommended.", False),
        ("CT chest and chest x-ray: 5 mm nodule in the right lower lobe.", False),
    ],
)
def test_a_title_of_a_chest_film_is_no_chest_ct(text: str, is_film: bool) -> None:
    reason = out_of_scope(read(text, "chest_ct").scope, CT)
    assert reason == ("looks like a chest X-ray report" if is_film else "")
    assert not is_film or out_of_scope(scope_of(text), XRAY) == ""


@each_row("text", [text for text, _ in OUT] + SAYS_NOTHING + IN)
def test_a_reading_has_the_scope_of_its_text(text: str) -> None:
    assert read(text).scope == scope_of(text)


def test_unread_sentences_are_found_where_they_stand() -> None:
    text = "Small left effusion. Florp wug zibble. No pneumothorax."
    scope = scope_of(text)
    assert [text[span.start : span.end] for span in scope.unread] == ["Florp wug zibble"]
    assert [text[span.start : span.end] for span in scope.statements] == ["Small left effusion", "No pneumothorax"]


@pytest.mark.parametrize(
    ("reference", "candidate", "n"),
    [
        ("Small effusion.", "Small effusion. A frobnicated wug zibble.", 1),
        ("Wug zibble, frobnicated, and an effusion.", "Small effusion. A frobnicated wug zibble.", 0),
        ("Small left effusion in the lung.", "The of the left is and small no of effusion.", 1),
        ("The of the left is and small no of effusion.", "The of the left is and small no of effusion.", 0),
    ],
)
def test_the_references_own_words_are_not_foreign(reference: str, candidate: str, n: int) -> None:
    assert len(unread_spans(read(reference), read(candidate))) == n


@pytest.mark.parametrize("text", ["x" * 50_000, "florp " * 15_000, "é" * 50_000, "the " * 20_000, "!?" * 30_000])
def test_long_nonsense_takes_no_time_to_speak_of(text: str) -> None:
    assert not scope_of(text).statements


@pytest.mark.parametrize(
    "report",
    [
        "Wedge-shaped opacity in the right base. CT pulmonary angiogram (CTPA) with IV contrast is recommended.",
        "Tip of the pulmonary artery catheter in a right lower lobar artery; the main pulmonary artery is prominent.",
        "Convex aortopulmonary window. The main pulmonary artery is enlarged.",
        "A 3 cm mass in the left upper lobe. Contrast-enhanced CT with axial and coronal reformats is recommended.",
        "Honeycombing and traction bronchiectasis in both lower zones.",
    ],
)
def test_advice_and_names_of_vessels_make_no_ct_report(report):
    assert read(report).scope.kind == "chest x-ray"


def test_a_ct_report_that_advises_something_is_still_one():
    report = "Axial images with lung window. Filling defect in a subsegmental artery. Follow-up is recommended."
    assert read(report).scope.kind == "chest ct"


@each_row("kind, text", read_table(Path(__file__).parent / "scope.tsv"))
def test_the_kind_of_a_report_follows_from_its_terms(kind: str, text: str) -> None:
    scope = scope_of(unescaped(text))
    if kind == "elsewhere":
        assert out_of_scope(scope, XRAY)
        assert out_of_scope(scope, CT)
    else:
        assert scope.kind == kind


@each_row("kind, text", read_table(Path(__file__).parent / "titles.tsv"))
def test_kind_by_title(kind: str, text: str) -> None:
    assert scope_of(unescaped(text)).kind == kind
