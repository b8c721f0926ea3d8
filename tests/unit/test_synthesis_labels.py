"""Labels of pairs: the reader's, the injected ones, a judge's; and their distribution."""

import json

import numpy as np
import pytest
from green_replies import green_reply

from rrgmetrics import cli
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.green import GreenProtocol
from rrgmetrics.synthesis.distribution import distribution, paper_shares, plot
from rrgmetrics.synthesis.histograms import histograms, plot_histograms
from rrgmetrics.synthesis.labels import labeller_for
from rrgmetrics.synthesis.pairs import Draft, Evidence, Label, read_rows, row_of

REFERENCE, CANDIDATE = "Large left pneumothorax. Mild cardiomegaly.", "Large right pneumothorax."
REPLY = green_reply(
    {"b": "1. Mild cardiomegaly", "c": "1. Right for left"},
    {"d": "2. Large; larger"},
    "1. Pneumothorax",
    "The side is wrong, cardiomegaly is left out.",
)


def draft(candidate=CANDIDATE, injected=None):
    return Draft(REFERENCE, candidate, "s1", "random", 0, injected=injected)


def write_replies(path, *replies, template="green"):
    with path.open("w") as file:
        for candidate, reply in replies:
            prompt = GreenProtocol(template=template).prompts(Pair(REFERENCE, candidate))[0]
            record = {"protocol": prompt.protocol, "prompt_sha256": prompt.sha256, "reply": reply}
            file.write(json.dumps({**record, "engine": "invented", "parameters": {}}) + "\n")
    return f"replies:{path}"


def test_the_reader_counts_and_points():
    (label,) = labeller_for("reader").label([draft()])
    assert [a + b for a, b in zip(label.significant, label.insignificant, strict=True)] == [0, 1, 1, 0, 0, 0]
    assert label.significant[2] == 1  # of a pneumothorax the side matters
    pieces = {(piece.category, (REFERENCE, CANDIDATE)[piece.text][piece.start : piece.end]) for piece in label.evidence}
    assert pieces == {(1, "Mild cardiomegaly"), (2, "Large left pneumothorax"), (2, "Large right pneumothorax")}


def test_injected_errors_are_the_label_where_there_are_any():
    counted, uncounted = labeller_for("injected").label([draft(injected=(0, 2, 1, 0, 0, 0)), draft()])
    assert uncounted is None
    (read,) = labeller_for("reader").label([draft()])
    assert counted.significant == read.significant  # one missing finding, one wrong side
    assert counted.insignificant == (0, 2 - read.significant[1], 0, 0, 0, 0)


def test_a_judge_counts_and_pairs_without_a_verdict_have_no_label(tmp_path):
    labeller = labeller_for(
        write_replies(tmp_path / "replies.jsonl", (CANDIDATE, REPLY), ("Clear lungs.", "[Explanation]: Cut o")),
        progress=False,
    )
    counted, unreadable, missing = labeller.label([draft(), draft("Clear lungs."), draft("No reply to this one.")])
    assert counted == Label((0, 1, 1, 0, 0, 0), (0, 0, 0, 2, 0, 0))
    assert unreadable is None
    assert missing is None
    assert labeller.source.startswith("green|replies@sha256:")
    assert "prompt:" in labeller.version


def test_crepes_question_has_a_sentence_more(tmp_path):
    pair = Pair(REFERENCE, CANDIDATE)
    greens, crepes = (GreenProtocol(template=name).prompts(pair)[0].text for name in ("green", "crepe_labels"))
    new = [line.strip() for line in crepes.splitlines() if line.strip() not in map(str.strip, greens.splitlines())]
    assert new == [
        "- The count of clinically significant errors.",
        "- The count of clinically insignificant errors.",
        "Do NOT abbreviate the name of the error type.",
    ]
    assert len(crepes.splitlines()) == len(greens.splitlines()) + 1
    replies = write_replies(tmp_path / "replies.jsonl", (CANDIDATE, REPLY), template="crepe_labels")
    labeller, other = (labeller_for(name, progress=False) for name in (f"crepe@{replies}", replies))
    assert labeller.label([draft()]) == [Label((0, 1, 1, 0, 0, 0), (0, 0, 0, 2, 0, 0))]
    assert other.label([draft()]) == [None]  # GREEN's question has no reply
    assert labeller.version.startswith("wording:crepe_labels|prompt:")
    assert labeller.version != other.version


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("green", InputError, "asks no model"),
        ("replies:absent.jsonl", (InputError, BackendError), "absent.jsonl"),
        ("openai:any?warmth=1", InputError, "warmth"),
    ],
)
def test_a_labeller_that_is_not_there_is_named(name, error, says):
    with pytest.raises(error, match=says):
        labeller_for(name, progress=False)


