"""The reader: the text of a report → findings.

    >>> from rrgmetrics.reading import read
    >>> [(f.concept, f.side, f.severity) for f in read("Small right pleural effusion.").findings]
    [('pleural_effusion', 'right', 2)]

The reader is deterministic and rule-based, and can show the evidence of each finding. Its terms are in the lexicon
(`lexicon/*/*.yaml`), which radiologists can correct and extend. A `Reader` holds a pack and a lexicon; `read` is for a
single report. `engine` reads a report sentence by sentence. `rrgmetrics.comparing` compares two readings, and
`rrgmetrics.labels` converts a reading to the labels of other labellers.
"""

from rrgmetrics.reading.model import Finding, Reading, Span
from rrgmetrics.reading.reader import Reader, read

__all__ = ["Finding", "Reader", "Reading", "Span", "read"]
