"""The Gradio page of the comparison."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rrgmetrics.comparing import explain
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.measured import DEVELOPMENT, measured_sets
from rrgmetrics.reading import read as read_report
from rrgmetrics.reading.lexicon import AUTO, all_packs
from rrgmetrics.reading.scope import CHEST_XRAY, out_of_scope
from rrgmetrics.reporting.html import alert, part
from rrgmetrics.reporting.marks import Explanation
from rrgmetrics.spaces.compare import tables
from rrgmetrics.spaces.compare.scoring import check_reports, compare_reports, measured_for, title_of
from rrgmetrics.spaces.compare.verdict import summary
from rrgmetrics.spaces.framework import launched, load_gradio
from rrgmetrics.spaces.ui import launch_options
from rrgmetrics.specs.names import parse_name

if TYPE_CHECKING:
    import gradio

JUDGES = "RRGMETRICS_JUDGES"  # environment variable: judges on a language model that visitors may ask too
STYLE_SHEET = Path(__file__).parent / "compare.css"
TITLE = "Which report is better?"
NOBODY = {"age": "", "sex": "", "indication": ""}  # nothing is known of the patient
OPENING = "Similar words, wrong side"
LABELS = ("Radiologist’s report (reference)", "Candidate 1", "Candidate 2 (optional)")
EXAMPLES = {  # invented
    "Similar words, wrong side": (
        "There is a small left pleural effusion. The heart is normal in size. There is no pneumothorax.",
        "Small effusion at the left base. Normal heart size, no pneumothorax.",
        "There is a small right pleural effusion. The heart is normal in size. There is no pneumothorax.",
    ),
    "Missed or invented": (
        "Right upper lobe consolidation, consistent with pneumonia. No pleural effusion.",
        "No focal consolidation. No pleural effusion or pneumothorax.",
        "Right upper lobe pneumonia. Small bilateral pleural effusions. Mild cardiomegaly.",
    ),
    "One report only": (
        "The endotracheal tube ends 2 cm above the carina. Bibasilar atelectasis, unchanged.",
        "Endotracheal tube in the right main bronchus. Bibasilar atelectasis, increased.",
        "",
    ),
}


def compare_space(judges: Sequence[str] | None = None) -> gradio.Blocks:
    """The page: one or two candidates under every metric, with the verdict in words.

    Args:
        judges: Judges on an engine, as `green@openai:my-model?base_url=...`, that visitors may ask too; None takes them
            from the environment variable RRGMETRICS_JUDGES, commas between.

    Returns:
        A Gradio app; `launch()` serves it in the house's look.

    Raises:
        InputError: A name that is no judge.
        MissingExtraError: Gradio is not installed.
    """
    gradio = load_gradio()
    slow = _check_judges(os.environ.get(JUDGES, "").split(",") if judges is None else judges)

    def answer(*inputs: Any) -> Iterator[tuple[str, str, str]]:
        reference, *candidates, age, sex, indication, asked = inputs
        context = {"age": age, "sex": sex, "indication": indication or ""}
        yield from _answer(reference, candidates, context, [slow[title] for title in asked or ()])

    with gradio.Blocks(title=TITLE, analytics_enabled=False) as page:
        gradio.HTML(_head(), apply_default_css=False)
        with gradio.Row(equal_height=True, elem_classes="rrg-texts"):
            boxes = [
                gradio.Textbox(text, label=label, lines=6, max_lines=14, min_width=240)
                for label, text in zip(LABELS, EXAMPLES[OPENING], strict=True)
            ]
        with gradio.Accordion("Patient (optional)", open=False), gradio.Row():
            boxes += [
                gradio.Textbox(label="Age", placeholder="72, 19M", min_width=100),
                gradio.Textbox(label="Sex", placeholder="F, M, O", min_width=100),
                gradio.Textbox(label="Indication", placeholder="reason for the examination", scale=3),
            ]
        asked = gradio.CheckboxGroup(list(slow), label="Also ask a language model (slow)", visible=bool(slow))
        with gradio.Row(elem_classes="rrg-examples"):
            chips = [gradio.Button(title, size="sm", min_width=0) for title in EXAMPLES]
        button = gradio.Button("Compare", variant="primary")
        parts = [gradio.HTML(text, apply_default_css=False) for text in (_NOTHING_YET, "", "")]
        with gradio.Accordion("Agreement of each metric with radiologists", open=False):
            gradio.HTML(tables.agreement_part(measured_sets()[DEVELOPMENT]), apply_default_css=False)
        with gradio.Accordion("About", open=False):
            gradio.Markdown(_about(), elem_classes="rrg-card")
        event: dict[str, Any] = {"fn": answer, "inputs": [*boxes, asked], "outputs": parts, "concurrency_limit": 2}
        page.load(_opening, None, parts, concurrency_limit=8, show_progress="hidden", api_visibility="private")
        # a click while the metrics still score is kept, not lost
        clicked: dict[str, Any] = {"api_name": "compare", "api_visibility": "undocumented"}  # it answers with HTML
        button.click(**event, **clicked, concurrency_id="compare", trigger_mode="always_last")
        gradio.api(_api(), api_name="compare_reports", concurrency_limit=2, concurrency_id="compare")
        for chip, texts in zip(chips, EXAMPLES.values(), strict=True):
            filled = chip.click(
                None, None, boxes, js=f"() => {json.dumps([*texts, '', '', ''])}", api_visibility="private"
            )
            filled.then(**event, api_visibility="private", concurrency_id="compare")
    page.queue(max_size=64)
    return page


def launch(**keywords: Any) -> Any:
    """Serves the page in the house's look; what the metrics read with is loaded as soon as the page can be seen.

    Args:
        **keywords: Those of Gradio's `Blocks.launch`.

    Returns:
        What `Blocks.launch` returns.
    """
    page = compare_space()
    options = launch_options()
    options["head"] += f"<style>{STYLE_SHEET.read_text(encoding='utf-8')}</style>"
    served = launched(page, **{**options, **keywords, "prevent_thread_lock": True})
    threading.Thread(target=_warm_up, daemon=True).start()
    if not keywords.get("prevent_thread_lock"):
        page.block_thread()
    return served


_NOTHING_YET = '<div class="rrg"><p class="note">The verdict and its explanation will appear here.</p></div>'


def _answer(
    reference: str, texts: Sequence[str], context: Mapping[str, str], judges: Sequence[str] = ()
) -> Iterator[tuple[str, str, str]]:
    """The parts of the answer: the errors at once, then the metrics as installed, and at last the slow judges."""
    reference, second = reference or "", (texts[1] or "").strip()
    candidates = [text or "" for text in (texts if second else texts[:1])]
    try:
        check_reports(reference, candidates, context)
    except InputError as error:
        yield str(part(alert(str(error)))), "", ""
        return
    read = [Explanation.of(explain(candidate=text, reference=reference, context=context)) for text in candidates]
    measured, alerts = measured_for(reference), list(_scope(reference, candidates))
    differences = str(tables.difference_part(reference, candidates, read))
    yield str(tables.verdict_part(summary((), read, measured), alerts)), "", differences
    lines = compare_reports(reference, candidates, context)
    while True:
        verdict = summary(lines, read, measured)
        if judges:
            verdict = verdict._replace(remarks=(*verdict.remarks, "Waiting for the language models."))
        yield str(tables.verdict_part(verdict, alerts)), str(tables.score_part(lines, measured)), differences
        if not judges:
            return
        lines = lines + compare_reports(reference, candidates, context, names=judges)
        judges = ()


def _api() -> Callable[..., dict[str, Any]]:
    gradio = load_gradio()

    def compare(
        reference: str, candidate_1: str, candidate_2: str = "", age: str = "", sex: str = "", indication: str = ""
    ) -> dict[str, Any]:
        """Compares two machine's reports with the radiologist's: each one's errors in words, and every metric's score.

        Args:
            reference: The radiologist's report.
            candidate_1: A machine's report.
            candidate_2: Another machine's report; empty where there is one only.
            age: Of the patient: 72, 072Y, 19M; empty if unknown.
            sex: F, M, O or empty.
            indication: Why the image was taken; empty if unknown.
        """
        candidates = [candidate_1, candidate_2] if candidate_2.strip() else [candidate_1]
        context = {"age": age, "sex": sex, "indication": indication}
        try:
            lines = compare_reports(reference, candidates, context)
        except InputError as error:
            raise gradio.Error(str(error), print_exception=False) from None
        read = [explain(candidate=text, reference=reference, context=context) for text in candidates]
        return {
            "headline": summary(lines, [Explanation.of(each) for each in read], measured_for(reference)).headline,
            "errors": [
                [{"kind": error.category.value, "sentence": error.sentence} for error in each.errors] for each in read
            ],
            "scores": {
                line.name: {
                    "values": [None if math.isnan(value) else value for value in line.values],
                    "better": line.spec.headline.better,
                    "prefers": line.verdict,
                    "why_unscored": line.reason,
                }
                for line in lines
            },
        }

    return compare


def _scope(reference: str, candidates: Sequence[str]) -> Iterator[str]:
    """Says of each report that most metrics cannot read why, and what becomes of it."""
    if why := out_of_scope(read_report(reference).scope, CHEST_XRAY):
        yield f"The reference {why}. Most metrics support {CHEST_XRAY} only and leave such a pair unscored."
    known = read_report(reference, AUTO)
    modality = all_packs()[known.pack].title
    if out_of_scope(known.scope, modality):
        return
    for number, text in enumerate(candidates, 1):
        if why := out_of_scope(read_report(text, known.pack).scope, modality):
            yield (
                f"Candidate {number} {why}. Metrics that support {modality} give it the worse of two scores, its own "
                "and that of an empty report."
            )


@cache
def opened() -> tuple[tuple[str, str, str], ...]:
    """The answer to the example that the page opens with."""
    reference, *candidates = EXAMPLES[OPENING]
    return tuple(_answer(reference, candidates, NOBODY))


def _opening() -> Iterator[tuple[str, str, str]]:
    """The same for a visitor: its first part while the metrics load."""
    if not _ready.is_set():
        reference, *candidates = EXAMPLES[OPENING]
        yield next(_answer(reference, candidates, NOBODY))
    yield opened()[-1]


_ready = threading.Event()  # every metric has been loaded


def _warm_up() -> None:
    """Loads what the metrics read with, and scores the example, while the first visitor's page opens."""
    opened()
    _ready.set()


def _check_judges(names: Sequence[str]) -> dict[str, str]:
    """The judges by the name that visitors see; what they are asked is cached nowhere."""
    titled = {}
    for name in filter(None, map(str.strip, names)):
        parsed = parse_name(name)
        if not parsed.spec.judge:
            raise InputError(f"{name} is not a judge with an engine; name it as green@openai:my-model?base_url=...")
        uncached = replace(parsed, options={**parsed.options, "cache": "no"})
        titled[title_of(name)] = str(uncached)
    return titled


def _head() -> str:
    lead = (
        "Two machine-written reports compared with the radiologist's by every metric: which one each metric "
        "prefers, and how well the metric has agreed with radiologists."
    )
    return f'<div class="rrg"><h1>{TITLE}</h1><p class="lead">{lead}</p></div>'


def _about() -> str:
    card = files("rrgmetrics.spaces").joinpath("repositories", "compare", "README.md").read_text(encoding="utf-8")
    return card.split("\n---\n", 1)[-1].strip().partition("\n")[2].strip()
