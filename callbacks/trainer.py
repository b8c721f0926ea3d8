"""`ReportMetricsCallback` generates and scores reports while the Trainer trains.

How the values get everywhere: `Trainer.evaluate` hands one dict to `Trainer.log` (log history, TensorBoard, W&B, ...),
to `on_evaluate` (early stopping), to ReduceLROnPlateau and to the choice of the best model, in this order. `attach`
puts a step before `log`: the values are in that dict before anyone reads it, whatever the order of the callbacks.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from transformers import TrainerCallback

from rrgmetrics.callbacks import processes, restoring, run, tables
from rrgmetrics.callbacks.arguments import (
    OWN_KEYS,
    PREFIX,
    REPORTS,
    best_key,
    check_best_model,
    check_computed,
    check_keys,
    evaluation_prefix,
)
from rrgmetrics.callbacks.background import Background
from rrgmetrics.callbacks.baselines import Baseline, Baselines, Watch
from rrgmetrics.callbacks.compute_metrics import text_tokenizer
from rrgmetrics.callbacks.evaluated import Evaluated, evaluated, follow, model_of
from rrgmetrics.callbacks.evaluation_set import LOOKED_AT, EvaluationSet
from rrgmetrics.callbacks.generation import GenerateFunction, Generation, make_generation, model_columns, undisturbed
from rrgmetrics.callbacks.latest import Latest
from rrgmetrics.callbacks.lengths import say_cut, say_overrun
from rrgmetrics.callbacks.sampling import Generated, generate
from rrgmetrics.callbacks.schedule import When, parse_turns
from rrgmetrics.callbacks.scoring import OnError, Scores, Scoring, flat, parse_metrics, warn_of_tokens
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import Missing, check_choice
from rrgmetrics.scoring.notice import VARIABLE
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import Key

logger = logging.getLogger("rrgmetrics")
notices = logging.getLogger("rrgmetrics.notice")  # seen also where nobody has set logging up

WAIT_SECONDS = 600.0  # for jobs in the background, when the training ends


class ReportMetricsCallback(TrainerCallback):  # type: ignore[misc]
    """Generates reports for a validation set at each evaluation, scores them and adds `eval_<key>` to its metrics.

    Attach it once: `ReportMetricsCallback(["crepe", "bleu"]).attach(trainer)`. Added are every key of every metric,
    `eval_<metric>_n_unscored`, `eval_reports` (how many were generated), `eval_generation_seconds` and
    `eval_scoring_seconds`. For a dict of evaluation sets the prefix is `eval_<name>`, as the Trainer has it.

    After a training too, `trainer.evaluate()` and `trainer.predict()` score reports, of whichever set they are given:
    `trainer.evaluate(test_set, metric_key_prefix="test")` logs and returns `test_<key>`, of all metrics. In the folder
    of reports such an evaluation has a record of its own, named after its model: `test_best_model_values.jsonl`, or
    `_last_model` without `load_best_model_at_end`, `_initial_model` without training. Another set that is evaluated
    with the same prefix has a number behind it: `test_best_model_2`.

    What trivial systems would score (`rrgmetrics.baselines.skill`) is computed
    once a set, of the references alone, when the training begins (with the first evaluation where references cannot be
    read without loading images); it is logged and kept in `baselines`. Where a
    headline, or the key that chooses the best model, does not beat the best of them, the log `rrgmetrics` warns: once
    per set and metric, and again when that changes ("now beats", "no longer beats"). The reason why pairs are unscored
    is logged once for each set and metric, and is in the table.

    The log names the page of the run when training begins and ends. The folder `<output_dir>/reports` has `index.html`,
    that page (the headlines' curves with intervals beside the trivial systems, and sample reports over time), and for
    each set `<prefix>_values.jsonl`, every value of every time, and `<prefix>_<step>.jsonl`, the table of sample
    reports. A training that begins at step 0 moves what an earlier one left there to `earlier-1`.

    Before the first step the log warns of references that come from labels which were cut, and of reports that may
    outgrow the model's positions, with the `max_new_tokens` to pass.

    Models: encoder–decoder (`VisionEncoderDecoderModel`, T5, ...), decoder-only with a chat template or with masked
    labels; anything else by `generate_fn`. Several processes share the reports out; one scores, all get the values.

    Args:
        metrics: Names as in `rrgmetrics.score`; or a dict from names to schedules: `"every:1"`; `"every:5"` takes part
            the first time and each fifth time after it; `"background"` and `"background:5"` are scored in
            another process and logged when they are done, with their step as `eval_background_step`; the end of the
            training waits for them for up to ten minutes.
        dataset: Examples to generate for, a dict of them by name if the Trainer's is one; None is the Trainer's
            `eval_dataset`, with the columns that it removes for the model.
        reference: Column of the radiologists' reports, or a function of an example; None takes the column `reference`
            or `report`, else the assistant's last turn in `messages`, else decodes the labels. Columns `age`, `sex` and
            `indication` are the patients' context.
        prompt: For decoder-only models: a column, or a function of an example, with a text or with turns of a
            conversation (a last turn of the assistant is left out); None takes the column `prompt` or `messages`, else
            what the labels mask. Images are in the column `images` or `image`, or in the turns.
        generate_fn: `generate_fn(model, examples) -> reports`, in place of all that; the model is in evaluation mode.
        processor: Tokenizer or processor; None is the Trainer's `processing_class`.
        generation_config: A GenerationConfig, or a dict of what to change in the model's; reports may have 256 new
            tokens unless it (or the model's) says otherwise.
        when: `"evaluation"` (of the Trainer), `"steps:N"` or `"epochs:N"`.
        n_reports: A fixed sample of so many examples; None is all.
        batch_size: Examples generated at a time; None is the Trainer's `per_device_eval_batch_size`.
        seed: Chooses the sample; seeds generation that draws words.
        max_seconds: Generation begins no batch after this time. The reports that were done are scored, and the
            set stays that small, so that evaluations can be compared; it is logged.
        keys: Which values go to the logs and trackers (`["crepe", "chexbert_f1_macro_14", "green__paper"]`); None is
            all. `eval_reports` and the key that chooses the best model always do, and the files have all.
        n_shown: Reports in the table.
        folder: Where page, values and tables are written; None is `<output_dir>/reports`.
        on_error: `"log"`: what fails while it generates or scores gives NaN and is logged once; `"raise"` ends the
            training.
        baselines: Which metrics are compared with the trivial reports: `"bundled"` is all but judges that ask a model
            (`green@openai:...`, `green@paper`), which would cost as much again; `"all"`; `"none"`. Metrics scored
            in the background are not: their models are not loaded here.
        restore: What to do where the Trainer would read checkpoints back only in part (`rrgmetrics.callbacks.
            restoring`): `"warn"`, `"repair"` or `"ignore"`.
        metric_batch_size: Texts per forward pass of a metric's model; None leaves it to the backend.
        device: torch device of the metrics' models; None takes CUDA where there is one.
        missing: What becomes of studies whose reference is missing: `"unscored"`, `"empty"` or `"error"`, as in
            `rrgmetrics.score`.

    Raises:
        InputError: A name or an argument that cannot be used. `attach` and the beginning of the training raise it for
            whatever is wrong with the Trainer's side, before the first step.
        BackendError: Weights or data that are not there.
        MissingExtraError: An optional dependency that is not installed.
    """

    def __init__(
        self,
        metrics: str | Sequence[str] | Mapping[str, str],
        *,
        dataset: Any = None,
        reference: str | Callable[[Any], str] | None = None,
        prompt: str | Callable[[Any], Any] | None = None,
        generate_fn: GenerateFunction | None = None,
        processor: Any = None,
        generation_config: Any = None,
        when: str = "evaluation",
        n_reports: int | None = None,
        batch_size: int | None = None,
        seed: int = 0,
        max_seconds: float | None = None,
        keys: Sequence[str] | None = None,
        n_shown: int = 8,
        folder: str | Path | None = None,
        on_error: OnError = "log",
        baselines: Baselines = "bundled",
        restore: Literal["warn", "repair", "ignore"] = "warn",
        metric_batch_size: int | None = None,
        device: str | None = None,
        missing: Missing = "unscored",
    ) -> None:
        if restore not in ("warn", "repair", "ignore"):
            raise InputError(f"restore is {restore!r}; pass 'warn', 'repair' or 'ignore'.")
        self._when = When.parse(when)
        self._turns = parse_turns(metrics)
        self._names = parse_metrics(list(self._turns))
        self._keys = check_keys(keys, self._names.values())
        here = [metric for metric, turn in self._turns.items() if not turn.background]
        runtime: dict[str, Any] = {"batch_size": metric_batch_size, "device": device, "missing": check_choice(missing)}
        self._scoring = Scoring(here, on_error=on_error, **runtime) if here else None
        self._watch = Watch(self._scoring, baselines)
        self._background = Background(**runtime)
        self._dataset, self._reference, self._prompt = dataset, reference, prompt
        self._generate_fn, self._processor, self._generation_config = generate_fn, processor, generation_config
        self._n_reports, self._batch_size, self._seed, self._max_seconds = n_reports, batch_size, seed, max_seconds
        self._n_shown, self._folder, self._on_error, self._restore = n_shown, folder, on_error, restore
        self._sets: dict[str, EvaluationSet] = {}
        self._trainer: Any = None
        self._said: set[str] = set()
        self._latest = Latest()
        self._training = False
        self._running: list[Any] = []  # the data sets of calls of the Trainer's evaluate and predict
        self._others: dict[str, tuple[Any, EvaluationSet]] = {}  # sets passed to these calls, by prefix
        self._records: set[str] = set()  # that this callback has written

    @property
    def baselines(self) -> Mapping[str, Baseline]:
        """The scores of trivial systems by key (`"eval_crepe"`), in the main process."""
        return self._watch.baselines

    def results(self, dataset: str = "", *, prefix: str = PREFIX) -> Mapping[str, Result]:
        """Returns the Results of the model that the training leaves, by metric; in the main process.

        They are those of the best checkpoint with `load_best_model_at_end`, else of the latest evaluation, without
        what is scored in the background: for `write_model_card`, intervals and tests.

        Args:
            dataset: Name of the evaluation set, where there are several.
            prefix: The `metric_key_prefix` of the evaluation; `"test"` after `trainer.predict(test_set)`.

        Raises:
            InputError: That model was not evaluated in this process.
        """
        if self._trainer is None:
            raise InputError("Attach the callback before training: ReportMetricsCallback(...).attach(trainer).")
        return self._latest.of("_".join(filter(None, (prefix, dataset))), self._trainer.args, self._trainer.state)

    def attach(self, trainer: Any) -> ReportMetricsCallback:
        """Connects the callback with a Trainer, before `train()`; adds it to its callbacks if it is not there.

        Raises:
            InputError: No evaluation set, examples without references, a tokenizer without pad token, a
                `metric_for_best_model` of ours whose direction or schedule does not fit, or the folder of another
                callback of this Trainer.
        """
        if self._trainer is not None:
            raise InputError("This ReportMetricsCallback is already attached to a Trainer; create another one.")
        self._sets = self._make_sets(trainer)
        check_best_model(trainer.args, self._logged(), self._when, self._turns)
        self._check_folder(trainer)
        self._trainer, log = trainer, trainer.log

        def log_with_reports(logs: dict[str, float], *arguments: Any, **keywords: Any) -> Any:
            if "train_runtime" in logs and not self._running:  # the training ends; then the best model is loaded
                self._training = False
            self._add_reports(logs)
            return log(logs, *arguments, **keywords)

        trainer.log = log_with_reports
        follow(trainer, "evaluate", "eval_dataset", self._running)
        follow(trainer, "predict", "test_dataset", self._running)
        if self not in trainer.callback_handler.callbacks:
            trainer.add_callback(self)
        return self

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **keywords: Any) -> None:
        """Generates one report, so that a wrong set-up is known before the first step; looks after the restore trap."""
        if self._trainer is None:
            raise InputError("Attach the callback before training: ReportMetricsCallback(...).attach(trainer).")
        logged = {key: known for each in _attached(self._trainer) for key, known in each._logged().items()}
        check_computed(self._trainer, logged, self._sets)
        for examples in self._sets.values():
            self._rehearse(examples)
        processes.on_main(self._look_at_references)
        if processes.is_main():
            self._begin_page(args, state)
        if self._restore != "ignore":
            restoring.watch(self._trainer, state.global_step, repair=self._restore == "repair")
        self._training = True

    def on_step_end(self, args: Any, state: Any, control: Any, **keywords: Any) -> None:
        """Runs every N steps, if `when` says so."""
        if self._when.unit == "steps" and state.global_step % self._when.every == 0:
            self._evaluate_and_log()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **keywords: Any) -> None:
        """Runs every N epochs, if `when` says so."""
        if self._when.unit == "epochs" and round(state.epoch) % self._when.every == 0:
            self._evaluate_and_log()

    def on_train_end(self, args: Any, state: Any, control: Any, **keywords: Any) -> None:
        """Waits for the scoring in the background, and sees that the best model is the best one."""
        self._log_finished(WAIT_SECONDS)
        self._say_best(args, state)
        if processes.is_main() and (self._reports / run.PAGE).is_file():
            self._name_page("The curves and reports of this run: %s")
        if self._restore != "ignore":
            model = self._trainer.model
            restoring.write_original_names(model)
            if args.load_best_model_at_end and state.best_model_checkpoint:
                best = state.best_model_checkpoint
                restoring.check(model, best, "load_best_model_at_end", repair=self._restore == "repair")

    def on_predict(self, args: Any, state: Any, control: Any, metrics: Any = None, **keywords: Any) -> None:
        """Adds the values to the metrics that `predict` returns; it does not log them."""
        self._add_reports(metrics)

    def _check_folder(self, trainer: Any) -> None:
        """Raises InputError if another callback writes to this one's folder: each would replace the other's record."""
        folder = self._reports_of(trainer)
        if any(each._reports == folder for each in _attached(trainer)):
            raise InputError(
                f"Another ReportMetricsCallback of this Trainer writes to {folder}; pass folder= to one of them, or "
                "give all metrics to one callback."
            )

    def _begin_page(self, args: Any, state: Any) -> None:
        """Sets the reports of an earlier run aside, and says where those of this run will be, or why there are none."""
        try:
            aside = None if state.global_step else run.set_aside(self._reports, self._records)
            if aside:
                logger.warning("%s has the reports of an earlier run; they are now in %s.", self._reports, aside)
        except Exception as error:  # as when the page is written
            self._fail(f"Reports of an earlier run could not be moved: {type(error).__name__}: {error}", error)
        never = self._when.never(args, state.max_steps)
        if never:
            logger.warning("ReportMetricsCallback generates and scores no report in this training: %s.", never)
        else:
            self._name_page(
                "Open %s in a browser after the first evaluation; each evaluation updates its curves and reports."
            )

    def _say_best(self, args: Any, state: Any) -> None:
        """Warns if the checkpoint that was kept is no better than trivial systems."""
        wanted = best_key(args)
        if args.load_best_model_at_end and state.best_model_checkpoint and wanted in self._logged():
            value, step = state.best_metric, state.best_global_step
            self._watch.see_best(wanted, value, step, higher_is_better=bool(args.greater_is_better))

    def _make_sets(self, trainer: Any) -> dict[str, EvaluationSet]:
        """Makes the evaluation sets, by the prefix of their metrics."""
        dataset = trainer.eval_dataset if self._dataset is None else self._dataset
        named = dataset if isinstance(dataset, dict) else {"": dataset}
        if isinstance(trainer.eval_dataset, dict) != isinstance(dataset, dict) and trainer.eval_dataset is not None:
            raise InputError("The Trainer's eval_dataset and the callback's must both be dicts of sets, or neither.")
        return {"_".join(filter(None, (PREFIX, name))): self._make_set(each, trainer) for name, each in named.items()}

    def _make_set(self, dataset: Any, trainer: Any) -> EvaluationSet:
        processor = self._processor or trainer.processing_class
        return EvaluationSet(
            dataset,
            reference=self._reference,
            n_reports=self._n_reports,
            seed=self._seed,
            tokenizer=None if processor is None and self._generate_fn else self._tokenizer(processor),
        )

    @staticmethod
    def _tokenizer(processor: Any) -> Any:
        if processor is None:
            raise InputError(
                "Reports cannot be decoded without a tokenizer; pass processing_class= to the Trainer, or "
                "processor= or generate_fn= to the callback."
            )
        return text_tokenizer(processor)

    def _logged(self) -> dict[str, tuple[str, Key]]:
        """The metric and the key behind each name that this callback logs."""
        return {
            f"{prefix}_{key.name}{name.suffix}": (metric, key)
            for prefix in self._sets
            for metric, name in self._names.items()
            for key in name.spec.keys
        }

    def _function(self, example: Any, settings: Any) -> GenerateFunction:
        if self._generate_fn is not None:
            return self._generate_fn
        trainer = self._trainer
        processor = self._processor or trainer.processing_class
        return make_generation(
            trainer.model,
            processor,
            text_tokenizer(processor),
            self._collate,
            example,
            prompt=self._prompt,
            settings=settings,
        )

    def _collate(self, examples: list[Any]) -> Any:
        """The Trainer's collator, on the columns that the Trainer would give it."""
        if self._trainer.args.remove_unused_columns and isinstance(examples[0], Mapping):
            known = model_columns(self._trainer.model) | set(self._trainer.label_names or ())
            examples = [{key: value for key, value in each.items() if key in known} for each in examples]
        return self._trainer.data_collator(examples)

    def _rehearse(self, examples: EvaluationSet) -> None:
        """Generates one short report; a failure here is a wrong set-up, whatever `on_error` says."""
        example = examples[examples.rows[0]]
        trainer, overrun = self._trainer, ""
        try:
            with undisturbed(trainer.model, self._seed):
                function = self._function(example, self._generation_config)
                overrun = self._overrun(function, examples)
                texts = list(function(trainer.model, [example]))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"No report could be generated for the first example: {type(error).__name__}: {error}. Nothing was "
                f"trained. {overrun or 'See generate_fn=, prompt= and generation_config= of ReportMetricsCallback.'}"
            ) from error
        if len(texts) != 1 or not isinstance(texts[0], str):
            raise InputError(
                f"generate_fn returned {texts!r} for one example; it must return a list with one "
                "string for each example."
            )

    def _overrun(self, function: GenerateFunction, examples: EvaluationSet) -> str:
        """Warns of reports that may outgrow the model; returns what was said."""
        if not isinstance(function, Generation):
            return ""
        words = say_overrun(self._trainer.model, function, [examples[row] for row in examples.rows[:LOOKED_AT]])
        if words:
            logger.warning("%s", words)
        return words

    def _look_at_references(self) -> None:
        """Says what is wrong with labels as references, and scores trivial systems on each set: once, at first."""
        for prefix, examples in self._sets.items():
            if words := say_cut(examples.labels(), f"{prefix}: "):
                logger.warning("%s", words)
            if pairs := examples.pairs():
                self._watch.measure(pairs, prefix=f"{prefix}_")

    def _evaluate_and_log(self) -> None:
        for prefix, examples in self._sets.items():
            values = self._evaluate(self._describe(prefix, examples))
            if values:
                self._trainer.log(values)

    def _add_reports(self, logs: dict[str, float]) -> None:
        """Adds our values to the metrics of a whole evaluation, of one of our sets or of one that it was given."""
        prefix = evaluation_prefix(logs)
        due = self._when.unit == "evaluation" or not self._training
        if not due or not prefix or not (self._running or prefix in self._sets):
            return
        given = self._running[-1] if self._running else None
        own = self._own_set(prefix, given)
        try:
            logs.update(self._evaluate(self._describe(prefix, own or self._other_set(prefix, given))))
        except InputError as error:  # predict is also for studies that have no report
            if own or self._on_error == "raise":
                raise
            logger.warning("No report metrics of %s: %s", prefix, error)

    def _own_set(self, prefix: str, given: Any) -> EvaluationSet | None:
        """The set of the callback that the Trainer evaluates, by what `evaluate` was given; None for another one."""
        if given is None:
            return self._sets.get(prefix, self._sets.get(PREFIX))
        theirs = self._trainer.eval_dataset
        named = theirs if isinstance(theirs, dict) else {"": theirs}
        name = given if isinstance(given, str) else next((name for name, each in named.items() if each is given), None)
        return None if name is None else self._sets.get("_".join(filter(None, (PREFIX, name))))

    def _other_set(self, prefix: str, given: Any) -> EvaluationSet:
        """The set of what `evaluate` or `predict` was given; the same one when it is given again."""
        if prefix not in self._others or self._others[prefix][0] is not given:
            examples = self._make_set(given, self._trainer)
            self._others[prefix] = given, examples
            n, n_all = len(examples.rows), len(given) if hasattr(given, "__len__") else 0
            if n < n_all:
                logger.warning("%s: reports of %d of %d examples are scored (n_reports=).", prefix, n, n_all)
        return self._others[prefix][1]

    def _describe(self, prefix: str, examples: EvaluationSet) -> Evaluated:
        state = self._trainer.state
        model = "" if self._training else model_of(self._trainer.args, state)
        return evaluated(prefix, examples, self._sets.get(prefix), model, state)

    def _evaluate(self, one: Evaluated) -> dict[str, float]:
        """Generates and scores; values by full key, the same in every process. Collective."""
        self._log_finished()
        due = list(self._turns) if one.model else self._due(one.prefix)
        if not due:
            return {f"{one.prefix}_{REPORTS}": 0.0}
        start = time.perf_counter()
        generated = self._generate(one.examples)
        generation_seconds = time.perf_counter() - start
        start = time.perf_counter()
        values = processes.on_main(lambda: self._score(generated, due, one))
        own = float(len(generated.samples)), round(generation_seconds, 4), round(time.perf_counter() - start, 4)
        return self._thin(one.prefix, values | dict(zip(OWN_KEYS, own, strict=True)))

    def _due(self, prefix: str) -> list[str]:
        """The metrics that take part this time."""
        n_before = sum(f"{prefix}_{REPORTS}" in row for row in self._trainer.state.log_history)
        return [metric for metric, turn in self._turns.items() if turn.due(n_before)]

    def _thin(self, prefix: str, values: Mapping[str, float]) -> dict[str, float]:
        """Puts the prefix before the keys, and leaves out what is not to be logged."""
        named = {f"{prefix}_{key}": value for key, value in values.items()}
        if self._keys is None:
            return named
        wanted = {f"{prefix}_{key}" for key in (*self._keys, REPORTS)} | {best_key(self._trainer.args)}
        return {key: value for key, value in named.items() if key in wanted}

    def _generate(self, examples: EvaluationSet) -> Generated:
        trainer = self._trainer
        batch_size = self._batch_size or trainer.args.per_device_eval_batch_size
        with undisturbed(trainer.model, self._seed):
            function = self._function(examples[examples.rows[0]], self._generation_config)
            generated = generate(
                trainer.model, examples, function, batch_size=batch_size, max_seconds=self._max_seconds
            )
        if generated.failure:
            self._fail(f"Reports could not be generated: {generated.failure}")
            return generated._replace(samples=[])
        if generated.stopped:
            examples.shrink(max(len(generated.samples), 1))
            logger.warning(
                "Generation took more than %s s; from now on %d reports are generated. Values before and after "
                "come from different sets.",
                *(self._max_seconds, len(examples.rows)),
            )
        return generated

    def _score(self, generated: Generated, due: Sequence[str], one: Evaluated) -> dict[str, float]:
        """Scores in the main process, and writes the table."""
        samples, prefix = generated.samples, one.prefix
        if not samples:
            return {
                key: value
                for metric in due
                for key, value in flat(self._names[metric], None, len(one.examples.rows)).items()
            }
        pairs = [sample.pair for sample in samples]
        later = [metric for metric in due if self._turns[metric].background]
        if later:
            warn_of_tokens(pairs, prefix, self._said)  # the other process has no notices
            self._background.submit(prefix, one.step, later, pairs)
        scores = self._scoring.score(pairs, due, f"{prefix}_") if self._scoring else Scores({})
        if later and one.model:  # no later evaluation would log them
            scores = Scores(scores.values | self._wait(), scores.results)
        best = best_key(self._trainer.args)
        self._watch.see(pairs, scores.values, prefix=f"{prefix}_", when=one.where, best=best, use=one.use)
        self._latest.keep(one.series, self._trainer.state, one.step, scores.results)
        digest = run.digest_of(pairs[:1] if self._max_seconds else pairs)  # a time limit makes a set shorter
        try:
            one = self._recorded(one, digest)
            self._show(generated, scores.results, one)
            self._write(one, scores, pairs, digest)
        except Exception as error:  # a full disk or a tracker must not end the training
            self._fail(f"The reports and their page could not be written: {type(error).__name__}: {error}", error)
        return scores.values

    def _log_finished(self, wait_seconds: float = 0) -> None:
        """Logs what was scored in the background, with the step it belongs to. Collective."""
        if not any(turn.background for turn in self._turns.values()):
            return
        for prefix, step, values, failure in processes.on_main(lambda: self._background.finished(wait_seconds)):
            if failure:
                self._fail(f"Scoring in the background failed: {failure}")
            if processes.is_main():
                self._keep_late(prefix, step, values)
            self._trainer.log({**self._thin(prefix, values), f"{prefix}_background_step": float(step)})

    def _wait(self) -> dict[str, float]:
        """The values of what is scored in the background, however long that takes."""
        values: dict[str, float] = {}
        for each in self._background.finished(math.inf):
            if each.failure:
                self._fail(f"Scoring in the background failed: {each.failure}")
            values |= each.values
        return values

    def _show(self, generated: Generated, results: Mapping[str, Any], one: Evaluated) -> None:
        if self._n_shown:
            rows = tables.make_rows(generated.samples, results, one.step, self._n_shown)
            tables.write(rows, self._reports, run.table_name(one.record, one.step))
            tables.track(rows, f"{one.record}/reports", one.step, self._trainer)

    def _recorded(self, one: Evaluated, digest: str) -> Evaluated:
        """Names the record of an evaluation; warns of one that does not continue as it began, or has another name."""
        if one.examples is self._sets.get(one.prefix) and not one.model:
            here = [metric for metric, turn in self._turns.items() if not turn.background]
            changed = "" if one.record in self._records else run.changes(self._reports, one.record, digest, here)
            if changed:
                logger.warning(
                    "The record of %s in %s continues with %s: its values before and after step %d cannot be compared, "
                    "and the best checkpoint is chosen among both.",
                    *(one.record, self._reports, changed, one.step),
                )
            return one
        record = run.record_of(self._reports, one.record, digest)
        if record not in (one.record, *self._records):
            logger.warning(
                "%s belongs to another set that was evaluated with the prefix %r; this one is in %s_values.jsonl.",
                *(one.record, one.prefix, run.file_name(record)),
            )
        return one._replace(record=record)

    def _write(self, one: Evaluated, scores: Scores, pairs: Sequence[Pair], digest: str) -> None:
        """Writes the values of this evaluation, and the page of the run."""
        trivial = {
            key.removeprefix(f"{one.prefix}_"): each
            for key, each in self._watch.baselines.items()
            if key.startswith(f"{one.prefix}_")
        }
        self._records.add(one.record)
        run.add(self._reports, one.record, run.values_of(one.step, scores, trivial, pairs, digest))
        run.write_page(self._reports, list(self._sets), self._trainer.args.run_name or self._reports.parent.name)

    def _keep_late(self, prefix: str, step: int, values: Mapping[str, float]) -> None:
        try:
            run.add_late(self._reports, prefix, step, values)
        except Exception as error:  # as when the page is written
            self._fail(f"Values from the background could not be written: {type(error).__name__}: {error}", error)

    def _name_page(self, words: str) -> None:
        if os.environ.get(VARIABLE) != "no":
            notices.warning(words, self._reports / run.PAGE)

    @property
    def _reports(self) -> Path:
        """The folder of page, values and tables."""
        return self._reports_of(self._trainer)

    def _reports_of(self, trainer: Any) -> Path:
        return Path(self._folder or Path(trainer.args.output_dir) / "reports")

    def _fail(self, words: str, error: Exception | None = None) -> None:
        if self._on_error == "raise":
            raise error or BackendError(words)
        if words not in self._said:
            self._said.add(words)
            logger.error("%s. Training continues; this message appears once.", words.removesuffix("."))


def _attached(trainer: Any) -> list[ReportMetricsCallback]:
    """The callbacks that score reports for a Trainer."""
    ours = [each for each in trainer.callback_handler.callbacks if isinstance(each, ReportMetricsCallback)]
    return [each for each in ours if each._trainer is trainer]
