"""Figures 5.13 to 5.22 of the A-Tree thesis: AND and OR (§5.5), and XOR as well (§5.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tamis_lab.papers.curve_claims import above, alike, all_hold, each_above_next, grows
from tamis_lab.papers.spec import Claim, Figure
from tamis_lab.papers.thesis_sweeps import (
    BLOCK,
    FILTERS,
    GENERAL,
    LENGTHS,
    PAPER,
    PER_S,
    SUBSCRIPTIONS,
    TVP,
    ZERO,
    ThesisSizes,
    curve_over,
    filter_curves,
    point,
)


def disjunctive_figures(sizes: ThesisSizes) -> Iterator[Figure]:
    """Events and memory with AND and OR (§5.5)."""
    for first, metric, y, claims in (
        (13, "events_per_s", PER_S, (
            Claim("The TVP filter is far ahead of the other two.",
                  all_hold(above(TVP, GENERAL, times=1.5), above(TVP, ZERO, times=1.5))),
        )),
        (16, "bytes", "bytes of the structure", (
            Claim("The general A-Tree and zero suppression take the same.",
                  alike(GENERAL, ZERO, 1.01)),
            Claim("The TVP filter saves memory.", above(GENERAL, TVP)),
        )),
    ):  # fmt: skip
        for place, length in enumerate(LENGTHS):
            make = _expressions(sizes, length, "disjunctive", snps=0.5, smpe=0.135)
            yield Figure(
                PAPER,
                f"Figure 5.{first + place}",
                f"{'Events' if first == 13 else 'Memory'}, {length} predicates, AND and OR",
                SUBSCRIPTIONS,
                y,
                (
                    *filter_curves(metric, sizes.mixed, make),
                    curve_over(BLOCK, "block", metric, sizes.mixed, make, True),
                ),
                claims,
                log="xy",
            )


def mixed_figures(sizes: ThesisSizes) -> Iterator[Figure]:
    """Events and memory with XOR too (§5.6)."""
    titles = {19: ("Events", GENERAL), 20: ("Events", ZERO), 21: ("Memory", GENERAL),
              22: ("Memory", ZERO)}  # fmt: skip
    for number, (what, filter) in titles.items():
        metric = "events_per_s" if what == "Events" else "bytes"
        curves, ours = [], []
        for length in LENGTHS:
            make = _expressions(sizes, length, "mixed", snps=0.175, smpe=0.2)
            name = f"{metric} {FILTERS[filter]}"
            curves.append(curve_over(f"L = {length}", "atree", name, sizes.mixed, make))
            ours.append(
                curve_over(f"L = {length}, block", "block", metric, sizes.mixed, make, True)
            )
        claims: tuple[Claim, ...]
        if what == "Events":
            claims = (
                Claim(
                    "Rates fall with the number of predicates.",
                    each_above_next([curve.label for curve in curves]),
                ),
            )
        else:
            claims = (
                Claim(
                    "Mixing the operators does not need excessive memory: it grows no faster than "
                    "the subscriptions.",
                    all_hold(*(grows(curve.label, 0.7, 1.1) for curve in curves)),
                ),
            )
        yield Figure(
            PAPER,
            f"Figure 5.{number}",
            f"{what} of the {filter}, AND, OR and XOR",
            SUBSCRIPTIONS,
            PER_S if what == "Events" else "bytes of the structure",
            (*curves, *ours),
            claims,
            log="xy",
        )


def _expressions(sizes: ThesisSizes, length: int, operators: str, **shares: float) -> Any:
    return lambda engine, n: point(
        engine,
        sizes,
        subscriptions=n,
        predicates=length,
        operators=operators,
        relation=">",
        **shares,
    )
