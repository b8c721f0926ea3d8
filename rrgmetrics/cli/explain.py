"""`rrgmetrics explain`: two reports, what differs, and what metrics say of it; on a terminal or as a file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_lexicon, add_writing, split_names
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.comparing import ReportComparison
from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import read_text, working_folder
from rrgmetrics.reading.lexicon.packs import AUTO, check_pack
from rrgmetrics.reports import Pair, check_report
from rrgmetrics.reports.missing import says_nothing
from rrgmetrics.scoring.defaults import fitting_metrics
from rrgmetrics.scoring.packs import experimental_note
from rrgmetrics.scoring.prepared import score
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import parse_name

_TABLES = (".csv", ".jsonl", ".parquet", ".gz", ".zst")
_FILE_NAME = re.compile(
    r"(~|\.{0,2}/)\S+|.*\.(txt|text|md|csv|jsonl?|parquet|gz|zst|html?|docx?|rtf|pdf)", re.IGNORECASE
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics explain`."""
    parser.set_defaults(run=run)
    parser.add_argument("reference", metavar="REFERENCE", help="the radiologist's report, as text or as a text file")
    parser.add_argument(
        "candidate",
        metavar="CANDIDATE",
        nargs="?",
        help="the machine's report, as text or as a text file; without it, --trace shows how the first report is read",
    )
    parser.add_argument(
        "--age", default="", help="age of the patient, such as 072Y, 19M or 25; affects which errors are significant"
    )
    parser.add_argument("--sex", default="", help="sex of the patient: F, M or O; used in the prompts of judges")
    parser.add_argument(
        "--indication", default="", help="indication for the examination; affects which errors are significant"
    )
    parser.add_argument(
        "--prior",
        default="",
        help="the prior report, as text or as a text file; a comparison that it supports is not an error",
    )
    parser.add_argument(
        "--modality",
        default=AUTO,
        help="kind of both reports: chest_xray, chest_ct, ...; auto (default) takes the kind of the reference",
    )
    parser.add_argument(
        "--metrics",
        "--judges",
        nargs="+",
        default=[],
        metavar="NAME",
        help="also show the results of these metrics: crepe, green, crimson@openai:<model>, ..., all, or a preset",
    )
    parser.add_argument(
        "--trace",
        action="store_true",
        help="also show which words and rules set each field of a finding, and which steps compared findings",
    )
    parser.add_argument("--html", metavar="FILE", help="write the comparison as a page (.html)")
    parser.add_argument("--json", metavar="FILE", help="write the comparison as JSON (.json)")
    parser.add_argument("--latex", metavar="FILE", help="write both reports and the errors as a LaTeX figure (.tex)")
    add_lexicon(parser)
    add_writing(parser)


def run(options: argparse.Namespace) -> None:
    """Prints and writes both reports, their differences, and what the metrics that were named say."""
    from rrgmetrics.comparing import explain
    from rrgmetrics.reporting.marks import Explanation
    from rrgmetrics.reporting.terminal import explained, verdict

    if options.candidate is None:
        _explain_reading(options)
        return
    files.check_outputs(pages=[options.html], results=[options.json], documents=[options.latex], force=options.force)
    context = {"age": options.age, "sex": options.sex, "indication": options.indication}
    context["prior"] = _report_text(options.prior)
    reference, candidate = (_report_text(text) for text in (options.reference, options.candidate))
    check_report(reference, "REFERENCE")
    check_report(candidate, "CANDIDATE")
    comparison = explain(
        candidate=candidate,
        reference=reference,
        context=context,
        modality=check_pack(options.modality, "--modality"),
        trace=options.trace,
    )
    results = _scored(split_names(options.metrics), reference, candidate, context)
    pair = Pair(reference, candidate)
    console = Terminal(highlight=False)
    shown = Explanation.of(comparison)
    console.print(explained(reference, candidate, shown))
    if not comparison.out_of_scope and (note := experimental_note(comparison.pack)):
        console.print(f"\n{note}", markup=False)
    if note := missing_note(reference):
        console.print(f"\n{note}", markup=False)
    if options.trace:
        print_traces(console, {"reference": reference, "candidate": candidate}, options.modality)
        if comparison.trace is not None:
            console.print("\nHow both were compared\n", style="bold", markup=False)
            console.print(str(comparison.trace), markup=False, soft_wrap=True)
    for name, result in results.items():
        console.print(verdict(name, result, pair, shown))
    _write(options, pair, comparison, results)


def missing_note(reference: str) -> str:
    """Returns that the reference is missing, as a sentence; "" if it is not."""
    if not says_nothing(reference):
        return ""
    is_empty = not reference.strip()
    return f"The reference is {'empty' if is_empty else 'missing'}; `score` leaves such a pair unscored."


def _scored(names: Sequence[str], reference: str, candidate: str, context: Mapping[str, str]) -> dict[str, Result]:
    """The results of metrics by the name that was asked for, with what they say of the pair where they can say it."""
    if not names:
        return {}
    asked = {name: str(parse_name(name).explaining()) for name in fitting_metrics(names, [reference])}
    texts = [*asked.values()]
    results = score(texts, predictions=[candidate], references=[reference], contexts=[context], missing="empty")
    return {name: results[each] for name, each in asked.items()}


def _write(
    options: argparse.Namespace, pair: Pair, comparison: ReportComparison, results: Mapping[str, Result]
) -> None:
    from rrgmetrics.reporting.example import as_json, as_latex, as_page

    if options.html:
        files.write_text(options.html, as_page(pair, comparison, results), force=options.force)
    if options.json:
        files.write_json(options.json, as_json(pair, comparison, results), force=options.force)
    if options.latex:
        files.write_text(options.latex, as_latex(pair, comparison), force=options.force)
    for path in (options.html, options.json, options.latex):
        if path:
            print_line(f"Written: {path}")


def _explain_reading(options: argparse.Namespace) -> None:
    """Prints how one report is read."""
    pair_only = ("html", "json", "latex", "metrics", "age", "sex", "indication", "prior")
    unused = next((name for name in pair_only if getattr(options, name)), "")
    if unused or not options.trace:
        why = f"--{unused} needs" if unused else "explain compares"
        raise InputError(f"{why} two reports; add CANDIDATE, or pass --trace alone to show how one report is read.")
    report = _report_text(options.reference)
    check_report(report, "REFERENCE")
    print_traces(Terminal(highlight=False), {"report": report}, check_pack(options.modality, "--modality"))


def print_traces(console: Terminal, reports: Mapping[str, str], modality: str) -> None:
    """Prints how each report was read, by its title, the later ones with the pack of the first."""
    from rrgmetrics.reading import read

    read_as = modality
    for title, text in reports.items():
        reading = read(text, read_as, trace=True)
        read_as = reading.pack
        console.print(f"\nHow the {title} was read ({reading.pack})\n", style="bold", markup=False)
        console.print(str(reading.trace), markup=False, soft_wrap=True)


def _report_text(text: str) -> str:
    """The text of the file of that name, or the text itself; InputError for the name of a file that is none of one."""
    if not text or len(text) > 255 or "\n" in text:
        return text
    path = Path(text)
    if path.is_dir():
        raise InputError(f"{text} is a folder; name a text file with one report, or write the report in quotes.")
    if not path.is_file():
        if _FILE_NAME.fullmatch(text):
            raise InputError(f"{text} does not exist (looked in {working_folder()}).")
        return text
    if path.suffix.lower() in _TABLES:
        raise InputError(
            f"{text} is a table; explain reads one report a file. For each pair of a table: rrgmetrics "
            f"score {text} --metrics finding_errors --html report.html"
        )
    return read_text(path).strip()
