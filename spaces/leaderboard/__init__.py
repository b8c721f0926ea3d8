"""The leaderboard: scoring of submissions against references that submitters never see.

    >>> from rrgmetrics.spaces.leaderboard import open_board  # doctest: +SKIP
    >>> open_board("board.sqlite").standings().systems        # doctest: +SKIP

Rooms: `model` (what the board answers with), `schema` and `store` (tables, transactions), `references` and
`submissions` (what is read, and its checks), `identity` (when names are one), `slices` (groups of studies), `scoring`
(statistics of pairs), `jobs` and `worker` (the queue), `standings` (ranks, intervals, tests), `shown` (numbers as they
leave), `board` (all of it behind one class), `export`, `commands`.
The web page is one more user of `board`.
"""

from rrgmetrics.errors import MissingExtraError

try:
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise MissingExtraError("The leaderboard needs SQLAlchemy: pip install 'rrgmetrics[spaces]'.") from error

from rrgmetrics.spaces.leaderboard.board import Board, NewBoard, create_board, open_board

__all__ = ["Board", "NewBoard", "create_board", "open_board"]
