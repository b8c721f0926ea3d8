"""Nodule F1: which nodules of the radiologist's chest CT report the candidate has, and how well it describes them.

F1 = 2TP / (2TP + FP + FN) over the nodules of all pairs, precision and recall beside it; 1 where no report has one. Of
matched nodules: sizes, density, calcification, side, place, noun, certainty; by size, sensitivity and false nodules a
study. What is a match and what is right: `nodules`.

After RadEval's `nodule_eval` (e0a3909) and `hoppr_ctc_lung_nodules` (b09e5d1), MIT. A judge here only reads: it lists
the nodules of one report at a time, whole and in any style. Which are the same, what differs, and every number is code.
The bundled engine lists what the reader finds.

Differs from the authors: no heading is needed; pairs of reports without a nodule leave every mean alone, and a total
miss has F1 0; values over all pairs come from sums; a nodule has one match at most; flags are looked up.

With `form=nodule_eval` and `form=lung_nodules` the judge is asked for nodules, pairs and flags of the sections
PULMONARY NODULES, in our own words, its reply counts as theirs does, and the keys are RadEval's: F1, precision, recall,
composite and what is said of sizes, noun and certainty are means over the pairs of reports that have a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rrgmetrics.backends.compared_pairs import Compared
from rrgmetrics.comparing.model import Unit
from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Prompt
from rrgmetrics.judges.judge import verdicts
from rrgmetrics.judges.protocols.loose_json import Pairs
from rrgmetrics.judges.protocols.replies import ELLIPSES, answer_of, denies, has_keys, read_json, short
from rrgmetrics.judges.protocols.templates import Prompts
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import lexicon_of
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scorers.judged import JudgeScorer, row_of
from rrgmetrics.scorers.nodule_f1.nodules import (
    CLASSES,
    DENSITIES,
    DETECTION,
    FIELDS,
    LOBES,
    PARTS,
    Counts,
    Density,
    Form,
    Match,
    Nodule,
    count,
    count_row,
    match_nodules,
    ordered,
    read_row,
    section,
)
from rrgmetrics.specs import keys_of

PROMPTS = Prompts("rrgmetrics.scorers.nodule_f1")
MAX_TOKENS = 4096
MAX_NODULES = 200  # of a report; beyond, a model has lost itself in a loop
KINDS = frozenset({"nodule", "nodular_opacity", "mass", "metastasis", "granuloma"})  # concepts, with all under them
CALCIFIED = frozenset({"calcified_granuloma", "calcified_nodule"})
ELSEWHERE = re.compile(  # organs whose nodules are none of the lung
    r"\b(?:thyroid|adrenal|liver|hepatic|renal|kidney|spleen|splenic|breast|pancrea\w*|periton\w*|oment\w*|axilla\w*|"
    r"(?:sub)?cutaneous|muscle|lymph nodes?)\b",
    re.IGNORECASE,
)
DENSITY = re.compile(
    r"\b(?:(?P<part>part(?:ly|ially)?[- ]solid|sub[- ]?solid|semi[- ]?solid|mixed[- ]density)|"
    r"(?P<glass>ground[- ]?glass|non[- ]?solid|GGNs?)|(?P<solid>solid))\b",
    re.IGNORECASE,
)
NOT_CALCIFIED = re.compile(r"\bnon[- ]?calcified\b", re.IGNORECASE)
UNSAID = re.compile(
    r"\s*(?:null|none|n/?a|unknown|not (?:stated|specified|given|measured|mentioned|reported|said))?\.?\s*",
    re.IGNORECASE,
)
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?(?:\s*[x\u00d7]\s*\d+(?:\.\d+)?){0,2})\s*(mm|cm)?\.?\s*", re.IGNORECASE)
SHORT_PLACES = {"rul": "right upper lobe", "rml": "right middle lobe", "rll": "right lower lobe"}
SHORT_PLACES |= {"lul": "left upper lobe", "lll": "left lower lobe", "right": "right lung", "left": "left lung"}
SHORT_PLACES |= dict.fromkeys(("bilateral", "both lungs", "bilateral lung"), "bilateral lungs")
ZONES = {"upper": "upper", "apex": "upper", "lower": "lower", "base": "lower", "middle_lobe": "middle"}
ATTRIBUTES = {"type": "density", "calcified": "calcification", "location": "place", "uncertainty": "certainty"}
NOTHING = json.dumps({part: [] for part in PARTS})  # what a judge says of two reports without the section
SCHEMA = {
    "type": "object",
    "properties": {
        "nodules": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "size_mm": {"type": ["number", "null"]},
                    "density": {"enum": [*DENSITIES, None]},
                    "calcified": {"type": ["boolean", "null"]},
                    "place": {"enum": [*list(LOBES)[:-1], None]},
                    "noun": {"enum": ["nodule", "mass"]},
                    "uncertain": {"type": "boolean"},
                },
                "required": ["text", "size_mm", "density", "calcified", "place", "noun", "uncertain"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["nodules"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class NodulesVerdict:
    """The nodules of both reports, which of them are the same, and what that adds to each key.

    Attributes:
        references: Of the reference, as JSON has them.
        candidates: Of the candidate.
        matches: Which are the same.
        counts: Numerators and denominators by field.
    """

    references: tuple[Mapping[str, Any], ...]
    candidates: tuple[Mapping[str, Any], ...]
    matches: tuple[Match, ...]
    counts: Counts

    @classmethod
    def of(cls, references: Sequence[Nodule], candidates: Sequence[Nodule]) -> NodulesVerdict:
        """Matches and counts."""
        matches = match_nodules(references, candidates)
        reference, candidate = (tuple(one.to_dict() for one in nodules) for nodules in (references, candidates))
        return cls(reference, candidate, matches, count(references, candidates, matches))

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object: the nodules, and by their numbers which match, are false, or are missing."""
        found, right = {match.reference for match in self.matches}, {match.candidate for match in self.matches}
        return {
            "reference": [dict(nodule) for nodule in self.references],
            "candidate": [dict(nodule) for nodule in self.candidates],
            "matches": [match._asdict() | {"differs": list(match.differs)} for match in self.matches],
            "false": [index for index in range(len(self.candidates)) if index not in right],
            "missing": [index for index in range(len(self.references)) if index not in found],
        }


