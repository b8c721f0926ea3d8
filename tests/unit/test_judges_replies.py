"""Replies as models write them: each in a form that no parser was made for, and what must come of it."""

from __future__ import annotations

import json

import pytest

from rrgmetrics.errors import VerdictError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.chexprompt import tolerant as read_chexprompt
from rrgmetrics.scorers.fineradscore import FineradscoreProtocol
from rrgmetrics.scorers.green import parsers
from rrgmetrics.scorers.radfact import RadfactProtocol

LABELS = parsers.LABELS
ZEROS = (0,) * 6


def section(title: str, *counts: int, mark=lambda label: label) -> str:
    lines = [f"{mark(label)}: {count}." for label, count in zip(LABELS, counts or ZEROS, strict=True)]
    return f"[{title}]:\n" + "\n".join(lines) + "\n\n"


def green_reply(significant: str, insignificant: str = "", matched: str = "2. Clear lungs; Normal heart") -> str:
    insignificant = insignificant or section(parsers.INSIGNIFICANT)
    return f"[Explanation]:\nInvented.\n\n{significant}{insignificant}[Matched Findings]:\n{matched}"


STANDARD = section(parsers.SIGNIFICANT, 1, 2, 0, 0, 0, 0)
HEADER = "[Clinically Significant Errors]:\n"
GREEN = {
    "as asked": green_reply(STANDARD),
    "Windows": green_reply(STANDARD).replace("\n", "\r\n"),
    "Markdown": green_reply(STANDARD).replace("[", "**[").replace("]:", "]:**"),
    "headings": green_reply(STANDARD).replace("[", "## ").replace("]:", ""),
    "capitals": green_reply(STANDARD).replace("Clinically Significant Errors", "CLINICALLY SIGNIFICANT ERRORS"),
    "fenced": "Here you are:\n```\n" + green_reply(STANDARD) + "\n```",
    "blank lines": green_reply(STANDARD.replace("\n", "\n\n")),
    "on one line": green_reply(STANDARD.replace(".\n", ". ")),
    "numbers for letters": green_reply(
        section(parsers.SIGNIFICANT, 1, 2, 0, 0, 0, 0, mark=lambda s: f"({'abcdef'.index(s[1]) + 1}{s[2:]}")
    ),
    "no letters": green_reply(section(parsers.SIGNIFICANT, 1, 2, 0, 0, 0, 0, mark=lambda s: s[4:])),
    "bullets": green_reply(section(parsers.SIGNIFICANT, 1, 2, 0, 0, 0, 0, mark=lambda s: f"- {s}")),
    "only what there is": green_reply(f"{HEADER}{LABELS[1]}: 2. Mass; Nodule\n{LABELS[0]}: 1. Effusion\n\n"),
    "renumbered": green_reply(f"{HEADER}(a){LABELS[1][3:]}: 2. Mass; Nodule\n(b){LABELS[0][3:]}: 1. Effusion\n\n"),
    "no full stops": green_reply(f"{HEADER}{LABELS[0]}: 1\n{LABELS[1]}: 2 errors\n{LABELS[2]}: None\n\n"),
    "letters alone": green_reply(f"{HEADER}(a) 1. Effusion\n(b) 2. Mass; Nodule\n(c) 0.\n\n"),
    "one line an error": green_reply(f"{HEADER}{LABELS[0]}: 1. X\n{LABELS[1]}: 1. Y\n{LABELS[1]}: 1. Z\n\n"),
    "looping lines": green_reply(f"{HEADER}{LABELS[0]}: 1. X\n{LABELS[1]}: 2. Y; Z\n" + f"{LABELS[1]}: 2. Y; Z\n" * 50),
    "looping reply": green_reply(STANDARD) + "\n\n" + green_reply(STANDARD),
    "after the form": "[Clinically Significant Errors]:\n(a) <Error Type>: <The number of errors>.\n\n"
    + green_reply(STANDARD),
    "matched in a list": green_reply(STANDARD, matched="1. Clear lungs\n2. Normal heart"),
    "matched in bullets": green_reply(STANDARD, matched="- Clear lungs\n- Normal heart"),
    "matched with words": green_reply(STANDARD, matched="The number of matched findings: 2. Clear lungs; Normal heart"),
    "matched, bold": green_reply(STANDARD, matched="**2**. Clear lungs; Normal heart"),
}


