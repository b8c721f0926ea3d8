"""Meta-evaluation of metrics: agreement with radiologists on rated reports, stress tests and searches for tricks."""

from __future__ import annotations

from rrgmetrics.metaeval.agree import Report, agree, agree_on
from rrgmetrics.metaeval.agreement import AgreementReport, measure
from rrgmetrics.metaeval.equal import Equal, EqualReport
from rrgmetrics.metaeval.loaders import load
from rrgmetrics.metaeval.ranked import Ranked, RankedReport
from rrgmetrics.metaeval.rated import Rated

__all__ = [
    "AgreementReport",
    "Equal",
    "EqualReport",
    "Ranked",
    "RankedReport",
    "Rated",
    "Report",
    "agree",
    "agree_on",
    "load",
    "measure",
]
