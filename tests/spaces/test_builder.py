"""The repositories of Spaces: what they hold, what is never replaced, that they run where they lie, how they travel."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
import yaml

from rrgmetrics import SPECS, cli
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.spaces import builder, uploading
from rrgmetrics.specs.names import parse_name
from rrgmetrics.version import VERSION

pytest.importorskip("gradio")

ROOT = Path(__file__).parents[2]
WHEEL = builder.Wheel(f"rrgmetrics-{VERSION}-py3-none-any.whl", b"a wheel")
JUDGE = next(name for name, spec in SPECS.items() if spec.judge)
OTHERS = [name for name in builder.space_names() if name not in SPECS]
PATIENCE = 120  # seconds for a page to come up on a busy machine


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """`built(name)`: the folder of a Space, written once."""
    folder = tmp_path_factory.mktemp("spaces")
    return cache(lambda name: builder.build([builder.repository(name)], folder)[0])


# --- what they hold


@pytest.mark.parametrize("name", builder.space_names())
def test_a_repository_has_what_the_hub_needs(built, name):
    folder = built(name)
    module = {f"{name}.py"} if name in SPECS else set()
    assert {path.name for path in folder.iterdir()} == {"README.md", "app.py", "requirements.txt", *module}
    facts = yaml.safe_load((folder / "README.md").read_text().split("---")[1])
    assert (facts["sdk"], facts["app_file"]) == ("gradio", "app.py")
    assert str(facts["sdk_version"]).startswith("6.")
    assert len(facts["short_description"]) <= 60  # the Hub refuses more
    *_, requirement = (folder / "requirements.txt").read_text().splitlines()
    assert re.fullmatch(rf"rrgmetrics\[[\w,]*spaces[\w,]*\]=={re.escape(VERSION)}", requirement)
    compile((folder / "app.py").read_text(), "app.py", "exec")


def test_the_other_pages_are_there():
    assert "compare" in OTHERS


def test_evaluate_loads_a_built_folder(built):
    import evaluate

    module = evaluate.load(str(built("rouge")))
    assert module.compute(predictions=["Clear lungs."], references=["Clear lungs."], progress=False)["rouge"] == 1.0


def test_a_wheel_lies_beside_the_page(tmp_path):
    (folder,) = builder.build([builder.repository("crepe", wheel=WHEEL)], tmp_path)
    assert (folder / WHEEL.name).read_bytes() == b"a wheel"
    assert (folder / "requirements.txt").read_text().endswith(f"\n./{WHEEL.name}[spaces]\n")
    assert "*.whl filter=lfs" in (folder / ".gitattributes").read_text()


def test_on_the_hub_a_wheel_has_an_address():
    """There the requirements are installed before the other files are copied."""
    files = builder.repository("crepe", wheel=WHEEL, organisation="acme").files
    address = f"https://huggingface.co/spaces/acme/crepe/resolve/main/{WHEEL.name}"
    assert files["requirements.txt"].decode().endswith(f"\nrrgmetrics[spaces] @ {address}\n")


@pytest.mark.parametrize("name", ["rrgmetrics-0.0.1-py3-none-any.whl", "other-0.2.0-py3-none-any.whl", "notes.txt"])
def test_a_wheel_of_something_else_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=re.escape(f"is not a wheel of rrgmetrics {VERSION}")):
        builder.read_wheel(tmp_path / name)


def test_a_wheel_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        builder.read_wheel(tmp_path / WHEEL.name)


# --- what is never replaced


def test_nothing_that_exists_is_replaced(tmp_path):
    (tmp_path / "rouge").mkdir()
    (tmp_path / "rouge" / "app.py").write_text("mine")
    spaces = [builder.repository(name) for name in ("bleu", "rouge")]
    with pytest.raises(InputError, match=r"rouge/app\.py exists"):
        builder.build(spaces, tmp_path)
    assert not (tmp_path / "bleu").exists()  # nothing is written where not all can be
    builder.build(spaces, tmp_path, force=True)
    assert "launch" in (tmp_path / "rouge" / "app.py").read_text()


def test_force_leaves_other_files_but_no_stale_wheel(tmp_path):
    folder = tmp_path / "rouge"
    folder.mkdir()
    (folder / "notes.md").write_text("mine")
    (folder / "rrgmetrics-0.0.1-py3-none-any.whl").write_bytes(b"old")
    builder.build([builder.repository("rouge", wheel=WHEEL)], tmp_path, force=True)
    assert {path.name for path in folder.iterdir()} >= {"notes.md", WHEEL.name}
    assert len(list(folder.glob("*.whl"))) == 1


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        builder.build([builder.repository("rouge")], tmp_path / "file")


# --- the command line


def run(capsys, *arguments):
    status = cli.main(["space", *arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_command_builds(capsys, tmp_path):
    status, out, _ = run(capsys, "crepe", "compare", "--build", str(tmp_path))
    assert status == 0
    assert f"evaluate.load('{tmp_path / 'crepe'}')" in out
    assert {path.name for path in tmp_path.iterdir()} == {"crepe", "compare"}


def test_dry_run_lists_and_writes_nothing(capsys, tmp_path):
    status, out, _ = run(capsys, "--all", "--build", str(tmp_path), "--push", "acme", "--dry-run")
    assert status == 0
    assert {f"{name}/app.py" for name in builder.space_names()} <= set(out.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a Space: "),
        (["crepes"], "did you mean crepe"),
        (["crepe", "bleu"], "Only one Space can be served at a time"),
        (["crepe", "--port", "99999"], "is not a port"),
        (["crepe", "--push", "a/b"], "is not a user or organisation"),
        (["crepe", "--push", "acme"], "HF_HUB_OFFLINE is set; unset it to upload"),
        (["crepe", "--build", "x", "--wheel", "y.whl"], "is not a wheel of rrgmetrics"),
    ],
)
def test_wrong_use(capsys, monkeypatch, arguments, message):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_without_gradio_the_command_says_what_to_install(run_python):
    script = """
