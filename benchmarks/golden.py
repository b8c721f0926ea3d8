"""How every text of the tests and benchmarks is read, as hashes: shows which readings a change to the reader changes.

    python benchmarks/golden.py                    # counts and lists the texts whose reading is not that of golden.tsv
    python benchmarks/golden.py --against main     # the readings of another revision, field by field
    python benchmarks/golden.py --update           # writes golden.tsv anew

`golden.tsv` has one line for each text and pack: the hash of both, and the hash of the reading. Refactor the reader
with `--against HEAD` (nothing differs), mend it with `--against main` (only what is meant differs), and commit
`--update` with the mended rules. A field with its default value is left out of the hash, so that a new field of
`Finding` changes no line by itself.

Texts of sets that nobody has read (voices.py, and every file or row that is marked `unread`) are counted, never shown.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
GOLDEN = HERE / "golden.tsv"
READER_TESTS = CHECKOUT / "tests" / "unit" / "reading"
TEXTS = ("reference", "candidate", "better", "worse", "report", "sentence")  # the columns of a JSON row that are read
VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
Change = tuple[str, Any, Any]  # what differs, before, after


class Text(NamedTuple):
    """A text, the pack that reads it ("auto": that of its kind of report), and whether nobody has read it."""

    text: str
    pack: str
    unread: bool = False

    @property
    def key(self) -> str:
        """The hash of the text and its pack."""
        return digest(f"{self.pack}\t{self.text}")


class Table(NamedTuple):
    """Tables of the reader's tests: a pattern, the columns with texts, and the pack, or the column that names it."""

    pattern: str
    columns: tuple[int, ...]
    pack: str | int = "chest_xray"
    end: str = ""


TABLES = (
    Table("sentences.tsv", (1,)),
    Table("sentences/*.tsv", (1,)),
    Table("pairs/*.tsv", (1, 2), "auto"),
    Table("names.tsv", (1,), end="."),
    Table("synonyms/*.tsv", (1, 2)),
    Table("significance.tsv", (0,)),
    Table("packs_pairs.tsv", (1, 2), 0),
    Table("packs_kinds.tsv", (1,), "auto"),
    Table("packs/brain_ct.tsv", (1,), "brain_ct"),
    Table("packs/mammography.tsv", (1,), "mammography"),
    Table("chest_ct/sentences.tsv", (1,), "chest_ct"),
    Table("chest_ct/labels.tsv", (0,), "chest_ct"),
    Table("chest_ct/pairs.tsv", (0, 1), "chest_ct"),
    Table("chest_ct/synonyms/*.tsv", (1, 2), "chest_ct"),
)


