"""Imports: fast, and what import-linter and ruff do not check (they check layers and heavy libraries, `make lint`)."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import rrgmetrics

PACKAGE = Path(rrgmetrics.__file__).parent
ROOT = PACKAGE.parent
HEAVY = {*"torch evaluate transformers pandas datasets nltk sacrebleu scipy matplotlib pyarrow".split()}
OUTER = ("metrics", "callbacks", "spaces")  # they import the package; of it only the command line imports them


@cache
def imported(path: Path) -> frozenset[str]:
    """Every module that a file imports, inside functions too, but for `if TYPE_CHECKING`."""
    names: set[str] = set()
    package = path.relative_to(ROOT).parts[:-1]
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            base = (*base, *filter(None, [node.module]))
            names |= {".".join((*base, alias.name)) for alias in node.names}
    return frozenset(names)


def test_training_knows_synthesis_by_its_pairs_alone():
    trainers = {name for path in (PACKAGE / "training").rglob("*.py") for name in imported(path)}
    pairs = {name for name in trainers if name.startswith("rrgmetrics.synthesis")}
    assert pairs
    assert {name.rpartition(".")[0] for name in pairs} == {"rrgmetrics.synthesis.pairs"}


def test_only_the_command_line_imports_callbacks_metrics_and_spaces():
    importing = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        for name in imported(path)
        if name.split(".")[0] == "rrgmetrics" and name.split(".")[1:2] in [[outer] for outer in OUTER]
    }
    assert importing == {"cli"}


def test_only_prepared_metrics_call_the_runner():
    """Outside the package too, where import-linter does not look."""
    folders = (ROOT / name for name in (*OUTER, "benchmarks", "scripts", "examples"))
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    assert not [path for path in paths if any(name.startswith("rrgmetrics.scoring.runner") for name in imported(path))]


def test_the_architecture_is_drawn_from_the_code(monkeypatch):
    """Else: `python docs/_site/drawing.py`."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site"))
    import drawing

    page = drawing.PAGE.read_text(encoding="utf-8")
    assert drawing.filled(page, drawing.ON_GITHUB) == page


def test_import_is_light(run_python):
    """How many seconds that takes is measured by benchmarks/promises.py."""
    loaded = run_python("import sys, rrgmetrics.reading; print(*sys.modules)")
    assert not {name.partition(".")[0] for name in loaded.split()} & (HEAVY | {"numpy", "pydantic", "yaml"})
    loaded = run_python("import sys, rrgmetrics; rrgmetrics.score; rrgmetrics.load; print(*sys.modules)")
    assert not {name.partition(".")[0] for name in loaded.split()} & (HEAVY | {"pydantic"})


def test_a_first_answer_loads_what_it_needs_alone(run_python, tmp_path):
    """What SciPy and the network's modules would add is more than all the rest takes."""
    (tmp_path / "r.txt").write_text("Small left effusion. Mild cardiomegaly.\n")
    (tmp_path / "c.txt").write_text("Large left effusion. Heart size is normal.\n")
    script = "import sys; from rrgmetrics.cli import main; assert not main(sys.argv[1:]); print('|', *sys.modules)"
    arguments = ("score", "--references", "r.txt", "--predictions", "c.txt", "--metrics", "finding_errors")
    loaded = run_python(script, *arguments, "--no-progress").rpartition("|")[2].split()
    assert not {*loaded} & (HEAVY | {"asyncio", "http.client", "importlib.metadata", "multiprocessing", "tqdm"})


def test_commands_of_ratings_load_no_web_page(run_python):
    pytest.importorskip("sqlalchemy", reason="pip install 'rrgmetrics[spaces]'")
    loaded = run_python("import sys, rrgmetrics.spaces.rating.commands; print(*sys.modules)").split()
    assert not {*loaded} & {"gradio", "starlette", "rrgmetrics.spaces.ui"}
    assert (
        run_python("from rrgmetrics.spaces import build_space, launch; print(launch.__module__)")
        .strip()
        .endswith(".ui")
    )


def test_names_are_imported_when_asked_for(run_python):
    script = "import rrgmetrics; print(all(getattr(rrgmetrics, name) and name in dir(rrgmetrics) for name in %s))"
    assert run_python(script % rrgmetrics.__all__) == "True\n"
    assert run_python("import rrgmetrics; print(rrgmetrics.stats.resampling.__name__)").endswith(".resampling\n")
    assert "cannot import name 'no_such'" in run_python(
        "try: from rrgmetrics import no_such\nexcept ImportError as error: print(error)"
    )


def test_no_module_imports_one_that_imports_it():
    """Neither does any longer circle stand; imports inside functions count, those for type checkers do not."""
    folders = {"rrgmetrics": PACKAGE} | {f"rrgmetrics.{name}": ROOT / name for name in OUTER}
    files = {dotted(path, folder, name): path for name, folder in folders.items() for path in folder.rglob("*.py")}
    graph = {
        name: {known(each, files) for each in imported(path)} & files.keys() - {name} for name, path in files.items()
    }
    assert list(circles(graph)) == []


def dotted(path: Path, folder: Path, package: str) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def known(name: str, files) -> str:
    """The module that an imported name is, or stands in."""
    return name if name in files else name.rpartition(".")[0]


def circles(graph):
    """Modules that reach themselves."""
    for start in graph:
        seen, todo = set(), [*graph[start]]
        while todo:
            module = todo.pop()
            if module == start:
                yield start
                break
            if module not in seen:
                seen.add(module)
                todo += graph[module]
