"""RadGraph F1: the arithmetic of the sets, the reader's graph, and files of graphs."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics.backends.radgraph.files import GraphFile
from rrgmetrics.backends.radgraph.words import WORDS, radgraph_words, radgraph_xl_words
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.labels.graph import Entity, Graph, Relation, build_graph
from rrgmetrics.reading import read
from rrgmetrics.scorers.radgraph_f1 import compare_graphs

REPORT = "Small left pleural effusion. No pneumothorax."


def graph(*entities: tuple) -> Graph:
    """A graph of (tokens, label, (relation, index), ...)."""
    return Graph("", tuple(Entity(t, label, 0, 0, tuple(Relation(*r) for r in to)) for t, label, *to in entities))


def score(name, candidates, references, **keywords):
    return rrgmetrics.score(name, predictions=candidates, references=references, progress=False, **keywords)[name]


def names(entities, label="") -> set[str]:
    return {entity.tokens for entity in entities if label in entity.label}


# --- Arithmetic. Values of radgraph 0.1.18's rewards and of RadCliQ's code on these graphs: RadEval e0a3909.

PROCESS = graph(("acute", "OBS-DA"), ("cardiopulmonary", "ANAT-DP"), ("process", "OBS-DA", ("located_at", 1)))
OPACITY = graph(
    ("opacity", "OBS-DP", ("located_at", 1), ("suggestive_of", 2)), ("base", "ANAT-DP"), ("pneumonia", "OBS-U")
)


@pytest.mark.parametrize(
    ("reference", "candidate", "levels", "relation"),
    [
        (PROCESS, graph(("acute", "OBS-DA"), ("process", "OBS-DA")), (0.8, 0.4, 0.4), 0.0),
        (
            OPACITY,
            graph(("opacity", "OBS-DP", ("located_at", 1)), ("base", "ANAT-DP")),
            (0.8, 0.8, 0.6666666667),
            0.6666666667,
        ),
        (PROCESS, PROCESS, (1.0, 1.0, 1.0), 1.0),
        (PROCESS, OPACITY, (0.0, 0.0, 0.0), 0.0),
        (graph(), graph(), (0.0, 0.0, 0.0), 0.0),  # nothing found in either: 0, as published
        (PROCESS, graph(), (0.0, 0.0, 0.0), 0.0),
    ],
)
def test_levels(reference, candidate, levels, relation):
    scores = compare_graphs(reference, candidate)
    assert scores == pytest.approx((*levels, relation), abs=1e-9)
    assert scores.radcliq == pytest.approx((levels[0] + relation) / 2, abs=1e-9)
    assert compare_graphs(candidate, reference) == pytest.approx(scores)


def test_radcliq_gives_half_to_equal_graphs_without_a_relation():
    same = graph(("effusion", "OBS-DP"))
    assert compare_graphs(same, same).radcliq == 0.5


def test_what_is_said_twice_counts_once():
    once, twice = graph(("effusion", "OBS-DP")), graph(("effusion", "OBS-DP"), ("effusion", "OBS-DP"))
    assert compare_graphs(once, twice).simple == 1


def test_case_is_an_option():
    """The fork of the rewards: radgraph 0.1.18 and RadEval (0, 0, 0.5), the repository since May 2026 (1, 1, 1)."""
    upper = graph(("Opacity", "OBS-DP", ("located_at", 1)), ("Base", "ANAT-DP"))
    lower = graph(("opacity", "OBS-DP", ("located_at", 1)), ("base", "ANAT-DP"))
    assert compare_graphs(upper, lower, lowercase=False)[:3] == (0.0, 0.0, 0.5)
    assert compare_graphs(upper, lower, lowercase=True)[:3] == (1.0, 1.0, 1.0)


def test_case_stands_in_the_signature():
    assert "|lowercase:no|" in score("radgraph_f1?lowercase=no", [REPORT], [REPORT]).signature
    assert "|lowercase:yes|" in score("radgraph_f1", [REPORT], [REPORT]).signature


# --- The reader's graph


def test_a_finding_with_its_place_and_size():
    entities = build_graph(read(REPORT)).entities
    assert entities[:4] == (
        Entity("Small", "OBS-DP", 0, 0, (Relation("modify", 3),)),
        Entity("left", "ANAT-DP", 1, 1, (Relation("modify", 2),)),
        Entity("pleural", "ANAT-DP", 2, 2),
        Entity("effusion", "OBS-DP", 3, 3, (Relation("located_at", 2),)),
    )
    assert entities[4:] == (Entity("pneumothorax", "OBS-DA", 6, 6),)


def test_an_interpretation_is_reached_from_the_picture():
    entities = build_graph(read("Right lower lobe opacity, possibly pneumonia.")).entities
    by_name = {entity.tokens: entity for entity in entities}
    (arrow,) = [to for to in by_name["opacity"].relations if to.kind == "suggestive_of"]
    assert entities[arrow.entity] is by_name["pneumonia"]
    assert by_name["pneumonia"].label == "OBS-U"


# What RadEval prints for RadGraph-XL on pairs of these shapes.
@pytest.mark.parametrize(
    ("reference", "candidate", "partial"),
    [
        ("Mild cardiomegaly.", "The heart is mildly enlarged.", 0),
        ("No pleural thickening.", "Pleural thickening.", 0.5),
        ("Severe scoliosis. Large bilateral pleural effusions.", "Severe scoliosis.", 0.5),
        ("No acute disease.", "No acute disease. Large left pneumothorax.", 4 / 7),
        ("No acute disease.", "No acute disease.", 1),
        ("Right upper lobe opacity suspicious for malignancy.", "Left lower lobe mass.", 2 / 9),
        ("Mild pulmonary congestion.", "Severe pulmonary congestion.", 2 / 3),
        ("Unchanged bibasilar scarring without edema.", "New right lung edema.", 0),
    ],
)
def test_pairs_score_as_with_the_published_weights(reference, candidate, partial):
    assert score("radgraph_f1", [candidate], [reference]).scores["radgraph_f1"] == pytest.approx(partial)


def test_normal_statements_count_with_their_words():
    """As RadGraph has it: another normal report has other words, and one that says nothing of it earns nothing."""
    references = ["Clear lungs. Normal heart. No effusion."] * 3
    candidates = ["The lungs are clear. No effusion.", "No acute disease.", ""]
    scores = score("radgraph_f1", candidates, references).per_pair["radgraph_f1"]
    assert 1 > scores[0] > scores[1] == scores[2] == 0


def test_what_has_resolved_is_kept_as_absent():
    entities = build_graph(read("Interval resolution of the left effusion.")).entities
    assert names(entities, "OBS-DA") == {"effusion"}


@pytest.mark.parametrize("text", ["", " ", "x", "Comparison: none.", "²³ ½ µm"])
def test_nothing_found_is_an_empty_graph(text):
    assert build_graph(read(text)).entities == ()


# --- JSON


@pytest.mark.parametrize("text", [REPORT, "Right lower lobe opacity, possibly pneumonia. ET tube in place.", ""])
def test_json_reads_back(text):
    graph = build_graph(read(text))
    assert Graph.from_json(json.loads(json.dumps(graph.as_json()))) == graph


def test_the_published_form():
    published = {
        "text": "no acute process",
        "entities": {
            "1": {"tokens": "acute", "label": "OBS-DA", "start_ix": 1, "end_ix": 1, "relations": [["modify", "2"]]},
            "2": {"tokens": "process", "label": "OBS-DA", "start_ix": 2, "end_ix": 2, "relations": []},
        },
        "data_source": None,
        "data_split": "inference",
    }
    graph = Graph.from_json(published)
    assert graph.entities[0] == Entity("acute", "OBS-DA", 1, 1, (Relation("modify", 1),))
    assert graph.as_json()["entities"] == published["entities"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda g: g.pop("entities"),
        lambda g: g.pop("text"),
        lambda g: g["entities"]["1"].pop("label"),
        lambda g: g["entities"]["1"].update(relations=[["modify", "99"]]),
        lambda g: g["entities"]["1"].update(tokens=3),
        lambda g: g.update(entities=[]),
    ],
)
def test_damaged_graphs_are_named(tmp_path, damage):
    file = tmp_path / "graphs.json"
    stored = build_graph(read(REPORT)).as_json()
    damage(stored)
    file.write_text(json.dumps({"study 7": stored}))
    with pytest.raises(InputError, match="'study 7' is not a graph"):
        GraphFile.read(file)


@pytest.mark.parametrize("content", ["", "[]", "{}", "7", "{"])
def test_a_file_without_graphs(tmp_path, content):
    file = tmp_path / "graphs.json"
    file.write_text(content)
    with pytest.raises(InputError, match=r"graphs\.json"):
        score(f"radgraph_f1@graphs:{file}", [REPORT], [REPORT])


# --- Recorded graphs


def test_recorded_graphs_score_the_same(tmp_path, reports):
    file = tmp_path / "graphs.json"
    recorded = score(f"radgraph_f1?record={file}", reports.altered, reports.references)
    again = score(f"radgraph_f1@graphs:{file}", reports.altered, reports.references)
    assert again.scores == recorded.scores == score("radgraph_f1", reports.altered, reports.references).scores
    assert "|recorded_from:" in again.signature
    assert len(json.loads(file.read_text())) == len({*reports.altered, *reports.references})


def test_recording_goes_on_where_it_stood(tmp_path, reports):
    file = tmp_path / "graphs.json"
    for n in (3, 6, 6):
        score(f"radgraph_f1?record={file}", reports.altered[:n], reports.references[:n])
        assert list(json.loads(file.read_text())) == [str(i) for i in range(2 * n)]


def test_recording_into_a_file_from_elsewhere(tmp_path):
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps({"0": build_graph(read(REPORT)).as_json()}))
    before = file.read_text()
    with pytest.raises(InputError, match="contains graphs from elsewhere"):
        score(f"radgraph_f1?record={file}", [REPORT], [REPORT])
    assert file.read_text() == before
    with pytest.raises(InputError, match="there is no folder"):
        score(f"radgraph_f1?record={tmp_path}/missing/graphs.json", [REPORT], [REPORT])


def test_a_missing_graph_leaves_the_pair_unscored(tmp_path):
    file = tmp_path / "graphs.json"
    score(f"radgraph_f1?record={file}", [REPORT], [REPORT])
    result = score(f"radgraph_f1@graphs:{file}", [REPORT, "Mild edema.", ""], [REPORT, REPORT, REPORT])
    np.testing.assert_array_equal(result.per_pair["radgraph_f1"], [1, math.nan, 0])
    assert result.n_unscored == 1
    with pytest.raises(BackendError, match="no graph of any of these reports"):
        score(f"radgraph_f1@graphs:{file}", ["Mild edema."], ["Clear lungs."])


@pytest.mark.parametrize("cut", WORDS.values())
def test_graphs_are_found_by_the_words_of_any_model(tmp_path, cut):
    text = 'A 3.5 cm right-sided nodule (new),\nsaid "likely";  50% of the lung.'
    stored = {"0": {"text": " ".join(cut(text)), "entities": {}}}
    (tmp_path / "graphs.json").write_text(json.dumps(stored))
    assert GraphFile.read(tmp_path / "graphs.json").find(text) == Graph(" ".join(cut(text)), ())


def test_two_graphs_of_one_text(tmp_path):
    one, other = build_graph(read(REPORT)).as_json(), build_graph(read(REPORT)).as_json()
    other["entities"]["1"]["label"] = "OBS-U"
    (tmp_path / "graphs.json").write_text(json.dumps({"0": one, "1": one, "2": other}))
    with pytest.raises(InputError, match="'2' is a second, different graph"):
        GraphFile.read(tmp_path / "graphs.json")


# --- Words. radgraph 0.1.18's own function on these texts.


@pytest.mark.parametrize(
    ("text", "radgraph", "radgraph_xl"),
    [
        (
            "1.Heart: normal/stable; T1-T2.",
            "1 . Heart : normal / stable; T1-T2 .",
            "1 . Heart : normal / stable ; T1 - T2 .",
        ),
        ("50%, (60%). it's", "50% , ( 60% ) . it's", "50 % , ( 60 % ) . it ' s"),
        ('a\\nb "c" \\"d', 'a\\nb "c" \\"d', 'a b " c " `` d'),
        ("Ergüsse ½ µm 胸水", "Ergüsse ½ µm 胸水", "Ergüsse ½ µm 胸水"),
    ],
)
def test_words(text, radgraph, radgraph_xl):
    assert radgraph_words(text) == radgraph.split()
    assert radgraph_xl_words(text) == radgraph_xl.split()


def test_echograph_has_words_of_its_own():
    """In radgraph 0.1.18 a condition that is always true sends echograph's reports through RadGraph-XL's rule."""
    assert WORDS["echograph"]("EF >55%. MR/TR.") == ["EF", ">55%", "MR", "TR"]
    assert WORDS["echograph"]("EF >55%. MR/TR.") != WORDS["radgraph-xl"]("EF >55%. MR/TR.")


# --- The package


def test_the_package_is_asked_for_by_name(monkeypatch):
    monkeypatch.setattr("rrgmetrics.backends.radgraph.package.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="pip install"):
        score("radgraph_f1@package", [REPORT], [REPORT])


def test_the_package_does_not_work_beside_transformers_5(monkeypatch):
    monkeypatch.setattr("rrgmetrics.backends.radgraph.package.find_spec", lambda name: object())
    versions = {"radgraph": "0.1.18", "transformers": "5.23.0"}
    monkeypatch.setattr("rrgmetrics.backends.radgraph.package.version", versions.__getitem__)
    with pytest.raises(
        BackendError, match=r"needs transformers 4, and version 5\.23\.0 is installed.*radgraph_f1@paper"
    ):
        score("radgraph_f1@package", [REPORT], [REPORT])


def test_explain_tells_which_entities_and_relations_match():
    name = "radgraph_f1?explain=yes"
    texts = {"references": ["Small left pleural effusion."], "predictions": ["Small right pleural effusion."]}
    result = rrgmetrics.score(name, progress=False, **texts)[name]
    (told,) = result.details["radgraph_f1_explained"]
    assert [(one["words"], one["in_both"]) for one in told["reference"]] == [
        ("Small", True),
        ("left", False),
        ("pleural", True),
        ("effusion", True),
    ]
    small, left = told["reference"][:2]
    assert small["relations"] == [{"kind": "modify", "to": "effusion", "in_both": True}]
    assert left["relations"] == [{"kind": "modify", "to": "pleural", "in_both": False}]
    assert result.signature == score("radgraph_f1", ["Clear."], ["Clear."]).signature
