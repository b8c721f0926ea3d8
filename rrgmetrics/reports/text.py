"""Sections of a report, and the named, versioned normalisers that metrics apply to texts.

A normaliser's version rises when its output changes for any text; the signature has it as `name@version`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.reports.cleaning import clean
from rrgmetrics.reports.cleaning.headings import any_heading, heading_names, heading_table
from rrgmetrics.reports.missing import says_nothing
from rrgmetrics.utils.text_format import did_you_mean, listed

MOST = 0.5  # of the references or candidates
SAMPLED = 200  # reports of each
LACKING_CANDIDATES = "a text without headings is read whole, one with others counts as an empty report"
FIELDS = {"findings": "findings_section"}  # sections whose bare name means something else here


class Section(NamedTuple):
    """A stretch of a report: which section, and where its text starts and ends."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Sections:
    """A report's parts as texts, "" where a part is missing; `body` is what stood before any header."""

    body: str = ""
    findings_section: str = ""
    impression: str = ""
    indication: str = ""
    comparison: str = ""
    technique: str = ""
    recommendation: str = ""
    communication: str = ""


@cache
def _headings() -> tuple[dict[str, str], re.Pattern[str]]:
    """Returns the sections by heading, and the pattern that finds a heading.

    A heading is at the start of the text or a line, or after a sentence, and ends in a colon; in capitals also
    alone on its line. Some are also in the middle of a line, where they begin with a capital.
    """
    sections = {heading: FIELDS.get(section, section) for heading, section in heading_names().items()}
    names = any_heading()
    start = r"(?:(?<=^)|(?<=\n))[ \t*#]*"
    after = r"(?<=[.;!?] )[ \t*#]*"
    named = rf"(?:{start}|{after})(?P<name>{names})[*]*(?: ?\([^()\n]{{1,40}}\))? ?:[ \t*]*"
    alone = rf"{start}(?P<alone>{names})[ \t*]*(?=\n|$)"
    capital = "|".join(
        sorted({form for name in heading_table()["inline"] for form in (name.upper(), name.capitalize())}, key=len)
    )
    inline = rf"(?<=[ ;])(?-i:(?P<inline>{capital})):[ \t]*"
    return sections, re.compile(f"{named}|{alone}|{inline}", re.IGNORECASE)


def section_spans(report: str) -> list[Section]:
    """Splits a report at its headings; a report without them is one `body`. Linear time."""
    sections, pattern = _headings()
    spans, name, start = [], "body", 0
    for match in pattern.finditer(report):
        alone = match["alone"]
        if alone is not None and not alone.isupper():
            continue
        spans.append(Section(name, start, match.start()))
        heading = match["name"] or alone or match["inline"]
        name, start = sections[heading.lower().replace("-", " ")], match.end()
    spans.append(Section(name, start, len(report)))
    return [span for span in spans if report[span.start : span.end].strip()]


def split_sections(report: str) -> Sections:
    """Splits a report into its parts, each joined from all its stretches, cleaned (`rrgmetrics.reports.cleaning`).

    Example:
        >>> split_sections("FINDINGS: Clear lungs. IMPRESSION: Normal.").impression
        'Normal.'
    """
    parts: dict[str, list[str]] = {}
    text = clean(report).text
    for span in section_spans(text):
        parts.setdefault(span.name, []).append(text[span.start : span.end].strip())
    return Sections(**{name: "\n".join(texts) for name, texts in parts.items()})


def findings_text(report: str) -> str:
    """The findings section; without one the text before any header; else the impression; else the whole report.

    A part that only says that it is missing ("None.", "See impression.") counts as none.

    Example:
        >>> findings_text("FINDINGS: See impression. IMPRESSION: Small left effusion.")
        'Small left effusion.'
    """
    parts = split_sections(report)
    texts = (parts.findings_section, parts.body, parts.impression)
    return next((text for text in texts if not says_nothing(text)), clean(report).text)


def impression_text(report: str) -> str:
    """The impression; without one, or if it only says that it is missing, the whole report."""
    impression = split_sections(report).impression
    return clean(report).text if says_nothing(impression) else impression


def section_alone(report: str, section: str) -> str:
    """One section of a report, and nothing else; "" if it is missing or says nothing.

    Example:
        >>> section_alone("FINDINGS: Clear lungs.", "impression"), section_alone("IMPRESSION: Normal.", "impression")
        ('', 'Normal.')
    """
    text: str = getattr(split_sections(report), section)
    return "" if says_nothing(text) else text


