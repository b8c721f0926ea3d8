"""The page of the Space."""

from rrgmetrics.spaces.compare import launch

launch()
