"""The doctor against a stand-in for the Hub: what is right, what is wrong and in which words, and without a network."""

import hashlib
import io
import json
import re
import shutil
import tarfile
from dataclasses import replace

import pytest
from stand_in_hub import COMMIT, Hub, Model

from rrgmetrics import BackendError, InputError, prepare
from rrgmetrics.backends import checkpoints as stored
from rrgmetrics.backends.chexbert import load_chexbert
from rrgmetrics.backends.classifier import load_classifier
from rrgmetrics.cli import main
from rrgmetrics.doctor import Doctor, configurations, published
from rrgmetrics.doctor.needs import needs, needs_of
from rrgmetrics.judges.engines.adapters import find_causal
from rrgmetrics.labels.conditions import load_conditions
from rrgmetrics.scorers import srr_bert_f1
from rrgmetrics.specs import SPECS

CREPE = "gihuncho/crepe-biomedbert"
GREEN = "StanfordAIMI/GREEN-radllama2-7b"


@pytest.fixture(scope="module")
def crepe(tmp_path_factory, checkpoints):
    """The files of a tiny CREPE."""
    folder = checkpoints.write_crepe(tmp_path_factory.mktemp("crepe"))
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def sentences(hub, name="crepe", **options):
    (checkup,) = Doctor(hub.endpoint, **options).examine([name])
    return [(remark.status, remark.sentence) for remark in checkup.remarks]


def test_what_is_whole_is_kept_and_scored(home, crepe):
    with Hub({CREPE: Model(crepe | {"onnx/model.onnx": b"not loaded"}, licence="")}) as hub:
        (files, values) = sentences(hub)
        assert files == ("ok", f"{CREPE}: revision {COMMIT[:12]}, 0.00 GB, no licence stated.")
        assert values[0] == "fault"  # it is not the model whose values were printed
        assert re.match(
            r"\d of 7 values of CREPE's example.ipynb .* the largest, crepe\w* of pair 1: published", values[1]
        )
        pin = stored.pins()[CREPE]
        assert pin == (COMMIT, {"model.safetensors": hashlib.sha256(crepe["model.safetensors"]).hexdigest()})
        asked = [path for path in hub.asked if "GET" in path and "resolve" in path]
        assert len(asked) == len(crepe)
        assert not any("onnx" in path for path in asked)
        hub.asked.clear()
        assert sentences(hub, score=False) == [files]  # looked at again, and nothing sent again
        assert not any("resolve" in path for path in hub.asked)
    assert prepare("crepe@paper").names  # without the Hub, by the kept pin
    dead = "http://127.0.0.1:9"  # nobody listens there
    assert Doctor(dead).silence == f"{dead} does not answer"
    (checkup,) = Doctor(dead, score=False).examine(["crepe"])
    assert checkup.remarks == (("ok", f"{CREPE}: revision {COMMIT[:12]} is here, model.safetensors as published."),)


def test_published_values_that_are_reproduced():
    ours = {"crepe": [8.25], "crepe_false_finding": [1.5]}
    example = published.Example("crepe@paper", "our own card", ["Clear."], ["Clear."], 0.01, per_pair=ours)
    pairs = [("crepe of pair 1", 8.25, 8.251), ("crepe_false_finding of pair 1", 1.5, 1.5)]
    assert published.compare(example, pairs) == (
        "ok",
        "2 values of our own card are reproduced; the largest difference is 0.001 (crepe of pair 1), "
        "and 0.01 is allowed.",
    )
    assert published.compare(example, [*pairs, ("crepe", 1.0, float("nan"))]) == (
        "fault",
        "1 of 3 values of our own card differ by more than 0.01; the largest, crepe: published 1, here nan.",
    )


def swapped(content):
    return content[:-1] + bytes([content[-1] ^ 1])