def section_or_text(report: str, section: str) -> str:
    """One section of a report; a report without any heading is that section, as many systems write it.

    Example:
        >>> section_or_text("Normal.", "impression"), section_or_text("FINDINGS: Clear lungs.", "impression")
        ('Normal.', '')
    """
    has_headings = any(span.name != "body" for span in section_spans(clean(report).text))
    return section_alone(report, section if has_headings else "body")


def squeeze(text: str) -> str:
    """Replaces each run of white space by one space, and strips both ends."""
    return " ".join(text.split())


def lower(text: str) -> str:
    """Lowers the case and squeezes white space."""
    return squeeze(text).lower()


def words(text: str) -> str:
    """Keeps lower-case words and numbers, one space between; decimal points and commas stay, punctuation goes."""
    return " ".join(re.findall(r"\d+(?:[.,]\d+)*|[^\W_]+", text.lower()))


_R2GEN_QUOTES = str.maketrans("", "", "\"/\\'")
_R2GEN_MARKS = re.compile(r"[.,?;*!%^&_+():-\[\]{}]")  # as written there: ":-\[" is a range, so that "-" stays
_R2GEN_NUMBERS = (("1. ", ""), *((f". {n}. ", ". ") for n in range(2, 6)), *((f" {n}. ", ". ") for n in range(2, 6)))


def r2gen_iu(text: str) -> str:
    """Cleans a report as R2Gen does those of IU X-ray (`clean_report_iu_xray`).

    Chen et al. 2020, modules/tokenizers.py: numbers of list items go, sentences end in " . ", all is lower case, most
    punctuation goes ("-" stays). Its ways are kept: "31. " loses its "1. ", and a sentence of nothing stays.

    Example:
        >>> r2gen_iu("1. Heart size is normal. 2. No pleural effusion, or pneumothorax.")
        'heart size is normal . no pleural effusion or pneumothorax .'
    """
    return _r2gen(_repeat(text, "..", ".", 3))


def r2gen(text: str) -> str:
    """Cleans a report as R2Gen does those of MIMIC-CXR (`clean_report_mimic_cxr`): also line breaks and underscores.

    Example:
        >>> r2gen("FINDINGS:  The heart is enlarged since ___.. No effusion.")
        'findings the heart is enlarged since  . no effusion .'
    """
    text = _repeat(_repeat(text.replace("\n", " "), "__", "_", 7), "  ", " ", 6)
    return _r2gen(_repeat(text, "..", ".", 8))


def _repeat(text: str, old: str, new: str, times: int) -> str:
    for _ in range(times):
        text = text.replace(old, new)
    return text


def _r2gen(text: str) -> str:
    for old, new in _R2GEN_NUMBERS:
        text = text.replace(old, new)
    sentences = text.strip().lower().split(". ")
    cleaned = [_R2GEN_MARKS.sub("", sentence.translate(_R2GEN_QUOTES).strip().lower()) for sentence in sentences]
    return " . ".join(cleaned) + " ."


class Normaliser(NamedTuple):
    """A named text function and its version.

    Attributes:
        name: Its name.
        version: Rises when its output changes for any text.
        apply: What it makes of a candidate, and of a reference unless that has a function of its own.
        of_reference: What it makes of a reference; "" for one that it leaves out.
        lacks: Why it leaves a reference out, after "the reference".
    """

    name: str
    version: int
    apply: Callable[[str], str]
    of_reference: Callable[[str], str] | None = None
    lacks: str = ""

    def reference(self, text: str) -> str:
        """What it makes of a reference."""
        return (self.of_reference or self.apply)(text)

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


def _only(name: str, section: str, words: str) -> Normaliser:
    """A normaliser that leaves out references without a section."""
    candidate, reference = (partial(function, section=section) for function in (section_or_text, section_alone))
    return Normaliser(f"{name}_only", 1, candidate, reference, f"lacks {words} section")


def sections_of(name: str) -> str:
    """The section that a normaliser reads, as a field of `Sections`; "" if it reads whole reports."""
    base = name.partition("@")[0].removesuffix("_only")
    return {"findings": "findings_section", "impression": "impression"}.get(base, "")


