"""Repositories of Spaces: all that the Hub needs of a page, written to a folder or uploaded.

A metric's repository is its folder in `rrgmetrics.metrics`; from it the Hub runs the demo (`app.py`, front matter of
`README.md`, `requirements.txt`) and `evaluate.load("<organisation>/<metric>")` takes the module (`<metric>.py`). The
other pages have a folder each in `rrgmetrics.spaces.repositories`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as resources
from pathlib import Path
from typing import NamedTuple

import rrgmetrics
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.scoring.hub import module_path
from rrgmetrics.spaces.uploading import check_organisation, hub_api, hub_errors, upload
from rrgmetrics.specs import SPECS, get_spec
from rrgmetrics.version import VERSION

SUFFIXES = {".md", ".py", ".txt"}  # what a folder may hold beside what Python and editors leave there
RELEASE = re.compile(rf"^rrgmetrics(\[[\w,-]+\])?=={re.escape(VERSION)}$", re.MULTILINE)
# Free Spaces have no GPU, and the default build of PyTorch brings 3 GB of CUDA.
CPU_TORCH = (
    "# PyTorch without CUDA; remove this line where the hardware has a GPU.\n"
    "--extra-index-url https://download.pytorch.org/whl/cpu\n"
)
LARGE_FILES = "*.whl filter=lfs diff=lfs merge=lfs -text\n"  # git push refuses larger files elsewhere
SOURCES = ("rrgmetrics", "callbacks", "metrics", "spaces", "pyproject.toml", "setup.cfg", "README.md", "LICENSE")


@dataclass(frozen=True)
class Repository:
    """The repository of one Space.

    Attributes:
        name: Of the Space, of its folder and, for a metric, of its module.
        files: Contents by file name.
    """

    name: str
    files: Mapping[str, bytes]


class Wheel(NamedTuple):
    """A build of rrgmetrics: its file name and content."""

    name: str
    content: bytes


def space_names() -> tuple[str, ...]:
    """Every Space there is: the metrics in the order of the table, then the other pages."""
    return (*SPECS, *_pages())


def check_names(names: Iterable[str]) -> list[str]:
    """The names, each once; InputError for none, or for one that is no Space."""
    chosen = list(dict.fromkeys(names))
    if not chosen:
        raise InputError(f"Name a Space: {', '.join(space_names())}.")
    for name in chosen:
        _folder(name)
    return chosen


def repository(name: str, *, wheel: Wheel | None = None, organisation: str = "") -> Repository:
    """What the repository of a Space holds.

    Args:
        name: A metric, or another of `space_names()`.
        wheel: To put beside the page and install from there, instead of the release.
        organisation: Whose Space it will be. Needed with a wheel on the Hub, which installs the requirements before it
            copies the other files: they then name the wheel by its address there. Without it they name the file.

    Raises:
        InputError: Unknown name.
    """
    folder = _folder(name)
    contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES}
    requirement = f"rrgmetrics\\1=={VERSION}"
    if wheel:
        contents |= {wheel.name: wheel.content, ".gitattributes": LARGE_FILES.encode()}
        address = f"https://huggingface.co/spaces/{organisation}/{name}/resolve/main/{wheel.name}"
        requirement = f"rrgmetrics\\1 @ {address}" if organisation else f"./{wheel.name}\\1"
    requirements = RELEASE.sub(requirement, contents["requirements.txt"].decode())
    return Repository(name, contents | {"requirements.txt": (CPU_TORCH + requirements).encode()})


def build(repositories: Sequence[Repository], folder: str | Path, *, force: bool = False) -> list[Path]:
    """Writes repositories, each to a folder of its own name; checks all before it writes one.

    Args:
        repositories: Of Spaces.
        folder: Where their folders go: `folder/crepe` then works for `evaluate.load` and as `python app.py`.
        force: Whether files that exist may be replaced. Others stay, but for wheels of another build.

    Returns:
        The folders.

    Raises:
        InputError: A file that exists, or a folder that cannot be written to.
    """
    targets = [Path(folder) / each.name for each in repositories]
    for each, target in zip(repositories, targets, strict=True):
        there = [name for name in each.files if (target / name).exists()]
        if there and not force:
            raise InputError(f"{target / there[0]} exists; choose another folder, or replace it with --force.")
    try:
        for each, target in zip(repositories, targets, strict=True):
            _write(each, target)
    except OSError as error:
        raise InputError(f"{error.filename or folder} cannot be written: {error.strerror}.") from None
    return targets


def push(repositories: Sequence[Repository], organisation: str, *, force: bool = False) -> Iterator[str]:
    """Uploads repositories to the Hub; gives the address of each when it is there.

    Args:
        repositories: Of Spaces.
        organisation: A user or an organisation on the Hub.
        force: Whether the files of Spaces that exist may be replaced.

    Raises:
        InputError: An organisation that cannot be one, or a Space that exists, unless `force`; nothing was uploaded.
        BackendError: No network, no token, or the Hub refuses.
    """
    ids = [f"{check_organisation(organisation)}/{each.name}" for each in repositories]
    api = hub_api()
    with hub_errors("asked for the Spaces"):
        taken = [] if force else [name for name in ids if api.repo_exists(name, repo_type="space")]
    if taken:
        raise InputError(f"{taken[0]} exists on the Hub; replace its files with --force.")
    for name, each in zip(ids, repositories, strict=True):
        yield upload(api, name, each.files, repo_type="space", space_sdk="gradio")


def listing(repositories: Iterable[Repository]) -> Iterator[str]:
    """A line a file: its size, Space and name."""
    for each in repositories:
        for name, content in each.files.items():
            yield f"{len(content):>12,} bytes  {each.name}/{name}"


def read_wheel(path: str | Path = "") -> Wheel:
    """Reads a wheel, or makes one of the checkout that this package runs from.

    Args:
        path: The wheel; empty: make one.

    Raises:
        InputError: It is not there or of another version; or none is named and there is no checkout.
        BackendError: pip cannot make it; the message has its last lines.
    """
    if not path:
        with tempfile.TemporaryDirectory() as folder:
            return read_wheel(_make_wheel(Path(folder)))
    path = Path(path)
    if path.suffix != ".whl" or path.name.split("-")[:2] != ["rrgmetrics", VERSION]:
        raise InputError(
            f"{path} is not a wheel of rrgmetrics {VERSION}, whose name begins with rrgmetrics-{VERSION}-."
        )
    try:
        return Wheel(path.name, path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _make_wheel(folder: Path) -> Path:
    checkout = Path(rrgmetrics.__file__).parents[1]
    if not (checkout / "setup.cfg").is_file():
        raise InputError("rrgmetrics runs from an installation, not from a checkout; name the wheel: --wheel FILE.")
    for name in SOURCES:  # copied, for setuptools leaves folders of its own where it works
        _copy(checkout / name, folder / "sources" / name)
    command = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(folder / "sources")]
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BackendError(f"pip could not build the wheel: {done.stderr.strip()[-500:]}")
    return next(folder.glob("rrgmetrics-*.whl"))


def _pages() -> dict[str, Path]:
    """The folders of the Spaces that are no metric."""
    root = Path(str(resources("rrgmetrics.spaces"))) / "repositories"
    return {path.name: path for path in sorted(root.iterdir()) if (path / "README.md").is_file()}


def _folder(name: str) -> Path:
    pages = _pages()
    if name not in pages and name not in SPECS:
        try:
            get_spec(name)
        except InputError as error:
            raise InputError(f"{error} Other Spaces: {', '.join(pages)}.") from None
    return pages[name] if name in pages else module_path(name)


def _write(each: Repository, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for stale in target.glob("rrgmetrics-*.whl"):
        stale.unlink()
    for name, content in each.files.items():
        (target / name).write_bytes(content)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(source, target)
