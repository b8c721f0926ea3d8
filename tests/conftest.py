"""What all tests share: an empty cache, no Hub, and the invented reports."""

from __future__ import annotations

import gc
import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

pytest.register_assert_rewrite("rrgmetrics.testing", "reading_table", "synonyms")
# No tests: one needs helpers beside it, one its own packages.
collect_ignore = ["layouts.py", "helpers/llama_server.py"]

DATA = Path(__file__).parent / "data"
FEW_MODULES = 100  # that tests may import before the collector is spared them: each time costs a collection
PATIENCE = 600  # seconds for what another process does, on a machine that does much else: nothing is measured
_HOME = pytest.StashKey[str]()
_IMPORTED = pytest.StashKey[int]()  # how many modules there were when the collector was last spared them


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--row", default="", metavar="WORDS", help="of tests of tables, only the rows with these words")


def pytest_configure(config: pytest.Config) -> None:
    """Before anything imports `evaluate`, which reads these once."""
    gc.set_threshold(20_000, 20, 20)  # looking for cycles is else a fifth of the time of imports
    config.stash[_HOME] = tempfile.mkdtemp(prefix="rrgmetrics-tests-")
    os.environ |= {
        "HF_HOME": config.stash[_HOME],
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "TOKENIZERS_PARALLELISM": "false",
        "XDG_CACHE_HOME": config.stash[_HOME],
    }
    for name in ("HF_HUB_CACHE", "HF_MODULES_CACHE", "HF_EVALUATE_CACHE", "HF_METRICS_CACHE", "HF_DATASETS_CACHE"):
        os.environ.pop(name, None)
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""  # else every process that a test starts compiles the package anew
    sys.dont_write_bytecode = False
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # beside other workers torch's threads mostly wait for each other


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks `float32` what compares by helpers/float32.py, itself or through a function of its own file."""
    if words := config.getoption("row"):
        from table_rows import is_chosen

        config.hook.pytest_deselected(items=[item for item in items if not is_chosen(item, words)])
        items[:] = [item for item in items if is_chosen(item, words)]
    for item in items:
        function = getattr(item, "function", None)
        if function is not None and _compares_in_float32(function, depth=2):
            item.add_marker("float32")


def pytest_collection_finish() -> None:
    """Spares the garbage collector the tests and imports, through which it would walk again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Spares it what a test has imported, too: the Trainer asks for a whole collection after each training."""
    if len(sys.modules) > item.config.stash.get(_IMPORTED, 0) + FEW_MODULES:
        item.config.stash[_IMPORTED] = len(sys.modules)
        gc.collect()
        gc.freeze()


def _compares_in_float32(function: Any, depth: int) -> bool:
    """Whether a function's code names one of them; `depth`: how many calls deep to look."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    called = [function.__globals__.get(name) for name in code.co_names] if code and depth else []
    return any(
        inspect.isfunction(callee)
        and (
            callee.__module__ == "float32"
            or (callee.__globals__ is function.__globals__ and _compares_in_float32(callee, depth - 1))
        )
        for callee in called
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not checked, so that a green run is not taken for more than it is."""
    properties = [pair for report in terminalreporter.stats.get("passed", ()) for pair in report.user_properties]
    blocks = sum((Counter(value) for name, value in properties if name == "code blocks"), Counter())
    if blocks:
        told = ", ".join(f"{number} {kind}" for kind, number in sorted(blocks.items()))
        terminalreporter.line(f"code blocks of the documentation: {told}")
    skipped = [report for report in terminalreporter.stats.get("skipped", ()) if "no Chromium" in str(report.longrepr)]
    if skipped:
        terminalreporter.section(
            f"{len(skipped)} tests of pages did not run: there is no Chromium", sep="=", yellow=True
        )
        for file, number in sorted(Counter(report.location[0] for report in skipped).items()):
            terminalreporter.line(f"{number:4} {file}")


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[_HOME], ignore_errors=True)


class Reports(NamedTuple):
    """Invented reports of three findings or more, and the same reports with wrong findings."""

    references: list[str]
    altered: list[str]


@pytest.fixture(scope="session")
def reports() -> Reports:
    from rrgmetrics.testing import invented_reports

    return Reports(*invented_reports())


@pytest.fixture(scope="session")
def text_metrics() -> dict[str, Any]:
    """Values of other packages on invented texts; tests/data/text_metrics.json names them."""
    values: dict[str, Any] = json.loads((DATA / "text_metrics.json").read_text())
    return values


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails the test when anything sleeps or asks a host: "at once", without a clock that a busy machine would stop."""

    def wait(*_: object, **__: object) -> None:
        pytest.fail("it waits, or asks the network")

    for name in ("time.sleep", "socket.getaddrinfo", "socket.create_connection"):
        monkeypatch.setattr(name, wait)


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., str]:
    """Runs a script in a fresh interpreter, in an empty folder with an empty cache; returns what it printed."""

    def run(script: str, *arguments: str, timeout: float = PATIENCE, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            cwd=tmp_path,
            env=os.environ | {"HF_HOME": str(tmp_path / "home")} | environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def checkpoints() -> ModuleType:
    """The functions of tests/checkpoints.py, which write tiny models."""
    return _module("checkpoints")


@pytest.fixture(scope="session")
def radgraph_checkpoints() -> ModuleType:
    """The functions of tests/radgraph_checkpoints.py, which write tiny RadGraph models."""
    return _module("radgraph_checkpoints")


@pytest.fixture(scope="session")
def layouts(checkpoints: ModuleType, radgraph_checkpoints: ModuleType) -> ModuleType:
    """The functions of tests/layouts.py, which write every published checkpoint as it is published."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "checkpoints", checkpoints)
        patched.setitem(sys.modules, "radgraph_checkpoints", radgraph_checkpoints)
        return _module("layouts")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, layouts: ModuleType, reports: Reports) -> dict[str, Path]:
    """Folders of stand-ins for all published checkpoints, as they are published, by repository."""
    root = tmp_path_factory.mktemp("made")
    folders = {name: root / name for name in layouts.LAYOUTS}
    for name, make in layouts.LAYOUTS.items():
        make(folders[name], [*reports.references, *reports.altered])
    return folders


@pytest.fixture(scope="session")
def layout_home(
    tmp_path_factory: pytest.TempPathFactory,
    made: dict[str, Path],
    layouts: ModuleType,
    checkpoints: ModuleType,
    reports: Reports,
) -> Path:
    """A folder with a Hub's cache, `hub`, of all of them, BERTScore's encoders beside them, and its table of pins."""
    from rrgmetrics.backends import checkpoints as stored

    home = tmp_path_factory.mktemp("home")
    checkpoints.write_cache(home / "hub", [*reports.references, *reports.altered])
    for name, folder in made.items():
        pin = stored.pins().get(name)
        layouts.put(home / "hub", name, folder, pin.revision if pin and pin.revision else checkpoints.COMMIT)
    checkpoints.write_pins(home / "hub", home / "published.yaml")
    return home


@pytest.fixture
def layout_cache(layout_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The Hub's cache of all published checkpoints, as they are published; their checksums are the pinned ones."""
    from rrgmetrics.backends import checkpoints as stored

    monkeypatch.setenv("HF_HUB_CACHE", str(layout_home / "hub"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(layout_home))
    monkeypatch.setattr(stored, "PINS", layout_home / "published.yaml")
    stored.pins.cache_clear()
    yield layout_home / "hub"
    stored.pins.cache_clear()


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def no_pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pins nothing: no stand-in has the published weights."""
    import yaml

    from rrgmetrics.backends import checkpoints as stored

    rows = {name: {"revision": "", "sha256": {}} for name in yaml.safe_load(stored.PINS.read_text())}
    (tmp_path / "published.yaml").write_text(yaml.safe_dump(rows))
    monkeypatch.setattr(stored, "PINS", tmp_path / "published.yaml")
    pins = stored.pins  # which a test may replace
    pins.cache_clear()
    yield
    pins.cache_clear()


@pytest.fixture(scope="session")
def published_checkpoints(
    reports: Reports, checkpoints: ModuleType, radgraph_checkpoints: ModuleType
) -> Iterator[Path]:
    """A Hub cache in which the named configurations' checkpoints are tiny and random; yields its folder.

    Their checksums stand in place of the published ones meanwhile.
    """
    from rrgmetrics.backends import checkpoints as stored

    hub = Path(os.environ["HF_HOME"]) / "hub"
    texts = [*reports.references, *reports.altered]
    checkpoints.write_cache(hub, texts)
    radgraph_checkpoints.write_archives(hub, texts)
    checkpoints.write_judges(hub, texts)
    checkpoints.write_ratescore(hub, texts)
    checkpoints.write_classifiers(hub, texts)
    checkpoints.write_modernbert(hub, texts)
    checkpoints.write_labeller(hub)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stored, "PINS", checkpoints.write_pins(hub, hub.parent / "published.yaml"))
        stored.pins.cache_clear()
        yield hub
    stored.pins.cache_clear()