@pytest.mark.parametrize("reply", GREEN.values(), ids=GREEN)
def test_green_is_read_in_any_form(reply):
    parsed = parsers.tolerant(reply)
    assert parsed.significant.counts == (1, 2, 0, 0, 0, 0)
    assert parsed.insignificant.counts == ZEROS
    assert parsed.n_matched == 2


def test_green_keeps_the_words():
    parsed = parsers.tolerant(GREEN["renumbered"])
    assert parsed.significant.words[1] == ("Mass", "Nodule")
    assert parsed.matched == ("Clear lungs", "Normal heart")
    assert parsed.explanation == "Invented."
    assert any("(a)" in note for note in parsed.notes)


@pytest.mark.parametrize("body", ["None.", "No errors.", "No clinically significant errors were found.", "N/A", "0."])
def test_green_no_errors_in_words(body):
    assert parsers.tolerant(green_reply(f"{HEADER}{body}\n\n")).significant.counts == ZEROS


@pytest.mark.parametrize("matched", ["No matched findings.", "None", "0.", "0. "])
def test_green_no_matches_in_words(matched):
    assert parsers.tolerant(green_reply(STANDARD, matched=matched)).n_matched == 0


UNREADABLE = {
    "no significant errors": green_reply(""),
    "cut off in the first section": green_reply(STANDARD)[:150],
    "cut off before the matches": green_reply(STANDARD, matched=""),
    "no matches": green_reply(STANDARD).partition("[Matched")[0],
    "words for counts": green_reply(f"{HEADER}{LABELS[0]}: several\n\n"),
    "no count": green_reply(f"{HEADER}{LABELS[1]}: Nodule in the left apex\n\n"),
    "prose": green_reply(f"{HEADER}Nodule missed, and an effusion.\n\n"),
    "empty section": green_reply(f"{HEADER}\n\n"),
    "two answers": green_reply(STANDARD) + "\n\n" + green_reply(STANDARD.replace("1.", "3.")),
    "a size for a number of matches": green_reply(STANDARD, matched="4 mm nodule; clear lungs"),
    "a statement for a number of matches": green_reply(STANDARD, matched="No effusion; clear lungs"),
}


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE)
def test_green_says_what_it_cannot_read(reply):
    with pytest.raises(VerdictError, match=r"\[(Clinically Significant Errors|Matched Findings)\]"):
        parsers.tolerant(reply)


def test_green_stands_without_the_insignificant_errors():
    reply = f"[Explanation]:\nx\n\n{STANDARD}[Matched Findings]:\n2. A; B"
    parsed = parsers.tolerant(reply)
    assert (parsed.significant.total, parsed.insignificant, parsed.n_matched) == (3, None, 2)
    assert "Clinically Insignificant Errors" in parsed.notes[0]


CHEXPROMPT = {
    "as asked": "{0} [(A, 1), (B, 0), (C, 2), (D, 0), (E, 0), (F, 0)]\n"
    "{1} [(A, 0), (B, 0), (C, 0), (D, 0), (E, 0), (F, 3)]",
    "other order": "{1} [(F, 3)]\n{0} [(C, 2), (A, 1)]",
    "Markdown": "**{0}** A: 1, B: 0, C: 2, D: 0, E: 0, F: 0\n\n"
    "**{1}** A: 0, B: 0, C: 0, D: 0, E: 0, F: 3\n\nThat is all.",
    "lines": "{0}\n- A: 1\n- B: 0\n- C: 2\n- D: 0\n- E: 0\n- F: 0\n{1}\n- A: 0\n- B: 0\n- C: 0\n- D: 0\n- E: 0\n- F: 3",
    "quoted": '{0} [("A", 1), ("B", 0), ("C", 2)]\n{1} [("F", 3)]',
    "none": "{0} [(A, 1), (B, 0), (C, 2), (D, 0), (E, 0), (F, 0)]\n{1} [(A, none), (F, 3)]",
    "twice": "{0} ((A, 1), (C, 2))\n{1} ((F, 3))\nAgain:\n{0} ((A, 1), (C, 2))",
}


@pytest.mark.parametrize("form", CHEXPROMPT.values(), ids=CHEXPROMPT)
def test_chexprompt_is_read_in_any_form(form):
    heads = [f"Number of clinically {kind} errors by type:" for kind in ("significant", "insignificant")]
    assert read_chexprompt(form.format(*heads)) == [(1, 0, 2, 0, 0, 0), (0, 0, 0, 0, 0, 3)]


