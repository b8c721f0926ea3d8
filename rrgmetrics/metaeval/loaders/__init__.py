"""Loads data sets rated by radiologists from the user's copy; the package contains none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.equal import Equal
from rrgmetrics.metaeval.loaders.bodyct import load_bodyct
from rrgmetrics.metaeval.loaders.chest2error import load_chest2error, load_chest2error_equal
from rrgmetrics.metaeval.loaders.error_injected import load_error_injected, load_error_injected_equal
from rrgmetrics.metaeval.loaders.fields import TABLES
from rrgmetrics.metaeval.loaders.preferences import load_preferences
from rrgmetrics.metaeval.loaders.radeval_expert import load_radeval_expert
from rrgmetrics.metaeval.loaders.radevalx import load_radevalx
from rrgmetrics.metaeval.loaders.radjudge import load_radjudge
from rrgmetrics.metaeval.loaders.radpref import load_radpref
from rrgmetrics.metaeval.loaders.rate_eval import load_rate_eval
from rrgmetrics.metaeval.loaders.rating import load_rating
from rrgmetrics.metaeval.loaders.refisco import load_refisco
from rrgmetrics.metaeval.loaders.rexerr import load_rexerr
from rrgmetrics.metaeval.loaders.rexval import load_rexval, load_rexval_star
from rrgmetrics.metaeval.loaders.sheet import load_sheet
from rrgmetrics.metaeval.loaders.table import load_table
from rrgmetrics.metaeval.preferences import Preferred
from rrgmetrics.metaeval.ranked import Ranked
from rrgmetrics.metaeval.rated import Rated

Data: TypeAlias = Rated | Ranked | Equal | Preferred
PREFERENCES = "preferences"

PUBLISHED: Mapping[str, Callable[[str], Data]] = {
    "rexval": load_rexval,
    "rexval_star": load_rexval_star,
    "radevalx": load_radevalx,
    "radeval_expert": load_radeval_expert,
    "refisco": load_refisco,
    "radpref": load_radpref,
    "radjudge": load_radjudge,
    "rating": load_rating,
    "rexerr": load_rexerr,
    "chest2error": load_chest2error,
    "radreport_error_injected": load_error_injected,
    "sheet": load_sheet,
}
EQUAL: Mapping[str, Callable[..., Equal]] = {  # pairs that say the same; columns can be named
    "chest2error_equal": load_chest2error_equal,
    "radreport_error_injected_equal": load_error_injected_equal,
}
TABULAR: Mapping[str, Callable[..., Rated]] = {  # not all of their columns are known
    "rate_eval": load_rate_eval,
    "metriceval_bodyct": load_bodyct,
}
NAMES = (*PUBLISHED, *EQUAL, *TABULAR, PREFERENCES)


def load(
    dataset: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    counts: str | Sequence[str] = (),
    ratings: str | Sequence[str] = (),
) -> Data:
    """Reads a data set.

    Args:
        dataset: `NAME:PATH` with a name of `NAMES`, or a table of rated pairs (.csv, .jsonl, .parquet).
        columns: Of a table; see `load_table`. Of a data set of `EQUAL` or `TABULAR` too.
        counts: Of a table.
        ratings: Of a table.

    Raises:
        InputError: No such name or file, or data that cannot be used.
    """
    if not isinstance(dataset, str | Path):
        raise InputError(
            f"dataset is {type(dataset).__name__}; pass NAME:PATH or the path of a table of rated pairs (write a frame "
            "with .to_csv('rated.csv', index=False))."
        )
    dataset = str(dataset)
    counts, ratings = ([each] if isinstance(each, str) else each for each in (counts, ratings))
    name, _, path = dataset.partition(":")
    if name in PUBLISHED and path:
        return PUBLISHED[name](path)
    if name == PREFERENCES and path:
        return load_preferences(path, columns=columns)
    if name in EQUAL and path:
        return EQUAL[name](path, columns=columns)
    if name in TABULAR and path:
        return TABULAR[name](path, columns=columns, counts=counts, ratings=ratings)
    if Path(dataset).suffix.lower() in TABLES and name not in NAMES:
        return load_table(dataset, columns=columns, counts=counts, ratings=ratings)
    raise InputError(
        f"There is no dataset {dataset!r}; write NAME:PATH with one of {', '.join(NAMES)}, or a table of rated pairs "
        f"({', '.join(TABLES)}) with --counts or --ratings."
    )


__all__ = ["NAMES", "Data", "Equal", "Ranked", "Rated", "load", "load_radjudge", "load_radpref", "load_table"]
