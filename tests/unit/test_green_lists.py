"""GREEN's tolerant parser on lists of errors under or behind a counted category, in the forms that judges write."""

from __future__ import annotations

import pytest

from rrgmetrics.errors import VerdictError
from rrgmetrics.scorers.green.parsers import INSIGNIFICANT, LABELS, SIGNIFICANT, strict, tolerant

A, B, C, D, E, F = LABELS
ZEROS = (0,) * 6


def reply(body: str) -> str:
    """A whole reply whose significant errors are `body`."""
    zeros = "\n".join(f"{label}: 0." for label in LABELS)
    return (
        f"[Explanation]:\nInvented.\n\n[{SIGNIFICANT}]:\n{body}\n\n[{INSIGNIFICANT}]:\n{zeros}\n\n"
        "[Matched Findings]:\n1. Clear lungs"
    )


LISTS = {
    # the reported ones
    "inline, digits": (f"{B}: 2. (1) Omission of effusion; (2) Omission of heart size.", (0, 2, 0, 0, 0, 0)),
    "bullets": (f"{B}: 2.\n- Omission of effusion.\n- Omission of heart size.", (0, 2, 0, 0, 0, 0)),
    "numbers": (f"{B}: 2.\n   1. No effusion mentioned;\n   2. No heart size.", (0, 2, 0, 0, 0, 0)),
    # under a lettered category
    "plain lines": (f"{B}: 2.\nOmission of effusion\nMissing mention of the nodule\n{C}: 0.", (0, 2, 0, 0, 0, 0)),
    "asterisks": (f"{A}: 1.\n* False mention of a mass\n{B}: 1.\n* Missing nodule", (1, 1, 0, 0, 0, 0)),
    "dots": (f"{A}: 1.\n  • False mention of a mass\n{B}: 0.", (1, 0, 0, 0, 0, 0)),
    "plus signs": (f"{B}: 2.\n + Omits the effusion\n + Omits the nodule", (0, 2, 0, 0, 0, 0)),
    "numbers in brackets": (f"{B}: 2.\n(1) Effusion\n(2) Nodule\n{C}: 1.\n(1) Side of the mass", (0, 2, 1, 0, 0, 0)),
    "numbers, one bracket": (f"{A}: 0.\n{B}: 3.\n1) Effusion\n2) Nodule\n3) Fracture\n{F}: 0.", (0, 3, 0, 0, 0, 0)),
    "more than six": (f"{B}: 7.\n" + "".join(f"{n}. Missing rib {n}\n" for n in range(1, 8)), (0, 7, 0, 0, 0, 0)),
    "one of one": (f"{D}: 1.\n1. Misassessment of effusion as large", (0, 0, 0, 1, 0, 0)),
    "numbers in every category": (
        f"{A}: 1.\n1. Mass\n{B}: 2.\n1. Effusion\n2. Nodule\n{C}: 0.\n{D}: 1.\n1. Size of the heart",
        (1, 2, 0, 1, 0, 0),
    ),
    "blank lines between": (
        f"{B}: 2.\n\n- Omission of effusion.\n\n- Omission of heart size.\n\n{C}: 0.",
        (0, 2, *ZEROS[2:]),
    ),
    "bold label": (f"**{B}:** 2.\n- **Omission** of effusion\n- **Omission** of nodule", (0, 2, 0, 0, 0, 0)),
    "bold count": (f"**{B}**: **2**\n  1. Effusion\n  2. Nodule", (0, 2, 0, 0, 0, 0)),
    "bold numbers": (f"{B}: 2.\n**1.** Effusion\n**2.** Nodule\n{E}: 0.", (0, 2, 0, 0, 0, 0)),
    "bulleted categories": (
        f"- {A}: 0.\n- {B}: 2.\n  - Omission of effusion\n  - Omission of nodule",
        (0, 2, *ZEROS[2:]),
    ),
    "heading categories": (f"### {A}: 0.\n### {B}: 1.\n- Missing nodule", (0, 1, 0, 0, 0, 0)),
    "count with a noun": (f"{B}: 2 errors\n- Omission of effusion\n- Omission of nodule", (0, 2, 0, 0, 0, 0)),
    "count with a colon": (f"{B}: 2:\n- Omission of effusion\n- Omission of nodule", (0, 2, 0, 0, 0, 0)),
    "count and brackets": (f"{B}: 2 (effusion; nodule)\n{C}: 0.", (0, 2, 0, 0, 0, 0)),
    "inline, one bracket": (
        f"{B}: 2. 1) Omission of effusion, 2) Omission of nodule\n{C}: 1. 1) Side",
        (0, 2, 1, *ZEROS[3:]),
    ),
    "inline, full stops": (f"{B}: 2. 1. Omission of effusion. 2. Omission of nodule.\n{C}: 0.", (0, 2, 0, 0, 0, 0)),
    "inline, commas": (f"{B}: 3. (1) Missing effusion, (2) missing nodule, (3) missing line.", (0, 3, 0, 0, 0, 0)),
    "inline, letters": (f"{B}: 2. (a) Omission of effusion; (b) Omission of nodule.\n{C}: 0.", (0, 2, 0, 0, 0, 0)),
    "inline, all categories on a line": (
        f"{A}: 1. (1) False mass. {B}: 2. (1) Omission of effusion; (2) Omission of nodule. {C}: 0.",
        (1, 2, 0, 0, 0, 0),
    ),
    "semicolons, then a list": (f"{B}: 2. Effusion; nodule.\n- Missing effusion\n- Missing nodule", (0, 2, 0, 0, 0, 0)),
    "letters of its own": (f"{B}: 2.\n  (a) Effusion\n  (b) Nodule\n{C}: 1.\n  (a) Side", (0, 2, 1, 0, 0, 0)),
    "letters without brackets": (
        f"{A}: 2.\n   a. Mass\n   b. Nodule\n{B}: 1.\n   a. Effusion\n{C}: 0.",
        (2, 1, *ZEROS[2:]),
    ),
    "counted errors": (f"{B}: 2.\n- Omission of effusion: 1.\n- Omission of nodule: 1.", (0, 2, 0, 0, 0, 0)),
    "errors with a colon": (f"{B}: 2.\n- Omission: effusion.\n- Omission: nodule.\n{C}: 0.", (0, 2, 0, 0, 0, 0)),
    "a size first": (f"{B}: 2.\n1. 2-cm nodule\n2. 4 mm nodule\n{C}: 0.", (0, 2, 0, 0, 0, 0)),
    "a size alone": (f"{B}: 2.\n- Missing nodule\n- 2.5 cm mass\n{C}: 0.", (0, 2, 0, 0, 0, 0)),
    "two levels": (f"{B}: 2.\n1. Effusion\n   - Missing on the left\n2. Nodule\n   - Omitted", (0, 2, 0, 0, 0, 0)),
    "another category's word": (f"{F}: 1.\n- Omission of the location of the tube\n{E}: 0.", (0, 0, 0, 0, 0, 1)),
    "prior study": (
        f"{F}: 2.\n1. Omitting that the effusion grew\n2. Missing comparison with 2019",
        (0, 0, 0, 0, 0, 2),
    ),
    "under no count": (f"{B}:\n- Omission of effusion.\n- Omission of clip.", (0, 2, 0, 0, 0, 0)),
    # under a category that a number marks, or nothing
    "numbers under numbers": (
        f"1. {A[4:]}: 1.\n   1. Mass\n2. {B[4:]}: 2.\n   1. Effusion\n   2. Nodule\n3. {C[4:]}: 0.",
        (1, 2, 0, 0, 0, 0),
    ),
    "bullets under numbers": (f"1. {A[4:]}: 0.\n2. {B[4:]}: 1.\n   - Omission of effusion", (0, 1, 0, 0, 0, 0)),
    "letters under numbers": (
        f"1. {A[4:]}: 2.\n   a) Mass\n   b) Nodule\n2. {B[4:]}: 1.\n   a) Clip",
        (2, 1, *ZEROS[2:]),
    ),
    "inline under numbers": (
        f"(1) {A[4:]}: 0.\n(2) {B[4:]}: 2. (1) Omission of effusion; (2) Missing clip",
        (0, 2, *ZEROS[2:]),
    ),
    "numbers under labels alone": (
        f"{A[4:]}: 0.\n{B[4:]}: 2.\n1. Effusion\n2. Nodule\n{C[4:]}: 0.",
        (0, 2, *ZEROS[2:]),
    ),
    "bullets under labels alone": (f"{A[4:]}: 1.\n- False mass\n{B[4:]}: 1.\n- Missing clip", (1, 1, 0, 0, 0, 0)),
    "bullets under letters alone": (
        "(a) 0.\n(b) 2.\n- Omission of effusion\n- Omission of clip\n(c) 0.",
        (0, 2, *ZEROS[2:]),
    ),
    "the judge's own labels": (
        "(a) False prediction: 0.\n(b) Omission of finding: 2.\n1. Missing effusion\n2. Missing clip\n(c) Location: 0.",
        (0, 2, 0, 0, 0, 0),
    ),
    "the judge's own labels, unmarked": (
        "False prediction: 1.\n- Omission: of what\nIncorrect location: 2. Tube; line\nExtra comparison: 1. Older film",
        (1, 0, 2, 0, 1, 0),
    ),
    "letters, errors with a colon": (
        f"{A}: 0.\n{B}: 2.\n  a) Missing rib: left\n  b) Missing: clip\n{C}: 0.",
        (0, 2, *ZEROS[2:]),
    ),
    "a label without its letter": (f"{A}: 1. Mass\n{B[4:]}: 2.\n- Effusion\n- Clip\n{C}: 0.", (1, 2, 0, 0, 0, 0)),
}


