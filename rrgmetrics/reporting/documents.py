"""Tables as Markdown and LaTeX, for papers and READMEs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import wrap

from rrgmetrics.reporting.tables import Cell, Cells, Group, Table, as_cell

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
    "≈": "approx",
    "≠": "neq",
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
    **{sign: f"$_{number}$" for number, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    "•": r"\textbullet{}",
    "‐": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
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
CJK = range(0x2E80, 0xFB00)  # Chinese, Japanese and Korean signs
DEBIAN = {"ulem": "texlive-plain-generic"}  # what has a package that LaTeX itself lacks
LATIN = 0x180  # pdfLaTeX has the letters before this one
WIDE = 50  # characters of a line of cells that may not fit in one of two columns
WIDEST = 80  # characters of one that would be too small there
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"  # made smaller only if it must be
LINE = 340  # points that a line of one column has in most document classes
LONG_SIZES = (  # of tables that go over pages, which cannot be fitted: points of a character, and between columns
    (r"\normalsize", 4.7, 12),
    (r"\footnotesize\setlength{\tabcolsep}{4pt}", 4.0, 8),
    (r"\scriptsize\setlength{\tabcolsep}{3pt}", 3.7, 6),
)
BROKEN = r">{\raggedright\hangindent=1em\arraybackslash}"
FIRST = 22  # characters of a line of a first column that is broken, at least
HEAD = 12  # characters of a line of a head above narrower cells
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
    further = {"array": BROKEN, "longtable": r"\begin{longtable}", "graphicx": r"\resizebox"}
    packages = ",".join(["booktabs", *(name for name, used in further.items() if used in body)])
    return with_needs(f"\\usepackage{{{packages}}}", body)


def with_needs(packages: str, body: str) -> str:
    """LaTeX below comments that name the packages that it needs, and the signs that pdfLaTeX has not."""
    foreign = "".join(dict.fromkeys(sign for sign in body if ord(sign) >= LATIN))
    lines = [packages]
    lines += [f"{name} is in {found} on Debian and Ubuntu" for name, found in DEBIAN.items() if name in packages]
    if any(ord(sign) in CJK for sign in foreign):
        lines.append(f"XeLaTeX with \\usepackage{{xeCJK}}, not pdfLaTeX, for {foreign}")
    elif foreign:
        lines.append(f"XeLaTeX or LuaLaTeX, not pdfLaTeX, with a font that has {foreign}")
    return "\n".join([*(f"% {line}" for line in lines), body])


def _latex(table: Table) -> str:
    return _long(table) if len(_body(table)) > PAGE else _float(table)


def _float(table: Table) -> str:
    heads, widths = _heads(table)
    tabular = [f"\\begin{{tabular}}{{l{_alignments(table)}}}", *_rows(table, heads), r"\bottomrule", r"\end{tabular}"]
    tabular = [FITTED, *tabular, "}"] if sum(widths) > WIDE else tabular
    caption = [f"\\caption{{{latex_text(table.title)}}}", r"\smallskip"] if table.title else []
    note = ["", r"\smallskip", _note(table)] if table.note else []
    name = "table*" if sum(widths) > WIDEST else "table"  # with the star over both columns of a page, if it has two
    return "\n".join([f"\\begin{{{name}}}", r"\centering", *caption, *tabular, *note, f"\\end{{{name}}}"])


def _long(table: Table) -> str:
    """A table over pages; if they are too narrow, its first column is broken and the others are shared out."""
    heads, (first, *others) = _heads(table)
    fits = (each for each in LONG_SIZES if each[1] * sum((first, *others)) + each[2] * len(heads) <= LINE)
    size, character, gap = next(fits, LONG_SIZES[-1])
    room = LINE - character * sum(others) - gap * len(heads)  # for the first column
    parts, column = [[*range(len(heads))]], "l"
    if room < character * first:
        parts = _shared([character * width + gap for width in (min(first, FIRST), *others)])
        column = f"{BROKEN}p{{{max(room, character * min(first, FIRST)):.0f}pt}}"
    written: list[str] = []
    for part in parts:
        shown = _with_columns(table, part)
        title = table.title + (" (continued)" if written and table.title else "")
        caption = [f"\\caption{{{latex_text(title)}}} \\\\"] if title else []
        head, rows = _rows(shown, [heads[index] for index in part])
        begin = r"\addtocounter{table}{-1}" if written else ""
        begin += f"\\begin{{longtable}}{{{column}{_alignments(shown)}}}"
        written += [begin, *caption, head, r"\endhead", rows, r"\bottomrule", r"\end{longtable}"]
    note = [r"\noindent" + _note(table)] if table.note else []
    return "\n".join([f"{{{size}", *written, "}", *note])


def _shared(points: Sequence[float]) -> list[list[int]]:
    """The columns of each part, the first column in all of them, by their widths."""
    parts: list[list[int]] = [[0]]
    for index in range(1, len(points)):
        if len(parts[-1]) > 1 and sum(points[each] for each in (*parts[-1], index)) > LINE:
            parts.append([0])
        parts[-1].append(index)
    return parts


def _with_columns(table: Table, columns: Sequence[int]) -> Table:
    def kept(line: Cells) -> Cells:
        return tuple(line[index] for index in columns if index < len(line))

    groups = tuple(Group(tuple(map(kept, each.lines)), kept(each.head)) for each in table.groups)
    return replace(table, heads=tuple(table.heads[index] for index in columns), groups=groups)


def _heads(table: Table) -> tuple[list[list[str]], list[int]]:
    """The lines of each head, which is broken if the table is wide, and the characters of each column."""
    n = len(table.heads)
    body = [[as_cell(cell) for cell in _filled(line, n)] for line in _body(table) if len(line) > 1]
    cells = [max((len(f"{line[index].text}{line[index].detail}") for line in body), default=0) for index in range(n)]
    is_wide = sum(map(max, cells, map(len, table.heads))) > WIDE
    limits = [max(cell, HEAD) if is_wide else len(head) + 1 for cell, head in zip(cells, table.heads, strict=True)]
    heads = [
        wrap(re.sub(" (?=[↑↓])", "\N{NO-BREAK SPACE}", head), limit, break_long_words=False, break_on_hyphens=False)
        for head, limit in zip(table.heads, limits, strict=True)
    ]
    return heads, [max(cell, *map(len, lines), 0) for cell, lines in zip(cells, heads, strict=True)]


def _rows(table: Table, heads: Sequence[Sequence[str]]) -> tuple[str, str]:
    """The head and the body of a table."""
    stacked = []
    for lines, end in zip(heads, "l" + _alignments(table), strict=True):
        written = r" \\ ".join(map(latex_text, lines))
        stacked.append(f"\\shortstack[{end}]{{{written}}}" if len(lines) > 1 else written)
    groups = ["\n".join(_latex_line(line, len(heads)) for line in group.every_line) for group in table.groups]
    head = "\n".join([r"\toprule", " & ".join(stacked) + r" \\", r"\midrule"])
    return head, "\n\\addlinespace\n".join(groups)


def _alignments(table: Table) -> str:
    """Of the columns behind the first: numbers on the right, words on the left."""
    body = _body(table)
    return "".join("r" if _is_numeric(body, index) else "l" for index in range(1, len(table.heads)))


def _note(table: Table) -> str:
    return f"\\parbox{{\\linewidth}}{{\\footnotesize {latex_text(table.note)}}}"


def _latex_line(line: Cells, n_columns: int) -> str:
    """A line; its first cell must not be taken for an argument of the line break before it."""
    first, *others = (_latex_cell(as_cell(cell)) for cell in line)
    if first.startswith(("[", "*")):
        first = "{}" + first
    if not any(others):
        return f"\\multicolumn{{{n_columns}}}{{l}}{{{first}}} \\\\*"
    if as_cell(line[0]).text.startswith("  "):
        first = rf"\quad {first}"
    return " & ".join(_filled((first, *others), n_columns)) + r" \\"  # type: ignore[arg-type]


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    detail = f"{{\\scriptsize {latex_text(cell.detail)}}}" if cell.detail else ""
    return " ".join(filter(None, [f"\\textbf{{{text}}}" if text and cell.is_strong else text, detail]))


def latex_text(text: str) -> str:
    """A text on one line with LaTeX's own characters written out."""
    plain = re.sub(r'(?<![^\s(\[{])"(?=\S)', "“", _plain(text))  # a straight one that opens a quotation
    return "".join(LATEX.get(sign, sign) for sign in re.sub("-(?=-)", f"-{APART}", plain))


WRITERS: Mapping[str, Callable[[Iterable[Part]], str]] = {"markdown": markdown, "latex": latex}
