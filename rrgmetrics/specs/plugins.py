"""Metrics of other packages: what they declare under the entry point group `rrgmetrics.metrics`.

    [project.entry-points."rrgmetrics.metrics"]
    length_ratio = "their_package.metrics:LENGTH_RATIO"  # a MetricSpec, or a list of them

Nothing of another package is imported before a name is looked up that is not ours, or all metrics are listed. What
cannot be used is left out with a warning that names its package, and does no harm to the others.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rrgmetrics.specs.model import MetricSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "rrgmetrics.metrics"
OURS = "rrgmetrics"

logger = logging.getLogger("rrgmetrics")


@dataclass(frozen=True)
class Plugins:
    """What other packages declare.

    Attributes:
        specs: Their metrics by name.
        packages: The package of each.
        problems: Why a metric, by its name, or an entry point cannot be used.
    """

    specs: Mapping[str, MetricSpec]
    packages: Mapping[str, str]
    problems: Mapping[str, str]

    def release(self, name: str) -> str:
        """Returns the package of a metric with its version, as `length-metrics@1.0`, for signatures."""
        from importlib.metadata import PackageNotFoundError, version  # 20 ms that our own metrics need not pay

        package = self.packages.get(name, "")
        try:
            return f"{package}@{version(package)}"
        except (PackageNotFoundError, ValueError):
            return package


@cache
def plugins(ours: frozenset[str]) -> Plugins:
    """Imports what other packages declare, once.

    Args:
        ours: Names of our own metrics and of their keys, which nobody else may take.
    """
    from importlib.metadata import entry_points

    specs: dict[str, MetricSpec] = {}
    packages: dict[str, str] = {}
    problems: dict[str, str] = {}
    owners = dict.fromkeys(ours, OURS)
    for point in sorted(entry_points(group=GROUP), key=lambda point: (_package(point), point.name)):
        package = _package(point)
        try:
            declared = list(_specs_of(point))
        except Exception as error:
            problems[point.name] = f"{package} declares {point.name!r}, which cannot be used: {str(error).rstrip('.')}"
            continue
        for spec in declared:
            taken = next((name for name in _names(spec) if name in owners), None)
            if taken is None:
                owners |= dict.fromkeys(_names(spec), package)
                specs[spec.name], packages[spec.name] = spec, package
            else:
                clash = f"{owners[taken]} and {package} both have a metric or key named {taken!r}"
                for name in (spec.name, *(other for other, its in specs.items() if taken in _names(its))):
                    problems[name] = clash
    specs = {name: spec for name, spec in specs.items() if name not in problems}
    for problem in dict.fromkeys(problems.values()):
        logger.warning("%s; it is left out.", problem)
    return Plugins(specs, packages, problems)


def _specs_of(point: EntryPoint) -> Iterator[MetricSpec]:
    """The metrics behind an entry point; raises TypeError or ValueError for what is none."""
    value = point.load()
    for spec in (value,) if isinstance(value, MetricSpec) else value if isinstance(value, Iterable) else (value,):
        if not isinstance(spec, MetricSpec):
            raise TypeError(f"{point.value} is a {type(spec).__name__}, not a MetricSpec")
        if spec.headline.name != spec.name:
            raise ValueError(
                f"the first key of {spec.name} is named {spec.headline.name}; it must have the metric's name"
            )
        yield spec


def _names(spec: MetricSpec) -> list[str]:
    return [spec.name, *(key.name for key in spec.keys)]


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value.partition(":")[0]
