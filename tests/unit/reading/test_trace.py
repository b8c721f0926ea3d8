"""The trace of a reading: what set each field of each finding, and why other text gave none."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rrgmetrics import cli
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load
from rrgmetrics.reading.model import Trace
from rrgmetrics.reading.parsed import _kept
from rrgmetrics.reading.recording import DEFAULTS, plain
from rrgmetrics.reading.trace_text import unused_text
from table_rows import each_row, read_table

HERE = Path(__file__).parent
ROWS = [row[1:-1] for name in ("sentences", "pairs") for row in read_table(*sorted((HERE / name).glob("*.tsv")))[::40]]


def trace_of(text: str, modality: str = "") -> Trace:
    trace = read(text, modality, trace=True).trace
    assert trace is not None
    return trace


def last_steps(text: str, number: int = 0) -> dict[str, tuple[object, str, str]]:
    """What each field of a finding is in the end, for which words, and which function set it."""
    return {step.field: (step.new, step.words, step.name) for step in trace_of(text).findings[number].steps}


def test_a_change_of_the_study_and_an_effusion():
    steps = last_steps("No interval change in small right effusion.")
    assert steps["concept"] == ("pleural_effusion", "effusion", "mentions.find_named")
    assert steps["change"] == ("stable", "No interval change", "change.give_changes")
    assert steps["severity"] == (2, "small", "attachment.attach_words")
    assert steps["side"] == ("right", "right", "attachment.attach_words")


def test_a_word_that_describes_a_finding_names_what_gave_it():
    """`attach_words` gives the words beside a finding, other functions those of its neighbours."""
    assert last_steps("Effusion and edema on the right.", 1)["side"][2] == "attachment.attach_words"
    assert last_steps("Effusion and edema on the right.", 0)["side"][2] == "attachment._lend_place"
    assert "below" not in last_steps("Nodule of 8 mm.")


def test_a_word_read_as_a_typing_error_is_named_with_what_was_meant():
    (finding,) = trace_of("The effusion has dubled.").findings
    step = next(step for step in finding.steps if step.field == "change")
    assert [(each.words, each.effect) for each in step.held] == [("dubled", 'was read as "doubled"')]
    assert step.source.startswith("common/attributes.yaml:")
    assert not any(step.held for step in trace_of("The effusion has doubled.").findings[0].steps)


def test_a_cue_of_two_lists_has_the_line_of_the_one_that_the_rule_asks_for():
    lines = (HERE.parents[2] / "rrgmetrics/reading/lexicon/common/cues.yaml").read_text().splitlines()
    for text, kind in (("Doubtful nodule.", "possible_before"), ("The nodule is doubtful.", "possible_after")):
        step = next(step for step in trace_of(text).findings[0].steps if step.field == "certainty")
        above = lines[: int(step.source.rpartition(":")[2])]
        assert next(line for line in reversed(above) if line[0] not in " #").startswith(f"{kind}:")
        assert {each.source for other in trace_of(text).findings[0].steps for each in other.held} == {step.source}


def test_two_changes_in_a_sentence():
    text = "Cardiomegaly, unchanged, with new interstitial edema."
    assert last_steps(text, 0)["change"] == ("stable", "unchanged", "change.give_changes")
    assert last_steps(text, 1)["change"] == ("new", "new", "change.give_changes")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Nodule of 8 mm, previously 12 mm.", "8 mm, previously 12 mm"),
        ("Small effusion, previously large.", "Small, previously large"),
    ],
)
def test_what_tells_a_change_from_an_earlier_size(text: str, words: str):
    assert last_steps(text)["change"] == ("better", words, "attributes.since")


def test_every_field_of_a_tube_with_an_earlier_depth_has_a_step():
    """The review's third sentence: whatever its change is, the trace names what set it."""
    text = "ETT tip is 2 cm above carina, previously 5 cm."
    (finding,) = read(text).findings
    steps = last_steps(text)
    assert steps["measurements_mm"] == ((20.0,), "2 cm", "attachment.attach_words")
    assert steps["before"] == (("measure", 50.0), "previously 5 cm", "attachment.attach_words")
    assert finding.change is None or steps["change"] == (finding.change, "2 cm, previously 5 cm", "attributes.since")


