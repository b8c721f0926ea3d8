"""What is wrong with the lexicon's files, with file and line, in words that say what to do."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from functools import cache
from pathlib import Path

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon.faults import Fault, find_faults, find_terms, hint
from rrgmetrics.reading.lexicon.files import own_files
from rrgmetrics.reading.lexicon.in_use import DEFAULT_PACK, LexiconKey, folder_in_use
from rrgmetrics.reading.lexicon.packs import BUNDLED, Pack, chain, concepts_of, find_packs, lay
from rrgmetrics.reading.lexicon.parsing import plain
from rrgmetrics.reading.lexicon.schema import LABEL_FILES, SHAPES
from rrgmetrics.reading.lexicon.terms import Source, Term
from rrgmetrics.utils.bounded_files import read_yaml_text, yaml_errors


def check(files: Iterable[str | Path] = (), pack: str = "", folder: str | None = None) -> list[Fault]:
    """Looks for faults in the lexicon in use, or in files of it.

    Args:
        files: Bundled files, or files and folders of the user's own, which are checked as they would be read beside the
            bundled ones. None named: the bundled files and the folder in use.
        pack: The pack to look at; "": all packs that any of these files is of.
        folder: The user's folder; None: the one in use.

    Returns:
        list[Fault]: In the order of the files; empty if all is well.

    Raises:
        InputError: A file or folder does not exist, or does not describe a pack.
    """
    asked = [path.resolve() for file in files for path in _expanded(Path(file))]
    own = [path for path in asked if not path.is_relative_to(BUNDLED.resolve())]
    roots = dict.fromkeys(map(_root, own)) if own else [folder_in_use() if folder is None else folder]
    faults = {fault: None for root in roots for fault in _faults(root, own or own_files(root), asked, pack)}
    return [fault for fault in faults if fault.file.resolve() in asked] or list(faults)


def terms(key: LexiconKey) -> list[Term]:
    """Every term of a lexicon with its place."""
    return find_terms(sources(key), concepts_of(chain(key.pack, find_packs(key.folder))))


def sources(key: LexiconKey) -> list[Source]:
    """Every file of a lexicon that can be read, with the lines of its nodes."""
    chained = chain(key.pack, find_packs(key.folder))
    return _read_all(_paths(chained, key.folder, own_files(key.folder)), _read)[0]


def _faults(root: str, own: list[Path], asked: Container[Path], pack: str) -> list[Fault]:
    """The faults of packs beside the user's folder `root`, of which the files `own` are read."""
    known, read = find_packs(root), cache(_read)  # packs share files
    faults = [fault for path in own for fault in _misnamed(path, root, known)]
    for name in [pack] if pack else known:
        chained = chain(name, known)
        paths = _paths(chained, root, own)
        if pack or not asked or any(path.resolve() in asked for path, *_ in paths):
            sources, unread = _read_all(paths, read)
            faults += unread or (() if faults else find_faults(sources, concepts_of(chained)))
    return faults


def _paths(chained: list[Pack], root: str, own: list[Path]) -> list[tuple[Path, int, bool]]:
    """The files that a pack, behind all that it extends, is read from; the layer and whose each is.

    Of the user's own those are read that are among `own`.
    """
    layers = lay([pack.name for pack in chained], root)
    names = (*concepts_of(chained), *SHAPES)
    found = [
        (layer.folder / f"{name}.yaml", depth, layer.is_own) for depth, layer in enumerate(layers) for name in names
    ]
    read = {path.resolve() for path in own}
    return [each for each in found if (each[0].resolve() in read if each[2] else each[0].is_file())]


def _read_all(
    paths: list[tuple[Path, int, bool]], read: Callable[[Path, int, bool], Source | Fault]
) -> tuple[list[Source], list[Fault]]:
    """The files of a pack, and what keeps some of them from being read."""
    done = [read(*path) for path in paths]
    return [each for each in done if isinstance(each, Source)], [each for each in done if isinstance(each, Fault)]


def _root(path: Path) -> str:
    """The user's folder that a file of a pack, or at the top, is of."""
    return str(path.parent.parent if path.parent.name in find_packs(str(path.parent.parent)) else path.parent)


def _expanded(path: Path) -> list[Path]:
    if path.is_dir():
        return (
            sorted(path.rglob("*.yaml")) if path.resolve().is_relative_to(BUNDLED.resolve()) else own_files(str(path))
        )
    if not path.is_file():
        raise InputError(f"{path} does not exist; name a YAML file of a lexicon, or a folder of them.")
    return [path]


def _misnamed(path: Path, root: str, known: Mapping[str, Pack]) -> list[Fault]:
    """What is wrong with the name of a file of the user's own."""
    at_top = path.parent.resolve() == Path(root).resolve()
    chained = chain(DEFAULT_PACK if at_top else path.parent.name, known)
    names = [name for name in (*concepts_of(chained), *SHAPES) if name not in (*LABEL_FILES, *at_top * ("pack",))]
    if path.suffix == ".yaml" and path.stem in names:
        return []
    if path.suffix != ".yaml" and path.stem in names:
        why = f"rename it {path.stem}.yaml."
    elif path.stem in LABEL_FILES:
        why = 'it contains published labels, which cannot be changed; a concept names its label under "condition".'
    else:
        why = hint(path.stem, names) or f"the files are {', '.join(f'{name}.yaml' for name in names)}."
    return [Fault(path, 1, f"no file of a user lexicon has this name; {why}")]


def _read(path: Path, layer: int, is_own: bool) -> Source | Fault:
    import yaml

    try:
        text = read_yaml_text(path)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            return Fault(path, 1, "contains no block of keys; see the bundled file of this name for its format.")
        return Source(path, path.stem, node, plain(node, loader), layer, is_own)
    except InputError as error:
        return Fault(path, 1, str(error).removeprefix(str(path)).lstrip(", "))
    except yaml_errors() as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        if "\t" in "".join(text.splitlines()[line - 1 : line]):
            return Fault(path, line, "has a tab; YAML takes spaces only.")
        why = getattr(error, "problem", None) or error
        return Fault(path, line, f"is not YAML: {why}; check also the line before.")
