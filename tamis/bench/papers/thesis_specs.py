"""Figures 5.1 to 5.31 and Tables 5.3 and 5.4 of the A-Tree thesis.

The thesis prints hardly any value of its figures: what stands in its text is among the claims. Its
machine had a processor of 900 MHz, so that rates are not to be compared, but which algorithm is
ahead, and how each grows, is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tamis.bench.papers.claims import (
    Check,
    above,
    alike,
    all_hold,
    at_least,
    at_most,
    falls_faster,
    gains,
    grows,
    near,
    ordered,
    overtakes,
)
from tamis.bench.papers.spec import Claim, Curve, Figure, Place, Point

PAPER = "atree"
LENGTHS = (6, 10, 14)
GENERAL, ZERO, TVP = "general A-Tree", "zero suppression filter", "TVP filter"
COUNTING, GRYPHON, BLOCK = "counting", "Gryphon", "block (ours)"
FILTERS = {GENERAL: "general", ZERO: "zero-suppression", TVP: "tvp"}

# Table 5.3: events per second by subscriptions and predicates; Table 5.4: megabytes.
TOLD_RATES = {
    6: ((100_000, 2.5615), (200_000, 1.2715), (300_000, 0.8475), (500_000, 0.5078)),
    10: ((100_000, 1.0886), (200_000, 0.5440), (300_000, 0.3621), (500_000, 0.2164)),
    14: ((100_000, 0.5838), (200_000, 0.2922), (300_000, 0.1957), (500_000, 0.1170)),
}
TOLD_MEMORY = ((100_000, 153), (200_000, 307), (300_000, 461), (500_000, 768))


@dataclass(frozen=True)
class Sizes:
    """Numbers of subscriptions, by what they are for.

    Attributes:
        trees: A-Trees of conjunctions, which are filled with arrays.
        added: All that is filled with subscriptions one by one.
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
    "small": Sizes(
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
    "paper": Sizes(
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

_N = "subscriptions"
_PER_S = "events per second"


def figures(scale: str) -> list[Figure]:
    """All of them, in their order."""
    sizes = SIZES[scale]
    return [
        *_conjunctive(sizes),
        *_disjunctive(sizes),
        *_mixed(sizes),
        *_lengths(sizes),
        *_overlap(sizes),
        *_matches(sizes),
    ]


# -- points ---------------------------------------------------------------------------------------


def _point(engine: str, sizes: Sizes, **asked: Any) -> Point:
    return Point("thesis", {"engine": engine, "round_s": sizes.round_s, **asked}, limit=900)


def _equalities(engine: str, sizes: Sizes, n: int, length: int) -> Point:
    """§5.4: equalities, SNPS 35 to 40 %, SMPE 0.1 to 1 %."""
    return _point(
        engine, sizes, subscriptions=n, predicates=length, relation="=", snps=0.375, smpe=0.0025
    )


def _curve(
    label: str, engine: str, metric: str, over: Sequence[int], make: Any, beyond: bool = False
) -> Curve:
    """A curve over numbers of subscriptions; `make(engine, n)` is the point."""
    return Curve(label, tuple(Place(n, make(engine, n), metric) for n in over), beyond)


def _three(metric: str, over: Sequence[int], make: Any) -> list[Curve]:
    """A curve for each filter of the A-Tree."""
    return [
        _curve(label, "atree", f"{metric} {name}", over, make) for label, name in FILTERS.items()
    ]


# -- §5.4 -----------------------------------------------------------------------------------------


def _conjunctive(sizes: Sizes) -> Iterator[Figure]:
    for place, length in enumerate(LENGTHS):
        make = _made(sizes, length)
        added = partial(_curve, over=sizes.added, make=make)
        yield Figure(
            PAPER,
            f"Figure 5.{1 + place}",
            f"Insertions, {length} predicates each, conjunctions",
            _N,
            "insertions per second",
            (
                added("A-Tree", "added", "inserted_per_s"),
                added(COUNTING, "counting", "inserted_per_s"),
                added(GRYPHON, "gryphon", "inserted_per_s"),
                _curve("A-Tree, as arrays", "atree", "inserted_per_s", sizes.trees, make, True),
                added(BLOCK, "block", "inserted_per_s", beyond=True),
            ),
            _insertion_claims(length),
            log="xy",
            note="Subscriptions are parsed beforehand, in the thesis and here. `As arrays`: "
            "conjunctions of predicates that the index already knows, which is nearer to what the "
            "thesis measures.",
        )
    for place, length in enumerate(LENGTHS):
        make = _made(sizes, length)
        yield Figure(
            PAPER,
            f"Figure 5.{4 + place}",
            f"Events, {length} predicates each, conjunctions",
            _N,
            _PER_S,
            (*_three("events_per_s", sizes.trees, make), *_others(sizes, make, "events_per_s")),
            _event_claims(),
            log="xy",
        )
    yield _table_rates(sizes)
    for place, length in enumerate(LENGTHS):
        make = _made(sizes, length)
        yield Figure(
            PAPER,
            f"Figure 5.{7 + place}",
            f"Memory, {length} predicates each, conjunctions",
            _N,
            "bytes of the structure",
            (*_three("bytes", sizes.trees, make), *_others(sizes, make, "bytes")),
            _memory_claims(length),
            log="xy",
            note="Without the predicates and their index, which all engines here share; the "
            "resident memory that a process grows by is in the results as `resident_bytes`.",
        )
    yield _table_memory(sizes)
    for place, length in enumerate(LENGTHS):
        make = _made(sizes, length)
        yield Figure(
            PAPER,
            f"Figure 5.{10 + place}",
            f"Deletions, {length} predicates each, conjunctions",
            _N,
            "deletions per second",
            (
                _curve("A-Tree", "atree", "deleted_per_s", sizes.trees, make),
                *_others(sizes, make, "deleted_per_s", beyond=True),
            ),
            (
                Claim(
                    "With a million subscriptions there are 20,000 deletions per second.",
                    at_least("A-Tree", 1_000_000, 20_000),
                ),
            ),
            log="xy",
            note="The three filters share the tree, so there is one curve. The thesis has no "
            "deletion for counting and Gryphon; ours have one.",
        )


def _made(sizes: Sizes, length: int) -> Any:
    return lambda engine, n: _equalities(engine, sizes, n, length)


def _others(sizes: Sizes, make: Any, metric: str, beyond: bool = False) -> list[Curve]:
    added = partial(_curve, metric=metric, over=sizes.added, make=make)
    return [
        added(COUNTING, "counting", beyond=beyond),
        added(GRYPHON, "gryphon", beyond=beyond),
        added(BLOCK, "block", beyond=True),
    ]


def _insertion_claims(length: int) -> tuple[Claim, ...]:
    claims = [
        Claim("Gryphon inserts faster than all others.", ordered((GRYPHON, COUNTING, "A-Tree"))),
        Claim("Gryphon's rate hardly falls with the subscriptions.", grows(GRYPHON, -0.15, 0.3)),
        Claim("Counting's rate falls fast as subscriptions grow.", falls_faster(COUNTING, GRYPHON)),
        Claim("The A-Tree inserts slower than counting and Gryphon.",
              all_hold(above(COUNTING, "A-Tree"), above(GRYPHON, "A-Tree"))),
    ]  # fmt: skip
    if length == 14:
        claims.append(
            Claim(
                "The A-Tree inserts more than 5,000 per second among 100,000.",
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
            "Counting is the best up to 400,000 subscriptions, and Gryphon ahead of it from "
            "500,000 on.",
            overtakes(GRYPHON, COUNTING, 400_000, 500_000),
        ),
        Claim("Gryphon gains on counting as subscriptions grow.", gains(GRYPHON, COUNTING)),
        Claim(
            "Counting has more than 350 events per second with 100,000 subscriptions.",
            at_least(COUNTING, 100_000, 350),
        ),
        Claim(
            "The A-Tree catches up with counting: beyond a million they are almost equal.",
            gains(TVP, COUNTING),
        ),
        Claim(
            "Counting falls fast with the subscriptions; the A-Tree and Gryphon hardly do.",
            all_hold(falls_faster(COUNTING, TVP), falls_faster(COUNTING, GRYPHON),
                     falls_faster(COUNTING, GENERAL)),
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
        Claim("The TVP filter saves memory, for it has no queues.", above(GENERAL, TVP)),
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


def _table_rates(sizes: Sizes) -> Figure:
    curves = tuple(
        _curve(f"L = {length}", "brute", "events_per_s", sizes.brute, _made(sizes, length))
        for length in LENGTHS
    )
    return Figure(
        PAPER,
        "Table 5.3",
        "Events, brute force",
        _N,
        _PER_S,
        curves,
        (
            Claim(
                "The rate is inverse to the subscriptions.",
                all_hold(*(grows(curve.label, -1.1, -0.9) for curve in curves)),
            ),
            Claim("It falls with the predicates.", ordered([curve.label for curve in curves])),
        ),
        {f"L = {length}": told for length, told in TOLD_RATES.items()},
        "xy",
        note="Brute force here is the meaning of the language in plain Python, one node at a time; "
        "it stops at the first predicate that fails.",
    )


def _table_memory(sizes: Sizes) -> Figure:
    mega = tuple(
        Place(n, _equalities("brute", sizes, n, 14), "resident_bytes") for n in sizes.brute
    )
    return Figure(
        PAPER,
        "Table 5.4",
        "Memory, brute force, 14 predicates each",
        _N,
        "bytes",
        (Curve("brute force", mega),),
        (
            Claim("Memory grows linearly.", grows("brute force", 0.9, 1.1)),
            Claim(
                "It takes as much as in the thesis (153 MB for 100,000), within a factor of five.",
                near("brute force", [(n, mb * 1e6) for n, mb in TOLD_MEMORY], 5.0),
            ),
        ),
        {"brute force": [(n, mb * 1e6) for n, mb in TOLD_MEMORY]},
        "xy",
        note="Resident memory that the process grows by: trees of Python objects that share equal "
        "predicates.",
    )


# -- §5.5 and §5.6 --------------------------------------------------------------------------------


def _disjunctive(sizes: Sizes) -> Iterator[Figure]:
    for first, metric, y, claims in (
        (13, "events_per_s", _PER_S, (
            Claim("The TVP filter is ahead of the other two by far.",
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
                _N,
                y,
                (
                    *_three(metric, sizes.mixed, make),
                    _curve(BLOCK, "block", metric, sizes.mixed, make, True),
                ),
                claims,
                log="xy",
            )


def _mixed(sizes: Sizes) -> Iterator[Figure]:
    titles = {19: ("Events", GENERAL), 20: ("Events", ZERO), 21: ("Memory", GENERAL),
              22: ("Memory", ZERO)}  # fmt: skip
    for number, (what, filter) in titles.items():
        metric = "events_per_s" if what == "Events" else "bytes"
        curves, ours = [], []
        for length in LENGTHS:
            make = _expressions(sizes, length, "mixed", snps=0.175, smpe=0.2)
            name = f"{metric} {FILTERS[filter]}"
            curves.append(_curve(f"L = {length}", "atree", name, sizes.mixed, make))
            ours.append(_curve(f"L = {length}, block", "block", metric, sizes.mixed, make, True))
        claims: tuple[Claim, ...]
        if what == "Events":
            claims = (
                Claim("More predicates, fewer events.", ordered([curve.label for curve in curves])),
            )
        else:
            claims = (
                Claim(
                    "Mixing the operators needs no excessive memory: it grows no faster than the "
                    "subscriptions.",
                    all_hold(*(grows(curve.label, 0.7, 1.1) for curve in curves)),
                ),
            )
        yield Figure(
            PAPER,
            f"Figure 5.{number}",
            f"{what} of the {filter}, AND, OR and XOR",
            _N,
            _PER_S if what == "Events" else "bytes of the structure",
            (*curves, *ours),
            claims,
            log="xy",
        )


def _expressions(sizes: Sizes, length: int, operators: str, **shares: float) -> Any:
    return lambda engine, n: _point(
        engine,
        sizes,
        subscriptions=n,
        predicates=length,
        operators=operators,
        relation=">",
        **shares,
    )


# -- §5.7 to §5.9 ---------------------------------------------------------------------------------


def _lengths(sizes: Sizes) -> Iterator[Figure]:
    lengths = (6, 8, 10, 12, 14)
    for number, filter in ((23, GENERAL), (24, TVP)):
        curves = [
            _curve(
                f"L = {length}",
                "atree",
                f"events_per_s {FILTERS[filter]}",
                sizes.lengths,
                _greater(sizes, length, [FILTERS[GENERAL], FILTERS[TVP]], snps=0.375, smpe=0.45),
            )
            for length in lengths
        ]
        ours = [
            _curve(
                f"L = {length}, block",
                "block",
                "events_per_s",
                sizes.lengths,
                _greater(sizes, length, snps=0.375, smpe=0.45),
                True,
            )
            for length in (6, 14)
        ]
        yield Figure(
            PAPER,
            f"Figure 5.{number}",
            f"Events of the {filter} by number of predicates, SMPE 40 to 50 %",
            _N,
            _PER_S,
            (*curves, *ours),
            (
                Claim(
                    "The more predicates each, the fewer events.",
                    ordered([curve.label for curve in (curves[0], curves[2], curves[4])]),
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
        _PER_S,
        tuple(
            Curve(
                label,
                tuple(
                    Place(length, _equalities(engine, sizes, sizes.one, length), metric)
                    for length in (LENGTHS if sizes.one >= 1_000_000 else lengths)
                ),
                label == BLOCK,
            )
            for label, (engine, metric) in engines.items()
        ),
        (
            Claim(
                "Only Gryphon depends largely on the number of predicates.",
                all_hold(*(falls_faster(GRYPHON, label) for label in (TVP, COUNTING))),
            ),
        ),
        log="y",
        note="The thesis does not say which of its A-Trees is among the four.",
    )


def _greater(sizes: Sizes, length: int, filters: Sequence[str] = (), **shares: float) -> Any:
    """Conjunctions of `>`; of an A-Tree, only some filters where others would take very long."""
    some = {"filters": list(filters)} if filters else {}
    return lambda engine, n: _point(
        engine,
        sizes,
        subscriptions=n,
        predicates=length,
        relation=">",
        **shares,
        **(some if engine == "atree" else {}),
    )


def _overlap(sizes: Sizes) -> Iterator[Figure]:
    shares = (0.2, 0.4, 0.6)
    labels = [f"SNPS {100 * share:.0f} %" for share in shares]
    higher_first: Check = ordered(labels[::-1])
    lower_first: Check = ordered(labels)
    for number, metric, what, y, claim in (
        (26, "events_per_s tvp", "Events", _PER_S,
         Claim("More overlap, more events.", higher_first)),
        (27, "inserted_per_s", "Insertions", "insertions per second",
         Claim("More overlap, more insertions.", higher_first)),
        (28, "bytes tvp", "Memory", "bytes of the structure",
         Claim("More overlap, less memory.", lower_first)),
        (29, "nodes", "Nodes", "nodes", Claim("More overlap, fewer nodes.", lower_first)),
    ):  # fmt: skip
        yield Figure(
            PAPER,
            f"Figure 5.{number}",
            f"{what} of the {TVP} by overlap, 14 predicates, SMPE 30 to 45 %",
            _N,
            y,
            tuple(
                _curve(label, "atree", metric, sizes.shared,
                       _greater(sizes, 14, [FILTERS[TVP]], snps=share, smpe=0.375))
                for label, share in zip(labels, shares, strict=True)
            ),
            (claim,),
            log="xy",
        )  # fmt: skip


def _matches(sizes: Sizes) -> Iterator[Figure]:
    shares = (0.1, 0.4, 0.7)
    for number, engine, filter in ((30, "atree", TVP), (31, "counting", COUNTING)):
        metric = "events_per_s tvp" if engine == "atree" else "events_per_s"
        labels = [f"SMPE {100 * share:.0f} %" for share in shares]
        curves = [
            _curve(label, engine, metric, sizes.matched,
                   _greater(sizes, 14, [FILTERS[TVP]], snps=0.35, smpe=share))
            for label, share in zip(labels, shares, strict=True)
        ]  # fmt: skip
        ours = [
            _curve(f"{label}, block", "block", "events_per_s", sizes.matched,
                   _greater(sizes, 14, snps=0.35, smpe=share), True)
            for label, share in zip(labels, shares, strict=True)
        ]  # fmt: skip
        yield Figure(
            PAPER,
            f"Figure 5.{number}",
            f"Events of {'the ' + TVP if engine == 'atree' else filter} by matches per event",
            _N,
            _PER_S,
            (*curves, *ours),
            (Claim("The more subscriptions an event matches, the fewer events.", ordered(labels)),),
            log="xy",
            note="The thesis does not print its three ranges of SMPE.",
        )
