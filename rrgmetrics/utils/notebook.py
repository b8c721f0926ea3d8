"""Lets results, comparisons and explanations draw themselves in notebooks.

A notebook asks an object for its HTML (`_repr_html_`). `rrgmetrics.reporting` draws it, and imports
the classes that it draws; so it is imported only when a notebook asks.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def exported(value: Any, form: str) -> str:
    """A Result or a comparison of systems as LaTeX, Markdown, HTML or JSON."""
    text: str = import_module("rrgmetrics.reporting.exports").exported(value, form)
    return text


def drawn(value: Any) -> str:
    """The HTML of a Result, a comparison of systems or an explanation, for a notebook."""
    html: str = import_module("rrgmetrics.reporting.notebook").html(value)
    return html
