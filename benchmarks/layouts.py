r"""Whether a report reads the same however it is laid out: HTML, control tokens, lists, Markdown, line breaks, spaces.

    python benchmarks/layouts.py                                        # invented reports of this repository
    python benchmarks/layouts.py reports.csv --columns findings impression --limit 500
    python benchmarks/layouts.py reports.jsonl --columns report --layout "inline list 1)" --misses 5

A metamorphic test: each layout rewrites a report without changing its content, so that the reading must not change.
Two readings are the same if they hold the same findings, up to spans, order and section, and are of the same kind of
text, and if the reader's comparison finds no error between them, whichever of the two is the reference. A layout that
loses information ("no punctuation") says what it loses; there a few reports may read otherwise.

Printed for each layout: the reports, the share that reads otherwise, and of that the share in which a field differs
and the share in which the comparison counts an error; the errors a report, with the layout as the candidate.

Only reports that can be read as they are count. `--misses` prints text of the reports.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import quopri
import random
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

from rrgmetrics.comparing import ReportComparison, compare
from rrgmetrics.reading import Finding, Reading, read
from rrgmetrics.reading.lexicon import all_packs
from rrgmetrics.reading.scope import out_of_scope
from rrgmetrics.reports.text import r2gen, split_sections, words

ROOT = Path(__file__).parents[1]
READ_SETS = {"development": 1, "blind": 1, "second": 1, "third": 1, "fourth": 2, "fifth": 2, "weak": 1}  # every nth
SENTENCE_END = re.compile(r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bvs\.)(?<!\bapprox\.)(?<=[\w)%'][.?!])\s+(?=[A-Z0-9(])")
LIST_NUMBER = re.compile(r"^\(?\d{1,2}[.)](?:\s+|$)")

Section = tuple[str, tuple[str, ...]]  # a heading in capitals or "", and the sentences under it
Body = Callable[[Sequence[str]], str]
Marks = str | Callable[[int], str]  # before each item of a list, or made of its number


class Report(NamedTuple):
    """A report: a name to find it by, the text as it was given, and its sections."""

    name: str
    text: str
    sections: tuple[Section, ...]

    @classmethod
    def of(cls, name: str, parts: Iterable[tuple[str, str]]) -> Report:
        """Makes a report of headings and texts."""
        kept = [(heading, " ".join(text.split())) for heading, text in parts if text.strip()]
        text = "\n\n".join(f"{heading}: {body}" if heading else body for heading, body in kept)
        return cls(name, text, tuple((heading, sentences(body)) for heading, body in kept))


Writer = Callable[[Report], str]


@dataclass(frozen=True)
class Layout:
    """A way to write a report.

    Attributes:
        name: What it is called in the table.
        write: Writes a report in this layout.
        loses: What information it loses; "" if none.
    """

    name: str
    write: Writer
    loses: str = ""


@dataclass
class Tally:
    """The reports of one layout, and how many of them read otherwise."""

    reports: int = 0
    otherwise: int = 0
    fields: int = 0
    compared: int = 0
    errors: int = 0


class Difference(NamedTuple):
    """How the reading of a layout differs from that of the original."""

    only_original: frozenset[Finding]
    only_layout: frozenset[Finding]
    kinds: tuple[str, str]
    forward: ReportComparison
    backward: ReportComparison

    @property
    def in_fields(self) -> bool:
        """Whether a finding has another value in any field, or the text is of another kind."""
        return bool(self.only_original or self.only_layout) or self.kinds[0] != self.kinds[1]

    @property
    def in_comparison(self) -> bool:
        """Whether the reader's comparison counts an error."""
        return bool(self.forward.whole.errors or self.backward.whole.errors)

    def lines(self) -> Iterator[str]:
        """Yields the difference in words."""
        if self.kinds[0] != self.kinds[1]:
            yield f"    kind of text: {self.kinds[0]} | {self.kinds[1]}"
        for name, findings in (("original", self.only_original), ("layout", self.only_layout)):
            yield from (f"    only {name}: {described(finding)}" for finding in findings)
        yield from (f"    counted {error.category.letter}: {error.sentence}" for error in self.forward.errors)


