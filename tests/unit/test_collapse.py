"""Whether a system writes a report for each study, on made cases."""

import math

import pytest

from rrgmetrics.baselines.collapse import diversity, find_collapse
from rrgmetrics.reporting.worth import collapse_table

WRITTEN = [f"Nodule of {number} mm in the left lung." for number in range(590)]


def test_twenty_five_reports_for_590_studies():
    """Report 0 for 110 studies, each of the 24 others for 20."""
    few = [f"Report number {0 if study < 110 else 1 + (study - 110) // 20}." for study in range(590)]
    collapse = find_collapse("mine", few, WRITTEN)
    assert collapse.own.n_distinct == 25
    assert collapse.own.commonest == "Report number 0."
    assert collapse.own.commonest_share == pytest.approx(110 / 590)
    assert collapse.own.mean_words == 3
    assert collapse.own.vocabulary == 2 + 25
    assert collapse.sentence == (
        "mine writes 25 distinct reports for 590 studies, the most frequent one 19% of the time; the radiologists "
        "wrote 590, the most frequent one 0% of the time."
    )


def test_self_similarity_is_the_mean_cosine_of_all_pairs():
    """Of "a b", "a c" and "d": 1/2, 0 and 0."""
    assert diversity(["a b", "a c", "d"]).self_similarity == pytest.approx(0.5 / 3)
    assert diversity(["a b", "a  B"]).self_similarity == pytest.approx(1.0)
    assert diversity([".", "."]).self_similarity == pytest.approx(1.0)
    assert diversity([".", "a"]).self_similarity == pytest.approx(0.0)
    assert math.isnan(diversity(["a"]).self_similarity)


def test_missing_reports_are_not_counted():
    collapse = find_collapse("mine", ["Clear."] * 19 + [""], ["", *WRITTEN[:19]])
    assert "mine writes 1 distinct report for 19 studies; the radiologists wrote 19, " in collapse.sentence
    assert diversity([" ", ""])[:2] == (0, 0)


def test_a_system_that_writes_nothing():
    assert find_collapse("mine", [""] * 20, WRITTEN[:20]).sentence == "mine writes nothing in 20 of 20 reports."
    assert find_collapse("mine", [""] * 20, [""] * 20).sentence == ""


@pytest.mark.parametrize(
    ("candidates", "references"),
    [
        (WRITTEN[:20], WRITTEN[:20]),
        (["Clear."] * 20, ["Clear lungs."] * 20),  # the radiologists wrote one report too
        (["Clear."] * 4, WRITTEN[:4]),  # too few to tell
    ],
)
def test_what_is_no_collapse(candidates, references):
    assert find_collapse("mine", candidates, references).sentence == ""


def test_one_report_for_many_among_many():
    often = WRITTEN[:80] + ["Clear."] * 20
    assert find_collapse("mine", often, WRITTEN[:100]).sentence.startswith(
        "mine writes 81 distinct reports for 100 studies, the most frequent one 20% of the time"
    )


def test_the_table_explains_its_columns():
    table = collapse_table([find_collapse("mine", ["Clear."] * 4, WRITTEN[:4])])
    assert table.heads == ("", "distinct", "most frequent", "words", "vocabulary", "similarity")
    assert all(f"{head}: " in table.note for head in table.heads[1:])
