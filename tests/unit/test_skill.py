"""Skill beside trivial systems, on numbers that can be checked on paper."""

import json
import math

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import InputError, Result, cli, prepare
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.abnormal import abnormal_studies
from rrgmetrics.baselines.collapse import find_collapse
from rrgmetrics.baselines.skill import (
    NORMAL_REPORT,
    PERFECT,
    Skill,
    another_study,
    measure_skill,
    most_frequent,
    score_beside,
    trivial_systems,
)
from rrgmetrics.baselines.worth import Worth, score_with_worth, skill_lines
from rrgmetrics.reporting.tables import as_cell
from rrgmetrics.reporting.worth import skill_summary, worth_tables
from rrgmetrics.reports import Pair, check_pairs
from rrgmetrics.scorers.base import Mean
from rrgmetrics.specs import get_spec
from rrgmetrics.stats import Estimate

SAMPLE = 30  # studies, in place of 200
REFERENCES = [
    "Small left pleural effusion.",
    "Large right pneumothorax.",
    "No acute disease.",
    "Clear lungs.",
    "Mild cardiomegaly.",
    "Right lower lobe consolidation.",
    "Multiple rib fractures.",
    "Moderate pulmonary edema.",
]


def result(values, metric="rouge"):
    """A Result whose every key has these values of pairs."""
    keys = tuple(key.name for key in get_spec(metric).keys)
    stats = np.stack([values] * len(keys), axis=1).astype(float)
    reduction = Mean(keys)
    per_pair = reduction.per_pair(stats)
    return Result(get_spec(metric), {}, per_pair, stats, reduction, f"{metric}|v:0")


def skill_of(own, trivial, perfect, metric="rouge", rows=None):
    systems = {name: {metric: result(values, metric)} for name, values in {**trivial, PERFECT: perfect}.items()}
    (skill,) = measure_skill({"own": {metric: result(own, metric)}}, systems, rows=rows, trials=200)
    return skill


def test_skill_lies_between_the_best_trivial_and_the_perfect_system():
    skill = skill_of([0.6] * 4, {"empty": [0.0] * 4, "normal": [0.2] * 4}, [1.0] * 4)
    assert skill.best == "normal"
    assert skill.skill.value == pytest.approx(0.5)  # (0.6 - 0.2) / (1 - 0.2)
    assert (skill.skill.low, skill.skill.high) == pytest.approx((0.5, 0.5))
    assert skill.state == "better"


def test_lower_is_better():
    """Errors 1 where silence has 4 and a perfect report 0: (4 - 1) / 4."""
    skill = skill_of([1, 1], {"empty": [4, 4], "normal": [5, 5]}, [0, 0], "finding_errors")
    assert skill.best == "empty"
    assert skill.skill.value == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("own", "trivial", "perfect", "state"),
    [
        ([0.2] * 4, [0.2] * 4, [1.0] * 4, "no better"),
        ([0.1] * 4, [0.2] * 4, [1.0] * 4, "no better"),
        ([0.9, 0.0, 0.0, 0.0], [0.2] * 4, [1.0] * 4, "unsure"),
        ([0.201] * 4, [0.2] * 4, [1.0] * 4, "unsure"),  # is shown as 0.00 [0.00, 0.00]
        ([0.9], [0.2], [1.0], "unsure"),  # one study says nothing of others
        ([0.5] * 4, [1.0] * 4, [1.0] * 4, "undefined"),
        ([np.nan] * 4, [0.2] * 4, [1.0] * 4, "undefined"),
    ],
)
def test_states(own, trivial, perfect, state):
    assert skill_of(own, {"empty": trivial}, perfect).state == state


def test_pairs_that_all_have_a_score_for_count_and_an_unscored_trivial_system_does_not():
    nothing = [np.nan] * 3
    skill = skill_of([0.6, 0.6, 0.0], {"empty": nothing, "normal": [0.2, 0.2, np.nan]}, [1.0] * 3)
    assert skill.skill.value == pytest.approx(0.5)
    assert skill.skill.n == 2
    assert list(skill.trivial) == ["normal"]


def test_rows():
    assert skill_of([1.0, 0.5], {"empty": [0, 0]}, [1, 1], rows=[1]).skill.value == pytest.approx(0.5)


def test_nobody_gets_the_report_of_the_same_study_nor_its_words():
    rng = np.random.default_rng(0)
    for seed in range(30):
        texts = [f"text {number}" for number in rng.integers(5, size=20)]
        others = another_study(texts, seed=seed)
        assert sorted(others) == list(range(20))
        assert all(other != index for index, other in enumerate(others))
        if max(map(texts.count, texts)) <= 10:
            assert all(texts[other] != text for other, text in zip(others, texts, strict=True))
    assert another_study(texts, seed=1) == another_study(texts, seed=1) != another_study(texts, seed=2)