def missing_sections(name: str, systems: Mapping[str, Sequence[Any]]) -> str:
    """Describes how many reports lack the section that a normaliser reads; "" if none does or it reads none.

    Args:
        name: Of the normaliser.
        systems: The pairs of each system, on the same studies.

    Example:
        >>> missing_sections("findings", {"": [("FINDINGS: Clear.", "Clear lungs."), ("Clear.", "Findings: Clear.")]})
        '1 of 2 references and 1 of 2 candidates have no findings section: their other text is used.'
        >>> missing_sections("findings_only", {"": [("Clear.", "Clear."), ("FINDINGS: Clear.", "FINDINGS: Clear.")]})
        ... # doctest: +NORMALIZE_WHITESPACE
        '1 of 2 references have no findings section: such pairs are unscored. 1 of 2 candidates have no findings
        section: a text without headings is read whole, one with others counts as an empty report.'
    """
    section = sections_of(name)
    if not section:
        return ""
    first = next(iter(systems.values()))
    columns = {"references": [pair[0] for pair in first]}
    columns |= {
        f"candidates{f' of {system}' if system else ''}": [pair[1] for pair in own] for system, own in systems.items()
    }
    counts = {
        column: sum(bool(text.strip()) and not section_alone(text, section) for text in texts)
        for column, texts in columns.items()
    }
    lacking = {column: f"{n:,} of {len(first):,} {column}" for column, n in counts.items() if n}
    if not name.partition("@")[0].endswith("_only"):
        effects = {"their other text is used": [*lacking.values()]}
    else:
        of_references = [lacking.pop("references")] if "references" in lacking else []
        effects = {"such pairs are unscored": of_references, LACKING_CANDIDATES: [*lacking.values()]}
    title = section.partition("_")[0]
    return " ".join(f"{listed(said)} have no {title} section: {effect}." for effect, said in effects.items() if said)


def unlike_sections(systems: Mapping[str, Sequence[Any]]) -> str:
    """Describes that most references have a findings or impression section and most candidates none, or vice versa.

    Whole reports are then compared with bare findings, which lowers many scores. "" if both are alike.

    Args:
        systems: The pairs of each system, on the same studies.

    Example:
        >>> said = unlike_sections({"": [("FINDINGS: Clear.", "Clear."), ("FINDINGS: Edema.", "Edema.")]})
        >>> said.partition(";")[0]
        '2 of 2 references have sections that the candidates lack'
    """
    references = [pair[0] for pair in next(iter(systems.values()))]
    candidates = {system: [pair[1] for pair in own] for system, own in systems.items()}
    bare = [system for system, own in candidates.items() if _have_more_sections(references, own)]
    whole = [system for system, own in candidates.items() if _have_more_sections(own, references)]
    if not bare and not whole:
        return ""
    texts = references if bare else [text for system in whole for text in candidates[system]]
    found = Counter(filter(None, map(_main_section, texts)))
    of = f"candidates of {listed(bare or whole)}" if len(systems) > 1 else "candidates"
    having, lacking = ("references", of) if bare else (of, "references")
    section = found.most_common(1)[0][0]
    return (
        f"{found.total():,} of {len(texts):,} {having} have sections that the {lacking} lack; --text {section} "
        f"(text={section!r}) compares the {section} only."
    )


def _have_more_sections(texts: Sequence[str], others: Sequence[str]) -> bool:
    """Whether most of two or more texts have a findings or impression section, and most of the others have none.

    To find headings takes 0.05 ms a report, so only some texts, in equal steps, are looked at.
    """
    if len(texts) < 2:
        return False
    step = max(1, len(texts) // SAMPLED)
    has, have = (sum(map(bool, map(_main_section, own[::step]))) for own in (texts, others))
    n = len(texts[::step])
    return has > MOST * n and have < (1 - MOST) * n


def _main_section(report: str) -> str:
    """The first of findings and impression that a report has as a section; "" if it has neither."""
    names = {span.name for span in section_spans(report)}
    return "findings" if "findings_section" in names else "impression" if "impression" in names else ""


def _same(text: str) -> str:
    return text


NORMALISERS = {
    normaliser.name: normaliser
    for normaliser in (
        Normaliser("none", 1, _same),
        Normaliser("space", 1, squeeze),
        Normaliser("lower", 1, lower),
        Normaliser("words", 1, words),
        Normaliser("findings", 2, findings_text),
        Normaliser("impression", 2, impression_text),
        _only("findings", "findings_section", "a findings"),
        _only("impression", "impression", "an impression"),
        Normaliser("r2gen", 1, r2gen),
        Normaliser("r2gen_iu", 1, r2gen_iu),
    )
}


def get_normaliser(name: str) -> Normaliser:
    """Looks a normaliser up by name or `name@version`; raises InputError for an unknown name or another version."""
    base, _, version = name.partition("@")
    if base not in NORMALISERS:
        near = did_you_mean(base, NORMALISERS)
        raise InputError(f"text={base!r} is unknown; choose one of {', '.join(NORMALISERS)}.{near}")
    normaliser = NORMALISERS[base]
    if version and version != str(normaliser.version):
        raise InputError(
            f"This version of rrgmetrics has {normaliser}, not {name}; install the version that the signature names."
        )
    return normaliser
