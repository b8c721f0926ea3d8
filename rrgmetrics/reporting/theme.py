"""The style of pages: palettes, and the style sheet with the marks of `kinds`.

Pages load no font and no script from elsewhere.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from rrgmetrics.reporting.kinds import KINDS

TEMPLATES = Path(__file__).parent / "templates"


class Palette(NamedTuple):
    """Colours of a page: ground, raised ground, text, lesser text, lines, links and buttons, text on buttons."""

    paper: str
    soft: str
    ink: str
    muted: str
    line: str
    accent: str
    on_accent: str


LIGHT = Palette("#fdfcf9", "#f4f1ea", "#1d1c1a", "#5d5952", "#dcd8cf", "#1f5a8c", "#ffffff")
DARK = Palette("#16181b", "#1f2226", "#e8e5df", "#a8a49b", "#3a3d41", "#8fc1ea", "#10202d")
BY_CLASS = ".dark {{ {} }}"  # as Gradio says it
BY_PREFERENCE = "@media screen and (prefers-color-scheme: dark) {{ :root {{ {} }} }}"  # paper is light


@cache
def style_sheet(*names: str, dark: str = BY_CLASS) -> str:
    """The CSS of a page: the colours above as variables, then `page.css` and further style sheets.

    Args:
        *names: Of style sheets in the folder `templates`.
        dark: Where the dark colours hold.
    """
    kinds = "\n".join(
        f".kind-{name} {{ --tint: var(--{name}-tint); --mark: var(--{name}-mark); --underline: {kind.underline}; }}"
        for name, kind in KINDS.items()
    )
    sheets = [(TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.css", *names)]
    return "\n".join(
        (
            f":root {{ color-scheme: light; {_variables(LIGHT, 'light')} }}",
            dark.format(f"color-scheme: dark; {_variables(DARK, 'dark')}"),
            kinds,
            *sheets,
        )
    )


def _variables(palette: Palette, scheme: str) -> str:
    colours = {f"rrg-{name.replace('_', '-')}": value for name, value in palette._asdict().items()}
    for name, kind in KINDS.items():
        colours[f"{name}-tint"], colours[f"{name}-mark"] = getattr(kind, scheme)
    return " ".join(f"--{name}: {value};" for name, value in colours.items())
