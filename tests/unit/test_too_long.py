"""Reports with more tokens than a model reads: cut as its authors cut them, but counted, and said once."""

import json

import pytest

import rrgmetrics
from rrgmetrics.backends.encoder import BUNDLED, FINDINGS, BySentence, load_encoder
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.green import GreenProtocol
from rrgmetrics.scoring import signature

NAMES = ["bertscore", "radeval_bertscore", "semb_score", "crepe"]
FINDINGS_OF_FILMS = ("An opacity", "A scar", "A granuloma", "A bulla", "A nodule", "A cavity", "A mass", "Collapse")
PLACES = [f"the {side} {zone} zone" for side in ("right", "left") for zone in ("upper", "middle", "lower")]
RIBS = [f"The {side} {n}th rib is fractured." for side in ("right", "left") for n in range(4, 11)]
BODY = " ".join([*(f"{name} is seen in {place}." for name in FINDINGS_OF_FILMS for place in PLACES), *RIBS])
LONG = (f"{BODY} Large right tension pneumothorax.", f"{BODY} Clear lungs.")
SHORT = ("Small left effusion.", "Small right effusion.")


def score(names, *pairs, **options):
    references, candidates = zip(*(pair[:2] for pair in pairs), strict=True)
    return rrgmetrics.score(names, predictions=candidates, references=references, progress=False, **options)


def cut(result):
    return signature.parse(result.signature)[1]["too_long"]


@pytest.mark.parametrize("name", NAMES)
def test_a_long_pair_is_counted_and_said_once(name, caplog):
    result = score(name, LONG, SHORT, SHORT)[name]
    assert cut(result) == ("2" if name == "semb_score" else "1")  # which counts reports
    assert caplog.text.count("the rest of them was not compared") == 1
    assert f"{name} (" in caplog.text


@pytest.mark.parametrize("name", [*NAMES, "radcliq"])
def test_short_pairs_are_not_counted(name, caplog):
    result = score(name, SHORT, ("", "Clear."), missing="empty")[name]
    assert cut(result) == "0"
    assert "the rest of them" not in caplog.text


def test_radcliq_reads_long_reports_whole():
    result = score("radcliq", (LONG[0], BODY), SHORT)["radcliq"]
    assert cut(result) == "0"
    assert result.per_pair["radcliq_bertscore"][0] < 1  # the pneumothorax behind 512 tokens
    assert set(result.scores) == {key.name for key in result.spec.keys}


def test_by_sentence_only_a_long_sentence_is_cut():
    encoder = BySentence(load_encoder(FINDINGS, device="cpu"))
    readings = encoder.annotate(["the end. " * 600, "the " * 600 + ". The end."])
    assert [reading.too_long for reading in readings] == [False, True]


@pytest.mark.parametrize("checkpoint", [BUNDLED, FINDINGS])
def test_a_text_that_just_fits_is_not_cut(checkpoint):
    encoder = load_encoder(checkpoint, device="cpu")
    n = encoder.max_length - 2  # beside the tokens that open and close
    readings = encoder.annotate(["the " * n, "the " * (n + 1)])
    assert [reading.too_long for reading in readings] == [False, True]
    assert [len(reading.ids) for reading in readings] == [encoder.max_length] * 2


def test_workers_say_it_too(caplog):
    results = score(["bertscore"], LONG, *[SHORT] * 3, workers=2)
    assert cut(results["bertscore"]) == "1"
    assert caplog.text.count("the rest of them was not compared") == 1


def test_pairs_that_a_judge_is_asked_about_in_part_are_counted_and_said_once(tmp_path, caplog):
    pairs = [Pair("Cardiomegaly.", "Cardiomegaly. " + "Clear lungs. " * n + "Dissection.") for n in (1, 200, 300)]
    reply = "[Clinically Significant Errors]:\nNone\n\n[Matched Findings]:\n1. A"
    rows = [
        {"protocol": prompt.protocol, "prompt_sha256": prompt.sha256, "reply": reply, "engine": "x", "parameters": {}}
        for pair in pairs
        for prompt in GreenProtocol().prompts(pair)
    ]
    file = tmp_path / "replies.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    name = f"green@replies:{file}"
    result = score(name, *pairs, SHORT)[name]
    assert result.n_unscored == 1  # which no reply was recorded of
    assert cut(result) == "2"
    assert result.scores["green"] == 1
    assert caplog.text.count("the rest of them was not compared") == 1
    assert f"{name} (2)" in caplog.text


def test_the_bundled_green_reads_all(caplog):
    result = score("green", LONG, LONG)["green"]
    assert "too_long" not in result.signature
    assert "the rest of them" not in caplog.text
