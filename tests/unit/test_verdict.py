"""The verdict in words: which system is better, in which metrics, how sure."""

import math

import pytest

import rrgmetrics
from rrgmetrics.cli import main
from rrgmetrics.reporting.report import sections
from rrgmetrics.reporting.verdict import Tally, verdict_alone, verdict_on

FIVE = ("V", "W", "X", "Y", "Z")


@pytest.mark.parametrize(
    ("tallies", "headline", "parts"),
    [
        ([Tally("b", ("X",), (), (), 0.004)], "b is better than a in X.", ["p at most 0.004"]),
        ([Tally("b", ("X",), (), (), 0.0333)], "b is better than a in X.", ["p at most 0.033"]),  # as in the table
        ([Tally("b", (), FIVE, (), 0.0002)], "a is better than b in all 5 metrics.", ["p below 0.001"]),
        (
            [Tally("b", FIVE, (), ("U",), 0.01)],
            "b is better than a in 5 of 6 metrics.",
            ["No difference is shown in U."],
        ),
        ([Tally("b", FIVE, ("U",), (), 0.01)], "b is better than a in 5 of 6 metrics.", ["a is better in U."]),
        (
            [Tally("b", ("X",), ("Y",), ("Z",), 0.01)],
            "The metrics disagree on a and b.",
            ["a is better in Y.", "b is better in X.", "No difference is shown in Z."],
        ),
        ([Tally("b", (), (), FIVE, math.nan)], "No difference is shown between a and b.", ["They may still differ"]),
        (
            [Tally("b", FIVE, (), (), 0.01), Tally("c", (), FIVE, (), 0.02), Tally("d", (), (), FIVE, math.nan)],
            "b is better than a; a is better than c; between a and d no difference is shown.",
            ["b: better in all 5 metrics.", "c: worse in all 5 metrics.", "p at most 0.020", "Holm over 15 tests"],
        ),
        (
            [
                Tally("b", ("X",), ("Y", "Z"), (), 0.01),
                Tally("c", FIVE, (), (), 0.01),
                Tally("d", FIVE, ("U",), (), 0.01),
            ],
            "c is better than a; d is better than a in most metrics; a is better than b in most metrics.",
            ["b: better in X; worse in Y and Z.", "c: better in all 5 metrics.", "d: better in 5 of 6 metrics; worse"],
        ),
        (
            [Tally(name, (), (), ("X",), math.nan) for name in "bc"],
            "Between a and each of b and c no difference is shown.",
            ["b: no difference shown in X."],
        ),
    ],
)
def test_which_system_is_better(tallies, headline, parts):
    found = verdict_on("a", tallies, "Holm", sum(each.n for each in tallies))
    assert found.headline == headline
    assert all(part in " ".join(found.lines) for part in parts)
    assert ("If the systems were equally good" in " ".join(found.lines)) == any(
        each.better or each.worse for each in tallies
    )


@pytest.mark.parametrize(
    ("metrics", "n"),
    [
        (["green", "finding_errors", "semb_score", "bleu"], 2),
        (["green", "semb_score?vectors=conditions"], 2),
        (["finding_errors", "crepe", "bleu"], 2),
        (["green", "semb_score", "radeval_bertscore"], 0),  # the encoder alone gives their vectors
    ],
)
def test_metrics_that_share_the_readers_errors_are_counted(metrics, n, reports):
    systems = {"a": reports.altered, "b": reports.references}
    found = rrgmetrics.compare(systems, reports.references, metrics=metrics, trivial=False, progress=False, trials=100)
    lines = " ".join(sections.verdict(found.results, found.rows, None, "holm").lines)
    assert ("share the errors of the same bundled reader" in lines) == bool(n)
    assert ("CREPE (bundled) was trained with it" in lines) == ("crepe" in metrics)
    assert (f"{n} of these metrics" in lines) == bool(n)


def test_score_names_metrics_that_share_the_readers_errors(tmp_path, capsys):
    (tmp_path / "p.csv").write_text("reference,candidate\nLarge left effusion.,Small left effusion.\n")
    assert main(["score", str(tmp_path / "p.csv"), "--metrics", "finding_errors", "crepe", "--no-trivial"]) == 0
    assert "2 of these metrics share the errors of the same bundled reader" in capsys.readouterr().out


def test_a_single_system_beside_trivial_ones():
    assert verdict_alone("a", FIVE, ()).headline == "a is better than every trivial system in all 5 metrics."
    assert "not clearly better than the best of them in U." in " ".join(verdict_alone("a", FIVE, ["U"]).lines)
    assert verdict_alone("a", FIVE[:2], ()).headline == "a is better than every trivial system in both metrics."
    assert verdict_alone("a", (), FIVE).headline == "a is not clearly better than a trivial system in any of 5 metrics."
