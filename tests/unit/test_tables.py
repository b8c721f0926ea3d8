"""One table on a terminal, on a page and in a notebook."""

import io

from markupsafe import Markup
from rich.console import Console

from rrgmetrics.reporting.tables import Cell, Group, Table

ATTACK = "[red]<b>&[/red]"
TABLE = Table(
    ("system", "score"),
    (
        Group((("baseline_with_a_long_name", "0.100"), ("ours", Cell("0.200", "number better"))), head=("BLEU-4", "")),
        Group(((ATTACK, Cell("not measured", "reason", 1)), (Cell("all", "ceiling"), Cell(ATTACK, "code")))),
    ),
    title=ATTACK,
    note="A note.",
    style="side",
    whole=frozenset({0}),
)


def printed(table, width):
    console = Console(
        file=io.StringIO(), width=width, color_system="standard", force_terminal=True, legacy_windows=False
    )
    console.print(table)
    return console.file.getvalue()


def test_nothing_is_read_as_markup():
    text, html = printed(TABLE, 200), TABLE.__html__()
    assert text.count(ATTACK) == 3
    assert "<b>" not in html
    assert html.count("&lt;b&gt;&amp;") == 3
    assert "<b>kept</b>" in Table(("a",), (Group(((Markup("<b>kept</b>"),),)),)).__html__()


def test_styles_of_terminal_and_page():
    assert "\x1b[32m0.200" in printed(TABLE, 200)
    html = TABLE.__html__()
    for part in (
        '<div class="wide side" tabindex="0" role="region"',
        '<tr class="group"><th scope="rowgroup" colspan="2">BLEU-4</th></tr>',
        '<td class="number better" data-label="score">0.200</td>',
        '<tr class="ceiling"><th scope="row">all</th>',
        '<td class="code" data-label="score"><code>',
        '<p class="note">A note.</p>',
    ):
        assert part in html
    assert html.count("<tbody>") == 2


def test_heads_in_html_are_not_written_into_the_cells():
    heads = ("metric", Markup('<span class="roomy">Candidate 1</span><span class="narrow">1st</span>'))
    html = Table(heads, (Group((("BLEU-4", "0.2"),)),)).__html__()
    assert "<td>0.2</td>" in html
    assert html.count("roomy") == 1


def test_names_to_copy_are_never_broken():
    assert "baseline_with_a_long_name" in printed(TABLE, 30)


def test_a_notebook_and_a_template_show_what_a_page_shows():
    assert TABLE._repr_html_() == TABLE.__html__() == Markup("{}").format(TABLE)


def test_words_that_are_broken_stay_indented():
    table = Table(("", "n"), (Group((("  significant errors of all", "100000000"),)),))
    assert printed(table, 28).splitlines()[2:4] == ["  significant      100000000", "  errors of all"]
