"""`rrgmetrics doctor`: whether published weights are here, whole, and say what their authors printed.

The server of a judge is asked too, which models it has.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from rrgmetrics.cli.arguments import split_names
from rrgmetrics.cli.formats import print_line, print_paragraph
from rrgmetrics.errors import InputError
from rrgmetrics.utils.text_format import counted

SIGNS = {"ok": "✓", "fault": "✗", "left": "–"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics doctor`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "metrics", nargs="*", metavar="METRIC", help="metrics to check, with or without a configuration (default: all)"
    )
    parser.add_argument("--output", metavar="FILE", help="write the results as a report to share (.md)")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.add_argument(
        "--no-download", action="store_true", help="list what would be downloaded, and download nothing"
    )
    parser.add_argument("--no-score", action="store_true", help="check the files only, and score nothing")
    parser.add_argument(
        "--most",
        type=float,
        metavar="GB",
        help="largest download from one repository, in GB (default: twice the known size)",
    )
    parser.add_argument(
        "--texts",
        nargs="+",
        default=[],
        type=Path,
        metavar="DIR",
        help="local folders with the authors' files, such as a clone or an unpacked radeval-2.2.1.tar.gz; files "
        "that are not there are downloaded",
    )
    parser.add_argument("--device", help="torch device (default: CUDA if available)")


def run(options: argparse.Namespace) -> None:
    """Examines the metrics, prints what is seen as it is seen, and writes the report."""
    from rrgmetrics import files
    from rrgmetrics.backends.checkpoints import cache_folder
    from rrgmetrics.doctor import Doctor
    from rrgmetrics.doctor.report import report

    files.check_outputs(documents=[options.output], force=options.force)
    for folder in options.texts:
        if not folder.is_dir():
            raise InputError(f"--texts {folder} is not a folder; pass one with the authors' files.")
    doctor = Doctor(
        download=not options.no_download,
        score=not options.no_score,
        most=options.most,
        device=options.device,
        texts=options.texts,
    )
    if doctor.silence:
        print_paragraph(f"{doctor.silence}; of the Hub, only files on this machine are checked.")
    print_line(f"The cache of the Hub is {cache_folder()}.")
    seen, count = [], Counter[str]()
    for checkup in doctor.examine(split_names(options.metrics)):
        seen.append(checkup)
        count.update(remark.status for remark in checkup.remarks)
        print_line(checkup.configuration)
        for remark in checkup.remarks:
            print_paragraph(f"  {SIGNS[remark.status]} {remark.sentence}", indent="    ")
        for sentence in checkup.verified:
            print_paragraph(f"  · {sentence}", indent="    ")
    if options.output:
        files.write_text(options.output, report(seen), force=True)
    print_paragraph(
        f"{counted(len(seen), 'configuration')}: {count['ok']} passed, {counted(count['fault'], 'fault')}, "
        f"{count['left']} not checked."
    )
    if count["fault"]:
        raise InputError(f"{counted(count['fault'], 'fault')}, see above.")
