"""Modules in fresh processes: foreign folders, empty caches, no network, bare names, two processes at once."""

from __future__ import annotations

import json
import multiprocessing
import time

import pytest

import rrgmetrics
from rrgmetrics import SPECS
from rrgmetrics.backends.checkpoints import PROBE_SECONDS
from rrgmetrics.scoring import hub

NO_NETWORK = """
import socket, time

def refuse(*arguments, **keywords):
    attempts.append(arguments)
    raise OSError("no network in this test")

attempts = []
socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse
"""

# What evaluate imports for its evaluators, if it is there: seconds in each process.
LIGHT = """
import sys
sys.modules["transformers.pipelines"] = None
"""


REGISTER = f"""{NO_NETWORK}{LIGHT}
import json, sys
import evaluate, rrgmetrics
from evaluate.utils.logging import get_logger
from rrgmetrics.cli import main

modules = [rrgmetrics.load(name) for name in ("rouge", "bleu", "cider", "meteor")]
value = modules[0].compute(predictions=["a b"], references=["a b c"], progress=False)["rouge_1"]
alone = [len(attempts), value]

time.sleep = lambda seconds: None  # evaluate tries three times to find what is not there
said = []
get_logger("evaluate.loading").warning = said.append  # "Using the latest cached version of the module ..."

def load_all():
    headlines = {{}}
    for name in sys.argv[1:]:
        try:
            values = evaluate.load(name).compute(predictions=["a b"], references=["a b c"], progress=False)
            headlines[name] = next(iter(values))
        except FileNotFoundError:
            headlines[name] = None
    return headlines

codes = [main(["register"]), main(["register"])]  # twice: nothing breaks
loaded = [load_all()]
codes.append(main(["register", "--remove"]))
loaded.append(load_all())
print(json.dumps([alone, codes, loaded, said]))
"""


def test_load_and_register_from_any_folder_without_network_or_waiting(run_python, tmp_path):
    """The hostile folder has modules of the same names, which `evaluate.load("rouge")` would take."""
    for name in ("rouge", "evaluate_modules"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    free = [name for name in SPECS if name not in hub.TAKEN]
    names = [free[-1], *(f"rrgmetrics/{name}" for name in ("bleu", free[-1]))]  # a second a name
    printed = run_python(REGISTER, *names, HF_EVALUATE_OFFLINE="0", HF_HUB_OFFLINE="0")
    (attempts, value), codes, (registered, removed), said = json.loads(printed.splitlines()[-1])
    assert attempts == 0  # evaluate would ask the Hub, and wait 1.5 s a name
    assert value == pytest.approx(0.8)
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("rouge", "evaluate_modules", "home")] == []
    assert (codes, said) == ([0, 0, 0], [])
    assert registered == {name: name.removeprefix("rrgmetrics/") for name in names}
    assert removed == dict.fromkeys(names)
    modules = tmp_path / "home" / "modules" / "evaluate_modules" / "metrics"
    assert [path for path in modules.glob("*--*") if path.is_dir()] == []
    assert list((tmp_path / "home" / "evaluate" / "downloads").iterdir()) == []


def test_a_name_of_hugging_faces_is_left_alone():
    assert {"bleu", "rouge", "meteor", "bertscore"} <= hub.TAKEN
    assert "evaluate-metric/bleu" not in hub._cache_names("bleu").values()


def work(rank, folder, name, texts):
    """Adds every other report, twice; writes what `compute` gave."""
    (predictions, references), results = texts, []

    def barrier(round):
        (folder / f"{round}-{rank}").touch()
        while not all((folder / f"{round}-{other}").exists() for other in range(2)):
            time.sleep(0.01)

    module = rrgmetrics.load(name, num_process=2, process_id=rank, experiment_id="two")
    for round in range(2):
        barrier(f"start{round}")
        module.add_batch(predictions=predictions[rank::2], references=references[rank::2])
        results.append(module.compute(progress=False))
        barrier(f"end{round}")
    (folder / f"results{rank}.json").write_text(json.dumps(results))


def test_two_processes_equal_one(tmp_path, data_cache, reports):
    name = "cider"  # its weights come from the references of both
    rrgmetrics.load(name)  # imports evaluate, once for both
    arguments = (tmp_path, name, [reports.altered, reports.references])
    ranks = [multiprocessing.get_context("fork").Process(target=work, args=(rank, *arguments)) for rank in range(2)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join(600)
        assert process.exitcode == 0
    order = [*range(0, 14, 2), *range(1, 14, 2)]
    whole = rrgmetrics.score(
        name,
        predictions=[reports.altered[i] for i in order],
        references=[reports.references[i] for i in order],
        progress=False,
    )[name]
    expected = hub.as_dict(whole)
    first, second = (json.loads((tmp_path / f"results{rank}.json").read_text()) for rank in range(2))
    assert first == [expected, expected]
    assert second == [None, None]


def test_missing_weights_without_a_network(run_python):
    """The Hub client would retry for 23 s a file, with pauses; we ask once and say it."""
    script = f"""{NO_NETWORK}
import rrgmetrics
pauses = []
time.sleep = pauses.append
try:
    rrgmetrics.score("bertscore@paper", predictions=["a"], references=["b"])
except rrgmetrics.BackendError as error:
    print(len(attempts), len(pauses), error)
"""
    attempts, pauses, message = run_python(script, HF_HUB_OFFLINE="0").split(" ", 2)
    assert (int(attempts) <= 1, pauses) == (True, "0")  # older clients of the Hub ask in another way
    assert "roberta-large is not in" in message
    assert "hf download roberta-large" in message


def test_a_hub_that_never_answers(run_python):
    """A server that accepts and stays silent: evaluate would wait 303 s, the Hub client 10 s a try."""
    script = """
import socket, os
server = socket.create_server(("127.0.0.1", 0))
os.environ["HF_ENDPOINT"] = f"http://127.0.0.1:{server.getsockname()[1]}"
import rrgmetrics
try:
    rrgmetrics.score("bertscore@radeval", predictions=["a"], references=["b"])
except rrgmetrics.BackendError as error:
    print(error)
"""
    message = run_python(script, HF_HUB_OFFLINE="0", timeout=250)  # leaving waits for nothing either
    assert f"did not answer in {PROBE_SECONDS} s" in message
    assert PROBE_SECONDS < 1


UNWRITABLE = f"""{LIGHT}
import json, sys
import rrgmetrics
from rrgmetrics.cli import main
from rrgmetrics.errors import BackendError

sentences = []
for load in (rrgmetrics.load, rrgmetrics.scoring.hub.register):
    try:
        load("rouge") if load is rrgmetrics.load else load(names=["rouge"])
    except BackendError as error:
        sentences.append(str(error))
print(json.dumps([main(["register"]), sentences]))
"""


def test_a_home_that_cannot_be_written_is_a_sentence(run_python, tmp_path):
    (tmp_path / "file").touch()
    home = str(tmp_path / "file" / "home")
    status, sentences = json.loads(run_python(UNWRITABLE, HF_HOME=home, HOME=home, XDG_CACHE_HOME=str(tmp_path / "x")))
    assert status == 2
    for sentence in sentences:
        assert str(tmp_path / "file") in sentence
        assert "HF_HOME" in sentence
    assert len(sentences) == 2
