"""Replies as RadEval's `radfact_ct` reads them (e0a3909), for `radfact?parser=strict`.

Phrases are JSON, entailments YAML. What has no brace is a report without phrases; a text in a list's place falls apart
into letters; a filter that cannot be read leaves all phrases; an entailment that cannot be read is none, in silence,
and one without evidence counts. Where theirs ends the run, the pair is unscored.

Differs from the authors: a reply that is cut off inside its braces leaves the pair unscored; theirs takes it for a
report without phrases, or keeps all phrases.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.replies import short
from rrgmetrics.utils.bounded_files import check_yaml, yaml_errors

MOST = 5_000  # entries of a reply


def published_phrases(reply: str) -> tuple[str, ...]:
    """Reads the phrases of a report.

    Example:
        >>> published_phrases('{"sentence_list": [{"orig": "o", "new": ["Emphysema.", " "]}]}')
        ('Emphysema.',)
    """
    answer = _json(reply)
    if answer is None:
        return ()
    try:
        sentences = answer.get("sentence_list", [])
        return tuple(stripped for one in sentences for phrase in one.get("new", []) if (stripped := phrase.strip()))
    except (AttributeError, TypeError) as error:
        raise VerdictError(f"The reply lists no phrases ({error}): {short(reply)!r}.") from None


def published_positives(reply: str, phrases: Sequence[str]) -> tuple[str, ...]:
    """Reads which phrases are kept; all of them where the reply has no list."""
    answer = _json(reply)
    if answer is None:
        return tuple(phrases)
    try:
        return tuple(answer.get("phrases", phrases))
    except (AttributeError, TypeError) as error:
        raise VerdictError(f"The reply lists no phrases ({error}): {short(reply)!r}.") from None


def published_entailment(reply: str) -> tuple[bool, tuple[str, ...]]:
    r"""Reads whether a phrase is entailed, and the evidence.

    Example:
        >>> published_entailment("phrase: Cyst.\nstatus: entailment\nevidence:\n- A cyst.")
        (True, ('A cyst.',))
    """
    import yaml

    try:
        answer = None if check_yaml(reply, MOST) else yaml.safe_load(reply)
    except yaml_errors():
        return False, ()
    if not isinstance(answer, dict) or answer.get("status") != "entailment":
        return False, ()
    evidence = answer.get("evidence") or []
    return True, (evidence,) if isinstance(evidence, str) else tuple(map(str, evidence))


def _json(reply: str) -> Any:
    """The reply as JSON, or what stands between its first and last brace; None without one."""
    try:
        return json.loads(reply)
    except ValueError:
        start, end = reply.find("{"), reply.rfind("}")
    if start < 0 or end < start:
        if start < 0:
            return None
        raise VerdictError(f"The reply's JSON is cut off: {short(reply)!r}.")
    try:
        return json.loads(reply[start : end + 1])
    except ValueError:
        raise VerdictError(f"The reply's JSON is broken or cut off: {short(reply)!r}.") from None
