"""The page of the Space: the rating project that RRGMETRICS_RATING names, or one of invented reports."""

from rrgmetrics.spaces.serving import serve_rating

serve_rating()
