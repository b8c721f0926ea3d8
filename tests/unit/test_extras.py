"""What `pip install rrgmetrics` alone can do, and what is said where an extra is missing."""

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from rrgmetrics.errors import MissingExtraError
from rrgmetrics.specs import SPECS
from rrgmetrics.utils.extras import PACKAGES, install_command, is_installed, need

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Import names of what the extras install and the core does without.
ABSENT = (
    "accelerate bert_score gradio matplotlib openai optuna peft sentencepiece sqlalchemy torch transformers trl vllm"
)
BLOCKED = f"""
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {ABSENT.split()!r} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
REFERENCE = "Moderate right effusion. Endotracheal tube 4 cm above the carina. No pneumothorax."
CANDIDATE = "Small right effusion. Endotracheal tube 1 cm above the carina."
COMMAND = "pip install 'rrgmetrics["
NEEDS = {  # a configuration → the extra that it needs
    "bertscore@paper": "published",
    "chexbert_f1@paper": "published",
    "crepe@paper": "published",
    "f1_radbert_ct@paper": "published",
    "green@hf:some/model": "published",
    "green@openai:model": "judges",
    "green@paper": "published",
    "green@vllm:some/model": "vllm",
    "radcliq@paper": "published",
    "radgraph_f1@paper": "published",
    "ratescore@paper": "published",
    "semb_score@paper": "published",
    "srr_bert_f1@paper": "published",
}


def run(code, folder):
    """What a program prints that finds none of the extras' packages."""
    done = subprocess.run([sys.executable, "-c", BLOCKED + code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("url", "facts", "command"),
    [
        (None, {}, "pip install 'rrgmetrics[judges,plots]'"),
        ("https://example.org/rrgmetrics.git", {"vcs_info": {}}, "pip install 'rrgmetrics[judges,plots]'"),
        ("a deleted folder", {"dir_info": {}}, "pip install 'rrgmetrics[judges,plots]'"),
        ("folder", {"dir_info": {}}, "pip install '{folder}[judges,plots]'"),
        ("folder", {"dir_info": {"editable": True}}, "pip install -e '{folder}[judges,plots]'"),
    ],
)
def test_extras_are_installed_from_where_rrgmetrics_was(url, facts, command, tmp_path, monkeypatch):
    folder = tmp_path / "my clone"
    folder.mkdir()
    url = {"folder": folder.as_uri(), "a deleted folder": (tmp_path / "gone").as_uri()}.get(url, url)
    installed = SimpleNamespace(read_text=lambda name: url and json.dumps({"url": url, **facts}))
    beside_sources = SimpleNamespace(read_text=lambda name: None)
    monkeypatch.setattr(metadata, "distributions", lambda name: [beside_sources, installed])
    assert install_command("judges,plots") == command.format(folder=folder)
    with pytest.raises(MissingExtraError, match=re.escape(install_command("plots"))):
        need("It", "plots", "no_a")


def test_every_message_takes_the_command_from_one_function():
    folders = [ROOT / name for name in ("rrgmetrics", "callbacks", "spaces")]
    written = [path.name for folder in folders for path in folder.rglob("*.py") if COMMAND in path.read_text()]
    assert sorted(written) == ["extras.py", "judges.py"]  # the function, and help texts of cards


def packages(rows):
    return {re.match(r"[\w.-]+", row)[0].lower().replace("_", "-") for row in rows}


def test_the_core_requires_none_of_them():
    assert packages(PROJECT["dependencies"]).isdisjoint(ABSENT.replace("_", "-").split())


def test_each_extra_installs_what_is_asked_of_it():
    extras = PROJECT["optional-dependencies"]

    def all_of(extra):
        rows = packages(extras[extra])
        inner = [re.match(r"rrgmetrics\[(.*)\]", row)[1].split(",") for row in extras[extra] if row.startswith("rrgm")]
        return rows.union(*(all_of(name) for names in inner for name in names))

    for extra, names in PACKAGES.items():
        assert set(names) <= all_of(extra), extra


def test_bundled_metrics_score_without_extras(tmp_path):
    code = f"""
import json, rrgmetrics
from rrgmetrics.specs import SPECS
results = rrgmetrics.score(list(SPECS), predictions=[{CANDIDATE!r}], references=[{REFERENCE!r}], progress=False)
print(json.dumps({{name: results[name].n_pairs for name in results}}))
"""
    assert json.loads(run(code, tmp_path)) == dict.fromkeys(SPECS, 1)


def test_pages_and_modules_work_without_extras(tmp_path):
    code = f"""
from rrgmetrics.cli import main
example = {str(ROOT / "examples")!r}
systems = [f"{{example}}/system_a.csv", f"{{example}}/system_b.csv"]
names = ["finding_errors", "crepe", "bleu"]
main(["compare", "--references", f"{{example}}/references.csv", "--systems", *systems, "--metrics", *names,
      "--html", "page.html", "--no-progress"])
import evaluate
module = evaluate.load({str(ROOT / "metrics" / "crepe")!r})
print(module.compute(predictions=[{CANDIDATE!r}], references=[{REFERENCE!r}])["crepe_signature"])
"""
    assert "crepe-bundled@" in run(code, tmp_path)
    assert "<html" in (tmp_path / "page.html").read_text()


def test_each_missing_extra_is_one_sentence_before_any_work(tmp_path):
    code = f"""
import json, rrgmetrics
said = {{}}
for name in {list(NEEDS)!r}:
    try:
        rrgmetrics.prepare(name)
    except rrgmetrics.MissingExtraError as error:
        said[name] = str(error)
print(json.dumps(said))
"""
    said = json.loads(run(code, tmp_path))
    assert set(said) == set(NEEDS)
    for name, extra in NEEDS.items():
        assert said[name].endswith(f": {install_command(extra)}"), said[name]
        assert "\n" not in said[name]


def test_a_path_to_nothing_is_named_before_a_missing_extra(tmp_path):
    """Installing packages would not help."""
    metrics = ("bertscore", "chexbert_f1", "crepe", "radgraph_f1", "ratescore", "green", "green")
    kinds = ("", "", "", "", "", "hf:", "vllm:")
    code = f"""
import rrgmetrics
for metric, kind in {list(zip(metrics, kinds, strict=True))!r}:
    try:
        rrgmetrics.prepare(f"{{metric}}@{{kind}}/nowhere/model")
    except rrgmetrics.BackendError as error:
        print(error)
"""
    lines = run(code, tmp_path).splitlines()
    assert len(lines) == len(metrics)
    assert {line.partition(";")[0] for line in lines} == {
        "There is no folder /nowhere/model",
        "There is no file or folder /nowhere/model",
    }


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("synthesize generator:5 --output pairs.csv --plot labels.png", "plots"),
        ("train crepe --pairs pairs.csv --output run", "training"),
        ("space bleu", "spaces"),
        ("score pairs.csv --metrics crepe --device cuda", "published"),
    ],
)
def test_commands_name_the_extra_that_they_need(command, extra, tmp_path):
    (tmp_path / "pairs.csv").write_text("reference,candidate\nNo effusion.,Small effusion.\n")
    code = f"""
import sys
from rrgmetrics.cli import main
sys.stderr = sys.stdout
try:
    print("ended with", main({command.split()!r}))
except SystemExit as error:
    print("ended with", error.code)
"""
    said = run(code, tmp_path)
    assert install_command(extra) in said
    assert "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} == {"pairs.csv"}


def test_all_missing_packages_are_named_by_the_names_to_install():
    with pytest.raises(MissingExtraError, match=r"^It needs no_a, no_b and no_c: pip install ") as raised:
        need("It", "plots", "no_a", "json", "no_b", "no_c")
    assert str(raised.value).endswith(install_command("plots"))
    assert is_installed("json.decoder")
    assert not is_installed("no_a.below")
