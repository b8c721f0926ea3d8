"""Parts of a job, and the results that are stored: merged they are what one run gives; what does not fit is refused."""

import csv
import json
import re
import shutil
from itertools import chain

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import InputError, Result, cli
from rrgmetrics.scoring.shards import Shard, parse_shard
from rrgmetrics.scoring.streaming import score_stream

NAMES = ("bleu", "bleu?tokenizer=13a", "cider", "finding_errors")
REFERENCES = [
    "Small left pleural effusion. No pneumothorax.",
    "Die Lunge ist frei.",  # out of scope: unscored, with a reason
    "The heart is mildly enlarged. No pneumothorax.",
    "No acute cardiopulmonary abnormality.",
    "Small left pleural effusion. No pneumothorax.",
    "Right lower lobe pneumonia.",
    "",
]
SYSTEMS = {
    "good": [
        "Small left effusion.",
        "Frei.",
        "Mild cardiomegaly.",
        "Clear lungs.",
        "Small left effusion.",
        "",
        "Edema.",
    ],
    "poor": ["Clear lungs."] * 7,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Pairs of two systems, and the parts of each."""
    folder = tmp_path_factory.mktemp("parts")
    for name, reports in SYSTEMS.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            rows = [(f"s{i}", *pair) for i, pair in enumerate(zip(REFERENCES, reports, strict=True))]
            csv.writer(file).writerows([("study_id", "reference", "candidate"), *rows])
        for number in (2, 1, 3):  # in any order
            assert score(folder, name, number) == 0
    return folder


def score(folder, name, number, *more, metrics=NAMES, of=3, output=None):
    output = output or folder / f"{name}-{number}.parquet"
    return command("score", folder / f"{name}.csv", "--metrics", *metrics, "--shard", f"{number}/{of}",
                   "--output", output, "--statistics", folder / "statistics.parquet", *more)  # fmt: skip


def command(*arguments):
    return cli.main([str(argument) for argument in (*arguments, *(["--no-progress"] if arguments else []))])


def parts(folder, name):
    return [folder / f"{name}-{number}.parquet" for number in (3, 1, 2)]


def test_merged_parts_are_one_run(made, tmp_path):
    """Scores, intervals, reasons, signatures: all that --json and --output hold."""
    options = ("--trials", 50, "--json", "{}.json", "--output", "{}.jsonl")
    for name, arguments in {
        "merged": ("merge", *parts(made, "good")),
        "one": ("score", made / "good.csv", "--no-trivial", "--metrics", *NAMES),
    }.items():
        assert command(*arguments, *(str(each).format(tmp_path / name) for each in options)) == 0
    merged, one = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("merged", "one"))
    assert close(merged, one) > 50
    assert merged["systems"]["good"]["finding_errors"]["unscored"]
    assert close(*(json.loads(f"[{','.join((tmp_path / f'{name}.jsonl').open())}]") for name in ("merged", "one"))) > 50


def test_merged_systems_are_compared_as_one_run_compares_them(made, tmp_path):
    table = tmp_path / "references.csv"
    for name in SYSTEMS:
        rows = list(csv.reader((made / f"{name}.csv").open(newline="")))[1:]
        for path, column in ((table, 1), (tmp_path / f"{name}.csv", 2)):
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([("study_id", "report"), *((row[0], row[column]) for row in rows)])
    systems = [tmp_path / f"{name}.csv" for name in SYSTEMS]
    options = ("--trials", 50, "--json")
    assert command("merge", *parts(made, "good"), *parts(made, "poor"), *options, tmp_path / "merged.json") == 0
    assert command("compare", "--references", table, "--systems", *systems, "--no-trivial", "--metrics", *NAMES,
                   *options, tmp_path / "one.json") == 0  # fmt: skip
    merged, one = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("merged", "one"))
    assert any(row["p"] is not None for row in merged["rows"])
    assert close(merged, one) > 50


def test_a_merged_table_has_the_keys_that_were_asked_for(made, tmp_path, capsys):
    table = tmp_path / "t.tex"
    both = (*parts(made, "good"), *parts(made, "poor"), "--trials", 50)
    assert command("merge", *both, "--keys", "bleu_1", "bleu", "--table", table) == 0
    written = table.read_text()
    assert written.count("BLEU-1") == 2  # with either tokenizer
    assert r"& good & poor & p \\" in written
    assert "Finding errors" not in written
    assert command("merge", *both, "--html", tmp_path / "page.html") == 2
    assert "--html needs the texts of the reports" in capsys.readouterr().err


def close(one, other) -> int:
    """Asserts that two documents hold the same, numbers to 1e-12; counts the numbers."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        return sum(close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return sum(close(*both) for both in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)
        return 1
    assert one == other
    return 0


FAULTS = {
    "missing": (lambda made, new: parts(made, "good")[:2], r"1 of 3 parts of good are missing: 2/3"),
    "doubled": (
        lambda made, new: [*parts(made, "good"), shutil.copy(made / "good-2.parquet", new / "copy.parquet")],
        r"copy\.parquet and .*good-2\.parquet are both part 2/3",
    ),
    "of another number": (
        lambda made, new: [*parts(made, "good"), scored(made, new, of=2)],
        r"other\.parquet is part 1/2 and .*good-3\.parquet is part 3/3",
    ),
    "other metrics": (
        lambda made, new: [*parts(made, "good")[::2], scored(made, new, metrics=("bleu",))],
        r"good-3\.parquet has the metrics 'bleu\?tokenizer=13a', .*other\.parquet does not",
    ),
    "other options": (
        lambda made, new: [*parts(made, "good")[::2], renamed(made, new, "stemmer")],
        r"was scored differently from .*other\.parquet: bleu has tokenizer 13a and coco",
    ),
    "another version": (
        lambda made, new: [*parts(made, "good")[::2], renamed(made, new, "version")],
        r"was scored differently from .*other\.parquet: bleu has version 0\.0\.1 and ",
    ),
    "other data": (
        lambda made, new: [*parts(made, "good")[::2], scored(made, new, change=True)],
        r"other\.parquet was scored on other data than .*: the reports of the system",
    ),
    "no part": (
        lambda made, new: [made / "statistics.parquet"],
        r"statistics\.parquet contains no statistics of "
        "pairs",
    ),
    "no Parquet": (lambda made, new: [made / "good.csv"], r"good\.csv must end in \.parquet"),
}


def scored(made, new, change=False, **options):
    """The first part as it is scored otherwise."""
    text = (made / "good.csv").read_text()
    (new / "good.csv").write_text(text.replace("Edema.", "No edema.") if change else text)
    assert score(new, "good", 1, output=new / "other.parquet", **options) == 0
    return new / "other.parquet"


def renamed(made, new, what):
    """The first part with another signature."""
    from pyarrow import parquet

    table = parquet.read_table(made / "good-1.parquet")
    facts = json.loads(table.schema.metadata[b"rrgmetrics"])
    old, changed = {"stemmer": ("tokenizer:coco", "tokenizer:13a"), "version": ("|v:", "|v:0.0.1|was:")}[what]
    signed = facts["metrics"]["bleu"].replace(old, changed)
    if what == "version":  # last
        signed = facts["metrics"]["bleu"].partition("|v:")[0] + "|v:0.0.1"
    facts["metrics"]["bleu"] = signed
    path = new / "other.parquet"
    parquet.write_table(table.replace_schema_metadata({b"rrgmetrics": json.dumps(facts).encode()}), path)
    return path


@pytest.mark.parametrize("fault", FAULTS)
def test_what_does_not_belong_together_is_refused(fault, made, tmp_path, capsys):
    make, message = FAULTS[fault]
    assert command("merge", *make(made, tmp_path)) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("rrgmetrics: ")
    assert re.search(message, error), error


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--shard", "4/3"), "--shard is '4/3'; write NUMBER/PARTS"),
        (("--shard", "3/8"), "there are only 7 pairs"),
        (("--output", "a.csv"), "--shard needs --output FILE.parquet"),
        (("--json", "a.json"), "--json needs all pairs at once"),
        (("--statistics", "good-1.parquet"), "good-1.parquet contains no statistics of references"),
    ],
)
def test_what_a_part_cannot_have_is_refused(more, message, made, capsys, monkeypatch):
    monkeypatch.chdir(made)
    given = {"--shard": "1/3", "--output": "x.parquet", "--metrics": "cider", **dict([more])}
    assert command("score", "good.csv", *(each for pair in given.items() for each in pair)) == 2
    assert message in capsys.readouterr().err


