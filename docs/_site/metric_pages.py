"""A page a metric, from its card, and the table of all of them."""

from __future__ import annotations

import re

import repository

from rrgmetrics.metaeval import advice
from rrgmetrics.reporting.numbers import figure
from rrgmetrics.reporting.short import NOTHING, span
from rrgmetrics.specs import SPECS, MetricSpec
from rrgmetrics.specs.names import parse_name

GROUPS = {  # by what they read; a metric that is in none stands among the others
    "Findings and errors": ("finding_errors", "finding_score", "crepe", "radcliq", "temporal_f1"),
    "Asked of a judge": ("green", "crimson", "chexprompt", "fineradscore", "radfact"),
    "Labels and graphs": ("chexbert_f1", "srr_bert_f1", "f1_radbert_ct", "radgraph_f1", "ratescore"),
    "Wording and vectors": ("bleu", "rouge", "meteor", "cider", "bertscore", "radeval_bertscore", "semb_score"),
}


def groups() -> dict[str, list[str]]:
    """The metrics by group; those of no group last."""
    known = {title: [name for name in names if name in SPECS] for title, names in GROUPS.items()}
    rest = [name for name in SPECS if not any(name in names for names in known.values())]
    return {**known, **({"Others": rest} if rest else {})}


def navigation() -> list[str | dict[str, list[str]]]:
    """The metrics' part of the navigation."""
    return [
        "metrics/index.md",
        *({title: [f"metrics/{name}.md" for name in names]} for title, names in groups().items()),
    ]


def pages() -> dict[str, str]:
    """The page of each metric by its place."""
    return {f"metrics/{name}.md": page_of(spec) for name, spec in SPECS.items()}


def page_of(spec: MetricSpec) -> str:
    """A metric's card, under the metric's title."""
    card = repository.page_of(f"metrics/{spec.name}/README.md")
    title = parse_name(spec.name).title
    body = re.sub(r"\A\s*# [^\n]*\n", "", card).replace("<details>", '<details markdown="1">')
    head = f"---\ntitle: {title.removesuffix(' (bundled)')}\n---\n\n# {title}"
    return f"{head}\n\n`{spec.name}`: {spec.summary}\n\n{body}"


def table() -> str:
    """All metrics: what they compare, how far they agree with radiologists, and what they cost."""
    parts = []
    for title, names in groups().items():
        lines = ["| metric | what it compares | agreement | seconds | published as |", "|---|---|---:|---:|---|"]
        lines += [_line(SPECS[name]) for name in names]
        parts.append(f"## {title}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _line(spec: MetricSpec) -> str:
    tau = span(each.value.value for each in advice.main_agreements(spec.name)) or NOTHING
    cost = advice.seconds(spec.name)
    seconds = figure(cost.values["seconds"].value, 1) if cost else NOTHING
    named = ", ".join(f"`{spec.name}@{name}`" for name in spec.configs if name not in ("default", "reader"))
    published = named or ("any judge" if spec.judge else NOTHING)
    name = f"[{parse_name(spec.name).title}]({spec.name}.md)"
    return f"| {name} | {spec.summary} | {tau} | {seconds} | {published} |"
