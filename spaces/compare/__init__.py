"""The Space for all metrics: the same reports under each of them, and which of two candidates each prefers."""

from rrgmetrics.spaces.compare.page import compare_space, launch

__all__ = ["compare_space", "launch"]
