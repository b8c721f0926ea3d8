"""The leaderboard: scoring of submissions against hidden references.

    >>> from rrgmetrics.spaces.leaderboard import open_board  # doctest: +SKIP
    >>> open_board("board.sqlite").standings().systems        # doctest: +SKIP

Modules: `model` (what the board answers with), `schema` (tables), `references` and `submissions` (what is read, and
its checks), `registry` (submissions as rows),
`quotas` (who may send how much), `scoring` (statistics of pairs), `jobs` and `worker`
(the queue), `standings` (ranks, intervals, tests), `details` (one system, or two), `shown` (numbers as they leave),
`creation`, `board` (all of it behind one class), `export`, `commands`. The web page (`app`, `handlers`, `pages`) is one
more user of `board`. Shared with other Spaces: `spaces.database` (transactions), `spaces.access` (tokens, limits) and
`spaces.identity` (when names are one).
"""

from rrgmetrics.errors import MissingExtraError
from rrgmetrics.utils.extras import install_command

try:
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise MissingExtraError(f"The leaderboard needs SQLAlchemy: {install_command('spaces')}") from error

from rrgmetrics.spaces.leaderboard.board import Board, open_board
from rrgmetrics.spaces.leaderboard.creation import NewBoard, create_board

__all__ = ["Board", "NewBoard", "create_board", "open_board"]
