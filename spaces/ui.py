"""A Gradio page for one metric, made from its spec and its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rrgmetrics.errors import InputError, MissingExtraError
from rrgmetrics.hub import module_path
from rrgmetrics.runner import score
from rrgmetrics.specs import Key, MetricSpec, get_spec

if TYPE_CHECKING:
    import gradio

EXAMPLES = [
    [
        "The heart is mildly enlarged. Small left pleural effusion. No pneumothorax.",
        "Mild cardiomegaly. Small left effusion.",
    ],
    ["Right lower lobe opacity, worrisome for pneumonia.", "The lungs are clear. No acute findings."],
]
HEADERS = ["score", "value", "range", "better"]


def metric_space(name: str) -> gradio.Blocks:
    """The page of a metric: two reports in, scores out, the card below.

    Args:
        name: A metric of the spec table.

    Returns:
        A Gradio app; call `.launch()`.

    Raises:
        InputError: Unknown metric.
        MissingExtraError: Gradio is not installed.
    """
    spec = get_spec(name)
    try:
        import gradio
    except ImportError as error:
        raise MissingExtraError("Spaces need Gradio 6: pip install 'rrgmetrics[spaces]'.") from error

    def answer(reference: str, candidate: str) -> tuple[list[list[str]], str]:
        try:
            return score_table(spec, reference, candidate)
        except InputError as error:
            raise gradio.Error(str(error)) from error

    with gradio.Blocks(title=f"{spec.title} for radiology reports", analytics_enabled=False) as page:
        gradio.Markdown(f"# {spec.title}\nHow close is a machine's report to the radiologist's?")
        with gradio.Row():
            reference = gradio.Textbox(label="Radiologist's report (reference)", lines=6)
            candidate = gradio.Textbox(label="Machine's report (candidate)", lines=6)
        button = gradio.Button("Score", variant="primary")
        table = gradio.Dataframe(headers=HEADERS, interactive=False, label="Scores")
        signature = gradio.Textbox(label="Signature: what ran", interactive=False, buttons=["copy"])
        button.click(answer, [reference, candidate], [table, signature], api_name="score")
        gradio.Examples(EXAMPLES, [reference, candidate])
        with gradio.Accordion("About this metric", open=False):
            gradio.Markdown(card_text(spec))
    return page


def score_table(spec: MetricSpec, reference: str, candidate: str) -> tuple[list[list[str]], str]:
    """Rows of (score, value, range, better) for one pair, and the signature."""
    result = score(spec.name, predictions=[candidate], references=[reference], progress=False)[spec.name]
    rows = [[key.title, f"{result.scores[key.name]:.4f}", _range(key), _direction(key)] for key in spec.keys]
    return rows, result.signature


def card_text(spec: MetricSpec) -> str:
    """The metric card without its front matter."""
    text = (module_path(spec.name) / "README.md").read_text(encoding="utf-8")
    return text.split("\n---\n", 1)[-1].strip()


def _range(key: Key) -> str:
    low, high = key.range
    return f"{low:g} to {high:g}"


def _direction(key: Key) -> str:
    return "higher" if key.higher_is_better else "lower"
