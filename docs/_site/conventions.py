"""How the rating Space counts errors, from the text that its pages and forms show."""

from __future__ import annotations

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.reporting.kinds import KINDS
from rrgmetrics.spaces.rating.conventions import CATEGORIES, CONVENTIONS, SIGNIFICANT


def page() -> str:
    """The kinds of error, what is significant, and each convention."""
    kinds = "\n".join(
        f"| {category.letter} | {KINDS[category.value].title} | {CATEGORIES[category.letter]} |"
        for category in ErrorCategory
    )
    rules = "\n\n".join(f"**{question}** {answer}" for question, answer in CONVENTIONS.items())
    return f"| | kind | what it is |\n|---|---|---|\n{kinds}\n\n{SIGNIFICANT}\n\n{rules}"
