"""The page of one metric, made from its row of the spec table and its card: `build_space("crepe").launch(**look())`.

Two reports in, their score and what is wrong out; a file of pairs; the card. Nothing is kept between requests: a pair
is answered by a function of its texts, a file by a generator of its own, and uploads are deleted within two hours.
"""

from __future__ import annotations

import json
import re
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.reporting.html import alert, part
from rrgmetrics.reports import Context, Pair, parse_context
from rrgmetrics.scoring.hub import module_path
from rrgmetrics.scoring.results import Result
from rrgmetrics.spaces import batch, snippets
from rrgmetrics.spaces.controls import asked_name, option_controls, with_words
from rrgmetrics.spaces.examples import examples, opening, sample_file
from rrgmetrics.spaces.framework import launched, load_gradio
from rrgmetrics.spaces.limits import MAX_MEGABYTES, MAX_PAIRS, check_pair
from rrgmetrics.spaces.pair_view import CANDIDATE, REFERENCE, pair_view
from rrgmetrics.spaces.ready import ready
from rrgmetrics.spaces.theme import look
from rrgmetrics.specs import MetricSpec, get_spec
from rrgmetrics.specs.names import parse_name

_TABLE = re.compile(r"^\|.*(?:\n\|.*)+\n?", re.MULTILINE)  # of Markdown
PAIRS_AT_ONCE = 2  # threads that score single pairs; more would only share the same processors
MAX_WAITING = 64  # files, and calls from programs; beyond, a page says that it is full
UPLOADS_KEPT = 3600  # seconds
COLUMN_LABELS = {  # menus for a file whose columns have other names
    "reference": "Column of the radiologist’s reports",
    "candidate": "Column of the machine’s reports",
    "study_id": "Column of study ids (optional)",
}
PATIENT = 5  # inputs of a pair: both reports, age, sex, indication


def build_space(name: str) -> Any:
    """The page of a metric.

    Args:
        name: A metric of the spec table.

    Returns:
        A `gradio.Blocks`; `launch(name)` serves it.

    Raises:
        InputError: Unknown metric.
        MissingExtraError: Gradio is not installed.
    """
    spec = get_spec(name)
    gradio = load_gradio()
    with gradio.Blocks(
        title=f"{title_of(spec)} for radiology reports",
        analytics_enabled=False,
        delete_cache=(UPLOADS_KEPT, UPLOADS_KEPT),
    ) as page:
        gradio.HTML(heading(spec), apply_default_css=False)
        with gradio.Tab("One pair", id="pair"):
            _pair_tab(spec, page)
        with gradio.Tab("A file of pairs", id="file"):
            _file_tab(spec)
        with gradio.Tab("About", id="about"):
            gradio.Markdown(with_wide_tables(card_text(spec).partition("\n")[2]), elem_classes="rrg-card")  # untitled
        gradio.api(_api(spec), api_name="score", concurrency_limit=PAIRS_AT_ONCE, concurrency_id="pair")
    page.queue(max_size=MAX_WAITING)
    return page


def launch(name: str, **keywords: Any) -> Any:
    """Serves the page of a metric; its model is loaded, and the example scored, while the page opens.

    Args:
        name: A metric of the spec table.
        **keywords: `Blocks.launch`'s: `server_name`, `server_port`, `prevent_thread_lock`, ...

    Returns:
        What `Blocks.launch` returns.
    """
    page = build_space(name)
    served = launched(page, **{**launch_options(), **keywords, "prevent_thread_lock": True})
    threading.Thread(target=opened, args=(name,), daemon=True).start()
    if not keywords.get("prevent_thread_lock"):
        page.block_thread()
    return served


def launch_options() -> dict[str, Any]:
    """What every page is launched with: our look, limits, nothing kept in the browser or sent elsewhere."""
    return look() | {
        "max_file_size": f"{MAX_MEGABYTES}mb",
        "run_history": False,
        "footer_links": ["api", "settings"],
        "ssr_mode": False,
    }


# --- one pair ---------------------------------------------------------------------------------------------------------


