"""The kinds of points by name: how each is measured, and how its workload is prepared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tamis_lab.harness.measure import Row
from tamis_lab.papers import bdd_points, bloom_points, engine_points, thesis_points

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class PointKind:
    """How points of a kind are measured.

    Attributes:
        measure: Takes the parameters, and the prepared workload, if any.
        prepare: Finds the requested workload, for all points whose parameters differ only in
            those in `ignored`.
        ignored: Parameters that the workload does not depend on.
    """

    measure: Callable[..., Row]
    prepare: Callable[[Parameters], Row] | None = None
    ignored: frozenset[str] = frozenset()

    def workload_parameters(self, parameters: Parameters) -> dict[str, Any]:
        """Return the parameters of the workload."""
        return {name: value for name, value in parameters.items() if name not in self.ignored}


KINDS: Mapping[str, PointKind] = {
    "bdd nodes": PointKind(bdd_points.nodes),
    "bdd messages": PointKind(bdd_points.messages),
    "bdd in blocks": PointKind(bdd_points.block_messages),
    "bloom predicates": PointKind(bloom_points.predicates),
    "bloom probability": PointKind(bloom_points.probability),
    "bloom routing": PointKind(bloom_points.routing),
    "bloom false positives": PointKind(bloom_points.false_positives),
    "thesis": PointKind(
        thesis_points.measure_engine,
        thesis_points.prepare_workload,
        frozenset(("engine", "filters", "round_s")),
    ),
    "engines": PointKind(engine_points.measure_engine),
}


def measure(kind: str, parameters: Parameters, prepared: Row | None = None) -> Row:
    """Measure a point; call this in a fresh process."""
    known = KINDS[kind]
    return known.measure(parameters) if prepared is None else known.measure(parameters, prepared)


def prepare(kind: str, parameters: Parameters) -> Row:
    """Find the workload of a point; call this in a fresh process."""
    found = KINDS[kind].prepare
    assert found is not None
    return found(parameters)
