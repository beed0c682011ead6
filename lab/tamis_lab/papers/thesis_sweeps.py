"""What the figures of the A-Tree thesis have in common: sizes, points, curves.

The thesis prints hardly any values of its figures; those in its text are among the claims. Its
machine had a processor with 900 MHz: do not compare rates, but which algorithm is ahead and how
each grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tamis_lab.papers.spec import Curve, CurvePoint, Point

PAPER = "atree"
LENGTHS = (6, 10, 14)
GENERAL, ZERO, TVP = "general A-Tree", "zero suppression filter", "TVP filter"
COUNTING, GRYPHON, BLOCK = "counting", "Gryphon", "block (ours)"
FILTERS = {GENERAL: "general", ZERO: "zero-suppression", TVP: "tvp"}


@dataclass(frozen=True)
class ThesisSizes:
    """Numbers of subscriptions, by purpose.

    Attributes:
        trees: A-Trees of conjunctions, which are filled with arrays.
        added: Everything that is filled with subscriptions one by one.
        brute: The brute force algorithm.
        mixed: Expressions with AND, OR and XOR.
        lengths: §5.7, by number of predicates.
        one: Figure 5.25, which has one size.
        shared: §5.8, by SNPS.
        matched: §5.9, by SMPE.
        round_s: Seconds of matching in a round.
    """

    trees: tuple[int, ...]
    added: tuple[int, ...]
    brute: tuple[int, ...]
    mixed: tuple[int, ...]
    lengths: tuple[int, ...]
    one: int
    shared: tuple[int, ...]
    matched: tuple[int, ...]
    round_s: float


SIZES = {
    "small": ThesisSizes(
        trees=(2_000, 20_000),
        added=(2_000, 20_000),
        brute=(2_000, 8_000),
        mixed=(1_000, 4_000),
        lengths=(2_000, 10_000),
        one=20_000,
        shared=(4_000, 20_000),
        matched=(4_000, 20_000),
        round_s=0.05,
    ),
    "paper": ThesisSizes(
        trees=(10_000, 100_000, 300_000, 500_000, 1_000_000, 4_000_000),
        added=(10_000, 100_000, 300_000, 500_000, 1_000_000),
        brute=(100_000, 200_000, 300_000, 500_000),
        mixed=(10_000, 30_000, 100_000),
        lengths=(100_000, 300_000, 1_000_000),
        one=1_000_000,
        shared=(100_000, 300_000, 1_000_000),
        matched=(100_000, 300_000, 1_000_000),
        round_s=0.25,
    ),
}

SUBSCRIPTIONS = "subscriptions"
PER_S = "events per second"


def point(engine: str, sizes: ThesisSizes, **asked: Any) -> Point:
    """Return a point: an engine on a workload with the requested parameters."""
    return Point("thesis", {"engine": engine, "round_s": sizes.round_s, **asked}, limit=900)


def equalities(engine: str, sizes: ThesisSizes, n: int, length: int) -> Point:
    """Return a point of §5.4: equalities, SNPS 35 to 40 %, SMPE 0.1 to 1 %."""
    return point(
        engine, sizes, subscriptions=n, predicates=length, relation="=", snps=0.375, smpe=0.0025
    )


def curve_over(
    label: str, engine: str, metric: str, over: Sequence[int], make: Any, is_ours: bool = False
) -> Curve:
    """Return a curve over numbers of subscriptions; `make(engine, n)` makes a point."""
    return Curve(label, tuple(CurvePoint(n, make(engine, n), metric) for n in over), is_ours)


def filter_curves(metric: str, over: Sequence[int], make: Any) -> list[Curve]:
    """Return a curve for each filter of the A-Tree."""
    return [
        curve_over(label, "atree", f"{metric} {name}", over, make)
        for label, name in FILTERS.items()
    ]


def greater_point_maker(
    sizes: ThesisSizes, length: int, filters: Sequence[str] = (), **shares: float
) -> Any:
    """Return a maker of points with `>`; an A-Tree may be limited to some filters, for speed."""
    some = {"filters": list(filters)} if filters else {}
    return lambda engine, n: point(
        engine,
        sizes,
        subscriptions=n,
        predicates=length,
        relation=">",
        **shares,
        **(some if engine == "atree" else {}),
    )
