"""Keys and options that several families share."""

from __future__ import annotations

from rrgmetrics.specs.model import INF, Key, Option

TEXT_OPTION = Option(
    "none",
    "normaliser applied to both texts first. findings, impression: that section, else the rest of the report; "
    "findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu: R2Gen's "
    "cleaning of MIMIC-CXR and IU X-ray reports",
    (
        "none",
        "space",
        "lower",
        "words",
        "findings",
        "impression",
        "findings_only",
        "impression_only",
        "r2gen",
        "r2gen_iu",
    ),
)

LONG_OPTION = Option(
    "truncate",
    "reports of more than 512 tokens (the reader reads all). truncate: cut as the paper does; windows: read in "
    "overlapping parts",
    ("truncate", "windows"),
)

MODALITY_OPTION = Option(
    "auto",
    "what reports are read as: chest_xray, chest_ct, mammography, brain_ct (the latter two are experimental), a pack "
    "of your own; auto: what each reference is",
)

CHEST_XRAY = "chest X-ray reports in English"
CHEST_CT = "chest CT reports in English"
MAMMOGRAPHY = "mammography reports in English"
CATEGORIES = {
    "false_finding": "A: false findings",
    "missing_finding": "B: missing findings",
    "incorrect_location": "C: wrong location",
    "incorrect_severity": "D: wrong severity",
    "false_comparison": "E: false comparisons",
    "missing_comparison": "F: missing comparisons",
}


def unit(name: str, title: str, *aliases: str) -> Key:
    """A share between 0 and 1; higher is better."""
    return Key(name, title, (0.0, 1.0), True, aliases=aliases)


def label(name: str, title: str, *aliases: str) -> Key:
    """A share between 0 and 1 that exists over all pairs only, such as the F1 of one label; higher is better."""
    return Key(name, title, (0.0, 1.0), True, per_pair=False, aliases=aliases)


def count(name: str, title: str, *aliases: str) -> Key:
    """A number of errors; lower is better."""
    return Key(name, title, (0.0, INF), False, aliases=aliases)