def sentences(text: str) -> tuple[str, ...]:
    """Splits a text into sentences; numbers of a list are left out.

    >>> sentences("1. No effusion. 2. Tip 4.5 cm above the carina.")
    ('No effusion.', 'Tip 4.5 cm above the carina.')
    """
    return tuple(filter(None, (LIST_NUMBER.sub("", part) for part in SENTENCE_END.split(text))))


def bare(sentence: str) -> str:
    """A sentence without its full stop."""
    return sentence.rstrip(" .")


def uncapitalised(sentence: str) -> str:
    """A sentence that begins with a small letter; "AP" and "T12" stay."""
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence


def write(report: Report, body: Body = " ".join, heading: str = "{}: ", gap: str = "\n\n") -> str:
    """Writes the sections of a report, each as its heading and its body."""
    return gap.join((heading.format(name) if name else "") + body(said) for name, said in report.sections)


def as_text(change: Callable[[str], str]) -> Writer:
    """A layout that changes the text as a whole."""
    return lambda report: change(report.text)


def as_sections(body: Body, heading: str = "{}: ", gap: str = "\n\n") -> Writer:
    """A layout that writes the sentences of each section anew."""
    return lambda report: write(report, body, heading, gap)


def wrapped_in(before: str, after: str = "") -> Writer:
    """A layout with something before and after the text."""
    return lambda report: before + report.text + after


def marked(marks: Marks, between: str = "\n", *, stops: bool = True, after: str = "") -> Body:
    """A list: a mark before each sentence, and something between two."""
    mark = marks if callable(marks) else (lambda _: marks)
    return lambda said: between.join(f"{mark(i + 1)}{s if stops else bare(s)}{after}" for i, s in enumerate(said))


def inline(marks: Marks) -> Writer:
    """A list on one line, without full stops."""
    return as_sections(marked(marks, " ", stops=False))


def separated(between: str) -> Writer:
    """Sentences with something between two in place of the full stop."""
    return as_sections(marked("", between, stops=False))


def on_lines(marks: Marks, *, stops: bool = True, heading: str = "{}:\n") -> Writer:
    """A list with each sentence on a line of its own."""
    return as_sections(marked(marks, stops=stops), heading)


def between_sentences(token: str) -> Writer:
    """Sentences with something between two, behind the full stop."""
    return as_sections(token.join)


def every(n: int, old: str, new: str) -> Callable[[str], str]:
    """Replaces every nth occurrence."""

    def change(text: str) -> str:
        number = count(1)
        return re.sub(re.escape(old), lambda match: match[0] if next(number) % n else new, text)

    return change


def numbered(form: str) -> Callable[[int], str]:
    """Marks with the number of the item: "{}) "."""
    return form.format


def lettered(form: str) -> Callable[[int], str]:
    """Marks with the letter of the item: "a) "."""
    return lambda n: form.format(ascii_lowercase[(n - 1) % 26])


def word_pieces(text: str) -> str:
    """A text as a WordPiece tokenizer decodes it: small letters, each mark a token of its own."""
    return " ".join(re.sub(r"([^\w\s])", r" \1 ", text.lower()).split())


def cleaned_up(text: str) -> str:
    """A WordPiece text with the tokenizer's own cleaning of spaces, which leaves "4. 5"."""
    text = word_pieces(text)
    for mark in (".", "?", "!", ","):
        text = text.replace(f" {mark}", mark)
    return text.replace(" ' s", "'s")


def entities(text: str) -> str:
    """A text with the entities of HTML, some spaces among them."""
    return every(4, " ", "&nbsp;")(html.escape(text).replace("&#x27;", "&#39;"))


