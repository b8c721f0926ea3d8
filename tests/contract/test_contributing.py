"""The worked example of CONTRIBUTING.md is a metric: built from its lines, as a package of somebody else's."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from dataclasses import replace

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import InputError, cli
from rrgmetrics.reporting import cards
from rrgmetrics.specs import all_specs, plugins
from rrgmetrics.testing import CHECKS, case_of
from rrgmetrics.testing.folders import check_citation
from rrgmetrics.testing.names import check_options_in_one_call
from rrgmetrics.testing.scores import check_identical_text_is_best
from worked_examples import block, install

IMPORTS = "from rrgmetrics.specs import INF, TEXT_OPTION, UNDEFINED, Key, MetricSpec, Option\n\n"
INSIDE = 'scorer="rrgmetrics.scorers.length_ratio:LengthRatio"'
OUTSIDE = 'scorer="length_metrics.scorer:LengthRatio", modules="length_metrics.metrics"'

NOWHERE = 'scorer="mistaken:Scorer"'


def row(name: str = "length_ratio", scorer: str = OUTSIDE) -> str:
    """The example's row as an expression, of a package of its own."""
    text = block("rrgmetrics/specs/lexical.py").strip().removesuffix(",")
    assert INSIDE in text
    return text.replace(INSIDE, scorer).replace("length_ratio", name)


