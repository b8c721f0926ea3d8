"""Document frequencies: how many of a call's references hold an n-gram, or a token.

They are all that the score of a pair can take from the other pairs, and they add up: those of parts of the references
make those of all.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Frequencies:
    """The number of references that hold each item, of `n` references in all.

    Attributes:
        documents: By n-gram (a tuple of words) or by token (its id).
        n: References, repeated ones counted each time.
    """

    documents: Counter[Any]
    n: int

    @property
    def log_n(self) -> float:
        """The natural logarithm of the number of references; 0 without any."""
        return math.log(self.n) if self.n else 0.0

    @cached_property
    def checksum(self) -> str:
        """Eight digits that tell one set of frequencies from another, for signatures; their order counts.

        Made once: every chunk of a stream and every task of a worker signs with it.
        """
        digest = hashlib.sha256(str(self.n).encode())
        for item, count in self.documents.items():
            digest.update(f"{item}\t{count}\n".encode())
        return digest.hexdigest()[:8]

    def add(self, other: Frequencies) -> Frequencies:
        """Returns both, with the counts of the other added in place: the sum takes the place of this one."""
        self.documents.update(other.documents)
        return replace(self, n=self.n + other.n)
