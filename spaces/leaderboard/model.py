"""What a board says, as plain frozen records; nothing here holds a hidden reference, numbers are rounded as shown.

Text that a submitter typed (`System.name`, `tags`, links, candidates) is as it was typed: whoever shows it escapes it.
Links are http or https.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from rrgmetrics.baselines.collapse import Collapse
from rrgmetrics.baselines.skill import Skill
from rrgmetrics.errors import InputError
from rrgmetrics.specs import Key, MetricSpec
from rrgmetrics.stats import Estimate, PairedTest
from rrgmetrics.utils.text_format import counted

State = Literal["queued", "running", "done", "failed"]


class RefusedError(InputError):
    """A submission that cannot be queued.

    Attributes:
        problems: Everything that must be corrected, one sentence each; in the order of the form, then of the file.
        is_of_file: Whether the file must be corrected, so that this one is of no more use.
    """

    def __init__(self, problems: tuple[str, ...], *, is_of_file: bool = False) -> None:
        self.problems = problems
        self.is_of_file = is_of_file
        super().__init__("\n".join(problems))


@dataclass(frozen=True)
class Limits:
    """What a board takes.

    Attributes:
        file_bytes: Largest file of a submission.
        report_characters: Longest report.
        submissions_per_day: Accepted submissions of one submitter in 24 hours.
        submissions_per_day_and_address: Accepted submissions from one network address in 24 hours.
        submissions_per_hour_and_address: Accepted submissions from one network address in an hour.
        submissions_in_all: Accepted submissions of one submitter, ever; 0: no limit.
        tries_per_hour: Files checked for one address in an hour, refused ones too.
        uploads_per_hour: Files that the page takes from one address in an hour, submitted or not.
        upload_bytes_per_hour: Bytes of all of them.
        upload_bytes_kept: Bytes of files that wait on the server's disk, of all addresses.
        queue: Submissions that may wait at a time.
        token_guesses: Wrong admin tokens from one address in 15 minutes.
        left_out_share: Share of the pairs that all systems together may leave out of a metric's comparison. Beyond it
            an unscored pair counts as the worst score of its system.
        withheld_share: Share of the hidden studies that count in no number before the administrator sets it to 0. What
            does not show cannot be worked out; 1 shows nothing until then but the scores of public studies.
    """

    file_bytes: int = 50_000_000
    report_characters: int = 20_000
    submissions_per_day: int = 5
    submissions_per_day_and_address: int = 20
    submissions_per_hour_and_address: int = 10
    submissions_in_all: int = 0
    tries_per_hour: int = 60
    uploads_per_hour: int = 60
    upload_bytes_per_hour: int = 500_000_000
    upload_bytes_kept: int = 2_000_000_000
    queue: int = 200
    token_guesses: int = 5
    left_out_share: float = 0.02
    withheld_share: float = 0.0


@dataclass(frozen=True)
class BoardMetric:
    """One metric of the board.

    Attributes:
        name: As it is asked for: `bleu`, `crepe@paper`; the key of every mapping by metric.
        spec: Its facts: keys, ranges, directions, and titles as people read them (`MetricName.titled`).
        signature: What runs, fixed for the round: the signature of every result starts with it; "" before it is known.
    """

    name: str
    spec: MetricSpec
    signature: str


@dataclass(frozen=True)
class BoardInfo:
    """A board's head.

    Attributes:
        title: Of the page.
        description: Markdown, by the board's administrator.
        dataset: Hub id of the benchmark, or "".
        metrics: In the order of the columns.
        primary: Name of the metric that ranks.
        n_studies: Studies that a submission must hold, each once.
        n_public: Studies whose reference may be shown.
        n_withheld: Hidden studies that count in no number yet (`Limits.withheld_share`).
        round: Counts up with each rescoring.
        limits: What a submission may be.
        n_queued: Jobs that wait or run.
        revision: Changes whenever a page may look different; a key for caches of pages.
    """

    title: str
    description: str
    dataset: str
    metrics: tuple[BoardMetric, ...]
    primary: str
    n_studies: int
    n_public: int
    round: int
    limits: Limits
    n_queued: int
    revision: int
    n_withheld: int = 0

    @property
    def studies(self) -> str:
        """How many studies the board has, and how many of them no score is of.

        Example:
            22 studies, 11 of which count in no score yet
        """
        withheld = f", {self.n_withheld:,} of which count in no score yet" if self.n_withheld else ""
        return counted(self.n_studies, "study", "studies") + withheld

    def metric(self, name: str) -> BoardMetric:
        """The metric of that name; raises InputError if the board has none."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise InputError(f"The board has no metric {name!r}; it has: {', '.join(item.name for item in self.metrics)}.")


@dataclass(frozen=True)
class System:
    """A submission, as its submitter describes it.

    Attributes:
        id: Twelve letters and digits, safe in a URL and a file name.
        name: Unique on the board.
        submitter: A Hub handle or a link.
        submitter_url: The link.
        verified: Whether the submitter was logged in to the Hub as this account; else it is what somebody typed.
        model_card: Link, or "".
        model: Hub id (`org/name`) where the model card is on the Hub, else "".
        tags: For filters.
        submitted: When (UTC).
        hidden: Whether the administrator has taken it off the board.
    """

    id: str
    name: str
    submitter: str
    submitter_url: str
    verified: bool
    model_card: str
    model: str
    tags: tuple[str, ...]
    submitted: datetime
    hidden: bool


