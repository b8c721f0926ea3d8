"""Marked reports and verdicts on a terminal."""

from __future__ import annotations

import yaml
from rich.console import Group
from rich.text import Text

from rrgmetrics.present.explanations import told_of
from rrgmetrics.present.kinds import KINDS
from rrgmetrics.present.marks import Explanation, Mark, Remark, pieces
from rrgmetrics.present.numbers import headed, show
from rrgmetrics.results import Result


def explained(reference: str, candidate: str, explanation: Explanation) -> Group:
    """Two reports with the evidence of their differences in colour, and each difference in words.

    Args:
        reference: The radiologist's report.
        candidate: The machine's report.
        explanation: What is to be shown of them.
    """
    summary = f"{explanation.summary[:1].upper()}{explanation.summary[1:]}. {explanation.note}".rstrip()
    return Group(
        Text("Reference", style="bold"),
        _marked(reference, explanation.reference),
        "",
        Text("Candidate", style="bold"),
        _marked(candidate, explanation.candidate),
        "",
        Text(summary, style="bold"),
        *map(_remark, explanation.remarks),
    )


def _marked(text: str, marks: tuple[Mark, ...]) -> Text:
    """A report; where several marks meet, the last gives the colour."""
    parts = [(piece.text, KINDS[piece.over[-1].kind].terminal if piece.over else "") for piece in pieces(text, marks)]
    return Text.assemble(*parts) if text else Text("(empty)")


def _remark(remark: Remark) -> Text:
    kind = KINDS[remark.kind]
    mark = "significant" if remark.significant and not remark.left_out else ""
    return Text.assemble((f"{kind.letter} ", kind.terminal), remark.sentence, (f"  {mark}", "bold"))


def verdict(name: str, result: Result) -> Group:
    """What a judge says of one pair: its score, and the verdict or why there is none.

    Args:
        name: The judge, as it was asked for.
        result: Of one pair, scored with `explain`.
    """
    score = show(result.scores[result.spec.headline.name], result.spec.headline)
    heading = Text(f"{name}  {headed(result.titled.headline)}  {score}", style="bold")
    words = yaml.safe_dump(told_of(result), sort_keys=False, allow_unicode=True, width=100)
    return Group("", heading, Text(words.rstrip()))