def _pair_tab(spec: MetricSpec, page: Any) -> None:
    gradio = load_gradio()
    first = opening(spec)
    box: dict[str, Any] = {
        "lines": 6,
        "max_lines": 14,
        "placeholder": "Type or paste a report, or choose an example below",
    }
    with gradio.Row():
        with gradio.Column(min_width=280):
            reference = gradio.Textbox(first.reference, label=REFERENCE, **box)
        with gradio.Column(min_width=280):
            candidate = gradio.Textbox(first.candidate, label=CANDIDATE, **box)
    with gradio.Accordion("Patient (optional)", open=False, visible=spec.takes_context), gradio.Row():
        age = gradio.Textbox(first.age, label="Age", placeholder="72, 072Y, 19M, 3D", min_width=140)
        sex = gradio.Dropdown(["", "F", "M", "O"], value=first.sex, label="Sex", min_width=140)
        indication = gradio.Textbox(
            first.indication, label="Indication", placeholder="reason for the examination", scale=3
        )
    options = option_controls(spec)
    texts = [reference, candidate, age, sex, indication]
    with gradio.Row(elem_classes="rrg-examples"):
        chips = [
            (gradio.Button(example.title, size="sm", min_width=0), example)
            for example in examples(spec)
            if example.title
        ]
    button = gradio.Button("Score", variant="primary")
    shown = gradio.HTML(nothing_yet(spec), apply_default_css=False)
    with gradio.Accordion("The same in Python and on the command line", open=False, visible=False) as calls:
        code = gradio.Markdown("", latex_delimiters=[], elem_classes="rrg-card")
    turns = threading.BoundedSemaphore(PAIRS_AT_ONCE)

    def handle(*inputs: Any) -> tuple[Any, ...]:
        try:
            with turns:
                view, words = answered(spec, inputs[:PATIENT], inputs[PATIENT:])
        except (InputError, BackendError) as error:
            return part(alert(str(error))), gradio.skip(), gradio.Accordion(visible=False)
        return view, words, gradio.Accordion(visible=True)

    # Not through Gradio's queue: it costs twice the time that a pair takes, and files wait in it.
    event: dict[str, Any] = {"outputs": [shown, code, calls], "queue": False, "api_visibility": "private"}
    scored: dict[str, Any] = {"fn": handle, "inputs": [*texts, *options], **event}
    page.load(lambda: (*opened(spec.name), gradio.Accordion(visible=True)), None, show_progress="hidden", **event)
    gradio.on([button.click, reference.submit, candidate.submit], **scored)
    for chip, example in chips:
        chip.click(None, None, texts, js=f"() => {json.dumps(example.texts)}", api_visibility="private").then(**scored)


@cache
def opened(name: str) -> tuple[str, str]:
    """What the page of a metric shows of the example that it opens with."""
    spec = get_spec(name)
    return answered(spec, opening(spec).texts)


def answered(spec: MetricSpec, texts: Sequence[str], options: Sequence[Any] = ()) -> tuple[str, str]:
    """What a page shows of a pair, and the calls that give the same.

    Args:
        spec: The metric.
        texts: Both reports, and the patient's age, sex and indication, as typed.
        options: The values of the metric's controls.

    Raises:
        InputError: Texts or options that a page does not take.
    """
    name = with_words(asked_name(spec, options))
    result, pair = answer(spec, *texts, name=name)
    calls = snippets.markdown(snippets.python_pair(name, pair), snippets.shell_pair(name, pair))
    return pair_view(result, pair, name), calls


def answer(
    spec: MetricSpec,
    reference: str,
    candidate: str,
    age: str = "",
    sex: str = "",
    indication: str = "",
    *,
    name: str = "",
) -> tuple[Result, Pair]:
    """Scores one pair, as `name` asks for or else with words; InputError for texts that a page does not take."""
    context = {"age": age, "sex": sex, "indication": indication or ""}
    pair = Pair(reference or "", candidate or "", parse_context(context, "The patient"))
    check_pair(pair)
    name = name or with_words(spec.name)
    asked = pair if spec.takes_context else pair._replace(context=Context())
    return ready(name).score_pairs([asked], progress=False)[name], pair


def _api(spec: MetricSpec) -> Any:
    gradio = load_gradio()

    def score_pair(
        reference: str, candidate: str, age: str = "", sex: str = "", indication: str = ""
    ) -> dict[str, object]:
        """Scores one pair of reports: every key's value, what the metric says of it, and the signature.

        Args:
            reference: The radiologist's report.
            candidate: The machine's report.
            age: Of the patient: 72, 072Y, 19M; empty if unknown.
            sex: F, M, O or empty.
            indication: Why the image was taken; empty if unknown.
        """
        try:
            result, _ = answer(spec, reference, candidate, age, sex, indication)
        except InputError as error:
            raise gradio.Error(batch.plain(str(error)), print_exception=False) from None
        details = {key: values[0] for key, values in result.details.items()}
        return {"scores": result.scores, **details, "signature": result.signature}

    return score_pair


# --- a file -----------------------------------------------------------------------------------------------------------


