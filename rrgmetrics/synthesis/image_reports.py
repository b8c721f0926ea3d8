"""Candidates that an image model writes: it is shown each study's picture and asked for a report (CREPE, A.1.1).

Cho et al. (2025) ask CheXagent-8b: `{image} Provide a radiological report for the following image. ASSISTANT:`. The
marks before and behind the sentence are CheXagent's own form of a conversation, which a server's chat template writes;
the sentence is what is asked here, of any model that a server with OpenAI's interface shows pictures to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.judges.base import Message, Prompt, engine_for
from rrgmetrics.judges.engines.named import engine_named, parse_engine
from rrgmetrics.synthesis.sources import ID_COLUMN

QUESTION = "Provide a radiological report for the following image."
PROTOCOL = "image_report@1"
MAX_TOKENS = 1024
OPTION = "--image-model"


def read_images(source: str, column: str, *, id_column: str | None = None) -> dict[str, Path]:
    """Reads where the picture of each study is.

    Args:
        source: A table of studies: CSV, JSONL, Parquet.
        column: Its column of paths, which are relative to the table's folder; studies with a blank cell are left out.
        id_column: Column that names the study; None: `study_id`.

    Raises:
        InputError: A table or column that is not there, or a picture that is not there or neither PNG nor JPEG.
    """
    images: dict[str, Path] = {}
    id_column = id_column or ID_COLUMN
    for unit, number, row in files.rows_of(source, [id_column, column]):
        where = f"{source}, {unit} {number}"
        for name in (id_column, column):
            if name not in row:
                raise InputError(f"{where} has no column {name!r}; it has: {', '.join(map(repr, row))}.")
        text = "" if row[column] is None else str(row[column]).strip()
        if text:
            images[str(row[id_column])] = _checked(Path(source).parent / text, where)
    return images


def _checked(path: Path, where: str) -> Path:
    if not path.is_file():
        raise InputError(f"{where}: the image {path} does not exist.")
    if path.suffix.lower() not in Prompt.IMAGES:
        raise InputError(
            f"{where}: {path.name} is not an image that the model accepts; use {', '.join(Prompt.IMAGES)}."
        )
    return path


def write_image_reports(images: Mapping[str, Path], model: str, *, progress: bool = True) -> dict[str, list[str]]:
    """Asks a model for a report of each picture; replies are kept, so that a second call asks only for what is missing.

    Args:
        images: By study.
        model: `openai:<model>` with options, such as `openai:my-model?base_url=http://127.0.0.1:8000/v1`, or
            `replies:<file>`.
        progress: Whether to show a bar.

    Returns:
        By study, as `read_outputs` returns a report generator's; studies without a reply are left out.

    Raises:
        InputError: An engine that shows no pictures, or an option that cannot be used.
        BackendError: Nobody answers.
        MissingExtraError: The engine's package is not installed.
    """
    kind = engine_for(parse_engine(model, OPTION).config).kind
    if kind not in ("openai", "replies"):
        raise InputError(f"{OPTION} {model!r} cannot receive images; serve the model and name it openai:<model>.")
    replies = engine_named(model, OPTION, progress=progress).answer(list(_prompts(images.values())))
    texts = {study: (reply.text or "").strip() for study, reply in zip(images, replies, strict=True)}
    return {study: [text] for study, text in texts.items() if text}


def _prompts(images: Iterable[Path]) -> Iterable[Prompt]:
    for image in images:
        yield Prompt((Message("user", QUESTION),), PROTOCOL, max_tokens=MAX_TOKENS, image=image)
