"""CREPE: predicts how many errors of each category a radiologist would count in a candidate.

The network is that of `crepe_model`. BERT checkpoints, the bundled one among them, need torch and tokenizers only;
other encoders need transformers. Rows are sorted by length and padded to their batch, and every score is that of the
pair alone within the stated tolerance (1e-5 in fp32).

Pairs longer than the limit of the model (512 tokens) are cut, as in the paper, or read in aligned windows whose counts
are added up; the result reports either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from rrgmetrics.backends.base import read_pair_parts
from rrgmetrics.backends.bert import pick_device
from rrgmetrics.backends.checkpoints import Checkpoint, check_path, find_checkpoint
from rrgmetrics.backends.compared_pairs import Compared, ComparedPairs
from rrgmetrics.backends.crepe.alignment import places, relations, words_of
from rrgmetrics.backends.crepe.network import Array, Network, Output, Precision, load_network, read_checkpoint
from rrgmetrics.backends.crepe.pair_tokens import Window
from rrgmetrics.comparing import ErrorCategory, compare
from rrgmetrics.comparing.penalties import silent
from rrgmetrics.errors import BackendError
from rrgmetrics.labels.positive_sentences import affirmed
from rrgmetrics.reading import Reading
from rrgmetrics.reports import Pair, distinct_texts
from rrgmetrics.utils.extras import need

BUNDLED = "crepe-bundled@3"
FOLDERS = {BUNDLED: Path(__file__).parent.parent / "weights" / "crepe-bundled-3"}
PUBLISHED = "gihuncho/crepe-biomedbert"
CATEGORIES = tuple(ErrorCategory)
SMALLEST_RATE = 0.01  # of an error; what a word adds below it is not worth telling

Long = Literal["truncate", "windows"]


class WordAttribution(NamedTuple):
    """The errors that one word adds to a count.

    Attributes:
        text: Which report the word stands in.
        start: Its first character.
        end: The character behind its last.
        category: Index of the head, 0 to 5 for A to F.
        rate: Errors that it adds.
    """

    text: Literal["reference", "candidate"]
    start: int
    end: int
    category: int
    rate: float


class CrepeReading(NamedTuple):
    """CREPE's annotation of a pair.

    Attributes:
        counts: Expected errors of each category `(C,)`, 0 or more; all NaN if any head gave no number.
        presence: Probability that there is an error of each category `(C,)`.
        too_long: Whether the pair has more tokens than the model reads.
        unclipped: The sum of what the heads give, as it is: below 0 where they say so; 0 where the network was not
            asked; NaN if any head gave no number.
        words: The shares of words, in the order of the texts; empty unless asked for.
    """

    counts: Array
    presence: Array
    too_long: bool
    unclipped: float
    words: tuple[WordAttribution, ...] = ()


NO_ERROR = CrepeReading(np.zeros(len(CATEGORIES)), np.zeros(len(CATEGORIES)), too_long=False, unclipped=0.0)


@dataclass(frozen=True)
class CrepeBackend:
    """A `ComposedPairs` backend that reads pairs with CREPE; the bundled checkpoint uses the reader's readings too.

    Attributes:
        network: The checkpoint.
        precision: Arithmetic of the encoder.
        long: What becomes of pairs that are too long.
        explain: Whether readings name the words that a count comes from.
        batch_size: Pairs per forward pass; None: as many as the token budget holds.
        affirmed: Whether it reads only the sentences that affirm a finding, each once
            (`rrgmetrics.labels.positive_sentences`); two texts that affirm the same word for word are then free of
            errors, and the network is not asked.
    """

    network: Network
    precision: Precision = "fp32"
    long: Long = "truncate"
    explain: bool = False
    batch_size: int | None = None
    affirmed: bool = False

    @property
    def key(self) -> str:
        """The identity: the weights and the options."""
        return f"crepe:{self.network.identity}:{self.precision}:{self.long}:{self.explain}:{self.affirmed}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the model and the most tokens that it reads."""
        reads = {"reads": "affirmed@3"} if self.affirmed else {}
        return {"model": self.network.identity, "max_length": str(self.network.tokenizer.max_length), **reads}

    @property
    def parts(self) -> Mapping[str, ComparedPairs]:
        """The comparison that metrics of findings share; empty where whole texts are read."""
        return {"compared": ComparedPairs()} if self.affirmed else {}

    def annotate_pairs(self, pairs: Sequence[Pair]) -> Sequence[CrepeReading]:
        """Returns one reading for each pair, of texts that no other backend reads."""
        return read_pair_parts(self, pairs)

    def compose_pairs(
        self, pairs: Sequence[Pair], readings: Mapping[str, Mapping[Pair, Compared]]
    ) -> list[CrepeReading]:
        """Returns one reading for each pair; pairs that differ in context alone are read once."""
        if not self.affirmed:
            return self._annotate(pairs)
        compared = readings["compared"]
        read = {pair.reference: compared[pair].reference for pair in pairs}
        plain = []
        for pair in pairs:
            candidate = compared[pair].candidate
            if read.setdefault(pair.candidate, candidate) is candidate:
                plain.append(pair)
        answers = self._compose(plain, compared)
        for pair in (pair for pair in pairs if pair not in answers):  # what its candidate claims is another's history
            answers |= self._compose([pair], compared)
        return [answers[pair] for pair in pairs]

    def _compose(self, pairs: Sequence[Pair], compared: Mapping[Pair, Compared]) -> dict[Pair, CrepeReading]:
        """Returns the reading of each pair by what its texts affirm, in which a text is read in one way."""
        read = {pair.reference: compared[pair].reference for pair in pairs}
        read |= {pair.candidate: compared[pair].candidate for pair in pairs}
        short = {text: affirmed(read[text]) for text in distinct_texts(pairs)}
        words = {text: short[text].split() for text in short}
        asked = [pair for pair in pairs if words[pair.reference] != words[pair.candidate]]
        answers = dict(zip(asked, self._annotate(asked, short, read), strict=True))
        return {pair: self._with_unseen(answers.get(pair, NO_ERROR), compared[pair]) for pair in pairs}

    def _with_unseen(self, crepe: CrepeReading, compared: Compared) -> CrepeReading:
        found = unseen(compared, crepe.counts)
        words = (*crepe.words, *found) if self.explain else ()
        return crepe._replace(counts=crepe.counts + _per_category(found), words=words)

    def _annotate(
        self, pairs: Sequence[Pair], short: Mapping[str, str] | None = None, read: Mapping[str, Reading] | None = None
    ) -> list[CrepeReading]:
        """Asks the network.

        Args:
            pairs: Whole texts.
            short: What is read of each; None: all of it.
            read: Readings of the whole texts, if there are any.
        """
        tokenizer = self.network.tokenizer
        distinct = list(dict.fromkeys((pair.reference, pair.candidate) for pair in pairs))
        texts = {text: short[text] if short else text for pair in distinct for text in pair}
        encodings = dict(zip(texts, tokenizer.encode(list(texts.values())), strict=True))
        ids = {text: encoding.ids for text, encoding in encodings.items()}
        windows = [self._windows(pair, texts, encodings, ids) for pair in distinct]
        related = dict[tuple[str, str], tuple[list[int], list[int]]]()
        known = read or {}
        told = dict[str, list[tuple[int, int]]]()
        if read or self.network.settings.crepe_alignment:
            words = {text: words_of(part, known.get(text)) for text, part in texts.items()}
            starts = {text: [start for start, _ in encoding.offsets] for text, encoding in encodings.items()}
            told = {text: places(starts[text], words[text]) for text in texts} if read else {}
            if self.network.settings.crepe_alignment:
                related = {
                    (r, c): relations((words[r], words[c]), (starts[r], starts[c]), (known.get(r), known.get(c)))
                    for r, c in distinct
                }
        rows = [
            tokenizer.join(
                ids[reference][slice(*window.reference)],
                ids[candidate][slice(*window.candidate)],
                alone=not texts[candidate],
                relations=_cut(related.get((reference, candidate)), window),
            )
            for (reference, candidate), parts in zip(distinct, windows, strict=True)
            for window in parts
        ]
        outputs = iter(self.network.run(rows, self.batch_size))
        readings = {
            pair: self._reading(pair, texts, parts, [next(outputs) for _ in parts], encodings, told)
            for pair, parts in zip(distinct, windows, strict=True)
        }
        return [readings[pair.reference, pair.candidate] for pair in pairs]

    def _windows(
        self, pair: tuple[str, str], texts: Mapping[str, str], encodings: Mapping[str, Any], ids: Mapping[str, Any]
    ) -> list[Window]:
        lengths = len(ids[pair[0]]), len(ids[pair[1]])
        alone = not texts[pair[1]]
        if self.long == "windows" and sum(lengths) > self.network.tokenizer.token_budget(alone=alone):
            reference, candidate = pair
            read = texts[reference], texts[candidate]
            return self.network.tokenizer.windows(encodings[reference], encodings[candidate], read)
        return [self.network.tokenizer.truncated(*lengths, alone=alone)]

    def _reading(
        self,
        pair: tuple[str, str],
        texts: Mapping[str, str],
        windows: Sequence[Window],
        outputs: Sequence[Output],
        encodings: Mapping[str, Any],
        told: Mapping[str, Sequence[tuple[int, int]]],
    ) -> CrepeReading:
        """Counts of windows add up; the presence of an error is that of the window in which it is likeliest."""
        heads = np.stack([output.counts for output in outputs])
        counts = clip_counts(heads).sum(axis=0)
        logits = np.stack([output.presence_logits for output in outputs]).max(axis=0)
        words: tuple[WordAttribution, ...] = ()
        rates: list[Array] = []
        if self.explain or told:
            rates = [
                once(part, told.get(text, ())) for text, part in zip(pair, self._rates(windows, outputs), strict=True)
            ]
        if told:
            counts = np.concatenate(rates).sum(axis=0)
        read = nearly_whole(counts, self.network.settings.crepe_whole)
        if self.explain:
            shares = np.divide(read, counts, out=np.zeros_like(counts), where=counts > 0)
            words = tuple(
                word
                for which, text in enumerate(pair)
                for word in _words(which, texts[text], encodings[text], rates[which] * shares)
            )
        n_reference, n_candidate = (len(encodings[text]) for text in pair)
        too_long = n_reference + n_candidate > self.network.tokenizer.token_budget(alone=not texts[pair[1]])
        unclipped = float(heads.sum()) if np.isfinite(heads).all() else np.nan
        return CrepeReading(read, 1 / (1 + np.exp(-logits)), too_long, unclipped, words)

    def _rates(self, windows: Sequence[Window], outputs: Sequence[Output]) -> tuple[Array, Array]:
        """Rates of the reference's and of the candidate's tokens, over all windows."""
        opening, between = len(self.network.tokenizer.opening.ids), len(self.network.tokenizer.between.ids)
        rates: tuple[list[Array], list[Array]] = ([], [])
        for window, output in zip(windows, outputs, strict=True):
            assert output.rates is not None
            end = opening + window.reference.length
            rates[0].append(output.rates[opening:end])
            rates[1].append(output.rates[end + between :][: window.candidate.length])
        return np.concatenate(rates[0]), np.concatenate(rates[1])


