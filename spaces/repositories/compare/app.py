"""The page of the Space."""

from rrgmetrics.spaces.compare import compare_space

compare_space().launch()