def forget() -> None:
    """As in a new process: no package of others is known."""
    plugins.cache_clear()
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("length_metrics", "rival")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package of "Add a metric from outside", installed; returns the folder on sys.path."""
    folder = tmp_path_factory.mktemp("site-packages")
    modules = {
        "length_metrics/__init__.py": "",
        "length_metrics/rows.py": f"{IMPORTS}LENGTH_RATIO = {row()}\n",
        "length_metrics/scorer.py": block("rrgmetrics/scorers/length_ratio.py"),
        "length_metrics/metrics/__init__.py": "",
        "length_metrics/metrics/length_ratio/README.md": block("metrics/length_ratio/README.md"),
    }
    install(folder, tomllib.loads(block("pyproject.toml"))["project"], modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        forget()
        assert cards.main(["length_ratio"]) == 0
        yield folder
    forget()


@pytest.fixture(scope="module")
def case(package):
    return case_of("length_ratio")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_example_keeps_the_contract(case, check):
    check(case)


def test_its_own_tests_pass(package):
    names: dict = {}
    exec(block("tests/parity/test_length_ratio.py"), names)
    names["test_by_hand"]()
    exec(block("tests/test_contract.py"), names)
    assert names["CHECKS"] is CHECKS


def test_it_lists_scores_and_loads(package, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    texts = {"predictions": ["a b"], "references": ["a b c d"]}
    assert rrgmetrics.load("length_ratio").compute(**texts, progress=False)["length_ratio"] == 0.5
    assert cli.main(["list"]) == cli.main(["list", "length_ratio"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^length_ratio +closer to 1 +0 to ∞ ", out, re.MULTILINE)
    assert "(length-metrics)" in out
    assert "it counts words" in out
    (tmp_path / "pairs.csv").write_text("reference,candidate\na b c d,a b\n")
    assert cli.main(["score", str(tmp_path / "pairs.csv"), "--metrics", "length_ratio", "--no-progress"]) == 0
    assert "Length ratio → 1" in capsys.readouterr().out
    signature = rrgmetrics.score("length_ratio", progress=False, **texts)["length_ratio"].signature
    assert signature.startswith("length_ratio|text:none@1|shortest:1|package:length-metrics@1.0|n:1|v:")
    with pytest.raises(InputError, match="has no option 'explain'"):
        rrgmetrics.score("length_ratio?explain=yes", **texts)


def test_it_explains_if_it_can(package, monkeypatch):
    scorer = sys.modules["length_metrics.scorer"].LengthRatio
    monkeypatch.setattr(
        scorer, "details", lambda self, pairs, words: {"lengths": [words[p.candidate] for p in pairs]}, False
    )
    result = rrgmetrics.score("length_ratio", predictions=["a b"], references=["a"], progress=False)["length_ratio"]
    assert result.details["lengths"] == [2]


def test_a_contract_that_is_broken_is_named(package, monkeypatch):
    from rrgmetrics.testing import check_metric

    monkeypatch.setattr(
        sys.modules["length_metrics.scorer"].LengthRatio,
        "pair_stats",
        lambda self, pairs, annotations, statistics=None: np.full((len(pairs), 1), -1.0),
    )
    with pytest.raises(AssertionError) as error:
        check_metric("length_ratio")
    assert error.value.__notes__[0].startswith("check_range: No value lies outside the declared range")


def test_values_of_an_option_that_share_a_key_are_found(monkeypatch):
    from rrgmetrics.scorers.bleu import Bleu

    backend = Bleu.backend
    monkeypatch.setattr(Bleu, "backend", lambda self, runtime: replace(backend(self, runtime), key="ngrams"))
    with pytest.raises(AssertionError) as error:
        check_options_in_one_call(case_of("bleu"))
    assert "add to the backend's key everything that changes its output" in error.value.__notes__[0]


def test_a_metric_that_cannot_tell_the_reports_apart_is_told_to_bring_others():
    reports = case_of("bleu").references
    with pytest.raises(
        AssertionError, match=r"bleu does not distinguish any altered report .* pass case_of\(\) reports"
    ):
        check_identical_text_is_best(case_of("bleu", references=reports, altered=reports))


def test_a_citation_that_the_card_lacks_is_named():
    case = case_of("bleu")
    with pytest.raises(AssertionError, match=r"^citation 'nope' is not a key of the card's bibtex"):
        check_citation(replace(case, spec=replace(case.spec, citation="nope")))


# --- packages that cannot be used


@pytest.fixture
def others(tmp_path, monkeypatch):
    """Installs packages with one entry point each; returns the function that does."""
    monkeypatch.syspath_prepend(tmp_path)

    def add(name: str, point: str, code: str) -> None:
        project = {"name": name, "entry-points": {"rrgmetrics.metrics": {point: f"{name}:ROW"}}}
        install(tmp_path, project, {f"{name}.py": code})
        forget()

    yield add
    monkeypatch.undo()
    forget()
    for name in ("broken", "mistaken", "rival_one", "rival_two"):
        sys.modules.pop(name, None)


def test_a_broken_package_is_named_and_leaves_the_others_alone(package, others, caplog):
    others("broken", "their_metric", "import no_such_module")
    others("mistaken", "their_other", "ROW = 'bleu'")
    assert "length_ratio" in all_specs()
    assert "their_metric" not in all_specs()
    assert "broken declares 'their_metric', which cannot be used: No module named 'no_such_module'" in caplog.text
    assert (
        "mistaken declares 'their_other', which cannot be used: mistaken:ROW is a str, not a MetricSpec; it"
        in caplog.text
    )
    with pytest.raises(InputError, match="broken declares 'their_metric'"):
        rrgmetrics.score("their_metric", predictions=["a"], references=["a"])
    assert rrgmetrics.score("length_ratio", predictions=["a"], references=["a"], progress=False)


@pytest.mark.parametrize(
    ("scorer", "why"),
    [
        ("no_such_package.scorer:LengthRatio", "cannot be imported: No module named 'no_such_package'."),
        ("length_metrics.scorer:Length", "cannot be imported: module 'length_metrics.scorer' has no attribute"),
        ("rrgmetrics.scorers.bleu:BleuReduction", "does not accept the options of the spec: "),
    ],
)
def test_a_scorer_that_cannot_be_made_is_named_with_its_package(package, others, scorer, why):
    outside = f'scorer="{scorer}", modules="length_metrics.metrics"'
    others("mistaken", "their_ratio", f"{IMPORTS}ROW = {row('their_ratio', outside)}")
    with pytest.raises(InputError, match=re.escape(f"their_ratio (mistaken): scorer={scorer!r} {why}")):
        rrgmetrics.score("their_ratio", predictions=["a"], references=["a"])


def test_a_card_that_is_not_there_says_what_the_row_may_lack(others, capsys):
    others("mistaken", "their_ratio", f"{IMPORTS}ROW = {row('their_ratio', NOWHERE)}")
    assert cards.main(["their_ratio"]) == 2
    error = capsys.readouterr().err
    assert error.endswith(
        "is missing; write the metric card first (the spec of a plug-in names its folder with modules=...).\n"
    )


def test_names_that_are_taken_are_refused_with_both_packages(package, others, caplog):
    others("rival_one", "length_ratio", f"{IMPORTS}ROW = {row()}")
    others("rival_two", "bleu", f"{IMPORTS}ROW = {row('bleu')}")
    assert all_specs()["bleu"].scorer == "rrgmetrics.scorers.bleu:Bleu"
    with pytest.raises(InputError, match="length-metrics and rival_one both have a metric or key named 'length_ratio'"):
        rrgmetrics.score("length_ratio", predictions=["a"], references=["a"])
    assert "rrgmetrics and rival_two both have a metric or key named 'bleu'; it is left out." in caplog.text


def test_nothing_of_others_is_imported_before_it_is_asked_for(package, run_python):
    script = f"""
import sys
sys.path.insert(0, {str(package)!r})
import rrgmetrics
rrgmetrics.score("rouge", predictions=["a"], references=["a"], progress=False)
print("length_metrics" in sys.modules)
rrgmetrics.score("length_ratio", predictions=["a"], references=["a"], progress=False)
print("length_metrics" in sys.modules)
"""
    assert run_python(script).split() == ["False", "True"]
