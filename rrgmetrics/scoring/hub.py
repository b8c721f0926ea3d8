"""The connection to Hugging Face `evaluate`: the module decorator, loading, and registering bare names.

`evaluate` is imported inside functions: importing rrgmetrics must stay cheap.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.reports import Context, Pair, check_contexts, check_pairs
from rrgmetrics.reports.missing import Missing
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import SPECS, MetricSpec, get_spec
from rrgmetrics.specs.names import MetricName, parse_config

if TYPE_CHECKING:
    from evaluate import EvaluationModule, Metric

logger = logging.getLogger("rrgmetrics")

SINGLE_CALLS = 5  # calls in a row with one pair each, after which a harness is what calls
RUNTIME_KEYWORDS = ("contexts", "per_pair", "batch_size", "device", "progress", "missing")
ORGANISATION = "rrgmetrics"
# Names of modules at huggingface.co/evaluate-metric (evaluate 0.4.6): online, the Hub's would win over ours.
TAKEN = frozenset(
    """
    accuracy bertscore bleu bleurt brier_score cer character charcut_mt chrf code_eval comet competition_math
    confusion_matrix coval cuad exact_match f1 frugalscore glue google_bleu indic_glue mae mahalanobis mape mase
    matthews_correlation mauve mean_iou meteor mse nist_mt pearsonr perplexity poseval precision r_squared recall
    rl_reliability roc_auc rouge sacrebleu sari seqeval smape spearmanr squad squad_v2 super_glue ter trec_eval wer
    wiki_split xnli xtreme_s
    """.split()
)


def load(name: str, config_name: str | None = None, **keywords: Any) -> EvaluationModule:
    """Loads an `evaluate` module of rrgmetrics from any directory, without network access.

    Args:
        name: A metric, such as `"rouge"`, optionally with its configuration: `"bertscore@radeval"`.
        config_name: Configuration and options, such as `"radeval"` or `"?tokenizer=13a"`.
        **keywords: `evaluate.load`'s: `num_process`, `process_id`, `experiment_id`, `keep_in_memory`, `cache_dir`.

    Returns:
        The module, as returned by `evaluate.load` for its folder.

    Raises:
        InputError: Unknown metric, configuration or option.
        BackendError: Missing weights, or no folder that `evaluate` can write to.
    """
    import evaluate

    base = name.partition("?")[0].partition("@")[0]
    configuration = name[len(base) :].removeprefix("@")
    if configuration and config_name:
        raise InputError(f"{name!r} already has a configuration; leave out config_name={config_name!r}.")
    parse_config(base, config_name or configuration)
    with _writing():
        module: EvaluationModule = evaluate.load(
            str(module_path(base)), config_name or configuration or None, **keywords
        )
    return module


@contextmanager
def _writing() -> Iterator[None]:
    """Says where `evaluate` could not write what it needs, as where the home directory is read-only."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename is None:
            raise
        where = f" to {error.filename}" if error.filename else ""
        raise BackendError(
            f"evaluate cannot write{where} ({error.strerror or error}), and it stores modules and inputs in files; "
            "before Python starts, set HF_HOME to a writable folder, as in HF_HOME=/tmp/huggingface."
        ) from error


def load_module(path: str | Path) -> EvaluationModule:
    """Loads anybody's `evaluate` module from a folder or script on this machine.

    Raises:
        InputError: It cannot be loaded.
    """
    import evaluate

    try:
        module: EvaluationModule = evaluate.load(str(path))
    except Exception as error:  # a script of somebody else's
        what = f"{type(error).__name__}: {error}".rstrip(".")
        raise InputError(f"{path} cannot be loaded as an evaluate module: {what}.") from error
    return module


def module_path(name: str) -> Path:
    """Returns the folder of a metric's `evaluate` module, for `evaluate.load(str(module_path("rouge")))`."""
    from importlib.resources import files

    spec = get_spec(name)
    try:
        return Path(str(files(spec.modules))) / spec.name
    except ModuleNotFoundError as error:
        raise InputError(f"{name}: modules={spec.modules!r} of its spec cannot be imported: {error}.") from None


