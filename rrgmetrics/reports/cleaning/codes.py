r"""What systems write around a report: codes of billing, doses, addresses, segments of HL7.

Their letters mean something else in a report: the "cm" of "DLP 320 mGy.cm" is a heart, the "ICD" of "ICD-10: I50.9" a
defibrillator, the "mAs" of "kVp 120 mAs 5" meconium aspiration.
"""

from __future__ import annotations

import re

from rrgmetrics.reports.cleaning.edits import replacing

_GAP = r"[ \t]{0,8}"  # bounded: two in a row would be tried in each way
_NUMBER = r"\d+(?:\.\d+)?"
_GRAY = r"(?:[mcdµu]?Gy(?:[ \t]*[.*·x-]?[ \t]*c?m(?:2|²)?\b)?|mSv\b)"
_CODE = r"(?:[A-Z]\d{2}(?:\.\w{1,4})?|\d{3,5}(?:\.\d{1,2})?)"
_DOSE_NAME = (
    r"(?:kVp?|mAs?|CTDI[ -]?(?:vol|w)?|DLP|DAP|dose[ -](?:area|length)[ -]product|(?:effective|total|radiation) dose)"
)
_DOSE = (
    rf"\b{_DOSE_NAME}\b{_GAP}(?:[:=]|of\b|is\b)?{_GAP}{_NUMBER}(?:{_GAP}{_GRAY})?[,;]?"
    rf"|\b{_NUMBER}{_GAP}(?:kVp?|mAs?)\b[,;]?"
)
_CODES = (
    r"\b(?:ICD(?:[ -]?(?:9|10))?(?:[ -]?CM)?|CPT|SNOMED)\b"
    rf"(?:{_GAP}codes?)?{_GAP}[:=#]?{_GAP}{_CODE}\b(?:[,;/ \t]{{1,4}}{_CODE}\b)*"
    rf"(?={_GAP}(?:[^A-Za-z \t:-]|\Z|ICD|CPT|SNOMED))"  # "ICD-10: J90 Pleural effusion" is an indication
)
_ADDRESS = r"(?:https?://|www\.)[^\s,;<>\"'\\]+|(?:e-?mail:[ \t]*)?\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"
_TEXT = r"^[ \t]*(?:OBX|NTE)\|(?:[^\n|]*\|){2,4}"  # the fields before the text of an observation or a note
_SEGMENT = r"^[ \t]*[A-Z]{2}[A-Z0-9]\|[^\n]*"
_INITIALS = r"(?:(?<=\n)|(?<=\d)[ \t]+)[A-Z]{2,3}[/:][A-Za-z]{2,3}[ \t]*$|^[ \t]*D: ?\d[\d/.-]+[ \t]+T: ?\d[\d/.-]+"
_CODE_NAMES = ("ICD", "CPT", "SNOMED", "icd", "cpt", "snomed")
_DOSED = re.compile(r"[kKmMcCdDgG](?:[vV][pP]?\b|A[sS](?![A-Za-z])|[gG]?[yY]\b|[sS][vV]\b|LP|lp|AP|TDI|tdi)")
_ADDRESSES = ("@", "www.", "WWW.", "://")

_CLIP = r"\bClip (?:#|No\.?|Number)[ \t]{0,4}(?:___|\[[^\]\n]{0,60}\]|[\d-]{1,15})"  # of a series of films, in MIMIC
_CHOICE = r"\{[A-Za-z][\w /.-]{0,60}:\d{3,6}(?:::?[^{}\n]{0,200})?\}\*{0,3}"  # {Blank single:19197::"No effusion"}
_LABEL = r"(?<=[A-Za-z])[{\[][A-Z]{2,12}(?:[-_:/][A-Z]{1,12}){0,3}[}\]]"  # nodule{OBS-DP}


def _chosen(match: re.Match[str]) -> str:
    """What is written in a list of a template, if it is one text."""
    texts = re.findall(r'"([^"]*)"', match[0])
    return texts[0] if len(texts) == 1 else ""


CODES = (
    replacing("code", ("Clip",), _CLIP),
    replacing("placeholder", "{", _CHOICE, _chosen),
    replacing("label", "{[", _LABEL),
    replacing("signature", "/:", rf"(?m){_INITIALS}", where=re.compile(r"[/:](?:[A-Za-z]{2,3}[ \t]*(?:\n|\Z)| ?\d)")),
    replacing("HL7 segment", "|", rf"(?m){_TEXT}"),
    replacing("HL7 segment", "|", rf"(?m){_SEGMENT}"),
    replacing("code", _CODE_NAMES, rf"(?i){_CODES}"),
    replacing("dose", "0123456789", rf"(?i){_DOSE}", where=_DOSED),
    replacing("address", _ADDRESSES, rf"(?i){_ADDRESS}"),
)