def once(rates: Array, told: Sequence[tuple[int, int]]) -> Array:
    """Rates of a text's tokens `(T, C)` without those of a finding that is told again, in the impression say.

    An error about one finding counts once: of the sentences that tell of it, each category keeps the one with most.

    Args:
        rates: Of the tokens.
        told: The observation that each token tells of, -1 for none, and its sentence.
    """
    sentences: dict[int, dict[int, list[int]]] = {}
    for token, (observation, sentence) in enumerate(told[: len(rates)]):
        if observation >= 0:
            sentences.setdefault(observation, {}).setdefault(sentence, []).append(token)
    kept = rates.copy()
    for tokens in (list(by_sentence.values()) for by_sentence in sentences.values() if len(by_sentence) > 1):
        most = np.stack([rates[place].sum(axis=0) for place in tokens]).argmax(axis=0)
        for number, place in enumerate(tokens):
            kept[place] *= most == number
    return kept


def _cut(relations: tuple[list[int], list[int]] | None, window: Window) -> tuple[list[int], list[int]] | None:
    """The relations of the tokens in a window."""
    return relations and (relations[0][slice(*window.reference)], relations[1][slice(*window.candidate)])


def unseen(compared: Compared, counts: Array) -> list[WordAttribution]:
    """Errors that the network does not count, with their words.

    What is left out of findings, each a part of an error; penalties; and those of a candidate that says nothing.

    Args:
        compared: The reader's comparison of the pair.
        counts: What the network counts `(6,)`.

    Returns:
        An error on several stretches of text is shared out among them.
    """
    found: list[WordAttribution] = []
    reference, candidate, comparison = compared.reference, compared.candidate, compared.comparison
    if any(compared.context):
        comparison = compare(reference, candidate)  # the network knows nothing of the patient
    vague = [error for error in comparison.errors if error.is_left_out]
    for error in vague:
        spans, category = error.reference_spans, CATEGORIES.index(error.category)
        all_parts = sum(each.part for each in vague if each.category is error.category)
        unseen_share = max(1 - float(counts[category]) / all_parts, 0.0)  # the network sees some of it
        rate = error.part * unseen_share / len(spans)
        found += [WordAttribution("reference", *span, category, rate) for span in spans if rate]
    for error in comparison.penalties:
        spans, category = error.candidate_spans, CATEGORIES.index(error.category)
        found += [WordAttribution("candidate", *span, category, 1 / len(spans)) for span in spans]
    if silent(candidate):
        unsaid, category = reference.scope.statements, CATEGORIES.index(ErrorCategory.MISSING_FINDING)
        missing = max(len(unsaid) - float(counts.sum()), 0.0)
        found += [WordAttribution("reference", *span, category, missing / len(unsaid)) for span in unsaid]
    return found


