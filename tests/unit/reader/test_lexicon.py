"""The lexicon's files hold what the engine expects, and no term or reference is wrong."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from rrgmetrics.reader.lexicon import CONCEPT_FILES, TABLE_FILES, load, load_file
from rrgmetrics.reader.model import Significance

CONDITIONS = {
    "No Finding",
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Lesion",
    "Lung Opacity",
    "Edema",
    "Consolidation",
    "Pneumonia",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Pleural Other",
    "Fracture",
    "Support Devices",
}
FIELDS = {
    "name": str,
    "parent": str,
    "same_as": list,
    "sign_of": list,
    "terms": list,
    "seen_as": list,
    "condition": str,
    "significance": str,
    "counts": bool,
    "expected_tip": list,
    "carina_cm": list,
}
ENTRIES: list[tuple[str, str, dict[str, Any]]] = [
    (name, key, entry) for name in CONCEPT_FILES for key, entry in load_file(name).items()
]


def all_terms(node: Any) -> list[str]:
    """Return every term below a table's node: the leaves of its lists."""
    if isinstance(node, dict):
        return [t for key, value in node.items() if key not in _NOT_TERMS for t in all_terms(value)]
    if isinstance(node, list):
        return [t for value in node for t in (all_terms(value) if isinstance(value, dict) else [value])]
    return []


_NOT_TERMS = {"near", "in", "side", "structure", "step", "path", "order", "any", "alone", "when", "denies", "rules"}


def test_there_are_at_least_150_concepts_with_unique_keys() -> None:
    assert len(ENTRIES) >= 150
    assert len({key for _, key, _ in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize(("file", "key", "entry"), ENTRIES, ids=[key for _, key, _ in ENTRIES])
def test_concept(file: str, key: str, entry: dict[str, Any]) -> None:
    known = {k for _, k, _ in ENTRIES}
    assert re.fullmatch(r"[a-z_]+", key)
    assert set(entry) <= set(FIELDS), "unknown field"
    assert {"name", "terms", "significance"} <= set(entry)
    for name, value in entry.items():
        assert isinstance(value, FIELDS[name]), name
    assert entry["significance"] in get_args(Significance)
    assert entry.get("condition", "Fracture") in CONDITIONS
    for reference in [*entry.get("same_as", []), *entry.get("sign_of", []), entry.get("parent", key)]:
        assert reference in known, reference
    assert key not in entry.get("same_as", [])
    assert entry.get("parent") != key
    assert set(entry.get("expected_tip", [])) <= set(load_file("attributes")["tip_sites"])
    structures, qualities = load_file("anatomy")["structures"], load_file("qualities")
    for pattern in entry.get("seen_as", []):
        structure, quality = pattern.split(" + ")
        assert structure in structures, structure
        assert quality in qualities, quality


@pytest.mark.parametrize("file", [*CONCEPT_FILES, *TABLE_FILES])
def test_terms_are_lower_case_text(file: str) -> None:
    content = load_file(file)
    terms = [t for e in content.values() for t in e["terms"]] if file in CONCEPT_FILES else all_terms(content)
    assert file == "context" or terms
    for term in terms:
        assert isinstance(term, str), f"quote {term!r}: YAML reads it as {type(term).__name__}"
        assert term == term.lower().strip() != "", term


@pytest.mark.parametrize("file", CONCEPT_FILES)
def test_a_term_stands_for_one_concept(file: str) -> None:
    owner = {term: key for _, key, entry in ENTRIES for term in entry["terms"]}
    for key, entry in load_file(file).items():
        assert len(set(entry["terms"])) == len(entry["terms"]), f"{key} lists a term twice"
        for term in entry["terms"]:
            assert owner[term] == key, f"{term!r} stands under {key} and {owner[term]}"


def test_every_file_starts_by_saying_how_to_edit() -> None:
    from importlib import resources

    for name in (*CONCEPT_FILES, *TABLE_FILES):
        text = resources.files("rrgmetrics.reader.lexicon").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
        header = text[: text.index("\n\n")]
        assert header.startswith("#"), name
        assert "edit" in header.lower(), name


def test_normal_statements_and_rules_name_known_things() -> None:
    known = {key for _, key, _ in ENTRIES}
    normal, anatomy, qualities = load_file("normal"), load_file("anatomy"), load_file("qualities")
    for structure, entry in normal["structures"].items():
        assert structure in anatomy["structures"]
        assert set(entry["when"]) <= set(qualities)
        assert set(entry["denies"]) <= known
    for entry in normal["phrases"]:
        assert set(entry["denies"]) <= known
    for rule in load_file("context")["rules"]:
        assert set(rule["concepts"]) <= known | {"any"}
        assert rule["significance"] in get_args(Significance)
        assert rule["why"]
        assert set(rule.get("zones", ())) <= set(anatomy["zones"])
        kinds = {*rule.get("indication", ()), *rule.get("unless_indication", ())}
        assert kinds <= set(load_file("context")["indications"])
    for row in load_file("rubric")["precision"]:
        assert {*row["precise"], *row["vague"]} <= known
        assert row["matters"] in ("always", "class", "never")
        assert set(row.get("unless_indication", ())) <= set(load_file("context")["indications"])
    morphology = load_file("attributes")["morphology"]
    for row in load_file("rubric")["opposed"]:
        assert {*row["one"], *row["other"]} <= set(morphology)
    for zone in anatomy["zones"].values():
        assert {zone.get("in", "upper"), *zone.get("near", [])} <= set(anatomy["zones"])


def test_no_concept_is_its_own_ancestor() -> None:
    for key, concept in load().concepts.items():
        assert key not in concept.ancestors
