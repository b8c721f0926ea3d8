"""What is wrong with the lexicon's files, with file and line, in words that say what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rrgmetrics.errors import InputError
from rrgmetrics.reader.lexicon.faults import Fault, Source, Term, find_faults, find_terms, hint
from rrgmetrics.reader.lexicon.files import bundled_file, folder_in_use, own_files
from rrgmetrics.reader.lexicon.schema import LABEL_FILES, SHAPES


def check(files: Iterable[str | Path] = ()) -> list[Fault]:
    """Looks for faults in the lexicon in use, or in files of it.

    Args:
        files: Bundled files, or files and folders of the user's own, which are checked as they would be read beside the
            bundled ones. None named: the bundled files and the folder in use.

    Returns:
        list[Fault]: In the order of the files; empty if all is well.

    Raises:
        InputError: A file or folder does not exist.
    """
    asked = [path for file in files for path in _expanded(Path(file))]
    bundled = {bundled_file(name).resolve() for name in SHAPES}
    own = [path for path in asked if path.resolve() not in bundled] or own_files(folder_in_use())
    sources, faults = _read_all(own)
    faults = faults or find_faults(sources)
    wanted = {path.resolve() for path in asked}
    return [fault for fault in faults if fault.file.resolve() in wanted] or faults


def terms() -> list[Term]:
    """Every term of the lexicon in use, where it stands."""
    return find_terms(_read_all(own_files(folder_in_use()))[0])


def _read_all(own: Sequence[Path]) -> tuple[list[Source], list[Fault]]:
    """The bundled files and the user's, and what keeps some of them from being read."""
    faults = [fault for path in own for fault in _misnamed(path)]
    sources: list[Source] = []
    for path in (*map(bundled_file, SHAPES), *own):
        read = None if path in own and _misnamed(path) else _read(path, is_own=path in own)
        if isinstance(read, Source):
            sources.append(read)
        elif read:
            faults.append(read)
    return sources, faults


def _expanded(path: Path) -> list[Path]:
    if path.is_dir():
        return own_files(str(path))
    if not path.is_file():
        raise InputError(f"{path} does not exist; name a YAML file of a lexicon, or a folder of them.")
    return [path]


def _misnamed(path: Path) -> list[Fault]:
    """What is wrong with the name of a file of the user's own."""
    names = [name for name in SHAPES if name not in LABEL_FILES]
    if path.suffix == ".yaml" and path.stem in names:
        return []
    if path.suffix != ".yaml" and path.stem in names:
        why = f"rename it {path.stem}.yaml."
    elif path.stem in LABEL_FILES:
        why = 'it holds labels of others, which stay; a concept says under "condition" what it counts as.'
    else:
        why = hint(path.stem, names) or f"the files are {', '.join(f'{name}.yaml' for name in names)}."
    return [Fault(path, 1, f"no file of your own has this name; {why}")]


def _read(path: Path, *, is_own: bool) -> Source | Fault:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            return Fault(path, 1, "holds no block of keys; see the bundled file of this name for its shape.")
        return Source(path, path.stem, node, loader.construct_document(node), is_own)
    except UnicodeDecodeError as error:
        return Fault(path, 1, f"is not UTF-8 text: {error}.")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or error
        return Fault(path, mark.line + 1 if mark else 1, f"is not YAML: {why}; look at the line before, too.")
