"""Keys and options that several families share."""

from __future__ import annotations

from rrgmetrics.specs.model import INF, Key, Option

TEXT_OPTION = Option(
    "none",
    "normalisation of both texts. findings, impression: use that section, or the other text of a report without "
    "it; findings_only, impression_only: use that section only, and leave a pair unscored if its reference lacks "
    "it; r2gen, r2gen_iu: R2Gen's cleaning of MIMIC-CXR and IU X-ray reports",
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
    "what to do with reports of more than 512 tokens (the rule-based reader has no limit). truncate: cut them, as "
    "the paper does; windows: read them in overlapping parts",
    ("truncate", "windows"),
)

MODALITY_OPTION = Option(
    "auto",
    "kind of reports: chest_xray, chest_ct, mammography, brain_ct (the last two are experimental) or the name of "
    "your own pack; auto: the kind of each reference",
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
