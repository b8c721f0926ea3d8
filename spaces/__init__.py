"""Web pages (Spaces) of rrgmetrics; installed as `rrgmetrics.spaces` (extra `spaces`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if __name__ == "spaces":  # in a checkout Gradio, looking for Hugging Face's package of that name, finds this folder
    raise ImportError("This is rrgmetrics.spaces.")

if TYPE_CHECKING:
    from rrgmetrics.spaces.ui import build_space as build_space
    from rrgmetrics.spaces.ui import launch as launch

__all__ = ["build_space", "launch"]


def __getattr__(name: str) -> Any:
    """Imports the web pages when they are asked for: the commands of the leaderboard and of ratings need none."""
    if name in __all__:
        from rrgmetrics.spaces import ui

        return getattr(ui, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
