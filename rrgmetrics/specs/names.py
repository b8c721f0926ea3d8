"""The grammar of metric names: `[short=]name[@config][?option=value&...][#key]`.

The same string is used in `score`, on the command line, in callbacks and, without the name, as `evaluate.load`'s
`config_name`. The first `@` splits name and configuration; `@revision` may follow a Hub id; values are
percent-encoded where they hold `&`. `short` stands for the whole in tables, columns and keys: `g=green@openai:...`.

`#key` takes one of the metric's keys in the place of its headline, with that key's own direction: `green#errors`,
`bleu#2`, `radgraph_f1@paper#radcliq`. The key is written whole (`bleu#bleu_2`) or without the metric's name. A `#` of a
path or an address is written %23.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from rrgmetrics.errors import InputError
from rrgmetrics.specs import JUDGE_OPTIONS, PRESETS, SPECS, MetricSpec, Option, OptionValue, get_spec
from rrgmetrics.utils.text_format import did_you_mean

SHORT = re.compile(r"(?:(\w+)=)?(.*)", re.DOTALL)
HASH = "#"  # before a key, as before the fragment of an address
ALL = "all"  # every metric that ships
READER = ("default", "reader")  # configurations of a judge that ask nobody
SAFE = "/:@.,+-_()= "  # characters of an option's value that stay as they are in `str(MetricName)`


@dataclass(frozen=True)
class MetricName:
    """A metric, its configuration and its options, checked against the spec table.

    Attributes:
        spec: The metric; where a key was asked for, with that key alone.
        config: `"default"`, a named configuration, a Hub id (`org/model[@revision]`) or a folder; of a judge also an
            engine: `"openai:<model>"`, `"hf:<id>"`, `"vllm:<id>"`, `"replies:<file>"`.
        options: Every declared option with its value: the caller's, else the configuration's, else the default.
        short: What stands for the name where people read it; "": nothing does.
    """

    spec: MetricSpec
    config: str
    options: Mapping[str, OptionValue]
    short: str = ""

    def __str__(self) -> str:
        """The shortest string that parses to this name."""
        defaults = self.spec.defaults(self.config, self.options)
        stated = [
            f"{key}={quote(Option.write(value), safe=SAFE)}"
            for key, value in self.options.items()
            if value != defaults[key]
        ]
        config = "" if self.config == "default" else f"@{self.config.replace(HASH, '%23')}"
        short = f"{self.short}=" if self.short else ""
        return short + self.spec.name + config + ("?" + "&".join(stated) if stated else "") + self.spec.fragment

    def explaining(self, explain: bool = True) -> MetricName:
        """Returns the metric with or without what it says of each pair; itself if it has no option `explain`.

        Example:
            >>> str(parse_name("crepe").explaining()), str(parse_name("bleu").explaining())
            ('crepe?explain=yes', 'bleu')
        """
        if "explain" not in self.options:
            return self
        return replace(self, options={**self.options, "explain": explain})

    @property
    def whole(self) -> MetricName:
        """The metric as it is scored: with all its keys and no short name."""
        spec = get_spec(self.spec.name) if self.spec.fragment else self.spec
        return replace(self, spec=spec, short="")

    @property
    def published(self) -> bool:
        """Whether the name asks for a published checkpoint, engine or rule."""
        rule = {} if self.spec.takes_checkpoint else self.spec.preset("paper")
        return self.config not in READER or bool(rule and rule.items() <= self.options.items())

    @property
    def counts_references(self) -> bool:
        """Whether a pair's score depends on all references of the call (CIDEr's weights, BERTScore's with idf=call)."""
        return self.spec.corpus_statistics or self.options.get("idf") == "call"

    @property
    def bundled(self) -> bool:
        """Whether a bundled stand-in scores, whose scores are not comparable with published scores."""
        return self.spec.stand_in and not self.published

    @property
    def own_prompt(self) -> bool:
        """Whether a language model is asked with a prompt of rrgmetrics, not of the authors.

        Example:
            >>> [parse_name(f"crimson{end}").own_prompt for end in ("", "@openai:m", "@openai:m?wording=published")]
            [False, True, False]
        """
        return self.spec.own_prompt and self.published and self.options.get("wording", "own") == "own"

    @property
    def uses_reader(self) -> bool:
        """Whether the bundled reader finds what is compared, so that the metric shares its errors.

        Example:
            >>> [parse_name(name).uses_reader for name in ("green", "green@paper", "semb_score")]
            [True, False, False]
        """
        reads = "reader" in self.spec.needs or self.options.get("vectors") == "conditions"
        return reads and not self.published

    @property
    def shares_reader(self) -> bool:
        """Whether the metric shares the errors of the bundled reader: it uses it, or was trained on its counts.

        Example:
            >>> [parse_name(name).shares_reader for name in ("green", "crepe", "crepe@paper", "semb_score")]
            [True, True, False, False]
        """
        return self.uses_reader or ("crepe" in self.spec.needs and not self.published)

    @property
    def context(self) -> Collection[str]:
        """The keys of the patient's context that can change a score; of a plug-in that takes contexts all keys.

        Example:
            >>> [sorted(parse_name(name).context) for name in ("bleu", "crimson", "crimson@paper")]
            [[], ['age', 'indication', 'prior'], ['age', 'indication', 'sex']]
        """
        if not self.spec.takes_context or self.published:
            return self.spec.asks_with if self.published else ()
        return ("age", "indication", "prior", *(() if self.spec.name in SPECS else ("sex",)))

    @property
    def titled(self) -> MetricSpec:
        """The metric with titles as people read them: `GREEN (bundled)` where a stand-in answers."""
        return self.spec.titled(bundled=self.bundled)

    @property
    def title(self) -> str:
        """The metric's title as people read it."""
        return self.titled.title

    @property
    def slug(self) -> str:
        """A name fit for files and result keys: `crepe__paper`, `green_errors__paper`."""
        return self.spec.headline.name + self.suffix

    @property
    def suffix(self) -> str:
        """What tells the keys of this configuration from those of the default one: `"__paper"`, or `""`."""
        long = str(self).removeprefix(self.spec.name).removesuffix(self.spec.fragment)
        suffix = self.short or re.sub(r"[^A-Za-z0-9.]+", "_", long).strip("_")
        return f"__{suffix}" if suffix else ""


