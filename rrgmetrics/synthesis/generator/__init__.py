"""Generates chest X-ray reports, and pairs of them, from the reader's lexicon.

A study (`studies`) is a list of facts, and a style (`phrases/styles.yaml`) defines the form of a report. One study in
two styles gives a paraphrase; a study with mistakes gives a wrong candidate. No text comes from real reports: the words
are from the lexicon, and the sentences are templates of `phrases/`. Report `i` of a seed is the same in every process.
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
