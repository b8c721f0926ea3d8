"""The page of the Space: the board that RRGMETRICS_BOARD names, or one of invented studies."""

from rrgmetrics.spaces.serving import serve_board

serve_board()
