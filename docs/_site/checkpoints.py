"""What is verified of the published checkpoints, as a page."""

from __future__ import annotations

from rrgmetrics.doctor.needs import needs
from rrgmetrics.doctor.verified import BASES, PROPERTIES, Verified, verified


def page() -> str:
    """The table of how each property of each checkpoint is verified, and a section a checkpoint."""
    rows = verified().values()
    head = f"| checkpoint | {' | '.join(PROPERTIES)} |\n|{'---|' * (len(PROPERTIES) + 1)}"
    table = [head, *(f"| {row.checkpoint} | {' | '.join(map(row.basis, PROPERTIES))} |" for row in rows)]
    return "\n\n".join(["\n".join(table), *map(section, rows)])


def section(row: Verified) -> str:
    """What is known of a checkpoint, a line a property."""
    used = [f"`{name}`" for need in needs() if need.name == row.checkpoint for name in need.configurations]
    about = [f"Loaded by {', '.join(used)}."] if used else []
    about += [f"Read on [its page]({row.source})."] if row.source else ["No public page was read."]
    properties = [(basis, name, what) for basis in BASES for name, what in row.of(basis).items()]
    lines = [f"- {name} ({basis}): {what or 'unknown'}" for basis, name, what in properties]
    lines += [f"- listed there: {', '.join(f'`{file}`' for file in row.files)}"] if row.files else []
    return "\n\n".join([f"## {row.checkpoint}", " ".join(about), "\n".join(lines)])
