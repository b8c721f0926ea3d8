"""The reader: the text of a report → findings.

    >>> from rrgmetrics.reading import read
    >>> [(f.concept, f.side, f.severity) for f in read("Small right pleural effusion.").findings]
    [('pleural_effusion', 'right', 1)]

The reader is deterministic and explains itself. Its knowledge is the lexicon (`lexicon/*/*.yaml`), which a radiologist
can correct or add to. A `Reader` holds a pack and a lexicon; `read` is for a single report. `engine` reads a report
sentence by sentence. What differs between two readings is in `rrgmetrics.comparing`, what others call the findings in
`rrgmetrics.labels`.
"""

from rrgmetrics.reading.model import Finding, Reading, Span
from rrgmetrics.reading.reader import Reader, read

__all__ = ["Finding", "Reader", "Reading", "Span", "read"]
