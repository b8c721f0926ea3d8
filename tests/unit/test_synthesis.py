"""Pairs for training: edits of reports, ways of pairing, shards. All reports are invented."""

import json
from random import Random

import numpy as np
import pyarrow.parquet
import pytest

from rrgmetrics.comparing import compare
from rrgmetrics.errors import InputError
from rrgmetrics.labels.graph import build_graph
from rrgmetrics.reading import read
from rrgmetrics.synthesis import shards, written
from rrgmetrics.synthesis import synthesize as synthesis
from rrgmetrics.synthesis.edits import entities, perturb
from rrgmetrics.synthesis.edits.paraphrase import paraphrase
from rrgmetrics.synthesis.edits.sentences import replace_words, slots, without
from rrgmetrics.synthesis.likeness import by_bertscore
from rrgmetrics.synthesis.pairing import WAYS, Pool, find_neighbours
from rrgmetrics.synthesis.pairs import Report, read_rows, seed_of, split_of
from rrgmetrics.synthesis.plan import NAMED_ONLY, count_pairs, parse_ways
from rrgmetrics.synthesis.sources import Collection, load_collection, read_outputs
from rrgmetrics.synthesis.synthesize import provenance, synthesize

REPORTS = [
    "Small left pleural effusion, increased since the prior study. Mild cardiomegaly. No pneumothorax.",
    "The lungs are clear. Heart size is normal. No pleural effusion or pneumothorax. No acute osseous abnormality.",
    "FINDINGS: Right upper lobe mass measuring 4.2 cm. Moderate right pleural effusion.\nIMPRESSION: RUL mass.",
    "Endotracheal tube tip in the mid trachea. Right PICC with tip in the lower SVC. Mild pulmonary edema.",
    "Large right pneumothorax. Left lung is clear. Heart size is normal.",
    "Mild bibasilar atelectasis. No focal consolidation, pleural effusion, or pneumothorax. Tortuous aorta.",
    "Left lower lobe consolidation, concerning for pneumonia. Trace left pleural effusion. Normal heart size.",
    "Severe cardiomegaly with moderate pulmonary edema. Bilateral effusions. Stable sternotomy wires.",
    "6 mm nodule in the left upper lobe. Lungs otherwise clear. Degenerative changes of the thoracic spine.",
    "Hyperinflated lungs. Biapical scarring. No focal consolidation. Healed right rib fractures.",
    "Low lung volumes. Mild right basilar atelectasis. The cardiac silhouette is within normal limits.",
    "No acute cardiopulmonary abnormality. Calcified granuloma in the right mid lung. Moderate hiatal hernia.",
]  # fmt: skip


@pytest.fixture
def collection():
    return Collection("invented", [Report(f"s{i}", text) for i, text in enumerate(REPORTS)])


def run(collection, path, **options):
    return synthesize(collection, path, **{"n_pairs": 120, "shard_size": 25, "progress": False, **options})


def edited(kind, text, seeds=30, donors=lambda rng: None):
    """All texts that one kind of edit makes of a report."""
    reading = read(text)
    made = {perturb.KINDS[kind].edit(perturb.Page(text, reading), Random(seed), donors) for seed in range(seeds)}
    return made - {None, text}


