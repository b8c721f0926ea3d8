"""An evaluation as a file: metrics with options, inputs, columns, outputs and settings.

    metrics:
    - rouge
    - bleu: {tokenizer: 13a}
    - green@openai:my-model: {base_url: "http://127.0.0.1:8000/v1"}
    inputs: {references: references.csv, systems: {baseline: old.csv, ours: new.csv}}
    columns: {reference: ground_truth, candidate: generated, study_id: id}
    outputs: {json: result.json, html: report.html}
    settings: {trials: 2000, seed: 1}

`rrgmetrics score --config evaluation.yaml` (and `compare`) runs it; file names are relative to the working directory.
`--save-config` writes the file. The signatures of a result can be converted to an evaluation, from Python or from the
file that `--json` wrote:

    evaluation = rrgmetrics.Evaluation.read("result.json")
    rrgmetrics.score(evaluation.metrics, "pairs.csv", columns=evaluation.columns)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.reports import describe
from rrgmetrics.reports.missing import FACT
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.prepared import parse_names
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import PRESETS, Option
from rrgmetrics.specs.names import HASH, SAFE, parse_name
from rrgmetrics.utils.bounded_files import read_text, read_yaml_text, yaml_errors
from rrgmetrics.utils.text_format import did_you_mean
from rrgmetrics.version import VERSION

Command = Literal["score", "compare"]
COMMANDS = ("score", "compare")
SECTIONS = ("columns", "inputs", "outputs", "settings")
KEYS = ("rrgmetrics", "command", "metrics", *SECTIONS)
SUFFIXES = (".yaml", ".yml", ".json")
LARGEST_YAML, LARGEST_JSON = 1_000_000, 64_000_000  # bytes
MOST = 5_000  # entries of a YAML file


@dataclass(frozen=True)
class Evaluation:
    """The metrics, inputs, settings and outputs of an evaluation.

    Attributes:
        metrics: Names as in `rrgmetrics.score`; empty: the metrics that fit the kind of report.
        columns: The column names of the inputs, by field.
        inputs: Files by the name of their option: `pairs`; `references`, `predictions`; `systems` by name.
        outputs: Files by the name of their option.
        settings: Any other option of the command, such as `trials`, by its name with `_` for `-`.
        command: The command that it is for; "" for any.
        version: The version of rrgmetrics that wrote it; "" for a file written by hand.
    """

    metrics: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    version: str = ""

    @classmethod
    def of(cls, results: Mapping[str, Result] | Iterable[str]) -> Evaluation:
        """The metrics of results, from their signatures.

        Args:
            results: What `rrgmetrics.score` returned, or signatures.

        Raises:
            InputError: Something that is no signature, or one that cannot be repeated here.

        Example:
            >>> Evaluation.of(["bleu|tokenizer:13a|text:none@1|n:8|v:0.2.0"]).metrics
            ('bleu?tokenizer=13a',)
        """
        if isinstance(results, Mapping):
            return cls._of([(result.signature, result.spec.fragment) for result in results.values()])
        return cls._of([(text, "") for text in results])

    @classmethod
    def _of(cls, ran: Sequence[tuple[str, str]]) -> Evaluation:
        """The metrics of signatures, each with the key that was asked for (`#errors`), or ""."""
        texts = [text for text, _ in ran]
        for text in texts:
            if "lexicon" in signature.parse(text)[1]:
                raise InputError(f"{text}: it ran with a user lexicon, which no signature contains; add lexicon.")
        missing = {signature.parse(text)[1].get(FACT, "unscored") for text in texts}
        if len(missing) > 1:
            raise InputError(
                "Some of these results score missing references and others do not; use results of one kind."
            )
        settings = {FACT: "empty"} if "empty" in missing else {}
        versions = {signature.parse(text)[1]["v"] for text in texts}
        metrics = dict.fromkeys(str(signature.read(text)) + key for text, key in ran)
        return cls(tuple(metrics), settings=settings, version=versions.pop() if len(versions) == 1 else "")

    @classmethod
    def read(cls, path: files.PathLike) -> Evaluation:
        """Reads an evaluation from YAML, or its metrics from the JSON that `--json` writes, and checks it.

        Raises:
            InputError: The file cannot be read, has a key, metric, option or column that is unknown (with the nearest
                one), or a value of the wrong kind.
        """
        document = _loaded(Path(path))
        try:
            if isinstance(document, Mapping) and "systems" in document:
                return cls._of(_signatures(document["systems"]))
            return _checked(document)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def write(self, path: files.PathLike, *, force: bool = False) -> None:
        """Writes it as YAML that `read` reads; refuses to replace a file unless `force`."""
        import yaml

        document: dict[str, Any] = {"rrgmetrics": VERSION}
        document |= {"command": self.command} if self.command else {}
        document["metrics"] = [_with_options(name) for name in self.metrics]
        document |= {name: dict(getattr(self, name)) for name in SECTIONS if getattr(self, name)}
        command = f"# rrgmetrics {self.command} --config {Path(path).name}\n" if self.command else ""
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
        files.write_text(path, command + text, force=force)


def _loaded(path: Path) -> Any:
    """The content of a file."""
    import yaml

    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path} must end in {' or '.join(SUFFIXES)}.")
    is_json = path.suffix.lower() == ".json"
    text = read_text(path, LARGEST_JSON) if is_json else read_yaml_text(path, LARGEST_YAML, MOST)
    try:
        if is_json:
            return json.loads(text)
        node, document = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except yaml_errors() as error:
        what = " ".join(str(error).replace('in "<unicode string>", ', "").split())
        raise InputError(f"{path} cannot be read: {what}.") from None
    _check_no_key_twice(node, path)
    return document


def _check_no_key_twice(node: Any, path: Path) -> None:
    """YAML would take the last of them in silence."""
    pairs = node.value if getattr(node, "id", "") == "mapping" else []
    seen: set[str] = set()
    for key, _ in pairs:
        if isinstance(key.value, str):
            if key.value in seen:
                raise InputError(f"{path}, line {key.start_mark.line + 1}: the key {key.value!r} occurs twice.")
            seen.add(key.value)
    nodes = [value for _, value in pairs] if pairs else node.value if getattr(node, "id", "") == "sequence" else []
    for each in nodes:
        _check_no_key_twice(each, path)


def _signatures(systems: Any) -> list[tuple[str, str]]:
    """The signatures of the first system of a JSON result, each with the key that its metric's name asks for."""
    try:
        metrics = next(iter(systems.values()))
        return [
            (metric["signature"], parse_name(name).spec.fragment if HASH in name else "")
            for name, metric in metrics.items()
        ]
    except (AttributeError, KeyError, StopIteration, TypeError):
        raise InputError("it contains no signatures; pass a file written by --json.") from None


