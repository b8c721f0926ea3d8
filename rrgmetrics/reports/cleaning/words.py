"""Labels and their answers: the words for each answer, what a label names, and both as a statement."""

from __future__ import annotations

import re

from rrgmetrics.reports.cleaning.headings import heading_names

_ANSWERS = {
    "no": "no,n,absent,none,negative,neg,false,0,0.0,nil,excluded,not present,not seen,not detected,not identified",
    "yes": "yes,y,present,positive,pos,true,1,1.0,seen,detected,definite",
    "possible": "uncertain,possible,maybe,equivocal,indeterminate,-1,-1.0",
    "likely": "probable,likely",
    "unknown": ",null,nan,n/a,na,unknown,not mentioned,not assessed,blank",
}
ANSWERS = {word: answer for answer, words in _ANSWERS.items() for word in words.split(",")}
WRITTEN = {"no": "none", "yes": "present"}  # how an answer that is no word is written
DASHES = frozenset("-–—")
SIDES = frozenset({"left", "right", "bilateral"})
SECTIONS = frozenset(
    "findings finding impression impressions conclusion conclusions report opinion summary assessment diagnosis"
    " observations result results comparison technique history indication exam examination recommendation".split()
)
# What is counted, graded or dated, so that a number behind it is no answer.
COUNTS = frozenset(
    "rads score category grade stage class views view number count images series age type level size date time mrn id"
    " comparison technique indication history exam examination procedure recommendation recommendations".split()
)
# The keys of a record: of the finding's name, of whether it is there, and what is written before its name, in order.
NAMES = frozenset("finding name label condition observation abnormality pathology diagnosis entity concept".split())
PRESENCE = frozenset(
    "present presence exists status state value answer detected positive assertion certainty polarity".split()
)
DEGREES = ("severity", "degree", "grade", "extent", "size")
DESCRIBING = (*DEGREES, *"acuity laterality side location position site zone lobe region anatomy".split())
KEYS = PRESENCE.union(
    DESCRIBING,
    "size mm,size cm,diameter,dimensions,measurement,measurements,change,confidence,description,morphology".split(","),
)
# What a service or a system puts around a report, by the key that it is known by, and the keys of the report's texts:
# FHIR's resources, and the answers of two interfaces to language models.
ENVELOPES = {
    "resource type": ("div", "conclusion", "value string"),
    "choices": ("content", "text"),
    "candidates": ("text",),
}
CALLED = SECTIONS | {"text", "content", "generated text"}  # of an object of Python: Report(findings="...", id=3)
METADATA = frozenset(
    "id,index,model,model name,version,role,temperature,seed,split,dataset,source,created,object,timestamp,path,file"
    ",file name,image,image path,language,url,tokens,finish reason,stop reason".split(",")
)
OPTION = (  # what a form offers
    r"none|no|nil|absent|present|yes|trace|minimal|small|mild|moderate|large|severe|massive|normal|abnormal|enlarged"
    r"|left|right|bilateral|both|unilateral|negative|positive|uncertain|borderline"
)
SEEN = "seen|present|identified|applicable|visualized|visualised|detected|evident|noted|visible"  # behind "not"
NO_NAME = re.compile(  # what denies, and words that lead to a list
    r"\b(?:no|not|none|nothing|negatives?|absent|without|excluded|out|free|with|to|for|since|from|following|are|is|as)\b",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(r"([A-Za-z]+)\)?[ \t]{0,3}\Z")


def answer_of(text: str) -> str:
    """Which answer a text is: "no", "yes", "possible", "likely", "unknown"; "" for no answer."""
    return ANSWERS.get(text.strip().lower(), "")


def spaced(name: str) -> str:
    """The words of a name: "pleuralEffusion" and "pleural_effusion" are "pleural effusion"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").strip()


def capitalised(name: str) -> str:
    """A name with a capital, its other letters as they are."""
    return name[:1].upper() + name[1:]


def uncapitalised(name: str) -> str:
    """A name with a small first letter, unless it is an abbreviation."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def is_metadata(key: str) -> bool:
    """Whether a key in small letters names a value that is no part of the report, as "study id" and "model" do."""
    return key in METADATA or key.endswith((" id", " uid", " uuid"))


def is_name(heading: str) -> bool:
    """Whether a heading names what its items describe: no section, number or denial."""
    words = {heading.lower(), heading.split()[-1].lower()}
    return not (NO_NAME.search(heading) or words & (SECTIONS | COUNTS | heading_names().keys()))


def last_word(text: str, end: int) -> str:
    """The last word, in small letters, of the label that ends at a place; "" if none does."""
    word = _LAST_WORD.search(text, max(0, end - 24), end)
    return word[1].lower() if word else ""


def stated(name: str, answer: str) -> str:
    """A label and its answer as a statement; "" if they say nothing."""
    if answer == "unknown" or name.lower().split()[-1] in COUNTS:
        return ""
    if name.lower().startswith("no "):
        return f"{name}." if answer == "yes" else ""
    return f"{name}: {WRITTEN[answer]}." if answer in WRITTEN else f"{answer.capitalize()} {uncapitalised(name)}."