def module(description: str, inputs: str, citation: str) -> Callable[[type[Metric]], type[Metric]]:
    """Turns an empty subclass of `evaluate.Metric` into one of our modules.

    The class keeps its place in the script (evaluate takes the first subclass it finds there); name, features and
    keywords come from the spec of the metric that the class is named after.

    Args:
        description: What it measures, for `info.description`.
        inputs: Arguments, returns and a doctest, for `info.inputs_description`.
        citation: BibTeX.
    """

    def decorate(metric: type[Metric]) -> type[Metric]:
        from evaluate import EvaluationModule
        from evaluate.naming import camelcase_to_snakecase

        spec = get_spec(camelcase_to_snakecase(metric.__name__))

        def __init__(self: Any, config_name: str | None = None, hash: str | None = None, **keywords: Any) -> None:  # noqa: N807
            self.metric_name = parse_config(spec.name, config_name)
            try:
                with _writing():
                    EvaluationModule.__init__(
                        self, config_name=_slug(self.metric_name), hash=hash, **_known(spec, keywords)
                    )
            except TypeError as error:
                raise InputError(f"{spec.name}: {error}") from error

        def _info(self: Any) -> Any:
            return _module_info(description, inputs, citation)

        def _download_and_prepare(self: Any, dl_manager: Any) -> None:
            self.prepared, self.prepared_for, self.single = prepare(str(self.metric_name)), (None, None, "unscored"), 0

        def compute(self: Any, *, predictions: Any = None, references: Any = None, **keywords: Any) -> Any:
            """Scores the given reports, or those added before. Checks every input, once, before any work."""
            columns = None
            if predictions is not None or references is not None:
                columns = _checked(predictions, references, start=len(self))
            self.contexts = _check_run(self, len(self) + len(columns[0] if columns else ()), keywords)
            try:
                if columns:
                    EvaluationModule.add_batch(self, predictions=columns[0], references=columns[1])
                return EvaluationModule.compute(self, **keywords)
            except Exception:
                _release(self)
                raise

        def add_batch(self: Any, *, predictions: Any = None, references: Any = None, **keywords: Any) -> None:
            """Adds reports to score at the next `compute()`. Checks each of them."""
            predictions, references = _checked(predictions, references, start=len(self))
            if self.writer is not None:  # datasets 4 writes a batch before the rows that were added one by one
                self.writer.write_examples_on_file()
            EvaluationModule.add_batch(self, predictions=predictions, references=references, **keywords)

        def add(self: Any, *, prediction: Any = None, reference: Any = None, **keywords: Any) -> None:
            """Adds one pair of reports to score at the next `compute()`."""
            predictions, references = _checked([prediction], [reference], start=len(self))
            EvaluationModule.add(self, prediction=predictions[0], reference=references[0], **keywords)

        def _compute(
            self: Any,
            predictions: list[str],
            references: list[str],
            contexts: Any = None,
            per_pair: bool = False,
            batch_size: int | None = None,
            device: str | None = None,
            progress: bool = True,
            missing: Missing = "unscored",  # as `_check_run` prepared
        ) -> dict[str, object]:
            known = self.contexts if contexts is not None else [Context()] * len(references)
            pairs = [Pair(*row) for row in zip(references, predictions, known, strict=True)]  # checked when added
            _watch_single_pairs(self, len(pairs))
            results = self.prepared.score_pairs(pairs, progress=progress)
            return as_dict(next(iter(results.values())), per_pair=per_pair)

        for method in (__init__, _info, _download_and_prepare, compute, add_batch, add, _compute):
            setattr(metric, method.__name__, method)
        metric.__doc__ = f"{description.strip()}\n\n{inputs.strip()}\n"
        return metric

    return decorate


