"""RadCliQ (Yu et al. 2023, Patterns): the errors that a linear model of other metrics expects a radiologist to count.

    raw = Σ_i w_i · (x_i − mean_i) / scale_i + intercept,   x = (RadGraph, BERTScore, SembScore, BLEU-2)

with RadGraph the mean F1 of entities and relations. Lower is better. Coefficients are data (`radcliq.json`): `v1` and
`v0` as the authors published them, `yu2022` those that their paper prints, or a file that `rrgmetrics radcliq fit`
wrote. `radcliq_rexrank` is 1 / the mean of raw, which ReXrank prints: it has a pole, and a perfect system (raw −1.44)
ranks below the worst. The mean raw has none.

`yu2022` is the model of the paper's preprint: BLEU-2 and RadGraph alone, and raw is a number of errors. It
prints weights (−0.526 RadGraph, −0.559 BLEU-2) and intercept (1.642), and no means: those here are of version 0, which
was fitted on the same 200 pairs. They reproduce its table of six systems to 0.01 errors.

Configurations: `default` our bundled metrics under the coefficients of the authors' metrics, which the signature calls
`calibrated:no`; `paper` the authors' (RadGraph, distilroberta-base at layer 5 rescaled, CheXbert); `yu2022` RadGraph
and BLEU-2 under `coefficients=yu2022`; a file with refitted coefficients, which names the metrics that it was fitted
on.

Bundled, BERTScore and SembScore share one encoder, CREPE's, and all four read each report's standard wording: the
sentences that affirm a finding, each once, and one sentence for each organ without a finding. The encoder reads each
sentence by itself, so that a sentence of many reports is read once. Repetition and normal
statements earn nothing, and each difference costs much the same however long the report is. But any two reports share
most of these sentences: of unrelated ones RadGraph is 0.52 on the mean, of the authors' on the words as written 0.05.
Raw under the coefficients of the authors' metrics is therefore counted in their unit: identical reports keep their raw,
and unrelated ones are as far from it as the paper's table has them. This is a straight line, which changes no rank and
no correlation.

BLEU-2 is fast-bleu's, on lower-case words with the full stop apart: geometric mean of both precisions, 0.1 matches for
none of order 2, brevity penalty. It weighs 4e-12 in v1, 0.7 in v0.

Differs from RadEval 2.2, not from the authors: `idf=no`. With `idf=call` the weights of tokens come from the call's
references, and one pair alone has none: it is unscored, not 10.8 errors worse.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.backends.base import Backend, read_parts
from rrgmetrics.backends.encoder import FINDINGS, FINDINGS_LAYERS, BySentence, Encoder
from rrgmetrics.backends.reader import ReaderBackend, reader_backend
from rrgmetrics.backends.tokens import Ngrams, TextFunction, count_ngrams
from rrgmetrics.errors import InputError
from rrgmetrics.labels.positive_sentences import standard_wording
from rrgmetrics.reading import Reading, read
from rrgmetrics.reports import Pair, distinct_texts
from rrgmetrics.scorers.base import Array, Mean, Runtime, note_too_long, of_pairs
from rrgmetrics.scorers.bertscore import Bertscore
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.scorers.radgraph_f1 import KEYS as RADGRAPH_KEYS
from rrgmetrics.scorers.radgraph_f1 import RadgraphF1
from rrgmetrics.scorers.semb_score import SembScore
from rrgmetrics.specs import keys_of

FEATURES = ("radgraph", "bertscore", "semb", "bleu")
KEYS = keys_of("radcliq")
PUBLISHED = Path(__file__).with_suffix(".json")
PARTS = ("default", "paper")
VERSIONS = ("v1", "v0", "yu2022")
CONFIGS = {"default": "default", "paper": "paper", "yu2022": "paper"}  # and which of the parts it computes
OTHER_KEYS = "keys"  # the parts of a model of other metrics than these four
RADGRAPH_COLUMN = RADGRAPH_KEYS.index("radgraph_f1_radcliq")
UNMATCHED = 0.1  # matches of order 2 where there are none: fast-bleu's smoothing function 1


@dataclass(frozen=True)
class Coefficients:
    """A linear model of metrics.

    Attributes:
        mean: Of each feature, in the order of `features`.
        scale: Standard deviation of each.
        weight: Errors a standard deviation.
        intercept: Errors where every feature is at its mean.
        parts: Which metrics it was fitted on: `"default"`, `"paper"`, or `"keys"`, which `features` name.
        fitted_on: What these were, as signatures name them; empty for the published ones.
        features: Those of `FEATURES` that it combines, or keys of other metrics.
    """

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weight: tuple[float, ...]
    intercept: float
    parts: str = "default"
    fitted_on: Mapping[str, str] = field(default_factory=dict)
    features: tuple[str, ...] = FEATURES

    def raw(self, features: Array) -> Array:
        """The expected errors `(n,)` from features `(n, n_features)`."""
        standard = (features - np.array(self.mean)) / np.array(self.scale)
        raw: Array = standard @ np.array(self.weight) + self.intercept
        return raw


def read_coefficients(name: str) -> Coefficients:
    """Reads the coefficients of a published version, or of a file.

    Args:
        name: `"v0"`, `"v1"`, `"yu2022"`, or a JSON file as `rrgmetrics radcliq fit` writes it.

    Raises:
        InputError: No such version or file, or one that lacks a number.

    Example:
        >>> float(read_coefficients("v1").raw(np.ones((1, 4)))[0])
        -1.440690282804...
    """
    if name in VERSIONS:
        return _parse(_published()[name], name)
    try:
        return _parse(json.loads(Path(name).expanduser().read_text(encoding="utf-8")), name)
    except FileNotFoundError:
        raise InputError(
            f"radcliq: there are no coefficients {name!r}; choose {', '.join(VERSIONS)} or a file."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"radcliq: {name} cannot be read as JSON: {error}.") from None


@cache
def _published() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    return table


def _parse(table: Any, name: str) -> Coefficients:
    try:
        parts, rows = table["parts"], dict(table["features"])
        known = FEATURES if parts in PARTS else tuple(rows)
        names = tuple(feature for feature in known if feature in rows)
        columns = [tuple(float(rows[feature][key]) for feature in names) for key in ("mean", "scale", "weight")]
        intercept, fitted_on = float(table["intercept"]), table.get("fitted_on", {})
        coefficients = Coefficients(columns[0], columns[1], columns[2], intercept, parts, fitted_on, names)
    except (KeyError, TypeError, ValueError) as error:
        wanted = "features with mean, scale and weight each, intercept, parts"
        raise InputError(f"radcliq: {name} is not a file of coefficients; it needs {wanted} ({error!r}).") from None
    if not names or len(names) < len(rows):
        raise InputError(f"radcliq: {name} has features {', '.join(rows) or 'none'}; known: {', '.join(FEATURES)}.")
    numbers = np.array([*columns, (coefficients.intercept,) * len(names)])
    if not np.isfinite(numbers).all() or min(coefficients.scale) <= 0 or parts not in (*PARTS, OTHER_KEYS):
        raise InputError(f"radcliq: {name} has a number that is not finite, a scale of 0 or less, or unknown parts.")
    return coefficients


def on_printed_scale(raw: Array, model: Coefficients) -> Array:
    """Counts raw of the bundled metrics in the unit of the authors' metrics.

    Features that are all 1 keep their raw, and unrelated reports get the one that follows from the paper's
    Supplementary Table 4; the rest lies on the straight line through both. Coefficients under which unrelated reports
    are no worse than identical ones change nothing.

    Example:
        >>> model = read_coefficients("yu2022")
        >>> on_printed_scale(model.raw(np.array([[1, 1], [0.518, 0.522]])), model).round(2).tolist()
        [-0.15, 3.26]
    """
    random = _published()["random_reports"]
    points = [
        [1.0] * len(model.features),
        *([random[of][key] for key in model.features] for of in ("bundled", "printed")),
    ]
    same, ours, printed = model.raw(np.array(points))
    if min(ours, printed) <= same:
        return raw
    scaled: Array = same + (raw - same) * (printed - same) / (ours - same)
    return scaled


@dataclass(frozen=True)
class CombinedBackend:
    """A `Composed` backend: the annotations of several backends, by name.

    Attributes:
        parts: The backends.
        extra_facts: What the signature must name besides what they are.
    """

    parts: Mapping[str, Backend]
    extra_facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The identity: the keys of the parts."""
        return "+".join(part.key for part in self.parts.values())

    @property
    def part_facts(self) -> Mapping[str, str]:
        """The facts of the parts, each with its part's name before it."""
        return {f"{name}_{key}": value for name, part in self.parts.items() for key, value in part.facts.items()}

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: those of the parts and of the metric."""
        return {**self.part_facts, **self.extra_facts}

    def compose(self, readings: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Returns the parts' annotations of each text, by name."""
        return readings

    def annotate(self, texts: Sequence[str]) -> Sequence[Any]:
        """Annotates texts that no other backend reads."""
        return read_parts(self, texts)


