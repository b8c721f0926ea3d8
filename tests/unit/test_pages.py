"""The report page: what it says, what it escapes, what it marks."""

import math
import re

import numpy as np
import pytest

from rrgmetrics.errors import InputError
from rrgmetrics.present.differences import differences
from rrgmetrics.present.marks import Explanation, Mark
from rrgmetrics.present.numbers import show
from rrgmetrics.present.report import report_page
from rrgmetrics.reader.model import Span
from rrgmetrics.reports import Context, Pair
from rrgmetrics.results import Result
from rrgmetrics.scorers.base import Mean
from rrgmetrics.specs import SPECS, Key
from rrgmetrics.version import VERSION

PAIRS = [
    Pair("Small right pleural effusion.", "Small left pleural effusion.", Context(72.0, "F", "Cough")),
    Pair("Clear lungs.", "", Context(1.5)),
    Pair("Normal heart size.", "Normal heart size."),
]


def fake(name="rouge", values=(0.75, math.nan, 0.25)):
    """A Result whose keys all have `values`."""
    spec = SPECS[name]
    keys = tuple(key.name for key in spec.keys)
    stats = np.repeat(np.array(values, dtype=float)[:, None], len(keys), axis=1)
    reduction = Mean(keys)
    scores = {key: float(np.nanmean(values)) if np.isfinite(values).any() else math.nan for key in keys}
    return Result(spec, scores, reduction.per_pair(stats), stats, reduction, f"{name}|n:{len(stats)}|v:{VERSION}")


def page(pairs=PAIRS, values=(0.75, math.nan, 0.25), study_ids=None, **options):
    return report_page({"mini": {"rouge": fake(values=values)}}, {"mini": pairs}, study_ids, **options)


def shown_ids(html):
    return re.findall(r'<h3 class="searched"[^>]*>(.*?)</h3>', html)


def test_worst_first_and_unscored_last():
    assert shown_ids(page(study_ids=["a", "b", "c"])) == ["c", "a", "b"]


def test_scores_counts_and_provenance():
    html = page(intervals={"mini": {"rouge": {"rouge": (0.25, 0.75)}}})
    table = "0.500", "0.250 to 0.750", "higher is better", "1 unscored", "median 0.500"
    study = "72 years, female", "18 months", "Cough", "(empty report)", '<span class="unscored">unscored</span>'
    for words in ("3 studies, 1 system, 1 metric.", *table, *study, f"rouge|n:3|v:{VERSION}"):
        assert words in html
    assert html.count('<span class="title">ROUGE-L</span>') == 1  # rouge_l repeats the headline
    assert not re.search(r"\bnan\b", html)


def test_everything_from_outside_is_escaped():
    attack = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    pairs = [Pair(attack, "Clear. " + attack, Context(None, "", attack))]
    evidence = {attack: [Explanation((Mark((Span(0, 3),), "false_finding"),))]}
    results = {attack: {"rouge": fake(values=(0.5,))}}
    html = report_page(results, {attack: pairs}, [attack], title=attack, evidence=evidence)
    assert html.count("<script>") == 1  # ours
    assert "<img" not in html
    assert "{{" not in html


def test_the_page_is_complete_in_itself():
    html = page()
    assert not re.findall(r"https?://|@import|url\(", html)
    assert re.findall(r'(?:src|href)="([^"]*)"', html) == ["data:,", "#studies"]
    assert "default-src 'none'" in html


def test_several_systems():
    results = {"one": {"rouge": fake()}, "two": {"rouge": fake(values=(0.25, 0.5, 0.5))}}
    others = [pair._replace(candidate="Effusion on the right.") for pair in PAIRS]
    html = report_page(results, {"one": PAIRS, "two": others}, ["a", "b", "c"])
    assert shown_ids(html) == ["c", "a", "b"]  # means 0.375, 0.5 and, of the one scored, 0.5
    for words in (
        "ROUGE-L: mean of systems",
        "ROUGE-L: two",
        "ROUGE-L: largest difference",
        "missing from every system",
    ):
        assert words in html