def row(total, way="random"):
    label = Label((0.0,) * 6, tuple(map(float, total)), (Evidence(0, 0, 1, 0, 5),))
    return row_of(draft()._replace(pairing=way), label, source="", label_source="", label_version="", split="train")


def test_distribution_counts_by_hand():
    labels = distribution([row((0, 1, 0, 0, 0, 0)), row((4, 1, 0, 0, 0, 0)), row((0, 0, 0, 0, 0, 0), "shuffled")])
    assert labels.shares[0].tolist() == pytest.approx([2 / 3, 0, 0, 1 / 3])
    assert labels.shares[1].tolist() == pytest.approx([1 / 3, 2 / 3, 0, 0])
    assert labels.means["random"].tolist() == [2, 1, 0, 0, 0, 0]
    assert labels.n_by_way == {"random": 2, "shuffled": 1}
    assert labels.n_identical == 1
    assert labels.significant[0] == 0
    assert np.isnan(labels.significant[2])
    with pytest.raises(InputError, match="no pairs"):
        distribution([])


def test_the_paper_s_shares():
    assert paper_shares().sum(axis=1) == pytest.approx(np.ones(6))
    assert paper_shares()[1, 0] == pytest.approx(2.9 / 32)  # omission: the only category that is seldom 0


def test_a_plot_is_not_replaced(tmp_path):
    labels = distribution([row((0, 1, 0, 0, 0, 0))])
    plot(labels, tmp_path / "labels.png")
    assert (tmp_path / "labels.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="exists"):
        plot(labels, tmp_path / "labels.png")


def test_histograms_of_edits_and_similarity(tmp_path):
    import rrgmetrics

    def pair(candidate, injected):
        made = draft(candidate, injected)
        label = Label((0.0,) * 6, (0.0,) * 6)
        return row_of(made, label, source="", label_source="", label_version="", split="train")

    rows = [pair(REFERENCE, (0,) * 6), pair(CANDIDATE, (0, 1, 1, 0, 0, 0)), pair("Clear lungs.", None)]
    measured = histograms([*rows, pair("Edema.", (9, 0, 0, 0, 0, 0))], progress=False)
    assert measured.edits.tolist() == [1, 0, 1, 0, 0, 0, 0, 1]  # one was not counted; the last bin is 7 or more
    texts = {"predictions": [REFERENCE, CANDIDATE, "Clear lungs.", "Edema."], "references": [REFERENCE] * 4}
    expected = rrgmetrics.score("bertscore", **texts, progress=False)["bertscore"].per_pair["bertscore"]
    np.testing.assert_allclose(measured.similarities, expected)
    assert measured.similarity_by_way == {"random": pytest.approx(np.mean(expected))}
    assert sum(measured.to_dict()["similarity"]["pairs"]) == 4
    plot_histograms(measured, tmp_path / "pairs.png")
    assert (tmp_path / "pairs.png").read_bytes().startswith(b"\x89PNG")
    drawn = [histograms(rows * 40, sampled=20, seed=seed, progress=False) for seed in (0, 0, 1)]
    assert drawn[0].similarities.tolist() == drawn[1].similarities.tolist() != drawn[2].similarities.tolist()
    assert drawn[0].n_pairs == 120
    with pytest.raises(InputError, match="no pairs"):
        histograms([])


def test_command_line(tmp_path, capsys):
    (tmp_path / "reports.csv").write_text(f"study_id,report\n1,{REFERENCE}\n2,Small left effusion. Clear lungs.\n")
    (tmp_path / "system.csv").write_text(f"study_id,report\n1,{CANDIDATE}\n")
    replies = write_replies(tmp_path / "replies.jsonl", (CANDIDATE, REPLY))
    outputs = ("--output", tmp_path / "pairs.parquet", "--json", tmp_path / "labels.json", "--no-progress")
    outputs += ("--histograms", tmp_path / "pairs.png")
    ways = ("--generated", tmp_path / "system.csv", "--ways", "generated", "removed", "--pairs", 5, "--labels", replies)
    arguments = ["synthesize", tmp_path / "reports.csv", *outputs, *ways]
    assert cli.main(list(map(str, arguments))) == 3  # the judge's replies lack some pairs, which are left out
    printed = capsys.readouterr().out
    assert "left out, because the label is missing (removed" in printed
    (pair,) = read_rows(tmp_path / "pairs.parquet")
    assert (pair.pairing, pair.total) == ("generated", (0, 1, 1, 2, 0, 0))
    assert json.loads((tmp_path / "labels.json").read_text())["shares"]["D"] == [0, 0, 1, 0]
    assert cli.main(list(map(str, arguments))) == 2
    assert "--force" in capsys.readouterr().err
