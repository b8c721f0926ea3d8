"""Draws the architecture from the code: as mermaid in ARCHITECTURE.md, for GitHub, and as HTML on the site.

`python docs/_site/drawing.py` writes the drawings into ARCHITECTURE.md.
"""

from __future__ import annotations

import ast
import html
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rrgmetrics.reading import pipeline
from rrgmetrics.reading.pipeline import Step

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
OUTER = ("metrics", "callbacks", "spaces")  # folders beside rrgmetrics/, installed under its name
STEPS = (  # what the data is; where it is made; what happens there
    ("predictions, references", "", "two lists, a file, a pattern, a table of any library, a data set on the Hub"),
    ("pairs", "reports.check_pairs", "lengths, None and types are checked once; an error names the index"),
    ("clean statements", "reports.cleaning", "tokens, tags and layout go; positions in the given text are kept"),
    (
        "pairs in scope",
        "scoring.scope_filter",
        "references that are no English chest reports are unscored",
    ),
    (
        "annotations",
        "reading · backends · judges",
        "findings, labels, graphs, vectors, verdicts; each text once",
    ),
    ("statistics of pairs", "scorers · pair_stats", "a row a pair; NaN is unscored, and counted"),
    ("scores", "scorers · reduce", "a function of the column sums, so of any subset: intervals and tests are exact"),
    ("Result", "scoring.results", "scores, values per pair, reasons, and the signature of what ran"),
)
USES = (
    ("scoring.hub", "evaluate's dict"),
    ("cli · reporting", "tables, pages, files"),
    ("callbacks", "eval_… keys, rewards"),
    ("spaces", "pages, leaderboard, rating"),
    ("integrations", "other harnesses"),
    ("metaeval", "agreement with radiologists"),
)


def layers() -> list[list[str]]:
    """The packages of each layer, highest first, as pyproject.toml states them for import-linter."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contract = next(contract for contract in settings["contracts"] if contract["type"] == "layers")
    return [layer.split(" | ") for layer in contract["layers"]]


def summary_of(package: str) -> str:
    """The first sentence of a package's docstring."""
    base = ROOT / package if package in OUTER else ROOT / "rrgmetrics" / package
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split()).rstrip(".")


def layers_as_mermaid() -> str:
    """The layers from top to bottom; an arrow is an import."""
    rows = [OUTER, *layers()]
    nodes = [f'    L{n}["{" · ".join(row)}"]' for n, row in enumerate(rows)]
    return _fenced("flowchart TB", *nodes, "    " + " --> ".join(f"L{n}" for n in range(len(rows))))


def data_as_mermaid() -> str:
    """The steps of the data, from what a user passes to what comes back."""
    nodes = [f'    D{n}["{what}{f"<br><i>{where}</i>" if where else ""}"]' for n, (what, where, _) in enumerate(STEPS)]
    ends = [f'    U{n}["{where}<br><i>{what}</i>"]' for n, (where, what) in enumerate(USES)]
    chain = "    " + " --> ".join(f"D{n}" for n in range(len(STEPS)))
    fan = f"    D{len(STEPS) - 1} --> " + " & ".join(f"U{n}" for n in range(len(USES)))
    return _fenced("flowchart TB", *nodes, *ends, chain, fan)


def _stages() -> Mapping[str, Sequence[Step]]:
    return {
        "words → items": pipeline.ITEMS,
        "items → mentions": pipeline.MENTIONS,
        "present, absent or uncertain": pipeline.ASSERTION,
        "described by words around it": pipeline.DESCRIPTION,
        "values, and what it says of other statements": pipeline.STATEMENT,
    }


def pipeline_as_mermaid() -> str:
    """The stages that read a statement, each with its steps in order."""
    stages = _stages().items()
    nodes = [
        f'    P{n}["<b>{title}</b><br>{"<br>".join(step.run.__name__ for step in steps)}"]'
        for n, (title, steps) in enumerate(stages)
    ]
    return _fenced("flowchart LR", *nodes, "    " + " --> ".join(f"P{n}" for n in range(len(stages))))


def pipeline_as_table() -> str:
    """The steps in order: what each does, and what it writes."""
    rows = ["| step | what it does | writes |", "|---|---|---|"]
    for title, steps in _stages().items():
        rows.append(f"| **{title}** | | |")
        for step in steps:
            summary = " ".join((step.run.__doc__ or "").split("\n\n")[0].split()).replace("|", "\\|")
            writes = ", ".join(f"`{name}`" for name in (step.makes, *step.writes) if name)
            rows.append(f"| `{step.run.__name__}` | {summary} | {writes} |")
    return "\n".join(rows)


def _fenced(*lines: str) -> str:
    return "\n".join(["```mermaid", *lines, "```"])


def packages_table() -> str:
    """Each package with the first sentence of its docstring, lowest layer first."""
    rows = [f"| `{name}` | {summary_of(name)} |" for layer in (*reversed(layers()), OUTER) for name in layer]
    return "\n".join(["| package | what it is |", "|---|---|", *rows])


def layers_as_html() -> str:
    """The layers as on GitHub, in the reader's colours."""
    rows = []
    for row in (OUTER, *layers()):
        chips = "".join(f'<li title="{html.escape(summary_of(name))}"><code>{name}</code></li>' for name in row)
        rows.append(f"<li><ul>{chips}</ul></li>")
    return f'<ol class="rg-layers" aria-label="Layers; a package imports from those below it">{"".join(rows)}</ol>'


def data_as_html() -> str:
    """The steps of the data with what happens at each."""
    steps = "".join(
        f"<li><strong>{what}</strong>{f'<code>{where}</code>' if where else ''}<span>{how}</span></li>"
        for what, where, how in STEPS
    )
    uses = "".join(f"<li><code>{where}</code><span>{what}</span></li>" for where, what in USES)
    return f'<ol class="rg-way">{steps}</ol>\n<ul class="rg-uses">{uses}</ul>'


ON_GITHUB: Mapping[str, Callable[[], str]] = {
    "data": data_as_mermaid,
    "layers": layers_as_mermaid,
    "packages": packages_table,
    "pipeline": pipeline_as_mermaid,
}
ON_SITE: Mapping[str, Callable[[], str]] = {
    "data": data_as_html,
    "layers": layers_as_html,
    "packages": packages_table,
    "pipeline": pipeline_as_table,
}


def filled(page: str, drawings: Mapping[str, Callable[[], str]]) -> str:
    """Returns a page with each part between `<!-- name -->` and `<!-- /name -->` drawn anew."""
    for name, draw in drawings.items():
        before, opening, rest = page.partition(f"<!-- {name} -->\n")
        if opening:
            _, closing, after = rest.partition(f"<!-- /{name} -->")
            page = f"{before}{opening}\n{draw()}\n\n{closing}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), ON_GITHUB), encoding="utf-8")