def _per_category(words: Sequence[WordAttribution]) -> Array:
    """The errors of each category `(6,)` that words add."""
    added = np.zeros(len(CATEGORIES))
    for word in words:
        added[word.category] += word.rate
    return added


def clip_counts(logits: Array) -> Array:
    """Counts `(n, C)` from the heads' outputs: 0 where one is negative, a row of NaN where any is not a number.

    Differs from the authors: `max(0, nan)` makes them report 0 errors.
    """
    unscored = ~np.isfinite(logits).all(axis=-1, keepdims=True)
    return np.where(unscored, np.nan, np.maximum(logits, 0.0))


def nearly_whole(counts: Array, margin: float) -> Array:
    """Counts of which those within `margin` of a whole number are that number; between, straight lines join them.

    Errors are whole: what is left of a count by small doubts over many words is no part of an error.

    Args:
        counts: Of any shape, 0 or more; NaN stays.
        margin: `crepe_whole` of the checkpoint, from 0, which changes nothing, to less than 0.5.

    Example:
        >>> nearly_whole(np.array([0.2, 0.5, 0.6, 0.8, 2.1]), 0.3).round(2).tolist()
        [0.0, 0.5, 0.75, 1.0, 2.0]
    """
    whole = np.floor(counts)
    part: Array = np.clip((counts - whole - margin) / (1 - 2 * margin), 0, 1)
    return whole + part


