"""Figures 5.23 to 5.31 of the A-Tree thesis: the effects of L, SNPS and SMPE (§5.7 to §5.9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tamis_lab.papers.curve_claims import Check, all_hold, each_above_next, falls_faster
from tamis_lab.papers.spec import Claim, Curve, CurvePoint, Figure
from tamis_lab.papers.thesis_sweeps import (
    BLOCK,
    COUNTING,
    FILTERS,
    GENERAL,
    GRYPHON,
    LENGTHS,
    PAPER,
    PER_S,
    SUBSCRIPTIONS,
    TVP,
    ThesisSizes,
    curve_over,
    equalities,
    greater_point_maker,
)


def lengths(sizes: ThesisSizes) -> Iterator[Figure]:
    """Events by number of predicates (§5.7)."""
    counts = (6, 8, 10, 12, 14)
    for number, filter in ((23, GENERAL), (24, TVP)):
        curves = [
            curve_over(
                f"L = {length}",
                "atree",
                f"events_per_s {FILTERS[filter]}",
                sizes.lengths,
                greater_point_maker(
                    sizes, length, [FILTERS[GENERAL], FILTERS[TVP]], snps=0.375, smpe=0.45
                ),
            )
            for length in counts
        ]
        ours = [
            curve_over(
                f"L = {length}, block",
                "block",
                "events_per_s",
                sizes.lengths,
                greater_point_maker(sizes, length, snps=0.375, smpe=0.45),
                True,
            )
            for length in (6, 14)
        ]
        yield Figure(
            PAPER,
            f"Figure 5.{number}",
            f"Events of the {filter} by number of predicates, SMPE 40 to 50 %",
            SUBSCRIPTIONS,
            PER_S,
            (*curves, *ours),
            (
                Claim(
                    "Rates fall with the number of predicates.",
                    each_above_next([curve.label for curve in (curves[0], curves[2], curves[4])]),
                ),
            ),
            log="xy",
        )
    engines: Mapping[str, tuple[str, str]] = {
        GENERAL: ("atree", "events_per_s general"),
        TVP: ("atree", "events_per_s tvp"),
        COUNTING: ("counting", "events_per_s"),
        GRYPHON: ("gryphon", "events_per_s"),
        BLOCK: ("block", "events_per_s"),
    }
    yield Figure(
        PAPER,
        "Figure 5.25",
        f"Events of four algorithms by number of predicates, {sizes.one:,} subscriptions",
        "predicates",
        PER_S,
        tuple(
            Curve(
                label,
                tuple(
                    CurvePoint(length, equalities(engine, sizes, sizes.one, length), metric)
                    for length in (LENGTHS if sizes.one >= 1_000_000 else counts)
                ),
                label == BLOCK,
            )
            for label, (engine, metric) in engines.items()
        ),
        (
            Claim(
                "Only Gryphon depends strongly on the number of predicates.",
                all_hold(*(falls_faster(GRYPHON, label) for label in (TVP, COUNTING))),
            ),
        ),
        log="y",
        note="The thesis does not say which of its A-Trees is among the four.",
    )


def overlap(sizes: ThesisSizes) -> Iterator[Figure]:
    """Events, insertions, memory and nodes by SNPS (§5.8)."""
    shares = (0.2, 0.4, 0.6)
    labels = [f"SNPS {100 * share:.0f} %" for share in shares]
    higher_first: Check = each_above_next(labels[::-1])
    lower_first: Check = each_above_next(labels)
    for number, metric, what, y, claim in (
        (26, "events_per_s tvp", "Events", PER_S,
         Claim("Rates rise with the overlap.", higher_first)),
        (27, "inserted_per_s", "Insertions", "insertions per second",
         Claim("Insertion rates rise with the overlap.", higher_first)),
        (28, "bytes tvp", "Memory", "bytes of the structure",
         Claim("Memory falls with the overlap.", lower_first)),
        (29, "nodes", "Nodes", "nodes", Claim("Nodes become fewer with the overlap.", lower_first)),
    ):  # fmt: skip
        yield Figure(
            PAPER,
            f"Figure 5.{number}",
            f"{what} of the {TVP} by overlap, 14 predicates, SMPE 30 to 45 %",
            SUBSCRIPTIONS,
            y,
            tuple(
                curve_over(label, "atree", metric, sizes.shared,
                       greater_point_maker(sizes, 14, [FILTERS[TVP]], snps=share, smpe=0.375))
                for label, share in zip(labels, shares, strict=True)
            ),
            (claim,),
            log="xy",
        )  # fmt: skip


def matches(sizes: ThesisSizes) -> Iterator[Figure]:
    """Events by SMPE (§5.9)."""
    shares = (0.1, 0.4, 0.7)
    for number, engine, filter in ((30, "atree", TVP), (31, "counting", COUNTING)):
        metric = "events_per_s tvp" if engine == "atree" else "events_per_s"
        labels = [f"SMPE {100 * share:.0f} %" for share in shares]
        curves = [
            curve_over(label, engine, metric, sizes.matched,
                   greater_point_maker(sizes, 14, [FILTERS[TVP]], snps=0.35, smpe=share))
            for label, share in zip(labels, shares, strict=True)
        ]  # fmt: skip
        ours = [
            curve_over(f"{label}, block", "block", "events_per_s", sizes.matched,
                   greater_point_maker(sizes, 14, snps=0.35, smpe=share), True)
            for label, share in zip(labels, shares, strict=True)
        ]  # fmt: skip
        yield Figure(
            PAPER,
            f"Figure 5.{number}",
            f"Events of {'the ' + TVP if engine == 'atree' else filter} by matches per event",
            SUBSCRIPTIONS,
            PER_S,
            (*curves, *ours),
            (
                Claim(
                    "Rates fall with the number of subscriptions that an event matches.",
                    each_above_next(labels),
                ),
            ),
            log="xy",
            note="The thesis does not print its three ranges of SMPE.",
        )
