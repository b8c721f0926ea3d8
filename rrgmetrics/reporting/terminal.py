"""Marked reports and verdicts on a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group
from rich.text import Text

from rrgmetrics.reporting.explanations import explain_pair, note_of
from rrgmetrics.reporting.kinds import KINDS, legend
from rrgmetrics.reporting.marks import SIGNIFICANT, Explanation, Mark, Remark, letters, pieces
from rrgmetrics.reporting.numbers import headed, show
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.results import Result
from rrgmetrics.utils.text_format import capitalized


@dataclass(frozen=True)
class Lines:
    """A text broken between words without blanks at the ends of lines; all lines but the first may be indented."""

    text: Text
    indent: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yields the lines."""
        for number, line in enumerate(self.text.wrap(console, max(options.max_width - self.indent, 1))):
            line.rstrip()
            if number and line:
                line.pad_left(self.indent)
            yield line


def explained(reference: str, candidate: str, explanation: Explanation) -> Group:
    """Two reports with the letters of their differences behind the words, and each difference in a sentence.

    Args:
        reference: The radiologist's report.
        candidate: The machine's report.
        explanation: What is to be shown of them.
    """
    summary = f"{capitalized(explanation.summary)}. {explanation.note}".rstrip()
    return Group(
        Text("Reference", style="bold"),
        _marked(reference, explanation.reference),
        "",
        Text("Candidate", style="bold"),
        _marked(candidate, explanation.candidate),
        "",
        Text(summary, style="bold"),
        *map(_remark, explanation.remarks),
        *_legend({remark.kind for remark in explanation.remarks}),
    )


def _marked(text: str, marks: tuple[Mark, ...]) -> Lines:
    """A report with the letters of its marks in brackets; where several marks meet, the last gives the colour."""
    shown = Text()
    for piece in pieces(text, marks):
        shown.append(piece.text, KINDS[piece.over[-1].kind].terminal if piece.over else "")
        ending = letters(piece)
        shown.append(f" [{ending}]" if ending else "", "bold")
    return Lines(shown if text else Text("(empty)"))


def _remark(remark: Remark) -> Lines:
    """A line: the letter, the sentence with the attribute that differs in bold, and whether it matters."""
    kind = KINDS.get(remark.kind)
    before, differs, after = remark.parts
    mark = f"  {remark.short_weight}" if remark.short_weight else ""
    letter = (f"{kind.letter} ", kind.terminal) if kind else "– "
    return Lines(
        Text.assemble(letter, before, (differs, "bold"), after, (mark, "bold" if remark.significant else "")), indent=2
    )


def _legend(kinds: Collection[str]) -> list[Lines]:
    """What `significant` means, and the letters that occur."""
    words = legend(kinds, "{letter} {title}")
    return [Lines(Text(f"\n{SIGNIFICANT}\n{'   '.join(words)}", style="dim"))] if words else []


def verdict(name: str, result: Result, pair: Pair, above: Explanation) -> Group:
    """What a metric says of one pair: its score, and each error in a sentence or why there is no score.

    Args:
        name: The metric, as it was asked for.
        result: Of the pair, scored with `explain` where the metric has that option.
        pair: The pair.
        above: What is printed above; errors in the same words are not printed again.
    """
    explanation = explain_pair(result, pair).beside(above)
    score = show(result.scores[result.spec.headline.name], result.spec.headline)
    titled = result.titled.headline
    heading = Text(f"{headed(titled)}  {score}", style="bold")
    if name != result.spec.name:
        heading.append(f"  {name}", "dim")
    note = note_of(result, explanation)
    lines = ([Lines(Text(note, style="dim"))] if note else []) + _unread(explanation)
    return Group("", heading, *map(_remark, explanation.remarks), *lines)


def _unread(explanation: Explanation) -> list[Lines]:
    """The replies of a judge from which no verdict could be read, as they came."""
    replies = explanation.rest.get("replies") if isinstance(explanation.rest, dict) else None
    return [Lines(Text(f"Its reply: {reply}")) for reply in replies or ()]
