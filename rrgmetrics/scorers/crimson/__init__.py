"""CRIMSON: findings weighted by what they mean for this patient, with partial credit.

arXiv 2603.06183; code rajpurkarlab/CRIMSON 07e3331 (`crimson-score` 0.2.0). The arithmetic is in `score`, the reading
of replies in `parsers`, the bundled judge's knowledge in `rrgmetrics.comparing.rubric`. A pair whose reply cannot be
read is unscored.

The question and its wordings are in `wordings`. The authors' package knows the checkpoint by its Hub id only, and asks
a local copy with guidelines.

The checkpoint runs in bf16 and, through transformers, is decoded as its generation_config.json says if it has one, else
greedily; through vLLM always greedily. All that is the authors'. Where it samples, each batch starts from a seed of its
own, made of its prompts, so that a run gives the same scores again; a batch is one prompt, as theirs, unless
`batch_size` says otherwise. A reply may have 8,192 tokens, whatever that file says.

Differs from the authors: with `parser=tolerant` a reply without its four parts is unscored (theirs scores `{}` 1.0 and
fails on others), and JSON repair drops no finding; scores are not rounded to four digits. With `wording=own` a reply is
unscored, too, that lists no finding of a reference in which the bundled reader finds something urgent or actionable
(theirs scores 1.0 if it lists no error). `complete` is ours: what a judge lists as found but puts nowhere counts as
false or missing; the authors let an unlisted false finding go free.

Bundled: what the candidate leaves out of a matched finding is an error of the kind "unspecific", which weighs a part of
a wrong attribute (`rrgmetrics.comparing.omissions`; `part` in the evaluation).

Reports of CT have a question of their own (`question_ct` in `prompts.txt`), after the examples and rules of RadEval's
`hoppr_crimson_ct` (e0a3909): classes, sizes and context are those of CT. Theirs passes no context. It reads replies as
CRIMSON does, but cuts them at their last brace first, which loses the end of one that was cut off; so does
`parser=strict`, except that such a reply never scores 1.

Paper and code: for a reference without findings the paper has S = −F, the code −(F + M + 1); the score is the same.
Weight 0.25 for unknown labels is the code's alone; `labels=strict` leaves such a reply unscored. An attribute error
that names two kinds weighs once in the code, and twice in the paper (3.2: each is evaluated by itself) and with
`attributes=kinds`. The bundled judge has an entry a kind.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rrgmetrics.backends.compared_pairs import Compared, ComparedPairs
from rrgmetrics.comparing import ErrorCategory, FindingError
from rrgmetrics.comparing.graded_findings import Graded
from rrgmetrics.comparing.model import SIGNIFICANT
from rrgmetrics.comparing.rubric import Appraisal, Difference
from rrgmetrics.comparing.significance import harm
from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Message, Prompt
from rrgmetrics.judges.judge import Judge
from rrgmetrics.judges.protocols.replies import ELLIPSES
from rrgmetrics.judges.protocols.templates import is_ct
from rrgmetrics.reading import Reader
from rrgmetrics.reading.lexicon import DEFAULT_PACK, lexicon_of
from rrgmetrics.reports import Context, Pair
from rrgmetrics.scorers.base import Runtime
from rrgmetrics.scorers.crimson.parsers import published, published_ct, tolerant
from rrgmetrics.scorers.crimson.score import ATTRIBUTES, SEVERITY, SIGNIFICANCE, Tally, by_kind, tally
from rrgmetrics.scorers.crimson.wordings import PROMPTS, Patient, check_package, question
from rrgmetrics.scorers.judged import BUNDLED_ENGINES, JudgeScorer
from rrgmetrics.specs import keys_of

CHECKPOINT = "rajpurkarlab/medgemma-4b-it-crimson"
MAX_TOKENS = 8192  # the authors' max_new_tokens
SYSTEM = "You are an expert radiology evaluator that assesses the accuracy of radiology reports."  # the authors'
# Gemma 3's chat template for a system and a user turn, which the checkpoint was asked with.
RAW = "<start_of_turn>user\n{system}\n\n{prompt}<end_of_turn>\n<start_of_turn>model\n"
PARTS = ("reference_findings", "predicted_findings", "matched_findings", "errors")
ERRORS = ("false_findings", "missing_findings", "attribute_errors")
# The reader's names of attributes in CRIMSON's words, where they differ.
TERMS = {"device_position": "location", "underinterpretation": "unspecific"}


def _entries(**fields: Any) -> dict[str, object]:
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "array", "items": item}


_TEXT: dict[str, Any] = {"type": "string"}
_FINDINGS = _entries(id=_TEXT, finding=_TEXT, clinical_significance={"type": "string", "enum": list(SIGNIFICANCE)})
_NAMES = {"type": "array", "items": _TEXT}
_ATTRIBUTE_ERRORS = _entries(
    ref_id=_TEXT,
    pred_id=_TEXT,
    severity={"type": "string", "enum": list(SEVERITY)},
    error_types={"type": "array", "items": {"type": "string", "enum": list(ATTRIBUTES)}},
    explanation=_TEXT,
)


def _object(**fields: Any) -> dict[str, object]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


SCHEMA = _object(
    reference_findings=_FINDINGS,
    predicted_findings=_FINDINGS,
    matched_findings=_entries(ref_id=_TEXT, pred_id=_TEXT),
    errors=_object(false_findings=_NAMES, missing_findings=_NAMES, attribute_errors=_ATTRIBUTE_ERRORS),
)


@dataclass(frozen=True)
class CrimsonVerdict:
    """An evaluation and what it adds up to.

    Attributes:
        evaluation: Findings of both reports, matches and errors, in the authors' JSON; the bundled judge adds `why`.
        tally: Counts and score.
        notes: What the parser had to forgive.
    """

    evaluation: Mapping[str, Any]
    tally: Tally
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The score CRIMSON, -1 to 1."""
        return self.tally.score

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object: score, every error in words, the evaluation."""
        return {
            "score": self.score,
            "reasons": reasons(self.evaluation),
            "evaluation": dict(self.evaluation),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class CrimsonProtocol:
    """The protocol of CRIMSON; the options are the metric's."""

    wording: str = "own"
    parser: str = "tolerant"
    labels: str = "published"
    complete: bool = False
    patient: Patient = "years"
    attributes: str = "entries"
    name: str = "crimson"
    version: int = 1
    paper: str = f"hf:{CHECKPOINT}"
    pack: str = DEFAULT_PACK

    def __post_init__(self) -> None:
        check_package(self.wording)  # before weights, a key or a server are looked for

    def for_pack(self, pack: str) -> CrimsonProtocol:
        """Returns the protocol that asks about reports of another kind."""
        return replace(self, pack=pack)

    @property
    def sampled(self) -> bool:
        """Whether the checkpoint decodes as its generation_config.json says, as the authors let it."""
        return self.wording == "checkpoint"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksum of the prompt."""
        if self.wording == "own":
            return {"prompt": PROMPTS.digits(PROMPTS.of_pack("question", self.pack))}
        text = "".join(question("", "", context, self.wording) for context in (Context(), Context(age=1.0)))
        return {"prompt": hashlib.sha256(text.encode()).hexdigest()[:8]}

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns the one prompt.

        Raises:
            MissingExtraError: The authors' prompt was asked for, and their package is not installed.
        """
        text = question(*pair, self.wording, self.patient, self.pack)
        trained = self.wording == "checkpoint"
        return (
            Prompt(
                (Message("system", SYSTEM), Message("user", text)),
                f"crimson@{self.version}",
                json_schema=None if trained else SCHEMA,
                max_tokens=MAX_TOKENS,
                raw=RAW.replace("{system}", SYSTEM).replace("{prompt}", text) if trained else None,
            ),
        )

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns no further prompt."""
        return ()

    def verdict(self, pair: Pair, replies: Sequence[str]) -> CrimsonVerdict:
        """Reads the reply; raises VerdictError for one that cannot be read or, with `labels=strict`, weighed."""
        if self.parser == "strict":
            reading = published_ct if is_ct(self.pack) else published
            evaluation, notes = reading(replies[0]), tuple[str, ...]()
        else:
            parsed, notes = tolerant(replies[0], PARTS)
            evaluation = checked(parsed)
            if self.wording == "own" and not evaluation["reference_findings"]:
                check_overlooked(pair, self.pack)
        try:
            if self.complete:
                evaluation = completed(evaluation)
            if self.labels == "strict":
                check_labels(evaluation)
            if self.attributes == "kinds":
                evaluation = by_kind(evaluation)
            return CrimsonVerdict(evaluation, tally(evaluation), notes)
        except (AttributeError, KeyError, TypeError) as error:
            raise VerdictError(f"The reply is not an evaluation: {type(error).__name__} {error}.") from error

    def written(self, verdict: CrimsonVerdict) -> str:
        """Returns the reply that is read as this verdict: its evaluation as JSON, with the keys of the schema."""
        return json.dumps(_within(verdict.evaluation, SCHEMA), ensure_ascii=False, indent=1)

    def from_comparison(self, pair: Pair, compared: Compared) -> CrimsonVerdict:
        """Returns the reader's comparison, graded by its rubric, as a verdict."""
        appraisal = compared.appraisal
        evaluation = with_penalties(from_appraisal(appraisal), compared.comparison.penalties)
        return CrimsonVerdict(evaluation, tally(evaluation, [each.part for each in appraisal.differences]))


