"""Writes what follows from the table of metrics and from what was measured of them.

Modules' scripts, facts on cards, demos, README's tables, packages, and the page `docs/which_metric.md`.

    python scripts/make_cards.py   # or: make cards

Nothing changes where everything is as the table says; `tests/contract/test_folders.py` fails where it is not.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import advice
from rrgmetrics.metaeval.measured import measured_sets
from rrgmetrics.reporting import cards
from rrgmetrics.reporting.documents import markdown
from rrgmetrics.reporting.evidence import UNASKED, is_unasked, name_of, page_markdown, ranked_table, versions
from rrgmetrics.reporting.numbers import figure
from rrgmetrics.reporting.short import NOTHING, span
from rrgmetrics.scoring.scope_filter import reports_read
from rrgmetrics.specs import SPECS, MetricSpec
from rrgmetrics.utils.text_format import listed
from rrgmetrics.version import VERSION

ROOT = Path(__file__).parents[1]
IN_PAPERS = ("radgraph_f1", "green", "radcliq", "ratescore", "chexbert_f1", "bertscore", "rouge", "bleu")
OURS = ("finding_errors", "crepe")


def main() -> int:
    """Writes, and prints the files that were changed; returns the exit status."""
    try:
        for path in written():
            print(path.relative_to(ROOT))
    except InputError as error:
        print(f"make_cards: {error}", file=sys.stderr)
        return 2
    return 0


def written(root: Path = ROOT) -> list[Path]:
    """Writes every file that has gone apart from the table; returns these files."""
    changed = []
    for spec in SPECS.values():
        folder = root / "metrics" / spec.name
        changed += cards.write_folder(folder, spec)
        changed += [folder / name for name, text in demo(spec).items() if cards.write(folder / name, text)]
    for name, refresh in (("README.md", with_tables), ("setup.cfg", with_packages)):
        path = root / name
        changed += [path] if cards.write(path, refresh(path.read_text(encoding="utf-8"))) else []
    page = root / "docs" / "which_metric.md"
    page.parent.mkdir(exist_ok=True)
    return changed + ([page] if cards.write(page, page_markdown(list(SPECS.values()))) else [])


def demo(spec: MetricSpec) -> dict[str, str]:
    """The files that a metric's Space runs."""
    return {
        "app.py": f'from rrgmetrics.spaces import launch\n\nlaunch("{spec.name}")\n',
        "requirements.txt": f"rrgmetrics[spaces]=={VERSION}\n",
    }


def with_tables(readme: str) -> str:
    """README.md with the number of metrics, with what agrees with radiologists, and with the table of metrics."""
    counted = re.sub(r"\b\d+ metrics\b", f"{len(SPECS)} metrics", readme, count=1)
    return cards.replace_block(cards.replace_block(counted, "agreement", agreement()), "metrics", metrics())


def agreement() -> str:
    """The agreement with radiologists of what papers report and of our own, with the data and the day beneath."""
    shown = [SPECS[name] for name in OURS + IN_PAPERS if advice.verdict(name) != "unmeasured"]
    table = replace(ranked_table(shown), title="")
    dates = {row.date for data, _ in advice.main_measures() for row in data.metrics.values()}
    return f"{markdown([table]).strip().removesuffix('.')}, measured on {listed(sorted(dates))}; this is {VERSION}."


def metrics() -> str:
    """All metrics, those first that agree most with radiologists; judges for whom the reader answers below them."""
    rows = []
    ordered = sorted(advice.by_agreement(SPECS.values()), key=is_unasked)
    for before, spec in zip([None, *ordered], ordered, strict=False):
        if is_unasked(spec) and not (before and is_unasked(before)):
            rows.append((f"**{UNASKED}**", "", "", "", ""))
        cost = advice.seconds(spec.name)
        known = advice.verdict(spec.name) != "unmeasured"
        rows.append(
            (
                f"[`{spec.name}`](metrics/{spec.name}/README.md){name_of(spec).removeprefix(spec.name)}",
                spec.summary,
                reports_read(spec),
                spec.paper or "rrgmetrics",
                provider(spec),
                published(spec),
                span(each.value.value for each in advice.main_agreements(spec.name)) if known else NOTHING,
                figure(cost.values["seconds"].value, 1) if cost else NOTHING,
            )
        )
    heads = ("metric and key", "what it compares", "reports", "paper", "bundled", "published settings", "tau-b", "s")
    sets = measured_sets()
    agreed = versions(row for data, _ in advice.main_measures() for row in data.metrics.values())
    timed = versions(sets["cost"].metrics.values())
    note = (
        f"tau-b: agreement of version {agreed} with radiologists, lowest and highest over the data sets ({NOTHING}: "
        f"not measured, or changed since). s: seconds on one CPU core for 1,000 pairs, version {timed}. *: a bundled "
        "stand-in."
    )
    return "\n".join([*cards.table(heads, rows), "", note])


def provider(spec: MetricSpec) -> str:
    """What computes the bundled configuration."""
    return spec.configs["default"].help if "default" in spec.configs else "a model or server that you name"


def published(spec: MetricSpec) -> str:
    """The names under which a metric runs as it was published."""
    if not spec.stand_in:
        return f"`{spec.name}`" if spec.headline.aliases else "none: our own"
    named = [f"`{spec.name}@{name}`" for name in spec.configs if name not in ("default", "reader")]
    yours = ["any model or server"] if spec.judge else ["a Hub id or path"] if spec.checkpoint else []
    return ", ".join([*named, *yours])


def with_packages(setup: str) -> str:
    """setup.cfg with a package for each metric's folder."""
    lines = "".join(f"    rrgmetrics.metrics.{name}\n" for name in sorted(SPECS))
    return re.sub(r"(    rrgmetrics\.metrics\.\w+\n)+", lines, setup, count=1)


if __name__ == "__main__":
    sys.exit(main())
