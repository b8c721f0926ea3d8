"""How errors are counted, in plain words: the same text on the page, in forms and in the documentation."""

from __future__ import annotations

from collections.abc import Mapping

CATEGORIES: Mapping[str, str] = {  # by letter: what an error of the kind is
    "A": "The candidate reports a finding that the reference does not have.",
    "B": "The candidate leaves out a finding of the reference, or denies it.",
    "C": "A finding or a device is given a wrong side, place or position.",
    "D": "A finding is given a wrong severity, size, number or certainty.",
    "E": "The candidate states a change since an earlier study that the reference does not state.",
    "F": "The candidate leaves out a change since an earlier study that the reference states, or states another.",
}
SIGNIFICANT = (
    "An error is clinically significant if it would likely change how the patient is treated or managed, or what "
    "becomes of the patient. All others are not significant. Style, wording, spelling and order are no errors."
)
CONVENTIONS: Mapping[str, str] = {  # by question: the answer
    "One finding or two?": (
        "Count findings, not words or sentences. A finding is what a radiologist would list on a line of its own. "
        "“Effusion and atelectasis” are two findings. “Bilateral effusions” is one. A finding that the candidate "
        "repeats is counted once. Another finding in the place of the right one (pneumothorax for effusion) is two "
        "errors: one A and one B."
    ),
    "Can one finding have several errors?": (
        "Yes, if it is there but described wrongly: wrong place is one C, wrong severity is one D besides. A finding "
        "that is missing is one B and nothing else; a false one is one A and nothing else."
    ),
    "Is a change an error of its own?": (
        "Yes. New, larger, smaller, unchanged and resolved are counted under E and F, apart from the finding: "
        "“effusion” for “increased effusion” is one F; “improved effusion” for “increased effusion” is one F too; "
        "“increased effusion” for “effusion” is one E. Where the finding itself is missing or false, its change is not "
        "counted again."
    ),
    "Devices by name and in general": (
        "“Central line” for “right PICC” is the same device in general words: no error, or one D if the kind matters "
        "for treatment. Another kind of device is one A and one B. A wrong position of the tip is one C. Each device "
        "is a finding."
    ),
    "Normal statements that are left out": (
        "No error: “no pneumothorax” in the reference alone is not counted. A normal statement about something that "
        "is abnormal in the reference (“no effusion” where there is one) is one B, not an A as well."
    ),
    "The wrong side": "One error, C. It is not a false finding on one side and a missing one on the other.",
    "Uncertain words": (
        "“Likely”, “probable” and “suggestive of” mean the same. Stated as certain for what the reference calls "
        "possible, or the other way round, is one D. “Cannot be excluded” about what the reference does not mention "
        "is one A, most often not significant."
    ),
}
RATING = {1: "unusable", 2: "poor", 3: "fair", 4: "good", 5: "as good as the reference"}
CONFIDENCE = range(1, 11)  # 1 a guess, 10 certain
