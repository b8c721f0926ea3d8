"""RaTEScore (Zhao et al. 2024, EMNLP): entities of two reports, matched by meaning and weighted by type.

An entity a of one report finds the nearest entity b of the other, by cosine. With W the weights of pairs of types,

    s(A → B) = Σ_a W[a, b] · p(a, b) · cos(a, b) / Σ_a W[a, b],   RaTEScore = 2 · s · s' / (s + s'),

s = s(reference → candidate), s' = s(candidate → reference); p is the penalty of a finding whose nearest is denied, or
the other way round, else 1. W and p are the authors' two sets (package RaTEScore 0.6.0): `long`, their default, and
`short`.

Bundled, only what a report affirms is an entity; what is normal is one more that both have, with the weight of an
abnormality. A denial of what the other report affirms, a contradiction or an unread sentence is one without a match. So
a list of denials earns nothing, where RaTEScore lets it find the findings that it denies.

Configurations: `default` the reader's entities and our encoder; `paper` the authors' models
(`rrgmetrics.backends.ratescore`); a Hub id or folder, another token classifier.

Differs from the authors: s below 0 counts as 0 (a harmonic mean of numbers of both signs has no bounds); where a report
has no entities the pair scores 1 if neither has any and else 0; theirs is 0.5, which rewards silence
(`no_entities=published`, part of `paper`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rrgmetrics.backends.ratescore import NER, ClassifierEntities, EntityVectors, ReaderEntities, load_entities
from rrgmetrics.comparing.penalties import penalties, silent
from rrgmetrics.judges.protocols.statements import normal_statements
from rrgmetrics.labels.entities import ENTITY_TYPES
from rrgmetrics.reading import Reading
from rrgmetrics.reports import Context, Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, of_pairs
from rrgmetrics.specs import keys_of

KEYS = keys_of("ratescore")
MODELS = {"default": "", "paper": NER}
PUBLISHED_WITHOUT_ENTITIES = 0.5
WEIGHTS = {  # rows and columns: abnormality, anatomy, disease, non-abnormality, non-disease
    "long": np.array(
        [
            [0.4276119164393705, 0.6240929990607657, 0.0034478181112993847, 0.5431049700217344, 0.27005425386213877],
            [0.7487824274337533, 0.2856134859160784, 0.4592143222158069, 0.02097055139911715, 0.00013736314126696204],
            [0.8396510075734789, 0.9950209388542061, 0.8460555030578727, 0.9820689020512646, 0.3789136708096537],
            [0.16546764653692908, 0.018670610691852826, 0.719397354576018, 0.0009357166071730684, 0.0927333564267591],
            [0.7759420231214385, 0.1839139293714062, 0.10073046076318157, 0.03860183811876373, 0.34065681486566446],
        ]
    ),
    "short": np.array(
        [
            [0.4070293318365468, 0.6952639610605605, 0.28342529466226446, 0.9479148658006686, 0.23875064111146294],
            [0.5829759950441763, 0.7709590751917746, 0.0006059634829551632, 0.794672584951181, 0.27982942400798977],
            [0.8840397619834857, 0.9637659445696822, 0.19018958438059513, 0.6962283914800402, 0.943727057946997],
            [0.1712744286898638, 0.4485149671497294, 0.00045065329822896076, 0.0007887930317199857, 0.8555432840895761],
            [0.9555801066212176, 0.13122106162635216, 0.6072996585919443, 0.05650711141169969, 0.3214769399791204],
        ]
    ),
}
PENALTIES = {"long": 0.8716553966489615, "short": 0.3611577852354489}
NORMAL = 0.5  # weight of what is normal, about that of one abnormality; the bundled score only
POLARITY = np.array([0 if kind == "anatomy" else -1 if kind.startswith("non-") else 1 for kind in ENTITY_TYPES])


@dataclass(frozen=True)
class Ratescore:
    """RaTEScore with the options of the spec."""

    config: str = "default"
    matrix: str = "long"
    no_entities: str = "f1"
    encoder: str = ""

    @property
    def reduction(self) -> Mean:
        """The means over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> ReaderEntities | ClassifierEntities:
        """The backend of entities and their vectors."""
        checkpoint = MODELS.get(self.config, self.config)
        return load_entities(checkpoint, encoder=self.encoder, device=runtime.device, batch_size=runtime.batch_size)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, EntityVectors],
        statistics: None = None,
    ) -> Array:
        """The score, precision, recall, and 1 if a report of the pair has no entities, `(n_pairs, 4)`."""
        rows = [self._row(*both) for both in of_pairs(pairs, annotations)]
        return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS) + 1)

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The number of pairs with a report that has no entities."""
        return {"without_entities": str(int(np.nansum(stats[:, -1])))}

    def _row(self, reference: EntityVectors, candidate: EntityVectors) -> tuple[float, float, float, float]:
        if reference.reading and candidate.reading:
            return self._read_row(reference, candidate)
        if reference.entities and candidate.entities:
            weights, penalty = WEIGHTS[self.matrix], PENALTIES[self.matrix]
            recall = similarity(reference, candidate, weights, penalty)
            precision = similarity(candidate, reference, weights, penalty)
            total = precision + recall
            return 2 * precision * recall / total if total else 0.0, precision, recall, 0.0
        if self.no_entities == "published":
            value = PUBLISHED_WITHOUT_ENTITIES
        else:
            value = float(not reference.entities and not candidate.entities)
        return value, value, value, 1.0

    def _read_row(self, reference: EntityVectors, candidate: EntityVectors) -> tuple[float, float, float, float]:
        """The bundled score: findings by their entities, what is normal as one entity that both reports have."""
        assert reference.reading is not None
        assert candidate.reading is not None
        without = float(not reference.entities or not candidate.entities)
        mute = silent(reference.reading), silent(candidate.reading)
        if any(mute):
            value = float(all(mute)) if self.no_entities == "f1" else PUBLISHED_WITHOUT_ENTITIES
            return value, value, value, without
        weights, penalty = WEIGHTS[self.matrix], PENALTIES[self.matrix]
        missed = _contradicted(reference.reading, candidate.reading)
        false = _contradicted(candidate.reading, reference.reading)
        paid = sum(bool(e.candidate_spans) for e in penalties(reference.reading, candidate.reading, Context()))
        recall = similarity(reference, candidate, weights, penalty, (NORMAL, NORMAL * (1 + missed)))
        precision = similarity(candidate, reference, weights, penalty, (NORMAL, NORMAL * (1 + false + paid)))
        return 2 * precision * recall / (precision + recall), precision, recall, without


def _contradicted(reading: Reading, other: Reading) -> int:
    """Counts the normal statements of a reading that the other contradicts."""
    return sum(not stands for stands in normal_statements(reading, other).values())


def similarity(
    of: EntityVectors, to: EntityVectors, weights: Array, penalty: float, rest: tuple[float, float] = (0.0, 0.0)
) -> float:
    """The similarity s(of → to), from 0 to 1.

    Args:
        of: Entities that each find their nearest.
        to: Entities to be found; without any, none of `of` is.
        weights: W `(5, 5)`, in the order of `ENTITY_TYPES`.
        penalty: p of opposite polarity.
        rest: What else is found, and what else counts: added to numerator and denominator.
    """
    if not of.entities or not to.entities:
        lost = float(weights.diagonal()[_types(of)].sum())
        return rest[0] / (rest[1] + lost) if rest[1] + lost else 0.0
    cosines = of.vectors.astype(np.float64) @ to.vectors.astype(np.float64).T
    nearest = cosines.argmax(axis=1)
    best = np.minimum(cosines.max(axis=1), 1.0)
    types, others = _types(of), _types(to)[nearest]
    weight = weights[types, others]
    agreed = np.where(POLARITY[types] * POLARITY[others] < 0, penalty, 1.0)
    return max(float((weight @ (agreed * best) + rest[0]) / (weight.sum() + rest[1])), 0.0)


def _types(annotation: EntityVectors) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.array([ENTITY_TYPES.index(entity.type) for entity in annotation.entities], dtype=np.intp)