# --- edits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "becomes"),
    [
        ("side", "Small left pleural effusion.", "Small right pleural effusion."),
        ("side", "LLL opacity. Normal heart.", "RLL opacity. Normal heart."),
        ("zone", "Right upper lobe mass.", "Right lower lobe mass."),
        ("severity", "There is an extensive left effusion.", "There is a small left effusion."),
        ("severity", "Mild cardiomegaly.", "Severe cardiomegaly."),
        ("size", "A 6 mm nodule in the left upper lobe.", "A 18 mm nodule in the left upper lobe."),
        ("certainty", "Small left effusion.", "Possible small left effusion."),
        ("change", "Worsening left effusion.", "Improving left effusion."),
        ("compared", "Small left effusion.", "Small left effusion, increased since the prior study."),
        ("compared", "There is a left effusion seen.", "There is an increased left effusion seen."),
        ("forget", "Small left effusion, increased since the prior study.", "Small left effusion."),
        ("remove", "Small left effusion. Normal heart.", "Normal heart."),
        ("remove", "Mild cardiomegaly and small left effusion.", "Mild cardiomegaly."),
        ("deny", "Mild cardiomegaly. Clear lungs.", "Heart size is normal. Clear lungs."),
        ("tip", "PICC with tip in the upper SVC.", "PICC with tip in the right atrium."),
        ("position", "Endotracheal tube in satisfactory position.", "Endotracheal tube in high position."),
        ("affirm", "No pleural effusion or pneumothorax.", "No pneumothorax. There is a large left pleural effusion."),
    ],
)  # fmt: skip
def test_an_edit_changes_the_words_of_the_finding(kind, text, becomes):
    assert becomes in edited(kind, text, seeds=200)


def test_a_finding_is_added_from_another_report():
    donor = read("Large hiatal hernia. Clear lungs.")
    assert "Large hiatal hernia. Mild cardiomegaly." in edited("add", "Mild cardiomegaly.", donors=lambda rng: donor)


def test_injected_errors_are_those_the_reader_finds():
    n_errors = 0
    for text in REPORTS:
        reading = read(text)
        for seed in range(5):
            made = perturb.inject(reading, lambda rng: read(rng.choice(REPORTS)), Random(seed))
            if made is None:
                continue
            comparison = compare(reading, read(made[0]))
            seen = tuple(comparison.counts.values())
            assert all(a == b for c, (a, b) in enumerate(zip(seen, made[1], strict=True)) if c != perturb.D)
            assert made[1][perturb.D] >= seen[perturb.D]  # a hedge is an error that the reader does not count
            n_errors += sum(made[1])
    assert n_errors > 60


def test_a_hedge_that_is_counted_stays_in_the_text(monkeypatch):
    often = perturb.KINDS["certainty"]._replace(weight=60)
    monkeypatch.setattr(perturb, "KINDS", {**perturb.KINDS, "certainty": often})
    reading = read("Small left pleural effusion. Mild pulmonary edema. Right basal atelectasis.")
    n_hedges = 0
    for seed in range(20):  # without the check, 5 of them count a hedge of a finding that then leaves
        text, injected = perturb.inject(reading, lambda rng: None, Random(seed), 4)
        candidate = read(text)
        hedges = sum(f.assertion != "absent" and f.certainty != "definite" for f in candidate.findings)
        assert injected[perturb.D] == list(compare(reading, candidate).counts.values())[perturb.D] + hedges
        n_hedges += hedges
    assert n_hedges > 10


def test_a_paraphrase_has_other_words_and_no_error():
    for text in REPORTS:
        other = paraphrase(read(text), Random(0))
        assert other is not None
        assert other != text
        assert compare(read(text), read(other)).total == 0


def test_sentences_leave_headings_where_they_are():
    text = "INDICATION: Cough.\nFINDINGS: Clear lungs. Normal heart.\nIMPRESSION: 1. No acute disease."
    here = slots(text)
    assert [text[slot.start : slot.end] for slot in here] == ["Clear lungs.", "Normal heart.", "No acute disease."]
    assert without(text, here[:1]) == "INDICATION: Cough.\nFINDINGS: Normal heart.\nIMPRESSION: 1. No acute disease."
    assert replace_words("PICC is seen.", 0, 0, "new ") == "New PICC is seen."


# --- ways of pairing --------------------------------------------------------------------------------------------------


