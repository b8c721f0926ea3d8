"""What shows a score gets the readings from the scoring: each text is read once."""

from __future__ import annotations

import pytest

from rrgmetrics.backends.reader import Readings
from rrgmetrics.cli import main
from rrgmetrics.files import write_table
from rrgmetrics.reading import read, reader
from rrgmetrics.reading.engine import read_with

REFERENCES = [f"Nodule of {size} mm. No pneumothorax." for size in range(3, 15)]
SYSTEMS = {
    "one": [text.replace("Nodule", "Right nodule") for text in REFERENCES],
    "two": [f"{text} Small left pleural effusion." for text in REFERENCES],
}


@pytest.fixture
def texts_read(monkeypatch):
    """The texts that the reader reads, in order."""
    texts: list[str] = []

    def noting(lexicon, text):
        texts.append(text)
        return read_with(lexicon, text)

    monkeypatch.setattr(reader, "read_with", noting)
    return texts


@pytest.fixture
def files(tmp_path):
    """The file of the references, and those of the systems."""
    for name, texts in {"references": REFERENCES, **SYSTEMS}.items():
        columns = {"study_id": list(map(str, range(len(texts)))), "report": texts}
        write_table(tmp_path / f"{name}.csv", columns, force=True)
    return [str(tmp_path / f"{name}.csv") for name in ("references", *SYSTEMS)]


@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("metrics", [["finding_errors", "bleu"], ["bleu"]])
def test_page_of_comparison_reads_each_text_once(tmp_path, files, texts_read, metrics, trivial):
    page = tmp_path / "page.html"
    options = [] if trivial else ["--no-trivial"]
    command = ["compare", "--metrics", *metrics, "--references", files[0], "--systems", *files[1:], "--html", str(page)]
    assert main([*command, *options, "--trials", "100", "--no-progress"]) == 0
    assert page.stat().st_size > 10_000
    assert {*REFERENCES, *SYSTEMS["one"], *SYSTEMS["two"]} <= {*texts_read}
    assert len(texts_read) == len({*texts_read})


def test_page_of_scores_reads_each_text_once(tmp_path, files, texts_read):
    page = tmp_path / "page.html"
    command = ["score", "--metrics", "finding_errors", "crepe", "--references", files[0], "--predictions", files[1]]
    assert main([*command, "--html", str(page), "--trials", "100", "--no-progress"]) == 0
    assert len(texts_read) == len({*texts_read})


def test_readings_follow_the_kind_of_report():
    text = "CT chest with contrast. There is a 6 mm nodule in the right upper lobe. No pulmonary embolism."
    readings = Readings()
    assert readings.read(text) == read(text, "auto")
    assert readings.read(text).pack == "chest_ct"
    assert readings.read(text, "chest_xray").pack == "chest_xray"
    assert readings.read(text) is readings.read(text)
