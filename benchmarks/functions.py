"""How many functions and modules of the package reading one sentence runs through, once everything is loaded.

python benchmarks/functions.py                      # the three sentences of the review of the code
python benchmarks/functions.py "Small effusion."    # sentences of one's own
python benchmarks/functions.py --list               # the functions too, with their numbers of calls
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from types import CodeType, FrameType

from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load
from rrgmetrics.reading.parsed import _kept

SENTENCES = (
    "No interval change in small right effusion.",
    "Cardiomegaly, unchanged, with new interstitial edema.",
    "ETT tip is 2 cm above carina, previously 5 cm.",
)
PACKAGE = "rrgmetrics"


def calls_in(text: str) -> Counter[CodeType]:
    """The calls of each function of the package when a text is read; comprehensions and lambdas are part of theirs."""
    read(text)  # what is made of the lexicon is made now
    _kept(load()).clear()  # but the sentence is read anew
    calls: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_own = str(frame.f_globals.get("__name__", "")).partition(".")[0] == PACKAGE
        if event == "call" and is_own and "<" not in code.co_name + code.co_filename[:1]:
            calls[code] += 1

    sys.setprofile(count)
    try:
        read(text)
    finally:
        sys.setprofile(None)
    return calls


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line for each sentence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", nargs="*", help="what to read")
    parser.add_argument("--list", action="store_true", help="list the functions too")
    options = parser.parse_args(arguments)
    for text in options.sentences or SENTENCES:
        calls = calls_in(text)
        modules = {code.co_filename for code in calls}
        print(f"{len(calls):4} functions in {len(modules):3} modules, {sum(calls.values()):5} calls: {text}")
        for code, n in sorted(calls.items(), key=lambda each: (each[0].co_filename, each[0].co_name)):
            if options.list:
                print(f"    {n:4} {code.co_filename.rpartition(PACKAGE + '/')[2]}: {code.co_name}")


if __name__ == "__main__":
    main()