def test_every_way_makes_candidates(collection):
    texts, splits = REPORTS, ["train"] * len(REPORTS)
    neighbours = find_neighbours(texts, splits, range(len(texts)))
    pool = Pool(collection.reports, splits, {"s0": ["Mild cardiomegaly."]}, neighbours)
    made = {way: make(pool, 0, Random(1), 0) for way, make in WAYS.items()}
    assert {way for way, candidate in made.items() if candidate is None} == {"nearest_bertscore", "permuted_radgraph"}
    assert made["random"].text in REPORTS[1:]
    assert made["nearest"].text in REPORTS[1:]
    assert len(made["removed"].text) < len(REPORTS[0])
    assert sorted(made["shuffled"].text.split()) == sorted(REPORTS[0].split())
    assert len(made["removed_shuffled"].text) < len(REPORTS[0])
    assert made["generated"].text == "Mild cardiomegaly."
    assert sum(made["permuted"].injected) > 0
    assert made["paraphrased"].injected == made["shuffled"].injected == (0,) * 6
    assert WAYS["generated"](pool, 0, Random(1), 1) is None  # it has one output only
    assert WAYS["random"](Pool(collection.reports[:1], ["train"]), 0, Random(1), 0) is None


def test_sentences_go_and_change_places_in_one_way(collection):
    pool = Pool(collection.reports, ["train"] * len(REPORTS))
    sentences = [REPORTS[0][slot.start : slot.end] for slot in slots(REPORTS[0])]
    orders = []
    for seed in range(40):
        text = WAYS["removed_shuffled"](pool, 0, Random(seed), 0).text
        kept = sorted((sentence for sentence in sentences if sentence in text), key=text.index)
        assert 0 < len(kept) < len(sentences)
        orders.append([sentences.index(sentence) for sentence in kept])
    assert any(order != sorted(order) for order in orders)
    assert len({tuple(sorted(order)) for order in orders}) > 1


def test_sentences_of_two_reports_are_mixed(collection):
    pool = Pool(collection.reports, ["train"] * len(REPORTS))
    own = [REPORTS[0][slot.start : slot.end] for slot in slots(REPORTS[0])]
    foreign = [text[slot.start : slot.end] for text in REPORTS[1:] for slot in slots(text)]
    for seed in range(20):
        text = WAYS["mixed"](pool, 0, Random(seed), 0).text
        assert any(sentence.rstrip(".") in text for sentence in own)
        assert any(sentence.rstrip(".") in text for sentence in foreign)
    assert WAYS["mixed"](Pool(collection.reports[:1], ["train"]), 0, Random(0), 0) is None


def test_greens_paper_takes_a_fifth_of_each_way(collection):
    ways = parse_ways(["green-paper"])
    counts = count_pairs(collection, {"s3": ["Mild edema."]}, ways, 100_000)
    ways_of_the_paper = ("random", "removed_shuffled", "generated", "nearest_bertscore", "permuted_radgraph")
    assert counts == dict.fromkeys(ways_of_the_paper, 20_000)
    assert not {"removed_shuffled", "mixed"} & set(count_pairs(collection, {}, None, 100))  # only by name
    with pytest.raises(InputError, match="name it alone"):
        parse_ways(["green-paper", "mixed"])


def write_answers(path, seeds, reply):
    """Recorded replies to all that could be asked: `reply` of a reference and what is wanted of it."""
    with path.open("w") as file:
        for text in REPORTS:
            for seed in seeds:
                wanted = written.draw(Random(seed))
                asked = written.prompt(text, wanted)
                record = {"protocol": asked.protocol, "prompt_sha256": asked.sha256, "reply": reply(text, wanted)}
                file.write(json.dumps({**record, "engine": "invented", "parameters": {}}) + "\n")
    return f"replies:{path}"


