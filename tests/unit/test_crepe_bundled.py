"""What the bundled CREPE makes of reports: the same, a false finding, and a finding told twice."""

from __future__ import annotations

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics.backends.crepe import FOLDERS, load_crepe, nearly_whole, once
from rrgmetrics.backends.crepe.model import CrepeSettings
from rrgmetrics.errors import BackendError
from rrgmetrics.training.config import CrepeConfig, read_config

REPORT = "FINDINGS: There is a small left pleural effusion. The heart is enlarged.\nIMPRESSION: Small left effusion."


def scores(reference: str, *candidates: str, name: str = "crepe") -> list[float]:
    result = rrgmetrics.load(name).compute(
        predictions=list(candidates), references=[reference] * len(candidates), per_pair=True, progress=False
    )
    return result["crepe_per_pair"]


def test_reports_that_affirm_the_same_are_free_of_errors():
    assert scores(REPORT, REPORT, f"{REPORT} No pneumothorax.", REPORT.replace(".", " .").upper())[:2] == [0, 0]
    assert scores("Clear lungs.", "No pleural effusion.", "Normal heart. Clear lungs.") == [0, 0]
    empty = rrgmetrics.score("crepe", predictions=[""], references=[""], missing="empty", progress=False)["crepe"]
    assert empty.per_pair["crepe"].tolist() == [0]


def test_small_doubts_are_no_error_and_an_error_is_one():
    changed = [
        REPORT.replace("left", "right"),
        REPORT.replace("small left pleural effusion", "large left pleural effusion").replace("Small", "Large"),
        REPORT.replace("The heart is enlarged.", "The heart is enlarged. Fracture of the right clavicle."),
        "There is a small left pleural effusion.",
    ]
    found = rrgmetrics.score(["crepe"], predictions=changed, references=[REPORT] * 4, progress=False)["crepe"]
    kinds = [found.per_pair[f"crepe_{kind}"] for kind in ("incorrect_location", "incorrect_severity", "false_finding")]
    for i, counts in enumerate([*kinds, found.per_pair["crepe_missing_finding"]]):
        assert counts[i] == found.per_pair["crepe"][i] == 1
    assert scores(REPORT, "Little left effusion, heart enlarged.") == [0]


def test_counts_near_a_whole_number():
    counts = np.array([[0.0, 0.2, 0.35, 0.5], [0.8, 1.1, 2.9, np.nan]])
    read = nearly_whole(counts, 0.2)
    assert read[0].tolist() == pytest.approx([0, 0, 0.25, 0.5])
    assert read[1, :3].tolist() == pytest.approx([1, 1, 3])
    assert np.isnan(read[1, 3])
    assert nearly_whole(counts[0], 0).tolist() == counts[0].tolist()
    settings = CrepeSettings(crepe_whole=0.2)
    assert CrepeSettings.read(settings.written()) == settings
    assert read_config(CrepeConfig, "aligned").whole == load_crepe().network.settings.crepe_whole
    with pytest.raises(BackendError, match=r"crepe_whole is 0\.5; it is a number"):
        CrepeSettings(crepe_whole=0.5)


def test_one_checkpoint_ships_and_is_the_encoder_too():
    candidate = REPORT.replace("left", "right")
    names = ["crepe", "semb_score", "radeval_bertscore", "ratescore", "radcliq"]
    results = rrgmetrics.score(names, predictions=[candidate], references=[REPORT], progress=False)
    assert all("model:crepe-bundled@3" in result.signature for result in results.values())
    shipped = FOLDERS["crepe-bundled@3"].parent
    assert [path.parent.name for path in shipped.glob("crepe*/*.safetensors")] == ["crepe-bundled-3"]


def test_a_finding_told_again_in_the_impression_counts_once():
    right = "FINDINGS: There is a small right pleural effusion. Large heart.\nIMPRESSION: Small right effusion."
    told_once, twice = scores("Small left pleural effusion. Large heart.", right.split("\n")[0], right)
    assert twice < told_once + 0.5
    found = rrgmetrics.load("crepe", "?explain=yes").compute(predictions=[right], references=[REPORT], per_pair=True)
    shares = sum(word["rate"] for word in found["crepe_explained"][0])
    assert shares == pytest.approx(found["crepe_per_pair"][0], rel=0.2)  # shares below 0.01 are not told


def test_once_on_paper():
    rates = np.array([[0.5, 0.1], [0.4, 0.0], [0.3, 0.2], [0.2, 0.2], [0.1, 0.0]])
    told = [(0, 0), (0, 0), (0, 3), (1, 3), (-1, -1)]  # finding 0 in sentences 0 and 3, finding 1 in sentence 3
    assert once(rates, told).tolist() == [[0.5, 0], [0.4, 0], [0, 0.2], [0.2, 0.2], [0.1, 0]]
    assert once(rates, []).tolist() == rates.tolist()
    assert once(rates[:2], told).tolist() == rates[:2].tolist()  # a text that was cut