@dataclass(frozen=True)
class NoduleF1Protocol:
    """The protocol; `form` is "own", or the name of one of RadEval's two."""

    form: Literal["own"] | Form = "own"
    name: str = "nodule_f1"
    version: int = 1
    paper: str = ""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksum of the prompts."""
        return {"prompt": PROMPTS.digits("system", self.form)}

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns a prompt for each report that is not empty, or one for both sections; none without a section."""
        if self.form == "own":
            return tuple(
                self._prompt(PROMPTS.fill("own", report=text.strip()), SCHEMA)
                for text in (pair.reference, pair.candidate)
                if text.strip()
            )
        reference, candidate = self._sections(pair)
        if not reference and not candidate:
            return ()
        fields = {"reference": reference or "(none)", "candidate": candidate or "(none)"}
        return (self._prompt(PROMPTS.fill(self.form, **fields), None),)

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns no further prompt."""
        return ()

    def verdict(self, pair: Pair, replies: Sequence[str]) -> NodulesVerdict:
        """Reads the replies; raises VerdictError for one that lists no nodules in our form or theirs."""
        if self.form != "own":
            return _published(read_row(replies[0] if replies else NOTHING), self.form)
        remaining = iter(replies)
        return NodulesVerdict.of(
            *(read_nodules(next(remaining)) if text.strip() else () for text in (pair.reference, pair.candidate))
        )

    def from_comparison(self, pair: Pair, compared: Compared) -> NodulesVerdict:
        """Returns the reader's nodules; of a published form those of the sections, written as its judge would."""
        comparison = compared.comparison
        sides = [(compared.reference, comparison.references), (compared.candidate, comparison.candidates)]
        nodules = [tuple(found for unit in units if (found := nodule_of(reading, unit))) for reading, units in sides]
        if self.form == "own":
            return NodulesVerdict.of(*nodules)
        kept = [
            [one for one in found if one.text.split(" … ")[0] in section(reading.text)]
            for found, (reading, _) in zip(nodules, sides, strict=True)
        ]
        return _published(_as_row(*kept), self.form)

    def _prompt(self, text: str, schema: Mapping[str, Any] | None) -> Prompt:
        return Prompt(PROMPTS.conversation(text), f"{self.name}@{self.version}", schema, MAX_TOKENS)

    def _sections(self, pair: Pair) -> list[str]:
        sections = [section(text) for text in (pair.reference, pair.candidate)]
        return [ordered(text) for text in sections] if self.form == "lung_nodules" else sections