def test_a_denial_names_its_cue_and_a_step_its_file():
    steps = trace_of("No effusion or edema.").findings[1].steps
    step = next(step for step in steps if step.field == "assertion" and step.new == "absent")
    assert (step.old, step.words, step.name) == ("present", "No", "rule absent.before")
    file, _, number = step.place.rpartition(":")
    assert file == "rrgmetrics/reading/lexicon/common/context_rules.yaml"
    assert (HERE.parents[2] / file).read_text().splitlines()[int(number) - 1] == "- id: absent.before"
    assert step.source.startswith("common/cues.yaml:")


def held(text: str, number: int) -> set[tuple[str, str]]:
    """What words did to the state of a finding, and the predicate."""
    steps = [*trace_of(text).findings[number].steps]
    return {(each.words, f"{each.effect} {each.name}".strip()) for step in steps for each in step.held}


@pytest.mark.parametrize(
    ("text", "number", "opened", "passed"),
    [
        ("The base does not have the look of pneumonia and most likely represents atelectasis.", 1, "not have", "and"),
        ("No consolidation, collapse or nodule.", 1, "No", ","),
        ("Possible consolidation at the base.", 0, "Possible", ""),
        ("The effusion has resolved.", 0, "has resolved", ""),
        ("Pneumonia is unlikely.", 0, "unlikely", ""),
    ],
)
def test_what_opened_a_state_and_what_did_not_end_it(text: str, number: int, opened: str, passed: str):
    found = held(text, number)
    assert {words for words, effect in found if effect == "opened it"} == {opened}
    assert passed == "" or passed in {words for words, effect in found if effect.startswith("did not end it ")}
    assert (opened, "opened it") in found


def test_what_is_there_has_no_state():
    assert not held("No effusion. Large pneumothorax, the heart is enlarged.", 1)


def test_the_trace_names_the_file_of_what_opened_a_state():
    shown = str(trace_of("Base does not have the look of pneumonia and most likely represents atelectasis."))
    assert '    "not have" opened it (common/cues.yaml:' in shown
    assert '    "and" did not end it (' in shown


def test_a_long_text_without_full_stops_is_traced_in_time_that_grows_with_its_length():
    """Of more words than a sentence is read at once with (LONGEST_SENTENCE)."""
    text = "no effusion and small opacity at the base with nodule or mass " * 40
    assert any(each.held for step in trace_of(text[:600]).findings for each in step.steps)
    assert read(text, trace=True) == read(text)


def test_what_a_later_sentence_adds_has_a_step():
    steps = last_steps("Left effusion. It has grown.")
    assert steps["change"] == ("worse", "It has grown", "coreference.add_what_is_said")


@pytest.mark.parametrize(
    ("report", "concept", "field", "words"),
    [
        ("Left effusion. Nodule. Moderate left effusion. Cardiomegaly.", "pleural_effusion", "severity", "Moderate"),
        ("Nodule. Small effusion. The nodule measures 8 mm. No edema.", "nodule", "measurements_mm", "8 mm"),
        (
            "FINDINGS: Possible pneumonia. Cardiomegaly. IMPRESSION: Left pneumonia. Severe cardiomegaly.",
            "pneumonia",
            "certainty",
            "pneumonia",
        ),
        (
            "FINDINGS: Possible pneumonia. Cardiomegaly. IMPRESSION: Left pneumonia. Severe cardiomegaly.",
            "pneumonia",
            "assertion",
            "pneumonia",
        ),
        (
            "FINDINGS: Mass. Cardiomegaly. IMPRESSION: Mass. Spiculated mass. No edema.",
            "mass",
            "morphology",
            "Spiculated",
        ),
        (
            "FINDINGS: Left opacity. IMPRESSION: Large left opacity, likely pneumonia. Severe cardiomegaly.",
            "pneumonia",
            "observation",
            "pneumonia",
        ),
    ],
)
def test_a_merged_field_names_the_words_that_set_it(report: str, concept: str, field: str, words: str):
    trace = read(report, trace=True).trace
    (found,) = (each for each in trace.findings if each.finding.concept == concept)
    assert [step.words for step in found.steps if step.field == field][-1] == words


