"""The compare Space: scores the same reports with all metrics and shows which of two candidates each prefers."""

from rrgmetrics.spaces.compare.page import compare_space, launch

__all__ = ["compare_space", "launch"]