def test_a_model_writes_candidates_and_what_was_asked_for_is_kept(collection, tmp_path):
    seeds = [seed_of(0, "written", number) for number in range(24)]
    replies = write_answers(
        tmp_path / "replies.jsonl",
        seeds,
        lambda text, wanted: (
            "I am sorry." if text == REPORTS[0] else f"Sure.\n<report>\nNodule. {text} {sum(wanted.counts)}\n</report>"
        ),
    )
    made = run(collection, tmp_path / "pairs.parquet", n_pairs=24, ways={"written": 1.0}, writer=replies)
    rows = list(read_rows(made.path))
    assert made.outcomes["written"]["not_made"] == 2  # the report whose replies hold none
    by_seed = {seed: written.draw(Random(seed)) for seed in seeds}
    for row in rows:
        assert tuple(row.injected) == by_seed[row.seed].counts
        assert row.style == by_seed[row.seed].style
        assert row.candidate == f"Nodule. {row.reference} {sum(row.injected)}"
    assert provenance(made.path)["writer"].startswith("replies@")
    for options in ({"ways": {"written": 1.0}}, {"writer": replies}):
        with pytest.raises(InputError, match="must be given together"):
            run(collection, tmp_path / "others.parquet", **options)


@pytest.mark.parametrize("way", ["written_edited", "written_added", "written_removed"])
def test_a_model_edits_findings_adds_some_or_removes_some(way, collection, tmp_path):
    drawn = [written.draw(Random(seed), way) for seed in range(400)]
    allowed = {"written_edited": {2, 3}, "written_added": {0}, "written_removed": {1}}[way]
    assert all(sum(each.counts) for each in drawn)
    assert {kind for each in drawn for kind, count in enumerate(each.counts) if count} == allowed
    path = tmp_path / "replies.jsonl"
    with path.open("w") as file:
        for text in REPORTS:
            for number in range(12):
                asked = written.prompt(text, written.draw(Random(seed_of(0, way, number)), way))
                record = {"protocol": asked.protocol, "prompt_sha256": asked.sha256, "engine": "e", "parameters": {}}
                file.write(json.dumps({**record, "reply": f"<report>Nodule. {text}</report>"}) + "\n")
    writer = f"replies:{path}"
    made = run(collection, tmp_path / "pairs.parquet", n_pairs=12, ways={way: 1.0}, writer=writer)
    assert {row.pairing for row in read_rows(made.path)} == {way}
    assert all(sum(row.injected[kind] for kind in allowed) == sum(row.injected) for row in read_rows(made.path))
    with pytest.raises(InputError, match=f"The ways {way} and --writer ENGINE"):
        run(collection, tmp_path / "others.parquet", ways={way: 1.0})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai:m?runs=3", "leave out runs"),
        ("reader", "asks no model"),
        ("paper", "answers only GREEN's prompts"),
        ("openai:m?parser=strict", "parser is an option of a judge"),
    ],
)
def test_engines_that_cannot_write(name, message):
    with pytest.raises(InputError, match=message):
        written.writer_for(name)


def test_half_of_the_errors_asked_for_are_subtle_and_some_reports_get_none():
    drawn = [written.draw(Random(seed)) for seed in range(2000)]
    with_errors = [each for each in drawn if any(each.counts)]
    assert 0.15 < 1 - len(with_errors) / len(drawn) < 0.22  # 2 of 11
    assert 0.45 < sum(each.subtle for each in with_errors) / len(with_errors) < 0.55
    assert all(sum(each.counts[kind] for each in drawn) > 300 for kind in range(6))
    assert written.task(drawn[0]._replace(counts=(0,) * 6)) == written.REPHRASE
    assert written.SUBTLE in written.task(written.Wanted((1, 0, 0, 2, 0, 0), subtle=True))
    assert "certainty (2 times)" in written.task(written.Wanted((1, 0, 0, 2, 0, 0), subtle=False))


def test_neighbours_are_alike_of_the_same_part_and_never_the_same_text():
    texts = [
        "Small left effusion.",
        "Heart size is normal.",
        "Small left effusion.",
        "Tiny left effusion.",
        "Normal heart.",
    ]
    neighbours = find_neighbours(texts, ["train"] * 4 + ["test"], range(5))
    assert neighbours[0, :2].tolist() == [3, 1]
    assert neighbours[0].tolist() == neighbours[2].tolist()
    assert (neighbours[4] == -1).all()  # alone in its part


# --- files of pairs ---------------------------------------------------------------------------------------------------


