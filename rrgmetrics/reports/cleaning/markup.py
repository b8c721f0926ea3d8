r"""HTML, LaTeX and Markdown: tags become Markdown, and Markdown becomes lines, headings with a colon and list items."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

# What a tag leaves. A name that is not here is no tag of HTML: "<DATE>" is a mark of de-identification.
_TAGS = {
    **dict.fromkeys(("br", "p", "div", "ul", "ol", "table", "tbody", "thead", "section", "article", "pre"), "\n"),
    **dict.fromkeys(("html", "body", "head", "title", "center", "header", "footer", "main", "blockquote", "dl"), "\n"),
    **dict.fromkeys(("span", "i", "u", "em", "font", "a", "code", "sub", "sup", "small", "mark", "label", "o:p"), ""),
    **dict.fromkeys(("answer", "report", "output", "response", "result", "final_answer", "final_report"), "\n"),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "\n## "),
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("li", "dt"), "\n- "),
    "dd": ": ",
    "hr": "\n\n",
    "tr": "\n",
    "td": "|",
    "th": "|",
}
_SECTIONS = ("findings", "impression", "indication", "comparison", "technique", "history", "conclusion")
TAG_NAMES = frozenset((*_TAGS, *_SECTIONS))
_CLOSED = {**dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "\n"), **dict.fromkeys(("td", "th", "li", "dd"), "")}
_NAMES = "|".join(sorted(map(re.escape, TAG_NAMES), key=len, reverse=True))
_TAG = rf"<(/?)({_NAMES})(?:\s[^<>]{{0,300}}|\s?/)?>"
_TEXT = re.compile(r"\S")
_LONGEST_TITLE = 6  # words
_NO_TITLE = re.compile(r"(?:no|there|not|without)\b", re.IGNORECASE)
_FRACTURE = re.compile(  # "# R5 and R6", "# left clavicle"
    r"(?:[a-z]*\d|(?:left|right|lt|rt|l|r|of|old|healed|acute|new|displaced|ribs?|neck|shaft|clavicle|sternum)\b)", re.I
)
_TITLE = re.compile(r"^[ \t]*(?:(#{1,6})[ \t]+([A-Za-z][^\n]*)|(\*\*|__)([A-Za-z][^\n*_]*)\3[ \t]*)$", re.MULTILINE)


def _tag(match: re.Match[str]) -> str:
    name, closes = match[2].lower(), bool(match[1])
    if name in _SECTIONS:
        return "\n" if closes else f"\n{name.capitalize()}: "
    return _CLOSED.get(name, _TAGS[name]) if closes else _TAGS[name]


def _ruled(match: re.Match[str]) -> str:
    """Gives the title above a rule a colon, if its line has none: "EXAM: XR CHEST" is no heading of what follows."""
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return "\n" if ":" in line else ":"


def _titles(text: str) -> Iterator[Edit]:
    """Finds headings of Markdown, and lines in bold; one above a line of its own text ends in a colon."""
    found = list(_TITLE.finditer(text))
    starts = {match.start() for match in found}
    for match in found:
        group = 2 if match[1] else 4
        title = match[group].rstrip(" \t#")
        if match[1] == "#" and (len(found) == 1 or _FRACTURE.match(title)):
            continue
        following = _TEXT.search(text, match.end())
        alone = following is None or text.rfind("\n", 0, following.start()) + 1 in starts
        short = len(title.split()) <= _LONGEST_TITLE and title[-1] not in ".:;,!?"
        heads = short and not alone and not _NO_TITLE.match(title)
        yield Edit(match.start(), match.start(group), "- " if match[1] == "#" and alone else "")
        yield Edit(match.start(group) + len(title), match.end(), ":" if heads else "", 0)


_RTF_WORD = re.compile(r"\{\\(?:fonttbl|colortbl|stylesheet|info|\*)(?:[^{}]|\{[^{}]*\})*\}|\\([a-z]+)-?\d* ?|[{}]")


def _rtf(text: str) -> Iterator[Edit]:
    """Finds the control words, groups and tables of RTF; paragraphs are lines."""
    if text.lstrip().startswith(r"{\rtf"):
        for number, word in enumerate(_RTF_WORD.finditer(text)):
            yield Edit(*word.span(), "\n" if word[1] in ("par", "line", "sect", "page") else "", int(not number))


_PLACE = r"<(?:[xy]|loc_?|bin_?|seg_?|coord_?|patch_index_)\d{1,4}>"
_ANY_TAG = re.compile(r"<(?P<closes>/?)(?P<name>[A-Za-z][\w.:-]{0,30})(?P<more>\s[^<>]{0,200}|/)?>")
_ATTRIBUTES = re.compile(r"(?:\s+[\w:.-]{1,40}=(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+))*\s*/?")


def _other_tags(text: str) -> Iterator[Edit]:
    """Finds tags of other names: those that are closed or hold attributes; "<DATE>" is a mark of de-identification.

    One that begins or ends a statement is replaced by a line end: "<obj>No edema.</obj>", "a <ref>nodule</ref> in".
    """
    tags = list(_ANY_TAG.finditer(text))
    closed = {tag["name"] for tag in tags if tag["closes"]}
    before, at = "", 0
    for tag in tags:
        before = (before + text[at : tag.start()])[-40:]
        at = tag.end()
        begins = before.rstrip(" \t")[-1:] in ("", "\n", *".!?:;")
        if tag["name"] in closed or (tag["more"] and _ATTRIBUTES.fullmatch(tag["more"])):
            yield Edit(*tag.span(), "\n" if begins else "")
        else:
            before += tag[0]


_LATEX = re.compile(r"\\(?:[a-zA-Z]{2,20}\*?[{\[]|item\b|par\b|noindent\b|times\b|[\[(]\s)")
_LATEX_MARK = re.compile(
    r"\\(?:(?:sub){0,2}section|(?:sub)?paragraph|chapter|title)\*?\{(?P<title>[^{}\n]{1,80})\}"
    r"|\\(?:label|ref|cite|documentclass|usepackage|vspace|hspace|begin|end)\*?(?:\[[^\]\n]{0,80}\])?\{[^{}\n]{0,80}\}"
    r"|\\(?P<name>[a-zA-Z]{2,20})\*?(?:\[[^\]\n]{0,80}\])?(?:[{ ]|(?=[^a-zA-Z]))"
    r"|\\(?P<escaped>[%&_#${}])|\\\\|\\[\[\]()]|(?P<tie>~)|[{}$]"
)
_LATEX_NAMES = {"item": "\n- ", "par": "\n", "newline": "\n", "times": "x ", "pm": "± ", "leq": "≤ ", "geq": "≥ "}


def _latex(text: str) -> Iterator[Edit]:
    """Finds the commands, braces and escapes of LaTeX; titles of sections are headings."""
    for mark in _LATEX_MARK.finditer(text) if _LATEX.search(text) else ():
        new = " " if mark["tie"] else mark["escaped"] or _LATEX_NAMES.get(mark["name"] or "", "")
        if mark["title"]:
            yield Edit(mark.start(), mark.start("title"), "\n")
            yield Edit(mark.end("title"), mark.end(), ":" if mark["title"][-1] != ":" else "", 0)
        else:
            yield Edit(*mark.span(), "\n" if mark[0] == r"\\" else new)


_RULE = re.compile(r"[-=*][ \t]*[-=*][ \t]*[-=*]")
_EMPHASIS = r"(?<!\[)\*{2,3}(?!\])|(?<![_\w])__(?=[A-Za-z])|(?<=[A-Za-z.:])__(?![_\w])|`"
DECLARATIONS = (
    replacing("XML declaration", ("<?xml", "<![CDATA["), r"(?i)<\?xml\b[^<>]{0,200}\?>\s*|<!\[CDATA\[|\]\]>"),
)
_DELETED = (  # by HTML, by wdiff, in CriticMarkup: "{~~large~>small~~}"
    r"(?is)<(del|strike)>[^<>]{0,500}</\1>|(?<=[a-z,] )<s>[^<>]{0,80}</s>"
    r"|\[-[^\[\]\n]{0,500}-\]|\{--[^{}\n]{0,500}--\}|\{>>[^{}\n]{0,500}<<\}"
    r"|\{~~[^{}\n]{0,500}~>|~~\}|\{\+{1,2}|\+{1,2}\}"
)
_CHANGED = re.compile(r"</(?:del|strike|s)>|-\]|[-~+]\}|<<\}", re.IGNORECASE)
SOURCES = (Step("RTF", "\\", _rtf), Step("LaTeX", "\\", _latex, _LATEX))
BOXES = (
    replacing("change mark", ("<", "{", "[-"), _DELETED, where=_CHANGED),
    replacing("box", "<", r"<\|(\w{1,20})_start\|>[^A-Za-z<]{0,200}<\|\1_end\|>"),  # of Qwen, by its corners
    replacing("box", "<", r"<\|\w{1,20}_ref_(?:start|end)\|>"),
    replacing("box", "<", _PLACE),
    replacing("box", "<", r"<(\w{1,20})>[^A-Za-z<>]{0,200}</\1>"),
)
TAGS = (
    replacing("HTML tag", "<", r"(?is)<!--.*?(?:-->|\Z)|<!DOCTYPE[^<>]*>"),
    replacing("HTML tag", "<", rf"(?i){_TAG}", _tag),
    Step("tag", "<", _other_tags, _ANY_TAG),
    replacing("Markdown", "`", r"(?m)^[ \t]*```\w*[ \t]*(?:\n|\Z)|```"),
    replacing("Markdown", ">", r"(?m)^(?:[ \t]*>)+[ \t]?(?=[^\s\d>])"),
    replacing("Markdown", "\n", r"(?m)(?<=[A-Z\d)])(?P<cut>[ \t]*\n[ \t]*(?:={3,}|-{3,}))[ \t]*$", _ruled),
    replacing(
        "Markdown", "-*=", r"(?m)^[ \t]*(?:-[ \t]*-[ \t]*-[ \t-]*|\*[ \t]*\*[ \t]*\*[ \t*]*|={3,})$", where=_RULE
    ),
    replacing("Markdown", "~", r"~~[^~\n]+~~"),  # struck out
)
MARKDOWN = (
    Step("Markdown", "#*_", _titles),
    replacing("Markdown", "*_`", _EMPHASIS),
    replacing("Markdown", "*", r"(?<![\w*\n])\*(?=[A-Za-z])|(?<=[A-Za-z.,:;)])\*(?![\w*])"),
    replacing("Markdown", "_", r"(?<!\w)_(?=[A-Za-z])|(?<=[A-Za-z\d%.,:;)])_(?!\w)"),
    replacing("", "_", r"(?<=[a-z])_(?=[a-z])", " "),  # "pleural_effusion: small"
)
