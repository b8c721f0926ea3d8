"""Does a text of twice the length cost twice the time? `python benchmarks/growth.py`.

Strings that make careless code quadratic: one mark, word or tag over and over, lists and brackets without an end, and
reports of very many different findings. Each is read, compared with itself and scored by each metric that needs no
judge, at two lengths; a line for each that grows faster than its length allows, with seconds of processor time.

    python benchmarks/growth.py                              # reading and comparing
    python benchmarks/growth.py --metrics crepe rouge        # scoring too
    python benchmarks/growth.py --all                        # every line, not only what grows

Time is noisy: the tests (tests/unit/test_growth.py) count steps of the same strings instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial

from rrgmetrics.utils.machine import processor

LENGTHS = (8_000, 32_000)
TOLERATED = 2.0  # times what a linear cost would give
SHORTEST = 0.02  # seconds, below which no growth is told

# Pieces that are repeated to a text of any length, by kind.
_PIECES: dict[str, tuple[str, ...]] = {
    "mark": (
        " ",
        "\n",
        "\t",
        "\r",
        "-",
        "\u2013",
        "\u2014",
        "_",
        "=",
        "~",
        "+",
        "*",
        "/",
        "\\",
        "|",
        ".",
        ",",
        ":",
        ";",
        "!",
        "?",
        "'",
        '"',
        "`",
        "#",
        "%",
        "&",
        "@",
        "$",
        "^",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "\u2022",
        "\xb7",
        "\u2191",
        "\u2193",
        "\u2192",
        "\xd8",
        "\xb0",
        "\xb2",
        "\xbd",
        "\xd7",
        "\u2026",
        "\u201c",
        "\u201d",
    ),
    "marks": (
        " \n",
        "\n\n",
        "- ",
        "-\n",
        "--",
        "- -",
        ". ",
        ", ",
        "; ",
        ": ",
        "/ ",
        "()",
        "( ",
        ") ",
        "[ ]",
        "<>",
        "<|",
        "|>",
        "</",
        "<!--",
        "-->",
        "=>",
        "->",
        "**",
        "__",
        "***",
        "```",
        "##",
        "# ",
        "@@ ",
        "| ",
        "|-",
        "||",
        "' ",
        "''",
    ),
    "entity": (
        "&amp;",
        "&amp;amp;",
        "&nbsp;",
        "&#",
        "&#x",
        "&lt;br&gt;",
        "&a",
    ),
    "tag": (
        "<br>",
        "<p>",
        "</p>",
        "<li>a",
        "<td>",
        "<b>",
        "<b ",
        "<h1>",
        "<think>",
        "</think>",
    ),
    "token": (
        "<|im_start|>",
        "<|im_start|>user",
        "<|im_end|>",
        "<s>",
        "[INST]",
        "[UNK] ",
        "[INST] a [/INST]",
        "<|channel|>analysis",
        "<0x0A>",
        "\u0120",
        "\u2581a ",
        "<start_of",
        "[PAD",
    ),
    "digits": (
        "1",
        "1 ",
        "1.",
        "1. ",
        "1) ",
        "1.2",
        "1.1.1 ",
        "1-",
        "1-2 ",
        "1,",
        "1, ",
        "1/",
        "4. 5 ",
        "1x",
        "1 x ",
        "3 mm ",
        "3mm",
        "2-3 cm, ",
        "#1 ",
        "1:",
        "12/5/",
    ),
    "word": (
        "a",
        "a ",
        "A ",
        "a. ",
        "A. ",
        "effusion",
        "effusion ",
        "Effusion ",
        "EFFUSION ",
        "no ",
        "No ",
        "no effusion ",
        "not ",
        "without ",
        "or ",
        "and ",
        "and/or ",
        "and, ",
        "but ",
        "which ",
        "of ",
        "in the ",
        "left ",
        "left and right ",
        "the ",
        "mm ",
        "cm ",
        "is ",
        "there is ",
        "possible ",
        "may be ",
        "except ",
        "unchanged ",
        "new ",
        "old ",
        "no evidence of ",
        "compared to ",
        "tube ",
        "tip ",
        "rib ",
        "ribs 4-",
        "T8 ",
        "T8-",
        "\xe9",
        "\xe9 ",
        "\xdf",
        "\u4e2d",
        "\u0430 ",
        "\u0301",
        "\u200b",
        "\u202e",
        "\xad",
        "\U0001f600",
        "\ufb01",
    ),
    "list": (
        "\n- a",
        "\n1. a",
        "\na) b",
        "\n* no\n",
        "\n-\n",
        "\n\n\n- no",
        ":\n",
        ":\n\n- a",
        "FINDINGS: ",
        "FINDINGS:\n",
        "Impression: a. ",
        "A:",
        "a: - ",
        "Heart: none\n",
        "# A\n",
        "| a | b |\n",
        "|---|---|\n",
        "**a**\n",
        "['a', ",
        '"a", ',
        " - A",
        " / A",
        "> A\n",
        "_____",
        "[x] ",
        "(-) ",
        "(a",
        "(a, ",
        "a) ",
        "( no ",
        "effusion (",
        "edema, ",
        "Edema, A ",
        "edema\n",
        "Edema\n",
        "edema; ",
        "no edema, ",
        "No edema. ",
        "Edema. ",
        "no edema or ",
        "is enlarged ",
        "heart ",
        "Heart size ",
        "lungs clear, ",
        "The lungs are clear. ",
        "it is ",
        "Old ",
        "Stable. ",
        "Unchanged, ",
        "Compared to 1/2/2020. ",
        "Nodule. It is new. ",
    ),
}
PIECES = {f"{kind} {piece!r}": piece for kind, pieces in _PIECES.items() for piece in pieces}
SIDES, LOBES = ("left", "right"), ("upper lobe", "lower lobe", "apex", "base")
ENDS = ("carina", "cavoatrial junction", "stomach", "SVC", "right atrium")
DEVICES = ("endotracheal tube", "enteric tube", "picc", "pacemaker lead", "chest tube", "dialysis catheter")


def repeated(piece: str, times: int) -> str:
    """One piece over and over."""
    return piece * times


def some_numbered(sentence: Callable[[int], str], times: int, first: int = 1) -> str:
    """Different sentences, one after another."""
    return "".join(map(sentence, range(first, first + times)))


def _numbered(sentence: Callable[[int], str], length: int) -> str:
    n = length // len(sentence(100)) + 1
    return some_numbered(sentence, n)[:length]


def _nodule(number: int) -> str:
    return f"{number / 10:g} mm nodule in the {SIDES[number % 2]} {LOBES[number // 2 % 4]}. "


def _device(number: int) -> str:
    return f"{DEVICES[number % 6].capitalize()} {number} cm above the {ENDS[number // 6 % 5]}. "


def _concepts(number: int, ahead: str = "", end: str = ". ") -> str:
    from rrgmetrics.reading.lexicon import load

    names = [concept.name for concept in load().concepts.values()]
    return f"{ahead}{SIDES[number // len(names) % 2]} {names[number % len(names)]}{end}"


def _nested(length: int, opening: str, closing: str) -> str:
    half = length // (len(opening) + len(closing))
    return opening * half + "effusion" + closing * half


NUMBERED: dict[str, Callable[[int], str]] = {
    "distinct numbers": lambda number: f"{number} ",
    "distinct sizes": lambda number: f"Nodule of {number} mm. ",
    "distinct nodules": _nodule,
    "distinct devices": _device,
    "distinct ribs": lambda number: f"Fracture of rib {number}. ",
    "distinct words": lambda number: f"word{'abcdefghij'[number % 10]}{'abcdefghij'[number // 10 % 10]}q{number} ",
    "distinct lines": lambda number: f"Line {number} of the left lung\n",
    "counted items": lambda number: f"{number}. Effusion\n",
    "counted items in a line": lambda number: f"{number}) Effusion ",
    "all findings": _concepts,
    "all findings denied": partial(_concepts, ahead="No "),
    "all findings in one sentence": partial(_concepts, end=", "),
    "all findings denied in one sentence": partial(_concepts, ahead="no ", end=" or "),
    "all findings in lines": partial(_concepts, end="\n"),
    "all findings, unchanged": partial(_concepts, end=", unchanged. "),
    "all findings after a heading": partial(_concepts, ahead="IMPRESSION: ", end=".\n"),
    "all findings followed up": partial(_concepts, end=" follow-up. "),
}


def texts(length: int) -> Iterator[tuple[str, str]]:
    """Yields the name of each kind, and a text of the kind about as long as `length`."""
    for name, piece in PIECES.items():
        yield name, (piece * (length // len(piece) + 1))[:length]
        if not name.startswith(("word", "list")):
            run = repeated(piece, length // len(piece) + 1)[:length]
            yield f"{name}, in a report", f"Small effusion {run} is seen. No edema."
    yield "one glued word", "pleuraleffusionleft" * (length // 19)
    yield "one unknown word", "qwxzk" * (length // 5)
    yield "nested brackets", _nested(length, "(", ")")
    yield "nested words in brackets", _nested(length, "(no ", ")")
    yield "nested tags", _nested(length, "<b>", "</b>")
    yield "nested square brackets", _nested(length, "[", "]")
    for name, sentence in NUMBERED.items():
        yield name, _numbered(sentence, length)


def seconds(work: Callable[[str], object], text: str) -> float:
    """Processor seconds that some work takes with a text."""
    start = time.process_time()
    work(text)
    return time.process_time() - start


def read_alone(text: str) -> object:
    """Reads a text."""
    from rrgmetrics.reading import read

    return read(text)


def compare_with_itself(text: str) -> object:
    """Compares a text with itself."""
    from rrgmetrics.comparing import explain

    return explain(reference=text, candidate=text)


def score_by(name: str) -> Callable[[str], object]:
    """Scores a text against itself by a metric."""
    import rrgmetrics

    metric = rrgmetrics.load(name)
    return lambda text: metric.score([text], [text])


def main() -> None:
    """Measures all kinds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", nargs="*", default=[])
    parser.add_argument("--lengths", type=int, nargs=2, default=LENGTHS)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(processor(), flush=True)
    from rrgmetrics.reports.cleaning import clean

    works = {"clean": clean, "read": read_alone, "compare": compare_with_itself}
    works |= {name: score_by(name) for name in options.metrics}
    short, long = options.lengths
    for work in works.values():
        work("Small left effusion. No edema.")
    pairs = zip(texts(short), texts(long), strict=True)
    for (name, small), (_, large) in pairs:
        if options.only not in name:
            continue
        for what, work in works.items():
            times = seconds(work, small), seconds(work, large)
            growth = times[1] / max(times[0], SHORTEST) / (long / short)
            if options.all or growth > TOLERATED:
                print(f"{what:10} {name:45} {times[0]:7.3f} {times[1]:7.3f} s  {growth:5.1f} times linear", flush=True)


if __name__ == "__main__":
    main()