def test_a_new_meaning_of_words_has_a_step():
    steps = trace_of("The NG tube coils in the neck.").findings[0].steps
    words = [step for step in steps if step.field == "words"]
    assert ("coils", "items.bend_verbs") in [(step.words, step.name) for step in words]


def lacks(trace: Trace) -> list[str]:
    """The fields of findings that no step tells."""
    found = []
    for finding, steps in trace.findings:
        for name, default in DEFAULTS.items():
            last = next((step.new for step in reversed(steps) if step.field == name), plain(name, default))
            if name != "observation" and last != plain(name, getattr(finding, name)):
                found.append(f"{finding.concept}.{name}: {getattr(finding, name)}, not {last}")
    return found


@each_row("texts", ROWS)
def test_every_field_has_a_step_and_is_read_as_without_a_trace(texts: list[str]):
    for text in (*texts, " ".join(texts)):
        traced = read(text, trace=True)
        assert traced == read(text)
        assert traced.trace is not None
        assert lacks(traced.trace) == []


def test_a_step_names_what_the_package_has():
    """Each step is a function of a module in `rrgmetrics/reading`, or a context rule, in the file that it names."""
    steps = (step for texts in ROWS for _, found in trace_of(texts[0]).findings for step in found)
    places = {(step.name, step.place.partition(":")[0]) for step in steps}
    for name, file in places:
        module = name.partition(".")[0]
        expected = "lexicon/common/context_rules.yaml" if name.startswith("rule ") else f"{module}.py"
        assert file == f"rrgmetrics/reading/{expected}"
        assert (HERE.parents[2] / file).is_file()


@pytest.mark.parametrize(
    ("text", "words", "why"),
    [
        ("The weather is nice.", "The weather is nice", "No term of the lexicon names a finding"),
        ("Follow-up to exclude pneumonia.", "pneumonia", 'Dropped by rule hypothetical.asked, for "to exclude"'),
        ("INDICATION: Chest pain.\nFINDINGS: Clear.", "Chest pain", "The section indication is not read"),
        (
            "Lymphoma under therapy.",
            "Lymphoma",
            "Read as history of the patient: malignancy (background.told_of_patient, ",
        ),
        (
            "? Chest infection. Clear.",
            "Chest infection",
            "Read as clinical question: pneumonia (background.only_asked, ",
        ),
        ("Left effusion. Disregard this.", "Disregard this", "It retracts"),
        ("Dr Smith was informed of the effusion.", "Dr Smith was informed of the effusion", "It states only who"),
    ],
)
def test_why_text_gave_no_finding(text: str, words: str, why: str):
    (left_out,) = (each for each in trace_of(text).left_out if text[slice(*each.span)] == words)
    assert left_out.why.startswith(why)


def test_what_no_step_used():
    ((span, unused),) = trace_of("Left lung. Placement of a lovely left chest tube.").unused[-1:]
    text = "Left lung. Placement of a lovely left chest tube."
    assert text[slice(*span)] == "Placement of a lovely left chest tube"
    means = {text[slice(*each.span)]: each.means for each in unused}
    assert means == {"Placement": ("inserting",), "lovely": ()}
    assert any('"interval placement" (change: new, common/attributes.yaml:' in near for near in unused[0].near)
    assert '  "lovely": no term of the lexicon' in str(trace_of(text))


