"""The doctor, an empty cache, and a stand-in Hub that serves every published checkpoint as it is published."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace

import pytest
import yaml
from stand_in_hub import COMMIT, Hub, Model

from rrgmetrics import prepare
from rrgmetrics.backends import checkpoints as stored
from rrgmetrics.doctor import Checkup, Doctor, configurations
from rrgmetrics.doctor.needs import needs
from rrgmetrics.errors import BackendError
from rrgmetrics.scorers.crimson import wordings
from rrgmetrics.utils.extras import install_command

pytest.importorskip("sentencepiece", reason="GREEN's and RaTE-NER's tokenizers are made with it (extra judges)")
if not importlib.util.find_spec("CRIMSON"):
    pytest.skip("CRIMSON's question is in its authors' package crimson-score", allow_module_level=True)

GREEN, SCORERS = "StanfordAIMI/GREEN-radllama2-7b", "StanfordAIMI/RRG_scorers"
NER, BIOLORD = "Angelakeke/RaTE-NER-Deberta", "FremyCompany/BioLORD-2023-C"
SMALL = (".json", ".txt", ".model")
SRR = "StanfordAIMI/SRR-BERT-Leaves-with-Statuses"
Files = Mapping[str, bytes]


@pytest.fixture(scope="session")
def served(made, layouts, checkpoints, reports, tmp_path_factory) -> dict[str, Files]:
    """The files of every repository that a configuration loads, and of the encoders inside RadGraph's archives."""
    hub = tmp_path_factory.mktemp("cache")
    checkpoints.write_cache(hub, [*reports.references, *reports.altered])
    folders = dict(made)
    for name in {need.repository for need in needs()} - set(made):
        (folders[name],) = hub.glob(f"models--{name.replace('/', '--')}/snapshots/*")
    return {name: layouts.files_of(folder) for name, folder in folders.items()}


def models(served: Mapping[str, Files], **changed: Mapping[str, object]) -> dict[str, Model]:
    """The repositories with the licences that we know; `changed` by the last part of a name."""
    licences = {need.repository: need.licence for need in needs()}
    return {
        name: Model(files, licences.get(name, ""), **changed.get(name.rpartition("/")[2].replace("-", "_"), {}))
        for name, files in served.items()
    }


def examine(hub: Hub, *names: str, **options) -> dict[str, Checkup]:
    return {each.configuration: each for each in Doctor(hub.endpoint, score=False, **options).examine(names)}


def weights_sent(hub: Hub) -> Counter[str]:
    """Bytes of what is not small, by file."""
    return Counter({name: n for name, n in hub.sent.items() if not name.endswith(SMALL)})


def test_what_is_sent_for_all_metrics(home, served, layouts):
    """Each file that is loaded once, and no other: no code, no pickle beside safetensors, no tokenizer's weights."""
    with Hub(models(served)) as hub:
        seen = examine(hub)
        assert list(seen) == configurations()
        assert [fault for checkup in seen.values() for fault in checkup.faults] == []
        expected = Counter[str]()
        loaded = {need.name: need for need in needs()} | {
            each.need.name: each.need for checkup in seen.values() for each in checkup.repositories
        }
        for need in loaded.values():
            files = served[need.repository]
            expected.update({f"{need.repository}/{name}": len(files[name]) for name in need.chosen(files)})
        assert hub.sent == expected
        assert f"{layouts.PUBMEDBERT}/vocab.txt" in hub.sent  # which radgraph.tar.gz names
        left = ("tokenization_chexagent.py", "training_args.bin", "pytorch_model.bin", "modern-radgraph-xl.tar.gz")
        assert not [name for name in hub.sent if name.endswith(left)]
        hub.sent.clear()
        assert all(not checkup.faults for checkup in examine(hub).values())
        assert hub.sent == {}  # all of it is here
    for configuration in ("radgraph_f1@radgraph", "ratescore@paper", "green@paper"):  # and it is enough to load them
        prepare(configuration)


def test_everything_is_asked_before_the_first_weights_are_sent(home, served):
    with Hub(models(served)) as hub:
        examine(hub)
        sent = [path.rpartition("/")[2] for path in hub.asked if path.startswith("GET") and "/resolve/" in path]
        first = next(i for i, name in enumerate(hub.asked) if "GET" in name and name.endswith((".safetensors", ".pth")))
        asked_later = [path for path in hub.asked[first:] if path.startswith("GET /api/models/")]
    assert {path.split("/api/models/")[1].partition("/revision")[0].partition("?")[0] for path in asked_later} <= {
        "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract"  # which only the archive names
    }
    assert sent.index("tokenizer.model") < min(sent.index("model.safetensors"), sent.index("chexbert.pth"))


def with_unknown_code(files: Files) -> Files:
    settings = json.loads(files["tokenizer_config.json"]) | {"auto_map": {"AutoTokenizer": ["evil.Tokenizer", None]}}
    return {**files, "tokenizer_config.json": json.dumps(settings).encode()}


