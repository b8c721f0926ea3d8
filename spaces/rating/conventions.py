"""How errors are counted, in plain words: the same text on the page, in forms and in the documentation."""

from __future__ import annotations

from collections.abc import Mapping

CATEGORIES: Mapping[str, str] = {  # by letter: what an error of the kind is
    "A": "The candidate reports a finding that the reference does not have.",
    "B": "The candidate leaves out or negates a finding of the reference.",
    "C": "A finding or a device has a wrong side, location or position.",
    "D": "A finding has a wrong severity, size, number or certainty.",
    "E": "The candidate states a change since an earlier study that the reference does not state.",
    "F": "The candidate leaves out a change since an earlier study that the reference states, or states another.",
}
SIGNIFICANT = (
    "An error is clinically significant if it would likely change how the patient is treated or managed, or what "
    "becomes of the patient. All others are not significant. Style, wording, spelling and order are no errors."
)
CONVENTIONS: Mapping[str, str] = {  # by question: the answer
    "What counts as one finding?": (
        "Count findings, not words or sentences. A finding is what a radiologist would list on a separate line. "
        "“Effusion and atelectasis” are two findings. “Bilateral effusions” is one. A finding that the candidate "
        "repeats is counted once. A different finding instead of the correct one (pneumothorax for effusion) is "
        "two errors: one A and one B."
    ),
    "Can one finding have several errors?": (
        "Yes, if it is present but described wrongly: a wrong location is one C, and a wrong severity is one D in "
        "addition. A missing finding is one B and nothing else; a false finding is one A and nothing else."
    ),
    "Is a change a separate error?": (
        "Yes. New, larger, smaller, unchanged and resolved are counted under E and F, separately from the finding: "
        "“effusion” for “increased effusion” is one F; “improved effusion” for “increased effusion” is also one F; "
        "“increased effusion” for “effusion” is one E. If the finding itself is missing or false, its change is "
        "not counted again."
    ),
    "Devices by name and in general": (
        "“Central line” for “right PICC” is the same device in general terms: no error, or one D if the kind "
        "matters for treatment. A different kind of device is one A and one B. A wrong position of the tip is one "
        "C. Each device is a finding."
    ),
    "Normal statements that are left out": (
        "No error: “no pneumothorax” only in the reference is not counted. A normal statement about something that "
        "is abnormal in the reference (“no effusion” if there is one) is one B, not an A in addition."
    ),
    "The wrong side": "One error, C, and not a false finding on one side and a missing one on the other.",
    "Uncertain words": (
        "“Likely”, “probable” and “suggestive of” are equal. A certain statement for a possible finding of the "
        "reference, or the reverse, is one D. “Cannot be excluded” about a finding that the reference does not "
        "mention is one A, usually not significant."
    ),
}
RATING = {1: "unusable", 2: "poor", 3: "fair", 4: "good", 5: "as good as the reference"}
CONFIDENCE = range(1, 11)  # 1 a guess, 10 certain