def test_a_file_says_how_each_pair_was_made(collection, tmp_path):
    made = run(collection, tmp_path / "pairs.parquet", outputs={"s3": ["Mild edema."]})
    rows = list(read_rows(made.path))
    assert len(rows) == made.n_pairs > 60
    assert {row.pairing for row in rows} == set(WAYS) - set(NAMED_ONLY)
    assert len({(row.reference, row.candidate) for row in rows}) == len(rows)
    by_text = {}
    for row in rows:
        assert row.split == by_text.setdefault(row.reference, row.split)
        assert row.reference == REPORTS[int(row.study_id[1:])]
        assert row.label_version.startswith("lexicon:")
        total = sum(row.total)
        assert total == compare(read(row.reference), read(row.candidate)).total
        assert {piece["error"] for piece in row.evidence} == set(range(int(total)))
        for piece in row.evidence:
            text = (row.reference, row.candidate)[piece["text"]]
            assert 0 <= piece["start"] < piece["end"] <= len(text)
    facts = provenance(made.path)
    assert facts["wanted"]["random"] == 22  # a weight of 2 among 11
    assert facts["outcomes"] == made.outcomes
    assert not (tmp_path / "pairs.parquet.shards").exists()


def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(collection, tmp_path, monkeypatch):
    whole = run(collection, tmp_path / "whole.parquet").path.read_bytes()
    written = []

    def write(path, rows, outcomes, write=shards.write_shard):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(path)
        write(path, rows, outcomes)

    monkeypatch.setattr(shards, "write_shard", write)
    with pytest.raises(KeyboardInterrupt):
        run(collection, tmp_path / "part.parquet")
    assert not (tmp_path / "part.parquet").exists()
    monkeypatch.undo()
    made = []

    def make(self, shard, make=shards.Maker.make):
        made.append(shard)
        make(self, shard)

    monkeypatch.setattr(shards.Maker, "make", make)
    run(collection, tmp_path / "part.parquet")
    assert made == [2, 3, 4]
    assert (tmp_path / "part.parquet").read_bytes() == whole


def test_processes_and_shards_do_not_change_the_pairs(collection, tmp_path):
    ways = {"random": 1.0, "permuted": 2.0}
    one = run(collection, tmp_path / "one.parquet", ways=ways)
    two = run(collection, tmp_path / "two.parquet", ways=ways, n_jobs=2)
    assert one.path.read_bytes() == two.path.read_bytes()
    other = run(collection, tmp_path / "other.parquet", ways=ways, shard_size=1000)
    assert set(map(str, read_rows(other.path))) == set(map(str, read_rows(one.path)))


def test_another_seed_makes_other_pairs(collection, tmp_path):
    tables = [
        pyarrow.parquet.read_table(
            run(collection, tmp_path / f"{seed}.parquet", ways={"permuted": 1.0}, seed=seed).path
        )
        for seed in (0, 1)
    ]
    assert tables[0]["candidate"] != tables[1]["candidate"]