def test_lower_is_better_sorts_the_other_way(monkeypatch):
    import dataclasses

    result = fake(values=(1.0, 3.0, 2.0))
    keys = (Key("rouge", "Errors", (0.0, math.inf), False),)
    html = report_page(
        {"mini": {"rouge": dataclasses.replace(result, spec=dataclasses.replace(result.spec, keys=keys))}},
        {"mini": PAIRS},
        ["a", "b", "c"],
    )
    assert shown_ids(html) == ["b", "c", "a"]
    assert "lower is better" in html
    assert "3.00" in html


def test_many_studies_are_cut_and_that_is_said():
    html = page([PAIRS[0]] * 7, values=[0.1 * i for i in range(7)], max_studies=2)
    assert shown_ids(html) == ["1", "2"]
    assert "The 2 worst by ROUGE-L are shown; 5 of 7 are left out." in html


def test_a_long_report_is_cut_and_that_is_said():
    html = page([Pair("word " * 20_000, "word"), *PAIRS[1:]])
    assert "… and 94,000 more characters" in html
    assert len(html) < 40_000


def test_all_unscored():
    assert "no study scored" in page(values=(math.nan,) * 3)


def test_evidence_is_marked_in_place():
    marks = [(Mark((Span(6, end),), "incorrect_location"),) for end in (11, 10)]
    evidence = {"mini": [Explanation(*marks)]}
    html = page(PAIRS[:1], values=(0.5,), evidence=evidence)
    assert '<span class="e0 evidence m-all m0">right</span><span class="tag e0">C wrong location</span>' in html
    assert '<span class="added e0 evidence">left</span><span class="tag e0">C wrong location</span>' in html


@pytest.mark.parametrize(
    ("reference", "candidate", "missing", "added"),
    [
        ("Small right effusion.", "Small left effusion.", ["right"], ["left"]),
        ("Clear lungs.", "Clear lungs.", [], []),
        ("Clear lungs.", "clear LUNGS", [], []),
        ("Clear lungs.", "", ["Clear lungs"], []),
        ("", "", [], []),
        ("Effusion.", "There is an effusion.", [], []),
        ("Heart is normal. No pleural effusion seen.", "No pleural effusion seen. Heart is normal.", [], []),
        ("8 mm nodule.", "3 mm nodule.", ["8"], ["3"]),
        ("No effusion.", "Effusion.", ["No"], []),
        ("Mass of 4.2 x 3.8 cm.", "Mass of 4.2 cm.", ["x 3.8"], []),
    ],
)
def test_differences(reference, candidate, missing, added):
    spans = differences(reference, candidate)
    texts = [
        [text[span.start : span.end] for span in part] for text, part in zip((reference, candidate), spans, strict=True)
    ]
    assert texts == [missing, added]


@pytest.mark.parametrize(
    ("value", "top", "shown"),
    [
        (0.41249, 1.0, "0.412"),
        (-0.25, 1.0, "−0.250"),
        (-0.0001, 1.0, "0.000"),
        (3.14159, 10.0, "3.14"),
        (math.nan, 1.0, "unscored"),
    ],
)
def test_numbers(value, top, shown):
    assert show(value, Key("k", "K", (0.0, top), True)) == shown


def test_what_does_not_fit_together_is_refused():
    results = {"mini": {"rouge": fake()}}
    for arguments, message in [
        (({}, {}), "nothing to show"),
        (({"mini": {}}, {"mini": PAIRS}), "nothing to show"),
        ((results, {}), "pairs has no 'mini'"),
        ((results, {"mini": PAIRS[:2]}), r"results\['mini'\]\['rouge'\] has 3 entries for the 2 pairs"),
        ((results, {"mini": PAIRS}, ["a"]), "study_ids has 1"),
        (({**results, "b": {"bleu": fake("bleu")}}, {"mini": PAIRS, "b": PAIRS}), "was scored with"),
        (
            ({**results, "b": {"rouge": fake()}}, {"mini": PAIRS, "b": PAIRS[::-1]}),
            "not scored against the same references",
        ),
    ]:
        with pytest.raises(InputError, match=message):
            report_page(*arguments)
    with pytest.raises(InputError, match="evidence"):
        page(evidence={"mini": []})