def wrapped(width: int, indent: str = "") -> Callable[[str], str]:
    """Lines of at most so many characters."""

    def change(text: str) -> str:
        paragraphs = text.split("\n\n")
        return "\n\n".join(textwrap.fill(part, width, subsequent_indent=indent) for part in paragraphs)

    return change


def mapped(table: dict[str, str]) -> Callable[[str], str]:
    """Replaces strings."""

    def change(text: str) -> str:
        for old, new in table.items():
            text = text.replace(old, new)
        return text

    return change


def full_width(text: str) -> str:
    """A text in the full-width forms of Asian encodings."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def typographic(text: str) -> str:
    """Curly quotes, and dashes and hyphens that are not those of a keyboard."""
    text = re.sub(r'"([^"]*)"', r"“\1”", text).replace("'", "’")
    return re.sub(r"(?<=\w)-(?=[A-Za-z])", "\u2011", re.sub(r"(?<=\d)-(?=\d)", "–", text))


def as_json(report: Report) -> str:
    """The sections as fields of a JSON object."""
    return json.dumps({(name or "report").lower(): " ".join(said) for name, said in report.sections})


def fields_only(report: Report) -> str:
    """The fields of a JSON object, without its braces."""
    return ",\n".join(f'"{(name or "report").lower()}": "{" ".join(said)}"' for name, said in report.sections)


def markdown_table(report: Report) -> str:
    """A table with a row for each sentence."""
    rows = [f"| {(name or 'Report').capitalize()} | {s} |" for name, said in report.sections for s in said]
    return "\n".join(["| Section | Text |", "|---|---|", *rows])


def html_page(report: Report) -> str:
    """A page of HTML."""
    body = write(report, lambda said: f"<p>{' '.join(said)}</p>", "<h2>{}</h2>", "\n")
    return f"<html><body><div>\n{body}\n</div></body></html>"


def unpunctuated(text: str) -> str:
    """A text without punctuation; decimal points, hyphens, slashes and apostrophes stay."""
    return re.sub(r"[ \t]+", " ", re.sub(r"(?<!\d)[.,;:?!()\"]|[.,;:?!()\"](?!\d)", " ", text))


def without_commas(text: str) -> str:
    """A text without commas."""
    return re.sub(r" +", " ", re.sub(r",(?!\d)", " ", text))


def spliced(mark: str) -> Body:
    """Sentences with a comma or the like between them, and one full stop."""
    return lambda said: mark.join([bare(said[0]), *(uncapitalised(bare(s)) for s in said[1:])]) + "."


def lower_lines(said: Sequence[str]) -> str:
    """A sentence a line, in small letters, without full stops."""
    return "\n".join(bare(s).lower() for s in said)


def broken(width: int) -> Callable[[str], str]:
    """Lines of about so many characters; where a long word would not fit, it is broken behind a syllable."""
    word = re.compile(rf"([^\n]{{{width}}}[^\n]*? [A-Za-z]{{2,}}?[aeiouy])(?=[bcdfghklmnprstv][aeiouy][a-z]{{2}})")

    def change(text: str) -> str:
        return word.sub(r"\1-\n", text)

    return change


def hl7(report: Report) -> str:
    """The lines of a report as observations of an HL7 message."""
    lines = report.text.splitlines()
    return "\n".join(
        ["MSH|^~\\&|RIS|GENERAL|||20220312", *(f"OBX|{n}|TX|RAD^Report||{x}" for n, x in enumerate(lines, 1))]
    )


def each_line(mark: Marks) -> Writer:
    """Sentences on lines that begin with a mark of the system that wrote them; headings are lines too."""

    def change(report: Report) -> str:
        number = count(1)
        lines = on_lines("")(report).split("\n")
        return "\n".join((mark if isinstance(mark, str) else mark(next(number))) + line for line in lines if line)

    return change


def quoted_printable(text: str) -> str:
    """A text as mail carries it: "=" at the end of a line that goes on in the next."""
    return "=3D=3D=3D\n" + "\n".join(quopri.encodestring(line.encode()).decode() for line in text.split("\n"))


def as_call(report: Report) -> str:
    """The sections as arguments of an object that Python prints."""
    fields = ", ".join(f"{(name or 'report').lower()}={' '.join(said)!r}" for name, said in report.sections)
    return f"Report(id=7, {fields}, score=None)"


def as_latex(report: Report) -> str:
    """The sections of a LaTeX document."""
    return write(report, heading=r"\paragraph{{{}}} ").replace("%", r"\%").replace(" x ", r" $\times$ ")


LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
HEADER = "<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>\n\n"
THOUGHT = "<think>\nA large right effusion? No, the angle is sharp. A left pneumothorax is possible.\n</think>\n\n"
CLOSING = "\n\nPlease let me know if you would like any further details."

LAYOUTS = (
    # Files and web pages
    Layout("HTML entities", as_text(entities)),
    Layout("HTML entities, spaces", as_text(every(3, " ", "&nbsp;"))),
    Layout("<br> between sentences", between_sentences("<br>")),
    Layout("<br/> for full stops", separated("<br/>")),
    Layout("<p> each sentence", as_sections(marked("<p>", "", after="</p>"), "<b>{}:</b>")),
    Layout("<ul><li>", as_sections(lambda said: f"<ul>{marked('<li>', '', after='</li>', stops=False)(said)}</ul>")),
    Layout("HTML page", html_page),
    Layout("CRLF", lambda report: on_lines("")(report).replace("\n", "\r\n")),
    Layout("literal \\n", lambda report: on_lines("")(report).replace("\n", "\\n")),
    Layout("tabs between sentences", separated("\t")),
    Layout("non-breaking spaces", as_text(every(3, " ", "\u00a0"))),
    Layout("thin and wide spaces", as_text(lambda t: every(3, " ", "\u2009")(every(4, " ", "\u3000")(t)))),
    Layout("zero-width spaces, byte order mark", as_text(lambda t: "\ufeff" + every(3, " ", " \u200b")(t))),
    Layout("soft hyphens", as_text(mapped({"fus": "fu\u00ads", "lung": "lun\u00adg", "norm": "nor\u00adm"}))),
    Layout("curly quotes, other dashes", as_text(typographic)),
    Layout("ligatures", as_text(mapped(LIGATURES))),
    Layout("full width", as_text(full_width)),
    Layout("JSON object", as_json),
    Layout("JSON fields", fields_only),
    Layout("quoted string", as_text(lambda t: json.dumps(t.replace("\n", " ")))),
    Layout("list of strings", lambda report: repr([s for _, said in report.sections for s in said])),
    Layout("repeated spaces", as_text(lambda t: t.replace(" ", "   "))),
    Layout("no space behind full stops", as_sections("".join)),
    Layout("doubled full stops", as_sections(lambda said: " ".join(f"{bare(s)}. ." for s in said))),
    # Decoding
    Layout("space before punctuation", as_text(lambda t: re.sub(r"([.,;:])(?=\s|$)", r" \1", t))),
    Layout("WordPiece", as_text(word_pieces)),
    Layout("WordPiece, cleaned up", as_text(cleaned_up)),
    Layout("decimal comma", as_text(lambda t: re.sub(r"(?<=\d)\.(?=\d)", ",", t))),
    Layout("all lower case", as_text(str.lower)),
    Layout("all capitals", as_text(str.upper)),
    Layout("ChatML", wrapped_in("<|im_start|>assistant\n", "<|im_end|>")),
    Layout("Llama header and <|eot_id|>", wrapped_in(HEADER, "<|eot_id|>")),
    Layout("Gemma turn", wrapped_in("<bos><start_of_turn>model\n", "<end_of_turn>\n<eos>")),
    Layout("<s> </s> <pad>", wrapped_in("<s> ", " </s><pad><pad><pad>")),
    Layout("[CLS] [SEP] [PAD]", wrapped_in("[CLS] ", " [SEP] [PAD] [PAD]")),
    Layout("<|endoftext|> behind", wrapped_in("", "<|endoftext|>")),
    Layout("[EOS] behind", wrapped_in("[BOS]", "[EOS]")),
    Layout("<unk> behind", wrapped_in("", " <unk>")),
    Layout("<|assistant|> <|end|>", wrapped_in("<|assistant|>\n", "<|end|>")),
    Layout("[INST] [/INST]", wrapped_in("<s>[INST] <image> [/INST] ", "</s>")),
    Layout("<｜end▁of▁sentence｜>", wrapped_in("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>")),
    Layout("<image> <extra_id_0>", wrapped_in("<image>\n", " <extra_id_0>")),
    Layout("[SEP] between sentences", between_sentences(" [SEP] ")),
    Layout("<unk> between sentences", between_sentences(" <unk> ")),
    Layout("</s> between sentences", between_sentences("</s>")),
    Layout("<|sep|> for full stops", separated(" <|sep|> ")),
    Layout("thought before", wrapped_in(THOUGHT)),
    Layout("thought and <answer>", wrapped_in(THOUGHT + "<answer>", "</answer>")),
    Layout("preamble", wrapped_in("Here is the report:\n\n")),
    Layout("preamble and closing", wrapped_in("Sure! Here is the radiology report for the image:\n\n", CLOSING)),
    # Lists on one line, without full stops
    Layout("inline list 1)", inline(numbered("{}) "))),
    Layout("inline list (1)", inline(numbered("({}) "))),
    Layout("inline list 1.", inline(numbered("{}. "))),
    Layout("inline list #1", inline(numbered("#{} "))),
    Layout("inline list 1:", inline(numbered("{}: "))),
    Layout("inline list a)", inline(lettered("{}) "))),
    Layout("inline list -", inline("- ")),
    Layout("inline list *", inline("* ")),
    Layout("inline list •", inline("• ")),
    Layout("inline list =>", inline("=> ")),
    Layout("bars between", separated(" | ")),
    Layout("semicolons between", as_sections(spliced("; "))),
    # Lines
    Layout("line a sentence", on_lines("")),
    Layout("line a sentence, no full stops", on_lines("", stops=False)),
    Layout("blank lines between", as_sections("\n\n".join, "{}:\n\n", "\n\n\n")),
    Layout("bullets -", on_lines("- ")),
    Layout("bullets -, no full stops", on_lines("- ", stops=False)),
    Layout("bullets •, no full stops", on_lines("• ", stops=False)),
    Layout("numbered lines 1.", on_lines(numbered("{}. "))),
    Layout("numbered lines 1), no full stops", on_lines(numbered("{}) "), stops=False)),
    Layout("arrows ->, no full stops", on_lines("-> ", stops=False)),
    Layout("lines of 40", as_text(wrapped(40))),
    Layout("lines of 72", as_text(wrapped(72))),
    Layout("lines of 60, indented", as_text(wrapped(60, "    "))),
    # Markdown and headings
    Layout("Markdown bullets, bold headings", on_lines("* ", heading="**{}:**\n")),
    Layout("Markdown headings", as_sections(" ".join, "## {}\n\n")),
    Layout("Markdown bold sentences", as_sections(marked("**", " ", after="**"))),
    Layout("Markdown italics", as_sections(marked("_", " ", after="_"))),
    Layout("Markdown table", markdown_table),
    Layout("Markdown fence", wrapped_in("```text\n", "\n```")),
    Layout("Markdown quote", as_text(lambda t: re.sub(r"^", "> ", t, flags=re.MULTILINE))),
    Layout("Markdown numbers, bold", as_sections(marked(lambda n: f"{n}. **", after="**"), "### {}\n")),
    Layout("headings alone", as_sections(" ".join, "{}\n", "\n")),
    Layout("headings in the same line", as_sections(" ".join, gap=" ")),
    Layout("headings <FINDINGS>", as_sections(" ".join, "<{}> ")),
    Layout("headings [FINDINGS]", as_sections(" ".join, "[{}] ")),
    Layout("headings === FINDINGS ===", as_sections(" ".join, "=== {} ===\n")),
    Layout("headings FINDINGS -", as_sections(" ".join, "{} - ")),
    # Logs, transcripts, annotations, sources
    Layout("log lines", each_line("2024-03-01 08:15:02,113 - infer - INFO - ")),
    Layout("chat lines", each_line(lambda n: f"[03/04/21, 09:{n % 60:02}:10] Dr Shah: ")),
    Layout("line numbers", lambda r: each_line("{:4}  ".format)(Report.of(r.name, [("", wrapped(60)(r.text))]))),
    Layout("diff", lambda r: "--- a.txt\n+++ b.txt\n@@ -0,0 +1,9 @@\n" + each_line("+")(r)),
    Layout("colours of a terminal", as_sections(" ".join, "\x1b[1;36m{}:\x1b[0m ")),
    Layout("quoted-printable", as_text(quoted_printable)),
    Layout("LaTeX", as_latex),
    Layout("call in Python", as_call),
    Layout("<obj> and <box>", as_sections(marked("<obj>", "", after="<box><x12><y3><x40><y41></box></obj>"))),
    Layout('<sent id="1">', as_sections(marked('<sent id="{}">'.format, "\n", after="</sent>"), "{}\n")),
    # With loss
    Layout("words broken at line ends", as_text(broken(50))),
    Layout("capitals, lines of 60", as_text(lambda text: wrapped(60)(text.upper()))),
    Layout("dictated full stops", separated(" period ")),
    Layout("HL7 observations", hl7),
    Layout(
        "codes before, signature behind", wrapped_in("MRN 00981234\nCPT 71046\n", "\nDLP 12 mGy.cm\nDr A Smith FRCR")
    ),
    Layout("between two headings", wrapped_in("TECHNIQUE: PA and lateral.\n\n", "\n\nSIGNED: J. Doe")),
    Layout("lower-case lines, no full stops", as_sections(lower_lines, "{}:\n"), "whether a line goes on in the next"),
    Layout("commas for full stops", as_sections(spliced(", ")), "which commas end a statement"),
    Layout("no commas", as_text(without_commas), "where an item of a list ends"),
    Layout("no punctuation", lambda r: unpunctuated(as_sections(" ".join, "{}\n", "\n")(r)), "where a sentence ends"),
    Layout("?text=words", as_text(words), "where a sentence ends, hyphens, capitals"),
    Layout("?text=r2gen", as_text(r2gen), "decimal points, commas, capitals"),
)


def difference(report: Report, layout: Layout, original: Reading) -> Difference | None:
    """Returns how a layout reads otherwise than the original; None if it reads the same."""
    reading = read(layout.write(report))
    first, second = frozenset(map(plain, original.findings)), frozenset(map(plain, reading.findings))
    forward, backward = compare(original, reading), compare(reading, original)
    kinds = original.scope.kind, reading.scope.kind
    found = Difference(first - second, second - first, kinds, forward, backward)
    return found if found.in_fields or found.in_comparison else None


def plain(finding: Finding) -> Finding:
    """A finding without its place in the text."""
    return replace(finding, spans=(), section="", sentence=0, observation=min(finding.observation, 0))


def described(finding: Finding) -> str:
    """The fields of a finding that say something."""
    plain_one = plain(finding)
    said = {field.name: getattr(plain_one, field.name) for field in fields(finding)}
    return ", ".join(f"{name} {value}" for name, value in said.items() if value or (value == 0 and name == "severity"))


def measure(reports: Sequence[Report], layout: Layout, originals: Sequence[Reading], misses: int = 0) -> Tally:
    """Counts how often a layout reads otherwise; prints the first `misses` differences."""
    tally = Tally()
    for report, original in zip(reports, originals, strict=True):
        tally.reports += 1
        found = difference(report, layout, original)
        if found is None:
            continue
        tally.otherwise += 1
        tally.fields += found.in_fields
        tally.compared += found.in_comparison
        tally.errors += len(found.forward.whole.errors)
        if tally.otherwise <= misses:
            print(f"{layout.name}, {report.name}: {layout.write(report)!r}", *found.lines(), sep="\n")
    return tally


def readable(reports: Iterable[Report]) -> tuple[list[Report], list[Reading]]:
    """Keeps the reports that can be read as they are, with their readings."""
    readings = [(report, read(report.text)) for report in reports]
    kept = [
        (report, reading)
        for report, reading in readings
        if not out_of_scope(reading.scope, all_packs()[reading.pack].title) and not reading.scope.silent
    ]
    return [report for report, _ in kept], [reading for _, reading in kept]


def of_text(name: str, text: str) -> Report:
    """Makes a report of a text with or without headings; only its findings and impression are kept."""
    parts = split_sections(text)
    headed = (("", parts.body), ("FINDINGS", parts.findings_section), ("IMPRESSION", parts.impression))
    return Report.of(name, headed)


def invented() -> list[Report]:
    """The invented reports of this repository that may be read."""
    reports = []
    for path in sorted((ROOT / "examples").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            reports += [of_text(f"{path.stem} {row['study_id']}", row["report"]) for row in csv.DictReader(file)]
    for line in (ROOT / "benchmarks" / "voices" / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        nth = READ_SETS.get(row["set"], 0)
        if nth and int(re.sub(r"\D", "", row["id"])) % nth == nth - 1:
            reports.append(of_text(row["id"], row["reference"]))
    for line in (ROOT / "benchmarks" / "chest_ct" / "labelled.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        reports.append(of_text(row["id"], row["report"]))
    return [report for report in reports if report.sections]


def from_file(path: Path, columns: Sequence[str]) -> list[Report]:
    """Reads the reports of a CSV or JSONL file; a column named findings or impression is a section."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [json.loads(line) for line in file] if path.suffix == ".jsonl" else [*csv.DictReader(file)]
    reports = []
    for number, row in enumerate(rows, 1):
        if len(columns) == 1:
            reports.append(of_text(f"row {number}", str(row.get(columns[0]) or "")))
        else:
            reports.append(Report.of(f"row {number}", [(name.upper(), str(row.get(name) or "")) for name in columns]))
    return [report for report in reports if report.sections]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="CSV or JSONL; the repository's invented reports without it")
    parser.add_argument("--columns", nargs="+", default=["findings", "impression"])
    parser.add_argument("--limit", type=int, default=0, help="so many reports, drawn at random; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--layout", default="", help="only layouts whose name contains this")
    parser.add_argument("--misses", type=int, default=0, help="print the first so many differences of each layout")
    options = parser.parse_args(arguments)
    reports = from_file(options.file, options.columns) if options.file else invented()
    if options.limit and options.limit < len(reports):
        reports = random.Random(options.seed).sample(reports, options.limit)
    reports, originals = readable(reports)
    if not reports:
        sys.exit("No report can be read; name the columns that hold the text with --columns.")
    print(f"{'layout':42} {'reports':>7} {'otherwise':>9} {'fields':>7} {'compare':>7} {'errors':>7}  loses")
    for layout in (each for each in LAYOUTS if options.layout in each.name):
        tally = measure(reports, layout, originals, options.misses)
        shares = [part / tally.reports for part in (tally.otherwise, tally.fields, tally.compared)]
        print(
            f"{layout.name:42} {tally.reports:7} {shares[0]:9.1%} {shares[1]:7.1%} {shares[2]:7.1%} "
            f"{tally.errors / tally.reports:7.3f}  {layout.loses}".rstrip(),
            flush=True,
        )


if __name__ == "__main__":
    main()
