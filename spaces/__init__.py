"""Browser side of rrgmetrics; installed as `rrgmetrics.spaces` (extra `spaces`)."""

from rrgmetrics.spaces.ui import metric_space

__all__ = ["metric_space"]