@pytest.mark.parametrize(("body", "counts"), LISTS.values(), ids=LISTS)
def test_a_list_belongs_to_its_category(body, counts):
    parsed = tolerant(reply(body))
    assert parsed.significant.counts == counts
    assert (parsed.insignificant.counts, parsed.n_matched, parsed.notes) == (ZEROS, 1, ())


@pytest.mark.parametrize(("body", "counts"), LISTS.values(), ids=LISTS)
def test_a_list_of_insignificant_errors_is_read_too(body, counts):
    text = reply(body).replace(SIGNIFICANT, "X").replace(INSIGNIFICANT, SIGNIFICANT).replace("X", INSIGNIFICANT)
    assert tolerant(text).insignificant.counts == counts


@pytest.mark.parametrize(
    "body",
    [
        f"{B}: 2. (1) Omission of effusion; (2) Omission of clip.",
        f"{B}: 2.\n- Omission of effusion.\n- Omission of clip.",
        f"{B}: 2.\n   1. Omission of effusion;\n   2. Omission of clip.",
        f"{B}: 2.\n(a) Omission of effusion\n(b) Omission of clip\n{C}: 0.",
    ],
)
def test_the_words_of_a_list(body):
    assert tolerant(reply(body)).significant.words[1] == ("Omission of effusion", "Omission of clip")


