"""Files that a user names, made to harm: a bomb of aliases, depth, size, a pipe; each is refused in one sentence."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from edited_lexicon import bundled_in, write_small_lexicon

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon import use
from rrgmetrics.scorers.radfact.published import published_entailment
from rrgmetrics.scoring.evaluation import Evaluation
from rrgmetrics.training.config import _read_yaml
from rrgmetrics.utils.bounded_files import check_yaml, read_text

SECONDS = 20  # far more than any takes, far less than those took that never ended


def bomb(first: str = "x", width: int = 9, depth: int = 11) -> str:
    """A few lines that stand for `width ** depth` entries."""
    names = "abcdefghijklmnopqrstuvwxyz"[: depth + 1]
    lines = [f"a: &a [{first}, {first}]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * width)}]" for before, name in pairwise(names)]
    return "\n".join(lines) + "\n"


MERGED = "a: &a {x: 1, y: 2}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}]}}\n" for before, name in pairwise("abcdefghijk")
)
HOSTILE = {
    "bomb": bomb(),
    "bomb of texts": bomb("x" * 5_000),
    "wide bomb": bomb(width=30_000, depth=2),
    "bomb of merged blocks": MERGED,
    "itself": "a: &a [*a]",
    "itself below": "a: &a\n  b:\n    c: *a",
    "itself as key": "&a {? *a : 1}",
    "depth of lists": "a: " + "[" * 100_000,
    "depth of blocks": "a: " + "{b: " * 100_000,
    "depth of lines": "\n".join(" " * depth + "a:" for depth in range(2_000)),
    "depth of dashes": "- " * 100_000,
    "many entries": "a:\n" + "- 1\n" * 300_000,
    "many keys": "".join(f"k{number}: 1\n" for number in range(90_000)),
    "long text": "a: " + "x" * 500_000,
    "long number": "a: " + "9" * 9_000,
    "number of base 60": "a: 1" + ":1" * 200_000,
    "huge": "a: 1 # " + "x" * 50_000_000,
    "no date": "a: 2024-99-99",
    "tag of a number": "a: !!int x",
    "tag of a date": "a: !!timestamp x",
    "tag of a truth": "a: !!bool x",
    "tag of Python": "a: !!python/object/apply:os.system ['true']",
    "tag of bytes": "a: !!binary %%%",
    "list as key": "? [a]\n: b",
    "block as key": "? {a: b}\n: c",
    "NUL": "a: \0",
    "control": "a: \x1b[31m",
    "two documents": "a: 1\n---\nb: 2",
    "unknown alias": "a: *b",
    "tab": "a:\n\t- b",
    "nothing": "",
    "number": "5",
    "none as key": "~: 1",
    "true as key": "yes: 1",
}


def sentence(raised: pytest.ExceptionInfo[InputError], path: Path) -> None:
    """Checks that the message is one line of a size to be read, and names the file."""
    said = str(raised.value)
    assert path.name in said
    assert len(said) < 700
    assert "\n" not in said


@pytest.mark.parametrize("what", HOSTILE)
def test_a_config_is_refused_in_a_sentence(tmp_path: Path, what: str) -> None:
    path = tmp_path / "evaluation.yaml"
    path.write_text(HOSTILE[what])
    start = time.monotonic()
    with pytest.raises(InputError) as raised:
        Evaluation.read(path)
    assert time.monotonic() - start < SECONDS
    sentence(raised, path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 50_000, "9" * 5_000, "{", "\ud800".join("[]"), "null"])
def test_a_result_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(InputError) as raised:
        Evaluation.read(path)
    sentence(raised, path)


LEXICON = (
    "bomb",
    "bomb of merged blocks",
    "itself as key",
    "depth of dashes",
    "many entries",
    "no date",
    "list as key",
)


@pytest.fixture(scope="module")
def small_lexicon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_in(write_small_lexicon(tmp_path_factory.mktemp("small"))):
        yield


@pytest.mark.usefixtures("small_lexicon")
@pytest.mark.parametrize(("name", "what"), [*(("lung.yaml", what) for what in LEXICON), ("mri/pack.yaml", "bomb")])
def test_a_lexicon_is_refused_in_a_sentence(tmp_path: Path, name: str, what: str) -> None:
    path = tmp_path / "own" / name
    path.parent.mkdir(parents=True)
    path.write_text(HOSTILE[what])
    start = time.monotonic()
    with pytest.raises(InputError) as raised, use(tmp_path / "own"):
        pass
    assert time.monotonic() - start < SECONDS
    sentence(raised, path)


@pytest.mark.parametrize("what", [what for what in HOSTILE if what not in ("nothing", "many keys")])
def test_a_training_is_refused_in_a_sentence(tmp_path: Path, what: str) -> None:
    path = tmp_path / "mini.yaml"
    path.write_text(HOSTILE[what])
    if what in ("none as key", "true as key"):
        assert _read_yaml(path) == {"None" if what == "none as key" else "True": 1}
        return
    with pytest.raises(InputError, match=path.name):
        _read_yaml(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a pipe", "link to itself", "binary"])
def test_what_is_no_text_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lung.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "link to a pipe":
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
    elif kind == "link to itself":
        path.symlink_to(path)
    else:
        path.write_bytes(b"\xff\xfe\x00")
    for read in (read_text, Evaluation.read, _read_yaml):
        with pytest.raises(InputError) as raised:
            read(path)
        sentence(raised, path)
    if kind in ("pipe", "device", "binary"):
        with pytest.raises(InputError), use(tmp_path):
            pass


def test_what_is_within_the_bounds_is_read(tmp_path: Path) -> None:
    text = "metrics: &all [rouge, bleu]\n"
    assert check_yaml(text + "columns: {reference: *all}") == ""
    (tmp_path / "evaluation.yaml").write_text(text)
    assert Evaluation.read(tmp_path / "evaluation.yaml").metrics == ("rouge", "bleu")


def test_every_damage_of_a_file_is_an_error_of_ours(tmp_path: Path) -> None:
    """Seeded mutations of an evaluation: whatever they do to it, the error is ours."""
    random, path = Random(0), tmp_path / "e.yaml"
    whole = "metrics:\n- rouge\n- bleu: {text: lower, tokenizer: 13a}\ncolumns: {study_id: id}\nsettings: {a: 3}\n"
    signs = [*"{}[]&*!|>%@`'\"#,:-?\n\t \0", "&a", "*a", "<<: ", "!!int ", "~", "yes", "2024-01-01", "1e999", "\x85"]
    for _ in range(300):
        text = whole
        for _ in range(random.randint(1, 3)):
            start = random.randrange(len(text))
            text = text[:start] + random.choice(signs) + text[start + random.choice((0, 0, 1, 5)) :]
        path.write_text(text)
        with suppress(InputError):
            Evaluation.read(path)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_judges_reply_in_yaml_is_read_within_bounds(what: str) -> None:
    start = time.monotonic()
    assert published_entailment(f"status: entailment\nevidence:\n{HOSTILE[what]}"[:200_000])[0] in (True, False)
    assert time.monotonic() - start < SECONDS
