"""How every text of the tests and benchmarks is read, as hashes: shows which readings a change to the reader changes.

    python benchmarks/golden.py                    # counts and lists the texts whose reading is not that of golden.tsv
    python benchmarks/golden.py --against main     # the readings of another revision, field by field
    python benchmarks/golden.py --against main --changed   # only the texts with the words of edited lines of YAML
    python benchmarks/golden.py --update           # writes golden.tsv anew

`golden.tsv` has one line for each text and pack: the hash of both, and the hash of the reading. Refactor the reader
with `--against HEAD` (nothing differs), mend it with `--against main` (only what is meant differs), and commit
`--update` with the mended rules. A field with its default value is left out of the hash, so that a new field of
`Finding` changes no line by itself.

Readings are kept in the user's cache by the checksums of the files that read them and of this one, so that only the
first run after a change reads. `--changed` is for trying out terms: it leaves out texts that an edited word reaches
otherwise (an abbreviation of it, a typing error that is now corrected to it), so run without it before you commit.

Texts of sets that nobody has read (voices.py, and every file or row that is marked `unread`) are counted, never shown.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import re
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
READING = "rrgmetrics/reading"
CODE = (  # what a reading depends on: the layers of the package from the reader down
    *(READING, "rrgmetrics/reports", "rrgmetrics/specs", "rrgmetrics/utils"),
    *("rrgmetrics/__init__.py", "rrgmetrics/errors.py", "rrgmetrics/version.py"),
)
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "rrgmetrics", "golden").expanduser()
KEPT = 6  # files in the cache, the newest
FEW = 200  # texts that are read sooner than processes start
RARELY = 100_000  # objects after which Python looks for garbage; by itself it spends a third of the time on that
STEM = 4  # letters of a word that no ending changes
WORD = re.compile(r"[a-z]+")
ARTICLES = frozenset({"a", "an", "the"})
COMMENT = re.compile(r"(^|\s)#.*")
LIST_MARKS = re.compile(r"[\[\],:{}\"]|^\s*-\s")
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
    r"""Tables of the reader's tests: a pattern, the columns with texts, and the pack, or the column that names it.

    Each text gets the end; where they are escaped, "\n" and "\t" become a line end and a tab.
    """

    pattern: str
    columns: tuple[int, ...]
    pack: str | int = "chest_xray"
    end: str = ""
    escaped: bool = False


TABLES = (
    Table("sentences.tsv", (1,)),
    Table("sentences/*.tsv", (1,)),
    Table("pairs/*.tsv", (1, 2), "auto"),
    Table("names.tsv", (1,), end="."),
    Table("denied_lists.tsv", (1,), escaped=True),
    Table("left_out.tsv", (1, 2)),
    Table("one_statement.tsv", (0, 1)),
    Table("scope.tsv", (1,), "auto"),
    Table("titles.tsv", (1,), "auto", escaped=True),
    Table("forms.tsv", (1,), escaped=True),
    Table("arrived.tsv", (1, 2), "auto", escaped=True),
    Table("administration.tsv", (0,)),
    Table("synonyms/*.tsv", (1, 2)),
    Table("significance.tsv", (0,)),
    Table("packs_pairs.tsv", (1, 2), 0),
    Table("packs_kinds.tsv", (1,), "auto"),
    Table("packs/brain_ct.tsv", (1,), "brain_ct"),
    Table("packs/mammography.tsv", (1,), "mammography"),
    Table("chest_ct/sentences.tsv", (1,), "chest_ct"),
    Table("chest_ct/labels.tsv", (0,), "chest_ct"),
    Table("chest_ct/label_kinds.tsv", (1,), "chest_ct"),
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
                        plain = text.replace("\\n", "\n").replace("\\t", "\t") if table.escaped else text
                        yield Text(plain + table.end, pack, "unread" in file.name)


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
    sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "tests" / "helpers")]
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


def readings(texts: Sequence[Text]) -> dict[str, Any]:
    """Reads the texts with the package that Python imports, in a process for each core, by the hash of the text."""
    workers = os.cpu_count() or 1
    ordered = sorted(texts, key=lambda text: (text.pack, text.text))  # texts that share sentences follow one another
    if len(ordered) < FEW:
        return {text.key: reading_of(text) for text in ordered}
    with ProcessPoolExecutor(workers, initializer=gc.set_threshold, initargs=(RARELY,)) as pool:
        made = pool.map(reading_of, ordered, chunksize=1 + len(ordered) // (8 * workers))
        return {text.key: reading for text, reading in zip(ordered, made, strict=True)}


def reading_of(text: Text) -> dict[str, Any]:
    """Reads a text."""
    from rrgmetrics.reading import read

    plain: dict[str, Any] = json.loads(json.dumps(canonical_reading(read(text.text, text.pack))))
    return plain


@contextmanager
def code_of(revision: str) -> Iterator[Path]:
    """A folder with the package as it is in a revision."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "code")
        git("worktree", "add", "--quiet", "--detach", str(folder), revision)
        try:
            yield folder
        finally:
            git("worktree", "remove", "--force", str(folder))


