"""Tables on terminals of every width: no number is cut, no name is broken."""

from __future__ import annotations

import pytest
from rich.console import Console
from screens import check_table

from rrgmetrics.reporting.tables import Cell, Group, Table

WIDTHS = [*range(60, 202, 3)]
SYSTEMS = ("system_a", "retrieval-augmented_v2.1", "ablation/no-images")
METRICS = ("Finding errors ↓", "CheXbert F1 micro-14 (bundled) ↑", "RadEval-BERTScore F1 (bundled) ↑")


def estimate(n: int, style: str = "") -> Cell:
    return Cell(f"−{n}.{n}67†", style, detail=f"[−{n}.271, +1{n}.981]")


def of_tests(unscored: bool) -> Table:
    """As `compare` draws it."""
    last = ("12",) if unscored else ()
    groups = [
        Group(
            (
                (f"  {SYSTEMS[0]}", estimate(1), "", "", "", *last),
                *(
                    (f"  {name}", estimate(2, "strong"), estimate(3, "worse"), "≤ 0.0023 (floor)", "−1.34", *last)
                    for name in SYSTEMS[1:]
                ),
            ),
            (Cell(metric, "strong"),),
        )
        for metric in METRICS
    ]
    heads = ("", "value [95% interval]", "difference", "p", "effect", *(["unscored"] if unscored else []))
    return Table(heads, tuple(groups), title="984 studies", note="A note of many words. " * 9)


def of_a_paper(n_systems: int) -> Table:
    """As `compare --table` has it: a column a system."""
    systems = [f"{SYSTEMS[number % 3]}_{number}" for number in range(n_systems)]
    lines = tuple((metric, *(estimate(number) for number in range(n_systems))) for metric in METRICS)
    return Table(("", *systems), (Group(lines),), title="Scores")


def of_judges() -> Table:
    """As a dry run has it: a column a judge, words and numbers in its cells."""
    judges = (
        "green, openai:gpt-4o",
        "crimson, openai:gpt-4o",
        "chexprompt, vllm:Qwen/Qwen3-32B",
        "radfact, openai:gpt-4o",
    )
    lines = (("prompts", *["1,234,567"] * 4), ("tokens answered", *["at most 409,600,000"] * 4))
    return Table(("", *judges), (Group(lines),), broken=frozenset({0, 1, 2, 3, 4}))


TABLES = {
    "tests": of_tests(False),
    "tests, unscored": of_tests(True),
    **{f"paper, {n} systems": of_a_paper(n) for n in (1, 2, 3, 9)},
    "judges": of_judges(),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_or_broken_at_any_width(name: str, width: int) -> None:
    check_table(TABLES[name], width)


@pytest.mark.parametrize("width", [200, 120, 80])
def test_a_long_name_in_a_head_is_broken_before_its_parts_and_never_cut(width: int) -> None:
    name = "green@openai:some-long-model-name-70b?base_url=http://gpu:8000/v1&concurrency=8"
    table = Table(("GREEN: Errors", name, "crepe@paper"), (Group((("ours", "0.123 [0.100, 0.140]", "1.20"),)),))
    console = Console(width=width)
    with console.capture() as shown:
        console.print(table)
    heads = shown.get().partition("─")[0]
    assert len(heads.splitlines()) > 2
    assert "".join(line[15:56].strip() for line in heads.splitlines()).replace("crepe@paper", "") == name
    assert max(map(len, heads.splitlines())) <= 70
    assert heads.startswith("GREEN: Errors  green@openai")
