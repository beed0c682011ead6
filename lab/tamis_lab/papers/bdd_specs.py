"""The two tables of the BDD paper (ICSE 2001, §8)."""

from __future__ import annotations

from functools import partial

from tamis_lab.bench import bdd
from tamis_lab.papers.curve_claims import above, alike, all_hold, grows, near
from tamis_lab.papers.spec import Claim, Curve, CurvePoint, Figure, Point

PAPER = "bdd"
QUERIES = {"small": (1_000, 2_000, 4_000), "paper": tuple(bdd.PAPER_NODES)}
_over_queries = partial(Curve.over, "queries")
_BEFORE, _AFTER = "before restriction", "after restriction"


def figures(scale: str) -> list[Figure]:
    """Return both tables; the second one as curves over queries, and over densities."""
    queries = QUERIES[scale]
    return [_nodes(queries), _seconds(queries), _densities(queries[-1])]


def _nodes(queries: tuple[int, ...]) -> Figure:
    printed = {
        _BEFORE: [(count, before) for count, (before, _) in bdd.PAPER_NODES.items()],
        _AFTER: [(count, after) for count, (_, after) in bdd.PAPER_NODES.items()],
    }
    points = [Point("bdd nodes", {"queries": n, "order": "attribute"}, 900) for n in queries]
    shuffled = [Point("bdd nodes", {"queries": queries[0], "order": "random"}, 900)]
    curves = (
        _over_queries(_BEFORE, points, "nodes_before"),
        _over_queries(_AFTER, points, "nodes_after"),
        _over_queries("after restriction, variables in random order", shuffled, "nodes_after"),
    )
    return Figure(
        PAPER,
        "Table 1",
        "Nodes of the shared diagram",
        "queries",
        "nodes",
        curves,
        (
            Claim(
                "Nodes grow almost linearly with the queries.",
                all_hold(grows(_BEFORE, 0.9, 1.1, "queries"), grows(_AFTER, 0.9, 1.1, "queries")),
            ),
            Claim(
                "Restriction makes the diagram 1.66 to 1.88 times smaller.",
                all_hold(above(_BEFORE, _AFTER, times=1.6), alike(_BEFORE, _AFTER, 1.95)),
            ),
            Claim(
                "As many nodes as the paper prints, within a tenth.",
                all_hold(*(near(label, values, 1.1) for label, values in printed.items())),
            ),
            Claim(
                "The order of variables makes no significant difference.",
                alike("after restriction, variables in random order", _AFTER, 1.1),
            ),
        ),
        printed,
        note="The paper does not print its grammar. Of eight that fit its text, we use the one "
        "whose node counts come closest: these agree by choice. The factor of "
        "restriction and the growth of nodes hardly depend on it.",
    )


def _seconds(queries: tuple[int, ...]) -> Figure:
    curves, printed = [], {}
    for place, density in enumerate(bdd.DENSITIES):
        label = _strict_label(density)
        metric = f"one_by_one_s_{100 * density:g}"
        curves.append(_over_queries(label, [_messages(n, "StSL") for n in queries], metric))
        printed[label] = [(n, seconds[place]) for n, seconds in bdd.PAPER_SECONDS.items()]
    total = [_messages(n, "SiSL") for n in queries]
    curves.append(_over_queries("SiSL", total, "one_by_one_s_100"))
    printed["SiSL"] = [(n, seconds[-1]) for n, seconds in bdd.PAPER_SECONDS.items()]
    blocks = [_messages(n, "StSL") for n in queries]
    curves.append(_over_queries("StSL 100 %, 512 at a time", blocks, "blocks_s_100", True))
    ours = [Point("bdd in blocks", {"queries": n}) for n in queries]
    curves.append(_over_queries("StSL 100 %, block (ours), counts", ours, "counts_s_100", True))
    return Figure(
        PAPER,
        "Table 2",
        "Seconds for 1,000 messages, by queries",
        "queries",
        "seconds",
        tuple(curves),
        (
            Claim(
                "Time grows almost linearly with the queries.",
                grows(_strict_label(1.0), 0.8, 1.25, "queries"),
            ),
            Claim(
                "For total messages SiSL is faster than StSL: 1.3 to 1.5 times in the paper.",
                above(_strict_label(1.0), "SiSL"),
            ),
        ),
        printed,
        "xy",
        note="The paper's machine was a Pentium Pro with 200 MHz; its seconds are averages of "
        "seven runs. Ours are processor time, including the predicates and all matches.",
    )


def _densities(queries: int) -> Figure:
    point = _messages(queries, "StSL")
    ours = Point("bdd in blocks", {"queries": queries})
    percents = [100 * density for density in bdd.DENSITIES]
    printed = list(zip(percents, bdd.PAPER_SECONDS[100_000], strict=False))
    label = "StSL, one by one"
    return Figure(
        PAPER,
        "Table 2 by density",
        f"Seconds for 1,000 messages by density, {queries:,} queries",
        "percent of attributes that a message has",
        "seconds",
        (
            Curve(label, tuple(CurvePoint(p, point, f"one_by_one_s_{p:g}") for p in percents)),
            Curve("StSL, 512 at a time",
                  tuple(CurvePoint(p, point, f"blocks_s_{p:g}") for p in percents), True),
            Curve("StSL, block (ours), counts",
                  tuple(CurvePoint(p, ours, f"counts_s_{p:g}") for p in percents), True),
        ),
        (Claim("Time grows almost linearly with the density.", grows(label, 0.7, 1.3, "density")),),
        {label: printed} if queries == max(bdd.PAPER_NODES) else {},
        "xy",
    )  # fmt: skip


def _strict_label(density: float) -> str:
    return f"StSL {100 * density:g} %"


def _messages(queries: int, language: str) -> Point:
    return Point("bdd messages", {"queries": queries, "language": language}, 900)