@dataclass(frozen=True)
class Standing:
    """One line of the table.

    Attributes:
        system: Who.
        rank: 1 is best, by the primary metric, and equal shown scores share a rank; None: listed but not ranked.
        reason: Why it is not ranked; "" if it is.
        best_rank: 1 + the ranked systems above that are significantly better; None while it is not ranked or untested.
        scores: Headline of each metric by its name. Of a system that is ranked in that metric on `Standings.n_common`
            pairs, else on its own. `low` and `high` are NaN until the worker has drawn them; unscored is NaN.
        n_unscored: Pairs without a score, by metric.
        n_worst: Those of them that count as the system's worst score, by metric.
        skills: The headline beside those of trivial systems, by metric, on the pairs that this system has scored; none
            for metrics that ask a model, and older results.
        round: Whose scores they are; below that of the board while the new one is being scored.
    """

    system: System
    rank: int | None
    reason: str
    best_rank: int | None
    scores: Mapping[str, Estimate]
    n_unscored: Mapping[str, int]
    n_worst: Mapping[str, int]
    skills: Mapping[str, Skill] = field(default_factory=dict)
    round: int = 1


@dataclass(frozen=True)
class Standings:
    """The table.

    Attributes:
        board: Its head.
        systems: Ranked ones first, best first; then those of an earlier round, best first; then those that are listed
            only, newest first.
        n_common: By metric the pairs that count: all systems compared in it have scored them, but for `n_worst`.
        tags: Every tag in use, sorted.
    """

    board: BoardInfo
    systems: tuple[Standing, ...]
    n_common: Mapping[str, int]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class KeyScore:
    """One number of one metric with its interval."""

    key: Key
    score: Estimate


@dataclass(frozen=True)
class MetricResult:
    """All a metric says of a system, on the pairs that this system has scored.

    Attributes:
        metric: Which.
        signature: What ran.
        n_unscored: Pairs without a score.
        scores: Every key, the headline first.
        categories: Errors a report of the kinds A to F (by letter), where the metric counts them; else empty.
        skill: The headline beside those of trivial systems; None for metrics that ask a model, and older results.
    """

    metric: BoardMetric
    signature: str
    n_unscored: int
    scores: tuple[KeyScore, ...]
    categories: Mapping[str, KeyScore]
    skill: Skill | None = None


@dataclass(frozen=True)
class SliceResult:
    """Scores on a part of the studies.

    Attributes:
        name: `normal`, `abnormal`, or a group of findings that the references report: `lung`, `pleura`, ...
        title: In words.
        n_studies: Studies in it that were scored; parts of fewer than `slices.MIN_STUDIES` are not told.
        scores: Headline of each metric by its name.
    """

    name: str
    title: str
    n_studies: int
    scores: Mapping[str, Estimate]


@dataclass(frozen=True)
class Versus:
    """A paired comparison in one score: `test.system` is the one asked about, `test.baseline` the other.

    Attributes:
        other: The other system.
        metric: In which metric.
        key: In which of its scores.
        test: Difference (ours - other's) with interval, p-value, effect size, pairs left out.
        p_corrected: Holm's, over the family that the page shows: all systems above, or all headlines of a head-to-head;
            NaN for keys that are not tested (all but headlines).
        is_better: Whether ours is better; None without a difference.
    """

    other: System
    metric: BoardMetric
    key: Key
    test: PairedTest
    p_corrected: float
    is_better: bool | None


@dataclass(frozen=True)
class Example:
    """A study marked public, with what the system wrote.

    Attributes:
        study_id: Of the study.
        reference: The radiologist's report; public.
        candidate: The system's.
        context: `age`, `sex`, `indication` where known.
        scores: Headline of this pair by metric; NaN = unscored.
    """

    study_id: str
    reference: str
    candidate: str
    context: Mapping[str, Any]
    scores: Mapping[str, float]


@dataclass(frozen=True)
class SystemReport:
    """A system's page.

    Attributes:
        standing: Its line of the table.
        results: By metric, in the board's order.
        slices: Parts of the studies: normal, abnormal, then groups of findings.
        above: Primary metric against every ranked system above it, nearest first; empty until the worker has tested.
        n_examples: How many `Board.examples` there are.
        stale: Whether the results are of an earlier round, and a rescoring is under way.
        collapse: How different its reports are, beside the references; without a text of either.
    """

    standing: Standing
    results: tuple[MetricResult, ...]
    slices: tuple[SliceResult, ...]
    above: tuple[Versus, ...]
    n_examples: int
    stale: bool
    collapse: Collapse


@dataclass(frozen=True)
class HeadToHead:
    """Two systems on the pairs that both have scored.

    Attributes:
        first: The one asked about.
        second: The other.
        rows: For every metric every key, headlines first of each; difference = first - second.
        n_common: By metric the pairs that both have scored.
    """

    first: System
    second: System
    rows: tuple[Versus, ...]
    n_common: Mapping[str, int]


@dataclass(frozen=True)
class Receipt:
    """What a submitter gets at once.

    Attributes:
        id: Of the submission and, once scored, of the system.
        name: As it will stand on the board.
        ahead: Jobs that come before it.
        is_repeated: Whether the same submission was sent before, so that nothing was stored now.
    """

    id: str
    name: str
    ahead: int
    is_repeated: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Progress:
    """Where a submission stands.

    Attributes:
        id: Of the submission.
        name: Of the system.
        state: `queued`, `running`, `done` or `failed`.
        ahead: Jobs that come before it; 0 unless queued.
        since: When it got into this state (UTC).
        message: One sentence for the submitter; never quotes a reference.
    """

    id: str
    name: str
    state: State
    ahead: int
    since: datetime
    message: str
