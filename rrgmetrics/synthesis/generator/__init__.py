"""A generator of chest X-ray reports, and of pairs of them, from the reader's lexicon.

A study (`studies`) is a list of facts, a style (`phrases/styles.yaml`) says how a report looks. One study rendered in
two styles gives a paraphrase, a study with mistakes a wrong candidate. Nothing here comes from anyone's reports: the
words are the lexicon's, the sentences the templates of `phrases/`. Number `i` of a seed is always the same, whichever
process makes it.
"""

from rrgmetrics.synthesis.generator.generate import (
    WAYS,
    GeneratedPair,
    GeneratedReport,
    generate_pairs,
    generate_reports,
)
from rrgmetrics.synthesis.generator.mistakes import corrupt
from rrgmetrics.synthesis.generator.studies import Fact, Study, draw_study
from rrgmetrics.synthesis.generator.writer import render, styles

__all__ = [
    "WAYS",
    "Fact",
    "GeneratedPair",
    "GeneratedReport",
    "Study",
    "corrupt",
    "draw_study",
    "generate_pairs",
    "generate_reports",
    "render",
    "styles",
]
