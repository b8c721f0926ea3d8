"""Tables as Markdown and LaTeX, for papers and READMEs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rrgmetrics.reporting.tables import Cell, Cells, Table, as_cell

Part = Table | str  # a table, or a paragraph of our own words, which may hold `code`

MATHS = {
    "↑": "uparrow",
    "↓": "downarrow",
    "→": "rightarrow",
    "×": "times",
    "≤": "leq",
    "≥": "geq",
    "±": "pm",
    "∞": "infty",
    "·": "cdot",
    "Δ": "Delta",
    "α": "alpha",
    "β": "beta",
    "κ": "kappa",
    "μ": "mu",
    "ρ": "rho",
    "τ": "tau",
}
APART = "\0"  # between two hyphens, which LaTeX would make a dash
LATEX = {
    APART: "{}",
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    '"': "''",
    **{sign: f"${sign}$" for sign in "<>|"},
    **{sign: f"$\\{name}$" for sign, name in MATHS.items()},
    "†": r"\textsuperscript{\textdagger}",
    "‡": r"\textsuperscript{\textdaggerdbl}",
    "°": r"$^{\circ}$",
    "¼": "1/4",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
}
LATIN = 0x180  # pdfLaTeX has the letters before this one
WIDE = 50  # characters of a line of cells
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"  # made smaller only if it must be
LONG_SIZES = {  # of tables that go over pages, which cannot be fitted, by their characters
    WIDE: r"\normalsize",
    75: r"\footnotesize\setlength{\tabcolsep}{4pt}",
    math.inf: r"\scriptsize\setlength{\tabcolsep}{3pt}",
}
PAGE = 40  # lines: what is longer goes over several pages, as `longtable` lets it


def document(path: str | Path, parts: Iterable[Part]) -> str:
    """Tables as the suffix of a file says: `.md` or `.tex`."""
    return WRITERS["latex" if Path(path).suffix.lower() == ".tex" else "markdown"](parts)


def _body(table: Table) -> list[Cells]:
    """Every line, the heads of groups among them."""
    return [line for group in table.groups for line in group.every_line]


def _is_numeric(lines: Iterable[Cells], column: int) -> bool:
    """Whether no cell of a column begins with a letter."""
    return not any(as_cell(line[column]).text.strip()[:1].isalpha() for line in lines if column < len(line))


def _filled(row: Cells, n_columns: int) -> Cells:
    return (*row, *[""] * (n_columns - len(row)))


def _plain(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


# --- Markdown


def markdown(parts: Iterable[Part]) -> str:
    """Tables as GitHub's Markdown, each under its title and above its note."""
    return "\n\n".join(_markdown(part) if isinstance(part, Table) else part for part in parts) + "\n"


def _markdown(table: Table) -> str:
    body, n = _body(table), len(table.heads)
    ends = ["---:" if _is_numeric(body, index) else "---" for index in range(1, n)]
    rows = [_markdown_row(table.heads), f"| {' | '.join(['---', *ends])} |"]
    rows += [_markdown_row(_filled(line, n)) for line in body]
    title = f"**{_escaped(table.title)}**" if table.title else ""
    return "\n\n".join(filter(None, [title, "\n".join(rows), _escaped(table.note)]))


def _markdown_row(cells: Cells) -> str:
    return "| " + " | ".join(map(_markdown_cell, cells)) + " |"


def _markdown_cell(cell: str | Cell) -> str:
    cell = as_cell(cell)
    text = _escaped(cell.text)
    return " ".join(filter(None, [f"**{text}**" if text and cell.is_strong else text, _escaped(cell.detail)]))


def _escaped(text: str) -> str:
    text = re.sub(r"([|\\`*<]|\](?=[(\[])|&(?=#?\w+;))", r"\\\1", _plain(text))
    return text.replace("\\&", "&amp;")


# --- LaTeX


def latex(parts: Iterable[Part]) -> str:
    """Tables as LaTeX with booktabs, each a float with its title as the caption, or `longtable` beyond a page."""
    written = [_latex(part) if isinstance(part, Table) else latex_text(part) for part in parts]
    body = "\n\n".join(written) + "\n"
    further = {"longtable": r"\begin{longtable}", "graphicx": r"\resizebox"}
    packages = ",".join(["booktabs", *(name for name, used in further.items() if used in body)])
    foreign = "".join(dict.fromkeys(sign for sign in body if ord(sign) >= LATIN))
    needs = f"% XeLaTeX or LuaLaTeX, with a font that has them: {foreign}\n" if foreign else ""
    return f"% \\usepackage{{{packages}}}\n{needs}{body}"


def _latex(table: Table) -> str:
    n, body = len(table.heads), _body(table)
    columns = "l" + "".join("r" if _is_numeric(body, index) else "l" for index in range(1, n))
    head = [r"\toprule", " & ".join(map(latex_text, table.heads)) + r" \\", r"\midrule"]
    groups = ["\n".join(_latex_line(line, n) for line in group.every_line) for group in table.groups]
    rows = "\n\\addlinespace\n".join(groups)
    caption = [f"\\caption{{{latex_text(table.title)}}}", r"\smallskip"] if table.title else []
    note = [f"\\parbox{{\\linewidth}}{{\\footnotesize {latex_text(table.note)}}}"] if table.note else []
    if len(body) > PAGE:
        caption = [f"{caption[0]} \\\\"] if caption else []
        size = next(size for characters, size in LONG_SIZES.items() if _width(table) <= characters)
        lines = [f"{{{size}", f"\\begin{{longtable}}{{{columns}}}", *caption, *head, r"\endhead", rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{longtable}", "}", *(r"\noindent" + each for each in note)])
    space = ["", r"\smallskip"] if note else []
    tabular = [f"\\begin{{tabular}}{{{columns}}}", *head, rows, r"\bottomrule", r"\end{tabular}"]
    tabular = [FITTED, *tabular, "}"] if _width(table) > WIDE else tabular
    return "\n".join([r"\begin{table}", r"\centering", *caption, *tabular, *space, *note, r"\end{table}"])


def _width(table: Table) -> int:
    """Characters of a line of cells, those that reach over all columns apart."""
    lines = [_filled(line, len(table.heads)) for line in (table.heads, *_body(table)) if len(line) > 1]
    lengths = [[len(f"{cell.text}{cell.detail}") for cell in map(as_cell, line)] for line in lines]
    return sum(max(column) for column in zip(*lengths, strict=True))


def _latex_line(line: Cells, n_columns: int) -> str:
    """A line; its first cell must not be taken for an argument of the line break before it."""
    first, *others = (_latex_cell(as_cell(cell)) for cell in line)
    if first.startswith(("[", "*")):
        first = "{}" + first
    if not any(others):
        return f"\\multicolumn{{{n_columns}}}{{l}}{{{first}}} \\\\"
    if as_cell(line[0]).text.startswith("  "):
        first = rf"\quad {first}"
    return " & ".join(_filled((first, *others), n_columns)) + r" \\"  # type: ignore[arg-type]


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    detail = f"{{\\scriptsize {latex_text(cell.detail)}}}" if cell.detail else ""
    return " ".join(filter(None, [f"\\textbf{{{text}}}" if text and cell.is_strong else text, detail]))


def latex_text(text: str) -> str:
    """A text on one line with LaTeX's own characters written out."""
    return "".join(LATEX.get(sign, sign) for sign in re.sub("-(?=-)", f"-{APART}", _plain(text)))


WRITERS: Mapping[str, Callable[[Iterable[Part]], str]] = {"markdown": markdown, "latex": latex}
