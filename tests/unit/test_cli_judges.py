"""`rrgmetrics judge` and `explain --judges` as a user types them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
from green_replies import green_reply

from rrgmetrics import cli

PAIRS = [
    ("s1", "The heart is mildly enlarged. No pneumothorax.", "Mild cardiomegaly. No pneumothorax."),
    ("s2", "Small left pleural effusion.", "Small right pleural effusion."),
]
GREEN = green_reply({"a": "1. One"})


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    rows = [dict(zip(("study_id", "reference", "candidate"), row, strict=True)) for row in PAIRS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def judge(loopback, tmp_path):
    loopback.reset(lambda request, tries: request.say(GREEN if "heart" in request.prompt else "I cannot say."))
    return f"green@openai:m?base_url={loopback.url}&cache={tmp_path / 'cache'}"


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_judge_records_and_the_record_scores_alike(pairs, judge, loopback, tmp_path, capsys):
    file, scores = tmp_path / "replies.jsonl", tmp_path / "scores.json"
    status, out, err = run(capsys, "judge", pairs, "--metrics", judge, "--record", file, "--no-progress")
    assert status == 3
    assert "about 1 of 2 pairs give no verdict" in err
    assert "green: 1 of 2 pairs scored, GREEN ↑ 0.500" in out
    assert "unscored: The reply has no section [Clinically Significant Errors]" in out
    assert f"green@replies:{file}" in out
    assert [json.loads(line)["engine"] for line in file.read_text().splitlines()] == ["openai:m"] * 2
    name = f"green@replies:{file}"
    assert run(capsys, "score", pairs, "--metrics", name, "--trials", 10, "--json", scores, "--no-progress")[0] == 3
    result = json.loads(scores.read_text())["systems"]["pairs"][name]
    assert (result["scores"]["green"], result["n_unscored"]) == (0.5, 1)
    other = tmp_path / "other.csv"
    other.write_text("reference,candidate\nNo effusion.,Large pneumothorax.\n")
    status, out, err = run(capsys, "score", other, "--metrics", name, "--trials", 10, "--no-progress", "--no-trivial")
    assert (status, "the recorded replies have none about 1 of 1 pairs" in err, "cut off" in err) == (4, True, False)
    assert "check the reports and options.\n" in out + err
    assert "options.." not in out + err
    status, _, err = run(capsys, "judge", pairs, "--metrics", judge, "--record", file, "--no-progress")
    assert (status, "--force" in err) == (2, True)
    assert run(capsys, "judge", pairs, "--metrics", judge, "--record", file, "--no-progress", "--force")[0] == 3
    assert len(file.read_text().splitlines()) == 2
    assert sum(loopback.asked.values()) == 2  # the second time from the cache


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("green", "green is the bundled judge, which asks no model"),
        ("green@reader", "green@reader is the bundled judge, which asks no model"),
        ("rouge", "rouge is not a judge; judges are"),
        ("X", "There is no judge 'X'. Judges are green, crimson, "),
        ("gren@openai:m", "There is no judge 'gren'. Did you mean 'green'? Judges are green, "),
        ("crepe-paper", "name one with an engine, such as green@openai:<model>."),
        ("green@openai:", "names no model"),
        (
            "green@opena:m",
            "There is no engine 'opena'; the engines are hf, vllm, openai, replies. Did you mean 'openai'?",
        ),
        ("green@opneai:m", "Did you mean 'openai'?"),
        ("green@openai", "names no model; write for example openai:<model>"),
        ("green?temperature=1", "the bundled judge has no such option"),
        ("green@openai:m?concurrency=none", "not a whole number"),
        ("green@replies:nowhere.jsonl", "nowhere.jsonl cannot be read"),
        ("green@openai:m,green@openai:n", "A file holds the replies of one engine"),
    ],
)
def test_wrong_use_of_judge(pairs, tmp_path, capsys, metric, message):
    file = tmp_path / "replies.jsonl"
    for option in ("--metrics", "--judges"):
        status, out, err = run(capsys, "judge", pairs, option, metric, "--record", file, "--no-progress")
        assert (status, out) == (2, "")
        assert message in err
    assert not file.exists()


def test_explain_shows_a_judges_verdict(judge, capsys):
    reference, candidate = PAIRS[0][1:]
    status, out, _ = run(capsys, "explain", reference, candidate, "--judges", judge, "green")
    assert status == 0
    assert "GREEN ↑  0.500" in out
    assert judge in out.replace("\n", "")
    assert "One" in out
    assert "GREEN (bundled) ↑  " in out


def test_explain_says_why_there_is_no_verdict(judge, capsys):
    status, out, _ = run(capsys, "explain", *PAIRS[1][1:], "--judges", judge)
    assert status == 4
    assert "not scored" in out
    assert "I cannot say." in out
    assert "or not follow the form. Its reply:" in " ".join(out.split())  # one full stop


@pytest.mark.parametrize("command", ["judge", "score"])
def test_who_interrupts_is_told_how_to_go_on(command, loopback, tmp_path, capsys):
    """Three replies are there, the others are waited for."""
    pairs, cache = tmp_path / "pairs.jsonl", tmp_path / "cache"
    rows = [{"study_id": f"s{i}", "reference": f"Effusion of {i} mm.", "candidate": "Clear."} for i in range(9)]
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    there = [f"Effusion of {i} mm." for i in range(3)]

    def behave(request, tries):
        request.say(GREEN) if tries or any(text in request.prompt for text in there) else request.hang()

    loopback.reset(behave)
    name = f"green@openai:m?base_url={loopback.url}&cache={cache}&concurrency=9"
    options = {"judge": ["--record", tmp_path / "replies.jsonl"], "score": ["--trials", 10]}[command]
    arguments = list(map(str, [command, pairs, "--metrics", name, "--no-progress", *options]))
    heed = partial(signal.signal, signal.SIGINT, signal.default_int_handler)  # what a shell starts behind "&" does not
    asking = [sys.executable, "-m", "rrgmetrics", *arguments]
    process = subprocess.Popen(asking, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    while sum(path.read_bytes().count(b"\n") for path in cache.rglob("*.jsonl")) < 3 or len(loopback.asked) < 9:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=19)  # the server would answer the others after 20 s
    assert (process.returncode, out) == (130, "")
    stopped, spent = err.splitlines()
    assert stopped == "rrgmetrics: stopped; 3 replies kept; run the same command again to resume."
    assert spent.startswith("green, openai:m: 3 replies, ")
    status, _, err = run(capsys, *arguments)
    assert status == 0, err
    assert sorted(loopback.asked.values()) == [1] * 3 + [2] * 6


def test_who_interrupts_what_asks_nobody_is_told_so(pairs, capsys, monkeypatch):
    def interrupted(*arguments, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr("rrgmetrics.cli.score.score_with_trivial", interrupted)
    status, out, err = run(capsys, "score", pairs, "--metrics", "green", "--no-progress")
    assert (status, out, err) == (130, "", "rrgmetrics: stopped.\n")


def bill(out):
    """The two lines of each judge: of what is likely, and at most; the first number is that of the questions."""
    lines = (line.replace("at most", "most").split() for line in out.splitlines() if line.startswith("  "))
    return [numbers for name, *numbers in lines if name in ("likely", "most")]


def test_dry_run_asks_nothing_and_says_what_it_would_cost(pairs, judge, loopback, tmp_path, capsys):
    """Two pairs, one of them given twice; then again when both replies are cached."""
    rows = pairs.read_text().splitlines()
    pairs.write_text("\n".join([*rows, rows[0].replace("s1", "s3")]) + "\n")
    priced = f"{judge}&price_in=1000&price_out=1000&max_tokens=100"
    status, out, err = run(capsys, "judge", pairs, "--metrics", priced, "--dry-run")
    likely, most = bill(out)
    assert (status, err) == (0, "")
    assert "No question was asked; 3 pairs" in out
    assert likely[:3] == ["2", "0", "2"]
    assert likely[4:] == ["?", "?"]
    assert (most[0], most[2]) == ("4", "600")  # each twice, with 100 and 200 tokens
    assert float(most[3]) == pytest.approx((int(most[1].replace(",", "")) + 600) / 1000, rel=0.01)
    assert sum(loopback.asked.values()) == 0
    record = ("--record", tmp_path / "replies.jsonl")
    status, _, err = run(capsys, "judge", pairs, "--metrics", priced, *record, "--no-progress")
    assert "green, openai:m: 2 replies, " in err  # what it took stays on the screen
    assert "; cost " in err
    status, out, err = run(capsys, "judge", pairs, "--metrics", priced, "--dry-run")
    assert bill(out) == [["2", "2", "0", "0", "0", "0"], ["0", "0", "0", "0"]]
    assert sum(loopback.asked.values()) == 2
    status, out, err = run(capsys, "judge", pairs, "--metrics", priced, "--dry-run", "--redo")
    assert bill(out)[0][:3] == ["2", "1", "1"]  # one of both replies cannot be read


def test_dry_run_of_several_judges_has_a_sum_and_fits_a_terminal(pairs, judge, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [judge.replace("green", name) for name in ("green", "crimson", "radfact", "chexprompt", "fineradscore")]
    status, out, _ = run(capsys, "judge", pairs, "--metrics", *names, "--dry-run")
    numbers = [[int(cell.replace(",", "")) for cell in line if cell != "?"] for line in bill(out)]
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    for part in (0, 1):
        *each, total = numbers[part::2]
        assert total == list(map(sum, zip(*each, strict=True)))
    guessed = numbers[4][0] - 4  # RadFact: four reports, and then what their phrases call for
    assert guessed > 0
    assert f"radfact: {guessed} of the questions depend on replies that are not cached" in " ".join(out.split())


def test_dry_run_needs_no_key(pairs, capsys, monkeypatch, tmp_path):
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    name = f"green@openai:gpt?cache={tmp_path / 'cache'}"
    monkeypatch.setitem(sys.modules, "openai", None)  # nor the package that asks
    assert run(capsys, "judge", pairs, "--metrics", name, "--dry-run")[::2] == (0, "")
    monkeypatch.undo()
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    status, _, err = run(capsys, "judge", pairs, "--metrics", name)
    assert (status, "OPENAI_API_KEY contains no key" in err) == (2, True)


@pytest.mark.parametrize(
    ("judge", "missing"),
    [
        ("green@paper", "`hf download StanfordAIMI/GREEN-radllama2-7b --revision"),
        ("crimson@paper", "`hf download rajpurkarlab/medgemma-4b-it-crimson`"),
        ("green@vllm:someone/a-model", "vllm:someone/a-model"),
        ("fineradscore@hf:/nowhere/weights", "There is no folder /nowhere/weights"),
        ("green@my-model", "If a server has this model, name it openai:my-model?base_url="),
    ],
)
def test_dry_run_counts_the_questions_to_a_model_that_is_not_there(
    pairs, judge, missing, capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)  # and yet nothing is downloaded
    name = f"{judge}?cache={tmp_path / 'cache'}"
    status, out, err = run(capsys, "judge", pairs, "--metrics", name, "green@openai:gpt?price_in=1", "--dry-run")
    assert (status, err) == (0, "")
    assert bill(out)[0][:3] == ["2", "0", "2"]
    said = " ".join(out.split())
    assert (
        f"{judge.partition('@')[0]} cannot be run on this machine yet, and cached replies were not looked for: " in said
    )
    assert missing in said
    assert run(capsys, "judge", pairs, "--metrics", name)[0] == 2


def test_replies_are_kept_without_a_record(pairs, judge, loopback, capsys):
    status, out, _ = run(capsys, "judge", pairs, "--metrics", judge, judge.replace(":m", ":n"), "--no-progress")
    assert status == 3
    assert f"score again without asking: {judge} (its replies are cached)" in out
    n_asked = sum(loopback.asked.values())
    assert run(capsys, "score", pairs, "--metrics", judge, "--trials", 10, "--no-progress", "--no-trivial")[0] == 3
    assert sum(loopback.asked.values()) == n_asked
    status, _, err = run(capsys, "judge", pairs, "--metrics", judge.partition("&cache")[0] + "&cache=no")
    assert (status, "stores no reply: pass --record FILE" in err) == (2, True)


def test_the_replies_of_several_runs_of_a_section_are_scored_again_alike(pairs, judge, loopback, tmp_path, capsys):
    """The name that `judge` prints has what it needs for the same score: runs, sections and the key, not the server."""
    loopback.reset(lambda request, tries: request.say(green_reply({"a": "1. One"} if tries % 2 else {})))
    file, name = tmp_path / "replies.jsonl", f"{judge}&runs=2&text=findings"
    _, out, _ = run(capsys, "judge", pairs, "--metrics", name, "--record", file, "--no-progress")
    again = out.partition("score again without asking: ")[2].split()[0]
    assert again == f"green@replies:{file}?text=findings&runs=2"
    scores = []
    for each in (name, again):
        assert run(capsys, "score", pairs, "--metrics", each, "--json", tmp_path / "a.json", "--force")[0] == 0
        scores.append(json.loads((tmp_path / "a.json").read_text())["systems"]["pairs"][each]["scores"]["green"])
    assert scores[0] == scores[1]


def test_one_count_of_a_judge(pairs, judge, tmp_path, capsys):
    _, out, _ = run(capsys, "judge", pairs, "--metrics", f"{judge}#errors", "--no-progress")
    assert "green: 1 of 2 pairs scored, Errors ↓ 1.00" in out
    status, _, err = run(capsys, "judge", pairs, "--compare", "--metrics", f"{judge}#errors", "green", "--no-progress")
    assert (status, "all counts are compared; leave out #errors." in err) == (2, True)


def test_nothing_is_to_be_scored_again_where_no_pair_has_a_verdict(pairs, judge, loopback, tmp_path, capsys):
    loopback.reset(lambda request, tries: request.say("I cannot say."))
    file = tmp_path / "replies.jsonl"
    status, out, _ = run(capsys, "judge", pairs, "--metrics", judge, "--record", file, "--no-progress")
    assert (status, file.exists()) == (4, True)
    assert "0 of 2 pairs scored" in out
    assert "score again without asking" not in out


def test_a_server_of_another_model_is_to_be_corrected_first(pairs, judge, loopback, capsys):
    loopback.reset(lambda request, tries: request.send(200, {"model": "other", **choice(GREEN, "stop")}))
    status, out, err = run(capsys, "judge", pairs, "--metrics", judge, "--no-progress")
    assert (status, "allow it with answers_as=other" in out) == (4, True)
    assert "to ask about the other 2 once the reason for the missing replies is corrected." in " ".join(err.split())


def test_nobody_is_asked_where_every_reference_is_missing(pairs, judge, loopback, capsys):
    pairs.write_text(json.dumps({"reference": "nan", "candidate": "Clear."}) + "\n")
    status, out, _ = run(capsys, "judge", pairs, "--metrics", judge, "--no-progress")
    assert (status, sum(loopback.asked.values())) == (0, 0)
    assert "0 of 1 pairs scored" in out


@pytest.mark.parametrize("record", [(), ("--record", "replies.jsonl")])
def test_no_reply_is_called_stored_where_there_is_none(pairs, judge, loopback, tmp_path, monkeypatch, capsys, record):
    monkeypatch.chdir(tmp_path)
    loopback.reset(lambda request, tries: request.send(500, {}))
    name = f"{judge}&retries=0"
    assert "score again without asking" not in run(capsys, "judge", pairs, "--metrics", name, *record)[1]
    pairs.write_text(json.dumps({"reference": "nan", "candidate": "Clear."}) + "\n")
    assert "score again without asking" not in run(capsys, "judge", pairs, "--metrics", name, *record)[1]


# --- exit statuses


@pytest.fixture
def nine(tmp_path):
    """Nine pairs; the reference of one more is missing."""
    path = tmp_path / "nine.jsonl"
    rows = [{"study_id": f"s{i}", "reference": f"Effusion of {i} mm.", "candidate": "Clear."} for i in range(9)]
    rows.append({"study_id": "s9", "reference": "nan", "candidate": "Clear."})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def choice(text, why):
    return {"choices": [{"message": {"content": text}, "finish_reason": why}], "usage": {"completion_tokens": 9}}


ENDLESS = "(a) False report of a finding: 1. " * 20
BEHAVIOURS = {  # of the server, what is said on standard error, and the exit status
    "good": (lambda request: request.say(GREEN), "", 0),
    "fails at four": (
        lambda request: request.say(GREEN) if request.number < 5 else request.send(500, {}),
        "5 of 9 pairs scored; run the same command again (with --force if it writes files) to ask about the other 4.",
        3,
    ),
    "fails at four and is empty once": (
        lambda request: (
            request.say("" if not request.number else GREEN) if request.number < 5 else request.send(500, {})
        ),
        "4 of 9 pairs scored; run the same command again (with --force if it writes files) to ask about the 4 without "
        "a reply.",
        3,
    ),
    "fails": (lambda request: request.send(500, {}), "0 of 9 pairs scored; run the same command again", 4),
    "is cut off": (
        lambda request: request.send(200, choice("[Clin", "length")),
        "about 9 of 9 pairs give no verdict",
        4,
    ),
    "is cut off once": (
        lambda request: request.send(200, choice("[Clin", "length") if not request.number else choice(GREEN, "stop")),
        "about 1 of 9 pairs give no verdict",
        3,
    ),
    "loops": (lambda request: request.send(200, choice(ENDLESS, "length")), "about 9 of 9 pairs give no verdict", 4),
    "is empty": (lambda request: request.say(""), "about 9 of 9 pairs give no verdict", 4),
    "refuses one": (
        lambda request: request.say(None, refusal="No.") if request.number == 3 else request.say(GREEN),
        "about 1 of 9 pairs give no verdict",
        3,
    ),
}
REASONS = {
    "is cut off": "No reply: the reply was cut off at 2,048 tokens; allow more with max_tokens (9)",
    "loops": "No reply: the reply repeats itself endlessly and was cut off at 1,024 tokens (9)",
    "is empty": "The reply is empty (9)",
}


def test_a_missing_reference_is_asked_about_where_that_is_wanted(nine, judge, loopback, capsys, caplog):
    loopback.reset(lambda request, tries: request.say(green_reply()))
    asking = ("judge", nine, "--metrics", judge, "--no-progress")
    _, out, _ = run(capsys, *asking)
    assert "pass missing='empty' to score it as an empty report" in caplog.text  # on a terminal: --missing empty
    assert "green: 9 of 10 pairs scored" in out
    assert bill(run(capsys, *asking, "--missing", "empty", "--dry-run")[1])[0][:3] == ["10", "9", "1"]
    assert run(capsys, *asking, "--missing", "error")[0] == 2
    _, out, _ = run(capsys, *asking, "--missing", "empty")
    assert "green: 10 of 10 pairs scored" in out
    two = ("--metrics", judge, "green", "--missing", "empty")
    compared = run(capsys, "judge", nine, "--compare", *two, "--texts", "--no-progress")[1]
    assert ", 10 pairs" in " ".join(compared.split())


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.parametrize("command", ["judge", "score"])
def test_exit_status(command, behaviour, nine, judge, loopback, capsys):
    """A pair whose reference is missing changes none; what was kept is not asked for again."""
    behave, said, expected = BEHAVIOURS[behaviour]

    def answer(request, tries):
        request.number = int(next(number for number in range(9) if f"Effusion of {number} mm" in request.prompt))
        behave(request)

    loopback.reset(answer)
    options = ["--trials", 10, "--no-trivial"] if command == "score" else []
    asking = (command, nine, "--metrics", f"{judge}&retries=0", "--no-progress", *options)
    status, out, err = run(capsys, *asking)
    assert status == expected
    assert said in err
    assert REASONS.get(behaviour, "").removesuffix(" (9)") in out
    first = sum(loopback.asked.values())
    assert first == {"is cut off": 18, "is cut off once": 10}.get(behaviour, 9)
    assert run(capsys, *asking)[0] == expected
    again = {"fails at four": 4, "fails at four and is empty once": 4, "fails": 9, "refuses one": 1}.get(behaviour, 0)
    assert sum(loopback.asked.values()) - first == again
    if command == "judge":
        assert REASONS.get(behaviour, "") in out
        assert run(capsys, *asking, "--redo")[0] == expected
        unusable = {"is cut off": 18, "is cut off once": 2, "loops": 9, "is empty": 9}
        redone = {**unusable, "fails at four and is empty once": 5}.get(behaviour, again)
        assert sum(loopback.asked.values()) - first - again == redone


def test_what_was_cut_off_is_counted_apart(nine, judge, loopback, capsys):
    loopback.reset(
        lambda request, tries: request.send(200, choice(GREEN, "stop") if tries else choice("[Clin", "length"))
    )
    status, _, err = run(capsys, "judge", nine, "--metrics", judge, "--no-progress")
    assert status == 0
    assert "green, openai:m: 18 replies (9 with twice the tokens, as the first were cut off), 0 tokens asked" in err


def test_dry_run_knows_the_questions_about_other_kinds_of_reports(judge, loopback, tmp_path, capsys):
    """RadFact's instructions for a chest CT are others; what was asked in the run is cached in the bill."""
    path = tmp_path / "ct.jsonl"
    report = "CT CHEST WITHOUT CONTRAST. LUNGS: 6 mm solid nodule in the right upper lobe. No pleural effusion."
    path.write_text(json.dumps({"study_id": "s1", "reference": report, "candidate": report}) + "\n")
    loopback.reset(lambda request, tries: request.say('{"phrases": []}'))
    name = judge.replace("green", "radfact")
    assert run(capsys, "judge", path, "--metrics", name, "--no-progress")[0] == 0
    assert bill(run(capsys, "judge", path, "--metrics", name, "--dry-run")[1])[0][:3] == ["1", "1", "0"]