def _checked(document: Any) -> Evaluation:
    if not isinstance(document, Mapping):
        raise InputError(f"it must contain {', '.join(KEYS)}, one below the other.")
    check_keys("", document, KEYS)
    command = document.get("command") or ""
    if command and command not in COMMANDS:
        raise InputError(
            f"command is {command!r}; it is {' or '.join(COMMANDS)}.{did_you_mean(str(command), COMMANDS)}"
        )
    sections = {name: document.get(name) or {} for name in SECTIONS}
    for name, section in sections.items():
        if not isinstance(section, Mapping):
            raise InputError(f"{name} is {describe(section)}; write key: value.")
    metrics = tuple(map(_name, _listed(document.get("metrics"))))
    if metrics:
        parse_names(metrics)
    files.check_columns(sections["columns"] or None)
    return Evaluation(metrics, **sections, command=command, version=str(document.get("rrgmetrics") or ""))


def _listed(metrics: Any) -> Sequence[Any]:
    if metrics is None or isinstance(metrics, str):
        return [metrics] if metrics else []
    if not isinstance(metrics, list):
        raise InputError("metrics must be a list: '- bleu' on one line, '- rouge' on the next.")
    return metrics


def _name(metric: Any) -> str:
    """The name of a metric that is written as a text, or as a name with its options below."""
    if isinstance(metric, str):
        return metric
    if not isinstance(metric, Mapping) or len(metric) != 1:
        raise InputError(f"metrics has {describe(metric)}; write a name, or name: {{option: value}}.")
    name, options = next(iter(metric.items()))
    if options is None:
        return str(name)
    if not isinstance(options, Mapping) or "?" in str(name):
        raise InputError(f"metrics: {name} has {describe(options)}; write name: {{option: value}}.")
    known = parse_name(str(name)).spec.options
    for option, value in options.items():
        if option not in known:
            near = did_you_mean(str(option), known)
            raise InputError(f"metrics: {name} has no option {option!r}; it has: {', '.join(known) or 'none'}.{near}")
        if not isinstance(value, str | bool | int | float):
            raise InputError(f"metrics: {name} has {option}: {describe(value)}; write a text, a number, yes or no.")
    query = "&".join(f"{option}={quote(_text(value), safe=SAFE)}" for option, value in options.items())
    whole, *key = str(name).split(HASH, 1)
    return HASH.join([f"{whole}?{query}" if query else whole, *key])


def _text(value: str | bool | int | float) -> str:
    return value if isinstance(value, str) else Option.write(value)


def _with_options(name: str) -> Any:
    """A metric as a file has it."""
    if name in PRESETS:
        return name
    parsed = parse_name(name)
    key = parsed.spec.fragment
    head, question, query = str(parsed).removesuffix(key).partition("?")
    if not question:
        return head + key
    return {head + key: {each: parsed.options[each] for each in (part.partition("=")[0] for part in query.split("&"))}}


def check_keys(section: str, found: Iterable[Any], known: Iterable[str]) -> None:
    """Raises InputError for the first key that is not known, with the nearest one.

    Args:
        section: The section that has the keys; "" for the whole file.
        found: The keys.
        known: The keys that it may have.
    """
    for key in found:
        if key not in known:
            near = did_you_mean(str(key), known)
            raise InputError(f"{section or 'it'} has the key {key!r}; its keys are {', '.join(known)}.{near}")
