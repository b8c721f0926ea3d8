"""The call that a page has just made, in Python and for a shell, with its inputs filled in.

Reports are quoted by `repr` and, for the shell, as one line of JSON in a here-document that expands nothing; file names
by `shlex.quote`. Nothing that a report or a name holds can end the text it stands in.
"""

from __future__ import annotations

import json
import re
import shlex

from rrgmetrics.reports import Pair
from rrgmetrics.specs import MetricSpec


def python_pair(spec: MetricSpec, pair: Pair) -> str:
    """Python that scores a pair."""
    name = explained(spec)
    context = _context(spec, pair)
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
        *([f"print(results[{name!r}].details)"] if name != spec.name else ()),
    ]
    return "\n".join(lines)


def shell_pair(spec: MetricSpec, pair: Pair) -> str:
    """Shell commands that score a pair."""
    row = {"reference": pair.reference, "candidate": pair.candidate, **_context(spec, pair)}
    return "\n".join(
        (
            "cat > pair.jsonl <<'END'",
            json.dumps(row, ensure_ascii=False),
            "END",
            f"rrgmetrics score pair.jsonl --metrics {spec.name}",
        )
    )


def python_file(spec: MetricSpec, name: str) -> str:
    """Python that scores a file of pairs."""
    return "\n".join(
        (
            "import rrgmetrics",
            "from rrgmetrics import files",
            "",
            f"studies = files.read_pairs({name!r})",
            "results = rrgmetrics.score(",
            f"    {spec.name!r}, predictions=studies.candidates, references=studies.references,",
            "    contexts=studies.contexts,",
            ")",
            f"print(results[{spec.name!r}].scores)",
        )
    )


def shell_file(spec: MetricSpec, name: str) -> str:
    """Shell command that scores a file of pairs."""
    quoted = shlex.quote(f"./{name}" if name.startswith("-") else name)
    return f"rrgmetrics score {quoted} --metrics {spec.name} --output scores.csv --html report.html"


def markdown(python: str, shell: str) -> str:
    """Both as Markdown; a fence is longer than any run of backticks within."""
    parts = []
    for title, language, code in (("In Python", "python", python), ("On the command line", "bash", shell)):
        longest = max((len(run) for run in re.findall("`+", code)), default=0)
        fence = "`" * max(3, longest + 1)
        parts.append(f"{title}:\n\n{fence}{language}\n{code}\n{fence}")
    return "\n\n".join(parts)


def explained(spec: MetricSpec) -> str:
    """The metric's name, asking for words where it has some."""
    return f"{spec.name}?explain=yes" if "explain" in spec.options else spec.name


def _context(spec: MetricSpec, pair: Pair) -> dict[str, str | float]:
    """What is known of the patient, if it can change the score."""
    return {key: value for key, value in pair.context._asdict().items() if value} if spec.takes_context else {}
