"""The call that a page has just made, in Python and for a shell, with its inputs filled in.

Reports are quoted by `repr` and, for the shell, as one line of JSON in a here-document that expands nothing; file names
by `shlex.quote`. Nothing that a report or a name holds can end the text it stands in.
"""

from __future__ import annotations

import json
import re
import shlex

from rrgmetrics.reports import Pair
from rrgmetrics.spaces.controls import without_words
from rrgmetrics.specs.names import parse_name


def python_pair(name: str, pair: Pair) -> str:
    """Python that scores a pair with a metric of this name."""
    context = _context(name, pair)
    lines = [
        "import rrgmetrics",
        "",
        "results = rrgmetrics.score(",
        f"    {name!r},",
        f"    predictions=[{pair.candidate!r}],",
        f"    references=[{pair.reference!r}],",
        *([f"    contexts=[{context!r}],"] if context else ()),
        ")",
        f"print(results[{name!r}].scores)",
        *([f"print(results[{name!r}].details)"] if name != without_words(name) else ()),
    ]
    return "\n".join(lines)


def shell_pair(name: str, pair: Pair) -> str:
    """Shell commands that score a pair with a metric of this name."""
    row = {"reference": pair.reference, "candidate": pair.candidate, **_context(name, pair)}
    return "\n".join(
        (
            "cat > pair.jsonl <<'END'",
            json.dumps(row, ensure_ascii=False),
            "END",
            f"rrgmetrics score pair.jsonl --metrics {shlex.quote(without_words(name))}",
        )
    )


def python_file(name: str, file: str) -> str:
    """Python that scores a file of pairs with a metric of this name."""
    asked = without_words(name)
    return "\n".join(
        (
            "import rrgmetrics",
            "from rrgmetrics import files",
            "",
            f"studies = files.read_pairs({file!r})",
            "results = rrgmetrics.score(",
            f"    {asked!r}, predictions=studies.candidates, references=studies.references,",
            "    contexts=studies.contexts,",
            ")",
            f"print(results[{asked!r}].scores)",
        )
    )


def shell_file(name: str, file: str) -> str:
    """Shell command that scores a file of pairs with a metric of this name."""
    quoted, asked = (shlex.quote(word) for word in (f"./{file}" if file.startswith("-") else file, without_words(name)))
    return f"rrgmetrics score {quoted} --metrics {asked} --output scores.csv --html report.html"


def markdown(python: str, shell: str) -> str:
    """Both as Markdown; a fence is longer than any run of backticks within."""
    parts = []
    for title, language, code in (("In Python", "python", python), ("On the command line", "bash", shell)):
        longest = max((len(run) for run in re.findall("`+", code)), default=0)
        fence = "`" * max(3, longest + 1)
        parts.append(f"{title}:\n\n{fence}{language}\n{code}\n{fence}")
    return "\n\n".join(parts)


def _context(name: str, pair: Pair) -> dict[str, str | float]:
    """What is known of the patient, if it can change the score."""
    takes = parse_name(name).spec.takes_context
    return {key: value for key, value in pair.context._asdict().items() if value} if takes else {}
