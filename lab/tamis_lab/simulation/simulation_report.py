"""A page about a simulation, made of its results alone: nothing in it is written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tamis.errors import InputError
from tamis_lab.harness.figure_text import bytes_text, number
from tamis_lab.simulation import simulation_plots
from tamis_lab.simulation.job.findings import Line
from tamis_lab.simulation.simulation_claims import claims, meaning


def write(lines: Sequence[Line], run: str, folder: Path, *, drawn: bool = True) -> Path:
    """Write `report.md` into a folder, with the plots beside it.

    Args:
        lines: Results, of several runs or one.
        run: The run that it is about; of others it has the sweeps.
        folder: Where it goes.
        drawn: With plots, or without.

    Raises:
        InputError: There is no such run.
        ImportError: There is no Matplotlib, and plots are wanted.
    """
    mine = [line for line in lines if line["run"] == run]
    if not mine:
        raise InputError(f"there is no run {run!r} in these results", "run")
    folder.mkdir(parents=True, exist_ok=True)
    strategies = [line for line in mine if line["kind"] == "strategy"]
    if drawn:
        _draw(strategies, lines, folder)
    page = folder / "report.md"
    page.write_text("\n".join(_page(mine[0], strategies, lines, drawn)) + "\n", "utf-8")
    return page


def _draw(strategies: Sequence[Line], lines: Sequence[Line], folder: Path) -> None:
    simulation_plots.draw_by_network(
        folder / "traffic.svg",
        strategies,
        [
            ("messages per event", lambda line: line["messages"]),
            ("bytes per event", _bytes),
            ("evaluations per event", lambda line: line["evaluations"]),
        ],
    )
    simulation_plots.draw_by_network(
        folder / "tables.svg",
        strategies,
        [
            ("interests per broker, mean", lambda line: line["table"]),
            ("interests per broker, most", lambda line: line["table_quantiles"][-1]),
            ("messages to tell them", lambda line: line["telling_messages"]),
        ],
    )
    simulation_plots.draw_hops(folder / "hops.svg", strategies)
    for run, swept in _sweeps(lines).items():
        simulation_plots.draw_sweep(
            folder / f"filters-{run}.svg",
            swept,
            [
                ("messages in vain per event", "wasted"),
                ("checks in vain per event", "checks_in_vain"),
                ("bytes of a filter", "filter_bytes_per_message"),
            ],
        )


def _sweeps(lines: Sequence[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in lines:
        if line["kind"] == "sweep":
            found.setdefault(line["run"], []).append(line)
    return found


def _page(
    about: Line, strategies: Sequence[Line], lines: Sequence[Line], drawn: bool
) -> Iterator[str]:
    yield "# Networks of brokers, simulated\n"
    page = "[simulation.md](../evaluation/simulation.md)"
    yield f"Made by `tamis simulate` of its results alone. How: {page}.\n"
    yield from _heading(about)
    yield "## What it means\n"
    for paragraph in meaning(about, strategies, _sweeps(lines)):
        yield paragraph + "\n"
    yield "## What the paper says\n"
    yield "| | claim | here |"
    yield "|---|---|---|"
    for holds, claim, shown in claims(about, strategies, lines):
        yield f"| **{holds}** | {claim} | {shown} |"
    yield "\n## Traffic\n"
    if drawn:
        yield "![messages, bytes and evaluations per event](traffic.svg)\n"
    yield (
        "Per event. A message is an event that goes over a link; it is in vain if nobody beyond "
        "wants it. An evaluation holds an event against the predicates of a broker; a check holds "
        "it against the selectors of a broker's own subscribers, in vain if none wants it.\n"
    )
    yield from _table(
        strategies,
        {
            "messages": lambda x: number(x["messages"]),
            "median, 90 %, most": lambda x: _quantiles(x, "messages", (0, 1, 3)),
            "in vain": lambda x: number(x["wasted"]),
            "evaluations": lambda x: number(x["evaluations"]),
            "checks": lambda x: number(x["checks"]),
            "in vain ": lambda x: number(x["checks_in_vain"]),
            "bytes": lambda x: number(_bytes(x)),
            "of which filters": lambda x: number(x["filter_bytes"]),
            "deliveries": lambda x: number(x["deliveries"]),
        },
    )
    yield "## Hops\n"
    if drawn:
        yield "![share of arrivals by hops](hops.svg)\n"
    yield "Links between the broker that publishes an event and those that it comes to.\n"
    yield from _table(
        strategies,
        {
            "arrivals, mean": lambda x: number(x["hops"]),
            "median, 90 %, most": lambda x: _quantiles(x, "hops", (0, 1, 3)),
            "deliveries, mean": lambda x: number(x["delivery_hops"]),
            "median, 90 %, most ": lambda x: _quantiles(x, "delivery_hops", (0, 1, 3)),
            "busiest link, per event": lambda x: number(x["busiest_link"]),
        },
    )
    yield "## Tables\n"
    if drawn:
        yield "![interests per broker, and messages to tell them](tables.svg)\n"
    yield (
        "Interests that a broker has, by interface, its own subscribers' among them; predicates "
        "that it has; what all brokers tell each other until each knows what it has to.\n"
    )
    yield from _table(
        strategies,
        {
            "interests, mean": lambda x: number(x["table"]),
            "median, 90 %, most": lambda x: _quantiles(x, "table", (0, 1, 3)),
            "predicates, mean": lambda x: number(x["predicates_held"]),
            "messages": lambda x: number(x["telling_messages"]),
            "of which take back": lambda x: number(x["telling_taken_back"]),
            "bytes": lambda x: bytes_text(x["telling_bytes"]),
        },
    )
    yield from _filters(lines, drawn)


def _heading(about: Line) -> Iterator[str]:
    seconds, host = about["seconds"], about["machine"]
    yield (
        f"{about['brokers']:,} brokers, {about['subscriptions']:,} subscriptions, "
        f"{about['events']:,} events, seed {about['seed']}. The subscriptions have "
        f"{about['interests']:,} different selectors of {about['predicates']:,} different "
        f"predicates over {about['names']:,} attribute names; {about['covered_pairs']:,} pairs of "
        f"selectors of which one covers the other. Filters have m = {about['m']:,} bits, k = "
        f"{about['k']}.\n"
    )
    yield "| network | links from the first broker to the last | most links of a broker |"
    yield "|---|---:|---:|"
    for name, shape in about["networks"].items():
        yield f"| {name} | {shape['depth']:,} | {shape['degree']:,} |"
    took = ", ".join(f"{what} {spent:,.0f} s" for what, spent in seconds.items())
    yield (
        f"\nIt took {sum(seconds.values()):,.0f} s ({took}) and at most "
        f"{bytes_text(about['peak_bytes'])} of memory, Spark's among it, on {host['cores']} cores, "
        f"load {host['load']:.1f} at the end.\n"
    )


def _filters(lines: Sequence[Line], drawn: bool) -> Iterator[str]:
    abouts = {line["run"]: line for line in lines if line["kind"] == "run"}
    for run, swept in _sweeps(lines).items():
        about = abouts[run]
        yield f"## The size of filters: {about['brokers']:,} brokers\n"
        yield (
            f"{swept[0]['events']:,} events, {about['subscriptions']:,} subscriptions, "
            f"{about['predicates']:,} predicates; k = {about['k']}.\n"
        )
        if drawn:
            yield f"![what is in vain, and bytes, by size of filters](filters-{run}.svg)\n"
        networks = list(dict.fromkeys(line["network"] for line in swept))
        yield "Messages in vain per event (edge / covering), and bytes of a filter:\n"
        yield "| m | " + " | ".join(networks) + " | checks in vain | filter, bytes | twins |"
        yield "|---:|" + "---:|" * (len(networks) + 3)
        for m in sorted({line["m"] for line in swept}):
            found = {(x["network"], x["strategy"]): x for x in swept if x["m"] == m}
            cells = [_edge_and_covering(found, network, "wasted") for network in networks]
            checks = _edge_and_covering(found, networks[0], "checks_in_vain")
            size = found.get((networks[0], "edge"), {}).get("filter_bytes_per_message")
            shown = "-" if size is None else number(size)
            twins = next(iter(found.values()))["twins"]
            yield f"| {m:,} | {' | '.join(cells)} | {checks} | {shown} | {twins:,} |"
        yield "\nTwins are pairs of predicates with the same bits, which no filter tells apart.\n"


def _edge_and_covering(found: dict[tuple[str, str], Line], network: str, name: str) -> str:
    values = [found.get((network, strategy), {}).get(name) for strategy in ("edge", "covering")]
    return " / ".join("-" if value is None else number(value) for value in values)


def _table(strategies: Sequence[Line], columns: dict[str, Any]) -> Iterator[str]:
    yield f"| network | strategy | {' | '.join(columns)} |"
    yield "|---|---|" + "---:|" * len(columns)
    for line in strategies:
        cells = [cell(line) for cell in columns.values()]
        yield f"| {line['network']} | {line['strategy']} | {' | '.join(cells)} |"
    yield ""


def _quantiles(line: Line, name: str, which: Sequence[int]) -> str:
    return ", ".join(f"{line[f'{name}_quantiles'][each]:,}" for each in which)


def _bytes(line: Line) -> float:
    return float(line["bytes"] + line["filter_bytes"])