# --- reading


def read_nodules(reply: str) -> tuple[Nodule, ...]:
    """Reads the nodules that a judge lists.

    Raises:
        VerdictError: There is no list of them, or a nodule is none.

    Example:
        >>> read_nodules('{"nodules": [{"text": "5 mm nodule", "size_mm": 5, "place": "Lingula"}]}')[0].bucket
        '4to6'
    """
    if denies(answer_of(reply), "(?:(?:lung|pulmonary) )?nodules?"):
        return ()
    answer, _ = read_json(reply, has_keys("nodules"), has_keys("text", "size_mm"), "list 'nodules'")
    entries = answer.get("nodules") if isinstance(answer, Pairs) else answer
    if isinstance(entries, Pairs) or not isinstance(entries, list | None):
        raise VerdictError(f"The reply has no list 'nodules': {short(reply)!r}.")
    if len(entries or ()) > MAX_NODULES:
        raise VerdictError(f"The reply lists {len(entries or ())} nodules: {short(reply)!r}.")
    return tuple(_nodule(entry if isinstance(entry, Pairs) else Pairs(), reply) for entry in entries or ())


def _nodule(entry: Pairs, reply: str) -> Nodule:
    text = entry.get("text")
    if not isinstance(text, str) or text in ELLIPSES:
        raise VerdictError(f"The reply has a nodule without its text: {short(reply)!r}.")
    return Nodule(
        text=text.strip(),
        size_mm=_read_size(entry.get("size_mm")),
        density=_read_density(entry.get("density")),
        calcified=_read_flag(entry.get("calcified"), "calcified"),
        place=_read_place(entry.get("place")),
        is_mass=str(entry.get("noun")).strip().lower() == "mass",
        uncertain=bool(_read_flag(entry.get("uncertain"), "uncertain")),
    )


def _is_unsaid(value: Any) -> bool:
    return value is None or (isinstance(value, str) and bool(UNSAID.fullmatch(value)))


def _read_size(value: Any) -> float | None:
    """A size in mm; in a text with its unit, of two or three diameters the largest."""
    if _is_unsaid(value):
        return None
    size = value
    if isinstance(value, str) and (stated := SIZE.fullmatch(value)):
        size = max(map(float, re.findall(r"[\d.]+", stated[1]))) * (10 if (stated[2] or "").lower() == "cm" else 1)
    if isinstance(size, bool) or not isinstance(size, int | float) or not 0 < size < 1000:
        raise VerdictError(f"The reply has a nodule of the size {value!r}, which is not a number of millimetres.")
    return float(size)


def _read_density(value: Any) -> Density | None:
    if _is_unsaid(value):
        return None
    stated = DENSITY.fullmatch(re.sub(r"(?: nodules?| mass)?\s*$", "", str(value).replace("_", "-").lower()).strip())
    if stated is None:
        raise VerdictError(f"The reply has a nodule of the density {value!r}; densities are {', '.join(DENSITIES)}.")
    return _density(stated)


def _read_flag(value: Any, name: str) -> bool | None:
    if _is_unsaid(value):
        return None
    flag = {"true": True, "yes": True, "false": False, "no": False}.get(str(value).strip().lower())
    if flag is None:
        raise VerdictError(f"The reply has a nodule that is {name}: {value!r}; it must be true, false or null.")
    return flag


