"""`synthesize --image-model`: a model on a server is shown each study's picture and writes its report."""

from __future__ import annotations

import base64
import json

import pytest

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.judges.base import Message, Prompt
from rrgmetrics.synthesis.image_reports import QUESTION, read_images, write_image_reports
from rrgmetrics.synthesis.pairs import read_rows

REPORTS = {"1": "Small left pleural effusion.", "2": "The lungs are clear.", "3": "Mild cardiomegaly.", "4": "Edema."}
PICTURES = {"1": b"\x89PNG one", "2": b"\xff\xd8 two", "3": b"\x89PNG three"}
WRITTEN = {b"\x89PNG one": "Large left pleural effusion.", b"\xff\xd8 two": "Pneumothorax.", b"\x89PNG three": " "}


@pytest.fixture
def table(tmp_path):
    rows = []
    (tmp_path / "pictures").mkdir()
    for study, report in REPORTS.items():
        name = f"pictures/{study}.{'JPG' if study == '2' else 'png'}" if study in PICTURES else ""
        if name:
            (tmp_path / name).write_bytes(PICTURES[study])
        rows.append({"study_id": study, "report": report, "image": name})
    file = tmp_path / "studies.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture
def model(loopback, tmp_path):
    """A server that knows the pictures."""

    def behave(request, tries):
        picture, question = json.loads(request.prompt)
        kind, data = picture["image_url"]["url"].split(";base64,")
        shown = base64.b64decode(data)
        assert (question["text"], picture["type"]) == (QUESTION, "image_url")
        assert kind == ("data:image/jpeg" if shown == PICTURES["2"] else "data:image/png")
        request.say(WRITTEN[shown])

    loopback.reset(behave)
    return f"openai:vision?base_url={loopback.url}&cache={tmp_path / 'kept'}"


def test_outputs_are_what_the_model_writes_of_each_picture(table, model, loopback):
    images = read_images(str(table), "image")
    assert list(images) == ["1", "2", "3"]
    written = write_image_reports(images, model, progress=False)
    assert written == {"1": ["Large left pleural effusion."], "2": ["Pneumothorax."]}  # of the third nothing came
    asked = len(loopback.bodies)
    assert write_image_reports(images, model, progress=False) == written
    assert len(loopback.bodies) == asked  # replies are kept, by the content of the picture
    images["1"].write_bytes(PICTURES["3"])
    assert write_image_reports(images, model, progress=False) == {"2": ["Pneumothorax."]}


def test_the_command_pairs_them(table, model, tmp_path):
    output = tmp_path / "pairs.parquet"
    arguments = ["synthesize", str(table), "--ways", "generated", "--pairs", "2", "--output", str(output)]
    named = ["--image-model", model, "--images", "image", "--validation", "0", "--test", "0", "--no-progress"]
    assert main([*arguments, *named]) == 0
    pairs = {(row.reference, row.candidate) for row in read_rows(output)}
    assert pairs == {(REPORTS["1"], "Large left pleural effusion."), (REPORTS["2"], "Pneumothorax.")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--image-model", "openai:m"], "must be given together"),
        (["--images", "image"], "must be given together"),
        (["--image-model", "hf:lab/model", "--images", "image"], "cannot receive images"),
        (["--image-model", "openai:m", "--images", "picture"], "has no column 'picture'"),
        (["--image-model", "openai:m", "--images", "report"], "does not exist"),
    ],
)
def test_wrong_use(table, tmp_path, capsys, arguments, message):
    assert main(["synthesize", str(table), "--output", str(tmp_path / "x.parquet"), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_files_that_are_no_pictures(table, tmp_path):
    (tmp_path / "pictures" / "1.png").rename(tmp_path / "pictures" / "1.dcm")
    table.write_text(table.read_text().replace("1.png", "1.dcm"))
    with pytest.raises(InputError, match=r"is not an image that the model accepts; use \.png, \.jpg, \.jpeg"):
        read_images(str(table), "image")


def test_questions_without_a_picture_keep_their_identity(tmp_path):
    """Replies that were recorded before are still found."""
    prompt = Prompt((Message("user", "a"),), "green@1")
    assert prompt.sha256 == "413560d7ffaa60975d0fc62c3c25d0007133070f86075d76c8555f54ecf674b7"
    assert prompt.conversation == [{"role": "user", "content": "a"}]
