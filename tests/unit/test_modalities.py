"""Which pack each pair is read with: it follows from the reference, or from `modality`, and every output says so."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import rrgmetrics
from rrgmetrics.baselines.abnormal import is_abnormal
from rrgmetrics.cli import main
from rrgmetrics.comparing import compare, explain
from rrgmetrics.errors import InputError
from rrgmetrics.reading import Reader, read
from rrgmetrics.reporting.report.sections import groups
from rrgmetrics.reporting.stress_card import stress_block
from rrgmetrics.scoring.results import Result
from rrgmetrics.scoring.streaming import score_stream
from rrgmetrics.specs import SPECS

CT = (
    "CT of the chest with intravenous contrast. Axial images. A 6 mm ground-glass nodule in the right upper lobe. "
    "Centrilobular emphysema. No filling defect."
)
XRAY = "Small right effusion. No pneumothorax. Heart size is normal."
SPINE = "MRI of the lumbar spine. Disc bulge at L4 L5 touches the thecal sac."
PAIRS = [(CT, "Nodule in the left upper lobe."), (XRAY, XRAY), (SPINE, "Disc bulge."), (CT, "")] * 2


def score(name: str, pairs: list[tuple[str, str]] = PAIRS) -> Result:
    references, predictions = zip(*pairs, strict=True)
    scored = rrgmetrics.score(name, references=list(references), predictions=list(predictions), progress=False)
    return scored[name]


def test_each_pair_is_read_with_the_pack_of_its_reference(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "rrgmetrics"):
        result = score("finding_errors?explain=yes")
    assert result.details["finding_errors_modality"] == ["chest_ct", "chest_xray", "chest_xray", "chest_ct"] * 2
    assert result.modalities == {"chest_ct": 4, "chest_xray": 4}
    assert "|modality:auto|" in result.signature
    assert "|pack:chest_ct+chest_xray|" in result.signature
    assert "this is one score over several kinds of reports: 4 chest CT reports in English, 2 chest" in caplog.text
    assert list(result.unscored_counts) == ["the reference looks like a spine report"]
    for (reference, candidate), number, told in zip(
        PAIRS, result.per_pair["finding_errors"], result.details["finding_errors_explained"], strict=True
    ):
        if reference != SPINE:
            alone = explain(reference=reference, candidate=candidate)
            assert (alone.cost(), [error.sentence for error in alone.errors]) == (
                number,
                [each["sentence"] for each in told],
            )


@pytest.mark.parametrize("way", ["", "--workers 2", "--stream --output s.parquet"])
def test_every_way_of_scoring_counts_the_same_kinds(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = [*PAIRS[:4], ("", XRAY)]
    pd.DataFrame(pairs, columns=["reference", "candidate"]).to_csv("pairs.csv", index=False)
    assert main(["score", "pairs.csv", "--metrics", "finding_errors", "--no-trivial", *way.split()]) == 0
    kinds = "kinds of reports: 2 chest CT reports in English, 1 chest X-ray report in English. finding_errors?"
    assert kinds in caplog.text


def test_tables_and_pages_name_the_kinds_of_reports(caplog: pytest.LogCaptureFixture) -> None:
    references, predictions = zip(*PAIRS, strict=True)
    texts = {"a": list(predictions), "b": list(references)}
    with caplog.at_level(logging.WARNING, "rrgmetrics"):
        compared = rrgmetrics.compare(texts, list(references), metrics=["finding_errors", "bleu"], progress=False)
    assert "finding_errors?modality=chest_ct reads all as one kind." in caplog.text
    kinds = "4 chest CT reports in English, 2 chest X-ray reports in English."
    line = f"Finding errors: this is one score over several kinds of reports: {kinds}"
    result = compared.results["a"]["finding_errors"]
    for shown in (compared.to_latex(), compared.to_markdown(), compared.to_html(), result.to_latex()):
        assert line in shown
    one_kind = rrgmetrics.compare(
        texts, list(references), metrics=["finding_errors?modality=chest_ct", "bleu"], progress=False
    )
    assert "several kinds" not in one_kind.to_latex() + one_kind.to_html()


@pytest.mark.parametrize("name", ["f1_radbert_ct", "nodule_f1"])
def test_metrics_of_chest_ct_score_radiographs_without_a_title_and_their_cards_say_so(name: str) -> None:
    titled = "PA and lateral chest radiograph. " + XRAY
    result = score(name, [(titled, titled), (SPINE, ""), ("", ""), (XRAY, XRAY)])
    assert list(result.unscored_reasons) == [0, 1, 2]
    assert result.unscored_reasons[0] == "the reference looks like a chest X-ray report"
    assert 'unscored only if its title says so ("Chest X-ray.")' in stress_block(SPECS[name])


@pytest.mark.parametrize("name", ["finding_errors", "finding_score", "green", "crimson", "radgraph_f1"])
def test_a_pack_that_is_named_reads_everything(name: str) -> None:
    result = score(f"{name}?modality=chest_ct", PAIRS[:2])
    assert "|modality:chest_ct|" in result.signature
    assert "pack:" not in result.signature
    assert result.modalities == {"chest_ct": 2}
    assert result.n_unscored == 0
    assert score(f"{name}?modality=chest_xray", PAIRS[:2]).n_unscored == 1


def test_a_pack_that_does_not_exist_is_refused_before_any_work() -> None:
    with pytest.raises(
        InputError, match=r"finding_errors\?modality='chest_mri' is unknown; choose one of auto, chest_xray"
    ):
        rrgmetrics.prepare("finding_errors?modality=chest_mri")
    with pytest.raises(InputError, match="modality='chest_mri' is unknown"):
        explain(reference=XRAY, candidate=XRAY, modality="chest_mri")


def test_a_corpus_of_one_kind_says_so_in_the_signature_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "rrgmetrics"):
        result = score("finding_errors", [(XRAY, XRAY)])
    assert "|pack:chest_xray|" in result.signature
    assert list(result.details) == []
    assert caplog.text == ""
    assert score("finding_errors", [(CT, CT)]).modalities == {"chest_ct": 1}
    assert score("bleu", [(CT, CT)]).modalities == {}


def test_parts_of_different_kinds_join() -> None:
    whole, parts = score("finding_errors"), [score("finding_errors", PAIRS[1:2]), score("finding_errors", PAIRS[:1])]
    joined = Result.merge(parts)
    assert joined.modalities == {"chest_xray": 1, "chest_ct": 1}
    assert "|pack:chest_ct+chest_xray|n:2|" in joined.signature
    rows = [{"reference": reference, "candidate": candidate} for reference, candidate in PAIRS]
    total = score_stream("finding_errors", rows, progress=False)["finding_errors"]
    assert (total.scores, total.signature, total.modalities) == (whole.scores, whole.signature, whole.modalities)


def test_readers_in_threads_know_nothing_of_one_another() -> None:
    xray, ct = Reader(), Reader("chest_ct")
    alone = [xray.read(CT), ct.read(CT)]
    assert alone[0].scope.kind == alone[1].scope.kind == "chest ct"
    with ThreadPoolExecutor(4) as threads:
        for text in (CT, XRAY):
            read_texts = list(threads.map(lambda reader: reader.read(text), [xray, ct] * 200))  # noqa: B023
            assert [reading.pack for reading in read_texts] == ["chest_xray", "chest_ct"] * 200
            assert read_texts[::2] == [xray.read(text)] * 200
            assert read_texts[1::2] == [ct.read(text)] * 200


def test_readings_of_two_packs_are_compared_with_the_references() -> None:
    reference = read(CT, "auto")
    assert (reference.pack, reference.scope.kind, read(CT).scope.kind) == ("chest_ct", "chest ct", "chest ct")
    assert compare(reference, read(CT)).total == 0
    assert compare(reference, read(XRAY)).pack == "chest_ct"
    assert read(XRAY, "chest_ct").scope.kind == "chest ct"
    assert compare(read(XRAY, "auto"), read(XRAY, "chest_ct")).pack == "chest_xray"


def test_pages_group_errors_of_every_pack_and_know_what_is_abnormal() -> None:
    head = "CT head. Axial images. Left subdural hematoma. Basal cisterns are patent."
    (line,), longest = groups({"system": {0: explain(reference=head, candidate="CT head. No hemorrhage.")}})
    assert (line.title, longest) == ("Hemorrhage", 100.0)
    assert is_abnormal(read(head, "auto"))
    assert not is_abnormal(
        read("CT head. Axial images. The ventricles are normal. No intracranial hemorrhage.", "auto")
    )
