"""`rrgmetrics mcp`, asked by the official SDK's own client over standard input and output."""

import json
import sys
from contextlib import asynccontextmanager

import anyio
import pytest

import rrgmetrics
from rrgmetrics.cli import mcp
from rrgmetrics.scoring.packs import SEVERAL

pytest.importorskip("mcp")

REFERENCES = ["Small right pleural effusion. No pneumothorax.", "Mild cardiomegaly. The lungs are clear."]
FIRST = ["Small left pleural effusion. No pneumothorax.", "Mild cardiomegaly."]
SECOND = ["Small right pleural effusion.", "Normal heart size. The lungs are clear."]


@asynccontextmanager
async def session():
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import get_default_environment, stdio_client

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "rrgmetrics", "mcp"],
        env={**get_default_environment(), "PYTHONPATH": ":".join(filter(None, sys.path)), "HF_HUB_OFFLINE": "1"},
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


def ask(*calls):
    """The tools that the server lists, and what it answers to calls: `(is_error, value)`."""

    async def run():
        async with session() as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    tools, replies = anyio.run(run)
    texts = [reply.content[0].text for reply in replies]
    answers = [
        (reply.isError, text if reply.isError else json.loads(text)) for reply, text in zip(replies, texts, strict=True)
    ]
    return {tool.name: tool for tool in tools}, answers


def test_a_client_lists_and_calls_the_tools():
    pair = {"reference": REFERENCES[0], "candidate": FIRST[0]}
    tools, answers = ask(
        ("score", {"metrics": ["bleu", "finding_errors"], "references": REFERENCES, "candidates": FIRST}),
        ("explain", pair),
        (
            "compare",
            {"metrics": ["rouge"], "references": REFERENCES, "systems": {"first": FIRST, "second": SECOND}},
        ),
        ("list", {}),
        ("list", {"metric": "crepe"}),
        ("score", {"metrics": ["bleu"], "references": [*REFERENCES[:1], None], "candidates": [None, *FIRST[:1]]}),
        ("score", {"metrics": ["bleau"], "references": REFERENCES, "candidates": FIRST}),
        ("score", {"metrics": ["bleu"], "references": REFERENCES, "candidates": FIRST[:1]}),
    )
    assert set(tools) == {"score", "explain", "compare", "list"}
    assert all(tool.description and tool.inputSchema["properties"] for tool in tools.values())
    assert all("description" in each for each in tools["score"].inputSchema["properties"].values())
    assert [is_error for is_error, _ in answers] == [False] * 6 + [True] * 2
    scored, explained, compared, listed, crepe, nulls, unknown, short = (value for _, value in answers)

    ours = rrgmetrics.score(["bleu", "finding_errors"], predictions=FIRST, references=REFERENCES, progress=False)
    for name, result in ours.items():
        assert scored["metrics"][name]["scores"] == pytest.approx(result.scores)
        assert scored["metrics"][name]["signature"] == result.signature
        headline = result.spec.headline.name
        assert scored["metrics"][name]["per_pair"][headline] == pytest.approx(result.per_pair[headline].tolist())
    assert [(error["letter"], error["sentence"]) for error in explained["errors"]] == [
        (error.category.letter, error.sentence)
        for error in rrgmetrics.explain(reference=REFERENCES[0], candidate=FIRST[0]).errors
    ]
    assert explained["errors"][0]["candidate_words"] == ["Small left pleural effusion"]
    assert [row["system"] for row in compared["rows"]] == ["first", "second"]
    assert compared["rows"][0]["p"] is None
    assert {row["metric"] for row in listed["metrics"]} == set(rrgmetrics.SPECS)
    assert crepe["metric"] == "crepe"
    assert nulls["metrics"]["bleu"]["unscored"] == {"1": "the reference is missing"}
    assert nulls["metrics"]["bleu"]["n_unscored"] == 1
    assert "1 candidate is missing (index 0): scored as an empty report." in nulls["notes"]
    assert "did you mean bleu?" in unknown
    assert "candidates has 1 report and references has 2" in short


def test_answers_have_the_marks_and_notes_of_tables():
    references = ["", "CT CHEST: Small right pleural effusion.", "Chest radiograph. Mild cardiomegaly."]
    candidates = ["Clear lungs.", "Small right pleural effusion.<|im_end|>", ""]
    stand_in = "GREEN (bundled) is a bundled stand-in: its scores are not comparable with published scores."
    tokens = "1 of 3 candidates contain control tokens or a prompt"
    systems = {"first": candidates, "second": REFERENCES[:1] * 3}
    for _ in range(2):  # what the log has once, each answer has
        scored = mcp.score(["green", "bleu"], references, candidates)
        compared = mcp.compare(["green", "bleu"], references, systems)
        green, bleu = (scored["metrics"][name] for name in ("green", "bleu"))
        assert (green["title"], green["stand_in"]) == ("GREEN (bundled)", True)
        assert (bleu["title"], bleu["stand_in"]) == ("BLEU", False)
        assert green["unscored"] == bleu["unscored"] == {"0": "the reference is missing"}
        for notes in (scored["notes"], compared["notes"]):
            assert stand_in in notes
            assert any(SEVERAL in note for note in notes)
            assert any("1 candidate is missing (index 2): scored as an empty report." in note for note in notes)
        assert any(note.startswith(tokens) for note in scored["notes"])
        assert any("control tokens" in note for note in compared["notes"])
        assert any("the reference is missing" in note for note in compared["notes"])


@pytest.mark.parametrize(("reference", "word"), [("", "empty"), ("nan", "missing"), ("Clear lungs.", "")])
def test_a_missing_reference_is_noted_by_explain(reference, word, capsys):
    from rrgmetrics.cli import main

    note = f"The reference is {word}; `score` leaves such a pair unscored."
    answer = mcp.explain(reference, "Small left effusion.")
    assert answer["notes"] == ([note] if word else [])
    assert main(["explain", reference, "Small left effusion."]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (note in printed) is bool(word)


def test_without_the_sdk_one_sentence_names_the_extra(monkeypatch, capsys):
    from rrgmetrics.cli import main
    from rrgmetrics.utils import extras

    monkeypatch.setattr(extras, "is_installed", lambda package: package != "mcp")
    assert main(["mcp"]) == 2
    said = capsys.readouterr()
    assert said.err == f"rrgmetrics: rrgmetrics mcp needs mcp: {extras.install_command('mcp')}\n"
    assert said.out == ""
