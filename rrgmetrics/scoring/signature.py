"""Signatures: one line that records what ran, and that can be parsed back into arguments.

`bleu|tokenizer:coco|text:none@1|n:100|v:0.2.0`: the metric, its configuration unless default, every option, the
facts of the backend (model and revision, checksums, library versions), the user's own lexicon if there is one, the
number of pairs, and the version, last.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon import own_facts
from rrgmetrics.reading.scope import readable_kinds
from rrgmetrics.reports.text import get_normaliser
from rrgmetrics.specs import SPECS, Option, get_spec, others
from rrgmetrics.specs.names import MetricName, resolve
from rrgmetrics.version import VERSION

SAFE = "/@.,+-_()= "


def write(name: MetricName, *, facts: Mapping[str, str], n_pairs: int) -> str:
    """Writes the signature of a metric that ran.

    Args:
        name: Metric, configuration and options.
        facts: What the backend names; values may hold any character.
        n_pairs: Number of pairs, scored or not.
    """
    fields = {} if name.config == "default" else {"config": name.config}
    stated = {key: value for key, value in name.options.items() if name.spec.options[key].stated and value != ""}
    fields |= {key: Option.write(value) for key, value in stated.items()}
    if "text" in fields:
        fields["text"] = str(get_normaliser(fields["text"]))
    lexicon = own_facts() if readable_kinds(name.spec.modality) and not name.published else {}
    package = {} if name.spec.name in SPECS else {"package": others().release(name.spec.name)}
    fields |= {**facts, **lexicon, **package, "n": str(n_pairs), "v": VERSION}
    return "|".join([name.spec.name, *(f"{key}:{quote(value, safe=SAFE)}" for key, value in fields.items())])


def parse(signature: str) -> tuple[str, dict[str, str]]:
    """Parses a signature into the metric's name and the fields; raises InputError if it is none."""
    name, *parts = signature.strip().split("|")
    pairs = [part.partition(":") for part in parts]
    if not name or not pairs or any(not colon for _, colon, _ in pairs) or pairs[-1][0] != "v":
        raise InputError(
            f"{signature[:200]!r} is not a signature; one looks like 'bleu|tokenizer:coco|text:none@1|n:8|v:{VERSION}'."
        )
    return name, {key: unquote(value) for key, _, value in pairs}


def rewrite(signature: str, facts: Mapping[str, str]) -> str:
    """Returns the signature with other facts, each where it stood; new ones before the number of pairs, "" drops one.

    Example:
        >>> rewrite("bleu|tokenizer:coco|n:8|v:0.2.0", {"n": "16"})
        'bleu|tokenizer:coco|n:16|v:0.2.0'
    """
    name, fields = parse(signature)
    last = {key: fields.pop(key) for key in ("n", "v") if key in fields}
    fields |= {key: value for key, value in facts.items() if key not in last}
    last |= {key: value for key, value in facts.items() if key in last}
    return "|".join([name, *(f"{key}:{quote(value, safe=SAFE)}" for key, value in (fields | last).items() if value)])


def read(signature: str) -> MetricName:
    """Reads the metric's name with configuration and options from its signature.

    Raises:
        InputError: Not a signature, or made with a normaliser of another version.

    Example:
        >>> str(read("bleu|tokenizer:13a|text:none@1|n:8|v:0.2.0"))
        'bleu?tokenizer=13a'
    """
    name, fields = parse(signature)
    spec = get_spec(name)
    options = {key: value for key, value in fields.items() if key in spec.options}
    if "text" in options:
        options["text"] = get_normaliser(options["text"]).name
    return resolve(spec, fields.get("config", "default"), options)
