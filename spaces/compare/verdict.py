"""Which report is better, and who says so: what is wrong with each in words, then the metrics' preferences.

What the reader finds wrong leads. Metrics that read with the same thing are one voice, however many they are: where it
errs, all of them err, and so does a network that was trained on its counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rrgmetrics.metaeval.measured import MeasuredSet
from rrgmetrics.reporting.marks import Explanation, Remark
from rrgmetrics.reporting.numbers import show
from rrgmetrics.spaces.compare.scoring import Line, Verdict
from rrgmetrics.specs import MetricSpec
from rrgmetrics.utils.text_format import by_number, counted, listed

SIDES: Mapping[Verdict, str] = {"first": "candidate 1", "second": "candidate 2", "tie": "neither"}
READER = "the bundled reader"
VOICES = {  # what metrics read with, the first that one needs → the voice that they are together
    "reader": READER,
    "crepe": READER,  # the teacher of the bundled network
    "encoder": "vectors of words",
    "tokens": "words in common",
}
WEIGHS = "finding_score"  # the metric that weighs errors; higher is better
PLACES = 2  # decimals of what errors add up to, as the table shows
MOST_NAMED = 3  # metrics of a voice; more are counted


class Family(NamedTuple):
    """Metrics of one kind: its title, and what it looks at."""

    title: str
    about: str


WORDING = Family(
    "Wording", "For any text: shared words, or words of similar meaning. These metrics do not extract findings."
)
RADIOLOGY = Family("Made for radiology", "Findings, labels and errors, extracted or predicted by models for radiology.")
JUDGES = Family("Judges", "Prompts for a language model; the bundled version answers them with the rule-based reader.")
FAMILIES = (RADIOLOGY, JUDGES, WORDING)


def family_of(spec: MetricSpec) -> Family:
    """The kind of a metric, from its facts."""
    if spec.judge:
        return JUDGES
    return WORDING if spec.modality == "any text" else RADIOLOGY


class Wrong(NamedTuple):
    """What is wrong with a candidate: who it is, how much in a few words, and each error."""

    title: str
    summary: str
    errors: tuple[Remark, ...]


class Summary(NamedTuple):
    """The verdict in words.

    Attributes:
        headline: Which candidate errs less, and how much.
        wrong: The errors of each candidate.
        votes: "For candidate 1" → the voices that prefer it; no entry where none does.
        remarks: What to make of it, in sentences.
    """

    headline: str
    wrong: tuple[Wrong, ...] = ()
    votes: Mapping[str, str] = {}
    remarks: tuple[str, ...] = ()


def summary(lines: Sequence[Line], read: Sequence[Explanation], measured: MeasuredSet) -> Summary:
    """The verdict on one or two candidates.

    Args:
        lines: Of all metrics; none while they still score.
        read: What the reader finds in each candidate.
        measured: The metrics' agreement with radiologists.
    """
    titles = ("Candidate",) if len(read) == 1 else ("Candidate 1", "Candidate 2")
    wrong = tuple(Wrong(title, _counted(each), each.remarks) for title, each in zip(titles, read, strict=True))
    said = Summary(_headline(read), () if read[0].out_of_scope else wrong)
    if not lines:
        return said._replace(remarks=("The metrics are scoring.",))
    if len(read) == 1:
        n_scored = sum(not line.reason for line in lines)
        remark = f"{counted(n_scored, 'metric')} on one report; with a second one, each shows which it prefers."
        return said._replace(remarks=(remark,))
    voters = [line for line in lines if line.verdict != "unscored"]
    if not voters:
        return said._replace(remarks=("No metric could score both candidates.",))
    votes = _votes(voices(voters))
    return said._replace(
        votes={f"For {SIDES[side]}": listed(own) for side, own in votes.items() if own},
        remarks=(*_weighed(lines, read), *_count(votes, len(voters)), *_closest(voters, measured), *_kinds(voters)),
    )


# --- by errors --------------------------------------------------------------------------------------------------------


def _headline(read: Sequence[Explanation]) -> str:
    if read[0].out_of_scope:
        return f"No errors can be listed: the reference {read[0].out_of_scope}."
    if len(read) == 1:
        return f"{amount(read[0]).capitalize()}."
    first, second = map(_cost, read)
    if first == second:
        return f"Both candidates have {amount(read[0])}." if any(first) else "Neither candidate has an error."
    better, worse = (0, 1) if first < second else (1, 0)
    if first[0] == second[0]:
        fewer = f"candidate {better + 1} has fewer significant ones"
        counts = " against ".join(f"{grave:g}" for _, grave in sorted((first, second)))
        return f"Both candidates have {_errors(first[0])}; {fewer}: {counts}."
    return f"Candidate {better + 1} has fewer errors: {amount(read[better])} against {amount(read[worse])}."


def amount(read: Explanation) -> str:
    """What errors add up to, as `finding_errors` counts them: `3 errors, 1 of them significant`."""
    errors, grave = _cost(read)
    if not errors:
        return "no error"
    if grave == errors:
        return _errors(errors, "significant error")
    return f"{_errors(errors)}, {f'{grave:g} of them' if grave else by_number(errors, 'not', 'none')} significant"


def _counted(read: Explanation) -> str:
    """The same, with the attributes that a candidate leaves out apart from its errors."""
    return read.summary if any(remark.left_out for remark in read.remarks) else amount(read)


def _errors(cost: float, noun: str = "error") -> str:
    return f"{cost:g} {by_number(cost, noun, noun + 's')}"


def _cost(read: Explanation) -> tuple[float, float]:
    """What all errors add up to, then the significant ones; what is left out counts as the part that it is."""
    significant = [remark.part for remark in read.remarks if remark.significant is True]
    return round(sum(remark.part for remark in read.remarks), PLACES), round(sum(significant), PLACES)


def _weighed(lines: Sequence[Line], read: Sequence[Explanation]) -> Iterator[str]:
    """Which candidate is nearer by what its findings mean for the patient, where the number of errors hides it."""
    line = next((line for line in lines if line.name == WEIGHS), None)
    first, second = map(_cost, read)
    counted_better = "tie" if first == second else "first" if first < second else "second"
    if line and line.verdict in ("first", "second") and line.verdict != counted_better:
        said = " against ".join(show(value, line.spec.headline) for value in sorted(line.values, reverse=True))
        yield (f"Weighted by clinical significance, {SIDES[line.verdict]} is better: {line.title} {said}.")


# --- by metrics -------------------------------------------------------------------------------------------------------


def voices(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The metrics by what they read with; a published model in the reader's place is a voice of its own."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        shared = next((title for backend, title in VOICES.items() if backend in line.spec.needs), line.title)
        published = line.spec.stand_in and not line.bundled
        found.setdefault(line.title if published and shared == READER else shared, []).append(line)
    return found


def _preference(lines: Sequence[Line]) -> Verdict:
    """What most of a voice's metrics prefer; those that see no difference have no say where another does."""
    first, second = (sum(line.verdict == side for line in lines) for side in ("first", "second"))
    return "tie" if first == second else "first" if first > second else "second"