@dataclass(frozen=True)
class Wordings:
    """A `Composed` backend: the standard wording of each text (`rrgmetrics.labels.positive_sentences`)."""

    @property
    def key(self) -> str:
        """The identity: the reader's, with what is made of it."""
        return f"{reader_backend().key}:standard wording"

    @property
    def facts(self) -> Mapping[str, str]:
        """The reader's."""
        return reader_backend().facts

    @property
    def parts(self) -> Mapping[str, ReaderBackend]:
        """The reader, shared with every metric that reads findings."""
        return {"reader": reader_backend()}

    def compose(self, readings: Sequence[Mapping[str, Reading]]) -> list[str]:
        """Returns the standard wordings of readings."""
        return [standard_wording(parts["reader"]) for parts in readings]

    def annotate(self, texts: Sequence[str]) -> Sequence[str]:
        """Returns the standard wordings of texts that no other backend reads."""
        return read_parts(self, texts)


@dataclass(frozen=True)
class StandardWording:
    """A `Composed` backend: another's annotation of the standard wording.

    Attributes:
        backend: The other one.
    """

    backend: Backend

    @property
    def key(self) -> str:
        """The identity: the other's, with the wording that it reads."""
        return f"standard wording:{self.backend.key}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the other's, and which text it reads."""
        return {**self.backend.facts, "reads": "standard_wording@2"}

    @property
    def parts(self) -> Mapping[str, Wordings]:
        """The wordings, each made once for all features."""
        return {"wording": Wordings()}

    def compose(self, readings: Sequence[Mapping[str, str]]) -> list[Any]:
        """Returns the other's annotations of the wordings, each distinct one read once."""
        texts = [parts["wording"] for parts in readings]
        distinct = list(dict.fromkeys(texts))
        known = dict(zip(distinct, self.backend.annotate(distinct), strict=True))
        return [known[text] for text in texts]

    def annotate(self, texts: Sequence[str]) -> Sequence[Any]:
        """Annotates texts that no other backend reads."""
        return read_parts(self, texts)