import sys
sys.modules["gradio"] = None
from rrgmetrics import cli
print([cli.main(["space", name]) for name in ("crepe", "compare")])
"""
    assert run_python(script).strip() == "[2, 2]"


def test_a_port_in_use(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, _, err = run(capsys, "rouge", "--port", str(taken.getsockname()[1]))
    assert status == 2
    assert "is in use by another program; choose another --port." in err


# --- the Hub


class FakeHub:
    """As much of HfApi as an upload needs."""

    def __init__(self, *there):
        self.there, self.commits = set(there), {}

    def repo_exists(self, repo_id, *, repo_type):
        assert repo_type == "space"
        return repo_id in self.there

    def create_repo(self, repo_id, *, repo_type, space_sdk, exist_ok):
        assert (repo_type, space_sdk, exist_ok) == ("space", "gradio", True)
        return f"https://huggingface.co/spaces/{repo_id}"

    def create_commit(self, repo_id, operations, *, commit_message, repo_type):
        self.commits[repo_id] = {each.path_in_repo: each.path_or_fileobj for each in operations}


@pytest.fixture
def hub(monkeypatch):
    hub = FakeHub("acme/bleu")
    monkeypatch.setattr(builder, "hub_api", lambda: hub)
    return hub


def test_push_uploads_the_same_files(hub, built):
    (address,) = builder.push([builder.repository("rouge")], "acme")
    assert address == "https://huggingface.co/spaces/acme/rouge"
    assert hub.commits["acme/rouge"] == {path.name: path.read_bytes() for path in built("rouge").iterdir()}


def test_push_replaces_no_space_unless_forced(hub):
    spaces = [builder.repository(name) for name in ("rouge", "bleu")]
    with pytest.raises(InputError, match="acme/bleu exists on the Hub"):
        list(builder.push(spaces, "acme"))
    assert not hub.commits
    assert len(list(builder.push(spaces, "acme", force=True))) == 2


def test_what_the_hub_refuses_is_said_in_one_sentence(hub, monkeypatch):
    def refuse(*arguments, **keywords):
        raise OSError("403 Forbidden")

    monkeypatch.setattr(hub, "create_repo", refuse)
    with pytest.raises(BackendError, match="acme/rouge and failed: 403 Forbidden"):
        list(builder.push([builder.repository("rouge")], "acme"))


def test_offline_and_without_a_token_it_is_said_at_once(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("it tries again"))
    with pytest.raises(BackendError, match="did not answer"):
        uploading.hub_api()
    monkeypatch.setattr(uploading, "answers", lambda endpoint: True)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(BackendError, match="hf auth login"):
        uploading.hub_api()


@pytest.mark.network
def test_the_real_hub_is_asked():
    api = uploading.hub_api()
    assert not api.repo_exists("rrgmetrics/no-such-space-0000", repo_type="space")


# --- that they run where they lie


@contextmanager
def started(folder, python=sys.executable):
    """The page of a folder, served from there as the Hub does; gives a function that fetches a path."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment = os.environ | {"GRADIO_SERVER_PORT": port, "GRADIO_ANALYTICS_ENABLED": "False"}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [python, "app.py"], cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )

        def fetch(path):
            end = time.monotonic() + PATIENCE
            while process.poll() is None and time.monotonic() < end:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
                        return answer.read().decode()
                except OSError:
                    time.sleep(0.2)
            log.seek(0)
            pytest.fail(f"{folder.name} did not start: {log.read().decode()[-3000:]}")

        try:
            yield fetch
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # the leaderboard's worker too
            process.wait(10)


def check_page(fetch, name):
    if name == "rating":  # a page without Gradio
        assert "Your name" in fetch("/")
        return
    config = json.loads(fetch("/config"))
    assert config["version"].startswith("6.")
    if name in SPECS:
        assert parse_name(name).title in config["title"]
    assert "<html" in fetch("/")


STARTED = ("crepe", "rating")  # a page of Gradio and one without; the slow tests start all


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in STARTED)) for name in ["crepe", JUDGE, *OTHERS]]
)
def test_one_space_of_each_kind_starts_in_its_folder(built, name):
    with started(built(name)) as fetch:
        check_page(fetch, name)


@pytest.mark.slow
def test_all_spaces_start_in_a_fresh_environment(tmp_path):
    """As on the Hub: nothing is there but what the requirements name. Of the pins only constraints.txt is ours."""
    wheel = builder.read_wheel()
    folders = builder.build([builder.repository(name, wheel=wheel) for name in builder.space_names()], tmp_path)
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env" / "bin" / "python")
    install = [python, *"-m pip install --quiet -r requirements.txt -c".split(), str(ROOT / "constraints.txt")]
    quick = os.environ | {"PIP_RETRIES": "0"}  # no second try where PyTorch's own index cannot be reached
    for folder in {(folder / "requirements.txt").read_text(): folder for folder in folders}.values():
        done = subprocess.run(install, cwd=folder, capture_output=True, text=True, env=quick)
        assert done.returncode == 0, done.stderr[-3000:]
    script = "import evaluate, sys; print(evaluate.load(sys.argv[1]).name)"
    loaded = subprocess.run(
        [python, "-c", script, str(tmp_path / "crepe")], capture_output=True, text=True, cwd=tmp_path
    )
    assert loaded.stdout.strip() == "crepe", loaded.stderr[-3000:]
    for folder in folders:
        with started(folder, python) as fetch:
            check_page(fetch, folder.name)