def test_a_part_and_what_is_merged_name_studies_by_their_ids(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = ["study_id,reference,candidate", "3,Die Lunge ist frei.,Clear.", "0,Clear lungs.,CT chest: clear lungs."]
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    run = ["score", "pairs.csv", "--metrics", "finding_errors", "--no-progress"]
    assert cli.main([*run, "--shard", "1/1", "--output", "part.parquet"]) == 0
    of_part = " ".join(capsys.readouterr().out.split())
    assert cli.main(["merge", "part.parquet"]) == 0
    for said in (of_part, " ".join(capsys.readouterr().out.split())):
        assert "1 study (3), because the reference looks German" in said
        assert "1 candidate (0) looks like a CT report: it gets the worse of its own score" in said


def test_shards_divide_all_pairs():
    for n_pairs, of in ((7, 3), (16, 16), (1000, 7)):
        rows = [list(range(n_pairs))[Shard(number, of).rows(n_pairs)] for number in range(1, of + 1)]
        assert list(chain(*rows)) == list(range(n_pairs))
        assert max(map(len, rows)) - min(map(len, rows)) <= 1
    with pytest.raises(InputError):
        parse_shard("0/3")


@pytest.mark.parametrize("name", ["bleu?tokenizer=13a", "finding_errors?explain=yes", "chexbert_f1"])
def test_a_result_is_saved_loaded_and_merged(name, tmp_path):
    candidates = SYSTEMS["good"]
    whole = rrgmetrics.score(name, predictions=candidates, references=REFERENCES, progress=False)[name]
    loaded = []
    for start, stop in ((0, 2), (2, 7)):
        part = {"predictions": candidates[start:stop], "references": REFERENCES[start:stop]}
        path = tmp_path / f"{start}.parquet"
        rrgmetrics.score(name, **part, progress=False)[name].save(path)
        loaded.append(Result.load(path))
    merged = Result.merge(loaded)
    assert (merged.scores, merged.signature) == (pytest.approx(whole.scores, abs=1e-15, nan_ok=True), whole.signature)
    assert merged.unscored_reasons == whole.unscored_reasons
    assert dict(merged.details) == json.loads(json.dumps(whole.details))
    for key, values in whole.per_pair.items():
        np.testing.assert_array_equal(merged.per_pair[key], values)


def test_results_of_different_kinds_do_not_merge():
    texts = {"predictions": ["Clear lungs."], "references": ["Lungs are clear."], "progress": False}
    results = rrgmetrics.score(["bleu", "rouge", "cider"], **texts)
    with pytest.raises(InputError, match="bleu and rouge"):
        Result.merge([results["bleu"], results["rouge"]])
    with pytest.raises(InputError, match="cider depend on all references"):
        Result.merge([results["cider"]] * 2)
    with pytest.raises(InputError, match="no results"):
        Result.merge([])


def test_a_stream_of_any_size_gives_the_same(made, tmp_path, monkeypatch, capsys):
    """In chunks of three rows; a row that cannot be used is unscored with its reason."""
    monkeypatch.setattr("rrgmetrics.scoring.streaming.CHUNK", 3)
    lines = (made / "good.csv").read_text().splitlines()
    (tmp_path / "good.csv").write_text("\n".join([*lines[:4], "s9,a,b,c", *lines[4:]]))
    assert (
        command("score", tmp_path / "good.csv", "--stream", "--metrics", *NAMES, "--output", tmp_path / "all.parquet")
        == 0
    )
    assert "line 5 has 4 cells for 3 columns" in capsys.readouterr().out
    assert command("merge", tmp_path / "all.parquet", "--trials", 5, "--json", tmp_path / "merged.json") == 0
    merged = json.loads((tmp_path / "merged.json").read_text())["systems"]["all"]
    texts = {"predictions": SYSTEMS["good"], "references": REFERENCES, "progress": False}
    for name, one in rrgmetrics.score(list(NAMES), **texts).items():
        assert merged[name]["scores"] == pytest.approx(one.scores, rel=1e-12, abs=1e-12)
        assert (merged[name]["n_pairs"], merged[name]["n_unscored"]) == (8, one.n_unscored + 1)


def test_a_stream_reads_the_part_that_text_names(tmp_path, capsys):
    path = tmp_path / "pairs.jsonl"
    row = {"reference": "FINDINGS: Small left pleural effusion.", "candidate": "Small left pleural effusion."}
    path.write_text(f"{json.dumps(row)}\n" * 2)
    stream = ["score", str(path), "--stream", "--metrics", "bleu", "--text", "findings", "--no-progress"]
    assert cli.main([*stream, "--output", str(tmp_path / "scores.parquet")]) == 0
    assert "BLEU-4 ↑  1.000" in capsys.readouterr().out


def test_a_stream_in_memory():
    rows = ({"truth": text, "candidate": text if index else 3} for index, text in enumerate(REFERENCES))
    totals = score_stream("bleu", rows, columns={"reference": "truth"}, progress=False)["bleu"]
    assert (totals.n_pairs, totals.n_unscored) == (7, 2)  # one of the references is missing
    assert totals.scores["bleu"] == pytest.approx(1)
    assert next(iter(totals.unscored_counts)).startswith("pairs[0], column 'candidate' is 3")
    with pytest.raises(InputError, match=r"scores of cider depend on all references.*read only once"):
        score_stream("cider", ({"reference": text, "candidate": text} for text in REFERENCES))


def stream(made, name, output, *more, rows=lambda rows: rows):
    """The stream of a system, whose ids are in a column that is taken by its name."""
    head, *lines = (made / f"{name}.csv").read_text().splitlines()
    path = output.with_suffix(".csv")
    path.write_text("\n".join([head.replace("study_id", "accession"), *rows(lines)]))
    return command("score", path, "--stream", "--metrics", *NAMES, "--output", output, *more)


def test_streams_of_the_same_studies_are_compared(made, tmp_path, capsys):
    files = [tmp_path / f"{name}.parquet" for name in SYSTEMS]
    for name, file in zip(SYSTEMS, files, strict=True):
        assert stream(made, name, file) == 0
    assert command("merge", *files, "--trials", 50, "--json", tmp_path / "streams.json") == 0
    shards = [*parts(made, "good"), *parts(made, "poor")]
    assert command("merge", *shards, "--trials", 50, "--json", tmp_path / "shards.json") == 0
    assert close(*(json.loads((tmp_path / f"{name}.json").read_text()) for name in ("streams", "shards"))) > 50
    other = tmp_path / "other.parquet"
    assert stream(made, "poor", other, rows=lambda lines: lines[::-1]) == 0
    capsys.readouterr()
    assert command("merge", files[0], other) == 2
    assert "other references or ids, or the same in another order" in capsys.readouterr().err
    rrgmetrics.score("bleu", predictions=["Edema."], references=["Edema."])["bleu"].save(tmp_path / "saved.parquet")
    assert command("merge", files[0], tmp_path / "saved.parquet") == 2
    assert "saved.parquet does not record which studies it is of" in capsys.readouterr().err


def test_a_stream_takes_ids_by_name_as_a_single_run_does(made, tmp_path, caplog):
    assert stream(made, "good", tmp_path / "good.parquet") == 0
    assert "study_id is column 'accession'" in caplog.text
    assert "study ids s6" in caplog.text or "study id s6" in caplog.text
    assert command("merge", tmp_path / "good.parquet", "--output", tmp_path / "good.csv", "--force") == 0
    assert [row["study_id"] for row in csv.DictReader((tmp_path / "good.csv").open())] == [f"s{i}" for i in range(7)]
