"""A folder of the user's own: it adds and overrides, stands in signatures, and never mixes with the bundled lexicon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rrgmetrics
from rrgmetrics.cli import main
from rrgmetrics.comparing import explain
from rrgmetrics.comparing.significance import indication_kinds
from rrgmetrics.errors import InputError
from rrgmetrics.labels.conditions import load_conditions
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import Lexicon, LexiconKey, checksum, load, use
from rrgmetrics.reading.lexicon.build import build_lexicon
from rrgmetrics.reading.lexicon.in_use import VARIABLE, environment_of_children
from rrgmetrics.reading.scope import scope_of

OURS = {
    "lung.yaml": """\
fire_sign:
  name: fire sign
  parent: opacity
  condition: Lung Opacity
  significance: urgent
  terms:
    - fire sign
    - hydrothorax
""",
    "pleura.yaml": """\
pleural_effusion:
  significance: urgent
  terms:
    - wet pleura
  without: [hydrothorax]
""",
    "context.yaml": """\
indications:
  trauma:
    - parachute
rules:
  - {concepts: [fire_sign], age_below: 18, significance: benign_expected, why: children play}
""",
    "vocabulary.yaml": "report:\n  - florp\n  - wug\n  - zibble\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wards").mkdir()
    for name, text in OURS.items():
        (tmp_path / "wards" / name).write_text(text, encoding="utf-8")
    return tmp_path / "wards"


@pytest.fixture(autouse=True)
def no_variable(small_lexicon: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(VARIABLE, raising=False)
    yield
    assert VARIABLE not in os.environ


def concepts(report: str) -> list[str]:
    return [finding.concept for finding in read(report).abnormal]


def test_it_adds_overrides_and_takes_away(folder: Path) -> None:
    with use(folder):
        assert concepts("Fire sign. Wet pleura.") == ["fire_sign", "pleural_effusion"]
        assert concepts("Hydrothorax.") == ["fire_sign"]
        assert concepts("Haemothorax, subpulmonic effusion.") == ["hemothorax", "pleural_effusion"]
        assert load().concepts["pleural_effusion"].significance == "urgent"
        assert load().concepts["pleural_effusion"].same_as  # what is not said stays
        assert load().concepts["fire_sign"].ancestors == ("opacity",)
        assert [error.significance for error in explain(reference="Fire sign.", candidate="Clear lungs.").errors] == [
            "urgent"
        ]
        child = explain(reference="Fire sign.", candidate="Clear lungs.", context={"age": "7"})
        assert [error.significance for error in child.errors] == ["benign_expected"]


def test_nothing_of_it_is_left_and_nothing_of_ours_is_in_it(folder: Path) -> None:
    def seen() -> tuple[object, ...]:
        return (
            concepts("Hydrothorax."),
            len(scope_of("Florp wug zibble.").unread),
            indication_kinds(load(), "parachute jump"),
            "fire_sign" in load_conditions().of_concept,
            checksum(),
        )

    ours = seen()
    with use(folder):
        theirs = seen()
        with use(None):
            assert seen() == theirs
    assert seen() == ours
    assert ours[:4] == (["pleural_effusion"], 1, frozenset(), False)
    assert theirs[:4] == (["fire_sign"], 0, {"trauma"}, True)
    assert ours[4] != theirs[4]


def test_what_is_changed_in_the_folder_counts_when_it_is_used_again(folder: Path) -> None:
    with use(folder):
        assert concepts("Ember sign.") == []
    (folder / "lung.yaml").write_text(OURS["lung.yaml"] + "    - ember sign\n")
    with use(folder):
        assert concepts("Ember sign.") == ["fire_sign"]


def test_it_is_checked_and_built_once_for_the_same_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[LexiconKey] = []

    def counted(key: LexiconKey) -> Lexicon:
        built.append(key)
        return build_lexicon(key)

    monkeypatch.setattr("rrgmetrics.reading.lexicon.build_lexicon", counted)
    for _ in range(2):
        with use(folder):
            assert concepts("Ember sign. Fire sign.") == ["fire_sign"]
    assert len(built) <= 1  # none where an earlier test has used the same files
    n = len(built)
    (folder / "lung.yaml").write_text(OURS["lung.yaml"] + "    - ember sign\n    - glow sign\n")
    with use(folder):
        assert concepts("Ember sign.") == ["fire_sign"]
    assert len(built) == n + 1
    (folder / "lung.yaml").write_text("fire_sign: fire\n")
    with pytest.raises(InputError, match=r"lung.yaml:1: fire_sign should be a block"), use(folder):
        pytest.fail("it was used")


def test_the_sum_is_of_what_the_files_say(folder: Path) -> None:
    with use(folder):
        before = checksum()
    (folder / "lung.yaml").write_text("# a word of explanation\n" + OURS["lung.yaml"])
    with use(folder):
        assert checksum() == before


@pytest.mark.parametrize(("name", "words"), [("nowhere", "is not a folder"), ("empty", "contains no .yaml file")])
def test_a_folder_that_is_none(tmp_path: Path, name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=words), use(tmp_path / name):
        pytest.fail("it was used")
    assert main(["explain", "Effusion.", "Effusion.", "--lexicon", str(tmp_path / name)]) == 2
    assert words in capsys.readouterr().err


def test_it_stands_in_the_signatures_of_what_reads(folder: Path) -> None:
    def signatures() -> dict[str, str]:
        names = ["finding_errors", "radgraph_f1", "green", "bleu"]
        results = rrgmetrics.score(names, predictions=["Fire sign."], references=["Wet pleura."], progress=False)
        return {name: result.signature for name, result in results.items()}

    bundled = signatures()
    with use(folder):
        own, name = signatures(), f"lexicon:wards@{checksum()[:8]}"
        for metric in ("finding_errors", "radgraph_f1", "green"):
            assert name in own[metric].split("|")
            assert f"lexicon_sha256:{checksum()[:8]}" in own[metric].split("|")
            assert "lexicon:" not in bundled[metric]
    assert own["bleu"] == bundled["bleu"]
    assert signatures() == bundled


def test_metrics_that_were_prepared_before_name_the_lexicon_that_they_score_with(folder: Path) -> None:
    with rrgmetrics.prepare(["finding_errors"]) as metrics, use(folder):
        results = metrics.score(predictions=["Fire sign."], references=["Wet pleura."], progress=False)
        facts = {f"lexicon_sha256:{checksum()[:8]}", f"lexicon:wards@{checksum()[:8]}"}
        assert facts <= set(results["finding_errors"].signature.split("|"))
        assert results["finding_errors"].scores["finding_errors"] == 2


def test_the_command_line_reads_with_it_and_forgets_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "Fire sign.", "Clear lungs.", "--lexicon", str(folder)]) == 0
    assert "fire sign" in capsys.readouterr().out.replace("Fire sign", "")
    assert main(["lexicon", "show", "fire sign"]) == 2


def test_score_reads_with_it(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs, scores = tmp_path / "pairs.csv", tmp_path / "scores.json"
    pairs.write_text("study_id,reference,candidate\n1,Fire sign.,Wet pleura.\n")
    command = ["score", str(pairs), "--metrics", "finding_errors", "--json", str(scores), "--no-progress"]
    assert main([*command, "--lexicon", str(folder)]) == 0
    assert "lexicon:wards@" in json.dumps(json.loads(scores.read_text()))
    (folder / "lung.yaml").write_text(OURS["lung.yaml"].replace("urgent", "importent"))
    assert main([*command, "--force", "--lexicon", str(folder)]) == 2
    assert 'lung.yaml:5: significance is "importent"' in capsys.readouterr().err


PROGRAM = """
import pathlib, sys
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import checking, packs
checking.BUNDLED = packs.BUNDLED = pathlib.Path(sys.argv[1])  # the small lexicon
print([finding.concept for finding in read("Fire sign.").findings])
"""


def test_child_processes_read_with_it(folder: Path, small_folder: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(small_folder)]
    with use(folder):
        environment = {**os.environ, **environment_of_children()}
        child = subprocess.check_output(command, text=True, env=environment)
        assert child == "['fire_sign']\n"
        assert VARIABLE not in os.environ
    (folder / "lung.yaml").write_text(OURS["lung.yaml"].replace("urgent", "importent"))
    environment = {**os.environ, VARIABLE: str(folder)}
    child = subprocess.run(command, env=environment, stderr=subprocess.PIPE, check=False)
    assert b'lung.yaml:5: significance is "importent"' in child.stderr
