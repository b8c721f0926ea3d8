"""Which encoder and which layer of it sees errors, and what each costs: `python benchmarks/encoders.py`, a few minutes.

Of every bundled encoder after each of its layers: tau-b of BERTScore and of the cosine of mean vectors with the number
of errors in the invented pairs of `voices` that were read, on the reports as written and in the standard wording that
`radcliq` reads; and processor time a pair of written reports, all in one run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import voices
from scipy.stats import kendalltau

from rrgmetrics.backends.encoder import BUNDLED, FINDINGS, TokenVectors, load_encoder
from rrgmetrics.labels.positive_sentences import standard_wording
from rrgmetrics.reading import read
from rrgmetrics.scorers.bertscore import greedy_match
from rrgmetrics.scorers.semb_score import SembScore, cosine

READ = ("development", "blind", "second", "third", "weak")
Pairs = list[tuple[str, str]]


def taus(pairs: Pairs, errors: list[int], vectors: Mapping[str, TokenVectors]) -> tuple[float, float]:
    """Tau-b with the number of errors: of BERTScore's F, and of the cosine of mean vectors."""
    mean = SembScore().vector_of
    f = [greedy_match(vectors[reference], vectors[candidate], None)[2] for reference, candidate in pairs]
    cosines = [cosine(mean(vectors[reference]), mean(vectors[candidate])) for reference, candidate in pairs]
    return -float(kendalltau(f, errors).statistic), -float(kendalltau(cosines, errors).statistic)


def in_words(pairs: Pairs, wording: Callable[[str], str]) -> Pairs:
    """The pairs in another wording."""
    texts = {text: wording(text) for text in {text for pair in pairs for text in pair}}
    return [(texts[reference], texts[candidate]) for reference, candidate in pairs]


def main() -> None:
    """Prints a line for each encoder, layer and wording."""
    rows = [row for name in READ for row in voices.load("pairs", name)]
    errors = [sum(row["expected"].values()) for row in rows]
    written = [(row["reference"], row["candidate"]) for row in rows]
    wordings = {"as written": written, "standard": in_words(written, lambda text: standard_wording(read(text)))}
    print(f"{len(rows)} pairs{'':15} wording     BERTScore  cosine  processor ms a pair")
    for name in (BUNDLED, FINDINGS):
        for layer in range(1, load_encoder(name, device="cpu").layer + 1):
            encoder = load_encoder(name, layer=layer, device="cpu")
            for wording, pairs in wordings.items():
                texts = list(dict.fromkeys(text for pair in pairs for text in pair))
                began = time.process_time()
                vectors = dict(zip(texts, encoder.annotate(texts), strict=True))
                spent = 1000 * (time.process_time() - began) / len(rows)
                f, cosines = taus(pairs, errors, vectors)
                print(f"{name}#{layer:<6} {wording:11} {f:9.3f} {cosines:7.3f} {spent:10.2f}", flush=True)


if __name__ == "__main__":
    main()
