"""One pair of reports with its differences and scores, as a page, as JSON, and as a figure for a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from rrgmetrics.comparing import ReportComparison
from rrgmetrics.reporting import html
from rrgmetrics.reporting.documents import latex_text, with_needs
from rrgmetrics.reporting.explanations import explain_pair, note_of, told_of
from rrgmetrics.reporting.kinds import KINDS, legend
from rrgmetrics.reporting.marks import SIGNIFICANT, Explanation, Mark, Remark, letters, pieces
from rrgmetrics.reporting.numbers import in_words, show
from rrgmetrics.reporting.theme import BY_PREFERENCE, style_sheet
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.results import Result
from rrgmetrics.utils.text_format import capitalized
from rrgmetrics.version import VERSION

SIDES = ("Reference", "Candidate")
PACKAGES = r"\usepackage{booktabs,array} \usepackage[normalem]{ulem}"
LINE_BREAK = r" \newline "
PARAGRAPH = re.compile(r"\n\s*\n")  # ends one
SIZES = ((2500, ""), (3700, r"\footnotesize"), (5000, r"\scriptsize"))  # of a figure's letters, by what fits on a page
MARKS_OF_ITS_OWN = ("crepe", "radfact", "radgraph_f1")  # the others rest on the reader's, which stand above


def as_page(pair: Pair, comparison: ReportComparison, results: Mapping[str, Result]) -> str:
    """An HTML file that loads nothing: both reports with their marks, the errors, and what each metric says.

    Args:
        pair: Both reports.
        comparison: What the reader finds.
        results: Of the pair alone, by the metric's name.
    """
    shown = Explanation.of(comparison)
    texts = dict(zip(SIDES, (pair.reference, pair.candidate), strict=True))
    body = [
        html.reports(texts, {"Reference": shown.reference, "Candidate": shown.candidate}),
        Markup("<h2>{}</h2>").format(capitalized(shown.summary)),
        Markup('<p class="note">{}</p>').format(shown.note) if shown.note else Markup(),
        html.remarks(shown.remarks),
        Markup('<p class="note">{}.</p>').format(capitalized(SIGNIFICANT)) if shown.remarks else Markup(),
    ]
    for result in results.values():
        body += _metric(result, pair, shown)
    template = html.environment("rrgmetrics.reporting").get_template("example.html.j2")
    style = Markup(style_sheet("run.css", dark=BY_PREFERENCE))
    return template.render(style=style, body=html.NOTHING.join(body), version=VERSION)


def _metric(result: Result, pair: Pair, above: Explanation) -> list[Markup]:
    key = result.titled.headline
    explanation = explain_pair(result, pair).beside(above)
    marked = Markup()
    if result.spec.name in MARKS_OF_ITS_OWN:
        texts = dict(zip(SIDES, (pair.reference, pair.candidate), strict=True))
        marked = html.reports(texts, {"Reference": explanation.reference, "Candidate": explanation.candidate})
    note = note_of(result, explanation)
    return [
        Markup("<h2>{} {}</h2>").format(key.title, show(result.scores[key.name], key)),
        Markup('<p class="note">{}</p>').format(in_words(key)),
        marked,
        html.remarks(explanation.remarks),
        Markup('<p class="note">{}</p>').format(note) if note else Markup(),
        Markup('<p class="note"><code>{}</code></p>').format(result.signature),
    ]


def as_json(pair: Pair, comparison: ReportComparison, results: Mapping[str, Result]) -> dict[str, object]:
    """Both reports, each error with its evidence, and each metric's scores and words."""
    return {
        "rrgmetrics": VERSION,
        "reference": pair.reference,
        "candidate": pair.candidate,
        "out_of_scope": comparison.out_of_scope,
        "unread_candidate": comparison.unread_candidate,
        "errors": [{"letter": error.category.letter, **error.to_dict()} for error in comparison.errors],
        "metrics": {
            name: {
                "scores": result.scores,
                "unscored": result.unscored_reasons.get(0),
                "explained": told_of(result),
                "signature": result.signature,
            }
            for name, result in results.items()
        },
    }


def as_latex(pair: Pair, comparison: ReportComparison) -> str:
    """A figure: both reports side by side with letters behind the underlined words, and the errors in sentences."""
    shown = Explanation.of(comparison)
    marks = (shown.reference, shown.candidate)
    cells = " &\n".join(_latex_report(text, own) for text, own in zip(pair[:2], marks, strict=True))
    kinds = {remark.kind for remark in shown.remarks}
    meanings = "; ".join(legend(kinds, "{letter}: {title}"))
    errors = "\n".join(map(_latex_remark, shown.remarks))
    note = f"{shown.note} " if shown.note else ""
    lines = (
        r"\begin{figure*}",  # over both columns of a page, if it has two
        _size(pair, shown.remarks),
        r"\begin{tabular}{@{}>{\raggedright\arraybackslash}p{0.48\linewidth}"
        r">{\raggedright\arraybackslash}p{0.48\linewidth}@{}}",
        r"\toprule",
        r"Reference & Candidate \\",
        r"\midrule",
        cells + r" \\",
        r"\bottomrule",
        r"\end{tabular}",
        *([r"\smallskip", "", errors] if errors else []),
        rf"\caption{{{latex_text(f'{capitalized(shown.summary)}. {note}{meanings}'.strip())}}}",
        r"\end{figure*}",
        "",
    )
    return with_needs(PACKAGES, "\n".join(lines))


def _size(pair: Pair, remarks: Sequence[Remark]) -> str:
    """Letters in which a figure fits on a page: the reports take half a line each, and each remark its own line."""
    reports = max(2 * (len(text) + 20 * len(PARAGRAPH.findall(text))) for text in pair[:2])
    characters = reports + sum(len("".join(remark.parts)) + 50 for remark in remarks)
    return next((size for most, size in SIZES if characters <= most), r"\tiny")


def _latex_report(text: str, marks: Sequence[Mark]) -> str:
    parts = []
    for piece in pieces(text, marks):
        ends = " " if piece.over else LINE_BREAK
        words = ends.join(map(latex_text, PARAGRAPH.split(piece.text)))
        before = " " if piece.text[:1].isspace() else ""
        after = " " if piece.text[-1:].isspace() else ""
        ending = letters(piece)
        shown = rf"\uline{{{words}}}" if piece.over and words else words
        raised = rf"\textsuperscript{{{ending}}}" if ending else ""
        parts.append(f"{before}{shown}{raised}{after}" if words else before)
    return "".join(parts).strip().removeprefix(LINE_BREAK.strip()).removesuffix(LINE_BREAK.strip())


def _latex_remark(remark: Remark) -> str:
    before, differs, after = map(latex_text, remark.parts)
    space = " " if remark.parts[0].endswith(" ") else ""
    bold = rf"{space}\textbf{{{differs}}}" if differs else ""
    matters = rf" (\emph{{{remark.short_weight}}})" if remark.short_weight else ""
    return rf"\noindent {KINDS[remark.kind].letter}~{before}{bold}{after}{matters}\par"
