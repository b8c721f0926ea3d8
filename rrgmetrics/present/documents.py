"""Tables as Markdown and LaTeX, for papers and READMEs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from rrgmetrics.present.tables import Cell, Cells, Table

LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "Δ": r"$\Delta$",
    "±": r"$\pm$",
}


def document(path: str | Path, tables: Iterable[Table]) -> str:
    """Tables as the suffix of a file says: `.md` or `.tex`."""
    return (latex if Path(path).suffix.lower() == ".tex" else markdown)(tables)


def markdown(tables: Iterable[Table]) -> str:
    """Tables as GitHub's Markdown, each under its title and above its note."""
    return "\n\n".join(map(_markdown, tables)) + "\n"


def latex(tables: Iterable[Table]) -> str:
    """Tables as LaTeX with booktabs, each a float with its title as the caption."""
    return "% \\usepackage{booktabs}\n" + "\n\n".join(map(_latex, tables)) + "\n"


def _markdown(table: Table) -> str:
    rows = [table.heads, *_lines(table)]
    written = [
        "| " + " | ".join(_markdown_cell(cell) for cell in _filled(row, len(table.heads))) + " |" for row in rows
    ]
    ends = ["---:" if _is_numeric(rows[1:], index) else "---" for index in range(1, len(table.heads))]
    rule = f"| {' | '.join(['---', *ends])} |"
    parts = [f"**{table.title}**" if table.title else "", "\n".join([written[0], rule, *written[1:]]), table.note]
    return "\n\n".join(filter(None, parts))


def _is_numeric(rows: Iterable[Cells], column: int) -> bool:
    """Whether no cell of a column begins with a letter."""
    return not any(_text(row[column])[:1].isalpha() for row in rows if column < len(row))


def _text(cell: str | Cell) -> str:
    return (cell.text if isinstance(cell, Cell) else cell).strip()


def _markdown_cell(cell: str | Cell) -> str:
    text = re.sub(r"([|\\`*<])", r"\\\1", _text(cell))
    return f"**{text}**" if text and isinstance(cell, Cell) and "strong" in cell.style else text


def _latex(table: Table) -> str:
    body = [" & ".join(map(_latex_cell, _filled(row, len(table.heads)))) + r" \\" for row in _lines(table)]
    lines = [
        r"\begin{table}",
        r"\centering",
        *([f"\\caption{{{_latex_text(f'{table.title}. {table.note}'.strip())}}}"] if table.title else []),
        f"\\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}",
        r"\toprule",
        " & ".join(map(_latex_text, table.heads)) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _latex_cell(cell: str | Cell) -> str:
    text = _latex_text(_text(cell))
    return f"\\textbf{{{text}}}" if text and isinstance(cell, Cell) and "strong" in cell.style else text


def _latex_text(text: str) -> str:
    return "".join(LATEX.get(sign, sign) for sign in text)


def _lines(table: Table) -> Iterable[Cells]:
    for group in table.groups:
        yield from (group.head, *group.lines) if group.head else group.lines


def _filled(row: Cells, n_columns: int) -> Cells:
    return (*row, *[""] * (n_columns - len(row)))
