"""Document frequencies: how many of a call's references hold an n-gram, or a token.

They are all that the score of a pair can take from the other pairs, and they add up: those of parts of the references
make those of all.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import Any, NamedTuple


class Frequencies(NamedTuple):
    """The number of references that hold each item, of `n` references in all.

    Attributes:
        documents: By n-gram (a tuple of words) or by token (its id).
        n: References, repeated ones counted each time.
    """

    documents: Counter[Any]
    n: int

    @property
    def log_n(self) -> float:
        """The natural logarithm of the number of references."""
        return math.log(self.n)

    @property
    def checksum(self) -> str:
        """Eight digits that tell one set of frequencies from another, for signatures; their order counts."""
        digest = hashlib.sha256(str(self.n).encode())
        for item, count in self.documents.items():
            digest.update(f"{item}\t{count}\n".encode())
        return digest.hexdigest()[:8]

    def add(self, other: Frequencies) -> Frequencies:
        """Adds those of further references in place, and returns both."""
        self.documents.update(other.documents)
        return self._replace(n=self.n + other.n)
