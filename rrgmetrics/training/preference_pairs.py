"""Preference data from several candidates a study, for DPO and KTO: a metric says which candidate is better.

Ostmeier et al. 2024 (section 3.4.2) use GREEN so. Two candidates of one study make a pair where the metric puts them
apart by the margin or more; equal ones make none. What a metric cannot score is in no pair: it is neither good nor bad.
The columns are TRL's: `prompt`, `chosen`, `rejected` for DPO (and for training a reward model), `prompt`, `completion`,
`label` for KTO, where the chosen reports of the same pairs are `True` and the rejected ones `False`.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import check_columns
from rrgmetrics.files.read import study_id_of
from rrgmetrics.files.sources import is_source
from rrgmetrics.files.tables import table_rows
from rrgmetrics.reports import CONTEXT_KEYS, Pair, parse_context, report_of
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.specs.names import check_per_pair, parse_name

Form = Literal["dpo", "kto"]
Which = Literal["extremes", "best", "all"]
COLUMNS: Mapping[Form, tuple[str, ...]] = {
    "dpo": ("prompt", "chosen", "rejected"),
    "kto": ("prompt", "completion", "label"),
}
PROMPT = "prompt"
ROUNDING = 1e-9  # scores that differ by less are equal


class Candidate(NamedTuple):
    """One row: a candidate for a study, the prompt that a policy answers, and columns that are kept."""

    study: str
    pair: Pair
    prompt: str
    kept: Mapping[str, Any]


@dataclass(frozen=True)
class Preferences:
    """Preference data, and what was left out of it.

    Attributes:
        columns: TRL's columns by name, then those that were kept.
        n_pairs: Pairs of a chosen and a rejected report.
        n_studies: Studies that were read.
        n_candidates: Candidates that were read.
        n_repeated: Those that repeat another one of their study word for word.
        n_unscored: Others that the metric could not score.
        n_ties: Pairs of candidates with equal scores.
        n_near: Pairs that differ by less than the margin.
        n_without: Studies that give no pair.
        signature: Of the scores.
    """

    columns: Mapping[str, list[Any]]
    n_pairs: int
    n_studies: int
    n_candidates: int
    n_repeated: int
    n_unscored: int
    n_ties: int
    n_near: int
    n_without: int
    signature: str

    def to_dict(self) -> dict[str, object]:
        """Returns the counts, by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "columns"}


