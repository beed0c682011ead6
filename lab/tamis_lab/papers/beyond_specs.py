"""Figures of no paper: every engine on every workload."""

from __future__ import annotations

from tamis.engines import ENGINES
from tamis_lab.papers.engine_points import WORKLOADS
from tamis_lab.papers.spec import Curve, CurvePoint, Figure, Point

PAPER = "beyond"
EVENTS = 16_384
SIZES = {"small": (3_000, 0.05), "paper": (30_000, 0.25)}
# These visit each subscription, or each node, for every event or for every insertion.
FEWER = {"brute": 2_000, "siena": 2_000, "forest": 2_000, "bdd": 10_000}


def figures(scale: str) -> list[Figure]:
    """Return tables with a column per workload and a row per engine."""
    size, round_s = SIZES[scale]
    return [
        Figure(
            PAPER,
            what,
            f"{what} of every engine on every workload",
            "workload",
            unit,
            tuple(
                Curve(_label(engine, size), tuple(
                    CurvePoint(number, _point(engine, workload, size, round_s), metric)
                    for number, workload in enumerate(WORKLOADS)
                ))
                for engine in sorted(ENGINES, key=lambda name: (name != "block", name))
            ),
            log="y",
            note="Where an engine cannot express a workload, the list of gaps names the construct. "
            "Brute force, the posets and the diagram have fewer subscriptions, shown in brackets.",
            names=tuple(WORKLOADS),
        )
        for what, metric, unit in (
            ("Events", "events_per_s", "events per second"),
            ("Insertions", "inserted_per_s", "insertions per second"),
            ("Memory", "resident_bytes", "bytes that the process grows by"),
        )
    ]  # fmt: skip


def _size(engine: str, size: int) -> int:
    return min(size, FEWER.get(engine, size))


def _label(engine: str, size: int) -> str:
    return f"{engine} ({_size(engine, size):,})"


def _point(engine: str, workload: str, size: int, round_s: float) -> Point:
    asked = {
        "engine": engine,
        "workload": workload,
        "subscriptions": _size(engine, size),
        "events": EVENTS,
        "round_s": round_s,
    }
    return Point("engines", asked, 300)