def as_dict(result: Result, *, per_pair: bool = False) -> dict[str, object]:
    """Returns a Result as `evaluate` has it: floats, `<metric>_n_unscored`, `<metric>_signature`, lists on request."""
    name = result.spec.name
    scores: dict[str, Any] = dict(result.scores)
    scores |= {f"{name}_n_unscored": result.n_unscored, f"{name}_signature": result.signature}
    scores |= {key: list(values) for key, values in result.details.items()}
    if per_pair:
        scores |= {f"{key}_per_pair": values.tolist() for key, values in result.per_pair.items()}
    return scores


def register(*, remove: bool = False, names: list[str] | None = None) -> dict[str, Path]:
    """Copies our modules to where a bare `evaluate.load(name)` looks when the Hub has none of that name.

    A name that Hugging Face uses itself is left alone: every module is also found as `rrgmetrics/<name>`. There are two
    such places. What is among `evaluate`'s downloads is loaded without a warning, as if it had come from the Hub once,
    and belongs to this version of `evaluate`; what is among its modules serves the other versions, which then warn
    that they use "the latest cached version".

    Args:
        remove: Take them away again.
        names: Metrics; None means all.

    Returns:
        The names that now load (or no longer do), each with its folder in evaluate's cache of modules.

    Raises:
        BackendError: No folder that can be written to.
    """
    import evaluate.config

    done = {}
    root = Path(evaluate.config.HF_MODULES_CACHE) / "evaluate_modules" / "metrics"
    for name in names or SPECS:
        for bare, repository in _cache_names(name).items():
            target, download = root / _cache_folder(repository), _download(repository)
            with _writing():
                if target.is_dir():
                    shutil.rmtree(target)
                download.unlink(missing_ok=True)
                if not remove:
                    _install(module_path(name), target, root)
                    download.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(module_path(name) / f"{name}.py", download)
            done[bare] = target
    return done


def bare_names(name: str) -> list[str]:
    """The names by which a bare `evaluate.load` finds a metric after `register`.

    Example:
        >>> bare_names("crepe"), bare_names("rouge")
        (['crepe', 'rrgmetrics/crepe'], ['rrgmetrics/rouge'])
    """
    return list(_cache_names(name))


def _cache_names(name: str) -> dict[str, str]:
    """The names that are looked up for a metric, each with the repository of the Hub that it means."""
    spec = get_spec(name)
    names = {f"{ORGANISATION}/{spec.name}": f"{ORGANISATION}/{spec.name}"}
    return names if spec.name in TAKEN else {spec.name: f"evaluate-metric/{spec.name}", **names}


def _cache_folder(repository: str) -> str:
    return repository.replace("/", "--")


def _download(repository: str) -> Path:
    """The file that `evaluate` takes for a repository's script where the Hub does not answer with one."""
    from evaluate import config, loading
    from evaluate.utils.file_utils import hash_url_to_filename, hf_hub_url

    script = f"{repository.partition('/')[2]}.py"
    address = hf_hub_url(path=repository, name=script, revision=f"v{loading.SCRIPTS_VERSION}")
    return Path(config.DOWNLOADED_EVALUATE_PATH, hash_url_to_filename(address))


def _install(source: Path, target: Path, root: Path) -> None:
    script = source / f"{source.name}.py"
    version = target / hashlib.sha256(script.read_bytes()).hexdigest()
    version.mkdir(parents=True)
    shutil.copyfile(script, version / script.name)
    for folder in (version, target, root, root.parent):
        (folder / "__init__.py").touch()


def _watch_single_pairs(module: Any, n_pairs: int) -> None:
    """Warns, once, of calls with a pair each: harnesses average them, which is no corpus value of such a metric."""
    module.single = module.single + 1 if n_pairs == 1 else 0
    if module.single != SINGLE_CALLS:
        return
    spec, why = module.metric_name.spec, ""
    if module.metric_name.counts_references:
        why = "the score of a pair depends on the other pairs of the call"
    elif spec.level == "corpus":
        why = "its corpus value is not a mean over pairs"
    if why:
        logger.warning(
            f"{spec.name} was called with single pairs {SINGLE_CALLS} times; {why}, so the mean of such calls is a "
            "different number. Pass all pairs to one compute(); for lm-evaluation-harness and lmms-eval, "
            "`rrgmetrics harness lm-eval` has tasks that do so."
        )