def digest(text: str) -> str:
    """Returns 40 bits of a hash: enough to tell a hundred thousand texts apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def table_texts(folder: Path, table: Table) -> Iterator[Text]:
    """Yields the texts of a kind of table; a cell may hold several, parted by " | "."""
    for file in sorted(folder.glob(table.pattern)):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                cells = line.split("\t")
                pack = table.pack if isinstance(table.pack, str) else cells[table.pack]
                for column in table.columns:
                    for text in filter(None, cells[column].split(" | ")):
                        yield Text(text + table.end, pack, "unread" in file.name)


def row_texts(row: Mapping[str, Any], pack: str, *, unread: bool = False) -> Iterator[Text]:
    """Yields the texts of a row of JSON or YAML."""
    hidden = unread or bool(row.get("unread"))
    yield from (Text(row[name], row.get("modality", pack), hidden) for name in TEXTS if name in row)


def is_unread(row: Mapping[str, Any], *, rankings: bool) -> bool:
    """Whether nobody has read a row of voices; voices.py says which were read."""
    even = int(row["id"][-2:]) % 2 == 0
    return row["set"] == "sixth" or (
        even and row["set"] in (("fourth", "fifth", "blind", "second") if rankings else ("fourth", "fifth"))
    )


def frame_texts() -> Iterator[Text]:
    """Yields what the tests of frames read: each frame around each of their names."""
    sys.path.insert(0, str(CHECKOUT))
    from tests.unit.reading import test_frames as frames

    texts = [f"{statement}." for statement in frames.STATEMENTS]
    texts += [f"{o} {s[0].lower()}{s[1:]}." for (o,) in frames.rows("openings") for s in frames.STATEMENTS]
    texts += [f"{statement}{end}." for (end,) in frames.rows("ends") for statement in frames.STATEMENTS]
    for table, names in (("presence", frames.NAMES), ("changes", frames.CHANGING), ("devices", frames.DEVICES)):
        texts += [frames.filled(frame, name) for _, frame in frames.rows(table) for name in names]
    texts += [f"{statement} {remark}" for _, remark in frames.rows("remarks") for statement in frames.PLACED]
    for _, _, frame in frames.rows("pairs"):
        for a, b in frames.PAIRS:
            slots = {"{1}": a, "{2}": b, "{I}": a.capitalize(), "{II}": b.capitalize(), "\\n": "\n"}
            texts.append(frames.put(frame, slots))
    yield from (Text(text, "chest_xray") for text in texts)


def all_texts() -> list[Text]:
    """All texts, each once, in the order of their hashes."""
    texts = [text for table in TABLES for text in table_texts(READER_TESTS, table)]
    for name, pack in (("rankings.yaml", "auto"), ("graphs.yaml", "chest_xray")):
        for row in yaml.safe_load((READER_TESTS / name).read_text(encoding="utf-8")):
            texts += row_texts(row, pack)
    for folder, pack in (("voices", "auto"), ("chest_ct", "chest_ct")):
        for file in sorted((HERE / folder).glob("*.jsonl")):
            for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
                hidden = "unread" in file.name or ("set" in row and is_unread(row, rankings="rankings" in file.name))
                texts += row_texts(row, pack, unread=hidden)
    texts += frame_texts()
    by_key = {text.key: text for text in sorted(texts, key=lambda text: not text.unread)}  # one that was read wins
    return [by_key[key] for key in sorted(by_key)]


def canonical(value: Any) -> Any:
    """Returns a value of a reading as plain data in one order, without fields that have their default value."""
    if is_dataclass(value):
        kept = {each.name: getattr(value, each.name) for each in fields(value)}
        return {each.name: canonical(kept[each.name]) for each in fields(value) if kept[each.name] != default(each)}
    if hasattr(value, "_asdict") and len(value) > 2:
        return {name: canonical(each) for name, each in value._asdict().items()}
    if isinstance(value, set | frozenset):
        return sorted(map(canonical, value))
    return [canonical(each) for each in value] if isinstance(value, list | tuple) else value


def default(field: Field[Any]) -> Any:
    """The value that a field has where none is given; MISSING if one must be."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def canonical_reading(reading: Any) -> dict[str, Any]:
    """Returns a reading as plain data: observations are numbered in the order in which they come."""
    data: dict[str, Any] = {key: value for key, value in canonical(reading).items() if key != "text"}
    numbers: dict[int, int] = {}
    for finding in data["findings"]:
        observation = finding.get("observation", 0)
        if observation >= 0:
            finding["observation"] = numbers.setdefault(observation, len(numbers))
    return data


def readings(texts: Sequence[Text]) -> list[dict[str, Any]]:
    """Reads the texts with the package that Python imports, in a process for each core."""
    workers = os.cpu_count() or 1
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(reading_of, texts, chunksize=1 + len(texts) // (8 * workers)))


def reading_of(text: Text) -> dict[str, Any]:
    """Reads a text."""
    from rrgmetrics.reading import read

    return canonical_reading(read(text.text, text.pack))


@contextmanager
def code_of(revision: str) -> Iterator[Path]:
    """A folder with the package as it is in a revision."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "code")
        worktree = ["git", "-C", str(CHECKOUT), "worktree"]
        subprocess.run([*worktree, "add", "--quiet", "--detach", str(folder), revision], check=True)
        try:
            yield folder
        finally:
            subprocess.run([*worktree, "remove", "--force", str(folder)], check=True)


def readings_of(revision: str, texts: Sequence[Text]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Reads the texts with a revision's package, once for each revision, and with that of the checkout."""
    given = json.dumps(texts)
    tree = subprocess.run(
        ["git", "-C", str(CHECKOUT), "rev-parse", f"{revision}:rrgmetrics"], check=True, capture_output=True, text=True
    )
    kept = Path(tempfile.gettempdir(), f"rrgmetrics_golden_{tree.stdout.strip()}_{digest(given + VERSION)}.json")
    if not kept.exists():
        with code_of(revision) as folder:
            environment = {**os.environ, "PYTHONPATH": str(folder)}
            command = [sys.executable, str(Path(__file__).resolve()), "--readings"]
            done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, env=environment, check=True)
        kept.write_text(done.stdout, encoding="utf-8")
    return json.loads(kept.read_text(encoding="utf-8")), json.loads(json.dumps(readings(texts)))


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """What differs between two readings: findings by concept, a field at a time, then the rest of the reading."""
    old = [finding for finding in before["findings"] if finding not in after["findings"]]
    new = [finding for finding in after["findings"] if finding not in before["findings"]]
    found: list[Change] = []
    for name in dict.fromkeys(finding["concept"] for finding in (*old, *new)):
        pairs = zip_longest(*([each for each in side if each["concept"] == name] for side in (old, new)))
        for a, b in pairs:
            if a is None or b is None:
                found.append((name, a, b))
            else:
                found += [
                    (f"{name}.{key}", a.get(key), b.get(key)) for key in sorted({*a, *b}) if a.get(key) != b.get(key)
                ]
    if not found and before["findings"] != after["findings"]:
        found.append(("findings", "another order", ""))
    others = sorted({*before, *after} - {"findings"})
    return found + [(key, before.get(key), after.get(key)) for key in others if before.get(key) != after.get(key)]


