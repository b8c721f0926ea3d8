"""What a pair without a score is due to: the candidate, the reference, or an outage.

In a table all three are unscored. A reward must tell them apart: a policy that could make its own report unscored would
learn to. `callbacks.reward` says what each earns.

- **candidate**: what the candidate's text does. A judge's server or filter refuses the question, the question is longer
  than the judge reads, or its reply cannot be read, is empty, cut off or without end. A judge is asked about both texts
  at once; what fails because of them counts as the candidate's, since the reference is the same for each candidate.
- **reference**: the reference is missing or out of the metric's scope.
- **outage**: nobody answered, whatever the texts say: a server that is down, late or overloaded, a key or model that it
  does not know, a file without the reply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Cause = Literal["candidate", "reference", "outage"]

REFUSED = (400, 403, 406, 413, 414, 418, 422, 431, 451)  # HTTP status of a request that the server could read
TOO_LONG = re.compile(  # what servers say of such a request under other statuses
    r"context[ _]?(?:length|size|window)|too (?:long|many tokens)|content[ _]?(?:filter|policy|management)",
    re.IGNORECASE,
)
BROKEN = ("error", "abort", "cancelled", "insufficient_system_resource")  # why a reply ended: nothing about the texts


def as_entry(reason: str, cause: Cause | None, replies: Sequence[str] = ()) -> dict[str, object]:
    """What the details of a result say of an unscored pair; None: nobody knows what it is due to."""
    return {"unscored": reason, "cause": cause, "replies": list(replies)}


def of_status(status: int, message: str) -> Cause:
    """What a server's refusal is due to, from its HTTP status and message.

    Example:
        >>> of_status(400, "content_filter"), of_status(500, "maximum context length"), of_status(503, "overloaded")
        ('candidate', 'candidate', 'outage')
    """
    return "candidate" if status in REFUSED or (status != 429 and TOO_LONG.search(message)) else "outage"


def of_ending(why: object) -> Cause:
    """What a reply is due to that ended neither by itself nor at its limit, from the engine's reason.

    Example:
        >>> of_ending("content_filter"), of_ending("abort")
        ('candidate', 'outage')
    """
    return "outage" if why in BROKEN else "candidate"
