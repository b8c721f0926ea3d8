"""A sentence of two main clauses says what two sentences would; a clause that needs the one before it stays with it."""

from __future__ import annotations

from rrgmetrics.reading import Finding, read
from table_rows import each_row

JOINED = (  # " | " stands for the joint, which a full stop may replace
    "The heart is enlarged, and | there is a small left effusion.",
    "No pneumothorax is seen and | the heart and lungs are normal.",
    "The left lung is clear, while | the right lung demonstrates a nodule.",
    "Pneumonia is likely at the left base, and | heart size is normal.",
    "The tip of the tube lies 3 cm above the carina, | the NG tube passes into the stomach, and "
    "| the right jugular line ends in the SVC.",
    "There is none of the edema of last week, and | the heart has become larger.",
    "Both upper lobes show cavitating consolidation, and | the pneumothorax is getting smaller.",
    "There are no findings suggestive of edema, and | the left effusion is larger.",
    "The cardiothoracic ratio is greater than 50%, and | the drains are out.",
    "A rod is broken, and | the edema has worsened since yesterday.",
    "No retained needle is seen; | the right pulmonary artery is enlarged.",
    "This is unlikely to be pneumonia; | Dobhoff tube, tip not well seen.",
    "The consolidation has spread to the left upper lobe, and | the right upper lobe has been resected.",
    "Markings are increased and more noticeable today, and | patchy opacities have developed in both lungs.",
    "Although the heart is enlarged, | there is no edema.",
    "The drain has been removed, and | no pneumothorax is seen.",
    "Scarring is more probable than pneumonia, and | the ribs are short.",
    "There is air around the left lung, and | there is now consolidation in the left lower lobe.",
    "The effusion is not large, whereas | the right pulmonary artery is enlarged.",
    "HEART IS ENLARGED; | NO EDEMA; | SMALL LEFT EFFUSION.",
    "The edema is mild, and | the left heart border is straightened.",
    "Nodules are seen in both lungs, and | the hila are enlarged.",
)
TOGETHER = (  # what is said behind the joint needs what stands before it
    ("No acute fracture; an old one of the right clavicle is noted.", [("clavicle_fracture", "present", "right")]),
    (
        "The heart is enlarged and so is the aorta.",
        [("cardiomegaly", "present", None), ("aortic_ectasia", "present", None)],
    ),
    (
        "Opacities in the right base and the lingula are unchanged.",
        [("opacity", "present", "left"), ("opacity", "present", "right")],
    ),
    ("There is no sign that the effusion and the collapse have grown.", []),
    ("It is not true that an effusion, a nodule and pneumonia have developed.", []),
    ("The mass, the effusion and the nodes are gone.", []),
)


def _said(text: str) -> list[tuple[object, ...]]:
    def what(f: Finding) -> tuple[object, ...]:
        return f.concept, f.assertion, f.certainty, f.side, f.zones, f.severity, f.change, f.measurements_mm, f.tip

    return sorted((what(f) for f in read(text).findings), key=repr)


@each_row("sentence", JOINED)
def test_two_main_clauses_read_as_two_sentences(sentence: str) -> None:
    clauses = [part.rstrip("., ;").removesuffix("and").removesuffix("while") for part in sentence.split("|")]
    clauses = [part.removesuffix("whereas").strip(" ,;") for part in clauses]
    said = _said(sentence.replace("| ", ""))
    assert said == _said(". ".join(part[0].upper() + part[1:] for part in clauses) + ".")
    assert said


@each_row("sentence, present", TOGETHER)
def test_a_clause_that_leans_on_the_one_before_stays_with_it(
    sentence: str, present: list[tuple[str, str, str]]
) -> None:
    found = [(f.concept, f.assertion, f.side) for f in read(sentence).findings if f.assertion == "present"]
    assert found == present