@pytest.mark.parametrize("text", ["There is no pleural effusion or pneumothorax.", "The heart is enlarged.", ""])
def test_words_that_are_used_are_not_listed(text: str):
    assert trace_of(text).unused == ()


def test_a_text_out_of_scope_says_so():
    why = "The text looks like a limb report; it was read with the pack for chest X-ray reports in English."
    assert trace_of("MRI of the knee. The anterior cruciate ligament is torn.").out_of_scope == why
    assert str(trace_of("")) == "There is nothing to read."
    assert trace_of("Clear lungs.").out_of_scope == ""


def test_a_reading_without_a_trace_has_none_and_is_kept_apart():
    text = "A fresh sentence on a small left effusion and 17 wires."
    kept = _kept(load())
    kept.clear()
    assert read(text, trace=True).trace is not None
    assert not kept
    assert read(text).trace is None
    (parsed,) = kept.values()
    assert {type(mention).__module__ for mention in parsed.mentions} == {"rrgmetrics.reading.items"}
    assert type(parsed.items) is list


def test_threads_do_not_see_each_other():
    texts = ["Left effusion. It has grown.", "No edema. Large right pneumothorax.", "Nodule of 8 mm, previously 12 mm."]
    alone = [str(trace_of(text)) for text in texts]

    def run(k: int) -> tuple[bool, str]:
        trace = read(texts[k % 3], trace=k % 2 == 0).trace
        return trace is None, str(trace)

    with ThreadPoolExecutor(4) as pool:
        for k, (none, text) in enumerate(pool.map(run, range(60))):
            assert none == (k % 2 == 1)
            assert none or text == alone[k % 3]


def test_another_pack_is_traced_with_its_own_lexicon():
    reading = read("CT head. Axial images. Left subdural hematoma with midline shift.", "auto", trace=True)
    assert reading.pack == "brain_ct"
    assert reading.trace is not None
    assert reading.trace.findings[0].steps[0].source.startswith("brain_ct/")
    assert lacks(reading.trace) == []


def test_the_command_line_shows_it(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["explain", "Nodule of 8 mm, previously 12 mm.", "The weather is nice.", "--trace"]) == 0
    shown = capsys.readouterr().out
    assert "How the reference was read (chest_xray)" in shown
    assert '"8 mm, previously 12 mm"  attributes.since (rrgmetrics/reading/attributes.py:' in shown
    assert 'no finding: "The weather is nice"' in shown
    assert cli.main(["explain", "Nodule of 8 mm.", "Clear lungs."]) == 0
    assert "was read" not in capsys.readouterr().out


def test_one_report_can_be_traced_alone(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["explain", "Nodule of 8 mm.", "--trace"]) == 0
    shown = capsys.readouterr().out
    assert "How the report was read (chest_xray)" in shown
    assert "nodule: present" in shown
    assert "error" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "explain compares two reports; add CANDIDATE, or pass --trace alone"),
        (["--trace", "--age", "3"], "--age needs two reports; add CANDIDATE"),
        (["--trace", "--metrics", "crepe"], "--metrics needs two reports; add CANDIDATE"),
    ],
)
def test_one_report_cannot_be_compared(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["explain", "Nodule of 8 mm.", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_an_unused_word_names_its_list_and_the_step_that_looks_for_it():
    ((_, unused),) = trace_of("The mass in the right upper, at the left.").unused
    shown = unused_text(unused[0])
    assert shown.startswith("heights, read by place_words.resolve_places (common/small_words.yaml:")


def test_the_example_of_contributing_is_what_is_printed(capsys: pytest.CaptureFixture[str]):
    """But for the numbers of lines, which change with every edit."""
    page = (HERE.parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    command, _, expected = page.partition("$ rrgmetrics explain ")[2].partition("```")[0].partition(" --trace\n...\n")
    assert cli.main(["explain", command.strip('"'), "--trace"]) == 0
    numbers = re.compile(r":\d+")
    assert numbers.sub(":", expected) in numbers.sub(":", capsys.readouterr().out)
