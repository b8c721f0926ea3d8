"""`Reader`: a pack and a lexicon that reports are read with; `read` makes one for a single report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rrgmetrics.reading.engine import read_with
from rrgmetrics.reading.lexicon import (
    AUTO,
    DEFAULT_PACK,
    Lexicon,
    check_pack,
    first_pack,
    folder_in_use,
    kept_until_use,
    load,
)
from rrgmetrics.reading.model import Reading
from rrgmetrics.reading.recording import record
from rrgmetrics.reading.scope import pack_for
from rrgmetrics.reports.cleaning import clean


class Reader:
    """Reads reports with one pack and one lexicon, which nothing outside it changes.

    Several readers, in threads of one process too, know nothing of one another.

    Args:
        pack: What is read: `chest_xray`, `chest_ct`, ...; `auto`: each report with the pack of its kind.
        lexicon: A folder of the user's own beside the bundled files; "" for the bundled files alone, None: the one in
            use (`rrgmetrics.reading.lexicon.use`).

    Attributes:
        pack: As it was passed.
        lexicon: What the pack knows; with `auto` what the default pack knows, which reads each report first.

    Raises:
        InputError: There is no such pack, or something is wrong with the folder.

    Example:
        >>> reading = Reader("chest_ct").read("Filling defect in the right lower lobe pulmonary artery.")
        >>> [finding.concept for finding in reading.findings]
        ['pulmonary_embolism']
    """

    def __init__(self, pack: str = DEFAULT_PACK, lexicon: str | Path | None = None) -> None:
        folder = str(Path(lexicon).resolve()) if lexicon else lexicon if lexicon is None else ""
        self.pack = check_pack(pack, folder=folder)
        self.lexicon: Lexicon = load(first_pack(pack), folder)

    def read(self, report: str, *, trace: bool = False) -> Reading:
        """Reads a report.

        Args:
            report: The text; its sections may have headings. An empty text gives an empty reading.
            trace: Also record what set each field of each finding: `print(reading.trace)`. That is slower. It is of
                the clean text (`rrgmetrics.reports.cleaning`).

        Returns:
            Reading: every finding, present, absent or uncertain, with attributes and character spans. Sections that
            hold no observations (indication, comparison, technique, recommendation, communication) are skipped, but for
            a finding that a report states among its names, dates or advice ("SIGNED: tension pneumothorax").
        """
        if trace:
            return self._traced(report)
        reading = read_with(self.lexicon, report)
        folder = self.lexicon.key.folder
        pack = pack_for(reading.scope, folder) if self.pack == AUTO else reading.pack
        return reading if pack == reading.pack else read_with(load(pack, folder), report)

    def with_pack(self, pack: str) -> Reader:
        """Returns a reader with the same folder for another pack."""
        return self if pack == self.pack else Reader(pack, self.lexicon.key.folder)

    def _traced(self, report: str) -> Reading:
        from rrgmetrics.reading.trace import make_trace

        given = clean(report)
        with record() as recorded:
            reading = self.read(given.text)
        made = make_trace(reading, recorded)
        return replace(reading if given.offsets is None else self.read(report), trace=made)


def read(report: str, modality: str = "", *, trace: bool = False) -> Reading:
    """Reads a report, by itself as an English chest X-ray report: `Reader(modality).read(report)`.

    Args:
        report: As in `Reader.read`.
        modality: The pack to read it with (`chest_ct`, ...); `auto`: that of its kind of report; "": the default one.
        trace: As in `Reader.read`.

    Returns:
        Reading: As `Reader.read` returns it.

    Raises:
        InputError: There is no such pack.

    Example:
        >>> reading = read("Small left pleural effusion. No pneumothorax.")
        >>> [(f.concept, f.assertion, f.side) for f in reading.findings]
        [('pleural_effusion', 'present', 'left'), ('pneumothorax', 'absent', None)]
    """
    return _reader(modality or DEFAULT_PACK, folder_in_use()).read(report, trace=trace)


@kept_until_use
def _reader(pack: str, folder: str) -> Reader:
    """The reader of a pack, kept while `folder` is the one in use."""
    return Reader(pack)
