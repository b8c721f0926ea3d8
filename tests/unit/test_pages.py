"""The report page: what it says, what it escapes, what it marks."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics.errors import InputError
from rrgmetrics.reporting.differences import differences
from rrgmetrics.reporting.numbers import show
from rrgmetrics.reporting.report import report_page
from rrgmetrics.reporting.results import how_tested
from rrgmetrics.reports import Context, Pair
from rrgmetrics.scorers.base import Mean
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import SPECS, Key
from rrgmetrics.stats import Estimate
from rrgmetrics.systems.table import Row, compare_systems
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


def texts_of(html):
    """The studies that the page has as data, the worst first."""
    blocks = re.findall(r'<script type="application/json" class="texts">(.*?)</script>', html, re.DOTALL)
    often = numbers_of(html)["often"]
    texts = [json.loads(line) for block in blocks for line in block.split("\n")]
    return [re.sub("[\ue000-\ue0ff]", lambda sign: often[ord(sign[0]) - 0xE000], text) for text in texts]


def numbers_of(html):
    return json.loads(re.search(r'<script type="application/json" id="numbers">(.*?)</script>', html, re.DOTALL)[1])


def shown_ids(html):
    return [re.search(r"<h3[^>]*><bdi>(.*?)</bdi>", text)[1] for text in texts_of(html)]


def test_worst_first_and_unscored_last():
    html = page(study_ids=["a", "b", "c"])
    assert shown_ids(html) == ["c", "a", "b"]
    numbers = numbers_of(html)
    assert numbers["numbers"] == [2, 0, 1]
    assert numbers["metrics"][0]["values"] == [[0.25, 0.75, None]]


def test_scores_counts_and_provenance():
    rows = [Row("rouge", key, "mini", Estimate(0.5, 0.25, 0.75, 2), 1, 1, None, math.nan) for key in fake().titled.keys]
    html = page(rows=rows)
    table = "0.500", "0.250 to 0.750", "higher is better", "1 study not scored", "median 0.500"
    study = "72 years, female", "18 months", "Cough", "(empty report)", "Not scored: the metric gave no number."
    for words in ("3 studies, 1 not scored, 1 system, 1 metric", *table, *study, f"rouge|n:3|v:{VERSION}"):
        assert words in html
    assert not re.search(r"\bnan\b", html)


def test_everything_from_outside_is_escaped():
    attack = "</script><script>alert(1)</script><!--\"'><img src=x onerror=alert(1)>"
    pairs = [Pair(attack, "Clear. " + attack, Context(None, "", attack))]
    html = report_page({attack: {"rouge": fake(values=(0.5,))}}, {attack: pairs}, [attack], title=attack)
    assert html.count("<script>") == 1  # ours
    assert html.count("</script>") == 3  # ours, and two blocks of data
    assert "<img" not in re.sub(r'<script type="application/json" id="numbers">.*?</script>', "", html)
    assert "<!--" not in html
    assert numbers_of(html)["systems"] == [attack]
    private = "Clear \ue000 lungs."
    assert "Clear &#57344; lungs." in texts_of(page([Pair(private, private)], values=(0.5,)))[0]


def test_the_page_is_complete_in_itself():
    html = page()
    assert not re.findall(r"https?://|@import|url\(", html)
    links = {link for link in re.findall(r'(?:src|href)="([^"]*)"', html) if link != "data:,"}
    assert links <= {f"#{name}" for name in re.findall(r' id="([^"]*)"', html)}
    assert "default-src 'none'" in html


def test_several_systems():
    results = {"one": {"rouge": fake()}, "two": {"rouge": fake(values=(0.25, 0.5, 0.5))}}
    others = [pair._replace(candidate="Effusion on the right.") for pair in PAIRS]
    rows = compare_systems(results, trials=20)
    html = report_page(results, {"one": PAIRS, "two": others}, ["a", "b", "c"], rows=rows)
    assert shown_ids(html) == ["c", "a", "b"]  # means 0.375, 0.5 and, of the one scored, 0.5
    assert "<h1>No difference is shown between one and two.</h1>" in html
    for words in (
        "Differences from one",
        "largest difference",
        "no difference shown",
        "A grey bar shows no significant difference",
    ):
        assert words in html


def test_lower_is_better_sorts_the_other_way():
    result = fake(values=(1.0, 3.0, 2.0))
    keys = (Key("rouge", "Errors", (0.0, math.inf), False),)
    result = dataclasses.replace(result, spec=dataclasses.replace(result.spec, keys=keys))
    html = report_page({"mini": {"rouge": result}}, {"mini": PAIRS}, ["a", "b", "c"])
    assert shown_ids(html) == ["b", "c", "a"]
    assert "lower is better" in html
    assert "2.00" in html


def test_many_studies_are_cut_and_that_is_said():
    html = page([PAIRS[0]] * 7, values=[0.1 * i for i in range(7)], max_studies=2)
    assert shown_ids(html) == ["1", "2"]
    assert "the 2 worst are in this file, 5 of 7 are left out" in html


def test_a_long_report_is_cut_and_that_is_said():
    html = page([Pair("word " * 20_000, "word"), *PAIRS[1:]])
    assert "… and 94,000 more characters" in html
    assert len(html) < 80_000


def test_all_unscored():
    html = page(values=(math.nan,) * 3)
    assert "no study scored" in html
    assert "ROUGE-L: mini not scored." in html


def test_what_the_reader_finds_stands_beside_each_report():
    text = texts_of(page(PAIRS[:1], values=(0.5,)))[0]
    assert '<mark class="kind-incorrect_location">Small right pleural effusion</mark>' in text
    assert '<mark class="kind-incorrect_location">Small left pleural effusion</mark>' in text
    assert "Pleural effusion, <b>side: right → left</b>." in text
    assert "The reader finds no error." in texts_of(page(PAIRS[2:], values=(0.5,)))[0]


def test_a_candidate_that_counts_as_an_empty_report_is_named():
    reference = "2 mm calcified granuloma in the right lower lobe. Hepatic steatosis. Cholelithiasis."
    text = texts_of(page([Pair(reference, "Fatty liver and gallstones. Calcified granuloma.")], values=(0.5,)))[0]
    assert "The candidate looks like an abdominal report and counts as an empty report." in text
    assert text.count("Only the reference reports") == 3
    assert "counts as an empty" not in texts_of(page(PAIRS[:1], values=(0.5,)))[0]


def test_a_mark_in_the_reference_says_whose_error_it_is():
    results = {name: {"rouge": fake(values=(0.5,))} for name in ("one", "two", "three")}
    candidates = {"one": "Clear lungs.", "two": PAIRS[0].reference, "three": "Clear lungs. Normal heart."}
    pairs = {name: [Pair(PAIRS[0].reference, text)] for name, text in candidates.items()}
    assert ">B one, three<" in texts_of(report_page(results, pairs))[0]
    pairs["two"] = pairs["one"]
    assert ">B all<" in texts_of(report_page(results, pairs))[0]


def test_words_that_all_candidates_lack_are_marked_apart():
    reference = "Chronic changes, as described."
    results = {name: {"rouge": fake(values=(0.5,))} for name in ("one", "two")}

    def column(*candidates):
        pairs = {name: [Pair(reference, text)] for name, text in zip(results, candidates, strict=True)}
        return texts_of(report_page(results, pairs))[0].split("data-system")[0]

    assert "only_here" not in column("Changes, as described.", "Chronic, as described.")
    assert '<mark class="kind-only_here">Chronic</mark>' in column(*["Changes, as described."] * 2)


def test_reports_of_another_kind_are_not_marked():
    spanish = "Los pulmones están claros y no hay derrame pleural. El corazón es de tamaño normal."
    html = page([Pair(spanish, spanish)] * 6, values=(0.5,) * 6)
    assert "The reader finds no error" not in html
    assert 'id="findings"' not in html
    assert 'id="parts"' not in html


def test_judges_say_what_they_saw():
    results = rrgmetrics.score("green?explain=yes", predictions=["Left effusion."], references=["Right effusion."])
    pairs = {"mini": [Pair("Right effusion.", "Left effusion.")]}
    text = texts_of(report_page({"mini": results}, pairs))[0]
    assert re.search(r'<details class="judge"><summary>GREEN .*?kind-incorrect_location', text, re.DOTALL)


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
        (math.nan, 1.0, "not scored"),
    ],
)
def test_numbers(value, top, shown):
    assert show(value, Key("k", "K", (0.0, top), True)) == shown


def test_what_does_not_fit_together_is_refused():
    results = {"mini": {"rouge": fake()}}
    for arguments, message in [
        (({}, {}), "nothing to show"),
        (({"mini": {}}, {"mini": PAIRS}), "nothing to show"),
        ((results, {}), "pairs lacks 'mini'"),
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


def test_the_page_says_how_differences_were_tested():
    reports = {"a": ["Small right pleural effusion."] * 3, "b": ["Clear lungs."] * 3}
    compared = rrgmetrics.compare(reports, ["The lungs are clear."] * 3, metrics=["bleu"], trials=20)
    note = how_tested(compared.rows, compared.correction)
    assert note == "two-sided randomisation test, every swap of pairs"
    assert f'<p class="note">p: {note}.</p>' in compared.to_html()


def test_a_page_counts_the_scored_studies_in_all_its_parts():
    """A study without a reference is in no part, and the errors of the others are divided by their number."""
    references = [("Small left pleural effusion.", "The lungs are clear.")[n % 3 == 0] for n in range(32)]
    references[3] = ""
    reports = {"a": ["Small right pleural effusion."] * 32, "b": ["Clear lungs."] * 32}
    page = rrgmetrics.compare(reports, references, metrics=["finding_errors", "bleu"], trials=20).to_html()
    parts = re.findall(r"(Normal|Abnormal) studies</b></th><td[^>]*>(\d+)", page)
    assert parts[:2] == [("Normal", "10"), ("Abnormal", "21")]
    found = page[page.index("Errors by finding group</h2>") :]
    assert re.findall(r'class="value">([\d.]+)', found)[:2] == ["100.0", f"{100 * 21 / 31:.1f}"]
