"""`rrgmetrics synthesize`: labelled error pairs made from reports, to train on."""

from __future__ import annotations

import argparse
from pathlib import Path

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_writing
from rrgmetrics.cli.formats import print_paragraph
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics synthesize`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "reports",
        metavar="REPORTS",
        help="reports: a file, the folder of a data set, hub:ID, or generator:N for N generated reports",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="write the pairs (.parquet)")
    parser.add_argument(
        "--pairs",
        default="10000",
        metavar="N",
        help="number of pairs (default %(default)s), or each: one candidate of each report and way, so that the ways "
        "can be compared as systems",
    )
    parser.add_argument("--column", nargs="+", default=["report"], help="columns that hold a report (default: report)")
    parser.add_argument(
        "--take",
        choices=["all", "first"],
        default="all",
        help="with several columns, such as --column findings impression: join all (default), or take the first "
        "that is not empty",
    )
    parser.add_argument("--id-column", metavar="COLUMN", help="column with the study id (default: study_id)")
    parser.add_argument("--split", default="train", help="split of the data set (default %(default)s)")
    parser.add_argument(
        "--ways",
        nargs="+",
        metavar="WAY[:WEIGHT]",
        help="ways to make candidates, or the presets green-paper and crimson-paper",
    )
    parser.add_argument(
        "--generated",
        nargs="+",
        default=[],
        metavar="FILE",
        help="outputs of report generators: tables with study_id, report",
    )
    parser.add_argument(
        "--image-model",
        metavar="ENGINE",
        help="model that writes reports from images: openai:MODEL",
    )
    parser.add_argument(
        "--images", metavar="COLUMN", help="column of REPORTS with the PNG or JPEG of each study, for --image-model"
    )
    parser.add_argument(
        "--writer",
        default="",
        metavar="ENGINE",
        help="model that writes candidates, for the ways whose name begins with written",
    )
    parser.add_argument("--bertscore", default="bertscore", metavar="NAME", help="metric for the way nearest_bertscore")
    parser.add_argument(
        "--radgraph",
        default="radgraph_f1",
        metavar="NAME",
        help="metric whose graphs the way permuted_radgraph permutes",
    )
    parser.add_argument(
        "--labels",
        default="reader",
        help="source of the labels: reader (default), injected, replies:FILE, openai:MODEL, crepe@openai:MODEL, ...",
    )
    parser.add_argument(
        "--distractors",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of reports to which phrases are added that the reader does not know (default 0)",
    )
    parser.add_argument(
        "--hands",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of reports to rewrite in another writing style (default 0)",
    )
    parser.add_argument(
        "--affirmed",
        action="store_true",
        help="remove negated findings from both reports, as crepe does with its input",
    )
    parser.add_argument(
        "--validation", type=float, default=0.1, help="share of reports for validation (default %(default)s)"
    )
    parser.add_argument("--test", type=float, default=0.1, help="share of reports for testing (default %(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="plot the labels beside those of the CREPE paper (.png)")
    parser.add_argument(
        "--histograms",
        metavar="FILE",
        help="plot the number of edits in each candidate, and BERTScore of 1,000 pairs (.png)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes (default %(default)s)")
    add_writing(parser, "replace files that exist, and shards of another run")


def run(options: argparse.Namespace) -> None:
    """Makes the pairs, prints how their labels are distributed and writes what was asked for."""
    from rrgmetrics.reporting.distribution import distribution_tables
    from rrgmetrics.synthesis.distribution import distribution, plot
    from rrgmetrics.synthesis.pairs import read_rows
    from rrgmetrics.synthesis.sources import load_collection, read_outputs
    from rrgmetrics.synthesis.synthesize import outcome_lines, parse_pairs, parse_ways, synthesize

    files.check_outputs(
        tables=[options.output],
        results=[options.json],
        pictures=[options.plot, options.histograms],
        inputs=[path for path in (options.reports, *options.generated) if Path(path).exists()],
        force=options.force,
    )
    collection = load_collection(
        options.reports,
        columns=options.column,
        id_column=options.id_column,
        split=options.split,
        seed=options.seed,
        take=options.take,
    )
    outputs = read_outputs(options.generated)
    for study, written in _of_images(options).items():
        outputs.setdefault(study, []).extend(written)
    made = synthesize(
        collection,
        options.output,
        n_pairs=parse_pairs(options.pairs),
        ways=parse_ways(options.ways) if options.ways else None,
        outputs=outputs,
        labels=options.labels,
        seed=options.seed,
        held_out=(options.validation, options.test),
        distractors=options.distractors,
        hands=options.hands,
        affirmed=options.affirmed,
        writer=options.writer,
        bertscore=options.bertscore,
        radgraph=options.radgraph,
        n_jobs=options.jobs,
        force=options.force,
        progress=not options.no_progress,
    )
    measured = distribution(read_rows(made.path))
    console = Terminal(highlight=False, markup=False, emoji=False)
    for table in distribution_tables(measured):
        console.print(table, "", sep="\n")
    parts = ", ".join(f"{split} {n:,}" for split, n in sorted(measured.n_by_split.items()))
    for line in (f"Parts: {parts}", *outcome_lines(made, collection)):
        print_paragraph(line)
    document = {**measured.to_dict(), "outcomes": made.outcomes}
    if options.histograms:
        from rrgmetrics.synthesis.histograms import histograms, plot_histograms

        counted = histograms(read_rows(made.path), seed=options.seed, progress=not options.no_progress)
        plot_histograms(counted, options.histograms, force=options.force)
        document |= counted.to_dict()
    if options.json:
        files.write_json(options.json, document, force=options.force)
    if options.plot:
        plot(measured, options.plot, force=options.force)


def _of_images(options: argparse.Namespace) -> dict[str, list[str]]:
    """What an image model writes of each study; nothing where none is named."""
    from rrgmetrics.synthesis.image_reports import read_images, write_image_reports

    if bool(options.image_model) != bool(options.images):
        raise InputError("--image-model and --images must be given together: the model and the column with the images.")
    if not options.image_model:
        return {}
    images = read_images(options.reports, options.images, id_column=options.id_column)
    return write_image_reports(images, options.image_model, progress=not options.no_progress)