def _slug(name: MetricName) -> str:
    """A configuration's folder in evaluate's data cache: never a path of the user's."""
    text = str(name)
    return "default" if text == name.spec.name else hashlib.sha256(text.encode()).hexdigest()[:16]


def _module_info(description: str, inputs: str, citation: str) -> Any:
    import datasets
    import evaluate

    text = datasets.Value("string")
    return evaluate.MetricInfo(
        description=description,
        citation=citation,
        inputs_description=inputs,
        features=datasets.Features({"predictions": text, "references": text}),
    )


def _known(spec: MetricSpec, keywords: dict[str, Any]) -> dict[str, object]:
    """The base class swallows what it does not know; an option passed this way would be lost."""
    from evaluate import EvaluationModule

    code = EvaluationModule.__init__.__code__
    accepted = code.co_varnames[: code.co_argcount]
    unknown = [key for key in keywords if key not in accepted]
    if unknown and unknown[0] in spec.foreign_keywords:
        raise InputError(
            f"evaluate.load got the unknown keyword {unknown[0]!r}. It is an argument of evaluate's {spec.name}; "
            f"here {spec.foreign_keywords[unknown[0]]}."
        )
    if unknown:
        known = (
            f"as in '?{unknown[0]}={keywords[unknown[0]]}'"
            if unknown[0] in spec.options
            else f"which are {', '.join(spec.options)}"
        )
        raise InputError(f"evaluate.load got the unknown keyword {unknown[0]!r}; pass options in config_name, {known}.")
    return keywords


def _check_run(module: Any, n_pairs: int, keywords: dict[str, Any]) -> list[Context]:
    """Finds what would fail while the reports added before are still there for another try; gives the contexts."""
    _check_keywords(module.name, keywords)
    if not n_pairs:
        raise InputError("There are no pairs to score; pass predictions and references, or add them first.")
    contexts = keywords.get("contexts")
    if module.num_process > 1 and contexts is not None:
        raise InputError("contexts cannot be gathered from several processes; pass them with num_process=1.")
    checked = check_contexts(contexts, n_pairs)
    runtime = keywords.get("batch_size"), keywords.get("device"), keywords.get("missing", "unscored")
    if runtime != module.prepared_for:
        size, device, missing = runtime
        module.prepared = prepare(str(module.metric_name), batch_size=size, device=device, missing=missing)
        module.prepared_for = runtime
    return checked


def _check_keywords(name: str, keywords: dict[str, Any]) -> None:
    unknown = [key for key in keywords if key not in RUNTIME_KEYWORDS]
    if not unknown:
        return
    spec, keyword = get_spec(name), unknown[0]
    what = f"{name}.compute got the unknown keyword {keyword!r}; it takes {', '.join(RUNTIME_KEYWORDS)}."
    if keyword in spec.foreign_keywords:
        raise InputError(f"{what} It is an argument of evaluate's {name}; here {spec.foreign_keywords[keyword]}.")
    options = (
        f"Pass options in config_name, as '?{keyword}=...'."
        if keyword in spec.options
        else (f"Pass options in config_name: {', '.join(spec.options)}.")
    )
    raise InputError(f"{what} {options}")


def _checked(predictions: Any, references: Any, start: int = 0) -> tuple[list[str], list[str]]:
    pairs = check_pairs(predictions, references, start=start)
    return [pair.candidate for pair in pairs], [pair.reference for pair in pairs]


def _release(module: Any) -> None:
    """Gives back what a failed compute holds, so that the next one neither waits nor sees its reports."""
    module.writer = module.data = module.buf_writer = None
    for lock, path in zip(module.filelocks or [], module.file_paths or [], strict=False):
        Path(path).unlink(missing_ok=True)
        lock.release()
    module.filelocks = module.file_paths = None
