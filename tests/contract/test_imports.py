"""Imports: cheap, one way, and `evaluate` in one room only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import rrgmetrics

PACKAGE = Path(rrgmetrics.__file__).parent
ROOT = PACKAGE.parent
HEAVY = (
    "torch",
    "evaluate",
    "transformers",
    "pandas",
    "datasets",
    "nltk",
    "sacrebleu",
    "scipy",
    "matplotlib",
    "pyarrow",
)
# DESIGN.md, "The way the data walks": a room imports rooms of a smaller number, or itself.
ROOMS = {
    "english": 0,
    "printable": 0,
    "notebook": 0,
    "errors": 0,
    "extras": 0.5,
    "missing": 1,
    "cleaning": 1,
    "headings": 0,
    "machine": 0.5,
    "version": 0,
    "child": 0,
    "causes": 0,
    "bounded": 1,
    "specs": 1,
    "progress": 0.5,
    "reports": 2,
    "text": 2,
    "names": 2,
    "notice": 3,
    "gate": 7,
    "modalities": 6,
    "signature": 4,
    "reader": 3,
    "comparing": 3.3,
    "labels": 3.6,
    "backends": 4,
    "judges": 5,
    "scorers": 6,
    "aggregate": 7,
    "stats": 7.5,
    "told": 7,
    "results": 8,
    "shards": 9,
    "streaming": 11,
    "workers": 9,
    "runner": 9,
    "prepared": 10,
    "files": 7,
    "hub": 11,
    "comparison": 10,
    "evaluation": 10.5,
    "abnormal": 5,
    "defaults": 5,
    "slices": 9,
    "collapse": 4,
    "skill": 11,
    "worth": 12,
    "metaeval": 12,
    "synthesis": 11,
    "training": 12,
    "doctor": 12,
    "systems": 12.5,
    "present": 13,
    "cli": 14,
    "integrations": 13,
    "testing": 15,
    "cards": 14,
    "__main__": 15,
    "__init__": 15,
}
OUTER = ("metrics", "callbacks", "spaces")  # they import the package; of it only the command line imports them


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Every module that a file imports, inside functions too, but for `if TYPE_CHECKING`."""
    names: set[str] = set()
    package = path.relative_to(ROOT).parts[:-1]
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            base = (*base, *filter(None, [node.module]))
            names |= {".".join((*base, alias.name)) for alias in node.names}
    return names


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    here = room(path)
    assert here in ROOMS, f"give {here} its place in ROOMS"
    for name in imported(path):
        package, _, rest = name.partition(".")
        if package == "rrgmetrics" and rest and here != "__init__":
            there = rest.partition(".")[0]
            assert there not in OUTER or here == "cli", name
            if there in ROOMS:
                assert there == here or ROOMS[there] < ROOMS[here], f"{here} imports {name}"


def test_training_knows_synthesis_by_its_pairs_alone():
    trainers = {name for path in (PACKAGE / "training").rglob("*.py") for name in imported(path)}
    pairs = {name for name in trainers if name.startswith("rrgmetrics.synthesis")}
    assert pairs
    assert {name.rpartition(".")[0] for name in pairs} == {"rrgmetrics.synthesis.pairs"}


def test_prepared_metrics_are_the_only_door_to_the_runner():
    paths = [
        *modules(),
        *(path for name in (*OUTER, "benchmarks", "scripts", "examples") for path in (ROOT / name).rglob("*.py")),
    ]
    runner = "rrgmetrics.scoring.runner"
    doors = {path.stem for path in paths if any(name.startswith(runner) for name in imported(path))}
    assert doors == {"prepared"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_hub_imports_evaluate(path):
    evaluate = {name for name in imported(path) if re.match(r"evaluate(\.|$)", name)}
    assert not evaluate or room(path) == "hub"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_backends_import_torch_inside_functions(path):
    for node in ast.parse(path.read_text()).body:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        assert not {name.partition(".")[0] for name in names} & set(HEAVY), f"line {node.lineno}"


def test_import_is_light(run_python):
    """How many seconds that takes is measured by benchmarks/promises.py."""
    loaded = run_python("import sys, rrgmetrics.reading; print(*sys.modules)")
    assert not {name.partition(".")[0] for name in loaded.split()} & {*HEAVY, "numpy", "pydantic", "yaml"}
    loaded = run_python("import sys, rrgmetrics; rrgmetrics.score; rrgmetrics.load; print(*sys.modules)")
    assert not {name.partition(".")[0] for name in loaded.split()} & {*HEAVY, "pydantic"}


def test_a_first_answer_loads_what_it_needs_alone(run_python, tmp_path):
    """What SciPy and the network's modules would add is more than all the rest takes."""
    (tmp_path / "r.txt").write_text("Small left effusion. Mild cardiomegaly.\n")
    (tmp_path / "c.txt").write_text("Large left effusion. Heart size is normal.\n")
    script = "import sys; from rrgmetrics.cli import main; assert not main(sys.argv[1:]); print('|', *sys.modules)"
    arguments = ("score", "--references", "r.txt", "--predictions", "c.txt", "--metrics", "finding_errors")
    loaded = run_python(script, *arguments, "--no-progress").rpartition("|")[2].split()
    assert not {*loaded} & {*HEAVY, "asyncio", "http.client", "importlib.metadata", "multiprocessing", "tqdm"}


def test_commands_of_ratings_load_no_web_page(run_python):
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
