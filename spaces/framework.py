"""Gradio, imported late and without its homework: the one door of the pages to it."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rrgmetrics.errors import BackendError
from rrgmetrics.utils.extras import install_command, is_installed, need

NO_TOOLS = "This Space is not an MCP server; %s lets agents call it."


def load_gradio() -> Any:
    """Gradio; MissingExtraError where it is not installed."""
    if "gradio" not in sys.modules:
        with _no_stubs():
            return _imported()
    return _imported()


def launched(page: Any, **keywords: Any) -> Any:
    """Launches a page, as `Blocks.launch` does, and once more where a busy machine has kept it from answering.

    What the page's API documents is an MCP server for agents too, where the package `mcp` is installed; a log message
    says where it is not.

    Args:
        page: A `gradio.Blocks`.
        **keywords: Of `Blocks.launch`.

    Raises:
        BackendError: Gradio asks the page that it serves, as it does at every launch, and gets no answer.
    """
    has_tools = is_installed("mcp")
    if not has_tools:
        logging.getLogger("rrgmetrics").info(NO_TOOLS, install_command("mcp"))
    for last in (False, True):
        try:
            return page.launch(**{"mcp_server": has_tools, **keywords})
        except Exception as error:  # Gradio raises ValueError or a bare Exception
            if "localhost" not in str(error):
                raise
            page.close(verbose=False)
            if last:
                raise BackendError(
                    "The page was started but does not answer on this machine. If http_proxy is set, set "
                    "NO_PROXY=127.0.0.1,localhost too; if the machine is busy, try again."
                ) from error


def _imported() -> Any:
    need("A Space", "spaces")
    import gradio

    return gradio


@contextmanager
def _no_stubs() -> Iterator[None]:
    """Keeps Gradio from reading and parsing the source of each of its components, to write type stubs beside it.

    It does so at every import: 1.6 of 3.5 seconds of processor time (Gradio 6.31). Of a component without a source
    file it writes none.
    """
    real: Callable[[Any], str] = inspect.getfile

    def getfile(asked: Any) -> str:
        if inspect.isclass(asked) and asked.__module__.startswith("gradio."):
            raise OSError(f"{asked.__name__} is not to have a stub.")
        return real(asked)

    inspect.getfile = getfile  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getfile = real  # type: ignore[assignment]
