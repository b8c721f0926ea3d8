"""The rating Space: radiologists count errors in candidates, rate them and choose between them, blind to the source.

    >>> from rrgmetrics.spaces.rating import open_project                    # doctest: +SKIP
    >>> open_project("project.sqlite").export_ratings("ratings.csv")         # doctest: +SKIP

Modules: `conventions` (how errors are counted, in words), `table` (what is rated, and its checks), `schema` (tables),
`answers` (what a rater says of one item), `project` (all of it behind one class), `export` (tables for `agree`),
`forms` (spreadsheets for raters without a server), `app` (the web page), `demo`, `commands`.
"""

from rrgmetrics.errors import MissingExtraError
from rrgmetrics.utils.extras import install_command

try:
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise MissingExtraError(f"The rating Space needs SQLAlchemy: {install_command('spaces')}") from error

from rrgmetrics.spaces.rating.project import NewProject, Project, create_project, open_project

__all__ = ["NewProject", "Project", "create_project", "open_project"]