def _read_place(value: Any) -> str | None:
    """A key of `LOBES`, or None; a segment behind the lobe is left out."""
    if _is_unsaid(value):
        return None
    named = " ".join(str(value).lower().replace("_", " ").split())
    named = SHORT_PLACES.get(named, named)
    lobe, _, segment = named.partition(",")
    if lobe not in LOBES or re.search(r"\b(?:right|left|lobe|lungs?|lingula)\b", segment):
        raise VerdictError(f"The reply has a nodule in {short(str(value))!r}; places are {', '.join(LOBES)}.")
    return None if lobe == "lung" else lobe


def nodule_of(reading: Reading, unit: Unit) -> Nodule | None:
    """The nodule that the reader found; None for another finding, and for a nodule of another organ."""
    finding = unit.head
    concept = lexicon_of(reading).concepts[finding.concept]
    if not KINDS & {finding.concept, *concept.ancestors}:
        return None
    words = reading.evidence(finding)
    start = finding.spans[0].start if finding.spans else 0
    before = re.split(r"[.;\n]\s", reading.text[:start])[-1]
    if ELSEWHERE.search(before) or ELSEWHERE.search(words):
        return None
    stated = [mm for one in (finding, *unit.readings) for mm in one.measurements_mm[:1] and [max(one.measurements_mm)]]
    density = next((_density(one) for one in DENSITY.finditer(f"{before} {words}")), None)
    calcified = finding.concept in CALCIFIED or "calcified" in finding.morphology
    return Nodule(
        text=words,
        size_mm=stated[0] if stated else None,
        density=density,
        calcified=True if calcified else False if NOT_CALCIFIED.search(words) else None,
        place=_place(unit.side, unit.zones),
        is_mass="mass" in {finding.concept, *concept.ancestors},
        uncertain=finding.assertion == "uncertain",
    )


def _density(found: re.Match[str]) -> Density:
    return DENSITIES[("solid", "part", "glass").index(str(found.lastgroup))]


def _place(side: str | None, zones: frozenset[str]) -> str | None:
    """The place of a side and zones in the words of `LOBES`; None where neither is said."""
    if side == "bilateral":
        return "bilateral lungs"
    if "lingula" in zones:
        return "lingula"
    lobes = {f"{side} {ZONES[zone]} lobe" for zone in zones if zone in ZONES} & LOBES.keys()
    return lobes.pop() if len(lobes) == 1 else f"{side} lung" if side in ("right", "left") else None


# --- the published forms


def _published(row: Mapping[str, Sequence[Any]], form: Form) -> NodulesVerdict:
    """A verdict from a reply in RadEval's form."""
    reference, candidate = (tuple(nodule for nodule in row[part] if isinstance(nodule, dict)) for part in PARTS[:2])
    ours, theirs = ({one.get("id"): index for index, one in enumerate(side)} for side in (reference, candidate))
    matches = tuple(
        Match(ours[pair["ref_id"]], theirs[pair["pred_id"]], tuple(_flagged(pair)))
        for pair in row["matched_pairs"]
        if pair.get("ref_id") in ours and pair.get("pred_id") in theirs
    )
    return NodulesVerdict(reference, candidate, matches, count_row(row, form))


def _flagged(pair: Mapping[str, Any]) -> Iterator[str]:
    for flag, value in pair.items():
        if flag.endswith("_error") and value:
            yield ATTRIBUTES.get(flag.removesuffix("_error"), flag.removesuffix("_error"))


def _as_row(references: Sequence[Nodule], candidates: Sequence[Nodule]) -> dict[str, list[Any]]:
    """What a judge would reply in RadEval's forms, which differ in names only."""
    sides = {"R": references, "P": candidates}
    listed = {letter: [_entry(f"{letter}{i}", one) for i, one in enumerate(own, 1)] for letter, own in sides.items()}
    matches = match_nodules(references, candidates)
    pairs: list[dict[str, Any]] = [
        {
            "ref_id": f"R{match.reference + 1}",
            "pred_id": f"P{match.candidate + 1}",
            "ref_size_mm": references[match.reference].size_mm,
            "pred_size_mm": candidates[match.candidate].size_mm,
            "size_error": "size" in match.differs,
            "type_error": "density" in match.differs,
            "density_error": "density" in match.differs,
            "calcified_error": "calcification" in match.differs,
            "location_error": "place" in match.differs,
            "noun_error": "noun" in match.differs,
            "uncertainty_error": "certainty" in match.differs,
        }
        for match in matches
    ]
    found, right = {pair["ref_id"] for pair in pairs}, {pair["pred_id"] for pair in pairs}
    false = [entry["id"] for entry in listed["P"] if entry["id"] not in right]
    missing = [entry["id"] for entry in listed["R"] if entry["id"] not in found]
    return dict(zip(PARTS, (listed["R"], listed["P"], pairs, false, missing), strict=True))