def _votes(found: Mapping[str, Sequence[Line]]) -> dict[Verdict, list[str]]:
    votes: dict[Verdict, list[str]] = {side: [] for side in SIDES}
    for title, lines in found.items():
        preference = _preference(lines)
        votes[preference].append(_named(title, lines, [line for line in lines if line.verdict == preference]))
    return votes


def _named(title: str, lines: Sequence[Line], agreeing: Sequence[Line]) -> str:
    """A voice with its metrics: by name if they are few and of one mind, else how many of them say so."""
    if len(lines) == 1:
        return title if title == lines[0].title else f"{title} ({lines[0].title})"
    if len(agreeing) == len(lines) <= MOST_NAMED:
        return f"{title} ({names(lines)})"
    if _preference(lines) == "tie" and len(agreeing) < len(lines):
        return f"{title} (its {len(lines)} metrics disagree)"
    return f"{title} ({len(agreeing)} of its {len(lines)} metrics)"


def _count(votes: Mapping[Verdict, Sequence[str]], n_metrics: int) -> Iterator[str]:
    n_votes = sum(map(len, votes.values()))
    counts = [f"{len(votes[side])} for {SIDES[side]}" for side in SIDES if votes[side]]
    yield (
        f"The votes are {listed(counts)}. Metrics with the same reader or the same kind of features tend to make the "
        f"same errors, so they have one vote together: {counted(n_metrics, 'metric')}, {counted(n_votes, 'vote')}."
    )


def _closest(lines: Sequence[Line], measured: MeasuredSet) -> Iterator[str]:
    """What the metric says that has reproduced most of radiologists' own preferences."""
    # Rows are of metrics as they are installed, which alone go by their bare name.
    known = [(row.values, line) for line in lines if (row := measured.metrics.get(line.name)) is not None]
    if not known:
        return
    values, line = max(known, key=lambda pair: (pair[0]["preferences"].value, pair[0]["total_errors"].value))
    shared = values["preferences"]
    prefers = "sees no difference" if line.verdict == "tie" else f"prefers {SIDES[line.verdict]}"
    yield (
        f"The metric that reproduces most of the radiologists' preferences ({shared.value:.0%} of {shared.n} "
        f"development cases), {line.title}, {prefers}."
    )


def _kinds(lines: Sequence[Line]) -> Iterator[str]:
    """Says it when metrics of wording and metrics made for radiology, as the table has them, disagree."""
    own = [[line for line in lines if family_of(line.spec) is family] for family in (WORDING, RADIOLOGY)]
    words, findings = map(_preference, own)
    if {words, findings} == {"first", "second"}:
        shares = [
            f"{sum(line.verdict == side for line in each)} of {len(each)}"
            for each, side in zip(own, (words, findings), strict=True)
        ]
        yield (
            f"{SIDES[words].capitalize()} is preferred by {shares[0]} metrics of wording, {SIDES[findings]} by "
            f"{shares[1]} made for radiology: similar wording does not mean similar findings."
        )


def names(lines: Sequence[Line]) -> str:
    """The metrics' titles, as a list in words."""
    return listed([line.title for line in lines])