@pytest.mark.parametrize(
    "body", [f"{B}: {{}}.\n- Omission of effusion\n- Omission of clip", f"{B}: {{}}. (1) Clip; (2) Rib"]
)
def test_the_count_is_taken_where_the_list_differs(body):
    parsed = tolerant(reply(body.format(3)))
    assert parsed.significant.counts == (0, 3, 0, 0, 0, 0)
    assert parsed.notes == (
        f"[{SIGNIFICANT}] counts 3 and lists 2 at 'Missing a finding present in the reference'; the count is taken.",
    )


REFUSED = {
    "counted errors under no count": f"{B}:\n- Effusion: 1.\n- Clip: 1.",
    "a list under 0": f"{B}: 0.\n- Omission of effusion.",
    "a category without a count, lettered": f"{A}: 1. Mass\n{B}: Clip\n{C}: 0.",
    "a category without a count, its letter alone": f"{A}: 1. Mass\n(b) Clip\n{C}: 0.",
    "a category without a count, its label alone": f"{A}: 1. Mass\n{B[4:]}: clip\n{C}: 0.",
    "a category without a count, its number alone": f"1. {A[4:]}: 1. Mass\n2. Clip\n3. {C[4:]}: 0.",
    "a counted line of no category": f"{A[4:]}: 1. Mass\nOther: 2. Tube; line\n{C[4:]}: 0.",
    "a list that counts more": f"{B}: 1.\n- Omission of effusion: 1.\n- Omission of clip: 1.",
    "another category counted in a list": f"{C}: 1.\n- Omission of the side: 1.",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_decided_is_refused(body):
    with pytest.raises(VerdictError, match=SIGNIFICANT):
        tolerant(reply(body))


@pytest.mark.parametrize("name", ["inline, digits", "bullets", "numbers"])
def test_the_strict_parser_reads_the_same_counts(name):
    body, counts = LISTS[name]
    assert strict(reply(body)).significant.counts == counts == tolerant(reply(body)).significant.counts