def test_most_studies_alike():
    """Four of five have the same words: one of them, and the fifth, can get others; nobody keeps their own study."""
    texts = ["Clear."] * 4 + ["Nodule."]
    others = another_study(texts)
    assert all(other != index for index, other in enumerate(others))
    assert sum(texts[other] != text for other, text in zip(others, texts, strict=True)) == 2
    assert another_study(["Clear."] * 3) != [0, 1, 2]
    with pytest.raises(InputError, match="one study"):
        another_study(["Clear."])


def test_most_frequent():
    assert most_frequent(["a", "B", "b ", ""]) == "B"
    assert most_frequent(["a", "b"], at_least=2) is None
    assert most_frequent(["", ""]) is None


ABDOMEN = "Abdominal ultrasound. The liver is enlarged with fatty infiltration. Gallstones. The kidneys are normal."


@pytest.mark.parametrize("unscored", ["", "N/A", ABDOMEN])
@pytest.mark.parametrize("at", [0, 2, 4])
def test_an_unscored_study_changes_nothing_for_the_others(unscored, at):
    texts = ["Small left effusion.", "The lungs are clear.", "The lungs are clear.", "Mild cardiomegaly."]
    pairs = [Pair(text, "Clear.") for text in texts]
    more = [*pairs[:at], *[Pair(unscored, "Clear.")] * 3, *pairs[at:]]
    alone, beside = trivial_systems(pairs), trivial_systems(more)
    assert {name: [*own[:at], *own[at + 3 :]] for name, own in beside.items()} == alone
    assert all(pair.candidate in texts for pair in beside["another"])


def test_trivial_systems():
    pairs = check_pairs(["x"] * 8, REFERENCES)
    systems = trivial_systems(pairs)
    assert list(systems) == ["empty", "normal", "template", "another", PERFECT]
    assert {pair.candidate for pair in systems["normal"]} == {NORMAL_REPORT}
    assert [pair.candidate for pair in systems[PERFECT]] == REFERENCES
    assert trivial_systems(pairs, train=["Old.", "New.", "new."])["frequent"][0].candidate == "New."
    assert "another" not in trivial_systems(pairs[:1])


def test_metrics_that_ask_a_model_score_the_systems_alone(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text(
        json.dumps(
            {"protocol": "chexprompt@1", "prompt_sha256": "0" * 64, "reply": "?", "engine": "x", "parameters": {}}
        )
    )
    pairs = check_pairs(REFERENCES, REFERENCES)
    judge = f"chexprompt@replies:{path}"
    with prepare([judge, "rouge"]) as metrics:
        results, worth = score_with_worth(metrics, {"copy": pairs}, progress=False, trials=50)
    assert list(results["copy"]) == [judge, "rouge"]
    assert [skill.metric for skill in worth.skills] == ["rouge"]
    assert list(worth.trivial["empty"]) == ["rouge"]
    assert worth.skills[0].skill.value == pytest.approx(1.0)


def test_scores_are_those_without_trivial_systems_and_slow_metrics_score_a_sample(monkeypatch):
    monkeypatch.setattr("rrgmetrics.baselines.skill.SAMPLE", SAMPLE)
    references = [f"Small left pleural effusion. Nodule of {number} mm." for number in range(SAMPLE + 5)]
    pairs = [Pair(reference, "Small left pleural effusion.") for reference in references]
    with prepare(["crepe", "rouge"]) as metrics:
        results, trivial = score_beside(metrics, {"own": pairs}, trivial_systems(pairs), progress=False)
        alone = metrics.score_pairs(pairs, progress=False)
    assert list(results["own"]) == ["crepe", "rouge"]
    for name, result_ in results["own"].items():
        np.testing.assert_allclose(result_.pair_stats, alone[name].pair_stats, atol=1e-6)
    assert trivial["empty"]["rouge"].n_unscored == 0
    assert trivial["empty"]["crepe"].n_unscored == 5
    crepe, rouge = measure_skill(results, trivial, trials=50)
    for skill in (crepe, rouge):
        assert skill.score == pytest.approx(
            results["own"][skill.metric].scores[skill.metric]
        )  # one quantity, one value
    assert (crepe.basis, rouge.basis) == (f"on {SAMPLE} of {SAMPLE + 5} studies", "")
    worth = Worth([crepe, rouge], [], SAMPLE + 5, 0, [find_collapse("own", ["x"], references)], trivial)
    for table in (*worth_tables(worth)[:1], skill_summary([crepe, rouge])):
        lines = [as_cell(line[0]).text for group in table.groups for line in group.every_line]
        assert [f"on {SAMPLE} of" in line for line in lines] == [True, False]


def test_words():
    def skill(value, low, title="rouge"):
        trivial, key = {"empty": 0.0, "normal": 0.25}, get_spec("rouge").headline
        return Skill(title, key, "mine", 0.2, trivial, 1.0, Estimate(value, low, 1.0, 9), 9)

    assert skill_lines("mine", [skill(-0.1, -0.2)]) == [
        "mine does not beat the best trivial system in 1 of 1 metric. ROUGE-L: 0.200, a one-sentence normal report "
        "0.250."
    ]
    assert "in any metric" in skill_lines("mine", [skill(0.0, 0.0)] * 2)[0]
    assert skill_lines("mine", [skill(0.1, -0.2)]) == [
        "mine is not clearly better than the best trivial system in ROUGE-L (a one-sentence normal report)."
    ]
    assert skill_lines("mine", [skill(0.3, 0.2)]) == ["mine beats every trivial system in 1 metric."]
    assert skill_lines("mine", [skill(0.0, 0.0)] * 4 + [skill(0.1, 0.1)]) == [
        "mine does not beat the best trivial system in 4 of 5 metrics."
    ]
    assert "cannot show this" in skill_lines("mine", [skill(np.nan, np.nan)])[0]


def test_measure_worth_from_python():
    worth = rrgmetrics.measure_worth(
        ["rouge", "finding_errors"], predictions=REFERENCES, references=REFERENCES, progress=False, trials=50
    )
    assert [skill.skill.value for skill in worth.skills] == pytest.approx([1.0, 1.0])
    assert (worth.n_studies, worth.n_abnormal) == (8, 6)
    assert [skill.skill.n for skill in worth.abnormal] == [6, 6]
    flags = [True] * 5 + [False] * 3
    chosen = rrgmetrics.measure_worth(
        "rouge", predictions=REFERENCES, references=REFERENCES, abnormal=flags, progress=False, trials=50
    )
    assert chosen.abnormal[0].skill.n == 5
    with pytest.raises(InputError, match="abnormal has 1 entries for 8"):
        rrgmetrics.measure_worth("rouge", predictions=REFERENCES, references=REFERENCES, abnormal=[True])


def test_abnormal_studies():
    assert abnormal_studies(REFERENCES, Readings()).tolist() == [True, True, False, False, True, True, True, True]


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"s{i},{text},{'yes' if i % 2 else 'no'}" for i, text in enumerate(REFERENCES * 2)]
    (tmp_path / "references.csv").write_text("\n".join(["study_id,report,sick", *rows]) + "\n")
    lines = [f"s{i},Clear lungs." for i in range(16)]
    (tmp_path / "same.csv").write_text("\n".join(["study_id,report", *lines]) + "\n")
    (tmp_path / "train.csv").write_text("text\nNo pneumothorax.\nNo pneumothorax.\nClear.\n")
    return tmp_path


