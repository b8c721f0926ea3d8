"""No trick beats the report it was made from, in any metric that may be a reward."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

import rrgmetrics
from rrgmetrics.specs import SPECS

REWARDS = (
    "finding_errors",
    "crepe",
    "green",
    "crimson",
    "chexprompt",
    "fineradscore",
    "radfact",
    "radgraph_f1",
    "chexbert_f1",
    "ratescore",
    "radcliq",
)
NORMAL = "The heart is normal in size. The lungs are clear. No pleural effusion or pneumothorax. Bones are intact."
DENIALS = " ".join(
    f"No {finding}."
    for finding in (
        "pneumothorax,pleural effusion,consolidation,pneumonia,edema,atelectasis,cardiomegaly,nodule,mass,fracture,"
        "hilar enlargement,mediastinal widening,pleural thickening,emphysema,hiatal hernia,scoliosis"
    ).split(",")
)
ASSERTIONS = (
    "Large right pneumothorax. Large left pleural effusion. Multifocal consolidation. Pulmonary edema. Lobar atelectasis. "
    "Severe cardiomegaly. Multiple nodules. Left upper lobe mass. Rib fractures. Hilar enlargement. Hiatal hernia. "
    "Endotracheal tube in the right mainstem bronchus. Scoliosis. Free air under the diaphragm."
)
HEDGES = " ".join(
    f"{finding} cannot be excluded."
    for finding in (
        "Pneumothorax,Pleural effusion,Consolidation,Pneumonia,Edema,Atelectasis,Cardiomegaly,A nodule,A mass,A fracture,"
        "Hilar enlargement,Mediastinal widening,Pleural thickening,Emphysema,A hiatal hernia,Tuberculosis,Aspiration,Abscess"
    ).split(",")
)
BABBLE = "Florp wug zibble grommet tanno. Quix mar velith dorn. Sed ipsum lorem brast."


class Case(NamedTuple):
    """A reference with a good, a middling and a weak candidate, and what contradicts the good one."""

    reference: str
    good: str
    mid: str
    weak: str
    contradiction: str


CASES = (
    Case(
        reference="Moderate right pleural effusion with adjacent atelectasis, increased since the prior study. Mild cardiomegaly. "
        "No pneumothorax. Right PICC with tip in the mid SVC.",
        good="Moderate right pleural effusion, larger than before, with right basal atelectasis. Mild cardiomegaly. Right PICC "
        "with tip in the mid SVC. No pneumothorax.",
        mid="Small right pleural effusion. Mild cardiomegaly.",
        weak="Left lower lobe pneumonia. Mild cardiomegaly.",
        contradiction="No pleural effusion. The heart is not enlarged, there is no cardiomegaly.",
    ),
    Case(
        reference="There is a 2 cm nodule in the left upper lobe. Emphysema. Old healed right rib fractures. The heart is normal in size. "
        "No pleural effusion.",
        good="Left upper lobe nodule measuring 2 cm. Emphysema. Healed right rib fractures. Normal heart size. No effusion.",
        mid="Left upper lobe nodule. Hyperinflated lungs with emphysema. Heart size normal.",
        weak="Emphysema. Small left pleural effusion. Cardiomegaly.",
        contradiction="There is no nodule. There is no emphysema.",
    ),
    Case(
        reference="Endotracheal tube terminates 4 cm above the carina. Diffuse bilateral airspace opacities, worse on the right, compatible "
        "with pulmonary edema. Small bilateral pleural effusions. No pneumothorax.",
        good="Endotracheal tube tip 4 cm above the carina. Bilateral airspace opacities, compatible with pulmonary edema. Small bilateral "
        "effusions. No pneumothorax.",
        mid="Endotracheal tube in place. Bilateral airspace opacities. No pneumothorax.",
        weak="Endotracheal tube in place. Right apical pneumothorax. Clear lungs.",
        contradiction="No pleural effusion. No pulmonary edema.",
    ),
    Case(
        reference="The heart size and mediastinal contours are within normal limits. The lungs are clear. There is no pleural effusion or "
        "pneumothorax. No acute osseous abnormality.",
        good="Normal heart size and mediastinum. Clear lungs. No effusion or pneumothorax. Bones are unremarkable.",
        mid="Mild cardiomegaly. The lungs are clear. No effusion.",
        weak="Mild cardiomegaly. Right basilar opacity.",
        contradiction="Large right pneumothorax.",
    ),
)


class Hack(NamedTuple):
    """A candidate made by a trick, and the honest one that it must not beat."""

    trick: str
    candidate: str
    honest: str


def hacks(case: Case) -> list[Hack]:
    words = case.good.replace(".", "").replace(",", "").split()
    random.Random(0).shuffle(words)
    return [
        Hack("repetition", " ".join([case.mid] * 5), case.mid),
        Hack("mid + normal", f"{case.mid} {NORMAL}", case.mid),
        Hack("mid + deny-all", f"{case.mid} {DENIALS}", case.mid),
        Hack("mid + hedge-all", f"{case.mid} {HEDGES}", case.mid),
        Hack("normal + weak", f"{NORMAL} {case.weak}", case.weak),
        Hack("good + contradiction", f"{case.good} {case.contradiction}", case.good),
        Hack("good + babble", f"{case.good} {BABBLE}", case.good),
        Hack("shuffled words", " ".join(words), case.good),
        *(Hack(name, text, case.good) for name, text in STANDALONE.items()),
        *(Hack(f"{name} against silence", text, "") for name, text in (("babble", BABBLE), ("shuffled babble", BABBLE[::-1]))),
        *(Hack(f"{name} against mid", text, case.mid) for name, text in STANDALONE.items() if case is not CASES[-1]),
    ]


STANDALONE = {
    "empty": "",
    "normal template": NORMAL,
    "deny-all": DENIALS,
    "assert-all": ASSERTIONS,
    "hedge-all": HEDGES,
    "babble": BABBLE,
}


@pytest.fixture(scope="module")
def scores() -> dict[tuple[str, str, str], float]:
    """Metric, reference, candidate → score, larger is better."""
    pairs = {(case.reference, text) for case in CASES for hack in hacks(case) for text in hack[1:]}
    ordered = sorted(pairs)
    results = rrgmetrics.score(
        list(REWARDS),
        predictions=[candidate for _, candidate in ordered],
        references=[reference for reference, _ in ordered],
        progress=False,
    )
    return {
        (name, *pair): float(value) if SPECS[name].higher_is_better else -float(value)
        for name in REWARDS
        for pair, value in zip(ordered, results[name].per_pair[name], strict=True)
    }
