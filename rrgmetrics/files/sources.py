"""The files that one name means: a file, a pattern, a folder of Parquet, a data set on the Hub."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import COMPRESSED, ON_HUB, READERS, PathLike, suffix_of, working_folder


def is_source(value: Any) -> bool:
    """Whether a value names files: a path, or a text that can be nothing else."""
    if isinstance(value, os.PathLike):
        return True
    if not isinstance(value, str) or len(value) > 1000 or "\n" in value:
        return False
    return value.startswith(ON_HUB) or suffix_of(Path(value)) in READERS or Path(value).is_dir()


def name_of(source: PathLike) -> str:
    """Returns what a source is called for short.

    Example:
        >>> name_of("runs/ours.csv.gz"), name_of("hub:org/reports@v1?split=test"), name_of("runs/*.csv")
        ('ours', 'reports', 'runs')
    """
    text = os.fspath(source)
    if text.startswith(ON_HUB):
        return text.removeprefix(ON_HUB).partition("?")[0].partition("@")[0].rpartition("/")[2]
    path = Path(text)
    packed = path.suffix.lower() in COMPRESSED
    stem = (path.with_suffix("") if packed else path).stem
    return stem if stem.strip("*?") else path.absolute().parent.name


def parts(source: PathLike) -> list[Path]:
    """Returns the files that a name means.

    Args:
        source: A file; a pattern (`runs/*.csv.gz`, `**` for folders in folders), whose files are taken in the order of
            their names; a folder, for the Parquet files in it; or a data set on the Hub (`rrgmetrics.files.hub`).

    Raises:
        InputError: A pattern, a folder or a data set with nothing in it.
        BackendError: A data set that is not on this machine and cannot be fetched.
    """
    text, path = os.fspath(source), Path(source)
    if text.startswith(ON_HUB):
        from rrgmetrics.files.hub import fetch  # the network's modules take 20 ms

        return list(fetch(text))
    if path.is_dir():
        found = sorted(path.glob("*.parquet"))
        if not found:
            raise InputError(f"{path} is a folder without Parquet files; name a file, or a pattern: {path / '*.csv'}.")
        return found
    if glob.has_magic(text) and not path.exists():
        found = sorted(Path(name) for name in glob.glob(text, recursive=True) if Path(name).is_file())
        if not found:
            raise InputError(f"No file is called {text} (looked in {working_folder()}).")
        return found
    return [path]
