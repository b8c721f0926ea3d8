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


COMMANDS = {  # a command → the extra that it needs
    "synthesize generator:5 --output made.csv --plot labels.png": "plots",
    "train crepe --pairs pairs.csv --output run": "training",
    "space bleu": "spaces",
    "score pairs.csv --metrics crepe --device cuda": "published",
}
NOWHERE = [  # installing packages would not help
    f"{name}@{kind}/nowhere/model"
    for name, kind in (
        *((name, "") for name in ("bertscore", "chexbert_f1", "crepe", "radgraph_f1", "ratescore")),
        ("green", "hf:"),
        ("green", "vllm:"),
    )
]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What an installation without extras says of configurations, by name, and of commands, in one process."""
    folder = tmp_path_factory.mktemp("without")
    (folder / "pairs.csv").write_text("reference,candidate\nNo effusion.,Small effusion.\n")
    code = f"""
import contextlib, io, json, rrgmetrics
from rrgmetrics.cli import main
said = {{}}
for name in {[*NEEDS, *NOWHERE]!r}:
    try:
        rrgmetrics.prepare(name)
    except (rrgmetrics.MissingExtraError, rrgmetrics.BackendError) as error:
        said[name] = f"{{type(error).__name__}}: {{error}}"
for command in {list(COMMANDS)!r}:
    with contextlib.redirect_stdout(io.StringIO()) as written, contextlib.redirect_stderr(written):
        try:
            print("ended with", main(command.split()))
        except SystemExit as error:
            print("ended with", error.code)
    said[command] = written.getvalue()
print(json.dumps(said))
"""
    found = json.loads(run(code, folder))
    assert {path.name for path in folder.iterdir()} == {"pairs.csv"}
    return found


def test_bundled_metrics_pages_and_modules_work_without_extras(tmp_path):
    code = f"""
import json, rrgmetrics
from rrgmetrics.specs import SPECS
texts = dict(predictions=[{CANDIDATE!r}], references=[{REFERENCE!r}])
results = rrgmetrics.score(list(SPECS), **texts, progress=False)
print(json.dumps({{name: results[name].n_pairs for name in results}}))
from rrgmetrics.cli import main
example = {str(ROOT / "examples")!r}
systems = [f"{{example}}/system_a.csv", f"{{example}}/system_b.csv"]
names = ["finding_errors", "crepe", "bleu"]
main(["compare", "--references", f"{{example}}/references.csv", "--systems", *systems, "--metrics", *names,
      "--html", "page.html", "--trials", "20", "--no-progress"])
import evaluate
module = evaluate.load({str(ROOT / "metrics" / "crepe")!r})
print(module.compute(**texts)["crepe_signature"])
"""
    scored, _, rest = run(code, tmp_path).partition("\n")
    assert json.loads(scored) == dict.fromkeys(SPECS, 1)
    assert "crepe-bundled@" in rest
    assert "<html" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("name", NEEDS)
def test_each_missing_extra_is_one_sentence_before_any_work(said, name):
    assert said[name].startswith("MissingExtraError: ")
    assert said[name].endswith(f": {install_command(NEEDS[name])}"), said[name]
    assert "\n" not in said[name]


@pytest.mark.parametrize("name", NOWHERE)
def test_a_path_to_nothing_is_named_before_a_missing_extra(said, name):
    assert re.match(r"BackendError: There is no (folder|file or folder) /nowhere/model;", said[name])


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_name_the_extra_that_they_need(said, command):
    assert install_command(COMMANDS[command]) in said[command]
    assert "Traceback" not in said[command]


def test_all_missing_packages_are_named_by_the_names_to_install():
    with pytest.raises(MissingExtraError, match=r"^It needs no_a, no_b and no_c: pip install ") as raised:
        need("It", "plots", "no_a", "json", "no_b", "no_c")
    assert str(raised.value).endswith(install_command("plots"))
    assert is_installed("json.decoder")
    assert not is_installed("no_a.below")
