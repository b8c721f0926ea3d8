"""Tables and marked reports on a terminal."""

from __future__ import annotations

import yaml
from rich import box
from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from rrgmetrics.present.explanations import told_of
from rrgmetrics.present.kinds import KINDS
from rrgmetrics.present.marks import Explanation, Mark, Remark, pieces
from rrgmetrics.present.numbers import headed, show
from rrgmetrics.present.tables import Cell, Table
from rrgmetrics.results import Result

STYLES = {"strong": "bold", "quiet": "dim", "better": "green", "worse": "red"}


def draw(table: Table) -> RichTable:
    """A table as Rich draws it; nothing in it is read as Rich's markup."""
    drawn = RichTable(
        title=Text(table.title) if table.title else None,
        title_justify="left",
        title_style="bold",
        caption=Text(table.note) if table.note else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    lines = [line for group in table.groups for line in (group.head, *group.lines) if line]
    for index, head in enumerate(table.heads):
        longest = max((len(_text(line[index])) for line in lines if index < len(line)), default=0)
        drawn.add_column(
            Text(head),
            no_wrap=index not in table.broken,
            overflow="fold" if index in table.broken else "ellipsis",
            min_width=longest if index in table.whole else len(head),
        )
    for group in table.groups:
        for line in (group.head, *group.lines):
            if line:
                drawn.add_row(*map(_text, line))
        drawn.add_section()
    return drawn


def _text(cell: str | Cell) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    styles = [STYLES[word] for word in cell.style.split() if word in STYLES]
    return Text(str(cell.text), style=" ".join(styles))


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
    mark = "significant" if remark.significant else ""
    return Text.assemble((f"{kind.letter} ", kind.terminal), remark.sentence, (f"  {mark}", "bold"))


def verdict(name: str, result: Result) -> Group:
    """What a judge says of one pair: its score, and the verdict or why there is none.

    Args:
        name: The judge, as it was asked for.
        result: Of one pair, scored with `explain`.
    """
    score = show(result.scores[result.spec.name], result.spec.headline)
    heading = Text(f"{name}  {headed(result.titled.headline)}  {score}", style="bold")
    words = yaml.safe_dump(told_of(result), sort_keys=False, allow_unicode=True, width=100)
    return Group("", heading, Text(words.rstrip()))
