"""The exceptions of rrgmetrics. Every message says what is wrong, where, and what to do."""

from __future__ import annotations


class InputError(ValueError):
    """Invalid texts, files, names or options; nothing was scored."""


class MissingExtraError(ImportError):
    """A metric needs an optional dependency that is not installed; the message contains the command to install it."""


class BackendError(RuntimeError):
    """A model, its weights or its data could not be found or loaded; the message names it and how to get it."""


class VerdictError(ValueError):
    """A judge's reply could not be parsed as a verdict. The pair is unscored (NaN), never 0."""