def _within(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value without the keys that a schema does not know."""
    if schema["type"] == "object":
        known = schema["properties"]
        return {key: _within(value[key], known[key]) for key in known if key in value}
    return [_within(item, schema["items"]) for item in value] if schema["type"] == "array" else value


# --- reading


def checked(evaluation: Mapping[str, Any]) -> dict[str, object]:
    """Checks that an evaluation has all parts, of the right kind; labels and ids get the authors' spelling.

    Raises:
        VerdictError: A part is missing or cannot be used; naming it.
    """
    errors = evaluation["errors"]
    if not isinstance(errors, Mapping):
        raise VerdictError("errors is not an object.")
    lists = {name: evaluation[name] for name in PARTS[:3]} | {name: errors.get(name, "") for name in ERRORS}
    lists = {name: [] if entries is None else entries for name, entries in lists.items()}
    for name, entries in lists.items():
        if not isinstance(entries, list):
            raise VerdictError(f"{name} is not a list.")
    return {
        **{name: [_finding(entry, name) for entry in lists[name]] for name in PARTS[:2]},
        "matched_findings": [
            _identified(entry, ("ref_id", "pred_id"), "matched_findings") for entry in lists[PARTS[2]]
        ],
        "errors": {
            **{name: [_name(entry, name) for entry in lists[name]] for name in ERRORS[:2]},
            "attribute_errors": [_attribute_error(entry) for entry in lists["attribute_errors"]],
        },
    }


def _identified(entry: Any, keys: Sequence[str], where: str) -> dict[str, object]:
    if isinstance(entry, list) and len(entry) == len(keys) == 2:  # ["R1", "P1"] for a match
        entry = dict(zip(keys, entry, strict=True))
    if not isinstance(entry, Mapping) or any(_plain_id(entry.get(key)) is None for key in keys):
        raise VerdictError(f"{where} has an entry without {' and '.join(keys)}.")
    return {**entry, **{key: _plain_id(entry[key]) for key in keys}}


def _finding(entry: Any, where: str) -> dict[str, object]:
    finding = _identified(entry, ("id",), where)
    if finding.get("finding") in ELLIPSES:
        raise VerdictError(f"{where} contains the unfilled form from the prompt.")
    return finding | {"clinical_significance": _label(finding.get("clinical_significance"))}


def _attribute_error(entry: Any) -> dict[str, object]:
    error = _identified(entry, ("ref_id",), "attribute_errors")
    kinds = error.get("error_types", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(kinds, list):
        raise VerdictError("attribute_errors has an entry whose error_types is not a list.")
    named = [_label(part) for kind in kinds for part in re.split(r"[|,/]", str(kind))]
    return error | {"severity": _label(error.get("severity")), "error_types": named}


def _name(entry: Any, where: str) -> str:
    """An id, also where a judge wrote the finding out again."""
    if isinstance(entry, Mapping):
        entry = next((entry[key] for key in ("id", "pred_id", "ref_id") if key in entry), None)
    name = _plain_id(entry)
    if name is None:
        raise VerdictError(f"{where} has an entry without an id.")
    return name


def _plain_id(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


def _label(value: Any) -> str:
    """A label in the authors' spelling: "Actionable, not urgent" is actionable_not_urgent."""
    return re.sub(r"[^a-z]+", "_", str(value or "").lower()).strip("_")


def check_labels(evaluation: Mapping[str, Any]) -> None:
    """Raises VerdictError for a label or an id that has no weight."""
    for name in PARTS[:2]:
        for finding in evaluation.get(name, []):
            if finding.get("clinical_significance") not in SIGNIFICANCE:
                raise VerdictError(f"{finding.get('id')} has the class {finding.get('clinical_significance')!r}.")
    ids = {name: {finding["id"] for finding in evaluation.get(name, [])} for name in PARTS[:2]}
    errors = evaluation.get("errors", {})
    used = {
        PARTS[0]: [*errors.get("missing_findings", []), *(m["ref_id"] for m in evaluation.get("matched_findings", []))],
        PARTS[1]: errors.get("false_findings", []),
    }
    for part, names in used.items():
        for name in names:
            if name not in ids[part]:
                raise VerdictError(f"{name} is not among the {part}.")
    for error in errors.get("attribute_errors", []):
        if error.get("severity") not in SEVERITY or not set(error.get("error_types", [])) <= set(ATTRIBUTES):
            raise VerdictError(f"An attribute error is {error.get('severity')!r}, {error.get('error_types')}.")


def check_overlooked(pair: Pair, pack: str) -> None:
    """Raises VerdictError if the reader finds something urgent or actionable in a reference with no listed finding."""
    reading = Reader(pack).read(pair.reference)
    lexicon = lexicon_of(reading)
    for finding in reading.abnormal:
        if finding.assertion == "present" and harm(finding, pair.context, lexicon).significance in SIGNIFICANT:
            raise VerdictError(
                "The judge lists no finding of the reference, in which the bundled reader finds "
                f"{reading.evidence(finding)!r}."
            )


def completed(evaluation: Mapping[str, Any]) -> dict[str, object]:
    """Completes an evaluation: every finding that matches nothing is false or missing."""
    errors = dict(evaluation["errors"])
    for part, key, kind in (
        ("reference_findings", "ref_id", "missing_findings"),
        ("predicted_findings", "pred_id", "false_findings"),
    ):
        placed = {match.get(key) for match in evaluation["matched_findings"]} | set(errors[kind])
        errors[kind] = [*errors[kind], *(f["id"] for f in evaluation[part] if f["id"] not in placed)]
    return {**evaluation, "errors": errors}


# --- the bundled judge, and words


def from_appraisal(appraisal: Appraisal) -> dict[str, object]:
    """Writes the reader's appraisal in the authors' JSON, with `why` where a rule changed a class."""
    return {
        "reference_findings": [_to_dict("R", i, graded) for i, graded in enumerate(appraisal.references, 1)],
        "predicted_findings": [_to_dict("P", i, graded) for i, graded in enumerate(appraisal.candidates, 1)],
        "matched_findings": [{"ref_id": f"R{r + 1}", "pred_id": f"P{c + 1}"} for r, c in appraisal.links],
        "errors": {
            "false_findings": [f"P{c + 1}" for c in appraisal.false],
            "missing_findings": [f"R{r + 1}" for r in appraisal.missing],
            "attribute_errors": [
                {
                    "ref_id": f"R{difference.reference + 1}",
                    "pred_id": f"P{difference.candidate + 1}",
                    "severity": "significant" if difference.significant else "negligible",
                    "error_types": [_term(difference)],
                    "explanation": difference.why,
                }
                | ({"part": difference.part} if difference.part < 1 else {})
                for difference in appraisal.differences
            ],
        },
    }


def _term(difference: Difference) -> str:
    """A difference in CRIMSON's words; what is left out makes a finding unspecific."""
    return "unspecific" if difference.part < 1 else TERMS.get(difference.attribute, difference.attribute)


def with_penalties(evaluation: dict[str, Any], penalties: Sequence[FindingError]) -> dict[str, object]:
    """Adds the penalties of a candidate to an evaluation, each as a false or a missing finding."""
    errors = evaluation["errors"]
    for error in penalties:
        missing = error.category is ErrorCategory.MISSING_FINDING and error.candidate is None
        part, kind, letter = (PARTS[0], ERRORS[1], "R") if missing else (PARTS[1], ERRORS[0], "P")
        name = f"{letter}{len(evaluation[part]) + 1}"
        evaluation[part].append({"id": name, "finding": error.sentence, "clinical_significance": error.significance})
        errors[kind].append(name)
    return evaluation


def _to_dict(letter: str, number: int, graded: Graded) -> dict[str, str]:
    finding = {"id": f"{letter}{number}", "finding": graded.words, "clinical_significance": graded.significance}
    return finding | ({"why": graded.why} if graded.why else {})


def reasons(evaluation: Mapping[str, Any]) -> list[str]:
    """Describes every error of an evaluation in one sentence.

    Example:
        >>> pneumothorax = {"id": "R1", "finding": "large left pneumothorax", "clinical_significance": "urgent"}
        >>> reasons({"reference_findings": [pneumothorax], "errors": {"missing_findings": ["R1"]}})
        ['Missing: large left pneumothorax (urgent).']
    """
    known = {f["id"]: f for name in PARTS[:2] for f in evaluation.get(name, []) if "id" in f}
    errors = evaluation.get("errors", {})
    sentences = [f"False: {_graded(known, name)}." for name in errors.get("false_findings", [])]
    sentences += [f"Missing: {_graded(known, name)}." for name in errors.get("missing_findings", [])]
    for error in errors.get("attribute_errors", []):
        both = " / ".join(str(known.get(error.get(key), {}).get("finding", "?")) for key in ("ref_id", "pred_id"))
        kinds = ", ".join(error.get("error_types", []))
        sentences.append(f"{both}: {kinds}, {error.get('severity')} ({error.get('explanation', '')}).")
    return sentences


CLASS_WORDS = {
    "actionable_not_urgent": "actionable, not urgent",
    "not_actionable_not_urgent": "neither actionable nor urgent",
    "benign_expected": "benign or expected",
}


def _graded(known: Mapping[str, Mapping[str, Any]], name: str) -> str:
    finding = known.get(name, {})
    level = str(finding.get("clinical_significance", "unknown"))
    level = CLASS_WORDS.get(level, level.replace("_", " "))
    why = f": {finding['why']}" if finding.get("why") else ""
    return f"{str(finding.get('finding', name)).removesuffix('.')} ({level}{why})"


KEYS = keys_of("crimson")
_PLACE, _COURSE = ATTRIBUTES.index("location"), ATTRIBUTES.index("temporal")


@dataclass(frozen=True)
class Crimson(JudgeScorer):
    """CRIMSON by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    wording: str = "own"
    parser: str = "tolerant"
    labels: str = "published"
    complete: bool = False
    patient: Patient = "years"
    attributes: str = "entries"

    @property
    def protocol(self) -> CrimsonProtocol:
        """The protocol: the prompts, and the parser of the replies."""
        return CrimsonProtocol(self.wording, self.parser, self.labels, self.complete, self.patient, self.attributes)

    def backend(self, runtime: Runtime) -> Judge | ComparedPairs:
        """The judge, or the reader; raises MissingExtraError if the authors' prompt is not installed."""
        if self.config not in BUNDLED_ENGINES:
            _ = self.protocol.facts
        return super().backend(runtime)

    @staticmethod
    def row(verdict: CrimsonVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`."""
        tally = verdict.tally
        attributes = tally.by_attribute
        return [
            tally.score,
            tally.n_errors,
            tally.significant,
            tally.weighted_errors,
            tally.n_false,
            tally.n_missing,
            attributes[_PLACE],
            sum(attributes) - attributes[_PLACE] - attributes[_COURSE],
            *attributes[1:],
        ]
