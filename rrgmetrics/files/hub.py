"""Data sets on the Hugging Face Hub: `hub:ID[@revision][?config=NAME&split=NAME]`.

Only their tables come to this machine (CSV, JSONL, Parquet), through the Hub's own client and into its cache; nothing
in a repository is run. Which files make up a configuration and a split is what `datasets` says of them, from the card's
front matter or from their names. The cache is asked first: what is there is taken, whatever the Hub has by now, so name
a revision. Without a network the answer is an error within a second.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from rrgmetrics.backends.checkpoints import PROBE_SECONDS, answers, offline_by_choice
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.files.formats import COMPRESSED, ON_HUB, READERS
from rrgmetrics.utils.text_format import did_you_mean

OPTIONS = ("config", "split", "files")
CARD = "README.md"
TABLES = tuple(f"*{suffix}{packed}" for suffix in READERS if suffix != ".txt" for packed in ("", *COMPRESSED))


class HubName(NamedTuple):
    """A data set on the Hub.

    Attributes:
        repository: `org/name`.
        revision: A branch, tag or commit; "" is the newest.
        config: One of its configurations; "" is its only or default one.
        split: One of its splits; "" is its only one.
        files: A pattern of files to take instead, such as `data/test-*.parquet`; "" for a configuration's split.
    """

    repository: str
    revision: str = ""
    config: str = ""
    split: str = ""
    files: str = ""

    @property
    def command(self) -> str:
        """The command that downloads it."""
        revision = f" --revision {self.revision}" if self.revision else ""
        return f"hf download {self.repository} --repo-type dataset{revision}"


def parse_hub(text: str) -> HubName:
    """Reads `hub:ID[@revision][?config=NAME&split=NAME]`, or `?files=PATTERN`.

    Raises:
        InputError: No id, or an unknown option.

    Example:
        >>> parse_hub("hub:org/reports@v1?split=test")[:4]
        ('org/reports', 'v1', '', 'test')
    """
    head, _, query = text.removeprefix(ON_HUB).partition("?")
    repository, _, revision = head.partition("@")
    if not repository or repository.count("/") > 1 or " " in repository:
        raise InputError(f"{text} is not a data set; write hub:org/name[@revision][?config=NAME&split=NAME].")
    options = dict(parse_qsl(query, keep_blank_values=True))
    for key in options:
        if key not in OPTIONS:
            raise InputError(f"{text} has no option {key!r}; it has: {', '.join(OPTIONS)}.{did_you_mean(key, OPTIONS)}")
    if options.get("files") and len(options) > 1:
        raise InputError(f"{text}: files= cannot be combined with config= or split=.")
    return HubName(repository, revision, **options)


@lru_cache(maxsize=16)
def fetch(text: str) -> tuple[Path, ...]:
    """Returns the files of a data set on this machine, from the Hub's cache or else by a download.

    Args:
        text: `hub:ID[@revision][?config=NAME&split=NAME]`.

    Raises:
        InputError: No such configuration, split or file; with the nearest name.
        BackendError: It is not in the cache, and the Hub does not answer or refuses it.
    """
    name = parse_hub(text)
    patterns = [name.files] if name.files else [CARD, *TABLES]
    folder = _cached(name, patterns) or _downloaded(name, patterns)
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    tables = [each for each in found if each != CARD]
    chosen = fnmatch.filter(tables, name.files) if name.files else tables and _of_split(name, folder)
    if not chosen:
        raise InputError(f"{text} has no {name.files or 'CSV, JSONL or Parquet file'}; see {name.command}.")
    return tuple(folder / each for each in chosen)


def _cached(name: HubName, patterns: list[str]) -> Path | None:
    """The folder of the revision in the Hub's cache, if everything that is needed is there."""
    try:
        return _snapshot(name, patterns, local_files_only=True)
    except Exception:  # not there, or not whole: each version of the client has its own words for it
        return None


def _snapshot(name: HubName, patterns: list[str], **how: Any) -> Path:
    from huggingface_hub import snapshot_download

    revision = name.revision or None
    return Path(
        snapshot_download(name.repository, repo_type="dataset", revision=revision, allow_patterns=patterns, **how)
    )


def _downloaded(name: HubName, patterns: list[str]) -> Path:
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    what = f"The data set {name.repository}{f'@{name.revision}' if name.revision else ''}"
    advice = (
        f"With a network, run `{name.command}`; without one, copy its files from another machine and name them instead."
    )
    if offline_by_choice():
        raise BackendError(f"{what} is not in the Hub's cache, and HF_HUB_OFFLINE is set. {advice}")
    if not answers(endpoint):
        raise BackendError(
            f"{what} is not in the Hub's cache, and {endpoint} did not answer in {PROBE_SECONDS} s. {advice}"
        )
    try:
        return _snapshot(name, patterns, endpoint=endpoint)
    except Exception as error:  # the Hub client has a dozen kinds of failure, all of which end here
        said = " ".join(str(error).split())
        raise BackendError(
            f"{what} could not be downloaded: {said} If it is private or gated, run `hf auth login` first."
        ) from error


def _of_split(name: HubName, folder: Path) -> list[str]:
    """The files of a configuration's split, as `datasets` finds them."""
    import datasets

    try:
        configs = datasets.get_dataset_config_names(str(folder))
        config = name.config or datasets.get_dataset_default_config_name(str(folder))
        _check_choice(name, "config", config, configs)
        splits = datasets.load_dataset_builder(str(folder), name=config).config.data_files or {}
    except (ValueError, FileNotFoundError) as error:
        raise InputError(f"{ON_HUB}{name.repository}: {' '.join(str(error).split())} Name files=PATTERN.") from None
    split = name.split or (next(iter(splits)) if len(splits) == 1 else "")
    _check_choice(name, "split", split, list(splits))
    chosen = [Path(os.path.abspath(file)) for file in splits[split]]
    if strange := next((file for file in chosen if not file.is_relative_to(folder)), None):
        raise InputError(
            f"{ON_HUB}{name.repository} refers to a file outside the repository, {strange}; download it yourself."
        )
    return [file.relative_to(folder).as_posix() for file in chosen]


def _check_choice(name: HubName, option: str, chosen: str | None, known: Collection[str]) -> None:
    """Raises InputError with what there is, and the nearest, unless a configuration or split is one of them."""
    if chosen not in known:
        said = f"has no {option} {chosen!r}" if chosen else f"has several {option}s"
        near = did_you_mean(chosen, known) if chosen else ""
        listed = ", ".join(known)
        raise InputError(
            f"{ON_HUB}{name.repository} {said}; name one: ?{option}={next(iter(known))} of {listed}.{near}"
        )