def with_a_damaged_tokenizer(files: Files) -> Files:
    return {**files, "tokenizer.model": b"not SentencePiece's"}


def with_an_unknown_type(files: Files) -> Files:
    return {**files, "config.json": json.dumps({"model_type": "evil"}).encode()}


@pytest.mark.parametrize(
    ("configuration", "repository", "change"),
    [
        ("green@paper", GREEN, with_unknown_code),
        ("green@paper", GREEN, with_a_damaged_tokenizer),
        ("green@paper", GREEN, with_an_unknown_type),
        ("srr_bert_f1@paper", SRR, with_an_unknown_type),  # whose tokenizer is another repository
    ],
)
def test_no_weights_are_sent_for_a_wrong_tokenizer_or_config(home, served, configuration, repository, change):
    with Hub(models({**served, repository: change(served[repository])})) as hub:
        (fault,) = examine(hub, configuration)[configuration].faults
        assert "its weights were not downloaded" in fault
        assert not weights_sent(hub)
        assert 0 < sum(hub.sent.values()) < 1_000_000


def test_nothing_is_sent_where_the_disk_is_too_small(home, served, monkeypatch):
    """For all metrics together; a single one that fits is downloaded."""
    room = sum(len(content) for content in served[SCORERS].values())
    usage = SimpleNamespace(free=room)
    monkeypatch.setattr("rrgmetrics.doctor.repositories.shutil.disk_usage", lambda path: usage)
    with Hub(models(served)) as hub:
        faults = {fault for checkup in examine(hub).values() for fault in checkup.faults}
        assert len(faults) == len(needs())
        assert all("GB are free in" in fault and "name fewer metrics" in fault for fault in faults)
        assert not hub.sent
        assert not examine(hub, "chexbert_f1")["chexbert_f1@paper"].faults
        assert set(hub.sent) == {f"{SCORERS}/chexbert.pth"}


def test_nothing_is_sent_of_more_than_is_known_unless_it_is_allowed(home, served):
    claims = {"chexbert.pth": 3_000_000_000}
    with Hub(models(served, RRG_scorers={"claims": claims, "cut": {"chexbert.pth": 0}})) as hub:
        (fault,) = examine(hub, "chexbert_f1")["chexbert_f1@paper"].faults
        assert "would send 3.00 GB, and 1.31 GB are known of it; nothing was downloaded" in fault
        assert not hub.sent
        most = float(fault.split("--most ")[1].rstrip("."))
        (fault,) = examine(hub, "chexbert_f1", most=most)["chexbert_f1@paper"].faults
        assert "was interrupted" in fault  # it was begun


def test_nothing_is_sent_of_another_file_than_was_published(home, served, tmp_path, monkeypatch):
    table = yaml.safe_load(stored.PINS.read_text()) | {SCORERS: {"revision": "", "sha256": {"chexbert.pth": "0" * 64}}}
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(table))
    monkeypatch.setattr(stored, "PINS", tmp_path / "ours.yaml")
    stored.pins.cache_clear()
    with Hub(models(served)) as hub:
        (fault,) = examine(hub, "semb_score")["semb_score@paper"].faults
        assert fault.startswith(f"{SCORERS}: chexbert.pth has the SHA-256 ")
        assert fault.endswith("on the Hub, and the published one is 000000000000…; nothing was downloaded.")
        assert not hub.sent


def test_no_weights_are_sent_where_another_repository_of_the_metric_is_missing(home, served):
    with Hub({name: model for name, model in models(served).items() if name != BIOLORD}) as hub:
        checkup = examine(hub, "ratescore")["ratescore@paper"]
        assert [status for status, _ in checkup.remarks] == ["left", "fault"]
        assert f"not downloaded, since {BIOLORD} cannot be loaded" in checkup.remarks[0].sentence
        assert not weights_sent(hub)
        with pytest.raises(BackendError, match="RaTE-NER-Deberta"):
            prepare("ratescore@paper")


def test_no_weights_are_sent_where_a_package_is_missing(home, served, monkeypatch):
    """CRIMSON's question is in its authors' package."""
    wordings.authors_prompts.cache_clear()
    monkeypatch.setattr(wordings.importlib.util, "find_spec", lambda name: None)
    with Hub(models(served)) as hub:
        checkup = examine(hub, "crimson")["crimson@paper"]
        assert [status for status, _ in checkup.remarks] == ["left", "fault"]
        assert "it was not downloaded, since a package is missing" in checkup.remarks[0].sentence
        assert install_command("crimson") in checkup.faults[0]
        assert not weights_sent(hub)


def test_nothing_is_sent_without_download(home, served):
    with Hub(models(served)) as hub:
        seen = examine(hub, download=False)
        assert not hub.sent
        assert not any(checkup.faults for checkup in seen.values())
        left = [checkup.remarks[0].sentence for checkup in seen.values() if checkup.repositories]
        assert all("GB, to be stored in models--" in sentence for sentence in left)
        assert all(each.revision == COMMIT for checkup in seen.values() for each in checkup.repositories)
