"""`rrgmetrics space`: a metric in a browser, or its Space written or uploaded."""

from __future__ import annotations

import argparse

from rrgmetrics.cli.formats import print_line
from rrgmetrics.errors import InputError
from rrgmetrics.specs import SPECS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics space`."""
    parser.set_defaults(run=run)
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of metrics, compare, leaderboard or rating")
    parser.add_argument("--all", action="store_true", help="select every Space, with --build or --push")
    parser.add_argument("--host", default="127.0.0.1", help="address to serve at (default %(default)s)")
    parser.add_argument("--port", type=int, help="port to serve at (default: a free one from 7860)")
    parser.add_argument(
        "--build", metavar="DIR", help="write the repository of each Space to a folder of its name in DIR"
    )
    parser.add_argument("--push", metavar="ORG", help="upload the Spaces to this user or organisation on the Hub")
    parser.add_argument(
        "--wheel",
        nargs="?",
        const="",
        metavar="FILE",
        help="bundle a wheel (default: built from this checkout) instead of using the release",
    )
    parser.add_argument("--dry-run", action="store_true", help="list the files, and write and upload nothing")
    parser.add_argument("--force", action="store_true", help="overwrite existing files and Spaces")


def run(options: argparse.Namespace) -> None:
    """Serves a Space, or writes or uploads the Spaces that were named."""
    from rrgmetrics.spaces import builder, serving

    names = builder.check_names(builder.space_names() if options.all else options.names)
    if not (options.build or options.push or options.dry_run):
        if len(names) > 1:
            raise InputError("Only one Space can be served at a time; name one, or write several with --build DIR.")
        serving.serve(names[0], host=options.host, port=options.port)
        return
    wheel = None if options.wheel is None else builder.read_wheel(options.wheel)
    spaces = [builder.repository(name, wheel=wheel, organisation=options.push or "") for name in names]
    if options.dry_run:
        for line in builder.listing(spaces):
            print_line(line)
        return
    for folder in builder.build(spaces, options.build, force=options.force) if options.build else ():
        print_line(f"{folder}: python app.py" + (f", evaluate.load({str(folder)!r})" if folder.name in SPECS else ""))
    for address in builder.push(spaces, options.push, force=options.force) if options.push else ():
        print_line(address)
