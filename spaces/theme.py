"""How every page looks: the marks of the error categories, Gradio's theme, the style sheet.

Pages load no font and no script from elsewhere. A kind of phrase is told by its letter and its underline as well as by
its colour; every text stands out from its ground by 4.5 to 1 or more, in light and in dark (a test computes it).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.reader import ErrorCategory

SANS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Liberation Sans", "Arial", "sans-serif")
MONO = ("ui-monospace", "SF Mono", "Menlo", "Consolas", "Liberation Mono", "monospace")
STYLE_SHEET = Path(__file__).parent / "page.css"


class Palette(NamedTuple):
    """Colours of a page: ground, raised ground, text, lesser text, lines, links and buttons, text on buttons."""

    paper: str
    soft: str
    ink: str
    muted: str
    line: str
    accent: str
    on_accent: str


class Kind(NamedTuple):
    """How a kind of phrase is marked.

    Attributes:
        letter: Stands behind the phrase.
        title: In words, for the legend and for screen readers.
        light: Ground and line (also the colour of the letter) on a light page.
        dark: The same on a dark page.
        underline: Style of the line, as CSS calls it.
    """

    letter: str
    title: str
    light: tuple[str, str]
    dark: tuple[str, str]
    underline: str


LIGHT = Palette("#fdfcf9", "#f4f1ea", "#1d1c1a", "#5d5952", "#dcd8cf", "#1f5a8c", "#ffffff")
DARK = Palette("#16181b", "#1f2226", "#e8e5df", "#a8a49b", "#3a3d41", "#8fc1ea", "#10202d")
MATCHED, ONLY_HERE = "matched", "only_here"
UNLETTERED = frozenset({MATCHED, ONLY_HERE})  # too many of them in a report for a letter behind each
_MARKS = {  # ErrorCategory → title and how it is marked
    ErrorCategory.FALSE_FINDING: ("false finding", ("#fbdedb", "#a01c18"), ("#4f2320", "#f5aaa3"), "solid"),
    ErrorCategory.MISSING_FINDING: ("missing finding", ("#fbe6cf", "#8a4600"), ("#4a3319", "#eab57d"), "double"),
    ErrorCategory.INCORRECT_LOCATION: ("wrong location", ("#eddff4", "#6d2a86"), ("#3f2849", "#dcaef2"), "dashed"),
    ErrorCategory.INCORRECT_SEVERITY: ("wrong severity", ("#d2ecea", "#0b5b57"), ("#153e3b", "#82d6cd"), "wavy"),
    ErrorCategory.FALSE_COMPARISON: ("false comparison", ("#dcebf7", "#1f5a8c"), ("#1c3850", "#94c5ee"), "dotted"),
    ErrorCategory.MISSING_COMPARISON: ("missing comparison", ("#e8edcb", "#4b560c"), ("#363c12", "#cfd77a"), "dashed"),
}
KINDS: Mapping[str, Kind] = {
    **{category.value: Kind(category.letter, *mark) for category, mark in _MARKS.items()},
    MATCHED: Kind("✓", "said by both", ("#eceae3", "#5d5952"), ("#2a2d31", "#a8a49b"), "solid"),
    ONLY_HERE: Kind("≠", "only in this report", ("#fbe6cf", "#8a4600"), ("#4a3319", "#eab57d"), "dashed"),
}


@cache
def style_sheet() -> str:
    """The CSS of every page: the colours above as variables, then `page.css`."""
    kinds = "\n".join(
        f".kind-{name} {{ --tint: var(--{name}-tint); --mark: var(--{name}-mark); --underline: {kind.underline}; }}"
        for name, kind in KINDS.items()
    )
    return "\n".join(
        (
            f":root {{ color-scheme: light; {_variables(LIGHT, 'light')} }}",
            f".dark {{ color-scheme: dark; {_variables(DARK, 'dark')} }}",
            kinds,
            STYLE_SHEET.read_text(encoding="utf-8"),
        )
    )


def _variables(palette: Palette, scheme: str) -> str:
    colours = {f"rrg-{name.replace('_', '-')}": value for name, value in palette._asdict().items()}
    for name, kind in KINDS.items():
        colours[f"{name}-tint"], colours[f"{name}-mark"] = getattr(kind, scheme)
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


def gradio_theme() -> Any:
    """Gradio's theme in our colours and the machine's own fonts."""
    import gradio

    names = {  # Gradio's variable → ours
        "body_background_fill": "paper",
        "body_text_color": "ink",
        "body_text_color_subdued": "muted",
        "background_fill_primary": "paper",
        "background_fill_secondary": "soft",
        "block_background_fill": "paper",
        "block_border_color": "line",
        "block_label_background_fill": "paper",
        "block_label_text_color": "muted",
        "block_title_text_color": "muted",
        "block_info_text_color": "muted",
        "border_color_primary": "line",
        "border_color_accent": "accent",
        "color_accent_soft": "soft",
        "input_background_fill": "paper",
        "input_border_color": "muted",
        "input_border_color_focus": "accent",
        "input_placeholder_color": "muted",
        "link_text_color": "accent",
        "link_text_color_hover": "accent",
        "link_text_color_visited": "accent",
        "button_primary_background_fill": "accent",
        "button_primary_background_fill_hover": "accent",
        "button_primary_text_color": "on_accent",
        "button_primary_text_color_hover": "on_accent",
        "button_primary_border_color": "accent",
        "button_secondary_background_fill": "soft",
        "button_secondary_background_fill_hover": "line",
        "button_secondary_text_color": "ink",
        "button_secondary_border_color": "line",
        "table_border_color": "line",
        "table_even_background_fill": "paper",
        "table_odd_background_fill": "paper",
        "code_background_fill": "soft",
    }
    colours = {name: getattr(LIGHT, ours) for name, ours in names.items()}
    colours |= {f"{name}_dark": getattr(DARK, ours) for name, ours in names.items()}
    theme = gradio.themes.Base(
        primary_hue=gradio.themes.colors.blue,
        neutral_hue=gradio.themes.colors.stone,
        font=SANS,
        font_mono=MONO,
        radius_size=gradio.themes.sizes.radius_sm,
        text_size=gradio.themes.sizes.text_md,
    )
    return theme.set(**colours, block_shadow="none", button_primary_shadow="none", button_secondary_shadow="none")


def look() -> dict[str, Any]:
    """What `Blocks.launch` needs to look like the house: `page.launch(**look())`.

    The style sheet goes into the page's head: what is passed as `css`, Gradio rewrites rule by rule.
    """
    return {"theme": gradio_theme(), "head": f"<style>{style_sheet()}</style>"}
