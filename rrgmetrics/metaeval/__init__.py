"""Agreement with radiologists: how far a metric can be trusted, measured on reports that radiologists judged."""

from __future__ import annotations

from rrgmetrics.metaeval.agreement import RadJudgeReport, RadPrefReport, agree
from rrgmetrics.metaeval.datasets import load_radjudge, load_radpref

__all__ = ["RadJudgeReport", "RadPrefReport", "agree", "load_radjudge", "load_radpref"]
