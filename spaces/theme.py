"""How every page of the Spaces looks: our style sheet (`rrgmetrics.reporting.theme`) and Gradio's theme."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from rrgmetrics.reporting import theme
from rrgmetrics.reporting.theme import DARK, LIGHT
from rrgmetrics.spaces.framework import load_gradio

SANS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Liberation Sans", "Arial", "sans-serif")
MONO = ("ui-monospace", "SF Mono", "Menlo", "Consolas", "Liberation Mono", "monospace")
GRADIO = Path(__file__).parent / "gradio.css"


@cache
def style_sheet(*names: str) -> str:
    """The CSS of every page, with further style sheets of the house, then Gradio's own parts."""
    return f"{theme.style_sheet(*names)}\n{GRADIO.read_text(encoding='utf-8')}"


def gradio_theme() -> Any:
    """Gradio's theme in our colours and the machine's own fonts."""
    gradio = load_gradio()

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


def look() -> dict[str, object]:
    """What `Blocks.launch` needs to look like the house: `page.launch(**look())`.

    The style sheet goes into the page's head: what is passed as `css`, Gradio rewrites rule by rule.
    """
    return {"theme": gradio_theme(), "head": f"<style>{style_sheet()}</style>"}