def change_lines(text: Text, differences: Iterable[Change]) -> Iterator[str]:
    """Yields a text and what differs in its reading."""
    yield f"{text.text!r} ({text.pack})"
    for what, old, new in differences:
        yield f"    {what}: {shown(old)} → {shown(new)}"


def shown(value: Any) -> str:
    """Returns a value in one line: "-" for none."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={each}" for key, each in value.items() if key not in ("spans", "observation"))
    return "-" if value is None else str(value)


def compare(texts: Sequence[Text], old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yields what differs between two revisions."""
    differing = [(text, a, b) for text, a, b in zip(texts, old, new, strict=True) if a != b]
    for text, a, b in differing:
        if not text.unread:
            yield from change_lines(text, changes(a, b))
    yield total([text for text, _, _ in differing], len(texts))


def total(differing: Sequence[Text], of: int) -> str:
    """Says how many texts are read otherwise."""
    hidden = sum(text.unread for text in differing)
    return f"{len(differing)} of {of} readings differ; {hidden} of them, of texts that nobody has read, are not shown"


def hashes(texts: Sequence[Text]) -> dict[str, str]:
    """The hash of each text's reading, by the hash of the text and its pack."""
    made = readings(texts)
    plain = (json.dumps(reading, sort_keys=True, ensure_ascii=False) for reading in made)
    return {text.key: digest(line) for text, line in zip(texts, plain, strict=True)}


def check(texts: Sequence[Text], kept: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yields which texts are read otherwise than the file says, and how many it lacks or has in addition."""
    differing = [text for text in texts if text.key in kept and kept[text.key] != now[text.key]]
    yield from (f"{text.text!r} ({text.pack})" for text in differing if not text.unread)
    yield total(differing, len(texts))
    yield f"{len(now.keys() - kept.keys())} texts are new, {len(kept.keys() - now.keys())} are gone"


def load(file: Path = GOLDEN) -> dict[str, str]:
    """Reads the file of hashes."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return dict(tuple(line.split("\t")) for line in lines)  # type: ignore[misc]


def main(arguments: Sequence[str] | None = None) -> int:
    """Checks the readings or writes them anew; returns 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--check", action="store_true", help="compare with golden.tsv (what it does by itself)")
    modes.add_argument("--against", metavar="REVISION", help="compare with the readings of a revision, field by field")
    modes.add_argument("--update", action="store_true", help="write golden.tsv anew")
    modes.add_argument("--readings", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.readings:
        json.dump(readings([Text(*row) for row in json.load(sys.stdin)]), sys.stdout)
        return 0
    texts = all_texts()
    if options.against:
        lines = [*compare(texts, *readings_of(options.against, texts))]
    elif options.update:
        GOLDEN.write_text("".join(f"{key}\t{value}\n" for key, value in hashes(texts).items()), encoding="utf-8")
        lines = [f"{len(texts)} readings written to {GOLDEN.name}"]
    else:
        lines = [*check(texts, load(), hashes(texts))]
    print(*lines, sep="\n")
    return int(not options.update and not lines[0].startswith("0 of"))


if __name__ == "__main__":
    sys.exit(main())
