"""`rrgmetrics synthesize`: labelled error pairs made from reports, to train on."""

from __future__ import annotations

import argparse
from pathlib import Path

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_writing
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics synthesize`."""
    parser.set_defaults(run=run)
    parser.add_argument("reports", metavar="REPORTS", help="a file, a datasets folder, hub:ID or generator:N")
    parser.add_argument("--output", required=True, metavar="FILE", help="the pairs: .parquet")
    parser.add_argument("--pairs", type=int, default=10_000, metavar="N", help="pairs wanted (default %(default)s)")
    parser.add_argument("--column", nargs="+", default=["report"], help="columns that hold a report (default: report)")
    parser.add_argument(
        "--take",
        choices=["all", "first"],
        default="all",
        help="of several columns: all, joined (default), or the first with a text, as in --column findings impression",
    )
    parser.add_argument("--id-column", metavar="COLUMN", help="column that names the study (default: study_id)")
    parser.add_argument("--split", default="train", help="of a datasets set (default %(default)s)")
    parser.add_argument(
        "--ways", nargs="+", metavar="WAY[:WEIGHT]", help="ways of pairing, or green-paper, crimson-paper"
    )
    parser.add_argument("--generated", nargs="+", default=[], metavar="FILE", help="outputs: study_id, report")
    parser.add_argument(
        "--image-model",
        metavar="ENGINE",
        help="writes such outputs from pictures: openai:MODEL",
    )
    parser.add_argument(
        "--images", metavar="COLUMN", help="of REPORTS: the PNG or JPEG of each study, for --image-model"
    )
    parser.add_argument("--writer", default="", metavar="ENGINE", help="writes candidates, for the ways written...")
    parser.add_argument("--bertscore", default="bertscore", metavar="NAME", help="of nearest_bertscore")
    parser.add_argument(
        "--radgraph", default="radgraph_f1", metavar="NAME", help="whose graphs permuted_radgraph permutes"
    )
    parser.add_argument(
        "--labels",
        default="reader",
        help="reader (default), injected, replies:FILE, openai:MODEL, crepe@openai:MODEL, ...",
    )
    parser.add_argument(
        "--distractors",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of texts that get words the reader does not know (default 0)",
    )
    parser.add_argument(
        "--hands",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of texts that are rewritten in another style (default 0)",
    )
    parser.add_argument(
        "--affirmed", action="store_true", help="drop what the texts deny, as crepe does before it reads"
    )
    parser.add_argument("--validation", type=float, default=0.1, help="share of reports (default %(default)s)")
    parser.add_argument("--test", type=float, default=0.1, help="share of reports (default %(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="the labels beside the CREPE paper's, as a picture: .png")
    parser.add_argument(
        "--histograms", metavar="FILE", help="edits a candidate, and BERTScore of 1,000 pairs, as a picture: .png"
    )
    parser.add_argument("--json", metavar="FILE", help="the same numbers as JSON")
    parser.add_argument("--seed", type=int, default=0, help="seed of every random choice (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default %(default)s)")
    add_writing(parser, "replace files that exist, and shards of another run")


def run(options: argparse.Namespace) -> None:
    """Makes the pairs, prints how their labels are distributed and writes what was asked for."""
    from rrgmetrics.synthesis.distribution import distribution, plot, tables
    from rrgmetrics.synthesis.pairs import read_rows
    from rrgmetrics.synthesis.sources import load_collection, read_outputs
    from rrgmetrics.synthesis.synthesize import outcome_lines, parse_ways, synthesize

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
        n_pairs=options.pairs,
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
    console = Terminal(soft_wrap=True)
    for part in (*tables(measured), *outcome_lines(made, collection)):
        console.print(part)
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
        raise InputError("--image-model and --images go together: who writes, and the column with the pictures.")
    if not options.image_model:
        return {}
    images = read_images(options.reports, options.images, id_column=options.id_column)
    return write_image_reports(images, options.image_model, progress=not options.no_progress)
