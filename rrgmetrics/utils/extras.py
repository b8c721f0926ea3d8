"""Packages that only some uses need: which extra installs them, and one sentence where one is missing.

`pip install rrgmetrics` installs what bundled metrics, the command line and reports need. What loads published weights,
trains, draws or serves checks here, before it downloads or computes anything, that its packages are installed.
"""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from rrgmetrics.errors import MissingExtraError

PACKAGES = {  # extra → import names of what its users import
    "judges": ("openai",),
    "mcp": ("mcp",),
    "plots": ("matplotlib",),
    "published": ("torch", "transformers"),
    "spaces": ("gradio",),
    "training": ("torch", "transformers", "accelerate"),
    "vllm": ("vllm",),
}
DISTRIBUTIONS = {
    "google.protobuf": "protobuf",
    "sklearn": "scikit-learn",
}  # import name → name on the package index, where they differ


def need(what: str, extra: str, *packages: str) -> None:
    """Checks that packages are installed, without importing them.

    Args:
        what: What needs them: the subject of the error's sentence.
        extra: The extra of rrgmetrics that installs them.
        packages: Their import names; none: those of `PACKAGES`.

    Raises:
        MissingExtraError: One is not installed; names those that are missing and the command that installs them.

    Example:
        >>> need("This page", "spaces", "json")
        >>> need("This page", "spaces", "no_such_package")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        rrgmetrics.errors.MissingExtraError: This page needs no_such_package: pip install ...
    """
    missing = [DISTRIBUTIONS.get(name, name) for name in packages or PACKAGES[extra] if not is_installed(name)]
    if missing:
        *others, last = missing
        names = f"{', '.join(others)} and {last}" if others else last
        raise MissingExtraError(f"{what} needs {names}: {install_command(extra)}")


def install_command(extra: str) -> str:
    """Returns the command that installs an extra, from where rrgmetrics itself was installed.

    Args:
        extra: The extra, or several with commas between them.

    Returns:
        `pip install 'rrgmetrics[plots]'`; if it was installed from a folder, `pip install '/path/of/it[plots]'`, with
        `-e` if changes of the folder count.
    """
    folder, editable = _folder_of_installation()
    target = f"{folder or 'rrgmetrics'}[{extra}]"
    return f"pip install {'-e ' if editable else ''}{shlex.quote(target)}"


def _folder_of_installation() -> tuple[str, bool]:
    """The folder or file from which rrgmetrics was installed, and whether it is editable; "" if there is none."""
    from importlib import metadata  # these two are slow to import
    from urllib.request import url2pathname

    found = (each.read_text("direct_url.json") for each in metadata.distributions(name="rrgmetrics"))
    try:
        said = json.loads(next(filter(None, found), "{}"))  # a folder with its sources has a distribution too
    except ValueError:
        return "", False
    url = urlsplit(str(said.get("url", "")))
    path = url2pathname(url.path)
    if url.scheme != "file" or not Path(path).exists():
        return "", False
    return path, bool(said.get("dir_info", {}).get("editable"))


def is_installed(package: str) -> bool:
    """Returns whether a package can be imported, by its import name; imports only the packages that contain it."""
    if package in sys.modules:
        return sys.modules[package] is not None
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # a package above it
        return False