def _entry(name: str, nodule: Nodule) -> dict[str, object]:
    return {
        "id": name,
        "size_mm": nodule.size_mm,
        "density": nodule.density,
        "calcified": nodule.calcified,
        "location": nodule.place or "lung",
        "laterality": nodule.side,
        "text": nodule.text,
    }


KEYS = keys_of("nodule_f1")
FIELD_OF: Mapping[str, str] = {key: key.removeprefix("nodule_f1_") for key in KEYS} | {"nodule_f1": "f1"}


@dataclass(frozen=True)
class Ratios:
    """The reduction to ratios of sums: numerators of `FIELDS`, then their denominators.

    Attributes:
        stated: Whether F1, precision and recall are 1 where no report has a nodule and 0 where else they are
            undefined; RadEval leaves them out.
    """

    stated: bool

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Ratios of the sums; NaN where nothing was counted."""
        return {key: np.where(np.asarray(n) > 0, value, np.nan) for key, value in self.ratios(sums).items()}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """F1, precision and recall of each pair; NaN for an unscored one."""
        unscored, ratios = np.isnan(stats).any(axis=1), self.ratios(stats)
        return {key: np.where(unscored, np.nan, ratios[key]) for key in KEYS[: len(DETECTION)]}

    def ratios(self, stats: Array) -> dict[str, Array]:
        """Every key of statistics, or sums of them, `(..., n_stats)`; NaN where nothing was counted."""
        n = len(FIELDS)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = stats[..., :n] / stats[..., n:]
        values = {field: ratios[..., index] for index, field in enumerate(FIELDS)}
        if self.stated:
            nothing = stats[..., n + FIELDS.index("f1")] == 0
            values |= {field: np.where(np.isnan(values[field]), nothing, values[field]) for field in DETECTION}
        classes = np.stack([values[field] for field in CLASSES])
        known = (~np.isnan(classes)).sum(axis=0)
        with np.errstate(invalid="ignore"):
            values["density"] = np.nansum(classes, axis=0) / np.where(known == 0, np.nan, known)
        return {key: values[field] for key, field in FIELD_OF.items()}


@dataclass(frozen=True)
class NoduleF1(JudgeScorer):
    """Nodule F1 by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    form: Literal["own", "nodule_eval", "lung_nodules"] = "own"

    @property
    def protocol(self) -> NoduleF1Protocol:
        """What is asked, and how the replies are read."""
        return NoduleF1Protocol(self.form)

    @property
    def reduction(self) -> Ratios:
        """Ratios of sums."""
        return Ratios(stated=self.form == "own")

    @staticmethod
    def row(verdict: NodulesVerdict) -> list[float]:
        """Returns numerators, then denominators, in the order of `FIELDS`."""
        return [verdict.counts[field][part] for part in (0, 1) for field in FIELDS]

    def values_of(self, verdict: NodulesVerdict) -> Mapping[str, float]:
        """The ratios of one verdict by key; NaN where undefined."""
        return {key: float(value[0]) for key, value in self.reduction.per_pair(np.array([self.row(verdict)])).items()}

    def pair_stats(self, pairs: Any, annotations: Mapping[Pair, Any], statistics: None = None) -> Array:
        """Numerators and denominators `(n_pairs, 2 n_fields)`; NaN for an unscored pair."""
        judged = verdicts(self.protocol, pairs, annotations)
        rows = [row_of(outcome, self.row, 2 * len(FIELDS)) for outcome in judged]
        return np.array(rows, dtype=np.float64).reshape(-1, 2 * len(FIELDS))
