"""Presets stand for several metrics wherever metrics are named, and run in one pass."""

from __future__ import annotations

from collections import Counter

import pytest

import rrgmetrics
from rrgmetrics import InputError, files
from rrgmetrics.backends.encoder import BUNDLED, FINDINGS
from rrgmetrics.callbacks.schedule import parse_turns
from rrgmetrics.callbacks.scoring import parse_metrics
from rrgmetrics.cli import main
from rrgmetrics.reading.lexicon import all_packs
from rrgmetrics.scoring import prepared, runner
from rrgmetrics.scoring.defaults import OF_PACKS, default_metrics, fitting_metrics
from rrgmetrics.specs import PRESETS
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils import progress

WHOLE_TABLE = {  # backends of the whole table: what reads reports, each shared by all who need it
    "reader:chest_xray:",
    f"encoder:{BUNDLED}:1",
    f"encoder:{FINDINGS}:3",
    "ngrams:whitespace",
    "rouge:stem",
    "words:wordpunct",
}


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_names_metrics(preset):
    assert list(prepared.parse_names(preset)) == list(PRESETS[preset])
    assert list(parse_metrics([preset])) == list(PRESETS[preset])


def test_presets_beside_metrics():
    named = prepared.parse_names(["rouge", "paper-table", "green"])
    assert next(iter(named)) == "rouge"
    assert set(named) == {*PRESETS["paper-table"], "green"}
    with pytest.raises(InputError, match="'paper-table' is named twice"):
        prepared.parse_names(["paper-table", "paper-table"])
    with pytest.raises(InputError, match="is a preset of several metrics; name one metric: bleu"):
        parse_name("paper-table")
    with pytest.raises(InputError, match="did you mean paper-table"):
        prepared.parse_names("paper-tabel")


def test_presets_in_schedules():
    turns = parse_turns({"paper-table": "every:5", "rouge": "every:1"})
    assert (turns["bleu"].every, turns["rouge"].every) == (5, 1)
    assert list(parse_turns(["paper-table"])) == list(PRESETS["paper-table"])


def test_paper_table_reads_each_text_once_under_one_display(monkeypatch, reports):
    from rrgmetrics.backends import encoder, reader, tokens

    seen: Counter[tuple[str, str]] = Counter()
    displays = []

    def counting(annotate):
        def run(self, texts):
            seen.update((self.key, text) for text in texts)
            return annotate(self, texts)

        return run

    def counted(*arguments, made=progress.Display):
        displays.append(made(*arguments))
        return displays[-1]

    monkeypatch.setattr(runner, "BLOCK", 5)
    monkeypatch.setattr(progress, "Display", counted)
    for backend in (encoder.Encoder, tokens.TextFunction, reader.ReaderBackend):
        monkeypatch.setattr(backend, "annotate", counting(backend.annotate))
    candidates, references = reports.altered + reports.references[::-1], reports.references * 2
    results = rrgmetrics.score("paper-table", predictions=candidates, references=references)
    assert list(results) == [name for name in PRESETS["paper-table"] if name != "f1_radbert_ct"]
    texts = {*candidates, *references}
    assert {key for key, text in seen if text in texts} == WHOLE_TABLE
    assert {n for (_, text), n in seen.items() if text in texts} == {1}
    assert all(seen[key, text] == 1 for key in WHOLE_TABLE for text in texts)
    (display,) = displays
    assert display.done == display.total == len(set(zip(candidates, references, strict=True))) * len(results)
    assert all(line.is_done for line in display.lines.values())


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset not in ("paper-table", *OF_PACKS.values())])
def test_published_presets_run_on_the_checkpoints_they_name(preset, reports, published_checkpoints):
    results = rrgmetrics.score(
        preset, predictions=reports.altered[:3], references=reports.references[:3], progress=False
    )
    assert list(results) == list(PRESETS[preset])
    for name, result in results.items():
        is_judge = parse_name(name).whole.spec.judge
        assert result.n_unscored == (3 if is_judge else 0)  # their stand-ins say nothing
        assert "model:minilm" not in result.signature
        assert "model:crepe-bundled" not in result.signature


KINDS = {
    "chest-xray": "Small left pleural effusion. No pneumothorax.",
    "chest-ct": "CT chest with contrast. There is a 6 mm nodule in the right upper lobe.",
    "brain-ct": "CT head without contrast. No intracranial haemorrhage.",
    "mammography": "Bilateral screening mammogram. Scattered calcifications. BI-RADS 2.",
}


@pytest.mark.parametrize("preset", KINDS)
def test_without_names_metrics_fit_the_kind_of_report(preset):
    assert set(OF_PACKS) == set(all_packs())
    report = KINDS[preset]
    assert default_metrics([report, report, "hello"]) == PRESETS[preset]
    found = rrgmetrics.compare({"ours": [report] * 2}, [report] * 2, trivial=False, trials=10, progress=False)
    assert tuple(found["ours"]) == PRESETS[preset]
    assert {name: result.n_unscored for name, result in found["ours"].items() if result.n_unscored} == {}


def test_without_reports_the_default_is_chest_xray():
    assert default_metrics(["", " "]) == default_metrics([]) == PRESETS["chest-xray"]


OF_FILMS = ["chexbert_f1", "semb_score", "radcliq", "ratescore", "srr_bert_f1", "temporal_f1", "radeval_bertscore"]


@pytest.mark.parametrize(
    ("kind", "metrics", "left_out"),
    [
        ("chest-xray", ["paper-table"], ["f1_radbert_ct"]),
        ("chest-xray", ["paper-table", "f1_radbert_ct"], []),
        ("chest-xray", ["chest-ct", "nodule_f1"], ["f1_radbert_ct"]),
        ("chest-xray", ["bleu", "f1_radbert_ct", "all"], []),
        ("chest-ct", ["paper-table"], OF_FILMS),
        ("chest-ct", ["radeval"], []),  # published checkpoints score every pair
    ],
)
def test_presets_leave_out_what_does_not_fit_the_reports(kind, metrics, left_out, caplog):
    names = fitting_metrics(metrics, [KINDS[kind]])
    assert [name for name in prepared.parse_names(metrics) if name not in names] == left_out
    assert len(caplog.messages) == bool(left_out)
    assert all(name in caplog.text for name in left_out)


def test_compare_leaves_out_of_a_preset_what_does_not_fit(tmp_path, monkeypatch, capsys, caplog, reports):
    monkeypatch.chdir(tmp_path)
    files.write_table("films.csv", {"reference": reports.references, "candidate": reports.altered})
    for arguments in (["score", "films.csv"], ["compare", "--systems", "films.csv"]):
        assert main([*arguments, "--metrics", "paper-table", "--trials", "10", "--no-trivial", "--no-progress"]) == 0
        assert "RadBERT" not in capsys.readouterr().out
        assert caplog.text.count("references are chest X-ray reports in English: f1_radbert_ct scores chest CT") == 1
        caplog.clear()
