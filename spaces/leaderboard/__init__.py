"""The leaderboard: scoring of submissions against references that submitters never see.

    >>> from rrgmetrics.spaces.leaderboard import open_board  # doctest: +SKIP
    >>> open_board("board.sqlite").standings().systems        # doctest: +SKIP

Rooms: `model` (what the board answers with), `schema` and `store` (tables, transactions), `submissions` (checks),
`slices` (groups of studies), `scoring` (intervals, tests), `worker` (the queue), `board` (all of it behind one class),
`export`, `commands`. The web page is one more user of `board`.
"""

from rrgmetrics.spaces.leaderboard.board import Board, create_board, open_board

__all__ = ["Board", "create_board", "open_board"]