def prefer(
    candidates: Any,
    metric: str,
    *,
    form: Form = "dpo",
    which: Which = "extremes",
    margin: float = 0.0,
    prompt: str = "",
    keep: Sequence[str] = (),
    scores: bool = False,
    conversational: bool = False,
    columns: Mapping[str, str] | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> Preferences:
    """Makes preference data of several candidates a study.

    Args:
        candidates: A table or a file (CSV, JSONL, Parquet) with a row for each candidate: `study_id`, `reference`,
            `candidate`, and `prompt`, `age`, `sex`, `indication` where there are any; or a list of such, which are read
            as one. Without `study_id` the rows of one reference and prompt are one study.
        metric: By which one candidate is better than another, in the metric's own direction: `"green"`,
            `"crimson#errors"`.
        form: `"dpo"`: chosen and rejected reports; `"kto"`: reports and whether they were chosen, each once a study.
        which: `"extremes"`: a study's best candidate with its worst; `"best"`: with each other; `"all"`: every two.
        margin: The least difference of the scores of a pair; 0 takes any but equal ones.
        prompt: The prompt of rows without a column `prompt`; `{indication}` and other columns are filled in.
        keep: Columns that stay beside TRL's, such as `image`; of a pair those of the chosen candidate's row.
        scores: Whether to add the columns `chosen_score` and `rejected_score`, or `score`.
        conversational: Whether prompts and reports are lists of messages.
        columns: What the columns are called: `{"candidate": "sample"}`.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: As in `rrgmetrics.score`.

    Raises:
        InputError: Candidates that cannot be used, one prompt or reference too few or too many, or a metric that gives
            a pair no score of its own. Nothing was scored.

    Example:
        >>> rows = [{"study_id": "1", "reference": "Small left effusion.", "candidate": text, "prompt": "Report:"}
        ...         for text in ("Small left effusion.", "Clear lungs.")]
        >>> prefer(rows, "finding_errors", progress=False).columns["chosen"]
        ['Small left effusion.']
    """
    _check_choices(metric, form, which, margin, scores, keep)
    read = _read(candidates, prompt, keep, check_columns(columns))
    studies = [_distinct(rows) for rows in _by_study(read).values()]
    if all(len(rows) < 2 for rows in studies):
        raise InputError(
            "No study has two different candidates; each row is one candidate, and study_id names its study."
        )
    rows = [row for of_study in studies for row in of_study]
    ready = prepare(metric, batch_size=batch_size, device=device)
    result = ready.score_pairs([row.pair for row in rows], progress=progress)[metric]
    values = iter(zip(result.headline.tolist(), result.spec.headline.goodness(result.headline).tolist(), strict=True))
    scored = [[Scored(row, *next(values)) for row in of_study] for of_study in studies]
    found = [_find_pairs(of_study, which, margin) for of_study in scored]
    names = (*COLUMNS[form], *_score_columns(form, scores), *keep)
    lines = [line for each in found for line in _lines(each.pairs, form, scores, conversational)]
    return Preferences(
        {name: [line[name] for line in lines] for name in names},
        n_pairs=sum(len(each.pairs) for each in found),
        n_studies=len(studies),
        n_candidates=len(read),
        n_repeated=len(read) - len(rows),
        n_unscored=sum(math.isnan(each.goodness) for of_study in scored for each in of_study),
        n_ties=sum(each.n_ties for each in found),
        n_near=sum(each.n_near for each in found),
        n_without=sum(not each.pairs for each in found),
        signature=result.signature,
    )


def _check_choices(metric: str, form: Form, which: Which, margin: float, scores: bool, keep: Sequence[str]) -> None:
    choices: tuple[tuple[str, Any, Any], ...] = (("form", form, Form), ("which", which, Which))
    for what, value, known in choices:
        if value not in get_args(known):
            raise InputError(f"{what} is {value!r}; pass {' or '.join(get_args(known))}.")
    number: Any = margin
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf:
        raise InputError(f"margin is {margin!r}; pass a number of at least 0.")
    check_per_pair(metric, "a preference")
    if parse_name(metric).counts_references:
        raise InputError(f"{metric}: the score of a pair depends on all other pairs; use another metric.")
    taken = {*COLUMNS[form], *_score_columns(form, scores)}
    if twice := [name for name in keep if name in taken]:
        raise InputError(f"keep names {twice[0]!r}, which is a column of the output.")


def _score_columns(form: Form, scores: bool) -> tuple[str, ...]:
    return () if not scores else ("chosen_score", "rejected_score") if form == "dpo" else ("score",)


def _read(candidates: Any, prompt: str, keep: Sequence[str], columns: Mapping[str, str]) -> list[Candidate]:
    names = {field: columns.get(field, field) for field in ("study_id", "reference", "candidate", *CONTEXT_KEYS)}
    wanted = dict.fromkeys([*names.values(), PROMPT, *keep, *_fields(prompt)])
    rows = [
        _candidate(row, where, names, prompt, keep)
        for source in _sources(candidates)
        for where, row in _rows(source, list(wanted))
    ]
    if not rows:
        raise InputError("There are no candidates.")
    return rows


def _sources(candidates: Any) -> list[Any]:
    """One source, or several that are read as one: a list of file names or of tables; a list of dicts is one table."""
    is_several = isinstance(candidates, list | tuple) and not all(isinstance(each, Mapping) for each in candidates)
    return list(candidates) if is_several else [candidates]


def _rows(source: Any, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not is_source(source):
        yield from table_rows(source, columns, "candidates")
        return
    for path in files.parts(source):
        for unit, number, row in files.rows_of(path, columns):
            yield f"{path}, {unit} {number}", row


def _candidate(
    row: Mapping[str, Any], where: str, names: Mapping[str, str], prompt: str, keep: Sequence[str]
) -> Candidate:
    for field in ("reference", "candidate"):
        if names[field] not in row:
            raise InputError(f"{where}: there is no column {names[field]!r}; name it with columns ({field}=...).")
    if missing := [name for name in keep if name not in row]:
        raise InputError(f"{where}: there is no column {missing[0]!r} to keep.")
    reference, candidate = (
        report_of(row[names[field]], f"{where}, column {names[field]!r}") for field in ("reference", "candidate")
    )
    context = parse_context({key: row[names[key]] for key in CONTEXT_KEYS if names[key] in row}, where)
    asked = _prompt(row, where, prompt)
    has_id = names["study_id"] in row
    study = study_id_of(row[names["study_id"]], f"{where}, column {names['study_id']!r}") if has_id else ""
    return Candidate(study, Pair(reference, candidate, context), asked, {name: row[name] for name in keep})


def _prompt(row: Mapping[str, Any], where: str, prompt: str) -> str:
    if prompt and PROMPT in row:
        raise InputError(f"{where} has its own prompt; leave out {prompt[:40]!r}, or the column.")
    text = row.get(PROMPT)
    if prompt:
        if absent := [field for field in _fields(prompt) if field not in row]:
            raise InputError(f"{where}: there is no column {absent[0]!r}, which the prompt names.")
        text = string.Formatter().vformat(
            prompt, (), {field: "" if row[field] is None else row[field] for field in _fields(prompt)}
        )
    if not isinstance(text, str) or not text.strip():
        raise InputError(
            f"{where} has no prompt; add a column 'prompt', or pass one for all: prompt='Write the report.'"
        )
    return text


def _fields(prompt: str) -> list[str]:
    try:
        parsed = list(string.Formatter().parse(prompt))
    except ValueError as error:
        raise InputError(
            f"The prompt {prompt[:40]!r} cannot be parsed ({error}); write {{{{ and }}}} for braces."
        ) from None
    if odd := [
        field
        for _, field, form, conversion in parsed
        if field is not None and (not field.isidentifier() or form or conversion)
    ]:
        raise InputError(f"The prompt names {{{odd[0]}}}; write the name of a column, and {{{{ and }}}} for braces.")
    return [field for _, field, _, _ in parsed if field]


def _by_study(rows: Sequence[Candidate]) -> dict[Any, list[Candidate]]:
    """The candidates of each study; raises InputError where a study has two references or two prompts."""
    studies: dict[Any, list[Candidate]] = {}
    for row in rows:
        studies.setdefault(row.study or (row.pair.reference, row.prompt, row.pair.context), []).append(row)
    for study, own in studies.items():
        for what, values in (
            ("references", {row.pair.reference for row in own}),
            ("prompts", {row.prompt for row in own}),
        ):
            if len(values) > 1:
                raise InputError(f"Study {study!r} has {len(values)} {what}; all its candidates need the same.")
    return studies


def _distinct(rows: Sequence[Candidate]) -> list[Candidate]:
    """The candidates of a study, of equal texts the first."""
    return list({row.pair.candidate: row for row in reversed(rows)}.values())[::-1]


class Scored(NamedTuple):
    """A candidate, its score, and the score turned so that more is better; NaN where there is none."""

    row: Candidate
    score: float
    goodness: float


class Found(NamedTuple):
    """The pairs of one study, the better candidate first, and how many were equal or too near."""

    pairs: list[tuple[Scored, Scored]]
    n_ties: int
    n_near: int


def _find_pairs(candidates: Sequence[Scored], which: Which, margin: float) -> Found:
    """Finds the pairs of a study; of equally good candidates the earlier one comes first."""
    ordered = sorted((each for each in candidates if not math.isnan(each.goodness)), key=lambda each: -each.goodness)
    twos = list(combinations(ordered, 2))
    if which == "extremes":
        twos = [(ordered[0], ordered[-1])] if twos else []
    elif which == "best":
        twos = [(better, worse) for better, worse in twos if better is ordered[0]]
    apart = [(better, worse) for better, worse in twos if better.goodness - worse.goodness > ROUNDING]
    pairs = [(better, worse) for better, worse in apart if better.goodness - worse.goodness >= margin - ROUNDING]
    return Found(pairs, len(twos) - len(apart), len(apart) - len(pairs))


def _lines(
    pairs: Sequence[tuple[Scored, Scored]], form: Form, scores: bool, conversational: bool
) -> Iterator[dict[str, object]]:
    """The rows of one study: its pairs, or the reports of its pairs.

    Where every two candidates are compared, a report may be chosen in one pair and rejected in another: it then has no
    label, and is left out.
    """

    def said(role: str, text: str) -> Any:
        return [{"role": role, "content": text}] if conversational else text

    if form == "dpo":
        for better, worse in pairs:
            texts = (better.row.pair.candidate, worse.row.pair.candidate)
            chosen, rejected = (said("assistant", text) for text in texts)
            own = {"prompt": said("user", better.row.prompt), "chosen": chosen, "rejected": rejected}
            both = {"chosen_score": better.score, "rejected_score": worse.score} if scores else {}
            yield {**better.row.kept, **own, **both}
        return
    labels: dict[int, tuple[Scored, set[bool]]] = {}
    for two in pairs:
        for each, label in zip(two, (True, False), strict=True):
            labels.setdefault(id(each), (each, set()))[1].add(label)
    for each, own_labels in labels.values():
        if len(own_labels) == 1:
            prompt, text = said("user", each.row.prompt), said("assistant", each.row.pair.candidate)
            own = {"prompt": prompt, "completion": text, "label": True in own_labels}
            yield {**each.row.kept, **own, **({"score": each.score} if scores else {})}
