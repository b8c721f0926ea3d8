"""Folds parts of a card, so that the rest is read in two minutes."""


def folded(summary: str, text: str) -> str:
    """Returns Markdown that shows only a summary until a reader opens it.

    Args:
        summary: The line that is always shown.
        text: Markdown; the blank lines around it are what makes it Markdown in HTML.
    """
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"
