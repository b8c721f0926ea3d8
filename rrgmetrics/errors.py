"""The exceptions of rrgmetrics. Every message says what is wrong, where, and what to do."""

from __future__ import annotations


class InputError(ValueError):
    """The caller's texts, files, names or options are not usable; nothing was scored."""


class MissingExtraError(ImportError):
    """A metric needs an optional dependency that is not installed; the message holds the command."""


class BackendError(RuntimeError):
    """A model, its weights or its data could not be found or loaded; the message says which and how to get it."""


class VerdictError(ValueError):
    """A judge's reply could not be read as a verdict. The pair is unscored (NaN), never 0."""