def parse_name(text: str) -> MetricName:
    """Reads a metric's name and checks configuration and options against the spec.

    Args:
        text: For example `"bleu"`, `"bleu?tokenizer=13a"`, `"bertscore@radeval?idf=call"`, `"green#errors"`.

    Returns:
        The name with every option resolved.

    Raises:
        InputError: Unknown metric, configuration, option or key, or a value of the wrong kind.

    Example:
        >>> parse_name("bleu?tokenizer=13a").options["tokenizer"]
        '13a'
        >>> parse_name("bleu#2").spec.headline.title
        'BLEU-2'
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"A metric's name must be a non-empty string, not {_kind_of(text)}; for example 'bleu'.")
    short, rest = _split_short(text)
    whole, has_key, key = rest.partition(HASH)
    head, _, query = whole.partition("?")
    name, at, config = head.strip().partition("@")
    spec = get_spec(name)
    if at and not config:
        raise InputError(f"{text!r} has nothing after the @; leave the @ out for the default configuration.")
    resolved = resolve(spec, config.replace("%23", HASH) or "default", _split_query(query, text))
    return replace(resolved, short=short, spec=_focused(spec, key.strip(), text) if has_key else spec)


def _kind_of(value: object) -> str:
    """A value for a message; of an object that is no text or number only its kind."""
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    return f"an object of the class {type(value).__name__}"


def metric_of(text: str) -> str:
    """Returns the part of a name that says which metric it is, known or not.

    Example:
        >>> metric_of("g=green@openai:my-model?base_url=http://127.0.0.1:8000/v1")
        'green'
    """
    return re.split("[#?@]", _split_short(text)[1], maxsplit=1)[0].strip()


def _focused(spec: MetricSpec, key: str, text: str) -> MetricSpec:
    """The metric with the key that its name asks for after the #."""
    if re.fullmatch(r"\w*", key):
        return spec if key == spec.name else spec.focused(key)
    raise InputError(
        f"{text!r}: a key comes after #, and {key[:80]!r} is not a key; write a # of a path or address as %23."
    )


def _split_short(text: str) -> tuple[str, str]:
    """Splits `g=green@paper` into `g` and the rest; "" where there is no short name."""
    short, rest = SHORT.fullmatch(text.strip()).groups()  # type: ignore[union-attr]  # it matches any text
    return short or "", rest


def shown(name: str) -> str:
    """Returns a metric's name as tables show it: the short one, if there is one.

    Example:
        >>> shown("g=green@openai:my-model?base_url=http://127.0.0.1:8000/v1"), shown("green@paper")
        ('g', 'green@paper')
    """
    return _split_short(name)[0] or name


def label(name: str, titled: MetricSpec) -> str:
    """Returns a metric's name for one line: the headline's title, and the name as asked for if that says more.

    Example:
        >>> [label(name, parse_name(name).titled) for name in ("bleu", "bleu?tokenizer=13a", "crepe", "crepe@paper")]
        ['BLEU-4', 'BLEU-4 (bleu?tokenizer=13a)', 'CREPE (bundled)', 'CREPE (crepe@paper)']
        >>> [label(name, parse_name(name).titled) for name in ("bleu#2", "green#errors")]
        ['BLEU-2 (bleu#2)', 'GREEN (bundled): Errors (green#errors)']
    """
    title = titled.named(titled.headline) if titled.fragment else titled.headline.title
    return title if name == titled.name else f"{title} ({shown(name)})"


def expand(name: str) -> tuple[str, ...]:
    """Returns the metrics that a preset stands for; any other name stands for itself.

    Example:
        >>> "rouge" in expand("paper-table")
        True
    """
    if not isinstance(name, str):
        return (name,)
    return tuple(SPECS) if name.strip() == ALL else PRESETS.get(name.strip(), (name,))