@pytest.mark.parametrize(
    "form",
    [
        "{0} [(A, 1), (B, 0)]",
        "{0} [(A, 1), (B, 0)]\n{1} [(A, 0), (B",
        "{0} [(A, 1), (B, 0)]\n{1} [(A, 0)",
        "{0} [(A, 1), (B, 0)]\n{1} [(A, x)]",
        "{0} [(A, 1), (B, 0)]\n{1} few",
        "{0} [(A, 1), (G, 2)]\n{1} [(A, 0)]",
        "{0} [(A, 1)]\n{1} [(A, 0)]\n{0} [(A, 2)]",
    ],
)
def test_chexprompt_says_what_it_cannot_read(form):
    heads = [f"Number of clinically {kind} errors by type:" for kind in ("significant", "insignificant")]
    with pytest.raises(VerdictError):
        read_chexprompt(form.format(*heads))


CORRECTION = {
    "line": 1,
    "correction": "Small left effusion.",
    "severity": "Urgent error",
    "categories": ["Incorrect location/position of finding", "Incorrect severity of finding"],
    "comment": "Wrong side.",
}


def fineradscore(*corrections: dict, around: str = "{}") -> object:
    text = json.dumps({"corrections": corrections})
    return FineradscoreProtocol().verdict(Pair("", ""), [around.replace("{}", text)])


@pytest.mark.parametrize(
    "around", ["{}", "```json\n{}\n```", "Sure! {} I hope this helps.", "\ufeff{}", "<think>{1}</think> {}"]
)
def test_fineradscore_finds_its_json(around):
    verdict = fineradscore(CORRECTION, CORRECTION | {"line": None, "severity": "not actionable."}, around=around)
    assert [(c.line, c.severity, c.categories) for c in verdict.corrections] == [(1, 3, (2, 3)), (None, 1, (2, 3))]
    assert (verdict.score, verdict.worst) == (4, 3)


@pytest.mark.parametrize(
    "wrong", [{"line": "two"}, {"severity": "quite bad"}, {"categories": 3}, {"line": -1}, {"severity": None}], ids=str
)
def test_fineradscore_says_what_it_cannot_read(wrong):
    with pytest.raises(VerdictError):
        fineradscore(CORRECTION, CORRECTION | wrong)


@pytest.mark.parametrize("missing", ["correction", "severity", "categories"])
def test_fineradscore_wants_every_member_but_the_comment(missing):
    with pytest.raises(VerdictError, match=missing):
        fineradscore({key: value for key, value in CORRECTION.items() if key != missing})


def radfact(candidate: list[str], reference: list[str], *judged: dict) -> object:
    phrases = [json.dumps({"phrases": phrases}) for phrases in (candidate, reference)]
    return RadfactProtocol().verdict(Pair("r", "c"), [*phrases, *map(json.dumps, judged)])


def test_radfact_reads_the_authors_phrases():
    phrases = {
        "sentence_list": [
            {"orig": "No effusion or mass.", "new": ["No effusion.", "No mass."]},
            {"orig": "x", "new": []},
        ]
    }
    verdict = RadfactProtocol().verdict(Pair("", "c"), [json.dumps(phrases)])
    assert [phrase.text for phrase in verdict.candidate] == ["No effusion.", "No mass."]


@pytest.mark.parametrize(
    ("judged", "entailed"),
    [
        ({"status": "entailment", "evidence": ["clear  lungs."]}, True),
        ({"status": "Entailment", "evidence": "Clear lungs"}, True),
        ({"status": "entailment", "evidence": []}, False),
        ({"status": "not_entailment", "evidence": ["Clear lungs"]}, False),
        ({"status": "contradiction"}, False),
    ],
)
def test_radfact_entailments(judged, entailed):
    verdict = radfact(["No consolidation"], ["Clear lungs"], judged, {"status": "neutral"})
    assert [phrase.entailed for phrase in verdict.candidate + verdict.reference] == [entailed, False]


@pytest.mark.parametrize(
    "judged",
    [{}, {"status": "maybe", "evidence": []}, {"status": "entailment", "evidence": ["Large pneumothorax"]}],
    ids=str,
)
def test_radfact_says_what_it_cannot_read(judged):
    with pytest.raises(VerdictError):
        radfact(["No consolidation"], ["Clear lungs"], judged, {"status": "neutral"})