SCORE = (
    "score",
    "--references",
    "references.csv",
    "--predictions",
    "same.csv",
    "--metrics",
    "finding_errors",
    "--no-progress",
)


def run(capsys, *arguments):
    return cli.main([*arguments, "--trials", "50"]), capsys.readouterr()


def test_score_says_what_a_system_is_worth(folder, capsys):
    asked = (
        "--train",
        "train.csv",
        "--train-column",
        "text",
        "--abnormal",
        "sick",
        "--json",
        "r.json",
        "--html",
        "r.html",
    )
    status, printed = run(capsys, *SCORE, *asked)
    assert status == 0
    assert "Compared with trivial systems: skill" in printed.out
    assert "same does not beat the best trivial system" in printed.out
    assert "same writes 1 distinct report for 16 studies" in printed.out
    worth = json.loads((folder / "r.json").read_text())["worth"]
    assert worth["n_abnormal"] == 8
    assert worth["abnormal"][0]["skill"]["n"] == 8
    assert worth["collapse"]["same"]["n_distinct"] == 1
    assert "frequent" in worth["skill"][0]["trivial"]
    assert "Compared with trivial systems" in (folder / "r.html").read_text()


def test_no_trivial(folder, capsys):
    status, printed = run(capsys, *SCORE, "--no-trivial", "--json", "r.json")
    assert status == 0
    assert "trivial" not in printed.out
    assert "worth" not in json.loads((folder / "r.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--train", "absent.csv"), "absent.csv"),
        (("--train", "train.csv", "--train-column", "words"), "has no 'words'; it has: 'text'"),
        (("--train-column", "text"), "--train FILE"),
        (("--abnormal", "ill"), "has no 'ill'"),
        (("--abnormal", "report"), "write yes or no"),
        (("--abnormal", "sick", "--no-trivial"), "--no-trivial leaves them out"),
    ],
)
def test_wrong_use_is_said_before_anything_is_scored(folder, capsys, arguments, says):
    status, printed = run(capsys, *SCORE, *arguments)
    assert status == 2
    assert says in printed.err
    assert printed.out == ""


def test_a_summary_without_a_trivial_system_ends_with_what_0_and_1_mean():
    unknown = [math.nan] * 4
    assert skill_summary([skill_of(unknown, {"empty": unknown}, unknown)]).note.endswith("the radiologists' reports.")