def with_text(name: MetricName, asked: str, text: str) -> MetricName:
    """Returns a metric that reads what a normaliser leaves of reports, unless its name says what it reads.

    Args:
        name: The metric.
        asked: Its name as it was asked for.
        text: The normaliser; "" changes nothing.

    Example:
        >>> str(with_text(parse_name("bleu"), "bleu", "findings"))
        'bleu?text=findings'
        >>> str(with_text(parse_name("bleu?text=lower"), "bleu?text=lower", "findings"))
        'bleu?text=lower'
    """
    if not text or "text" not in name.spec.options or re.search(r"[?&]text=", asked):
        return name
    return replace(name, options={**name.options, "text": text})


def uncounted(names: Mapping[str, MetricName], counted: Container[str]) -> list[str]:
    """Returns the metrics whose scores depend on all references, but for those whose references were counted."""
    return [text for text, name in names.items() if name.counts_references and text not in counted]


def listed_names(names: str | Iterable[str]) -> list[str]:
    """Returns names of metrics as a list; raises InputError for what holds none.

    Example:
        >>> listed_names("bleu"), listed_names(name for name in ("bleu", "rouge"))
        (['bleu'], ['bleu', 'rouge'])
    """
    if not isinstance(names, str | Iterable):
        raise InputError(f"metrics is {_kind_of(names)}; pass names of metrics, such as 'bleu'.")
    return [names] if isinstance(names, str) else list(names)


def parse_names(names: str | Sequence[str]) -> dict[str, MetricName]:
    """Reads metric names by the string that was passed, presets expanded; raises InputError for none or repeats."""
    texts = listed_names(names)
    if not texts:
        raise InputError("No metric was named; name one, such as bleu.")
    for index, text in enumerate(texts):
        if text in texts[:index]:
            raise InputError(f"The metric {text!r} is named twice.")
    parsed = {name: parse_name(name) for text in texts for name in expand(text)}
    short = [name.slug for name in parsed.values() if name.short]
    if len(set(short)) < len(short):
        raise InputError("Two metrics have the same short name; give each its own, as in a=green@... b=green@...")
    return parsed


def context_of(names: str | Sequence[str]) -> Collection[str]:
    """Returns the keys of the patient's context that can change a score of any of these metrics.

    Args:
        names: As `parse_names` takes them.

    Example:
        >>> sorted(context_of(["bleu", "finding_errors"])), sorted(context_of("bleu"))
        (['age', 'indication', 'prior'], [])
    """
    return {key for name in parse_names(names).values() for key in name.context}


def parse_config(name: str, config_name: str | None) -> MetricName:
    """Reads what `evaluate.load(name, config_name)` was given: the grammar without the metric's name."""
    config_name = (config_name or "default").strip()
    return parse_name(name + config_name if config_name.startswith(("?", HASH)) else f"{name}@{config_name}")


def check_per_pair(names: str | Sequence[str], purpose: str) -> None:
    """Checks that metrics have a number of each pair, before any work.

    Args:
        names: As they are asked for.
        purpose: Who needs it, for the message: "agree".

    Raises:
        InputError: A key that exists over all pairs only.
    """
    for text in [names] if isinstance(names, str) else names:
        spec = parse_name(text).spec if HASH in text else None  # a headline is a number of each pair
        if spec is not None and not spec.headline.per_pair:
            each = ", ".join(key.name for key in get_spec(spec.name).keys if key.per_pair)
            raise InputError(f"{text} is one number for all pairs; {purpose} needs a number for each pair: {each}.")


def resolve(spec: MetricSpec, config: str, texts: Mapping[str, str]) -> MetricName:
    """Checks a configuration and options, given as texts, and fills in the other options."""
    if config not in spec.configs and not spec.takes_checkpoint:
        known = ", ".join(spec.configs)
        raise InputError(f"{spec.name} has no configuration {config!r} (it has: {known}) and takes no checkpoint.")
    unknown = [key for key in texts if key not in spec.options]
    if unknown:
        declared = ", ".join(spec.options) or "none"
        does = spec.foreign_keywords.get(unknown[0])
        near = did_you_mean(unknown[0], spec.options)
        hint = f" It is an argument of evaluate's {spec.name}; here {does}." if does else near
        raise InputError(f"{spec.name} has no option {unknown[0]!r}; it has: {declared}.{hint}")
    chosen = {key: spec.options[key].parse(text, f"{spec.name}?{key}") for key, text in texts.items()}
    options = {**spec.defaults(config, chosen), **chosen}
    if spec.judge and config in READER:
        _check_reader(spec, options)
    return MetricName(spec, config, options)


def _check_reader(spec: MetricSpec, options: Mapping[str, OptionValue]) -> None:
    """An option of an engine would do nothing for the bundled one."""
    for key, option in JUDGE_OPTIONS.items():
        if options[key] != option.default:
            raise InputError(
                f"{spec.name}?{key} is an option of language models as judges, and the bundled judge has no such "
                f"option. Name an engine, for example {spec.name}@openai:<model>?{key}={Option.write(options[key])}."
            )


def _split_query(query: str, where: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{where!r}: {part!r} is not of the form option=value.")
        if key in texts:
            raise InputError(f"{where!r}: option {key!r} is given twice.")
        texts[key] = unquote(value)
    return texts