@dataclass(frozen=True)
class RadcliqReduction:
    """The reduction to means over pairs, and to the inverse of the mean; NaN for a feature that the model has not.

    Attributes:
        features: Those of the model, in the order of the columns behind the first.
    """

    features: tuple[str, ...] = FEATURES

    @property
    def _mean(self) -> Mean:
        return Mean(("radcliq", *(f"radcliq_{feature}" for feature in self.features)))

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The mean raw score, its inverse, and the mean features."""
        means = self._mean.corpus(sums, n)
        with np.errstate(divide="ignore"):
            return self._with_all({**means, "radcliq_rexrank": 1 / means["radcliq"]}, KEYS)

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The raw score and the features of each pair."""
        return self._with_all(self._mean.per_pair(stats), (KEYS[0], *KEYS[2:]))

    def _with_all(self, values: dict[str, Array], keys: Sequence[str]) -> dict[str, Array]:
        without = np.full_like(values["radcliq"], np.nan)
        return {key: values.get(key, without) for key in keys}


@dataclass(frozen=True)
class Radcliq:
    """RadCliQ with the options of the spec."""

    config: str = "default"
    coefficients: str = "v1"
    idf: str = "no"
    idf_file: str = ""

    def __post_init__(self) -> None:
        if self.config not in CONFIGS and not Path(self.config).expanduser().is_file():
            raise InputError(
                f"radcliq has no configuration {self.config!r}: choose {', '.join(CONFIGS)}, or a file of "
                "coefficients; published versions are options, as in radcliq@paper?coefficients=v0."
            )
        if self.config not in PARTS and self.coefficients != ("yu2022" if self.config == "yu2022" else "v1"):
            raise InputError(f"radcliq: coefficients are given twice, {self.config} and {self.coefficients}.")
        if self.model.parts == OTHER_KEYS:
            raise InputError(
                f"radcliq: {self.source} is a model of {', '.join(self.model.features)}; "
                f"`rrgmetrics radcliq predict --model {self.source}` and `rrgmetrics agree` use it."
            )
        if self.config not in CONFIGS and self.model.parts != "default":
            raise InputError(
                f"radcliq: {self.config} was fitted on the authors' metrics; write "
                f"radcliq@paper?coefficients={self.config}."
            )
        if self.idf != "no" and "bertscore" not in self.model.features:
            raise InputError(f"radcliq: the coefficients {self.source} have no BERTScore; leave out idf={self.idf}.")
        if self.idf_file or self.idf == "frozen":
            _ = self.scorers["bertscore"]  # checks both

    @property
    def source(self) -> str:
        """The source of the coefficients: `v0`, `v1`, `yu2022` or a file."""
        return self.coefficients if self.config in CONFIGS else self.config

    @cached_property
    def model(self) -> Coefficients:
        """The coefficients."""
        return read_coefficients(self.source)

    @property
    def parts(self) -> str:
        """The configurations of the four metrics: ours (`default`) or the authors' (`paper`)."""
        return CONFIGS.get(self.config, "default")

    @property
    def is_rescaled(self) -> bool:
        """Whether the bundled metrics are under coefficients of the authors' metrics (`on_printed_scale`)."""
        return self.parts == "default" and self.model.parts == "paper"

    @cached_property
    def scorers(self) -> Mapping[str, RadgraphF1 | Bertscore | SembScore]:
        """The metrics behind the features, BLEU-2 excepted."""
        idf: dict[str, Any] = {"idf": self.idf, "idf_file": self.idf_file}
        scorers: dict[str, RadgraphF1 | Bertscore | SembScore] = (
            {
                "radgraph": RadgraphF1("radgraph", lowercase=False),
                "bertscore": Bertscore("radcliq", rescale=True, **idf),
                "semb": SembScore("paper"),
            }
            if self.parts == "paper"
            else {
                "radgraph": RadgraphF1(),
                "bertscore": Bertscore(FINDINGS, FINDINGS_LAYERS, **idf),
                "semb": SembScore(),
            }
        )
        return {name: scorer for name, scorer in scorers.items() if name in self.model.features}

    @property
    def reduction(self) -> RadcliqReduction:
        """The means over pairs."""
        return RadcliqReduction(self.model.features)

    def backend(self, runtime: Runtime) -> CombinedBackend:
        """The backends of the features, each shared with the metric whose own it is."""
        parts: dict[str, Backend] = {name: scorer.backend(runtime) for name, scorer in self.scorers.items()}
        if "bleu" in self.model.features:
            parts["bleu"] = TextFunction("ngrams:radcliq", lambda text: count_ngrams(bleu_tokens(text), 2))
        if self.parts == "default":
            parts = {
                name: StandardWording(BySentence(part) if isinstance(part, Encoder) else part)
                for name, part in parts.items()
            }
        return CombinedBackend(parts, self._facts(CombinedBackend(parts).part_facts))

    def _facts(self, parts: Mapping[str, str]) -> dict[str, str]:
        """Returns whether the coefficients were fitted on these metrics, and the checksum of a file of them."""
        model = self.model
        fitted = model.fitted_on == parts if model.fitted_on else model.parts == self.parts
        file = Path(self.source).expanduser()
        checksum = {"coefficients_sha256": hashlib.sha256(file.read_bytes()).hexdigest()[:8]} if file.is_file() else {}
        rescaled = {"scale": "random_reports@3"} if self.is_rescaled else {}
        return {"calibrated": "yes" if fitted else "no", **rescaled, **checksum}

    def reference_statistics(self, references: Iterable[str], backend: CombinedBackend) -> Frequencies | None:
        """The document frequencies for BERTScore, if asked for."""
        if "bertscore" not in self.scorers:
            return None
        part: Any = backend.parts["bertscore"]
        if isinstance(part, StandardWording):
            assert isinstance(part.backend, BySentence)
            references = (standard_wording(read(text)) for text in references) if self.idf == "call" else references
            part = part.backend.encoder
        bertscore = self.scorers["bertscore"]
        assert isinstance(bertscore, Bertscore)
        return bertscore.reference_statistics(references, part)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Mapping[str, Any]],
        statistics: Any,
    ) -> Array:
        """The raw score and the features of each pair, and 1 if a report was too long, `(n_pairs, 2 + n_features)`.

        NaN where a feature has no value.
        """
        texts = distinct_texts(pairs)
        columns = []
        cut = np.zeros(len(pairs))
        for name, scorer in self.scorers.items():
            own = {text: annotations[text][name] for text in texts}
            stats = scorer.pair_stats(pairs, own, statistics if name == "bertscore" else None)
            columns.append(stats[:, RADGRAPH_COLUMN if name == "radgraph" else 0])
            if name != "radgraph":  # which counts none
                cut = np.maximum(cut, stats[:, -1] > 0)
        if "bleu" in self.model.features:
            both = of_pairs(pairs, annotations)
            columns.append(np.array([bleu_2(reference["bleu"], candidate["bleu"]) for reference, candidate in both]))
        features = np.column_stack(columns)
        raw = self.model.raw(features)
        if self.is_rescaled:
            raw = on_printed_scale(raw, self.model)
        return np.column_stack([raw, features, np.where(np.isnan(raw), np.nan, cut)])

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The number of pairs with a report of more tokens than the model reads."""
        return note_too_long(stats)


def bleu_tokens(text: str) -> list[str]:
    """Cuts a report into lower-case words, the full stop apart, as the authors' `prep_reports` does."""
    return [word for word in text.lower().replace(".", " .").split(" ") if word]


def bleu_2(reference: Ngrams, candidate: Ngrams) -> float:
    """The BLEU of order 2 as in fast-bleu, 0 to 1; 0 without a word in common."""
    matches = [0, 0]
    for ngram, count in candidate.counts.items():
        matches[len(ngram) - 1] += min(count, reference.counts[ngram])
    if not matches[0]:
        return 0.0
    precisions = [
        (n_matched or UNMATCHED) / max(candidate.length - order, 1) for order, n_matched in enumerate(matches)
    ]
    penalty = min(1.0, math.exp(1 - reference.length / candidate.length))
    return penalty * math.sqrt(precisions[0] * precisions[1])