FAULTS = {
    "not there": (lambda files: None, r"is not at http://127.0.0.1:\d+/gihuncho/crepe-biomedbert, or it is private"),
    "gated": (lambda files: Model(files, "", gated=True), r"is gated; accept its terms on http.*run `hf auth login`"),
    "no weights": (
        lambda files: Model({name: content for name, content in files.items() if name != "model.safetensors"}, ""),
        r"has no model.safetensors or model.safetensors.index.json or pytorch_model.bin at revision c0ffee",
    ),
    "too large": (
        lambda files: Model(files, "", claims={"model.safetensors": 7_000_000_000}),
        r"would send 7.00 GB, and 0.44 GB are known of it; nothing was downloaded",
    ),
    "broken off": (
        lambda files: Model(files, "", cut={"model.safetensors": 0}),
        r"the download of model.safetensors was interrupted \(.*\); run this again to resume it",
    ),
    "larger than announced": (
        lambda files: Model(files, "", served={"model.safetensors": files["model.safetensors"] * 2}),
        r"model.safetensors has [\d,]+ bytes of [\d,]+; delete .* and run this again",
    ),
    "other weights": (
        lambda files: Model(files, "", served={"model.safetensors": swapped(files["model.safetensors"])}),
        r"model.safetensors does not have the published SHA-256 \w{12}…; delete .* and run this again",
    ),
    "another vocabulary": (
        lambda files: Model(files, "", served={"vocab.txt": swapped(files["vocab.txt"])}),
        r"vocab.txt differs from the file on the Hub; delete .* and run this again",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_in_one_sentence(home, crepe, fault):
    make, message = FAULTS[fault]
    model = make(crepe)
    with Hub({CREPE: model} if model else {}) as hub:
        ((status, sentence),) = sentences(hub)
        assert status == "fault"
        assert re.search(message, sentence)
        assert "\n" not in sentence
    if fault != "another vocabulary":  # the only file of these without a SHA-256
        with pytest.raises(BackendError):
            prepare("crepe@paper")


@pytest.fixture(scope="module")
def green(tmp_path_factory, checkpoints):
    """The files of a tiny GREEN, as they are published."""
    folder = tmp_path_factory.mktemp("green")
    checkpoints.write_green(folder, ["The heart is normal in size. No pneumothorax."] * 20, silent=True)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_greens_checkpoint_as_it_is_published(home, green, monkeypatch):
    """Three shards, no tokenizer.json, and code that is neither downloaded nor run."""
    with Hub({GREEN: Model(green, licence="")}) as hub:
        assert sentences(hub, "green", score=False) == [
            ("ok", f"{GREEN}: revision {COMMIT[:12]}, 0.00 GB, no licence stated.")
        ]
        sent = {path.rpartition("/")[2] for path in hub.asked if path.startswith("GET") and "resolve" in path}
    assert sent == {name for name in green if name.endswith((".json", ".model", ".safetensors"))}


def of_unknown_code(files):
    settings = json.loads(files["tokenizer_config.json"]) | {"auto_map": {"AutoTokenizer": ["evil.Tokenizer", None]}}
    return files | {"tokenizer_config.json": json.dumps(settings).encode()}


def of_an_unknown_type(files):
    config = json.loads(files["config.json"]) | {"model_type": "evil", "auto_map": {"AutoModel": "evil.Model"}}
    return files | {"config.json": json.dumps(config).encode()}


@pytest.mark.parametrize("change", [of_unknown_code, of_an_unknown_type])
def test_a_checkpoint_of_unknown_classes_is_refused_before_its_weights_are_sent(home, green, monkeypatch, change):
    """By the doctor and by the engine."""
    with Hub({GREEN: Model(change(green), licence=""), "org/judge": Model(change(green))}) as hub:
        (remark,) = sentences(hub, "green", score=False)
        assert remark[0] == "fault"
        assert re.search(r"\(auto_map\), which is never run.*; its weights were not downloaded\.$", remark[1])
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        with pytest.raises(BackendError, match=r"\(auto_map\), which is never run"):
            find_causal("org/judge")
        assert any("org/judge/resolve" in path and path.endswith("/tokenizer.model") for path in hub.asked)
        assert not any("safetensors" in path for path in hub.asked if "index" not in path)


@pytest.mark.parametrize("size", [0.91, 1.314, 1.45, 7.0, 95.0, 104.9])
def test_the_advised_limit_is_enough(home, crepe, size):
    """1.45 was once shown as 1."""
    model = Model(crepe, "", claims={"model.safetensors": int(size * 1e9)}, cut={"model.safetensors": 0})
    with Hub({CREPE: model}) as hub:
        (refused,) = sentences(hub)
        most = float(re.search(r"--most ([\d.]+)\.$", refused[1])[1])
        assert size <= most <= size * 1.1 + 0.1
        assert "would send" not in sentences(hub, most=most)[0][1]


XL, CXR_BERT = "StanfordAIMI/RRG_scorers", "microsoft/BiomedVLP-CXR-BERT-general"


def archive_of(encoder):
    """RadGraph's archive as far as the doctor reads it."""
    indexers = {"bert": {"type": "pretrained_transformer_mismatched", "model_name": encoder}}
    config = json.dumps({"dataset_reader": {"token_indexers": indexers}}).encode()
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, content in {"config.json": config, "vocabulary/a__ner_labels.txt": b"a", "weights.th": b"w"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


@pytest.mark.parametrize(
    ("name", "file", "encoder"),
    [
        ("radgraph_f1@paper", "radgraph-xl.tar.gz", CXR_BERT),
        ("radgraph_f1@radgraph", "radgraph.tar.gz", "org/PubMedBERT"),
        ("radgraph_f1@radgraph", "radgraph.tar.gz", "org/ModernBERT"),
    ],
)
def test_the_encoder_inside_an_archive_is_looked_for_too(home, name, file, encoder):
    """Offline the doctor names it, and with the Hub it downloads the tokenizer and leaves the weights there."""
    tokenizer = "tokenizer.json" if "Modern" in encoder else "vocab.txt"
    files = {"config.json": b"{}", tokenizer: b"[PAD]", "model.safetensors": b"not loaded"}
    models = {XL: Model({file: archive_of(encoder)}, ""), encoder: Model(files)}
    with Hub({XL: models[XL]}) as hub:
        statuses = sorted(status for status, _ in sentences(hub, name, score=False))
        if encoder == CXR_BERT:  # which we know before the archive is here: it stays at the Hub
            assert statuses == ["fault", "left"]
            assert not any("resolve" in path for path in hub.asked)
        else:
            assert statuses == ["fault", "ok"]
    (checkup,) = Doctor("http://127.0.0.1:9", score=False).examine([name])
    absent = f"{encoder} is not on this machine"
    assert any(status == "left" and absent in sentence for status, sentence in checkup.remarks)
    with Hub(models) as hub:
        assert {status for status, _ in sentences(hub, name, score=False)} == {"ok"}
        assert not any("model.safetensors" in path for path in hub.asked)
    (checkup,) = Doctor("http://127.0.0.1:9", score=False).examine([name])
    assert all("is here" in remark.sentence for remark in checkup.remarks)


def test_chexberts_size_as_it_is_published(home):
    """1.31 GB, for the optimizer is in it: the doctor begins the download."""
    file = "chexbert.pth"
    with Hub({XL: Model({file: b"x"}, "", claims={file: 1_314_414_442}, cut={file: 0})}) as hub:
        (remark,) = sentences(hub, "chexbert_f1")
    assert "was interrupted" in remark[1]


def test_a_renamed_repository_is_found_under_both_names(home):
    old, new = "SRRG-BERT-Upper-with-Statuses", "SRR-BERT-Upper-with-Statuses"
    for here, other in ((old, new), (new, old)):
        root = home / "hub" / f"models--StanfordAIMI--{here}"
        folder = root / "snapshots" / COMMIT
        folder.mkdir(parents=True)
        (root / "refs").mkdir()
        (root / "refs" / "main").write_text(COMMIT)
        for file in ("config.json", "model.safetensors", "vocab.txt"):
            (folder / file).write_text("{}")
        for name in (here, other):
            assert stored.find_checkpoint(f"StanfordAIMI/{name}").folder == folder
        (checkup,) = Doctor("http://127.0.0.1:9", score=False).examine(["srr_bert_f1@paper?level=upper"])
        assert checkup.remarks[0].sentence.startswith(f"StanfordAIMI/{new}: revision {COMMIT[:12]} is here")
        shutil.rmtree(root)


def test_a_download_that_breaks_off_goes_on(home, crepe):
    whole = crepe["model.safetensors"]
    with Hub({CREPE: Model(crepe, "", cut={"model.safetensors": len(whole) // 2}, times=1)}) as hub:
        ((status, _),) = sentences(hub, score=False)
        asked = [path for path in hub.asked if path.startswith("GET") and path.endswith("model.safetensors")]
        assert (status, len(asked)) == ("ok", 2)


def test_a_licence_that_changed(home, crepe):
    with Hub({"roberta-large": Model(crepe, "cc-by-nc-4.0")}) as hub:
        assert sentences(hub, "bertscore") == [
            ("fault", "roberta-large: its card states cc-by-nc-4.0, and the recorded licence is mit.")
        ]


def test_what_may_be_looked_at_without_downloading(home, crepe):
    with Hub({CREPE: Model(crepe, "")}) as hub:
        ((status, sentence),) = sentences(hub, download=False)
        assert status == "left"
        assert sentence.startswith(f"{CREPE} is not on this machine: 0.00 ")
        assert not any("resolve" in path for path in hub.asked)


def test_texts_that_are_not_ours_are_found_by_their_checksum(home, monkeypatch):
    texts = {"Clear lungs.": "Lungs are clear."}
    digest = {text: hashlib.sha256(text.encode()).hexdigest() for text in (*texts, *texts.values())}
    rows = [[digest[text] for text in column] for column in (texts.values(), texts)]
    file = f'CASES = [("Lungs are" " clear.", "Clear lungs.")]\nOTHER = "{"x" * 40}"\n'
    with Hub({"org/model": Model({"tests/test_it.py": file.encode()})}) as hub:
        url = f"{hub.endpoint}/org/model/resolve/main/tests/test_it.py"
        example = published.Example("rouge", "their tests", *rows, 1e-9, scores={"rouge_1": 0.8}, url=url)
        assert example.texts() == (["Lungs are clear."], ["Clear lungs."])
        assert published.score_example(example, None).status == "ok"
        other = published.Example("rouge", "their tests", rows[0], ["0" * 64], 1e-9, scores={"rouge_1": 0.8}, url=url)
        sentence = f"their tests was not scored: {url} no longer has 1 of its texts."
        assert published.score_example(other, None) == ("left", sentence)
        with pytest.raises(InputError, match="HTTP Error 404"):
            published.fetch(f"{hub.endpoint}/org/nothing/resolve/main/a.py")


def test_outputs_of_networks_are_compared(published_checkpoints, monkeypatch):
    """Logits, conditions and the lines of two files, of tiny random networks: our own values are reproduced."""
    files = {
        "logits.py": 'texts = ["A nodule.", "Clear lungs."]',
        "refs.txt": "Edema.\n\nClear.\n",
        "preds.txt": "a\nb",
    }
    monkeypatch.setattr(published, "fetch", lambda url: files[url])
    texts = [hashlib.sha256(text.encode()).hexdigest() for text in ("A nodule.", "Clear lungs.")]
    logits = load_classifier("IAMJB/RadBERT-CT", n_labels=18).logits(["A nodule.", "Clear lungs."], None)
    example = published.Example("f1_radbert_ct@paper", "x", texts, [], 1e-4, url="logits.py", logits=logits.tolist())
    assert published.score_example(example, None).sentence.startswith("36 values of x are reproduced")
    other = replace(example, logits=(logits[::-1]).tolist())
    assert published.score_example(other, None).status == "fault"
    statuses = [reading.statuses for reading in load_chexbert().annotate(["A nodule.", "Clear lungs."])]
    names = load_conditions().names
    pairs = [(name, [each[names.index(name)] in (1, 3) for each in statuses]) for name in names]
    for name, has in pairs:
        example = published.Example("chexbert_f1@paper", "x", texts, [], 0, url="logits.py", conditions=[name] * 2)
        assert published.score_example(example, None).status == ("ok" if all(has) else "fault")
    example = published.Example("bleu", "x", [], [], 1, lines=["refs.txt", "preds.txt"], scores={"bleu": 0})
    assert example.texts() == (["Edema.", "Clear."], ["a", "b"])
    assert published.score_example(example, None).status == "ok"


def test_replies_are_read_without_weights(home, monkeypatch):
    """GREEN's published replies are compared even where the weights are not; without a network they are left."""
    reply = "[Clinically Significant Errors]:\n(a) x: 1. y.\n\n[Matched Findings]:\n1. z"
    example = published.Example(
        *("green@paper", "replies", [], [], 0),
        url="a.py",
        replies=[hashlib.sha256(reply.encode()).hexdigest()],
        per_pair={"green": [0.5]},
    )
    monkeypatch.setattr(published, "fetch", lambda url: f"replies = [{reply!r}]")
    monkeypatch.setattr("rrgmetrics.doctor.examples", lambda: [example])
    with Hub({}) as hub:
        missing, read = sentences(hub, "green")
        assert (missing[0], read[0]) == ("fault", "ok")
        assert read[1].startswith("2 values of replies are reproduced")
    (checkup,) = Doctor("http://127.0.0.1:9").examine(["green"])
    assert checkup.remarks[-1].sentence.startswith("1 published example not scored")


def test_the_authors_files_may_lie_in_a_folder(home, tmp_path, monkeypatch, capsys):
    """Of a folder that is named after the repository, and only of that; nothing is asked of the network."""
    url = "https://raw.githubusercontent.com/org/Their-Tool/c0ffee/tests/test_it.py"
    digest = hashlib.sha256(b"Clear lungs.").hexdigest()
    example = published.Example("rouge", "their tests", [digest], [digest], 1e-6, scores={"rouge": 1}, url=url)
    monkeypatch.setattr("rrgmetrics.doctor.examples", lambda: [example])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name, sentence in (
        ("their-tool-1.0", "1 value of their tests is reproduced"),
        ("another", "1 published example"),
    ):
        (tmp_path / name / "tests").mkdir(parents=True)
        (tmp_path / name / "tests" / "test_it.py").write_text('TEXT = "Clear lungs."')
        (checkup,) = Doctor(texts=[tmp_path / name]).examine(["rouge"])
        assert checkup.remarks[-1].sentence.startswith(sentence)
    assert main(["doctor", "bleu", "--texts", str(tmp_path / "nowhere"), "--output", str(tmp_path / "a.md")]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err


def test_the_tables_name_what_our_configurations_load(home, monkeypatch):
    """Each published configuration is in the table, with the repository that its loader asks for first."""
    asked = []

    def refuse(repository, revision, patterns, file=""):
        asked.append(f"{repository}/{file}" if file else repository)
        raise BackendError("no")

    monkeypatch.setattr(stored, "_download", refuse)
    table = {name: [need.name for need in needs() if name in need.configurations] for name in configurations()}
    for spec in SPECS.values():
        name = f"{spec.name}@paper"
        if "paper" not in spec.configs or spec.name in ("temporal_f1", "green", "crimson"):  # words; loaded when asked
            continue
        asked.clear()
        with pytest.raises(BackendError):
            prepare(name)
        assert asked[0] in table[name]
    for example in published.examples():
        assert example.configuration in table
        assert {*example.scores, *example.per_pair} <= {key.name for key in SPECS[example.metric.split("@")[0]].keys}
    assert {need.repository for need in needs()} <= set(stored.pins())


def test_options_and_models_of_ones_own_are_told_apart(home):
    """Options that choose other weights name those; others change nothing; what nobody published is left open."""
    told = {
        f"srr_bert_f1@paper?level={level}&statuses={'yes' if statuses else 'no'}": (
            f"{repository} is not on this machine"
        )
        for (level, statuses), repository in srr_bert_f1.PUBLISHED.items()
    } | {
        "bertscore@paper?idf=call": "roberta-large is not on this machine",
        "crepe@my-lab/crepe": "my-lab/crepe is a model of your choice, which is not checked.",
        "mammo_green": "It has no published weights; it uses a model that you name.",
        "green@reader": "It loads no weights.",
        "green@small": "It loads weights that are not checked further: StanfordAIMI/GREEN-RadPhi2, 2.7 billion "
        "weights, with the same prompt as `paper`; not tested here.",
    }
    for checkup, sentence in zip(Doctor("http://127.0.0.1:9").examine(list(told)), told.values(), strict=True):
        assert checkup.remarks[0].sentence.startswith(sentence), checkup.configuration


def test_the_command_over_every_metric(home, monkeypatch, capsys, crepe):
    """A Hub that holds all repositories, with weights that nothing can be made of: a sentence each, and a report."""
    junk = {"config.json": b"{}", "model.safetensors": b"junk", "vocab.txt": b"a\nb\n"}
    files = {need.repository: dict[str, bytes]() for need in needs()}
    for need in needs():
        files[need.repository] |= {need.file: b"junk"} if need.file else junk
    licences = {need.repository: need.licence for need in needs()}
    monkeypatch.chdir(home)
    with Hub({name: Model(content, licences[name]) for name, content in files.items()}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        assert main(["doctor", "--output", "report.md"]) == 2
        lines = capsys.readouterr().out.splitlines()
    named = [line for line in lines if not line.startswith(" ")][1:]
    assert named[:-1] == configurations()
    assert {line.split("@")[0] for line in named[:-1]} == set(SPECS)
    faults = [line for line in lines if line.startswith("  ✗ ")]
    loaded = [name for name in configurations() if needs_of(name)]
    assert len(faults) == len(loaded) + 1  # one each; RaTEScore's two models each have a config that says nothing
    assert named[-1].startswith(f"{len(configurations())} configurations: ")
    report = (home / "report.md").read_text()
    assert all(f"### `{name}`" in report for name in configurations())
    assert f"  revision: {COMMIT}" in report
    for need in needs():
        known = next(line for line in lines if line.startswith(f"  · {need.name}: "))
        assert "(unverified)" in known
        assert known.removeprefix("  · ") in report
    assert main(["doctor", "nothing"]) == 2
    assert main(["doctor", "bleu", "--output", "report.md"]) == 2  # it is there
    before = sorted(home.rglob("*"))
    assert main(["doctor", "bleu"]) == 0
    assert sorted(home.rglob("*")) == before  # a file is written only where one is asked for
    assert main(["doctor", "--output", "report.txt"]) == 2


# --- the server of a judge

MODELS = {"data": [{"id": "org/my-model"}, {"id": "other"}]}


@pytest.fixture
def serving(loopback, home, monkeypatch):
    """Answers `GET /v1/models` with a status and a body, and keeps the headers that came."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key-0123")

    def serve(status=200, body=MODELS, **headers):
        def do_get(request):
            loopback.headers = {"path": request.path, **dict(request.headers)}
            request.send(status, body(request) if callable(body) else body, **headers)

        monkeypatch.setattr(loopback.RequestHandlerClass, "do_GET", do_get, raising=False)
        return loopback

    return serve


def seen_of(name):
    (checkup,) = Doctor("http://127.0.0.1:9").examine([name])
    return checkup.remarks[0]


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ({}, "ok", "answers and has my-model. No report was sent."),
        ({"body": {"data": [{"id": "other"}]}}, "fault", "has no model 'my-model', only 'other'; name one of them."),
        ({"body": {"data": []}}, "fault", "has no model 'my-model', none; load one."),
        ({"status": 401, "body": {}}, "fault", "HTTP 401); OPENAI_API_KEY contains a key that was refused."),
        ({"status": 404, "body": {}}, "left", "lists no models (HTTP 404); is it the address that ends in /v1?"),
        ({"status": 500, "body": {}}, "fault", "answers with HTTP 500, but not as OpenAI's protocol does."),
        ({"body": b"<html>"}, "fault", "answers with HTTP 200, but not as OpenAI's protocol does."),
        ({"status": 302, "body": {}, "location": "http://127.0.0.1:9/"}, "fault", "answers with HTTP 302"),
        ({"body": {"data": [{"id": "sk-secret-key-0123"}]}}, "fault", "only '[API key]'"),
    ],
)
def test_the_server_of_a_judge_is_asked_for_its_models(serving, answer, status, words):
    server = serving(**answer)
    seen = seen_of(f"green@openai:my-model?base_url={server.url}")
    assert (seen.status, words in seen.sentence) == (status, True), seen.sentence
    assert server.headers["path"] == "/v1/models"
    assert server.headers["Authorization"] == "Bearer sk-secret-key-0123"
    assert not server.asked  # no report was sent


def test_a_server_that_does_not_answer(serving, monkeypatch):
    monkeypatch.setattr("rrgmetrics.doctor.servers.SECONDS", 0.3)
    server = serving(body=lambda request: request.hang() or {})
    assert "nothing within 0.3 s" in seen_of(f"crimson@openai:my-model?base_url={server.url}").sentence
    seen = seen_of("green@openai:my-model?base_url=http://127.0.0.1:9/v1")
    assert seen.status == "fault"
    assert re.match(r"There is no answer from http://127.0.0.1:9/v1 \(.*refused.*\); start the server", seen.sentence)
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "contains no key" in seen_of("green@openai:my-model").sentence


def test_the_server_of_the_environment_is_asked_without_names(serving, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", serving().url)
    *_, last = Doctor("http://127.0.0.1:9", score=False).examine()
    assert last.configuration == "judges on OPENAI_BASE_URL"
    assert last.remarks[0].status == "ok"
    assert "has the models 'org/my-model', 'other'" in last.remarks[0].sentence
