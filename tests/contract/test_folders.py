"""Folder, script, example and card of every metric agree with the table."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import rrgmetrics
from rrgmetrics import SPECS, InputError
from rrgmetrics.reporting import cards
from rrgmetrics.testing import checks_of, folders

ROOT = Path(__file__).parents[2]
MOST_WORDS_SHOWN = 660


@pytest.mark.parametrize("check", checks_of(folders), ids=lambda check: check.__name__)
def test_folders(case, check):
    check(case)


def test_evaluate_reads_the_imports_that_the_script_means(spec):
    """It finds them with a regular expression, line by line; what it takes for missing is named with the pip hint."""
    from evaluate.loading import get_imports

    script = rrgmetrics.module_path(spec.name) / f"{spec.name}.py"
    imports = [(kind, name, hint) for kind, name, hint, _ in get_imports(str(script))]
    assert imports == [("library", "evaluate", "evaluate"), ("library", "rrgmetrics", "rrgmetrics")]


def test_every_folder_has_a_row_and_every_row_a_folder():
    root = rrgmetrics.module_path(next(iter(SPECS))).parent
    assert {path.name for path in root.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(SPECS)


def test_a_card_is_read_in_two_minutes(spec):
    """About two minutes: what is longer is in a fold, with a line that says what it holds."""
    card = (rrgmetrics.module_path(spec.name) / "README.md").read_text().split("---", 2)[2]
    assert card.count("<details>\n<summary>") == card.count("\n\n</details>\n") == card.count("</details>")
    shown = re.sub(r"<details>.*?</details>|<!--.*?-->|```.*?```|(?<=\])\([^)]*\)", "", card, flags=re.DOTALL)
    assert len(re.findall(r"\w[\w'.-]*", shown)) <= MOST_WORDS_SHOWN


@pytest.mark.parametrize("name", ["green", "nodule_f1"])
def test_five_files_hold_all_that_is_specific_to_a_metric(name):
    """Its row, its card, and the files of its scorer's folder; the others in the module's folder are generated."""
    folder = ROOT.joinpath(*SPECS[name].scorer.partition(":")[0].split("."))
    files = [path.name for path in folder.iterdir() if path.is_file()]
    assert "prompts.txt" in files
    assert len(files) + 2 <= 5
    assert not [path for path in (ROOT / "rrgmetrics" / "judges").rglob("*") if name.partition("_")[0] in path.name]


@pytest.fixture
def make_cards():
    spec = importlib.util.spec_from_file_location("make_cards", ROOT / "scripts" / "make_cards.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_make_cards_has_nothing_to_write(make_cards, monkeypatch):
    """Scripts, cards, demos, README's table and the list of packages are as the table says."""
    would = []
    monkeypatch.setattr(cards, "write", lambda path, text: would.append(path) if path.read_text() != text else None)
    make_cards.written()
    assert would == [], "run `make cards`"


def test_what_stands_in_a_script_is_what_the_card_says():
    card = (rrgmetrics.module_path("bleu") / "README.md").read_text()
    script = cards.module_script(card.replace("sequences of one to four words", "runs of words"), SPECS["bleu"])
    assert "BLEU counts the n-grams (runs of words)" in script
    for part in ("## Metric Description", "```bibtex", ">>> "):
        with pytest.raises(InputError, match="the card lacks"):
            cards.module_script(card.replace(part, ""), SPECS["bleu"])
    with pytest.raises(InputError, match="markers <!-- keys"):
        cards.refreshed(card.replace("<!-- /keys -->", ""), SPECS["bleu"])


def test_the_files_that_a_card_names_are_there(spec):
    card = (rrgmetrics.module_path(spec.name) / "README.md").read_text()
    named = re.findall(r"`((?:rrgmetrics|benchmarks|scripts|tests)/[\w./-]+)`", card)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("part", "instead", "why"),
    [
        ("emoji:", "emojy:", "the front matter lacks emoji; add it."),
        ("---", "", "the front matter is missing; "),
        ("## Metric Description", "", "the card lacks "),
        ("<!-- keys", "<!-- keyz", "the markers <!-- keys"),
    ],
)
def test_a_fault_of_a_card_is_one_line_with_its_path(make_cards, monkeypatch, tmp_path, capsys, part, instead, why):
    card = tmp_path / "metrics" / "bleu" / "README.md"
    card.parent.mkdir(parents=True)
    text = (rrgmetrics.module_path("bleu") / "README.md").read_text(encoding="utf-8")
    card.write_text(text.replace(part, instead), encoding="utf-8")
    monkeypatch.setattr(rrgmetrics.scoring.hub, "module_path", lambda name: card.parent)
    assert cards.main(["bleu"]) == 2
    assert capsys.readouterr().err.startswith(f"rrgmetrics.reporting.cards: {card}: {why}")
    monkeypatch.setattr(make_cards, "SPECS", {"bleu": SPECS["bleu"]})
    monkeypatch.setattr(make_cards.written, "__defaults__", (tmp_path,))
    assert make_cards.main() == 2
    assert capsys.readouterr().err.startswith(f"make_cards: {card}: {why}")
