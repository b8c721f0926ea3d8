"""The lexicon's files: fit to be edited, and every fault is said with its file, its line and what to do."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import pytest
import yaml
from edited_lexicon import BUNDLED, bundled_in, edited_bundled, write_small_lexicon

import rrgmetrics
from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import TABLE_FILES, all_packs, key_in_use, load, load_file, use
from rrgmetrics.reading.lexicon import rules as typed
from rrgmetrics.reading.lexicon.checking import check, terms
from rrgmetrics.reading.lexicon.schema import LABEL_FILES, SHAPES
from rrgmetrics.reading.senses import Senses
from rrgmetrics.utils.patterns import terms_of


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


NEW = """\
fire_sign:
  name: fire sign
  significance: urgent
  terms:
    - fire sign
"""

# What may be wrong in a file of lung.yaml's shape: the text, the line of the fault, words of what is said of it.
# All in one file are found at once; terms are looked at where the shape is right.
OF_SHAPE = [
    (NEW.replace("urgent", "importent"), 3, 'significance is "importent"; it should be urgent, actionable_not_urgent,'),
    (NEW.replace("urgent", "urgend"), 3, 'significance is "urgend"; did you mean "urgent"?'),
    (NEW.replace("terms:", "term:"), 4, 'unknown key "term"; did you mean "terms"?'),
    (NEW.replace("  significance: urgent\n", ""), 1, "fire_sign has no significance; "),
    ("opacityy:\n  significance: urgent\n", 1, 'opacityy has no name or terms; add them, unless you mean "opacity".'),
    ("pleural_effusion:\n  significance: urgent\n", 1, "it is in pleura.yaml, change it there."),
    (NEW + "    - no\n", 6, 'put no in quotes, "no"'),
    (NEW.replace("  terms:\n    - fire", "  terms: fire"), 4, "terms should be a list"),
    ("fire_sign: fire\n", 1, "fire_sign should be a block of keys"),
    (NEW + "  counts: never\n", 6, 'counts is "never"; it should be yes or no.'),
    (NEW + "  carina_cm: [two]\n", 6, 'carina_cm is "two"; it should be a number.'),
    (NEW + "  parent: opacty\n", 6, 'parent names "opacty", which does not exist; did you mean "opacity"?'),
    (NEW + "  seen_as: [hart + enlarged]\n", 6, 'seen_as names "hart", which does not exist; did you mean "heart"?'),
    (NEW + "  seen_as: [heart enlarged]\n", 6, 'write "structure + quality"'),
    (NEW + "  roles: [generick]\n", 6, 'roles is "generick"; did you mean "generic"?'),
    (NEW + "  condition: Oedema\n", 6, 'did you mean "Edema"?'),
    (NEW + NEW, 6, "fire_sign occurs here and in line "),
    (NEW.replace("fire_sign:", "fire_sign-:"), 1, "use only lower-case letters, digits and _"),
]
OF_TERMS = [
    (NEW.replace("- fire", "- Fire"), 5, 'it has capitals; write "fire sign'),
    (NEW + "    - pleural effusion\n", 6, "under fire_sign and under pleural_effusion (pleura.yaml:"),
    (NEW + "    - pleural effusions\n", 6, 'or list it under "without" of pleural_effusion in your folder'),
    (NEW + "    - haemothorax\n", 6, "under fire_sign and under hemothorax"),
    (NEW + "    - fire. sign\n", 6, "a sentence ends inside it"),
    (NEW + "    - fire signé\n", 6, '"é" is ignored'),
    (NEW + "    - rll\n", 6, 'spellings.yaml splits it under "compounds"'),
    (NEW + '    - " "\n', 6, "it contains no words"),
    (NEW + "    - normal\n", 6, '"normal" is a quality'),
    (NEW + "    - squashed\n", 6, "is a quality"),
    (NEW + "    - heart size\n", 6, "is a structure"),
    (NEW + "    - moderately\n", 6, "is a word of severity"),
    (NEW + "    - devoid of\n", 6, "is a cue (negation_before)"),
    (NEW + "    - midline trachea\n", 6, "is a normal statement"),
    (NEW + "    - lungs are clear\n", 6, "is a normal statement"),
    (NEW + "    - nor\n", 6, "is a "),
    (NEW + '    - "1.2"\n', 6, "is a number"),
    (NEW + "    - no collapse of golden\n", 6, 'begins with "no", which denies what follows'),
    (NEW + "    - possible golden\n", 6, 'begins with "possible", which hedges what follows'),
    (NEW + "  without: [golden]\n", 6, '"golden" is not a term of fire_sign; remove it.'),
    (NEW + "  without: [fires sign]\n", 6, 'is not a term of fire_sign; did you mean "fire sign'),
    (NEW + "  parent: fire_sign\n", 1, "fire_sign is its own parent"),
    (NEW + "  seen_as: [heart + enlarged]\n", 6, '"heart + enlarged" is also under cardiomegaly'),
    (NEW + "  seen_as: [heart + normal]\n", 6, "is a normal statement of normal.yaml"),
]
# The same of other files, and of their names.
TABLES = [
    {
        "cues.yaml": (
            "negation_befor:\n  - nary a\n",
            1,
            'unknown key "negation_befor"; did you mean "negation_before"',
        ),
        "anatomy.yaml": ("zones:\n  apex:\n    near: [uper]\n", 3, 'near names "uper", which does not exist; did you'),
        "context_rules.yaml": (
            "judgements:\n- id: absent.bet\n  words: [bet]\n  next: [on CONTRAST]\n  effect: absent\n",
            4,
            'next names "CONTRAST", which does not exist; did you mean "CONTRASTS"?',
        ),
        "normal.yaml": ("structures:\n  heart: {when: [nromal], denies: [opacity]}\n", 2, 'did you mean "normal"?'),
    },
    {
        "attributes.yaml": ("change:\n  new:\n    - worsened\n", 3, "under new and under worse (attributes.yaml:"),
        "small_words.yaml": ("pointers:\n  - findings\n", 2, 'such a word of a report is "finding" here'),
        "sections.yaml": ("read:\n  findings:\n    - what we saw in the left half of it\n", 3, "at most 7 words"),
        "spellings.yaml": ("words:\n  effusionn: effusions\n", 2, 'such a word of a report is "effusion" here'),
        "context.yaml": ("indications:\n  trauma:\n    - car-crash\n", 3, 'in indications "-" and "/" are spaces'),
    },
    {
        "context_rules.yaml": (
            "cues:\n- id: absent.bet\n  cue: [bet]\n  effect: absent\n",
            3,
            'cue names "bet", which does not exist; it is none of the senses.',
        ),
    },
    {
        "context_rules.yaml": (
            "cues:\n- id: absent.bet\n  words: [bet]\n  ahead: {stop_cue: [negation_afer]}\n  effect: absent\n",
            4,
            'stop_cue names "negation_afer", which does not exist; did you mean "negation_after"?',
        ),
    },
    {
        "context_rules.yaml": (
            "cues:\n- id: absent.bet\n  words: [bet]\n  effect: denied\n",
            4,
            'effect is "denied"; it should be absent, ',  # and not: did you mean "definite"?
        ),
        "cues.yaml": ("negation_before:\n  - lack: of\n", 2, "should be words; put a line with a colon in quotes."),
        "qualities.yaml": ("swollen:\n  - swollen\n", 2, "a colon; see the bundled qualities.yaml for its format."),
    },
    {
        "lungs.yaml": (NEW, 1, 'no file of a user lexicon has this name; did you mean "lung"?'),
        "pleura.yml": (NEW, 1, "no file of a user lexicon has this name; rename it pleura.yaml."),
        "srr.yaml": ("rules: []\n", 1, "it contains published labels, which cannot be changed"),
        "bones.yaml": ("fire_sign: [\n", 2, "is not YAML"),
        "heart_and_vessels.yaml": ("fire_sign:\n\tterms:\n", 2, "has a tab; YAML takes spaces only."),
        "devices.yaml": ("# nothing\n", 1, "contains no block of keys"),
    },
]


@pytest.mark.usefixtures("small_lexicon")
@pytest.mark.parametrize("entries", [OF_SHAPE, OF_TERMS], ids=["shape", "terms"])
def test_each_fault_is_said_with_its_line(tmp_path: Path, entries: list[tuple[str, int, str]]) -> None:
    text, expected = "", []
    for number, (entry, line, words) in enumerate(entries, 10):
        expected.append((text.count("\n") + line, words.replace("fire_sign", f"fire_sign{number}")))
        text += re.sub(r"(ire[_ ]sign)", rf"\g<1>{number}", entry)
    faults = check([write(tmp_path / "mine", {"lung.yaml": text})])
    messages = "\n".join(map(str, faults))
    assert [fault.line for fault in faults] == [line for line, _ in expected], messages
    assert [words for fault, (_, words) in zip(faults, expected, strict=True) if words not in fault.message] == [], (
        messages
    )


@pytest.mark.usefixtures("small_lexicon")
@pytest.mark.parametrize(
    "files", TABLES, ids=["shape", "terms", "cues of a rule", "cues of a search", "choices", "names"]
)
def test_each_fault_of_a_table_is_said_with_its_line(tmp_path: Path, files: dict[str, tuple[str, int, str]]) -> None:
    folder = write(tmp_path / "mine", {name: text for name, (text, _, _) in files.items()})
    faults = {fault.file.name: fault for fault in check([folder])}
    assert {name: fault.line for name, fault in faults.items()} == {name: line for name, (_, line, _) in files.items()}
    assert {name: words for name, (_, _, words) in files.items() if words not in faults[name].message} == {}, faults


@pytest.mark.usefixtures("small_lexicon")
def test_spellings_are_single_words_and_parts_are_terms(tmp_path: Path) -> None:
    compounds = "compounds:\n  ruz: [right, uper zone]\n  pcxr: [portable]\n  bhl base: [bhl, base]\n"
    text = "words:\n  pleural fluids: effusion\n" + compounds
    folder = write(tmp_path / "mine", {"spellings.yaml": text})
    assert [(fault.line, fault.message.split(":")[0]) for fault in check([folder])] == [
        (2, '"pleural fluids" is never read'),
        (4, '"uper zone" is never read'),
        (5, '"portable" is never read'),  # tells a chest film from other reports, and names nothing in it
        (6, '"bhl" is never read'),  # itself a compound
    ]


@pytest.mark.usefixtures("small_lexicon")
def test_a_pattern_is_each_of_its_terms(tmp_path: Path) -> None:
    pattern = "    - (crescent|halo) of gold in the (left|right|) lung\n"
    folder = write(tmp_path / "mine", {"lung.yaml": NEW + pattern})
    assert check([folder]) == []
    with use(folder):
        assert load_file("lung", key_in_use())["fire_sign"]["terms"][-6:] == [
            f"{one} of gold in the {side}lung" for one in ("crescent", "halo") for side in ("left ", "right ", "")
        ]
        (finding,) = read("Halo of gold in the right lung.").findings
    assert (finding.concept, finding.side) == ("fire_sign", "right")


@pytest.mark.usefixtures("small_lexicon")
def test_a_fault_of_one_term_of_a_pattern_is_said_with_its_line(tmp_path: Path) -> None:
    pattern = "    - (pleural|golden) effusion\n    - golden (halo|ring\n"
    faults = check([write(tmp_path / "mine", {"lung.yaml": NEW + pattern})])
    assert [(fault.line, fault.message.split('"')[1]) for fault in faults] == [
        (6, "pleural effusion"),
        (7, "golden (halo|ring"),
    ]
    assert faults[1].message.endswith("a bracket is not closed; write a pattern as dense (left|right|) base.")


def test_the_bundled_lexicon_has_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lexicon", "check"]) == 0
    assert capsys.readouterr().out == "No fault in the lexicon.\n"


@pytest.mark.usefixtures("small_lexicon")
def test_a_bundled_file_that_is_edited_is_checked_as_itself(tmp_path: Path) -> None:
    line = "    - kerley b\n"
    with edited_bundled(tmp_path, "chest_xray/lung.yaml", line, line + "    - pleural effusion\n") as edited:
        (fault,) = check([edited])
        faults = check(pack="chest_xray")
    assert fault.file == edited
    assert edited.read_text("utf-8").splitlines()[fault.line - 1] == "    - pleural effusion"
    assert "under kerley_lines and under pleural_effusion (pleura.yaml:" in fault.message
    assert {each.file.name for each in faults} == {"lung.yaml", "pleura.yaml"}  # both places are named


@pytest.mark.usefixtures("small_lexicon")
def test_the_command_prints_each_fault_and_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "mine", {"lung.yaml": OF_TERMS[0][0]}) / "lung.yaml"
    assert main(["lexicon", "check", str(file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == f'{file}:5: "Fire sign" is never read: it has capitals; write "fire sign".\n'
    assert printed.err == "rrgmetrics: the lexicon has 1 fault, see above.\n"
    assert main(["lexicon", "check", str(tmp_path / "yours")]) == 2
    assert "yours does not exist" in capsys.readouterr().err


@pytest.mark.usefixtures("small_lexicon")
def test_a_faulty_lexicon_is_refused_in_the_same_words(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", {"lung.yaml": OF_SHAPE[0][0]})
    with pytest.raises(InputError) as error, use(folder):
        pytest.fail("a faulty lexicon was read")
    assert str(error.value) == str(check([folder])[0])


@pytest.mark.usefixtures("small_lexicon")
def test_tables_of_labels_are_checked_too(tmp_path: Path) -> None:
    with edited_bundled(tmp_path, "chest_xray/srr.yaml", "{leaf: Edema,", "{leaf: Oedema,") as edited:
        (fault,) = check(pack="chest_xray")
    assert "{leaf: Oedema," in edited.read_text("utf-8").splitlines()[fault.line - 1]
    assert fault.message == 'leaf names "Oedema", which does not exist; did you mean "Edema"?'


@pytest.mark.usefixtures("small_lexicon")
def test_a_bundled_file_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    message = r'lung.yaml:\d+: unknown key "signifcance"; did you mean "significance"'
    old, new = "  significance: actionable", "  signifcance: actionable"
    load()
    with edited_bundled(tmp_path, "chest_xray/lung.yaml", old, new), pytest.raises(InputError, match=message):
        load()  # what was loaded before is read anew
    assert load()


def test_every_file_says_how_to_edit_and_has_a_term_a_line() -> None:
    files = sorted(BUNDLED.glob("*/*.yaml"))
    lines = {file: file.read_text("utf-8").splitlines() for file in files}
    for file, text in lines.items():
        header = text[: text.index("")]
        assert header[0].startswith("#"), file
        assert re.search("edit|\\.yaml", " ".join(header).lower()), file
    for pack in all_packs():
        assert [
            term
            for term in terms(key_in_use(pack))
            if term.source.holds_concepts and term.text not in _terms_in(lines[term.source.path][term.line - 1])
        ] == []


@cache
def _terms_in(line: str) -> frozenset[str]:
    """The terms of the pattern that a line of a list holds."""
    return frozenset(terms_of(str(yaml.safe_load(line)[0])))


def test_there_are_at_least_150_concepts() -> None:
    assert len(load().concepts) >= 150
    assert set(SHAPES) == {*TABLE_FILES, *LABEL_FILES, "pack"}
    stems = {path.stem for path in BUNDLED.glob("*/*.yaml")}
    assert stems == {*SHAPES, *(name for pack in all_packs().values() for name in pack.concepts)}


@pytest.mark.parametrize(
    ("file", "table", "row"),
    [
        ("context", "rules", typed.SignificanceRule),
        ("context", "harm", typed.SignificanceRule),
        ("rubric", "named", typed.Named),
        ("rubric", "explains", typed.Explained),
        ("rubric", "thresholds", typed.Threshold),
        ("rubric", "opposed", typed.Opposed),
        ("rubric", "abbreviations", typed.Abbreviation),
        ("rubric", "left_out", typed.LeftOutRow),
    ],
)
def test_rows_have_the_types_that_the_schema_gives_them(file: str, table: str, row: Any) -> None:
    """All that a file may hold can be read from the type, and nothing else."""
    shape: Any = SHAPES[file]
    assert {*row.__annotations__} == {*shape.keys[table].value.keys}


@pytest.mark.parametrize("pack", all_packs())
def test_terms_have_senses_of_their_types(pack: str) -> None:
    """`build` puts them into a trie by their names, where mypy does not see them."""
    types = {name: get_origin(hint) or hint for name, hint in get_type_hints(Senses).items()}
    found, todo = set[tuple[str, type]](), [load(pack).trie]
    while todo:
        node = todo.pop()
        found |= {(name, type(value)) for name, value in node.get("", {}).items()}
        todo += [below for word, below in node.items() if word]
    assert len(found) > 20
    assert found <= set(types.items())


def test_the_rubric_has_the_type_that_the_schema_gives_it() -> None:
    shape: Any = SHAPES["rubric"]
    assert {*typed.Rubric.__annotations__} == {*shape.keys}


def test_roles_hold_for_children_where_the_file_says_so() -> None:
    roles = load().roles
    assert {"opacity", "pneumonia"} <= roles["picture"]
    assert {"pleural_effusion", "hemothorax"} <= roles["sized"]
    assert "picc" in roles["tipped"]
    assert "support_device" not in roles["tipped"]
    assert "pneumonia" not in roles["generic"]


def test_no_rule_has_a_key_that_a_comma_made() -> None:
    rules: list[dict[str, Any]] = load_file("context")["rules"]
    assert any(rule["why"] == "to be adjusted, but in the airway" for rule in rules)


def test_a_term_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lexicon", "show", "Pleural", "fluid"]) == 0
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines() if not line.startswith(" "))
    del rows["terms"]
    assert {name: text.strip().partition(" (chest_xray/pleura.yaml:")[0] for name, text in rows.items()} == {
        "listed in": "pleural_effusion → terms",
        "concept": "pleural effusion (pleural_effusion, pleura.yaml)",
        "significance": "actionable_not_urgent",
        "same as": "fluid in the fissure",
        "sign of": "pneumonectomy",
        "roles": "sized, unplaced",
        "CheXpert": "Pleural Effusion",
        "SRR-BERT": "Simple pleural effusion, Pleural Effusion",
        "RadBERT-CT": "Pleural effusion",
        "seen as": "pleura + watery, costophrenic_angle + watery, hemithorax +",
        '"Pleural fluid."': "present: pleural effusion",
        '"No Pleural fluid."': "absent: pleural effusion",
    }


def test_words_of_grammar_and_keys_of_concepts_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lexicon", "show", "devoid of"]) == 0
    assert "negation_before" in capsys.readouterr().out
    assert main(["lexicon", "show", "kerley_lines"]) == 0
    assert "interstitial edema, pulmonary edema, opacity" in capsys.readouterr().out


def test_an_unknown_term_names_those_near_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lexicon", "show", "pleural efusion"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        'rrgmetrics: "pleural efusion" is not a term of the lexicon; similar terms: "pleural effusion"'
    )


def test_the_walk_through_of_contributing_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(rrgmetrics.__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Repair a term")[2].partition("\n## ")[0]
    (words,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("my_words").mkdir()
    Path("my_words/lung.yaml").write_text(words)
    with bundled_in(write_small_lexicon(tmp_path, "chest_ct")):
        for command, output in re.findall(r"```console\n\$ rrgmetrics (.*?)\n(.*?)```", section, re.DOTALL):
            main(command.split())
            printed = capsys.readouterr()
            said = ".*".join(map(re.escape, output.split("...")))  # the nearest terms change with the lexicon
            assert re.fullmatch(said, printed.out + printed.err)
        Path("my_words/lung.yaml").write_text(words.lower())
        main(["lexicon", "check", "my_words"])
        main(["lexicon", "show", "lamellar", "collapse", "--lexicon", "my_words"])
        printed = capsys.readouterr()
    assert printed.out.startswith("No fault in my_words.\n")
    assert "my_words/lung.yaml:3" in printed.out
    assert "present: atelectasis" in printed.out