def _words(which: int, text: str, encoding: Any, rates: Array) -> Iterator[WordAttribution]:
    """Sums the rates of a word's tokens and keeps those worth showing."""
    spans: list[tuple[int, int]] = []
    sums: list[Array] = []
    for (start, end), rate in zip(encoding.offsets, rates, strict=False):  # a text that was cut has fewer rates
        if spans and spans[-1][1] == start and text[start - 1 : start + 1].isalnum():
            spans[-1] = spans[-1][0], end
            sums[-1] = sums[-1] + rate
        else:
            spans.append((start, end))
            sums.append(rate)
    for (start, end), total in zip(spans, sums, strict=True):
        for category, rate in enumerate(total.tolist()):
            if rate >= SMALLEST_RATE:
                yield WordAttribution("candidate" if which else "reference", start, end, category, rate)


def load_crepe(
    checkpoint: str = BUNDLED,
    *,
    device: str | None = None,
    batch_size: int | None = None,
    precision: Precision = "fp32",
    long: Long = "truncate",
    explain: bool = False,
    only_affirmed: bool | None = None,
) -> CrepeBackend:
    """Loads a checkpoint; all users in a process share the weights.

    Args:
        checkpoint: A key of `FOLDERS`, which ship with the package; a folder; or a Hub id with an optional `@revision`.
        device: torch device; None takes CUDA where there is one, else the CPU.
        batch_size: Pairs per forward pass; None: as many as the token budget holds.
        precision: Arithmetic of the encoder; the heads compute in fp32.
        long: Cut pairs beyond the model's length, or read them in windows.
        explain: Whether readings name the words that a count comes from.
        only_affirmed: Whether to read only the sentences that affirm a finding, and to count penalties beside them;
            None: if the checkpoint ships with the package, or is told where words stand in the other text, which is
            how such are trained.

    Raises:
        BackendError: Weights not found (within a second), damaged, or not CREPE's; or no words to explain with.
    """
    if checkpoint not in FOLDERS and not Path(checkpoint).expanduser().is_dir():
        check_path(checkpoint)
        need(f"crepe@{checkpoint}", "published")  # before it is downloaded
    files = Checkpoint(FOLDERS[checkpoint], checkpoint) if checkpoint in FOLDERS else find_checkpoint(checkpoint)
    known = read_checkpoint(files)  # before the second that importing torch takes
    if explain and known.settings.crepe_features != "tokens":
        raise BackendError(
            f"{files.identity} predicts counts for a whole pair, not for words, so it cannot explain them. Use a "
            "checkpoint with crepe_features 'tokens', such as the bundled one."
        )
    network = load_network(files, pick_device(device), precision)
    ours = checkpoint in FOLDERS or known.settings.crepe_alignment
    reads_affirmed = ours if only_affirmed is None else only_affirmed
    return CrepeBackend(network, precision, long, explain, batch_size, reads_affirmed)
