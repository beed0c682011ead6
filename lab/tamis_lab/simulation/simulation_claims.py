"""Paragraphs that interpret the figures, and the paper's claims with verdicts.

The paper is Jerzak and Fetzer, DEBS 2008. Its evaluation has one broker. What it says about
networks is in its sections 3, 4 and 6.2, and is compared with the simulation here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import factorial

from tamis_lab.harness.figure_text import bytes_text, number, share, times
from tamis_lab.simulation.job.findings import Line

ClaimRow = tuple[str, str, str]

_HOLDS, _FAILS, _UNKNOWN = "holds", "does not hold", "undecided"
# The overhead per event, in bytes, that §6.2 considers acceptable.
_PAPERS_FILTER = 400


_NAMES = {"balanced": "balanced tree", "random": "random tree"}


class _Lines:
    """Lines by network and strategy."""

    def __init__(self, strategies: Sequence[Line]) -> None:
        self._found = {(line["network"], line["strategy"]): line for line in strategies}
        self.networks = list(dict.fromkeys(line["network"] for line in strategies))

    def lines_of(self, strategy: str) -> list[tuple[str, Line]]:
        """Return the lines of a strategy, with their networks."""
        found = ((network, self._found.get((network, strategy))) for network in self.networks)
        return [(network, line) for network, line in found if line is not None]

    def both(self, one: str, other: str) -> list[tuple[str, Line, Line]]:
        """Return the lines of two strategies, for networks that have both."""
        others = dict(self.lines_of(other))
        return [(n, line, others[n]) for n, line in self.lines_of(one) if n in others]


def meaning(
    about: Line, strategies: Sequence[Line], sweeps: Mapping[str, Sequence[Line]]
) -> Iterator[str]:
    """Yield paragraphs that interpret the results."""
    lines = _Lines(strategies)
    links = about["brokers"] - 1
    yield from _traffic(lines, links)
    yield from _work(lines)
    yield from _tables(lines)
    yield from _bytes(lines)
    yield from _waste(about, lines, sweeps)


def _traffic(lines: _Lines, links: int) -> Iterator[str]:
    pairs = lines.both("siena", "flooding")
    if not pairs:
        return
    parts = [
        f"{number(siena['messages'])} on the {_network_name(network)} "
        f"({share(siena['messages'], links)} of {links:,} links)"
        for network, siena, _ in pairs
    ]
    deliveries = pairs[0][1]["deliveries"]
    yield (
        f"**Traffic.** An event has {number(deliveries)} subscribers on average. Routing sends it "
        f"over as many links as are needed to reach them: {', '.join(parts)}. Flooding always uses "
        f"{links:,}. {_best_and_worst(pairs)}"
    )


def _best_and_worst(pairs: list[tuple[str, Line, Line]]) -> str:
    worst = max(pairs, key=lambda pair: pair[1]["messages"])
    best = min(pairs, key=lambda pair: pair[1]["messages"])
    if worst is best:
        return ""
    (more, worst_line, _), (less, best_line, _) = worst, best
    often, seldom = worst_line["messages_quantiles"], best_line["messages_quantiles"]
    return (
        f"The {_network_name(more)} needs "
        f"{times(worst_line['messages'], best_line['messages'])} as many messages "
        f"as the {_network_name(less)}, and a delivery takes "
        f"{number(worst_line['delivery_hops'])} hops instead of "
        f"{number(best_line['delivery_hops'])}. The median event crosses {often[0]:,} and "
        f"{seldom[0]:,} links; one in a hundred crosses {often[2]:,} and {seldom[2]:,} or more."
    )


def _work(lines: _Lines) -> Iterator[str]:
    pairs = lines.both("edge", "covering")
    if not pairs:
        return
    parts = [f"{number(covering['evaluations'])} ({network})" for network, _, covering in pairs]
    edge = [line for _, line, _ in pairs]
    once = all(line["evaluations"] == 1 for line in edge)
    yield (
        "**Work.** Where each broker matches again, predicates are evaluated for an event "
        f"{', '.join(parts)} times; with edge routing "
        + ("once, in any network" if once else "more than once, which is a bug")
        + ". Brokers after the first then only look up bits."
    )


def _tables(lines: _Lines) -> Iterator[str]:
    pairs = lines.both("covering", "edge")
    if not pairs:
        return
    kept = [
        f"{share(covering['table_from_neighbours'], edge['table_from_neighbours'])} ({network})"
        for network, covering, edge in pairs
    ]
    more = [
        f"{times(covering['telling_messages'], edge['telling_messages'])} ({network})"
        for network, covering, edge in pairs
    ]
    back = [
        f"{share(covering['telling_taken_back'], covering['telling_messages'])} ({network})"
        for network, covering, _ in pairs
    ]
    yield (
        "**What covering saves, and what it costs.** With covering the tables of neighbours have "
        f"{', '.join(kept)} of the entries that edge routing needs, and brokers hold "
        f"{number(min(c['predicates_held'] for _, c, _ in pairs))} to "
        f"{number(max(c['predicates_held'] for _, c, _ in pairs))} of "
        f"{number(pairs[0][2]['predicates_held'])} predicates. This takes "
        f"{', '.join(more)} as many messages as sending every interest to every broker; "
        f"{', '.join(back)} of them withdraw an interest that a later subscription covers."
    )


def _bytes(lines: _Lines) -> Iterator[str]:
    pairs = lines.both("edge", "covering")
    if not pairs:
        return
    parts = [
        f"{times(edge['bytes'] + edge['filter_bytes'], covering['bytes'])} ({network})"
        for network, edge, covering in pairs
    ]
    _, edge, covering = pairs[0]
    payload = covering["bytes"] / covering["messages"] if covering["messages"] else 0
    yield (
        "**Bytes.** The cost is on the links: a filter takes "
        f"{number(edge['filter_bytes_per_message'])} bytes beside an event of {number(payload)}, "
        f"so edge routing transfers {', '.join(parts)} as many bytes as covering."
    )


def _waste(about: Line, lines: _Lines, sweeps: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    pairs = lines.both("edge", "covering")
    if not pairs:
        return
    parts = [
        f"{share(edge['wasted'], edge['messages'])} and "
        f"{share(covering['wasted'], covering['messages'])} ({network})"
        for network, edge, covering in pairs
    ]
    text = (
        f"**Waste.** With m = {about['m']:,} and {about['predicates']:,} predicates, of all "
        f"messages of edge routing and of covering {', '.join(parts)} are wasted. No event is "
        "delivered to a subscriber that it does not match, because the last broker checks."
    )
    swept = [line for line in sweeps.get(about["run"], ()) if line["strategy"] == "edge"]
    if swept:
        network = swept[0]["network"]
        mine = sorted(
            (line["m"], line["wasted"], line["messages"], line["filter_bytes_per_message"])
            for line in swept
            if line["network"] == network
        )
        (small, lost, sent, short), (large, least, most, long) = mine[0], mine[-1]
        text += (
            f" On the {_network_name(network)}, filters of {small:,} bits waste "
            f"{share(lost, sent)} of the messages "
            f"of edge routing, and take {number(short)} bytes; filters of {large:,} "
            f"bits waste {share(least, most)}, and take {number(long)}."
        )
    yield text


def _network_name(network: str) -> str:
    return _NAMES.get(network, network)


# -- the paper ------------------------------------------------------------------------------------


def claims(about: Line, strategies: Sequence[Line], lines: Sequence[Line]) -> Iterator[ClaimRow]:
    """Yield rows: whether a claim of the paper holds, the claim, and our result."""
    found = _Lines(strategies)
    yield _same_deliveries(found)
    yield _evaluated_once(found)
    yield from _covering_saves(found)
    yield _filter_is_short(found)
    yield _sparse_is_shorter(about, found)
    yield _few_wasted(found)
    yield _two_functions(about, lines)
    yield _per_hop_less(found)


def _same_deliveries(found: _Lines) -> ClaimRow:
    counts = {
        (network, line["deliveries_in_all"])
        for strategy in ("flooding", "siena", "covering", "edge")
        for network, line in found.lines_of(strategy)
    }
    different = {count for _, count in counts}
    shown = f"{' and '.join(f'{count:,}' for count in sorted(different))} deliveries"
    filtered = [*found.lines_of("covering"), *found.lines_of("edge")]
    missed = max((line["missed_by_filters"] for _, line in filtered), default=0)
    return (
        _HOLDS if len(different) == 1 and not missed else _FAILS,
        "There are no false negatives (§6.3).",
        f"{shown} by all strategies in all networks; filters missed {missed:,} matching selectors",
    )


def _evaluated_once(found: _Lines) -> ClaimRow:
    lines = found.lines_of("edge")
    return (
        _verdict(bool(lines), all(line["evaluations"] == 1 for _, line in lines)),
        "Predicates are evaluated once per event, at the first broker (§4.1).",
        ", ".join(f"{network}: {number(line['evaluations'])}" for network, line in lines),
    )


def _covering_saves(found: _Lines) -> Iterator[ClaimRow]:
    pairs = found.both("covering", "edge")
    smaller = [
        covering["table_from_neighbours"] < edge["table_from_neighbours"]
        for _, covering, edge in pairs
    ]
    yield (
        _verdict(bool(pairs), all(smaller)),
        "Covering reduces what must be stored (§3).",
        ", ".join(
            f"{network}: {share(c['table_from_neighbours'], e['table_from_neighbours'])}"
            for network, c, e in pairs
        ),
    )
    fewer = [covering["telling_bytes"] < edge["telling_bytes"] for _, covering, edge in pairs]
    yield (
        _verdict(bool(pairs), all(fewer)),
        "Covering reduces the bandwidth for subscriptions (§3).",
        ", ".join(
            f"{network}: {bytes_text(c['telling_bytes'])} instead of "
            f"{bytes_text(e['telling_bytes'])}"
            for network, c, e in pairs
        )
        + ", including interests that are withdrawn once another covers them",
    )


def _filter_is_short(found: _Lines) -> ClaimRow:
    lines = found.lines_of("edge")
    sizes = [line["filter_bytes_per_message"] for _, line in lines]
    return (
        _verdict(bool(sizes), all(size <= _PAPERS_FILTER for size in sizes)),
        f"The filter of an event takes about {_PAPERS_FILTER} bytes, which is acceptable (§6.2, "
        "with 30,000 subscriptions).",
        ", ".join(
            f"{network}: {number(size)} bytes beside {number(line['bytes'] / line['messages'])}"
            for (network, line), size in zip(lines, sizes, strict=True)
            if line["messages"]
        ),
    )


def _sparse_is_shorter(about: Line, found: _Lines) -> ClaimRow:
    lines = found.lines_of("edge")
    dense = about["m"] / 8
    sizes = [line["filter_bytes_per_message"] for _, line in lines]
    return (
        _verdict(bool(sizes), all(size < dense for size in sizes)),
        "A sparse filter is shorter than a dense one (§4.5).",
        f"{', '.join(map(number, sizes))} bytes, encoded as differences of positions, against "
        f"{number(dense)}",
    )


def _few_wasted(found: _Lines) -> ClaimRow:
    lines = found.lines_of("edge")
    parts = [(network, line["wasted"], line["messages"]) for network, line in lines]
    return (
        _verdict(bool(parts), all(wasted <= 0.05 * sent for _, wasted, sent in parts)),
        "False positives are acceptable; here: at most one message in twenty is wasted (§7).",
        ", ".join(f"{network}: {share(wasted, sent)}" for network, wasted, sent in parts),
    )


def _two_functions(about: Line, lines: Sequence[Line]) -> ClaimRow:
    swept = {
        line["m"]: line["twins"]
        for line in lines
        if line["kind"] == "sweep" and line["run"] == about["run"]
    }
    m = about["m"] if about["m"] in swept else min(swept, default=0)
    n, k = about["predicates"], about["k"]
    expected = n * n / 2 * factorial(k) / m**k if m else 0.0
    return (
        _verdict(bool(swept), swept.get(m, 0) <= max(1.0, 10 * expected)),
        "Deriving k hash functions from two loses nothing (§5.2).",
        f"m = {m:,}, k = {k}: {swept.get(m, 0):,} pairs of {n:,} predicates have the same bits, "
        f"whatever k is; with {k} independent functions it would be "
        f"{expected:.1g}"
        if swept
        else "no filter sizes were tried",
    )


def _per_hop_less(found: _Lines) -> ClaimRow:
    pairs = found.both("covering", "edge")
    return (
        _verdict(bool(pairs), all(c["wasted"] <= e["wasted"] for _, c, e in pairs)),
        "Not in the paper: brokers that match again waste less, because a filter of fewer "
        "predicates has fewer false positives.",
        ", ".join(
            f"{network}: {number(c['wasted'])} wasted messages per event instead of "
            f"{number(e['wasted'])}"
            for network, c, e in pairs
        ),
    )


def _verdict(known: bool, holds: bool) -> str:
    return (_HOLDS if holds else _FAILS) if known else _UNKNOWN
