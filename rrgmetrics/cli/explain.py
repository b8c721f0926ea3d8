"""`rrgmetrics explain`: two reports and what differs, with the evidence in colour."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rrgmetrics.cli.arguments import add_lexicon, judge_names
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import working_folder
from rrgmetrics.prepared import score
from rrgmetrics.reader.lexicon.packs import AUTO, check_pack
from rrgmetrics.reports import check_report

_TABLES = (".csv", ".jsonl", ".parquet", ".gz", ".zst")
_FILE_NAME = re.compile(
    r"(~|\.{0,2}/)\S+|.*\.(txt|text|md|csv|jsonl?|parquet|gz|zst|html?|docx?|rtf|pdf)", re.IGNORECASE
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics explain`."""
    parser.set_defaults(run=run)
    parser.add_argument("reference", metavar="REFERENCE", help="the radiologist's report: a text file, or the text")
    parser.add_argument("candidate", metavar="CANDIDATE", help="the machine's report: a text file, or the text")
    parser.add_argument("--age", default="", help="of the patient: 072Y, 19M, 25; decides what is significant")
    parser.add_argument("--sex", default="", help="of the patient: F, M or O; judges are told it")
    parser.add_argument("--indication", default="", help="for the examination; decides what is significant")
    parser.add_argument(
        "--modality", default=AUTO, help="what both are read as: chest_xray, chest_ct, ...; auto: what the reference is"
    )
    parser.add_argument(
        "--trace", action="store_true", help="also show what set each field of each finding, and what gave none"
    )
    add_lexicon(parser)
    parser.add_argument(
        "--judges",
        nargs="+",
        default=[],
        metavar="NAME",
        help="show their verdicts too: green, crimson@openai:<model>, ...",
    )


def run(options: argparse.Namespace) -> None:
    """Prints both reports, their differences, and the verdicts of the judges that were named."""
    from rrgmetrics.present.marks import Explanation
    from rrgmetrics.present.terminal import explained, verdict
    from rrgmetrics.reader import explain

    reference, candidate = (_report_text(text) for text in (options.reference, options.candidate))
    check_report(reference, "REFERENCE")
    check_report(candidate, "CANDIDATE")
    context = {"age": options.age, "sex": options.sex, "indication": options.indication}
    names = judge_names(options.judges, explain=True) if options.judges else []
    comparison = explain(
        candidate=candidate, reference=reference, context=context, modality=check_pack(options.modality, "--modality")
    )
    results = score(names, predictions=[candidate], references=[reference], contexts=[context]) if names else {}
    console = Terminal(highlight=False)
    console.print(explained(reference, candidate, Explanation.of(comparison)))
    if options.trace:
        print_traces(console, reference, candidate, options.modality)
    for name, result in zip(options.judges, results.values(), strict=True):
        console.print(verdict(name, result))


def print_traces(console: Terminal, reference: str, candidate: str, modality: str) -> None:
    """Prints how each report was read, the candidate with the pack of the reference."""
    from rrgmetrics.reader import read

    read_as = modality
    for title, text in (("reference", reference), ("candidate", candidate)):
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
        raise InputError(f"{text} is a folder; name a text file that holds one report, or write the report in quotes.")
    if not path.is_file():
        if _FILE_NAME.fullmatch(text):
            raise InputError(f"{text} does not exist (looked in {working_folder()}).")
        return text
    if path.suffix.lower() in _TABLES:
        raise InputError(
            f"{text} is a table; explain reads one report a file. For each pair of a table: rrgmetrics "
            f"score {text} --metrics finding_errors --html report.html"
        )
    try:
        return path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{text} cannot be read as UTF-8 text: {error}.") from None
