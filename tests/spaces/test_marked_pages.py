"""Marked reports and scores as HTML, and their colours: numbers and escapes that can be checked here."""

import math

import pytest

import rrgmetrics
from rrgmetrics import SPECS
from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.reading.model import Span
from rrgmetrics.reporting import html as drawn
from rrgmetrics.reporting.kinds import KINDS, MATCHED, ONLY_HERE
from rrgmetrics.reporting.marks import Mark, Remark
from rrgmetrics.reporting.numbers import in_words
from rrgmetrics.spaces import theme

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(1)>'\"&"


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_formula():
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WebAIM's well-known borderline grey


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out(scheme):
    palette = theme.LIGHT if scheme == "light" else theme.DARK
    pairs = [(text, ground) for text in (palette.ink, palette.muted, palette.accent) for ground in palette[:2]]
    pairs.append((palette.on_accent, palette.accent))
    for kind in KINDS.values():
        tint, mark = getattr(kind, scheme)
        pairs += [(palette.ink, tint), (mark, tint), (mark, palette.paper)]
    assert min(contrast(*pair) for pair in pairs) >= 4.5


def test_a_kind_is_told_by_more_than_colour():
    assert set(KINDS) == {*ErrorCategory, MATCHED, ONLY_HERE}
    assert len({kind.letter for kind in KINDS.values()}) == len(KINDS)
    for name in KINDS:
        assert f".kind-{name} " in theme.style_sheet()
        assert f"--{name}-tint" in theme.style_sheet()


def test_overlapping_marks_each_give_their_letter():
    marks = [Mark((Span(0, 5),), "matched"), Mark((Span(0, 10),), "incorrect_location")]
    marks.append(Mark((Span(6, 10),), "incorrect_severity", 0.25))
    html = drawn.marked("Small left effusion.", marks)
    assert html.startswith('<p class="report"><mark class="kind-incorrect_location">Small</mark>')
    assert html.endswith("</span></span> effusion.</p>")
    assert html.count('class="tag') == 2
    assert "C</span>" in html
    assert "D 0.25</span>" in html


def test_marks_beyond_the_text_are_cut():
    html = drawn.marked("Clear.", [Mark((Span(2, 99),), "false_finding")])
    assert html.count("<mark") == 1
    assert 'ear.</mark><span class="tag' in html
    assert "(empty report)" in drawn.marked(" \n", [])


def test_everything_is_escaped():
    key = SPECS["crepe"].headline
    html = "".join(
        (
            drawn.marked(ATTACK, [Mark((Span(3, 9),), "false_finding")]),
            drawn.reports({ATTACK: ATTACK}, {}),
            drawn.remarks([Remark("", ATTACK, True)]),
            drawn.alert(ATTACK),
        )
    )
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in drawn.headline(key, 1.0) + drawn.alert(ATTACK)


@pytest.mark.parametrize("name", SPECS)
def test_direction_and_range_in_words(name):
    for key in SPECS[name].keys:
        words = in_words(key)
        assert words.startswith(key.better.capitalize())
        assert "inf" not in words


def test_headline_and_meter():
    crimson = SPECS["crimson"].headline
    assert "width:50.0%" in drawn.headline(crimson, 0.0)
    assert "<b>−0.250</b>" in drawn.headline(crimson, -0.25)
    assert "meter" not in drawn.headline(SPECS["crepe"].headline, 2.0)
    assert "not scored" in drawn.headline(crimson, math.nan)


def test_bars_of_a_metric_that_counts_categories():
    result = rrgmetrics.score(
        "finding_errors",
        predictions=["Small left effusion."],
        references=["Small right effusion. Mild cardiomegaly."],
        progress=False,
    )["finding_errors"]
    counts = drawn.category_counts(result)
    assert counts["missing_finding"] == counts["incorrect_location"] == 1.0
    assert sum(counts.values()) == 2.0
    html = drawn.category_bars(counts)
    assert html.count("width:100.0%") == 2
    assert html.count("<b>0</b>") == 4


def test_no_bars_without_categories():
    result = rrgmetrics.score("rouge", predictions=["a"], references=["a"], progress=False)["rouge"]
    assert drawn.category_bars(drawn.category_counts(result)) == ""
