"""The reader as a backend, which every metric that reads findings shares."""

from __future__ import annotations

from rrgmetrics.backends.tokens import TextFunction
from rrgmetrics.reader import read
from rrgmetrics.reader.lexicon import checksum
from rrgmetrics.reader.lexicon.files import folder_in_use


def reader_backend(**tables: str) -> TextFunction:
    """Returns the backend that annotates texts with their readings.

    Args:
        tables: Checksums, by their name in the signature, of further tables that a metric reads findings with.

    Example:
        >>> reader_backend(labels_sha256="0123456789").facts["labels_sha256"]
        '01234567'
    """
    checksums = {"lexicon_sha256": checksum(), **tables}
    key = "reader" + folder_in_use()  # what was read with another lexicon is something else
    return TextFunction(key, read, {name: digest[:8] for name, digest in checksums.items()})
