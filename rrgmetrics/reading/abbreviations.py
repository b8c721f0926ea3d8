"""Letters that stand for two things: which is meant, what else a report finds tells ("ICD" beside a pneumothorax)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding
from rrgmetrics.reading.tokens import Token


def spell_out(findings: list[Finding], report: str, tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Gives findings that are named by letters alone the other concept that these stand for, in place."""
    words = {token.word for token in tokens}
    there = {finding.concept for finding in findings if finding.assertion != "absent"}
    for row in lexicon.rubric.get("abbreviations", ()):
        if row["letters"] not in words or not words.isdisjoint(row["unless"]):
            continue
        beside = not there.isdisjoint(row["beside"])
        for k, finding in enumerate(findings):
            named = report[finding.spans[0].start : finding.spans[0].end].lower().split() if finding.spans else []
            taken_out = row["taken_out"] and finding.change == "resolved"
            if row["letters"] in named and finding.concept in row["of"] and (beside or taken_out):
                findings[k] = replace(finding, concept=row["means"][0])
