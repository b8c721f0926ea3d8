"""The architecture as drawings that follow from the code: HTML, so that they follow the reader's screen and colours."""

from __future__ import annotations

import ast
import html
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULES = ROOT / "tests" / "contract" / "test_imports.py"  # ROOMS: what may import what
BANDS: Mapping[str, tuple[float, str]] = {  # up to which number of ROOMS; what the band is for
    "Ground": (2, "words, facts, checked texts; no model, no number"),
    "Reading": (5, "texts become findings, labels, graphs, vectors, verdicts"),
    "Scores": (8, "statistics of pairs; scores, intervals and tests from their sums"),
    "Running": (10.5, "metrics made ready; each text read once; parts of a job"),
    "Evidence and learning": (12.5, "what a score is worth, and models that learn"),
    "Faces": (15, "what a user or another library calls"),
}
OUTER = {"metrics": "metrics", "callbacks": "callbacks", "spaces": "spaces"}
STEPS = (  # what the data is; where it is made; what happens there
    ("predictions, references", "", "two lists, a file, a pattern, a table of any library, a data set on the Hub"),
    ("pairs", "reports.check_pairs", "one place for lengths, None and types; an error names the index"),
    ("pairs in scope", "gate", "a reference that is no English report of the chest is set apart, with the reason"),
    (
        "annotations",
        "reader · backends · judges",
        "findings, labels, graphs, vectors or verdicts; each distinct text is read once",
    ),
    ("statistics of pairs", "scorers · pair_stats", "a row a pair; NaN is unscored, and counted"),
    (
        "scores",
        "scorers · reduce",
        "a function of the column sums, so of any subset: intervals, tests and slices are exact",
    ),
    ("Result", "results", "scores, values per pair, reasons, and the signature of what ran"),
)
FACES = (
    ("hub", "evaluate's dict"),
    ("cli · present", "tables, pages, files"),
    ("callbacks", "eval_… keys, rewards"),
    ("spaces", "pages, leaderboard, rating"),
    ("integrations", "other harnesses"),
    ("metaeval", "agreement with radiologists"),
)


def numbers() -> dict[str, float]:
    """The rooms and their numbers, from the test that holds imports to them."""
    for node in ast.parse(RULES.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ROOMS":
            return {name: number for name, number in ast.literal_eval(node.value).items() if not name.startswith("__")}
    raise LookupError(f"{RULES} has no ROOMS.")


def bands() -> Iterator[tuple[str, str, list[str]]]:
    """Each band with what it is for and its rooms, lowest first."""
    low = float("-inf")
    rooms = sorted(numbers().items(), key=lambda item: (item[1], item[0]))
    for title, (high, about) in BANDS.items():
        yield title, about, [name for name, number in rooms if low < number <= high]
        low = high
    yield "Outside the core", "installed under the package's name; the core does not know them", list(OUTER)


def rooms() -> str:
    """The rooms, highest band first: what stands above imports what stands below."""
    rows = []
    for title, about, names in reversed(list(bands())):
        chips = "".join(f'<li title="{html.escape(summary_of(name))}"><code>{name}</code></li>' for name in names)
        rows.append(f'<div class="rg-band"><p><strong>{title}</strong><br>{about}</p><ul>{chips}</ul></div>')
    label = "The rooms of the package in bands; imports run downwards"
    return f'<div class="rg-rooms" role="group" aria-label="{label}">{"".join(rows)}</div>'


def room_table() -> str:
    """Each room with the first line of its docstring, band by band."""
    parts = []
    for title, _, names in bands():
        lines = [f"| `{name}` | {summary_of(name)} |" for name in names]
        parts.append(f"### {title}\n\n" + "\n".join(["| room | what it is |", "|---|---|", *lines]))
    return "\n\n".join(parts)


def data() -> str:
    """The way of the data, from what a user hands over to the faces."""
    steps = "".join(
        f"<li><strong>{what}</strong>{f'<code>{where}</code>' if where else ''}<span>{how}</span></li>"
        for what, where, how in STEPS
    )
    faces = "".join(f"<li><code>{room}</code><span>{what}</span></li>" for room, what in FACES)
    return f'<ol class="rg-way">{steps}</ol>\n<ul class="rg-faces">{faces}</ul>'


def summary_of(room: str) -> str:
    """The first line of a room's docstring."""
    base = ROOT / room if room in OUTER else ROOT / "rrgmetrics" / room
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(said.split("\n\n")[0].split()).rstrip(".")
