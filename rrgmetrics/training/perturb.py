"""Deprecated: this module has moved to `rrgmetrics.synthesis.edits.perturb`."""

from rrgmetrics.training.moved import moved

__getattr__ = moved(__name__, "rrgmetrics.synthesis.edits.perturb")
