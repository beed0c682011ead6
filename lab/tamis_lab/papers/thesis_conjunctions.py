"""Figures 5.1 to 5.12 and Tables 5.3 and 5.4 of the A-Tree thesis: conjunctions (§5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tamis_lab.papers.curve_claims import (
    above,
    alike,
    all_hold,
    at_least,
    at_most,
    each_above_next,
    gains,
    grows,
    near,
    overtakes,
)
from tamis_lab.papers.spec import Claim, Curve, CurvePoint, Figure
from tamis_lab.papers.thesis_sweeps import (
    BLOCK,
    COUNTING,
    GENERAL,
    GRYPHON,
    LENGTHS,
    PAPER,
    PER_S,
    SUBSCRIPTIONS,
    TVP,
    ZERO,
    ThesisSizes,
    curve_over,
    equalities,
    filter_curves,
)

# Table 5.3: events per second by subscriptions and predicates; Table 5.4: megabytes.
PRINTED_RATES = {
    6: ((100_000, 2.5615), (200_000, 1.2715), (300_000, 0.8475), (500_000, 0.5078)),
    10: ((100_000, 1.0886), (200_000, 0.5440), (300_000, 0.3621), (500_000, 0.2164)),
    14: ((100_000, 0.5838), (200_000, 0.2922), (300_000, 0.1957), (500_000, 0.1170)),
}
PRINTED_MEMORY = ((100_000, 153), (200_000, 307), (300_000, 461), (500_000, 768))


def conjunctive_figures(sizes: ThesisSizes) -> Iterator[Figure]:
    """Insertions, events, memory and deletions, by number of predicates."""
    for place, length in enumerate(LENGTHS):
        make = _point_maker(sizes, length)
        added = partial(curve_over, over=sizes.added, make=make)
        yield Figure(
            PAPER,
            f"Figure 5.{1 + place}",
            f"Insertions, {length} predicates each, conjunctions",
            SUBSCRIPTIONS,
            "insertions per second",
            (
                added("A-Tree", "added", "inserted_per_s"),
                added(COUNTING, "counting", "inserted_per_s"),
                added(GRYPHON, "gryphon", "inserted_per_s"),
                curve_over("A-Tree, as arrays", "atree", "inserted_per_s", sizes.trees, make, True),
                added(BLOCK, "block", "inserted_per_s", is_ours=True),
            ),
            _insertion_claims(length),
            log="xy",
            note="Subscriptions are parsed in advance, in the thesis and here. `As arrays` inserts "
            "conjunctions of predicates that the index already knows, which is closer to what the "
            "thesis measures.",
        )
    for place, length in enumerate(LENGTHS):
        make = _point_maker(sizes, length)
        yield Figure(
            PAPER,
            f"Figure 5.{4 + place}",
            f"Events, {length} predicates each, conjunctions",
            SUBSCRIPTIONS,
            PER_S,
            (
                *filter_curves("events_per_s", sizes.trees, make),
                *_others(sizes, make, "events_per_s"),
            ),
            _event_claims(),
            log="xy",
        )
    yield _table_rates(sizes)
    for place, length in enumerate(LENGTHS):
        make = _point_maker(sizes, length)
        yield Figure(
            PAPER,
            f"Figure 5.{7 + place}",
            f"Memory, {length} predicates each, conjunctions",
            SUBSCRIPTIONS,
            "bytes of the structure",
            (*filter_curves("bytes", sizes.trees, make), *_others(sizes, make, "bytes")),
            _memory_claims(length),
            log="xy",
            note="Without the predicates and their index, which all engines here share. The growth "
            "of the process is in the results as `resident_bytes`.",
        )
    yield _table_memory(sizes)
    for place, length in enumerate(LENGTHS):
        make = _point_maker(sizes, length)
        yield Figure(
            PAPER,
            f"Figure 5.{10 + place}",
            f"Deletions, {length} predicates each, conjunctions",
            SUBSCRIPTIONS,
            "deletions per second",
            (
                curve_over("A-Tree", "atree", "deleted_per_s", sizes.trees, make),
                *_others(sizes, make, "deleted_per_s", is_ours=True),
            ),
            (
                Claim(
                    "With a million subscriptions, 20,000 deletions per second.",
                    at_least("A-Tree", 1_000_000, 20_000),
                ),
            ),
            log="xy",
            note="The three filters share the tree, so there is one curve. The thesis has no "
            "deletion for counting and Gryphon; ours have.",
        )


def _point_maker(sizes: ThesisSizes, length: int) -> Any:
    return lambda engine, n: equalities(engine, sizes, n, length)


def _others(sizes: ThesisSizes, make: Any, metric: str, is_ours: bool = False) -> list[Curve]:
    added = partial(curve_over, metric=metric, over=sizes.added, make=make)
    return [
        added(COUNTING, "counting", is_ours=is_ours),
        added(GRYPHON, "gryphon", is_ours=is_ours),
        added(BLOCK, "block", is_ours=True),
    ]


def _insertion_claims(length: int) -> tuple[Claim, ...]:
    claims = [
        Claim(
            "Gryphon inserts faster than all others.",
            each_above_next((GRYPHON, COUNTING, "A-Tree")),
        ),
        Claim("Gryphon's rate hardly falls with the subscriptions.", grows(GRYPHON, -0.15, 0.3)),
        Claim("Counting's rate falls fast with the subscriptions.", grows(COUNTING, -9, -0.3)),
        Claim("The A-Tree inserts slower than counting and Gryphon.",
              all_hold(above(COUNTING, "A-Tree"), above(GRYPHON, "A-Tree"))),
    ]  # fmt: skip
    if length == 14:
        claims.append(
            Claim(
                "The A-Tree inserts more than 5,000 per second with 100,000 subscriptions.",
                at_least("A-Tree", 100_000, 5_000),
            )
        )
    if length == 6:
        claims.append(
            Claim(
                "The A-Tree inserts more than 1,000 per second at the highest load.",
                at_least("A-Tree, as arrays", 4_000_000, 1_000),
            )
        )
    return tuple(claims)


def _event_claims() -> tuple[Claim, ...]:
    return (
        Claim(
            "Counting is the best up to 400,000 subscriptions, and Gryphon is ahead of it from "
            "500,000 on.",
            overtakes(GRYPHON, COUNTING, 400_000, 500_000),
        ),
        Claim("Gryphon gains on counting as subscriptions grow.", gains(GRYPHON, COUNTING)),
        Claim(
            "Counting matches more than 350 events per second with 100,000 subscriptions.",
            at_least(COUNTING, 100_000, 350),
        ),
        Claim(
            "The A-Tree gains on counting as subscriptions grow.",
            gains(TVP, COUNTING),
        ),
        Claim(
            "Counting falls fast with the subscriptions; the A-Tree and Gryphon hardly do.",
            all_hold(
                grows(COUNTING, -9, -0.5),
                *(grows(label, -0.4, 1) for label in (GENERAL, TVP, GRYPHON)),
            ),
        ),
        Claim("The TVP filter is the fastest of the three A-Trees.",
              all_hold(above(TVP, GENERAL), above(TVP, ZERO))),
        Claim("Counting and Gryphon are faster than every A-Tree.",
              all_hold(above(COUNTING, TVP), above(GRYPHON, TVP))),
    )  # fmt: skip


def _memory_claims(length: int) -> tuple[Claim, ...]:
    claims = [
        Claim("Counting takes the least memory.",
              all_hold(above(TVP, COUNTING), above(GRYPHON, COUNTING))),
        Claim("The general A-Tree and zero suppression take the same.", alike(GENERAL, ZERO, 1.01)),
        Claim("The TVP filter saves memory, because it has no queues.", above(GENERAL, TVP)),
        Claim("The A-Tree always takes more than Gryphon, which grows rapidly.",
              above(TVP, GRYPHON)),
    ]  # fmt: skip
    if length == 14:
        claims.append(
            Claim(
                "Four million subscriptions of 14 predicates fit into 1.6 gigabytes.",
                at_most(TVP, 4_000_000, 1.6e9),
            )
        )
    return tuple(claims)


def _table_rates(sizes: ThesisSizes) -> Figure:
    curves = tuple(
        curve_over(
            f"L = {length}", "brute", "events_per_s", sizes.brute, _point_maker(sizes, length)
        )
        for length in LENGTHS
    )
    return Figure(
        PAPER,
        "Table 5.3",
        "Events, brute force",
        SUBSCRIPTIONS,
        PER_S,
        curves,
        (
            Claim(
                "The rate is inversely proportional to the subscriptions.",
                all_hold(*(grows(curve.label, -1.1, -0.9) for curve in curves)),
            ),
            Claim(
                "It falls with the predicates.", each_above_next([curve.label for curve in curves])
            ),
        ),
        {f"L = {length}": printed for length, printed in PRINTED_RATES.items()},
        "xy",
        note="Brute force here is the oracle in plain Python, one node at a time; it stops at the "
        "first predicate that fails.",
    )


def _table_memory(sizes: ThesisSizes) -> Figure:
    mega = tuple(
        CurvePoint(n, equalities("brute", sizes, n, 14), "resident_bytes") for n in sizes.brute
    )
    return Figure(
        PAPER,
        "Table 5.4",
        "Memory, brute force, 14 predicates each",
        SUBSCRIPTIONS,
        "bytes",
        (Curve("brute force", mega),),
        (
            Claim("Memory grows linearly.", grows("brute force", 0.9, 1.1)),
            Claim(
                "It takes as much as in the thesis (153 MB for 100,000), within a factor of five.",
                near("brute force", [(n, mb * 1e6) for n, mb in PRINTED_MEMORY], 5.0),
            ),
        ),
        {"brute force": [(n, mb * 1e6) for n, mb in PRINTED_MEMORY]},
        "xy",
        note="The growth of the process: trees of Python objects that share equal predicates.",
    )