def test_shards_of_another_run_are_not_mixed_in(collection, tmp_path, monkeypatch):
    monkeypatch.setattr(synthesis, "merge_shards", lambda *arguments: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run(collection, tmp_path / "pairs.parquet", ways={"random": 1.0})
    monkeypatch.undo()
    with pytest.raises(InputError, match="another seed"):
        run(collection, tmp_path / "pairs.parquet", ways={"random": 1.0}, seed=1)
    assert run(collection, tmp_path / "pairs.parquet", ways={"random": 1.0}, seed=1, force=True).n_pairs


def test_equal_reports_stay_in_one_part():
    assert split_of("Clear  lungs.", (0.3, 0.3)) == split_of("clear lungs.", (0.3, 0.3))
    parts = [split_of(f"Nodule of {n} mm.", (0.1, 0.2)) for n in range(2000)]
    assert 0.08 < parts.count("validation") / 2000 < 0.12
    assert 0.17 < parts.count("test") / 2000 < 0.23


# --- collections and wrong use ----------------------------------------------------------------------------------------


def test_reports_come_from_columns_of_a_file_or_a_datasets_folder(tmp_path):
    (tmp_path / "reports.csv").write_text("uid,findings,impression\n7,Clear lungs.,Normal.\n8,,\n9,,Mild edema.\n")
    from_csv = load_collection(str(tmp_path / "reports.csv"), columns=("findings", "impression"), id_column="uid")
    assert [report[:2] for report in from_csv.reports] == [("7", "Clear lungs.\nNormal."), ("9", "Mild edema.")]
    assert from_csv.n_blank == 1

    import datasets

    rows = {"report": ["Clear lungs.", "Mild edema."]}
    datasets.DatasetDict({"train": datasets.Dataset.from_dict(rows)}).save_to_disk(tmp_path / "set")
    assert [report.text for report in load_collection(str(tmp_path / "set")).reports] == rows["report"]
    with pytest.raises(InputError, match="no split 'dev'; it has: train"):
        load_collection(str(tmp_path / "set"), split="dev")


def test_the_first_of_several_columns_with_a_text(tmp_path):
    """CREPE's references: FINDINGS, or IMPRESSION where there are none; a text that says so is none."""
    rows = ["uid,findings,impression", "1,Clear lungs.,Normal.", "2,,Mild edema.", "3,None.,Effusion.", "4,nan,"]
    (tmp_path / "reports.csv").write_text("\n".join(rows))
    options = {"columns": ("findings", "impression"), "id_column": "uid"}
    first = load_collection(str(tmp_path / "reports.csv"), take="first", **options)
    assert [report.text for report in first.reports] == ["Clear lungs.", "Mild edema.", "Effusion."]
    assert first.n_blank == 1
    assert first.sha256 != load_collection(str(tmp_path / "reports.csv"), **options).sha256
    with pytest.raises(InputError, match="take is 'last'"):
        load_collection(str(tmp_path / "reports.csv"), take="last", **options)


def test_our_own_reports_and_whole_pairs(tmp_path):
    collection = load_collection("generator:40", seed=3)
    made = run(collection, tmp_path / "pairs.parquet", n_pairs=60, ways={"composed": 2.0, "random": 1.0})
    rows = [row for row in read_rows(made.path) if row.pairing == "composed"]
    assert len(rows) == made.outcomes["composed"]["pairs"] > 30
    assert all(row.injected is not None and row.style for row in rows)


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("study_id,text\n1,Clear lungs.\n", {}, r"line 2 has no column 'report'; it has: 'study_id', 'text'"),
        ("study_id,report\n", {}, "contains no reports"),
        ("study_id,report\n1,\n2,\n", {}, "all 2 rows are blank"),
        ("study_id,report\n1,Clear.\n1,Dense.\n", {}, "the study '1' occurs twice"),
        ("study_id,report\n1,Clear.\n", {"id_column": "uid"}, "no column 'uid'"),
        ("", {}, "is empty"),
    ],
)
def test_a_wrong_collection_is_named(content, options, says, tmp_path):
    (tmp_path / "reports.csv").write_text(content)
    with pytest.raises(InputError, match=says):
        load_collection(str(tmp_path / "reports.csv"), **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ways": {"nearby": 1.0}}, "There is no way of pairing 'nearby'"),
        ({"ways": {"generated": 1.0}}, "needs a report generator's outputs"),
        ({"ways": {"composed": 1.0}}, "needs the source generator"),
        ({"ways": {"random": 0.0}}, "weight 0"),
        ({"outputs": {"x9": ["Clear."]}}, "joined by study_id"),
        ({"n_pairs": 2}, "are too few for"),
        ({"held_out": (0.5, 0.5)}, "must leave pairs for training"),
        ({"n_jobs": 0}, "at least 1"),
        ({"labels": "reader?"}, "asks no model"),
        ({"labels": "openai:any", "n_jobs": 2}, "One process"),
    ],
)
def test_wrong_use_is_named_before_any_work(options, says, collection, tmp_path):
    with pytest.raises(InputError, match=says):
        run(collection, tmp_path / "pairs.parquet", **options)
    assert not list(tmp_path.iterdir())