def git(*arguments: str) -> str:
    """What git says in the checkout."""
    return subprocess.run(
        ["git", "-C", str(CHECKOUT), *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def checksum(revision: str = "") -> str:
    """The checksum of the files that a reading depends on, in a revision, or as they are in the checkout."""
    if revision:
        rows = (line.split(None, 3) for line in git("ls-tree", "-r", revision, "--", *CODE).splitlines())
        blobs = {path: blob for _, _, blob, path in rows}
    else:
        listed = git("ls-files", "--cached", "--others", "--exclude-standard", "--", *CODE).splitlines()
        blobs = {path: blob_of((CHECKOUT / path).read_bytes()) for path in listed if (CHECKOUT / path).is_file()}
    return digest(json.dumps([sorted(blobs.items()), VERSION, sys.version]))


def blob_of(content: bytes) -> str:
    """The hash that git gives the content of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def kept_readings(texts: Sequence[Text], revision: str = "") -> dict[str, Any]:
    """The readings of the texts by a revision, or by the checkout: kept ones, and those that are read now."""
    file = CACHE / f"{checksum(revision)}.json"
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    missing = [text for text in texts if text.key not in kept]
    if missing:
        kept |= readings_by(revision, missing) if revision else readings(missing)
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=CACHE, delete=False) as made:
            json.dump(kept, made)
        os.replace(made.name, file)
        for old in sorted(CACHE.iterdir(), key=lambda path: path.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    return {text.key: kept[text.key] for text in texts}


def readings_by(revision: str, texts: Sequence[Text]) -> dict[str, Any]:
    """Reads the texts with a revision's package."""
    with code_of(revision) as folder:
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        command = [sys.executable, str(Path(__file__).resolve()), "--readings"]
        given = json.dumps(texts)
        done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def with_edited_words(texts: Sequence[Text], revision: str) -> list[Text]:
    """The texts that hold all words of a term in a line of the lexicon that differs from a revision.

    Raises:
        SystemExit: Something else than the lexicon differs.
    """
    other = [path for path in git("diff", "--name-only", revision, "--", *CODE).splitlines() if "/lexicon/" not in path]
    if other:
        raise SystemExit(f"--changed is for edits of the lexicon only; {other[0]} differs from {revision} too.")
    lines = git("diff", "--unified=0", revision, "--", f"{READING}/lexicon").splitlines()
    edited = [line[1:] for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    terms = edited_terms(edited)
    return [text for text in texts if holds_words(text.text, terms)]


def edited_terms(lines: Iterable[str]) -> frozenset[frozenset[str]]:
    """The words of each term in edited lines of YAML, keys among them, without comments and articles."""
    from rrgmetrics.utils.patterns import terms_of

    found = set()
    for line in lines:
        for term in LIST_MARKS.split(COMMENT.sub("", line)):
            found.update(frozenset(stems(form)) - ARTICLES for form in terms_of(term))
    return frozenset(found - {frozenset()})


def holds_words(text: str, terms: frozenset[frozenset[str]]) -> bool:
    """Whether a text holds all words of one of the terms, in some form of each."""
    words = frozenset(stems(text))
    return any(term <= words for term in terms)


def stems(text: str) -> list[str]:
    """The first letters of the words of a text, in American spelling."""
    return [word[:STEM] for word in WORD.findall(text.lower().replace("ae", "e").replace("oe", "e"))]


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


def compare(texts: Sequence[Text], old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yields what differs between two revisions."""
    differing = [(text, old[text.key], new[text.key]) for text in texts if old[text.key] != new[text.key]]
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
    made = kept_readings(texts).items()
    return {key: digest(json.dumps(reading, sort_keys=True, ensure_ascii=False)) for key, reading in made}


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
    parser.add_argument("--changed", action="store_true", help="with --against: only texts with words of edited lines")
    options = parser.parse_args(arguments)
    if options.changed and not options.against:
        parser.error("--changed needs --against REVISION")
    if options.readings:
        json.dump(readings([Text(*row) for row in json.load(sys.stdin)]), sys.stdout)
        return 0
    texts = all_texts()
    if options.against:
        chosen = with_edited_words(texts, options.against) if options.changed else texts
        lines = [*compare(chosen, kept_readings(chosen, options.against), kept_readings(chosen))]
        if options.changed:
            lines.append(f"only these {len(chosen)} of {len(texts)} texts hold the words of edited lines")
    elif options.update:
        GOLDEN.write_text("".join(f"{key}\t{value}\n" for key, value in hashes(texts).items()), encoding="utf-8")
        lines = [f"{len(texts)} readings written to {GOLDEN.name}"]
    else:
        lines = [*check(texts, load(), hashes(texts))]
    print(*lines, sep="\n")
    return int(not options.update and not lines[0].startswith("0 of"))


if __name__ == "__main__":
    sys.exit(main())
