"""Tests whether a reward can be gamed, with tricks and with a search for texts that score well.

A policy that is trained on a metric exploits its weaknesses. `game` finds them first: it applies every trick to honest
candidates, and it searches for the best constant text and the best constant addition on one half of the studies. Their
gains over honest candidates are measured on the other half.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.gaming.report import Gamed, GamingReport, Played, measure_text, measure_trick
from rrgmetrics.metaeval.gaming.scoring import Player
from rrgmetrics.metaeval.gaming.search import GOALS, Goal, Search
from rrgmetrics.metaeval.gaming.studies import N_STUDIES, Studies, generated_studies, own_studies, rated_studies
from rrgmetrics.metaeval.gaming.tricks import Trick, all_tricks
from rrgmetrics.metaeval.stress.scoring import Named, read_metrics
from rrgmetrics.stats import TRIALS
from rrgmetrics.utils.progress import Line, phase

STEPS = 100  # texts that a search tries

__all__ = [
    "N_STUDIES",
    "STEPS",
    "Gamed",
    "GamingReport",
    "Played",
    "Studies",
    "game",
    "generated_studies",
    "own_studies",
    "rated_studies",
]


def game(
    metrics: Named | Sequence[Named],
    studies: Studies | Sequence[str] | None = None,
    *,
    steps: int = STEPS,
    tricks: bool | Collection[str] = True,
    seed: int = 0,
    trials: int = TRIALS,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> GamingReport:
    """Looks for what games metrics as rewards.

    Args:
        metrics: As `rrgmetrics.metaeval.stress.stress` takes them.
        studies: References and honest candidates; reports of your own, which errors are put into; None draws 240
            studies of the generator.
        steps: Texts that are tried by each metric's two searches each; 0 searches nothing, and plays the
            tricks on all studies.
        tricks: Whether to play the tricks too, or the names of some.
        seed: Of the draws.
        trials: Resamples of the intervals.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: Whether to show a bar.

    Returns:
        The report: by metric the best texts, what they and every trick gain over honest candidates, with intervals.

    Raises:
        InputError: A metric, study or number that cannot be used.
        BackendError: Weights or data of a metric are not there.

    Example:
        >>> report = game("finding_errors", generated_studies(8), steps=8, tricks=False, progress=False)
        >>> sorted(report.metrics["finding_errors"].found)
        ['addition', 'constant']
    """
    if steps < 0:
        raise InputError(f"steps is {steps}; pass a number of texts to try, or 0 for no search.")
    if not steps and not tricks:
        raise InputError("steps is 0 and tricks is False; there is nothing to do.")
    chosen = _chosen(tricks)
    named = read_metrics(metrics)
    players = [Player(name, function, batch_size, device) for name, function in named.items()]
    if not isinstance(studies, Studies):
        made = generated_studies(seed=seed) if studies is None else own_studies(studies, seed=seed, progress=progress)
        studies = made
    seen, unseen = (studies.half(0), studies.half(1)) if steps else (studies, studies)
    total = len(players) * (len(GOALS) * steps + len(chosen))
    with phase("gaming", total=total, unit="texts and tricks", shown=progress) as line:
        gamed = [_gamed(player, seen, unseen, line, steps, seed, trials, chosen) for player in players]
    return GamingReport(studies.name, len(set(unseen.studies)), seed, {each.name: each for each in gamed})


def _chosen(tricks: bool | Collection[str]) -> dict[str, Trick]:
    known = all_tricks()
    if isinstance(tricks, bool):
        return known if tricks else {}
    if unknown := [name for name in tricks if name not in known]:
        raise InputError(f"There is no trick {unknown[0]!r}; known: {', '.join(known)}.")
    return {name: known[name] for name in tricks}


def _gamed(
    player: Player,
    seen: Studies,
    unseen: Studies,
    line: Line,
    steps: int,
    seed: int,
    trials: int,
    tricks: Mapping[str, Trick],
) -> Gamed:
    """Searches on one half, and measures on the other."""

    def tell(tried: int) -> None:
        line.done, line.note = line.done + tried, player.name

    player.turn(unseen)
    honest = player.honest(unseen)
    found: dict[Goal, Played] = {}
    searched: dict[Goal, int] = {}
    for goal in GOALS if steps else ():
        best = Search(player, goal, seen, steps, seed, tell).run()
        tell(steps - best.steps)
        found[goal] = measure_text(player, unseen, honest, goal, best, trials=trials)
        searched[goal] = best.steps
    played: dict[str, Played] = {}
    for name, trick in tricks.items():
        played[name] = measure_trick(player, unseen, honest, trick, trials=trials)
        tell(1)
    means = {system: player.value(float(values.mean())) for system, values in honest.items()}
    return Gamed(player.name, player.title, player.arrow, player.signature, means, found, played, searched)