def _file_tab(spec: MetricSpec) -> None:
    gradio = load_gradio()
    gradio.HTML(part(Markup('<p class="lead">{}</p>').format(file_words(spec))), apply_default_css=False)
    upload = gradio.File(label="CSV or JSONL", file_types=list(batch.SUFFIXES), height=140)
    with gradio.Row(elem_classes="rrg-examples"):
        sample = gradio.Button("Try the sample file", size="sm", min_width=0)
    with gradio.Row(visible=False) as chooser:
        columns = [
            gradio.Dropdown([""], value="", label=label, allow_custom_value=True, min_width=280)
            for label in COLUMN_LABELS.values()
        ]
    options = option_controls(spec)
    with gradio.Row():
        button = gradio.Button("Score the file", variant="primary")
        stop = gradio.Button("Stop", visible=False, scale=0, min_width=120)
    shown = gradio.HTML("", apply_default_css=False)
    with gradio.Row():
        table = gradio.DownloadButton("Scores of every pair (CSV)", visible=False)
        report = gradio.DownloadButton("Readable report (HTML)", visible=False)
    with gradio.Accordion("The same in Python and on the command line", open=False, visible=False) as calls:
        code = gradio.Markdown("", latex_delimiters=[], elem_classes="rrg-card")
    outputs = [shown, table, report, code, calls, stop]

    def score_file(path: str | None, *values: Any) -> Iterator[tuple[Any, ...]]:
        hidden = [gradio.DownloadButton(visible=False)] * 2 + ["", gradio.Accordion(visible=False)]
        try:
            if not path:
                raise InputError("There is no file yet; choose one, or use the sample file.")
            asked = asked_name(spec, values[: len(options)])
            named = dict(zip(COLUMN_LABELS, values[len(options) :], strict=False))
            for view, scored in run_file(asked, path, {field: name for field, name in named.items() if name}):
                if scored is None:
                    yield view, *hidden, gradio.Button(visible=True)
                    continue
                file = Path(path).name
                with tempfile.TemporaryDirectory(prefix="rrgmetrics-") as folder:
                    paths = batch.write_scores(scored, folder)
                    yield (
                        view,
                        *(gradio.DownloadButton(value=path, visible=True) for path in paths),
                        snippets.markdown(snippets.python_file(asked, file), snippets.shell_file(asked, file)),
                        gradio.Accordion(visible=True),
                        gradio.Button(visible=False),
                    )
        except (InputError, BackendError) as error:
            yield part(alert(str(error))), *hidden, gradio.Button(visible=False)

    def choose(path: str | None) -> list[Any]:
        found = batch.columns_of(path) if path else []
        guesses = batch.guessed_columns(found)
        menus = [gradio.Dropdown(["", *found], value=guesses.get(field, "")) for field in COLUMN_LABELS]
        return [gradio.Row(visible=bool(found) and not {"reference", "candidate"} <= set(found)), *menus]

    upload.change(choose, upload, [chooser, *columns], api_visibility="private", queue=False, show_progress="hidden")
    sample.click(partial(sample_file, spec), None, upload, api_visibility="private")
    running = button.click(
        score_file,
        [upload, *options, *columns],
        outputs,
        concurrency_limit=1,
        concurrency_id="file",
        api_name="score_file",
        api_description=f"Scores a file of pairs with {title_of(spec)}. {file_words(spec)}",
        show_progress="hidden",
    )

    def stopped() -> tuple[Any, ...]:
        return part(alert("Stopped.")), gradio.Button(visible=False)

    # "Stopped." only once the run is cancelled, or its last progress could be shown over it
    cancelled = stop.click(None, cancels=[running], api_visibility="private", queue=False)
    cancelled.then(stopped, None, [shown, stop], api_visibility="private", queue=False)


def run_file(
    name: str, path: str, columns: Mapping[str, str] | None = None
) -> Iterator[tuple[Markup, batch.Scored | None]]:
    """What to show while a file is scored with a metric of this name, and at last its scores."""
    studies = batch.read_upload(path, columns)
    start, total = time.monotonic(), len(studies.pairs)
    for step in batch.score_file(name, studies):
        if isinstance(step, int):
            yield batch.progress(step, total, time.monotonic() - start), None
        else:
            scored = batch.with_worth(name, studies, step)
            yield batch.overview(scored), scored


# --- words ------------------------------------------------------------------------------------------------------------


def title_of(spec: MetricSpec) -> str:
    """The metric's title as its page runs it: in the default configuration."""
    return parse_name(spec.name).title


def heading(spec: MetricSpec) -> Markup:
    """What the page is for."""
    words = card_section(spec, "Metric Description").split("\n\n")[0]
    words = re.sub(r"[`*]|\s(?=\s)", "", words.replace("\n", " "))
    first = re.split(r"(?<=[\w)\"][.]) (?=[A-Z])", words)[0]
    return part(Markup('<h1>{}</h1><p class="lead">{}</p>').format(title_of(spec), first))


def nothing_yet(spec: MetricSpec) -> Markup:
    """What stands where the score will be."""
    return part(
        Markup('<p class="note">The {} of this pair and its explanation will appear here.</p>').format(title_of(spec))
    )


def file_words(spec: MetricSpec) -> str:
    """What a file must look like."""
    context = ", age, sex and indication" if spec.takes_context else ""
    return (
        f"One pair a row: columns reference and candidate, optionally study_id{context}. Up to {MAX_PAIRS:,} pairs "
        f"and {MAX_MEGABYTES} MB. Files are deleted within two hours."
    )


def card_text(spec: MetricSpec) -> str:
    """The metric card without its front matter."""
    text = (module_path(spec.name) / "README.md").read_text(encoding="utf-8")
    return text.split("\n---\n", 1)[-1].strip()


def with_wide_tables(card: str) -> str:
    """A card with each table in a region that scrolls sideways and that the keyboard reaches."""
    region = '<div class="wide" tabindex="0" role="region" aria-label="Table">'
    return _TABLE.sub(lambda table: f"{region}\n\n{table[0]}\n</div>\n", card)


def card_section(spec: MetricSpec, title: str) -> str:
    """A section of the card, without its heading; "" if it has none of that name."""
    _, _, rest = card_text(spec).partition(f"## {title}\n")
    return rest.partition("\n#")[0].strip()