def test_files_are_not_replaced_and_too_few_reports_are_said(collection, tmp_path):
    (tmp_path / "pairs.parquet").write_text("mine")
    with pytest.raises(InputError, match="exists"):
        run(collection, tmp_path / "pairs.parquet")
    alone = Collection("one", collection.reports[:1])
    with pytest.raises(InputError, match="No pair can be made"):
        run(alone, tmp_path / "other.parquet", ways={"random": 1.0})
    (tmp_path / "system.csv").write_text("report\nClear lungs.\n")
    with pytest.raises(InputError, match="no column 'study_id'"):
        read_outputs([str(tmp_path / "system.csv")])
    with pytest.raises(InputError, match="is not a number"):
        parse_ways(["random:many"])


def test_the_nearest_by_bertscore_are_those_that_the_metric_says():
    from rrgmetrics.scoring.prepared import score

    reports = [*REPORTS, "", " ", "Small left effusion.", "Large left pleural effusion."]
    texts = list(dict.fromkeys(reports))
    similarities = by_bertscore()(texts)(range(len(texts)))
    pairs = [(reference, candidate) for reference in texts if reference.strip() for candidate in texts]
    found = score("bertscore", references=[r for r, _ in pairs], predictions=[c for _, c in pairs], progress=False)
    own = np.array([similarities[texts.index(r), texts.index(c)] for r, c in pairs])
    assert own == pytest.approx(found["bertscore"].headline, abs=1e-5)
    neighbours = find_neighbours(texts, ["train"] * len(texts), range(len(texts)), by_bertscore())
    np.fill_diagonal(similarities, -1)
    written_texts = [number for number, text in enumerate(texts) if text.strip()]
    assert neighbours[written_texts, 0].tolist() == similarities.argmax(axis=1)[written_texts].tolist()
    for name in ("rouge", "bertscore?idf=call", "bertscore#precision"):
        with pytest.raises(InputError, match="BERTScore without idf"):
            by_bertscore(name)


def test_ways_by_bertscore_and_by_radgraph(collection, tmp_path):
    ways = {"nearest_bertscore": 1.0, "permuted_radgraph": 1.0}
    made = run(collection, tmp_path / "pairs.parquet", n_pairs=24, ways=ways)
    rows = list(read_rows(made.path))
    assert {row.pairing for row in rows} == set(ways)
    permuted = [row for row in rows if row.pairing == "permuted_radgraph"]
    assert all(sum(row.injected) and row.candidate != row.reference for row in permuted)
    facts = provenance(made.path)
    assert (facts["radgraph"], facts["bertscore"]) == ("radgraph_f1", "bertscore")
    with pytest.raises(InputError, match="not a RadGraph F1"):
        run(collection, tmp_path / "others.parquet", ways=ways, radgraph="rouge")


RADGRAPH_CHANGES = {
    "Small left pleural effusion.": [
        ("No small left pleural effusion.", "B"),
        ("Small right pleural effusion.", "C"),
        ("Severe left pleural effusion.", "D"),
    ],
    "No pneumothorax or effusion.": [("Pneumothorax or effusion.", "AA")],
    "The lungs are clear.": [],
    "Heart size is normal. No evidence of  pneumonia.": [("Heart size is normal. Pneumonia.", "A")],
}


@pytest.mark.parametrize("text", RADGRAPH_CHANGES)
def test_entities_of_radgraph_are_permuted(text, monkeypatch):
    monkeypatch.setattr(entities, "NUMBER_WEIGHTS", (1,))
    graph = build_graph(read(text))
    made = {entities.permute(text, graph, Random(seed)) for seed in range(60)}
    if not RADGRAPH_CHANGES[text]:
        assert made == {None}
    for wanted, kinds in RADGRAPH_CHANGES[text]:
        assert (wanted, tuple(map(kinds.count, "ABCDEF"))) in made
    assert len(made) >= len(RADGRAPH_CHANGES[text])
