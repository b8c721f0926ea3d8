"""Writes what follows from the table of metrics and from what was measured of them.

Modules' scripts, facts on cards, demos, README's table, packages, and the page `docs/which_metric.md`.

    python scripts/make_cards.py   # or: make cards

Nothing changes where everything is as the table says; `tests/contract/test_folders.py` fails where it is not.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rrgmetrics import cards
from rrgmetrics.errors import InputError
from rrgmetrics.present.evidence import page_markdown
from rrgmetrics.specs import SPECS, MetricSpec
from rrgmetrics.version import VERSION

ROOT = Path(__file__).parents[1]


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
    for name, refresh in (("README.md", with_table), ("setup.cfg", with_packages)):
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


def with_table(readme: str) -> str:
    """README.md with the table of metrics."""
    rows = [
        (f"[`{spec.name}`](metrics/{spec.name}/README.md)", spec.summary, spec.configs["default"].help, published(spec))
        for spec in SPECS.values()
    ]
    head = ("metric", "what it compares", "bundled", "published settings")
    return cards.replace_block(readme, "metrics", "\n".join(cards.table(head, rows)))


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
